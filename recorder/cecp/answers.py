"""Lines from the engine to the interface: ``parse_answer`` and ``format_answer``.

Source: sections 9, 10, 12 and 13 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from recorder.cecp.commands import Unknown
from recorder.cecp.features import Feature, format_features, parse_features
from recorder.cecp.moves import MoveText, any_move, parse_move
from recorder.cecp.thinking import Status, ThinkingLine, parse_status, parse_thinking

_TELLS: Final = frozenset(
    ("tellopponent", "tellothers", "tellall", "telluser", "tellusererror", "tellics", "tellicsnoalias")
)
_UNUSED: Final = ("askuser", "highlight", "choice", "click", "setup", "piece")  # for an interface only
_OLD_CLAIMS: Final = (
    "White resigns", "Black resigns", "White", "Black", "Draw", "computer mates", "opponent mates", "computer resigns",
    "game is a draw", "checkmate",
)  # fmt: skip
_NON_COMPLIANT: Final = "### NON-COMPLIANT! ### "
_CLAIM: Final = re.compile(r"(1-0|0-1|1/2-1/2|\*)(?: \{(.*)\}?)?")
_ILLEGAL: Final = re.compile(r"[Ii]llegal move(?: ?\(([^()]*)\))?(?::? ?(\S+))?")
_ERROR: Final = re.compile(r"Error \(([^()]*)\)(?:: ?(.*))?")
_OLD_MOVE: Final = re.compile(r"([0-9]+\.?) +\.\.\. +(\S+)", re.ASCII)
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


class Pong(NamedTuple):
    """``pong 3``."""

    number: int


class Hint(NamedTuple):
    """``Hint: e7e5``."""

    move: str


class Comment(NamedTuple):
    """``# text``: only for the debug file."""

    text: str


class Indented(NamedTuple):
    """A line that begins with a blank or tab: more of the last thinking line's pv, or of the answer to ``bk``."""

    text: str

    @property
    def continues_pv(self) -> bool:
        """At least four blanks."""
        return self.text.startswith("    ")


Spoken = (
    Moved
    | Features
    | RefusedMove
    | ErrorAnswer
    | Claim
    | OldClaim
    | Signal
    | TellCommand
    | Pong
    | Hint
    | Indented
    | Unknown
)
"""What an engine of ours may say."""

Answer = Spoken | ThinkingLine | Status | Comment


def parse_answer(text: str) -> Answer:
    """Never raises. xboard's mark of lines outside the protocol in its debug file is skipped."""
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
    return Unknown(text)


def _features(_: str, rest: str) -> Answer | None:
    features = parse_features(rest)
    return None if features is None else Features(features)


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


_READERS: Final[dict[str, Callable[[str, str], Answer | None]]] = {
    "move": _moved,
    "feature": _features,
    "stat01:": lambda text, _: parse_status(text),
    "Error": _error,
    **dict.fromkeys(("1-0", "0-1", "1/2-1/2", "*"), _claim),
    **dict.fromkeys(("resign", "offer", "++", "--"), _signal),
    **dict.fromkeys(_TELLS, lambda text, rest: TellCommand(text.partition(" ")[0], rest)),
    "pong": lambda _, rest: Pong(int(rest)) if rest.isascii() and rest.isdigit() and len(rest) < 19 else None,
    "Hint:": lambda _, rest: Hint(rest) if rest.strip() else None,
    **dict.fromkeys(_UNUSED, lambda text, _: Unknown(text)),
}


def format_answer(answer: Spoken) -> str:
    """The line that ``parse_answer`` reads, without its line end; old forms of a line in the current one."""
    match answer:
        case Moved(move, number):
            return f"move {move.text}" if number is None else f"{number} ... {move.text}"
        case RefusedMove(refused, reason):
            words = "Illegal move" if reason is None else f"Illegal move ({reason})"
            return words if refused is None else f"{words}: {refused}"
        case Claim(result, comment):
            return result if comment is None else f"{result} {{{comment}}}"
        case OldClaim(phrase, more):
            return phrase + more
        case Hint(hint):
            return f"Hint: {hint}"
        case Features(settings):
            return f"feature {format_features(settings)}"
        case ErrorAnswer(kind, command):
            return f"Error ({kind})" if command is None else f"Error ({kind}): {command}"
        case TellCommand(word, text):
            return f"{word} {text}"
        case Pong(pong):
            return f"pong {pong}"
        case Indented(text) | Unknown(text) | Signal(text):
            return text
