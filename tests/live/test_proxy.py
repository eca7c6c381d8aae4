"""The proxy in this process, between raw sockets and the scripted server."""

import asyncio
import hashlib
import random
import socket
import struct
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from recorder.journal.parts import new_part
from recorder.journal.writer import JournalWriter, Sync
from recorder.live.hooks import Hooks
from recorder.live.messages import Fact
from recorder.live.net.sockets import MAX_CLIENTS, Address, listen
from recorder.live.proxy import HIGH_BYTES, Closed, Proxy, ProxySide
from recorder.live.recording import DeferredJournal, RecordedConnection
from tests.support.corpus import stream_bytes, stream_chunks
from tests.support.effort import long_after
from tests.support.live import Caller, in_loop, journalled
from tests.support.messages import EVENTS
from tests.support.script import Fault, Hear, Say, script_of_chunks
from tests.support.testserver import FICS, Dialogue, ScriptedServer

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Between:
    """A running proxy and its messages."""

    def __init__(
        self, server_port: int, folder: Path, sync: Sync, open_part: Callable[[Path], Any], max_clients: int
    ) -> None:
        self.messages: list[str] = []
        self.hooks: Hooks | None = None
        self._open_part = open_part
        self.closed: list[Closed] = []
        self.folder = folder
        self._sync = sync
        self._server = Address("127.0.0.1", server_port)
        self.stop = asyncio.Event()
        self.proxy = Proxy(
            self._server,
            self._record,
            report=self._report,
            on_closed=self.closed.append,
            journal_first=sync is Sync.ALWAYS,
            max_clients=max_clients,
        )
        self.listeners = listen(Address("127.0.0.1", 0))
        self.port: int = self.listeners[0].getsockname()[1]

    def _report(self, event: str, sentence: str, /, **facts: Fact) -> None:
        assert set(facts) == EVENTS[event].facts
        self.messages.append(sentence)
        if self.hooks is not None:
            self.hooks.report(event, sentence, **facts)

    def _record(self, number: int) -> RecordedConnection:
        host, port = self._server
        journal: JournalWriter | DeferredJournal = JournalWriter(
            self.folder, host=host, port=port, role="proxy", sync=self._sync, open_part=self._open_part
        )
        if self._sync is not Sync.ALWAYS:
            journal = DeferredJournal(journal, most_bytes=1 << 20, hangs_s=0.1, close_s=1)
        return RecordedConnection(journal, self.messages.append)

    async def until_closed(self, count: int = 1) -> None:
        while len(self.closed) < count:
            await asyncio.sleep(0.01)


@asynccontextmanager
async def between(
    server_port: int,
    folder: Path,
    sync: Sync = Sync.OS,
    open_part: Callable[[Path], Any] = new_part,
    max_clients: int = MAX_CLIENTS,
) -> AsyncIterator[Between]:
    it = Between(server_port, folder, sync, open_part, max_clients)
    serving = asyncio.create_task(it.proxy.serve(it.listeners, it.stop))
    try:
        yield it
    finally:
        it.stop.set()
        await serving


@asynccontextmanager
async def raw_server(talk: Talk) -> AsyncIterator[int]:
    """A server of one connection at a time that a test controls."""

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await talk(reader, writer)
        finally:
            writer.transport.abort()

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


async def say_in_bits(writer: asyncio.StreamWriter, data: bytes, dice: random.Random) -> None:
    done = 0
    while done < len(data):
        size = dice.choice([1, 7, 100, 5000, 100_000])
        writer.write(data[done : done + size])
        await writer.drain()
        done += size
        if dice.random() < 0.2:
            await asyncio.sleep(dice.random() / 500)


@pytest.mark.parametrize("sync", [Sync.OS, Sync.ALWAYS])
@pytest.mark.parametrize("seed", long_after(1, range(4)))
@in_loop
async def test_any_bytes_pass_both_ways_unchanged_and_are_all_counted(tmp_path: Path, seed: int, sync: Sync) -> None:
    dice = random.Random(seed)
    size = 100_000 if sync is Sync.OS else 20_000  # each record is written to the disk
    down, up = dice.randbytes(3 * size), dice.randbytes(2 * size)
    heard: list[bytes] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        saying = asyncio.create_task(say_in_bits(writer, down, random.Random(seed + 1)))
        heard.append(await reader.read(-1))
        await saying
        writer.write_eof()
        await asyncio.sleep(0.05)

    async with raw_server(talk) as port, between(port, tmp_path, sync) as it:
        caller = await Caller.call(it.port)
        listening = asyncio.create_task(caller.rest())
        await say_in_bits(caller.writer, up, dice)
        caller.writer.write_eof()
        assert await listening == down
        await it.until_closed()
    assert heard == [up]
    kept = journalled(tmp_path)
    assert len(kept.received) == len(down)
    # What looks like the echo of a line that was typed before a login is masked as that line is.
    changed = [new for new, old in zip(kept.received, down, strict=True) if new != old]
    assert set(changed) <= {ord("*")}
    assert len(changed) < 100
    assert len(kept.sent) == len(up)
    assert it.proxy.forwarded == {ProxySide.CLIENT: len(up), ProxySide.SERVER: len(down)}
    assert it.proxy.unrecorded == 0
    assert not it.messages


@in_loop
async def test_three_clients_at_once_have_a_journal_each(tmp_path: Path) -> None:
    names = [("a01_standard", "player_Morphy"), ("b01_standard", "observer_Watcher"), ("c01_standard", "player_Morphy")]
    scripts = [[*script_of_chunks(stream_chunks(*name)), Fault.END] for name in names]
    async with (
        ScriptedServer(lambda number: Dialogue(FICS, script=scripts[number])) as server,
        between(server.port, tmp_path) as it,
    ):
        callers = []
        for number in range(3):
            callers.append(await Caller.call(it.port))
            await server.connection(number)
        for caller in callers:
            caller.send(b"guest\n\n")
        heard = await asyncio.gather(*(caller.rest() for caller in callers))
        for caller in callers:
            caller.writer.write_eof()
        await it.until_closed(3)
    for text, name in zip(heard, names, strict=True):
        assert text.endswith(stream_bytes(*name))
    files = sorted(tmp_path.iterdir())
    assert len(files) == 3
    kept = journalled(tmp_path)
    assert sorted(map(len, heard)) == sorted(closed.from_server for closed in it.closed)
    assert len(kept.received) == sum(map(len, heard))
    assert all(text in kept.received for text in heard)


@pytest.mark.long
@in_loop
async def test_a_client_that_does_not_read_slows_the_server(tmp_path: Path) -> None:
    size = 30_000_000
    sent_bytes = 0
    data = random.Random(1).randbytes(1 << 20)

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent_bytes
        while sent_bytes < size:
            writer.write(data)
            await writer.drain()
            sent_bytes += len(data)
        writer.write_eof()
        await reader.read(-1)

    async with raw_server(talk) as port, between(port, tmp_path) as it:
        caller = await Caller.call(it.port)
        caller.writer.transport.pause_reading()  # type: ignore[attr-defined]  # asyncio's transport of a socket can
        before = -1
        while sent_bytes != before:
            before = sent_bytes
            await asyncio.sleep(0.3)
        assert sent_bytes < size * 2 / 3
        (link,) = it.proxy._links
        assert link.transports[ProxySide.CLIENT].get_write_buffer_size() < 2 * HIGH_BYTES
        caller.send(b"still heard\n")
        while it.proxy._links and link._read[ProxySide.CLIENT] < 12:
            await asyncio.sleep(0.01)
        caller.writer.transport.resume_reading()  # type: ignore[attr-defined]  # asyncio's transport of a socket can
        digest = hashlib.sha256(await caller.rest()).digest()
        caller.writer.write_eof()
        await it.until_closed()
    assert sent_bytes >= size
    assert digest == hashlib.sha256(data * (sent_bytes // len(data))).digest()


@pytest.mark.long
@in_loop
async def test_a_server_that_does_not_read_slows_the_client_but_is_still_read(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, script=[Fault.DEAF])) as server,
        between(server.port, tmp_path) as it,
    ):
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        connection = await server.connection()
        await connection.done.wait()

        async def talk_on() -> None:
            for _ in range(1000):
                caller.send(b"x" * 65_536)
                await caller.writer.drain()

        with pytest.raises(TimeoutError):
            await asyncio.wait_for(talk_on(), 1)
        (link,) = it.proxy._links
        assert link.transports[ProxySide.SERVER].get_write_buffer_size() < 2 * HIGH_BYTES
        await connection.say(b"You may still listen.\n\r")
        await caller.until(b"You may still listen.\n\r")


@in_loop
async def test_a_half_close_is_passed_on_and_the_answer_comes_back(tmp_path: Path) -> None:
    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"got " + await reader.read(-1))
        writer.write_eof()
        await asyncio.sleep(0.05)

    async with raw_server(talk) as port, between(port, tmp_path) as it:
        caller = await Caller.call(it.port)
        caller.send(b"quit\n")
        caller.writer.write_eof()
        assert await caller.rest() == b"got quit\n"
        await it.until_closed()
    assert it.closed[0].by is ProxySide.CLIENT
    assert journalled(tmp_path).notes[-2:] == [
        {"kind": "closed", "by": "client", "how": "end"},
        {"kind": "end", "records": 3, "more": False},
    ]


@in_loop
async def test_bytes_before_a_server_reset_arrive(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, script=[Hear(b"now"), Say(b"last words"), Fault.RESET])) as server,
        between(server.port, tmp_path) as it,
    ):
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        caller.send(b"now\n")
        heard = await caller.rest()
        caller.writer.close()
        await it.until_closed()
    assert b"last words".startswith(heard), "a reset may overtake what was sent before it, nothing else"
    assert it.closed[0].by is ProxySide.SERVER
    kept = journalled(tmp_path)
    assert kept.received == bytes(caller.heard)
    assert {"kind": "closed", "by": "server", "how": "reset"} in kept.notes


@in_loop
async def test_a_client_reset_ends_the_connection_to_the_server(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS)) as server, between(server.port, tmp_path) as it:
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        connection: socket.socket = caller.writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        caller.writer.transport.abort()
        await it.until_closed()
        assert (await server.connection())._reader.at_eof()
    assert it.closed[0].by is ProxySide.CLIENT
    assert {"kind": "closed", "by": "client", "how": "reset"} in journalled(tmp_path).notes


@in_loop
async def test_a_half_open_server_leaves_the_connection_as_it_is(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, script=[Fault.HALF_OPEN])) as server,
        between(server.port, tmp_path) as it,
    ):
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        caller.send(b"date\n")
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(caller.rest(), 0.3)
        assert not it.closed
        (link,) = it.proxy._links
        for side in ProxySide:
            assert link.transports[side].get_extra_info("socket").getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            assert link.transports[side].get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
    assert it.closed[0].by is None
    kept = journalled(tmp_path)
    assert kept.sent == b"*****\n\ndate\n"
    assert {"kind": "closed", "by": "proxy", "how": "stopped"} in kept.notes


@in_loop
async def test_an_unreachable_server_refuses_the_client_with_a_message(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as unheard:
        port = unheard.getsockname()[1]
    async with between(port, tmp_path) as it:
        caller = await Caller.call(it.port)
        caller.send(b"Ann\nsecret\n")  # unread input must not prevent the answer
        why = f"127.0.0.1:{port} refuses the connection; no server listens there."
        assert await caller.rest() == f"\r\nics-recorder: {why}\r\n".encode()
    assert it.messages == [f"Client 1 was turned away: {why}"]
    assert it.proxy.connections == 0
    assert not list(tmp_path.iterdir())


@in_loop
async def test_clients_beyond_the_limit_are_refused_and_reported_once_until_another_is_served(
    tmp_path: Path,
) -> None:
    why = "2 clients are connected, which is the limit"
    async with (
        ScriptedServer(lambda _number: Dialogue(FICS)) as server,
        between(server.port, tmp_path, max_clients=2) as it,
    ):
        served = [await Caller.call(it.port) for _ in range(2)]
        for caller in served:
            await caller.until(b"login: ")
        for burst in (1, 2):
            for _ in range(5):
                refused = await Caller.call(it.port)
                assert await refused.rest() == f"\r\nics-recorder: {why}. Try again later.\r\n".encode()
                refused.writer.close()
            assert len(it.messages) == burst
            assert it.messages[-1].startswith(f"A client was turned away: {why} (--max-clients).")
            served.pop().writer.close()
            await it.until_closed(burst)
            served.append(await Caller.call(it.port))
            await served[-1].until(b"login: ")
        assert it.proxy.connections == 4


@in_loop
async def test_the_game_continues_without_a_journal(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    async with ScriptedServer(Dialogue(FICS)) as server, between(server.port, tmp_path / "file") as it:
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\nquit\n")
        await caller.until(b"fics% ")
        await caller.rest()
        caller.writer.close()
        await it.until_closed()
    assert it.proxy.unrecorded == 1
    assert "Connection 1 IS NOT RECORDED, it continues: The journal" in it.messages[0]


class Hanging:
    """A part of a journal whose disk works while ``turns`` is set."""

    def __init__(self, path: Path, turns: threading.Event) -> None:
        self._file = new_part(path)
        self._turns = turns
        self.sync, self.check, self.close = self._file.sync, self._file.check, self._file.close

    def write(self, data: bytes, /) -> int:
        self._turns.wait(600)
        return self._file.write(data)


@in_loop
async def test_a_hanging_disk_delays_no_game_and_ends_the_recording_with_an_error(tmp_path: Path) -> None:
    turns = threading.Event()
    turns.set()
    answers = {b"date": b"It is late.\n\r", b"news": b"x" * 50_000}
    async with (
        ScriptedServer(Dialogue(FICS, answers=answers)) as server,
        between(server.port, tmp_path, Sync.INTERVAL, lambda path: Hanging(path, turns)) as it,
    ):
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\n")
        await caller.until(b"fics% ")
        turns.clear()
        for _ in range(20):
            caller.send(b"date\n")
            await caller.until(b"It is late.\n\r")
        assert not it.messages
        for _ in range(40):
            caller.send(b"news\n")
            await caller.until(b"fics% ")
        assert len(it.messages) == 1
        assert "RECORDING HAS ENDED, the connection continues: The disk does not respond: " in it.messages[0]
        turns.set()
        caller.send(b"quit\n")
        await caller.rest()
        caller.writer.close()
        await it.until_closed()
        while [path.suffix for path in tmp_path.iterdir()] != [".zst"]:  # closed, so compressed
            await asyncio.sleep(0.01)
    assert it.proxy.unrecorded == 1
    kept = journalled(tmp_path)
    assert bytes(caller.heard).startswith(kept.received)
    assert len(kept.received) > 500_000
    assert {"kind": "unrecorded", "why": "the disk did not answer"} in kept.notes


@in_loop
async def test_a_disk_that_creates_no_journal_lets_the_client_play(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.live.proxy._OPEN_S", 0.1)
    turns = threading.Event()
    async with (
        ScriptedServer(Dialogue(FICS)) as server,
        between(server.port, tmp_path, Sync.ALWAYS, lambda path: Hanging(path, turns)) as it,
    ):
        caller = await Caller.call(it.port)
        caller.send(b"guest\n\nquit\n")
        await caller.rest()
        turns.set()
        while [path.suffix for path in tmp_path.iterdir()] != [".zst"]:
            await asyncio.sleep(0.01)
    assert it.messages == [
        "Error: Connection 1 IS NOT RECORDED, it continues: the disk did not make a journal within 0.1 s."
    ]
    assert it.proxy.unrecorded == 1


@in_loop
async def test_a_removed_journal_ends_the_recording_with_an_error(tmp_path: Path) -> None:
    async with ScriptedServer(Dialogue(FICS)) as server, between(server.port, tmp_path, Sync.ALWAYS) as it:
        caller = await Caller.call(it.port)
        await caller.until(b"login: ")
        for path in tmp_path.iterdir():
            path.unlink()
        caller.send(b"guest\n\nquit\n")
        await caller.until(b"fics% ")
        await caller.rest()
        caller.writer.close()
        await it.until_closed()
    assert it.proxy.unrecorded == 1
    assert len(it.messages) == 1
    assert "RECORDING HAS ENDED, the connection continues" in it.messages[0]
