"""The language of ``--observe``: ``rated & (blitz | standard) & rating > 2000``. See ``docs/reference/observe.md``.

A lexer and a parser by recursive descent; ``judge.py`` evaluates expressions for a game.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from recorder.errors import PolicyError
from recorder.rules.variants import VARIANTS, is_known_variant, read_category

_PLAIN = re.compile(r"[A-Za-z0-9_][\w-]*")

WORDS = ("all", "rated", "unrated", "private", "guest", "registered", "computer", "titled", "examined")
TITLES = ("gm", "im", "fm", "cm", "nm", "wgm", "wim", "wfm", "wcm")
CATEGORIES = (
    "lightning", "blitz", "standard", "untimed", "bullet", "bughouse", "crazyhouse", "suicide", "losers", "atomic",
    "wild", "nonstandard", "chess960",
)  # fmt: skip
FIELDS = (
    "rating", "white_rating", "black_rating", "min_rating", "max_rating", "base", "increment", "etime", "number",
)  # fmt: skip
_SIDES = ("player", "white", "black")
_RESERVED = {*WORDS, *TITLES, *CATEGORIES, *FIELDS, *_SIDES}
_VARIANTS = frozenset(variant.name for variant in VARIANTS)
_SIGNS = ("<", "<=", ">", ">=", "=", "!=")
_MEANT = {"=>": ">=", "=<": "<=", "<>": "!=", "=!": "!="}  # written the other way round
_MAX_DEPTH = 100
_MAX_LENGTH = 100_000
_MAX_DIGITS = 20


@dataclass(frozen=True, slots=True)
class Word:
    """``rated``, ``guest``, ``computer``, ``gm`` …, in lower case."""

    name: str


@dataclass(frozen=True, slots=True)
class Category:
    """A speed or a variant as servers print it: ``blitz``, ``wild/fr``, ``wild(22)``."""

    name: str


@dataclass(frozen=True, slots=True)
class Compare:
    """``rating >= 2000``: one of ``FIELDS``, a sign and a number that is not negative."""

    field: str
    sign: str
    value: Fraction


@dataclass(frozen=True, slots=True)
class Plays:
    """``player Morphy``, ``white Morphy``, ``black Morphy``."""

    side: str
    handle: str


@dataclass(frozen=True, slots=True)
class Not:
    """``! part``."""

    part: Expression


@dataclass(frozen=True, slots=True)
class And:
    """``part & part & …``, two or more."""

    parts: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """``part | part | …``, two or more."""

    parts: tuple[Expression, ...]


Expression = Word | Category | Compare | Plays | Not | And | Or


class _Token(NamedTuple):
    kind: str  # "word", "quoted", "number", a sign, "end"
    text: str
    column: int


_TOKEN = re.compile(
    r"(?P<blank>\s+)"
    r"|(?P<number>[0-9]+(?:\.[0-9]+)?(?![A-Za-z0-9_/-]|\.[0-9]))"
    r"|(?P<sign><=|>=|!=|==|&&|\|\||[<>=&|!()])"
    r"|\"(?P<quoted>[^\"]*)\""
    r"|(?P<word>[Ww]ild\([0-9]+\)|[A-Za-z0-9_][A-Za-z0-9_/.-]*)",
    re.ASCII,
)
_SPELLINGS = {"&&": "&", "||": "|", "==": "="}
_OPERATORS = {"and": "&", "or": "|", "not": "!"}
_HANDLE = re.compile(r"[A-Za-z0-9_-]{1,40}", re.ASCII)
_CATEGORY = re.compile(r"(?:[a-z][a-z0-9-]*/[a-z0-9/-]+|wild\([0-9]+\))", re.ASCII)


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            if text[at] == '"':
                raise PolicyError('a quoted name begins here and its closing " is missing', at + 1)
            raise PolicyError(f"{text[at]!r} is unexpected; expected a word or a sign", at + 1)
        kind = match.lastgroup or ""
        found = match[kind]
        if kind == "sign":
            found = kind = _SPELLINGS.get(found, found)
        elif kind == "word" and found.lower() in _OPERATORS:
            found = kind = _OPERATORS[found.lower()]
        if kind != "blank":
            tokens.append(_Token(kind, found, at + 1))
        at = match.end()
    return [*tokens, _Token("end", "", len(text) + 1)]


class _Parser:
    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def whole(self) -> Expression:
        tree = self._either()
        token = self._next
        if token.kind == ")":
            raise PolicyError("this ) closes nothing", token.column)
        if token.kind != "end":
            raise PolicyError(f"expected & or | before {_shown(token)}", token.column)
        return tree

    @property
    def _next(self) -> _Token:
        return self._tokens[self._at]

    def _take(self) -> _Token:
        token = self._tokens[self._at]
        self._at += token.kind != "end"
        return token

    def _either(self) -> Expression:
        parts = [self._both()]
        while self._next.kind == "|":
            self._take()
            parts.append(self._both())
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _both(self) -> Expression:
        parts = [self._one()]
        while self._next.kind == "&":
            self._take()
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _one(self) -> Expression:
        token = self._take()
        if token.kind in ("!", "("):
            self._depth += 1
            if self._depth > _MAX_DEPTH:
                raise PolicyError(f"the expression is nested more than {_MAX_DEPTH} deep", token.column)
            if token.kind == "!":
                part: Expression = Not(self._one())
            else:
                part = self._either()
                if self._next.kind != ")":
                    raise PolicyError(
                        f"expected ) for the ( of column {token.column}, found {_shown(self._next)}", self._next.column
                    )
                self._take()
            self._depth -= 1
            return part
        if token.kind == "word":
            return self._word(token)
        if token.kind == "quoted":
            name = token.text.lower()
            if not name or not name.isprintable():
                raise PolicyError("a speed or a variant in quotes must have a name", token.column)
            return Category(name)
        if token.kind == "number":
            raise PolicyError(
                f"expected a word such as rated; a number stands behind its sign, as in rating > {token.text}",
                token.column,
            )
        raise PolicyError(f"expected a word, ! or (, found {_shown(token)}", token.column)

    def _word(self, token: _Token) -> Expression:
        name = token.text.lower()
        if name in FIELDS:
            return self._comparison(name, token)
        if name in _SIDES:
            return self._plays(name, token)
        if name in WORDS or name in TITLES:
            return Word(name)
        if _names_category(name):
            return Category(name)
        close = difflib.get_close_matches(name[:40], sorted({*_RESERVED, *_VARIANTS}), n=1)
        shown = token.text[:40]
        player = f'for a player write player {shown}, for a type that only your server has "{shown}"'
        hint = f"did you mean {close[0]}?" if close else player
        raise PolicyError(f"{_shown(token)} is an unknown word; {hint}", token.column)

    def _comparison(self, field: str, token: _Token) -> Compare:
        sign = self._take()
        if sign.kind not in _SIGNS:
            raise PolicyError(f"expected one of {' '.join(_SIGNS)} behind {field}, found {_shown(sign)}", sign.column)
        number = self._take()
        if meant := _MEANT.get(sign.text + number.kind):
            raise PolicyError(f"{sign.text + number.kind!r} is no sign, did you mean {meant}?", sign.column)
        if number.kind != "number":
            raise PolicyError(f"expected a number behind {field} {sign.text}, found {_shown(number)}", number.column)
        if len(number.text) > _MAX_DIGITS:
            raise PolicyError(f"the number has more than {_MAX_DIGITS} digits", number.column)
        return Compare(field, sign.text, Fraction(number.text))

    def _plays(self, side: str, token: _Token) -> Plays:
        name = self._take()
        if name.kind not in ("word", "quoted", "number"):
            raise PolicyError(f"expected a handle behind {side}, found {_shown(name)}", name.column)
        if _HANDLE.fullmatch(name.text) is None:
            raise PolicyError(f"{_shown(name)} is no handle: letters and digits without blanks are", name.column)
        return Plays(side, name.text)


def _names_category(name: str) -> bool:
    """Whether some server prints a word as a speed or a variant, so that it needs no quotes."""
    if name in CATEGORIES or _CATEGORY.fullmatch(name) is not None:
        return True
    return _PLAIN.fullmatch(name) is not None and (read_category(name) != name or is_known_variant(name))


def _shown(token: _Token) -> str:
    if token.kind == "end":
        return "the end"
    text = token.text if len(token.text) <= 40 else f"{token.text[:40]}…"
    return repr(text)


def parse_policy(text: str) -> Expression:
    """Parse an expression; the text of a PolicyError has the column and what was expected."""
    if len(text) > _MAX_LENGTH:
        raise PolicyError(f"the expression has more than {_MAX_LENGTH:,} characters")
    tokens = _tokens(text)
    if len(tokens) == 1:
        raise PolicyError("the expression is empty, expected a word such as rated", 1)
    return _Parser(tokens).whole()


def format_policy(tree: Expression) -> str:
    """With parentheses only where they are needed."""
    if isinstance(tree, Word):
        return tree.name
    if isinstance(tree, Category):
        return tree.name if _names_category(tree.name) else f'"{tree.name}"'
    if isinstance(tree, Compare):
        return f"{tree.field} {tree.sign} {_decimal(tree.value)}"
    if isinstance(tree, Plays):
        plain = tree.handle.lower() not in _OPERATORS and _PLAIN.fullmatch(tree.handle) is not None
        return f"{tree.side} {tree.handle}" if plain else f'{tree.side} "{tree.handle}"'
    if isinstance(tree, Not):
        return f"!{_inside(tree.part, And, Or)}"
    if isinstance(tree, And):
        return " & ".join(_inside(part, And, Or) for part in tree.parts)
    return " | ".join(_inside(part, Or) for part in tree.parts)


def _inside(tree: Expression, *enclosed: type) -> str:
    text = format_policy(tree)
    return f"({text})" if isinstance(tree, enclosed) else text


def _decimal(value: Fraction) -> str:
    whole, rest = divmod(value, 1)
    digits = ""
    while rest and len(digits) < _MAX_DIGITS:
        digit, rest = divmod(rest * 10, 1)
        digits += str(digit)
    return f"{whole}.{digits}" if digits else str(whole)


def words_of(tree: Expression) -> frozenset[str]:
    """No categories, handles and fields."""
    if isinstance(tree, Word):
        return frozenset((tree.name,))
    if isinstance(tree, Not):
        return words_of(tree.part)
    if isinstance(tree, And | Or):
        return frozenset().union(*(words_of(part) for part in tree.parts))
    return frozenset()


def parse_handles(text: str) -> tuple[str, ...]:
    """Handles, one a line and each once, whatever its case; text after ``#`` is ignored."""
    handles: dict[str, str] = {}
    for number, line in enumerate(text.split("\n"), 1):
        handle = line.partition("#")[0].strip()
        if handle and _HANDLE.fullmatch(handle) is None:
            raise PolicyError(
                f"Line {number} of the list of handles holds {handle[:40]!r}, expected one handle a line."
            )
        if handle:
            handles.setdefault(handle.lower(), handle)
    return tuple(handles.values())
