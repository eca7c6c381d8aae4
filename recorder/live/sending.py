"""The queue of commands: sent at the server's pace, each matched with its answer.

Urgent requests go first, no request is queued twice, and several are sent without waiting for answers: servers answer
in order, so an answer without a number belongs to the oldest request that it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from recorder.dialects.lists import is_history_columns, is_no_history, parse_history_head
from recorder.dialects.session import Family
from recorder.dialects.style12 import check_frame
from recorder.events import (
    Event,
    GameEnded,
    GameNotice,
    GameNoticeKind,
    GamesCounted,
    MovelistRead,
    Noise,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
    Refusal,
    SessionNotice,
    SessionNoticeKind,
    Unrecognised,
)
from recorder.events.frames import Style12
from recorder.live.requests import (
    ANSWER_MS,
    AskGame,
    AskGames,
    AskHistory,
    AskMoves,
    AskPartner,
    AskRefresh,
    AskStored,
    KeepAlive,
    Observe,
    Request,
    Setting,
    Unobserve,
    format_request,
    no_command,
    no_partner,
)

__all__ = ["Pace", "RequestQueue", "Sending"]

_SLOWEST_MS: Final = 5_000
_SLOWER_MS: Final = 200  # the least gap once a server has reported that commands come too fast
_PAUSE_MS: Final = 1_000


class Pace:
    """The pace of one connection; once it has become slower it stays so.

    Args:
        gap_ms: between two commands in the long run. burst: commands that may go at once after a pause.
    """

    def __init__(self, gap_ms: int, burst: int) -> None:
        if gap_ms < 1 or burst < 1:
            raise ValueError("gap_ms and burst must be at least 1")
        self._gap_ms = gap_ms
        self._burst = burst
        self._credit_ms = gap_ms * burst
        self._since_ms: int | None = None  # up to when the credit was counted
        self._slowed_ms: int | None = None  # when the server refused last

    def ready(self, now_ms: int) -> bool:
        """Whether a command may go now."""
        if self._since_ms is not None and now_ms > self._since_ms:
            self._credit_ms = min(self._gap_ms * self._burst, self._credit_ms + now_ms - self._since_ms)
        self._since_ms = now_ms if self._since_ms is None else max(now_ms, self._since_ms)
        return now_ms >= self._since_ms and self._credit_ms >= self._gap_ms

    def spend(self) -> None:
        """Count a command that is sent."""
        self._credit_ms -= self._gap_ms

    def next_ms(self) -> int:
        """When the next command may go, as of the last call of ``ready``."""
        return (self._since_ms or 0) + max(0, self._gap_ms - self._credit_ms)

    def refused(self, sent_ms: int, now_ms: int) -> None:
        """Slow down after the server reported that commands come too fast.

        Args:
            sent_ms: when the refused command was sent; a command from before the last slowdown is ignored.
        """
        if self._slowed_ms is not None and sent_ms <= self._slowed_ms:
            return
        self._gap_ms = min(_SLOWEST_MS, max(_SLOWER_MS, 2 * self._gap_ms))
        self._burst = max(1, self._burst // 4)
        self._credit_ms = self._gap_ms
        self._slowed_ms = now_ms
        self._since_ms = now_ms + max(_PAUSE_MS, 2 * self._gap_ms)


# Lower numbers are sent first. Settings complete all later output; a place that is given up serves the next game; a
# late request may reach another game with the same number.
_PRIORITY: dict[type, int] = {
    Setting: 0,
    Unobserve: 1,
    AskMoves: 2,
    AskRefresh: 2,
    Observe: 2,
    AskPartner: 2,
    AskGame: 2,
    AskGames: 3,
    AskHistory: 3,
    AskStored: 3,
    KeepAlive: 4,
}
_PATIENCE_MS: Final = 60_000  # after which a request of low priority goes first
_SETTING_MS: Final = 10_000  # for this time a server may report that a setting came too fast


class Sending(NamedTuple):
    """Bytes to send now, perhaps none, and when to call ``take`` next; None: when a request is added."""

    data: bytes
    next_at_ms: int | None


class _Waiting(NamedTuple):
    since_ms: int
    order: int
    request: Request


class _Sent(NamedTuple):
    waited: _Waiting
    sent_ms: int

    @property
    def request(self) -> Request:
        return self.waited.request


class RequestQueue:
    """Requests of one connection.

    Args:
        family: of server, for how commands are written.
        gap_ms, burst: the pace until the server reports that it is too fast.
        window: requests without an answer.
        answer_ms: how long to wait for an answer.

    Attributes:
        family: of server.
    """

    def __init__(
        self,
        family: Family | None = None,
        *,
        gap_ms: int = 50,
        burst: int = 20,
        window: int = 16,
        answer_ms: int = ANSWER_MS,
    ) -> None:
        if window < 1 or answer_ms < 1:
            raise ValueError("window and answer_ms must be at least 1")
        self.family = family
        self._pace = Pace(gap_ms, burst)
        self._window = window
        self._answer_ms = answer_ms
        self._waiting: dict[Request, _Waiting] = {}
        self._sent: list[_Sent] = []  # without an answer, the oldest first
        self._settings: list[_Sent] = []  # their answers are not awaited
        self._refused_ms: int | None = None  # when the server reported that one of them came too fast
        self._order = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def under_way(self) -> tuple[Request, ...]:
        """The requests without an answer, the oldest first."""
        return tuple(sent.request for sent in self._sent)

    def put(self, requests: Iterable[Request], now_ms: int) -> None:
        """Add requests; those that are queued or sent already are not added again.

        An ``Observe`` and an ``Unobserve`` of one game that are both queued cancel each other.
        """
        self._give_up(now_ms)
        for request in requests:
            if request in self._waiting or request in self.under_way:
                continue
            opposite = _opposite(request)
            if opposite is not None and self._waiting.pop(opposite, None) is not None:
                continue
            self._order += 1
            self._waiting[request] = _Waiting(now_ms, self._order, request)

    def take(self, now_ms: int) -> Sending:
        """The bytes to send now.

        Args:
            now_ms: monotonic milliseconds, never less than before.
        Returns:
            Commands with their line ends, perhaps none; and the time to call again, None: after the next request.
        """
        self._give_up(now_ms)
        if self._refused_ms is not None and self._pace.ready(now_ms):
            self._requeue_refused(self._refused_ms)
        data = b""
        while self._waiting and len(self._sent) < self._window and self._pace.ready(now_ms):
            waiting = min(self._waiting.values(), key=lambda waiting: self._rank(waiting, now_ms))
            request = waiting.request
            del self._waiting[request]
            self._pace.spend()
            data += f"{format_request(request, self.family)}\n".encode("ascii")
            if isinstance(request, Setting):
                self._settings.append(_Sent(waiting, now_ms))
            elif not isinstance(request, KeepAlive):
                self._sent.append(_Sent(waiting, now_ms))
        if not self._waiting and self._refused_ms is None:
            return Sending(data, None)
        if len(self._sent) < self._window or self._refused_ms is not None:
            return Sending(data, self._pace.next_ms())
        return Sending(data, self._sent[0].sent_ms + self._answer_ms)

    def _give_up(self, now_ms: int) -> None:
        self._sent = [sent for sent in self._sent if now_ms < sent.sent_ms + self._answer_ms]
        self._settings = [sent for sent in self._settings if now_ms < sent.sent_ms + _SETTING_MS]

    @staticmethod
    def _rank(waiting: _Waiting, now_ms: int) -> tuple[int, int]:
        patient = now_ms - waiting.since_ms < _PATIENCE_MS
        return (_PRIORITY[type(waiting.request)] if patient else -1, waiting.order)

    # -- answers -----------------------------------------------------------------------------------------------

    def hear(self, event: Event, now_ms: int) -> Request | None:
        """Find the request that an event answers, and drop requests about a game that is over.

        Returns:
            The request; None: the event answers none.
        """
        if type(event) is Style12:
            if self._sent and check_frame(event) is None:
                return self._done(Observe(event.game_no), AskRefresh(event.game_no))
            return None
        handler = _ANSWERS.get(type(event))
        return None if handler is None else handler(self, event, now_ms)

    def _done(self, *requests: Request) -> Request | None:
        """One of these is answered."""
        return self._answered(lambda request: request in requests)

    def _done_kind(self, *kinds: type) -> Request | None:
        """The oldest of these kinds is answered."""
        return self._answered(lambda request: type(request) in kinds)

    def _answered(self, is_meant: Callable[[Request], bool]) -> Request | None:
        for index, sent in enumerate(self._sent):
            if is_meant(sent.request):
                del self._sent[: index + 1]  # the answers to earlier requests had unknown words
                return sent.request
        return None

    def _observing(self, event: ObservingStarted | ObservingEnded, now_ms: int) -> Request | None:
        if isinstance(event, ObservingStarted):
            self._waiting.pop(Observe(event.game_no), None)  # it was not refused after all, and the command toggles
        return self._done(Observe(event.game_no), Unobserve(event.game_no)) or self._done_kind(AskPartner)

    def _other(self, event: Unrecognised | Noise, now_ms: int) -> Request | None:
        text = event.line.text
        command = no_command(text)
        if no_partner(text) is not None:
            return self._done_kind(AskPartner)
        listed = is_history_columns(text) or parse_history_head(text) is not None
        if is_no_history(text):
            return self._done_kind(AskHistory, AskStored)
        if command == "history" or listed:
            return self._done_kind(AskHistory)
        return self._done_kind(AskStored) if command in ("smoves", "oldmoves") else None

    def _moves(self, event: MovelistRead, now_ms: int) -> Request | None:
        if event.game_no is None:
            return self._done_kind(AskMoves, AskStored)
        return self._done(AskMoves(event.game_no)) or self._done_kind(AskStored)

    def _games(self, event: GamesCounted, now_ms: int) -> Request | None:
        return self._done_kind(AskGames, AskGame)

    def _refused(self, event: ObserveRefused, now_ms: int) -> Request | None:
        if event.game_no is not None:
            return self._done(Observe(event.game_no), Unobserve(event.game_no))
        if event.reason is Refusal.NO_SUCH_GAME:
            return self._done_kind(Observe, AskPartner, Unobserve, AskMoves, AskRefresh, AskGame, AskStored)
        if event.reason is Refusal.NOT_OBSERVING:
            return self._done_kind(Unobserve, AskRefresh)
        return self._done_kind(Observe, AskPartner)

    def _notice(self, event: GameNotice, now_ms: int) -> Request | None:
        if event.kind is not GameNoticeKind.PRIVATE_GAME:
            return None
        return self._done_kind(Observe, AskPartner, AskMoves, AskRefresh)

    def _ended(self, event: GameEnded, now_ms: int) -> None:
        for kind in (Observe, Unobserve, AskMoves, AskRefresh, AskGame):
            self._waiting.pop(kind(event.game_no), None)  # its number may soon be another game's
        if self._refused_ms is not None:
            self._sent = [sent for sent in self._sent if getattr(sent.request, "game_no", None) != event.game_no]

    def _session(self, event: SessionNotice, now_ms: int) -> None:
        if event.kind is SessionNoticeKind.TOO_FAST:
            sent_ms = max((sent.sent_ms for sent in (*self._sent, *self._settings)), default=now_ms)
            self._pace.refused(sent_ms, now_ms)
            self._refused_ms = now_ms

    def _requeue_refused(self, refused_ms: int) -> None:
        """Queue requests without an answer again, after the pause that follows a refusal."""
        for sent in (*self._settings, *self._sent):
            if sent.sent_ms <= refused_ms:
                self._waiting.setdefault(sent.request, sent.waited)
        self._settings = [sent for sent in self._settings if sent.sent_ms > refused_ms]
        self._sent = [sent for sent in self._sent if sent.sent_ms > refused_ms]
        self._refused_ms = None


def _opposite(request: Request) -> Request | None:
    if isinstance(request, Observe):
        return Unobserve(request.game_no)
    return Observe(request.game_no) if isinstance(request, Unobserve) else None


_ANSWERS: dict[type, Callable[[RequestQueue, Any, int], Request | None]] = {
    ObservingStarted: RequestQueue._observing,
    ObservingEnded: RequestQueue._observing,
    MovelistRead: RequestQueue._moves,
    GamesCounted: RequestQueue._games,
    ObserveRefused: RequestQueue._refused,
    GameNotice: RequestQueue._notice,
    GameEnded: RequestQueue._ended,
    SessionNotice: RequestQueue._session,
    Unrecognised: RequestQueue._other,
    Noise: RequestQueue._other,
}
