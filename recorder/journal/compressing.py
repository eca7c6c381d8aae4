"""Compresses the closed parts of a journal while the next one is written.

Whoever records does not wait for it. A large part is compressed by a process of its own (``packing``), one at a time;
what it took ends with it, and the recorder's memory stays what it was. For a small part a thread does it.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Final

from zstandard import ZstdError

from recorder.errors import JournalError
from recorder.journal.parts import SUFFIX, compress_part, is_closed, is_unfinished, session_name

__all__ = ["Compressor"]

_STALE_S: Final = 3600
_LARGE_BYTES: Final = 1 << 20
_TURN_S: Final = 2.0  # whoever has waited so long goes on beside the other: a connection's end waits for it
_OURS: Final = "ICS_RECORDER_"  # options, and perhaps a password
_one_at_a_time: Final = threading.Lock()  # at midnight all connections begin a new part


class Compressor:
    """Compresses closed parts of one folder, so that recording need not wait."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="journal")
        self._left: list[tuple[str, str]] = []  # those that a crash left and that stay plain
        self._work: list[tuple[str, Future[object]]] = [("", self._thread.submit(self._compress_left_over))]

    def compress(self, path: Path) -> None:
        """Compress a part that was closed, some time."""
        self._work.append((path.name, self._thread.submit(_compress, path)))

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
                    _compress(path)
                except (OSError, JournalError, ZstdError) as error:  # the next one may be better off
                    self._left.append((path.name, str(error)))


def _compress(path: Path) -> None:
    """Compress a part; raises ``OSError`` or ``JournalError`` if it has to stay plain."""
    try:
        large = path.stat().st_size >= _LARGE_BYTES and bool(sys.executable)
    except FileNotFoundError:  # perhaps another has done it
        large = False
    if not large:
        compress_part(path)
        return
    alone = _one_at_a_time.acquire(timeout=_TURN_S)
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "recorder.journal.packing", str(path)],
            env={name: value for name, value in os.environ.items() if not name.startswith(_OURS)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C on the terminal is for whoever records
            check=False,
        )
    except OSError:  # no more processes: better here than not at all
        compress_part(path)
        return
    finally:
        if alone:
            _one_at_a_time.release()
    if done.returncode == 1 and (said := done.stderr.decode(errors="replace").strip().rpartition("\n")[2]):
        raise JournalError(said)
    if done.returncode or path.exists():
        raise JournalError(f"the process that compresses {path} has ended (status {done.returncode})")
