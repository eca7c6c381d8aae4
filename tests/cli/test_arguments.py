"""Invalid arguments are refused, not ignored; an unusable archive is reported in one line."""

from pathlib import Path

import pytest

from recorder.archive.locate import archive_file
from recorder.errors import ExitCode, StorageError
from tests.support.cli import ADJOURNED, Cli


@pytest.mark.parametrize("words", [["games"], ["export", "pgn"], ["export", "games"], ["export", "plies"], ["clocks"]])
def test_an_unknown_key_is_reported(filled: Cli, words: list[str]) -> None:
    assert "No game has a key that begins with ffff0" in filled(*words, "ffff0", code=ExitCode.ARCHIVE).stderr
    key = filled.json("games", "--json")[0]["key"]
    filled(*words, key[:10])


@pytest.mark.parametrize("option", ["--player", "--white", "--black", "--me", "--variant", "--category", "--server"])
def test_an_empty_word_is_refused(filled: Cli, option: str) -> None:
    assert "is empty" in filled("games", option, "", code=ExitCode.USAGE).stderr


def test_raw_and_json_exclude_each_other(filled: Cli) -> None:
    filled("show", "last", "--raw", "--json", code=ExitCode.USAGE)


def test_a_wrong_expression_is_a_usage_error(filled: Cli, tmp_path: Path) -> None:
    result = filled("db", "share", "--redact", "(", "-o", tmp_path / "x", code=ExitCode.USAGE)
    assert "is not a regular expression" in result.stderr
    assert not (tmp_path / "x").exists()


def test_an_archive_without_read_permission_is_reported(monkeypatch: pytest.MonkeyPatch, filled: Cli) -> None:
    # The tests may run as a user who may read everything.
    monkeypatch.setattr("recorder.archive.locate.os.access", lambda path, how: path != filled.archive)
    with pytest.raises(StorageError, match="cannot be read: Permission denied"):
        archive_file(str(filled.archive))
    for words in (["games"], ["db", "check"], ["db", "current"], ["verify"], ["import", ADJOURNED]):
        result = filled(*words, code=ExitCode.ARCHIVE)
        assert result.stderr == f"Error: The archive {filled.archive} cannot be read: Permission denied.\n"


def test_a_missing_folder_of_the_archive_is_not_created(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no folder" in cli("import", "--db", tmp_path / "no" / "a.sqlite", ADJOURNED, code=4).stderr
    assert not (tmp_path / "no").exists()
    monkeypatch.setattr("recorder.archive.locate.default_archive", lambda: str(tmp_path / "mine" / "a.sqlite"))
    cli("import", "--db", tmp_path / "mine" / "a.sqlite", ADJOURNED)
