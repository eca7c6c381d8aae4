"""Dates and zones that logs print."""

from __future__ import annotations

from datetime import datetime

import pytest

from recorder.model import TimeBasis
from recorder.sources.stamps import Stamps, parse_header_date, zone_minutes


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Script started on 2024-05-08 20:06:50+02:00 [TERM]", (datetime(2024, 5, 8, 20, 6, 50), 120)),
        ("START_TIME 2024-05-08 20:06:50-0730", (datetime(2024, 5, 8, 20, 6, 50), -450)),
        ("on 2024-05-08 20:06:50 [", (datetime(2024, 5, 8, 20, 6, 50), None)),
        ("Script started on Fri May  8 20:06:50 2015", (datetime(2015, 5, 8, 20, 6, 50), None)),
        ("on Fri 08 May 2015 08:06:50 PM CEST", (datetime(2015, 5, 8, 20, 6, 50), 120)),
        ("on Fri 08 May 2015 12:06:50 AM UTC", (datetime(2015, 5, 8, 0, 6, 50), 0)),
        ("on Fri May  8 20:06:50 CST 2015", (datetime(2015, 5, 8, 20, 6, 50), None)),
        ("on Fri 31 Feb 2015 20:06:50", None),
        ("on Fri 08 Xyz 2015 20:06:50", None),
        ("Script started, file is typescript", None),
    ],
)
def test_header_dates(text: str, expected: tuple[datetime, int | None] | None) -> None:
    assert parse_header_date(text) == expected


@pytest.mark.parametrize(("text", "minutes"), [("Z", 0), ("+05:30", 330), ("-0800", -480), ("IST", None), ("", None)])
def test_zones(text: str, minutes: int | None) -> None:
    assert zone_minutes(text) == minutes


def test_the_first_stamp_decides_the_basis() -> None:
    stamps = Stamps()
    assert stamps.basis is TimeBasis.NONE
    local = stamps.from_wall(datetime(2015, 5, 8, 20, 6, 50), None)
    assert stamps.basis is TimeBasis.LOCAL
    assert stamps.from_wall(datetime(2015, 5, 8, 20, 6, 50), 120) == local
