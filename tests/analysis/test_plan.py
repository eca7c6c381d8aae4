"""The plan of an analysis, with a look at each position of the main line, and how long an engine thinks about one."""

import chess.variant
import pytest

from recorder.analysis.plan import Limits, Look, Play, SetUp, TakeBack, make_plan
from recorder.rules.fen import fen
from tests.replay.test_moments import games_of
from tests.support.engines import SHORT, THINKS, Dialogue, game_of, scripted

STREAMS = [
    ("a03_crazyhouse", "observer_GuestObsD"),
    ("a05_chess960", "observer_GuestObsG"),
    ("a06_chatter_takebacks", "observer_Botvinnik"),
    ("b03_wild", "observer_GuestXg"),
]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream[0])
def test_every_position_of_the_main_line_is_looked_at_once(stream: tuple[str, str]) -> None:
    for game in games_of(*stream, True):
        plan = make_plan(game)
        plies = [look.ply for look in plan.looks]
        expected = [game.start_ply, *(ply.ply for ply in game.plies)]
        assert plies in (expected, expected[:-1])  # nothing to think about after a mate


def test_the_steps_lead_from_look_to_look_with_what_was_taken_back() -> None:
    taken_back = 0
    for game in games_of("a06_chatter_takebacks", "observer_Botvinnik", True):
        track: list[Play | SetUp] = []
        for step in make_plan(game).steps:
            if isinstance(step, SetUp):
                track = [step]
            elif isinstance(step, Play):
                track.append(step)
            elif isinstance(step, TakeBack):
                taken_back += step.plies
                del track[-step.plies :]
            else:
                assert step.position[:4] == track[-1].position[:4]
                assert len(track) - 1 == step.ply - game.start_ply
        taken = sum(event.value or 0 for event in game.events if event.kind.value == "takeback")
        taken_back -= taken
    assert taken_back == 0


def test_positions_and_holdings_of_crazyhouse_are_those_of_another_program() -> None:
    compared = 0
    for game in games_of("a03_crazyhouse", "observer_GuestObsD", True):
        board = chess.variant.CrazyhouseBoard()
        found = {look.ply: look.fen for look in make_plan(game).looks}
        for ply in game.plies:
            board.push_uci(ply.uci or "")
            if ply.ply in found:
                assert chess.variant.CrazyhouseBoard(found[ply.ply]).epd() == board.epd()  # counters are as printed
                compared += 1
    assert compared > 20


def test_clocks_are_those_of_the_moment_the_position_was_reached() -> None:
    (game,) = games_of("a03_crazyhouse", "observer_GuestObsD", True)[:1]
    clocks = {look.ply: (look.white_clock_ms, look.black_clock_ms) for look in make_plan(game).looks}
    for ply in game.plies[:-1]:
        assert clocks[ply.ply] == (ply.white_clock_ms, ply.black_clock_ms)


def test_a_position_without_a_move_is_not_looked_at() -> None:
    plan = make_plan(game_of("1. f3 e5 2. g4 Qh4# 0-1"))
    assert [look.ply for look in plan.looks] == [0, 1, 2, 3]
    assert sum(isinstance(step, Play) for step in plan.steps) == 4


def test_another_starting_position_is_set_up() -> None:
    start = "4k3/8/8/8/8/8/4P3/4K3 b - - 7 20"
    plan = make_plan(game_of("20... Kd7 21. e4 *", f'[FEN "{start}"]', '[SetUp "1"]'))
    first = plan.steps[0]
    assert isinstance(first, SetUp)
    assert (first.fen, first.usual) == (start, False)
    assert [look.ply for look in plan.looks] == [39, 40, 41]
    assert plan.looks[1].fen == "8/3k4/8/8/8/8/4P3/4K3 w - - 8 21"
    assert fen(plan.looks[0].position, 7, 20) == start


def test_only_some_positions_are_analysed_and_all_moves_are_still_sent() -> None:
    plan = make_plan(game_of("1. e4 e5 2. Nf3 Nc6 *")).only({2, 4})
    assert [type(step) for step in plan.steps] == [SetUp, Play, Play, Look, Play, Play, Look]


def test_unknown_boards_are_not_analysed() -> None:
    assert make_plan(game_of("1. e4 e5 *", '[Variant "kriegspiel"]')).looks == []


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
