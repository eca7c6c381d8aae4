"""DuckDB, the engine of tables and measures."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from secrets import token_hex
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_MEMORY: Final = "300MB"


def new_database() -> DuckDBPyConnection:
    """A database in memory, which puts into files of the folder for temporary ones what needs more than 300 MB."""
    import duckdb  # loads NumPy

    database = duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "temp_directory": f"{tempfile.gettempdir()}/ics-recorder-{token_hex(8)}",
            "autoinstall_known_extensions": False,
        }
    )
    with suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets, where no bar can be drawn
        database.execute("SET enable_progress_bar = false")  # it prints on standard output where no script runs
    return database
