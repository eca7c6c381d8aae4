"""Bytes of the incoming direction → complete logical lines.

The order of the steps matters: telnet commands go first because they may contain any byte, then lines are cut at
``\\n``; inside a line, block-mode bytes cut it further, seal pings, bells, ``\\r`` and escape sequences go, and
continuation lines are put back together. Only then is a line emitted, so no reader can mistake a part for a line.

Most chunks hold none of the rare bytes. They are cut in bulk, which is a shortcut through ``LineReader._take`` for
lines with which it has nothing to do, not another set of rules.

Sources: FICS help pages ``iv_block`` and ``iv_nowrap``; the wrapping of FICS 1.6.2 (network.c) and of FatICS
(telnet.py); the seal helpers openseal (``[G]`` as a line) and zseal (``[G]`` and a zero byte anywhere); ICC's
formats2.txt (``\\x19``).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from functools import partial
from itertools import accumulate
from typing import Final

from recorder.events import LONGEST_CUT, Chunk, CutLines, Line
from recorder.events.lines import LineRow
from recorder.model import Anomaly, AnomalyKind
from recorder.wire.controls import Controls, TelnetFilter

MARGIN: Final = len("\\   ")
"""How many characters a continuation line begins with."""
_WHOLE_TAGS: Final = ("<12>", "<b1>", "<g1>", "<d1>")


class WrappedLine:
    """A line that the next one may continue. ``keeps_blanks``: this server leaves the blank where it breaks a line."""

    def __init__(self) -> None:
        self.line: Line | None = None
        self.size = 0
        self._more: list[str] = []  # its continuations
        self._end = ""  # its last characters, in which a tag may begin
        self._last = ""  # its last physical line
        self._width = 0  # the longest of its physical lines
        self.keeps_blanks = False

    def hold(self, line: Line) -> None:
        self.line = line
        self._last = self._end = line.text
        self.size = self._width = len(line.text)

    def add(self, physical: str, at_ms: int | None, margin: int) -> tuple[str, str]:
        """Append a continuation; the ``margin`` characters beside the seam as sent, with a line end, and as now."""
        assert self.line is not None
        part = physical[MARGIN:]
        more = self._glue(part, physical) + part
        end, begin = self._end[-margin:], part[:margin]
        self._more.append(more)
        self._end = (end + more)[-margin:]
        self.size += len(more)
        self.line = self.line._replace(at_ms=at_ms)
        self._last = physical
        self._width = max(self._width, len(physical))
        return f"{end}\n{begin}", end + more[: len(more) - len(part)] + begin

    def _glue(self, part: str, physical: str) -> str:
        """The text between two parts: FICS removes the blank, FatICS leaves it, both may cut a long word.

        A word is cut only where it is too long for a line of its own, and then the line before is full.
        """
        before = self._last
        if not part or not before.strip():
            return ""
        if before.endswith(" ") or part.startswith(" "):
            self.keeps_blanks = True
            return ""
        if self.keeps_blanks:
            return ""
        word = len(before.rpartition(" ")[2]) + len(part.partition(" ")[0])
        return "" if len(before) >= max(self._width, len(physical)) and word > len(before) - MARGIN else " "

    def release(self, out: list[LineRow]) -> None:
        line = self.line
        if line is not None:
            if self._more:
                line = line._replace(text=line.text + "".join(self._more))
                self._more.clear()
            out.append(line)
            self.line = None


def is_whole(text: str) -> bool:
    """Whether no server wraps this line (frames and similar lines) and a board has all fields up to its times."""
    return text.startswith(_WHOLE_TAGS) and (")" in text or not text.startswith("<12>"))


DELETED: Final = b"\r\x07\x00"
PING: Final = b"[G]\x00"
_OPEN: Final = ord("(")
# What makes a line more than text (pings and the rest of a cut frame do, too). One search for each is many times
# quicker than one pattern for all.
_RARE_BYTES: Final = (b"\x08", b"\x15", b"\x16", b"\x17", b"\x18", b"\x19", b"\x1a", b"\x1b", b"\\")


def cut_lines(data: bytes, offset: int) -> tuple[list[str], list[int]]:
    """Cut what ends before the last line's ``\\n``; the offsets have one entry more: where the next line begins."""
    if b"\x07" not in data and b"\0" not in data:
        lead = data.startswith(b"\r")
        body = data[lead:].decode("latin-1")
        cut = body.find("\n")  # how the first line ends; the last line's own ``\n`` is not in ``body``
        stop = len(body) if cut < 0 else cut
        end = "\n"
        if body[stop + 1 : stop + 2] == "\r":
            end = "\n\r"
        elif body.endswith("\r", 0, stop):
            end = "\r\n"
            body = body.removesuffix("\r")
        texts = body.split(end)
        rest = "".join(texts)
        if "\n" not in rest and "\r" not in rest:
            width = len(end)
            cut = offset + lead
            firsts = [cut]
            for text in texts:
                cut += len(text) + width
                firsts.append(cut)
            return texts, firsts
    raws = data.split(b"\n")
    firsts = list(accumulate([len(raw) + 1 for raw in raws], initial=offset))
    for index, raw in enumerate(raws):
        if raw[:1] == b"\r":
            firsts[index] += len(raw) - len(raw.lstrip(b"\r"))
    return data.translate(None, DELETED).decode("latin-1").split("\n"), firsts


def find_care(data: bytes, texts: list[str], offset: int, firsts: list[int], longest: int) -> list[int]:
    """Indices of the lines that are more than text or longer than ``longest`` bytes, in order."""
    care = find_suspect(texts)
    for mark in _RARE_BYTES if b"\0" not in data else (*_RARE_BYTES, PING):
        position = data.find(mark)
        while position >= 0:
            index = bisect_right(firsts, offset + position) - 1
            care.add(index)
            position = data.find(mark, firsts[index + 1] - offset)
    if len(data) > longest:
        care.update(index for index in range(len(firsts) - 1) if firsts[index + 1] - firsts[index] > longest)
    return sorted(care)


def find_suspect(texts: list[str]) -> set[int]:
    suspect = set()
    for index, text in enumerate(texts):
        if text and (ord(text[0]) == _OPEN or text == "[G]"):  # "(" may begin the rest of a frame
            suspect.add(index)
    return suspect


COUNTED_TAGS: Final = ("<12>", "<b1>")
"""The tags of which every occurrence must be accounted for."""

_RARE: Final = re.compile(rb"[\x08\x15-\x1b]|\[G\]\x00")
_NEVER_RARE: Final = bytes({*range(256)} - {0, 8, *range(0x15, 0x1C)})  # taking all these out is quicker than a search
_TOKEN: Final = re.compile(
    rb"\x15(?P<id>\d{0,9})\x16(?P<code>\d{0,9})\x16(?:\d{1,3}\x16)?|[\x15-\x18\x1a]|\x19[\[(](?=\d)|\x19[\])<>{}]|\x19"
)
_TAGGED: Final = re.compile(rb"\x19(?:<(?:12|b1|g1|d1)>|\{Game )")
_UNIT_END: Final = re.compile(rb"\x19[)\]]")
_LEAD: Final = rb"(?:[\r\x07\x00]|\[G\]\x00)*"
_CONTINUATION: Final = re.compile(_LEAD + rb"\\   ")
# What follows the verbose move of a frame: the rest of a frame that a terminal has cut between two words.
_FRAME_REST: Final = re.compile(rb"\(-?[\d:. -]+\) \S+(?: -?\d+){1,4} *\r*$")
_DELTA: Final = re.compile(_LEAD + rb"(?:\S{1,20}[%>] )*<d1>")
_PING_LINE: Final = re.compile(rb"[\r\x07\x00]*\[G\][\r\x07\x00]*$")
_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[()][0-9A-Za-z]|[=>78cDEHMNOZ])"
)
_MAY_CONTINUE: Final = (b"", b"\\", b"[", b"(")
_LONGEST_PROMPT: Final = 6
_TAG_MARGIN: Final = max(map(len, COUNTED_TAGS)) - 1
_PROMPTS: Final = ("fics% ", "aics% ", "fics%", "aics%")  # the servers' own, when they are a whole line
_NAME: Final = partial(tuple.__new__, Line)  # a row as ``Line``, without a call of Python's for each line


class LineReader:
    """Cuts chunks into lines. How the bytes are cut into chunks never changes the lines.

    Blank lines and lines that are nothing but one of the servers' own prompts (``fics% ``, ``aics% ``) are not emitted.
    A line's ``at_ms`` is that of the chunk that completed it: the prompt before it on the same line may have come
    minutes earlier.

    ICC's control sequences come out as lines of their own, which begin with ``\\x19``, so that no recogniser can take
    them for lines of the plain stream: the header of a level-1 unit (``\\x19[24 *``), its end (``\\x19]``) and a whole
    level-2 datagram (``\\x19(26 … \\x19)``, with the line ends inside; without its end where it was cut off). They are
    complete with their last byte: no line end need follow. The lines of a unit are between its two marks as they are;
    their reader must know of units. The mark of lost data comes out as ``\\x1a``; the line that it cut is no line, and
    comes out behind ``\\x19|``. A continuation line without a line before it keeps its ``\\``. ``anomalies`` are in
    order: ``LONG_LINE``, ``LOST_DATA`` and, at the end, ``CUT``. ``dropped`` counts by tag those that were in the
    decoded stream and are in no line's text (less than zero where joining a wrapped line made a tag that was not in the
    stream). ``prompt`` is the first prompt that stood alone on a line, and its offset.
    """

    def __init__(self, max_line_bytes: int = 65536) -> None:
        self.anomalies: list[Anomaly] = []
        self.dropped: Counter[str] = Counter()
        self.prompt: tuple[str, int] | None = None
        self._max = max_line_bytes
        self._telnet = TelnetFilter()
        self._parts: list[bytes] = []  # the unfinished line
        self._size = 0
        self._start = 0
        self._long = False  # the unfinished line is too long and being dropped
        self._tail = b""  # its last bytes, in which a tag may begin
        self._at_ms: int | None = None
        self.wrapped = WrappedLine()
        self.controls = Controls()
        self._datagram = self.controls.datagram

    def receive(self, chunk: Chunk | CutLines) -> list[Line]:
        """Return the lines that are complete now, with prompts. A chunk without bytes means that a connection ended."""
        out: list[LineRow] = []
        if isinstance(chunk, CutLines):
            self._take_cut(chunk, out)
            return list(map(_NAME, out))
        data, offset, at_ms = chunk
        self._at_ms = at_ms
        if self._telnet.rest or b"\xff" in data:
            for piece, start in self._telnet.receive(data, offset):
                self._split(piece, start, at_ms, out)
        else:
            self._split(data, offset, at_ms, out)
        return list(map(_NAME, out))

    @property
    def pending_offset(self) -> int | None:
        """None: every byte read has been emitted."""
        if self.wrapped.line is not None:
            return self.wrapped.line.offset
        if self._datagram.open:
            return self._datagram.start
        if self._parts or self._long:
            return self._start
        return self._telnet.rest_offset if self._telnet.rest else None

    def finish(self) -> list[Line]:
        """End the connection and return what is left, the last line without a line end included."""
        out: list[LineRow] = []
        if self._telnet.rest:
            self._pend(self._telnet.rest, self._telnet.rest_offset, self._at_ms, out)
            self._telnet = TelnetFilter()
        cut = bool(_DELTA.match(b"".join(self._parts)))
        self._complete(self._at_ms, out)
        self.controls.end_datagram(self._at_ms, out)
        self.wrapped.release(out)
        if cut and out:
            # Its last number may be cut, and nothing follows that would show it.
            text, offset, _, _ = out.pop()
            message = "the log ends inside a delta board"
            self.anomalies.append(Anomaly.of(AnomalyKind.CUT, offset, None, message, text))
        self.controls.reset()
        return list(map(_NAME, out))

    def _split(self, data: bytes, offset: int, at_ms: int | None, out: list[LineRow]) -> None:
        last = data.rfind(b"\n")
        if last < 0:
            self._pend(data, offset, at_ms, out)
        else:
            begin = 0
            if self._parts or self._long:
                begin = data.find(b"\n") + 1
                self._pend(data[: begin - 1], offset, at_ms, out)
                self._complete(at_ms, out)
            if begin <= last:
                whole = data[begin:last]
                if b"\n" in whole:
                    self._take_many(whole, offset + begin, at_ms, out)
                else:
                    self._take(whole, offset + begin, at_ms, out)
            self._pend(data[last + 1 :], offset + last + 1, at_ms, out)
        if self.wrapped.line is not None and self._parts and self._parts[0].lstrip(DELETED)[:1] not in _MAY_CONTINUE:
            self.wrapped.release(out)  # the first bytes of the next line show that it is another one

    def _pend(self, data: bytes, offset: int, at_ms: int | None, out: list[LineRow]) -> None:
        """Keep the beginning of a line until its end comes."""
        if self._long:
            self._drop(data)
            return
        if not self._parts:
            stripped = data.lstrip(b"\r")
            offset += len(data) - len(stripped)
            data = stripped
            self._start = offset
        if not data:
            return
        self._parts.append(data)
        if b"\x19" in data or (len(self._parts) > 1 and self._parts[-2][-1:] == b"\x19"):
            # A unit or a datagram is whole with its last byte; the next line end may come minutes later.
            raw = b"".join(self._parts)
            done = self._take_ended(raw, self._start, at_ms, out)
            if done:
                self._parts.clear()
                self._size = 0
                if done < 0:
                    self._long = True
                else:
                    self._pend(raw[done:], offset + len(data) - (len(raw) - done), at_ms, out)
                return
        self._size += len(data)
        if self._size > self._max:
            self._begin_long(self._start, b"".join(self._parts))
            self._parts.clear()
            self._size = 0
            self._long = True

    def _complete(self, at_ms: int | None, out: list[LineRow]) -> None:
        if self._long:
            self._long = False
            self.wrapped.release(out)
        elif self._parts:
            raw = b"".join(self._parts)
            self._parts.clear()
            self._size = 0
            self._take(raw, self._start, at_ms, out)
        else:
            self._end_line()

    def _begin_long(self, offset: int, raw: bytes) -> None:
        self._forget_datagram()
        message = f"a line is longer than {self._max} bytes and was skipped"
        self.anomalies.append(
            Anomaly(AnomalyKind.LONG_LINE, offset, None, message, raw[: min(80, self._max)].decode("latin-1"))
        )
        self._tail = b""
        self._drop(raw)

    def _drop(self, data: bytes) -> None:
        data = self._tail + data
        for tag in COUNTED_TAGS:
            if count := data.count(tag.encode()):
                self.dropped[tag] += count
        self._tail = data[-3:]

    def _take_many(self, data: bytes, offset: int, at_ms: int | None, out: list[LineRow]) -> None:
        """Read complete lines; ``data`` begins at a line's first byte and ends before the last line's ``\\n``."""
        texts, firsts = cut_lines(data, offset)
        done, ends = 0, len(texts) - 1
        for index in (*find_care(data, texts, offset, firsts, self._max), ends + 1):
            if done < index and not self._datagram.open:
                self._give_many(texts[done:index], firsts[done:index], at_ms, out)
                done = index
            for number in range(done, min(index, ends) + 1):
                begin = firsts[number] - offset
                end = data.find(b"\n", begin)
                self._take(data[begin:] if end < 0 else data[begin:end], firsts[number], at_ms, out)
            done = index + 1

    def _take_cut(self, cut: CutLines, out: list[LineRow]) -> None:
        if self._telnet.rest or self._parts or self._long or self._max < LONGEST_CUT:
            for chunk in cut.chunks():
                out += self.receive(chunk)
            return
        texts = cut.texts
        self._at_ms = cut.at_ms(len(texts) - 1)
        done, ends = 0, len(texts) - 1
        for index in (*sorted(find_suspect(texts)), ends + 1):
            if done < index and not self._datagram.open:
                self._give_cut(cut, range(done, index), out)
                done = index
            for number in range(done, min(index, ends) + 1):
                self._take(texts[number].encode("latin-1"), cut.offset(number), cut.at_ms(number), out)
            done = index + 1

    def _give_cut(self, cut: CutLines, indices: range, out: list[LineRow]) -> None:
        self.wrapped.release(out)
        texts = cut.texts
        kept = [
            index for index in indices if len(text := texts[index]) > _LONGEST_PROMPT or (text and text not in _PROMPTS)
        ]
        out += cut.lines(kept, self.controls.block)
        if self.prompt is None:
            self.prompt = next(((texts[at], cut.offset(at)) for at in indices if texts[at] in _PROMPTS), None)
        last = texts[indices[-1]]
        if last and last not in _PROMPTS and not is_whole(last):
            self.wrapped.hold(Line._make(out.pop()))

    def _give_many(self, texts: list[str], firsts: list[int], at_ms: int | None, out: list[LineRow]) -> None:
        """Emit lines that are only text and continue nothing: what ``_take`` does with them, in bulk."""
        if self.wrapped.line is not None:
            self.wrapped.release(out)
        block = self.controls.block
        for index, text in enumerate(texts):
            if len(text) > _LONGEST_PROMPT or (text and text not in _PROMPTS):
                out.append((text, firsts[index], at_ms, block))
            elif text and self.prompt is None:
                self.prompt = text, firsts[index]
        last = texts[-1]
        if last and last not in _PROMPTS and not is_whole(last):  # the next line may continue it
            self.wrapped.hold(Line._make(out.pop()))

    def _take(self, raw: bytes, start: int, at_ms: int | None, out: list[LineRow]) -> None:
        """Read one complete line of the byte stream, which may be several lines or a part of one."""
        if b"\x19" in raw:
            done = self._take_ended(raw, start, at_ms, out)
            if done < 0:
                return
            raw, start = raw[done:], start + done
        self._take_part(raw, start, at_ms, out)
        self._end_line()

    def _end_line(self) -> None:
        self.controls.header = False
        if self._datagram.open:
            self._datagram.add("\n")

    def _take_ended(self, raw: bytes, start: int, at_ms: int | None, out: list[LineRow]) -> int:
        """Read a line up to the last unit or datagram that ends in it; -1: it is too long, and the rest is skipped."""
        done = 0
        for end in _UNIT_END.finditer(raw):
            part = raw[done : end.end()]
            if len(part.lstrip(b"\r")) > self._max:
                stripped = raw[done:].lstrip(b"\r")
                self.wrapped.release(out)
                self._begin_long(start + len(raw) - len(stripped), stripped)
                return -1
            self._take_part(part, start + done, at_ms, out)
            done = end.end()
        return done

    def _take_part(self, raw: bytes, start: int, at_ms: int | None, out: list[LineRow]) -> None:
        """Read a line, or the part of it that a control sequence of ICC ends."""
        if len(stripped := raw.lstrip(b"\r")) > self._max:
            self.wrapped.release(out)
            self._begin_long(start + len(raw) - len(stripped), stripped)
            return
        start += len(raw) - len(stripped)
        if _PING_LINE.match(stripped):
            return
        before = self.wrapped.line
        if before is not None:
            if _CONTINUATION.match(stripped) and not _RARE.search(stripped.replace(PING, b"")):
                self._join(stripped.replace(PING, b"").translate(None, DELETED).decode("latin-1"), at_ms, out)
                return
            self.wrapped.release(out)
            if before.text.startswith("<12>") and _FRAME_REST.match(stripped):
                rest = stripped.replace(PING, b"").translate(None, DELETED).decode("latin-1")
                text, offset, _, block = out.pop()
                out.append((f"{text.rstrip()} {rest}", offset, at_ms, block))
                return
        if not stripped.translate(None, _NEVER_RARE) or not _RARE.search(stripped):
            self._give(stripped.translate(None, DELETED).decode("latin-1"), start, at_ms, out)
            return
        position = 0
        for token in _TOKEN.finditer(stripped):
            cut_off = token[0] == b"\x1a" and not self._datagram.open
            self._give_piece(stripped[position : token.start()], start + position, at_ms, out, cut_off)
            self.wrapped.release(out)
            position = token.end()
            if not self._datagram.open and _TAGGED.match(stripped, token.start()):
                position -= 1  # a lone mark before a line of the plain stream, whose first byte is none of the mark
                continue
            if token[0] == b"\x1a":
                message = "the server marks lost data: its output buffer was full"
                self.anomalies.append(Anomaly(AnomalyKind.LOST_DATA, start + token.start(), None, message, ""))
            self.controls.obey(token, start, self._at_ms, out)
        self._give_piece(stripped[position:], start + position, at_ms, out)

    def _forget_datagram(self) -> None:
        if self._datagram.open:
            self._account(self._datagram.close(), "")

    def _give_piece(self, raw: bytes, start: int, at_ms: int | None, out: list[LineRow], cut_off: bool = False) -> None:
        """Clean the text between two control sequences and emit it; ``cut_off``: data was lost behind it."""
        stripped = raw.lstrip(b"\r")
        start += len(raw) - len(stripped)
        text = stripped.replace(PING, b"").decode("latin-1")
        if "\x1b" in text:
            text = _ESCAPE.sub("", text)
        if "\b" in text:
            text = self._erased(text)
        text = text.translate({13: None, 7: None, 0: None})
        self._give("\x19|" + text if cut_off and text else text, start, at_ms, out)

    def _erased(self, text: str) -> str:
        """Do what a terminal does with backspaces: line editing of typed text that the log has echoed."""
        kept: list[str] = []
        for character in text:
            if character != "\b":
                kept.append(character)
            elif kept:
                kept.pop()
        after = "".join(kept)
        self._account(text, after)
        return after

    def _account(self, before: str, after: str) -> None:
        for tag in COUNTED_TAGS:
            if difference := before.count(tag) - after.count(tag):
                self.dropped[tag] += difference

    def _give(self, text: str, start: int, at_ms: int | None, out: list[LineRow]) -> None:
        if not text:
            return
        if self._datagram.open:
            self._add(text)
            return
        if self.controls.header:
            self.controls.header = False
            out.append(Line("\x19[" + text, start - 2, at_ms, self.controls.block))
            return
        if text in _PROMPTS:
            self.prompt = self.prompt or (text, start)
            return
        line = Line(text, start, at_ms, self.controls.block)
        if is_whole(text):
            out.append(line)
        else:
            self.wrapped.hold(line)

    def _add(self, text: str) -> None:
        self._datagram.add(text)
        if self._datagram.size > self._max:
            start, text = self._datagram.start, self._datagram.close()
            message = f"a datagram is longer than {self._max} bytes and was skipped"
            self.anomalies.append(Anomaly(AnomalyKind.LONG_LINE, start, None, message, text[:80]))
            self._account(text, "")

    def _join(self, text: str, at_ms: int | None, out: list[LineRow]) -> None:
        """Append a continuation line (``\\`` and three blanks) to the line that is kept open."""
        wrapped = self.wrapped
        line = wrapped.line
        assert line is not None
        if wrapped.size + len(text) - MARGIN > self._max:
            wrapped.release(out)
            self._give(text, line.offset, at_ms, out)
            return
        # A tag can appear or disappear only at the seam.
        self._account(*wrapped.add(text, at_ms, _TAG_MARGIN))
