"""The tables of sides, games and events."""

from __future__ import annotations

import pandas as pd
import pytest

from exporters import Archive
from exporters.frames.columns import EVENT_COLUMNS, GAME_COLUMNS, SIDE_COLUMNS, Column
from recorder.errors import ExportError

EVERYTHING = {"include": ["examined", "setup", "empty"]}


@pytest.mark.parametrize(
    ("table", "columns"), [("sides", SIDE_COLUMNS), ("games", GAME_COLUMNS), ("events", EVENT_COLUMNS)]
)
def test_columns_and_dtypes(corpus_archive: Archive, table: str, columns: tuple[Column, ...]) -> None:
    for filters in (EVERYTHING, {"player": "nobody-at-all"}):
        found = getattr(corpus_archive, table)(**filters)
        assert {name: str(dtype) for name, dtype in found.dtypes.items()} == {c.name: c.dtype for c in columns}
        for column in columns:
            assert not (column.always and found[column.name].isna().any()), column.name
            assert not column.words or tuple(found[column.name].cat.categories) == column.words
    assert len(getattr(corpus_archive, table)(**EVERYTHING)) > 100


def test_a_side_agrees_with_its_plies(corpus_archive: Archive) -> None:
    plies, sides = corpus_archive.plies(), corpus_archive.sides()
    assert list(sides["side"][:2]) == ["white", "black"]
    assert sides.groupby("key", sort=False, observed=True).size().eq(2).all()
    counted = plies.groupby("key").size()
    assert sides.set_index("key")["plies"].astype("int64").groupby(level=0).first().equals(counted.rename("plies"))
    merged = plies.merge(sides, on=["key", "side"], suffixes=("", "_of_side"))
    assert len(merged) == len(plies)
    for mine, other in (("mover", "player"), ("mover_id", "player_id"), ("opponent_id", "opponent_id_of_side")):
        assert (merged[mine].astype("string") == merged[other].astype("string")).all()
    for mine, other in (("mover_score", "score"), ("base_s", "base_s_of_side"), ("mover_rating", "player_rating")):
        pd.testing.assert_series_equal(merged[mine], merged[other], check_names=False)


def test_games_are_those_of_the_sides(corpus_archive: Archive) -> None:
    games, sides = corpus_archive.games(), corpus_archive.sides()
    assert list(games["key"]) == list(sides["key"][::2])
    assert list(games["white_id"]) == list(sides["player_id"][::2])
    assert list(games["black_id"]) == list(sides["player_id"][1::2])


def test_events_tell_what_happened(corpus_archive: Archive) -> None:
    events = corpus_archive.events()
    takebacks = events[events["kind"] == "takeback"]
    assert takebacks["value"].min() >= 1
    assert takebacks["text"].notna().all()
    assert {"result", "chat", "notice"} <= set(events["kind"])
    one = corpus_archive.events(keys=takebacks["key"].iloc[0])
    assert set(one["key"]) == {takebacks["key"].iloc[0]}


def test_columns_on_request(corpus_archive: Archive) -> None:
    assert list(corpus_archive.plies(last=1, extra=["fen"]).columns)[-1] == "fen"
    assert "fen" not in corpus_archive.plies(last=1, extra=["material"])
    for wrong in ("fen", ["board"]):
        with pytest.raises(ExportError, match="extra columns"):
            corpus_archive.plies(extra=wrong)
