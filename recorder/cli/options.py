"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from recorder.archive.locate import default_archive
from recorder.cli.output import ARCHIVE_FACT, WIDE
from recorder.errors import UnknownVariantError
from recorder.times import parse_zone

if TYPE_CHECKING:
    from storage import GameFilter

    _ParamType = click.ParamType[Any]
else:
    _ParamType = click.ParamType  # not generic in older versions

__all__ = [
    "ANOMALIES",
    "CHATS",
    "INCLUDES",
    "KINDS",
    "RESULTS",
    "WordSet",
    "archive_option",
    "filter_options",
    "force_option",
    "game_filter",
    "json_option",
    "reading_options",
    "unique_option",
    "wide_option",
]

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])

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


class _Zone(_ParamType):
    """A time zone's name (``Europe/Vienna``, ``UTC``) or offset (``+02:00``), checked but kept as text."""

    name = "zone"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        try:
            parse_zone(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)


class _Name(_ParamType):
    """A word that is not empty: an empty one would name everything or nothing."""

    name = "name"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not value.strip():
            self.fail("it is empty.", param, ctx)
        return str(value)


class WordSet(_ParamType):
    """A comma-separated choice of words, as a frozenset; ``none`` or nothing is the empty set."""

    name = "words"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{','.join(self.choices)}]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[str]:
        if isinstance(value, frozenset):
            return value
        words = frozenset(word.strip() for word in value.split(",")) - {"", "none"}
        if unknown := sorted(words - set(self.choices)):
            self.fail(f"{unknown[0]!r} is none of {', '.join(self.choices)}.", param, ctx)
        return words


class _Date(_ParamType):
    """A calendar day as YYYY-MM-DD."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        try:
            return datetime.strptime(value, "%Y-%m-%d").date()
        except ValueError:
            self.fail(f"{value!r} is no day; write it as 2020-01-31.", param, ctx)


def _of_group(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """``--db X sources forget ID`` is about X, too: the nearest option that was typed counts."""
    name = param.name
    assert name is not None
    at: click.Context | None = ctx
    while at is not None:
        if at.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            value = value if at is ctx else str(at.params[name])
            break
        at = at.parent
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
        help="The archive: a path or a sqlite:/// URL.",
    )(command)


def json_option(command: _AnyCommand) -> _AnyCommand:
    """``--json``: the answer as JSON on stdout."""
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(command)


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
    """``--force``: replace what is there."""
    return click.option("--force", is_flag=True, help="Replace an existing output.")(command)


def reading_options(command: _AnyCommand) -> _AnyCommand:
    """How logs are read: ``--kind --server --date --tz --chat``."""
    for option in (
        click.option(
            "--chat",
            type=click.Choice(CHATS),
            show_default="public",
            help="Which human text becomes events: own adds tells and partner tells of one's own games.",
        ),
        click.option("--tz", type=_Zone(), help="Zone of stamps that name none (Europe/Vienna, +02:00)."),
        click.option("--date", type=_Date(), help="Day of a log that tells none (YYYY-MM-DD)."),
        click.option("--server", metavar="NAME", help="The site, where the log does not tell it."),
        click.option("--kind", type=click.Choice(KINDS), help="Kind of log, instead of looking at its content."),
    ):
        command = option(command)
    return command


def filter_options(command: _AnyCommand) -> _AnyCommand:
    """Which games: the same options for ``games`` and for every export. An unknown variant is a usage error."""

    @wraps(command)
    def checked(*words: Any, **values: Any) -> Any:
        try:
            return command(*words, **values)
        except UnknownVariantError as error:
            raise click.UsageError(str(error)) from None

    found = cast("_AnyCommand", checked)
    for option in (
        click.option(
            "--include",
            type=WordSet(*INCLUDES),
            default="",
            help="Also games that are left out by default: examined, setup, and empty ones (no known move).",
        ),
        click.option("--no-computers", is_flag=True, help="Leave out games of a player titled (C)."),
        click.option("--no-guests", is_flag=True, help="Leave out games of an unregistered player."),
        click.option("--complete", is_flag=True, help="Only games seen from the first move to the end line."),
        click.option("--last", type=click.IntRange(min=1), metavar="N", help="Only the newest N, after all else."),
        click.option("--source", type=_Name(), metavar="ID", help="Only games of this log, as `sources` names it."),
        click.option("--me", type=_Name(), metavar="HANDLE", help="Only games recorded by this handle's connection."),
        click.option(
            "--server",
            "servers",
            multiple=True,
            type=_Name(),
            metavar="NAME",
            help="Only games of this site; unknown: where no log names it.",
        ),
        click.option("--result", "results", multiple=True, type=click.Choice(RESULTS), help="Only this result."),
        click.option("--until", type=_Date(), help="Only games begun on this day (UTC) or before (YYYY-MM-DD)."),
        click.option("--since", type=_Date(), help="Only games begun on this day (UTC) or later (YYYY-MM-DD)."),
        click.option("--rated/--unrated", default=None, help="Only rated, or only unrated games."),
        click.option(
            "--category", "categories", multiple=True, type=_Name(), metavar="WORD", help="The server's word."
        ),
        click.option(
            "--variant",
            "variants",
            multiple=True,
            type=_Name(),
            metavar="WORD",
            help="chess, wild/5 …, in any spelling.",
        ),
        click.option("--black", multiple=True, type=_Name(), metavar="HANDLE", help="Black's handle."),
        click.option("--white", multiple=True, type=_Name(), metavar="HANDLE", help="White's handle."),
        click.option(
            "--opponent",
            "opponents",
            multiple=True,
            type=_Name(),
            metavar="HANDLE",
            help="Against this handle, any colour; with --player that player's games against it.",
        ),
        click.option(
            "--player",
            "players",
            multiple=True,
            type=_Name(),
            metavar="HANDLE",
            help="A player's handle, any colour.",
        ),
        click.argument("keys", nargs=-1, type=_Name(), metavar="[KEY…]"),
    ):
        found = option(found)
    return found


def unique_option(command: _AnyCommand) -> _AnyCommand:
    """``--unique``: count probable duplicates once."""
    return click.option(
        "--unique",
        is_flag=True,
        help="Count probable duplicates once: of each group the game of which most is known (see `duplicates`).",
    )(command)


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
    from recorder.model import GameKind
    from recorder.rules.variants import read_pgn_variant
    from storage import GameFilter

    sets["variants"] += tuple(filter(None, map(read_pgn_variant, sets["variants"])))
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
        witnesses=False,
        unique=unique,
        last=last,
        **{name: frozenset(values) for name, values in sets.items()},
    )
