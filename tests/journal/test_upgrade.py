"""Journals of older versions, step by step: there is none yet, so two are made up."""

from __future__ import annotations

import json

import pytest

from recorder.errors import JournalError
from recorder.journal import format as journal_format
from recorder.journal import reader as journal_reader
from recorder.journal.format import (
    MAGIC,
    UPGRADES,
    VERSION,
    JournalHeader,
    Record,
    RecordKind,
    format_header,
    format_record,
    parse_header,
)
from recorder.journal.reader import JournalReader
from tests.journal.test_format import HEADER, checked

NEWEST = HEADER._replace(version=3)
RECORDS = [
    *(Record(at * 1_000_000_000, RecordKind.RECEIVED, b"\n\rfics% \xff" * 30) for at in range(1, 90)),
    Record(90_000_000_000, RecordKind.SENT, b"date\n"),
    Record(91_500_000_000, RecordKind.NOTE, b'{"kind":"closed"}'),
]
WORDS = {b"<": b"in", b">": b"out", b"!": b"note"}


def written(header: JournalHeader) -> bytes:
    """A journal: version 3 is today's, 2 has words for the kinds, 1 milliseconds besides and the server as one text."""
    lines = [format_header(header)[:-9], *(format_record(record)[:-9] for record in RECORDS)]
    if header.version < 3:
        split = (line.split(b" ", 2) for line in lines[1:])
        lines[1:] = [b"%b %b %b" % (time, WORDS[mark], data) for time, mark, data in split]
    if header.version < 2:
        fields = {**header._asdict(), "server": f"{header.host} {header.port}"}
        del fields["host"], fields["port"]
        lines[0] = MAGIC + b"1 " + json.dumps(fields).encode()
        times = (line.partition(b" ") for line in lines[1:])
        lines[1:] = [b"%d %b" % (round(float(time) * 1000), rest) for time, _, rest in times]
    return b"".join(checked(line) + b"\n" for line in lines)


def one_to_two(line: bytes) -> bytes:
    if line.startswith(MAGIC):
        fields = json.loads(line[len(MAGIC) + 2 :])
        host, port = fields.pop("server").split()
        return MAGIC + b"2 " + json.dumps({**fields, "host": host, "port": int(port)}).encode()
    time, _, rest = line.partition(b" ")
    return b"%d.%09d %b" % (int(time) // 1000, int(time) % 1000 * 1_000_000, rest)


def two_to_three(line: bytes) -> bytes:
    if line.startswith(MAGIC):
        return line
    time, word, data = line.split(b" ", 2)
    marks = {word: mark for mark, word in WORDS.items()}
    return b"%b %b %b" % (time, marks.get(word, b"?"), data)


@pytest.fixture
def newer(monkeypatch: pytest.MonkeyPatch) -> None:
    """This program reads version 3."""
    monkeypatch.setattr(journal_format, "UPGRADES", {1: one_to_two, 2: two_to_three})
    for module in (journal_format, journal_reader):
        monkeypatch.setattr(module, "VERSION", 3)
    monkeypatch.setattr(journal_format.parse_record, "__defaults__", (3,))


def read(data: bytes, *, bulk: bool) -> tuple[list[JournalHeader | Record], JournalReader]:
    reader = JournalReader()
    found = [*(reader.receive_lines(data) if bulk else reader.receive(data)), *reader.finish()]
    if not bulk:
        return [entry.value for entry in found], reader  # type: ignore[union-attr]  # read so, they have values
    values: list[JournalHeader | Record] = []
    for one in found:
        if isinstance(one, journal_reader.JournalEntry):
            values.append(one.value)
        else:
            values += [
                Record(at_ns, RecordKind.RECEIVED, journal_format.unescape(text))
                for at_ns, text in zip(one.at_ns, one.texts, strict=True)
            ]
    return values, reader


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.parametrize("version", [1, 2, 3])
@pytest.mark.usefixtures("newer")
def test_every_version_reads_as_the_newest(version: int, bulk: bool) -> None:
    header = NEWEST._replace(version=version)
    values, reader = read(written(header), bulk=bulk)
    kept = [record for record in RECORDS if not (bulk and version == 3 and record.kind is RecordKind.SENT)]
    assert values == [header, *kept]  # many records at once are what was received
    assert (reader.damage, reader.torn) == ([], None)


@pytest.mark.parametrize("bulk", [False, True])
@pytest.mark.usefixtures("newer")
def test_parts_of_several_versions_and_damage(bulk: bool) -> None:
    headers = [NEWEST._replace(version=version) for version in (2, 1, 2)]
    damaged = checked(b"1.000000000 no-word x") + b"\n"
    values, reader = read(damaged.join(map(written, headers)), bulk=bulk)
    assert values == [value for header in headers for value in (header, *RECORDS)]
    assert [damage.size_bytes for damage in reader.damage] == [len(damaged)] * 2


@pytest.mark.usefixtures("newer")
def test_a_step_that_has_nothing_to_go_by_is_damage() -> None:
    with pytest.raises(JournalError):
        parse_header(checked(MAGIC + b"2 {"))


def test_no_version_is_without_its_step() -> None:
    assert set(UPGRADES) == set(range(1, VERSION))
