"""Analyses on their way out: one evaluation behind a move, of the position after it, and back in again."""

import io
from typing import Any

import chess
import chess.pgn
import pytest

from exporters.evaluations import main_analysis
from exporters.pgn.exporter import PgnExporter, PgnOptions
from recorder.model import Analysis, Game, SourceKind, Thinking
from recorder.reading import make_pipeline

from .games import make_game


def line(ply: int, score_cp: int | None, *, mate: int | None = None, depth: int = 12, pv: str = "") -> Thinking:
    """An engine's evaluation of the position after ``ply`` half-moves, from the side to move."""
    return Thinking(0, ply, "Deep 3", ply % 2 == 0, depth, score_cp, mate, 100, 5_000, None, None, None, pv, None, 0)


def analysed_by_ply(game: Game, engine: str | None = None) -> dict[int, Thinking]:
    counts = main_analysis(game, engine)
    return {} if counts is None else counts[1]


def analysed(*lines: Thinking, engine: str = "Deep 3", begun_ms: int = 0) -> Analysis:
    return Analysis(engine, "uci", '{"limit": {"depth": 12}}', begun_ms, lines)


def pgn(game: Game, **options: Any) -> str:
    return PgnExporter(PgnOptions(clock=frozenset(), **options)).game_text(game)


def moves(text: str) -> str:
    return text.split("\n\n")[1].replace("\n", " ")


@pytest.fixture
def game() -> Game:
    """A scholar's mate; White is better after 1. e4 and worse after 2... Nc6, and mates from then on."""
    game = make_game()
    game.analyses.append(analysed(line(0, 30), line(1, -20), line(2, 25), line(4, -40), line(6, None, mate=1)))
    return game


def test_an_evaluation_is_that_of_the_position_after_the_move(game: Game) -> None:
    text = pgn(game, engine=True)
    assert moves(text).startswith(
        "1. e4 {[%eval 0.20] [%depth 12]} 1... e5 {[%eval 0.25] [%depth 12]} 2. Qh5 Nc6 {[%eval -0.40] [%depth 12]}"
        " 3. Bc4 Nf6 {[%eval #1] [%depth 12]} 4. Qxf7#"
    )
    assert "%eval" not in pgn(game)
    node = chess.pgn.read_game(io.StringIO(text))
    read = {one.ply(): one.eval() for one in node.mainline()}
    assert read[1] == chess.engine.PovScore(chess.engine.Cp(20), chess.WHITE)
    assert read[3] is None
    assert read[6] == chess.engine.PovScore(chess.engine.Mate(1), chess.WHITE)


def test_the_engines_line_is_a_variation(game: Game) -> None:
    """It replaces the next move; where the engine expects the move that was played, there is none."""
    game.analyses[0] = analysed(
        line(0, 30, pv="e2e4 e7e5"), line(1, -20, pv="1... c7c5 2. g1f3 d7d6!"), line(2, 25, pv="Nf3 Nc6 Bb5 a6 O-O"),
        line(3, 25, pv="e7e5 d8d7"), line(4, -40, pv=""), line(6, None, mate=1, pv="h5f7"),
    )  # fmt: skip
    text = pgn(game, engine=True)
    assert moves(text).startswith(
        "1. e4 {[%eval 0.20] [%depth 12]} 1... e5 {[%eval 0.25] [%depth 12]} (1... c5 2. Nf3 d6) 2. Qh5"
        " {[%eval -0.25] [%depth 12]} (2. Nf3 Nc6 3. Bb5 a6 4. O-O) 2... Nc6 {[%eval -0.40] [%depth 12]} 3. Bc4"
    )
    read = chess.pgn.read_game(io.StringIO(text))
    assert not read.errors


def test_the_line_behind_the_last_move_is_in_its_comment() -> None:
    game = make_game()
    for seen in game.observations:
        del seen.lines[0].rows[6:]
    game.analyses.append(analysed(line(6, 90, pv="h5f7 e8f7")))
    text = moves(pgn(game, engine=True)).rstrip()
    assert text.endswith("3. Bc4 Nf6 {[%eval 0.90] [%depth 12] | Expected: Qxf7#} {Bob checkmated} 1-0")


def test_evaluations_come_back(game: Game) -> None:
    text = pgn(game, engine=True)
    pipeline = make_pipeline(SourceKind.PGN)
    (reread,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
    assert moves(pgn(reread, engine=True)) == moves(text)
    assert moves(pgn(reread)) == moves(text), "a saved game keeps its own evaluations"


def test_an_analysis_counts_more_than_what_a_player_thought(game: Game) -> None:
    game.observations[0].thinking = [
        Thinking(0, 0, "Player", True, 3, 90, None, None, None, None, None, None, "e2e4 e7e5", None, -2),
        Thinking(1, 2, "Player", True, 3, 80, None, None, None, None, None, None, "d1h5", None, -1),
    ]
    with_analysis = moves(pgn(game, engine=True))
    assert with_analysis.startswith(
        "1. e4 {[%eval 0.20] [%depth 12]} 1... e5 {[%eval 0.25] [%depth 12]} 2. Qh5 {[%eval"
    )
    without = moves(pgn(game, engine=True, analysis=None))
    assert without.startswith("1. e4 {[%eval 0.90] [%depth 3] e2e4 e7e5} 1... e5 2. Qh5 {[%eval 0.80] [%depth 3] d1h5}")


def test_the_last_line_that_is_no_bound_counts() -> None:
    game = make_game()
    game.analyses.append(
        analysed(
            line(1, -10, depth=8), line(1, -20, depth=9), line(1, -90, depth=10, pv="e7e5?"),
            line(2, 70, depth=4, pv="g1f3!"),
            line(3, None, depth=5),
        )
    )  # fmt: skip
    assert [(ply, one.depth, one.score_cp) for ply, one in analysed_by_ply(game).items()] == [(1, 9, -20), (2, 4, 70)]


def test_of_several_the_one_that_covers_most_and_then_the_newest() -> None:
    game = make_game()
    game.analyses += [
        analysed(line(1, 1), line(2, 1), engine="Deep 2"),
        analysed(line(1, 2), line(2, 2), engine="Deep 3", begun_ms=5),
        analysed(line(1, 3), engine="Interrupted", begun_ms=9),
    ]
    assert [one.score_cp for one in analysed_by_ply(game).values()] == [2, 2]
    assert [one.score_cp for one in analysed_by_ply(game, "deep 2").values()] == [1, 1]
    assert [one.score_cp for one in analysed_by_ply(game, "inter").values()] == [3]
    assert analysed_by_ply(game, "stockfish") == {}
    game.analyses.append(analysed(line(1, 4), engine="DEEP"))  # a whole name counts before the beginning of others
    assert [one.score_cp for one in analysed_by_ply(game, "deep").values()] == [4]
    game.analyses.pop()
    counts = main_analysis(game)
    assert counts[0] is game.analyses[1]
    assert main_analysis(make_game()) is None


def test_the_engine_is_named_as_annotator(game: Game) -> None:
    for style in ("default", "fics"):
        text = pgn(game, engine=True, style=style).replace("\r", "")
        assert '[Annotator "Deep 3"]\n' in text
        assert "Annotator" not in pgn(game, style=style)
        assert "Annotator" not in pgn(game, engine=True, style=style, analysis=None)
        assert "Annotator" not in pgn(game, engine=True, style=style, analysis="other")


def test_who_annotated_a_saved_game_stays_named(game: Game) -> None:
    saved = pgn(game).replace("[PlyCount", '[Annotator "Ann \\"A\\""]\n[PlyCount')
    pipeline = make_pipeline(SourceKind.PGN)
    (reread,) = [*pipeline.receive(saved.encode()), *pipeline.finish()]
    reread.analyses += game.analyses
    text = pgn(reread, engine=True)
    assert '[Annotator "Ann \\"A\\"; Deep 3"]\n' in text
    pipeline = make_pipeline(SourceKind.PGN)
    (third,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
    third.analyses += game.analyses
    assert '[Annotator "Ann \\"A\\"; Deep 3"]\n' in pgn(third, engine=True)
