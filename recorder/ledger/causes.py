"""Why a clock is not what the rule gives, a clock as one board shows it, and which clocks count at all."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

from recorder.model import GameKind, Precision

__all__ = ["FELT_LAG_MS", "MILLISECONDS", "PRINTED", "SECOND_MS", "Cause", "Clock", "are_judged", "unit_ms_of"]

SECOND_MS = 1000
MILLISECONDS = int(Precision.MILLISECONDS)
PRINTED = (int(Precision.SECONDS), MILLISECONDS)
"""Precisions of clocks that are no sums of ours: only those are judged."""
FELT_LAG_MS = 50
"""Less lag is lost in the jitter of what arrives."""


class Cause(Enum):
    """Why a clock is not what the rule gives."""

    EXACT = "exact"
    ROUNDING = "rounding"  # at most one of the unit that was printed
    FIRST_MOVE = "first-move"  # was free, and gave no increment
    MINIMUM_CHARGE = "minimum-charge"  # the server took a tenth of a second for less
    SNAPSHOT = "snapshot"  # the clock before was seen only while it ran
    MORETIME = "moretime"  # a line tells that the opponent gave so much
    TIME_ADDED = "time-added"  # a line tells how much, not who gave it
    CLOCK_SET = "clock-set"  # a line tells the clocks anew
    ADJUSTED = "adjusted"  # two boards show that somebody changed the clock, no line tells who
    TAKEBACK = "takeback"  # the board after it shows the clock
    PAUSE = "pause"
    RESUMED = "resumed"  # the board after a time that was not seen shows the clock
    FLAG = "flag"  # overstepped, and no clock of the game was printed below 0
    UNEXPLAINED = "unexplained"


class Clock(NamedTuple):
    """A side's clock on one board. ``running``: it may have run since the move before."""

    ms: int
    unit_ms: int
    offset: int
    running: bool = False


def unit_ms_of(ms: int, precision: int | None) -> int:
    """The unit of a clock on a board; where none is told, of its number."""
    if precision is None:
        return 1 if ms % SECOND_MS else SECOND_MS
    return 1 if precision == MILLISECONDS else SECOND_MS


def are_judged(kind: GameKind, base_s: int | None, increment_s: int | None) -> bool:
    """Whether a game's clocks are to add up: not in an examination, and not in an untimed game."""
    return kind is GameKind.PLAYED and not (base_s == 0 and not increment_s)
