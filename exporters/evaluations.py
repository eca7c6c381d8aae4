"""Evaluations of positions and moves, from thinking output and analyses.

As with ``[%eval]`` in PGN, the evaluation of a move is that of the position after it. The evaluation before a move is
the one after the previous move.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from recorder.model import SAVED_ORIGINS, Game, Observation, Ply, Thinking

if TYPE_CHECKING:
    from recorder.model import Analysis
_NUMBER: Final = re.compile(r"[0-9]+\.*")
_MARKS: Final = str.maketrans("", "", "+#!?()")
_BOUNDS: Final = ("?", "!")


def thoughts_by_ply(game: Game) -> dict[int, list[Thinking]]:
    """The last thinking output before each ply of the main line, of each engine that printed any."""
    thoughts: dict[int, list[Thinking]] = {}
    for observation in game.observations:
        if observation.thinking:
            for ply, thought in main_thoughts(observation):
                thoughts.setdefault(ply, []).append(thought)
    return thoughts


def main_analysis(game: Game, engine: str | None = None) -> tuple[Analysis, dict[int, Thinking]] | None:
    """Of several the one with most positions, so that an interrupted one never hides a complete one; else the last."""
    best: tuple[Analysis, dict[int, Thinking]] | None = None
    analyses = game.analyses
    if engine is not None:
        name = engine.casefold()
        named = [analysis for analysis in analyses if analysis.engine.casefold() == name]
        analyses = named or [analysis for analysis in analyses if analysis.engine.casefold().startswith(name)]
    for analysis in analyses:
        lines: dict[int, Thinking] = {}
        for line in analysis.lines:
            scored = line.score_cp is not None or line.mate is not None
            if scored and (line.ply not in lines or not line.pv.endswith(_BOUNDS)):
                lines[line.ply] = line
        if lines and (best is None or len(lines) >= len(best[1])):
            best = analysis, lines
    return best


def main_thoughts(observation: Observation) -> list[tuple[int, Thinking]]:
    """The last line before the move whose pv begins with it, else the last; a ponderer's is of the turn before."""
    by_ply: dict[int, list[Thinking]] = {}
    for thought in observation.thinking:
        by_ply.setdefault(thought.ply, []).append(thought)
    thoughts = []
    for ply in observation.lines[0].plies:
        mine = _of(by_ply.get(ply.ply - 1, ()), ply)
        if mine:
            fitting = [thought for thought in mine if _names(_words(thought.pv)[:1], ply)]
            thoughts.append((ply.ply, (fitting or mine)[-1]))
            continue
        guessed = [thought for thought in _of(by_ply.get(ply.ply - 2, ()), ply) if _names(_words(thought.pv)[1:2], ply)]
        if guessed:
            thoughts.append((ply.ply, guessed[-1]))
    return thoughts


def _of(thoughts: list[Thinking] | tuple[()], ply: Ply) -> list[Thinking]:
    return [thought for thought in thoughts if thought.white == ply.white_moved and _before(thought, ply)]


def _before(thought: Thinking, ply: Ply) -> bool:
    return ply.origin_code in SAVED_ORIGINS or thought.offset < ply.offset  # in PGN it is behind the move


def _words(pv: str) -> list[str]:
    return [word for word in pv.split()[:6] if not _NUMBER.fullmatch(word)]


def _names(words: list[str], ply: Ply) -> bool:
    return any(word.translate(_MARKS) in (ply.uci, ply.san.translate(_MARKS)) for word in words)


def score_text(thought: Thinking, *, signed: bool = False) -> str | None:
    """From White's side: pawns (``-0.35``) or moves to mate (``#-3``); ``signed``: with a plus, which PGN has not."""
    sign = 1 if thought.white is not False else -1
    score_cp, mate = (None if value is None else sign * value for value in (thought.score_cp, thought.mate))
    return pawns_text(score_cp, mate, signed=signed)


def pawns_text(score_cp: int | None, mate: int | None, *, signed: bool = False) -> str | None:
    if mate is not None:
        return f"#{mate}"
    if score_cp is None:
        return None
    whole, hundredths = divmod(abs(score_cp), 100)
    sign = "-" if score_cp < 0 else "+" if signed and score_cp else ""
    return f"{sign}{whole}.{hundredths:02}"


BOUND_CP: Final = 1000
"""In centipawns; a mate counts as this."""
_STEEPNESS: Final = 0.003_682_08
CHANCES: Final = tuple(round(1000 / (1 + math.exp(-_STEEPNESS * cp))) for cp in range(-BOUND_CP, BOUND_CP + 1))
"""Chances of winning in thousandths, of evaluations from -1000 to 1000: lichess's fit to games of its players."""


INACCURACY_PERMILLE, MISTAKE_PERMILLE, BLUNDER_PERMILLE = 50, 100, 150
"""The least loss of chances that makes a move an inaccuracy, a mistake, a blunder: lichess's thresholds."""


class Evaluation(NamedTuple):
    """From White's side; comparable if ``engine`` and ``analysed`` (not from the game itself) are equal."""

    score_cp: int | None
    mate: int | None
    depth: int | None
    engine: str | None
    analysed: bool


def evaluations(game: Game) -> dict[int, Evaluation]:
    """By half-moves played; those of the game are of one log, because two logs may have different ones."""
    observations = [main_thoughts(observation) for observation in game.observations if observation.thinking]
    played = ((ply, thought, False) for ply, thought in max(observations, key=len, default=[]))
    counts = main_analysis(game)
    analysed = () if counts is None else ((ply, line, True) for ply, line in counts[1].items())
    scored = (*played, *analysed)
    return {ply: value for ply, line, later in scored if (value := _evaluation(line, later)) is not None}


def _evaluation(line: Thinking, analysed: bool) -> Evaluation | None:
    if line.white is None or (line.score_cp is None and line.mate is None):
        return None
    sign = 1 if line.white else -1
    if line.mate is not None:
        return Evaluation(None, sign * line.mate, line.depth, line.engine, analysed)
    assert line.score_cp is not None
    return Evaluation(sign * line.score_cp, None, line.depth, line.engine, analysed)


class Judged(NamedTuple):
    """As its mover sees it; ``depth`` and ``engine`` are of the evaluation after the move."""

    before_cp: int | None
    before_mate: int | None
    after_cp: int | None
    after_mate: int | None
    depth: int | None
    engine: str | None
    loss_cp: int | None
    loss_permille: int | None


_NOT_JUDGED: Final = Judged(None, None, None, None, None, None, None, None)


def judged(game: Game) -> list[Judged] | None:
    """A loss needs two evaluations of one engine and analysis; it is never below 0: a better position was misjudged."""
    stated = evaluations(game)
    return [_judged(row[0], stated) for row in game.rows] if stated else None


def _judged(ply: int, stated: dict[int, Evaluation]) -> Judged:
    before, after = stated.get(ply - 1), stated.get(ply)
    sign = 1 if ply & 1 else -1
    result = _NOT_JUDGED
    if before is not None:
        result = result._replace(before_cp=_signed(before.score_cp, sign), before_mate=_signed(before.mate, sign))
    if after is None:
        return result
    result = result._replace(
        after_cp=_signed(after.score_cp, sign),
        after_mate=_signed(after.mate, sign),
        depth=after.depth,
        engine=after.engine or None,
    )
    if before is None or ((before.engine or "") != (after.engine or "")) or before.analysed is not after.analysed:
        return result
    # Mate in 0 is on the board: the last mover has given it.
    was, now = (_bounded(result.before_cp, result.before_mate, 1), _bounded(result.after_cp, result.after_mate, 0))
    lost = CHANCES[was + BOUND_CP] - CHANCES[now + BOUND_CP]
    return result._replace(loss_cp=max(was - now, 0), loss_permille=max(lost, 0))


def _signed(value: int | None, sign: int) -> int | None:
    return None if value is None else sign * value


def _bounded(cp: int | None, mate: int | None, wins_from: int) -> int:
    if mate is not None:
        return BOUND_CP if mate >= wins_from else -BOUND_CP
    return max(-BOUND_CP, min(BOUND_CP, cp or 0))
