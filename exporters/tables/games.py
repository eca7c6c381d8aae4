"""The tables of sides, games and events."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, timedelta
from typing import Any

import numpy as np
import pandas as pd

from exporters.tables.arrays import empty, frame_of, instants, spread
from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, SIDE_COLUMNS, Column
from exporters.tables.facts import GameSide, side_of
from recorder.model import Game, TimeBasis
from storage import ArchiveStore, GameFilter
from storage.read.columns import NULL, ColumnReader, GameFacts

__all__ = ["event_frame", "events_of", "game_frame", "game_rows", "side_frame"]

_DAY_MS = 86_400_000
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def side_frame(reader: ColumnReader, games: list[tuple[int, int]]) -> pd.DataFrame:
    """Two rows for each of these games, White's first; ``games`` are row numbers and numbers of plies."""
    rows = []
    for facts, (_, plies) in zip(reader.facts([row_id for row_id, _ in games]), games, strict=True):
        sides = {white: side_of(facts, white) for white in (True, False)}
        for white in (True, False):
            mine = sides[white]
            rows.append(
                {
                    **_common(facts, plies),
                    "side": "white" if white else "black",
                    **_player("player", mine),
                    **_player("opponent", sides[not white]),
                    "player_sealed": mine.sealed,
                    "time_control": mine.time_control,
                    "base_s": mine.base_s,
                    "increment_s": mine.increment_s,
                    "score": mine.score,
                }
            )
    return _frame(SIDE_COLUMNS, rows)


def game_frame(reader: ColumnReader, games: list[tuple[int, int]]) -> pd.DataFrame:
    """One row for each of these games; ``games`` are row numbers and numbers of plies."""
    return _frame(GAME_COLUMNS, game_rows(reader, games))


def game_rows(reader: ColumnReader, games: list[tuple[int, int]]) -> list[dict[str, Any]]:
    """The same as plain values by column: an instant is milliseconds since 1970, a truth may be 0 or 1."""
    rows = []
    for facts, (_, plies) in zip(reader.facts([row_id for row_id, _ in games]), games, strict=True):
        white, black = side_of(facts, True), side_of(facts, False)
        rows.append(
            {
                **_common(facts, plies),
                **_player("white", white),
                **_player("black", black),
                "time_control": white.time_control,
                "black_time_control": black.time_control,
            }
        )
    return rows


def event_frame(games: Iterable[Game]) -> pd.DataFrame:
    """The events of these games, in the order of their lines; of several witnesses what they tell alike once."""
    rows = [
        {
            "key": game.key,
            "ply": event.ply,
            "kind": event.kind.value,
            "detail": event.detail,
            "actor": event.actor,
            "value": event.value,
            "text": event.text,
            "white_clock_ms": event.white_clock_ms,
            "black_clock_ms": event.black_clock_ms,
            "reason": game.reason_key,
            "at": event.at_ms if game.time_basis is TimeBasis.UTC else None,
            "arrival_ms": event.at_ms,
            "time_basis": game.time_basis.value,
        }
        for game in games
        for event in game.events
    ]
    return _frame(EVENT_COLUMNS, rows)


def events_of(storage: ArchiveStore, where: GameFilter) -> pd.DataFrame:
    """The events of the games that match, all of one moment."""
    with storage.snapshot():
        return event_frame(
            storage.games(where, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False)
        )


def _common(facts: GameFacts, plies: int) -> dict[str, Any]:
    return {
        **facts._asdict(),
        "termination": facts.termination or None,
        "reason": facts.reason_key,
        "started_at": facts.started_at_ms if facts.time_basis == TimeBasis.UTC.value else None,
        "started_ms": facts.started_at_ms,
        "day": _day(facts),
        "plies": plies,
    }


def _day(facts: GameFacts) -> str | None:
    """As ``Game.day``."""
    if facts.started_at_ms is not None and facts.time_basis in (TimeBasis.UTC.value, TimeBasis.LOCAL.value):
        return str(date(1970, 1, 1) + timedelta(days=facts.started_at_ms // _DAY_MS))
    if facts.date_text is None or not _ISO_DAY.fullmatch(facts.date_text):
        return None
    try:
        return str(date.fromisoformat(facts.date_text))
    except ValueError:  # printed by a server, and no such day
        return None


def _player(name: str, side: GameSide) -> dict[str, Any]:
    return {
        name: side.handle,
        f"{name}_id": side.identity,
        f"{name}_guest": side.guest,
        f"{name}_computer": side.computer,
        f"{name}_rating": side.rating,
    }


def _frame(columns: tuple[Column, ...], rows: list[dict[str, Any]]) -> pd.DataFrame:
    if not rows:
        return empty(columns)
    return frame_of(columns, {column.name: _values(column, [row[column.name] for row in rows]) for column in columns})


def _values(column: Column, values: list[Any]) -> Any:
    if column.kind == "instant":
        return instants(np.array([NULL if value is None else value for value in values], dtype=np.int64))
    return spread(column, values)
