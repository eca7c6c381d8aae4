"""``--on``, and ``[[hook]]`` of the configuration file."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from recorder.cli.configuration import CONFIGURATION, HOOK, Configuration

if TYPE_CHECKING:
    from recorder.live.hooks import Hook, Hooks
    from recorder.live.messages import MessageSink

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])


def _are_texts(value: Any) -> bool:
    return isinstance(value, list | str) and all(isinstance(text, str) for text in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


_KEYS: Final[Mapping[str, Callable[[Any], bool]]] = {
    "on": _are_texts,
    "command": _are_texts,
    "url": lambda value: isinstance(value, str),
    "name": lambda value: isinstance(value, str),
    "headers": lambda value: isinstance(value, dict) and _are_texts([*value.values()]),
    "body": lambda value: isinstance(value, str | dict),
    "seconds": _is_number,
    "limit": _is_number,
}
_OF_CONNECTIONS: Final = frozenset(("outage", "back"))


def hook_option(command: _AnyCommand) -> _AnyCommand:
    """With the hooks of the configuration file."""
    option = click.option(
        "--on",
        "hooks",
        metavar="EVENT=COMMAND",
        multiple=True,
        is_eager=True,  # not of a command's table: ``config show`` would print secrets
        allow_from_autoenv=False,
        callback=_hooks,
        help=(
            "Run COMMAND, or POST to a URL, at game-start, game-end, long-think[:SECONDS], outage, back or disk-full. "
            "[[hook]] in the configuration file can do more (docs/how-to/hooks.md)."
        ),
    )
    return option(command)


def _hooks(ctx: click.Context, _param: click.Parameter, values: Sequence[str]) -> tuple[Hook, ...]:
    configuration: Configuration | None = ctx.meta.get(CONFIGURATION)
    hooks = [] if configuration is None else list(configured_hooks(configuration))
    for value in values:
        try:
            hooks.append(_typed(value, ctx.info_name))
        except ValueError as error:
            raise click.BadParameter(str(error), param_hint="--on") from error
    return tuple(hooks)


def _typed(value: str, command: str | None) -> Hook:
    """The hook that a value of ``--on`` means; ValueError: there is none."""
    words, equals, does = value.partition("=")
    if not equals or not does.strip():
        raise ValueError("write it as game-end=COMMAND or game-end=URL.")
    event, colon, seconds = words.partition(":")
    if event in _OF_CONNECTIONS and command != "record":
        raise ValueError(f"only `record` has the event {event}.")
    if colon and (event != "long-think" or not seconds.isascii() or not seconds.isdigit()):
        raise ValueError("write the seconds of a long think as long-think:120=COMMAND.")
    facts = {"seconds": int(seconds)} if colon else {}
    return _made([event], does, None, **facts)


@contextmanager
def running_hooks(
    hooks: Sequence[Hook], report: Callable[[], MessageSink], folder: Path | None = None, **doing: str
) -> Iterator[Hooks | None]:
    """``folder``: where ``status`` finds their counts and what else is ``doing``."""
    if not (hooks or doing):
        yield None
        return
    from recorder.live.hooks import Hooks
    from recorder.live.status import HOOK_NAMES, StateFile

    def failed(name: str, why: str) -> None:
        report()("hook_failed", f"Hook {name}: {why}. Recording goes on.", hook=name, how=why)

    file = None if folder is None else StateFile(folder, HOOK_NAMES)

    def counted(counts: list[dict[str, Any]]) -> None:
        if file is not None:
            file.write({**doing, "hooks": counts})

    counted([])
    running = Hooks(hooks, failed, counted)
    try:
        yield running if hooks else None
    finally:
        running.close()
        if file is not None:
            file.remove()


def configured_hooks(configuration: Configuration) -> Iterator[Hook]:
    """UsageError: one of them is not valid."""
    for number, table in enumerate(configuration.values.get(HOOK, ()), 1):
        try:
            for key, value in table.items():
                if key not in _KEYS:
                    raise ValueError(f"there is no key {key!r}, only {', '.join(_KEYS)}.")
                if not _KEYS[key](value):
                    raise ValueError(f"{key!r} has a value of another kind.")
            facts = dict(table)
            on, does = facts.pop("on", []), facts.pop("command", [])
            yield _made([on] if isinstance(on, str) else on, does, **facts)
        except ValueError as error:
            raise click.UsageError(f"{configuration.path}, [[hook]] number {number}: {error}") from error


def _made(on: list[str], does: str | list[str], url: str | None = None, **facts: Any) -> Hook:
    from recorder.live.hooks import make_hook

    if isinstance(does, str) and does.startswith(("http://", "https://")):
        url, does = does, []
    command = shlex.split(does) if isinstance(does, str) else does
    if command and command[0].startswith("~/"):
        command = [str(Path(command[0]).expanduser()), *command[1:]]
    hook = make_hook(on, command, url, **facts)
    if command and shutil.which(command[0]) is None:
        raise ValueError(f"there is no program {command[0]!r}.")
    return hook
