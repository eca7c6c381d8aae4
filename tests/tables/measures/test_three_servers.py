"""Steinitz - Zukertort, 5 + 5, drawn by repetition on each of the three servers: its boards, and tables by hand.

Elapsed times and clocks after the mover's moves, as the boards of ``tests/corpus/server/?01_standard`` print them:

FICS (milliseconds): White 0, 178, 144, 100: 300000, 304822, 309679, 314579; Black 0, 198, 105, 100: 300000, 304802,
309697, 314597. The first moves are free and earn nothing; 304822 - 144 + 5000 is 309678, one less than printed.
The second server (seconds): 0 always; both 300, 304, 309, 314. The third: 0 always; both 305, 310, 315, 320.
"""

import pandas as pd
import pytest

from recorder import Archive
from tests.support.cli import Cli
from tests.support.corpus import stream_bytes
from tests.tables.measures.test_by_hand import rows

STREAMS = {"a": "observer_GuestObsA", "b": "observer_GuestXa", "c": "observer_GuestXa"}
SECONDS = "seconds"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> dict[str, pd.DataFrame]:
    found = {}
    for server, stream in STREAMS.items():
        folder = tmp_path_factory.mktemp(server)
        (folder / "session.log").write_bytes(stream_bytes(f"{server}01_standard", stream))
        made = Cli(folder / "archive.sqlite")
        made("import", "--no-keep-source", folder / "session.log")
        plies = Archive(made.archive).plies(player="steinitz")
        found[server] = plies[plies["time_control"] == "300+5"]
    return found


def test_time_usage(games: dict[str, pd.DataFrame]) -> None:
    names = ["player", "plies", "total_ms", "mean_ms", "median_ms", "p95_ms", "longest_ms", "precision"]
    found = {server: rows(plies.ics.time_usage(by="player"), *names) for server, plies in games.items()}
    nothing = [(player, 3, 0, 0.0, 0, 0, 0, SECONDS) for player in ("Steinitz", "Zukertort")]
    assert found == {
        "a": [
            ("Steinitz", 3, 422, 422 / 3, 144, 178, 178, "milliseconds"),
            ("Zukertort", 3, 403, 403 / 3, 105, 198, 198, "milliseconds"),
        ],
        "b": nothing,
        "c": nothing,
    }


def test_residuals(games: dict[str, pd.DataFrame]) -> None:
    names = ["cause", "plies", "total_ms", "least_ms", "most_ms"]
    assert {server: rows(plies.ics.residuals(), *names) for server, plies in games.items()} == {
        "a": [("exact", 5, 0, 0, 0), ("first-move", 2, -10_000, -5000, -5000), ("rounding", 1, 1, 1, 1)],
        "b": [("exact", 4, 0, 0, 0), ("first-move", 2, -10_000, -5000, -5000), ("rounding", 2, -2000, -1000, -1000)],
        "c": [("exact", 8, 0, 0, 0)],
    }


def test_clock_curve_and_even_budget(games: dict[str, pd.DataFrame]) -> None:
    """Of 300 s and 4 moves an even spender has 225, 150, 75 and 0 s left."""
    names = ["move_no", "least_ms", "median_ms", "most_ms"]
    assert rows(games["a"].ics.clock_curve(), *names) == [
        (1, 300_000, 300_000, 300_000),
        (2, 304_802, 304_812, 304_822),
        (3, 309_679, 309_688, 309_697),
        (4, 314_579, 314_588, 314_597),
    ]
    assert rows(games["b"].ics.clock_curve(), "median_ms") == [(300_000,), (304_000,), (309_000,), (314_000,)]
    assert rows(games["c"].ics.clock_curve(), "median_ms") == [(305_000,), (310_000,), (315_000,), (320_000,)]
    budgets = {server: rows(plies.ics.even_budget(), "least_ms", "most_ms") for server, plies in games.items()}
    assert budgets == {"a": [(75_000, 314_597)], "b": [(75_000, 314_000)], "c": [(80_000, 320_000)]}


def test_instant_moves_need_times_in_milliseconds(games: dict[str, pd.DataFrame]) -> None:
    names = ["side", "plies", "instant", "at_limit"]
    assert rows(games["a"].ics.instant(by="side"), *names) == [("white", 3, 1, 1), ("black", 3, 1, 1)]
    for server in "bc":
        instant = games[server].ics.instant(by="side")
        assert instant.empty
        assert instant.attrs["excluded"] == {"first move": 2, "seconds only": 6}


def test_thinks_that_follow_each_other(games: dict[str, pd.DataFrame]) -> None:
    """White's pairs (178, 144), (144, 100), Black's (198, 105), (105, 100): n Σxy - Σx Σy is 4,663 for all four."""
    x, y = (178, 144, 198, 105), (144, 100, 105, 100)
    of_both = 4 * sum(a * b for a, b in zip(x, y, strict=True)) - sum(x) * sum(y)
    of_x, of_y = (4 * sum(a * a for a in one) - sum(one) ** 2 for one in (x, y))
    ((pairs, correlation),) = rows(games["a"].ics.autocorrelation(), "pairs", "correlation")
    assert pairs == 4
    assert correlation == pytest.approx(of_both / (of_x * of_y) ** 0.5)
    assert games["a"].ics.autocorrelation().attrs["excluded"] == {"first move": 2, "no think before": 2}
