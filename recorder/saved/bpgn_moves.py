"""BPGN's movetext: cut into tokens, and made into the lines of a match.

Source: files of the bughouse databases (``{118.585}``, ``{C:…}``, ``{R:…}``), of chess.com (``{[%clk 0:02:59.9]}``) and
bughouse.pro (``{[ts=12.300]}``, seconds since the match began); pychess.org, whose variations stand behind the move
that they replace or in front of it (``1A. e4 (1B. d4 1a. c5) 1B. e4``), and whose letters may be in one case
(``1A.e4 1A.e5``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Final, NamedTuple

from recorder.model import Anomaly, AnomalyKind
from recorder.saved.bpgn_boards import BpgnComment, BpgnFacts, BpgnLine, BpgnMove
from recorder.saved.pgn_text import GLYPHS, decoded, read_time

__all__ = ["BpgnMovetext", "BpgnToken", "read_tokens"]

_MOVE: Final = re.compile(
    r"(\d{1,4})\s?([ABab])(?:\.{1,3}\s*|\s+)(\$\d{1,3})?"
    r"([A-Za-z0@][^\s{}();\[\]!?$]*(?:(?<=[18])\([QRBNqrbn]\)[+#]?)?)([!?]{0,2})(?![^\s{}();\[\]$])"
)
_ODD_MOVE: Final = re.compile(r"(\d{1,4})([ABab])\.\s*()([^\s{}();\[\]]+)()")
_COMMENT: Final = re.compile(r"\{([^{}]*)\}")
_NOTE: Final = re.compile(r";([^\n]*)")
_GLYPH: Final = re.compile(r"(\$\d{1,3}|[!?]{1,2})(?![^\s{}();\[\]])")
_CLOCK: Final = re.compile(r"\s*(-?\d{1,6}(?:\.\d{1,3})?|(?:\d{1,2}:)?\d{1,3}:\d{2}(?:\.\d{1,3})?)\s*")
_COMMAND: Final = re.compile(r"\[%?([A-Za-z]++)[=\s]\s*+([^\[\]\s]*+)\s*+\]")
_MARKED: Final = re.compile(r"[A-Z]:")  # C: comment, A: annotation, R: request, L: lag
_RESULT: Final = re.compile(r"(1-0|0-1|1/2-1/2|\*)(?![^\s;])")
_PAREN: Final = re.compile(r"[()]")
_OTHER: Final = re.compile(r"\S+?(?=[{\[;\s]|\Z)|\S")
_DEEPEST: Final = 64  # deeper variations are kept as comments
_KINDS: Final = {"(": "open", ")": "close"}


class BpgnToken(NamedTuple):
    """A piece of movetext.

    ``kind`` is move, comment, note (behind a semicolon), glyph, result, open, close (of a variation) or other.
    """

    kind: str
    at: int
    parts: tuple[str, ...]


def read_tokens(text: str, at: int) -> Iterator[BpgnToken]:
    """Cut movetext into tokens.

    Args:
        text: latin-1, of one match.
        at: where in it.

    Yields:
        Tokens in their order; the last one may be a comment that is never closed.
    """
    end = len(text)
    while (at := skip_blanks(text, at)) < end:
        if found := _MOVE.match(text, at) or _ODD_MOVE.match(text, at):
            yield BpgnToken("move", at, (found[1], found[2], found[3] or "", found[4], found[5]))
        elif found := _COMMENT.match(text, at):
            yield BpgnToken("comment", at, (found[1],))
        elif found := _NOTE.match(text, at):
            yield BpgnToken("note", at, (found[1].strip(),))
        elif found := _RESULT.match(text, at):
            yield BpgnToken("result", at, (found[1],))
        elif found := _GLYPH.match(text, at):
            yield BpgnToken("glyph", at, (found[1],))
        elif found := _PAREN.match(text, at):
            yield BpgnToken(_KINDS[found[0]], at, (found[0],))
        elif text[at] == "{":  # a comment that is never closed
            yield BpgnToken("other", at, (text[at:],))
            return
        else:
            found = _OTHER.match(text, at)
            assert found is not None
            yield BpgnToken("other", at, (found[0],))
        at = found.end()


def skip_blanks(text: str, at: int) -> int:
    """The place of the next character that is no blank."""
    while at < len(text) and text[at].isspace():
        at += 1
    return at


class BpgnMovetext:
    """The movetext of a match.

    Args:
        text: latin-1. offset: of its first character in the file.
        facts: result, reason and comments are set here.
        lags: of the main line's moves in their order.
    Attributes:
        lines: the main line, then the variations.
        anomalies: what could not be read.
        ended: a result was there.
    """

    def __init__(self, text: str, offset: int, facts: BpgnFacts, lags: list[int | None]) -> None:
        self.lines = [BpgnLine()]
        self.anomalies: list[Anomaly] = []
        self.ended = False
        self._text, self._offset, self._facts, self._lags = text, offset, facts, lags
        self._line = self.lines[0]
        self._last: BpgnMove | None = None
        self._wants_clock = False
        self._one_case: set[int] = set()
        self._reached: list[list[int]] = [[0, 0]]  # half-moves on both boards, of each line around the current one
        self._skipped = 0  # parentheses open that are too deep

    def read(self, tokens: list[BpgnToken]) -> None:
        """Read the tokens into lines, moves and comments."""
        tokens = _without_odd_parentheses(tokens)
        self._one_case = _boards_in_one_case(tokens)
        skipped: BpgnToken | None = None
        reason: BpgnToken | None = None
        for token in tokens:
            if skipped is not None:
                skipped = self._skip(skipped, token)
                continue
            if self.ended and token.kind not in ("note", "result"):
                self._wrong(AnomalyKind.MALFORMED, token, "text after the result")
                continue
            if reason is not None and token.kind not in ("note", "result"):
                self._comment(reason)  # it was not the last comment
                reason = None
            if token.kind == "move":
                self._move(token)
            elif token.kind == "comment":
                reason = token if self._remark(token) else None
            elif token.kind == "open":
                skipped = self._open(token)
            else:
                self._other(token)
            self._wants_clock = token.kind == "move" or (self._wants_clock and token.kind in ("glyph", "note"))
        if reason is not None and self.ended and reason.parts[0].strip():
            self._facts.reason, self._facts.reason_at = decoded(reason.parts[0]), self._offset + reason.at
        elif reason is not None:
            self._comment(reason)

    def _other(self, token: BpgnToken) -> None:
        """A token that is neither move nor comment."""
        if token.kind == "note":
            self._comment(token)
        elif token.kind == "result" and self._line is not self.lines[0]:
            self._wrong(AnomalyKind.MALFORMED, token, "a result in a variation")
        elif token.kind == "result":
            self._facts.result, self.ended = token.parts[0], True
        elif token.kind == "glyph":
            self._mark(token.parts[0], token.at)
        elif token.kind == "close":
            self._close(token)
        else:
            self._wrong(AnomalyKind.MALFORMED, token, "neither move nor comment")

    # -- variations --------------------------------------------------------------------------------------------

    def _open(self, token: BpgnToken) -> BpgnToken | None:
        """Begin a variation; the token if it is too deep to be one."""
        line = self._line
        if line.depth == _DEEPEST:
            self._skipped = 1
            return token
        self._line = BpgnLine(line, len(line.moves), line.depth + 1, offset=self._offset + token.at)
        self.lines.append(self._line)
        self._reached.append([*self._reached[-1]])
        self._last = None
        return None

    def _close(self, token: BpgnToken) -> None:
        line = self._line
        assert line.parent is not None
        line.text = decoded(self._text[line.offset - self._offset : token.at + 1])
        self._line = line.parent
        self._reached.pop()
        self._last = self._line.moves[-1] if self._line.moves else None

    def _skip(self, begin: BpgnToken, token: BpgnToken) -> BpgnToken | None:
        """Go through a variation that is too deep; its first token until its end."""
        self._skipped += (token.kind == "open") - (token.kind == "close")
        if self._skipped:
            return begin
        text = self._text[begin.at : token.at + 1]
        self._note("annotation", decoded(text), begin.at)
        self._wrong(AnomalyKind.MOVETEXT, begin._replace(parts=(text,)), "a variation this deep is kept as a comment")
        return None

    # -- moves and comments ------------------------------------------------------------------------------------

    def _move(self, token: BpgnToken) -> None:
        number, letter, nag, san, marks = token.parts
        board, first = "AB".index(letter.upper()), 2 * int(number) - 1
        reached = self._reached[-1]
        ply = first + letter.islower()
        if board in self._one_case:
            # The second move of a number on a board is Black's; a variation may begin with another one for White's.
            begins = self._line.parent is not None and not self._line.moves
            ply = first + (reached[board] > first or (reached[board] == first and not begins))
        reached[board] = ply
        if san[-1:] == ")":
            san = f"{san[:-3]}={san[-2].upper()}"
        move = BpgnMove(board, ply, san, self._offset + token.at)
        if self._line is self.lines[0]:
            count = len(self._line.moves)
            move.lag_ms = self._lags[count] if count < len(self._lags) else None
        self._line.moves.append(move)
        self._last = move
        for mark in (nag, marks):
            if mark:
                self._mark(mark, token.at)

    def _mark(self, mark: str, at: int) -> None:
        nag = mark if mark[0] == "$" else GLYPHS[mark]
        self._note("nag", nag, at)

    def _remark(self, token: BpgnToken) -> bool:
        """Take a comment's times, and keep its words.

        Returns:
            Whether it is nothing but words, and so may be the reason of the end.
        """
        text = token.parts[0]
        if self._wants_clock and (clock := _CLOCK.fullmatch(text)) is not None and self._clock(clock[1]):
            return False
        commands = _COMMAND.findall(text)
        if not commands:
            if _MARKED.match(text) or self._line is not self.lines[0]:
                self._comment(token)
                return False
            return True
        taken = [self._last is not None and self._command(name, value, token) for name, value in commands]
        kept = iter(taken)
        words = " ".join(_COMMAND.sub(lambda found: "" if next(kept) else found[0], text).split())
        if words:
            self._comment(token._replace(parts=(words,)))
        return False

    def _clock(self, text: str) -> bool:
        """Set the mover's clock; False: the text cannot be one."""
        move, read = self._last, read_time(text)
        if move is None or read is None:
            return False
        move.clock_ms, move.exact = read
        return True

    def _command(self, name: str, value: str, token: BpgnToken) -> bool:
        """Take a time in brackets; False: it is not known or cannot be read, and stays a comment."""
        move = self._last
        assert move is not None
        if name not in ("clk", "ts", "emt", "lag"):
            return False
        read = read_time(value)
        if read is None or (name in ("ts", "emt") and read[0] < 0):
            self._wrong(AnomalyKind.MALFORMED, token, f"{name} is no time")
            return False
        if name == "clk":
            self._clock(value)
        elif name == "ts":
            move.since_ms = read[0]
        elif name == "emt":
            move.elapsed_ms, move.exact = read
        else:
            move.lag_ms = read[0]
        return True

    def _comment(self, token: BpgnToken) -> None:
        raw = token.parts[0]
        detail = "comment" if raw.startswith("C:") else "annotation"
        self._note(detail, decoded(raw.removeprefix("C:")), token.at)

    def _note(self, detail: str, text: str, at: int) -> None:
        self._facts.comments.append(BpgnComment(self._offset + at, detail, text, self._line, self._last))

    def _wrong(self, kind: AnomalyKind, token: BpgnToken, message: str) -> None:
        self.anomalies.append(Anomaly.of(kind, self._offset + token.at, None, message, token.parts[0]))


def _without_odd_parentheses(tokens: list[BpgnToken]) -> list[BpgnToken]:
    """The tokens, with parentheses that lack their other half as text."""
    opened: list[int] = []
    odd: set[int] = set()
    for place, token in enumerate(tokens):
        if token.kind == "open":
            opened.append(place)
        elif token.kind == "close" and opened:
            opened.pop()
        elif token.kind == "close":
            odd.add(place)
    odd.update(opened)
    return [token._replace(kind="other") if place in odd else token for place, token in enumerate(tokens)]


def _boards_in_one_case(tokens: list[BpgnToken]) -> set[int]:
    """The boards whose letter has one case for both colours: two moves have each number."""
    depth = 0
    seen: Counter[tuple[str, str]] = Counter()
    for token in tokens:
        depth += (token.kind == "open") - (token.kind == "close")
        if token.kind == "move" and not depth:
            seen[token.parts[1], token.parts[0]] += 1
    cases = {letter for letter, _ in seen}
    twice = {letter for (letter, _), count in seen.items() if count > 1}
    return {"AB".index(letter.upper()) for letter in twice if letter.swapcase() not in cases}
