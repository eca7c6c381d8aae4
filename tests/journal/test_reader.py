"""Whatever became of a journal: what is whole is read, what is not is reported, nothing is invented."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.journal.format import (
    MAGIC,
    MAX_LINE_BYTES,
    JournalHeader,
    NewerJournalError,
    Record,
    RecordKind,
    format_header,
    format_note,
    format_record,
)
from recorder.journal.reader import Damage, JournalEntry, JournalReader
from tests.journal.test_format import ALL_BYTES, HEADER, checked, records


def journal_of(*values: JournalHeader | Record) -> bytes:
    lines = [format_header(value) if isinstance(value, JournalHeader) else format_record(value) for value in values]
    return b"".join(line + b"\n" for line in lines)


def read(*blocks: bytes) -> tuple[JournalReader, list[JournalHeader | Record]]:
    reader = JournalReader()
    return reader, [entry.value for entry in reader.read(blocks)]


SMALL = (
    HEADER,
    Record(5, RecordKind.RECEIVED, b"\n\rlogin: "),
    Record(70, RecordKind.SENT, b"guest\n"),
    Record(2_000_000_000, RecordKind.NOTE, b'{"kind":"closed"}'),
    Record(2_000_000_001, RecordKind.RECEIVED, ALL_BYTES),
)


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("where", [0, 1, 200])
def test_a_torn_tail_that_was_ended_is_torn_wherever_a_block_ends(bulk: bool, where: int) -> None:
    whole = journal_of(HEADER, Record(4, RecordKind.RECEIVED, b"x" * 60))
    torn = format_record(Record(5, RecordKind.RECEIVED, b"y" * 60))[:40]
    note = format_note("end", {"records": 1, "more": False, "crashed": True, "by": "x", "torn": len(torn)})
    ended = journal_of(Record(6, RecordKind.NOTE, note))
    more = journal_of(*[Record(7, RecordKind.NOTE, b'{"kind":"closed"}')] * 100)
    data = whole + torn + b"\n" + ended + more
    cut = len(whole) + len(torn) + 1 + where
    reader = JournalReader()
    receive = reader.receive_lines if bulk else reader.receive
    for block in (data[:cut], data[cut:]):
        receive(block)
    reader.finish()
    assert (reader.damage, reader.torn) == ([], Damage(len(whole), len(torn), "the last line is torn"))


@given(st.lists(records, max_size=8), st.data())
def test_how_it_is_cut_never_matters(values: list[Record], data: st.DataObject) -> None:
    whole = journal_of(HEADER, *values)
    cuts = sorted(data.draw(st.sets(st.integers(0, len(whole)), max_size=12)))
    blocks = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    reader = JournalReader()
    entries = list(reader.read(blocks))
    assert [entry.value for entry in entries] == [HEADER, *values]
    assert (reader.damage, reader.torn, reader.size_bytes) == ([], None, len(whole))
    for entry in entries:
        (first, *_) = JournalReader().read([whole[entry.offset :]])
        assert first == JournalEntry(0, entry.value)


def test_cut_at_every_byte() -> None:
    whole = journal_of(*SMALL)
    ends = [len(journal_of(*SMALL[:count])) for count in range(len(SMALL) + 1)]
    for size in range(len(whole) + 1):
        reader, values = read(whole[:size])
        # A line is whole without its end, because its checksum is.
        count = sum(end - 1 <= size for end in ends[1:])
        assert values == list(SMALL[:count])
        assert reader.damage == []
        left = size - ends[count]
        assert reader.torn == (Damage(ends[count], left, "the last line is torn") if left > 0 else None)


@pytest.mark.parametrize("change", [0x01, 0x20, 0xFF])
def test_a_changed_byte_anywhere(change: int) -> None:
    whole = journal_of(*SMALL)
    ends = [len(journal_of(*SMALL[:count])) for count in range(len(SMALL) + 1)]
    for place in range(len(whole)):
        reader, values = read(whole[:place] + bytes([whole[place] ^ change]) + whole[place + 1 :])
        hit = sum(end <= place for end in ends) - 1
        is_end = place == ends[hit + 1] - 1  # two lines became one
        found = [*reader.damage, *([reader.torn] if reader.torn else [])]
        assert len(found) == 1
        assert found[0].offset == ends[hit]
        assert values == [*SMALL[:hit], *SMALL[hit + 1 + is_end :]]


@given(st.lists(records, min_size=1, max_size=6), st.binary(min_size=1, max_size=60), st.data())
def test_noise_between_lines(values: list[Record], noise: bytes, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, len(values)))
    before, after = journal_of(HEADER, *values[:count]), journal_of(*values[count:])
    reader, found = read(before, noise, b"\n", after)
    assert found == [HEADER, *values]
    assert reader.damage == [Damage(len(before), len(noise) + 1, reader.damage[0].why)]
    assert reader.torn is None


def test_zeros_where_a_power_cut_left_them() -> None:
    whole = journal_of(*SMALL)
    zeros = bytes(MAX_LINE_BYTES * 2)
    reader, values = read(whole, *(zeros[at : at + 4096] for at in range(0, len(zeros), 4096)))
    assert values == list(SMALL)
    assert (reader.damage, reader.torn) == ([], Damage(len(whole), len(zeros), "the last line is torn"))
    more = journal_of(Record(9, RecordKind.SENT, b"quit\n"))
    reader, values = read(whole, zeros, b"x", zeros[:5], b"\n" + more)
    assert values == [*SMALL, Record(9, RecordKind.SENT, b"quit\n")]
    assert reader.damage == [Damage(len(whole), len(zeros) + 7, "no line is so long")]
    assert reader.torn is None


def test_parts_one_after_the_other() -> None:
    second = HEADER._replace(part=2)
    assert read(journal_of(*SMALL), journal_of(second, SMALL[1]))[1] == [*SMALL, second, SMALL[1]]


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_newer_version_is_no_damage(end: bytes) -> None:
    line = checked(MAGIC + b"2 something else") + end
    with pytest.raises(NewerJournalError):
        read(line)
    with pytest.raises(NewerJournalError):
        read(journal_of(*SMALL) + line)


@given(st.binary(max_size=200))
def test_any_bytes(noise: bytes) -> None:
    reader, values = read(noise)
    assert values == []
    found = [*reader.damage, *([reader.torn] if reader.torn else [])]
    assert sum(damage.size_bytes for damage in found) == len(noise)


@pytest.mark.parametrize("bulk", [False, True])
def test_a_copy_whose_line_ends_became_two_characters(bulk: bool) -> None:
    whole = journal_of(*SMALL, *[Record(3_000_000_000, RecordKind.RECEIVED, b"a line\n\r" * 9)] * 40)
    copied = whole.replace(b"\n", b"\r\n")
    reader, plain = JournalReader(), JournalReader()
    if bulk:
        values = [
            entry.value for entry in reader.receive_lines(copied) + reader.finish() if isinstance(entry, JournalEntry)
        ]
    else:
        values = [entry.value for entry in reader.read([copied])]
    assert values == [entry.value for entry in plain.read([whole])]
    assert (reader.damage, reader.torn, reader.size_bytes) == ([], None, len(copied))


def test_more_than_one_return_is_damage() -> None:
    reader, values = read(journal_of(HEADER), journal_of(SMALL[1]).replace(b"\n", b"x\r\n"))
    assert (values, len(reader.damage)) == ([HEADER], 1)
