"""``db``: maintain an archive."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import ADJOURNED, WATCHER, Cli


def test_current_and_upgrade_of_a_new_archive(filled: Cli) -> None:
    revision = filled("db", "current").stdout.split()[0]
    assert filled("db", "current").stdout == f"{revision} (newest: {revision})\n"
    assert filled("db", "upgrade").stderr == f"{filled.archive} has schema {revision} already.\n"


def test_check(filled: Cli) -> None:
    assert filled("db", "check").stderr == "The archive is sound.\n"
    connection = sqlite3.connect(filled.archive)
    connection.execute("DELETE FROM observations WHERE id = 1")
    connection.commit()
    connection.close()
    assert filled("db", "check", code=ExitCode.FINDINGS).stdout


def test_backup(filled: Cli, tmp_path: Path) -> None:
    target = tmp_path / "saved.sqlite"
    filled("db", "backup", target)
    assert Cli(target).json("games", "--json") == filled.json("games", "--json")
    filled("db", "backup", target, code=ExitCode.OUTPUT)


def test_share_holds_no_logs_and_no_handles(filled: Cli, tmp_path: Path) -> None:
    target = tmp_path / "shared.sqlite"
    filled("db", "share", "--pseudonyms", "--redact", "adjourned", "-o", target)
    shared = Cli(target)
    assert len(shared.json("games", "--json")) == 6
    content = target.read_bytes()
    for secret in (b"Morphy", b"Carlsen", WATCHER.read_bytes()[3000:3060], str(ADJOURNED.parent).encode()):
        assert secret not in content
    assert "no player Carlsen" in shared("games", "--player", "Carlsen", code=ExitCode.FINDINGS).stderr


@pytest.mark.parametrize("words", [[], ["--with-text"], ["--exact"]])
def test_names_in_tags_and_comments_are_not_shared(cli: Cli, tmp_path: Path, words: list[str]) -> None:
    cli("import", Path(__file__).parents[1] / "corpus" / "names" / "names-in-texts.pgn")
    cli("db", "share", "--pseudonyms", *words, "-o", tmp_path / "shared.sqlite")
    shared = Cli(tmp_path / "shared.sqlite")
    pgn = shared("export", "pgn", "--comments").stdout
    assert ("match, game 1" in pgn) is (words == ["--with-text"])
    for text in (pgn, shared.archive.read_bytes().decode("utf-8", "replace")):
        for name in ("Zorblax", "Magnus", "Müller", "Jörg", "Kvorqbert", "Plimsollix"):
            assert name not in text


@pytest.mark.parametrize("words", [["games"], ["show", "last"], ["verify"], ["db", "check"], ["sources"]])
def test_no_archive(cli: Cli, words: list[str]) -> None:
    assert f"no archive at {cli.archive}" in cli(*words, code=ExitCode.ARCHIVE).stderr
    assert not cli.archive.exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE alembic_version SET version_num = '{}'",
        "UPDATE alembic_version SET version_num = CAST('{}' AS BLOB)",
        'CREATE TABLE "{}" (a)',
        'CREATE VIEW "{}" AS SELECT 1',
        'CREATE TRIGGER "{}" AFTER INSERT ON games BEGIN SELECT 1; END',
        "UPDATE sources SET name = '{}'",
    ],
)
def test_names_in_an_archive_do_not_control_the_terminal(filled: Cli, tmp_path: Path, statement: str) -> None:
    with closing(sqlite3.connect(filled.archive)) as connection:
        connection.execute(statement.format("\x1b[31m\x07\r\n" * 9))
        connection.commit()
    for words in ("db current", "db check", "db upgrade", "games", "sources", "verify"):
        output = filled(*words.split(), code=None).output
        assert "\x1b" not in output
        assert "\x07" not in output
    merged = Cli(tmp_path / "merged.sqlite")("import", filled.archive, code=None).output
    assert "\x1b" not in merged
