"""Games that a source lost from sight and saw again: one game, and two games in succession stay two."""

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.model import EvidenceKind, Game, GameEnd, Observation, ObservationKind, SourceName, StartPrecision
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import View
from recorder.relating.merge import merge_games
from recorder.relating.outages import in_progress_since, may_be_seen_again
from tests.edge_cases.scripts import sans
from tests.support.effort import long_after

from .interrupted import LONG, Played, game_of

SPENT = [
    900,
    700,
    1300,
    250,
    2600,
    900,
    4000,
    1800,
    600,
    100,
    2000,
    3100,
    100,
    700,
    5000,
    *[1100, 400, 2300, 900, 150] * 3,
]
END = 60_000


def shuffled(parts: list[Game]) -> Game | None:
    """The one game that they make in any order; None: they make none, or do not all belong to it."""
    found = merge_games(parts)
    for seed in range(3):
        random.Random(seed).shuffle(parts)
        assert merge_games(parts) == found
    if len(found) != 1 or len(found[0].merged_from) != len(parts):
        return None
    assert found[0].key == min(game.key for game in parts)
    return found[0]


def seen(game: Played, *spans: tuple[int, int], listed: bool = True, who: str = "a", delay_ms: int = 0) -> list[Game]:
    """What the connections of a recorder have, each of which lasts from one moment to another."""
    return [
        found
        for begin, end in spans
        for found in game_of(f"{who}{begin}", [game], begin, end, listed=listed, delay_ms=delay_ms)
    ]


@pytest.mark.parametrize("ms", [True, False])
@pytest.mark.parametrize("increment_s", [0, 3])
def test_line_cuts_make_no_second_game(ms: bool, increment_s: int) -> None:
    spent = [
        30_000 if ply == 20 else 1_000 * (each // 500) + (0 if not ms else each % 7) for ply, each in enumerate(SPENT)
    ]
    game = Played(0, spent, ms=ms, increment_s=increment_s)
    parts = seen(game, (-1_000, 12_000), (13_000, 25_000), (30_000, 40_000), (55_000, 200_000))
    assert len(parts) == 4
    one = shuffled(parts)
    assert (sans(one), one.complete, one.result) == (LONG, True, "0-1")
    assert [ply.at_ms is None for ply in one.plies].count(True) < 8


@pytest.mark.parametrize("delay_ms", [0, 400])
def test_four_kills_make_no_second_game(delay_ms: int) -> None:
    game = Played(0, SPENT)
    spans = [(-1_000, 2_500), (6_000, 11_000), (14_000, 19_000), (23_000, 28_000), (31_000, END)]
    one = shuffled(seen(game, *spans, delay_ms=delay_ms))
    assert (sans(one), one.complete) == (LONG, True)


def test_two_recorders_with_cuts_at_different_moments_and_one_without() -> None:
    game = Played(0, SPENT)
    parts = seen(game, (-1_000, 9_000), (15_000, 24_000), (26_000, END))
    parts += seen(game, (-1_000, 3_000), (8_000, 20_000), (30_000, END), who="b", delay_ms=40)
    assert shuffled(parts) is not None
    one = shuffled([*parts, *seen(game, (-1_000, END), who="c")])
    assert [ply.elapsed_ms for ply in one.plies] == [0, 0, *SPENT[2:]]


def test_without_a_list_the_clocks_prove_it_and_the_gap_is_left() -> None:
    game = Played(0, SPENT)
    one = shuffled(seen(game, (-1_000, 11_000), (17_000, END), listed=False))
    plies = [ply.ply for ply in one.plies]
    assert plies == [*range(1, 8), *range(12, 31)]
    assert (one.complete, one.start_ply, one.end) == (False, 0, "result")
    assert [(part.from_ply, part.to_ply) for part in one.segments] == [(1, 7), (12, 30)]
    assert [evidence.text for evidence in one.evidence] == [
        "seen again at ply 12 under its number, 7600 ms after ply 7; its clocks had run for 16650 ms"
    ]


@pytest.mark.parametrize("plies", [1, 2, 3])
def test_a_list_joins_what_was_cut_after_the_first_moves(plies: int) -> None:
    game = Played(0, [300, 400, *SPENT[2:]])
    one = shuffled(seen(game, (-1_000, game.times_ms[plies - 1] + 50), (6_000, END)))
    assert one.complete
    assert one.start_precision is not None
    assert one.started_at_ms == min(one.plies[0].at_ms or 0, one.started_at_ms or 0)
    assert shuffled(seen(game, (-1_000, 1_000), (6_000, END), listed=False)) is None


def test_a_game_may_end_while_only_one_recorder_observes_it() -> None:
    """Its flag falls ten seconds after its last move: one recorder was there, the other one came back."""
    game = Played(0, SPENT[:3], ends_ms=10_000)
    parts = [*seen(game, (-1_000, 20_000)), *seen(game, (8_000, 20_000), who="b")]
    assert shuffled(parts) is not None


def test_a_list_that_prints_no_times_of_the_first_half_contradicts_nothing() -> None:
    game = Played(0, SPENT, first_half=6)
    one = shuffled(seen(game, (-1_000, 12_000), (14_000, END)))
    assert [ply.elapsed_ms for ply in one.plies] == [0, 0, *SPENT[2:]]


def test_a_game_with_stopped_clocks_is_recognised_by_them() -> None:
    """As before the first move after it was resumed; it is seen three times, and no move is made."""
    game = Played(0, [*SPENT[:5], 200_000], stands=True)
    parts = seen(game, (20_000, 25_000), (40_000, 45_000), (150_000, 160_000), listed=False)
    assert shuffled(parts) is not None
    early = Played(0, [*SPENT[:2], 200_000], stands=True)
    assert merge_games(seen(early, (20_000, 25_000), (40_000, 45_000), listed=False)) == [], "any game has these clocks"


@pytest.mark.parametrize("plies", range(3, 10))
@pytest.mark.parametrize("spent", [SPENT, [900, 700, *[1_100, 1_600, 800] * 10]])
def test_first_moves_with_clocks_in_seconds_are_joined(plies: int, spent: list[int]) -> None:
    """Clocks in seconds are cut at other moments on each board: together they show the time to the second."""
    game = Played(0, spent[:30], ms=False)
    lost_ms = game.times_ms[plies - 1] + 50
    one = shuffled(seen(game, (-1_000, lost_ms), (lost_ms + 4_000, END)))
    assert (sans(one), one.complete) == (LONG, True)


def test_several_kills_within_the_first_moves_make_no_second_game() -> None:
    game = Played(0, SPENT, ms=False)
    times = game.times_ms
    spans = [(-1_000, times[2] + 50), (times[3] + 60, times[5] + 40), (times[6] + 20, times[7] + 10), (18_000, END)]
    one = shuffled(seen(game, *spans))
    assert (sans(one), one.complete) == (LONG, True)


@pytest.mark.parametrize("ms", [True, False])
def test_a_flag_shows_how_long_its_clock_had_run(ms: bool) -> None:
    """No move follows the third ply, and Black's time is over."""
    game = Played(0, [1_100, 900, 700], ms=ms, ends_ms=300_000, stands=True)
    before, after = seen(game, (-1_000, 3_000), (40_000, 400_000))
    assert merge_games([before, after]) == [], "a resignation shows nothing"
    after = replace(after, result="1-0", reason_key="time")
    one = shuffled([before, after])
    assert (sans(one), one.result) == (LONG[:3], "1-0")
    slower = replace(after, ended_at_ms=(after.ended_at_ms or 0) + 6_000)
    assert merge_games([before, slower]) == [], "it may have begun after the other one was lost from sight"


def test_the_times_of_a_list_count_where_time_was_added_unobserved() -> None:
    game = Played(0, SPENT, ms=False)
    before, after = seen(game, (-1_000, 20_000), (24_000, END))

    def added(one: Game, ms: int) -> Game:
        rows = [
            ply._replace(white_clock_ms=None if ply.white_clock_ms is None else ply.white_clock_ms + ms)
            for ply in one.plies
        ]
        live = [observation for observation in one.observations if observation.kind is ObservationKind.LIVE]
        for observation in live:
            numbers = {row.ply for row in observation.lines[0].plies}
            observation.lines[0].plies = [row for row in rows if row.ply in numbers]
            observation.start = observation.start._replace(white_clock_ms=(observation.start.white_clock_ms or 0) + ms)
        return one

    one = shuffled([before, added(after, 30_000)])
    assert "by the times of its list it had gone on for" in one.evidence[0].text
    assert (sans(one), one.complete) == (LONG, True)


# --- a clock that is set, moves that are taken back, and adjourned games


def test_equal_times_prove_it_although_a_clock_was_set_back_in_between() -> None:
    game, slower = Played(0, SPENT), Played(0, [each + 37 for each in SPENT])
    (before,) = game_of("a", [game], -1_000, 12_000, ahead_ms=3_600_000)
    (after,) = game_of("b", [game], 15_000, END)
    after = replace(after, start_precision=StartPrecision.MINUTE)
    one = shuffled([before, after])
    assert (sans(one), one.complete) == (LONG, True)
    assert one.started_at_ms == after.started_at_ms, "the other one would be after its end"
    conflicts = [evidence.text for evidence in one.evidence if evidence.kind is EvidenceKind.CONFLICT]
    assert conflicts == ["arrival times: those of an earlier part are up to 3595500 ms later"]
    for other in (game_of("c", [slower], 15_000, END)[0], replace(after, observations=numbered(after, 8), game_no=8)):
        assert merge_games([before, other]) == []
    few = game_of("d", [game], -1_000, 3_000, ahead_ms=3_600_000)
    assert merge_games([*few, after]) == [], "a time or two prove nothing against the clock"


def numbered(game: Game, number: int) -> list[Observation]:
    """A game's observations under another number."""
    return [replace(seen, game_no=number) for seen in game.observations]


@pytest.mark.parametrize("by_list", [True, False])
def test_moves_taken_back_unobserved_make_no_second_game(by_list: bool) -> None:
    """One recorder is lost after its eighth ply, which is taken back; another one has seen all, or joins later."""
    lost = Played(0, SPENT[:8], [*LONG[:7], "d6"], ends_ms=None)
    spent = [each + 4_000 * (ply == 7) for ply, each in enumerate(SPENT)]
    (before,) = seen(lost, (-1_000, lost.times_ms[-1] + 50))
    (after,) = seen(Played(0, spent), (30_000 if by_list else -1_000, END), who="b")
    one = shuffled([before, after])
    assert (sans(one), one.complete) == (LONG, True)
    assert "ply 8 of one was taken back out of its sight" in one.evidence[0].text
    other_times = Played(0, [each + 37 for each in spent])
    assert merge_games([before, *seen(other_times, (30_000, END), who="b")]) == []


def test_two_recorders_that_join_a_resumed_game_in_one_moment_have_one_game() -> None:
    game = Played(0, SPENT, first_half=10)
    at_ms = game.times_ms[9] + 20
    parts = [*seen(game, (at_ms, at_ms + 10)), *seen(game, (at_ms + 5, END), who="b")]
    one = shuffled([replace(part, continued=True) for part in parts])
    assert any("seen within 5 ms" in evidence.text for evidence in one.evidence)


def test_a_number_belongs_to_one_game_at_any_moment() -> None:
    """A recorder joins a game and is cut before the next move, while another one sees all of it."""
    game = Played(0, SPENT)
    glance = seen(game, (game.times_ms[3] + 150, game.times_ms[4] - 250), who="b")
    assert (View(glance[0]).live_plies, len(glance[0].plies)) == (frozenset(), 4)
    whole = seen(game, (-1_000, END))
    assert shuffled([*whole, *glance]) is not None
    assert shuffled([*seen(replace(game, number=8), (-1_000, END)), *glance]) is None, "another number"


def test_a_game_seen_before_and_after_an_adjournment_keeps_no_halves_apart() -> None:
    """One recorder sees both halves, the other one loses the first half and comes back in the second."""
    game, resumed = Played(0, SPENT), Played(0, SPENT, first_half=12)
    times = game.times_ms
    (first,) = seen(game, (-1_000, times[11] + 50), who="b")
    (second,) = seen(resumed, (times[11] + 60, END), who="c")
    first = replace(first, end=GameEnd.ADJOURNED)
    second = replace(
        second,
        continued=True,
        first_offset=first.last_offset + 1,
        observations=[replace(one, source=first.observations[0].source) for one in second.observations],
    )
    parts = [first, second, *seen(game, (-1_000, times[5] + 50)), *seen(resumed, (times[18] + 10, END), who="d")]
    one = shuffled(parts)
    assert [ply.elapsed_ms for ply in one.plies] == [0, 0, *SPENT[2:]]


# --- two games


@pytest.mark.parametrize("listed", [True, False])
@pytest.mark.parametrize("pause_ms", long_after(1, [300, 2_000, 30_000]))
@pytest.mark.parametrize("lost_after", [1, 2, 3, 7, 15])
def test_two_games_in_succession_under_one_number_stay_two(listed: bool, pause_ms: int, lost_after: int) -> None:
    """The same players repeat the same moves, and the first game ends as soon as it is out of sight."""
    first = Played(0, SPENT[:lost_after], ends_ms=100)
    begin_ms = first.times_ms[-1] + 100 + pause_ms
    second = Played(begin_ms, [each + 37 * (ply % 3 + 1) for ply, each in enumerate(SPENT)])
    for joined in range(1, 25):
        parts = [
            *seen(first, (-1_000, first.times_ms[-1] + 50)),
            *seen(second, (second.times_ms[joined] + 10, begin_ms + END), listed=listed, who="b"),
        ]
        assert len(parts) == 2
        assert may_be_seen_again(View(parts[0]), View(parts[1])) is (joined + 1 >= lost_after)
        assert merge_games(parts) == []


@pytest.mark.parametrize("pause_ms", [2_000, 30_000])
@pytest.mark.parametrize("lost_after", [1, 2, 3, 7, 15])
@pytest.mark.parametrize("spent_ms", long_after(1, [700, 1_000, 1_600]))
def test_a_game_that_repeats_another_in_the_same_seconds_stays_a_game_of_its_own(
    lost_after: int, pause_ms: int, spent_ms: int
) -> None:
    """Programs of constant think times: moves and printed times of both games are equal."""
    first = Played(0, [spent_ms] * lost_after, ms=False, ends_ms=100)
    begin_ms = first.times_ms[-1] + 100 + pause_ms
    second = Played(begin_ms, [spent_ms] * 30, ms=False)
    (before,) = seen(first, (-1_000, first.times_ms[-1] + 50))
    for joined in range(1, 25, 3):
        (after,) = seen(second, (second.times_ms[joined] + 10, begin_ms + END), who="b")
        assert merge_games([before, after]) == []


times = st.lists(st.integers(1, 8_000), min_size=30, max_size=30)


@given(
    one=times, other=times, lost=st.integers(1, 29), pause_ms=st.integers(0, 20_000), ms=st.booleans(), data=st.data()
)
def test_no_two_games_are_proved_to_be_one_by_their_clocks(
    one: list[int], other: list[int], lost: int, pause_ms: int, ms: bool, data: st.DataObject
) -> None:
    """Players need a second or more to end a game, agree on another one and make its first two moves."""
    first = Played(0, one[:lost], ms=ms, ends_ms=0)
    second = Played(first.times_ms[-1] + max(pause_ms, 1_000 - sum(other[:2])), other, ms=ms)
    joined_ms = data.draw(st.integers(second.begin_ms, second.times_ms[-1]))
    (earlier,) = seen(first, (-1_000, first.times_ms[-1]))
    later = seen(second, (joined_ms + 1, joined_ms + END), listed=data.draw(st.booleans()), who="b")
    if later and may_be_seen_again(View(earlier), View(later[0])):
        assert in_progress_since(View(earlier), View(later[0])) is None


def test_what_excludes_that_it_is_the_game() -> None:
    game = Played(0, SPENT)
    before, after = seen(game, (-1_000, 11_000), (17_000, END))
    assert compare(View(before), View(after)).verdict is Verdict.SAME

    def numbered(number: int) -> Game:
        return replace(after, game_no=number, observations=[replace(one, game_no=number) for one in after.observations])

    other_number, ended = View(numbered(8)), View(replace(before, end=GameEnd.RESULT, result="1-0"))
    assert in_progress_since(View(before), other_number) is None
    assert compare(ended, View(after)).why == "another result"
    assert compare(View(replace(before, end=GameEnd.RESULT)), View(replace(after, result="*"))).verdict is Verdict.APART
    added = seen(Played(0, SPENT, increment_s=60), (17_000, END), listed=False)
    same = [replace(one, increment_s=0) for one in added]
    assert in_progress_since(View(before), View(same[0])) is None, "time was added, or the clocks are others"


# --- fragments and complete observations


def _from(game: Game, name: str) -> Game:
    source = SourceName(name, name)
    return replace(
        game, key=f"{game.key[:-1]}{name[0]}", observations=[replace(one, source=source) for one in game.observations]
    )


def test_a_fragment_that_fits_one_of_two_complete_observations_keeps_them_no_longer_apart() -> None:
    game = Played(0, SPENT)
    whole, other = seen(game, (-1_000, END)), seen(game, (-1_000, END), who="b", delay_ms=20)
    # Its clock at the eighth ply differs by 100 ms from that of the second observation, by 50 ms from the first's.
    (fragment,) = seen(game, (-1_000, 13_000), who="c")
    rows = [
        ply._replace(black_clock_ms=(ply.black_clock_ms or 0) + 50) if ply.ply == 8 else ply for ply in fragment.plies
    ]
    fragment.observations[0].lines[0].plies = rows
    shifted = [
        ply._replace(black_clock_ms=(ply.black_clock_ms or 0) - 50) if ply.ply == 8 else ply for ply in other[0].plies
    ]
    other[0].observations[0].lines[0].plies = shifted
    assert compare(View(fragment), View(whole[0])).verdict is Verdict.SAME
    assert compare(View(fragment), View(other[0])).verdict is Verdict.APART
    (one,) = merge_games([*whole, *other, fragment])
    assert one.merged_from == sorted([whole[0].key, other[0].key])
