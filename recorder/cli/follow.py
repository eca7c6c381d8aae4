"""``ics-recorder follow``: the archive kept up to date with a log that another program is writing."""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from recorder.cli.exporting import make_pgn_options, pgn_options
from recorder.cli.options import archive_file, archive_option, reading_options
from recorder.cli.terminal import clean, plural, say
from recorder.errors import ExportError, SourceError, StorageError

if TYPE_CHECKING:
    from recorder.cli.catchup import CatchUp, State
    from recorder.cli.finished import FinishedGames
    from recorder.cli.ticker import Ticker
    from recorder.model import Game

__all__ = ["Follower", "command"]

_POLL_S = 0.2
_QUIET_S = 0.5


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
    type=click.FloatRange(min=0.1),
    default=5.0,
    show_default=True,
    metavar="SECONDS",
    help="While the log grows without a pause, read what is new this often.",
)
@click.option("--pgn", metavar="FILE|DIR", help="Append each game when it is over; in a folder, to one file a day.")
@click.option("--events", type=click.Choice(["-"]), help="Print starts, plies and ends of games as JSON lines.")
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
    **reading: Any,
) -> None:
    """Import a log while another program is writing it, until interrupted.

    LOG is of any kind that import knows. What is new is read when the log has grown and then is quiet for a moment.
    A log that is renamed, replaced or cut short is told, and the new one is followed. An archive that cannot be
    written now is filled when it can be.
    """
    from recorder.cli.catchup import CatchUp, state_of
    from recorder.cli.finished import FinishedGames
    from recorder.cli.inputs import read_options
    from recorder.cli.ticker import Ticker

    path = Path(log)
    if not wait and state_of(path) is None:
        raise SourceError(f"{log}: no such file; --wait waits for it.")
    if style == "fics" and pgn is not None:
        raise click.UsageError("--style fics holds no game keys, so nothing can be appended to it.")
    finished = None
    if pgn is not None:
        finished = FinishedGames(where, pgn, make_pgn_options(clock, style, variations, comments))
    catch_up = CatchUp(where, path, read_options(**reading), keep=not no_keep_source)
    follower = Follower(path, catch_up, finished, Ticker(sys.stdout) if events else None)
    with _asked_to_stop() as stop:
        say(f"Following {clean(log)} into {archive_file(where)}.")
        while not stop.is_set():
            follower.look(state_of(path), time.monotonic(), every)
            stop.wait(_POLL_S)
        follower.finish()
    follower.report()


@contextmanager
def _asked_to_stop() -> Iterator[threading.Event]:
    """An event that the first SIGINT or SIGTERM sets; a second one ends the program as usual."""
    stop = threading.Event()
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


class Follower:
    """Decides when to read, and tells what happens.

    Args:
        path: of the log. catch_up: imports it. finished, ticker: where its games go besides.
    """

    def __init__(self, path: Path, catch_up: CatchUp, finished: FinishedGames | None, ticker: Ticker | None) -> None:
        self._name = clean(str(path))
        self._catch_up = catch_up
        self._finished = finished
        self._ticker = ticker
        self._state: State | None = None
        self._changed_s: float | None = None
        self._read_s: float | None = None
        self._told: str | None = None
        self._source: str | None = None
        self._games: dict[str, int] = {}  # key → first offset, while it may be given again
        self._final = 0

    def look(self, state: State | None, now_s: float, every_s: float) -> None:
        """Read if it is time to.

        Args:
            state: of the log. now_s: a clock that never goes back. every_s: the longest wait while the log grows.
        """
        if state != self._state or self._changed_s is None:
            self._state, self._changed_s = state, now_s
        if state is None or state == self._catch_up.done:
            if self._finished is not None and self._finished.problem is not None and self._waited(now_s) >= every_s:
                self._append()
                self._read_s = now_s
            return
        quiet = now_s - self._changed_s >= _QUIET_S and self._catch_up.problem is None
        if quiet or self._waited(now_s) >= every_s:
            self.step()
            self._read_s = now_s

    def _waited(self, now_s: float) -> float:
        return float("inf") if self._read_s is None else now_s - self._read_s

    def step(self) -> None:
        """Read what is new."""
        outcome = self._catch_up.step(self._take)
        if outcome is not None and outcome.kind is None:
            self._tell(f"{outcome.message}; waiting for more.")
            return
        self._tell(self._catch_up.problem)
        if outcome is not None:
            self._source = outcome.sha256
            self._settle(outcome.read_up_to or 0)
            self._append()
        if self._catch_up.replaced is not None:
            say(f"{self._name} {self._catch_up.replaced}: going on with what is there now.")
            self._settle(None)

    def finish(self) -> None:
        """Read what came last."""
        self.step()
        while self._catch_up.replaced is not None:
            self.step()

    def _settle(self, read_up_to: int | None) -> None:
        """Let go of games that are final; all of them if the log has a successor."""
        final = [key for key, first in self._games.items() if read_up_to is None or first < read_up_to]
        self._final += len(final)
        for key in final:
            del self._games[key]
        if self._ticker is not None:
            self._ticker.settle(read_up_to)
        if self._finished is not None and read_up_to is None:
            self._finished.forget()

    def _take(self, games: list[Game]) -> None:
        self._games.update((game.key, game.first_offset) for game in games)
        if self._ticker is not None:
            self._ticker.take(games)
        if self._finished is not None:
            self._finished.take(games)

    def _append(self) -> None:
        if self._finished is not None and self._source is not None:
            self._finished.append(self._source)
            self._tell(self._finished.problem)

    def _tell(self, problem: str | None) -> None:
        """Say what is wrong once, and that it is over."""
        if problem == self._told:
            return
        if problem is not None:
            say(f"{clean(problem)}")
        elif self._told is not None:
            say("That is over: going on.")
        self._told = problem

    def report(self) -> None:
        """Say what came of it.

        Raises:
            StorageError, ExportError: something is still missing in the archive, or in the PGN.
        """
        say(f"{self._name}: {plural(len(self._games) + self._final, 'game')} read.")
        if self._finished is not None:
            left = self._finished.open
            say(f"{plural(self._finished.games, 'game')} appended, {left:,} not over.")
            if self._finished.problem is not None:
                raise ExportError(self._finished.problem)
        if self._catch_up.problem is not None:
            raise StorageError(f"{self._catch_up.problem} What is missing is read by the next import of {self._name}.")
