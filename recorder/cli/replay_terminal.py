"""``ics-recorder replay terminal``: recorded games in a terminal, or as lines."""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click
from click.exceptions import Exit

from recorder.cli.options import Command, archive_option, filter_options, game_filter
from recorder.cli.output import say
from recorder.cli.replay_options import PlaceType, SecondsType, SpeedType, files_of, warn_of_pauses
from recorder.errors import ExitCode
from recorder.text import clean

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.replay.moments import What
    from recorder.replay.places import Position
    from recorder.replay.show import ReplaySource
    from recorder.replay.terminal.viewing import Viewing

__all__ = ["terminal"]

_THINK: Final = re.compile(r"think(?::([1-9]\d{0,5}))?", re.ASCII)
_THINK_S: Final = 60
_FRAME_S: Final = 0.1
_LEAST_S: Final = 0.02


class _Pace(SpeedType):
    """A speed, or None for ``max``."""

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
@click.option("--idle-max", "idle_max_ms", type=SecondsType(), help="Longest wait between two moves, at speed 1.")
@click.option(
    "--pace", "pace_ms", type=SecondsType(), default="1", show_default=True, help="Think time of moves without times."
)
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
@click.option("--ascii", "ascii_only", is_flag=True, help="Use ASCII letters for pieces.")
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

    Shows the board, both clocks as they ran, pieces in hand, moves and kibitzes. KEY is the first characters of a
    game's key, last, or last~2; or a file: a journal, a log, PGN or BPGN. Without KEY, all games that match the filters
    are shown. Games that were played at the same time are shown together, one of them large.

    The key ? lists the keys: space, arrows, + and - for the speed, g to go to a move, time or event, n and p for other
    games, q to quit. Where there is no terminal, moves are printed as lines. See docs/how-to/replay.md.
    """
    from recorder.archive.replaying import open_library
    from recorder.replay.moments import long_thinks
    from recorder.replay.terminal.viewing import Viewing

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
                _print_lines(library.recording, speed, loop, position)
            return
        warn_of_pauses(library.recording.moments, pauses - {"think"})
        viewing = Viewing(library.recording, time.monotonic_ns(), speed=speed, loop=loop, pause_at=pauses)
        viewing.flip = flip
        if position is not None:
            viewing.start(position, time.monotonic_ns())
        with _leaving():
            _watch(viewing, ascii_only)


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


def _watch(viewing: Viewing, ascii_only: bool) -> None:
    from recorder.replay.terminal.scene import SceneStyle, draw
    from recorder.replay.terminal.screen import open_screen

    encoding = sys.stdout.encoding or "ascii"
    look = SceneStyle(ascii_only or not encoding.lower().startswith("utf"), not os.environ.get("NO_COLOR"))
    with open_screen(sys.stdin.fileno(), sys.stdout.fileno(), colours=look.colours, encoding=encoding) as screen:
        while not viewing.left:
            now_ns = time.monotonic_ns() - screen.away_ns
            viewing.tick(now_ns)
            screen.show(draw(viewing, now_ns, *screen.size, look))
            keys = screen.wait(_wait_s(viewing, time.monotonic_ns() - screen.away_ns))
            if keys is None:
                return
            now_ns = time.monotonic_ns() - screen.away_ns
            for key in keys:
                if key == "redraw":
                    screen.redraw()
                else:
                    viewing.press(key, now_ns)


def _wait_s(viewing: Viewing, now_ns: int) -> float | None:
    """How long nothing changes; None: until a key."""
    due_ns = viewing.show.head.due_ns
    if due_ns is None:
        return None
    return min(max((due_ns - now_ns) / 1e9, _LEAST_S), _FRAME_S)


# -- lines -------------------------------------------------------------------------------------------------------


def _print_lines(recording: ReplaySource, speed: Any, loop: bool, position: Any) -> None:
    """Print what happens when it does; at the speed ``max`` all at once."""
    from recorder.replay.places import seek
    from recorder.replay.timing import Playhead

    at_once = speed == "max"
    head: Playhead[Any] = Playhead(
        recording.moments, time.monotonic_ns(), speed=Fraction(1) if at_once else speed, loop=loop
    )
    if position is not None:
        place, at_ms = seek(recording.moments, position)
        head.go(place, time.monotonic_ns(), at_ms)
    if at_once:
        for place in range(head.place, len(recording.moments)):
            _print_moment(recording, place)
        return
    while (due_ns := head.due_ns) is not None:
        time.sleep(max(due_ns - time.monotonic_ns(), 0) / 1e9)
        count = len(head.take(time.monotonic_ns()))
        for place in range(head.place - count, head.place):
            _print_moment(recording, place)
        sys.stdout.flush()


def _print_moment(recording: ReplaySource, place: int) -> None:
    moment = recording.moments[place]
    chapter, what = recording.what(place)
    for line in _lines(chapter.game, what, len(recording.players) > 1):
        minutes, seconds = divmod(moment.at_ms // 1000, 60)
        click.echo(f"{minutes:3}:{seconds:02}  {clean(line)}")


def _lines(game: Game, what: What, several: bool) -> Iterator[str]:
    """Return at most one line for a moment. In a replay of several games each line names its game."""
    from recorder.model import EXACT, EventKind
    from recorder.replay.moments import Begin, End, ShownPly
    from recorder.replay.server.text import event_text
    from recorder.replay.terminal.viewing import ply_text
    from recorder.times import format_clock

    front = f"{game.white.handle}-{game.black.handle}  " if several else ""
    if isinstance(what, Begin):
        yield f"{game.white.handle} - {game.black.handle}, {game.category or game.variant or 'chess'}"
    elif isinstance(what, ShownPly):
        ply = what.ply
        exact = ply.precision_code in EXACT
        clocks = f"{format_clock(ply.white_clock_ms, exact)} {format_clock(ply.black_clock_ms, exact)}"
        took = "" if ply.elapsed_ms is None else f"  ({format_clock(ply.elapsed_ms, exact)})"
        yield f"{front}{ply_text(ply):<14} {clocks}{took}"
    elif isinstance(what, End):
        if not any(event.kind is EventKind.RESULT for event in game.events):
            yield f"{front}{game.result} {game.reason or ''}".rstrip()
    elif (text := event_text(what)) is not None:
        yield f"{front}{text}"
