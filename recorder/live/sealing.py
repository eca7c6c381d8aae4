"""The client's side of a time-sealed connection. Pure: lines in, sealed lines out; pings are answered.

Nothing is taken out of what the server says: whoever reads it passes over pings.
"""

from __future__ import annotations

from typing import Final

from recorder.wire.timeseal import PingReader, format_hello, seal

__all__ = ["Sealing"]

_WHO: Final = "ics-recorder"
_WHERE: Final = "python"  # what the machine is called is nobody's business
_LARGEST_STAMP_MS: Final = 10_000_000  # the seal's own clients begin again there


class Sealing:
    """Seals what is said on one connection.

    Args:
        version: of the seal, 1 or 2.
    """

    def __init__(self, version: int) -> None:
        self.version = version
        self._pings = PingReader(version)

    def hello(self, now_ms: int) -> bytes:
        """The line that stands before all others."""
        return seal(format_hello(self.version, _WHO, _WHERE), now_ms % _LARGEST_STAMP_MS)

    def seal_lines(self, lines: bytes, now_ms: int) -> bytes:
        """Seal whole lines, each by itself.

        Raises:
            ValueError: a character has more than 7 bits.
        """
        return b"".join(seal(line, now_ms % _LARGEST_STAMP_MS) for line in lines.split(b"\n")[:-1])

    def answers(self, data: bytes, now_ms: int) -> bytes:
        """What received bytes ask to be answered at once; often nothing."""
        return self._pings.receive(data, now_ms % _LARGEST_STAMP_MS).answer
