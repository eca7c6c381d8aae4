"""Debug files with engines in the archive: grown, followed, players forgotten, shared, exported."""

import gzip
import re
from itertools import pairwise
from pathlib import Path

import pytest

from recorder.archive.following.follower import Follower
from recorder.archive.reading.importing import ReadOptions
from recorder.model import ObservationKind
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from recorder.sources.redaction import Forgotten, hash_handle
from storage import ArchiveStore
from storage.files import open_sqlite
from tests.support.cli import SERVER, Cli

FAIRYMAX = gzip.decompress((SERVER / "x03_zippy_engines" / "xboard_fairymax.debug.gz").read_bytes())
SJENG = gzip.decompress((SERVER / "x03_zippy_engines" / "xboard_sjeng.debug.gz").read_bytes())
MATCH = b"""\
9 >first : new
10 >first : go
11 <first :   5   20   12   900 e4 e5
12 <first : move e2e4
13 >second: new
14 >second: usermove e2e4
15 <second: move e7e5
16 >first : usermove e7e5
17 >first : result * {enough}
18 >second: result * {enough}
"""


def exported(cli: Cli) -> str:
    """All games as JSON, without the name of the source."""
    text = cli("export", "games", "--include", "examined,empty").stdout
    return re.sub(r'"(?:name|sha256)":"[^"]*"', "", text)


@pytest.mark.parametrize("cut", [0.02, 0.3, 0.6, 0.9])
def test_a_grown_log_gives_what_one_import_gives(tmp_path: Path, cut: float) -> None:
    data = FAIRYMAX + MATCH
    path = tmp_path / "x.debug"
    twice, once = Cli(tmp_path / "twice.sqlite"), Cli(tmp_path / "once.sqlite")
    path.write_bytes(data[: int(len(data) * cut)])
    twice("import", path)
    path.write_bytes(data)
    twice("import", path)
    once("import", path)
    assert exported(twice) == exported(once)
    assert exported(once).count('"kind":"engine"') == 4


def test_a_followed_log_gives_what_one_import_gives(tmp_path: Path) -> None:
    """Read as it grows, left in the middle of a game and taken up again."""
    path = tmp_path / "x.debug"
    followed, once = Cli(tmp_path / "followed.sqlite"), Cli(tmp_path / "once.sqlite")
    data = FAIRYMAX + MATCH
    places = [0, 30_000, 90_000, 150_000, len(data) - 60, len(data)]
    updater = Follower(str(followed.archive), path, ReadOptions())
    for number, (start, stop) in enumerate(pairwise(places)):
        with path.open("ab") as log:
            log.write(data[start:stop])
        updater.look(settle=number % 2 == 0)
        assert updater.problem is None
        if number == 2:
            updater.close()
            updater = Follower(str(followed.archive), path, ReadOptions())
    assert updater.finish()
    once("import", path)
    assert exported(followed) == exported(once)
    assert "0 findings" in followed("verify").stderr
    followed("db", "check")


def test_a_control_by_moves_is_exported(tmp_path: Path) -> None:
    path = tmp_path / "x.debug"
    path.write_bytes(MATCH.replace(b"10 >first : go", b"10 >first : level 40 5 0\n10 >first : go"))
    cli = Cli(tmp_path / "a.sqlite")
    cli("import", path)
    text = cli("export", "pgn").stdout
    assert '[TimeControl "40/300"]' in text
    assert "[%eval" not in text


def test_what_is_stored_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "x.debug"
    path.write_bytes(SJENG)
    Cli(tmp_path / "a.sqlite")("import", path)
    pipeline = Pipeline(SourceKind.XBOARD)
    games = pipeline.receive(SJENG) + pipeline.finish()
    with ArchiveStore.open(str(tmp_path / "a.sqlite")) as archive:
        stored = list(archive.games())
        bare = list(archive.games(with_thinking=False))
    assert [game.observations for game in stored] == [game.observations for game in games]
    assert sum(len(seen.thinking) for game in stored for seen in game.observations) == 674 + 1939
    assert not any(seen.thinking for game in bare for seen in game.observations)


@pytest.mark.parametrize("data", [FAIRYMAX, SJENG])
def test_an_engines_view_of_a_forgotten_players_game_is_not_given(data: bytes) -> None:
    """One engine receives its opponent's name, the other does not."""
    opponent = "Vera" if data is FAIRYMAX else "Judit"
    pipeline = Pipeline(SourceKind.XBOARD, forgotten=Forgotten([hash_handle(opponent)]))
    assert pipeline.receive(data) + pipeline.finish() == []


def test_a_shared_archive_has_no_engines_names_under_pseudonyms(tmp_path: Path) -> None:
    path = tmp_path / "x.debug"
    path.write_bytes(FAIRYMAX + MATCH)
    cli = Cli(tmp_path / "a.sqlite")
    cli("import", path)
    cli("db", "share", "-o", tmp_path / "b.sqlite", "--pseudonyms")
    connection = open_sqlite(tmp_path / "b.sqlite", read_only=True)
    engines = {engine for (engine,) in connection.execute("SELECT DISTINCT engine FROM thinking")}
    connection.close()
    assert engines
    assert all(re.fullmatch("P[0-9a-f]{12}", engine) for engine in engines)


def test_deleting_a_source_takes_its_thinking(tmp_path: Path) -> None:
    path = tmp_path / "x.debug"
    path.write_bytes(MATCH)
    cli = Cli(tmp_path / "a.sqlite")
    cli("import", path)
    with ArchiveStore.open(str(tmp_path / "a.sqlite")) as archive:
        (game,) = archive.games()
    assert [seen.kind for seen in game.observations] == [ObservationKind.ENGINE] * 2
    cli("sources", "forget", cli.table("sources")[0]["ID"])
    connection = open_sqlite(tmp_path / "a.sqlite", read_only=True)
    assert connection.execute("SELECT count(*) FROM thinking").fetchone() == (0,)
    connection.close()
