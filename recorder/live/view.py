"""The live view of ``record``: a process of its own that draws what it receives.

It reads from standard input what ``recorder.live.screen`` sends, draws it on standard error and ends with its input.
As a process of its own it can neither slow nor stop what it shows, whatever becomes of the terminal, and it gives the
terminal back even if the recorder is killed.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from collections import deque
from types import FrameType
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from recorder.live.screen import MESSAGE_LINES, Message, parse_news, rows_for_boards
from recorder.live.status import ObservedBoard, Snapshot
from recorder.text import clean, plural
from recorder.times import short_hms

_FASTEST_S: Final = 0.25
_RATE_MS: Final = 10_000
_STALE_S: Final = 3.0
_STATES: Final = {
    "connecting": "connecting",
    "waiting": "not connected",
    "login": "logging in",
    "asking": "logged in",
    "recording": "recording",
    "left": "leaving",
}
_WIDE: Final = 100
_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")


class Meter:
    """Boards a second over the last ten seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int]] = deque()

    def rate(self, at_ms: int, frames: int) -> float | None:
        """Return boards a second, once two different moments are known."""
        self._seen.append((at_ms, frames))
        while self._seen[0][0] < at_ms - _RATE_MS:
            self._seen.popleft()
        begin_ms, before = self._seen[0]
        return None if at_ms == begin_ms else (frames - before) * 1000 / (at_ms - begin_ms)


def draw(
    snapshot: Snapshot, messages: list[Message], rate: float | None, *, width: int, height: int, stale_s: float = 0
) -> Group:
    """Draw the screen, at most ``height`` lines; ``stale_s`` is how long nothing was heard from the recorder."""
    most = rows_for_boards(height)
    shown = snapshot.boards[:most]
    parts: list[RenderableType] = [
        _title(snapshot, stale_s),
        *_facts(snapshot, rate),
        _boards(shown, most, width >= _WIDE),
    ]
    parts.append(_below(snapshot, len(shown)))
    parts += [_line(f"{at} {clean(text)}", "dim") for at, text in messages[-MESSAGE_LINES:]]
    return Group(*parts)


def _line(text: str, style: str = "") -> Text:
    return Text(text, style, no_wrap=True, overflow="ellipsis", end="\n")


def _title(snapshot: Snapshot, stale_s: float) -> Table:
    state = _STATES.get(snapshot.state, snapshot.state)
    if stale_s >= _STALE_S:
        state = f"no news for {stale_s:.0f} s"
    elif snapshot.retry_ms is not None:
        state = f"{state} for {_span(snapshot.state_ms)}, next try in {_span(snapshot.retry_ms)}"
    else:
        state = f"{state}, {_span(snapshot.state_ms)}"
    bad = stale_s >= _STALE_S or snapshot.retry_ms is not None
    bar = Table.grid(expand=True, padding=(0, 1))
    bar.style = "bold white on red" if bad else "bold white on blue"
    bar.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    bar.add_column(justify="right", no_wrap=True)
    who = "" if snapshot.handle is None else f" as {clean(snapshot.handle)}"
    bar.add_row(Text(f" {snapshot.server}{who}"), Text(f"{state} "))
    return bar


def _facts(snapshot: Snapshot, rate: float | None) -> list[Text]:
    games = f"{plural(snapshot.watched, 'game')} observed"
    if snapshot.waiting:
        games += f", {snapshot.waiting:,} waiting"
    if snapshot.limit is not None:
        games += f", at most {snapshot.limit:,}"
    speed = "" if rate is None else f", {rate:.1f}/s"
    journal = "no journal is open"
    if snapshot.journal is not None:
        synced = "not synced" if snapshot.synced_ms is None else f"synced {_span(snapshot.synced_ms, tenths=True)} ago"
        journal = f"journal {_size(snapshot.journal_bytes)}, {synced}; {snapshot.journal}"
    archive = "no archive is kept" if snapshot.archive is None else f"archive {snapshot.archive}"
    outages = plural(snapshot.outages, "outage") if snapshot.outages else "no outage"
    return [
        _line(f" {games}; {snapshot.games:,} over; {plural(snapshot.frames, 'board')}{speed}"),
        _line(f" {snapshot.tally}"),
        _line(f" {journal}"),
        _line(f" {archive}; {outages}; {_size(snapshot.received_bytes)} received"),
    ]


def _boards(boards: tuple[ObservedBoard, ...], rows: int, wide: bool) -> Table:
    table = Table(box=None, expand=True, padding=(0, 1, 0, 0), header_style="underline", pad_edge=False)
    table.add_column(" game", justify="right", no_wrap=True, width=5)
    table.add_column("White", no_wrap=True, ratio=3, overflow="ellipsis")
    table.add_column("Black", no_wrap=True, ratio=3, overflow="ellipsis")
    if wide:
        table.add_column("type", no_wrap=True, width=14, overflow="ellipsis")
    table.add_column("last move", no_wrap=True, width=12, overflow="ellipsis")
    table.add_column("clocks", justify="right", no_wrap=True, width=7)
    table.add_column("", justify="right", no_wrap=True, width=7)
    table.add_column("lag", justify="right", no_wrap=True, width=6)
    table.add_column("since", justify="right", no_wrap=True, width=6)
    for board in boards:
        turn = board.white_to_move
        table.add_row(
            str(board.game_no),
            Text(clean(board.white)),
            Text(clean(board.black)),
            *([Text(clean(board.category or "-"))] if wide else []),
            Text(clean(board.move or "-")),
            Text(_clock(board.white_clock_ms), "bold" if turn is True else ""),
            Text(_clock(board.black_clock_ms), "bold" if turn is False else ""),
            "-" if board.lag_ms is None else _lag(board.lag_ms),
            "-" if board.quiet_ms is None else _short(board.quiet_ms),
        )
    for _ in range(rows - len(boards)):  # what stands below stays where it is
        table.add_row()
    return table


def _below(snapshot: Snapshot, shown: int) -> Text:
    if shown >= snapshot.watched:
        return _line("")
    return _line(f" games {snapshot.first + 1} to {snapshot.first + shown} of {snapshot.watched:,}", "dim")


def _clock(ms: int | None) -> str:
    if ms is None:
        return "-"
    return f"{'-' if ms < 0 else ''}{short_hms(abs(ms) // 1000)}"


def _lag(ms: int) -> str:
    return f"{ms}ms" if abs(ms) < 10_000 else f"{ms // 1000}s"


def _short(ms: int) -> str:
    """A time of few letters: ``12s``, ``4m``, ``3h``, ``2d``."""
    seconds = ms // 1000
    for unit, size in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"


def _span(ms: int, *, tenths: bool = False) -> str:
    """A time in words: ``0.4 s``, ``12 s``, ``4 min 3 s``, ``3 h 12 min``, ``2 d 4 h``."""
    if tenths and ms < 10_000:
        return f"{ms / 1000:.1f} s"
    seconds = ms // 1000
    for large, size, small, part in (("d", 86_400, "h", 3600), ("h", 3600, "min", 60), ("min", 60, "s", 1)):
        if seconds >= size:
            return f"{seconds // size} {large} {seconds % size // part} {small}"
    return f"{seconds} s"


def _size(count: int) -> str:
    amount, unit = float(count), 0
    while amount >= 1000 and unit < len(_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {_UNITS[unit]}" if unit == 0 else f"{amount:.1f} {_UNITS[unit]}"


class _View:
    """Draws the newest of what arrives, a few times a second at most."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live = Live(console=console, screen=True, auto_refresh=False)
        self._meter = Meter()
        self._news: tuple[Snapshot, list[Message], float | None] | None = None
        self._heard_s = time.monotonic()

    def run(self, source: int) -> None:
        """Draw until the input ends."""
        signal.signal(signal.SIGTSTP, self._pause)
        rest = b""
        drawn_s = 0.0
        with self._live:
            while True:
                if select.select([source], [], [], 1.0)[0]:
                    data = os.read(source, 1 << 16)
                    if not data:
                        return
                    *lines, rest = (rest + data).split(b"\n")
                    for line in lines:
                        self._take(line)
                now_s = time.monotonic()
                if self._news is not None and now_s - drawn_s >= _FASTEST_S:
                    drawn_s = now_s
                    self._draw(now_s)

    def _take(self, line: bytes) -> None:
        snapshot, messages = parse_news(line)
        self._news = snapshot, messages, self._meter.rate(snapshot.at_ms, snapshot.frames)
        self._heard_s = time.monotonic()

    def _draw(self, now_s: float) -> None:
        assert self._news is not None
        snapshot, messages, rate = self._news
        width, height = self._console.size
        screen = draw(snapshot, messages, rate, width=width, height=height, stale_s=now_s - self._heard_s)
        self._live.update(screen, refresh=True)

    def _pause(self, number: int, frame: FrameType | None) -> None:
        """Ctrl-Z: the shell gets its screen, and we ours when we go on."""
        self._live.stop()
        os.kill(os.getpid(), signal.SIGSTOP)
        self._live.start()


def main() -> int:
    """Draw the snapshots on standard input until it ends; return 1 if the terminal is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the recorder, whose end is our end
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(0))
    try:
        _View(Console(stderr=True, highlight=False)).run(sys.stdin.fileno())
    except OSError:
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
