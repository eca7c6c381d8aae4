"""``ics-recorder clocks``: think times, clocks and lag of games, two rows a game."""

from __future__ import annotations

from typing import Any

import click

from recorder.cli.exporting import (
    chosen_games,
    format_of,
    left_out,
    output_options,
    protected,
    require_keys,
    say_left_out,
    say_written,
)
from recorder.cli.options import archive_option, filter_options, game_filter, open_archive
from recorder.cli.terminal import format_clock, plural, print_table, say

__all__ = ["command"]

_FORMATS = ("table", "csv", "jsonl")


@click.command(
    "clocks",
    epilog="""\b
Examples:
  ics-recorder clocks --player Morphy --last 20
  ics-recorder clocks --format csv -o clocks.csv
""",
)
@filter_options
@archive_option
@output_options
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    show_default="as the file's suffix says, else table",
    help="table is for reading; csv and jsonl have all columns, in milliseconds.",
)
def command(where: str, output: str, force: bool, format_name: str | None, **filters: Any) -> None:
    """Summarise think times, clocks and lag, per game and side.

    Total, mean, median and longest think with its move, time left at moves 10, 20, 30 and 40, mean, 95th percentile
    and greatest lag. Untimed games and games without printed times are left out and counted.
    """
    from exporters.clocks import ClockSummary
    from exporters.output import open_output
    from exporters.registry import make_exporter

    chosen = game_filter(**filters)
    format_name = format_of(format_name, output, _FORMATS)
    with (
        open_archive(where) as archive,
        chosen_games(archive, chosen, events=False, holdings=False, lines=False, thinking=False) as games,
    ):
        require_keys(archive, chosen)
        reasons = left_out(archive, chosen)
        if format_name != "table":
            with open_output(output, force, protected(archive)) as out:
                report = make_exporter("clocks", format_name).write(games, out)
            say_written(report, output, reasons)
            return
        if output != "-":
            raise click.UsageError("A table is for the terminal; write files with --format csv or jsonl.")
        summary = ClockSummary()
        dots = {"white": ".", "black": "..."}
        rows = [
            (
                side.key[:8],
                side.handle,
                side.opponent,
                side.moves,
                format_clock(side.total_ms),
                format_clock(side.mean_ms),
                format_clock(side.median_ms),
                f"{format_clock(side.longest_ms)} {side.longest_move_no}{dots[side.side]} {side.longest_san}",
                *map(format_clock, side[16:20]),
                side.lag_mean_ms,
                side.lag_p95_ms,
                side.lag_max_ms,
            )
            for side in summary.rows(games)
        ]
    names = ("Total", "Mean", "Median", "Longest", "Left at 10", "20", "30", "40", "Lag mean", "p95", "max")
    print_table(("Key", "Player", "Opponent", "Moves", *names), rows, right=("Moves", *names))
    say(f"{plural(summary.games, 'game')}, {plural(summary.plies, 'ply', 'plies')} with times.")
    say_left_out([*reasons.items(), *sorted(summary.left_out.items())])
