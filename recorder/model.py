"""What was found: games, their plies with clocks and lag, and the observations that witness them.

A *source* gives *observations*: one connection's unbroken view of one board (or one movelist). Observations are
never merged. A *game* is computed from observations through *segments*.

Times are integers with units in their names. ``_at_ms`` is milliseconds since 1970 in the basis that the game's
``time_basis`` names. Clocks are signed. None means unknown, never zero.
"""

from __future__ import annotations

import datetime
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, cast

from recorder.moves import decode_move

if TYPE_CHECKING:
    from recorder.analysis import Analysis

__all__ = [
    "SAVED_KINDS",
    "Anchor",
    "Anomaly",
    "AnomalyKind",
    "Disposition",
    "EventKind",
    "Evidence",
    "EvidenceKind",
    "Game",
    "GameEvent",
    "GameKind",
    "HoldingsChange",
    "LineKind",
    "Link",
    "LinkKind",
    "Observation",
    "ObservationKind",
    "Origin",
    "Player",
    "Ply",
    "StartFacts",
    "PlyLine",
    "PlyRow",
    "Precision",
    "Proof",
    "Segment",
    "Shape",
    "SourceKind",
    "SourceName",
    "SourceReport",
    "Thinking",
    "TimeBasis",
    "TimeControlled",
    "control_of",
    "day_of",
    "is_forgotten",
    "name_plies",
]


class Proof(IntEnum):
    """How far a ply is proved. The common values are 0 and 1, which SQLite stores in no bytes."""

    UNPROVED = 0  # also where a cut frame lacks the pretty move, or a hand was not known, though the boards agree
    FULL = 1  # verbose and pretty move and both boards agree, legal by the variant's rules (``BOARDS``: by the boards)
    LIST = 2  # a legal move that no board showed: of a movelist that joins the next board, or of a delta
    INFERRED = 3  # the only legal way to fill a gap of one or two plies
    CONFLICT = 4  # the sources of this ply contradict each other


class Origin(IntEnum):
    """Where a ply was read."""

    FRAME = 0
    MOVELIST = 1
    INFERRED = 2
    PGN = 3  # a saved game's movetext
    DATAGRAM = 4  # ICC's level 1 and 2
    DELTA = 5  # ``<d1>``
    ENGINE = 6  # the engine protocol


class Precision(IntEnum):
    """The unit in which this ply's times were printed; None where no time was printed."""

    SECONDS = 0
    MILLISECONDS = 1
    DERIVED_SECONDS = 2  # the elapsed time was printed so; the clock is computed from those and the time control
    DERIVED_MILLISECONDS = 3


class SourceKind(Enum):
    """Kinds of sources. The value is the word that ``--kind`` takes."""

    RAW = "raw"
    TYPESCRIPT = "typescript"
    XBOARD = "xboard"
    PYCHESS = "pychess"
    STAMPED = "stamped"
    JOURNAL = "journal"
    PGN = "pgn"  # saved games: see ``recorder.savedpipeline``
    BPGN = "bpgn"  # saved bughouse matches


SAVED_KINDS: Final = frozenset((SourceKind.PGN, SourceKind.BPGN))
"""Kinds that are no server's text but games."""


class TimeBasis(Enum):
    """What a source's arrival times are."""

    UTC = "utc"
    LOCAL = "zone-unknown"  # date and time of day, zone unknown
    CLOCK = "date-unknown"  # time of day or seconds from the start: only differences mean something
    NONE = "none"


class ObservationKind(Enum):
    LIVE = "live"
    MOVELIST = "movelist"
    EXAMINED = "examined"
    PGN = "pgn"  # a saved game
    ENGINE = "engine"  # what an engine was told and answered


class GameKind(Enum):
    PLAYED = "played"
    EXAMINED = "examined"
    SETUP = "setup"


class LineKind(Enum):
    MAIN = "main"
    TAKEBACK = "takeback"
    VARIATION = "variation"  # of an examined or a saved game


class LinkKind(Enum):
    """How two games belong together."""

    PARTNER = "bughouse-partner"  # the two boards of one match
    EXAMINED = "examined-copy"  # the first is the examination of the second


class Link(NamedTuple):
    """Another game that this one belongs to.

    ``key`` is the other game's. ``evidence`` says in words of the log what tells it.
    """

    kind: LinkKind
    key: str
    evidence: str


class EvidenceKind(Enum):
    """What is known of several witnesses of one game."""

    SAME = "same"  # why they are of one game
    CONTINUES = "continues"  # why one goes on where another was adjourned
    CONFLICT = "conflict"  # in what they contradict each other


class Evidence(NamedTuple):
    """One thing that was found when witnesses of a game were compared, in words."""

    kind: EvidenceKind
    text: str


class Thinking(NamedTuple):
    """What an engine told of its thinking at one moment. ``ply``: half-moves played when it did.

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


class Ply(NamedTuple):
    """One half-move. A plain tuple on purpose: made once a frame, stored as it is.

    Attributes:
        ply: half-moves played to reach the position after this move (``2 * (fullmove - 1) + (turn is Black)``).
        move: ``encode_move``'s integer, or None when squares are not known (an unproved list move).
        san: canonical SAN; the printed text where ``proof`` is UNPROVED or CONFLICT and the board before is not known.
        white_clock_ms, black_clock_ms: left after the move; in whole seconds × 1000 where precision is SECONDS.
        elapsed_ms: taken by this move as printed. lag_ms: the number printed, None where none was.
        at_ms: arrival.
        flags: castling rights after the move (1 K, 2 Q, 4 k, 8 q) plus 16 × (file of a double push just made + 1).
        irreversible: the printed count of half-moves since the last irreversible one, raw; None for lists.
        proof, origin, precision: the enums' integers.
        offset: of the line that gave this ply.
    """

    ply: int
    move: int | None
    san: str
    white_clock_ms: int | None
    black_clock_ms: int | None
    elapsed_ms: int | None
    lag_ms: int | None
    at_ms: int | None
    flags: int | None
    irreversible: int | None
    proof: int
    origin: int
    precision: int | None
    offset: int

    @property
    def uci(self) -> str | None:
        """The move in UCI notation, or None.

        Drops are ``N@e4``; castling in chess960 is king takes rook, that of a king on d in wild games its two steps.
        """
        return None if self.move is None else decode_move(self.move)

    @property
    def white_moved(self) -> bool:
        """Whether White made this move."""
        return self.ply % 2 == 1


#: A ply's fields in their order, without its name: made and taken apart several times quicker than a ``Ply``.
PlyRow = tuple[
    int, int | None, str, int | None, int | None, int | None, int | None, int | None, int | None, int | None,
    int, int, int | None, int,
]  # fmt: skip


def name_plies(rows: list[Ply] | list[PlyRow]) -> list[Ply]:
    """Make every row of a list a ``Ply``, in place."""
    named = cast(list[Ply], rows)
    for place, row in enumerate(rows):
        if type(row) is tuple:
            named[place] = Ply._make(row)
    return named


_TITLE_WORD = re.compile(r"[A-Za-z]+|\*")
_GUEST = re.compile(r"guest(?:[a-z]{4}|[0-9]+)", re.IGNORECASE | re.ASCII)


class Player(NamedTuple):
    """A player as this game's lines print them. ``rating`` None: no number was printed."""

    handle: str
    rating_text: str | None = None
    rating: int | None = None
    titles: str | None = None
    registered: bool | None = None
    sealed: bool | None = None

    @property
    def title_words(self) -> list[str]:
        """The titles one by one: ``(GM)(*)`` → ``GM``, ``*``."""
        return _TITLE_WORD.findall(self.titles) if self.titles else []

    @property
    def is_computer(self) -> bool:
        """Whether the server marks the player as a computer, ``(C)``."""
        return "C" in self.title_words

    @property
    def is_guest(self) -> bool:
        """Whether the player is not registered.

        As gameinfo says; else by the title ``(U)``, the rating ``++++``, or a handle as servers give to guests
        (``GuestABCD``, ``guest123``).
        """
        if self.registered is not None:
            return not self.registered
        printed = self.rating_text is not None and self.rating_text.strip() == "++++"
        return printed or "U" in self.title_words or _GUEST.fullmatch(self.handle) is not None


def is_forgotten(*handles: str) -> bool:
    """Whether one of these stands for a handle that is forgotten: ``X`` and underscores, which no server allows."""
    return any(handle[1:2] == "_" and not handle.strip("_")[1:] for handle in handles)


class Anchor(NamedTuple):
    """A position that cannot be derived from the plies: the start, or the board after a gap.

    ``ply`` half-moves were played to reach it; ``line`` is the line it stands in. ``fen`` is X-FEN with ``[hands]`` for
    drop games where known. ``reason``: ``start``, ``gap``, ``conflict``, ``list``.
    """

    line: int
    ply: int
    fen: str
    reason: str
    offset: int


class StartFacts(NamedTuple):
    """What the first board of an observation printed about a move that is not ours to count."""

    ply: int
    verbose: str
    pretty: str
    elapsed_ms: int | None
    white_clock_ms: int | None
    black_clock_ms: int | None
    lag_ms: int | None
    at_ms: int | None
    precision: int | None
    offset: int


class HoldingsChange(NamedTuple):
    """A ``<b1>`` of this game. ``ply`` is the last ply seen before it; letters sorted PNBRQ, upper case.

    ``passed`` is colour and piece (``BN``) for a pass line, else None. ``provisional``: an own frame's line followed.
    """

    seq: int
    ply: int
    white: str
    black: str
    passed: str | None
    at_ms: int | None
    offset: int


class EventKind(Enum):
    """Kinds of ``GameEvent``."""

    CLOCK = "clock"  # same-ply: the ply again, other clocks; adjusted, opponent-adjusted: a move does not explain them
    TAKEBACK = "takeback"  # text: "from-to"; value: half-moves removed
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


@dataclass(slots=True)
class PlyLine:
    """A sequence of plies. Line 0 is the main line; a takeback's line leaves ``parent`` after ``parent_ply``.

    ``rows`` are the plies, not all of them named: for those who handle very many.
    """

    number: int
    kind: LineKind
    parent: int | None
    parent_ply: int | None
    rows: list[Ply] | list[PlyRow]

    @property
    def plies(self) -> list[Ply]:
        """The plies: the same list, now of ``Ply`` throughout."""
        return name_plies(self.rows)

    @plies.setter
    def plies(self, plies: list[Ply]) -> None:
        self.rows = plies


class SourceName(NamedTuple):
    """Which log: the file's name, the SHA-256 of its decompressed bytes (hexadecimal), and its kind's word."""

    name: str
    sha256: str
    kind: str = ""


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


class Segment(NamedTuple):
    """Plies ``from_ply … to_ply`` (inclusive) of the game's main line are those of ``observations[observation]``."""

    from_ply: int
    to_ply: int
    observation: int


_ANOMALY_TEXT = 240  # a frame has about 170 characters
_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(slots=True)
class Game:
    """A game as computed from its observations.

    Attributes:
        key: 20 hexadecimal digits made from the game's own facts; printed short.
        server: the site's name, or None. dialect: the server family.
        game_no: the server's own number (reused by the server).
        variant: a name of ``recorder.variants``, or the word as told; None: not told.
        category: the server's word (blitz, standard, wild/fr …).
        base_s, increment_s: White's; black_base_s and black_increment_s differ only in time-odds games.
        base_inferred: base 0 was read as 10 s because the first clocks show it.
        start_fen: None for the normal start position. start_ply: half-moves played before the first known position.
        termination: in PGN's words; empty where a saved game tells only its result.
        result: 1-0 0-1 1/2-1/2 *. end: how it ended: ``result`` line, ``adjourned``, ``aborted``, ``lost-feed``,
            ``unobserved``, ``log-ends``, ``reused`` (number taken by another game).
        complete: the first ply to the end line are all there.
        variant_inferred: the variant was concluded from holdings or boards, not printed.
        links: games that belong to this one; only an archive knows them.
        witnesses: keys of the games that this one was made of, each as one source tells it; empty: there is one source.
        evidence: what comparing them gave.
        analyses: what engines thought of it later; only an archive knows them, and they do not count in comparisons.
        date_text: the date as a line prints it; where none does, the day that the user gave for the log (2020-01-31).
    """

    key: str
    kind: GameKind
    server: str | None
    dialect: str | None
    game_no: int | None
    white: Player
    black: Player
    rated: bool | None
    variant: str | None
    category: str | None
    base_s: int | None
    increment_s: int | None
    black_base_s: int | None
    black_increment_s: int | None
    base_inferred: bool
    variant_inferred: bool
    start_fen: str | None
    start_ply: int
    result: str
    reason: str | None
    reason_key: str | None
    termination: str
    end: str
    started_at_ms: int | None
    ended_at_ms: int | None
    time_basis: TimeBasis
    date_text: str | None
    complete: bool
    continued: bool
    partner_game_no: int | None
    me: str | None
    observations: list[Observation]
    segments: list[Segment]
    first_offset: int
    last_offset: int
    links: list[Link] = field(default_factory=list)
    witnesses: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    analyses: list[Analysis] = field(default_factory=list, compare=False)

    @property
    def plies(self) -> list[Ply]:
        """The main line, in order, spliced from the segments."""
        return name_plies(self.rows)

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        """As ``plies``, but not all of them named: for those who handle very many."""
        if len(self.segments) == 1:
            only = self.segments[0]
            rows = self.observations[only.observation].lines[0].rows
            if rows and rows[0][0] == only.from_ply and rows[-1][0] == only.to_ply:
                return rows
        return [
            row
            for segment in self.segments
            for row in self.observations[segment.observation].lines[0].rows
            if segment.from_ply <= row[0] <= segment.to_ply
        ]

    @property
    def day(self) -> datetime.date | None:
        """The day on which it began, in the zone of its times; None: not known."""
        return day_of(self.started_at_ms, self.time_basis, self.date_text)

    def anchors(self) -> Iterator[Anchor]:
        """Positions of the main line that its plies cannot give, in ply order."""
        found = {
            anchor.ply: anchor
            for segment in self.segments
            for anchor in self.observations[segment.observation].anchors
            if anchor.line == 0 and segment.from_ply - 1 <= anchor.ply <= segment.to_ply
        }
        return iter(sorted(found.values(), key=lambda anchor: anchor.ply))

    @property
    def events(self) -> list[GameEvent]:
        """Events of all observations by offset; of several sources by ply, and what they tell alike once."""
        if not self.witnesses:
            return sorted((one for seen in self.observations for one in seen.events), key=lambda e: (e.offset, e.seq))
        told: dict[SourceName | None, list[GameEvent]] = {}
        for seen in self.observations:
            told.setdefault(seen.source, []).extend(seen.events)
        found: list[GameEvent] = []
        known: Counter[tuple[object, ...]] = Counter()
        for events in told.values():
            alike: Counter[tuple[object, ...]] = Counter()
            for event in sorted(events, key=lambda e: (e.offset, e.seq)):
                what = (event.kind, event.detail, event.actor, event.value, event.text)
                alike[what] += 1
                if alike[what] > known[what]:
                    found.append(event)
            known |= alike
        return sorted(found, key=lambda event: event.ply)


def day_of(started_at_ms: int | None, time_basis: TimeBasis, date_text: str | None) -> datetime.date | None:
    """``Game.day`` of a game's fields."""
    if started_at_ms is not None and time_basis in (TimeBasis.UTC, TimeBasis.LOCAL):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=started_at_ms // 86_400_000)
    if date_text is None or not _ISO_DAY.fullmatch(date_text):
        return None
    try:
        return datetime.date.fromisoformat(date_text)
    except ValueError:  # printed by a server, and no such day
        return None


class TimeControlled(Protocol):
    """What has a time control for each side, as ``Game`` has."""

    @property
    def base_s(self) -> int | None: ...
    @property
    def increment_s(self) -> int | None: ...
    @property
    def black_base_s(self) -> int | None: ...
    @property
    def black_increment_s(self) -> int | None: ...


def control_of(game: TimeControlled, white: bool) -> tuple[int | None, int | None]:
    """One side's base time and increment in seconds: Black's are White's unless they were told apart."""
    if white:
        return game.base_s, game.increment_s
    return (
        game.base_s if game.black_base_s is None else game.black_base_s,
        game.increment_s if game.black_increment_s is None else game.black_increment_s,
    )


class AnomalyKind(Enum):
    """Kinds of findings that a person may want to look at."""

    MALFORMED = "malformed"
    LONG_LINE = "long-line"
    CONFLICT = "conflict"
    HOLDINGS = "holdings"
    GAP = "gap"
    MOVELIST = "movelist"
    MOVETEXT = "movetext"  # of a saved game: not legal
    VARIANT = "variant"
    CUT = "cut"
    LOST_DATA = "lost-data"
    DAMAGED = "damaged"


class Anomaly(NamedTuple):
    """Something wrong at one place of a source.

    ``game_no`` is the server's number, if known. ``text`` is the line, its beginning if it is long: ``offset`` leads to
    the rest.
    """

    kind: AnomalyKind
    offset: int
    game_no: int | None
    message: str
    text: str

    @classmethod
    def of(cls, kind: AnomalyKind, offset: int, game_no: int | None, message: str, text: str) -> Anomaly:
        """An anomaly with short texts, however long the line is: a log may hold nothing but broken lines."""
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


class Shape(NamedTuple):
    """Unrecognised lines of one shape: how many, and where the first stands."""

    shape: str
    lines: int
    first_offset: int


@dataclass(slots=True)
class SourceReport:
    """What one pass over a source found besides games.

    Attributes:
        frames, holdings: disposition → count for ``<12>`` and ``<b1>``.
        elsewhere: ``starts`` and ``results`` → lines that told of games which were not followed then (``gin``,
            ``allresults``).
        anomalies: those from ``anomalies_from`` on; an earlier reading of a source that has grown gave the others.
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
    anomalies_from: int = 0
    shapes: list[Shape] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
