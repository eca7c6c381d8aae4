"""``<12>`` frames as values: one board, and what each field of its line means.

``recorder.dialects.style12`` makes frames from lines and tests them against the grammar.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from recorder.errors import LineError


class ReplyBlock(NamedTuple):
    command_id: int
    code: int


TAIL_BEGIN: Final = 77

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

_ELAPSED: Final = re.compile(r"\((?:(-?)(\d{1,9}):)?(-?)(\d{1,9}):(-?)(\d{1,2})(?:\.(\d{1,3}))?\)", re.ASCII)
_CASTLING: Final = {tuple("01"[rights >> bit & 1] for bit in range(4)): rights for rights in range(16)}
_MOST_TEXTS: Final = 1 << 12
#: Usual elapsed times as milliseconds. Those with thousandths are looked up in two parts, ``(1:02`` and ``662)``: a
#: table of them all would not stay in the processor's cache.
_SECONDS_MS: Final[dict[str, int]] = {}
_WHOLE_MS: Final[dict[str, int]] = {}
_PART_MS: Final = {f"{number:03d})": number for number in range(1000)}


def parse_elapsed(text: str) -> tuple[int, bool]:
    """Milliseconds, and whether a fraction was printed: the frame's clocks are milliseconds then."""
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


class Style12:
    """One ``<12>`` frame, read. ``recorder.dialects.style12`` makes it of a line.

    What a ply needs is read at once; the other fields when they are asked for: most of them are never needed. Every
    field but the board, the verbose and the pretty move has the form that it must have; see ``check_frame``.

    Attributes:
        board: the ranks joined by one blank each, rank 8 first: 71 characters on an 8×8 board.
        text: the line, with single blanks.
        partial: True when the line was cut after the verbose move (old servers do that).
        number: of the game, as printed; -1 is a static board (ICC).
        names: White's handle and Black's, with a blank between them.
        relation: -4/-3 list start or isolated, -2 observing an examined game, -1/1 playing, 0 observing, 2 examining.
        ply: half-moves played to reach this board: ``2 * (move_no - 1)``, one more if Black is to move.
        irreversible: half-moves since the last irreversible one, raw: some servers print negative ones.
        white_clock_ms, black_clock_ms: may be negative. None: the frame is cut before the elapsed time, whose point
            shows the unit.
        verbose: the previous move (``P/e2-e4``, ``o-o``, ``P/@@-e4``), or ``none``/``NONE``.
        elapsed_ms: time taken for the previous move; may be negative. None: cut off.
        precision_code: of clocks and elapsed time, as ``Ply`` has it. None: cut off.
        pretty: the previous move in the server's SAN, or ``none``/``NONE``. None: cut off.
        lag_ms: the printed lag of the previous move. None: not printed.

    Source: "help style12" (all editions); token numbers are theirs minus the nine first.
    """

    def __init__(
        self,
        board: str,
        text: str,
        offset: int,
        at_ms: int | None,
        block: ReplyBlock | None,
        partial: bool,
        number: str,
        names: str,
        relation: int,
        ply: int,
        irreversible: int,
        white_clock_ms: int | None,
        black_clock_ms: int | None,
        verbose: str,
        elapsed_ms: int | None,
        precision_code: int | None,
        pretty: str | None,
        lag_ms: int | None,
    ) -> None:
        self.board = board
        self.text = text
        self.offset = offset
        self.at_ms = at_ms
        self.block = block
        self.partial = partial
        self.number = number
        self.names = names
        self.relation = relation
        self.ply = ply
        self.irreversible = irreversible
        self.white_clock_ms = white_clock_ms
        self.black_clock_ms = black_clock_ms
        self.verbose = verbose
        self.elapsed_ms = elapsed_ms
        self.precision_code = precision_code
        self.pretty = pretty
        self.lag_ms = lag_ms

    @property
    def tail(self) -> list[str]:
        """The tokens from the side to move on (``tail[0]`` is ``W`` or ``B``)."""
        return self.text[len(self.board) + 6 :].split(" ")

    @property
    def clocks(self) -> tuple[int | None, int | None]:
        return self.white_clock_ms, self.black_clock_ms

    @property
    def times(self) -> tuple[int | None, int | None, int | None, int | None, int | None]:
        return self.white_clock_ms, self.black_clock_ms, self.elapsed_ms, self.lag_ms, self.precision_code

    @property
    def width(self) -> int:
        """Squares in a rank."""
        return self.board.find(" ")

    @property
    def white_to_move(self) -> bool:
        return self.ply % 2 == 0

    @property
    def push_file(self) -> int:
        """File of the double pawn push just made, 0 for the a-file, or -1; some servers print wild numbers."""
        return int(self.tail[TAIL_PUSH])

    @property
    def castling(self) -> int:
        """Castling rights as printed: 1 White short, 2 White long, 4 Black short, 8 Black long."""
        return _CASTLING[tuple(self.tail[TAIL_CASTLING:TAIL_IRREVERSIBLE])]

    @property
    def game_no(self) -> int:
        return int(self.number)

    @property
    def white(self) -> str:
        return self.names.partition(" ")[0]

    @property
    def black(self) -> str:
        return self.names.partition(" ")[2]

    @property
    def base_min(self) -> int:
        return int(self.tail[TAIL_BASE])

    @property
    def increment_s(self) -> int:
        return int(self.tail[TAIL_INCREMENT])

    @property
    def white_material(self) -> int:
        """White's strength as printed; never a check sum."""
        return int(self.tail[TAIL_WHITE_MATERIAL])

    @property
    def black_material(self) -> int:
        return int(self.tail[TAIL_BLACK_MATERIAL])

    @property
    def move_no(self) -> int:
        return self.ply // 2 + 1

    @property
    def has_move(self) -> bool:
        return self.verbose not in ("none", "NONE")

    @property
    def flip(self) -> bool | None:
        """Whether the server wants Black at the bottom; it does not show who plays which colour. None: cut off."""
        tail = self.tail
        return tail[TAIL_FLIP] == "1" if len(tail) > TAIL_FLIP else None

    @property
    def ticking(self) -> bool | None:
        tail = self.tail
        return tail[TAIL_TICKING] == "1" if len(tail) > TAIL_TICKING else None
