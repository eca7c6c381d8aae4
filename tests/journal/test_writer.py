"""What was acknowledged is there, whatever happens; what cannot be written is said at once and for ever."""

import errno
import os
import random
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.errors import JournalError
from recorder.journal.format import JournalHeader, Record, RecordKind, parse_note
from recorder.journal.parts import AppendedFile, new_part, part_blocks, session_parts
from recorder.journal.reader import JournalReader
from recorder.journal.writer import JournalWriter, Sync
from tests.support.effort import examples, long_after

S = 1_000_000_000
DAY = 86_400 * S


class Hands:
    """A clock that is set by hand: two seconds before midnight, to begin with."""

    def __init__(self) -> None:
        self.utc = 20_000 * DAY - 2 * S
        self.monotonic = 77 * S

    def utc_ns(self) -> int:
        return self.utc

    def monotonic_ns(self) -> int:
        return self.monotonic

    def go(self, ns: int) -> None:
        self.monotonic += ns


class Disk:
    """Files whose calls are counted, and fail on demand."""

    def __init__(self) -> None:
        self.syncs = 0
        self.fails: dict[str, OSError] = {}
        self.at_once = 1 << 30  # bytes that one write takes

    def open(self, path: Path) -> Any:
        self._fail("open")
        return _Counted(self, new_part(path))

    def _fail(self, what: str) -> None:
        if what in self.fails:
            raise self.fails[what]


class _Counted:
    def __init__(self, disk: Disk, file: AppendedFile) -> None:
        self._disk = disk
        self._file = file

    def write(self, data: bytes, /) -> int:
        self._disk._fail("write")
        return self._file.write(data[: self._disk.at_once])

    def sync(self) -> None:
        self._disk._fail("sync")
        self._disk.syncs += 1
        self._file.sync()

    def check(self) -> None:
        self._file.check()

    def close(self) -> None:
        self._file.close()
        self._disk._fail("close")


def writer(folder: Path, **how: Any) -> JournalWriter:
    return JournalWriter(folder, **{"host": "freechess.org", "port": 5000, "role": "record", **how})


def parts(folder: Path) -> list[tuple[JournalHeader, list[Record]]]:
    """All parts of the only session in a folder, each proved to be whole."""
    out = []
    for path in session_parts(next(path for path in folder.iterdir() if not path.name.startswith("."))).values():
        reader = JournalReader()
        header, *records = (entry.value for entry in reader.read(part_blocks(path)))
        assert (reader.damage, reader.torn) == ([], None)
        assert isinstance(header, JournalHeader)
        assert all(isinstance(record, Record) for record in records)
        out.append((header, [record for record in records if isinstance(record, Record)]))
    return out


def test_all_that_is_written(tmp_path: Path) -> None:
    clock = Hands()
    journal = writer(tmp_path / "a" / "b", clock=clock, role="proxy", port=None)
    clock.go(5)
    at = journal.now_ns()
    clock.go(10)
    journal.received(bytes(range(256)), at)
    journal.received(b"")
    journal.sent(b"guest\n")
    journal.sent(b"***\n", at_ns=7)
    journal.note("outage", why="reset", seconds=3)
    journal.close()
    ((header, records),) = parts(tmp_path / "a" / "b")
    assert header._replace(session="", program="") == JournalHeader(
        1, "", 1, "proxy", "freechess.org", None, 20_000 * DAY - 2 * S, ""
    )
    assert len(header.session) == 16
    assert header.program.startswith("ics-recorder ")
    assert records == [
        Record(5, RecordKind.RECEIVED, bytes(range(256))),
        Record(15, RecordKind.SENT, b"guest\n"),
        Record(7, RecordKind.SENT, b"***\n"),
        Record(15, RecordKind.NOTE, b'{"kind":"outage","why":"reset","seconds":3}'),
        Record(15, RecordKind.NOTE, b'{"kind":"end","records":4,"more":false}'),
    ]
    assert journal.path.name.endswith("_00001.journal.zst")
    assert stat.S_IMODE(journal.path.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "a" / "b").stat().st_mode) == 0o700


@given(st.lists(st.tuples(st.booleans(), st.binary(min_size=1, max_size=99)), max_size=9), st.integers(1, 99))
@settings(max_examples=examples(30))
def test_both_directions_through_short_writes(
    tmp_path_factory: pytest.TempPathFactory, written: list[tuple[bool, bytes]], at_once: int
) -> None:
    folder = tmp_path_factory.mktemp("journal")
    disk = Disk()
    disk.at_once = at_once
    journal = writer(folder, open_part=disk.open, sync=Sync.OS)
    for is_ours, data in written:
        (journal.sent if is_ours else journal.received)(data)
    size = journal.path.stat().st_size
    assert size == journal.size_bytes
    journal.close()
    ((_, records),) = parts(folder)
    kinds = {True: RecordKind.SENT, False: RecordKind.RECEIVED}
    assert [(record.kind, record.data) for record in records[:-1]] == [(kinds[ours], data) for ours, data in written]


def test_received_bytes_are_in_the_file_when_the_call_returns(tmp_path: Path) -> None:
    for sync in Sync:
        journal = writer(tmp_path, sync=sync)
        journal.received(b"at once")
        assert b" < at once " in journal.path.read_bytes()
        journal.close()


def test_always_syncs_every_record(tmp_path: Path) -> None:
    disk, clock = Disk(), Hands()
    journal = writer(tmp_path, open_part=disk.open, clock=clock)
    for count in range(5):
        clock.go(3)
        before = disk.syncs
        journal.received(b"x")
        assert disk.syncs == before + 1
        assert journal.last_sync_ns == 3 * (count + 1)
    journal.close()


def test_interval_loses_two_seconds_at_most(tmp_path: Path) -> None:
    disk, clock = Disk(), Hands()
    clock.utc -= DAY // 2
    journal = writer(tmp_path, open_part=disk.open, clock=clock, sync=Sync.INTERVAL)
    rng = random.Random(3)
    oldest: int | None = None  # record that no sync has followed
    next_tick = S
    for _ in range(3000):
        clock.go(rng.choice([1000, S // 50, S // 3]))
        before, now = disk.syncs, journal.now_ns()
        if now >= next_tick:
            next_tick += S
            journal.tick()
        elif rng.random() < 0.5:
            journal.received(b"x")
            oldest = now if oldest is None else oldest
        if disk.syncs > before:
            oldest = None
        assert oldest is None or now - oldest <= 2 * S
    assert 100 < disk.syncs < 700
    journal.close()


def test_os_never_syncs(tmp_path: Path) -> None:
    disk, clock = Disk(), Hands()
    journal = writer(tmp_path, open_part=disk.open, clock=clock, sync=Sync.OS)
    for _ in range(5):
        clock.go(S)
        journal.received(b"x")
        journal.tick()
    journal.close()
    assert disk.syncs == 0
    assert journal.last_sync_ns is None


def test_rotation_by_size(tmp_path: Path) -> None:
    clock = Hands()
    journal = writer(tmp_path, max_bytes=2000, clock=clock)
    blocks = [bytes([count]) * (count * 7 % 400) for count in range(1, 100)]
    for data in blocks:
        clock.go(1000)
        before = journal.path
        journal.received(data)
        assert journal.path == before or journal.size_bytes > 300
        assert journal.size_bytes <= 2000 or len(data) > 400
    journal.close()
    written = parts(tmp_path)
    assert len(written) > 10
    assert [header.part for header, _ in written] == list(range(1, len(written) + 1))
    assert {header._replace(part=0) for header, _ in written} == {written[0][0]._replace(part=0)}
    *former, (_, last) = written
    for _, records in former:
        assert parse_note(records[-1].data) == {"kind": "end", "records": len(records) - 1, "more": True}
    assert parse_note(last[-1].data) == {"kind": "end", "records": len(last) - 1, "more": False}
    received = [record for _, records in written for record in records if record.kind is RecordKind.RECEIVED]
    assert [record.data for record in received] == [data for data in blocks if data]
    assert [record.at_ns for record in received] == [1000 * at for at, data in enumerate(blocks, 1) if data]
    assert {path.suffix for path in tmp_path.iterdir()} == {".zst"}


def test_a_record_larger_than_a_part(tmp_path: Path) -> None:
    journal = writer(tmp_path, max_bytes=100)
    for data in (b"a" * 500, b"b" * 500):
        journal.received(data)
    journal.close()
    assert [records[0].data[:1] for _, records in parts(tmp_path)] == [b"a", b"b"]


@pytest.mark.parametrize("by_tick", [False, True])
def test_rotation_by_day(tmp_path: Path, by_tick: bool) -> None:
    clock = Hands()
    journal = writer(tmp_path, clock=clock)
    clock.go(2 * S - 1)
    journal.received(b"still the old day")
    clock.utc -= 10 * DAY  # the wall clock is set: the journal does not depend on it
    clock.go(1)
    if by_tick:
        journal.tick()
    journal.received(b"the new day")
    clock.go(DAY - 1)
    journal.tick()
    journal.received(b"the same day")
    clock.go(3 * DAY)
    journal.tick()
    journal.close()
    found = [[record.data for record in records[:-1]] for _, records in parts(tmp_path)]
    assert found == [[b"still the old day"], [b"the new day", b"the same day"], []]


FAULTS: list[tuple[str, int, str]] = [
    ("write", errno.ENOSPC, "No space left on device"),
    ("sync", errno.EIO, "Input/output error"),
]


@pytest.mark.parametrize("use", ["received", "sent", "note", "tick", "close"])
@pytest.mark.parametrize(("what", "number", "text"), FAULTS)
def test_the_first_failure_is_the_last(tmp_path: Path, what: str, number: int, text: str, use: str) -> None:
    disk, clock = Disk(), Hands()
    journal = writer(tmp_path, open_part=disk.open, clock=clock)
    journal.received(b"before")
    calls: dict[str, Callable[[], None]] = {
        "received": lambda: journal.received(b"x"),
        "sent": lambda: journal.sent(b"x"),
        "note": lambda: journal.note("outage"),
        "tick": journal.tick,
        "close": journal.close,
    }
    disk.fails[what] = OSError(number, os.strerror(number))
    clock.go(3 * S)  # a day begins, so that tick writes
    with pytest.raises(JournalError, match=rf"{journal.path.name} cannot be written: {text}\. Recording has stopped"):
        calls[use]()
    disk.fails.clear()  # there is room again
    size = journal.path.stat().st_size
    for name, call in calls.items():
        if name != "close":
            with pytest.raises(JournalError, match=text):
                call()
    journal.close()
    assert journal.path.stat().st_size == size
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_leaves_no_journal_without_a_header(tmp_path: Path) -> None:
    disk = Disk()
    disk.fails["write"] = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    with pytest.raises(JournalError, match="No space left on device"):
        writer(tmp_path, open_part=disk.open)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("what", ["open", "close", "write", "sync"])
def test_a_failure_between_parts(tmp_path: Path, what: str) -> None:
    disk = Disk()
    journal = writer(tmp_path, open_part=disk.open, max_bytes=1)
    journal.received(b"first")
    disk.fails[what] = OSError(errno.EDQUOT, "over the quota")
    with pytest.raises(JournalError, match="over the quota"):
        journal.received(b"second")
    with pytest.raises(JournalError, match="over the quota"):
        journal.received(b"third")
    journal.close()
    whole = b"".join(block for path in sorted(tmp_path.iterdir()) for block in part_blocks(path))
    assert b"first" in whole
    assert b"third" not in whole


@pytest.mark.parametrize("sync", Sync)
def test_a_removed_folder(tmp_path: Path, sync: Sync) -> None:
    clock = Hands()
    clock.utc -= DAY // 2
    journal = writer(tmp_path / "j", sync=sync, clock=clock)
    journal.received(b"x")
    shutil.rmtree(tmp_path / "j")
    clock.go(S)
    with pytest.raises(JournalError, match="it was removed while it was being written"):
        journal.received(b"y")


def test_a_part_that_stays_plain_is_noted(tmp_path: Path) -> None:
    journal = writer(tmp_path, max_bytes=1)
    first = journal.path
    journal.received(b"x")
    blocked = first.with_name(f"{first.name}.zst")
    blocked.mkdir()
    journal.received(b"y")
    for _ in range(1000):
        journal.tick()
        if b"uncompressed" in journal.path.read_bytes():
            break
        signal.sigtimedwait([], 0.01)
    journal.close()
    blocked.rmdir()
    assert first.exists()
    notes = [
        parse_note(record.data)
        for _, records in parts(tmp_path)
        for record in records
        if record.kind is RecordKind.NOTE
    ]
    assert [note["part"] for note in notes if note["kind"] == "uncompressed"] == [first.name]


LIMITED = """
import resource, sys
from pathlib import Path
from recorder.errors import JournalError
from recorder.journal import JournalWriter, Sync
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))
journal = JournalWriter(Path(sys.argv[1]), host="h", port=1, role="record", sync=Sync(sys.argv[2]))
done = 0
try:
    while True:
        journal.received(b"%d" % done * 50)
        done += 1
except JournalError as error:
    print(done, error)
try:
    journal.received(b"never")
except JournalError:
    print("refused")
"""


@pytest.mark.parametrize("sync", Sync)
def test_the_largest_file_the_system_allows(tmp_path: Path, sync: Sync) -> None:
    run = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path, sync.value], capture_output=True, text=True, check=True
    )
    first, second = run.stdout.splitlines()
    assert second == "refused"
    assert "File too large" in first
    (path,) = tmp_path.iterdir()
    reader = JournalReader()
    records = [entry.value for entry in reader.read(part_blocks(path))][1:]
    assert [record.data for record in records if isinstance(record, Record)] == [
        b"%d" % done * 50 for done in range(int(first.split()[0]))
    ]
    assert reader.torn is not None
    assert reader.size_bytes == 20_000


KILLED = """
import os, random, sys
from pathlib import Path
from recorder.journal import JournalWriter
rng = random.Random(int(sys.argv[2]))
journal = JournalWriter(Path(sys.argv[1]), host="h", port=1, role="record", max_bytes=rng.choice([3_000, 1 << 20]))
done = 0
while True:
    journal.received(b"%d:" % done + rng.randbytes(rng.randrange(300)))
    done += 1
    os.write(1, b"%d\\n" % done)
"""


@pytest.mark.parametrize("seed", long_after(8, range(20)))
def test_killed_while_writing(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    with subprocess.Popen([sys.executable, "-c", KILLED, tmp_path, str(seed)], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        acknowledged = rng.randrange(1, 60)
        for _ in range(acknowledged):
            process.stdout.readline()
        process.kill()
        acknowledged += process.stdout.read().count(b"\n")
    rng = random.Random(seed)
    rng.choice([0, 0])
    records: list[Record] = []
    paths = session_parts(next(path for path in tmp_path.iterdir() if not path.name.startswith(".")))
    for path in paths.values():
        reader = JournalReader()
        records += [entry.value for entry in reader.read(part_blocks(path)) if isinstance(entry.value, Record)]
        assert reader.damage == []
    received = [record.data for record in records if record.kind is RecordKind.RECEIVED]
    assert acknowledged <= len(received) <= acknowledged + 1
    for count, data in enumerate(received):
        assert data == b"%d:" % count + rng.randbytes(rng.randrange(300))
