"""Mask the secrets in a journal that an older version or another program wrote. Pure.

Sent bytes pass the same guard as in an open connection, in the order of time and not of the file: a journal has sent
bytes where their line was complete, which may be behind the server's answer. Received bytes pass the guard of answers,
and the masking of saved logs. Records keep their places and lengths.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from recorder.errors import JournalError
from recorder.journal import JournalHeader, Record, RecordKind, format_header, format_record, parse_note
from recorder.live.secrets.client import SecretGuard
from recorder.live.secrets.typed import TimedBytes
from recorder.sources import Scrubber, SourceKind


class JournalCleaner:
    """Makes the lines of a clean journal; ``read`` is called twice and begins with the first record each time.

    ``replaced`` counts bytes that are filler now; it is complete after the last line.
    """

    def __init__(self, read: Callable[[], Iterable[JournalHeader | Record]]) -> None:
        self._read = read
        self.replaced = 0
        self._clean = {RecordKind.RECEIVED: bytearray(), RecordKind.SENT: bytearray()}  # and not written yet
        self._waiting: deque[JournalHeader | Record] = deque()

    def lines(self) -> Iterator[bytes]:
        """The clean journal's lines, with their ends."""
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
        """Take what a connection's guards still have."""
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
        return record.kind is RecordKind.NOTE and parse_note(record.data).get("kind") == "connected"
    except JournalError:
        return False
