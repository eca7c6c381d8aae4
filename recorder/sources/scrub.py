"""Secrets in a log → filler of equal length, so that every offset stays what it was.

What is hidden: what an xboard debug file shows as typed while logging in, what stands after a password prompt, the
arguments of the ``password`` command, and the second word on a login line (ICC takes name and password together).
"""

from __future__ import annotations

import re
from typing import Final

from recorder.sources.base import SourceKind
from recorder.sources.pychess import HEADER
from recorder.sources.xboard import ENTRY

__all__ = ["FILLER", "Scrubber"]

FILLER: Final = b"*"

_CHANGE: Final = re.compile(rb"(?P<before>[$/ \t]*passw(?:o(?:r(?:d)?)?)?\s+)(?P<secret>\S+\s+\S+)[ \t]*\r*$", re.I)
_COMMAND_START: Final = re.compile(rb"(?:[\r\x07\x00]|(?:\d\d:\d\d_)?[^\s:<>{}()]{1,24}% ?)*")
_ASKED: Final = re.compile(rb"(?:^|[^A-Za-z])password: ?", re.I)
_TYPED_NAME: Final = re.compile(rb"(?:^|[^A-Za-z])login: ?[^\s\xff]+ +(?P<secret>[^\s\xff]+)[ \t]*\r*$", re.I)
_LOGGED_IN: Final = re.compile(rb"\*\*\*\* Starting |[fa]ics% |<12> ")
_SENT: Final = b">ICS: "
_LINE_ENDS: Final = re.compile(rb"(?:\\01[25])+")
_SHOWN: Final = re.compile(rb"[\x21-\x7e]")
_HINTS: Final = (b"assw", b"ASSW", b"ogin:")
_MAX_LINE: Final = 1 << 16


class Scrubber:
    """Replaces secrets in a log's bytes, block by block. The output is as long as the input.

    Args:
        kind: the log's kind; typed text is marked only in xboard's and PyChess's.
    """

    def __init__(self, kind: SourceKind) -> None:
        self._kind = kind
        self._rest = b""
        self._in_long = False  # inside a line that is too long to be looked at
        self._logging_in = True
        self._sent_before_login = 0
        self._asked = False  # the server has asked for a password and nothing was typed since

    def receive(self, block: bytes) -> bytes:
        """Return the bytes whose line is complete, scrubbed."""
        data = self._rest + block
        end = data.rfind(b"\n") + 1
        self._rest = data[end:]
        out = self._scrub_lines(data[:end])
        if len(self._rest) > _MAX_LINE:
            if not self._in_long:
                self._rest = self._scrub_line(self._rest)
                self._in_long = True
            out += self._rest
            self._rest = b""
        return out

    def finish(self) -> bytes:
        """Return the last line, scrubbed."""
        rest, self._rest = self._rest, b""
        return rest if self._in_long else self._scrub_line(rest)

    def _scrub_lines(self, data: bytes) -> bytes:
        if not data:
            return data
        begin = 0
        if self._in_long:
            begin = data.find(b"\n") + 1
            self._in_long = False
        if self._kind in (SourceKind.RAW, SourceKind.TYPESCRIPT, SourceKind.STAMPED):
            if not any(hint in data for hint in _HINTS):
                return data
            lines = data[begin:].split(b"\n")
            scrubbed = [self._scrub_line(line) if any(hint in line for hint in _HINTS) else line for line in lines]
        else:
            scrubbed = [self._scrub_line(line) for line in data[begin:].split(b"\n")]
        return data[:begin] + b"\n".join(scrubbed)

    def _scrub_line(self, line: bytes) -> bytes:
        if self._kind is SourceKind.XBOARD:
            return self._scrub_xboard(line)
        if self._kind is SourceKind.PYCHESS:
            return self._scrub_pychess(line)
        return _scrub_plain(line)

    def _scrub_xboard(self, line: bytes) -> bytes:
        if line.startswith(_SENT):
            return _SENT + self._scrub_sent(line[len(_SENT) :])
        if entry := ENTRY.match(line):
            text = line[entry.end() :]
            if _LOGGED_IN.search(text):
                self._logging_in = self._asked = False
                self._sent_before_login = 0
            elif _ASKED.search(text):
                self._asked = self._logging_in = True
        return line

    def _scrub_sent(self, typed: bytes) -> bytes:
        if self._asked:
            self._asked = False
            return _fill_typed(typed)
        if not self._logging_in:
            pieces = _LINE_ENDS.split(typed)
            ends = _LINE_ENDS.findall(typed)
            commands = [_fill_command(piece) for piece in pieces]
            return b"".join(a + b for a, b in zip(commands, [*ends, b""], strict=True))
        self._sent_before_login += 1
        if self._sent_before_login > 1:
            return _fill_typed(typed)
        name = re.match(rb"[^\s\\]*", typed)
        kept = name.end() if name else 0
        return typed[:kept] + _fill_typed(typed[kept:])

    def _scrub_pychess(self, line: bytes) -> bytes:
        header = HEADER.match(line)
        if header is not None and header["level"] == b"INFO" and header["task"] == b"raw":
            begin = header.end()
            if self._asked:
                self._asked = False
                return line[:begin] + _fill(line[begin:])
            command = re.compile(rb"\d* *").match(line, begin)
            begin = command.end() if command else begin
            return line[:begin] + _fill_command(line[begin:])
        if _ASKED.search(line):
            self._asked = True
        return line


def _scrub_plain(line: bytes) -> bytes:
    if match := _TYPED_NAME.search(line):
        line = line[: match.start("secret")] + _fill(match["secret"]) + line[match.end("secret") :]
    if match := _ASKED.search(line):
        rest = line[match.end() :]
        if b"****" not in rest:
            return line[: match.end()] + _fill(rest)
    begin = _COMMAND_START.match(line)
    position = begin.end() if begin else 0
    return line[:position] + _fill_command(line[position:])


def _fill(text: bytes) -> bytes:
    return _SHOWN.sub(FILLER, text)


def _fill_typed(text: bytes) -> bytes:
    """Fill typed text, its escaped line ends excepted."""
    out, position = b"", 0
    for match in _LINE_ENDS.finditer(text):
        out += _fill(text[position : match.start()]) + match[0]
        position = match.end()
    return out + _fill(text[position:])


def _fill_command(text: bytes) -> bytes:
    match = _CHANGE.match(text)
    if match is None:
        return text
    return text[: match.start("secret")] + _fill(match["secret"]) + text[match.end("secret") :]
