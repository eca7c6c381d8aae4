"""``import --find``: the logs of clients in their usual places are listed, and imported if the user agrees."""

import shutil
from pathlib import Path

import pytest

from recorder.archive.reading.inputs import CLIENTS, find_client_logs
from recorder.errors import ExitCode
from recorder.text import byte_size
from tests.support.cli import SERVER, Cli

PGN = SERVER.parent / "pgn" / "ficsgames-variants-by-year.pgn"
_FOLDERS = {
    "HOME": ".",
    "DOCUMENTS": "Documents",
    "SUPPORT": "Library/Application Support",
    "XDG_DATA": ".local/share",
    "APPDATA": "AppData/Roaming",
    "PROGRAMS": "Programs",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(tmp_path))
    for name in ("XDG_DATA_HOME", "APPDATA", "LOCALAPPDATA", "ProgramFiles", "ProgramFiles(x86)", "SystemDrive"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


def _put(source: Path, target: Path) -> Path:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    return target


@pytest.mark.parametrize(("client", "pattern"), [(client, one) for client, found in CLIENTS.items() for one in found])
def test_each_place_of_each_client(client: str, pattern: str, tmp_path: Path) -> None:
    place, _, below = pattern.partition("/")
    name = below.replace("**/", "").replace("*.debug", "games.debug").replace("*.pgn", "games.pgn")
    name = name[:-1] + "games.pgn" if name.endswith("/*") else name
    wanted = _put(PGN, tmp_path / _FOLDERS[place] / name.replace("*", "-1"))
    environment = {"APPDATA": str(tmp_path / "AppData/Roaming"), "ProgramFiles": str(tmp_path / "Programs")}
    assert [(one.client, one.path, one.size_bytes) for one in find_client_logs(environment, tmp_path)] == [
        (client, str(wanted), PGN.stat().st_size)
    ]


def test_they_are_listed_and_imported(home: Path, cli: Cli) -> None:
    log = _put(PGN, home / ".eboard" / "mygames.pgn")
    (home / ".eboard" / "eboard.log").write_text("no log of a server\n")
    listed = cli("import", "--find", "-n")
    assert listed.stdout.splitlines()[1:] == [f"eboard\t{byte_size(PGN.stat().st_size)}\t{log}"]
    assert cli.json("import", "--find", "-n", "--json") == [
        {"client": "eboard", "path": str(log), "size_bytes": PGN.stat().st_size}
    ]
    assert "give --yes" in cli("import", "--find", code=ExitCode.USAGE).stderr
    assert not cli.archive.exists()
    assert "3 games" in cli("import", "--find", "--yes").stdout
    cli("export", "pgn", "-o", home / "own.pgn")
    assert str(home / "own.pgn") not in cli("import", "--find", "-n").stdout, "what this program wrote"


def test_what_is_not_there_or_not_meant(home: Path, cli: Cli) -> None:
    assert "No log in the usual places of xboard" in cli("import", "--find", code=ExitCode.FINDINGS).stderr
    assert "give no PATH" in cli("import", "--find", PGN, code=ExitCode.USAGE).stderr
    assert "--yes is for --find" in cli("import", "--yes", PGN, code=ExitCode.USAGE).stderr
    assert "Name a PATH" in cli("import", code=ExitCode.USAGE).stderr
