"""The command as a whole: help, version, environment, errors, a closed pipe."""

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from recorder.archive.locate import default_archive
from recorder.cli import main
from recorder.errors import ExitCode
from tests.support.cli import WATCHER, Cli
from tests.test_docs import COMMANDS


def run(*words: str, **how: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "recorder", *words], capture_output=True, check=False, **how)


def test_python_m_recorder_runs_the_command() -> None:
    result = run("--version")
    assert result.returncode == 0
    assert result.stdout.startswith(b"ics-recorder, version ")


def test_unknown_command_is_a_usage_error() -> None:
    assert CliRunner().invoke(main, ["fly"]).exit_code == ExitCode.USAGE


def test_the_default_archive_is_in_the_users_data_folder(tmp_path: Path) -> None:
    code = "from recorder.cli.options import default_archive; print(default_archive())"
    env = {**os.environ, "XDG_DATA_HOME": str(tmp_path), "HOME": str(tmp_path)}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True)
    assert found.stdout.strip().startswith(str(tmp_path))
    assert default_archive().endswith("archive.sqlite")


def test_an_url_names_an_archive(filled: Cli) -> None:
    assert len(filled.json("games", "--json", "--db", f"sqlite:///{filled.archive}")) == 6
    for url in (
        "postgresql://x/y",
        "sqlite://",
        "sqlite:///:memory:",
        f"sqlite:///{filled.archive}?mode=ro",
        "http://x",
    ):
        message = filled("games", "--db", url, code=ExitCode.ARCHIVE).stderr
        assert message == f"Error: {url} is not the URL of an archive: give a path, or sqlite:/// and a path.\n"


def test_an_url_names_a_file_in_this_folder(filled: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(filled.archive.parent)
    assert len(filled.json("games", "--json", "--db", f"sqlite:///{filled.archive.name}")) == 6


def test_the_archive_is_also_named_before_the_command(filled: Cli, tmp_path: Path) -> None:
    elsewhere = {"ICS_RECORDER_DB": str(tmp_path / "none.sqlite")}
    for words in (["games"], ["sources"], ["export", "games"], ["db", "current"]):
        assert filled("--db", filled.archive, *words, env=elsewhere).stdout == filled(*words).stdout
    assert len(filled.json("--db", "none", "games", "--db", filled.archive, "--json")) == 6
    assert "none.sqlite" in filled("--db", tmp_path / "none.sqlite", "sources", "forget", "3f", code=4).stderr


def test_a_closed_pipe_prints_no_error(filled: Cli) -> None:
    command = [sys.executable, "-m", "recorder", "export", "games", "--db", str(filled.archive)]
    reader, writer = os.pipe()
    os.close(reader)
    result = subprocess.run(command, stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    assert result.returncode == ExitCode.PIPE
    assert result.stderr == b""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str) -> None:
    result = CliRunner().invoke(main, ["completion", shell])
    assert result.exit_code == 0
    assert "_ICS_RECORDER_COMPLETE" in result.stdout


def test_completion_knows_the_commands() -> None:
    env = {
        **os.environ,
        "_ICS_RECORDER_COMPLETE": "bash_complete",
        "COMP_WORDS": "ics-recorder expo",
        "COMP_CWORD": "1",
    }
    code = "from recorder.cli import main; main(prog_name='ics-recorder')"
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert found.stdout.split() == ["plain,export"]


@pytest.mark.parametrize("zone", ["Europe/Vienna", "UTC", "+02:00", "-0330"])
def test_zones(cli: Cli, zone: str) -> None:
    cli("import", "-n", "--tz", zone, __file__, code=ExitCode.INPUT)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "+25:00", "2", "../etc"])
def test_wrong_zones(cli: Cli, zone: str) -> None:
    assert "is not a time zone" in cli("import", "-n", "--tz", zone, __file__, code=ExitCode.USAGE).stderr


def _help(*words: str) -> str:
    result = CliRunner().invoke(main, [*words, "--help"], terminal_width=80)
    assert result.exit_code == ExitCode.OK
    return result.output


def test_every_command_has_a_whole_summary_on_one_line_of_80_columns() -> None:
    text = _help("--all")
    for heading in ("Get games in:", "Look:", "Get games out:", "Care:"):
        assert f"\n{heading}\n" in text
    for name in main.commands:
        (line,) = (line for line in text.split("\n") if line.startswith(f"  {name} "))
        assert line.endswith(".")
        assert not line.endswith("...")
        assert len(line) <= 80


RARE = {"completion", "conformance", "explain", "journal", "publish"}


def test_the_first_help_skips_rare_commands_and_options() -> None:
    listed = set(re.findall(r"^  ([a-z]+) ", _help(), re.MULTILINE))
    assert listed & {*main.commands} == {*main.commands} - RARE
    assert "as-engine" not in _help("replay").partition("Examples")[0]
    assert "as-engine" in _help("replay", "--all").partition("Examples")[0]
    brief, whole = _help("clocks"), _help("clocks", "--all")
    assert len(brief.splitlines()) <= 60
    assert "see `ics-recorder help filters`" in brief
    for word in ("--player", "--dask", "eval-engine"):
        assert word in whole
    assert "--dask" not in brief


def test_the_words_of_another_program_stay_its_own(cli: Cli, tmp_path: Path) -> None:
    """``conformance`` starts a program; what is behind its name is not for us."""
    seen = tmp_path / "seen"
    program = f"import sys; open({str(seen)!r}, 'w').write(' '.join(sys.argv[1:]))"
    cli("conformance", "--rule", "S12-4", sys.executable, "-c", program, "--help", "--all", code=ExitCode.FINDINGS)
    assert seen.read_text() == "--help --all"


def test_an_option_that_the_help_skips_works_and_help_of_all_commands_is_whole(filled: Cli) -> None:
    assert filled("games", "--rating-from", 1, "--json").stdout.startswith("[")
    for name, command in COMMANDS.items():
        text = _help(*name.split(), "--all")
        for param in command.params:
            if isinstance(param, click.Option):
                assert max(param.opts, key=len) in text, name


def test_options_are_listed_in_sections() -> None:
    text = _help("export", "pgn", "--all")
    filters, pgn, other = (text.index(f"\n{heading}:\n") for heading in ("Filters", "PGN", "Options"))
    assert filters < text.index("--player") < pgn < text.index("--clock ") < other < text.index("--output")
    assert "KEY" not in text[other:]


_INTERRUPTED = """
import os, runpy, signal, sys

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == {!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupting())
sys.argv = ["ics-recorder", "games"]
{}
"""
_STARTS = ("import recorder.__main__; recorder.__main__.run()", "runpy.run_module('recorder', run_name='__main__')")


@pytest.mark.parametrize("start", _STARTS)
@pytest.mark.parametrize("module", ["recorder.cli", "click", "recorder.cli.options", "recorder.cli.games", "storage"])
def test_an_interrupt_while_modules_load_is_no_traceback(cli: Cli, module: str, start: str) -> None:
    cli("import", WATCHER)
    code = _INTERRUPTED.format(module, start)
    env = {**os.environ, "ICS_RECORDER_DB": str(cli.archive)}
    found = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert found.stderr in ("", "Interrupted; finished work is kept.\n")
    assert found.returncode in (-signal.SIGINT, ExitCode.INTERRUPTED)
    assert found.stdout == ""


def on_terminal(home: Path, **variables: str) -> str:
    """What the program alone prints on a terminal."""
    ours, theirs = os.openpty()
    env = {**os.environ, "HOME": str(home), "XDG_DATA_HOME": str(home)}
    env.pop("ICS_RECORDER_DB", None)
    env |= variables
    subprocess.run([sys.executable, "-m", "recorder"], stdout=theirs, stderr=theirs, env=env, check=False)
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    return shown


def test_without_an_archive_a_terminal_shows_what_to_begin_with(tmp_path: Path) -> None:
    shown = on_terminal(tmp_path)
    assert all(len(line) <= 80 for line in shown.splitlines())
    for words in ("import --find", "record freechess.org", "import GAMES.pgn", "make demo", "--help"):
        assert words in shown
    (tmp_path / "own.sqlite").touch()
    assert "Usage: " in on_terminal(tmp_path, ICS_RECORDER_DB="~/own.sqlite")
    (tmp_path / "ics-recorder").mkdir()
    (tmp_path / "ics-recorder" / "archive.sqlite").touch()
    assert "Usage: " in on_terminal(tmp_path)
