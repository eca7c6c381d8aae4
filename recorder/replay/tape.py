"""A journal or a log for a replay server's clients: the recorded bytes in their rhythm, behind the recorded login.

Every client logs in as it likes and then gets what the recorded connection got. What it types changes nothing, but for
``quit`` and the replay's own commands; those are answered in lines of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from recorder.errors import ReplayError
from recorder.events import Chunk
from recorder.replay.door import Door, Manner
from recorder.replay.grammar import read_command
from recorder.replay.steering import steer, where
from recorder.replay.timing import Moment, Playhead

__all__ = ["TapeSession", "after_login"]

_LOOKED_AT: Final = 1 << 16
_STARTING: Final = re.compile(rb"\*{4} Starting [^\r\n]{0,80}\*{4}[^\r\n]*[\r\n]*")
_PROMPT: Final = re.compile(rb"(?:^|[\r\n])(?=[fa]ics% )")


def after_login(chunks: Iterable[Chunk]) -> list[Chunk]:
    """A connection's bytes from behind its login on; all of them where no login is seen.

    The line that says that the session begins ends the login, else what stands before the first prompt.
    """
    found = list(chunks)
    head, size = b"", 0
    for chunk in found:
        head += chunk.data
        if len(head) >= _LOOKED_AT:
            break
    match = _STARTING.search(head[:_LOOKED_AT]) or _PROMPT.search(head[:_LOOKED_AT])
    if match is None:
        return found
    kept: list[Chunk] = []
    for chunk in found:
        begin = max(match.end() - size, 0)
        size += len(chunk.data)
        if begin < len(chunk.data) or not chunk.data:
            kept.append(chunk._replace(data=chunk.data[begin:], offset=chunk.offset + begin) if begin else chunk)
    return kept


class TapeSession(Door):
    """A client of a replay of bytes.

    Args:
        moments: of the bytes.
        number, manner: as ``Door`` takes them.
        now_ns: the clock's time.
        speed, loop, pause_at: as ``Playhead`` takes them.

    Attributes:
        head: the client's place in time.
    """

    def __init__(
        self,
        moments: Sequence[Moment[Chunk]],
        number: int,
        manner: Manner,
        now_ns: int,
        *,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: Sequence[str] = (),
    ) -> None:
        self.head = Playhead(moments, now_ns, speed=speed, loop=loop, pause_at=pause_at)
        self.head.pause(now_ns)
        super().__init__(number, manner)

    @property
    def due_ns(self) -> int | None:
        return None if self.closed else self.head.due_ns

    def tick(self, now_ns: int) -> None:
        for moment in self.head.take(now_ns):
            self._out += moment.what.data

    def _entered(self) -> None:
        self.head.resume(self.now_ns)

    def _command(self, text: str) -> None:
        command = read_command(text, False)
        if command.name == "quit":
            self._leave()
        elif command.name == "tell" and command.rest.lower().startswith("replay "):
            lines = self._steered(command.rest[7:].strip())
            self._say("".join(f"\nreplay tells you: {line}" for line in lines) + "\n")

    def _steered(self, words: str) -> list[str]:
        if words.lower() == "step":
            moment = self.head.step(self.now_ns)
            self._out += b"" if moment is None else moment.what.data
            return [where(self.head, self.now_ns)]
        try:
            place, at_ms, lines = steer(self.head, words, self.now_ns)
        except ReplayError as error:
            return [str(error)]
        if place is not None:
            self.head.go(place, self.now_ns, at_ms)
        return lines
