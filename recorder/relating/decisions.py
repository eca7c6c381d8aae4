"""What a person decided about games that the rules of ``compare`` judge otherwise, or not at all.

A decision is about two observations' games, named by their keys, which stay when logs grow or are read again. It
counts more than any rule. Where decisions contradict each other, games stay apart.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, NamedTuple

__all__ = ["MERGED_BY_HAND", "UNDECIDED", "Decided", "Pair", "pair_of"]

Pair = tuple[str, str]
"""Two keys, the lesser first."""

MERGED_BY_HAND: Final = "a person decided that they are one game"


def pair_of(one: str, other: str) -> Pair:
    """Two keys in their order."""
    return (one, other) if one < other else (other, one)


class Decided(NamedTuple):
    """Decisions.

    Attributes:
        same: keys of games that are one. apart: of games that are not.
    """

    same: frozenset[Pair] = frozenset()
    apart: frozenset[Pair] = frozenset()

    def part(self, some: Collection[str], others: Collection[str]) -> bool:
        """Whether a game of the one group is known not to be one of the other."""
        return bool(self.apart) and any(pair_of(one, other) in self.apart for one in some for other in others)

    def join(self, groups: list[list[str]]) -> list[list[int]]:
        """Which groups of keys are one: numbers of groups, by their first ones."""
        found = {number: [number] for number in range(len(groups))}
        home = {key: number for number, keys in enumerate(groups) for key in keys}
        for one, other in sorted(self.same):
            if one not in home or other not in home or home[one] == home[other]:
                continue
            first, second = sorted((home[one], home[other]))
            keys = [[key for number in found[place] for key in groups[number]] for place in (first, second)]
            if self.part(*keys):
                continue
            found[first] += found.pop(second)
            home |= dict.fromkeys(keys[1], first)
        return [sorted(numbers) for _, numbers in sorted(found.items())]


UNDECIDED: Final = Decided()
