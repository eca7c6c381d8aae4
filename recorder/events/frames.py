"""``<12>`` frames as values: the tokens of one board, and what each of them means.

A frame keeps its tokens and reads a field when it is asked for: a log is mostly frames, and most of a frame's fields
are never needed. ``recorder.dialects.style12`` makes frames from lines and tests them against the grammar.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from recorder.errors import LineError

__all__ = [
    "PLAYED_RELATIONS",
    "TAIL_BEGIN",
    "TAIL_TURN",
    "TAIL_PUSH",
    "TAIL_CASTLING",
    "TAIL_IRREVERSIBLE",
    "TAIL_GAME",
    "TAIL_WHITE",
    "TAIL_BLACK",
    "TAIL_RELATION",
    "TAIL_BASE",
    "TAIL_INCREMENT",
    "TAIL_WHITE_MATERIAL",
    "TAIL_BLACK_MATERIAL",
    "TAIL_WHITE_CLOCK",
    "TAIL_BLACK_CLOCK",
    "TAIL_MOVE_NO",
    "TAIL_VERBOSE",
    "TAIL_ELAPSED",
    "TAIL_PRETTY",
    "TAIL_FLIP",
    "TAIL_TICKING",
    "TAIL_LAG",
    "ReplyBlock",
    "FrameValues",
    "Style12",
    "parse_elapsed",
    "read_values",
]


class ReplyBlock(NamedTuple):
    """The block-mode block (``\\x15 id \\x16 code \\x16 … \\x17``) that a line stands in."""

    command_id: int
    code: int


TAIL_BEGIN: Final = 77
"""Where the tokens behind the board begin in the line of a usual frame."""

# Places of the tokens in ``Style12.tail``; the names are those of "help style12".
TAIL_TURN: Final = 0
TAIL_PUSH: Final = 1
TAIL_CASTLING: Final = 2  # … 5: white short, white long, black short, black long
TAIL_IRREVERSIBLE: Final = 6
TAIL_GAME: Final = 7
TAIL_WHITE: Final = 8
TAIL_BLACK: Final = 9
TAIL_RELATION: Final = 10
TAIL_BASE: Final = 11
TAIL_INCREMENT: Final = 12
TAIL_WHITE_MATERIAL: Final = 13
TAIL_BLACK_MATERIAL: Final = 14
TAIL_WHITE_CLOCK: Final = 15
TAIL_BLACK_CLOCK: Final = 16
TAIL_MOVE_NO: Final = 17
TAIL_VERBOSE: Final = 18
TAIL_ELAPSED: Final = 19
TAIL_PRETTY: Final = 20
TAIL_FLIP: Final = 21
TAIL_TICKING: Final = 22
TAIL_LAG: Final = 23

PLAYED_RELATIONS: Final = frozenset(("0", "1", "-1"))
"""What ``TAIL_RELATION`` is in a game that is played: watched, our move, the opponent's."""

_ELAPSED: Final = re.compile(r"\((?:(-?)(\d{1,9}):)?(-?)(\d{1,9}):(-?)(\d{1,2})(?:\.(\d{1,3}))?\)", re.ASCII)
_CASTLING: Final = {tuple("01"[rights >> bit & 1] for bit in range(4)): rights for rights in range(16)}
_FLAGS: Final = frozenset(("0", "1"))
_MOST_TEXTS: Final = 1 << 12
_LONGEST_NUMBER: Final = 13  # what is printed from uninitialised memory has eleven characters
#: Usual elapsed times as milliseconds. Those with thousandths are looked up in two parts, ``(1:02`` and ``662)``: a
#: table of them all would not stay in the processor's cache.
_SECONDS_MS: Final[dict[str, int]] = {}
_WHOLE_MS: Final[dict[str, int]] = {}
_PART_MS: Final = {f"{number:03d})": number for number in range(1000)}


def parse_elapsed(text: str) -> tuple[int, bool]:
    """Read the time taken by a move.

    ``(m:ss)``, ``(m:ss.mmm)``, ``(h:mm:ss[.mmm])``. Two colons are always hours, minutes, seconds; ``.5`` is half a
    second; 60 may stand in the seconds place (a rounded 59.9996); a minus sign in any place makes the whole negative
    (``(0:-5)``: some servers divide negative numbers part by part).

    Args:
        text: the token with its parentheses.
    Returns:
        Milliseconds, and whether a fraction was printed (the frame's clocks are milliseconds then).
    Raises:
        LineError: it has none of these forms.
    """
    if text in _SECONDS_MS:
        return _SECONDS_MS[text], False
    known, _, part = text.partition(".")
    if known in _WHOLE_MS and part in _PART_MS:
        return _WHOLE_MS[known] + _PART_MS[part], True
    match = _ELAPSED.fullmatch(text)
    if match is None:
        raise LineError(f"the time taken by the move cannot be {text!r}", field="elapsed", value=text)
    hour_sign, hours, minute_sign, minutes, second_sign, seconds, fraction = match.groups()
    elapsed = (int(hours or 0) * 60 + int(minutes)) * 60_000 + int(seconds) * 1000
    elapsed_ms = elapsed + int((fraction or "").ljust(3, "0"))
    if hour_sign or minute_sign or second_sign:
        elapsed_ms = -elapsed_ms
    elif fraction is None:
        _remember(_SECONDS_MS, text, elapsed)
    else:
        _remember(_WHOLE_MS, text.partition(".")[0], elapsed)
    return elapsed_ms, fraction is not None


def _remember(table: dict[str, int], text: str, ms: int) -> None:
    if len(table) < _MOST_TEXTS:
        table[text] = ms


class FrameValues:
    """What is needed of a frame of a game that is played to take it for the next ply, read all at once.

    Attributes:
        ply: half-moves played to reach the board. number: of the game, as printed. names: as in ``Style12``.
        irreversible, white_ms, black_ms, verbose, elapsed_ms, pretty: as ``Style12`` has them.
        ms: 1 if thousandths were printed, else 0. lag_ms: None: not printed.
    """

    __slots__ = (
        "black_ms",
        "elapsed_ms",
        "irreversible",
        "lag_ms",
        "ms",
        "names",
        "number",
        "ply",
        "pretty",
        "verbose",
        "white_ms",
    )

    def __init__(
        self,
        ply: int,
        number: str,
        names: str,
        irreversible: int,
        white_ms: int,
        black_ms: int,
        verbose: str,
        elapsed_ms: int,
        ms: int,
        pretty: str,
        lag_ms: int | None,
    ) -> None:
        self.ply = ply
        self.number = number
        self.names = names
        self.irreversible = irreversible
        self.white_ms = white_ms
        self.black_ms = black_ms
        self.verbose = verbose
        self.elapsed_ms = elapsed_ms
        self.ms = ms
        self.pretty = pretty
        self.lag_ms = lag_ms


class Style12:
    """One ``<12>`` frame. Keeps its tokens; each field is read when it is asked for.

    Args:
        tail: the tokens from the side to move on, or the line: then they are cut when they are first asked for, and
            stand behind a board of 71 characters with one blank between any two.

    Attributes:
        board: the ranks joined by one blank each, rank 8 first: 71 characters on an 8×8 board.
        values: where they were read while the line was cut; None: ``read_values`` can tell.
        offset: of the line in the source's bytes.
        at_ms: arrival, or None.
        block: the block the frame stands in, or None.
        partial: True when the line was cut after the verbose move (old servers do that).

    A property raises ``LineError`` when its token is missing or cannot be what the field must be.
    Source: "help style12" (all editions); token numbers are theirs minus the nine first.
    """

    __slots__ = ("_line", "_tail", "at_ms", "block", "board", "offset", "partial", "values")

    def __init__(
        self,
        board: str,
        tail: list[str] | str,
        offset: int = 0,
        at_ms: int | None = None,
        block: ReplyBlock | None = None,
        partial: bool = False,
        values: FrameValues | None = None,
    ) -> None:
        self.board = board
        self._tail: list[str] | None = None
        self._line = ""
        if isinstance(tail, str):
            self._line = tail
        else:
            self._tail = tail
        self.offset = offset
        self.at_ms = at_ms
        self.block = block
        self.partial = partial
        self.values = values

    @property
    def tail(self) -> list[str]:
        """The tokens from the side to move on (``tail[0]`` is ``W`` or ``B``)."""
        if self._tail is None:
            self._tail = self._line[TAIL_BEGIN:].split(" ")
            self._line = ""
        return self._tail

    @property
    def names(self) -> str:
        """White's handle and Black's, with a blank between them."""
        return f"{self._text(TAIL_WHITE, 'White')} {self._text(TAIL_BLACK, 'Black')}"

    def _text(self, place: int, field: str) -> str:
        tail = self.tail
        if place >= len(tail):
            raise LineError(f"the frame ends before its {field}", self.text, field)
        return tail[place]

    def number(self, place: int) -> int:
        """The token at a place of the tail, which must be a number."""
        return self._int(place, "number")

    def _int(self, place: int, field: str) -> int:
        value = self._text(place, field)
        if len(value) > _LONGEST_NUMBER or not (value.isdecimal() or (value[:1] == "-" and value[1:].isdecimal())):
            raise LineError(f"the frame's {field} cannot be {value!r}", self.text, field, value)
        return int(value)

    def _flag(self, place: int, field: str) -> bool:
        value = self._text(place, field)
        if value not in ("0", "1"):
            raise LineError(f"the frame's {field} cannot be {value!r}", self.text, field, value)
        return value == "1"

    @property
    def text(self) -> str:
        """The frame written out again with single blanks."""
        return f"<12> {self.board} {' '.join(self.tail)}"

    @property
    def width(self) -> int:
        """Squares in a rank."""
        return self.board.find(" ")

    @property
    def white_to_move(self) -> bool:
        """Whether White is to move."""
        value = self._text(TAIL_TURN, "turn")
        if value not in ("W", "B"):
            raise LineError(f"the frame's turn cannot be {value!r}", self.text, "turn", value)
        return value == "W"

    @property
    def push_file(self) -> int:
        """File of the double pawn push just made, 0 for the a-file, or -1."""
        value = self._int(TAIL_PUSH, "double-push file")
        if not -1 <= value < self.width:
            raise LineError(f"the double-push file cannot be {value}", self.text, "double-push file", str(value))
        return value

    @property
    def castling(self) -> int:
        """Castling rights as printed: 1 White short, 2 White long, 4 Black short, 8 Black long."""
        printed = tuple(self.tail[TAIL_CASTLING:TAIL_IRREVERSIBLE])
        if printed in _CASTLING:
            return _CASTLING[printed]
        return sum(self._flag(TAIL_CASTLING + bit, "castling") << bit for bit in range(4))  # names what is wrong

    @property
    def irreversible(self) -> int:
        """Half-moves since the last irreversible one, raw: some servers print negative ones."""
        return self._int(TAIL_IRREVERSIBLE, "irreversible count")

    @property
    def game_no(self) -> int:
        """The server's number of the game; -1 is a static board (ICC)."""
        return self._int(TAIL_GAME, "game number")

    @property
    def white(self) -> str:
        """White's handle."""
        return self._text(TAIL_WHITE, "White")

    @property
    def black(self) -> str:
        """Black's handle."""
        return self._text(TAIL_BLACK, "Black")

    @property
    def relation(self) -> int:
        """-4/-3 list start or isolated, -2 observing an examined game, -1/1 playing, 0 observing, 2 examining."""
        return self._int(TAIL_RELATION, "relation")

    @property
    def base_min(self) -> int:
        """Initial time in minutes."""
        return self._int(TAIL_BASE, "initial time")

    @property
    def increment_s(self) -> int:
        """Increment in seconds."""
        return self._int(TAIL_INCREMENT, "increment")

    @property
    def white_material(self) -> int:
        """White's strength as printed; never a check sum."""
        return self._int(TAIL_WHITE_MATERIAL, "White's material")

    @property
    def black_material(self) -> int:
        """Black's strength as printed."""
        return self._int(TAIL_BLACK_MATERIAL, "Black's material")

    @property
    def clock_unit_ms(self) -> int:
        """1 if the clocks are milliseconds, else 1000: a point in the elapsed time tells."""
        return 1 if "." in self._text(TAIL_ELAPSED, "elapsed time") else 1000

    @property
    def white_clock_ms(self) -> int:
        """White's clock in milliseconds; may be negative."""
        return self._int(TAIL_WHITE_CLOCK, "White's clock") * self.clock_unit_ms

    @property
    def black_clock_ms(self) -> int:
        """Black's clock in milliseconds; may be negative."""
        return self._int(TAIL_BLACK_CLOCK, "Black's clock") * self.clock_unit_ms

    @property
    def move_no(self) -> int:
        """Number of the move about to be made."""
        return self._int(TAIL_MOVE_NO, "move number")

    @property
    def ply(self) -> int:
        """Half-moves played to reach this board: ``2 * (move_no - 1)``, one more if Black is to move."""
        return 2 * (self.move_no - 1) + (not self.white_to_move)

    @property
    def verbose(self) -> str:
        """The previous move (``P/e2-e4``, ``o-o``, ``P/@@-e4``), or ``none``/``NONE``."""
        return self._text(TAIL_VERBOSE, "verbose move")

    @property
    def has_move(self) -> bool:
        """Whether the frame shows a previous move."""
        return self.verbose not in ("none", "NONE")

    @property
    def elapsed_ms(self) -> int:
        """Time taken for the previous move in milliseconds; may be negative."""
        return parse_elapsed(self._text(TAIL_ELAPSED, "elapsed time"))[0]

    @property
    def ms(self) -> bool:
        """Whether thousandths were printed."""
        return parse_elapsed(self._text(TAIL_ELAPSED, "elapsed time"))[1]

    @property
    def pretty(self) -> str:
        """The previous move in the server's SAN, or ``none``/``NONE``."""
        return self._text(TAIL_PRETTY, "pretty move")

    @property
    def flip(self) -> bool:
        """Whether the server wants Black at the bottom; tells nothing about who plays what."""
        return self._flag(TAIL_FLIP, "flip")

    @property
    def ticking(self) -> bool | None:
        """Whether the clock of the side to move runs; None: not printed."""
        return None if len(self.tail) <= TAIL_TICKING else self._flag(TAIL_TICKING, "ticking")

    @property
    def lag_ms(self) -> int | None:
        """The printed lag of the previous move in milliseconds; None: not printed."""
        return None if len(self.tail) <= TAIL_LAG else self._int(TAIL_LAG, "lag")


def read_values(frame: Style12, lag_meaningless: bool) -> FrameValues | None:
    """Read what a frame tells of a ply.

    Args:
        frame: any frame.
        lag_meaningless: its lag is not read.
    Returns:
        None where it shows no game that is played, or a field that is needed is missing or cannot be what it must be.
    """
    tail = frame.tail
    if len(tail) <= TAIL_PRETTY or tail[TAIL_RELATION] not in PLAYED_RELATIONS:
        return None
    number = tail[TAIL_MOVE_NO]
    if not number.isdecimal() or number[0] == "0" or tail[TAIL_TURN] not in ("W", "B"):
        return None
    if tuple(tail[TAIL_CASTLING:TAIL_IRREVERSIBLE]) not in _CASTLING or not _FLAGS.issuperset(tail[TAIL_FLIP:TAIL_LAG]):
        return None
    try:
        for place in range(TAIL_BASE, TAIL_WHITE_CLOCK):  # nothing here needs them, but they must be numbers
            frame.number(place)
        frame.number(TAIL_PUSH)
        frame.number(TAIL_GAME)
        elapsed_ms, ms = parse_elapsed(tail[TAIL_ELAPSED])
        unit_ms = 1 if ms else 1000
        return FrameValues(
            2 * (int(number) - 1) + (tail[TAIL_TURN] == "B"),
            tail[TAIL_GAME],
            frame.names,
            frame.irreversible,
            frame.number(TAIL_WHITE_CLOCK) * unit_ms,
            frame.number(TAIL_BLACK_CLOCK) * unit_ms,
            tail[TAIL_VERBOSE],
            elapsed_ms,
            int(ms),
            tail[TAIL_PRETTY],
            None if lag_meaningless else frame.lag_ms,
        )
    except ValueError:
        return None
