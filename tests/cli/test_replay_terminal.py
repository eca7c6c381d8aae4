"""``replay terminal`` on pseudo-terminals, in tmux, and as lines without a terminal."""

import contextlib
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from fcntl import ioctl
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import WATCHER, Cli
from tests.support.effort import long_after
from tests.support.programs import program

ENTER, LEAVE, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"
COMMAND = (sys.executable, "-m", "recorder", "replay", "terminal", str(WATCHER))
FAILING = """
import recorder.replay.terminal.watch as scene
from recorder.cli import main
real, left = scene.draw, iter(range(2))
def draw(*what):
    if next(left, None) is None:
        raise ZeroDivisionError("a bug")
    return real(*what)
scene.draw = draw
main()
"""


class Terminal:
    """A command on a terminal of 80 × 24."""

    def __init__(self, *command: str, **environment: str) -> None:
        self.master, slave = pty.openpty()
        ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        self.slave = slave
        self.before = termios.tcgetattr(slave)
        self.seen = b""
        self.process = subprocess.Popen(
            ["setsid", "--ctty", *command],
            stdin=slave, stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm", **environment},
        )  # fmt: skip

    def until(self, text: bytes) -> None:
        end_s = time.monotonic() + 120
        while text not in self.seen:
            assert time.monotonic() < end_s, self.seen
            if select.select([self.master], [], [], 0.05)[0]:
                self.seen += os.read(self.master, 1 << 16)

    def end(self) -> int:
        """Wait for the command's end; check that the terminal's settings are restored."""
        status, end_s = None, time.monotonic() + 120
        while status is None:
            assert time.monotonic() < end_s, self.seen
            with contextlib.suppress(subprocess.TimeoutExpired):
                status = self.process.wait(0.02)
            while select.select([self.master], [], [], 0)[0]:
                self.seen += os.read(self.master, 1 << 16)
        assert self.seen.count(ENTER) == self.seen.count(LEAVE) == self.seen.count(CURSOR)
        assert self.seen.rindex(LEAVE) > self.seen.rindex(ENTER)
        assert termios.tcgetattr(self.slave) == self.before
        return status


@contextlib.contextmanager
def terminal(*command: str, **environment: str) -> Iterator[Terminal]:
    made = Terminal(*command, **environment)
    try:
        made.until(b"game 1 of")
        yield made
    finally:
        made.process.kill()
        made.process.wait()
        os.close(made.slave)
        os.close(made.master)


def test_q_restores_the_terminal() -> None:
    with terminal(*COMMAND) as made:
        assert termios.tcgetattr(made.slave) != made.before
        os.kill(made.process.pid, signal.SIGTSTP)  # no shell can continue an orphan: it continues at once
        made.until(LEAVE)
        made.seen += b"."
        made.until(ENTER)
        os.write(made.master, b"q")
        assert made.end() == 0


def test_ctrl_c_restores_the_terminal() -> None:
    with terminal(*COMMAND) as made:
        os.write(made.master, b"\x03")
        assert made.end() == ExitCode.INTERRUPTED
        assert b"Interrupted.\r\n" in made.seen


def test_a_signal_restores_the_terminal() -> None:
    with terminal(*COMMAND) as made:
        made.process.terminate()
        assert made.end() == -signal.SIGTERM


def test_a_bug_restores_the_terminal() -> None:
    with terminal(sys.executable, "-c", FAILING, "replay", "terminal", str(WATCHER)) as made:
        assert made.end() == 1
        assert b"ZeroDivisionError" in made.seen[made.seen.rindex(LEAVE) :]


def codes_of(**environment: str) -> tuple[set[str], bool]:
    """The kinds of colours that a replay uses on a terminal, and whether its pieces are letters."""
    plain = {"LC_ALL": "C.UTF-8", "LC_CTYPE": "", "LANG": "", "COLORTERM": "", "NO_COLOR": ""}
    with terminal(*COMMAND, **{**plain, **environment}) as made:
        made.until(b"a  b  c  d  e  f  g  h")
        os.write(made.master, b"q")
        assert made.end() == 0
    codes = {code.decode() for code in re.findall(rb"\x1b\[0;([0-9;]*)m", made.seen)}
    kinds = {("many" if "8;5;" in code else "few" if re.search(r"\b[34][0-7]\b", code) else "none") for code in codes}
    return kinds - {"none"}, made.seen.isascii()


@pytest.mark.parametrize(
    ("environment", "colours", "letters"),
    long_after(
        4,
        [
            ({"TERM": "xterm"}, {"few"}, False),
            ({"TERM": "of-no-terminal"}, set(), False),
            ({"TERM": "xterm-256color", "NO_COLOR": "1"}, set(), False),
            ({"TERM": "xterm-256color", "LC_ALL": "C"}, {"many"}, True),
            ({"TERM": "xterm-256color"}, {"many"}, False),
            ({"TERM": "xterm", "COLORTERM": "truecolor"}, {"many"}, False),
            ({"TERM": "vt100"}, set(), False),
            ({"TERM": "vt100", "COLORTERM": "truecolor"}, set(), False),
            ({"TERM": "xterm-256color", "LC_ALL": "POSIX", "LANG": "C.UTF-8"}, {"many"}, True),
            ({"TERM": "xterm-256color", "LC_ALL": "", "LANG": "C"}, {"many"}, True),
            ({"TERM": "xterm-256color", "LC_ALL": "", "LANG": "en_US.UTF-8"}, {"many"}, False),
        ],
    ),
)
def test_a_terminal_gets_only_what_it_has(environment: dict[str, str], colours: set[str], letters: bool) -> None:
    assert codes_of(**environment) == (colours, letters)


# -- tmux --------------------------------------------------------------------------------------------------------


class Pane:
    """A shell in a separate tmux server."""

    def __init__(self, socket: Path) -> None:
        self._tmux = [program("tmux"), "-S", str(socket), "-f", "/dev/null"]
        self.run("new-session", "-d", "-x", "80", "-y", "24", "env PS1=shell: sh -i")

    def run(self, *words: str) -> str:
        return subprocess.run([*self._tmux, *words], capture_output=True, text=True, check=True).stdout

    def type(self, *keys: str) -> None:
        self.run("send-keys", *keys)

    def until(self, *texts: str) -> str:
        end_s = time.monotonic() + 120
        while True:
            shown = self.run("capture-pane", "-p")
            if all(text in shown for text in texts):
                return shown
            assert time.monotonic() < end_s, shown
            time.sleep(0.05)


@pytest.fixture
def pane(tmp_path: Path) -> Iterator[Pane]:
    made = Pane(tmp_path / "tmux")
    yield made
    made.run("kill-server")


@pytest.mark.needs("tmux")
def test_under_tmux(pane: Pane) -> None:
    pane.until("shell:")
    pane.type(f"LC_ALL=C.UTF-8 {shlex.join((*COMMAND, '--ascii', '--speed', '1/4'))}", "Enter")
    pane.until("game 1 of", ">  1/4x")
    pane.type("Space", "g")
    pane.until("Go to", "|| 1/4x")
    pane.type("5b", "Enter")
    shown = pane.until("  5... ")
    assert [line[0] for line in shown.splitlines()[2:10]] == list("87654321")
    pane.type("Left")
    pane.until("  5. ")
    pane.type("Right", "Right", "+", "+")
    pane.until("  6. ", "|| 1x")
    pane.type("S-Left")
    pane.until("  1. ")
    pane.type("f")
    pane.until("\n1 ")
    pane.run("resize-window", "-x", "20", "-y", "10")
    pane.until("This window is too")
    pane.run("resize-window", "-x", "120", "-y", "40")
    pane.until("|| 1x", "g go to")
    pane.type("C-z")
    assert "|| 1x" not in pane.until("Stopped", "\nshell:\n")  # the shell's second prompt: now it reads
    pane.type("fg", "Enter")
    pane.until("|| 1x", "g go to")
    pane.type("q")
    assert "|| 1x" not in pane.until("shell:fg", "\nshell:\n")
    pane.type("stty -a", "Enter")
    pane.until(" icanon", " echo ")


# -- lines -------------------------------------------------------------------------------------------------------


def test_lines_at_once(cli: Cli) -> None:
    lines = cli("replay", "terminal", WATCHER, "--speed", "max").stdout.splitlines()
    assert lines[0].startswith("  0:00  ")
    assert sum("  1. " in line for line in lines) == 5
    assert any("} " in line for line in lines)


def test_lines_are_printed_at_their_time(cli: Cli, tmp_path: Path) -> None:
    saved = tmp_path / "game.pgn"
    saved.write_text(
        '[White "A"]\n[Black "B"]\n[Result "1-0"]\n[TimeControl "60+0"]\n\n'
        "1. e4 {[%emt 0:00:00]} e5 {[%emt 0:00:20]} 2. Qh5 {[%emt 0:00:10] hello \x1b[2J} 1-0\n"
    )
    begin_s = time.monotonic()
    result = cli("replay", "terminal", saved, "--speed", "100")
    assert time.monotonic() - begin_s >= 0.29
    lines = result.stdout.splitlines()
    assert [line[:6] for line in lines] == ["  0:00"] * 2 + ["  0:20"] + ["  0:30"] * (len(lines) - 3)
    assert "1. e4" in lines[1]
    assert "2. Qh5" in lines[3]
    assert lines[-1].endswith("1-0")
    assert "\x1b" not in result.stdout
    begun = cli("replay", "terminal", saved, "--speed", "max", "--from", "2w").stdout.splitlines()
    assert "2. Qh5" in begun[0]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--speed", "0"), "is not a speed"),
        (("--speed", "fast"), "is not a speed"),
        (("--pause-at", "chat"), "Printed lines do not pause"),
        (("--speed", "max", "--loop"), "would never end"),
        (("--from", "x y"), "is not a position in a recording"),
        (("beef",), "or files, not both"),
        (("--player", "Morphy"), "--player selects games of the archive"),
    ],
)
def test_invalid_replay_options_are_refused(cli: Cli, words: tuple[str, ...], why: str) -> None:
    assert why in cli("replay", "terminal", WATCHER, *words, code=ExitCode.USAGE).stderr


def test_the_key_of_one_board_of_a_match_shows_both(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "match.bpgn"
    tags = '[WhiteA "Ann"]\n[BlackA "Bob"]\n[WhiteB "Cid"]\n[BlackB "Dan"]\n[Result "1-0"]\n[Outcome "Ann & Dan won"]\n'
    path.write_text(f"{tags}1A. e4 1B. d4 1a. e5\n")
    cli("import", str(path))
    key = cli.json("games", "--json", "--player", "Cid")[0]["key"]
    lines = cli("replay", "terminal", key, "--speed", "max").stdout.splitlines()
    assert [line[8:].split("  ")[:2] for line in lines if "e4" in line or "d4" in line] == [
        ["Ann-Bob", "1. e4"], ["Cid-Dan", "1. d4"],
    ]  # fmt: skip
    assert lines[-1].endswith("Ann-Bob  {Ann & Dan won} 1-0")


def test_games_of_the_archive(filled: Cli) -> None:
    key = filled.json("games", "--json")[0]["key"]
    assert " - " in filled("replay", "terminal", key[:10], "--speed", "max").stdout.splitlines()[0]
    assert "has no move 900w" in filled("replay", "terminal", key, "--from", "900w", code=ExitCode.INPUT).stderr


@pytest.fixture
def interrupts() -> Iterator[None]:
    """An engine ignores interrupts while its process runs; here no longer than a test."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("form", ["terminal", "server", "as-engine"])
def test_missing_games_and_files_without_games_are_reported(filled: Cli, tmp_path: Path, form: str) -> None:
    unmatched = filled("replay", form, "--since", "2099", code=ExitCode.FINDINGS)
    assert unmatched.stderr == "Error: No games to replay match these filters; `ics-recorder games` lists the games.\n"
    talk, diary = tmp_path / "talk.log", tmp_path / "diary.log"
    talk.write_text("fics% Morphy tells you: hello\n")
    diary.write_text("Dear diary,\nI played chess.\n")
    assert f"There is no game in {talk}." in filled("replay", form, talk, code=ExitCode.INPUT).stderr
    output = filled("replay", form, diary, code=ExitCode.INPUT).stderr
    assert output.endswith("diary.log: has no line of a chess server or engine\n")


@pytest.mark.usefixtures("interrupts")
def test_replay_as_engine_needs_one_game(filled: Cli) -> None:
    assert "an engine plays one: name its key" in filled("replay", "as-engine", code=ExitCode.USAGE).stderr
