"""Ply frames for tests: typed as docs/tables.md says, from rows that name only what counts in a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

TYPES = {
    **dict.fromkeys(("key", "san", "uci", "white_holdings", "black_holdings"), "string"),
    **dict.fromkeys(
        (
            "server", "kind", "variant", "category", "time_control", "side", "mover", "opponent", "mover_id",
            "opponent_id", "result", "ending", "termination", "phase", "time_basis", "precision", "proof",
            "origin", "cause",
        ),
        "category",
    ),
    **dict.fromkeys(
        (
            "rated", "mover_guest", "opponent_guest", "mover_computer", "opponent_computer", "complete", "mover_sealed",
        ),
        "boolean",
    ),
    **dict.fromkeys(
        (
            "server_game_no", "base_s", "increment_s", "ply", "move_no", "mover_rating", "opponent_rating",
        ),
        "Int32",
    ),
    **dict.fromkeys(
        (
            "clock_before_ms", "clock_after_ms", "opponent_clock_ms", "white_clock_ms", "black_clock_ms", "elapsed_ms",
            "lag_ms", "arrival_ms", "interval_ms", "thinking_ms", "residual_ms",
        ),
        "Int64",
    ),
    "mover_score": "Float64",
}  # fmt: skip

_COMMON = {
    "key": "g1",
    "kind": "played",
    "server": "FICS",
    "variant": "chess",
    "time_control": "300+0",
    "base_s": 300,
    "increment_s": 0,
    "complete": True,
    "precision": "milliseconds",
    "origin": "frame",
    "proof": "full",
    "time_basis": "none",
}


def frame_of(rows: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """A ply frame of rows; what a row does not name is of a usual game, follows from ``ply``, or is NA."""
    full = []
    for row in rows:
        ply = row["ply"]
        side, other = ("white", "black") if ply % 2 else ("black", "white")
        who = {"mover": side, "opponent": other, "mover_id": f"FICS:{side}", "opponent_id": f"FICS:{other}"}
        full.append({**_COMMON, **who, "side": side, "move_no": (ply + 1) // 2, **row})
    columns = {name: pd.array([row.get(name) for row in full], dtype=kind) for name, kind in TYPES.items()}
    return pd.DataFrame(columns)
