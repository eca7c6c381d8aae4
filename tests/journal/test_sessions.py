"""Sessions that were not closed."""

import fcntl
import random
from pathlib import Path

import pytest

from recorder.journal import (
    JournalReader,
    JournalWriter,
    Record,
    Survey,
    Sync,
    close_left_open,
    open_sessions,
    parse_note,
    part_blocks,
)
from recorder.journal.parts import compress_part, part_name
from tests.support.journals import HEADER, journal_of


def _writer(folder: Path) -> JournalWriter:
    return JournalWriter(folder, host="chess.example", port=5000, role="record", sync=Sync.OS)


def test_sessions_in_progress_left_open_and_closed(tmp_path: Path) -> None:
    closed = _writer(tmp_path)
    closed.close()
    active = _writer(tmp_path)
    active.received(b"fics% ", 5_000)
    (found,) = open_sessions(tmp_path)
    assert (found.path, found.end(), found.written) == (active.path, (5_000, None), True)
    assert (found.header.host, found.size_bytes) == ("chess.example", active.path.stat().st_size)
    left = tmp_path / "left" / active.path.name
    left.parent.mkdir()
    left.write_bytes(active.path.read_bytes() + b"6.000000000 < torn")
    (found,) = open_sessions(left.parent)
    assert (found.end(), found.written) == ((5_000, None), False)
    active.close()
    assert open_sessions(tmp_path) == []


def test_other_files_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x.journal").write_bytes(b"no journal\n")
    (tmp_path / "y.journal").write_bytes(b"")
    assert open_sessions(tmp_path) == []
    assert open_sessions(tmp_path / "nowhere") == []


def _left(folder: Path, tail: bytes = b"", *, drop: int = 0) -> Path:
    """A journal of three records whose recorder was killed."""
    writer = _writer(folder / "killed")
    for at_ns in (1_000, 3_000, 2_000):
        writer.received(b"fics% ", at_ns)
    left = folder / writer.path.name
    data = writer.path.read_bytes()
    left.write_bytes(data[: len(data) - drop] + tail)
    writer.close()
    return left


@pytest.mark.parametrize(
    ("tail", "drop", "records", "torn"),
    [(b"", 0, 3, None), (b"6.000000000 < torn", 0, 3, 18), (b"", 1, 3, None), (b"", 2, 2, 28), (b"\0" * 9, 0, 3, 9)],
)
def test_what_a_crash_left_is_ended_once(
    tmp_path: Path, tail: bytes, drop: int, records: int, torn: int | None
) -> None:
    path = _left(tmp_path, tail, drop=drop)
    before = path.read_bytes()
    assert [found.path for found in open_sessions(tmp_path)] == [path]
    assert close_left_open(path)
    after = path.read_bytes()
    assert after.startswith(before)
    assert open_sessions(tmp_path) == []
    assert not close_left_open(path)
    assert path.read_bytes() == after
    reader = JournalReader()
    *_, last = reader.read(part_blocks(path))
    assert reader.damage == []
    assert (None if reader.torn is None else reader.torn.size_bytes) == torn
    note = parse_note(last.value.data) if isinstance(last.value, Record) else {}
    assert (note["kind"], note["records"], note["more"], note["crashed"]) == ("end", records, False, True)
    assert note.get("torn") == torn
    step = [entry for reader in [JournalReader()] for byte in after for entry in reader.receive(bytes([byte]))]
    assert step[-1] == last


def test_a_journal_that_another_process_writes_is_not_closed(tmp_path: Path) -> None:
    active = _writer(tmp_path)
    active.received(b"fics% ")
    before = active.path.read_bytes()
    assert not close_left_open(active.path)
    assert active.path.read_bytes() == before
    active.close()
    path = _left(tmp_path / "left")
    with path.open("rb") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert not close_left_open(path)
    assert close_left_open(path)


def test_a_disk_that_is_full_leaves_it_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = _left(tmp_path, b"torn")
    before = path.read_bytes()

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("recorder.journal.parts.os.fsync", full)
    with pytest.raises(OSError, match="No space"):
        close_left_open(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("seed", range(8))
def test_wherever_a_journal_was_cut_it_is_ended_and_loses_nothing(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    whole = journal_of(dice.randbytes(20_000), seed)
    name = part_name(HEADER)
    for number in range(8):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / name
        path.write_bytes(whole[: dice.randrange(whole.index(b"\n") + 1, len(whole) + 1)])
        reader = JournalReader()
        before = list(reader.read(part_blocks(path)))
        assert close_left_open(path)
        second = JournalReader()
        *after, end = second.read(part_blocks(path))
        assert after == before
        assert isinstance(end.value, Record)
        assert (second.damage, second.torn) == ([], reader.torn)
        survey = Survey()
        survey.begin(name)
        for entry in (*after, end):
            survey.feed(entry)
        survey.end(second)
        survey.finish()
        assert survey.disorder == []
        assert (survey.closed, survey.crashed) == (True, True)
        packed = compress_part(path)
        assert list(JournalReader().read(part_blocks(packed))) == [*after, end]
