"""Words for people: texts of a log that cannot do harm, clocks, moves as they are spoken."""

from __future__ import annotations

import re

from exporters.pgn_text import decoded
from exporters.times import THOUSANDTHS, short_hms
from recorder.model import EXACT, Ply

__all__ = [
    "PIECES",
    "clock_text",
    "count",
    "is_exact",
    "number_text",
    "plain_name",
    "spoken_duration",
    "spoken_move",
    "visible",
]

PIECES = {"K": "king", "Q": "queen", "R": "rook", "B": "bishop", "N": "knight", "P": "pawn"}
_CASTLES = re.compile(r"[O0]-[O0](-[O0])?")
_DROP = re.compile(r"([KQRBNP])?@([a-h][1-8])")
_MOVE = re.compile(r"([KQRBN])?([a-h]?[1-8]?)(x?)([a-h][1-8])(?:=?\(?([QRBNK])\)?)?")


def visible(text: str) -> str:
    """A log's text as a person may see it: what is not printed is written out, ``\\\\x1b`` and ``\\\\u202e``.

    Characters that change the direction of the text around them are such, too.
    """
    text = decoded(text)
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def plain_name(text: str) -> str:
    """A handle, or a word for one that is empty."""
    return text if text.strip() else "(no name)"


def count(number: int, word: str, words: str | None = None) -> str:
    """``1 move``, ``1,204 moves``."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def clock_text(ms: int | None, exact: bool) -> str:
    """``4:57.338``, ``1:04:57``; a negative clock keeps its sign; unknown is a dash.

    Args:
        exact: whether thousandths were printed; they are shown, also where they are 000. Else whole seconds are.
    """
    if ms is None:
        return "–"
    seconds, thousandths = divmod(abs(ms), 1000)
    return f"{'−' if ms < 0 else ''}{short_hms(seconds)}{THOUSANDTHS[thousandths] if exact else ''}"


def number_text(ply: int) -> str:
    """``12.`` for White's move, ``12…`` for Black's."""
    return f"{(ply + 1) // 2}{'.' if ply % 2 else '…'}"


def is_exact(ply: Ply) -> bool:
    """Whether this ply's times were printed in milliseconds."""
    return ply.precision in EXACT


def spoken_duration(ms: int) -> str:
    """``1 minute 4 seconds``; below ten seconds with one decimal unless it is whole."""
    if abs(ms) < 10_000 and ms % 1000:
        return f"{ms / 1000:.1f} seconds"
    seconds = abs(ms) // 1000
    parts = []
    for size, word in ((3600, "hour"), (60, "minute"), (1, "second")):
        value, seconds = divmod(seconds, size)
        if value:
            parts.append(count(value, word))
    return ("minus " if ms < 0 else "") + (" ".join(parts) or "0 seconds")


def spoken_move(san: str) -> str:
    """``knight f3 takes e5, check`` for ``Nfxe5+``; the text itself where it is no SAN."""
    body = san.rstrip("+#!?")
    end = ", checkmate" if "#" in san else ", check" if "+" in san[len(body) :] else ""
    if match := _CASTLES.fullmatch(body):
        return ("castles long" if match[1] else "castles short") + end
    if match := _DROP.fullmatch(body):
        return f"drops a {PIECES[match[1] or 'P']} on {match[2]}{end}"
    match = _MOVE.fullmatch(body)
    if match is None:
        return san
    piece, origin, takes, to, promotion = match.groups()
    words = [PIECES[piece] if piece else "", origin, "takes" if takes else "", to]
    if promotion:
        words.append(f"becomes a {PIECES[promotion]}")
    return " ".join(word for word in words if word) + end
