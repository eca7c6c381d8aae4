"""The tables of ``clocks --by`` and ``clocks --table``: measures of the use of time, as text, CSV and JSON.

pandas is loaded only when a table is made.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from recorder.archive.exporting import named_games, protected, require_games
from recorder.cli.export_options import say_left_out, write_json
from recorder.cli.output import print_table, say
from recorder.text import clean, plural
from recorder.times import format_clock

if TYPE_CHECKING:
    import pandas as pd

    from storage import ArchiveStore, GameFilter

__all__ = ["DIMENSIONS", "TABLES", "Asked", "clock_table", "write_table"]


class _Table(NamedTuple):
    """A table's measure (``exporters.measures``), and what it is about.

    ``grouped``: whether it is told by dimensions. ``both_sides``: it needs all moves of a game, also with ``--player``.
    ``matches``: it is about both boards of bughouse matches. ``evaluated``: it counts what engines thought of moves.
    """

    measure: str
    about: str
    grouped: bool = True
    both_sides: bool = False
    matches: bool = False
    evaluated: bool = False


TABLES = {
    "usage": _Table("time_usage", "how long moves took: total, mean, median, 95th percentile, longest"),
    "profile": _Table("profile", "results, think times, lowest clock and lag; of each player unless --by"),
    "time-left": _Table("time_left", "the clock after moves 10, 20, 30 and 40"),
    "phases": _Table("time_left_by_phase", "the clock with which each phase of the game was entered"),
    "curve": _Table("clock_curve", "the clock after every move: median and quartiles over all games"),
    "budget": _Table("even_budget", "how far clocks were from an even spender's"),
    "longest": _Table("longest_thinks", "the longest thinks, --top of them", grouped=False),
    "instant": _Table("instant", "moves made at once, as premoves are, and the server's least charge"),
    "rhythm": _Table("autocorrelation", "whether a long think follows a long one"),
    "scramble": _Table("scrambles", "what was played with less than 30 seconds on both clocks", both_sides=True),
    "windows": _Table("scramble_windows", "each such scramble by itself", grouped=False, both_sides=True),
    "flags": _Table("flags", "how near to the flag sides came, and who lost on time"),
    "lead": _Table("clock_lead", "the score by the lead on the clock after moves 20 and 30"),
    "odds": _Table("time_odds", "games in which the sides had different time controls"),
    "hours": _Table("activity", "moves and results by weekday and hour"),
    "lag": _Table("lag", "the network's part: lag of a move, and what was given back; of each player unless --by"),
    "blunders": _Table(
        "blunders", "blunders and what moves lost, in time trouble and else; of each player unless --by", evaluated=True
    ),
    "loss-by-think": _Table("loss_by_think", "what moves lost, by the time that they took", evaluated=True),
    "loss-by-clock": _Table("loss_by_clock", "what moves lost, by the time that was left", evaluated=True),
    "residuals": _Table("residuals", "do the clocks add up, and why not"),
    "diagonal": _Table("diagonal_lead", "bughouse: who has more time than the player across", matches=True),
    "sitting": _Table("sitting", "bughouse: how long players waited for the other board", matches=True),
}
"""The words of ``--table``."""

DIMENSIONS = (
    "time-control", "phase", "variant", "category", "rated", "side", "player", "opponent", "guest", "computer",
    "sealed", "time-trouble", "rating-band", "game", "server", "precision", "move-no", "hour", "weekday",
    "eval-engine",
)  # fmt: skip
"""The words of ``--by``: dimensions of ``exporters.measures``, with hyphens."""

_MARKS = {"player": ("guest", "computer"), "opponent": ("opponent_guest", "opponent_computer")}
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEADINGS = {"hour": "Hour (UTC)", "weekday": "Weekday (UTC)", "san": "SAN", "key": "Key", "move_no": "Move"}
_COUNTS = (
    "games", "plies", "sides", "pairs", "instant", "at_zero", "at_limit", "sealed_plies", "unsealed_plies", "wins",
    "draws", "losses", "lost_on_time", "scrambled", "windows", "overstepped", "sits",
    "inaccuracies", "mistakes", "blunders",
)  # fmt: skip
_LAGS = ("mean_ms", "p50_ms", "p95_ms", "longest_ms")
_KEY_LENGTH = 8
_ENGINES = "engines"
_Reasons = dict[str, int]


class Asked(NamedTuple):
    """What a person asked for: the word of ``--table``, those of ``--by``, and how many of the longest thinks."""

    name: str
    by: tuple[str, ...]
    top: int | None


def clock_table(archive: ArchiveStore, chosen: GameFilter, asked: Asked) -> tuple[pd.DataFrame, _Reasons]:
    """A measure of the chosen games' moves, with ``--player`` of that player's moves; and which games were left out.

    Raises:
        StorageError: there is no game as asked for, or the archive cannot be read.
        UsageError: ``--by`` or ``--top`` do not go with the table.
    """
    table = TABLES[asked.name]
    if asked.by and not table.grouped:
        raise click.UsageError(f"--table {asked.name} is a list: it takes no --by.")
    if asked.top is not None and asked.name != "longest":
        raise click.UsageError(f"--top is for --table longest, not for {asked.name}.")
    if len({*asked.by}) < len(asked.by):
        raise click.UsageError("--by names the same twice.")
    from exporters import measures
    from exporters.measures.base import DimensionError

    chosen = named_games(archive, chosen)
    reasons = require_games(archive, chosen)
    plies = _matches(archive, chosen) if table.matches else _plies(archive, chosen)
    measure = getattr(measures, table.measure)
    if chosen.players and not table.both_sides:
        movers = {handle.lower() for handle in chosen.players}
        own = plies[plies["mover"].astype("string").str.lower().isin(movers)]
        if _pools(asked, measure):
            from exporters.tables.facts import choose_player

            players = [choose_player(own, handle) for handle in sorted(chosen.players)]
            reasons |= {reason: number for one in players for reason, number in one.excluded.items()}
            own = own[own["mover_id"].isin({identity for one in players for identity in one.identities})]
        plies = own
    if not table.grouped:
        return (measure(plies) if asked.top is None else measure(plies, asked.top)), reasons
    names = [word.replace("-", "_") for word in asked.by]
    try:
        found = measure(plies, names) if names else measure(plies)
        if table.evaluated:
            found.attrs[_ENGINES] = _engines(measure(plies, "eval_engine"))
        return found, reasons
    except DimensionError as error:
        raise click.UsageError(
            f"--by {' --by '.join(asked.by)} does not go with --table {asked.name}: {error}."
        ) from None


def _pools(asked: Asked, measure: Callable[..., Any]) -> bool:
    """Whether a row of the table may be about several people of one handle: not if it tells players or games apart."""
    by = asked.by or signature(measure).parameters["by"].default if TABLES[asked.name].grouped else ("game",)
    return {"player", "game"}.isdisjoint([by] if isinstance(by, str) else by)


def write_table(
    table: pd.DataFrame,
    asked: Asked,
    reasons: _Reasons,
    format_name: str,
    output: str,
    force: bool,
    archive: ArchiveStore,
    csv_raw: bool,
) -> None:
    """Write the table, and tell on stderr what it counts and what was left out.

    Raises:
        ExportError: the output cannot be written.
    """
    if format_name == "table":
        _print(table, of_lag=asked.name == "lag")
    elif format_name == "json":
        write_json(_as_json(table, asked, reasons), output, force, protected(archive))
    else:
        from exporters.output import open_output

        with open_output(output, force, protected(archive)) as out:
            if format_name == "csv":
                from exporters.csv import write_csv

                write_csv(table.columns, [_rows(table)], out, raw=csv_raw)
            else:
                from exporters.plies import write_json_lines

                write_json_lines(tuple(table.columns), [_rows(table)], out)
    _say_counts(table.attrs, reasons)


def _engines(by_engine: pd.DataFrame) -> list[dict[str, Any]]:
    """Whose evaluations count, and of how many plies: most first. An engine that is not told is None."""
    counts: dict[str | None, int] = {}
    names = by_engine["eval_engine"].astype(object).where(by_engine["eval_engine"].notna(), None)
    for name, count in zip(names, by_engine["plies"], strict=True):
        counts[name] = counts.get(name, 0) + int(count)
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0] or ""))
    return [{"engine": name, "plies": count} for name, count in ordered]


def _plies(archive: ArchiveStore, chosen: GameFilter) -> pd.DataFrame:
    from exporters.tables.plies import ply_frame

    return ply_frame(archive, chosen)


def _matches(archive: ArchiveStore, chosen: GameFilter) -> pd.DataFrame:
    """The plies of both boards of each match; the filter leaves it if it leaves one of them."""
    from exporters.tables.matches import boards_of, match_frame, read_matches

    matches = read_matches(archive, chosen)
    return match_frame(_plies(archive, boards_of(matches, chosen)), matches)


def _rows(table: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The rows as plain values; None for what is not known."""
    columns = (table[name].astype(object).where(table[name].notna(), None) for name in table.columns)
    return list(zip(*columns, strict=True))


def _as_json(table: pd.DataFrame, asked: Asked, reasons: _Reasons) -> dict[str, Any]:
    told = table.attrs
    return {
        "table": asked.name,
        "by": list(asked.by),
        "games": told["games"],
        "plies": told["plies"],
        "marked_plies": told["marked"],
        "left_out_plies": told["left_out"],
        "left_out_games": reasons,
        **({_ENGINES: told[_ENGINES]} if _ENGINES in told else {}),
        "rows": [dict(zip(table.columns, row, strict=True)) for row in _rows(table)],
    }


def _print(table: pd.DataFrame, *, of_lag: bool) -> None:
    """In people's units: clocks, per cent, lag in ms; a guest is marked (U) and a computer (C), as servers do."""
    hidden = {"precision", "ply"}
    for who, marks in _MARKS.items():
        if f"{who}_id" in table.columns:
            hidden |= {f"{who}_id", *marks}
    names = [name for name in table.columns if name not in hidden]
    rows = []
    for row in _rows(table):
        values = dict(zip(table.columns, row, strict=True))
        rows.append([_text(name, values, of_lag) for name in names])
    headings = [_HEADINGS.get(name, name.removesuffix("_ms").replace("_", " ").capitalize()) for name in names]
    numbers = [heading for name, heading in zip(names, headings, strict=True) if table[name].dtype.kind in "iuf"]
    print_table(headings, rows, right=numbers, narrow=headings[:2:-1])


def _text(name: str, values: dict[str, Any], of_lag: bool) -> str | None:
    value = values[name]
    if value is None:
        return None
    if name.startswith("lag_") or (of_lag and name in _LAGS):
        return f"{value:,} ms"
    if name.endswith("_ms"):
        # Times of arrival and lag, whose tables have no precision, are measured in milliseconds.
        return format_clock(value, str(values.get("precision", "milliseconds")).endswith("milliseconds"))
    if name == "share" or name == "score" or name.endswith("_share"):
        return f"{value:.1%}"
    if name == "correlation":
        return f"{value:.2f}"
    if name == "weekday":
        return _WEEKDAYS[value - 1]
    if name in ("key", "game"):
        return str(value)[:_KEY_LENGTH]
    if name in _MARKS and f"{name}_id" in values:
        guest, computer = _MARKS[name]
        return f"{value}{'(U)' if values[guest] else ''}{'(C)' if values[computer] else ''}"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if name in _COUNTS else str(value)


def _say_counts(told: dict[Any, Any], reasons: _Reasons) -> None:
    say(f"{plural(told['games'], 'game')}, {plural(told['plies'], 'ply', 'plies')} counted{_listed(told['marked'])}.")
    _say_engines(told.get(_ENGINES, []))
    if told["left_out"]:
        say(f"Plies left out: {_numbers(told['left_out'])}.")
    say_left_out(reasons.items())


def _say_engines(engines: list[dict[str, Any]]) -> None:
    """Whose evaluations were counted; several are not of one measure, and the reader must know."""
    names = [one["engine"] or "an engine that is not named" for one in engines]
    if len(engines) == 1:
        say(f"Evaluated by {clean(names[0])}.")
    elif engines:
        words = ", ".join(f"{clean(name)} ({one['plies']:,})" for name, one in zip(names, engines, strict=True))
        say(f"Evaluated by several engines, taken alike without --by eval-engine: {words}.")


def _listed(marked: dict[str, int]) -> str:
    return f", of which {_numbers(marked)}" if marked else ""


def _numbers(counts: dict[str, int]) -> str:
    return ", ".join(f"{number:,} {reason}" for reason, number in counts.items())
