"""Lines of which there are many kinds: tables of patterns, each around words that every line of its kind has."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

from recorder.patterns import later

__all__ = ["Form", "find_form", "make_forms"]

_Kind = TypeVar("_Kind")
Form = tuple[_Kind, str, Callable[[], re.Pattern[str]]]
"""What a line of this form is, words that stand in it, and the pattern of the whole line."""


def make_forms(table: Iterable[tuple[_Kind, str, str, str]], before: str = "") -> list[Form[_Kind]]:
    """Make the forms of a table.

    Args:
        table: what a line is; the pattern of its beginning; the words that follow, which are no pattern; the pattern
            of its end. Blanks may stand behind.
        before: the pattern of what may stand before each line.
    """
    return [(kind, words, later(before + begin + re.escape(words) + end + r"\s*")) for kind, begin, words, end in table]


def find_form(forms: Iterable[Form[_Kind]], text: str) -> tuple[_Kind, re.Match[str]] | None:
    """The first form that a whole line has, and its match; None: it has none.

    A pattern decides; it is compiled and tried only on lines that have its words, without which it cannot match.
    """
    for kind, words, pattern in forms:
        if words in text and (match := pattern().fullmatch(text)) is not None:
            return kind, match
    return None
