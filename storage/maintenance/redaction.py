"""Taking players out of an archive: their games, their words, their handles in everybody else's texts and in kept logs.

What stands for a handle is as long as the handle, so that every offset stays what it was.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import zstandard
from sqlalchemy import Column, ColumnElement, Connection, column, delete, func, select, update
from sqlalchemy import table as sql_table

from recorder.model import EventKind, SourceKind
from storage.files import driver_of
from storage.maintenance.removal import delete_analyses, delete_decisions, delete_games, delete_unused_players
from storage.read.sources import UNFINISHED, unpacked
from storage.schema import tables as models
from storage.settings import forgotten_sources, note_source
from storage.write.games import closing_up

__all__ = ["HandleReport", "HandleText", "redact_kept", "redact_rows"]

_TEXTS = (
    models.games.c.me,
    models.games.c.reason,
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
_JSON = (models.sources.c.warnings, models.sources.c.restart_state)
_NAMED = ("shapes", "titles")
"""Where names in JSON are lines and handles from a log."""


class HandleText(Protocol):
    """Knows handles, and how a text looks without them."""

    def __contains__(self, handle: str, /) -> bool:
        """Whether this handle is meant, in any case."""

    def text(self, text: str, /) -> str:
        """The text without the handles, as long as before."""

    def name(self, name: str, /) -> str:
        """The same for the name or the place of a file."""


@dataclass(frozen=True)
class HandleReport:
    """What was taken out: games, chat of the players in other games, texts in which a handle stood."""

    games: int
    chats: int
    texts: int


def redact_rows(connection: Connection, words: HandleText) -> HandleReport:
    """Take players out of all tables but the kept logs.

    Args:
        connection: in a transaction.
        words: which players.
    """
    driver = driver_of(connection)
    driver.create_function("is_forgotten", 1, lambda handle: handle in words, deterministic=True)
    driver.create_function("redacted", 1, lambda text: text and words.text(text), deterministic=True)
    driver.create_function("file_name", 1, lambda name: name and words.name(name), deterministic=True)
    driver.execute("CREATE TEMP TABLE gone AS SELECT id FROM main.players WHERE is_forgotten(handle)")
    try:
        with closing_up(driver):
            gone = select(sql_table("gone", column("id")).c.id).scalar_subquery()
            games = models.games.c
            theirs = select(games.id).where(games.white_id.in_(gone) | games.black_id.in_(gone))
            delete_analyses(connection, theirs)
            delete_decisions(connection, theirs)
            found, _, _ = delete_games(connection, theirs)
            delete_unused_players(connection)
    finally:
        driver.execute("DROP TABLE temp.gone")
    events, sources = models.events, models.sources
    by_them = (events.c.kind == EventKind.CHAT.value) & events.c.actor.is_not(None) & func.is_forgotten(events.c.actor)
    chats = connection.execute(delete(events).where(by_them)).rowcount
    texts = sum(_rewrite(connection, text, func.redacted(text)) for text in _TEXTS)
    # A journal is nowhere but in its file; of all other logs nothing is lost with the place.
    elsewhere = (sources.c.kind != SourceKind.JOURNAL.value) & (func.file_name(sources.c.path) != sources.c.path)
    connection.execute(update(sources).where(elsewhere).values(path=None))
    texts += _rewrite(connection, sources.c.name, func.file_name(sources.c.name))
    for source in forgotten_sources(driver):
        note_source(driver, source._replace(name=words.name(source.name)))
    return HandleReport(found, chats, texts + _redact_json(connection, words))


def _rewrite(connection: Connection, text: Column[Any], after: ColumnElement[Any]) -> int:
    """Store another text where it differs; returns in how many rows."""
    return connection.execute(update(text.table).where(after != text).values({text: after})).rowcount


def _redact_json(connection: Connection, words: HandleText) -> int:
    """Texts in values that are kept as JSON. Whoever is writing a source sees at its mark that he must begin anew."""
    sources, changed = models.sources, 0
    state, mark = sources.c.restart_state, f"$.{UNFINISHED}"
    fresh = func.json_set(state, mark, func.lower(func.hex(func.randomblob(8))))
    connection.execute(update(sources).where(func.json_extract(state, mark).is_not(None)).values({state: fresh}))
    for kept in _JSON:
        for number, before in connection.execute(select(sources.c.id, kept)).all():
            after = _redacted(before, words.text)
            if after != before:
                connection.execute(update(sources).where(sources.c.id == number).values({kept: after}))
                changed += 1
    return changed


def _redacted(value: Any, rewrite: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, list):
        return [_redacted(one, rewrite) for one in value]
    if isinstance(value, dict):
        # The names of all others are ours.
        return {
            name: {rewrite(key): told for key, told in one.items()} if name in _NAMED else _redacted(one, rewrite)
            for name, one in value.items()
        }
    return value


def redact_kept(driver: sqlite3.Connection, row_id: int, redact: Callable[[Iterable[bytes]], Iterator[bytes]]) -> bool:
    """Rewrite what is kept of a source.

    Args:
        driver: in a transaction. row_id: of the source.
        redact: gives as many bytes as it gets.
    Returns:
        Whether anything was replaced.
    """
    places = driver.execute(
        'SELECT "offset", size_bytes FROM source_chunks WHERE source_id = ? ORDER BY "offset"', (row_id,)
    ).fetchall()
    compressor = zstandard.ZstdCompressor(level=1, write_checksum=True)
    held: dict[int, bytes] = {}

    def stored() -> Iterator[bytes]:
        for offset, _ in places:
            (packed,) = driver.execute(
                'SELECT zstd FROM source_chunks WHERE source_id = ? AND "offset" = ?', (row_id, offset)
            ).fetchone()
            place = f"zstd in the row of source_chunks with source_id {row_id}, offset {offset}"
            held[offset] = unpacked(packed, place)
            yield held[offset]

    stream, ready, changed = redact(stored()), b"", False
    for offset, size in places:
        while len(ready) < size:
            ready += next(stream)
        after, ready = ready[:size], ready[size:]
        if after != held.pop(offset):
            changed = True
            driver.execute(
                'UPDATE source_chunks SET zstd = ? WHERE source_id = ? AND "offset" = ?',
                (compressor.compress(after), row_id, offset),
            )
    return changed
