"""``sources`` and ``sources forget``."""

from pathlib import Path

from recorder.archive.following.follower import Follower
from recorder.archive.reading.importing import ReadOptions
from recorder.errors import ExitCode
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


def test_a_forgotten_log_returns_only_by_its_name(cli: Cli, tmp_path: Path) -> None:
    """It does not return with its folder, when it has grown, or by a rebuild."""
    (logs := tmp_path / "logs").mkdir()
    kept, gone = logs / "kept.raw", logs / "gone.raw"
    kept.write_bytes(ADJOURNED.read_bytes())
    gone.write_bytes(WATCHER.read_bytes()[:20_000])
    cli("import", logs)
    ident = next(row["id"] for row in cli.json("sources", "--json") if row["name"] == "gone.raw")
    cli("sources", "forget", ident)
    for _ in range(2):
        output = cli("import", logs).stdout
        assert f"{gone}: excluded, it was removed before" in output
        assert "1 forgotten, 1 known" in output
        cli("db", "rebuild", "--no-backup")
        assert [row["name"] for row in cli.json("sources", "--json")] == ["kept.raw"]
        gone.write_bytes(WATCHER.read_bytes())
    assert "5 games" in cli("import", gone).stdout
    assert "2 known" in cli("import", logs).stdout


def test_a_share_does_not_contain_forgotten_sources(filled: Cli, tmp_path: Path) -> None:
    row = filled.json("sources", "--json")[1]
    filled("sources", "forget", row["id"])
    filled("db", "share", "-o", tmp_path / "shared.sqlite")
    assert row["sha256"].encode() in filled.archive.read_bytes()
    assert row["sha256"].encode() not in (tmp_path / "shared.sqlite").read_bytes()


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


def test_forgetting_a_followed_log_prints_a_warning(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.raw"
    log.write_bytes(WATCHER.read_bytes()[:15_000])
    updater = Follower(str(cli.archive), log, ReadOptions())
    updater.look(settle=True)
    updater.close()
    (row,) = cli.json("sources", "--json")
    assert "a program that follows it will add it again" in cli("sources", "forget", row["id"]).stderr
