"""The pictures of a report: drawn by ``exporters.plots``, in the colours of the reader's theme, each move named."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from exporters.report.drawings import harmless, serialise
from recorder.errors import ExportError

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup

__all__ = ["Chart", "draw_charts", "draw_player_charts"]

_PLY = re.compile(r"(?:([AB])-)?ply-([0-9]+)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_PAINTS = ("fill", "stroke")
_LINKS = re.compile(r"url\(#([^)]+)\)|#(.+)")

_WIDE, _HALF = (9.0, 3.7), (6.2, 3.6)  # inches

_Draw = Callable[..., Any]


class Chart(NamedTuple):
    """A picture as it stands in the page. ``board``: which one it is about; None: both. ``wide``: alone in its row."""

    heading: str
    board: int | None
    wide: bool
    svg: Markup


def draw_charts(
    keys: Sequence[str], plies: pd.DataFrame, events: pd.DataFrame | None = None
) -> tuple[list[Chart], str]:
    """The pictures of a game, or of a match.

    Args:
        keys: of the game, or of board A and of board B. plies: their ply frame. events: their event frame.
    Returns:
        The pictures that the game's data allow, and the style sheet that gives them their colours.
    Raises:
        ExportError: matplotlib is not installed.
    """
    return _draw(list(_wanted(keys, plies, events)))


def draw_player_charts(plies: pd.DataFrame, player: str) -> tuple[list[Chart], str]:
    """The pictures of a player: those of the profile sheet, one by one, and blunders where moves are evaluated.

    Args:
        plies: the ply frame of the player's games, both sides. player: the handle.
    Returns, Raises:
        As ``draw_charts``.
    """
    pictures = _pictures()
    wanted = [
        ("Clock left by move", pictures.clock_curve),
        ("Think times by phase", pictures.think_times),
        ("Think times by move", pictures.think_heatmap),
        ("Lag", pictures.lag_histogram),
        ("Score by clock lead after move 20", pictures.score_by_lead),
        ("How games ended", pictures.endings),
    ]
    if plies["loss_permille"].notna().any():
        wanted.append(("Blunders by clock left", partial(pictures.blunder_rates, by="clock")))
        wanted.append(("Blunders by time for the move", partial(pictures.blunder_rates, by="think")))
    return _draw([(heading, None, _drawing(partial(make, player=player), plies)) for heading, make in wanted])


def _draw(wanted: Sequence[tuple[str, int | None, _Draw]]) -> tuple[list[Chart], str]:
    """What can be drawn of these; what has nothing to show is left out."""
    colours: dict[tuple[str, str, str], str] = {}
    found = []
    for number, (heading, board, draw) in enumerate(wanted):
        wide = number == 0 and len(wanted) % 2 == 1
        try:
            drawn = _themed(heading, partial(draw, _WIDE if wide else _HALF), f"c{number}-", colours)
        except ExportError:  # the picture has nothing to show: no clocks, no lag
            continue
        found.append(Chart(heading, board, wide, drawn))
    return found, _style(colours)


def _wanted(
    keys: Sequence[str], plies: pd.DataFrame, events: pd.DataFrame | None
) -> Iterator[tuple[str, int | None, _Draw]]:
    pictures = _pictures()
    if len(keys) > 1:
        yield "All four clocks", None, _drawing(pictures.bughouse_clocks, plies)
    for board, key in enumerate(keys):
        own = plies[plies["key"] == key]
        told = None if events is None else events[events["key"] == key]
        letter = f", board {'AB'[board]}" if len(keys) > 1 else ""
        if len(keys) == 1:
            yield "Clock race", board, _drawing(pictures.clock_race, own, told)
        if own[["eval_after_cp", "eval_after_mate"]].notna().any(axis=None):
            yield f"Evaluation{letter}", board, _drawing(pictures.evaluation_course, own)
        if (own["elapsed_ms"] > 0).any():
            yield f"Time for each move{letter}", board, _drawing(pictures.move_times, own)
        if (own["lag_ms"] > 0).any():
            yield f"Lag{letter}", board, _drawing(pictures.lag_course, own)


def _pictures() -> Any:
    """The package that draws.

    Raises:
        ExportError: matplotlib is not installed.
    """
    try:
        from exporters import plots as pictures
    except ImportError as error:
        raise ExportError("A report needs matplotlib: pip install 'ics-recorder[report]'.") from error
    return pictures


def _drawing(make: _Draw, rows: pd.DataFrame, *more: Any) -> _Draw:
    """Draws one of the pictures in a size and a theme."""

    def draw(size: tuple[float, float], theme: str) -> Any:
        ax = _pictures().new_figure(theme, size).add_subplot()
        return make(rows, *more, ax=ax, theme=theme, titles=False).get_figure(root=True)

    return draw


def _themed(heading: str, draw: _Draw, prefix: str, colours: dict[tuple[str, str, str], str]) -> Markup:
    """A picture whose colours are classes where the themes differ; its moves have ``data-ply``."""
    from exporters.plots import svg_text

    light, dark = (harmless(svg_text(draw(theme), prefix)) for theme in ("light", "dark"))
    for one, other in zip(light.iter(), dark.iter(), strict=True):
        classes = []
        for name in _PAINTS:
            pair = one.get(name, ""), other.get(name, "")
            if pair[0] != pair[1] and all(map(_COLOUR.fullmatch, pair)):
                classes.append(colours.setdefault((name, *pair), f"p{len(colours)}"))
                del one.attrib[name]
        if classes:
            one.set("class", " ".join(classes))
    label = ". ".join([heading, *_footer(light, prefix)])
    _name_moves(light, prefix)
    for name in ("width", "height", "version"):
        light.attrib.pop(name, None)
    light.attrib |= {"class": "chart", "role": "img", "aria-label": label}
    light.set("stroke-linejoin", "round")
    return serialise(light)


def _footer(drawn: ElementTree.Element, prefix: str) -> Iterator[str]:
    """What a picture says about its games in small print: how many, and what was left out."""
    for element in drawn.iter():
        if element.get("id") == f"{prefix}footer":
            yield " ".join("".join(element.itertext()).split())


def _name_moves(drawn: ElementTree.Element, prefix: str) -> None:
    """Moves are told by data attributes, and no name stays that nothing refers to: they would be many."""
    used = {
        target
        for element in drawn.iter()
        for value in element.attrib.values()
        for match in _LINKS.finditer(value)
        if (target := match[1] or match[2])
    }
    for element in drawn.iter():
        element.attrib.pop("font-family", None)
        name = element.get("id", "")
        ply = _PLY.fullmatch(name.removeprefix(prefix))
        if ply is not None:
            element.set("data-ply", ply[2])
            if ply[1]:
                element.set("data-board", str("AB".index(ply[1])))
        if name == f"{prefix}axes_1":
            element[0].set("data-axes", "1")  # its background: as high as a cursor may be
        if name not in used:
            element.attrib.pop("id", None)


def _style(colours: dict[tuple[str, str, str], str]) -> str:
    light = "".join(f".{name}{{{paint}:{one}}}" for (paint, one, _), name in colours.items())
    dark = "".join(f".{name}{{{paint}:{other}}}" for (paint, _, other), name in colours.items())
    return f"{light}\n@media screen and (prefers-color-scheme: dark){{{dark}}}" if colours else ""
