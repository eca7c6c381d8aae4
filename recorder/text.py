"""Small pieces of text for messages: numbers with words, safe text, reasons of failures."""

from __future__ import annotations

__all__ = ["clean", "plural", "reason_of"]


def plural(number: int, word: str, words: str | None = None) -> str:
    """``1 game``, ``1,204 games``."""
    return f"{number:,} {word if number == 1 else words or word + 's'}"


def clean(text: str) -> str:
    """Text of a log made safe for a terminal: control characters become ``\\x1b`` and the like."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def reason_of(error: Exception) -> str:
    """Why something failed, without the error's number and the file's name, which our sentences have anyway."""
    return str(getattr(error, "strerror", None) or error)
