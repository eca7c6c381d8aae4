"""What engines thought of the moves that were played: one line of their thinking a move."""

from __future__ import annotations

import re
from typing import Final

from exporters.pgn_text import GLUE, brace_comment
from recorder.model import Game, Observation, Origin, Ply, Thinking

__all__ = ["main_thoughts", "score_text", "thought_comment", "thoughts_by_ply"]

_NUMBER: Final = re.compile(r"[0-9]+\.*")
_MARKS: Final = str.maketrans("", "", "+#!?()")


def thoughts_by_ply(game: Game) -> dict[int, list[Thinking]]:
    """By ply of the main line: the line of thinking that led to it, of each engine that told of one."""
    found: dict[int, list[Thinking]] = {}
    for seen in game.observations:
        if seen.thinking:
            for ply, thought in main_thoughts(seen):
                found.setdefault(ply, []).append(thought)
    return found


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
    if thought.mate is not None:
        return f"#{sign * thought.mate}"
    if thought.score_cp is None:
        return None
    score = sign * thought.score_cp
    whole, hundredths = divmod(abs(score), 100)
    return f"{'-' if score < 0 else ''}{whole}.{hundredths:02}"


def thought_comment(thought: Thinking) -> str:
    """``{[%eval 0.24] [%depth 10] d2d4 d7d5}`` for PGN."""
    words = []
    score = score_text(thought)
    if score is not None and thought.white is not None:
        words.append(f"[%eval{GLUE}{score}]")
    if thought.depth is not None:
        words.append(f"[%depth{GLUE}{thought.depth}]")
    pv = brace_comment(thought.pv)[1:-1]
    return f"{{{' '.join([*words, pv] if pv else words)}}}"
