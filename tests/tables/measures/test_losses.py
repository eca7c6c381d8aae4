"""What moves lost: a saved game with evaluations (tests/support/evaluated.py), computed by hand."""

from typing import Any

import pandas as pd
import pytest

from exporters.measures import functions as measures
from recorder import Archive
from tests.tables.measures.frames import frame_of
from tests.tables.measures.test_by_hand import rows

COUNTS = ("plies", "inaccuracies", "mistakes", "blunders", "mean_loss_cp", "mean_loss_permille")


@pytest.fixture(scope="module")
def evaluated(corpus_archive: Archive) -> pd.DataFrame:
    return corpus_archive.plies(player="Ann", server="lichess.org")


def judged(ply: int, loss_permille: int | None, **more: Any) -> dict[str, Any]:
    return {"ply": ply, "loss_permille": loss_permille, "loss_cp": loss_permille, **more}


def test_blunders_in_time_trouble_and_else(evaluated: pd.DataFrame) -> None:
    """Of a minute six seconds are little: Ann thinks with 5, 4 and 3, Bob with 4 and 3 (the last is not judged)."""
    table = measures.blunders(evaluated)
    assert rows(table, "player", "time_trouble", *COUNTS) == [
        ("Ann", False, 2, 1, 0, 0, 40.0, 37.0),  # (0 + 80) / 2, (0 + 74) / 2
        ("Ann", True, 3, 1, 0, 2, 2260 / 3, 1262 / 3),  # (60 + 1100 + 1100) / 3, (55 + 641 + 566) / 3
        ("Bob", False, 4, 0, 1, 1, 255.0, 144.0),  # (0 + 10 + 110 + 900) / 4, (0 + 10 + 101 + 465) / 4
        ("Bob", True, 1, 0, 0, 1, 1200.0, 651.0),
    ]
    assert table["blunder_share"].tolist() == [0, 2 / 3, 1 / 4, 1]
    assert table.attrs == {
        "games": 1,
        "plies": 10,
        "excluded": {"no evaluation": 2},
        "marked": {"seconds only": 10, "derived time": 10},
    }


def test_by_the_time_that_moves_took(evaluated: pd.DataFrame) -> None:
    """No elapsed times are printed: they are what the clocks went down."""
    table = measures.loss_by_think(evaluated)
    assert rows(table, "think_from_s", "think_to_s", *COUNTS) == [
        (
            1,
            2,
            4,
            1,
            0,
            3,
            3460 / 4,
            1913 / 4,
        ),  # 7, 9, 10, 11: (60 + 1100 + 1200 + 1100) / 4, (55 + 641 + 651 + 566) / 4
        (5, 10, 1, 0, 1, 0, 110.0, 101.0),  # 6
        (10, 20, 1, 0, 0, 0, 10.0, 10.0),  # 4
        (20, 60, 3, 1, 0, 1, 980 / 3, 539 / 3),  # 3, 5, 8: (0 + 80 + 900) / 3, (0 + 74 + 465) / 3
    ]
    assert table.attrs["excluded"] == {"no evaluation": 2, "first move": 1}
    assert set(table["precision"]) == {"seconds"}


def test_by_the_time_that_was_left(evaluated: pd.DataFrame) -> None:
    assert rows(measures.loss_by_clock(evaluated, edges_s=[4, 60]), "clock_from_s", "clock_to_s", *COUNTS) == [
        (None, 4, 1, 0, 0, 1, 1100.0, 566.0),  # 11
        (4, 60, 6, 2, 1, 3, 3450 / 6, 1987 / 6),  # 5 to 10: 3450 / 6, 1987 / 6
        (60, None, 3, 0, 0, 0, 10 / 3, 10 / 3),  # 2, 3, 4: 10 / 3
    ]


@pytest.mark.parametrize(
    ("base_s", "clock_before_ms", "low"),
    [
        (300, 29_999, True),
        (300, 30_000, False),
        (1800, 30_000, False),  # at most 30 seconds
        (180, 17_999, True),
        (180, 18_000, False),
        (15, 4_999, True),  # at least 5
        (None, 4_999, True),
        (None, 5_000, False),
        (60, None, None),
    ],
)
def test_time_trouble(base_s: int | None, clock_before_ms: int | None, low: bool | None) -> None:
    row = {"ply": 3, "elapsed_ms": 1000, "base_s": base_s, "clock_before_ms": clock_before_ms}
    assert rows(measures.time_usage(frame_of([row]), by="time_trouble"), "time_trouble") == [(low,)]


def test_the_elapsed_time_is_asked_first() -> None:
    """What the server charged, not what the clocks went down."""
    clocks = {"clock_before_ms": 60_000, "clock_after_ms": 50_000, "increment_s": 2}
    plies = frame_of([judged(3, 40, elapsed_ms=1500, **clocks), judged(4, 40, **clocks), judged(5, 40)])
    table = measures.loss_by_think(plies)
    assert rows(table, "think_from_s", "plies") == [(1, 1), (10, 1)]  # 60 + 2 - 50 = 12
    assert table.attrs["excluded"] == {"no time": 1}


def test_limits_are_included() -> None:
    losses = (49, 50, 99, 100, 149, 150)
    plies = frame_of([judged(2 * number + 1, loss, clock_before_ms=9_000) for number, loss in enumerate(losses)])
    assert rows(measures.blunders(plies, by=()), *COUNTS[:4]) == [(6, 2, 2, 1)]
