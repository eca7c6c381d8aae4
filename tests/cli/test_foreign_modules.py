"""What lies in the folder where the program is started is never run."""

from __future__ import annotations

import asyncio
import os
import pty
import signal
import sys
from pathlib import Path

from recorder.exit_codes import ExitCode
from tests.cli.test_screen import Terminal, server
from tests.support.live import in_loop


@in_loop
async def test_modules_in_the_current_folder_are_not_taken(tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    for name in ("json", "select", "queue", "chess"):
        (here / f"{name}.py").write_text("open('ran', 'w').close()\nraise ImportError('a module of somebody else')\n")
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
