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

Every datagram has a reader. Trailing fields that we do not know are ignored, as the document asks; a datagram that is
cut or impossible is ``Malformed``, one that is not about games is counted.

Source: sections 8 and 8.1 of the protocol reference (ICC's formats2.txt). Nothing here has been seen on a wire: no
transcript with datagrams is public.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from recorder.dialects.icc.fields import MoveForm, parse_fields, read_move, read_words
from recorder.dialects.icc.values import (
    BeganPosition,
    BughouseHoldings,
    BughousePass,
    ClocksSet,
    DatagramFen,
    Flip,
    GameOver,
    GameText,
    GoneBack,
    IccDatagram,
    IccGame,
    IllegalMove,
    JBoard,
    Kibitz,
    MoreTime,
    MoveLag,
    MoveList,
    MovesSent,
    Msec,
    NumberOnly,
    Offers,
    PgnLines,
    PgnTag,
    Relation,
    SettingChanged,
    SimpleBoard,
    WhoAmI,
)
from recorder.errors import LineError
from recorder.events import Datagram, Event, Line, Malformed, Noise

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
