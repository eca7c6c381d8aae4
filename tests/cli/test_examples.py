"""The examples of ``--help``: each command has two, and those that show what they print print it."""

import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from tests.cli.test_journal import leaky, recorded
from tests.support.cli import SERVER, WATCHER, Cli
from tests.test_docs import COMMANDS, on_terminal

SAVED = SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn"
LEAVES = {name: command for name, command in COMMANDS.items() if not isinstance(command, click.Group)}


def examples(command: click.Command) -> list[tuple[str, list[str]]]:
    """Each example that begins with a prompt, and the lines that it prints."""
    found: list[tuple[str, list[str]]] = []
    for line in (command.epilog or "").splitlines():
        if line.startswith("  $ "):
            found.append((line[4:], []))
        elif line.startswith("  ") and found and not re.match(r"  (\S+ )*ics-recorder ", line):
            found[-1][1].append(line[2:])
    return [(example, printed) for example, printed in found if printed]


SHOWN = {name: found for name, command in COMMANDS.items() if (found := examples(command))}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The logs and the archive of the examples."""
    shutil.copy(WATCHER, tmp_path / "session.log")
    shutil.copy(SAVED, tmp_path / "saved.pgn")
    recorded(tmp_path)
    (journal,) = tmp_path.glob("*.journal*")
    journal.rename(tmp_path / "session.journal")
    (journal,) = leaky(tmp_path / "old")
    journal.rename(tmp_path / "old.journal")
    (tmp_path / "old.log").write_bytes(b"login: Ann\n\rpassword: hunter22\n\r**** Starting session as Ann ****\n\r")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("name", LEAVES)
def test_every_command_has_two_examples(name: str) -> None:
    lines = [line for line in (LEAVES[name].epilog or "").splitlines() if line.startswith("  ")]
    assert sum(bool(re.search(rf"\bics-recorder (?:--\S+ \S+ )?{name}\b", line)) for line in lines) >= 2
    assert max(map(len, lines)) <= 100


def matches(shown: str, printed: list[str]) -> bool:
    """Whether the lines are those of an example, where ``...`` stands for any text."""
    pattern = ".*".join(re.escape(part) for part in "\n".join(printed).split("..."))
    return re.fullmatch(pattern.replace(r"\n.*\n", r"\n(?:.*\n)?"), shown, re.DOTALL) is not None


@pytest.mark.parametrize("name", [name for name in SHOWN if not name.startswith("config")])
def test_an_example_prints_what_it_shows(name: str, folder: Path) -> None:
    if name != "import":
        Cli(folder / "archive.sqlite")("import", "session.log", "saved.pgn")
    for example, printed in SHOWN[name]:
        text = on_terminal(shlex.split(example), folder, {"ICS_RECORDER_DB": "archive.sqlite"})
        lines = [re.sub(r".*\r|\x1b\[\w*", "", line).rstrip() for line in text.splitlines()]
        shown = "\n".join(line for line in lines if line)
        assert matches(shown, printed), f"{example}\n{shown}"
