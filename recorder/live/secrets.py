"""What a client sends → what of it may be kept.

Until the server shows that somebody is logged in, everything is held: clients send name, password and commands before
they are asked. The server's prompts tell what each line was: it takes the lines in order, one a prompt, and repeats
the name, which sets a wrong count right. Whatever is not known to be no secret is replaced by filler: of the lines up
to the login only names stay that the server has repeated. A sealed line is read for this and kept as it is, or, with
a secret in it, as its length alone, since filler inside a seal means nothing; so is a line that nobody can read.
The password of the login, and those of a ``password`` command, become filler in every later line, too.
"""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass
from typing import Final, NamedTuple

from recorder.live.dialogue import Cue, CueKind, CueReader
from recorder.live.known import KnownSecrets
from recorder.sources.scrub import FILLER, fill, fill_command, find_repeated
from recorder.wire.telnet import TelnetFilter
from recorder.wire.timeseal import PING_ANSWER, unseal

__all__ = ["AnswerGuard", "Release", "SecretGuard"]

_MOST_HELD: Final = 1 << 16
_MOST_QUESTIONS: Final = 256
_GUESTS: Final = frozenset((b"guest", b"g"))
_HELLOS: Final = (b"TIMESTAMP|", b"TIMESEAL2|", b"ZIPSEAL|")
# What servers take at the login prompt besides a name: FICS's variables, ICC's levels.
_OPTION: Final = re.compile(rb"%b[01]+|level1=[0-9]+|level2settings=[01]+", re.I)
_WORD: Final = re.compile(rb"\S+")
# zipseal's stamp stands in the open.
_STAMP: Final = re.compile(rb"\x18[0-9a-fA-F]{1,16}\Z")
# Before a command: ICC's tag of a reply, the number of block mode.
_TAG: Final = re.compile(rb"[\r$/ \t]*(?:`[^`]*`[ \t]*)?(?:[0-9]{1,9}[ \t]+)?")
_ERASED: Final = re.compile(rb"[^\x08\x7f][\x08\x7f]|^[\x08\x7f]+")
_CONTROLS: Final = re.compile(rb"[\x00-\x06\x0e-\x1a\x1c-\x1f]")
_REPEATS: Final = b"password"
_ANSWER_BYTES: Final = 4096
_LONGEST_WORDS: Final = 256  # before such a password
_PIECE: Final = re.compile(rb"[^\n]*\n|[^\n]+")
_SEAL_BYTES: Final = re.compile(rb"[\x60-\xdf]{12,}[\x80-\xb1]")


class Release(NamedTuple):
    """Bytes that may be journalled, or how many there were that may not; then ``data`` is empty."""

    at_ns: int
    data: bytes
    withheld: int


@dataclass(slots=True)
class _Typed:
    """A line of the client."""

    pieces: list[tuple[int, bytes]]  # when they arrived, and the bytes
    text: bytes  # without telnet commands, seal and line end
    lead: int | None  # where the text begins in the bytes; None: it does not stand there in one piece
    sealed: bool = False
    readable: bool = True
    answers: bool = True  # it answers a prompt
    question: CueKind | None = None

    @property
    def raw(self) -> bytes:
        return b"".join(piece for _, piece in self.pieces)


class _ClientLines:
    """Cuts the client's bytes into lines, which end at ``\\n`` alone, and keeps when each byte came."""

    def __init__(self) -> None:
        self._telnet = TelnetFilter()
        self._offset = 0
        self._pieces: deque[tuple[int, bytes]] = deque()
        self._begin = 0  # where they begin
        self._text = bytearray()
        self._first: int | None = None  # where the text begins
        self._long = False

    def receive(self, data: bytes, at_ns: int) -> list[_Typed]:
        lines: list[_Typed] = []
        if not data:
            return lines
        self._pieces.append((at_ns, data))
        for piece, offset in self._telnet.receive(data, self._offset):
            done = 0
            while (end := piece.find(b"\n", done)) >= 0:
                self._add(piece[done : end + 1], offset + done)
                lines.append(self._line(offset + end + 1))
                self._long = False
                done = end + 1
            self._add(piece[done:], offset + done)
        self._offset += len(data)
        if self._offset - self._begin > _MOST_HELD:
            # A command has no such length. Its rest may be anything, too.
            lines.append(self._line(self._offset))
            self._long = True
        return lines

    def finish(self) -> _Typed | None:
        """The line that was not ended."""
        return self._line(self._offset) if self._offset > self._begin else None

    def _add(self, text: bytes, offset: int) -> None:
        if text and self._first is None:
            self._first = offset
        self._text += text

    def _line(self, end: int) -> _Typed:
        """Take the bytes up to ``end``."""
        pieces: list[tuple[int, bytes]] = []
        begin, text, first = self._begin, bytes(self._text), self._first
        while self._begin < end:
            at_ns, piece = self._pieces.popleft()
            if len(piece) > end - self._begin:
                self._pieces.appendleft((at_ns, piece[end - self._begin :]))
                piece = piece[: end - self._begin]
            pieces.append((at_ns, piece))
            self._begin += len(piece)
        self._text.clear()
        self._first = None
        if self._long or len(text) > _MOST_HELD:
            return _Typed(pieces, b"", None, readable=False, answers=not self._long)
        return _typed(pieces, text, 0 if first is None else first - begin)


class SecretGuard:
    """Decides what a journal may hold of a client's bytes: every byte is released once, in order, or counted."""

    def __init__(self) -> None:
        self._known = KnownSecrets()
        self._repeated: list[bytes] = []
        self._server = CueReader()
        self._client = _ClientLines()
        self._held: list[_Typed] = []
        self._size = 0
        self._questions: deque[CueKind] = deque(maxlen=_MOST_QUESTIONS)  # prompts that no line has answered yet
        self._paired = 0  # so many held lines have been taken by the server
        self._begin_attempt()
        self._called: set[bytes] = set()
        self._asked = False  # any prompt has come in this login
        self._lost = False  # lines were given up, so that counting is over
        self._by_echo = False  # WILL ECHO has made the question, its prompt is still to come
        self._prompted = False  # the other way round

    def server_said(self, data: bytes) -> list[Release]:
        """Look at the server's bytes.

        Returns:
            What may now be journalled of the bytes that the client sent earlier.
        """
        out: list[Release] = []
        for cue in self._server.receive(data):
            self._hear(cue, out)
        return out

    def client_said(self, data: bytes, at_ns: int) -> list[Release]:
        """Take the client's bytes.

        Args:
            data: as received, cut anywhere.
            at_ns: when they arrived.
        Returns:
            What may now be journalled, of these and of earlier ones: whole lines with the times of their bytes.
        """
        out: list[Release] = []
        for line in self._client.receive(data, at_ns):
            if self._server.logged_in:
                self._give(line, self._after_login(line), out)
            else:
                self._hold(line, out)
        return out

    def take_repeated(self) -> list[bytes]:
        """Secrets that were typed where none was asked for, since the last call: the server may answer with them."""
        repeated, self._repeated = self._repeated, []
        return repeated

    def finish(self) -> list[Release]:
        """Tell what is left when the connection has ended: before a login only how much it was."""
        out: list[Release] = []
        for line in self._held:
            self._give(line, None, out)
        self._held.clear()
        if (last := self._client.finish()) is not None:
            whole = self._server.logged_in and last.readable and last.text.isascii()
            self._give(last, self._after_login(last) if whole else None, out)
        return out

    def _hold(self, line: _Typed, out: list[Release]) -> None:
        self._held.append(line)
        self._size += sum(len(piece) for _, piece in line.pieces)
        self._pair()
        if self._size > _MOST_HELD:
            for held in self._held:
                self._give(held, None, out)
            self._forget_held()
            self._lost = True

    def _forget_held(self) -> None:
        self._held.clear()
        self._size = self._paired = self._attempt = 0

    def _begin_attempt(self) -> None:
        """What was taken so far belongs to earlier attempts to log in."""
        self._attempt = self._paired
        self._secrets = 0  # questions for a password in this attempt
        self._guest = False  # one of them asked for an empty line alone

    def _hear(self, cue: Cue, out: list[Release]) -> None:
        kind = cue.kind
        if kind is CueKind.NAME:
            if self._server.logged_in:
                self._server.logged_in = False  # somebody logs in again on this connection
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
            if self._secrets and not self._questions:
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
        """Give each question the next line that answers one."""
        while self._questions and self._paired < len(self._held):
            line = self._held[self._paired]
            self._paired += 1
            if line.answers:
                line.question = self._questions.popleft()

    def _anchor(self, name: bytes) -> None:
        """The server has repeated a name: the line with it is the one that it has just taken, however we counted."""
        self._called.add(name)
        for index in range(self._attempt, len(self._held)):
            line = self._held[index]
            if line.answers and _name_of(line.text) in (name, *_GUESTS):
                for later in self._held[index + 1 :]:
                    later.question = None
                line.question = CueKind.NAME
                self._paired = index + 1
                self._questions.clear()
                self._questions.extend([CueKind.PASSWORD] * self._secrets)
                self._pair()
                return

    def _enter(self, out: list[Release]) -> None:
        """Somebody is logged in: what was held can be told apart."""
        counted = self._asked and not self._lost
        if counted and not self._guest:
            for line in self._held[self._attempt : self._paired]:
                self._learn(line)
        for index, line in enumerate(self._held):
            login = index < self._paired or not counted
            self._give(line, self._at_login(line) if login else self._at_command(line), out)
        self._forget_held()
        self._begin_attempt()
        self._questions.clear()
        self._lost = self._by_echo = self._prompted = False
        self._server.logged_in = True

    def _learn(self, line: _Typed) -> None:
        """Remember the password of the login that has come about."""
        if not line.readable or not line.answers:
            return
        if line.question is CueKind.PASSWORD:
            self._known.learn(line.text.strip())
        elif line.question is CueKind.NAME:
            words = [word for word in line.text.split() if not _OPTION.fullmatch(word)]
            self._known.learn(b" ".join(words[1:]))

    def _at_login(self, line: _Typed) -> bytes | None:
        if not line.readable:
            return None
        if not line.answers:
            return line.raw
        shown = self._shown(line.text) if line.question is CueKind.NAME else fill(line.text)
        if shown == line.text:
            return line.raw
        return None if line.sealed else _replaced(line, shown)

    def _shown(self, text: bytes) -> bytes:
        """A line that answered the question for a name: options and a name that the server knows stay."""
        out, done, named = b"", 0, False
        for word in _WORD.finditer(text):
            out += text[done : word.start()]
            done = word.end()
            if _OPTION.fullmatch(word[0]):
                out += word[0]
                continue
            known = not named and word[0].lower() in self._called | _GUESTS
            out += word[0] if known else fill(word[0])
            named = True
        return out + text[done:]

    def _after_login(self, line: _Typed) -> bytes | None:
        if line.answers and self._questions:
            self._questions.popleft()
            self._by_echo = self._prompted = False
            if line.readable:
                self._known.learn(line.text.strip())
            return _at_secret(line)
        return self._at_command(line)

    def _at_command(self, line: _Typed) -> bytes | None:
        if not line.readable:
            return None
        text = typed = line.text
        while (shorter := _ERASED.sub(b"", typed)) != typed:
            typed = shorter
        tag = _TAG.match(typed)
        begin = tag.end() if tag else 0
        filled = typed[:begin] + fill_command(typed[begin:])
        if filled != typed:
            for word in _hidden(typed, filled):
                self._known.learn(word)
        for first, end in self._known.find(filled):
            self._repeated.append(filled[first:end])
            filled = filled[:first] + FILLER * (end - first) + filled[end:]
        if filled == typed:
            return line.raw
        return None if line.sealed or typed != text else _replaced(line, filled)

    def _give(self, line: _Typed, data: bytes | None, out: list[Release]) -> None:
        """Release a line's bytes at the times when they came; None: only how many."""
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


class AnswerGuard:
    """Replaces the passwords that a server repeats: in its answer to the command that changes them, and soon after one
    was typed as a command.

    The server's words come before the password, so nothing has to be held back. Where a read ends within a repeated
    password, its first two letters may stay.
    """

    def __init__(self) -> None:
        self._line = b""  # what has come of a line, up to the longest beginning that could matter
        self._repeated: dict[bytes, int] = {}  # secret → how many of the server's bytes are looked at for it
        self._last = b""  # the end of what came

    def expect(self, secret: bytes) -> None:
        """A secret was typed where none was asked for: "hunter2: Command not found." may follow."""
        self._repeated[secret] = _ANSWER_BYTES

    def receive(self, data: bytes) -> bytes:
        """Return the server's bytes as they may be journalled: as many, at once."""
        clean = self._clean_change(data)
        return self._clean_answer(data, clean) if self._repeated else clean

    def _clean_answer(self, data: bytes, clean: bytes) -> bytes:
        out = bytearray(self._last + clean)
        seen = self._last + data
        for secret, left in list(self._repeated.items()):
            begin = seen.find(secret)
            while begin >= 0:
                out[begin : begin + len(secret)] = FILLER * len(secret)
                begin = seen.find(secret, begin + len(secret))
            for size in range(len(secret) - 1, 2, -1):
                if seen.endswith(secret[:size]):
                    out[len(out) - size :] = FILLER * size
                    break
            if left > len(data):
                self._repeated[secret] = left - len(data)
            else:
                del self._repeated[secret]
        done = len(self._last)
        longest = max(map(len, self._repeated), default=1)
        self._last = seen[len(seen) - longest + 1 :] if longest > 1 else b""
        return bytes(out[done:])

    def _clean_change(self, data: bytes) -> bytes:
        if _REPEATS not in (self._line + data).lower():
            self._line = (self._line + data).rpartition(b"\n")[2][:_LONGEST_WORDS]
            return data
        out = bytearray()
        for piece in _PIECE.findall(data):
            line = self._line + piece
            begin = find_repeated(line)
            kept = len(piece) if begin is None else max(0, begin - len(self._line))
            out += piece[:kept] + fill(piece[kept:])
            known = _LONGEST_WORDS if begin is None else begin + 1
            self._line = b"" if piece.endswith(b"\n") else line[:known]
        return bytes(out)


def _typed(pieces: list[tuple[int, bytes]], text: bytes, lead: int) -> _Typed:
    """Read a line whose text begins at ``lead`` of its bytes."""
    raw = b"".join(piece for _, piece in pieces)
    body = text.rstrip(b"\r\n")
    place = lead if raw[lead : lead + len(body)] == body else None
    if (unsealed := unseal(body)) is not None:
        return _Typed(pieces, unsealed[0], place, sealed=True, answers=_answers(unsealed[0]))
    if stamp := _STAMP.search(body):
        body = body[: stamp.start()]
    readable = body == PING_ANSWER or not (_CONTROLS.search(body) or _SEAL_BYTES.fullmatch(body))
    return _Typed(pieces, body, place, readable=readable, answers=_answers(body))


def _answers(text: bytes) -> bool:
    """Whether a line answers a prompt, as names, passwords and empty lines do."""
    if text == PING_ANSWER or text.startswith(_HELLOS):
        return False
    words = text.split()
    return not words or not all(map(_OPTION.fullmatch, words))


def _name_of(text: bytes) -> bytes:
    return next((word.lower() for word in text.split() if not _OPTION.fullmatch(word)), b"")


def _at_secret(line: _Typed) -> bytes | None:
    if not line.text.strip():
        return line.raw
    return None if line.sealed or not line.readable else _replaced(line, fill(line.text))


def _hidden(text: bytes, filled: bytes) -> list[bytes]:
    """The words that were replaced by filler in a line's end."""
    begin = next(place for place, (a, b) in enumerate(zip(text, filled, strict=True)) if a != b)
    return text[begin:].split()


def _replaced(line: _Typed, text: bytes) -> bytes | None:
    """The line's bytes with another text of the same length in it, if its text stands there in one piece."""
    if line.lead is None:
        return None
    raw = line.raw
    return raw[: line.lead] + text + raw[line.lead + len(text) :]
