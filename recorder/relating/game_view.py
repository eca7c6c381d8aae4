"""A game of one source, values for comparing it with others, and how much equal times and orders prove.

Two games with equal moves may print equal times by chance, and players' habits make it likelier: programs move at once
for a whole opening, and then take a second for each move. So the information in a time depends on the times of this
game, not on the values that it could have. A habit is a distribution of seconds that depends on the side to move and on
whether its move before took no second, one or more. Of all habits, the shares counted in this game make its times the
likeliest; under each habit a repetition prints the same row with a probability of at most 2 ** -``bits_of``.
``REQUIRED_BITS`` are needed, so among a million pairs of games with equal moves one is taken for the other with a
probability below 2 ** -20. Programs that move at once, or always within the same second, never reach it.

The order of two boards' lines is measured in the same way (``order_bits``). The habit is that which board moves next
depends on the last ``_MEMORY`` lines of both. Players of constant think times have another habit: it puts fewer than
40 bits into 120 lines, which is why no more are counted.
"""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log2
from typing import NamedTuple

from recorder.model import (
    ELAPSED_DERIVED,
    EXACT,
    EventKind,
    Game,
    Observation,
    ObservationKind,
    Origin,
    Ply,
    StartFacts,
    TimeBasis,
)

LIVE_KINDS = frozenset((ObservationKind.LIVE, ObservationKind.ENGINE))
"""Of observations that were made while the game went on."""

SKEW_MS = 3_000
"""Within this time two connections get the same line, unless one of them is stuck or its clock is wrong."""

DAY_MS = 86_400_000

_HOUR_MS = 3_600_000
_EAST_MS, _WEST_MS = 14 * _HOUR_MS, 12 * _HOUR_MS  # how far local time is from UTC at most
_SECOND_MS = 1_000


class Spent(NamedTuple):
    """What a move took. ``fine``: in milliseconds. ``printed``: not computed from two clocks."""

    ms: int
    fine: bool
    printed: bool

    def equals(self, other: Spent) -> bool:
        """Servers cut what they print in seconds (others may round it); two computed times may differ by one."""
        if self.fine and other.fine:
            return self.ms == other.ms
        if not (self.printed and other.printed):
            return abs(self.ms - other.ms) <= _SECOND_MS
        if self.fine is other.fine:
            return self.ms == other.ms
        fine, coarse = (self, other) if self.fine else (other, self)
        return -_SECOND_MS // 2 <= fine.ms - coarse.ms < _SECOND_MS


@dataclass
class View:
    """Computed once; ``source`` is the SHA-256, or None."""

    game: Game
    source: str | None = field(init=False)

    def __post_init__(self) -> None:
        named = (observation.source for observation in self.game.observations)
        self.source = next((source.sha256 for source in named if source is not None), None)

    @cached_property
    def plies(self) -> dict[int, Ply]:
        return {ply.ply: ply for ply in self.game.plies}

    @cached_property
    def live(self) -> list[Observation]:
        """What was seen while the game went on."""
        return [observation for observation in self.game.observations if observation.kind in LIVE_KINDS]

    @cached_property
    def live_plies(self) -> frozenset[int]:
        live = {number for number, observation in enumerate(self.game.observations) if observation.kind in LIVE_KINDS}
        return frozenset(
            ply
            for part in self.game.segments
            if part.observation in live
            for ply in range(part.from_ply, part.to_ply + 1)
        )

    @cached_property
    def starts(self) -> list[StartFacts]:
        """Facts about the move before the first boards of observations that begin in mid-game."""
        return [live.start for live in self.live if live.start is not None and live.start.ply > 0]

    @cached_property
    def lasting_starts(self) -> list[StartFacts]:
        """Those of ``starts`` whose move was not taken back later."""
        lasting = []
        for observation in self.live:
            start, rows = observation.start, observation.lines[0].rows if observation.lines else []
            if start is not None and start.ply > 0 and (not rows or rows[0][0] > start.ply):
                lasting.append(start)
        return lasting

    @cached_property
    def last_board(self) -> StartFacts | Ply | None:
        """The last board that was seen while the game went on: that of a move, else the one it was joined at."""
        if self.live_plies:
            return self.plies[max(self.live_plies)]
        return self.starts[-1] if self.starts else None

    @cached_property
    def in_sight_ms(self) -> int | None:
        """When its feed was lost, or the log ended, in the basis of its times; None: not known."""
        events = self.live[-1].events if self.live else []
        return next((event.at_ms for event in reversed(events) if event.kind is EventKind.FEED), None)

    @cached_property
    def first_board(self) -> StartFacts | Ply | None:
        """Servers may print the board that was joined with its last move's clocks, or with one that has run since."""
        if not self.starts:
            return None
        joined = self.starts[0].ply
        later = [number for number in self.live_plies if number > joined]
        return self.plies[min(later)] if later else self.starts[0]

    @cached_property
    def span_ms(self) -> tuple[int, int] | None:
        """From when to when it was seen, in UTC; None: not known."""
        if self.game.time_basis is not TimeBasis.UTC:
            return None
        begun = [observation.started_at_ms for observation in self.live if observation.started_at_ms is not None]
        ended = [observation.ended_at_ms for observation in self.live if observation.ended_at_ms is not None]
        if self.game.ended_at_ms is not None:  # a game may end a while after its last move
            ended.append(self.game.ended_at_ms)
        return (min(begun), max([*ended, *begun])) if begun else None

    @cached_property
    def live_spans_ms(self) -> list[tuple[int, int]]:
        """From the first to the last line of each unbroken observation, where ``span_ms`` is known."""
        times = [(observation.started_at_ms, observation.ended_at_ms) for observation in self.live]
        return [(begin, end) for begin, end in times if begin is not None and end is not None]

    @cached_property
    def numbers(self) -> frozenset[int]:
        """The numbers under which it was seen: a resumed game may get another one."""
        numbers = {self.game.game_no, *(observation.game_no for observation in self.live)}
        return frozenset(number for number in numbers if number is not None)

    @cached_property
    def begun_ms(self) -> tuple[int, int] | None:
        """Of when it may have begun, in UTC; a list's date is by the server's clock, which may be wrong."""
        game = self.game
        if self.span_ms is not None:
            return self.span_ms[0], self.span_ms[0]
        if any(observation.kind is not ObservationKind.PGN for observation in game.observations):
            return None
        begun_ms, latest_ms = game.started_at_ms, game.latest_start_ms
        if begun_ms is not None and latest_ms is not None and game.time_basis is TimeBasis.UTC:
            return begun_ms, latest_ms
        if begun_ms is not None and latest_ms is not None and game.time_basis is TimeBasis.LOCAL:
            return begun_ms - _EAST_MS, latest_ms + _WEST_MS
        if game.date_text is None:
            return None
        try:
            day = datetime.datetime.fromisoformat(game.date_text).replace(tzinfo=datetime.UTC)
        except ValueError:
            return None
        day_ms = int(day.timestamp()) * 1_000
        return day_ms - _EAST_MS, day_ms + DAY_MS + _WEST_MS

    @cached_property
    def listed_ms(self) -> int | None:
        """When the list of a game without live observation was printed, in UTC; None: unknown."""
        if self.live or self.game.time_basis is not TimeBasis.UTC:
            return None
        listed = [seen.started_at_ms for seen in self.game.observations if seen.kind is ObservationKind.MOVELIST]
        return min((at_ms for at_ms in listed if at_ms is not None), default=None)

    @cached_property
    def spent_ms(self) -> dict[int, Spent]:
        """What each move took: as printed, or by the clocks where only they were."""
        spent: dict[int, Spent] = {}
        for number, ply in self.plies.items():
            if number in self.unlisted:
                continue
            before, clock = self.plies.get(number - 2), ply.clock_ms
            if ply.elapsed_ms is not None and ply.precision_code not in ELAPSED_DERIVED:
                spent[number] = Spent(ply.elapsed_ms, ply.precision_code in EXACT, True)
            elif before is not None and clock is not None and (left := before.clock_ms) is not None:
                spent_ms = left + 1_000 * (self.increment_s(number) or 0) - clock
                spent[number] = Spent(spent_ms, ply.precision_code in EXACT, False)
        return spent

    @cached_property
    def unlisted(self) -> frozenset[int]:
        """Some servers print 0 for all that was played before a game was adjourned: it is no time that was taken."""
        unlisted = set()
        for number, ply in sorted(self.plies.items()):
            if ply.origin_code != Origin.MOVELIST or ply.elapsed_ms:
                break
            unlisted.add(number)
        return frozenset(unlisted)

    @cached_property
    def opening(self) -> tuple[int, ...]:
        moves: list[int] = []
        while (ply := self.plies.get(len(moves) + 1)) is not None and ply.move is not None:
            moves.append(ply.move)
        return tuple(moves)

    def increment_s(self, ply: int) -> int | None:
        return self.game.increment_s if ply % 2 else self.game.black_increment_s


def same_move(ply: Ply, other: Ply) -> bool:
    """Whether two plies are the same move, by their squares or else by their SAN."""
    if ply.move is not None and other.move is not None:
        return ply.move == other.move
    return ply.san.rstrip("+#") == other.san.rstrip("+#")


def may_meet(span: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """Whether two spans of time may be of one game; None: not known when."""
    return span is None or other is None or (span[0] <= other[1] + SKEW_MS and other[0] <= span[1] + SKEW_MS)


REQUIRED_BITS = 40
_LONG_S = 2
_MEMORY = 4
_MOST_LINES = 120  # programs that always think for the same time stay below 40 bits as long as no more are counted


def bits_of(seconds: Mapping[int, int]) -> float:
    """``seconds``: ply → seconds taken, or lag in ms. A ply adds nothing if its side's move before is not there."""
    # The entropy of the times under the habit that fits them best: for each time, its count × log2(all / its count).
    habits: Counter[tuple[int, int]] = Counter()
    times: Counter[tuple[int, int, int]] = Counter()
    for ply, spent_s in sorted(seconds.items()):
        before_s = seconds.get(ply - 2)
        if before_s is not None:
            habit = ply % 2, min(before_s, _LONG_S)
            habits[habit] += 1
            times[*habit, spent_s] += 1
    return sum(count * log2(habits[side, before] / count) for (side, before, _), count in times.items())


def order_bits(boards: Sequence[bool]) -> float:
    """``boards``: for each line, in the log's order, whether it is of the first board; short cycles give nearly 0."""
    boards = boards[:_MOST_LINES]
    lines = Counter(zip(*(boards[start:] for start in range(_MEMORY + 1)), strict=False))
    habits: Counter[tuple[bool, ...]] = Counter()
    for line, count in lines.items():
        habits[line[:-1]] += count
    return sum(count * log2(habits[line[:-1]] / count) for line, count in lines.items())
