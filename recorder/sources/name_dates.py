"""Dates in the names of logs, for those that have none in their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

from recorder.errors import SourceError
from recorder.text import later

_PARTS: Final = later("%.?|[^%]+", re.DOTALL)
_DIGITS: Final = later("[0-9]{1,3}")
_YEAR: Final = later("[0-9]{4}")
_TWO_DIGITS: Final = later("[0-9]{1,2}")
_MONTH: Final = later("[A-Za-z]{3,9}")
_DIRECTIVES: Final = {
    "%Y": _YEAR, "%y": _TWO_DIGITS, "%m": _TWO_DIGITS, "%d": _TWO_DIGITS, "%j": _DIGITS, "%b": _MONTH, "%B": _MONTH
}  # fmt: skip
_COMMON: Final = ("%Y-%m-%d", "%Y%m%d", "%Y_%m_%d", "%Y.%m.%d")
_FIRST_YEAR: Final = 1990  # before it there were no servers, and eight digits are something else


def check_format(text: str) -> str:
    """A day, month and year and nothing else, or SourceError."""
    found = [part for part in _PARTS().findall(text) if part[0] == "%" != part[1:]]
    parts = set(found)
    for wrong in parts - _DIRECTIVES.keys():
        raise SourceError(f"{wrong} is no part of a date here; a format is made of {' '.join(_DIRECTIVES)}.")
    if not parts & {"%Y", "%y"} or not ("%j" in parts or ("%d" in parts and parts & {"%m", "%b", "%B"})):
        raise SourceError(f"The format {text!r} is no whole date; write one like %Y-%m-%d.")
    if len(found) > len(parts):
        raise SourceError(f"The format {text!r} has a part of the date twice.")
    return text


def date_in_name(name: str, form: str) -> date | None:
    """Its digits are not part of another number."""
    parts = _PARTS().findall(form)
    for begin in range(len(name)):
        end = _end(name, begin, parts)
        if end is None or name[begin - 1 : begin].isdigit() or name[end : end + 1].isdigit():
            continue
        try:
            return datetime.strptime(name[begin:end], form).date()
        except ValueError:
            continue
    return None


def _end(name: str, at: int, parts: list[str]) -> int | None:
    for part in parts:
        if part in _DIRECTIVES:
            match = _DIRECTIVES[part]().match(name, at)
            if match is None:
                return None
            at = match.end()
        else:
            words = "%" if part == "%%" else part
            if not name.startswith(words, at):
                return None
            at += len(words)
    return at


def format_of(names: Sequence[str]) -> str | None:
    """The format of the dates that all names seem to have, to be named to the user; None: there is none."""
    for form in _COMMON if names else ():
        days = [date_in_name(name, form) for name in names]
        if all(day is not None and day.year >= _FIRST_YEAR for day in days):
            return form
    return None
