"""The tables of sides, games and events."""

from pathlib import Path

import pandas as pd
import pytest

from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, SIDE_COLUMNS, Column
from recorder import Archive
from recorder.errors import ExportError
from tests.support.cli import Cli

EVERYTHING = {"include": ["examined", "setup", "empty"]}


@pytest.mark.parametrize(
    ("table", "columns"), [("sides", SIDE_COLUMNS), ("game_table", GAME_COLUMNS), ("events", EVENT_COLUMNS)]
)
def test_columns_and_dtypes(corpus_archive: Archive, table: str, columns: tuple[Column, ...]) -> None:
    for filters in (EVERYTHING, {"since": "2999"}):
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
    games, sides = corpus_archive.game_table(), corpus_archive.sides()
    assert list(games["key"]) == list(sides["key"][::2])
    assert list(games["white_id"]) == list(sides["player_id"][::2])
    assert list(games["black_id"]) == list(sides["player_id"][1::2])


def test_events_have_kind_and_ply(corpus_archive: Archive) -> None:
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
    for wrong in ("fen", ["boards"]):
        with pytest.raises(ExportError, match="extra columns"):
            corpus_archive.plies(extra=wrong)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_an_exported_table_of_games_is_the_frame_of_games(corpus_archive: Archive, tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"games.{suffix}"
    message = Cli(corpus_archive.path)("export", "games", "--include", "examined,setup,empty", "-o", file).stderr
    expected = corpus_archive.game_table(include=["examined", "setup", "empty"])
    assert message.startswith(f"Wrote {len(expected)} games, {expected['plies'].sum():,} plies to {file}.\n")
    if suffix == "csv":
        found = pd.read_csv(file, dtype=str, keep_default_na=False).replace("", None)
    else:
        found = pd.read_parquet(file, dtype_backend="numpy_nullable")
    assert list(found) == list(expected)
    for column in GAME_COLUMNS:
        wanted = [None if pd.isna(value) else value for value in expected[column.name].tolist()]
        values = [None if pd.isna(value) else value for value in found[column.name].tolist()]
        if suffix == "csv" and column.kind == "boolean":
            wanted = [None if value is None else str(value).lower() for value in wanted]
        elif suffix == "csv" and column.kind == "instant":
            values = [None if value is None else pd.Timestamp(value) for value in values]
        elif suffix == "csv":
            wanted = [None if value is None else str(value) for value in wanted]
        assert values == wanted, column.name


def test_a_table_of_games_is_not_appended_to(corpus_archive: Archive, tmp_path: Path) -> None:
    message = Cli(corpus_archive.path)("export", "games", "--append", "-o", tmp_path / "games.csv", code=2).stderr
    assert "--append adds to JSON Lines only" in message
