"""What tables can be grouped by: columns of the ply table, and what follows from them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from recorder.times import LOW_LEAST_MS, LOW_MOST_MS, LOW_OF_BASE_MS

_HOUR_MS = 3_600_000
_DAY_MS = 24 * _HOUR_MS
_THURSDAY = 3  # 1970-01-01, counted from Monday
_LAG_EDGES_MS = (0, 50, 100, 200, 500, 1000, 2000, 5000)
_CLOCK_EDGES_MS = (0, 10_000, 30_000, 60_000, 120_000, 300_000, 600_000)
_NO_DIMENSIONS = ("at", "mover_score")  # no whole numbers or words

TIME_TROUBLE: Final = (
    f"(clock_before_ms < {LOW_LEAST_MS} OR (clock_before_ms < {LOW_MOST_MS}"
    f" AND coalesce(base_s::BIGINT * {LOW_OF_BASE_MS}, 0) > clock_before_ms))"
)
"""Whether the mover's clock was low before the move; null where it is not known."""


class DimensionError(ValueError):
    """``by`` names something that no table, or not this one, can be grouped by."""


@dataclass(frozen=True)
class Dimension:
    """``names``: shown with an identity, the handle first; ``unknown``: why plies without a value are excluded."""

    keys: Mapping[str, str]
    names: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    unknown: str | None = None

    @property
    def shown(self) -> list[str]:
        return [*list(self.names)[:1], *self.keys, *list(self.names)[1:]]


def _someone(name: str, who: str, *marks: str) -> Dimension:
    flags = {
        mark: (f"bool_or({who}_{fact})", "bool_or") for mark, fact in zip(marks, ("guest", "computer"), strict=True)
    }
    return Dimension({f"{name}_id": f"{who}_id"}, {name: (f"min({who})", "min"), **flags})


def _instant(name: str, of_utc_ms: str) -> Dimension:
    """From the integer, so that no engine's time zone counts; null where the zone is not known."""
    return Dimension({name: f"CASE WHEN time_basis = 'utc' THEN {of_utc_ms} END"}, unknown="no date and zone")


def _band(name: str, column: str, edges_ms: Sequence[int]) -> Dimension:
    """By their lower ends; the first has all below, and null is where the time is not known."""
    steps = " ".join(f"WHEN {column} >= {edge} THEN {edge}" for edge in reversed(edges_ms[1:]))
    return Dimension({f"{name}_ms": f"CASE {steps} WHEN {column} IS NOT NULL THEN {edges_ms[0]} END"})


DIMENSIONS: Final = {
    "player": _someone("player", "mover", "guest", "computer"),
    "opponent": _someone("opponent", "opponent", "opponent_guest", "opponent_computer"),
    "guest": Dimension({"guest": "mover_guest"}),
    "computer": Dimension({"computer": "mover_computer"}),
    "sealed": Dimension({"sealed": "mover_sealed"}),
    "game": Dimension({"game": "key"}),
    "eco": Dimension({"eco": "eco"}),
    "opening": Dimension({"opening": "opening"}),
    "event": Dimension({"event": "event"}),
    # Not under its own name: ``precision`` is a column of each table with the precision of its figures.
    "precision": Dimension({"printed": "precision"}),
    "time_trouble": Dimension({"time_trouble": TIME_TROUBLE}),
    "rating_band": Dimension({"rating_band": "mover_rating // 200 * 200"}),
    "lag_band": _band("lag_band", "lag_ms", _LAG_EDGES_MS),
    "clock_band": _band("clock_band", "clock_before_ms", _CLOCK_EDGES_MS),
    "hour": _instant("hour", f"{{at}} // {_HOUR_MS} % 24"),
    "weekday": _instant("weekday", f"({{at}} // {_DAY_MS} + {_THURSDAY}) % 7 + 1"),
}


def dimension(name: str, have: Collection[str]) -> Dimension:
    """Also ``mover`` (``player``: a handle alone would pool guests), ``key`` (``game``), or a column."""
    base = DIMENSIONS.get({"mover": "player", "key": "game"}.get(name, name))
    if base is not None:
        time = "coalesce(arrival_ms, started_ms)" if "started_ms" in have else "arrival_ms"
        return replace(base, keys={key: text.replace("{at}", time) for key, text in base.keys.items()})
    if name not in have or name in _NO_DIMENSIONS or name.endswith("_ms"):
        names = ", ".join(DIMENSIONS)
        raise DimensionError(f"no table can be grouped by {name!r}; use {names}, or a column of words or small numbers")
    return Dimension({name: name})


def band_of(value: str, edges: Sequence[int], unit: str = "1000") -> str:
    """0 below the first edge; ``edges`` are ascending, in the unit, which is in milliseconds."""
    steps = " ".join(
        f"WHEN {value} >= {edge} * {unit} THEN {number}" for number, edge in reversed(list(enumerate(edges, 1)))
    )
    return f"CASE {steps} ELSE 0 END" if edges else "0"
