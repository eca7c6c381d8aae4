"""Times as text."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model import TimeBasis
from recorder.times import date_of, decimal_seconds, hms, iso, short_seconds, start_clock


@given(st.integers(0, 10**9))
def test_hms_loses_nothing(ms: int) -> None:
    hours, minutes, seconds = hms(ms, True).split(":")
    whole, thousandths = seconds.split(".")
    assert ((int(hours) * 60 + int(minutes)) * 60 + int(whole)) * 1000 + int(thousandths) == ms
    assert len(minutes) == len(whole) == 2
    assert len(thousandths) == 3
    assert hms(ms, False) == hms(ms, True)[:-4]


@given(st.integers(-(10**7), 10**7))
def test_decimal_seconds_lose_nothing(ms: int) -> None:
    text = decimal_seconds(ms)
    assert int(text.replace(".", "")) == ms
    assert text[-4] == "."


@pytest.mark.parametrize(("ms", "text"), [(0, "0.0"), (2000, "2.0"), (750, "0.75"), (2063, "2.063"), (61_100, "61.1")])
def test_short_seconds(ms: int, text: str) -> None:
    assert short_seconds(ms) == text


@pytest.mark.parametrize(("base_s", "text"), [(180, "0:03:00.000"), (10, "0:10.000"), (5400, "1:30:00.000")])
def test_start_clock(base_s: int, text: str) -> None:
    assert start_clock(base_s) == text


@given(st.integers(-(10**12), 4 * 10**12))
def test_iso_is_what_datetime_says(at_ms: int) -> None:
    at = datetime.fromtimestamp(at_ms // 1000, UTC)
    expected = f"{at:%Y-%m-%dT%H:%M:%S}.{at_ms % 1000:03d}"
    assert iso(at_ms, TimeBasis.LOCAL) == expected
    assert iso(at_ms, TimeBasis.UTC) == expected + "Z"


def test_iso_without_a_date_is_a_duration() -> None:
    assert iso(62_345, TimeBasis.CLOCK) == "PT62.345S"
    assert iso(62_345, TimeBasis.NONE) is None
    assert iso(None, TimeBasis.UTC) is None


def test_date_of_needs_a_date() -> None:
    assert date_of(0, TimeBasis.UTC) == datetime(1970, 1, 1, tzinfo=UTC)
    assert date_of(0, TimeBasis.CLOCK) is None
    assert date_of(None, TimeBasis.UTC) is None
