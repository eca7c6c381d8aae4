"""What games are read from: the kinds of sources, and what one pass over a source found besides games."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from typing import Final, NamedTuple

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
