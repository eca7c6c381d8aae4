"""Whether two logs without times of day show one game: from the order of its lines among those of other boards.

A server sends its lines to every observer in one order. Two boards whose lines stand in the same order in both logs are
the same two games if that order holds enough information (``information.order_bits``): a repetition of both games
interleaves them differently. Partner boards are not compared: a script that plays a bughouse match again repeats its
order too, because each move needs the pieces of the other board.

A game that is known to be in both logs is a clock of both. At any moment a game number belongs to one game: two
observations of that number while two lines of the clock arrive are one game, however short.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations
from math import log2

from recorder.relating.compare import Verdict, compare
from recorder.relating.information import REQUIRED_BITS, order_bits
from recorder.relating.view import View

__all__ = ["same_by_order"]

_LEAST_LINES = 2

_Lines = list[tuple[int, int]]
"""For each ply that both logs saw live: its offset in the one and in the other."""


def same_by_order(one: View, other: View, beside: Iterable[tuple[View, View]]) -> str | None:
    """Why two games are one, by the order of lines in their logs.

    Args:
        one, other: games of two sources that do not contradict each other.
        beside: pairs of games of other boards: of each the first ran beside ``one`` in its source, the second beside
            ``other`` in the other source. They have the same players and number.
    Returns:
        The reason, as a clause; None: the order does not show it.
    """
    if one.game.game_no is None or one.game.game_no != other.game.game_no or _apart(one, other):
        return None
    lines = _lines(one, other)
    known: list[_Lines] = []
    open_lines: list[_Lines] = [] if _bughouse(one) else [lines]
    for mine, its in _unique(beside):
        verdict = Verdict.APART if _apart(mine, its) else compare(mine, its).verdict
        if verdict is Verdict.SAME:
            known.append(_lines(mine, its))
        elif verdict is Verdict.OPEN and not _bughouse(mine):
            open_lines.append(_lines(mine, its))
    tries = len(open_lines) * (len(open_lines) - 1) // 2
    found: list[tuple[float, int]] = []
    for first, second in combinations(open_lines, 2):
        bits = _order(first, second)
        if bits >= REQUIRED_BITS + log2(tries):
            known += [first, second]
            if first is lines:
                found.append((bits, len(first) + len(second)))
    if found:
        bits, count = max(found)
        return f"{count} lines of 2 boards in the same order ({int(bits)} bits)"
    during = max((_during(one, other, clock) for clock in known), default=0)
    return f"the same number during {during} lines of a game of both logs" if during >= _LEAST_LINES else None


def _apart(one: View, other: View) -> bool:
    """Whether their logs have no order of their own: one source, or no source that saw them live."""
    return one.source is None or other.source is None or one.source == other.source


def _bughouse(view: View) -> bool:
    return view.game.variant == "bughouse"


def _unique(pairs: Iterable[tuple[View, View]]) -> list[tuple[View, View]]:
    """Pairs neither game of which is in another one."""
    found = list(pairs)
    keys = [key for mine, its in found for key in (mine.game.key, its.game.key)]
    return [(mine, its) for mine, its in found if keys.count(mine.game.key) == keys.count(its.game.key) == 1]


def _lines(one: View, other: View) -> _Lines:
    plies = sorted(one.live_plies & other.live_plies)
    return [(one.plies[ply].offset, other.plies[ply].offset) for ply in plies]


def _order(first: _Lines, second: _Lines) -> float:
    """The bits in the order of two boards' lines; 0 where the logs differ in it."""
    both = [(*line, True) for line in first] + [(*line, False) for line in second]
    boards = [[board for *_, board in sorted(both, key=lambda line: line[log])] for log in (0, 1)]
    return order_bits(boards[0]) if boards[0] == boards[1] else 0


def _during(one: View, other: View, clock: Sequence[tuple[int, int]]) -> int:
    """How many lines of a game of both logs arrived while a board was seen in both."""
    spans = [_span(view) for view in (one, other)]
    return sum(all(begin < at < end for (begin, end), at in zip(spans, line, strict=True)) for line in clock)


def _span(view: View) -> tuple[int, int]:
    """Offsets of the first board and of the last move that were seen live; a later line may be of a later game."""
    begun = min((seen.offset for seen in view.live), default=0)
    return begun, max((view.plies[ply].offset for ply in view.live_plies if ply in view.plies), default=0)
