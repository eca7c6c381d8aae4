"""The journal's text: both ways, for all bytes, and nothing else."""

import json
import re
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.errors import JournalError
from recorder.journal.format import (
    MAGIC,
    MAX_DATA_BYTES,
    MAX_LINE_BYTES,
    VERSION,
    JournalHeader,
    NewerJournalError,
    Record,
    RecordKind,
    format_header,
    format_note,
    format_record,
    parse_header,
    parse_note,
    parse_record,
)
from recorder.journal.parts import part_name
from recorder.journal.writer import MAX_PART_BYTES, Sync

DOCUMENT = Path(__file__).parent.parent.parent / "docs/reference/journal-format.md"
HEADER = JournalHeader(
    1, "0123456789abcdef", 1, "record", "freechess.org", 5000, 1_763_762_400_123_456_789, "ics-recorder 1"
)
ALL_BYTES = bytes(range(256))

headers = st.builds(
    JournalHeader,
    st.just(VERSION),
    st.text(max_size=20),
    st.integers(1, 10**6),
    st.text(max_size=9),
    st.text(max_size=90),
    st.none() | st.integers(0, 65535),
    st.integers(0, 1 << 63),
    st.text(max_size=30),
)
records = st.builds(
    Record, st.integers(0, 10**20 - 1), st.sampled_from(RecordKind), st.binary(max_size=300) | st.just(ALL_BYTES)
)


def checked(content: bytes) -> bytes:
    return b"%b %08x" % (content, crc32(content))


@given(headers)
def test_header_both_ways(header: JournalHeader) -> None:
    line = format_header(header)
    assert parse_header(line) == header
    assert b"\n" not in line
    assert line.isascii()


@given(records)
def test_record_both_ways(record: Record) -> None:
    line = format_record(record)
    assert parse_record(line) == record
    assert re.fullmatch(rb"[ -~]+", line)


def test_every_byte_alone_and_the_longest_record() -> None:
    for byte in range(256):
        record = Record(byte, RecordKind.RECEIVED, bytes([byte]))
        assert parse_record(format_record(record)) == record
    longest = Record(10**20 - 1, RecordKind.SENT, b"\xff" * MAX_DATA_BYTES)
    assert len(format_record(longest)) <= MAX_LINE_BYTES
    assert parse_record(format_record(longest)) == longest


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\n\r<12> ", rb"\n\r<12> "),
        (b"a\\b\t'\"", rb"a\\b\t'" + b'"'),
        (b"\xff\xfb\x01\x00\x7f\x80", rb"\xff\xfb\x01\x00\x7f\x80"),
    ],
)
def test_what_a_person_sees(data: bytes, text: bytes) -> None:
    assert format_record(Record(2_000_000_001, RecordKind.RECEIVED, data)) == checked(b"2.000000001 < " + text)


@pytest.mark.parametrize("record", [Record(-1, RecordKind.SENT, b""), Record(0, RecordKind.SENT, b"x" * 65537)])
def test_what_no_record_can_be(record: Record) -> None:
    with pytest.raises(ValueError, match="no record"):
        format_record(record)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"1.5 < x",
        b"01.000000000 < x",
        b"-1.000000000 < x",
        b"1.000000000 ? x",
        b"1.000000000 <",
        b"1.000000000  < x",
        rb"1.000000000 < \x41",  # another way to write A
        rb"1.000000000 < \x0a",
        rb"1.000000000 < \xFF",
        rb"1.000000000 < \101",
        rb"1.000000000 < \u0041",
        rb"1.000000000 < \N{BELL}",
        b"1.000000000 < \\",
        b"1.000000000 < \x80",
        b"1.000000000 < \t",
        b"1.000000000 < " + b"x" * (MAX_DATA_BYTES + 1),
    ],
)
def test_one_way_only_to_write_a_record(content: bytes) -> None:
    with pytest.raises(JournalError):
        parse_record(checked(content))


@given(st.binary(max_size=80), st.booleans())
def test_any_bytes_raise_nothing_but_our_error(noise: bytes, with_sum: bool) -> None:
    for line in (noise, MAGIC + noise, MAGIC + b"1 " + noise):
        for parse in (parse_record, parse_header):
            try:
                parse(checked(line) if with_sum else line)
            except JournalError:
                continue


@given(records, st.data())
def test_a_changed_byte_is_seen(record: Record, data: st.DataObject) -> None:
    for line, parse in ((format_record(record), parse_record), (format_header(HEADER), parse_header)):
        place = data.draw(st.integers(0, len(line) - 1))
        other = data.draw(st.integers(1, 255)) ^ line[place]
        with pytest.raises(JournalError):
            parse(line[:place] + bytes([other]) + line[place + 1 :])


def test_a_newer_version_says_so() -> None:
    line = checked(MAGIC + b"2 whatever it may be")
    with pytest.raises(NewerJournalError, match="version 2; this program reads versions up to 1"):
        parse_header(line)


@pytest.mark.parametrize(
    "fields",
    [
        "[]",
        "{}",
        "{" * 5000 + "}",
        "[" * 100_000 + "}",
        json.dumps({**HEADER._asdict(), "part": "1"}),
        json.dumps({**HEADER._asdict(), "port": True}),
        json.dumps({**HEADER._asdict(), "host": None}),
        json.dumps({**HEADER._asdict(), "anchor_utc_ns": 1.5}),
    ],
)
def test_a_header_without_its_fields(fields: str) -> None:
    with pytest.raises(JournalError, match=r"header"):
        parse_header(checked(MAGIC + b"1 " + fields.encode()))


@given(st.dictionaries(st.text().filter(lambda name: name != "kind"), st.none() | st.integers() | st.text()))
def test_note_both_ways(facts: dict[str, object]) -> None:
    assert parse_note(format_note("outage", facts)) == {"kind": "outage", **facts}


def test_notes_that_are_none() -> None:
    for data in (b"", b"[]", b"{}", b'{"kind":1}', b"\xff", b"[" * 60_000):
        with pytest.raises(JournalError):
            parse_note(data)
    for facts in ({"kind": 1}, {"x": float("nan")}, {"x": "y" * 70_000}):
        with pytest.raises(ValueError, match=r"kind|JSON|long"):
            format_note("x", facts)


def test_the_examples_of_the_specification() -> None:
    examples = re.findall(r"```journal\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    assert examples
    for example in examples:
        first, *lines = example.encode().splitlines()
        assert format_header(parse_header(first)) == first
        assert lines
        for line in lines:
            assert format_record(parse_record(line)) == line


def test_the_table_of_escapes_of_the_specification() -> None:
    rows = re.findall(r"^\| `([0-9a-f]{2})` \| `(\S+)` \|", DOCUMENT.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) >= 8
    for byte, text in rows:
        data = bytes.fromhex(byte)
        assert format_record(Record(0, RecordKind.SENT, data)) == checked(b"0.000000000 > " + text.encode())


def test_the_limits_of_the_specification() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert f"{MAX_DATA_BYTES:,}" in text
    assert f"{MAX_LINE_BYTES:,}" in text
    assert f"{MAX_PART_BYTES >> 20} MiB" in text
    assert re.findall(r"^\| `(\w+)` \| nothing that was written \|", text, re.MULTILINE) == [
        sync.value for sync in Sync
    ]
    (example,) = re.findall(r"```journal\n(.*)\n", text)
    assert f"    {part_name(parse_header(example.encode()))}\n" in text
