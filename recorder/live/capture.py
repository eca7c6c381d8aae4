"""Connects to a server, reconnects until recording ends, and writes one journal for each connection.

The pause before each attempt grows and varies at random. The journal of a lost connection ends with the note
``outage``, and the next journal begins with it. A journal that cannot be written ends recording: an incomplete
recording is not continued silently.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from recorder.errors import JournalError, LoginError
from recorder.journal import JournalWriter
from recorder.journal.format import NoteKind
from recorder.live.conversation import Conversation, RecorderStage
from recorder.live.login.login import UnansweredLoginError, WrongPasswordError
from recorder.live.messages import MessageSink
from recorder.live.net.connection import ANSWER_MS, Connection, TakenOverError
from recorder.live.net.sockets import Address, connect, format_address, prepare, why_no_connection
from recorder.wire.timeseal import Sealing

_FIRST_PAUSE_S: Final = 2.0
_LONGEST_PAUSE_S: Final = 300.0
_WRONG_PASSWORDS: Final = 1  # a second refusal in a row means that the password was changed
_STEADY_S: Final = 60.0  # after a connection of this length the pauses are short again


def pause_s(failures: int, chance: float) -> float:
    """``chance`` (0 to 1) spreads many clients."""
    whole: float = min(_FIRST_PAUSE_S * 2 ** (min(failures, 16) - 1), _LONGEST_PAUSE_S)
    return whole * (0.5 + chance / 2)


@dataclass(slots=True)
class ReceivedCounts:
    """Totals of all connections, ``games`` of ended ones; ``heard_s`` is monotonic, of the last byte."""

    connections: int = 0
    received: int = 0
    boards: int = 0
    games: int = 0
    outages: int = 0
    heard_s: float | None = None


class ConnectionState(NamedTuple):
    """The state since ``since_s``; the next attempt is at ``until_s`` (both monotonic)."""

    since_s: float
    until_s: float | None = None
    conversation: Conversation | None = None
    journal: JournalWriter | None = None
    over: bool = False


class Capture:
    """Records from one server; ``opened`` gets each connection's journal once it has more than an attempt to log in."""

    def __init__(
        self,
        address: Address,
        open_journal: Callable[[], JournalWriter],
        converse: Callable[[], Conversation],
        report: MessageSink,
        *,
        opened: Callable[[Path], None] | None = None,
        timeseal: int | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.progress = ReceivedCounts()
        self.connection_state = ConnectionState(time.monotonic())
        self.address = address
        self._open_journal = open_journal
        self._converse = converse
        self._report = report
        self._opened = opened
        self._timeseal = timeseal
        self._chance = chance
        self._been_in = False
        self._given = False  # this connection's journal is known to ``opened``
        self._heard_ns: int | None = None  # UTC, when the server last sent something on this connection
        self._lost_ns: int | None = None  # UTC, the beginning of the outage

    async def run(self, stop: asyncio.Event) -> None:
        """Record until ``stop`` is set; failures are outages, except those that are raised.

        LoginError: the first login is refused, the password is refused twice in a row, another login has taken the
        session over, the host's name is unknown, or no connection was made before ``stop`` was set.
        """
        try:
            await self._run(stop)
        finally:
            self.connection_state = ConnectionState(time.monotonic(), over=True)

    async def _run(self, stop: asyncio.Event) -> None:
        failures = wrong = 0
        sentence = ""
        while not stop.is_set():
            began = time.monotonic()
            self.connection_state = ConnectionState(began)
            event = "disconnected"
            try:
                how = await self._connection(stop)
                wrong = 0
            except LoginError as error:
                wrong = wrong + 1 if isinstance(error, WrongPasswordError) else 0
                if isinstance(error, TakenOverError) or wrong > _WRONG_PASSWORDS or not self._been_in:
                    raise
                event, how = "refused", str(error).removesuffix(".")
            except (OSError, TimeoutError) as error:
                event, how = "unreachable", why_no_connection(self.address, error)
                unknown = isinstance(error, socket.gaierror) and error.errno != socket.EAI_AGAIN
                if unknown and not self.progress.connections:  # at boot, names may be known a little later
                    raise LoginError(f"{how}; check how the server's name is written.") from error
            if stop.is_set():
                break
            failures = 1 if time.monotonic() - began >= _STEADY_S else failures + 1
            pause = pause_s(failures, self._chance())
            now = time.monotonic()
            self.connection_state = ConnectionState(now, now + pause)
            sentence = f"{how[0].upper()}{how[1:]}."
            self._report(event, f"{sentence} Trying again in {pause:.0f} s.", how=how, retry_ms=round(pause * 1000))
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), pause)
        if sentence and not self._been_in:
            raise LoginError(f"{sentence} Nothing was recorded.")

    async def _connection(self, stop: asyncio.Event) -> str:
        """Return how it ended."""
        connected = await self._connect(stop)
        if connected is None:
            return "stopped"
        try:
            journal = self._open_journal()
        except JournalError:
            connected.close()
            raise
        self._heard_ns = None
        self._given = False
        conversation = self._converse()
        self.progress.connections += 1
        self.connection_state = ConnectionState(time.monotonic(), None, conversation, journal)
        where = format_address(self.address)
        self._report(
            "connected", f"Connected to {where}, recorded in {journal.path}.", server=where, journal=str(journal.path)
        )
        sealing = None if self._timeseal is None else Sealing(self._timeseal)
        connection = Connection(
            *(journal, conversation, sealing, self._report),
            lambda received, boards: self._count(conversation, journal, received, boards),
        )
        how = "ended by a failure"
        try:
            self._note_beginning(journal, connected)
            how = await connection.run(connected, stop)
        except LoginError as error:
            how = str(error).removesuffix(".")
            self._end(journal, how, connection, attempt=not isinstance(error, UnansweredLoginError))
            raise
        except BaseException:  # cancelled, too: a journal is closed whatever happens
            with contextlib.suppress(JournalError):  # the first error is the one to report
                self._end(journal, how, None)
            raise
        else:
            self._end(journal, how, connection, attempt=True)
            return how
        finally:
            connected.close()
            self.progress.games += conversation.games

    async def _connect(self, stop: asyncio.Event) -> socket.socket | None:
        connecting = asyncio.create_task(connect(self.address))
        stopping = asyncio.create_task(stop.wait())
        try:
            await asyncio.wait((connecting, stopping), return_when=asyncio.FIRST_COMPLETED)
            if not connecting.done():
                return None
            connected = connecting.result()
        finally:
            for task in (connecting, stopping):
                task.cancel()
            await asyncio.gather(connecting, stopping, return_exceptions=True)
        with contextlib.suppress(OSError):  # already closed; reading reports it
            prepare(connected, patience_ms=ANSWER_MS)
        return connected

    def _note_beginning(self, journal: JournalWriter, connected: socket.socket) -> None:
        if self._lost_ns is not None:
            journal.note(NoteKind.OUTAGE, since_utc_ns=self._lost_ns)
        facts: dict[str, str | int] = {} if self._timeseal is None else {"timeseal": self._timeseal}
        with contextlib.suppress(OSError):  # it may be gone again
            host, port = connected.getpeername()[:2]
            facts["address"] = format_address(Address(host, port))
        journal.note(NoteKind.CONNECTED, **facts)

    def _end(self, journal: JournalWriter, how: str, connection: Connection | None, *, attempt: bool = False) -> None:
        """Note how a connection ended; ``attempt``: its journal is removed if it ends before the login."""
        if connection is not None and connection.lost:
            self.progress.outages += 1
            # An outage begins with the last bytes that arrived: a dead connection is noticed minutes later.
            since: dict[str, int] = {} if self._heard_ns is None else {"since_utc_ns": self._heard_ns}
            if self._been_in and self._lost_ns is None:
                self._lost_ns = self._heard_ns
            journal.note(NoteKind.OUTAGE, reason=how, **since)
        journal.note(NoteKind.CLOSED, how=how)
        if attempt and not self._given and not (connection is not None and connection.deaf):
            journal.discard()
            return
        self._give(journal)
        journal.close()

    def _give(self, journal: JournalWriter) -> None:
        if not self._given and self._opened is not None:
            self._opened(journal.path)
        self._given = True

    def _count(self, conversation: Conversation, journal: JournalWriter, received: int, boards: int) -> None:
        self._heard_ns = journal.anchor_utc_ns + journal.now_ns()  # the wall clock may be set meanwhile
        self.progress.heard_s = time.monotonic()
        self.progress.received += received
        self.progress.boards += boards
        if conversation.stage in (RecorderStage.ASKING, RecorderStage.RECORDING):
            self._been_in = True
            self._lost_ns = None
            self._give(journal)
