"""The examples for a service say what the program understands."""

from __future__ import annotations

import configparser
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from recorder.cli import main
from recorder.cli.password import CREDENTIAL, find_password
from recorder.cli.terminal import ExitCode

EXAMPLES = Path(__file__).parents[2] / "examples"
RECORD = main.commands["record"]


@pytest.fixture
def unit() -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=True, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]  # as configparser's documentation has it
    parser.read_string((EXAMPLES / "ics-recorder.service").read_text(encoding="utf-8"))
    return parser


def test_the_unit_runs_a_command_that_exists(unit: configparser.ConfigParser) -> None:
    program, command, *words = shlex.split(unit["Service"]["ExecStart"])
    assert Path(program).name == "ics-recorder"
    options = {name for param in main.commands[command].params for name in param.opts}
    assert {word for word in words if word.startswith("-")} <= options
    assert Path(words[words.index("--config") + 1]).name == "record.toml"


def test_what_another_try_cannot_mend_is_not_tried_again(unit: configparser.ConfigParser) -> None:
    service = unit["Service"]
    statuses = {ExitCode(int(status)) for status in service["RestartPreventExitStatus"].split()}
    assert statuses == {ExitCode.USAGE, ExitCode.JOURNAL, ExitCode.LOGIN}
    assert (service["Restart"], service["KillSignal"]) == ("on-failure", "SIGTERM")


def test_what_is_written_stands_in_the_units_own_folder(unit: configparser.ConfigParser) -> None:
    values = tomllib.loads((EXAMPLES / "record.toml").read_text(encoding="utf-8"))
    for name in ("journal-dir", "db", "pgn", "log"):
        assert Path(values[name]).is_relative_to(Path("/var/lib") / unit["Service"]["StateDirectory"])


def test_the_configuration_is_understood() -> None:
    context = RECORD.make_context("record", ["--config", str(EXAMPLES / "record.toml")])
    assert context.params["server"].host == "freechess.org"
    assert (context.params["guest"], context.params["limit"]) == (True, 20)
    for name in tomllib.loads((EXAMPLES / "record.toml").read_text(encoding="utf-8")):
        assert context.get_parameter_source(_parameter(name)) is click.core.ParameterSource.DEFAULT_MAP


def _parameter(name: str) -> str:
    (found,) = [param.name for param in RECORD.params if f"--{name}" in param.opts or param.name == name]
    assert found is not None
    return found


def test_options_that_are_commented_out_exist(unit: configparser.ConfigParser) -> None:
    text = (EXAMPLES / "record.toml").read_text(encoding="utf-8")
    names = [line[2:].split(" = ")[0] for line in text.splitlines() if line.startswith("# ") and " = " in line]
    assert names == ["user", "observe-handles"]
    assert all(map(_parameter, names))
    assert f"\n#LoadCredential={CREDENTIAL}:" in (EXAMPLES / "ics-recorder.service").read_text(encoding="utf-8")


def test_the_password_is_what_the_service_manager_hands_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ICS_RECORDER_PASSWORD", raising=False)
    monkeypatch.setenv("CREDENTIALS_DIRECTORY", str(tmp_path))
    (tmp_path / CREDENTIAL).write_text("s3cret word\n", encoding="utf-8")
    assert find_password("Ann", "chess.example") == "s3cret word"
    (tmp_path / CREDENTIAL).write_bytes(b"\xff\n")
    with pytest.raises(click.UsageError, match=r"no text in UTF-8"):
        find_password("Ann", "chess.example")
    (tmp_path / CREDENTIAL).write_text("\n", encoding="utf-8")
    with pytest.raises(click.UsageError, match="is empty"):
        find_password("Ann", "chess.example")
