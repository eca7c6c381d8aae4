"""How much equal times tell: the bits in a row of whole seconds that two sources print alike.

Two games with equal moves may print equal times by chance, and players' habits make it likelier: programs move at once
for a whole opening, and then take a second for each move. So what a time tells is not what it could have been, but how
far this game's own times leave it open. Let whatever players draw their seconds from depend on who moves and on whether
his move before took none, one or more: of all such habits the shares counted in this very game make it the likeliest.
Under each of them a repetition prints the same row with a probability of at most 2 ** -``bits_of``. ``REQUIRED_BITS``
are asked for, so among a million pairs of games that repeat each other move by move one is taken for the other with
a probability below 2 ** -20. Programs that move at once, or always within the same second, never reach it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from math import log2

__all__ = ["REQUIRED_BITS", "bits_of"]

REQUIRED_BITS = 40
_LONG_S = 2


def bits_of(seconds: Mapping[int, int]) -> float:
    """A lower bound of what the times of a game's moves tell, whatever habits the players have.

    Args:
        seconds: ply → whole seconds that it took. A ply tells nothing if its side's move before is not there.
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
