"""Moves as ``<d1>`` lines (``iset compressmove``). Source: the help page; FatICS prints the lag behind."""

from __future__ import annotations

from recorder.dialects.gameinfo import Smith, format_delta, format_smith
from recorder.events import DeltaBoard, Line
from recorder.replay.boards import Board
from recorder.replay.moments import Shown

__all__ = ["delta_text"]

_NOWHERE = Line("", 0)


def delta_text(board: Board, what: object) -> str | None:
    """A board's last move as a bare move; None: servers print the whole board.

    They do for first boards, takebacks, other clocks and all variants; a replay does also where the times were recorded
    in whole seconds, since ``<d1>`` always has thousandths.
    """
    if not isinstance(what, Shown) or board.game.variant != "chess" or len(board.line) < 2 or board.standing is None:
        return None
    ply, before, after = what.ply, board.line[-2], board.standing
    uci = ply.uci
    clock_ms = ply.white_clock_ms if ply.white_moved else ply.black_clock_ms
    if not after.exact or uci is None or clock_ms is None or before.ply != after.ply - 1:
        return None
    letters = before.position.board
    origin, target = ((8 - int(uci[at + 1])) * 9 + ord(uci[at]) - ord("a") for at in (0, 2))
    if ply.san.startswith("O-O"):
        captured = "C" if ply.san.startswith("O-O-O") else "c"
    elif letters[target] != "-":
        captured = letters[target].lower()
    else:
        captured = "E" if letters[origin] in "Pp" and uci[0] != uci[2] else ""
    smith = format_smith(Smith(uci[:4], captured, uci[4:].upper()))
    return format_delta(
        DeltaBoard(_NOWHERE, board.number, ply.ply, after.pretty, smith, after.elapsed_ms, clock_ms, after.lag_ms)
    )
