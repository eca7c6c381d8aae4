"""The filters of games, a line for each: options, keyword arguments, fields of the site and help are made of these."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import partial
from typing import Any, Final, NamedTuple

from recorder.errors import ExportError
from recorder.model import EventKind
from recorder.times import read_period

_ECO: Final = re.compile(r"[A-Ea-e][0-9]{0,2}", re.ASCII)
_NUMBER: Final = re.compile(r"[0-9]{1,9}", re.ASCII)
_CONTROL: Final = re.compile(r"([0-9]{1,6})([sm]?)(?:\+([0-9]{1,6}))?", re.ASCII)
_DURATION: Final = re.compile(r"(?:([0-9]{1,6}):)?([0-9]{1,6})(?:\.([0-9]{1,3}))?([smh]?)", re.ASCII)
_MOST: Final = 999_999_999
_UNITS_S: Final = {"s": 1, "m": 60, "h": 3600}
_LEAST_SECONDS: Final = 60
INCLUDES: Final = ("examined", "setup", "empty")


def _word(value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ExportError("A filter's word is empty or no text: leave the filter out, or give a word.")
    return value


def _one_of(what: str, words: tuple[str, ...], value: Any) -> str:
    if value not in words:
        raise ExportError(f"{value!r} is no {what}; there are {', '.join(words)}.")
    return str(value)


def _eco(value: Any) -> str:
    if not _ECO.fullmatch(_word(value)):
        raise ExportError(f"{value!r} is no ECO code; write one as B90, or its beginning as B9.")
    return str(value).upper()


def _whole(value: Any, *, least: int = 0) -> int:
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        value = int(value)
    if type(value) is not int or not least <= value <= _MOST:
        raise ExportError(f"{value!r} is not a whole number of {least} or more.")
    return int(value)


def _truth(value: Any) -> bool:
    truth = {"yes": True, "no": False}.get(value, value) if isinstance(value, str) else value
    if truth not in (True, False):
        raise ExportError(f"The filter is True or False, not {value!r}.")
    return bool(truth)


def _instant_ms(value: Any, *, end: bool) -> int:
    """Milliseconds since 1970 of a moment, or of the first or last millisecond of a day, month or year."""
    if isinstance(value, str):
        try:
            value = read_period(value)[end]
        except ValueError as error:
            raise ExportError(str(error)) from error
    if isinstance(value, datetime):
        moment = value if value.tzinfo is not None else value.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    if not isinstance(value, date):
        raise ExportError(f"{value!r} is not a date; write it as 2020-01-31.")
    return ((value - date(1970, 1, 1)).days + end) * 86_400_000 - end


def read_duration_ms(value: Any, *, unit: str = "s") -> int:
    """Milliseconds of ``30s``, ``1:30``, ``5m``, a number of the unit, or a timedelta."""
    if isinstance(value, timedelta):
        return value // timedelta(milliseconds=1)
    match = _DURATION.fullmatch(str(value)) if isinstance(value, (str, int, float)) else None
    if match is None or (match[1] and match[4]):
        raise ExportError(f"{value!r} is not a time; write it as 30s, 1:30 or 5m.")
    thousandths = int(match[2]) * 1000 + int((match[3] or "").ljust(3, "0"))
    if match[1]:
        return int(match[1]) * 60_000 + thousandths
    return thousandths * _UNITS_S[match[4] or unit]


def _seconds(value: Any, *, unit: str) -> int:
    return read_duration_ms(value, unit=unit) // 1000


def _control(value: Any) -> str:
    """Base and increment in seconds of a time control: ``3+0`` is ``180+0``."""
    match = _CONTROL.fullmatch("0+0" if value == "-" else _word(value).replace(" ", "+"))
    if match is None:
        raise ExportError(f"{value!r} is no time control; write it as 3+0 (minutes and seconds) or 180+0 (seconds).")
    base, unit, increment = int(match[1]), match[2], int(match[3] or 0)
    return f"{base * (60 if unit == 'm' or (not unit and base < _LEAST_SECONDS) else 1)}+{increment}"


def filter_control(control: str) -> str:
    """The value of the filter ``time`` that means a time control of the tables, in seconds."""
    if control == "-":
        return "0+0"
    base, plus, increment = control.partition("+")
    return f"{base}s{plus}{increment}" if base.isdigit() and 0 < int(base) < _LEAST_SECONDS else control


class Filter(NamedTuple):
    """A filter; ``name`` is that of the keyword argument and the field, and with hyphens that of the option.

    ``about`` is what the option says; ``read`` makes the value of text or of Python's values. ``many``: of several
    values one is enough. ``flag`` is the option, if it has no value; ``words`` are all values, with what the site calls
    them. ``label`` is the field's, empty if the site has none; ``first``: it is always shown. ``option``: all commands
    with filters have it.
    """

    name: str
    attribute: str
    about: str
    read: Callable[[Any], Any] = _word
    metavar: str = ""
    many: bool = False
    flag: str = ""
    words: Mapping[str, str] = {}
    label: str = ""
    first: bool = False
    option: bool = True

    def value(self, stated: Any) -> Any:
        if not self.many:
            return self.read(stated)
        several = isinstance(stated, Iterable) and not isinstance(stated, str)
        return frozenset(map(self.read, stated if several else [stated]))


_OUTCOMES: Final = {"win": "won", "draw": "drew", "loss": "lost"}
_SPEEDS: Final = {
    "lightning": "lightning (under 3 minutes)",
    "blitz": "blitz (3 to 15 minutes)",
    "standard": "standard (15 minutes and more)",
    "untimed": "untimed",
}
HAPPENINGS: Final = {
    "takeback": ("takebacks", EventKind.TAKEBACK.value, "%"),
    "draw-offer": ("draw offers", EventKind.NOTICE.value, "draw-offer"),
    "time-added": ("added time", EventKind.NOTICE.value, "time-added"),
    "pause": ("pauses", EventKind.NOTICE.value, "paused"),
    "disconnection": ("disconnections", EventKind.NOTICE.value, "disconnected"),
    "gap": ("missing moves", EventKind.GAP.value, "%"),
    "kibitz": ("kibitzes", EventKind.CHAT.value, "kibitz"),
}
"""What the site calls it, a kind of events, and a pattern of their details, for LIKE."""
_DATE: Final = "this day, month or year (UTC; YYYY-MM-DD, YYYY-MM, YYYY)."


def _choice(name: str, attribute: str, what: str, words: Mapping[str, str], about: str, **more: Any) -> Filter:
    read = partial(_one_of, what, tuple(words))
    return Filter(name, attribute, about, read, many=True, words=words, **more)


def _named(name: str, attribute: str, metavar: str, about: str, **more: Any) -> Filter:
    return Filter(name, attribute, about, metavar=metavar, many=True, **more)


_ALL: Final = (
    _named(
        "player", "players", "HANDLE", "Only games of this player, as White or Black; * is any text ('Helm*').",
        label="Player", first=True,
    ),
    _named(
        "opponent", "opponents", "HANDLE", "Only games against this player.", label="Opponent", first=True
    ),
    _named("white", "white", "HANDLE", "Only games with this player as White."),
    _named("black", "black", "HANDLE", "Only games with this player as Black."),
    _choice(
        "outcome", "outcomes", "outcome", _OUTCOMES, "Only games that --player won, drew or lost.",
        label="Player's result",
    ),
    _choice(
        "result", "results", "result",
        {"1-0": "1–0", "0-1": "0–1", "1/2-1/2": "½–½", "*": "unfinished"}, "Only games with this result.",
        label="Result", first=True,
    ),
    _named(
        "variant", "variants", "WORD", "Only games of this variant, in any spelling (chess, wild/5).",
        label="Variant", first=True,
    ),
    Filter(
        "time", "time_controls", "Only games with this time control: base in minutes, or from 60 on in seconds, and "
        "increment in seconds (3+0, 180+0, 30s+0).", _control, "BASE+INC", True, label="Time control", first=True,
    ),
    Filter(
        "since", "since_ms", f"Only games that began on or after {_DATE}", partial(_instant_ms, end=False), "DATE",
        label="From", first=True,
    ),
    Filter(
        "until", "until_ms", f"Only games that began by the end of {_DATE}", partial(_instant_ms, end=True), "DATE",
        label="To", first=True,
    ),
    _choice(
        "speed", "speeds", "speed", _SPEEDS,
        "Only games of this speed: that of the category, else of base + 40 increments, below 3 and 15 minutes.",
        label="Speed",
    ),
    _named(
        "opening", "openings", "TEXT", "Only games whose opening's name contains this text (Najdorf).",
        label="Opening",
    ),
    Filter(
        "eco", "ecos", "Only games with this ECO code, or one that begins so (B90, B9).", _eco, "CODE", True,
        label="ECO code",
    ),
    Filter(
        "moves", "", 'Only games that reached the position after these moves ("e4 c5 Nf3"; from --position if given).',
        metavar="MOVES", label="Position after moves", option=False,
    ),
    Filter(
        "position", "", "Only games that reached this position.", metavar="FEN", label="Position (FEN)", option=False
    ),
    Filter(
        "rating_from", "min_rating", "Only games of two players with this rating or more.", _whole, "N",
        label="Both rated from",
    ),
    Filter(
        "rating_to", "max_rating", "Only games of two players with this rating or less.", _whole, "N",
        label="Both rated to",
    ),
    Filter("plies_from", "min_plies", "Only games of at least N half-moves.", _whole, "N", label="Plies from"),
    Filter("plies_to", "max_plies", "Only games of at most N half-moves.", _whole, "N", label="Plies to"),
    Filter(
        "lasts_from", "min_duration_s", "Only games that lasted at least so long (10m, 1h).",
        partial(_seconds, unit="m"), "TIME", label="Lasted from (minutes)",
    ),
    Filter(
        "lasts_to", "max_duration_s", "Only games that lasted at most so long (10m, 1h).",
        partial(_seconds, unit="m"), "TIME", label="Lasted to (minutes)",
    ),
    Filter(
        "clock_below", "clock_below_ms", "Only games in which a clock was below this after a move (10s, 1:30).",
        read_duration_ms, "TIME", label="A clock below (seconds)",
    ),
    Filter(
        "lead", "lead_ms", "Only games that were lost with so much more on the clock than the winner (30s).",
        read_duration_ms, "TIME", label="Lost with a lead of (seconds)",
    ),
    _choice(
        "happened", "happened", "happening", {name: words for name, (words, *_) in HAPPENINGS.items()},
        "Only games in which this happened.", label="With",
    ),
    _named(
        "ending", "endings", "WORD", "Only games that ended so (checkmate, resign, time, adjourned).",
        label="Ended by",
    ),
    Filter(
        "rated", "rated", "Only rated, or only unrated games.", _truth, flag="--rated/--unrated",
        words={"yes": "rated", "no": "unrated"}, label="Rated",
    ),
    _named(
        "category", "categories", "WORD", "Only games of this category, as the server spells it (blitz, standard).",
        label="Category",
    ),
    _named(
        "server", "servers", "NAME", "Only games of this site; unknown: games without a site.", label="Server"
    ),
    Filter("me", "me", "Only games recorded by a connection of this handle.", metavar="HANDLE"),
    Filter("source", "source", "Only games of this source (see `sources`).", metavar="ID", label="Source"),
    Filter("keys", "keys", "", many=True, option=False),
    Filter(
        "complete", "complete", "Only games recorded from the first move to the result.", _truth, flag="--complete",
        words={"yes": "only complete games"}, label="Complete",
    ),
    Filter(
        "guests", "no_guests", "Exclude games of unregistered players.", _truth, flag="--no-guests",
        words={"no": "no games of guests"}, label="Guests",
    ),
    Filter(
        "computers", "no_computers", "Exclude games of players with the title (C).", _truth, flag="--no-computers",
        words={"no": "no games of computers"}, label="Computers",
    ),
    Filter(
        "include", "kinds", "Also these games, excluded by default: examined, setup, empty (no known move).",
        partial(_one_of, "kind of games to include", INCLUDES), many=True,
        words={"examined": "examined games", "empty": "games without moves"}, label="Also",
    ),
    Filter("last", "last", "Only the newest N matching games.", partial(_whole, least=1), "N"),
)  # fmt: skip

FILTERS: Final[Mapping[str, Filter]] = {one.name: one for one in _ALL}
