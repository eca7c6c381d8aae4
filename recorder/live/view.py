"""The live view of ``record``, as lines of a terminal."""

from __future__ import annotations

from collections import deque
from typing import Final

from recorder.live.status import ObservedBoard, Snapshot
from recorder.text import clean, plural
from recorder.times import short_hms

MESSAGE_LINES: Final = 4
_OTHER_LINES: Final = 7  # title, four lines of facts, column headings, range of games shown
_RATE_MS: Final = 10_000
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
_HEADINGS: Final = ("game", "White", "Black", "type", "last move", "clocks", "", "lag", "since")
_TYPE: Final = 3  # the heading that only a wide terminal has
_WIDTHS: Final = (5, 0, 0, 14, 12, 7, 7, 6, 6)  # of these columns; 0: as much as is left
_RIGHT: Final = frozenset((0, 5, 6, 7, 8))
_GOOD, _BAD, _HEADING, _BOLD, _DIM, _PLAIN = (f"\x1b[{code}m" for code in ("1;37;44", "1;37;41", "4", "1", "2", "0"))

Message = tuple[str, str]  # time of day (UTC), sentence


class Meter:
    """Boards a second over the last ten seconds."""

    def __init__(self) -> None:
        self._seen: deque[tuple[int, int]] = deque()

    def rate(self, at_ms: int, frames: int) -> float | None:
        """The rate; None: only one moment is known.

        Args:
            frames: boards since the start of the recorder.
        """
        self._seen.append((at_ms, frames))
        while self._seen[0][0] < at_ms - _RATE_MS:
            self._seen.popleft()
        begin_ms, before = self._seen[0]
        return None if at_ms == begin_ms else (frames - before) * 1000 / (at_ms - begin_ms)


def rows_for_boards(height: int) -> int:
    """How many boards a terminal of so many lines shows, at least 1."""
    return max(1, height - MESSAGE_LINES - _OTHER_LINES)


def draw(snapshot: Snapshot, messages: list[Message], rate: float | None, *, width: int, height: int) -> list[str]:
    """The whole screen, as many lines as the terminal has, or fewer; ``rate``: boards a second."""
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
    state = _STATES.get(snapshot.state, snapshot.state)
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
        journal = f"journal {_size(snapshot.journal_bytes)}, {synced}; {snapshot.journal}"
    archive = "no archive is kept" if snapshot.archive is None else f"archive {snapshot.archive}"
    outages = plural(snapshot.outages, "outage") if snapshot.outages else "no outage"
    return [
        f" {games}; {snapshot.games:,} over; {plural(snapshot.frames, 'board')}{speed}",
        f" {snapshot.tally}",
        f" {journal}",
        f" {archive}; {outages}; {_size(snapshot.received_bytes)} received",
    ]


def _board(board: ObservedBoard, width: int) -> str:
    cells = (
        str(board.game_no),
        clean(board.white),
        clean(board.black),
        clean(board.category or "-"),
        clean(board.move or "-"),
        _clock(board.white_clock_ms),
        _clock(board.black_clock_ms),
        "-" if board.lag_ms is None else _lag(board.lag_ms),
        "-" if board.quiet_ms is None else _short(board.quiet_ms),
    )
    return _row(cells, width, None if board.white_to_move is None else 5 if board.white_to_move else 6)


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
