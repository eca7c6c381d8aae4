"""Lines that a server has wrapped: one is kept open until the next line shows that it is complete.

Source: FICS help page ``iv_nowrap``; the wrapping of FICS 1.6.2 (network.c) and of FatICS (telnet.py).
"""

from __future__ import annotations

from typing import Final

from recorder.events import Line
from recorder.events.lines import LineRow

__all__ = ["MARGIN", "WrappedLine", "is_whole"]

MARGIN: Final = len("\\   ")
"""How many characters a continuation line begins with."""
_WHOLE_TAGS: Final = ("<12>", "<b1>", "<g1>", "<d1>")


class WrappedLine:
    """A line that the next one may continue.

    Attributes:
        line: the line, without its continuations; None if no line is open.
        size: its characters so far, continuations included.
        keeps_blanks: this server leaves the blank where it breaks a line.
    """

    def __init__(self) -> None:
        self.line: Line | None = None
        self.size = 0
        self._more: list[str] = []  # its continuations
        self._end = ""  # its last characters, in which a tag may begin
        self._last = ""  # its last physical line
        self._width = 0  # the longest of its physical lines
        self.keeps_blanks = False

    def hold(self, line: Line) -> None:
        """Keep a line open."""
        self.line = line
        self._last = self._end = line.text
        self.size = self._width = len(line.text)

    def add(self, physical: str, at_ms: int | None, margin: int) -> tuple[str, str]:
        """Append a continuation line.

        Args:
            physical: the continuation line with its margin.
            at_ms: its arrival, now that of the whole line.
            margin: how many characters on each side of the seam to return.
        Returns:
            The text around the seam as it was sent, with a line end, and as it is now.
        """
        assert self.line is not None
        part = physical[MARGIN:]
        more = self._glue(part, physical) + part
        end, begin = self._end[-margin:], part[:margin]
        self._more.append(more)
        self._end = (end + more)[-margin:]
        self.size += len(more)
        self.line = self.line._replace(at_ms=at_ms)
        self._last = physical
        self._width = max(self._width, len(physical))
        return f"{end}\n{begin}", end + more[: len(more) - len(part)] + begin

    def _glue(self, part: str, physical: str) -> str:
        """The text between two parts: FICS removes the blank, FatICS leaves it, both may cut a long word.

        A word is cut only where it is too long for a line of its own, and then the line before is full.
        """
        before = self._last
        if not part or not before.strip():
            return ""
        if before.endswith(" ") or part.startswith(" "):
            self.keeps_blanks = True
            return ""
        if self.keeps_blanks:
            return ""
        word = len(before.rpartition(" ")[2]) + len(part.partition(" ")[0])
        return "" if len(before) >= max(self._width, len(physical)) and word > len(before) - MARGIN else " "

    def release(self, out: list[LineRow]) -> None:
        """Emit the open line: it is complete."""
        line = self.line
        if line is not None:
            if self._more:
                line = line._replace(text=line.text + "".join(self._more))
                self._more.clear()
            out.append(line)
            self.line = None


def is_whole(text: str) -> bool:
    """Whether no server wraps this line (frames and similar lines) and a board has all fields up to its times.

    Args:
        text: a line without prompts.

    Returns:
        True if the line needs no continuation.
    """
    return text.startswith(_WHOLE_TAGS) and (")" in text or not text.startswith("<12>"))
