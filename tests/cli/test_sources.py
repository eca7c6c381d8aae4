"""``sources`` and ``sources forget``."""

from __future__ import annotations

from pathlib import Path

from recorder.cli.terminal import ExitCode
from tests.support.cli import ADJOURNED, WATCHER, Cli


def test_lists_the_logs(filled: Cli) -> None:
    assert [(row["Name"], row["Kind"], row["Kept"], row["Games"]) for row in filled.table("sources")] == [
        (ADJOURNED.name, "raw", "yes", "1"),
        (WATCHER.name, "raw", "yes", "5"),
    ]


def test_forget_undoes_an_import(filled: Cli) -> None:
    ident = filled.json("sources", "--json")[1]["id"]
    assert filled("sources", "forget", ident[:5]).stderr == f"Forgot {WATCHER.name}: 5 games, 122 plies.\n"
    assert len(filled.json("games", "--json")) == 1
    filled("db", "check")
    assert filled.json("import", "--json", WATCHER)[0]["games"] == 5


def test_forget_of_an_unknown_id(filled: Cli) -> None:
    assert "lists them" in filled("sources", "forget", "0000000", code=ExitCode.ARCHIVE).stderr


def test_the_groups_archive_is_the_commands(filled: Cli, tmp_path: Path) -> None:
    other = Cli(tmp_path / "other.sqlite")
    other("import", WATCHER)
    ident = other.json("sources", "--json")[0]["id"]
    filled("sources", "--db", other.archive, "forget", ident)
    assert other.json("sources", "--json") == []
    assert len(filled.json("sources", "--json")) == 2
    filled("sources", "--db", other.archive, "forget", "--db", filled.archive, ident)
    assert len(filled.json("sources", "--json")) == 1
