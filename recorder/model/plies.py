"""Half-moves, the lines that they make, and the positions that they start from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Final, NamedTuple, cast

from recorder.movetext import THOUSANDTHS, whole_hms
from recorder.rules.moves import decode_move

__all__ = [
    "CLOCK_DERIVED",
    "ELAPSED_DERIVED",
    "ELAPSED_ORIGINS",
    "EXACT",
    "Anchor",
    "LineKind",
    "Origin",
    "Ply",
    "PlyLine",
    "PlyRow",
    "Precision",
    "Proof",
    "StartFacts",
    "name_plies",
]


class Proof(IntEnum):
    """How far a ply is proved. The common values are 0 and 1, which SQLite stores in no bytes."""

    UNPROVED = 0  # also where a cut frame lacks the pretty move, or a hand was not known, though the boards agree
    FULL = 1  # verbose and pretty move and both boards agree, legal by the variant's rules (``BOARDS``: by the boards)
    LIST = 2  # a legal move that no board showed: of a movelist that joins the next board, or of a delta
    INFERRED = 3  # the only legal way to fill a gap of one or two plies
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


class Precision(IntEnum):
    """The unit in which this ply's times were printed; None where no time was printed."""

    SECONDS = 0
    MILLISECONDS = 1
    DERIVED_SECONDS = 2  # the elapsed time was printed so; the clock is computed from those and the time control
    DERIVED_MILLISECONDS = 3
    ELAPSED_DERIVED_SECONDS = 4  # the clock was printed so; the elapsed time is computed from two clocks
    ELAPSED_DERIVED_MILLISECONDS = 5


EXACT: Final = frozenset((
    Precision.MILLISECONDS.value, Precision.DERIVED_MILLISECONDS.value, Precision.ELAPSED_DERIVED_MILLISECONDS.value,
))  # fmt: skip
"""Precisions of times in milliseconds."""
CLOCK_DERIVED: Final = frozenset((Precision.DERIVED_SECONDS.value, Precision.DERIVED_MILLISECONDS.value))
"""Precisions of plies whose clock is computed."""
ELAPSED_DERIVED: Final = frozenset((
    Precision.ELAPSED_DERIVED_SECONDS.value, Precision.ELAPSED_DERIVED_MILLISECONDS.value,
))  # fmt: skip
"""Precisions of plies whose elapsed time is computed."""


ELAPSED_ORIGINS: Final = ("printed", "imported", "derived")
"""What tells an elapsed time: a server or an engine's interface; a saved game; two clocks and the increment."""


class Ply(NamedTuple):
    """One half-move. A plain tuple on purpose: made once a frame, stored as it is.

    Attributes:
        ply: half-moves played to reach the position after this move (``2 * (fullmove - 1) + (turn is Black)``).
        move: ``encode_move``'s integer, or None when squares are not known (an unproved list move).
        san: canonical SAN; the printed text where ``proof`` is UNPROVED or CONFLICT and the board before is not known.
        white_clock_ms, black_clock_ms: left after the move; in whole seconds × 1000 where precision is SECONDS.
        elapsed_ms: taken by this move, as printed or computed (``elapsed_origin``).
        lag_ms: the number printed, None where none was.
        at_ms: arrival.
        flags: castling rights after the move (1 K, 2 Q, 4 k, 8 q) plus 16 × (file of a double push just made + 1).
        irreversible: the printed count of half-moves since the last irreversible one, raw; None for lists.
        proof_code, origin_code, precision_code: the integers of ``proof``, ``origin`` and ``precision``, as stored.
        offset: of the line that gave this ply.
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
        number = f"{(self.ply + 1) // 2}.{'' if self.white_moved else '..'}"
        elapsed_ms, clock_ms, exact = self.elapsed_ms, self.clock_ms, self.precision_code in EXACT
        elapsed = [] if elapsed_ms is None else [f"{elapsed_ms // 1000}{THOUSANDTHS[elapsed_ms % 1000] * exact} s"]
        clock = [] if clock_ms is None else [f"clock {_clock(clock_ms, exact)}"]
        return " · ".join((f"Ply {self.ply} {number}{self.san}", *elapsed, *clock))

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
        """The move in UCI notation, or None.

        Drops are ``N@e4``; castling in chess960 is king takes rook, that of a king on d in wild games its two steps.
        """
        return None if self.move is None else decode_move(self.move)

    @property
    def elapsed_origin(self) -> str | None:
        """Where the elapsed time comes from: a word of ``ELAPSED_ORIGINS``; None where it is not known."""
        if self.elapsed_ms is None:
            return None
        if self.precision_code in ELAPSED_DERIVED:
            return "derived"
        return "imported" if self.origin_code == Origin.PGN else "printed"

    @property
    def white_moved(self) -> bool:
        """Whether White made this move."""
        return self.ply % 2 == 1


def _clock(ms: int, exact: bool) -> str:
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    return f"{sign}{whole_hms(ms // 1000)}{THOUSANDTHS[ms % 1000] if exact else ''}"


#: A ply's fields in their order, without its name: made and taken apart several times quicker than a ``Ply``.
PlyRow = tuple[
    int, int | None, str, int | None, int | None, int | None, int | None, int | None, int | None, int | None,
    int, int, int | None, int,
]  # fmt: skip


def name_plies(rows: list[Ply] | list[PlyRow]) -> list[Ply]:
    """Make every row of a list a ``Ply``, in place."""
    named = cast(list[Ply], rows)
    for place, row in enumerate(rows):
        if type(row) is tuple:
            named[place] = Ply._make(row)
    return named


class LineKind(Enum):
    """What a sequence of plies is to its game."""

    MAIN = "main"
    TAKEBACK = "takeback"
    VARIATION = "variation"  # of an examined or a saved game


@dataclass(slots=True)
class PlyLine:
    """A sequence of plies. Line 0 is the main line; a takeback's line leaves ``parent`` after ``parent_ply``.

    ``rows`` are the plies, not all of them named: for those who handle very many.
    """

    number: int
    kind: LineKind
    parent: int | None
    parent_ply: int | None
    rows: list[Ply] | list[PlyRow]

    @property
    def plies(self) -> list[Ply]:
        """The plies: the same list, now of ``Ply`` throughout."""
        return name_plies(self.rows)

    @plies.setter
    def plies(self, plies: list[Ply]) -> None:
        self.rows = plies


class Anchor(NamedTuple):
    """A position that cannot be derived from the plies: the start, or the board after a gap.

    ``ply`` half-moves were played to reach it; ``line`` is the line it stands in. ``fen`` is X-FEN with ``[hands]`` for
    drop games where known. ``reason``: ``start``, ``gap``, ``conflict``, ``list``.
    """

    line: int
    ply: int
    fen: str
    reason: str
    offset: int


class StartFacts(NamedTuple):
    """What the first board of an observation printed about a move that is not ours to count.

    ``precision_code`` is a ``Precision``'s integer, as in ``Ply``.
    """

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
