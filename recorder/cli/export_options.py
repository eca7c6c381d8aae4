"""What every export has in common: which games, where they go, and what is said about it afterwards."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.cli.options import WordSet
from recorder.cli.output import say
from recorder.errors import StorageError
from recorder.text import plural

if TYPE_CHECKING:
    from exporters.base import ExportReport
    from exporters.pgn.exporter import PgnOptions
    from storage import ArchiveStore, GameFilter

__all__ = [
    "csv_option",
    "format_of",
    "left_out",
    "make_pgn_options",
    "named_games",
    "output_options",
    "pgn_options",
    "require_analyst",
    "require_games",
    "require_keys",
    "say_left_out",
    "say_written",
    "settled",
    "without_games",
    "write_json",
]

_NEWEST = re.compile(r"last(~[0-9]{1,9})?")
_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])


def output_options(command: _AnyCommand) -> _AnyCommand:
    """``-o`` and ``--force``."""
    for option in (
        click.option("--force", is_flag=True, help="Replace what is there."),
        click.option(
            "-o", "--output", default="-", metavar="FILE", show_default="-, standard output", help="Where to write."
        ),
    ):
        command = option(command)
    return command


def csv_option(command: _AnyCommand) -> _AnyCommand:
    """``--csv-raw``."""
    return click.option(
        "--csv-raw", is_flag=True, help="Write no apostrophe in CSV before texts that begin like a formula."
    )(command)


def pgn_options(command: _AnyCommand) -> _AnyCommand:
    """How PGN looks: ``--clock --style --variations --comments --engine --as-crazyhouse``."""
    for option in (
        click.option(
            "--as-crazyhouse",
            is_flag=True,
            help="Write bughouse boards as crazyhouse with all that they drop in hand from the start.",
        ),
        click.option("--engine", is_flag=True, help="Write what engines thought: %eval, %depth and their line."),
        click.option("--comments", is_flag=True, help="Write chat as comments."),
        click.option("--variations", is_flag=True, help="Write taken-back moves as variations."),
        click.option(
            "--style",
            type=click.Choice(("default", "fics", "lichess")),
            default="default",
            show_default=True,
            help="fics: the shape of the FICS games database; lichess: only the mover's clock, in whole seconds.",
        ),
        click.option(
            "--clock",
            type=WordSet("clk", "emt", "lag"),
            default="clk,emt",
            show_default=True,
            help="Times in comments: the mover's clock, elapsed time, lag; or none.",
        ),
    ):
        command = option(command)
    return command


def make_pgn_options(
    clock: frozenset[str],
    style: str,
    *,
    variations: bool,
    comments: bool,
    engine: bool,
    as_crazyhouse: bool,
    analysis: str | None = "",
) -> PgnOptions:
    """What ``pgn_options`` hands to a command, and whose analysis counts (``PgnOptions.analysis``)."""
    from exporters.pgn.exporter import PgnOptions

    return PgnOptions(
        clock=clock,
        style=style,
        variations=variations,
        comments=comments,
        engine=engine,
        analysis=analysis,
        as_crazyhouse=as_crazyhouse,
    )


def require_keys(archive: ArchiveStore, where: GameFilter) -> None:
    """Refuse a KEY that no game of the archive has, whatever the other options leave out, and an unknown variant.

    Raises:
        StorageError: there is no such game. UsageError: there is no such variant.
    """
    from storage import GameFilter

    _refuse_unknown_variants(archive, where)
    for key in sorted(where.keys):
        if not archive.count(GameFilter(keys=frozenset({key}), kinds=frozenset(), min_plies=0)):
            raise StorageError(f"No game has a key that begins with {key}.")


def _refuse_unknown_variants(archive: ArchiveStore, where: GameFilter) -> None:
    """Refuse a word of ``--variant`` that no table and no game of the archive has.

    Raises:
        UsageError: it names the word, and a known one that is like it.
    """
    from recorder.rules.variants import is_known_variant, known_variant_like
    from storage import GameFilter

    for word in sorted(where.variants):
        if is_known_variant(word) or archive.count(
            GameFilter(variants=frozenset({word}), kinds=frozenset(), min_plies=0)
        ):
            continue
        like = known_variant_like(word)
        raise click.UsageError(f"unknown variant {word!r}{f'; did you mean {like!r}?' if like else '.'}")


def settled(archive: ArchiveStore, chosen: GameFilter) -> GameFilter:
    """The filter as an archive needs it: its keys are there, and with ``--unique`` probable duplicates are folded.

    Raises:
        StorageError: there is no such game.
    """
    require_keys(archive, chosen)
    return replace(chosen, folded=archive.folded(chosen)) if chosen.unique else chosen


def require_analyst(archive: ArchiveStore, name: str) -> None:
    """Refuse the beginning of an engine's name that no analysis of the archive is by.

    Raises:
        StorageError: there is no such analysis; the message names the engines that there are.
    """
    there = archive.analysts()
    if not any(engine.casefold().startswith(name.casefold()) for engine in there):
        others = f"there are those of {', '.join(there)}" if there else "there is no analysis at all"
        raise StorageError(f"No analysis is by an engine whose name begins with {name}: {others}.")


def named_games(archive: ArchiveStore, chosen: GameFilter) -> GameFilter:
    """The filter, with ``last`` and ``last~2`` as the keys that they stand for.

    Raises:
        StorageError: there is no such game.
    """
    keys = frozenset(archive.game(key).key if _NEWEST.fullmatch(key) else key for key in chosen.keys)
    found = replace(chosen, keys=keys)
    return settled(archive, found)


def format_of(format_name: str | None, output: str, formats: tuple[str, ...]) -> str:
    """The format: as ``--format`` says, else as the output's suffix says, else the first one.

    Raises:
        UsageError: it is Parquet, and the output a terminal.
    """
    suffix = Path(output).suffix.lower().lstrip(".")
    chosen = format_name or (suffix if suffix in formats else formats[0])
    if format_name is None and suffix and suffix not in formats:
        say(f"{output}: .{suffix} is no format of this command; writing {chosen} (--format {'|'.join(formats)}).")
    if chosen == "parquet" and output == "-" and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for the terminal; write it to a file with -o.")
    return chosen


def left_out(archive: ArchiveStore, where: GameFilter) -> dict[str, int]:
    """Games that match what was asked about players, variant … but are not taken, by the first reason that holds."""
    steps: tuple[tuple[str, dict[str, Any]], ...] = (
        ("examined or set up", {"kinds": where.kinds}),
        ("without a known move", {"min_plies": where.min_plies}),
        ("incomplete", {"complete": where.complete}),
        ("with a guest", {"no_guests": where.no_guests}),
        ("with a computer", {"no_computers": where.no_computers}),
        ("folded as probable duplicates", {"folded": where.folded}),
        ("older than the last asked for", {"last": where.last}),
    )
    asked = replace(
        where,
        kinds=frozenset(),
        min_plies=0,
        complete=False,
        no_guests=False,
        no_computers=False,
        folded=frozenset(),
        last=None,
    )
    found: dict[str, int] = {}
    count = archive.count(asked)
    for reason, change in steps:
        narrower = replace(asked, **change)
        if narrower != asked:
            remaining = archive.count(narrower)
            found[reason] = count - remaining
            asked, count = narrower, remaining
    found["without a known date"] = archive.undated(where)
    return {reason: number for reason, number in found.items() if number}


def require_games(archive: ArchiveStore, where: GameFilter) -> dict[str, int]:
    """What a filter leaves out, as ``left_out``; for tables, pictures and pages, which no games make.

    Raises:
        StorageError: no game is left.
    """
    _refuse_unknown_variants(archive, where)
    reasons = left_out(archive, where)
    if not archive.count(where):
        words = ", ".join(f"{number:,} {reason}" for reason, number in reasons.items())
        raise StorageError(
            f"No games match these filters{f' (left out: {words})' if words else ''}; "
            "`ics-recorder games` lists the games."
        )
    return reasons


_INCLUDED_BY = {
    "examined or set up": "examined,setup",
    "examined": "examined",
    "setup": "setup",
    "without a known move": "empty",
    "without a ply": "empty",
}


def say_left_out(reasons: Iterable[tuple[str, int]]) -> None:
    """One line on stderr: ``Left out: 3 examined (--include examined), 2 without a known date.``"""
    words = ", ".join(
        f"{number:,} {_one(reason) if number == 1 else reason}"
        + (f" (--include {_INCLUDED_BY[reason]})" if reason in _INCLUDED_BY else "")
        for reason, number in reasons
    )
    if words:
        say(f"Left out: {words}.")


def _one(reason: str) -> str:
    return reason.replace("plies", "ply", 1) if reason.startswith("plies ") else reason


def without_games(archive: ArchiveStore, where: GameFilter) -> str | None:
    """A sentence if no game matches the filters; None: some do."""
    if archive.count(where):
        return None
    return f"No games match these filters ({plural(archive.count(), 'played game')} in the archive)."


def say_written(report: ExportReport, output: str, reasons: dict[str, int], none: str | None = None) -> None:
    """What was written and what was not, on stderr; ``none``: as ``without_games`` says."""
    target = "standard output" if output == "-" else output
    written = f"Wrote {plural(report.games, 'game')}, {plural(report.plies, 'ply', 'plies')} to {target}."
    say(written if none is None else none)
    say_left_out([*reasons.items(), *sorted(report.left_out.items())])


def write_json(value: Any, output: str, force: bool, keep: Collection[Path]) -> None:
    """One JSON document on one line, to standard output or a file.

    Args:
        output, force, keep: as ``exporters.output.open_output`` has them.
    Raises:
        ExportError: the output cannot be written.
    """
    from exporters.output import open_output

    with open_output(output, force, keep) as out:
        out.write(json.dumps(value, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
