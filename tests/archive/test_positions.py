"""Games that reached a position: all of them, no others, also after the archive has changed."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import chess
import pytest

import recorder
from exporters.selection import read_position
from recorder import Archive, ExportError, StorageError
from recorder.archive.locate import open_archive
from recorder.archive.positions import explore, occurrences_of, with_position
from recorder.errors import ExitCode, SearchTimeoutError
from recorder.rules.fen import position_from_fen
from recorder.rules.keys import START_KEY, position_key, position_keys
from recorder.rules.position import Rules, encode_move
from storage import ArchiveStore, GameFilter
from tests.support.cli import Cli

PUSHED = "rnbqkbnr/pppppppp/8/8/3P4/8/PPP1PPPP/RNBQKBNR b KQkq"
GAMES = """[White "Ann"]
[Black "Bob"]
[Result "1-0"]
[WhiteElo "1500"]

1. Nf3 {[%emt 0:00:02]} d5 2. d4 Nf6 3. Ng1 Ng8 4. Nf3 {[%emt 0:00:09]} 1-0

[White "Cid"]
[Black "Dan"]
[Result "1/2-1/2"]
[WhiteElo "1701"]

1. d4 d5 2. Nf3 {[%emt 0:00:04]} 1/2-1/2

[White "Eve"]
[Black "Fox"]
[Result "*"]
[SetUp "1"]
[FEN "rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq - 0 2"]

2. Nf3 *

[White "Gus"]
[Black "Hal"]
[Result "0-1"]

1. e4 d5 2. e5 d4 3. c4 0-1
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    (tmp_path / "games.pgn").write_text(GAMES)
    found = Cli(tmp_path / "games.sqlite")
    found("import", tmp_path / "games.pgn")
    return found


def whites(archive: Path, **filters: str) -> list[str]:
    with Archive(archive) as opened:
        return sorted(game.white.handle for game in opened.games(**filters))  # type: ignore[arg-type]


def test_keys_of_positions_and_of_moves_agree() -> None:
    board = chess.Board()
    words = [
        "e4",
        "c5",
        "e5",
        "d5",
        "exd6",
        "Nc6",
        "dxe7",
        "Bd7",
        "exd8=Q+",
        "Rxd8",
        "Nf3",
        "h5",
        "Be2",
        "h4",
        "g4",
        "hxg3",
        "O-O",
        "gxh2+",
        "Kg2",
        "Rh3",
    ]
    moves = [encode_move(board.push_san(word).uci()) for word in words]
    board = chess.Board()
    keys = [START_KEY, *position_keys(moves)]
    for number, word in enumerate(words):
        position = position_from_fen(board.epd(), Rules.CHESS)
        assert position_key(position) == keys[number], word
        assert position_keys(moves[number:], position) == keys[number + 1 :], word
        board.push_san(word)
    assert len(set(keys)) == len(keys)


def test_all_games_that_reached_a_position_are_found(cli: Cli) -> None:
    assert whites(cli.archive, moves="d4 d5 Nf3") == ["Ann", "Cid", "Eve"], (
        "by transposition and from a set-up position"
    )
    assert whites(cli.archive, moves="1. d4 d5 2. Nf3", black="dan") == ["Cid"]
    assert whites(cli.archive, position=chess.STARTING_FEN) == ["Ann", "Cid", "Gus"]
    assert whites(cli.archive, position=chess.STARTING_FEN, moves="g4") == []
    with open_archive(str(cli.archive)) as archive:
        twice = occurrences_of(archive, str(read_position(None, "d4 d5 Nf3")))
        assert Counter(one.key for one in twice).most_common(1)[0][1] == 2, "Ann repeats it"
        again = occurrences_of(archive, str(read_position(None, "d4 d5 Nf3 Nf6 Ng1 Ng8")))
        assert sorted(one.ply for one in again) == [2, 2, 6]


def test_castling_rights_and_legal_en_passant_count(cli: Cli) -> None:
    after = "rnbqkbnr/ppp1pppp/8/4P3/2Pp4/8/PP1P1PPP/RNBQKBNR b KQkq"
    assert whites(cli.archive, position=f"{after} c3 0 3") == ["Gus"]
    assert whites(cli.archive, position=f"{after} - 0 3") == []
    assert whites(cli.archive, position=f"{after.replace('KQkq', 'Qkq')} c3 0 3") == []
    assert read_position(f"{PUSHED} d3 0 1", None) == f"{PUSHED} -", "no pawn can take on d3"


def test_an_archive_that_grows_is_indexed_again_only_where_it_has_changed(cli: Cli, tmp_path: Path) -> None:
    assert "Indexing the positions of 4 games" in cli("games", "--moves", "d4 d5").stderr
    assert "Indexing" not in cli("games", "--moves", "d4 d5").stderr
    (tmp_path / "more.pgn").write_text('[White "Ida"]\n[Black "Jan"]\n\n1. d4 d5 2. Nf3 *\n')
    cli("import", tmp_path / "more.pgn")
    assert "1 game not indexed" in cli("db", "positions").stderr
    with open_archive(str(cli.archive)) as archive:
        before = with_position(archive, GameFilter(position=read_position(None, "d4 d5")), as_indexed=True)
        assert len(before.reached or ()) == 3
    said = cli("games", "--moves", "d4 d5 Nf3")
    assert "Indexing the positions of 1 game:" in said.stderr
    assert said.stdout.count("\n") == 5
    assert len(whites(cli.archive, moves="d4 d5 Nf3")) == 4


def test_a_change_without_new_moves_is_noted_in_the_index(cli: Cli, tmp_path: Path) -> None:
    """Or each search would compare all games."""
    cli("db", "positions", "--build")
    (tmp_path / "empty.pgn").write_text('[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1-0\n')
    cli("import", tmp_path / "empty.pgn")
    cli("db", "positions", "--build")
    versions = []
    for path, query in (
        (cli.archive, "SELECT value FROM settings WHERE name = 'content-version'"),
        (cli.archive.with_name("games.sqlite-positions"), "SELECT value FROM about WHERE name = 'content'"),
    ):
        with closing(sqlite3.connect(path)) as connection:
            versions += connection.execute(query).fetchall()
    assert versions[0] == versions[1]


def test_an_index_in_a_folder_that_cannot_be_written_is_made_elsewhere(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli("db", "positions", "--build")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr("os.access", lambda place, _mode: Path(place) != cli.archive.parent)
    before = cli.archive.with_name("games.sqlite-positions").read_bytes()
    with Archive(cli.archive, read_only=True) as archive:
        assert len([*archive.games(moves="d4 d5 Nf3")]) == 3
    assert cli.archive.with_name("games.sqlite-positions").read_bytes() == before
    assert [path.parent.name for path in (tmp_path / "caches").rglob("*") if path.is_file()] == ["positions"]


def test_what_is_erased_is_not_kept_in_the_index(cli: Cli) -> None:
    index = cli.archive.with_name("games.sqlite-positions")
    cli("db", "positions", "--build")
    assert index.exists()
    cli("forget", "Ann", "--yes")
    assert not index.exists()
    assert whites(cli.archive, moves="d4 d5 Nf3") == ["Cid", "Eve"]
    cli("db", "rebuild", "--carry-over")
    assert not index.exists()
    assert "There is no index" in cli("db", "positions", "--drop").stderr
    cli("db", "positions", "--build")
    assert "Deleted" in cli("db", "positions", "--drop").stderr
    assert not index.exists()


def test_an_index_of_an_earlier_version_is_rebuilt(cli: Cli) -> None:
    cli("db", "positions", "--build")
    with closing(sqlite3.connect(cli.archive.with_name("games.sqlite-positions"))) as index, index:
        index.execute("UPDATE about SET value = '1' WHERE name = 'version'")
    with open_archive(str(cli.archive)) as archive:
        assert explore(archive, GameFilter(position=read_position(None, ""))).games == 0
    assert whites(cli.archive, moves="d4 d5 Nf3") == ["Ann", "Cid", "Eve"]


def test_a_collision_of_keys_finds_nothing(cli: Cli) -> None:
    cli("db", "positions", "--build")
    with closing(sqlite3.connect(cli.archive.with_name("games.sqlite-positions"))) as index, index:
        key = position_key(position_from_fen("4k3/8/8/8/8/8/8/4K3 w - -", Rules.CHESS))
        index.execute("INSERT INTO positions SELECT ?, game, ply, NULL, NULL, NULL FROM positions", (key,))
        false = "INSERT INTO positions SELECT position, game, 3, NULL, NULL, NULL FROM positions WHERE position = ?"
        index.execute(false, (START_KEY,))
        every = "INSERT OR IGNORE INTO positions SELECT position, number, ply, move, 1, 1 FROM positions, games"
        index.execute(f"{every} WHERE ply = 3")
    assert whites(cli.archive, moves="d4 d5 Nf3") == ["Ann", "Cid", "Eve"]
    with ArchiveStore.open(str(cli.archive), read_only=True) as archive:
        assert archive.positions.occurrences(position_from_fen("4k3/8/8/8/8/8/8/4K3 w - -", Rules.CHESS))
        assert occurrences_of(archive, "4k3/8/8/8/8/8/8/4K3 w - -") == []
        start = occurrences_of(archive, str(read_position(None, "")))
        assert [one.ply for one in start] == [0, 0, 0], "others that have the key as well are no reason to find less"


def test_moves_from_a_position_with_results_ratings_and_times(cli: Cli) -> None:
    cli("db", "positions", "--build")
    with open_archive(str(cli.archive)) as archive:
        found = explore(archive, GameFilter(position=read_position(None, "d4 d5")))
        (knight,) = found.moves
        assert (knight.san, knight.uci, knight.games) == ("Nf3", "g1f3", 3)
        assert (knight.white, knight.draws, knight.black) == (1, 1, 0)
        assert (knight.rating, knight.think_ms, found.games, found.ended) == (1601, 6500, 3, 0)
        assert knight.position == read_position(None, "d4 d5 Nf3")
        last = explore(archive, GameFilter(position=read_position(None, "e4 d5 e5 d4 c4")))
        assert (last.games, last.ended, list(last.moves)) == (1, 1, [])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--position", "x"), "'x' is not a FEN"),
        (("--position", "8/8/8/8/8/8/8/K7 w - -"), "is no position of a game of chess"),
        (("--moves", "e4 e4"), "Move 2, 'e4', is not legal there"),
        (("--moves", "e4 --"), "Move 2, '--', is not legal there"),
    ],
)
def test_what_is_no_position_is_one_sentence(cli: Cli, options: tuple[str, str], words: str) -> None:
    assert words in cli("games", *options, code=ExitCode.USAGE).stderr


def test_other_stores_refuse_positions(cli: Cli, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="not a FEN"):
        whites(cli.archive, position="x")
    cli("export", "plies", "--dataset", "-o", tmp_path / "plies")
    with recorder.Dataset(str(tmp_path / "plies")) as dataset, pytest.raises(StorageError, match="in an archive only"):
        list(dataset.games(moves="e4"))


def test_a_search_within_a_time_limit_is_stopped(cli: Cli) -> None:
    with open_archive(str(cli.archive)) as archive:
        archive.positions.update()
        position = read_position(None, "")
        assert position is not None
        assert explore(archive, GameFilter(position=position), 60).games == 3
        with pytest.raises(SearchTimeoutError, match="more than -1 seconds"):
            explore(archive, GameFilter(position=position), -1)
