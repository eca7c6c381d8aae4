"""What every form of ``ics-recorder replay`` has in common: which games, and when."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from click.core import ParameterSource

from recorder.archive.locate import open_archive
from recorder.cli.options import game_filter
from recorder.cli.output import say
from recorder.errors import ReplayError, SourceError, StorageError

if TYPE_CHECKING:
    from recorder.archive.recorded_lines import Log
    from recorder.model import Game, SourceKind
    from recorder.replay.places import Position
    from recorder.replay.timing import ReplayMoment

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # not generic in older versions

__all__ = [
    "NO_GAME",
    "PlaceType",
    "SecondsType",
    "SpeedType",
    "files_of",
    "games_to_replay",
    "logs_of",
    "place_of",
    "warn_of_pauses",
]

NO_GAME: Final = "No games to replay match these filters; `ics-recorder games` lists the games."


class SpeedType(_ParamType):
    """``4``, ``0.5`` or ``1/3``."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        from recorder.replay.server.control import parse_speed

        if isinstance(value, Fraction):
            return value
        speed = parse_speed(str(value))
        if speed is None:
            self.fail(f"{value!r} is no speed; write 4, 0.5 or 1/3, at most 1000.", param, ctx)
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
            self.fail(f"{value!r} is no number of seconds.", param, ctx)
        return ms


def files_of(keys: Sequence[str], filters: Collection[str]) -> list[str]:
    """Those of the command's words that are files; then all of them must be.

    Args:
        keys: the words.
        filters: names of the parameters that choose games of an archive.
    Raises:
        SourceError: a word names a file, and there is none, or nobody may look.
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
            raise click.UsageError(f"{option.opts[0]} chooses games of the archive; all games of a file are taken.")
    return files


def games_to_replay(files: Sequence[str], keys: tuple[str, ...], where: str, filters: dict[str, Any]) -> list[Game]:
    """The games to show, with all that is known of them.

    Raises:
        SourceError: no game is in the files, or one cannot be read. StorageError: the archive has no such game.
    """
    if files:
        games = [game for name in files for game in _games_of(name)]
        if not games:
            raise SourceError(f"There is no game in {', '.join(files)}.")
        games.sort(key=lambda game: (game.started_at_ms or 0, game.first_offset))
        _link_partners(games)
    else:
        from recorder.cli.export_options import named_games, require_keys

        with open_archive(where) as archive:
            chosen = named_games(archive, game_filter(keys=keys, **filters))
            require_keys(archive, chosen)
            games = list(archive.games(chosen))
        if not games:
            raise StorageError(NO_GAME)
    return games


def _games_of(name: str) -> list[Game]:
    """A file's games, which tell that they are of it."""
    from recorder.model import SourceName
    from recorder.pipeline import read_games

    games = list(read_games(name))
    sha256, kind = _log_of(Path(name))
    for game in games:
        for seen in game.observations:
            seen.source = SourceName(name, sha256, kind.value)
    return games


def _log_of(path: Path) -> tuple[str, SourceKind]:
    """The SHA-256 and the kind of a log."""
    from recorder.sources import HEAD_BYTES, detect, read_blocks

    running, head = hashlib.sha256(), b""
    for block in read_blocks(path):
        running.update(block)
        head += block[: HEAD_BYTES - len(head)]
    kind = detect(head)
    assert kind is not None  # games were read from it
    return running.hexdigest(), kind


def logs_of(files: Sequence[str]) -> dict[str, Log]:
    """Files that hold lines of servers, by their SHA-256."""
    from recorder.archive.recorded_lines import log_in_file

    found: dict[str, Log] = {}
    for path in map(Path, files):
        sha256, kind = _log_of(path)
        log = log_in_file(path, kind)
        if log is not None:
            found[sha256] = log
    return found


def _link_partners(games: Sequence[Game]) -> None:
    """Tell both boards of a bughouse match of each other, as an archive does."""
    from recorder.model import Link, LinkKind
    from recorder.relating.bughouse import pair_bughouse

    by_key = {game.key: game for game in games}
    for one, other, evidence in pair_bughouse(games):
        by_key[one].links.append(Link(LinkKind.PARTNER, other, evidence))
        by_key[other].links.append(Link(LinkKind.PARTNER, one, evidence))


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
        say(f"Warning: Nothing here is called {word!r}, so it pauses nowhere; there is {', '.join(sorted(known))}.")
