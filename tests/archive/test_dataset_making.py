"""Data sets made without an archive: the rows are an archive's, however many processes read, and after any end."""

import errno
import gzip
import hashlib
import json
import os
import shlex
import shutil
import signal
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from exporters import dataset_parts
from exporters.dataset_parts import DATASET_EVENT_COLUMNS, DATASET_GAME_COLUMNS, DATASET_PLY_COLUMNS
from exporters.tables.columns import EVENT_COLUMNS, GAME_COLUMNS, MATCH_COLUMNS, PLY_COLUMNS
from recorder import PARSER_VERSION, Archive, Dataset
from recorder.archive.reading import importing
from recorder.archive.sharing import dataset_making
from recorder.archive.sharing.dataset_making import SourceMade, SourceTask, make_source
from recorder.errors import ExitCode
from recorder.progress import Progress
from tests.support.cli import ADJOURNED, SERVER, WATCHER, Cli

CORPUS = SERVER.parent
PGN = CORPUS / "pgn" / "ics-client-saved-2009.pgn"
SAVED = PGN.read_bytes()
LOGS = (  # tests/dataset compares others
    SERVER / "a11_adjourn_disconnect" / "observer_GuestAda.raw",
    SERVER / "b05_examine_bsetup" / "observer_GuestXk.raw",
    CORPUS / "public" / "bughouse-2005-client-saved.bpgn",
)


def table(folder: Path, name: str) -> pd.DataFrame:
    """The rows of all files that records name."""
    found = [
        pd.read_parquet(folder / part, dtype_backend="numpy_nullable")
        for record in records(folder)
        for part in record["parts"]
        if part.startswith(f"{name}/")
    ]
    return pd.concat(found, ignore_index=True)


def records(folder: Path) -> list[dict[str, Any]]:
    return sorted((json.loads(path.read_text()) for path in folder.glob("sources/*.json")), key=lambda one: one["name"])


def rows(frame: pd.DataFrame, columns: list[str]) -> pd.DataFrame:
    keys = [name for name in ("key", "ply") if name in columns]
    found = frame[columns].astype(object).sort_values(keys, ignore_index=True)
    return found.where(found.notna(), None)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def same_as_archive(folder: Path, source: Path, target: Path) -> None:
    """Import a source into an archive of its own and compare its rows."""
    everything = ["examined", "setup", "empty"]
    with Archive(target) as archive:
        (outcome,) = archive.import_logs(source, date="2020-01-31").outcomes
        games, plies = archive.game_table(include=everything), archive.plies(include=everything)
        events, matches = archive.events(include=everything), archive.matches()
    of_matches = [column for column in (*PLY_COLUMNS, *MATCH_COLUMNS) if column.name in matches]
    for name, expected, columns in (
        ("games", games, GAME_COLUMNS),
        ("plies", plies, PLY_COLUMNS),
        ("events", events, EVENT_COLUMNS),
        ("plies", matches, of_matches),
    ):
        found = table(folder, name)
        names = [column.name for column in columns]
        found = found[found["match"].notna()] if "match" in names else found
        pd.testing.assert_frame_equal(
            rows(found[found["source"] == outcome.sha256], names), rows(expected, names), obj=f"{name} of {source}"
        )


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli(tmp_path / "no.sqlite")


@pytest.mark.long
def test_the_rows_of_each_source_are_those_of_its_archive(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    cli("convert", "--dataset", folder, "--date", "2020-01-31", *LOGS)
    for number, log in enumerate(LOGS):
        same_as_archive(folder, log, tmp_path / f"{number}.sqlite")
    assert list(table(folder, "games").columns) == [column.name for column in DATASET_GAME_COLUMNS]
    assert list(table(folder, "plies").columns) == [column.name for column in DATASET_PLY_COLUMNS]
    assert list(table(folder, "events").columns) == [column.name for column in DATASET_EVENT_COLUMNS]


def test_files_are_of_one_variant_and_month(cli: Cli, tmp_path: Path) -> None:
    cli("convert", "--dataset", tmp_path / "games", PGN, CORPUS / "ficsgames" / "2009-wild5.pgn")
    (record,) = [one for one in records(tmp_path / "games") if one["name"].endswith("wild5.pgn")]
    names = list(record["parts"])
    stem = f"{record['source'][:16]}-0.parquet"
    assert f"games/2009/{stem}" in names
    assert all(name.endswith(f"/{stem}") for name in names)
    assert any(name.startswith("plies/wild%2f5/2009/") for name in names)
    for name, count in record["parts"].items():
        found = pd.read_parquet(tmp_path / "games" / name)
        assert len(found) == count
        assert set(found["source"]) == {record["source"]}


@pytest.mark.long
@pytest.mark.usefixtures("divided")
def test_processes_change_nothing(cli: Cli, tmp_path: Path) -> None:
    """Not even where games have equal keys."""
    saved = tmp_path / "saved.pgn"
    saved.write_bytes(SAVED + b"\n\n" + SAVED)
    for jobs in (1, 2):
        cli("convert", "--dataset", tmp_path / f"jobs{jobs}", "--jobs", jobs, "--date", "2020-01-31", saved, ADJOURNED)
    assert contents(tmp_path / "jobs2") == contents(tmp_path / "jobs1")
    same_as_archive(tmp_path / "jobs1", saved, tmp_path / "archive.sqlite")


@pytest.mark.long
def test_what_is_written_in_several_steps_is_joined(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataset_parts, "_PLIES_AT_ONCE", 100)
    cli("convert", "--dataset", tmp_path / "steps", "--jobs", 1, PGN)
    monkeypatch.undo()
    cli("convert", "--dataset", tmp_path / "once", "--jobs", 1, PGN)
    with Dataset(tmp_path / "steps") as steps, Dataset(tmp_path / "once") as once:
        pd.testing.assert_frame_equal(steps.plies(), once.plies())
        pd.testing.assert_frame_equal(steps.events(), once.events())
    assert contents(tmp_path / "steps").keys() == contents(tmp_path / "once").keys()


def test_logs_are_added_and_others_stay(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    cli("convert", "--dataset", folder, WATCHER)
    before = contents(folder)
    assert (
        "is a data set already; use --force to replace it, or `convert --update`"
        in cli("convert", "--dataset", folder, PGN, code=5).stderr
    )
    assert contents(folder) == before
    copy = tmp_path / "copy.raw"
    copy.write_bytes(WATCHER.read_bytes())
    said = cli("convert", "--dataset", folder, "--update", copy, PGN, PGN.parent / "icc-saved-2012.pgn").stdout
    assert [line.partition(": ")[2] for line in said.splitlines()] == [
        "unchanged",
        "34 games, 2,692 plies",
        "1 game, 33 plies",
    ]
    after = contents(folder)
    assert {name for name in before if after[name] != before[name]} == {"manifest.json"}
    record = next(path for path in folder.glob("sources/*.json") if str(WATCHER) in path.read_text())
    record.write_text(record.read_text().replace(f'"parser_version": "{PARSER_VERSION}"', '"parser_version": "0"'))
    said = cli("convert", "--dataset", folder, "--update", WATCHER, PGN).stdout
    assert said.splitlines()[0] == f"{WATCHER}, rebuilt: 5 games, 122 plies"
    assert contents(folder) == after


def test_a_log_that_has_grown_takes_the_place_of_its_earlier_part(cli: Cli, tmp_path: Path) -> None:
    """So does one of another name, and the earlier part is not added again."""
    log, whole, part, folder = (tmp_path / name for name in ("a.pgn", "b.pgn", "a.pgn.gz", "games"))
    words = ("convert", "--dataset", folder, "--jobs", "1")
    text = (PGN.parent / "icc-saved-2012.pgn").read_bytes()
    log.write_bytes(text)
    part.write_bytes(gzip.compress(text))
    cli(*words, "--date", "2020-01-31", log)
    log.write_bytes(text + b"\n\n" + text.replace(b"JosephW", b"Joseph"))
    assert cli(*words, "--update", log).stdout.startswith(f"{log}, grew: 2 games, 66 plies\n")
    (record,) = records(folder)
    assert (record["games"], record["options"]["date"]) == (2, "2020-01-31")
    assert cli(*words, "--update", part).stdout == f"{part}: an earlier part of {log}; nothing new\n"
    shutil.copy(log, whole)
    with whole.open("ab") as out:
        out.write(b"\n\n" + text.replace(b"JosephW", b"Jose"))
    said = cli(*words, "--update", log, part, whole).stdout.splitlines()
    assert said[:3] == [
        f"{log}: an earlier part of {whole}; nothing new",
        f"{part}: an earlier part of {whole}; nothing new",
        f"{whole}, grew: 3 games, 99 plies",
    ]
    assert [record["games"] for record in records(folder)] == [3]
    assert len(table(folder, "games")) == len(pd.concat(map(pd.read_parquet, folder.glob("games/**/*.parquet")))) == 3
    cli("convert", "--dataset", tmp_path / "once", "--jobs", "1", "--date", "2020-01-31", log, part, whole)
    assert contents(tmp_path / "once") == contents(folder)


def test_an_earlier_part_is_added_where_the_longer_log_cannot_be_read(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = tmp_path / "whole.pgn"
    saved = PGN.parent / "icc-saved-2012.pgn"
    whole.write_bytes(saved.read_bytes() + b"\n")

    def failing(task: SourceTask, progress: Progress) -> SourceMade:
        if task.source.path == whole:
            task = replace(task, source=replace(task.source, error="no"))
        return make_source(task, progress)

    monkeypatch.setattr(dataset_making, "make_source", failing)
    cli("convert", "--dataset", tmp_path / "games", "--jobs", "1", whole, saved, code=3)
    assert [record["name"] for record in records(tmp_path / "games")] == [str(saved)]


def test_only_a_data_set_is_replaced(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    assert "is no data set" in cli("convert", "--dataset", folder, "--force", WATCHER, code=5).stderr
    assert (folder / "notes.txt").read_text() == "mine"
    cli("convert", "--dataset", tmp_path / "games", WATCHER)
    cli("convert", "--dataset", tmp_path / "games", "--force", PGN)
    assert [record["name"] for record in records(tmp_path / "games")] == [str(PGN)]


def test_nothing_is_made_where_no_log_is_read(cli: Cli, tmp_path: Path) -> None:
    """A name that is mistyped, a folder without logs, a log that cannot be decompressed."""
    folder, log = tmp_path / "games", tmp_path / "log.gz"
    (tmp_path / "logs").mkdir()
    log.write_bytes(b"\x1f\x8b nothing")
    for words in ((tmp_path / "nofolder",), (tmp_path / "logs",), (log,)):
        answer = cli("convert", "--dataset", folder, *words, code=3)
        assert str(words[0]) in answer.stderr
        assert "The data set" not in answer.stderr
        assert not folder.exists()
    saved = PGN.parent / "icc-saved-2012.pgn"
    cli("convert", "--dataset", folder, saved)
    before = contents(folder)
    said = cli("convert", "--dataset", folder, "--force", tmp_path / "nofolder", code=3).stderr
    assert "no such file or folder" in said
    assert contents(folder) == before


def dying(task: SourceTask, progress: Progress) -> SourceMade:
    """As ``make_source``; kills its process in the middle of the first source."""
    if task.place[0] == 1:

        def kill(*_: object, **__: object) -> None:
            os.kill(os.getpid(), signal.SIGKILL)

        dataset_making.__dict__["store"] = kill  # in this process only
    return make_source(task, progress)


@pytest.mark.long
@pytest.mark.usefixtures("divided")
def test_a_process_that_dies_costs_its_source_until_the_next_run(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    saved = tmp_path / "saved.pgn"
    saved.write_bytes(SAVED)
    words = ("convert", "--dataset", tmp_path / "games")
    with monkeypatch.context() as patch:
        patch.setattr(dataset_making, "make_source", dying)
        said = cli(*words, "--jobs", 2, saved, WATCHER, code=3).stderr
    assert f"{saved}: the process that read it ended with signal 9; nothing of it is in the data set" in said
    assert not json.loads((tmp_path / "games" / "manifest.json").read_text())["complete"]
    assert [record["name"] for record in records(tmp_path / "games")] == [str(WATCHER)]
    stem = hashlib.sha256(saved.read_bytes()).hexdigest()[:16]
    for name in (f".{stem}-0.parquet.1-00.part", f"{stem}-0.parquet"):
        next((tmp_path / "games" / "games").iterdir(), tmp_path).joinpath(name).write_bytes(b"unfinished")
    cli(*words, "--jobs", 1, "--update", saved, WATCHER)
    cli("convert", "--dataset", tmp_path / "other", "--jobs", 1, saved, WATCHER)
    assert contents(tmp_path / "games") == contents(tmp_path / "other")


def stopping(task: SourceTask, progress: Progress) -> SourceMade:
    """As ``make_source``; the user presses Ctrl-C in the second source."""
    if task.place[0] == 2:
        raise KeyboardInterrupt
    return make_source(task, progress)


@pytest.mark.long
def test_ctrl_c_leaves_the_sources_that_were_finished(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "games"
    with monkeypatch.context() as patch:
        patch.setattr(dataset_making, "make_source", stopping)
        cli("convert", "--dataset", folder, WATCHER, PGN, code=None)
    assert [record["name"] for record in records(folder)] == [str(WATCHER)]
    assert json.loads((folder / "manifest.json").read_text())["complete"] is False
    said = f"{folder} is not complete, because `convert` still writes it, was interrupted or failed: repeat `ics-recor"
    assert cli("clocks", "--by", "variant", "--dataset", folder).stderr.startswith(said)
    with pytest.warns(UserWarning, match="is not complete"):
        Dataset(folder).close()
    said = cli("convert", "--dataset", folder, "--update", WATCHER, PGN).stdout
    Dataset(folder).close()
    assert [line.partition(": ")[2] for line in said.splitlines()] == ["unchanged", "34 games, 2,692 plies"]


def test_a_data_set_without_a_log_that_an_error_of_this_program_ended_is_not_complete(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "games"
    words = ("convert", "--dataset", folder, "--jobs", "1", WATCHER, PGN)

    def failing(archive: Any, facts: dict[str, Any], *how: Any, **more: Any) -> Any:
        if facts["path"] == str(PGN):
            raise ZeroDivisionError
        return importing.store(archive, facts, *how, **more)

    monkeypatch.setenv("ICS_RECORDER_CONTAINMENT", "on")
    with monkeypatch.context() as patch:
        patch.setattr(dataset_making, "store", failing)
        said = cli(*words, code=3).stderr
    assert f"{PGN}: an error of this program, please report it: ZeroDivisionError" in said
    assert json.loads((folder / "manifest.json").read_text())["complete"] is False
    cli(*words, "--update")
    assert json.loads((folder / "manifest.json").read_text())["complete"] is True


@pytest.mark.long
def test_files_that_are_missing_or_cut_are_written_again(cli: Cli, tmp_path: Path) -> None:
    folder = tmp_path / "games"
    words = ("convert", "--dataset", folder, "--jobs", "1")
    saved = PGN.parent / "icc-saved-2012.pgn"
    remedy = shlex.join(["ics-recorder", "convert", "--dataset", str(folder), "--update", str(saved)])
    cli(*words, saved)
    before = contents(folder)
    path = next(folder.glob("plies/**/*.parquet"))
    for data, said in (
        (b"PAR1", f"{path} has 4 bytes, but {path.stat().st_size:,} were written"),
        (None, "is missing"),
    ):
        path.unlink()
        if data is not None:
            path.write_bytes(data)
        for reading in (("clocks", "--by", "variant"), ("plot", "leads", "-o", tmp_path / "leads.svg")):
            answer = cli(*reading, "--dataset", folder, code=4)
            assert said in answer.stderr
            assert answer.stderr.endswith(f"`{remedy}`.\n")
        assert said in cli(*words, "--update", PGN.parent / "ics-client-saved-2009.pgn", code=3).stderr
        assert ", rebuilt: 1 game" in cli(*words, "--update", saved).stdout
        cli("clocks", "--by", "variant", "--dataset", folder)
    after = contents(folder)
    assert {name: after[name] for name in before if name != "manifest.json"} == {
        name: data for name, data in before.items() if name != "manifest.json"
    }


def test_a_file_that_changes_or_has_no_known_size_is_named(cli: Cli, tmp_path: Path) -> None:
    """Of a data set without sizes in its records, too."""
    folder = tmp_path / "games"
    cli("convert", "--dataset", folder, PGN.parent / "icc-saved-2012.pgn")
    (record,) = folder.glob("sources/*")
    values = json.loads(record.read_text())
    del values["part_bytes"]
    record.write_text(json.dumps(values))
    cli("clocks", "--by", "variant", "--dataset", folder)
    path = next(folder.glob("plies/**/*.parquet"))
    path.write_bytes(path.read_bytes()[:-100])
    said = cli("clocks", "--by", "variant", "--dataset", folder, code=4).stderr
    assert said.startswith(f"Error: {path} cannot be read (")
    assert "remove this file, and repair the data set with `ics-recorder convert" in said


class _Full(FileIO):
    """A file on a disk on which little room is left."""

    def write(self, data: Any, /) -> int:
        if self.tell() + len(data) > 2000:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return super().write(data)


def _open(path: Path, mode: str, **how: Any) -> Any:
    return _Full(path, mode) if mode == "wb" else open(path, mode, **how)  # noqa: PTH123


def test_a_full_disk_ends_the_run(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next run adds what is missing."""
    words = ("convert", "--jobs", "1", "--dataset", tmp_path / "games", PGN.parent / "icc-saved-2012.pgn", PGN)
    with monkeypatch.context() as patches:
        patches.setattr(Path, "open", lambda path, mode="r", **how: _open(path, mode, **how))
        said = cli(*words, code=5).stderr
    assert said.endswith(
        f"{tmp_path / 'games'}: no space left to write the data set; make room and repeat with --update.\n"
    )
    assert not json.loads((tmp_path / "games" / "manifest.json").read_text())["complete"]
    assert not [name for name in contents(tmp_path / "games") if "/." in name]
    assert "has 35 games" in cli(*words, "--update").stderr


def test_files_that_no_record_names_are_not_read(cli: Cli, tmp_path: Path) -> None:
    cli("convert", "--dataset", tmp_path / "games", WATCHER)
    next(tmp_path.glob("games/sources/*.json")).unlink()
    said = cli("clocks", "--dataset", tmp_path / "games", "--by", "phase", code=4).stderr
    assert "has no finished source: `ics-recorder convert --dataset" in said


def test_the_manifest_counts_games_that_several_sources_have(cli: Cli, tmp_path: Path) -> None:
    more = tmp_path / "more.pgn"
    more.write_bytes((PGN.parent / "icc-saved-2012.pgn").read_bytes() + b"\n\n" + PGN.read_bytes())
    cli("convert", "--dataset", tmp_path / "games", PGN, more)
    manifest = json.loads((tmp_path / "games" / "manifest.json").read_text())
    assert {name: manifest[name] for name in ("sources", "games", "plies", "shared_games", "complete")} == {
        "sources": 2,
        "games": 69,
        "plies": 2 * 2692 + 33,
        "shared_games": 34,
        "complete": True,
    }


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--update", "-o", "x.pgn"), "--update adds logs to a data set"),
        (("--dataset", "x", "-o", "x.pgn"), "--output has no meaning with --dataset"),
        (("--dataset", "x", "--complete"), "--complete has no meaning"),
        (("--dataset", "x", "--update", "--force"), "give one of them"),
    ],
)
def test_options_that_contradict_each_other_are_refused(cli: Cli, words: tuple[str, ...], said: str) -> None:
    assert said in cli("convert", WATCHER, *words, code=2).stderr


def test_what_continues_after_an_interrupt_is_printed(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_words: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(dataset_making, "write_record", interrupt)
    words = ("convert", WATCHER, "--dataset", tmp_path / "set")
    said = cli(*words, code=ExitCode.INTERRUPTED).stderr
    assert "repeat the command with --update." in said
    assert "Interrupted; repeat the command." in cli(*words, "--force", code=ExitCode.INTERRUPTED).stderr
