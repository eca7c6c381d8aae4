"""Options that the forms of ``ics-recorder replay`` share: files or games, places and times."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from recorder.cli.options import Rare
from recorder.cli.output import say
from recorder.errors import ReplayError, SourceError

if TYPE_CHECKING:
    from recorder.replay.places import Position
    from recorder.replay.timing import ReplayMoment

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # not generic in older versions


class SpeedType(_ParamType):
    """``4``, ``0.5`` or ``1/3``."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        from recorder.replay.server.control import parse_speed

        if isinstance(value, Fraction):
            return value
        speed = parse_speed(str(value))
        if speed is None:
            self.fail(f"{value!r} is not a speed; write 4, 0.5 or 1/3, at most 1000.", param, ctx)
        return speed


class PlaceType(_ParamType):
    """A place in a recording, as ``recorder.replay.places`` has them: ``20w``, ``1:30``, ``takeback``."""

    name = "place"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Position:
        from recorder.replay.places import parse_position

        try:
            return parse_position(str(value))
        except ReplayError as error:
            self.fail(str(error), param, ctx)


class SecondsType(_ParamType):
    """Seconds, with thousandths if need be, as milliseconds: ``1``, ``0.5``, ``1s``, ``200ms``."""

    name = "seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        text = str(value)
        number, factor = (text[:-2], 1) if text.endswith("ms") else (text.removesuffix("s"), 1000)
        try:
            ms = round(factor * float(number))
        except (ValueError, OverflowError):
            ms = -1
        if not 0 <= ms <= 10**9:
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return ms


def wait_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--idle-max`` and ``--pace``: the waits between moves."""
    pace = click.option(
        "--pace",
        "pace_ms",
        cls=Rare,
        type=SecondsType(),
        default="1",
        show_default=True,
        help="Seconds for a move whose time is unknown.",
    )
    idle = click.option(
        "--idle-max", "idle_max_ms", type=SecondsType(), help="Longest wait between two moves, at speed 1."
    )
    return idle(pace(command))


def files_of(keys: Sequence[str], filters: Collection[str]) -> list[str]:
    """Those of the command's words that are files; then all of them must be.

    Args:
        keys: the words.
        filters: names of the parameters that choose games of an archive.
    Raises:
        SourceError: a word names a file that does not exist or cannot be read.
        click.UsageError: some are files, and others are not; or options were given that choose no games of files.
    """
    from recorder.sources import path_kind

    kinds = {key: path_kind(key) for key in keys}
    files = [key for key in keys if kinds[key] == "file"]
    for key in keys:
        if key not in files and ("/" in key or "." in key):  # no game's key has these
            raise SourceError(f"{key}: {'is no file' if kinds[key] else 'no such file'}")
    if files and len(files) != len(keys):
        raise click.UsageError("Name games of the archive or files, not both.")
    context = click.get_current_context()
    for option in context.command.params if files else ():
        name = option.name or ""
        if name in filters and context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{option.opts[0]} selects games of the archive; all games of a file are used.")
    return files


def place_of(moments: Sequence[ReplayMoment[Any]], begin: Position | None) -> int:
    """The place where ``--from`` begins.

    Raises:
        ReplayError: there is no such place.
    """
    from recorder.replay.places import seek

    return 0 if begin is None else seek(moments, begin)[0]


def warn_of_pauses(moments: Iterable[ReplayMoment[Any]], pause_at: Collection[str]) -> None:
    """Say which words of ``--pause-at`` no moment has."""
    if not pause_at:
        return
    known = {name for moment in moments for name in moment.markers}
    for word in sorted(set(pause_at) - known):
        say(
            f"Warning: no event is called {word!r}, so the replay does not pause there; known: "
            f"{', '.join(sorted(known))}."
        )
