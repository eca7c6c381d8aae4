"""Following a log that somebody else is writing."""

from __future__ import annotations

import io
import itertools
import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import recorder.cli.inputs
import storage.engine
from exporters.pgn import PgnOptions
from recorder.cli.catchup import CatchUp, state_of
from recorder.cli.finished import FinishedGames, is_over
from recorder.cli.follow import Follower
from recorder.cli.inputs import ReadOptions
from recorder.cli.ticker import Ticker
from recorder.journal.writer import JournalWriter, Sync
from tests.support.cli import ADJOURNED, WATCHER, Cli

PGN_OPTIONS = PgnOptions()
STREAM = WATCHER.read_bytes()
END = STREAM.index(b"} ", STREAM.index(b"{Game ", 12_000))  # in the middle of a game's end line


def catch_up(cli: Cli, log: Path, **how: Any) -> CatchUp:
    return CatchUp(str(cli.archive), log, ReadOptions(), **how)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def exported(cli: Cli) -> list[dict[str, Any]]:
    games = [json.loads(line) for line in cli("export", "games", "--include", "empty").stdout.splitlines()]
    for game in games:
        for seen in game["sources"]:
            seen.pop("name")  # only the file's
    return games


# -- the archive -----------------------------------------------------------------------------------------------------


def test_steps_give_what_one_import_gives(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    keeping = catch_up(cli, log)
    assert keeping.step() is None
    statuses = []
    for begin in range(0, len(STREAM), 3_001):
        append(log, STREAM[begin : begin + 3_001])
        outcome = keeping.step()
        assert outcome is not None
        statuses.append(outcome.status)
        assert keeping.step() is None, "nothing is new"
    assert set(statuses) <= {"not-a-log", "new", "grown"}
    assert keeping.problem is None
    other = Cli(tmp_path / "other.sqlite")
    other("import", log)
    assert exported(cli) == exported(other)
    assert "agrees; 5 games" in cli("verify").stdout
    cli("db", "check")


def test_only_what_is_new_is_read(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:-500])
    keeping = catch_up(cli, log)
    keeping.step()
    offsets: list[int] = []
    read_blocks = recorder.cli.inputs.read_blocks

    def counted(path: Path, size: int = 1 << 20, offset: int = 0) -> Any:
        offsets.append(offset)
        return read_blocks(path, size, offset)

    monkeypatch.setattr(recorder.cli.inputs, "read_blocks", counted)
    append(log, STREAM[-500:])
    outcome = keeping.step()
    assert outcome is not None
    assert outcome.status == "grown"
    assert offsets[0] == len(STREAM) - 500, "what was hashed is not hashed again"
    assert offsets[1] > 20_000, "what is final is not read again"


def test_a_locked_archive_is_filled_later(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage.engine, "BUSY_TIMEOUT_MS", 50)
    log = tmp_path / "session.log"
    append(log, STREAM[:END])
    keeping = catch_up(cli, log)
    keeping.step()
    append(log, STREAM[END:])
    lock = sqlite3.connect(cli.archive, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    assert keeping.step() is None
    assert keeping.problem is not None
    assert "locked" in keeping.problem
    lock.execute("ROLLBACK")
    lock.close()
    outcome = keeping.step()
    assert outcome is not None
    assert (outcome.status, keeping.problem) == ("grown", None)
    assert len(exported(cli)) == 5


def test_a_broken_archive_is_told_and_never_raises(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM)
    cli.archive.write_bytes(b"SQLite format 3\x00" + b"no database" * 999)
    keeping = catch_up(cli, log)
    assert keeping.step() is None
    assert keeping.problem is not None
    cli.archive.unlink()
    assert keeping.step() is not None
    assert keeping.problem is None


def test_somebody_else_may_import_the_log_meanwhile(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:9_000])
    keeping = catch_up(cli, log)
    keeping.step()
    for size in (14_000, 20_000):
        append(log, STREAM[log.stat().st_size : size])
        cli("import", log)
    append(log, STREAM[20_000:25_000])
    keeping.step()
    append(log, STREAM[25_000:])
    keeping.step()
    assert len(cli.json("sources", "--json")) == 1
    assert len(exported(cli)) == 5


@pytest.mark.parametrize("way", ["renamed", "cut", "replaced"])
def test_a_rotated_log_is_read_to_its_end_and_the_new_one_begun(cli: Cli, tmp_path: Path, way: str) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:-800])
    keeping = catch_up(cli, log)
    keeping.step()
    if way == "renamed":
        append(log, STREAM[-800:])
        log.rename(tmp_path / "session.log.1")
        log.write_bytes(ADJOURNED.read_bytes())
    elif way == "cut":
        append(log, STREAM[-800:])
        keeping.step()
        log.write_bytes(ADJOURNED.read_bytes()[:3_000])
        assert keeping.step() is None
        assert keeping.replaced == "became shorter"
        log.write_bytes(ADJOURNED.read_bytes())
    else:
        append(log, STREAM[-800:])
        keeping.step()
        log.write_bytes(ADJOURNED.read_bytes() + b"\n" * len(STREAM))
    while keeping.step() is not None or keeping.replaced:
        pass
    assert sorted(source["games"] for source in cli.json("sources", "--json")) == [1, 5]
    assert len(exported(cli)) == 6


def test_a_journal_is_followed_through_its_parts(cli: Cli, tmp_path: Path) -> None:
    writer = JournalWriter(tmp_path, host="h", port=1, role="record", sync=Sync.OS, max_bytes=9_000)
    keeping = catch_up(cli, writer.path)
    for begin in range(0, len(STREAM), 700):
        writer.received(STREAM[begin : begin + 700])
        if begin % 2_100 == 0:
            keeping.step()
            assert keeping.problem is None
    writer.close()
    keeping.step()
    (source,) = cli.json("sources", "--json")
    assert (source["kind"], source["games"], source["kept"]) == ("journal", 5, False)
    assert "agrees; 5 games" in cli("verify").stdout
    other = Cli(tmp_path / "other.sqlite")
    other("import", tmp_path)
    assert exported(other) == exported(cli)


# -- games that are over ---------------------------------------------------------------------------------------------


def test_what_is_over() -> None:
    assert is_over("result", 100, 0)
    assert is_over("adjourned", 100, 0)
    assert not is_over("log-ends", 0, 100)
    assert is_over("unobserved", 99, 100)
    assert not is_over("unobserved", 100, 100), "it may be observed again"


def pgn_games(path: Path) -> list[str]:
    """Keys in the order of the file."""
    return [line.split('"')[1] for line in path.read_text().splitlines() if line.startswith('[RecorderKey "')]


@pytest.mark.parametrize("killed_every", [0, 1, 3])
def test_each_game_is_appended_once_however_often_the_program_dies(cli: Cli, tmp_path: Path, killed_every: int) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    keeping, finished = catch_up(cli, log), None
    sizes = [*range(0, len(STREAM), 2_500), len(STREAM)]
    for number, (begin, end) in enumerate(itertools.pairwise(sizes)):
        if finished is None or (killed_every and number % killed_every == 0):
            keeping, finished = catch_up(cli, log), FinishedGames(str(cli.archive), str(pgn), PGN_OPTIONS)
        append(log, STREAM[begin:end])
        outcome = keeping.step(finished.take)
        assert outcome is not None
        if outcome.kind is not None and number % 4:  # sometimes it dies before it has appended
            assert outcome.sha256
            finished.append(outcome.sha256)
        assert finished.problem is None
        if pgn.exists():
            over = {game["key"] for game in exported(cli) if game["reason"] is not None}
            assert set(pgn_games(pgn)) <= over
    assert finished is not None
    assert outcome is not None
    finished.append(str(outcome.sha256))
    assert sorted(pgn_games(pgn)) == sorted(game["key"] for game in exported(cli) if game["reason"])
    cli("export", "pgn", "-o", tmp_path / "all.pgn")
    whole = (tmp_path / "all.pgn").read_text().split("[Event ")
    assert sorted(pgn.read_text().split("[Event ")) == sorted(whole)


def test_a_folder_gets_a_file_a_day(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM)
    finished = FinishedGames(str(cli.archive), f"{tmp_path}/pgn/", PGN_OPTIONS)
    outcome = catch_up(cli, log).step(finished.take)
    assert outcome is not None
    finished.append(str(outcome.sha256))
    assert finished.problem is None
    assert sum(len(pgn_games(path)) for path in (tmp_path / "pgn").iterdir()) == 5
    assert (finished.games, finished.open) == (5, 0)


def test_a_file_that_cannot_be_written_gets_its_games_later(cli: Cli, tmp_path: Path) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "folder" / "games.pgn"
    append(log, STREAM)
    finished = FinishedGames(str(cli.archive), str(pgn), PGN_OPTIONS)
    outcome = catch_up(cli, log).step(finished.take)
    assert outcome is not None
    finished.append(str(outcome.sha256))
    assert finished.problem is not None
    pgn.parent.mkdir()
    finished.append(str(outcome.sha256))
    assert finished.problem is None
    assert len(pgn_games(pgn)) == 5


# -- the stream of events --------------------------------------------------------------------------------------------


def test_the_stream_tells_every_ply_once(cli: Cli, tmp_path: Path) -> None:
    log, out = tmp_path / "session.log", io.StringIO()
    ticker, keeping = Ticker(out), catch_up(cli, log)
    for begin in range(0, len(STREAM), 1_777):
        append(log, STREAM[begin : begin + 1_777])
        outcome = keeping.step(ticker.take)
        if outcome is not None and outcome.read_up_to is not None:
            ticker.settle(outcome.read_up_to)
    games = {game["key"]: game for game in exported(cli)}
    told: dict[str, list[dict[str, Any]]] = {key: [] for key in games}
    started, ended = [], []
    for line in out.getvalue().splitlines():
        event = json.loads(line)
        if event["event"] == "game_started":
            started.append(event["key"])
        elif event["event"] == "ply":
            told[event["key"]].append({name: event[name] for name in event if name not in ("event", "key")})
        elif event["event"] == "takeback":
            told[event["key"]] = [ply for ply in told[event["key"]] if ply["ply"] <= event["ply"]]
        else:
            ended.append((event["key"], event["result"]))
    assert sorted(started) == sorted(games)
    assert {key: [(ply["ply"], ply["san"]) for ply in plies] for key, plies in told.items()} == {
        key: [(ply["ply"], ply["san"]) for ply in game["plies"]] for key, game in games.items()
    }
    assert sorted(ended) == sorted((key, game["result"]) for key, game in games.items() if game["reason"])


# -- when to read ----------------------------------------------------------------------------------------------------


def test_it_reads_when_the_log_is_quiet_and_at_least_so_often(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    keeping = catch_up(cli, log)
    follower = Follower(log, keeping, None, None)
    steps: list[float] = []
    follower.step = lambda: steps.append(now)  # type: ignore[method-assign]
    now = 100.0
    append(log, STREAM[:500])
    while now < 108.0:  # it grows all the time
        append(log, b"\n")
        follower.look(state_of(log), now, 5.0)
        now += 0.25
    assert steps == [100.0, 105.0]
    while now < 110.0:
        follower.look(state_of(log), now, 5.0)
        now += 0.25
    assert steps[2] - 108.0 <= 0.5


# -- the command -----------------------------------------------------------------------------------------------------


def start(cli: Cli, *words: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "recorder", "follow", "--db", cli.archive, *words]
    return subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, what: str) -> None:
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if path.exists() and what in path.read_text():
            return
        time.sleep(0.1)
    pytest.fail(f"{what} never came into {path}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_command_waits_follows_and_ends_cleanly(cli: Cli, tmp_path: Path, number: signal.Signals) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    process = start(cli, "--wait", "--pgn", pgn, "--events", "-", log)
    time.sleep(0.5)
    append(log, STREAM[:END])
    time.sleep(0.5)
    append(log, STREAM[END:])
    wait_for(pgn, "RecorderKey")
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert "5 games read" in err
    assert f"{len(pgn_games(pgn))} games appended" in err
    assert out.count('"event": "game_started"') == 5
    assert len(exported(cli)) == 5


def test_killed_and_started_again(cli: Cli, tmp_path: Path) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    append(log, STREAM[:END])
    process = start(cli, "--pgn", pgn, log)
    wait_for(pgn, "RecorderKey")
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    append(log, STREAM[END:])
    process = start(cli, "--pgn", pgn, log)
    wait_for(pgn, exported_last_key(STREAM, tmp_path))
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    assert len(pgn_games(pgn)) == len(set(pgn_games(pgn))) == 5
    cli("db", "check")


def exported_last_key(stream: bytes, folder: Path) -> str:
    (folder / "session").mkdir()
    (folder / "session" / "session.log").write_bytes(stream)
    other = Cli(folder / "session" / "archive.sqlite")
    other("import", folder / "session" / "session.log")
    return str(max((game for game in exported(other)), key=lambda game: game["sources"][0]["offset"])["key"])


def test_a_log_that_is_not_there_is_an_error(cli: Cli, tmp_path: Path) -> None:
    assert "--wait" in cli("follow", tmp_path / "no.log", code=3).stderr
