"""Times and time zones as text, from integers only: no rounding, nothing that was not printed.

Milliseconds are written where the server printed them, else whole seconds.
"""

from __future__ import annotations

import re
from calendar import monthrange
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from recorder.model import Game, StartPrecision, TimeBasis
from recorder.movetext import THOUSANDTHS, whole_hms

_OFFSET = re.compile(r"([+-])(\d\d):?([0-5]\d)")


def parse_zone(text: str) -> tzinfo:
    """A name (``Europe/Vienna``, ``UTC``) or an offset (``+02:00``, ``-0330``); the ValueError is one sentence."""
    offset = _OFFSET.fullmatch(text)
    try:
        if offset is not None:
            distance = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
            return timezone(distance if offset[1] == "+" else -distance)
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError(
            f"{text!r} is not a time zone; write a name such as Europe/Vienna, or an offset such as +02:00."
        ) from error


_PERIOD = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?", re.ASCII)


def read_period(text: str) -> tuple[date, date]:
    """First and last day of ``2020-01-31``, ``2020-01`` or ``2020``; the ValueError is one sentence."""
    match = _PERIOD.fullmatch(text)
    try:
        if match is None:
            raise ValueError
        year, month, day = int(match[1]), int(match[2] or 12), int(match[3] or 0)
        last = date(year, month, day or monthrange(year, month)[1])
        return last.replace(month=month if match[2] else 1, day=day or 1), last
    except ValueError:
        raise ValueError(
            f"{text!r} is not a date; write 2020-01-31, 2020-01 for a month, or 2020 for a year."
        ) from None


def refuse_future(day: date) -> None:
    """ValueError: no game can have begun on this day; tomorrow has begun in some time zone."""
    if day > datetime.now(UTC).date() + timedelta(days=1):
        raise ValueError(f"{day} is in the future: write the day on which the game began.")


_DATE = re.compile(r"([0-9]{4})[./-]([0-9]{1,2})[./-]([0-9]{1,2})")
_TIME = re.compile(r"([0-9]{1,2}):([0-9]{2}):([0-9]{2})")


def read_day(text: str | None) -> date | None:
    """``2014.07.18``, also with hyphens; None: the text is no whole date."""
    match = _DATE.fullmatch(text or "")
    if match is None:
        return None
    try:
        return date(*map(int, match.groups()))
    except ValueError:
        return None


def read_time_of_day(text: str | None) -> time | None:
    match = _TIME.fullmatch(text or "")
    if match is None:
        return None
    try:
        hour, minute, second = map(int, match.groups())
        return time(hour, minute, second)
    except ValueError:
        return None


LOW_OF_BASE_MS, LOW_LEAST_MS, LOW_MOST_MS = 100, 5_000, 30_000
"""Below this a clock is low: a tenth of the base time (so much for each of its seconds), but at least and at most."""


def low_limit_ms(base_s: int | None) -> int:
    return min(max((base_s or 0) * LOW_OF_BASE_MS, LOW_LEAST_MS), LOW_MOST_MS)


def in_ms(seconds: int | None) -> int | None:
    return None if seconds is None else seconds * 1000


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SHORT = tuple("." + (f"{n:03d}".rstrip("0") or "0") for n in range(1000))


def hms(ms: int, milliseconds: bool) -> str:
    return whole_hms(ms // 1000) + THOUSANDTHS[ms % 1000] if milliseconds else whole_hms(ms // 1000)


def short_hms(seconds: int) -> str:
    minutes, second = divmod(seconds, 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def decimal_seconds(ms: int, milliseconds: bool = True) -> str:
    """Write ``0.296``, ``-0.917``; without milliseconds the fraction is cut off: ``-1``."""
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    return f"{sign}{ms // 1000}{THOUSANDTHS[ms % 1000] if milliseconds else ''}"


def short_seconds(ms: int) -> str:
    """``2.0``, ``0.75``, ``2.063``: the FICS archive's elapsed times, at least one decimal."""
    return f"{ms // 1000}{_SHORT[ms % 1000]}"


def start_clock(base_s: int) -> str:
    """Write the clock before the first move, ``0:03:00.000``.

    Below a minute without hours (``0:10.000``), as FICS does.
    """
    if base_s < 60:
        return f"0:{base_s:02d}.000"
    return whole_hms(base_s) + ".000"


def dated(basis: TimeBasis) -> bool:
    """Return whether times of this basis have a date, and do not count from the first one."""
    return basis in (TimeBasis.UTC, TimeBasis.LOCAL)


def date_of(at_ms: int | None, basis: TimeBasis) -> datetime | None:
    """Convert a time of a game to a datetime in UTC; a local time of unknown zone is given as UTC.

    None: the date is not known.
    """
    if at_ms is None or not dated(basis):
        return None
    return _EPOCH + timedelta(milliseconds=at_ms)


def iso(at_ms: int | None, basis: TimeBasis) -> str | None:
    """Write ISO 8601 with milliseconds: ``2020-01-01T12:00:00.123Z``, without ``Z`` if the zone is unknown.

    If not even the date is known, it is the duration ``PT62.345S`` from the zero of the source's own clock.
    """
    if at_ms is None or basis is TimeBasis.NONE:
        return None
    if basis is TimeBasis.CLOCK:
        return f"PT{decimal_seconds(at_ms)}S"
    days, rest = divmod(at_ms, 86_400_000)
    text = f"{_day(days)}T{whole_hms(rest // 1000).zfill(8)}{THOUSANDTHS[rest % 1000]}"
    return text + "Z" if basis is TimeBasis.UTC else text


def iso_start(game: Game) -> str | None:
    """The start of a game, as ``iso`` writes it; ``2020-01-01T12:00Z`` if only the minute is known."""
    text = iso(game.started_at_ms, game.time_basis)
    if text is None or game.start_precision is not StartPrecision.MINUTE:
        return text
    return text[: len("2020-01-01T12:00")] + ("Z" if text[-1] == "Z" else "")


def start_of_second(game: Game) -> datetime | None:
    """Return the start of a game as ``date_of`` does; None also if not even the second is known."""
    return None if game.start_precision is StartPrecision.MINUTE else date_of(game.started_at_ms, game.time_basis)


_DAYS: dict[int, str] = {}


def _day(days: int) -> str:
    text = _DAYS.get(days)
    if text is None:
        text = _DAYS[days] = (_EPOCH + timedelta(days=days)).date().isoformat()
    return text


def format_clock(ms: int | None, exact: bool) -> str:
    """``4:57.338`` or ``1:04:57``; a negative clock keeps its sign; unknown is a dash.

    ``exact``: it was measured in milliseconds, which are shown even if they are 000.
    """
    return "-" if ms is None else printed_clock(ms, exact or ms % 1000 != 0)


def printed_clock(ms: int, exact: bool, *, tenths: bool = False) -> str:
    """``4:57.338``, or not ``exact`` ``4:57``, as servers print times of moves; a negative time keeps its sign.

    ``tenths``: an exact one is cut to ``4:57.3``.
    """
    seconds, thousandths = divmod(abs(ms), 1000)
    part = "" if not exact else f".{thousandths // 100}" if tenths else THOUSANDTHS[thousandths]
    return f"{'-' if ms < 0 else ''}{short_hms(seconds)}{part}"
