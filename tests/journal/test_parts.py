"""Names of parts, and compression that may be killed at any point."""

import fcntl
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given

from recorder.journal import parts
from recorder.journal.format import Record, RecordKind, format_header, format_note, format_record
from recorder.journal.parts import (
    compress_part,
    find_part,
    is_being_written,
    new_part,
    part_blocks,
    part_name,
    session_parts,
)
from recorder.journal.writer import Compressor
from tests.journal.test_format import HEADER, headers

END = format_record(Record(9, RecordKind.NOTE, format_note("end", {"records": 0, "more": False})))
CLOSED = b"".join(line + b"\n" for line in (format_header(HEADER), END))


def content(path: Path) -> bytes:
    return b"".join(part_blocks(path))


def test_names_sort_by_time_and_part() -> None:
    names = [
        part_name(HEADER._replace(anchor_utc_ns=anchor, part=part))
        for anchor in (999_999_999, 1_000_000_000, 1_763_762_400_123_000_000, 1_763_762_400_124_000_000)
        for part in (1, 2, 10, 99999)
    ]
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    assert part_name(HEADER) == "20251121T220000123Z_freechess.org_5000_0123456789abcdef_00001.journal"


@given(headers)
@example(HEADER._replace(host="../../etc/passwd", port=None))
@example(HEADER._replace(host="::1"))
@example(HEADER._replace(host="h" * 300))
def test_names_are_safe(header: Any) -> None:
    name = part_name(HEADER._replace(host=header.host, port=header.port))
    assert name.isascii()
    assert len(name) < 200
    assert not set(name) - set("abcdefghijklmnopqrstuvwxyz0123456789._-TZ")
    assert name[0].isdigit()


def test_parts_of_a_session(tmp_path: Path) -> None:
    names = [part_name(HEADER._replace(part=part)) for part in (1, 2, 3)]
    other = tmp_path / part_name(HEADER._replace(session="another"))
    for path in (other, tmp_path / names[0], tmp_path / f"{names[0]}.zst", tmp_path / names[2], tmp_path / "notes"):
        path.touch()
    found = session_parts(tmp_path / names[2])
    assert found == {1: tmp_path / f"{names[0]}.zst", 3: tmp_path / names[2]}
    assert session_parts(other) == {1: other}
    assert session_parts(tmp_path / "notes") == {0: tmp_path / "notes"}


def test_a_part_is_found_under_both_its_names(tmp_path: Path) -> None:
    plain = tmp_path / part_name(HEADER)
    packed = tmp_path / f"{plain.name}.zst"
    assert find_part(plain) == plain
    plain.write_bytes(CLOSED)
    assert find_part(packed) == plain
    assert compress_part(plain) == packed
    assert find_part(plain) == find_part(packed) == packed


def test_a_look_at_the_moment_of_its_creation_does_not_leave_a_part_unlocked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x_00001.journal"
    create = parts._create

    def seen_at_once(path: Path, flags: int = 0) -> int:
        made = create(path, flags)
        look = os.open(path, os.O_RDONLY)
        fcntl.flock(look, fcntl.LOCK_SH)
        threading.Timer(0.02, os.close, [look]).start()
        return made

    monkeypatch.setattr(parts, "_create", seen_at_once)
    file = new_part(path)
    assert is_being_written(path)
    file.close()
    assert not is_being_written(path)


def test_a_file_that_another_process_has_locked_is_still_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "_LOCK_TRIES", 3)
    create = parts._create
    locked: list[int] = []

    def locked_forever(path: Path, flags: int = 0) -> int:
        made = create(path, flags)
        locked.append(os.open(path, os.O_RDONLY))
        fcntl.flock(locked[0], fcntl.LOCK_SH)
        return made

    monkeypatch.setattr(parts, "_create", locked_forever)
    file = new_part(tmp_path / "x_00001.journal")
    assert file.write(b"x") == 1
    file.close()
    os.close(locked[0])


def test_a_new_part_is_private_and_new(tmp_path: Path) -> None:
    path = tmp_path / "x.journal"
    file = new_part(path)
    file.write(b"abc")
    file.sync()
    file.check()
    file.close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(FileExistsError):
        new_part(path)
    assert path.read_bytes() == b"abc"
    assert stat.S_IMODE(compress_part(path).stat().st_mode) == 0o600


KILLED = """
import os, sys
from pathlib import Path
from recorder.journal.parts import compress_part
path, left = Path(sys.argv[1]), int(sys.argv[2])
def hook(event, args):
    global left
    if event in ("open", "os.rename", "os.remove") and any(path.name in str(arg) for arg in args) or (
        event == "open" and str(args[0]) == str(path.parent)):
        if left == 0:
            os._exit(9)
        left -= 1
sys.addaudithook(hook)
compress_part(path)
"""


def test_killed_at_every_step(tmp_path: Path) -> None:
    plain = tmp_path / part_name(HEADER)
    steps = 0
    while True:
        plain.write_bytes(CLOSED)
        plain.with_name(f"{plain.name}.zst").unlink(missing_ok=True)
        code = subprocess.run([sys.executable, "-c", KILLED, plain, str(steps)], check=False).returncode
        parts = session_parts(plain)
        assert [content(path) for path in parts.values()] == [CLOSED]
        for path in tmp_path.glob(".*"):
            os.utime(path, (0, 0))
        Compressor(tmp_path).finish()  # the next start
        assert [path.name for path in tmp_path.iterdir()] == [f"{plain.name}.zst"]
        assert content(parts[1] if parts[1].exists() else find_part(parts[1])) == CLOSED
        if code == 0:
            break
        steps += 1
    assert steps >= 7


def test_what_is_left_alone(tmp_path: Path) -> None:
    others = {
        "20251121T220000123Z_h_5000_0123_00001.journal": CLOSED[:-1],  # perhaps still written
        "20251121T220000123Z_h_5000_4567_00001.journal": format_header(HEADER) + b"\n",
        "20251121T220000123Z_h_5000_89ab_00001.journal": b"",
        "mine.journal": CLOSED,
        ".20251121T220000123Z_h_5000_89ab_00001.journal.11.part": b"another program is at it",
    }
    for name, data in others.items():
        (tmp_path / name).write_bytes(data)
    Compressor(tmp_path).finish()
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == others


def test_a_part_that_cannot_be_compressed_is_kept_and_reported(tmp_path: Path) -> None:
    compressor = Compressor(tmp_path)
    compressor.compress(tmp_path / "gone.journal")
    compressor.finish()
    ((name, why),) = compressor.failures()
    assert name == "gone.journal"
    assert "No such file" in why
    assert compressor.failures() == []


LARGE = CLOSED[: -len(END) - 1] + b"".join(
    format_record(Record(at, RecordKind.RECEIVED, b"%d" % at * 100)) + b"\n" for at in range(4000)
)


@pytest.fixture
def large(tmp_path: Path) -> Path:
    path = tmp_path / part_name(HEADER)
    path.write_bytes(LARGE)
    return path


def test_a_large_part_is_compressed(large: Path) -> None:
    compressor = Compressor(large.parent)
    compressor.compress(large)
    compressor.finish()
    assert compressor.failures() == []
    assert [path.name for path in large.parent.iterdir()] == [f"{large.name}.zst"]
    assert content(find_part(large)) == LARGE


def test_parts_that_a_crash_left_are_compressed_but_for_those_that_cannot_be(tmp_path: Path) -> None:
    paths = [tmp_path / part_name(HEADER._replace(part=part)) for part in (1, 2, 3)]
    for path in paths:
        path.write_bytes(LARGE + END + b"\n")
    (tmp_path / f"{paths[0].name}.zst").mkdir()
    compressor = Compressor(tmp_path)
    compressor.finish()
    ((name, why),) = compressor.failures()
    assert name == paths[0].name
    assert "Is a directory" in why
    assert [path.exists() for path in paths] == [True, False, False]
    assert [content(find_part(path)) == LARGE + END + b"\n" for path in paths[1:]] == [True, True]


def test_what_another_has_compressed_is_no_failure(large: Path) -> None:
    compress_part(large)
    compressor = Compressor(large.parent)
    compressor.compress(large)
    compressor.finish()
    assert compressor.failures() == []
