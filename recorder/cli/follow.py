"""``ics-recorder follow``: the archive kept up to date with a log that another program is writing."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.exceptions import Exit

from recorder.archive.locate import archive_file
from recorder.cli.export_options import PgnWords, pgn_options
from recorder.cli.hook_options import running_hooks
from recorder.cli.options import Command, Rare, archive_option, reading_options
from recorder.cli.output import say
from recorder.cli.recording_options import outlet_options, refuse_outlets
from recorder.errors import ExitCode, ExportError, SourceError, StorageError
from recorder.text import clean, plural

if TYPE_CHECKING:
    from recorder.archive.following.events import EventPipe
    from recorder.archive.following.follower import Follower, Outlet
    from recorder.archive.following.pgn import FinishedGames
    from recorder.live.hooks import Hook, Hooks
    from recorder.live.messages import Fact


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
    cls=Rare,
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
@click.option("--no-keep-source", cls=Rare, is_flag=True, help="Store path and SHA-256 of the log, not its bytes.")
def command(
    log: str,
    wait: bool,
    every: float,
    pgn: str | None,
    events: str | None,
    live: tuple[str | None, float, tuple[str, ...]],
    hooks: tuple[Hook, ...],
    where: str,
    no_keep_source: bool,
    pgn_words: PgnWords,
    **reading: Any,
) -> None:
    """Import a log while another program is writing it.

    LOG is of any kind that `import` reads. As soon as a line is read, its ply is added to the archive and to the
    events. If the log is renamed, replaced or truncated, this is reported and the new log is followed. If the archive
    cannot be written, it is updated later. If the log lacks the site or date of its games, a message names the options
    that supply them.

    A game is appended to the PGN when no later line of the log can continue it.

    Ctrl-C or SIGTERM ends the command with exit status 0. If the program that reads the events ends or is too slow, the
    archive is still updated, and the exit status at the end is 141.
    """
    from recorder.archive.following.events import EventLineWriter, EventPipe
    from recorder.archive.following.follower import Follower, MissingFacts
    from recorder.archive.following.game_events import GameEvents
    from recorder.archive.following.live_pgn import LiveGames
    from recorder.archive.following.pgn import FinishedGames
    from recorder.archive.reading.importing import read_options
    from recorder.live.service import stop_on_signals

    path = Path(log)
    _refuse_unfit(log, wait=wait)
    if pgn_words.style == "fics" and pgn is not None:
        raise click.UsageError("--style fics has no game keys, so games cannot be appended.")
    refuse_outlets(where, True, pgn, events, live[0], hooks, [path])
    finished = None if pgn is None else FinishedGames(pgn, pgn_words.pgn())
    live_games = None if live[0] is None else LiveGames(Path(live[0]), live[1], say, players=live[2])
    pipe = EventPipe() if events else None

    def report(_event: str, sentence: str, /, **_facts: Fact) -> None:
        say(sentence)

    archive = archive_file(where).absolute()
    notified = running_hooks(hooks, lambda: report, archive.parent, log=str(path.absolute()), archive=str(archive))
    with notified as running, stop_on_signals() as stop:
        outlets: list[Outlet | None] = [
            finished, None if pipe is None else EventLineWriter(pipe.write), MissingFacts(clean(log), say),
            None if live_games is None else live_games.outlet(),
        ]  # fmt: skip
        hooked = None
        if running is not None:
            hooked = GameEvents(running.game, log, running.thinks_s or (), quiet=path.exists())
        follower = Follower(
            where,
            path,
            read_options(**reading),
            keep=not no_keep_source,
            outlets=[outlet for outlet in (*outlets, hooked) if outlet is not None],
        )
        run = _Run(clean(log), follower, finished, pipe, running)
        say(f"Following {clean(log)} into {archive_file(where)}.")
        while not stop.is_set():
            run.step()
            if live_games is not None:
                live_games.write()
            if hooked is not None:
                hooked.quiet = hooked.quiet and follower.problem is not None
                hooked.tick()
            stop.wait(every)
        run.finish()
        if live_games is not None:
            live_games.write(last=True)
    run.report()
    if pipe is not None and pipe.lost is not None:
        raise Exit(ExitCode.PIPE)


class _Run:
    def __init__(
        self,
        name: str,
        follower: Follower,
        finished: FinishedGames | None,
        pipe: EventPipe | None,
        hooks: Hooks | None,
    ) -> None:
        self._name = name
        self._follower = follower
        self._finished = finished
        self._pipe = pipe
        self._hooks = hooks
        self._problem: str | None = None
        self._waited: str | None = None
        self._left = False
        self._moved: str | None = None
        self._followed = False  # a log that has ended

    def step(self) -> None:
        follower = self._follower
        follower.look()
        self._say_problem()
        if follower.replaced is not None:
            self._followed, self._moved = True, None
            say(f"{self._name} {clean(follower.replaced)}: continuing with the new content.")
            self.step()
        elif follower.moved != self._moved:
            self._moved = follower.moved
            if self._moved is not None:
                say(f"{self._name} {clean(self._moved)}: reading on in it until there is a new one.")

    def finish(self) -> None:
        self.step()
        self._follower.finish()
        if self._pipe is not None:
            self._pipe.close()
        self._say_problem()

    def _say_problem(self) -> None:
        """Once what is wrong, and when it is over."""
        follower, finished, pipe = self._follower, self._finished, self._pipe
        waiting = None if follower.waiting is None else f"{follower.waiting}; waiting for more."
        problem = follower.problem or waiting or (finished.problem if finished is not None else None)
        if problem != self._problem:
            before, self._problem = self._problem, problem
            if problem is not None:
                say(clean(problem))
            elif before != self._waited:
                say("The archive is writable again; updates resumed.")
            self._waited = waiting
            if follower.full and problem is not None and self._hooks is not None:
                self._hooks.fire("disk-full", problem)
        if pipe is not None and pipe.lost is not None and not self._left:
            self._left = True
            say(f"{pipe.lost}: none is printed from here on. The archive goes on.")

    def report(self) -> None:
        follower, finished = self._follower, self._finished
        if follower.waiting is not None and not (self._followed or follower.known):
            raise SourceError(f"{follower.waiting}.")
        say(f"{self._name}: {plural(follower.games, 'game')} read.")
        if finished is not None:
            say(f"{plural(finished.games, 'game')} appended.")
        if follower.problem is not None:
            raise StorageError(f"{follower.problem} What is missing is read by the next import of {self._name}.")
        if finished is not None and finished.problem is not None:
            raise ExportError(finished.problem)


def _refuse_unfit(log: str, *, wait: bool) -> None:
    """Also say if the log is waited for."""
    from recorder.archive.following.follower import state_of
    from recorder.model import SAVED_KINDS
    from recorder.sources import HEAD_BYTES, detect, path_kind, read_blocks

    kind = "pipe" if log == "-" else path_kind(log)
    if kind == "folder":
        raise SourceError(f"{log} is a folder: name the log that is being written.")
    if kind == "pipe":
        raise SourceError(f"{log} can be read only once and cannot be followed: write it to a file, or import it.")
    if state_of(Path(log)) is None:
        if not wait:
            raise SourceError(f"{log}: no such file; use --wait to wait for it.")
        say(f"Waiting for {clean(log)}.")
    else:
        with closing(read_blocks(Path(log), size=HEAD_BYTES)) as blocks:
            if detect(next(blocks, b"")) in SAVED_KINDS:
                raise SourceError(
                    f"{log} contains saved games, and only logs can be followed: import it when it has grown."
                )
