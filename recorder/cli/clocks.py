"""``ics-recorder clocks``: think times, clocks and lag, of single games or of many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from recorder.archive.exporting import chosen_games, named_games, protected, require_games
from recorder.archive.locate import open_archive
from recorder.cli.clock_tables import DIMENSIONS, TABLES, Asked, clock_table, write_table
from recorder.cli.export_options import csv_option, format_of, output_options, say_left_out, say_written, write_json
from recorder.cli.options import archive_option, filter_options, game_filter, unique_option, wide_option
from recorder.cli.output import print_table, say
from recorder.text import plural
from recorder.times import format_clock

if TYPE_CHECKING:
    from exporters.clocks import SideClocks
    from storage import GameFilter

__all__ = ["command"]

_FORMATS = ("table", "csv", "jsonl", "json")


def _print_names(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not ctx.resilient_parsing:
        for name, table in TABLES.items():
            click.echo(f"{name}\t{table.about}")
        ctx.exit()


@click.command(
    "clocks",
    epilog="""\b
Examples:
  ics-recorder clocks --player Morphy --last 20
  ics-recorder clocks --player Morphy --by time-control
  ics-recorder clocks --by time-control --by phase --table time-left
  ics-recorder clocks --table longest --top 20 --since 2020-01-01
  ics-recorder clocks --player Morphy --table lag --by hour --json
  ics-recorder clocks --table profile --csv -o players.csv
  ics-recorder clocks --list
""",
)
@filter_options
@unique_option
@archive_option
@wide_option
@output_options
@click.option("--by", multiple=True, type=click.Choice(DIMENSIONS), help="A row for each; may be given several times.")
@click.option(
    "--table",
    "name",
    type=click.Choice(tuple(TABLES)),
    show_default="usage with --by, else two rows a game",
    help="What to tell.",
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", show_default="10", help="With --table longest.")
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    show_default="as the file's suffix says, else table",
    help="table is for reading; csv, jsonl and json have all columns, in milliseconds.",
)
@click.option("--csv", "shortcut", flag_value="csv", help="The same as --format csv.")
@csv_option
@click.option("--json", "shortcut", flag_value="json", help="The same as --format json.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_print_names,
    help="Print what tables there are.",
)
def command(
    where: str,
    output: str,
    force: bool,
    by: tuple[str, ...],
    name: str | None,
    top: int | None,
    format_name: str | None,
    shortcut: str | None,
    csv_raw: bool,
    **filters: Any,
) -> None:
    """Tell how time was used: think times, clocks and lag.

    KEY is the beginning of a game's key, or last, or last~2 for the third newest; without KEY all games that the
    options choose.

    Without --by and --table two rows a game, one a side: total, mean, median and longest think with its move, time left
    at moves 10, 20, 30 and 40, mean, 95th percentile and greatest lag. Untimed games and games without printed times
    are left out and counted.

    With --by or --table one of the measures of docs/measures.md over all chosen games. With --player they are about
    that player's moves, else about everybody's; a scramble is about both sides' moves. A guest is marked (U) and is
    somebody else in every connection, a computer is marked (C). Every table tells how many games and plies it counts,
    and what was left out and why. Where no game is as asked for, there is no table, as there is no picture and no
    report: exit status 4.
    """
    if shortcut is not None and format_name not in (None, shortcut):
        raise click.UsageError(f"--{shortcut} contradicts --format {format_name}.")
    chosen = game_filter(**filters)
    format_name = format_of(format_name or shortcut, output, _FORMATS)
    if format_name == "table" and output != "-":
        raise click.UsageError("A table is for the terminal; write files with --format csv, jsonl or json.")
    if name is None and (by or top is not None):
        name = "usage" if by else "longest"
    if name is None:
        _tell_games(where, chosen, format_name, output, force, csv_raw)
        return
    asked = Asked(name, by, top)
    with open_archive(where) as archive:
        table, reasons = clock_table(archive, chosen, asked)
        write_table(table, asked, reasons, format_name, output, force, archive, csv_raw)


def _tell_games(where: str, chosen: GameFilter, format_name: str, output: str, force: bool, csv_raw: bool) -> None:
    """Two rows a game."""
    from exporters.clocks import ClockSummary
    from exporters.output import open_output
    from exporters.registry import make_exporter

    with open_archive(where) as archive:
        named = named_games(archive, chosen)
        reasons = require_games(archive, named)
        keep = protected(archive)
        with chosen_games(archive, named, events=False, holdings=False, lines=False, thinking=False) as games:
            if format_name in ("csv", "jsonl"):
                with open_output(output, force, keep) as out:
                    report = make_exporter("clocks", format_name, raw=csv_raw).write(games, out)
                say_written(report, output, reasons)
                return
            summary = ClockSummary()
            sides = list(summary.rows(games))
    if format_name == "json":
        write_json([side._asdict() for side in sides], output, force, keep)
    else:
        _print(sides)
    say(f"{plural(summary.games, 'game')}, {plural(summary.plies, 'ply', 'plies')} with times.")
    say_left_out([*reasons.items(), *sorted(summary.left_out.items())])


def _print(sides: list[SideClocks]) -> None:
    rows = [_row(side) for side in sides]
    names = (
        "Total",
        "Mean",
        "Median",
        "Longest",
        "Left at 10",
        "At 20",
        "At 30",
        "At 40",
        "Lag mean",
        "Lag p95",
        "Lag max",
    )
    print_table(
        ("Key", "Player", "Opponent", "Moves", *names),
        rows,
        right=("Moves", *names),
        narrow=(*reversed(names[4:]), ("Opponent", 12), ("Player", 12)),
    )


def _row(side: SideClocks) -> tuple[object, ...]:
    exact = side.precision != "seconds"
    dots = "." if side.side == "white" else "..."
    return (
        side.key[:8],
        side.handle,
        side.opponent,
        side.moves,
        format_clock(side.total_ms, exact),
        format_clock(side.mean_ms, exact),
        format_clock(side.median_ms, exact),
        f"{format_clock(side.longest_ms, exact)} {side.longest_move_no}{dots} {side.longest_san}",
        *(format_clock(clock_ms, exact) for clock_ms in side[16:20]),
        side.lag_mean_ms,
        side.lag_p95_ms,
        side.lag_max_ms,
    )
