"""Delete games and sources, and erase players.

Rows are deleted before the rows that they refer to. Erasing a player deletes the player's games and chat, and replaces
the handle in the texts of other games and in kept logs.

What replaces a handle is as long as the handle, so that every offset stays what it was.
"""

from __future__ import annotations

import codecs
import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Protocol

import zstandard

from recorder.corrections import NO_TEXTS, STANDARD, from_json, rewritten, to_json
from recorder.model import SAVED_KINDS
from storage.read.games import has_analyses
from storage.read.sources import unpacked
from storage.settings import DECISIONS, decisions, forgotten_sources, note_source
from storage.write.games import closing_up
from storage.write.merged import dissolve, relate, touch_keys, touch_others

_OF_OBSERVATIONS = ("events", "holdings", "thinking", "anchors", "ply_lines")
_THEM = "(SELECT value FROM json_each(:games))"


@dataclass(frozen=True)
class ForgetReport:
    name: str
    games: int
    observations: int
    plies: int
    kept_bytes: int
    players: int


def delete_games(driver: sqlite3.Connection, numbers: Sequence[int]) -> tuple[int, int, int]:
    """With games that were made of them and others; counts games, observations and plies."""
    if not numbers:
        return 0, 0, 0
    touch_others(driver, numbers)
    them = {"games": json.dumps(numbers)}
    driver.execute(f"DELETE FROM game_links WHERE game_id IN {_THEM} OR other_game_id IN {_THEM}", them)
    return delete_rows(driver, numbers)


def delete_rows(driver: sqlite3.Connection, numbers: Sequence[int]) -> tuple[int, int, int]:
    """As ``delete_games``, but links stay, and so do games that may now be one with others."""
    run, many, games = driver.execute, driver.executemany, [(number,) for number in numbers]
    merged = {of for key in games for (of,) in run("SELECT merged_into FROM games WHERE id = ?", key) if of is not None}
    dissolve(driver, sorted(merged))
    observed = [row for key in games for row in run("SELECT id FROM observations WHERE game_id = ?", key)]
    query = "SELECT first_ply_id, ply_count FROM ply_lines WHERE observation_id = ? AND ply_count > 0"
    plies: list[tuple[int, int]] = []  # neighbouring lines go in one statement
    for first, count in sorted(line for key in observed for line in run(query, key)):
        begin = plies.pop()[0] if plies and plies[-1][1] == first else first
        plies.append((begin, first + count))
    many("DELETE FROM plies WHERE id >= ? AND id < ?", plies)
    for table in _OF_OBSERVATIONS:
        many(f"DELETE FROM {table} WHERE observation_id = ?", observed)
    many("DELETE FROM segments WHERE game_id = ?", games)
    many("DELETE FROM observations WHERE game_id = ?", games)
    many("DELETE FROM games WHERE id = ?", games)
    return len(games), len(observed), sum(end - first for first, end in plies)


def delete_unused_players(driver: sqlite3.Connection) -> int:
    """Returns how many."""
    unused = "DELETE FROM players WHERE id NOT IN (SELECT white_id FROM games UNION SELECT black_id FROM games)"
    return driver.execute(unused).rowcount


_STAYS = f"""
SELECT g.key, (SELECT min(o.key) FROM games o
  WHERE o.merged_into = g.merged_into AND o.source_id IS NOT NULL AND o.id NOT IN {_THEM})
FROM games g WHERE g.id IN {_THEM} AND g.key IN (SELECT game_key FROM analyses)
"""
_POSITIONS = "SELECT p.id FROM analysed_positions p JOIN analyses a ON a.id = p.analysis_id WHERE a.game_key = :key"


def delete_analyses(driver: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """It must run before anything of these games is deleted; where other sources have the same game, it stays."""
    if not has_analyses(driver):
        return
    for key, other in driver.execute(_STAYS, {"games": json.dumps(numbers)}).fetchall():
        mine = {"key": key, "other": other}
        if other is not None:
            driver.execute("UPDATE analyses SET game_key = :other WHERE game_key = :key", mine)
            continue
        driver.execute(f"DELETE FROM analysis_lines WHERE position_id IN ({_POSITIONS})", mine)
        driver.execute(f"DELETE FROM analysed_positions WHERE id IN ({_POSITIONS})", mine)
        driver.execute("DELETE FROM analyses WHERE game_key = :key", mine)


def delete_decisions(driver: sqlite3.Connection, numbers: Sequence[int]) -> None:
    """Before anything of the games is deleted."""
    query = f"SELECT key FROM games WHERE id IN {_THEM}"
    keys = {key for (key,) in driver.execute(query, {"games": json.dumps(numbers)})}
    driver.executemany("DELETE FROM corrections WHERE game_key = ?", [(key,) for key in keys])
    for decision in decisions(driver):
        if not keys.isdisjoint((decision.key, decision.other)):
            driver.execute("DELETE FROM settings WHERE name = ?", (f"{DECISIONS}{decision.key}:{decision.other}",))


def delete_source(driver: sqlite3.Connection, row_id: int) -> ForgetReport:
    """Its bytes, counts, games with their analyses, players that have no other game."""
    name, kept_bytes = driver.execute("SELECT name, kept_bytes FROM sources WHERE id = ?", (row_id,)).fetchone()
    mine = [number for (number,) in driver.execute("SELECT id FROM games WHERE source_id = ?", (row_id,))]
    delete_analyses(driver, mine)
    delete_decisions(driver, mine)
    games, observations, plies = delete_games(driver, mine)
    for table in ("source_chunks", "source_counts", "source_shapes", "anomalies"):
        driver.execute(f"DELETE FROM {table} WHERE source_id = ?", (row_id,))
    driver.execute("DELETE FROM sources WHERE id = ?", (row_id,))
    return ForgetReport(name, games, observations, plies, kept_bytes, delete_unused_players(driver))


_TEXTS = (
    "games.me",
    "games.reason",
    "games.variant",
    "games.category",
    "events.actor",
    "events.text",
    "thinking.engine",
    "thinking.pv",
    "anomalies.message",
    "game_links.evidence",
    "anomalies.text",
    "source_shapes.shape",
    "sources.me",
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
"""In SQL; null: of a log."""


_WAS_THEIRS = """EXISTS (SELECT 1 FROM json_each(games.corrected) one
  WHERE is_forgotten(coalesce(json_extract(one.value, '$[4]."white.handle"'), ''))
  OR is_forgotten(coalesce(json_extract(one.value, '$[4]."black.handle"'), '')))"""


_DECISIONS_OF_PLAYERS = (
    "DELETE FROM corrections WHERE field IN ('White', 'Black') AND is_forgotten(value) RETURNING game_key",
    f"UPDATE corrections SET value = redact(value) WHERE field NOT IN {NO_TEXTS} AND redact(value) <> value"
    " RETURNING game_key",
    f"UPDATE OR REPLACE corrections SET field = redact(field) WHERE field NOT IN {STANDARD} AND redact(field) <> field"
    " RETURNING game_key",
)


class HandleText(Protocol):
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
    games: int
    chats: int
    texts: int


_PLAYED_BY_THEM = f"""
SELECT id, merged_into FROM games WHERE white_id IN (SELECT id FROM temp.gone) OR black_id IN (SELECT id FROM temp.gone)
  OR {_WAS_THEIRS}
"""
_CHAT_BY_THEM = "DELETE FROM events WHERE kind = 'chat' AND actor IS NOT NULL AND is_forgotten(actor)"


def redact_rows(driver: sqlite3.Connection, words: HandleText) -> HandleReport:
    """All but the kept logs."""
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
            rows = driver.execute(_PLAYED_BY_THEM).fetchall()
            theirs, games = [number for number, _ in rows], sum(merged_into is None for _, merged_into in rows)
            delete_analyses(driver, theirs)
            delete_decisions(driver, theirs)
            delete_games(driver, theirs)
            delete_unused_players(driver)
    finally:
        driver.execute("DROP TABLE temp.gone")
    chats = driver.execute(_CHAT_BY_THEM).rowcount
    for column in _TEXTS:
        table, _, name = column.partition(".")
        texts += _rewrite(driver, table, name, f"redacted({name}, {_SAVED[table]})")
    texts += _rewrite(driver, "events", "detail", f"iif(kind = 'tag', redacted(detail, {_SAVED['events']}), detail)")
    # A journal is nowhere but in its file; of all other logs nothing is lost with the place.
    driver.execute("UPDATE sources SET path = NULL WHERE kind <> 'journal' AND file_name(path) <> path")
    texts += _rewrite(driver, "games", "corrected", "recorrected(corrected)")
    texts += _rewrite(driver, "sources", "name", "file_name(name)")
    for source in forgotten_sources(driver):
        note_source(driver, source._replace(name=words.name(source.name)))
    return HandleReport(games, chats, texts + _redact_warnings(driver, words))


def _is_utf8(driver: sqlite3.Connection, source: int) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    chunks = 'SELECT zstd FROM source_chunks WHERE source_id = ? ORDER BY "offset"'
    try:
        for (packed,) in driver.execute(chunks, (source,)):
            decoder.decode(unpacked(packed, f"source_chunks of source {source}"))
    except UnicodeDecodeError:
        return False
    return True


def _rewrite(driver: sqlite3.Connection, table: str, name: str, after: str) -> int:
    """Where it differs; in how many rows."""
    return driver.execute(f"UPDATE {table} SET {name} = {after} WHERE {after} <> {name}").rowcount


def _redact_decisions(driver: sqlite3.Connection, redact: Callable[[str], str]) -> int:
    """A name that only a correction made one of theirs is the recorded one again; returns in how many texts."""
    driver.create_function("redact", 1, redact)
    driver.create_function("recorrected", 1, lambda text: to_json(rewritten(from_json(text), redact)))
    changed: list[str] = []
    for statement in _DECISIONS_OF_PLAYERS:
        changed += [key for (key,) in driver.execute(statement).fetchall()]
    touch_keys(driver, set(changed))
    relate(driver)
    return len(changed)


def _redact_warnings(driver: sqlite3.Connection, words: HandleText) -> int:
    """Redact the warnings about sources; a process that follows a source sees a changed mark and reads it again."""
    driver.execute("UPDATE sources SET unfinished = lower(hex(randomblob(8))) WHERE unfinished IS NOT NULL")

    def redacted(warnings: str) -> str:
        return json.dumps([words.text(warning) for warning in json.loads(warnings)])

    driver.create_function("redacted_all", 1, redacted)
    return _rewrite(driver, "sources", "warnings", "redacted_all(warnings)")


def redact_kept(driver: sqlite3.Connection, row_id: int, redact: Callable[[Iterable[bytes]], Iterator[bytes]]) -> bool:
    """By as many bytes; whether anything was replaced."""
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
