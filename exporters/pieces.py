"""The chess pieces as Pillow's pictures: the SVG drawings of python-chess that pages have, which Pillow cannot read.

Their paths are drawn as short straight lines, larger than they are shown.
"""

from __future__ import annotations

import cmath
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final

from PIL import Image, ImageDraw

from exporters.report.svg import SQUARE, piece_drawing

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

_COMMAND: Final = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_NUMBER: Final = re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)")
_VALUES: Final = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "A": 7, "Z": 1}
_FINE: Final = 6
"""Pieces are drawn so much larger than they are shown."""
_PIECES_OF_CURVE: Final = 12

_Line = list[complex]


def _lines(path: str) -> list[_Line]:
    """The lines of an SVG path, curves as short straight ones."""
    found: list[_Line] = []
    at = control = 0j
    for name, text in _COMMAND.findall(path):
        kind = name.upper()
        values = [float(value) for value in _NUMBER.findall(text)] or [0.0]
        for place in range(0, len(values), _VALUES[kind]):
            some = values[place : place + _VALUES[kind]]
            origin = at if name.islower() else 0j
            points = [origin + complex(*pair) for pair in zip(some[::2], some[1::2], strict=False)]
            if kind == "M" and place == 0:
                found.append([points[0]])
            elif kind in "ML":
                found[-1].append(points[0])
            elif kind == "H":
                found[-1].append(complex(origin.real + some[0], at.imag))
            elif kind == "V":
                found[-1].append(complex(at.real, origin.imag + some[0]))
            elif kind == "Z":
                found[-1].append(found[-1][0])
            elif kind == "A":
                end = origin + complex(some[5], some[6])
                found[-1] += _arc(at, end, some[0], some[1], large=bool(some[3]), clockwise=bool(some[4]))
            else:
                first = 2 * at - control if kind == "S" else points[0]
                found[-1] += _curve(at, first, points[-2], points[-1])
            at = found[-1][-1]
            control = points[-2] if kind in "CS" else at
    return found


def _curve(begin: complex, first: complex, second: complex, end: complex) -> Iterator[complex]:
    for number in range(1, _PIECES_OF_CURVE + 1):
        t = number / _PIECES_OF_CURVE
        u = 1 - t
        yield u**3 * begin + 3 * u * u * t * first + 3 * u * t * t * second + t**3 * end


def _arc(begin: complex, end: complex, wide: float, high: float, *, large: bool, clockwise: bool) -> Iterator[complex]:
    """An arc of an ellipse that is not turned: one of a circle, squeezed."""
    one, other = (complex(point.real, point.imag * wide / high) for point in (begin, end))
    half = (other - one) / 2
    radius = max(wide, abs(half))
    away = (radius**2 - abs(half) ** 2) ** 0.5
    centre = (one + other) / 2 + (1 if large != clockwise else -1) * 1j * away * half / abs(half)
    turn = cmath.phase((other - centre) / (one - centre))
    turn += 0 if (turn > 0) is clockwise else cmath.tau if clockwise else -cmath.tau
    for number in range(1, 2 * _PIECES_OF_CURVE + 1):
        point = centre + (one - centre) * cmath.exp(1j * turn * number / (2 * _PIECES_OF_CURVE))
        yield complex(point.real, point.imag * high / wide)


def _draw_element(draw: ImageDraw.ImageDraw, element: Element, inherited: Mapping[str, str], scale: float) -> None:
    """Draw an element and all that is in it; joints of lines are round."""
    style = {**inherited, **element.attrib}
    for child in element:
        _draw_element(draw, child, style, scale)
    if element.tag == "circle":
        x, y, r = (float(style[name]) for name in ("cx", "cy", "r"))
        lines = [[complex(x, y) + r * cmath.exp(1j * cmath.tau * n / 24) for n in range(25)]]
    elif element.tag == "path":
        lines = _lines(style["d"])
    else:
        return
    a, b, c, d, e, f = map(float, _NUMBER.findall(style.get("transform", "")) or (1, 0, 0, 1, 0, 0))
    fill, stroke = style.get("fill", "#000"), style.get("stroke", "none")
    width = float(style.get("stroke-width", "1")) * scale
    for line in lines:
        points = [
            (scale * (a * one.real + c * one.imag + e), scale * (b * one.real + d * one.imag + f)) for one in line
        ]
        if fill != "none" and len(points) > 2:
            draw.polygon(points, fill=fill)
        if stroke != "none":
            draw.line(points, fill=stroke, width=round(width))
            for x, y in points:
                draw.ellipse((x - width / 2, y - width / 2, x + width / 2, y + width / 2), fill=stroke)


@cache
def draw_piece(letter: str, side: int) -> Image.Image:
    """A piece as large as a square, on nothing."""
    drawn = Image.new("RGBA", (side * _FINE, side * _FINE))
    _draw_element(ImageDraw.Draw(drawn), piece_drawing(letter), {}, side * _FINE / SQUARE)
    return drawn.resize((side, side), Image.Resampling.BOX)
