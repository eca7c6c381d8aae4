"""Callers of servers, and the command running beside a test."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import sys
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import zstandard

from recorder.errors import JournalError
from recorder.journal.format import Record, RecordKind, parse_note, parse_record

LIMIT_S = 600  # only for a test that hangs, whatever else the machine does


def in_loop(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """A test that is a coroutine: run it, but not for ever, and let its callers go."""

    async def within(coroutine: Coroutine[Any, Any, None]) -> None:
        try:
            await asyncio.wait_for(coroutine, LIMIT_S)
        finally:
            for caller in Caller.open:
                caller.writer.transport.abort()
            Caller.open.clear()
            await asyncio.sleep(0)  # closed sockets are let go in the loop's next turn

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(within(test(*args, **kwargs)))

    return run


@dataclass
class Caller:
    """A client. ``heard`` are all bytes that came."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    heard: bytearray = field(default_factory=bytearray)
    _seen: int = 0
    open: ClassVar[list[Caller]] = []

    @classmethod
    async def call(cls, port: int) -> Caller:
        """Connect to a port of this machine."""
        caller = cls(*await asyncio.open_connection("127.0.0.1", port))
        cls.open.append(caller)
        return caller

    def send(self, data: bytes) -> None:
        """Send bytes; the network takes them when it likes."""
        self.writer.write(data)

    async def until(self, text: bytes) -> bytes:
        """Read until a text was received; return everything since the last call, up to its end."""
        while (found := self.heard.find(text, self._seen)) < 0:
            data = await self.reader.read(1 << 16)
            assert data, f"the connection ended before {text!r}: {bytes(self.heard[self._seen :])!r}"
            self.heard += data
        begin, self._seen = self._seen, found + len(text)
        return bytes(self.heard[begin : self._seen])

    async def read_some(self) -> bytes:
        """Read what has come, at least one byte; nothing: the connection has ended."""
        with contextlib.suppress(ConnectionResetError):
            self.heard += await self.reader.read(1 << 16)
        begin, self._seen = self._seen, len(self.heard)
        return bytes(self.heard[begin:])

    async def rest(self) -> bytes:
        """Read to the end; return everything since the last call."""
        while data := await self.reader.read(1 << 16):
            self.heard += data
        begin, self._seen = self._seen, len(self.heard)
        return bytes(self.heard[begin:])


@dataclass
class Journalled:
    """What the journals in a folder hold, the connections' files in order of their names."""

    received: bytes
    sent: bytes
    notes: list[dict[str, Any]]
    raw: bytes


def journalled(folder: Path) -> Journalled:
    """Read every journal of a folder, without torn ends."""
    records: list[Record] = []
    raw = b""
    for path in sorted(folder.glob("[!.]*")):  # others are being compressed
        data = path.read_bytes()
        if path.suffix == ".zst":
            data = zstandard.ZstdDecompressor().decompressobj().decompress(data)
        raw += data
        _, *lines = data.split(b"\n")
        for line in lines[:-1]:
            records.append(parse_record(line))
        if lines[-1]:
            try:
                parse_record(lines[-1])
            except JournalError:
                continue
    notes = [parse_note(record.data) for record in records if record.kind is RecordKind.NOTE]
    return Journalled(
        b"".join(record.data for record in records if record.kind is RecordKind.RECEIVED),
        b"".join(record.data for record in records if record.kind is RecordKind.SENT),
        notes,
        raw,
    )


class Running:
    """``ics-recorder`` as a process of its own, with what it has said on stderr so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.talk = ""

    async def until(self, text: str) -> str:
        """Read what it says until a line has a text; return that line."""
        while line := (await self.process.stderr.readline()).decode():
            self.talk += line
            if text in line:
                return line
        raise AssertionError(f"it never said {text!r}: {self.talk}")

    async def end(self, signal: int | None = None) -> int:
        """Wait for its end, after a signal if one is given; return its exit status."""
        assert self.process.stderr is not None
        if signal is not None:
            self.process.send_signal(signal)
        self.talk += (await self.process.stderr.read()).decode()
        return await self.process.wait()


@asynccontextmanager
async def running(*words: object, before: Callable[[], None] | None = None) -> AsyncIterator[Running]:
    """Run the command beside the test; it is killed at the end if it still runs."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "recorder", *map(str, words), stderr=asyncio.subprocess.PIPE, preexec_fn=before
    )  # fmt: skip
    try:
        yield Running(process)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
