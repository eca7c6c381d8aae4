"""Ratings as lines print them: ``1500``, `` 904``, ``1467P``, ``2158E``, ``++++``, ``----``, ``UNR``."""

from __future__ import annotations

import re

from recorder.events import RatingText

__all__ = ["RATING", "read_rating"]

RATING = r"\(\s*([0-9]{1,9}[A-Za-z]?|[+]+|-+|UNR)\s*\)"
"""A rating in parentheses, padded or not: one group, the text inside.

It has nine digits at most, as all numbers of lines: a longer one is none of a server's, and no database keeps it.
"""

_NUMBER = re.compile(r"([0-9]{1,9})[A-Za-z]?")


def read_rating(text: str) -> RatingText:
    """Split a rating into the printed text and its number (None for ``++++``, ``----``, ``UNR``; 0 stays 0)."""
    if text.isascii() and text.isdigit() and len(text) < 10:
        return RatingText(text, int(text))
    match = _NUMBER.fullmatch(text)
    return RatingText(text, None if match is None else int(match[1]))
