"""The moments of recorded games: every event in the log's order, at its time."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder import read_games
from recorder.events import Chunk
from recorder.model import Game, Link, LinkKind, Origin, Ply, TimeBasis
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import board_order, timeline
from recorder.replay.moments import Begin, End, GameMoment, ShownPly, moments_of_chunks, moments_of_game
from recorder.replay.several import moments_of_games
from recorder.replay.timing import Timing
from tests.relating.matches import OF_BOTH_BOARDS
from tests.support.corpus import stream_bytes, stream_chunks
from tests.support.journals import timed_journal
from tests.support.product import run

PUBLIC = Path(__file__).parent.parent / "corpus" / "public"
STREAMS = [
    ("a06_chatter_takebacks", "observer_Botvinnik"),
    ("a07_eight_boards", "observer_GuestObsI"),
    ("a12_bughouse", "observer_GuestBga"),
    ("b08_adjourn", "observer_GuestXw"),
]


@cache
def games_of(scenario: str, connection: str, times: bool) -> list[Game]:
    """Return one connection's games, with the arrival times of its reads or without any."""
    if not times:
        return run([stream_bytes(scenario, connection)], "raw")[0]
    return run([timed_journal(stream_chunks(scenario, connection))], "journal")[0]


def is_listed(moment: GameMoment) -> bool:
    """Return whether it is a ply that no board showed."""
    return isinstance(moment.what, ShownPly) and moment.what.ply.origin in (Origin.MOVELIST, Origin.INFERRED)


def offsets(moments: list[GameMoment]) -> list[int]:
    """Return the offset of a moment in the log; a list's moves are there later than they were played."""
    return [
        moment.what.ply.offset if isinstance(moment.what, ShownPly) else moment.what.offset
        for moment in moments
        if not isinstance(moment.what, Begin | End) and not is_listed(moment)
    ]


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream[0]))
@pytest.mark.parametrize("times", [True, False], ids=["times", "no times"])
def test_events_of_a_game_have_the_order_of_the_log(stream: tuple[str, str], times: bool) -> None:
    games = games_of(*stream, times)
    assert games
    for game in games:
        moments = moments_of_game(game, 3)
        assert isinstance(moments[0].what, Begin)
        assert isinstance(moments[-1].what, End)
        assert moments[0].at_ms == 0
        assert all(one.at_ms <= two.at_ms for one, two in pairwise(moments))
        assert all(moment.game == 3 for moment in moments)
        assert offsets(moments) == sorted(offsets(moments))
        plies = [one.what.ply for one in moments if isinstance(one.what, ShownPly) and not one.what.line]
        assert plies == game.plies
        back = [one.what.ply for one in moments if isinstance(one.what, ShownPly) and one.what.line]
        taken = [ply for seen in game.observations for line in seen.lines[1:] for ply in line.plies]
        assert sorted(back) == sorted(taken)
        assert [m.what for m in moments if "result" in m.markers] == [
            e for e in game.events if e.kind.value == "result"
        ]
        if times:
            assert all((one.timing is Timing.ARRIVAL) is not is_listed(one) for one in moments[1:])
            shown = [
                (moment.at_ms, moment.what.ply.at_ms or 0)
                for moment in moments
                if isinstance(moment.what, ShownPly) and not is_listed(moment)
            ]
            assert all(two[0] - one[0] == two[1] - one[1] for one, two in pairwise(shown))


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: str(stream[0]))
@pytest.mark.parametrize("times", [True, False], ids=["times", "no times"])
def test_games_of_one_log_have_its_order(stream: tuple[str, str], times: bool) -> None:
    games = games_of(*stream, times)
    moments = moments_of_games(games)
    assert len(moments) == sum(len(moments_of_game(game)) for game in games)
    assert all(one.at_ms <= two.at_ms for one, two in pairwise(moments))
    assert offsets(moments) == sorted(offsets(moments))
    assert {moment.game for moment in moments} == set(range(len(games)))


def test_elapsed_times_are_used_without_arrival_times() -> None:
    game = next(read_games(PUBLIC / "pychess-movelist-64.txt"))
    moments = moments_of_game(game)
    shown = [moment for moment in moments if isinstance(moment.what, ShownPly)]
    assert shown
    assert {moment.timing for moment in shown} == {Timing.ELAPSED}
    spent = 0
    for moment in shown:
        assert isinstance(moment.what, ShownPly)
        spent += moment.what.ply.elapsed_ms or 0
        assert moment.at_ms == spent


def without_times(game: Game) -> Game:
    plies: list[Ply] = [ply._replace(elapsed_ms=None, white_clock_ms=None, black_clock_ms=None) for ply in game.plies]
    seen = replace(game.observations[0], lines=[replace(game.observations[0].lines[0], rows=plies)], start=None)
    return replace(game, observations=[seen], started_at_ms=None)


def test_moves_without_any_time_have_a_marked_default_pace() -> None:
    game = without_times(games_of("a06_chatter_takebacks", "observer_Botvinnik", False)[0])
    shown = [moment for moment in moments_of_game(game, pace_ms=700) if isinstance(moment.what, ShownPly)]
    assert [moment.at_ms for moment in shown] == [700 * number for number in range(1, len(shown) + 1)]
    assert {moment.timing for moment in shown} == {Timing.UNKNOWN}
    assert {moment.at_ms for moment in moments_of_game(game)} == {0}


def test_clocks_are_used_without_elapsed_times() -> None:
    game = games_of("a01_standard", "observer_GuestObsA", False)[0]
    assert sum(ply.elapsed_ms or 0 for ply in game.plies) > 1000
    plies = [ply._replace(elapsed_ms=None) for ply in game.plies]
    seen = replace(game.observations[0], lines=[replace(game.observations[0].lines[0], rows=plies)], events=[])
    bare = replace(game, observations=[seen])
    by_clocks, by_moves = (
        [one for one in moments_of_game(each) if isinstance(one.what, ShownPly)] for each in (bare, game)
    )
    assert all(one.timing is Timing.ELAPSED for one in by_clocks)
    # Each clock is rounded separately.
    assert all(abs(one.at_ms - two.at_ms) <= (one.ply or 0) for one, two in zip(by_clocks, by_moves, strict=True))


def test_a_lists_moves_were_played_before_the_board_that_was_joined() -> None:
    games = games_of("a07_eight_boards", "observer_GuestObsI", True)
    joined = [game for game in games if game.segments[0].observation]
    assert joined
    moments = moments_of_games(games)
    for number, game in enumerate(games):
        shown = [moment for moment in moments if moment.game == number and isinstance(moment.what, ShownPly)]
        listed = [moment for moment in shown if moment.timing is not Timing.ARRIVAL]
        lead = shown.index(next(moment for moment in shown if moment not in listed)) if game in joined else 0
        assert all(moment in listed for moment in shown[:lead])
        assert [moment.ply for moment in shown] == [ply.ply for ply in game.plies]


@pytest.mark.parametrize(("scenario", "connection"), OF_BOTH_BOARDS)
def test_a_match_of_two_logs_without_times_is_in_the_order_of_its_timeline(scenario: str, connection: str) -> None:
    games = games_of(scenario, connection, False)
    by_key = {game.key: game for game in games}
    for one, other, why in pair_bughouse(games):
        pair = [
            replace(by_key[key], links=[Link(LinkKind.PARTNER, partner, why)])
            for key, partner in ((one, other), (other, one))
        ]
        match = board_order(*pair)
        moments = moments_of_games(pair)
        assert [moment.what.ply for moment in moments if isinstance(moment.what, ShownPly)] == [
            moment.ply for moment in timeline(match)
        ]


def test_games_of_different_times_follow_one_another() -> None:
    one, two = games_of("a06_chatter_takebacks", "observer_Botvinnik", True)[:2]
    day = 86_400_000
    moved = [replace(two, time_basis=TimeBasis.LOCAL), replace(one, time_basis=TimeBasis.UTC)]
    moments = moments_of_games(moved)
    ends = [place for place, moment in enumerate(moments) if isinstance(moment.what, End)]
    assert moments[ends[0] + 1].at_ms - moments[ends[0]].at_ms == 5000
    assert [moment.game for moment in moments] == sorted(moment.game or 0 for moment in moments)
    assert moments[-1].at_ms < day


def test_bytes_have_their_arrival_times() -> None:
    chunks = [
        Chunk(b"a", 0, None),
        Chunk(b"b", 1, 5000),
        Chunk(b"c", 2, 4000),
        Chunk(b"d", 3, 6500),
        Chunk(b"", 4, 6500),
    ]
    moments = list(moments_of_chunks(chunks))
    assert [moment.at_ms for moment in moments] == [0, 0, 0, 1500, 1500]
    assert [moment.what.data for moment in moments] == [b"a", b"b", b"c", b"d", b""]
    assert [moment.timing is Timing.ARRIVAL for moment in moments] == [False, True, True, True, True]
    assert moments[-1].markers == ("disconnected",)


@given(st.lists(st.none() | st.integers(0, 10**6), max_size=40))
def test_bytes_keep_their_order(times: list[int | None]) -> None:
    moments = list(moments_of_chunks(Chunk(b"x", place, at_ms) for place, at_ms in enumerate(times)))
    assert [moment.what.offset for moment in moments] == list(range(len(times)))
    assert all(one.at_ms <= two.at_ms for one, two in pairwise(moments))
    assert not moments or moments[0].at_ms == 0
