"""Lines from the interface to the engine: ``parse_command`` and ``format_command``.

Source: sections 8, 12 and 13 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from enum import Enum
from typing import Final, NamedTuple

_SQUARE: Final = r"[a-l](?:1[0-2]|[0-9])"
_DROP: Final = re.compile(rf"([A-Za-z]\+?)[@*]({_SQUARE})[+#!?]{{0,4}}", re.ASCII)
_CASTLING: Final = re.compile(r"(?:O-?O(-?O)?|0-?0(-?0)?|o-?o(-?o)?)[+#!?]{0,4}", re.ASCII)
_LEGS: Final = re.compile(rf"{_SQUARE}{_SQUARE}(?:,{_SQUARE}{_SQUARE})*,?[A-Za-z+]?", re.ASCII)
_SHIFT: Final = re.compile(
    rf"(?:(\+?[A-Z])/?)?([a-l]?(?:1[0-2]|[0-9])?)[-:xX]?({_SQUARE})"
    r"(?:[=/]?(?:\(([A-Za-z])\)|([A-Za-z]))|=)?(?: ?ep| ?e\.p\.)?[+#!?]{0,4}",
    re.ASCII,
)
_NULL_MOVES: Final = ("@@@@", "--", "Z0", "null", "pass")


class MoveKind(Enum):
    COORDINATES = "coordinates"
    SAN = "san"
    DROP = "drop"
    CASTLING = "castling"
    LEGS = "legs"
    NULL = "null"
    UNREADABLE = "unreadable"


class MoveText(NamedTuple):
    """A move as written; squares where the text names them, of SAN ``origin`` may be a file or a rank only."""

    kind: MoveKind
    text: str
    origin: str | None = None
    target: str | None = None
    letter: str | None = None  # promoted to, or dropped
    long: bool = False  # castling to the queen's side
    piece: str | None = None  # in front of SAN


def parse_move(text: str) -> MoveText | None:
    """Read a move; None: the text does not have the form of a move."""
    # Source: section 8, MOVE: e2e4, e7e8q, P@h3, O-O, "c4d5,d5e4", @@@@, or SAN; a comma at the end: the engine's next
    # "move" is the next leg. xboard's parser also reads e7-e8, e7xd8=Q, exd8(Q), Ng1-f3, P/e7-e8=Q.
    if match := _CASTLING.fullmatch(text):
        return MoveText(MoveKind.CASTLING, text, long=any(match.groups()))
    if match := _DROP.fullmatch(text):
        return MoveText(MoveKind.DROP, text, None, match[2], match[1])
    if text in _NULL_MOVES:
        return MoveText(MoveKind.NULL, text)
    if "," in text and _LEGS.fullmatch(text):
        return MoveText(MoveKind.LEGS, text)
    match = _SHIFT.fullmatch(text)
    if match is None:
        return None
    piece, origin, target, bracketed, letter = match.groups()
    kind = MoveKind.COORDINATES if piece is None and len(origin) > 1 else MoveKind.SAN
    return MoveText(kind, text, origin or None, target, bracketed or letter, piece=piece)


def any_move(text: str) -> MoveText:
    return parse_move(text) or MoveText(MoveKind.UNREADABLE, text)


_PIECE: Final = re.compile(r"(\+?[A-Za-z])([a-h])([1-8])", re.ASCII)
_EMPTY: Final = re.compile("-+")
_FILES: Final = "abcdefgh"


class EditBoard:
    """A ``Position.board`` while it is edited: eight ranks from a8 on, ``-`` for an empty square, a blank between.

    ``Pa4`` puts a piece of the current colour on a square, ``xa4`` empties it, ``c`` changes the colour (White comes
    first) and ``#`` clears the board. Source: section 9, ``edit``; the side to move does not change.
    """

    def __init__(self, board: Iterable[str]) -> None:
        self.is_done = False  # ``.`` has ended edit mode
        self._board = list(board)
        self._white = True

    def apply(self, line: str) -> bool:
        """False: the line demands nothing that a board of 64 squares can show."""
        text = line.rstrip()
        if text == "c":
            self._white = not self._white
        elif text == "#":
            self._board = [square if square == " " else "-" for square in self._board]
        elif text == ".":
            self.is_done = True
        elif match := _PIECE.fullmatch(text):
            letter, file, rank = match.groups()
            piece = letter.upper() if self._white else letter.lower()
            self._board[(8 - int(rank)) * 9 + _FILES.index(file)] = "-" if letter == "x" else piece
        else:
            return False
        return True

    def fen(self, white_to_move: bool) -> str:
        """With all castling rights: edit mode has no line for them."""
        ranks = _EMPTY.sub(lambda empty: str(len(empty[0])), "".join(self._board)).replace(" ", "/")
        return f"{ranks} {'w' if white_to_move else 'b'} KQkq - 0 1"


def edit_lines(board: str) -> list[str]:
    """The lines between ``edit`` and the end of edit mode."""
    lines = ["#"]
    for white in (True, False):
        lines += [] if white else ["c"]
        for index, letter in enumerate(board):
            if letter not in "- " and letter.isupper() == white:
                lines.append(f"{letter.upper()}{_FILES[index % 9]}{8 - index // 9}")
    return [*lines, "."]


PLAIN_WORDS: Final = frozenset(
    (
        "xboard", "new", "quit", "random", "force", "go", "playother", "white", "black", "?", "draw", "edit", "hint",
        "bk", "undo", "remove", "hard", "easy", "post", "nopost", "analyze", "exit", ".", "computer", "pause",
        "resume", "depth", "fritz", "reset", "ponder", "partner",
    )
)  # fmt: skip
"""Commands of one word. ``exit`` and ``.`` belong to analyze mode, ``depth`` is GNU Chess 4's (its number is the next
line), the three before ``partner`` are ChessBase's."""

_NUMBER_WORDS: Final = frozenset(("protover", "st", "sd", "nps", "time", "otim", "ping", "memory", "cores"))
_TEXT_WORDS: Final = frozenset(("variant", "setboard", "name", "ics", "ptell", "partner", "egtpath"))
_INTEGER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_LEVEL: Final = re.compile(
    r"([0-9]{1,9}) ([0-9]{1,9})(?::([0-9]{1,2}))?(\S*)(?: ([0-9]{1,9})(?:\.([0-9]{1,3})[0-9]*)?)?", re.ASCII
)
_RESULT: Final = re.compile(r"(1-0|0-1|1/2-1/2|\*)(?: \{(.*)\})?")
_HOLDING: Final = re.compile(r"\[([A-Za-z]*)\] \[([A-Za-z]*)\](?: ([WBwb])([A-Za-z]))?", re.ASCII)


class Plain(NamedTuple):
    word: str


class Number(NamedTuple):
    """``protover 2``, ``st 30`` (seconds), ``sd 6``, ``nps 10000``, ``memory 64`` (megabytes), ``cores 2`` …

    ``time 6000`` and ``otim`` are hundredths of a second, and may be negative; without a word it is the line behind
    ``depth``.
    """

    word: str
    value: int


class Texted(NamedTuple):
    """``variant NAME``, ``setboard FEN``, ``name X``, ``ics HOST`` …"""

    word: str
    text: str


class UserMove(NamedTuple):
    """A move sent to the engine; ``named``: with ``usermove`` before it."""

    move: MoveText
    named: bool


class LevelCommand(NamedTuple):
    """``level MPS BASE INC``: 0 ``moves`` means the whole game."""

    moves: int
    base_s: int
    increment_ms: int | None  # None: missing (GNU Chess 4's ``level 1 TIME``)
    more: str = ""  # behind the base time (``25+5``)


class Rating(NamedTuple):
    """``rating 2600 1500``: the engine's own comes first; 0: not rated."""

    own: int
    other: int


class Result(NamedTuple):
    """``result 1-0 {White mates}``; None: no comment."""

    result: str
    comment: str | None


class Holding(NamedTuple):
    """``holding [PPPRQ] [R] BR``; ``colour`` (``W`` or ``B``) has just received ``piece``; None: missing."""

    white: str
    black: str
    colour: str | None = None
    piece: str | None = None


class FeatureAnswer(NamedTuple):
    """``accepted san``, ``rejected option nonsense``."""

    accepted: bool
    name: str
    value: str | None = None


class OptionSet(NamedTuple):
    """``option NAME=VALUE``; None: buttons have no value."""

    name: str
    value: str | None


class Unknown(NamedTuple):
    """A line that the protocol does not define, or of which nothing is read (``exclude``, ``setscore``, ``lift``)."""

    text: str


Command = (
    Plain | Number | Texted | UserMove | LevelCommand | Rating | Result | Holding | FeatureAnswer | OptionSet | Unknown
)


def parse_command(text: str) -> Command:
    """Outside of ``edit`` mode; never raises."""
    text = text.rstrip()
    word, _, rest = text.partition(" ")
    if not rest and word in PLAIN_WORDS:
        return Plain(word)
    reader = _READERS.get(word)
    command = reader(word, rest) if reader is not None else None
    if command is not None:
        return command
    move = parse_move(text)
    if move is not None:
        return UserMove(move, False)
    return Number("", int(text)) if _INTEGER.fullmatch(text) else Unknown(text)


def _level(_: str, rest: str) -> Command | None:
    match = _LEVEL.fullmatch(rest)
    if match is None:
        return None
    moves, minutes, seconds, more, increment, fraction = match.groups()
    increment_ms = None if increment is None else 1000 * int(increment) + int((fraction or "").ljust(3, "0"))
    return LevelCommand(int(moves), 60 * int(minutes) + int(seconds or 0), increment_ms, more)


def _rating(_: str, rest: str) -> Command | None:
    numbers = rest.split(" ")
    return (
        Rating(int(numbers[0]), int(numbers[1]))
        if len(numbers) == 2 and all(map(_INTEGER.fullmatch, numbers))
        else None
    )


def _result(_: str, rest: str) -> Command | None:
    match = _RESULT.fullmatch(rest)
    return None if match is None else Result(match[1], match[2])


def _holding(_: str, rest: str) -> Command | None:
    match = _HOLDING.fullmatch(rest)
    if match is None:
        return None
    colour = match[3]
    return Holding(match[1], match[2], colour and colour.upper(), match[4])


def _feature_answer(word: str, rest: str) -> Command | None:
    name, _, value = rest.partition(" ")
    return FeatureAnswer(word == "accepted", name, value or None) if name else None


def _option(_: str, rest: str) -> Command | None:
    name, equals, value = rest.partition("=")
    return OptionSet(name, value if equals else None) if name else None


_READERS: Final[dict[str, Callable[[str, str], Command | None]]] = {
    **dict.fromkeys(_NUMBER_WORDS, lambda word, rest: Number(word, int(rest)) if _INTEGER.fullmatch(rest) else None),
    **dict.fromkeys(_TEXT_WORDS, lambda word, rest: Texted(word, rest) if rest.strip() else None),
    "usermove": lambda _, rest: UserMove(any_move(rest), True) if rest.strip() else None,
    "level": _level,
    "rating": _rating,
    "result": _result,
    "holding": _holding,
    "accepted": _feature_answer,
    "rejected": _feature_answer,
    "option": _option,
}


def format_command(command: Command) -> str:
    """The line that ``parse_command`` reads, without its line end."""
    match command:
        case Plain(word):
            return word
        case Number(word, value):
            return f"{word} {value}".lstrip()
        case Texted(word, text):
            return f"{word} {text}"
        case UserMove(move, named):
            return f"usermove {move.text}" if named else move.text
        case LevelCommand():
            return _format_level(command)
        case Rating(own, other):
            return f"rating {own} {other}"
        case Result(result, comment):
            return f"result {result}" if comment is None else f"result {result} {{{comment}}}"
        case Holding(white, black, colour, piece):
            return f"holding [{white}] [{black}]" + (f" {colour}{piece}" if colour else "")
        case FeatureAnswer(accepted, name, value):
            return " ".join(("accepted" if accepted else "rejected", name, *([value] if value else [])))
        case OptionSet(name, value):
            return f"option {name}" if value is None else f"option {name}={value}"
        case Unknown(text):
            return text


def _format_level(level: LevelCommand) -> str:
    minutes, seconds = divmod(level.base_s, 60)
    base = f"{minutes}:{seconds:02}" if seconds else str(minutes)
    text = f"level {level.moves} {base}{level.more}"
    if level.increment_ms is None:
        return text
    whole, thousandths = divmod(level.increment_ms, 1000)
    return f"{text} {whole}.{thousandths:03}".rstrip("0") if thousandths else f"{text} {whole}"
