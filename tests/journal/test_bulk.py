"""Many lines at once say what each says alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorder.journal import reader as reader_module
from recorder.journal.format import MAX_DATA_BYTES, JournalHeader, Record, RecordKind, unescape
from recorder.journal.reader import JournalReader, Reads
from tests.journal.test_format import HEADER, checked, records
from tests.journal.test_reader import journal_of

BROKEN = [
    b"",
    b"1.000000000 <",
    b"1.000000000  < x",
    b"01.000000000 < x",
    b"1.5 < x",
    b"1.000000000 ? x",
    rb"1.000000000 < \x41",
    rb"1.000000000 < \x0a",
    rb"1.000000000 < \101",
    rb"1.000000000 < \x0",
    b"1.000000000 < \\",
    b"1.000000000 < n\\",
    rb"1.000000000 < \\\\\\n\q",
    b"1.000000000 < \x80",
    b"1.000000000 < \t",
    rb"1.000000000 > \d",
    b"1.000000000 < " + b"x" * (MAX_DATA_BYTES + 1),
]
RIGHT = [
    b"1.000000000 < ",
    rb"1.000000000 < n\r7\\n\r\n\x00",
    rb"1.000000000 < 0\\",
    b"1.000000000 < " + rb"\n" * MAX_DATA_BYTES,
]


@pytest.fixture(autouse=True)
def _always(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader_module, "_MANY_BYTES", 0)


def one_by_one(data: bytes, step: int) -> tuple[list[tuple[int, JournalHeader | Record]], JournalReader]:
    """What the reader says of each line; sent bytes are skipped, as in bulk."""
    reader = JournalReader()
    found = list(reader.read(data[at : at + step] for at in range(0, len(data), step)))
    kept = [
        (place, value)
        for place, value in found
        if isinstance(value, JournalHeader) or value.kind is not RecordKind.SENT
    ]
    return [(place, value) for place, value in kept], reader


def in_bulk(data: bytes, step: int) -> tuple[list[tuple[int, JournalHeader | Record]], JournalReader]:
    """The same with many lines at once."""
    reader = JournalReader()
    out: list[tuple[int, JournalHeader | Record]] = []
    for at in range(0, len(data), step):
        for one in reader.receive_lines(data[at : at + step]):
            if isinstance(one, Reads):
                assert one.end.join(one.lines).encode() == b"".join(one.texts)
                assert one.escaped == [at for at, line in enumerate(one.lines) if "\\" in line]
                for at_ns, place, text in zip(one.at_ns, one.places, one.texts, strict=True):
                    begin = data.rindex(b"\n", 0, place) + 1
                    assert data[place:].startswith(text)
                    assert begin in one.offsets
                    out.append((begin, Record(at_ns, RecordKind.RECEIVED, unescape(text))))
            elif isinstance(one.value, JournalHeader) or one.value.kind is not RecordKind.SENT:
                out.append((one.offset, one.value))
    return out + [(one.offset, one.value) for one in reader.finish()], reader


def assert_same(data: bytes, step: int) -> None:
    """Both readers say the same, the damage included."""
    (expected, slow), (found, quick) = one_by_one(data, step), in_bulk(data, step)
    assert found == expected
    assert (quick.damage, quick.torn, quick.size_bytes) == (slow.damage, slow.torn, slow.size_bytes)


@given(st.lists(records, max_size=12), st.integers(1, 3000))
def test_records_of_any_bytes(values: list[Record], step: int) -> None:
    assert_same(journal_of(HEADER, *values), step)


@given(
    st.lists(st.sampled_from([*BROKEN[:-1], *RIGHT[:-1]]).map(checked) | st.binary(max_size=30), max_size=8),
    st.integers(1, 400),
)
@example([checked(b"1.000000000 < n\\"), checked(b"1.000000000 < n")], 400)  # right only when put together
@example([checked(rb"1.000000000 < \x0"), checked(b"1.000000000 < 7")], 400)
def test_lines_that_are_none(lines: list[bytes], step: int) -> None:
    assert_same(journal_of(HEADER) + b"".join(line + b"\n" for line in lines), step)


@pytest.mark.parametrize("content", [BROKEN[-1], RIGHT[-1]])
def test_the_longest_data(content: bytes) -> None:
    data = journal_of(HEADER) + checked(content) + b"\n"
    assert_same(data, 1 << 20)
    assert len(in_bulk(data, 1 << 20)[0]) == 1 + (content == RIGHT[-1])


def test_the_quick_way_is_taken() -> None:
    data = journal_of(HEADER, *(Record(at, RecordKind.RECEIVED, b"\n\rfics% <12> \xff\\ n\n\r") for at in range(99)))
    reader = JournalReader()
    kinds = [type(one) for one in reader.receive_lines(data)]
    assert kinds[1:] == [Reads]
