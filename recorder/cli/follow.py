"""``ics-recorder follow``: the archive kept up to date with a log that another program is writing."""

from __future__ import annotations

import os
import select
import signal
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from recorder.archive.exporting import archive_files
from recorder.archive.locate import archive_file
from recorder.cli.export_options import make_pgn_options, pgn_options
from recorder.cli.options import archive_option, reading_options
from recorder.cli.output import say
from recorder.cli.recording_options import outlet_options
from recorder.errors import ExportError, SourceError, StorageError
from recorder.exit_codes import ExitCode
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.archive.event_lines import EventPipe
    from recorder.archive.finished_games import FinishedGames
    from recorder.archive.following import Resident

__all__ = ["Follower", "command"]


@click.command(
    "follow",
    epilog="""\b
Examples:
  ics-recorder follow session.log
  ics-recorder follow --wait --pgn games.pgn session.log
  ics-recorder follow --events - session.log | jq .
""",
)
@click.argument("log", metavar="LOG")
@click.option("--wait", is_flag=True, help="Wait for a log that is not there yet.")
@click.option(
    "--every",
    type=click.FloatRange(min=0.01),
    default=0.2,
    show_default=True,
    metavar="SECONDS",
    help="Look for what is new this often.",
)
@outlet_options
@reading_options
@pgn_options
@archive_option
@click.option("--no-keep-source", is_flag=True, help="Keep path and sha256 of the log only, not its bytes.")
def command(
    log: str,
    wait: bool,
    every: float,
    pgn: str | None,
    events: str | None,
    where: str,
    no_keep_source: bool,
    clock: frozenset[str],
    style: str,
    variations: bool,
    comments: bool,
    engine: bool,
    as_crazyhouse: bool,
    **reading: Any,
) -> None:
    """Import a log while another program is writing it, until interrupted.

    LOG is of any kind that import knows. Each ply is in the archive, and among the events, as soon as its line is read.
    A log that is renamed, replaced or cut short is told, and the new one is followed. An archive that cannot be written
    now is filled when it can be. If the log does not name the site or the date of its games, a message says so at the
    first game and names the options that supply them. When the reader of the events goes away or is too slow, the
    archive goes on, and the exit status at the end is 141; else Ctrl-C or SIGTERM is the way to end it, and the status
    is 0.

    A game is appended to the PGN when nothing that the log may still tell can go on with it: one that was cut short
    only when its log was replaced, too.
    """
    from recorder.archive.event_lines import EventPipe, Ticker
    from recorder.archive.finished_games import FinishedGames, refuse_unwritable
    from recorder.archive.following import Resident
    from recorder.archive.inputs import read_options
    from recorder.archive.missing_facts import MissingFacts
    from recorder.archive.tail import state_of
    from recorder.sources import path_kind
    from storage import file_of

    path = Path(log)
    kind = "pipe" if log == "-" else path_kind(path)
    if kind == "folder":
        raise SourceError(f"{log} is a folder: name the log in it that is being written.")
    if kind == "pipe":
        raise SourceError(f"{log} is read once and cannot be followed: let it be written to a file, or import it.")
    if state_of(path) is None:
        if not wait:
            raise SourceError(f"{log}: no such file; --wait waits for it.")
        say(f"Waiting for {clean(log)}.")
    elif _holds_saved_games(path):
        raise SourceError(f"{log} holds saved games, and only logs are followed: import it when it has grown.")
    if style == "fics" and pgn is not None:
        raise click.UsageError("--style fics holds no game keys, so nothing can be appended to it.")
    finished = None
    if pgn is not None:
        refuse_unwritable(pgn, [path, *archive_files(file_of(where))])
        finished = FinishedGames(
            pgn,
            make_pgn_options(
                clock, style, variations=variations, comments=comments, engine=engine, as_crazyhouse=as_crazyhouse
            ),
        )
    pipe = EventPipe() if events else None
    facts = MissingFacts(clean(log), say)
    outlets = tuple(
        outlet for outlet in (finished, None if pipe is None else Ticker(pipe), facts) if outlet is not None
    )
    resident = Resident(where, path, read_options(**reading), keep=not no_keep_source, outlets=outlets)
    follower = Follower(path, resident, finished, pipe)
    with _asked_to_stop() as stop:
        say(f"Following {clean(log)} into {archive_file(where)}.")
        while not stop.is_set():
            follower.step()
            stop.wait(every)
        follower.finish()
    follower.report()


def _holds_saved_games(path: Path) -> bool:
    from recorder.model import SAVED_KINDS
    from recorder.sources import HEAD_BYTES, detect, read_blocks

    with closing(read_blocks(path, size=HEAD_BYTES)) as blocks:
        return detect(next(blocks, b"")) in SAVED_KINDS


class _Stop:
    """An event that a signal's handler may set. It has no lock, which the handler could find held by its own thread."""

    def __init__(self) -> None:
        self._asked = False
        self._ends = os.pipe()

    def is_set(self) -> bool:
        return self._asked

    def set(self) -> None:
        self._asked = True
        os.write(self._ends[1], b".")

    def wait(self, timeout_s: float) -> None:
        select.select([self._ends[0]], [], [], timeout_s)

    def close(self) -> None:
        for end in self._ends:
            os.close(end)


@contextmanager
def _asked_to_stop() -> Iterator[_Stop]:
    """An event that the first SIGINT or SIGTERM sets; a second one ends the program as usual."""
    stop = _Stop()
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def ask(_number: int, _frame: object) -> None:
        stop.set()
        for number, handler in before.items():
            signal.signal(number, handler)

    for number in before:
        signal.signal(number, ask)
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        stop.close()


class Follower:
    """Reads on, and tells what happens.

    Args:
        path: of the log. resident: reads it. finished, pipe: where its games and its events go besides.
    """

    def __init__(self, path: Path, resident: Resident, finished: FinishedGames | None, pipe: EventPipe | None) -> None:
        self._path = path
        self._name = clean(str(path))
        self._resident = resident
        self._finished = finished
        self._pipe = pipe
        self._told: str | None = None
        self._left = False
        self._moved: str | None = None
        self._followed = False  # a log that has ended

    def step(self) -> None:
        """Read what is new."""
        resident = self._resident
        resident.look()
        self._tell_state()
        if resident.replaced is not None:
            self._followed, self._moved = True, None
            say(f"{self._name} {clean(resident.replaced)}: going on with what is there now.")
            self.step()
        elif resident.moved != self._moved:
            self._moved = resident.moved
            if self._moved is not None:
                say(f"{self._name} {clean(self._moved)}: reading on in it until there is a new one.")

    def finish(self) -> None:
        """Read what came last."""
        self.step()
        self._resident.finish()
        if self._pipe is not None:
            self._pipe.close()
        self._tell_state()

    def _tell_state(self) -> None:
        """Say what is wrong once, and that it is over."""
        resident, finished, pipe = self._resident, self._finished, self._pipe
        waiting = None if resident.waiting is None else f"{resident.waiting}; waiting for more."
        problem = resident.problem or waiting or (finished.problem if finished is not None else None)
        if problem != self._told:
            if problem is not None:
                say(clean(problem))
            elif self._told is not None:
                say("That is over: going on.")
            self._told = problem
        if pipe is not None and pipe.lost is not None and not self._left:
            self._left = True
            say(f"{pipe.lost}: none is printed from here on. The archive goes on.")

    def report(self) -> None:
        """Say what came of it.

        Raises:
            SourceError: there was no log. StorageError, ExportError: something is still missing in the archive, or in
                the PGN. Exit: the events could not all be printed.
        """
        resident, finished = self._resident, self._finished
        if resident.waiting is not None and not (self._followed or resident.known):
            raise SourceError(f"{resident.waiting}.")
        say(f"{self._name}: {plural(resident.games, 'game')} read.")
        if finished is not None:
            say(f"{plural(finished.games, 'game')} appended.")
        if resident.problem is not None:
            raise StorageError(f"{resident.problem} What is missing is read by the next import of {self._name}.")
        if finished is not None and finished.problem is not None:
            raise ExportError(finished.problem)
        if self._left:
            raise Exit(ExitCode.PIPE)
