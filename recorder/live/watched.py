"""What a loop waits for, some sockets before all others; compiled, since it stands before all that is kept."""

from __future__ import annotations

import select
import selectors
import socket
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["Reading", "Watched"]

_INPUT: Final = 1  # select.EPOLLIN, wherever there is epoll
_READ_BYTES: Final = 1 << 16


class Watched:
    """A selector around another one, as asyncio's loops use them.

    Args:
        others: has all that the loop itself registers. epoll: a new one, which waits for both.
    """

    def __init__(self, others: selectors.EpollSelector, epoll: select.epoll) -> None:
        self._others = others
        self._epoll = epoll
        self._poll = epoll.poll
        self._first: dict[int, Callable[[], None]] = {}
        epoll.register(others.fileno(), _INPUT)

    def watch(self, fd: int, ready: Callable[[], None]) -> None:
        """Have something called, within ``select``, whenever a file can be read or has failed."""
        self._epoll.register(fd, _INPUT)
        self._first[fd] = ready

    def unwatch(self, fd: int) -> None:
        """The opposite, while the file is still open."""
        del self._first[fd]
        self._epoll.unregister(fd)

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        """Wait; what is watched is looked at first, the others are returned."""
        more = False
        for fd, _ in self._poll(timeout):
            ready = self._first.get(fd)
            if ready is None:
                more = True
            else:
                ready()
        return self._others.select(0) if more else []

    def register(self, file: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As that of the others, like all that follow."""
        return self._others.register(file, events, data)

    def unregister(self, file: Any) -> selectors.SelectorKey:
        """As theirs."""
        return self._others.unregister(file)

    def modify(self, file: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        """As theirs."""
        return self._others.modify(file, events, data)

    def get_key(self, file: Any) -> selectors.SelectorKey:
        """As theirs."""
        return self._others.get_key(file)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        """As theirs."""
        return self._others.get_map()

    def close(self) -> None:
        """Let go of both."""
        self._others.close()
        self._epoll.close()


class Reading:
    """Reads a socket that has something.

    What is read stands in one buffer that stays: a new one for each read takes more memory than what comes.

    Args:
        connected: does not block. take: gets what was read, never nothing. end: called with the failure, or None when
            the other side says no more. Neither may raise.
    """

    def __init__(
        self, connected: socket.socket, take: Callable[[bytes], None], end: Callable[[OSError | None], None]
    ) -> None:
        self._into = connected.recv_into
        self._buffer = bytearray(_READ_BYTES)
        self._view = memoryview(self._buffer)
        self._take = take
        self._end = end

    def read(self) -> None:
        """Read once."""
        try:
            count = self._into(self._buffer)
        except (BlockingIOError, InterruptedError):
            return
        except OSError as error:
            self._end(error)
            return
        if count:
            self._take(bytes(self._view[:count]))
        else:
            self._end(None)
