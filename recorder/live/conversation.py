"""What a recorder says to a server from the first byte to the last. Pure: bytes and times in, bytes out.

After the login come the settings that make the server's output whole (milliseconds, unwrapped lines, start positions,
game facts) and let it announce games, then the games: which to observe, and what to ask for where something is missing.
On leaving, settings that outlive the session are put back. All that arrives is understood here only to know what to
say; the archive is filled from the journal.
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
_LAST_WORDS_MS: Final = 60_000
_MOST_ANOMALIES: Final = 1_000
# "style=1" among others on a line of the answer to `variables`; nothing but such pairs stands on it.
_VARIABLES: Final = re.compile(r"\s*+(?>(?:[a-z_]++=\S++\s*+)+)")
_REST_MS: Final = 1_000  # for the rest of that answer
_ISETS: Final = ("ms", "gameinfo", "nowrap", "startpos", "defprompt", "nohighlight", "allresults")
_FIRST_ISETS: Final = 2  # with style and gin they are all that a server takes at once
_LASTING: Final = {"style": "12", "gin": "1"}
_TELLING: Final = {name: re.compile(rf"(?:^|\s){name}=([0-9]+)") for name in _LASTING}


class ConversationStage(Enum):
    """How far the conversation is."""

    LOGIN = "login"
    ASKING = "asking"  # what the settings were
    RECORDING = "recording"
    LEFT = "left"


@dataclass(slots=True)
class Lasting:
    """The settings that outlive a session: boards need style 12, and gin announces games.

    Attributes:
        own: the user's, as the server tells them; empty: not known, or a guest's, whose settings do not last.
        changed: names of those that are other ones now.
    """

    own: dict[str, str] = field(default_factory=dict)
    changed: set[str] = field(default_factory=set)

    def left_behind(self) -> str | None:
        """What the user must know at the end; None: nothing stays changed."""
        sentences = []
        for name, value in _LASTING.items():
            if name in self.changed:
                had = self.own.get(name)
                own = f"which {name} it had, the server did not tell" if had is None else f"it had {name} {had}"
                sentences.append(
                    f"The account has {name} {value} now and could not get its own back: {own}. "
                    f"“set {name}” changes it."
                )
        return " ".join(sentences) or None


def setting_commands(family: Family | None, own: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """The commands that make the output whole and let the server announce games, and those that put things back.

    Args:
        family: of server. own: the user's settings that outlive the session; empty: not known, or a guest's. One that
            is not among them the server does not have.
    Source: ``help iset`` and ``help set`` of FICS; chess.net and ICC take a ``/`` in front. ICC's description of its
    formats (section 3) names ``gin``, too.
    """
    words = {name: f"set {name}" for name in _LASTING}
    if family is Family.ICC:
        words = {name: f"/set-quietly {name}" for name in _LASTING}
    elif family is Family.CHESSNET:
        words = {"style": "/style", "gin": "/set gin"}
    # Boards and announcements come first, and before them what tells all about the first of them.
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
        login: lets us in.
        observing: which games to watch; it outlives the connection.
        server: the site's name where the server does not tell it.
        lasting: what was changed before and is to be put back; it outlives the connection, too.
        queue: spaces what is said after the login.

    Attributes:
        stage: how far it is.
        we: who we are, once we are in.
        tracker: knows the games that are being watched.
        lost: why the server ends the session, if it said so within the last minute: a notice, or None.
        games: that came and are over, or were given up with the connection.
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
        self._lost_ms = 0  # when ``lost`` was said
        self._lasting = Lasting() if lasting is None else lasting
        self._ours_before = frozenset(self._lasting.changed)  # the server may tell what we have set
        self._offset = 0
        self._due_ms = 0  # when the answer to `variables` is given up
        self._asked = 0  # times that we asked for them
        self._again_ms: int | None = None  # when the queue wants to be asked again

    def note_games(self) -> dict[str, Any] | None:
        """What a journal is to keep of the games that matched; None: there is nothing to tell."""
        tally, share = self._observing.tally, self._observing.share
        if not tally.matched and share is None:
            return None
        return {**tally.facts(), "share": None if share is None else str(share)}

    @property
    def boards(self) -> int:
        """Boards that came so far."""
        return sum(self.tracker.boards.frame_counts().values())

    def receive(self, data: bytes, now_ms: int, at_ms: int) -> None:
        """Take the server's bytes.

        Args:
            now_ms: monotonic. at_ms: UTC.
        Raises:
            LoginError: the server does not let us in.
        """
        if self.stage is ConversationStage.LOGIN:
            self._heard_ms = now_ms
            self._to_send += self._login.receive(data)
            if self._login.logged_in is not None:
                self._enter(self._login.logged_in, now_ms)
        lines = self._reader.receive(Chunk(data, self._offset, at_ms))
        self._offset += len(data)
        events = self._recogniser.feed(lines)
        if self.tracker.session.prompt is None:
            self.tracker.session.prompt = self._reader.prompt
        self.games += len(self.tracker.feed(events))
        if self.we is not None and not self.we.guest and len(self._lasting.own) < len(_LASTING):
            self._look_for_own(events, now_ms)
        if self.lost is not None and now_ms > self._lost_ms + _LAST_WORDS_MS:
            self.lost = None  # it has gone on: a shutdown was only announced
        self._note_loss(events, now_ms)
        if self.stage is ConversationStage.RECORDING:
            for event in events:
                self._observing.feed((event,), now_ms, self._queue.hear(event, now_ms))
            self._queue.put(self._backfill.look(self.tracker, events), now_ms)
        if len(self.tracker.anomalies) + len(self._reader.anomalies) > _MOST_ANOMALIES:  # the import tells them
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
                for name, telling in _TELLING.items():
                    found = telling.search(event.line.text)
                    if found is not None and not (name in self._ours_before and found[1] == _LASTING[name]):
                        own[name] = found[1]
                        if found[1] == _LASTING[name]:
                            changed.discard(name)
        if self.stage is ConversationStage.ASKING and "style" in own:
            if len(own) == len(_LASTING):
                self._begin(now_ms)
            else:
                self._due_ms = min(self._due_ms, now_ms + _REST_MS)

    def _begin(self, now_ms: int) -> None:
        """Set what makes the output whole, and begin to observe."""
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

    def _say(self, command: str) -> None:
        self._to_send += f"{command}\n".encode("ascii")

    def take(self, now_ms: int) -> bytes:
        """What is to be sent now, whole lines.

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
            self._again_ms = sending.again_at_ms
            if self.we is not None and not self.we.guest:
                self._note_changed(sending.data)
        data, self._to_send = self._to_send, b""
        return data

    def _note_changed(self, said: bytes) -> None:
        for name, value in _LASTING.items():
            if f"{name} {value}\n".encode("ascii") in said:
                self._lasting.changed.add(name)

    def next_at_ms(self, now_ms: int) -> int | None:
        """When ``take`` may have something even if nothing arrives; None: not before something does."""
        if self.stage is ConversationStage.LOGIN:
            return self._heard_ms + self._login.patience_ms
        if self.stage is ConversationStage.ASKING:
            return self._due_ms
        if self.stage is not ConversationStage.RECORDING:
            return None
        times = (self._again_ms, self._observing.next_at_ms(now_ms))
        return min((time for time in times if time is not None), default=None)

    def keep_alive(self, now_ms: int) -> None:
        """Say something harmless in its turn, if we are in."""
        if self.stage is ConversationStage.RECORDING:
            self._queue.put([KeepAlive()], now_ms)

    def leave(self) -> None:
        """Put back what was changed and say good-bye; nothing is asked for any more."""
        if self.stage is ConversationStage.RECORDING:
            for command in setting_commands(self._queue.family, self._lasting.own)[1]:
                self._say(command)
            self._lasting.changed.difference_update(self._lasting.own)
            self._observing.disconnected()
        if self.stage is not ConversationStage.LEFT:
            self._say("quit")
        self.stage = ConversationStage.LEFT

    def disconnected(self) -> None:
        """The connection is gone: what came last, perhaps without a line end, is looked at.

        Raises:
            LoginError: the server has ended it before we were in.
        """
        events = self._recogniser.feed(self._reader.finish()) + self._recogniser.finish()
        self._note_loss(events, self._lost_ms)
        self.games += len(self.tracker.feed(events)) + len(self.tracker.finish())
        before, self.stage = self.stage, ConversationStage.LEFT
        self._observing.disconnected()
        if before is ConversationStage.LOGIN:
            self._login.closed()
