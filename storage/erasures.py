"""What an archive forgets: sources, players, and the bytes kept of sources."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from storage.columnar import drop_copy
from storage.database import Database
from storage.files import driver_of
from storage.read.sources import READ_AGAIN, drop_kept, one_source, row_number
from storage.settings import (
    ForgottenSource,
    forgotten_handles,
    forgotten_sources,
    note_handle,
    note_source,
    recall_handle,
    recall_source,
)
from storage.write.games import closing_up

if TYPE_CHECKING:
    from storage.maintenance.removal import ForgetReport, HandleReport, HandleText


class Erasures:
    """Deletes sources and players, and remembers them until they are wanted again."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def forget_source(self, source_id: str) -> ForgetReport:
        """Remove a source, its bytes, games and findings, and players without another game; remember that.

        Games of other sources that had successors of its games' keys get the keys that are free then.
        """
        from storage.maintenance.removal import delete_source

        with self._database.writing() as connection, closing_up(driver_of(connection)):
            driver = driver_of(connection)
            row = one_source(driver, source_id)
            note_source(driver, ForgottenSource(row.sha256, row.size_bytes, row.name))
            report = delete_source(connection, row_number(driver, row.sha256))
        drop_copy(self._database.path)
        return report

    def forgotten_sources(self) -> list[ForgottenSource]:
        """The sources that were forgotten and not written again since."""
        with self._database.reading() as driver:
            return forgotten_sources(driver)

    def recall_source(self, sha256: str) -> None:
        """A forgotten source is wanted again, as it was or grown."""
        with self._database.writing() as connection:
            recall_source(driver_of(connection), sha256)

    def forgotten_handles(self) -> list[tuple[str, int, str]]:
        """What is remembered of players who are to be forgotten: salt, length and hash of each handle."""
        with self._database.reading() as driver:
            return forgotten_handles(driver)

    def forget_handles(self, handles: Collection[tuple[str, int, str]], words: HandleText) -> HandleReport:
        """Take players out of all tables but the kept logs, and remember the hashes of their handles."""
        from storage.maintenance.removal import redact_rows

        with self._database.writing() as connection:
            for handle in handles:
                note_handle(driver_of(connection), handle)
            report = redact_rows(connection, words)
        drop_copy(self._database.path)
        return report

    def recall_handle(self, handle: tuple[str, int, str]) -> None:
        """A player need not be forgotten any more; what is gone stays gone."""
        with self._database.writing() as connection:
            recall_handle(driver_of(connection), handle)

    def read_again(self, sha256: str) -> None:
        """Have a source read again as a whole when it is imported next, as after a newer parser."""
        with self._database.writing() as connection:
            driver_of(connection).execute(
                "UPDATE sources SET parser_version = ? WHERE sha256 = ?", (READ_AGAIN, sha256)
            )

    def redact_source(self, source_id: str, redact: Callable[[Iterable[bytes]], Iterator[bytes]]) -> bool:
        """Rewrite the kept bytes of a source by others of equal length; return whether anything was replaced."""
        from storage.maintenance.removal import redact_kept

        with self._database.writing() as connection:
            driver = driver_of(connection)
            return redact_kept(driver, row_number(driver, one_source(driver, source_id).sha256), redact)

    def drop_kept(self, source_id: str) -> None:
        """Keep nothing of a source's bytes any more; its games stay."""
        with self._database.writing() as connection:
            driver = driver_of(connection)
            drop_kept(driver, row_number(driver, one_source(driver, source_id).sha256))
