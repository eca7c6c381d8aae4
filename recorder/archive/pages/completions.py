"""Values of an archive that begin as typed, for a shell that completes them.

A shell waits for the answer at each press of the key: a query reads at most ``_MOST`` rows, with sqlite3 alone.
The forms of the site have the same values.
"""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from enum import Enum
from pathlib import Path
from typing import Final
from urllib.parse import quote

from recorder.text import clean

_MOST: Final = 100
_ESCAPED: Final = str.maketrans({letter: f"/{letter}" for letter in "/%_"})
_PLAIN = re.compile(r"[\w.,:+@%/~-]+")
"""Values that every shell takes as one word without quotes; others are not completed."""
_WORD: Final = "SELECT {0}, NULL FROM games WHERE {0} LIKE ?1 ESCAPE '/' GROUP BY {0} ORDER BY {0}"


class Completion(Enum):
    """What can be completed: a query for values and their descriptions; ?1 is the pattern of what was typed."""

    HANDLE = (
        "SELECT handle, NULL FROM players WHERE handle_folded LIKE ?1 ESCAPE '/' GROUP BY handle ORDER BY handle_folded"
    )
    OWN_HANDLE = "SELECT me, NULL FROM sources WHERE me LIKE ?1 ESCAPE '/' GROUP BY me ORDER BY me"
    KEY = """
        SELECT substr(key, 1, max(8, length(?1) - 1)), white || ' - ' || black || ' ' || result || coalesce(
            ' ' || iif(time_basis IN ('utc', 'zone-unknown'), date(started_at_ms / 1000, 'unixepoch'), date_text), '')
        FROM games WHERE key LIKE ?1 ESCAPE '/' AND merged_into IS NULL ORDER BY started_at_ms DESC, key
    """
    SOURCE = """
        SELECT substr(sha256, 1, max(12, length(?1) - 1)), name FROM sources WHERE sha256 LIKE ?1 ESCAPE '/'
        ORDER BY name
    """
    VARIANT = _WORD.format("variant")
    CATEGORY = _WORD.format("category")
    ECO = _WORD.format("eco")
    SERVER = _WORD.format("server")
    REASON = _WORD.format("reason_key")
    TIME_CONTROL = """
        SELECT base_s || '+' || coalesce(increment_s, 0), NULL FROM games WHERE base_s IS NOT NULL
            AND base_s || '+' || coalesce(increment_s, 0) LIKE ?1 ESCAPE '/'
        GROUP BY base_s, coalesce(increment_s, 0) ORDER BY base_s, coalesce(increment_s, 0)
    """


def completions(where: str, kind: Completion, typed: str) -> list[tuple[str, str | None]]:
    """Values that begin as typed and that a shell can complete; none where no archive can be read."""
    try:
        # As storage.file_of, whose package takes longer to import than the query takes.
        path = Path(where.removeprefix("sqlite:///")).expanduser().absolute()
        with closing(sqlite3.connect(f"file:{quote(str(path))}?mode=ro", uri=True, timeout=0.05)) as driver:
            values = values_of(driver, kind, typed, _MOST)
    except (ValueError, RuntimeError, OSError, sqlite3.Error):
        return []
    return [(value, about) for value, about in values if _PLAIN.fullmatch(value) and not value.startswith("-")]


def values_of(driver: sqlite3.Connection, kind: Completion, typed: str, most: int) -> list[tuple[str, str | None]]:
    rows = driver.execute(f"{kind.value} LIMIT {most}", (f"{typed.translate(_ESCAPED)}%",)).fetchall()
    return [(value, None if about is None else clean(str(about))) for value, about in rows if isinstance(value, str)]
