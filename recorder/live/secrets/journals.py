"""Mask the secrets in a journal that an older version or another program wrote. Pure.

Sent bytes pass the same guard as in an open connection, in the order of time and not of the file: a journal has sent
bytes where their meaning was decided, which may be behind the server's answer. Received bytes pass the masking of saved
logs and, where the server answered to a password typed as a command, the guard of such answers. Records keep their
places and lengths, unless the guard releases only the number of some bytes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

from recorder.errors import JournalError
from recorder.journal import JournalHeader, Record, RecordKind, format_header, format_note, format_record, parse_note
from recorder.live.secrets.client import Release, SecretGuard
from recorder.live.secrets.server import AnswerGuard, ServerText
from recorder.sources import Scrubber, SourceKind

__all__ = ["JournalCleaner"]


class JournalCleaner:
    """Makes the lines of a clean journal.

    Args:
        read: gives the journal's headers and records from the first on, each time it is called (three times).
    Attributes:
        replaced: bytes that are filler now. counted: bytes that became a count. Complete after the last line.
    """

    def __init__(self, read: Callable[[], Iterable[JournalHeader | Record]]) -> None:
        self._read = read
        self.replaced = 0
        self.counted = 0
        self._size = 0  # headers and records there were at first: a journal may grow meanwhile
        # Secrets that the received bytes may contain from this record on: for a while, and to the end.
        self._repeated: dict[int, list[bytes]] = {}
        self._learned: dict[int, list[bytes]] = {}

    def lines(self) -> Iterator[bytes]:
        """The clean journal's lines, with their ends."""
        sent = deque(self._clean_sent())
        scrubber, answers = Scrubber(SourceKind.RAW), AnswerGuard()
        received = 0
        clean = bytearray()
        waiting: deque[JournalHeader | Record] = deque()
        self._added = 0  # records more than were read in this part
        for value in islice(self._read(), self._size):
            if isinstance(value, Record) and value.kind is RecordKind.RECEIVED:
                for secret in self._repeated.get(received, ()):
                    answers.expect(secret)
                for secret in self._learned.get(received, ()):
                    answers.learn(secret)
                received += 1
                clean += scrubber.receive(_joined(answers.receive(value.data)))
            waiting.append(value)
            yield from self._release(waiting, clean, sent)
        clean += scrubber.receive(_joined(answers.finish())) + scrubber.finish()
        yield from self._release(waiting, clean, sent)

    def _release(
        self, waiting: deque[JournalHeader | Record], clean: bytearray, sent: deque[list[Release]]
    ) -> Iterator[bytes]:
        """Write what comes before the first received bytes that are not scrubbed yet."""
        while waiting:
            value = waiting[0]
            if isinstance(value, JournalHeader):
                self._added = 0
                yield format_header(value) + b"\n"
            elif value.kind is RecordKind.RECEIVED:
                size = len(value.data)
                if len(clean) < size:
                    return
                yield self._line(value, bytes(clean[:size]))
                del clean[:size]
            elif value.kind is RecordKind.SENT:
                pieces = sent.popleft() or [Release(value.at_ns, b"", 0)]
                done = 0
                for piece in pieces:
                    if piece.withheld:
                        self.counted += piece.withheld
                        count = format_note("withheld", {"bytes": piece.withheld})
                        yield format_record(Record(value.at_ns, RecordKind.NOTE, count)) + b"\n"
                    else:
                        part = value.data[done : done + len(piece.data)]
                        yield self._line(value._replace(data=part), piece.data)
                    done += piece.withheld or len(piece.data)
                self._added += len(pieces) - 1
            else:
                note = _note(value)
                if note.get("kind") == "withheld":
                    sent.popleft()
                elif note.get("kind") == "end" and isinstance(note.get("records"), int):
                    note["records"] += self._added
                    value = value._replace(data=format_note(note.pop("kind"), note))
                yield format_record(value) + b"\n"
            waiting.popleft()

    def _line(self, record: Record, data: bytes) -> bytes:
        self.replaced += sum(a != b for a, b in zip(record.data, data, strict=True))
        return format_record(record._replace(data=data)) + b"\n"

    def _clean_sent(self) -> list[list[Release]]:
        """What each sent record, and each note of bytes that were not kept, becomes."""
        sent: list[tuple[int, bytes]] = []
        for value in self._read():
            self._size += 1
            if isinstance(value, Record) and (data := _client_bytes(value)) is not None:
                sent.append((value.at_ns, data))
        out: list[Release] = []
        guard = SecretGuard()
        fed = received = 0
        for value in islice(self._read(), self._size):
            if isinstance(value, JournalHeader):
                continue
            connected = value.kind is RecordKind.NOTE and _note(value).get("kind") == "connected"
            if value.kind is not RecordKind.RECEIVED and not connected:
                continue
            while fed < len(sent) and sent[fed][0] <= value.at_ns:
                out += guard.client_sent(sent[fed][1], sent[fed][0])
                fed += 1
            if connected:
                out += guard.finish()
                guard = SecretGuard()
            else:
                out += guard.server_sent(value.data)
                if repeated := guard.take_repeated():
                    self._repeated[received] = repeated
                if learned := guard.take_learned():
                    self._learned[received] = learned
                received += 1
        for at_ns, data in sent[fed:]:
            out += guard.client_sent(data, at_ns)
        out += guard.finish()
        return _cut(out, [len(data) for _, data in sent])


def _joined(texts: list[ServerText]) -> bytes:
    return b"".join([data for _, data in texts])


def _note(record: Record) -> dict[str, Any]:
    try:
        return parse_note(record.data)
    except JournalError:
        return {}


def _client_bytes(record: Record) -> bytes | None:
    """What the guard must see of the client: where bytes were not kept, a line of that length stands for them."""
    if record.kind is RecordKind.SENT:
        return record.data
    if record.kind is RecordKind.NOTE:
        note = _note(record)
        if note.get("kind") == "withheld":
            count = note.get("bytes")
            return b"*" * (count - 1) + b"\n" if isinstance(count, int) and 0 < count < 1 << 20 else b""
    return None


def _cut(releases: Iterable[Release], sizes: Iterable[int]) -> list[list[Release]]:
    """The guard's answer cut at the places where the records were."""
    rest = deque(releases)
    out: list[list[Release]] = []
    for size in sizes:
        pieces: list[Release] = []
        while size:
            first = rest.popleft()
            length = first.withheld or len(first.data)
            if length > size:
                rest.appendleft(first._replace(data=first.data[size:], withheld=max(first.withheld - size, 0)))
                first = first._replace(data=first.data[:size], withheld=min(first.withheld, size))
                length = size
            pieces.append(first)
            size -= length
        out.append(pieces)
    return out
