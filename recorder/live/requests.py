"""What a recorder asks a server for, and the queue that sends it politely.

Requests are values (as plain tuples ``observe 3`` and ``unobserve 3`` would be equal, so they are none). The queue
spaces them by a bucket of tokens, sends what cannot wait before what can, never holds the same request twice, and waits
for answers: servers answer in order and some refusals name no game, so one command is under way at a time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

from recorder.dialects.registry import Family
from recorder.events import (
    Event,
    GameEnded,
    GameNotice,
    GameNoticeKind,
    GamesCounted,
    MovelistRead,
    Noise,
    ObserveRefused,
    ObservingEnded,
    ObservingStarted,
    Refusal,
    Unrecognised,
)
from recorder.frames import Style12

__all__ = [
    "ANSWER_MS",
    "AskGames",
    "AskMoves",
    "AskPartner",
    "AskRefresh",
    "KeepAlive",
    "Observe",
    "Request",
    "RequestQueue",
    "Sending",
    "Setting",
    "TURN_MS",
    "Unobserve",
    "format_request",
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
class AskGames:
    """The table of all games."""


@dataclass(frozen=True, slots=True)
class KeepAlive:
    """Something harmless, so that the server does not think us idle."""


Request = Setting | Observe | AskPartner | Unobserve | AskMoves | AskRefresh | AskGames | KeepAlive

# What is sent first. Without the settings all else is worth less; a list asked for too late is of another game; a place
# given up lets the next game be observed.
_PRIORITY: dict[type, int] = {
    Setting: 0,
    AskMoves: 1,
    AskRefresh: 1,
    Unobserve: 2,
    Observe: 3,
    AskPartner: 3,
    AskGames: 4,
    KeepAlive: 5,
}
_COMMANDS: dict[type, str] = {
    Observe: "observe",
    AskPartner: "pobserve",
    Unobserve: "unobserve",
    AskMoves: "moves",
    AskRefresh: "refresh",
    AskGames: "games",
    KeepAlive: "date",
}
_PATIENCE_MS = 60_000  # after which a request of low priority goes first
_NO_PARTNER = re.compile(r"(?:\S{1,40} is|You are) not playing a bughouse game\.? *")
_NO_COMMAND = re.compile(r"/?pobserve: Command not found\.? *|No such command \(/?pobserve\)\.? *")
ANSWER_MS = 15_000
"""How long an answer is waited for before the next command goes."""
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
    if isinstance(request, AskPartner):
        return f"{command} {request.handle}"
    return command if isinstance(request, AskGames | KeepAlive) else f"{command} {request.game_no}"


def no_partner(line: str) -> bool | None:
    """Whether a line refuses ``AskPartner``.

    Returns:
        True: the player has no other board. False: the server does not know the command. None: another line.
    """
    if _NO_PARTNER.fullmatch(line):
        return True
    return False if _NO_COMMAND.fullmatch(line) else None


class Sending(NamedTuple):
    """What ``take`` gives: bytes to send now, perhaps none, and when to ask again; None: when something new is put."""

    data: bytes
    again_at_ms: int | None


class _Waiting(NamedTuple):
    since_ms: int
    order: int
    request: Request


class _UnderWay(NamedTuple):
    request: Request
    sent_ms: int


class RequestQueue:
    """Requests of one connection.

    Args:
        family: of server, for how commands are written.
        gap_ms: between two commands in the long run. burst: commands that may go at once after a pause.
        answer_ms: how long an answer is waited for.

    Attributes:
        family: of server.
    """

    def __init__(
        self,
        family: Family | None = None,
        *,
        gap_ms: int = 500,
        burst: int = 4,
        answer_ms: int = ANSWER_MS,
    ) -> None:
        if gap_ms < 1 or burst < 1 or answer_ms < 1:
            raise ValueError("gap_ms, burst and answer_ms must be at least 1")
        self.family = family
        self._gap_ms = gap_ms
        self._full_ms = gap_ms * burst
        self._answer_ms = answer_ms
        self._credit_ms = self._full_ms
        self._credit_at_ms: int | None = None
        self._waiting: dict[Request, _Waiting] = {}
        self._under_way: _UnderWay | None = None
        self._order = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def under_way(self) -> Request | None:
        """What was sent and is not answered yet."""
        return None if self._under_way is None else self._under_way.request

    def put(self, requests: Iterable[Request], now_ms: int) -> None:
        """Add requests; those that wait already, or are being answered, are not added again.

        An ``Observe`` and an ``Unobserve`` of one game that both wait are settled without the server.
        """
        self._give_up(now_ms)
        for request in requests:
            if request in self._waiting or request == self.under_way:
                continue
            opposite = _opposite(request)
            if opposite is not None and self._waiting.pop(opposite, None) is not None:
                continue
            self._order += 1
            self._waiting[request] = _Waiting(now_ms, self._order, request)

    def take(self, now_ms: int) -> Sending:
        """What is to be sent now.

        Args:
            now_ms: monotonic milliseconds, never less than before.
        """
        self._give_up(now_ms)
        if self._credit_at_ms is not None:
            self._credit_ms = min(self._full_ms, self._credit_ms + now_ms - self._credit_at_ms)
        self._credit_at_ms = now_ms
        data = b""
        while self._waiting and self._credit_ms >= self._gap_ms and self._under_way is None:
            request = min(self._waiting.values(), key=lambda waiting: self._rank(waiting, now_ms)).request
            del self._waiting[request]
            self._credit_ms -= self._gap_ms
            data += f"{format_request(request, self.family)}\n".encode("ascii")
            if not isinstance(request, Setting | KeepAlive):  # nobody waits for the answer to those
                self._under_way = _UnderWay(request, now_ms)
        if self._under_way is not None:
            return Sending(data, self._under_way.sent_ms + self._answer_ms)
        return Sending(data, now_ms + self._gap_ms - self._credit_ms if self._waiting else None)

    def _give_up(self, now_ms: int) -> None:
        if self._under_way is not None and now_ms >= self._under_way.sent_ms + self._answer_ms:
            self._under_way = None

    @staticmethod
    def _rank(waiting: _Waiting, now_ms: int) -> tuple[int, int]:
        patient = now_ms - waiting.since_ms < _PATIENCE_MS
        return (_PRIORITY[type(waiting.request)] if patient else -1, waiting.order)

    # -- answers -----------------------------------------------------------------------------------------------

    def feed(self, events: Iterable[Event]) -> None:
        """See which requests the server has answered, and drop those about games that are over."""
        if not self._waiting and self._under_way is None:
            return
        for event in events:
            if type(event) is Style12:
                if type(self.under_way) is AskRefresh:
                    self._done(AskRefresh(event.game_no))
            elif (handler := _ANSWERS.get(type(event))) is not None:
                handler(self, event)

    def _done(self, *requests: Request) -> None:
        if self.under_way in requests:
            self._under_way = None

    def _done_kind(self, *kinds: type) -> None:
        if type(self.under_way) in kinds:
            self._under_way = None

    def _observing(self, event: ObservingStarted | ObservingEnded) -> None:
        self._done(Observe(event.game_no), Unobserve(event.game_no))
        self._done_kind(AskPartner)

    def _other(self, event: Unrecognised | Noise) -> None:
        if no_partner(event.line.text) is not None:
            self._done_kind(AskPartner)

    def _moves(self, event: MovelistRead) -> None:
        if event.game_no is None:
            self._done_kind(AskMoves)
        else:
            self._done(AskMoves(event.game_no))

    def _games(self, event: GamesCounted) -> None:
        self._done_kind(AskGames)

    def _refused(self, event: ObserveRefused) -> None:
        if event.game_no is not None:
            self._done(Observe(event.game_no), Unobserve(event.game_no))
        elif event.reason is Refusal.NO_SUCH_GAME:
            self._done_kind(Observe, AskPartner, Unobserve, AskMoves, AskRefresh)
        elif event.reason is Refusal.NOT_OBSERVING:
            self._done_kind(Unobserve, AskRefresh)
        else:
            self._done_kind(Observe, AskPartner)

    def _notice(self, event: GameNotice) -> None:
        if event.kind is GameNoticeKind.PRIVATE_GAME:
            self._done_kind(Observe, AskPartner, AskMoves, AskRefresh)

    def _ended(self, event: GameEnded) -> None:
        for kind in (Observe, Unobserve, AskMoves, AskRefresh):
            self._waiting.pop(kind(event.game_no), None)  # its number may soon be another game's


def _opposite(request: Request) -> Request | None:
    if isinstance(request, Observe):
        return Unobserve(request.game_no)
    return Observe(request.game_no) if isinstance(request, Unobserve) else None


_ANSWERS: dict[type, Callable[[RequestQueue, Any], None]] = {
    ObservingStarted: RequestQueue._observing,
    ObservingEnded: RequestQueue._observing,
    MovelistRead: RequestQueue._moves,
    GamesCounted: RequestQueue._games,
    ObserveRefused: RequestQueue._refused,
    GameNotice: RequestQueue._notice,
    GameEnded: RequestQueue._ended,
    Unrecognised: RequestQueue._other,
    Noise: RequestQueue._other,
}
