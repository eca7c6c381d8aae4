"""Movetext played by the rules: plies, variations, what is said between them, and where it stops to be legal.

The problem. PGN has a standard, and few files keep to it. Moves are spelt in other languages and typed by hand,
numbers are missing or wrong, a move was forgotten, marks are glued to moves, and between them there is prose::

    12.O–O Sf6! 13. d4(13. d3 {quieter} e5)exd4 14. Nxd4± with a good game 15... Bb7 {[%clk 0:04:57]} 1/2-1/2

A reader that stops at the first surprise loses the rest of the game; one that skips what it cannot read shifts every
move behind it to the other player, and the clocks with it. So each word is asked what it is, in this order:

1. a move of the standard that is legal here (nearly all are, and cost nothing more);
2. the same move in another spelling (``plain_word``), in squares (``e2e4``), or with a sign of capture too many;
3. a null move (``--``, ``Z0``, ``@@@@``): the other side is to move on the same board, which becomes an anchor;
4. a mark or a needless repetition (``±``, ``e.p.``): it belongs to the move before it;
5. a word with the form of a move, in any language: a ply that is not proved. The position behind it is unknown, so no
   later ply of this line is proved either, but they keep their numbers, texts and clocks;
6. any other word: whether it has the place of a move is decided by the next move number. If two half-moves are missing
   up to there and two words are not read, both are plies (``_takes_turn``); a word of a sentence counts last;
7. no part of movetext: reported, and those that follow each other as one.

Move numbers are believed only if they are consistent: a number one half-move too high, behind numbers that were right,
shows that a move is missing, and counting goes on behind it. A number that jumps further is a wrong number.

A variation ``(`` replaces the last move, so it begins at the position before that. Parentheses without a move inside
are comments: ``(=)``, or a sentence. Too deep ones are kept as text.

What must never happen: a word is lost (what is no ply is a comment or an anomaly with its offset); a move is played
that the rules forbid; time or memory grows faster than the text.

Sources: PGN files that people typed or copied from web pages and books; null moves of SCID, ChessBase, CECP and UCI.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise
from operator import itemgetter
from typing import Final

from recorder.model import (
    Anchor,
    AnchorReason,
    AnomalyKind,
    EventKind,
    GameEvent,
    LineKind,
    Origin,
    Ply,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    Thinking,
)
from recorder.movetext import move_number, split_remark
from recorder.rules.fen import fen, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, advance, play_san
from recorder.rules.tables import index_of
from recorder.saved.engine_comments import PrintedEvaluation
from recorder.saved.pgn_text import (
    EVALUATIONS,
    GLYPHS,
    NEVER,
    THOUSANDTHS,
    TIMES,
    Remark,
    Token,
    TokenKind,
    decoded,
    matches,
    move_of,
    printed_commands,
    read_remark,
    read_time,
    token_of,
)

_NULL: Final = frozenset(("--", "Z0", "null", "pass", "0000", "@@@@"))
#: What only repeats what a move shows.
_REDUNDANT: Final = frozenset(("e.p.", "ep", "ep.", "ch", "ch.", "check", "mate", "dis.", "dbl.", "++", "+", "#"))
_DASHES: Final = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u00ad\x96\x97"
_PLAIN: Final = str.maketrans(
    dict.fromkeys(_DASHES, "-")
    | dict(zip("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP", strict=True))
    | {"×": "x", "†": "+", "‡": "#", "≠": "#"}
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff")
)
_LONGEST: Final = 32  # no move is longer
_CASTLING: Final = re.compile(r"[OoОоΟο0](?:-?[OoОоΟο0]){1,2}")  # Latin, Cyrillic and Greek letters
_MOVE: Final = re.compile(
    r"(?:[KQRBNP]?[a-h]?[1-8]?[x:-]?[a-h](?:[2-7]|[18](?:=?[QRBNKqrbnk])?)|[KQRBNP]?@[a-h][1-8]|[Oo0]-[Oo0](?:-[Oo0])?)"
)
_CHECKS: Final = re.compile(r"(?:e\.?p\.?|(?:dis\.?|dbl\.?)?ch\.?|check|mate|[+#])?[+#]*")
_NAMED_PIECE: Final = re.compile(r"([a-h][18])=?[/(]([QRBNKqrbnk])\)?")
# A piece may have any letter, also of another language: it moved, whatever it is.
_LIKE_MOVE: Final = re.compile(
    r"(?:[^\W\d_]?[a-h]?[1-8]?[x:-]?[a-h][1-8](?:=?[A-Za-z])?|[^\W\d_]?@[a-h][1-8]|[Oo0]-?[Oo0](?:-?[Oo0])?)[+#]*"
)
_PROSE: Final = re.compile(
    r"""(?![KQRBNPt]{1,4}x[KQRBNP])["'(]*(?:[^\W\d_]+(?:['-][^\W\d_]{2,})*)["')]*[.,:;]*|[^\w?!]+"""
)
_PRINTED: Final = re.compile(r"([0-9]{1,4})\s*+(\.*+)\s*+(\.++|\xe2\x80\xa6|)\s*+")


def plain_word(word: str) -> tuple[str, str | None]:
    """``O–O`` is ``O-O``, ``e8/Q`` is ``e8=Q``, ``Nf3±`` is ``Nf3`` and ``$16``; other latin-1 comes back in UTF-8."""
    text = decoded(word.rstrip("\xc2"))  # half of a no-break space
    if len(text) > _LONGEST:
        return text, None
    text = unicodedata.normalize("NFKC", text).translate(_PLAIN).lstrip(".")
    if _CASTLING.fullmatch(text):
        return "O-O-O" if sum(letter != "-" for letter in text) == 3 else "O-O", None
    if "/" in text or "(" in text:
        text = _NAMED_PIECE.sub(lambda named: f"{named[1]}={named[2].upper()}", text)
    move = _MOVE.match(text)
    if move is None:
        return text, None
    checks = _CHECKS.match(text, move.end())
    assert checks is not None
    for end in range(move.end(), checks.end() + 1):  # ``+-`` is a mark, ``+`` is a check
        if nag := GLYPHS.get(text[end:]):
            return move[0], nag
    return move[0] if text[checks.end() :].strip(",.:") == "" else text, None


def _is_mark(plain: str) -> bool:
    return not plain or plain in GLYPHS or plain in _REDUNDANT


def _printed_ply(text: str, begin: int) -> int | None:
    """From 1; a number with one dot or none announces White's move. None: no number of a move begins there."""
    match = _PRINTED.match(text, begin)
    if match is None:
        return None
    return 2 * int(match[1]) - (len(match[2]) + len(match[3]) < 2)


_LONG: Final = re.compile(r"([KQRBN])?([a-h][1-8])[-x:]?([a-h][1-8])=?([qrbnkQRBNK])?[+#]*")
_SHORT: Final = re.compile(r"([KQRBN][a-h]?[1-8]?)(x?)([a-h][1-8].*)")
_CHAT: Final = re.compile(r"(\S+) (kibitz|whisper|say|partner-tell|tell|channel): (.*)")
_UNPROVED_PLY: Final = (
    r" ([0-9]{1,4})(\.\.\.|\.) (\S++)((?>(?: \$[0-9]{1,3}(?!\S))*))(?: (-?)([0-9]{1,4}(?::[0-9]{2}){2}(\.[0-9]{3})?))?"
)
_NOT_PROVED: Final = re.compile(f"Not proved:((?:{re.sub(r'[(](?![?])', '(?:', _UNPROVED_PLY)})+)", re.ASCII)
_NUMBERED: Final = re.compile(_UNPROVED_PLY, re.ASCII)
_DEPTH: Final = 64  # deeper variations are kept as comments
_LONGEST_SKIPPED: Final = 200  # characters of an anomaly
_FARTHEST: Final = 100  # half-moves by which a move number goes on at most
_LIST, _UNPROVED, _PGN, _COMMENT = int(Proof.LIST), int(Proof.UNPROVED), int(Origin.PGN), int(Origin.COMMENT)
_MILLISECONDS, _SECONDS = int(Precision.MILLISECONDS), int(Precision.SECONDS)


def play_word(position: Position, word: str) -> Step | str:
    """SAN, or squares (``e2e4``, ``Ng1-f3``, ``e7e8q``); exactly one legal move must fit, else a reason."""
    played = play_san(position, word)
    if not isinstance(played, str):
        return played
    if match := _LONG.fullmatch(word):
        found = _play_squares(position, *match.groups())
        if found is not None:
            return found
    if match := _SHORT.fullmatch(word):  # a capture without its sign, or with one too many
        letter, sign, rest = match.groups()
        other = play_san(position, f"{letter}{'' if sign else 'x'}{rest}")
        if not isinstance(other, str):
            return other
    return played


def _play_squares(
    position: Position, letter: str | None, origin: str, target: str, promotion: str | None
) -> Step | None:
    board, white = position.board, position.white_to_move
    begin, end = index_of(origin), index_of(target)
    piece = board[begin]
    if piece == "-" or piece.isupper() != white or (letter is not None and piece.upper() != letter):
        return None
    if piece in "Kk":
        rook = board[end] == ("R" if white else "r")
        if rook or abs(begin - end) == 2:
            castled = advance(position, "o-o" if end > begin else "o-o-o", "O-O" if end > begin else "O-O-O", None)
            if not isinstance(castled, str):
                return castled
    sign = "x" if board[end] != "-" or (piece in "Pp" and origin[0] != target[0]) else ""
    suffix = f"={promotion.upper()}" if promotion else ""
    name = "" if piece in "Pp" else piece.upper()
    pretty = f"{name or (origin[0] if sign else '')}{origin if name else ''}{sign}{target}{suffix}"
    if position.rules is Rules.BOARDS:
        played = play_san(position, pretty)
    else:
        played = advance(position, f"{piece.upper()}/{origin}-{target}{suffix}", pretty, None)
    return None if isinstance(played, str) else played


class _Line:
    """A line that is being read: ``before`` is the position before its last ply, ``position`` the one after it.

    ``begin``: its parenthesis. ``numbered``: where its last move number begins, -1: nowhere yet. ``numbered_ply``:
    half-moves before that. ``steady``: how many numbers were the next one. ``leaps``: that number leaves one half-move
    out, if not all of them have numbers. ``counts``: events and problems before it, and the number of its first event.
    """

    def __init__(self, number: int, rows: list[PlyRow], ply: int, position: Position | None, begin: int = 0) -> None:
        self.number = number
        self.rows = rows
        self.ply = self.start_ply = ply
        self.position = self.before = position
        self.begin = begin
        self.counts = (0, 0, 0)
        self.numbered = -1
        self.numbered_ply = ply
        self.steady = 0
        self.leaps = False


def _squeezed(text: str) -> str:
    return " ".join(decoded(text).split())


class Movetext:
    """Reads the movetext of one game.

    ``ours``: this program wrote it. ``names``: of White and Black, whose evaluations engines' comments are. ``seq`` is
    the number of the first event. ``lines``, ``anchors``, ``events`` and ``thinking`` are as in ``Observation``;
    ``problems`` have kind, offset, message and the word. ``last_words`` are those of a comment directly before the
    result, whose event is still in ``events``. ``moved``: anything of a game was there.
    """

    def __init__(
        self,
        start: Position | None,
        start_ply: int,
        offset: int,
        *,
        ours: bool = False,
        comments: bool = True,
        seq: int = 0,
        decimals: int = THOUSANDTHS,
        names: tuple[str, str] = ("", ""),
    ) -> None:
        self.rows: list[PlyRow] = []
        self.lines = [PlyLine(0, LineKind.MAIN, None, None, self.rows)]
        self.anchors: list[Anchor] = []
        self.events: list[GameEvent] = []
        self.thinking: list[Thinking] = []
        self.problems: list[tuple[AnomalyKind, int, str, str]] = []
        self.result: str | None = None
        self.end = 0
        self.last_words: str | None = None
        self.clocks = False
        self.moved = False
        self._offset = offset
        self._ours = ours
        self._comments = comments
        self._seq = seq
        self._decimals = decimals
        self._names = names
        self._line = _Line(0, self.rows, start_ply, start)
        self._above: list[_Line] = []
        self._skipped = 0  # parentheses open that belong to no move, or are too deep
        self._skipped_from = 0
        self._turns: dict[int, bool] = {}  # words that no rule reads, by their place: whether they are plies
        self._junk_end = -1
        self._reported: set[str] = set()
        self._text = ""

    def read(self, text: str, begin: int = 0) -> None:
        """Latin-1, which other games may follow."""
        self.end = len(text)
        self._text = text
        for match in matches(text, begin):
            at = match.start(1)
            if at >= 0:
                if not self._skipped:
                    begin = match.start()
                    if at != begin:
                        line = self._line
                        if line.position is None or (".." in text[begin:at]) != (line.ply & 1):
                            self._number(begin)
                        else:
                            line.numbered, line.numbered_ply = begin, line.ply
                            line.steady += 1
                    self._move(*move_of(match), at)
                self.last_words = None
                continue
            token = token_of(match)
            if token.kind is TokenKind.RESULT and not self._above and not self._skipped:
                self.moved, self.result, self.end = True, token.text, token.end
                self._take_comments_behind(text)
                return
            self._token(token)
        if self._above or self._skipped:
            self._problem(AnomalyKind.CUT, len(text), "a variation has no end", "")
        if self._skipped:
            self._event("comment", _squeezed(text[self._skipped_from :]), Token(TokenKind.COMMENT, "", len(text), 0))

    def _take_comments_behind(self, text: str) -> None:
        """Take comments that stand on one line with the result, behind it."""
        line_end = text.find("\n", self.end)
        for match in matches(text, self.end):
            if match.start(1) >= 0 or (0 <= line_end < match.start()):
                return
            token = token_of(match)
            if token.kind is not TokenKind.COMMENT:
                return
            self._token(token)
            self.end = token.end

    def _token(self, token: Token) -> None:
        kind = token.kind
        if kind is TokenKind.OPEN:
            self._open(token)
        elif kind is TokenKind.CLOSE:
            self._close(token)
        elif kind is TokenKind.UNCLOSED:
            self._problem(AnomalyKind.CUT, token.at, "a comment has no end", token.text)
            self._comment(token)
        elif self._skipped:
            pass  # the text is kept as a whole
        elif kind is TokenKind.COMMENT:
            self._comment(token)
        elif kind is TokenKind.NUMBER:
            self._number(token.at)
        elif kind is TokenKind.NAG and not (token.text != self._text[token.at : token.end] and self._is_due(token.at)):
            self._event("nag", token.text, token)
        elif kind is TokenKind.OTHER or kind is TokenKind.NAG:
            self._move(self._text[token.at : token.end], None, None, False, token.at)
            self.last_words = None
        elif kind is TokenKind.RESULT:  # of a variation
            self._event("comment", self._text[token.at : token.end], token)
        else:
            self._event("comment", _squeezed(token.text), token)

    def _comment(self, token: Token) -> None:
        if not self._skipped:
            for part in split_remark(token.text) if self._ours else (token.text,):
                self._remark(part, token)

    # -- moves -------------------------------------------------------------------------------------------------

    def _move(self, word: str, clock_ms: int | None, elapsed_ms: int | None, ms: bool, begin: int) -> None:
        # Standard SAN first: nearly every word. ``played`` is a reason, a text, as long as nothing fits.
        line = self._line
        position = line.position
        played = "" if position is None else play_san(position, word)
        nag: str | None = None
        if isinstance(played, str):
            plain, nag = plain_word(word)
            if not _NULL.isdisjoint((word, plain)):
                self._pass(line, begin)
            else:
                if position is not None:
                    played = play_word(position, plain)
                if isinstance(played, str) and not self._add_unproved(line, word, plain, begin, played):
                    nag = GLYPHS.get(plain)
        timed = clock_ms is not None or elapsed_ms is not None
        if isinstance(played, str):
            if timed and line.rows:
                self._time(line, clock_ms, elapsed_ms, None, ms)
        else:
            line.ply = number = line.ply + 1
            move, san, reached = played
            line.before, line.position = position, reached
            white_ms, black_ms = (clock_ms, None) if number & 1 else (None, clock_ms)
            self.clocks |= clock_ms is not None
            line.rows.append((
                number, move, san, white_ms, black_ms, elapsed_ms, None, None,
                reached.castling | (reached.push_col + 1) << 4, None, _LIST, _PGN,
                (_MILLISECONDS if ms else _SECONDS) if timed else None, self._offset + begin,
            ))  # fmt: skip
            self.moved = True
        if nag is not None:
            self._event("nag", nag, Token(TokenKind.NAG, nag, begin, begin))

    def _add_unproved(self, line: _Line, word: str, plain: str, begin: int, reason: str) -> bool:
        """False: it has no place of a move."""
        if not _LIKE_MOVE.fullmatch(plain):
            if not plain or (_is_mark(plain) and not self._is_due(begin)):
                return False
            if len(plain) > _LONGEST or not self._takes_turn(begin):
                self._skip(word, begin)
                return False
            reason = "it is no move"
        elif line.leaps and line.position is not None and self._is_due(begin):
            self._leave_out(line, line.numbered)
            line.numbered_ply = line.ply
        number = line.ply + 1
        text = decoded(word)
        if line.position is not None or reason == "it is no move":
            mover = f"{move_number(number)} {text}"
            why = reason.removeprefix("illegal: ")
            self._problem(AnomalyKind.MOVETEXT, begin, f"{mover} cannot be played: {why}", word, each=True)
        line.before, line.position, line.ply = line.position, None, number
        line.rows.append((
            number, None, text, None, None, None, None, None, None, None, _UNPROVED, _PGN, None, self._offset + begin
        ))  # fmt: skip
        self.moved = True
        return True

    def _skip(self, word: str, begin: int) -> None:
        """Report words that are no part of movetext, those that follow each other as one."""
        text = decoded(word)
        if self.problems and not self._text[self._junk_end : begin].strip() and 0 <= self._junk_end <= begin:
            kind, offset, _, before = self.problems[-1]
            if len(before) <= _LONGEST_SKIPPED:
                text = f"{before} {text}"
                self.problems[-1] = kind, offset, f"'{text}' is no part of movetext", text
        else:
            self._problem(AnomalyKind.MALFORMED, begin, "is no part of movetext", text, each=True)
        self._junk_end = begin + len(word)

    # -- move numbers ------------------------------------------------------------------------------------------

    def _number(self, begin: int) -> None:
        """Take a move number that is not the next one, or where the position is unknown: moves may be missing."""
        line = self._line
        ply = self._announced(line, begin)
        if ply is None:
            return
        if line.position is None:
            # No move is proved here any more: the number alone says where the game is.
            if line.rows and ply > line.ply + 1:
                line.ply = ply - 1
        elif ply == line.ply + 2 and line.steady > ply % 2:
            self._leave_out(line, begin)
        line.leaps = ply == line.ply + 2
        line.steady = line.steady + 1 if ply == line.ply + 1 else 0
        line.numbered, line.numbered_ply = begin, line.ply

    def _leave_out(self, line: _Line, begin: int) -> None:
        """Go on behind a half-move that is not there, as a number at a place shows."""
        number = line.ply + 1
        self._problem(AnomalyKind.MOVETEXT, begin, f"{move_number(number)} is missing", "", each=True)
        line.before, line.position, line.ply = line.position, None, number

    def _announced(self, line: _Line, begin: int) -> int | None:
        """The half-move, as we count, that a move number announces; None: it is not one that can follow here."""
        printed = _printed_ply(self._text, begin)
        if printed is None:
            return None
        # Numbers are relative to the last one that was read, in this line or in one above it: many files begin at 1 in
        # mid-game, or count half-moves.
        for one in (line, *reversed(self._above)):
            if one.numbered >= 0 and (before := _printed_ply(self._text, one.numbered)) is not None:
                ply = one.numbered_ply + 1
                if printed == before:
                    printed += 1  # ``1.`` stands before Black's move, too
                printed -= before - ply + (before % 2 == 1 and ply % 2 == 0)
                return printed if abs(printed - line.ply) <= _FARTHEST else None
        return printed

    def _is_due(self, begin: int) -> bool:
        line = self._line
        return (
            line.numbered >= 0
            and line.numbered_ply == line.ply
            and bool(_PRINTED.fullmatch(self._text, line.numbered, begin))
        )

    def _takes_turn(self, begin: int) -> bool:
        """The next move number says how many half-moves there are before it; else a word of a sentence is none."""
        if begin not in self._turns:
            # Up to the next number there are so many half-moves; those that are not moves by their form must be among
            # the words that no rule reads.
            words, moves, ply = self._words_from(begin)
            missing = -1 if ply is None else ply - 1 - self._line.ply - moves
            if missing < 0:
                missing = sum(not prose for _, prose in words)
            words.sort(key=itemgetter(1))
            self._turns.update((where, number < missing) for number, (where, _) in enumerate(words))
        return self._turns[begin]

    def _words_from(self, begin: int) -> tuple[list[tuple[int, bool]], int, int | None]:
        """With each word whether it is one of a sentence; the number of moves; the half-move of the number, or None."""
        words: list[tuple[int, bool]] = []
        moves = depth = 0
        for match in matches(self._text, begin):
            where = match.start(1)
            if where < 0:
                token = token_of(match)
                kind = token.kind
                depth += (kind is TokenKind.OPEN) - (kind is TokenKind.CLOSE)
                if depth < 0 or (kind is TokenKind.RESULT and not depth):
                    break
                if kind is TokenKind.NUMBER and not depth:
                    ply = self._announced(self._line, token.at)
                    if ply is not None:
                        return words, moves, ply
                if kind is not TokenKind.OTHER and token.at != begin:
                    continue
                where, word = token.at, self._text[token.at : token.end]
            else:
                if where != match.start() and not depth:
                    ply = self._announced(self._line, match.start())
                    if ply is not None:
                        return words, moves, ply
                word = match[1]
            plain = plain_word(word)[0]
            if depth or len(plain) > _LONGEST or (_is_mark(plain) and where != begin):
                continue
            if not _NULL.isdisjoint((word, plain)) or _LIKE_MOVE.fullmatch(plain):
                moves += 1
            else:
                words.append((where, _PROSE.fullmatch(plain) is not None))
        return words, moves, None

    def _pass(self, line: _Line, begin: int) -> None:
        """A null move: the other side is to move on the same board. No rule proves it, so the board is an anchor."""
        line.ply += 1
        line.before = position = line.position
        begin += self._offset
        line.rows.append((line.ply, None, "--", None, None, None, None, None, None, None, _UNPROVED, _PGN, None, begin))
        self.moved = True
        if position is not None:
            white = not position.white_to_move
            reached = start_position(position.board, white, position.castling, -1, position.rules, position.holdings)
            line.position = reached._replace(rook_cols=position.rook_cols, promoted=position.promoted)
            text = fen(line.position, None, line.ply // 2 + 1)
            self.anchors.append(Anchor(line.number, line.ply, text, AnchorReason.GAP, begin))

    def _open(self, token: Token) -> None:
        line = self._line
        # A variation replaces the last move: without one there is nothing to replace.
        if self._skipped or line.ply == line.start_ply or len(self._above) >= _DEPTH:
            if not self._skipped:
                self._problem(AnomalyKind.MALFORMED, token.at, "a variation that replaces no move is a comment", "(")
                self._skipped_from = token.at
            self._skipped += 1
            return
        rows: list[PlyRow] = []
        number = len(self.lines)
        self.lines.append(PlyLine(number, LineKind.VARIATION, line.number, line.ply - 1, rows))
        self._above.append(line)
        self._line = _Line(number, rows, line.ply - 1, line.before, token.at)
        self._line.counts = len(self.events), len(self.problems), self._seq
        self.last_words = None

    def _close(self, token: Token) -> None:
        if self._skipped:
            self._skipped -= 1
            if not self._skipped:
                self._event("comment", _squeezed(self._text[self._skipped_from : token.end]), token)
        elif self._above:
            line, self._line = self._line, self._above.pop()
            if not line.rows:
                self._take_as_comment(line, token)
        else:
            self._problem(AnomalyKind.MALFORMED, token.at, "closes no variation", token.text)
        self.last_words = None

    def _take_as_comment(self, line: _Line, token: Token) -> None:
        """``(=)``, or a sentence."""
        events, problems, self._seq = line.counts
        del self.lines[line.number :], self.events[events:], self.problems[problems:]
        words = self._text[line.begin : token.end]
        inner = words[1:-1].strip()
        alone = inner.startswith("{") and inner.find("}") == len(inner) - 1
        if alone:
            self._remark(inner[1:-1], token)
        elif inner:
            self._event("comment", _squeezed(words), token)

    # -- what is said ------------------------------------------------------------------------------------------

    def _remark(self, text: str, token: Token) -> None:
        line = self._line
        remark = read_remark(text, self._decimals if line.rows else NEVER)
        words = remark.words
        unplaced: frozenset[str] = frozenset()
        if remark.timed:
            if self._has_place(line, remark):
                of_engine = remark.evaluation is not None and remark.evaluation.by_mover and "[%" not in text
                self._time(line, remark.clock_ms, remark.elapsed_ms, remark.lag_ms, remark.ms, of_engine=of_engine)
            else:
                unplaced |= TIMES
        if remark.evaluation is not None:
            if line.number or not line.rows:  # what is thought belongs to a move of the main line
                unplaced |= EVALUATIONS
            else:
                ours = self._ours and not remark.evaluation.by_mover
                self._think(line, remark.evaluation, words if ours else remark.evaluation.pv, token)
                words = "" if ours else words
        elif remark.odd:
            self._problem(AnomalyKind.MALFORMED, token.at, "begins as an engine's evaluation, and is none", words)
        commands = printed_commands(text, unplaced) if unplaced else []
        if unplaced and "[%" not in text:
            words = _squeezed(text)
        for command in dict.fromkeys([*commands, *remark.commands]):
            self._event("command", command, token)
        if self._ours and words == "inferred" and line.rows:
            line.rows[-1] = Ply._make(line.rows[-1])._replace(proof_code=int(Proof.INFERRED))
            words = ""
        if self._ours and (marked := _NOT_PROVED.fullmatch(words)) and self._not_proved(line, marked[1], token):
            words = ""
        self.last_words = words or None
        if words:
            self._event("comment", words, token)

    def _has_place(self, line: _Line, remark: Remark) -> bool:
        if not line.rows:
            return False
        ply = Ply._make(line.rows[-1])
        return all(
            new is None or old in (None, new)
            for new, old in (
                (remark.clock_ms, ply.clock_ms),
                (remark.elapsed_ms, ply.elapsed_ms),
                (remark.lag_ms, ply.lag_ms),
            )
        )

    def _think(self, line: _Line, printed: PrintedEvaluation, pv: str, token: Token) -> None:
        white = line.ply % 2 == 1
        same = printed.by_mover and not printed.whites
        score_cp, mate = (n if white or same or n is None else -n for n in (printed.score_cp, printed.mate))
        if printed.by_mover and self.thinking and self.thinking[-1].ply == line.ply - 1:
            return  # our export wrote the same as commands
        engine = (self._names[not white] or None) if printed.by_mover else None
        self.thinking.append(
            Thinking(
                len(self.thinking), line.ply - 1, engine, white, printed.depth, score_cp, mate, printed.time_ms,
                printed.nodes, printed.selective_depth, printed.nodes_per_s, None, pv, None, self._offset + token.at,
            )
        )  # fmt: skip

    def _not_proved(self, line: _Line, text: str, token: Token) -> bool:
        """Plies that our exporter could not write as moves; False: they do not follow here, so it is a comment."""
        halves = [(2 * int(number) - (dots == "."), *rest) for number, dots, *rest in _NUMBERED.findall(text)]
        plies = [line.ply if line.rows else 0, *(ply for ply, *_ in halves)]
        if any(before >= after for before, after in pairwise(plies)):
            return False
        begin = self._offset + token.at
        for ply, san, nags, sign, clock, part in halves:
            if ply > line.ply:  # not before the position that the game begins with
                line.before, line.position, line.ply = line.position, None, ply
            line.rows.append((ply, None, san, None, None, None, None, None, None, None, _UNPROVED, _PGN, None, begin))
            for nag in nags.split():
                self._event("nag", nag, token)
            if clock and (read := read_time(clock)) is not None:
                self._time(line, -read[0] if sign else read[0], None, None, bool(part))
        return True

    def _time(
        self, line: _Line, clock_ms: int | None, elapsed_ms: int | None, lag_ms: int | None, ms: bool,
        *, of_engine: bool = False,
    ) -> None:  # fmt: skip
        ply = Ply._make(line.rows[-1])
        if clock_ms is not None:
            self.clocks = True
            ply = ply._replace(white_clock_ms=clock_ms) if ply.white_moved else ply._replace(black_clock_ms=clock_ms)
        if clock_ms is not None or elapsed_ms is not None:
            ply = ply._replace(precision_code=_MILLISECONDS if ms or ply.precision_code else _SECONDS)
        line.rows[-1] = ply._replace(
            elapsed_ms=ply.elapsed_ms if elapsed_ms is None else elapsed_ms,
            lag_ms=ply.lag_ms if lag_ms is None else lag_ms,
            origin_code=_COMMENT if of_engine else ply.origin_code,
        )

    def _event(self, detail: str, text: str, token: Token) -> None:
        if not self._comments:
            return
        actor = None
        if self._ours and detail == "comment" and (chat := _CHAT.fullmatch(text)):
            actor, detail, text = chat.groups()
        value = self._line.number or None
        self.events.append(
            GameEvent(
                self._seq, EventKind.CHAT, detail, self._line.ply, actor, value, text, None, None, None,
                self._offset + token.at,
            )
        )  # fmt: skip
        self._seq += 1

    def _problem(self, kind: AnomalyKind, begin: int, message: str, text: str, *, each: bool = False) -> None:
        """Once for each kind: a letter that was taken for movetext is all wrong."""
        if each or message not in self._reported:
            self._reported.add(message)
            shown = f"'{text}' {message}" if kind is AnomalyKind.MALFORMED else message
            self.problems.append((kind, self._offset + begin, shown, text))
