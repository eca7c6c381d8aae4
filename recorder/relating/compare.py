"""Whether two sources tell of the same game: moves, times, and when it was.

The rule: the same server and players; equal moves; equal times as far as they were printed; the same moment where both
know it. Games are often repeated, so equal moves say little, and times that any quick game has say nothing: there must
be enough of them that differ from each other, or that tell enough together with equal clocks (``information``), or both
sources must have seen the moves in the same moment. What is not told is left open, since a false merge is worse than a
missed one.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

from recorder.model import (
    CLOCK_DERIVED,
    ELAPSED_DERIVED,
    EXACT,
    Game,
    GameKind,
    Observation,
    ObservationKind,
    Ply,
    StartFacts,
    TimeBasis,
)
from recorder.relating.dated import begun_alike
from recorder.relating.information import REQUIRED_BITS, bits_of

__all__ = ["LIVE_KINDS", "SKEW_MS", "Verdict", "Verdicts", "View", "clock_of", "compare", "headers_differ", "may_meet"]

LIVE_KINDS = frozenset((ObservationKind.LIVE, ObservationKind.ENGINE))
"""Observations that were made while the game went on."""

SKEW_MS = 3_000
"""Within this time two connections get the same line, unless one of them is stuck or its clock is wrong."""

_LOST_ENDS = ("log-ends", "lost-feed", "unobserved")
_TELLING_MOVES = 12
_TELLING_VALUES = 4
_TELLING_SECONDS = 5
_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_EAST_MS, _WEST_MS = 14 * _HOUR_MS, 12 * _HOUR_MS  # how far local time is from UTC at most
_CLOCK_MS = 60  # servers that print milliseconds compute a running clock anew for every reader
_SECOND_MS = 1_000


class Verdict(IntEnum):
    """What a comparison says."""

    OPEN = 0  # nothing tells
    SAME = 1
    APART = 2  # they contradict each other


class Verdicts(NamedTuple):
    """A verdict and the reason, as a clause."""

    verdict: Verdict
    why: str


class _Spent(NamedTuple):
    """What a move took. ``fine``: in milliseconds. ``printed``: not computed from two clocks."""

    ms: int
    fine: bool
    printed: bool

    def equals(self, other: _Spent) -> bool:
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
    """A game as one source tells it, and what comparing it needs, computed once.

    Attributes:
        game: as ``tracking`` gave it. source: whose it is: SHA-256, or None.
    """

    game: Game
    source: str | None = field(init=False)

    def __post_init__(self) -> None:
        named = (seen.source for seen in self.game.observations)
        self.source = next((source.sha256 for source in named if source is not None), None)

    @cached_property
    def plies(self) -> dict[int, Ply]:
        """The main line by ply."""
        return {ply.ply: ply for ply in self.game.plies}

    @cached_property
    def live(self) -> list[Observation]:
        """What was seen while the game went on."""
        return [seen for seen in self.game.observations if seen.kind in LIVE_KINDS]

    @cached_property
    def live_plies(self) -> frozenset[int]:
        """Numbers of the plies that were seen so."""
        live = {number for number, seen in enumerate(self.game.observations) if seen.kind in LIVE_KINDS}
        return frozenset(
            ply
            for part in self.game.segments
            if part.observation in live
            for ply in range(part.from_ply, part.to_ply + 1)
        )

    @cached_property
    def starts(self) -> list[StartFacts]:
        """What the first boards of observations that begin in mid-game tell of the move before them."""
        return [seen.start for seen in self.live if seen.start is not None and seen.start.ply > 0]

    @cached_property
    def span_ms(self) -> tuple[int, int] | None:
        """From when to when it was seen, in UTC; None: not known."""
        if self.game.time_basis is not TimeBasis.UTC:
            return None
        begun = [seen.started_at_ms for seen in self.live if seen.started_at_ms is not None]
        ended = [seen.ended_at_ms for seen in self.live if seen.ended_at_ms is not None]
        return (min(begun), max([*ended, *begun])) if begun else None

    @cached_property
    def begun_ms(self) -> tuple[int, int] | None:
        """The earliest and the latest moment in UTC when it may have begun; None: nothing tells.

        The date that a list prints is that of the server's clock, which may stand anywhere.
        """
        game = self.game
        if self.span_ms is not None:
            return self.span_ms[0], self.span_ms[0]
        if any(seen.kind is not ObservationKind.PGN for seen in game.observations):
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
        return day_ms - _EAST_MS, day_ms + _DAY_MS + _WEST_MS

    @cached_property
    def listed_ms(self) -> int | None:
        """When a game was printed that nobody saw going on, in UTC; None: not known."""
        if self.live or self.game.time_basis is not TimeBasis.UTC:
            return None
        told = [seen.started_at_ms for seen in self.game.observations if seen.kind is ObservationKind.MOVELIST]
        return min((at_ms for at_ms in told if at_ms is not None), default=None)

    @cached_property
    def spent_ms(self) -> dict[int, _Spent]:
        """What each move took: as printed, or by the clocks where only they were."""
        found: dict[int, _Spent] = {}
        for number, ply in self.plies.items():
            before, clock = self.plies.get(number - 2), clock_of(ply)
            if ply.elapsed_ms is not None and ply.precision not in ELAPSED_DERIVED:
                found[number] = _Spent(ply.elapsed_ms, ply.precision in EXACT, True)
            elif before is not None and clock is not None and (left := clock_of(before)) is not None:
                spent_ms = left + 1_000 * (self.increment_s(number) or 0) - clock
                found[number] = _Spent(spent_ms, ply.precision in EXACT, False)
        return found

    @cached_property
    def opening(self) -> tuple[int, ...]:
        """The moves from the first ply on, as far as they are known one after another."""
        found: list[int] = []
        while (ply := self.plies.get(len(found) + 1)) is not None and ply.move is not None:
            found.append(ply.move)
        return tuple(found)

    def increment_s(self, ply: int) -> int | None:
        """The increment of the side that makes this ply."""
        return self.game.increment_s if ply % 2 else self.game.black_increment_s


def clock_of(ply: Ply) -> int | None:
    """The mover's clock after the move."""
    return ply.white_clock_ms if ply.ply % 2 else ply.black_clock_ms


def may_meet(one: tuple[int, int] | None, other: tuple[int, int] | None) -> bool:
    """Whether two spans of time may be of one game; None: not known when."""
    return one is None or other is None or (one[0] <= other[1] + SKEW_MS and other[0] <= one[1] + SKEW_MS)


def _other_day(one: View, other: View) -> bool:
    """Whether they began on different days, as far as that is known; a resumed game may have the later one's."""
    begun = one.begun_ms, other.begun_ms
    if begun[0] is None or begun[1] is None:
        return False
    if any(view.game.continued or view.game.start_ply or view.game.end == "adjourned" for view in (one, other)):
        return False
    return begun[0][0] > begun[1][1] + _DAY_MS or begun[1][0] > begun[0][1] + _DAY_MS


def _printed_before(listed: View, seen: View) -> bool:
    """Whether the one was printed before the other was played."""
    return listed.listed_ms is not None and seen.span_ms is not None and listed.listed_ms + SKEW_MS < seen.span_ms[0]


def _seen_again(earlier: View, later: View) -> bool:
    """Whether a source that lost a game may have seen it again: later, under its number, in mid-game."""
    before, after = earlier.game, later.game
    return (
        earlier.source == later.source
        and before.end in _LOST_ENDS
        and before.last_offset <= after.first_offset
        and before.game_no is not None
        and before.game_no == after.game_no
        and not after.continued
        and bool(later.starts)
        and max(earlier.live_plies, default=0) <= later.starts[0].ply
    )


def _ended_before(one: View, other: View) -> bool:
    """Whether all of one was seen, and the other has more moves."""
    game = one.game
    return (
        game.complete and game.end in ("result", "aborted") and max(one.plies, default=0) < max(other.plies, default=0)
    )


def compare(one: View, other: View) -> Verdicts:
    """Whether two games, told by two sources, are one.

    It does not matter which comes first.

    Args:
        one, other: played games of the same players with the same colours.
    """
    why = headers_differ(one.game, other.game)
    if why is not None:
        return Verdicts(Verdict.APART, why)
    if not (_seen_again(one, other) or _seen_again(other, one)):
        if one.live and other.live and one.source == other.source:
            return Verdicts(Verdict.APART, "one source saw both")
        if not may_meet(one.span_ms, other.span_ms):
            return Verdicts(Verdict.APART, "they were at other times")
    if _other_day(one, other) or _printed_before(one, other) or _printed_before(other, one):
        return Verdicts(Verdict.APART, "they were on other days")
    if _ended_before(one, other) or _ended_before(other, one):
        return Verdicts(Verdict.APART, "one was over when the other went on")
    common = sorted(one.plies.keys() & other.plies.keys())
    for number in common:
        if not _same_move(one.plies[number], other.plies[number]):
            return Verdicts(Verdict.APART, f"other moves at ply {number}")
    told = _Told()
    for number in common:
        if not told.take(one, other, number):
            return Verdicts(Verdict.APART, f"other times at ply {number}")
    for mine, its in ((one, other), (other, one)):
        for start in mine.starts:
            if not told.take_start(start, its):
                return Verdicts(Verdict.APART, f"another position or clock at ply {start.ply}")
    verdicts = told.verdict(len(common), _same_number(one.game, other.game))
    if verdicts.verdict is Verdict.OPEN and common and (begun := begun_alike(one, other)) is not None:
        return Verdicts(Verdict.SAME, f"{_counted(len(common), told.times)}, {begun}")
    return verdicts


def headers_differ(one: Game, other: Game) -> str | None:
    if one.kind is not GameKind.PLAYED or other.kind is not GameKind.PLAYED:
        return "one of them was not played"
    if (one.server, one.server or one.dialect) != (other.server, other.server or other.dialect):
        return "not known to be of one server"
    if one.server is None and one.dialect is None:
        return "of servers that are not known"
    handles = [(game.white.handle.lower(), game.black.handle.lower()) for game in (one, other)]
    if handles[0] != handles[1]:
        return "of other players"
    facts = (
        ("variant", None if one.variant_inferred else one.variant, None if other.variant_inferred else other.variant),
        ("rating", one.rated, other.rated),
        ("increment", one.increment_s, other.increment_s),
        ("start position", one.start_fen and one.start_ply == 0, other.start_fen and other.start_ply == 0),
    )
    for what, mine, its in facts[:3]:
        if mine is not None and its is not None and mine != its:
            return f"another {what}"
    if one.base_s != other.base_s and not (None in (one.base_s, other.base_s) or 0 in (one.base_s, other.base_s)):
        return "another base time"
    if facts[3][1] and facts[3][2] and one.start_fen != other.start_fen:
        return "another start position"
    results = {game.result for game in (one, other) if game.end == "result"} - {"*"}
    return "another result" if len(results) > 1 else None


def _same_move(one: Ply, other: Ply) -> bool:
    if one.move is not None and other.move is not None:
        return one.move == other.move
    return one.san.rstrip("+#") == other.san.rstrip("+#")


def _same_number(one: Game, other: Game) -> bool:
    return one.game_no is None or other.game_no is None or one.game_no == other.game_no


class _Told:
    """What was compared, and how much it tells."""

    def __init__(self) -> None:
        self.times = 0  # that were compared
        self.fine: list[int] = []  # in milliseconds, the same in both
        self.coarse: list[int] = []  # in seconds
        self.apart_ms: list[int] = []  # between the arrivals of one line
        self.spent_s: dict[int, int] = {}  # of plies whose clocks both saw and whose times both printed
        self.lags_ms: dict[int, int] = {}  # of the same plies
        self.exact = True  # those times are equal in whole seconds, cut
        self.cut = self.rounded = True  # so clocks in seconds may have come from those in milliseconds

    def take(self, one: View, other: View, number: int) -> bool:
        """Compare the times of a ply; False: they contradict each other."""
        mine, its = one.plies[number], other.plies[number]
        both_live = number in one.live_plies and number in other.live_plies
        if both_live and one.span_ms and other.span_ms and mine.at_ms is not None and its.at_ms is not None:
            self.apart_ms.append(abs(mine.at_ms - its.at_ms))
        spent = one.spent_ms.get(number), other.spent_ms.get(number)
        clocks, precisions = (clock_of(mine), clock_of(its)), (mine.precision, its.precision)
        if spent[0] is not None and spent[1] is not None and not self._take_spent(spent[0], spent[1]):
            # Between two clocks a takeback or added time may stand, which a saved game does not have.
            computed = not (spent[0].printed and spent[1].printed) and number not in one.live_plies & other.live_plies
            if not computed or None in clocks or not CLOCK_DERIVED.isdisjoint(precisions):
                return False
        if (both_live or any(one is None or not one.printed for one in spent)) and not _close(clocks, precisions):
            return False
        if both_live and CLOCK_DERIVED.isdisjoint(precisions):
            if mine.lag_ms is not None and its.lag_ms is not None:
                self.lags_ms[number] = mine.lag_ms
                self.exact &= mine.lag_ms == its.lag_ms
            self._take_seconds(number, spent, clocks, (mine.precision in EXACT, its.precision in EXACT))
        return True

    def _take_seconds(
        self,
        number: int,
        spent: tuple[_Spent | None, _Spent | None],
        clocks: tuple[int | None, int | None],
        fine: tuple[bool, bool],
    ) -> None:
        """Compare what both print of a ply in whole seconds."""
        (mine, its), (my_clock, its_clock) = spent, clocks
        if mine is None or its is None or my_clock is None or its_clock is None or not (mine.printed and its.printed):
            return
        self.spent_s[number] = mine.ms // _SECOND_MS
        self.exact &= self.spent_s[number] == its.ms // _SECOND_MS
        if fine[0] is fine[1]:
            self.exact &= fine[0] or my_clock == its_clock
            return
        left_ms = my_clock - its_clock if fine[0] else its_clock - my_clock
        self.cut &= 0 <= left_ms < _SECOND_MS
        self.rounded &= abs(left_ms) <= _SECOND_MS // 2

    def _take_spent(self, mine: _Spent, its: _Spent) -> bool:
        if not mine.equals(its):
            return False
        self.times += 1
        if mine.fine and its.fine:
            self.fine.append(mine.ms)
        elif mine.ms // _SECOND_MS and its.ms // _SECOND_MS:
            self.coarse.append(min(mine.ms, its.ms) // _SECOND_MS)
        return True

    def take_start(self, start: StartFacts, its: View) -> bool:
        """Compare what a first board tells of the move before it with that move."""
        ply = its.plies.get(start.ply)
        if ply is None:
            return True
        if start.pretty not in ("none", "") and start.pretty.rstrip("+#") != ply.san.rstrip("+#"):
            return False
        if start.ply not in its.live_plies:
            return True
        clock = start.white_clock_ms if start.ply % 2 else start.black_clock_ms
        if not _close((clock, clock_of(ply)), (start.precision, ply.precision)):
            return False
        self.times += 1
        return True

    def verdict(self, moves: int, same_number: bool) -> Verdicts:
        """What all of it says."""
        fine = len({value for value in self.fine if value > 0})
        coarse = len({value for value in self.coarse if value > 0})
        telling = fine >= _TELLING_VALUES or (
            coarse >= _TELLING_SECONDS and sum(value > 0 for value in self.coarse) >= _TELLING_MOVES
        )
        exact = self.exact and (self.cut or self.rounded)
        telling = telling or (exact and bits_of(self.spent_s) + bits_of(self.lags_ms) >= REQUIRED_BITS)
        together = bool(self.apart_ms) and max(self.apart_ms) <= SKEW_MS
        if not (telling or (together and same_number)):
            return Verdicts(Verdict.OPEN, "nothing tells")
        words = _counted(moves, self.times)
        if self.apart_ms:
            words += f", seen within {max(self.apart_ms)} ms of each other"
        return Verdicts(Verdict.SAME, words)


def _counted(moves: int, times: int) -> str:
    return f"{moves} equal {'ply' if moves == 1 else 'plies'}, {times} equal {'time' if times == 1 else 'times'}"


def _close(clocks: tuple[int | None, int | None], precisions: Iterable[int | None]) -> bool:
    mine, its = clocks
    precisions = tuple(precisions)
    if mine is None or its is None or not CLOCK_DERIVED.isdisjoint(precisions):
        return True
    fine = EXACT.issuperset(precisions)
    return abs(mine - its) <= (_CLOCK_MS if fine else _SECOND_MS)
