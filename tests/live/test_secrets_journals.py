"""A cleaned journal contains no secret and is otherwise unchanged."""

import pytest

from recorder.journal import JournalHeader, JournalReader, Record, RecordKind, format_header, format_note
from recorder.live.recording import RecordedConnection
from recorder.live.secrets.logs import JournalCleaner
from tests.journal.test_format import HEADER
from tests.live.dialogues import DIALOGUES, PASSWORD, Step
from tests.live.test_recording import FakeJournal

RECEIVED, SENT, NOTE = RecordKind.RECEIVED, RecordKind.SENT, RecordKind.NOTE
COMMANDS = b"$set style 12\npassword old " + PASSWORD + b"\ntell Bob passed pawns\n"
ANSWER = b'\n\rPassword changed from "old" to "%b".\n\rfics%% ' % PASSWORD


def records_of(steps: list[Step]) -> list[Record]:
    """Return the records of a login, a password command and chat."""
    out: list[Record] = []
    for step in steps:
        out.append(Record(len(out) * 10, RECEIVED, step.says))
        if step.takes is not None:
            out.append(Record(len(out) * 10, SENT, step.takes + b"\n"))
    out.append(Record(len(out) * 10, SENT, COMMANDS))
    out.append(Record(len(out) * 10, RECEIVED, ANSWER))
    return out


def guarded(records: list[Record]) -> list[Record]:
    """Return the records of a live connection: sent bytes are where their line was complete."""
    journal = FakeJournal()
    recording = RecordedConnection(journal, lambda _sentence: None)
    for record in records:
        (recording.server_sent if record.kind is RECEIVED else recording.client_sent)(record.data, record.at_ns)
    recording.release()
    return [Record(at_ns, RECEIVED if mark == "<" else SENT, data) for mark, data, at_ns in journal.wrote]


def closed(records: list[Record]) -> list[JournalHeader | Record]:
    return [HEADER, *records, Record(10**6, NOTE, format_note("end", {"records": len(records), "more": False}))]


def clean(values: list[JournalHeader | Record]) -> tuple[JournalCleaner, list[JournalHeader | Record]]:
    cleaner = JournalCleaner(lambda: values)
    reader = JournalReader()
    found = [entry.value for entry in reader.read(cleaner.lines())]
    assert (reader.damage, reader.torn) == ([], None)
    return cleaner, found


def sent_bytes(values: list[JournalHeader | Record]) -> bytes:
    return b"".join(value.data for value in values if isinstance(value, Record) and value.kind is SENT)


@pytest.mark.parametrize("name", DIALOGUES)
@pytest.mark.parametrize("late", [False, True], ids=["in order", "sent bytes late"])
def test_no_password_remains(name: str, late: bool) -> None:
    records = records_of(DIALOGUES[name])
    if late:  # like a recorder that waits for the login and then masks nothing
        records.sort(key=lambda record: record.kind is SENT)
    cleaner, found = clean(closed(records))
    text = b"".join(value.data for value in found if isinstance(value, Record))
    assert PASSWORD not in text
    assert [len(value.data) for value in found[1:-1] if isinstance(value, Record)] == [
        len(record.data) for record in records
    ]
    assert cleaner.replaced > 0
    assert found[-1] == closed(records)[-1]


@pytest.mark.parametrize("name", DIALOGUES)
def test_a_clean_journal_stays_unchanged(name: str) -> None:
    records = [record for record in guarded(records_of(DIALOGUES[name])) if record.data != ANSWER]
    values = closed(records)
    once = clean(values)[1]
    assert clean(once)[1] == once
    for was, now in zip(values, once, strict=True):
        assert now == was or (isinstance(was, Record) and isinstance(now, Record) and b"*" in now.data)


def test_a_journal_that_grows_while_it_is_cleaned() -> None:
    values: list[JournalHeader | Record] = [HEADER, *records_of(DIALOGUES["FICS"])]
    read = 0

    def growing() -> list[JournalHeader | Record]:
        nonlocal read
        read += 1
        return values + [Record(10**6 + read, SENT, b"more\n")] * read

    found = [entry.value for entry in JournalReader().read(JournalCleaner(growing).lines())]
    assert len(found) == len(values) + 1


def test_every_connection_has_its_own_login() -> None:
    """In the second one, name and password are sent before the server sends anything, as by xboard."""
    steps = DIALOGUES["FICS"]
    note = Record(9_000, NOTE, format_note("connected", {}))
    early = Record(9_001, SENT, b"Ann\n" + PASSWORD + b"\n")
    heard = [Record(9_002 + at, RECEIVED, step.says) for at, step in enumerate(steps)]
    _, found = clean(closed([*records_of(steps), note, early, *heard]))
    assert PASSWORD not in b"".join(value.data for value in found if isinstance(value, Record))
    assert early._replace(data=b"***\n" + b"*" * len(PASSWORD) + b"\n") in found
    assert note in found


def test_received_bytes_are_scrubbed_across_records() -> None:
    pieces = [b"\n\rpassword chan", b"ged from x to hunter", b"2 now\n\rfics% "]
    values: list[JournalHeader | Record] = [HEADER, *(Record(at, RECEIVED, piece) for at, piece in enumerate(pieces))]
    _, found = clean(values)
    assert [value.data for value in found if isinstance(value, Record)] == [
        b"\n\rpassword chan",
        b"ged from * ** *******"[:20],
        b"* ***\n\rfics% ",
    ]
    assert format_header(HEADER) == format_header(found[0])  # type: ignore[arg-type]  # the first one is the header


def test_a_password_typed_as_a_command_is_masked_in_the_answer_too() -> None:
    steps = DIALOGUES["FICS"]
    records = records_of(steps)
    for typed in (PASSWORD, b"alias x " + PASSWORD):
        records.append(Record(len(records) * 10, SENT, typed + b"\n"))
        records.append(Record(len(records) * 10, RECEIVED, typed + b": Command not found.\n\rfics% "))
    values = closed(records)
    _, found = clean(values)
    assert PASSWORD not in b"".join(value.data for value in found if isinstance(value, Record))
    answer = b"*" * len(PASSWORD) + b": Command not found.\n\rfics% "
    assert [value.data for value in found if isinstance(value, Record) and value.data.startswith(answer[:12])] == [
        answer
    ]
    assert clean(found)[1] == found
