"""Options of the commands that talk to servers, declared once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.archive.locate import archive_file, default_archive
from recorder.cli.options import in_section
from recorder.live.net.sockets import Address, parse_address

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # not generic in older versions

__all__ = [
    "DEFAULT_PORT",
    "AddressType",
    "import_option",
    "journal_dir_option",
    "journal_options",
    "log_option",
    "outlet_options",
    "refuse_outlets",
]

DEFAULT_PORT = 5000

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])


class AddressType(_ParamType):
    """``HOST:PORT``, checked.

    Args:
        default_port, default_host: as for ``parse_address``.
    """

    name = "address"

    def __init__(self, default_port: int | None = None, default_host: str | None = None) -> None:
        self._default_port = default_port
        self._default_host = default_host

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Address:
        if isinstance(value, Address):
            return value
        try:
            return parse_address(value, self._default_port, self._default_host)
        except ValueError as error:
            self.fail(str(error), param, ctx)


def _default_journals() -> str:
    return str(Path(default_archive()).parent / "journals")


def journal_dir_option(command: _AnyCommand) -> _AnyCommand:
    """``--journal-dir``."""
    return click.option(
        "--journal-dir",
        type=click.Path(file_okay=False, path_type=Path),
        default=_default_journals,
        show_default="journals beside the default archive",
        help="Folder for journals; created if missing.",
    )(command)


def import_option(command: _AnyCommand) -> _AnyCommand:
    """``--import/--no-import``, as ``to_archive``."""
    option = click.option(
        "--import/--no-import",
        "to_archive",
        default=True,
        show_default=True,
        help="Update the archive while recording.",
    )
    return in_section("Recording", command, option)


def refuse_outlets(where: str, to_archive: bool, pgn: str | None, events: str | None) -> None:
    """Make sure, before anything is recorded, that games can go where they are to go.

    Raises:
        click.UsageError: they go nowhere without an archive.
        StorageError: there is something at the archive's place that is none, or it cannot be written.
        ExportError: the PGN cannot be written.
    """
    from recorder.archive.exporting import archive_files
    from recorder.archive.finished_games import refuse_unwritable
    from recorder.archive.usable import refuse_unusable

    if not to_archive and (pgn or events):
        raise click.UsageError("--pgn and --events are made from the archive: leave out --no-import.")
    if to_archive:
        refuse_unusable(where)
    if pgn is not None:
        refuse_unwritable(pgn, archive_files(archive_file(where)))


def outlet_options(command: _AnyCommand) -> _AnyCommand:
    """``--pgn`` and ``--events``."""
    pgn = click.option(
        "--pgn",
        metavar="FILE|DIR",
        help=(
            "Append each game to FILE when it is over; to one file a day in the folder DIR. A game in "
            "progress at the end is written as `*`, and replaced when it continues."
        ),
    )
    events = click.option(
        "--events",
        type=click.Choice(["-"]),
        help="Print starts, plies and ends of games as JSON Lines (docs/formats.md).",
    )
    return in_section("Recording", command, events, pgn)


def journal_options(command: _AnyCommand) -> _AnyCommand:
    """``--journal-dir`` and ``--sync``, as ``journal_dir`` and ``sync_word``."""
    sync = click.option(
        "--sync",
        "sync_word",
        type=click.Choice(("always", "interval", "os")),
        default="interval",
        show_default=True,
        help=(
            "When journals are flushed to disk. always: before each message is used, which is safe but "
            "slow; interval: a power cut loses at most two seconds; os: when the operating system does."
        ),
    )
    return in_section("Recording", command, sync, journal_dir_option)


def log_option(command: _AnyCommand) -> _AnyCommand:
    """``--log``, as ``log_file``."""
    option = click.option(
        "--log",
        "log_file",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Append a log of this run to FILE, as JSON Lines (docs/log.md).",
    )
    return in_section("Recording", command, option)
