"""Options that exports share, and the lines on stderr about what was written and what was excluded."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click
from click.core import ParameterSource

from recorder.cli.option_types import WordSet
from recorder.cli.options import OptionalWords, Rare, force_option, in_section
from recorder.cli.output import say
from recorder.text import plural

if TYPE_CHECKING:
    from exporters.base import ExportReport
    from exporters.bpgn import BpgnOptions
    from exporters.pgn.exporter import PgnOptions

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])


def output_options(command: _AnyCommand) -> _AnyCommand:
    output = click.option(
        "-o",
        "--output",
        default="-",
        metavar="FILE",
        show_default="-, standard output",
        help="Output file; - is standard output.",
    )
    return output(force_option(command))


def csv_option(command: _AnyCommand) -> _AnyCommand:
    return click.option(
        "--csv-raw", cls=Rare, is_flag=True, help="Put no apostrophe before CSV texts that look like formulas."
    )(command)


class _CommentWords(WordSet):
    """``true`` in a configuration file or a variable is chat."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> frozenset[str]:
        switches = {"true": "chat", "1": "chat", "false": "none", "0": "none"}
        return super().convert(switches.get(str(value).lower(), value), param, ctx)


@dataclass(frozen=True, slots=True)
class PgnWords:
    """Each field is named as its option."""

    clock: frozenset[str]
    style: str
    variations: bool
    comments: frozenset[str]
    engine: bool
    as_crazyhouse: bool

    def pgn(self, analysis: str | None = "") -> PgnOptions:
        from exporters.pgn.exporter import PgnOptions

        return PgnOptions(
            clock=self.clock,
            style=self.style,
            variations=self.variations,
            comments="chat" in self.comments,
            engine_comments="engine" in self.comments,
            engine=self.engine,
            analysis=analysis,
            as_crazyhouse=self.as_crazyhouse,
        )

    def bpgn(self, ctx: click.Context) -> BpgnOptions:
        from exporters.bpgn import CLOCK_WORDS, BpgnOptions

        if self.style != "default" or self.variations or self.engine or self.as_crazyhouse or "engine" in self.comments:
            raise click.UsageError("BPGN has one style, no variations, no engines and both boards.")
        given = ctx.get_parameter_source("clock") is not ParameterSource.DEFAULT
        return BpgnOptions(self.clock if given else frozenset(CLOCK_WORDS), "chat" in self.comments, keys=False)


def pgn_options(command: _AnyCommand) -> _AnyCommand:
    """How PGN looks: the options as one ``pgn_words``."""

    @wraps(command)
    def settled(*words: Any, **values: Any) -> Any:
        pgn_words = PgnWords(**{field.name: values.pop(field.name) for field in fields(PgnWords)})
        return command(*words, pgn_words=pgn_words, **values)

    return in_section(
        "PGN",
        cast("_AnyCommand", settled),
        click.option(
            "--as-crazyhouse",
            cls=Rare,
            is_flag=True,
            help="Write bughouse boards as crazyhouse games; all pieces dropped later are in hand at the start.",
        ),
        click.option(
            "--engine", is_flag=True, help="Write evaluations of engines: %eval, %depth and the principal variation."
        ),
        click.option(
            "--comments",
            cls=OptionalWords,
            omitted="chat",
            type=_CommentWords("chat", "engine"),
            default="none",
            help="Write chat as comments, or what engines thought of their moves as cutechess does: {+0.35/21 1.9s}.",
        ),
        click.option("--variations", is_flag=True, help="Write taken-back moves as variations."),
        click.option(
            "--style",
            type=click.Choice(("default", "fics", "lichess")),
            default="default",
            show_default=True,
            help=("PGN dialect. fics: as the FICS games database; lichess: only the mover's clock, in whole seconds."),
        ),
        click.option(
            "--clock",
            type=WordSet("clk", "emt", "lag"),
            default="clk,emt",
            show_default=True,
            help="Times to write as comments: the mover's clock, elapsed time, lag; or none.",
        ),
    )


_NOT_PRINTED = ("parquet", "html", "png", "pdf", "gif", "webp", "mp4")


def format_of(format_name: str | None, output: str, formats: tuple[str, ...]) -> str:
    """As ``--format`` says, else as the output's suffix says, else the first one."""
    suffix, params = Path(output).suffix.lower().lstrip("."), click.get_current_context().params
    if format_name is None and suffix and suffix not in formats:
        names = ", ".join(f".{name}" for name in formats if name != "table")
        other = " or name the format with --format" if "format_name" in params and params["output"] == output else ""
        raise click.UsageError(f"{output}: .{suffix} is no format of this command; name a file {names}{other}.")
    chosen = format_name or suffix or formats[0]
    if chosen in _NOT_PRINTED and output == "-" and sys.stdout.isatty():
        raise click.UsageError(f"The format {chosen} cannot be printed on a terminal; write it to a file with -o.")
    return chosen


_INCLUDED_BY = {
    "examined or set up": "examined,setup",
    "examined": "examined",
    "setup": "setup",
    "without a known move": "empty",
}


def say_excluded(reasons: Iterable[tuple[str, int]]) -> None:
    """``Excluded: 3 examined (--include examined), 2 without a known date.``"""
    words = ", ".join(
        f"{number:,} {_one(reason) if number == 1 else reason}"
        + (f" (--include {_INCLUDED_BY[reason]})" if reason in _INCLUDED_BY else "")
        for reason, number in reasons
        if number
    )
    if words:
        say(f"Excluded: {words}.")


def _one(reason: str) -> str:
    return reason.replace("plies", "ply", 1) if reason.startswith("plies ") else reason


def say_written(report: ExportReport, output: str, reasons: dict[str, int]) -> None:
    target = "standard output" if output == "-" else output
    say(f"Wrote {plural(report.games, 'game')}, {plural(report.plies, 'ply', 'plies')} to {target}.")
    say_excluded([*reasons.items(), *sorted(report.excluded.items())])
