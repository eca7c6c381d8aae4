"""The moments of several games in one replay: which go on together, and what comes first."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from recorder.model import Game, LinkKind, TimeBasis
from recorder.relating.match import Match, board_order, timeline
from recorder.replay.moments import Begin, End, GameMoment, Shown, by_offset, timed_moments

__all__ = ["moments_of_games"]

_LEAST_GAP_MS: Final = 1000


def moments_of_games(games: Sequence[Game], pace_ms: int = 0, gap_ms: int = 5000) -> list[GameMoment]:
    """Several games in one replay.

    Games that went on at the same time do so again: where arrival times tell it, within one log the order of its lines,
    and of the two boards of a bughouse match the order of their moves (``recorder.relating.match``). All others come
    one behind the other.

    Args:
        games: in any order; ``Moment.game`` is the place here.
        pace_ms: how long a move takes of which nothing tells it.
        gap_ms: the longest time between the end of one game and the beginning of the next.
    """
    single = [timed_moments(game, number, pace_ms) for number, game in enumerate(games)]
    moments: list[GameMoment] = []
    begin_ms = 0
    spans = [_span(game, timed) for game, timed in zip(games, single, strict=True)]
    for group in _groups(games, spans):
        if moments:
            begin_ms = moments[-1].at_ms + max(_LEAST_GAP_MS, gap_ms)
        played = _together(games, single, spans, group)
        moments += [moment._replace(at_ms=moment.at_ms + begin_ms) for moment in _capped(played, gap_ms)]
    return moments


class _Span(NamedTuple):
    """Where a game stands among those that can be compared with it."""

    scale: object  # only of one scale
    first: int
    last: int


def _span(game: Game, timed: tuple[list[GameMoment], int | None]) -> _Span:
    moments, zero_ms = timed
    log = _log(game)
    if zero_ms is not None and game.time_basis is not TimeBasis.NONE:
        scale = (game.time_basis, log if game.time_basis is TimeBasis.CLOCK else "")
        return _Span(scale, zero_ms, zero_ms + moments[-1].at_ms)
    if game.witnesses or not game.observations or game.observations[0].start is None:
        return _Span(game.key, 0, 0)
    return _Span(log, game.first_offset, game.last_offset)


def _log(game: Game) -> str:
    """Which log a game's first observation is of; "" where games come from one pipeline."""
    source = game.observations[0].source if game.observations else None
    return "" if source is None else source.sha256


def _groups(games: Sequence[Game], spans: Sequence[_Span]) -> list[list[int]]:
    """Games that are played together: those that overlap, chains of them, and partners."""
    by_key = {game.key: number for number, game in enumerate(games)}
    parent = list(range(len(games)))

    def root(number: int) -> int:
        while parent[number] != number:
            number = parent[number]
        return number

    for number, game in enumerate(games):
        for link in game.links:
            if link.kind is LinkKind.PARTNER and link.key in by_key:
                parent[root(by_key[link.key])] = root(number)
    scales: dict[object, list[int]] = {}
    for number, span in enumerate(spans):
        scales.setdefault(span.scale, []).append(number)
    for members in scales.values():
        members.sort(key=lambda number: spans[number].first)
        reached, holder = None, 0
        for number in members:
            if reached is not None and spans[number].first < reached:
                parent[root(number)] = root(holder)
            if reached is None or spans[number].last > reached:
                reached, holder = spans[number].last, number
    groups: dict[int, list[int]] = {}
    for number in range(len(games)):
        groups.setdefault(root(number), []).append(number)
    # In the order asked for, but those of one scale by their time.
    firsts = {id(group): min(spans[number].first for number in group) for group in groups.values()}
    ordered = list(groups.values())
    places: dict[object, list[int]] = {}
    for at, group in enumerate(ordered):
        places.setdefault(spans[group[0]].scale, []).append(at)
    for ats in places.values():
        inside = sorted((ordered[at] for at in ats), key=lambda group: firsts[id(group)])
        for at, group in zip(ats, inside, strict=True):
            ordered[at] = group
    return ordered


def _together(
    games: Sequence[Game],
    timed: Sequence[tuple[list[GameMoment], int | None]],
    all_spans: Sequence[_Span],
    group: list[int],
) -> list[GameMoment]:
    """One group's moments in one order, times from the group's first moment on."""
    if len(group) == 1:
        return timed[group[0]][0]
    spans = [all_spans[number] for number in group]
    one_scale = len({span.scale for span in spans}) == 1
    match = board_order(games[group[0]], games[group[1]]) if len(group) == 2 and not one_scale else None
    rank = by_offset if match is None else _by_timeline(match)
    ranked = [_ranked(timed[number][0], rank) for number in group]
    zeros_ms = [timed[number][1] for number in group]
    if not one_scale or not isinstance(spans[0].scale, tuple) or None in zeros_ms:
        return _in_order(ranked)
    first_ms = min(zero_ms for zero_ms in zeros_ms if zero_ms is not None)
    shifted = [
        [(place, moment._replace(at_ms=moment.at_ms + (zero_ms or 0) - first_ms)) for place, moment in moments]
        for moments, zero_ms in zip(ranked, zeros_ms, strict=True)
    ]
    # What one read gave came at one time, but still in its order; places in two logs say nothing.
    one_log = len({_log(games[number]) for number in group}) == 1
    merged = heapq.merge(*shifted, key=lambda pair: (pair[1].at_ms, pair[0] if one_log else 0))
    return [moment for _, moment in merged]


def _by_timeline(match: Match) -> Callable[[GameMoment, Game], int | None]:
    places = {(moment.board, moment.ply.ply): place for place, moment in enumerate(timeline(match), 1)}

    def rank(moment: GameMoment, game: Game) -> int | None:
        if not isinstance(moment.what, Shown) or moment.what.line:
            return None
        return places.get(("A" if game is match.a else "B", moment.what.ply.ply))

    return rank


def _ranked(moments: list[GameMoment], rank: Callable[[GameMoment, Game], int | None]) -> list[tuple[int, GameMoment]]:
    """Each with its rank, which never falls; what has none stands with what comes before it, or with the first."""
    begin = moments[0].what
    assert isinstance(begin, Begin)
    ranks = [rank(moment, begin.game) for moment in moments]
    highest = next((place for place in ranks if place is not None), 0)
    found: list[tuple[int, GameMoment]] = []
    for place, moment in zip(ranks, moments, strict=True):
        highest = max(highest, place or 0)
        found.append((highest, moment))
    return found


def _in_order(ranked: list[list[tuple[int, GameMoment]]]) -> list[GameMoment]:
    """Merge by rank; a moment comes as long after its game's first one as it did there, or later."""
    begins: dict[int | None, int] = {}
    moments: list[GameMoment] = []
    now_ms = 0
    for _, moment in heapq.merge(*ranked, key=lambda pair: pair[0]):
        begin_ms = begins.setdefault(moment.game, now_ms)
        now_ms = max(now_ms, begin_ms + moment.at_ms)
        moments.append(moment._replace(at_ms=now_ms))
    return moments


def _capped(moments: list[GameMoment], gap_ms: int) -> list[GameMoment]:
    """Without the time in which no game went on, as far as it is longer than ``gap_ms``."""
    going: set[int | None] = set()
    less_ms = 0
    capped: list[GameMoment] = []
    for last, moment in pairwise([moments[0], *moments]):
        if not going and capped:
            less_ms += max(0, moment.at_ms - last.at_ms - gap_ms)
        if isinstance(moment.what, Begin):
            going.add(moment.game)
        elif isinstance(moment.what, End):
            going.discard(moment.game)
        capped.append(moment._replace(at_ms=moment.at_ms - less_ms) if less_ms else moment)
    return capped
