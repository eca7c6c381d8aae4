"""What engines say of a game's moves, in words for its page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from exporters.engine import pawns_text
from exporters.evaluation import BLUNDER_PERMILLE, INACCURACY_PERMILLE, MISTAKE_PERMILLE, evaluations
from exporters.frames.evaluations import judge_games
from exporters.report.text import plain_name
from recorder.model import Game
from storage.columns import NULL

__all__ = ["Verdict", "counted", "verdicts"]

_LEVELS = ((BLUNDER_PERMILLE, "blunder"), (MISTAKE_PERMILLE, "mistake"), (INACCURACY_PERMILLE, "inaccuracy"))


class Verdict(NamedTuple):
    """Of one move: the evaluation behind it as White sees it, what it is called if it was bad, and what it lost.

    ``loss_cp`` is bounded as in docs/tables.md; None: not known.
    """

    evaluation: str
    word: str | None
    loss_cp: int | None

    @property
    def lost(self) -> str:
        """``9.00``: in pawns."""
        return pawns_text(self.loss_cp, None) or ""


def verdicts(game: Game) -> dict[int, Verdict]:
    """By ply of the main line; empty if nobody evaluated the game."""
    judged = judge_games([game])
    if judged is None:
        return {}
    told = evaluations(game)
    found = {}
    losses = zip(judged.loss_cp.tolist(), judged.loss_permille.tolist(), strict=True)
    for ply, (loss_cp, loss_permille) in zip(game.plies, losses, strict=True):
        one = told.get(ply.ply)
        if one is not None:
            word = next((word for least, word in _LEVELS if loss_permille >= least), None)
            text = (pawns_text(one.score_cp, one.mate) or "").replace("-", "−")
            found[ply.ply] = Verdict(text, word, None if loss_cp == NULL else loss_cp)
    return found


def counted(game: Game, told: Mapping[int, Verdict]) -> list[tuple[str, ...]]:
    """A row for each side with a loss: handle, side, moves judged, inaccuracies, mistakes, blunders, mean loss."""
    rows = []
    for white, player in ((True, game.white), (False, game.black)):
        own = [one for ply, one in told.items() if ply % 2 == white and one.loss_cp is not None]
        if own:
            numbers = (str(_count(own, word)) for word in ("inaccuracy", "mistake", "blunder"))
            lost_cp = sum(one.loss_cp or 0 for one in own)
            mean_cp = (2 * lost_cp + len(own)) // (2 * len(own))
            mean = pawns_text(mean_cp, None) or ""
            rows.append((plain_name(player.handle), "White" if white else "Black", str(len(own)), *numbers, mean))
    return rows


def _count(told: Iterable[Verdict], word: str) -> int:
    return sum(one.word == word for one in told)
