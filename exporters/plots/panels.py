"""Pictures of the games of a player or of all: what each computes of plies, and how that is drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import pandas as pd
from matplotlib.axes import Axes

from exporters.measures.source import Plies
from exporters.plots.figures import new_axes
from exporters.plots.shown import GameShown, Shown
from exporters.plots.style import LegendEntry, Theme, add_legend, add_titles, theme_of
from exporters.plots.words import PlySource, who_of


class Data(Protocol):
    """What a picture shows."""

    @property
    def shown(self) -> Shown | GameShown: ...


_Data = TypeVar("_Data", bound=Data)


class Legend(NamedTuple):
    """What is below the axes: entries, notes of the footer, and the points that tick labels need besides one line."""

    entries: list[LegendEntry]
    notes: tuple[str | None, ...] = ()
    drop: float = 0.0


@dataclass(frozen=True, slots=True)
class Panel(Generic[_Data]):
    """A picture of many games; ``compute`` raises ExportError if there is nothing to ``draw``."""

    heading: str
    compute: Callable[..., _Data]
    draw: Callable[[Axes, Theme, _Data], Legend]
    table: Callable[[_Data], pd.DataFrame] = attrgetter("table")

    def computed(self, source: PlySource, player: str | None = None, **options: Any) -> _Data:
        """What it shows; ``player``: as for ``who_of``."""
        plies = Plies.of(source)
        return self.compute(plies, who_of(plies, player), **options)

    def rows(self, source: PlySource, player: str | None = None) -> pd.DataFrame:
        """The rows that are drawn."""
        return self.table(self.computed(source, player))

    def drawn(
        self,
        data: _Data,
        *,
        ax: Axes | None = None,
        theme: str | Theme = "light",
        titles: bool = True,
        footer: bool = True,
    ) -> Axes:
        """Draw what ``computed`` returned; arguments as for ``clock_race``. Returns the axes."""
        look = theme_of(theme)
        ax = new_axes(ax, look)
        entries, notes, drop = self.draw(ax, look, data)
        if titles:
            add_titles(ax, look, *data.shown.head(self.heading))
        add_legend(ax, look, entries, data.shown.footer(*notes) if footer else "", drop)
        return ax

    def function(self, name: str, about: str) -> Callable[..., Axes]:
        """The function that notebooks call; ``about`` is the first part of its docstring."""

        def draw(
            plies: PlySource,
            *,
            player: str | None = None,
            ax: Axes | None = None,
            theme: str | Theme = "light",
            titles: bool = True,
            footer: bool = True,
        ) -> Axes:
            return self.drawn(self.computed(plies, player), ax=ax, theme=theme, titles=titles, footer=footer)

        return _named(draw, name, about, _OF_GAMES)


class GamePanel(Panel[_Data]):
    """A picture of one game, or of the games of a match."""

    def computed(self, source: PlySource, player: str | None = None, **options: Any) -> _Data:
        """What it shows of a ply frame."""
        return self.compute(source, **options)

    def function(self, name: str, about: str) -> Callable[..., Axes]:
        """As for pictures of many games."""

        def draw(
            plies: pd.DataFrame,
            *,
            ax: Axes | None = None,
            theme: str | Theme = "light",
            titles: bool = True,
            footer: bool = True,
        ) -> Axes:
            return self.drawn(self.computed(plies), ax=ax, theme=theme, titles=titles, footer=footer)

        return _named(draw, name, about, _OF_GAME)


def _named(draw: Callable[..., Axes], name: str, about: str, arguments: str) -> Callable[..., Axes]:
    draw.__name__ = draw.__qualname__ = name
    draw.__doc__ = f"{about}\n{arguments}"
    return draw


_OF_GAMES = """
    Args:
        plies: the ply frame of any number of games, or batches.
        player: the handle whose moves are shown, and those of all opponents where the picture has them.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: no ply of these games has what is drawn.
"""
_OF_GAME = """
    Args:
        plies: the ply frame of one game, or of both games of a match.
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: these are other games, or what is drawn is not known.
"""
