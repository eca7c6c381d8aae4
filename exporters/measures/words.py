"""The tables of measures in people's words and units: headings, clocks, per cent, lag in ms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recorder.times import format_clock

_MARKS = {"player": ("guest", "computer"), "opponent": ("opponent_guest", "opponent_computer")}
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_HEADINGS = {
    "hour": "Hour (UTC)", "weekday": "Weekday (UTC)", "san": "SAN", "eco": "ECO", "key": "Key", "move_no": "Move",
}  # fmt: skip
_COUNTS = (
    "games", "plies", "sides", "pairs", "thinks", "instant", "at_zero", "at_limit", "sealed_plies", "unsealed_plies",
    "wins", "draws", "losses", "lost_on_time", "scrambled", "windows", "overstepped", "sits",
    "inaccuracies", "mistakes", "blunders",
)  # fmt: skip
_LAGS = ("mean_ms", "p50_ms", "p95_ms", "longest_ms")
_FIRST_COUNTS = ("games", "sides", "plies")
_KEY_LENGTH = 8


def shown_names(columns: Sequence[str]) -> list[str]:
    """Marks and precision are part of other columns."""
    hidden = {"precision", "ply"}
    for who, marks in _MARKS.items():
        if f"{who}_id" in columns:
            hidden |= {f"{who}_id", *marks}
    return [name for name in columns if name not in hidden]


def group_columns(columns: Sequence[str]) -> list[str]:
    """All in front of the first count."""
    end = min((index for index, name in enumerate(columns) if name in _FIRST_COUNTS), default=0)
    return list(columns[:end])


def heading(name: str) -> str:
    return _HEADINGS.get(name, name.removesuffix("_ms").replace("_", " ").capitalize())


def mean_text(ms: float) -> str:
    """With tenths: ``~0:04.5``, where some times were printed in whole seconds."""
    whole, tenth = divmod(abs(round(ms / 100)), 10)
    return f"~{'-' if ms < 0 else ''}{format_clock(whole * 1000, False)}.{tenth}"


def figure_text(name: str, values: Mapping[str, Any], *, of_lag: bool = False) -> str | None:
    """A guest is marked (U) and a computer (C), as servers do; ``values`` is the whole row."""
    value = values[name]
    if value is None:
        return None
    if name.startswith("lag_") or (of_lag and name in _LAGS):
        return f"{value:,.0f} ms"
    if name.endswith("_ms"):
        # Times of arrival and lag, whose tables have no precision, are measured in milliseconds.
        if str(values.get("precision", "milliseconds")).endswith("milliseconds"):
            return format_clock(round(value), True)
        return mean_text(value) if name.startswith("mean_") else format_clock(round(value), False)
    if name.startswith("mean_"):
        return f"{value:,.1f}"
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
