"""Evaluations in the ply table: of saved games by hand, of engines that played as their logs tell."""

import re
from pathlib import Path

import pandas as pd
import pytest

from exporters.evaluations import CHANCES, judged
from exporters.tables.columns import EVALUATIONS
from recorder import Archive
from recorder.model import AnalysedPosition, Analysis, Thinking
from recorder.model.boards import boards_by_ply
from storage import ArchiveStore as Storage
from tests.support.cli import Cli
from tests.support.evaluated import LOSSES, PGN


def cells(plies: pd.DataFrame, *names: str) -> list[tuple[object, ...]]:
    return [tuple(None if pd.isna(value) else value for value in row) for row in plies[list(names)].itertuples(False)]


@pytest.fixture(scope="module")
def plies(corpus_archive: Archive) -> pd.DataFrame:
    return corpus_archive.plies(player="Ann", server="lichess.org")


def test_of_a_saved_game_as_the_mover_sees_them(plies: pd.DataFrame) -> None:
    assert cells(plies, "eval_before_cp", "eval_before_mate", "eval_after_cp", "eval_after_mate") == [
        (None, None, 30, None),
        (-30, None, -20, None),
        (20, None, 20, None),
        (-20, None, -30, None),
        (30, None, -50, None),
        (50, None, -60, None),
        (60, None, 0, None),
        (0, None, -900, None),
        (900, None, -200, None),
        (200, None, None, -4),
        (None, 4, -100, None),
        (100, None, None, None),
    ]
    assert plies["eval_engine"].isna().all()  # lichess does not name it


def test_losses_calculated_by_hand(plies: pd.DataFrame) -> None:
    found = dict(zip(plies["ply"], cells(plies, "loss_cp", "loss_permille"), strict=True))
    assert found == {ply: loss or (None, None) for ply, loss in LOSSES.items()}


def test_chances_are_those_of_the_formula() -> None:
    """1000 / (1 + e^(-0.00368208 cp)), rounded: computed with a pocket calculator."""
    assert [CHANCES[cp + 1000] for cp in (-1000, -200, 0, 30, 100, 1000)] == [25, 324, 500, 528, 591, 975]


def test_an_engine_that_plays_has_evaluations_and_no_loss(corpus_archive: Archive) -> None:
    """An engine's evaluations are for its own moves; those of its opponent have none."""
    plies = corpus_archive.plies()
    found = plies[plies["eval_engine"].notna()]
    assert found["eval_depth"].notna().any()
    assert (found["eval_after_cp"].notna() ^ found["eval_after_mate"].notna()).all()
    assert found["loss_cp"].isna().all()


def test_without_evaluations_the_columns_are_there_and_empty(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    cli("import", Path(__file__).parents[1] / "corpus" / "public" / "pychess-play-gbtami.txt")
    plies = Archive(cli.archive).plies()
    assert len(plies)
    assert plies[list(EVALUATIONS)].isna().all(axis=None)


def test_two_evaluations_of_one_move_are_read_as_the_export_does(tmp_path: Path) -> None:
    """The last one counts, in the table as in PGN."""
    cli = Cli(tmp_path / "archive.sqlite")
    log = tmp_path / "twice.pgn"
    log.write_bytes(PGN.replace(b"[%eval 0.6]", b"[%eval 5.0] } { [%eval 0.6]"))
    cli("import", log)
    plies = Archive(cli.archive).plies()
    assert plies["eval_after_cp"].iloc[5] == -60
    assert "[%eval 0.60]" in cli("export", "pgn", "--engine", "-o", "-").stdout


def analysed(ply: int, score_cp: int | None, mate: int | None = None, pv: str = "", depth: int = 9) -> Thinking:
    """A line about the position after so many half-moves, as the side to move there sees it."""
    return Thinking(0, ply, "Deep", ply % 2 == 0, depth, score_cp, mate, None, None, None, None, None, pv, None, 0)


def test_an_analysis_comes_first_the_one_of_most_positions(tmp_path: Path) -> None:
    """Of the start and the first three moves; the rest stays as the file has it."""
    cli = Cli(tmp_path / "archive.sqlite")
    (tmp_path / "evaluated.pgn").write_bytes(PGN)
    cli("import", tmp_path / "evaluated.pgn")
    lines = {
        0: [analysed(0, 20, depth=8), analysed(0, 25), analysed(0, 99, pv="e4 e5 ?")],  # that is only a bound
        1: [analysed(1, -25)],
        2: [analysed(2, 150)],
        3: [analysed(3, None, mate=2)],
    }
    with Storage.open(str(cli.archive)) as storage:
        (game,) = storage.games()
        boards = boards_by_ply(game)
        older = {3: [analysed(3, 77)], 4: [analysed(4, 5)]}
        for begun_ms, settings, found in ((2000, '{"run":"new"}', lines), (1000, '{"run":"old"}', older)):
            positions = [AnalysedPosition(ply, board_fen(boards[ply], ply), tuple(of)) for ply, of in found.items()]
            storage.analyses.add(game.key, Analysis("Deep", "uci", settings, begun_ms, ()), positions)
    archive = Archive(cli.archive)
    plies = archive.plies().head(5)
    names = ("eval_before_cp", "eval_after_cp", "eval_after_mate", "eval_depth", "eval_engine", "loss_cp")
    assert cells(plies, *names) == [
        (25, 25, None, 9, "Deep", 0),
        (-25, -150, None, 9, "Deep", 125),
        (150, None, -2, 9, "Deep", 1150),
        (None, -30, None, None, None, None),  # the file's: nothing can be compared
        (30, -50, None, None, None, 80),
    ]
    (game,) = archive.games()
    expected = [(move.loss_cp, move.loss_permille) for move in judged(game) or ()]
    assert cells(archive.plies(), "loss_cp", "loss_permille") == expected, "of a report, game by game"


def board_fen(board: str, ply: int) -> str:
    """What ``AnalysedPosition`` wants of a board of the rules."""
    placement = re.sub("-+", lambda run: str(len(run[0])), board).replace(" ", "/")
    return f"{placement} {'wb'[ply % 2]} - - 0 1"


def test_a_saved_game_without_clocks_has_evaluations(tmp_path: Path) -> None:
    cli = Cli(tmp_path / "archive.sqlite")
    log = tmp_path / "timeless.pgn"
    log.write_text('[White "Ann"]\n[Black "Bob"]\n[Result "*"]\n\n1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } *\n')
    cli("import", log)
    plies = Archive(cli.archive).plies()
    assert plies["eval_after_cp"].tolist() == [30, -20]
    assert plies[["clock_after_ms", "opponent_clock_ms", "white_clock_ms", "elapsed_origin"]].isna().all(axis=None)
