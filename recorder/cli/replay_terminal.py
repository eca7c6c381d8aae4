"""``ics-recorder replay terminal``: recorded games in a terminal, or as lines."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from recorder.cli.options import Command, Rare, archive_option, filter_options, game_filter
from recorder.cli.output import say
from recorder.cli.replay_options import PlaceType, SpeedType, files_of, wait_options, warn_of_pauses
from recorder.errors import ExitCode
from recorder.text import clean

if TYPE_CHECKING:
    from recorder.replay.places import Position

_THINK: Final = re.compile(r"think(?::([1-9]\d{0,5}))?", re.ASCII)
_THINK_S: Final = 60


class _Pace(SpeedType):
    """A speed, or the word ``max``."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return "max" if value == "max" else super().convert(value, param, ctx)


@click.command(
    "terminal",
    cls=Command,
    short_help="Watch recorded games in the terminal.",
    epilog="""\b
Examples:
  $ ics-recorder replay terminal 6af8 --pace 0 --speed 1000 --plain
    0:00  Helmsman - AntaresLight, blitz
    0:00  1. e4          3:00.000 -  (0:00.000)
    0:00  1... Nf6       - 3:00.000  (0:00.000)
    0:01  2. e5          2:58.252 -  (0:01.748)
  ...
  ics-recorder replay terminal 6af8 --speed 4 --idle-max 5 --from 20w
  ics-recorder replay terminal --player Morphy --last 10 --pause-at think:30
  ics-recorder replay terminal session.journal --flip
  ics-recorder replay terminal match.bpgn --speed max | less
""",
)
@filter_options
@click.option(
    "--speed", type=_Pace(), default="1", show_default=True,
    help="Speed factor: 4, 0.5, 1/3; max: print lines, all at once.",
)  # fmt: skip
@wait_options
@click.option(
    "--from",
    "position",
    type=PlaceType(),
    metavar="PLACE",
    help="Start at a move, time, game or event: 20w, 1:30, #2, #2/20w, takeback …",
)
@click.option(
    "--pause-at", multiple=True, metavar="EVENT",
    help=(
"Pause after each of these events: takeback, chat, result …; think:30: before moves that took "
"at least 30 s."
),
)  # fmt: skip
@click.option("--loop", is_flag=True, help="Start again at the end.")
@click.option("--flip", is_flag=True, help="Show the board from Black's side.")
@click.option("--ascii", "ascii_only", cls=Rare, is_flag=True, help="Use ASCII letters for pieces.")
@click.option("--plain", is_flag=True, help="Print lines; the default where there is no terminal.")
@archive_option
def terminal(
    keys: tuple[str, ...],
    speed: Any,
    idle_max_ms: int | None,
    pace_ms: int,
    position: Position | None,
    pause_at: tuple[str, ...],
    loop: bool,
    flip: bool,
    ascii_only: bool,
    plain: bool,
    where: str,
    **filters: Any,
) -> None:
    """Watch recorded games in the terminal, with running clocks.

    Shows the board, both clocks as they ran, pieces in hand, moves and kibitzes. KEY names a game (6af8, last, last~2)
    or a file: a journal, a log, PGN or BPGN. Without KEY, all games that match the filters are shown. Games that were
    played at the same time are shown together, one of them large.

    The key ? lists the keys, q quits. Where there is no terminal, moves are printed as lines. See
    docs/how-to/replay.md.
    """
    from recorder.archive.replaying import open_library
    from recorder.replay.moments import long_thinks
    from recorder.replay.terminal.watch import print_moments, watch

    lines = plain or speed == "max" or not _is_terminal()
    if lines and pause_at:
        raise click.UsageError("Printed lines do not pause: omit --pause-at.")
    if loop and speed == "max":
        raise click.UsageError("--loop with --speed max would never end.")
    thinks = [match for word in pause_at if (match := _THINK.fullmatch(word))]
    least_s = min((int(match[1] or _THINK_S) for match in thinks), default=_THINK_S)
    pauses = {"think" if _THINK.fullmatch(word) else word for word in pause_at}
    with open_library(
        files_of(keys, filters), where, game_filter(keys=keys, **filters), pace_ms=pace_ms, idle_max_ms=idle_max_ms,
        marks=lambda moments: long_thinks(moments, 1000 * least_s),
    ) as library:  # fmt: skip
        if lines:
            with _leaving():
                print_moments(
                    library.recording, lambda line: click.echo(clean(line)),
                    speed=None if speed == "max" else speed, loop=loop, position=position,
                )  # fmt: skip
            return
        warn_of_pauses(library.recording.moments, pauses - {"think"})
        with _leaving():
            watch(
                library.recording, speed=speed, loop=loop, pause_at=pauses, position=position, flip=flip,
                ascii_only=ascii_only,
            )  # fmt: skip


@contextmanager
def _leaving() -> Iterator[None]:
    """Ctrl-C only ends the watching: there is nothing that could be kept."""
    try:
        yield
    except KeyboardInterrupt as error:
        say("Interrupted.")
        raise Exit(ExitCode.INTERRUPTED) from error


def _is_terminal() -> bool:
    """Whether there is one to read keys from and to draw on."""
    if sys.stdin is None or sys.stdout is None or os.environ.get("TERM", "dumb") == "dumb":
        return False
    return sys.stdin.isatty() and sys.stdout.isatty()
