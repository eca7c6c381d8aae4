"""The ply table, the sides and the games as SQL over two stored tables: ``games`` (``g``) and ``plies`` (``p``).

``games`` has what all plies of a game have in common, ``plies`` the rest. What follows from these is not stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from exporters.tables.columns import GAME_COLUMNS, ON_REQUEST, PLY_COLUMNS, SCORES, SIDE_COLUMNS, Column

_TYPES: Final = {"text": "VARCHAR", "boolean": "BOOLEAN", "integer": "BIGINT", "number": "DOUBLE"}
_READ: Final = {"Int32": "INTEGER", "Int64": "BIGINT"}

GAME_TYPES: Final = {
    **{column.name: _TYPES[column.kind] for column in GAME_COLUMNS if not column.sql},
    **{f"{side}{name}_s": "BIGINT" for side in ("", "black_") for name in ("base", "increment")},
    **{f"{side}_sealed": "BOOLEAN" for side in ("white", "black")},
    "event": "VARCHAR",
    "me": "VARCHAR",
    "offset": "BIGINT",
    "start_fen": "VARCHAR",
    "start_ply": "BIGINT",
}

PLY_TYPES: Final = {
    "move": "USMALLINT",
    **{one.name: _TYPES[one.kind] for one in PLY_COLUMNS if not one.sql and one.name not in GAME_TYPES},
    "both_clocks": "BOOLEAN",
}
"""``both_clocks``: the opponent's clock was printed with the move."""


def _texts(columns: Sequence[Column], texts: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for column in columns:
        row = "p" if column.name in PLY_TYPES else "g"
        text = texts.get(column.name) or column.sql or f"{row}.{column.name}"
        kind = _READ.get(column.dtype)  # a time control of ten digits is unknown
        found[column.name] = f"TRY_CAST(({text}) AS {kind})" if kind else text
    return found


def of_plies(extra: Collection[str] = ()) -> dict[str, str]:
    """For ``FROM plies p JOIN games g``; ``extra``: those of ``ON_REQUEST`` that games have."""
    return _texts([*PLY_COLUMNS, *(column for column in ON_REQUEST if column.name in extra)], {})


def of_games() -> dict[str, str]:
    return _texts(GAME_COLUMNS, {})


def of_sides(white: bool) -> dict[str, str]:
    side, other, control = ("white", "black", "") if white else ("black", "white", "black_")
    facts = [column.name for column in SIDE_COLUMNS]
    texts = {
        **{name: name.replace("player", f"g.{side}", 1) for name in facts if name.startswith("player")},
        **{name: name.replace("opponent", f"g.{other}", 1) for name in facts if name.startswith("opponent")},
        **{name: f"g.{control}{name}" for name in ("time_control", "base_s", "increment_s")},
        "side": f"'{side}'::ENUM('white', 'black')",
        "score": SCORES.format(int(white)),
    }
    return _texts(SIDE_COLUMNS, texts)


def selected(texts: Mapping[str, str]) -> str:
    return ", ".join(f'{text} AS "{name}"' for name, text in texts.items())
