"""A level-2 datagram of ICC while its bytes come: it goes over line ends, and strings in it may hold anything.

Source: ICC's formats2.txt, as restated in the protocol reference: ``\\x19(`` number arguments ``\\x19)``; in a string
``\\x19{ … \\x19}`` no mark but its end means something.
"""

from __future__ import annotations

__all__ = ["OpenDatagram"]


class OpenDatagram:
    """What has come of a datagram.

    Attributes:
        open: whether there is one. start: offset of its ``\\x19(``. size: characters so far.
    """

    def __init__(self) -> None:
        self.open = False
        self.start = 0
        self.size = 0
        self._string = False
        self._parts: list[str] = []

    def begin(self, start: int) -> None:
        """Take the mark ``\\x19(`` at this offset."""
        self.open = True
        self.start = start
        self.size = 0
        self._string = False
        self._parts.clear()

    def add(self, text: str) -> None:
        """Take what stands between two marks, or a line end."""
        self._parts.append(text)
        self.size += len(text)

    def obey(self, mark: str) -> bool | None:
        """Take a control sequence.

        Returns:
            True where the datagram goes on, False where it is whole, None where another one or a unit begins, so that
            the rest of this one never came.
        """
        if not self._string:
            if mark in ("\x19(", "\x19["):
                return None
            if mark == "\x19)":
                self.add(mark)
                return False
        if mark in ("\x19{", "\x19}"):
            self._string = mark == "\x19{"
        self.add(mark)
        return True

    def close(self) -> str:
        """Give away its text, whole or not, and be none."""
        self.open = False
        return ("\x19(" + "".join(self._parts)).rstrip("\n")
