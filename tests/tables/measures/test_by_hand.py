"""Tables of small games, computed by hand."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from exporters.measures import functions as measures
from recorder import Archive
from tests.support.cli import GUESTS, Cli
from tests.tables.measures.frames import frame_of


def rows(table: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Values of some columns (or all), None for NA."""
    chosen = table[list(columns)] if columns else table
    return list(chosen.astype(object).where(chosen.notna(), None).itertuples(index=False, name=None))


@pytest.fixture(scope="module")
def fools_mate(corpus_archive: Archive) -> pd.DataFrame:
    """NOTES.md's checked game: 297338 = 300000 - 2662 with lag 296, 295763 = 300000 - 4237 with lag 304."""
    return corpus_archive.plies(player="ggbtami")


def think(ply: int, elapsed_ms: int | None, **more: Any) -> dict[str, Any]:
    return {"ply": ply, "elapsed_ms": elapsed_ms, **more}


def test_time_usage_of_the_checked_game(fools_mate: pd.DataFrame) -> None:
    table = fools_mate.ics.time_usage(by=["player"], first_moves=True)
    names = ["player", "player_id", "games", "plies", "total_ms", "mean_ms", "median_ms", "longest_ms", "precision"]
    assert rows(table, *names) == [
        ("gbtami", fools_mate["mover_id"][0], 1, 2, 2662, 1331.0, 1331, 2662, "milliseconds"),
        ("ggbtami", fools_mate["mover_id"][1], 1, 2, 4237, 2118.5, 2119, 4237, "milliseconds"),
    ]
    assert table.attrs == {"games": 1, "plies": 4, "excluded": {}, "marked": {}}
    assert table["share"].tolist() == [2662 / 6899, 4237 / 6899]
    charged = fools_mate.ics.time_usage(by=["player"])
    assert rows(charged, "plies", "mean_ms") == [(1, 2662.0), (1, 4237.0)]
    assert charged.attrs == {"games": 1, "plies": 2, "excluded": {"first move": 2}, "marked": {}}


def test_sides_of_the_checked_game(fools_mate: pd.DataFrame) -> None:
    table = fools_mate.ics.game_sides()
    names = ["side", "player", "score", "lost_on_time", "moves", "plies", "total_ms", "longest_move_no"]
    names += ["opening_ms", "middlegame_ms", "clock_at_10_ms", "lowest_ms", "last_ms", "lag_plies", "lag_max_ms"]
    assert rows(table, *names) == [
        ("white", "gbtami", 0.0, False, 2, 1, 2662, 2, 2662, None, None, 297_338, 297_338, 1, 296),
        ("black", "ggbtami", 1.0, False, 2, 1, 4237, 2, 4237, None, None, 295_763, 295_763, 1, 304),
    ]


def test_clocks_of_the_checked_game(fools_mate: pd.DataFrame) -> None:
    assert rows(fools_mate.ics.clock_curve(), "move_no", "sides", "least_ms", "median_ms", "most_ms") == [
        (1, 2, 300_000, 300_000, 300_000),
        (2, 2, 295_763, 296_551, 297_338),  # (295763 + 297338 + 1) // 2
    ]
    left = fools_mate.ics.time_left(by=(), moves=[2, 10])
    assert rows(left, "move_no", "q25_ms", "median_ms", "q75_ms") == [(2, 295_763, 296_551, 297_338)]


def test_the_longest_think_of_the_checked_game(fools_mate: pd.DataFrame) -> None:
    table = fools_mate.ics.longest_thinks(1)
    assert rows(table, "ply", "san", "clock_before_ms", "elapsed_ms", "lag_ms") == [(4, "Qh4#", 300_000, 4237, 304)]


def test_means_are_exact_and_single_values_in_the_unit_of_their_print() -> None:
    printed = {3: ("seconds", 3000), 5: ("seconds", 4000), 4: ("milliseconds", 3000), 6: ("milliseconds", 4001)}
    plies = frame_of(think(ply, took, precision=unit) for ply, (unit, took) in printed.items())
    assert rows(plies.ics.time_usage(by="side"), "side", "total_ms", "mean_ms", "median_ms", "precision") == [
        ("white", 7000, 3500.0, 3500, "seconds"),
        ("black", 7001, 3500.5, 3501, "milliseconds"),
    ]
    assert rows(plies.ics.time_usage(by=()), "total_ms", "mean_ms", "longest_ms", "precision") == [
        (14_001, 3500.25, 4001, "seconds")
    ]
    assert plies.ics.time_usage(by=()).attrs["marked"] == {"seconds only": 2}


def test_excluded_plies_are_counted_by_their_first_reason() -> None:
    plies = frame_of(
        [
            think(1, 1000, key="examined", kind="examined", time_control="-"),
            think(1, 1000, key="untimed", time_control="-"),
            think(1, None, key="gap", origin="inferred", precision=None),
            think(2, None, key="gap", precision=None),
            think(3, 1000, key="gap", complete=False),
        ]
    )
    table = plies.ics.time_usage(by=())
    assert rows(table, "games", "plies") == [(1, 1)]
    assert table.attrs == {
        "games": 1,
        "plies": 1,
        "excluded": {"not played": 1, "untimed": 1, "inferred": 1, "no time": 1},
        "marked": {"incomplete": 1},
    }


def test_guests_are_not_pooled_and_computers_are_flagged() -> None:
    who = [("Guest", "FICS/guest/a", True, None), ("Guest", "FICS/guest/b", True, None), ("R2", "FICS/r2", False, True)]
    plies = frame_of(
        think(3, 1000, key=key, mover=name, mover_id=key, mover_guest=guest, mover_computer=computer)
        for name, key, guest, computer in who
    )
    table = plies.ics.time_usage(by="player")
    assert rows(table, "player", "player_id", "guest", "computer", "plies") == [
        ("Guest", "FICS/guest/a", True, None, 1),
        ("Guest", "FICS/guest/b", True, None, 1),
        ("R2", "FICS/r2", False, True, 1),
    ]
    pd.testing.assert_frame_equal(plies.ics.time_usage(by="mover"), table)


def test_one_player_in_two_spellings_is_one_row() -> None:
    plies = frame_of(think(3, 1000, key=name, mover=name, mover_id="FICS/ann") for name in ("ann", "Ann"))
    assert rows(plies.ics.time_usage(by="player"), "player", "games") == [("Ann", 2)]


def test_phases_and_time_controls_have_their_natural_order() -> None:
    groups = [("60+0", "endgame"), ("60+0", "opening"), ("300+0", "middlegame"), ("180+12", None), ("180+2", None)]
    plies = frame_of(
        think(3, 1000, key=f"{number}", time_control=control, phase=phase)
        for number, (control, phase) in enumerate(groups)
    )
    assert rows(plies.ics.time_usage(by=["time_control", "phase"]), "time_control", "phase") == [
        ("60+0", "opening"),
        ("60+0", "endgame"),
        ("180+2", None),
        ("180+12", None),
        ("300+0", "middlegame"),
    ]


def test_instants_are_those_at_the_floor_and_only_where_times_are_precise() -> None:
    took = {1: 0, 3: 100, 5: 101, 7: 0, 9: 57}
    plies = frame_of([*(think(ply, ms) for ply, ms in took.items()), think(4, 0, precision="seconds")])
    table = plies.ics.instant(by=())
    assert rows(table, "games", "plies", "instant", "share", "at_zero", "at_limit") == [(1, 4, 3, 0.75, 1, 1)]
    assert table.attrs["excluded"] == {"first move": 1, "seconds only": 1}


def test_lag_is_given_back_to_the_sealed_alone() -> None:
    plies = frame_of(
        {"ply": ply, "lag_ms": ms, "mover_sealed": sealed, "precision": "seconds"}
        for ply, ms, sealed in [
            (1, 0, True),
            (3, 120, True),
            (5, 301, True),
            (2, 40, False),
            (4, 0, None),
            (6, None, True),
        ]
    )
    table = plies.ics.lag(by="side")
    names = ["plies", "sealed_plies", "unsealed_plies", "total_ms", "given_back_ms", "mean_ms", "p50_ms", "p95_ms"]
    assert rows(table, *names, "longest_ms", "zero_share") == [
        (3, 3, 0, 421, 421, 421 / 3, 120, 301, 301, 1 / 3),
        (2, 0, 1, 40, None, 20.0, 20, 40, 40, 0.5),
    ]
    assert table.attrs["excluded"] == {"no lag": 1}


def test_correlation_of_thinks_that_follow_each_other() -> None:
    """(2, 4), (4, 6): a line; (6 and 1 are not neighbours: a ply is missing); the first move is free."""
    took = {1: 9000, 3: 2000, 5: 4000, 7: 6000, 11: 1000}
    table = frame_of(think(ply, ms) for ply, ms in took.items()).ics.autocorrelation(by="side")
    assert rows(table, "games", "pairs", "mean_ms", "mean_before_ms", "correlation") == [(1, 2, 5000, 3000, 1.0)]
    same = frame_of(think(ply, 100) for ply in (3, 5, 7)).ics.autocorrelation()
    assert rows(same, "pairs", "correlation") == [(2, None)]
    coarse = frame_of(think(ply, 0) | {"key": "s" * 20, "precision": "seconds"} for ply in (3, 5, 7))
    mixed = pd.concat([frame_of(think(ply, 100) for ply in (3, 5, 7)), coarse]).ics.autocorrelation()
    assert rows(mixed, "pairs", "correlation") == [(2, None)]  # not 1.0, which would show the precision
    assert mixed.attrs["excluded"] == {"seconds only": 3, "no think before": 1}


def test_clocks_where_phases_begin() -> None:
    clocks = [
        (1, 300_000, "opening"), (3, 299_000, "opening"), (5, 290_000, "middlegame"), (7, 250_000, "middlegame"),
    ]  # fmt: skip
    plies = frame_of({"ply": ply, "clock_before_ms": ms, "phase": phase} for ply, ms, phase in clocks)
    table = plies.ics.time_left_by_phase(by=())
    assert rows(table, "phase", "sides", "median_ms") == [("opening", 1, 300_000), ("middlegame", 1, 290_000)]


def test_profile() -> None:
    one = {"mover_rating": 1500, "mover_score": 1.0, "termination": "normal", "clock_after_ms": 290_000}
    two = {"mover_rating": 1490, "mover_score": 0.0, "termination": "time forfeit", "clock_after_ms": -111}
    plies = frame_of(
        [
            think(1, 0, phase="opening", **one),
            think(3, 100, phase="opening", **one),
            think(5, 900, phase="middlegame", lag_ms=40, **one),
            think(3, 3000, phase="endgame", key="g2", **two),
        ]
    )
    table = plies.ics.profile()
    names = ["games", "wins", "draws", "losses", "score", "lost_on_time", "rating_least", "rating_most", "plies"]
    assert rows(table, *names) == [(2, 1, 0, 1, 0.5, 1, 1490, 1500, 3)]
    shares = ["opening_share", "middlegame_share", "endgame_share", "instant_share", "lowest_ms", "lag_p95_ms"]
    assert rows(table, *shares) == [(0.025, 0.225, 0.75, 1 / 3, -111, 40)]


@pytest.mark.parametrize(("by", "named"), [("colour", "colour"), ("elapsed_ms", "elapsed_ms"), ("at", "'at'")])
def test_a_dimension_that_is_none_is_refused(by: str, named: str) -> None:
    with pytest.raises(ValueError, match=named):
        frame_of([think(1, 0)]).ics.time_usage(by=by)


def test_a_dimension_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="only once"):
        frame_of([think(1, 0)]).ics.time_usage(by=["player", "mover"])


def test_other_tables_are_refused_by_the_columns_that_they_lack() -> None:
    with pytest.raises(AttributeError, match="it lacks key and ply"):
        _ = pd.DataFrame({"x": [1]}).ics
    with pytest.raises(AttributeError, match=r"it lacks elapsed_ms\."):
        frame_of([think(1, 0)]).drop(columns="elapsed_ms").ics.time_usage()


def test_the_accessor_has_every_measure() -> None:
    assert [name for name in measures.__all__ if not hasattr(frame_of([think(1, 0)]).ics, name)] == []


def clocks(ply: int, before_ms: int, opponent_ms: int, elapsed_ms: int, **more: Any) -> dict[str, Any]:
    after_ms = before_ms - elapsed_ms
    return {"ply": ply, "clock_before_ms": before_ms, "opponent_clock_ms": opponent_ms, "elapsed_ms": elapsed_ms} | {
        "clock_after_ms": after_ms,
        **more,
    }


def test_scrambles_are_stretches_with_both_clocks_under_the_limit() -> None:
    """Plies 42 to 44 and, after Black's clock was above it once more, 46."""
    plies = frame_of(
        [
            clocks(41, 31_000, 28_000, 2000),
            clocks(42, 28_000, 29_000, 100),
            clocks(43, 29_000, 27_900, 3000),
            clocks(44, 27_900, 26_000, 100),
            clocks(45, 26_000, 57_800, 1000),
            clocks(46, 27_800, 25_000, 500),
            clocks(41, 40_000, 40_000, 1000, key="g2"),
        ]
    )
    table = plies.ics.scrambles()
    names = ["games", "scrambled", "windows", "plies", "ply_share", "total_ms", "mean_ms", "median_ms", "p95_ms"]
    assert rows(table, *names) == [(2, 1, 2, 4, 4 / 7, 3700, 925, 300, 3000)]
    names = ["key", "from_ply", "to_ply", "plies", "white_ms", "black_ms", "white_clock_ms", "black_clock_ms"]
    assert rows(plies.ics.scramble_windows(), *names) == [
        ("g1", 42, 44, 3, 3000, 200, 29_000, 28_000),
        ("g1", 46, 46, 1, 0, 500, 25_000, 27_800),
    ]


def test_flags() -> None:
    lost = {"termination": "time forfeit", "mover_score": 0.0}
    won = {"termination": "time forfeit", "mover_score": 1.0}
    after = [(1, 9000, lost), (3, 700, lost), (2, 8000, won), (4, -111, won), (6, 50_000, won)]
    table = frame_of({"ply": ply, "clock_after_ms": ms, **how} for ply, ms, how in after).ics.flags()
    names = ["games", "sides", "lost_on_time", "lost_share", "least_ms", "median_ms", "closest_ms", "overstepped"]
    assert rows(table, *names) == [(1, 2, 1, 0.5, -111, 295, -111, 1)]  # (700 - 111 + 1) // 2


def test_clock_lead_after_both_have_made_the_move() -> None:
    """After move 20 White has 100 s and Black 90 s: Black's ply 40 and White's ply 41 show it."""
    plies = frame_of(
        [
            clocks(39, 110_000, 95_000, 10_000, mover_score=1.0),
            clocks(40, 95_000, 100_000, 5_000, mover_score=0.0),
            clocks(41, 100_000, 90_000, 20_000, mover_score=1.0),
            clocks(40, 95_000, 100_000, 5_000, key="g2"),
        ]
    )
    table = plies.ics.clock_lead()
    names = ["move_no", "lead_from_s", "lead_to_s", "sides", "wins", "losses", "score", "mean_lead_ms"]
    assert rows(table, *names) == [(20, -10, 0, 1, 0, 1, 0.0, -10_000), (20, 10, 30, 1, 1, 0, 1.0, 10_000)]
    assert table.attrs["excluded"] == {"no result": 1, "other moves": 1}
    assert rows(plies.ics.clock_lead(edges_s=[]), "lead_from_s", "lead_to_s", "sides") == [(None, None, 2)]
    # Of a base of 200 s 10 s are 5 %: White's lead is in the band that begins there, Black's is not below its edge.
    plies["base_s"] = pd.array([200, 200, 200, None], dtype="Int32")
    table = plies.ics.clock_lead(edges_percent=[-5, 5])
    assert rows(table, "lead_from_percent", "lead_to_percent", "sides", "score") == [(-5, 5, 1, 0.0), (5, None, 1, 1.0)]
    plies["base_s"] = pd.array([201, 201, None, None], dtype="Int32")
    table = plies.ics.clock_lead(edges_percent=[-5, 5])
    assert rows(table, "lead_from_percent", "sides") == [(-5, 1)]
    assert table.attrs["excluded"] == {"no result": 1, "no base time": 1, "other moves": 1}


def test_even_budget() -> None:
    """Base 300 s over three moves: an even spender has 200, 100 and 0 s."""
    after = {1: 300_000, 3: 99_000, 5: 1_000}
    plies = frame_of({"ply": ply, "clock_after_ms": ms} for ply, ms in after.items())
    names = ["games", "plies", "ahead_share", "mean_ms", "median_ms", "least_ms", "most_ms"]
    assert rows(plies.ics.even_budget(), *names) == [(1, 3, 2 / 3, 100_000 / 3, 1_000, -1_000, 100_000)]
    cut = plies.assign(complete=pd.Series([False] * 3, dtype="boolean"))
    assert cut.ics.even_budget().attrs["excluded"] == {"incomplete": 3}


def test_time_odds() -> None:
    white, black = {"time_control": "60+0", "mover_score": 1.0}, {"time_control": "300+5", "mover_score": 0.0}
    plies = frame_of(
        [
            think(1, 400, **white),
            think(2, 9000, **black),
            think(3, 600, **white),
            think(1, 50, key="g2"),
            think(2, 50, key="g2"),
        ]
    )
    names = [
        "time_control",
        "opponent_time_control",
        "games",
        "wins",
        "losses",
        "score",
        "plies",
        "total_ms",
        "mean_ms",
    ]
    assert rows(plies.ics.time_odds(first_moves=True), *names) == [
        ("60+0", "300+5", 1, 1, 0, 1.0, 2, 1000, 500.0),
        ("300+5", "60+0", 1, 0, 1, 0.0, 1, 9000, 9000.0),
    ]


def test_activity_is_in_utc_or_at_an_offset() -> None:
    sunday = 1_580_083_199_000  # 2020-01-26T23:59:59Z
    plies = frame_of(
        [
            think(3, 1000, arrival_ms=sunday, time_basis="utc", mover_score=1.0),
            think(4, 3000, arrival_ms=sunday + 3000, time_basis="utc", mover_score=0.0),
            think(5, 1000, arrival_ms=sunday, time_basis="zone-unknown"),
        ]
    )
    names = ["weekday", "hour", "games", "wins", "losses", "score", "plies", "total_ms"]
    assert rows(plies.ics.activity(), *names) == [(1, 0, 1, 0, 1, 0.0, 1, 3000), (7, 23, 1, 1, 0, 1.0, 1, 1000)]
    assert plies.ics.activity().attrs["excluded"] == {"no date and zone": 1}
    assert rows(plies.ics.activity(utc_offset_min=60), "weekday", "hour", "plies") == [(1, 0, 1), (1, 1, 1)]
    assert rows(plies.ics.time_usage(by=["weekday", "hour"]), "weekday", "hour") == [(1, 0), (7, 23)]


def test_residuals() -> None:
    expected = [(3, 0, "exact"), (5, 0, "exact"), (7, 15_000, "moretime"), (9, -700, "rounding"), (11, None, None)]
    table = frame_of({"ply": ply, "residual_ms": ms, "cause": cause} for ply, ms, cause in expected).ics.residuals()
    names = ["cause", "games", "plies", "share", "total_ms", "absolute_ms", "least_ms", "most_ms"]
    assert rows(table, *names) == [
        ("exact", 1, 2, 0.5, 0, 0, 0, 0),
        ("moretime", 1, 1, 0.25, 15_000, 15_000, 15_000, 15_000),
        ("rounding", 1, 1, 0.25, -700, 700, -700, -700),
    ]
    assert table.attrs["excluded"] == {"not checked": 1}


def test_an_even_spender_knows_of_a_last_move_whose_clock_was_not_printed() -> None:
    plies = frame_of({"ply": ply, "clock_after_ms": ms} for ply, ms in [(1, 300_000), (3, 200_000), (5, None)])
    assert rows(plies.ics.even_budget(), "plies", "least_ms", "most_ms") == [(2, 100_000, 100_000)]


def test_known_moves_end_at_the_first_long_think() -> None:
    white = {1: 0, 3: 2000, 5: 15_000, 7: 400, 9: 60_000}  # of 300+0: 15 seconds are long
    black = {2: 0, 4: 14_999, 6: 1000}
    table = frame_of(think(ply, ms) for ply, ms in sorted({**white, **black}.items())).ics.known_moves(by="side")
    assert rows(table, "side", "sides", "thinks", "median_moves", "p90_moves", "median_ms") == [
        ("white", 1, 1, 2, 2, 2000),
        ("black", 1, 0, None, None, None),
    ]
    assert table.attrs["plies"] == 2
    assert table.attrs["excluded"] == {"not the first long think": 6}
    hole = frame_of([think(1, None), think(3, 500), think(5, None), think(7, 90_000)]).ics.known_moves()
    assert rows(hole, "sides") == [], "the unknown time may be the first long think"
    free = frame_of([think(1, None), think(3, 500), think(5, 90_000)]).ics.known_moves(by=())
    assert rows(free, "thinks", "mean_moves", "mean_ms") == [(1, 2, 500)]
    cut = frame_of([think(1, 90_000, complete=False)]).ics.known_moves()
    assert cut.attrs["excluded"] == {"incomplete game": 1}


def test_an_opening_is_a_column_that_must_be_asked_for(corpus_archive: Archive) -> None:
    with pytest.raises(AttributeError, match=r"lacks opening: ask for it with plies\(extra=\['opening'\]\)"):
        corpus_archive.plies(last=1).ics.time_usage(by="opening")
    plies = corpus_archive.plies(eco="C", extra=["eco", "opening"])
    games = corpus_archive.game_table(eco="C").set_index("key")
    table = plies.ics.time_usage(by=["eco", "opening"])
    assert table["eco"].str.startswith("C").all()
    for name in ("eco", "opening"):
        assert (plies[name].astype("string") == plies["key"].map(games[name]).astype("string")).all()


@pytest.mark.long
def test_an_event_is_the_tag_of_a_saved_game_or_of_icc(tmp_path: Path) -> None:
    made = Cli(tmp_path / "archive.sqlite")
    made("import", GUESTS)
    saved = tmp_path / "saved.pgn"
    text = re.sub(r'\[Event "[^"]*"\]', '[Event "Club Cup 2026"]', made("export", "pgn", "--last", 2).stdout, count=1)
    saved.write_text(text, encoding="utf-8")
    made("import", saved)  # each game is one with that of the log
    with Archive(made.archive) as archive:
        events = archive.plies(extra=["event"]).drop_duplicates("key").set_index("key")["event"].dropna()
        table = archive.plies(extra=["event"]).ics.time_usage(by="event")
    assert events.tolist() == ["Club Cup 2026"]
    shown = [line.split()[0] for line in made("clocks", "--by", "event", "--csv").stdout.splitlines()]
    assert sorted(table["event"].fillna("-")) == ["-", "Club Cup 2026"]
    assert len(shown) == 3
    with closing(sqlite3.connect(made.archive)) as connection, connection:  # as a datagram of ICC prints it
        of_log = (
            "SELECT o.id, w.id, coalesce(m.key, w.key) FROM observations o JOIN games w ON w.id = o.game_id"
            " LEFT JOIN games m ON m.id = w.merged_into WHERE o.kind = 'live' AND w.ply_count > 0 LIMIT 1"
        )
        seen, row_id, key = connection.execute(of_log).fetchone()
        add = "INSERT INTO events (observation_id, seq, kind, detail, ply, actor, text, offset)"
        connection.execute(f"{add} VALUES (?, 9999, 'notice', 'pgn-tag', 0, 'Event', 'Open', 0)", (seen,))
        connection.execute("UPDATE games SET dialect = 'ICC' WHERE id = ?", (row_id,))
    with Archive(made.archive) as archive:
        assert archive.plies(keys=[key], extra=["event"])["event"].unique().tolist() == ["Open"]
    made("export", "plies", "--dataset", "-o", tmp_path / "set")
    words = ("clocks", "--by", "event", "--csv")
    assert made(*words, "--dataset", tmp_path / "set").stdout == made(*words).stdout
