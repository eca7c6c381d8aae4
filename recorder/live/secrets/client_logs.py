"""Mask the secrets in the logs of xboard and PyChess, which mark what was typed. Pure.

Each connection has the guard of an open one; the lines wait, in their order, until their bytes are known to be clean.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from recorder.live.secrets.client import SecretGuard
from recorder.live.secrets.typed import TimedBytes
from recorder.sources import SourceKind
from recorder.sources.client_logs import LoggedText, logged_text

_MAX_LINE: Final = 1 << 20
_MOST_WAITING: Final = 1000
"""Lines; no server prints so many during a login, but another connection of the log may go on."""


class ClientLogScrubber:
    """Replaces secrets in a log's bytes, block by block. The output is as long as the input."""

    def __init__(self, kind: SourceKind) -> None:
        self._kind = kind
        self._rest = b""
        self._connections: dict[bytes, _Connection] = {}
        self._user = b""
        self._waiting: deque[tuple[bytes, LoggedText | None, _Connection | None]] = deque()

    def receive(self, block: bytes) -> bytes:
        """Process the next bytes; return those of the lines that are complete and clean now."""
        if b"\n" not in block and len(self._rest) + len(block) <= _MAX_LINE:
            self._rest += block
            return b""
        *lines, self._rest = (self._rest + block).split(b"\n")
        out = [self._take(line + b"\n") for line in lines]
        if len(self._rest) > _MAX_LINE:
            out.append(self._take(self._rest))
            self._rest = b""
        return b"".join(out)

    def finish(self) -> bytes:
        """Return the rest at the end of the log."""
        rest, self._rest = self._rest, b""
        out = self._take(rest) if rest else b""
        for connection in self._connections.values():
            connection.finish()
        return out + self._release()

    def _take(self, line: bytes) -> bytes:
        text = logged_text(line, self._kind)
        if text is None:
            self._waiting.append((line, None, None))
        else:
            self._user = self._user if text.user is None else text.user
            connection = self._connections.setdefault(self._user, _Connection())
            connection.take(text)
            self._waiting.append((line, text, connection))
        return self._release()

    def _release(self) -> bytes:
        """Return the lines before the first one whose bytes are not clean yet."""
        out = b""
        while self._waiting:
            line, text, connection = self._waiting[0]
            if text is not None and connection is not None:
                if len(self._waiting) > _MOST_WAITING:
                    connection.finish()
                clean = connection.clean(text)
                if clean is None:
                    break
                line = line if clean == text.data else text.masked(line, clean)
            out += line
            self._waiting.popleft()
        return out


class _Connection:
    """A connection of the log, and its bytes that are clean and not written yet."""

    def __init__(self) -> None:
        self._guard = SecretGuard()
        self._clean = {True: bytearray(), False: bytearray()}  # sent, received

    def take(self, text: LoggedText) -> None:
        data = b"".join((text.before, text.data, text.after))
        if text.sent:
            self._add(True, self._guard.client_sent(data, 0))
            return
        if not text.again:
            self._add(True, self._guard.server_sent(data))
        self._add(False, self._guard.answers.receive(data))

    def finish(self) -> None:
        """Wait for nothing more."""
        self._add(True, self._guard.finish())
        self._add(False, self._guard.answers.finish())

    def clean(self, text: LoggedText) -> bytes | None:
        """Take the clean bytes of the next text; None: they are not known yet."""
        clean, before = self._clean[text.sent], len(text.before)
        size = before + len(text.data) + len(text.after)
        if len(clean) < size:
            return None
        data = bytes(clean[before : before + len(text.data)])
        del clean[:size]
        return data

    def _add(self, sent: bool, pieces: list[TimedBytes]) -> None:
        for _, data in pieces:
            self._clean[sent] += data
