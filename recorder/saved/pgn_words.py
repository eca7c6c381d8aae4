"""Words of movetext that no rule can play: other spellings of moves, null moves, marks glued to a move, and prose.

Sources: PGN files that people typed or copied from web pages and books; null moves of SCID, ChessBase, CECP and UCI.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

from recorder.saved.pgn_text import GLYPHS, decoded

__all__ = [
    "PlainWord",
    "is_like_move",
    "is_null",
    "is_number",
    "is_prose",
    "is_mark",
    "is_too_long",
    "plain_word",
    "printed_ply",
]

_NULL: Final = frozenset(("--", "Z0", "null", "pass", "0000", "@@@@"))
#: What only repeats what a move shows.
_REDUNDANT: Final = frozenset(("e.p.", "ep", "ep.", "ch", "ch.", "check", "mate", "dis.", "dbl.", "++", "+", "#"))
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00ad\x96\x97"
_PLAIN: Final = str.maketrans(
    dict.fromkeys(_DASHES, "-")
    | dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP", strict=True))
    | {"×": "x", "†": "+", "‡": "#", "≠": "#"}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff")
)
_LONGEST: Final = 32  # no move is longer
_CASTLING: Final = re.compile(r"[OoОоΟο0](?:-?[OoОоΟο0]){1,2}")  # Latin, Cyrillic and Greek letters
_MOVE: Final = re.compile(
    r"(?:[KQRBNP]?[a-h]?[1-8]?[x:-]?[a-h](?:[2-7]|[18](?:=?[QRBNKqrbnk])?)|[KQRBNP]?@[a-h][1-8]|[Oo0]-[Oo0](?:-[Oo0])?)"
)
_CHECKS: Final = re.compile(r"(?:e\.?p\.?|(?:dis\.?|dbl\.?)?ch\.?|check|mate|[+#])?[+#]*")
_NAMED_PIECE: Final = re.compile(r"([a-h][18])=?[/(]([QRBNKqrbnk])\)?")
# A piece may have any letter, also of another language: it moved, whatever it is.
_LIKE_MOVE: Final = re.compile(
    r"(?:[^\W\d_]?[a-h]?[1-8]?[x:-]?[a-h][1-8](?:=?[A-Za-z])?|[^\W\d_]?@[a-h][1-8]|[Oo0]-?[Oo0](?:-?[Oo0])?)[+#]*"
)
_PROSE: Final = re.compile(
    r"""(?![KQRBNPt]{1,4}x[KQRBNP])["'(]*(?:[^\W\d_]+(?:['-][^\W\d_]{2,})*)["')]*[.,:;]*|[^\w?!]+"""
)
_PRINTED: Final = re.compile(r"([0-9]{1,4})\s*+(\.*+)\s*+(\.++|\xe2\x80\xa6|)\s*+")


class PlainWord(NamedTuple):
    """A word in ASCII letters and standard signs, and the NAG that was glued to it, or None."""

    text: str
    nag: str | None


def plain_word(word: str) -> PlainWord:
    """Spell a move as the standard does: ``O–O`` is ``O-O``, ``e8/Q`` is ``e8=Q``, ``Nf3±`` is ``Nf3`` with ``$16``.

    Args:
        word: latin-1, as in the file.

    Returns:
        The word in UTF-8, and otherwise unchanged, where it is no such move.
    """
    text = decoded(word.rstrip("\xc2"))  # half of a no-break space
    if len(text) > _LONGEST:
        return PlainWord(text, None)
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN).lstrip(".")
    if _CASTLING.fullmatch(text):
        return PlainWord("O-O-O" if sum(letter != "-" for letter in text) == 3 else "O-O", None)
    if "/" in text or "(" in text:
        text = _NAMED_PIECE.sub(lambda named: f"{named[1]}={named[2].upper()}", text)
    move = _MOVE.match(text)
    if move is None:
        return PlainWord(text, None)
    checks = _CHECKS.match(text, move.end())
    assert checks is not None
    for end in range(move.end(), checks.end() + 1):  # ``+-`` is a mark, ``+`` is a check
        if nag := GLYPHS.get(text[end:]):
            return PlainWord(move[0], nag)
    return PlainWord(move[0] if text[checks.end() :].strip(",.:") == "" else text, None)


def is_null(word: str) -> bool:
    """Whether a word, as in the file or plain, is a null move: the side to move passes."""
    return word in _NULL


def is_like_move(plain: str) -> bool:
    """Whether a plain word is a move by its form, in any language and variant."""
    return _LIKE_MOVE.fullmatch(plain) is not None


def is_mark(plain: str) -> bool:
    """Whether a plain word only marks the move before it, or repeats what that shows: ``±``, ``N``, ``e.p.``."""
    return not plain or plain in GLYPHS or plain in _REDUNDANT


def is_too_long(plain: str) -> bool:
    """Whether a word is longer than any move, such as an address."""
    return len(plain) > _LONGEST


def is_prose(plain: str) -> bool:
    """Whether a word that is no move is one of a sentence, or signs alone: it takes a move's place only by numbers."""
    return _PROSE.fullmatch(plain) is not None


def printed_ply(text: str, at: int) -> int | None:
    """The half-move that a move number announces, with one dot or none White's.

    Args:
        text: movetext. at: where the number begins.

    Returns:
        Counted from 1; None: no number of a move begins there.
    """
    match = _PRINTED.match(text, at)
    if match is None:
        return None
    return 2 * int(match[1]) - (len(match[2]) + len(match[3]) < 2)


def is_number(text: str) -> bool:
    """Whether a text is one move number, with blanks behind it."""
    return _PRINTED.fullmatch(text) is not None
