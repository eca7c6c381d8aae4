"""Which games of two players are worth comparing.

An archive may have thousands of games of two players, and programs repeat the same moves as often. Games whose first
moves differ are not one. Of many with the same first moves only those are compared that something may prove to be one:
they were seen at one moment, one was lost from sight and the other one joined, or their times may be equal and prove
enough.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, groupby, product
from operator import itemgetter
from typing import Final, NamedTuple

from recorder.model import StartPrecision
from recorder.relating.compare import is_saved, proves_enough, short_of_round
from recorder.relating.game_view import DAY_MS, SKEW_MS, View
from recorder.relating.outages import taken_back_at

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
    for index, (_, latest, one) in enumerate(dated):
        yield from ((one, dated[index][2]) for index in range(index + 1, bisect_right(begins, latest + DAY_MS)))
    yield from product((number for begun, number in days if begun is None), (number for _, number in days))


def _of_other_units(
    views: Sequence[View], game: _Timed, places: dict[tuple[int, ...], list[_Timed]]
) -> Iterator[_Pair]:
    """``places`` has all games by the seconds of their first times."""
    seconds = [ms // _SECOND_MS for ms in game.times_ms]
    near = chain.from_iterable(
        places.get(place, ()) for place in product(*((second - 1, second, second + 1) for second in seconds))
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
    lost = [one for one in timed if one[1].game.end.is_lost]
    for one, mine, span_ms in lost:
        for other, its, other_ms in timed:
            if not other_ms[0] - DAY_MS < span_ms[1] < other_ms[1] or mine.opening[:1] != its.opening[:1]:
                continue
            common = min(len(mine.opening), len(its.opening))
            if mine.opening[:common] != its.opening[:common] and taken_back_at(mine, its) is not None:
                yield (one, other) if one < other else (other, one)
