"""X"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any, Final

from recorder.errors import JournalError, LoginError
from recorder.events import SessionNoticeKind
from recorder.journal import JournalWriter
from recorder.live.conversation import Conversation, ConversationStage
from recorder.live.messages import MessageSink
from recorder.live.net.sockets import failure_reason
from recorder.live.recording import RecordedConnection
from recorder.live.requests import KeepAlive, format_request
from recorder.live.secrets.client import SecretGuard
from recorder.wire.timeseal import Sealing

__all__ = ["ANSWER_MS", "Connection", "Incoming", "LEAVE_S", "Pulse", "TakenOverError", "open_connection"]

_REST_BYTES: Final = 1 << 16


class Incoming(asyncio.Protocol):
    """Hands over all bytes that came before the connection ended or failed; nothing before ``resume``.

    When writing fails, asyncio reports the failure without the bytes that the system still holds: they are read here.

    Args:
        connected: the socket. take: gets what arrives, never nothing; must not raise. ended: called when no more comes.

    Attributes:
        ended: no more comes. failure: why not, if the other side did not end it.
        closed: done when the socket is closed.
    """

    def __init__(
        self, connected: socket.socket, take: Callable[[bytes], None], ended: Callable[[], None] = lambda: None
    ) -> None:
        self.ended = False
        self.failure: Exception | None = None
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rest = connected.dup()  # still readable when the transport has failed
        self._take = take
        self._on_end = ended
        self._early: list[bytes] | None = []  # what came before ``resume``

    def resume(self) -> None:
        """Hand over what arrives from now on, and what has arrived."""
        early, self._early = self._early, None
        for data in early or ():
            self._take(data)

    def data_received(self, data: bytes) -> None:
        """Called by asyncio."""
        if self._early is None:
            self._take(data)
        else:
            self._early.append(data)

    def eof_received(self) -> bool:
        """Called by asyncio; what we say may still arrive at the other side."""
        self._end(None)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by asyncio."""
        if exc is not None:
            with contextlib.suppress(OSError):
                while data := self._rest.recv(_REST_BYTES):
                    self.data_received(data)
        self._rest.close()
        self._end(exc)
        self.closed.set_result(None)

    def _end(self, failure: Exception | None) -> None:
        if failure is not None:
            self.failure = failure
        if not self.ended:
            self.ended = True
            self._on_end()


async def open_connection(connected: socket.socket, incoming: Incoming) -> asyncio.Transport:
    """A transport for a socket that does not block."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: incoming, sock=connected)
    return transport


ANSWER_MS: Final = 120_000
"""So long may a server leave our words unanswered, or unread."""
_QUIET_MS: Final = 120_000
_IDLE_MS: Final = 30 * 60_000  # servers log out who says nothing for an hour


class Pulse:
    """The signs of life of one connection.

    Args:
        now_ms: monotonic, as all times here.
    """

    def __init__(self, now_ms: int) -> None:
        self._heard_ms = now_ms
        self._said_ms = now_ms
        self._asked_ms: int | None = None  # the first words that nothing has followed
        self._stuck_ms: int | None = None  # since when the system holds bytes that the server does not take

    def heard(self, now_ms: int) -> None:
        """Bytes came."""
        self._heard_ms = now_ms
        self._asked_ms = None

    def said(self, now_ms: int) -> None:
        """Something was said that a server answers."""
        self._said_ms = now_ms
        if self._asked_ms is None:
            self._asked_ms = now_ms

    def waits(self, waiting: bool, now_ms: int) -> None:
        """Tell whether bytes of ours wait because the server takes none."""
        if not waiting:
            self._stuck_ms = None
        elif self._stuck_ms is None:
            self._stuck_ms = now_ms

    def wants_words(self, now_ms: int) -> bool:
        """Whether something harmless is to be said, for the server's answer or because we would seem idle."""
        if now_ms - self._said_ms >= _IDLE_MS:
            return True
        return self._asked_ms is None and now_ms - self._heard_ms >= _QUIET_MS

    def dead(self, now_ms: int) -> str | None:
        """Why the line is to be given up, a clause; None: it may be alive."""
        if self._asked_ms is not None and now_ms - self._asked_ms >= ANSWER_MS:
            return f"the server has not answered for {_minutes(now_ms - self._heard_ms)}"
        if self._stuck_ms is not None and now_ms - self._stuck_ms >= ANSWER_MS:
            return f"the server has taken nothing for {_minutes(now_ms - self._stuck_ms)}"
        return None


def _minutes(ms: int) -> str:
    minutes = max(1, round(ms / 60_000))
    return "a minute" if minutes == 1 else f"{minutes} minutes"


LEAVE_S: Final = 3.0
"""So long a server has to close the connection when we have said good-bye."""
_NOTE_MS: Final = 10_000
_TICK_S: Final = 1.0
_MOST_WAITING: Final = 1 << 16


class TakenOverError(LoginError):
    """Another login of ours is in; two that fight for a name would never end."""


class Connection:
    """One connection.

    Args:
        journal: takes everything first. conversation: decides what to say.
        sealing: if the connection is time-sealed.
        tell: gets whatever changes.
        count: gets how many bytes and boards each read has brought.

    Attributes:
        lost: whether the other side, or the line, has ended it.
    """

    def __init__(
        self,
        journal: JournalWriter,
        conversation: Conversation,
        sealing: Sealing | None,
        tell: MessageSink,
        count: Callable[[int, int], None],
    ) -> None:
        self.lost = False
        self._journal = journal
        self._conversation = conversation
        self._sealing = sealing
        self._tell = tell
        self._count = count
        self._recording = RecordedConnection(journal, SecretGuard(), self._tell_mute, must=True)
        self._pulse = Pulse(self._now_ms())
        self._deaf = False
        self._leaving_ms: int | None = None
        self._woken = asyncio.Event()
        self._failure: Exception | None = None
        self._over = False  # it is only written down
        self._noted: dict[str, Any] | None = None  # of games
        self._noted_ms: int | None = None

    async def run(self, connected: socket.socket, stop: asyncio.Event) -> str:
        """Record until one side ends it; tells how it ended.

        Args:
            connected: to the server; it is closed at the end. stop: set when we shall leave.
        Raises:
            LoginError: the server does not let us in, or has let somebody else in.
            JournalError: the journal cannot be written.
        """
        self._incoming = Incoming(connected, self._arrived, self._woken.set)
        self._transport = await open_connection(connected, self._incoming)
        try:
            return await self._record(stop)
        finally:
            self._transport.close()
            if self._transport.get_write_buffer_size():  # nobody takes it
                self._transport.abort()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._incoming.closed), LEAVE_S)

    async def _record(self, stop: asyncio.Event) -> str:
        stopped = asyncio.create_task(stop.wait())
        stopped.add_done_callback(lambda _: self._woken.set())
        try:
            if self._sealing is not None:
                self._write(self._sealing.hello(self._now_ms()))
            self._incoming.resume()
            while True:
                self._speak()
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(self._wait_s()):
                        await self._woken.wait()
                self._woken.clear()
                if self._failure is not None:
                    raise self._failure
                self._recording.tick()
                self._note_games(_NOTE_MS)
                if self._incoming.ended:
                    if self._incoming.failure is not None:
                        self._journal.note("reset", reason=failure_reason(self._incoming.failure))
                    self._understand(self._conversation.disconnected)
                    return self._how()
                now_ms = self._now_ms()
                if stop.is_set() and self._leaving_ms is None:
                    self._leaving_ms = now_ms
                    self._conversation.leave()
                elif self._leaving_ms is not None and now_ms - self._leaving_ms >= LEAVE_S * 1000:
                    self._understand(self._conversation.disconnected)
                    return "left; the server did not close the connection"
                elif (why := self._pulse.dead(now_ms)) is not None:
                    self.lost = True
                    self._understand(self._conversation.disconnected)
                    return f"the line is dead: {why}"
        finally:
            self._over = True
            with contextlib.suppress(JournalError):  # what is on its way up already counts
                self._note_games(0)
            self._transport.pause_reading()
            self._recording.release()
            stopped.cancel()

    def _note_games(self, every_ms: int) -> None:
        """Keep what became of the games, for whoever asks how the recording is."""
        now_ms = self._now_ms()
        facts = self._conversation.note_games()
        if facts is None or facts == self._noted:
            return
        if self._noted_ms is None or now_ms >= self._noted_ms + every_ms:
            self._noted, self._noted_ms = facts, now_ms
            self._journal.note("games", **facts)

    def _now_ms(self) -> int:
        return self._journal.now_ns() // 1_000_000

    def _wait_s(self) -> float:
        if self._deaf or self._transport.get_write_buffer_size():
            return _TICK_S
        now_ms = self._now_ms()
        due_ms = self._conversation.next_at_ms(now_ms)
        return _TICK_S if due_ms is None else min(_TICK_S, max(0.0, (due_ms - now_ms) / 1000))

    def _arrived(self, data: bytes) -> None:
        """Write down what was read, then understand it; a failure is raised by the loop, and nothing is taken after."""
        if self._failure is not None:
            return
        at_ns = self._journal.now_ns()
        try:
            self._recording.server_said(data, at_ns)
            if self._over:
                return
            if self._sealing is not None and (answers := self._sealing.answers(data, at_ns // 1_000_000)):
                self._write(answers)
            self._hear(data, at_ns)
        except Exception as error:
            self._failure = error
        self._woken.set()

    def _hear(self, data: bytes, at_ns: int) -> None:
        """Look at what came and is written down."""
        at_ms = at_ns // 1_000_000
        self._pulse.heard(at_ms)
        conversation = self._conversation
        before, boards = conversation.stage, conversation.boards
        utc_ms = (self._journal.anchor_utc_ns + at_ns) // 1_000_000  # as the archive will have it
        self._understand(lambda: conversation.receive(data, at_ms, utc_ms))
        if before is ConversationStage.LOGIN and conversation.we is not None:
            handle = conversation.we.handle
            self._tell("logged_in", f"Logged in as {handle or 'a guest'}.", handle=handle)
        self._count(len(data), conversation.boards - boards)

    def _understand(self, work: Callable[[], None]) -> None:
        """Do what depends on the server's words; a bug of ours there must not end the recording."""
        if self._deaf:
            return
        try:
            work()
        except LoginError:
            raise
        except Exception as error:
            self._deaf = True
            self._tell(
                "deaf",
                f"What the server says is no longer understood, only recorded ({type(error).__name__}: a bug). "
                "Start again to go on choosing games.",
                error=type(error).__name__,
            )

    def _speak(self) -> None:
        """Say what is due, unless the server has not even taken what was said before."""
        now_ms = self._now_ms()
        waiting = self._transport.get_write_buffer_size() > 0
        self._pulse.waits(waiting, now_ms)
        if waiting:
            return
        if lines := self._due(now_ms):
            self._pulse.said(now_ms)
            self._write(lines if self._sealing is None else self._sealed(lines, now_ms))

    def _due(self, now_ms: int) -> bytes:
        conversation = self._conversation
        if conversation.stage is ConversationStage.LEFT:
            return conversation.take(now_ms)
        if self._deaf:
            return f"{format_request(KeepAlive())}\n".encode("ascii") if self._pulse.wants_words(now_ms) else b""
        if self._pulse.wants_words(now_ms):
            conversation.keep_alive(now_ms)
        lines = bytearray()
        self._understand(lambda: lines.extend(conversation.take(now_ms)))
        return bytes(lines)

    def _sealed(self, lines: bytes, now_ms: int) -> bytes:
        assert self._sealing is not None
        try:
            return self._sealing.seal_lines(lines, now_ms)
        except ValueError:
            raise LoginError(
                "Timeseal supports ASCII passwords only; log in without --timeseal, or change the password."
            ) from None

    def _write(self, data: bytes) -> None:
        """Hand bytes to the network, and to the journal what of them holds no secret."""
        if self._transport.get_write_buffer_size() >= _MOST_WAITING:
            return  # answers to the pings of a server that does not read; the line will be given up
        self._recording.client_said(data, self._journal.now_ns())
        self._transport.write(data)

    def _tell_mute(self, sentence: str) -> None:
        self._tell("mute", sentence, error=self._recording.muted)

    def _how(self) -> str:
        """How the server ended it."""
        lost = self._conversation.lost
        if self._leaving_ms is not None:
            return "left"
        self.lost = True
        if lost is not None and lost.kind is SessionNoticeKind.TAKEN_OVER:
            raise TakenOverError("Another login with this name has replaced this session; not reconnecting.")
        if lost is not None:
            return f"the server ended the session: {lost.line.text.strip()}"
        return "the connection was lost"
