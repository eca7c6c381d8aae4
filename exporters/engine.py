"""What engines thought: of the moves that were played one line a move, of positions in an analysis their last word."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from exporters.pgn_text import GLUE, brace_text
from recorder.model import Game, Observation, Origin, Ply, Thinking

if TYPE_CHECKING:
    from recorder.model import Analysis

__all__ = [
    "analysed_by_ply",
    "analysis_that_counts",
    "main_thoughts",
    "pawns_text",
    "score_text",
    "thought_text",
    "thoughts_by_ply",
]

_NUMBER: Final = re.compile(r"[0-9]+\.*")
_MARKS: Final = str.maketrans("", "", "+#!?()")
_BOUNDS: Final = ("?", "!")


def thoughts_by_ply(game: Game) -> dict[int, list[Thinking]]:
    """By ply of the main line: the line of thinking that led to it, of each engine that told of one."""
    found: dict[int, list[Thinking]] = {}
    for seen in game.observations:
        if seen.thinking:
            for ply, thought in main_thoughts(seen):
                found.setdefault(ply, []).append(thought)
    return found


def analysed_by_ply(game: Game, engine: str | None = None) -> dict[int, Thinking]:
    """By half-moves played to reach a position: what ``analysis_that_counts`` tells of it; empty if there is none."""
    counts = analysis_that_counts(game, engine)
    return {} if counts is None else counts[1]


def analysis_that_counts(game: Game, engine: str | None = None) -> tuple[Analysis, dict[int, Thinking]] | None:
    """The analysis whose evaluations are shown, and by half-moves played its last line that tells a score.

    A line that only bounds the score does not count where another is known. Of several analyses it is the one that
    covers most positions, so that one that was interrupted hides none that was not; of equal ones that begun last.

    Args:
        engine: only analyses by engines whose name begins so, in upper or lower case.
    Returns:
        None if none of them tells a score.
    """
    best: tuple[Analysis, dict[int, Thinking]] | None = None
    for analysis in game.analyses:
        if engine is not None and not analysis.engine.casefold().startswith(engine.casefold()):
            continue
        found: dict[int, Thinking] = {}
        for line in analysis.lines:
            scored = line.score_cp is not None or line.mate is not None
            if scored and (line.ply not in found or not line.pv.endswith(_BOUNDS)):
                found[line.ply] = line
        if found and (best is None or len(found) >= len(best[1])):
            best = analysis, found
    return best


def main_thoughts(seen: Observation) -> list[tuple[int, Thinking]]:
    """Plies of an observation's main line with the line of thinking that led to each.

    It is the last one before the move whose pv begins with it, else the last one. Where an engine told nothing while it
    was its turn (it had pondered the answer), that is what it said before, if the move was the second of its pv.
    """
    by_ply: dict[int, list[Thinking]] = {}
    for thought in seen.thinking:
        by_ply.setdefault(thought.ply, []).append(thought)
    found = []
    for ply in seen.lines[0].plies:
        mine = _of(by_ply.get(ply.ply - 1, ()), ply)
        if mine:
            fitting = [thought for thought in mine if _names(_words(thought.pv)[:1], ply)]
            found.append((ply.ply, (fitting or mine)[-1]))
            continue
        guessed = [thought for thought in _of(by_ply.get(ply.ply - 2, ()), ply) if _names(_words(thought.pv)[1:2], ply)]
        if guessed:
            found.append((ply.ply, guessed[-1]))
    return found


def _of(thoughts: list[Thinking] | tuple[()], ply: Ply) -> list[Thinking]:
    """Those of the engine that made the move, said before it."""
    return [thought for thought in thoughts if thought.white == ply.white_moved and _before(thought, ply)]


def _before(thought: Thinking, ply: Ply) -> bool:
    return ply.origin == Origin.PGN or thought.offset < ply.offset  # PGN says it behind the move


def _words(pv: str) -> list[str]:
    """The first words of a pv that are no move numbers."""
    return [word for word in pv.split()[:6] if not _NUMBER.fullmatch(word)]


def _names(words: list[str], ply: Ply) -> bool:
    """Whether the word is the move."""
    return any(word.translate(_MARKS) in (ply.uci, ply.san.translate(_MARKS)) for word in words)


def score_text(thought: Thinking) -> str | None:
    """The score as White sees it: pawns with two decimals (``-0.35``) or moves to the mate (``#-3``)."""
    sign = 1 if thought.white is not False else -1
    return pawns_text(*(None if value is None else sign * value for value in (thought.score_cp, thought.mate)))


def pawns_text(score_cp: int | None, mate: int | None) -> str | None:
    """The same of a score from White's side; None: there is none."""
    if mate is not None:
        return f"#{mate}"
    if score_cp is None:
        return None
    whole, hundredths = divmod(abs(score_cp), 100)
    return f"{'-' if score_cp < 0 else ''}{whole}.{hundredths:02}"


def thought_text(thought: Thinking) -> str:
    """``[%eval 0.24] [%depth 10] d2d4 d7d5`` for a comment of PGN."""
    words = []
    score = score_text(thought)
    if score is not None and thought.white is not None:
        words.append(f"[%eval{GLUE}{score}]")
    if thought.depth is not None:
        words.append(f"[%depth{GLUE}{thought.depth}]")
    pv = brace_text(thought.pv)
    return " ".join([*words, pv] if pv else words)
