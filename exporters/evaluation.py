"""What engines say of a game's positions: one evaluation each, as White sees it.

``[%eval]`` behind a move means the position after the move. So does an evaluation here; that before a move is the one
after the move before it.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from exporters.engine import analysed_by_ply, main_thoughts
from recorder.model import Game, Thinking

__all__ = [
    "BLUNDER_PERMILLE",
    "BOUND_CP",
    "CHANCES",
    "INACCURACY_PERMILLE",
    "MISTAKE_PERMILLE",
    "Evaluation",
    "evaluations",
]

BOUND_CP: Final = 1000
"""An evaluation counts at most so much in a loss, and a mate exactly so much."""
_STEEPNESS: Final = 0.003_682_08
CHANCES: Final = tuple(round(1000 / (1 + math.exp(-_STEEPNESS * cp))) for cp in range(-BOUND_CP, BOUND_CP + 1))
"""Chances of winning in thousandths, of evaluations from -1000 to 1000: lichess's fit to games of its players."""
INACCURACY_PERMILLE, MISTAKE_PERMILLE, BLUNDER_PERMILLE = 50, 100, 150
"""From which loss of these chances on a move is an inaccuracy, a mistake, a blunder: lichess's thresholds, too."""


class Evaluation(NamedTuple):
    """``score_cp`` in hundredths of a pawn or ``mate`` in moves, as White sees them; one of them is None.

    ``engine``: who says so, None where that is not told. ``depth`` in half-moves. ``analysed``: it comes from an
    analysis. Two evaluations can be compared if ``engine`` and ``analysed`` are the same.
    """

    score_cp: int | None
    mate: int | None
    depth: int | None
    engine: str | None
    analysed: bool


def evaluations(game: Game) -> dict[int, Evaluation]:
    """By half-moves played to reach a position: what is told of it.

    If there is an analysis, what it says (``engine.analysed_by_ply``). Else what the line of thinking says that led to
    the move (``engine.main_thoughts``), told by the observation that has most of them: two logs of one game may be of
    two opinions, and only one is followed.
    """
    tellers = [main_thoughts(seen) for seen in game.observations if seen.thinking]
    played = ((ply, thought, False) for ply, thought in max(tellers, key=len, default=[]))
    analysed = ((ply, line, True) for ply, line in analysed_by_ply(game).items())
    told = (*played, *analysed)
    return {ply: found for ply, line, later in told if (found := _evaluation(line, later)) is not None}


def _evaluation(line: Thinking, analysed: bool) -> Evaluation | None:
    if line.white is None or (line.score_cp is None and line.mate is None):
        return None
    sign = 1 if line.white else -1
    if line.mate is not None:
        return Evaluation(None, sign * line.mate, line.depth, line.engine, analysed)
    assert line.score_cp is not None
    return Evaluation(sign * line.score_cp, None, line.depth, line.engine, analysed)
