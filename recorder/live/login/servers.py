"""How servers let people in: the words of their login dialogues, for a scripted server and the replay server.

Source: docs of no server; the sentences are those that clients look for, seen in the recorded transcripts of three
servers (tests/corpus/server) and in what xboard and PyChess expect of FICS, ICC and chess.net. The banners are our own.
"""

from __future__ import annotations

import string
from dataclasses import dataclass
from typing import Final

__all__ = [
    "CHESS_NET",
    "FATICS",
    "FICS",
    "ICC",
    "MANNERS",
    "OLDER",
    "REPLAY",
    "WILL_ECHO",
    "WONT_ECHO",
    "Manners",
    "guest_name",
]

WILL_ECHO: Final = b"\xff\xfb\x01"
WONT_ECHO: Final = b"\xff\xfc\x01"


@dataclass(frozen=True, slots=True)
class Manners:
    """The words of one kind of server; ``{name}`` stands for the handle.

    Attributes:
        banner: before the first prompt.
        login: asks for the name.
        registered: the name is somebody's; the password prompt follows.
        password: asks for the password.
        guest: the name is nobody's; an empty line enters. ``{name}`` is made up if ``guest`` was typed.
        guest_mark: stands behind a guest's name in ``welcome``.
        wrong: the password was not it; the login prompt follows.
        bad_name: the name cannot be one; the login prompt follows.
        welcome: to somebody who is in.
        prompt: stands before every answer.
        unknown: the answer to a command that it does not know.
        echo_after: telnet's WILL ECHO comes behind the password prompt, else before it.
        line_end: of its lines; the texts here are written with a bare ``\\n``.
    """

    banner: str
    login: str = "login: "
    registered: str = (
        '\n"{name}" is a registered name.  If it is yours, type the password.\n'
        "If not, just hit return to try another name.\n\n"
    )
    password: str = "password: "
    guest: str = (
        '\nLogging you in as "{name}"; you may use this name to play unrated games.\n'
        '(After logging in, do "help register" for more info on how to register.)\n\n'
        'Press return to enter the server as "{name}":\n'
    )
    guest_mark: str = "(U)"
    wrong: str = "\n**** Invalid password! ****\n\n"
    bad_name: str = "\nSorry, names can only consist of lower and upper case letters.  Try again.\n"
    welcome: str = "\n**** Starting FICS session as {name}{mark} ****\n\n"
    prompt: str = "fics% "
    unknown: str = "{command}: Command not found.\n"
    echo_after: bool = True
    line_end: str = "\n\r"

    def encode(self, text: str, **words: str) -> bytes:
        """A text as this server sends it."""
        for word, value in words.items():
            text = text.replace(f"{{{word}}}", value)
        return text.replace("\n", self.line_end).encode("latin-1")


FICS: Final = Manners("\nA server that talks like freechess.org.\n\n", echo_after=False)
FATICS: Final = Manners(
    "A server that talks like FatICS.\n\n",
    guest='\n"{name}" is not a registered name.  You may play unrated games as a guest.\n'
    '(After logging in, do "help register" for more info on how to register.)\n\n'
    'Press return to enter the server as "{name}":\n',
    wrong="\n*** Invalid password! ***\n\n",
)
OLDER: Final = Manners(
    '\nA server of the older kind.\n\nIf you are not a registered player enter the login name "guest"\n',
    guest='\n"{name}" is not a registered name.  You may use this name to play unrated games.\n'
    '(After logging in, do "help register" for more info on how to register.)\n\n'
    'Press return to enter the server as "{name}":\n',
    wrong="\n\nInvalid password!\n\n",
    welcome="\n" + "_" * 74 + "\nDo 'help' for a list of the commands that are available.\n\n",
    echo_after=False,
)
"""Says no ``**** Starting``: its first prompt tells that one is in."""
CHESS_NET: Final = Manners(
    "\nA server that talks like chess.net.\n\n",
    guest='\nLogging you in as "{name}".\n\nPress return to enter chess.net as "{name}":\n',
    welcome="\n**** Starting session as {name}{mark} ****\n\n",
)
ICC: Final = Manners(
    "\nA server that talks like chessclub.com.\n\n",
    registered="\n",
    guest="\nYour name for this session will be {name}\n\n",
    guest_mark="",
    wrong="\nInvalid password.\n\n",
    welcome="\n**** Starting ICC session as {name} ****\n\n",
    prompt="aics% ",
    unknown="No such command ({command}).\n",
    line_end="\r\n",
)
REPLAY: Final = Manners(
    "",
    guest='\nLogging you in as "{name}"; you may use this name to watch recorded games.\n\n'
    'Press return to enter the server as "{name}":\n',
)
"""Any name is a guest's or, if passwords are asked for, somebody's."""
MANNERS: Final = {"fics": FICS, "fatics": FATICS, "older": OLDER, "chess.net": CHESS_NET, "icc": ICC}
"""By the word for each kind."""


def guest_name(number: int) -> str:
    """A name for somebody who has typed ``guest``: four letters, the same for the same number."""
    return "Guest" + "".join(string.ascii_uppercase[number // 26**place % 26] for place in range(4))
