"""Mask secrets in the bytes of a client before they are written to a journal.

Until the login is complete all lines are pending, because clients send name, password and commands before the server
asks for them. The server's prompts show the meaning of each line: the server reads the lines in order, one for each
prompt, and repeats the name, which corrects a wrong count. Every text that may be a secret is masked: of the lines up
to the login only names that the server has repeated stay. A sealed line with a secret is recorded as its length only,
because masking inside a seal is not possible; so is a line that cannot be unsealed. The password of the login, and
those of a ``password`` command, are masked in every later line, too.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Final, NamedTuple

from recorder.live.login.dialogue import Cue, CueKind, CueReader
from recorder.live.secrets.server import SHORTEST, KnownSecrets
from recorder.live.secrets.typed import MOST_PENDING, OPTION, ClientLines, Typed, corrected
from recorder.sources.secrets import FILLER, fill, fill_command

__all__ = ["Release", "SecretGuard"]

_MOST_QUESTIONS: Final = 256
_GUESTS: Final = frozenset((b"guest", b"g"))
_WORD: Final = re.compile(rb"\S+")
# In front of a command: ICC's tag for its reply, or the number of block mode.
_TAG: Final = re.compile(rb"[\r$/ \t]*(?:`[^`]*`[ \t]*)?(?:[0-9]{1,9}[ \t]+)?")
# A refused line may be a command that was typed too early, unless it does not look like a word.
_NO_WORD: Final = re.compile(rb"(?=.*[A-Za-z])(?=.*[^A-Za-z])\S{6,}")
_MOST_WORDS: Final = 2
"""The old password and the new one; a longer line has mostly other words."""
_LONGEST_COMMAND: Final = 4096
"""No server accepts a longer command: a longer line is not parsed, and only its length is recorded."""


class Release(NamedTuple):
    """Bytes to record, or the number of bytes that must not be recorded; then ``data`` is empty."""

    at_ns: int
    data: bytes
    withheld: int


class SecretGuard:
    """Decides which bytes of a client a journal may contain: every byte is released once, in order, or counted."""

    def __init__(self) -> None:
        self._known = KnownSecrets()
        self._repeated: list[bytes] = []
        self._learned: list[bytes] = []
        self._server = CueReader()
        self._client = ClientLines()
        self._pending: list[Typed] = []
        self._size = 0
        self._questions: deque[CueKind] = deque(maxlen=_MOST_QUESTIONS)  # prompts that no line has answered yet
        self._paired = 0  # how many pending lines the server has read
        self._called: set[bytes] = set()
        self._begin_attempt()
        self._early = False  # the current line began before the login
        self._asked = False  # this login had any prompt
        self._lost = False  # pending lines were dropped, so that counting is impossible
        self._by_echo = False  # WILL ECHO was taken as the question, its prompt follows
        self._prompted = False  # the prompt was taken as the question, WILL ECHO may follow

    def server_sent(self, data: bytes) -> list[Release]:
        """Take the server's bytes.

        Returns:
            Earlier bytes of the client that may now be recorded.
        """
        out: list[Release] = []
        if (line := self._client.cut()) is not None:
            self._take(line, out)
        for cue in self._server.receive(data):
            self._hear(cue, out)
        return out

    def client_sent(self, data: bytes, at_ns: int) -> list[Release]:
        """Take the client's bytes.

        Args:
            data: as received; a read may end anywhere.
            at_ns: when they arrived.
        Returns:
            Bytes that may now be recorded, of these and of earlier ones: whole lines with the times of their bytes.
        """
        out: list[Release] = []
        for line in self._client.receive(data, at_ns):
            self._take(line, out)
        return out

    def take_repeated(self) -> list[bytes]:
        """Secrets typed since the last call: the server's answer may contain them."""
        repeated, self._repeated = self._repeated, []
        return repeated

    def take_learned(self) -> list[bytes]:
        """Passwords of this connection, known since the last call: the server may repeat them at any time."""
        learned, self._learned = self._learned, []
        return learned

    def finish(self) -> list[Release]:
        """Release the rest after the end of the connection: before a login only its length."""
        out: list[Release] = []
        for line in self._pending:
            self._give(line, None, out)
        self._pending.clear()
        if (last := self._client.finish()) is not None:
            whole = self._server.logged_in and last.readable and last.text.isascii()
            self._give(last, self._after_login(last) if whole else None, out)
        return out

    def _take(self, line: Typed, out: list[Release]) -> None:
        if self._server.logged_in:
            self._give(line, self._after_login(line), out)
        else:
            self._keep_pending(line, out)

    def _keep_pending(self, line: Typed, out: list[Release]) -> None:
        self._pending.append(line)
        self._size += sum(len(piece) for _, piece in line.pieces)
        self._pair()
        if self._size > MOST_PENDING:
            for waiting in self._pending:
                self._give(waiting, None, out)
            self._drop_pending()
            self._lost = True

    def _drop_pending(self) -> None:
        self._pending.clear()
        self._size = self._paired = self._attempt = 0

    def _begin_attempt(self) -> None:
        """Count the lines so far to earlier attempts to log in."""
        self._attempt = self._paired
        self._secrets = 0  # questions for a password in this attempt
        self._guest = False  # one of them asked for an empty line alone

    def _hear(self, cue: Cue, out: list[Release]) -> None:
        kind = cue.kind
        if kind is CueKind.NAME:
            if self._server.logged_in:
                self._server.logged_in = False  # another login begins on this connection
                self._called.clear()
                self._asked = False
                self._questions.clear()
            if self._by_echo and self._questions:
                self._questions.pop()  # this server echoes all that is typed
            self._by_echo = self._prompted = False
            if self._secrets:
                self._begin_attempt()
            self._ask(kind)
        elif kind in (CueKind.PASSWORD, CueKind.RETURN):
            self._guest |= kind is CueKind.RETURN
            if not self._by_echo:
                self._ask(CueKind.PASSWORD)
            self._by_echo, self._prompted = False, True
        elif kind is CueKind.HIDE:
            if not self._prompted and not self._by_echo:
                self._ask(CueKind.PASSWORD)
                self._by_echo = True
        elif kind is CueKind.SHOW:
            if self._server.logged_in and self._by_echo and self._questions:
                self._questions.pop()  # nothing was typed
            self._by_echo = self._prompted = False
        elif not self._server.logged_in:
            self._hear_before_login(cue, out)

    def _hear_before_login(self, cue: Cue, out: list[Release]) -> None:
        if cue.kind is CueKind.CALLED:
            self._anchor(cue.text.lower().encode("latin-1"))
        elif cue.kind is CueKind.STARTED:
            self._called.add(cue.text.lower().encode("latin-1"))
            self._enter(out)
        elif cue.kind is CueKind.PROMPT:
            self._enter(out)
        elif cue.kind is CueKind.LONE_WORD:
            # "Code> " may ask for another secret.
            if self._secrets and not self._questions and cue.text.endswith("% "):
                self._enter(out)
        elif cue.kind is CueKind.LINE:
            self._prompted = False

    def _ask(self, question: CueKind) -> None:
        self._asked = True
        self._secrets += question is CueKind.PASSWORD
        self._questions.append(question)
        if not self._server.logged_in:
            self._pair()

    def _pair(self) -> None:
        """Assign the next line that can be an answer to each question."""
        while self._questions and self._paired < len(self._pending):
            line = self._pending[self._paired]
            self._paired += 1
            if line.answers:
                line.question = self._questions.popleft()
                self._expect(_secret_of(line))

    def _anchor(self, name: bytes) -> None:
        """Correct the count after the server has repeated a name: it has just read the line with this name."""
        self._called.add(name)
        names = _GUESTS | {name}
        for index in range(self._attempt, len(self._pending)):
            line = self._pending[index]
            if line.answers and _name_of(line.text) in names:
                for later in self._pending[index + 1 :]:
                    later.question = None
                line.question = CueKind.NAME
                self._paired = index + 1
                self._questions.clear()
                self._questions.extend([CueKind.PASSWORD] * self._secrets)
                self._pair()
                return

    def _enter(self, out: list[Release]) -> None:
        """Release the pending lines at the end of the login: now their meaning is known."""
        counted = self._asked and not self._lost
        if counted and not self._guest:
            for index, line in enumerate(self._pending[: self._paired]):
                secret = _secret_of(line)
                if index >= self._attempt or _NO_WORD.fullmatch(secret):
                    self._learn(secret)
        for index, line in enumerate(self._pending):
            login = index < self._paired or not counted
            self._give(line, self._at_login(line) if login else self._at_command(line), out)
        self._drop_pending()
        self._begin_attempt()
        self._questions.clear()
        self._lost = self._by_echo = self._prompted = False
        self._early = self._client.begun
        self._server.logged_in = True

    def _learn(self, secret: bytes) -> None:
        """Remember that a secret is certainly a password."""
        self._known.learn(secret)
        if secret.lower() not in self._called:
            self._learned.append(secret)

    def _expect(self, secret: bytes) -> None:
        """Expect a secret in the server's answer, unless it equals the name."""
        names = {_name_of(line.text) for line in self._pending if line.question is CueKind.NAME}
        if len(secret) >= SHORTEST and not self._guest and secret.lower() not in names | self._called:
            self._repeated.append(secret)

    def _at_login(self, line: Typed) -> bytes | None:
        if not line.readable:
            return None
        if not line.answers:
            return line.raw
        shown = self._shown(line.text) if line.question is CueKind.NAME else fill(line.text)
        if shown == line.text:
            return line.raw
        return None if line.sealed else _replaced(line, shown)

    def _shown(self, text: bytes) -> bytes:
        """A line that answered the prompt for a name, masked except for options and a name that the server knows."""
        out, done, named = b"", 0, False
        for word in _WORD.finditer(text):
            out += text[done : word.start()]
            done = word.end()
            if OPTION.fullmatch(word[0]):
                out += word[0]
                continue
            known = not named and word[0].lower() in self._called | _GUESTS
            out += word[0] if known else fill(word[0])
            named = True
        return out + text[done:]

    def _after_login(self, line: Typed) -> bytes | None:
        early, self._early = self._early, False
        if line.answers and self._questions:
            self._questions.popleft()
            self._by_echo = self._prompted = False
            line.question = CueKind.PASSWORD
            self._learn(_secret_of(line))
            self._expect(_secret_of(line))
            return _at_secret(line)
        return self._at_login(line) if early else self._at_command(line)

    def _at_command(self, line: Typed) -> bytes | None:
        if not line.readable or len(line.text) > _LONGEST_COMMAND:
            return None
        text = line.text
        typed = corrected(text)
        tag = _TAG.match(typed)
        begin = tag.end() if tag else 0
        filled = typed[:begin] + fill_command(typed[begin:])
        if filled != typed:
            words = _hidden(typed, filled)
            for word in words:
                if len(words) <= _MOST_WORDS:
                    self._learn(word)
                else:
                    self._known.learn(word)
                self._expect(word)
        for first, end in self._known.find(filled):
            self._repeated.append(filled[first:end])
            filled = filled[:first] + FILLER * (end - first) + filled[end:]
        if filled == typed:
            return line.raw
        return None if line.sealed or typed != text else _replaced(line, filled)

    def _give(self, line: Typed, data: bytes | None, out: list[Release]) -> None:
        """Release a line's bytes with the times of their arrival; None: only their number."""
        done = 0
        for at_ns, piece in line.pieces:
            size = len(piece)
            release = Release(at_ns, b"", size) if data is None else Release(at_ns, data[done : done + size], 0)
            done += size
            last = out[-1] if out else None
            if last is not None and last.at_ns == at_ns and bool(last.withheld) == bool(release.withheld):
                out[-1] = Release(at_ns, last.data + release.data, last.withheld + release.withheld)
            else:
                out.append(release)


def _name_of(text: bytes) -> bytes:
    return next((word.lower() for word in text.split() if not OPTION.fullmatch(word)), b"")


def _secret_of(line: Typed) -> bytes:
    """The secret in a line that answered a prompt: a password, or the text behind a name."""
    if not line.readable or not line.answers:
        return b""
    if line.question is CueKind.PASSWORD:
        return line.text.strip()
    words = [word for word in line.text.split() if not OPTION.fullmatch(word)]
    return b" ".join(words[1:]) if line.question is CueKind.NAME else b""


def _at_secret(line: Typed) -> bytes | None:
    if not line.text.strip():
        return line.raw
    return None if line.sealed or not line.readable else _replaced(line, fill(line.text))


def _hidden(text: bytes, filled: bytes) -> list[bytes]:
    """The masked words at the end of a line."""
    begin = next(place for place, (a, b) in enumerate(zip(text, filled, strict=True)) if a != b)
    return text[begin:].split()


def _replaced(line: Typed, text: bytes) -> bytes | None:
    """The line's bytes with another text of the same length, if its text is contiguous in them."""
    if line.lead is None:
        return None
    raw = line.raw
    return raw[: line.lead] + text + raw[line.lead + len(text) :]
