"""The commands that a recorder sends to a server, from login to ``quit``. Pure: bytes and times in, bytes out.

After the login it sends the settings that complete the server's output (milliseconds, unwrapped lines, start positions,
game facts) and make it announce games. Then it observes games and requests missing boards and move lists. Before it
leaves, it restores settings that outlive the session. The server's bytes are parsed here only to choose commands; the
archive is made from the journal.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from recorder.dialects.recogniser import Recogniser
from recorder.dialects.session import Family
from recorder.events import Chunk, Event, Noise, SessionNotice, SessionNoticeKind, Unrecognised
from recorder.live.login.login import LoggedIn, Login
from recorder.live.policy.observing import Observing
from recorder.live.requests import Backfill, KeepAlive, Setting
from recorder.live.sending import RequestQueue
from recorder.model import TimeBasis
from recorder.tracking.tracker import Tracker
from recorder.wire.lines import LineReader

__all__ = ["Conversation", "Lasting", "ConversationStage", "setting_commands"]

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


class ConversationStage(Enum):
    """The stages of a conversation."""

    LOGIN = "login"
    ASKING = "asking"  # for the user's settings
    RECORDING = "recording"
    LEFT = "left"


@dataclass(slots=True)
class Lasting:
    """The settings that outlive a session: boards need style 12, and gin announces games.

    Attributes:
        own: the user's values as the server reports them; empty: unknown, or a guest's, whose settings do not last.
        changed: names of those that the recorder has changed. confirmed: of these, those whose change the server has
            reported.
    """

    own: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)
    confirmed: set[str] = field(default_factory=set)

    def left_behind(self) -> str | None:
        """A sentence for the user about settings that stay changed; None: all are restored."""
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
    """The commands that complete the server's output and make it announce games, and those that restore settings.

    Args:
        family: of server. own: the user's settings that outlive the session; empty: unknown, or a guest's. The server
            does not have a setting that is missing here.
    Source: ``help iset`` and ``help set`` of FICS; chess.net and ICC take a ``/`` in front. ICC's description of its
    formats (section 3) names ``gin``, too.
    """
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
    """One connection.

    Args:
        login: the login dialogue.
        observing: chooses the games to observe; it outlives the connection.
        server: the site's name if the server does not state it.
        lasting: settings to restore at the end; it outlives the connection, too.
        queue: spaces the commands after the login.

    Attributes:
        stage: of the conversation.
        we: the name of the login, once logged in.
        tracker: has the observed games.
        lost: the notice with which the server ended the session, within the last minute; else None.
        games: that are over, or whose observation ended with the connection.
    """

    def __init__(
        self,
        login: Login,
        observing: Observing,
        *,
        server: str | None = None,
        lasting: Lasting | None = None,
        queue: RequestQueue | None = None,
    ) -> None:
        self.stage = ConversationStage.LOGIN
        self.we: LoggedIn | None = None
        self.tracker = Tracker(basis=TimeBasis.UTC, server=server, chat="none")
        self.lost: SessionNotice | None = None
        self.games = 0
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
        """Counts of the games that matched, for a note in the journal; None: no game matched, and there is no share."""
        tally, share = self._observing.tally, self._observing.share
        if not tally.matched and share is None:
            return None
        return {**tally.facts(), "share": None if share is None else str(share)}

    @property
    def boards(self) -> int:
        """How many boards have arrived."""
        return sum(self.tracker.boards.frame_counts().values())

    def receive(self, data: bytes, now_ms: int, at_ms: int) -> None:
        """Take the server's bytes.

        Args:
            now_ms: monotonic. at_ms: UTC.
        Raises:
            LoginError: the server refuses the login.
        """
        if self.stage is ConversationStage.LOGIN:
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
        if self.stage is ConversationStage.RECORDING:
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
            self.stage = ConversationStage.ASKING
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
                    found = value.search(event.line.text)
                    if found is not None and not (name in self._ours_before and found[1] == _LASTING[name]):
                        own[name] = found[1]
                        if found[1] == _LASTING[name]:
                            changed.discard(name)
                    elif found is not None:
                        self._lasting.confirmed.add(name)
        if self.stage is ConversationStage.ASKING and "style" in own:
            if len(own) == len(_LASTING):
                self._begin(now_ms)
            else:
                self._due_ms = min(self._due_ms, now_ms + _REST_MS)

    def _look_for_changed(self, events: list[Event]) -> None:
        """Note which of the changed settings the server confirms."""
        for event in events:
            if isinstance(event, SessionNotice) and event.kind is SessionNoticeKind.STYLE:
                confirmed = {"style"} if event.value == _LASTING["style"] else set()
            elif isinstance(event, Unrecognised | Noise) and _GIN_ON.fullmatch(event.line.text):
                confirmed = {"gin"}
            else:
                continue
            self._lasting.confirmed |= confirmed & self._lasting.changed

    def _begin(self, now_ms: int) -> None:
        """Send the settings, and begin to observe."""
        self.stage = ConversationStage.RECORDING
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
        """The whole lines to send now.

        Raises:
            LoginError: the server has not answered for too long.
        """
        if self.stage is ConversationStage.LOGIN and now_ms >= self._heard_ms + self._login.patience_ms:
            self._heard_ms = now_ms
            self._to_send += self._login.timed_out()
        if self.stage is ConversationStage.ASKING and now_ms >= self._due_ms:
            if "style" not in self._lasting.own and self._asked < _VARIABLES_ASKED:
                self._ask(now_ms)
            else:
                self._begin(now_ms)
        if self.stage is ConversationStage.RECORDING:
            self._queue.put(self._observing.decide(now_ms), now_ms)
        if self.stage in (ConversationStage.ASKING, ConversationStage.RECORDING):
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
        """When ``take`` may have something to send even if nothing arrives; None: not before something arrives."""
        if self.stage is ConversationStage.LOGIN:
            return self._heard_ms + self._login.patience_ms
        if self.stage is ConversationStage.ASKING:
            return self._due_ms
        if self.stage is not ConversationStage.RECORDING:
            return None
        times = (self._queue_due_ms, self._observing.next_at_ms(now_ms))
        return min((time for time in times if time is not None), default=None)

    def keep_alive(self, now_ms: int) -> None:
        """Queue a harmless command, if logged in."""
        if self.stage is ConversationStage.RECORDING:
            self._queue.put([KeepAlive()], now_ms)

    def leave(self) -> None:
        """Restore the user's settings and send ``quit``; no request follows."""
        if self.stage is ConversationStage.RECORDING:
            for command in setting_commands(self._queue.family, self._lasting.own)[1]:
                self._send(command)
            self._lasting.changed.difference_update(self._lasting.own)
            self._observing.disconnected()
        if self.stage is not ConversationStage.LEFT:
            self._send("quit")
        self.stage = ConversationStage.LEFT

    def disconnected(self) -> None:
        """Parse the rest after the connection has ended, perhaps a line without its end.

        Raises:
            LoginError: the server ended the connection before the login was complete.
        """
        events = self._recogniser.feed(self._reader.finish()) + self._recogniser.finish()
        self._note_loss(events, self._lost_ms)
        self.games += len(self.tracker.feed(events)) + len(self.tracker.finish())
        before, self.stage = self.stage, ConversationStage.LEFT
        self._observing.disconnected()
        if before is ConversationStage.LOGIN:
            self._login.closed()
