"""The sockets of a replay server: bytes to and from ``ReplayClients``, timers, and bounds for everybody.

A replay of bytes, a journal or a log, sends what the recorded connection got from behind its login on. What a client
types changes nothing, but for ``quit`` and the replay's own commands; those are answered in lines of their own.
"""

from __future__ import annotations

import asyncio
import re
import socket
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from pathlib import Path, PurePath
from time import monotonic_ns
from typing import Any, Final, Protocol, cast

from recorder.errors import SourceError
from recorder.events import Chunk, CutLines
from recorder.live.net.sockets import Address, client_command, format_address, is_loopback, listen
from recorder.live.service import heed_signals
from recorder.replay.server.commands import answer_command
from recorder.replay.server.control import read_command, steer, where
from recorder.replay.server.login import AT_ONCE, Greeting, LoginDialogue
from recorder.replay.server.session import ReplaySession
from recorder.replay.show import ReplaySource, Show
from recorder.replay.timing import Playhead, ReplayMoment

_MOST_CLIENTS: Final = 500
_LOOKED_AT: Final = 1 << 16
_STARTING: Final = re.compile(rb"\*{4} Starting [^\r\n]{0,80}\*{4}[^\r\n]*[\r\n]*")
_PROMPT: Final = re.compile(rb"(?:^|[\r\n])(?=[fa]ics% )")


def after_login(chunks: Iterable[Chunk]) -> list[Chunk]:
    """Behind the line that says that the session begins, else from the first prompt on; without either all."""
    found = list(chunks)
    head, size = b"", 0
    for chunk in found:
        head += chunk.data
        if len(head) >= _LOOKED_AT:
            break
    match = _STARTING.search(head[:_LOOKED_AT]) or _PROMPT.search(head[:_LOOKED_AT])
    if match is None:
        return found
    kept: list[Chunk] = []
    for chunk in found:
        begin = max(match.end() - size, 0)
        size += len(chunk.data)
        if begin < len(chunk.data) or not chunk.data:
            kept.append(chunk._replace(data=chunk.data[begin:], offset=chunk.offset + begin) if begin else chunk)
    return kept


def read_bytes(path: Path, report: Callable[[str], None]) -> list[ReplayMoment[Chunk]] | None:
    """From behind the login on; None, with a report, if the log has no times."""
    from recorder.model import SAVED_KINDS, SourceKind
    from recorder.reading import make_pipeline
    from recorder.replay.moments import moments_of_chunks, placed
    from recorder.sources import HEAD_BYTES, detect, find_timing, make_decoder, read_blocks, why_not_a_log

    data = b"".join(read_blocks(path))
    kind = detect(data[:HEAD_BYTES])
    if kind is None:
        raise SourceError(f"{path}: {why_not_a_log(data[:HEAD_BYTES])}")
    if kind in SAVED_KINDS:
        return None
    timing = find_timing(path)
    timed = None if timing is None else timing.read_bytes()
    chunks = list(
        _journal_chunks(data) if kind is SourceKind.JOURNAL else _decoded(make_decoder(kind, timing=timed), data)
    )
    if len({chunk.at_ms for chunk in chunks} - {None}) < 2:
        report(f"{path} has no times of arrival: replaying its games, not the recorded bytes.")
        return None
    pipeline = make_pipeline(kind, timing=timed)
    games = [*pipeline.receive(data), *pipeline.finish()]
    return placed(list(moments_of_chunks(after_login(chunks))), games)


def _journal_chunks(data: bytes) -> Iterator[Chunk]:
    from recorder.journal.format import Record, RecordKind
    from recorder.journal.reader import JournalReader

    for offset, record in JournalReader().read([data]):
        if isinstance(record, Record) and record.kind is RecordKind.RECEIVED:
            yield Chunk(record.data, offset, record.at_ns // 1_000_000)


def _decoded(decoder: Any, data: bytes) -> Iterator[Chunk]:
    for found in (*decoder.receive(data), *decoder.finish()):
        if isinstance(found, CutLines):
            yield from found.chunks()
        elif isinstance(found, Chunk):
            yield found


class ByteReplay:
    """Paused at the beginning: the bytes of one client, or of all clients that share them."""

    def __init__(
        self,
        moments: Sequence[ReplayMoment[Chunk]],
        now_ns: int,
        *,
        begin: int = 0,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: Sequence[str] = (),
    ) -> None:
        self.head = Playhead(moments, now_ns, speed=speed, loop=loop, pause_at=pause_at)
        self.head.pause(now_ns)
        if begin:
            self.head.go(begin, now_ns)

    def take(self, now_ns: int, most: int | None = None) -> Iterator[bytes]:
        for moment in self.head.take(now_ns, most):
            yield moment.what.data


class ByteSession(LoginDialogue):
    """A client of a replay of bytes; a ``shared`` replay's time is not the client's to change."""

    def __init__(self, replay: ByteReplay, number: int, manner: Greeting, shared: bool = False) -> None:
        self._replay = replay
        self._shared = shared
        super().__init__(number, manner)

    @property
    def due_ns(self) -> int | None:
        return None if self._shared or self.closed else self._replay.head.due_ns

    def tick(self, now_ns: int) -> None:
        if not self._shared:
            self.happen(self._replay.take(now_ns, AT_ONCE), now_ns)

    def happen(self, happenings: Iterable[bytes], now_ns: int) -> None:
        self.now_ns = now_ns
        if self.handle is not None and not self.closed:
            for data in happenings:
                self._out += data

    def _entered(self) -> None:
        if not self._shared:
            self._replay.head.resume(self.now_ns)

    def _command(self, text: str) -> None:
        command = read_command(text, False)
        if command.name == "quit":
            self._leave()
        elif command.name == "tell" and command.rest.lower().startswith("replay "):
            lines = self._steered(command.rest[7:].strip())
            self._say("".join(f"\nreplay tells you: {line}" for line in lines) + "\n")

    def _steered(self, words: str) -> list[str]:
        head = self._replay.head
        if words.lower() == "step" and not self._shared:
            moment = head.step(self.now_ns)
            self._out += b"" if moment is None else moment.what.data
            return [where(head, self.now_ns)]
        place, at_ms, lines = steer(head, words, self.now_ns, self._shared)
        if place is not None:
            head.go(place, self.now_ns, at_ms)
        return lines


_AT_ONCE: Final = 400
"""Of a shared replay that is late so many moments come to clients, all together, before it is their turn."""


class Shared(Protocol):
    """A replay that all clients see at the same moment: ``Show`` and ``ByteReplay``."""

    @property
    def head(self) -> Playhead[Any]:
        """Its place in time."""

    def take(self, now_ns: int, most: int | None = None) -> Iterator[Any]:
        """What is due, or so many of it, one by one; each is to be heard before the next is taken."""


class ReplayClients:
    """The clients that are connected; with ``shared``, all of them see one replay."""

    def __init__(self, make: Callable[[int, int], LoginDialogue], shared: Shared | None = None) -> None:
        self._make = make
        self._shared = shared
        self._count = 0
        self.clients: set[LoginDialogue] = set()

    def connect(self, now_ns: int) -> LoginDialogue | None:
        """None: there are too many."""
        if len(self.clients) >= _MOST_CLIENTS:
            return None
        client = self._make(self._count, now_ns)
        self._count += 1
        self.clients.add(client)
        return client

    def disconnect(self, client: LoginDialogue) -> None:
        self.clients.discard(client)

    def receive(self, client: LoginDialogue, data: bytes, now_ns: int) -> None:
        client.receive(data, now_ns)
        if self._shared is not None and self._shared.head.paused and client.handle is not None:
            self._shared.head.resume(now_ns)

    @property
    def due_ns(self) -> int | None:
        """Of the shared clock; None: there is none, or it stands."""
        return None if self._shared is None else self._shared.head.due_ns

    def tick(self, now_ns: int, failed: Callable[[LoginDialogue, Exception], None]) -> None:
        """If much is due, only a part is sent. A client that raises an error is removed, and given to ``failed``."""
        if self._shared is None:
            return
        for happening in self._shared.take(now_ns, max(_AT_ONCE // max(len(self.clients), 1), 1)):
            for client in list(self.clients):
                try:
                    client.happen((happening,), now_ns)
                except Exception as error:  # a fault that one client meets must not stop the clock of all
                    self.disconnect(client)
                    failed(client, error)


def clients_of_games(
    recording: ReplaySource,
    greeting: Greeting,
    *,
    shared_at_ns: int | None = None,
    speed: Fraction | int = 1,
    loop: bool = False,
    pause_at: Sequence[str] = (),
    begin: int = 0,
    wall_ms: Callable[[int], int] = lambda now_ns: now_ns // 1_000_000,
) -> ReplayClients:
    """With ``shared_at_ns``, the time now, all share one replay. ``date`` prints the time of ``wall_ms``."""

    def show_at(now_ns: int) -> Show:
        show = Show(recording, now_ns, speed=speed, loop=loop, pause_at=pause_at, handles=True)
        if begin:
            show.head.pause(now_ns)
            show.go(begin, now_ns)
        else:
            show.open(now_ns)
        return show

    shared = None if shared_at_ns is None else show_at(shared_at_ns)

    def make(number: int, now_ns: int) -> LoginDialogue:
        show = shared or show_at(now_ns)
        return ReplaySession(show, number, greeting, answer_command, shared=shared is not None, wall_ms=wall_ms)

    return ReplayClients(make, shared)


def clients_of_bytes(
    moments: Sequence[ReplayMoment[Chunk]], greeting: Greeting, *, shared_at_ns: int | None = None, **how: Any
) -> ReplayClients:
    shared = None if shared_at_ns is None else ByteReplay(moments, shared_at_ns, **how)

    def make(number: int, now_ns: int) -> LoginDialogue:
        return ByteSession(shared or ByteReplay(moments, now_ns, **how), number, greeting, shared is not None)

    return ReplayClients(make, shared)


_NS: Final = 1_000_000_000
_SLICE: Final = 512
"""Of one client one line is looked at, or so many bytes, before it is another's turn."""
_MOST_WAITING: Final = 1 << 20
_MOST_HELD: Final = 1 << 16
"""Of a replay that is so fast that ends of games wait for each other, so many bytes wait."""
_LOGIN_S: Final = 120
_FAREWELL_S: Final = 1
_APART_S: Final = 0.1
"""Between a board and the end of its game: xboard and PyChess lose the last move where they read both at once."""
_SLOW: Final = b"\n\r**** You read too slowly: this replay goes on without you. ****\n\r"
_FAULT: Final = b"\n\r**** This replay has a fault and cannot go on for you. ****\n\r"
_FULL: Final = b"\n\r**** There are too many clients; try again later. ****\n\r"


def serve(listen_at: Address, clients: ReplayClients, report: Callable[[str], None]) -> None:
    listeners = listen(listen_at)
    for listener in listeners:
        here = format_address(Address(*listener.getsockname()[:2]))
        report(f"Listening on {here}.")
        if not is_loopback(listener):
            report(f"Warning: {here} is open to other machines: anyone there can see these games.")
    report(f"Connect a client: {client_command(listeners[0])}")
    asyncio.run(_serve(clients, listeners, report))


async def _serve(clients: ReplayClients, listeners: Sequence[socket.socket], report: Callable[[str], None]) -> None:
    stop = asyncio.Event()
    heed_signals(stop, asyncio.Event())
    await ReplayServer(clients, report).serve(listeners, stop)


class ReplayServer:
    """``report`` gets a sentence when a client connects or leaves."""

    def __init__(self, clients: ReplayClients, report: Callable[[str], None]) -> None:
        self.clients = clients
        self.report = report
        self.links: dict[LoginDialogue, _Link] = {}
        self._timer: asyncio.TimerHandle | None = None

    async def serve(self, listeners: Sequence[socket.socket], stop: asyncio.Event) -> None:
        """When ``stop`` is set everybody is sent away."""
        loop = asyncio.get_running_loop()
        servers = [await loop.create_server(lambda: _Link(self), sock=listener) for listener in listeners]
        try:
            await stop.wait()
        finally:
            if self._timer is not None:
                self._timer.cancel()
            for server in servers:
                server.close()
            for link in list(self.links.values()):
                link.end(b"\n\r    **** Server shutting down immediately. ****\n\r")
            while self.links:
                await asyncio.sleep(0.02)

    def schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_ns = self.clients.due_ns
        if due_ns is not None:
            self._timer = asyncio.get_running_loop().call_later(_seconds_to(due_ns), self._tick)

    def _tick(self) -> None:
        self._timer = None
        try:
            self.clients.tick(monotonic_ns(), self._failed)
            for link in list(self.links.values()):
                link.flush()
        finally:
            self.schedule()

    def _failed(self, client: LoginDialogue, error: Exception) -> None:
        link = self.links.get(client)
        if link is not None:
            link.fail(error)


class _Link(asyncio.Protocol):
    def __init__(self, server: ReplayServer) -> None:
        self._server = server
        self._client: LoginDialogue | None = None
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._held: asyncio.TimerHandle | None = None  # what is sent next is kept apart from what was sent
        self._limits: list[asyncio.TimerHandle] = []  # of the login, and of the farewell
        self._waiting = b""
        self._looked_at = 0  # so many bytes of what waits
        self._ending = False
        self._name = ""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        peer = transport.get_extra_info("peername")  # None: it is gone already
        self._name = "somebody" if peer is None else "{}:{}".format(*peer[:2])
        try:
            client = self._server.clients.connect(monotonic_ns())
        except Exception as error:  # the client gets a message and is disconnected, so that it does not wait
            self.fail(error)
            return
        if client is None:
            self.end(_FULL)
            return
        self._client = client
        self._server.links[client] = self
        self._limits.append(asyncio.get_running_loop().call_later(_LOGIN_S, self._login_over))
        self.flush()

    def data_received(self, data: bytes) -> None:
        if self._ending:
            return
        assert self._transport is not None
        begin = not self._waiting
        self._waiting = self._waiting[self._looked_at :] + data
        self._looked_at = 0
        if begin:
            self._work()

    def _slice(self) -> bytes:
        begin = self._looked_at
        end = self._waiting.find(b"\n", begin, begin + _SLICE) + 1 or begin + _SLICE
        found = self._waiting[begin:end]
        self._looked_at = end
        if end >= len(self._waiting):
            self._waiting, self._looked_at = b"", 0
        return found

    def _work(self) -> None:
        """The other slices of the same client wait for the next turn."""
        if self._client is None or self._transport is None or self._ending or not self._waiting:
            return
        handle = self._client.handle
        try:
            self._server.clients.receive(self._client, self._slice(), monotonic_ns())
        except Exception as error:  # a fault that one client meets must not leave it hanging, nor harm others
            self.fail(error)
            return
        if handle is None and self._client.handle is not None:
            self._server.report(f"{self._client.handle} connected from {self._name}.")
        self.flush()
        self._server.schedule()
        if self._waiting:
            self._transport.pause_reading()
            asyncio.get_running_loop().call_soon(self._work)
        else:
            self._transport.resume_reading()

    def flush(self) -> None:
        client, transport = self._client, self._transport
        if client is None or transport is None or self._ending:
            return
        whole = client.closed or client.backlog > _MOST_HELD
        if whole and self._held is not None:
            self._held.cancel()
            self._held = None
        while self._held is None:
            data = client.take_output(part=not whole)
            if data:
                transport.write(data)
            if not client.is_parted:
                break
            self._held = asyncio.get_running_loop().call_later(_APART_S, self._release)
        if transport.get_write_buffer_size() > _MOST_WAITING:
            self._server.report(f"{client.handle or self._name} reads too slowly and was disconnected.")
            self.end(_SLOW)
        elif client.closed:
            self.end(b"")
        else:
            self._set_timer(client)

    def _release(self) -> None:
        self._held = None
        if self._client is not None:
            self._client.go_on()
        self.flush()

    def _set_timer(self, client: LoginDialogue) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due_ns = client.due_ns
        if due_ns is not None:
            self._timer = asyncio.get_running_loop().call_later(_seconds_to(due_ns), self._tick)

    def _tick(self) -> None:
        self._timer = None
        if self._client is not None:
            try:
                self._client.tick(monotonic_ns())
            except Exception as error:  # as above
                self.fail(error)
            self.flush()

    def _login_over(self) -> None:
        if self._client is not None and self._client.handle is None and not self._ending:
            self.end(b"\n\r**** LOGIN TIMEOUT ****\n\r")

    def fail(self, error: Exception) -> None:
        """A fault of this program: log where it is, and disconnect the client with a message."""
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__}: {error}, {PurePath(last.filename).name} line {last.lineno}"
        name = self._name if self._client is None else self._client.handle or self._name
        self._server.report(f"{name} was disconnected ({where}, a bug).")
        self.end(_FAULT)

    def end(self, words: bytes) -> None:
        """A client that does not listen is cut off."""
        transport = self._transport
        if transport is None or self._ending:
            return
        self._ending = True
        if words:
            transport.write(words)
        transport.close()
        self._limits.append(asyncio.get_running_loop().call_later(_FAREWELL_S, transport.abort))

    def connection_lost(self, exc: Exception | None) -> None:
        self._ending = True
        if self._timer is not None:
            self._timer.cancel()
        if self._held is not None:
            self._held.cancel()
        for limit in self._limits:
            limit.cancel()
        if self._client is not None:
            self._server.clients.disconnect(self._client)
            self._server.links.pop(self._client, None)
            if self._client.handle is not None:
                self._server.report(f"{self._client.handle} disconnected.")


def _seconds_to(due_ns: int) -> float:
    return max(due_ns - monotonic_ns(), 0) / _NS
