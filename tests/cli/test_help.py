"""``help``: topics, whose examples run, and the help of commands."""

import re
import shlex
import shutil
from pathlib import Path

import pytest

from recorder.cli import main
from recorder.cli.help import TOPICS
from recorder.errors import ExitCode
from tests.support.cli import SERVER, WATCHER, Cli
from tests.test_docs import COMMANDS


@pytest.fixture
def folder(filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """The archive and the files that the examples name, in the current folder."""
    filled("import", SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn")
    shutil.copy(WATCHER, tmp_path / "session.log")
    (tmp_path / "logs").mkdir()
    shutil.copy(WATCHER, tmp_path / "logs")
    monkeypatch.chdir(tmp_path)
    return filled


@pytest.mark.parametrize("name", TOPICS)
def test_the_examples_of_a_topic_run(name: str, folder: Cli) -> None:
    text = folder("help", name).stdout
    source = folder.json("sources", "--json")[0]["id"][:4]
    examples = re.findall(r"^ +\$ (.+)$", text, re.MULTILINE)
    assert examples or name == "exit-codes"
    for example in examples:
        program, *words = shlex.split(example.replace("1bf8", source))
        assert program == "ics-recorder"
        folder(*words)


@pytest.mark.parametrize("name", TOPICS)
def test_a_topic_fits_on_two_screens(name: str, folder: Cli) -> None:
    about, text = TOPICS[name]
    assert not about.endswith(".")
    assert folder("help", name).stdout == text.strip("\n") + "\n"
    lines = text.strip().splitlines()
    assert len(lines) <= (80 if name == "filters" else 48)
    assert max(map(len, lines)) <= 80
    assert name not in main.commands


@pytest.mark.parametrize("name", TOPICS)
def test_options_and_commands_in_a_topic_exist(name: str) -> None:
    params = [param for command in COMMANDS.values() for param in command.params]
    options = {opt for param in params for opt in (*param.opts, *param.secondary_opts)}
    text = TOPICS[name][1]
    assert set(re.findall(r"--[a-z][a-z-]+", text)) <= options
    for quoted in re.findall(r"`ics-recorder ([a-z]+)[^`]*`", text):
        assert quoted in main.commands


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_is_what_its_option_prints(name: str, cli: Cli) -> None:
    assert cli("help", *name.split()).stdout == cli(*name.split(), "--help").stdout
    assert cli("help", "--all", *name.split()).stdout == cli(*name.split(), "--help", "--all").stdout


def test_help_lists_topics_and_commands(cli: Cli) -> None:
    listed = cli("help", "--all").stdout
    for name in (*TOPICS, *main.commands):
        assert re.search(rf"^  {name} ", listed, re.MULTILINE), name


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["filtres"], "There is no command or topic 'filtres'; did you mean 'filters'?"),
        (["export", "bpgm"], "There is no command or topic 'export bpgm'; did you mean 'bpgn'?"),
        (["games", "x"], "There is no command or topic 'games x': `ics-recorder help` lists both."),
    ],
)
def test_an_unknown_name_is_a_usage_error(words: list[str], sentence: str, cli: Cli) -> None:
    assert sentence in cli("help", *words, code=ExitCode.USAGE).stderr


def test_the_shell_completes_topics_and_commands(cli: Cli) -> None:
    def ask(typed: str, number: int) -> set[str]:
        env = {"_ICS_RECORDER_COMPLETE": "bash_complete", "COMP_WORDS": f"ics-recorder {typed}"}
        answer = cli(env={**env, "COMP_CWORD": str(number)}, prog_name="ics-recorder").stdout
        return {line.split(",")[1] for line in answer.splitlines()}

    assert ask("help ", 2) == {*TOPICS, *main.commands}
    assert ask("help fi", 2) == {"filters"}
    assert ask("help export p", 3) == {"pgn", "plies", "png"}
