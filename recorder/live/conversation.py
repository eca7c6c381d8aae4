"""The commands that a recorder sends to a server, from login to ``quit``. Pure: bytes and times in, bytes out.

After the login it sends the settings that complete the server's output (milliseconds, unwrapped lines, start
positions, game facts) and make it announce games. Then it observes games and requests missing boards and move lists.
Before it leaves, it restores settings that outlive the session. The server's bytes are parsed here only to choose
commands; the archive is made from the journal.

The pace of requests. A recorder may want to send hundreds of commands at once (a tournament begins, or it has
reconnected), and a server has a limit that it does not state::

    > observe 12
    > observe 13
    < You are now observing game 12.
    < Game 12: Tal (2643) Smyslov (2600) rated blitz 3 2
    < You are sending commands too fast.

A refusal does not name the command that was refused, answers have no number of their command (except in block mode),
and a refused ``observe`` looks like one that is still on its way. Sent twice, it would end the observation: it
toggles.

``Pace`` decides *when* a command may go. It is a bucket of credit: each command costs ``gap_ms``, time gives credit
back, and at most ``burst`` commands' credit can be saved. So a short burst goes at once, and the mean rate stays
bounded. After a refusal the gap doubles (200 ms to 5 s), the burst shrinks to a quarter, and nothing is sent for at
least a second. A pace that has become slower stays so for the connection: what the server refused once it refuses
again.

``RequestQueue`` decides *which* command is next and what became of it:

- Urgent kinds first: settings, then places that are given up, then games and their missing data, then tables. After a
  minute of waiting any request goes first, so that nothing starves.
- At most ``window`` requests are without an answer. Servers answer in order, so an answer belongs to the oldest
  request that it fits, and all requests before that one are answered, too, in words that we do not know.
- After ``answer_ms`` a request counts as answered. After a refusal all that were sent before it and have no answer are
  queued again, at their old place.
- A request about a game is dropped when the game ends: its number may be another game's a moment later.
- ``observe`` and ``unobserve`` of one game that are both waiting cancel each other.

What must never happen: a request is sent again while its answer may still come; a request for one game reaches another
one under its number; the queue stops because an answer was lost.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, NamedTuple

from recorder.dialects.lists import is_history_columns, is_no_history, parse_history_head
from recorder.dialects.recogniser import Recogniser
from recorder.dialects.session import Family
from recorder.dialects.style12 import check_frame
from recorder.events import (
    Chunk,
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
from recorder.live.login.login import LoggedIn, Login
from recorder.live.policy.observing import Observing
from recorder.live.requests import (
    ANSWER_MS,
    AskGame,
    AskGames,
    AskHistory,
    AskMoves,
    AskPartner,
    AskRefresh,
    AskStored,
    Backfill,
    KeepAlive,
    Observe,
    Request,
    Setting,
    Unobserve,
    format_request,
    no_command,
    no_partner,
)
from recorder.model import TimeBasis
from recorder.tracking.tracker import Tracker
from recorder.wire.lines import LineReader

_SLOWEST_MS: Final = 5_000
_SLOWER_MS: Final = 200  # the least gap once a server has reported that commands come too fast
_PAUSE_MS: Final = 1_000


class Pace:
    """``gap_ms`` between two commands in the long run, ``burst`` at once after a pause; it only slows down."""

    def __init__(self, gap_ms: int, burst: int) -> None:
        if gap_ms < 1 or burst < 1:
            raise ValueError("gap_ms and burst must be at least 1")
        self._gap_ms = gap_ms
        self._burst = burst
        self._credit_ms = gap_ms * burst
        self._since_ms: int | None = None  # up to when the credit was counted
        self._slowed_ms: int | None = None  # when the server refused last

    def ready(self, now_ms: int) -> bool:
        # ``_since_ms`` may be in the future: after a refusal nothing is saved and nothing sent until then.
        if self._since_ms is not None and now_ms > self._since_ms:
            self._credit_ms = min(self._gap_ms * self._burst, self._credit_ms + now_ms - self._since_ms)
        self._since_ms = now_ms if self._since_ms is None else max(now_ms, self._since_ms)
        return now_ms >= self._since_ms and self._credit_ms >= self._gap_ms

    def spend(self) -> None:
        self._credit_ms -= self._gap_ms

    def next_ms(self) -> int:
        """When the next command may go, as of the last call of ``ready``."""
        return (self._since_ms or 0) + max(0, self._gap_ms - self._credit_ms)

    def refused(self, sent_ms: int, now_ms: int) -> None:
        """Slow down: commands came too fast. One from before the last slowdown counts no more."""
        # One burst gets many refusals: the first one slows down, the others are about commands that were already sent.
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
    """``next_at_ms`` None: when a request is added."""

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
    """At most ``window`` requests have no answer, each for ``answer_ms``; ``gap_ms``, ``burst``: the first pace."""

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
        return tuple(sent.request for sent in self._sent)

    def put(self, requests: Iterable[Request], now_ms: int) -> None:
        """Add requests that are not there; ``Observe`` and ``Unobserve`` of one game cancel each other."""
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
        """``next_at_ms`` is monotonic."""
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
        """Find the request that an event answers, and drop requests about a game that is over."""
        if type(event) is Style12:
            if self._sent and check_frame(event) is None:
                return self._done(Observe(event.game_no), AskRefresh(event.game_no))
            return None
        handler = _ANSWERS.get(type(event))
        return None if handler is None else handler(self, event, now_ms)

    def _done(self, *requests: Request) -> Request | None:
        return self._answered(lambda request: request in requests)

    def _done_kind(self, *kinds: type) -> Request | None:
        return self._answered(lambda request: type(request) in kinds)

    def _answered(self, is_meant: Callable[[Request], bool]) -> Request | None:
        # Servers answer in order, so the oldest request that fits is meant.
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
        # Which of them was refused is unknown. Those that were not have been answered by now, except for commands in
        # words that we do not know; their old place in the queue keeps them in order.
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


_VARIABLES_MS: Final = 5_000
_VARIABLES_ASKED: Final = 3
_GOODBYE_MS: Final = 60_000
_MOST_ANOMALIES: Final = 1_000
# "style=1" on a line of the answer to `variables`, which contains only such pairs.
_VARIABLES: Final = re.compile(r"\s*+(?>(?:[a-z_]++=\S++\s*+)+)")
_GIN_ON: Final = re.compile(r"You will now hear game results\. *")
_REST_MS: Final = 1_000  # for the rest of that answer
_ISETS: Final = ("ms", "gameinfo", "nowrap", "startpos", "defprompt", "nohighlight", "allresults")
_FIRST_ISETS: Final = 2  # a server accepts these, style and gin at once, and no more
_LASTING: Final = {"style": "12", "gin": "1"}
_VALUES: Final = {name: re.compile(rf"(?:^|\s){name}=([0-9]+)") for name in _LASTING}


class RecorderStage(StrEnum):
    """How far a recorder is with its connection; a conversation begins with the login."""

    CONNECTING = "connecting"
    WAITING = "waiting"  # for the next attempt
    LOGIN = "login"
    ASKING = "asking"  # for the user's settings
    RECORDING = "recording"
    LEFT = "left"  # or recording has ended


@dataclass(slots=True)
class Lasting:
    """The settings that outlive a session: boards need style 12, and gin announces games.

    ``own`` are the user's values as the server reports them, empty if unknown, or a guest's, whose settings do not
    last.
    """

    own: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)  # by the recorder
    confirmed: set[str] = field(default_factory=set)  # those of them whose change the server has reported

    def left_behind(self) -> str | None:
        """A sentence for the user about settings that stay changed."""
        sentences = []
        for name, value in _LASTING.items():
            if name in self.changed:
                had = self.own.get(name)
                own = "the server did not report it" if had is None else f"it had {name} {had}"
                has = "has" if name in self.confirmed else "may have"
                sentences.append(
                    f"The account {has} {name} {value} now, because its own could not be restored: {own}. "
                    f"“set {name}” changes it."
                )
        return " ".join(sentences) or None


def setting_commands(family: Family | None, own: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Commands that complete the server's output and make it announce games, and those to restore settings."""
    # Source: "help iset" and "help set" of FICS; chess.net and ICC take a / in front. ICC's description of its formats
    # (section 3) names gin, too. The server does not have a setting that is missing in ``own``.
    words = {name: f"set {name}" for name in _LASTING}
    if family is Family.ICC:
        words = {name: f"/set-quietly {name}" for name in _LASTING}
    elif family is Family.CHESSNET:
        words = {"style": "/style", "gin": "/set gin"}
    # Boards and announcements come first, after the settings that complete the first of them.
    isets = [] if family in (Family.ICC, Family.CHESSNET) else [f"iset {name} 1" for name in _ISETS]
    commands, back = isets[:_FIRST_ISETS], []
    for name, value in _LASTING.items():
        had = own.get(name)
        if had != value and (had is not None or not own):
            commands.append(f"{words[name]} {value}")
            back += [] if had is None else [f"{words[name]} {had}"]
    commands += isets[_FIRST_ISETS:]
    return commands, back


class Conversation:
    """One connection; ``observing`` and ``lasting`` (settings to restore at the end) outlive it."""

    def __init__(
        self,
        login: Login,
        observing: Observing,
        *,
        server: str | None = None,
        lasting: Lasting | None = None,
        queue: RequestQueue | None = None,
    ) -> None:
        self.stage = RecorderStage.LOGIN
        self.we: LoggedIn | None = None
        self.tracker = Tracker(basis=TimeBasis.UTC, server=server, chat="none")
        self.lost: SessionNotice | None = None  # with which the server ended the session, within the last minute
        self.games = 0  # over, or their observation ended with the connection
        self._login = login
        self._observing = observing
        self._reader = LineReader()
        self._recogniser = Recogniser()
        self._backfill = Backfill()
        self._queue = RequestQueue() if queue is None else queue
        self._to_send = b""
        self._heard_ms = 0
        self._lost_ms = 0  # when ``lost`` was received
        self._lasting = Lasting() if lasting is None else lasting
        self._ours_before = frozenset(self._lasting.changed)  # the server may report the values that we have set
        self._offset = 0
        self._due_ms = 0  # when waiting for the answer to `variables` ends
        self._asked = 0  # how often `variables` was sent
        self._queue_due_ms: int | None = None  # when the queue has something to send

    def note_games(self) -> dict[str, Any] | None:
        """For a note in the journal; None: no game matched, and there is no share."""
        tally, share = self._observing.tally, self._observing.share
        if not tally.matched and share is None:
            return None
        return {**tally.facts(), "share": None if share is None else str(share)}

    @property
    def boards(self) -> int:
        return sum(self.tracker.boards.frame_counts().values())

    def receive(self, data: bytes, now_ms: int, at_ms: int) -> None:
        """``now_ms`` is monotonic, ``at_ms`` UTC."""
        if self.stage is RecorderStage.LOGIN:
            self._heard_ms = now_ms
            self._to_send += self._login.receive(data)
            if self._login.logged_in is not None:
                self._enter(self._login.logged_in, now_ms)
        lines = self._reader.receive(Chunk(data, self._offset, at_ms))
        self._offset += len(data)
        events = self._recogniser.feed(lines)
        if self._reader.prompt is not None and not self.tracker.session.prompts:
            self.tracker.session.prompts.append(self._reader.prompt)
        self.games += len(self.tracker.feed(events))
        if self.we is not None and not self.we.guest:
            if self._lasting.changed - self._lasting.confirmed:
                self._look_for_changed(events)
            if len(self._lasting.own) < len(_LASTING):
                self._look_for_own(events, now_ms)
        if self.lost is not None and now_ms > self._lost_ms + _GOODBYE_MS:
            self.lost = None  # the session continues: a shutdown was only announced
        self._note_loss(events, now_ms)
        if self.stage is RecorderStage.RECORDING:
            for event in events:
                self._observing.feed((event,), now_ms, self._queue.hear(event, now_ms))
            self._queue.put(self._backfill.look(self.tracker, events), now_ms)
        if len(self.tracker.anomalies) + len(self._reader.anomalies) > _MOST_ANOMALIES:  # the import reports them
            self.tracker.anomalies.clear()
            self._reader.anomalies.clear()

    def _enter(self, we: LoggedIn, now_ms: int) -> None:
        self.we = we
        self._queue.family = we.family
        if we.guest or self._ours_before:
            self._begin(now_ms)
        else:
            self.stage = RecorderStage.ASKING
            self._ask(now_ms)

    def _ask(self, now_ms: int) -> None:
        self._asked += 1
        self._due_ms = now_ms + _VARIABLES_MS
        self._queue.put([Setting("variables")], now_ms)

    def _look_for_own(self, events: list[Event], now_ms: int) -> None:
        own, changed = self._lasting.own, self._lasting.changed
        for event in events:
            if isinstance(event, Unrecognised | Noise) and _VARIABLES.fullmatch(event.line.text):
                for name, value in _VALUES.items():
                    match = value.search(event.line.text)
                    if match is not None and not (name in self._ours_before and match[1] == _LASTING[name]):
                        own[name] = match[1]
                        if match[1] == _LASTING[name]:
                            changed.discard(name)
                    elif match is not None:
                        self._lasting.confirmed.add(name)
        if self.stage is RecorderStage.ASKING and "style" in own:
            if len(own) == len(_LASTING):
                self._begin(now_ms)
            else:
                self._due_ms = min(self._due_ms, now_ms + _REST_MS)

    def _look_for_changed(self, events: list[Event]) -> None:
        for event in events:
            if isinstance(event, SessionNotice) and event.kind is SessionNoticeKind.STYLE:
                confirmed = {"style"} if event.value == _LASTING["style"] else set()
            elif isinstance(event, Unrecognised | Noise) and _GIN_ON.fullmatch(event.line.text):
                confirmed = {"gin"}
            else:
                continue
            self._lasting.confirmed |= confirmed & self._lasting.changed

    def _begin(self, now_ms: int) -> None:
        self.stage = RecorderStage.RECORDING
        commands, _ = setting_commands(self._queue.family, self._lasting.own)
        self._queue.put(map(Setting, commands), now_ms)
        self._observing.connected(now_ms, self.tracker.is_whole)

    def _note_loss(self, events: list[Event], now_ms: int) -> None:
        for event in events:
            if isinstance(event, SessionNotice) and event.kind in (
                SessionNoticeKind.SHUTDOWN,
                SessionNoticeKind.IDLE_LOGOUT,
                SessionNoticeKind.TAKEN_OVER,
            ):
                self.lost, self._lost_ms = event, now_ms

    def _send(self, command: str) -> None:
        self._to_send += f"{command}\n".encode("ascii")

    def take(self, now_ms: int) -> bytes:
        """The whole lines to send now; LoginError: the server has not answered for too long."""
        if self.stage is RecorderStage.LOGIN and now_ms >= self._heard_ms + self._login.patience_ms:
            self._heard_ms = now_ms
            self._to_send += self._login.timed_out()
        if self.stage is RecorderStage.ASKING and now_ms >= self._due_ms:
            if "style" not in self._lasting.own and self._asked < _VARIABLES_ASKED:
                self._ask(now_ms)
            else:
                self._begin(now_ms)
        if self.stage is RecorderStage.RECORDING:
            self._queue.put(self._observing.decide(now_ms), now_ms)
        if self.stage in (RecorderStage.ASKING, RecorderStage.RECORDING):
            sending = self._queue.take(now_ms)
            self._to_send += sending.data
            self._queue_due_ms = sending.next_at_ms
            if self.we is not None and not self.we.guest:
                self._note_changed(sending.data)
        data, self._to_send = self._to_send, b""
        return data

    def _note_changed(self, sent: bytes) -> None:
        for name, value in _LASTING.items():
            if f"{name} {value}\n".encode("ascii") in sent:
                self._lasting.changed.add(name)

    def next_at_ms(self, now_ms: int) -> int | None:
        """When ``take`` may have something to send even if nothing arrives."""
        if self.stage is RecorderStage.LOGIN:
            return self._heard_ms + self._login.patience_ms
        if self.stage is RecorderStage.ASKING:
            return self._due_ms
        if self.stage is not RecorderStage.RECORDING:
            return None
        times = (self._queue_due_ms, self._observing.next_at_ms(now_ms))
        return min((time for time in times if time is not None), default=None)

    def keep_alive(self, now_ms: int) -> None:
        if self.stage is RecorderStage.RECORDING:
            self._queue.put([KeepAlive()], now_ms)

    def leave(self) -> None:
        """No request follows."""
        if self.stage is RecorderStage.RECORDING:
            for command in setting_commands(self._queue.family, self._lasting.own)[1]:
                self._send(command)
            self._lasting.changed.difference_update(self._lasting.own)
            self._observing.disconnected()
        if self.stage is not RecorderStage.LEFT:
            self._send("quit")
        self.stage = RecorderStage.LEFT

    def disconnected(self) -> None:
        """Parse the rest after the connection has ended; LoginError: that was before the login was complete."""
        events = self._recogniser.feed(self._reader.finish()) + self._recogniser.finish()
        self._note_loss(events, self._lost_ms)
        self.games += len(self.tracker.feed(events)) + len(self.tracker.finish())
        before, self.stage = self.stage, RecorderStage.LEFT
        self._observing.disconnected()
        if before is RecorderStage.LOGIN:
            self._login.closed()
