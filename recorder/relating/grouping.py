"""Groups of observations that show the same part of a game, and what a person decided about them.

Every two games of the same players are compared, so hundreds of logs of one game would need tens of thousands of
comparisons. Logs that show the same moves, times and header at the same moment compare alike with every other log.

No part holds two members that contradict each other. An observation that fits two others which contradict each other is
left apart; one that is not complete neither makes a complete one doubtful nor takes a part to pieces, but is left apart
itself. What a person decided counts more.

A decision is about two observations' games, named by their keys, which stay when logs grow or are read again. Where
decisions contradict each other, games stay apart.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Final, NamedTuple

from recorder.model import Evidence, EvidenceKind, Game, Ply, StartFacts
from recorder.relating.board_order import BoardOrders
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import DAY_MS, SKEW_MS, View
from recorder.relating.outages import LOST_ENDS, taken_back_at

__all__ = [
    "Decided",
    "MERGED_BY_HAND",
    "ObservationGroup",
    "Pair",
    "UNDECIDED",
    "group_alike",
    "not_apart",
    "pair_of",
    "same_parts",
]

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


_OWN: Final = frozenset((
    "key", "me", "observations", "segments", "started_at_ms", "ended_at_ms", "first_offset", "last_offset", "links",
    "merged_from", "evidence", "analyses", "found_opening",
))  # fmt: skip
"""Fields of a game in which two logs of it may differ, and those that ``_content`` takes apart."""
_FIELDS: Final = tuple(field.name for field in fields(Game) if field.name not in _OWN)
_MOST_APART_MS: Final = SKEW_MS // 2  # from the first of a group, so no two of a group are further apart than SKEW_MS


def group_alike(views: Sequence[View]) -> list[list[View]]:
    """Group games that compare alike with all others.

    Args:
        views: games of the same players, each as one source shows it.
    Returns:
        Every view once, in groups that keep the order, by their first. The first of a group is the same game as each
        of the others, by ``compare``; a log that is at the limit of ``SKEW_MS`` from the group is judged by its first.
        A view whose source has several games here is a group by itself: those are compared differently.
    """
    if len(views) < 3:
        return [[view] for view in views]
    games_of = Counter(view.source for view in views)
    groups: list[list[View]] = []
    by_content: dict[object, list[list[View]]] = {}
    for view in views:
        if not view.plies or view.source is None or games_of[view.source] > 1:
            groups.append([view])
            continue
        fitting = by_content.setdefault(_content(view), [])
        group = next((group for group in fitting if _is_close(group[0], view)), None)
        if group is not None and compare(group[0], view).verdict is Verdict.SAME:
            group.append(view)
            continue
        groups.append([view])
        if group is None:
            fitting.append(groups[-1])
    return groups


def _is_close(first: View, view: View) -> bool:
    """Whether two logs show equal content at the same moments."""
    return all(abs(one - other) <= _MOST_APART_MS for one, other in zip(_times(first), _times(view), strict=True))


def _content(view: View) -> object:
    """All that a log shows of a game but when and where in the log, and which times it has."""
    game = view.game
    return (
        *(getattr(game, name) for name in _FIELDS),
        game.started_at_ms is None,
        game.ended_at_ms is None,
        view.in_sight_ms is None,
        *((seen.kind, seen.started_at_ms is None, seen.ended_at_ms is None) for seen in game.observations),
        *(None if seen.start is None else _printed(seen.start) for seen in game.observations),
        view.live_plies,
        *map(_printed, view.plies.values()),
    )


def _printed(facts: Ply | StartFacts) -> object:
    return facts._replace(at_ms=None, offset=0), facts.at_ms is None


def _times(view: View) -> list[int]:
    """When a log shows what, in milliseconds; as many for all games of equal content."""
    game = view.game
    bounds = [(seen.started_at_ms, seen.ended_at_ms) for seen in game.observations]
    arrivals = (ply.at_ms for ply in view.plies.values())
    times = (
        game.started_at_ms,
        game.ended_at_ms,
        view.in_sight_ms,
        *(at_ms for pair in bounds for at_ms in pair),
        *arrivals,
    )
    return [at_ms for at_ms in times if at_ms is not None]


_MOST_REPEATED = 32  # games without times of day that may each be the same; the order of more is not looked at


@dataclass
class ObservationGroup:
    """Members that saw the same part of a game: all of it, or what was played until it was adjourned."""

    views: list[View]
    evidence: list[Evidence]

    @property
    def name(self) -> str:
        """The key of its first member."""
        return self.views[0].game.key

    @property
    def keys(self) -> list[str]:
        """Those of all members."""
        return [view.game.key for view in self.views]


def same_parts(views: list[View], orders: BoardOrders | None, decided: Decided) -> list[ObservationGroup]:
    """Observations that show the same part of a game, put together.

    Args:
        views: of the same players with the same colours. orders, decided: as for ``merge_games``.
    Returns:
        Parts that hold each of them once; the order of ``views`` does not count.
    """
    compared = _ComparedViews(_with_decided_alone(group_alike(views), decided))
    undecided = compared.compare(decided)
    if orders is not None:
        compared.decide_by_order(undecided, orders)
    compared.part_halves()
    alone = compared.part_doubtful()
    parts: list[ObservationGroup] = []
    for group in _components(compared.near):
        if compared.contradict(group) or not alone.isdisjoint(group):
            parts += [ObservationGroup([view], []) for number in group for view in compared.alike[number]]
        else:
            parts.append(compared.group_of(group))
    return _joined(parts, decided)


class _ComparedViews:
    """What comparisons say of views, by the numbers of the first view of each group that compares alike.

    Args:
        alike: as ``group_alike`` returns them.

    Attributes:
        views: the first of each group. near: for each those that are the same game.
    """

    def __init__(self, alike: list[list[View]]) -> None:
        self.alike = alike
        self.views = [group[0] for group in alike]
        self.near: list[set[int]] = [set() for _ in alike]
        self._open_to = [{number} for number in range(len(alike))]  # itself and those that it does not contradict
        self._whys: dict[tuple[int, int], str] = {}

    def compare(self, decided: Decided) -> list[tuple[int, int]]:
        """Compare all pairs that may be the same game; return those that nothing decides."""
        views = self.views
        undecided: list[tuple[int, int]] = []
        for one, other in not_apart(views):
            verdict, self._whys[one, other] = compare(views[one], views[other])
            if pair_of(views[one].game.key, views[other].game.key) in decided.apart:
                verdict = Verdict.APART
            if verdict is Verdict.OPEN:
                undecided.append((one, other))
            if verdict is not Verdict.APART:
                self._open_to[one].add(other)
                self._open_to[other].add(one)
            if verdict is Verdict.SAME:
                self._join(one, other)
        return undecided

    def _join(self, one: int, other: int) -> None:
        self.near[one].add(other)
        self.near[other].add(one)

    def decide_by_order(self, undecided: list[tuple[int, int]], orders: BoardOrders) -> None:
        """Join undecided pairs whose logs have the same lines in the same order."""
        alike = self.alike
        repeated: Counter[int] = Counter()
        for one, other in undecided:
            repeated[one] += len(alike[other])
            repeated[other] += len(alike[one])
        for one, other in undecided:
            if max(repeated[one], repeated[other]) > _MOST_REPEATED:
                continue
            by_order = (orders.same(mine, its) for mine, its in product(alike[one], alike[other]))
            if (why := next(filter(None, by_order), None)) is not None:
                self._join(one, other)
                self._whys[one, other] = why

    def contradict(self, members: Collection[int]) -> bool:
        """Whether two of these contradict each other."""
        return any(not self._open_to[number].issuperset(members) for number in members)

    def part_halves(self) -> None:
        """Part a game seen before and after it was adjourned from both halves: ``merge`` joins them."""
        near, views = self.near, self.views
        for group in [group for group in _components(near) if self.contradict(group)]:
            for number in group:
                near[number] -= {other for other in near[number] if _adjourned_between(views[number], views[other])}

    def part_doubtful(self) -> set[int]:
        """Part the views that may be one of two games from both; return their numbers."""
        whole = {number for number, view in enumerate(self.views) if view.game.complete}

        def fits(number: int) -> set[int]:
            """What may make it doubtful which game this is: a fragment does not for a complete observation."""
            return self.near[number] & whole if number in whole else self.near[number]

        # Where no member contradicts another, no part of the group needs a look of its own.
        doubtful = {
            number
            for group in _components(self.near)
            if self.contradict(group)
            for number in group
            if self.contradict(fits(number))
        }
        self.near = _without(self.near, doubtful)
        fragments = {
            number
            for group in _components(self.near)
            for number in group
            if number not in whole and not self._open_to[number].issuperset(group)
        }
        self.near = _without(self.near, fragments)
        return doubtful | fragments

    def group_of(self, group: Collection[int]) -> ObservationGroup:
        """One game of all views with these numbers, and why each of them belongs to it."""
        alike, views = self.alike, self.views
        members = sorted(
            ((number, view) for number in group for view in alike[number]), key=lambda one: one[1].game.key
        )
        evidence: list[Evidence] = []
        for number, view in members[1:]:
            same = [
                *((other, views[other]) for other in self.near[number]),
                *((number, one) for one in alike[number][:2]),
            ]
            first, lead = min((one for one in same if one[1] is not view), key=lambda one: one[1].game.key)
            pair = min(first, number), max(first, number)
            why = self._whys.get(pair) if view is views[number] else None
            if why is None:
                verdict, why = compare(lead, view)
                why = why if verdict is Verdict.SAME else self._whys[pair]  # by the order of lines
            evidence.append(Evidence(EvidenceKind.SAME, why))
        return ObservationGroup([view for _, view in members], evidence)


def _with_decided_alone(alike: list[list[View]], decided: Decided) -> list[list[View]]:
    """Groups of which games that a person decided not to be one with others are groups by themselves."""
    alone = {key for pair in decided.apart for key in pair}
    if not alone:
        return alike
    found = [[view] for group in alike for view in group if view.game.key in alone]
    found += [rest for group in alike if (rest := [view for view in group if view.game.key not in alone])]
    return sorted(found, key=lambda group: group[0].game.key)


def _without(near: list[set[int]], excluded: set[int]) -> list[set[int]]:
    return [set() if number in excluded else others - excluded for number, others in enumerate(near)]


def not_apart(views: list[View]) -> Iterator[tuple[int, int]]:
    """Numbers of views, the lesser first, without those whose first moves differ and those without a move.

    An archive may have thousands of games of two players: in the order of their moves those that continue a
    game's known first moves follow it.
    """
    ordered = sorted((view.opening, number) for number, view in enumerate(views) if view.plies or view.starts)
    for at, (opening, one) in enumerate(ordered):
        for place in range(at + 1, len(ordered)):
            further, other = ordered[place]
            if further[: len(opening)] != opening:
                break
            yield (one, other) if one < other else (other, one)
    yield from _taken_back(views)


def _taken_back(views: list[View]) -> Iterator[tuple[int, int]]:
    """Numbers of views whose first moves differ only because the last ones of one were taken back out of its sight."""
    timed = [(number, view, view.span_ms) for number, view in enumerate(views) if view.span_ms is not None]
    lost = [one for one in timed if one[1].game.end in LOST_ENDS]
    for one, mine, span_ms in lost:
        for other, its, other_ms in timed:
            if not other_ms[0] - DAY_MS < span_ms[1] < other_ms[1] or mine.opening[:1] != its.opening[:1]:
                continue
            known = min(len(mine.opening), len(its.opening))
            if mine.opening[:known] != its.opening[:known] and taken_back_at(mine, its) is not None:
                yield (one, other) if one < other else (other, one)


def _adjourned_between(one: View, other: View) -> bool:
    """Whether the one was adjourned, or lost before that, and the other seen after the game was resumed.

    If its adjournment was not seen, the times that were taken before it are 0 in the list of the other one.
    """
    for earlier, later in ((one, other), (other, one)):
        last = max(earlier.live_plies, default=0)
        if not (last and later.starts):
            continue
        if earlier.game.end == "adjourned" and last <= later.starts[0].ply:
            return True
        if last <= max(later.unlisted, default=0) < later.starts[0].ply:
            return True
    return False


def _components(near: Sequence[set[int]]) -> list[list[int]]:
    """Connected numbers, each list ascending, by their first."""
    done: set[int] = set()
    found: list[list[int]] = []
    for first in range(len(near)):
        if first in done:
            continue
        group: set[int] = set()
        reached = {first}
        while reached:
            group |= reached
            reached = {other for number in reached for other in near[number]} - group
        done |= group
        found.append(sorted(group))
    return found


def _joined(parts: list[ObservationGroup], decided: Decided) -> list[ObservationGroup]:
    """Join parts that a user decided to merge."""
    if not decided.same:
        return parts
    found = []
    for numbers in decided.join([part.keys for part in parts]):
        some = [parts[number] for number in numbers]
        views = sorted((view for part in some for view in part.views), key=lambda view: view.game.key)
        evidence = [one for part in some for one in part.evidence]
        found.append(
            ObservationGroup(views, evidence + [Evidence(EvidenceKind.SAME, MERGED_BY_HAND)] * (len(some) > 1))
        )
    return found
