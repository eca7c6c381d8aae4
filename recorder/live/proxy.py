"""Forwards bytes between a user's client and the server, both directions byte-exact, and records them.

This module has the sockets; ``relay`` decides what is read and written, ``recording`` what is written to the journal.
Bytes are forwarded first and then recorded in a thread, so that a slow disk does not delay them. After a crash the
journal lacks the bytes that waited for the disk, commonly some milliseconds of traffic. With ``journal_first`` every
read waits for the disk, and the journal lacks nothing that a peer has received.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable, Coroutine
from typing import Any, Final, NamedTuple

from recorder.errors import JournalError, is_disk_full
from recorder.live.messages import MessageSink
from recorder.live.net.sockets import (
    MAX_CLIENTS,
    Address,
    connect,
    failure_reason,
    in_thread,
    prepare,
    say_farewell,
    why_no_connection,
)
from recorder.live.recording import RecordedConnection
from recorder.live.relay import ProxySide, Relay

_READ_BYTES: Final = 1 << 16
_LINGER_S: Final = 5
"""How long the other side may still send when one side is gone."""
_TICK_S: Final = 0.5
_ACCEPT_AGAIN_S: Final = 1
_OPEN_S: Final = 5
"""How long a client waits for the disk to create its journal."""


class Closed(NamedTuple):
    """A connection that is over; ``by`` is the side that ended or failed first, None if the proxy was stopped.

    ``recording`` is closed, and None if the journal could not be created.
    """

    number: int
    by: ProxySide | None
    from_client: int
    from_server: int
    recording: RecordedConnection | None


class Proxy:
    """Joins every client with its own connection to the server; more than ``max_clients`` are turned away.

    ``record`` makes the recording of the connection with this number; if it raises, there is none. ``on_closed`` must
    not raise. ``journal_first``: record before forwarding. ``forwarded`` counts bytes of connections that are over,
    ``unrecorded`` connections that are not recorded completely.
    """

    def __init__(
        self,
        server: Address,
        record: Callable[[int], RecordedConnection],
        *,
        report: MessageSink,
        on_closed: Callable[[Closed], None] = lambda closed: None,
        journal_first: bool = False,
        max_clients: int = MAX_CLIENTS,
    ) -> None:
        self._server = server
        self._record = record
        self._report = report
        self._on_closed = on_closed
        self.journal_first = journal_first
        self._links: set[_Link] = set()
        self._joining: set[asyncio.Task[None]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._refusing: set[asyncio.Task[None]] = set()
        self._max_clients = max_clients
        self._refusal_reported = False  # since a client was served last
        self._clients = 0
        self.connections = 0
        self.forwarded = {ProxySide.CLIENT: 0, ProxySide.SERVER: 0}
        self.unrecorded = 0

    async def serve(self, listeners: list[socket.socket], stop: asyncio.Event) -> None:
        """Serve clients until ``stop`` is set, then close every connection, journal and listener."""
        accepting = [asyncio.create_task(self._accept(listener)) for listener in listeners]
        ticking = asyncio.create_task(self._tick())
        try:
            await stop.wait()
        finally:
            tasks = [*accepting, ticking, *self._joining, *self._refusing]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            for listener in listeners:
                listener.close()
            for link in list(self._links):
                link.abort()
            await asyncio.gather(*self._closing)

    async def _accept(self, listener: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                client, _ = await loop.sock_accept(listener)
            except OSError as error:  # no file descriptor is left, or the client has closed
                why = failure_reason(error)
                self._report("client_refused", f"A client could not be accepted: {why}.", client=None, how=why)
                await asyncio.sleep(_ACCEPT_AGAIN_S)
                continue
            if len(self._joining) + len(self._links) + len(self._closing) < self._max_clients:
                self._refusal_reported = False
                self._start(self._join(client), self._joining)
            else:
                self._refuse(client)

    def _refuse(self, client: socket.socket) -> None:
        why = f"{self._max_clients} clients are connected, which is the limit"
        if not self._refusal_reported:
            self._refusal_reported = True
            self._report(
                "client_refused",
                f"A client was turned away: {why} (--max-clients). This is reported again after another was served.",
                client=None,
                how=why,
            )
        if len(self._refusing) < self._max_clients:
            self._start(self._dismiss(client, f"ics-recorder: {why}. Try again later."), self._refusing)
        else:
            client.close()

    async def _dismiss(self, client: socket.socket, sentence: str) -> None:
        with client:
            await say_farewell(client, sentence)

    def _start(self, work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
        task = asyncio.create_task(work)
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    async def _join(self, client: socket.socket) -> None:
        self._clients += 1
        number = self._clients
        with contextlib.ExitStack() as sockets:  # closes them if the proxy is stopped
            sockets.callback(client.close)
            try:
                server = await connect(self._server)
            except (OSError, TimeoutError) as error:
                why = why_no_connection(self._server, error)
                self._report("client_refused", f"Client {number} was turned away: {why}.", client=number, how=why)
                await say_farewell(client, f"ics-recorder: {why}.")
                return
            sockets.callback(server.close)
            self.connections += 1
            recording = await self._open(number)
            for connection in (client, server):
                with contextlib.suppress(OSError):  # already closed; reading reports it
                    prepare(connection)
            sockets.pop_all()
        link = _Link(self, number, client, server, recording)
        self._links.add(link)
        link.start()

    async def _open(self, number: int) -> RecordedConnection | None:
        """Make the recording of a connection in a thread: a disk that hangs must not delay the other connections."""
        try:
            async with asyncio.timeout(_OPEN_S):
                return await in_thread(lambda: self._record(number), lambda late: late.close(how="too late"))
        except Exception as error:  # whatever the error, the user's game comes first
            self.unrecorded += 1
            why = f"the journal failed ({type(error).__name__})."
            if isinstance(error, JournalError):
                why = str(error)
            elif isinstance(error, TimeoutError):
                why = f"the disk did not make a journal within {_OPEN_S} s."
            sentence = f"Error: Connection {number} IS NOT RECORDED, it continues: {why}"
            self._report("unrecorded", sentence, connection=number, disk_full=is_disk_full(error))
            return None

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(_TICK_S)
            for link in list(self._links):
                if link.recording is not None:
                    link.recording.tick()

    def end(self, link: _Link, closed: Closed, how: str) -> None:
        """End a connection: close its journal in a thread, then call ``on_closed``."""
        self._links.discard(link)
        self.forwarded[ProxySide.CLIENT] += closed.from_client
        self.forwarded[ProxySide.SERVER] += closed.from_server
        self._start(self._close(closed, how), self._closing)

    async def _close(self, closed: Closed, how: str) -> None:
        if closed.recording is not None:
            by = closed.by.value if closed.by else "proxy"
            await asyncio.to_thread(closed.recording.close, by=by, how=how)
            self.unrecorded += closed.recording.failed
        self._on_closed(closed)


class _Link:
    """One client, its connection to the server, and the bytes on their way."""

    def __init__(
        self,
        proxy: Proxy,
        number: int,
        client: socket.socket,
        server: socket.socket,
        recording: RecordedConnection | None,
    ) -> None:
        self._proxy = proxy
        self._number = number
        self._sockets = {ProxySide.CLIENT: client, ProxySide.SERVER: server}
        self._relay = Relay()
        self._loop = asyncio.get_running_loop()
        self._reading: set[ProxySide] = set()
        self._writing: set[ProxySide] = set()
        self._linger: asyncio.TimerHandle | None = None
        self._by: ProxySide | None = None
        self._how = "stopped"
        self.recording = recording

    def start(self) -> None:
        """Begin to forward."""
        self._arrange()

    def abort(self) -> None:
        """End both connections now."""
        if self._linger is not None:
            self._linger.cancel()
        for side, connection in self._sockets.items():
            self._loop.remove_reader(connection)
            self._loop.remove_writer(connection)
            with contextlib.suppress(OSError):
                self._relay.sent(side, connection.send(self._relay.data_to_send(side)))
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_WR)
            connection.close()
        forwarded = self._relay.forwarded
        closed = Closed(
            self._number, self._by, forwarded[ProxySide.CLIENT], forwarded[ProxySide.SERVER], self.recording
        )
        self._proxy.end(self, closed, self._how)

    def _readable(self, side: ProxySide) -> None:
        try:
            data = self._sockets[side].recv(_READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._ends(side, "reset" if isinstance(error, ConnectionResetError) else "lost")
            self._relay.lose(side)
            self._arrange()
            return
        at_ns = 0 if self.recording is None else self.recording.now_ns()
        if not data:
            self._ends(side, "end")
            self._relay.receive_end(side)
            self._arrange()
            return
        if self._proxy.journal_first:
            self._keep(side, data, at_ns)
        self._relay.receive(side, data)
        self._write(side.other)
        if not self._proxy.journal_first:
            self._keep(side, data, at_ns)
        self._arrange()

    def _keep(self, side: ProxySide, data: bytes, at_ns: int) -> None:
        if self.recording is None:
            return
        if side is ProxySide.SERVER:
            self.recording.server_sent(data, at_ns)
        else:
            self.recording.client_sent(data, at_ns)

    def _writable(self, side: ProxySide) -> None:
        self._write(side)
        self._arrange()

    def _write(self, side: ProxySide) -> None:
        waiting = self._relay.data_to_send(side)
        if not waiting:
            return
        try:
            count = self._sockets[side].send(waiting)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            # Bytes that it sent before are still to be read: its last output, then its end or a reset.
            self._relay.refuse(side)
            return
        self._relay.sent(side, count)

    def _ends(self, side: ProxySide, how: str) -> None:
        if self._by is None:
            self._by, self._how = side, how

    def _arrange(self) -> None:
        """Pass ends on, then wait for the reads and writes that the relay needs."""
        for side, connection in self._sockets.items():
            if self._relay.take_end(side):
                with contextlib.suppress(OSError):  # already closed; reading reports it
                    connection.shutdown(socket.SHUT_WR)
        if self._relay.done:
            self.abort()
            return
        if self._relay.leaving and self._linger is None:
            self._linger = self._loop.call_later(_LINGER_S, self.abort)
        loop = self._loop
        self._watch(self._relay.wants_read, self._reading, loop.add_reader, loop.remove_reader, self._readable)
        self._watch(self._relay.wants_write, self._writing, loop.add_writer, loop.remove_writer, self._writable)

    def _watch(
        self,
        wanted: Callable[[ProxySide], bool],
        watched: set[ProxySide],
        add: Callable[..., object],
        remove: Callable[..., object],
        callback: Callable[[ProxySide], None],
    ) -> None:
        for side, connection in self._sockets.items():
            if wanted(side) == (side in watched):
                continue
            if side in watched:
                watched.discard(side)
                remove(connection)
            else:
                watched.add(side)
                add(connection, callback, side)
