"""PGN's characters: tag pairs, movetext cut into tokens, and what comments contain. Lenient: whatever programs write.

Source: the PGN standard of 1994 (sections 6 to 8 and 18), and files of programs that do not keep to it.

Sources for comments: ``[%clk]`` and ``[%emt]`` of the PGN additions of 2001 (h:mm:ss); ``[%emt 2.063]`` in plain
seconds of the FICS games database and Raptor; ``{1.015}``, elapsed seconds without a name; ``[%clkms]`` of BabasChess;
``{0:04:57}`` of ICC's clients; ``[%eval]`` of lichess (pawns or ``#moves``, from White's side, a depth behind a comma)
and of ChessBase (``33,20``: hundredths of a pawn); ``[%flag]`` and ``[%lag]`` are our own. Those of programs that let
engines play are in ``engine_comments``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from enum import IntEnum
from functools import lru_cache
from typing import Final, NamedTuple

from recorder.saved.engine_comments import PrintedEvaluation, is_like_engine_comment, read_engine_comment

_DASHES: Final = ("-", ":", "\xe2\x80\x93", " - ")  # a hyphen, a colon, a dash in UTF-8
_HALVES: Final = ("1/2", "\xc2\xbd", "0.5", "0,5")
RESULTS: Final = {
    **{f"1{dash}0": "1-0" for dash in _DASHES},
    **{f"0{dash}1": "0-1" for dash in _DASHES},
    **{f"{half}{dash}{half}": "1/2-1/2" for half in _HALVES for dash in _DASHES},
    "1/2": "1/2-1/2",
    "\xc2\xbd": "1/2-1/2",
    "*": "*",
}
"""Read as latin-1; the longer of two stands first."""
_RESULT: Final = "|".join(map(re.escape, RESULTS))

_TAG: Final = re.compile(r'\[\s*([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"((?:[^"\\]|\\.)*)"\s*\]\s*')
# Unescaped quotes inside: up to the last one of the line.
_LOOSE_TAG: Final = re.compile(r'\[\s*([A-Za-z0-9][A-Za-z0-9_+#=:-]*)\s+"(.*)"\s*\]\s*')
_ESCAPED: Final = re.compile(r'\\(["\\])')
_BEGINS: Final = re.compile(
    r"\s*(?:[0-9]{1,3}\s*\.+\s*(?:[a-hKQRBNOP0-9@Z-][a-h1-8xO0@-]|\{|\()|(?:[a-hKQRBN][a-h]?[1-8]?x?[a-h][1-8]\s)|"
    rf"\{{[^}}]*\}}\s*(?:{_RESULT})\s*$|\{{\[%|(?:{_RESULT})\s*$)"
)
_ENDS: Final = re.compile(rf"(?:^|[\s}})])(?:{_RESULT})$")
_LAST_OF_RESULTS: Final = frozenset(word[-1] for word in RESULTS)
_LONGEST_RESULT: Final = max(map(len, RESULTS))
_OPENERS: Final = re.compile(r"[{;]")
GLYPHS: Final = {
    "!": "$1", "?": "$2", "!!": "$3", "??": "$4", "!?": "$5", "?!": "$6", "=": "$10", "+=": "$14", "=+": "$15",
    "+/=": "$14", "=/+": "$15", "+/-": "$16", "-/+": "$17", "+-": "$18", "-+": "$19", "N": "$146", "TN": "$146",
    "□": "$7", "∞": "$13", "⩲": "$14", "⩱": "$15", "±": "$16", "∓": "$17", "⨀": "$22", "→": "$36", "↑": "$40",
    "⇆": "$132", "⊕": "$138", "∆": "$140", "Δ": "$140", "⌓": "$142",
}  # fmt: skip


class TokenKind(IntEnum):
    COMMENT = 1  # text: without its braces or semicolon
    NUMBER = 2  # a move number that stands alone, or its periods
    RESULT = 3  # text: as the model has it
    OPEN = 4
    CLOSE = 5
    NAG = 6  # text: ``$5``, whichever way it was written
    OTHER = 7
    UNCLOSED = 8  # a comment without its end
    ESCAPE = 9  # a line that begins with ``%``


#: A time without its parts of a second, which ``read_time`` reads, and these parts.
_TIME: Final = r"((?:(?:[0-9]{1,4}:)?[0-9]{1,3}:[0-9]{1,2}|[0-9]{1,7}))(?:\.([0-9]{1,9}))?"
_TOKEN: Final = re.compile(
    rf"""
      (?:[0-9]+\.+\ ?)? ( (?:[KQRBN][a-h]?|[a-h]?)[1-8]?x?[a-h]?(?<![a-h][1-8])[!?]+[a-h1-8x][^\s{{}}();$]* # N?c6
        | [a-zA-Z@][^\s{{}}();$!?]*(?:(?<=[18=])\([QRBNKqrbnk]\))?
        | 0-0(?:-0)?(?![0-9-])[+\#]* | -- | 0{{2,4}}(?![^\s{{}}();!?+\#])[+\#]* )  # 1 a move or word, its number
      (?: \s*\{{\s* (?:\[%clk\s+{_TIME}\]\s*)? (?:\[%emt\s+{_TIME}\]\s*)? \}} )?     # 2 to 5 its times, if nothing else
    | \{{([^}}]*)\}} | ;([^\n]*)                                         # 6, 7 comments
    | ((?:{_RESULT})(?=[\s{{}}();]|$))                                   # 8 result
    | (0[^\s0-9a-zA-Z.{{}}();$!?/-]{{1,3}}[0Oo][^\s{{}}();$!?]*
        | (?<![^\s.{{}}()])[!?]+[^\s{{}}();$!?][^\s{{}}();$]*)            # 9 castling with other dashes, ?x?
    | ([0-9]+\s*\.*|\.+)                                         # 10 number
    | (\() | (\))                                                       # 11, 12
    | (\$[0-9]+|[!?]+|[+=-](?:[+=/-]|\xe2\x88\x92)*)                    # 13 glyphs
    | (^%[^\n]*)                                                        # 14 escape line
    | \{{([^}}]*)\Z                                                     # 15 unclosed
    | (\}}|\$|[^\s{{}}();$!?]+)                                          # 16 else: as a whole, no move is in it
    """,
    re.VERBOSE | re.MULTILINE,
)
_KIND_OF_GROUP: Final = (
    *[None] * 6, TokenKind.COMMENT, TokenKind.COMMENT, TokenKind.RESULT, TokenKind.OTHER, TokenKind.NUMBER,
    TokenKind.OPEN, TokenKind.CLOSE, TokenKind.NAG, TokenKind.ESCAPE, TokenKind.UNCLOSED, TokenKind.OTHER,
)  # fmt: skip


class Token(NamedTuple):
    kind: TokenKind
    text: str
    at: int
    end: int


def decoded(text: str) -> str:
    """Unchanged if its bytes are not UTF-8."""
    if not text.isascii():
        with suppress(UnicodeError):  # then it is latin-1
            return text.encode("latin-1").decode("utf-8")
    return text


def read_tags(line: str) -> list[tuple[str, str]] | None:
    """None: the stripped line is no line of tag pairs."""
    if not line.startswith("["):
        return None
    tags: list[tuple[str, str]] = []
    begin = 0
    while begin < len(line):
        match = _TAG.match(line, begin)
        if match is None:
            break
        value = match[2]
        tags.append((match[1], decoded(_ESCAPED.sub(r"\1", value) if "\\" in value else value)))
        begin = match.end()
    else:
        return tags
    loose = _LOOSE_TAG.fullmatch(line)
    return None if loose is None else [(loose[1], decoded(_ESCAPED.sub(r"\1", loose[2])))]


def begins_moves(line: str) -> bool:
    """``1. e4``, ``{White resigns} 1-0`` or a lone result."""
    return _BEGINS.match(line) is not None


def ends_game(line: str) -> bool:
    return line[-1:] in _LAST_OF_RESULTS and _ENDS.search(line, max(len(line) - _LONGEST_RESULT - 1, 0)) is not None


def open_brace(line: str, inside: bool) -> bool:
    if ";" not in line:
        opened, closed = line.rfind("{"), line.rfind("}")
        return opened > closed or (inside and closed < 0)
    begin = 0
    while True:
        if inside:
            begin = line.find("}", begin) + 1
            if not begin:
                return True
        match = _OPENERS.search(line, begin)
        if match is None or match[0] == ";":
            return False
        begin, inside = match.end(), True


def matches(text: str, begin: int = 0) -> Iterator[re.Match[str]]:
    """A piece is a move, which has a group 1 (``move_of``), with the times in the comment behind it; or a token."""
    return _TOKEN.finditer(text, begin)


def move_of(match: re.Match[str]) -> tuple[str, int | None, int | None, bool]:
    """Word, the mover's clock and elapsed time in ms, and whether parts of a second were printed."""
    word, clock, clock_part, elapsed, elapsed_part = match.group(1, 2, 3, 4, 5)
    clock_ms = None if clock is None else _whole_ms(clock)
    if clock_part is not None and clock_ms is not None:
        clock_ms += _thousandths(clock_part)
    elapsed_ms = None if elapsed is None else _whole_ms(elapsed)
    if elapsed_part is not None and elapsed_ms is not None:
        elapsed_ms += _thousandths(elapsed_part)
    return word, clock_ms, elapsed_ms, clock_part is not None or elapsed_part is not None


def token_of(match: re.Match[str]) -> Token:
    group = match.lastindex or 0
    kind = _KIND_OF_GROUP[group]
    assert kind is not None
    word = match[group]
    if kind is TokenKind.RESULT:
        word = RESULTS[word]
    elif kind is TokenKind.NAG and word[0] != "$":
        glyph = GLYPHS.get(word)
        kind, word = (TokenKind.OTHER, word) if glyph is None else (kind, glyph)
    return Token(kind, word, match.start(group), match.end())


TIMES: Final = frozenset(("clk", "emt", "lag", "flag", "clkms"))
EVALUATIONS: Final = frozenset(("eval", "depth"))

_COMMAND: Final = re.compile(r"\[%([A-Za-z0-9_]++)\s++([^\]\[]*+)\]")
_HMS: Final = re.compile(r"(?:([0-9]{1,4}):)?([0-9]{1,3}):([0-9]{1,2})(?:[.,]([0-9]{1,9}))?", re.ASCII)
_SECONDS: Final = re.compile(r"(-?)([0-9]{1,7})(?:[.,]([0-9]{1,9}))?", re.ASCII)
_CLOCK: Final = re.compile(r"\s*([0-9]{1,3}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,3})?)\s*", re.ASCII)
_BARE: Final = re.compile(r"\s*([0-9]{1,6}\.([0-9]{1,3}))\s*", re.ASCII)
_EVALUATION: Final = re.compile(r"(?:#\s*([+-]?[0-9]{1,4})|([+-]?[0-9]{1,4}(?:\.[0-9]{1,3})?))(?:\s*,\s*([0-9]{1,3}))?")
_ENGINES_BEGIN: Final = frozenset("+-M(d0123456789")
_WHOLE: Final = re.compile(r"[0-9]{1,9}", re.ASCII)

THOUSANDTHS: Final = 3
TENTHS: Final = 1
NEVER: Final = 4


class Remark(NamedTuple):
    """A comment, taken apart.

    ``ms``: a time was printed with thousandths, or parts of them. ``commands`` are those that we do not know, as
    printed. ``words``: the rest, in single blanks. ``odd``: it begins as a comment of an engine, and is none.
    """

    clock_ms: int | None = None
    elapsed_ms: int | None = None
    lag_ms: int | None = None
    ms: bool = False
    evaluation: PrintedEvaluation | None = None
    commands: tuple[str, ...] = ()
    words: str = ""
    odd: bool = False

    @property
    def timed(self) -> bool:
        return self.clock_ms is not None or self.elapsed_ms is not None or self.lag_ms is not None


def _thousandths(digits: str | None) -> int:
    return int((digits + "00")[:3]) if digits else 0


def read_time(text: str) -> tuple[int, bool] | None:
    """Parse ``0:04:57.338``, ``4:57``, ``2.063`` or ``17``: milliseconds, and whether they have parts of a second."""
    if match := _HMS.fullmatch(text):
        hours, minutes, seconds, part = match.groups()
        return (int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)) * 1000 + _thousandths(part), part is not None
    if match := _SECONDS.fullmatch(text):
        sign, seconds, part = match.groups()
        ms = int(seconds) * 1000 + _thousandths(part)
        return -ms if sign else ms, part is not None
    return None


@lru_cache(maxsize=8192)
def _whole_ms(text: str) -> int:
    read = read_time(text)
    assert read is not None
    return read[0]


def printed_commands(text: str, names: frozenset[str]) -> list[str]:
    """As printed, in single blanks: ``[%clk 0:10:00]``."""
    found = (" ".join(decoded(match[0]).split()) for match in _COMMAND.finditer(text) if match[1] in names)
    return list(dict.fromkeys(found))


def _without_commands(text: str, decimals: int) -> Remark:
    match = _CLOCK.fullmatch(text)
    if match is not None and (read := read_time(match[1])) is not None:
        return Remark(clock_ms=read[0], ms=read[1])
    bare = _BARE.fullmatch(text)
    if bare is not None and len(bare[2]) >= decimals and (read := read_time(bare[1])) is not None:
        return Remark(elapsed_ms=read[0], ms=True)
    words = " ".join(decoded(text).split())
    if words[:1] not in _ENGINES_BEGIN:
        return Remark(words=words)
    comment = read_engine_comment(words)
    if comment is None:
        return Remark(words=words, odd=is_like_engine_comment(words))
    return Remark(comment.clock_ms, comment.elapsed_ms, ms=comment.ms, evaluation=comment.evaluation, words=words)


@lru_cache(maxsize=8192)  # a few thousand times make up most comments of an archive
def read_remark(text: str, decimals: int = THOUSANDTHS) -> Remark:
    """Split a comment into times, evaluations and words; one that is nothing but ``0:04:57`` is the clock.

    A number that is all of a comment (``1.015``) is the elapsed time in seconds if it has this many decimals. With
    fewer it may be an evaluation; the FICS games database cuts zeros, and writes no evaluations.
    """
    if "[%" not in text:
        return _without_commands(text, decimals)
    clock_ms = elapsed_ms = lag_ms = None
    ms = below_zero = False
    evaluation: PrintedEvaluation | None = None
    depth: int | None = None
    commands: list[str] = []
    names: set[str] = set()
    for match in {match[0]: match for match in _COMMAND.finditer(text)}.values():
        name, value = "" if match[1] in names else match[1], match[2].rstrip()
        names.add(name)
        read = read_time(value) if name in ("clk", "emt", "lag", "flag") else None
        if read is not None and name == "clk":
            if not below_zero:
                clock_ms = read[0]
                ms = ms or read[1]
        elif read is not None and name == "emt":
            elapsed_ms = read[0]
            ms = ms or read[1]
        elif read is not None and name == "lag":
            lag_ms = read[0]
        elif read is not None and name == "flag":
            clock_ms, below_zero = read[0], True
            ms = ms or read[1]
        elif name == "clkms" and _SECONDS.fullmatch(value) and "." not in value and "," not in value:
            clock_ms, ms = int(value), True
        elif name == "eval" and (scored := _EVALUATION.fullmatch(value)):
            mate, pawns, depth_text = scored.groups()
            # ChessBase writes hundredths of a pawn, without a point and with the depth behind a comma.
            unit = 1 if depth_text is not None and "." not in value else 100
            score_cp = None if pawns is None else round(float(pawns) * unit)
            evaluation = PrintedEvaluation(
                score_cp, None if mate is None else int(mate), None if depth_text is None else int(depth_text)
            )
        elif name == "depth" and _WHOLE.fullmatch(value):
            depth = int(value)
        else:
            commands.append(" ".join(decoded(match[0]).split()))
    if depth is not None:
        if evaluation is None:
            commands.append(f"[%depth {depth}]")
        else:
            evaluation = evaluation._replace(depth=depth)
    words = " ".join(decoded(_COMMAND.sub(" ", text)).split())
    return Remark(clock_ms, elapsed_ms, lag_ms, ms, evaluation, tuple(commands), words)
