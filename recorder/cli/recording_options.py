"""Options of the commands that record, declared once: servers, journals, what to observe."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from recorder.archive.locate import archive_file, default_archive
from recorder.cli.configuration import configured, origin, words_of
from recorder.cli.hook_options import hook_option
from recorder.cli.option_types import ParamType
from recorder.cli.options import Command, Rare, in_section
from recorder.cli.output import say
from recorder.errors import ExportError, PolicyError
from recorder.live.net.sockets import Address, parse_address

if TYPE_CHECKING:
    from recorder.live.hooks import Hook
    from recorder.live.policy.plan import ObservationPlan

DEFAULT_PORT = 5000

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])


class AddressType(ParamType):
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


def listen_option(port: int) -> Callable[[_AnyCommand], _AnyCommand]:
    return click.option(
        "--listen",
        "listen_at",
        type=AddressType(default_host="127.0.0.1"),
        default=f"127.0.0.1:{port}",
        metavar="[HOST:]PORT",
        show_default=True,
        help=(
            "Address for clients; a port alone: this machine only. With another address, anyone on the network can "
            "connect."
        ),
    )


def journal_dir_option(command: _AnyCommand) -> _AnyCommand:
    return click.option(
        "--journal-dir",
        type=click.Path(file_okay=False, path_type=Path),
        default=lambda: str(Path(default_archive()).parent / "journals"),
        show_default="journals beside the default archive",
        help="Folder for journals; created if missing.",
    )(command)


def import_option(command: _AnyCommand) -> _AnyCommand:
    """As ``to_archive``."""
    option = click.option(
        "--import/--no-import",
        "to_archive",
        cls=Rare,
        default=True,
        show_default=True,
        help="Update the archive while recording.",
    )
    return in_section("Recording", command, option)


def refuse_outlets(
    where: str,
    to_archive: bool,
    pgn: str | None,
    events: str | None,
    live_pgn: str | None = None,
    hooks: Sequence[Hook] = (),
    logs: Sequence[Path] = (),
) -> None:
    """Before anything is recorded: games can go where they are to go, not into ``logs``."""
    from recorder.archive.exporting import archive_files
    from recorder.archive.following.pgn import refuse_unwritable
    from recorder.archive.locate import refuse_unusable

    if not to_archive and (pgn or events or live_pgn):
        raise click.UsageError("--pgn, --live-pgn and --events are made from the archive: omit --no-import.")
    if not to_archive and any(hook.of_games for hook in hooks):
        raise click.UsageError("Events of games are read from the archive: omit --no-import, or those hooks.")
    if to_archive:
        refuse_unusable(where)
    if pgn is not None:
        refuse_unwritable(pgn, [*logs, *archive_files(archive_file(where))])
    if live_pgn is not None:
        from recorder.archive.following.live_pgn import refuse_live

        refuse_live(Path(live_pgn))


def _live(ctx: click.Context, _param: click.Parameter, delay: str | None) -> tuple[str | None, float, tuple[str, ...]]:
    """With ``--live-delay`` and ``--live-player`` as one value: the file, seconds and handles."""
    from recorder.filters import read_duration_ms

    path, players = ctx.params.pop("live_pgn", None), ctx.params.pop("live_player", ())
    if path is None and (delay is not None or players):
        raise click.UsageError("--live-delay and --live-player are of --live-pgn: name the file, too.")
    try:
        return path, 0.0 if delay is None else read_duration_ms(delay) / 1000, players
    except ExportError as error:
        raise click.BadParameter(str(error)) from error


def outlet_options(command: _AnyCommand) -> _AnyCommand:
    """``--on`` as ``hooks``, and ``live`` of ``--live-pgn`` and what belongs to it."""
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
        cls=Rare,
        type=click.Choice(["-"]),
        metavar="-",
        help="Print starts, plies and ends of games to standard output as JSON Lines (docs/reference/formats.md).",
    )
    live_pgn = click.option(
        "--live-pgn",
        metavar="FILE",
        is_eager=True,
        help=(
            "Keep the games in progress in FILE, rewritten at each move, for broadcasts. Games that are over stay for "
            "ten minutes."
        ),
    )
    player = click.option(
        "--live-player",
        cls=Rare,
        metavar="HANDLE",
        multiple=True,
        is_eager=True,
        help="Show only games of this player in --live-pgn; * is any text. May be repeated.",
    )
    delay = click.option(
        "--live-delay",
        "live",
        cls=Rare,
        metavar="TIME",
        callback=_live,
        help="Show each move in --live-pgn so much later, such as 15m.",
    )
    return in_section("Recording", command, events, hook_option, pgn, live_pgn, player, delay)


def journal_options(command: _AnyCommand) -> _AnyCommand:
    sync = click.option(
        "--sync",
        "sync_word",
        cls=Rare,
        type=click.Choice(("always", "interval", "os")),
        default="interval",
        show_default=True,
        help=(
            "When journals reach the disk. always: before each message is used (safe, slow); interval: a power cut "
            "loses at most two seconds; os: when the system does it."
        ),
    )
    return in_section("Recording", command, sync, journal_dir_option)


def log_option(command: _AnyCommand) -> _AnyCommand:
    option = click.option(
        "--log",
        "log_file",
        cls=Rare,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Append a log of this run to FILE, as JSON Lines (docs/reference/outages.md).",
    )
    return in_section("Recording", command, option)


_TYPED = "ics-recorder.typed"
_SOURCE_WEIGHTS = {ParameterSource.COMMANDLINE: 3, ParameterSource.ENVIRONMENT: 2, ParameterSource.DEFAULT_MAP: 1}


class RereadCommand(Command):
    """Its options can be read again by ``reread``."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_TYPED] = tuple(args)
        return super().parse_args(ctx, args)


def reread(ctx: click.Context) -> click.Context:
    """The command line, the environment and the configuration file."""
    parent = ctx.parent
    assert parent is not None
    assert isinstance(parent.command, click.Group)
    defaults = configured(parent, list(parent.command.commands), words_of(ctx), ctx.command)
    return ctx.command.make_context(ctx.info_name, list(ctx.meta[_TYPED]), parent=parent, default_map=defaults)


def weight(ctx: click.Context, name: str) -> int:
    """The precedence of the place that a parameter's value comes from; 0: it is the option's own default."""
    source = ctx.get_parameter_source(name)
    return 0 if source is None else _SOURCE_WEIGHTS.get(source, 0)


def policy_options(command: _AnyCommand) -> _AnyCommand:
    return in_section(
        "What to observe",
        command,
        click.option(
            "--share",
            cls=Rare,
            metavar="N/M",
            help=("Observe only share N of M of the matching games: 1/2 here, 2/2 in a recorder with another account."),
        ),
        click.option(
            "--rotate",
            cls=Rare,
            type=click.FloatRange(min=0, min_open=True),
            metavar="MINUTES",
            help="Minutes after which a waiting game takes the place of an observed one.",
        ),
        click.option(
            "--limit", type=click.IntRange(min=1), metavar="N", help="Maximum number of games observed at a time."
        ),
        click.option(
            "--observe-handles",
            type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE",
            help="File with one handle per line; games of these players are observed too.",
        ),
        click.option(
            "--observe",
            metavar="EXPRESSION",
            help="Games to observe: all, or an expression (docs/reference/observe.md).",
        ),
    )


def make_plan(
    ctx: click.Context,
    observe: str | None,
    observe_handles: Path | None,
    limit: int | None,
    rotate: float | None,
    share: str | None,
) -> ObservationPlan:
    from recorder.live.policy.games import parse_share
    from recorder.live.policy.language import parse_handles, parse_policy
    from recorder.live.policy.plan import ObservationPlan

    if observe is None and observe_handles is None:
        raise click.UsageError("Choose the games to record: --observe EXPRESSION or --observe-handles FILE.")
    try:
        if observe is not None:
            parse_policy(observe)
    except PolicyError as error:
        raise click.BadParameter(str(error), param_hint=origin(ctx, "observe", "--observe")) from error
    try:
        part = None if share is None else parse_share(share)
    except PolicyError as error:
        raise click.BadParameter(str(error), param_hint=origin(ctx, "share", "--share")) from error
    names: tuple[str, ...] = ()
    if observe_handles is not None:
        try:
            names = parse_handles(observe_handles.read_text(encoding="utf-8"))
        except (PolicyError, OSError, UnicodeDecodeError) as error:
            hint = origin(ctx, "observe_handles", "--observe-handles")
            raise click.BadParameter(f"{observe_handles}: {error}", param_hint=hint) from error
        if not names and observe is None:
            raise click.UsageError(
                f"{observe_handles} contains no handle, so there is nothing to record; write one handle a line."
            )
        if not names:
            say(f"{observe_handles} contains no handle.")
    return ObservationPlan(observe, names, limit, None if rotate is None else round(rotate * 60_000), part)
