"""The configuration file: precedence, kinds of values, errors, and what ``config`` prints."""

from collections.abc import Callable
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from recorder.cli import main
from recorder.cli.configuration import SHARED, configurable
from recorder.errors import ExitCode
from tests.support.cli import Cli
from tests.test_docs import COMMANDS


@pytest.fixture
def config(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a configuration file."""

    def write(text: str) -> Path:
        path = tmp_path / "ics.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def count(cli: Cli, *words: object, **how: object) -> int:
    return len(cli.json(*words, **how))


def test_option_environment_file_default_in_this_order(filled: Cli, config: Callable[[str], Path]) -> None:
    file = config("[games]\nlast = 3\njson = true\n")
    assert count(filled, "--config", file, "games") == 3
    variable = {"ICS_RECORDER_GAMES_LAST": "2"}
    assert count(filled, "--config", file, "games", env=variable) == 2
    assert count(filled, "--config", file, "games", "--last", 1, env=variable) == 1
    assert count(filled, "games", "--json") == 6
    assert count(filled, "games", env={"ICS_RECORDER_CONFIG": str(file)}) == 3
    other = file.with_name("other.toml")
    other.write_text("[games]\nlast = 1\njson = true\n", encoding="utf-8")
    assert count(filled, "--config", other, "games", env={"ICS_RECORDER_CONFIG": str(file)}) == 1


def test_the_archive_of_the_file(filled: Cli, config: Callable[[str], Path], tmp_path: Path) -> None:
    """``--db`` before or after the command, then the variable, then the command's table, then [global]."""
    missing = tmp_path / "missing.sqlite"

    def run(*words: object, env: dict[str, str] | None = None, code: int = 0) -> str:
        result = CliRunner().invoke(main, [str(word) for word in words], env=env or {})
        assert result.exit_code == code, result.output
        return result.stdout

    everywhere = config(f"[global]\ndb = '{filled.archive}'\n")
    assert run("--config", everywhere, "games").count("\n") == 7
    assert run("--config", everywhere, "export", "games").count("\n") == 6
    assert run("--config", everywhere, "sources").count("\n") == 3
    for words in (["--db", missing, "games"], ["games", "--db", missing]):
        run("--config", everywhere, *words, code=ExitCode.ARCHIVE)
    run("--config", everywhere, "games", env={"ICS_RECORDER_DB": str(missing)}, code=ExitCode.ARCHIVE)
    own = config(f"[global]\ndb = '{missing}'\n[games]\ndb = '{filled.archive}'\n")
    assert run("--config", own, "games").count("\n") == 7
    run("--config", own, "sources", code=ExitCode.ARCHIVE)


def test_arrays_flags_and_dates(filled: Cli, config: Callable[[str], Path]) -> None:
    players = [game["white"]["handle"] for game in filled.json("games", "--json")]
    wanted = sorted({players[0], players[1]})
    file = config(f"[games]\nplayer = {wanted}\njson = true\n")
    assert (
        filled("--config", file, "games").stdout
        == filled("games", "--json", "--player", wanted[0], "--player", wanted[1]).stdout
    )
    one = config(f"[games]\nplayer = '{wanted[0]}'\njson = true\n")
    assert filled("--config", one, "games").stdout == filled("games", "--json", "--player", wanted[0]).stdout
    assert count(filled, "--config", config("[games]\njson = true\nrated = false\n"), "games") == count(
        filled, "games", "--json", "--unrated"
    )
    assert count(filled, "--config", config("[games]\njson = true\nsince = 2999-01-01\n"), "games") == 0
    lag = config('[export.pgn]\nclock = ["clk", "lag"]\ncomments = true\n')
    assert (
        filled("--config", lag, "export", "pgn").stdout
        == filled("export", "pgn", "--clock", "clk,lag", "--comments").stdout
    )
    none = config("[export.pgn]\nclock = []\n")
    assert filled("--config", none, "export", "pgn").stdout == filled("export", "pgn", "--clock", "none").stdout


def test_a_home_folder_is_found(filled: Cli, config: Callable[[str], Path]) -> None:
    file = config("[games]\ndb = '~/archive.sqlite'\njson = true\n")
    result = CliRunner().invoke(main, ["--config", str(file), "games"], env={"HOME": str(filled.archive.parent)})
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[games]\n\nlst = 3\n", "{file}, line 3: [games] has no option 'lst'; did you mean 'last'?"),
        ("[games]\nlist = true\nhelp = true\n", "{file}, line 2: [games] has no option 'list'; did you mean 'last'?"),
        ("[games]\nconfig = 'x'\n", "{file}, line 2: [games] has no option 'config'."),
        ("[gmes]\n", "{file}, line 1: there is no command 'gmes'; did you mean 'games'?"),
        ("last = 3\n", "{file}, line 1: write 'last' below [global] or a command's table such as [games]."),
        ("games = 3\n", "{file}, line 1: 'games' is a table: write its options below [games]."),
        ("games.last = 0\n", "Invalid value for 'last' in {file}, line 1: 0 is not a whole number of 1 or more."),
        ("games = {{last = 'x'}}\n", "Invalid value for 'last' in {file}: 'x' is not a whole number of 1 or more."),
        ("[global]\nlast = 3\n", "{file}, line 2: [global] has no option 'last', only csv-raw, db, journal-dir"),
        ("[games]\nlast = 1.5\n", "'last' in {file}, line 2: '1.5' is not a whole number of 1 or more."),
        ("[games]\nlast = true\n", "'last' in {file}, line 2: expected a text or a number, found true."),
        ("[games]\njson = 'yes'\n", "'json' in {file}, line 2: expected true or false, found 'yes'."),
        ("[games]\nplayer = ['A', true]\n", "'player' in {file}, line 2: expected an array of texts, found ['A'"),
        ("[games]\ninclude = 'studied'\n", "'include' in {file}, line 2: 'studied' is not one of examined"),
        ("[games]\nsince = 2020-01-01T00:00:00\n", "'since' in {file}, line 2: expected a text or a number"),
        ("[games]\nme = ['A']\n", "'me' in {file}, line 2: expected a text or a number, found ['A']."),
        ("[games\n", "{file} cannot be read as TOML: "),
    ],
)  # fmt: skip
def test_an_error_is_one_sentence_with_the_place(
    text: str, sentence: str, filled: Cli, config: Callable[[str], Path]
) -> None:
    file = config(text.replace("{{", "{").replace("}}", "}"))
    result = filled("--config", file, "games", code=ExitCode.USAGE)
    assert result.stderr.splitlines()[-1].startswith("Error: ")
    assert sentence.format(file=file) in result.stderr
    assert result.stdout == ""


def test_a_file_that_is_not_utf_8_or_missing(filled: Cli, config: Callable[[str], Path]) -> None:
    file = config("")
    file.write_bytes(b"[games]\nme = '\xff'\n")
    assert f"{file} cannot be read as TOML" in filled("--config", file, "games", code=ExitCode.USAGE).stderr
    assert "does not exist" in filled("--config", "none.toml", "games", code=ExitCode.USAGE).stderr


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("[record]\npassword = 'openSesame'\n", ["record"]),
        ("password = 'openSesame'\n", ["games"]),
        ("[global]\npassword = 'openSesame'\n", ["games"]),
        ("[replay.server]\npassword = 'openSesame'\n", ["replay", "server"]),
    ],
)
def test_passwords_are_refused_and_never_printed(
    text: str, command: list[str], filled: Cli, config: Callable[[str], Path]
) -> None:
    file = config(text)
    for words in (command, ["config", "show"]):
        result = filled("--config", file, *words, code=ExitCode.USAGE)
        assert "passwords are not read from a configuration file. Set ICS_RECORDER_PASSWORD, or store" in result.stderr
        assert "openSesame" not in result.output


def test_the_password_of_a_login_is_not_shown(filled: Cli, config: Callable[[str], Path]) -> None:
    file = config("[record]\nuser = 'Ann'\n")
    shown = filled("--config", file, "config", "show", "--all", env={"ICS_RECORDER_PASSWORD": "openSesame"})
    assert "Ann" in shown.stdout
    assert "openSesame" not in shown.output


def test_help_and_completion_ignore_the_file(filled: Cli, config: Callable[[str], Path]) -> None:
    file = config("[games\n")
    assert "Usage: " in filled("--config", file, "games", "--help").stdout
    assert filled("--config", file, "completion", "bash").stdout
    assert filled("--config", file, "config", "path").stdout == f"{file}\n"
    filled("--config", file, "config", "show", code=ExitCode.USAGE)


def test_the_default_file_is_in_the_users_configuration_folder(
    filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "folder"
    monkeypatch.setattr("recorder.cli.configuration.click.get_app_dir", lambda name: str(folder / name))
    monkeypatch.delenv("ICS_RECORDER_CONFIG")
    assert filled("config", "path").stdout == f"{folder / 'ics-recorder' / 'config.toml'}\n"
    assert count(filled, "games", "--json") == 6
    (folder / "ics-recorder").mkdir(parents=True)
    (folder / "ics-recorder" / "config.toml").write_text("[games]\nlast = 1\n", encoding="utf-8")
    assert count(filled, "games", "--json") == 1


def test_show_prints_what_is_set_and_where(filled: Cli, config: Callable[[str], Path]) -> None:
    file = config("[global]\nno-guests = true\n\n[export.pgn]\n# times\nclock = ['clk', 'lag']\n")
    env = {"ICS_RECORDER_GAMES_LAST": "5"}
    rows = filled.table("--config", file, "config", "show", env=env)
    shown = {(row["Command"], row["Option"]): (row["Value"], row["From"]) for row in rows}
    databases = sum("db" in dict(configurable(command)) for command in COMMANDS.values())
    guests = sum("no-guests" in dict(configurable(command)) for command in COMMANDS.values())
    assert shown == {
        (f"{databases} commands", "db"): (str(filled.archive), "variable ICS_RECORDER_DB"),
        (f"{guests} commands", "no-guests"): ("true", f"{file}, line 2"),
        ("export pgn", "clock"): ("clk,lag", f"{file}, line 6"),
        ("games", "last"): ("5", "variable ICS_RECORDER_GAMES_LAST"),
    }
    values = filled.json("--config", file, "config", "show", "games", "--json", env=env)
    assert [value["option"] for value in values] == [key for key, _ in configurable(COMMANDS["games"])]
    by_option = {value["option"]: (value["value"], value["from"], value["place"]) for value in values}
    assert by_option["no-guests"] == ("true", "file", f"{file}, line 2")
    assert by_option["last"] == ("5", "environment", "ICS_RECORDER_GAMES_LAST")
    assert by_option["unique"] == ("false", "default", None)
    everything = filled.json("config", "show", "--all", "--json")
    assert len(everything) == sum(len(dict(configurable(command))) for command in COMMANDS.values())


def test_show_without_a_file(filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ICS_RECORDER_CONFIG")
    monkeypatch.setattr("recorder.cli.configuration.click.get_app_dir", lambda _name: str(tmp_path))
    message = filled("config", "show", "games").stderr
    assert "(it does not exist)" in message
    assert "There is no command 'gmaes'" in filled("config", "show", "gmaes", code=ExitCode.USAGE).stderr


def test_every_table_is_a_command_and_every_key_an_option() -> None:
    for name, command in COMMANDS.items():
        inner = command.commands if isinstance(command, click.Group) else {}
        assert not set(dict(configurable(command))) & set(inner), name


def test_shared_options_mean_the_same_everywhere() -> None:
    for key in SHARED:
        options = [dict(configurable(command)).get(key) for command in COMMANDS.values()]
        found = [option for option in options if isinstance(option, click.Option)]
        assert len(found) > 1, key
        assert len({option.help for option in found}) == 1, key
