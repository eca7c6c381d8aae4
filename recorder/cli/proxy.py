"""``proxy``: stand between a person's client and the server, and record both."""

from __future__ import annotations

import asyncio
from pathlib import Path

import click
from click.exceptions import Exit

from recorder.cli.options import archive_option
from recorder.cli.recording_options import (
    DEFAULT_PORT,
    AddressType,
    import_option,
    journal_options,
    log_option,
    outlet_options,
    refuse_outlets,
)
from recorder.exit_codes import ExitCode
from recorder.live.net.sockets import MAX_CLIENTS, Address

__all__ = ["command"]


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
    from recorder.archive.proxy_run import ProxyArchive, make_folder, run_proxy, tell_end
    from recorder.live.event_log import RunLog, teller
    from recorder.live.message_printer import MessagePrinter
    from recorder.live.net.sockets import listen

    refuse_outlets(where, to_archive, pgn, events)
    journals = journal_dir.absolute()
    with MessagePrinter() as talk:
        log = None if log_file is None else RunLog(log_file.absolute(), talk.say)
        make_folder(journal_dir)
        listeners = listen(listen_at)
        tell = teller(log, lambda _event, sentence: talk.say(sentence))
        archiving = ProxyArchive(where, pgn, events is not None, tell, talk) if to_archive else None
        proxy = asyncio.run(
            run_proxy(server, listeners, max_clients, journals, sync_word, where, archiving, tell, talk)
        )
        tell_end(proxy, journals, tell, talk)
        if log is not None:
            log.settle()
    if proxy.unrecorded:
        raise Exit(ExitCode.JOURNAL)
    if archiving is not None and archiving.missing:
        raise Exit(ExitCode.ARCHIVE)
    if archiving is not None and archiving.child.left:
        raise Exit(ExitCode.PIPE)
