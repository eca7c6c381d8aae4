"""Logs with a time before each line, and the dates and zones that logs print."""

import sys
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from recorder.events import Chunk
from recorder.model import TimeBasis
from recorder.sources.stamps import StampedDecoder, Stamps, parse_header_date, zone_minutes

FRAME = b"<12> rnbqkbnr pppppppp"


def decode(decoder: StampedDecoder, data: bytes, step: int = 1 << 20) -> list[Chunk]:
    found = [chunk for i in range(0, len(data), step) for chunk in decoder.receive(data[i : i + step])]
    return found + decoder.finish()


OF_DAY = ((20 * 60 + 6) * 60 + 50) * 1000
DAY = 1431043200000  # 2015-05-08T00:00Z


@pytest.mark.parametrize(
    ("stamp", "at_ms", "basis"),
    [
        (b"2015-05-08 20:06:50.827 ", DAY + OF_DAY + 827, TimeBasis.LOCAL),
        (b"2015-05-08 20:06:50 ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"2015/05/08 20:06:50,5 ", DAY + OF_DAY + 500, TimeBasis.LOCAL),
        (b"[2015-05-08 20:06:50] ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"2015-05-08T20:06:50.827Z ", DAY + OF_DAY + 827, TimeBasis.UTC),
        (b"2015-05-08T20:06:50+02:00 ", DAY + OF_DAY - 7_200_000, TimeBasis.UTC),
        (b"2015-05-08 20:06:50 -0730 ", DAY + OF_DAY + 27_000_000, TimeBasis.UTC),
        (b"[20:06:50] ", OF_DAY, TimeBasis.CLOCK),
        (b"[20:06:50]", OF_DAY, TimeBasis.CLOCK),
        (b"20:06:50 ", OF_DAY, TimeBasis.CLOCK),
        (b"20:06:50.827: ", OF_DAY + 827, TimeBasis.CLOCK),
        (b"[20:06] ", OF_DAY - 50_000, TimeBasis.CLOCK),
        (b"(20:06:50) ", OF_DAY, TimeBasis.CLOCK),
        (b"20:06:50 | ", OF_DAY, TimeBasis.CLOCK),
        (b"20:06 ", OF_DAY - 50_000, TimeBasis.CLOCK),
        (b"(8:06PM) ", OF_DAY - 50_000, TimeBasis.CLOCK),
        (b"[08:06:50 pm] ", OF_DAY, TimeBasis.CLOCK),
        (b"[12:06:50 a.m.] ", OF_DAY - 20 * 3_600_000, TimeBasis.CLOCK),
        (b"[05/08/2015 20:06:50] ", OF_DAY, TimeBasis.CLOCK),  # the order of day and month is not known
        (b"May  8 20:06:50 ", OF_DAY, TimeBasis.CLOCK),  # and of what year?
        (b"May 08 20:06:50 host fics[123]: ", OF_DAY, TimeBasis.CLOCK),
        (b"[8.5.2015 20:06:50] ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"[08-May-2015 20:06:50] ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"[08/May/2015:20:06:50 +0200] ", DAY + OF_DAY - 7_200_000, TimeBasis.UTC),
        (b"[Fri May  8 20:06:50 2015] ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"May 8, 2015 8:06:50 PM ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"1431115610 ", DAY + OF_DAY, TimeBasis.UTC),
        (b"1431115610.827123 ", DAY + OF_DAY + 827, TimeBasis.UTC),
        (b"[1431115610827] ", DAY + OF_DAY + 827, TimeBasis.UTC),
        (b"2015-05-08 20:06:50,827 INFO: ", DAY + OF_DAY + 827, TimeBasis.LOCAL),
        (b"2015-05-08 20:06:50,827 - fics.raw - DEBUG - ", DAY + OF_DAY + 827, TimeBasis.LOCAL),
        (b"[2015-05-08 20:06:50] < ", DAY + OF_DAY, TimeBasis.LOCAL),
        (b"> [20:06:50] ", OF_DAY, TimeBasis.CLOCK),
    ],
)
def test_shapes_of_stamps(stamp: bytes, at_ms: int, basis: TimeBasis) -> None:
    decoder = StampedDecoder()
    assert decode(decoder, stamp + FRAME + b"\r\n") == [Chunk(FRAME + b"\r\n", len(stamp), at_ms)]
    assert decoder.time_basis is basis


def test_a_stamp_on_the_line_before() -> None:
    head = b"2015-05-08 20:06:50.827 fics[72424:1694479] \n"
    assert decode(StampedDecoder(), head + FRAME + b"\n") == [Chunk(FRAME + b"\n", len(head), DAY + OF_DAY + 827)]


def test_a_line_without_a_stamp_keeps_the_time() -> None:
    found = decode(StampedDecoder(), b"20:06:50 a\nb\n20:06:51 c")
    assert found == [Chunk(b"a\n", 9, OF_DAY), Chunk(b"b\n", 11, OF_DAY), Chunk(b"c", 22, OF_DAY + 1000)]


def test_what_only_looks_like_a_stamp_stays() -> None:
    data = b"20:06 x\n25:06:50 x\n  1.  e4 (0:00)\n20:06:50x\n1431115610\nMay 8 x\n> x\nFoo[12] kibitzes: x\n"
    first = b"20:06:50 Foo[12] kibitzes: x\n"
    assert b"".join(chunk.data for chunk in decode(StampedDecoder(), first + data)) == first[9:] + data


def test_icsdrone_logs_what_it_sends_too() -> None:
    time = b"Fri May  8 20:06:50 2015"
    received = b":DEBUG:ics->icsdrone: " + FRAME + b"\\012\\015\n"
    sent = b":DEBUG:icsdrone->ics: <12> x\\012\n"
    found = decode(StampedDecoder(), time + b":INFO:Logging in.\n" + time + received + time + sent)
    assert [(chunk.data, chunk.at_ms) for chunk in found] == [(FRAME + b"\n\r\n", DAY + OF_DAY)]
    before_2008 = time + b":DEBUG:<- ics: " + FRAME + b"\n" + time + b":DEBUG:-> ics: <12> x\n"
    assert [chunk.data for chunk in decode(StampedDecoder(), before_2008)] == [FRAME + b"\n"]


def test_a_margin_is_taken_off_as_far_as_a_line_has_it() -> None:
    data = b"> a\n>\n> > <12> b\n> \\   c\n"
    assert b"".join(chunk.data for chunk in decode(StampedDecoder(), data)) == b"a\n\n> <12> b\n\\   c\n"
    assert decode(StampedDecoder(), b"> x\n20:06:50 a\n> b\n")[-1].data == b"> b\n"


def test_a_mark_of_utf8_is_before_the_first_margin_and_stamp() -> None:
    data = b"\xef\xbb\xbf> 20:06:50 a\n> 20:06:51 b\n"
    assert decode(StampedDecoder(), data) == [Chunk(b"a\n", 14, OF_DAY), Chunk(b"b\n", 27, OF_DAY + 1000)]
    assert decode(StampedDecoder(), data, 1) == decode(StampedDecoder(), data)


def test_a_margin_of_many_blanks_is_compared_in_few_steps() -> None:
    steps = 0

    def count(*_: object) -> Any:
        nonlocal steps
        steps += 1
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        found = decode(StampedDecoder(), b" " * 6_000 + b"x\n y\n")
    finally:
        sys.settrace(before)
    assert [chunk.data for chunk in found] == [b"x\n", b"y\n"]
    assert steps < 1_000


def test_date_and_zone_from_the_user() -> None:
    decoder = StampedDecoder(date(2015, 5, 8), ZoneInfo("Europe/Vienna"))
    found = decode(decoder, b"20:06:50 a\n00:06:50 b\n")
    assert [chunk.at_ms for chunk in found] == [DAY + OF_DAY - 7_200_000, DAY + OF_DAY + 7_200_000]
    assert decoder.time_basis is TimeBasis.UTC
    local = StampedDecoder(date(2015, 5, 8))
    assert decode(local, b"20:06:50 a\n")[0].at_ms == DAY + OF_DAY
    assert local.time_basis is TimeBasis.LOCAL


def test_a_small_step_back_is_not_a_new_day() -> None:
    found = decode(StampedDecoder(), b"20:06:50 a\n20:06:49 b\n")
    assert [chunk.at_ms for chunk in found] == [OF_DAY, OF_DAY - 1000]


def test_a_time_of_day_after_a_date_is_of_that_day_or_the_next() -> None:
    decoder = StampedDecoder()
    found = decode(decoder, b"2015-05-08 20:06:50+02:00 begun\n20:06:51 a\n00:06:50 b\n1431115610 c\n")
    first = DAY + OF_DAY - 7_200_000
    assert [chunk.at_ms for chunk in found] == [first, first + 1000, first + 14_400_000, first + 14_400_000]
    assert found[-1].data == b"1431115610 c\n"
    assert decoder.time_basis is TimeBasis.UTC


def test_a_date_after_times_of_day_changes_no_basis() -> None:
    decoder = StampedDecoder()
    found = decode(decoder, b"20:06:50 a\n20:06:51 b\n2015-05-08 20:06:52 c\n20:06:53 d\n")
    assert [chunk.at_ms for chunk in found] == [OF_DAY + 1000 * number for number in range(4)]
    assert decoder.time_basis is TimeBasis.CLOCK


@pytest.mark.parametrize("first", [b"12:00 begins\n", b"12:00:00 begins\n", b"143111561 begins\n"])
def test_a_first_line_that_only_looks_like_a_stamp_decides_nothing(first: bytes) -> None:
    decoder = StampedDecoder()
    found = decode(decoder, first + b"[2015-05-08 20:06:50] a\n12:00 b\n1431115610 c\n2015-05-08 20:06:51 d\n")
    at_ms = DAY + OF_DAY
    assert [chunk.at_ms for chunk in found[1:]] == [at_ms, at_ms, at_ms, at_ms + 1000]
    assert [chunk.data for chunk in found[2:4]] == [b"12:00 b\n", b"1431115610 c\n"]
    assert decoder.time_basis is TimeBasis.LOCAL


@pytest.mark.parametrize("stamp", [b"20:06:50 ", b"[20:06:50] ", b"(20:06) ", b"20:06:50 | ", b"[20:06:50] - "])
def test_the_arrow_of_a_shout_is_no_part_of_a_stamp(stamp: bytes) -> None:
    assert decode(StampedDecoder(), stamp + b"--> Ann waves\n") == [
        Chunk(b"--> Ann waves\n", len(stamp), 1000 * (OF_DAY // 1000) if b":50" in stamp else OF_DAY - 50_000)
    ]


def test_a_day_that_does_not_exist() -> None:
    assert decode(StampedDecoder(), b"2015-02-31 20:06:50 a\n")[0].at_ms == OF_DAY


def test_cuts_never_change_the_chunks() -> None:
    data = b"20:06:50 a\n\n20:06:51 " + FRAME + b"\n[20:06:52] \nx"
    assert decode(StampedDecoder(), data, 1) == decode(StampedDecoder(), data)


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
