"""Pieces of PGN text: escaping, wrapping, reasons. Pure functions of strings."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

from recorder.movetext import GLUE, LINE_LENGTH, with_bars

__all__ = [
    "GLUE",
    "Item",
    "brace_comment",
    "brace_text",
    "colours_for_handles",
    "comment_of",
    "decoded",
    "readable",
    "tag",
    "tag_lines",
    "wrap",
]

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]+")
_LINE = re.compile(rf"(.{{1,{LINE_LENGTH}}}|[^ ]{{{LINE_LENGTH + 1},}})(?: |\Z)", re.DOTALL)
_DEPTH = "[%depth"  # belongs to an evaluation before it
_BRACES = str.maketrans("{}", "()")


def decoded(text: str) -> str:
    """Server text with UTF-8 where its latin-1 characters are UTF-8 bytes."""
    if not text.isascii():
        with suppress(UnicodeError):  # then it is latin-1, or was decoded before
            text = text.encode("latin-1").decode("utf-8")
    return text


def readable(text: str) -> str:
    """Server text as a person should see it: decoded, without control bytes."""
    if text.isascii() and text.isprintable():
        return text  # as nearly all is
    return _CONTROL.sub(" ", decoded(text))


def tag(name: str, value: str) -> str:
    """One tag pair with its line feed. PGN standard 8.1: backslash and quote are escaped by a backslash."""
    if not (value.isascii() and value.isalnum()):
        value = readable(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'[{name} "{value}"]\n'


def tag_lines(text: str) -> list[str]:
    """Tag pairs line by line, each with its line feed; no other character of a value ends a line (U+2028 …)."""
    return [f"{line}\n" for line in text.split("\n")[:-1]]


class Item(NamedTuple):
    """One part of a comment as it is written, without braces; ``bare``: it is only times or other commands."""

    text: str
    bare: bool = False


def brace_text(text: str) -> str:
    """Any text as it can stand in a comment.

    PGN has no escape inside braces, so braces become parentheses. ``[%`` would be read as a command and ``%`` at the
    start of a line as an escape line: neither can come from somebody's words.
    """
    text = with_bars(" ".join(readable(text).translate(_BRACES).split()))
    return text.replace("[%", "[ %").replace(" %", GLUE + "%")


def brace_comment(text: str) -> str:
    """A comment with any text in it."""
    return comment_of([Item(brace_text(text))])


def comment_of(items: Sequence[Item], pad: str = "") -> str:
    """One comment with all items, separated by ``|`` where they could be read as one.

    ``recorder.movetext.split_remark`` takes it apart again.

    Args:
        pad: what follows the opening brace and precedes the closing one.
    """
    parts: list[str] = []
    alone = True
    for item in items:
        if not alone or (parts and item.text.startswith(_DEPTH)):
            parts.append("|")
        parts.append(item.text)
        alone = item.bare and not item.text.startswith(_DEPTH)
    return f"{{{pad}{' '.join(parts)}{pad}}}"


def colours_for_handles(reason: str, white: str, black: str) -> str:
    """``Ann's king exploded`` → ``White's king exploded``: the FICS archive names colours.

    A handle stands at the start of the reason, or after `` and `` before `` has ``; nowhere else, so a player whose
    handle is a word of the reason does no harm.
    """
    for handle, colour in ((white, "White"), (black, "Black")):
        if not handle:
            continue
        name = re.escape(handle)
        reason = re.sub(rf"^{name}(?=[ '])", colour, reason, count=1)
        reason = re.sub(rf" and {name}(?= has )", f" and {colour}", reason, count=1)
    return reason


def wrap(text: str, column: int = 0) -> str:
    """Break at blanks into lines of at most 79 characters (a longer word stays whole); no line feed at the end.

    Args:
        column: how many characters the line has, if the text goes on in one, behind a blank.
    """
    if column:
        return wrap(f"{'-' * column} {text}")[column:]
    return "\n".join(_LINE.findall(text)).replace(GLUE, " ")
