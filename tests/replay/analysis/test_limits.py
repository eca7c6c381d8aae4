"""How long an engine thinks about a position, in ``analyze`` mode and without it."""

from __future__ import annotations

import pytest

from recorder.replay.analysis.spec import Limits
from tests.support.engines import SHORT, THINKS, Dialogue, game_of, scripted, without_pings


def deepening(line: str) -> list[str]:
    lines = [f"{depth} {depth} {depth} {100 * depth} e2e4" for depth in range(1, 9)]
    return scripted({"analyze": lines, "go": [*lines, "move e2e4"]})(line)


def test_a_depth_is_over_when_the_next_one_is_told() -> None:
    dialogue = Dialogue(deepening, Limits(depth=5))
    dialogue.analyse(game_of(SHORT), 0)
    assert [line.depth for line in dialogue.found[0].lines] == [1, 2, 3, 4, 5]
    assert dialogue.now_ms == 0


def test_nodes_end_with_the_line_that_has_them_and_by_asking() -> None:
    dialogue = Dialogue(deepening, Limits(nodes=250))
    dialogue.analyse(game_of(SHORT), 0)
    assert [line.nodes for line in dialogue.found[0].lines][:3] == [100, 200, 300]
    dots = Dialogue(scripted({"analyze": ["1 1 1 10 e2e4"], ".": ["stat01: 50 251 3 2 20"]}), Limits(nodes=250))
    said = dots.analyse(game_of(SHORT), 0)
    assert said.count(".") == 1
    assert dots.now_ms == 500


def test_an_engine_that_does_not_know_the_question_is_not_asked_again() -> None:
    dialogue = Dialogue(scripted({**THINKS, ".": ["Error (unknown command): ."]}), Limits(time_ms=5000, nodes=10**9))
    assert dialogue.analyse(game_of(SHORT)).count(".") == 1
    assert dialogue.now_ms == 4 * 5000


def test_a_limit_that_is_never_reached_ends_and_is_told() -> None:
    silent = Dialogue(scripted(), Limits(depth=30))
    silent.analyse(game_of(SHORT), 0)
    assert silent.found[0].notes == ("did not reach its limit in 20 s",)
    stops = Dialogue(scripted(THINKS), Limits(depth=30))
    stops.analyse(game_of(SHORT), 0)
    assert stops.found[0].notes == ("did not reach its limit in 10 s",)
    assert len(stops.found[0].lines) == 2


@pytest.mark.parametrize(
    ("score", "mate", "score_cp"),
    [
        (100002, 2, None), (-100001, -1, None),
        (999998, 1, None), (999996, 2, None), (-999997, -1, None), (-999995, -2, None),  # Sjeng's known mates
        (9999, 1, None), (9997, 2, None), (-9998, -1, None), (-9996, -2, None), (-9986, -7, None),  # GNU Chess'
        (999997, None, None), (9998, None, None), (-9999, None, None), (-10000, None, None),  # so far away is no mate
        (9899, None, 9899), (10001, None, 10001), (998999, None, 998999), (1000001, None, 1000001),
    ],
)  # fmt: skip
def test_behind_a_mate_however_it_is_counted_nothing_more_is_waited_for(
    score: int, mate: int | None, score_cp: int | None
) -> None:
    dialogue = Dialogue(scripted({"analyze": [f"3 {score} 1 90 best"]}), Limits(depth=30))
    dialogue.analyse(game_of(SHORT), 0)
    (line,) = dialogue.found[0].lines
    assert (line.mate, line.score_cp) == (mate, score_cp)
    assert dialogue.found[0].notes == ()
    assert dialogue.now_ms == 500


# -- engines without analyze mode --------------------------------------------------------------------------------------

PLAYS = {"go": ["1 5 0 20 e7e5", "2 7 0 90 e7e5 g1f3", "move e7e5"]}


@pytest.mark.parametrize(
    ("features", "answers"),
    [
        ("feature ping=1 analyze=0 setboard=1 done=1", PLAYS),
        ("feature ping=1 done=1", {**PLAYS, "analyze": ["Error (unknown command): analyze"]}),
    ],
)
def test_an_engine_without_analyze_mode_moves_and_takes_that_back(features: str, answers: dict[str, list[str]]) -> None:
    dialogue = Dialogue(scripted(answers, features), Limits(time_ms=1500, depth=2))
    said = without_pings(dialogue.analyse(game_of("1. e4 *"), 1))
    place = said.index("st 2")
    assert said[place:] == ["st 2", "sd 2", "go", "force", "undo", "result *"]
    assert [(line.depth, line.score_cp) for line in dialogue.found[0].lines] == [(1, 5), (2, 7)]


def test_the_protocol_s_own_measure_of_nodes_where_it_has_one() -> None:
    dialogue = Dialogue(scripted(PLAYS, "feature ping=1 analyze=0 nps=1 done=1"), Limits(nodes=80))
    said = dialogue.analyse(game_of("1. e4 *"), 1)
    assert said[said.index("st 1") :][:3] == ["st 1", "nps 80", "go"]


def test_it_is_told_to_move_when_its_time_is_over() -> None:
    dialogue = Dialogue(
        scripted({"go": ["1 5 0 20 e7e5"], "?": ["move e7e5"]}, "feature ping=1 analyze=0 done=1"), Limits(time_ms=300)
    )
    said = dialogue.analyse(game_of("1. e4 *"), 1)
    assert "?" in said
    assert dialogue.now_ms == 300


def test_one_that_resigns_has_no_move_to_take_back() -> None:
    answers = {"go": ["1 -900 0 20 e7e5", "resign"]}
    said = Dialogue(scripted(answers, "feature ping=1 analyze=0 done=1")).analyse(game_of("1. e4 *"), 1)
    assert "undo" not in said


def test_a_move_that_is_not_legal_is_told_and_the_position_told_anew() -> None:
    answers = {"go": ["1 5 0 20 e7e5", "move e7e4"]}
    dialogue = Dialogue(scripted(answers, "feature ping=1 setboard=1 analyze=0 done=1"))
    said = dialogue.analyse(game_of("1. e4 e5 *"), 1, 2)
    assert dialogue.found[0].notes == ("made the move e7e4, which is not legal",)
    assert "setboard rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2" in said
