"""Every event in one type, with those of no theme: datagrams, what cannot be read, and what tells nothing."""

from __future__ import annotations

from dataclasses import dataclass

from recorder.events.answers import (
    GamesCounted,
    GamesRow,
    MovelistRead,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
)
from recorder.events.frames import Style12
from recorder.events.games import (
    CreatingLine,
    DeltaBoard,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GameNotified,
    HoldingsLine,
    PartnerPlays,
)
from recorder.events.lines import Line
from recorder.events.notices import ChatLine, ExamineNotice, GameNotice, SessionNotice

__all__ = ["Datagram", "Event", "Malformed", "Noise", "Unrecognised"]


@dataclass(frozen=True, slots=True)
class Datagram:
    """A level-2 datagram of ICC that is about games.

    ``body`` is one of ``recorder.dialects.icc.values``'s values. ``begin`` is where the unit that it stands in begins.
    """

    line: Line
    body: object
    begin: int

    @property
    def game_no(self) -> int | None:
        """The game that it names, if it names one."""
        return getattr(self.body, "game_no", None)


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line of a known kind that cannot be read: counted and stored, never guessed at.

    ``tag`` is ``<12>``, ``<b1>`` … or the line kind's name. ``cause``: the error of this program, if it is one.
    ``game_no``: the game that the line names, where only another field is invalid.
    """

    line: Line
    tag: str
    error: str
    cause: Exception | None = None
    game_no: int | None = None


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is known and carries nothing about games (seek ads, help, settings)."""

    line: Line


@dataclass(frozen=True, slots=True)
class Unrecognised:
    """A line no recogniser knows."""

    line: Line


Event = (
    Style12
    | HoldingsLine
    | GameInfo
    | DeltaBoard
    | CreatingLine
    | GameCreated
    | PartnerPlays
    | GameHeader
    | ObservingStarted
    | ObservingEnded
    | ObserveRefused
    | GamesRow
    | GamesCounted
    | GameNotified
    | GameEnded
    | MovelistRead
    | ChatLine
    | GameNotice
    | ExamineNotice
    | SessionNotice
    | Datagram
    | Malformed
    | Noise
    | Unrecognised
)
