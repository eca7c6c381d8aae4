"""What arrives: chunks of bytes, the lines in them, and what one line can mean.

Everything here is a plain value. ``recorder.wire`` makes ``Line`` from ``Chunk``, ``recorder.dialects`` makes the other
events from lines (frames are in ``recorder.events.frames``), ``recorder.tracking`` reads them. Nothing is inferred
here: an absent field is None.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import NamedTuple

from recorder.events.frames import Style12
from recorder.events.lines import LONGEST_CUT as LONGEST_CUT
from recorder.events.lines import Chunk as Chunk
from recorder.events.lines import CutLines as CutLines
from recorder.events.lines import EngineLine as EngineLine
from recorder.events.lines import Line as Line


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
    """``Game 463: A (2243) B (2158E) rated standard 45 45``, printed to a new observer."""

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

    ``reason`` is as printed, without names' braces; ``reason_key`` is normalised (``resign``, ``time``, ``checkmate``,
    …; ``unknown`` if the words are not known); ``termination`` is PGN's (``normal``, ``time forfeit``, ``abandoned``,
    ``adjudication``, ``unterminated``); ``actor`` is the handle that the reason names.
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


# -- answers to observe, unobserve, games and moves ---------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ObservingStarted:
    """``You are now observing game 463.`` (or ``Adding game 12 to observation list``)."""

    line: Line
    game_no: int


@dataclass(frozen=True, slots=True)
class ObservingEnded:
    """``Removing game 12 from observation list.`` and the other ways an observation ends."""

    line: Line
    game_no: int


class Refusal(Enum):
    """Why a server does not do as ``observe`` or ``unobserve`` asks."""

    LIMIT = "limit"
    NO_SUCH_GAME = "no-such-game"
    ALREADY = "already-observing"
    NOT_OBSERVING = "not-observing"
    OWN_GAME = "own-game"
    EXAMINING = "examining"


@dataclass(frozen=True, slots=True)
class ObserveRefused:
    """``You are already observing the maximum number of games.`` and its like; ``game_no`` where the line prints it."""

    line: Line
    reason: Refusal
    game_no: int | None


class TablePlayer(NamedTuple):
    """A side of a ``GamesRow``; ``cut``: the name fills its column. None: the table has no such column."""

    name: str
    cut: bool
    rating: RatingText
    titles: str | None
    clock_s: int | None
    material: int | None


@dataclass(frozen=True, slots=True)
class GamesRow:
    """A row of the table that ``games`` prints; ``state`` is ``Exam.``, ``Setup`` or None for a game being played.

    ``kind`` is the letter of the game's type, ``category`` the word for it, None where its meaning is not known.
    """

    line: Line
    game_no: int
    white: TablePlayer
    black: TablePlayer
    state: str | None
    private: bool
    kind: str
    category: str | None
    rated: bool
    base_min: int
    increment_s: int
    white_to_move: bool
    move_no: int


@dataclass(frozen=True, slots=True)
class GamesCounted:
    """``267 games displayed.``: the table's end; ``total`` games are in progress; None: not printed."""

    line: Line
    displayed: int
    total: int | None


class ListRow(NamedTuple):
    """One half-move of a movelist. ``elapsed_ms`` None: no time was printed. ``ms`` True: thousandths were."""

    ply: int
    san: str
    elapsed_ms: int | None
    ms: bool
    offset: int


@dataclass(frozen=True, slots=True)
class MovelistRead:
    """A whole answer to ``moves``, ``oldmoves`` or ``smoves``.

    Attributes:
        game_no: from ``Movelist for game N:``, or None where the server prints no such line.
        white, black: from the line of names; from the line above the columns where the log lacks that line; empty
            where it lacks both.
        white_rating, black_rating: None where the log lacks the line of names.
        started: the date in the header as printed, or None.
        started_at_ms: UTC milliseconds if the header's zone is known, else local ones; None: no date.
        started_zone_known: whether ``started_at_ms`` is UTC.
        started_with_seconds: the header prints seconds.
        result: ``*`` with ``still_running`` True for ``{Still in progress}``; None: no trailer was seen.
        complete: a trailer was seen.
        numbered_at: offset of ``Movelist for game N:``, or None where there is no such line.
        unread: rows with a time that cannot be read.
    """

    line: Line
    game_no: int | None
    white: str
    white_rating: RatingText | None
    black: str
    black_rating: RatingText | None
    started: str | None
    started_at_ms: int | None
    started_zone_known: bool
    started_with_seconds: bool
    rated: bool | None
    category: str | None
    base_min: int | None
    increment_s: int | None
    black_base_min: int | None
    black_increment_s: int | None
    start_frame: Style12 | None
    rows: tuple[ListRow, ...]
    result: str | None
    reason: str | None
    reason_key: str | None
    termination: str | None
    still_running: bool
    complete: bool
    headed: bool = True  # the line of names was there
    numbered_at: int | None = None
    unread: tuple[Line, ...] = ()


class ChatKind(Enum):
    """Kinds of human text, by who can read them."""

    KIBITZ = "kibitz"
    WHISPER = "whisper"
    SAY = "say"
    PARTNER_TELL = "partner-tell"
    TELL = "tell"
    QTELL = "qtell"
    CHANNEL = "channel"
    SHOUT = "shout"
    ANNOUNCEMENT = "announcement"
    ECHO = "echo"


@dataclass(frozen=True, slots=True)
class ChatLine:
    """A line of chat. ``game_no`` is set only if the line itself prints it."""

    line: Line
    kind: ChatKind
    speaker: str | None
    titles: str | None
    game_no: int | None
    channel: str | None
    text: str


class GameNoticeKind(Enum):
    """Kinds of notices about a game in progress."""

    DRAW_OFFER = "draw-offer"
    DRAW_DECLINED = "draw-declined"
    DRAW_ACCEPTED = "draw-accepted"
    ABORT_REQUEST = "abort-request"
    ABORT_ACCEPTED = "abort-accepted"
    ABORT_DECLINED = "abort-declined"
    ADJOURN_REQUEST = "adjourn-request"
    ADJOURN_ACCEPTED = "adjourn-accepted"
    ADJOURN_DECLINED = "adjourn-declined"
    TAKEBACK_REQUEST = "takeback-request"
    TAKEBACK_ACCEPTED = "takeback-accepted"
    TAKEBACK_DECLINED = "takeback-declined"
    OFFER_OTHER = "offer-other"
    PAUSE_REQUEST = "pause-request"
    PAUSE_ACCEPTED = "pause-accepted"
    PAUSE_DECLINED = "pause-declined"
    UNPAUSE_REQUEST = "unpause-request"
    UNPAUSE_ACCEPTED = "unpause-accepted"
    UNPAUSE_DECLINED = "unpause-declined"
    PAUSED = "paused"
    RESUMED = "resumed"
    TIME_ADDED = "time-added"
    LAGGING = "lagging"
    ILLEGAL_MOVE = "illegal-move"
    DISCONNECTED = "disconnected"
    DISCONNECT_RULE = "disconnect-rule"
    RATING_CHANGE = "rating-change"
    PRIVATE_GAME = "private-game"


@dataclass(frozen=True, slots=True)
class GameNotice:
    """An offer, a pause, added time …; ``game_no`` None where the line does not print it.

    ``value`` is the number the notice carries: half-moves of a takeback, seconds added.
    """

    line: Line
    kind: GameNoticeKind
    game_no: int | None
    actor: str | None
    value: int | None
    text: str


class ExamineNoticeKind(StrEnum):
    """What a line about an examination reports."""

    FORWARD = "forward"
    BACKWARD = "backward"
    REVERT = "revert"
    COMMIT = "commit"
    MOVE = "move"
    SETUP_BEGIN = "setup-begin"
    SETUP = "setup"  # what was changed
    SETUP_END = "setup-end"
    REFUSED = "refused"  # a command had no effect
    START = "start"
    EXAMINER = "examiner"
    END = "end"
    RESULT = "result"


@dataclass(frozen=True, slots=True)
class ExamineNotice:
    """Text about an examined game or set-up mode: never a reason to change a board."""

    line: Line
    kind: ExamineNoticeKind
    game_no: int | None
    actor: str | None
    value: int | None
    text: str


class SessionNoticeKind(Enum):
    """What concerns the whole connection."""

    BANNER = "banner"
    LOGIN = "login"
    STYLE = "style"
    PROMPT = "prompt"
    SHUTDOWN = "shutdown"
    IDLE_LOGOUT = "idle-logout"
    TAKEN_OVER = "taken-over"
    LOGOUT = "logout"
    LOST_DATA = "lost-data"
    ZONE = "zone"
    TOO_FAST = "too-fast"
    CLOSED = "closed"


@dataclass(frozen=True, slots=True)
class SessionNotice:
    """``LOGIN``: ``value`` is our handle; ``BANNER``: ``value`` is the server family.

    ``SHUTDOWN``: ``value`` is ``immediately`` when the connection ends with this line, None for a warning.
    ``CLOSED``: the source, not the server, shows that the connection ended; its line has no text.
    """

    line: Line
    kind: SessionNoticeKind
    value: str | None


@dataclass(frozen=True, slots=True)
class Datagram:
    """A level-2 datagram of ICC that is about games.

    ``body`` is one of ``recorder.dialects.icc.units``'s values. ``begin`` is the offset of its unit.
    """

    line: Line
    body: object
    begin: int

    @property
    def game_no(self) -> int | None:
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
