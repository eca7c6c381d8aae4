"""Half-moves, the lines that they make, the positions that they start from, and plies as far as PGN shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from functools import partial
from itertools import count
from typing import Any, Final, NamedTuple, cast

from recorder.movetext import THOUSANDTHS, move_number, whole_hms
from recorder.rules.position import decode_move


class Proof(IntEnum):
    """How far a ply is proved."""

    UNPROVED = 0  # something needed for the proof, such as a notation or pieces in hand, is missing or does not agree
    FULL = 1  # both notations and both boards agree, and the move is legal by the variant's rules, if these are known
    LIST = 2  # a legal move that no board shows: from a move list that leads to the next board, or from a delta
    INFERRED = 3  # the only legal way to fill a gap of one or two plies; a promotion whose piece no line names
    CONFLICT = 4  # the sources of this ply contradict each other


class Origin(IntEnum):
    """Where a ply was read."""

    FRAME = 0
    MOVELIST = 1
    INFERRED = 2
    PGN = 3  # a saved game's movetext
    DATAGRAM = 4  # ICC's level 1 and 2
    DELTA = 5  # ``<d1>``
    ENGINE = 6  # the engine protocol
    COMMENT = 7  # a saved game's movetext; its times are those of a comment that an engine's program wrote


SAVED_ORIGINS: Final = (Origin.PGN, Origin.COMMENT)


class Precision(IntEnum):
    """The unit in which this ply's times were printed; None where no time was printed."""

    SECONDS = 0
    MILLISECONDS = 1
    DERIVED_SECONDS = 2  # the elapsed time was printed in seconds; the clock is computed from it and the time control
    DERIVED_MILLISECONDS = 3
    ELAPSED_DERIVED_SECONDS = 4  # clocks were printed in seconds; the elapsed time is computed from two of them
    ELAPSED_DERIVED_MILLISECONDS = 5


EXACT: Final = frozenset((
    Precision.MILLISECONDS.value, Precision.DERIVED_MILLISECONDS.value, Precision.ELAPSED_DERIVED_MILLISECONDS.value,
))  # fmt: skip
CLOCK_DERIVED: Final = frozenset((Precision.DERIVED_SECONDS.value, Precision.DERIVED_MILLISECONDS.value))
ELAPSED_DERIVED: Final = frozenset((
    Precision.ELAPSED_DERIVED_SECONDS.value, Precision.ELAPSED_DERIVED_MILLISECONDS.value,
))  # fmt: skip


ELAPSED_ORIGINS: Final = ("printed", "imported", "derived")
"""Source of an elapsed time: a server or an engine's interface; a saved game; two clocks and the increment."""


class Ply(NamedTuple):
    """One half-move.

    Attributes:
        ply: half-moves played to reach the position after this move (``2 * (fullmove - 1) + (turn is Black)``).
        move: the squares as an integer (``uci`` is its text); None if they are unknown, as in an unproved move of a
            list.
        san: the move in standard algebraic notation; the printed text if the move is not proved and the board before it
            is unknown.
        white_clock_ms, black_clock_ms: time left after the move; a multiple of 1000 if only seconds were printed.
        elapsed_ms: time that the move took, printed or computed (see ``elapsed_origin``).
        lag_ms: lag as printed; None: none was printed. at_ms: arrival of the line, in milliseconds since 1970 as
            ``Game.time_basis`` says; None: unknown.
        flags: castling rights after the move (1 K, 2 Q, 4 k, 8 q) plus 16 × (file of a double push just made + 1).
        irreversible: half-moves since the last capture or pawn move, as printed; None for moves of lists.
        proof_code, origin_code, precision_code: the integers of ``proof``, ``origin`` and ``precision``, as stored.
        offset: of the line that contains the ply, in bytes of the source.
    """

    ply: int
    move: int | None
    san: str
    white_clock_ms: int | None
    black_clock_ms: int | None
    elapsed_ms: int | None
    lag_ms: int | None
    at_ms: int | None
    flags: int | None
    irreversible: int | None
    proof_code: int
    origin_code: int
    precision_code: int | None
    offset: int

    def __repr__(self) -> str:
        elapsed_ms, clock_ms, exact = self.elapsed_ms, self.clock_ms, self.precision_code in EXACT
        elapsed = [] if elapsed_ms is None else [f"{elapsed_ms // 1000}{THOUSANDTHS[elapsed_ms % 1000] * exact} s"]
        clock = [] if clock_ms is None else [f"clock {_clock(clock_ms, exact)}"]
        return " · ".join((f"Ply {self.ply} {move_number(self.ply)}{self.san}", *elapsed, *clock))

    @property
    def proof(self) -> Proof:
        """How far this ply is proved."""
        return Proof(self.proof_code)

    @property
    def origin(self) -> Origin:
        """Where this ply was read."""
        return Origin(self.origin_code)

    @property
    def precision(self) -> Precision | None:
        """The unit in which this ply's times were printed; None where no time was printed."""
        return None if self.precision_code is None else Precision(self.precision_code)

    @property
    def clock_ms(self) -> int | None:
        """The mover's clock after the move in milliseconds; None where it is not known."""
        return self.white_clock_ms if self.ply & 1 else self.black_clock_ms

    @property
    def uci(self) -> str | None:
        """The move in UCI notation; None: unknown.

        Drops are written ``N@e4``. Castling is written as king takes rook in chess960, and as the king's two steps in
        wild games with the king on the d file.
        """
        return None if self.move is None else decode_move(self.move)

    @property
    def elapsed_origin(self) -> str | None:
        """Where the elapsed time comes from; None: it is unknown.

        ``printed``, ``imported`` (from a saved game) or ``derived`` (from two clocks and the increment).
        """
        if self.elapsed_ms is None:
            return None
        if self.precision_code in ELAPSED_DERIVED:
            return "derived"
        return "imported" if self.origin_code in SAVED_ORIGINS else "printed"

    @property
    def white_moved(self) -> bool:
        """Whether White made this move."""
        return self.ply % 2 == 1


def _clock(ms: int, exact: bool) -> str:
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    return f"{sign}{whole_hms(ms // 1000)}{THOUSANDTHS[ms % 1000] if exact else ''}"


def is_null_move(ply: Ply) -> bool:
    return ply.san == "--" and ply.origin_code in SAVED_ORIGINS


#: A ply's fields in their order, without its name: made and taken apart several times quicker than a ``Ply``.
PlyRow = tuple[
    int, int | None, str, int | None, int | None, int | None, int | None, int | None, int | None, int | None,
    int, int, int | None, int,
]  # fmt: skip


make_ply: Final[Callable[[PlyRow], Ply]] = partial(tuple.__new__, Ply)
"""A ply of its fields in their order, made in half the time that a call of ``Ply`` takes."""


def name_plies(rows: list[Ply] | list[PlyRow]) -> list[Ply]:
    named = cast(list[Ply], rows)
    for index, row in enumerate(rows):
        if type(row) is tuple:
            named[index] = Ply._make(row)
    return named


class LineKind(Enum):
    MAIN = "main"
    TAKEBACK = "takeback"
    VARIATION = "variation"  # of an examined or a saved game


@dataclass(slots=True)
class PlyLine:
    """A takeback's line leaves ``parent`` after ``parent_ply``. Not all ``rows`` are named: very many are handled."""

    number: int
    kind: LineKind
    parent: int | None
    parent_ply: int | None
    rows: list[Ply] | list[PlyRow]

    @property
    def plies(self) -> list[Ply]:
        """The same list as ``rows``, now of ``Ply`` throughout."""
        return name_plies(self.rows)

    @plies.setter
    def plies(self, plies: list[Ply]) -> None:
        self.rows = plies


class AnchorReason(StrEnum):
    START = "start"
    GAP = "gap"
    CONFLICT = "conflict"  # the board contradicts the one before
    LIST = "list"  # a list of moves that goes on where boards are missing
    TAKEBACK = "takeback"  # a takeback to before the first board
    VARIATION = "variation"  # the board that a variation leaves from


class Anchor(NamedTuple):
    """``ply`` half-moves were played to reach it; ``fen`` is X-FEN with ``[hands]`` for drop games where known."""

    line: int
    ply: int
    fen: str
    reason: AnchorReason
    offset: int


class StartFacts(NamedTuple):
    ply: int
    verbose: str
    pretty: str
    elapsed_ms: int | None
    white_clock_ms: int | None
    black_clock_ms: int | None
    lag_ms: int | None
    at_ms: int | None
    precision_code: int | None
    offset: int


USUAL: Final = (Proof.FULL.value, Origin.FRAME.value, Precision.MILLISECONDS.value)
"""Proof, origin and precision of a ply that boards prove fully and whose times have milliseconds."""


class ShownPlies(NamedTuple):
    """Value by value, ``first`` being the first one's number; one that is not ``USUAL`` comes without times."""

    first: int
    sans: list[str]
    clocks_ms: list[int | None]
    elapsed_ms: list[int | None]


def shown_plies(rows: list[Ply] | list[PlyRow], first: int) -> ShownPlies:
    sans: list[str] = []
    clocks_ms: list[int | None] = []
    of_each_ms: list[int | None] = []
    for row in rows:
        usual = row[10:13] == USUAL
        sans.append(row[2])
        clocks_ms.append((row[3] if row[0] & 1 else row[4]) if usual else None)
        of_each_ms.append(row[5] if usual else None)
    return ShownPlies(first, sans, clocks_ms, of_each_ms)


def whole_row(
    ply: int, san: str, clock_ms: int | None, elapsed_ms: int | None, quality: tuple[int, int, int | None] = USUAL
) -> PlyRow:
    """Only what PGN shows was loaded; all other fields are None."""
    white_ms, black_ms = (clock_ms, None) if ply & 1 else (None, clock_ms)
    found: Any = (ply, None, san, white_ms, black_ms, elapsed_ms, None, None, None, None, *quality, None)
    return cast(PlyRow, found)  # though its offset is None


class ShownLine(PlyLine):
    """``shown``: its plies, if they are consecutive, ``USUAL``, timed, and ``rows`` was not asked for; else None."""

    __slots__ = ("_rows", "shown")

    def __init__(self, number: int, kind: LineKind, parent: int | None, parent_ply: int | None) -> None:
        super().__init__(number, kind, parent, parent_ply, [])
        self.shown: ShownPlies | None = None

    def __len__(self) -> int:
        return len(self._rows) if self.shown is None else len(self.shown.sans)

    def ply(self, place: int) -> Ply:
        if self.shown is None:
            return Ply._make(self._rows[place])
        first, sans, clocks_ms, elapsed_ms = self.shown
        return Ply._make(whole_row(first + place, sans[place], clocks_ms[place], elapsed_ms[place]))

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        """From then on these count."""
        if self.shown is not None:
            first, sans, clocks_ms, elapsed_ms = self.shown
            self._rows: list[Ply] | list[PlyRow] = list(map(whole_row, count(first), sans, clocks_ms, elapsed_ms))
            self.shown = None
        return self._rows

    @rows.setter
    def rows(self, rows: list[Ply] | list[PlyRow]) -> None:
        self._rows = rows
        self.shown = None
