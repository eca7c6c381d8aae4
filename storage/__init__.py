"""The archive: sources, observations and games in one SQLite file.

::

    with Archive.open("games.db", read_only=True) as archive:
        for game in archive.games(GameFilter(players=frozenset({"Morphy"}))):
            print(game.key, game.result)
"""

from storage.archive import Archive, SourceRow
from storage.query import GameFilter
from storage.removal import ForgetReport
from storage.writer import SourceWriter

__all__ = ["Archive", "ForgetReport", "GameFilter", "SourceRow", "SourceWriter"]
