"""The next start imports and ends journals that a crash left open, once."""

import asyncio
import fcntl
from pathlib import Path

from recorder.archive.recording.archiving import import_left_open
from recorder.journal import JournalWriter, Sync, open_sessions


def left_open(folder: Path) -> Path:
    """A journal whose recorder was killed, with a torn last line."""
    writer = JournalWriter(folder / "elsewhere", host="chess.example", port=5000, role="proxy", sync=Sync.OS)
    writer.received(b"fics% ")
    left = folder / writer.path.name
    left.write_bytes(writer.path.read_bytes() + b"torn")
    writer.close()
    return left


def start(folder: Path, *, works: bool | None = True) -> tuple[list[list[Path]], list[str]]:
    """Return the imported paths and the messages.

    Args:
        works: whether the archive can be written; None: nothing is imported.
    """
    imported: list[list[Path]] = []
    messages: list[str] = []

    async def import_them(paths: list[Path]) -> bool:
        imported.append(paths)
        return bool(works)

    asyncio.run(import_left_open(folder, None if works is None else import_them, messages.append, "do it later"))
    return imported, messages


def test_a_journal_that_cannot_be_imported_waits_for_the_next_start(tmp_path: Path) -> None:
    left = left_open(tmp_path)
    before = left.read_bytes()
    assert start(tmp_path, works=False) == ([[left]], [])
    assert left.read_bytes() == before


def test_a_journal_left_open_is_ended_without_an_import_too(tmp_path: Path) -> None:
    left_open(tmp_path)
    message = "1 journal was left open by a crash and ended now, and not imported: do it later"
    assert start(tmp_path, works=None) == ([], [message])
    assert open_sessions(tmp_path) == []


def test_a_journal_locked_by_another_process_is_skipped(tmp_path: Path) -> None:
    left = left_open(tmp_path)
    before = left.read_bytes()
    messages: list[str] = []

    async def import_them(_paths: list[Path]) -> bool:
        fcntl.flock(other, fcntl.LOCK_EX)
        return True

    with left.open("rb") as other:
        asyncio.run(import_left_open(tmp_path, import_them, messages.append, "do it later"))
    assert (left.read_bytes(), messages) == (before, [])
