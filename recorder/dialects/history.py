"""The list that ``history`` prints: a player's last games, by numbers that ``smoves`` takes.

``22: - 1513 B 2052 VerdantNewt   [ br  3   0] B00 Res Thu Nov 24, 16:18 CST 2011``: number, result for the player,
rating, colour, the opponent's rating and name, type and rated, times, opening, how and when it ended. The C servers cut
the name to 13 characters and print the time as C does; FatICS cuts it to 14. ICC prints ``Jul 30 94 01:32``, and ``a``
for an aborted game.
Source: the format strings of FICS 1.6.2, Lasker and FatICS; ``help history`` of ICC, which shows no line before the
names of the columns.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import NamedTuple

from recorder.dialects.movelist import MONTHS, parse_started
from recorder.patterns import later

__all__ = ["HistoryRow", "is_history_columns", "is_no_history", "parse_history_head", "parse_history_row"]

_CUT = 13
_LAST_CENTURY = 90  # ICC began in 1995: later than that are years of the last century
_RATING = r"(?:[0-9]{1,5}[EP]?|\+{4}|-{4}|UNR)"
_HEAD = re.compile(r"History for (\S{1,40}):\s*")
_ROW = later(
    rf" *([0-9]{{1,4}}): ([-+=a]) +{_RATING} ([WB]) +{_RATING} (\S{{1,40}}?) *"
    r"\[ *[!-~]{1,3} *[0-9]{1,6} +[0-9]{1,6}\] +\S{1,9} +\S{1,9} +(\S(?:.*\S)?) *"
)
_COLUMNS = re.compile(r" +Opponent +Type +ECO +End +Date *")
_NONE = re.compile(
    r"(?:\S{1,40} has no history games"
    r"|Sorry, no game information available"
    r"|There is no player matching (?:the|that) name(?: \S{1,40})?"
    r"|Ambiguous name '\S{1,40}'; matches more than one player"
    r"|No games in history for \S{1,40}?"
    r"|(?:There is no history game|History game) -?[0-9]{1,6} (?:not available )?for \S{1,40}?"
    r"|There is no old game for \S{1,40}?)\.? *"
)
_ICC_DATE = later(r"([A-Z][a-z]{2}) +([0-9]{1,2}) ([0-9]{2}) +([0-9]{1,2}):([0-9]{2})")
_C_DATE = later(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +([0-9]{1,2}) ([0-9]{2}):([0-9]{2}):([0-9]{2}) ([0-9]{4})")


class HistoryRow(NamedTuple):
    """A game that somebody has played.

    Attributes:
        number: for ``smoves``. is_white: the player was. opponent: perhaps cut, then ``cut``. result: as a token.
        ended_at_ms: UTC milliseconds if the zone is known (``zone_known``), else local ones of the server; None: no
            date that can be read.
    """

    number: int
    is_white: bool
    opponent: str
    cut: bool
    result: str
    ended_at_ms: int | None
    zone_known: bool


def parse_history_head(text: str) -> str | None:
    """Whose list a line begins, or None."""
    match = _HEAD.fullmatch(text)
    return None if match is None else match[1]


def parse_history_row(text: str) -> HistoryRow | None:
    """Read one row of the list, or None."""
    match = _ROW().fullmatch(text)
    if match is None:
        return None
    number, sign, colour, opponent, date = match.groups()
    is_white = colour == "W"
    drawn = {"=": "1/2-1/2", "a": "*"}
    result = drawn.get(sign) or ("1-0" if (sign == "+") is is_white else "0-1")
    at_ms, zone_known = _read_date(date)
    return HistoryRow(int(number), is_white, opponent, len(opponent) >= _CUT, result, at_ms, zone_known)


def _read_date(text: str) -> tuple[int | None, bool]:
    if match := _C_DATE().fullmatch(text):
        month, day, hour, minute, second, year = match.groups()
    elif match := _ICC_DATE().fullmatch(text):
        month, day, year, hour, minute = match.groups()
        year, second = f"{19 if int(year) > _LAST_CENTURY else 20}{year}", "0"
    else:
        at_ms, zone_known, _ = parse_started(text)
        return at_ms, zone_known
    try:
        local = datetime(int(year), MONTHS.index(month) + 1, int(day), int(hour), int(minute), int(second), tzinfo=UTC)
    except ValueError:
        return None, False
    return int(local.timestamp()) * 1000, False


def is_history_columns(text: str) -> bool:
    """Whether a line has the names of the columns, which stand above the first row."""
    return _COLUMNS.fullmatch(text) is not None


def is_no_history(text: str) -> bool:
    """Whether a line says that there is no such history, or no such game in it."""
    return _NONE.fullmatch(text) is not None
