"""The documents are true: generated parts are fresh, commands and links exist."""

import contextlib
import re
import tomllib
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import recorder
from recorder.cli import main
from tests.docs.cli_reference import cli_reference
from tests.docs.python_reference import SECTIONS, python_reference
from tests.docs.run_page import Terminal, run_ours

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]


def all_commands(group: click.Group, path: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        found[f"{path}{name}"] = command
        if isinstance(command, click.Group):
            found |= all_commands(command, f"{path}{name} ")
    return found


COMMANDS = all_commands(main)


def used_commands(text: str) -> list[list[str]]:
    """What follows ``ics-recorder`` in the code of a document, up to a comment or the next command."""
    blocks = re.findall(r"```\w*\n(.*?)```", text, re.DOTALL) + re.findall(r"`([^`\n]+)`", text)
    return [
        match[1].split("#")[0].split("|")[0].split(">")[0].split()
        for block in blocks
        for match in re.finditer(r"ics-recorder ([^\n]*)", block)
    ]


def on_terminal(words: list[str], folder: Path, variables: dict[str, str]) -> str:
    """Run a command of ours, as a person sees it on a terminal of 80 columns."""
    assert words[0] == "ics-recorder"
    with pytest.MonkeyPatch.context() as patch, contextlib.closing(Terminal()) as terminal:
        patch.chdir(folder)
        for name, value in {**variables, "TERM": "dumb", "COLUMNS": "80"}.items():
            patch.setenv(name, value)
        status, shown = terminal.run(lambda: run_ours(words[1:]))
    assert status == 0, shown
    return shown


def test_command_reference_is_generated() -> None:
    assert (ROOT / "docs/reference/cli.md").read_text(encoding="utf-8") == cli_reference()


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_a_section(name: str) -> None:
    command = COMMANDS[name]
    assert command.help
    assert f"\n## ics-recorder {name}\n" in cli_reference()
    for param in command.params:
        if isinstance(param, click.Option):
            assert param.help, f"{name} {param.opts}"
            assert isinstance(param.envvar, str)
            assert re.fullmatch("ICS_RECORDER_[A-Z0-9_]+", param.envvar)  # a shell can set it


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the bundled logs, and the current folder of the test."""
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def without_sizes(text: str) -> str:
    """How large a picture is differs between versions of matplotlib."""
    return re.sub(r"\d+ kB", "n kB", text)


def test_the_session_of_the_readme_prints_what_it_shows(checkout: Path) -> None:
    (block,) = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    first, *steps = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    name, archive = first.strip().removeprefix("export ").split("=")
    assert len(steps) == 5
    for step in steps:
        command, printed = step.split("\n", 1)
        shown = on_terminal(command.split(), checkout, {name: archive})
        lines = [line.rstrip() for line in without_sizes(shown).strip().splitlines()]
        assert lines == without_sizes(printed).strip().splitlines()
    assert (checkout / "game.html").read_bytes().startswith(b"<!DOCTYPE html>")


def test_the_program_of_the_readme_prints_what_it_shows(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ((program, printed),) = re.findall(r"```python\n(.*?)```\n\nThis prints:\n\n```\n(.*?)```", README, re.DOTALL)
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out == printed


def test_python_reference_is_generated() -> None:
    assert (ROOT / "docs/reference/python.md").read_text(encoding="utf-8") == python_reference()


def test_python_reference_has_every_public_name_once() -> None:
    listed = [name for names in SECTIONS.values() for name in names]
    assert sorted(listed) == sorted(recorder.__all__)


def test_no_example_in_documents_imports_from_below_recorder() -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS if path.name != "architecture.md")
    books = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "examples").glob("*.ipynb"))
    code = "\n".join(re.findall(r"```python\n(.*?)```", pages, re.DOTALL)) + books
    assert "import recorder" in code
    assert not re.findall(
        r"^.*(?:from|import) (?:exporters|storage|recorder\.(?!plots|measures))\b.*$", code, re.MULTILINE
    )


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_and_options_in_documents_exist(path: Path) -> None:
    for words in used_commands(path.read_text(encoding="utf-8")):
        while words[0] in ("--config", "--db"):  # before the command, with a value
            words = words[2:]
        if words[0] in ("[OPTIONS]", "COMMAND", "--help", "--version"):
            continue
        name = words[0]
        assert name in COMMANDS, words
        if len(words) > 1 and f"{name} {words[1]}" in COMMANDS:
            name = f"{name} {words[1]}"
        if name == "conformance":  # behind its own options stand another program and the options of that
            asked = COMMANDS[name].make_context(name, words[1:], resilient_parsing=True)
            words = words[: len(words) - len(asked.params["program"])]
        options = {opt for param in COMMANDS[name].params for opt in (*param.opts, *param.secondary_opts)}
        used = {word.split("=")[0] for word in words if re.fullmatch(r"--?[a-z][a-z-]*(=.*)?", word)}
        assert used <= options | {"--help", "-h"}, words


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target


def test_every_page_is_in_the_index() -> None:
    """The navigation of the HTML pages is made of the indices; a page that is not there cannot be found."""
    folder = ROOT / "docs"
    pages = {path.relative_to(folder).as_posix() for path in folder.rglob("*.md")} - {"index.md"}
    linked = [
        (index.parent / page).relative_to(folder).as_posix()
        for index in (folder / "index.md", folder / "development.md", folder / "protocol/index.md")
        for page in re.findall(r"^- \[[^\]]+\]\(([^)#]+)\)", index.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert sorted(linked) == sorted(pages)


def test_keys_in_examples_are_of_the_demo() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in DOCUMENTS)
    of_a_game = r"\bics-recorder (?:show|report|export pgn|plot \w+|replay [a-z-]+) ([0-9a-f]{2,20})\b"
    assert set(re.findall(of_a_game, text)) == {"6af8"}


def test_the_game_of_the_examples_can_be_drawn(tmp_path: Path) -> None:
    archive, picture = f"{tmp_path}/demo.sqlite", f"{tmp_path}/race.svg"
    source = f"{ROOT}/tests/corpus/pgn/ficsgames-variants-by-year.pgn"
    for words in (["import", "--db", archive, source], ["plot", "race", "6af8", "--db", archive, "-o", picture]):
        result = CliRunner().invoke(main, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output


def test_the_changelog_describes_this_version() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
