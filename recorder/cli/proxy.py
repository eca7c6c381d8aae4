"""``proxy``: stand between a person's client and the server, and record both."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from recorder.archive.left_over import take_left_over
from recorder.archive.locate import import_command
from recorder.cli.event_log import RunLog, log_option, teller
from recorder.cli.options import archive_option
from recorder.cli.output import say
from recorder.cli.recording_options import (
    DEFAULT_PORT,
    AddressType,
    heed_signals,
    import_option,
    journal_options,
    outlet_options,
    refuse_outlets,
)
from recorder.cli.talk import MessagePrinter
from recorder.errors import JournalError
from recorder.exit_codes import ExitCode
from recorder.live.net.sockets import MAX_CLIENTS, Address, format_address
from recorder.text import plural

if TYPE_CHECKING:
    from recorder.live.messages import MessageSink
    from recorder.live.proxy import Closed, Proxy

__all__ = ["command"]

_CHAT = ("--chat", "own")


@click.command(
    "proxy",
    short_help="Stand between a client and the server, and record both.",
    epilog="""\b
Examples:
  ics-recorder proxy freechess.org
  xboard -ics -icshost 127.0.0.1 -icsport 5001
  ics-recorder proxy chess.example:5000 --listen 127.0.0.1:6000 --journal-dir ~/journals --sync always
""",
)
@click.argument("server", type=AddressType(DEFAULT_PORT), metavar="HOST[:PORT]")
@click.option(
    "--listen",
    "listen_at",
    type=AddressType(default_host="127.0.0.1"),
    default="127.0.0.1:5001",
    metavar="[HOST:]PORT",
    show_default=True,
    help="Where clients connect to; a port alone is on loopback. Elsewhere anybody on the network may connect.",
)
@click.option(
    "--max-clients",
    type=click.IntRange(min=1),
    default=MAX_CLIENTS,
    metavar="N",
    show_default=True,
    help="Serve at most N clients at a time; turn others away with one sentence.",
)
@journal_options
@import_option
@outlet_options
@log_option
@archive_option
def command(
    server: Address,
    listen_at: Address,
    max_clients: int,
    journal_dir: Path,
    sync_word: str,
    to_archive: bool,
    pgn: str | None,
    events: str | None,
    log_file: Path | None,
    where: str,
) -> None:
    """Stand between a client and the server, and record both.

    Point xboard, PyChess or any other client at the address of --listen instead of the server's and play.
    Both directions are forwarded as they come, time-sealed or not, and written to a journal for each connection.
    The port of HOST is 5000 if none is given.

    A journal has all that the server sends and all that you type, your tells and messages too, but no password: of
    it, of whatever is typed before the login is over and cannot be told from one, and of a later line with it there
    is only the length. The archive is made from what the server sends, as by import --chat own.
    Journals and archive can be read by you alone; export and `db share` decide what leaves them.

    While the disk hangs the game goes on: up to 16 MiB of a connection wait for it, then its recording ends. If this
    program is killed, what waits is lost, commonly some milliseconds; with --sync always nothing waits.

    Ctrl-C ends it: every journal is closed and imported; a second Ctrl-C leaves out what is not imported yet. If a
    journal could not be written, the game went on unrecorded, and the exit status is 7; if the archive or the PGN does
    not have all, it is 4; if the reader of the events went away, it is 141.
    """
    from recorder.live.net.sockets import listen

    refuse_outlets(where, to_archive, pgn, events)
    journals = journal_dir.absolute()
    with MessagePrinter() as talk:
        log = None if log_file is None else RunLog(log_file.absolute(), talk.say)
        _make_folder(journal_dir)
        try:
            listeners = listen(listen_at)
        except OSError as error:
            why = os.strerror(error.errno) if error.errno and error.errno > 0 else error.strerror or str(error)
            say(f"Error: Cannot listen on {format_address(listen_at)} ({why}): choose another address with --listen.")
            raise Exit(ExitCode.LISTEN) from error
        tell = teller(log, lambda _event, sentence: talk.say(sentence))
        archiving = _Archiving(where, pgn, events is not None, tell, talk) if to_archive else None
        proxy = asyncio.run(_run(server, listeners, max_clients, journals, sync_word, where, archiving, tell, talk))
        _tell_end(proxy, journals, tell, talk)
        if log is not None:
            log.settle()
    if proxy.unrecorded:
        raise Exit(ExitCode.JOURNAL)
    if archiving is not None and archiving.missing:
        raise Exit(ExitCode.ARCHIVE)
    if archiving is not None and archiving.child.left:
        raise Exit(ExitCode.PIPE)


def _make_folder(journals: Path) -> None:
    """Make sure, before anybody plays, that journals can be written.

    Raises:
        JournalError: they cannot.
    """
    try:
        journals.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(journals, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise JournalError(
            f"No journal can be written in {journals} ({error.strerror}): name another folder by --journal-dir."
        ) from error


async def _run(
    server: Address,
    listeners: list[socket.socket],
    max_clients: int,
    journals: Path,
    sync_word: str,
    where: str,
    archiving: _Archiving | None,
    tell: MessageSink,
    talk: MessagePrinter,
) -> Proxy:
    """Serve until a signal comes; ``archiving`` None: nothing is imported."""
    from recorder.journal.writer import JournalWriter, Sync
    from recorder.live.deferred import DeferredJournal
    from recorder.live.proxy import Proxy
    from recorder.live.recording import RecordedConnection
    from recorder.live.secrets.client import SecretGuard

    sync = Sync(sync_word)

    def record(number: int) -> RecordedConnection:
        journal = JournalWriter(journals, host=server.host, port=server.port, role="proxy", sync=sync)
        if archiving is not None:
            archiving.child.sign(journal)
            archiving.take(number, journal.path)
        tell(
            "client_connected",
            f"Connection {number} is recorded in {journal.path}.",
            connection=number,
            journal=str(journal.path),
        )
        written = journal if sync is Sync.ALWAYS else DeferredJournal(journal)

        def failed(message: str) -> None:
            tell("unrecorded", f"Error: Connection {number}: {message}", connection=number)

        return RecordedConnection(written, SecretGuard(), failed)

    def on_closed(closed: Closed) -> None:
        _tell_closed(closed, tell)

    proxy = Proxy(
        server,
        record,
        tell=tell,
        on_closed=on_closed,
        journal_first=sync is Sync.ALWAYS,
        max_clients=max_clients,
    )
    stop, hurry = asyncio.Event(), asyncio.Event()
    heed_signals(stop, hurry)
    _tell_beginning(server, listeners, journals, tell, talk)  # who reads this may end us at once
    if archiving is not None:
        archiving.child.start()
    left_over = asyncio.create_task(
        take_left_over(
            journals,
            None if archiving is None else archiving.child.take_left,
            lambda sentence: tell("left_over", sentence),
            import_command(journals, where, *_CHAT),
        )
    )
    looking_up = asyncio.create_task(_tell_unknown(server, tell))
    await proxy.serve(listeners, stop)
    looking_up.cancel()
    await asyncio.gather(looking_up, return_exceptions=True)
    if archiving is not None:
        await archiving.finish(hurry, left_over)
    if hurry.is_set():
        left_over.cancel()
    await asyncio.gather(left_over, return_exceptions=True)
    return proxy


class _Archiving:
    """The archive's process, and what is told of it.

    Args:
        where: the archive. pgn, events: as for ``ArchiveChild``.

    Attributes:
        missing: at the end, whether the archive or the PGN does not have all.
    """

    def __init__(self, where: str, pgn: str | None, events: bool, tell: MessageSink, talk: MessagePrinter) -> None:
        from recorder.archive.recording import ArchiveChild

        self.child = ArchiveChild(where, self._trouble, pgn=pgn, events=events, chat="own", done=self._done)
        self._where = where
        self._tell = tell
        self._talk = talk
        self.missing = False
        self._numbers: dict[Path, int] = {}
        self._why = "there was no time."

    def take(self, number: int, journal: Path) -> None:
        """A connection has a journal."""
        self._numbers[journal] = number
        self.child.take(journal)

    async def finish(self, hurry: asyncio.Event, left_over: asyncio.Task[None]) -> None:
        """Wait until everything is imported, or until somebody is in a hurry."""
        from recorder.journal import find_part

        missing = await self.child.finish(hurry, left_over)
        self.missing = bool(missing)
        if missing and hurry.is_set():
            later = "Not every journal was imported; `ics-recorder import` does it later."
            self._tell("not_imported", later, connection=None)
            return
        for journal in missing:
            number = self._numbers.get(journal)
            which = f"Connection {number}" if number is not None else "What a crash left"
            later = import_command(find_part(journal), self._where, *_CHAT)
            sentence = f"Error: {which} was not imported: {self._why} Do it later: {later}"
            self._tell("not_imported", sentence, connection=number)

    def _done(self, journal: Path, games: int) -> None:
        number = self._numbers.pop(journal, None)
        if number is not None:
            sentence = f"Connection {number}: {plural(games, 'game')} went into {self._where}."
            self._tell("imported", sentence, connection=number, games=games)

    def _trouble(self, sentence: str) -> None:
        self._why = sentence
        self._talk.say(sentence)


def _tell_beginning(
    server: Address, listeners: list[socket.socket], journals: Path, tell: MessageSink, talk: MessagePrinter
) -> None:
    from recorder.live.net.sockets import is_loopback

    for listener in listeners:
        here = format_address(Address(*listener.getsockname()[:2]))
        tell("listening", f"Listening on {here} for {format_address(server)}.", address=here)
        if not is_loopback(listener):
            tell(
                "exposed",
                f"Warning: {here} can be reached from other machines. Whoever reaches it uses your line to the server, "
                "and passwords pass the network in plain text.",
                address=here,
            )
    host, port = listeners[0].getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    talk.say(f"Point your client at it: xboard -ics -icshost {host} -icsport {port}")
    tell("started", f"Journals: {journals}", server=format_address(server), journal_dir=str(journals))


async def _tell_unknown(server: Address, tell: MessageSink) -> None:
    """Tell at once what the first client would run into."""
    from recorder.live.net.sockets import why_unknown

    if why := await why_unknown(server):
        sentence = f"Warning: {why}; check how the server's name is written. No client is served until it is known."
        tell("unknown_host", sentence, server=format_address(server))


def _tell_closed(closed: Closed, tell: MessageSink) -> None:
    by = "this program" if closed.by is None else f"the {closed.by.value}"
    tell(
        "client_left",
        f"Connection {closed.number} was ended by {by}: "
        f"{closed.from_server:,} bytes from the server, {closed.from_client:,} to it.",
        connection=closed.number,
        by="proxy" if closed.by is None else closed.by.value,
        received_bytes=closed.from_server,
        sent_bytes=closed.from_client,
    )


def _tell_end(proxy: Proxy, journals: Path, tell: MessageSink, talk: MessagePrinter) -> None:
    from recorder.live.relay import ProxySide

    received, sent = proxy.forwarded[ProxySide.SERVER], proxy.forwarded[ProxySide.CLIENT]
    tell(
        "proxy_ended",
        f"{plural(proxy.connections, 'connection')}, {received:,} bytes from the server, {sent:,} to it. "
        f"The journals are in {journals}.",
        connections=proxy.connections,
        received_bytes=received,
        sent_bytes=sent,
        unrecorded=proxy.unrecorded,
    )
    if proxy.unrecorded:
        talk.say(f"Error: {plural(proxy.unrecorded, 'connection')} could not be recorded as a whole; see above.")
