"""A client of a replay server until it is in: telnet, time seal, lines, the login dialogue.

No sockets, and no clock but the one it is told. What is sent is ``take_output``'s.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from recorder.live.login.servers import REPLAY, WILL_ECHO, WONT_ECHO, guest_name
from recorder.wire.telnet import TelnetFilter
from recorder.wire.timeseal import as_typed

__all__ = ["AT_ONCE", "LoginDialogue", "Greeting"]

AT_ONCE: Final = 50
"""Of a client's replay that is late so many moments come before it is another client's turn."""

_LONGEST_LINE: Final = 1024
_NAME: Final = re.compile(r"[A-Za-z]{2,17}", re.ASCII)
_GUEST: Final = ("g", "guest")
_AYT, _INTERRUPT = b"\xff\xf6", b"\xff\xf4"
_LOGIN_BITS: Final = re.compile(r"%b([01]{1,64})", re.ASCII)


@dataclass(frozen=True, slots=True)
class Greeting:
    """How the server greets.

    Attributes:
        banner: lines before the first ``login:``; they tell clients which kind of server was recorded.
        password: asked of everybody who is no guest; any is right.
        observe: whether every client sees every game from its beginning without asking.
    """

    banner: Sequence[str] = ()
    password: bool = False
    observe: bool = False


class LoginDialogue(ABC):
    """A client, first at the door.

    Args:
        number: the client's, for a guest's name.
        manner: how to greet.

    Attributes:
        handle: its name, once it is in.
        closed: it has left; nothing it sends is read any more.
        now_ns: the clock's time at the last call.
    """

    def __init__(self, number: int, manner: Greeting) -> None:
        self.manner = manner
        self.handle: str | None = None
        self.closed = False
        self.now_ns = 0
        self._number = number
        self._stage = "name"
        self._called = ""
        self._telnet = TelnetFilter()
        self._received = 0
        self._line = b""
        self._too_long = False
        self._out = bytearray()
        self._say("\n".join(["", *manner.banner, "", 'Any name will do; "guest" makes one up.', "", ""]))
        self._say(REPLAY.login)

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

    def take_output(self) -> bytes:
        """The bytes to send now."""
        found = bytes(self._out)
        self._out.clear()
        return found

    def _say(self, text: str) -> None:
        self._out += text.replace("\n", "\n\r").encode("latin-1", "replace")

    def receive(self, data: bytes, now_ns: int) -> None:
        """Take bytes of the client; nothing in them is an error."""
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
            if self._too_long:
                self._too_long = False
                self._say(f"That line was too long.\n{self._prompt if self._stage == 'in' else ''}")
            elif len(line) > _LONGEST_LINE:
                self._say(f"That line was too long.\n{self._prompt if self._stage == 'in' else ''}")
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
        if self._stage == "in":
            self._command(text)
        else:
            self._log_in(text.strip())

    def _log_in(self, text: str) -> None:
        if self._stage == "password":
            self._out += WONT_ECHO
            self._enter()
        elif self._stage == "return":
            self._enter()
        elif (bits := _LOGIN_BITS.fullmatch(text)) is not None:
            self._login_bits(bits[1])
            self._say("#Ivars set.\n")
            self._say(REPLAY.login)
        else:
            self._name(text)

    def _name(self, text: str) -> None:
        name, _, password = text.partition(" ")
        if name.lower() in _GUEST:
            name = guest_name(self._number)
        elif not _NAME.fullmatch(name):
            if name:
                self._say(REPLAY.bad_name)
            self._say(REPLAY.login)
            return
        elif self.manner.password:
            self._called = name
            if password:
                self._enter()
                return
            self._out += REPLAY.encode(REPLAY.registered + REPLAY.password, name=name) + WILL_ECHO
            self._stage = "password"
            return
        self._called = name
        self._out += REPLAY.encode(REPLAY.guest, name=name)
        self._stage = "return"

    def _enter(self) -> None:
        self._stage = "in"
        self.handle = self._called
        mark = REPLAY.guest_mark if self._called.startswith("Guest") else ""
        self._out += REPLAY.encode(REPLAY.welcome, name=self._called, mark=mark)
        self._entered()

    def _leave(self) -> None:
        self._say("\nLogging you out.\n")
        self._say("Thank you for using this replay server.\n")
        self.closed = True
