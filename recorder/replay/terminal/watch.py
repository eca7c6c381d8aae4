"""Runs a replay in time: draws it on the terminal and passes on the user's keys, or prints a line for each moment."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Collection, Iterator
from fractions import Fraction
from typing import Any, Final

from recorder.model import EXACT, EventKind, Game
from recorder.replay.moments import Begin, End, ShownPly, What
from recorder.replay.places import Position, seek
from recorder.replay.server.text import event_text
from recorder.replay.show import ReplaySource
from recorder.replay.terminal.viewing import Viewing, ply_text
from recorder.replay.timing import Playhead
from recorder.times import format_clock

__all__ = ["print_moments", "watch"]

_FRAME_S: Final = 0.1  # a running clock is drawn this often
_SHORTEST_WAIT_S: Final = 0.02


def watch(
    recording: ReplaySource,
    *,
    speed: Fraction,
    loop: bool,
    pause_at: Collection[str],
    position: Position | None,
    flip: bool,
    ascii_only: bool,
) -> None:
    """Show a replay on the terminal until the user quits or the terminal is gone.

    Args:
        recording: at least one moment.
        speed: the factor of the recorded pace.
        pause_at: the markers of moments after which the replay pauses.
        position: where it starts; None: at the beginning.
        flip: the boards are shown from Black's side.
        ascii_only: pieces are ASCII letters; they are, too, where the terminal has no Unicode.
    Raises:
        ReplayError: the recording has no such position.
    """
    from recorder.replay.terminal.scene import SceneStyle, draw
    from recorder.replay.terminal.screen import colours_of, has_unicode, open_screen

    viewing = Viewing(recording, time.monotonic_ns(), speed=speed, loop=loop, pause_at=pause_at)
    viewing.flip = flip
    if position is not None:
        viewing.start(position, time.monotonic_ns())
    encoding = sys.stdout.encoding or "ascii"
    colours = colours_of(os.environ)
    style = SceneStyle(ascii_only or not has_unicode(os.environ, encoding), colours > 0)
    with open_screen(sys.stdin.fileno(), sys.stdout.fileno(), colours=colours, encoding=encoding) as screen:
        while not viewing.left:
            now_ns = time.monotonic_ns() - screen.away_ns
            viewing.tick(now_ns)
            screen.show(draw(viewing, now_ns, *screen.size, style))
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
    """The seconds until the picture changes; None: it changes only after a key."""
    due_ns = viewing.show.head.due_ns
    if due_ns is None:
        return None
    return min(max((due_ns - now_ns) / 1e9, _SHORTEST_WAIT_S), _FRAME_S)


# -- lines -------------------------------------------------------------------------------------------------------


def print_moments(
    recording: ReplaySource,
    say: Callable[[str], object],
    *,
    speed: Fraction | None,
    loop: bool,
    position: Position | None,
) -> None:
    """Print a line for each moment when its time has come.

    Args:
        say: prints a line.
        speed: the factor of the recorded pace; None: all lines at once.
        position: where to start; None: at the beginning.
    Raises:
        ReplayError: the recording has no such position.
    """
    now_ns = time.monotonic_ns()
    head: Playhead[Any] = Playhead(recording.moments, now_ns, speed=speed or Fraction(1), loop=loop)
    if position is not None:
        place, at_ms = seek(recording.moments, position)
        head.go(place, time.monotonic_ns(), at_ms)
    if speed is None:
        for place in range(head.place, len(recording.moments)):
            _print_moment(recording, place, say)
        return
    while (due_ns := head.due_ns) is not None:
        time.sleep(max(due_ns - time.monotonic_ns(), 0) / 1e9)
        count = len(head.take(time.monotonic_ns()))
        for place in range(head.place - count, head.place):
            _print_moment(recording, place, say)
        sys.stdout.flush()


def _print_moment(recording: ReplaySource, place: int, say: Callable[[str], object]) -> None:
    moment = recording.moments[place]
    chapter, what = recording.what(place)
    minutes, seconds = divmod(moment.at_ms // 1000, 60)
    for line in _lines(chapter.game, what, len(recording.players) > 1):
        say(f"{minutes:3}:{seconds:02}  {line}")


def _lines(game: Game, what: What, several: bool) -> Iterator[str]:
    """Yield at most one line for a moment.

    Args:
        several: the replay has several games, and each line names its game.
    """
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
