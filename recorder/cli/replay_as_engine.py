"""``replay as-engine``: standard input and output of a recorded game that is an engine."""

from __future__ import annotations

import os
import select
import signal
import sys
from fractions import Fraction
from time import monotonic_ns
from typing import TYPE_CHECKING, Any, Final

import click

from recorder.cli.options import Command, archive_option, filter_options, game_filter
from recorder.cli.replay_options import SecondsType, SpeedType, files_of

if TYPE_CHECKING:
    from recorder.replay.engine import RecordedEngine

__all__ = ["as_engine"]

_MOST_BYTES: Final = 4096  # of a line; what is longer is none of the protocol
_READ_BYTES: Final = 65_536
_FIRST_LINE: Final = "feature done=0"  # an interface waits for the first feature for two seconds only


@click.command(
    "as-engine",
    cls=Command,
    short_help="Play a recorded game as a chess engine (CECP).",
    epilog="""\b
Examples:
  xboard -fcp "ics-recorder replay as-engine 6af8"
  ics-recorder replay as-engine match.pgn --speed 4 --idle-max 5
""",
)
@filter_options
@click.option("--speed", type=SpeedType(), default="1", show_default=True, help="Speed factor: 4, 0.5, 1/3.")
@click.option("--idle-max", "idle_max_ms", type=SecondsType(), help="Longest wait between two moves, at speed 1.")
@click.option(
    "--pace", "pace_ms", type=SecondsType(), default="1", show_default=True, help="Think time of moves without times."
)
@archive_option
def as_engine(
    keys: tuple[str, ...],
    speed: Fraction,
    idle_max_ms: int | None,
    pace_ms: int,
    where: str,
    **filters: Any,
) -> None:
    """Play a recorded game as a chess engine for xboard (CECP).

    KEY is the first characters of a game's key, or a file with one game. Moves come at their recorded times, for either
    side or both. An opponent that leaves the recorded game is asked to take the move back; against a computer the
    recording resigns. See docs/replay.md.
    """
    _say_first()
    from recorder.archive.replaying import games_to_replay

    games = games_to_replay(files_of(keys, filters), where, game_filter(keys=keys, **filters))
    if len(games) != 1:
        raise click.UsageError(f"These are {len(games)} games: an engine plays one. Name its key.")
    from recorder.replay.engine import RecordedEngine

    _play(RecordedEngine(games[0], speed=speed, pace_ms=pace_ms, idle_max_ms=idle_max_ms))


def _say_first() -> None:
    """Tell the interface that features follow, before anything is loaded; leave its interrupts alone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # xboard interrupts before it has read that we need none
    _write([_FIRST_LINE])


def _play(engine: RecordedEngine) -> None:
    """Answer the interface until it says ``quit`` or is gone."""
    waiting = bytearray()
    while not engine.quits:
        due_ns = engine.due_ns
        wait_s = None if due_ns is None else max(0, due_ns - monotonic_ns()) / 1e9
        if select.select([0], [], [], wait_s)[0]:
            data = os.read(0, _READ_BYTES)
            if not data:
                return
            *lines, waiting = (waiting + data).split(b"\n")
            del waiting[_MOST_BYTES:]
            for line in lines:
                text = line[:_MOST_BYTES].rstrip(b"\r").decode("utf-8", "replace")
                _write(engine.receive(text, monotonic_ns()))
                if engine.quits:
                    return
        _write(engine.take(monotonic_ns()))


def _write(lines: list[str]) -> None:
    if lines:
        sys.stdout.write("".join(f"{line}\n" for line in lines))
        sys.stdout.flush()
