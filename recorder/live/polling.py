"""When the table of games is asked for."""

from __future__ import annotations

from typing import Final

from recorder.live.requests import TURN_MS

__all__ = ["Polling"]

_QUIET_MS: Final = 5_000  # nothing else tells that a game has begun
_ANNOUNCED_MS: Final = 30_000  # the server announces games
_LONGEST_MS: Final = 60_000
_SHARE: Final = 20  # of the time between two tables, at most one part for a table to come
_PATIENCE_MS: Final = 3_000


class Polling:
    """The rhythm of one connection after another.

    Args:
        every_ms: between two tables while a place is free and no game waits for it; None: as it suits the server.

    Attributes:
        held_until_ms: the first table is worth waiting for, since it shows what is to be observed first, but no longer;
            0: it has come.
    """

    def __init__(self, every_ms: int | None) -> None:
        self._given_ms = every_ms
        self._since_ms: int | None = None  # the last table's end, or once we are in; None: not connected
        self._asked_ms: int | None = None  # an answer is waited for
        self._first = True  # no table has been asked for on this connection
        self.held_until_ms = 0
        self._took_ms = 0
        self._announces = False

    def connected(self, now_ms: int) -> None:
        """We are logged in, for the first time or again."""
        self._since_ms = now_ms
        self._asked_ms = None
        self._first = True
        self.held_until_ms = now_ms + _PATIENCE_MS
        self._took_ms = 0
        self._announces = False

    def set_every(self, every_ms: int | None) -> None:
        """Ask at another interval from now on; as for the constructor."""
        self._given_ms = every_ms

    def disconnected(self) -> None:
        """Nothing is asked for until ``connected``."""
        self._since_ms = None

    @property
    def is_connected(self) -> bool:
        """Whether anything may be asked for."""
        return self._since_ms is not None

    def announced(self) -> None:
        """The server told of a game that began."""
        self._announces = True

    def surprised(self) -> None:
        """A table showed a game that the server did not announce."""
        self._announces = self._announces and self.held_until_ms > 0

    def ended(self, now_ms: int) -> None:
        """A table has come."""
        if self._asked_ms is not None:
            self._took_ms = now_ms - self._asked_ms
        self._asked_ms = None
        self.held_until_ms = 0
        if self._since_ms is not None:
            self._since_ms = now_ms

    def asks(self, now_ms: int, *, idle: bool) -> bool:
        """Whether the table is to be asked for now; each is to be asked for then.

        Args:
            idle: a place is free and no game waits for it.
        """
        if self._since_ms is None or now_ms < self.next_ms(idle=idle):
            return False
        if self._asked_ms is not None:  # a server without an answer: go on with what else it tells
            self._asked_ms = None
            self._since_ms = now_ms
            return False
        self._asked_ms = now_ms
        self._first = False
        return True

    def next_ms(self, *, idle: bool) -> int:
        """When ``asks`` will have something to do."""
        assert self._since_ms is not None
        if self._asked_ms is not None:
            return self._asked_ms + TURN_MS
        if self._first:
            return self._since_ms
        every_ms = self._given_ms
        if every_ms is None:
            least_ms = _ANNOUNCED_MS if self._announces else _QUIET_MS
            every_ms = min(_LONGEST_MS, max(least_ms, _SHARE * self._took_ms))
        return self._since_ms + (every_ms if idle else max(every_ms, _LONGEST_MS))
