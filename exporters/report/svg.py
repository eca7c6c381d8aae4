"""What pages draw as SVG: boards by python-chess, and lines, bands and bars. Style sheets have the colours."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from html import escape
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from xml.etree import ElementTree

from exporters.report.page import site_file, trusted, visible
from recorder.rules.tables import NAMES
from recorder.rules.variants import STANDARD_BOARD
from recorder.times import short_hms

if TYPE_CHECKING:
    from markupsafe import Markup

WIDTH: Final = 480
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 20, 20
_MOST_TICKS: Final = 6
SECONDS: Final = (0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 36000, 86400)
_NUMBERS: Final = tuple(one * 10**power for power in range(9) for one in (1, 2, 5))

Tick = tuple[float, str]


class Panel(NamedTuple):
    """A picture, ``svg`` or ``bars``, with what its colours mean (classes of ``chart.css``), and what it excludes."""

    heading: str
    svg: Markup
    key: Sequence[tuple[str, str]] = ()
    note: str = ""
    board: int | None = None
    bars: Sequence[Mapping[str, Any]] = ()


def clock_ticks(low_s: float, high_s: float, most: int = _MOST_TICKS) -> list[Tick]:
    return [(value, clock_text(value)) for value in _round_values(low_s, high_s, SECONDS, most)]


def number_ticks(low: float, high: float) -> list[Tick]:
    return [
        (value, f"{value:,.0f}" if value >= 10_000 else f"{value:.0f}") for value in _round_values(low, high, _NUMBERS)
    ]


def clock_text(seconds: float) -> str:
    """As ``4:57.338``, ``1:04:57``; unknown is a dash. ``exact``: the server printed thousandths."""
    tenths = round(abs(seconds) * 10)
    whole, tenth = divmod(tenths, 10)
    sign = "−" if seconds < 0 and tenths else ""
    return f"{sign}{short_hms(whole)}" + (f".{tenth}" if tenth else "")


def round_step(span: float, most: int, steps: Iterable[float]) -> float:
    """The first of the steps that divides a span into at most so many parts; a power of ten if none does."""
    fitting = next((step for step in steps if span / step <= most), None)
    return 10.0 ** math.ceil(math.log10(span / most)) if fitting is None else fitting


def _round_values(low: float, high: float, steps: Sequence[float], most: int = _MOST_TICKS) -> Iterator[float]:
    step = round_step(high - low, most, steps)
    value = -(-low // step) * step
    while value <= high:
        yield value
        value += step


def _n(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


class Plot:
    def __init__(self, xs: tuple[float, float], ys: tuple[float, float], height: int = 210) -> None:
        self._xs, self._ys = xs, (ys[0], ys[1] if ys[1] > ys[0] else ys[0] + 1)
        self._height = height
        self._parts: list[str] = []
        self._inner: list[str] = []  # in units of x

    def _x(self, value: float) -> float:
        low, high = self._xs
        return LEFT + (WIDTH - LEFT - RIGHT) * (value - low) / ((high - low) or 1)

    def _y(self, value: float) -> float:
        low, high = self._ys
        return TOP + (self._height - TOP - BOTTOM) * (high - value) / (high - low)

    def axes(self, across: Iterable[Tick], up: Iterable[Tick], unit: str) -> None:
        lines = [(round(self._y(value)), words) for value, words in up]
        grid = "".join(f"M{LEFT} {y}H{WIDTH - RIGHT}" for y, _ in lines)
        self._parts.append(f'<text x="2" y="11">{unit}</text><path class="grid" d="{grid}"/><g text-anchor="end">')
        self._parts += [f'<text x="{LEFT - 6}" y="{y + 4}">{words}</text>' for y, words in lines]
        self._parts.append('</g><g text-anchor="middle">')
        for value, words in across:
            x = self._x(value)
            anchor = ' text-anchor="end"' if x > WIDTH - 30 else ""
            self._parts.append(f'<text x="{round(x)}" y="{self._height - 5}"{anchor}>{words}</text>')
        self._parts.append("</g>")

    def line(self, kind: str, points: Iterable[tuple[float, float | None]]) -> None:
        """A line, broken where a value is unknown; a point without neighbours is a dot."""
        path, begins, alone = [], True, False
        last = (0.0, 0)
        for exact, value in points:
            x = round(exact, 1)
            if value is None:
                path += ["h0"] if alone else []
                begins, alone = True, False
                continue
            y = round(self._y(value))
            step = f"{y - last[1]:+d}".replace("+", " ")
            path.append(
                f"M{_n(x)} {y}" if begins else f"l{_n(x - last[0])}{step}" if y != last[1] else f"h{_n(x - last[0])}"
            )
            begins, alone, last = False, begins, (x, y)
        path += ["h0"] if alone else []
        self._inner.append(f'<path class="line {kind}" d="{"".join(path)}"/>')

    def band(self, kind: str, points: Sequence[tuple[float, float, float]]) -> None:
        """What lies between two lines: x, the lower and the upper value."""
        corners = [(x, low) for x, low, _ in points] + [(x, high) for x, _, high in reversed(points)]
        path = "L".join(f"{_n(x)} {_n(self._y(y))}" for x, y in corners)
        self._inner.append(f'<path class="band {kind}" d="M{path}Z"/>')

    def bars(self, kind: str, bars: Iterable[tuple[float, float]]) -> None:
        """Bars from 0, a little narrower than two: the middle of each, and its value."""
        path = "".join(f"M{_n(x)} {round(self._y(0))}V{round(self._y(value))}" for x, value in bars)
        self._inner.append(f'<path class="bars {kind}" d="{path}"/>')

    def mark(self, kind: str, x: float, words: str) -> None:
        path = f"M{_n(self._x(x))} {TOP}V{self._height - BOTTOM}"
        self._parts.append(f'<path class="{kind}" d="{path}"><title>{escape(visible(words))}</title></path>')

    def dot(self, kind: str, x: float, y: float, words: str) -> None:
        title = f"<title>{escape(visible(words))}</title>"
        self._parts.append(f'<circle class="{kind}" cx="{_n(self._x(x))}" cy="{_n(self._y(y))}" r="3">{title}</circle>')

    def svg(self, label: str, axis: str = "") -> Markup:
        """The picture; ``label`` is for those who do not see it, ``axis`` what a cursor moves along: ply or time."""
        data = f' data-axis="{axis}" data-from="{_n(self._xs[0])}" data-to="{_n(self._xs[1])}"' if axis else ""
        size = f'viewBox="0 0 {WIDTH} {self._height}" role="img" aria-label="{escape(visible(label))}"'
        scale = self._x(1) - self._x(0)
        inner = f'<g transform="translate({_n(self._x(0))}) scale({scale:.5g} 1)">{"".join(self._inner)}</g>'
        return trusted(f'<svg class="chart" {size}{data}>{"".join(self._parts)}{inner}</svg>')


class Bar(NamedTuple):
    """A row of bars: its label, values with their words, and the addresses that these lead to."""

    label: str
    values: Sequence[tuple[float | None, str]]
    hrefs: Sequence[str | None] = ()


def scaled_bars(rows: Sequence[Bar], most: float = 0) -> list[dict[str, Any]]:
    """Rows with the place and size of each bar, in hundredths of the width; there is room for ``most``."""
    values = [value for row in rows for value, _ in row.values if value is not None]
    low, high = min([0.0, *values]), max([most, *values])
    scale = 100 / ((high - low) or 1)
    return [
        {
            "label": row.label,
            "href": row.hrefs[0] if len(row.hrefs) == 1 else None,
            "bars": [
                ("0" if value is None else _n((min(value, 0) - low) * scale), _n(abs(value or 0) * scale), words, href)
                for (value, words), href in zip_longest(row.values, row.hrefs)
            ],
        }
        for row in rows
    ]


# -- boards ------------------------------------------------------------------------------------------------------------

SQUARE = 45  # the side of a square in the units of a drawn board


def piece_name(letter: str) -> str:
    """``wn`` for ``N``: short, since a board names many."""
    return f"{'w' if letter.isupper() else 'b'}{letter.lower()}"


def piece_drawing(letter: str) -> ElementTree.Element:
    """The piece of python-chess without name spaces, with attributes in the place of styles, which pages forbid."""
    import chess
    import chess.svg

    drawn = ElementTree.fromstring(chess.svg.piece(chess.Piece.from_symbol(letter)))[0]
    drawn.set("id", piece_name(letter))
    for element in drawn.iter():
        element.tag = element.tag.rpartition("}")[2]
        for declaration in element.attrib.pop("style", "").split(";"):
            name, _, value = declaration.partition(":")
            if value.strip():
                element.set(name.strip(), value.strip())
    return drawn


@cache
def drawings(assets: str | None = None, *, one_side: bool = False) -> Markup:
    """What all boards of a page use by name: the pieces, of a site as files, and the empty board from its sides."""
    pieces = []
    for letter in "PNBRQKpnbrqk":
        name = piece_name(letter)
        piece = trusted(ElementTree.tostring(piece_drawing(letter), encoding="unicode"))
        if assets is not None:
            svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {SQUARE} {SQUARE}">{piece}</svg>'
            href = assets + site_file(name, "svg", svg)
            piece = trusted(f'<image id="{name}" href="{href}" width="{SQUARE}" height="{SQUARE}"/>')
        pieces.append(piece)
    return trusted("").join([*pieces, _squares(True), *([] if one_side else [_squares(False)])])


def _squares(white_below: bool) -> Markup:
    odd = range(15 + SQUARE, 15 + 8 * SQUARE, 2 * SQUARE)
    stripes = [f"M{x} 15h{SQUARE}v360h-{SQUARE}zM15 {x}h360v{SQUARE}h-360z" for x in odd]  # a square in two is light
    letters, digits = ("abcdefgh", "87654321") if white_below else ("hgfedcba", "12345678")
    ends, tops = (" ".join(str(n + SQUARE * index) for index in range(8)) for n in (13 + SQUARE, 25))
    return trusted(
        f'<g id="{_side(white_below)}"><path class="sq light" d="M15 15h360v360h-360z"/>'
        f'<path class="sq dark" fill-rule="evenodd" d="{"".join(stripes)}"/><g class="coord" font-size="10">'
        f'<text x="{ends}" y="372" text-anchor="end">{letters}</text>'
        f'<text x="{" ".join(["17"] * 8)}" y="{tops}">{digits}</text></g></g>'
    )


def _side(white_below: bool) -> str:
    return f"board-{'white' if white_below else 'black'}"


def draw_board(
    board: str | None, marked: tuple[str, ...] = (), *, white_below: bool = True, assets: str | None = None
) -> Markup:
    """What stands inside a board's ``svg``; with ``assets`` the pieces of the start position are one file."""
    drawn = [f'<use class="squares" href="#{_side(white_below)}"/>', '<g class="marks">']
    for square in marked:
        x, y = _corner(square, white_below)
        drawn.append(f'<rect class="mark" x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}"/>')
    men = (
        _start(assets, white_below)
        if assets is not None and board == STANDARD_BOARD
        else _men(board or "", white_below)
    )
    return trusted("".join([*drawn, '</g><g class="men">', men, "</g>"]))


def _men(board: str, white_below: bool) -> str:
    places = [
        (piece_name(letter), *_corner(square, white_below))
        for square, letter in zip(NAMES, board, strict=False)
        if letter not in "- "
    ]
    return "".join(f'<use href="#{name}" x="{x}" y="{y}"/>' for name, x, y in sorted(places))


@cache
def _start(assets: str, white_below: bool) -> str:
    box = f"15 15 {8 * SQUARE} {8 * SQUARE}"
    men = f"<defs>{drawings()}</defs>{_men(STANDARD_BOARD, white_below)}"
    file = site_file("start", "svg", f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{men}</svg>')
    return f'<image href="{assets}{file}" x="15" y="15" width="{8 * SQUARE}" height="{8 * SQUARE}"/>'


def _corner(square: str, white_below: bool) -> tuple[int, int]:
    column, row = "abcdefgh".index(square[0]), 8 - int(square[1])
    if not white_below:
        column, row = 7 - column, 7 - row
    return 15 + SQUARE * column, 15 + SQUARE * row
