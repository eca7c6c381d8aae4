"""The plan of an analysis: everything that happened in a game, and a look at each position of the main line."""

from __future__ import annotations

import chess.variant
import pytest

from recorder.analysis.plan import Look, Play, SetUp, TakeBack, make_plan
from recorder.rules.prove import fen
from tests.replay.test_moments import games_of
from tests.support.engines import game_of

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
