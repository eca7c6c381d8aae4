"""How much equal times, lags and line orders tell: the bits in what two sources print alike.

Two games with equal moves may print equal times by chance, and players' habits make it likelier: programs move at once
for a whole opening, and then take a second for each move. So what a time tells is not what it could have been, but how
far this game's own times leave it open. Let whatever players draw their seconds from depend on who moves and on whether
his move before took none, one or more: of all such habits the shares counted in this very game make it the likeliest.
Under each of them a repetition prints the same row with a probability of at most 2 ** -``bits_of``. ``REQUIRED_BITS``
are asked for, so among a million pairs of games that repeat each other move by move one is taken for the other with
a probability below 2 ** -20. Programs that move at once, or always within the same second, never reach it.

The order of two boards' lines is measured in the same way (``order_bits``). The habit is that which board moves next
depends on the last ``_MEMORY`` lines of both. Players of constant think times have another habit: it puts fewer than
40 bits into 120 lines, which is why no more are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import log2

__all__ = ["REQUIRED_BITS", "bits_of", "order_bits"]

REQUIRED_BITS = 40
_LONG_S = 2
_MEMORY = 4
_MOST_LINES = 120  # programs that always think for the same time stay below 40 bits as long as no more are counted


def bits_of(seconds: Mapping[int, int]) -> float:
    """A lower bound of the information in the times of a game's moves, whatever habits the players have.

    Args:
        seconds: ply → whole seconds that it took, or the milliseconds of lag printed with it. A ply adds nothing if
            its side's move before is not there.
    """
    habits: Counter[tuple[int, int]] = Counter()
    times: Counter[tuple[int, int, int]] = Counter()
    for ply, spent_s in sorted(seconds.items()):
        before_s = seconds.get(ply - 2)
        if before_s is not None:
            habit = ply % 2, min(before_s, _LONG_S)
            habits[habit] += 1
            times[*habit, spent_s] += 1
    return sum(count * log2(habits[side, before] / count) for (side, before, _), count in times.items())


def order_bits(boards: Sequence[bool]) -> float:
    """A lower bound of the information in the order of two boards' lines, whatever habits the players have.

    Args:
        boards: for each line, in the order of the log, whether it belongs to the first of the two boards.
    Returns:
        Bits in the first ``_MOST_LINES`` lines; near 0 for boards that move in turn or in any other short cycle.
    """
    boards = boards[:_MOST_LINES]
    lines = Counter(zip(*(boards[start:] for start in range(_MEMORY + 1)), strict=False))
    habits: Counter[tuple[bool, ...]] = Counter()
    for line, count in lines.items():
        habits[line[:-1]] += count
    return sum(count * log2(habits[line[:-1]] / count) for line, count in lines.items())
