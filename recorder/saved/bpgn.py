"""BPGN: saved bughouse matches, both boards in one movetext → two games.

``1A. e4{180}`` is White's first move on board A, ``1b. d5 {179}`` Black's on board B; braces hold the clock left after
the move, in seconds. Each board becomes a game; the order of the moves of both is that of their offsets. A game of
chess between the matches is read as PGN. Source: files of the bughouse database and of clients of 2005.
"""

from __future__ import annotations

import re

from recorder.containment import Failures
from recorder.events import RatingText
from recorder.model import Anomaly, AnomalyKind, Game
from recorder.rules.prove import Rules, position_from_fen
from recorder.saved.base import UTF8_MARK, GameLines
from recorder.saved.bpgn_boards import BpgnBoard, BpgnComment, BpgnFacts, BpgnLine, make_games
from recorder.saved.bpgn_moves import BpgnMovetext, read_tokens, skip_blanks
from recorder.saved.pgn import PgnReader
from recorder.saved.pgn_game import with_brackets
from recorder.saved.pgn_tags import read_control, read_day, read_header, read_time_of_day
from recorder.saved.pgn_text import decoded

__all__ = ["BpgnReader"]

_ESCAPED = re.compile(r"\\(.)")
_LONGEST_MATCH = 1 << 20
_TAG = re.compile(r'\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\\n]|\\.)*)"\s*\]')
_TAG_LINE = re.compile(rb'[ \t]*\[\s*[A-Za-z0-9_]+\s+"')
_REST_OF_LINE = re.compile(rb"(\{[^{}]*+\}?)|;[^\r\n]*+")
_NEXT_MATCH = re.compile(rb"\s*+(?>(?:\{[^{}]*+\}\s*+)*)1[ABab]\.")
_RESULT_LINE = re.compile(rb"(?:.*[\s}])?(?:1-0|0-1|1/2-1/2|\*)\s*")
_NOTE = re.compile(r";([^\n]*)")
_NUMBER = re.compile(r"-?\d{1,9}")
_URL = re.compile(r"https?://(?:www\.)?([A-Za-z0-9.-]+)(?:/.*)?")
_PLAYERS = frozenset(("WhiteA", "BlackA", "WhiteB", "BlackB"))
_MEN = 32
_FARTHEST = 9_999  # number of a move
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


class BpgnReader:
    """Reads a BPGN file; see ``SavedReader``.

    Args:
        server: the site's name where the tag ``Site`` is missing.
        chat: ``none`` leaves comments out.
        offset: of the first byte.
    """

    def __init__(self, *, server: str | None = None, chat: str = "public", offset: int = 0) -> None:
        self.anomalies: list[Anomaly] = []
        self.failures = Failures()
        self.line_count = 0
        self._server, self._comments = server, chat != "none"
        self._lines = GameLines(offset)
        self._end = offset
        self._text: list[bytes] = []
        self._begin = offset
        self._size = self._lines_before = 0
        self._moves_seen = self._in_comment = self._result_seen = False

    @property
    def pending(self) -> tuple[int, int]:
        """Where the first match begins that is not finished, and the lines before it."""
        return (self._begin, self._lines_before) if self._text else (self._end, self.line_count)

    def receive(self, block: bytes) -> list[Game]:
        """Read the next bytes.

        Args:
            block: bytes that follow those of the call before, cut anywhere.

        Returns:
            The games that these bytes finished, two for each match.
        """
        return [game for line, offset in self._lines.receive(block) for game in self._line(line, offset)]

    def finish(self) -> list[Game]:
        """End the file.

        Returns:
            The games of the match that was still open.
        """
        games = [game for line, offset in self._lines.finish() for game in self._line(line, offset)]
        return games + self._flush()

    def _line(self, whole_line: bytes, offset: int) -> list[Game]:
        if offset == 0 and whole_line.startswith(UTF8_MARK):
            whole_line, offset = whole_line[len(UTF8_MARK) :], len(UTF8_MARK)
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
            self._begin, self._lines_before = offset, self.line_count
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
        except Exception as error:
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
            found = _TAG.match(text, at)
            if found is None and text.startswith("[", at):
                end = text.find("\n", at)
                end = len(text) if end < 0 else end
                self._anomaly(AnomalyKind.MALFORMED, begin + at, "a tag pair that cannot be read", text[at:end])
                at = end
                continue
            if found is None:
                break
            name, value = found[1], decoded(_ESCAPED.sub(r"\1", found[2]))
            if name in tags:
                self._anomaly(AnomalyKind.MALFORMED, begin + at, f"the tag {name} stands here twice", found[0])
            else:
                tags[name], places[name] = value, begin + at
            at = found.end()
        tokens = list(read_tokens(text, at))
        first = next((token for token in tokens if token.kind not in ("comment", "note", "result")), None)
        if not _PLAYERS.intersection(tags) and (first is None or first.kind != "move"):
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
        """Compare what the tags and the movetext say of the end."""
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
        """Both boards with their players and start positions."""
        found: list[BpgnBoard] = []
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
        for place, letter in enumerate("AB"):
            board = BpgnBoard(letter, tags.get(f"White{letter}", "?"), tags.get(f"Black{letter}", "?"))
            board.offset = places.get(f"White{letter}", begin)
            board.ratings = (_rating(tags.get(f"White{letter}Elo")), _rating(tags.get(f"Black{letter}Elo")))
            if other_rules or halves != [""]:
                board.position = None
            first = next((move.ply for move in main.moves if move.board == place), None)
            text = fens[place]
            if text is not None and not (other_rules or _set_start(board, text, first)):
                self._anomaly(AnomalyKind.MALFORMED, places["FEN"], f"the FEN of board {letter} is none", text)
            found.append(board)
        return found[0], found[1]

    def _chess(self, text: str, begin: int) -> list[Game]:
        """Read what is no bughouse match as PGN."""
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
    """Set a board's start position; False: the text is no FEN.

    Args:
        first: the half-move with which its moves begin: it counts where the FEN has no number of its own.
    """
    text = with_brackets(text)
    try:
        position = position_from_fen(text, Rules.BUGHOUSE)
    except ValueError:
        return False
    if position.holdings is None and sum(map(str.isalpha, position.board)) == _MEN:
        position = position._replace(holdings=("", ""))
    fields = text.split()
    number = int(fields[5]) if len(fields) > 5 and fields[5].isascii() and fields[5].isdigit() else 0
    ply = 2 * (min(max(number, 1), _FARTHEST) - 1) + (not position.white_to_move)
    if first is not None and first % 2 == position.white_to_move and (not number or first <= ply):
        ply = first - 1
    board.begin(position, ply)
    return True


def _without_note(line: bytes, in_comment: bool) -> bytes:
    """A line without its comment behind a semicolon; in braces a semicolon is text.

    Args:
        in_comment: the line begins in braces.
    """
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
