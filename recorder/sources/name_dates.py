"""Dates in the names of logs, for those that have none in their text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime
from typing import Final

from recorder.errors import SourceError
from recorder.text import later

__all__ = ["check_format", "date_in_name", "format_of"]

_DIRECTIVES: Final = {
    "%": "%",
    "Y": "[0-9]{4}",
    "y": "[0-9]{2}",
    "m": "[0-9]{1,2}",
    "d": "[0-9]{1,2}",
    "j": "[0-9]{1,3}",
    "b": "[A-Za-z]{3}",
    "B": "[A-Za-z]{3,9}",
}
_DIRECTIVE: Final = later("%(.?)", re.DOTALL)
_COMMON: Final = ("%Y-%m-%d", "%Y%m%d", "%Y_%m_%d", "%Y.%m.%d")
_FIRST_YEAR: Final = 1990  # before it there were no servers, and eight digits are something else


def check_format(text: str) -> str:
    """A format that has a day, month and year.

    Raises:
        SourceError: it has not, or has something else.
    """
    found = _DIRECTIVE().findall(text)
    letters = set(found) - {"%"}
    for wrong in letters - _DIRECTIVES.keys():
        raise SourceError(f"%{wrong} is no part of a date here; a format is made of %Y %y %m %b %B %d %j.")
    if not letters & {"Y", "y"} or not ("j" in letters or ("d" in letters and letters & {"m", "b", "B"})):
        raise SourceError(f"The format {text!r} is no whole date; write one like %Y-%m-%d.")
    if len(found) - found.count("%") > len(letters):
        raise SourceError(f"The format {text!r} has a part of the date twice.")
    return text


def date_in_name(name: str, form: str) -> date | None:
    """The first date of this format in the name of a file; None: there is none.

    Args:
        name: without folders. form: as ``check_format`` returns it. Digits beside the date are none of another number.
    """
    parts = re.split("(%.)", form)
    words = "".join(_DIRECTIVES[part[1]] if part[:1] == "%" else re.escape(part) for part in parts if part)
    for found in re.finditer(f"(?<![0-9])(?=({words})(?![0-9]))", name):
        try:
            return datetime.strptime(found[1], form).date()
        except ValueError:
            continue
    return None


def format_of(names: Sequence[str]) -> str | None:
    """The format of the dates that all names seem to have, to be named to the user; None: there is none.

    Args:
        names: without folders.
    """
    for form in _COMMON if names else ():
        days = [date_in_name(name, form) for name in names]
        if all(day is not None and day.year >= _FIRST_YEAR for day in days):
            return form
    return None
