"""``verify`` finds what does not agree."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from recorder.cli.terminal import ExitCode
from recorder.ledger import Cause
from tests.support.cli import ADJOURNED, GUESTS, WATCHER, Cli


def test_a_sound_archive_agrees(filled: Cli) -> None:
    result = filled("verify")
    assert [line.split(": ")[1] for line in result.stdout.splitlines()] == [
        "agrees; 1 game, 16 <12>, 0 <b1>",
        "agrees; 5 games, 127 <12>, 0 <b1>",
    ]
    assert result.stderr == (
        "2 logs of 2 read again, 0 findings.\n"
        "Clocks of 137 moves of played games, all explained: 120 exact, 13 rounding, 4 first-move.\n"
    )
    clocks = filled.json("verify", "--json")[1]["clocks"]
    assert clocks["exact"]
    assert not clocks["unexplained"]
    assert set(clocks) == {cause.value for cause in Cause}


def test_counts_are_those_of_the_bytes(filled: Cli) -> None:
    audits = filled.json("verify", "--json")
    assert [audit["frames"] for audit in audits] == [log.read_bytes().count(b"<12>") for log in (ADJOURNED, WATCHER)]


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("UPDATE plies SET white_clock_ms = white_clock_ms + 1 WHERE ply = 7", "differs in its plies"),
        ("UPDATE games SET result = '1/2-1/2' WHERE result = '*'", "differs in its headers"),
        ("DELETE FROM segments WHERE game_id = 2", "differs in its segments"),
        ("UPDATE source_counts SET count = count - 1 WHERE disposition = 'ply'", "121 stored, 122 read again"),
        ("UPDATE events SET text = text || '!'", "differs in its events"),
        ("UPDATE games SET first_offset = first_offset + 1 WHERE id = 1", "is in the log, but not stored"),
        ("UPDATE sources SET parser_version = 'old'", "Parser version old read it"),
    ],
)
def test_every_change_is_found(filled: Cli, statement: str, finding: str) -> None:
    with sqlite3.connect(filled.archive) as connection:
        assert connection.execute(statement).rowcount
    connection.close()
    result = filled("verify", code=ExitCode.FINDINGS)
    assert finding in result.stdout


def test_one_source(filled: Cli) -> None:
    ident = filled.json("sources", "--json")[0]["id"]
    assert [audit["id"] for audit in filled.json("verify", "--json", ident)] == [ident]


def test_a_file_stands_in_for_bytes_that_are_not_kept(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(ADJOURNED.read_bytes())
    cli("import", "--no-keep-source", log)
    assert "agrees" in cli("verify").stdout
    log.write_bytes(log.read_bytes() + b"more\r\n")
    assert "agrees" in cli("verify").stdout
    log.write_bytes(WATCHER.read_bytes())
    result = cli("verify", code=ExitCode.UNPROVED)
    assert "not audited" in result.stdout
    assert result.stderr == "NOTHING WAS AUDITED: 1 log, none of which could be read again.\n"
    cli("import", GUESTS)
    assert cli("verify").stderr.startswith("1 log of 2 read again, 0 findings. 1 log could not be audited.\n")


def test_compressed_log_with_crazyhouse(cli: Cli) -> None:
    cli("import", GUESTS, *sorted((GUESTS.parent.parent / "a03_crazyhouse").glob("*.raw*")))
    assert {tuple(audit["findings"]) for audit in cli.json("verify", "--json")} == {()}
