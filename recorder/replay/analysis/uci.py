"""Positions and lines of thinking of UCI engines, by way of python-chess. Pure.

This module loads ``chess.engine``: only a command that talks with such an engine imports it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import chess
import chess.engine
import chess.variant

from recorder.model import Thinking
from recorder.replay.analysis.plan import Look, Play
from recorder.tracking.engine_run import counted
from recorder.tracking.position import Rules

__all__ = ["board_class", "board_of", "thinking_of_info", "why_not"]

_BOARDS: Final[dict[str, type[chess.Board]]] = {
    "chess": chess.Board,
    "chess960": chess.Board,
    "crazyhouse": chess.variant.CrazyhouseBoard,
    "suicide": chess.variant.SuicideBoard,
    "giveaway": chess.variant.GiveawayBoard,
    "antichess": chess.variant.AntichessBoard,
    "atomic": chess.variant.AtomicBoard,
    "three-check": chess.variant.ThreeCheckBoard,
    "king-of-the-hill": chess.variant.KingOfTheHillBoard,
    "horde": chess.variant.HordeBoard,
    "racing-kings": chess.variant.RacingKingsBoard,
}


def board_class(variant: str | None, rules: Rules) -> type[chess.Board] | None:
    """The board on which a variant is played; None: UCI has no word for it. Shuffles without names are chess."""
    return chess.Board if rules is Rules.WILD else _BOARDS.get(variant or "chess")


def board_of(kind: type[chess.Board], root: str, played: Sequence[Play], look: Look) -> chess.Board:
    """The position with the moves that led to it, so that the engine knows of repetitions; without them if it must be.

    Args:
        kind: from ``board_class``. root: where the moves begin, as FEN. played: since then.
    Raises:
        ValueError: the position is none that this board can have.
    """
    chess960 = look.position.rules in (Rules.CHESS960, Rules.WILD)
    try:
        board = kind(root, chess960=chess960)
        for step in played:
            board.push_uci(step.uci)
    except ValueError:  # a move that chess does not know, as castling with a king on d
        board = None
    if board is None or board.board_fen() != kind(look.fen, chess960=chess960).board_fen():
        board = kind(look.fen, chess960=chess960)
    return board


def why_not(board: chess.Board, look: Look) -> str | None:
    """Why an engine is not to be asked about a position; None: it is one that may be."""
    position = look.position
    kings = (position.white_king % 9, position.black_king % 9)
    if position.rules is Rules.WILD and position.castling and kings != (4, 4):
        return "UCI cannot say how this variant castles"
    if not board.is_valid():
        return "it is none that can come about in a game"
    return None


def thinking_of_info(info: chess.engine.InfoDict, line: str, seq: int, look: Look, engine: str) -> Thinking | None:
    """One ``info`` as the model has it; None: it has no score.

    Args:
        info: as python-chess reads it. line: the line itself; its moves are kept even if they are not legal.
        seq: its place. look: the position. engine: the name.
    Returns:
        A bound has ``!`` (lower) or ``?`` (upper) behind its pv, as in xboard's protocol.
    """
    score = info.get("score")
    if score is None:
        return None
    moves = info.get("pv")
    pv = line.partition(" pv ")[2].strip() if moves is None else " ".join(move.uci() for move in moves)
    mark = "!" if info.get("lowerbound") else "?" if info.get("upperbound") else ""
    time_s = info.get("time")
    seen = score.relative
    return Thinking(
        seq, look.ply, engine, look.position.white_to_move, counted(info.get("depth")), counted(seen.score()),
        counted(seen.mate()), None if time_s is None else counted(round(1000 * time_s)),
        counted(info.get("nodes")), counted(info.get("seldepth")), counted(info.get("nps")),
        counted(info.get("tbhits")), f"{pv} {mark}".strip(), None, 0,
    )  # fmt: skip
