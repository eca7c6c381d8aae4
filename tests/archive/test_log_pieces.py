"""Large raw logs read in pieces: the archive is the one that an undivided reading makes, row by row."""

from __future__ import annotations

import gzip
import os
import re
import signal
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from benchmarks.generate import make
from recorder.archive import log_pieces, log_readers, pieces, reading_ahead, workers
from recorder.archive.importing import import_source
from recorder.archive.inputs import Input, ReadOptions
from recorder.archive.log_pieces import LogPieces
from recorder.archive.log_readers import LogPiece, PieceRead, Reach, read_piece
from recorder.archive.partial_logs import PartialLogs
from recorder.archive.pieces import Pieces
from recorder.archive.storing import Outcome
from recorder.archive.workers import Channel, Workers
from recorder.containment import SWITCH
from storage import ArchiveStore
from tests.archive.test_reading_ahead import ROOT, both, contents, import_with
from tests.support.cli import SERVER, Cli
from tests.support.effort import examples
from tests.support.icc import session


class Here:
    """Reads pieces in this process."""

    jobs = 2

    def submit(self, function: Callable[[Any, Any], Any], task: object, said: Callable[[Any], object]) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(function(task, SimpleNamespace(say=said)))
        except OSError as error:
            future.set_exception(error)
        return future


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Logs of 16 kB and more are divided. Returns, for each piece behind another one, whether reading went on there."""
    monkeypatch.setattr(log_pieces, "LOG_PIECE_BYTES", 48 << 10)
    monkeypatch.setattr(log_pieces, "_REACH", Reach(2048, 24, 6))
    monkeypatch.setattr(log_pieces, "_GUESS_STEPS", 2)
    monkeypatch.setattr(pieces, "_DIVIDED_LOG_BYTES", 16 << 10)
    monkeypatch.setattr(pieces, "_DIVIDED_BYTES", 8192)
    monkeypatch.setattr(workers, "_WORTH_BYTES", 1)
    monkeypatch.setattr(reading_ahead, "PIECE_BYTES", 4096)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    found: list[bool] = []
    agreement = LogPieces._agreement

    def noted(self: LogPieces, *arguments: Any) -> Any:
        agreed = agreement(self, *arguments)
        found.append(agreed is not None)
        return agreed

    monkeypatch.setattr(LogPieces, "_agreement", noted)
    return found


@cache
def logs(pattern: str, most: int | None = None) -> bytes:
    """Raw logs of observers, one after the other; the pattern is of the folder and the end of the name."""
    folder, _, who = pattern.partition("*")
    found = sorted(SERVER.glob(f"{folder}*/observer_*{who}.raw*"))[:most]
    return b"".join(gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes() for path in found)


@pytest.fixture(scope="session")
def boards(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A session of 32 boards in which a game is always open."""
    return make(tmp_path_factory.mktemp("boards"), 450, 3).log.read_bytes()


def compare(tmp_path: Path, data: bytes, *, waits: bool = False, **options: Any) -> Outcome:
    """Read a log as a whole and in pieces; the archives must be equal. Returns the outcome of the pieces.

    ``waits``: a movelist of a game may come 128 kB later, else 8.
    """
    path = tmp_path / "session.log"
    path.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("recorder.tracking.game_lines._ENDED_WAIT_BYTES", 1 << 17 if waits else 1 << 13)
        return _compare(tmp_path, path, **options)


def _compare(tmp_path: Path, path: Path, **options: Any) -> Outcome:
    outcomes = []
    for number, divided in enumerate((None, Pieces(Here(), tmp_path))):  # type: ignore[arg-type]
        where = tmp_path / f"{number}.db"
        with ArchiveStore.open(str(where), create=True) as archive:
            outcomes.append(
                import_source(
                    archive,
                    Input(str(path), path),
                    ReadOptions(**options),
                    partial_logs=PartialLogs(archive),
                    pieces=divided,
                )
            )
    expected, found = outcomes
    assert (found.status, found.message, found.games) == (expected.status, expected.message, expected.games)
    assert found.report == expected.report
    assert contents(tmp_path / "1.db") == contents(tmp_path / "0.db")
    return found


@pytest.mark.long
def test_a_session_in_which_a_game_is_always_open(
    tmp_path: Path, boards: bytes, small: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log_pieces, "_REACH", Reach(16 << 10, 170))
    outcome = compare(tmp_path, boards)
    assert outcome.games >= 450
    assert small == [True]


@pytest.mark.parametrize(
    "pattern",
    [
        "a06*",
        "a09*Blk",
        "a09*Ivc",
        "a10*a",
        "a12*",
        "b04*",
        "b05*",
        "b08*",
        "b09*",
        "x01*",
    ],
)
def test_sessions_of_one_user(tmp_path: Path, pattern: str, small: list[bool]) -> None:
    """Chat with frames in it, takebacks, variants, examinations, reply blocks, adjourned games."""
    one = logs(pattern, most=1)
    compare(tmp_path, one * (250_000 // len(one)))
    assert any(small)


@pytest.mark.parametrize("pattern", ["a1*", "b0[4-8]*", "c0[4-8]*", "[ac]0[36]*"])
def test_sessions_of_several_users_and_servers(tmp_path: Path, pattern: str, small: list[bool]) -> None:
    compare(tmp_path, logs(pattern))
    assert False in small


@given(st.data())
@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck), deadline=None)
def test_pieces_of_any_size(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_pieces, "LOG_PIECE_BYTES", data.draw(st.integers(20_000, 100_000)))
        reach = Reach(*(data.draw(st.integers(*limits)) for limits in ((500, 5000), (1, 100), (0, 9))))
        patch.setattr(log_pieces, "_REACH", reach)
        one = data.draw(st.sampled_from(["a06*", "a09*Blk", "a10*", "b04*", "b05*", "b07*", "b08*", "c04*", "c08*"]))
        other = data.draw(st.sampled_from(["a10*", "a12*", "b07*", "b09*", "c06*", "c08*"]))
        compare(
            tmp_path_factory.mktemp("logs"),
            logs(one, most=1) * 3 + logs(other, most=1) + logs(one, most=1) * 3,
            chat="all",
        )


@pytest.mark.parametrize(("one", "other"), [("a07*I", "a07*J"), ("b08*", "b05*")])
def test_games_of_one_number_at_one_time(tmp_path: Path, one: str, other: str) -> None:
    """Two connections in one log: readers that go on at a state would mix their games."""
    parts = [re.findall(rb"(?:[^\n]*\n\r?){1,5}", logs(pattern, most=1) * 4) for pattern in (one, other)]
    compare(tmp_path, b"".join(lines for both in zip(*parts, strict=False) for lines in both)[:250_000])


def test_datagrams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In this session a game never ends."""
    monkeypatch.setattr(log_pieces, "LOG_PIECE_BYTES", 6000)
    monkeypatch.setattr(log_pieces, "_REACH", Reach(500, 12, 4))
    one = session()
    compare(tmp_path, one * (24_000 // len(one)))


TITLED = b"fics% Alekhine(GM)(50): good evening\r\nfics% "


def test_titles_of_the_first_lines_are_those_of_all_games(tmp_path: Path, small: list[bool]) -> None:
    compare(tmp_path, TITLED + logs("a06*", most=1) * 6)
    assert any(small)
    games = Cli(tmp_path / "1.db")("games", "--json").stdout
    assert games.count("(GM)") > 2


def test_more_titles_and_shapes_than_a_reader_learns(
    tmp_path: Path, small: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes = b"".join(f"fics% odd {'x' * number} line\r\n".encode() for number in range(1, 80))
    monkeypatch.setattr(log_readers, "MAX_SHAPES", 60)
    compare(tmp_path, shapes + logs("a06*", most=1) * 4)
    assert not any(small)


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data.replace(b"fics% ", b"mine% "), id="prompt"),
        pytest.param(lambda data: data.replace(b"\r\n", b"\n"), id="LF"),
        pytest.param(lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\n\r"), id="LFCR"),
        pytest.param(lambda data: data.replace(b"\r\n", b"\r"), id="CR"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="UTF-8-mark"),
        pytest.param(lambda data: data[:-70], id="cut-off"),
        pytest.param(lambda data: data[: len(data) // 2] + b"\xff\x00\x1b[" * 5_000 + data, id="garbage"),
        pytest.param(lambda data: b"x" * 100_000 + data, id="no-line"),
    ],
)
def test_lines_of_every_form(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    compare(tmp_path, change(logs("a06*", most=1) * 5))


def test_games_that_stay_open_are_read_on_from_the_last_agreement(tmp_path: Path, small: list[bool]) -> None:
    compare(tmp_path, logs("a06*", most=1) * 2 + logs("a07*I", most=1) * 2, waits=True)
    assert False in small


@pytest.mark.long
def test_several_processes(tmp_path: Path) -> None:
    path, packed = tmp_path / "a.log", tmp_path / "b.log.gz"
    path.write_bytes(logs("x01*", most=1) * 3)
    packed.write_bytes(gzip.compress(logs("a06*", most=1) * 6))
    (report,) = both(tmp_path, [path, packed])
    assert [outcome.status for outcome in report.outcomes] == ["new", "new"]


def test_progress_is_of_what_was_read(tmp_path: Path) -> None:
    one = logs("b04*", most=1)
    path = tmp_path / "session.log"
    path.write_bytes(one * (250_000 // len(one)))
    size_bytes, shown = path.stat().st_size, []
    with ArchiveStore.open(str(tmp_path / "a.db"), create=True) as archive:
        import_source(
            archive,
            Input(str(path), path),
            ReadOptions(),
            partial_logs=PartialLogs(archive),
            pieces=Pieces(Here(), tmp_path),  # type: ignore[arg-type]
            progress=lambda *step: shown.append(step),
        )
    hashed = [step for step in shown if step[0] == f"{path} (hash)"]
    read = [step for step in shown if step[0] == str(path)]
    assert shown == hashed + read
    assert hashed[-1][1:] == read[-1][1:] == (size_bytes, size_bytes)
    assert len(read) > 3
    assert read == sorted(read)


def test_a_divided_log_that_has_grown(tmp_path: Path, small: list[bool]) -> None:
    path, data = tmp_path / "session.log", logs("a06*", most=1) * 6
    for jobs, name in ((1, "one.db"), (2, "two.db")):
        for end in (len(data) // 2, len(data)):
            path.write_bytes(data[:end])
            report = import_with(jobs, tmp_path / name, [path])
    assert report.outcomes[0].status == "grown"
    assert any(small)
    assert contents(tmp_path / "two.db") == contents(tmp_path / "one.db")


@pytest.mark.long
def test_erased_players_and_bytes_that_are_not_kept(tmp_path: Path, small: list[bool]) -> None:
    path = tmp_path / "session.log"
    path.write_bytes(logs("a06*", most=1) * 6)
    one, two = Cli(tmp_path / "one.db"), Cli(tmp_path / "two.db")
    one("import", SERVER / "b01_standard" / "observer_Watcher.raw")
    one("forget", "--yes", "Capablanca")
    one("db", "backup", tmp_path / "two.db")
    one("import", "--jobs", 1, path)
    two("import", "--jobs", 2, path)
    assert contents(tmp_path / "two.db") == contents(tmp_path / "one.db")
    for jobs in (1, 2):
        Cli(tmp_path / f"{jobs}.db")("import", "--no-keep-source", "--jobs", jobs, path)
    assert contents(tmp_path / "2.db") == contents(tmp_path / "1.db")


def test_an_error_of_this_program_is_reported_as_by_one_reader(
    tmp_path: Path, small: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    from recorder.tracking import tracker
    from recorder.tracking.holdings import take_holdings

    monkeypatch.setenv(SWITCH, "on")

    read = take_holdings

    def failing(run: Any, event: Any) -> Any:
        if event.line.offset % 50 == 0 and event.line.offset > 260_000:
            raise ValueError("a test's")
        return read(run, event)

    monkeypatch.setattr(tracker, "take_holdings", failing)
    compare(tmp_path, logs("a03*", most=1) * 4)
    assert False in small


def test_a_log_that_becomes_shorter_is_not_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "session.log"
    path.write_bytes(logs("a06*", most=1) * 6)
    read = LogPieces.read

    def cut(self: LogPieces) -> Any:
        os.truncate(path, 200_000)
        return read(self)

    monkeypatch.setattr(LogPieces, "read", cut)
    report = import_with(2, tmp_path / "games.db", [path])
    assert report.outcomes[0].message == f"{path}: the file was truncated while being read; import it again"
    with ArchiveStore.open(str(tmp_path / "games.db")) as archive:
        assert archive.sources() == []


@pytest.mark.parametrize("at", [0, 3])
def test_a_full_temporary_folder_costs_nothing(
    tmp_path: Path, small: list[bool], monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """Neither where a process writes games nor where the pieces are written."""

    def full_piece(piece: LogPiece, channel: Channel) -> PieceRead:
        if piece.offset >= at * (48 << 10):
            raise OSError(28, "No space left on device")
        return read_piece(piece, channel)

    monkeypatch.setattr(log_pieces, "read_piece", full_piece)
    compare(tmp_path, logs("a06*", most=1) * 6)
    assert any(small) == (at > 0)


def test_no_space_for_pieces_costs_nothing(tmp_path: Path, small: list[bool], monkeypatch: pytest.MonkeyPatch) -> None:
    make = LogPieces._next_file

    def full(self: LogPieces) -> Any:
        if self._files == 15:
            raise OSError(28, "No space left on device")
        return make(self)

    monkeypatch.setattr(LogPieces, "_next_file", full)
    compare(tmp_path, logs("a06*", most=1) * 12)
    assert small


def dying_piece(piece: LogPiece, channel: Channel) -> PieceRead:
    """As ``read_piece``; kills its process at the third piece."""
    if piece.offset > 2 * (48 << 10):
        os.kill(os.getpid(), signal.SIGKILL)
    return read_piece(piece, channel)


@pytest.mark.long
def test_a_process_that_dies_costs_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_pieces, "read_piece", dying_piece)
    path = tmp_path / "session.log"
    path.write_bytes(logs("a06*", most=1) * 6)
    report = import_with(2, tmp_path / "games.db", [path])
    assert report.outcomes[0].message == (
        f"{path}: the process that read it ended with signal 9; nothing of it was stored. Import it again."
    )
    with ArchiveStore.open(str(tmp_path / "games.db")) as archive:
        assert archive.sources() == []


def test_files_of_pieces_are_removed(tmp_path: Path) -> None:
    path, folder = tmp_path / "session.log", tmp_path / "pieces"
    path.write_bytes(logs("a06*", most=1) * 6)
    folder.mkdir()
    with Workers(2) as processes, ArchiveStore.open(str(tmp_path / "games.db"), create=True) as archive:
        import_source(
            archive,
            Input(str(path), path),
            ReadOptions(),
            partial_logs=PartialLogs(archive),
            pieces=Pieces(processes, folder),
        )
        assert archive.sources()
    assert list(folder.iterdir()) == []
