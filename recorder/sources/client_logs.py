"""Logs that clients write: debug files of xboard and WinBoard (``-debug``), and logs of PyChess.

xboard: ``<ICS: `` marks the bytes of one read, control and high bytes as ``\\ooo``; a backslash itself is not escaped,
so only the triples that the program writes (000-037, 177-377) are decoded. A read may end inside a line: the bytes are
joined before they are split into lines. ``1235 <first : `` marks a line from an engine, ``>first : `` a line to it,
with milliseconds since the program's start. Everything else in the file is the program's own text or goes to the
server.
Source: xboard backend.c (show_bytes, read_from_ics, SendToProgram, ReceiveFromProgram).

PyChess: every record begins with a time and a task: ``19:54:45.756 ('GuestRGNM', 'raw') DEBUG: …``. A ``raw`` record
has the bytes of one read, in old logs as text over several lines, in new ones as ``bytearray(b'…')``. The program's
parsed lines are logged again (``lines``, ``nonmatched``, ``onStyle12``): they count only if their board or result is in
no ``raw`` record. Two connections may be in one log; a board or result that both received counts once. Source: PyChess
System/Log.py and TimeSeal.py.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, NamedTuple

from recorder.events import Chunk, EngineLine
from recorder.model import TimeBasis
from recorder.model.observations import SourceKind
from recorder.sources.base import LineSplitter
from recorder.sources.stamps import OCTAL, Stamps, octal
from recorder.text import later

# The program does not end its lines about telnet options, so an entry may follow them directly.
_TELNET: Final = rb"(?:<(?:WILL|WONT|DO|DONT) \S+ (?:>(?:WILL|WONT|DO|DONT) \S+ )?)*"
ENTRY: Final = re.compile(_TELNET + rb"<ICS: ")
ENGINE_ENTRY: Final = re.compile(_TELNET + rb"([0-9]{1,12}) ([<>])(first|second) ?: ")
# The word and its move are sent one after the other, and each is logged.
_GLUED: Final = later(rb"^(usermove )[0-9]{1,12} >(?:first|second) ?: ")
# What the program sends in one go, line ends within: only the first line has a mark before it.
_SECOND_LINE: Final = {
    b"xboard": re.compile(rb"protover [0-9]+"),
    b"new": re.compile(rb"random"),
    b"depth": re.compile(rb"[0-9]+"),
}
_TYPED: Final = b">ICS: "
_SENT_OR_READ: Final = later(rb">ICS: |" + _TELNET + rb"<ICS: ")
_LINE: Final = later(rb"(?:(?!\\012).)*(?:\\012(?:\\015)*)?", re.DOTALL)


class XboardDecoder:
    """Bytes of the ``<ICS: `` entries as chunks that begin with a line, and engines' lines between them."""

    time_basis = TimeBasis.NONE  # of the server's bytes; engines' lines have milliseconds since the program's start

    def __init__(self) -> None:
        self._lines = LineSplitter()
        self._last_sent: EngineLine | None = None

    def receive(self, block: bytes) -> list[Chunk | EngineLine]:
        return [part for line, offset in self._lines.receive(block) for part in self._read(line, offset)]

    def finish(self) -> list[Chunk | EngineLine]:
        return [part for line, offset in self._lines.finish() for part in self._read(line, offset)]

    def _read(self, line: bytes, offset: int) -> list[Chunk] | list[EngineLine]:
        to_engine, self._last_sent = self._last_sent, None
        if (entry := ENTRY.match(line)) is not None:
            text = line.removesuffix(b"\r")
            pieces = _LINE().finditer(text, entry.end())
            return [Chunk(octal(piece[0]), offset + piece.start()) for piece in pieces if piece[0]]
        if (engine := ENGINE_ENTRY.match(line)) is not None:
            text = _GLUED().sub(rb"\1", line[engine.end() :].rstrip(b"\r"))
            found = EngineLine(text.decode("latin-1"), engine[3].decode(), engine[2] == b">", offset, int(engine[1]))
            self._last_sent = found if found.to_engine else None
            return [found]
        if to_engine is not None:
            more = _SECOND_LINE.get(to_engine.text.encode("latin-1"))
            if more is not None and more.fullmatch(line.rstrip(b"\r")):
                return [to_engine._replace(text=line.rstrip(b"\r").decode("latin-1"), offset=offset)]
        return []


HEADER: Final = re.compile(
    rb"(?:(\d{4})-(\d\d)-(\d\d) )?(\d\d):(\d\d):(\d\d)(?:[.,](\d{3}))? "
    rb"(?:\('(?P<user>[^']*)', '(?P<task>[^']*)'\)|[^\s:]+) (?P<level>DEBUG|INFO|WARNING|ERROR|CRITICAL): ?"
)
_LITERAL: Final = later(rb"""(?:bytearray\()?b(?P<quote>['"])(?P<body>.*)(?P=quote)\)?\r?$""", re.DOTALL)
_SECOND_HAND: Final = frozenset((b"lines", b"nonmatched", b"onStyle12", b"command_reply"))
_PIECE: Final = later(rb"(?:[^\\]|\\(?!n).)*?(?:\\n(?:\\r)*|$)", re.DOTALL)
_ESCAPE: Final = later(rb"\\(?:x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_PLAIN: Final = bytes.maketrans(b"rtnabfv0", b"\r\t\n\x07\b\f\v\0")
# A board, holdings or a result: a whole line, after a bell, block marks and prompts (as wire/prompts.py has them). Chat
# must not match: "--> Eve's> <12> ..." and ":fics% <12> ..." are what a user or a bot may print.
_FACT: Final = later(
    rb"(?>(?:[\r\x07\x16]|\x15\d+\x16\d+|(?>(?:\d\d:\d\d_)?)[^\s%:<>{}()\[\]\\]{1,24}+% )*)"
    rb"(<12> ?\S.*|<b1> .*|\{Game \d+ .*)",
    re.DOTALL,
)
_REMEMBERED: Final = 256
_SAME_WITHIN_MS: Final = 60_000  # two connections receive one event sooner than a board or result comes again
_MAX_LINE: Final = 1 << 17


class PychessDecoder:
    """Returns complete lines, so that the lines of two connections never mix."""

    def __init__(self, day: date | None = None, tz: tzinfo | None = None) -> None:
        self._lines = LineSplitter()
        self._stamps = Stamps(day, tz)
        self._user = b""
        self._raw = True  # whether the lines that follow are received text (an excerpt may begin in the middle)
        self._in_text = False  # the record's text has a line already
        self._at_ms: int | None = None
        self._open: dict[bytes, tuple[bytes, int]] = {}  # user → unfinished line and its offset
        self._seen: OrderedDict[bytes, tuple[bytes, int]] = OrderedDict()  # board or result → who received it, when

    @property
    def time_basis(self) -> TimeBasis:
        return self._stamps.basis

    def receive(self, block: bytes) -> list[Chunk]:
        out: list[Chunk] = []
        for line, offset in self._lines.receive(block):
            self._read(line, offset, out)
        return out

    def finish(self) -> list[Chunk]:
        out: list[Chunk] = []
        for line, offset in self._lines.finish():
            self._read(line, offset, out)
        for user, (line, offset) in self._open.items():
            self._give(user, line + b"\n", offset, out)
        self._open.clear()
        return out

    def _read(self, line: bytes, offset: int, out: list[Chunk]) -> None:
        header = HEADER.match(line)
        if header is None:
            if self._raw:
                self._add(line.removesuffix(b"\r"), offset, out)
            return
        self._at_ms = self._time(header)
        self._user = header["user"] or b""
        self._in_text = False
        incoming = header["level"] == b"DEBUG"
        self._raw = incoming and header["task"] == b"raw"
        begin = header.end()
        if self._raw:
            literal = _LITERAL().match(line, begin)
            if literal is None:
                self._add(line[begin:].removesuffix(b"\r"), offset + begin, out)
                return
            self._raw = False
            for piece in _PIECE().finditer(line, literal.start("body"), literal.end("body")):
                if piece[0]:
                    self._append(_ESCAPE().sub(_unescape, piece[0]), offset + piece.start(), out)
        elif incoming and header["task"] in _SECOND_HAND:
            text = line[begin:].rstrip()
            fact = _FACT().fullmatch(text)
            if fact is not None and fact[1] not in self._seen:
                self._give(self._user, text + b"\n", offset + begin, out)

    def _add(self, text: bytes, offset: int, out: list[Chunk]) -> None:
        """Add a physical line. The last line end of a record is the logger's, not the server's."""
        if self._in_text:
            self._append(b"\n", offset - 1, out)
        self._in_text = True
        if text:
            self._append(text, offset, out)

    def _append(self, data: bytes, offset: int, out: list[Chunk]) -> None:
        before, start = self._open.pop(self._user, (b"", offset))
        if not before.strip(b"\r"):
            start = offset
        data = before + data
        if data.rstrip(b"\r").endswith(b"\n") or len(data) > _MAX_LINE:
            self._give(self._user, data, start, out)
        else:
            self._open[self._user] = (data, start)

    def _give(self, user: bytes, line: bytes, offset: int, out: list[Chunk]) -> None:
        if match := _FACT().match(line.rstrip()):
            fact = match[1].replace(b"\r", b"")
            at_ms = self._at_ms or 0
            other, other_ms = self._seen.pop(fact, (user, at_ms))
            if other != user and abs(at_ms - other_ms) < _SAME_WITHIN_MS:
                self._seen[fact] = other, other_ms
                return
            self._seen[fact] = user, at_ms
            if len(self._seen) > _REMEMBERED:
                self._seen.popitem(last=False)
        out.append(Chunk(line, offset, self._at_ms))

    def _time(self, header: re.Match[bytes]) -> int:
        of_day_ms = ((int(header[4]) * 60 + int(header[5])) * 60 + int(header[6])) * 1000 + int(header[7] or 0)
        if header[1] is None:
            return self._stamps.from_time_of_day(of_day_ms)
        try:
            day = datetime(int(header[1]), int(header[2]), int(header[3]))
        except ValueError:
            return self._stamps.from_time_of_day(of_day_ms)
        return self._stamps.from_wall(day + timedelta(milliseconds=of_day_ms), None)


def _unescape(match: re.Match[bytes]) -> bytes:
    if match[1]:
        return bytes((int(match[1], 16),))
    return match[2].translate(_PLAIN)


class LoggedText(NamedTuple):
    """What a client received or sent, between ``begin`` and ``end`` of a line of its log.

    ``escaped`` says how single bytes are written there. ``before`` and ``after`` are line ends that the log does not
    have. ``user`` is whose connection it is; None: that of the line before. ``again``: it was received before, and
    logged where it was.
    """

    begin: int
    end: int
    escaped: re.Pattern[bytes] | None
    data: bytes
    before: bytes = b""
    after: bytes = b""
    user: bytes | None = b""
    sent: bool = False
    again: bool = False

    def masked(self, line: bytes, clean: bytes) -> bytes:
        """The line with other bytes in place of ``data``, as many; each takes as many letters as there were."""
        if self.escaped is None:
            return line[: self.begin] + clean + line[self.end :]
        out, at = bytearray(line), self.begin
        for old, new in zip(self.data, clean, strict=True):
            unit = self.escaped.match(line, at, self.end)
            size = 1 if unit is None else unit.end() - at
            if old != new:
                out[at : at + size] = bytes((new,)) * size
            at += size
        return bytes(out)


def logged_text(line: bytes, kind: SourceKind) -> LoggedText | None:
    end = len(line.rstrip(b"\r\n"))
    if kind is SourceKind.XBOARD:
        sent = line.startswith(_TYPED)
        if (entry := _SENT_OR_READ().match(line)) is None:
            return None
        begin = entry.end()
        return LoggedText(begin, end, OCTAL(), octal(line[begin:end]), sent=sent)
    header = HEADER.match(line)
    if header is None:
        return LoggedText(0, end, None, line[:end], before=b"\n", user=None)
    begin, user, task = header.end(), header["user"] or b"", header["task"]
    if task == b"run_command" or (task == b"raw" and header["level"] == b"INFO"):
        return LoggedText(begin, end, None, line[begin:end], after=b"\n", user=user, sent=True)
    if task != b"raw":
        return LoggedText(begin, end, None, line[begin:end], b"\n", b"\n", user, again=True)
    if (literal := _LITERAL().match(line, begin, end)) is None:
        return LoggedText(begin, end, None, line[begin:end], user=user)
    begin, end = literal.span("body")
    return LoggedText(begin, end, _ESCAPE(), _ESCAPE().sub(_unescape, line[begin:end]), user=user)
