"""What a proxy does next with two connections, without touching them.

Bytes go from each side to the other as they came. A side that takes nothing holds up the reading from the other
once ``HIGH_BYTES`` wait for it, so that the sender's own TCP feels it and memory stays flat. An end is passed on
behind the last byte, in its direction only. A side that is gone takes nothing more, but what it said before still
goes on, and what the other says until its end is still read, so that it can be recorded.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

__all__ = ["HIGH_BYTES", "Relay", "ProxySide"]

HIGH_BYTES: Final = 1 << 16


class ProxySide(Enum):
    """Who is at the other end of a connection; the value is the word that journals use."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def other(self) -> ProxySide:
        """Whom the bytes of this side are for."""
        return ProxySide.SERVER if self is ProxySide.CLIENT else ProxySide.CLIENT


class _Flow:
    """One direction: from the side that names it to the other one."""

    __slots__ = ("broken", "end_passed", "ended", "waiting")

    def __init__(self) -> None:
        self.waiting = bytearray()  # read, not yet written on
        self.ended = False  # the sender has said all
        self.end_passed = False
        self.broken = False  # the receiver takes nothing more

    @property
    def done(self) -> bool:
        return self.ended and (self.broken or self.end_passed)


class Relay:
    """The state of two joined connections.

    Attributes:
        forwarded: bytes written on so far, by the side that sent them.
    """

    def __init__(self) -> None:
        self._flows = {ProxySide.CLIENT: _Flow(), ProxySide.SERVER: _Flow()}
        self.forwarded = {ProxySide.CLIENT: 0, ProxySide.SERVER: 0}

    def receive(self, side: ProxySide, data: bytes) -> None:
        """A side has sent bytes; they wait to be written to the other one."""
        flow = self._flows[side]
        if not flow.broken:
            flow.waiting += data

    def receive_end(self, side: ProxySide) -> None:
        """A side sends no more; it may still listen."""
        self._flows[side].ended = True

    def lose(self, side: ProxySide) -> None:
        """A side's connection has failed: it says and takes nothing more."""
        self._flows[side].ended = True
        self.refuse(side)

    def refuse(self, side: ProxySide) -> None:
        """A side takes nothing more; what it sent before may not have been read yet."""
        flow = self._flows[side.other]
        flow.broken = True
        flow.waiting.clear()

    def data_to_send(self, side: ProxySide) -> bytearray:
        """What waits to be written to a side, oldest first. Tell ``sent`` how much of it went out."""
        return self._flows[side.other].waiting

    def sent(self, side: ProxySide, count: int) -> None:
        """The first ``count`` of the waiting bytes were written to a side."""
        del self._flows[side.other].waiting[:count]
        self.forwarded[side.other] += count

    def take_end(self, side: ProxySide) -> bool:
        """Whether a side must now be told that the other has ended; True only once."""
        flow = self._flows[side.other]
        if flow.end_passed or flow.broken or not flow.ended or flow.waiting:
            return False
        flow.end_passed = True
        return True

    def wants_read(self, side: ProxySide) -> bool:
        """Whether a side is to be read from."""
        flow = self._flows[side]
        return not flow.ended and len(flow.waiting) < HIGH_BYTES

    def wants_write(self, side: ProxySide) -> bool:
        """Whether bytes wait to be written to a side."""
        return bool(self._flows[side.other].waiting)

    @property
    def leaving(self) -> bool:
        """Whether a side is gone, so that the other one gets only a little time to end."""
        return any(flow.broken for flow in self._flows.values())

    @property
    def done(self) -> bool:
        """Whether nothing is left to do."""
        return all(flow.done for flow in self._flows.values())
