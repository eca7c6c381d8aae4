"""Games that matched: recorded, or looked for in the server's lists, with counts.

A player's history shows which of his games ended when, with what result; its number there is what the server's list
of moves is asked for by. A row, and the list itself, count only if exactly one lost game fits: players, result and
minute. One game is looked for at a time.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from recorder.dialects.lists import (
    HistoryRow,
    is_history_columns,
    is_no_history,
    parse_history_head,
    parse_history_row,
)
from recorder.events import Event, MovelistRead, Noise, ObserveRefused, Unrecognised
from recorder.live.policy.candidates import Candidate, Fate, Why
from recorder.live.requests import TURN_MS, AskHistory, AskStored, Request, no_command
from recorder.tracking.movelists import read_list


@dataclass(slots=True)
class Tally:
    """Games that matched and are over, over all connections."""

    whole: int = 0  # recorded from the first board to the end
    partly: int = 0  # with a part missing
    recovered: int = 0  # taken from a move list afterwards
    missed: int = 0  # not recorded
    pending: int = 0  # the move list is being requested
    why: Counter[str] = field(default_factory=Counter)

    @property
    def matched(self) -> int:
        return self.whole + self.partly + self.recovered + self.missed + self.pending

    def lost(self, reason: str, *, partly: bool) -> None:
        """Count a game that no list can complete."""
        self.partly += partly
        self.missed += not partly
        self.why[reason] += 1

    @property
    def words(self) -> str:
        """``24 matched and ended, 22 whole, 2 missed``."""
        named = (("in part", self.partly), ("from a list", self.recovered), ("missed", self.missed))
        parts = [f"{self.matched:,} matched and ended", f"{self.whole:,} whole"]
        parts += [f"{count:,} {name}" for name, count in named if count]
        parts += [f"{self.pending:,} being looked for"] if self.pending else []
        return ", ".join(parts)

    @property
    def sentence(self) -> str:
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in self.why.most_common())
        return f"Games: {self.words}{f' ({reasons})' if reasons else ''}."

    def facts(self) -> dict[str, int]:
        return {
            "matched": self.matched,
            "whole": self.whole,
            "partly": self.partly,
            "recovered": self.recovered,
            "missed": self.missed,
        }


_REST_MS: Final = 1_000  # no line ends a history: it is complete when no more rows arrive for this time
_MOST: Final = 500
_NO_LISTS: Final = "the server gives no list of it"
_MINUTE_MS: Final = 60_000
_DAY_MS: Final = 86_400_000
_ZONE_MS: Final = 15 * _MINUTE_MS  # zones differ by a multiple of it


@dataclass(eq=False, slots=True)
class Lost:
    """``partly``: some boards are recorded. ``asked`` are players whose history was requested."""

    white: str
    black: str
    result: str
    began_at_ms: int | None
    ended_at_ms: int | None
    partly: bool
    reason: str
    asked: list[str] = field(default_factory=list)

    def fits_row(self, handle: str, row: HistoryRow) -> bool:
        other = (self.black if row.is_white else self.white).lower()
        return (
            (self.white if row.is_white else self.black).lower() == handle.lower()
            and (other.startswith(row.opponent.lower()) if row.cut else other == row.opponent.lower())
            and row.result == self.result
            and _same_minute(row.ended_at_ms, self.ended_at_ms, zone_known=row.zone_known)
        )

    def fits_list(self, event: MovelistRead) -> bool:
        return (
            (event.white.lower(), event.black.lower()) == (self.white.lower(), self.black.lower())
            and event.complete
            and event.result == self.result
            and _same_minute(event.started_at_ms, self.began_at_ms, zone_known=event.started_zone_known)
        )


def _same_minute(printed_ms: int | None, at_ms: int | None, *, zone_known: bool) -> bool:
    """Whether a time that a server prints without seconds is that of an arrival; clocks may differ by a minute."""
    if printed_ms is None or at_ms is None or abs(at_ms - printed_ms) > _DAY_MS:
        return False
    late_ms = at_ms - printed_ms + _MINUTE_MS
    return 0 <= (late_ms if zone_known else late_ms % _ZONE_MS) < 3 * _MINUTE_MS


def missing_part(game: Candidate, is_whole: Callable[[int], bool] | None) -> str | None:
    """What was not received of a game that was observed and is over, a clause."""
    if game.end is None:
        return "its end did not come"
    whole = is_whole is None or is_whole(game.listed.game_no)
    return None if whole else "a part of it did not come"


class Recovery:
    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._waiting: deque[Lost] = deque()
        self._lately: deque[Lost] = deque(maxlen=_MOST)  # games that a row or a list may belong to
        self._sought: Lost | None = None
        self._next: Request | None = None  # to be returned next
        self._asked: AskHistory | AskStored | None = None  # an answer is waited for
        self._asked_ms = 0
        self._rows: list[HistoryRow] | None = None  # a history is being read
        self._rest_ms = 0  # when it is complete
        self._headed = False  # a line has named the player of the history
        self._then: list[Lost] = []  # lost before the history was printed: later games are not in it
        self._command: str | None = "smoves"  # that the server has for lists; None: it has none
        self._is_whole: Callable[[int], bool] | None = None
        self._finished = False

    def connected(self, is_whole: Callable[[int], bool] | None) -> None:
        """Requests without an answer are sent again."""
        self._is_whole = is_whole
        if self._sought is not None:
            self._sought.asked.clear()
            self._waiting.appendleft(self._sought)
        self._settle()
        self._command = "smoves"

    def finish(self) -> None:
        self._finished = True

    def over(self, game: Candidate, why: Why, *, full: bool) -> None:
        """``full``: there was no place for another game."""
        if self._finished:
            return
        facts, end, partly = game.listed.facts, game.end, game.watched_ms is not None
        if partly:
            missing = missing_part(game, self._is_whole)
            if missing is None:
                self._tally.whole += 1
                return
            reason = missing
        elif game.refused is not None:
            reason = game.refused
        elif why.fate is Fate.UNCONFIRMED:
            reason = "the connection was lost"
        elif game.tries:
            reason = "it was over before the server showed it"
        else:
            reason = "no place was free" if full else "it was over before it was asked for"
        if end is None or facts.white is None or facts.black is None:
            self._tally.lost(reason, partly=partly)
        else:
            times = game.began_at_ms, end.line.at_ms
            self._lost(Lost(facts.white, facts.black, end.result, *times, partly, reason))

    def _lost(self, game: Lost) -> None:
        self._lately.append(game)
        if game.result == "*":
            self._tally.lost(f"{game.reason}, and servers keep no list of an unfinished game", partly=game.partly)
        elif game.began_at_ms is None:
            self._tally.lost(f"{game.reason}, and no list is found without the time of its start", partly=game.partly)
        elif game.ended_at_ms is None:
            self._tally.lost(f"{game.reason}, and no list is found without the time of its end", partly=game.partly)
        elif self._command is None or len(self._waiting) >= _MOST:
            self._tally.lost(f"{game.reason}, and {_NO_LISTS}", partly=game.partly)
        else:
            self._tally.pending += 1
            self._waiting.append(game)

    # -- what is asked for -------------------------------------------------------------------------------------

    def ask(self, now_ms: int) -> list[Request]:
        """Each request is returned once."""
        if self._rows is not None and now_ms >= self._rest_ms:
            self._choose(self._rows)
        elif self._asked is not None and now_ms >= self._asked_ms + TURN_MS:
            self._give_up("the server did not answer")
        while self._sought is None and self._waiting:
            self._sought = self._waiting.popleft()
            self._ask_for_history()
        if not isinstance(self._next, AskHistory | AskStored):
            return []
        self._asked, self._next, self._asked_ms = self._next, None, now_ms
        return [self._asked]

    def times(self) -> list[int]:
        if self._rows is not None:
            return [self._rest_ms]
        return [] if self._asked is None else [self._asked_ms + TURN_MS]

    def _ask_for_history(self) -> None:
        """Of one of the players after the other."""
        assert self._sought is not None
        self._asked = self._rows = None
        for handle in (self._sought.white, self._sought.black):
            if handle not in self._sought.asked and handle.isascii():
                self._sought.asked.append(handle)
                self._next = AskHistory(handle)
                return
        self._give_up("no history shows it")

    # -- what comes --------------------------------------------------------------------------------------------

    def hear(self, event: Event, answered: Request | None, now_ms: int) -> None:
        if self._asked is None:
            return
        if isinstance(event, Unrecognised | Noise):
            self._line(event.line.text, self._asked, now_ms)
        elif isinstance(self._asked, AskStored):
            if isinstance(event, MovelistRead) and not event.still_running:
                self._list(event, meant=answered == self._asked)
            elif isinstance(event, ObserveRefused) and answered == self._asked:
                self._give_up(_NO_LISTS)

    def _line(self, text: str, asked: AskHistory | AskStored, now_ms: int) -> None:
        if isinstance(asked, AskStored):
            if no_command(text) == self._command:
                self._without_command(asked)
            elif is_no_history(text):
                self._give_up(_NO_LISTS)
        elif self._rows is not None:
            row = parse_history_row(text)
            if row is not None:
                self._rows.append(row)
                self._rest_ms = now_ms + _REST_MS
        elif (handle := parse_history_head(text)) is not None:
            self._headed = True
            if handle.lower() == asked.handle.lower():
                self._rows, self._rest_ms = [], now_ms + _REST_MS
        elif is_history_columns(text) and not self._headed:  # ICC
            self._rows, self._rest_ms = [], now_ms + _REST_MS
        elif is_no_history(text):
            self._ask_for_history()
        elif no_command(text) == "history":
            self._give_up_all()

    def _choose(self, rows: list[HistoryRow]) -> None:
        assert self._sought is not None
        assert isinstance(self._asked, AskHistory)
        handle = self._asked.handle
        self._then = list(self._lately)
        fitting = [row for row in rows if self._sought.fits_row(handle, row)]
        if not fitting:
            self._ask_for_history()
        elif len(fitting) > 1 or sum(game.fits_row(handle, fitting[0]) for game in self._then) > 1:
            self._give_up("more than one game of its players fits")
        elif self._command == "oldmoves" and fitting[0] is not rows[-1]:
            self._give_up(_NO_LISTS)
        else:
            self._asked = self._rows = None
            last = fitting[0] is rows[-1]
            self._next = AskStored(handle, fitting[0].number, is_last=last, by_last=self._command == "oldmoves")

    def _without_command(self, asked: AskStored) -> None:
        """Use the server's other command for move lists, or none."""
        if asked.by_last:
            self._give_up_all()
        elif asked.is_last:
            self._command = "oldmoves"
            self._asked, self._next = None, AskStored(asked.handle, asked.number, is_last=True, by_last=True)
        else:
            self._command = "oldmoves"
            self._give_up(_NO_LISTS)

    def _list(self, event: MovelistRead, *, meant: bool) -> None:
        fitting = [game for game in self._then if game.fits_list(event)]
        if fitting == [self._sought]:
            if read_list(event, None)[0].start is None:
                fitting[0].partly = True
                self._give_up("the list of it lacks the start board")
                return
            self._tally.pending -= 1
            self._tally.recovered += 1
            self._settle()
        elif meant:
            self._give_up("the list that came may be of another game")

    def _give_up(self, reason: str) -> None:
        assert self._sought is not None
        self._tally.pending -= 1
        self._tally.lost(f"{self._sought.reason}, and {reason}", partly=self._sought.partly)
        self._settle()

    def _give_up_all(self) -> None:
        self._command = None
        self._give_up(_NO_LISTS)
        while self._waiting:
            self._sought = self._waiting.popleft()
            self._give_up(_NO_LISTS)

    def _settle(self) -> None:
        self._sought = self._next = self._asked = self._rows = None
