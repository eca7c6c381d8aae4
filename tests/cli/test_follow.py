"""``follow`` as a separate process while a program writes the log."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from recorder.errors import ExitCode
from tests.archive.test_following import END, MIDDLE, STREAM, append, games_of, pgn_keys
from tests.support.cli import Cli
from tests.support.effort import long_after


def start(cli: Cli, *words: object, out: Path | None = None) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "recorder", "follow", "--db", cli.archive, *words]
    with (Path(os.devnull) if out is None else out).open("w") as file:
        return subprocess.Popen([*map(str, command)], stdout=file, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, what: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if path.exists() and what in path.read_text():
            return
        time.sleep(0.05)
    pytest.fail(f"{what} never came into {path}")


@pytest.mark.parametrize("number", long_after(1, [signal.SIGTERM, signal.SIGINT]))
def test_the_command_waits_follows_and_ends_cleanly(cli: Cli, tmp_path: Path, number: signal.Signals) -> None:
    log, pgn, out = tmp_path / "session.log", tmp_path / "games.pgn", tmp_path / "events.jsonl"
    process = start(cli, "--wait", "--pgn", pgn, "--events", "-", log, out=out)
    assert process.stderr.readline() == f"Waiting for {log}.\n"
    append(log, STREAM[:END])
    wait_for(out, "game_started")
    append(log, STREAM[END:])
    wait_for(pgn, "RecorderKey")
    process.send_signal(number)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert "5 games read" in err
    assert f"{len(pgn_keys(pgn))} games appended" in err
    assert out.read_text().count('"event": "game_started"') == 5
    assert len(games_of(cli)) == 5


def test_a_log_that_is_empty_at_first_is_no_failure(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    log.touch()
    process = start(cli, log)
    until(process, f"{log} is empty; waiting for more.\n")
    assert f"{log} is being followed into {cli.archive}." in cli("status", "--journal-dir", tmp_path).stderr
    append(log, STREAM)
    while not cli.archive.exists() or len(games_of(cli)) < 5:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert "writable" not in err
    assert "5 games read" in err


def test_an_archive_that_cannot_be_made_is_reported_at_the_start(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    log.write_bytes(STREAM)
    missing = tmp_path / "nowhere" / "a.sqlite"
    assert f"Cannot create {missing}" in cli("follow", "--db", missing, log, code=ExitCode.ARCHIVE).stderr


@pytest.mark.long
def test_missing_fields_of_the_log_are_reported_at_the_first_game(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:MIDDLE])  # a game is in progress
    process = start(cli, log)
    until(
        process,
        f"{log} does not name the site or the date of its games; "
        "follow it again with --server NAME and --date YYYY-MM-DD to add them.\n",
    )
    append(log, STREAM[MIDDLE:])
    while len(games_of(cli)) < 5:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert "does not name" not in err
    process = start(cli, "--server", "chess.example", log)
    until(process, f"{log} does not name the date of its games; follow it again with --date YYYY-MM-DD to add it.\n")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert {game["server"] for game in games_of(cli)} == {"chess.example"}
    process = start(cli, "--server", "chess.example", "--date", "2020-01-31", log)
    until(process, "Following")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert "does not name" not in err
    assert cli("export", "pgn").stdout.count('[Date "2020.01.31"]') == 5


@pytest.mark.long
def test_status_counts_the_failures_of_hooks(cli: Cli, tmp_path: Path) -> None:
    log, out = tmp_path / "session.log", tmp_path / "events"
    append(log, STREAM[:MIDDLE])  # a game is in progress
    process = start(cli, "--on", "game-start=false", "--on", f"game-end=tee {out}", log)
    where = ("status", "--journal-dir", tmp_path)
    while "Hook false: 1 failure, 0 events dropped.\n" not in cli(*where).stderr:
        time.sleep(0.05)
    append(log, STREAM[MIDDLE:])
    wait_for(out, '"game-end"')
    shown = cli(*where).stderr
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert "Hook tee" not in shown
    assert "Hook" not in cli(*where).stderr
    assert not list(tmp_path.glob(".hooks*"))


@pytest.mark.long
def test_a_killed_follow_continues_when_restarted(cli: Cli, tmp_path: Path) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    append(log, STREAM[:END])
    process = start(cli, "--pgn", pgn, log)
    wait_for(pgn, "RecorderKey")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    append(log, STREAM[END:])
    process = start(cli, "--pgn", pgn, log)
    wait_for(pgn, last_key(tmp_path))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    assert len(pgn_keys(pgn)) == len(set(pgn_keys(pgn))) == 5
    cli("db", "check")
    assert "agrees" in cli("verify").stdout


def last_key(folder: Path) -> str:
    (folder / "session").mkdir()
    (folder / "session" / "session.log").write_bytes(STREAM)
    other = Cli(folder / "session" / "archive.sqlite")
    other("import", folder / "session" / "session.log")
    return str(max((game for game in games_of(other)), key=lambda game: game["sources"][0]["offset"])["key"])


def test_the_exit_status_reports_that_the_event_reader_closed_its_pipe(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:9_000])
    reader, writer = os.pipe()
    process = start(cli, "--events", "-", log, out=Path(f"/dev/fd/{writer}"))
    os.close(writer)
    assert os.read(reader, 10)
    os.close(reader)
    append(log, STREAM[9_000:])
    while "The event reader has ended" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 141
    assert "5 games read" in process.stderr.read()
    process.stderr.close()
    assert len(games_of(cli)) == 5


def until(process: subprocess.Popen[str], what: str) -> None:
    assert process.stderr is not None
    for line in process.stderr:
        if what in line:
            return
    pytest.fail(f"{what!r} was never printed")


@pytest.mark.parametrize("way", long_after(1, ["was renamed to session.log.1", "was removed"]))
def test_a_game_that_a_rotation_cuts_has_ended_and_is_appended(cli: Cli, tmp_path: Path, way: str) -> None:
    log, pgn, out = tmp_path / "session.log", tmp_path / "games.pgn", tmp_path / "events.jsonl"
    append(log, STREAM[:MIDDLE])
    process = start(cli, "--events", "-", "--pgn", pgn, log, out=out)
    wait_for(out, "game_started")
    writer = log.open("ab", buffering=0)
    if "renamed" in way:
        log.rename(tmp_path / "session.log.1")
    else:
        log.unlink()
    until(process, f"{log} {way}: reading on in it until there is a new one.\n")
    with writer:  # like a program that does not notice the rotation
        writer.write(STREAM[MIDDLE : STREAM.index(b"\n", MIDDLE) + 1])
    if "renamed" in way:
        wait_for(out, '"ply": 19,')
    append(log, STREAM[END:])
    until(process, f"{log} {'was replaced' if way == 'was removed' else way}: continuing with the new content.\n")
    wait_for(pgn, "log-ends")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=300)
    assert process.returncode == 0
    events = list(map(json.loads, out.read_text().splitlines()))
    cut = [event["key"] for event in events if event["event"] == "game_ended" and event["end"] == "log-ends"]
    assert len(cut) == 1
    assert pgn_keys(pgn).count(cut[0]) == 1
    assert '[RecorderEnd "log-ends"]' in pgn.read_text()


def test_a_renamed_log_is_reported_and_its_successor_followed(cli: Cli, tmp_path: Path) -> None:
    log, out = tmp_path / "session.log", tmp_path / "events.jsonl"
    append(log, STREAM[:END])
    process = start(cli, "--events", "-", log, out=out)
    wait_for(out, "game_started")
    log.rename(tmp_path / "session.log.1")
    append(log, STREAM[END:])
    while "was renamed to session.log.1: " not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    process.communicate(timeout=300)
    events = list(map(json.loads, out.read_text().splitlines()))
    started = [event["key"] for event in events if event["event"] == "game_started"]
    assert len(started) == len(set(started))


@pytest.mark.parametrize(
    ("name", "output"),
    [("no.log", "use --wait to wait for it"), ("folder", "is a folder: name the log"), ("pipe", "cannot be followed")],
)
def test_a_file_that_cannot_be_followed_is_an_error(cli: Cli, tmp_path: Path, name: str, output: str) -> None:
    (tmp_path / "folder").mkdir()
    os.mkfifo(tmp_path / "pipe")
    assert output in cli("follow", tmp_path / name, code=3).stderr


def test_a_file_that_is_no_log_is_reported_at_the_end(cli: Cli, tmp_path: Path) -> None:
    other = tmp_path / "recipe.txt"
    other.write_text("Take two eggs.\n" * 50)
    process = start(cli, other)
    while "has no line of a chess server or engine" not in process.stderr.readline():
        pass
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 3
    assert "Error: " in process.stderr.read()
    process.stderr.close()


@pytest.mark.parametrize("target", ["none/games.pgn", "a.log", "archive.sqlite"])
def test_a_pgn_that_cannot_be_written_is_refused_at_once(cli: Cli, tmp_path: Path, target: str) -> None:
    log = tmp_path / "a.log"
    append(log, STREAM)
    assert target.rpartition("/")[2] in cli("follow", "--pgn", cli.archive.parent / target, log, code=5).stderr
    assert log.read_bytes() == STREAM
    assert not cli.archive.exists()
