"""All clients of a replay server, whatever carries their bytes: who is there, and one clock for those who share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, Protocol

from recorder.events import Chunk
from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting, LoginDialogue
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.tape import Tape, TapeSession
from recorder.replay.show import ReplaySource, Show
from recorder.replay.timing import Playhead, ReplayMoment

__all__ = ["ReplayClients", "Shared", "clients_of_bytes", "clients_of_games"]

_AT_ONCE: Final = 400
"""Of a shared replay that is late so many moments come to clients, all together, before it is their turn."""


class Shared(Protocol):
    """A replay that all clients see at the same moment: ``Show`` and ``Tape``."""

    @property
    def head(self) -> Playhead[Any]:
        """Its place in time."""

    def take(self, now_ns: int, most: int | None = None) -> Iterator[Any]:
        """What is due, or so many of it, one by one; each is to be heard before the next is taken."""


class ReplayClients:
    """The clients that are there.

    Args:
        make: a new client, by its number and the clock's time.
        shared: the replay that all of them see; None: each has its own.
        most: clients at once.
    """

    def __init__(
        self, make: Callable[[int, int], LoginDialogue], shared: Shared | None = None, most: int = 500
    ) -> None:
        self._make = make
        self._shared = shared
        self._most = most
        self._count = 0
        self.clients: set[LoginDialogue] = set()

    def come(self, now_ns: int) -> LoginDialogue | None:
        """Somebody connects; None: there are too many."""
        if len(self.clients) >= self._most:
            return None
        client = self._make(self._count, now_ns)
        self._count += 1
        self.clients.add(client)
        return client

    def leave(self, client: LoginDialogue) -> None:
        """Somebody is gone."""
        self.clients.discard(client)

    def receive(self, client: LoginDialogue, data: bytes, now_ns: int) -> None:
        """Bytes of a client."""
        client.receive(data, now_ns)
        if self._shared is not None and self._shared.head.paused and client.handle is not None:
            self._shared.head.resume(now_ns)

    @property
    def due_ns(self) -> int | None:
        """When the shared clock goes on; None: there is none, or it stands."""
        return None if self._shared is None else self._shared.head.due_ns

    def tick(self, now_ns: int, failed: Callable[[LoginDialogue, Exception], None]) -> None:
        """Let the shared clock go on; of much that is due a part, and ``due_ns`` is past then.

        Args:
            now_ns: the clock's time.
            failed: called for a client that could not be told what happened; it hears no more.
        """
        if self._shared is None:
            return
        for happening in self._shared.take(now_ns, max(_AT_ONCE // max(len(self.clients), 1), 1)):
            for client in list(self.clients):
                try:
                    client.happen((happening,), now_ns)
                except Exception as error:  # a fault that one client meets must not stop the clock of all
                    self.leave(client)
                    failed(client, error)


def clients_of_games(
    recording: ReplaySource,
    greeting: Greeting,
    *,
    shared_at_ns: int | None = None,
    speed: Fraction | int = 1,
    loop: bool = False,
    pause_at: Sequence[str] = (),
    begin: int = 0,
    wall_ms: Callable[[int], int] = lambda now_ns: now_ns // 1_000_000,
) -> ReplayClients:
    """The clients of a replay of games.

    Args:
        recording: the games.
        greeting: how to greet.
        shared_at_ns: the clock's time now if all clients share one replay, which begins with the first who is in.
        speed, loop, pause_at: as ``Playhead`` takes them.
        begin: the place of the moment to begin with.
        wall_ms: what ``date`` prints, by the clock's time in nanoseconds.
    """

    def show_at(now_ns: int) -> Show:
        """A replay at its beginning, paused."""
        show = Show(recording, now_ns, speed=speed, loop=loop, pause_at=pause_at)
        if begin:
            show.head.pause(now_ns)
            show.go(begin, now_ns)
        else:
            show.open(now_ns)
        return show

    shared = None if shared_at_ns is None else show_at(shared_at_ns)

    def make(number: int, now_ns: int) -> LoginDialogue:
        show = shared or show_at(now_ns)
        return ReplaySession(show, number, greeting, answer_command, shared=shared is not None, wall_ms=wall_ms)

    return ReplayClients(make, shared)


def clients_of_bytes(
    moments: Sequence[ReplayMoment[Chunk]], greeting: Greeting, *, shared_at_ns: int | None = None, **how: Any
) -> ReplayClients:
    """The clients of a replay of a connection's bytes.

    Args:
        moments: of the bytes. greeting, shared_at_ns: as for ``clients_of_games``.
        how: ``speed``, ``loop``, ``pause_at`` and ``begin``, as ``Tape`` takes them.
    """
    shared = None if shared_at_ns is None else Tape(moments, shared_at_ns, **how)

    def make(number: int, now_ns: int) -> LoginDialogue:
        return TapeSession(shared or Tape(moments, now_ns, **how), number, greeting, shared is not None)

    return ReplayClients(make, shared)
