"""Pictures of many games show the same of batches of games as of one ply frame."""

from __future__ import annotations

import io
from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd
import pytest

from exporters.measures.batches import PlyBatches
from exporters.plots import PICTURES, write_picture
from exporters.plots.catalogue import PlotOptions
from exporters.tables.facts import with_progress
from recorder.errors import ExportError
from tests.support.plyframes import joined, posed

DATES = "2020-01-01 to 2020-02-03"
OF_MANY = [name for name, picture in PICTURES.items() if picture.scope in ("games", "player")]


@pytest.fixture(scope="module")
def games() -> pd.DataFrame:
    """Games that differ in all that a picture states."""
    rng = np.random.default_rng(7)
    frames = []
    for number in range(12):
        times = [int(time) for time in rng.integers(0, 9_000, 50 + 17 * number)]
        lags = [int(lag) for lag in rng.integers(0, 400, len(times))]
        facts = {
            "eval_after_cp": 20,
            "loss_cp": 30 * number,
            "loss_permille": 60 * number,
            "server": (None, "chess.example")[number % 2],
            "rated": number < 6,
            "reason": ("resign", "time", None)[number % 3],
            "complete": number != 3,
            "kind": "examined" if number == 4 else "played",
            "mover_sealed": number != 5,
        }
        facts |= {"precision": "seconds"} if number == 8 else {}
        facts |= {"origin": "inferred"} if number == 9 else {}
        pair = ("Ann", "Bob") if number % 2 else ("Cid", "ANN")
        result = ("1-0", "0-1", "1/2-1/2", "*")[number % 4]
        base_s = (900, 900, 0, None)[number % 4] if number > 7 else 900
        frames.append(
            posed(
                [None if number == 6 and place % 5 == 0 else time for place, time in enumerate(times)],
                key=f"{number:020x}",
                white=pair[0],
                black=pair[1],
                lags_ms=lags,
                result=result,
                base_s=base_s,
                **facts,
            )
        )
    plies = with_progress(joined(*frames), {f"{11:020x}"})
    plies.attrs["dates"] = DATES
    return plies


def batches_of(plies: pd.DataFrame) -> PlyBatches:
    """Batches of five games."""
    keys = list(plies["key"].unique())

    def read(names: Collection[str]) -> Iterator[pd.DataFrame]:
        for begin in range(0, len(keys), 5):
            games = plies[plies["key"].isin(keys[begin : begin + 5])]
            batch = games[[name for name in plies.columns if name in names]].reset_index(drop=True)
            batch.attrs = {"dates": DATES}
            yield batch

    return PlyBatches(read, plies.iloc[:0])


def svg(name: str, plies: pd.DataFrame | PlyBatches, wishes: PlotOptions) -> bytes:
    out = io.BytesIO()
    write_picture(PICTURES[name].draw(plies, None, wishes), out, "svg")
    return out.getvalue()


@pytest.mark.parametrize(("name", "player"), [*((name, "ann") for name in OF_MANY), ("curve", None), ("lag", None)])
def test_tables_of_batches(games: pd.DataFrame, name: str, player: str | None) -> None:
    wishes = PlotOptions(player)
    whole, found = (PICTURES[name].table(each, wishes) for each in (games, batches_of(games)))
    if name in ("lag", "profile"):  # each ply has a row
        found = pd.concat(found, ignore_index=True)
    pd.testing.assert_frame_equal(found, whole, check_dtype=False, check_categorical=False)
    assert found.attrs == whole.attrs


@pytest.mark.long_except("blunders-ann")
@pytest.mark.parametrize(("name", "player"), [("profile", "ann"), ("lag", None), ("blunders", "ann")])
def test_pictures_of_batches(games: pd.DataFrame, name: str, player: str | None) -> None:
    wishes = PlotOptions(player)
    assert svg(name, batches_of(games), wishes) == svg(name, games, wishes)


@pytest.mark.parametrize("name", ["leads", "blunders"])
def test_batches_are_read_once(games: pd.DataFrame, name: str) -> None:
    batches, readings = batches_of(games), []

    def read(names: Collection[str]) -> Iterator[pd.DataFrame]:
        readings.append(names)
        return batches.read(names)

    PICTURES[name].draw(batches._replace(read=read), None, PlotOptions())
    assert len(readings) == 1


def test_a_picture_of_one_batch_draws_each_move() -> None:
    plies = posed([1000, 2000, 3000, 4000], lags_ms=[1, 2, 3, 4])
    plies.attrs["dates"] = DATES
    assert b"ply-3" in svg("lag", batches_of(plies), PlotOptions())


@pytest.mark.parametrize("name", OF_MANY)
def test_no_plies_are_no_data(name: str) -> None:
    nothing = batches_of(posed([0]).iloc[:0])
    with pytest.raises(ExportError, match=r"^No data"):
        PICTURES[name].draw(nothing, None, PlotOptions("Ann"))


def test_the_percentile_of_lags_is_that_of_numpy() -> None:
    """The rank that the histogram takes from counts."""
    for size in (1, 99, 100, 101, 1000, 4321):
        values = np.arange(size)
        assert values[(size * 99 + 99) // 100 - 1] == np.percentile(values, 99, method="inverted_cdf")
