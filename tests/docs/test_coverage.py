"""Every command, column, measure, picture, setting, variable and exit code is on a hand-written page."""

import re

import click
import pytest

import recorder.measures
import recorder.plots
from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, ON_REQUEST, PLY_COLUMNS, SIDE_COLUMNS
from recorder.cli import main
from recorder.errors import ExitCode
from tests.docs.cli_reference import cli_reference
from tests.docs.pages import ROOT, blocks, hand_written

TEXTS = {path.relative_to(ROOT / "docs").as_posix(): path.read_text(encoding="utf-8") for path in hand_written()}
ALL = "\n".join(TEXTS.values())
CODE = "\n".join([block.body for text in TEXTS.values() for block in blocks(text)] + re.findall(r"`([^`\n]+)`", ALL))
PRODUCT = [path for folder in ("recorder", "storage", "exporters", ".ci") for path in (ROOT / folder).rglob("*.py")]

VARIABLE = str.maketrans(" -", "__")


def commands(group: click.Group, path: str = "") -> dict[str, click.Command]:
    found: dict[str, click.Command] = {}
    for name, command in group.commands.items():
        found[path + name] = command
        if isinstance(command, click.Group):
            found |= commands(command, f"{path}{name} ")
    return found


@pytest.mark.parametrize("name", [name for name, one in commands(main).items() if not isinstance(one, click.Group)])
def test_every_command_is_on_a_page(name: str) -> None:
    """Options may stand between a group and its command, as in ``duplicates``."""
    words = name.split()
    assert re.search(r"\b" + r"\b.{0,40}\b".join(map(re.escape, words)) + r"\b", CODE), name


def test_every_option_is_in_the_section_of_its_command_or_shared() -> None:
    page = cli_reference()
    parts = re.findall(r"^###? ([^\n]+)\n(.*?)(?=^###? |\Z)", page, re.MULTILINE | re.DOTALL)
    sections = {heading.removeprefix("ics-recorder "): text for heading, text in parts}
    for name, command in commands(main).items():
        also = re.findall(r"^Also: (.*)", sections[name], re.MULTILINE)
        groups = re.findall(r"\[([^]]+)\]\(#[a-z-]+\)(?: without ([^;.]*))?", "".join(also))
        for option in command.params:
            if isinstance(option, click.Option):
                longest = max(option.opts, key=len)
                places = [text for text in (sections[name],) if f"{longest}" in re.findall(r"--[a-z0-9-]+", text)]
                places += [sections[heading] for heading, but in groups if f"`{longest}`" not in but]
                assert any(re.search(rf"^- `[^`]*{longest}\b|Also:.*`{longest}`", text, re.M) for text in places), name
                assert option.envvar in (
                    f"ICS_RECORDER_{name} {longest[2:]}".translate(VARIABLE).upper(),
                    "ICS_RECORDER_DB",
                )


@pytest.mark.parametrize(
    "column",
    sorted(
        {one.name for group in (PLY_COLUMNS, SIDE_COLUMNS, GAME_COLUMNS, EVENT_COLUMNS, ON_REQUEST) for one in group}
    ),
)
def test_every_column_is_on_the_page_of_tables(column: str) -> None:
    assert re.search(rf"^\| (?:\w+, )*{column}(?:, \w+)* \|", TEXTS["reference/tables.md"], re.MULTILINE)


@pytest.mark.parametrize("name", recorder.plots.PICTURES)
def test_every_picture_is_on_the_page_of_pictures(name: str) -> None:
    assert re.search(rf"^\| {name} \| `", TEXTS["reference/pictures.md"], re.MULTILINE)


def test_every_exit_code_is_on_its_page() -> None:
    rows = re.findall(r"^\| (\d+) \|", TEXTS["reference/configuration.md"], re.MULTILINE)
    assert [int(row) for row in rows] == [code.value for code in ExitCode]


def variables() -> set[str]:
    """The environment variables that the program reads by a name of its own."""
    source = "\n".join(path.read_text(encoding="utf-8") for path in PRODUCT)
    read = re.findall(r"""(?:environ|environment)(?:\.get\(|\[)["']([A-Z_]+)["']""", source)
    named = re.findall(r"""["'](ICS_RECORDER_[A-Z]+|NOTIFY_SOCKET|WATCHDOG_USEC)["']""", source)
    return {*read, *named}


def test_every_environment_variable_is_on_its_page() -> None:
    found = variables()
    assert {"ICS_RECORDER_DB", "ICS_RECORDER_PASSWORD", "NO_COLOR"} <= found
    listed = set(re.findall(r"`([A-Z_]+)`", TEXTS["reference/configuration.md"]))
    assert found <= listed, found - listed


def test_modules_and_targets_of_developers_exist() -> None:
    for module in set(re.findall(r"python -m ((?:tests|benchmarks|recorder|storage)[\w.]*)", ALL)):
        path = ROOT / module.replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert set(re.findall(r"`make ([a-z-]+)", ALL)) <= targets
