"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from recorder.archive.locate import default_archive
from recorder.cli.option_types import (
    DateType,
    EcoType,
    NameFormatType,
    NameType,
    PeriodType,
    WholeNumber,
    WordSet,
    ZoneType,
    complete_categories,
    complete_ecos,
    complete_handles,
    complete_keys,
    complete_own_handles,
    complete_servers,
    complete_sources,
    complete_variants,
)
from recorder.cli.output import ARCHIVE_FACT, WIDE
from recorder.errors import ExportError, UnknownVariantError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from storage import GameFilter

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])
_Option = Callable[[Callable[..., Any]], Callable[..., Any]]
_Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
_OTHER = "Options"


class Command(click.Command):
    """A command whose help lists its options in sections (``in_section``)."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if isinstance(param, click.Option) and record is not None:
                sections.setdefault(getattr(param, "section", _OTHER), []).append(record)
        other = sections.pop(_OTHER)  # with --help
        for section, records in (*sections.items(), (_OTHER, other)):
            with formatter.section(section):
                formatter.write_dl(records)


def in_section(section: str, command: _AnyCommand, *options: _Option) -> _AnyCommand:
    """Add options to a command under a heading of its help.

    Args:
        section: the heading.
        command: the command's function.
        options: what ``click.option`` returned, the last one first.
    """
    for option in options:
        command = cast("_AnyCommand", option(command))
        command.__click_params__[-1].section = section  # type: ignore[attr-defined]  # click keeps options so
    return command


KINDS = ("raw", "typescript", "xboard", "pychess", "stamped", "journal", "pgn", "bpgn")
CHATS = ("none", "public", "own", "all")
RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
ANOMALIES = (
    "malformed",
    "long-line",
    "conflict",
    "holdings",
    "gap",
    "movelist",
    "movetext",
    "variant",
    "cut",
    "lost-data",
    "damaged",
    "clock-disagrees",
    "internal-error",
)
INCLUDES = ("examined", "setup", "empty")


def _typed(ctx: click.Context | None, name: str) -> click.Context | None:
    """The nearest context in which an option was typed."""
    while ctx is not None and ctx.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
        ctx = ctx.parent
    return ctx


def _of_group(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """``--db X sources forget ID`` is about X, too: the nearest option that was typed counts."""
    name = param.name
    assert name is not None
    at = _typed(ctx, name)
    if at is not None and at is not ctx:
        value = str(at.params[name])
    if ctx.parent is not None:  # a command's, not the program's own option
        ctx.meta[ARCHIVE_FACT] = value
    return value


def archive_option(command: _AnyCommand) -> _AnyCommand:
    """``--db``: which archive."""
    return click.option(
        "--db",
        "where",
        metavar="PATH|URL",
        envvar="ICS_RECORDER_DB",
        default=default_archive,
        callback=_of_group,
        show_default="archive.sqlite in the user's data folder",
        help="Archive: a path or a sqlite:/// URL.",
    )(command)


def dataset_option(command: _AnyCommand) -> _AnyCommand:
    """``--dataset``: a data set instead of the archive of ``archive_option``."""

    @wraps(command)
    def checked(*words: Any, **values: Any) -> Any:
        if values["dataset"] is not None and _typed(click.get_current_context(), "where") is not None:
            raise click.UsageError("--dataset and --db both say where the games are: give one of them.")
        return command(*words, **values)

    help_text = "Data set (folder or s3:// URL) to read instead of an archive."
    option = click.option("--dataset", metavar="DIR", type=NameType(), help=help_text)
    return option(cast("_AnyCommand", checked))


def json_option(command: _AnyCommand) -> _AnyCommand:
    """``--json``: the answer as JSON on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(command)


def jobs_option(command: _AnyCommand) -> _AnyCommand:
    """``--jobs``: how many processes."""
    return click.option(
        "-j",
        "--jobs",
        type=WholeNumber(min=1),
        default=None,
        metavar="N",
        help="Read logs in N processes.  [default: one for each core]",
    )(command)


def dask_option(command: _AnyCommand) -> _AnyCommand:
    """``--dask``: the cluster that does the work."""
    return click.option(
        "--dask",
        type=NameType(),
        metavar="ADDRESS",
        help="Use the cluster of this Dask scheduler, e.g. tcp://host:8786; requires the extra `dask`.",
    )(command)


def wide_option(command: _AnyCommand) -> _AnyCommand:
    """``--wide``: tables with all columns, however wide the terminal is."""

    def note(context: click.Context, _: click.Parameter, value: bool) -> None:
        context.meta[WIDE] = value

    return click.option(
        "--wide",
        is_flag=True,
        expose_value=False,
        callback=note,
        help="Show all columns, however wide the terminal is.",
    )(command)


def force_option(command: _AnyCommand) -> _AnyCommand:
    """``--force``: replace an existing file."""
    return click.option("--force", is_flag=True, help="Replace an existing file.")(command)


def reading_options(command: _AnyCommand) -> _AnyCommand:
    """How logs are read: ``--kind --server --date --date-from-name --tz --chat``."""
    return in_section(
        "Reading logs",
        command,
        click.option(
            "--chat",
            type=click.Choice(CHATS),
            show_default="public",
            help="Chat to store; own: public chat, and tells and partner tells during your own games.",
        ),
        click.option("--tz", type=ZoneType(), help="Time zone of times that have none (Europe/Vienna, +02:00)."),
        click.option(
            "--date",
            type=DateType(),
            help="Date of logs and saved games without one (YYYY-MM-DD); no other date changes.",
        ),
        click.option(
            "--date-from-name",
            metavar="FORMAT",
            type=NameFormatType(),
            help="Take this date from the name of each file, in a format such as %Y-%m-%d; before --date.",
        ),
        click.option(
            "--server",
            metavar="NAME",
            help="Site of the games, if the log does not contain it (freechess.org, FICS, ICC).",
        ),
        click.option("--kind", type=click.Choice(KINDS), help="Kind of log, instead of recognising it by its content."),
    )


def _names(option: str, name: str, metavar: str, complete: _Complete, help_text: str) -> _Option:
    """A filter that can be repeated: games that have any of these names.

    Args:
        option: as it is typed. name: of the command's parameter. complete: completes a value in the shell.
    """
    return click.option(
        option, name, multiple=True, type=NameType(), metavar=metavar, shell_complete=complete, help=help_text
    )


def _one_name(option: str, metavar: str, complete: _Complete, help_text: str) -> _Option:
    """A filter that takes one name."""
    return click.option(option, type=NameType(), metavar=metavar, shell_complete=complete, help=help_text)


# The options of each group are in the order of the help, from the last to the first.
_BY_PLAYER = (
    _names("--black", "black", "HANDLE", complete_handles, "Only games with this player as Black."),
    _names("--white", "white", "HANDLE", complete_handles, "Only games with this player as White."),
    _names("--opponent", "opponents", "HANDLE", complete_handles, "Only games against this player."),
    _names(
        "--player",
        "players",
        "HANDLE",
        complete_handles,
        "Only games of this player, as White or Black; * is any text ('Helm*').",
    ),
)
_BY_GAME = (
    click.option("--result", "results", multiple=True, type=click.Choice(RESULTS), help="Only games with this result."),
    click.option(
        "--opening",
        "openings",
        multiple=True,
        type=NameType(),
        metavar="TEXT",
        help="Only games whose opening's name contains this text (Najdorf).",
    ),
    click.option(
        "--eco",
        "ecos",
        multiple=True,
        type=EcoType(),
        metavar="CODE",
        shell_complete=complete_ecos,
        help="Only games with this ECO code, or one that begins so (B90, B9).",
    ),
    click.option(
        "--until",
        type=PeriodType(last=True),
        metavar="DATE",
        help="Only games that began by the end of this day, month or year (UTC; YYYY-MM-DD, YYYY-MM, YYYY).",
    ),
    click.option(
        "--since",
        type=PeriodType(last=False),
        metavar="DATE",
        help="Only games that began on or after this day, month or year (UTC; YYYY-MM-DD, YYYY-MM, YYYY).",
    ),
    click.option("--rated/--unrated", default=None, help="Only rated, or only unrated games."),
    _names(
        "--category",
        "categories",
        "WORD",
        complete_categories,
        "Only games of this category, as the server spells it (blitz, standard).",
    ),
    _names(
        "--variant",
        "variants",
        "WORD",
        complete_variants,
        "Only games of this variant, in any spelling (chess, wild/5).",
    ),
)
_BY_SOURCE = (
    _one_name("--source", "ID", complete_sources, "Only games of this source (see `sources`)."),
    _one_name("--me", "HANDLE", complete_own_handles, "Only games recorded by a connection of this handle."),
    _names("--server", "servers", "NAME", complete_servers, "Only games of this site; unknown: games without a site."),
)
_EXCLUDING = (
    click.option(
        "--include",
        type=WordSet(*INCLUDES),
        default="",
        help="Also these games, excluded by default: examined, setup, empty (no known move).",
    ),
    click.option("--no-computers", is_flag=True, help="Exclude games of players with the title (C)."),
    click.option("--no-guests", is_flag=True, help="Exclude games of unregistered players."),
    click.option("--complete", is_flag=True, help="Only games recorded from the first move to the result."),
    click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the newest N matching games."),
)


def filter_options(command: _AnyCommand) -> _AnyCommand:
    """Which games: the same options for ``games`` and for every export. An unknown variant is a usage error."""

    @wraps(command)
    def checked(*words: Any, **values: Any) -> Any:
        try:
            return command(*words, **values)
        except UnknownVariantError as error:
            raise click.UsageError(str(error)) from None

    options = (*_EXCLUDING, *_BY_SOURCE, *_BY_GAME, *_BY_PLAYER)
    found = in_section("Filters", cast("_AnyCommand", checked), *options)
    return click.argument("keys", nargs=-1, type=NameType(), metavar="[KEY…]", shell_complete=complete_keys)(found)


def unique_option(command: _AnyCommand) -> _AnyCommand:
    """``--unique``: count probable duplicates once."""
    option = click.option("--unique", is_flag=True, help="Count probable duplicates once (see `duplicates`).")
    return in_section("Filters", command, option)


def position_options(command: _AnyCommand) -> _AnyCommand:
    """``--position`` and ``--moves``: only games that reached a position."""
    return in_section(
        "Filters",
        command,
        click.option(
            "--moves",
            metavar="MOVES",
            help='Only games that reached the position after these moves ("e4 c5 Nf3"; from --position if given).',
        ),
        click.option("--position", metavar="FEN", help="Only games that reached this position."),
    )


def read_position_options(position: str | None, moves: str | None) -> str | None:
    """The position of ``position_options``; None: none is asked for.

    Raises:
        UsageError: there is no such position.
    """
    from exporters.selection import read_position

    try:
        return read_position(position, moves)
    except ExportError as error:
        raise click.UsageError(str(error)) from None


def _day_ms(day: date) -> int:
    return int(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()) * 1000


def game_filter(
    *,
    since: date | None,
    until: date | None,
    include: frozenset[str],
    rated: bool | None,
    complete: bool,
    no_guests: bool,
    no_computers: bool,
    source: str | None,
    me: str | None,
    last: int | None,
    unique: bool = False,
    **sets: tuple[str, ...],
) -> GameFilter:
    """Make the archive's filter from what ``filter_options`` hands to a command."""
    from recorder.model import GameKind, site_names
    from recorder.rules.variants import read_pgn_variant
    from storage import GameFilter

    sets["variants"] += tuple(filter(None, map(read_pgn_variant, sets["variants"])))
    words: dict[str, Any] = {name: frozenset(values) for name, values in sets.items()}
    words["servers"] = site_names(words["servers"])
    kinds = {GameKind.PLAYED} | {GameKind(word) for word in include if word != "empty"}
    return GameFilter(
        since_ms=None if since is None else _day_ms(since),
        until_ms=None if until is None else _day_ms(until + timedelta(days=1)) - 1,
        kinds=frozenset(kinds),
        min_plies=0 if "empty" in include else 1,
        rated=rated,
        complete=complete,
        no_guests=no_guests,
        no_computers=no_computers,
        source=source,
        me=me,
        per_source=False,
        unique=unique,
        last=last,
        **words,
    )
