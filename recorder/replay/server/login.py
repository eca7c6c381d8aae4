"""A client of a replay server until it is in: telnet, time seal, lines, the login dialogue and its words.

No sockets, and no clock but the one it is given. ``take_output`` returns what is sent.

Source of the words: docs of no server; the sentences are those that clients look for, seen in the recorded transcripts
of three servers (tests/corpus/server) and in what xboard and PyChess expect of FICS, ICC and chess.net. The banners are
our own.
"""

from __future__ import annotations

import re
import string
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, Final

from recorder.wire.controls import TelnetFilter
from recorder.wire.timeseal import as_typed

WILL_ECHO: Final = b"\xff\xfb\x01"
WONT_ECHO: Final = b"\xff\xfc\x01"
_LOGIN: Final = "login: "
_REGISTERED: Final = (
    '\n"{name}" is a registered name.  If it is yours, type the password.\n'
    "If not, just hit return to try another name.\n\npassword: "
)
_GUEST_NAME: Final = (
    '\nLogging you in as "{name}"; you may use this name to watch recorded games.\n\n'
    'Press return to enter the server as "{name}":\n'
)
_BAD_NAME: Final = "\nSorry, names can only consist of lower and upper case letters.  Try again.\n"
_WELCOME: Final = "\n**** Starting FICS session as {name}{mark} ****\n\n"


def guest_name(number: int) -> str:
    """Four letters, always the same for the same number."""
    return "Guest" + "".join(string.ascii_uppercase[number // 26**index % 26] for index in range(4))


AT_ONCE: Final = 50
"""Of a client's replay that is late so many moments come before it is another client's turn."""

_LONGEST_LINE: Final = 1024
_NAME: Final = re.compile(r"[A-Za-z]{2,17}", re.ASCII)
_GUEST: Final = ("g", "guest")
_AYT, _INTERRUPT = b"\xff\xf6", b"\xff\xf4"
_LOGIN_BITS: Final = re.compile(r"%b([01]{1,64})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Greeting:
    """The ``banner`` shows clients which kind of server was recorded; any ``password`` is right, guests need none."""

    banner: Sequence[str] = ()
    password: bool = False
    observe: bool = False  # every client sees every game without asking


class Stage(Enum):
    NAME = auto()
    RETURN = auto()  # an empty line, of a guest
    PASSWORD = auto()
    IN = auto()  # a command


class LoginDialogue(ABC):
    """A client, first in its login; ``handle`` is set once it is logged in."""

    def __init__(self, number: int, manner: Greeting) -> None:
        self.manner = manner
        self.handle: str | None = None
        self.closed = False
        self.now_ns = 0
        self._number = number
        self._stage = Stage.NAME
        self._called = ""
        self._telnet = TelnetFilter()
        self._received = 0
        self._line = b""
        self._too_long = False
        self._out = bytearray()
        self._parts: list[int] = []  # offsets in ``_out``
        self._say("\n".join(["", *manner.banner, "", 'Log in with any name, or as "guest".', "", ""]))
        self._say(_LOGIN)

    @property
    @abstractmethod
    def due_ns(self) -> int | None:
        """When ``tick`` has something to do; None: it waits for the client, or for others."""

    @abstractmethod
    def tick(self, now_ns: int) -> None:
        """Do what is due."""

    @abstractmethod
    def happen(self, happenings: Iterable[Any], now_ns: int) -> None:
        """Hear of what happened in the replay, in the values that its ``take`` gives."""

    @abstractmethod
    def _entered(self) -> None:
        """The client is in."""

    @abstractmethod
    def _command(self, text: str) -> None:
        """A line of a client that is in."""

    def _login_bits(self, bits: str) -> None:
        """Interface variables as digits, sent before the name; here they change nothing."""
        return

    @property
    def _prompt(self) -> str:
        return "fics% "

    def take_output(self, part: bool = False) -> bytes:
        """A ``part``: up to the next message that needs a read of its own."""
        end = self._parts[0] if part and self._parts else len(self._out)
        found = bytes(self._out[:end])
        del self._out[:end]
        self._parts = [offset - end for offset in self._parts] if part else []
        return found

    @property
    def backlog(self) -> int:
        return len(self._out)

    @property
    def is_parted(self) -> bool:
        """Whether the next byte begins a message that is to arrive in a read of its own."""
        return bool(self._parts) and self._parts[0] == 0

    def go_on(self) -> None:
        """Let ``take_output`` return the message that was kept apart."""
        self._parts = [offset for offset in self._parts if offset]

    def _part(self) -> None:
        """A message that is to arrive in a read of its own."""
        self._parts.append(len(self._out))

    def _say(self, text: str) -> None:
        self._out += text.replace("\n", "\n\r").encode("latin-1", "replace")

    def receive(self, data: bytes, now_ns: int) -> None:
        """Nothing in the bytes is an error."""
        self.now_ns = now_ns
        if self.closed:
            return
        if _INTERRUPT in data:
            self._leave()
            return
        if _AYT in data:
            self._say("\n[Responding to AYT: Yes, I'm here.]\n")
        for piece, _ in self._telnet.receive(data, self._received):
            self._pieces(piece)
        self._received += len(data)

    def _pieces(self, piece: bytes) -> None:
        *lines, rest = (self._line + piece).split(b"\n")
        for line in lines:
            if self.closed:
                return
            if self._too_long or len(line) > _LONGEST_LINE:
                self._too_long = False
                self._say(f"That line was too long.\n{self._prompt if self._stage is Stage.IN else ''}")
            else:
                self._one(line)
        if len(rest) > _LONGEST_LINE:
            self._too_long, rest = True, b""
        self._line = rest

    def _one(self, raw: bytes) -> None:
        line = as_typed(raw)
        if line is None:
            return
        text = line.translate(None, b"\r\0").decode("latin-1")
        if self._stage is Stage.IN:
            self._command(text)
        else:
            self._log_in(text.strip())

    def _log_in(self, text: str) -> None:
        if self._stage is Stage.PASSWORD:
            self._out += WONT_ECHO
            self._enter()
        elif self._stage is Stage.RETURN:
            self._enter()
        elif (bits := _LOGIN_BITS.fullmatch(text)) is not None:
            self._login_bits(bits[1])
            self._say("#Ivars set.\n")
            self._say(_LOGIN)
        else:
            self._name(text)

    def _name(self, text: str) -> None:
        name, _, password = text.partition(" ")
        if name.lower() in _GUEST:
            name = guest_name(self._number)
        elif not _NAME.fullmatch(name):
            if name:
                self._say(_BAD_NAME)
            self._say(_LOGIN)
            return
        elif self.manner.password:
            self._called = name
            if password:
                self._enter()
                return
            self._say(_REGISTERED.format(name=name))
            self._out += WILL_ECHO
            self._stage = Stage.PASSWORD
            return
        self._called = name
        self._say(_GUEST_NAME.format(name=name))
        self._stage = Stage.RETURN

    def _enter(self) -> None:
        self._stage = Stage.IN
        self.handle = self._called
        self._say(_WELCOME.format(name=self._called, mark="(U)" if self._called.startswith("Guest") else ""))
        self._entered()

    def _leave(self) -> None:
        self._say("\nLogging you out.\n")
        self._say("Thank you for using this replay server.\n")
        self.closed = True
