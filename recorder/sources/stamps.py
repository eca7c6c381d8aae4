"""Times that a log prints, and client logs with a time before each line.

A time of day alone never becomes a date by itself, and a stamp without a zone never becomes UTC: ``--date`` and
``--tz`` say so, or the basis says that it is not known.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Final

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.patterns import later
from recorder.sources.base import LineSplitter

__all__ = ["STAMP", "StampedDecoder", "Stamps", "parse_header_date", "zone_minutes"]

_DAY_MS: Final = 86_400_000
_HOUR_MS: Final = 3_600_000
_EPOCH: Final = datetime(1970, 1, 1)
# Abbreviations with one meaning only; others (CST, IST, BST …) stay unknown.
_ZONES: Final = {
    "UTC": 0,
    "GMT": 0,
    "Z": 0,
    "WET": 0,
    "WEST": 60,
    "CET": 60,
    "CEST": 120,
    "EET": 120,
    "EEST": 180,
    "EST": -300,
    "EDT": -240,
    "CDT": -300,
    "MST": -420,
    "MDT": -360,
    "PST": -480,
    "PDT": -420,
}
_ISO: Final = later(r"(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[.,]\d+)?\s?(Z|[+-]\d\d:?\d\d|[A-Z]{3,4}\b)?")
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WORDS: Final = later(
    r"(?:[A-Za-z]{3},?\s+)?(?:(?P<d1>\d{1,2})\s+(?P<m1>[A-Za-z]{3})|(?P<m2>[A-Za-z]{3})\s+(?P<d2>\d{1,2}))"
    r"(?:\s+(?P<y1>\d{4}))?,?\s+(?P<h>\d{1,2}):(?P<min>\d\d):(?P<s>\d\d)(?:\s+(?P<half>[AP]M))?"
    r"(?:\s+(?P<zone>[A-Z]{3,4}|[+-]\d{4}))?(?:\s+(?P<y2>\d{4}))?"
)


def zone_minutes(text: str | None) -> int | None:
    """Minutes east of UTC for ``Z``, ``+02:00``, ``-0700`` or an unambiguous abbreviation; None: not known."""
    if not text:
        return None
    if text[0] in "+-":
        minutes = int(text[1:3]) * 60 + int(text[-2:])
        return -minutes if text[0] == "-" else minutes
    return _ZONES.get(text)


def parse_header_date(text: str) -> tuple[datetime, int | None] | None:
    """Read the date in a line such as ``Script started on 2024-05-08 20:06:50+02:00``.

    Returns:
        The wall-clock time and the zone in minutes east of UTC (None: not printed or ambiguous), or None.
    """
    try:
        if match := _ISO().search(text):
            year, month, day, hour, minute, second = map(int, match.groups()[:6])
            return datetime(year, month, day, hour, minute, second), zone_minutes(match[7])
        if (match := _WORDS().search(text)) and (match["y1"] or match["y2"]):
            month = _MONTHS.index((match["m1"] or match["m2"]).lower()) + 1
            hour = int(match["h"])
            if match["half"]:
                hour = hour % 12 + (12 if match["half"] == "PM" else 0)
            wall = datetime(
                int(match["y1"] or match["y2"]),
                month,
                int(match["d1"] or match["d2"]),
                hour,
                int(match["min"]),
                int(match["s"]),
            )
            return wall, zone_minutes(match["zone"])
    except ValueError:  # a month or day that does not exist
        pass
    return None


class Stamps:
    """Turns the stamps of one log into milliseconds. The first stamp decides the basis.

    Args:
        day: the date of the first stamp, for logs that print the time of day alone (``--date``).
        tz: the zone of stamps that print none (``--tz``).
    """

    def __init__(self, day: date | None = None, tz: tzinfo | None = None) -> None:
        self.basis = TimeBasis.NONE
        self._day = day
        self._tz = tz
        self._turn_ms = 0  # whole days since the first stamp of a log without dates
        self._last_ms: int | None = None

    def from_wall(self, wall: datetime, zone_min: int | None) -> int:
        """Milliseconds of a full date and time."""
        if self.basis is TimeBasis.NONE:
            known = zone_min is not None or self._tz is not None
            self.basis = TimeBasis.UTC if known else TimeBasis.LOCAL
        if self.basis is TimeBasis.UTC:
            if zone_min is not None:
                wall -= timedelta(minutes=zone_min)
            elif self._tz is not None:
                wall = wall.replace(tzinfo=self._tz).astimezone(UTC).replace(tzinfo=None)
        return (wall - _EPOCH) // timedelta(milliseconds=1)

    def from_time_of_day(self, of_day_ms: int) -> int:
        """Milliseconds of a time of day: after midnight it is the next day (a step back of at most an hour is not)."""
        if self._last_ms is not None and of_day_ms < self._last_ms - _HOUR_MS:
            self._turn_ms += _DAY_MS
        self._last_ms = of_day_ms
        at_ms = of_day_ms + self._turn_ms
        if self._day is None:
            if self.basis is TimeBasis.NONE:
                self.basis = TimeBasis.CLOCK
            return at_ms
        start = datetime(self._day.year, self._day.month, self._day.day)
        return self.from_wall(start + timedelta(milliseconds=at_ms), None)


STAMP: Final = re.compile(
    rb"(?P<open>[\[(<])?"
    rb"(?:(?P<y>\d{4})[-/.](?P<m>\d\d)[-/.](?P<d>\d\d)[ T_])?"
    rb"(?P<H>[01]\d|2[0-3]):(?P<M>[0-5]\d)(?::(?P<S>[0-5]\d|60)(?:[.,](?P<f>\d{1,9}))?)?"
    rb"(?P<z>Z| ?[+-]\d\d:?\d\d| UTC| GMT)?"
    rb"(?(open)[\])>])(?P<colon>:)?"
    rb"(?: [\w.-]{1,40}\[\d+(?::[0-9a-fx]+)?\])?"
    rb"(?: [|>-])?(?(open)[ \t]?|(?:[ \t]|(?=\r?$)))"
)


class StampedDecoder:
    """Takes the stamps off. A line without one keeps the time of the stamp before it.

    Args:
        day, tz: as for ``Stamps``.
    """

    def __init__(self, day: date | None = None, tz: tzinfo | None = None) -> None:
        self._lines = LineSplitter()
        self._stamps = Stamps(day, tz)
        self._at_ms: int | None = None

    @property
    def time_basis(self) -> TimeBasis:
        return self._stamps.basis

    def receive(self, block: bytes) -> list[Chunk]:
        return [chunk for line, at in self._lines.receive(block) if (chunk := self._read(line + b"\n", at))]

    def finish(self) -> list[Chunk]:
        return [chunk for line, at in self._lines.finish() if (chunk := self._read(line, at))]

    def _read(self, line: bytes, offset: int) -> Chunk | None:
        match = STAMP.match(line.rstrip(b"\n"))
        if match is None or (match["S"] is None and match["open"] is None):
            return Chunk(line, offset, self._at_ms)
        self._at_ms = self._time(match)
        text = line[match.end() :]
        if not text.strip():
            return None  # the stamp belongs to the line that follows
        return Chunk(text, offset + match.end(), self._at_ms)

    def _time(self, match: re.Match[bytes]) -> int:
        of_day_ms = ((int(match["H"]) * 60 + int(match["M"])) * 60 + int(match["S"] or 0)) * 1000
        of_day_ms += int((match["f"] or b"0")[:3].ljust(3, b"0"))
        if match["y"] is None:
            return self._stamps.from_time_of_day(of_day_ms)
        try:
            day = datetime(int(match["y"]), int(match["m"]), int(match["d"]))
        except ValueError:  # no such day: the time of day is still one
            return self._stamps.from_time_of_day(of_day_ms)
        zone = match["z"].decode().strip() if match["z"] else None
        return self._stamps.from_wall(day + timedelta(milliseconds=of_day_ms), zone_minutes(zone))
