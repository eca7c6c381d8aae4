"""What one connection saw of one board: its lines of plies, all that happened beside them, and later analyses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, Literal, NamedTuple

from recorder.model.plies import Anchor, PlyLine, StartFacts

_FICS_SITE: Final = "FICS freechess.org"
_ICC_SITE: Final = "Internet Chess Club"
_SITES: Final = {
    "fics": _FICS_SITE,
    "fics freechess.org": _FICS_SITE,
    "fics - freechess.org": _FICS_SITE,
    "freechess.org": _FICS_SITE,
    "www.freechess.org": _FICS_SITE,
    "fics, san jose, california usa": _FICS_SITE,
    "free internet chess server": _FICS_SITE,
    "icc": _ICC_SITE,
    "internet chess club": _ICC_SITE,
    "chessclub.com": _ICC_SITE,
    "lichess.org": "lichess.org",
    "chess.com": "chess.com",
}


def known_site(name: str) -> str | None:
    return _SITES.get(name.lower())


def site_of(name: str | None) -> str | None:
    """The site that a user names, as games have it: those of one site must have one name, or they are not merged."""
    return None if name is None else known_site(name) or name


def site_names(names: Iterable[str]) -> frozenset[str]:
    """All names of these sites: an archive may have games under any of them."""
    given = frozenset(names)
    sites = set(map(known_site, given))
    return given | {name for name, site in _SITES.items() if site in sites}


class SourceKind(Enum):
    """Kinds of sources. The value is the word that ``--kind`` takes."""

    RAW = "raw"
    TYPESCRIPT = "typescript"
    XBOARD = "xboard"
    PYCHESS = "pychess"
    STAMPED = "stamped"
    JOURNAL = "journal"
    PGN = "pgn"  # saved games: see ``recorder.saved.pipeline``
    BPGN = "bpgn"  # saved bughouse matches


SAVED_KINDS: Final = frozenset((SourceKind.PGN, SourceKind.BPGN))


class TimeBasis(Enum):
    """What the arrival times of a source mean."""

    UTC = "utc"
    LOCAL = "zone-unknown"  # date and time of day, zone unknown
    CLOCK = "date-unknown"  # time of day, or seconds from the start: only differences between times are meaningful
    NONE = "none"


class SourceName(NamedTuple):
    """Which log: the file's name, the SHA-256 of its decompressed bytes (hexadecimal), and its kind's word."""

    name: str
    sha256: str
    kind: str = ""


_ANOMALY_TEXT = 240  # a frame has about 170 characters


class AnomalyKind(Enum):
    """What is wrong at a place of a source."""

    MALFORMED = "malformed"
    LONG_LINE = "long-line"
    CONFLICT = "conflict"
    HOLDINGS = "holdings"
    GAP = "gap"
    MOVELIST = "movelist"
    MOVETEXT = "movetext"  # an illegal move of a saved game
    VARIANT = "variant"
    CUT = "cut"
    LOST_DATA = "lost-data"
    DAMAGED = "damaged"
    CLOCK_DISAGREES = "clock-disagrees"  # the server's date contradicts the arrival times
    INTERNAL_ERROR = "internal-error"  # an error in this program kept a part from being read


class Anomaly(NamedTuple):
    """Something wrong at one place of a source.

    ``game_no`` is the server's number of the game, if known. ``text`` is the line at the byte ``offset``, or only the
    beginning of a long line.
    """

    kind: AnomalyKind
    offset: int
    game_no: int | None
    message: str
    text: str

    @classmethod
    def of(cls, kind: AnomalyKind, offset: int, game_no: int | None, message: str, text: str) -> Anomaly:
        """An anomaly with short texts, however long the line is: a log may hold nothing but broken lines.

        Args:
            kind: what is wrong.
            offset: of the line in the source's bytes.
            game_no: the number of the game that it concerns; None: of no game, or unknown.
            message: one sentence for the user.
            text: the line; only its beginning is kept.

        Returns:
            The anomaly.
        """
        return cls(kind, offset, game_no, _beginning(message), _beginning(text))


def _beginning(text: str) -> str:
    return text if len(text) <= _ANOMALY_TEXT else f"{text[: _ANOMALY_TEXT - 1]}…"


class Disposition(Enum):
    """What became of one occurrence of ``<12>`` or ``<b1>`` in the decoded incoming stream; each has exactly one."""

    START = "start"  # first board of a game seen from its beginning
    JOINED = "joined"  # first board of an observation that begins in mid-game
    PLY = "ply"
    SAME = "same"  # the same ply again
    TAKEBACK = "takeback"
    GAP = "gap"
    SNAPSHOT = "snapshot"  # refresh of a game that is not followed, sposition
    LIST_START = "list-start"
    ISOLATED = "isolated"
    EXAMINED = "examined"
    SETUP = "setup"
    CONFLICT = "conflict"
    PARTIAL = "partial"  # cut frame that still gave its ply
    MALFORMED = "malformed"
    QUOTED = "quoted"  # inside chat or other text
    HOLDINGS = "holdings"  # <b1>: plain, of a followed game
    PASS = "pass"  # <b1>: with <-
    FOREIGN = "foreign"  # <b1> of a game that is not followed


class ImportStatus(StrEnum):
    NEW = "new"
    GROWN = "grown"
    REPLACED = "replaced"  # it was here, and was read again from its start
    KNOWN = "known"
    LOG = "log"  # it is one, and nothing was to be stored
    FORGOTTEN = "forgotten"
    EXPORTED = "exported"  # this program wrote it
    EMPTY = "empty"
    NOT_A_LOG = "not-a-log"
    FAILED = "failed"


class Shape(NamedTuple):
    shape: str
    lines: int
    first_offset: int


@dataclass(slots=True)
class SourceReport:
    """What one pass over a source found besides games.

    Attributes:
        frames, holdings: how many ``<12>`` and ``<b1>`` lines there are of each disposition.
        elsewhere: how many ``starts`` and ``results`` were printed of games that the log does not show (``gin``,
            ``allresults``).
    """

    kind: str = ""
    server: str | None = None
    dialect: str | None = None
    me: str | None = None
    time_basis: TimeBasis = TimeBasis.NONE
    size_bytes: int = 0
    line_count: int = 0
    frames: dict[Disposition, int] = field(default_factory=dict)
    holdings: dict[Disposition, int] = field(default_factory=dict)
    elsewhere: dict[str, int] = field(default_factory=dict)
    anomalies: list[Anomaly] = field(default_factory=list)
    shapes: list[Shape] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def failures(self) -> list[Anomaly]:
        """Places that were not read because of an error in this program."""
        return [anomaly for anomaly in self.anomalies if anomaly.kind is AnomalyKind.INTERNAL_ERROR]


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
