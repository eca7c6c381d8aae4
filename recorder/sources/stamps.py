"""Times beside what was received: stamps that a log prints, and the timing file of a typescript.

A time of day alone never becomes a date by itself, and a stamp without a zone never becomes UTC: ``--date`` and
``--tz`` say so, or the basis says that it is not known.

Source: script(1) and scriptreplay(1) of util-linux: the classic timing form is ``delay count``, the advanced one has a
letter before it (``I`` typed, ``O`` printed, ``S`` signal, ``H`` header); delays are seconds since the entry before.
"""

from __future__ import annotations

import re
from collections import deque
from datetime import UTC, date, datetime, timedelta, tzinfo
from itertools import takewhile
from operator import eq
from typing import Final

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.sources.base import LineSplitter
from recorder.text import later

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
    """East of UTC; None: unknown, as an ambiguous abbreviation is."""
    if not text:
        return None
    if text[0] in "+-":
        minutes = int(text[1:3]) * 60 + int(text[-2:])
        return -minutes if text[0] == "-" else minutes
    return _ZONES.get(text)


def parse_header_date(text: str) -> tuple[datetime, int | None] | None:
    """The date in ``Script started on 2024-05-08 20:06:50+02:00``; the zone in minutes, None: not known."""
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
    """The first stamp decides the basis. ``day`` is its date, for logs that print the time of day alone."""

    def __init__(self, day: date | None = None, tz: tzinfo | None = None) -> None:
        self.basis = TimeBasis.NONE
        self._day = day
        self._tz = tz
        self._dated: tuple[datetime, int | None] | None = None  # the last wall-clock time, and its zone
        self._turn_ms = 0  # whole days since the first stamp of a log without dates
        self._last_ms: int | None = None

    def from_wall(self, wall: datetime, zone_min: int | None) -> int:
        self._dated = wall, zone_min
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
        """After midnight it is the next day; without a known day it counts from the first stamp's midnight."""
        if self._dated is not None and self._day is None:
            before, zone_min = self._dated
            wall = datetime(before.year, before.month, before.day) + timedelta(milliseconds=of_day_ms)
            if wall < before - timedelta(milliseconds=_HOUR_MS):
                wall += timedelta(days=1)
            return self.from_wall(wall, zone_min)
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


_BETWEEN: Final = str.maketrans("-/.,", "    ")
_MONTH: Final = rb"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
STAMP: Final = re.compile(
    rb"(?P<open>[\[(<])?"
    rb"(?:(?P<epoch>[0-9]{9,10})(?:\.?(?P<ef>[0-9]{1,9}))?(?=(?(open)[\])>]|[ \t]))|"
    rb"(?:(?P<y>\d{4})[-/.](?P<m>\d\d)[-/.](?P<d>\d\d)[ T_]|(?P<date>(?:[A-Z][a-z]{2},? )?"
    rb"(?:[0-9]{1,2}[-/ ]" + _MONTH + rb"[-/ ][0-9]{4}|" + _MONTH + rb" {1,2}[0-9]{1,2}(?:,? [0-9]{4})?"
    rb"|[0-9]{1,2}\.[0-9]{1,2}\.[0-9]{4}|[0-9]{1,2}[-/][0-9]{1,2}[-/](?:[0-9]{4}|[0-9]{2}))),?[ :])?"
    rb"(?P<H>[01]?\d|2[0-3]):(?P<M>[0-5]\d)(?::(?P<S>[0-5]\d|60)(?:[.,](?P<f>\d{1,9}))?)?"
    rb"(?P<half> ?[AaPp]\.?[Mm]\b\.?)?(?P<z>Z| ?[+-]\d\d:?\d\d| UTC| GMT)?(?: (?P<year>[0-9]{4})(?=[\])>: \t]))?)"
    rb"(?(open)[\])>])(?:(?P<drone>:[A-Z]{4,7}:(?:(?P<received>ics->icsdrone: |<- ics: )|icsdrone->ics: |-> ics: )?)|:?"
    rb"(?: (?:[\w.-]{1,64} )?[\w./-]{1,40}\[\d+(?::[0-9a-fx]+)?\]:?(?! (?:kibitzes|whispers|says|tells|shouts)\b))?"
    rb"(?:(?: -)? (?:[\w.-]{1,40} (?:- )?)?\[?(?:DEBUG|INFO|NOTICE|WARNING|TRACE)\]?:?(?: -)?)?"
    rb"(?: (?:[|>]|-(?!-)|<(?= )))?(?(open)[ \t]?|(?:[ \t]|(?=\r?$))))"
)
MARGIN: Final = b"> \t"
"""What mails, forums and editors put before each line that they quote."""


class StampedDecoder:
    """Takes off margins and stamps. A line without a stamp keeps the time of the stamp before it.

    The first line shows what the margin is. The first stamp shows of which form stamps are that text may begin with,
    too; the second one corrects it, if the first only looked like one.
    """

    def __init__(self, day: date | None = None, tz: tzinfo | None = None) -> None:
        self._lines = LineSplitter()
        self._given = day, tz
        self._stamps = Stamps(day, tz)
        self._at_ms: int | None = None
        self._margin: bytes | None = None
        self._form: int | None = None
        self._alone = False  # one stamp was read

    @property
    def time_basis(self) -> TimeBasis:
        return self._stamps.basis

    def receive(self, block: bytes) -> list[Chunk]:
        return [chunk for line, at in self._lines.receive(block) if (chunk := self._read(line + b"\n", at))]

    def finish(self) -> list[Chunk]:
        return [chunk for line, at in self._lines.finish() if (chunk := self._read(line, at))]

    def _read(self, line: bytes, offset: int) -> Chunk | None:
        begin = self._behind_margin(line)
        match = STAMP.match(line.rstrip(b"\n"), begin)
        form = None if match is None else _form(match)
        if match is None or form is None or (form in (_BARE, _EPOCH_S) and self._form not in (None, form)):
            return Chunk(line[begin:], offset + begin, self._at_ms)
        if self._alone and self._form is not None and form > self._form:
            self._stamps, self._form = Stamps(*self._given), None
        self._alone = self._form is None
        self._form = form if self._form is None else self._form
        self._at_ms = self._time(match)
        text = line[match.end() :]
        if match["drone"]:
            # icsdrone logs what it sends, too, and bytes that are no text as octal numbers.
            return Chunk(octal(text), offset + match.end(), self._at_ms) if match["received"] else None
        if not text.strip():
            return None  # the stamp belongs to the line that follows
        return Chunk(text, offset + match.end(), self._at_ms)

    def _behind_margin(self, line: bytes) -> int:
        """Where a line begins behind as much of the margin as it has."""
        if not line.strip():
            return 0
        if self._margin is None:
            self._margin = line[: len(line) - len(line.lstrip(MARGIN))]
        elif self._margin and line[:1] != self._margin[:1]:
            self._margin = b""  # so the first line only looked like one
        return len([*takewhile(bool, map(eq, line, self._margin))])

    def _time(self, match: re.Match[bytes]) -> int:
        if match["epoch"]:
            wall = _EPOCH + timedelta(seconds=int(match["epoch"]), milliseconds=_milliseconds(match["ef"]))
            return self._stamps.from_wall(wall, 0)
        hour = int(match["H"])
        if match["half"] and 1 <= hour <= 12:
            hour = hour % 12 + (12 if match["half"].strip()[:1] in b"Pp" else 0)
        of_day_ms = ((hour * 60 + int(match["M"])) * 60 + int(match["S"] or 0)) * 1000 + _milliseconds(match["f"])
        day = _day(match)
        if day is None or self._stamps.basis is TimeBasis.CLOCK:
            return self._stamps.from_time_of_day(of_day_ms)
        zone = match["z"].decode().strip() if match["z"] else None
        return self._stamps.from_wall(day + timedelta(milliseconds=of_day_ms), zone_minutes(zone))


OCTAL: Final = later(rb"\\(0[0-3][0-7]|177|[23][0-7]{2})")


def octal(text: bytes) -> bytes:
    r"""The bytes that a client logs as ``\ooo``: control bytes and those above 176; a backslash is not escaped."""
    return OCTAL().sub(lambda match: bytes((int(match[1], 8),)), text)


_BARE, _EPOCH_S, _OF_DAY, _DATED = range(4)


def _form(match: re.Match[bytes]) -> int:
    """The higher, the less text begins like it."""
    if match["epoch"]:
        return _EPOCH_S
    return _DATED if match["y"] or match["date"] else _BARE if is_bare(match) else _OF_DAY


def is_bare(match: re.Match[bytes]) -> bool:
    """Whether a stamp is hours and minutes alone, which text may begin with, too."""
    return match["M"] is not None and match["S"] is None and match["open"] is None


def _milliseconds(fraction: bytes | None) -> int:
    return int((fraction or b"0")[:3].ljust(3, b"0"))


def _day(match: re.Match[bytes]) -> datetime | None:
    """The date of a stamp; None: it has none, no such day exists, or the order of its numbers is not known."""
    words = (match["date"] or b"").lower().decode().translate(_BETWEEN).split()
    month = next((_MONTHS.index(word) + 1 for word in words if word in _MONTHS), None)
    numbers = [int(word) for word in (*words, match["year"] or b"") if word.isdigit()]
    if match["y"]:
        numbers = [int(match["d"]), int(match["m"]), int(match["y"])]
    elif month is not None:
        numbers.insert(1, month)
    elif b"." not in (match["date"] or b""):
        return None
    try:
        return datetime(numbers[2], numbers[1], numbers[0])
    except (IndexError, ValueError):
        return None


_WORD: Final = b"Script "
_OWN_LINE: Final = later(rb"^Script (?:started|done)(?: on |, |\r?$| \[)[^\n]{0,400}(?:\n|\Z)", re.MULTILINE)
_STEP: Final = later(rb"(?P<kind>[IO] )?(\d+\.\d+) (\d+)\s*$")
_OTHER: Final = later(rb"([SH]) (\d+\.\d+) (.*)$", re.DOTALL)
_MAX_LINE: Final = 512


def looks_like_timing(head: bytes) -> bool:
    """By its first 20 lines; 4096 bytes are enough."""
    lines = head[:4096].split(b"\n")[:-1][:20] or [head[:80]]
    return all(_STEP().match(line) or _OTHER().match(line) for line in lines)


class TypescriptDecoder:
    """Skips the lines that script(1) wrote itself, and adds the arrival time of every byte, if it is known."""

    def __init__(self, timing: bytes | None = None, tz: tzinfo | None = None) -> None:
        self._stamps = Stamps(None, tz)
        self._steps: deque[tuple[int, int]] = deque()
        self._started: bytes | None = None
        if timing is not None:
            self._read_timing(timing)
        self._timed = bool(self._steps)
        self._start_ms: int | None = None
        self._rest = b""
        self._offset = 0
        self._at_line_start = True

    @property
    def time_basis(self) -> TimeBasis:
        if not self._timed:
            return TimeBasis.NONE
        return TimeBasis.CLOCK if self._start_ms is None else self._stamps.basis

    def receive(self, block: bytes) -> list[Chunk]:
        return self._read(block, last=False)

    def finish(self) -> list[Chunk]:
        return self._read(b"", last=True)

    def _read_timing(self, timing: bytes) -> None:
        at_us = 0
        for line in timing.split(b"\n"):
            if match := _STEP().match(line):
                at_us += _microseconds(match[2])
                if match["kind"] != b"I ":
                    self._steps.append((at_us, int(match[3])))
            elif match := _OTHER().match(line):
                at_us += _microseconds(match[2])
                if match[3].startswith(b"START_TIME "):
                    self._started = match[3]

    def _read(self, block: bytes, *, last: bool) -> list[Chunk]:
        data = self._rest + block
        begin = data.rfind(b"\n") + 1
        tail = data[begin : begin + _MAX_LINE]
        own = (begin > 0 or self._at_line_start) and (tail.startswith(_WORD) or _WORD.startswith(tail))
        hold = begin if own and len(tail) < _MAX_LINE and not last else len(data)
        ready, self._rest = data[:hold], data[hold:]
        out: list[Chunk] = []
        sent = 0
        if _WORD in ready:
            for match in _OWN_LINE().finditer(ready):
                if match.start() or self._at_line_start:
                    self._emit(ready[sent : match.start()], self._offset + sent, out)
                    self._note_header(match[0])
                    sent = match.end()
        self._emit(ready[sent:], self._offset + sent, out)
        if ready:
            self._at_line_start = ready.endswith(b"\n")
            self._offset += len(ready)
        return out

    def _note_header(self, line: bytes) -> None:
        if self._start_ms is None and self._timed and line.startswith(b"Script started"):
            found = parse_header_date(line.decode("latin-1"))
            if found is None and self._started is not None:
                found = parse_header_date(self._started.decode("latin-1"))
            if found is not None:
                self._start_ms = self._stamps.from_wall(*found)

    def _emit(self, data: bytes, offset: int, out: list[Chunk]) -> None:
        if not data:
            return
        if not self._timed:
            out.append(Chunk(data, offset))
            return
        position = 0
        while position < len(data):
            if not self._steps:
                out.append(Chunk(data[position:], offset + position))
                return
            at_us, count = self._steps[0]
            piece = data[position : position + count]
            at_ms = at_us // 1000 + (self._start_ms or 0)
            if piece:
                out.append(Chunk(piece, offset + position, at_ms))
            position += len(piece)
            if len(piece) == count:
                self._steps.popleft()
            else:
                self._steps[0] = (at_us, count - len(piece))


def _microseconds(text: bytes) -> int:
    whole, _, fraction = text.partition(b".")
    return int(whole) * 1_000_000 + int(fraction[:6].ljust(6, b"0"))
