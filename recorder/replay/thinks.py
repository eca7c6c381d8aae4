"""Long thinks as markers of a replay."""

from __future__ import annotations

from collections.abc import Sequence

from recorder.replay.moments import Begin, GameMoment, Shown

__all__ = ["long_thinks"]


def long_thinks(moments: Sequence[GameMoment], least_ms: int) -> dict[int, str]:
    """Where moves are thought about for long, as ``mark`` takes it.

    Args:
        moments: of any games.
        least_ms: the time printed for such a move, or more.
    Returns:
        The places of the boards that were thought about, with the marker ``think``.
    """
    found: dict[int, str] = {}
    boards: dict[int | None, int] = {}
    for place, moment in enumerate(moments):
        what = moment.what
        if isinstance(what, Shown) and (what.ply.elapsed_ms or 0) >= least_ms and moment.game in boards:
            found[boards[moment.game]] = "think"
        if isinstance(what, Begin | Shown):
            boards[moment.game] = place
    return found
