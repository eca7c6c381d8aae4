"""Times as text, from integers only: no rounding, nothing that was not printed.

Milliseconds are written where the server printed them, else whole seconds.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from recorder.model import TimeBasis

__all__ = [
    "HMS",
    "THOUSANDTHS",
    "Texts",
    "date_of",
    "dated",
    "decimal_seconds",
    "hms",
    "iso",
    "short_seconds",
    "start_clock",
]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
THOUSANDTHS = tuple(f".{n:03d}" for n in range(1000))
_SHORT = tuple("." + (f"{n:03d}".rstrip("0") or "0") for n in range(1000))


class Texts(dict[int, str]):
    """Number → its text, made when it is first asked for; the first ``limit`` ones are kept.

    Only for few numbers: a table that does not fit the processor's cache takes longer than making the text anew.
    """

    def __init__(self, make: Callable[[int], str], limit: int) -> None:
        super().__init__()
        self._make = make
        self._limit = limit

    def __missing__(self, number: int) -> str:
        text = self._make(number)
        if len(self) < self._limit:
            self[number] = text
        return text


HMS = Texts(lambda seconds: f"{seconds // 3600}:{seconds // 60 % 60:02d}:{seconds % 60:02d}", 100_000)
"""Seconds → ``h:mm:ss``; clocks of all games share a few thousand values."""


def hms(ms: int, milliseconds: bool) -> str:
    """``0:04:57.338`` or ``0:04:57`` of a time of zero or more milliseconds."""
    return HMS[ms // 1000] + THOUSANDTHS[ms % 1000] if milliseconds else HMS[ms // 1000]


def decimal_seconds(ms: int, milliseconds: bool = True) -> str:
    """``0.296``, ``-0.917``; without milliseconds ``-1``."""
    sign, ms = ("-", -ms) if ms < 0 else ("", ms)
    return f"{sign}{ms // 1000}{THOUSANDTHS[ms % 1000] if milliseconds else ''}"


def short_seconds(ms: int) -> str:
    """``2.0``, ``0.75``, ``2.063``: the FICS archive's elapsed times, at least one decimal."""
    return f"{ms // 1000}{_SHORT[ms % 1000]}"


def start_clock(base_s: int) -> str:
    """``0:03:00.000``; below a minute the hour field is dropped (``0:10.000``), as in the FICS archive."""
    if base_s < 60:
        return f"0:{base_s:02d}.000"
    return HMS[base_s] + ".000"


def dated(basis: TimeBasis) -> bool:
    """Whether times of this basis have a date."""
    return basis in (TimeBasis.UTC, TimeBasis.LOCAL)


def date_of(at_ms: int | None, basis: TimeBasis) -> datetime | None:
    """The instant or local time as a datetime, or None where no date is known."""
    if at_ms is None or not dated(basis):
        return None
    return _EPOCH + timedelta(milliseconds=at_ms)


def iso(at_ms: int | None, basis: TimeBasis) -> str | None:
    """ISO 8601 with milliseconds.

    Returns:
        ``2020-01-01T12:00:00.123Z`` for UTC, without ``Z`` where the zone is unknown; where not even the date is
        known the duration ``PT62.345S`` from the zero of the source's own clock; None for None.
    """
    if at_ms is None or basis is TimeBasis.NONE:
        return None
    if basis is TimeBasis.CLOCK:
        return f"PT{decimal_seconds(at_ms)}S"
    days, rest = divmod(at_ms, 86_400_000)
    text = f"{_day(days)}T{HMS[rest // 1000].zfill(8)}{THOUSANDTHS[rest % 1000]}"
    return text + "Z" if basis is TimeBasis.UTC else text


_DAYS: dict[int, str] = {}


def _day(days: int) -> str:
    text = _DAYS.get(days)
    if text is None:
        text = _DAYS[days] = (_EPOCH + timedelta(days=days)).date().isoformat()
    return text
