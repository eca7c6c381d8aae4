"""The moments of recorded games, matches and bytes.

What a game's moments hold says what happened, in the order in which the log has it: boards (``Begin``, ``Shown``),
hands, events and the end. Arrival times are taken where they are known. Else a move comes as much later than the one
before as it took by what was printed, or by the mover's clocks; what has no time at all comes at once, or after a pace.
"""

from __future__ import annotations

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final, NamedTuple

from recorder.events import Chunk
from recorder.model import (
    EventKind,
    Game,
    GameEvent,
    HoldingsChange,
    LineKind,
    LinkKind,
    Observation,
    Origin,
    Ply,
    TimeBasis,
)
from recorder.relating.match import Match, board_order, timeline
from recorder.replay.timing import Moment, Timing

__all__ = [
    "Begin",
    "End",
    "GameMoment",
    "Shown",
    "What",
    "moments_of_chunks",
    "moments_of_game",
    "moments_of_games",
    "placed",
]

_LIVE: Final = frozenset((Origin.FRAME, Origin.DELTA, Origin.DATAGRAM, Origin.ENGINE))
_LEAST_GAP_MS: Final = 1000


class Begin(NamedTuple):
    """An observation's first board. ``observation`` is its place in the game's; None: the game has none."""

    game: Game
    observation: int | None


class Shown(NamedTuple):
    """A ply comes on the board; ``line`` is that of ``observation`` in which it stands, 0 for the main line."""

    ply: Ply
    observation: int
    line: int


class End(NamedTuple):
    """Nothing more is known of this game."""

    game: Game


What = Begin | Shown | HoldingsChange | GameEvent | End
GameMoment = Moment[What]


class _Item(NamedTuple):
    """One thing of a game: what sorts it within its observation, and its arrival."""

    offset: int
    seq: int
    what: What
    at_ms: int | None


def moments_of_game(game: Game, number: int = 0, pace_ms: int = 0) -> list[GameMoment]:
    """What happened in a game, from its first board to its end.

    Args:
        game: any.
        number: the game's place in the replay.
        pace_ms: how long a move takes of which nothing tells it.
    Returns:
        Moments; the first is ``Begin`` at 0, the last ``End``. Markers are ``begin``, ``end`` and the kinds of events:
        ``takeback``, ``result``, ``chat``, ``gap`` …, and for a notice its own (``draw-offer``).
    """
    return _timed(game, number, pace_ms)[0]


def _timed(game: Game, number: int, pace_ms: int) -> tuple[list[GameMoment], int | None]:
    """A game's moments, and the arrival time that stands for 0 among them, if any is known."""
    items = list(_items(game))
    times, zero_ms = _times(game, items, pace_ms)
    ply = game.start_ply
    moments: list[GameMoment] = []
    for item, (at_ms, timing) in zip(items, times, strict=True):
        ply = _ply_after(item.what, game, ply)
        moments.append(Moment(at_ms, item.what, number, ply, _markers(item.what), timing))
    return moments, zero_ms


def _ply_after(what: What, game: Game, ply: int) -> int:
    if isinstance(what, Shown):
        return what.ply.ply
    if isinstance(what, Begin):
        start = None if what.observation is None else game.observations[what.observation].start
        return game.start_ply if start is None else start.ply
    if isinstance(what, GameEvent) and what.kind is EventKind.TAKEBACK and what.value is not None:
        return max(what.ply - what.value, 0)
    return ply


def _markers(what: What) -> tuple[str, ...]:
    if isinstance(what, Begin):
        return ("begin",)
    if isinstance(what, End):
        return ("end",)
    if isinstance(what, GameEvent):
        notice = what.kind is EventKind.NOTICE and what.detail
        return (what.kind.value, what.detail) if notice else (what.kind.value,)
    return ()


def _items(game: Game) -> Iterator[_Item]:
    """Everything in its order: segment by segment, within an observation as it was received."""
    parts: list[list[_Item]] = []
    used: set[int] = set()
    for place, segment in enumerate(game.segments):
        number = segment.observation
        seen = game.observations[number]
        items = sorted(_seen(game, number), key=lambda item: (item.offset, item.seq))
        until = _first_offset(seen, game, place + 1)
        first = number not in used
        used.add(number)
        begin = 0 if first else _first_offset_of(seen, segment.from_ply)
        parts.append([item for item in items if begin <= item.offset < until])
    if not game.witnesses:  # boards on which nothing was played any more; of several logs they would be the same ones
        parts += [
            sorted(_seen(game, number), key=lambda item: (item.offset, item.seq))
            for number, seen in enumerate(game.observations)
            if number not in used and (seen.start is not None or not game.segments)
        ]
    found = [item for part in parts for item in part]
    if not found or not isinstance(found[0].what, Begin):
        offset = found[0].offset if found else 0
        found.insert(0, _Item(offset, -1, Begin(game, None), None))
    yield from found
    yield _Item(found[-1].offset, found[-1].seq + 1, End(game), found[-1].at_ms)


def _first_offset(seen: Observation, game: Game, after: int) -> float:
    """Where the next segment of this observation begins, from a place in the segments on."""
    for segment in game.segments[after:]:
        if game.observations[segment.observation] is seen:
            return _first_offset_of(seen, segment.from_ply)
    return float("inf")


def _first_offset_of(seen: Observation, ply: int) -> int:
    return next((one.offset for one in seen.lines[0].plies if one.ply >= ply), 0)


def _seen(game: Game, number: int) -> Iterator[_Item]:
    """An observation's things; of its main line those that are in the game's."""
    seen = game.observations[number]
    ranges = [(one.from_ply, one.to_ply) for one in game.segments if one.observation == number]
    start = seen.start
    if start is not None:
        yield _Item(start.offset, -1, Begin(game, number), start.at_ms)
    for line in seen.lines:
        if line.kind is LineKind.VARIATION:
            continue
        for ply in line.plies:
            if line.number or any(low <= ply.ply <= high for low, high in ranges):
                live = ply.origin in _LIVE
                yield _Item(ply.offset, ply.ply, Shown(ply, number, line.number), ply.at_ms if live else None)
    for change in seen.holdings:
        yield _Item(change.offset, change.seq, change, change.at_ms)
    for event in seen.events:
        yield _Item(event.offset, event.seq, event, event.at_ms)


def _times(game: Game, items: Sequence[_Item], pace_ms: int) -> tuple[list[tuple[int, Timing]], int | None]:
    """For each its time since the first one, and which arrival that is.

    Those without arrival stand between the arrivals around them.
    """
    clocks = [_base_ms(game.base_s), _base_ms(game.black_base_s if game.black_base_s is not None else game.base_s)]
    found: list[tuple[int, Timing]] = []
    now_ms, shift_ms, last_ms = 0, None, 0
    for item in items:
        what = item.what
        took_ms = _took_ms(game, what.ply, clocks) if isinstance(what, Shown) else 0
        told = Timing.UNKNOWN if isinstance(what, Shown) and took_ms is None else Timing.ELAPSED
        now_ms += pace_ms if took_ms is None else max(took_ms, 0)
        if item.at_ms is not None:
            if shift_ms is None:
                shift_ms = now_ms - item.at_ms
            # A clock that was set back does not turn the order; what was inferred before gives way.
            now_ms = last_ms = max(item.at_ms + shift_ms, last_ms)
            told = Timing.ARRIVAL
        found.append((now_ms, told))
    latest_ms = now_ms
    for place in range(len(found) - 1, -1, -1):
        latest_ms = min(latest_ms, found[place][0])
        found[place] = (latest_ms, found[place][1])
    return found, None if shift_ms is None else -shift_ms


def _base_ms(base_s: int | None) -> int | None:
    return None if base_s is None else base_s * 1000


def _took_ms(game: Game, ply: Ply, clocks: list[int | None]) -> int | None:
    """How long a move took as printed, else by the mover's clock before and after it; None: nothing tells it."""
    side = 0 if ply.white_moved else 1
    before_ms = clocks[side]
    after_ms = ply.white_clock_ms if ply.white_moved else ply.black_clock_ms
    for place, told_ms in enumerate((ply.white_clock_ms, ply.black_clock_ms)):
        if told_ms is not None:
            clocks[place] = told_ms
    if ply.elapsed_ms is not None or before_ms is None or after_ms is None:
        return ply.elapsed_ms
    increment_s = game.increment_s if ply.white_moved or game.black_increment_s is None else game.black_increment_s
    # Whether the first move earns the increment differs between servers: never less than nothing.
    return max(before_ms - after_ms + 1000 * (increment_s or 0), 0)


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
    single = [_timed(game, number, pace_ms) for number, game in enumerate(games)]
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
    rank = _by_offset if match is None else _by_timeline(match)
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


def _by_offset(moment: GameMoment, game: Game) -> int | None:
    what = moment.what
    if isinstance(what, Begin):
        return None if what.observation is None else game.observations[what.observation].offset
    if isinstance(what, Shown):
        return what.ply.offset if what.ply.origin in _LIVE else None
    return None if isinstance(what, End) else what.offset


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


def moments_of_chunks(chunks: Iterable[Chunk]) -> Iterator[Moment[Chunk]]:
    """What a log or a journal has of a server's bytes, read by read.

    Bytes without a time come with those before them. A chunk without data, the end of a connection, has the marker
    ``disconnected``.
    """
    begin_ms: int | None = None
    now_ms = 0
    for chunk in chunks:
        timing = Timing.ARRIVAL
        if chunk.at_ms is None:
            timing = Timing.UNKNOWN
        elif begin_ms is None:
            begin_ms = chunk.at_ms - now_ms
        else:
            now_ms = max(now_ms, chunk.at_ms - begin_ms)
        yield Moment(now_ms, chunk, None, None, () if chunk.data else ("disconnected",), timing)


def placed(moments: Sequence[Moment[Chunk]], games: Iterable[Game]) -> list[Moment[Chunk]]:
    """Bytes with what was read from them: which game and ply they show, and markers for what happens there.

    Args:
        moments: of all chunks of one source, in order.
        games: that were read from it, by the same offsets; the first one in it is game 0.
    """
    found = list(moments)
    offsets = [moment.what.offset for moment in found]
    for number, game in enumerate(sorted(games, key=lambda game: game.first_offset)):
        for told in moments_of_game(game, number):
            offset = _by_offset(told, game)
            place = -1 if offset is None else bisect_right(offsets, offset) - 1
            if place < 0:
                continue
            moment = found[place]
            if moment.game is None:
                moment = moment._replace(game=number, ply=told.ply)
            new = tuple(name for name in told.markers if name not in moment.markers)
            found[place] = moment._replace(markers=moment.markers + new)
    return found
