"""An engine's bytes as lines, however long they are and however many."""

from __future__ import annotations

from typing import Final

__all__ = ["Intake"]

_MOST_LINE: Final = 16_384
_BURST: Final = 2 << 20
_EACH_SECOND: Final = 256 << 10


class Intake:
    """Cuts an engine's output into lines.

    Attributes:
        cut: lines that were longer than the longest allowed; their beginnings were given out.
        floods: the engine has printed more than anyone needs: 2 MiB at once, or 256 KiB a second for longer.
    """

    def __init__(self) -> None:
        self.cut = 0
        self.floods = False
        self._waiting = bytearray()
        self._skips = False  # the rest of a line that was cut is to come
        self._left = _BURST
        self._at_ms: int | None = None

    def receive(self, data: bytes, now_ms: int) -> list[str]:
        """The lines that are complete, without their ends; blank ones are left out."""
        since_ms = 0 if self._at_ms is None else now_ms - self._at_ms
        self._at_ms = now_ms
        self._left = min(_BURST, self._left + since_ms * _EACH_SECOND // 1000) - len(data)
        self.floods = self.floods or self._left < 0
        self._waiting += data
        *ended, rest = self._waiting.split(b"\n")
        lines = [self._line(line) for line in ended]
        if len(rest) > _MOST_LINE and not self._skips:
            lines.append(self._line(rest))
            self._skips = True
        self._waiting = bytearray() if self._skips else rest
        return [line for line in lines if line is not None]

    def _line(self, line: bytearray) -> str | None:
        if self._skips:
            self._skips = False
            return None
        if len(line) > _MOST_LINE:
            self.cut += 1
            del line[_MOST_LINE:]
        return line.decode("utf-8", "replace").rstrip() or None
