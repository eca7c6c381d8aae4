"""Connections: resolving, sending, closing, and detection of dead ones."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import Any, cast

import pytest

from recorder.errors import JournalError, LoginError
from recorder.journal import JournalWriter
from recorder.live.conversation import Conversation, ConversationStage
from recorder.live.net.connection import ANSWER_MS, Connection, Pulse
from recorder.wire.timeseal import Sealing

LONG_S = 30.0


class FakeJournal:
    """A journal that fails at its second record from the server."""

    anchor_utc_ns = 0

    def __init__(self, fails: bool) -> None:
        self.written: list[bytes] = []
        self._fails = fails

    def now_ns(self) -> int:
        return 5_000_000

    def received(self, data: bytes, _: int | None = None) -> None:
        if self._fails and self.written:
            raise JournalError("the disk is full")
        self.written.append(data)

    def note(self, *_: Any, **__: Any) -> None:
        pass

    def tick(self) -> None:
        pass


class FakeConversation:
    """A conversation that sends nothing; ``done`` are its calls."""

    stage = ConversationStage.RECORDING
    boards = 0
    we = lost = None

    def note_games(self) -> None:
        pass

    def __init__(self, refuses: bytes) -> None:
        self.done: list[bytes] = []
        self._refuses = refuses

    def receive(self, data: bytes, *_: int) -> None:
        self.done.append(data)
        if data == self._refuses:
            raise LoginError("the name is taken")

    def disconnected(self) -> None:
        self.done.append(b"disconnected")

    def leave(self) -> None:
        pass

    def take(self, _: int) -> bytes:
        return b""

    def next_at_ms(self, _: int) -> None:
        return None


async def run(act: Callable[[socket.socket], None], *, fails: bool = False, refuses: bytes = b"") -> list[bytes]:
    """Return the processed bytes of a connection that receives ``a``, then does ``act``, and ends."""
    ours, server = socket.socketpair()
    ours.setblocking(False)
    journal, conversation = FakeJournal(fails), FakeConversation(refuses)
    connection = Connection(
        cast(JournalWriter, journal), cast(Conversation, conversation), None, lambda *_, **__: None, lambda *_: None
    )
    with server:
        running = asyncio.create_task(connection.run(ours, asyncio.Event()))
        server.sendall(b"a")
        while not journal.written:
            await asyncio.sleep(0.001)
        assert conversation.done == [b"a"]
        act(server)
        try:
            async with asyncio.timeout(20):
                await running
        except (JournalError, LoginError) as error:
            conversation.done.append(str(error).encode())
    return conversation.done


@pytest.fixture(autouse=True)
def _no_tick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.live.net.connection._TICK_S", LONG_S)


def test_received_bytes_are_processed_before_the_end() -> None:
    def end(server: socket.socket) -> None:
        server.sendall(b"b")
        server.close()

    done = asyncio.run(run(end))
    assert b"".join(done[:-1]) == b"ab"
    assert done[-1] == b"disconnected"


def test_bytes_before_a_journal_failure_are_processed() -> None:
    assert asyncio.run(run(lambda server: server.sendall(b"b"), fails=True)) == [b"a", b"the disk is full"]


def test_a_refusal_is_reported_although_the_connection_is_lost() -> None:
    assert asyncio.run(run(lambda server: server.close(), refuses=b"a")) == [b"a", b"the name is taken"]


class PingedJournal(FakeJournal):
    """A journal whose clock goes on by a millisecond for each ping that was received."""

    def now_ns(self) -> int:
        return 1_000_000 * b"".join(self.written).count(PING)

    def sent(self, data: bytes, _: int | None = None) -> None:
        pass

    def withheld(self, count: int, _: int | None = None) -> None:
        pass


PING = b"[G]\0"


def test_endless_pings_do_not_delay_the_end() -> None:
    """Between a signal and the end, no more pings are answered than arrive in the time that a server has to close."""

    async def flooded() -> list[bytes]:
        ours, server = socket.socketpair()
        ours.setblocking(False)
        server.setblocking(False)
        journal, stop = PingedJournal(fails=False), asyncio.Event()
        connection = Connection(
            *(cast(JournalWriter, journal), cast(Conversation, FakeConversation(b"")), Sealing(2)),
            *(lambda *_, **__: None, lambda *_: None),
        )

        async def flood() -> None:
            while True:
                await asyncio.get_running_loop().sock_sendall(server, PING * 50_000)

        stop.set()
        with server:
            flooding = asyncio.create_task(flood())
            assert await connection.run(ours, stop) == "left; the server did not close the connection"
            flooding.cancel()
            await asyncio.gather(flooding, return_exceptions=True)
        return journal.written

    reads = asyncio.run(flooded())
    assert len(reads) > 1
    assert max(map(len, reads)) < 20_000
    assert len(b"".join(reads)) < 50_000


MINUTE = 60_000


def test_after_a_quiet_time_one_command_is_sent() -> None:
    pulse = Pulse(0)
    pulse.sent(0)
    pulse.heard(10)
    assert not pulse.needs_command(10 + 2 * MINUTE - 1)
    assert pulse.needs_command(10 + 2 * MINUTE)
    pulse.sent(10 + 2 * MINUTE)
    assert not pulse.needs_command(20 + 2 * MINUTE)  # it waits for an answer


def test_a_server_that_only_sends_gets_a_command_every_half_hour() -> None:
    pulse = Pulse(0)
    for minute in range(30):
        pulse.heard(minute * MINUTE)
        assert not pulse.needs_command(minute * MINUTE)
    pulse.heard(30 * MINUTE)
    assert pulse.needs_command(30 * MINUTE)


def test_a_command_without_an_answer_means_a_dead_connection() -> None:
    pulse = Pulse(0)
    pulse.heard(5_000)
    pulse.sent(MINUTE)
    pulse.sent(2 * MINUTE)  # another command does not restart the wait
    assert pulse.dead(MINUTE + ANSWER_MS - 1) is None
    assert pulse.dead(MINUTE + ANSWER_MS) == "the server has not answered for 3 minutes"
    pulse.heard(MINUTE + ANSWER_MS)
    assert pulse.dead(9 * MINUTE) is None


def test_silence_alone_does_not_mean_a_dead_connection() -> None:
    pulse = Pulse(0)
    assert pulse.dead(90 * MINUTE) is None


def test_a_server_that_reads_nothing_is_presumed_dead_although_it_sends() -> None:
    pulse = Pulse(0)
    for second in range(0, ANSWER_MS, 1000):
        pulse.heard(second)
        pulse.waits(True, second)
        assert pulse.dead(second) is None
    pulse.waits(True, ANSWER_MS)
    assert pulse.dead(ANSWER_MS) == "the server has taken nothing for 2 minutes"
    pulse.waits(False, ANSWER_MS)
    assert pulse.dead(ANSWER_MS) is None
