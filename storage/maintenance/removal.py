"""Delete games and sources, and erase players.

Rows are deleted before the rows that they refer to. Erasing a player deletes the player's games and chat, and replaces
the handle in the texts of other games and in kept logs.

What replaces a handle is as long as the handle, so that every offset stays what it was.
"""

from __future__ import annotations

import codecs
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

import zstandard
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    ScalarSelect,
    Select,
    column,
    delete,
    func,
    or_,
    select,
    update,
)
from sqlalchemy import table as sql_table
from sqlalchemy import text as sql_text

from recorder.corrections import NO_TEXTS, STANDARD, from_json, rewritten, to_json
from recorder.model import SAVED_KINDS, EventKind, SourceKind
from storage.files import driver_of
from storage.read.analyses import has_analyses
from storage.read.sources import unpacked
from storage.schema import tables as models
from storage.settings import DECISIONS, decisions, forgotten_sources, note_source
from storage.write.games import closing_up
from storage.write.merged import dissolve, relate, touch_keys, touch_others

_OF_OBSERVATIONS = (models.events, models.holdings, models.thinking, models.anchors, models.ply_lines)


@dataclass(frozen=True)
class ForgetReport:
    """What ``Archive.forget_source`` removed."""

    name: str
    games: int
    observations: int
    plies: int
    kept_bytes: int
    players: int


def delete_games(connection: Connection, ids: Select[tuple[int]]) -> tuple[int, int, int]:
    """Delete games with all that hangs on them, and games that were made of them and others; count what went.

    ``ids`` is a query for row numbers. The counts are of games, observations and plies.
    """
    links, games, segments, seen = models.game_links, models.games, models.segments, models.observations
    chosen = ids.scalar_subquery()
    merged = select(games.c.merged_into).where(games.c.id.in_(chosen), games.c.merged_into.is_not(None)).distinct()
    dissolve(driver_of(connection), list(connection.scalars(merged)))
    touch_others(driver_of(connection), list(connection.scalars(ids)))
    watched = select(seen.c.id).where(seen.c.game_id.in_(chosen)).scalar_subquery()
    connection.execute(delete(links).where(or_(links.c.game_id.in_(chosen), links.c.other_game_id.in_(chosen))))
    connection.execute(delete(segments).where(segments.c.game_id.in_(chosen)))
    plies = _delete_plies(connection, watched)
    for table in _OF_OBSERVATIONS:
        connection.execute(delete(table).where(table.c.observation_id.in_(watched)))
    observations = connection.execute(delete(seen).where(seen.c.game_id.in_(chosen))).rowcount
    return connection.execute(delete(games).where(games.c.id.in_(chosen))).rowcount, observations, plies


def _delete_plies(connection: Connection, watched: ScalarSelect[int]) -> int:
    """Delete the plies of observations; neighbouring lines go in one statement."""
    lines = models.ply_lines.c
    query = select(lines.first_ply_id, lines.ply_count).where(lines.observation_id.in_(watched), lines.ply_count > 0)
    runs: list[tuple[int, int]] = []
    for first, count in connection.execute(query.order_by(lines.first_ply_id)):
        if runs and runs[-1][1] == first:
            runs[-1] = (runs[-1][0], first + count)
        else:
            runs.append((first, first + count))
    if runs:
        connection.exec_driver_sql("DELETE FROM plies WHERE id >= ? AND id < ?", runs)
    return sum(end - first for first, end in runs)


def delete_unused_players(connection: Connection) -> int:
    """Delete players without a game; returns how many."""
    # By the driver, also here: the writer of games in progress begins its transactions itself.
    unused = "DELETE FROM players WHERE id NOT IN (SELECT white_id FROM games UNION SELECT black_id FROM games)"
    return driver_of(connection).execute(unused).rowcount


def delete_analyses(connection: Connection, ids: Select[tuple[int]]) -> None:
    """Delete the analyses of games that are to be taken out for good.

    Where other sources have the same game, it stays, and its analyses are kept. It must run before anything of these
    games is deleted.
    """
    if not has_analyses(driver_of(connection)):
        return
    games, analyses, positions, lines = (
        models.games.c, models.analyses, models.analysed_positions, models.analysis_lines,
    )  # fmt: skip
    chosen, others = ids.scalar_subquery(), models.games.alias().c
    stays = (
        select(func.min(others.key))
        .where(others.merged_into == games.merged_into, others.source_id.is_not(None), others.id.not_in(chosen))
        .scalar_subquery()
    )
    named = games.key.in_(select(analyses.c.game_key))
    for key, other in connection.execute(select(games.key, stays).where(games.id.in_(chosen), named)).all():
        mine = analyses.c.game_key == key
        if other is not None:
            connection.execute(update(analyses).where(mine).values(game_key=other))
            continue
        of_key = select(positions.c.id).join(analyses, analyses.c.id == positions.c.analysis_id).where(mine)
        connection.execute(delete(lines).where(lines.c.position_id.in_(of_key)))
        connection.execute(delete(positions).where(positions.c.id.in_(of_key)))
        connection.execute(delete(analyses).where(mine))


def delete_decisions(connection: Connection, ids: Select[tuple[int]]) -> None:
    """Delete the decisions about games that are to be taken out for good, before anything of them is deleted."""
    games, settings = models.games.c, models.settings
    keys = set(connection.scalars(select(games.key).where(games.id.in_(ids.scalar_subquery()))))
    connection.execute(delete(models.corrections).where(models.corrections.c.game_key.in_(keys)))
    for one in decisions(driver_of(connection)):
        if not keys.isdisjoint((one.key, one.other)):
            connection.execute(delete(settings).where(settings.c.name == f"{DECISIONS}{one.key}:{one.other}"))


def delete_source(connection: Connection, row_id: int) -> ForgetReport:
    """Delete a source for good: its bytes, counts, games with their analyses, players that have no other game."""
    source = models.sources.c
    name, kept_bytes = connection.execute(select(source.name, source.kept_bytes).where(source.id == row_id)).one()
    mine = select(models.games.c.id).where(models.games.c.source_id == row_id)
    delete_analyses(connection, mine)
    delete_decisions(connection, mine)
    games, observations, plies = delete_games(connection, mine)
    for table in (models.source_chunks, models.source_counts, models.source_shapes, models.anomalies):
        connection.execute(delete(table).where(table.c.source_id == row_id))
    connection.execute(delete(models.sources).where(source.id == row_id))
    return ForgetReport(name, games, observations, plies, kept_bytes, delete_unused_players(connection))


_TEXTS = (
    models.games.c.me,
    models.games.c.reason,
    models.games.c.variant,
    models.games.c.category,
    models.events.c.actor,
    models.events.c.text,
    models.thinking.c.engine,
    models.thinking.c.pv,
    models.anomalies.c.message,
    models.game_links.c.evidence,
    models.anomalies.c.text,
    models.source_shapes.c.shape,
    models.sources.c.me,
)
_SEEN = "(SELECT o.source_id FROM observations o WHERE o.kind = 'pgn' AND {} LIMIT 1)"
_OF_SOURCE = f"(SELECT s.id FROM sources s WHERE s.kind IN {tuple(kind.value for kind in SAVED_KINDS)} AND s.id = {{}})"
_SAVED = {
    **{name: _SEEN.format(f"o.id = {name}.observation_id") for name in ("events", "thinking")},
    "games": _SEEN.format("o.game_id = games.id"),
    "game_links": _SEEN.format("o.game_id = game_links.game_id"),
    **{name: _OF_SOURCE.format(f"{name}.source_id") for name in ("anomalies", "source_shapes")},
    "sources": _OF_SOURCE.format("sources.id"),
}
"""The source of a row of a saved game, in SQL; null: of a log."""


_WAS_THEIRS = """EXISTS (SELECT 1 FROM json_each(games.corrected) one
  WHERE is_forgotten(coalesce(json_extract(one.value, '$[4]."white.handle"'), ''))
  OR is_forgotten(coalesce(json_extract(one.value, '$[4]."black.handle"'), '')))"""
"""The condition that a game was recorded as one of a player who is to be forgotten, and corrected to be another's."""


_DECISIONS_OF_PLAYERS = (
    "DELETE FROM corrections WHERE field IN ('White', 'Black') AND is_forgotten(value) RETURNING game_key",
    f"UPDATE corrections SET value = redact(value) WHERE field NOT IN {NO_TEXTS} AND redact(value) <> value"
    " RETURNING game_key",
    f"UPDATE OR REPLACE corrections SET field = redact(field) WHERE field NOT IN {STANDARD} AND redact(field) <> field"
    " RETURNING game_key",
)


class HandleText(Protocol):
    """Knows handles, and how a text looks without them."""

    def __contains__(self, handle: str, /) -> bool:
        """Whether this handle is meant, in any case."""

    def text(self, text: str, /) -> str:
        """A text of a log without the handles, as long as before."""

    def words(self, text: str, is_utf8: Callable[[], bool], /) -> str:
        """A text of a saved game without the handles, as many bytes as before."""

    def name(self, name: str, /) -> str:
        """The name or path of a file without the handles."""


@dataclass(frozen=True)
class HandleReport:
    """What was taken out: games, chat of the players in other games, texts in which a handle stood."""

    games: int
    chats: int
    texts: int


def redact_rows(connection: Connection, words: HandleText) -> HandleReport:
    """Take players out of all tables but the kept logs."""
    driver = driver_of(connection)
    driver.create_function("is_forgotten", 1, lambda handle: handle in words, deterministic=True)
    is_utf8 = cache(partial(_is_utf8, driver))  # reads all that is kept of a source

    def redacted(text: str | None, saved: int | None) -> str | None:
        if not text:
            return text
        return words.text(text) if saved is None else words.words(text, lambda: is_utf8(saved))

    driver.create_function("redacted", 2, redacted)
    driver.create_function("file_name", 1, lambda name: name and words.name(name), deterministic=True)
    texts = _redact_decisions(driver, lambda text: words.words(text, lambda: True))
    driver.execute("CREATE TEMP TABLE gone AS SELECT id FROM main.players WHERE is_forgotten(handle)")
    try:
        with closing_up(driver):
            gone = select(sql_table("gone", column("id")).c.id).scalar_subquery()
            games = models.games.c
            theirs = select(games.id).where(games.white_id.in_(gone) | games.black_id.in_(gone) | sql_text(_WAS_THEIRS))
            delete_analyses(connection, theirs)
            delete_decisions(connection, theirs)
            found, _, _ = delete_games(connection, theirs)
            delete_unused_players(connection)
    finally:
        driver.execute("DROP TABLE temp.gone")
    events, sources = models.events, models.sources
    by_them = (events.c.kind == EventKind.CHAT.value) & events.c.actor.is_not(None) & func.is_forgotten(events.c.actor)
    chats = connection.execute(delete(events).where(by_them)).rowcount
    for text in (*_TEXTS, events.c.detail):
        after = func.redacted(text, sql_text(_SAVED[text.table.name]))
        is_tag = events.c.kind == EventKind.TAG.value
        texts += _rewrite(connection, text, func.iif(is_tag, after, text) if text is events.c.detail else after)
    # A journal is nowhere but in its file; of all other logs nothing is lost with the place.
    elsewhere = (sources.c.kind != SourceKind.JOURNAL.value) & (func.file_name(sources.c.path) != sources.c.path)
    connection.execute(update(sources).where(elsewhere).values(path=None))
    recorrect = "UPDATE games SET corrected = recorrected(corrected) WHERE recorrected(corrected) <> corrected"
    texts += driver.execute(recorrect).rowcount
    texts += _rewrite(connection, sources.c.name, func.file_name(sources.c.name))
    for source in forgotten_sources(driver):
        note_source(driver, source._replace(name=words.name(source.name)))
    return HandleReport(found, chats, texts + _redact_warnings(connection, words))


def _is_utf8(driver: sqlite3.Connection, source: int) -> bool:
    """Whether the bytes that are kept of a source are UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunks = 'SELECT zstd FROM source_chunks WHERE source_id = ? ORDER BY "offset"'
    try:
        for (packed,) in driver.execute(chunks, (source,)):
            decoder.decode(unpacked(packed, f"source_chunks of source {source}"))
    except UnicodeDecodeError:
        return False
    return True


def _rewrite(connection: Connection, text: Column[Any], after: ColumnElement[Any]) -> int:
    """Store another text where it differs; returns in how many rows."""
    return connection.execute(update(text.table).where(after != text).values({text: after})).rowcount


def _redact_decisions(driver: sqlite3.Connection, redact: Callable[[str], str]) -> int:
    """Redact what people wrote of games, and correct these games so; returns in how many texts.

    A game that only a correction made one of a player who is to be forgotten has its recorded name again, as it would
    after ``db rebuild``.
    """
    driver.create_function("redact", 1, redact)
    driver.create_function("recorrected", 1, lambda text: to_json(rewritten(from_json(text), redact)))
    changed: list[str] = []
    for statement in _DECISIONS_OF_PLAYERS:
        changed += [key for (key,) in driver.execute(statement).fetchall()]
    touch_keys(driver, set(changed))
    relate(driver)
    return len(changed)


def _redact_warnings(connection: Connection, words: HandleText) -> int:
    """Redact the warnings about sources; a process that follows a source sees a changed mark and reads it again."""
    sources, changed = models.sources, 0
    fresh = func.lower(func.hex(func.randomblob(8)))
    connection.execute(update(sources).where(sources.c.unfinished.is_not(None)).values(unfinished=fresh))
    for number, before in connection.execute(select(sources.c.id, sources.c.warnings)).all():
        after = [words.text(warning) for warning in before]
        if after != before:
            connection.execute(update(sources).where(sources.c.id == number).values(warnings=after))
            changed += 1
    return changed


def redact_kept(driver: sqlite3.Connection, row_id: int, redact: Callable[[Iterable[bytes]], Iterator[bytes]]) -> bool:
    """Rewrite what is kept of a source by as many bytes; return whether anything was replaced."""
    places = driver.execute(
        'SELECT "offset", size_bytes FROM source_chunks WHERE source_id = ? ORDER BY "offset"', (row_id,)
    ).fetchall()
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)
    before: dict[int, bytes] = {}

    def stored() -> Iterator[bytes]:
        for offset, _ in places:
            (packed,) = driver.execute(
                'SELECT zstd FROM source_chunks WHERE source_id = ? AND "offset" = ?', (row_id, offset)
            ).fetchone()
            place = f"zstd in the row of source_chunks with source_id {row_id}, offset {offset}"
            before[offset] = unpacked(packed, place)
            yield before[offset]

    stream, ready, changed = redact(stored()), b"", False
    for offset, size in places:
        while len(ready) < size:
            ready += next(stream)
        after, ready = ready[:size], ready[size:]
        if after != before.pop(offset):
            changed = True
            driver.execute(
                'UPDATE source_chunks SET zstd = ? WHERE source_id = ? AND "offset" = ?',
                (compressor.compress(after), row_id, offset),
            )
    return changed
