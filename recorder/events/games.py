"""What a line tells of a game: that it begins, who plays it and how, what the hands hold, that it ends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from recorder.events.lines import Line

__all__ = [
    "CreatingLine",
    "DeltaBoard",
    "GameCreated",
    "GameEnded",
    "GameHeader",
    "GameInfo",
    "GameNotified",
    "HoldingsLine",
    "PartnerPlays",
    "RatingText",
]


class RatingText(NamedTuple):
    """A rating as printed (``1467P``, ``++++``, ``----``, ``UNR``) and its number, if it has one."""

    text: str
    value: int | None


@dataclass(frozen=True, slots=True)
class CreatingLine:
    """``Creating: A (1708) B (++++) unrated blitz 5 0``: the first player need not be White."""

    line: Line
    first: str
    first_rating: RatingText
    second: str
    second_rating: RatingText
    first_is_white: bool | None
    rated: bool | None
    category: str | None
    base_min: int | None
    increment_s: int | None
    adjourned: bool


@dataclass(frozen=True, slots=True)
class GameCreated:
    """``{Game 107 (A vs. B) Creating unrated blitz match.}`` or ``Continuing``."""

    line: Line
    game_no: int
    white: str
    black: str
    rated: bool | None
    category: str | None
    continued: bool
    simul: bool = False


@dataclass(frozen=True, slots=True)
class PartnerPlays:
    """``Your partner is playing game 59 (C vs. D).``: the other board of our own bughouse game."""

    line: Line
    partner_game_no: int
    white: str
    black: str


@dataclass(frozen=True, slots=True)
class GameHeader:
    """``Game 463: A (2243) B (2158E) rated standard 45 45``, what an observer is told."""

    line: Line
    game_no: int
    white: str
    white_rating: RatingText
    black: str
    black_rating: RatingText
    rated: bool | None
    category: str | None
    base_min: int | None
    increment_s: int | None


@dataclass(frozen=True, slots=True)
class GameNotified(GameHeader):
    """``Game notification: A (1515) vs. B (1712) rated standard 10 30: Game 30``."""


@dataclass(frozen=True, slots=True)
class GameInfo:
    """A ``<g1>`` line; keys that were not printed are None. Times in seconds."""

    line: Line
    game_no: int
    private: bool | None
    category: str | None
    rated: bool | None
    white_registered: bool | None
    black_registered: bool | None
    white_base_s: int | None
    white_increment_s: int | None
    black_base_s: int | None
    black_increment_s: int | None
    partner_game_no: int | None
    white_rating: str | None
    black_rating: str | None
    white_sealed: bool | None
    black_sealed: bool | None


@dataclass(frozen=True, slots=True)
class HoldingsLine:
    """A ``<b1>`` line. Letters are upper case, in the order printed.

    ``passed`` is the piece letter after ``<-`` and ``passed_to_white`` whose hand received it.
    """

    line: Line
    game_no: int
    white: str
    black: str
    passed: str | None = None
    passed_to_white: bool | None = None


@dataclass(frozen=True, slots=True)
class DeltaBoard:
    """A ``<d1>`` line (compressmove)."""

    line: Line
    game_no: int
    ply: int
    san: str
    smith: str
    elapsed_ms: int
    clock_ms: int
    lag_ms: int | None


@dataclass(frozen=True, slots=True)
class GameEnded:
    """``{Game 12 (A vs. B) A resigns} 0-1``.

    Attributes:
        result: ``1-0``, ``0-1``, ``1/2-1/2`` or ``*`` as printed.
        reason: the words as printed, without names' braces.
        reason_key: normalised reason (``resign``, ``time``, ``checkmate``, …; ``unknown`` if the words are not known).
        termination: PGN vocabulary (``normal``, ``time forfeit``, ``abandoned``, ``adjudication``, ``unterminated``).
        actor: the handle the reason names, or None.
    """

    line: Line
    game_no: int
    white: str
    black: str
    reason: str
    result: str
    reason_key: str
    termination: str
    actor: str | None = None
