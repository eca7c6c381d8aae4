"""A chess engine's process: bounded input and output, and a certain end of all its processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shlex
import signal
import subprocess
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Final, NamedTuple

from recorder.errors import EngineError
from recorder.live import child_environment
from recorder.model import EngineProtocol

_STDOUT: Final = 1
_MOST_LINE: Final = 16_384
_BURST: Final = 2 << 20
_EACH_SECOND: Final = 256 << 10
_MOST_NAME: Final = 100
_MOST_WORDS: Final = 200  # characters of the last line on its standard error
_MOST_UNREAD: Final = 1 << 20  # sent bytes that it has not read
#: Reads the number of a process group, and kills the group when the pipe is closed.
_GUARDING: Final = 'read -r group && { read -r more; kill -s KILL -- "-$group"; }'


class Patience(NamedTuple):
    """How long to wait for an engine before the next step, or before it counts as hanging."""

    features_ms: int = 2_000  # its first ``feature``
    done_ms: int = 60_000  # ``done=1`` after ``done=0``
    answer_ms: int = 20_000  # an answer that the protocol demands, also ``uciok``
    quiet_ms: int = 200  # without a line, of an engine that has no ``ping``
    quit_ms: int = 2_000  # its end after ``quit``, and once more after the signal to terminate


@dataclass(frozen=True)
class EngineSpec:
    """An engine; its command is split into words as by a shell, but not run by one.

    An option with the value None is a button. In CECP ``memory`` (megabytes) and ``cores`` are commands of the
    protocol, if the engine accepts them.
    """

    protocol: EngineProtocol
    command: str
    options: Mapping[str, str | None] = field(default_factory=dict)


def split_command(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EngineError(f"The engine's command {command!r} cannot be read: {error}.") from None
    if not words:
        raise EngineError("The engine's command is empty.")
    return words


def clean(text: str, most: int = _MOST_NAME) -> str:
    """Made safe to show: one line, printable, cut."""
    return "".join(mark if mark.isprintable() else " " for mark in text).strip()[:most]


def seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


class Intake:
    """Splits an engine's output into lines; it ``floods`` at 2 MiB at once, or 256 KiB a second for longer."""

    def __init__(self) -> None:
        self.floods = False
        self._waiting = bytearray()
        self._skips = False  # skip the rest of a line that was cut
        self._left = _BURST
        self._at_ms: int | None = None

    def receive(self, data: bytes, now_ms: int) -> list[str]:
        """The complete lines, without their ends; blank lines are skipped, long lines are cut."""
        since_ms = 0 if self._at_ms is None else now_ms - self._at_ms
        self._at_ms = now_ms
        self._left = min(_BURST, self._left + since_ms * _EACH_SECOND // 1000) - len(data)
        self.floods = self.floods or self._left < 0
        self._waiting += data
        *ended, rest = self._waiting.split(b"\n")
        lines = [self._line(line) for line in ended]
        if len(rest) > _MOST_LINE and not self._skips:
            lines.append(self._line(rest))
            self._skips = True
        self._waiting = bytearray() if self._skips else rest
        return [line for line in lines if line is not None]

    def _line(self, line: bytearray) -> str | None:
        if self._skips:
            self._skips = False
            return None
        return line[:_MOST_LINE].decode("utf-8", "replace").rstrip() or None


class EngineGuard:
    """Kills the engine when this process ends in any way, also by SIGKILL: many engines keep searching then."""

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                ("/bin/sh", "-c", _GUARDING),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # signals to this process do not reach it
                env={},
            )
        except OSError as error:
            raise EngineError(f"The engine cannot be guarded by /bin/sh: {error.strerror}.") from error

    def watch(self, group: int) -> None:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # the user ended it
            self._process.stdin.write(f"{group}\n".encode())

    def dismiss(self) -> None:
        """After the engine has ended."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()


class EngineProcess(asyncio.SubprocessProtocol):
    """A running engine, leader of its own process group, so that Ctrl-C on the terminal does not reach it."""

    transport: asyncio.SubprocessTransport
    _guard: EngineGuard

    def __init__(self, name: str, patience: Patience) -> None:
        self.name = name  # the command's, until the engine sends its own
        self.patience = patience
        self.has_printed = False
        self.last_message: str | None = None  # reported with an error
        self._intake = Intake()
        self._lines: deque[str] = deque()
        self._errors = b""
        self._is_silent = False  # its output is closed
        self._has_news = asyncio.Event()  # a whole line, a flood, or the end of its output
        self._has_ended = asyncio.Event()
        self._is_closed = asyncio.Event()  # it has ended, and so have its pipes

    @classmethod
    async def start(cls, command: str, patience: Patience) -> EngineProcess:
        """Without a server's password in its environment."""
        words = split_command(command)
        with contextlib.ExitStack() as stack:
            guard = EngineGuard()
            stack.callback(guard.dismiss)
            try:
                _, process = await asyncio.get_running_loop().subprocess_exec(
                    lambda: cls(words[0].rpartition("/")[2], patience),
                    *words,
                    start_new_session=True,
                    env=child_environment(),
                )
            except OSError as error:
                raise EngineError(f"The engine {words[0]} cannot be started: {error.strerror}.") from error
            guard.watch(process.transport.get_pid())
            process._guard = guard
            stack.pop_all()
        return process

    @property
    def now_ms(self) -> int:
        """Of a clock that is never set."""
        return monotonic_ns() // 1_000_000

    def error(self, what: str, kind: type[EngineError] = EngineError) -> EngineError:
        words = "" if self.last_message is None else f"; its last message: {self.last_message!r}"
        return kind(f"The engine {self.name} {what}{words}.")

    def send(self, *lines: str) -> None:
        """As soon as the engine reads them; too many bytes that wait are an EngineError."""
        stdin = self._stdin
        if stdin.is_closing():  # it has ended: what it printed before is still to be read
            return
        stdin.write("".join(f"{line}\n" for line in lines).encode("utf-8", "replace"))
        if stdin.get_write_buffer_size() > _MOST_UNREAD:
            raise self.error("does not read its input")

    async def read_line(self, until_ms: int | None = None) -> str | None:
        """None: none until then. An end of its output is an EngineError."""
        if not self._lines and not self._is_silent:
            wait_s = None if until_ms is None else max(0, until_ms - self.now_ms) / 1000
            self._has_news.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(wait_s):
                    await self._has_news.wait()
        if self._intake.floods:
            raise self.error("prints too much (more than 256 KiB a second)")
        if self._lines:
            return self._lines.popleft()
        if self._is_silent:
            raise self.error(await self._ending())
        return None

    async def stop(self, patience_ms: int) -> None:
        """Wait for it after ``quit``, again after SIGTERM, then kill its whole process group."""
        try:
            with contextlib.suppress(EngineError):
                self.send("quit")
            self._stdin.close()
            if not await _happens(self._has_ended, patience_ms):
                self._signal(signal.SIGTERM)
                await _happens(self._has_ended, patience_ms)
        finally:
            self._signal(signal.SIGKILL)  # also what it may have started itself
            self._guard.dismiss()
            await self._has_ended.wait()
            self.transport.close()

    @property
    def _stdin(self) -> asyncio.WriteTransport:
        stdin = self.transport.get_pipe_transport(0)
        assert isinstance(stdin, asyncio.WriteTransport)
        return stdin

    async def _ending(self) -> str:
        """How it ended after its output did, with the last line of its errors: ``ended by itself (exit status 1)``."""
        await _happens(self._is_closed, self.patience.quit_ms)
        status = self.transport.get_returncode()
        if status is None:
            return "closed its output"
        if status >= 0:
            how = f"ended by itself (exit status {status})"
        else:
            names = {number.value: number.name for number in signal.Signals}
            how = f"was ended by {names.get(-status, f'signal {-status}')}"
        words = clean(self._errors.decode("utf-8", "replace").strip().rpartition("\n")[2], _MOST_WORDS)
        return f"{how}: {words!r}" if words else how

    def _signal(self, number: signal.Signals) -> None:
        """To it and to all that it started: while any of these lives, no other group gets its number."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.transport.get_pid(), number)

    # -- what asyncio reports ------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self.transport = transport

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd != _STDOUT:
            self._errors = (self._errors + data)[-4 * _MOST_WORDS :]
        elif not self._intake.floods:
            self.has_printed = True
            self._lines += self._intake.receive(data, self.now_ms)
            if self._intake.floods:
                self._signal(signal.SIGKILL)
            if self._lines or self._intake.floods:
                self._has_news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == _STDOUT:
            self._is_silent = True
            self._has_news.set()

    def process_exited(self) -> None:
        self._has_ended.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._is_closed.set()


async def _happens(event: asyncio.Event, patience_ms: int) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(patience_ms / 1000):
            await event.wait()
    return event.is_set()
