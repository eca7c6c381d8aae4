"""What the benchmarks insert for comparison is the whole archive, row for row."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from benchmarks import peers
from tests.support.cli import WATCHER, Cli


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("peers") / "archive.sqlite"
    Cli(path)("import", WATCHER)
    return path


def _statements(path: Path) -> list[str]:
    """The file as SQL, without what a raw insert has no need of."""
    connection = sqlite3.connect(path)
    try:
        return [line for line in connection.iterdump() if not line.startswith("CREATE VIEW")]
    finally:
        connection.close()


def test_all_rows_of_all_tables_are_inserted(archive: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.sqlite"
    assert peers.insert(copy, *peers.load(str(archive))) > 0
    made = _statements(copy)
    assert made == _statements(archive)
    assert any(line.startswith("CREATE INDEX") for line in made)


def test_both_figures_count_what_they_say(archive: Path) -> None:
    found = peers.executemany(str(archive))
    connection = sqlite3.connect(archive)
    names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    counts = {name: connection.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names}
    connection.close()
    assert found["rows"] == sum(counts.values())
    assert found["plies"] == counts["plies"] > 0
    assert counts["games"] > 0 < counts["source_chunks"]
    assert found["plies_seconds"] > 0
    assert found["seconds"] > 0
