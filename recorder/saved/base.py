"""What every reader of saved games does."""

from __future__ import annotations

from typing import Final, Protocol

from recorder.model import Anomaly, Game

__all__ = ["LONGEST_LINE", "GameLines", "SavedReader"]

LONGEST_LINE: Final = 1 << 20


class SavedReader(Protocol):
    """Reads a file of saved games. Pure: how the bytes are cut into blocks never matters.

    Attributes:
        anomalies: what is wrong, with its offset. line_count: lines read.
        pending: where the first game stands that was not given yet, and the lines before it; a file that has grown is
            read on there.
    """

    anomalies: list[Anomaly]
    line_count: int

    @property
    def pending(self) -> tuple[int, int]: ...

    def receive(self, block: bytes) -> list[Game]:
        """Read the next bytes; lines end with ``\\n`` or ``\\r\\n``. Returns the games that they finished."""
        ...

    def finish(self) -> list[Game]:
        """The file has ended: return the games that were still open."""
        ...


class GameLines:
    """Cuts blocks into lines with their offsets, in bounded memory: a longer line is cut after ``LONGEST_LINE`` bytes.

    Args:
        offset: of the first byte.
    """

    def __init__(self, offset: int = 0) -> None:
        self._rest = b""
        self._offset = offset

    def receive(self, block: bytes) -> list[tuple[bytes, int]]:
        """Complete lines, each with its line end and the offset of its first byte."""
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
        """The last line, if it has no line end."""
        rest, self._rest = self._rest, b""
        return self._placed([rest] if rest else [])

    def _placed(self, lines: list[bytes]) -> list[tuple[bytes, int]]:
        found = []
        for line in lines:
            for begin in range(0, max(len(line), 1), LONGEST_LINE):
                piece = line[begin : begin + LONGEST_LINE]
                found.append((piece, self._offset))
                self._offset += len(piece)
        return found


def _split(data: bytes) -> list[bytes]:
    lines = [line + b"\n" for line in data.split(b"\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]
