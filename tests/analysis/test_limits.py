"""How long an engine thinks about a position."""

from __future__ import annotations

import pytest

from recorder.analysis.plan import Limits
from tests.support.engines import SHORT, THINKS, Dialogue, game_of, scripted


def deepening(line: str) -> list[str]:
    lines = [f"{depth} {depth} {depth} {100 * depth} e2e4" for depth in range(1, 9)]
    return scripted({"analyze": lines})(line)


def test_a_depth_is_finished_when_the_engine_prints_the_next_one() -> None:
    dialogue = Dialogue(deepening, Limits(depth=5))
    dialogue.analyse(game_of(SHORT), 0)
    assert [line.depth for line in dialogue.found[0].lines] == [1, 2, 3, 4, 5]
    assert dialogue.now_ms == 0


def test_nodes_end_with_the_line_that_has_them_and_by_asking() -> None:
    dialogue = Dialogue(deepening, Limits(nodes=250))
    dialogue.analyse(game_of(SHORT), 0)
    assert [line.nodes for line in dialogue.found[0].lines][:3] == [100, 200, 300]
    dots = Dialogue(scripted({"analyze": ["1 1 1 10 e2e4"], ".": ["stat01: 50 251 3 2 20"]}), Limits(nodes=250))
    sent = dots.analyse(game_of(SHORT), 0)
    assert sent.count(".") == 1
    assert dots.now_ms == 500


def test_an_engine_that_does_not_know_the_question_is_asked_once() -> None:
    dialogue = Dialogue(scripted({**THINKS, ".": ["Error (unknown command): ."]}), Limits(time_ms=5000, nodes=10**9))
    assert dialogue.analyse(game_of(SHORT)).count(".") == 1
    assert dialogue.now_ms == 4 * 5000


def test_a_search_that_never_reaches_its_limit_ends_and_is_reported() -> None:
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
