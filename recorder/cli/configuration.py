"""The configuration file: TOML whose values are defaults for the commands' options.

A table has the options of one command (``[games]``, ``[export.pgn]``). The table ``[global]`` has ``SHARED`` options,
for every command that has them. Options on the command line and environment variables take precedence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

import click
from click.core import ParameterSource

from recorder.cli.option_types import WordSet
from recorder.cli.options import OptionalWords

CONFIGURATION: Final = "ics-recorder.configuration"
"""Key in ``click.Context.meta`` of the configuration that applies; missing or None: there is no file."""
_FILE: Final = "ics-recorder.configuration.file"
SHARED: Final = ("csv-raw", "db", "journal-dir", "no-computers", "no-guests", "style", "sync", "tz", "wide")
"""Options that mean the same in every command that has them: those that ``[global]`` can set."""
_GLOBAL: Final = "global"
HOOK: Final = "hook"
"""The tables that are of no command: ``[[hook]]``."""
_TABLE = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?")
_PASSWORD = (
    "{place}: passwords are not read from a configuration file. Set ICS_RECORDER_PASSWORD, or store the password in "
    "the keyring."
)


@dataclass(frozen=True)
class Configuration:
    path: Path
    text: str
    values: Mapping[str, Any]

    def table(self, path: Sequence[str]) -> Mapping[str, Any]:
        values: Mapping[str, Any] = self.values
        for depth, name in enumerate(path, 1):
            values = values.get(name, {})
            if not isinstance(values, dict):
                where = self.place(path[: depth - 1], name)
                raise click.UsageError(
                    f"{where}: {name!r} is a table: write its options below [{'.'.join(path[:depth])}]."
                )
        return values

    def place(self, table: Sequence[str], key: str) -> str:
        """The file and, if it can be found, the line."""
        line = self.line(table, key)
        return str(self.path) if line is None else f"{self.path}, line {line}"

    def line(self, table: Sequence[str], key: str) -> int | None:
        """The first line of a key or table; None: unknown (in an inline table)."""
        wanted = (*table, key)
        above: tuple[str, ...] = ()
        for number, line in enumerate(self.text.splitlines(), 1):
            if header := _TABLE.fullmatch(line):
                above = names = _names(header[1])
            elif "=" in line:
                names = (*above, *_names(line.partition("=")[0]))
            else:
                continue
            if names[: len(wanted)] == wanted:
                return number
        return None

    def source(self, table: Sequence[str], key: str) -> str:
        """In the command's table, or in ``[global]``."""
        return self.place(table if key in self.table(table) else (_GLOBAL,), key)


def _names(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def default_file() -> Path:
    return Path(click.get_app_dir("ics-recorder")) / "config.toml"


def chosen_file(ctx: click.Context) -> Path:
    """Of ``--config``, or the default one, which need not exist."""
    named: Path | None = ctx.meta.get(_FILE)
    return default_file() if named is None else named


def config_option(command: Any) -> Any:
    return click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        expose_value=False,
        callback=_note_file,
        metavar="FILE",
        show_default="config.toml in the user's configuration folder",
        help="Configuration file (see `config`).",
    )(command)


def _note_file(ctx: click.Context, _param: click.Parameter, path: Path | None) -> None:
    ctx.meta[_FILE] = path


def read_configuration(ctx: click.Context, names: Sequence[str]) -> Configuration | None:
    named = ctx.meta.get(_FILE)
    path = chosen_file(ctx)
    try:
        if named is None and not path.exists():
            return None
        import tomllib  # here: most invocations have no file

        text = path.read_text(encoding="utf-8")
        configuration = Configuration(path, text, tomllib.loads(text))
    except OSError as error:
        raise click.UsageError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:  # no UTF-8, or no TOML
        raise click.UsageError(f"{path} cannot be read as TOML: {error}.") from error
    _check_top(configuration, names)
    return configuration


def configured(ctx: click.Context, names: Sequence[str], path: Sequence[str], command: click.Command) -> dict[str, Any]:
    """It is noted in ``ctx.meta``."""
    configuration = ctx.meta[CONFIGURATION] = read_configuration(ctx, names)
    return {} if configuration is None else table_defaults(ctx, configuration, path, command)


def _check_top(configuration: Configuration, names: Sequence[str]) -> None:
    tables = (_GLOBAL, *names)
    for key, value in configuration.values.items():
        if key == HOOK:
            if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
                _refuse(configuration, (), key, "write [[hook]], in two pairs of brackets", ())
            continue
        if isinstance(value, dict) and key not in tables:
            _refuse(configuration, (), key, f"there is no command {key!r}", tables)
        if key in tables:
            configuration.table((key,))
        elif not isinstance(value, dict):
            _refuse(configuration, (), key, f"write {key!r} below [{_GLOBAL}] or a command's table such as [games]", ())
    for key in configuration.table((_GLOBAL,)):
        if key not in SHARED:
            what = f"[{_GLOBAL}] has no option {key!r}, only {', '.join(SHARED)}"
            _refuse(configuration, (_GLOBAL,), key, what, SHARED)


def _refuse(configuration: Configuration, table: Sequence[str], key: str, what: str, names: Sequence[str]) -> None:
    where = configuration.place(table, key)
    if "password" in key.lower():
        raise click.UsageError(_PASSWORD.format(place=where))
    close = get_close_matches(key, names, 1, 0.65)
    raise click.UsageError(f"{where}: {what}{f'; did you mean {close[0]!r}?' if close else '.'}")


def configurable(command: click.Command) -> Iterator[tuple[str, click.Parameter]]:
    """The options of a command that a file can set; and the server of ``record`` and ``proxy``."""
    for param in command.params:
        if isinstance(param, click.Option):
            if not param.is_eager:
                yield max(param.opts, key=len).lstrip("-"), param
        elif param.name == "server":
            yield "server", param


def table_defaults(
    ctx: click.Context, configuration: Configuration, path: Sequence[str], command: click.Command
) -> dict[str, Any]:
    """The ``default_map`` of a command, and within it those of the commands of a group."""
    table, shared = configuration.table(path), configuration.table((_GLOBAL,))
    inner = command.commands if isinstance(command, click.Group) else {}
    params = dict(configurable(command))
    defaults: dict[str, Any] = {}
    for key in [*(key for key in shared if key in params and key not in table), *table]:
        if key in inner:
            continue
        value = table.get(key, shared.get(key))
        if key not in params:
            what = f"[{'.'.join(path)}] has no option {key!r}"
            _refuse(configuration, path, key, what, [*params, *inner])
        name = params[key].name
        assert name is not None
        hint = f"{key!r} in {configuration.source(path, key)}"
        defaults[name] = _checked(ctx, params[key], value, hint)
    for name, each in inner.items():
        if below := table_defaults(ctx, configuration, (*path, name), each):
            defaults[name] = below
    return defaults


def _checked(ctx: click.Context, param: click.Parameter, value: Any, hint: str) -> Any:
    words = isinstance(param.type, WordSet)
    many = words or param.multiple or param.nargs != 1
    each = value if many and isinstance(value, list) else [value]
    if getattr(param, "is_flag", False) or (isinstance(value, bool) and isinstance(param, OptionalWords)):
        wanted, accepted = "true or false", isinstance(value, bool)
    elif isinstance(param.type, click.types.IntParamType):
        wanted, accepted = "a whole number", isinstance(value, int) and not isinstance(value, bool)
    elif isinstance(param.type, click.types.FloatParamType):
        wanted, accepted = "a number", isinstance(value, int | float) and not isinstance(value, bool)
    else:
        wanted, accepted = "an array of texts" if many else "a text or a number", all(map(_is_text, each))
        if accepted:
            texts = list(map(_text, each))
            value = ",".join(texts) if words else texts if many else texts[0]
    if not accepted and "password" in str(param.name):
        raise click.UsageError(_PASSWORD.format(place=hint))
    if not accepted:
        raise click.BadParameter(f"expected {wanted}, found {_shown(value)}.", ctx, param_hint=hint)
    try:
        param.type_cast_value(ctx, value)
    except click.BadParameter as error:
        raise click.BadParameter(error.message, ctx, param_hint=hint) from error
    return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str | int | float | date) and not isinstance(value, bool | datetime)


def _text(value: str | int | float | date) -> str:
    """As the command line would have it, with the home folder in the place of ``~/``."""
    text = str(value)
    if text.startswith("~/"):
        with suppress(RuntimeError):  # there is no home folder
            return str(Path(text).expanduser())
    return text


def _shown(value: Any) -> str:
    """As TOML has it."""
    if isinstance(value, list):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, str) else str(value)


def origin(ctx: click.Context, name: str, flag: str) -> str:
    """For a message about a value: ``--limit``, or ``'limit' in record.toml, line 3``."""
    configuration = ctx.meta.get(CONFIGURATION)
    if ctx.get_parameter_source(name) is not ParameterSource.DEFAULT_MAP or configuration is None:
        return flag
    key = flag.removeprefix("--")
    return f"{key!r} in {configuration.source(words_of(ctx), key)}"


def words_of(ctx: click.Context) -> tuple[str, ...]:
    """Without the program's: ``("export", "pgn")``."""
    return () if ctx.parent is None else (*words_of(ctx.parent), ctx.info_name or "")
