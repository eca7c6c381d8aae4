"""Login dialogues as lists of what the server says and what its answer is, for the tests of who listens to them."""

from __future__ import annotations

import re
from typing import NamedTuple

from tests.support.corpus import stream_bytes

WILL, WONT = b"\xff\xfb\x01", b"\xff\xfc\x01"
NAME, PASSWORD = b"Ann", b"hunTer2\xc3\xa9x"


class Step(NamedTuple):
    """The server speaks, then takes a line; None: it takes none and this was the last."""

    says: bytes
    takes: bytes | None
    secret: bool = False


_PROMPT = re.compile(rb'login: |password: (?:\xff\xfb\x01)?|as "\w+":(?:\n\r\xff\xfb\x01)?')


def captured(session: str, connection: str, *lines: bytes) -> list[Step]:
    """A recorded login up to the first prompt for commands; the password was taken out of what was sent."""
    said = stream_bytes(session, connection)
    said = said[: said.index(b"fics% ") + len(b"fics% ")]
    steps, done = [], 0
    for line, prompt in zip(lines, _PROMPT.finditer(said), strict=True):
        steps.append(Step(said[done : prompt.end()], line, prompt[0].startswith(b"password")))
        done = prompt.end()
    return [*steps, Step(said[done:], None)]


def spoken(*parts: bytes | tuple[bytes, bytes, bool]) -> list[Step]:
    """A dialogue of the server's words and, as tuples, its words, the answer and whether that is a secret."""
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
