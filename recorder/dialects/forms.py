"""Fields and phrases that several kinds of lines share: patterns, ratings, chessd's Portuguese.

The result token shows a win or a draw; but ``*`` may be an adjourned game or an aborted one, and only
the words say which. The server's text is UTF-8, which clients may store as latin-1.
Source: the messages of chessd (po/pt_BR.po).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TypeVar

from recorder.events import GameHeader, Line, RatingText
from recorder.text import later

_Kind = TypeVar("_Kind")
_Header = TypeVar("_Header", bound=GameHeader)
Form = tuple[_Kind, str, Callable[[], re.Pattern[str]]]
"""The kind of a line of this form, words that it contains, and the pattern of the whole line."""


def make_forms(table: Iterable[tuple[_Kind, str, str, str]], before: str = "") -> list[Form[_Kind]]:
    """A row is the kind, pattern of the beginning, plain words that follow, pattern of the end; blanks may follow."""
    return [(kind, words, later(before + begin + re.escape(words) + end + r"\s*")) for kind, begin, words, end in table]


def find_form(forms: Iterable[Form[_Kind]], text: str) -> tuple[_Kind, re.Match[str]] | None:
    """The first form that matches a whole line; a pattern is compiled and tried only on lines that have its words."""
    for kind, words, pattern in forms:
        if words in text and (match := pattern().fullmatch(text)) is not None:
            return kind, match
    return None


RATING = r"\(\s*([0-9]{1,9}[A-Za-z]?|[+]+|-+|UNR)\s*\)"
"""A rating in parentheses, padded or not; like all numbers in lines it has at most nine digits."""

_NUMBER = re.compile(r"([0-9]{1,9})[A-Za-z]?")


def read_rating(text: str) -> RatingText:
    """The printed text and its number (None for ``++++``, ``----``, ``UNR``; 0 stays 0)."""
    if text.isascii() and text.isdigit() and len(text) < 10:
        return RatingText(text, int(text))
    match = _NUMBER.fullmatch(text)
    return RatingText(text, None if match is None else int(match[1]))


def read_header(kind: type[_Header], line: Line, number: str, *words: str) -> _Header:
    white, white_rating, black, black_rating, rated, category, base, increment = words
    ratings = read_rating(white_rating), read_rating(black_rating)
    times = int(base), int(increment)
    return kind(line, int(number), white, ratings[0], black, ratings[1], rated == "rated", category or None, *times)


RATED = "classificada"
UNRATED = r"n\S{1,2}o-classificada"
"""As part of a pattern."""
CONTINUING = "Continuando"
RUNNING = "Ainda em progresso"

_WHOLE = {
    "Jogo bughouse abortado": "aborted-bug",
    "Jogo adiado por acordo mútuo": "adjourned-agreed",
    "Jogo abortado por acordo mútuo": "aborted-agreed",
    "Jogo abortado por adjudicação": "aborted-adjudicated",
    "adiado": "adjourned-lost",
    "abortado": "aborted-lost",
}
_AFTER_NAME = {
    " perdeu a conexão; jogo adiado": "adjourned-lost",
    " perdeu a conexão; jogo abortado": "aborted-lost",
    " perderam a conexão, jogo adiado": "adjourned-lost",
}
_BEFORE_NAME = {
    "Jogo courtesyadiado por ": "adjourned-courtesy",
    "Jogo courstesyadiado por ": "adjourned-courtesy",
    "Jogo courtesyabortado por ": "aborted-courtesy",
    "Jogo bughouse courtesyabortado por ": "aborted-bug",
}
_COLOURS = ("Brancas", "Pretas")


def unended_key(words: str, white: str, black: str) -> tuple[str, str | None]:
    """Why a game has no result, and the handle named; ``words`` have a latin-1 character for each byte."""
    with suppress(UnicodeError):  # it is latin-1 itself
        words = words.encode("latin-1").decode("utf-8")
    if words in _WHOLE:
        return _WHOLE[words], None
    names = ((white, white), (black, black), *zip((f"As {name}" for name in _COLOURS), (white, black), strict=True))
    for name, actor in names:
        if words.startswith(name) and words[len(name) :] in _AFTER_NAME:
            return _AFTER_NAME[words[len(name) :]], actor
    for before, key in _BEFORE_NAME.items():
        for name, actor in ((white, white), (black, black), *zip(_COLOURS, (white, black), strict=True)):
            if words == before + name:
                return key, actor
    return "unknown", None
