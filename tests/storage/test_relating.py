"""Games of several sources in an archive: whatever is imported, grown or forgotten, in whatever order."""

import json
import random
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorder.archive.following.follower import Follower
from recorder.archive.reading.importing import ReadOptions
from recorder.errors import StorageError
from recorder.model import Game
from storage import current
from storage.schema.upgrade import HEAD, upgrade
from storage.write import merged as relating
from tests.relating.interrupted import Played, journal_of
from tests.relating.scenes import connections, journal, whole
from tests.support.cli import Cli
from tests.support.corpus import stream_bytes, truth
from tests.support.effort import examples

from .test_schema import later_scripts

SCENARIO = "a11_adjourn_disconnect"


def _write(folder: Path, scenario: str = SCENARIO) -> list[Path]:
    folder.mkdir(exist_ok=True)
    paths = []
    for name in connections(scenario):
        paths.append(folder / f"{name}.icsj")
        paths[-1].write_bytes(journal(scenario, name))
    return paths


def _shown(cli: Cli) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cli("export", "games").stdout.splitlines()]


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "a.sqlite")


@pytest.mark.parametrize("scenario", [SCENARIO, "b08_adjourn", "c08_adjourn"])
def test_a_scenario_from_all_its_connections(cli: Cli, tmp_path: Path, scenario: str) -> None:
    paths = _write(tmp_path / "logs", scenario)
    cli("import", *paths)
    shown = _shown(cli)
    assert sorted((game["white"]["handle"], [ply["uci"] for ply in game["plies"]]) for game in shown) == sorted(
        (game["white"], game["moves_uci"]) for game in whole(scenario)
    )
    assert cli("db", "check").output == "The archive is sound.\n"
    assert "0 findings" in cli("verify").output
    before = cli("export", "games").stdout
    cli("import", *paths)
    cli("db", "rebuild")
    assert cli("export", "games").stdout == before


@pytest.mark.long
def test_what_cuts_and_kills_left_is_one_game_in_any_order_of_imports(tmp_path: Path) -> None:
    """Two recorders: one loses its line twice, the other one is killed twice. Then the next game begins."""
    spent = [900, 700, *[1300, 250, 2600, 900, 4000, 1800, 600] * 4]
    games = [Played(0, spent), Played(60_000, [each + 31 for each in spent])]
    spans = {"a": [(-1_000, 9_000), (14_000, 24_000), (26_000, 62_000), (66_000, 200_000)]}
    spans["b"] = [(-1_000, 3_000), (8_000, 20_000), (30_000, 90_000)]
    (tmp_path / "logs").mkdir()
    paths = []
    for name, begin, end in ((name, *span) for name, found in spans.items() for span in found):
        paths.append(tmp_path / "logs" / f"{name}{begin}.icsj")
        paths[-1].write_bytes(journal_of(paths[-1].stem, games, begin, end))
    shown = set()
    for seed in range(3):
        cli = Cli(tmp_path / f"{seed}.sqlite")
        for path in random.Random(seed).sample(paths, len(paths)):
            cli("import", path)
        shown.add(cli("export", "games").stdout)
        assert [(len(game["witnesses"]), game["complete"]) for game in _shown(cli)] == [(6, True), (3, True)]
    assert len(shown) == 1
    assert cli("db", "check").output == "The archive is sound.\n"


def test_every_key_leads_to_the_one_game(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    for game in _shown(cli):
        assert game["key"] == min(game["witnesses"])
        for key in game["witnesses"]:
            assert cli.json("show", key, "--json")["key"] == game["key"]
            assert [json.loads(line)["key"] for line in cli("export", "games", key).stdout.splitlines()] == [
                game["key"]
            ]
    adjourned = next(game for game in _shown(cli) if len(game["plies"]) == 45)
    assert len(adjourned["sources"]) > len(adjourned["witnesses"]) == 9
    text = cli("show", adjourned["key"]).stdout
    assert "Continuation:          goes on after ply 11 with the same position and clocks" in text
    assert "Sources:" in text
    raw = cli("show", adjourned["key"], "--raw").stdout
    assert all(f"{name}.icsj:" in raw for name in connections(SCENARIO) if name != "player_GuestAdja")


def test_forgetting_one_source_keeps_the_others(cli: Cli, tmp_path: Path) -> None:
    paths = _write(tmp_path / "logs")
    cli("import", *paths[:2])
    before = cli("export", "games").stdout
    cli("import", *paths[2:])
    assert cli("export", "games").stdout != before
    for path in paths[2:]:
        row = next(row for row in cli.json("sources", "--json") if row["name"] == path.name)
        cli("sources", "forget", row["id"])
    assert cli("export", "games").stdout == before
    cli("forget", "--yes", "Caruana")
    assert {game["white"]["handle"] for game in _shown(cli)} <= {"Carlsen", "GuestAdja"}
    assert "Caruana" not in cli("export", "games").stdout
    assert cli("db", "check").output == "The archive is sound.\n"


@pytest.mark.long
@settings(max_examples=examples(6), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(order=st.permutations(range(5)), merged=st.integers(0, 4))
def test_no_order_of_imports_counts(tmp_path_factory: pytest.TempPathFactory, order: list[int], merged: int) -> None:
    """Log by log, and the last of them from another archive."""
    folder = tmp_path_factory.mktemp("order")
    paths = _write(folder / "logs")
    plain, cli, other = Cli(folder / "p.sqlite"), Cli(folder / "a.sqlite"), Cli(folder / "b.sqlite")
    plain("import", *paths)
    for number in order[merged:]:
        other("import", paths[number])
    for number in order[:merged]:
        cli("import", paths[number])
    if merged < len(order):
        cli("import", other.archive)
    assert cli("export", "games").stdout == plain("export", "games").stdout
    assert cli("games", "--json").stdout == plain("games", "--json").stdout


def test_what_a_log_grows_by_is_related_too(cli: Cli, tmp_path: Path) -> None:
    whole_paths = _write(tmp_path / "logs")
    plain = Cli(tmp_path / "p.sqlite")
    plain("import", *whole_paths)
    data = whole_paths[0].read_bytes()
    half = data[: data.index(b"\n", len(data) // 2) + 1]
    whole_paths[0].write_bytes(half)
    cli("import", *whole_paths)
    whole_paths[0].write_bytes(data)
    cli("import", whole_paths[0])
    assert cli("export", "games").stdout == plain("export", "games").stdout


def test_appending_finds_a_game_by_any_of_its_sources(cli: Cli, tmp_path: Path) -> None:
    paths, out = _write(tmp_path / "logs"), tmp_path / "games.jsonl"
    cli("import", paths[0])
    cli("export", "games", "--append", "-o", out)
    before = out.read_bytes()
    cli("import", *paths[1:])
    cli("export", "games", "--append", "-o", out)
    assert out.read_bytes() == before


def test_filters_find_a_game_by_the_fields_of_one_observation(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    for name in ("Caruana", "GuestAda"):
        (game,) = (one for one in cli.json("games", "--me", name, "--json") if one["ply_count"] == 45)
        assert game["me"] is None
    rows = {row["name"]: row["id"] for row in cli.json("sources", "--json")}
    assert len(cli.json("games", "--source", rows["player_GuestAdja.icsj"], "--json")) == 3


def test_a_share_with_pseudonyms_keeps_games_together(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    shared = Cli(tmp_path / "shared.sqlite")
    cli("db", "share", "-o", shared.archive, "--pseudonyms")
    ours, theirs = _shown(cli), _shown(shared)
    assert sorted(len(game["witnesses"]) for game in ours) == sorted(len(game["witnesses"]) for game in theirs)
    assert not {key for game in ours for key in game["witnesses"]} & {
        key for game in theirs for key in game["witnesses"]
    }
    assert shared("db", "check").output == "The archive is sound.\n"
    assert "Carlsen" not in {game["white"]["handle"] for game in theirs}


def test_views_have_each_game_once(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    connection = sqlite3.connect(cli.archive)
    try:
        assert connection.execute("SELECT count(*), sum(plies) FROM v_games").fetchone() == (4, 57)
        assert connection.execute("SELECT count(*), count(DISTINCT key) FROM v_plies").fetchone() == (57, 4)
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("scenario", "connection", "kind"),
    [
        ("b06_bughouse", "observer_GuestXo", "bughouse-partner"),
        ("a10_examine", "player_Kramnik", "examined-copy"),
    ],
)
def test_links_are_stored_both_ways(cli: Cli, tmp_path: Path, scenario: str, connection: str, kind: str) -> None:
    path = tmp_path / "one.icsj"
    path.write_bytes(journal(scenario, connection))
    cli("import", path)
    games = [json.loads(line) for line in cli("export", "games", "--include", "examined").stdout.splitlines()]
    links = {(game["key"], link["key"]) for game in games for link in game["links"] if link["kind"] == kind}
    assert links
    assert links == {(other, key) for key, other in links}
    assert "0 findings" in cli("verify").output
    shared = Cli(tmp_path / "shared.sqlite")
    cli("db", "share", "-o", shared.archive, "--pseudonyms")
    theirs = [json.loads(line) for line in shared("export", "games", "--include", "examined").stdout.splitlines()]
    assert sum(len(game["links"]) for game in theirs) == sum(len(game["links"]) for game in games)


def test_a_game_that_was_tampered_with_is_stale(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    change = "UPDATE games SET result = '0-1' WHERE source_id IS NULL AND ply_count = 45"
    _edit(cli.archive, lambda connection: connection.execute(change))
    assert "differs from what its sources give" in cli("verify", code=1).output


def test_two_recorders_that_see_one_game_have_one(cli: Cli, tmp_path: Path) -> None:
    """While it goes on it is there for each; when it is over it is one, without either's being ended."""
    paths = _write(tmp_path / "logs", "c08_adjourn")[:2]
    whole_logs = [path.read_bytes() for path in paths]
    for path, data in zip(paths, whole_logs, strict=True):
        path.write_bytes(data[: data.index(b"\n", data.index(b"<12>")) + 1])
    updaters = [Follower(str(cli.archive), path, ReadOptions()) for path in paths]
    for path, data, updater in zip(paths, whole_logs, updaters, strict=True):
        updater.look()
        path.write_bytes(data)
    for _ in range(2):
        for updater in updaters:
            updater.look(settle=True)
            assert updater.problem is None
    (game,) = _shown(cli)
    assert len(game["witnesses"]) == 2
    for updater in updaters:
        assert updater.finish()
    assert [one["key"] for one in _shown(cli)] == [game["key"]]
    plain = Cli(tmp_path / "p.sqlite")
    plain("import", *paths)
    assert _shown(plain) == _shown(cli)
    assert cli("db", "check").output == "The archive is sound.\n"


def test_a_saved_file_is_a_source_too(cli: Cli, tmp_path: Path) -> None:
    """What was exported and is imported again adds nothing but its names for the same games."""
    cli("import", *_write(tmp_path / "logs", "a13_timeseal_lag"))
    before = {game["white"]["handle"]: game for game in _shown(cli)}
    for number, how in enumerate(((), ("--style", "fics", "--clock", "emt"))):
        out = tmp_path / f"{number}.pgn"
        cli("export", "pgn", "-o", out, *how)
        cli("import", out)
    after = {game["white"]["handle"]: game for game in _shown(cli)}
    assert len(after) == len(before) == 3
    for name, game in after.items():
        assert game["plies"] == before[name]["plies"]
        assert game["started_at"] == before[name]["started_at"]
        assert len(game["witnesses"]) == len(before[name]["witnesses"]) + 2


def test_the_same_bytes_give_the_same_rows_whichever_indexes_sqlite_reads(tmp_path: Path) -> None:
    """Players of two servers, one of them unknown. SQLite takes the index that was made last, if two are as good."""
    scenario = "a13_timeseal_lag"
    log = tmp_path / "unknown.log"
    log.write_bytes(stream_bytes(scenario, connections(scenario)[0]))
    known, *_ = _write(tmp_path / "logs", scenario)
    rows = []
    for name, turned in (("a", False), ("b", True)):
        cli = Cli(tmp_path / f"{name}.sqlite")
        cli("import", known)
        with closing(sqlite3.connect(cli.archive)) as driver:
            made = "SELECT name, sql FROM sqlite_master WHERE tbl_name = 'games' AND type = 'index' AND sql IS NOT NULL"
            indexes = driver.execute(made).fetchall()
            assert indexes == sorted(indexes)
            for index, sql in reversed(indexes) if turned else ():
                driver.execute(f"DROP INDEX {index}")
                driver.execute(sql)
        cli("import", log)
        with closing(sqlite3.connect(cli.archive)) as driver:
            rows.append(driver.execute("SELECT id, key, source_id, merged_into FROM games ORDER BY id").fetchall())
    assert sum(row[2] is None for row in rows[0]) > 1
    assert rows[0] == rows[1]


def test_thousands_of_games_of_two_players_are_looked_at_by_their_first_moves(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Games without times of day may be of any time: only those that begin alike are read at all."""
    looked_at: list[int] = []
    made_of = relating._made_of

    def counted(connection: sqlite3.Connection, group: list[int], *others: Any) -> list[Game]:
        looked_at.append(len(group))
        return made_of(connection, group, *others)

    monkeypatch.setattr(relating, "_made_of", counted)
    for name, firsts in (("a", ("e4", "d4", "c4 e5 Nf3", "a3")), ("b", ("Nf3", "f4", "c4 e5", "a4"))):
        path = tmp_path / f"{name}.pgn"
        text = '[Site "freechess.org"]\n[White "Me"]\n[Black "Bot"]\n\n'
        path.write_text("".join(f"{text}{first} *\n\n" for first in firsts))
        cli("import", path)
    assert looked_at == [2]
    assert len(_shown(cli)) == 8
    assert "0 findings" in cli("verify").output


def test_a_takeback_seen_by_two_sources_is_shown_once(cli: Cli, tmp_path: Path) -> None:
    """Each line of whatever source; also lines of an observation that gives the game no ply."""
    paths = _write(tmp_path / "logs", "a06_chatter_takebacks")
    alone = Cli(tmp_path / "alone.sqlite")
    alone("import", next(path for path in paths if path.name.startswith("player_")))
    cli("import", *paths)
    found = {" ".join(ply["san"] for ply in game["plies"]): _taken_back(game) for game in _shown(cli)}
    assert sum(len(lines) > 1 for lines in found.values()) > 1
    for game in _shown(alone):
        assert found[" ".join(ply["san"] for ply in game["plies"])] == _taken_back(game)
    written = cli("export", "pgn", "--variations").stdout
    assert len(re.findall(r"\([0-9]+\.", written)) == sum(map(len, found.values()))


def _taken_back(game: dict[str, Any]) -> list[tuple[int, str]]:
    return sorted((line["parent_ply"], " ".join(ply["san"] for ply in line["plies"])) for line in game["lines"])


def test_partners_that_no_log_shows_both_are_linked(cli: Cli, tmp_path: Path) -> None:
    """Each player's own log shows his board; whichever comes first, and if one is forgotten."""
    paths = [tmp_path / "fischer.icsj", tmp_path / "spassky.icsj"]
    for path, name in zip(paths, ("player_Fischer", "player_Spassky"), strict=True):
        path.write_bytes(journal("b06_bughouse", name))
    cli("import", paths[0])
    assert _partners(cli) == set()
    cli("import", paths[1])
    found = _partners(cli)
    assert len(found) == 4
    assert found == {(other, key) for key, other in found}
    turned = Cli(tmp_path / "turned.sqlite")
    turned("import", paths[1])
    turned("import", paths[0])
    assert turned("export", "games").stdout == cli("export", "games").stdout
    cli("db", "rebuild")
    assert turned("export", "games").stdout == cli("export", "games").stdout
    observer = tmp_path / "both.icsj"
    observer.write_bytes(journal("b06_bughouse", "observer_GuestXo"))
    cli("import", observer)
    assert len(_partners(cli)) >= 4
    rows = {row["name"]: row["id"] for row in cli.json("sources", "--json")}
    cli("sources", "forget", rows["both.icsj"])
    assert turned("export", "games").stdout == cli("export", "games").stdout
    cli("sources", "forget", rows["spassky.icsj"])
    assert _partners(cli) == set()
    assert cli("db", "check").output == "The archive is sound.\n"


def _partners(cli: Cli) -> set[tuple[str, str]]:
    return {(game["key"], link["key"]) for game in _shown(cli) for link in game["links"]}


def _unmerge(connection: sqlite3.Connection) -> None:
    """Leave several sources' games unmerged."""
    for table in ("segments", "game_evidence"):
        connection.execute(f"DELETE FROM {table} WHERE game_id IN (SELECT id FROM games WHERE source_id IS NULL)")
    connection.execute("UPDATE games SET merged_into = NULL")
    connection.execute("DELETE FROM games WHERE source_id IS NULL")


def _edit(archive: Path, edit: Callable[[sqlite3.Connection], object]) -> None:
    with closing(sqlite3.connect(archive)) as connection:
        edit(connection)
        connection.commit()


def test_games_that_are_not_merged_are_found_and_rebuilt(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    wanted = cli("export", "games").stdout
    _edit(cli.archive, _unmerge)
    assert "is not merged from its sources" in cli("db", "check", code=1).stdout
    cli("db", "rebuild")
    assert cli("db", "check").output == "The archive is sound.\n"
    assert cli("export", "games").stdout == wanted


def test_an_upgrade_that_ends_before_the_merging_changes_nothing(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("import", *_write(tmp_path / "logs"))
    _edit(cli.archive, _unmerge)
    before = cli("export", "games").stdout
    scripts = later_scripts(tmp_path / "scripts", "op.create_table('later', sa.Column('id', sa.Integer()))")
    with monkeypatch.context() as patch:
        patch.setattr(relating, "relate_all", lambda driver: 1 // 0)
        with pytest.raises(StorageError, match="could not be upgraded and is unchanged"):
            upgrade(cli.archive, scripts)
    assert current(cli.archive) == HEAD
    assert cli("export", "games").stdout == before


@pytest.mark.long
def test_an_upgrade_that_is_killed_before_the_merging_changes_nothing(cli: Cli, tmp_path: Path) -> None:
    cli("import", *_write(tmp_path / "logs"))
    _edit(cli.archive, _unmerge)
    before = cli("export", "games").stdout
    scripts = later_scripts(tmp_path / "scripts", "op.create_table('later', sa.Column('id', sa.Integer()))")
    code = (
        "import os, sys; from pathlib import Path;"
        "from storage.schema import upgrade as schema; from storage.write import merged;"
        "merged.relate_all = lambda driver: os._exit(9); schema.upgrade(*map(Path, sys.argv[1:]))"
    )
    killed = subprocess.run([sys.executable, "-c", code, str(cli.archive), str(scripts)], check=False)
    assert killed.returncode == 9
    assert current(cli.archive) == HEAD
    assert "is not merged from its sources" in cli("db", "check", code=1).stdout
    assert cli("export", "games").stdout == before


def test_an_upgrade_relates_the_games_that_are_there(cli: Cli, tmp_path: Path) -> None:
    """An older archive that has several observations of a game, and no merged game."""
    cli("import", *_write(tmp_path / "logs"))
    wanted = cli("export", "games").stdout
    _edit(cli.archive, _unmerge)
    upgrade(cli.archive, later_scripts(tmp_path / "scripts", "pass"))
    assert current(cli.archive) == "later0"
    _edit(cli.archive, lambda connection: connection.execute("UPDATE alembic_version SET version_num = ?", (HEAD,)))
    assert cli("export", "games").stdout == wanted
    assert "0 findings" in cli("verify").output


def _raw(folder: Path, scenario: str) -> list[Path]:
    """A scenario's observers as logs without times of day."""
    paths = []
    for name in connections(scenario):
        if name.startswith("observer"):
            paths.append(folder / f"{name}.raw")
            paths[-1].write_bytes(stream_bytes(scenario, name))
    return paths


@pytest.mark.long
def test_boards_in_one_order_are_one_game_each_whatever_comes_first(tmp_path: Path) -> None:
    """Without times of day; a log that grows and one that goes change what its other games are known to be."""
    paths = _raw(tmp_path, "c07_eight_boards")
    plain, cli = Cli(tmp_path / "p.sqlite"), Cli(tmp_path / "a.sqlite")
    plain("import", *paths)
    shown = plain("export", "games").stdout
    assert len(shown.splitlines()) == len(truth("c07_eight_boards")["games"]) == 16
    data = paths[1].read_bytes()
    paths[1].write_bytes(data[: len(data) // 5])
    cli("import", paths[1])
    cli("import", paths[0])
    assert not any(game["witnesses"] for game in _shown(cli)), "too few lines"
    paths[1].write_bytes(data)
    cli("import", paths[1])
    assert cli("export", "games").stdout == shown
    assert cli("db", "check").output == "The archive is sound.\n"
    cli("forget", "--yes", "Short", "Anand")
    plain("forget", "--yes", "Anand", "Short")
    assert cli("export", "games").stdout == plain("export", "games").stdout
    assert cli("db", "check").output == "The archive is sound.\n"
