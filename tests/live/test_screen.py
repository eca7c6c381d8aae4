"""``record`` on a pseudo-terminal that is read, closed, or never read."""

import asyncio
import contextlib
import os
import pty
import signal
import struct
import sys
import termios
from collections.abc import AsyncIterator
from fcntl import ioctl
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from recorder.live.messages import MessagePrinter
from recorder.live.screen import Screen, ScreenMode
from recorder.live.status import Snapshot
from tests.live.test_capture import BOARD, END, MOVE, TABLE
from tests.support.live import in_loop, journalled
from tests.support.script import Hear, Say, Step
from tests.support.testserver import FICS, Connection, Dialogue, ScriptedServer

ENTER, LEAVE, SHOW_CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


class Terminal:
    """A terminal of 80 × 24 with the command; ``seen`` is all output to it."""

    def __init__(self, process: asyncio.subprocess.Process, master: int, name: str) -> None:
        self.process = process
        self._name = name
        self.seen = b""
        self._master = master
        os.set_blocking(master, False)
        asyncio.get_running_loop().add_reader(master, self.read)

    def read(self) -> None:
        """Read the available output."""
        with contextlib.suppress(OSError):
            self.seen += os.read(self._master, 1 << 16)

    def hold_up(self) -> None:
        """Stop reading and fill the terminal, so that writes to it block."""
        asyncio.get_running_loop().remove_reader(self._master)
        slave = os.open(self._name, os.O_WRONLY | os.O_NOCTTY | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(slave, b"." * 1000)
        os.close(slave)

    def hang_up(self) -> None:
        """Close the terminal."""
        if self._master >= 0:
            asyncio.get_running_loop().remove_reader(self._master)
            os.close(self._master)
        self._master = -1

    def resize(self, columns: int, lines: int) -> None:
        ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    async def until(self, text: bytes) -> None:
        while text not in self.seen:
            assert self.process.returncode is None, self.seen
            await asyncio.sleep(0.02)

    async def end(self, number: int) -> int:
        self.process.send_signal(number)
        status = await self.process.wait()
        self.read()
        return status


@contextlib.asynccontextmanager
async def on_terminal(server: ScriptedServer, tmp_path: Path, *more: str) -> AsyncIterator[Terminal]:
    master, slave = pty.openpty()
    ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    environment = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "recorder", "record", f"127.0.0.1:{server.port}", "--guest", "--no-import"),
        *("--observe", "rated", "--journal-dir", str(tmp_path / "journals"), "--log", str(tmp_path / "log"), *more),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=slave,
        env={**environment, "TERM": "xterm"},
    )
    terminal = Terminal(process, master, os.ttyname(slave))
    os.close(slave)
    try:
        yield terminal
    finally:
        terminal.hang_up()
        if process.returncode is None:
            process.kill()
        await process.wait()


def server(*steps: Step) -> ScriptedServer:
    script: list[Step] = [Hear(b"observe 12"), Say(BOARD), *steps]
    return ScriptedServer(Dialogue(FICS, script=script, answers={b"games": TABLE}))


async def goes_on(connection: Connection, tmp_path: Path) -> None:
    """Check that later output of the server is still recorded."""
    await connection.say(MOVE)
    while MOVE not in journalled(tmp_path / "journals").received:
        await asyncio.sleep(0.02)


@in_loop
async def test_the_games_are_on_the_screen_and_the_terminal_is_restored(tmp_path: Path) -> None:
    async with server(Say(MOVE)) as scripted, on_terminal(scripted, tmp_path) as terminal:
        await terminal.until(b"1. e4")
        for text in (ENTER, b"Ann", b"Bob", b"5:00", b"1 game observed", b"recording, "):
            assert text in terminal.seen
        terminal.resize(120, 40)
        await terminal.until(b"type")  # a column that only a wide terminal has
        assert await terminal.end(signal.SIGTERM) == ExitCode.OK
    before, shown, after = terminal.seen.partition(LEAVE)
    assert shown
    assert SHOW_CURSOR in terminal.seen
    assert b"Logged in as Guest" in after  # messages of the meantime are still visible
    assert b"1 connection, " in after
    assert b"Journals: " in after
    assert before.count(ENTER) == 1


@in_loop
async def test_ctrl_z_gives_the_terminal_back_until_the_recorder_goes_on(tmp_path: Path) -> None:
    async with server() as scripted, on_terminal(scripted, tmp_path) as terminal:
        await terminal.until(b"1 game observed")
        terminal.process.send_signal(signal.SIGTSTP)
        status = Path(f"/proc/{terminal.process.pid}/stat")
        while status.read_text().rpartition(")")[2].split()[0] != "T":
            await asyncio.sleep(0.02)
        await terminal.until(LEAVE)
        assert SHOW_CURSOR in terminal.seen
        terminal.seen = b""
        terminal.process.send_signal(signal.SIGCONT)
        await terminal.until(b"1 game observed")
        assert ENTER in terminal.seen
        assert await terminal.end(signal.SIGTERM) == ExitCode.OK


@in_loop
async def test_what_python_writes_to_standard_error_is_kept_for_the_end(capfd: pytest.CaptureFixture[str]) -> None:
    before = sys.stderr
    with contextlib.closing(MessagePrinter()) as printer:
        screen = Screen(ScreenMode.VIEW, printer)
        screen.open()
        sys.stderr.write("Task exception was never retrieved\nTrace")
        print("back", file=sys.stderr)
        screen.close()
        screen.close()
    assert sys.stderr is before
    shown = capfd.readouterr().err.rpartition("\x1b[?25h")[2]
    assert [line[9:] for line in shown.splitlines()] == ["Task exception was never retrieved", "Traceback"]


@in_loop
async def test_an_error_is_printed_on_the_terminal_itself(tmp_path: Path) -> None:
    async with (
        ScriptedServer(Dialogue(FICS, refusal="\nThe server is full.\n")) as scripted,
        on_terminal(scripted, tmp_path) as terminal,
    ):
        assert await terminal.process.wait() == ExitCode.LOGIN
        terminal.read()
    assert b"Error: " in terminal.seen.partition(LEAVE)[2]


@in_loop
async def test_a_blocked_terminal_delays_nothing(tmp_path: Path) -> None:
    async with server() as scripted, on_terminal(scripted, tmp_path) as terminal:
        await terminal.until(b"1 game observed")
        terminal.hold_up()
        await asyncio.sleep(1.5)
        connection = await scripted.connection()
        await goes_on(connection, tmp_path)
        terminal.process.send_signal(signal.SIGTERM)
        while '"ended"' not in (tmp_path / "log").read_text(encoding="ascii"):
            await asyncio.sleep(0.02)
        assert connection.lines[-1] == b"quit"
        while terminal.process.returncode is None:
            terminal.read()
            await asyncio.sleep(0.01)
        assert terminal.process.returncode == ExitCode.OK
        while LEAVE not in terminal.seen:  # the process of the view may end a moment later
            terminal.read()
            await asyncio.sleep(0.01)


@pytest.mark.long
@in_loop
async def test_a_closed_terminal_does_not_end_recording(tmp_path: Path) -> None:
    async with server() as scripted, on_terminal(scripted, tmp_path) as terminal:
        await terminal.until(b"1 game observed")
        terminal.hang_up()
        await asyncio.sleep(1.5)
        connection = await scripted.connection()
        await goes_on(connection, tmp_path)
        terminal.process.send_signal(signal.SIGHUP)  # a shell sends it to its processes
        assert await terminal.process.wait() == ExitCode.OK
        assert connection.lines[-1] == b"quit"
    assert '"event": "ended"' in (tmp_path / "log").read_text(encoding="ascii")


@in_loop
async def test_plain_lines_and_quiet(tmp_path: Path) -> None:
    async with server(Say(MOVE), Say(END)) as scripted:
        for option in ("--plain", "--quiet"):
            async with on_terminal(scripted, tmp_path, option) as terminal:
                connection = await scripted.connection(("--plain", "--quiet").index(option))
                await connection.done.wait()
                assert await terminal.end(signal.SIGTERM) == ExitCode.OK
                assert b"\x1b" not in terminal.seen
                assert (b"Logged in as Guest" in terminal.seen) is (option == "--plain")
                assert bool(terminal.seen) is (option == "--plain")


@in_loop
async def test_a_bug_in_the_view_is_reported_and_ends_only_the_view(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recorder.live.screen._EVERY_S", 0.01)
    monkeypatch.setattr("recorder.live.screen._PROGRESS_S", 0.01)
    messages: list[str] = []

    def look(first: int, most: int) -> Snapshot:
        raise KeyError

    await Screen(ScreenMode.PLAIN, MessagePrinter()).run(
        look, lambda event, sentence, /, **facts: messages.append(event)
    )
    assert messages == ["view_lost"]
