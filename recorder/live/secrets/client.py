"""Mask secrets in the bytes of a client before they are written to a journal.

Until the server has shown that the login is complete, every line that the client types is masked. The session's first
line, a prompt for commands, and a board show it. Later lines are masked again after a question (a prompt with WILL
ECHO, with a word for a secret, or that ends with a colon or question mark), after a command that begins a dialogue, and
after the end of a session; a prompt or board that comes after a typed line ends that. Of all other lines the arguments
of ``password`` and its kin are masked, and every secret that was typed before. What is masked keeps its length.

No program reads what a client sent, so it does not matter if more is masked than is needed. What the server repeats of
it is masked by ``AnswerGuard``, which must not mask more: lines about games stay, and so does the handle that logs in.
Whether a name is that handle shows at the end of the login: lines since the server repeated it wait until then.
"""

from __future__ import annotations

from typing import Final

from recorder.events import SessionNoticeKind
from recorder.live.login.dialogue import Cue, CueKind, CueReader
from recorder.live.secrets.server import SHORTEST, SHORTEST_WORD, AnswerGuard, KnownSecrets
from recorder.live.secrets.typed import ClientLines, TimedBytes, Typed, corrected
from recorder.sources.secrets import FILLER, asks, asks_name, begins_dialogue, fill, fill_command
from recorder.text import later

_GUESTS: Final = frozenset((b"guest", b"g"))
_HANDLE: Final = later(rb"[A-Za-z][A-Za-z0-9_-]*")
_SEALED: Final = later(rb"[^\r\n]")
_QUESTIONS: Final = (CueKind.NAME, CueKind.PASSWORD, CueKind.HIDE)
_ENDS: Final = frozenset((SessionNoticeKind.LOGOUT, SessionNoticeKind.IDLE_LOGOUT, SessionNoticeKind.TAKEN_OVER))
_MOST_WORDS: Final = 2
"""The old password and the new one; a longer line has mostly other words."""
_MOST_TYPED: Final = 64
_MOST_HELD: Final = 1 << 14
"""No server prints so much between a name and the end of a login."""
_LONGEST_SECRET: Final = 256
_LONGEST_COMMAND: Final = 4096
"""No server accepts a longer command: a longer line is not parsed, and masked."""


class SecretGuard:
    """Decides which bytes of a client a journal may contain: every byte is returned once, in order, masked or not."""

    def __init__(self) -> None:
        self.answers = AnswerGuard()
        self._known = KnownSecrets()
        self._server = CueReader()
        self._client = ClientLines()
        self._masking = True
        self._caught = False  # the current line began while lines were masked
        self._answered = False  # a line was typed since the server asked
        self._naming = False  # the server asks for a name
        self._asked = False  # it has asked for a secret
        self._repeated = True  # it may repeat what is typed, which may be a secret
        self._asks = True  # it may ask for something
        self._typed: list[bytes] = []  # what may be the handle
        self._called = b""  # one of them that the server has repeated as a name

    def server_sent(self, data: bytes) -> list[TimedBytes]:
        """Process the server's bytes; return earlier bytes of the client that may now be recorded."""
        line = self._client.cut()
        out = [] if line is None else self._take(line)
        for cue in self._server.receive(data):
            self._hear(cue)
        if self.answers.held_bytes > _MOST_HELD:
            self._spare(self._called)
        return out

    def client_sent(self, data: bytes, at_ns: int) -> list[TimedBytes]:
        """Process the client's bytes; return whole lines that may now be recorded, with the times of their bytes."""
        if asks(self._server.asked):
            self._ask(secret=True)
        elif asks_name(self._server.line):
            self._ask(name=True)
        elif self._server.line.endswith((b":", b"?")):
            self._ask(repeated=self._repeated)
        out = [piece for line in self._client.receive(data, at_ns) for piece in self._take(line)]
        if text := self._client.begun:
            self._caught |= self._masking
            secret = b" ".join(_hidden(text, self._filled(text))) if len(text) <= _LONGEST_COMMAND else b""
            self.answers.typing(secret or text if self._masking else secret)
        return out

    def tick(self, now_ns: int) -> list[TimedBytes]:
        """The server's bytes that were delayed long enough; during a login words wait until they are complete."""
        return [] if self._masking else self.answers.tick(now_ns)

    def enter(self, handle: str | None) -> None:
        """Note that the login is complete and the client answers no questions; None: the handle is not known."""
        self._open((handle or "").encode())
        self._asks = False

    def finish(self) -> list[TimedBytes]:
        """The rest, after the end of the connection."""
        line = self._client.finish()
        return [] if line is None else self._take(line)

    def _hear(self, cue: Cue) -> None:
        kind = cue.kind
        if kind is CueKind.STARTED:
            self._open(cue.text.encode("latin-1"))
        elif kind is CueKind.PROMPT:
            if self._masking and (self._answered or self._called):
                self._open(b"")
        elif kind is CueKind.CALLED:
            name = cue.text.encode("latin-1")
            if any(typed.lower() == name.lower() for typed in self._typed):
                self._called = name
                self.answers.holding = True
        elif kind in _QUESTIONS or (cue.notice is not None and cue.notice.kind in _ENDS):
            self._ask(name=kind is CueKind.NAME, secret=kind is not CueKind.NAME)

    def _ask(self, *, name: bool = False, secret: bool = False, repeated: bool = True) -> None:
        """Mask lines, until the server shows after one of them that it waits for commands."""
        if not self._asks:
            return
        if name:
            self._called, self.answers.holding = b"", False
        self._masking, self._answered = True, False
        self._naming, self._asked = name, (self._asked or secret) and not name
        self._repeated = repeated
        self._server.logged_in = False

    def _open(self, handle: bytes) -> None:
        """Mask no more lines than those with secrets: the server waits for commands."""
        if handle := handle or self._called:
            for typed in self._typed:  # also at the question for the name, where it was none
                if len(typed) >= SHORTEST_WORD:
                    self._learn(typed)
            self._spare(handle)
        self.answers.enter()
        self._masking = self._asked = self._naming = self._repeated = False
        self._caught = self._client.begun != b""
        self._typed.clear()
        self._server.logged_in = True

    def _spare(self, handle: bytes) -> None:
        """Do not mask the handle where the server prints it."""
        self._called, self.answers.holding = b"", False
        for typed in self._typed:
            if typed.lower() == handle.lower():
                self._known.drop(typed)
                self.answers.drop(typed)

    def _take(self, line: Typed) -> list[TimedBytes]:
        self.answers.typed()
        caught, self._caught = self._caught or self._masking, False
        if line.own or not (caught or line.text):
            return line.pieces if line.own or not line.raw.strip() else _masked(line)
        if not caught:
            return self._at_command(line)
        text = corrected(line.text).strip()
        self._answered |= text != b""
        named, self._naming = self._naming and _HANDLE().fullmatch(text) is not None, False
        for secret in _secrets_of(text) if self._repeated else ():
            self.answers.expect(secret)
            if not named and (self._asked or len(secret) >= SHORTEST_WORD):
                self._learn(secret)
            self._typed.append(secret)
        del self._typed[:-_MOST_TYPED]
        return _masked(line)

    def _learn(self, secret: bytes) -> None:
        self._known.learn(secret)
        self.answers.learn(secret)

    def _at_command(self, line: Typed) -> list[TimedBytes]:
        if len(line.text) > _LONGEST_COMMAND:
            return _masked(line)
        text = line.text
        typed = corrected(text)
        if begins_dialogue(typed):
            self._ask()
        filled = self._filled(typed)
        words = _hidden(typed, filled)
        if len(words) == 1 or fill_command(typed) != typed:  # not chat about the password
            for word in words:
                self.answers.expect(word)
                self._known.learn(word)
                if len(words) <= _MOST_WORDS:
                    self.answers.learn(word)
        for first, end in self._known.find(filled):
            self.answers.expect(filled[first:end])
            filled = filled[:first] + FILLER * (end - first) + filled[end:]
        if filled == typed and not line.odd:
            return line.pieces
        return _masked(line, filled if typed == text else None)

    def _filled(self, command: bytes) -> bytes:
        """A command with its secrets masked, also if it is a password command of another name: an alias."""
        filled = fill_command(command)
        if known := self._known.find_words(filled):
            end = known[0][1]
            filled = filled[:end] + fill(filled[end:])
        return filled


def _secrets_of(text: bytes) -> list[bytes]:
    """What may be a secret in a line: the line itself, the last of a few words, and the arguments of ``password``."""
    words = text.split()
    found = [text, *_hidden(text, fill_command(text)), *(words[-1:] if 1 < len(words) <= 2 * _MOST_WORDS else ())]
    return [secret for secret in found if SHORTEST <= len(secret) <= _LONGEST_SECRET and secret.lower() not in _GUESTS]


def _hidden(text: bytes, filled: bytes) -> list[bytes]:
    """The masked words at the end of a line."""
    begin = next((place for place, (a, b) in enumerate(zip(text, filled, strict=True)) if a != b), len(text))
    return text[begin:].split()


def _masked(line: Typed, text: bytes | None = None) -> list[TimedBytes]:
    """The pieces of a line, all of it masked, or with another text of the same length if its text is contiguous."""
    raw, lead = line.raw, line.lead
    if text is None or lead is None:
        clean = _SEALED().sub(FILLER, raw) if line.sealed else fill(raw)
    else:
        clean = raw[:lead] + text + raw[lead + len(text) :]
    out, done = [], 0
    for at_ns, data in line.pieces:
        out.append(TimedBytes(at_ns, clean[done : done + len(data)]))
        done += len(data)
    return out
