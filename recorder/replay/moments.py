"""The timed moments of a recorded game or of a log, and long thinks.

A game's moments are what happened, in log order: boards (``Begin``, ``ShownPly``), holdings, events and the end.
Arrival times apply where they are known. Otherwise a move follows the moment before it by its printed time, or by the
change of the mover's clock; a move without any time follows at once, or after a pace.

Positions in a recording, as users write them: ``20w``, ``1:30``, ``+10s``, ``#2``, ``takeback``.

===============  ==================================================================================================
``1:30``         the recorded time: minutes and seconds, or ``1:02:03``, each with thousandths (``1:30.5``); ``90s``
``+10s`` ``-1:0``  this much later, or earlier, than now
``20w`` ``20b``  before White's, Black's 20th move in the game that is shown
``#2``           the beginning of the replay's second game; ``#2/20w`` a move of it
``end``          after the last moment; ``start`` is ``0:00``
``takeback``     the next moment with this marker; ``takeback:3`` the third one of the recording
===============  ==================================================================================================
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from recorder.errors import ReplayError
from recorder.events import Chunk
from recorder.model import (
    EventKind,
    Game,
    GameEvent,
    HoldingsChange,
    LineKind,
    Observation,
    Origin,
    Ply,
    control_of,
    taken_rows,
)
from recorder.replay.timing import ReplayMoment, Timing
from recorder.times import format_clock, in_ms

_LAST: Final = 1 << 30
_LIVE: Final = frozenset((Origin.FRAME, Origin.DELTA, Origin.DATAGRAM, Origin.ENGINE))


class Begin(NamedTuple):
    """An observation's first board; ``observation`` is its index, None: the game has none."""

    game: Game
    observation: int | None


class ShownPly(NamedTuple):
    """``line`` is the line of ``observation`` that contains it; 0 is the main line."""

    ply: Ply
    observation: int
    line: int


class End(NamedTuple):
    game: Game


What = Begin | ShownPly | HoldingsChange | GameEvent | End
GameMoment = ReplayMoment[What]


class _Item(NamedTuple):
    offset: int
    seq: int
    what: What
    at_ms: int | None


def moments_of_game(game: Game, number: int = 0, pace_ms: int = 0) -> list[GameMoment]:
    """What happened in a game, from ``Begin`` at 0 to ``End``.

    Markers are ``begin``, ``end``, the kinds of events (``takeback``, ``result``, ``chat``, ``gap``), and for a notice
    its own name (``draw-offer``).
    """
    return timed_moments(game, number, pace_ms)[0]


def timed_moments(game: Game, number: int, pace_ms: int) -> tuple[list[GameMoment], int | None]:
    """The same moments, and the arrival time that corresponds to 0, if one is known."""
    items = list(_items(game))
    times, zero_ms = _times(game, items, pace_ms)
    ply = game.start_ply
    moments: list[GameMoment] = []
    for item, (at_ms, timing) in zip(items, times, strict=True):
        ply = _ply_after(item.what, game, ply)
        moments.append(ReplayMoment(at_ms, item.what, number, ply, _markers(item.what), timing))
    return moments, zero_ms


def _ply_after(what: What, game: Game, ply: int) -> int:
    if isinstance(what, ShownPly):
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
    """In replay order: by segment, then in the order received within each observation."""
    parts: list[list[_Item]] = []
    items = {
        number: sorted(_seen(game, number), key=lambda item: (item.offset, item.seq))
        for number, observation in enumerate(game.observations)
    }
    ends: list[float] = []  # of each segment: where the observation's next one begins
    begins: dict[int, float] = {}
    for segment in reversed(game.segments):
        ends.append(begins.get(segment.observation, float("inf")))
        begins[segment.observation] = _first_offset_of(game.observations[segment.observation], segment.from_ply)
    used: set[int] = set()
    for segment, until in zip(game.segments, reversed(ends), strict=True):
        number = segment.observation
        seen = game.observations[number]
        begin = _first_offset_of(seen, segment.from_ply) if number in used else 0
        used.add(number)
        first, last = (bisect_left(items[number], at, key=lambda item: item.offset) for at in (begin, until))
        parts.append(items[number][first:last])
    if not game.merged_from:  # trailing boards without moves; in merged logs they would be repeated
        parts += [
            items[number]
            for number, observation in enumerate(game.observations)
            if number not in used and (observation.start is not None or not game.segments)
        ]
    found = [item for part in parts for item in part]
    if not found or not isinstance(found[0].what, Begin):
        offset = found[0].offset if found else 0
        found.insert(0, _Item(offset, -1, Begin(game, None), None))
    yield from found
    yield _Item(found[-1].offset, found[-1].seq + 1, End(game), found[-1].at_ms)


def _first_offset_of(observation: Observation, ply: int) -> int:
    rows = observation.lines[0].rows
    place = bisect_left(rows, ply, key=lambda row: row[0])
    return rows[place][13] if place < len(rows) else 0


def _seen(game: Game, number: int) -> Iterator[_Item]:
    """From the main line only the plies that are in the game."""
    observation = game.observations[number]
    mine = [segment for segment in game.segments if segment.observation == number]
    taken = {row[0] for one in mine for row in taken_rows(one, game.observations)}
    start = observation.start
    if start is not None:
        yield _Item(start.offset, -1, Begin(game, number), start.at_ms)
    for line in observation.lines:
        if line.kind is LineKind.VARIATION:
            continue
        for ply in line.plies:
            if line.number or ply.ply in taken:
                live = ply.origin_code in _LIVE
                yield _Item(ply.offset, ply.ply, ShownPly(ply, number, line.number), ply.at_ms if live else None)
    for change in observation.holdings:
        yield _Item(change.offset, change.seq, change, change.at_ms)
    for event in observation.events:
        ends = event.kind is EventKind.FEED and event.detail == "log ends here"
        seq = _LAST if ends else event.seq  # after the board at the same offset
        yield _Item(event.offset, seq, event, None if ends else event.at_ms)


def _times(game: Game, items: Sequence[_Item], pace_ms: int) -> tuple[list[tuple[int, Timing]], int | None]:
    """Since the first item, and the arrival time of 0; items without one are placed between those around them."""
    clocks = [in_ms(game.base_s), in_ms(game.black_base_s if game.black_base_s is not None else game.base_s)]
    times: list[tuple[int, Timing]] = []
    now_ms, shift_ms, last_ms = 0, None, 0
    for item in items:
        what = item.what
        took_ms = _took_ms(game, what.ply, clocks) if isinstance(what, ShownPly) else 0
        timing = Timing.UNKNOWN if isinstance(what, ShownPly) and took_ms is None else Timing.ELAPSED
        now_ms += pace_ms if took_ms is None else max(took_ms, 0)
        if item.at_ms is not None:
            if shift_ms is None:
                shift_ms = now_ms - item.at_ms
            # A clock that was set back must not change the order; inferred times yield to recorded ones.
            now_ms = last_ms = max(item.at_ms + shift_ms, last_ms)
            timing = Timing.ARRIVAL
        times.append((now_ms, timing))
    latest_ms = now_ms
    for index in range(len(times) - 1, -1, -1):
        latest_ms = min(latest_ms, times[index][0])
        times[index] = (latest_ms, times[index][1])
    return times, None if shift_ms is None else -shift_ms


def _took_ms(game: Game, ply: Ply, clocks: list[int | None]) -> int | None:
    """The printed time of a move, else the change of the mover's clock."""
    side = 0 if ply.white_moved else 1
    before_ms = clocks[side]
    after_ms = ply.clock_ms
    for index, clock_ms in enumerate((ply.white_clock_ms, ply.black_clock_ms)):
        if clock_ms is not None:
            clocks[index] = clock_ms
    if ply.elapsed_ms is not None or before_ms is None or after_ms is None:
        return ply.elapsed_ms
    _, increment_s = control_of(game, ply.white_moved)
    # Servers differ in whether the first move earns the increment, so negative results become 0.
    return max(before_ms - after_ms + 1000 * (increment_s or 0), 0)


def by_offset(moment: GameMoment, game: Game) -> int | None:
    """None: the moment is inferred and has no offset."""
    what = moment.what
    if isinstance(what, Begin):
        return None if what.observation is None else game.observations[what.observation].offset
    if isinstance(what, ShownPly):
        return what.ply.offset if what.ply.origin_code in _LIVE else None
    return None if isinstance(what, End) else what.offset


def long_thinks(moments: Sequence[GameMoment], least_ms: int) -> dict[int, str]:
    """The indexes of the moments before long thinks → the marker ``think``, as input for ``mark``."""
    thinks: dict[int, str] = {}
    boards: dict[int | None, int] = {}
    for index, moment in enumerate(moments):
        what = moment.what
        if isinstance(what, ShownPly) and (what.ply.elapsed_ms or 0) >= least_ms and moment.game in boards:
            thinks[boards[moment.game]] = "think"
        if isinstance(what, Begin | ShownPly):
            boards[moment.game] = index
    return thinks


def moments_of_chunks(chunks: Iterable[Chunk]) -> Iterator[ReplayMoment[Chunk]]:
    """One moment a read; bytes without a time come with those before them, ends have ``disconnected``."""
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
        yield ReplayMoment(now_ms, chunk, None, None, () if chunk.data else ("disconnected",), timing)


def placed(moments: Sequence[ReplayMoment[Chunk]], games: Iterable[Game]) -> list[ReplayMoment[Chunk]]:
    """Add the game, ply and markers that the bytes of a log show; the games' offsets are those of the log."""
    found = list(moments)
    offsets = [moment.what.offset for moment in found]
    for number, game in enumerate(sorted(games, key=lambda game: game.first_offset)):
        for shown in moments_of_game(game, number):
            offset = by_offset(shown, game)
            place = -1 if offset is None else bisect_right(offsets, offset) - 1
            if place < 0:
                continue
            moment = found[place]
            if moment.game is None:
                moment = moment._replace(game=number, ply=shown.ply)
            new = tuple(name for name in shown.markers if name not in moment.markers)
            found[place] = moment._replace(markers=moment.markers + new)
    return found


class AtTime(NamedTuple):
    at_ms: int


class By(NamedTuple):
    """Milliseconds to go forward; negative: back."""

    ms: int


class AtPly(NamedTuple):
    """From 1, in a game from 0; None: the game that is shown."""

    ply: int
    game: int | None = None


class AtGame(NamedTuple):
    """From 0."""

    game: int


class AtMarker(NamedTuple):
    """The ``nth`` one of the recording, from 1; None: the next one."""

    name: str
    nth: int | None = None


class AtEnd(NamedTuple):
    """The end, after the last moment."""


Position = AtTime | By | AtPly | AtGame | AtMarker | AtEnd

_CLOCK: Final = r"(?:(?:(\d{1,4}):)?(\d{1,6}):)?(\d{1,9})(?:\.(\d{1,3}))?"
_TIME: Final = re.compile(rf"([+-])?{_CLOCK}(s)?", re.ASCII)
_PLY: Final = re.compile(r"(?:#([1-9]\d{0,5})/)?([1-9]\d{0,4})([wb])", re.ASCII)
_GAME: Final = re.compile(r"#([1-9]\d{0,5})", re.ASCII)
_MARKER: Final = re.compile(r"([a-z][a-z0-9-]{0,40})(?::([1-9]\d{0,5}))?", re.ASCII)


def parse_position(text: str) -> Position:
    text = text.strip().lower()
    if text == "start":
        return AtTime(0)
    if text == "end":
        return AtEnd()
    if match := _PLY.fullmatch(text):
        game, number, side = match.groups()
        return AtPly(2 * int(number) - (side == "w"), None if game is None else int(game) - 1)
    if match := _GAME.fullmatch(text):
        return AtGame(int(match[1]) - 1)
    match = _TIME.fullmatch(text)
    if match is not None and (match[3] is not None) != (match[6] is not None):
        sign, hours, minutes, seconds, fraction, _ = match.groups()
        ms = ((int(hours or 0) * 60 + int(minutes or 0)) * 60 + int(seconds)) * 1000 + int(
            (fraction or "").ljust(3, "0")
        )
        return AtTime(ms) if sign is None else By(-ms if sign == "-" else ms)
    if match := _MARKER.fullmatch(text):
        return AtMarker(match[1], None if match[2] is None else int(match[2]))
    raise ReplayError(
        f"{text!r} is not a position in a recording; write a move (20w), a time (1:30, +10s), #2 or an event."
    )


def format_position(position: AtTime | AtPly | AtMarker) -> str:
    if isinstance(position, AtTime):
        return format_clock(position.at_ms, exact=False)
    if isinstance(position, AtMarker):
        return position.name if position.nth is None else f"{position.name}:{position.nth}"
    game = "" if position.game is None else f"#{position.game + 1}/"
    return f"{game}{(position.ply + 1) // 2}{'w' if position.ply % 2 else 'b'}"


def seek(moments: Sequence[ReplayMoment[Any]], position: Position, place: int = 0, at_ms: int = 0) -> tuple[int, int]:
    """The index of the moment that comes next (their number: none), and the time there; ``place``, ``at_ms``: now."""
    last_ms = moments[-1].at_ms if moments else 0
    if isinstance(position, AtEnd):
        return len(moments), last_ms
    if isinstance(position, AtTime | By):
        to_ms = max(0, at_ms + position.ms if isinstance(position, By) else position.at_ms)
        if to_ms > last_ms:
            return len(moments), last_ms
        return bisect_left(moments, to_ms, key=_at_ms), to_ms
    if isinstance(position, AtPly):
        found = _find_ply(moments, position, place)
    elif isinstance(position, AtGame):
        found = _find_game(moments, position.game)
    else:
        found = _find_marker(moments, position, place)
    return found, moments[found].at_ms


def _at_ms(moment: ReplayMoment[Any]) -> int:
    return moment.at_ms


def _find_game(moments: Sequence[ReplayMoment[Any]], game: int) -> int:
    for index, moment in enumerate(moments):
        if moment.game == game:
            return index
    raise ReplayError(f"This recording has no game {game + 1}.")


def _find_ply(moments: Sequence[ReplayMoment[Any]], position: AtPly, place: int) -> int:
    game = position.game
    if game is None:
        shown = [*moments[place - 1 :: -1], *moments] if place else moments
        game = next((moment.game for moment in shown if moment.game is not None), None)
    last = 0
    for index, moment in enumerate(moments):
        if moment.game == game and moment.ply is not None:
            if moment.ply >= position.ply:
                return index
            last = max(last, moment.ply)
    written = format_position(AtPly(position.ply))
    raise ReplayError(
        f"This recording has no move {written} in that game: it ends with {format_position(AtPly(last))}."
        if last
        else f"This recording has no move {written}: it shows no game."
    )


def _find_marker(moments: Sequence[ReplayMoment[Any]], position: AtMarker, place: int) -> int:
    name, nth = position
    found = [index for index, moment in enumerate(moments) if name in moment.markers]
    if nth is None:
        found, nth = [at for at in found if at > place or (at == place == 0)], 1
    if len(found) >= nth:
        return found[nth - 1]
    known = sorted({marker for moment in moments for marker in moment.markers})
    where = " after this place" if position.nth is None and place else ""
    raise ReplayError(
        f"This recording has no {format_position(position)!r}{where}; it has {', '.join(known) or 'none'}."
    )
