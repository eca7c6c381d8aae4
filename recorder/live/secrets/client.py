"""Mask secrets in the bytes of a client, and where a server repeats them, before they are written to a journal.

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

import hashlib
import re
import secrets
import string
import zlib
from collections.abc import Iterator
from typing import Final

from recorder.events import SessionNoticeKind
from recorder.live.login.dialogue import Cue, CueKind, CueReader
from recorder.live.secrets.typed import ClientLines, TimedBytes, Typed, corrected
from recorder.sources.secrets import (
    FILLER,
    KeyMask,
    asks,
    asks_name,
    begins_dialogue,
    fill,
    fill_command,
    find_repeated,
    is_of_game,
    may_repeat,
    without_boards,
)
from recorder.text import later

SHORTEST: Final = 3
"""A shorter text occurs in every second command."""
SHORTEST_WORD: Final = 6
"""A shorter text may be an ordinary word of the server's output."""
_MOST_KNOWN: Final = 256
_PUNCTUATION: Final = string.punctuation.encode()
_BLANKS: Final = bytes.maketrans(bytes((*range(32), 127)), b" " * 33)
# Colours and telnet commands are not text, though the next word follows without a blank.
_NO_TEXT: Final = later(rb"\x1b\[[0-9;?]*+[A-Za-z]|\xff(?:[\xfb-\xfe].|[\xf0-\xfa])", re.S)
_WORD: Final = later(rb"[^ ]++")
_SHOWN: Final = later(rb"\xff(?:[\xfb-\xfe].|\xfa[^\xff]{0,256}+\xff\xf0|.)|([\x21-\x7e\x80-\xfe])", re.S)


class KnownSecrets:
    """Remembers secrets and finds them in other text, in any case: servers write names in small letters."""

    def __init__(self) -> None:
        self._salt = secrets.token_bytes(16)
        self._known: dict[tuple[int, int], set[bytes]] = {}
        self._lengths: list[int] = []

    @property
    def longest(self) -> int:
        return max(self._lengths, default=0)

    def learn(self, secret: bytes) -> None:
        """If it is long enough to be distinguished from other words."""
        if len(secret) >= SHORTEST:
            self._known.setdefault(_check(secret), set()).add(self._digest(secret))
            if len(self._known) > _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            self._lengths = sorted({length for length, _ in self._known})

    def drop(self, text: bytes) -> None:
        if text in self:
            del self._known[_check(text)]
            self._lengths = sorted({length for length, _ in self._known})

    def __contains__(self, text: bytes) -> bool:
        known = self._known.get(_check(text))
        return known is not None and self._digest(text) in known

    def find(self, text: bytes) -> list[tuple[int, int]]:
        """They may overlap."""
        places = []
        text = text.lower()
        for length in self._lengths:
            for begin in range(len(text) - length + 1):
                if text[begin : begin + length] in self:
                    places.append((begin, begin + length))
        return sorted(places)

    def find_words(self, text: bytes) -> list[tuple[int, int]]:
        """Secrets that are whole words, without the punctuation on either side."""
        places, shortest = [], min(self._lengths, default=0)
        for word in _WORD().finditer(plain_text(text)) if shortest else ():
            if len(word[0]) >= shortest:
                start = word.start()
                places += [(start + begin, start + end) for begin, end in self._places(word[0])]
        return places

    def _places(self, word: bytes) -> Iterator[tuple[int, int]]:
        size = len(word)
        for length in self._lengths:
            more = size - length
            if more < 0:
                continue
            first = last = 0  # where it may begin
            if more:
                lead, trail = size - len(word.lstrip(_PUNCTUATION)), size - len(word.rstrip(_PUNCTUATION))
                first, last = max(more - trail, 0), min(lead, more)
            for begin in range(first, last + 1):
                if word[begin : begin + length] in self:
                    yield begin, begin + length

    def _digest(self, text: bytes) -> bytes:
        return hashlib.blake2b(text.lower(), digest_size=16, key=self._salt).digest()


def plain_text(text: bytes) -> bytes:
    """A text with blanks in place of everything that is not part of a word."""
    if b"\x1b" in text or b"\xff" in text:
        text = _NO_TEXT().sub(lambda match: b" " * len(match[0]), text)
    return text.translate(_BLANKS)


def _shown(data: bytes) -> tuple[list[bytes], list[int]]:
    """The visible bytes without telnet commands, and where they are."""
    found = [match for match in _SHOWN().finditer(data) if match[1]]
    return [match[1] for match in found], [match.start() for match in found]


def _ends(line: bytes) -> bytes:
    """The beginning of a line, which shows its kind, and its end, with which a password may begin."""
    half = _LONGEST_LINE // 2
    return line if len(line) <= _LONGEST_LINE else b"%b %b" % (line[:half], line[1 - half :])


def _check(text: bytes) -> tuple[int, int]:
    return len(text), zlib.crc32(text.lower()) & 0xFFF


_ANSWER_BYTES: Final = 4096
_MOST: Final = 32
"""How many passwords are searched for at a time."""
_LONGEST_LINE: Final = 4096
"""Of a line without end, no more waits."""
_LONGEST_SECRET: Final = 256
_MARKS: Final = 8  # punctuation around a password at the end of a read
_LONGEST_ECHO: Final = 4096
_NO_ECHO: Final = (b"****", b"<1")  # how lines begin that show the end of a login
_IDLE_NS: Final = 300_000_000


class _Soon:
    """A secret that was just typed; it is searched for in the server's bytes up to ``until``."""

    def __init__(self, secret: bytes, until: int) -> None:
        self.known = KnownSecrets()
        self.known.learn(secret)
        self.parted = len(secret.split()) > 1
        self.until = until


class _Echo:
    """The visible bytes of a typed line. ``done``: how many the server has echoed."""

    def __init__(self) -> None:
        self.text = b""
        self.done = 0


class AnswerGuard:
    """Masks the passwords that a server repeats.

    They are masked in answers to commands that change or create them, anywhere soon after one was typed, and as whole
    words as long as the connection lasts. Lines with data of a game stay unchanged. Only digests of passwords are kept.
    ``holding``: bytes wait until it is known which word is the handle.

    What a line is shows when it is complete. So the rest of one waits where a word at its end may become a password, or
    where it has one, and is masked together with the part that was returned before::

        < Bob tells you: (Hunt
        < er22) \\n\\rfics%         both come now, as "Bob tells you: (********) "
    """

    def __init__(self) -> None:
        self.holding = False
        self._soon: list[_Soon] = []
        self._lasting = KnownSecrets()
        self._keys = KeyMask()
        self._count = 0  # of bytes received
        self._front = b""  # the part of the current line that was returned, as far as it can matter
        self._held: list[TimedBytes] = []  # what waits
        self._held_clean = b""  # these bytes, masked where it does not depend on their line
        self._echoes = [_Echo()]  # lines that the server may echo now; the last one is not complete

    @property
    def held_bytes(self) -> int:
        return len(self._held_clean)

    def expect(self, secret: bytes) -> None:
        """Expect a secret that was typed: the server may echo it, or print "hunter2: Command not found."."""
        self._drop_soon(secret)
        self._soon.append(_Soon(secret, self._count + _ANSWER_BYTES))
        del self._soon[:-_MOST]

    def enter(self) -> None:
        """No typed byte is kept."""
        self._echoes = [_Echo()]

    def drop(self, text: bytes) -> None:
        """It is the handle, and no secret."""
        self._drop_soon(text)
        self._lasting.drop(text)

    def _drop_soon(self, secret: bytes) -> None:
        self._soon = [soon for soon in self._soon if secret not in soon.known]

    def typing(self, text: bytes) -> None:
        """The server may echo it byte by byte or several together."""
        self._echoes[-1].text = b"".join(_shown(text[:_LONGEST_ECHO])[0])

    def typed(self) -> None:
        """``expect`` gets its secrets, and the rest of its echo may still come."""
        line = self._echoes[-1]
        if not 0 < line.done < len(line.text):
            self._echoes.pop()
        self._echoes = [*self._echoes[-_MOST:], _Echo()]

    def learn(self, secret: bytes) -> None:
        """It is masked to the end of the connection."""
        if len(secret) >= SHORTEST_WORD and len(secret.split()) == 1:
            self._lasting.learn(secret)

    def receive(self, data: bytes, at_ns: int = 0) -> list[TimedBytes]:
        """Return what may be recorded now, in order: only the rest of a line is delayed."""
        self._count += len(data)
        seen = b"".join((self._front, *[waiting.data for waiting in self._held], data))
        clean = self._keys.receive(data)
        if len(self._echoes) > 1 or self._echoes[0].text:
            clean = self._clean_echo(data, clean, seen[seen.rfind(b"\n") + 1 :])
        if not (self._held or self.holding or self._soon or may_repeat(seen)):
            rest = seen[seen.rfind(b"\n") + 1 :]
            if self._is_whole(rest) and not self._lasting.find_words(without_boards(seen)):  # nearly all that comes
                self._front = _ends(rest)
                return [TimedBytes(at_ns, clean)]
        self._held.append(TimedBytes(at_ns, data))
        self._held_clean += clean
        return [] if self.holding else self._give(seen)

    def tick(self, now_ns: int) -> list[TimedBytes]:
        return self.finish() if self._held and now_ns - self._held[-1].at_ns >= _IDLE_NS else []

    def finish(self) -> list[TimedBytes]:
        return self._give(self._front + b"".join([waiting.data for waiting in self._held]), ended=True)

    def _give(self, seen: bytes, *, ended: bool = False) -> list[TimedBytes]:
        """Mask the passwords in the line that was begun and those behind it; return all but the rest that must wait."""
        out, ahead, size = bytearray(self._held_clean), len(self._front), len(seen)
        begun = self._count - size  # where these bytes begin, of all
        *lines, rest = seen.split(b"\n")
        at = end = size - len(rest)
        if ended or (self._is_whole(rest) and not self._places(rest, begun + at)):
            end = size
        elif len(rest) > _LONGEST_LINE:
            end = max(plain_text(seen).rfind(b" ", at, size - _LONGEST_SECRET) + 1, size - _LONGEST_LINE)
        lines, at = [*lines, *[rest] * (end > at)], 0
        for line in lines:
            for begin, stop in self._places(line, begun + at):
                first, last = max(at + begin - ahead, 0), max(at + stop - ahead, 0)
                out[first:last] = FILLER * (last - first)
            if (repeated := find_repeated(line)) is not None:
                first, last = max(at + repeated - ahead, 0), max(at + len(line) - ahead, 0)
                out[first:last] = fill(bytes(out[first:last]))
            at += len(line) + 1
        self._soon = [soon for soon in self._soon if soon.until > begun + end]
        given: list[TimedBytes] = []
        left: list[TimedBytes] = []
        end = max(end, ahead)
        done, going = 0, end - ahead
        for waiting in self._held:
            count = min(max(going - done, 0), len(waiting.data))
            if count:
                given.append(TimedBytes(waiting.at_ns, bytes(out[done : done + count])))
            if count < len(waiting.data):
                left.append(TimedBytes(waiting.at_ns, waiting.data[count:]))
            done += len(waiting.data)
        self._held, self._held_clean = left, bytes(out[going:])
        self._front = _ends(seen[:end].rpartition(b"\n")[2])
        return given

    def _is_whole(self, rest: bytes) -> bool:
        """Whether no password can be cut at the end of a line that is not complete."""
        last = plain_text(rest).rpartition(b" ")[2]
        if self._soon:
            return not last and not any(soon.parted for soon in self._soon)
        longest = self._lasting.longest
        return not (longest and last) or len(last) > longest + _MARKS

    def _places(self, line: bytes, begun: int) -> list[tuple[int, int]]:
        if is_of_game(line):
            return []
        places = self._lasting.find_words(line)
        for soon in self._soon:
            places += soon.known.find(line[: max(soon.until - begun + soon.known.longest, 0)])
        return places

    def _clean_echo(self, data: bytes, clean: bytes, begun: bytes) -> bytes:
        """Mask the echo of lines that are not complete, or were not when it began: their texts are not known."""
        if begun.lstrip().startswith(_NO_ECHO):
            return clean
        out = bytearray(clean)
        letters, places = _shown(data)
        shown = b"".join(letters)
        for line in self._echoes:
            # It ends where the read ends, or with the line. Other text of the server may look like its beginning.
            for begin in dict.fromkeys((line.done, 0)):
                rest = line.text[begin:]
                sizes = range(min(len(rest), len(shown)), 0, -1)
                size = next((size for size in sizes if shown.endswith(rest[:size])), 0)
                first = len(shown) - size
                if not size and rest and (len(rest) >= SHORTEST or shown.startswith(rest)):
                    first, size = shown.find(rest), len(rest)
                if size and first >= 0:
                    line.done = begin + size
                    for place in places[first : first + size]:
                        out[place] = FILLER[0]
                    break
        return bytes(out)


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
        """Return earlier bytes of the client that may now be recorded."""
        line = self._client.cut()
        out = [] if line is None else self._take(line)
        for cue in self._server.receive(data):
            self._hear(cue)
        if self.answers.held_bytes > _MOST_HELD:
            self._spare(self._called)
        return out

    def client_sent(self, data: bytes, at_ns: int) -> list[TimedBytes]:
        """Return whole lines that may now be recorded, with the times of their bytes."""
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
        """During a login words wait until they are complete."""
        return [] if self._masking else self.answers.tick(now_ns)

    def enter(self, handle: str | None) -> None:
        """The client answers no more questions."""
        self._open((handle or "").encode())
        self._asks = False

    def finish(self) -> list[TimedBytes]:
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
        """The handle is not masked where the server prints it."""
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
    begin = next((index for index, (a, b) in enumerate(zip(text, filled, strict=True)) if a != b), len(text))
    return text[begin:].split()


def _masked(line: Typed, text: bytes | None = None) -> list[TimedBytes]:
    """All of it masked, or with another text of the same length if its text is contiguous."""
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
