import pandas as pd
import pytest

from exporters.plots import clock_race, new_figure
from exporters.plots.race import marks_of
from recorder.errors import ExportError
from tests.support.pictures import footer, gids, labels, line, title
from tests.support.plyframes import events, joined, posed

TEN = [0, 0, 2662, 4237, 1000, 2000, 3000, 4000, 5000, 6000]


def test_lines_are_the_clocks_after_each_own_move() -> None:
    ax = clock_race(posed(TEN))
    white, black = line(ax, "clock-white"), line(ax, "clock-black")
    assert list(white.get_xdata()) == [0.5, 1, 2, 3, 4, 5]
    assert list(white.get_ydata()) == [300, 300, 297.338, 296.338, 293.338, 288.338]
    assert list(black.get_xdata()) == [0.5, 1.5, 2.5, 3.5, 4.5, 5.5]
    assert list(black.get_ydata()) == [300, 300, 295.763, 293.763, 289.763, 283.763]
    assert white.get_drawstyle() == "default"


def test_every_move_has_a_point_to_be_linked_with() -> None:
    ax = clock_race(posed(TEN))
    assert {f"ply-{ply}" for ply in range(1, 11)} <= gids(ax)
    point = line(ax, "ply-4")
    assert (list(point.get_xdata()), list(point.get_ydata())) == ([2.5], [295.763])


def test_even_budget_ends_at_the_last_move() -> None:
    ax = clock_race(posed(TEN, increment_s=3))
    budget = line(ax, "budget")
    assert (list(budget.get_xdata()), list(budget.get_ydata())) == ([0.5, 5.5], [300, 0])
    assert labels(ax)[2] == "even budget, increments used up"


def test_time_odds_have_two_budgets() -> None:
    odds = posed(TEN)
    odds.loc[odds["side"] == "black", "base_s"] = 120
    ax = clock_race(odds)
    assert line(ax, "budget-white").get_ydata()[0] == 300
    assert line(ax, "budget-black").get_ydata()[0] == 120
    assert "White 5 min + 0 s, Black 2 min + 0 s" in title(ax)
    assert "even budget (black)" in labels(ax)


def test_titles_name_the_game_and_the_footer_counts() -> None:
    ax = clock_race(posed(TEN))
    assert title(ax) == ("Ann (2100) – Bob (1990) 1-0\nfreechess.org · 2020-01-01 · rated blitz · 5 min + 0 s · normal")
    assert footer(ax) == "1 game, 10 plies · nothing excluded"
    assert labels(ax) == ["Ann (white)", "Bob (black)", "even budget"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("move", "clock left (min:s)")


def test_whole_seconds_are_steps_and_named() -> None:
    ax = clock_race(posed([0, 0, 3000, 4000], precision="seconds"))
    assert line(ax, "clock-white").get_drawstyle() == "steps-post"
    assert footer(ax).endswith("times in whole seconds")


def test_a_clock_below_zero_stays_below_zero() -> None:
    ax = clock_race(posed([0, 0, 1000, 61_500], base_s=60, result="1-0", termination="time forfeit"))
    assert line(ax, "clock-black").get_ydata()[-1] == -1.5
    assert ax.get_ylim()[0] < -1.5
    assert "zero" in gids(ax)
    assert "flag" in labels(ax)


def test_a_missing_clock_breaks_the_line_and_is_counted() -> None:
    plies = posed(TEN)
    plies.loc[plies["ply"] == 5, ["clock_after_ms", "white_clock_ms"]] = pd.NA
    ax = clock_race(plies)
    assert pd.isna(line(ax, "clock-white").get_ydata()[3])
    assert "ply-5" not in gids(ax)
    assert footer(ax) == "1 game, 9 plies · excluded: 1 ply without a known clock"


def test_unobserved_moves_are_shaded() -> None:
    ax = clock_race(posed(TEN, missing=frozenset({4, 5}), complete=False))
    assert "gap-3" in gids(ax)
    assert "moves not recorded" in labels(ax)
    assert pd.isna(line(ax, "clock-black").get_ydata()[2])
    assert footer(ax).endswith("the game is not complete")


def test_events_follow_their_half_move() -> None:
    marks = events(
        ("takeback", "6-4", 4, ""),
        ("notice", "time-added", 5, "Ann adds 60 seconds"),
        ("notice", "draw-offer", 6, ""),
        ("chat", "kibitz", 7, "look: <12> rnbqkbnr"),
        ("feed", "lost feed", 8, ""),
        ("feed", "unobserved", 10, "the end of what we saw"),
        ("result", "time", 10, "Bob forfeits on time"),
    )
    ax = clock_race(posed(TEN), marks)
    assert labels(ax)[3:] == ["takeback", "time added", "not observed", "flag"]
    assert line(ax, "event-0").get_xdata() == [2.75]
    assert "kibitz" in labels(clock_race(posed(TEN), marks, chat=True))


def test_a_lost_connection_and_a_pause_are_marks() -> None:
    marks = events(("result", "adjourned-lost", 3, ""), ("notice", "paused", 2, ""), ("clock", "adjusted", 2, ""))
    assert [mark.name for mark in marks_of(marks)] == ["disconnection", "pause", "clock changed"]
    assert marks_of(None) == []


def test_one_move_is_a_game() -> None:
    ax = clock_race(posed([0], result="*", ending="aborted", termination=None))
    assert list(line(ax, "clock-white").get_ydata()) == [300, 300]
    assert title(ax).startswith("Ann (2100) – Bob (1990) *\n")
    assert title(ax).endswith("aborted")


def test_three_hundred_moves_are_drawn() -> None:
    ax = clock_race(posed([400] * 600, increment_s=1))
    assert len(line(ax, "clock-black").get_xdata()) == 301
    assert len(ax.get_xticks()) < 20


@pytest.mark.parametrize(
    ("plies", "sentence"),
    [
        (posed(TEN).head(0), "No data: no game in this selection has a known move (race)."),
        (posed(TEN, base_s=0), "No data (10 plies of untimed games)."),
        (posed([None] * 4), "No data (4 plies without a known clock)."),
        (joined(posed(TEN), posed(TEN, key="b" * 20)), "The picture race shows one game, and 2 match."),
    ],
    ids=["nothing", "untimed", "no clocks", "two games"],
)
def test_what_cannot_be_drawn_says_why(plies: pd.DataFrame, sentence: str) -> None:
    with pytest.raises(ExportError) as error:
        clock_race(plies)
    assert str(error.value) == sentence


def test_axes_that_were_given_are_used_and_given_back() -> None:
    figure = new_figure("dark", (4, 3))
    ax = figure.add_subplot()
    assert clock_race(posed(TEN), ax=ax, theme="dark", titles=False, footer=False) is ax
    assert (title(ax), footer(ax)) == ("", "")
    assert figure.axes == [ax]


def test_an_unknown_theme_is_refused() -> None:
    with pytest.raises(ExportError, match="Unknown theme 'blue': choose light or dark"):
        clock_race(posed(TEN), theme="blue")
