"""The page of insights: what its address asks for, the table, the picture, and the same in Python."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from inspect import signature
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode

from exporters.measures.dimensions import DimensionError
from exporters.report.page import plain_name
from exporters.report.svg import Bar, scaled_bars
from exporters.report.tables import (
    NOTHING,
    CellText,
    LinkedText,
    Table,
    cell_text,
    lead_text,
    linked_text,
    seconds_text,
)
from recorder.archive.game_measures import DIMENSIONS, EXTRA_DIMENSIONS, MEASURES, GamesMeasure, measure_games
from recorder.errors import ExportError
from recorder.text import plural
from recorder.web.links import WebSite
from recorder.web.listing import Group, ListState, archive_filters, read_list
from storage import ArchiveStore

PRESETS: Final = (
    ("Think time by phase", "measure=usage&by=phase"),
    ("Think time by opponent's rating and phase", "measure=usage&by=rating-band&then=phase"),
    ("Clock left at moves 10 to 40, by time control", "measure=time-left&by=time-control"),
    ("Score by lead on the clock", "measure=lead&by=time-control"),
    ("Results by opponent", "measure=profile&by=opponent"),
    ("Think time by event", "measure=usage&by=event"),
    ("Lag by hour of the day", "measure=lag&by=hour"),
    ("Moves made at once, by clock left", "measure=instant&by=clock-band"),
    ("Blunders in time trouble", "measure=blunders&by=time-control"),
)
_OWN: Final = ("measure", "by", "then", "first", "figure", "versus", "sort")
_MOST_ROWS: Final = 500
_MOST_BARS: Final = 30
_FIRST_FIGURES: Final = ("mean_ms", "median_ms", "share", "score", "correlation", "lost_share", "blunder_share")
_NO_FIGURES: Final = ("games", "plies", "sides", "pairs")


@dataclass(frozen=True)
class InsightState:
    """What an address asks for. ``figure``: the column of the picture; ``first``: first moves are thinks, too."""

    measure: str | None
    by: tuple[str, ...]
    figure: str | None
    listed: ListState
    versus: str | None
    sort: str | None = None
    first: bool = False

    def query(self) -> str:
        values = (
            self.measure,
            *(*self.by, None, None)[:2],
            "yes" if self.first else None,
            self.figure,
            self.versus,
            self.sort,
        )
        own = urlencode([(name, value) for name, value in zip(_OWN, values, strict=True) if value])
        return "&".join(filter(None, (own, self.listed.query())))

    def players(self) -> list[tuple[str, ListState]]:
        """The sides of the comparison: a name, and the games; without a player one side without a name."""
        sides = [(self.listed.values.get("player", ""), self.listed)]
        if self.versus is not None:
            sides.append((self.versus, read_list({**self.listed.values, "player": self.versus}.items())))
        return sides


def read_insight(pairs: Sequence[tuple[str, str]]) -> InsightState:
    """Parse an address's query; the sentence of an ExportError names the field."""
    listed = read_list((name, value) for name, value in pairs if name not in ("sort", "after", "before", "group"))
    texts = {name: value.strip() for name, value in pairs if name in _OWN and value.strip()}
    measure, versus = texts.get("measure"), texts.get("versus")
    if measure is not None and measure not in MEASURES:
        raise ExportError(f"Measure: {measure[:40]!r} is none of {', '.join(MEASURES)}.")
    by = tuple(texts[name] for name in ("by", "then") if name in texts)
    for word in by:
        if word not in DIMENSIONS:
            raise ExportError(f"Group by: {word[:40]!r} is none of {', '.join(DIMENSIONS)}.")
    if len(set(by)) < len(by):
        raise ExportError("Group by: both dimensions are the same.")
    if versus is not None and "player" not in listed.values:
        raise ExportError("Compare with: choose the first player in the field Player.")
    first = texts.get("first", "no")
    if first not in ("yes", "no"):
        raise ExportError(f"First moves: {first[:40]!r} is none of yes, no.")
    return InsightState(measure, by, texts.get("figure"), listed, versus, texts.get("sort"), first == "yes")


def python_code(state: InsightState, listed: ListState, insight: GamesMeasure, path: str) -> str:
    """A program that computes the same table; a comment if it has a filter that ``recorder.Archive`` does not have."""
    assert state.measure is not None
    values = listed.values
    if "next" in values:
        return "# recorder.Archive has no filter for: Move played there. Remove it to see the program."
    words = [f"{name}={value!r}" for name, value in archive_filters(values).items()]
    extra = [word for word in state.by if word in EXTRA_DIMENSIONS]
    asked = ", ".join([*words, *([f"extra={extra!r}"] if extra else [])])
    lines = ["import recorder", "", f"with recorder.Archive({path!r}, read_only=True) as archive:"]
    lines.append(f"    plies = archive.plies({asked})")
    if insight.identities is not None:
        lines.append(f'plies = plies[plies["mover_id"].isin({insight.identities!r})]')
    elif insight.handles:
        handles = sorted(handle.lower() for handle in insight.handles)
        lines.append(f'plies = plies[plies["mover"].str.lower().isin({handles!r})]')
    from exporters.measures import definitions

    measure = MEASURES[state.measure].measure
    options = [f"by={[word.replace('-', '_') for word in state.by]!r}"] if state.by else []
    if state.first and "first_moves" in signature(getattr(definitions, measure)).parameters:
        options.append("first_moves=True")
    lines.append(f"table = plies.ics.{measure}({', '.join(options)})")
    return "\n".join([*lines, "print(table)"])


class _Side(NamedTuple):
    name: str
    listed: ListState
    insight: GamesMeasure
    rows: dict[tuple[Any, ...], dict[str, Any]]


def shown_insight(
    state: InsightState,
    computed: Sequence[tuple[str, ListState, GamesMeasure]],
    site: WebSite,
) -> dict[str, Any]:
    from exporters.measures.words import group_columns, heading, shown_names

    table = computed[0][2].table
    if state.sort is not None:
        table = table.sorted_by(state.sort)
    columns = table.columns
    groups, names = group_columns(columns), shown_names(columns)
    sides = []
    for name, listed, insight in computed:
        rows = insight.table.records()
        sides.append(_Side(name, listed, insight, {tuple(row[name] for name in groups): row for row in rows}))
    first = (tuple(row[name] for name in groups) for row in table.records())
    keys = list(dict.fromkeys([*first, *(key for side in sides for key in side.rows)]))
    numbers = {name for name, kind in zip(columns, table.kinds, strict=True) if kind not in ("VARCHAR", "BOOLEAN")}
    figures = [name for name in names if name not in (*groups, *_NO_FIGURES) and name in numbers]
    figure = next((name for name in (state.figure, *_FIRST_FIGURES) if name in figures), figures[0])
    links = _Links(state, groups, site)
    of_lag = state.measure == "lag"
    marked = [name for name in names if name in groups]
    compared = len(sides) > 1
    headings: list[CellText] = [
        *([] if marked else ["Group"]),
        *(LinkedText(heading(name), _sorting(state, name, site)) for name in marked),
        *(["Player"] if compared else []),
        *(LinkedText(heading(name), _sorting(state, name, site)) for name in names if name not in groups),
        "Plies excluded",
    ]
    words = max(len(marked), 1) + compared
    rows_shown = [
        _row(side, side.rows[key], marked, names, links, of_lag=of_lag, compared=compared)
        for key in keys[:_MOST_ROWS]
        for side in sides
        if key in side.rows
    ]
    return {
        "table": Table("Table", headings, rows_shown, frozenset((*range(words), len(headings) - 1))),
        "more_rows": max(len(keys) - _MOST_ROWS, 0),
        "figures": [(name, heading(name)) for name in figures],
        "figure": figure,
        "figure_words": heading(figure),
        "sorts": [
            (words, None if state.sort == sort else site.insights(replace(state, sort=sort).query()))
            for words, sort in (("value", f"-{figure}"), *((("name", marked[0]),) if marked else ()))
        ],
        "bars": _bars(sides, keys[:_MOST_BARS], marked, figure, links, of_lag=of_lag),
        "more_bars": max(len(keys) - _MOST_BARS, 0),
        "names": [plain_name(side.name) for side in sides] if compared else [],
        "counts": [_counted(side) for side in sides],
    }


def _sorting(state: InsightState, name: str, site: WebSite) -> str:
    """The address of the same table, sorted by a column: the largest first, and at the next click the other way."""
    sort = name if state.sort == f"-{name}" else f"-{name}"
    return site.insights(replace(state, sort=sort).query())


def _counted(side: _Side) -> str:
    attributes = side.insight.table.attrs
    name = f"{plain_name(side.name)}: " if side.name else ""
    marked = ", ".join(f"{number:,} {words}" for words, number in attributes["marked"].items())
    excluded = ", ".join(f"{number:,} {words}" for words, number in attributes["excluded"].items())
    games = ", ".join(f"{number:,} {words}" for words, number in side.insight.excluded.items())
    counted = f"{plural(attributes['games'], 'game')} and {plural(attributes['plies'], 'ply', 'plies')} counted"
    return (
        f"{name}{counted}{f', of which {marked}' if marked else ''}. "
        f"Plies excluded: {excluded or 'none'}. Games excluded: {games or 'none'}."
    )


def _row(
    side: _Side,
    row: Mapping[str, Any],
    marked: Sequence[str],
    names: Sequence[str],
    links: _Links,
    *,
    of_lag: bool,
    compared: bool,
) -> list[CellText]:
    counted = "games" if "games" in names else "sides"
    cells: list[CellText] = [cell_text(name, row) for name in marked] or ["all"]
    if compared:
        cells.append(plain_name(side.name))
    for name in names:
        if name not in marked:
            href = links.of(side.listed, row) if name == counted else None
            cells.append(linked_text(cell_text(name, row, of_lag=of_lag), href))
    table = side.insight.table
    excluded = table.omitted.get(tuple(row.get(name) for name in table.keys), {})
    return [*cells, ", ".join(f"{number:,} {words}" for words, number in excluded.items()) or "none"]


class _Links(NamedTuple):
    state: InsightState
    groups: Sequence[str]
    site: WebSite

    def of(self, listed: ListState, row: Mapping[str, Any]) -> str | None:
        """The address of the games of a row; None: it is too long."""
        if row.get("game") is not None:
            return self.site.game(row["game"])
        assert self.state.measure is not None
        group = Group(self.state.measure, self.state.by, self.state.first, {name: row[name] for name in self.groups})
        text = group.text()
        return None if text is None else self.site.listing(listed.query(group=text))


def with_group(archive: ArchiveStore, listed: ListState, group: Group) -> ListState:
    """The list with the games behind a row of insights, and its name; kept until the archive changes."""
    state: list[int] = []
    for suffix in ("", "-wal", "-positions"):
        with suppress(OSError):
            stat = Path(f"{archive.path}{suffix}").stat()
            state += [stat.st_size, stat.st_mtime_ns]
    asked = (str(archive.path), *state, listed.query(sort=None))
    if (kept := _kept.get(asked)) is None:
        if len(_kept) >= _MOST_KEPT:
            _kept.clear()
        kept = _kept[asked] = _games_of_group(archive, listed, group)
    keys, words = kept
    return replace(listed, where=replace(listed.where, reached=keys), group_words=words)


_kept: Final[dict[tuple[object, ...], tuple[frozenset[str], str]]] = {}
_MOST_KEPT: Final = 8


def _games_of_group(archive: ArchiveStore, listed: ListState, group: Group) -> tuple[frozenset[str], str]:
    from exporters.measures.words import group_columns, shown_names

    keys, words = [], group.measure
    if archive.count(listed.where):
        try:
            measured = measure_games(archive, listed.where, group.measure, group.by, first_moves=group.first, keys=True)
        except DimensionError as error:
            raise ExportError(f"Insights: {error}.") from None
        groups = group_columns(measured.table.columns)
        marked = [name for name in shown_names(measured.table.columns) if name in groups]
        for row in measured.table.records():
            if {name: row[name] for name in groups} == group.row:
                keys, words = row["keys"], f"{group.measure}: {_label(row, marked)}"
                break
    return frozenset(keys), words


def _bars(
    sides: Sequence[_Side],
    keys: Iterable[tuple[Any, ...]],
    marked: Sequence[str],
    figure: str,
    links: _Links,
    *,
    of_lag: bool,
) -> list[dict[str, Any]]:
    rows = []
    for key in keys:
        present = [(side, side.rows[key]) for side in sides if key in side.rows]
        values = []
        for _, row in present:
            n = next((f" (n = {row[name]:,})" for name in ("plies", "pairs", "sides") if row.get(name) is not None), "")
            value = None if row[figure] is None else float(row[figure])
            values.append((value, f"{cell_text(figure, row, of_lag=of_lag)}{n}"))
        hrefs = [links.of(side.listed, row) for side, row in present]
        rows.append(Bar(_label(present[0][1], marked) or "all", values, hrefs))
    return scaled_bars(rows)


def _named_group(row: Mapping[str, Any], name: str) -> str:
    """As ``cell_text``, in words where that says too little: ``no phase``, ``time trouble: yes``."""
    text, words = cell_text(name, row), name.removesuffix("_ms").replace("_", " ")
    return f"no {words}" if text == NOTHING else f"{words}: {text}" if text in ("yes", "no") else text


def _label(row: Mapping[str, Any], marked: Sequence[str]) -> str:
    """A group in words: ``20 to 30 s ahead at move 30``."""
    ends = {name.removesuffix("_from_s") for name in marked if name.endswith("_from_s")}
    words = [
        lead_text(row[f"{name}_from_s"], row[f"{name}_to_s"])
        if name == "lead"
        else f"{name} {seconds_text(row[f'{name}_from_s'], row[f'{name}_to_s'])}"
        for name in sorted(ends)
    ]
    others = [name for name in marked if name.removesuffix("_from_s").removesuffix("_to_s") not in ends]
    texts = [_named_group(row, name) for name in others if name != "move_no"]
    at_move = f" at move {row['move_no']}" if "move_no" in others else ""
    return (" · ".join([*texts, *words]) + at_move).strip()
