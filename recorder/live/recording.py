"""What a connection leaves in its journal.

What the server says is written as it comes, but for a password that it repeats; a word that a read cuts, and that may
become one, is written a moment later. What the client says goes through
the guard, which may hold it back until it knows whether it is a password. If the guard fails, only the number of the
client's bytes is kept from then on: they may hold a secret. If the journal fails, a person's connection goes on: the
recording has ended, and says so once. A connection that is there for its journal alone is told by an error.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Protocol

from recorder.errors import JournalError
from recorder.live.secrets.client import Release
from recorder.live.secrets.server import AnswerGuard, ServerText

__all__ = ["JournalGuard", "Journal", "RecordedConnection"]


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
