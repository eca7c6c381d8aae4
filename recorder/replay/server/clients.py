"""All clients of a replay server, whatever carries their bytes: who is there, and one clock for those who share it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final, Protocol

from recorder.replay.server.commands import answer_command
from recorder.replay.server.login import Greeting, LoginDialogue
from recorder.replay.server.session import ReplaySession
from recorder.replay.show import ReplaySource, Show
from recorder.replay.timing import Playhead

__all__ = ["ReplayClients", "Shared", "Staging"]

_AT_ONCE: Final = 400
"""Of a shared replay that is late so many moments come to clients, all together, before it is their turn."""


class Staging:
    """How a replay of games is shown.

    Args:
        recording: the games.
        manner: how to greet.
        speed, loop, pause_at: as ``Playhead`` takes them.
        begin: the place of the moment to begin with.
        wall_ms: what ``date`` tells, by the clock's time in nanoseconds.
    """

    def __init__(
        self,
        recording: ReplaySource,
        manner: Greeting,
        *,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: tuple[str, ...] = (),
        begin: int = 0,
        wall_ms: Callable[[int], int] = lambda now_ns: now_ns // 1_000_000,
    ) -> None:
        self._recording = recording
        self._manner = manner
        self._speed = speed
        self._loop = loop
        self._pause_at = pause_at
        self._begin = begin
        self._wall_ms = wall_ms

    def show(self, now_ns: int) -> Show:
        """A replay at its beginning, paused."""
        show = Show(self._recording, now_ns, speed=self._speed, loop=self._loop, pause_at=self._pause_at)
        if self._begin:
            show.head.pause(now_ns)
            show.go(self._begin, now_ns)
        else:
            show.open(now_ns)
        return show

    def house(self, now_ns: int | None = None) -> ReplayClients:
        """For its clients; with a clock's time they all share one replay, which begins with the first who is in."""
        stage = None if now_ns is None else self.show(now_ns)

        def make(number: int, come_ns: int) -> LoginDialogue:
            show = stage or self.show(come_ns)
            shared = stage is not None
            return ReplaySession(show, number, self._manner, answer_command, shared=shared, wall_ms=self._wall_ms)

        return ReplayClients(make, stage)


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
