"""Pictures of one or several games besides the clock race."""

import io
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from exporters.measures import functions as measures
from exporters.plots import (
    PICTURES,
    bughouse_clocks,
    clock_curve,
    endings,
    lag_course,
    lag_histogram,
    lag_sheet,
    move_times,
    player_profile,
    score_by_lead,
    think_heatmap,
    think_times,
    write_picture,
)
from exporters.plots.catalogue import PlotOptions
from exporters.plots.curve import CURVE
from exporters.plots.figures import new_figure
from exporters.plots.race import side_medians
from exporters.plots.scores import LEADS
from exporters.plots.thinking import THINKS
from recorder.archive.game_measures import with_progress
from recorder.errors import ExportError
from tests.support.effort import examples, long_after
from tests.support.pictures import footer, gids, labels, line, title
from tests.support.plyframes import BEGAN_MS, joined, posed

TEN = [0, 0, 2662, 4237, 1000, 2000, 3000, 4000, 5000, 6000]
LAGS = [0, 0, 296, 304, 310, 100, 200, 150, 1000, 120]


def bars(ax: Axes) -> dict[str, float]:
    return {str(bar.get_gid()): bar.get_height() for bar in ax.findobj(Rectangle) if bar.get_gid()}


def test_white_s_bars_go_up_and_black_s_down() -> None:
    ax = move_times(posed(TEN))
    found = bars(ax)
    assert len(found) == 10
    assert (found["ply-3"], found["ply-4"]) == (2.662, -4.237)
    right = ax.figure.axes[1]
    assert line(right, "sum-white").get_ydata()[-1] == pytest.approx(11.662)
    assert line(right, "sum-black").get_ydata()[-1] == pytest.approx(-16.237)
    assert labels(ax) == [
        "Ann (white): 0:11.7 in all, median 0:02.8 from move 2",
        "Bob (black): 0:16.2 in all, median 0:04.1 from move 2",
    ]
    assert ax.get_ylim()[0] == -ax.get_ylim()[1]


def test_a_picture_of_one_game_is_of_no_player() -> None:
    with pytest.raises(TypeError, match=r"move_times\(\) got an unexpected keyword argument 'player'"):
        move_times(posed(TEN), player="Ann")


def test_shares_of_think_times_by_phase() -> None:
    shares = PICTURES["thinking"].table(posed(TEN), PlotOptions())
    opening = shares[shares["plies"] > 0].set_index("think")["plies"].to_dict()
    # Steps of equal width; 1000, 2000, 3000 and 4000 are the first of theirs, and first moves are excluded.
    assert opening == {"1–1.5": 1, "2–2.5": 1, "2.5–3": 1, "3–3.5": 1, "4–4.5": 2, "5–5.5": 1, "6–6.5": 1}
    assert len({*shares["think"]}) == len(shares)
    assert shares["share"].sum() == 1
    assert shares.attrs == {"games": 1, "plies": 8, "excluded": {"of first moves": 2}}


def test_phases_have_bars_and_medians() -> None:
    ax = think_times(posed(TEN * 8, base_s=900))
    assert labels(ax) == [
        "opening: 18 moves, median 3.0 s",
        "middlegame: 40 moves, median 2.8 s",
        "endgame: 20 moves, median 2.8 s",
    ]
    assert ax.get_ylabel() == "share of each phase"
    assert footer(ax).startswith("1 game, 78 plies · excluded: 2 plies of first moves")


def test_classes_are_no_finer_than_the_coarsest_time() -> None:
    fine, coarse = posed([0, 0, 50, 150, 300]), posed([0, 0, 1000, 0, 3000], key="b" * 20, precision="seconds")
    ax = think_times(fine)
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "0.1", "0.2", "0.3"]
    ax = think_times(joined(fine, coarse))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "1", "2", "3"]
    assert footer(ax).endswith("3 plies have whole seconds only")


@pytest.mark.parametrize("step_ms", [100, 1000, 7500])
def test_the_words_beside_the_axes_of_a_small_picture_fit(step_ms: int) -> None:
    """As on the page of a player."""
    plies = posed([0, 0, *(step_ms * place for place in range(1, 25))])
    ax = think_times(plies, ax=new_figure(size=(5.0, 3.1)).add_subplot(), titles=False)
    figure = ax.get_figure(root=True)
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.get_xticklabels()]
    assert len(boxes) > 4
    assert all(one.x1 < other.x0 for one, other in pairwise(boxes))
    assert all(figure.bbox.containsx(x) for x in (boxes[0].x0, boxes[-1].x1))
    of_y = ax.yaxis.label.get_window_extent()
    assert figure.bbox.y0 <= of_y.y0 < of_y.y1 <= figure.bbox.y1


def test_phases_that_are_not_known_are_no_phase() -> None:
    ax = think_times(posed(TEN, phase=None))
    assert labels(ax) == ["phase not known: 8 moves, median 3.5 s"]


def test_cells_of_the_heat_map() -> None:
    cells = PICTURES["heatmap"].table(joined(posed(TEN), posed(TEN, key="b" * 20)), PlotOptions())
    assert cells[["move_from", "move_to", "think", "plies"]].values.tolist() == [
        [2, 2, "2–3 s", 2],
        [2, 2, "3–5 s", 2],
        [3, 3, "1–2 s", 2],
        [3, 3, "2–3 s", 2],
        [4, 4, "3–5 s", 4],
        [5, 5, "5–10 s", 4],
    ]
    assert cells.attrs["games"] == 2


def test_the_heat_map_s_median_and_axes() -> None:
    ax = think_heatmap(posed(TEN))
    assert [text.get_text() for text in ax.get_yticklabels()] == ["1–2 s", "2–3 s", "3–5 s", "5–10 s"]
    assert list(line(ax, "median").get_xdata()) == [2, 3, 4, 5]
    # Of 2.662 and 4.237, 1 and 2, 3 and 4, 5 and 6 s, between the ends of the class: 3.4495 s in the third, 3 to 5 s.
    assert line(ax, "median").get_ydata() == pytest.approx([2.22475, 0.5, 2.25, 3.1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("move", "time for the move")
    assert len(ax.figure.axes) == 2  # with the colour bar


def test_lag_of_one_game_has_a_point_for_each_move() -> None:
    ax = lag_course(posed(TEN, lags_ms=LAGS))
    assert {f"ply-{ply}" for ply in range(1, 11)} <= gids(ax)
    assert list(line(ax, "lag-white").get_ydata()) == [0, 296, 310, 200, 1000]
    assert labels(ax)[0] == "Ann (white): median 296 ms, 95 % ≤ 1000 ms, most 1000 ms"
    assert "nothing excluded" in footer(ax)


@pytest.mark.long
def test_lag_of_several_games_is_a_median_and_a_band() -> None:
    games = joined(posed(TEN, lags_ms=LAGS), posed(TEN, key="b" * 20, lags_ms=LAGS, white="Cid"))
    assert labels(lag_course(games))[0].startswith("all players: median")
    ax = lag_course(games, player="bob")
    assert [label.split(":")[0] for label in labels(ax)] == ["Bob", "opponents"]
    assert {"band-white", "band-black"} <= gids(ax)
    assert title(ax).startswith("Bob: Lag")


def test_lag_that_is_not_printed() -> None:
    with pytest.raises(ExportError, match=r"No data \(10 plies without a known lag\)"):
        lag_sheet(posed(TEN))


def many() -> pd.DataFrame:
    """Six games of 25 moves: Ann is quicker and wins, but once."""
    return joined(
        *(
            posed(
                [1000, 2000 + 100 * place] * 25,
                key=f"{place:020}",
                result="0-1" if place == 5 else "1-0",
                termination="time forfeit" if place % 2 else "normal",
                reason="time" if place % 2 else "resign",
                lags_ms=[100 + place] * 50,
                base_s=100,
            )
            for place in range(6)
        )
    )


def test_the_curve_is_of_the_player_and_the_opponents() -> None:
    ax = clock_curve(many(), player="ANN")
    assert labels(ax) == ["Ann: median and quartiles", "opponents: median and quartiles"]
    assert list(line(ax, "median-player").get_ydata()[:3]) == [100, 99, 98]
    assert list(line(ax, "median-opponents").get_ydata()[:2]) == [100, 100 - 2.25]
    assert ax.get_ylabel() == "clock left (min:s)"


@pytest.mark.long
def test_medians_in_pictures_are_those_of_the_measures() -> None:
    lags = [0, 100, 329, 316, 115, 114, 50, 7, 8, 20]
    uneven = posed([0, 0, 501, 2000, 1002, 3003, 80, 9, 1, 40], lags_ms=lags)
    coarse = posed([0, 0, 1000, 2000, 2000, 4000, 3000, 1000], key="b" * 20, precision="seconds", base_s=60)
    untimed = posed([None, None, 70_000], key="c" * 20, base_s=0, increment_s=0)
    for plies, player in ((uneven, None), (uneven, "ann"), (joined(uneven, coarse, untimed), "Bob"), (coarse, None)):
        own = plies if player is None else plies[plies["mover"].str.lower() == player.lower()]
        usage = measures.time_usage(own, by="phase")
        phases = THINKS.rows(plies, player).drop_duplicates("phase")
        assert dict(zip(phases["phase"], phases["median_ms"], strict=True)) == dict(
            zip(usage["phase"], usage["median_ms"], strict=True)
        )
        assert phases["phase_plies"].tolist() == usage["plies"].tolist()
        assert PICTURES["heatmap"].table(own, PlotOptions())["plies"].sum() == usage["plies"].sum()
    for side in ("white", "black"):
        (measured,) = measures.lag(uneven[uneven["side"] == side], by=()).to_dict("records")
        for ax in (lag_course(uneven), lag_histogram(uneven)):
            assert sum(f"median {measured['p50_ms']} ms, 95 % ≤ {measured['p95_ms']} ms" in text for text in labels(ax))
    for game in (uneven, coarse):
        sides = measures.game_sides(game)
        assert side_medians(game) == dict(zip(sides["side"], sides["median_ms"], strict=True))


@pytest.mark.long
def test_the_curve_and_the_leads_are_the_measures() -> None:
    games = joined(many(), posed([1000, 0, 1500, 3000] * 12, key="c" * 20, base_s=100, precision="seconds"))
    table = CURVE.rows(games)
    measured = measures.clock_curve(games)
    shown = ["move_no", "sides", "q25_ms", "median_ms", "q75_ms"]
    pd.testing.assert_frame_equal(table[shown], measured[shown])
    assert (table.attrs["games"], table.attrs["plies"]) == (measured.attrs["games"], measured.attrs["plies"])
    own = measures.clock_curve(games[games["mover"] == "Ann"])
    pd.testing.assert_frame_equal(
        CURVE.rows(games, "ann").query("who == 'player'")[shown].reset_index(drop=True), own[shown]
    )
    by_lead = LEADS.rows(games, "ann", move=10)
    measured = measures.clock_lead(games[games["mover"] == "Ann"], moves=[10], edges_s=[-20, -5, 5, 20])
    assert by_lead.loc[by_lead["sides"] > 0, "sides"].tolist() == [*measured["sides"]]
    assert list(by_lead["score"].dropna()) == list(measured["score"])


def test_the_curve_of_several_time_controls_is_in_shares() -> None:
    table = CURVE.rows(joined(posed([0, 0, 30_000], base_s=120), posed([0, 0, 1], key="c" * 20, base_s=1000)))
    assert [*table.loc[1, ["move_no", "sides", "q25_share", "q75_share"]]] == [2, 2, 0.75, 0.999999]
    ax = clock_curve(joined(many(), posed([1000] * 50, key="c" * 20, base_s=500)))
    assert ax.get_ylabel() == "clock left, of the base time"
    assert "several time controls" in title(ax)


@pytest.mark.long
def test_the_curve_counts_games_not_sides() -> None:
    """Two games have four clocks at a move: too few for a curve of three games."""
    longer = [posed([1000] * 60, key=name * 20, base_s=100) for name in "cd"]
    ax = clock_curve(joined(many(), *longer))
    assert max(line(ax, "median-all").get_xdata()) == 25
    table = PICTURES["curve"].table(joined(many(), *longer), PlotOptions())
    assert table["games"].tolist() == [8] * 25 + [2] * 5


@pytest.mark.long
def test_the_score_of_those_who_lead_on_the_clock() -> None:
    table = PICTURES["leads"].table(many(), PlotOptions("Ann"))
    assert table["sides"].tolist() == [0, 0, 0, 0, 6]
    assert table["score"].iloc[4] == pytest.approx(5 / 6)
    both = PICTURES["leads"].table(many(), PlotOptions())
    assert both["sides"].tolist() == [5, 1, 0, 0, 6]  # one is behind by just 20 %
    ax = score_by_lead(many(), player="Ann")
    assert any(text.get_text() == "83%\nn = 6" for text in ax.texts)
    with pytest.raises(ExportError, match="no game in this selection reached move 40"):
        score_by_lead(many(), move=40)


def test_leads_name_what_is_excluded() -> None:
    table = LEADS.rows(joined(many(), posed([1000] * 50, key="c" * 20, result="*")))
    assert table.attrs["excluded"] == {"without a result": 2}
    assert (table.attrs["games"], table.attrs["plies"]) == (6, 12)


@pytest.mark.long
def test_how_a_player_s_games_ended() -> None:
    table = PICTURES["endings"].table(many(), PlotOptions("ann"))
    assert table.to_dict("list") == {
        "ended": ["resignation", "time"],
        "won": [3, 2],
        "drawn": [0, 0],
        "lost": [0, 1],
        "no_result": [0, 0],
    }
    assert labels(endings(many(), player="ann")) == ["won 5", "lost 1"]
    with pytest.raises(ExportError, match="Zoe made no move"):
        endings(many(), player="Zoe")


@pytest.mark.long
def test_a_picture_of_the_profile_that_cannot_be_drawn_says_so() -> None:
    figure = player_profile(posed(TEN), player="Ann")
    texts = [text.get_text() for ax in figure.axes for text in ax.texts]
    assert "No data (10 plies without a known lag)." in texts
    assert "No data: no game in this selection reached move 20." in texts


def test_guests_of_one_name_are_not_one_player() -> None:
    one = posed(TEN, white="GuestABCD", mover_guest=True)
    other = posed(TEN, key="b" * 20, white="GuestABCD", mover_guest=True)
    other["mover_id"] = other["mover_id"].astype("string") + "/2"
    with pytest.raises(ExportError, match="guestabcd is the handle of 2 guests"):
        player_profile(joined(one, other), player="guestabcd")


def match(**facts: object) -> pd.DataFrame:
    a = posed(TEN, variant="bughouse", server_game_no=5, base_s=180, **facts)
    other = {"key": "b" * 20, "white": "Cid", "black": "Dan", "result": "0-1"}
    return joined(a, posed(TEN, variant="bughouse", server_game_no=4, base_s=180, **other, **facts))


def test_four_clocks_on_the_time_of_arrival() -> None:
    ax = bughouse_clocks(match())
    assert labels(ax) == [
        "Cid (white, board A)",
        "Dan (black, board A)",
        "Ann (white, board B)",
        "Bob (black, board B)",
    ]
    # White's clock stands while Black thinks.
    white = line(ax, "clock-A-white")
    assert list(white.get_xdata()[:5]) == [0, 0, 0, 2.662, 6.899]
    assert list(white.get_ydata()[:5]) == [180, 180, 180, 177.338, 177.338]
    assert {"A-ply-3", "B-ply-4"} <= gids(ax)
    assert line(ax, "clock-A-white").get_color() == line(ax, "clock-B-black").get_color()
    assert line(ax, "clock-A-white").get_color() != line(ax, "clock-B-white").get_color()
    assert ax.get_xlabel() == "time since the start, by the boards' arrival (min:s)"


def test_without_arrival_the_clocks_give_the_time() -> None:
    ax = bughouse_clocks(match(arrival_ms=None, at=None, time_basis="none"))
    assert list(line(ax, "clock-A-white").get_xdata()[:5]) == pytest.approx([0, 0, 0, 2.662, 6.899])
    assert ax.get_xlabel() == "time used on the board, by both its clocks (min:s)"
    assert footer(ax).endswith("no arrival times that can be compared")


def test_a_match_has_two_boards() -> None:
    with pytest.raises(ExportError, match="the two games of one match, and 1 were given"):
        bughouse_clocks(posed(TEN))


@pytest.mark.parametrize("name", long_after(4, PICTURES))
def test_every_picture_is_drawn_as_wished(name: str) -> None:
    judged = {"eval_after_cp": 20, "loss_cp": 30, "loss_permille": 60}
    plies = {"bughouse": match, "leads": many}.get(name, lambda: posed(TEN, lags_ms=LAGS, **judged))()
    figure = PICTURES[name].draw(plies, None, PlotOptions(player="Ann", theme="dark", size=(7, 4)))
    assert tuple(figure.get_size_inches()) == (7, 4)
    assert figure.get_facecolor() == to_rgba("#15181e")
    assert {ax.get_facecolor() for ax in figure.axes if ax.get_xlabel()} == {to_rgba("#15181e")}
    table = PICTURES[name].table(plies, PlotOptions("Ann"))
    assert len(table)
    assert np.isin(["plies", "ply", "games", "ended", "sides"], table.columns).any()


def test_a_date_without_zone_is_a_date() -> None:
    ax = move_times(posed(TEN, at=None, time_basis="zone-unknown"))
    assert "2020-01-01" in title(ax)
    ax = move_times(posed(TEN, at=None, time_basis="date-unknown", arrival_ms=BEGAN_MS))
    assert "20" not in title(ax).partition("\n")[2].replace("2 ", "")


def test_an_examined_game_has_no_times() -> None:
    with pytest.raises(ExportError, match=r"No data \(10 plies of examined games\)"):
        move_times(posed(TEN, kind="examined"))


_TIMES = st.one_of(st.none(), st.just(0), st.integers(-5000, 200_000), st.just(10**12))


@settings(max_examples=examples(20), derandomize=True, phases=[Phase.generate])  # drawings are too slow to shrink
@given(
    times=st.lists(_TIMES, max_size=12),
    lags=st.lists(st.one_of(st.none(), st.integers(0, 10**6)), min_size=12, max_size=12),
    base_s=st.sampled_from([None, 0, 1, 60, 10**6]),
    increment_s=st.sampled_from([0, 12]),
    handle=st.text(max_size=12),
    missing=st.frozensets(st.integers(1, 12)),
    facts=st.fixed_dictionaries(
        {},
        optional={
            "precision": st.sampled_from([None, "seconds", "derived_milliseconds"]),
            "phase": st.sampled_from([None, "endgame"]),
            "result": st.sampled_from(["*", "1/2-1/2"]),
            "server": st.none(),
            "variant": st.none(),
            "category": st.none(),
            "rated": st.none(),
            "termination": st.none(),
            "mover_rating": st.none(),
            "arrival_ms": st.none(),
            "mover_sealed": st.none(),
            "eval_after_cp": st.sampled_from([-40, 10**9]),
            "eval_after_mate": st.sampled_from([-3, 0, 5]),
            "loss_permille": st.integers(0, 950),
        },
    ),
)
def test_every_move_of_a_game_is_drawn_or_reported(
    times: list[int | None],
    lags: list[int | None],
    base_s: int | None,
    increment_s: int,
    handle: str,
    missing: frozenset[int],
    facts: dict[str, object],
) -> None:
    how = {"lags_ms": lags, "base_s": base_s, "increment_s": increment_s, "missing": missing, **facts}
    one, other = posed(times, white=handle, **how), posed(times, key="b" * 20, server_game_no=3, **how)
    names = sorted(PICTURES.keys() - {"profile"})  # which consists of the others
    name = names[len(times) % len(names)]
    try:
        figure = PICTURES[name].draw(
            joined(one, other) if PICTURES[name].scope == "match" else one, None, PlotOptions("Bob")
        )
    except ExportError:
        return
    write_picture(figure, io.BytesIO(), "svg")


def test_leads_of_games_of_which_some_have_no_clocks_are_drawn() -> None:
    timed = posed([1000] * 42)
    bare = posed([None] * 42, key="b" * 20)
    table = LEADS.rows(joined(timed, bare))
    assert table.attrs["excluded"] == {"without both clocks": 2}
    assert table["sides"].sum() == 2


def test_whole_seconds_of_one_side_or_phase_round_no_other_median() -> None:
    game = posed([0, 0, 301, 1000, 299, 3000])
    game["precision"] = ["seconds" if side == "black" else "milliseconds" for side in game["side"]]
    assert labels(move_times(game)) == [
        "Ann (white): 0:00.6 in all, median 0:00.3 from move 2",
        "Bob (black): 0:04 in all, median 0:02 from move 2",
    ]
    phases = posed([0, 0, 301, 301, 1000, 1000])
    phases["phase"] = ["opening"] * 4 + ["endgame"] * 2
    phases["precision"] = ["milliseconds"] * 4 + ["seconds"] * 2
    assert labels(think_times(phases)) == ["opening: 2 moves, median 301 ms", "endgame: 2 moves, median 1 s"]


@pytest.mark.long
def test_unknown_servers_and_games_in_progress_are_named() -> None:
    known, unknown = posed(TEN), posed(TEN, key="b" * 20).assign(server=pd.NA)
    assert "freechess.org and unknown servers" in title(think_times(joined(known, unknown)))
    assert "unknown" not in title(think_times(known))
    going_on = with_progress(joined(known, unknown).assign(complete=False), {"b" * 20})
    assert " · in progress: 1 · not complete: 1" in footer(think_times(going_on))
    assert "the game is in progress" in footer(move_times(with_progress(known, set(known["key"]))))
