"""What happens in a log that grows as JSON lines: ``game_started``, ``ply``, ``takeback``, ``game_ended``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TextIO

from exporters.games_json import game_object, ply_object
from exporters.holdings import hands_after, hands_of
from recorder.model import GameKind, HoldingsChange

if TYPE_CHECKING:
    from recorder.model import Game, TimeBasis
    from recorder.tracking.living import Changes, Gained

__all__ = ["Ticker"]

_START = ("server", "server_game_no", "white", "black", "rated", "variant", "base_s", "increment_s", "start_fen")
_END = ("result", "reason", "termination", "ended_at", "complete")

_Place = tuple[int, int | None]
"""Where a game begins, and its number: what stays the same however it is read again."""


class _Told:
    """What was printed of one game."""

    def __init__(self, key: str, basis: TimeBasis) -> None:
        self.key = key
        self.basis = basis
        self.moves: list[tuple[int, str | None]] = []
        self.end: str | None = None


class Ticker:
    """Prints what is new. It is an ``Outlet``.

    A game that was left and is observed again goes on after its ``game_ended``. Each game has one key in all its lines,
    that of its first one.

    Args:
        out: gets one JSON object a line, flushed after each step.
    Attributes:
        problem: None. left: whoever read it has gone: nothing is printed any more.
    """

    def __init__(self, out: TextIO) -> None:
        self.left = False
        self.problem: str | None = None
        self._out = out
        self._told: dict[_Place, _Told] = {}
        self._lines: list[str] = []

    def begin(self, where: str, source: str) -> None:
        """Nothing is printed of what was over before."""

    def take(self, games: list[Game]) -> None:
        """Print what these games have that was not printed."""
        for game in games:
            if game.kind is GameKind.PLAYED:
                self._take(game)
        self._print()

    def look(self, changes: Changes) -> None:
        """Print what games that go on have more."""
        for gained in changes.gained:
            self._gained(gained)
        for _, game in changes.anew:
            if game.kind is GameKind.PLAYED:
                self._take(game)
        self._print()

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Forget games that are never given again."""
        self._told = {place: told for place, told in self._told.items() if place[0] >= read_up_to}

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """Print what these games have that was not printed; if the log never goes on, they have ended."""
        self.take(games)
        self._told = {}

    def _gained(self, gained: Gained) -> None:
        run = gained.shown.run
        told = self._told.get((run.first_offset, run.game_no))
        if told is None or not gained.plies:
            return
        changes: dict[int, list[HoldingsChange]] = {}
        if gained.holdings:
            changes = hands_of(run.observations[gained.observation])
        for ply in gained.plies:
            self._line("ply", told, ply_object(ply, told.basis, hands_after(ply, changes)))
            told.moves.append((ply.ply, ply.san))

    def _take(self, game: Game) -> None:
        place = game.first_offset, game.game_no
        found = game_object(game)
        told = self._told.get(place)
        if told is None:
            told = self._told[place] = _Told(game.key, game.time_basis)
            self._line("game_started", told, {name: found[name] for name in (*_START, "started_at")})
        moves = [(ply["ply"], ply["san"]) for ply in found["plies"]]
        same = next(
            (at for at, (one, other) in enumerate(zip(moves, told.moves, strict=False)) if one != other),
            min(len(moves), len(told.moves)),
        )
        if same < len(told.moves):
            self._line("takeback", told, {"ply": told.moves[same][0] - 1})
        for ply in found["plies"][same:]:
            self._line("ply", told, ply)
        told.moves = moves
        if game.end not in ("log-ends", told.end):
            self._line("game_ended", told, {"end": game.end} | {name: found[name] for name in _END})
        told.end = game.end

    def _line(self, event: str, told: _Told, facts: dict[str, Any]) -> None:
        self._lines.append(json.dumps({"event": event, "key": told.key, **facts}, ensure_ascii=False) + "\n")

    def _print(self) -> None:
        lines, self._lines = self._lines, []
        if not lines or self.left:
            return
        try:
            self._out.write("".join(lines))
            self._out.flush()
        except OSError:
            self.left = True
