"""``ics-recorder config``: where the configuration file is, and which value each option has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from recorder.cli.configuration import Configuration, chosen_file, configurable, read_configuration, table_defaults
from recorder.cli.hook_options import configured_hooks
from recorder.cli.options import Command, Group, json_option, wide_option
from recorder.cli.output import print_rows, say
from recorder.text import named, plural

_UNSET = getattr(click.core, "UNSET", None)
"""What newer versions of click have in the place of a value that nothing sets."""


@click.group(
    "config",
    cls=Group,
    short_help="Show the configuration file and each option's value.",
    epilog="""\b
Examples:
  ics-recorder config path
  ics-recorder config show
  ics-recorder config show export pgn
  ics-recorder --config lectures.toml config show --json
""",
)
def command() -> None:
    """Show the configuration file, and which value each option has.

    The file is TOML. A table has the options of one command, named without the dashes. The table [global] has options
    that many commands share: csv-raw, db, journal-dir, no-computers, no-guests, style, sync, tz and wide.

    \b
      [global]
      db = "~/chess/archive.sqlite"
      [export.pgn]
      clock = ["clk", "emt", "lag"]
      comments = true

    Passwords are never read from it. docs/reference/configuration.md has every rule.
    """


@command.command(
    "path",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder config path
  /home/ann/.config/ics-recorder/config.toml
  $ ics-recorder --config lectures.toml config path
  lectures.toml
""",
)
@click.pass_context
def _path(ctx: click.Context) -> None:
    """Print the path of the configuration file.

    The file need not exist. --config FILE before the command, or ICS_RECORDER_CONFIG, names another one.
    """
    click.echo(chosen_file(ctx.find_root()))


@command.command(
    "show",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder config show
  Command      Option  Value              From
  32 commands  db      /home/ann/a.sqlite /home/ann/.config/ics-recorder/config.toml, line 1
  export pgn   clock   clk,emt,lag        variable ICS_RECORDER_EXPORT_PGN_CLOCK
  $ ics-recorder config show verify
""",
)
@click.argument("words", nargs=-1, metavar="[COMMAND…]")
@click.option("--all", "everything", is_flag=True, help="Also show options that have their default.")
@json_option
@wide_option
@click.pass_context
def _show(ctx: click.Context, words: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Print the value of each option and where it comes from.

    Without COMMAND: the options that the environment or the file sets, of all commands. With COMMAND: all options of
    this command. The tables of these commands are checked: the first error is reported, and the exit status is 2.
    Passwords are not options and are never printed.
    """
    root = ctx.find_root()
    assert isinstance(root.command, click.Group)
    configuration = read_configuration(root, list(root.command.commands))
    hooks = [] if configuration is None else list(configured_hooks(configuration))
    options = [
        value
        for path, each in _chosen_commands(root, words)
        for value in _values(root, configuration, path, each)
        if everything or words or value.set_by != "default"
    ]
    rows = options if words or as_json else _joined(options)
    if options or as_json:
        print_rows(
            rows,
            named("command option value from=set_by place"),
            (("Command", "command"), ("Option", "option"), ("Value", "value"), ("From", _described)),
            as_json=as_json,
            narrow=(("Value", 20),),
        )
    if as_json:
        return
    for hook in hooks:
        say(f"Hook {hook.name}: {', '.join(hook.events)}.")
    file = chosen_file(root)
    say(f"Configuration file: {file}{'' if file.exists() else ' (it does not exist)'}.")
    if not words and not everything:
        number = "No option" if not options else plural(len(rows), "option")
        say(f"{number} set by the environment or the file; --all also shows options that have their default.")


class _Value(NamedTuple):
    command: str
    option: str
    value: str | None
    set_by: str
    place: str | None


def _chosen_commands(root: click.Context, words: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    reached: click.Command = root.command
    for number, word in enumerate(words):
        inner = reached.commands if isinstance(reached, click.Group) else {}
        if word not in inner:
            raise click.UsageError(f"There is no command {' '.join(words[: number + 1])!r}.")
        reached = inner[word]
    yield from _below(reached, words)


def _below(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    if path:
        yield path, command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _below(command.commands[name], (*path, name))


def _values(
    root: click.Context, configuration: Configuration | None, path: tuple[str, ...], command: click.Command
) -> Iterator[_Value]:
    """As an invocation without options would have them."""
    defaults = {} if configuration is None else table_defaults(root, configuration, path, command)
    ctx = click.Context(command, info_name=path[-1], parent=root, default_map=defaults)
    for key, param in configurable(command):
        value, source = param.consume_value(ctx, {})
        set_by, where = "default", None
        if source is ParameterSource.ENVIRONMENT:
            set_by, where = "environment", str(param.envvar)
        elif source is ParameterSource.DEFAULT_MAP and configuration is not None:
            set_by, where = "file", configuration.source(path, key)
        yield _Value(" ".join(path), key, _text(ctx, param, value), set_by, where)


def _text(ctx: click.Context, param: click.Parameter, value: Any) -> str | None:
    if value is None or value is _UNSET or value == ():
        default = getattr(param, "show_default", None)
        return default if isinstance(default, str) else None
    if getattr(param, "is_flag", False):
        value = param.type_cast_value(ctx, value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _joined(values: list[_Value]) -> list[_Value]:
    """One row for a value that several commands take from one place."""
    by_place: dict[tuple[str, str | None], list[_Value]] = {}
    for value in values:
        same = value.place if value.set_by != "default" else value.command
        by_place.setdefault((value.option, same), []).append(value)
    return [
        rows[0] if len(rows) == 1 else rows[0]._replace(command=f"{len(rows)} commands") for rows in by_place.values()
    ]


def _described(value: _Value) -> str:
    return {"default": "default", "environment": f"variable {value.place}", "file": str(value.place)}[value.set_by]
