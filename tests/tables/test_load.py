"""The ply table has what the model says of each game, with and without Arrow and a copy, in one piece and in many."""

import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import chess
import pandas as pd
import pytest

from exporters.selection import Filters, make_filter
from exporters.tables.columns import PLY_COLUMNS
from recorder import Archive
from recorder.archive.game_tables import free_bytes
from recorder.ledger import Cause, ledger
from recorder.model import Proof
from recorder.model.boards import is_played_here
from recorder.rules.fen import board_from_fen, position_from_fen
from recorder.rules.position import Position
from recorder.rules.prove import play_san
from recorder.rules.variants import rules_of
from storage import ArchiveStore as Storage
from storage import GameFilter
from tests.support.cli import Cli

PROVED = (Proof.FULL, Proof.LIST, Proof.INFERRED)
EVERYTHING: Filters = {"include": ["examined", "setup", "empty"]}


@pytest.fixture(scope="module")
def plies(corpus_archive: Archive) -> pd.DataFrame:
    return corpus_archive.plies(extra=["material", "fen"], **EVERYTHING)


def test_clocks_are_those_of_the_ledger(plies: pd.DataFrame, corpus_archive: Archive) -> None:
    """And what the model says of each ply, game by game."""
    expected = []
    with Storage.open(str(corpus_archive.path), read_only=True) as storage:
        for game in storage.games(make_filter(EVERYTHING)):
            for ply, entry in zip(game.plies, ledger(game), strict=True):
                after, waiting = ply.white_clock_ms, ply.black_clock_ms
                cause = None if entry.cause is None else entry.cause.value
                expected.append(
                    (
                        *(game.key, ply.ply, ply.san, ply.uci, ply.elapsed_ms, ply.lag_ms, after, waiting),
                        *(entry.before_ms, entry.interval_ms, entry.thinking_ms, entry.residual_ms, cause),
                        *(ply.elapsed_origin, "white" if ply.white_moved else "black", game.result, game.complete),
                    )
                )
    names = [
        "key",
        "ply",
        "san",
        "uci",
        "elapsed_ms",
        "lag_ms",
        "white_clock_ms",
        "black_clock_ms",
        "clock_before_ms",
        "interval_ms",
        "thinking_ms",
        "residual_ms",
        "cause",
        "elapsed_origin",
        "side",
        "result",
        "complete",
    ]
    found = plies[names].astype(object)
    assert found.where(found.notna(), None).to_numpy().tolist() == list(map(list, expected))


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


@pytest.mark.long
def test_the_copy_gives_what_the_archive_gives(
    corpus_archive: Archive, plies: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("exporters.tables.tables._FEW_PLIES", 0)
    monkeypatch.setattr("exporters.tables.tables._PART_PLIES", 3_000)
    found = corpus_archive.plies(extra=["material", "fen"], **EVERYTHING)
    assert corpus_archive.path.with_name("archive.sqlite-columns").is_dir()
    pd.testing.assert_frame_equal(found, plies)


@pytest.mark.long
def test_pieces_are_the_whole(corpus_archive: Archive, plies: pd.DataFrame) -> None:
    pieces = list(corpus_archive.batches(2000, extra=["fen", "material"], **EVERYTHING))
    assert len(pieces) > 5
    assert all(len(piece) <= 2000 for piece in pieces)
    together = pd.concat([piece.astype(object) for piece in pieces], ignore_index=True)
    pd.testing.assert_frame_equal(together, plies.astype(object), check_dtype=False)
    assert list(corpus_archive.batches(since="2999")) == []


def test_a_table_that_does_not_fit_into_memory_is_reported(
    corpus_archive: Archive, plies: pd.DataFrame, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recorder.archive.game_tables.free_bytes", lambda: 1_000_000)
    with pytest.warns(
        UserWarning, match=r"plies has about .* [kMGT]B are free: read pieces of it with batches\(\)"
    ) as found:
        corpus_archive.plies(**EVERYTHING)
    assert f"{len(plies):,} plies" in str(found[0].message)
    assert found[0].filename == __file__, "the warning names the line that asks for the table"
    for free in (None, len(plies) * 1000):
        monkeypatch.setattr("recorder.archive.game_tables.free_bytes", lambda free=free: free)
        corpus_archive.plies(last=5)
    assert (free_bytes() or 1) > 0


@pytest.mark.long
def test_duckdb_prints_no_bar_between_the_lines_of_a_file() -> None:
    """It does so on standard output, after two seconds, where Python runs no script."""
    code = "from storage.read.store import new_database as new; print(new().sql(\"SELECT current_setting('{}')\"))"
    asked = [sys.executable, "-c", code.format("enable_progress_bar")]
    assert "false" in subprocess.run(asked, capture_output=True, text=True, check=True).stdout


def test_a_game_is_in_no_two_pieces(corpus_archive: Archive) -> None:
    seen: set[str] = set()
    for piece in corpus_archive.batches(400, last=60):
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
        (line,) = reader.plain_lines([row_id])
        assert len(reader.plies([(line.first_ply_id, line.ply_count)]).ply) == count == 4
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
            if not is_played_here(game.variant):
                assert all(fens[game.key, ply.ply] is pd.NA for ply in game.plies)
                continue
            anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
            anchors.setdefault(game.start_ply, game.start_fen or chess.STARTING_FEN)
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
                    assert board_from_fen(fens[game.key, ply.ply]) == position.board, (game.key, ply)
                    compared[game.variant] += 1
    assert {"chess", "chess960", "crazyhouse", "bughouse", "suicide", "losers", "atomic", "wild/5"} <= set(compared)
    assert compared.total() > 10_000
