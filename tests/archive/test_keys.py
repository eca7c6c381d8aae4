"""Copies of a log that continue differently: the PGN and the events have the keys of the archive."""

import hashlib
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from exporters.pgn.exporter import PgnOptions
from recorder.archive.exporting import chosen_games
from recorder.archive.following.events import EventLineWriter
from recorder.archive.following.follower import Follower
from recorder.archive.following.pgn import FinishedGames
from recorder.archive.reading.importing import ReadOptions
from tests.archive.test_following import STREAM, append, pgn_keys
from tests.support.cli import Cli


def keys_of(cli: Cli, name: str) -> set[str]:
    db = sqlite3.connect(cli.archive)
    try:
        rows = db.execute("SELECT key FROM games JOIN sources ON sources.id = source_id WHERE name = ?", (name,))
        return {key for (key,) in rows}
    finally:
        db.close()


def follow(cli: Cli, log: Path, pgn: Path, events: io.StringIO | None = None) -> None:
    outlets = (FinishedGames(str(pgn), PgnOptions()), EventLineWriter((events or io.StringIO()).write))
    updater = Follower(str(cli.archive), log, ReadOptions(), outlets=outlets)
    updater.look()
    assert updater.finish(), updater.problem


def tail_of(rank: int) -> bytes:
    """Return an end that gives the whole log a small hash (0) or a large one (1)."""
    tails = (b"fics%% log %d\n\r" % number for number in range(100))
    return sorted(tails, key=lambda tail: hashlib.sha256(STREAM + tail).digest())[-rank]


def test_a_log_that_another_process_continues_in_the_middle(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, pgn = tmp_path / "a.raw", tmp_path / "a.pgn"
    log.write_bytes(STREAM)
    first, second = (
        Follower(str(cli.archive), log, ReadOptions(), outlets=(FinishedGames(str(pgn), PgnOptions()),)) for _ in "ab"
    )
    first.look()
    moments: list[bytes] = [b"fics% more\n\r"]

    def of_another_moment(*where: Any, **how: Any) -> Any:
        if moments:  # between the look at the source and the look at its games
            append(log, moments.pop())
            first.look(settle=True)
        return chosen_games(*where, **how)

    monkeypatch.setattr("recorder.archive.following.pgn.chosen_games", of_another_moment)
    second.look()
    assert not moments
    assert second.finish(), second.problem
    assert first.finish(), first.problem
    assert sorted(pgn_keys(pgn)) == sorted(keys_of(cli, "a.raw"))


@pytest.mark.parametrize("rank", [0, 1])
def test_a_second_log_of_a_session(cli: Cli, tmp_path: Path, rank: int) -> None:
    ours, other, pgn, events = tmp_path / "b.raw", tmp_path / "a.raw", tmp_path / "b.pgn", io.StringIO()
    other.write_bytes(STREAM + tail_of(1 - rank))
    ours.write_bytes(STREAM + tail_of(rank))
    cli("import", other)
    follow(cli, ours, pgn, events)
    assert len(keys_of(cli, "b.raw")) == len(pgn_keys(pgn)) == 5
    assert set(pgn_keys(pgn)) == keys_of(cli, "b.raw")
    assert {json.loads(line)["key"] for line in events.getvalue().splitlines()} == keys_of(cli, "b.raw")


def test_a_copy_that_gets_the_keys_duplicates_no_game(cli: Cli, tmp_path: Path) -> None:
    ours, other, pgn = tmp_path / "b.raw", tmp_path / "a.raw", tmp_path / "b.pgn"
    ours.write_bytes(STREAM + tail_of(1))
    other.write_bytes(STREAM + tail_of(0))
    follow(cli, ours, pgn)
    before = pgn_keys(pgn)
    cli("import", other)
    assert keys_of(cli, "a.raw") == set(before), "they have moved"
    append(ours, b"fics% more\n\r")
    follow(cli, ours, pgn)
    assert pgn_keys(pgn) == before
    identity = cli.json("sources", "--json")
    (gone,) = [row["id"] for row in identity if row["name"] == "a.raw"]
    cli("sources", "forget", gone)
    append(ours, b"fics% and more\n\r")
    follow(cli, ours, pgn)
    assert pgn_keys(pgn) == before
