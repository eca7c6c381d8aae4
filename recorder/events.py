"""What arrives: chunks of bytes, the lines in them, and what one line can mean.

Everything here is a plain value. ``recorder.wire`` makes ``Line`` from ``Chunk``, ``recorder.dialects``
makes the other events from lines, ``recorder.tracking`` reads them. Nothing is inferred here: an
absent field is None.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from recorder.errors import LineError

__all__ = [
    "ELAPSED_MEMO",
    "Block",
    "ChatKind",
    "ChatLine",
    "Chunk",
    "CreatingLine",
    "DeltaBoard",
    "Event",
    "ExamineNotice",
    "GameCreated",
    "GameEnded",
    "GameHeader",
    "GameInfo",
    "GameNotice",
    "GameNoticeKind",
    "HoldingsLine",
    "Line",
    "ListRow",
    "Malformed",
    "MovelistRead",
    "Noise",
    "ObservingEnded",
    "ObservingStarted",
    "RatingText",
    "SessionNotice",
    "SessionNoticeKind",
    "Style12",
    "TAIL_TURN",
    "TAIL_PUSH",
    "TAIL_CASTLING",
    "TAIL_IRREVERSIBLE",
    "TAIL_GAME",
    "TAIL_WHITE",
    "TAIL_BLACK",
    "TAIL_RELATION",
    "TAIL_BASE",
    "TAIL_INCREMENT",
    "TAIL_WHITE_MATERIAL",
    "TAIL_BLACK_MATERIAL",
    "TAIL_WHITE_CLOCK",
    "TAIL_BLACK_CLOCK",
    "TAIL_MOVE_NO",
    "TAIL_VERBOSE",
    "TAIL_ELAPSED",
    "TAIL_PRETTY",
    "TAIL_FLIP",
    "TAIL_TICKING",
    "TAIL_LAG",
    "Unrecognised",
    "parse_elapsed",
]


class Chunk(NamedTuple):
    """Bytes of the incoming direction as one read (or one log entry) gave them.

    ``offset`` is the position of ``data[0]`` in the source's own decompressed bytes. Sources whose bytes
    are escaped (client logs) cut their chunks so that every line begins at a chunk's first byte.
    ``at_ms`` is the arrival in milliseconds in the basis that the source states (see ``TimeBasis``), or None.
    """

    data: bytes
    offset: int
    at_ms: int | None = None


class Block(NamedTuple):
    """The block-mode block (``\\x15 id \\x16 code \\x16 … \\x17``) that a line stands in."""

    command_id: int
    code: int


class Line(NamedTuple):
    """One complete logical line: control bytes removed, wrapped parts joined, prompts still there.

    ``text`` is latin-1 (one character a byte), so nothing is lost. ``offset`` is where the line begins in the
    source's bytes.
    """

    text: str
    offset: int
    at_ms: int | None = None
    block: Block | None = None


# Places of the tokens in ``Style12.tail``; the names are those of "help style12".
TAIL_TURN = 0
TAIL_PUSH = 1
TAIL_CASTLING = 2  # … 5: white short, white long, black short, black long
TAIL_IRREVERSIBLE = 6
TAIL_GAME = 7
TAIL_WHITE = 8
TAIL_BLACK = 9
TAIL_RELATION = 10
TAIL_BASE = 11
TAIL_INCREMENT = 12
TAIL_WHITE_MATERIAL = 13
TAIL_BLACK_MATERIAL = 14
TAIL_WHITE_CLOCK = 15
TAIL_BLACK_CLOCK = 16
TAIL_MOVE_NO = 17
TAIL_VERBOSE = 18
TAIL_ELAPSED = 19
TAIL_PRETTY = 20
TAIL_FLIP = 21
TAIL_TICKING = 22
TAIL_LAG = 23

_ELAPSED = re.compile(r"\((?:(-?)(\d+):)?(-?)(\d+):(-?)(\d{1,2})(?:\.(\d{1,3}))?\)", re.ASCII)
_ELAPSED_MEMO_SIZE = 1 << 15
#: What ``parse_elapsed`` has read lately; the hot path looks here before it calls.
ELAPSED_MEMO: dict[str, tuple[int, bool]] = {}


def parse_elapsed(text: str) -> tuple[int, bool]:
    """Read the time taken by a move.

    ``(m:ss)``, ``(m:ss.mmm)``, ``(h:mm:ss[.mmm])``. Two colons are always hours, minutes, seconds; ``.5`` is half a
    second; 60 may stand in the seconds place (a rounded 59.9996); a minus sign in any place makes the whole negative
    (``(0:-5)``: some servers divide negative numbers part by part).

    Args:
        text: the token with its parentheses.
    Returns:
        Milliseconds, and whether a fraction was printed (the frame's clocks are milliseconds then).
    Raises:
        LineError: it has none of these forms.
    """
    known = ELAPSED_MEMO.get(text)
    if known is not None:
        return known
    match = _ELAPSED.fullmatch(text)
    if match is None:
        raise LineError(f"the time taken by the move cannot be {text!r}", field="elapsed", value=text)
    hour_sign, hours, minute_sign, minutes, second_sign, seconds, fraction = match.groups()
    elapsed = (int(hours or 0) * 60 + int(minutes)) * 60_000 + int(seconds) * 1000
    if fraction is not None:
        elapsed += int(fraction.ljust(3, "0"))
    if hour_sign or minute_sign or second_sign:
        elapsed = -elapsed
    if len(ELAPSED_MEMO) >= _ELAPSED_MEMO_SIZE:
        ELAPSED_MEMO.clear()
    result = elapsed, fraction is not None
    ELAPSED_MEMO[text] = result
    return result


class Style12:
    """One ``<12>`` frame. Keeps its tokens; each field is read when it is asked for.

    Attributes:
        board: the ranks joined by one blank each, rank 8 first: 71 characters on an 8×8 board.
        tail: the tokens from the side to move on (``tail[0]`` is ``W`` or ``B``).
        offset: of the line in the source's bytes.
        at_ms: arrival, or None.
        block: the block the frame stands in, or None.
        partial: True when the line was cut after the verbose move (old servers do that).

    A property raises ``LineError`` when its token is missing or cannot be what the field must be.
    Source: "help style12" (all editions); token numbers are theirs minus the nine first.
    """

    __slots__ = ("at_ms", "block", "board", "offset", "partial", "tail")

    def __init__(
        self,
        board: str,
        tail: list[str],
        offset: int = 0,
        at_ms: int | None = None,
        block: Block | None = None,
        partial: bool = False,
    ) -> None:
        self.board = board
        self.tail = tail
        self.offset = offset
        self.at_ms = at_ms
        self.block = block
        self.partial = partial

    def _text(self, place: int, field: str) -> str:
        if place >= len(self.tail):
            raise LineError(f"the frame ends before its {field}", self.text, field)
        return self.tail[place]

    def _int(self, place: int, field: str) -> int:
        value = self._text(place, field)
        if not (value.isdecimal() or (value[:1] == "-" and value[1:].isdecimal())):
            raise LineError(f"the frame's {field} cannot be {value!r}", self.text, field, value)
        return int(value)

    def _flag(self, place: int, field: str) -> bool:
        value = self._text(place, field)
        if value not in ("0", "1"):
            raise LineError(f"the frame's {field} cannot be {value!r}", self.text, field, value)
        return value == "1"

    @property
    def text(self) -> str:
        """The frame written out again with single blanks."""
        return f"<12> {self.board} {' '.join(self.tail)}"

    @property
    def width(self) -> int:
        """Squares in a rank."""
        return self.board.find(" ")

    @property
    def white_to_move(self) -> bool:
        """Whether White is to move."""
        value = self._text(TAIL_TURN, "turn")
        if value not in ("W", "B"):
            raise LineError(f"the frame's turn cannot be {value!r}", self.text, "turn", value)
        return value == "W"

    @property
    def push_file(self) -> int:
        """File of the double pawn push just made, 0 for the a-file, or -1."""
        value = self._int(TAIL_PUSH, "double-push file")
        if not -1 <= value < self.width:
            raise LineError(f"the double-push file cannot be {value}", self.text, "double-push file", str(value))
        return value

    @property
    def castling(self) -> int:
        """Castling rights as printed: 1 White short, 2 White long, 4 Black short, 8 Black long."""
        return sum(self._flag(TAIL_CASTLING + bit, "castling") << bit for bit in range(4))

    @property
    def irreversible(self) -> int:
        """Half-moves since the last irreversible one, raw: some servers print negative ones."""
        return self._int(TAIL_IRREVERSIBLE, "irreversible count")

    @property
    def game_no(self) -> int:
        """The server's number of the game; -1 is a static board (ICC)."""
        return self._int(TAIL_GAME, "game number")

    @property
    def white(self) -> str:
        """White's handle."""
        return self._text(TAIL_WHITE, "White")

    @property
    def black(self) -> str:
        """Black's handle."""
        return self._text(TAIL_BLACK, "Black")

    @property
    def relation(self) -> int:
        """-4/-3 list start or isolated, -2 observing an examined game, -1/1 playing, 0 observing, 2 examining."""
        return self._int(TAIL_RELATION, "relation")

    @property
    def base_min(self) -> int:
        """Initial time in minutes."""
        return self._int(TAIL_BASE, "initial time")

    @property
    def increment_s(self) -> int:
        """Increment in seconds."""
        return self._int(TAIL_INCREMENT, "increment")

    @property
    def white_material(self) -> int:
        """White's strength as printed; never a check sum."""
        return self._int(TAIL_WHITE_MATERIAL, "White's material")

    @property
    def black_material(self) -> int:
        """Black's strength as printed."""
        return self._int(TAIL_BLACK_MATERIAL, "Black's material")

    @property
    def clock_unit_ms(self) -> int:
        """1 if the clocks are milliseconds, else 1000: a point in the elapsed time tells."""
        return 1 if "." in self._text(TAIL_ELAPSED, "elapsed time") else 1000

    @property
    def white_clock_ms(self) -> int:
        """White's clock in milliseconds; may be negative."""
        return self._int(TAIL_WHITE_CLOCK, "White's clock") * self.clock_unit_ms

    @property
    def black_clock_ms(self) -> int:
        """Black's clock in milliseconds; may be negative."""
        return self._int(TAIL_BLACK_CLOCK, "Black's clock") * self.clock_unit_ms

    @property
    def move_no(self) -> int:
        """Number of the move about to be made."""
        return self._int(TAIL_MOVE_NO, "move number")

    @property
    def ply(self) -> int:
        """Half-moves played to reach this board: ``2 * (move_no - 1)``, one more if Black is to move."""
        return 2 * (self.move_no - 1) + (not self.white_to_move)

    @property
    def verbose(self) -> str:
        """The previous move (``P/e2-e4``, ``o-o``, ``P/@@-e4``), or ``none``/``NONE``."""
        return self._text(TAIL_VERBOSE, "verbose move")

    @property
    def has_move(self) -> bool:
        """Whether the frame shows a previous move."""
        return self.verbose not in ("none", "NONE")

    @property
    def elapsed_ms(self) -> int:
        """Time taken for the previous move in milliseconds; may be negative."""
        return parse_elapsed(self._text(TAIL_ELAPSED, "elapsed time"))[0]

    @property
    def ms(self) -> bool:
        """Whether thousandths were printed."""
        return parse_elapsed(self._text(TAIL_ELAPSED, "elapsed time"))[1]

    @property
    def pretty(self) -> str:
        """The previous move in the server's SAN, or ``none``/``NONE``."""
        return self._text(TAIL_PRETTY, "pretty move")

    @property
    def flip(self) -> bool:
        """Whether the server wants Black at the bottom; tells nothing about who plays what."""
        return self._flag(TAIL_FLIP, "flip")

    @property
    def ticking(self) -> bool | None:
        """Whether the clock of the side to move runs; None: not printed."""
        return None if len(self.tail) <= TAIL_TICKING else self._flag(TAIL_TICKING, "ticking")

    @property
    def lag_ms(self) -> int | None:
        """The printed lag of the previous move in milliseconds; None: not printed."""
        return None if len(self.tail) <= TAIL_LAG else self._int(TAIL_LAG, "lag")


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
class ObservingStarted:
    """``You are now observing game 463.`` (or ``Adding game 12 to observation list``)."""

    line: Line
    game_no: int


@dataclass(frozen=True, slots=True)
class ObservingEnded:
    """``Removing game 12 from observation list.`` and the other ways an observation ends."""

    line: Line
    game_no: int


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
        started: the date in the header as printed, or None.
        started_at_ms: UTC milliseconds if the header's zone is known, else local ones; None: no date.
        started_zone_known: whether ``started_at_ms`` is UTC.
        start_frame: the ``<12>`` between header and table, or None.
        rows: half-moves in order.
        result: ``*`` with ``still_running`` True for ``{Still in progress}``; None: no trailer was seen.
        complete: a trailer was seen.
    """

    line: Line
    game_no: int | None
    white: str
    white_rating: RatingText
    black: str
    black_rating: RatingText
    started: str | None
    started_at_ms: int | None
    started_zone_known: bool
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
    """Somebody's words. ``game_no`` only where the line itself prints it."""

    line: Line
    kind: ChatKind
    speaker: str | None
    titles: str | None
    game_no: int | None
    channel: str | None
    text: str


class GameNoticeKind(Enum):
    """What a running game's notice tells."""

    DRAW_OFFER = "draw-offer"
    DRAW_DECLINED = "draw-declined"
    DRAW_ACCEPTED = "draw-accepted"
    ABORT_REQUEST = "abort-request"
    ADJOURN_REQUEST = "adjourn-request"
    TAKEBACK_REQUEST = "takeback-request"
    TAKEBACK_ACCEPTED = "takeback-accepted"
    TAKEBACK_DECLINED = "takeback-declined"
    OFFER_OTHER = "offer-other"
    PAUSE_REQUEST = "pause-request"
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

    ``kind``: ``forward``, ``backward``, ``revert``, ``commit``, ``move``, ``setup-begin``, ``setup-end``, ``start``,
    ``examiner``, ``end``, ``result``.
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


@dataclass(frozen=True, slots=True)
class SessionNotice:
    """``LOGIN``: ``value`` is our handle; ``BANNER``: ``value`` is the server family it tells.

    ``SHUTDOWN``: ``value`` is ``immediately`` when the connection ends with this line, None for a warning.
    """

    line: Line
    kind: SessionNoticeKind
    value: str | None


@dataclass(frozen=True, slots=True)
class Malformed:
    """A line of a known kind that cannot be read: counted and stored, never guessed at.

    ``tag`` is ``<12>``, ``<b1>`` … or the line kind's name.
    """

    line: Line
    tag: str
    error: str


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
    | GameHeader
    | ObservingStarted
    | ObservingEnded
    | GameEnded
    | MovelistRead
    | ChatLine
    | GameNotice
    | ExamineNotice
    | SessionNotice
    | Malformed
    | Noise
    | Unrecognised
)
