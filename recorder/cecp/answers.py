"""Lines from the engine to the interface: ``parse_answer`` and ``format_answer``.

Source: sections 9, 10, 12 and 13 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from recorder.cecp.commands import Unknown
from recorder.cecp.features import Feature, format_features, parse_features
from recorder.cecp.moves import MoveText, any_move, format_move, parse_move
from recorder.cecp.thinking import (
    Status,
    ThinkingLine,
    format_status,
    format_thinking,
    parse_status,
    parse_thinking,
)

_TELLS: Final = frozenset(
    ("tellopponent", "tellothers", "tellall", "telluser", "tellusererror", "tellics", "tellicsnoalias")
)
_PASSED: Final = ("kibitz", "whisper", "tell", "draw")
_OLD_CLAIMS: Final = (
    "White resigns", "Black resigns", "White", "Black", "Draw", "computer mates", "opponent mates", "computer resigns",
    "game is a draw", "checkmate",
)  # fmt: skip
_FATAL: Final = (
    "unknown host", "No remote directory", "not found", "No such file", "can't alloc", "Permission denied",
)  # fmt: skip
_NON_COMPLIANT: Final = "### NON-COMPLIANT! ### "
_CLAIM: Final = re.compile(r"(1-0|0-1|1/2-1/2|\*)(?: \{(.*)\}?)?")
_ILLEGAL: Final = re.compile(r"[Ii]llegal move(?: ?\(([^()]*)\))?(?::? ?(\S+))?")
_ERROR: Final = re.compile(r"Error \(([^()]*)\)(?:: ?(.*))?")
_OLD_MOVE: Final = re.compile(r"([0-9]+\.?) +\.\.\. +(\S+)", re.ASCII)
_SETUP: Final = re.compile(r"(?:\(([^()\s]*)\) )?(?:([0-9]+x[0-9]+\+[0-9]+)_(\S+) )?(\S.*)", re.ASCII)
_PIECE: Final = re.compile(r"(\+?[A-Za-z]&?) (\S+)")
_OFFER: Final = re.compile(r"\boffer\b.*\bdraw\b|\bdraw\b.*\boffer\b", re.DOTALL)


class Features(NamedTuple):
    """``feature ping=1 myname="Miracle Chess 0.9"``."""

    settings: tuple[Feature, ...]


class Moved(NamedTuple):
    """``move e2e4``; with ``number`` the old form ``1. ... e2e4``."""

    move: MoveText
    number: str | None = None


class RefusedMove(NamedTuple):
    """``Illegal move (in check): Nf3``."""

    move: str | None
    reason: str | None


class ErrorAnswer(NamedTuple):
    """``Error (unknown command): analyze``."""

    kind: str
    command: str | None


class Claim(NamedTuple):
    """``1-0 {White mates}``: the engine claims that the game is over."""

    result: str
    comment: str | None


class OldClaim(NamedTuple):
    """A claim of old engines: one of the document's phrases, and the rest of the line."""

    phrase: str
    more: str


class Signal(NamedTuple):
    """``resign``, ``offer draw``; ``++`` and ``--``: the search is failing high or low."""

    text: str


class TellCommand(NamedTuple):
    """``tellopponent TEXT``, ``tellics TEXT`` and their like."""

    word: str
    text: str


class AskUser(NamedTuple):
    """``askuser REPTAG MESSAGE``."""

    tag: str
    message: str


class Pong(NamedTuple):
    """``pong 3``."""

    number: int


class Hint(NamedTuple):
    """``Hint: e7e5``."""

    move: str


class Marked(NamedTuple):
    """``highlight COLORFEN``, ``choice PIECES``, ``click SQUARE``: marks and clicks on the interface's board."""

    word: str
    text: str


class Setup(NamedTuple):
    """``setup (PIECETOCHAR) WxH+S_PARENT FEN``; None: missing."""

    pieces: str | None
    size: str | None
    parent: str | None
    fen: str


class PieceMoves(NamedTuple):
    """``piece P& fmWfceF``: how a piece moves, in Betza's notation."""

    piece: str
    moves: str


class Comment(NamedTuple):
    """``# text``: only for the debug file."""

    text: str


class Indented(NamedTuple):
    """A line that begins with a blank or tab: more of the last thinking line's pv, or of the answer to ``bk``."""

    text: str

    @property
    def continues_pv(self) -> bool:
        """Whether it may continue a pv: at least four blanks."""
        return self.text.startswith("    ")


class Pass(NamedTuple):
    """``kibitz …``, ``whisper …``, ``tell …``, ``draw …``: old Crafty's words for the server."""

    text: str


class Fatal(NamedTuple):
    """The error of ``rsh`` or a shell when the engine cannot be started."""

    text: str


Answer = (
    ThinkingLine
    | Moved
    | Features
    | Status
    | RefusedMove
    | ErrorAnswer
    | Claim
    | OldClaim
    | Signal
    | TellCommand
    | AskUser
    | Pong
    | Hint
    | Marked
    | Setup
    | PieceMoves
    | Comment
    | Indented
    | Pass
    | Fatal
    | Unknown
)


def parse_answer(text: str) -> Answer:
    """Read one line that the engine sends; never raises.

    The mark that xboard writes in its debug file in front of lines outside the protocol is skipped.
    """
    text = text.rstrip().removeprefix(_NON_COMPLIANT)
    thinking = parse_thinking(text)
    if thinking is not None:
        return thinking
    if text[:1] in ("#", " ", "\t"):
        return Comment(text[1:]) if text[0] == "#" else Indented(text)
    word, _, rest = text.partition(" ")
    reader = _READERS.get(word)
    found = reader(text, rest) if reader is not None else None
    return found if found is not None else _idiom(text)


def _idiom(text: str) -> Answer:
    """A line that is recognised by its beginning or its words; an earlier form hides a later one."""
    if match := _OLD_MOVE.fullmatch(text):
        move = parse_move(match[2])
        if move is not None:
            return Moved(move, match[1])
    if text[:12].lower() == "illegal move" and (match := _ILLEGAL.fullmatch(text)):
        return RefusedMove(match[2], match[1])
    if _OFFER.search(text):
        return Signal("offer draw")
    for phrase in _OLD_CLAIMS:
        if text.startswith(phrase):
            return OldClaim(phrase, text[len(phrase) :])
    if text.startswith(_PASSED):
        return Pass(text)
    if text.rstrip(".").endswith(_FATAL):
        return Fatal(text)
    return Unknown(text)


def _features(_: str, rest: str) -> Answer | None:
    found = parse_features(rest)
    return None if found is None else Features(found)


def _moved(_: str, rest: str) -> Answer | None:
    words = rest.split(maxsplit=1)
    return Moved(any_move(words[0])) if words else None


def _error(text: str, _: str) -> Answer | None:
    match = _ERROR.fullmatch(text)
    return None if match is None else ErrorAnswer(match[1], match[2])


def _claim(text: str, _: str) -> Answer | None:
    match = _CLAIM.fullmatch(text)
    return None if match is None else Claim(match[1], match[2] and match[2].removesuffix("}"))


def _signal(text: str, rest: str) -> Answer | None:
    return Signal(text) if not rest or text == "offer draw" else None


def _ask(_: str, rest: str) -> Answer | None:
    tag, _, message = rest.partition(" ")
    return AskUser(tag, message) if tag and message else None


def _marked(text: str, rest: str) -> Answer | None:
    return Marked(text.partition(" ")[0], rest) if rest else None


def _setup(_: str, rest: str) -> Answer | None:
    match = _SETUP.fullmatch(rest)
    return None if match is None else Setup(*match.groups())


def _piece(_: str, rest: str) -> Answer | None:
    match = _PIECE.fullmatch(rest)
    return None if match is None else PieceMoves(match[1], match[2])


_READERS: Final[dict[str, Callable[[str, str], Answer | None]]] = {
    "move": _moved,
    "feature": _features,
    "stat01:": lambda text, _: parse_status(text),
    "Error": _error,
    **dict.fromkeys(("1-0", "0-1", "1/2-1/2", "*"), _claim),
    **dict.fromkeys(("resign", "offer", "++", "--"), _signal),
    **dict.fromkeys(_TELLS, lambda text, rest: TellCommand(text.partition(" ")[0], rest)),
    "askuser": _ask,
    "pong": lambda _, rest: Pong(int(rest)) if rest.isascii() and rest.isdigit() and len(rest) < 19 else None,
    "Hint:": lambda _, rest: Hint(rest) if rest.strip() else None,
    **dict.fromkeys(("highlight", "choice", "click"), _marked),
    "setup": _setup,
    "piece": _piece,
}


def format_answer(answer: Answer) -> str:
    """Write the line that ``parse_answer`` reads, without its line end; old forms of a line in the current one."""
    match answer:
        case ThinkingLine():
            return format_thinking(answer)
        case Moved(move, number):
            return f"move {format_move(move)}" if number is None else f"{number} ... {format_move(move)}"
        case RefusedMove(move_text, reason):
            words = "Illegal move" if reason is None else f"Illegal move ({reason})"
            return words if move_text is None else f"{words}: {move_text}"
        case Claim(result, comment):
            return result if comment is None else f"{result} {{{comment}}}"
        case OldClaim(phrase, more):
            return phrase + more
        case Hint(hint):
            return f"Hint: {hint}"
        case Comment(text):
            return f"#{text}"
        case Indented(text) | Pass(text) | Fatal(text) | Unknown(text) | Signal(text):
            return text
        case _:
            return _format_dialogue(answer)


def _format_dialogue(
    answer: Features | Status | ErrorAnswer | TellCommand | Marked | AskUser | Pong | Setup | PieceMoves,
) -> str:
    """Write a line about the engine and its interface, not about the game."""
    match answer:
        case Features(settings):
            return f"feature {format_features(settings)}"
        case Status():
            return format_status(answer)
        case ErrorAnswer(kind, command):
            return f"Error ({kind})" if command is None else f"Error ({kind}): {command}"
        case TellCommand(word, text) | Marked(word, text):
            return f"{word} {text}"
        case AskUser(tag, message):
            return f"askuser {tag} {message}"
        case Pong(number):
            return f"pong {number}"
        case Setup(pieces, size, parent, fen):
            front = [] if pieces is None else [f"({pieces})"]
            front += [] if size is None else [f"{size}_{parent}"]
            return " ".join(["setup", *front, fen])
        case PieceMoves(piece, moves):
            return f"piece {piece} {moves}"
