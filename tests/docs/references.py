"""Write the generated reference pages: ``python -m tests.docs.references``, which `make docs` runs."""

from collections.abc import Callable

from tests.docs.cli_reference import cli_reference
from tests.docs.pages import ROOT
from tests.docs.python_reference import python_reference
from tests.docs.schema_columns import with_columns
from tests.docs.table_columns import filled

PAGES: dict[str, Callable[[str], str]] = {
    "cli.md": lambda _: cli_reference(),
    "python.md": lambda _: python_reference(),
    "schema.md": with_columns,
    "tables.md": filled,
}
"""Each page, made of what it was."""

if __name__ == "__main__":
    for name, make in PAGES.items():
        page = ROOT / "docs" / "reference" / name
        page.write_text(make(page.read_text(encoding="utf-8")), encoding="utf-8")
