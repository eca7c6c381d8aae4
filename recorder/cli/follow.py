"""``ics-recorder follow``: the archive kept up to date with a log that another program is writing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from click.exceptions import Exit

from recorder.archive.exporting import archive_files
from recorder.archive.locate import archive_file
from recorder.cli.export_options import PgnWords, pgn_options
from recorder.cli.options import Command, archive_option, reading_options
from recorder.cli.output import say
from recorder.cli.recording_options import outlet_options
from recorder.errors import ExitCode, SourceError
from recorder.text import clean


@click.command(
    "follow",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder follow session.log
  ics-recorder follow --wait --pgn games.pgn session.log
  ics-recorder follow --events - session.log | jq .
""",
)
@click.argument("log", metavar="LOG")
@click.option("--wait", is_flag=True, help="Wait until the log exists.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.01),
    default=0.2,
    show_default=True,
    metavar="SECONDS",
    help="Look for new lines at this interval, in seconds.",
)
@outlet_options
@reading_options
@pgn_options
@archive_option
@click.option("--no-keep-source", is_flag=True, help="Store path and SHA-256 of the log, not its bytes.")
def command(
    log: str,
    wait: bool,
    every: float,
    pgn: str | None,
    events: str | None,
    where: str,
    no_keep_source: bool,
    pgn_words: PgnWords,
    **reading: Any,
) -> None:
    """Import a log while another program is writing it.

    LOG is of any kind that `import` reads. As soon as a line is read, its ply is added to the archive and to the
    events. If the log is renamed, replaced or truncated, a message reports it and the new log is followed. If the
    archive cannot be written, it is updated when it is writable again. If the log does not contain the site or the date
    of its games, a message at the first game names the options that supply them.

    A game is appended to the PGN when no later line of the log can continue it.

    Ctrl-C or SIGTERM ends the command with exit status 0. If the program that reads the events ends or is too slow, the
    archive is still updated, and the exit status at the end is 141.
    """
    from recorder.archive.following.event_lines import EventLineWriter, EventPipe
    from recorder.archive.following.finished_games import FinishedGames, refuse_unwritable
    from recorder.archive.following.following import Follower, LogUpdater
    from recorder.archive.following.outlets import MissingFacts
    from recorder.archive.reading.inputs import read_options
    from recorder.live.service import stop_on_signals
    from storage import file_of

    path = Path(log)
    _refuse_unfit(log, wait=wait)
    if pgn_words.style == "fics" and pgn is not None:
        raise click.UsageError("--style fics has no game keys, so games cannot be appended.")
    finished = None
    if pgn is not None:
        refuse_unwritable(pgn, [path, *archive_files(file_of(where))])
        finished = FinishedGames(pgn, pgn_words.pgn())
    pipe = EventPipe() if events else None
    facts = MissingFacts(clean(log), say)
    outlets = tuple(
        outlet for outlet in (finished, None if pipe is None else EventLineWriter(pipe), facts) if outlet is not None
    )
    updater = LogUpdater(where, path, read_options(**reading), keep=not no_keep_source, outlets=outlets)
    follower = Follower(path, updater, finished, pipe, say)
    with stop_on_signals() as stop:
        say(f"Following {clean(log)} into {archive_file(where)}.")
        while not stop.is_set():
            follower.step()
            stop.wait(every)
        follower.finish()
    follower.report()
    if follower.left:
        raise Exit(ExitCode.PIPE)


def _refuse_unfit(log: str, *, wait: bool) -> None:
    """Make sure that a log can be followed, and say if it is waited for.

    Raises:
        SourceError: it is a folder, a pipe or a file of saved games; or it is missing, and ``wait`` is not set.
    """
    from recorder.archive.following.following import holds_saved_games
    from recorder.archive.following.tail import state_of
    from recorder.sources import path_kind

    kind = "pipe" if log == "-" else path_kind(log)
    if kind == "folder":
        raise SourceError(f"{log} is a folder: name the log that is being written.")
    if kind == "pipe":
        raise SourceError(f"{log} can be read only once and cannot be followed: write it to a file, or import it.")
    if state_of(Path(log)) is None:
        if not wait:
            raise SourceError(f"{log}: no such file; use --wait to wait for it.")
        say(f"Waiting for {clean(log)}.")
    elif holds_saved_games(Path(log)):
        raise SourceError(f"{log} contains saved games, and only logs can be followed: import it when it has grown.")
