"""The state of two connections that a proxy joins, without their sockets.

Bytes go from each side to the other unchanged. Once ``HIGH_BYTES`` wait for a side that reads nothing, the other side
is not read either, so that TCP slows the sender down and memory is bounded. An end is passed on behind the last byte,
in its direction only. After a side has failed, the bytes that it sent before are still forwarded, and the other side
is still read to its end, so that everything is recorded.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

HIGH_BYTES: Final = 1 << 16


class ProxySide(Enum):
    """The other end of a connection; the value is the word in journals."""

    CLIENT = "client"
    SERVER = "server"

    @property
    def other(self) -> ProxySide:
        """The side that receives this side's bytes."""
        return ProxySide.SERVER if self is ProxySide.CLIENT else ProxySide.CLIENT


class _Flow:
    """One direction: from the side that names it to the other one."""

    __slots__ = ("broken", "end_passed", "ended", "waiting")

    def __init__(self) -> None:
        self.waiting = bytearray()  # read, not yet forwarded
        self.ended = False  # the sender sends no more
        self.end_passed = False
        self.broken = False  # the receiver takes no more

    @property
    def done(self) -> bool:
        return self.ended and (self.broken or self.end_passed)


class Relay:
    """The state of two joined connections; ``forwarded`` counts bytes by the side that sent them."""

    def __init__(self) -> None:
        self._flows = {ProxySide.CLIENT: _Flow(), ProxySide.SERVER: _Flow()}
        self.forwarded = {ProxySide.CLIENT: 0, ProxySide.SERVER: 0}

    def receive(self, side: ProxySide, data: bytes) -> None:
        """Take bytes of a side; they wait to be written to the other one."""
        flow = self._flows[side]
        if not flow.broken:
            flow.waiting += data

    def receive_end(self, side: ProxySide) -> None:
        """Note that a side sends no more; it may still receive."""
        self._flows[side].ended = True

    def lose(self, side: ProxySide) -> None:
        """Note that a side's connection has failed: it neither sends nor receives."""
        self._flows[side].ended = True
        self.refuse(side)

    def refuse(self, side: ProxySide) -> None:
        """Note that a side receives no more; bytes that it sent before may not have been read yet."""
        flow = self._flows[side.other]
        flow.broken = True
        flow.waiting.clear()

    def data_to_send(self, side: ProxySide) -> bytearray:
        """The bytes to write to a side, oldest first; call ``sent`` with the number that was written."""
        return self._flows[side.other].waiting

    def sent(self, side: ProxySide, count: int) -> None:
        """Note that the first ``count`` of the waiting bytes were written to a side."""
        del self._flows[side.other].waiting[:count]
        self.forwarded[side.other] += count

    def take_end(self, side: ProxySide) -> bool:
        """Whether to pass the other side's end on to a side now; True only once."""
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
