from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from recorder.events.frames import ReplyBlock


class Chunk(NamedTuple):
    """Bytes of the incoming direction as one read (or one log entry) gave them.

    ``offset`` is the position of ``data[0]`` in the source's own decompressed bytes. Sources whose bytes
    are escaped (client logs, journals) cut their chunks so that every line begins at a chunk's first byte.
    A chunk without data says that the connection ended there: what follows continues nothing.
    ``at_ms`` is the arrival in milliseconds in the basis that the source states (see ``TimeBasis``), or None.
    """

    data: bytes
    offset: int
    at_ms: int | None = None


LONGEST_CUT: Final = 4096
"""No text of ``CutLines`` is longer."""


class CutLines(NamedTuple):
    """Many whole lines at once, as the decoder of an escaped source cut them: the same as a chunk for each of them.

    Each begins at its first byte, none is long, and their texts (latin-1) have no control characters. Some positions
    are those of the escaped text of several reads as if they stood one behind the other.

    Attributes:
        texts: without line ends; may be empty.
        starts: position of each line's first byte, and at last of what follows.
        back: bytes from a line's ``\\n`` to its successor.
        reads: position at which each read ends.
        shifts: what makes an offset of a position in it.
        times: ``at_ms`` of each read.
    """

    texts: list[str]
    starts: list[int]
    back: int
    reads: Sequence[int]
    shifts: Sequence[int]
    times: Sequence[int | None]

    def offset(self, index: int) -> int:
        start = self.starts[index]
        return start + self.shifts[bisect_right(self.reads, start)]

    def at_ms(self, index: int) -> int | None:
        return self.times[bisect_right(self.reads, self.starts[index + 1] - self.back)]

    def lines(self, indices: Iterable[int], block: ReplyBlock | None) -> list[LineRow]:
        texts, starts, back, reads, shifts, times = self
        if len(reads) == 1:
            (shift,), (at_ms,) = shifts, times
            return [(texts[index], starts[index] + shift, at_ms, block) for index in indices]
        return [
            (
                texts[index],
                (start := starts[index]) + shifts[bisect_right(reads, start)],
                times[bisect_right(reads, starts[index + 1] - back)],
                block,
            )
            for index in indices
        ]

    def chunks(self) -> list[Chunk]:
        return [
            Chunk(f"{text}\n".encode("latin-1"), self.offset(index), self.at_ms(index))
            for index, text in enumerate(self.texts)
        ]

    @property
    def data(self) -> bytes:
        return "\n".join([*self.texts, ""]).encode("latin-1")

    def moved(self, by: int) -> CutLines:
        return self._replace(shifts=[shift + by for shift in self.shifts])


class Line(NamedTuple):
    """One complete logical line: control bytes removed, wrapped parts joined, prompts still there.

    ``text`` is latin-1 (one character a byte), so nothing is lost. ``offset`` is where the line begins in the
    source's bytes.
    """

    text: str
    offset: int
    at_ms: int | None = None
    block: ReplyBlock | None = None


#: A line's fields in their order, as ``LineReader`` gathers them.
LineRow = tuple[str, int, int | None, ReplyBlock | None]


class EngineLine(NamedTuple):
    """One line between an interface and an engine, as a client's log gives it.

    ``engine`` is the log's word for the process (``first``); ``to_engine``: the interface sent it to the engine.
    """

    text: str
    engine: str
    to_engine: bool
    offset: int
    at_ms: int | None
