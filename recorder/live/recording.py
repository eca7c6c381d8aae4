"""What a connection leaves in its journal, written at once or in a thread.

What the server says is written as it comes, but for a password that it repeats; a word that a read cuts, and that may
become one, is written a moment later. What the client says goes through the guard, which may hold it back until it
knows whether it is a password. If the guard fails, only the number of the client's bytes is kept from then on: they may
hold a secret. If the journal fails, a person's connection goes on: the recording has ended, and says so once. A
connection that is there for its journal alone gets an error.

A proxy writes its journal in a thread, so that forwarding never waits for the disk. What waits to be written is
bounded. At the bound the caller waits a moment: a thread that merely lags behind takes something meanwhile, and so the
disk slows the sender down. One that takes nothing has a disk that hangs: recording ends, loudly, and what waits is
written, with a note that it ended there, when the disk answers after all.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import Any, Final, Protocol

from recorder.errors import JournalError
from recorder.live.secrets.client import Release
from recorder.live.secrets.server import AnswerGuard, ServerText

__all__ = ["DeferredJournal", "Journal", "JournalGuard", "MOST_BYTES", "RecordedConnection"]


class Journal(Protocol):
    """What is used of ``recorder.journal.writer.JournalWriter``."""

    def now_ns(self) -> int:
        """Nanoseconds since the journal's anchor."""

    def received(self, data: bytes, at_ns: int | None = None) -> None:
        """Write what the server sent."""

    def sent(self, data: bytes, at_ns: int | None = None) -> None:
        """Write what was sent to the server."""

    def withheld(self, count: int, at_ns: int | None = None) -> None:
        """Write how many bytes were sent that must not be kept."""

    def note(self, kind: str, **facts: Any) -> None:
        """Write a fact about the connection."""

    def tick(self) -> None:
        """To be called at least once a second."""

    def close(self) -> None:
        """Write what is left and close the file."""


class JournalGuard(Protocol):
    """What is used of ``recorder.live.secrets.client.SecretGuard``."""

    def server_said(self, data: bytes) -> list[Release]:
        """Look at the server's bytes; tell what of the client's may be written now."""

    def client_said(self, data: bytes, at_ns: int) -> list[Release]:
        """Take the client's bytes; tell what may be written now."""

    def take_repeated(self) -> list[bytes]:
        """Secrets that the server may repeat now."""

    def take_learned(self) -> list[bytes]:
        """Passwords of this connection: the server may repeat them at any time."""

    def finish(self) -> list[Release]:
        """Tell what is left."""


class RecordedConnection:
    """One connection's journal and the guard before it.

    Args:
        journal: where it is written.
        guard: for what the client says.
        tell: gets one sentence when something failed, never with bytes of the connection in it.
        must: what the journal raises is raised; else no method raises.

    Attributes:
        failed: the journal does not hold everything that may be kept.
        muted: the kind of error by which the guard failed; None: it did not.
    """

    def __init__(
        self, journal: Journal, guard: JournalGuard, tell: Callable[[str], None], *, must: bool = False
    ) -> None:
        self._journal = journal
        self._guard: JournalGuard | None = guard
        self._tell = tell
        self._must = must
        self._answers = AnswerGuard()
        self._held = 0  # bytes of the client that the guard has not given back
        self._ended = False
        self.failed = False
        self.muted: str | None = None

    def now_ns(self) -> int:
        """When something arrives, on the journal's clock."""
        return self._journal.now_ns()

    def note(self, kind: str, **facts: Any) -> None:
        """Write a fact about the connection."""
        self._write(lambda: self._journal.note(kind, **facts))

    def server_said(self, data: bytes, at_ns: int) -> None:
        """The server has sent bytes; what they let go of the client's stands behind them."""
        releases = self._ask(lambda guard: guard.server_said(data))
        self._write(lambda: self._put_said(self._answers.receive(data, at_ns)))
        self._give(releases)

    def client_said(self, data: bytes, at_ns: int) -> None:
        """The client has sent bytes."""
        self._held += len(data)
        if self._guard is None:
            self._withhold(at_ns)
        else:
            self._give(self._ask(lambda guard: guard.client_said(data, at_ns)))

    def tick(self) -> None:
        """To be called at least once a second: let the journal do what it does by time."""
        self._write(lambda: self._put_said(self._answers.tick(self._journal.now_ns())))
        self._write(self._journal.tick)

    def release(self) -> None:
        """The connection has ended: write what the guards held."""
        self._write(lambda: self._put_said(self._answers.finish()))
        self._give(self._ask(lambda guard: guard.finish()))
        if self._held > 0:
            self._withhold(None)

    def close(self, **facts: Any) -> None:
        """Write what the guard held, note how the connection ended, and close the journal."""
        self.release()
        self.note("closed", **facts)
        self._write(self._journal.close)
        self._ended = True

    def _ask(self, ask: Callable[[JournalGuard], list[Release]]) -> list[Release]:
        if self._ended or self._guard is None:
            return []
        try:
            releases = ask(self._guard)
            for secret in self._guard.take_repeated():
                self._answers.expect(secret)
            for secret in self._guard.take_learned():
                self._answers.learn(secret)
        except Exception as error:  # a bug; its text may hold what the client typed
            self._guard = None
            self.failed = True
            self.muted = type(error).__name__
            self._tell(f"What is sent to the server is recorded as a count of bytes only ({self.muted}: a bug).")
            return []
        return releases

    def _give(self, releases: list[Release]) -> None:
        for release in releases:
            self._held -= release.withheld or len(release.data)
            self._write(partial(self._put, release))
        if self._guard is None:
            self._withhold(None)

    def _put_said(self, said: list[ServerText]) -> None:
        for at_ns, data in said:
            self._journal.received(data, at_ns)

    def _put(self, release: Release) -> None:
        if release.withheld:
            self._journal.withheld(release.withheld, release.at_ns)
        else:
            self._journal.sent(release.data, release.at_ns)

    def _withhold(self, at_ns: int | None) -> None:
        count, self._held = self._held, 0
        if count > 0:
            self._write(lambda: self._journal.withheld(count, at_ns))

    def _write(self, write: Callable[[], None]) -> None:
        if self._ended:
            return
        if self._must:
            write()
            return
        try:
            write()
        except JournalError as error:
            self._end(str(error))
        except Exception as error:  # a bug of the journal is no trouble of the connection
            self._end(f"the journal failed ({type(error).__name__}).")

    def _end(self, why: str) -> None:
        self._ended = self.failed = True
        with suppress(Exception):  # it has failed already; only its file is to be let go
            self._journal.close()
        self._tell(f"RECORDING HAS ENDED, the connection goes on: {why}")


MOST_BYTES: Final = 16 << 20
"""What may wait, each thing with ``_EACH_BYTES`` for its own weight in memory."""

_EACH_BYTES: Final = 512
_HANGS_S: Final = 0.25
_LOOK_S: Final = 0.005
_CLOSE_S: Final = 10.0


class DeferredJournal:
    """Writes to a journal in another thread; every call but ``close`` returns at once, or at the bound within a moment.

    Args:
        journal: only the thread uses it from now on, but for its clock and its name.
        most_bytes: how much may wait.
        hangs_s: at this bound, how long it takes to tell a disk that hangs from one that is slow.
        close_s: how long ``close`` waits for the disk.

    Raises:
        JournalError: from every method: the journal could not be written, or too much waits. It is written no more.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        most_bytes: int = MOST_BYTES,
        hangs_s: float = _HANGS_S,
        close_s: float = _CLOSE_S,
    ) -> None:
        self._journal = journal
        self._most_bytes = most_bytes
        self._hangs_s = hangs_s
        self._close_s = close_s
        self._work: SimpleQueue[tuple[int, Callable[[], None]] | None] = SimpleQueue()
        self._given = 0  # bytes; counted here alone
        self._taken = 0  # counted in the thread alone
        self._failure: Exception | None = None
        self._closing = False
        self._thread = threading.Thread(target=self._write, name="journal", daemon=True)  # a dead disk holds no exit up
        self._thread.start()

    def now_ns(self) -> int:
        """Nanoseconds since the journal's anchor."""
        return self._journal.now_ns()

    def received(self, data: bytes, at_ns: int | None = None) -> None:
        """Write what the server sent."""
        self._put(len(data), partial(self._journal.received, data, self._at(at_ns)))

    def sent(self, data: bytes, at_ns: int | None = None) -> None:
        """Write what was sent to the server."""
        self._put(len(data), partial(self._journal.sent, data, self._at(at_ns)))

    def withheld(self, count: int, at_ns: int | None = None) -> None:
        """Write how many bytes were sent that must not be kept."""
        self._put(0, partial(self._journal.withheld, count, self._at(at_ns)))

    def note(self, kind: str, **facts: Any) -> None:
        """Write a fact about the connection."""
        self._put(0, partial(self._journal.note, kind, **facts))

    def tick(self) -> None:
        """To be called at least once a second."""
        if self._taken == self._given or self._failure is not None:
            self._put(0, self._journal.tick)

    def close(self) -> None:
        """Write what waits and close the file; after a failure without waiting for it."""
        if self._closing:
            return
        self._closing = True
        self._work.put((0, self._journal.close))
        self._work.put(None)
        if self._failure is None:
            self._thread.join(self._close_s)
        if self._failure is not None:
            raise self._failure
        if self._thread.is_alive():
            raise JournalError(
                f"The disk did not respond for {self._close_s:.0f} s: {self._waiting:,} bytes are waiting."
            )

    @property
    def _waiting(self) -> int:
        return self._given - self._taken

    def _at(self, at_ns: int | None) -> int:
        return self._journal.now_ns() if at_ns is None else at_ns

    def _put(self, size: int, write: Callable[[], None]) -> None:
        if self._failure is not None:
            raise self._failure
        size += _EACH_BYTES
        if self._waiting + size > self._most_bytes and not self._takes(size):
            self._failure = JournalError(
                f"The disk does not respond: {self._waiting:,} bytes are waiting. Check the disk, then reconnect."
            )
            self._work.put((0, partial(self._journal.note, "unrecorded", why="the disk did not answer")))
            raise self._failure
        self._given += size
        self._work.put((size, write))

    def _takes(self, size: int) -> bool:
        """Wait until there is room; False: the thread has taken nothing for too long."""
        taken, since = self._taken, time.monotonic()
        while self._waiting + size > self._most_bytes:
            if self._taken != taken:
                taken, since = self._taken, time.monotonic()
            elif time.monotonic() - since > self._hangs_s:
                return False
            time.sleep(_LOOK_S)
        return True

    def _write(self) -> None:
        broken = False
        while (work := self._work.get()) is not None:
            size, write = work
            if not broken:
                try:
                    write()
                except Exception as error:
                    broken = True
                    self._failure = self._failure or error
                    with suppress(Exception):  # it has failed already; only its file is to be let go
                        self._journal.close()
            self._taken += size
