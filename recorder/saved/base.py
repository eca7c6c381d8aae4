"""What all readers of saved games share: their interface, cutting lines, and elapsed times from clocks."""

from __future__ import annotations

from typing import Final, Protocol

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
    increments_ms = [None if one == (0, 0) else one[1] for one in controls]
    before: list[PlyRow | None] = [None, None]
    for place, row in enumerate(rows):
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
            rows[place] = (
                ply, move, san, white_ms, black_ms, took_ms, lag_ms, at_ms, flags, irreversible, proof, origin,
                precision | _ELAPSED_DERIVED, offset,
            )  # fmt: skip


class SavedReader(Protocol):
    """Reads a file of saved games. Pure; the result does not depend on how the bytes are cut into blocks.

    ``pending`` is the offset of the first game that was not returned yet, and the number of lines before it; reading
    continues there when the file has grown. ``failures`` are games that an error of this program kept from being read.
    """

    anomalies: list[Anomaly]
    failures: Failures
    line_count: int

    @property
    def read_up_to(self) -> int: ...

    def receive(self, block: bytes) -> list[Game]:
        """Read the next bytes, cut anywhere, and return the games that they finished.

        Lines end with ``\\n`` or ``\\r\\n``.
        """
        ...

    def finish(self) -> list[Game]:
        """End the file and return the games that were still open."""
        ...


class GameLines:
    """Cuts blocks into lines with their offsets, in bounded memory: lines are cut after ``LONGEST_LINE`` bytes."""

    def __init__(self, offset: int = 0) -> None:
        self._rest = b""
        self._offset = offset

    def receive(self, block: bytes) -> list[tuple[bytes, int]]:
        """Cut the next bytes into complete lines, each with its line end and the offset of its first byte."""
        lines = _split(self._rest + block)
        self._rest = b""
        if lines and not lines[-1].endswith(b"\n"):
            self._rest = lines.pop()
        found = self._placed(lines)
        while len(self._rest) >= LONGEST_LINE:
            found += self._placed([self._rest[:LONGEST_LINE]])
            self._rest = self._rest[LONGEST_LINE:]
        return found

    def finish(self) -> list[tuple[bytes, int]]:
        """End the file and return the last line with its offset, if it has no line end."""
        rest, self._rest = self._rest, b""
        return self._placed([rest] if rest else [])

    def _placed(self, lines: list[bytes]) -> list[tuple[bytes, int]]:
        found = []
        offset = self._offset
        for line in lines:
            while len(line) > LONGEST_LINE:
                found.append((line[:LONGEST_LINE], offset))
                offset += LONGEST_LINE
                line = line[LONGEST_LINE:]
            found.append((line, offset))
            offset += len(line)
        self._offset = offset
        return found


def _split(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
