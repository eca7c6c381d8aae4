"""The ply table, the sides and the games as SQL over two stored tables: ``games`` (``g``) and ``plies`` (``p``).

``games`` has what all plies of a game have in common, ``plies`` the rest. What follows from these is not stored.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from exporters.tables.columns import GAME_COLUMNS, ON_REQUEST, PLY_COLUMNS, SIDE_COLUMNS, Column

_TYPES: Final = {"text": "VARCHAR", "boolean": "BOOLEAN", "integer": "BIGINT", "number": "DOUBLE"}
_GAMES: Final = {column.name: _TYPES[column.kind] for column in GAME_COLUMNS if column.kind != "instant"}
_TYPE_OF: Final = {"Int32": "INTEGER", "Int64": "BIGINT"}

GAME_TYPES: Final = {
    **_GAMES,
    **{f"{side}{name}_s": "BIGINT" for side in ("", "black_") for name in ("base", "increment")},
    **{f"{side}_sealed": "BOOLEAN" for side in ("white", "black")},
    "event": "VARCHAR",
    "me": "VARCHAR",
    "offset": "BIGINT",
    "start_fen": "VARCHAR",
    "start_ply": "BIGINT",
}
"""The columns of ``games`` besides ``id``, with their types."""

PLY_TYPES: Final = {
    "ply": "INTEGER",
    "move": "USMALLINT",
    "san": "VARCHAR",
    **dict.fromkeys(
        (
            "clock_before_ms", "clock_after_ms", "opponent_clock_ms", "elapsed_ms", "lag_ms", "arrival_ms",
            "interval_ms", "thinking_ms", "residual_ms", "eval_before_cp", "eval_before_mate", "eval_after_cp",
            "eval_after_mate", "eval_depth", "loss_cp", "loss_permille",
        ),
        "BIGINT",
    ),
    **dict.fromkeys(
        (
            "phase", "precision", "proof", "origin", "white_holdings", "black_holdings", "cause",
            "eval_engine",
        ),
        "VARCHAR",
    ),
    "both_clocks": "BOOLEAN",
}  # fmt: skip
"""The columns of ``plies`` besides ``game``; ``both_clocks``: the opponent's clock was printed with the move."""


def _mine(white: str, black: str) -> str:
    return f"CASE WHEN p.ply % 2 = 1 THEN g.{white} ELSE g.{black} END"


def _square(number: str) -> str:
    return f"chr(97 + ({number} & 7)::INTEGER) || ((({number}) >> 3) + 1)"


_FACTS: Final = ("", "_id", "_guest", "_computer", "_rating")
_SCORES: Final = "CASE g.result WHEN '1-0' THEN {0} WHEN '0-1' THEN 1.0 - {0} WHEN '1/2-1/2' THEN 0.5 END::DOUBLE"
_AT: Final = "CASE WHEN g.time_basis = 'utc' THEN make_timestamptz({0} * 1000) END"


def _uci() -> str:
    """As ``decode_move``."""
    move = "p.move::BIGINT"
    begin, end = _square(f"({move} & 63)"), _square(f"(({move} >> 6) & 63)")
    extra = f"({move} >> 12)"
    return (
        f"CASE WHEN {extra} >= 8 THEN substr('NBRQKP', {extra} - 8, 1) || '@' || {end}"
        f" WHEN {extra} > 0 THEN {begin} || {end} || substr('nbrqk', {extra}, 1) ELSE {begin} || {end} END"
    )


_PLIES: Final = {
    "ply": "p.ply",
    "time_control": _mine("time_control", "black_time_control"),
    "base_s": _mine("base_s", "black_base_s"),
    "increment_s": _mine("increment_s", "black_increment_s"),
    "move_no": "(p.ply + 1) // 2",
    "side": "CASE WHEN p.ply % 2 = 1 THEN 'white' ELSE 'black' END",
    **{f"mover{fact}": _mine(f"white{fact}", f"black{fact}") for fact in _FACTS},
    **{f"opponent{fact}": _mine(f"black{fact}", f"white{fact}") for fact in _FACTS},
    "mover_score": _SCORES.format("(p.ply % 2)"),
    "mover_sealed": _mine("white_sealed", "black_sealed"),
    "uci": _uci(),
    "elapsed_origin": (
        "CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN starts_with(p.precision, 'elapsed_derived') THEN 'derived'"
        " WHEN p.origin IN ('pgn', 'comment') THEN 'imported' ELSE 'printed' END"
    ),
    "white_clock_ms": "CASE WHEN p.ply % 2 = 1 THEN p.clock_after_ms WHEN p.both_clocks THEN p.opponent_clock_ms END",
    "black_clock_ms": "CASE WHEN p.ply % 2 = 0 THEN p.clock_after_ms WHEN p.both_clocks THEN p.opponent_clock_ms END",
    "at": _AT.format("p.arrival_ms"),
}


def _texts(columns: Sequence[Column], texts: Mapping[str, str]) -> dict[str, str]:
    found = {}
    for column in columns:
        text = texts.get(column.name, f"{'p' if column.name in PLY_TYPES and 'ply' in texts else 'g'}.{column.name}")
        kind = _TYPE_OF.get(column.dtype)  # a time control of ten digits is unknown
        found[column.name] = f"TRY_CAST(({text}) AS {kind})" if kind else text
    return found


def of_plies(extra: Collection[str] = ()) -> dict[str, str]:
    """The columns of the ply table, for ``FROM plies p JOIN games g``; ``extra``: of ``ON_REQUEST``, those of games."""
    return _texts([*PLY_COLUMNS, *(column for column in ON_REQUEST if column.name in extra)], _PLIES)


def of_games() -> dict[str, str]:
    """The columns of the table of games, for ``FROM games g``."""
    return _texts(GAME_COLUMNS, {"started_at": _AT.format("g.started_ms")})


def of_sides(white: bool) -> dict[str, str]:
    """The columns of the table of sides, of White or Black, for ``FROM games g``."""
    side, other, control = ("white", "black", "") if white else ("black", "white", "black_")
    texts = {
        "side": f"'{side}'::ENUM('white', 'black')",
        **{f"player{fact}": f"g.{side}{fact}" for fact in (*_FACTS, "_sealed")},
        **{f"opponent{fact}": f"g.{other}{fact}" for fact in _FACTS},
        **{name: f"g.{control}{name}" for name in ("time_control", "base_s", "increment_s")},
        "score": _SCORES.format(int(white)),
        "started_at": _AT.format("g.started_ms"),
    }
    return _texts(SIDE_COLUMNS, texts)


def selected(texts: Mapping[str, str]) -> str:
    """The columns of a SELECT."""
    return ", ".join(f'{text} AS "{name}"' for name, text in texts.items())
