"""Whether two sources show the same game: headers, moments, moves, times and clocks.

The problem. One game may be in five logs and two PGN files. Nothing in the bytes identifies it: a server's number is
used again minutes later, two players meet thirty times in one evening, and programs repeat whole games move by move.
These lines are of one game, seen by an observer and by a player::

    <12> … 1 1 Tal Smyslov  0 3 2 39 39 181450 180000 2 N/g1-f3 (0:00.550) Nf3 0 1 291     milliseconds, no time of day
    <12> … 1 1 Tal Smyslov -1 3 2 39 39 181 180 2 N/g1-f3 (0:00) Nf3 0                     seconds

and these might be, or not: equal moves say little, and the times of a quick game say nothing.

``compare`` asks in this order, and the first contradiction ends it (``APART``):

1. Can the headers be of one game: server, players, colours, rated, variant, time control, start, result?
2. Can they have been played at the same time? If one source has both, it saw two games, unless it was disconnected in
   between (``may_be_seen_again``) or its clock was set back (``backward_ms``).
3. Are all moves equal that both have? A difference is allowed only if the move was taken back while one source did not
   see the game (``taken_back_at``).
4. Are all times and clocks equal as far as they were printed: to the millisecond, or to the second, which servers cut
   and others round? Computed times may differ by one unit.

What is left does not contradict, but that proves nothing. ``SAME`` needs a proof: enough different times, the same
lines in the same moment, a start in the same second, or that one game was in progress when the other was last seen.
How much is enough is a bound on chance, not a feeling: ``game_view`` counts the bits that equal times hold, whatever
habits the players have, and ``REQUIRED_BITS`` make a wrong merge of two games with equal moves rarer than one in 2 **
40.

Where only the day is known, a day has fewer than 2 ** 10 games of two players, where ``REQUIRED_BITS`` allow for 2 **
20, so ``DAY_BITS`` give the same bound. A PGN file prints its start in whole seconds: two players do not begin two
games with the same moves within one second. A start at a whole minute may be that of a round, so short games are not
proved.

What must never happen: a wrong merge. A missed one costs a duplicate in a list, which a person can merge; a wrong one
mixes the clocks of two games, and no list shows it. So everything unknown is ``OPEN``. The order of the two games, and
the order in which they were imported, does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from itertools import product
from typing import Final, NamedTuple

from recorder.model import (
    CLOCK_DERIVED,
    EXACT,
    Game,
    GameEnd,
    GameKind,
    ObservationKind,
    StartFacts,
    StartPrecision,
    TimeBasis,
)
from recorder.relating.game_view import DAY_MS, REQUIRED_BITS, SKEW_MS, Spent, View, bits_of, may_meet, same_move
from recorder.relating.outages import backward_ms, in_progress_since, may_be_seen_again, taken_back_at

DAY_BITS: Final = REQUIRED_BITS - 10
_DATED: Final = (TimeBasis.UTC, TimeBasis.LOCAL)
_SECOND_MS: Final = 1_000
_MINUTE_S: Final = 60


def begun_alike(view: View, other: View) -> str | None:
    """By when a saved game and another began; a local time counts as equal to UTC only if both read the same."""
    if not (is_saved(view) or is_saved(other)):
        return None
    if view.plies.keys() != other.plies.keys() and not (_contains(view, other) or _contains(other, view)):
        return None
    begun_s = _second(view), _second(other)
    if begun_s[0] is not None and begun_s[1] is not None:
        both_saved = is_saved(view) and is_saved(other)
        if abs(begun_s[0] - begun_s[1]) > (0 if both_saved else 1):  # a line arrives a little later than it is sent
            return None
        # A whole minute may be a round's, or an archive has no seconds: then short games may be two.
        if not both_saved or begun_s[0] % _MINUTE_S or len(view.plies.keys() & other.plies.keys()) > _BOOK_PLIES:
            return "begun in the same second"
    if view.game.day is None or view.game.day != other.game.day or view.game.result != other.game.result:
        return None
    if view.plies.keys() != other.plies.keys():
        return None
    seconds = equal_seconds(view, other)
    if len(seconds) < len(view.plies.keys() - {1, 2}) or bits_of(seconds) < DAY_BITS:
        return None
    return "played on the same day"


def short_of_round(view: View) -> bool:
    """Whether a saved game is so short that its start, a whole minute, does not prove that another one is the same."""
    begun_s = _second(view)
    return begun_s is not None and not begun_s % _MINUTE_S and is_saved(view) and len(view.plies) <= _BOOK_PLIES


def equal_seconds(view: View, other: View) -> dict[int, int]:
    """Ply → whole seconds that it took, where both sources give the same number."""
    return {
        ply: spent.ms // _SECOND_MS
        for ply, spent in view.spent_ms.items()
        if (its := other.spent_ms.get(ply)) is not None and its.ms // _SECOND_MS == spent.ms // _SECOND_MS
    }


def _begun_apart(view: View, other: View) -> bool:
    """Whether two saved games are known to have begun in different seconds: in one file they are two."""
    begun_s = _second(view), _second(other)
    return None not in begun_s and begun_s[0] != begun_s[1] and is_saved(view) and is_saved(other)


def _contains(whole: View, part: View) -> bool:
    """Whether one has all plies of the other; half of an adjourned game is no part of this kind."""
    halves = any(view.game.end is GameEnd.ADJOURNED or view.game.continued or view.starts for view in (whole, part))
    return not halves and part.plies.keys() <= whole.plies.keys()


def is_saved(view: View) -> bool:
    return all(observation.kind is ObservationKind.PGN for observation in view.game.observations)


def _second(view: View) -> int | None:
    """The second in which a game began, since 1970; None: not known so exactly."""
    game = view.game
    if game.started_at_ms is None or game.time_basis not in _DATED or game.start_precision is StartPrecision.MINUTE:
        return None
    return game.started_at_ms // _SECOND_MS


_LEAST_MOVES = 12
_LEAST_VALUES = 4
_LEAST_SECONDS = 5
_BOOK_PLIES = 20  # that two players may repeat as often as they like
_LEAST_LINES = 10  # that arrive together from servers that may be two
_CLOCK_MS = 60  # servers that print milliseconds compute a running clock for every reader


class Verdict(IntEnum):
    OPEN = 0  # no evidence
    SAME = 1
    APART = 2  # they contradict each other


class Verdicts(NamedTuple):
    """The reason is a clause."""

    verdict: Verdict
    why: str


def _other_day(view: View, other: View) -> bool:
    """Whether they began on different days, as far as that is known; a resumed game may have the later one's."""
    begun = view.begun_ms, other.begun_ms
    if begun[0] is None or begun[1] is None:
        return False
    if any(
        either.game.continued or either.game.start_ply or either.game.end is GameEnd.ADJOURNED
        for either in (view, other)
    ):
        return False
    return begun[0][0] > begun[1][1] + DAY_MS or begun[1][0] > begun[0][1] + DAY_MS


def _printed_before(listed: View, view: View) -> bool:
    return listed.listed_ms is not None and view.span_ms is not None and listed.listed_ms + SKEW_MS < view.span_ms[0]


def _ended_before(view: View, other: View) -> bool:
    game = view.game
    return (
        game.complete
        and game.end in (GameEnd.RESULT, GameEnd.ABORTED)
        and max(view.plies, default=0) < max(other.plies, default=0)
    )


def compare(view: View, other: View) -> Verdicts:
    """Decide whether two played games of the same players and colours, of two sources, are one; in any order."""
    why = headers_differ(view.game, other.game)
    if why is not None:
        return Verdicts(Verdict.APART, why)
    numbered = _one_server(view.game, other.game)  # so a number is one game at any moment
    both = ((view, other), (other, view)) if numbered else ()
    # Two ways in which arrival times that do not overlap may still be of one game: it was seen again after an outage,
    # or a computer's clock was set back in between.
    again = next((pair for pair in both if may_be_seen_again(*pair)), None)
    backward: int | None = None
    if again is None and not may_meet(view.span_ms, other.span_ms):
        backward = next((ms for pair in both if (ms := backward_ms(*pair)) is not None), None)
    why = _moments_differ(view, other, again=again is not None, backward=backward is not None)
    if why is not None:
        return Verdicts(Verdict.APART, why)
    common = sorted(view.plies.keys() & other.plies.keys())
    differs = next((number for number in common if not same_move(view.plies[number], other.plies[number])), None)
    # Other moves contradict, unless one source lost the game from sight and the move was taken back afterwards: then
    # the plies before it are compared, and they must prove it.
    if differs is not None:
        if backward is not None or all(taken_back_at(*pair) is None for pair in both):
            return Verdicts(Verdict.APART, f"other moves at ply {differs}")
        common = [number for number in common if number < differs]
    agreement = _Agreement()
    why = agreement.contradiction(view, other, common, differs)
    if why is not None:
        return Verdicts(Verdict.APART, why)
    numbers = _same_number(view, other), numbered and _is_printed_alike(view, other)
    verdicts = agreement.verdict(len(common), *numbers, one_server=numbered)
    if differs is not None:
        if verdicts.verdict is not Verdict.SAME:
            return Verdicts(Verdict.APART, f"other moves at ply {differs}")
        return Verdicts(Verdict.SAME, f"{verdicts.why}; ply {differs} of one was taken back out of its sight")
    if backward is not None:
        if verdicts.verdict is not Verdict.SAME:
            return Verdicts(Verdict.APART, "they were at other times")
        return Verdicts(Verdict.SAME, f"{verdicts.why}, although the earlier part arrived {backward} ms later")
    # Nothing contradicts, and the times alone prove nothing. Left are the moment of the start, and the clocks.
    if verdicts.verdict is not Verdict.OPEN:
        return verdicts
    if (numbered or len(common) >= _LEAST_LINES) and common and (begun := begun_alike(view, other)) is not None:
        return Verdicts(Verdict.SAME, f"{_counted(len(common), agreement.times)}, {begun}")
    if not numbered:
        return verdicts
    why = _at_one_moment(view, other) or (None if again is None else in_progress_since(*again))
    return verdicts if why is None else Verdicts(Verdict.SAME, why)


def proves_enough(view: View) -> bool:
    """Whether the times of a game are enough to prove that another one with equal times is the same."""
    seconds = {ply: spent.ms // _SECOND_MS for ply, spent in view.spent_ms.items()}
    fine = {spent.ms for spent in view.spent_ms.values() if spent.fine and spent.ms > 0}
    if len(fine) >= _LEAST_VALUES or len(view.live_plies) >= REQUIRED_BITS + _BOOK_PLIES:
        return True
    if len(set(seconds.values()) - {0}) >= _LEAST_SECONDS and sum(map(bool, seconds.values())) >= _LEAST_MOVES:
        return True
    lags_ms = {ply.ply: ply.lag_ms for ply in view.plies.values() if ply.lag_ms is not None}
    return bits_of(seconds) + bits_of(lags_ms) >= DAY_BITS


def _moments_differ(view: View, other: View, *, again: bool, backward: bool) -> str | None:
    """As a clause; None: they may have been at the same time. ``again``: one source may have seen the game twice."""
    if not again:
        if view.source == other.source and ((view.live and other.live) or _begun_apart(view, other)):
            return "one source saw both"
        if not backward and not may_meet(view.span_ms, other.span_ms):
            return "they were at other times"
    if _other_day(view, other) or _printed_before(view, other) or _printed_before(other, view):
        return "they were on other days"
    if _ended_before(view, other) or _ended_before(other, view):
        return "one was over when the other went on"
    return None


def headers_differ(game: Game, other: Game) -> str | None:
    """Say, in the words behind "they are", why two headers cannot be of one game; None: nothing in them differs."""
    if game.kind is not GameKind.PLAYED or other.kind is not GameKind.PLAYED:
        return "one of them was not played"
    if None not in (game.server, other.server) and game.server != other.server:
        return "of other servers"
    unknown = None in (game.server, other.server)
    if unknown and None not in (game.dialect, other.dialect) and game.dialect != other.dialect:
        return "of servers with other programs"
    handles = [(header.white.handle.lower(), header.black.handle.lower()) for header in (game, other)]
    if handles[0] != handles[1]:
        return "of other players"
    if unknown and "" in handles[0]:
        return "of players who are not known"
    facts = (
        ("variant", None if game.variant_inferred else game.variant, None if other.variant_inferred else other.variant),
        ("rating", game.rated, other.rated),
        ("increment", game.increment_s, other.increment_s),
        ("start position", game.start_fen and game.start_ply == 0, other.start_fen and other.start_ply == 0),
    )
    for what, mine, its in facts[:3]:
        if mine is not None and its is not None and mine != its:
            return f"another {what}"
    if game.base_s != other.base_s and not (None in (game.base_s, other.base_s) or 0 in (game.base_s, other.base_s)):
        return "another base time"
    if facts[3][1] and facts[3][2] and game.start_fen != other.start_fen:
        return "another start position"
    results = {header.result for header in (game, other) if header.end is GameEnd.RESULT} - {"*"}
    return "another result" if len(results) > 1 else None


def _one_server(game: Game, other: Game) -> bool:
    """Whether two games that may be one are known to be of one server, by its name or else by its program."""
    return game.server == other.server and (game.server is not None or None not in (game.dialect, other.dialect))


def _is_printed_alike(view: View, other: View) -> bool:
    """Whether two logs print the same number and the same ratings, which rated games change."""
    ratings = [(either.game.white.rating_text, either.game.black.rating_text) for either in (view, other)]
    return bool(view.numbers) and view.numbers == other.numbers and ratings[0] == ratings[1]


def _same_number(view: View, other: View) -> bool:
    return not view.numbers or not other.numbers or not view.numbers.isdisjoint(other.numbers)


def _at_one_moment(view: View, other: View) -> str | None:
    """Why both were in progress under one number at one moment, when a number belongs to one game only."""
    if not (view.numbers and view.numbers == other.numbers):
        return None
    for mine, its in ((view, other), (other, view)):
        if mine.span_ms is not None and its.span_ms is not None:
            begun_ms = its.span_ms[0]
            if any(begin + SKEW_MS < begun_ms < end - SKEW_MS for begin, end in mine.live_spans_ms):
                return f"both seen in progress under number {min(view.numbers)} at one moment"
    return None


class _Agreement:
    def __init__(self) -> None:
        self.times = 0  # that were compared
        self.fine: list[int] = []  # in milliseconds, the same in both
        self.coarse: list[int] = []  # in seconds
        self.apart_ms: list[int] = []  # between the arrivals of one line
        self.spent_s: dict[int, int] = {}  # of plies whose clocks both saw and whose times both printed
        self.lags_ms: dict[int, int] = {}  # of the same plies
        self.seen = 0  # plies of which two logs show the board, with all of that
        self.exact = True  # those times are equal in whole seconds, cut
        self.cut = self.rounded = True  # so clocks in seconds may have come from those in milliseconds

    def contradiction(self, view: View, other: View, common: list[int], differs: int | None) -> str | None:
        """As a clause, or None; what is shown from ``differs`` on, the first ply with other moves, does not count."""
        for number in common:
            if not self.take(view, other, number):
                return f"other times at ply {number}"
        for mine, its in ((view, other), (other, view)):
            for start in mine.lasting_starts:
                if differs is not None and start.ply >= differs:
                    continue
                if not self.take_start(start, its):
                    return f"another position or clock at ply {start.ply}"
        self.take_joined(view, other)
        return None

    def take(self, view: View, other: View, number: int) -> bool:
        mine, its = view.plies[number], other.plies[number]
        both_live = number in view.live_plies and number in other.live_plies
        if both_live and view.span_ms and other.span_ms and mine.at_ms is not None and its.at_ms is not None:
            self.apart_ms.append(abs(mine.at_ms - its.at_ms))
        spent = view.spent_ms.get(number), other.spent_ms.get(number)
        clocks, precisions = (mine.clock_ms, its.clock_ms), (mine.precision_code, its.precision_code)
        if spent[0] is not None and spent[1] is not None and not self._take_spent(spent[0], spent[1]):
            # Between two clocks there may be a takeback or added time, which a saved game does not have.
            computed = not (spent[0].printed and spent[1].printed) and number not in view.live_plies & other.live_plies
            if not computed or None in clocks or not CLOCK_DERIVED.isdisjoint(precisions):
                return False
        computed = any(took is None or not took.printed for took in spent)
        if (both_live or computed) and not close_clocks(clocks, precisions):
            return False
        if CLOCK_DERIVED.isdisjoint(precisions):
            if mine.lag_ms is not None and its.lag_ms is not None:
                self.lags_ms[number] = mine.lag_ms
                self.exact &= mine.lag_ms == its.lag_ms
            self._take_seconds(number, spent, clocks, (mine.precision_code in EXACT, its.precision_code in EXACT))
            self.seen += both_live and number in self.spent_s
        return True

    def _take_seconds(
        self,
        number: int,
        spent: tuple[Spent | None, Spent | None],
        clocks: tuple[int | None, int | None],
        fine: tuple[bool, bool],
    ) -> None:
        (mine, its), (my_clock, its_clock) = spent, clocks
        if mine is None or its is None or my_clock is None or its_clock is None or not (mine.printed and its.printed):
            return
        self.spent_s[number] = mine.ms // _SECOND_MS
        self.exact &= self.spent_s[number] == its.ms // _SECOND_MS
        if fine[0] is fine[1]:
            self.exact &= fine[0] or my_clock == its_clock
            return
        # One prints milliseconds, the other seconds: of the whole game, all must be cut, or all rounded.
        left_ms = my_clock - its_clock if fine[0] else its_clock - my_clock
        self.cut &= 0 <= left_ms < _SECOND_MS
        self.rounded &= abs(left_ms) <= _SECOND_MS // 2

    def _take_spent(self, mine: Spent, its: Spent) -> bool:
        if not mine.equals(its):
            return False
        self.times += 1
        if mine.fine and its.fine:
            self.fine.append(mine.ms)
        elif mine.ms // _SECOND_MS and its.ms // _SECOND_MS:
            self.coarse.append(min(mine.ms, its.ms) // _SECOND_MS)
        return True

    def take_start(self, start: StartFacts, its: View) -> bool:
        """Compare a first board's facts about the move before it with that move."""
        ply = its.plies.get(start.ply)
        if ply is None:
            return True
        if start.pretty not in ("none", "") and start.pretty.rstrip("+#") != ply.san.rstrip("+#"):
            return False
        if start.ply not in its.live_plies:
            return True
        clock = start.white_clock_ms if start.ply % 2 else start.black_clock_ms
        if not close_clocks((clock, ply.clock_ms), (start.precision_code, ply.precision_code)):
            return False
        self.times += 1
        return True

    def take_joined(self, view: View, other: View) -> None:
        """Count first boards of the same ply that both got in the same moment; their clocks may have run since."""
        if view.span_ms is None or other.span_ms is None:
            return
        for mine, its in product(view.starts, other.starts):
            if mine.ply == its.ply and mine.at_ms is not None and its.at_ms is not None:
                self.apart_ms += [apart_ms] if (apart_ms := abs(mine.at_ms - its.at_ms)) <= SKEW_MS else []

    def verdict(self, moves: int, same_number: bool, alike: bool, *, one_server: bool) -> Verdicts:
        """SAME with the evidence in words, or OPEN; ``alike``: both print the same game number and ratings."""
        # Different values only: a player who always takes one second proves nothing, however often.
        fine = len({value for value in self.fine if value > 0})
        coarse = len({value for value in self.coarse if value > 0})
        proved = fine >= _LEAST_VALUES or (
            coarse >= _LEAST_SECONDS and sum(value > 0 for value in self.coarse) >= _LEAST_MOVES
        )
        exact = self.exact and (self.cut or self.rounded)
        repeated_bits = max(self.seen - _BOOK_PLIES, 0) if alike else 0
        bits = bits_of(self.spent_s) + bits_of(self.lags_ms) + repeated_bits
        proved = proved or (exact and bits >= REQUIRED_BITS)
        # Lines that arrived at the same moment on both connections.
        together = len(self.apart_ms) >= (1 if one_server else _LEAST_LINES) and max(self.apart_ms) <= SKEW_MS
        if not (proved or (together and same_number)):
            return Verdicts(Verdict.OPEN, "no evidence")
        words = _counted(moves, self.times)
        if self.apart_ms:
            words += f", seen within {max(self.apart_ms)} ms of each other"
        return Verdicts(Verdict.SAME, words)


def _counted(moves: int, times: int) -> str:
    return f"{moves} equal {'ply' if moves == 1 else 'plies'}, {times} equal {'time' if times == 1 else 'times'}"


def close_clocks(clocks: tuple[int | None, int | None], precisions: Iterable[int | None]) -> bool:
    """Whether two clocks, in milliseconds, may be of the same move by their precisions; unknown ones may."""
    mine, its = clocks
    precisions = tuple(precisions)
    if mine is None or its is None or not CLOCK_DERIVED.isdisjoint(precisions):
        return True
    fine = EXACT.issuperset(precisions)
    return abs(mine - its) <= (_CLOCK_MS if fine else _SECOND_MS)
