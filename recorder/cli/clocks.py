"""``ics-recorder clocks``: think times, clocks and lag, of single games or of many."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from recorder.archive.exporting import protected
from recorder.archive.game_measures import CLOCK_TABLES, DIMENSIONS, measure_games
from recorder.archive.locate import open_games
from recorder.cli.export_options import csv_option, format_of, output_options, say_excluded
from recorder.cli.option_types import complete_names
from recorder.cli.options import (
    Command,
    Rare,
    dask_option,
    dataset_option,
    game_filter,
    games_options,
    list_option,
    wide_option,
)
from recorder.cli.output import long_work, print_table, say
from recorder.text import clean, plural

if TYPE_CHECKING:
    from exporters.measures.program import Measured

_FORMATS = ("table", "csv", "jsonl", "json")
_ABOUT = {name: table.about for name, table in CLOCK_TABLES.items()}


@click.command(
    "clocks",
    cls=Command,
    epilog="""\b
Examples:
  $ ics-recorder clocks --player Helmsman --by phase
  Phase      Games Plies    Total Share     Mean   Median      P95  Longest
  ...
  opening        1    13 0:41.951 61.3% 0:03.227 0:02.793 0:09.270 0:09.270
  middlegame     1     8 0:26.518 38.7% 0:03.315 0:02.298 0:09.046 0:09.046
  1 game, 21 plies counted, of which 21 derived clock.
  Plies excluded: 1 first move.
  $ ics-recorder clocks --player Morphy --last 20
  ics-recorder clocks --by time-control --by phase --table time-left
  ics-recorder clocks --player Morphy --by opening --table known-moves
  ics-recorder clocks --table longest --top 20 --since 2020-01-01
  ics-recorder clocks --player Morphy --table lag --by hour --json
  ics-recorder clocks --table profile --csv -o players.csv
""",
)
@games_options
@dataset_option
@dask_option
@wide_option
@output_options
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(DIMENSIONS),
    help="Group by this dimension, one row per value; repeatable.",
)
@click.option(
    "--table",
    "name",
    type=click.Choice(tuple(CLOCK_TABLES)),
    shell_complete=complete_names(_ABOUT),
    show_default="usage with --by, else two rows per game",
    help="Measure to print (see --list).",
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", show_default="10", help="Rows of --table longest.")
@click.option(
    "--sort", metavar="COLUMN", help="Sort by this column, as --format csv calls it; -COLUMN: the largest first."
)
@click.option(
    "--first-moves",
    cls=Rare,
    is_flag=True,
    help="Include each side's first move, which servers do not charge, in think times.",
)
@click.option(
    "--format",
    "format_name",
    type=click.Choice(_FORMATS),
    show_default="as the file's suffix says, else table",
    help="Output format; csv, jsonl and json have all columns, with times in milliseconds.",
)
@click.option("--csv", "shortcut", flag_value="csv", help="Same as --format csv.")
@csv_option
@click.option("--json", "shortcut", flag_value="json", help="Same as --format json.")
@list_option("tables", _ABOUT)
def command(
    where: str,
    dataset: str | None,
    dask: str | None,
    output: str,
    force: bool,
    by: tuple[str, ...],
    name: str | None,
    top: int | None,
    sort: str | None,
    first_moves: bool,
    format_name: str | None,
    shortcut: str | None,
    csv_raw: bool,
    **filters: Any,
) -> None:
    """Show how players used their time: think times, clocks and lag.

    KEY names a game: 6af8, last or last~2 (see `help keys`); without it, all games that match the filters are used.

    Without --by and --table, each game has two rows, one per side: total, mean, median and longest think time with its
    move, time left at moves 10, 20, 30 and 40, and mean, 95th percentile and maximum of lag. Untimed games and games
    without times are excluded and counted.

    With --by or --table, one measure is computed over all matching games (docs/reference/measures.md). With --player,
    only that player's moves count, except in scrambles. Guests of different connections, marked (U), never count as one
    player; computers are marked (C). Each table states what it counts, and what was excluded and why: also where
    nothing is left.
    """
    if shortcut is not None and format_name not in (None, shortcut):
        raise click.UsageError(f"--{shortcut} contradicts --format {format_name}.")
    chosen = game_filter(**filters)
    format_name = format_of(format_name or shortcut, output, _FORMATS)
    if format_name == "table" and output != "-":
        raise click.UsageError("--format table is for the terminal only; use csv, jsonl or json for files.")
    if name is None:
        name = "usage" if by else "longest" if top is not None else "games"
    if dask is not None and (dataset is None or name == "games"):
        raise click.UsageError("--dask computes a measure of a data set: add --dataset, and --by or --table.")
    if by and not CLOCK_TABLES[name].grouped:
        raise click.UsageError(f"--table {name} is a list: it takes no --by.")
    if top is not None and name != "longest":
        raise click.UsageError(f"--top is for --table longest, not for {name}.")
    if len({*by}) < len(by):
        raise click.UsageError("--by names a dimension twice.")
    from exporters.base import open_output, refuse_existing
    from exporters.measures.dimensions import DimensionError
    from exporters.table_files import write_csv, write_json_lines

    refuse_existing(output, force)
    with open_games(where, dataset, say) as archive:
        try:
            with long_work(steps=True) as progress:
                measured = measure_games(
                    archive, chosen, name, by, top=top, first_moves=first_moves, dask=dask, progress=progress
                )
        except DimensionError as error:
            raise click.UsageError(f"--by {' --by '.join(by)} does not go with --table {name}: {error}.") from None
        table, reasons = measured.table.sorted_by(sort) if sort else measured.table, measured.excluded
        table = _of_games(table) if name == "games" else table
        if format_name != "table":
            with open_output(output, force, protected(archive)) as out:
                if format_name == "json":
                    whole = table.records() if name == "games" else _as_json(table, name, by, reasons)
                    out.write(json.dumps(whole, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                elif format_name == "csv":
                    write_csv(table.columns, table.rows, out, raw=csv_raw)
                else:
                    write_json_lines(tuple(table.columns), table.rows, out)
        elif name == "games":
            _print_sides(table)
        else:
            _print_table(table, name)
        _say_counts(table.attrs, reasons)


_OF_GAMES = [
    "key",
    "server",
    "variant",
    "base_s",
    "increment_s",
    "complete",
    "side",
    "player",
    "opponent",
    "plies",
    "total_ms",
    "mean_ms",
    "median_ms",
    "longest_ms",
    "longest_move_no",
    "longest_san",
    "clock_at_10_ms",
    "clock_at_20_ms",
    "clock_at_30_ms",
    "clock_at_40_ms",
    "lag_plies",
    "lag_mean_ms",
    "lag_p95_ms",
    "lag_max_ms",
    "precision",
]
_CALLED = {"player": "handle", "plies": "moves", "lag_plies": "lag_moves"}


def _of_games(table: Measured) -> Measured:
    places = [table.columns.index(name) for name in _OF_GAMES]
    rows = [tuple(row[index] for index in places) for row in table.rows]
    return table._replace(
        columns=[_CALLED.get(name, name) for name in _OF_GAMES],
        kinds=[table.kinds[index] for index in places],
        rows=rows,
    )


def _print_sides(table: Measured) -> None:
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
        map(_row, table.records()),
        right=("Moves", *names),
        narrow=(*reversed(names[4:]), ("Opponent", 12), ("Player", 12), "Total"),
    )


def _row(side: dict[str, Any]) -> tuple[object, ...]:
    from exporters.measures.words import figure_text

    dots = "." if side["side"] == "white" else "..."
    clocks = (f"clock_at_{number}_ms" for number in (10, 20, 30, 40))
    return (
        side["key"][:8],
        side["handle"],
        side["opponent"],
        side["moves"],
        *(figure_text(name, side) for name in ("total_ms", "mean_ms", "median_ms")),
        f"{figure_text('longest_ms', side)} {side['longest_move_no']}{dots} {side['longest_san']}",
        *(figure_text(name, side) for name in clocks),
        *(None if side[name] is None else round(side[name]) for name in ("lag_mean_ms", "lag_p95_ms", "lag_max_ms")),
    )


def _as_json(table: Measured, name: str, by: tuple[str, ...], reasons: dict[str, int]) -> dict[str, Any]:
    attributes = table.attrs
    return {
        "table": name,
        "by": list(by),
        "games": attributes["games"],
        "plies": attributes["plies"],
        "marked_plies": attributes["marked"],
        "left_out_plies": attributes["excluded"],
        "left_out_games": reasons,
        **({"engines": attributes["engines"]} if "engines" in attributes else {}),
        "rows": table.records(),
    }


_LEAST_OF_LONGEST = ("Lag", "Server", "Side", "Variant", "Phase", "Clock before", "Opponent", "Time control")


def _print_table(table: Measured, name_of_table: str) -> None:
    from exporters.measures.words import figure_text, heading, shown_names

    names = shown_names(table.columns)
    rows = ([figure_text(name, of_row, of_lag=name_of_table == "lag") for name in names] for of_row in table.records())
    headings = [heading(name) for name in names]
    kinds = dict(zip(table.columns, table.kinds, strict=True))
    numbers = [word for name, word in zip(names, headings, strict=True) if kinds[name] not in ("VARCHAR", "BOOLEAN")]
    narrow = _LEAST_OF_LONGEST if name_of_table == "longest" else headings[:2:-1]
    print_table(headings, rows, right=numbers, narrow=narrow)


def _say_counts(attributes: dict[Any, Any], reasons: dict[str, int]) -> None:
    games, plies = plural(attributes["games"], "game"), plural(attributes["plies"], "ply", "plies")
    say(f"{games}, {plies} counted{_listed(attributes['marked'])}.")
    _say_engines(attributes.get("engines", []))
    if attributes["excluded"]:
        say(f"Plies excluded: {_numbers(attributes['excluded'])}.")
        if not attributes["plies"] and "no evaluation" in attributes["excluded"]:
            say("`replay engine` has an engine evaluate games.")
    say_excluded(reasons.items())


def _say_engines(engines: list[dict[str, Any]]) -> None:
    """Evaluations of several engines are not of one measure, and the reader must know."""
    names = [engine["engine"] or "an engine that is not named" for engine in engines]
    if len(engines) == 1:
        say(f"Evaluated by {clean(names[0])}.")
    elif engines:
        words = ", ".join(f"{clean(name)} ({engine['plies']:,})" for name, engine in zip(names, engines, strict=True))
        say(f"Evaluated by several engines, taken alike without --by eval-engine: {words}.")


def _listed(marked: dict[str, int]) -> str:
    return f", of which {_numbers(marked)}" if marked else ""


def _numbers(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items())
