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
    """By ply of the main line: the last thinking output before it, of each engine that printed any."""
    thoughts: dict[int, list[Thinking]] = {}
    for observation in game.observations:
        if observation.thinking:
            for ply, thought in main_thoughts(observation):
                thoughts.setdefault(ply, []).append(thought)
    return thoughts


def main_analysis(game: Game, engine: str | None = None) -> tuple[Analysis, dict[int, Thinking]] | None:
    """The analysis whose evaluations are shown, and by half-moves played its last line with a score.

    A line that only bounds the score is used if there is no other. Of several analyses the one with most positions is
    shown, so that an interrupted one never hides a complete one; of equal ones the last. With ``engine``, only analyses
    by the engine of this name, in any case; if there are none, by engines whose name begins so. None: none of them has
    a score.
    """
    best: tuple[Analysis, dict[int, Thinking]] | None = None
    analyses = game.analyses
    if engine is not None:
        name = engine.casefold()
        named = [analysis for analysis in analyses if analysis.engine.casefold() == name]
        analyses = named or [analysis for analysis in analyses if analysis.engine.casefold().startswith(name)]
    for analysis in analyses:
        found: dict[int, Thinking] = {}
        for line in analysis.lines:
            scored = line.score_cp is not None or line.mate is not None
            if scored and (line.ply not in found or not line.pv.endswith(_BOUNDS)):
                found[line.ply] = line
        if found and (best is None or len(found) >= len(best[1])):
            best = analysis, found
    return best


def main_thoughts(observation: Observation) -> list[tuple[int, Thinking]]:
    """Plies of an observation's main line, each with the thinking output that led to it.

    It is the last line before the move whose pv begins with the move, else the last line. If the engine printed nothing
    on its turn, because it had pondered, it is the last line of the turn before, if the move is the second of its pv.
    """
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
    """The lines that the engine of the move printed before it."""
    return [thought for thought in thoughts if thought.white == ply.white_moved and _before(thought, ply)]


def _before(thought: Thinking, ply: Ply) -> bool:
    return ply.origin_code in SAVED_ORIGINS or thought.offset < ply.offset  # in PGN it is behind the move


def _words(pv: str) -> list[str]:
    """The first words of a pv, without move numbers."""
    return [word for word in pv.split()[:6] if not _NUMBER.fullmatch(word)]


def _names(words: list[str], ply: Ply) -> bool:
    """Whether one of the words is the move."""
    return any(word.translate(_MARKS) in (ply.uci, ply.san.translate(_MARKS)) for word in words)


def score_text(thought: Thinking, *, signed: bool = False) -> str | None:
    """The score from White's side: pawns with two decimals (``-0.35``) or moves to the mate (``#-3``).

    The line's score is from the side of ``white``, from White's if that is None. ``signed``: with a plus before scores
    that are good for White (``+0.58``), as people read them; PGN has none.
    """
    sign = 1 if thought.white is not False else -1
    score_cp, mate = (None if value is None else sign * value for value in (thought.score_cp, thought.mate))
    return pawns_text(score_cp, mate, signed=signed)


def pawns_text(score_cp: int | None, mate: int | None, *, signed: bool = False) -> str | None:
    """A score from White's side in the form of ``score_text``; None: there is none."""
    if mate is not None:
        return f"#{mate}"
    if score_cp is None:
        return None
    whole, hundredths = divmod(abs(score_cp), 100)
    sign = "-" if score_cp < 0 else "+" if signed and score_cp else ""
    return f"{sign}{whole}.{hundredths:02}"


BOUND_CP: Final = 1000
"""For losses, evaluations are limited to this number of centipawns, and a mate counts as this."""
_STEEPNESS: Final = 0.003_682_08
CHANCES: Final = tuple(round(1000 / (1 + math.exp(-_STEEPNESS * cp))) for cp in range(-BOUND_CP, BOUND_CP + 1))
"""Chances of winning in thousandths, of evaluations from -1000 to 1000: lichess's fit to games of its players."""


INACCURACY_PERMILLE, MISTAKE_PERMILLE, BLUNDER_PERMILLE = 50, 100, 150
"""The least loss of chances that makes a move an inaccuracy, a mistake, a blunder: lichess's thresholds."""


class Evaluation(NamedTuple):
    """An evaluation from White's side. Two can be compared if ``engine`` and ``analysed`` are equal.

    ``score_cp`` (centipawns) or ``mate`` (moves to the mate) is None; ``depth`` is in half-moves. ``analysed``: it is
    from an analysis, not from the game.
    """

    score_cp: int | None
    mate: int | None
    depth: int | None
    engine: str | None
    analysed: bool


def evaluations(game: Game) -> dict[int, Evaluation]:
    """By half-moves played to reach a position: its evaluation.

    It is from ``main_analysis`` if that has the position, otherwise from ``main_thoughts`` of the observation that
    has most of them. Only one log is used, because two logs of a game may contain different evaluations.
    """
    observations = [main_thoughts(observation) for observation in game.observations if observation.thinking]
    played = ((ply, thought, False) for ply, thought in max(observations, key=len, default=[]))
    counts = main_analysis(game)
    analysed = () if counts is None else ((ply, line, True) for ply, line in counts[1].items())
    scored = (*played, *analysed)
    return {ply: found for ply, line, later in scored if (found := _evaluation(line, later)) is not None}


def _evaluation(line: Thinking, analysed: bool) -> Evaluation | None:
    if line.white is None or (line.score_cp is None and line.mate is None):
        return None
    sign = 1 if line.white else -1
    if line.mate is not None:
        return Evaluation(None, sign * line.mate, line.depth, line.engine, analysed)
    assert line.score_cp is not None
    return Evaluation(sign * line.score_cp, None, line.depth, line.engine, analysed)


class Judged(NamedTuple):
    """What evaluations say of a move, as its mover sees it, in the order of the table's columns.

    ``depth`` and ``engine`` are of the evaluation after the move.
    """

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
    """Evaluations before and after each half-move of the main line, and what the move lost; None: there are none.

    A loss is known where both evaluations are one engine's, of one analysis or of none. It is how far the bounded
    evaluation fell, and how far the chances of winning did that it stands for; a mate counts as the bound. It is never
    below 0: a position that became better had been misjudged.
    """
    stated = evaluations(game)
    return [_judged(row[0], stated) for row in game.rows] if stated else None


def _judged(ply: int, stated: dict[int, Evaluation]) -> Judged:
    before, after = stated.get(ply - 1), stated.get(ply)
    sign = 1 if ply & 1 else -1
    found = _NOT_JUDGED
    if before is not None:
        found = found._replace(before_cp=_signed(before.score_cp, sign), before_mate=_signed(before.mate, sign))
    if after is None:
        return found
    found = found._replace(
        after_cp=_signed(after.score_cp, sign),
        after_mate=_signed(after.mate, sign),
        depth=after.depth,
        engine=after.engine or None,
    )
    if before is None or ((before.engine or "") != (after.engine or "")) or before.analysed is not after.analysed:
        return found
    # Mate in 0 is on the board: the last mover has given it.
    was, now = (_bounded(found.before_cp, found.before_mate, 1), _bounded(found.after_cp, found.after_mate, 0))
    lost = CHANCES[was + BOUND_CP] - CHANCES[now + BOUND_CP]
    return found._replace(loss_cp=max(was - now, 0), loss_permille=max(lost, 0))


def _signed(value: int | None, sign: int) -> int | None:
    return None if value is None else sign * value


def _bounded(cp: int | None, mate: int | None, wins_from: int) -> int:
    if mate is not None:
        return BOUND_CP if mate >= wins_from else -BOUND_CP
    return max(-BOUND_CP, min(BOUND_CP, cp or 0))
