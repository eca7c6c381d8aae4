"""Client logs with a time before each line, or on a line of its own before the line it belongs to."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta, tzinfo
from typing import Final

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.sources.base import LineSplitter
from recorder.sources.stamps import Stamps, zone_minutes

__all__ = ["STAMP", "StampedDecoder"]

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
