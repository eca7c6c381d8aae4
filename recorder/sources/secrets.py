"""Mask secrets in a log with filler of equal length, so that every offset stays.

The log does not mark what was typed. Until the server has shown that the login is complete, the text behind a question
for a name or a secret, or on the line before or after it, is masked. Later masked are answers to questions for a
secret, the arguments of ``password`` and its kin and their repetition by the server, the password that a server creates
for a new player (``addplayer``), and the datagrams of ICC that contain a password or a session's key. Only whole
questions decide: chat about a password is not masked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from recorder.model.observations import SourceKind
from recorder.sources.stamps import MARGIN, STAMP
from recorder.text import later

FILLER: Final = b"*"

# Also as FICS's administrators change another's, as an alias, and as Unix calls it, which people type by habit.
# Before a typed command: ICC's tag for its reply, or the number of block mode.
_TAG: Final = rb"[\r$/ \t]*+(?:`[^`]*`[ \t]*+)?(?:[0-9]{1,9}[ \t]++)?"
_SET: Final = rb"set(?:-quietly)?[ \t]+"
_LEAD: Final = rb"[$/ \t]*(?:(?:alias[ \t]+\S+|multi)[ \t]+[$/]*)?"
_PASS: Final = rb"(?:ch|change|set|new|my)?pas(?:s(?:w(?:o(?:rd?)?|d)?)?)?"
_COMMAND: Final = _LEAD + rb"(?:asetpass(?:wd?)?[ \t]+\S+|(?:" + _SET + rb")?" + _PASS + rb")[ \t]+"
# Known to be typed: everything after the command. Else: what the command takes, two words, or what is cut off.
_TYPED_CHANGE: Final = later(
    _TAG + rb"(?:" + _COMMAND + rb"|" + _LEAD + rb"(?:(?:ch|set)pw|identify|auth)[ \t]+)(?P<secret>\S.*)", re.I | re.S
)
_CHANGE: Final = later(
    rb"(?:" + _COMMAND + rb"(?!for[ \t]+\S+[:?>][ \t]*\r*$)(?=\S+\s+\S)|[$/]*" + _SET + rb"passw(?:or)?d[ \t]+)"
    rb"(?P<secret>\S+(?:\s+\S+)?)[ \t]*\r*$",
    re.I,
)
_CUT_CHANGE: Final = later(_COMMAND + rb"(?P<secret>\S++(?:\s++\S++)?)\s*+$", re.I)
# Commands in which a password follows a name, or a name and an address. No server's help that we know has them; those
# that people type by habit are hidden all the same, where it is known that they were typed.
_NAMED: Final = later(
    _TAG
    + _LEAD
    + rb"(?:register[ \t]+\S+(?:[ \t]+[^\s@]*+@\S++|(?=[ \t]+[^\s@]+[ \t]*\r*$))"
    + rb"|(?:su|(?:re)?login)[ \t]+\S+(?=[ \t]+\S+[ \t]*\r*$))"
    + rb"[ \t]+(?P<secret>\S.*)",
    re.I | re.S,
)
# Commands that ask for more, or end the session. A longer line is none of them.
_DIALOGUE: Final = later(
    _TAG + rb"(?:(?:q(?:u(?:it?)?)?|exit|bye|log(?:out|off|in)|re(?:login|connect)|su|register|identify|auth"
    rb"|[a-z]{0,12}(?:pass|pw)[a-z]{0,12})(?:[ \t]+\S+)?|set[ \t]+pass[a-z]*)[ \t]*",
    re.I,
)
# Source: the answers of FICS's password commands, and of addplayer (FICS 1.6.2, Lasker, FatICS): handle, name, address,
# password, each in angle brackets.
_REPEATED: Final = rb"(?:password (?:of \S+ )?changed (?:from|to) |added: (?:>[^<\r\n]*< ){3}>)"
_CHANGED: Final = later(_REPEATED + rb"(?P<secret>.*)", re.I | re.S)
# Lines about a game, also if they are not complete yet: boards, holdings, moves, announcements, move lists. And the
# line that names the handle.
_OF_GAME: Final = later(
    rb" *(?:<(?:12|b1|d1|g1)> |\{Game [0-9]{1,9} \(|Game [0-9]{1,9}: \S|Creating: \S|Movelist for game [0-9]{1,9}:"
    rb"|\S{1,64} \( {0,8}[0-9A-Za-z+-]{1,8} {0,8}\) vs\. \S|Move {2,}\S"
    rb"|[0-9]{1,9}\. +(?:\.\.\.|[A-Za-z][A-Za-z0-9@=x-]*+[+#]*+) +\([-0-9:.]{1,16}\)"
    rb"|\{[^{}\r\n]*+\} (?:1-0|0-1|1/2-1/2|\*)|\*{4} Starting (?:[^\s*]{1,64} )?session as )"
)
# What is before a line: telnet commands, colours, a bell, a mark of UTF-8, line ends that a client wrote as escapes.
_NO_TEXT: Final = later(
    rb"(?:[\r\x07\x00]|\xef\xbb\xbf|\xff[\xfb-\xfe].|\xff[\xf0-\xfa]|\x1b\[[0-9;?]*[A-Za-z]|\\01[25])*", re.S
)
_PROMPTS: Final = later(
    rb"(?>(?:[\r\x07\x00]|\x1b\[[0-9;?]*+[A-Za-z]|(?:\d\d:\d\d_)?(?!-->)[^\s:<>{}()%]{0,24}+[%>] ?)*)", re.S
)
# Words for a secret, as they occur in a server's question; others that ask for one during a login; words for a name.
_PASSWORD: Final = (
    rb"(?<![A-Za-z])(?:pass(?:w(?:or[dt]|d)|phrase|code|key|ord)|kennwort|senha|contrase..?a|clave|mot de passe"
    rb"|parol[ae]|has(?:l|\xc5\x82|[\xb3\x88])o|heslo|jelsz..?|l..?senord|adgangskode|salasana|wachtwoord"
    rb"|(?:\xc5\x9f|\xfe|s)ifre|lozinka|geslo|" + "ароль|密码|密碼|パスワード|비밀번호".encode() + rb")"
)
_CODE: Final = (
    rb"(?<![A-Za-z])(?:pin|otp|tan|2fa|secret|token|code|key|pw|again|re-?enter|re-?type|repeat|confirm|verify)"
    rb"(?![A-Za-z])"
)
_NAME: Final = (
    rb"(?<![A-Za-z])(?:login|handle|user|account|(?:(?:user|nick|login|handle|player) ?)?name)(?: ?\([^():]{0,40}\))?"
)
_MARK: Final = rb"(?:[:?>]|\xef\xbc[\x9a\x9f])"  # also as Chinese and Japanese have them
_BEFORE: Final = rb"(?!Server |Head |-->)[^:\\<{]{0,80}?"
_BEHIND: Final = rb"[^:?>\\]{0,24}?"
_ASKS: Final = later(rb"%b(?:%b|%b)%b(?:%b|=)?[ \t]*" % (_BEFORE, _PASSWORD, _CODE, _BEHIND, _MARK), re.I | re.S)
_ASKS_ALONE: Final = later(rb"%b%b[ \t\r]*" % (_BEFORE, _PASSWORD), re.I | re.S)  # and nothing behind it
_ASKS_NAME: Final = later(rb"%b%b ?%b[ \t]*" % (_BEFORE, _NAME, _MARK), re.I)
# The same with what was typed behind it. Chat has a speaker, and so a colon before such a word.
_ANSWERED: Final = later(rb"%b%b[^:?>=\\]{0,40}?(?:%b|=) ?(?P<secret>.*)" % (_BEFORE, _PASSWORD, _MARK), re.I | re.S)
_ANSWERED_AT_LOGIN: Final = later(
    rb"%b(?:(?:%b|(?<![A-Za-z])pass)%b|%b ?)%b ?(?P<secret>.*)" % (_BEFORE, _CODE, _BEHIND, _NAME, _MARK), re.I | re.S
)
_SERVERS_TEXT: Final = later(
    rb"(?:\xff[\xfb-\xfe].|[\s\x00])*(?:\*{4} |\"[^\s\"]{1,32}\" is |_{20}|Press return |Logging you in |$)", re.S
)
_BLANK: Final = later(rb"\s")
_LOGGED_IN: Final = later(
    rb"(?:\d\d:\d\d_)?[fa]ics% |\*{4} Starting |<12> |\x19\(0 |\{Game [0-9]|Creating: |Style 12 set|Game [0-9]{1,9}: "
)
_STARS: Final = b"**** "
_LOGIN: Final = b"login:"
_SHOWN: Final = later(rb"[\x21-\x7e]")
_FILLED: Final = later(rb"\xff(?:[\xfb-\xfe].|[\xf0-\xfa])|[\x21-\x7e\x80-\xff]", re.S)
_ENDS_SESSION: Final = later(rb"Logging you out|\*{4} Auto-logout|Thank you for using ")
_HINTS: Final = (
    *(b"pas", b"login", b"added: >", b"register", b"su ", b"su\t", b"pw", b"senha", b"identify", b"auth"),
    *(b"logging you out", b"-logout", b"thank you for u"),
)
_KEY_HINTS: Final = (b"\x19(93 ", b"\x19(114 ", b"\x19(134 ")
# ICC's datagrams that carry a password or the key of a session.
_KEY: Final = rb"\x19\((?:93|114|134) "
_KEY_MARK: Final = later(_KEY)
_KEY_END: Final = b"\x19)"
_LONGEST_KEY_MARK: Final = 6
_KEYS: Final = later(_KEY + rb"(?P<secret>.*?)(?=\x19\)|$)", re.S)
_KEY_TEXT: Final = later(rb"[^\s\x19{}\\]")
_MAX_LINE: Final = 1 << 16


class Scrubber:
    """Replaces secrets in a log's bytes, block by block. The output is as long as the input."""

    def __init__(self, kind: SourceKind) -> None:
        self._kind = kind
        self._rest = b""
        self._in_long = False  # inside a line that is too long to be looked at
        self._masking = True  # the server has not shown that the login is complete, or has asked again
        self._asked = False  # the last line that is not blank asks for a secret
        self._late: list[bytes] = []  # a line of one word, after which such a question may come: as it is, and masked

    def receive(self, block: bytes) -> bytes:
        """Complete lines, masked; during a login a line of one word waits for the next one."""
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
        rest, self._rest = self._rest, b""
        rest = rest if self._in_long else self._scrub_line(rest, cut=True)
        late, self._late = self._late[:1], []
        return b"".join([*late, rest])

    def _scrub_lines(self, data: bytes) -> bytes:
        if not data or self._kind in (SourceKind.PGN, SourceKind.BPGN):
            return data  # nothing that anybody has typed
        out: list[bytes] = []
        at = 0
        if self._in_long:
            at = data.find(b"\n") + 1
            self._in_long = False
            out.append(data[:at])
        places: Iterator[int] | None = None
        while at < len(data):
            if not (self._masking or self._asked or self._late):
                places = iter(_hinted(data, at)) if places is None else places
                stop = next((place for place in places if place >= at), len(data))
                out.append(data[at:stop])
                at = stop
                if at == len(data):
                    break
            end = data.index(b"\n", at)  # the data are whole lines
            out.append(self._in_turn(data[at:end], self._scrub_line(data[at:end]) + b"\n"))
            at = end + 1
        return b"".join(out)

    def _in_turn(self, line: bytes, clean: bytes) -> bytes:
        """What may be returned after a line: a word that stands alone waits, because a question may follow it."""
        if not (self._masking or self._late):
            return clean
        begin = self._begin(line)
        text = line[begin:].strip()
        if not text and self._late and len(self._late[0]) < _MAX_LINE:
            self._late = [late + clean for late in self._late]
            return b""
        before = self._late[self._asked] if self._late else b""
        self._late = []
        if self._masking and not self._asked and text and not (_BLANK().search(text) or asks_name(text)):
            self._late = [clean, clean[:begin] + fill(clean[begin:])]
            return before
        return before + clean

    def _begin(self, line: bytes) -> int:
        """Where the text of a line begins, behind a margin and a stamp."""
        stamped = self._kind is SourceKind.STAMPED
        begin = _end(_NO_TEXT(), line, 0)
        if stamped:
            begin = _end(_NO_TEXT(), line, len(line) - len(line[begin:].lstrip(MARGIN)))
        stamp = STAMP.match(line, begin)
        if stamp is None or (stamp["epoch"] and not stamped):
            return begin
        return _end(_NO_TEXT(), line, stamp.end())

    def _scrub_line(self, line: bytes, *, cut: bool = False) -> bytes:
        if self._kind in (SourceKind.PGN, SourceKind.BPGN):
            return line
        if b"\x19(" in line:
            line = _KEYS().sub(lambda key: key[0][: key.start("secret") - key.start()] + fill_key(key["secret"]), line)
        return self._scrub_plain(line, cut)

    def _scrub_plain(self, line: bytes, cut: bool) -> bytes:
        begin = self._begin(line)
        place = _end(_PROMPTS(), line, begin)
        if _LOGGED_IN().match(line, begin) or _LOGGED_IN().match(line, place):
            self._masking = self._asked = False
        asked, self._asked = self._asked, self._asked and not _SHOWN().search(line, begin)
        typed = _SHOWN().search(line[begin:place]) is not None
        forms = (_CHANGED, _TYPED_CHANGE, _NAMED) if typed else (_CHANGED, _CHANGE, *[_CUT_CHANGE] * cut)
        for form in forms:
            if match := form().match(line, place):
                return _fill_secret(line, match)
        place = _end(_NO_TEXT(), line, begin if _is_question(line[begin:place].strip()) else place)
        if line[place : place + len(_LOGIN)].lower() == _LOGIN:
            self._masking = True
            if (both := line.lower().find(b"password:", place)) > place:
                line = line[: place + len(_LOGIN)] + fill(line[place + len(_LOGIN) : both]) + line[both:]
                place = both
        self._masking = self._masking or _ENDS_SESSION().match(line, place) is not None
        head, text = line[:place], line[place:]  # a colour in front of a word is no part of it
        match = _ANSWERED().match(text)
        if match is None and self._masking:
            match = _ANSWERED_AT_LOGIN().match(text)
        if match is not None:
            secret, at = match["secret"], match.start("secret")
            self._asked = not _SHOWN().search(_NO_TEXT().sub(b"", secret)) and not _ASKS_NAME().match(text)
            end = at if _SERVERS_TEXT().match(secret) else text.find(_STARS, at)
            end = len(text) if end < 0 else end
            return head + text[:at] + fill(text[at:end]) + text[end:]
        if asked and not _SERVERS_TEXT().match(text):
            return line[:begin] + fill(line[begin:]) if _SHOWN().search(text) else line
        self._asked = self._asked or (self._masking and _ASKS_ALONE().fullmatch(text) is not None)
        return line


def _hinted(data: bytes, begin: int) -> list[int]:
    """Where lines begin that can contain a secret: nearly all lines of a log cannot, and no board can."""
    others = without_boards(data[begin:])
    lower = others.lower()
    lines: set[int] = set()
    for hint in (*_HINTS, *_KEY_HINTS) if b"\x19" in data else _HINTS:
        index = lower.find(hint)
        while index >= 0:
            lines.add(lower.rfind(b"\n", 0, index))
            index = lower.find(hint, lower.index(b"\n", index))
    places, place = [], begin - 1
    for line in sorted(lines):
        place = begin - 1 if line < 0 else data.index(others[line : others.index(b"\n", line + 1) + 1], place + 1)
        places.append(place + 1)
    return places


def without_boards(data: bytes) -> bytes:
    """Without a datagram a board contains no secret; the first line stays."""
    mark = b"\n\r<12> " if b"\n\r<12> " in data else b"\n<12> "
    first, *rest = data.split(mark)
    kept = [first]
    for part in rest:
        end = part.find(b"\n")  # -1: another board follows
        if part.find(b"\x19(", 0, end if end >= 0 else None) >= 0:
            kept.append(mark + part)
        elif end >= 0:
            kept.append(part[end:])
    return b"".join(kept)


def _end(pattern: re.Pattern[bytes], line: bytes, start: int) -> int:
    match = pattern.match(line, start)
    return start if match is None else match.end()


def _fill_secret(line: bytes, match: re.Match[bytes]) -> bytes:
    return line[: match.start("secret")] + fill(match["secret"]) + line[match.end("secret") :]


def asks(line: bytes) -> bool:
    """The line may be incomplete."""
    return line != b"" and _ASKS().fullmatch(line) is not None


def _is_question(line: bytes) -> bool:
    """Whether a line asks for a name or a secret; ``Password> `` has the form of a prompt, too."""
    return asks(line) or asks_name(line)


def asks_name(line: bytes) -> bool:
    return _ASKS_NAME().fullmatch(line) is not None


def may_repeat(text: bytes) -> bool:
    lower = text.lower()
    return b"password" in lower or b"added: >" in lower


def find_repeated(line: bytes) -> int | None:
    """Offset of a password that the server repeats after it was changed or created."""
    match = _CHANGED().match(line, _text_begin(line))
    return None if match is None else match.start("secret")


def is_of_game(line: bytes) -> bool:
    """Whether a server's line is about a game (boards, moves, announcements …): every word of it is data."""
    return _OF_GAME().match(line, _text_begin(line)) is not None


def _text_begin(line: bytes) -> int:
    return _end(_PROMPTS(), line, _end(_NO_TEXT(), line, 0))


def fill_key(text: bytes) -> bytes:
    """The marks of a datagram's strings stay."""
    return _KEY_TEXT().sub(FILLER, text)


class KeyMask:
    def __init__(self) -> None:
        self._inside = False
        self._before = b""  # the last bytes, in which a mark or an end may begin; no whole mark is in them

    def receive(self, data: bytes) -> bytes:
        seen, ahead = self._before + data, len(self._before)
        self._before = seen[1 - _LONGEST_KEY_MARK :]
        if not self._inside and b"\x19" not in seen:
            return data
        out, at = bytearray(seen), 0
        while True:
            if not self._inside:
                mark = _KEY_MARK().search(seen, at)
                if mark is None:
                    break
                at = mark.end()
            end = seen.find(_KEY_END, at)
            self._inside = end < 0
            stop = len(seen) if self._inside else end
            out[at:stop] = fill_key(bytes(out[at:stop]))
            if self._inside:
                break
            at = end + len(_KEY_END)
        return bytes(out[ahead:])


def fill(text: bytes) -> bytes:
    """Blanks, control characters and telnet commands stay."""
    return _FILLED().sub(lambda match: FILLER if len(match[0]) == 1 else match[0], text)


def begins_dialogue(command: bytes) -> bool:
    """Whether a typed command asks for more, which may be a secret, or ends the session."""
    return _DIALOGUE().fullmatch(command) is not None


def fill_command(text: bytes) -> bytes:
    """Mask the secrets of a typed command: ``password``, abbreviated, with ``$`` or ``/`` before it …"""
    match = _TYPED_CHANGE().match(text) or _NAMED().match(text)
    return text if match is None else _fill_secret(text, match)
