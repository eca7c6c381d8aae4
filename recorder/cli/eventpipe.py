"""Standard output as a reader of events gets it: the archive never waits long for him.

The strategy: a thread writes, whole lines in pieces that a pipe takes at once or not at all, so that he never sees
half a line. What he has not taken yet is kept up to a limit. Beyond it he is waited for once more; then he has lost.
"""

from __future__ import annotations

import os
import select
import threading
import time
from collections import deque
from collections.abc import Iterator
from typing import Final

__all__ = ["EventPipe"]

_MOST_BYTES: Final = 16 << 20
_PATIENCE_S: Final = 5.0
_END_S: Final = 30.0
_PIECE: Final = 4096  # PIPE_BUF


class EventPipe:
    """Prints lines.

    Args:
        file: a descriptor.
    Attributes:
        lost: why nothing is printed any more, the beginning of a sentence, or None.
    """

    def __init__(self, file: int = 1) -> None:
        self.lost: str | None = None
        self._file = file
        self._waiting: deque[bytes] = deque()
        self._bytes = 0  # that the reader has not taken
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def write(self, text: str) -> None:
        """Print whole lines, some time. Waits only for a reader who is far behind, and not for long."""
        with self._changed:
            if self.lost is not None:
                return
            if self._thread is None:  # it must never keep the program from ending
                self._thread = threading.Thread(target=self._run, name="events", daemon=True)
                self._thread.start()
            data = text.encode("utf-8", "replace")
            self._waiting.append(data)
            self._bytes += len(data)
            self._changed.notify_all()
            if self._bytes > _MOST_BYTES and not self._changed.wait_for(
                lambda: self.lost is not None or self._bytes <= _MOST_BYTES // 2, _PATIENCE_S
            ):
                self._lose()

    def close(self) -> None:
        """Wait until everything is printed, as long as the reader takes something."""
        end_s = time.monotonic() + _END_S
        with self._changed:
            while self._bytes and self.lost is None:
                if not self._moves(self._bytes) or time.monotonic() > end_s:
                    self._lose()

    def _moves(self, before: int) -> bool:
        """Wait until the reader has taken something of so many bytes, or is lost; whether it has come to that."""
        return self._changed.wait_for(lambda: self._bytes < before or self.lost is not None, _PATIENCE_S)

    def _lose(self, why: str = "Whoever reads the events is too slow") -> None:
        self.lost = self.lost or why
        self._waiting.clear()
        self._bytes = 0
        self._changed.notify_all()

    # --- in the thread

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self.lost is not None)
                if self.lost is not None:
                    return
                data = self._waiting.popleft()
            try:
                for piece in _pieces(data):
                    self._write(piece)
            except OSError:
                with self._changed:
                    self._lose("Nobody reads the events any more")

    def _write(self, piece: bytes) -> None:
        while piece and self.lost is None:
            try:
                count = os.write(self._file, piece)
            except BlockingIOError:  # somebody else has made it so
                select.select([], [self._file], [], 0.1)
                continue
            piece = piece[count:]
            with self._changed:
                self._bytes = max(self._bytes - count, 0)
                self._changed.notify_all()


def _pieces(data: bytes) -> Iterator[bytes]:
    """Whole lines, as many as a pipe takes at once."""
    begin = 0
    while begin < len(data):
        end = data.rfind(b"\n", begin, begin + _PIECE) + 1 or data.find(b"\n", begin) + 1 or len(data)
        yield data[begin:end]
        begin = end
