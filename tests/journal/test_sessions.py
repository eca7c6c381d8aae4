"""Sessions that nobody has closed."""

from __future__ import annotations

from pathlib import Path

from recorder.journal import JournalWriter, Sync, open_sessions


def _writer(folder: Path) -> JournalWriter:
    return JournalWriter(folder, host="chess.example", port=5000, role="record", sync=Sync.OS)


def test_a_living_one_a_left_one_and_a_closed_one(tmp_path: Path) -> None:
    closed = _writer(tmp_path)
    closed.close()
    living = _writer(tmp_path)
    living.received(b"fics% ", 5_000)
    (found,) = open_sessions(tmp_path)
    assert (found.path, found.last_ns, found.written) == (living.path, 5_000, True)
    assert (found.header.host, found.size_bytes) == ("chess.example", living.path.stat().st_size)
    left = tmp_path / "left" / living.path.name
    left.parent.mkdir()
    left.write_bytes(living.path.read_bytes() + b"6.000000000 < torn")
    (found,) = open_sessions(left.parent)
    assert (found.last_ns, found.written) == (5_000, False)
    living.close()
    assert open_sessions(tmp_path) == []


def test_other_files_and_no_folder(tmp_path: Path) -> None:
    (tmp_path / "x.journal").write_bytes(b"no journal\n")
    (tmp_path / "y.journal").write_bytes(b"")
    assert open_sessions(tmp_path) == []
    assert open_sessions(tmp_path / "nowhere") == []
