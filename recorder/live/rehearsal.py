"""What ``record`` would say to a server, found out without saying it: a login, one table of games, good-bye. Pure."""

from __future__ import annotations

from typing import Final, NamedTuple

from recorder.events import Chunk
from recorder.live.conversation import setting_commands
from recorder.live.explaining import Account, Explaining
from recorder.live.login import LoggedIn, Login
from recorder.live.plan import Plan
from recorder.live.requests import AskGames, Observe, format_request

__all__ = ["Rehearsal", "Said"]

_TABLE_MS: Final = 30_000
_QUIT: Final = b"quit\n"


class Said(NamedTuple):
    """A command that ``record`` would send; of an ``observe`` also which game it is for."""

    command: str
    game: Account | None = None


class Rehearsal:
    """One connection on which nothing is observed and no setting is changed.

    Args:
        login: lets us in. plan: what to observe.
    Attributes:
        we: who we are, once we are in.
        finished: all is known; good-bye was said.
    Raises:
        PolicyError: the plan's expression is none.
    """

    def __init__(self, login: Login, plan: Plan) -> None:
        self.we: LoggedIn | None = None
        self.finished = False
        self._login = login
        self._explaining = Explaining(plan, granted=True)
        self._heard = 0
        self._since_ms: int | None = None  # the last bytes, or once we are in the request for the table

    def receive(self, data: bytes, now_ms: int) -> bytes:
        """Take the server's bytes.

        Returns:
            What to send now; often nothing.
        Raises:
            LoginError: the server does not let us in.
        """
        to_send = b""
        if self.we is None:
            self._since_ms = now_ms
            to_send = self._login.receive(data)
            self.we = self._login.logged_in
            if self.we is not None:
                to_send += f"{format_request(AskGames(), self.we.family)}\n".encode("ascii")
        else:
            self._explaining.receive(Chunk(data, self._heard, now_ms))
            self._heard += len(data)
        if self._explaining.tables and not self.finished:
            self.finished = True
            to_send += _QUIT
        return to_send

    def take(self, now_ms: int) -> bytes:
        """What to send because time has passed; to be called once a second.

        Raises:
            LoginError: the server has not answered the login for too long.
        """
        since_ms = self._since_ms = now_ms if self._since_ms is None else self._since_ms
        if self.we is None and now_ms >= since_ms + self._login.patience_ms:
            self._since_ms = now_ms
            return self._login.timed_out()
        if self.we is None or self.finished or now_ms < since_ms + _TABLE_MS:
            return b""
        self.finished = True
        return _QUIT

    def closed(self) -> None:
        """The server has closed the connection.

        Raises:
            LoginError: before we were in.
        """
        if self.we is None:
            self._login.closed()

    def result(self) -> tuple[list[Said], list[Account]]:
        """What would be sent, in order, and every game of the table; only once."""
        assert self.we is not None
        family, guest = self.we.family, self.we.guest
        games = self._explaining.finish()
        watched = {game.game_no: game for game in games if game.watched_ms is not None}
        said = [] if guest else [Said("variables")]
        said += [Said(command) for command in setting_commands(family, {})[0]]
        said.append(Said(format_request(AskGames(), family)))
        for number in self._explaining.asked:
            said.append(Said(format_request(Observe(number), family), watched.get(number)))
        return said, games
