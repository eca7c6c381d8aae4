"""Moves with the mover's clock and the elapsed time behind each: nearly all that an export of PGN writes.

A ply is four words, its number, its move and two times, which ``movetext`` puts into lines as it goes: to find the
places for line feeds in the finished text would take as long as to make it. Compiled, so it imports
nothing that mypy would have to follow far.
"""

from __future__ import annotations

import re
from types import FunctionType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from mypy_extensions import i64  # as in ``dialects.style12``

GLUE: Final = "\x01"

LINE_LENGTH: Final = 79
"""PGN standard 4.3 allows fewer than 80 printable characters in a line for exported text."""

THOUSANDTHS: Final[tuple[str, ...]] = tuple([f".{n:03d}" for n in range(1000)])

_BARS: Final = re.compile(r"(?<!\S)\|++(?!\S)")
_SEPARATOR: Final = re.compile(r"(?<!\S)\|(?!\S)")
_NUMBERS: Final[tuple[str, ...]] = tuple([f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}" for ply in range(1000)])
_CLOCK_ENDS: Final[tuple[str, ...]] = tuple([f"{text}]" for text in THOUSANDTHS])
_ELAPSED_ENDS: Final[tuple[str, ...]] = tuple([f"{text}]}}" for text in THOUSANDTHS])
_COMMA: Final[i64] = 44
_MINUS: Final[i64] = 45
_ZERO: Final[i64] = 48
_NINE: Final[i64] = 57
_MOST_DIGITS: Final[i64] = 15
_MOST_TEXTS: Final = 100_000
# by seconds; clocks of all games share a few thousand values
_HMS: Final[dict[int, str]] = {}
_CLOCKS: Final[dict[int, str]] = {}
_ELAPSED: Final[dict[int, str]] = {}


def whole_hms(seconds: int) -> str:
    """``0:04:57`` of a time of zero or more seconds."""
    text = _HMS.get(seconds)
    if text is None:
        text = f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}"
        _remember(_HMS, seconds, text)
    return text


def _remember(texts: dict[int, str], seconds: int, text: str) -> None:
    if len(texts) < _MOST_TEXTS:
        texts[seconds] = text


def move_number(ply: int) -> str:
    return _NUMBERS[ply] if 0 <= ply < 1000 else f"{(ply + 1) // 2}{'.' if ply % 2 else '...'}"


def _clock(seconds: int) -> str:
    text = f"{{[%clk {whole_hms(seconds)}"
    _remember(_CLOCKS, seconds, text)
    return text


def _elapsed(seconds: int) -> str:
    text = f"[%emt {whole_hms(seconds)}"
    _remember(_ELAPSED, seconds, text)
    return text


def timed_move(move: str, clock_ms: int | None, elapsed_ms: int | None) -> str | None:
    """A move with clock and elapsed time behind it; None: a time is unknown or negative."""
    if clock_ms is None or elapsed_ms is None or clock_ms < 0 or elapsed_ms < 0:
        return None
    clock = f"{_CLOCKS.get(clock_ms // 1000) or _clock(clock_ms // 1000)}{_CLOCK_ENDS[clock_ms % 1000]}"
    elapsed = f"{_ELAPSED.get(elapsed_ms // 1000) or _elapsed(elapsed_ms // 1000)}{_ELAPSED_ENDS[elapsed_ms % 1000]}"
    return f"{move} {clock.replace(' ', GLUE)} {elapsed.replace(' ', GLUE)}"


def integers(array: str) -> list[int | None] | None:
    """Read a JSON array without blanks; None: it contains anything but nulls and integers of up to 15 digits."""
    if not _COMPILED:
        try:
            numbers = [int(word) for word in array[1:-1].split(",")] if len(array) > 2 else []
        except ValueError:
            return None
        return None if any(abs(number) >= 10**_MOST_DIGITS for number in numbers) else [*numbers]
    found: list[int | None] = []
    end: i64 = len(array) - 1
    at: i64 = 1
    while at < end:
        letter: i64 = ord(array[at])
        below = letter == _MINUS
        if below:
            at += 1
            letter = ord(array[at])
        begin = at
        value: i64 = 0
        while _ZERO <= letter <= _NINE:
            value = 10 * value + letter - _ZERO
            at += 1
            letter = ord(array[at])
        if not 0 < at - begin <= _MOST_DIGITS or (letter != _COMMA and at != end):
            return None
        found.append(-value if below else value)
        at += 1
    return found


_COMPILED: Final = not isinstance(integers, FunctionType)


def movetext(
    first: int, sans: list[str], clocks_ms: list[int | None], elapsed_of_each_ms: list[int | None]
) -> str | None:
    """Write plies that follow each other as lines, as ``timed_move`` does; None: a time is unknown or negative."""
    pieces: list[str] = []
    column = -1  # so that the first word has a blank in front, too
    for place in range(len(sans)):
        ply = first + place
        san = sans[place]
        clock_ms = clocks_ms[place]
        elapsed_ms = elapsed_of_each_ms[place]
        if clock_ms is None or elapsed_ms is None or clock_ms < 0 or elapsed_ms < 0:
            return None
        number = _NUMBERS[ply] if 0 <= ply < 1000 else move_number(ply)
        clock = _CLOCKS.get(clock_ms // 1000) or _clock(clock_ms // 1000)
        elapsed = _ELAPSED.get(elapsed_ms // 1000) or _elapsed(elapsed_ms // 1000)
        before_number = before_san = before_clock = before_elapsed = " "
        column += 1 + len(number)
        if column > LINE_LENGTH:
            before_number = "\n"
            column = len(number)
        column += 1 + len(san)
        if column > LINE_LENGTH:
            before_san = "\n"
            column = len(san)
        column += len(clock) + 6  # ".338]" and the blank in front
        if column > LINE_LENGTH:
            before_clock = "\n"
            column = len(clock) + 5
        column += len(elapsed) + 7
        if column > LINE_LENGTH:
            before_elapsed = "\n"
            column = len(elapsed) + 6
        pieces.append(
            f"{before_number}{number}{before_san}{san}{before_clock}{clock}{_CLOCK_ENDS[clock_ms % 1000]}"
            f"{before_elapsed}{elapsed}{_ELAPSED_ENDS[elapsed_ms % 1000]}"
        )
    return "".join(pieces)[1:]


def with_bars(text: str) -> str:
    """Text for a comment of several parts: a word of bars gets one more, so that ``|`` alone separates parts."""
    return _BARS.sub(r"\g<0>|", text) if "|" in text else text


def split_remark(text: str) -> list[str]:
    """Split a comment that this program wrote into its parts, at least one, as they were before ``with_bars``."""
    if "|" not in text:
        return [text]
    return [_BARS.sub(lambda bars: bars[0][1:], part) for part in _SEPARATOR.split(text)]
