"""Small helpers for text: numbers with words, safe text, reasons of failures, patterns that few runs need."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import AnyStr

__all__ = ["clean", "later", "plural", "reason_of"]


def plural(number: int, word: str, words: str | None = None) -> str:
    """Write a number with its noun: ``1 game``, ``1,204 games``.

    Args:
        number: printed with commas.
        word: the singular.
        words: the plural; None: the singular with an ``s``.
    Returns:
        A phrase for a sentence or a table.
    """
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def clean(text: str) -> str:
    r"""Text of a log made safe for a terminal: control characters become ``\x1b`` and the like.

    Args:
        text: of a log, a file's name or a user.
    Returns:
        Printable characters only, without line ends.
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def reason_of(error: Exception) -> str:
    """The reason of a failure, without the error's number and the name of the file.

    Args:
        error: of the system or of this program.
    Returns:
        A clause or sentence.
    """
    return str(getattr(error, "strerror", None) or error)


def later(pattern: AnyStr, flags: int = 0) -> Callable[[], re.Pattern[AnyStr]]:
    """A regular expression that is compiled when it is first used: ``_ROW = later(…)``, ``_ROW().fullmatch(…)``.

    Compiling one takes 0.1 to 2 ms, and there are hundreds: a command would spend a sixth of its start on patterns that
    its logs do not need. A pattern that nearly every log needs is compiled by ``re.compile`` in its module.

    Args:
        pattern, flags: as for ``re.compile``.
    Returns:
        Returns the compiled pattern.
    """
    return cache(partial(re.compile, pattern, flags))
