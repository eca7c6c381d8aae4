"""What a recorder asks a server for, and how servers of each family are asked.

Requests are values (as plain tuples ``observe 3`` and ``unobserve 3`` would be equal, so they are none).
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recorder.dialects.registry import Family

__all__ = [
    "ANSWER_MS",
    "AskGame",
    "AskGames",
    "AskHistory",
    "AskMoves",
    "AskPartner",
    "AskRefresh",
    "AskStored",
    "KeepAlive",
    "Observe",
    "Request",
    "Setting",
    "TURN_MS",
    "Unobserve",
    "format_request",
    "no_command",
    "no_partner",
]


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting of the session, or the question for them; nobody waits for the answer."""

    command: str  # in the server's own words


@dataclass(frozen=True, slots=True)
class Observe:
    """Watch a game. On old servers the command toggles, so it is only for games that are not watched."""

    game_no: int


@dataclass(frozen=True, slots=True)
class AskPartner:
    """Watch the other board of a bughouse match, whatever its number is.

    ``handle`` plays on the board that is known, game ``game_no``. Like ``observe`` the command toggles on old servers.
    Source: FICS, ``help pobserve``.
    """

    game_no: int
    handle: str


@dataclass(frozen=True, slots=True)
class Unobserve:
    """Watch a game no longer."""

    game_no: int


@dataclass(frozen=True, slots=True)
class AskMoves:
    """The list of a game's moves so far."""

    game_no: int


@dataclass(frozen=True, slots=True)
class AskRefresh:
    """A game's board once more."""

    game_no: int


@dataclass(frozen=True, slots=True)
class AskGame:
    """The row of one game in the table: its players' ratings and its times."""

    game_no: int


@dataclass(frozen=True, slots=True)
class AskHistory:
    """The list of a player's last games."""

    handle: str


@dataclass(frozen=True, slots=True)
class AskStored:
    """The moves of a game that is over, by its number in a player's history.

    ``is_last``: it is that player's last game. ``by_last``: it is asked for as such, on a server without ``smoves``.
    """

    handle: str
    number: int
    is_last: bool = False
    by_last: bool = False


@dataclass(frozen=True, slots=True)
class AskGames:
    """The table of all games."""


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Something harmless, so that the server does not think us idle."""


Request = (
    Setting
    | Observe
    | AskPartner
    | Unobserve
    | AskMoves
    | AskRefresh
    | AskGame
    | AskHistory
    | AskStored
    | AskGames
    | KeepAlive
)

_COMMANDS: dict[type, str] = {
    Observe: "observe",
    AskPartner: "pobserve",
    Unobserve: "unobserve",
    AskMoves: "moves",
    AskRefresh: "refresh",
    AskGame: "games",
    AskHistory: "history",
    AskStored: "smoves",
    AskGames: "games",
    KeepAlive: "date",
}
_NO_PARTNER = re.compile(r"(?:\S{1,40} is|You are) not playing a bughouse game\.? *")
_NO_COMMAND = re.compile(r"/?(\w{1,40}): Command not found\.? *|No such command \(/?(\w{1,40})\)\.? *")
ANSWER_MS = 15_000
"""How long an answer is waited for."""
TURN_MS = 4 * ANSWER_MS
"""Within this a request that was put has had its turn, behind others without an answer, and its own answer."""


def format_request(request: Request, family: Family | None = None) -> str:
    """Write a request as the command of a server, without line end.

    Args:
        request: what is asked for.
        family: of server; ICC and chess.net take a ``/`` in front, which keeps a user's aliases away. A setting is
            in a server's own words already.
    """
    if isinstance(request, Setting):
        return request.command
    slash = "/" if family in (Family.ICC, Family.CHESSNET) else ""
    command = slash + _COMMANDS[type(request)]
    if isinstance(request, AskStored):
        return (
            f"{slash}oldmoves {request.handle}" if request.by_last else f"{command} {request.handle} {request.number}"
        )
    if isinstance(request, AskPartner | AskHistory):
        return f"{command} {request.handle}"
    return command if isinstance(request, AskGames | KeepAlive) else f"{command} {request.game_no}"


def no_command(line: str) -> str | None:
    """The command that a server says it does not know; None: another line."""
    match = _NO_COMMAND.fullmatch(line)
    return None if match is None else match[1] or match[2]


def no_partner(line: str) -> bool | None:
    """Whether a line refuses ``AskPartner``.

    Returns:
        True: the player has no other board. False: the server does not know the command. None: another line.
    """
    if _NO_PARTNER.fullmatch(line):
        return True
    return False if no_command(line) == "pobserve" else None
