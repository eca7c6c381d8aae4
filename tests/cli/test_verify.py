"""``verify`` finds contradictions between archive and logs."""

import sqlite3
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from recorder.ledger import Cause
from tests.support.cli import ADJOURNED, GUESTS, WATCHER, Cli


def test_a_sound_archive_agrees(filled: Cli) -> None:
    result = filled("verify")
    assert [line.split(": ")[1] for line in result.stdout.splitlines()] == [
        "agrees; 1 game, 16 boards",
        "agrees; 5 games, 127 boards",
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


def test_a_corrupt_archive_is_not_compared(filled: Cli) -> None:
    with sqlite3.connect(filled.archive) as connection:
        connection.execute("DELETE FROM segments WHERE game_id = 2")
    connection.close()
    words = filled("verify", code=ExitCode.ARCHIVE).stderr
    assert "The archive is corrupt" in words
    assert "db check" in words


def test_one_source(filled: Cli) -> None:
    ident = filled.json("sources", "--json")[0]["id"]
    assert [audit["id"] for audit in filled.json("verify", "--json", ident)] == [ident]


def test_the_file_is_read_where_no_bytes_are_kept(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(ADJOURNED.read_bytes())
    cli("import", "--no-keep-source", log)
    assert "agrees" in cli("verify").stdout
    log.write_bytes(log.read_bytes() + b"more\r\n")
    assert "agrees" in cli("verify").stdout
    log.write_bytes(WATCHER.read_bytes())
    result = cli("verify", code=ExitCode.UNPROVED)
    assert "not audited" in result.stdout
    assert result.stderr == "NOTHING WAS VERIFIED: 1 log, none of which could be read again.\n"
    cli("import", GUESTS)
    assert cli("verify").stderr.startswith("1 log of 2 read again, 0 findings. 1 log could not be audited.\n")


def test_compressed_log_with_crazyhouse(cli: Cli) -> None:
    cli("import", GUESTS, *sorted((GUESTS.parent.parent / "a03_crazyhouse").glob("*.raw*")))
    assert {tuple(audit["findings"]) for audit in cli.json("verify", "--json")} == {()}


def test_every_unexplained_clock_is_reported(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "clocks.pgn"
    log.write_text(
        '[Event "?"]\n[White "Ann"]\n[Black "Bob"]\n[Result "*"]\n[TimeControl "300+2"]\n\n'
        "1. e4 {[%clk 0:05:00][%emt 0:00:02]} e5 {[%clk 0:04:50][%emt 0:00:12]} "
        "2. Nf3 {[%clk 0:04:40][%emt 0:00:05]} Nc6 {[%clk 0:04:58][%emt 0:00:01]} *\n"
    )
    cli("import", log)
    key = cli.json("games", "--json")[0]["key"]
    result = cli("verify")
    assert result.stdout.splitlines()[1:] == [
        f"  (Game {key[:8]}, ply 3 (2. Nf3): White's clock is 17000 ms less than clock before - elapsed + increment;"
        " nothing explains it)",
        f"  (Game {key[:8]}, ply 4 (2... Nc6): Black's clock is 7000 ms more than clock before - elapsed + increment;"
        " nothing explains it)",
    ]
    assert "2 unexplained" in result.stderr
    (audit,) = cli.json("verify", "--json")
    assert audit["unexplained_clocks"] == [
        {
            "game": key,
            "side": side,
            "ply": ply,
            "san": san,
            "before_ms": before_ms,
            "elapsed_ms": elapsed_ms,
            "increment_ms": 2_000,
            "after_ms": after_ms,
            "residual_ms": residual_ms,
        }
        for side, ply, san, before_ms, elapsed_ms, after_ms, residual_ms in (
            ("white", 3, "Nf3", 300_000, 5_000, 280_000, -17_000),
            ("black", 4, "Nc6", 290_000, 1_000, 298_000, 7_000),
        )
    ]


def test_both_boards_of_a_match_without_names_are_compared(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "nameless.bpgn"
    path.write_text('[Event "a match"]\n\n1A. e4 {179} 1B. d4 {178} 1a. e5 {177} 1b. d5 {176} *\n')
    cli("import", "--kind", "bpgn", path)
    assert "agrees; 2 games" in cli("verify").stdout


@pytest.mark.parametrize(
    ("name", "data"),
    [
        # A telnet command inside a tag, and a tag of which a damaged record lies between both halves.
        ("a.raw", b"fics% \r\n<\xff\xfb\x0112> rnbqkbnr\r\nfics% \r\n"),
        (
            "a.journal",
            b"27.361741846 < 0.000) d4 0 0 0\\n<b1> game 1 white [P] black [P]\\n<b ae24bc3f\n\n"
            b"28.675032636 < 1> game 1 white  4d66e0b3\n",
        ),
    ],
)
def test_tags_are_counted_where_lines_are_read(cli: Cli, tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    cli("import", "--kind", Path(name).suffix[1:], tmp_path / name, code=None)
    assert "agrees" in cli("verify").stdout
