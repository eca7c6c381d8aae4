"""The archive: sources, observations and games in one SQLite file.

::

    with Archive.open("games.db", read_only=True) as archive:
        for game in archive.games(GameFilter(players=frozenset({"Morphy"}))):
            print(game.key, game.result)

``upgrade``, ``current``, ``check``, ``backup`` and ``share`` treat the file as a whole; they take its path, which
``file_of`` gives for a path or URL.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from storage.archive import ArchiveStore, EditedGame
from storage.files import backup, file_of, storage_errors
from storage.maintenance.replace import Replacement, is_database, reading_other, replacing
from storage.read.game_filter import GameFilter
from storage.read.sources import SourceRow
from storage.schema.upgrade import current, head, upgrade
from storage.settings import ForgottenSource

if TYPE_CHECKING:
    from storage.maintenance.check import check, require_sound
    from storage.maintenance.removal import ForgetReport
    from storage.maintenance.share import share
    from storage.write.source import SourceWriter

__all__ = [
    "ArchiveStore",
    "EditedGame",
    "ForgetReport",
    "ForgottenSource",
    "GameFilter",
    "Replacement",
    "SourceRow",
    "SourceWriter",
    "backup",
    "check",
    "current",
    "file_of",
    "head",
    "is_database",
    "reading_other",
    "replacing",
    "share",
    "require_sound",
    "storage_errors",
    "upgrade",
]


def __getattr__(name: str) -> Any:
    """Load what needs SQLAlchemy when it is first used: commands that read an archive start without it."""
    if name == "SourceWriter":
        from storage.write.source import SourceWriter

        return SourceWriter
    if name == "ForgetReport":
        from storage.maintenance.removal import ForgetReport

        return ForgetReport
    if name == "check":
        from storage.maintenance.check import check

        return check
    if name == "require_sound":
        from storage.maintenance.check import require_sound

        return require_sound
    if name == "share":
        from storage.maintenance.share import share

        return share
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
