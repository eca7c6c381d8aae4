"""The display of ``record``: a live view on a terminal, lines elsewhere. It never delays recording.

The view is a separate process. It gets a snapshot twice a second as one JSON object a line,
``{"snapshot": {…}, "messages": [[at, text], …]}``. While it uses the terminal, the standard error of the recorder and
its child processes goes through a pipe into the view's last lines.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from enum import Enum
from typing import Any, Final

from recorder.live.messages import EVENTS, MessageLevel, MessagePrinter, MessageSink
from recorder.live.status import ObservedBoard, Snapshot
from recorder.text import clean, plural

_EVERY_S: Final = 0.5
_PAGE_S: Final = 10.0
_PROGRESS_S: Final = 60.0
_END_S: Final = 2.0
_MESSAGES: Final = 20
_STDERR: Final = 2
_SIGNALS_OF_THE_RECORDER: Final = (signal.SIGINT, signal.SIGQUIT)
# Leave the alternate screen, show the cursor, reset colours.
_RESTORE: Final = b"\x1b[?1049l\x1b[?25h\x1b[0m\r\n"

MESSAGE_LINES: Final = 4
_OTHER_LINES: Final = 7  # title, four lines of facts, column headings, range of games shown

Message = tuple[str, str]  # time of day (UTC), sentence


def encode_news(snapshot: Snapshot, messages: list[Message]) -> bytes:
    """Write what the view shows as one line of JSON in ASCII, with its line end; messages have their times of day."""
    return json.dumps({"snapshot": snapshot, "messages": messages}).encode("ascii") + b"\n"


def parse_news(line: bytes) -> tuple[Snapshot, list[Message]]:
    """Parse what ``encode_news`` wrote."""
    news: dict[str, Any] = json.loads(line)
    *facts, boards = news["snapshot"]
    snapshot = Snapshot._make([*facts, tuple(ObservedBoard._make(board) for board in boards)])
    return snapshot, [(at, text) for at, text in news["messages"]]


def rows_for_boards(height: int) -> int:
    """The number of boards that the view shows."""
    return max(1, height - MESSAGE_LINES - _OTHER_LINES)


Look = Callable[[int, int], Snapshot]
"""Takes a snapshot. Arguments: how many boards to skip, and how many to include."""


class ScreenMode(Enum):
    """The kind of display."""

    QUIET = "quiet"  # warnings and errors only
    PLAIN = "plain"
    VIEW = "view"

    @classmethod
    def choose(cls, *, quiet: bool, plain: bool, events: bool = False) -> ScreenMode:
        """Choose the mode; a view needs a terminal without other output."""
        if quiet:
            return cls.QUIET
        terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        shared = events and sys.stdout is not None and sys.stdout.isatty()
        return cls.PLAIN if plain or shared or not terminal else cls.VIEW


class Screen:
    """Shows the state of a recording and its messages.

    ``view`` is the command that draws the view: it reads ``encode_news`` and writes to standard error.
    """

    def __init__(self, mode: ScreenMode, printer: MessagePrinter, view: Sequence[str]) -> None:
        self.mode = mode
        self._printer = printer
        self._command = view
        self._view: asyncio.subprocess.Process | None = None
        self._terminal: int | None = None  # the terminal, while standard error is a pipe
        self._stderr_pipe = -1  # reads what this process and its children write to standard error
        self._incomplete_line = b""
        self._messages: deque[Message] = deque(maxlen=_MESSAGES)

    def report(self, event: str, sentence: str) -> None:
        """Show an event, unless the mode excludes it."""
        level = EVENTS[event].level
        if self._view is not None:
            if event != "progress":
                self._keep_message(sentence)
        elif self.mode is not ScreenMode.QUIET or level is not MessageLevel.INFO:
            self._printer.say(sentence)

    def _keep_message(self, sentence: str) -> None:
        self._messages.append((datetime.now(UTC).strftime("%H:%M:%S"), clean(sentence)))

    # -- the view ----------------------------------------------------------------------------------------------

    async def open(self) -> None:
        """Start the view and give it the terminal, if the mode is ``VIEW``."""
        if self.mode is not ScreenMode.VIEW:
            return
        self._terminal = os.dup(_STDERR)
        # The view never gets Ctrl-C or Ctrl-\: they end the recorder, which ends the view.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS_OF_THE_RECORDER)
        try:
            view = await asyncio.create_subprocess_exec(
                *self._command,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=self._terminal,
            )
        except OSError as error:
            self._restore_stderr()
            self._printer.say(f"No live view: {error.strerror}.")
            return
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        self._view = view
        reading, writing = os.pipe()
        for end in (reading, writing):
            os.set_blocking(end, False)
        os.dup2(writing, _STDERR)
        os.close(writing)
        self._stderr_pipe = reading
        asyncio.get_running_loop().add_reader(reading, self._read_stderr)

    def _read_stderr(self) -> None:
        """Keep lines that this process or its children wrote to standard error."""
        try:
            data = os.read(self._stderr_pipe, 1 << 16)
        except OSError:
            return
        *lines, self._incomplete_line = (self._incomplete_line + data).split(b"\n")
        for line in lines:
            if line.strip():
                self._keep_message(line.decode("utf-8", "replace"))
        if self._view is None:
            self._print_messages()

    def _print_messages(self) -> None:
        for at, sentence in self._messages:
            self._printer.say(f"{at} {sentence}")
        self._messages.clear()

    def _restore_stderr(self) -> None:
        """Make the terminal standard error again; child processes still write to the pipe."""
        if self._terminal is not None:
            with contextlib.suppress(OSError):
                sys.stderr.flush()
            os.dup2(self._terminal, _STDERR)
            os.close(self._terminal)
            self._terminal = None

    async def close(self) -> None:
        """End the view and print the last messages on the terminal. Calling it again does nothing."""
        view = self._view
        if view is not None:
            assert view.stdin is not None
            view.stdin.close()
            try:
                await asyncio.wait_for(view.wait(), _END_S)
            except TimeoutError:
                view.kill()
                await view.wait()
            self._end_view(view)
        if self._stderr_pipe >= 0:
            self._read_stderr()
            asyncio.get_running_loop().remove_reader(self._stderr_pipe)
            os.close(self._stderr_pipe)
            self._stderr_pipe = -1
        self._print_messages()

    def _end_view(self, view: asyncio.subprocess.Process) -> None:
        """Take the terminal back after a view has ended."""
        self._view = None
        self._restore_stderr()
        if view.returncode != 0:  # killed: it did not restore the terminal
            self._printer.write(_RESTORE)
        self._print_messages()

    # -- updates -----------------------------------------------------------------------------------------------

    async def run(self, look: Look, report: MessageSink) -> None:
        """Show snapshots until cancelled. A failure ends only the display.

        ``report`` gets the event ``progress`` at most once a minute, when the games have changed, until recording ends.
        """
        try:
            await self._show_until_cancelled(look, report)
        except Exception as error:
            await self.close()
            report("view_lost", f"The live view failed ({type(error).__name__}, a bug); recording continues.")

    async def _show_until_cancelled(self, look: Look, report: MessageSink) -> None:
        reported = (0, 0)
        reported_s = page_s = time.monotonic()
        first = 0
        while True:
            await asyncio.sleep(_EVERY_S)
            now_s = time.monotonic()
            if self._view is not None and self._view.returncode is not None:
                self._end_view(self._view)
                report("view_lost", "The live view has ended; recording continues.")
            if self._view is not None:
                rows = self._rows()
                if now_s - page_s >= _PAGE_S:
                    first, page_s = first + rows, now_s
                snapshot = look(first, rows)
                first = snapshot.first
                self._show(self._view, snapshot)
            if now_s - reported_s >= _PROGRESS_S:
                reported_s = now_s
                snapshot = look(0, 0)
                if snapshot.state != "left" and (snapshot.watched, snapshot.games) != reported:
                    reported = snapshot.watched, snapshot.games
                    _report_progress(snapshot, report)

    def _rows(self) -> int:
        try:
            return rows_for_boards(os.get_terminal_size(self._terminal or _STDERR).lines)
        except OSError:
            return rows_for_boards(0)

    def _show(self, view: asyncio.subprocess.Process, snapshot: Snapshot) -> None:
        assert view.stdin is not None
        if not view.stdin.transport.get_write_buffer_size():  # else the terminal is blocked and the view cannot draw
            view.stdin.write(encode_news(snapshot, list(self._messages)))


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
