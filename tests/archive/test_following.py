"""The archive of a growing log has all complete lines at every moment, and finally equals that of one import."""

import fcntl
import gzip
import io
import itertools
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import recorder.archive.following.events
import recorder.archive.following.follower
import storage.write.source
from exporters.games_json import game_object
from exporters.pgn.exporter import PgnOptions
from recorder.archive.following.events import EventLineWriter, EventPipe
from recorder.archive.following.follower import Follower
from recorder.archive.following.pgn import FinishedGames, refuse_unwritable
from recorder.archive.reading.importing import ReadOptions
from recorder.errors import ExportError
from recorder.journal import close_left_open
from recorder.journal.writer import JournalWriter, Sync
from storage import ArchiveStore, GameFilter
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli
from tests.support.effort import long_after

STREAM = WATCHER.read_bytes()
END = STREAM.index(b"} ", STREAM.index(b"{Game ", 12_000))  # in the middle of a game's end line
LOGS = sorted(SERVER.glob("*/*.raw*"))


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry failures at once."""
    monkeypatch.setattr(recorder.archive.following.follower, "_AGAIN_S", 0.0)


def follow(cli: Cli, log: Path, *outlets: Any, **how: Any) -> Follower:
    return Follower(str(cli.archive), log, ReadOptions(), outlets=outlets, **how)


def append(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)


def games_of(cli: Cli) -> list[dict[str, Any]]:
    games = [json.loads(line) for line in cli("export", "games", "--include", "empty", code=None).stdout.splitlines()]
    for game in games:
        for seen in game["sources"]:
            seen.pop("name")  # it names only the file
    return games


def games_by_key(cli: Cli) -> dict[str, dict[str, Any]]:
    """Return the games of each source: both halves of an adjourned game are separate."""
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        games = archive.games(GameFilter(min_plies=0, per_source=True))
        return {game.key: json.loads(json.dumps(game_object(game))) for game in games}


def everything(cli: Cli) -> tuple[Any, ...]:
    sources, anomalies = (
        [
            {name: value for name, value in one.items() if name not in ("name", "path")}  # a part may be compressed
            for one in cli.json(command, "--json")
        ]
        for command in ("sources", "anomalies")
    )
    return games_of(cli), cli("export", "plies", code=None).stdout, anomalies, sources


def pgn_keys(path: Path) -> list[str]:
    """Return the keys in the order of the file."""
    return [line.split('"')[1] for line in path.read_text().splitlines() if line.startswith('[RecorderKey "')]


# -- the archive -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", long_after(2, range(6)))
def test_a_followed_log_gives_the_same_archive_as_one_import(
    cli: Cli, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """This holds for pieces of any size, after any number of kills, and while others import the same log."""
    chance = random.Random(seed)
    log = chance.choice(LOGS)
    data = (gzip.decompress(log.read_bytes()) if log.suffix == ".gz" else log.read_bytes())[:60_000]
    monkeypatch.setattr(recorder.archive.following.follower, "_SETTLE_S", chance.choice((0.0, 0.02, 10.0)))
    journal = None
    if seed % 3:
        most = chance.choice((9_000, 1 << 20))
        journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS, max_bytes=most)
    path = tmp_path / "session.log" if journal is None else journal.path
    updater = follow(cli, path)
    at = 0
    while at < len(data):
        piece = data[at : at + chance.choice((1, 30, 300, 3000))]
        at += len(piece)
        if journal is None:
            append(path, piece)
        else:
            journal.received(piece)
        if chance.random() < 0.7:
            updater.look(settle=chance.random() < 0.1)
            assert updater.problem is None
        if chance.random() < 0.02:
            updater.close()  # killed
            updater = follow(cli, path)
        if chance.random() < 0.005:
            cli("import", path)
        if cli.archive.exists() and chance.random() < 0.01:
            cli("db", "check")
    if journal is not None:
        journal.close()
    assert updater.finish()
    other = Cli(tmp_path / "other.sqlite")
    other("import", path if journal is None else tmp_path / "j")
    assert everything(cli) == everything(other)
    cli("db", "check")
    assert "agrees" in cli("verify").stdout


def test_a_ply_is_stored_when_its_line_is_complete(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    updater = follow(cli, log)
    begin = STREAM.index(b"<12>", 8_000)
    append(log, STREAM[:begin])
    updater.look()
    before = sum(len(game["plies"]) for game in games_of(cli))
    append(log, STREAM[begin : STREAM.index(b"\n", begin)])
    updater.look()
    assert sum(len(game["plies"]) for game in games_of(cli)) == before, "its line has no end yet"
    append(log, b"\n")
    updater.look()
    assert sum(len(game["plies"]) for game in games_of(cli)) == before + 1
    cli("db", "check")


def test_a_result_is_stored_when_its_line_is_complete(cli: Cli, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    updater = follow(cli, journal.path)
    end = STREAM.index(b"\n", END) + 8
    journal.received(STREAM[:END])
    updater.look()
    ended = sum(game["reason"] is not None for game in games_of(cli))
    journal.received(STREAM[END:end])
    updater.look()
    assert sum(game["reason"] is not None for game in games_of(cli)) == ended + 1


def test_a_locked_archive_is_filled_later(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storage.write.source, "_WAIT_MS", 50)
    monkeypatch.setattr(storage.files, "BUSY_TIMEOUT_MS", 50)
    log = tmp_path / "session.log"
    append(log, STREAM[:END])
    updater = follow(cli, log)
    updater.look()
    append(log, STREAM[END:])
    lock = sqlite3.connect(cli.archive, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    assert not updater.look()
    assert "locked" in str(updater.problem)
    assert not updater.look(), "it cannot even begin again"
    lock.execute("ROLLBACK")
    lock.close()
    updater.look()
    assert updater.problem is None
    assert updater.finish()
    assert len(games_of(cli)) == 5


def test_a_corrupt_archive_is_reported_and_raises_nothing(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM)
    cli.archive.write_bytes(b"SQLite format 3\x00" + b"no database" * 999)
    updater = follow(cli, log)
    assert not updater.look()
    assert updater.problem is not None
    cli.archive.unlink()
    updater.look()
    assert updater.problem is None


def test_a_replaced_archive_gets_the_games_it_lacks(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:END])
    updater = follow(cli, log)
    updater.look()
    other = Cli(tmp_path / "other.sqlite")
    (tmp_path / "adjourned.log").write_bytes(ADJOURNED.read_bytes())
    other("import", tmp_path / "adjourned.log")
    for suffix in ("-wal", "-shm"):
        cli.archive.with_name(cli.archive.name + suffix).unlink(missing_ok=True)
    other.archive.replace(cli.archive)
    append(log, STREAM[END:])
    updater.look()
    assert updater.finish(), updater.problem
    assert len(games_of(cli)) == 6


@pytest.mark.parametrize("with_pgn", [False, True])
def test_an_archive_being_written_cannot_be_replaced(cli: Cli, tmp_path: Path, with_pgn: bool) -> None:
    """Its locks belong to the process: no other use of the file by this process may release them."""
    log, other = tmp_path / "session.log", tmp_path / "other.log"
    append(log, STREAM[:END])
    append(other, ADJOURNED.read_bytes())
    outlets = [finished(tmp_path / "games.pgn")] if with_pgn else []
    updater, second = follow(cli, log, *outlets), follow(cli, other)
    updater.look(settle=True)
    second.look(settle=True)
    rebuild = [sys.executable, "-m", "recorder", "db", "rebuild", "--db", str(cli.archive)]
    output = subprocess.run(rebuild, capture_output=True, text=True, check=False)
    assert output.returncode == 4, output.stderr
    assert "in use by another program" in output.stderr
    append(log, STREAM[END:])
    updater.look()
    assert updater.finish()
    assert second.finish()
    cli("db", "check")
    assert cli("verify").stdout.count("agrees") == 2


@pytest.mark.parametrize("way", ["renamed", "cut", "replaced"])
def test_a_rotated_log_is_read_to_its_end_before_the_new_one(cli: Cli, tmp_path: Path, way: str) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM[:-800])
    updater = follow(cli, log)
    updater.look()
    append(log, STREAM[-800:])
    if way == "renamed":
        log.rename(tmp_path / "session.log.1")
        log.write_bytes(ADJOURNED.read_bytes())
        output = "was renamed to session.log.1"
    elif way == "cut":
        updater.look()
        log.write_bytes(ADJOURNED.read_bytes()[:3_000])
        output = "became shorter"
    else:
        updater.look()
        log.write_bytes(ADJOURNED.read_bytes() + b"\n" * len(STREAM))
        output = "was replaced"
    updater.look()
    assert updater.replaced == output
    updater.look()
    if way == "cut":
        log.write_bytes(ADJOURNED.read_bytes())
    updater.look()
    assert updater.finish()
    assert sorted(source["games"] for source in cli.json("sources", "--json")) == [1, 5]
    assert len(games_of(cli)) == 6


def test_a_compressed_log_may_grow_too(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log.gz"
    log.write_bytes(gzip.compress(STREAM[:END]))
    updater = follow(cli, log)
    updater.look()
    append(log, gzip.compress(STREAM[END:]))
    updater.look()
    assert updater.finish()
    assert len(games_of(cli)) == 5


def test_a_journal_shortened_by_a_power_cut_stays_one_source(cli: Cli, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    for begin in range(0, len(STREAM), 500):
        journal.received(STREAM[begin : begin + 500])
    updater = follow(cli, journal.path)
    updater.look(settle=True)
    updater.close()
    os.truncate(journal.path, journal.path.stat().st_size * 2 // 3)
    cli("import", journal.path)
    other = Cli(tmp_path / "other.sqlite")
    other("import", journal.path)
    assert everything(cli) == everything(other)


def test_an_unfinished_line_of_an_open_journal_is_not_stored_yet(cli: Cli, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    begin = STREAM.index(b"<12>", 12_000)
    journal.received(STREAM[: begin + 40])
    cli("import", journal.path)
    assert cli.json("anomalies", "--json") == []
    assert "agrees" in cli("verify").stdout
    journal.received(STREAM[begin + 40 :])
    journal.close()
    cli("import", tmp_path / "j")
    assert len(games_of(cli)) == 5
    assert cli.json("anomalies", "--json") == []


def test_verify_agrees_while_the_archive_is_written(cli: Cli, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    updater = follow(cli, journal.path)
    journal.received(STREAM[:END])
    updater.look(settle=True)
    journal.received(STREAM[END : END + 2_000])
    updater.look()
    assert "is being written" in cli("verify").stdout
    cli("db", "check")


# -- finished games --------------------------------------------------------------------------------------------------


def finished(path: object) -> FinishedGames:
    return FinishedGames(str(path), PgnOptions())


@pytest.mark.parametrize("killed_every", [0, 1, 3])
def test_each_game_is_appended_once_however_often_the_program_dies(cli: Cli, tmp_path: Path, killed_every: int) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    updater, games = None, None
    sizes = [*range(0, len(STREAM), 2_500), len(STREAM)]
    for number, (begin, end) in enumerate(itertools.pairwise(sizes)):
        if updater is None or (killed_every and number % killed_every == 0):
            if updater is not None:
                updater.close()
                torn = pgn.read_bytes() if pgn.exists() else b""
                if number % 2 and torn:
                    os.truncate(pgn, len(torn) - number * 7)  # in the middle of a write
            games = finished(pgn)
            updater = follow(cli, log, games)
        append(log, STREAM[begin:end])
        updater.look()
        games.wait()
        assert games.problem is None
        assert updater.problem is None
        if pgn.exists():
            over = {game["key"] for game in games_of(cli) if game["reason"] is not None}
            assert set(pgn_keys(pgn)) <= over
    assert updater.finish()
    assert sorted(pgn_keys(pgn)) == sorted(game["key"] for game in games_of(cli) if game["reason"])
    cli("export", "pgn", "-o", tmp_path / "all.pgn")
    whole = (tmp_path / "all.pgn").read_text().split("[Event ")
    assert sorted(pgn.read_text().split("[Event ")) == sorted(whole)


def test_a_game_is_appended_when_its_end_is_reported(cli: Cli, tmp_path: Path) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    games = finished(pgn)
    updater = follow(cli, log, games)
    for at in range(0, len(STREAM), 400):
        append(log, STREAM[at : at + 400])
        updater.look()
        games.wait()
        over = sum(game["reason"] is not None for game in games_of(cli)) if at > 800 else 0
        assert (len(pgn_keys(pgn)) if pgn.exists() else 0) == over


MIDDLE = STREAM.rindex(b"<12>", 0, END)  # in the middle of a game
LEFT = STREAM[: STREAM.index(b"\n", MIDDLE) + 1] + b"\nRemoving game 1 from observation list.\n\nfics% "


@pytest.mark.parametrize("stream", [LEFT, STREAM[:MIDDLE]], ids=["no longer observed", "in mid-game"])
def test_a_game_cut_by_a_crash_is_appended_once_its_journal_is_ended(cli: Cli, tmp_path: Path, stream: bytes) -> None:
    """Until then a later part of the journal may continue the game."""
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    journal.received(stream)
    left, pgn = tmp_path / "left" / journal.path.name, tmp_path / "games.pgn"
    left.parent.mkdir()
    shutil.copy(journal.path, left)
    journal.close()
    ended = 0
    for number in range(4):
        games = finished(pgn)
        updater = follow(cli, left, games)
        updater.look(settle=True)
        assert updater.finish()
        assert games.problem is None
        keys = pgn_keys(pgn)
        assert len(keys) == len(set(keys))
        if number == 0:
            ended = len(keys)
            assert ended == sum(game["reason"] is not None for game in games_of(cli))
        if number == 1:
            assert close_left_open(left)
    played = [game["key"] for game in games_of(cli) if game["plies"]]
    assert sorted(keys) == sorted(played)
    assert len(keys) > ended
    cli("export", "pgn", "-o", tmp_path / "all.pgn")
    whole = (tmp_path / "all.pgn").read_text().split("[Event ")
    assert sorted(pgn.read_text().split("[Event ")) == sorted(whole)


def test_a_game_that_was_appended_before_its_end_is_appended_once(cli: Cli, tmp_path: Path) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    append(log, LEFT)
    cli("import", log)
    cli("export", "pgn", "-o", pgn)
    updater = follow(cli, log, finished(pgn))
    updater.look()
    append(log, STREAM[END:])
    updater.look()
    assert updater.finish()
    keys = pgn_keys(pgn)
    assert len(keys) == len(set(keys))


def test_a_final_end_that_could_not_be_appended_is_appended_later(cli: Cli, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    journal.received(LEFT)
    journal.close()
    pgn = tmp_path / "games.pgn"
    pgn.mkdir()
    games = FinishedGames(str(pgn), PgnOptions())
    games._split = False  # it became a folder when it was opened
    updater = follow(cli, journal.path, games)
    updater.look()
    updater.finish()
    assert games.problem is not None
    pgn.rmdir()
    assert updater.finish()
    assert games.problem is None
    assert sorted(pgn_keys(pgn)) == sorted(game["key"] for game in games_of(cli) if game["plies"])


def test_existing_text_of_the_file_is_kept(cli: Cli, tmp_path: Path) -> None:
    log, pgn = tmp_path / "session.log", tmp_path / "games.pgn"
    mine = '[Event "my own"]\n[Result "*"]\n\n1. e4 *'  # without an end of line
    pgn.write_text(mine)
    append(log, STREAM)
    updater = follow(cli, log, finished(pgn))
    updater.look()
    assert updater.finish()
    assert pgn.read_text().startswith(mine + "\n\n[Event ")
    assert len(pgn_keys(pgn)) == 5


def test_a_folder_gets_a_file_a_day(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    append(log, STREAM)
    games = finished(f"{tmp_path}/pgn/")
    updater = follow(cli, log, games)
    updater.look()
    assert updater.finish()
    assert games.problem is None
    assert sum(len(pgn_keys(path)) for path in (tmp_path / "pgn").iterdir()) == 5
    assert games.games == 5


def test_a_log_that_grows_again_into_a_new_archive_appends_no_game_twice(cli: Cli, tmp_path: Path) -> None:
    """The PGN may have games that the archive does not have yet, as when two processes read one journal."""
    pgn, log = tmp_path / "games.pgn", tmp_path / "session.log"
    for archive in (cli, Cli(tmp_path / "other.sqlite")):
        log.write_bytes(STREAM[:4_000])
        updater = follow(archive, log, finished(str(pgn)))
        updater.look()
        append(log, STREAM[4_000:])
        updater.look()
        assert updater.finish()
    assert len(pgn_keys(pgn)) == 5
    assert len(set(pgn_keys(pgn))) == 5


def test_a_pgn_in_an_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pgn = tmp_path / "games.pgn"
    pgn.touch()
    refuse_unwritable(str(pgn))
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != tmp_path)
    with pytest.raises(ExportError, match=f"{tmp_path} is not writable"):
        refuse_unwritable(str(pgn))


# -- the stream of events --------------------------------------------------------------------------------------------


def from_events(lines: str) -> tuple[dict[str, dict[str, Any]], list[tuple[str, str]]]:
    """Read events by docs/reference/formats.md; return the fields of each game, and key and result of ended ones."""
    games: dict[str, dict[str, Any]] = {}
    ended = []
    for event in map(json.loads, lines.splitlines()):
        what, key = event.pop("event"), event.pop("key")
        assert sorted(event) == sorted(DOCUMENTED[what]) or (
            what == "game_changed" and event.keys() <= DOCUMENTED["game_started"]
        )
        if what == "game_started":
            assert key not in games
            games[key] = event | {"plies": {}}
        elif what == "game_changed":
            games[key] |= event
        elif what == "ply":
            games[key]["plies"][event["ply"]] = event
        elif what == "holdings":
            games[key]["plies"][event["ply"]] |= event
        elif what == "takeback":
            taken = [number for number in games[key]["plies"] if number > event["ply"]]
            assert taken, "a takeback that takes nothing back"
            for number in taken:
                del games[key]["plies"][number]
        else:
            ended.append((key, event["result"]))
    for game in games.values():
        game["plies"] = [ply for _, ply in sorted(game["plies"].items())]
    return games, ended


def documented() -> dict[str, set[str]]:
    """Return the events in docs/reference/formats.md with their fields."""
    text = FORMATS.read_text(encoding="utf-8")
    table = text[text.index("\n## Events ") :].split("\n\n")[2]
    rows = [[cell.strip() for cell in line.split("|")] for line in table.splitlines()[2:]]
    found = {row[1]: set(row[2].split(", ")) for row in rows}
    plies = text[text.index("| ply field |") :].split("\n\n")[0]
    found["ply"] = {name for line in plies.splitlines()[2:] for name in line.split("|")[1].strip().split(", ")}
    return found


FORMATS = Path(__file__).parent.parent.parent / "docs" / "reference" / "formats.md"
DOCUMENTED = documented()


@pytest.mark.parametrize(
    ("log_name", "seen"),
    [
        ("a11_adjourn_disconnect/observer_GuestAda.raw", "game_changed"),
        ("b09_crazyhouse/observer_GuestXz.raw.gz", "holdings"),
    ],
)
def test_facts_that_arrive_later_are_emitted_without_a_takeback(
    cli: Cli, tmp_path: Path, log_name: str, seen: str
) -> None:
    """Moves of a list before the first board replace none; holdings arrive one line after the move."""
    data = (SERVER / log_name).read_bytes()
    data = (gzip.decompress(data) if log_name.endswith("gz") else data)[:25_000]
    log, out = tmp_path / "session.log", io.StringIO()
    updater = follow(cli, log, EventLineWriter(out.write))
    for line in data.splitlines(keepends=True):
        append(log, line)
        updater.look()
    assert updater.finish()
    events = [json.loads(line) for line in out.getvalue().splitlines()]
    assert seen in {event["event"] for event in events}
    assert "takeback" not in {event["event"] for event in events}
    if seen == "game_changed":
        assert [event["start_fen"] for event in events if "start_fen" in event and event["event"] == seen] == [None] * 2
    output, _ = from_events(out.getvalue())
    games = games_by_key(cli)
    assert output == {key: {name: game[name] for name in output[key]} for key, game in games.items()}


@pytest.mark.parametrize(
    "log_name", ["b01_standard/observer_Watcher.raw", "a06_chatter_takebacks/observer_Euwe.raw.gz"]
)
def test_the_stream_contains_every_ply_once(cli: Cli, tmp_path: Path, log_name: str) -> None:
    data = (SERVER / log_name).read_bytes()
    data = (gzip.decompress(data) if log_name.endswith("gz") else data)[:100_000]
    log, out = tmp_path / "session.log", io.StringIO()
    event_lines = EventLineWriter(out.write)
    updater = follow(cli, log, event_lines)
    for number, begin in enumerate(range(0, len(data), 777)):
        append(log, data[begin : begin + 777])
        updater.look()
        if number % 40 == 39:
            updater.close()  # as after a failure
    updater.finish()
    games = {game["key"]: game for game in games_of(cli)}
    output, ended = from_events(out.getvalue())
    assert sorted(output) == sorted(games)
    assert output == {key: {name: game[name] for name in output[key]} for key, game in games.items()}
    assert {(key, game["result"]) for key, game in games.items() if game["reason"]} <= set(ended)


def test_each_ply_is_emitted_when_its_line_arrives(cli: Cli, tmp_path: Path) -> None:
    log, out = tmp_path / "session.log", io.StringIO()
    updater = follow(cli, log, EventLineWriter(out.write))
    append(log, STREAM[:9_000])
    updater.look()
    for frame in re.finditer(rb"<12> [^\n]*\n", STREAM[9_000:12_000]):
        append(log, frame[0])
        updater.look()
        printed = out.getvalue().count('"event": "ply"')
        assert printed == sum(len(game["plies"]) for game in games_of(cli))


@pytest.mark.parametrize("reads", [False, True])
def test_a_slow_event_reader_delays_the_archive_only_briefly(
    cli: Cli, tmp_path: Path, reads: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reader gets complete lines only: all of them, or the first ones."""
    monkeypatch.setattr(recorder.archive.following.events, "_MOST_BYTES", 20_000)
    monkeypatch.setattr(recorder.archive.following.events, "_PATIENCE_S", 60.0 if reads else 0.2)
    log, out = tmp_path / "session.log", io.StringIO()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4_096)
    pipe = EventPipe(writer)
    taken: list[bytes] = []

    def read() -> None:
        with os.fdopen(os.dup(reader), "rb", buffering=0) as file:
            while data := file.read(3_000):
                taken.append(data)

    reading = threading.Thread(target=read)
    if reads:
        reading.start()
    updater = follow(cli, log, EventLineWriter(pipe.write), EventLineWriter(out.write))
    for begin in range(0, len(STREAM), 2_000):
        append(log, STREAM[begin : begin + 2_000])
        updater.look()
    assert updater.finish()
    pipe.close()
    assert len(games_of(cli)) == 5
    assert pipe.lost == (None if reads else "The event reader is too slow")
    if not reads:
        os.set_blocking(reader, False)
        taken.append(os.read(reader, 1 << 20))
    os.close(writer)
    if reads:
        reading.join()
    os.close(reader)
    got = b"".join(taken).decode()
    assert got.endswith("\n")
    assert out.getvalue().startswith(got)
    assert (got == out.getvalue()) == reads


def test_a_journal_whose_folder_is_removed_is_read_to_its_end(cli: Cli, tmp_path: Path) -> None:
    journal = JournalWriter(tmp_path / "j", host="h", port=1, role="record", sync=Sync.OS)
    updater = follow(cli, journal.path)
    journal.received(STREAM[:END])
    updater.look()
    whole = tmp_path / "whole"
    shutil.copytree(tmp_path / "j", whole)
    shutil.rmtree(tmp_path / "j")
    for _ in range(3):
        updater.look()
        assert updater.problem is None
    assert updater.finish()
    other = Cli(tmp_path / "other.sqlite")
    other("import", whole)
    assert games_of(cli) == games_of(other)


def test_a_log_whose_successor_is_still_empty_is_read_on(cli: Cli, tmp_path: Path) -> None:
    """With logrotate's ``create`` the writer keeps the old file open until it gets a signal."""
    log = tmp_path / "session.log"
    append(log, STREAM[:END])
    updater = follow(cli, log)
    updater.look()
    log.rename(tmp_path / "session.log.1")
    log.touch()
    updater.look()
    assert (updater.replaced, updater.moved) == (None, "was renamed to session.log.1")
    append(tmp_path / "session.log.1", STREAM[END:])
    append(log, ADJOURNED.read_bytes())
    updater.look()
    assert updater.replaced == "was renamed to session.log.1"
    updater.look()
    assert updater.finish()
    assert sorted(source["games"] for source in cli.json("sources", "--json")) == [1, 5]


def test_two_processes_that_follow_one_log_both_finish(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recorder.archive.following.follower, "_AGAIN_S", 5.0)
    log = tmp_path / "session.log"
    append(log, STREAM[:2000])
    both = follow(cli, log), follow(cli, log)
    for begin in range(2000, len(STREAM), 400):
        append(log, STREAM[begin : begin + 400])
        for updater in both:
            updater.look()
    (problem,) = [updater.problem for updater in both if updater.problem is not None]
    assert problem.endswith("session.log too; waiting for it to end.")
    (at_work,) = [updater for updater in both if updater.problem is None]
    assert at_work.finish()
    assert len(games_of(cli)) == 5
    fresh = Cli(tmp_path / "fresh.sqlite")
    fresh("import", log)
    assert everything(cli) == everything(fresh)


class _BegunTogether:
    """A clock with which all journals begin at the same nanosecond."""

    def utc_ns(self) -> int:
        return 1_700_000_000_000_000_000

    def monotonic_ns(self) -> int:
        return time.monotonic_ns()


@pytest.mark.parametrize("seed", long_after(1, range(3)))
def test_journals_that_begin_together_give_the_same_archive_as_one_import(
    cli: Cli, tmp_path: Path, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games with equal facts get the same keys in any order of reading."""
    chance = random.Random(seed)
    monkeypatch.setattr(recorder.archive.following.follower, "_SETTLE_S", 0.0)
    monkeypatch.setattr("recorder.journal.writer.secrets.token_hex", lambda _: f"{chance.randrange(1 << 64):016x}")
    where = tmp_path / "j"
    journals = [
        JournalWriter(where, host="h", port=1, role="record", sync=Sync.OS, clock=_BegunTogether()) for _ in range(2)
    ]
    names = [journal.path.name for journal in journals]
    pgns = [tmp_path / f"{number}.pgn" for number in range(2)]
    updaters = [follow(cli, one.path, finished(pgn)) for one, pgn in zip(journals, pgns, strict=True)]
    for number, begin in enumerate(range(0, 24_000, 500)):
        for one in chance.sample(range(2), 2):
            at_ms = 200 * number + chance.choice((0, 0, 0, 1))
            journals[one].received(STREAM[begin : begin + 500], at_ms * 1_000_000)
            if chance.random() < (0.7 if seed % 2 else 1):
                updaters[one].look(settle=chance.random() < 0.5)
                assert updaters[one].problem is None
    for journal in journals:
        journal.close()
    assert all(updater.finish() for updater in updaters)
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        assert archive.successors()  # two games had equal facts
        games = list(archive.games(GameFilter(per_source=True)))
    for name, pgn in zip(names, pgns, strict=True):
        sources = [(game.key, game.observations[0].source) for game in games]
        own = sorted(key for key, source in sources if source and source.name == name)
        assert (
            sorted(pgn_keys(pgn)) == own or seed % 2
        )  # a process that is a game behind may change the key of an appended game
    fresh = Cli(tmp_path / "fresh.sqlite")
    fresh("import", tmp_path / "j")
    assert everything(cli) == everything(fresh)
    cli("db", "check")
