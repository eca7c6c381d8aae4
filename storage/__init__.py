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

from storage.archive import Archive
from storage.check import check
from storage.engine import backup, corrupt, file_of
from storage.forgotten import ForgottenSource
from storage.other import is_database, reading_other
from storage.query import GameFilter
from storage.replace import Replacement, replacing
from storage.schema import current, head, upgrade
from storage.share import share
from storage.sourcerows import SourceRow

if TYPE_CHECKING:
    from storage.removal import ForgetReport
    from storage.writer import SourceWriter

__all__ = [
    "Archive",
    "ForgetReport",
    "ForgottenSource",
    "GameFilter",
    "Replacement",
    "SourceRow",
    "SourceWriter",
    "backup",
    "check",
    "corrupt",
    "current",
    "file_of",
    "head",
    "is_database",
    "reading_other",
    "replacing",
    "share",
    "upgrade",
]


def __getattr__(name: str) -> Any:
    """Load what writes when it is first asked for: whoever reads an archive starts without SQLAlchemy."""
    if name == "SourceWriter":
        from storage.writer import SourceWriter

        return SourceWriter
    if name == "ForgetReport":
        from storage.removal import ForgetReport

        return ForgetReport
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
