"""BPGN: saved bughouse matches, both boards in one movetext → two games.

``1A. e4{180}`` is White's first move on board A, ``1b. d5 {179}`` Black's on board B; braces hold the clock left after
the move, in seconds. Each board becomes a game; the order of the moves of both is that of their offsets. A game of
chess between the matches is read as PGN. Source: files of the bughouse database and of clients of 2005.

BPGN's movetext: cut into tokens, and made into the lines of a match.

Source: files of the bughouse databases (``{118.585}``, ``{C:…}``, ``{R:…}``), of chess.com (``{[%clk 0:02:59.9]}``) and
bughouse.pro (``{[ts=12.300]}``, seconds since the match began); pychess.org, whose variations stand behind the move
that they replace or in front of it (``1A. e4 (1B. d4 1a. c5) 1B. e4``), and whose letters may be in one case
(``1A.e4 1A.e5``).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from enum import Enum
from typing import Final, NamedTuple

from recorder.events import RatingText
from recorder.model import Anomaly, AnomalyKind, Game
from recorder.rules.fen import fen_counters, plies_before, position_from_fen
from recorder.rules.position import Rules
from recorder.saved.base import SavedReader
from recorder.saved.bpgn_boards import BpgnBoard, BpgnComment, BpgnFacts, BpgnLine, BpgnMove, make_games
from recorder.saved.pgn import PgnReader, with_brackets
from recorder.saved.pgn_tags import read_control, read_header
from recorder.saved.pgn_text import GLYPHS, decoded, read_time
from recorder.times import read_day, read_time_of_day

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


class BpgnTokenKind(Enum):
    MOVE = "move"
    COMMENT = "comment"
    NOTE = "note"  # behind a semicolon
    GLYPH = "glyph"
    RESULT = "result"
    OPEN = "("  # of a variation
    CLOSE = ")"
    OTHER = "other"


_T: Final = BpgnTokenKind
_ASIDE: Final = (_T.NOTE, _T.RESULT)


class BpgnToken(NamedTuple):
    kind: BpgnTokenKind
    at: int
    parts: tuple[str, ...]


def read_tokens(text: str, begin: int) -> Iterator[BpgnToken]:
    """The last token may be a comment that is never closed."""
    end = len(text)
    while (begin := skip_blanks(text, begin)) < end:
        if match := _MOVE.match(text, begin) or _ODD_MOVE.match(text, begin):
            yield BpgnToken(_T.MOVE, begin, (match[1], match[2], match[3] or "", match[4], match[5]))
        elif match := _COMMENT.match(text, begin):
            yield BpgnToken(_T.COMMENT, begin, (match[1],))
        elif match := _NOTE.match(text, begin):
            yield BpgnToken(_T.NOTE, begin, (match[1].strip(),))
        elif match := _RESULT.match(text, begin):
            yield BpgnToken(_T.RESULT, begin, (match[1],))
        elif match := _GLYPH.match(text, begin):
            yield BpgnToken(_T.GLYPH, begin, (match[1],))
        elif match := _PAREN.match(text, begin):
            yield BpgnToken(_T(match[0]), begin, (match[0],))
        elif text[begin] == "{":  # a comment that is never closed
            yield BpgnToken(_T.OTHER, begin, (text[begin:],))
            return
        else:
            match = _OTHER.match(text, begin)
            assert match is not None
            yield BpgnToken(_T.OTHER, begin, (match[0],))
        begin = match.end()


def skip_blanks(text: str, begin: int) -> int:
    while begin < len(text) and text[begin].isspace():
        begin += 1
    return begin


class BpgnMovetext:
    """``lines`` has the main line, then the variations; result, reason and comments go to ``facts``."""

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
        tokens = _without_odd_parentheses(tokens)
        self._one_case = _boards_in_one_case(tokens)
        skipped: BpgnToken | None = None
        reason: BpgnToken | None = None
        for token in tokens:
            if skipped is not None:
                skipped = self._skip(skipped, token)
                continue
            if self.ended and token.kind not in _ASIDE:
                self._wrong(AnomalyKind.MALFORMED, token, "text after the result")
                continue
            if reason is not None and token.kind not in _ASIDE:
                self._comment(reason)  # it was not the last comment
                reason = None
            if token.kind is _T.MOVE:
                self._move(token)
            elif token.kind is _T.COMMENT:
                reason = token if self._remark(token) else None
            elif token.kind is _T.OPEN:
                skipped = self._open(token)
            else:
                self._other(token)
            self._wants_clock = token.kind is _T.MOVE or (self._wants_clock and token.kind in (_T.GLYPH, _T.NOTE))
        if reason is not None and self.ended and reason.parts[0].strip():
            self._facts.reason, self._facts.reason_at = decoded(reason.parts[0]), self._offset + reason.at
        elif reason is not None:
            self._comment(reason)

    def _other(self, token: BpgnToken) -> None:
        if token.kind is _T.NOTE:
            self._comment(token)
        elif token.kind is _T.RESULT and self._line is not self.lines[0]:
            self._wrong(AnomalyKind.MALFORMED, token, "a result in a variation")
        elif token.kind is _T.RESULT:
            self._facts.result, self.ended = token.parts[0], True
        elif token.kind is _T.GLYPH:
            self._mark(token.parts[0], token.at)
        elif token.kind is _T.CLOSE:
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
        self._skipped += (token.kind is _T.OPEN) - (token.kind is _T.CLOSE)
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
        """Read a comment's times, and keep its words; True: it is only words, and may be the reason of the end."""
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
        """False: the text cannot be one."""
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
    for index, token in enumerate(tokens):
        if token.kind is _T.OPEN:
            opened.append(index)
        elif token.kind is _T.CLOSE and opened:
            opened.pop()
        elif token.kind is _T.CLOSE:
            odd.add(index)
    odd.update(opened)
    return [token._replace(kind=_T.OTHER) if index in odd else token for index, token in enumerate(tokens)]


def _boards_in_one_case(tokens: list[BpgnToken]) -> set[int]:
    """The boards whose letter has one case for both colours: two moves have each number."""
    depth = 0
    counts: Counter[tuple[str, str]] = Counter()
    for token in tokens:
        depth += (token.kind is _T.OPEN) - (token.kind is _T.CLOSE)
        if token.kind is _T.MOVE and not depth:
            counts[token.parts[1], token.parts[0]] += 1
    cases = {letter for letter, _ in counts}
    twice = {letter for (letter, _), count in counts.items() if count > 1}
    return {"AB".index(letter.upper()) for letter in twice if letter.swapcase() not in cases}


_ESCAPED = re.compile(r"\\(.)")
_LONGEST_MATCH = 1 << 20
_TAG = re.compile(r'\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\\n]|\\.)*)"\s*\]')
_TAG_LINE = re.compile(rb'[ \t]*\[\s*[A-Za-z0-9_]+\s+"')
_REST_OF_LINE = re.compile(rb"(\{[^{}]*+\}?)|;[^\r\n]*+")
_NEXT_MATCH = re.compile(rb"\s*+(?>(?:\{[^{}]*+\}\s*+)*)1[ABab]\.")
_RESULT_LINE = re.compile(rb"(?:.*[\s}])?(?:1-0|0-1|1/2-1/2|\*)\s*")
_NUMBER = re.compile(r"-?\d{1,9}")
_URL = re.compile(r"https?://(?:www\.)?([A-Za-z0-9.-]+)(?:/.*)?")
_PLAYERS = frozenset(("WhiteA", "BlackA", "WhiteB", "BlackB"))
_MEN = 32
_RESULTS = ("1-0", "0-1", "1/2-1/2")
_RULES = frozenset(("bughouse", "bughouse960", "chess960"))
"""Words of the tag Variant that change no rule; bughouse.pro adds those of other games."""
#: Tags that a game's own fields give back.
_OWN_TAGS = frozenset(
    f"{side}{board}{word}" for side in ("White", "Black") for board in "AB" for word in ("", "Elo")
) | {"Lag", "Result", "FEN", "SetUp", "Setup", "RecorderKeyA", "RecorderKeyB"}
_EMPTY = frozenset(("", "?", "-", "????.??.??", "??:??:??"))
#: Tags that a game's own fields give back where they can be read, and what they are.
_TIMES = {
    **dict.fromkeys(("Date", "UTCDate", "UTCEndDate"), "date"),
    **dict.fromkeys(("Time", "UTCTime", "UTCEndTime"), "time"),
    "TimeControl": "time control",
}  # fmt: skip


class BpgnReader(SavedReader):
    def __init__(self, *, server: str | None = None, chat: str = "public", offset: int = 0) -> None:
        super().__init__(server=server, chat=chat, offset=offset)
        self._text: list[bytes] = []
        self._begin = offset
        self._size = 0
        self._moves_seen = self._in_comment = self._result_seen = False

    @property
    def read_up_to(self) -> int:
        return self._begin if self._text else self._end

    def finish(self) -> list[Game]:
        return super().finish() + self._flush()

    def _line(self, whole_line: bytes, offset: int) -> list[Game]:
        games: list[Game] = []
        line = whole_line if b";" not in whole_line else _without_note(whole_line, self._in_comment)
        if _TAG_LINE.match(line) and (not self._in_comment or line.lstrip().startswith(b'[Event "')):
            if self._moves_seen:
                games = self._flush()
        elif line.strip() and (self._moves_seen or not line.lstrip().startswith(b"[")):
            if self._result_seen and not self._in_comment and _NEXT_MATCH.match(line):
                games = self._flush()  # no tag stands between these two
            self._moves_seen = True
            last = max(line.rfind(b"{"), line.rfind(b"}"))
            if last >= 0:
                self._in_comment = line[last : last + 1] == b"{"
            self._result_seen |= not self._in_comment and _RESULT_LINE.fullmatch(line) is not None
        if not self._text:
            self._begin = offset
        self.line_count += 1
        self._end = offset + len(whole_line)
        self._size += len(whole_line)
        if self._size <= _LONGEST_MATCH:
            self._text.append(whole_line)
        elif self._size - len(whole_line) <= _LONGEST_MATCH:
            self._anomaly(AnomalyKind.LONG_LINE, offset, "a match of more than 1 MiB is not read further", "")
        return games

    def _flush(self) -> list[Game]:
        text = b"".join(self._text).decode("latin-1")
        self._text, self._size = [], 0
        self._moves_seen = self._in_comment = self._result_seen = False
        try:
            return self._match(text, self._begin) if text.strip() else []
        except Exception as error:  # a bug: the game is counted, the others follow
            self.failures.note(error, self._begin, None, text.strip())
            return []

    def _anomaly(self, kind: AnomalyKind, offset: int, message: str, text: str) -> None:
        self.anomalies.append(Anomaly.of(kind, offset, None, message, text))

    # -- one match ---------------------------------------------------------------------------------------------

    def _match(self, text: str, begin: int) -> list[Game]:
        tags: dict[str, str] = {}
        places: dict[str, int] = {}
        notes: list[tuple[int, str]] = []
        at = 0
        while True:
            at = skip_blanks(text, at)
            note = _NOTE.match(text, at)
            if note is not None:
                notes.append((begin + at, note[1].strip()))
                at = note.end()
                continue
            tag = _TAG.match(text, at)
            if tag is None and text.startswith("[", at):
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                self._anomaly(AnomalyKind.MALFORMED, begin + at, "a tag pair that cannot be read", text[at:end])
                at = end
                continue
            if tag is None:
                break
            name, value = tag[1], decoded(_ESCAPED.sub(r"\1", tag[2]))
            if name in tags:
                self._anomaly(AnomalyKind.MALFORMED, begin + at, f"the tag {name} stands here twice", tag[0])
            else:
                tags[name], places[name] = value, begin + at
            at = tag.end()
        tokens = list(read_tokens(text, at))
        first = next((token for token in tokens if token.kind not in (_T.COMMENT, *_ASIDE)), None)
        if not _PLAYERS.intersection(tags) and (first is None or first.kind is not _T.MOVE):
            return self._chess(text, begin)
        facts = self._facts(tags, places, begin, begin + len(text.rstrip()))
        lags = [int(word) if _NUMBER.fullmatch(word) else None for word in tags.get("Lag", "").split()]
        movetext = BpgnMovetext(text, begin, facts, lags)
        movetext.read(tokens)
        self.anomalies += movetext.anomalies
        main = movetext.lines[0]
        facts.comments += [BpgnComment(place, "annotation", decoded(note), main, None) for place, note in notes]
        if not self._comments:
            facts.comments.clear()
        self._end_of_match(tags, facts, movetext, lags)
        boards = self._boards(tags, places, begin, main)
        games, found_wrong = make_games(boards, movetext.lines, facts)
        self.anomalies += found_wrong
        return games

    def _end_of_match(
        self, tags: dict[str, str], facts: BpgnFacts, movetext: BpgnMovetext, lags: list[int | None]
    ) -> None:
        begin, count = facts.begin, len(movetext.lines[0].moves)
        if lags and len(lags) != count:
            message = f"the tag Lag has {len(lags)} numbers for {count} moves"
            self._anomaly(AnomalyKind.MALFORMED, begin, message, "")
        if facts.reason is None and tags.get("Outcome", "Unterminated") != "Unterminated":
            facts.reason, facts.reason_at = tags["Outcome"], facts.end
        if not movetext.ended and not (facts.result != "*" and {"Outcome", "Termination"}.intersection(tags)):
            self._anomaly(AnomalyKind.CUT, facts.end, "the match ends without its result", "")
        if tags.get("Result", facts.result) != facts.result:
            message = f"the tag Result says {tags['Result']}, the movetext {facts.result}"
            self._anomaly(AnomalyKind.CONFLICT, begin, message, "")

    def _boards(
        self, tags: dict[str, str], places: dict[str, int], begin: int, main: BpgnLine
    ) -> tuple[BpgnBoard, BpgnBoard]:
        boards: list[BpgnBoard] = []
        fens: list[str | None] = [None, None]
        halves = [half.strip() for half in tags.get("FEN", "").split("|")]
        if len(halves) == 2:
            fens = [*halves]
        elif halves != [""]:
            message = "the FEN is not that of two boards: the start positions are not known"
            self._anomaly(AnomalyKind.MALFORMED, places["FEN"], message, tags["FEN"])
        variant = tags.get("Variant", "")
        words = [] if variant in _EMPTY else variant.lower().replace("-", "").split()
        other_rules = [word for word in words if word not in _RULES]
        if other_rules:
            message = "the rules of this variant are not known: no move is proved"
            self._anomaly(AnomalyKind.VARIANT, places["Variant"], message, variant)
        for index, letter in enumerate("AB"):
            board = BpgnBoard(letter, tags.get(f"White{letter}", "?"), tags.get(f"Black{letter}", "?"))
            board.offset = places.get(f"White{letter}", begin)
            board.ratings = (_rating(tags.get(f"White{letter}Elo")), _rating(tags.get(f"Black{letter}Elo")))
            if other_rules or halves != [""]:
                board.position = None
            first = next((move.ply for move in main.moves if move.board == index), None)
            text = fens[index]
            if text is not None and not (other_rules or _set_start(board, text, first)):
                self._anomaly(AnomalyKind.MALFORMED, places["FEN"], f"the FEN of board {letter} is none", text)
            boards.append(board)
        return boards[0], boards[1]

    def _chess(self, text: str, begin: int) -> list[Game]:
        if not text.strip() or all(line.lstrip().startswith(";") for line in text.splitlines() if line.strip()):
            return []  # comments between two matches
        reader = PgnReader(server=self._server, chat="public" if self._comments else "none", offset=begin)
        reader.failures = self.failures
        games = reader.receive(text.encode("latin-1")) + reader.finish()
        games = [game for game in games if game.white.handle or game.black.handle or game.plies]
        if games:
            self.anomalies += reader.anomalies
        else:
            self._anomaly(AnomalyKind.MALFORMED, begin, "text that is no bughouse match", text)
        return games

    def _facts(self, tags: dict[str, str], places: dict[str, int], begin: int, end: int) -> BpgnFacts:
        pairs = {name: value for name, value in tags.items() if name in _TIMES or name == "Termination"}
        header = read_header([*pairs.items()])
        if header.date_text is None and (day := read_day(tags.get("UTCDate"))) is not None:
            header.date_text = day.isoformat()
        kept = {name for name, value in header.kept if value not in _EMPTY}
        site = tags.get("Site", "")
        url = _URL.fullmatch(site)
        server = url[1] if url is not None else None if site in _EMPTY else site
        facts = BpgnFacts(header, server or self._server, begin, end, tags.get("Event", ""))
        facts.result = tags["Result"] if tags.get("Result") in _RESULTS else "*"
        facts.termination = header.termination
        for name, value in tags.items():
            if name in kept and not _is_time(name, value):
                self._anomaly(AnomalyKind.MALFORMED, places[name], f"{name} is no {_TIMES[name]}", value)
            elif name in _OWN_TAGS or name in _TIMES or (name == "Site" and url is None):
                continue
            facts.kept.append((places[name], name, value))
        return facts


def _set_start(board: BpgnBoard, text: str, first: int | None) -> bool:
    """False: it is no FEN. ``first`` is the half-move with which the moves begin, if the FEN has no number."""
    text = with_brackets(text)
    try:
        position = position_from_fen(text, Rules.BUGHOUSE)
    except ValueError:
        return False
    if position.holdings is None and sum(map(str.isalpha, position.board)) == _MEN:
        position = position._replace(holdings=("", ""))
    ply = plies_before(text, position.white_to_move)
    if first is not None and first % 2 == position.white_to_move and (not fen_counters(text)[1] or first <= ply):
        ply = first - 1
    board.begin(position, ply)
    return True


def _without_note(line: bytes, in_comment: bool) -> bytes:
    """In braces a semicolon is text."""
    begin = line.find(b"}") + 1 if in_comment else 0
    if in_comment and not begin:
        return line
    return line[:begin] + _REST_OF_LINE.sub(lambda found: found[1] or b"", line[begin:])


def _is_time(name: str, value: str) -> bool:
    """Whether the value of a tag in ``_TIMES`` can be read, although a header needs more than this tag."""
    kind = _TIMES.get(name)
    readers = {"date": read_day, "time": read_time_of_day, "time control": read_control}
    return kind is None or readers[kind](value) is not None


def _rating(text: str | None) -> RatingText | None:
    if text is None or text in ("", "?"):
        return None
    return RatingText(text, int(text) if _NUMBER.fullmatch(text) else None)
