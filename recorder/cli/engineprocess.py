"""A chess engine's process: its lines in and out, and that nothing of it is left, whatever it does."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import signal
import subprocess
from time import monotonic_ns
from typing import Final

from recorder.cli.password import PASSWORD_VARIABLE
from recorder.cli.terminal import reason_of
from recorder.errors import EngineError

__all__ = ["EngineProcess", "Guard", "engine_environment", "how_ended", "now_ms", "split_command"]

_READ_BYTES: Final = 65_536
_MOST_WORDS: Final = 200  # of the last thing on its standard error
_MOST_UNREAD: Final = 1 << 20  # bytes that it does not take
_GLANCE_MS: Final = 20
#: Reads which group to end, and ends it when there is nothing more to read.
_GUARDING: Final = 'read -r group && { read -r more; kill -s KILL -- "-$group"; }'


def now_ms() -> int:
    """Milliseconds of a clock that nobody sets."""
    return monotonic_ns() // 1_000_000


def split_command(command: str) -> list[str]:
    """The words of a command line, as a shell splits them; none of them means anything to a shell.

    Raises:
        EngineError: it has no words, or a quote without an end.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise EngineError(f"The engine's command {command!r} cannot be read: {error}.") from None
    if not words:
        raise EngineError("The engine's command is empty.")
    return words


def engine_environment() -> dict[str, str]:
    """The environment that an engine gets: without a server's password."""
    return {name: value for name, value in os.environ.items() if name != PASSWORD_VARIABLE}


def how_ended(status: int, words: str) -> str:
    """How a process ended: ``ended by itself (exit status 1): 'no luck'``.

    Args:
        status: its exit status; negative: the number of the signal that ended it.
        words: the last line of its errors, of which the beginning is quoted; may be empty.
    """
    if status >= 0:
        how = f"ended by itself (exit status {status})"
    else:
        known = {number.value: number.name for number in signal.Signals}
        how = f"was ended by {known.get(-status, f'signal {-status}')}"
    shown = "".join(mark if mark.isprintable() else " " for mark in words).strip()[:_MOST_WORDS]
    return f"{how}: {shown!r}" if shown else how


class Guard:
    """A shell that waits for our end and then ends an engine, since many think on when nobody hears them.

    It hears of our end by a pipe which closes with us, whatever ends us; SIGKILL leaves us no time to do it ourselves.

    Raises:
        EngineError: there is no shell.
    """

    def __init__(self) -> None:
        try:
            self._process = subprocess.Popen(
                ("/bin/sh", "-c", _GUARDING),
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                bufsize=0,
                start_new_session=True,  # it outlives what ends us
                env={},
            )
        except OSError as error:
            raise EngineError(f"The engine cannot be guarded by /bin/sh: {reason_of(error)}.") from error

    def watch(self, group: int) -> None:
        """Tell it which process group is not to outlive us."""
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # somebody ended it
            self._process.stdin.write(f"{group}\n".encode())

    def dismiss(self) -> None:
        """Nothing is left to watch."""
        assert self._process.stdin is not None
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()


class EngineProcess:
    """A running engine, leader of a process group of its own: Ctrl-C on the terminal is for us.

    Args:
        command: as the user wrote it.
    Raises:
        EngineError: it cannot be started.
    """

    def __init__(self, command: str) -> None:
        words = split_command(command)
        self._guard = Guard()
        try:
            self._process = subprocess.Popen(
                words,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                env=engine_environment(),
            )
        except (OSError, ValueError) as error:  # ValueError: a null byte in a word
            self._guard.dismiss()
            raise EngineError(f"The engine {words[0]} cannot be started: {reason_of(error)}.") from error
        self._guard.watch(self._process.pid)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._input = self._process.stdin.fileno()
        self._output = self._process.stdout.fileno()
        self._errors: int | None = self._process.stderr.fileno()
        os.set_blocking(self._input, False)
        self._unsent = bytearray()
        self._words = b""

    def say(self, lines: list[str]) -> None:
        """Write lines, as soon as the engine takes them.

        Raises:
            EngineError: it has not read for long, and more is to be said than can be kept for it.
        """
        self._unsent += "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        self._send()
        if len(self._unsent) > _MOST_UNREAD:
            raise EngineError("The engine does not read what it is told.")

    def interrupt(self) -> None:
        """Send the signal that the protocol has for engines which do not hear while they think."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process.pid, signal.SIGINT)

    def hear(self, until_ms: int | None) -> bytes | None:
        """What it prints next; None: nothing until then; empty: it prints nothing any more."""
        while True:
            wait_s = None if until_ms is None else max(0, until_ms - now_ms()) / 1000
            reading = [self._output, *([] if self._errors is None else [self._errors])]
            readable, writable, _ = select.select(reading, [self._input] if self._unsent else [], [], wait_s)
            if writable:
                self._send()
            if self._errors is not None and self._errors in readable:
                self._hear_errors()
            if self._output in readable:
                return os.read(self._output, _READ_BYTES)
            # Its errors may never end.
            if (not readable and not writable) or (until_ms is not None and now_ms() >= until_ms):
                return None

    def ending(self, patience_ms: int) -> str:
        """How it ended after its output did, with the last line of its errors: ``ended by itself (exit status 1)``."""
        if not self._wait_for_end(patience_ms):
            return "closed its output"
        while self._errors is not None and select.select([self._errors], [], [], 0)[0]:
            self._hear_errors()
        status = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
        assert status is not None
        number = status.si_status if status.si_code == os.CLD_EXITED else -status.si_status
        return how_ended(number, self._words.decode("utf-8", "replace").strip().rpartition("\n")[2])

    def stop(self, patience_ms: int) -> None:
        """End it: it gets so long to end by itself, and again after it was asked by signal. Nothing is left."""
        try:
            assert self._process.stdin is not None
            self._unsent.clear()
            self._process.stdin.close()
            if not self._wait_for_end(patience_ms):
                self._signal(signal.SIGTERM)
                self._wait_for_end(patience_ms)
        finally:
            self._signal(signal.SIGKILL)  # also what it may have started itself
            self._guard.dismiss()  # before its number can be another's
            self._process.wait()
            for pipe in (self._process.stdout, self._process.stderr):
                if pipe is not None:
                    pipe.close()

    def _send(self) -> None:
        while self._unsent:
            try:
                del self._unsent[: os.write(self._input, self._unsent)]
            except BlockingIOError:
                return
            except BrokenPipeError:  # it has ended: what it printed before is still to be read
                self._unsent.clear()

    def _hear_errors(self) -> None:
        assert self._errors is not None
        data = os.read(self._errors, _READ_BYTES)
        self._words = (self._words + data)[-4 * _MOST_WORDS :]
        if not data:
            self._errors = None

    def _has_ended(self) -> bool:
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT  # it stays known, so that its group is surely its own
        return os.waitid(os.P_PID, self._process.pid, flags) is not None

    def _wait_for_end(self, patience_ms: int) -> bool:
        """Whether it ends in time. What it still prints is read, so that it does not wait for us."""
        until_ms = now_ms() + patience_ms
        while not self._has_ended():
            if now_ms() >= until_ms:
                return False
            if self.hear(min(until_ms, now_ms() + _GLANCE_MS)) == b"":
                select.select([], [], [], _GLANCE_MS / 1000)
        return True

    def _signal(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, number)
