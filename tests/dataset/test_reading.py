"""``recorder.Dataset`` gives what ``recorder.Archive`` gives of the same logs."""

import errno
import gzip
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from exporters.measures import functions as measures
from recorder import Archive, Dataset, StorageError, make_dataset
from storage.dataset.files import open_folder, read_manifest
from tests.support.cli import SERVER, Cli

FILTERS: tuple[dict[str, Any], ...] = (
    {},
    {"include": ["examined", "setup", "empty"]},
    {"last": 7},
    {"guests": False, "computers": False},
    {"variant": "crazyhouse", "complete": True},
    {"since": "2009-01-01", "until": "2015-12-31"},
    {"rated": True, "result": ["1-0", "0-1"], "server": "freechess.org"},
    {"category": "blitz", "player": "*LMS*n"},
    {"me": "GuestObsA", "last": 3},
)


@pytest.mark.long_except("{}")
@pytest.mark.parametrize("filters", FILTERS, ids=str)
def test_tables_are_those_of_the_archive(archive: Archive, dataset: Dataset, filters: dict[str, Any]) -> None:
    expected = archive.game_table(**filters)
    assert len(expected)
    assert_frame_equal(dataset.game_table(**filters), expected)
    assert_frame_equal(dataset.sides(**filters), archive.sides(**filters))
    assert_frame_equal(dataset.plies(**filters), archive.plies(**filters))
    assert_frame_equal(dataset.events(**filters), archive.events(**filters))
    assert_frame_equal(dataset.matches(**filters), archive.matches(**filters))


def test_columns_on_request_are_those_of_the_archive(archive: Archive, dataset: Dataset) -> None:
    extra = ("eco", "opening", "event")
    found = dataset.plies(extra=extra)
    assert_frame_equal(found, archive.plies(extra=extra))
    assert min(found[name].nunique() for name in extra) > 1


@pytest.mark.long
def test_batches_are_those_of_the_archive(archive: Archive, dataset: Dataset) -> None:
    ours, theirs = list(dataset.batches(700)), list(archive.batches(700))
    assert len(ours) == len(theirs) > 2
    for one, other in zip(ours, theirs, strict=True):
        assert_frame_equal(one, other)


def test_a_game_has_its_moves_and_clocks(archive: Archive, dataset: Dataset) -> None:
    for one, other in zip(dataset.games(), archive.games(), strict=True):
        assert (repr(one), one.day, one.result, one.complete) == (repr(other), other.day, other.result, other.complete)
        kept = slice(0, 8)
        assert [ply[kept] for ply in one.plies] == [ply[kept] for ply in other.plies]
        assert [ply.precision for ply in one.plies] == [ply.precision for ply in other.plies]
    assert repr(dataset["last~2"]) == repr(archive["last~2"])
    with pytest.raises(StorageError, match="No game has a key that begins with 00000000"):
        dataset["00000000"]


@pytest.mark.long
def test_a_match_of_two_sources_is_there_twice(cli: Cli, tmp_path: Path) -> None:
    log = SERVER / "a12_bughouse" / "observer_GuestBga.raw.gz"
    again = tmp_path / "again.raw"
    again.write_bytes(gzip.decompress(log.read_bytes())[:-2] + b" \n")  # the games have the same keys
    cli("convert", "--jobs", "1", "--dataset", tmp_path / "one", log)
    cli("convert", "--jobs", "1", "--dataset", tmp_path / "both", log, again)
    with Dataset(tmp_path / "one") as one, Dataset(tmp_path / "both") as both:
        once, twice = one.matches(), both.matches()
    assert len(once)
    for match, moves in twice.groupby("match", sort=False):
        moments = once.loc[once["match"] == match, "moment"].tolist()
        assert moves["moment"].tolist() == moments * 2


@pytest.mark.long
def test_games_without_moves(cli: Cli, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pgn"
    empty.write_text('[White "Ann"]\n[Black "Bob"]\n[Result "1-0"]\n\n1-0\n\n')
    cli("convert", "--jobs", "1", "--dataset", tmp_path / "none", empty)
    cli("convert", "--jobs", "1", "--dataset", tmp_path / "some", empty, SERVER.parent / "pgn" / "icc-saved-2012.pgn")
    with Dataset(tmp_path / "some") as some, Dataset(tmp_path / "none") as none:
        (key,) = none.game_table(include=["empty"])["key"]
        assert len(some[key].plies) == 0 == len(some.plies(keys=key, include=["empty"]))
        for ask in (lambda: none.plies(include=["empty"]), none.relation):
            with pytest.raises(StorageError, match="No game of the data set has a move"):
                ask()


@pytest.mark.long
def test_the_filters_choose_what_duckdb_computes(archive: Archive, dataset: Dataset) -> None:
    for filters in FILTERS[2::2]:
        expected = measures.time_usage(archive.plies(**filters), "variant")
        assert_frame_equal(measures.time_usage(dataset.relation(**filters), "variant"), expected)


def test_what_a_data_set_does_not_have(dataset: Dataset) -> None:
    with pytest.raises(StorageError, match="no column material or fen"):
        dataset.plies(extra=["material", "fen", "eco"])
    with pytest.raises(StorageError, match="Positions are searched in an archive only"):
        dataset.games(moves="e4 e5")


def test_only_files_that_a_record_names_are_read(folder: Path, dataset: Dataset) -> None:
    unfinished = folder / "plies" / "unfinished.parquet"
    unfinished.write_bytes(b"PAR1")
    try:
        with Dataset(folder) as again:
            assert repr(again) == repr(dataset) == f"Dataset {folder} · 48 games"
    finally:
        unfinished.unlink()  # other tests share the folder


@pytest.mark.long
def test_an_archive_is_written_as_a_data_set(archive: Archive, cli: Cli, tmp_path: Path) -> None:
    words = ("export", "plies", "--dataset", "-o", tmp_path / "games")
    cli(*words, "--include", "examined,setup,empty")
    filters: dict[str, Any] = {"include": ["examined", "setup", "empty"]}
    with Dataset(tmp_path / "games") as found:
        for table, order in (("plies", ["key", "ply"]), ("sides", ["key", "side"]), ("game_table", ["key"])):
            both = (getattr(one, table)(**filters).sort_values(order, ignore_index=True) for one in (found, archive))
            assert_frame_equal(*both)  # games that began at one moment come by their source
        assert len(found.events(**filters)) == len(archive.events(**filters))
        assert len(found.matches()) == len(archive.matches())
        key = archive["last"].key
        assert repr(found[key]) == repr(archive[key])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert "is a data set already; use --force to replace it" in cli(*words, code=5).stderr
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert "Wrote 3 games" in cli(*words, "--last", "3", "--force").stderr
    with Dataset(tmp_path / "games") as found:
        assert len(list(found.games())) == 3


def test_a_folder_that_is_no_data_set(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="there is no such data set"):
        Dataset(tmp_path / "none")
    with pytest.raises(StorageError, match="is no data set of this program"):
        Dataset(tmp_path)
    pd.DataFrame({"key": ["x"]}).to_parquet(tmp_path / "x.parquet")
    with pytest.raises(StorageError, match="is no data set of this program"):
        Dataset(tmp_path)
    with pytest.raises(StorageError, match=r"x\.parquet: there is no such data set"):
        Dataset(tmp_path / "x.parquet")
    with pytest.raises(StorageError, match=r"x\.parquet is a file, and a data set is a folder: name another"):
        make_dataset(tmp_path / "x.parquet", tmp_path / "x.parquet")


def test_a_folder_of_data_sets_or_of_a_part_of_one(folder: Path) -> None:
    with pytest.raises(StorageError, match=f"{folder.parent} is no data set, but {folder} may be one: name that"):
        Dataset(folder.parent)
    with pytest.raises(StorageError, match="games is no data set of this program"):
        Dataset(folder / "games")


def test_a_manifest_that_cannot_be_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(path: Path) -> bytes:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    monkeypatch.setattr(Path, "read_bytes", refuse)
    with pytest.raises(StorageError, match=r"manifest\.json cannot be read: Permission denied\.$"):
        read_manifest(open_folder(str(folder)))


def test_a_data_set_that_is_closed(folder: Path) -> None:
    found = Dataset(folder)
    found.close()
    for read in (found.plies, found.relation, lambda: list(found.games())):
        with pytest.raises(StorageError, match=f"^The data set {folder} is closed: open it again\\.$"):
            read()


def test_a_record_of_another_program_is_refused(folder: Path, tmp_path: Path) -> None:
    newer = Path(shutil.copytree(folder, tmp_path / "newer"))
    record = min((newer / "sources").iterdir())
    written = json.loads(record.read_text())
    record.write_text(json.dumps(written | {"schema": 99, "invented": 1}))
    with pytest.raises(StorageError, match="a newer version of this program wrote it"):
        Dataset(newer)
    record.write_text(json.dumps(written | {"schema": 1}))
    with pytest.raises(StorageError, match=r"an older version of this program wrote .* to it; write it again with"):
        Dataset(newer)
    record.write_text("[]")
    with pytest.raises(StorageError, match=r"is no record of a source: write the data set again\."):
        Dataset(newer)
