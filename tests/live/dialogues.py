"""Login dialogues as lists of server output and client answers, and a server that plays them."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NamedTuple

from recorder.wire.timeseal import PING_ANSWER, unseal
from tests.support.corpus import stream_bytes

WILL, WONT = b"\xff\xfb\x01", b"\xff\xfc\x01"
NAME, PASSWORD = b"Ann", b"hunTer2\xc3\xa9x"


class Step(NamedTuple):
    """The server sends text, then takes a line; None: it takes none and the dialogue ends."""

    says: bytes
    takes: bytes | None
    secret: bool = False


_PROMPT = re.compile(rb'login: |password: (?:\xff\xfb\x01)?|as "\w+":(?:\n\r\xff\xfb\x01)?')


def captured(session: str, connection: str, *lines: bytes) -> list[Step]:
    """Return a recorded login up to the first command prompt; the sent password is masked."""
    received = stream_bytes(session, connection)
    received = received[: received.index(b"fics% ") + len(b"fics% ")]
    steps, done = [], 0
    for line, prompt in zip(lines, _PROMPT.finditer(received), strict=True):
        steps.append(Step(received[done : prompt.end()], line, prompt[0].startswith(b"password")))
        done = prompt.end()
    return [*steps, Step(received[done:], None)]


def spoken(*parts: bytes | tuple[bytes, bytes, bool]) -> list[Step]:
    """Return a dialogue of server texts and of tuples (server text, answer, whether the answer is secret)."""
    return [Step(part, None) if isinstance(part, bytes) else Step(*part) for part in parts]


_ASK = b'\n\r"Ann" is a registered name.  If it is yours, type the password.\n\r\n\rpassword: '
_WELCOME = b"\n\r**** Starting FICS session as Ann(TM) ****\n\r\n\rfics% "

DIALOGUES: dict[str, list[Step]] = {
    "FatICS": captured("a10_examine", "player_Topalov", b"Topalov", PASSWORD),
    "FatICS guest": captured("a01_standard", "observer_GuestObsA", b"GuestObsA", b""),
    "Lasker": captured("b01_standard", "observer_Watcher", b"Watcher", PASSWORD),
    "Lasker guest": captured("b01_standard", "observer_GuestXa", b"GuestXa", b""),
    "1.6.2": captured("c01_standard", "observer_Watcher", b"Watcher", PASSWORD),
    "1.6.2 guest": captured("c01_standard", "observer_GuestXa", b"GuestXa", b""),
    "FICS": spoken(
        (
            b"\n\r   ****** Welcome to the Free Internet Chess Server at freechess.org ******\n\r\n\rlogin: ",
            NAME,
            False,
        ),
        (WILL + _ASK, PASSWORD, True),
        WONT + _WELCOME,
    ),
    "FICS guest": spoken(
        (b"login: ", b"guest", False),
        (
            b'\n\rLogging you in as "GuestABCD"; you may use this name to play unrated games.\n\r(After logging in, do '
            b'"help register" for more info on how to register.)\n\r\n\rPress return to enter the server as '
            b'"GuestABCD":\n\r',
            b"",
            False,
        ),
        WILL + WONT + b"\n\r\n\r**** Starting FICS session as GuestABCD(U) ****\n\rfics% ",
    ),
    "a wrong guess": spoken(
        (b"login: ", b"ann", False),
        (_ASK + WILL, PASSWORD + b"er", True),
        (WONT + b"\n\r\n\r**** Invalid password! ****\n\r\n\rlogin: ", b"Ann", False),
        (_ASK + WILL, PASSWORD, True),
        WONT + _WELCOME,
    ),
    "a name that is none": spoken(
        (b"login: ", PASSWORD, True),
        (b"\n\rSorry, names can only consist of lower and upper case letters.  Try again.\n\r\n\rlogin: ", NAME, False),
        (WILL + _ASK, PASSWORD, True),
        WONT + _WELCOME,
    ),
    "another name after all": spoken(
        (b"login: ", b"Bob", False),
        (_ASK.replace(b"Ann", b"Bob"), b"", False),
        (b"\n\r\n\rlogin: ", NAME, False),
        (_ASK, PASSWORD, True),
        _WELCOME,
    ),
    "ICC": spoken(
        (b"Welcome to ICC, chessclub.com\r\n\r\nlogin: ", NAME, False),
        (b"password: ", PASSWORD, True),
        b"\r\n**** Starting ICC session as Ann ****\r\n\r\naics% ",
    ),
    "chess.net guest": spoken(
        (b"login: ", b"guest", False),
        (b'\r\nPress return to enter chess.net as "GuestNet":', b"", False),
        b"\r\n\r\n**** Starting session as GuestNet ****\r\nchess% ",
    ),
    "USCN guest": spoken(
        (b"\n\rWelcome to puertorico.com\n\rlogin: ", b"guest", False),
        (
            b"\n\rCreated temporary login 'GuestUSCN'\n\r\n\r\"GuestUSCN\" is not a registered name.  You may play "
            b'unrated games as a guest.\n\r\n\rPress return to enter the FICS as "GuestUSCN":',
            b"",
            False,
        ),
        WONT + b"______\n\rfics% ",
    ),
    "chessd": spoken(
        (b"\n\rA server of the university's kind.\n\r\n\rlogin: ", NAME, False),
        (_ASK + WILL, PASSWORD, True),
        WONT + b"\n\r" + b"_" * 60 + b"\n\rBem-vindo\n\rfics% ",
    ),
    "chessd guest": spoken(
        (b"\n\rlogin: ", b"guest", False),
        (
            b"\n\rCreated temporary login 'GuestABCD'\n\r\n\r\"GuestABCD\" is not a registered name.  You may play "
            b"unrated games as a guest.\n\r(After logging in, do 'help register' for more info on how to register.)\n\r"
            b'\n\rPress return to enter the chessd as "GuestABCD": ' + WILL,
            b"",
            False,
        ),
        WONT + b"\n\r" + b"_" * 60 + b"\n\rfics% ",
    ),
    "translated prompts": spoken(
        (b"login: ", NAME, False),
        (WILL + b"\n\rSenha: ", PASSWORD, True),
        WONT + b"\n\rBem-vindo\n\rfics% ",
    ),
    "own prompt": spoken(
        (b"login: ", NAME, False),
        (_ASK + WILL, PASSWORD, True),
        WONT + b"\n\rA message of the day.\n\r\n\rmine% ",
    ),
}

PINGS = {None: b"", 1: b"\n\r[G]\n\r", 2: b"[G]\x00"}
"""Bytes that a server sends between its texts, by the version of the time seal."""
_SEALS = (b"TIMESTAMP|", b"TIMESEAL2|")


class SpokenServer:
    """One connection of a dialogue's server.

    Attributes:
        written, heard: all bytes sent and received. lines: received, without the time seal. pongs: answered pings.
    """

    def __init__(self, steps: list[Step], timeseal: int | None) -> None:
        self.port = 0
        self.written = bytearray()
        self.heard = bytearray()
        self.lines: list[bytes] = []
        self.pongs = 0
        self._steps = steps
        self._timeseal = timeseal

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Play the dialogue, then answer every line with a prompt until the client sends ``quit``."""
        try:
            for says, takes, _ in self._steps:
                for piece in self._cut(says):
                    self.written += piece
                    writer.write(piece)
                    await asyncio.sleep(0.001)  # so that it is read in pieces
                if takes is not None and not await self._line(reader):
                    return
            while await self._line(reader) and self.lines[-1] != b"quit":
                self.written += b"\n\rfics% "
                writer.write(b"\n\rfics% ")
        except OSError:
            pass
        finally:
            writer.close()

    def _cut(self, says: bytes) -> list[bytes]:
        ping = PINGS[self._timeseal]
        if self._timeseal == 2 and len(says) > 5:  # inside the prompt
            says = says[:-5] + ping + says[-5:] if b"\xff" not in says[-6:] else ping + says
        elif ping:
            says = ping + says
        return [says[at : at + 7] for at in range(0, len(says), 7)]

    async def _line(self, reader: asyncio.StreamReader) -> bool:
        """Read the next line of an answer; False: there is none."""
        while line := await reader.readline():
            self.heard += line
            opened = unseal(line)
            assert (opened is None) == (self._timeseal is None), line
            text = line.rstrip(b"\r\n") if opened is None else opened[0]
            if text == PING_ANSWER:
                self.pongs += 1
            elif not text.startswith(_SEALS):
                self.lines.append(text)
                return True
        return False


@asynccontextmanager
async def speaking(dialogue: str | list[Step], timeseal: int | None = None) -> AsyncIterator[SpokenServer]:
    """Serve a dialogue, or one of ``DIALOGUES``, on a local port, with or without a time seal."""
    spoken_server = SpokenServer(DIALOGUES[dialogue] if isinstance(dialogue, str) else dialogue, timeseal)
    listener = await asyncio.start_server(spoken_server.serve, "127.0.0.1", 0)
    spoken_server.port = listener.sockets[0].getsockname()[1]
    try:
        yield spoken_server
    finally:
        listener.close()
