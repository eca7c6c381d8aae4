"""``proxy``: stand between a person's client and the server, and record both."""

from __future__ import annotations

import asyncio
import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.exceptions import Exit

from recorder.cli.hook_options import running_hooks
from recorder.cli.options import Command, Rare, archive_option
from recorder.cli.recording_options import (
    DEFAULT_PORT,
    AddressType,
    import_option,
    journal_options,
    listen_option,
    log_option,
    outlet_options,
    refuse_outlets,
)
from recorder.errors import ExitCode
from recorder.live.net.sockets import MAX_CLIENTS, Address

if TYPE_CHECKING:
    from recorder.live.hooks import Hook


@click.command(
    "proxy",
    cls=Command,
    short_help="Record your own play: a proxy between client and server.",
    epilog="""\b
Examples:
  ics-recorder proxy freechess.org
  xboard -ics -icshost 127.0.0.1 -icsport 5001
  ics-recorder proxy chess.example:5000 --listen 127.0.0.1:6000 --sync always
""",
)
@click.argument("server", type=AddressType(DEFAULT_PORT), metavar="HOST[:PORT]")
@listen_option(5001)
@click.option(
    "--max-clients",
    cls=Rare,
    type=click.IntRange(min=1),
    default=MAX_CLIENTS,
    metavar="N",
    show_default=True,
    help="Maximum number of clients at a time; more are refused.",
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
    live: tuple[str | None, float, tuple[str, ...]],
    hooks: tuple[Hook, ...],
    log_file: Path | None,
    where: str,
) -> None:
    """Record your own play: a proxy between client and server.

    Connect xboard, PyChess or any other client to the address of --listen instead of the server. Both directions are
    forwarded unchanged, with or without timeseal, and each connection is written to a journal. The default port of HOST
    is 5000.

    A journal contains all that the server sends and you type, tells too, but no password: passwords, and all input
    before the login is complete, are masked. The archive is made from what the server sends, as by `import --chat own`.
    Only your user account can read journals and archive; share games with `export` or `db share`.

    If the disk stalls, the game goes on: up to 16 MiB of a connection are kept in memory, then recording ends. If the
    program is killed, bytes that wait for the disk are lost, usually those of some milliseconds; with --sync always,
    none.

    Ctrl-C closes and imports every journal; a second Ctrl-C skips the import. Exit status 7: a journal could not be
    written, and the game went on unrecorded; 4: the archive or the PGN is incomplete; 141: the program that
    reads the events ended.
    """
    from recorder.archive.recording.proxy_run import ProxyArchive, report_end, run_proxy
    from recorder.journal import make_journal_folder
    from recorder.live.messages import MessagePrinter, RunLog, report_to
    from recorder.live.net.sockets import listen

    refuse_outlets(where, to_archive, pgn, events, live[0], hooks)
    journals = journal_dir.absolute()
    with contextlib.closing(MessagePrinter()) as printer:
        log = None if log_file is None else RunLog(log_file.absolute(), printer.say)
        make_journal_folder(journal_dir)
        listeners = listen(listen_at)
        with running_hooks(hooks, lambda: report, journals) as running:
            report = report_to(
                log, lambda _event, sentence: printer.say(sentence), None if running is None else running.report
            )
            archiving = None
            if to_archive:
                outlets = {"pgn": pgn, "events": events is not None, "live": live, "hooks": running}
                archiving = ProxyArchive(where, report, printer, **outlets)
            proxy = asyncio.run(
                run_proxy(server, listeners, max_clients, journals, sync_word, where, archiving, report, printer)
            )
        report_end(proxy, journals, report, printer)
        if log is not None:
            log.settle()
    if proxy.unrecorded:
        raise Exit(ExitCode.JOURNAL)
    if archiving is not None and archiving.missing:
        raise Exit(ExitCode.ARCHIVE)
    if archiving is not None and archiving.child.left:
        raise Exit(ExitCode.PIPE)
