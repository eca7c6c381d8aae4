from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Callable
from contextlib import suppress
from enum import Enum
from functools import cache, partial
from operator import attrgetter
from typing import Any, AnyStr, Final, NamedTuple


def plural(number: int, word: str, words: str | None = None) -> str:
    """``1 game``, ``1,204 games``."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def terminal_size(terminal: int) -> tuple[int, int]:
    with suppress(OSError):
        columns, lines = os.get_terminal_size(terminal)
        if columns and lines:  # a terminal that was never given a size says 0
            return columns, lines
    return 80, 24


_UNITS: Final = ("bytes", "kB", "MB", "GB", "TB")


def byte_size(count: float) -> str:
    """``94 kB``, ``1.7 GB``."""
    unit = 0
    while round(count) >= 1000 and unit < len(_UNITS) - 1:
        count, unit = count / 1000, unit + 1
    return f"{count:.{int(unit > 1)}f} {_UNITS[unit]}"


def clean(text: str) -> str:
    r"""Text of a log made safe for a terminal: control characters become ``\x1b`` and the like."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def reason_of(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def later(pattern: AnyStr, flags: int = 0) -> Callable[[], re.Pattern[AnyStr]]:
    """A regular expression that is compiled when it is first used: ``_ROW = later(…)``, ``_ROW().fullmatch(…)``.

    Compiling one takes 0.1 to 2 ms, and there are hundreds: a command would spend a sixth of its start on patterns that
    its logs do not need. A pattern that nearly every log needs is compiled by ``re.compile`` in its module.
    """
    return cache(partial(re.compile, pattern, flags))


def named(words: str) -> Callable[[Any], dict[str, Any]]:
    """Reads named values of a row: ``"id kind site=header.host"``; of an enum's member its value."""
    wanted = {name: value_of(path or name) for name, _, path in (word.partition("=") for word in words.split())}
    return lambda row: {name: read(row) for name, read in wanted.items()}


def value_of(path: str) -> Callable[[Any], Any]:
    get = attrgetter(path)

    def read(row: Any) -> Any:
        value = get(row)
        return value.value if isinstance(value, Enum) else value

    return read


class NameWord(NamedTuple):
    """A word of a text: where it begins and ends, and its form in which case and composition do not matter."""

    begin: int
    end: int
    folded: str


# Scripts without blanks between words, and pictures: each letter is a word.
_ALONE: Final = (
    "\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2190-\u2bff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3100-\u31ff"
    "\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\U0001f000-\U0001faff\U00020000-\U0003ffff"
)
# Accents and vowels beside letters; the Indic blocks have letters, too.
_MARKS: Final = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0711\u0730-\u074a"
    "\u07a6-\u07b0\u0900-\u0963\u0966-\u0dff\u1ab0-\u1aff\u1dc0-\u1dff\u200c\u200d\u20d0-\u20ff\ufe00-\ufe0f\ufe20-\ufe2f"
)
_JAMO: Final = "[\u1100-\u115f][\u1160-\u11ff]+"  # parts of one letter
_WORD: Final = later(rf"{_JAMO}|[{_ALONE}][{_MARKS}]*+|(?![_{_ALONE}])\w(?:(?![_{_ALONE}])[\w{_MARKS}])*")
_ASCII_WORD: Final = later(r"[0-9A-Za-z]+")


def words_of(text: str) -> list[NameWord]:
    """The words of a text in any alphabet: letters and digits with their accents. An underscore separates words."""
    if text.isascii():
        return [NameWord(word.start(), word.end(), word[0].lower()) for word in _ASCII_WORD().finditer(text)]
    return [NameWord(word.start(), word.end(), _folded(word[0])) for word in _WORD().finditer(text)]


def _folded(word: str) -> str:
    return (
        word.lower()
        if word.isascii()
        else unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", word).casefold())
    )
