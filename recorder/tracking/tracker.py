"""Events in, finished games out.

The tracker routes each event to the game that it names. Frames go to ``Boards``. A game that is over waits a while for
a late movelist; it is emitted when its number is used again, when it has waited long enough, or at the end. Waiting
is measured in bytes of the source, never in wall time, so reading the same bytes again gives the same games.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from functools import partial
from operator import length_hint
from typing import TYPE_CHECKING, Any

from recorder.containment import Failures
from recorder.dialects.session import LIST_BLOCKS, answers
from recorder.events import (
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
from recorder.model import Anomaly, AnomalyKind, Disposition, EventKind, Game, TimeBasis, is_forgotten
from recorder.tracking.assemble import add_titles, assemble, disputed_start
from recorder.tracking.boards import Boards
from recorder.tracking.deltas import take_delta
from recorder.tracking.examined.boards import lose_all, settle, take_notice
from recorder.tracking.facts import take_creating, take_header, take_info, take_row
from recorder.tracking.game_lines import Chat, GameEnds, place_of_line, take_partner
from recorder.tracking.holdings import take_holdings
from recorder.tracking.movelists import take_list
from recorder.tracking.session import ServerSession
from recorder.tracking.tracked_game import TrackedGame

if TYPE_CHECKING:
    from recorder.tracking.datagrams.reader import DatagramGames
    from recorder.tracking.engines.games import Engines

__all__ = ["Tracker"]

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
    """Follows the games of one connection.

    Args:
        basis: of the arrival times.
        server: the site's name if the log does not contain it.
        date: of the log, for games whose lines contain none.
        chat: ``none``, ``public``, ``own`` or ``all``: which words are kept with the games.
    Attributes:
        failures: events and games that an error of this program kept from being read.
    """

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
        """Findings so far."""
        return self.boards.anomalies

    @property
    def session(self) -> ServerSession:
        """The session being read."""
        return self.boards.session

    def feed(self, events: list[Event]) -> list[Game]:
        """Take events in order.

        Args:
            events: as the recogniser emits them.

        Returns:
            The games that were finished with by them.
        """
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
            except Exception as error:
                self._contain(error, events[: len(events) - length_hint(waiting)], frames)
        if events:
            last = events[-1]
            self._last_at_ms = last.at_ms if isinstance(last, Style12) else last.line.at_ms
        games, self._games = self._games, []
        return games

    def is_whole(self, number: int) -> bool:
        """Whether the last game with a number is over and complete.

        Args:
            number: of the server.

        Returns:
            False also where no game had this number.
        """
        run = self.boards.runs.get(str(number))
        return run is not None and run.end is not None and self._game(run, run.end_offset).complete

    def finish(self) -> list[Game]:
        """End the input: emit all games that are still followed or waiting.

        Returns:
            These games; the tracker takes no events after that.
        """
        if self._datagrams is not None:
            try:
                self._datagrams.finish()
            except Exception as error:
                self.failures.note(error, self._datagrams.oldest, None, "")
        for run in list(self.boards.examined.values()):
            try:
                settle(self.boards, run)
            except Exception as error:
                self._fail(run, error)
        for run in self.boards.every():
            try:
                self._end_with_log(run)
            except Exception as error:
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
        self.boards.close(run, run.left if run.suspended else "log-ends")

    def _emit(self, offset: int) -> None:
        over = self.boards.over
        for run in over:
            if run.observations or run.lists:
                try:
                    self._emit_one(run, offset)
                except Exception as error:
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
        """Note where the server's date and arrival times contradict each other; the game has the latter."""
        words = disputed_start(run, self.basis, self.date)
        if words is not None:
            offset, text = run.facts.started_offset, run.facts.date_text or ""
            at = run.first_offset if offset is None else offset
            self.anomalies.append(Anomaly.of(AnomalyKind.CLOCK_DISAGREES, at, run.game_no, words, text))

    def _game(self, run: TrackedGame, offset: int) -> Game:
        """The game of a run that is closed, with what is known at a place of the source."""
        session = run.session or self.session
        game = assemble(run, session=session.facts(offset, run.first_offset), basis=self.basis, date=self.date)
        add_titles(game, self._chat.titles)
        return game

    # -- errors of this program --------------------------------------------------------------------------------

    def _contain(self, error: Exception, taken: list[Event], frames: int) -> None:
        """Skip the event that failed, and close its game.

        Args:
            frames: how many had been counted before the first of them.
        """
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
            self.boards.close(run, "unobserved")
        except Exception as error:
            self._fail(run, error)

    def _fail(self, run: TrackedGame, error: Exception) -> None:
        """Exclude a game after an error."""
        self.failures.note(error, run.first_offset, run.game_no, f"{run.white} - {run.black}")

    def oldest_unfinished(self) -> int:
        """Offset of the first game that is not emitted.

        Returns:
            An offset beyond any source if all games are emitted.
        """
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
                    run.event(EventKind.FEED, "server lost data", place_of_line(event.line))
                    run.navigation = ""  # the board that a line announced may be lost

    def _begin_session(self, family: str | None, me: str | None) -> None:
        """A banner or a login that is not this session's begins another one; its games keep their own.

        Args:
            family: of the server. me: our handle. None: the line does not show it.
        """
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
            self.anomalies.append(
                Anomaly.of(AnomalyKind.HOLDINGS, event.line.offset, event.game_no, problem, event.line.text)
            )

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
        offset, text = event.line.offset, event.line.text
        if event.cause is not None:
            self.failures.note(event.cause, offset, None, text)
        else:
            self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, offset, event.game_no, event.error, text))


def _is_frame(event: Event) -> bool:
    """Whether it is counted among the frames."""
    return isinstance(event, Style12) or (isinstance(event, Malformed) and event.tag == "<12>")
