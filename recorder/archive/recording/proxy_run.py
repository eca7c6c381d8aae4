"""One run of ``proxy``: clients are served and recorded, and the archive is kept up to date."""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from pathlib import Path
from typing import Any, Final

from recorder.archive.locate import import_command
from recorder.archive.recording.archiving import ArchiveChild, cancel, keep_archive
from recorder.journal import find_part
from recorder.journal.writer import JournalWriter, Sync
from recorder.live.messages import MessagePrinter, MessageSink
from recorder.live.net.sockets import Address, client_command, format_address, is_loopback, why_unknown
from recorder.live.proxy import Closed, Proxy, ProxySide
from recorder.live.recording import DeferredJournal, RecordedConnection
from recorder.live.service import heed_signals
from recorder.text import plural

_CHAT: Final = ("--chat", "own")


async def run_proxy(
    server: Address,
    listeners: list[socket.socket],
    max_clients: int,
    journals: Path,
    sync_word: str,
    where: str,
    archiving: ProxyArchive | None,
    report: MessageSink,
    printer: MessagePrinter,
) -> Proxy:
    """Serve until a signal comes; ``archiving`` None: nothing is imported."""
    sync = Sync(sync_word)

    proxy = Proxy(
        server,
        lambda number: _recorded(number, server, journals, sync, archiving, report),
        report=report,
        on_closed=lambda closed: _report_closed(closed, report),
        journal_first=sync is Sync.ALWAYS,
        max_clients=max_clients,
    )
    stop, hurry = asyncio.Event(), asyncio.Event()
    heed_signals(stop, hurry)
    _report_beginning(server, listeners, journals, report, printer)  # the reader may terminate this process at once
    child, later = None if archiving is None else archiving.child, import_command(journals, where, *_CHAT)
    async with keep_archive(child, journals, hurry, partial(report, "left_over"), later) as missing:
        looking_up = asyncio.create_task(_report_unknown_host(server, report))
        await proxy.serve(listeners, stop)
        await cancel(looking_up)
    if archiving is not None:
        archiving.report(missing, hurried=hurry.is_set())
    return proxy


def _recorded(
    number: int, server: Address, journals: Path, sync: Sync, archiving: ProxyArchive | None, report: MessageSink
) -> RecordedConnection:
    journal = JournalWriter(journals, host=server.host, port=server.port, role="proxy", sync=sync)
    if archiving is not None:
        archiving.child.sign(journal)
        archiving.take(number, journal.path)
    report(
        "client_connected",
        f"Connection {number} is recorded in {journal.path}.",
        connection=number,
        journal=str(journal.path),
    )
    written = journal if sync is Sync.ALWAYS else DeferredJournal(journal)

    def failed(message: str) -> None:
        report(
            "unrecorded",
            f"Error: Connection {number}: {message}",
            connection=number,
            disk_full=connection.disk_full,
        )

    connection = RecordedConnection(written, failed)
    return connection


class ProxyArchive:
    """The archive's process, and the messages about it."""

    def __init__(self, where: str, report: MessageSink, printer: MessagePrinter, **outlets: Any) -> None:
        self.child = ArchiveChild(where, self._trouble, chat="own", done=self._done, **outlets)
        self._where = where
        self._report = report
        self._printer = printer
        self.missing = False  # at the end: the archive or the PGN does not have all
        self._numbers: dict[Path, int] = {}
        self._why = "there was no time."

    def take(self, number: int, journal: Path) -> None:
        self._numbers[journal] = number
        self.child.take(journal)

    def report(self, missing: list[Path], *, hurried: bool) -> None:
        """``hurried``: a signal ended the wait for the archive."""
        self.missing = bool(missing)
        if missing and hurried:
            later = "Not every journal was imported; `ics-recorder import` does it later."
            self._report("not_imported", later, connection=None)
            return
        for journal in missing:
            number = self._numbers.get(journal)
            which = f"Connection {number}" if number is not None else "What a crash left"
            later = import_command(find_part(journal), self._where, *_CHAT)
            sentence = f"Error: {which} was not imported: {self._why} Do it later: {later}"
            self._report("not_imported", sentence, connection=number)

    def _done(self, journal: Path, games: int) -> None:
        number = self._numbers.pop(journal, None)
        if number is not None:
            sentence = f"Connection {number}: {plural(games, 'game')} went into {self._where}."
            self._report("imported", sentence, connection=number, games=games)

    def _trouble(self, sentence: str) -> None:
        self._why = sentence
        self._printer.say(sentence)


def _report_beginning(
    server: Address, listeners: list[socket.socket], journals: Path, report: MessageSink, printer: MessagePrinter
) -> None:
    for listener in listeners:
        here = format_address(Address(*listener.getsockname()[:2]))
        report("listening", f"Listening on {here} for {format_address(server)}.", address=here)
        if not is_loopback(listener):
            report(
                "exposed",
                f"Warning: {here} is open to other machines: anyone who connects uses your connection to the server, "
                "and passwords are sent unencrypted.",
                address=here,
            )
    printer.say(f"Connect a client: {client_command(listeners[0])}")
    report("started", f"Journals: {journals}", server=format_address(server), journal_dir=str(journals))


async def _report_unknown_host(server: Address, report: MessageSink) -> None:
    """Tell at once what the first client would run into."""
    if why := await why_unknown(server):
        sentence = f"Warning: {why}; check how the server's name is written. No client is served until it is known."
        report("unknown_host", sentence, server=format_address(server))


def _report_closed(closed: Closed, report: MessageSink) -> None:
    by = "this program" if closed.by is None else f"the {closed.by.value}"
    report(
        "client_left",
        f"Connection {closed.number} was ended by {by}: "
        f"{closed.from_server:,} bytes from the server, {closed.from_client:,} to it.",
        connection=closed.number,
        by="proxy" if closed.by is None else closed.by.value,
        received_bytes=closed.from_server,
        sent_bytes=closed.from_client,
    )


def report_end(proxy: Proxy, journals: Path, report: MessageSink, printer: MessagePrinter) -> None:
    received, sent = proxy.forwarded[ProxySide.SERVER], proxy.forwarded[ProxySide.CLIENT]
    report(
        "proxy_ended",
        f"{plural(proxy.connections, 'connection')}, {received:,} bytes from the server, {sent:,} to it. "
        f"The journals are in {journals}.",
        connections=proxy.connections,
        received_bytes=received,
        sent_bytes=sent,
        unrecorded=proxy.unrecorded,
    )
    if proxy.unrecorded:
        printer.say(f"Error: {plural(proxy.unrecorded, 'connection')} could not be recorded completely; see above.")
