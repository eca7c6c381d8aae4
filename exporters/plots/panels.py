"""Pictures of the games of a player or of all: what each computes of plies, and how that is drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

from matplotlib.axes import Axes

from exporters.measures.source import Plies
from exporters.plots.figures import new_axes
from exporters.plots.style import Theme, theme_of
from exporters.plots.words import PlySource, Who, who_of
from recorder.errors import ExportError

_Data = TypeVar("_Data")


class Captions(NamedTuple):
    """What is written around a picture; without a player it is about all."""

    player: str | None
    titles: bool
    footer: bool


@dataclass(frozen=True, slots=True)
class Panel(Generic[_Data]):
    """A picture of many games; ``compute`` raises ExportError if there is nothing to ``draw``."""

    compute: Callable[[Plies, Who], _Data]
    draw: Callable[[Axes, Theme, _Data, Captions], None]

    def computed(self, source: PlySource, player: str | None) -> _Data:
        """What it shows; ``player``: as for ``who_of``."""
        plies = Plies.of(source)
        return self.compute(plies, who_of(plies, player))

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
        """Draw what ``computed`` returned; arguments as for ``clock_race``. Returns the axes."""
        look = theme_of(theme)
        ax = new_axes(ax, look)
        self.draw(ax, look, data, Captions(player, titles, footer))
        return ax


def computed_panels(panels: Mapping[str, Panel[Any]], plies: Plies, who: Who) -> dict[str, Any]:
    """What several pictures show, by heading, or the ``ExportError`` why there is nothing."""
    found: dict[str, Any] = {}
    for heading, panel in panels.items():
        try:
            found[heading] = panel.compute(plies, who)
        except ExportError as error:
            found[heading] = error
    return found
