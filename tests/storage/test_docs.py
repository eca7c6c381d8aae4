"""``docs/reference/schema.md`` names every table, view and column."""

from pathlib import Path

import pytest

from storage import ArchiveStore
from storage.files import open_sqlite
from storage.schema.tables import metadata
from tests.docs.schema_columns import BEGIN, END, with_columns

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "schema.md").read_text(encoding="utf-8")
TEXT = PAGE.partition(BEGIN)[0] + PAGE.partition(END)[2]  # without the list of columns, which is generated


def test_the_list_of_columns_is_that_of_the_tables() -> None:
    assert with_columns(PAGE) == PAGE, "make docs writes the columns"


@pytest.mark.parametrize("table", sorted(metadata.tables))
def test_every_table_is_explained(table: str) -> None:
    assert f"| `{table}` |" in TEXT


def test_every_column_has_a_meaning_that_a_row_of_the_page_can_hold() -> None:
    said = [column.info for table in metadata.tables.values() for column in table.columns]
    assert all(one["meaning"] for one in said)
    assert not any("|" in one["meaning"] + one["null"] for one in said)


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
