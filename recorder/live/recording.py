"""Record a connection in its journal, at once or in a thread.

The server's bytes are recorded as they arrive, except for passwords that it repeats; a line that is cut where a
password may be is recorded a moment later. The client's bytes pass the guard, line by line. If the guard fails,
they are all masked from then on, because they may contain a secret. If the journal fails, a proxied connection
continues: recording ends, which is reported once. A connection that exists only for its journal gets an error.

A proxy writes its journal in a thread, so that forwarding never waits for the disk. The bytes that wait for the thread
are bounded. At the bound the caller waits a moment: if the thread only lags behind, it writes something meanwhile, and
so the disk slows the sender down. If it writes nothing, the disk hangs: recording ends with an error. When the disk
answers later, the waiting bytes are written with a note that recording ended there.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import JournalError, is_disk_full
from recorder.journal.format import NoteKind
from recorder.live.secrets.client import SecretGuard
from recorder.live.secrets.typed import TimedBytes
from recorder.sources.secrets import FILLER

if TYPE_CHECKING:
    from recorder.journal import JournalWriter


class RecordedConnection:
    """One connection's journal and the guard before it. ``report`` never gets bytes of the connection."""

    def __init__(
        self, journal: JournalWriter | DeferredJournal, report: Callable[[str], None], *, must: bool = False
    ) -> None:
        self._journal = journal
        self._guard = SecretGuard()
        self._report = report
        self._must = must  # else no method raises
        self._held = 0  # bytes of the client that the guard has not returned
        self._ended = False
        self.failed = False  # the journal lacks bytes that it should contain
        self.disk_full = False  # for this reason
        self.muted: str | None = None  # the type of the error by which the guard failed

    def now_ns(self) -> int:
        return self._journal.now_ns()

    def note(self, kind: str, **facts: Any) -> None:
        self._write(lambda: self._journal.note(kind, **facts))

    def server_sent(self, data: bytes, at_ns: int) -> None:
        """Record them, then bytes of the client that the guard releases because of them."""
        typed = self._ask(lambda: self._guard.server_sent(data))
        self._write(lambda: self._put_received(self._guard.answers.receive(data, at_ns)))
        self._put_sent(typed)

    def client_sent(self, data: bytes, at_ns: int) -> None:
        self._held += len(data)
        self._put_sent(self._ask(lambda: self._guard.client_sent(data, at_ns)))

    def enter(self, handle: str | None) -> None:
        self._guard.enter(handle)

    def tick(self) -> None:
        """To be called at least once a second."""
        self._write(lambda: self._put_received(self._guard.tick(self._journal.now_ns())))
        self._write(self._journal.tick)

    def release(self) -> None:
        """After the end of the connection: write the bytes that the guards delayed."""
        self._write(lambda: self._put_received(self._guard.answers.finish()))
        self._put_sent(self._ask(self._guard.finish))

    def close(self, **facts: Any) -> None:
        self.release()
        self.note(NoteKind.CLOSED, **facts)
        self._write(self._journal.close)
        self._ended = True

    def _ask(self, ask: Callable[[], list[TimedBytes]]) -> list[TimedBytes]:
        if self._ended:
            return []
        if self.muted is None:
            try:
                return ask()
            except Exception as error:  # a bug; its text may contain the client's input
                self.failed = True
                self.muted = type(error).__name__
                self._guard.answers.holding = False
                self._report(f"What is sent to the server is masked in the journal ({self.muted}: a bug).")
        return [TimedBytes(self._journal.now_ns(), FILLER * self._held)] if self._held else []

    def _put_received(self, texts: list[TimedBytes]) -> None:
        for at_ns, data in texts:
            self._journal.received(data, at_ns)

    def _put_sent(self, typed: list[TimedBytes]) -> None:
        for at_ns, data in typed:
            self._held -= len(data)
            self._write(partial(self._journal.sent, data, at_ns))

    def _write(self, write: Callable[[], None]) -> None:
        if self._ended:
            return
        if self._must:
            write()
            return
        try:
            write()
        except JournalError as error:
            self.disk_full = is_disk_full(error)
            self._end(str(error))
        except Exception as error:  # a bug of the journal must not end the connection
            self._end(f"the journal failed ({type(error).__name__}).")

    def _end(self, why: str) -> None:
        self._ended = self.failed = True
        with suppress(Exception):  # it has failed already; only its file is to be closed
            self._journal.close()
        self._report(f"RECORDING HAS ENDED, the connection continues: {why}")


MOST_BYTES: Final = 16 << 20
"""Limit of waiting bytes; each piece counts ``_EACH_BYTES`` more for its own memory."""

_EACH_BYTES: Final = 512
_HANGS_S: Final = 0.25
_LOOK_S: Final = 0.005
_CLOSE_S: Final = 10.0


class DeferredJournal:
    """Writes to a journal in another thread; every call but ``close`` returns at once, or at the bound within a moment.

    The thread alone uses ``journal`` from now on, except for its clock. At the bound of ``most_bytes``, a disk that
    writes nothing for ``hangs_s`` counts as hanging. After a JournalError, which every method may raise, it is not
    written.
    """

    def __init__(
        self,
        journal: JournalWriter,
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
        self._given = 0  # bytes; counted by the caller only
        self._taken = 0  # counted by the thread only
        self._failure: Exception | None = None
        self._closing = False
        self._thread = threading.Thread(
            target=self._write, name="journal", daemon=True
        )  # a dead disk must not delay the exit
        self._thread.start()

    def now_ns(self) -> int:
        return self._journal.now_ns()

    def received(self, data: bytes, at_ns: int) -> None:
        self._put(len(data), partial(self._journal.received, data, at_ns))

    def sent(self, data: bytes, at_ns: int) -> None:
        self._put(len(data), partial(self._journal.sent, data, at_ns))

    def note(self, kind: str, **facts: Any) -> None:
        self._put(0, partial(self._journal.note, kind, **facts))

    def tick(self) -> None:
        if self._taken == self._given or self._failure is not None:
            self._put(0, self._journal.tick)

    def close(self) -> None:
        """After a failure without waiting for the disk."""
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

    def _put(self, size: int, write: Callable[[], None]) -> None:
        if self._failure is not None:
            raise self._failure
        size += _EACH_BYTES
        if self._waiting + size > self._most_bytes and not self._takes(size):
            self._failure = JournalError(
                f"The disk does not respond: {self._waiting:,} bytes are waiting. Check the disk, then reconnect."
            )
            self._work.put((0, partial(self._journal.note, NoteKind.UNRECORDED, why="the disk did not answer")))
            raise self._failure
        self._given += size
        self._work.put((size, write))

    def _takes(self, size: int) -> bool:
        """False: the thread has written nothing for too long."""
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
                except Exception as error:  # the caller gets it from its next call
                    broken = True
                    self._failure = self._failure or error
                    with suppress(Exception):  # it has failed already; only its file is to be let go
                        self._journal.close()
            self._taken += size
