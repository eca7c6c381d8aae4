"""The archive: sources, observations and games in one SQLite file.

::

    with ArchiveStore.open("games.db", read_only=True) as archive:
        for game in archive.games(GameFilter(players=frozenset({"Morphy"}))):
            print(game.key, game.result)

``upgrade``, ``current`` and ``backup`` treat the file as a whole; they take its path, which ``file_of`` gives for a
path or URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from storage.archive import ArchiveStore, EditedGame
from storage.files import backup, file_of, storage_errors
from storage.maintenance.replace import Replacement, is_database, reading_other, replacing
from storage.read.sources import SourceRow
from storage.read.store import EVERY_GAME, GameFilter
from storage.schema.upgrade import current, upgrade
from storage.settings import ForgottenSource

if TYPE_CHECKING:
    from storage.dataset.reading import DatasetStore

GameStore: TypeAlias = "ArchiveStore | DatasetStore"
"""Where games are; a shared database is read as a data set."""
