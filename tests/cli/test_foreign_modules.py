"""The program never runs modules of the folder in which it is started."""

import asyncio
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.live.test_screen import Terminal, server
from tests.support.cli import WATCHER, Cli
from tests.support.live import in_loop

SCRIPT = (Path(sys.executable).with_name("ics-recorder"),)
MODULE = (sys.executable, "-m", "recorder")
OURS = ("storage", "exporters", "migrations")


def folder_with(folder: Path, *names: str) -> Path:
    """A folder with modules of these names, which leave a file ``ran`` there when they are run."""
    folder.mkdir()
    for name in names:
        (folder / f"{name}.py").write_text(
            "open('ran', 'w').close()\nraise ImportError('a module of another program')\n"
        )
    return folder


def test_the_command_works_beside_modules_with_names_of_its_packages(cli: Cli, tmp_path: Path) -> None:
    here = folder_with(tmp_path / "here", *OURS)
    for command, *words in (
        (SCRIPT, "import", WATCHER),
        (MODULE, "games"),
        (SCRIPT, "export", "pgn"),
        (MODULE, "verify"),
        (SCRIPT, "clocks"),
    ):
        done = subprocess.run(
            [*command, *words],
            cwd=here,
            env={**os.environ, "ICS_RECORDER_DB": str(cli.archive)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
    assert not (here / "ran").exists()


@pytest.mark.parametrize("name", OURS)
def test_a_program_beside_such_a_module_gets_one_sentence(name: str, tmp_path: Path) -> None:
    here = folder_with(tmp_path / "here", name)
    (here / "program.py").write_text(
        "import recorder\n"
        f"print(len(list(recorder.read_games({str(WATCHER)!r}))))\n"
        "for public in recorder.__all__:\n"
        "    try:\n"
        "        getattr(recorder, public)\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
        "import recorder.archive\n"
    )
    done = subprocess.run([sys.executable, "program.py"], cwd=here, capture_output=True, text=True)
    sentence = (
        f"{here / name}.py hides the package {name!r} of ics-recorder: rename that file, or start Python elsewhere."
    )
    first, *others = done.stdout.splitlines()
    assert first == "5"
    assert set(others) <= {sentence}
    assert done.stderr.splitlines()[-1] == f"ImportError: {sentence}"
    assert not (here / "ran").exists()


@pytest.mark.long
@in_loop
async def test_modules_in_the_current_folder_are_not_taken(tmp_path: Path) -> None:
    here = folder_with(tmp_path / "here", "json", "select", "queue", "chess", *OURS)
    master, slave = pty.openpty()
    async with server() as scripted:
        process = await asyncio.create_subprocess_exec(
            *(Path(sys.executable).with_name("ics-recorder"), "record", f"127.0.0.1:{scripted.port}", "--guest"),
            *("--observe", "rated", "--journal-dir", tmp_path / "j", "--db", tmp_path / "a.sqlite"),
            cwd=here,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.DEVNULL,
            stderr=slave,
            env={**os.environ, "TERM": "xterm"},
        )
        terminal = Terminal(process, master, os.ttyname(slave))
        os.close(slave)
        try:
            await terminal.until(b"1 game observed")  # by the view's process
            while not (tmp_path / "a.sqlite").exists():  # by the archive's
                assert not (here / "ran").exists()
                await asyncio.sleep(0.02)
            assert await terminal.end(signal.SIGTERM) == ExitCode.OK
        finally:
            terminal.hang_up()
            if process.returncode is None:
                process.kill()
            await process.wait()
    assert not (here / "ran").exists()
