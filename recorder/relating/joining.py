"""Halves of adjourned games joined while a log is read, one game after another.

Only games that may be resumed wait: adjourned ones and those whose connection was lost, until the game that continues
them or the log ends. All other games pass at once.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from recorder.containment import Failures
from recorder.model import Game, GameKind, SourceName
from recorder.relating.merge import merge_games

__all__ = ["HalfJoiner"]

_OPEN_ENDS: Final = ("adjourned", "lost-feed")
_MOST_HALVES: Final = 32  # of the same players; more do not wait
_ONE_LOG: Final = SourceName("", "-")  # merging asks whether one log saw both halves


class HalfJoiner:
    """Takes the games of one log in their order and returns them, halves of adjourned games joined.

    Args:
        failures: where errors of this program are noted; halves that it cannot join stay apart.
    """

    def __init__(self, failures: Failures) -> None:
        self._failures = failures
        self._waiting: dict[tuple[str, str], list[Game]] = {}

    def take(self, game: Game) -> list[Game]:
        """Take the next game. Returns the games that nothing later in the log can change."""
        if game.kind is not GameKind.PLAYED:
            return [game]
        players = game.white.handle.lower(), game.black.handle.lower()
        waiting = self._waiting.setdefault(players, [])
        waiting.append(game)
        if game.end in _OPEN_ENDS:
            return [waiting.pop(0)] if len(waiting) > _MOST_HALVES else []
        whole = next((one for one in self._joined(waiting) if game.key in one.merged_from), None)
        members = (game.key,) if whole is None else whole.merged_from
        left = [one for one in waiting if one.key not in members]
        if left:
            self._waiting[players] = left
        else:
            del self._waiting[players]
        return [game if whole is None else whole]

    def finish(self) -> list[Game]:
        """End the log: return the waiting games, in the order of the log."""
        found: list[Game] = []
        for waiting in self._waiting.values():
            joined = self._joined(waiting)
            members = {key for one in joined for key in one.merged_from}
            found += joined + [one for one in waiting if one.key not in members]
        self._waiting.clear()
        return sorted(found, key=lambda game: game.first_offset)

    def _joined(self, games: list[Game]) -> list[Game]:
        """The games that several of these make, of one log that has no name yet."""
        if len(games) < 2:
            return []
        last = games[-1]
        try:
            return [_of(game, None) for game in merge_games(_of(game, _ONE_LOG) for game in games)]
        except Exception as error:
            text = f"{last.white.handle} - {last.black.handle}"
            self._failures.note(error, last.first_offset, last.game_no, text)
            return []


def _of(game: Game, source: SourceName | None) -> Game:
    return replace(game, observations=[replace(seen, source=source) for seen in game.observations])
