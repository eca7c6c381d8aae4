"""One connection to a server: every byte goes into the journal first, then to the conversation, which sends commands.

``Pulse`` decides from the times of bytes in both directions when a connection is presumed dead.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any, Final

from recorder.errors import JournalError, LoginError
from recorder.events import SessionNoticeKind
from recorder.journal import JournalWriter
from recorder.journal.format import NoteKind
from recorder.live.conversation import Conversation, RecorderStage
from recorder.live.messages import MessageSink
from recorder.live.net.sockets import failure_reason
from recorder.live.recording import RecordedConnection
from recorder.live.requests import KeepAlive, format_request
from recorder.wire.timeseal import Sealing

_READ_BYTES: Final = 1 << 14


class Incoming(asyncio.BufferedProtocol):
    """Passes on all bytes that arrived before the connection ended or failed.

    A read is short: what it asks for, such as thousands of pings to be answered, is done before a signal or a time
    counts. When writing fails, asyncio reports the failure without the bytes that the system still has: they are read
    here. ``take`` gets each read, never empty, and must not raise; ``ended`` is called after the last byte.
    """

    def __init__(
        self, connected: socket.socket, take: Callable[[bytes], None], ended: Callable[[], None] = lambda: None
    ) -> None:
        self.ended = False
        self.failure: Exception | None = None  # if the other side did not end it
        self.closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rest = connected.dup()  # still readable when the transport has failed
        self._take = take
        self._on_end = ended
        self._buffer = bytearray(_READ_BYTES)

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._take(bytes(self._buffer[:nbytes]))

    def eof_received(self) -> bool:
        """The other side may still read what is sent."""
        self._end(None)
        return True

    def connection_lost(self, exc: Exception | None) -> None:
        if exc is not None:
            with contextlib.suppress(OSError):
                while data := self._rest.recv(_READ_BYTES):
                    self._take(data)
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
    """A transport for a socket that does not block; nothing is read before ``resume_reading``."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_connection(lambda: incoming, sock=connected)
    transport.pause_reading()
    return transport


ANSWER_MS: Final = 120_000
"""A server that leaves a command unanswered, or unread, for this time is presumed dead."""
_QUIET_MS: Final = 120_000
_IDLE_MS: Final = 30 * 60_000  # servers log out a client that sends nothing for an hour


class Pulse:
    def __init__(self, now_ms: int) -> None:
        self._heard_ms = now_ms
        self._sent_ms = now_ms
        self._asked_ms: int | None = None  # when the first unanswered command was sent
        self._stuck_ms: int | None = None  # since when bytes wait because the server reads none

    def heard(self, now_ms: int) -> None:
        self._heard_ms = now_ms
        self._asked_ms = None

    def sent(self, now_ms: int) -> None:
        """A server answers it."""
        self._sent_ms = now_ms
        if self._asked_ms is None:
            self._asked_ms = now_ms

    def waits(self, waiting: bool, now_ms: int) -> None:
        if not waiting:
            self._stuck_ms = None
        elif self._stuck_ms is None:
            self._stuck_ms = now_ms

    def needs_command(self, now_ms: int) -> bool:
        """Whether to send a harmless command, for the server's answer or against a logout for idleness."""
        if now_ms - self._sent_ms >= _IDLE_MS:
            return True
        return self._asked_ms is None and now_ms - self._heard_ms >= _QUIET_MS

    def dead(self, now_ms: int) -> str | None:
        """Why the connection is presumed dead, a clause."""
        if self._asked_ms is not None and now_ms - self._asked_ms >= ANSWER_MS:
            return f"the server has not answered for {_minutes(now_ms - self._heard_ms)}"
        if self._stuck_ms is not None and now_ms - self._stuck_ms >= ANSWER_MS:
            return f"the server has taken nothing for {_minutes(now_ms - self._stuck_ms)}"
        return None


def _minutes(ms: int) -> str:
    minutes = max(1, round(ms / 60_000))
    return "a minute" if minutes == 1 else f"{minutes} minutes"


LEAVE_S: Final = 3.0
"""How long a server has to close the connection after ``quit``."""
_NOTE_MS: Final = 10_000
_TICK_S: Final = 1.0
_MOST_WAITING: Final = 1 << 16


class TakenOverError(LoginError):
    """Another login with the same name is active; two recorders that take a name from each other would never end."""


class Connection:
    """Journal first, then ``conversation``; ``lost``: not we ended it; ``deaf``: a bug has ended the parsing."""

    def __init__(
        self,
        journal: JournalWriter,
        conversation: Conversation,
        sealing: Sealing | None,
        report: MessageSink,
        count: Callable[[int, int], None],
    ) -> None:
        self.lost = False
        self._journal = journal
        self._conversation = conversation
        self._sealing = sealing
        self._report = report
        self._count = count
        self._recording = RecordedConnection(journal, self._report_mute, must=True)
        self._pulse = Pulse(self._now_ms())
        self.deaf = False
        self._leaving_ms: int | None = None
        self._woken = asyncio.Event()
        self._failure: Exception | None = None
        self._over = False  # bytes are recorded, and not parsed any more
        self._noted: dict[str, Any] | None = None  # the last note about games
        self._noted_ms: int | None = None

    async def run(self, connected: socket.socket, stop: asyncio.Event) -> str:
        """Record until one side ends the connection; return how it ended. The socket is closed at the end."""
        self._incoming = Incoming(connected, self._arrived, self._woken.set)
        self._transport = await open_connection(connected, self._incoming)
        try:
            return await self._record(stop)
        finally:
            self._transport.close()
            if self._transport.get_write_buffer_size():  # the server reads nothing
                self._transport.abort()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._incoming.closed), LEAVE_S)

    async def _record(self, stop: asyncio.Event) -> str:
        stopped = asyncio.create_task(stop.wait())
        stopped.add_done_callback(lambda _: self._woken.set())
        try:
            if self._sealing is not None:
                self._write(self._sealing.hello(self._now_ms()))
            self._transport.resume_reading()
            while True:
                self._send_due()
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
                        self._journal.note(NoteKind.RESET, reason=failure_reason(self._incoming.failure))
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
                    return f"connection presumed dead: {why}"
        finally:
            self._over = True
            with contextlib.suppress(JournalError):  # an earlier error is the one to report
                self._note_games(0)
            self._transport.pause_reading()
            self._recording.release()
            stopped.cancel()

    def _note_games(self, every_ms: int) -> None:
        """Write the counts of games into the journal, for ``status`` and ``journal``."""
        now_ms = self._now_ms()
        facts = self._conversation.note_games()
        if facts is None or facts == self._noted:
            return
        if self._noted_ms is None or now_ms >= self._noted_ms + every_ms:
            self._noted, self._noted_ms = facts, now_ms
            self._journal.note(NoteKind.GAMES, **facts)

    def _now_ms(self) -> int:
        return self._journal.now_ns() // 1_000_000

    def _wait_s(self) -> float:
        if self.deaf or self._transport.get_write_buffer_size():
            return _TICK_S
        now_ms = self._now_ms()
        due_ms = self._conversation.next_at_ms(now_ms)
        return _TICK_S if due_ms is None else min(_TICK_S, max(0.0, (due_ms - now_ms) / 1000))

    def _arrived(self, data: bytes) -> None:
        """The loop raises a failure, and no bytes are taken after it."""
        if self._failure is not None:
            return
        at_ns = self._journal.now_ns()
        try:
            self._recording.server_sent(data, at_ns)
            if self._over:
                return
            if self._sealing is not None and (answers := self._sealing.answers(data, at_ns // 1_000_000)):
                self._write(answers)
            self._hear(data, at_ns)
        except Exception as error:  # asyncio would only log it: ``run`` raises it
            self._failure = error
        self._woken.set()

    def _hear(self, data: bytes, at_ns: int) -> None:
        at_ms = at_ns // 1_000_000
        self._pulse.heard(at_ms)
        conversation = self._conversation
        before, boards = conversation.stage, conversation.boards
        utc_ms = (self._journal.anchor_utc_ns + at_ns) // 1_000_000  # as the archive will have it
        self._understand(lambda: conversation.receive(data, at_ms, utc_ms))
        if before is RecorderStage.LOGIN and conversation.we is not None:
            handle = conversation.we.handle
            self._recording.enter(handle)
            self._report("logged_in", f"Logged in as {handle or 'a guest'}.", handle=handle)
        self._count(len(data), conversation.boards - boards)

    def _understand(self, work: Callable[[], None]) -> None:
        """Run a function that depends on the server's text; a bug in it must not end the recording."""
        if self.deaf:
            return
        try:
            work()
        except LoginError:
            raise
        except Exception as error:  # a bug of the reader must not end the recording
            self.deaf = True
            self._report(
                "deaf",
                f"The server's output is no longer parsed, only recorded ({type(error).__name__}: a bug). "
                "Restart to continue choosing games.",
                error=type(error).__name__,
            )

    def _send_due(self) -> None:
        now_ms = self._now_ms()
        waiting = self._transport.get_write_buffer_size() > 0
        self._pulse.waits(waiting, now_ms)
        if waiting:
            return
        if lines := self._due(now_ms):
            self._pulse.sent(now_ms)
            self._write(lines if self._sealing is None else self._sealed(lines, now_ms))

    def _due(self, now_ms: int) -> bytes:
        conversation = self._conversation
        if conversation.stage is RecorderStage.LEFT:
            return conversation.take(now_ms)
        if self.deaf:
            return f"{format_request(KeepAlive())}\n".encode("ascii") if self._pulse.needs_command(now_ms) else b""
        if self._pulse.needs_command(now_ms):
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
        if self._transport.get_write_buffer_size() >= _MOST_WAITING:
            return  # answers to the pings of a server that does not read; it will be presumed dead
        self._recording.client_sent(data, self._journal.now_ns())
        self._transport.write(data)

    def _report_mute(self, sentence: str) -> None:
        self._report("mute", sentence, error=self._recording.muted)

    def _how(self) -> str:
        lost = self._conversation.lost
        if self._leaving_ms is not None:
            return "left"
        self.lost = True
        if lost is not None and lost.kind is SessionNoticeKind.TAKEN_OVER:
            raise TakenOverError("Another login with this name has replaced this session; not reconnecting.")
        if lost is not None:
            return f"the server ended the session: {lost.line.text.strip()}"
        return "the connection was lost"
