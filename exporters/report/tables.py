"""Tables of a page: figures as words, no finer than they were printed, and what each of them excludes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from exporters.measures.words import figure_text
from exporters.report.page import plain_name
from exporters.tables.facts import reason_words
from recorder.model import variant_beside
from recorder.text import plural

if TYPE_CHECKING:
    from exporters.measures.program import Measured

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_RESULTS = {"1-0": "1–0", "0-1": "0–1", "1/2-1/2": "½–½"}
NOTHING = "–"  # in a cell: not known, or there is none

_FEW_COLUMNS = 6
_RATING_BAND: Final = 200
_THOUSANDTHS: Final = re.compile(r"[0-9]\.[0-9]{3}$")

_Row = Mapping[str, Any]


class LinkedText(NamedTuple):
    """A cell that leads to another page of the site."""

    text: str
    href: str


CellText = str | LinkedText


def linked_text(text: str, href: str | None) -> CellText:
    """A text that leads to a page; ``0`` and a dash lead nowhere."""
    return text if href is None or text in ("0", NOTHING) else LinkedText(text, href)


class Table(NamedTuple):
    """A table: its first column heads the rows, ``words`` are columns aligned left, ``note`` is what it excludes."""

    caption: str
    columns: Sequence[CellText]
    rows: Sequence[Sequence[CellText]]
    words: frozenset[int] = frozenset({0})
    note: str = ""


class Section(NamedTuple):
    """A part of a page: a heading, its name in addresses, tables, and a sentence on how to read them."""

    heading: str
    name: str
    tables: Sequence[Table]
    hint: str = ""

    @property
    def wide(self) -> bool:
        return any(len(table.columns) > _FEW_COLUMNS and table.rows for table in self.tables)


def measure_table(
    caption: str,
    table: Measured,
    columns: Mapping[str, str | Callable[[_Row], CellText]],
    words: int = 1,
    *,
    note: str | None = None,
    of_lag: bool = False,
) -> Table | None:
    """A measure's table; ``columns`` has by heading the name of a column (``cell_text``), or what makes its cells."""
    if not table.rows and (note is not None or not table.attrs["excluded"]):
        return None
    rows = [
        [cell_text(cell, row, of_lag=of_lag) if isinstance(cell, str) else cell(row) for cell in columns.values()]
        for row in table.records()
    ]
    counts = what_counts(table.attrs) if note is None else note
    return Table(caption, [*columns], rows, frozenset(range(words)), counts)


def what_counts(attrs: Mapping[Any, Any]) -> str:
    """``12 games, 480 plies count; excluded: 3 plies inferred; 20 of whole seconds only.`` of a table's ``attrs``."""
    parts = [f"{plural(attrs['games'], 'game')}, {plural(attrs['plies'], 'ply', 'plies')} count"]
    if not attrs["plies"] and attrs["excluded"]:
        parts = []
    left = [f"{plural(plies, 'ply', 'plies')} ({reason})" for reason, plies in attrs["excluded"].items()]
    parts.append(f"excluded: {', '.join(left)}" if left else "nothing excluded")
    parts += [f"{plies:,} of them {_MARKED.get(name, name)}" for name, plies in attrs["marked"].items()]
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


_MARKED = {
    "seconds only": "in whole seconds only",
    "incomplete": "of games that are not complete",
    "derived clock": "with a clock that was computed from elapsed times",
    "derived time": "with an elapsed time that was computed from clocks",
}


def known(value: Any) -> bool:
    return value is not None and value == value and str(value) != "<NA>"


def cell_text(name: str, row: _Row, *, of_lag: bool = False) -> str:
    """A value of a measure's table in people's words and units: times that were printed in thousandths in tenths."""
    value = row[name]
    if value is None:
        return NOTHING
    if name.endswith("time_control"):
        return control_words(value)
    if name.endswith("_band_ms"):
        return f"{name.removesuffix('_band_ms')} from {figure_text(name, {**row, 'precision': 'seconds'})}"
    if name == "rating_band":
        return f"{value} to {value + _RATING_BAND - 1}"
    text = figure_text(name, row, of_lag=of_lag) or NOTHING
    if name.endswith("_ms") and _THOUSANDTHS.search(text):
        ms = round(value)
        tenths_ms = (abs(ms) + 50) // 100 * (100 if ms > 0 else -100)
        return str(figure_text(name, {**row, name: tenths_ms, "precision": "milliseconds"}, of_lag=of_lag))[:-2]
    return plain_name(text)


def percent_text(share: float) -> str:
    """Whole percent, half up; a share above 0 is never shown as 0."""
    return "under 1 %" if 0 < share < 0.005 else f"{int(share * 100 + 0.5)} %"


def control_words(control: Any) -> str:
    """``5 min + 3 s`` of ``300+3``."""
    if not known(control):
        return "unknown"
    text = str(control)
    base, plus, increment = text.partition("+")
    if text == "-":
        return "untimed"
    if not plus or not base.isdigit():
        return text
    seconds = int(base)
    return f"{seconds // 60} min + {increment} s" if seconds % 60 == 0 else f"{seconds} s + {increment} s"


def result_text(result: str, ending: str) -> str:
    """``1–0``; where there is none how the recording ended."""
    return _RESULTS.get(result) or ending.replace("-", " ")


def day_text(started_ms: Any, time_basis: str, day: Any) -> str:
    """``2020-01-31 18:04`` where the time of the day is known, else the day, else a dash."""
    if known(started_ms) and time_basis in ("utc", "zone-unknown"):
        return f"{_EPOCH + timedelta(milliseconds=int(started_ms)):%Y-%m-%d %H:%M}"
    return str(day) if known(day) else NOTHING


def lead_text(low_s: Any, high_s: Any) -> str:
    """``20 to 30 s ahead`` of the ends of a band of leads; an unknown end has none."""
    if not known(low_s):
        return f"{-int(high_s)} s behind or more"
    if not known(high_s):
        return f"{int(low_s)} s ahead or more"
    low, high = int(low_s), int(high_s)
    if low >= 0:
        return f"{low} to {high} s ahead"
    return f"{-high} to {-low} s behind" if high <= 0 else f"{-low} s behind to {high} s ahead"


def seconds_text(low_s: Any, high_s: Any) -> str:
    """``10 to 30 s`` of the ends of a band of times; an unknown end has none."""
    if not known(low_s):
        return f"below {int(high_s)} s"
    return f"{int(low_s)} to {int(high_s)} s" if known(high_s) else f"{int(low_s)} s or more"


def text_of(value: Any) -> str:
    return str(value) if known(value) else ""


def period(days: tuple[str, str] | None) -> str:
    """``2020-01-31 to 2020-02-03`` of the first and the last day; nothing where no day is known."""
    return "" if days is None else days[0] if days[0] == days[1] else f"{days[0]} to {days[1]}"


def game_kind(row: _Row) -> str:
    """``rated blitz crazyhouse`` of a row of games or sides."""
    rated = ("rated" if row["rated"] else "unrated") if known(row["rated"]) else ""
    category = text_of(row["category"])
    words = [rated, category, variant_beside(category, text_of(row["variant"])) or ""]
    if row["kind"] != "played":
        words.append(str(row["kind"]))
    return " ".join(part for part in words if part) or NOTHING


def game_cells(row: _Row) -> dict[str, str]:
    return {
        "key": str(row["key"])[:8],
        "day": day_text(row["started_ms"], str(row["time_basis"]), row["day"]),
        "kind": game_kind(row),
        "control": control_words(row["time_control"]),
        "reason": reason_words(text_of(row["reason"]) or None),
        "plies": f"{int(row['plies']):,}" + ("" if row["complete"] else " *"),
    }


def rating_text(low: int | None, high: int | None) -> str:
    """``1483 to 1620`` of the lowest and the highest rating; a dash where none is known."""
    return NOTHING if low is None else str(low) if low == high else f"{low} to {high}"


def marks_of(row: _Row, who: str) -> list[str]:
    return [mark for mark in ("computer", "guest") if known(row[f"{who}_{mark}"]) and row[f"{who}_{mark}"]]


def score_cells(games: int, wins: int, draws: int, losses: int) -> list[str]:
    decided = wins + draws + losses
    score = percent_text((wins + draws / 2) / decided) if decided else NOTHING
    return [f"{games:,}", f"{wins:,}", f"{draws:,}", f"{losses:,}", score]
