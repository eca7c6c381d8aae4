r"""ICC's level-1 units, and its level-2 datagrams about games, in the stream of lines.

A unit is what one command caused, between two marks, and units may be nested. A datagram is a list of fields between
two other marks, anywhere, also inside a unit, a line end inside a text included::

    \x19[1 *
    \x19(24 7 e4 e2e4 3 57 1\x19)
    <12> rnbqkbnr pppppppp -------- -------- ----P--- … 7 Ann Bob 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0
    \x19]

The wire (``recorder/wire/lines.py``) returns each mark and each datagram as a line that begins with ``\x19``, so that
no text can be taken for one. Here they get their meaning:

- Text in a unit is the same text that comes without units. If a unit also has datagrams about a board, its text only
  repeats them, and would count everything twice. Whether it has is known at its end, so a unit's lines wait for it;
  then they are marked with ``\x19|`` and skipped.
- A unit may never end: the connection is cut, or the mark was lost (``\x1a``). So at most ``_MOST_LINES`` wait, and
  after lost data none do.
- The fields of a move depend on settings (35, 36, 113), which may have been made before the log begins. ``MoveForm``
  learns them from acknowledgements and from moves that allow only one form.

Every datagram has a reader. Trailing fields that we do not know are ignored, as the
document asks; a datagram that is cut or impossible is ``Malformed``, one that is not about games is counted.

Source: sections 8 and 8.1 of the protocol reference (ICC's formats2.txt). Nothing here has been seen on a wire: no
transcript with datagrams is public.

Arguments of a datagram are bare words, ``{…}`` without braces inside, or ``\x19{…\x19}`` with anything inside. Settings
33 to 36 and 113 decide which there are: SAN, squares, seconds taken, seconds left, kind. Words tell themselves by their
shape; numbers do not. Three numbers are all of them; of one or two it is known which they are when the server has
acknowledged the settings (datagram 124), or when a number can be no kind of move. Source: section 8 of the protocol
reference (ICC's formats2.txt; DG_SEND_MOVES, DG_MOVE_SMITH, DG_IS_VARIATION, result codes).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from recorder.dialects.results import EndReason, read_reason
from recorder.errors import LineError
from recorder.events import Datagram, Event, Line, Malformed, Noise

DATAGRAM_TAG = "\x19("

_WHOLE = re.compile(r"\x19\((?P<number>[0-9]{1,4})(?P<rest>(?:[\s{\x19].*)?)\x19\)", re.DOTALL)
_FIELD = re.compile(r"\s*(?:\x19\{(?P<any>.*?)\x19\}|\{(?P<braced>[^{}\x19]*)\}|(?P<word>[^\s{}\x19]+))", re.DOTALL)
_BARE = re.compile(r"[^\s{}\x19]+")


def parse_fields(text: str) -> tuple[int, list[str]]:
    """Its number and its arguments without their enclosing marks; a datagram that is cut is a LineError."""
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        problem = "does not end" if not text.endswith("\x19)") else "has no number"
        raise LineError(f"the datagram {problem}", text)
    rest = whole["rest"].rstrip()
    fields: list[str] = []
    at = 0
    while at < len(rest):
        field = _FIELD.match(rest, at)
        if field is None:
            raise LineError(f"the datagram's field {len(fields) + 1} cannot be {rest[at : at + 40]!r}", text)
        fields.append(next(value for value in field.groups() if value is not None))
        at = field.end()
    return int(whole["number"]), fields


_SMITH = re.compile(r"[a-h][1-8][a-h][1-8][pnbrqkEcC]?[NBRQK]?")
_NUMBER = re.compile(r"-?[0-9]{1,10}", re.ASCII)
_TIME, _CLOCK, _KIND = 35, 36, 113
_NUMBERS = (_TIME, _CLOCK, _KIND)
_LAST_KIND = 6


class IccMove(NamedTuple):
    """``san`` is as printed, ``smith`` as in delta boards. ``kind``: 0 of a list, 1 played, 2 forward, 3 examined."""

    san: str | None
    smith: str | None
    time_s: int | None
    clock_s: int | None
    kind: int | None


class MoveForm:
    """Which numbers a move has, as far as the stream shows; ``settings``: datagram 35, 36 or 113 → whether it is on."""

    def __init__(self) -> None:
        self.settings: dict[int, bool] = {}

    def set(self, number: int, on: bool) -> None:
        if number in _NUMBERS:
            self.settings[number] = on

    def learn(self, moves: Iterable[tuple[str, ...]]) -> None:
        """Conclude from the words of moves what only one form allows."""
        # Three numbers, or none, show all settings. Of two, a second one that is no kind of move must be a clock.
        for words in moves:
            values = _numbers(words)
            if len(values) == len(_NUMBERS):
                self.settings.update(dict.fromkeys(_NUMBERS, True))
            elif not values:
                self.settings.update(dict.fromkeys(_NUMBERS, False))
            elif len(values) == 2 and not 0 <= values[1] <= _LAST_KIND:
                self.settings.update({_TIME: True, _CLOCK: True, _KIND: False})

    def names(self, count: int) -> list[int]:
        """Which settings ``count`` numbers are, in order; empty where it is not known."""
        # Of the eight forms those with as many numbers that do not contradict what is known: one, or it is unknown.
        ways = [
            [number for number, on in zip(_NUMBERS, form, strict=True) if on]
            for form in _FORMS
            if sum(form) == count
            and all(self.settings.get(number, on) == on for number, on in zip(_NUMBERS, form, strict=True))
        ]
        return ways[0] if len(ways) == 1 else []


_FORMS = [(time, clock, kind) for time in (False, True) for clock in (False, True) for kind in (False, True)]


def _numbers(words: tuple[str, ...]) -> list[int]:
    texts = words
    while texts and _NUMBER.fullmatch(texts[0]) is None:
        texts = texts[1:]
    return [int(word) for word in texts[: len(_NUMBERS)] if _NUMBER.fullmatch(word)]


def read_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def read_move(words: tuple[str, ...], form: MoveForm) -> IccMove | None:
    # SAN and squares come first, each if it was asked for; a word of digits is none of them.
    texts = list(words[:2])
    while texts and _NUMBER.fullmatch(texts[-1]):
        texts.pop()
    if not texts:
        return None
    numbers = words[len(texts) :][: len(_NUMBERS)]
    if any(_NUMBER.fullmatch(number) is None for number in numbers):
        return None
    san: str | None
    smith: str | None
    if len(texts) == 2:
        san, smith = texts
    else:
        san, smith = (None, texts[0]) if _SMITH.fullmatch(texts[0]) else (texts[0], None)
    # Drops are written the same way in both forms, and moves that are hidden (kriegspiel) too.
    if smith is not None and _SMITH.fullmatch(smith) is None:
        if "@" not in smith and not smith.startswith("?"):
            return None
        san, smith = san or smith, None
    names = form.names(len(numbers))
    numbers_by_name = dict(zip(names, map(int, numbers), strict=False))
    return IccMove(san, smith, numbers_by_name.get(_TIME), numbers_by_name.get(_CLOCK), numbers_by_name.get(_KIND))


_WON = {"Res": "resign", "Mat": "checkmate", "Fla": "time", "Adj": "adjudicated", "BQ": "disconnect-loss"}
_DRAWN = {
    "Agr": "agreed",
    "Sta": "stalemate",
    "Rep": "repetition",
    "50": "fifty",
    "TM": "time-vs-bare",
    "NM": "no-material",
    "NT": "both-flag",
    "Adj": "adjudicated-draw",
    "1/2": "drawn",
}
_ABORTED = {
    "Agr": "aborted-agreed",
    "BQ": "aborted-lost",
    "SD": "aborted-server",
    "BA": "aborted-courtesy",
    "Adj": "aborted-adjudicated",
    "Sho": "aborted-early",
}
_TERMINATIONS = {
    "time": "time forfeit",
    "disconnect-loss": "abandoned",
    "adjudicated": "adjudication",
    "adjudicated-draw": "adjudication",
}


def result_of(code: str, score: str, description: str, white: str, black: str) -> tuple[str, EndReason]:
    """The token, and the reason by its words, or by its code (``Mat``) if these are unknown."""
    result = "*" if score == "aborted" else score
    reason = read_reason(description, white, black, result)
    if reason.key != "unknown":
        return result, reason
    if score == "aborted":
        return result, EndReason(_ABORTED.get(code, "aborted"), "abandoned", None)
    if result == "*":
        return result, reason
    key = (_DRAWN if result == "1/2-1/2" else _WON).get(code, "unknown")
    return result, EndReason(key, _TERMINATIONS.get(key, "normal"), None)


class WhoAmI(NamedTuple):
    """0 WHO_AM_I: our handle."""

    number: int
    name: str
    titles: str


class IccGame(NamedTuple):
    """12 GAME_STARTED, 15 MY_GAME_STARTED, 18 STARTED_OBSERVING, 40 ISOLATED_BOARD, 100 MY_GAME_CHANGE.

    Initial times are minutes, increments seconds; a rating of 0 is none. ``time_control`` is in PGN's form and stands
    over the four numbers where it is not empty. Fields from ``game_id`` on may be missing: None.
    """

    number: int
    game_no: int
    white: str
    black: str
    wild: int
    rating_type: str
    rated: bool
    white_base_min: int
    white_increment_s: int
    black_base_min: int
    black_increment_s: int
    played: bool
    note: str
    white_rating: str | None
    black_rating: str | None
    game_id: str | None
    white_titles: str | None
    black_titles: str | None
    irregular_legality: bool | None
    irregular_semantics: bool | None
    plunkers: bool | None
    time_control: str | None
    promote_to_king: bool | None


class GameOver(NamedTuple):
    """13 GAME_RESULT, 16 MY_GAME_RESULT. ``score`` is a result token or ``aborted``."""

    number: int
    game_no: int
    becomes_examined: bool
    code: str
    score: str
    description: str
    eco: str | None


class NumberOnly(NamedTuple):
    """14 EXAMINED_GAME_IS_GONE, 17 MY_GAME_ENDED, 19 STOP_OBSERVING, 41 REFRESH: the game's number."""

    number: int
    game_no: int


class Relation(NamedTuple):
    """20 PLAYERS_IN_MY_GAME (``player`` and whether kibitzes reach him), 43 MY_RELATION_TO_GAME (None, None).

    ``symbol``: O PW PB SW SB E, or X for none.
    """

    number: int
    game_no: int
    player: str | None
    symbol: str
    hears: int | None


class Offers(NamedTuple):
    """21 OFFERS_IN_MY_GAME: open offers; of takebacks the half-moves."""

    number: int
    game_no: int
    white_draw: int
    black_draw: int
    white_adjourn: int
    black_adjourn: int
    white_abort: int
    black_abort: int
    white_takeback: int
    black_takeback: int


class GoneBack(NamedTuple):
    """22 TAKEBACK in a played game, 23 BACKWARD in an examined one: half-moves."""

    number: int
    game_no: int
    plies: int


class MovesSent(NamedTuple):
    """24 SEND_MOVES, 111 PAST_MOVE. ``words`` are the move's fields as printed (see ``icc_moves``)."""

    number: int
    game_no: int
    words: tuple[str, ...]
    move: IccMove | None = None


class MoveList(NamedTuple):
    """25 MOVE_LIST. ``board``: 64 characters from a8 on; None is the normal start position."""

    number: int
    game_no: int
    board: str | None
    words: tuple[tuple[str, ...], ...]
    moves: tuple[IccMove, ...] = ()


class Kibitz(NamedTuple):
    """26 KIBITZ; ``aloud`` False: a whisper."""

    number: int
    game_no: int
    player: str
    titles: str
    aloud: bool
    text: str


class BughouseHoldings(NamedTuple):
    number: int
    game_no: int
    white: str
    black: str


class BughousePass(NamedTuple):
    """57 BUGHOUSE_PASS: a piece that has come to a hand."""

    number: int
    game_no: int
    to_white: bool
    piece: str


class ClocksSet(NamedTuple):
    """38 SET_CLOCK, in seconds."""

    number: int
    game_no: int
    white_s: int
    black_s: int


class MoreTime(NamedTuple):
    """61 MORETIME: seconds added to a side's clock."""

    number: int
    game_no: int
    to_white: bool
    seconds: int


class Flip(NamedTuple):
    """39 FLIP: whether the board is to be shown from Black's side."""

    number: int
    game_no: int
    flip: bool


class IllegalMove(NamedTuple):
    """42 ILLEGAL_MOVE; ``code`` 10: the time was up before the move."""

    number: int
    game_no: int
    move: str
    code: int


class JBoard(NamedTuple):
    """49 JBOARD: a whole board. The document names no game number; it is read if present.

    ``castling`` is four digits as in style 12. ``status``: 1 played, 0 examined, -1 stored. Clocks are printed without
    a unit: kept as text.
    """

    number: int
    game_no: int | None
    board: str
    white_to_move: bool
    push_file: int
    castling: str
    move_no: int
    san: str
    smith: str
    white_clock: str | None
    black_clock: str | None
    status: int | None
    flip: bool | None


class DatagramFen(NamedTuple):
    """70 FEN."""

    number: int
    game_no: int
    fen: str


class SimpleBoard(NamedTuple):
    """84 SET_BOARD: the board after a move that the usual rules do not give."""

    number: int
    game_no: int
    board: str
    white_to_move: bool


class Msec(NamedTuple):
    """56 MSEC: a clock in signed milliseconds."""

    number: int
    game_no: int
    white: bool
    clock_ms: int
    running: bool
    free_ms: int | None
    least_ms: int | None


class BeganPosition(NamedTuple):
    """101 POSITION_BEGIN, 110 POSITION_BEGIN2: a start position (empty: the normal one), and how many moves follow."""

    number: int
    game_no: int
    fen: str
    plies: int


class PgnTag(NamedTuple):
    number: int
    game_no: int
    name: str
    value: str


class SettingChanged(NamedTuple):
    """124 SET2: datagrams of a number are switched on or off from here on."""

    number: int
    datagram: int
    on: bool


class MoveLag(NamedTuple):
    """144 MOVE_LAG of the player who has just moved, in milliseconds."""

    number: int
    player: str
    lag_ms: int


class GameText(NamedTuple):
    number: int
    game_no: int
    text: str


class PgnLines(NamedTuple):
    """86 LOG_PGN: a game's PGN line by line."""

    number: int
    lines: tuple[str, ...]


IccDatagram = (
    WhoAmI | IccGame | GameOver | NumberOnly | Relation | Offers | GoneBack | MovesSent | MoveList | Kibitz |
    BughouseHoldings | BughousePass | ClocksSet | MoreTime | Flip | IllegalMove | JBoard | DatagramFen | SimpleBoard |
    Msec | BeganPosition | PgnTag | SettingChanged | MoveLag | GameText | PgnLines
)  # fmt: skip


BOARD_DATAGRAMS = frozenset((22, 23, 24, 25, 49, 70, 84, 101, 110, 111))
"""Numbers of datagrams about boards: text beside them in one unit repeats them for people."""

_INT = re.compile(r"-?[0-9]{1,10}", re.ASCII)
_BOARD = re.compile(r"[-pnbrqkPNBRQK]{64}")
_SYMBOLS = frozenset(("O", "PW", "PB", "SW", "SB", "E", "X"))
_SCORES = frozenset(("1-0", "0-1", "1/2-1/2", "*", "aborted"))


class _Fields:
    """The arguments of one datagram, taken one by one.

    Every method raises ``LineError`` if the datagram has no more arguments, or if the next one is invalid; those that
    end with ``_or_none`` return None if there are no more. ``name`` is what the message calls the argument.
    Source: ICC's formats2.txt.
    """

    def __init__(self, number: int, fields: Sequence[str]) -> None:
        self.number = number
        self.fields = fields
        self.at = 0

    def __bool__(self) -> bool:
        return self.at < len(self.fields)

    def fail(self, name: str, value: str) -> LineError:
        return LineError(f"the {name} of datagram {self.number} cannot be {value!r}", field=name, value=value)

    def text(self, name: str) -> str:
        if not self:
            raise LineError(f"datagram {self.number} ends before its {name}", field=name)
        self.at += 1
        return self.fields[self.at - 1]

    def whole(self, name: str) -> int:
        value = self.text(name)
        if _INT.fullmatch(value) is None:
            raise self.fail(name, value)
        return int(value)

    def flag(self, name: str) -> bool:
        value = self.text(name)
        if value not in ("0", "1"):
            raise self.fail(name, value)
        return value == "1"

    def white(self, name: str) -> bool:
        value = self.text(name)
        if value not in ("W", "B"):
            raise self.fail(name, value)
        return value == "W"

    def one_of(self, name: str, known: frozenset[str]) -> str:
        value = self.text(name)
        if value not in known:
            raise self.fail(name, value)
        return value

    def board(self) -> str:
        value = self.text("board")
        if _BOARD.fullmatch(value) is None:
            raise self.fail("board", value)
        return value

    def rest(self) -> tuple[str, ...]:
        found = tuple(self.fields[self.at :])
        self.at = len(self.fields)
        return found

    def text_or_none(self) -> str | None:
        return self.text("field") if self else None

    def whole_or_none(self, name: str) -> int | None:
        return self.whole(name) if self else None

    def flag_or_none(self, name: str) -> bool | None:
        return self.flag(name) if self else None


def _game(it: _Fields) -> IccGame:
    return IccGame(
        it.number, it.whole("game number"), it.text("White"), it.text("Black"), it.whole("wild number"),
        it.text("rating type"), it.flag("rated"), it.whole("initial time"), it.whole("increment"),
        it.whole("initial time"), it.whole("increment"), it.flag("played"), it.text_or_none() or "",
        it.text_or_none(), it.text_or_none(), it.text_or_none(), it.text_or_none(), it.text_or_none(),
        it.flag_or_none("legality"), it.flag_or_none("semantics"), it.flag_or_none("plunkers"),
        it.text_or_none(), it.flag_or_none("promotion to king"),
    )  # fmt: skip


def _over(it: _Fields) -> GameOver:
    return GameOver(
        it.number, it.whole("game number"), it.flag("become-examined"), it.text("result code"),
        it.one_of("score", _SCORES), it.text("description"), it.text_or_none(),
    )  # fmt: skip


def _relation(it: _Fields) -> Relation:
    number = it.whole("game number")
    player = it.text("player") if it.number == 20 else None
    symbol = it.one_of("relation", _SYMBOLS)
    return Relation(it.number, number, player, symbol, it.whole_or_none("kibitz value") if it.number == 20 else None)


def _move_list(it: _Fields) -> MoveList:
    number = it.whole("game number")
    board = None
    if it.fields[it.at : it.at + 1] == ["*"]:
        it.text("board")
    else:
        board = it.board()
    return MoveList(it.number, number, board, tuple(read_words(move) for move in it.rest()))


def _kibitz(it: _Fields) -> Kibitz:
    return Kibitz(
        it.number, it.whole("game number"), it.text("player"), it.text("titles"), it.flag("kibitz"), it.text("text")
    )


def _letters(it: _Fields) -> str:
    value = it.text("holdings")
    if value.strip("pnbrqPNBRQ"):
        raise it.fail("holdings", value)
    return value


def _passed(it: _Fields) -> BughousePass:
    return BughousePass(it.number, it.whole("game number"), it.white("colour"), it.one_of("piece", frozenset("PNBRQ")))


def _jboard(it: _Fields) -> JBoard:
    numbered = it.fields[:1] and _INT.fullmatch(it.fields[0]) is not None
    game_no = it.whole("game number") if numbered else None
    board, white, push = it.board(), it.white("side to move"), it.whole("double-push file")
    castling = "".join("01"[it.flag("castling")] for _ in range(4))
    return JBoard(
        it.number, game_no, board, white, push, castling, it.whole("move number"), it.text("move"), it.text("move"),
        it.text_or_none(), it.text_or_none(), it.whole_or_none("status"), it.flag_or_none("flip"),
    )  # fmt: skip


def _msec(it: _Fields) -> Msec:
    return Msec(
        it.number, it.whole("game number"), it.white("colour"), it.whole("clock"), it.flag("running"),
        it.whole_or_none("free time"), it.whole_or_none("least time"),
    )  # fmt: skip


def _began(it: _Fields) -> BeganPosition:
    number, fen, count = it.whole("game number"), it.text("FEN"), it.whole("count")
    if count < 0:
        raise it.fail("count", str(count))
    return BeganPosition(it.number, number, fen, count)


_READERS: dict[int, Callable[[_Fields], IccDatagram]] = {
    0: lambda it: WhoAmI(it.number, it.text("name"), it.text_or_none() or ""),
    **dict.fromkeys((12, 15, 18, 40, 100), _game),
    **dict.fromkeys((13, 16), _over),
    **dict.fromkeys((14, 17, 19, 41), lambda it: NumberOnly(it.number, it.whole("game number"))),
    **dict.fromkeys((20, 43), _relation),
    21: lambda it: Offers(it.number, it.whole("game number"), *(it.whole("offer") for _ in range(8))),
    **dict.fromkeys((22, 23), lambda it: GoneBack(it.number, it.whole("game number"), it.whole("count"))),
    **dict.fromkeys((24, 111), lambda it: MovesSent(it.number, it.whole("game number"), it.rest())),
    25: _move_list,
    26: _kibitz,
    37: lambda it: BughouseHoldings(it.number, it.whole("game number"), _letters(it), _letters(it)),
    38: lambda it: ClocksSet(it.number, it.whole("game number"), it.whole("clock"), it.whole("clock")),
    39: lambda it: Flip(it.number, it.whole("game number"), it.flag("flip")),
    42: lambda it: IllegalMove(it.number, it.whole("game number"), it.text("move"), it.whole("reason")),
    49: _jboard,
    56: _msec,
    57: _passed,
    61: lambda it: MoreTime(it.number, it.whole("game number"), it.white("colour"), it.whole("seconds")),
    70: lambda it: DatagramFen(it.number, it.whole("game number"), it.text("FEN")),
    77: lambda it: GameText(it.number, it.whole("game number"), it.text("text")),
    84: lambda it: SimpleBoard(it.number, it.whole("game number"), it.board(), it.white("side to move")),
    86: lambda it: PgnLines(it.number, it.rest()),
    **dict.fromkeys((101, 110), _began),
    112: lambda it: PgnTag(it.number, it.whole("game number"), it.text("tag"), it.text("value")),
    124: lambda it: SettingChanged(it.number, it.whole("datagram"), it.flag("setting")),
    144: lambda it: MoveLag(it.number, it.text("player"), it.whole("lag")),
}


def parse_datagram(text: str) -> IccDatagram | int:
    """Read a datagram, moves still as words (see ``read_move``); its number if it is not about games."""
    number, fields = parse_fields(text)
    reader = _READERS.get(number)
    if reader is None:
        return number
    try:
        return reader(_Fields(number, fields))
    except LineError as error:
        raise LineError(str(error), text, error.field, error.value) from None


DATAGRAM_NAME = "datagram"

_DEEPEST = 3
_MOST_LINES = 5000  # more than the longest answer; a unit without an end must not hold a log's rest back


class UnitReader:
    """Reads the marks that the wire leaves in the stream of lines, and holds back the text between them.

    ``depth`` counts the open units, ``begin`` is the offset of the outermost one. ``count`` is called with the name and
    offset of every datagram that is not about games.
    """

    def __init__(self, count: Callable[[str, int], None]) -> None:
        self.depth = 0
        self.begin = 0
        self.form = MoveForm()
        self._count = count
        self._lines: list[Line] = []
        self._has_boards = False

    def mark(self, line: Line) -> tuple[Event, list[Line]]:
        """Read a line that begins with ``\\x19``; return its event, and the text lines that it releases."""
        text = line.text
        if text.startswith("\x19("):
            return self._datagram(line), []
        if text.startswith("\x19["):
            # Units may be nested; only the outermost one releases its lines, and a game that begins in it begins there.
            if not self.depth:
                self.begin = line.offset
            self.depth = min(self.depth + 1, _DEEPEST)
        elif text == "\x19]":
            self.depth = max(self.depth - 1, 0)
            if not self.depth:
                return Noise(line), self.release()
        return Noise(line), []

    def keep(self, line: Line) -> list[Line]:
        """Hold a text line back; release all if the unit does not seem to end or data was lost in it."""
        self._lines.append(line)
        return self.release() if line.text == "\x1a" or len(self._lines) > _MOST_LINES else []

    def release(self) -> list[Line]:
        """End what is open and return what was held back; lines that only repeat datagrams begin with ``\\x19|``."""
        lines, self._lines = self._lines, []
        if self._has_boards:
            lines = [line if line.text == "\x1a" else line._replace(text="\x19|" + line.text) for line in lines]
        self.depth = 0
        self._has_boards = False
        return lines

    def _datagram(self, line: Line) -> Event:
        try:
            datagram = parse_datagram(line.text)
        except LineError as error:
            return Malformed(line, DATAGRAM_NAME, str(error))
        if isinstance(datagram, int):
            self._count(f"(ICC datagram {datagram})", line.offset)
            return Noise(line)
        if self.depth and datagram.number in BOARD_DATAGRAMS:
            self._has_boards = True
        return self._event_of(line, datagram)

    def _event_of(self, line: Line, datagram: IccDatagram) -> Event:
        if isinstance(datagram, SettingChanged):
            self.form.set(datagram.datagram, datagram.on)
        elif isinstance(datagram, MovesSent):
            self.form.learn([datagram.words])
            move = read_move(datagram.words, self.form)
            if move is None:
                return Malformed(line, DATAGRAM_NAME, f"the move of datagram {datagram.number} cannot be read")
            datagram = datagram._replace(move=move)
        elif isinstance(datagram, MoveList):
            self.form.learn(datagram.words)
            moves = [read_move(words, self.form) for words in datagram.words]
            if any(move is None for move in moves):
                return Malformed(line, DATAGRAM_NAME, f"a move of datagram {datagram.number} cannot be read")
            datagram = datagram._replace(moves=tuple(move for move in moves if move is not None))
        return Datagram(line, datagram, self.begin if self.depth else line.offset)
