"""Options that several commands share, declared once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import replace
from functools import wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

import click

from recorder.archive.locate import default_archive
from recorder.archive.pages.completions import Completion
from recorder.cli.option_types import (
    NAME,
    NAME_FORMAT,
    ZONE,
    Checked,
    DateType,
    WholeNumber,
    WordSet,
    complete_handles,
    complete_keys,
    complete_sources,
    completer,
)
from recorder.cli.output import WIDE
from recorder.errors import ExportError, UnknownVariantError
from recorder.filters import FILTERS, INCLUDES, Filter
from recorder.model import SourceKind

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from exporters.selection import Filters
    from storage import GameFilter

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])
_Option = Callable[[Callable[..., Any]], Callable[..., Any]]
_Complete = Callable[[click.Context, click.Parameter, str], "list[CompletionItem]"]
_OTHER = "Options"
_COLUMN = 20
"""Room for the names of options; the meaning of a longer one is below it."""
_LONG = 70
"""An option with more letters is cut: a long list of choices."""
_FILTERS = "Filters"
ALL: Final = "ics-recorder.all"
"""Key in ``click.Context.meta``: the help shows everything."""


class Rare(click.Option):
    """The help shows it only with ``--all``."""


class OptionalWords(click.Option):
    """Of a ``WordSet`` whose words can be omitted: then it has the word ``omitted``."""

    def __init__(self, *names: Any, omitted: str, **values: Any) -> None:
        super().__init__(*names, **values)
        self.omitted = omitted

    def written_out(self, args: list[str]) -> list[str]:
        """With the words that were omitted: what follows the option may be a KEY."""
        assert isinstance(self.type, WordSet)
        choices, own = {*self.type.choices, "none"}, args.index("--") if "--" in args else len(args)
        given = [bool(following) and choices.issuperset(following.split(",")) for following in [*args[1:], ""]]
        return [
            f"{word}={self.omitted}" if word in self.opts and index < own and not given[index] else word
            for index, word in enumerate(args)
        ]


class Command(click.Command):
    """Its help has the options in sections (``in_section``), and with ``--help --all`` all of them."""

    rare: Collection[str] = ()

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        inner = set(self.commands) if isinstance(self, click.Group) else set()
        foreign = not inner and not ctx.allow_interspersed_args  # behind the options stands another program
        own = list(takewhile(lambda word: word not in {"--", *inner} and (word[:1] == "-" or not foreign), args))
        if "--all" in own and not {*self.get_help_option_names(ctx)}.isdisjoint(own):
            ctx.meta[ALL] = True
            args = [word for word in own if word != "--all"] + args[len(own) :]
        for param in self.params:
            args = param.written_out(args) if isinstance(param, OptionalWords) else args
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        everything, left_out = ctx.meta.get(ALL), set(self.rare)
        for param in self.get_params(ctx):  # the last one is --help
            record = param.get_help_record(ctx)
            if not isinstance(param, click.Option) or record is None:
                continue
            section = getattr(param, "section", _OTHER)
            if (section == _FILTERS or isinstance(param, Rare)) and not everything:
                left_out.add(section)
                continue
            if isinstance(param.type, click.Choice) and len(record[0]) > _LONG and not everything:
                left_out.add(section)
                record = (f"{record[0][:_LONG].rpartition('|')[0]}|…]", record[1])
            sections.setdefault(section, []).append(record)
        if _FILTERS in left_out:
            formatter.write_paragraph()
            formatter.write_text("Filters: --player, --since and others: see `ics-recorder help filters`.")
        other = sections.pop(_OTHER)
        if left_out and not everything:
            other[-1] = (other[-1][0], "Show this message; --help --all shows everything.")
        for section, records in (*sections.items(), (_OTHER, other)):
            with formatter.section(section):
                formatter.write_dl(records, col_max=_COLUMN)


class Group(Command, click.Group):
    """Its help has options and commands, those in ``rare`` only with ``--all``."""

    def __init__(self, *words: Any, rare: Collection[str] = (), **values: Any) -> None:
        super().__init__(*words, **values)
        self.rare = rare

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        super().format_options(ctx, formatter)
        self.format_commands(ctx, formatter)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        self.write_commands("Commands", sorted(self.commands), ctx, formatter)

    def write_commands(
        self, heading: str, names: Iterable[str], ctx: click.Context, formatter: click.HelpFormatter
    ) -> None:
        """Those that are to be shown, if any are."""
        rows = [
            (name.ljust(10), self.commands[name].get_short_help_str(limit=80))
            for name in names
            if name not in self.rare or ctx.meta.get(ALL)
        ]
        if rows:
            with formatter.section(heading):
                formatter.write_dl(rows)


def in_section(section: str, command: _AnyCommand, *options: _Option) -> _AnyCommand:
    """Under a heading of the command's help."""
    for option in options:
        command = cast("_AnyCommand", option(command))
        command.__click_params__[-1].section = section  # type: ignore[attr-defined]  # click keeps options so
    return command


KINDS = tuple(kind.value for kind in SourceKind)
CHATS = ("none", "public", "own", "all")


def typed(ctx: click.Context | None, name: str) -> click.Context | None:
    """The nearest context in which an option was typed."""
    while ctx is not None and ctx.get_parameter_source(name) is not click.core.ParameterSource.COMMANDLINE:
        ctx = ctx.parent
    return ctx


def _of_group(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """``--db X sources forget ID`` is about X, too: the nearest option that was typed counts."""
    name = param.name
    assert name is not None
    group = typed(ctx, name)
    if group is not None and group is not ctx:
        value = str(group.params[name])
    return value


def archive_option(command: _AnyCommand) -> _AnyCommand:
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
    """Instead of the archive of ``archive_option``."""

    @wraps(command)
    def checked(*words: Any, **values: Any) -> Any:
        if values["dataset"] is not None and typed(click.get_current_context(), "where") is not None:
            raise click.UsageError("--dataset and --db both say where the games are: give one of them.")
        return command(*words, **values)

    help_text = "Data set (folder or s3:// URL) to read instead of an archive."
    option = click.option("--dataset", cls=Rare, metavar="DIR", type=NAME, help=help_text)
    return option(cast("_AnyCommand", checked))


def json_option(command: _AnyCommand) -> _AnyCommand:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")(command)


def jobs_option(command: _AnyCommand) -> _AnyCommand:
    return click.option(
        "-j",
        "--jobs",
        cls=Rare,
        type=WholeNumber(min=1),
        default=None,
        metavar="N",
        help="Read logs in N processes.  [default: one for each core]",
    )(command)


def dask_option(command: _AnyCommand) -> _AnyCommand:
    return click.option(
        "--dask",
        cls=Rare,
        type=NAME,
        metavar="ADDRESS",
        help="Use the cluster of this Dask scheduler, e.g. tcp://host:8786; requires the extra `dask`.",
    )(command)


def list_option(what: str, about: Mapping[str, str]) -> Callable[[_AnyCommand], _AnyCommand]:
    """Instead of anything else."""

    def show(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
        if wanted and not ctx.resilient_parsing:
            for name, meaning in about.items():
                click.echo(f"{name}\t{meaning}")
            ctx.exit()

    return click.option(
        "--list", is_flag=True, is_eager=True, expose_value=False, callback=show, help=f"List the {what} and exit."
    )


def wide_option(command: _AnyCommand) -> _AnyCommand:
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
    return click.option("--force", is_flag=True, help="Replace an existing file.")(command)


def reading_options(command: _AnyCommand) -> _AnyCommand:
    return in_section(
        "Reading logs",
        command,
        click.option(
            "--chat",
            type=click.Choice(CHATS),
            show_default="public",
            help="Chat to store; own: public chat, and tells and partner tells during your own games.",
        ),
        click.option("--tz", type=ZONE, help="Time zone of times that have none (Europe/Vienna, +02:00)."),
        click.option(
            "--date",
            type=DateType(),
            help="Date of the games (YYYY-MM-DD); `import` and `convert` keep a recorded one beside it, as `edit`.",
        ),
        click.option(
            "--date-from-name",
            cls=Rare,
            metavar="FORMAT",
            type=NAME_FORMAT,
            help="Take this date from the name of each file, in a format such as %Y-%m-%d; before --date.",
        ),
        click.option(
            "--server",
            metavar="NAME",
            help="Site of the games (freechess.org, FICS, ICC); a recorded one is kept beside it, too.",
        ),
        click.option(
            "--kind", cls=Rare, type=click.Choice(KINDS), help="Kind of log, instead of recognising it by its content."
        ),
    )


_COMPLETERS: Final[Mapping[str, _Complete]] = {
    **dict.fromkeys(("player", "opponent", "white", "black"), complete_handles),
    "variant": completer(Completion.VARIANT),
    "category": completer(Completion.CATEGORY),
    "eco": completer(Completion.ECO),
    "server": completer(Completion.SERVER, "unknown"),
    "source": complete_sources,
    "me": completer(Completion.OWN_HANDLE),
}


def _filter_option(entry: Filter) -> _Option:
    if entry.flag:
        if "/" in entry.flag:
            return click.option(entry.flag, entry.name, default=None, help=entry.about)
        value = not entry.flag.startswith("--no-")
        return click.option(entry.flag, entry.name, flag_value=value, type=bool, default=None, help=entry.about)
    kind: Any = Checked(entry.name, entry.read)
    if entry.name == "include":
        return click.option("--include", type=WordSet(*INCLUDES), default="", help=entry.about)
    if entry.words:
        kind = click.Choice(tuple(entry.words))
    return click.option(
        f"--{entry.name.replace('_', '-')}",
        entry.name,
        multiple=entry.many,
        type=kind,
        metavar=entry.metavar or None,
        shell_complete=_COMPLETERS.get(entry.name),
        help=entry.about,
    )


def filter_options(command: _AnyCommand) -> _AnyCommand:
    """An option that the command has for something else (``--speed`` of replay) stays what it is."""

    @wraps(command)
    def checked(*words: Any, **values: Any) -> Any:
        try:
            return command(*words, **values)
        except UnknownVariantError as error:
            raise click.UsageError(str(error)) from None

    own = {word for param in getattr(command, "__click_params__", ()) for word in param.opts}
    options = [_filter_option(entry) for entry in FILTERS.values() if entry.option and f"--{entry.name}" not in own]
    decorated = in_section(_FILTERS, cast("_AnyCommand", checked), *reversed(options))
    return click.argument("keys", nargs=-1, type=NAME, metavar="[KEY…]", shell_complete=complete_keys)(decorated)


def games_options(command: _AnyCommand) -> _AnyCommand:
    unique = click.option("--unique", is_flag=True, help="Count probable duplicates once (see `duplicates`).")
    return filter_options(in_section(_FILTERS, archive_option(command), unique))


def position_options(command: _AnyCommand) -> _AnyCommand:
    for name in ("moves", "position"):
        command = cast("_AnyCommand", _filter_option(FILTERS[name])(command))
    return command


def game_filter(*, unique: bool = False, **filters: Any) -> GameFilter:
    from exporters.selection import make_filter

    given = {name: value for name, value in filters.items() if value not in ((), frozenset())}
    try:
        return replace(make_filter(cast("Filters", given)), unique=unique)
    except ExportError as error:
        raise click.UsageError(str(error)) from None
