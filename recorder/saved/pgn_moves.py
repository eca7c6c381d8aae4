"""Movetext played by the rules: plies, variations, what is said between them, and where it stops to be legal."""

from __future__ import annotations

import re
from typing import Final

from recorder.model import (
    Anchor,
    AnomalyKind,
    EventKind,
    GameEvent,
    LineKind,
    Origin,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    Thinking,
)
from recorder.movetext import split_remark
from recorder.rules.prove import Position, Rules, Step, advance, fen, play_san, start_position
from recorder.saved.pgn_text import (
    NEVER,
    THOUSANDTHS,
    Remark,
    Token,
    TokenKind,
    decoded,
    matches,
    move_of,
    read_remark,
    token_of,
)

__all__ = ["Movetext", "play_word"]

_NULL: Final = frozenset(("--", "Z0", "null", "pass"))
_LONG: Final = re.compile(r"([KQRBN])?([a-h][1-8])[-x:]?([a-h][1-8])=?([qrbnkQRBNK])?[+#]*")
_SHORT: Final = re.compile(r"([KQRBN][a-h]?[1-8]?)(x?)([a-h][1-8].*)")
# A piece may have any letter, also of another language: it moved, whatever it is.
_LIKE_MOVE: Final = re.compile(
    r"(?:[^\W\d_]?[a-h]?[1-8]?[x:-]?[a-h][1-8](?:=?[A-Za-z])?|[KQRBNP]?@[a-h][1-8]|[Oo0]-?[Oo0](?:-?[Oo0])?)[+#]*"
)
_FIGURINES: Final = str.maketrans("♔♕♖♗♘♙♚♛♜♝♞♟", "KQRBNPKQRBNP")
_CHAT: Final = re.compile(r"(\S+) (kibitz|whisper|say|partner-tell|tell|channel): (.*)")
_NOT_PROVED: Final = re.compile(r"Not proved:((?: [0-9]{1,4}\.(?:\.\.)? \S+)+)", re.ASCII)
_NUMBERED: Final = re.compile(r" ([0-9]+)(\.\.\.|\.) (\S+)", re.ASCII)
_DEPTH: Final = 64  # deeper variations are skipped
_LIST, _UNPROVED, _PGN = int(Proof.LIST), int(Proof.UNPROVED), int(Origin.PGN)
_MILLISECONDS, _SECONDS = int(Precision.MILLISECONDS), int(Precision.SECONDS)


def play_word(position: Position, word: str) -> Step | str:
    """Play a move as a saved game may write it: SAN, or squares (``e2e4``, ``Ng1-f3``, ``e7e8q``).

    Args:
        position: before the move.
        word: the move as written.

    Returns:
        as ``play_san``: exactly one legal move fits, else the reason why none does.
    """
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
    begin, end = _index(origin), _index(target)
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


def _index(square: str) -> int:
    return 9 * (8 - int(square[1])) + "abcdefgh".index(square[0])


class _Line:
    """A line that is being read: ``before`` is the position before its last ply, ``place`` the one after it."""

    __slots__ = ("before", "number", "place", "ply", "rows", "start_ply")

    def __init__(self, number: int, rows: list[PlyRow], ply: int, place: Position | None) -> None:
        self.number = number
        self.rows = rows
        self.ply = self.start_ply = ply
        self.place = self.before = place


class Movetext:
    """Reads the movetext of one game.

    Args:
        start: the first position; None: not known.
        start_ply: half-moves played before it.
        offset: of the text's first character.
        ours: this program wrote it.
        comments: whether words are wanted.
        seq: number of the first event.
        decimals: as for ``read_remark``.

    Attributes:
        lines, anchors, events, thinking: as in ``Observation``.
        problems: kind, offset, message and the word.
        result: the token; None: there is none.
        end: place behind the game in the text.
        last_words: the words of a comment directly before the result, their event still in ``events``.
        clocks: whether a clock was printed.
        moved: whether anything of a game was there.
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
        self._line = _Line(0, self.rows, start_ply, start)
        self._above: list[_Line] = []
        self._skipped = 0  # parentheses open that belong to no move, or are too deep
        self._reported: set[str] = set()

    def read(self, text: str, begin: int = 0) -> None:
        """Read from a place of the text to the result behind the moves, or to the end.

        Args:
            text: latin-1; other games may follow.
            begin: index in it.
        """
        self.end = len(text)
        for match in matches(text, begin):
            at = match.start(1)
            if at >= 0:
                if not self._skipped:
                    self._move(*move_of(match), at)
                self.last_words = None
                continue
            token = token_of(match)
            if token is None:
                continue
            if token.kind is TokenKind.RESULT:
                if not self._above and not self._skipped:
                    self.moved, self.result, self.end = True, token.text, token.end
                    return
            else:
                self._token(token)
        if self._above or self._skipped:
            self._problem(AnomalyKind.CUT, len(text), "a variation has no end", "")

    def _token(self, token: Token) -> None:
        """Take what is neither a move in ASCII letters nor a result."""
        kind = token.kind
        if kind is TokenKind.COMMENT or kind is TokenKind.UNCLOSED:
            if kind is TokenKind.UNCLOSED:
                self._problem(AnomalyKind.CUT, token.at, "a comment has no end", token.text)
            if not self._skipped:
                for part in split_remark(token.text) if self._ours else (token.text,):
                    self._remark(read_remark(part, self._decimals if self._line.rows else NEVER), token)
        elif kind is TokenKind.OPEN:
            self._open(token)
        elif kind is TokenKind.CLOSE:
            self._close(token)
        elif kind is TokenKind.NAG:
            if not self._skipped:
                self._event("nag", token.text, token)
        elif kind is TokenKind.OTHER and _LIKE_MOVE.fullmatch(word := decoded(token.text).translate(_FIGURINES)):
            if not self._skipped:
                self._move(word, None, None, False, token.at)
            self.last_words = None
        elif kind is TokenKind.OTHER:
            self._problem(AnomalyKind.MALFORMED, token.at, "is no part of movetext", token.text)

    # -- moves -------------------------------------------------------------------------------------------------

    def _move(self, word: str, clock_ms: int | None, elapsed_ms: int | None, ms: bool, at: int) -> None:
        """Play a move; its times are as ``move_of`` gives them."""
        line = self._line
        place = line.place
        played = "" if place is None else play_san(place, word)
        if isinstance(played, str) and place is not None and word not in _NULL:
            played = play_word(place, word)
        timed = clock_ms is not None or elapsed_ms is not None
        if isinstance(played, str):
            self._add_unproved(line, word, at, played)
            if timed and line.rows:
                self._time(line, clock_ms, elapsed_ms, None, ms)
            return
        line.ply = number = line.ply + 1
        move, san, reached = played
        line.before, line.place = place, reached
        white_ms, black_ms = (clock_ms, None) if number & 1 else (None, clock_ms)
        self.clocks |= clock_ms is not None
        line.rows.append((
            number, move, san, white_ms, black_ms, elapsed_ms, None, None,
            reached.castling | (reached.push_col + 1) << 4, None, _LIST, _PGN,
            (_MILLISECONDS if ms else _SECONDS) if timed else None, self._offset + at,
        ))  # fmt: skip
        self.moved = True

    def _add_unproved(self, line: _Line, word: str, at: int, reason: str) -> None:
        """Add what no rule proves, if it is a move: a null move, or one that cannot be played for a reason."""
        place = line.place
        number = line.ply + 1
        if word in _NULL:
            self._pass(line, at)
            return
        if not _LIKE_MOVE.fullmatch(word):
            if word not in ("e.p.", "ep", "ep."):
                self._problem(AnomalyKind.MALFORMED, at, "is no move", word)
            return
        if place is not None:
            mover = f"{(number + 1) // 2}{'.' if number % 2 else '...'} {word}"
            self._problem(AnomalyKind.MOVETEXT, at, f"{mover} cannot be played: {reason}", word, each=True)
        line.before, line.place, line.ply = None, None, number
        line.rows.append((
            number, None, word, None, None, None, None, None, None, None, _UNPROVED, _PGN, None, self._offset + at
        ))  # fmt: skip
        self.moved = True

    def _pass(self, line: _Line, at: int) -> None:
        """A null move: the other side is to move on the same board. No rule proves it, so the board is an anchor."""
        line.ply += 1
        line.before = place = line.place
        at += self._offset
        line.rows.append((line.ply, None, "--", None, None, None, None, None, None, None, _UNPROVED, _PGN, None, at))
        self.moved = True
        if place is not None:
            white = not place.white_to_move
            line.place = start_position(place.board, white, place.castling, -1, place.rules, place.holdings)._replace(
                rook_cols=place.rook_cols, promoted=place.promoted
            )
            text = fen(line.place, None, line.ply // 2 + 1)
            self.anchors.append(Anchor(line.number, line.ply, text, "gap", at))

    def _open(self, token: Token) -> None:
        line = self._line
        if self._skipped or line.ply == line.start_ply or len(self._above) >= _DEPTH:
            if not self._skipped:
                self._problem(AnomalyKind.MALFORMED, token.at, "a variation that replaces no move", token.text)
            self._skipped += 1
            return
        rows: list[PlyRow] = []
        number = len(self.lines)
        self.lines.append(PlyLine(number, LineKind.VARIATION, line.number, line.ply - 1, rows))
        self._above.append(line)
        self._line = _Line(number, rows, line.ply - 1, line.before)
        self.last_words = None

    def _close(self, token: Token) -> None:
        if self._skipped:
            self._skipped -= 1
        elif self._above:
            self._line = self._above.pop()
        else:
            self._problem(AnomalyKind.MALFORMED, token.at, "closes no variation", token.text)
        self.last_words = None

    # -- what is said ------------------------------------------------------------------------------------------

    def _remark(self, remark: Remark, token: Token) -> None:
        line = self._line
        if line.rows and remark.timed:
            self._time(line, remark.clock_ms, remark.elapsed_ms, remark.lag_ms, remark.ms)
        if remark.evaluation is not None and not line.number:  # what is thought belongs to the main line
            found = remark.evaluation
            white = line.ply % 2 == 1
            score_cp, mate = (n if white or n is None else -n for n in (found.score_cp, found.mate))
            pv = remark.words if self._ours else ""
            self.thinking.append(
                Thinking(
                    len(self.thinking), line.ply - 1, None, white, found.depth, score_cp, mate, None, None, None,
                    None, None, pv, None, self._offset + token.at,
                )
            )  # fmt: skip
        for command in remark.commands:
            self._event("command", command, token)
        words = "" if self._ours and remark.evaluation is not None else remark.words
        if self._ours and words == "inferred" and line.rows:
            last = line.rows[-1]
            line.rows[-1] = (*last[:10], int(Proof.INFERRED), *last[11:])
            words = ""
        if self._ours and not line.number and (marked := _NOT_PROVED.fullmatch(words)):
            self._not_proved(line, marked[1], token)
            words = ""
        self.last_words = words or None
        if words:
            self._event("comment", words, token)

    def _not_proved(self, line: _Line, text: str, token: Token) -> None:
        """Plies that our exporter could not write as moves, since no reader could play them."""
        for number, dots, san in _NUMBERED.findall(text):
            ply = 2 * int(number) - (dots == ".")
            if ply > line.ply:
                line.before, line.place, line.ply = None, None, ply
                at = self._offset + token.at
                line.rows.append((ply, None, san, None, None, None, None, None, None, None, _UNPROVED, _PGN, None, at))

    def _time(self, line: _Line, clock_ms: int | None, elapsed_ms: int | None, lag_ms: int | None, ms: bool) -> None:
        """Add times to the last ply of a line."""
        row = line.rows[-1]
        white_ms, black_ms = row[3], row[4]
        if clock_ms is not None:
            self.clocks = True
            white_ms, black_ms = (clock_ms, black_ms) if row[0] & 1 else (white_ms, clock_ms)
        precision = row[12]
        if clock_ms is not None or elapsed_ms is not None:
            precision = _MILLISECONDS if ms or precision else _SECONDS
        line.rows[-1] = (
            *row[:3], white_ms, black_ms, row[5] if elapsed_ms is None else elapsed_ms,
            row[6] if lag_ms is None else lag_ms, *row[7:12], precision, row[13],
        )  # fmt: skip

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

    def _problem(self, kind: AnomalyKind, at: int, message: str, text: str, *, each: bool = False) -> None:
        """Note what is wrong, once for each kind of it: a letter that was taken for movetext is all wrong."""
        if each or message not in self._reported:
            self._reported.add(message)
            shown = f"'{text}' {message}" if kind is AnomalyKind.MALFORMED else message
            self.problems.append((kind, self._offset + at, shown, text))
