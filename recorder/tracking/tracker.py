"""Events in, finished games out: of which game a line is, and when a game is over.

The problem. A log has many games at once. Its lines name them by number, by players, by both or not at all, and the
line that ends a game is not the last one about it::

    <12> … 12 Tal Smyslov 0 3 2 39 20 61300 48250 31 Q/h5-f7 (0:02.100) Qxf7# 0 1 0
    {Game 12 (Tal vs. Smyslov) Smyslov checkmated} 1-0
    {Game 12 (Fischer vs. Larsen) Larsen resigns} 1-0          of a game that is not observed
    Tal(GM)(2643)[12] kibitzes: thanks
    Movelist for game 12:

Of which game a line is:

1. Frames go to ``Boards``, which compares them with the position that a game has reached (see ``boards.py``).
2. A line with a number is of the game that has the number now. A result must name its players, too; else it is counted
   as one of a game that is not followed (``elsewhere``), and changes nothing.
3. A line without a number (``say``, an offer) is of our own game, else of the only game that its speaker plays, else of
   the only game of the connection; if there are two, it is of none.
4. A list may be of a game that is over, or of none: ``movelists.py`` asks players, number and boards.
5. The end of a connection is about all followed games: each is left without a result (``suspended``).

A game that is over waits for such late lines; it is emitted when its number is used again, when it has waited long
enough, or at the end. One with a result waits ``_ENDED_WAIT_BYTES``, one without ``_SUSPENDED_WAIT_BYTES``, because it
may be observed again. Waiting is measured in bytes of the source, never in wall time: reading the same bytes again, cut
in other places, gives the same games.

What must never happen: a line changes a game that it does not name; a game changes after it was emitted; an error costs
more than one game (``feed`` goes on behind the event that failed).
"""

from __future__ import annotations

import datetime
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import partial
from operator import attrgetter, length_hint
from typing import TYPE_CHECKING, Any, Final

from recorder.containment import Failures
from recorder.dialects.session import LIST_BLOCKS, answers
from recorder.events import (
    ChatKind,
    ChatLine,
    CreatingLine,
    Datagram,
    DeltaBoard,
    Event,
    ExamineNotice,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GameNotice,
    GamesRow,
    HoldingsLine,
    Malformed,
    MovelistRead,
    ObservingEnded,
    ObservingStarted,
    PartnerPlays,
    SessionNotice,
    SessionNoticeKind,
)
from recorder.events.frames import Style12
from recorder.model import (
    Anomaly,
    AnomalyKind,
    Disposition,
    EventKind,
    Game,
    GameEnd,
    Observation,
    PlyLine,
    TimeBasis,
    is_forgotten,
)
from recorder.rules.position import Rules
from recorder.rules.prove import is_checkmate
from recorder.tracking.assemble import add_titles, assemble, disputed_start, end_word
from recorder.tracking.boards import Boards
from recorder.tracking.deltas import take_delta
from recorder.tracking.examined.boards import close_left, examined_run, leave, lose_all, settle, take_notice
from recorder.tracking.facts import HeaderFacts, TableRow
from recorder.tracking.game_table import GameTable
from recorder.tracking.holdings import take_holdings
from recorder.tracking.movelists import take_list
from recorder.tracking.session import ServerSession
from recorder.tracking.tracked_game import ListSeen, TrackedGame

if TYPE_CHECKING:
    from recorder.tracking.datagrams.reader import DatagramGames
    from recorder.tracking.engines.games import Engines

TITLES_KEPT = 4096
_CREATING_KEPT = 64
_PUBLIC = frozenset((ChatKind.KIBITZ, ChatKind.WHISPER))
_OWN = frozenset((ChatKind.SAY, ChatKind.TELL, ChatKind.PARTNER_TELL))
_NEAR_BYTES = 1024
_DECIDED = "partner-decided"
_OPPOSITE = {"1-0": "0-1", "0-1": "1-0", "1/2-1/2": "1/2-1/2"}
_ON_BOTH = frozenset(("resign", "time", "disconnect-loss"))
_ENDED_WAIT_BYTES = 256 * 1024
_SUSPENDED_WAIT_BYTES = 16 * 1024 * 1024


class Chat:
    """A kibitz without a number is of the game its speaker plays, else of the only one of the connection, or none."""

    def __init__(self, table: GameTable, kept: str) -> None:
        self.kinds = _chat_kinds(kept)
        self.titles: dict[str, str] = {}
        self._table = table

    def take(self, event: ChatLine) -> None:
        if event.titles and event.speaker and len(self.titles) < TITLES_KEPT:
            # Only chat has titles behind the handle; no line of a game prints them.
            self.titles[event.speaker.lower()] = event.titles
        if event.kind not in self.kinds:
            return
        table, number = self._table, event.game_no
        followed = [run for run in table.runs.values() if run.following]
        if number is not None:
            run = table.runs.get(str(number))
            if run not in followed:
                run = examined_run(table, number) or run
        else:
            own = None if event.kind in _PUBLIC else _our_own(followed)
            run = own or self._played_by(event.speaker, followed)
        if run is None or (event.kind in _OWN and not run.me_plays):
            return
        run.event(EventKind.CHAT, event.kind.value, event.line, actor=event.speaker, text=event.text)

    def notice(self, event: GameNotice) -> None:
        followed = [run for run in self._table.runs.values() if run.following]
        if event.game_no is not None:
            run = self._table.runs.get(str(event.game_no))
        else:
            run = _our_own(followed) or self._played_by(event.actor, followed, examined=False)
        if run is not None:
            kind = event.kind.value
            run.event(EventKind.NOTICE, kind, event.line, actor=event.actor, value=event.value, text=event.text)

    def _played_by(self, name: str | None, followed: list[TrackedGame], *, examined: bool = True) -> TrackedGame | None:
        if name is not None:
            own = [run for run in followed if name.lower() in (run.white.lower(), run.black.lower())]
            if own:
                return own[0] if len(own) == 1 else None
        runs = [*followed, *(run for run in self._table.examined.values() if examined and not run.suspended)]
        return runs[0] if len(runs) == 1 else None


def _our_own(followed: list[TrackedGame]) -> TrackedGame | None:
    own = [run for run in followed if run.me_plays]
    return own[0] if len(own) == 1 else None


def _chat_kinds(kept: str) -> frozenset[ChatKind]:
    if kept == "none":
        return frozenset()
    if kept == "public":
        return _PUBLIC
    if kept == "own":
        return _PUBLIC | _OWN
    if kept == "all":
        return frozenset(ChatKind)
    raise ValueError(f"chat must be none, public, own or all, not {kept!r}")


# -- which game a line is about ------------------------------------------------------------------------------------


def take_info(table: GameTable, event: GameInfo) -> None:
    """Place a ``<g1>``: it belongs to the current game at its start, else to the next one."""
    run = table.runs.get(str(event.game_no))
    if run is not None and run.following and run.ply == 0 and not run.renewed:
        run.facts.add_info(event)
        return
    # Of the game that is followed, or of the number's next one: later lines decide (GameTable.settle_facts).
    facts = table.pending_facts(event.game_no, event.line.offset)
    if facts.informed not in (None, event.line.text):
        facts = table.facts[event.game_no] = HeaderFacts(event.line.offset)
    facts.add_info(event)


def take_row(table: GameTable, event: GamesRow) -> None:
    """Place a row of the table of games: of the game that is followed, else of the next one with its number."""
    if event.state is not None:
        return
    white, black = event.white, event.black
    ply = 2 * (event.move_no - 1) + (not event.white_to_move)
    row = TableRow(
        event.line.offset, white.name, black.name, white.rating, black.rating, event.rated, event.category,
        event.base_min, event.increment_s, max(ply, 0),
    )  # fmt: skip
    run = table.runs.get(str(event.game_no))
    if run is not None and run.following and run.last is not None and row._replace(ply=0).fits(run.last):
        run.facts.add_row(row)
    else:
        table.keep_row(event.game_no, row)


def take_creating(table: GameTable, event: CreatingLine) -> None:
    facts = HeaderFacts(event.line.offset)
    facts.add_creating(event, event.first)
    facts.white, facts.black = event.first, event.second
    creating = table.creating
    creating[frozenset((event.first.lower(), event.second.lower()))] = facts
    if len(creating) > _CREATING_KEPT:
        del creating[next(iter(creating))]


def take_header(table: GameTable, event: GameHeader) -> None:
    table.announced.add(str(event.game_no))
    _facts_for(table, event).add_header(event)


def begins_another(table: GameTable, event: GameCreated) -> bool:
    """Process ``{Game N (A vs. B) Creating …}``; return whether a game begins that no board has shown yet."""
    run = table.runs.get(str(event.game_no))
    if run is not None and run.observations:
        if run.following and run.ply == 0 and run.between(event.white, event.black) and not event.continued:
            run.facts.add_created(event)  # the announcement of the game whose start was just shown
            return False
        run.renewed = True
    table.rows.pop(event.game_no, None)
    facts = table.facts[event.game_no] = HeaderFacts(event.line.offset)
    facts.add_created(event)
    return True


def _facts_for(table: GameTable, event: GameHeader) -> HeaderFacts:
    run = table.runs.get(str(event.game_no))
    if run is not None and run.following and not run.renewed and run.between(event.white, event.black):
        return run.facts
    facts = table.pending_facts(event.game_no, event.line.offset)
    if not facts.matches(event.white, event.black):
        facts = table.facts[event.game_no] = HeaderFacts(event.line.offset)
    return facts


# -- the partner's game ---------------------------------------------------------------------------------------------


def take_partner(table: GameTable, event: PartnerPlays) -> None:
    """``Your partner is playing game 59 (C vs. D).``: it is printed between the start of our own game and its board."""
    names = {event.white.lower(), event.black.lower()}
    offset = event.line.offset
    begun = [
        facts
        for facts in table.facts.values()
        if 0 <= offset - facts.offset < _NEAR_BYTES
        and facts.white is not None
        and not names & {facts.white.lower(), (facts.black or "").lower()}
    ]
    if not begun:
        own = [run for run in table.runs.values() if run.following and run.me_plays]
        begun = [run.facts for run in own if not names & {run.white.lower(), run.black.lower()}]
    if begun:
        max(begun, key=lambda facts: facts.offset).partner_game_no = event.partner_game_no


def _who_decided(run: TrackedGame, event: GameEnded, ended: GameEnded | None, before: TrackedGame | None) -> str:
    """The reason's key for a game that ends, ``partner-decided`` if it was not decided on its board.

    Servers of the 1.6.2 family print the reason of the board that decided on both boards, each with its own players. A
    checkmate is on the board that shows it. Otherwise the order decides: a player receives the partner's result first
    if that board decided; an observer of both receives the deciding board's result last. Source: the end lines of two
    such servers, to all four players and to observers. ``ended`` is the end line before it, of whatever game, and
    ``before`` that game, if followed.
    """
    key = event.reason_key
    if run.rules is not Rules.BUGHOUSE:
        return key
    if key == "checkmate":
        mated = run.position is not None and is_checkmate(run.position)
        return key if mated else _DECIDED
    if key not in _ON_BOTH or ended is None or not _same_end(event, ended):
        return key
    if run.me_plays:
        return _DECIDED if run.facts.partner_game_no == ended.game_no else key
    if before is not None and before.rules is Rules.BUGHOUSE and not before.me_plays and before.reason_key == key:
        before.reason_key = _DECIDED
        if before.current is not None and before.current.events:
            before.current.events[-1] = before.current.events[-1]._replace(detail=_DECIDED)
    return key


def _same_end(event: GameEnded, ended: GameEnded) -> bool:
    """Whether the line before ends another game in the same way, for the other colour."""
    return (
        ended.game_no != event.game_no
        and ended.reason_key == event.reason_key
        and _OPPOSITE.get(ended.result) == event.result
        and 0 <= event.line.offset - ended.line.offset < _NEAR_BYTES
        and not {ended.white.lower(), ended.black.lower()} & {event.white.lower(), event.black.lower()}
    )


# -- ends ----------------------------------------------------------------------------------------------------------


class GameEnds:
    """Ends games by their result lines and by ends of observation, and closes them after a wait for late lines.

    ``elsewhere`` counts starts and results of games that are not followed.
    """

    def __init__(self, boards: Boards) -> None:
        self.elsewhere: Counter[str] = Counter()
        self._boards = boards
        self._waiting: deque[TrackedGame] = deque()
        self._suspended: deque[TrackedGame] = deque()
        self._last_end: tuple[GameEnded, TrackedGame | None] | None = None

    def created(self, event: GameCreated) -> None:
        """A ``{Game N (A vs. B) Creating …}``: count it if no followed game begins with it."""
        if begins_another(self._boards, event):
            self.elsewhere["starts"] += 1
            self.release(event.line.offset)

    def ended(self, event: GameEnded) -> None:
        # A result names number and players. Those of a game that has this number now, but other players, are about a
        # game that is not observed here: it is counted, so that the counts of a log add up.
        run = self._boards.runs.get(str(event.game_no))
        self._boards.rows.pop(event.game_no, None)
        self.release(event.line.offset)
        last, last_run = self._last_end or (None, None)
        self._last_end = event, None
        if run is not None and run.end is None and run.is_alias(event.white, event.black):
            run.rename(event.white, event.black)
        if run is None or not run.between(event.white, event.black):
            self.elsewhere["results"] += 1
            return
        if run.end is not None:
            return
        if run.renewed and run.suspended:
            return
        self._last_end = event, run
        run.result, run.reason = event.result, event.reason
        run.reason_key, run.termination = _who_decided(run, event, last, last_run), event.termination
        run.result_at_ms = event.line.at_ms
        text = f"{{{event.reason}}} {event.result}"
        run.event(EventKind.RESULT, run.reason_key, event.line, actor=event.actor, text=text)
        run.end = end_word(run.reason_key)
        run.following = False
        run.renewed = False
        self._boards.settle_facts(run, event.line.offset)
        run.end_offset = event.line.offset
        self._waiting.append(run)  # a late board or a list may still come: ``release`` closes it

    def observing_ended(self, event: ObservingEnded) -> None:
        number = str(event.game_no)
        self._boards.announced.discard(number)
        run = self._boards.runs.get(number)
        if run is not None and run.following:
            run.event(EventKind.FEED, "unobserved", event.line)
            self._suspend(run, event.line.offset, GameEnd.UNOBSERVED)
        leave(self._boards, number, event.line.offset)
        self.release(event.line.offset)

    def lost_feed(self, event: SessionNotice, *, warning: bool) -> None:
        """The connection or the login ends: suspend every followed game; ``warning``: only note that it will end."""
        for run in list(self._boards.runs.values()):
            if run.following and warning:
                run.event(EventKind.FEED, "server going down", event.line, text=event.line.text)
            elif run.following:
                run.event(EventKind.FEED, "lost feed", event.line, text=event.line.text)
                self._suspend(run, event.line.offset, GameEnd.LOST_FEED)

    def _suspend(self, run: TrackedGame, offset: int, left: GameEnd) -> None:
        run.suspended = True
        run.left = left
        run.following = False
        run.end_offset = offset
        self._suspended.append(run)

    def release(self, offset: int) -> None:
        """Close the games that have waited long enough at this offset of the source."""
        # Both queues are in the order of their ends, so only their beginnings are looked at.
        close_left(self._boards, offset)
        while self._waiting and self._waiting[0].end_offset < offset - _ENDED_WAIT_BYTES:
            run = self._waiting.popleft()
            if self._boards.runs.get(str(run.game_no)) is run:
                self._boards.close(run, GameEnd.RESULT)
        while self._suspended and self._suspended[0].end_offset < offset - _SUSPENDED_WAIT_BYTES:
            run = self._suspended.popleft()
            if run.suspended and self._boards.runs.get(str(run.game_no)) is run:
                self._boards.close(run, run.left)


_LOST_FEED = frozenset(
    (
        SessionNoticeKind.SHUTDOWN,
        SessionNoticeKind.IDLE_LOGOUT,
        SessionNoticeKind.TAKEN_OVER,
        SessionNoticeKind.LOGOUT,
        SessionNoticeKind.CLOSED,
    )
)


class Tracker:
    def __init__(
        self, *, basis: TimeBasis, server: str | None = None, chat: str = "public", date: datetime.date | None = None
    ) -> None:
        self.basis = basis
        self.date = date
        self.server = server
        self.boards = Boards(ServerSession(server))
        self.failures = Failures()
        self.holdings: dict[Disposition, int] = dict.fromkeys(Disposition, 0)
        self.list_frames = 0
        self.ends = GameEnds(self.boards)
        self._chat = Chat(self.boards, chat)
        self._games: list[Game] = []
        self._last_at_ms: int | None = None
        self.engines: Engines | None = None  # whose views of the games are to be joined
        self._datagrams: DatagramGames | None = None  # there are datagrams
        self._handlers: dict[type, Callable[[Any], None]] = {
            HoldingsLine: self._holdings,
            GameInfo: partial(take_info, self.boards),
            CreatingLine: partial(take_creating, self.boards),
            GameCreated: self.ends.created,
            PartnerPlays: partial(take_partner, self.boards),
            GameHeader: partial(take_header, self.boards),
            GamesRow: partial(take_row, self.boards),
            ObservingStarted: self.boards.observing_started,
            ObservingEnded: self.ends.observing_ended,
            GameEnded: self.ends.ended,
            MovelistRead: self._movelist,
            ChatLine: self._chat.take,
            GameNotice: self._chat.notice,
            ExamineNotice: partial(take_notice, self.boards),
            SessionNotice: self._session,
            Malformed: self._malformed,
            DeltaBoard: partial(take_delta, self.boards),
            Datagram: self._datagram,
        }

    # -- the interface -----------------------------------------------------------------------------------------

    @property
    def anomalies(self) -> list[Anomaly]:
        return self.boards.anomalies

    @property
    def session(self) -> ServerSession:
        return self.boards.session

    def feed(self, events: list[Event]) -> list[Game]:
        # One loop for all events, with frames first: nearly every event is one. After an error of this program the
        # iterator goes on behind the event that failed, so that one bad line costs one game and no others.
        handlers, boards = self._handlers, self.boards
        frame, over = boards.frame, boards.over
        frames = sum(boards.counts.values()) + boards.next_plies
        waiting = iter(events)
        while True:
            try:
                for event in waiting:
                    if type(event) is Style12:
                        frame(event)
                    elif (handler := handlers.get(type(event))) is not None:
                        handler(event)
                    if over:
                        self._emit(event.offset if isinstance(event, Style12) else event.line.offset)
                break
            except Exception as error:  # a bug: the game is counted and closed, the others go on
                self._contain(error, events[: len(events) - length_hint(waiting)], frames)
        if events:
            last = events[-1]
            self._last_at_ms = last.at_ms if isinstance(last, Style12) else last.line.at_ms
        games, self._games = self._games, []
        return games

    def is_whole(self, number: int) -> bool:
        """Return whether the last game with this number of the server is over and complete; False if there was none."""
        run = self.boards.runs.get(str(number))
        return run is not None and run.end is not None and self._game(run, run.end_offset).complete

    def finish(self) -> list[Game]:
        """End the input and emit all games that are still followed or waiting."""
        if self._datagrams is not None:
            try:
                self._datagrams.finish()
            except Exception as error:  # a bug: the game is counted and closed, the others go on
                self.failures.note(error, self._datagrams.oldest, None, "")
        for run in list(self.boards.examined.values()):
            try:
                settle(self.boards, run)
            except Exception as error:  # a bug: the game is counted and closed, the others go on
                self._fail(run, error)
        for run in self.boards.every():
            try:
                self._end_with_log(run)
            except Exception as error:  # a bug: the game is counted and closed, the others go on
                self._fail(run, error)
        self.boards.examined.clear()
        self.boards.listed.clear()
        self._emit(1 << 62)
        games, self._games = self._games, []
        return games

    def _end_with_log(self, run: TrackedGame) -> None:
        if run.following:
            ends = [run.end_offset]
            ends += [run.last_word[0]]
            ends += [run.current.end_offset] if run.current is not None else []
            run.event(EventKind.FEED, "log ends here", (max(ends), self._last_at_ms))
        self.boards.close(run, run.left if run.suspended else GameEnd.LOG_ENDS)

    def _emit(self, offset: int) -> None:
        over = self.boards.over
        for run in over:
            if run.observations or run.lists:
                try:
                    self._emit_one(run, offset)
                except Exception as error:  # a bug: the game is counted and closed, the others go on
                    self._fail(run, error)
        over.clear()

    def _emit_one(self, run: TrackedGame, offset: int) -> None:
        game = self._game(run, offset)
        self._compare_dates(run)
        if self.engines is not None:
            self.engines.join(game)
        if not is_forgotten(game.white.handle, game.black.handle):  # a run may bear other names by now
            self._games.append(game)

    def _compare_dates(self, run: TrackedGame) -> None:
        words = disputed_start(run, self.basis, self.date)
        if words is not None:
            offset, text = run.facts.started_offset, run.facts.date_text or ""
            begin = run.first_offset if offset is None else offset
            self.anomalies.append(Anomaly.of(AnomalyKind.CLOCK_DISAGREES, begin, run.game_no, words, text))

    def _game(self, run: TrackedGame, offset: int) -> Game:
        session = run.session or self.session
        game = assemble(run, session=session.facts(offset, run.first_offset), basis=self.basis, date=self.date)
        add_titles(game, self._chat.titles)
        return game

    # -- errors of this program --------------------------------------------------------------------------------

    def _contain(self, error: Exception, taken: list[Event], frames: int) -> None:
        """Skip the event that failed, and close its game; ``frames`` had been counted before the first of ``taken``."""
        event = taken[-1]
        game_no: int | None
        if isinstance(event, Style12):
            number, offset, text = event.number, event.offset, event.text
            game_no = event.game_no if event.game_no >= 0 else None
        else:
            game_no, offset, text = getattr(event, "game_no", None), event.line.offset, event.line.text
            number = str(game_no)
        self.failures.note(error, offset, game_no, text)
        if sum(self.boards.counts.values()) + self.boards.next_plies < frames + sum(_is_frame(one) for one in taken):
            self.boards.count(Disposition.MALFORMED)
        if isinstance(event, Datagram) and self._datagrams is not None and game_no is not None:
            self._datagrams.drop(game_no)
        if not isinstance(event, ChatLine | GameNotice):  # words move no piece
            for games in (self.boards.runs, self.boards.examined):
                run = games.pop(number, None)
                if run is not None:
                    self._break_off(run)
        self._emit(offset)

    def _break_off(self, run: TrackedGame) -> None:
        """Close a game that may be half changed: later boards are another observation of it."""
        try:
            self.boards.close(run, GameEnd.UNOBSERVED)
        except Exception as error:  # a bug: the game is counted and closed, the others go on
            self._fail(run, error)

    def _fail(self, run: TrackedGame, error: Exception) -> None:
        self.failures.note(error, run.first_offset, run.game_no, f"{run.white} - {run.black}")

    def oldest_unfinished(self) -> int:
        """One beyond any source if all are emitted."""
        oldest = 1 << 62 if self._datagrams is None else self._datagrams.oldest
        return min([oldest, *(run.first_offset for run in self.boards.every())])

    # -- sessions and lists -----------------------------------------------------------------------------------

    def _session(self, event: SessionNotice) -> None:
        if event.kind is SessionNoticeKind.LOGIN:
            if self.session.me not in (None, event.value):
                self._begin_session(self.session.family, event.value)
            self.session.me = event.value
        if event.kind is SessionNoticeKind.BANNER and event.value != self.session.family:
            self._begin_session(event.value, None)
        # A login or a lost connection ends every feed; a shutdown that is only announced does not.
        warning = event.kind is SessionNoticeKind.SHUTDOWN and event.value is None
        another = event.kind is SessionNoticeKind.LOGIN or event.kind in _LOST_FEED
        if self._datagrams is not None and another and not warning:
            self._datagrams.finish()
            self._datagrams = None  # datagrams of one connection do not apply to the next
        if another:
            self.ends.lost_feed(event, warning=warning)
        if another and not warning:
            lose_all(self.boards, event.line)
        if event.kind is SessionNoticeKind.LOST_DATA:
            if self._datagrams is not None:
                self._datagrams.lost_data()
            for run in (*self.boards.runs.values(), *self.boards.examined.values()):
                if run.following:
                    run.event(EventKind.FEED, "server lost data", event.line)
                    run.navigation = ""  # the board that a line announced may be lost

    def _begin_session(self, family: str | None, me: str | None) -> None:
        """At a banner (``family``) or login (``me``) that is not this one's; its games keep their own."""
        self.boards.session = ServerSession(self.server, family, me, self.session)
        self.boards.lag_meaningless = self.session.lag_meaningless

    def _movelist(self, event: MovelistRead) -> None:
        if event.start_frame is not None:
            self.list_frames += 1
            self.session.look(event.start_frame)
        self.ends.release(event.line.offset)
        take_list(self.boards, event)

    # -- what happens in a game --------------------------------------------------------------------------------

    def _holdings(self, event: HoldingsLine) -> None:
        run = self.boards.runs.get(str(event.game_no)) or self.boards.examined.get(str(event.game_no))
        if answers(event.line.block, LIST_BLOCKS):
            run = None
        disposition, problem = take_holdings(run, event)
        if run is not None and run.tree is not None and run.position is not None:
            run.tree.learn(run.position)
        self.holdings[disposition] += 1
        if problem is not None:
            self.boards.complain(AnomalyKind.HOLDINGS, event.line, event.game_no, problem)

    def _datagram(self, event: Datagram) -> None:
        if self._datagrams is None:
            from recorder.tracking.datagrams.reader import DatagramGames  # hardly any log needs it

            self._datagrams = DatagramGames(self.boards, self._chat.titles)
        for meant in self._datagrams.take(event):
            self._handlers[type(meant)](meant)

    def _malformed(self, event: Malformed) -> None:
        if event.tag == "<12>":
            self.boards.counts[Disposition.MALFORMED] += 1
        elif event.tag == "<b1>":
            self.holdings[Disposition.MALFORMED] += 1
        if event.cause is not None:
            self.failures.note(event.cause, event.line.offset, None, event.line.text)
        else:
            self.boards.complain(AnomalyKind.MALFORMED, event.line, event.game_no, event.error)


def _is_frame(event: Event) -> bool:
    return isinstance(event, Style12) or (isinstance(event, Malformed) and event.tag == "<12>")


_all_facts: Final = attrgetter(*(field.name for field in fields(HeaderFacts)))
_NOT_YET: Final = 1 << 62


@dataclass(slots=True, eq=False)
class GameInProgress:
    """``state`` is all that decided how the game looked."""

    run: TrackedGame
    row: int | None = None
    state: tuple[Any, ...] = ()


class InProgressTracker(Tracker):
    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._shown: dict[TrackedGame, GameInProgress] = {}
        self._gone: list[int] = []
        self._failed: set[TrackedGame] = set()  # cannot be shown

    def changed(self) -> list[tuple[GameInProgress, Game]]:
        """Those that have changed since the last call, as if the source ended here, without games of erased players."""
        games: list[tuple[GameInProgress, Game]] = []
        for run in self.boards.every():
            if run in self._failed:
                continue
            try:
                self._look(run, games)
            except Exception as error:  # a bug: the game is counted and closed, the others go on
                self._fail(run, error)
                self._failed.add(run)
                self._drop(run)
        return games

    def _look(self, run: TrackedGame, games: list[tuple[GameInProgress, Game]]) -> None:
        progress = self._shown.get(run)
        if progress is not None and progress.state == _state(run):
            return
        if not (run.observations or run.lists):
            return
        if run.tree is None and is_forgotten(run.white, run.black):
            return
        if progress is None:
            progress = self._shown[run] = GameInProgress(run)
        game = self.snapshot(progress)
        if is_forgotten(game.white.handle, game.black.handle):  # an examined game bears its main line's names
            self._drop(run)
        else:
            games.append((progress, game))

    def _drop(self, run: TrackedGame) -> None:
        progress = self._shown.pop(run, None)
        if progress is not None and progress.row is not None:
            self._gone.append(progress.row)

    def _emit(self, offset: int) -> None:
        for run in self.boards.over:
            self._drop(run)
        self._failed.difference_update(self.boards.over)
        super()._emit(offset)

    def gone(self) -> list[int]:
        gone, self._gone = self._gone, []
        return gone

    def snapshot(self, progress: GameInProgress) -> Game:
        """As if the source ended here; it shares nothing with the one in progress."""
        progress.state = _state(progress.run)
        return self._game(_closed_copy(progress.run), _NOT_YET)


def _state(run: TrackedGame) -> tuple[Any, ...]:
    current = run.current
    return (
        id(current), len(run.observations), id(run.rows), run.white, run.black, run.variant, run.end, run.following,
        run.suspended, run.result, run.reason_key, run.gapped, run.delta is None, run.setup,
        len(run.rows), run.rows[-1:],
        None if current is None else (
            len(current.lines), tuple(current.anchors), len(current.events), len(current.holdings)
        ),
        len(run.lists), len(run.limits), run.limits[-1:],
        _all_facts(run.facts),
    )  # fmt: skip


def _closed_copy(run: TrackedGame) -> TrackedGame:
    """A run as it would be if the source ended here; nothing in it is shared that computing its game changes."""
    copy = run.copy()
    places = {id(old): _copy(old) for old in run.observations}
    copy.observations = list(places.values())
    copy.current = None if run.current is None else places.get(id(run.current), run.current)
    copy.lists = []
    for old in run.lists:
        copy.lists.append(ListSeen(old.event, _copy(old.observation), old.start, old.first_ply, old.positions))
    if copy.end is None:
        copy.end = copy.left if copy.suspended else GameEnd.LOG_ENDS
    copy.close_observation()
    return copy


def _copy(old: Observation) -> Observation:
    lines = [PlyLine(line.number, line.kind, line.parent, line.parent_ply, list(line.plies)) for line in old.lines]
    return replace(old, lines=lines, anchors=list(old.anchors), holdings=list(old.holdings), events=list(old.events))
