"""Whether two logs without times of day show one game: from the order of its lines among those of other boards.

A server sends its lines to every observer in one order. Two boards whose lines are in the same order in both logs are
the same two games if that order holds enough information (``information.order_bits``): a repetition of both games
interleaves them differently. Partner boards are not compared: a script that plays a bughouse match again repeats its
order too, because each move needs the pieces of the other board.

A game that is known to be in both logs serves as a clock of both. At any moment a game number belongs to one game: two
observations of that number while two lines of the clock arrive are one game, however short.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from functools import lru_cache
from itertools import combinations, pairwise
from math import log2
from typing import NamedTuple

from recorder.model import Game
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import REQUIRED_BITS, View, order_bits

Beside = Callable[[Game, Game], Iterable[tuple[Game, Game]]]
"""For two games of two sources, pairs of games of other boards that ran beside them, with equal players and numbers."""

_LEAST_LINES = 2
_CACHED = 4_096


class _Pair(NamedTuple):
    """``lines``: offsets, in both logs, of the plies that both saw live. ``partner``: it may be a board of bughouse."""

    verdict: Verdict
    lines: tuple[tuple[int, int], ...]
    partner: bool


class BoardOrders:
    def __init__(self, beside: Beside) -> None:
        self._beside = beside
        self._pairs: dict[tuple[str, str], _Pair] = {}
        self._bits = lru_cache(_CACHED)(_order)

    def same(self, view: View, other: View) -> str | None:
        """Why the order of lines in two logs proves that two games are one, as a clause; None: it does not."""
        if view.source is None or other.source is None or view.source == other.source:
            return None
        if view.game.game_no is None or view.game.game_no != other.game.game_no:
            return None
        if view.source > other.source:
            view, other = other, view
        this = self._pair(view.game, other.game)
        beside = [self._pair(mine, its) for mine, its in _unique(self._beside(view.game, other.game))]
        sure = [pair for pair in beside if pair.verdict is Verdict.SAME]
        undecided = [pair for pair in (this, *beside) if pair.verdict is Verdict.OPEN and not pair.partner]
        tries = list(combinations(undecided, 2))
        ordered: list[tuple[float, int]] = []
        for first, second in tries:
            if (bits := self._bits(first, second)) >= REQUIRED_BITS + log2(len(tries)):
                sure += [first, second]
                if first is this:
                    ordered.append((bits, len(first.lines) + len(second.lines)))
        if ordered:
            bits, count = max(ordered)
            return f"{count} lines of 2 boards in the same order ({int(bits)} bits)"
        during = max((_during(view, other, pair.lines) for pair in sure), default=0)
        return f"the same number during {during} lines of a game of both logs" if during >= _LEAST_LINES else None

    def _pair(self, game: Game, other: Game) -> _Pair:
        pair = self._pairs.get((game.key, other.key))
        if pair is None:
            mine, its = View(game), View(other)
            plies = sorted(mine.live_plies & its.live_plies)
            lines = tuple((mine.plies[ply].offset, its.plies[ply].offset) for ply in plies)
            pair = _Pair(compare(mine, its).verdict, lines, game.variant == "bughouse")
            if len(self._pairs) == _CACHED:
                del self._pairs[next(iter(self._pairs))]
            self._pairs[game.key, other.key] = pair
        return pair


def _unique(pairs: Iterable[tuple[Game, Game]]) -> list[tuple[Game, Game]]:
    every = list(pairs)
    uses = Counter(game.key for pair in every for game in pair)
    return [(mine, its) for mine, its in every if uses[mine.key] == uses[its.key] == 1]


def _order(first: _Pair, second: _Pair) -> float:
    """The bits in the order of two boards' lines; 0 where the logs differ in it."""
    lines = sorted([(*line, True) for line in first.lines] + [(*line, False) for line in second.lines])
    in_order = all(one[1] < other[1] for one, other in pairwise(lines))
    return order_bits([board for *_, board in lines]) if in_order else 0


def _during(view: View, other: View, clock: Iterable[tuple[int, int]]) -> int:
    """How many lines of a game of both logs arrived while a board was seen in both."""
    spans = [_span(either) for either in (view, other)]
    return sum(all(begin < offset < end for (begin, end), offset in zip(spans, line, strict=True)) for line in clock)


def _span(view: View) -> tuple[int, int]:
    """Offsets of the first board and of the last move that were seen live; a later line may be of a later game."""
    begun = min((observation.offset for observation in view.live), default=0)
    return begun, max((view.plies[ply].offset for ply in view.live_plies), default=0)
