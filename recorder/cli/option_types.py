"""Values of options: how they are checked, and what a shell completes for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

import click

from recorder.archive.pages.completions import Completion, completions
from recorder.errors import RecorderError
from recorder.times import parse_zone

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    ParamType = click.ParamType[Any]
else:
    ParamType = click.ParamType  # not generic in older versions


class Checked(ParamType):
    """A text that a function accepts, kept as text, or as what the function makes of it."""

    def __init__(self, name: str, read: Callable[[str], Any], *, keep: bool = True) -> None:
        self.name = name
        self._read = read
        self._keep = keep

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            read = self._read(value)
        except (ValueError, RecorderError) as error:
            self.fail(str(error), param, ctx)
        return value if self._keep else read


def _refuse_empty(value: str) -> None:
    if not value.strip():
        raise ValueError("it is empty.")


def _read_format(value: str) -> None:
    from recorder.sources.name_dates import check_format  # loads all kinds of logs

    check_format(str(value))


NAME: Final = Checked("name", _refuse_empty)
"""A word that is not empty: an empty one would name everything or nothing."""
ZONE: Final = Checked("zone", parse_zone)
NAME_FORMAT: Final = Checked("format", _read_format)


class WholeNumber(click.IntRange):
    name = "whole number"


class WordSet(ParamType):
    """Comma-separated, as a frozenset; ``none`` or nothing is the empty set."""

    name = "words"

    def __init__(self, *choices: str) -> None:
        self.choices = choices

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        return f"[{','.join(self.choices)}]"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        before, comma, word = incomplete.rpartition(",")
        left = [choice for choice in self.choices if choice.startswith(word) and choice not in before.split(",")]
        return [CompletionItem(f"{before}{comma}{choice}") for choice in left]

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[str]:
        if isinstance(value, frozenset):
            return value
        words = frozenset(word.strip() for word in value.split(",")) - {"", "none"}
        if unknown := sorted(words - set(self.choices)):
            self.fail(f"{unknown[0]!r} is not one of {', '.join(self.choices)}.", param, ctx)
        return words


class DateType(ParamType):
    """As YYYY-MM-DD."""

    name = "date"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        try:
            return datetime.strptime(value, "%Y-%m-%d").date()
        except ValueError:
            self.fail(f"{value!r} is not a date; write it as 2020-01-31.", param, ctx)


class SpeedType(ParamType):
    """``4``, ``0.5`` or ``1/3``."""

    name = "speed"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        from recorder.replay.server.control import parse_speed

        if isinstance(value, Fraction):
            return value
        speed = parse_speed(str(value))
        if speed is None:
            self.fail(f"{value!r} is not a speed; write 4, 0.5 or 1/3, at most 1000.", param, ctx)
        return speed


class SecondsType(ParamType):
    """As milliseconds: ``1``, ``0.5``, ``1s``, ``200ms``."""

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
            self.fail(f"{value!r} is not a number of seconds.", param, ctx)
        return ms


_Completer = Callable[["click.Context", "click.Parameter", str], "list[CompletionItem]"]


def completer(kind: Completion, *fixed: str) -> _Completer:
    """From the archive that the command line names, else the default one."""

    def complete(ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        where = ctx.params.get("where")
        values = completions(where, kind, typed) if isinstance(where, str) else []
        return [
            *(CompletionItem(value) for value in fixed if value.startswith(typed)),
            *(CompletionItem(value, help=about) for value, about in values),
        ]

    return complete


def complete_names(names: Mapping[str, str]) -> _Completer:
    """With their descriptions where the shell shows them."""

    def complete(_ctx: click.Context, _param: click.Parameter, typed: str) -> list[CompletionItem]:
        from click.shell_completion import CompletionItem

        return [CompletionItem(name, help=about) for name, about in names.items() if name.startswith(typed)]

    return complete


complete_handles = completer(Completion.HANDLE)


complete_keys = completer(Completion.KEY, "last")


complete_sources = completer(Completion.SOURCE)
