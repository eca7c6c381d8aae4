"""``ics-recorder export``: games of an archive to PGN, BPGN and tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from recorder.archive.exporting import count_excluded, named_games, protected
from recorder.archive.locate import open_archive
from recorder.cli.export_options import (
    PgnWords,
    csv_option,
    format_of,
    output_options,
    pgn_options,
    say_written,
)
from recorder.cli.option_types import NAME, SecondsType, SpeedType, WholeNumber, WordSet, complete_keys
from recorder.cli.options import Command, Group, Rare, archive_option, game_filter, games_options
from recorder.cli.output import say
from recorder.text import byte_size

if TYPE_CHECKING:
    from fractions import Fraction

    from exporters.base import ExportReport
    from storage import ArchiveStore, GameFilter

_AnyCommand = TypeVar("_AnyCommand", bound=Callable[..., Any])
_SPLITS = ("day", "player", "variant")
_PLY_FORMATS = ("csv", "jsonl", "parquet")
_GAME_FORMATS = ("jsonl", "csv", "parquet")
_FILMS = ("gif", "webp", "mp4")
_APPEND_OR_FORCE = "--append adds to the file and --force replaces it: give one of them."


@click.group(
    "export",
    cls=Group,
    epilog="""\b
Examples:
  ics-recorder export pgn -o games.pgn
  ics-recorder export pgn --split player -o by-player/
  ics-recorder export bpgn -o matches.bpgn
  ics-recorder export plies --format parquet -o plies.parquet
  ics-recorder export games --format jsonl --player Morphy
  ics-recorder export games -o games.csv
  ics-recorder export gif last -o game.gif
""",
)
def command() -> None:
    """Export games as PGN, BPGN, tables, JSON or pictures.

    By default all played games with at least one known move are exported, incomplete, adjourned and aborted ones too,
    and marked as such. The number of excluded games is printed to stderr. KEY names a game: 6af8, last or last~2 (see
    `help keys`).
    """


@command.command(
    "pgn",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder export pgn --player Morphy -o morphy.pgn
  Wrote 2 games, 40 plies to morphy.pgn.
  $ ics-recorder export pgn 6af8 --style fics
  [Event "FICS rated blitz game"]
  ...
  ics-recorder export pgn --append -o all.pgn
  ics-recorder export pgn --style fics --clock emt --last 1
""",
)
@games_options
@output_options
@click.option("--append", is_flag=True, help="Add only what the file does not contain yet.")
@click.option(
    "--split", type=click.Choice(_SPLITS), help="Write one file per day, player or variant into the folder of -o."
)
@pgn_options
@click.option(
    "--analysis",
    cls=Rare,
    metavar="ENGINE",
    show_default="the one that covers most of the game, else the newest",
    help=(
        "Analysis that --engine writes, by the first characters of the engine's name; none: only the "
        "engines that played."
    ),
)
def _pgn(
    where: str,
    output: str,
    force: bool,
    append: bool,
    split: str | None,
    pgn_words: PgnWords,
    analysis: str | None,
    **filters: Any,
) -> None:
    """Export games as PGN with clocks, think times and lag.

    A game with a gap that no source fills is divided into parts, each with its own start position.
    """
    from recorder.archive.exporting import export_pgn

    if output == "-" and (append or split):
        raise click.UsageError("--append and --split need -o with a file or folder.")
    if append and force:
        raise click.UsageError(_APPEND_OR_FORCE)
    if analysis is not None and not pgn_words.engine:
        raise click.UsageError("--analysis selects what --engine writes: add --engine.")
    if split is None:
        format_of(None, output, ("pgn",))
    options = pgn_words.pgn(None if analysis == "none" else analysis or "")
    _write(
        lambda archive, chosen: export_pgn(archive, chosen, options, output, force=force, append=append, split=split),
        where, output, filters,
    )  # fmt: skip


@command.command(
    "bpgn",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder export bpgn -o matches.bpgn
  ics-recorder export bpgn --player Karpov --clock clk --append -o karpov.bpgn
""",
)
@games_options
@output_options
@click.option("--append", is_flag=True, help="Add only what the file does not contain yet.")
@click.option(
    "--clock",
    type=WordSet("clk", "lag"),
    default="clk,lag",
    show_default=True,
    help="Times to write: the mover's clock in braces, the tag Lag; or none.",
)
@click.option("--comments", is_flag=True, help="Write chat as comments.")
def _bpgn(
    where: str, output: str, force: bool, append: bool, clock: frozenset[str], comments: bool, **filters: Any
) -> None:
    """Export bughouse matches as BPGN, both boards in one movetext.

    The moves of both boards are in the order of play. A match is exported if one of its boards
    matches the filters. A board whose partner was not recorded is exported alone.
    """
    from exporters.bpgn import BpgnOptions
    from recorder.archive.exporting import export_bpgn

    if output == "-" and append:
        raise click.UsageError("--append needs -o with a file.")
    if append and force:
        raise click.UsageError(_APPEND_OR_FORCE)
    format_of(None, output, ("bpgn",))
    options = BpgnOptions(clock, comments)
    _write(
        lambda archive, chosen: export_bpgn(archive, chosen, options, output, force=force, append=append),
        where, output, filters,
    )  # fmt: skip


@command.command(
    "plies",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder export plies -o plies.csv
  Wrote 8 games, 303 plies to plies.csv.
  ics-recorder export plies --variant crazyhouse -o zh.parquet
  ics-recorder export plies --dataset -o set/
""",
)
@games_options
@output_options
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_PLY_FORMATS),
    show_default="as the file's suffix says, else csv",
    help="Output format; parquet requires the extra `parquet`.",
)
@csv_option
@click.option("--dataset", is_flag=True, help="Write a data set, a folder of Parquet files, to -o.")
def _plies(
    where: str, output: str, force: bool, format_name: str | None, csv_raw: bool, dataset: bool, **filters: Any
) -> None:
    """Export a table of plies, with times in milliseconds.

    docs/reference/tables.md lists the columns. --dataset writes a data set as `convert` does, with tables of plies,
    games and events, for --dataset of other commands, DuckDB, Dask and similar programs.
    """
    if dataset:
        if output == "-" or format_name not in (None, "parquet"):
            raise click.UsageError("--dataset writes Parquet and needs -o with a folder.")
        from recorder.archive.sharing.dataset_making import export_dataset

        _write(lambda archive, chosen: export_dataset(archive, chosen, output, force=force), where, output, filters)
        return
    from recorder.archive.exporting import export_plies

    chosen_format = format_of(format_name, output, _PLY_FORMATS)
    _write(
        lambda archive, chosen: export_plies(archive, chosen, chosen_format, output, force=force, raw=csv_raw),
        where, output, filters,
    )  # fmt: skip


@command.command(
    "games",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder export games -o games.csv
  Wrote 8 games, 303 plies to games.csv.
  $ ics-recorder export games --format jsonl -o games.jsonl
  Wrote 8 games, 303 plies to games.jsonl.
  ics-recorder export games --player Morphy -o morphy.parquet
""",
)
@games_options
@output_options
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_GAME_FORMATS),
    show_default="as the file's suffix says, else jsonl",
    help="jsonl: complete games, one per line; csv, parquet: one row per game. parquet requires the extra `parquet`.",
)
@csv_option
@click.option("--append", is_flag=True, help="Add only what the file does not contain yet.")
def _games(
    where: str, output: str, force: bool, format_name: str | None, append: bool, csv_raw: bool, **filters: Any
) -> None:
    """Export games as JSON Lines, or as a table with one row per game.

    A JSON object has a game's plies, taken-back lines, events and sources. docs/reference/formats.md lists the fields
    of JSON Lines, docs/reference/tables.md the columns of CSV and Parquet.
    """
    from recorder.archive.exporting import export_games

    chosen_format = format_of(format_name, output, _GAME_FORMATS)
    if append and chosen_format != "jsonl":
        raise click.UsageError("--append adds to JSON Lines only: use --force to replace a table.")
    if append and output == "-":
        raise click.UsageError("--append needs -o with a file.")
    if append and force:
        raise click.UsageError(_APPEND_OR_FORCE)
    _write(
        lambda archive, chosen: export_games(
            archive, chosen, chosen_format, output, force=force, append=append, raw=csv_raw
        ),
        where, output, filters,
    )  # fmt: skip


def _picture_options(command: _AnyCommand) -> _AnyCommand:
    for option in (
        output_options,
        archive_option,
        click.option("--flip", is_flag=True, help="Show the board from Black's side."),
        click.option(
            "--size", type=click.IntRange(120, 1200), metavar="PIXELS", default=400, show_default=True,
            help="Side of a board.",
        ),
        click.argument("key", type=NAME, shell_complete=complete_keys),
    ):  # fmt: skip
        command = option(command)
    return command


@command.command(
    "gif",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder export gif last -o game.gif
  ics-recorder export gif 6af8 --from 20 --to 40 --speed 2 -o mate.webp
  ics-recorder export gif 6af8 --format mp4 > game.mp4
""",
)
@click.option(
    "--speed", type=SpeedType(), default="10", show_default=True, help="Speed factor: 10, 1/2; 1 is as it was played."
)
@click.option(
    "--max-pause", "max_pause_ms", type=SecondsType(), default="2", show_default=True,
    help="Longest time that the picture shows a position.",
)  # fmt: skip
@click.option("--from", "first", type=WholeNumber(0), metavar="N", help="First half-move to show.")
@click.option("--to", "last", type=WholeNumber(0), metavar="N", help="Last half-move to show.")
@click.option(
    "--format", "format_name", type=click.Choice(_FILMS), show_default="as the file's suffix says, else gif",
    help="Output format; mp4 needs the program ffmpeg.",
)  # fmt: skip
@_picture_options
def _gif(
    key: str, where: str, output: str, force: bool, format_name: str | None, speed: Fraction, max_pause_ms: int,
    first: int | None, last: int | None, size: int, flip: bool,
) -> None:  # fmt: skip
    """Export a game as a moving picture: GIF, WebP or MP4.

    It has the board, names, both running clocks, the think time as a bar (the longest one of the game fills it), and
    marks the last move. A bughouse match has both boards side by side. Each position is shown for 0.2 seconds at
    least, and for a second where its time is unknown. Requires the extra `gif`.
    """
    kind = format_of(format_name, output, _FILMS)
    look = {"speed": float(speed), "max_pause_ms": max_pause_ms, "first": first, "last": last}
    _draw(where, key, output, force, kind, {**look, "size": size, "flip": flip})


@command.command(
    "png",
    cls=Command,
    epilog="""\b
Examples:
  ics-recorder export png last -o game.png
  ics-recorder export png 6af8 --ply 43 --size 800 -o mate.png
""",
)
@click.option("--ply", type=WholeNumber(0), metavar="N", show_default="the last", help="Half-move to show.")
@_picture_options
def _png(key: str, where: str, output: str, force: bool, ply: int | None, size: int, flip: bool) -> None:
    """Export a position of a game as PNG: after a half-move, or at the end.

    Requires the extra `gif`.
    """
    format_of(None, output, ("png",))
    _draw(where, key, output, force, "png", {"first": ply, "last": ply, "size": size, "flip": flip})


def _draw(where: str, key: str, output: str, force: bool, kind: str, look: dict[str, Any]) -> None:
    """``look`` has values of ``exporters.moving_picture.Look``."""
    from exporters.base import open_output, refuse_existing
    from recorder.archive.pages.reports import picture_of_game

    refuse_existing(output, force)
    with open_archive(where) as archive:
        data = picture_of_game(archive, archive.game(key), kind, **look)
        with open_output(output, force, protected(archive)) as out:
            out.write(data)
    target = "standard output" if output == "-" else output
    say(f"Wrote {kind.upper()}, {byte_size(len(data))}, to {target}.")


def _write(
    write: Callable[[ArchiveStore, GameFilter], ExportReport], where: str, output: str, filters: dict[str, Any]
) -> None:
    chosen = game_filter(**filters)
    with open_archive(where) as archive:
        chosen = named_games(archive, chosen)
        report = write(archive, chosen)
        say_written(report, output, count_excluded(archive, chosen))
