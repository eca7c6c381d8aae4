"""Pictures of the games of a player or of all: what each computes of plies, and how that is drawn."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

import pandas as pd
from matplotlib.axes import Axes

from exporters.measures.source import Plies
from exporters.plots.figures import new_axes
from exporters.plots.shown import GameShown, Shown
from exporters.plots.style import LegendEntry, Theme, add_legend, add_titles, theme_of
from exporters.plots.words import PlySource, who_of


class Data(Protocol):
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
        plies = Plies.of(source)
        return self.compute(plies, who_of(plies, player), **options)

    def rows(self, source: PlySource, player: str | None = None, **options: Any) -> pd.DataFrame:
        return self.table(self.computed(source, player, **options))

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
            add_titles(ax, look, *data.shown.head(getattr(data, "heading", self.heading)))
        add_legend(ax, look, entries, data.shown.footer(*notes) if footer else "", drop)
        return ax

    def function(self, name: str, about: str, **options: tuple[object, str]) -> Callable[..., Axes]:
        """The function that notebooks call; ``options`` of ``compute`` have their defaults and meanings."""

        def draw(
            plies: PlySource,
            *,
            ax: Axes | None = None,
            theme: str | Theme = "light",
            titles: bool = True,
            footer: bool = True,
            **asked: Any,
        ) -> Axes:
            for unknown in asked.keys() - options.keys():
                raise TypeError(f"{name}() got an unexpected keyword argument {unknown!r}")
            return self.drawn(self.computed(plies, **asked), ax=ax, theme=theme, titles=titles, footer=footer)

        of_games = not isinstance(self, GamePanel)
        if of_games:
            options = {"player": (None, _PLAYER), **options}
        signature = inspect.signature(draw)
        first, *others = [p for p in signature.parameters.values() if p.kind is not p.VAR_KEYWORD]
        more = [inspect.Parameter(option, others[0].kind, default=default) for option, (default, _) in options.items()]
        texts = "".join(f"\n        {option}: {text}" for option, (_, text) in options.items())
        draw.__signature__ = signature.replace(parameters=[first, *more, *others])  # type: ignore[attr-defined]
        draw.__name__ = draw.__qualname__ = name
        draw.__doc__ = about + _ARGUMENTS.format(plies=_GAMES if of_games else _GAME, options=texts)
        return draw


class GamePanel(Panel[_Data]):
    """A picture of one game, or of the games of a match."""

    def computed(self, source: PlySource, player: str | None = None, **options: Any) -> _Data:
        return self.compute(source, **options)


_GAMES: Final = "the ply frame of any number of games, or batches."
_GAME: Final = "the ply frame of one game, or of both games of a match."
_PLAYER: Final = "the handle whose moves are shown, and those of all opponents where the picture has them."
_ARGUMENTS: Final = """
    Args:
        plies: {plies}{options}
        ax, theme, titles, footer: as for ``clock_race``.
    Returns:
        The axes that were drawn on.
    Raises:
        ExportError: nothing of these games is known that is drawn.
"""
