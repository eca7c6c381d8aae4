"""The server's side of a login dialogue: bytes → cues.

A prompt has no line end, other text may follow it on its line, telnet commands occur in between, and a read may end
anywhere. So a line is parsed again whenever more of it arrives; text that gave a cue is removed from its beginning.

Source: the login dialogues of FICS 1.6.2, Lasker and FatICS (recorded transcripts), and what clients look for on ICC,
chess.net and chessd, whose prompts may be translated: there only telnet's WILL ECHO shows a password prompt.
"""

from __future__ import annotations

import re
from enum import Enum
from typing import Final, NamedTuple

from recorder.dialects.session import parse_session
from recorder.events import Line, SessionNotice, SessionNoticeKind
from recorder.wire import LONE_PROMPT, strip_prompts
from recorder.wire.controls import TelnetFilter


class CueKind(Enum):
    NAME = "name"  # it asks for a name
    PASSWORD = "password"
    RETURN = "return"  # it asks for an empty line to enter as a guest
    HIDE = "hide"  # WILL ECHO: the next typed line is not displayed
    SHOW = "show"  # WONT ECHO
    CALLED = "called"  # it repeats the name; text
    STARTED = "started"  # the session has begun; text is the handle
    PROMPT = "prompt"  # its prompt for commands, or another text that occurs only after the login; text
    LONE_WORD = "lone-word"  # perhaps a user's own prompt
    NOTICE = "notice"  # any other line that ``parse_session`` knows
    LINE = "line"  # any other line; text


class Cue(NamedTuple):
    kind: CueKind
    text: str = ""
    notice: SessionNotice | None = None


_WILL_ECHO: Final = b"\xff\xfb\x01"
_ECHO: Final = {_WILL_ECHO: CueKind.HIDE, b"\xff\xfc\x01": CueKind.SHOW}
_ECHOES: Final = re.compile(rb"\xff[\xfb\xfc]\x01")
_BLANK: Final = b"\r\x07\x00"
_LEAD: Final = " \t"
# No colon before it: chat has a speaker.
_ASKS: Final = re.compile(r"(?:(?P<name>login)|[a-z' ]{0,60}password[a-z ]{0,20}): ?", re.I | re.ASCII)
_RETURN: Final = re.compile(r'Press return to enter [^"]+ as "[^"]+":')
# ICC's datagram 0 states the client's handle.
_WHO_AM_I: Final = re.compile(r"\x19\(0 (?P<handle>[A-Za-z]\w*) ")
# Other whole datagrams; 69 states why a login fails; its code 5 asks for a password.
_DATAGRAM: Final = re.compile(r"\x19\((?P<number>[0-9]{1,4}) (?:(?P<code>[0-9]+) )?(?:[^\x19]|\x19[{}])*\x19\)")
_WANTS_PASSWORD: Final = ("69", "5")
_UNIT_MARKS: Final = re.compile(r"(?:\x19[\]<>])+")
_FRAME: Final = "<12> "
_PING: Final = "[G]"
_PING_ANYWHERE: Final = b"[G]\x00"  # a time seal's second version has it inside lines, too
_HINTS: Final = (b"assword", b"ogin:", b"ogging you out", b"logout", b"hank you for")
_LONGEST: Final = 4096
"""Of a line without end, only so much is looked at; no cue is as long."""


class CueReader:
    """Reads the server's bytes, however they are cut; once ``logged_in`` is set, only possible questions."""

    def __init__(self) -> None:
        self.logged_in = False
        self._telnet = TelnetFilter()
        self._offset = 0
        self._line = b""  # the part of the current line that gave no cue yet
        self._before = b""  # the last whole line, not blank, if nothing follows it
        self._long = False
        self._lone_word_given = False
        self._wanted = False  # a datagram has asked for a password: the prompt for it asks nothing more

    @property
    def line(self) -> bytes:
        """The part of the current line behind its prompts that gave no cue: what the server may ask."""
        return strip_prompts(self._line.translate(None, _BLANK).decode("latin-1"))[0].encode("latin-1").strip()

    @property
    def asked(self) -> bytes:
        """As ``line``; the last whole line where the current one is blank."""
        return self.line or self._before

    def receive(self, data: bytes) -> list[Cue]:
        cues: list[Cue] = []
        begin = self._offset - len(self._telnet.rest)
        whole = self._telnet.rest + data
        done = 0
        for piece, offset in self._telnet.receive(data, self._offset):
            self._read_commands(whole[done : offset - begin], cues)
            self._read(piece, cues)
            done = offset - begin + len(piece)
        self._offset += len(data)
        self._read_commands(whole[done : len(whole) - len(self._telnet.rest)], cues)
        return cues

    def finish(self) -> list[Cue]:
        cues: list[Cue] = []
        self._look(cues, whole=True)
        return cues

    def _read_commands(self, commands: bytes, cues: list[Cue]) -> None:
        cues += [Cue(_ECHO[command]) for command in _ECHOES.findall(commands)]

    def _read(self, text: bytes, cues: list[Cue]) -> None:
        if self._long:
            end = text.find(b"\n") + 1
            if not end:
                return
            text, self._long = text[end:], False
        data = self._line + text
        if _PING_ANYWHERE in data:
            data = data.replace(_PING_ANYWHERE, b"")
        last = data.rfind(b"\n") + 1
        if last and (not self.logged_in or _hinted(data[:last])):
            for line in data[: last - 1].split(b"\n"):
                self._line = line
                self._look(cues, whole=True)
        self._line = data[last:]
        if self._line and (not self.logged_in or _hinted(self._line)):
            self._look(cues, whole=False)
        if len(self._line) > _LONGEST:
            self._line, self._long = b"", True

    def _look(self, cues: list[Cue], *, whole: bool) -> None:
        """Understand what can be of the line, and keep the rest of it."""
        text = self._line.translate(None, _BLANK).decode("latin-1")
        while True:
            text = text.lstrip(_LEAD).removeprefix(_PING)
            rest, size = strip_prompts(text)
            if size:
                cues.append(Cue(CueKind.PROMPT, text[:size].rstrip()))
            elif (match := _ASKS.match(text)) and not (self.logged_in and text[match.end() :].strip()):
                if match["name"] or not self._wanted:
                    cues.append(Cue(CueKind.NAME if match["name"] else CueKind.PASSWORD))
                self._wanted = False
                rest = text[match.end() :]
            elif (match := _RETURN.match(text)) and (notice := _parse(match[0])) is not None:
                cues += [Cue(CueKind.CALLED, notice.value or "", notice), Cue(CueKind.RETURN)]
                rest = text[match.end() :]
            elif match := _WHO_AM_I.match(text):
                cues.append(Cue(CueKind.STARTED, match["handle"]))
                self._wanted = False
                rest = ""
            elif match := _DATAGRAM.match(text):
                if (match["number"], match["code"]) == _WANTS_PASSWORD:
                    cues.append(Cue(CueKind.PASSWORD))
                    self._wanted = True
                rest = text[match.end() :]
            elif match := _UNIT_MARKS.match(text):
                rest = text[match.end() :]
            elif text.startswith(_FRAME):
                cues.append(Cue(CueKind.PROMPT))
                rest = ""
            else:
                break
            text = rest
        self._line = text.encode("latin-1")
        if not self._lone_word_given and LONE_PROMPT.fullmatch(text):
            self._lone_word_given = True
            cues.append(Cue(CueKind.LONE_WORD, text))
        if whole:
            self._line, self._lone_word_given = b"", False
            if text.strip():
                cues.append(_cue_of(text))


def _hinted(data: bytes) -> bool:
    lower = data.lower()
    return any(hint in lower for hint in _HINTS)


def _parse(text: str) -> SessionNotice | None:
    return parse_session(Line(text, 0))


def _cue_of(text: str) -> Cue:
    notice = _parse(text)
    if notice is None:
        return Cue(CueKind.LINE, text)
    if notice.kind is SessionNoticeKind.LOGIN:
        started = text.lstrip().startswith("**** ")
        return Cue(CueKind.STARTED if started else CueKind.CALLED, notice.value or "", notice)
    if notice.kind is SessionNoticeKind.STYLE:
        return Cue(CueKind.PROMPT, "", notice)
    return Cue(CueKind.NOTICE, text, notice)
