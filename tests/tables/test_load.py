"""Arrays of many games say what the model says game by game, with and without Arrow, in one piece and in many."""

from __future__ import annotations

import io
import sqlite3
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import chess
import pandas as pd
import pytest

from exporters.table_files import write_csv, write_json_lines, write_plies
from exporters.tables.boards import NORMAL_START, board_of_fen
from exporters.tables.columns import ON_REQUEST, PLY_COLUMNS
from exporters.tables.frames import free_bytes, game_frame, plies_of, ply_batches, side_frame
from exporters.tables.rows import PLY_NAMES, ply_rows
from recorder import Archive
from recorder.ledger import Cause
from recorder.model import Proof
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Position
from recorder.rules.prove import play_san
from recorder.rules.variants import rules_of
from storage import ArchiveStore as Storage
from storage import GameFilter
from storage.read.columns import ColumnReader
from tests.support.cli import Cli
from tests.tables.oracle import frame_of_games

PROVED = (Proof.FULL, Proof.LIST, Proof.INFERRED)
EVERYTHING = {"include": ["examined", "setup", "empty"]}


@pytest.fixture(scope="module")
def plies(corpus_archive: Archive) -> pd.DataFrame:
    return corpus_archive.plies(extra=["material", "fen"], **EVERYTHING)


@pytest.fixture(scope="module")
def oracle(corpus_archive: Archive) -> pd.DataFrame:
    return frame_of_games(corpus_archive.path, EVERYTHING)


@pytest.mark.parametrize("name", [column.name for column in PLY_COLUMNS])
def test_column_is_that_of_the_games(plies: pd.DataFrame, oracle: pd.DataFrame, name: str) -> None:
    """``residual_ms``, ``cause``, ``clock_before_ms`` … are the ledger's: the oracle asks it for every game."""
    found, expected = plies[name].astype(object), oracle[name]
    same = (found == expected).fillna(False) | (found.isna() & expected.isna())
    wrong = pd.DataFrame({"key": oracle["key"], "ply": oracle["ply"], "is": found, "should be": expected})[~same]
    assert wrong.empty, wrong.head(10).to_string()


def test_the_corpus_has_what_is_compared(plies: pd.DataFrame) -> None:
    """A column that is empty, or a cause that never comes, would prove nothing."""
    for column in PLY_COLUMNS:
        assert plies[column.name].notna().any(), column.name
    assert {Cause.EXACT.value, Cause.ROUNDING.value, Cause.FIRST_MOVE.value, Cause.SNAPSHOT.value} <= set(
        plies["cause"]
    )
    assert plies["cause"].nunique() >= 7
    assert plies.groupby("phase", observed=False).size().min() > 500


@pytest.mark.long
def test_without_arrow_it_is_the_same(corpus_archive: Archive, monkeypatch: pytest.MonkeyPatch) -> None:
    with_arrow = corpus_archive.plies(**EVERYTHING)
    pd.testing.assert_frame_equal(Archive(corpus_archive.path, arrow=False).plies(**EVERYTHING), with_arrow)
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    pd.testing.assert_frame_equal(corpus_archive.plies(**EVERYTHING), with_arrow)


def test_pieces_are_the_whole(corpus_archive: Archive, plies: pd.DataFrame) -> None:
    pieces = list(corpus_archive.batches(2000, extra=["fen", "material"], **EVERYTHING))
    assert len(pieces) > 5
    assert all(len(piece) <= 2000 for piece in pieces)
    together = pd.concat([piece.astype(object) for piece in pieces], ignore_index=True)
    pd.testing.assert_frame_equal(together, plies.astype(object), check_dtype=False)
    assert list(corpus_archive.batches(since="2999")) == []


def test_a_column_alone_is_that_of_the_whole_table(corpus_archive: Archive) -> None:
    with Storage.open(str(corpus_archive.path), read_only=True) as storage, storage.columns(arrow=False) as reader:
        games = reader.games_of(GameFilter())[::25]
        whole = plies_of(reader, [row_id for row_id, _ in games], [column.name for column in ON_REQUEST])
        for column in (*PLY_COLUMNS, *ON_REQUEST):
            (alone,) = ply_batches(reader, games, len(whole), [column])
            pd.testing.assert_frame_equal(alone, whole[[column.name]])


def test_a_table_that_does_not_fit_into_memory_is_reported(
    corpus_archive: Archive, plies: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporters.tables.frames.free_bytes", lambda: 1_000_000)
    with pytest.warns(
        UserWarning, match=r"plies has about .* MB are free: read pieces of it with batches\(\)"
    ) as found:
        corpus_archive.plies(**EVERYTHING)
    assert f"{len(plies):,} plies" in str(found[0].message)
    assert found[0].filename == __file__, "the warning names the line that asks for the table"
    for free in (None, len(plies) * 1000):
        monkeypatch.setattr("exporters.tables.frames.free_bytes", lambda free=free: free)
        corpus_archive.plies(last=5)
    assert (free_bytes() or 1) > 0


@pytest.mark.parametrize("table", [side_frame, game_frame])
def test_tables_of_games_in_runs_are_the_whole(
    corpus_archive: Archive,
    table: Callable[[ColumnReader, list[tuple[int, int]]], pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Storage.open(str(corpus_archive.path), read_only=True) as storage, storage.columns(arrow=False) as reader:
        games = reader.games_of(GameFilter())
        whole = table(reader, games)
        monkeypatch.setattr("exporters.tables.frames._GAMES_AT_ONCE", 50)
        pd.testing.assert_frame_equal(table(reader, games), whole)


@pytest.mark.long
def test_a_game_is_in_no_two_pieces(corpus_archive: Archive) -> None:
    seen: set[str] = set()
    for piece in corpus_archive.batches(400):
        assert seen.isdisjoint(piece["key"])
        seen |= set(piece["key"])


def test_a_table_is_of_one_moment(tmp_path: Path) -> None:
    """A commit while two connections begin is noticed: they begin again."""
    corpus = Path(__file__).parents[1] / "corpus" / "public"
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", corpus / "pychess-play-gbtami.txt")
    with Storage.open(str(cli.archive), read_only=True) as storage, storage.columns() as reader:
        ((row_id, count),) = reader.games_of(GameFilter())
        with sqlite3.connect(cli.archive) as writer:
            writer.execute("DELETE FROM plies")
        (view,) = reader.views([row_id])
        assert len(reader.plies([(view.first_ply_id, view.ply_count)]).ply) == count == 4
    writer.close()


def test_boards_are_those_of_python_chess(plies: pd.DataFrame, corpus_archive: Archive) -> None:
    # A server that names no variant may still draw the start.
    starts = {
        game.key: next((anchor.fen for anchor in game.anchors()), chess.STARTING_FEN)
        for game in corpus_archive.games(variant="chess")
    }
    normal = plies[plies["key"].map(starts).eq(chess.STARTING_FEN) & plies["complete"] & (plies["kind"] == "played")]
    games = [game for _, game in normal.groupby("key", sort=False) if (game["proof"] == "full").all()][:25]
    assert len(games) == 25
    for game in games:
        board = chess.Board()
        for uci, fen, material in zip(game["uci"], game["fen"], game["material"], strict=True):
            board.push_uci(uci)
            assert fen == board.fen(en_passant="xfen")
            counts = [len(board.pieces(kind, True)) - len(board.pieces(kind, False)) for kind in range(1, 6)]
            assert material == sum(count * points for count, points in zip(counts, (1, 3, 3, 5, 9), strict=True))


def test_boards_are_those_of_our_own_rules(plies: pd.DataFrame, corpus_archive: Archive) -> None:
    """Every proved ply of every played game of the corpus, whatever the variant, played once more by the rules."""
    compared: Counter[str | None] = Counter()
    fens = dict(zip(zip(plies["key"], plies["ply"], strict=True), plies["fen"], strict=True))
    with Storage.open(str(corpus_archive.path), read_only=True) as storage:
        for game in storage.games(GameFilter(), with_events=False):
            anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
            anchors.setdefault(game.start_ply, game.start_fen or f"{NORMAL_START} w KQkq - 0 1")
            position: Position | None = None
            last = None
            for ply in game.plies:
                if ply.ply - 1 in anchors:
                    position = position_from_fen(anchors[ply.ply - 1], rules_of(game.variant or "chess"))
                elif ply.ply - 1 != last:
                    position = None
                last = ply.ply
                step = "not known" if position is None or ply.proof not in PROVED else play_san(position, ply.san)
                position = None if isinstance(step, str) else step[2]
                if position is not None:
                    board = position.board.replace(" ", "/").replace("-", "1")
                    assert board_of_fen(fens[game.key, ply.ply]) == board_of_fen(board), (game.key, ply)
                    compared[game.variant] += 1
    assert {"chess", "chess960", "crazyhouse", "bughouse", "suicide", "losers", "atomic", "wild/5"} <= set(compared)
    assert compared.total() > 10_000


@pytest.mark.parametrize(("name", "write"), [("csv", write_csv), ("jsonl", write_json_lines)])
def test_text_files_are_those_of_the_games(corpus_archive: Archive, name: str, write: Callable[..., None]) -> None:
    written, expected = io.BytesIO(), io.BytesIO()
    with Storage.open(str(corpus_archive.path), read_only=True) as storage:
        report = write_plies(storage, GameFilter(), written, name)
        games = [rows for _, rows in ply_rows(storage.games(GameFilter()))]
    write(PLY_NAMES, games, expected)
    assert written.getvalue() == expected.getvalue()
    assert (report.games, report.plies) == (len(games), sum(map(len, games)))
