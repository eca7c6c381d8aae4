"""Drawings that stand in a page: boards and pieces of python-chess, made to obey the page's policy.

A strict Content-Security-Policy forbids style attributes and style elements. So drawings are read as XML when a page
is written: declarations become presentation attributes, and whatever could do or fetch something is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING
from xml.etree import ElementTree

from exporters.report.page import trusted, visible

if TYPE_CHECKING:
    from markupsafe import Markup

    from exporters.boards import Board

__all__ = ["SQUARE", "draw_board", "drawings", "harmless", "piece_name", "serialise"]

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
    """The drawing as it stands in a page."""
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


def draw_board(board: Board | None, marked: tuple[str, ...] = (), *, white_below: bool = True) -> Markup:
    """What stands inside a board's ``svg`` (``viewBox`` 0 0 390 390): the squares, what is marked, the pieces.

    Args:
        board: None: only the squares. marked: squares of the last move.
    """
    drawn = [f'<use class="squares" href="#{_side(white_below)}"/>', '<g class="marks">']
    for square in marked:
        x, y = _corner(square, white_below)
        drawn.append(f'<rect class="mark" x="{x}" y="{y}" width="{SQUARE}" height="{SQUARE}"/>')
    drawn.append('</g><g class="men">')
    for square, letter in sorted((board or {}).items()):
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
    made.text, made.tail = _text(element.text), None  # handles stand in pictures, too
    for child in element:
        if isinstance(child.tag, str) and _local(child.tag) not in _LEFT_OUT:
            made.append(_clean(child))
    return made


def _attributes(element: ElementTree.Element) -> Iterator[tuple[str, str]]:
    for name, value in element.attrib.items():
        name = _local(name)
        if name == "style":
            for declaration in value.split(";"):
                key, _, told = declaration.partition(":")
                if told.strip():
                    yield key.strip(), told.strip()
        elif name == "href":
            if _OURS.fullmatch(value):
                yield name, value
        elif not name.startswith("on"):
            yield name, value


def _local(tag: str) -> str:
    return tag.rpartition("}")[2]


def _text(text: str | None) -> str | None:
    return visible(text) if text and text.strip() else None
