"""What ICC's level-2 datagrams contain, as values: one class for each form.

``number`` is the datagram's. Source: section 8 of the protocol reference (ICC's formats2.txt): numbers, names, fields.
"""

from __future__ import annotations

from typing import NamedTuple

from recorder.dialects.icc.fields import IccMove


class WhoAmI(NamedTuple):
    """0 WHO_AM_I: our handle."""

    number: int
    name: str
    titles: str


class IccGame(NamedTuple):
    """12 GAME_STARTED, 15 MY_GAME_STARTED, 18 STARTED_OBSERVING, 40 ISOLATED_BOARD, 100 MY_GAME_CHANGE.

    Initial times are minutes, increments seconds; a rating of 0 is none. ``time_control`` is in PGN's form and stands
    over the four numbers where it is not empty. Fields from ``game_id`` on may be missing: None.
    """

    number: int
    game_no: int
    white: str
    black: str
    wild: int
    rating_type: str
    rated: bool
    white_base_min: int
    white_increment_s: int
    black_base_min: int
    black_increment_s: int
    played: bool
    note: str
    white_rating: str | None
    black_rating: str | None
    game_id: str | None
    white_titles: str | None
    black_titles: str | None
    irregular_legality: bool | None
    irregular_semantics: bool | None
    plunkers: bool | None
    time_control: str | None
    promote_to_king: bool | None


class GameOver(NamedTuple):
    """13 GAME_RESULT, 16 MY_GAME_RESULT. ``score`` is a result token or ``aborted``."""

    number: int
    game_no: int
    becomes_examined: bool
    code: str
    score: str
    description: str
    eco: str | None


class NumberOnly(NamedTuple):
    """14 EXAMINED_GAME_IS_GONE, 17 MY_GAME_ENDED, 19 STOP_OBSERVING, 41 REFRESH: the game's number."""

    number: int
    game_no: int


class Relation(NamedTuple):
    """20 PLAYERS_IN_MY_GAME (``player`` and whether kibitzes reach him), 43 MY_RELATION_TO_GAME (None, None).

    ``symbol``: O PW PB SW SB E, or X for none.
    """

    number: int
    game_no: int
    player: str | None
    symbol: str
    hears: int | None


class Offers(NamedTuple):
    """21 OFFERS_IN_MY_GAME: open offers; of takebacks the half-moves."""

    number: int
    game_no: int
    white_draw: int
    black_draw: int
    white_adjourn: int
    black_adjourn: int
    white_abort: int
    black_abort: int
    white_takeback: int
    black_takeback: int


class GoneBack(NamedTuple):
    """22 TAKEBACK in a played game, 23 BACKWARD in an examined one: half-moves."""

    number: int
    game_no: int
    plies: int


class MovesSent(NamedTuple):
    """24 SEND_MOVES, 111 PAST_MOVE. ``words`` are the move's fields as printed (see ``icc_moves``)."""

    number: int
    game_no: int
    words: tuple[str, ...]
    move: IccMove | None = None


class MoveList(NamedTuple):
    """25 MOVE_LIST. ``board``: 64 characters from a8 on; None is the normal start position."""

    number: int
    game_no: int
    board: str | None
    words: tuple[tuple[str, ...], ...]
    moves: tuple[IccMove, ...] = ()


class Kibitz(NamedTuple):
    """26 KIBITZ; ``aloud`` False: a whisper."""

    number: int
    game_no: int
    player: str
    titles: str
    aloud: bool
    text: str


class BughouseHoldings(NamedTuple):
    number: int
    game_no: int
    white: str
    black: str


class BughousePass(NamedTuple):
    """57 BUGHOUSE_PASS: a piece that has come to a hand."""

    number: int
    game_no: int
    to_white: bool
    piece: str


class ClocksSet(NamedTuple):
    """38 SET_CLOCK, in seconds."""

    number: int
    game_no: int
    white_s: int
    black_s: int


class MoreTime(NamedTuple):
    """61 MORETIME: seconds added to a side's clock."""

    number: int
    game_no: int
    to_white: bool
    seconds: int


class Flip(NamedTuple):
    """39 FLIP: whether the board is to be shown from Black's side."""

    number: int
    game_no: int
    flip: bool


class IllegalMove(NamedTuple):
    """42 ILLEGAL_MOVE; ``code`` 10: the time was up before the move."""

    number: int
    game_no: int
    move: str
    code: int


class JBoard(NamedTuple):
    """49 JBOARD: a whole board. The document names no game number; it is read if present.

    ``castling`` is four digits as in style 12. ``status``: 1 played, 0 examined, -1 stored. Clocks are printed without
    a unit: kept as text.
    """

    number: int
    game_no: int | None
    board: str
    white_to_move: bool
    push_file: int
    castling: str
    move_no: int
    san: str
    smith: str
    white_clock: str | None
    black_clock: str | None
    status: int | None
    flip: bool | None


class DatagramFen(NamedTuple):
    """70 FEN."""

    number: int
    game_no: int
    fen: str


class SimpleBoard(NamedTuple):
    """84 SET_BOARD: the board after a move that the usual rules do not give."""

    number: int
    game_no: int
    board: str
    white_to_move: bool


class Msec(NamedTuple):
    """56 MSEC: a clock in signed milliseconds."""

    number: int
    game_no: int
    white: bool
    clock_ms: int
    running: bool
    free_ms: int | None
    least_ms: int | None


class BeganPosition(NamedTuple):
    """101 POSITION_BEGIN, 110 POSITION_BEGIN2: a start position (empty: the normal one), and how many moves follow."""

    number: int
    game_no: int
    fen: str
    plies: int


class PgnTag(NamedTuple):
    number: int
    game_no: int
    name: str
    value: str


class SettingChanged(NamedTuple):
    """124 SET2: datagrams of a number are switched on or off from here on."""

    number: int
    datagram: int
    on: bool


class MoveLag(NamedTuple):
    """144 MOVE_LAG of the player who has just moved, in milliseconds."""

    number: int
    player: str
    lag_ms: int


class GameText(NamedTuple):
    number: int
    game_no: int
    text: str


class PgnLines(NamedTuple):
    """86 LOG_PGN: a game's PGN line by line."""

    number: int
    lines: tuple[str, ...]


IccDatagram = (
    WhoAmI | IccGame | GameOver | NumberOnly | Relation | Offers | GoneBack | MovesSent | MoveList | Kibitz |
    BughouseHoldings | BughousePass | ClocksSet | MoreTime | Flip | IllegalMove | JBoard | DatagramFen | SimpleBoard |
    Msec | BeganPosition | PgnTag | SettingChanged | MoveLag | GameText | PgnLines
)  # fmt: skip
