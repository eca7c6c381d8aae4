"""Compresses the closed parts of a journal in a thread while the next one is written."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from zstandard import ZstdError

from recorder.errors import JournalError
from recorder.journal.parts import SUFFIX, compress_part, is_closed, is_unfinished, session_name

__all__ = ["Compressor"]

_STALE_S: Final = 3600


class Compressor:
    """Compresses closed parts of one folder, so that recording need not wait."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._left: list[tuple[str, str]] = []  # those that a crash left and that stay plain
        self._work: list[tuple[str, Future[object]]] = [("", self._thread.submit(self._compress_left_over))]

    def compress(self, path: Path) -> None:
        """Compress a part that was closed, some time."""
        self._work.append((path.name, self._thread.submit(compress_part, path)))

    def failures(self) -> list[tuple[str, str]]:
        """Parts that had to stay plain since the last call, and why."""
        done = [(name, work) for name, work in self._work if work.done()]
        self._work = [entry for entry in self._work if entry not in done]
        left, self._left = self._left, []
        return left + [(name, str(error)) for name, work in done if (error := work.exception()) is not None]

    def finish(self) -> None:
        """Wait for all that was asked for."""
        self._thread.shutdown()

    def _compress_left_over(self) -> None:
        """Finish what a crash interrupted: closed parts that are still plain, unfinished files that nobody writes."""
        for path in sorted(self._folder.iterdir()):
            if is_unfinished(path):
                with contextlib.suppress(OSError):  # another program is just doing the same
                    if time.time() - path.stat().st_mtime > _STALE_S:
                        path.unlink()
            elif path.suffix == SUFFIX and session_name(path.name) and is_closed(path):
                try:
                    compress_part(path)
                except (OSError, JournalError, ZstdError) as error:  # the next one may be better off
                    self._left.append((path.name, str(error)))
