"""The fields of an ICC datagram: text to strings and back.

A datagram is ``\\x19(`` number arguments ``\\x19)``. Arguments are bare words, ``{…}`` without braces inside, or
``\\x19{…\\x19}`` with anything inside. Source: ICC's formats2.txt, as restated in the protocol reference.
"""

from __future__ import annotations

import re

from recorder.errors import LineError

__all__ = ["DATAGRAM_TAG", "format_fields", "parse_fields"]

DATAGRAM_TAG = "\x19("

_WHOLE = re.compile(r"\x19\((?P<number>[0-9]{1,4})(?P<rest>(?:[\s{\x19].*)?)\x19\)", re.DOTALL)
_FIELD = re.compile(r"\s*(?:\x19\{(?P<any>.*?)\x19\}|\{(?P<braced>[^{}\x19]*)\}|(?P<word>[^\s{}\x19]+))", re.DOTALL)
_BARE = re.compile(r"[^\s{}\x19]+")


def parse_fields(text: str) -> tuple[int, list[str]]:
    """Cut a datagram into its number and its arguments.

    Args:
        text: from ``\\x19(`` to ``\\x19)``, line ends inside as ``\\n``.
    Returns:
        The number, and the arguments without what encloses them.
    Raises:
        LineError: it has another form, or its end is missing.
    """
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        problem = "does not end" if not text.endswith("\x19)") else "has no number"
        raise LineError(f"the datagram {problem}", text)
    rest = whole["rest"].rstrip()
    fields: list[str] = []
    at = 0
    while at < len(rest):
        field = _FIELD.match(rest, at)
        if field is None:
            raise LineError(f"the datagram's field {len(fields) + 1} cannot be {rest[at : at + 40]!r}", text)
        fields.append(next(value for value in field.groups() if value is not None))
        at = field.end()
    return int(whole["number"]), fields


def format_fields(number: int, fields: list[str]) -> str:
    """Write the datagram that ``parse_fields`` reads; each argument is enclosed as little as it allows."""
    return f"\x19({' '.join([str(number), *map(_enclosed, fields)])}\x19)"


def _enclosed(field: str) -> str:
    if _BARE.fullmatch(field):
        return field
    return f"\x19{{{field}\x19}}" if any(mark in field for mark in "{}\n\x19") else f"{{{field}}}"
