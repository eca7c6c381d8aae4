"""The first clock summary, against numbers counted by hand."""

from __future__ import annotations

import csv
import io
import json
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporters.clocks import ClocksCsvExporter, ClocksJsonExporter, ClockSummary, SideClocks, side_clocks
from recorder.model import Precision
from tests.exporters.games import SCHOLARS_MATE, make_game, random_game, random_moves


def test_a_side() -> None:
    white, black = side_clocks(make_game(black_base_s=60, black_increment_s=2))
    assert white == SideClocks(
        key="0123456789abcdef0123",
        server="freechess.org",
        variant="chess",
        base_s=300,
        increment_s=0,
        complete=True,
        side="white",
        handle="Ann",
        opponent="Bob",
        moves=4,
        total_ms=0 + 1851 + 3085 + 4319,
        mean_ms=2314,
        median_ms=2468,
        longest_ms=4319,
        longest_move_no=4,
        longest_san="Qxf7#",
        clock_at_10_ms=None,
        clock_at_20_ms=None,
        clock_at_30_ms=None,
        clock_at_40_ms=None,
        lag_moves=4,
        lag_mean_ms=28,
        lag_p95_ms=49,
        lag_max_ms=49,
        precision="milliseconds",
    )
    assert (black.side, black.handle, black.opponent, black.moves) == ("black", "Bob", "Ann", 3)
    assert (black.base_s, black.increment_s) == (60, 2)


def test_time_left_at_moves() -> None:
    moves = random_moves(4, 80)
    assert len(moves) == 80
    white, black = side_clocks(make_game(moves))
    assert [white.clock_at_10_ms, white.clock_at_40_ms] == [300_000 - 1331 * 19, 300_000 - 1331 * 79]
    assert [black.clock_at_20_ms, black.clock_at_30_ms] == [300_000 - 977 * 40, 300_000 - 977 * 60]


@given(st.lists(st.tuples(st.integers(0, 10**6), st.none() | st.integers(0, 10**4)), min_size=1, max_size=60))
def test_figures_are_those_of_the_plies(times: list[tuple[int, int | None]]) -> None:
    game = make_game(
        ["g1f3", "g8f6", "f3g1", "f6g8"] * 30, clocks=lambda ply: (0, 0, *times[(ply - 1) // 2 % len(times)])
    )
    plies = [ply for ply in game.plies if ply.white_moved]
    elapsed = [ply.elapsed_ms or 0 for ply in plies]
    lags = sorted(ply.lag_ms for ply in plies if ply.lag_ms is not None)
    white, _ = side_clocks(game)
    assert white.total_ms == sum(elapsed)
    assert abs(white.mean_ms - sum(elapsed) / len(elapsed)) <= 0.5
    assert abs(white.median_ms - median(elapsed)) <= 0.5
    assert (white.longest_ms, elapsed[white.longest_move_no - 1]) == (max(elapsed), max(elapsed))
    assert elapsed.index(max(elapsed)) == white.longest_move_no - 1
    assert white.lag_moves == len(lags)
    if lags:
        assert white.lag_max_ms == lags[-1]
        assert white.lag_p95_ms is not None
        assert sum(lag <= white.lag_p95_ms for lag in lags) >= 0.95 * len(lags)
        assert sum(lag < white.lag_p95_ms for lag in lags) < 0.95 * len(lags)
    else:
        assert white.lag_mean_ms is white.lag_p95_ms is white.lag_max_ms is None


def test_some_games_are_excluded_and_some_are_marked() -> None:
    summary = ClockSummary()
    rows = list(
        summary.rows(
            [
                make_game(),
                make_game(complete=False, precision=Precision.SECONDS),
                make_game(base_s=0, increment_s=0),
                make_game(clocks=None),
                make_game(SCHOLARS_MATE[:1]),
            ]
        )
    )
    assert len(rows) == 5
    assert (summary.games, summary.plies) == (3, 15)
    assert summary.excluded == {"untimed": 1, "without times": 1}
    assert summary.marked == {"incomplete": 1, "seconds only": 1}
    assert [row.precision for row in rows] == ["milliseconds"] * 2 + ["seconds"] * 2 + ["milliseconds"]


@pytest.mark.parametrize("exporter", [ClocksCsvExporter(), ClocksJsonExporter()])
def test_written_rows(exporter: ClocksCsvExporter | ClocksJsonExporter) -> None:
    games = [random_game(1), make_game(clocks=None), make_game()]
    out = io.BytesIO()
    report = exporter.write(games, out)
    text = out.getvalue().decode()
    rows = [row._asdict() for game in games for row in side_clocks(game)]
    if isinstance(exporter, ClocksJsonExporter):
        assert [json.loads(line) for line in text.splitlines()] == rows
    else:
        read = list(csv.DictReader(io.StringIO(text)))
        assert [(row["key"], row["total_ms"]) for row in read] == [(row["key"], str(row["total_ms"])) for row in rows]
    assert (report.games, report.excluded) == (2, {"without times": 1})
