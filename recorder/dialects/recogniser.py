"""Lines in, events out: the one place that decides what a line is.

A line is classified as a whole, from its start: first tags, then ``{Game``, ``Game N:``, the movelist being read,
chat, banners and the rest. A tag further inside a line counts only where everything before it is prompts or
server text that is no chat, and where all that follows passes the whole grammar.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import length_hint
from typing import Final

from recorder.containment import contain
from recorder.dialects.chat import parse_chat
from recorder.dialects.gameinfo import HOLDINGS_TAG, parse_delta, parse_gameinfo, parse_holdings
from recorder.dialects.icc.units import UnitReader
from recorder.dialects.lists import parse_counted, parse_notified, parse_refusal, parse_row
from recorder.dialects.movelist import MovelistReader
from recorder.dialects.notices import (
    parse_created,
    parse_creating,
    parse_examine,
    parse_header,
    parse_notice,
    parse_observing,
    parse_partner,
    split_glued,
)
from recorder.dialects.results import GAME, parse_results
from recorder.dialects.session import TEXT_BLOCKS, answers, is_noise, is_setting, parse_session
from recorder.dialects.style12 import FRAME_TAG, check_frame, frame_end, parse_style12, take_usual
from recorder.events import Event, GameEnded, Line, Malformed, Noise, SessionNotice, SessionNoticeKind, Unrecognised
from recorder.events.frames import Style12
from recorder.wire.prompts import BEFORE_ANSWER, PromptStripper

_PROMPT_ALONE: Final = re.compile(r"\S*[%>]\s*")  # a prompt that was not learned yet
_GAME: Final = re.compile(GAME)
_PRETTY: Final = re.compile(
    r"(?:[A-Z]?[a-l]?[1-9]?x?@?[a-l][1-9](?:=?[A-Z])?|O-O(?:-O)?|none|NONE)[+#]*"
)  # no text of a move that was cut, or that another field was joined to
_TERMINAL: Final = 60  # letters that a line has at least if a terminal cut it
_TAG: Final = re.compile(r"<(?:12|b1|g1|d1)>")
_COUNTED: Final = (FRAME_TAG, HOLDINGS_TAG)
_TAG_PARSERS: dict[str, Callable[[Line], Event | None]] = {
    "<12>": lambda line: parse_style12(*line),
    "<b1>": parse_holdings,
    "<g1>": parse_gameinfo,
    "<d1>": parse_delta,
}
# Texts about games that servers send at any time, in the middle of a list too.
_GAME_STARTS: Final = ("Game ", "{Game ", "You are now ", "Removing ", "Creating: ")
MAX_SHAPES: Final = 1000
_OTHER_SHAPES: Final = "(other shapes)"
_DIGITS: Final = re.compile(r"[0-9]+")
_NAME_WORD: Final = re.compile(r"\b(?=\w*[A-Z0-9])[A-Za-z][A-Za-z0-9-]{2,}\b")
_MAX_SHAPE_LENGTH: Final = 100


class Recogniser:
    """Turns the lines of one connection into events.

    ``quoted`` counts by tag (``<12>``, ``<b1>``) those that are part of other text: chat, help, broken lines.
    ``shapes`` has the unrecognised lines by shape: how many, and the offset of the first.
    """

    def __init__(self, stripper: PromptStripper | None = None) -> None:
        self.quoted: Counter[str] = Counter()
        self.shapes: dict[str, list[int]] = {}
        self.prompts = stripper or PromptStripper()
        self._list = MovelistReader()
        self._pending: tuple[Line, Style12 | Malformed] | None = None  # a cut frame or result
        self._held: list[Line] = []  # the lines behind it that may belong to it
        self.units = UnitReader(self._count_shape)
        self._busy = False  # a unit, a list or a cut frame is open: frames need a second look

    def feed(self, lines: Sequence[Line]) -> list[Event]:
        """Read complete lines and return the events that are complete; blank lines and bare prompts make none."""
        out: list[Event] = []
        waiting = iter(lines)
        while True:
            try:
                if self._busy:
                    self._take_busy(waiting, out)
                for line in take_usual(waiting, out):
                    if line.text:
                        self._line(line, out)
                        if self._busy:
                            self._take_busy(waiting, out)
                return out
            except Exception as error:  # a bug: the line is counted, the log goes on
                self._leave_out(lines[len(lines) - length_hint(waiting) - 1], error, out)

    def _take_busy(self, lines: Iterator[Line], out: list[Event]) -> None:
        for line in lines:
            if line.text:
                self._line(line, out)
                if not self._busy:
                    return

    @property
    def pending_offset(self) -> int | None:
        waiting = [
            self._list.pending_offset,
            self._pending[0].offset if self._pending is not None else None,
            self.units.begin if self.units.depth else None,
        ]
        return min((offset for offset in waiting if offset is not None), default=None)

    def finish(self) -> list[Event]:
        out: list[Event] = []
        self._again(self.units.release(), out)
        while self._pending is not None:
            self._release(out)
        self._end_list(out)
        return out

    def _marked(self, line: Line, out: list[Event]) -> None:
        """A mark of ICC's units, a datagram, or text that is none of the stream."""
        event, lines = self.units.mark(line)
        self._quote(line.text)
        out.append(event)
        self._again(lines, out)
        self._look()

    def _again(self, lines: list[Line], out: list[Event]) -> None:
        """Lines that waited for their unit's end."""
        for line in lines:
            try:
                self._line(line, out)
            except Exception as error:  # a bug: the line is counted, the log goes on
                self._leave_out(line, error, out)

    def _leave_out(self, line: Line, error: Exception, out: list[Event]) -> None:
        """Make an anomaly of a line that met an error of this program, and end what was open; or raise the error."""
        message = contain(error)
        tag = FRAME_TAG if line.text.startswith(FRAME_TAG) else ""
        self._quote(line.text[len(tag) :])
        if self._pending is not None:
            out.append(self._pending[1])
        self._pending = None
        out.append(Malformed(line, tag, message, error))
        self._end_list(out)
        held, self._held = self._held, []
        self._again([*held, *self.units.release()], out)
        self._look()

    def _look(self) -> None:
        self._busy = self._list.open or self._pending is not None or self.units.depth > 0

    def _line(self, line: Line, out: list[Event]) -> None:
        if line.text[0] == "\x19":
            self._marked(line, out)
            return
        if self.units.depth:
            self._again(self.units.keep(line), out)
            self._look()
            return
        text, removed = self.prompts.strip(line.text)
        if removed:
            self._quote(line.text[:removed])
            line = line._replace(text=text)
        while self._pending is not None:  # a line that was held back may be cut, too
            if not removed and self._joined(line, out):
                return
            self._release(out)
        if not text or text.isspace():
            return
        if answers(line.block, TEXT_BLOCKS):
            self._quote(text)
            out.append(Noise(line))
        elif text[:4] in _TAG_PARSERS:
            self._tagged(line, out)
        elif not self._known(line, out) and not self._glued(line, out) and not self._prompted(line, out):
            if "}" not in text and _GAME.match(text) is not None:
                self._pending = line, Malformed(line, "", "the line ends before the result")
            else:
                self._quote(text)
                self._unknown(line, out)
        self._look()

    # Tagged lines

    def _tagged(self, line: Line, out: list[Event]) -> None:
        """A line that begins with a tag; loggers that lose line ends glue several into one."""
        text = line.text
        tag = text[:4]
        if text.find("<", 4) < 0 or _TAG.search(text, 4) is None:
            line, rest = self._cut_rest(line)
            event = self._parse_tag(line)
            if tag != FRAME_TAG:
                out.append(event)
            elif isinstance(event, Malformed) or (isinstance(event, Style12) and event.partial):
                self._pending = line, event
            else:
                self._emit(event, out)
            if rest is not None:
                self._line(rest, out)
            return
        starts = [match.start() for match in _TAG.finditer(text)]
        parts = [
            line._replace(text=text[start:end].rstrip(), offset=line.offset + start)
            for start, end in zip(starts, [*starts[1:], len(text)], strict=True)
        ]
        cut = [self._cut_rest(part) for part in parts]
        events = [self._parse_tag(part) for part, _ in cut]
        if all(self._whole(event) for event in events):
            for event, (_, rest) in zip(events, cut, strict=True):
                self._emit(event, out)
                if rest is not None:
                    self._line(rest, out)
            return
        self._quote(text[4:])
        out.append(Malformed(line, tag, "another tagged line stands inside this one"))

    def _cut_rest(self, line: Line) -> tuple[Line, Line | None]:
        """A frame and a text behind it whose line end was lost (None: nothing is behind it)."""
        end = frame_end(line.text) if line.text[:4] == FRAME_TAG else None
        if end is None:
            return line, None
        skip = end
        while line.text[skip : skip + 1] == " ":
            skip += 1
        skip += self.prompts.strip(line.text[skip:])[1]
        text = line.text[skip:]
        rest = line._replace(text=text, offset=line.offset + skip)
        if skip > end:
            is_rest = bool(parse_results(rest) or parse_chat(rest) or self._about_game(rest))
        else:
            is_rest = _PROMPT_ALONE.fullmatch(text) is None
        return (line._replace(text=line.text[:end]), rest) if text and is_rest else (line, None)

    @staticmethod
    def _parse_tag(line: Line) -> Event:
        event = _TAG_PARSERS[line.text[:4]](line)
        assert event is not None
        return event

    @staticmethod
    def _whole(event: Event) -> bool:
        if isinstance(event, Style12):
            return not event.partial and check_frame(event) is None
        if isinstance(event, GameEnded):
            return event.reason_key != "unknown"
        return not isinstance(event, Malformed)

    def _emit(self, event: Event, out: list[Event]) -> None:
        if not (isinstance(event, Style12) and self._list.offer_frame(event)):
            out.append(event)

    def _joined(self, line: Line, out: list[Event]) -> bool:
        """Whether the line belongs to what a terminal cut: at a blank, or at its last column."""
        assert self._pending is not None
        first = self._pending[0]
        texts = [first.text]
        for piece in (*self._held, line):
            texts = [text + gap + piece.text for text in texts for gap in (" ", "")]
        for text in texts:
            whole = first._replace(text=text)
            events = [self._parse_tag(whole)] if text[:4] == FRAME_TAG else parse_results(whole)
            cut = [
                event for event in events if isinstance(event, Style12) and not _PRETTY.fullmatch(event.pretty or "")
            ]
            if events and not cut and all(map(self._whole, events)):
                self._pending = None
                self._held.clear()
                self._quote(text[4:])
                for event in events:
                    self._emit(event, out)
                self._look()
                return True
        if self._held or len(line.text) < _TERMINAL or line.text[:4] in _TAG_PARSERS:
            return False
        self._held.append(line)
        return True

    def _release(self, out: list[Event]) -> None:
        assert self._pending is not None
        line, event = self._pending
        self._pending = None
        self._quote(line.text[4:])
        self._emit(event, out)
        held, self._held = self._held, []
        self._again(held, out)
        self._look()

    # Other lines

    def _known(self, line: Line, out: list[Event]) -> bool:
        text = line.text
        if text.startswith("{Game "):
            created = parse_created(line)  # some servers write * behind it
            ends = [created] if created is not None else parse_results(line)
            if ends:
                out += ends
                self._quote(text)
                return True
        event = self._about_game(line) if text.startswith(_GAME_STARTS) else None
        if event is None and self._list.open:
            taken = self._list.take(line)
            if taken is not False:
                self._quote(text)
                if taken is not True:
                    out.append(taken)
                return True
            self._end_list(out)
        if event is None:
            if self._list.begin(line):
                self._quote(text)
                return True
            event = parse_chat(line) or parse_session(line) or self._about_game(line) or self._listed(line)
        if event is None and is_noise(text):
            event = Noise(line)
        if event is None:
            return False
        if isinstance(event, SessionNotice) and event.kind is SessionNoticeKind.PROMPT:
            self.prompts.learn(text)
        if "<" in text:
            self._quote(text)
        out.append(event)
        return True

    @staticmethod
    def _about_game(line: Line) -> Event | None:
        if line.text.startswith("{Game "):
            return parse_created(line)
        return (
            parse_observing(line)
            or parse_header(line)
            or parse_creating(line)
            or parse_partner(line)
            or parse_notice(line)
            or parse_examine(line)
        )

    @staticmethod
    def _listed(line: Line) -> Event | None:
        """A row or the end of the ``games`` table, a game that began elsewhere, a refusal to observe."""
        first = line.text[:1]
        if first.isdecimal() or first == " ":
            return parse_row(line) or parse_counted(line)
        return (parse_counted(line) or parse_notified(line) or parse_refusal(line)) if first in "GNTVY" else None

    def _end_list(self, out: list[Event]) -> None:
        if self._list.open:
            begin = self._list.pending_offset
            try:
                ended = self._list.close()
            except Exception as error:  # a bug: the line is counted, the log goes on
                self._list = MovelistReader()
                self._leave_out(Line("", begin or 0), error, out)
                return
            if isinstance(ended, Line):
                self._unknown(ended, out)
            else:
                out.append(ended)
            self._look()

    def _glued(self, line: Line, out: list[Event]) -> bool:
        """Split a line into several known ones whose line ends were lost; only if all of it is known."""
        places = split_glued(line.text, self.prompts)
        if not places or places[0] == (0, len(line.text)):
            return False
        parts = [line._replace(text=line.text[a:b].rstrip(), offset=line.offset + a) for a, b in places]
        if _TAG.match(parts[-1].text) is not None:
            rest = [match.start() for match in _TAG.finditer(parts[-1].text)]
            if len(rest) > 1 or not self._whole(self._parse_tag(parts[-1])):
                return False
        for part in parts:
            if _TAG.match(part.text) is not None:
                self._tagged(part, out)
            elif not self._known(part, out):
                self._unknown(part, out)
        return True

    def _prompted(self, line: Line, out: list[Event]) -> bool:
        """Learn an unknown prompt that stands before a line of the server, and read that line; False: it is not one."""
        prompt = self.prompts.find_unknown(line.text)
        if prompt is None:
            return False
        rest = line._replace(text=line.text[prompt[1] :])
        if rest.text[:4] in _TAG_PARSERS:
            answers_us = self._whole(self._parse_tag(rest))
        else:
            answers_us = is_setting(rest.text) or bool(
                parse_session(rest) or parse_results(rest) or self._about_game(rest) or self._listed(rest)
            )
        if not answers_us or not self.prompts.shown(prompt[0], BEFORE_ANSWER):
            return False
        self._line(line, out)
        return True

    def _unknown(self, line: Line, out: list[Event]) -> None:
        if self.prompts.learn(line.text):
            out.append(SessionNotice(line, SessionNoticeKind.PROMPT, line.text.strip()))
            return
        self._count_shape(_DIGITS.sub("0", _NAME_WORD.sub("X", line.text[:_MAX_SHAPE_LENGTH])), line.offset)
        out.append(Unrecognised(line))

    def _count_shape(self, shape: str, offset: int) -> None:
        if shape not in self.shapes and len(self.shapes) >= MAX_SHAPES:
            shape = _OTHER_SHAPES
        count = self.shapes.setdefault(shape, [0, offset])
        count[0] += 1

    def _quote(self, text: str) -> None:
        if "<" in text:
            for tag in _COUNTED:
                if tag in text:
                    self.quoted[tag] += text.count(tag)
