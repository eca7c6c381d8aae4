"""What one connection saw of one board: its lines of plies, all that happened beside them, and later analyses."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Literal, NamedTuple

from recorder.model.plies import Anchor, PlyLine, StartFacts
from recorder.model.sources import SourceName

__all__ = [
    "AnalysedPosition",
    "Analysis",
    "EngineProtocol",
    "EventKind",
    "GameEvent",
    "HoldingsChange",
    "Observation",
    "ObservationKind",
    "Thinking",
]


class HoldingsChange(NamedTuple):
    """A ``<b1>`` of this game. ``ply`` is the last ply seen before it; letters sorted PNBRQ, upper case.

    ``passed`` is colour and piece (``BN``) for a pass line, else None.
    """

    seq: int
    ply: int
    white: str
    black: str
    passed: str | None
    at_ms: int | None
    offset: int


class Thinking(NamedTuple):
    """One line of an engine's evaluation. ``ply``: half-moves played at that moment.

    ``score_cp`` is in hundredths of a pawn and ``mate`` in moves, both as the engine sees them, who plays White if
    ``white`` (in an analysis: whose move it is). ``time_ms`` is what the engine says it took. ``pv`` is the text as
    printed: behind ``?`` and ``!`` at its end the score is only an upper or lower bound.
    """

    seq: int
    ply: int
    engine: str | None
    white: bool | None
    depth: int | None
    score_cp: int | None
    mate: int | None
    time_ms: int | None
    nodes: int | None
    selective_depth: int | None
    nodes_per_s: int | None
    tablebase_hits: int | None
    pv: str
    at_ms: int | None
    offset: int


class EventKind(Enum):
    """Kinds of ``GameEvent``."""

    CLOCK = "clock"  # same-ply: the ply again, other clocks; adjusted, opponent-adjusted: a move does not explain them
    TAKEBACK = "takeback"  # detail: "from-to"; value: half-moves removed
    GAP = "gap"  # value: plies missing
    GAP_FILLED = "gap-filled"
    NAMES = "names"  # players' names changed under the same board
    TICKING = "ticking"
    NOTICE = "notice"  # offers, pauses, added time …: text is the line, ``detail`` its kind
    CHAT = "chat"
    RESULT = "result"  # the end line
    FEED = "feed"  # unobserved, observed again, lost feed, server going down, server lost data, log ends here
    EXAMINE = "examine"  # shown: value is the line; set-up: text is the FEN; else the line that the detail names
    TAG = "tag"  # of a saved game, what no field holds: ``detail`` is the tag's name, ``text`` its value


class GameEvent(NamedTuple):
    """Something that happened in a game that is not a ply. ``ply``: the last one seen before.

    Of a saved game's comments ``CHAT`` has the detail ``comment``, ``command`` (``[%csl …]``) or ``nag`` (``$1``), or
    that of the chat that it was, and as ``value`` the number of the line in which it stands, if not the main line.
    """

    seq: int
    kind: EventKind
    detail: str
    ply: int
    actor: str | None
    value: int | None
    text: str
    white_clock_ms: int | None
    black_clock_ms: int | None
    at_ms: int | None
    offset: int


class ObservationKind(Enum):
    """What was seen: a board as it moved, or a record of moves."""

    LIVE = "live"
    MOVELIST = "movelist"
    EXAMINED = "examined"
    PGN = "pgn"  # a saved game
    ENGINE = "engine"  # lines to and from an engine


@dataclass(slots=True)
class Observation:
    """One connection's unbroken view of one board, or one movelist.

    ``source`` is known to an archive only, and no part of what was seen: it does not count in comparisons.
    """

    kind: ObservationKind
    game_no: int | None
    white: str
    black: str
    relation: int | None
    offset: int
    end_offset: int
    started_at_ms: int | None
    ended_at_ms: int | None
    start: StartFacts | None
    anchors: list[Anchor] = field(default_factory=list)
    lines: list[PlyLine] = field(default_factory=list)
    holdings: list[HoldingsChange] = field(default_factory=list)
    events: list[GameEvent] = field(default_factory=list)
    thinking: list[Thinking] = field(default_factory=list)
    source: SourceName | None = field(default=None, compare=False)


EngineProtocol = Literal["cecp", "uci"]
"""How an engine was talked to."""


class AnalysedPosition(NamedTuple):
    """A position that an engine has analysed, and its lines; ``ply`` half-moves were played to reach it."""

    ply: int
    fen: str
    lines: tuple[Thinking, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One engine's look at positions of one game, under one limit.

    Attributes:
        engine: the name that the engine reports; else its command's.
        protocol: how it was talked to.
        settings: what its answers depend on, besides itself, as JSON text with sorted keys: the limit, options, the
            variant that it received. Engine, protocol and settings together name an analysis of a game.
        begun_ms: when it was begun, UTC milliseconds since 1970.
        lines: its evaluations, in order. A line's ``ply`` is the number of half-moves played to reach the position it
            is about, ``white`` whether White is to move there; scores are as the side to move sees them.
    """

    engine: str
    protocol: EngineProtocol
    settings: str
    begun_ms: int
    lines: tuple[Thinking, ...]
