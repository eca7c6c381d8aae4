"""Classes of think times: how long is short, in steps that a chess player knows."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from exporters.pictures.style import numbers
from exporters.pictures.words import whole_seconds

__all__ = ["Classes", "classes_of"]

_FINE_S = (0.0, 0.1001, 0.2, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, np.inf)
_WHOLE_S = (0.0, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0, 60.0, 120.0, 300.0, 600.0, np.inf)


class Classes(NamedTuple):
    """Think times in classes.

    Attributes:
        labels: of the classes in use, one after the other. places: the class of each row.
        edges: where the classes in use begin, in seconds.
    """

    labels: list[str]
    places: list[int]
    edges: tuple[float, ...]

    def of(self, times_ms: pd.Series[Any]) -> list[int]:
        """The classes of other times, which are no shorter and no longer than those that were sorted."""
        return [int(place) - 1 for place in np.searchsorted(self.edges, numbers(times_ms) / 1000, side="right")]


def classes_of(plies: pd.DataFrame) -> Classes:
    """Sort times into classes; where one of them was printed in whole seconds, into classes of whole seconds.

    The first class of the finer ones holds what servers charge at least: a tenth of a second.
    """
    edges = _WHOLE_S if whole_seconds(plies) else _FINE_S
    times = numbers(plies["elapsed_ms"]) / 1000
    found = np.clip(np.searchsorted(edges, times, side="right") - 1, 0, len(edges) - 2)
    first, last = (int(found.min()), int(found.max())) if len(found) else (0, -1)
    labels = [_label(edges[place], edges[place + 1]) for place in range(first, last + 1)]
    return Classes(labels, [int(place) - first for place in found], edges[first : last + 1])


def _label(low_s: float, high_s: float) -> str:
    if high_s == _FINE_S[1]:
        return "≤ 0.1 s"
    if low_s == _FINE_S[1]:
        return "0.1–0.2 s"
    if np.isinf(high_s):
        return f"≥ {low_s / 60:g} min"
    if high_s == low_s + 1 and low_s < 3:
        return f"{low_s:g}–{high_s:g} s" if low_s else "< 1 s"
    if low_s >= 60:
        return f"{low_s / 60:g}–{high_s / 60:g} min"
    return f"{low_s:g}–{high_s:g} s"
