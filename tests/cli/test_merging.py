"""``import other.db``: the result equals an archive into which all logs of both were imported."""

import hashlib
import os
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import storage.schema.upgrade
from recorder.errors import ExitCode
from recorder.journal.writer import JournalWriter, Sync
from storage import ArchiveStore
from storage.maintenance.check import check
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.effort import long_after

OPTIONS = ("--include", "examined,setup,empty")


def exports(cli: Cli) -> list[bytes]:
    """All exports of all games; they are empty without games."""
    pgn = ("export", "pgn", "--variations", "--comments", "--clock", "clk,emt,lag")
    commands = (pgn, ("export", "plies"), ("export", "games"))
    return [cli(*words, *OPTIONS, code=None).stdout_bytes for words in commands]


def state(cli: Cli) -> dict[str, Any]:
    """Return all that an archive contains: exports, findings, sources and kept bytes, but not the paths of sources."""
    found: dict[str, Any] = {"exports": exports(cli)}
    found["anomalies"] = [
        {**row, "id": None, "source": None} for row in cli.json("anomalies", "--json") if isinstance(row, dict)
    ]
    found["sources"] = {row["sha256"]: {**row, "path": None, "name": None} for row in cli.json("sources", "--json")}
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        for row in archive.sources():
            if row.kept:
                found["sources"][row.sha256]["bytes"] = hashlib.sha256(
                    b"".join(archive.read_source(row.id))
                ).hexdigest()
            found["sources"][row.sha256]["report"] = archive.report(row.id)
            found["sources"][row.sha256]["unfinished"] = row.unfinished
    assert check(cli.archive) == []
    return found


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Logs of all kinds; two of them are a longer and a shorter version, or continue differently."""
    folder = tmp_path_factory.mktemp("logs")
    whole, other = WATCHER.read_bytes(), ADJOURNED.read_bytes()
    texts = {
        "short.raw": whole[:8_000],
        "longer.raw": whole[:15_000],
        "whole.raw": whole,
        "forked.raw": whole[:12_000] + other,
        "forked-again.raw": whole[:14_000] + other[:2_000],
        "other.raw": other,
        "secret.raw": b"login: ann\n\rpassword: hunter2\n\r" + other,
        "secret-cut.raw": b"login: ann\n\rpassword: hunter2\n\r" + other[:3_000],
    }
    for name, data in texts.items():
        (folder / name).write_bytes(data)
    return [folder / name for name in texts]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_any_two_archives_in_any_order(logs: list[Path], tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    first, second = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
    here, there = (chance.sample(logs, chance.randint(1, len(logs))) for _ in range(2))
    if seed == 0:  # both versions of one log are in an archive
        here, there = [logs[0]], [logs[2], logs[3]]
    if seed == 1:  # three games have one key
        copies = sorted(logs[2:5], key=lambda log: hashlib.sha256(log.read_bytes()).hexdigest())
        here, there = copies[:1], copies[1:]
    for cli, some in ((first, here), (second, there)):
        for log in some:
            cli("import", log)
    saved = tmp_path / "saved.sqlite"
    first("db", "backup", saved)
    together = [*here, *there]
    chance.shuffle(together)
    new = Cli(tmp_path / "new.sqlite")
    for log in together:
        new("import", log)
    wanted = state(new)
    would = [row["status"] for row in first.json("import", "-n", "--json", second.archive)]
    assert [row["status"] for row in first.json("import", "--json", second.archive)] == would
    assert state(first) == wanted
    second("import", saved)
    assert state(second) == wanted
    repeated = second.json("import", "--json", first.archive)
    assert {row["status"] for row in repeated} == {"known"}
    assert state(second) == wanted
    into_nothing = Cli(tmp_path / "fresh.sqlite")
    into_nothing("import", first.archive)
    assert state(into_nothing) == wanted
    for log in logs:  # a later import continues from there
        for cli in (new, first):
            cli("import", log)
    assert state(first) == state(new)


@pytest.mark.long
def test_a_journal_that_is_longer_in_one_archive(tmp_path: Path) -> None:
    """Neither archive contains its bytes."""
    first, second, new = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second", "new"))
    data = WATCHER.read_bytes()
    writer = JournalWriter(tmp_path / "journals", host="h", port=1, role="record", sync=Sync.OS)
    writer.received(data[:9_000])
    first("import", tmp_path / "journals")
    writer.received(data[9_000:])
    for cli in (second, new):
        cli("import", tmp_path / "journals")
    writer.close()
    assert [row["status"] for row in second.json("import", "--json", first.archive)] == ["known"]
    assert [row["status"] for row in first.json("import", "--json", second.archive)] == ["grown"]
    assert state(first) == state(second) == state(new)
    for cli in (first, new):
        cli("import", tmp_path / "journals")
    assert state(first) == state(new)


def test_games_of_deleted_logs_without_kept_bytes_are_merged(tmp_path: Path) -> None:
    first, second = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
    log = tmp_path / "gone.raw"
    log.write_bytes(WATCHER.read_bytes())
    second("import", "--no-keep-source", log)
    log.unlink()
    first("import", ADJOURNED)
    assert "gone.raw: new: 5 games" in first("import", second.archive).stdout
    second("import", first.archive)
    assert state(first) == state(second)


def test_bytes_are_kept_if_one_archive_keeps_them(tmp_path: Path) -> None:
    first, second = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
    first("import", "--no-keep-source", WATCHER)
    second("import", WATCHER)
    assert (
        "kept, read by a newer program, or with a date or server, there: 5 games"
        in first("import", second.archive).stdout
    )
    assert [row["kept"] for row in first.json("sources", "--json")] == [True]
    assert state(first) == state(second)
    assert "nothing new" in second("import", first.archive).stdout


_DATE, _SERVER, _ZONE = ("--date", "2017-03-01"), ("--server", "FICS"), ("--tz", "Europe/Berlin")
_KEPT = ("--no-keep-source",)


@pytest.mark.long_except("--server FICS---date 2017-03-01")
@pytest.mark.parametrize(
    ("here", "there"),
    [
        ((), _DATE + _ZONE),
        (_DATE, ()),
        (_SERVER, _DATE),
        (_DATE + _KEPT, _SERVER),
        (_SERVER, _DATE + _KEPT),
        (_DATE, ("--date", "2018-01-01", *_SERVER)),
        (("--chat", "none"), _DATE),
    ],
    ids=" ".join,
)
def test_what_either_archive_says_of_a_log_counts(
    tmp_path: Path, here: tuple[str, ...], there: tuple[str, ...]
) -> None:
    """As if the log was imported with the options of both; where both say something, with this archive's."""
    log = tmp_path / "moved.raw"
    log.write_bytes(WATCHER.read_bytes())
    first, second, new = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second", "new"))
    first("import", *here, log)
    second("import", *there, log)
    new("import", *(word for word in (*there, *here) if word not in _KEPT), log)
    log.unlink()  # what neither archive keeps is gone
    would = [row["status"] for row in first.json("import", "-n", "--json", second.archive)]
    assert would == [row["status"] for row in first.json("import", "--json", second.archive)]
    assert state(first) == state(new)
    assert [row["status"] for row in first.json("import", "--json", second.archive)] == ["known"]


def test_a_longer_log_of_another_archive_keeps_the_date_it_has_here(tmp_path: Path) -> None:
    log = tmp_path / "grows.raw"
    first, second, new = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second", "new"))
    log.write_bytes(WATCHER.read_bytes()[:15_000])
    first("import", *_DATE, log)
    log.write_bytes(WATCHER.read_bytes())
    second("import", *_SERVER, log)
    new("import", *_DATE, *_SERVER, log)
    assert [row["status"] for row in first.json("import", "--json", second.archive)] == ["grown"]
    assert state(first) == state(new)


def test_a_date_that_no_archive_can_use_again_changes_nothing(tmp_path: Path) -> None:
    """Neither keeps the log, and each says something else of it."""
    log = tmp_path / "gone.raw"
    log.write_bytes(WATCHER.read_bytes())
    first, second = (Cli(tmp_path / f"{name}.sqlite") for name in ("first", "second"))
    first("import", *_SERVER, *_KEPT, log)
    second("import", *_DATE, *_KEPT, log)
    log.unlink()
    before = state(first)
    assert [row["status"] for row in first.json("import", "--json", second.archive)] == ["known"]
    assert state(first) == before


def test_the_reading_of_a_newer_parser_wins(filled: Cli, tmp_path: Path) -> None:
    older = Cli(tmp_path / "older.sqlite")
    filled("db", "backup", older.archive)
    connection = sqlite3.connect(older.archive)
    connection.execute("UPDATE sources SET parser_version = '0'")
    connection.execute("UPDATE games SET result = '*'")
    connection.commit()
    connection.close()
    wanted = state(filled)
    assert {row["status"] for row in filled.json("import", "--json", older.archive)} == {"known"}
    assert {row["status"] for row in older.json("import", "--json", filled.archive)} == {"replaced"}
    assert state(filled) == state(older) == wanted


def test_a_log_forgotten_here_is_not_merged(filled: Cli, tmp_path: Path) -> None:
    other = Cli(tmp_path / "other.sqlite")
    other("import", WATCHER, ADJOURNED)
    grown = tmp_path / "grown.raw"
    grown.write_bytes(ADJOURNED.read_bytes() + b"more\n\r")
    third = Cli(tmp_path / "third.sqlite")
    third("import", grown)
    for row in filled.json("sources", "--json"):
        filled("sources", "forget", row["id"])
    assert filled("import", other.archive).stdout.count("excluded, it was removed before") == 2
    assert filled("import", third.archive).stdout.count("excluded, it was removed before") == 1
    assert filled.json("sources", "--json") == []


def test_a_log_forgotten_there_stays_here(filled: Cli, tmp_path: Path) -> None:
    other = Cli(tmp_path / "other.sqlite")
    other("import", WATCHER)
    other("sources", "forget", other.json("sources", "--json")[0]["id"])
    filled("import", other.archive, code=ExitCode.INPUT)  # it is empty
    assert len(filled.json("sources", "--json")) == 2


def test_a_dry_run_writes_nothing(filled: Cli, tmp_path: Path) -> None:
    other = Cli(tmp_path / "other.sqlite")
    assert "2 logs (2 new): nothing was stored" in other("import", "-n", filled.archive).stdout
    assert not other.archive.exists()
    other("import", SERVER / "b09_crazyhouse" / "observer_GuestXy.raw.gz")
    before = other.archive.read_bytes()
    other("import", "-n", filled.archive)
    assert other.archive.read_bytes() == before


@pytest.mark.parametrize(
    ("what", "output"),
    long_after(
        2,
        [
            ("newer", "has the schema 9999, which is newer than this program's"),
            ("damaged", "cannot be read as an archive"),
            ("itself", "is the archive itself"),
            ("foreign", "is a database, but not an archive of ics-recorder"),
        ],
    ),
)
def test_an_archive_that_cannot_be_merged_is_reported_and_changes_nothing(
    filled: Cli, tmp_path: Path, what: str, output: str
) -> None:
    other = tmp_path / "other.sqlite"
    if what == "itself":
        other.symlink_to(filled.archive)
    elif what == "damaged":
        other.write_bytes(filled.archive.read_bytes()[:50] + b"x" * 5_000)
    else:
        if what == "newer":
            other.write_bytes(filled.archive.read_bytes())
        connection = sqlite3.connect(other)
        connection.execute("CREATE TABLE t (x)" if what == "foreign" else "UPDATE alembic_version SET version_num=9999")
        connection.commit()
        connection.close()
    before = state(filled)
    result = filled("import", other, ADJOURNED, code=ExitCode.INPUT)
    assert output in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "nothing new" in result.stdout  # the other files were read
    assert state(filled) == before


def test_an_older_archive_is_upgraded_in_a_copy(filled: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tmp_path / "older.sqlite"
    other.write_bytes(filled.archive.read_bytes())
    connection = sqlite3.connect(other)
    connection.execute("UPDATE alembic_version SET version_num = '0000'")
    connection.commit()
    connection.close()
    before = other.read_bytes()

    def upgrade(path: Path) -> None:
        assert path != other
        copy = sqlite3.connect(path)
        copy.execute("UPDATE alembic_version SET version_num = ?", (storage.schema.upgrade.HEAD,))
        copy.commit()
        copy.close()

    monkeypatch.setattr(storage.schema.upgrade, "revisions", lambda: ["0000", storage.schema.upgrade.HEAD])
    monkeypatch.setattr(storage.schema.upgrade, "upgrade", upgrade)
    new = Cli(tmp_path / "new.sqlite")
    assert "2 logs (2 new): 6 games" in new("import", other).stdout
    assert other.read_bytes() == before


@pytest.mark.long_except("3")
@pytest.mark.parametrize("step", [0, 3, 7])
def test_a_killed_merge_changes_nothing(filled: Cli, tmp_path: Path, step: int) -> None:
    other = Cli(tmp_path / "other.sqlite")
    for name in ("b09_crazyhouse", "b01_standard"):
        for log in sorted((SERVER / name).glob("observer*.raw*")):
            other("import", log)
    code = (
        "import os, sys; from itertools import count; from storage.write.source import SourceWriter as W;"
        "steps = count();"
        "step = int(sys.argv.pop(1));"
        "tick = lambda f: lambda *a: (next(steps) == step and os._exit(9), f(*a))[1];"
        "W.keep, W.add_games, W.finish = tick(W.keep), tick(W.add_games), tick(W.finish);"
        "from recorder.cli import main; main()"
    )
    before = state(filled)
    done = subprocess.run(
        [sys.executable, "-c", code, str(step), "import", str(other.archive)],
        check=False,
        env={**os.environ, "ICS_RECORDER_DB": str(filled.archive)},
        stdout=subprocess.DEVNULL,
    )
    assert done.returncode == 9
    assert state(filled) == before
    assert {row["status"] for row in filled.json("import", "--json", other.archive)} == {"new", "known"}
