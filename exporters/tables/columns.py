"""The columns of the tables, as data: what files and DataFrames have, and ``docs/reference/tables.md`` lists."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from recorder.ledger import Cause
from recorder.model import ELAPSED_ORIGINS, GameKind, Origin, Precision, Proof, StartPrecision, TimeBasis

__all__ = [
    "EVALUATIONS",
    "EVENT_COLUMNS",
    "GAME_COLUMNS",
    "ON_REQUEST",
    "PHASES",
    "PLY_COLUMNS",
    "SIDE_COLUMNS",
    "Column",
]

PHASES = ("opening", "middlegame", "endgame")


class Column(NamedTuple):
    """One column. Any value may be missing unless ``always``.

    Attributes:
        name: the same in CSV, JSON Lines, Parquet and DataFrames.
        kind: ``text``, ``integer``, ``number``, ``boolean`` or ``instant`` (an instant is ISO 8601 in text files).
        dtype: pandas'. unit: ``ms``, ``s``, ``points``, ``cp`` (hundredths of a pawn) …; empty where there is none.
        meaning: in one line. always: never missing. words: all that a category holds, where that is known beforehand.
    """

    name: str
    kind: str
    dtype: str
    unit: str
    meaning: str
    always: bool = False
    words: tuple[str, ...] = ()


def _text(name: str, meaning: str, *, always: bool = False) -> Column:
    return Column(name, "text", "string", "", meaning, always)


def _word(name: str, meaning: str, words: tuple[str, ...] = (), *, always: bool = False) -> Column:
    return Column(name, "text", "category", "", meaning, always, words)


def _truth(name: str, meaning: str, *, always: bool = False) -> Column:
    return Column(name, "boolean", "boolean", "", meaning, always)


def _whole(name: str, meaning: str, unit: str = "", *, always: bool = False) -> Column:
    return Column(name, "integer", "Int32", unit, meaning, always)


def _ms(name: str, meaning: str) -> Column:
    return Column(name, "integer", "Int64", "ms", meaning)


def _score(name: str, unit: str, meaning: str) -> Column:
    return Column(name, "integer", "Int64", unit, meaning)


def _names(kinds: type[IntEnum]) -> tuple[str, ...]:
    return tuple(kind.name.lower() for kind in kinds)


PLY_COLUMNS = (
    _text("key", "the game's key", always=True),
    _word("server", "the server's name"),
    _whole("server_game_no", "the server's own number, which it reuses"),
    _word("kind", "`played`, `examined` or `setup`", tuple(kind.value for kind in GameKind), always=True),
    _word("variant", "`chess`, `crazyhouse`, `chess960`, `wild/5` …"),
    _word("category", "the server's word: `blitz`, `standard`, `wild/fr` …"),
    _truth("rated", "whether the game was rated"),
    _word("time_control", "the mover's base + increment, `300+0`; `-` untimed"),
    _whole("base_s", "the mover's base time", "s"),
    _whole("increment_s", "the mover's increment", "s"),
    _whole("ply", "half-moves played up to and including this one", always=True),
    _whole("move_no", "number of the move", always=True),
    _word("side", "who moved: `white` or `black`", ("white", "black"), always=True),
    _word("mover", "handle"),
    _word("opponent", "handle"),
    _word("mover_id", "the mover, for grouping: see below"),
    _word("opponent_id", "the opponent, for grouping"),
    _truth("mover_guest", "whether the mover is not registered"),
    _truth("opponent_guest", "whether the opponent is not registered"),
    _truth("mover_computer", "whether titles that were seen mark the mover as a computer"),
    _truth("opponent_computer", "whether titles that were seen mark the opponent as a computer"),
    _whole("mover_rating", "rating, as the server printed it"),
    _whole("opponent_rating", "rating, as the server printed it"),
    Column("mover_score", "number", "Float64", "points", "1, 0.5 or 0; missing where there is no result"),
    _word("result", "`1-0`, `0-1`, `1/2-1/2`, `*`", ("1-0", "0-1", "1/2-1/2", "*"), always=True),
    _word("ending", "`result`, `adjourned`, `aborted`, `lost-feed`, `unobserved`, `log-ends`, `reused`", always=True),
    _word("termination", "PGN's `Termination`; missing where a saved game has only the result"),
    _word("reason", "why it ended: `checkmate`, `resign`, `time`, `agreed` … as `reason_key` in schema.md"),
    _truth("complete", "all plies of the game and its end are there", always=True),
    _text("san", "canonical SAN; the printed text where `proof` is `unproved` or `conflict`", always=True),
    _text("uci", "UCI move; drops `N@e4`; chess960 castling is king takes rook"),
    _word("phase", "`opening`, `middlegame`, `endgame`: phase of the position before the move; see below", PHASES),
    _ms("clock_before_ms", "the mover's clock after the mover's previous move; on the first move the base time"),
    _ms("clock_after_ms", "the mover's clock after the move"),
    _ms("opponent_clock_ms", "the opponent's clock after the move; if not printed, after the opponent's previous move"),
    _ms("white_clock_ms", "White's clock after the move"),
    _ms("black_clock_ms", "Black's clock after the move"),
    _ms("elapsed_ms", "what the server charged for the move"),
    _word(
        "elapsed_origin",
        "source of `elapsed_ms`: `printed`, `imported` or `derived`; see below",
        ELAPSED_ORIGINS,
    ),
    _ms("lag_ms", "lag of the move, as the server printed it"),
    Column("at", "instant", "datetime64[ms, UTC]", "", "when the move arrived; in DataFrames and Parquet only if UTC"),
    _ms("arrival_ms", "arrival from the zero of `time_basis`; without UTC, only differences are meaningful"),
    _word(
        "time_basis",
        "`utc`, `zone-unknown`, `date-unknown`, `none`: how far arrival times are known",
        tuple(basis.value for basis in TimeBasis),
        always=True,
    ),
    _ms("interval_ms", "time between the arrivals of the previous ply and of this one"),
    _ms("thinking_ms", "the mover's think time without lag, estimated; see below"),
    _truth("mover_sealed", "whether the mover's lag is measured and given back by a time seal"),
    _word(
        "precision",
        "printed unit: `seconds`, `milliseconds`; `derived_…`: clock computed, `elapsed_derived_…`: time computed",
        _names(Precision),
    ),
    _word("proof", "`full`, `list`, `inferred`, `unproved`, `conflict`", _names(Proof), always=True),
    _word(
        "origin", "`frame`, `movelist`, `inferred`, `pgn`, `datagram`, `delta`, `engine`", _names(Origin), always=True
    ),
    _text("white_holdings", "White's pieces in hand after the ply, as letters, as the server printed them"),
    _text("black_holdings", "Black's pieces in hand, in the same way"),
    _ms("residual_ms", "clock after − (clock before − elapsed + increment)"),
    _word("cause", "cause of the residual, such as `exact` or `rounding`", tuple(cause.value for cause in Cause)),
    _score("eval_before_cp", "cp", "evaluation of the position before the move, as the mover sees it"),
    _score(
        "eval_before_mate",
        "moves",
        "set instead of `eval_before_cp`: the mover mates in this many moves; below 0, the opponent mates",
    ),
    _score("eval_after_cp", "cp", "evaluation of the position after the move, as the mover sees it"),
    _score("eval_after_mate", "moves", "set instead of `eval_after_cp`, in the same way; 0: checkmate"),
    _score("eval_depth", "plies", "search depth of the evaluation after the move"),
    _word("eval_engine", "the engine's name; missing if unknown"),
    _whole("loss_cp", "evaluation lost by the move, 0 to 2000; see below", "cp"),
    _whole("loss_permille", "winning chances lost by the move; see below", "‰"),
)
"""One row a half-move of a main line."""

EVALUATIONS = tuple(column.name for column in PLY_COLUMNS[-8:])
"""The names of those that engines' evaluations fill."""

ON_REQUEST = (
    Column(
        "material", "integer", "Int32", "points", "White's pieces less Black's after the move: P 1, N 3, B 3, R 5, Q 9"
    ),
    _text("fen", "the position after the move, with `[hands]` where they were printed"),
)
"""Columns of plies that are there only when they are asked for."""

_OF_GAMES = ("key", "server", "server_game_no", "kind", "variant", "category", "rated")
_ENDED = ("result", "ending", "termination", "reason", "complete")
_PLY = {column.name: column for column in PLY_COLUMNS}
_STARTED = (
    Column("started_at", "instant", "datetime64[ms, UTC]", "", "when the game began; only if UTC"),
    _ms("started_ms", "start from the zero of `time_basis`"),
    _word(
        "start_precision",
        "precision of the start: `minute` (the start is then the minute's first moment), `second` or `millisecond`",
        tuple(precision.value for precision in StartPrecision),
    ),
    _PLY["time_basis"],
    _text("day", "day of the start, `2020-01-31`, in the time zone of the source; a saved game may have only this"),
    _whole("plies", "known half-moves of the main line, of both sides", always=True),
)


def _side_columns(name: str) -> tuple[Column, ...]:
    return (
        _word(name, "handle", always=True),
        _word(f"{name}_id", "identity for grouping, as `mover_id` of plies", always=True),
        _truth(f"{name}_guest", "whether this player is not registered"),
        _truth(f"{name}_computer", "whether titles that were seen mark this player as a computer"),
        _whole(f"{name}_rating", "rating, as the server printed it"),
    )


SIDE_COLUMNS = (
    *(_PLY[name] for name in _OF_GAMES),
    _word("side", "`white` or `black`", ("white", "black"), always=True),
    *_side_columns("player"),
    *_side_columns("opponent"),
    _truth("player_sealed", "whether this player's lag is measured and given back by a time seal"),
    _word("time_control", "this side's base + increment, `300+0`; `-` untimed"),
    _whole("base_s", "this side's base time", "s"),
    _whole("increment_s", "this side's increment", "s"),
    Column("score", "number", "Float64", "points", "1, 0.5 or 0; missing where there is no result"),
    *(_PLY[name] for name in _ENDED),
    *_STARTED,
)
"""Two rows a game, White's first."""

GAME_COLUMNS = (
    *(_PLY[name] for name in _OF_GAMES),
    *_side_columns("white"),
    *_side_columns("black"),
    _word("time_control", "White's base + increment, `300+0`; `-` untimed"),
    _word("black_time_control", "Black's; differs from White's only in games with time odds"),
    *(_PLY[name] for name in _ENDED),
    *_STARTED,
)
"""One row a game."""

EVENT_COLUMNS = (
    _PLY["key"],
    _whole("ply", "the last ply seen before it", always=True),
    _word("kind", "`clock`, `takeback`, `gap`, `notice`, `chat`, `result` … as in schema.md", always=True),
    _word("detail", "subkind, as in schema.md", always=True),
    _word("actor", "handle of the player who caused the event"),
    Column("value", "integer", "Int64", "", "number of the event; its meaning depends on `kind` (schema.md)"),
    _text("text", "text of the event", always=True),
    _ms("white_clock_ms", "White's clock, where a board showed it"),
    _ms("black_clock_ms", "Black's clock, where a board showed it"),
    _word("reason", "why the game ended, as in plies"),
    Column("at", "instant", "datetime64[ms, UTC]", "", "when its line arrived; only if UTC"),
    _ms("arrival_ms", "start from the zero of `time_basis`"),
    _PLY["time_basis"],
)
"""One row for anything else that happened in a game."""
