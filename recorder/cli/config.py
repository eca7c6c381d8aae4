"""``--config FILE``: options from a TOML file. What is typed, or set in the environment, counts more."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from recorder.cli.options import Command

__all__ = ["RereadCommand", "config_option", "origin", "reread", "weight"]

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])
_FILE = "recorder.config"
_WORDS = "recorder.config.words"
_WEIGHTS = {ParameterSource.COMMANDLINE: 3, ParameterSource.ENVIRONMENT: 2, ParameterSource.DEFAULT_MAP: 1}


class RereadCommand(Command):
    """A command whose options ``reread`` can read again."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = tuple(args)
        return super().parse_args(ctx, args)


def reread(ctx: click.Context) -> click.Context:
    """Read the command line, the environment and the file of ``--config`` again.

    Args:
        ctx: of a ``RereadCommand``; it stays as it is.
    Raises:
        click.ClickException: something is not as it must be.
    """
    return ctx.command.make_context(ctx.info_name, list(ctx.meta[_WORDS]), parent=ctx.parent)


def config_option(command: _AnyCommand) -> _AnyCommand:
    """``--config``, for a service."""
    return click.option(
        "--config",
        type=click.Path(exists=True, dir_okay=False, path_type=Path),
        is_eager=True,
        expose_value=False,
        callback=_read,
        metavar="FILE",
        help=("TOML file with options, named as here without the dashes; options on the command line take precedence."),
    )(command)


def weight(ctx: click.Context, name: str) -> int:
    """How much the place counts where a parameter's value comes from; 0: nobody said anything."""
    source = ctx.get_parameter_source(name)
    return 0 if source is None else _WEIGHTS.get(source, 0)


def origin(ctx: click.Context, name: str, flag: str) -> str:
    """Where a value was written, for a message about it: ``--limit``, or ``'limit' in record.toml``."""
    from_file = ctx.get_parameter_source(name) is ParameterSource.DEFAULT_MAP
    return _place(flag.removeprefix("--"), ctx.meta[_FILE]) if from_file and _FILE in ctx.meta else flag


def _place(key: str, path: Path) -> str:
    return f"{key!r} in {path}"


def _read(ctx: click.Context, _param: click.Parameter, path: Path | None) -> Path | None:
    """Take the file's values as the options' defaults."""
    if path is None:
        return None
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise click.BadParameter(f"{path} cannot be read as TOML: {error}") from error
    params: dict[str, click.Parameter] = {}
    for param in ctx.command.params:
        names = param.opts if isinstance(param, click.Option) else [f"--{param.name}"]
        params |= {name.removeprefix("--"): param for name in names}
    defaults: dict[str, Any] = {}
    for key, value in values.items():
        found = params.get(key)
        if found is None or found.name is None or key == "config":
            raise click.BadParameter(f"{path} sets {key!r}, but there is no option --{key}.")
        defaults[found.name] = _checked(ctx, found, value, _place(key, path))
    ctx.default_map = {**(ctx.default_map or {}), **defaults}
    ctx.meta[_FILE] = path
    return path


def _checked(ctx: click.Context, param: click.Parameter, value: Any, place: str) -> Any:
    """A value that the option takes."""
    if getattr(param, "is_flag", False):
        if not isinstance(value, bool):
            raise click.BadParameter(f"expected true or false, found {value!r}.", ctx, param_hint=place)
        return value
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise click.BadParameter(f"expected a text or a number, found {value!r}.", ctx, param_hint=place)
    if not isinstance(param.type, click.types.IntParamType | click.types.FloatParamType):
        value = str(value)  # what the option reads from the command line is text, too
    try:
        param.type_cast_value(ctx, value)
    except click.BadParameter as error:
        raise click.BadParameter(error.message, ctx, param_hint=place) from error
    return value
