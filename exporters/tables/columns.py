"""The columns of the tables, as data: what files and DataFrames have, and ``docs/reference/tables.md`` lists."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from recorder.ledger import Cause
from recorder.model import ELAPSED_ORIGINS, GameKind, Origin, Precision, Proof, StartPrecision, TimeBasis

PHASES = ("opening", "middlegame", "endgame")


class Column(NamedTuple):
    """One column. Any value may be missing unless ``always``.

    Attributes:
        name: the same in CSV, JSON Lines, Parquet and DataFrames.
        kind: ``text``, ``integer``, ``number``, ``boolean`` or ``instant`` (an instant is ISO 8601 in text files).
        dtype: pandas'. unit: ``ms``, ``s``, ``points``, ``cp`` (hundredths of a pawn) …; empty where there is none.
        meaning: in one line. always: never missing. words: all that a category holds, where that is known beforehand.
        sql: what it follows from, in the rows ``p`` of a ply and ``g`` of its game; empty: it is stored in one of them.
    """

    name: str
    kind: str
    dtype: str
    unit: str
    meaning: str
    always: bool = False
    words: tuple[str, ...] = ()
    sql: str = ""


def _text(name: str, meaning: str, *, always: bool = False, sql: str = "") -> Column:
    return Column(name, "text", "string", "", meaning, always, (), sql)


def _word(name: str, meaning: str, words: tuple[str, ...] = (), *, always: bool = False, sql: str = "") -> Column:
    return Column(name, "text", "category", "", meaning, always, words, sql)


def _truth(name: str, meaning: str, *, always: bool = False, sql: str = "") -> Column:
    return Column(name, "boolean", "boolean", "", meaning, always, (), sql)


def _whole(name: str, meaning: str, unit: str = "", *, always: bool = False, sql: str = "") -> Column:
    return Column(name, "integer", "Int32", unit, meaning, always, (), sql)


def _ms(name: str, meaning: str, sql: str = "") -> Column:
    return Column(name, "integer", "Int64", "ms", meaning, sql=sql)


def _instant(name: str, meaning: str, ms: str = "") -> Column:
    sql = f"CASE WHEN g.time_basis = 'utc' THEN make_timestamptz({ms} * 1000) END" if ms else ""
    return Column(name, "instant", "datetime64[ms, UTC]", "", meaning, sql=sql)


def _score(name: str, unit: str, meaning: str) -> Column:
    return Column(name, "integer", "Int64", unit, meaning)


def _names(kinds: type[IntEnum]) -> tuple[str, ...]:
    return tuple(kind.name.lower() for kind in kinds)


def _mine(white: str, black: str) -> str:
    return f"CASE WHEN p.ply % 2 = 1 THEN g.{white} ELSE g.{black} END"


def _mover(fact: str) -> str:
    return _mine(f"white{fact}", f"black{fact}")


def _opponent(fact: str) -> str:
    return _mine(f"black{fact}", f"white{fact}")


def _control(name: str) -> str:
    return _mine(name, f"black_{name}")


def _square(number: str) -> str:
    return f"chr(97 + ({number} & 7)::INTEGER) || ((({number}) >> 3) + 1)"


_BEGIN, _END, _EXTRA = (
    _square("(p.move::BIGINT & 63)"),
    _square("((p.move::BIGINT >> 6) & 63)"),
    "(p.move::BIGINT >> 12)",
)
_UCI = (
    f"CASE WHEN {_EXTRA} >= 8 THEN substr('NBRQKP', {_EXTRA} - 8, 1) || '@' || {_END}"
    f" WHEN {_EXTRA} > 0 THEN {_BEGIN} || {_END} || substr('nbrqk', {_EXTRA}, 1) ELSE {_BEGIN} || {_END} END"
)
"""As ``decode_move``."""
SCORES = "CASE g.result WHEN '1-0' THEN {0} WHEN '0-1' THEN 1.0 - {0} WHEN '1/2-1/2' THEN 0.5 END::DOUBLE"
_SIDE = "CASE WHEN p.ply % 2 = 1 THEN 'white' ELSE 'black' END"
_CLOCK = "CASE WHEN p.ply % 2 = {} THEN p.clock_after_ms WHEN p.both_clocks THEN p.opponent_clock_ms END"
_ELAPSED_ORIGIN = (
    "CASE WHEN p.elapsed_ms IS NULL THEN NULL WHEN starts_with(p.precision, 'elapsed_derived') THEN 'derived'"
    " WHEN p.origin IN ('pgn', 'comment') THEN 'imported' ELSE 'printed' END"
)

PLY_COLUMNS = (
    _text("key", "the game's key", always=True),
    _word("server", "the server's name; missing if no line or option names it"),
    _whole("server_game_no", "the server's own number, which it reuses"),
    _word("kind", "`played`, `examined` or `setup`", tuple(kind.value for kind in GameKind), always=True),
    _word("variant", "`chess`, `crazyhouse`, `chess960`, `wild/5` …"),
    _word("category", "the server's word: `blitz`, `standard`, `wild/fr` …"),
    _truth("rated", "whether the game was rated"),
    _text("day", "day of the game's start, `2020-01-31`, in the time zone of the source"),
    _ms(
        "started_ms",
        "start of the game: since 1970 if `time_basis` is `utc`; otherwise only differences are meaningful",
    ),
    _word(
        "time_control", "the mover's base + increment in seconds, `300+0`; `-` untimed", sql=_control("time_control")
    ),
    _whole("base_s", "the mover's base time; 0 if untimed", "s", sql=_control("base_s")),
    _whole("increment_s", "the mover's increment for each move", "s", sql=_control("increment_s")),
    _whole("ply", "half-moves played so far, this one included: 1 is White's first move", always=True),
    _whole(
        "move_no", "number of the full move, as in PGN: plies 1 and 2 are move 1", always=True, sql="(p.ply + 1) // 2"
    ),
    _word(
        "side",
        "who moved: `white` or `black`",
        ("white", "black"),
        always=True,
        sql=_SIDE,
    ),
    _word("mover", "handle of the player who moved", sql=_mover("")),
    _word("opponent", "handle of the other player", sql=_opponent("")),
    _word("mover_id", "the mover's identity, for grouping: see below", sql=_mover("_id")),
    _word("opponent_id", "the opponent's identity, for grouping: see below", sql=_opponent("_id")),
    _truth("mover_guest", "whether the mover is not registered", sql=_mover("_guest")),
    _truth("opponent_guest", "whether the opponent is not registered", sql=_opponent("_guest")),
    _truth(
        "mover_computer",
        "whether the mover's printed titles contain `(C)`; missing if no titles were printed",
        sql=_mover("_computer"),
    ),
    _truth(
        "opponent_computer",
        "whether the opponent's printed titles contain `(C)`; missing if no titles were printed",
        sql=_opponent("_computer"),
    ),
    _whole("mover_rating", "the mover's rating, as printed; missing if no number was printed", sql=_mover("_rating")),
    _whole(
        "opponent_rating",
        "the opponent's rating, as printed; missing if no number was printed",
        sql=_opponent("_rating"),
    ),
    Column(
        "mover_score",
        "number",
        "Float64",
        "points",
        "the mover's result: 1, 0.5 or 0; missing where the result is `*`",
        sql=SCORES.format("(p.ply % 2)"),
    ),
    _word("result", "`1-0`, `0-1`, `1/2-1/2`, `*`", ("1-0", "0-1", "1/2-1/2", "*"), always=True),
    _word("ending", "`result`, `adjourned`, `aborted`, `lost-feed`, `unobserved`, `log-ends`, `reused`", always=True),
    _word("termination", "PGN's `Termination`; missing where a saved game has only the result"),
    _word("reason", "why it ended: `checkmate`, `resign`, `time`, `agreed` …"),
    _truth("complete", "whether all plies of the game and its end are known", always=True),
    _text("san", "canonical SAN; the printed text where `proof` is `unproved` or `conflict`", always=True),
    _text(
        "uci",
        "UCI move; drops `N@e4`; chess960 castling is king takes rook; missing if the squares are unknown",
        sql=_UCI,
    ),
    _word("phase", "phase of the position before the move: `opening`, `middlegame`, `endgame`; see below", PHASES),
    _ms("clock_before_ms", "the mover's clock after the mover's previous move; on the first move the base time"),
    _ms("clock_after_ms", "the mover's clock after the move, increment included"),
    _ms("opponent_clock_ms", "the opponent's clock after the move; if not printed, after the opponent's previous move"),
    _ms("white_clock_ms", "White's clock after the move", sql=_CLOCK.format(1)),
    _ms("black_clock_ms", "Black's clock after the move", sql=_CLOCK.format(0)),
    _ms("elapsed_ms", "time that the server charged for the move"),
    _word(
        "elapsed_origin",
        "source of `elapsed_ms`: `printed`, `imported` or `derived`; see below",
        ELAPSED_ORIGINS,
        sql=_ELAPSED_ORIGIN,
    ),
    _ms("lag_ms", "lag of the move, as the server printed it; missing if it printed none"),
    _instant("at", "when the move arrived; in DataFrames and Parquet missing unless UTC is known", "p.arrival_ms"),
    _ms("arrival_ms", "arrival: since 1970 if `time_basis` is `utc`; otherwise only differences are meaningful"),
    _word(
        "time_basis",
        "how far arrival times are known: `utc`, `zone-unknown`, `date-unknown` or `none`",
        tuple(basis.value for basis in TimeBasis),
        always=True,
    ),
    _ms("interval_ms", "time between the arrivals of the previous ply and of this one; missing without arrival times"),
    _ms("thinking_ms", "the mover's think time without lag, estimated; see below"),
    _truth("mover_sealed", "whether the mover uses a time seal, so lag is not charged", sql=_mover("_sealed")),
    _word(
        "precision",
        "printed unit: `seconds`, `milliseconds`; `derived_…`: clock computed, `elapsed_derived_…`: time computed",
        _names(Precision),
    ),
    _word("proof", "`full`, `list`, `inferred`, `unproved`, `conflict`", _names(Proof), always=True),
    _word(
        "origin",
        "`frame`, `movelist`, `inferred`, `pgn`, `datagram`, `delta`, `engine`, `comment`",
        _names(Origin),
        always=True,
    ),
    _text("white_holdings", "White's pieces in hand after the ply, as printed (`PPN`)"),
    _text("black_holdings", "Black's pieces in hand after the ply, as printed (`PPN`)"),
    _ms("residual_ms", "clock after − (clock before − elapsed + increment); missing where one is unknown"),
    _word(
        "cause",
        "cause of the residual, such as `exact` or `rounding`; missing where clocks are not checked",
        tuple(cause.value for cause in Cause),
    ),
    _score("eval_before_cp", "cp", "evaluation of the position before the move, as the mover sees it"),
    _score(
        "eval_before_mate",
        "moves",
        "set instead of `eval_before_cp`: the mover mates in this many moves; below 0, the opponent mates",
    ),
    _score("eval_after_cp", "cp", "evaluation of the position after the move, as the mover sees it"),
    _score("eval_after_mate", "moves", "set instead of `eval_after_cp`, likewise; 0: checkmate"),
    _score("eval_depth", "plies", "search depth of the evaluation after the move"),
    _word("eval_engine", "the engine of the evaluation after the move"),
    _whole("loss_cp", "evaluation lost by the move, 0 to 2000; see below", "cp"),
    _whole("loss_permille", "winning chances lost by the move; see below", "‰"),
)

EVALUATIONS = tuple(column.name for column in PLY_COLUMNS[-8:])

MATCH_COLUMNS = (
    _text("match", "key of the match's board A", always=True),
    _word("board", "`A` or `B`; White of A and Black of B are one team", always=True),
    _whole("moment", "the move's place among those of both boards, from 1", always=True),
    _truth("certain", "whether its place among the other board's moves is known", always=True),
    _word("partner", "handle of the mover's partner"),
    _ms("diagonal_lead_ms", "the mover's clock less his colour's on the other board"),
    _ms("sit_ms", "before the move: no player moved, and one colour was on the move on both"),
)

_OPENING = (
    _word("eco", "ECO code of the last named position, as `B90`; missing if there is none; only for normal chess"),
    _word("opening", "its name, as `Sicilian Defense: Najdorf Variation`; missing as `eco`"),
)

ON_REQUEST = (
    Column(
        "material",
        "integer",
        "Int32",
        "points",
        "value of White's pieces minus Black's after the move: P 1, N 3, B 3, R 5, Q 9",
    ),
    _text("fen", "the position after the move, with pieces in hand in brackets where they were printed"),
    *_OPENING,
    _word("event", "the Event tag of the saved game, or as ICC printed it, such as a tournament"),
)
"""Columns of plies that are there only when they are asked for, besides ``MATCH_COLUMNS``."""

ALL_PLY_COLUMNS = (*MATCH_COLUMNS, *PLY_COLUMNS, *ON_REQUEST)

_OF_GAMES = ("key", "server", "server_game_no", "kind", "variant", "category", "rated")
_ENDED = ("result", "ending", "termination", "reason", "complete")
_PLY = {column.name: column for column in PLY_COLUMNS}
_STARTED = (
    _instant("started_at", "when the game began; missing unless UTC is known", "g.started_ms"),
    _PLY["started_ms"],
    _word(
        "start_precision",
        "unit in which the start is known: `minute` (then its first moment), `second` or `millisecond`",
        tuple(precision.value for precision in StartPrecision),
    ),
    _PLY["time_basis"],
    _PLY["day"],
    _whole("plies", "known half-moves of the main line, of both sides", always=True),
    *_OPENING,
    _whole("opening_ply", "half-moves after which the game was last in a named position; missing as `eco`"),
)


def _side_columns(name: str) -> tuple[Column, ...]:
    return (
        _word(name, "this player's handle", always=True),
        _word(f"{name}_id", "identity for grouping, as `mover_id` of plies", always=True),
        _truth(f"{name}_guest", "whether this player is not registered"),
        _truth(
            f"{name}_computer", "whether this player's printed titles contain `(C)`; missing if no titles were printed"
        ),
        _whole(f"{name}_rating", "this player's rating, as printed; missing if no number was printed"),
    )


SIDE_COLUMNS = (
    *(_PLY[name] for name in _OF_GAMES),
    _word("side", "`white` or `black`", ("white", "black"), always=True),
    *_side_columns("player"),
    *_side_columns("opponent"),
    _truth("player_sealed", "whether this player uses a time seal, so lag is not charged"),
    _word("time_control", "this side's base + increment in seconds, `300+0`; `-` untimed"),
    _whole("base_s", "this side's base time; 0 if untimed", "s"),
    _whole("increment_s", "this side's increment for each move", "s"),
    Column("score", "number", "Float64", "points", "this side's result: 1, 0.5 or 0; missing where the result is `*`"),
    *(_PLY[name] for name in _ENDED),
    *_STARTED,
)

GAME_COLUMNS = (
    *(_PLY[name] for name in _OF_GAMES),
    *_side_columns("white"),
    *_side_columns("black"),
    _word("time_control", "White's base + increment in seconds, `300+0`; `-` untimed"),
    _word("black_time_control", "Black's, likewise; differs from White's only in games with time odds"),
    *(_PLY[name] for name in _ENDED),
    *_STARTED,
)

EVENT_COLUMNS = (
    _PLY["key"],
    _whole("ply", "number of the last ply before the event; 0: none", always=True),
    _word("kind", "`clock`, `takeback`, `gap`, `notice`, `chat`, `result` … as in schema.md", always=True),
    _word("detail", "kind in more detail, as in schema.md; may be empty", always=True),
    _word("actor", "handle of the player who caused the event; missing if the server did, or unknown"),
    Column(
        "value", "integer", "Int64", "", "a number whose unit and meaning depend on `kind` (schema.md); missing if none"
    ),
    _text("text", "the printed line or its words; may be empty", always=True),
    _ms("white_clock_ms", "White's clock on the board that shows the event; missing if no board does"),
    _ms("black_clock_ms", "Black's clock on the board that shows the event; missing if no board does"),
    _word("reason", "why the game ended, in every row of the game; as in plies"),
    _instant("at", "when its line arrived; missing unless UTC is known"),
    _PLY["arrival_ms"],
    _PLY["time_basis"],
)
