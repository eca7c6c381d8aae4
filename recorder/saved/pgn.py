"""PGN as a source: lines → tag sections and movetext → games, in memory that does not grow with the file.

A game ends where its result stands, where the next tag section begins, or with the file. One that this program wrote
in several parts waits for the next part. Text outside games (a letter around it, a file's heading) is an anomaly, with
the line that it begins with. Inside braces anything may stand, but a blank line and an Event
tag after it say that the brace was never closed.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import replace
from typing import Final

from recorder.model import Anchor, AnchorReason, Anomaly, AnomalyKind, EventKind, Game, GameEvent, Observation, PlyLine
from recorder.model.observations import runs_of
from recorder.saved.base import SavedReader
from recorder.saved.pgn_game import MOVES_MISSING, PartOf, read_game
from recorder.saved.pgn_text import begins_moves, decoded, ends_game, open_brace, read_tags

_MOST_TEXT: Final = 4 << 20
_SHOWN: Final = 200  # characters of text outside games
_EVENT: Final = re.compile(r'\[Event\s+"[^\n]*"\s*\]\s*')
_LIKE_TAG: Final = re.compile(r'\[[A-Za-z][A-Za-z0-9_]*\s+"')
_MATCH: Final = re.compile(r"\s*+(?>(?:(?:\{[^{}]*+\}|;[^\n]*+)\s*+)*)1[ABab]\.")
_BOARDS: Final = frozenset(("WhiteA", "BlackA", "WhiteB", "BlackB"))


class PgnReader(SavedReader):
    def __init__(self, *, server: str | None = None, chat: str = "public", offset: int = 0) -> None:
        super().__init__(server=server, chat=chat, offset=offset)
        self._tags: list[tuple[str, str, int]] = []
        self._text: list[str] = []
        self._text_offset = 0
        self._text_length = 0
        self._in_comment = False
        self._blank = False  # the line before was blank
        self._done = False  # the last line of movetext ended with a result
        self._outside: tuple[int, str] | None = None  # text outside games: offset, first line
        self._part: tuple[Game, PartOf] | None = None  # goes on in the next part

    @property
    def read_up_to(self) -> int:
        if self._part is not None:
            return self._part[0].first_offset
        if self._tags:
            return self._tags[0][2]
        if self._outside is not None:
            return self._outside[0]
        return self._text_offset if self._text else self._end

    def finish(self) -> list[Game]:
        games = super().finish() + self._close()
        self._report_outside()
        if self._part is not None:
            games.append(self._part[0])
            self._part = None
        return games

    def _line(self, raw: bytes, offset: int) -> list[Game]:
        self._end = offset + len(raw)
        self.line_count += raw.endswith(b"\n")
        line = raw.decode("latin-1")
        stripped = line.strip()
        blank, self._blank = self._blank, not stripped
        if self._in_comment:
            if not (blank and _EVENT.fullmatch(stripped)):
                return self._movetext(line, stripped, offset)
            self._in_comment = False  # the reader of tokens says so
        if not stripped:
            if self._done:
                return self._close()
            if self._text:
                self._text.append(line)
                self._text_length += len(line)
            return []
        if stripped[0] == "[":
            pairs = read_tags(stripped)
            if pairs is not None:
                if self._tags and not blank and all(one[0] == ";" for one in self._text):
                    self._report_among_tags()
                games = self._close() if self._text or self._is_next(pairs[0][0], blank) else []
                at = offset + line.index("[")
                if not self._tags:
                    self._report_outside()
                self._tags += [(name, value, at) for name, value in pairs]
                return games
            if (self._tags or _LIKE_TAG.match(stripped)) and not self._text:
                message = "a tag pair that cannot be read"
                self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, offset, None, message, stripped))
                return []
        escaped = line[0] == "%" and not self._text
        if escaped and self._tags:
            self.anomalies.append(
                Anomaly.of(AnomalyKind.MALFORMED, offset, None, "an escape line among tags", stripped)
            )
            return []
        if escaped or not (self._text or self._tags or stripped[0] in "{;" or begins_moves(line) or _MATCH.match(line)):
            if self._outside is None:
                self._outside = offset, stripped
            return []
        return self._movetext(line, stripped, offset)

    def _is_next(self, name: str, blank: bool) -> bool:
        """Whether a tag begins another section though the one before has no moves."""
        return (blank or name == "Event") and any(name == before for before, _, _ in self._tags)

    def _report_outside(self) -> None:
        if self._outside is not None:
            offset, line = self._outside
            self._report_text("text outside games", line, 0, offset)
            self._outside = None

    def _report_among_tags(self) -> None:
        """Note comments between two tags, which belong to no move."""
        if self._text:
            self._report_text("a comment among tags", "".join(self._text), 0, self._text_offset)
            self._text, self._text_length = [], 0

    def _report_text(self, message: str, text: str, begin: int, offset: int) -> None:
        """Note text that belongs to no game; ``offset`` is that of ``text[0]``."""
        shown = text[begin : begin + _SHOWN].strip()
        at = offset + begin + text[begin : begin + _SHOWN].index(shown)
        self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, at, None, f"{message}: '{decoded(shown)}'", shown))

    def _movetext(self, line: str, stripped: str, offset: int) -> list[Game]:
        if not self._text:
            self._text_offset = offset
            if not self._tags:
                self._report_outside()
        self._text.append(line)
        self._text_length += len(line)
        if line[0] != "%" or self._in_comment:
            self._in_comment = open_brace(line, self._in_comment)
        self._done = not self._in_comment and ends_game(stripped)
        if self._text_length > _MOST_TEXT:
            message = f"movetext of more than {_MOST_TEXT:,} characters is cut here"
            self.anomalies.append(Anomaly.of(AnomalyKind.LONG_LINE, offset, None, message, line))
            return self._close()
        return []

    def _close(self) -> list[Game]:
        """Read what was gathered: one game, or several that have no tags between them."""
        tags, text, offset = self._tags, "".join(self._text), self._text_offset
        self._tags, self._text, self._text_length = [], [], 0
        self._in_comment = self._done = False
        games: list[Game] = []
        begin = 0
        while tags or text[begin:].strip():
            if not text:
                offset = tags[-1][2]
            if _MATCH.match(text, begin) or (tags and _of_two_boards(tags)):
                at = tags[0][2] if tags else offset + begin
                message = "a bughouse match in a file of chess games: --kind bpgn reads both"
                self.anomalies.append(Anomaly.of(AnomalyKind.MALFORMED, at, None, message, text[begin:].strip()))
                break
            if not tags and begin and not begins_moves(text[begin:].lstrip()):
                self._report_text("text behind the result", text, begin, offset)
                break
            before = begin
            try:
                game, anomalies, begin, part = read_game(
                    tags, text, begin, offset, server=self._server, comments=self._comments
                )
            except Exception as error:  # a bug: the game is counted, the others follow
                self.failures.note(error, tags[0][2] if tags else offset + begin, None, text[begin:].strip())
                break
            self.anomalies += anomalies
            if game is None:
                self._report_text("text outside games", text, before, offset)
            else:
                games += self._joined(game, part)
            tags = []
        return games

    def _joined(self, game: Game, part: PartOf | None) -> list[Game]:
        waiting, self._part = self._part, None
        games: list[Game] = []
        if waiting is not None:
            before, its_part = waiting
            whole = _join_parts(before, game) if part is not None and part.continues(its_part) else None
            if whole is None:
                games.append(before)
            else:
                game = whole
        if part is not None and part.goes_on:
            self._part = game, part
            return games
        return [*games, game]


def _join_parts(first: Game, second: Game) -> Game | None:
    """Join two parts of one game to one observation with a gap; None: it is unknown where the second part begins."""
    earlier, later = first.observations[0], second.observations[0]
    before = earlier.lines[0].rows
    if second.start_fen is None or (before and second.start_ply < before[-1][0]):
        return None
    rows = [*before, *later.lines[0].rows]
    shift = len(earlier.lines) - 1
    lines = [PlyLine(0, earlier.lines[0].kind, None, None, rows), *earlier.lines[1:]]
    lines += [
        replace(line, number=line.number + shift, parent=line.parent + shift if line.parent else line.parent)
        for line in later.lines[1:]
    ]
    anchors = [*earlier.anchors, Anchor(0, second.start_ply, second.start_fen, AnchorReason.GAP, later.offset)]
    anchors += [
        anchor._replace(line=anchor.line + shift if anchor.line else 0)
        for anchor in later.anchors
        if anchor.reason is not AnchorReason.START
    ]
    thinking = [*earlier.thinking, *later.thinking]
    joined = replace(
        earlier,
        end_offset=later.end_offset,
        lines=lines,
        anchors=anchors,
        events=_joined_events(earlier, later, shift),
        thinking=[thought._replace(seq=seq) for seq, thought in enumerate(thinking)],
    )
    return replace(
        first,
        key=hashlib.blake2b(json.dumps([first.key, second.key]).encode(), digest_size=10).hexdigest(),
        result=second.result,
        reason=second.reason,
        reason_key=second.reason_key,
        termination=second.termination,
        end=second.end,
        complete=False,
        observations=[joined],
        segments=runs_of(row[0] for row in rows),
        last_offset=later.end_offset,
    )


def _joined_events(observation: Observation, other: Observation, shift: int) -> list[GameEvent]:
    """The events of both parts, without the tags that both have and our own remarks."""
    events = observation.events
    if events and events[-1].text == MOVES_MISSING:
        events = events[:-1]
    more = [event for event in other.events if event.kind is not EventKind.TAG]
    more = [event._replace(value=event.value + shift if event.value else event.value) for event in more]
    return [event._replace(seq=seq) for seq, event in enumerate([*events, *more])]


def _of_two_boards(tags: list[tuple[str, str, int]]) -> bool:
    """Whether the tags name the players of bughouse's boards and none of a game of chess."""
    names = {name for name, _, _ in tags}
    return not names.isdisjoint(_BOARDS) and names.isdisjoint(("White", "Black"))
