"""What a crash left open is imported and ended by the next start, once."""

from __future__ import annotations

import asyncio
import fcntl
import threading
from pathlib import Path

import pytest

from recorder.archive.locate import take_left_over
from recorder.journal import JournalWriter, Sync, open_sessions
from tests.support.live import in_loop


def left_open(folder: Path) -> Path:
    """A journal whose recorder was killed, in a folder with one that is being written."""
    writer = JournalWriter(folder / "elsewhere", host="chess.example", port=5000, role="proxy", sync=Sync.OS)
    writer.received(b"fics% ")
    left = folder / writer.path.name
    left.write_bytes(writer.path.read_bytes() + b"torn")
    writer.close()
    return left


def start(folder: Path, *, works: bool | None = True) -> tuple[list[list[Path]], list[str]]:
    """What was imported, and told; ``works``: whether the archive can be written, None: nothing is imported."""
    imported: list[list[Path]] = []
    told: list[str] = []

    async def import_them(paths: list[Path]) -> bool:
        imported.append(paths)
        return bool(works)

    asyncio.run(take_left_over(folder, None if works is None else import_them, told.append, "do it later"))
    return imported, told


def test_it_is_imported_and_ended_once(tmp_path: Path) -> None:
    left = left_open(tmp_path)
    living = JournalWriter(tmp_path, host="chess.example", port=5000, role="proxy", sync=Sync.OS)
    assert start(tmp_path) == (
        [[left], [left]],
        ["1 journal was left open by a crash; the archive has all of it now."],
    )
    assert [found.path for found in open_sessions(tmp_path)] == [living.path]
    assert start(tmp_path) == ([], [])
    living.close()
    assert start(tmp_path / "nowhere") == ([], [])


def test_what_cannot_be_imported_waits_for_the_next_start(tmp_path: Path) -> None:
    left = left_open(tmp_path)
    before = left.read_bytes()
    assert start(tmp_path, works=False) == ([[left]], [])
    assert left.read_bytes() == before


def test_it_is_ended_where_nothing_is_imported_too(tmp_path: Path) -> None:
    left_open(tmp_path)
    told = "1 journal was left open by a crash and ended now, and not imported: do it later"
    assert start(tmp_path, works=None) == ([], [told])
    assert open_sessions(tmp_path) == []


@in_loop
async def test_nobody_waits_for_the_end_of_a_long_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left_open(tmp_path)
    goes_on = threading.Event()
    monkeypatch.setattr("recorder.journal.close_left_open", lambda _path: goes_on.wait(10))
    asyncio.get_running_loop().call_later(0.1, goes_on.set)
    told: list[str] = []
    await take_left_over(tmp_path, None, told.append, "do it later")
    assert len(told) == 1


def test_what_another_has_locked_meanwhile_is_left_alone(tmp_path: Path) -> None:
    left = left_open(tmp_path)
    before = left.read_bytes()
    told: list[str] = []

    async def import_them(_paths: list[Path]) -> bool:
        fcntl.flock(other, fcntl.LOCK_EX)
        return True

    with left.open("rb") as other:
        asyncio.run(take_left_over(tmp_path, import_them, told.append, "do it later"))
    assert (left.read_bytes(), told) == (before, [])
