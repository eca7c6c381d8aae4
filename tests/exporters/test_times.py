"""Times as text."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from recorder.model import TimeBasis
from recorder.times import date_of, iso


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
