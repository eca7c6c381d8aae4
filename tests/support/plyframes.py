"""Ply frames of posed games: the columns and types of ``exporters.Archive.plies``, without an archive."""

from collections.abc import Sequence
from typing import Any

import pandas as pd

from exporters.tables.columns import PLY_COLUMNS

BEGAN_MS = 1_577_880_000_000  # 2020-01-01 12:00 UTC


def posed(
    times_ms: Sequence[int | None],
    *,
    key: str = "a" * 20,
    white: str = "Ann",
    black: str = "Bob",
    base_s: int | None = 300,
    increment_s: int | None = 0,
    result: str = "1-0",
    lags_ms: Sequence[int | None] | None = None,
    first_ply: int = 1,
    missing: frozenset[int] = frozenset(),
    **facts: Any,
) -> pd.DataFrame:
    """One game whose half-moves took these times; both clocks run down by them, and unknown times end them.

    Args:
        missing: half-moves that are not there. facts: any column's value for every row.
    """
    clocks: dict[bool, int | None] = dict.fromkeys((True, False), None if base_s is None else base_s * 1000)
    handles = {True: white, False: black}
    score = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}.get(result)
    rows = []
    at_ms = BEGAN_MS
    untimed = base_s == 0 and increment_s == 0
    for place, taken_ms in enumerate(times_ms):
        ply = first_ply + place
        by_white = ply % 2 == 1
        before = clocks[by_white]
        after = None
        if before is not None and taken_ms is not None and not untimed:
            after = before - taken_ms + (increment_s or 0) * 1000
        clocks[by_white] = after
        at_ms += taken_ms or 0
        if ply in missing:
            continue
        row = {
            "key": key,
            "server": "freechess.org",
            "server_game_no": 17,
            "kind": "played",
            "variant": "chess",
            "category": "blitz",
            "rated": True,
            "time_control": "-" if untimed else None if base_s is None else f"{base_s}+{increment_s}",
            "base_s": base_s,
            "increment_s": increment_s,
            "ply": ply,
            "move_no": (ply + 1) // 2,
            "side": "white" if by_white else "black",
            "mover": handles[by_white],
            "opponent": handles[not by_white],
            "mover_id": f"freechess.org/{handles[by_white].lower()}",
            "opponent_id": f"freechess.org/{handles[not by_white].lower()}",
            "mover_guest": False,
            "opponent_guest": False,
            "mover_computer": False,
            "opponent_computer": False,
            "mover_rating": 2100 if by_white else 1990,
            "opponent_rating": 1990 if by_white else 2100,
            "mover_score": score if by_white or score is None else 1 - score,
            "result": result,
            "ending": "result",
            "termination": "normal",
            "reason": "resign",
            "complete": True,
            "san": "Nf3",
            "phase": "opening" if ply <= 20 else "middlegame" if ply <= 60 else "endgame",
            "clock_before_ms": before,
            "clock_after_ms": after,
            "opponent_clock_ms": clocks[not by_white],
            "white_clock_ms": clocks[True],
            "black_clock_ms": clocks[False],
            "elapsed_ms": taken_ms,
            "lag_ms": None if lags_ms is None else lags_ms[place],
            "at": at_ms,
            "arrival_ms": at_ms,
            "time_basis": "utc",
            "mover_sealed": True,
            "precision": "milliseconds",
            "proof": "full",
            "origin": "frame",
        }
        rows.append({**row, **facts})
    return frame(rows)


def frame(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Rows with the types of the ply table; columns that they lack are missing throughout."""
    columns = {}
    for column in PLY_COLUMNS:
        values = [row.get(column.name) for row in rows]
        if column.kind == "instant":
            columns[column.name] = pd.to_datetime(pd.Series(values, dtype="Int64"), unit="ms", utc=True)
        elif column.dtype == "category":
            columns[column.name] = pd.Series(pd.Categorical(values))
        else:
            columns[column.name] = pd.Series(values, dtype=column.dtype)
    return pd.DataFrame(columns)


def joined(*games: pd.DataFrame) -> pd.DataFrame:
    found = pd.concat([game.astype({"key": "string"}) for game in games], ignore_index=True)
    for column in PLY_COLUMNS:
        if column.dtype == "category":
            found[column.name] = found[column.name].astype("category")
    return found


def events(*rows: tuple[str, str, int, str], key: str = "a" * 20) -> pd.DataFrame:
    """An event frame of kind, detail, ply and text."""
    return pd.DataFrame(
        [{"key": key, "kind": kind, "detail": detail, "ply": ply, "text": text} for kind, detail, ply, text in rows],
        columns=["key", "kind", "detail", "ply", "text"],
    )
