"""``docs/schema.md`` names every table, view and column."""

from __future__ import annotations

from pathlib import Path

import pytest

from storage import ArchiveStore
from storage.files import open_sqlite
from storage.schema.tables import metadata

TEXT = (Path(__file__).parents[2] / "docs" / "schema.md").read_text()


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_every_table_is_explained(table: str) -> None:
    assert f"| `{table}` |" in TEXT


@pytest.mark.parametrize("table", ["plies", "sources"])
def test_every_column_of_the_main_tables_is_explained(table: str) -> None:
    assert [column.name for column in metadata.tables[table].columns if f"`{column.name}`" not in TEXT] == []


def test_every_column_of_the_views_is_listed_in_order(archive: ArchiveStore, path: Path) -> None:
    connection = open_sqlite(path, read_only=True)
    views = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")]
    assert sorted(views) == ["v_analyses", "v_clocks", "v_games", "v_plies"]
    for view in views:
        columns = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({view})")]
        (line,) = (line for line in TEXT.splitlines() if line.startswith(f"| `{view}`"))
        assert line.replace(" (the mover's)", "").split(" | ")[2].rstrip(" |") == " ".join(
            f"`{name}`" for name in columns
        )
    connection.close()
