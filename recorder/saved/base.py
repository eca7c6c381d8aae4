"""What all readers of saved games share: their interface, cutting lines, and elapsed times from clocks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Final

from recorder.containment import Failures
from recorder.model import CLOCK_DERIVED, Anomaly, Game, PlyRow, Precision

LONGEST_LINE: Final = 1 << 20
UTF8_MARK: Final = b"\xef\xbb\xbf"
FICS: Final = "FICS"
FATICS: Final = "FatICS"
LICHESS: Final = "lichess"
CHESS_COM: Final = "chess.com"
"""Families of servers, as ``Game.dialect`` names them."""
_FREE_FIRST_MOVES: Final = frozenset((FICS, FATICS, LICHESS))
_SECOND_MS: Final = 1000
_COARSE: Final = int(Precision.SECONDS)
_ELAPSED_DERIVED: Final = int(Precision.ELAPSED_DERIVED_SECONDS)  # the value for milliseconds is this | 1

#: Base time and increment in milliseconds.
_Control = tuple[int | None, int | None]


def derive_elapsed(rows: list[PlyRow], start_ply: int, white: _Control, black: _Control, dialect: str | None) -> None:
    """Compute the elapsed time of moves for which a saved game has only the clock, and mark it as derived.

    It is the mover's clock before + increment - clock after. Nothing is computed where the clock before is not known,
    where the result is below 0 (time was added), and in untimed games. Whole seconds stay whole seconds.

    A side's first move is counted from the base time. FICS, FatICS and lichess neither charge it nor credit the
    increment. For other servers it is unknown whether they do, so a first move with an increment that leaves the clock
    at the base time is unknown. On lichess a player who begins with less time has gone berserk: half of the time and
    the increment are given up.
    """
    free = dialect in _FREE_FIRST_MOVES
    controls = (black, white)
    increments_ms = [None if control == (0, 0) else control[1] for control in controls]
    before: list[PlyRow | None] = [None, None]
    for index, row in enumerate(rows):
        (
            ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, at_ms, flags, irreversible, proof, origin,
            precision, offset,
        ) = row  # fmt: skip
        side = ply & 1
        increment_ms, base_ms, own = increments_ms[side], controls[side][0], before[side]
        after_ms = white_ms if side else black_ms
        if after_ms is None or precision is None or precision in CLOCK_DERIVED:
            before[side] = None
            continue
        before[side] = row
        took_ms: int | None = None
        if increment_ms is None:
            continue
        if own is not None and own[0] == ply - 2:
            before_ms = (own[3] if side else own[4]) or 0
            if precision == _COARSE:
                took_ms = before_ms // _SECOND_MS * _SECOND_MS + increment_ms - after_ms
            elif own[12] != _COARSE:  # else it is known to a second only, but the ply would claim milliseconds
                took_ms = before_ms + increment_ms - after_ms
        elif base_ms is not None and ply <= 2 and start_ply <= 1:
            if after_ms == base_ms and (free or not increment_ms):
                took_ms = 0
            elif after_ms != base_ms and not free:
                took_ms = base_ms + increment_ms - after_ms
            elif after_ms < base_ms and dialect == LICHESS:
                increments_ms[side] = 0
        if took_ms is not None and precision == _COARSE and took_ms % _SECOND_MS:
            took_ms = None  # an increment of parts of a second, and clocks without
        if elapsed_ms is None and took_ms is not None and took_ms >= 0:
            rows[index] = (
                ply, move, san, white_ms, black_ms, took_ms, lag_ms, at_ms, flags, irreversible, proof, origin,
                precision | _ELAPSED_DERIVED, offset,
            )  # fmt: skip


class SavedReader(ABC):
    """``server`` is the site's name if the games have none; ``failures`` are games lost by an error of this program."""

    def __init__(self, *, server: str | None = None, chat: str = "public", offset: int = 0) -> None:
        self.anomalies: list[Anomaly] = []
        self.failures = Failures()
        self.line_count = 0
        self._server, self._comments = server, chat != "none"
        self._rest, self._offset = b"", offset  # what is no whole line yet
        self._end = offset  # of the lines that were read

    @property
    @abstractmethod
    def read_up_to(self) -> int:
        """Where the first game begins that was not returned yet."""

    def receive(self, block: bytes) -> list[Game]:
        """Cut anywhere; lines may end with ``\\r\\n``."""
        return [game for line, offset in self._lines(block) for game in self._line(line, offset)]

    def finish(self) -> list[Game]:
        return [game for line, offset in self._lines(b"", last=True) for game in self._line(line, offset)]

    def _lines(self, block: bytes, *, last: bool = False) -> Iterator[tuple[bytes, int]]:
        """In bounded memory: after ``LONGEST_LINE`` bytes at the latest."""
        data, begin = self._rest + block, 0
        while begin < len(data):
            end = data.find(b"\n", begin, begin + LONGEST_LINE) + 1
            if not end and not last and len(data) - begin < LONGEST_LINE:
                break
            end = end or min(begin + LONGEST_LINE, len(data))
            line, offset = data[begin:end], self._offset + begin
            begin = end
            yield (
                (line[len(UTF8_MARK) :], len(UTF8_MARK))
                if not offset and line.startswith(UTF8_MARK)
                else (line, offset)
            )
        self._rest, self._offset = data[begin:], self._offset + begin

    @abstractmethod
    def _line(self, line: bytes, offset: int) -> list[Game]:
        """Read a line, with its end, and return the games that it finished."""
