"""Pictures of the games of a player or of all: what each adds up of plies or of batches, and how that is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import pandas as pd
from matplotlib.axes import Axes

from exporters.measures.batches import computed, computed_together
from exporters.plots.figures import new_axes
from exporters.plots.shown import Adding
from exporters.plots.style import Theme, theme_of
from exporters.plots.words import PlySource, Who, who_of

__all__ = ["Captions", "Panel", "added_together"]

_Data = TypeVar("_Data")


class Captions(NamedTuple):
    """What is written around a picture.

    Attributes:
        player: the handle that it is about; None: it is about all. titles, footer: whether it has them.
    """

    player: str | None
    titles: bool
    footer: bool


@dataclass(frozen=True, slots=True)
class Panel(Generic[_Data]):
    """A picture of many games.

    Attributes:
        add: adds up what it shows, of plies and of whose games they are; raises ``ExportError`` if that is nothing.
        draw: draws that on axes in a theme.
    """

    add: Callable[[pd.DataFrame, Who], Adding[_Data]]
    draw: Callable[[Axes, Theme, _Data, Captions], None]

    def added(self, plies: PlySource, player: str | None) -> _Data:
        """What it shows of a ply frame or of batches; ``player``: as for ``who_of``."""
        who = who_of(plies, player)
        return computed(lambda batch: self.add(batch, who), plies)

    def drawn(
        self,
        data: _Data,
        player: str | None,
        *,
        ax: Axes | None = None,
        theme: str | Theme = "light",
        titles: bool = True,
        footer: bool = True,
    ) -> Axes:
        """Draw what ``added`` returned; arguments as for ``clock_race``. Returns the axes."""
        look = theme_of(theme)
        ax = new_axes(ax, look)
        self.draw(ax, look, data, Captions(player, titles, footer))
        return ax


def added_together(panels: Mapping[str, Panel[Any]], plies: PlySource, who: Who, **more: Any) -> dict[str, Any]:
    """What several pictures show, added up in one reading.

    Args:
        panels: the pictures by heading. plies: the ply frame of the games, or batches. who: whose they are.
        more: functions of plies that add up what else is wanted, by names that no panel has.
    Returns:
        By heading and name what was added up, or the ``ExportError`` why there is nothing.
    """

    def begin(panel: Panel[Any]) -> Callable[[pd.DataFrame], Adding[Any]]:
        return lambda batch: panel.add(batch, who)

    return computed_together({**more, **{heading: begin(panel) for heading, panel in panels.items()}}, plies)
