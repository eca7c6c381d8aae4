"""``proxy``: stand between a person's client and the server, and record both."""

from __future__ import annotations

import asyncio
import signal
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from recorder.cli.options import default_archive
from recorder.cli.terminal import ExitCode, plural, say
from recorder.live.address import Address, format_address, parse_address

if TYPE_CHECKING:
    from recorder.live.proxy import Closed, Proxy

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # not generic in older versions

__all__ = ["command"]

_DEFAULT_PORT = 5000
_SYNCS = ("always", "interval", "os")


class _AddressType(_ParamType):
    """``HOST:PORT``, checked."""

    name = "address"

    def __init__(self, default_port: int | None = None) -> None:
        self._default_port = default_port

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        if isinstance(value, Address):
            return value
        try:
            return parse_address(value, self._default_port)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _default_journals() -> str:
    return str(Path(default_archive()).parent / "journals")


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
@click.argument("server", type=_AddressType(_DEFAULT_PORT), metavar="HOST[:PORT]")
@click.option(
    "--listen",
    "listen_at",
    type=_AddressType(),
    default="127.0.0.1:5001",
    metavar="HOST:PORT",
    show_default=True,
    help="Where clients connect to. Elsewhere than on loopback anybody on the network may.",
)
@click.option(
    "--journal-dir",
    type=click.Path(file_okay=False, path_type=Path),
    default=_default_journals,
    show_default="journals beside the default archive",
    help="Where the journals are written; made if it is not there.",
)
@click.option(
    "--sync",
    "sync_word",
    type=click.Choice(_SYNCS),
    default="interval",
    show_default=True,
    help="When the disk has what was recorded. always: before it is written on, so that a power cut loses nothing "
    "that anybody has seen, and every message waits for the disk; interval: a power cut loses at most two seconds; "
    "os: when the operating system likes.",
)
def command(server: Address, listen_at: Address, journal_dir: Path, sync_word: str) -> None:
    """Stand between a client and the server, and record both.

    Point xboard, PyChess or any other client at the address of --listen instead of the server's and play.
    Both directions are forwarded as they come, time-sealed or not, and written to a journal for each connection.
    Passwords are never written. The port of HOST is 5000 if none is given.

    Ctrl-C ends it: every journal is closed. If a journal could not be written, the game went on unrecorded, and the
    exit status is 7.
    """
    from recorder.live.proxy import listen

    try:
        listeners = listen(listen_at)
    except OSError as error:
        raise click.UsageError(
            f"Cannot listen on {format_address(listen_at)}: {error.strerror or error}. "
            "Choose another address with --listen."
        ) from error
    journals = journal_dir.absolute()
    proxy = asyncio.run(_run(server, listeners, journals, sync_word))
    _say_end(proxy, journals)
    if proxy.unrecorded:
        raise Exit(ExitCode.JOURNAL)


async def _run(server: Address, listeners: list[socket.socket], journals: Path, sync_word: str) -> Proxy:
    from recorder.journal.writer import JournalWriter, Sync
    from recorder.live.proxy import Proxy
    from recorder.live.recording import Recording
    from recorder.live.secrets import SecretGuard

    sync = Sync(sync_word)

    def record(number: int) -> Recording:
        journal = JournalWriter(journals, host=server.host, port=server.port, role="proxy", sync=sync)
        say(f"Connection {number} is recorded in {journal.path}.")
        return Recording(journal, SecretGuard(), lambda message: say(f"Error: Connection {number}: {message}"))

    proxy = Proxy(server, record, tell=say, on_closed=_say_closed, journal_first=sync is Sync.ALWAYS)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)
    _say_beginning(server, listeners, journals)  # who reads this may end us at once
    await proxy.serve(listeners, stop)
    return proxy


def _say_beginning(server: Address, listeners: list[socket.socket], journals: Path) -> None:
    from recorder.live.proxy import is_loopback

    for listener in listeners:
        here = Address(*listener.getsockname()[:2])
        say(f"Listening on {format_address(here)} for {format_address(server)}.")
        if not is_loopback(listener):
            say(
                f"Warning: {format_address(here)} can be reached from other machines. Whoever reaches it uses your "
                "line to the server, and passwords pass the network in plain text."
            )
    host, port = listeners[0].getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
    say(f"Point your client at it: xboard -ics -icshost {host} -icsport {port}")
    say(f"Journals: {journals}")


def _say_closed(closed: Closed) -> None:
    by = "this program" if closed.by is None else f"the {closed.by.value}"
    say(
        f"Connection {closed.number} was ended by {by}: "
        f"{closed.from_server:,} bytes from the server, {closed.from_client:,} to it."
    )


def _say_end(proxy: Proxy, journals: Path) -> None:
    from recorder.live.relay import Side

    say(
        f"{plural(proxy.connections, 'connection')}, {proxy.forwarded[Side.SERVER]:,} bytes from the server, "
        f"{proxy.forwarded[Side.CLIENT]:,} to it. The journals are in {journals}."
    )
    if proxy.unrecorded:
        say(f"Error: {plural(proxy.unrecorded, 'connection')} could not be recorded as a whole; see above.")
