"""``convert``: a log to PGN without an archive."""

from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.support.cli import SERVER, WATCHER, Cli


def test_convert_writes_what_the_archive_exports(filled: Cli, tmp_path: Path) -> None:
    target = tmp_path / "x.pgn"
    result = filled("convert", WATCHER, "-o", target)
    assert result.stderr == f"Wrote 5 games, 122 plies to {target}.\n"
    converted = set(target.read_text().split("\n\n\n"))
    (source,) = [row["id"] for row in filled.json("sources", "--json") if row["name"] == WATCHER.name]
    assert converted == set(filled("export", "pgn", "--source", source).stdout.split("\n\n\n"))
    assert "--force" in filled("convert", WATCHER, "-o", target, code=ExitCode.OUTPUT).stderr


def test_streams_both_ways_without_an_archive(cli: Cli) -> None:
    result = cli("convert", "-", input=WATCHER.read_bytes())
    assert result.stdout.count('[White "') == 5
    assert not cli.archive.exists()


def test_a_missing_log_is_an_error(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    target = tmp_path / "out.pgn"
    assert "is empty" in cli("convert", tmp_path / "empty", "-o", target, code=ExitCode.INPUT).stderr
    assert "no such file" in cli("convert", tmp_path / "missing", code=ExitCode.INPUT).stderr
    assert not target.exists()


@pytest.mark.parametrize(("words", "code"), [([], 0), (["--strict"], ExitCode.FINDINGS)])
def test_anomalies_are_reported(cli: Cli, tmp_path: Path, words: list[str], code: int) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(WATCHER.read_bytes() + b"<12> rnbqkbnr pppppppp this is no board\r\n")
    assert "1 anomaly in" in cli("convert", log, *words, code=code).stderr


def test_guests_and_computers_can_be_excluded(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_bytes(WATCHER.read_bytes().replace(b"Zukertort", b"GuestABCD"))
    result = cli("convert", "--no-guests", log)
    cli("import", log)
    kept = cli.json("games", "--no-guests", "--json")
    assert result.stdout.count("[Event ") == len(kept) < 5
    assert f"{5 - len(kept)} with a guest" in result.stderr
    assert cli("convert", "--no-computers", log).stdout.count("[Event ") == 5


def test_bughouse_to_bpgn_by_the_suffix(cli: Cli, tmp_path: Path) -> None:
    target = tmp_path / "x.bpgn"
    log = SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz"
    assert "Wrote 6 games, 409 plies" in cli("convert", log, "-o", target).stderr
    assert target.read_text().count("[Lag ") == 3
    assert cli("convert", log, "--format", "bpgn", "--clock", "clk").stdout.count("[Lag ") == 0
    assert "5 not bughouse" in cli("convert", WATCHER, "--format", "bpgn", code=1).stderr
    cli("convert", log, "--format", "bpgn", "--style", "fics", code=2)


def test_bpgn_is_written_as_it_was_read(cli: Cli, tmp_path: Path) -> None:
    saved = SERVER.parent / "public" / "bughouse-2005-client-saved.bpgn"
    target = tmp_path / "x.bpgn"
    assert "Wrote 18 games, 1,034 plies" in cli("convert", saved, "-o", target).stderr
    assert target.read_bytes() == saved.read_bytes()
    assert cli("convert", saved).stdout.count("[Variant ") == 18


def test_bpgn_is_imported_and_its_boards_belong_together(cli: Cli) -> None:
    saved = SERVER.parent / "public" / "bughouse-db-3611438-with-lag.bpgn"
    assert "bpgn\n  2 games, 106 moves\n" in cli("import", saved).stdout
    text = cli("show", "last", "--match").stdout
    assert "One match: both boards of one saved match\n" in text
    assert text.count("\n") == 4 + 1 + 106
    assert "agrees; 2 games" in cli("verify").stdout
    assert cli("export", "bpgn").stdout.count("[Lag ") == 1


def test_a_log_without_games_writes_nothing(cli: Cli, tmp_path: Path) -> None:
    """Also in several processes, and where the output is there already."""
    talk, out = tmp_path / "talk.log", tmp_path / "out.pgn"
    talk.write_text("fics% \nMorphy tells you: hello\n")
    for logs in ([talk], [talk, talk]):
        assert cli("convert", *logs, "--jobs", "2", "-o", out, code=ExitCode.FINDINGS).stderr == "No games to write.\n"
        assert not out.exists()
    out.write_text("mine")
    excluded = cli(
        "convert", SERVER / "a10_examine" / "observer_GuestExa.raw", "--force", "-o", out, code=ExitCode.FINDINGS
    ).stderr
    assert excluded == "No games to write.\nExcluded: 1 examined (--include examined).\n"
    assert out.read_text() == "mine"
    assert cli("convert", talk, code=ExitCode.FINDINGS).stdout == ""


def test_other_logs_are_converted_where_one_cannot_be_read(cli: Cli, tmp_path: Path) -> None:
    empty, missing, out = tmp_path / "empty.log", tmp_path / "missing.log", tmp_path / "out.pgn"
    empty.touch()
    for jobs in (1, 2):
        result = cli("convert", empty, WATCHER, missing, "-o", out, "--force", "--jobs", jobs, code=ExitCode.INPUT)
        assert result.stderr == (
            f"Wrote 5 games, 122 plies to {out}.\nError: {empty} is empty\nError: {missing}: no such file or folder\n"
        )
        assert out.read_text() == cli("convert", WATCHER).stdout
    result = cli("convert", "--unique", empty, WATCHER, missing, "-o", out, "--force", code=ExitCode.INPUT)
    assert (result.stderr.count("Error: "), out.read_text().count("[Event ")) == (2, 5)
    out.unlink()
    for words in ([], ["--unique"]):
        assert cli("convert", empty, missing, "-o", out, *words, code=ExitCode.INPUT).stderr.count("\n") == 2
        assert not out.exists()


def test_a_folder_is_converted(cli: Cli, tmp_path: Path) -> None:
    """Without what is no log, and without its own output of an earlier time."""
    folder = tmp_path / "logs"
    (folder / "more").mkdir(parents=True)
    (folder / "a.log").write_bytes(WATCHER.read_bytes())
    (folder / "more" / "icc.pgn").write_bytes((SERVER.parent / "pgn" / "icc-saved-2012.pgn").read_bytes())
    (folder / "notes.txt").write_text("nothing")
    (folder / ".hidden").write_text("nothing")
    out = folder / "all.pgn"
    for words in ([], ["--force"], ["--force", "--unique"]):
        said = cli("convert", folder, "-o", out, *words).stderr
        assert said.startswith("Wrote 6 games, 155 plies")
        assert ("1 file skipped by name" in said, "notes.txt" in said) == (True, True)
    mine = folder / "more" / "icc.pgn"
    for words in ([], ["--unique"]):
        cli("convert", folder, "-o", mine, "--force", *words, code=ExitCode.OUTPUT)
        assert b"Internet Chess Club" in mine.read_bytes()


def test_unique_writes_a_game_of_several_logs_once(cli: Cli, tmp_path: Path) -> None:
    """Merged, in every format; the same as an archive of these logs exports."""
    scenario = SERVER / "a01_standard"
    logs = [scenario / "observer_GuestObsA.raw.gz", scenario / "observer_Watcher.raw.gz"]
    out = tmp_path / "x.pgn"
    assert cli("convert", *logs).stdout.count("[Event ") > 15
    said = cli("convert", "--unique", *logs, "-o", out).stderr
    cli("import", *logs)
    assert out.read_text() == cli("export", "pgn", "--unique").stdout
    assert said.startswith(f"Wrote {len(cli.json('games', '--unique', '--json'))} games")
    log = SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz"
    twice = tmp_path / "twice.raw.gz"
    twice.write_bytes(log.read_bytes())
    once = cli("convert", log, "--format", "bpgn").stdout
    assert sorted(cli("convert", log, twice, "--unique", "--format", "bpgn").stdout.split("\n\n")) == sorted(
        once.split("\n\n")
    )
    assert "5 not bughouse" in cli("convert", "--unique", WATCHER, "--format", "bpgn", code=ExitCode.FINDINGS).stderr
    assert "--unique has no meaning" in cli("convert", "--unique", log, "--dataset", tmp_path / "d", code=2).stderr
