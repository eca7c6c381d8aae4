"""Keeps a connection to a server for as long as it is wanted, and writes down everything that comes.

One journal for each connection. What arrives is in the journal before anything looks at it. A connection that is lost
is made again, after a growing and never quite regular pause; the time between is a note in the next journal. A journal
that cannot be written ends everything: nothing is recorded while something is being lost.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from recorder.errors import JournalError, LoginError
from recorder.events import SessionNoticeKind
from recorder.journal import JournalWriter
from recorder.live.address import Address, format_address
from recorder.live.conversation import Conversation, Stage
from recorder.live.secrets import AnswerGuard, Release, SecretGuard
from recorder.live.telling import Fact, Tell

__all__ = ["Capture", "Progress", "Standing", "TakenOverError", "pause_s"]

_CONNECT_S: Final = 30.0
_SILENCE_S: Final = 40 * 60.0  # the server has not even answered what keeps us from being idle
_LEAVE_S: Final = 3.0
_TICK_S: Final = 1.0
_READ_BYTES: Final = 1 << 16
_FIRST_PAUSE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 300.0
_STEADY_S: Final = 600.0  # a connection that lasted as long was a good one


def pause_s(failures: int, chance: float) -> float:
    """How long to wait before the next attempt.

    Args:
        failures: attempts in a row that came to nothing, from 1. chance: 0 to 1, so that many clients do not come back
            together.
    """
    whole: float = min(_FIRST_PAUSE_S * 2 ** (min(failures, 16) - 1), _LONGEST_PAUSE_S)
    return whole * (0.5 + chance / 2)


@dataclass(slots=True)
class Progress:
    """What came so far, over all connections."""

    connections: int = 0
    received: int = 0
    boards: int = 0
    games: int = 0


class Standing(NamedTuple):
    """How the connection is.

    Attributes:
        since_s: monotonic, when this began. until_s: when the next attempt is made; None: no pause.
        conversation, journal: of the connection that is there; both None: there is none.
    """

    since_s: float
    until_s: float | None = None
    conversation: Conversation | None = None
    journal: JournalWriter | None = None


class TakenOverError(LoginError):
    """Another login of ours is in; two that fight for a name would never end."""


class Capture:
    """Records from one server until it is told to stop.

    Args:
        address: of the server.
        open_journal: makes the journal of a new connection.
        converse: makes what is said on a new connection.
        tell: gets whatever changes.
        opened: gets the path of each new connection's journal.
        chance: 0 to 1, for the pauses.

    Attributes:
        progress: what came so far.
        standing: how the connection is now.
        address: of the server.
    """

    def __init__(
        self,
        address: Address,
        open_journal: Callable[[], JournalWriter],
        converse: Callable[[], Conversation],
        tell: Tell,
        *,
        opened: Callable[[Path], None] | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.progress = Progress()
        self.standing = Standing(time.monotonic())
        self.address = address
        self._open_journal = open_journal
        self._converse = converse
        self._tell = tell
        self._opened = opened
        self._chance = chance
        self._been_in = False

    async def run(self, stop: asyncio.Event) -> None:
        """Record until ``stop`` is set.

        Raises:
            JournalError: the journal cannot be written.
            LoginError: we are not let in the first time, or another login of ours has taken the session over.
        """
        failures = 0
        lost_ns: int | None = None
        while not stop.is_set():
            began = time.monotonic()
            self.standing = Standing(began)
            event = "disconnected"
            try:
                how = await self._connection(stop, lost_ns)
            except LoginError as error:
                if isinstance(error, TakenOverError) or not self._been_in:
                    raise
                event, how = "refused", str(error).removesuffix(".")
            except (OSError, TimeoutError) as error:
                event, how = "unreachable", f"no connection to {format_address(self.address)}: {_reason(error)}"
            else:
                lost_ns = time.time_ns()
            if stop.is_set():
                return
            failures = 1 if time.monotonic() - began >= _STEADY_S else failures + 1
            pause = pause_s(failures, self._chance())
            now = time.monotonic()
            self.standing = Standing(now, now + pause)
            sentence = f"{how[0].upper()}{how[1:]}. Trying again in {pause:.0f} s."
            self._tell(event, sentence, how=how, retry_ms=round(pause * 1000))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)

    async def _connection(self, stop: asyncio.Event, lost_ns: int | None) -> str:
        """One connection from its beginning to its end; tells how it ended."""
        async with asyncio.timeout(_CONNECT_S):
            reader, writer = await asyncio.open_connection(self.address.host, self.address.port)
        journal = self._open_journal()
        if self._opened is not None:
            self._opened(journal.path)
        conversation = self._converse()
        self.progress.connections += 1
        self.standing = Standing(time.monotonic(), None, conversation, journal)
        where = format_address(self.address)
        self._tell(
            "connected", f"Connected to {where}, recorded in {journal.path}.", server=where, journal=str(journal.path)
        )
        how = "ended by a failure"
        try:
            if lost_ns is not None:
                journal.note("outage", since_utc_ns=lost_ns)
            how = await _Line(journal, conversation, reader, writer, self).run(stop)
        except BaseException:
            with contextlib.suppress(JournalError):  # what is on its way up already counts
                self._close(journal, how)
            raise
        else:
            self._close(journal, how)
            return how
        finally:
            self.progress.games += conversation.games
            writer.close()
            with contextlib.suppress(OSError, TimeoutError):
                await asyncio.wait_for(writer.wait_closed(), _LEAVE_S)

    @staticmethod
    def _close(journal: JournalWriter, how: str) -> None:
        journal.note("closed", how=how)
        journal.close()

    def count(self, conversation: Conversation, received: int, boards: int) -> None:
        """Add what one read brought."""
        self.progress.received += received
        self.progress.boards += boards
        if conversation.stage is Stage.RECORDING:
            self._been_in = True

    def tell(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """Pass on what has happened."""
        self._tell(event, sentence, **facts)


class _Line:
    """The loop of one connection."""

    def __init__(
        self,
        journal: JournalWriter,
        conversation: Conversation,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        capture: Capture,
    ) -> None:
        self._journal = journal
        self._conversation = conversation
        self._reader = reader
        self._writer = writer
        self._capture = capture
        self._anchor_ms = time.time_ns() // 1_000_000 - journal.now_ns() // 1_000_000
        self._guard = SecretGuard()
        self._answers = AnswerGuard()
        self._deaf = False
        self._leaving_s: float | None = None

    def _now_ms(self) -> int:
        return self._journal.now_ns() // 1_000_000

    async def run(self, stop: asyncio.Event) -> str:
        """Read, write down, understand, answer; until one side ends it."""
        stopped = asyncio.create_task(stop.wait())
        reading = asyncio.create_task(self._reader.read(_READ_BYTES))
        heard_s = time.monotonic()
        try:
            while True:
                await self._speak()
                waiting = {reading} if self._leaving_s is not None else {reading, stopped}
                await asyncio.wait(waiting, timeout=self._wait_s(), return_when=asyncio.FIRST_COMPLETED)
                self._journal.tick()
                now_s = time.monotonic()
                if reading.done():
                    heard_s = now_s
                    if not await self._hear(reading):
                        self._conversation.disconnected()
                        return self._how()
                    reading = asyncio.create_task(self._reader.read(_READ_BYTES))
                if stop.is_set() and self._leaving_s is None:
                    self._leaving_s = now_s
                    self._conversation.leave()
                elif self._leaving_s is not None and now_s - self._leaving_s >= _LEAVE_S:
                    self._conversation.disconnected()
                    return "left; the server did not close the connection"
                elif now_s - heard_s >= _SILENCE_S:
                    self._conversation.disconnected()
                    return f"nothing was heard for {_SILENCE_S / 60:.0f} minutes"
        finally:
            self._keep(self._guard.finish())
            stopped.cancel()
            reading.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                await reading

    def _wait_s(self) -> float:
        now_ms = self._now_ms()
        due_ms = self._conversation.next_at_ms(now_ms)
        return _TICK_S if due_ms is None else min(_TICK_S, max(0.0, (due_ms - now_ms) / 1000))

    async def _hear(self, reading: asyncio.Task[bytes]) -> bool:
        """Write down what came, then look at it; False when the connection has ended."""
        at_ns = self._journal.now_ns()
        try:
            data = reading.result()
        except OSError as error:
            self._journal.note("reset", reason=_reason(error))
            return False
        if not data:
            return False
        self._journal.received(self._answers.receive(data), at_ns)
        self._keep(self._guard.server_said(data))
        conversation = self._conversation
        before, boards = conversation.stage, conversation.boards
        at_ms = at_ns // 1_000_000
        self._understand(data, at_ms)
        if before is Stage.LOGIN and conversation.we is not None:
            handle = conversation.we.handle
            self._capture.tell("logged_in", f"Logged in as {handle or 'a guest'}.", handle=handle)
        self._capture.count(conversation, len(data), conversation.boards - boards)
        return True

    def _understand(self, data: bytes, at_ms: int) -> None:
        if self._deaf:
            return
        try:
            self._conversation.receive(data, at_ms, self._anchor_ms + at_ms)
        except LoginError:
            raise
        except Exception as error:  # a bug of ours: what comes is still written down
            self._deaf = True
            self._capture.tell(
                "deaf",
                f"What the server says is no longer understood, only recorded ({type(error).__name__}: a bug). "
                "Start again to go on choosing games.",
                error=type(error).__name__,
            )

    async def _speak(self) -> None:
        data = self._conversation.take(self._now_ms())
        if not data:
            return
        self._keep(self._guard.client_said(data, self._journal.now_ns()))
        self._writer.write(data)
        with contextlib.suppress(OSError):  # reading will tell
            await self._writer.drain()

    def _keep(self, releases: list[Release]) -> None:
        """Write down what of our own words holds no secret."""
        for release in releases:
            if release.withheld:
                self._journal.withheld(release.withheld, release.at_ns)
            else:
                self._journal.sent(release.data, release.at_ns)

    def _how(self) -> str:
        """How the server ended it."""
        lost = self._conversation.lost
        if self._leaving_s is not None:
            return "left"
        if lost is not None and lost.kind is SessionNoticeKind.TAKEN_OVER:
            raise TakenOverError("Another login with this name has taken the session over; not logging in again.")
        if lost is not None:
            return f"the server ended the session: {lost.line.text.strip()}"
        return "the connection was lost"


def _reason(error: BaseException) -> str:
    if isinstance(error, TimeoutError):
        return "no answer"
    return getattr(error, "strerror", None) or str(error) or type(error).__name__
