"""The pictures of a report: charts by ``exporters.plots`` in the colours of the reader's theme, boards by python-chess.

A strict Content-Security-Policy forbids style attributes and style elements. So drawings are read as XML when a page
is written: declarations become presentation attributes, and whatever could run or load something is dropped.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from xml.etree import ElementTree

from exporters.report.page import trusted, visible
from recorder.errors import ExportError
from recorder.rules.tables import NAMES

if TYPE_CHECKING:
    import pandas as pd
    from markupsafe import Markup
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    from exporters.measures.source import Plies

SQUARE = 45
"""The side of a square in the units of a drawn board."""
_NAMES = {"p": "pawn", "n": "knight", "b": "bishop", "r": "rook", "q": "queen", "k": "king"}
_LEFT_OUT = frozenset(("script", "style", "metadata", "foreignObject", "desc", "title", "image", "a", "animate", "set"))
_OURS = re.compile(r"#[\w.-]+")


def piece_name(letter: str) -> str:
    """``white-knight`` for ``N``, as python-chess calls its drawings."""
    return f"{'white' if letter.isupper() else 'black'}-{_NAMES[letter.lower()]}"


def harmless(svg: str) -> ElementTree.Element:
    """A drawing without name spaces, styles, scripts and links to anything but itself."""
    return _clean(ElementTree.fromstring(svg))


def serialise(element: ElementTree.Element) -> Markup:
    """The drawing as a page contains it."""
    return trusted(ElementTree.tostring(element, encoding="unicode", short_empty_elements=True))


@cache
def drawings() -> Markup:
    """What all boards of a page use by name, once: the twelve pieces, and the empty board from both sides."""
    import chess
    import chess.svg

    found = []
    for letter in "PNBRQKpnbrqk":
        drawn = harmless(chess.svg.piece(chess.Piece.from_symbol(letter))).find("g")
        assert drawn is not None
        found.append(drawn)
    return trusted("").join([*map(serialise, found), _squares(True), _squares(False)])


def _squares(white_below: bool) -> Markup:
    """The empty board with its coordinates, as python-chess draws it, without colours: the style sheet has them."""
    import chess
    import chess.svg

    drawn = harmless(chess.svg.board(chess.BaseBoard.empty(), orientation=white_below))
    side = ElementTree.Element("g", {"id": _side(white_below)})
    for child in drawn:
        if child.tag == "rect":
            words = child.get("class", "").split()
            child.set("class", f"sq {words[1]}" if words[:1] == ["square"] else "margin")
            for name in ("fill", "stroke", "stroke-width"):
                child.attrib.pop(name, None)
        elif child.tag == "g":
            child.attrib = {"class": "coord", "transform": child.get("transform", "")}
        else:
            continue
        side.append(child)
    return serialise(side)


def _side(white_below: bool) -> str:
    return f"board-{'white' if white_below else 'black'}"


def draw_board(board: str | None, marked: tuple[str, ...] = (), *, white_below: bool = True) -> Markup:
    """What stands inside a board's ``svg`` (``viewBox`` 0 0 390 390): the squares, what is marked, the pieces.

    ``board`` is as in ``exporters.boards``; None: only the squares.
    """
    drawn = [f'<use class="squares" href="#{_side(white_below)}"/>', '<g class="marks">']
    for square in marked:
        x, y = _corner(square, white_below)
        drawn.append(f'<rect class="mark" x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}"/>')
    drawn.append('</g><g class="men">')
    for square, letter in sorted(zip(NAMES, board or "", strict=False)):
        if letter not in "- ":
            x, y = _corner(square, white_below)
            drawn.append(f'<use href="#{piece_name(letter)}" transform="translate({x} {y})"/>')
    return trusted("".join([*drawn, "</g>"]))


def _corner(square: str, white_below: bool) -> tuple[int, int]:
    column, row = "abcdefgh".index(square[0]), 8 - int(square[1])
    if not white_below:
        column, row = 7 - column, 7 - row
    return 15 + SQUARE * column, 15 + SQUARE * row


def _clean(element: ElementTree.Element) -> ElementTree.Element:
    made = ElementTree.Element(_local(element.tag), dict(_attributes(element)))
    made.text, made.tail = _text(element.text), None  # pictures contain handles, too
    for child in element:
        if isinstance(child.tag, str) and _local(child.tag) not in _LEFT_OUT:
            made.append(_clean(child))
    return made


def _attributes(element: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for name, value in element.attrib.items():
        name = _local(name)
        if name == "style":
            for declaration in value.split(";"):
                key, _, setting = declaration.partition(":")
                if setting.strip():
                    yield key.strip(), setting.strip()
        elif name == "href":
            if _OURS.fullmatch(value):
                yield name, value
        elif not name.startswith("on"):
            yield name, value


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _text(text: str | None) -> str | None:
    return visible(text) if text and text.strip() else None


_PLY = re.compile(r"(?:([AB])-)?ply-([0-9]+)")
_COLOUR = re.compile(r"#[0-9a-f]{6}")
_PAINTS = ("fill", "stroke")
_LINKS = re.compile(r"url\(#([^)]+)\)|#(.+)")

_SIZE = (5.0, 3.1)  # inches: letters are still readable where a phone shows it
_TALL = (5.0, 4.0)  # with a legend of many lines

_Draw = Callable[..., Any]


class Chart(NamedTuple):
    """A picture as the page contains it. ``board``: which one it is about; None: both."""

    heading: str
    board: int | None
    svg: Markup


def draw_charts(
    keys: Sequence[str], plies: pd.DataFrame, events: pd.DataFrame | None = None
) -> tuple[list[Chart], str]:
    """Draw the pictures that a game's or match's data allow; also return the style sheet that gives them their colours.

    ``keys`` are those of the game, or of board A and of board B.
    """
    return _draw(list(_wanted(keys, plies, events)))


def draw_player_charts(plies: Plies, player: str, identities: frozenset[str]) -> tuple[list[Chart], str]:
    """The pictures of a player: those of the profile sheet, one by one, and blunders of evaluated moves.

    The plies are of the player's games only.
    """
    pictures = _pictures()
    panels = {**pictures.catalogue.PLAYER_PANELS, **pictures.catalogue.BLUNDER_PANELS}
    found = pictures.panels.computed_panels(panels, plies, pictures.words.Who(player, identities, alone=True))
    wanted = [heading for heading, data in found.items() if not isinstance(data, ExportError)]
    return _draw([(heading, None, _drawing(panels[heading].drawn, found[heading], player)) for heading in wanted])


class _Drawn(NamedTuple):
    """A picture that has something to show. ``light``: its figure; ``places``: where the axes are, in shares of it."""

    heading: str
    board: int | None
    draw: _Draw
    light: Figure
    places: list[Bbox]


def _draw(wanted: Sequence[tuple[str, int | None, _Draw]]) -> tuple[list[Chart], str]:
    """The pictures of these that have something to show, with axes of equal width."""
    colours: dict[tuple[str, str, str], str] = {}
    shown = []
    for heading, board, draw in wanted:
        with suppress(ExportError):  # the picture has nothing to show: no clocks, no lag
            light = draw("light")
            light.draw_without_rendering()
            shown.append(_Drawn(heading, board, draw, light, [ax.get_position() for ax in light.axes]))
    left = max((one.places[0].x0 for one in shown), default=0.0)
    right = min((one.places[0].x1 for one in shown), default=1.0)
    found = []
    for number, one in enumerate(shown):
        for figure in (figures := (one.light, one.draw("dark"))):
            _stretch(figure, left, right, one.places)
        found.append(Chart(one.heading, one.board, _themed(one.heading, figures, f"c{number}-", colours)))
    return found, _style(colours)


def _stretch(figure: Figure, left: float, right: float, places: Sequence[Bbox]) -> None:
    """Let the axes of a picture begin and end at the same places as those of others; ``places``: where they were."""
    figure.set_layout_engine("none")
    first = places[0]
    scale = (right - left) / (first.x1 - first.x0)
    for ax, place in zip(figure.axes, places, strict=True):
        from_x, to_x = (left + (x - first.x0) * scale for x in (place.x0, place.x1))
        ax.set_position((from_x, place.y0, to_x - from_x, place.height))


def _wanted(
    keys: Sequence[str], plies: pd.DataFrame, events: pd.DataFrame | None
) -> Iterator[tuple[str, int | None, _Draw]]:
    pictures = _pictures()
    if len(keys) > 1:
        yield "All four clocks", None, _drawing(pictures.bughouse_clocks, plies, size=_TALL)
    for board, key in enumerate(keys):
        own = plies[plies["key"] == key]
        setting = None if events is None else events[events["key"] == key]
        moves = (int(own["move_no"].min()), int(own["move_no"].max())) if len(own) else None
        letter = f", board {'AB'[board]}" if len(keys) > 1 else ""
        if len(keys) == 1:
            yield "Clock race", board, _drawing(pictures.clock_race, own, setting, moves=moves)
        if own[["eval_after_cp", "eval_after_mate"]].notna().any(axis=None):
            yield f"Evaluation{letter}", board, _drawing(pictures.evaluation_course, own, moves=moves)
        if (own["elapsed_ms"] > 0).any():
            yield f"Time for each move{letter}", board, _drawing(pictures.move_times, own, moves=moves)
        if (own["lag_ms"] > 0).any():
            with suppress(ExportError):  # only inferred moves have lag
                lags = pictures.lag.COURSE.computed(own, None)  # once for both themes
                yield f"Lag{letter}", board, _drawing(pictures.lag.COURSE.drawn, lags, None, moves=moves)


def _pictures() -> Any:
    """The package that draws."""
    try:
        from exporters import plots as pictures
    except ImportError as error:
        raise ExportError("A report needs matplotlib: pip install 'ics-recorder[report]'.") from error
    return pictures


def _drawing(
    make: _Draw,
    rows: Any,
    *more: Any,
    moves: tuple[int, int] | None = None,
    size: tuple[float, float] = _SIZE,
) -> _Draw:
    """Draws one of the pictures in a theme.

    ``moves`` are the first and the last move of the axis that the pictures of a game share; None: it has another one.
    """

    def draw(theme: str) -> Any:
        ax = _pictures().new_figure(theme, size).add_subplot()
        figure = make(rows, *more, ax=ax, theme=theme, titles=False).get_figure(root=True)
        if moves is not None:
            ax.set_xlim(moves[0] - 0.7, moves[1] + 1)
            ax.set_xticks(_ticks(*moves))
        return figure

    return draw


def _ticks(first: int, last: int) -> list[int]:
    """The moves at which tables state clocks: 10, 20, 30, 40 …; of a short game every one, of a long one fewer."""
    step = next(step for step in (10, 20, 50, 100, 1000) if last - first < 12 * step)
    return list(range(first, last + 1)) if last < 10 else list(range(-(-first // step) * step, last + 1, step))


def _themed(heading: str, figures: Sequence[Figure], prefix: str, colours: dict[tuple[str, str, str], str]) -> Markup:
    """A picture whose colours are classes where the themes differ; its moves have ``data-ply``.

    ``figures`` are the picture in the light and in the dark theme.
    """
    from exporters.plots import svg_text

    light, dark = (harmless(svg_text(figure, prefix)) for figure in figures)
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
    """A picture's footer: how many games it shows, and what was excluded."""
    for element in drawn.iter():
        if element.get("id") == f"{prefix}footer":
            yield " ".join("".join(element.itertext()).split())


def _name_moves(drawn: ElementTree.Element, prefix: str) -> None:
    """Data attributes name the moves; ids that nothing refers to are removed, as there would be many."""
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
