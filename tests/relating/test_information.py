"""What equal times tell: two observations of one game without times of day, and two games that repeat each other."""

import itertools
import random
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.model import Game, Ply, PlyLine, Precision, Segment, SourceName
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import REQUIRED_BITS, View, bits_of, order_bits
from recorder.relating.merge import merge_games
from tests.support.effort import examples

from .scenes import connections, games_of, played

Clock = Callable[[int], int]


@cache
def _longest() -> Game:
    """A whole game that a connection saw, without times of day."""
    scenario = "a07_eight_boards"
    games = played(games_of(scenario, connections(scenario)[0], timed=False))
    return max((game for game in games if game.complete), key=lambda game: len(game.plies))


def _exact(ms: int) -> int:
    return ms


def _cut(ms: int) -> int:
    return ms // 1_000 * 1_000


def _rounded(ms: int) -> int:
    return round(ms / 1_000) * 1_000


def _seen(name: str, spent_ms: list[int], clock: Clock = _cut) -> Game:
    """An observer's record of the game, or its beginning, with these think times, and clocks printed in this way."""
    game = _longest()
    left_ms = [600_000, 600_000]
    plies = []
    for ply, took_ms in zip(game.plies, spent_ms, strict=False):
        left_ms[1 - ply.ply % 2] -= took_ms
        plies.append(
            ply._replace(
                elapsed_ms=took_ms if clock is _exact else _cut(took_ms),
                white_clock_ms=clock(left_ms[0]),
                black_clock_ms=clock(left_ms[1]),
                precision_code=int(Precision.MILLISECONDS if clock is _exact else Precision.SECONDS),
            )
        )
    seen = game.observations[game.segments[0].observation]
    seen = replace(seen, lines=[replace(seen.lines[0], rows=plies)], source=SourceName(name, name))
    return replace(game, key=name, observations=[seen], segments=[Segment(1, len(plies), 0)])


def _quick(seed: int) -> list[int]:
    """Think times of a game of one minute: less than three seconds for each move, at random."""
    chance = random.Random(seed)
    return [chance.randrange(3_000) for _ in _longest().plies]


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 1 << 32), clock=st.sampled_from((_cut, _rounded)))
def test_one_game_in_milliseconds_and_in_seconds_is_one(seed: int, clock: Clock) -> None:
    times = _quick(seed)
    observations = [_seen("a", times, _exact), _seen("b", times, clock), _seen("c", times, clock)]
    for one, other in itertools.permutations(observations, 2):
        assert compare(View(one), View(other)).verdict is Verdict.SAME
    expected = merge_games(observations)
    assert [game.merged_from for game in expected] == [["a", "b", "c"]]
    for order in itertools.permutations(observations):
        assert merge_games(order) == expected


@settings(max_examples=examples(20), deadline=None)
@given(seed=st.integers(0, 1 << 32), clocks=st.tuples(*[st.sampled_from((_cut, _rounded, _exact))] * 2))
def test_games_that_repeat_the_moves_in_times_of_their_own_are_not_one(seed: int, clocks: tuple[Clock, Clock]) -> None:
    observations = [_seen("a", _quick(seed), clocks[0]), _seen("b", _quick(seed + 1), clocks[1])]
    assert compare(View(observations[0]), View(observations[1])).verdict is Verdict.APART
    assert merge_games(observations) == []


@pytest.mark.parametrize("clock", [_cut, _rounded, _exact])
@pytest.mark.parametrize("took", [lambda ply: 0, lambda ply: 100, lambda ply: 1_300, lambda ply: 1_000 * (ply > 24)])
def test_programs_that_always_take_as_long_prove_nothing(took: Callable[[int], int], clock: Clock) -> None:
    """At once, or for a second, or at once as far as the book goes: they play the same game again in the same times."""
    times = [took(ply.ply) for ply in _longest().plies][:50]
    assert compare(View(_seen("a", times, clock)), View(_seen("b", times, clock))).verdict is Verdict.OPEN


@pytest.mark.parametrize("clock", [_cut, _rounded, _exact])
def test_a_long_game_with_equal_plies_clocks_and_lags_is_one(clock: Clock) -> None:
    """Whatever the times tell: two players do not repeat a long game in everything that two logs print of it."""
    times = [0 for _ in _longest().plies]
    one, other = _seen("a", times, clock), _seen("b", times, clock)
    assert compare(View(one), View(other)).verdict is Verdict.SAME
    (ply, *_) = [ply for ply in other.plies if ply.ply == 70]
    later = [took + 1_000 * (place == 70) for place, took in enumerate(times)]
    lagged = [each._replace(lag_ms=(each.lag_ms or 0) + 20 * (each is ply)) for each in other.plies]
    for changed in (
        _seen("b", later, clock),
        replace(other, white=other.white._replace(rating_text="1999")),
        replace(other, game_no=99, observations=[replace(other.observations[0], game_no=99)]),
        replace(other, observations=[replace(other.observations[0], lines=[_line(other, lagged)])]),
    ):
        assert compare(View(one), View(changed)).verdict is not Verdict.SAME


def _line(game: Game, plies: list[Ply]) -> PlyLine:
    return replace(game.observations[0].lines[0], rows=plies)


def test_clocks_that_differ_by_a_second_are_not_counted_as_equal() -> None:
    """Such a difference may be how the server rounds, so it is no contradiction either."""
    times = _quick(7)
    later = [
        *times[:40],
        *(took + 999 - took % 1_000 if ply == 40 else took for ply, took in enumerate(times[40:], 40)),
    ]
    assert [took // 1_000 for took in times] == [took // 1_000 for took in later]
    assert compare(View(_seen("a", times)), View(_seen("b", later))).verdict is Verdict.OPEN


def test_bits_are_what_the_games_own_times_leave_open() -> None:
    assert bits_of({}) == 0
    assert bits_of(dict.fromkeys(range(1, 400), 3)) == 0
    chance = random.Random(1)
    fair = {ply: chance.randrange(2) for ply in range(1, 403)}
    assert 370 < bits_of(fair) <= 400
    assert bits_of({ply: fair[ply] for ply in range(1, 403, 2)}) < 201, "of one side only"
    assert bits_of({ply: int(ply > 200) for ply in range(1, 402)}) < REQUIRED_BITS, "a book, then a second a move"


def test_lags_are_counted_with_the_times() -> None:
    """Programs that move at once behind connections of their own."""

    def seen(name: str, seed: int) -> Game:
        chance, game = random.Random(seed), _seen(name, [0] * len(_longest().plies))
        line = game.observations[0].lines[0]
        plies = [ply._replace(lag_ms=chance.randrange(300)) for ply in line.plies]
        return replace(game, observations=[replace(game.observations[0], lines=[replace(line, rows=plies)])])

    assert compare(View(seen("a", 1)), View(seen("b", 1))).verdict is Verdict.SAME
    assert compare(View(seen("a", 1)), View(seen("b", 2))).verdict is Verdict.OPEN


@pytest.mark.parametrize("cycle", ["ab", "aab", "aabb", "abbb"])
def test_boards_that_move_in_turn_prove_nothing(cycle: str) -> None:
    assert order_bits([board == "a" for board in cycle * 100]) < 1


@pytest.mark.parametrize("seed", range(4))
def test_boards_prove_more_with_different_think_times(seed: int) -> None:
    """Long games of programs of constant times stay below what is required; those of other times do not."""
    chance = random.Random(seed)

    def order(think_ms: Callable[[int], float]) -> list[bool]:
        lines = [(at, board) for board in (0, 1) for at in itertools.accumulate(think_ms(board) for _ in range(150))]
        return [board == 0 for _, board in sorted(lines)]

    pace_ms = [chance.uniform(100, 300) for _ in range(2)]
    assert order_bits(order(lambda board: pace_ms[board])) < REQUIRED_BITS
    assert order_bits(order(lambda _: chance.uniform(100, 1_100))) > REQUIRED_BITS
