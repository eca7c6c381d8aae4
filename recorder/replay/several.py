"""Several games in one replay: which games run together, and the order of their moments.

Games are arranged by outlines, which hold the times of their moments without the content. The outlines of a whole
archive therefore fit in memory; content is read when it is shown.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Final, NamedTuple, overload

from recorder.model import Game, LinkKind, TimeBasis
from recorder.relating import connected
from recorder.relating.match import board_order, timeline
from recorder.replay.moments import GameMoment, ShownPly, by_offset, moments_of_game, timed_moments
from recorder.replay.timing import ReplayMoment, Timing, cap_idle, mark

_GAP_MS: Final = 5000
_Facts = tuple[tuple[str, ...], Timing]  # a moment's markers, and how its time is known


class _Span(NamedTuple):
    """On a scale that it shares with comparable games."""

    scale: object  # only spans with the same scale are comparable
    first: int
    last: int


class Outline(NamedTuple):
    """When a game's moments come; equal ``facts`` are shared."""

    key: str
    partners: tuple[str, ...]
    log: str  # of its first observation; "": all games come from one pipeline
    span: _Span
    zero_ms: int | None  # the arrival time that corresponds to 0
    at_ms: array[int]
    plies: array[int]
    facts: list[_Facts]
    ranks: array[int]  # positions in the log, -1 where unknown


def outline_of(
    game: Game, pace_ms: int = 0, marks: Callable[[Sequence[GameMoment]], Mapping[int, str]] | None = None
) -> Outline:
    """To arrange a game among others without its content; ``marks``: markers by the indexes of its moments."""
    moments, zero_ms = timed_moments(game, 0, pace_ms)
    if marks is not None:
        moments = list(mark(moments, marks(moments)))
    return _outline(game, moments, zero_ms)


def _outline(game: Game, moments: Sequence[GameMoment], zero_ms: int | None) -> Outline:
    source = game.observations[0].source if game.observations else None
    log = "" if source is None else source.sha256
    ranks = (by_offset(moment, game) for moment in moments)
    return Outline(
        game.key,
        partner_keys(game),
        log,
        _span(game, log, zero_ms, moments[-1].at_ms),
        zero_ms,
        array("q", (moment.at_ms for moment in moments)),
        array("i", (moment.ply or 0 for moment in moments)),
        [_shared((moment.markers, moment.timing)) for moment in moments],
        array("q", (-1 if rank is None else rank for rank in ranks)),
    )


@cache
def _shared(facts: _Facts) -> _Facts:
    """Only some dozens differ."""
    return facts


def _span(game: Game, log: str, zero_ms: int | None, last_ms: int) -> _Span:
    if zero_ms is not None and game.time_basis is not TimeBasis.NONE:
        scale = (game.time_basis, log if game.time_basis is TimeBasis.CLOCK else "")
        return _Span(scale, zero_ms, zero_ms + last_ms)
    if game.merged_from or not game.observations or game.observations[0].start is None:
        return _Span(game.key, 0, 0)
    return _Span(log, game.first_offset, game.last_offset)


def partner_keys(game: Game) -> tuple[str, ...]:
    return tuple(link.key for link in game.links if link.kind is LinkKind.PARTNER)


def partners_of(games: Iterable[tuple[str, tuple[str, ...]]]) -> dict[int, int]:
    """The index of each bughouse game → that of its other board, if that is among these games."""
    known = list(games)
    places = {key: index for index, (key, _) in enumerate(known)}
    return {index: places[key] for index, (_, keys) in enumerate(known) for key in keys if key in places}


class Timeline(Sequence[ReplayMoment[None]]):
    """The moments of many games in one order, without their content: 24 bytes each.

    Games that overlapped do so again. Their order follows arrival times, the order of lines within one log, and for the
    two boards of a bughouse match the order of its moves (``recorder.relating.match``). Other games follow one another,
    at most five seconds apart. ``game`` is called only for the boards of a match.
    """

    def __init__(
        self, outlines: Sequence[Outline], game: Callable[[int], Game], idle_max_ms: int | None = None
    ) -> None:
        self._at_ms = array("q")
        self._games = array("i")
        self._plies = array("i")
        self._facts: list[_Facts] = []
        for number, index, at_ms in _arranged(outlines, game):
            outline = outlines[number]
            self._at_ms.append(at_ms)
            self._games.append(number)
            self._plies.append(outline.plies[index])
            self._facts.append(outline.facts[index])
        if idle_max_ms is not None:
            self._at_ms = array("q", (moment.at_ms for moment in cap_idle(self, idle_max_ms)))

    def __len__(self) -> int:
        return len(self._at_ms)

    @overload
    def __getitem__(self, place: int) -> ReplayMoment[None]: ...

    @overload
    def __getitem__(self, place: slice) -> list[ReplayMoment[None]]: ...

    def __getitem__(self, place: int | slice) -> ReplayMoment[None] | list[ReplayMoment[None]]:
        if isinstance(place, slice):
            return [self[at] for at in range(*place.indices(len(self)))]
        markers, timing = self._facts[place]
        return ReplayMoment(self._at_ms[place], None, self._games[place], self._plies[place], markers, timing)


def moments_of_games(games: Sequence[Game], pace_ms: int = 0) -> list[GameMoment]:
    """In the order of a ``Timeline``, with their content; ``ReplayMoment.game`` is the index in ``games``."""
    single = [timed_moments(game, number, pace_ms) for number, game in enumerate(games)]
    outlines = [_outline(game, *timed) for game, timed in zip(games, single, strict=True)]
    return [
        single[number][0][index]._replace(at_ms=at_ms)
        for number, index, at_ms in _arranged(outlines, games.__getitem__)
    ]


class _Place(NamedTuple):
    """The game's index, and the moment's in the game."""

    game: int
    at: int
    at_ms: int


def _arranged(outlines: Sequence[Outline], game: Callable[[int], Game]) -> Iterator[_Place]:
    begin_ms, last_ms = 0, None
    for group in _groups(outlines):
        if last_ms is not None:
            begin_ms = last_ms + _GAP_MS
        for place in _capped(outlines, _together(outlines, game, group)):
            last_ms = place.at_ms + begin_ms
            yield place._replace(at_ms=last_ms)


def _groups(outlines: Sequence[Outline]) -> list[list[int]]:
    """Games that are played together: chains of overlapping games, and partners."""
    spans = [outline.span for outline in outlines]
    by_key = {outline.key: number for number, outline in enumerate(outlines)}
    together = [
        (number, by_key[key]) for number, outline in enumerate(outlines) for key in outline.partners if key in by_key
    ]
    scales: dict[object, list[int]] = {}
    for number, span in enumerate(spans):
        scales.setdefault(span.scale, []).append(number)
    for members in scales.values():
        members.sort(key=lambda number: spans[number].first)
        reached, holder = None, 0
        for number in members:
            if reached is not None and spans[number].first < reached:
                together.append((holder, number))
            if reached is None or spans[number].last > reached:
                reached, holder = spans[number].last, number
    # In the order of the caller, but games on one scale by their time.
    ordered = connected(range(len(outlines)), together)
    firsts = {id(group): min(spans[number].first for number in group) for group in ordered}
    places: dict[object, list[int]] = {}
    for at, group in enumerate(ordered):
        places.setdefault(spans[group[0]].scale, []).append(at)
    for ats in places.values():
        inside = sorted((ordered[at] for at in ats), key=lambda group: firsts[id(group)])
        for at, group in zip(ats, inside, strict=True):
            ordered[at] = group
    return ordered


def _together(outlines: Sequence[Outline], game: Callable[[int], Game], group: list[int]) -> Iterator[_Place]:
    """One group's moments in one order, with times from the group's first moment on."""
    mine = [outlines[number] for number in group]
    if len(group) == 1:
        yield from (_Place(group[0], index, at_ms) for index, at_ms in enumerate(mine[0].at_ms))
        return
    one_scale = len({outline.span.scale for outline in mine}) == 1
    ranks: Sequence[Sequence[int]] = [outline.ranks for outline in mine]
    if len(group) == 2 and not one_scale:
        ranks = _ranks_in_match(game(group[0]), game(group[1])) or ranks
    ranked = [list(_rising(rank)) for rank in ranks]
    zeros_ms = [outline.zero_ms for outline in mine]
    if not one_scale or not isinstance(mine[0].span.scale, tuple) or None in zeros_ms:
        yield from _in_order(group, mine, ranked)
        return
    first_ms = min(zero_ms for zero_ms in zeros_ms if zero_ms is not None)
    # Moments of one read have the same time but keep their order; offsets in different logs are not comparable.
    one_log = len({outline.log for outline in mine}) == 1
    shifted = [
        [
            (at_ms + (outline.zero_ms or 0) - first_ms, rank if one_log else 0, number, index)
            for index, (at_ms, rank) in enumerate(zip(outline.at_ms, own, strict=True))
        ]
        for number, outline, own in zip(group, mine, ranked, strict=True)
    ]
    for at_ms, _, number, index in heapq.merge(*shifted, key=lambda found: found[:2]):
        yield _Place(number, index, at_ms)


def _ranks_in_match(one: Game, other: Game) -> list[list[int]] | None:
    """The order of the moves of both boards; None: they are not a match."""
    match = board_order(one, other)
    if match is None:
        return None
    places = {(moment.board, moment.ply.ply): number for number, moment in enumerate(timeline(match), 1)}

    def rank(moment: GameMoment, game: Game) -> int:
        if not isinstance(moment.what, ShownPly) or moment.what.line:
            return -1
        return places.get(("A" if game is match.a else "B", moment.what.ply.ply), -1)

    return [[rank(moment, game) for moment in moments_of_game(game)] for game in (one, other)]


def _rising(ranks: Iterable[int]) -> Iterator[int]:
    """They never fall; an item without a rank takes the rank before it, or the first one."""
    known = list(ranks)
    highest = next((rank for rank in known if rank >= 0), 0)
    for rank in known:
        highest = max(highest, rank)
        yield highest


def _in_order(group: list[int], outlines: Sequence[Outline], ranked: Sequence[Sequence[int]]) -> Iterator[_Place]:
    """By rank; each moment keeps at least its distance from its game's first moment."""
    begins: dict[int, int] = {}
    now_ms = 0
    places = [[(rank, at, index) for index, rank in enumerate(ranks)] for at, ranks in enumerate(ranked)]
    for _, at, index in heapq.merge(*places, key=lambda found: found[0]):
        begin_ms = begins.setdefault(at, now_ms)
        now_ms = max(now_ms, begin_ms + outlines[at].at_ms[index])
        yield _Place(group[at], index, now_ms)


def _capped(outlines: Sequence[Outline], places: Iterable[_Place]) -> Iterator[_Place]:
    """Shorten the pauses in which no game is in progress."""
    running: set[int] = set()
    less_ms = 0
    last: _Place | None = None
    for place in places:
        if not running and last is not None:
            less_ms += max(0, place.at_ms - last.at_ms - _GAP_MS)
        markers, _ = outlines[place.game].facts[place.at]
        if markers[:1] == ("begin",):
            running.add(place.game)
        elif markers[:1] == ("end",):
            running.discard(place.game)
        last = place
        yield place._replace(at_ms=place.at_ms - less_ms) if less_ms else place
