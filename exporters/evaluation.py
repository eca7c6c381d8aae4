"""What engines say of a game's positions: one evaluation each, as White sees it.

``[%eval]`` behind a move means the position after the move. So does an evaluation here; that before a move is the one
after the move before it.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

from exporters.engine import main_thoughts
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


_BOUNDS: Final = ("?", "!")
"""At the end of a line whose score is no more than a bound: see ``Thinking``."""


class Evaluation(NamedTuple):
    """``score_cp`` in hundredths of a pawn or ``mate`` in moves, as White sees them; one of them is None.

    ``engine``: who says so, None where that is not told. ``depth`` in half-moves. ``settings``: those of an analysis.
    Two evaluations can be compared if engine and settings are the same.
    """

    score_cp: int | None
    mate: int | None
    depth: int | None
    engine: str | None
    settings: str | None = None


def evaluations(game: Game) -> dict[int, Evaluation]:
    """By half-moves played to reach a position: what is told of it.

    An analysis says it with its last line of that position; where there are several, the one that was begun last. Else
    it is what the line of thinking that led to the move says (``engine.main_thoughts``), told by the observation that
    has most of them: two logs of one game may be of two opinions, and only one is followed.
    """
    tellers = [main_thoughts(seen) for seen in game.observations if seen.thinking]
    told = [(ply, thought, None) for ply, thought in max(tellers, key=len, default=[])]
    analysed = [
        (line.ply, line, analysis.settings)
        for analysis in game.analyses
        for line in analysis.lines
        if not line.pv.endswith(_BOUNDS)
    ]
    return {ply: found for ply, thought, settings in (*told, *analysed) if (found := _evaluation(thought, settings))}


def _evaluation(thought: Thinking, settings: str | None) -> Evaluation | None:
    if thought.white is None or (thought.score_cp is None and thought.mate is None):
        return None
    sign = 1 if thought.white else -1
    score_cp, mate = thought.score_cp, thought.mate
    if mate is not None:
        return Evaluation(None, sign * mate, thought.depth, thought.engine, settings)
    assert score_cp is not None
    return Evaluation(sign * score_cp, None, thought.depth, thought.engine, settings)
