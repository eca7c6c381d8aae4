"""What engines thought of games outlives everything that happens to the rows of those games."""

import json
import re
import sqlite3
from pathlib import Path

import pytest

from recorder.model import AnalysedPosition, Analysis, Game, Player, Thinking
from recorder.model.boards import boards_by_ply
from storage import ArchiveStore
from storage.maintenance.check import check
from storage.write.analyses import AnalysisCounts
from tests.relating.scenes import connections, journal
from tests.support.cli import ADJOURNED, GUESTS, WATCHER, Cli
from tests.support.evaluated import PGN

from .conftest import import_bytes, make_game

SETTINGS = '{"limit": {"depth": 9}}'


def head(engine: str = "Deep", settings: str = SETTINGS, begun_ms: int = 1_000) -> Analysis:
    return Analysis(engine, "uci", settings, begun_ms, ())


def thinking(ply: int, depth: int = 9) -> Thinking:
    """A line that says by its score which position it is about."""
    return Thinking(0, ply, "Deep", ply % 2 == 0, depth, 10 * ply, None, 250, 10_000, 12, 40_000, 0, "e4 e5", None, 0)


def positions_of(game: Game) -> list[AnalysedPosition]:
    """Every known position of the main line, as if an engine had been asked about it."""
    boards = boards_by_ply(game)
    places = {ply: re.sub("-+", lambda run: str(len(run[0])), board).replace(" ", "/") for ply, board in boards.items()}
    return [
        AnalysedPosition(ply, f"{place} {'wb'[ply % 2]} - - 0 1", (thinking(ply, 8), thinking(ply)))
        for ply, place in places.items()
    ]


def analyse(path: Path, *keys: str, engine: str = "Deep") -> dict[str, int]:
    """Analyse games, else all of them; how many positions of each."""
    found = {}
    with ArchiveStore.open(str(path)) as archive:
        for game in [archive.game(key) for key in keys] or list(archive.games()):
            positions = positions_of(game)
            archive.analyses.add(game.key, head(engine), positions)
            found[game.key] = len(positions)
    return found


def shown(path: Path) -> dict[str, int]:
    """Of how many positions analyses are shown, by key of the game."""
    with ArchiveStore.open(str(path), read_only=True) as archive:
        found = {}
        for game in archive.games():
            plies = [line.ply for one in game.analyses for line in one.lines]
            assert all(line.score_cp == 10 * line.ply for one in game.analyses for line in one.lines)
            found[game.key] = len(set(plies))
        assert archive.analyses.count().wrong == []
        assert check(path) == []
        return found


def counts(path: Path) -> AnalysisCounts:
    with ArchiveStore.open(str(path), read_only=True) as archive:
        return archive.analyses.count()


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "a.sqlite")


@pytest.fixture
def logs(tmp_path: Path) -> list[Path]:
    """Connections that saw the same games, one of them adjourned and played on."""
    scenario, paths = "a11_adjourn_disconnect", []
    for name in connections(scenario):
        paths.append(tmp_path / f"{name}.icsj")
        paths[-1].write_bytes(journal(scenario, name))
    return paths


def test_lines_come_back_as_they_were(archive: ArchiveStore) -> None:
    import_bytes(archive, b"one", [make_game()])
    game = archive.game(make_game().key)
    positions = positions_of(game)
    archive.analyses.add(game.key, head(), positions[:2])
    archive.analyses.add(game.key, head(begun_ms=2_000), positions[1:])
    archive.analyses.add(game.key, head("Other", begun_ms=500), [positions[2]._replace(lines=())])
    (found,) = archive.game(game.key).analyses
    assert found.lines == tuple(
        line._replace(seq=seq) for seq, line in enumerate(line for one in positions for line in one.lines)
    )
    assert (found.engine, found.protocol, found.settings, found.begun_ms) == ("Deep", "uci", SETTINGS, 1_000)
    assert archive.game(game.key) == game, "analyses are no part of what was recorded"
    assert archive.analyses.analysed_plies(game, head()) == {0, 1, 2}
    assert archive.analyses.analysed_plies(game, head("Other")) == {2}, "an engine may have nothing to tell"
    assert archive.analyses.analysed_plies(game, head(settings="{}")) == set()


def test_a_repeated_analysis_replaces_the_earlier_one(archive: ArchiveStore) -> None:
    import_bytes(archive, b"one", [make_game()])
    key, position = make_game().key, positions_of(make_game())[1]
    archive.analyses.add(key, head(), [position])
    other = position._replace(lines=(thinking(1, 20),))
    archive.analyses.add(key, head(begun_ms=9_000), [other])
    assert [line.depth for line in archive.game(key).analyses[0].lines] == [8, 9]
    archive.analyses.add(key, head(begun_ms=9_000), [other], again=True)
    (found,) = archive.game(key).analyses
    assert ([line.depth for line in found.lines], found.begun_ms) == ([20], 9_000)


def test_only_positions_that_the_game_has_are_shown(archive: ArchiveStore, path: Path) -> None:
    import_bytes(archive, b"one", [make_game()])
    game = make_game()
    first, second, last = positions_of(game)
    archive.analyses.add(game.key, head(), [first, second, last._replace(fen=second.fen)])
    assert shown(path) == {game.key: 2}
    assert counts(path) == AnalysisCounts(1, 3, 1, 0, [])
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE analysed_positions SET stands = 1 - stands WHERE ply = 2")
    connection.close()
    assert counts(path).wrong == [game.key]


def test_a_log_that_grows_keeps_them(cli: Cli, tmp_path: Path) -> None:
    data, log = WATCHER.read_bytes(), tmp_path / "session.raw"
    log.write_bytes(data[:9_000])
    cli("import", log)
    before = analyse(cli.archive)
    log.write_bytes(data)
    cli("import", log)
    after = shown(cli.archive)
    assert {key: after[key] for key in before} == before
    assert len(after) > len(before)
    assert counts(cli.archive).fallen == 0


def test_a_reread_game_has_its_positions_compared(cli: Cli, tmp_path: Path) -> None:
    """The one that went on where the log ended; of the others nothing has changed."""
    data, log = WATCHER.read_bytes(), tmp_path / "session.raw"
    log.write_bytes(data[:9_000])
    cli("import", log)
    before = analyse(cli.archive)
    with sqlite3.connect(cli.archive) as connection:
        connection.execute("UPDATE analysed_positions SET stands = 0")
    connection.close()
    log.write_bytes(data)
    cli("import", log)
    with sqlite3.connect(cli.archive) as connection:
        query = "SELECT a.game_key, sum(p.stands) FROM analyses a JOIN analysed_positions p ON p.analysis_id = a.id"
        stands = dict(connection.execute(f"{query} GROUP BY a.game_key"))
    connection.close()
    counted = [key for key, count in stands.items() if count]
    assert len(counted) == 1
    assert stands[counted[0]] == before[counted[0]]


def test_a_game_that_a_newer_parser_reads_differently(cli: Cli) -> None:
    cli("import", ADJOURNED)
    (key,) = before = analyse(cli.archive)
    with sqlite3.connect(cli.archive) as connection:
        connection.execute("UPDATE analysed_positions SET fen = replace(fen, 'RNBQKBNR', 'RNBKQBNR') WHERE ply < 3")
        spoilt = connection.execute("SELECT count(*) FROM analysed_positions WHERE ply < 3").fetchone()[0]
    connection.close()
    message = cli("db", "rebuild").stderr
    assert shown(cli.archive) == {key: before[key] - spoilt}
    assert f"The archive has 1 analysis of {before[key]} positions.\n" in message
    hidden = f"Kept, but not shown: {spoilt} analysed positions that the games no longer have.\n"
    assert hidden in message
    assert hidden in cli("verify").stderr


def test_a_rebuild_keeps_those_of_games_that_are_gone(cli: Cli) -> None:
    cli("import", WATCHER, GUESTS)
    before = analyse(cli.archive)
    with sqlite3.connect(cli.archive) as connection:
        connection.execute("UPDATE analyses SET game_key = 'feed' WHERE id = 1")
    connection.close()
    cli("db", "rebuild")
    assert sum(shown(cli.archive).values()) < sum(before.values())
    assert (counts(cli.archive).analyses, counts(cli.archive).homeless) == (len(before), 1)
    assert "Kept, but not shown: 1 analysis of games that are not in the archive.\n" in cli("verify").stderr


def test_games_that_turn_out_to_be_one(cli: Cli, logs: list[Path]) -> None:
    cli("import", logs[0])
    alone = analyse(cli.archive)
    cli("import", *logs[1:])
    together = shown(cli.archive)
    assert sum(together.values()) >= sum(alone.values()) - counts(cli.archive).fallen
    whole = analyse(cli.archive, *together)
    assert shown(cli.archive) == whole, "an analysis is not shown twice"
    for path in logs[1:]:
        row = next(row for row in cli.json("sources", "--json") if row["name"] == path.name)
        cli("sources", "forget", row["id"])
    assert {key: shown(cli.archive)[key] for key in alone} == alone


def test_an_analysis_is_kept_while_one_source_contains_its_game(cli: Cli, logs: list[Path]) -> None:
    cli("import", *logs)
    analyse(cli.archive)
    games = cli.json("games", "--json")
    for path in logs[:-1]:
        row = next(row for row in cli.json("sources", "--json") if row["name"] == path.name)
        cli("sources", "forget", row["id"])
    left = shown(cli.archive)
    assert left
    assert 0 not in left.values()
    assert len(left) <= len(games)
    cli("sources", "forget", cli.json("sources", "--json")[0]["id"])
    assert counts(cli.archive) == AnalysisCounts(0, 0, 0, 0, [])


def test_forgetting_a_player_takes_them(cli: Cli) -> None:
    cli("import", WATCHER)
    before = analyse(cli.archive)
    handle = cli.json("games", "--json")[0]["white"]["handle"]
    cli("forget", "--yes", handle)
    assert shown(cli.archive).items() < before.items()
    assert counts(cli.archive).homeless == 0
    cli("forget", "--undo", handle)
    assert shown(cli.archive).items() < before.items()


def test_another_archive_brings_its_own(cli: Cli, tmp_path: Path) -> None:
    other = Cli(tmp_path / "b.sqlite")
    cli("import", WATCHER)
    other("import", WATCHER, GUESTS)
    mine = cli.json("games", "--json")[0]["key"]
    analyse(cli.archive, mine)
    theirs = analyse(other.archive)
    with ArchiveStore.open(str(other.archive)) as archive:
        archive.analyses.add("feed", head(), [AnalysedPosition(0, "x", ())])
        archive.analyses.add(mine, head("Shallow"), positions_of(archive.game(mine)))
    output = cli("import", other.archive).stdout
    assert f"{other.archive}: {len(theirs) + 1} analyses added\n" in output
    assert f"{other.archive}: 1 analysis of games that are not in this archive skipped\n" in output
    assert shown(cli.archive) == theirs
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        assert sorted(one.engine for one in archive.game(mine).analyses) == ["Deep", "Shallow"]
    repeated = json.loads(cli("import", "--json", other.archive).stdout)[-1]
    assert repeated == {"name": str(other.archive), "status": "analyses", "analyses": len(theirs) + 1, "left_out": 1}
    assert shown(cli.archive) == theirs


def test_games_with_equal_keys_keep_their_own(archive: ArchiveStore, path: Path, tmp_path: Path) -> None:
    """Whichever of them has the key, and in whatever archive."""
    rows = {
        name: import_bytes(archive, data, [make_game(white=Player(name))])
        for name, data in (("P1", b"one"), ("P2", b"two"), ("P3", b"three"))
    }

    def engines(path: Path) -> dict[str, list[str]]:
        with ArchiveStore.open(str(path), read_only=True) as archive:
            return {game.white.handle: [one.engine for one in game.analyses] for game in archive.games()}

    for game in list(archive.games()):
        archive.analyses.add(game.key, head(f"of {game.white.handle}"), positions_of(game))
    before = engines(path)
    assert before == {name: [f"of {name}"] for name in rows}
    with ArchiveStore.open(str(tmp_path / "other.db"), create=True) as other:
        import_bytes(other, b"three", [make_game(white=Player("P3"))])
        other.analyses.take_over(archive.analyses)
    assert engines(tmp_path / "other.db") == {"P3": ["of P3"]}
    least = min(rows.values(), key=lambda row: row.sha256)
    archive.erasures.forget_source(least.id)
    after = engines(path)
    assert after.items() < before.items()
    import_bytes(archive, b"five", [make_game(white=Player("P5"))])
    assert engines(path) == after | {"P5": []}


def test_a_share_has_them_without_what_is_private(cli: Cli, tmp_path: Path) -> None:
    cli("import", WATCHER)
    before = analyse(cli.archive)
    settings = json.dumps({"depth": 9, "options": {"Hash": "64", "Ponder": "false", "SyzygyPath": "/home/ann/tb"}})
    with ArchiveStore.open(str(cli.archive)) as archive:
        game = next(iter(archive.games()))
        archive.analyses.add(game.key, head("Tuned", settings), positions_of(game))
    out = tmp_path / "shared.sqlite"
    cli("db", "share", "--pseudonyms", "--redact", "Deep", "-o", out)
    assert b"/home/ann" not in out.read_bytes()
    assert sorted(shown(out).values()) == sorted(before.values())
    with ArchiveStore.open(str(out), read_only=True) as archive:
        (tuned,) = (one for game in archive.games() for one in game.analyses if one.engine == "Tuned")
        assert {one.engine for game in archive.games() for one in game.analyses} == {"[redacted]", "Tuned"}
    options = json.loads(tuned.settings)["options"]
    assert (options["Hash"], options["Ponder"]) == ("64", "false")
    assert re.fullmatch(r"\[[0-9a-f]{8}\]", options["SyzygyPath"])
    copy = tmp_path / "copy.sqlite"
    cli("db", "backup", copy)
    assert shown(copy) == before


def test_people_see_them_as_white_does(archive: ArchiveStore, path: Path) -> None:
    import_bytes(archive, b"one", [make_game()])
    archive.analyses.add(make_game().key, head(), positions_of(make_game()))
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT key, engine, ply, depth, white_cp FROM v_analyses ORDER BY ply, seq").fetchall()
    connection.close()
    key = make_game().key
    assert rows[2:] == [
        (key, "Deep", 1, 8, -10),
        (key, "Deep", 1, 9, -10),
        (key, "Deep", 2, 8, 20),
        (key, "Deep", 2, 9, 20),
    ]


def test_show_and_exports_contain_analyses(cli: Cli) -> None:
    cli("import", ADJOURNED)
    (key,) = before = analyse(cli.archive)
    text = cli("show", key).stdout
    assert f"Analysed by:           Deep, {before[key]} positions, depth 9 (column Eval)\n" in text
    rows = [row.split("\t") for row in text.splitlines()]
    assert [(row[1], row[6]) for row in rows if row[0] in ("1.", "1...")] == [("e4", "-0.10"), ("e5", "+0.20")]
    (found,) = cli.json("show", key, "--json")["analyses"]
    assert (found["engine"], found["settings"], len(found["lines"])) == (
        "Deep",
        {"limit": {"depth": 9}},
        2 * before[key],
    )
    assert json.loads(cli("export", "games").stdout)["analyses"] == [found]
    pgn = cli("export", "pgn", "--engine", "--clock", "none").stdout
    assert "1. e4 {[%eval -0.10] [%depth 9]} 1... e5 {[%eval 0.20] [%depth 9]}" in pgn
    assert "%eval" not in cli("export", "pgn", "--engine", "--analysis", "none").stdout
    assert "%eval" in cli("export", "pgn", "--engine", "--analysis", "dee").stdout
    assert "add --engine" in cli("export", "pgn", "--analysis", "dee", code=2).stderr
    nobody = cli("export", "pgn", "--engine", "--analysis", "nosuch", code=4)
    assert (nobody.stdout, nobody.stderr) == (
        "",
        "Error: The archive has no analysis by an engine whose name begins with nosuch. It has analyses by Deep.\n",
    )


def test_show_names_the_engine_whose_evaluations_it_prints(cli: Cli) -> None:
    cli("import", ADJOURNED)
    analyse(cli.archive)
    analyse(cli.archive, engine="Other")
    lines = [line for line in cli("show", "last").stdout.splitlines() if line.startswith("Analysed by:")]
    assert [line.endswith(" (column Eval)") for line in lines] == [False, True], "of equal ones the one stored last"


def test_show_prints_the_evaluations_of_the_engine_that_is_asked_for(cli: Cli) -> None:
    cli("import", ADJOURNED)
    analyse(cli.archive)
    analyse(cli.archive, engine="Other")
    marked = [line for line in cli("show", "last", "--analysis", "dee").stdout.splitlines() if "(column Eval)" in line]
    assert [line.split()[2] for line in marked] == ["Deep,"]
    without = cli("show", "last", "--analysis", "none").stdout
    assert "(column Eval)" not in without
    assert "Notes\tEval" not in without
    message = cli("show", "last", "--analysis", "nosuch", code=4).stderr
    assert message.endswith("by an engine whose name begins with nosuch. It was analysed by Deep, Other.\n")
    for word in ("--raw", "--match", "--json"):
        assert "omit" in cli("show", "last", "--analysis", "dee", word, code=2).stderr


@pytest.mark.long
def test_tables_of_blunders_name_the_engines(cli: Cli, tmp_path: Path) -> None:
    log = tmp_path / "evaluated.pgn"
    log.write_bytes(PGN + b"\n" + PGN.replace(b"2024.01.02", b"2024.01.03"))
    cli("import", log)
    words = ("clocks", "--table", "blunders")
    assert "Evaluated by an engine that is not named.\n" in cli(*words).stderr
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        key = next(iter(archive.games())).key
    analyse(cli.archive, key)
    assert "Evaluated by Deep.\n" in cli(*words, key).stderr
    message = cli(*words).stderr
    assert "engines, taken alike without --by eval-engine: Deep (12), an engine that is not named (10).\n" in message
    by_engine = cli.json(*words, "--by", "eval-engine", "--json")["rows"]
    assert {row["eval_engine"] for row in by_engine} == {"Deep", None}
    assert sum(row["plies"] for row in by_engine) == 22
    engines = [{"engine": "Deep", "plies": 12}, {"engine": None, "plies": 10}]
    assert cli.json(*words, "--json")["engines"] == engines
    assert "engines" not in cli.json("clocks", "--table", "usage", "--json")
