"""Lines from the engine to the interface: ``parse_answer`` and ``format_answer``.

Source: sections 9, 10, 12 and 13 of the protocol document.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, NamedTuple

from recorder.cecp.commands import MoveText, Unknown, any_move, parse_move

DEFAULTS: Final[dict[str, int | None]] = {
    "ping": 0, "setboard": 0, "playother": 0, "san": 0, "usermove": 0, "time": 1, "draw": 1, "sigint": 1,
    "sigterm": 1, "reuse": 1, "analyze": 1, "myname": None, "variants": None, "colors": 1, "ics": 0, "name": None,
    "pause": 0, "nps": None, "debug": 0, "memory": 0, "smp": 0, "egt": None, "option": None, "exclude": 0,
    "setscore": 0, "highlight": 0, "done": None,
}  # fmt: skip
"""The features that the document defines, with their default values (None: no fixed value)."""

_FEATURE: Final = re.compile(r'\s*([A-Za-z_][A-Za-z0-9_]*)=(?:"([^"]*)"|([^\s"]+))')
_NUMBER: Final = re.compile(r"-?[0-9]{1,18}", re.ASCII)
_OPTION: Final = re.compile(r"(.*?) -(button|save|reset|check|string|spin|combo|slider|file|path)(?: (.*))?", re.DOTALL)
_BARE: Final = frozenset(("button", "save", "reset"))
_RANGES: Final = frozenset(("spin", "slider"))


class Feature(NamedTuple):
    """Text is written in double quotes, numbers without."""

    name: str
    value: str | int


def parse_features(text: str) -> tuple[Feature, ...] | None:
    """None: it is not a list of settings. A value cannot contain ``"``."""
    features: list[Feature] = []
    begin = 0
    text = text.rstrip()
    while begin < len(text):
        match = _FEATURE.match(text, begin)
        if match is None:
            return None
        name, quoted, bare = match.groups()
        features.append(Feature(name, quoted if bare is None else int(bare) if _NUMBER.fullmatch(bare) else bare))
        begin = match.end()
    return tuple(features) or None


def format_features(features: tuple[Feature, ...]) -> str:
    return " ".join(f'{name}="{value}"' if isinstance(value, str) else f"{name}={value}" for name, value in features)


class EngineOption(NamedTuple):
    """Defined by ``feature option="…"``."""

    name: str
    kind: str  # button save reset check string spin combo slider file path
    value: str | int | None = None  # the current one, of a combo the marked choice
    low: int | None = None
    high: int | None = None
    choices: tuple[str, ...] = ()


def parse_option(text: str) -> EngineOption | None:
    """``Hash -spin 64 1 1024``; None: it is not one of the document's ten forms."""
    match = _OPTION.fullmatch(text)
    if match is None:
        return None
    name, kind, rest = match[1], match[2], match[3] or ""
    if kind in _BARE:
        return None if rest.strip() else EngineOption(name, kind)
    if kind in _RANGES:
        numbers = rest.split()
        if len(numbers) != 3 or not all(map(_NUMBER.fullmatch, numbers)):
            return None
        value, low, high = map(int, numbers)
        return EngineOption(name, kind, value, low, high)
    if kind == "check":
        return EngineOption(name, kind, int(rest)) if _NUMBER.fullmatch(rest) else None
    if kind == "combo":
        choices = tuple(choice.strip() for choice in rest.split("///"))
        marked = next((choice[1:] for choice in choices if choice.startswith("*")), None)
        return EngineOption(name, kind, marked, choices=tuple(choice.removeprefix("*") for choice in choices))
    return EngineOption(name, kind, rest)


_LINE: Final = re.compile(
    r"\s*([0-9]{1,9})(\S?)[ \t]+([-+]?[0-9]{1,18})[ \t]+([0-9]{1,15})[ \t]+([0-9]{1,20})(.*)", re.ASCII
)
_NUMBERS: Final = re.compile(r"(?:\s*[0-9]+(?=\s|$))*\s*", re.ASCII)
_STATUS: Final = re.compile(r"stat01: [0-9]{1,15} ([0-9]{1,20}) [0-9]{1,9} [0-9]{1,9} [0-9]{1,9}(?: \S.*)?", re.ASCII)
_MATE: Final = 100_000
_MOST_MOVES: Final = 1_000  # to a mate
_MILLION: Final = 1_000_000  # Sjeng
_MILLION_PLIES: Final = 1_000  # to its mates: it has no other score so near
_FARTHEST_PLIES: Final = 400  # beyond, such a score is the edge of a search window (Sjeng: -999500), no distance
_TEN_THOUSAND: Final = 10_000  # GNU Chess
_TEN_THOUSAND_PLIES: Final = 100
_MOST_EXTRAS: Final = 16


class ThinkingLine(NamedTuple):
    """One line of thinking output as printed; ``mark`` is what GNU Chess prints behind the depth (``.+&``).

    ``score`` is in hundredths of a pawn as the engine sees it, or ±(100000 + moves to mate), or a mate as Sjeng or GNU
    Chess count it (see ``mate``). ``time`` is in hundredths of a second, but in seconds behind a mark. ``extras`` are
    the numbers between nodes and a tab: selective depth, speed, reserved numbers, tablebase hits.
    """

    depth: int
    mark: str
    score: int
    time: int
    nodes: int
    extras: tuple[int, ...]
    pv: str

    @property
    def score_cp(self) -> int | None:
        """None: it is a mate."""
        return self.score if not _is_standard_mate(self.score) and _plies_to_mate(self.score) is None else None

    @property
    def mate(self) -> int | None:
        """Negative if the engine is mated; None: not a mate score, or the distance is uncertain."""
        if _is_standard_mate(self.score):
            return self.score - _MATE if self.score > 0 else self.score + _MATE
        # Source: section 10. Two engines count plies instead, as their scores of known mates show: Sjeng from a million
        # (999998 before the mating move, -999997 a move before it is mated), GNU Chess from ten thousand (9999, -9998).
        # The mating side needs an odd number of plies and the mated side an even one, else the score is not a distance.
        plies = _plies_to_mate(self.score)
        if plies is None or not 1 <= plies <= _FARTHEST_PLIES or (plies % 2 == 1) != (self.score > 0):
            return None
        moves = (plies + 1) // 2
        return moves if self.score > 0 else -moves

    @property
    def time_ms(self) -> int:
        return self.time * (1000 if self.mark else 10)

    @property
    def selective_depth(self) -> int | None:
        return self.extras[0] if len(self.extras) > 1 else None

    @property
    def nodes_per_s(self) -> int | None:
        return self.extras[1] if len(self.extras) > 2 else None

    @property
    def tablebase_hits(self) -> int | None:
        return self.extras[-1] if self.extras else None


def parse_thinking(text: str) -> ThinkingLine | None:
    """Read a line of thinking output; None: another line."""
    match = _LINE.fullmatch(text)
    if match is None:
        return None
    depth, mark, score, time, nodes, rest = match.groups()
    if rest and rest[0] not in " \t":
        return None
    # Source: section 10. Numbers are extras only before the last tab in front of the first word that is no number; the
    # first is the selective depth, the second the speed, the last the tablebase hits.
    extras: tuple[int, ...] = ()
    numbers = _NUMBERS.match(rest)
    head = numbers[0] if numbers is not None else ""
    tab = head.rfind("\t")
    if tab >= 0:
        words = head[:tab].split()
        if len(words) <= _MOST_EXTRAS and all(len(number) <= 20 for number in words):
            extras, rest = tuple(map(int, words)), rest[tab + 1 :]
    return ThinkingLine(int(depth), mark, int(score), int(time), int(nodes), extras, rest.strip())


def _is_standard_mate(score: int) -> bool:
    return _MATE < abs(score) <= _MATE + _MOST_MOVES


def _plies_to_mate(score: int) -> int | None:
    """Plies to a mate as Sjeng and GNU Chess count them; None: another score."""
    if _MILLION - _MILLION_PLIES <= abs(score) <= _MILLION:
        return _MILLION - 1 - abs(score)
    if _TEN_THOUSAND - _TEN_THOUSAND_PLIES <= abs(score) <= _TEN_THOUSAND:
        return _TEN_THOUSAND - abs(score)
    return None


class Status(NamedTuple):
    """``stat01``, the answer to ``.``: how many nodes the search has visited."""

    nodes: int


def parse_status(text: str) -> Status | None:
    """``stat01: time nodes ply mvleft mvtot mvname``."""
    match = _STATUS.fullmatch(text.rstrip())
    return None if match is None else Status(int(match[1]))


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
    answer = reader(text, rest) if reader is not None else None
    return answer if answer is not None else _idiom(text)


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
