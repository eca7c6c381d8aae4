"""BPGN: saved bughouse matches, both boards in one movetext → two games.

``1A. e4{180}`` is White's first move on board A, ``1b. d5 {179}`` Black's on board B; braces hold the clock left after
the move, in seconds. Each board becomes a game; the order of the moves of both is that of their offsets. A game of
chess between the matches is read as PGN. Source: files of the bughouse database and of clients of 2005.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from typing import NamedTuple

from recorder.containment import Failures
from recorder.events import RatingText
from recorder.model import Anomaly, AnomalyKind, Game
from recorder.saved.base import UTF8_MARK, GameLines
from recorder.saved.bpgn_boards import BpgnBoard, BpgnFacts, make_games
from recorder.saved.pgn import PgnReader

__all__ = ["BpgnReader"]

_ESCAPED = re.compile(r"\\(.)")
_LONGEST_MATCH = 1 << 20
_TAG = re.compile(r'\[\s*([A-Za-z0-9_]+)\s+"((?:[^"\\\n]|\\.)*)"\s*\]')
_TAG_LINE = re.compile(rb'[ \t]*\[\s*[A-Za-z0-9_]+\s+"')
_REST_OF_LINE = re.compile(rb"(\{[^{}]*+\}?)|;[^\r\n]*+")
_NEXT_MATCH = re.compile(rb"\s*+(?>(?:\{[^{}]*+\}\s*+)*)1[ABab]\.")
_RESULT_LINE = re.compile(rb"(?:.*[\s}])?(?:1-0|0-1|1/2-1/2|\*)\s*")
_MOVE = re.compile(r"(\d{1,4})([ABab])\.\s*([^\s{}();\[\]]+)")
_COMMENT = re.compile(r"\{([^{}]*)\}")
_NOTE = re.compile(r";([^\n]*)")
_CLOCK = re.compile(r"\s*(-?)(\d{1,6})(?:\.(\d{1,3}))?\s*")
_RESULT = re.compile(r"(?:1-0|0-1|1/2-1/2|\*)(?![^\s;])")
_NUMBER = re.compile(r"-?\d{1,9}")
_DATE = re.compile(r"(\d{4})\.(\d{2})\.(\d{2})")
_TIME = re.compile(r"(\d{2}):(\d{2}):(\d{2})")
_CONTROL = re.compile(r"(\d{1,6})\+(\d{1,6})")
_OTHER = re.compile(r"\S+?(?=[{\[;\s]|\Z)|\S")
_PLAYERS = frozenset(("WhiteA", "BlackA", "WhiteB", "BlackB"))
#: Tags that a game's own fields give back.
_OWN_TAGS = frozenset(
    f"{side}{board}{word}" for side in ("White", "Black") for board in "AB" for word in ("", "Elo")
) | {"Site", "Date", "Time", "TimeControl", "Lag", "Result", "RecorderKeyA", "RecorderKeyB"}


class _Read(NamedTuple):
    """A token of movetext: ``kind`` is move, comment, note (behind a semicolon), result or other."""

    kind: str
    at: int
    parts: tuple[str, ...]


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
        elif line.strip():
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
        kept: list[tuple[int, str, str]] = []
        places: dict[str, int] = {}
        notes: list[_Read] = []
        at = 0
        while True:
            at = _skip_blanks(text, at)
            note = _NOTE.match(text, at)
            if note is not None:
                notes.append(_Read("note", at, (note[1].strip(),)))
                at = note.end()
                continue
            found = _TAG.match(text, at)
            if found is None:
                break
            name, value = found[1], _decoded(_ESCAPED.sub(r"\1", found[2]))
            if name in tags:
                self._anomaly(AnomalyKind.MALFORMED, begin + at, f"the tag {name} stands here twice", found[0])
            else:
                tags[name] = value
                places[name] = begin + at
                if name not in _OWN_TAGS:
                    kept.append((begin + at, name, value))
            at = found.end()
        first = next((token for token in _tokens(text, at) if token.kind not in ("comment", "note", "result")), None)
        if not _PLAYERS.intersection(tags) and (first is None or first.kind != "move"):
            return self._chess(text, begin)
        boards = {
            letter: BpgnBoard(letter, tags.get(f"White{letter}", "?"), tags.get(f"Black{letter}", "?"))
            for letter in "AB"
        }
        for letter, board in boards.items():
            board.offset = places.get(f"White{letter}", begin)
            board.ratings = (_rating(tags.get(f"White{letter}Elo")), _rating(tags.get(f"Black{letter}Elo")))
        facts = self._facts(tags, kept, begin, begin + len(text.rstrip()))
        for remark in notes:
            self._comment(remark, begin, facts, None)
        self._moves(text, at, begin, boards, facts)
        if tags.get("Result", facts.result) != facts.result:
            message = f"the tag Result says {tags['Result']}, the movetext {facts.result}"
            self._anomaly(AnomalyKind.CONFLICT, begin, message, "")
        games, found_wrong = make_games(boards["A"], boards["B"], facts)
        self.anomalies += found_wrong
        return games

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

    def _facts(self, tags: dict[str, str], kept: list[tuple[int, str, str]], begin: int, end: int) -> BpgnFacts:
        facts = BpgnFacts(server=_known(tags.get("Site")) or self._server, begin=begin, end=end)
        facts.event = tags.get("Event", "")
        facts.kept = kept
        if control := _CONTROL.fullmatch(tags.get("TimeControl", "")):
            facts.base_s, facts.increment_s = int(control[1]), int(control[2])
        facts.lags = [int(word) if _NUMBER.fullmatch(word) else None for word in tags.get("Lag", "").split()]
        facts.result = tags.get("Result", "*") if tags.get("Result") in ("1-0", "0-1", "1/2-1/2") else "*"
        day, clock = _DATE.fullmatch(tags.get("Date", "")), _TIME.fullmatch(tags.get("Time", ""))
        try:
            if day is not None:
                year, month, number = map(int, day.groups())
                facts.day = datetime.date(year, month, number)
            if facts.day is not None and clock is not None:
                hour, minute, second = map(int, clock.groups())
                begun = datetime.datetime.combine(facts.day, datetime.time(hour, minute, second), datetime.UTC)
                facts.started_at_ms = 1000 * round(begun.timestamp())
        except ValueError as error:
            self._anomaly(AnomalyKind.MALFORMED, begin, f"date and time are none: {error}", "")
        return facts

    def _moves(self, text: str, at: int, begin: int, boards: dict[str, BpgnBoard], facts: BpgnFacts) -> None:
        """Read the movetext into the boards' moves."""
        count = 0
        last: BpgnBoard | None = None
        reason: _Read | None = None
        ended = False
        for token in _tokens(text, at):
            place = begin + token.at
            if token.kind == "note":
                self._comment(token, begin, facts, last)
                continue
            if token.kind == "result":
                facts.result, ended = token.parts[0], True
                continue
            if ended:
                self._anomaly(AnomalyKind.MALFORMED, place, "text after the result", token.parts[0])
                continue
            if reason is not None:  # it was not the last comment
                self._comment(reason, begin, facts, last)
                reason = None
            if token.kind == "move":
                number, letter, san = token.parts
                last = boards[letter.upper()]
                last.add(2 * int(number) - letter.isupper(), san, place)
                last.lag(facts.lags[count] if count < len(facts.lags) else None)
                count += 1
            elif token.kind == "comment":
                clock = _CLOCK.fullmatch(token.parts[0])
                if clock is not None and last is not None and last.wants_clock:
                    sign, whole, thousandths = clock.groups()
                    clock_ms = 1000 * int(whole) + int((thousandths or "0").ljust(3, "0"))
                    last.clock(-clock_ms if sign else clock_ms, thousandths is not None)
                    continue
                if token.parts[0].startswith("C:"):
                    self._comment(token, begin, facts, last)
                else:
                    reason = token
            else:
                self._anomaly(AnomalyKind.MALFORMED, place, "neither move nor comment", token.parts[0])
            if last is not None and token.kind != "move":
                last.wants_clock = False
        if reason is not None and ended:
            facts.reason, facts.reason_at = _decoded(reason.parts[0]), begin + reason.at
        elif reason is not None:
            self._comment(reason, begin, facts, last)
        if facts.lags and len(facts.lags) != count:
            message = f"the tag Lag has {len(facts.lags)} numbers for {count} moves"
            self._anomaly(AnomalyKind.MALFORMED, begin, message, "")
        if not ended:
            self._anomaly(AnomalyKind.CUT, begin + len(text), "the match ends without its result", "")

    def _comment(self, token: _Read, begin: int, facts: BpgnFacts, last: BpgnBoard | None) -> None:
        if self._comments:
            raw = token.parts[0]
            words = _decoded(raw.removeprefix("C:"))
            detail = "comment" if raw.startswith("C:") else "annotation"
            facts.comments.append((begin + token.at, detail, words, last))


def _tokens(text: str, at: int) -> Iterator[_Read]:
    end = len(text)
    while (at := _skip_blanks(text, at)) < end:
        if found := _MOVE.match(text, at):
            yield _Read("move", at, (found[1], found[2], found[3]))
        elif found := _COMMENT.match(text, at):
            yield _Read("comment", at, (found[1],))
        elif found := _NOTE.match(text, at):
            yield _Read("note", at, (found[1].strip(),))
        elif found := _RESULT.match(text, at):
            yield _Read("result", at, (found[0],))
        elif text[at] == "{":  # a comment that is never closed
            yield _Read("other", at, (text[at:],))
            return
        else:
            found = _OTHER.match(text, at)
            assert found is not None
            yield _Read("other", at, (found[0],))
        at = found.end()


def _without_note(line: bytes, in_comment: bool) -> bytes:
    """A line without its comment behind a semicolon; in braces a semicolon is text.

    Args:
        in_comment: the line begins in braces.
    """
    begin = line.find(b"}") + 1 if in_comment else 0
    if in_comment and not begin:
        return line
    return line[:begin] + _REST_OF_LINE.sub(lambda found: found[1] or b"", line[begin:])


def _skip_blanks(text: str, at: int) -> int:
    while at < len(text) and text[at].isspace():
        at += 1
    return at


def _decoded(text: str) -> str:
    """UTF-8 where it is, latin-1 else."""
    try:
        return text.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return text


def _known(value: str | None) -> str | None:
    return None if value in (None, "", "?") else value


def _rating(text: str | None) -> RatingText | None:
    if text is None or text in ("", "?"):
        return None
    return RatingText(text, int(text) if _NUMBER.fullmatch(text) else None)
