"""``recorder.Tables``: the archives of a shared PostgreSQL database for Python programs and notebooks."""

from __future__ import annotations

from recorder.archive.game_tables import GameTables
from recorder.text import plural

__all__ = ["Tables"]


class Tables(GameTables):
    """The games of all archives that were published in a PostgreSQL database. Needs the extra ``postgres``.

    It has the games, tables and measures of an archive. If several archives contain a game with the same key, it is
    included once. Nothing stays open between two calls, and each call reads the database as it is at one moment.
    ``with`` is not necessary.

    Args:
        url: of the database, ``postgresql://HOST/DATABASE``, without a password. Give the password in PGPASSWORD,
            ~/.pgpass or the service file.
    Raises:
        StorageError: the URL has a password or is malformed, psycopg is not installed, the database cannot be reached,
            or no archive with the schema of this program was published there. Every method can raise it, too.
    """

    def __init__(self, url: str) -> None:
        from storage.publish.reading import PublishedStore

        super().__init__(PublishedStore(url), arrow=False)

    def __repr__(self) -> str:
        return f"Tables · {plural(self._store.count(), 'game')}"
