"""Runs everything on one page in a temporary folder: ``python -m tests.docs.run_page PAGE``.

With ``--write`` the outputs on the page are replaced by those of this run where they differ. One process runs all
commands of a page, so that each costs its own work only; those that need a shell are processes of their own.

A picture on the page, such as ``../images/race.png``, must look like the file ``race.png`` that a command of the page
writes. ``--write`` replaces it, with fewer colours, so that it is small. Letters may differ between versions of
matplotlib, so the pictures need not be equal point by point.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.docs.pages import ROOT, Block, blocks, fits, steps, words_of

_END = b"\0end\0"
_PICTURE = re.compile(r"^!\[[^\]\n]+\]\((\.\./images/([\w-]+\.(?:png|gif)))\)$", re.MULTILINE)
_COLOURS = 48
_MOST_DIFFERENCE = 4.0
"""Mean difference of a colour, of 255, up to which two pictures are the same."""


class Terminal:
    """Standard input, output and errors of this process on a terminal, as long as a command runs."""

    def __init__(self) -> None:
        self._ours, self._theirs = os.openpty()

    def run(self, command: Callable[[], int]) -> tuple[int, str]:
        """The exit status of a command, and everything that it prints."""
        pieces = bytearray()

        def read() -> None:
            while not pieces.endswith(_END):
                pieces.extend(os.read(self._ours, 65536))

        reader = threading.Thread(target=read)
        reader.start()
        try:
            with self._instead():
                status = command()
        finally:
            os.write(self._theirs, _END)
            reader.join()
        return status, pieces.removesuffix(_END).decode().replace("\r\n", "\n")

    def close(self) -> None:
        """Remove the terminal."""
        os.close(self._ours)
        os.close(self._theirs)

    @contextlib.contextmanager
    def _instead(self) -> Iterator[None]:
        old = sys.stdin, sys.stdout, sys.stderr
        kept = [os.dup(number) for number in range(3)]
        for number in range(3):
            os.dup2(self._theirs, number)
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115  # open while the process runs
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115  # open while the process runs
        try:
            yield
        finally:
            for stream in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError):
                    stream.flush()
            sys.stdin, sys.stdout, sys.stderr = old
            for number, old_one in enumerate(kept):
                os.dup2(old_one, number)
                os.close(old_one)


def run_command(command: str) -> int:
    """Run one command line; its exit status."""
    words = words_of(command)
    if words is None or words[0] not in ("ics-recorder", "export"):
        return subprocess.run(["bash", "-c", command], check=False).returncode
    if words[0] == "export":
        name, value = words[1].split("=", 1)
        os.environ[name] = value
        return 0
    return run_ours([name for word in words[1:] for name in (sorted(map(str, Path().glob(word))) or [word])])


def run_ours(words: list[str]) -> int:
    """Run a command of ours in this process; its exit status."""
    from recorder.cli import main

    try:
        main(words, prog_name="ics-recorder")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0


def look_alike(one: Path, other: Path) -> bool:
    """Whether two pictures have the same size and nearly the same colours."""
    from PIL import Image, ImageChops, ImageStat

    with Image.open(one) as first, Image.open(other) as second:
        if first.size != second.size:
            return False
        difference = ImageChops.difference(first.convert("RGB"), second.convert("RGB"))
    return max(ImageStat.Stat(difference).mean) <= _MOST_DIFFERENCE


def write_small(made: Path, to: Path) -> None:
    """Write a picture with few colours; one that moves has few."""
    if made.suffix == ".gif":
        shutil.copy(made, to)
        return
    from PIL import Image

    with Image.open(made) as picture:
        picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(to, optimize=True)


class Page:
    """One page that is being run."""

    def __init__(self, path: Path, write: bool) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.faults: list[str] = []
        self._path, self._write = path, write
        self._terminal = Terminal()
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._printed = ""
        self._changes: list[tuple[int, int, str]] = []

    def run(self) -> None:
        """Run all blocks, and write the page if it is to be written."""
        for block in blocks(self.text):
            if block.not_run is None:
                self._run_block(block)
        self._compare_pictures()
        if self._write:
            for start, end, text in reversed(self._changes):
                self.text = self.text[:start] + text + self.text[end:]
            self._path.write_text(self.text, encoding="utf-8")

    def _fault(self, block: Block, text: str) -> None:
        self.faults.append(f"{self._path}:{block.line}: {text}")

    def _run_block(self, block: Block) -> None:
        if block.language == "console":
            self._run_console(block)
        elif block.language == "sh":
            for line in block.body.splitlines():
                command = " ".join(shlex.split(line, comments=True)) and line.split("  #")[0]
                if command:
                    self._command(block, command)
        elif block.language == "run":
            self._command(block, block.body)
        elif block.language == "python":
            self._run_program(block)
        elif block.language == "sql":
            with contextlib.closing(sqlite3.connect(os.environ["ICS_RECORDER_DB"])) as archive:
                archive.executescript(block.body)
        elif block.printed and not fits(block.body, self._printed):
            self._differs(block, block.body, self._printed)
            self._changes.append((block.start, block.end, self._printed))

    def _command(self, block: Block, command: str) -> str:
        status, printed = self._terminal.run(lambda: run_command(command))
        printed = printed.replace(f"{Path.cwd()}/", "")
        if status != block.status:
            self._fault(block, f"exit status {status}, not {block.status}: {command}\n{printed}")
        return printed

    def _compare_pictures(self) -> None:
        for match in _PICTURE.finditer(self.text):
            shown, made = self._path.parent / match[1], Path(match[2])
            if not made.exists() or (shown.exists() and look_alike(shown, made)):
                continue
            if self._write:
                write_small(made, shown)
            else:
                line = self.text.count("\n", 0, match.start()) + 1
                self.faults.append(f"{self._path}:{line}: {match[2]} of the commands looks different: use --write")

    def _run_console(self, block: Block) -> None:
        parts = []
        differs = False
        sources = [f"$ {part}" for part in f"\n{block.body}".split("\n$ ")[1:]]
        for (command, shown), source in zip(steps(block.body), sources, strict=True):
            printed = self._command(block, command)
            if not fits(shown, printed):
                self._differs(block, shown, printed, command)
                differs = True
                kept = source.splitlines()
                count = 1
                while kept[count - 1].endswith("\\"):
                    count += 1
                source = "\n".join([*kept[:count], *(line.rstrip() for line in printed.strip("\n").splitlines())])
            parts.append(source.strip("\n"))
        if differs:
            self._changes.append((block.start, block.end, "\n".join(parts) + "\n"))

    def _run_program(self, block: Block) -> None:
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile("\n" * block.line + block.body, str(self._path), "exec"), self._names)
        except Exception:
            self._fault(block, traceback.format_exc())
        self._printed = printed.getvalue()

    def _differs(self, block: Block, shown: str, printed: str, command: str = "the program") -> None:
        if not self._write:
            self._fault(block, f"{command} prints\n{printed}\nbut the page shows\n{shown}")


def prepare(folder: Path) -> None:
    """Make the folder the current one: the bundled logs, a home of its own, and ``ics-recorder`` for the shell."""
    for name in ("tests", "examples"):
        (folder / name).symlink_to(ROOT / name)
    tools = folder / ".tools"
    tools.mkdir()
    script = tools / "ics-recorder"
    script.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m recorder "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    for name in [name for name in os.environ if name.startswith(("ICS_RECORDER_", "XDG_"))]:
        del os.environ[name]
    os.environ |= {"HOME": str(folder), "TERM": "dumb", "COLUMNS": "100", "LINES": "40", "PYTHONPATH": str(ROOT)}
    os.environ |= {"PATH": f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}", "MPLBACKEND": "agg"}
    os.environ |= {"ICS_RECORDER_DB": "games.sqlite", "TZ": "UTC"}
    os.chdir(folder)


def run_page(path: Path, write: bool = False) -> list[str]:
    """Run a page; what is not as it shows. This process has another environment and folder after it."""
    page = Page(path.resolve(), write)
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        page.run()
        os.chdir("/")
    return page.faults


def main(arguments: list[str]) -> int:
    """Run the page; 1 if anything is not as it shows."""
    write = "--write" in arguments
    (name,) = [argument for argument in arguments if argument != "--write"]
    faults = run_page(Path(name), write)
    print("\n".join(faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
