"""Answers to ``moves``, ``oldmoves`` and ``smoves``: several lines that make one event.

A list begins at its line of names, may hold a start position, and ends at its trailer ``{…} result``; some servers
stop long lists without one, then it ends at the first line that is no row. Rows are read by words, not by columns.
A log may lack the lines before the table; then the list begins at its columns, its dashes or a row.
Source: FICS, FatICS and ICC captures, the C servers' gamedb code.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta, timezone

from recorder.dialects.forms import RATING, RUNNING, read_rating
from recorder.dialects.results import read_reason, read_unmarked
from recorder.dialects.style12 import check_frame
from recorder.errors import LineError
from recorder.events import Line, ListRow, MovelistRead, RatingText
from recorder.events.frames import Style12, parse_elapsed
from recorder.text import later
from recorder.times import printed_clock

_GAME_NUMBER = re.compile(r"Movelist for game ([0-9]{1,9}):\s*")
_NAMES = re.compile(rf"(\S+) {RATING} vs\. (\S+) {RATING} --- (\S(?:.*\S)?)\s*")
_MATCH = later(
    r"(Rated|Unrated) (\S*|\S+ \S+) ?match, initial time: ([0-9]{1,9}) minutes?, increment: ([0-9]{1,9}) seconds?"
    r"(?: AND ([0-9]{1,9}) minutes?, increment: ([0-9]{1,9}) seconds?)?\.?\s*"
)
# chessd's Portuguese
_MATCH_TRANSLATED = later(
    r"(Classificado|N\S{1,2}o classificado) (\S*|\S+ \S+) ?match, initial time: "
    r"([0-9]{1,9}) minutos, incremento: ([0-9]{1,9}) segundos"
    r"(?: E ([0-9]{1,9}) minutos, incremento: ([0-9]{1,9}) segundos)?\.\s*"
)
_COLUMNS = later(r"\s*Move\s+(\S+)\s+(\S+)\s*")
_DASHES = later(r"\s*-{2,}\s+-{2,}\s+-{2,}\s*")
_HALF = r"(\.\.\.|[A-Za-z][A-Za-z0-9@=x-]*[+#]*)(?:\s+(\([-0-9:.]+\)))?"
_ROW = later(rf"\s*([0-9]{{1,9}})(?:\.| (?= ))\s+{_HALF}(?:\s+{_HALF})?\s*")
_ODD_ROW = later(r"\s*(\S{1,9})\.\s+(\S.*)")
_TIME = later(r"(\([^()]*\))")
_WIDE_GAP = later(r"\s{2,}")
_TRAILER = later(r"\s*\{([^{}]*)\} (1-0|0-1|1/2-1/2|\*)(?: \[[^\]]*\])?\s*")
_SENTENCE = later(r" {6}([A-Z].*\.)\s*")  # the oldest server's
_RUNNING = ("Still in progress", "Game in progress", RUNNING)
_NO_MOVE = ("...", "NONE")

# Hours east of UTC of the zones that servers really print.
_ZONES = {
    "UTC": 0, "GMT": 0, "EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7,
    "CET": 1, "CEST": 2,
}  # fmt: skip
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FICS_DATE = later(r"[A-Z][a-z]{2} ([A-Z][a-z]{2}) +([0-9]{1,9}), +([0-9]{1,9}):([0-9]{2}) (\S+) ([0-9]{4})")
_PLAIN_DATE = later(r"([0-9]{4})[.-]([0-9]{2})[.-]([0-9]{2}) +([0-9]{1,9}):([0-9]{2})(?::([0-9]{2}))?(?: (\S+))?")


NO_DATE = "Thu Jan  1, 00:00 ??? 1970"
_DAY_S = 86_400


def format_started(moment: datetime, zone: str) -> str:
    """As FICS does: ``Mon Nov  4, 08:38 UTC 2002``; an unknown zone is ``???``."""
    weekday, month = _WEEKDAYS[moment.weekday()], MONTHS[moment.month - 1]
    return f"{weekday} {month} {moment.day:2d}, {moment:%H:%M} {zone} {moment.year:04d}"


def parse_started(text: str) -> tuple[int | None, bool, bool]:
    """Read the date of a movelist's header.

    ``Mon Nov  4, 08:38 CET 2002``, ``2010-10-14 20:36 UTC`` or ``2008.01.19 16:55:38``. Return milliseconds since 1970,
    whether they are UTC, and whether the seconds were printed: with a zone whose offset is not certain they are local
    ones of the server. ``(None, False, False)`` when it is no date, or no time of day: a replay prints the first of
    January 1970 for an unknown date, and ``00:00 ???`` for an unknown time of day.
    """
    fics, plain = _FICS_DATE().fullmatch(text), _PLAIN_DATE().fullmatch(text)
    try:
        if fics is not None:
            zone = fics[5]
            local = datetime(int(fics[6]), MONTHS.index(fics[1]) + 1, int(fics[2]), int(fics[3]), int(fics[4]))
            if zone == "???" and local.time() == time():
                return None, False, False
        elif plain is not None:
            zone = plain[7]
            year, month, day, hour, minute = (int(plain[index]) for index in range(1, 6))
            local = datetime(year, month, day, hour, minute, int(plain[6] or 0))
        else:
            return None, False, False
    except ValueError:
        return None, False, False
    hours = _ZONES.get(zone) if zone else None
    at_s = int(local.replace(tzinfo=UTC if hours is None else timezone(timedelta(hours=hours))).timestamp())
    if abs(at_s) < _DAY_S:
        return None, False, False
    return at_s * 1000, hours is not None, plain is not None and plain[6] is not None


def _date_alone(text: str) -> str | None:
    """A header's date that has no time of day, as ``2005-09-14``; None: it is unknown, too. Other text is unchanged."""
    fics = _FICS_DATE().fullmatch(text)
    try:
        day = None if fics is None else date(int(fics[6]), MONTHS.index(fics[1]) + 1, int(fics[2]))
    except ValueError:
        return text
    return text if day is None else None if day.year in (1969, 1970) else day.isoformat()


class MovelistReader:
    """The list being read, if any; ``open``: a header was seen and the list has not ended."""

    def __init__(self) -> None:
        self.open = False
        self._game_no: int | None = None
        self._clear()

    def _clear(self) -> None:
        self.open = False
        self._first_offset: int | None = None
        self._header: Line | None = None
        self._names: tuple[str, RatingText, str, RatingText, str] | None = None
        self._columns: tuple[str, str] = ("", "")  # the names above the columns
        self._match: re.Match[str] | None = None
        self._start: Style12 | None = None
        self._in_rows = False
        self._rows: list[ListRow] = []
        self._unread: list[Line] = []  # rows with a time that cannot be read
        self._number = 0

    @property
    def pending_offset(self) -> int | None:
        return self._first_offset if self.open or self._game_no is not None else None

    def begin(self, line: Line) -> bool:
        match = _GAME_NUMBER.fullmatch(line.text)
        if match is not None:
            self._game_no = int(match[1])
            self._first_offset = line.offset
            return True
        match = _NAMES.fullmatch(line.text)
        if match is None and self._begin_table(line):
            return True
        if match is None:
            self._game_no = None  # the number belongs to the list that follows it at once, to no later one
            self._first_offset = None
            return False
        white, white_rating, black, black_rating, date = match.groups()
        self._header = line
        if self._first_offset is None:
            self._first_offset = line.offset
        self._names = white, read_rating(white_rating), black, read_rating(black_rating), date
        self.open = True
        return True

    def _begin_table(self, line: Line) -> bool:
        """Begin a list whose header the log lacks, at its columns, its dashes or a row with a time."""
        columns = _COLUMNS().fullmatch(line.text)
        if columns is not None:
            self._columns = columns[1], columns[2]
        elif _DASHES().fullmatch(line.text) is not None:
            self._in_rows = True
        else:
            row = _ROW().fullmatch(line.text)
            if row is None or (row[3] is None and row[5] is None) or not self._row(line):
                return False
            self._in_rows = True
        self._header = line
        if self._first_offset is None:
            self._first_offset = line.offset
        self.open = True
        return True

    def offer_frame(self, frame: Style12) -> bool:
        """Accept a frame that is this list's start position, or return False."""
        if self._match is None or self._in_rows or self._start is not None or self._names is None:
            return False
        fresh = frame.move_no == 1 and not frame.has_move
        if frame.relation not in (-4, -3) and not (frame.relation == 0 and fresh):
            return False
        if (frame.white, frame.black) != (self._names[0], self._names[2]) or check_frame(frame) is not None:
            return False
        self._start = frame
        return True

    def take(self, line: Line) -> MovelistRead | bool:
        """The list at its trailer, or whether the line belongs to it; if it does not, the caller closes the list."""
        text = line.text
        if not self._in_rows:
            if self._match is None:
                self._match = self._names and (_MATCH().fullmatch(text) or _MATCH_TRANSLATED().fullmatch(text))
                if self._match is not None:
                    return True
            columns = _COLUMNS().fullmatch(text)
            if columns is not None and self._columns == ("", ""):
                self._columns = columns[1], columns[2]
                return True
            if _DASHES().fullmatch(text) is not None:
                self._in_rows = True
                return True
            return False
        trailer = _TRAILER().fullmatch(text)
        if trailer is not None:
            return self._made(trailer[1], trailer[2])
        if (sentence := _SENTENCE().fullmatch(text)) is not None:
            result = read_unmarked(sentence[1], "White", "Black", self._rows[-1].ply if self._rows else None)
            if result is not None:
                return self._made(sentence[1], result)
        return self._row(line) or self._odd_row(line)

    def _row(self, line: Line) -> bool:
        match = _ROW().fullmatch(line.text)
        if match is None or int(match[1]) <= self._number:
            return False
        return self._add(int(match[1]), [(match[2], match[3]), (match[4], match[5])], line)

    def _odd_row(self, line: Line) -> bool:
        """Take the next row where a text is no move, a time is no time, or the number cannot be read."""
        match = _ODD_ROW().fullmatch(line.text)
        if match is None:
            return False
        number, halves = self._number + 1, _halves(match[2])
        usual = _ROW().fullmatch(f"{number}. {match[2]}")
        if match[1] != str(number) and (match[1].isdecimal() or usual is None or usual[3] is None):
            return False
        return bool(halves) and self._add(number, halves, line, odd=True)

    def _add(self, number: int, halves: list[tuple[str, str | None]], line: Line, odd: bool = False) -> bool:
        rows: list[ListRow] = []
        for index, (san, taken) in enumerate(halves):
            if san is None or san in _NO_MOVE:
                continue
            try:
                elapsed, ms = (None, False) if taken is None else parse_elapsed(taken)
            except LineError:
                if not odd:
                    return False
                elapsed, ms = None, False
                self._unread.append(line)
            rows.append(ListRow(2 * number - 1 + index, san, elapsed, ms, line.offset))
        self._number = number
        self._rows += rows
        return True

    def close(self) -> MovelistRead | Line:
        """End an open list without trailer: the incomplete list, or its first line if nothing of a list followed."""
        assert self._header is not None
        if self._match is None and not self._rows:
            header = self._header
            self._clear()
            self._game_no = None
            return header
        return self._made(None, None)

    def _made(self, reason: str | None, result: str | None) -> MovelistRead:
        assert self._header is not None
        names = self._names
        white, black = self._columns if names is None else (names[0], names[2])
        started = None if names is None else names[4]
        at_ms, zone_known, with_seconds = (None, False, False) if started is None else parse_started(started)
        if started is not None and at_ms is None:
            started = _date_alone(started)
        kind = self._match
        running = reason in _RUNNING
        reading = None
        if reason is not None and result is not None and not running:
            reading = read_reason(reason, white, black, result)
        made = MovelistRead(
            line=self._header,
            game_no=self._game_no,
            white=white,
            white_rating=None if names is None else names[1],
            black=black,
            black_rating=None if names is None else names[3],
            started=started,
            started_at_ms=at_ms,
            started_zone_known=zone_known,
            started_with_seconds=with_seconds,
            rated=None if kind is None else kind[1] in ("Rated", "Classificado"),
            category=None if kind is None else kind[2].lower() or None,
            base_min=None if kind is None else int(kind[3]),
            increment_s=None if kind is None else int(kind[4]),
            black_base_min=None if kind is None or kind[5] is None else int(kind[5]),
            black_increment_s=None if kind is None or kind[6] is None else int(kind[6]),
            start_frame=self._start,
            rows=tuple(self._rows),
            result=result,
            reason=reason,
            reason_key=None if reading is None else reading.key,
            termination=None if reading is None else reading.termination,
            still_running=running,
            complete=result is not None,
            headed=names is not None,
            numbered_at=None if self._game_no is None else self._first_offset,
            unread=tuple(self._unread),
        )
        self._clear()
        self._game_no = None
        return made


def _halves(text: str) -> list[tuple[str, str | None]]:
    """The texts of a row and the times behind them; empty: these are not one or two halves."""
    halves: list[tuple[str, str | None]] = []
    for piece in _TIME().split(text):
        if piece.startswith("(") and halves and halves[-1][1] is None:
            halves[-1] = halves[-1][0], piece
        elif piece.startswith("("):
            return []
        elif piece.strip():
            halves += [(half, None) for half in _WIDE_GAP().split(piece.strip())]
    return halves if len(halves) <= 2 else []


def format_movelist(event: MovelistRead) -> list[str]:
    lines = [] if event.game_no is None else [f"Movelist for game {event.game_no}:", ""]
    white, black = (
        f"{name} ({'UNR' if rating is None else rating.text})"
        for name, rating in ((event.white, event.white_rating), (event.black, event.black_rating))
    )
    lines.append(f"{white} vs. {black} --- {event.started or NO_DATE}")
    odds = (
        f" AND {event.black_base_min} minutes, increment: {event.black_increment_s} seconds"
        if event.black_base_min is not None
        else ""
    )
    lines.append(
        f"{'Rated' if event.rated else 'Unrated'} {event.category or ''} match, "
        f"initial time: {event.base_min} minutes, increment: {event.increment_s} seconds{odds}."
    )
    lines.append("")
    if event.start_frame is not None:
        lines += [event.start_frame.text, ""]
    dashes = "-" * (21 if any(row.ms for row in event.rows) else 16)
    lines += [f"Move  {event.white:<23} {event.black}", f"----  {dashes}   {dashes}"]
    by_ply = {row.ply: row for row in event.rows}
    for number in sorted({(ply + 1) // 2 for ply in by_ply}):
        halves = [by_ply.get(2 * number - 1), by_ply.get(2 * number)]
        white = f"{'...':<7}" if halves[0] is None else _written(halves[0])
        black = "" if halves[1] is None else _written(halves[1])
        lines.append(f"{number:3d}.  {white:<23} {black}".rstrip())
    if event.complete:
        lines.append(f"      {{{event.reason}}} {event.result}")
    return lines


def _written(row: ListRow) -> str:
    if row.elapsed_ms is None:
        return row.san
    return f"{row.san:<7} ({printed_clock(row.elapsed_ms, row.ms)})"
