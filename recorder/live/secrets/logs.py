"""Mask the secrets in saved logs, and in journals that an older version or another program wrote. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Final

from recorder.errors import JournalError
from recorder.journal import JournalHeader, Record, RecordKind, format_header, format_record, parse_note
from recorder.journal.format import NoteKind
from recorder.live.secrets.client import SecretGuard
from recorder.live.secrets.typed import TimedBytes
from recorder.sources import Scrubber, SourceKind
from recorder.sources.base import LineEnds
from recorder.sources.client_logs import LoggedText, logged_text

if TYPE_CHECKING:
    from recorder.sources.redaction import Redactor


class JournalCleaner:
    """``read`` is called twice; ``replaced`` counts bytes that are filler now."""

    def __init__(self, read: Callable[[], Iterable[JournalHeader | Record]]) -> None:
        self._read = read
        self.replaced = 0
        self._clean = {RecordKind.RECEIVED: bytearray(), RecordKind.SENT: bytearray()}  # and not written yet
        self._waiting: deque[JournalHeader | Record] = deque()

    def lines(self) -> Iterator[bytes]:
        sent: deque[TimedBytes] = deque()
        size = 0  # headers and records that are there now: a journal may grow meanwhile
        for value in self._read():
            size += 1
            if isinstance(value, Record) and value.kind is RecordKind.SENT:
                sent.append(TimedBytes(value.at_ns, value.data))
        guard, scrubber = SecretGuard(), Scrubber(SourceKind.RAW)
        for value in islice(self._read(), size):
            self._waiting.append(value)
            if isinstance(value, Record) and (_is_connected(value) or value.kind is RecordKind.RECEIVED):
                while sent and sent[0].at_ns <= value.at_ns:
                    self._send(guard, sent.popleft())
                if value.kind is RecordKind.RECEIVED:
                    self._take(RecordKind.SENT, guard.server_sent(value.data))
                    self._take(RecordKind.RECEIVED, guard.answers.receive(value.data), scrubber)
                else:
                    self._end(guard, scrubber)
                    guard, scrubber = SecretGuard(), Scrubber(SourceKind.RAW)
            yield from self._release()
        for one in sent:
            self._send(guard, one)
        self._end(guard, scrubber)
        yield from self._release()

    def _send(self, guard: SecretGuard, sent: TimedBytes) -> None:
        self._take(RecordKind.SENT, guard.client_sent(sent.data, sent.at_ns))

    def _end(self, guard: SecretGuard, scrubber: Scrubber) -> None:
        self._take(RecordKind.SENT, guard.finish())
        self._take(RecordKind.RECEIVED, guard.answers.finish(), scrubber)
        self._clean[RecordKind.RECEIVED] += scrubber.finish()

    def _take(self, kind: RecordKind, pieces: list[TimedBytes], scrubber: Scrubber | None = None) -> None:
        data = b"".join([data for _, data in pieces])
        self._clean[kind] += data if scrubber is None else scrubber.receive(data)

    def _release(self) -> Iterator[bytes]:
        """Write what comes before the first bytes that are not clean yet."""
        while self._waiting:
            value = self._waiting[0]
            if isinstance(value, JournalHeader):
                yield format_header(value) + b"\n"
            else:
                if value.kind in self._clean:
                    clean, size = self._clean[value.kind], len(value.data)
                    if len(clean) < size:
                        return
                    self.replaced += sum(a != b for a, b in zip(value.data, clean, strict=False))
                    value = value._replace(data=bytes(clean[:size]))
                    del clean[:size]
                yield format_record(value) + b"\n"
            self._waiting.popleft()


def _is_connected(record: Record) -> bool:
    try:
        return record.kind is RecordKind.NOTE and parse_note(record.data).get("kind") == NoteKind.CONNECTED
    except JournalError:
        return False


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
        """Return those of the lines that are complete and clean now."""
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
        self._add(True, self._guard.finish())
        self._add(False, self._guard.answers.finish())

    def clean(self, text: LoggedText) -> bytes | None:
        """None: they are not known yet."""
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


def scrubbed(blocks: Iterable[bytes], kind: SourceKind, redactor: Redactor | None = None) -> Iterator[bytes]:
    """A log's bytes, from its first one on, with its secrets masked: as many, in blocks of complete lines."""
    scrubbing = Scrubbing(kind, redactor)
    for block in blocks:
        if clean := scrubbing.receive(block):
            yield clean
    if rest := scrubbing.finish():
        yield rest


class Scrubbing:
    """As ``scrubbed``, block by block; ``redactor`` changes complete lines without changing their length."""

    def __init__(self, kind: SourceKind, redactor: Redactor | None = None) -> None:
        self._scrubber = None if kind is SourceKind.JOURNAL else _scrubber(kind)
        self._ends = LineEnds()
        self._redactor = redactor

    def receive(self, block: bytes) -> bytes:
        if self._scrubber is None:
            return block
        clean = self._scrubber.receive(self._ends.receive(block))
        return self._ends.swap(clean if self._redactor is None else self._redactor.receive(clean))

    def finish(self) -> bytes:
        if self._scrubber is None:
            return b""
        rest = self._scrubber.receive(self._ends.finish()) + self._scrubber.finish()
        if self._redactor is not None:
            rest = self._redactor.receive(rest) + self._redactor.finish()
        return self._ends.swap(rest)


def _scrubber(kind: SourceKind) -> Scrubber | ClientLogScrubber:
    if kind in (SourceKind.XBOARD, SourceKind.PYCHESS):
        return ClientLogScrubber(kind)
    return Scrubber(kind)
