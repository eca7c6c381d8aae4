"""Which games belong together: duplicates, halves of adjourned games, partners, and examinations of a game."""

from __future__ import annotations

from collections.abc import Iterable


def connected(numbers: Iterable[int], pairs: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Two are in one group if pairs lead from one to the other; groups come by their first numbers."""
    parents = {number: number for number in numbers}

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for one, other in pairs:
        parents[root(one)] = root(other)
    groups: dict[int, list[int]] = {}
    for number in parents:
        groups.setdefault(root(number), []).append(number)
    return list(groups.values())
