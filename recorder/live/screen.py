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

from recorder.live.conversation import RecorderStage
from recorder.live.messages import MessageLevel, MessagePrinter, MessageSink, level_of
from recorder.live.status import ObservedBoard, Snapshot
from recorder.text import byte_size, clean, plural, terminal_size
from recorder.times import printed_clock

MESSAGE_LINES: Final = 4
_OTHER_LINES: Final = 7  # title, four lines of facts, column headings, range of games shown
_RATE_MS: Final = 10_000
_STATES: Final = {
    RecorderStage.CONNECTING: "connecting",
    RecorderStage.WAITING: "not connected",
    RecorderStage.LOGIN: "logging in",
    RecorderStage.ASKING: "logged in",
    RecorderStage.RECORDING: "recording",
    RecorderStage.LEFT: "leaving",
}
_WIDE: Final = 100
_HEADINGS: Final = ("game", "White", "Black", "type", "last move", "clocks", "", "lag", "since")
_TYPE: Final = 3  # the heading that only a wide terminal has
_WIDTHS: Final = (5, 0, 0, 14, 12, 7, 7, 6, 6)  # of these columns; 0: as much as is left
_RIGHT: Final = frozenset((0, 5, 6, 7, 8))
_GOOD, _BAD, _HEADING, _BOLD, _DIM, _PLAIN = (f"\x1b[{code}m" for code in ("1;37;44", "1;37;41", "4", "1", "2", "0"))

Message = tuple[str, str]  # time of day (UTC), sentence


class Meter:
    def __init__(self) -> None:
        self._seen: deque[tuple[int, int]] = deque()

    def rate(self, at_ms: int, frames: int) -> float | None:
        self._seen.append((at_ms, frames))
        while self._seen[0][0] < at_ms - _RATE_MS:
            self._seen.popleft()
        begin_ms, before = self._seen[0]
        return None if at_ms == begin_ms else (frames - before) * 1000 / (at_ms - begin_ms)


def rows_for_boards(height: int) -> int:
    return max(1, height - MESSAGE_LINES - _OTHER_LINES)


def draw(snapshot: Snapshot, messages: list[Message], rate: float | None, *, width: int, height: int) -> list[str]:
    """At most as many lines as the terminal has; ``rate``: boards a second."""
    most = rows_for_boards(height)
    shown = snapshot.boards[:most]
    below = ""
    if len(shown) < snapshot.watched:
        below = f" games {snapshot.first + 1} to {snapshot.first + len(shown)} of {snapshot.watched:,}"
    last = [below, *(f"{at} {clean(text)}" for at, text in messages[-MESSAGE_LINES:])]
    return [
        _title(snapshot, width),
        *(_cut(fact, width) for fact in _facts(snapshot, rate)),
        f"{_HEADING}{_row(_HEADINGS, width)}{_PLAIN}",
        *(_board(board, width) for board in shown),
        *[""] * (most - len(shown)),  # what stands below stays where it is
        *(f"{_DIM}{_cut(text, width)}{_PLAIN}" for text in last),
    ]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else f"{text[: width - 1]}…"


def _row(cells: tuple[str, ...], width: int, bold: int | None = None) -> str:
    columns = [number for number in range(len(cells)) if number != _TYPE or width >= _WIDE]
    free = max(2, width - sum(_WIDTHS[number] for number in columns) - len(columns) + 1)
    row = []
    for number in columns:
        size = _WIDTHS[number] or free // 2
        text = _cut(cells[number], size)
        text = text.rjust(size) if number in _RIGHT else text.ljust(size)
        row.append(f"{_BOLD}{text}{_PLAIN}" if number == bold else text)
    return " ".join(row)


def _title(snapshot: Snapshot, width: int) -> str:
    state = _STATES[snapshot.state]
    if snapshot.retry_ms is not None:
        state = f"{state} for {_span(snapshot.state_ms)}, next try in {_span(snapshot.retry_ms)}"
    else:
        state = f"{state}, {_span(snapshot.state_ms)}"
    who = "" if snapshot.handle is None else f" as {clean(snapshot.handle)}"
    state = _cut(f" {state}", width)
    left = width - len(state)
    bar = _cut(f" {snapshot.server}{who}", left).ljust(left) if left else ""
    return f"{_GOOD if snapshot.retry_ms is None else _BAD}{bar}{state}{_PLAIN}"


def _facts(snapshot: Snapshot, rate: float | None) -> list[str]:
    games = f"{plural(snapshot.watched, 'game')} observed"
    if snapshot.waiting:
        games += f", {snapshot.waiting:,} waiting"
    if snapshot.limit is not None:
        games += f", at most {snapshot.limit:,}"
    speed = "" if rate is None else f", {rate:.1f}/s"
    journal = "no journal is open"
    if snapshot.journal is not None:
        synced = "not synced" if snapshot.synced_ms is None else f"synced {_span(snapshot.synced_ms, tenths=True)} ago"
        journal = f"journal {byte_size(snapshot.journal_bytes)}, {synced}; {snapshot.journal}"
    archive = "no archive is kept" if snapshot.archive is None else f"archive {snapshot.archive}"
    outages = plural(snapshot.outages, "outage") if snapshot.outages else "no outage"
    return [
        f" {games}; {snapshot.games:,} over; {plural(snapshot.frames, 'board')}{speed}",
        f" {snapshot.tally}",
        f" {journal}",
        f" {archive}; {outages}; {byte_size(snapshot.received_bytes)} received",
    ]


def _board(board: ObservedBoard, width: int) -> str:
    cells = (
        str(board.game_no),
        clean(board.white),
        clean(board.black),
        clean(board.category or "-"),
        clean(board.move or "-"),
        "-" if board.white_clock_ms is None else printed_clock(board.white_clock_ms, False),
        "-" if board.black_clock_ms is None else printed_clock(board.black_clock_ms, False),
        "-" if board.lag_ms is None else _lag(board.lag_ms),
        "-" if board.quiet_ms is None else _short(board.quiet_ms),
    )
    return _row(cells, width, None if board.white_to_move is None else 5 if board.white_to_move else 6)


def _lag(ms: int) -> str:
    return f"{ms}ms" if abs(ms) < 10_000 else f"{ms // 1000}s"


def _short(ms: int) -> str:
    """``12s``, ``4m``, ``3h``, ``2d``."""
    seconds = ms // 1000
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _span(ms: int, *, tenths: bool = False) -> str:
    """``0.4 s``, ``12 s``, ``4 min 3 s``, ``3 h 12 min``, ``2 d 4 h``."""
    if tenths and ms < 10_000:
        return f"{ms / 1000:.1f} s"
    seconds = ms // 1000
    for large, size, small, part in (("d", 86_400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            return f"{seconds // size} {large} {seconds % size // part} {small}"
    return f"{seconds} s"


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
    QUIET = "quiet"  # warnings and errors only
    PLAIN = "plain"
    VIEW = "view"

    @classmethod
    def choose(cls, *, quiet: bool, plain: bool, events: bool = False) -> ScreenMode:
        """``VIEW`` needs a terminal, without ``events`` on it."""
        if quiet:
            return cls.QUIET
        terminal = sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM", "dumb") != "dumb"
        shared = events and sys.stdout is not None and sys.stdout.isatty()
        return cls.PLAIN if plain or shared or not terminal else cls.VIEW


class _Lines(io.TextIOBase):
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
    def __init__(self, mode: ScreenMode, printer: MessagePrinter) -> None:
        self.mode = mode
        self._printer = printer
        self._stderr: TextIO | None = None  # the real one, while the view is shown
        self._messages: deque[Message] = deque(maxlen=_MESSAGES)

    def say(self, sentence: str) -> None:
        """From any thread."""
        if self._stderr is None:
            self._printer.say(sentence)
        else:
            self._messages.append((datetime.now(UTC).strftime("%H:%M:%S"), clean(sentence)))

    def report(self, event: str, sentence: str) -> None:
        if self._stderr is not None:
            if event != "progress":
                self.say(sentence)
        elif self.mode is not ScreenMode.QUIET or level_of(event) is not MessageLevel.INFO:
            self.say(sentence)

    def open(self) -> None:
        """To be called in the loop."""
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
        """Calling it again does nothing."""
        if self._stderr is None:
            return
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTSTP)
        sys.stderr, self._stderr = self._stderr, None
        self._printer.write(_LEAVE)
        for at, sentence in self._messages:
            self._printer.say(f"{at} {sentence}")
        self._messages.clear()

    async def run(self, look: Look, report: MessageSink) -> None:
        """Report ``progress`` once a minute, too. A failure ends only the display."""
        try:
            await self._show_until_cancelled(look, report)
        except Exception as error:  # a bug of the display must not end the recording
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
                width, height = terminal_size(_STDERR)
                rows = rows_for_boards(height)
                if now_s - page_s >= _PAGE_S:
                    first, page_s = first + rows, now_s
                snapshot = look(first, rows)
                first = snapshot.first
                rate = meter.rate(round(now_s * 1000), snapshot.frames)
                lines = draw(snapshot, list(self._messages), rate, width=width, height=height)
                self._show(lines, height)
            if now_s - reported_s >= _PROGRESS_S:
                reported_s = now_s
                snapshot = look(0, 0)
                if snapshot.state is not RecorderStage.LEFT and (snapshot.watched, snapshot.games) != reported:
                    reported = snapshot.watched, snapshot.games
                    _report_progress(snapshot, report)

    def _show(self, lines: list[str], height: int) -> None:
        text = "\r\n".join(f"\x1b[2K{line}" for line in lines[:height])
        rest = "\r\n\x1b[J" if len(lines) < height else ""
        encoding = getattr(self._stderr, "encoding", None) or "utf-8"
        self._printer.write(f"\x1b[H{text}{rest}".encode(encoding, "replace"))


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
