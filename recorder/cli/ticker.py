"""What happens on a followed log as JSON lines: ``game_started``, ``ply``, ``takeback``, ``game_ended``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from exporters.games_json import game_object
from recorder.model import GameKind

if TYPE_CHECKING:
    from recorder.model import Game

__all__ = ["Ticker"]

_START = ("server", "server_game_no", "white", "black", "rated", "variant", "base_s", "increment_s", "start_fen")
_END = ("result", "reason", "termination", "ended_at", "complete")


class _Told:
    """What was printed of one game: where it begins, its moves, how it ended."""

    def __init__(self, first_offset: int) -> None:
        self.first_offset = first_offset
        self.moves: list[tuple[int, str | None]] = []
        self.end: str | None = None


class Ticker:
    """Prints what is new in games that are read again and again as their log grows.

    A game that was left and is observed again goes on after its ``game_ended``.

    Args:
        out: gets one JSON object a line, flushed after each step.
    """

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._told: dict[str, _Told] = {}

    def take(self, games: list[Game]) -> None:
        """Print what these games have that was not printed."""
        for game in games:
            if game.kind is GameKind.PLAYED:
                self._take(game)
        self._out.flush()

    def settle(self, read_up_to: int | None) -> None:
        """Forget games that are never given again: those that begin before ``read_up_to``; None: all of them."""
        self._told = {
            key: told for key, told in self._told.items() if read_up_to is not None and told.first_offset >= read_up_to
        }

    def _take(self, game: Game) -> None:
        found = game_object(game)
        told = self._told.get(game.key)
        if told is None:
            told = self._told[game.key] = _Told(game.first_offset)
            self._print("game_started", game, {name: found[name] for name in (*_START, "started_at")})
        moves = [(ply["ply"], ply["san"]) for ply in found["plies"]]
        same = next(
            (at for at, (one, other) in enumerate(zip(moves, told.moves, strict=False)) if one != other),
            min(len(moves), len(told.moves)),
        )
        if same < len(told.moves):
            self._print("takeback", game, {"ply": told.moves[same][0] - 1})
        for ply in found["plies"][same:]:
            self._print("ply", game, ply)
        told.moves = moves
        if game.end not in ("log-ends", told.end):
            self._print("game_ended", game, {"end": game.end} | {name: found[name] for name in _END})
        told.end = game.end

    def _print(self, event: str, game: Game, facts: dict[str, Any]) -> None:
        self._out.write(json.dumps({"event": event, "key": game.key, **facts}, ensure_ascii=False) + "\n")
