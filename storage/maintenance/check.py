"""``db check``: look at the whole file, its pages, its values, its schema, and rules between tables.

Rules that no constraint can state are queries that count the rows which break them.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING

from storage.files import driver_of, make_engine, unchanged_while_read
from storage.maintenance.malformed import malformed_pages, malformed_values, missing_rows, storage_errors
from storage.maintenance.rules import broken_rules
from storage.schema.upgrade import differences, require_current
from storage.schema.views import VIEWS
from storage.write.merged import unmerged

if TYPE_CHECKING:
    from sqlalchemy import Connection


def foreign_statements(driver: sqlite3.Connection) -> list[str]:
    """Triggers, and views that are not those of ``storage.schema.upgrade``; and which of those are missing."""
    own = {sql.split()[2]: sql for sql in VIEWS}
    found = driver.execute("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE type IN ('trigger', 'view')")
    foreign = []
    for kind, name, table, sql in found.fetchall():
        if own.pop(name, None) != sql:
            on = f" on {table}" if kind == "trigger" else ""
            foreign.append(f"The {kind} {name}{on} is not part of an archive: drop it.")
    return [*foreign, *(f"The view {name} is missing." for name in own)]


def check(path: Path) -> list[str]:
    """Check the whole file: SQLite's own structures, each value, foreign keys, the schema, and rules between tables.

    Return one sentence for each finding.
    """
    require_current(path)
    engine = make_engine(path, read_only=True)
    try:
        with storage_errors(path), unchanged_while_read(path), engine.connect() as connection:
            return _findings(connection)
    finally:
        engine.dispose()


def _findings(connection: Connection) -> list[str]:
    driver = driver_of(connection)
    found = list(malformed_pages(driver))
    if found:
        return found  # the other questions would only repeat it
    found = list(malformed_values(driver))
    found += missing_rows(driver)
    found += [f"The schema differs from the migrations': {difference}." for difference in differences(connection)]
    found += foreign_statements(driver)
    if found:
        return found  # the rules between tables are about values of the right types
    return list(broken_rules(driver)) or _unmerged(driver)


def _unmerged(driver: sqlite3.Connection) -> list[str]:
    keys = unmerged(driver)
    return [f"Game {key} is not merged from its sources: run `ics-recorder db upgrade`." for key in keys]
