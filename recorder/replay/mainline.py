"""A game's main line as something to play: its plies, the positions between them and when each was reached."""

from __future__ import annotations

from typing import NamedTuple

from recorder.cecp.moves import parse_move
from recorder.model import Game, Ply
from recorder.replay.boards import start_of
from recorder.replay.moments import Shown, moments_of_game
from recorder.replay.timing import cap_idle
from recorder.tracking.engine_moves import play_move
from recorder.tracking.position import Position, play_san

__all__ = ["MainLine", "main_line", "play_ply"]


class MainLine(NamedTuple):
    """A game's main line up to its first gap.

    Attributes:
        start_ply: half-moves played before it.
        positions: before each ply and behind the last one; None: not known. Hands of drop games are not.
        at_ms: when each of those was reached, from the game's first moment on.
        end_ms: when the game was over.
        whole: whether no ply is missing behind it.
    """

    game: Game
    start_ply: int
    plies: list[Ply]
    positions: list[Position | None]
    at_ms: list[int]
    end_ms: int
    whole: bool

    def white_to_move(self, place: int) -> bool:
        """Whose move it is behind so many plies."""
        return (self.start_ply + place) % 2 == 0


def main_line(game: Game, pace_ms: int = 0, idle_max_ms: int | None = None) -> MainLine:
    """Read the plies that can be played.

    Args:
        pace_ms: for a move without any time. idle_max_ms: no wait is longer; None: as recorded.
    """
    moments = moments_of_game(game, pace_ms=pace_ms)
    if idle_max_ms is not None:
        moments = list(cap_idle(moments, idle_max_ms))
    shown = {moment.what.ply.ply: moment.at_ms for moment in moments if isinstance(moment.what, Shown)}
    anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
    position = start_of(game, anchors.get(game.start_ply) or game.start_fen)
    if position is not None and position.white_to_move != (game.start_ply % 2 == 0):
        position = None
    plies: list[Ply] = []
    positions, at_ms = [position], [0]
    every = game.plies
    for number, ply in enumerate(every, game.start_ply + 1):
        if ply.ply != number or ply.uci is None:
            break
        position = None if position is None else play_ply(position, ply)
        plies.append(ply)
        positions.append(position)
        at_ms.append(max(at_ms[-1], shown.get(number, at_ms[-1])))
    whole = len(plies) == len(every)
    end_ms = max(at_ms[-1], moments[-1].at_ms) if whole else at_ms[-1]
    return MainLine(game, game.start_ply, plies, positions, at_ms, end_ms, whole)


def play_ply(position: Position, ply: Ply) -> Position | None:
    """The position after a recorded ply, if that is the move which its text names here."""
    step = play_san(position, ply.san)
    if isinstance(step, str) and ply.uci is not None and (move := parse_move(ply.uci)) is not None:
        step = play_move(position, move)
    return None if isinstance(step, str) or step[0] != ply.move else step[2]
