"""Mask secrets in a log with filler of equal length, so that every offset stays.

Masked are: the text that an xboard debug file shows as typed during the login, the text after a password prompt, the
arguments of the ``password`` command and their repetition by the server, the password that a server creates for a new
player (``addplayer``), the second word on a login line (ICC takes name and password together), and the datagrams of ICC
that contain a password or a session's key. Only the beginning of a line decides: chat about a password is not masked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Final

from recorder.sources.base import LineEnds, SourceKind
from recorder.sources.client_logs import ENTRY, HEADER
from recorder.sources.stamps import STAMP
from recorder.text import later

__all__ = [
    "FILLER",
    "Scrubber",
    "Scrubbing",
    "fill",
    "fill_command",
    "fill_key",
    "find_repeated",
    "is_of_game",
    "scrubbed",
    "without_boards",
]

_NAME: Final = later(rb"[^\s\\]*")
_COMMAND_NUMBER: Final = later(rb"[0-9]* *")

FILLER: Final = b"*"

# Also as FICS's administrators change another's, as an alias, and as Unix calls it, which people type by habit.
_SET: Final = rb"set(?:-quietly)?[ \t]+"
_LEAD: Final = rb"[$/ \t]*(?:(?:alias[ \t]+\S+|multi)[ \t]+[$/]*)?"
_COMMAND: Final = _LEAD + rb"(?:asetpass(?:wd?)?[ \t]+\S+|(?:" + _SET + rb")?pas(?:s(?:w(?:o(?:rd?)?|d)?)?)?)[ \t]+"
# Known to be typed: everything after the command. Else: what the command takes, two words, or what is cut off.
_TYPED_CHANGE: Final = later(_COMMAND + rb"(?P<secret>\S.*)", re.I | re.S)
_CHANGE: Final = later(
    rb"(?:" + _COMMAND + rb"(?=\S+\s+\S)|" + _SET + rb"passw(?:or)?d[ \t]+)(?P<secret>\S+(?:\s+\S+)?)[ \t]*\r*$", re.I
)
_CUT_CHANGE: Final = later(_COMMAND + rb"(?P<secret>\S++(?:\s++\S++)?)\s*+$", re.I)
# Commands in which a password follows a name, or a name and an address. No server's help that we know has them; those
# that people type by habit are hidden all the same, where it is known that they were typed.
_NAMED: Final = later(
    _LEAD
    + rb"(?:register[ \t]+\S+(?:[ \t]+[^\s@]*+@\S++|(?=[ \t]+[^\s@]+[ \t]*\r*$))|su[ \t]+\S+(?=[ \t]+\S+[ \t]*\r*$))"
    + rb"[ \t]+(?P<secret>\S.*)",
    re.I | re.S,
)
# Source: the answers of FICS's password commands, and of addplayer (FICS 1.6.2, Lasker, FatICS): handle, name, address,
# password, each in angle brackets.
_REPEATED: Final = rb"(?:password (?:of \S+ )?changed (?:from|to) |added: (?:>[^<\r\n]*< ){3}>)"
_CHANGED: Final = later(_REPEATED + rb"(?P<secret>.*)", re.I | re.S)
# The same where a read of several lines stands on one line of a log: after an escaped line end, and up to the next.
_CHANGED_ESCAPED: Final = later(
    rb"(?P<before>(?:^|\\01[25])(?>(?:[^\s:<>{}()\\%]{0,24}+% ?)*)" + _REPEATED + rb")(?P<secret>(?:(?!\\01[25]).)*)",
    re.I | re.S,
)
_CHANGED_PYCHESS: Final = later(
    rb"(?P<before>(?:^(?:(?:bytearray\()?b['\"])?|\\n)(?>(?:\\r|[^\s:<>{}()\\%]{0,24}+% ?)*)"
    + _REPEATED
    + rb")(?P<secret>(?:(?!\\[rn]|['\"]\)?\r?$).)*)",
    re.I | re.S,
)
# Lines about a game, also if they are not complete yet: boards, holdings, moves, announcements, move lists.
_OF_GAME: Final = later(
    rb" *(?:<(?:12|b1|d1|g1)> |\{Game [0-9]{1,9} \(|Game [0-9]{1,9}: \S|Creating: \S|Movelist for game [0-9]{1,9}:"
    rb"|\S{1,64} \( {0,8}[0-9A-Za-z+-]{1,8} {0,8}\) vs\. \S|Move {2,}\S"
    rb"|[0-9]{1,9}\. +(?:\.\.\.|[A-Za-z][A-Za-z0-9@=x-]*+[+#]*+) +\([-0-9:.]{1,16}\)"
    rb"|\{[^{}\r\n]*+\} (?:1-0|0-1|1/2-1/2|\*))"
)
# What a server or terminal puts before a line: telnet commands, colours, a bell.
_NO_TEXT: Final = later(rb"(?:[\r\x07\x00]|\xff[\xfb-\xfe].|\xff[\xf0-\xfa]|\x1b\[[0-9;?]*[A-Za-z])*", re.S)
_PROMPTS: Final = later(
    rb"(?>(?:[\r\x07\x00]|\x1b\[[0-9;?]*+[A-Za-z]|(?:\d\d:\d\d_)?(?!-->)[^\s:<>{}()%]{0,24}+[%>] ?)*)", re.S
)
_ASKED: Final = later(rb"(?:login: ?[^\s\xff]*[ \t]*(?:\xff[\xfb-\xfe].)*)?password: ?", re.I | re.S)
_ASKED_ESCAPED: Final = later(
    rb"(?:^|\\01[25])(?>(?:[^\s:<>{}()\\%]{0,24}+% ?)*)(?>(?:\\(?!01[25])[0-3][0-7]{2})*)password: ?", re.I
)
_ASKED_PYCHESS: Final = later(
    rb"(?:^(?:(?:bytearray\()?b['\"])?|\\n)(?>(?:[\x00-\x1f\xf0-\xff]|\\r|\\x[0-9a-f]{2})*)password: ?",
    re.I,
)
_TYPED_NAME: Final = later(rb"login: ?[^\s\xff]+ +(?P<secret>[^\s\xff]+)[ \t]*\r*$", re.I)
_STARTING: Final = b"**** "
_LOGGED_IN: Final = later(rb"\*\*\*\* Starting |[fa]ics% |<12> ")
_SENT: Final = b">ICS: "
_LINE_ENDS: Final = later(rb"(?:\\01[25])+")
_SHOWN: Final = later(rb"[\x21-\x7e]")
_FILLED: Final = later(rb"\xff(?:[\xfb-\xfe].|[\xf0-\xfa])|[\x21-\x7e\x80-\xff]", re.S)
_HINTS: Final = (b"pas", b"login:", b"added: >", b"register", b"su ", b"su\t")  # in lower case
_REPEAT_HINTS: Final = (b" changed ", b"added: >")
_KEY_HINTS: Final = (b"\x19(93 ", b"\x19(114 ", b"\x19(134 ")
# ICC's datagrams that carry a password or the key of a session; clients that log them escape the marks.
_KEYS: Final = later(rb"(?:\x19|\\031|\\x19)\((?:93|114|134) (?P<secret>.*?)(?=(?:\x19|\\031|\\x19)\)|$)", re.S)
_DATAGRAM: Final = {SourceKind.XBOARD: b"\\031(", SourceKind.PYCHESS: b"\\x19("}
_KEY_TEXT: Final = later(rb"[^\s\x19{}\\]")
_MAX_LINE: Final = 1 << 16


class Scrubber:
    """Replaces secrets in a log's bytes, block by block. The output is as long as the input.

    Args:
        kind: the log's kind; typed text is marked only in xboard's and PyChess's.
    """

    def __init__(self, kind: SourceKind) -> None:
        self._kind = kind
        self._datagram = _DATAGRAM.get(kind, b"\x19(")
        self._rest = b""
        self._in_long = False  # inside a line that is too long to be looked at
        self._logging_in = True
        self._sent_before_login = 0
        self._asked = False  # the server has asked for a password and nothing was typed since

    def receive(self, block: bytes) -> bytes:
        """Take the next bytes.

        Args:
            block: cut anywhere.
        Returns:
            The bytes of the lines that are complete now, secrets masked.
        """
        end = block.rfind(b"\n") + 1
        if end:
            out = self._scrub_lines(b"".join((self._rest, memoryview(block)[:end])))
            self._rest = block[end:]
        else:
            out = b""
            self._rest += block
        if len(self._rest) > _MAX_LINE:
            if not self._in_long:
                self._rest = self._scrub_line(self._rest)
                self._in_long = True
            out += self._rest
            self._rest = b""
        return out

    def finish(self) -> bytes:
        """Take the end of the log.

        Returns:
            The rest, secrets masked.
        """
        rest, self._rest = self._rest, b""
        return rest if self._in_long else self._scrub_line(rest, cut=True)

    def _scrub_lines(self, data: bytes) -> bytes:
        if not data:
            return data
        begin = 0
        if self._in_long:
            begin = data.find(b"\n") + 1
            self._in_long = False
        if self._kind in (SourceKind.PGN, SourceKind.BPGN):
            return data  # nothing that anybody has typed
        if self._kind in (SourceKind.RAW, SourceKind.TYPESCRIPT, SourceKind.STAMPED):
            return self._scrub_hinted(data, begin)
        return data[:begin] + b"\n".join(self._scrub_line(line) for line in data[begin:].split(b"\n"))

    def _scrub_hinted(self, data: bytes, begin: int) -> bytes:
        """Parse only lines that can contain a secret: nearly all lines of a log cannot."""
        if b"\x19" not in data and not self._find_secrets(without_boards(data[begin:]), 0):
            return data
        out: list[bytes] = []
        done = 0
        for start, end, line in self._find_secrets(data, begin):
            out += [data[done:start], line]
            done = end
        return b"".join([*out, data[done:]])

    def _find_secrets(self, data: bytes, begin: int) -> list[tuple[int, int, bytes]]:
        """The lines with a secret, in order: where each begins and ends, and its masked text."""
        lines: set[tuple[int, int]] = set()
        lower = data.lower()
        for hint in (*_HINTS, *_KEY_HINTS) if b"\x19" in data else _HINTS:
            at = lower.find(hint, begin)
            while at >= 0:
                end = data.index(b"\n", at)  # the data are whole lines
                lines.add((max(data.rfind(b"\n", begin, at) + 1, begin), end))
                at = lower.find(hint, end)
        scrubbed_lines = [(start, end, self._scrub_line(data[start:end])) for start, end in sorted(lines)]
        return [found for found in scrubbed_lines if found[2] != data[found[0] : found[1]]]

    def _scrub_line(self, line: bytes, *, cut: bool = False) -> bytes:
        if self._kind in (SourceKind.PGN, SourceKind.BPGN):
            return line
        if self._datagram in line:
            line = _KEYS().sub(lambda key: key[0][: key.start("secret") - key.start()] + fill_key(key["secret"]), line)
        if self._kind is SourceKind.XBOARD:
            return self._scrub_xboard(line)
        if self._kind is SourceKind.PYCHESS:
            return self._scrub_pychess(line)
        return _scrub_plain(line, cut)

    def _scrub_xboard(self, line: bytes) -> bytes:
        if line.startswith(_SENT):
            return _SENT + self._scrub_sent(line[len(_SENT) :])
        if entry := ENTRY.match(line):
            text = line[entry.end() :]
            if _LOGGED_IN().search(text):
                self._logging_in = self._asked = False
                self._sent_before_login = 0
            elif _ASKED_ESCAPED().search(text):
                self._asked = self._logging_in = True
            return line[: entry.end()] + _fill_repeated(text, _CHANGED_ESCAPED())
        return line

    def _scrub_sent(self, typed: bytes) -> bytes:
        if self._asked:
            self._asked = False
            return _fill_typed(typed)
        if not self._logging_in:
            pieces = _LINE_ENDS().split(typed)
            ends = _LINE_ENDS().findall(typed)
            commands = [fill_command(piece) for piece in pieces]
            return b"".join(a + b for a, b in zip(commands, [*ends, b""], strict=True))
        self._sent_before_login += 1
        if self._sent_before_login > 1:
            return _fill_typed(typed)
        name = _NAME().match(typed)
        kept = name.end() if name else 0
        return typed[:kept] + _fill_typed(typed[kept:])

    def _scrub_pychess(self, line: bytes) -> bytes:
        header = HEADER.match(line)
        if header is not None and header["level"] == b"INFO" and header["task"] == b"raw":
            begin = header.end()
            if self._asked:
                self._asked = False
                return line[:begin] + fill(line[begin:])
            command = _COMMAND_NUMBER().match(line, begin)
            begin = command.end() if command else begin
            return line[:begin] + fill_command(line[begin:])
        begin = 0 if header is None else header.end()
        text = line[begin:]
        if header is not None and header["task"] == b"run_command":
            return line[:begin] + fill_command(text)
        if _ASKED_PYCHESS().search(text):
            self._asked = True
        return line[:begin] + _fill_repeated(text, _CHANGED_PYCHESS())


def without_boards(data: bytes) -> bytes:
    """Drop the lines of boards (``<12>``) that follow another line; a board contains no secret.

    Args:
        data: whole lines.
    Returns:
        The other lines; a board at the very beginning stays.
    """
    first, *rest = data.split(b"\n\r<12> " if b"\n\r<12> " in data else b"\n<12> ")
    return b"".join([first, *[part[end:] for part in rest if (end := part.find(b"\n")) >= 0]])


def _scrub_plain(line: bytes, cut: bool) -> bytes:
    begin = _end(_NO_TEXT(), line, 0)
    if stamp := STAMP.match(line, begin):
        begin = stamp.end()
    place = _end(_PROMPTS(), line, begin)
    if match := _ASKED().match(line, _end(_NO_TEXT(), line, place)):
        answer = line.find(_STARTING, match.end())
        end = len(line) if answer < 0 else answer
        return line[: match.end()] + fill(line[match.end() : end]) + line[end:]
    if match := _TYPED_NAME().match(line, place):
        return _fill_secret(line, match)
    typed = _SHOWN().search(line[begin:place]) is not None
    forms = (
        (_CHANGED, _TYPED_CHANGE, _NAMED) if typed else (_CHANGED, _CHANGE, _CUT_CHANGE) if cut else (_CHANGED, _CHANGE)
    )
    for form in forms:
        if match := form().match(line, place):
            return _fill_secret(line, match)
    return line


def _end(pattern: re.Pattern[bytes], line: bytes, start: int) -> int:
    """Where a pattern that always matches ends."""
    match = pattern.match(line, start)
    return start if match is None else match.end()


def _fill_secret(line: bytes, match: re.Match[bytes]) -> bytes:
    return line[: match.start("secret")] + fill(match["secret"]) + line[match.end("secret") :]


def _fill_repeated(text: bytes, form: re.Pattern[bytes]) -> bytes:
    """Replace the passwords that a server repeats in what a program logged of a read."""
    lower = text.lower()
    if not any(hint in lower for hint in _REPEAT_HINTS):
        return text
    return form.sub(lambda match: match["before"] + fill(match["secret"]), text)


def scrubbed(blocks: Iterable[bytes], kind: SourceKind) -> Iterator[bytes]:
    """A log's bytes with its secrets masked: the same number of bytes, in other blocks.

    The bytes of a journal are unchanged: its writer has masked its secrets.

    Args:
        blocks: all of the log from its first byte: whether a line is a password depends on earlier lines.
        kind: of the log.
    Yields:
        Blocks that end with a complete line; the last need not.
    """
    scrubbing = Scrubbing(kind)
    for block in blocks:
        if clean := scrubbing.receive(block):
            yield clean
    if rest := scrubbing.finish():
        yield rest


class Scrubbing:
    """Masks as ``scrubbed`` does, block by block.

    Args:
        kind: of the log.
        begun: the bytes begin at a line in the middle of a raw log or a journal, whose lines do not depend on others.
        redact: gets complete lines and returns them changed, with the same length.
    """

    def __init__(self, kind: SourceKind, begun: bool = False, redact: Callable[[bytes], bytes] | None = None) -> None:
        self._scrubber = None if kind is SourceKind.JOURNAL else Scrubber(kind)
        self._ends = LineEnds(begun)
        self._redact = redact or _unchanged

    def receive(self, block: bytes) -> bytes:
        """Take the next bytes.

        Args:
            block: cut anywhere.
        Returns:
            The bytes of the lines that are complete now, masked.
        """
        if self._scrubber is None:
            return block
        return self._ends.swap(self._redact(self._scrubber.receive(self._ends.receive(block))))

    def finish(self) -> bytes:
        """The bytes of lines that were not complete before the end.

        Returns:
            As ``receive``.
        """
        if self._scrubber is None:
            return b""
        rest = self._scrubber.receive(self._ends.finish())
        return self._ends.swap(self._redact(rest + self._scrubber.finish()))


def _unchanged(lines: bytes) -> bytes:
    return lines


def find_repeated(line: bytes) -> int | None:
    """Find a password that a server's line repeats after it was changed or created.

    Args:
        line: without its prompts.
    Returns:
        The offset of the password in the line; None: the line repeats none.
    """
    match = _CHANGED().match(line, _text_begin(line))
    return None if match is None else match.start("secret")


def is_of_game(line: bytes) -> bool:
    """Whether a server's line is about a game, so that every word of it is data.

    Such lines are boards, holdings, moves, announcements and parts of move lists.

    Args:
        line: as far as it has come.
    """
    return _OF_GAME().match(line, _text_begin(line)) is not None


def _text_begin(line: bytes) -> int:
    """Where a server's line begins behind its prompts."""
    return _end(_PROMPTS(), line, _end(_NO_TEXT(), line, 0))


def fill_key(text: bytes) -> bytes:
    """Replace what a datagram carries; the marks of its strings stay.

    Args:
        text: of a datagram.
    Returns:
        As many bytes.
    """
    return _KEY_TEXT().sub(FILLER, text)


def fill(text: bytes) -> bytes:
    """Mask every visible character of a text; blanks, control characters and telnet commands stay.

    Args:
        text: any bytes.
    Returns:
        As many bytes.
    """
    return _FILLED().sub(lambda match: FILLER if len(match[0]) == 1 else match[0], text)


def _fill_typed(text: bytes) -> bytes:
    """Fill typed text, its escaped line ends excepted."""
    out, position = b"", 0
    for match in _LINE_ENDS().finditer(text):
        out += fill(text[position : match.start()]) + match[0]
        position = match.end()
    return out + fill(text[position:])


def fill_command(text: bytes) -> bytes:
    """Mask the secrets of a typed command: ``password``, abbreviated, with ``$`` or ``/`` before it …

    Args:
        text: the command, as it was typed.
    Returns:
        As many bytes; the command itself stays.
    """
    match = _TYPED_CHANGE().match(text) or _NAMED().match(text)
    return text if match is None else _fill_secret(text, match)
