"""What one connection saw of one board: its lines of plies, all that happened beside them, and later analyses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, Literal, NamedTuple

from recorder.model.plies import Anchor, PlyLine, StartFacts
from recorder.model.sources import SourceName


class HoldingsChange(NamedTuple):
    """Pieces in hand as a ``<b1>`` line of this game prints them.

    Attributes:
        seq: order among the holdings and events of the observation. ply: the last ply before the line.
        white, black: pieces in hand as upper-case letters in the order PNBRQ.
        passed: colour and piece (``BN``: a black knight) if the line reports a piece that comes into a hand, else None.
        at_ms: arrival of the line; None: unknown. offset: of the line in the source.
    """

    seq: int
    ply: int
    white: str
    black: str
    passed: str | None
    at_ms: int | None
    offset: int


class Thinking(NamedTuple):
    """One line of an engine's evaluation.

    Attributes:
        ply: half-moves played to reach the position.
        white: whether ``score_cp`` and ``mate`` are from White's side: that of the engine that plays, in an analysis
            that of the side to move; None: unknown.
        score_cp: in hundredths of a pawn. mate: in moves.
        time_ms: thinking time as the engine reports it.
        pv: the line as printed; ``?`` at its end: the score is only an upper bound; ``!``: only a lower bound.
        at_ms: arrival of the line; None: unknown. offset: of the line in the source.
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

    CLOCK = "clock"  # same-ply: a repeated ply with other clocks; adjusted, opponent-adjusted: no move explains a clock
    TAKEBACK = "takeback"  # detail: "from-to"; value: half-moves removed
    GAP = "gap"  # value: plies missing
    GAP_FILLED = "gap-filled"
    NAMES = "names"  # players' names changed under the same board
    TICKING = "ticking"
    NOTICE = "notice"  # offers, pauses, added time …: text is the line, ``detail`` its kind
    CHAT = "chat"
    RESULT = "result"  # the end line
    FEED = "feed"  # observation ended or resumed, connection lost, server shut down or lost data, end of the log
    EXAMINE = "examine"  # shown: value is the number of the line; set-up: text is the FEN; else: text is the line
    TAG = "tag"  # a tag of a saved game without a field of its own: ``detail`` is its name, ``text`` its value


class GameEvent(NamedTuple):
    """Something besides a ply that happened in a game. ``ply`` is the last ply before it.

    Comments of a saved game have the kind ``CHAT``. Their detail is ``comment``, ``command`` (``[%csl …]``), ``nag``
    (``$1``) or the kind of chat; their ``value`` is the number of the line that they are in, None for the main line.
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


#: Detail of ``EventKind.EXAMINE``: a board of an examined game was shown; the value is its line's number.
SHOWN: Final = "shown"


def shows_board(event: GameEvent) -> bool:
    return event.kind is EventKind.EXAMINE and event.detail == SHOWN


class ObservationKind(Enum):
    LIVE = "live"
    MOVELIST = "movelist"
    EXAMINED = "examined"
    PGN = "pgn"  # a saved game
    ENGINE = "engine"  # lines to and from an engine


@dataclass(slots=True)
class Observation:
    """One connection's uninterrupted view of one board, or one move list.

    ``source`` is None unless an archive returned the observation; observations that differ only in it are equal.
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


class AnalysedPosition(NamedTuple):
    ply: int
    fen: str
    lines: tuple[Thinking, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One engine's evaluations of positions of one game, with one limit.

    Attributes:
        engine: the name that the engine reports; else that of its command. protocol: ``uci`` or ``cecp``.
        settings: the limit, the options, and the variant that the engine received, as JSON text with sorted keys.
            Engine, protocol and settings together identify an analysis of a game.
        begun_ms: when the analysis began, in milliseconds since 1970 (UTC).
        lines: the evaluations, in order; scores are from the side to move.
    """

    engine: str
    protocol: EngineProtocol
    settings: str
    begun_ms: int
    lines: tuple[Thinking, ...]


class EvidenceKind(Enum):
    SAME = "same"  # why they are of one game
    CONTINUES = "continues"  # why one continues an adjourned one
    CONFLICT = "conflict"  # in what they contradict each other


class Evidence(NamedTuple):
    kind: EvidenceKind
    text: str


class Segment(NamedTuple):
    """Plies ``from_ply … to_ply`` (inclusive) of the game's main line are those of ``observations[observation]``."""

    from_ply: int
    to_ply: int
    observation: int


def runs_of(plies: Iterable[int]) -> list[Segment]:
    runs: list[Segment] = []
    for ply in plies:
        if runs and runs[-1].to_ply == ply - 1:
            runs[-1] = runs[-1]._replace(to_ply=ply)
        else:
            runs.append(Segment(ply, ply, 0))
    return runs
