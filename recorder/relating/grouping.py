"""Groups of observations that show the same part of a game, and what a person decided about them.

The problem. ``compare`` answers for two observations, and its answers are not transitive: a fragment of ten moves may
be the same as two games that contradict each other. If groups were built one pair after another, the result would
depend on which log was imported first.

So all answers are collected first, as a graph: an edge where two are the same game, a mark where they contradict. Then

1. the halves of an adjourned game are taken apart, because a source that saw both would connect them (``part_halves``;
   ``merge`` joins them again, in order);
2. in each connected group with a contradiction, an observation whose own neighbours contradict each other fits two
   games: it is left by itself (``part_doubtful``). First it is asked which *complete* ones do, so that a fragment
   never makes a complete observation doubtful;
3. then fragments that contradict a member of their group are left by themselves;
4. a group that still has a contradiction falls apart as a whole.

An example: A and B are two complete games with the same first moves, F is a fragment with these moves only. F is the
same as A and as B, A and B contradict each other. F stays alone, and A and B are not merged through it.

What must never happen: two members of a group contradict each other; the order of observations changes the groups.

Every two games of the same players are compared, so hundreds of logs of one game would need tens of thousands of
comparisons. Logs that show the same moves, times and header at the same moment compare alike with every other log, so
only the first of them is compared (``group_alike``).

What a person decided counts more. A decision is about two observations' games, named by their keys, which stay when
logs grow or are read again. Where decisions contradict each other, games stay apart.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields
from itertools import chain, combinations, groupby, product
from operator import itemgetter
from typing import Final, NamedTuple

from recorder.model import Evidence, EvidenceKind, Game, GameEnd, Ply, StartFacts, StartPrecision
from recorder.relating import connected
from recorder.relating.board_order import BoardOrders
from recorder.relating.compare import Verdict, Verdicts, compare, is_saved, proves_enough, short_of_round
from recorder.relating.game_view import DAY_MS, SKEW_MS, View
from recorder.relating.outages import taken_back_at

# Which pairs are worth comparing: an archive may have thousands of games of two players, and programs repeat the same
# moves as often. Games whose first moves differ are not one. Of many with the same first moves only those are compared
# that something may prove to be one: they were seen at one moment, one was lost from sight and the other one joined, or
# their times may be equal and prove enough.
_MANY: Final = 64  # so many games with the same first moves are compared each with each
_TIMED: Final = (3, 4, 5)  # plies whose times are looked at first: those of the first two are often 0
_SECOND_MS: Final = 1_000

_Pair = tuple[int, int]


def pairs_to_compare(views: Sequence[View]) -> Iterator[_Pair]:
    """Numbers of views, the lesser first; none whose first moves differ, and none without a move."""
    openings = sorted((view.opening, number) for number, view in enumerate(views) if view.plies or view.starts)
    alike = [(opening, [number for _, number in some]) for opening, some in groupby(openings, itemgetter(0))]
    for index, (opening, same) in enumerate(alike):
        further: list[int] = []
        for longer, others in alike[index + 1 :]:
            if longer[: len(opening)] != opening:
                break
            further += others
        if len(same) <= _MANY:
            pairs: Iterable[_Pair] = chain(combinations(same, 2), product(same, further))
        else:
            pairs = _of_many(views, same, [*same, *further])
        yield from ((one, other) if one < other else (other, one) for one, other in pairs)
    yield from _taken_back(views)


def repeated_often(views: Sequence[View]) -> set[int]:
    """Numbers of views whose first moves many others have, so that neither they nor their times prove anything."""
    counts = Counter(view.opening for view in views if view.plies or view.starts)
    return {number for number, view in enumerate(views) if counts[view.opening] > _MANY and not proves_enough(view)}


def _of_many(views: Sequence[View], same: list[int], every: list[int]) -> set[_Pair]:
    """Pairs, with one of ``same``, that something may prove to be one."""
    wanted = set(same)
    pairs = chain(_at_one_moment(views, every), _rejoined(views, every), _of_equal_times(views, every))
    return {(first, other) for first, other in pairs if first != other and not wanted.isdisjoint((first, other))}


def _at_one_moment(views: Sequence[View], numbers: list[int]) -> Iterator[_Pair]:
    """Those that were seen, or began, at the same time; of short games of a round, with games of logs only."""
    spans = sorted((*span, number) for number in numbers if (span := _span_ms(views[number])) is not None)
    short = {number for _, _, number in spans if short_of_round(views[number])}
    long = [span for span in spans if span[2] not in short]
    begun = [begin for begin, _, _ in long]
    for index, (_, end, one) in enumerate(long):
        for later in range(index + 1, bisect_right(begun, end + SKEW_MS)):
            yield one, long[later][2]
    rounds = [span for span in spans if span[2] in short]
    begun = [begin for begin, _, _ in rounds]
    lasted_ms = max((end - begin for begin, end, _ in rounds), default=0)
    for begin, end, one in long:
        if not is_saved(views[one]):
            first, after = bisect_left(begun, begin - lasted_ms - SKEW_MS), bisect_right(begun, end + SKEW_MS)
            yield from ((one, number) for _, _, number in rounds[first:after])


def _span_ms(view: View) -> tuple[int, int] | None:
    game, times = view.game, list(view.span_ms or ())
    if game.started_at_ms is not None and game.start_precision is not StartPrecision.MINUTE:
        times.append(game.started_at_ms)
    return (min(times), max(times)) if times else None


def _rejoined(views: Sequence[View], numbers: list[int]) -> Iterator[_Pair]:
    lost = [number for number in numbers if views[number].game.end.may_go_on and views[number].live]
    return product(lost, [number for number in numbers if views[number].starts])


class _Timed(NamedTuple):
    """``fine``: printed in ms (True), in seconds (False), or some computed (None). ``proves``: the times are enough."""

    number: int
    times_ms: tuple[int, ...]
    fine: bool | None
    proves: bool


def _of_equal_times(views: Sequence[View], numbers: list[int]) -> Iterator[_Pair]:
    """Games without a time of day that are repeated too often make no pairs: nothing proves which it is."""
    timed: list[_Timed] = []
    wild: list[int] = []
    for number in numbers:
        view, proves = views[number], proves_enough(views[number])
        if not proves and (view.span_ms is not None or not view.live):
            continue
        times = [spent for ply in _TIMED if (spent := view.spent_ms.get(ply)) is not None]
        if len(times) < len(_TIMED):
            wild.append(number)
            continue
        units = {spent.fine if spent.printed else None for spent in times}
        fine = next(iter(units)) if len(units) == 1 else None
        timed.append(_Timed(number, tuple(spent.ms for spent in times), fine, proves))
    yield from product(wild, (*wild, *(game.number for game in timed)))
    exact: dict[object, list[_Timed]] = {}
    places: dict[tuple[int, ...], list[_Timed]] = {}
    for game in timed:
        places.setdefault(tuple(ms // _SECOND_MS for ms in game.times_ms), []).append(game)
        if game.fine is not None:
            exact.setdefault((game.fine, game.times_ms), []).append(game)
    for some in exact.values():
        yield from _of_one_time(views, some)
    for game in timed:
        if game.fine is not True:  # other units, or computed times: they may differ by a second
            yield from _of_other_units(views, game, places)


def _of_one_time(views: Sequence[View], some: list[_Timed]) -> Iterator[_Pair]:
    """Of games whose first times are equal all pairs; of many only those that may be of one day."""
    if len(some) <= _MANY:
        yield from combinations([game.number for game in some], 2)
        return
    days = [(views[game.number].begun_ms, game.number) for game in some if game.proves]
    dated = sorted((*begun, number) for begun, number in days if begun is not None)
    begins = [begin for begin, _, _ in dated]
    for index, (_, latest, earlier) in enumerate(dated):
        yield from ((earlier, dated[index][2]) for index in range(index + 1, bisect_right(begins, latest + DAY_MS)))
    yield from product((number for begun, number in days if begun is None), (number for _, number in days))


def _of_other_units(
    views: Sequence[View], game: _Timed, places: dict[tuple[int, ...], list[_Timed]]
) -> Iterator[_Pair]:
    """``places`` has all games by the seconds of their first times."""
    seconds = [ms // _SECOND_MS for ms in game.times_ms]
    near = chain.from_iterable(
        places.get(cell, ()) for cell in product(*((second - 1, second, second + 1) for second in seconds))
    )
    others = [other for other in near if other.fine is not game.fine or other.fine is None]
    if len(others) > _MANY:
        others = [other for other in others if game.proves and other.proves]
    yield from ((game.number, other.number) for other in others if _may_agree(views[game.number], views[other.number]))


def _may_agree(view: View, other: View) -> bool:
    return all(view.spent_ms[ply].equals(other.spent_ms[ply]) for ply in _TIMED)


def _taken_back(views: Sequence[View]) -> Iterator[_Pair]:
    """Numbers of views whose first moves differ only because the last ones of one were taken back out of its sight."""
    timed = [(number, view, view.span_ms) for number, view in enumerate(views) if view.span_ms is not None]
    lost = [row for row in timed if row[1].game.end.is_lost]
    for lost_no, mine, span_ms in lost:
        for other, its, other_ms in timed:
            if not other_ms[0] - DAY_MS < span_ms[1] < other_ms[1] or mine.opening[:1] != its.opening[:1]:
                continue
            common = min(len(mine.opening), len(its.opening))
            if mine.opening[:common] != its.opening[:common] and taken_back_at(mine, its) is not None:
                yield (lost_no, other) if lost_no < other else (other, lost_no)


Pair = tuple[str, str]

MERGED_BY_HAND: Final = "a person decided that they are one game"


def pair_of(key: str, other: str) -> Pair:
    return (key, other) if key < other else (other, key)


class Decided(NamedTuple):
    same: frozenset[Pair] = frozenset()
    apart: frozenset[Pair] = frozenset()

    def part(self, some: Collection[str], others: Collection[str]) -> bool:
        return bool(self.apart) and any(pair_of(one, other) in self.apart for one in some for other in others)

    def join(self, groups: list[list[str]]) -> list[list[int]]:
        """By their first ones."""
        joined = {number: [number] for number in range(len(groups))}
        home = {key: number for number, keys in enumerate(groups) for key in keys}
        for one, other in sorted(self.same):
            if one not in home or other not in home or home[one] == home[other]:
                continue
            first, second = sorted((home[one], home[other]))
            keys = [[key for number in joined[group] for key in groups[number]] for group in (first, second)]
            if self.part(*keys):
                continue
            joined[first] += joined.pop(second)
            home |= dict.fromkeys(keys[1], first)
        return [sorted(numbers) for _, numbers in sorted(joined.items())]


UNDECIDED: Final = Decided()


_OWN: Final = frozenset((
    "key", "me", "observations", "segments", "started_at_ms", "ended_at_ms", "first_offset", "last_offset", "links",
    "merged_from", "evidence", "analyses", "corrections", "found_opening",
))  # fmt: skip
_FIELDS: Final = tuple(field.name for field in fields(Game) if field.name not in _OWN)
_MOST_APART_MS: Final = SKEW_MS // 2  # from the first of a group, so no two of a group are further apart than SKEW_MS


def group_alike(views: Sequence[View]) -> list[list[View]]:
    """The first of a group is the same game as each other one; a log with several games here is not grouped."""
    if len(views) < 3:
        return [[view] for view in views]
    games_of = Counter(view.source for view in views if view.live)
    groups: list[list[View]] = []
    by_content: dict[object, list[list[View]]] = {}
    for view in views:
        if not view.plies or view.source is None or games_of[view.source] > 1:
            groups.append([view])
            continue
        # Equal content in neighbouring slots of time; two in slots further apart are not close anyway.
        content, slot = _content(view), min(_times(view), default=0) // _MOST_APART_MS
        fitting = chain.from_iterable(by_content.get((content, near), ()) for near in (slot - 1, slot, slot + 1))
        group = next((group for group in fitting if _is_close(group[0], view)), None)
        if group is not None and compare(group[0], view).verdict is Verdict.SAME:
            group.append(view)
            continue
        groups.append([view])
        if group is None:
            by_content.setdefault((content, slot), []).append(groups[-1])
    return groups


def _is_close(first: View, view: View) -> bool:
    return all(abs(one - other) <= _MOST_APART_MS for one, other in zip(_times(first), _times(view), strict=True))


def _content(view: View) -> object:
    game = view.game
    return (
        *(getattr(game, name) for name in _FIELDS),
        game.started_at_ms is None,
        game.ended_at_ms is None,
        view.in_sight_ms is None,
        *((seen.kind, seen.started_at_ms is None, seen.ended_at_ms is None) for seen in game.observations),
        *(None if observation.start is None else _printed(observation.start) for observation in game.observations),
        view.live_plies,
        *map(_printed, view.plies.values()),
    )


def _printed(facts: Ply | StartFacts) -> object:
    return facts._replace(at_ms=None, offset=0), facts.at_ms is None


def _times(view: View) -> list[int]:
    """As many for all games of equal content."""
    game = view.game
    bounds = [(observation.started_at_ms, observation.ended_at_ms) for observation in game.observations]
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
        return self.views[0].game.key

    @property
    def keys(self) -> list[str]:
        return [view.game.key for view in self.views]


def same_parts(views: list[View], orders: BoardOrders | None, decided: Decided) -> list[ObservationGroup]:
    """Each view is in one part; the order of ``views`` does not count."""
    # First all answers, then the groups: see the module's docstring for the order of these steps.
    compared = _ComparedViews(_with_decided_alone(group_alike(views), decided), decided)
    undecided = compared.compare()
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
    """By the numbers of the first view of each group that compares alike; ``near``: which are the same game."""

    def __init__(self, alike: list[list[View]], decided: Decided) -> None:
        self.alike = alike
        self.views = [group[0] for group in alike]
        self.near: list[set[int]] = [set() for _ in alike]
        self._decided = decided
        self._verdicts: dict[tuple[int, int], Verdicts] = {}

    def compare(self) -> list[tuple[int, int]]:
        """Return the pairs that nothing decides."""
        undecided: list[tuple[int, int]] = []
        for number, other in pairs_to_compare(self.views):
            verdict = self._verdict(number, other).verdict
            if verdict is Verdict.OPEN:
                undecided.append((number, other))
            if verdict is Verdict.SAME:
                self._join(number, other)
        return undecided

    def _verdict(self, number: int, other: int) -> Verdicts:
        verdicts = self._verdicts.get((number, other))
        if verdicts is None:
            mine, its = self.views[number], self.views[other]
            verdicts = compare(mine, its)
            if pair_of(mine.game.key, its.game.key) in self._decided.apart:
                verdicts = verdicts._replace(verdict=Verdict.APART)
            self._verdicts[number, other] = verdicts
        return verdicts

    def _join(self, number: int, other: int) -> None:
        self.near[number].add(other)
        self.near[other].add(number)

    def decide_by_order(self, undecided: list[tuple[int, int]], orders: BoardOrders) -> None:
        """Join undecided pairs whose logs have the same lines in the same order."""
        alike = self.alike
        repeated: Counter[int] = Counter()
        for number, other in undecided:
            repeated[number] += len(alike[other])
            repeated[other] += len(alike[number])
        for number, other in undecided:
            if max(repeated[number], repeated[other]) > _MOST_REPEATED:
                continue
            by_order = (orders.same(mine, its) for mine, its in product(alike[number], alike[other]))
            if (why := next(filter(None, by_order), None)) is not None:
                self._join(number, other)
                self._verdicts[number, other] = Verdicts(Verdict.SAME, why)

    def contradict(self, members: Collection[int]) -> bool:
        return any(self._verdict(*pair).verdict is Verdict.APART for pair in combinations(sorted(members), 2))

    def _contradicts(self, number: int, members: Collection[int]) -> bool:
        pairs = ((min(number, other), max(number, other)) for other in members if other != number)
        return any(self._verdict(*pair).verdict is Verdict.APART for pair in pairs)

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

        # The doubtful ones are those whose own neighbours contradict each other: they would connect two games.
        # Where no member contradicts another, no part of the group needs a look of its own.
        doubtful = {
            number
            for group in _components(self.near)
            if self.contradict(group)
            for number in group
            if self.contradict(fits(number))
        }
        # Then the fragments that contradict a member which they are not neighbours of, but still connected with.
        self.near = _without(self.near, doubtful)
        fragments = {
            number
            for group in _components(self.near)
            for number in group
            if number not in whole and self._contradicts(number, group)
        }
        self.near = _without(self.near, fragments)
        return doubtful | fragments

    def group_of(self, group: Collection[int]) -> ObservationGroup:
        alike, views = self.alike, self.views
        members = sorted(
            ((number, view) for number in group for view in alike[number]), key=lambda member: member[1].game.key
        )
        evidence: list[Evidence] = []
        for number, view in members[1:]:
            same = [
                *((other, views[other]) for other in self.near[number]),
                *((number, one) for one in alike[number][:2]),
            ]
            first, lead = min((one for one in same if one[1] is not view), key=lambda one: one[1].game.key)
            pair = min(first, number), max(first, number)
            verdicts = self._verdicts.get(pair) if view is views[number] else None
            if verdicts is None:
                verdicts = compare(lead, view)
                verdicts = (
                    verdicts if verdicts.verdict is Verdict.SAME else self._verdicts[pair]
                )  # by the order of lines
            evidence.append(Evidence(EvidenceKind.SAME, verdicts.why))
        return ObservationGroup([view for _, view in members], evidence)


def _with_decided_alone(alike: list[list[View]], decided: Decided) -> list[list[View]]:
    """Groups of which games that a person decided not to be one with others are groups by themselves."""
    alone = {key for pair in decided.apart for key in pair}
    if not alone:
        return alike
    groups = [[view] for group in alike for view in group if view.game.key in alone]
    groups += [rest for group in alike if (rest := [view for view in group if view.game.key not in alone])]
    return sorted(groups, key=lambda group: group[0].game.key)


def _without(near: list[set[int]], excluded: set[int]) -> list[set[int]]:
    return [set() if number in excluded else others - excluded for number, others in enumerate(near)]


def _adjourned_between(view: View, other: View) -> bool:
    """If its adjournment was not seen, the times that were taken before it are 0 in the list of the other one."""
    for earlier, later in ((view, other), (other, view)):
        last = max(earlier.live_plies, default=0)
        if not (last and later.starts):
            continue
        if earlier.game.end is GameEnd.ADJOURNED and last <= later.starts[0].ply:
            return True
        if last <= max(later.unlisted, default=0) < later.starts[0].ply:
            return True
    return False


def _components(near: Sequence[set[int]]) -> list[list[int]]:
    return connected(range(len(near)), ((one, other) for one, others in enumerate(near) for other in others))


def _joined(parts: list[ObservationGroup], decided: Decided) -> list[ObservationGroup]:
    if not decided.same:
        return parts
    joined = []
    for numbers in decided.join([part.keys for part in parts]):
        some = [parts[number] for number in numbers]
        views = sorted((view for part in some for view in part.views), key=lambda view: view.game.key)
        evidence = [reason for part in some for reason in part.evidence]
        joined.append(
            ObservationGroup(views, evidence + [Evidence(EvidenceKind.SAME, MERGED_BY_HAND)] * (len(some) > 1))
        )
    return joined
