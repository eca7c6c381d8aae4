"""The display of ``record``: a live view on a terminal, lines elsewhere. It never delays recording.

The view is drawn twice a second, and written by the thread of the ``MessagePrinter``: while a terminal is held up,
nothing more is drawn. What Python writes to standard error meanwhile is in the view's last lines.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import UTC, datetime
from enum import Enum
from typing import Final, TextIO

from recorder.live.messages import EVENTS, MessageLevel, MessagePrinter, MessageSink
from recorder.live.status import Snapshot
from recorder.live.view import Message, Meter, draw, rows_for_boards
from recorder.text import clean, plural

_EVERY_S: Final = 0.5
_PAGE_S: Final = 10.0
_PROGRESS_S: Final = 60.0
_PAUSE_S: Final = 1.0
_MESSAGES: Final = 20
_STDERR: Final = 2
# The alternate screen, the cursor, and what is done with a line that is too long.
_ENTER: Final = b"\x1b[?1049h\x1b[?25l\x1b[?7l"
_LEAVE: Final = b"\x1b[0m\x1b[?7h\x1b[?1049l\x1b[?25h"

Look = Callable[[int, int], Snapshot]
"""Takes a snapshot. Arguments: how many boards to skip, and how many to include."""


class ScreenMode(Enum):
    """The kind of display."""

    QUIET = "quiet"  # warnings and errors only
    PLAIN = "plain"
    VIEW = "view"

    @classmethod
    def choose(cls, *, quiet: bool, plain: bool, events: bool = False) -> ScreenMode:
        """Choose the mode: ``VIEW`` needs a terminal, without ``events`` on it.

        Args:
            quiet, plain: as ``--quiet`` and ``--plain``. events: whether they are printed on standard output.
        """
        if quiet:
            return cls.QUIET
        terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        shared = events and sys.stdout is not None and sys.stdout.isatty()
        return cls.PLAIN if plain or shared or not terminal else cls.VIEW


class _Lines(io.TextIOBase):
    """A standard error whose lines go to a function."""

    def __init__(self, keep: Callable[[str], None]) -> None:
        self._keep = keep
        self._rest = ""

    def write(self, text: str, /) -> int:
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if line.strip():
                self._keep(line)
        return len(text)


class Screen:
    """Shows the state of a recording and its messages.

    Args:
        printer: prints messages, and the view.
    """

    def __init__(self, mode: ScreenMode, printer: MessagePrinter) -> None:
        self.mode = mode
        self._printer = printer
        self._stderr: TextIO | None = None  # the real one, while the view is shown
        self._messages: deque[Message] = deque(maxlen=_MESSAGES)

    def say(self, sentence: str) -> None:
        """Show a sentence, from any thread."""
        if self._stderr is None:
            self._printer.say(sentence)
        else:
            self._messages.append((datetime.now(UTC).strftime("%H:%M:%S"), clean(sentence)))

    def report(self, event: str, sentence: str) -> None:
        """Show an event, a name of ``EVENTS``, unless the mode excludes it."""
        if self._stderr is not None:
            if event != "progress":
                self.say(sentence)
        elif self.mode is not ScreenMode.QUIET or EVENTS[event].level is not MessageLevel.INFO:
            self.say(sentence)

    def open(self) -> None:
        """Give the terminal to the view, if the mode is ``VIEW``; to be called in the loop."""
        if self.mode is ScreenMode.VIEW:
            self._stderr, sys.stderr = sys.stderr, _Lines(self.say)
            self._printer.write(_ENTER)
            asyncio.get_running_loop().add_signal_handler(signal.SIGTSTP, self._pause)

    def _pause(self) -> None:
        """Ctrl-Z: the shell gets its screen, and we ours when we go on."""
        self._printer.write(_LEAVE)
        self._printer.settle(_PAUSE_S)
        os.kill(os.getpid(), signal.SIGSTOP)
        self._printer.write(_ENTER)

    def close(self) -> None:
        """End the view and print the last messages on the terminal. Calling it again does nothing."""
        if self._stderr is None:
            return
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
        sys.stderr, self._stderr = self._stderr, None
        self._printer.write(_LEAVE)
        for at, sentence in self._messages:
            self._printer.say(f"{at} {sentence}")
        self._messages.clear()

    async def run(self, look: Look, report: MessageSink) -> None:
        """Show snapshots until cancelled. A failure ends only the display.

        Args:
            look: takes a snapshot.
            report: gets the event ``progress`` at most once a minute, when the games have changed, until recording
                ends.
        """
        try:
            await self._show_until_cancelled(look, report)
        except Exception as error:
            self.close()
            report("view_lost", f"The live view failed ({type(error).__name__}, a bug); recording continues.")

    async def _show_until_cancelled(self, look: Look, report: MessageSink) -> None:
        reported = (0, 0)
        reported_s = page_s = time.monotonic()
        first = 0
        meter = Meter()
        while True:
            await asyncio.sleep(_EVERY_S)
            now_s = time.monotonic()
            if self._stderr is not None and self._printer.settle(0):  # else the terminal is held up
                width, height = _size_of_terminal()
                rows = rows_for_boards(height)
                if now_s - page_s >= _PAGE_S:
                    first, page_s = first + rows, now_s
                snapshot = look(first, rows)
                first = snapshot.first
                rate = meter.rate(snapshot.at_ms, snapshot.frames)
                lines = draw(snapshot, list(self._messages), rate, width=width, height=height)
                self._show(lines, height)
            if now_s - reported_s >= _PROGRESS_S:
                reported_s = now_s
                snapshot = look(0, 0)
                if snapshot.state != "left" and (snapshot.watched, snapshot.games) != reported:
                    reported = snapshot.watched, snapshot.games
                    _report_progress(snapshot, report)

    def _show(self, lines: list[str], height: int) -> None:
        text = "\r\n".join(f"\x1b[2K{line}" for line in lines[:height])
        rest = "\r\n\x1b[J" if len(lines) < height else ""
        encoding = getattr(self._stderr, "encoding", None) or "utf-8"
        self._printer.write(f"\x1b[H{text}{rest}".encode(encoding, "replace"))


def _size_of_terminal() -> tuple[int, int]:
    try:
        return os.get_terminal_size(_STDERR)
    except OSError:
        return 80, 24


def _report_progress(snapshot: Snapshot, report: MessageSink) -> None:
    waiting = f", {snapshot.waiting:,} waiting" if snapshot.waiting else ""
    report(
        "progress",
        f"{plural(snapshot.watched, 'game')} observed{waiting}; {snapshot.tally}; "
        f"{plural(snapshot.frames, 'board')}, {snapshot.received_bytes:,} bytes.",
        watched=snapshot.watched,
        waiting=snapshot.waiting,
        games=snapshot.games,
        boards=snapshot.frames,
        received_bytes=snapshot.received_bytes,
        outages=snapshot.outages,
    )
