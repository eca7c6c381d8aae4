"""Every event in one type: chat, notices and the rest here, frames and game lines from their own modules."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from recorder.events.frames import Style12
from recorder.events.games import (
    CreatingLine,
    DeltaBoard,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GameNotified,
    GamesCounted,
    GamesRow,
    HoldingsLine,
    MovelistRead,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
    PartnerPlays,
)
from recorder.events.lines import Line


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


@dataclass(frozen=True, slots=True)
class ExamineNotice:
    """Text about an examined game or set-up mode: never a reason to change a board.

    ``kind``: ``forward``, ``backward``, ``revert``, ``commit``, ``move``, ``setup-begin``, ``setup`` (what was
    changed), ``setup-end``, ``start``, ``examiner``, ``end``, ``result``; ``refused``: a command had no effect.
    """

    line: Line
    kind: str
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

    ``body`` is one of ``recorder.dialects.icc.values``'s values. ``begin`` is the offset of its unit.
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
