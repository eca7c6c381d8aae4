"""Large PGN files read in pieces: the archive is the one that an undivided reading makes."""

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recorder.archive.reading import reading_ahead, workers
from recorder.archive.reading.importing import Found, Part
from recorder.archive.reading.reading_ahead import DividedReading, _Piece, _read_piece
from recorder.progress import Progress
from recorder.sources import read_blocks
from tests.archive.test_reading_ahead import ROOT, both, contents, import_with
from tests.support.cli import SERVER, WATCHER, Cli
from tests.support.effort import long_after

PGN = ROOT / "tests" / "corpus" / "pgn"
SAVED = b"\n\n".join(path.read_bytes() for path in sorted(PGN.glob("*.pgn")))
FICS = b"\n\n".join(path.read_bytes() for path in sorted((PGN.parent / "ficsgames").glob("*.pgn")))


@pytest.fixture(autouse=True)
def divided(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Files of 8 kB and more are divided. Returns, for each of them, whether all of it was read in pieces."""
    monkeypatch.setattr(reading_ahead, "_PIECE_BYTES", 4096)
    monkeypatch.setattr(reading_ahead, "_DIVIDED_BYTES", 8192)
    monkeypatch.setattr(reading_ahead, "_MOST_BYTES", 1 << 20)
    monkeypatch.setattr(workers, "_WORTH_BYTES", 1)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    found: list[bool] = []
    parts, rest = DividedReading.__iter__, DividedReading._rest

    def noted(self: DividedReading) -> Iterator[Part]:
        found.append(True)
        yield from parts(self)

    def undivided(self: DividedReading, *how: Any) -> Iterator[bytes]:
        found[-1] = False
        return rest(self, *how)

    monkeypatch.setattr(DividedReading, "__iter__", noted)
    monkeypatch.setattr(DividedReading, "_rest", undivided)
    return found


@pytest.mark.long_except("as-it-is")
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data, id="as-it-is"),
        pytest.param(lambda data: data.replace(b"\r\n", b"\n"), id="LF"),
        pytest.param(lambda data: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"), id="CRLF"),
        pytest.param(lambda data: b"\xef\xbb\xbf" + data, id="UTF-8-mark"),
        pytest.param(lambda data: data + data, id="games-with-equal-keys"),
        pytest.param(lambda data: data[:-400], id="cut-off"),
        pytest.param(lambda data: data.replace(b'[White "', b'[White, "', 30), id="anomalies"),
    ],
)
def test_the_archive_is_that_of_an_undivided_reading(
    tmp_path: Path, divided: list[bool], change: Callable[[bytes], bytes]
) -> None:
    paths = []
    for name, data in {"saved.pgn": SAVED, "fics.pgn": FICS}.items():
        paths.append(tmp_path / name)
        paths[-1].write_bytes(change(data))
    (report,) = both(tmp_path, paths)
    assert divided == [True, True]
    assert report.games > 50
    assert [outcome.status for outcome in report.outcomes] == ["new", "new"]


@pytest.mark.long
def test_kept_bytes_erasures_and_messages_are_the_same_for_a_divided_file(tmp_path: Path, divided: list[bool]) -> None:
    path = tmp_path / "fics.pgn"
    path.write_bytes(FICS)
    both(tmp_path, [path], server="chess.example", chat="none", tz="Europe/Vienna")
    handle = FICS.split(b'[White "')[5].split(b'"')[0].decode()
    for jobs in ("1", "2"):
        cli = Cli(tmp_path / f"{jobs}.sqlite")
        cli("import", "--no-keep-source", "--jobs", jobs, path)
    assert contents(tmp_path / "1.sqlite") == contents(tmp_path / "2.sqlite")
    hidden = tmp_path / "hidden.sqlite"
    Cli(hidden)("import", "--jobs", "1", PGN / "pychess-export-463.pgn")
    Cli(hidden)("forget", "--yes", handle)
    Cli(hidden)("db", "backup", tmp_path / "copy.sqlite")
    Cli(hidden)("import", "--jobs", "1", path)
    Cli(tmp_path / "copy.sqlite")("import", "--jobs", "2", path)
    assert contents(hidden) == contents(tmp_path / "copy.sqlite")
    assert handle not in Cli(hidden)("games").stdout
    assert divided == [True, True, True]


@pytest.mark.long
def test_a_file_that_has_grown_is_read_on(tmp_path: Path, divided: list[bool]) -> None:
    path = tmp_path / "saved.pgn"
    for jobs, name in ((1, "one.db"), (3, "three.db")):
        for end in (len(SAVED) // 2, len(SAVED)):
            path.write_bytes(SAVED[:end])
            import_with(jobs, tmp_path / name, [path])
    assert divided == [True]
    assert contents(tmp_path / "three.db") == contents(tmp_path / "one.db")


@pytest.mark.parametrize("rest", long_after(1, ['[Event "of the year"]\nwas this', '[Event "of the year"] was this']))
def test_a_comment_that_looks_like_a_game_is_no_border(tmp_path: Path, divided: list[bool], rest: str) -> None:
    game = (
        '[Event "x"]\n[White "A{0}"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 {{a letter: 1-0\n\n' + rest + "}} e5 1/2\n\n"
    )
    path = tmp_path / "games.pgn"
    path.write_text("".join(game.format(number) for number in range(300)))
    (report,) = both(tmp_path, [path])
    assert report.games >= 300
    assert divided == [False]


@pytest.mark.long
def test_parts_of_a_game_stay_together(tmp_path: Path, divided: list[bool]) -> None:
    """This program wrote the file: a game with a gap is in it as two games."""
    logs = [SERVER / "a09_ivariables", SERVER / "b09_crazyhouse", WATCHER]
    cli = Cli(tmp_path / "logs.sqlite")
    cli("import", *logs)
    damaged = tmp_path / "damaged.log"
    lines = WATCHER.read_bytes().split(b"<12>")
    damaged.write_bytes(b"<12>".join(line for number, line in enumerate(lines) if number % 20 not in (11, 12, 13)))
    cli("import", damaged)
    path = tmp_path / "parts.pgn"
    cli("export", "pgn", "--include", "empty", "-o", path)
    text = path.read_bytes()
    assert text.count(b"{Moves are missing here}") > 1
    path.write_bytes(text * 4)
    both(tmp_path, [path])
    assert divided == [True]


def test_games_without_a_border_are_read_undivided(
    tmp_path: Path, divided: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading_ahead, "_MOST_BYTES", 1 << 15)
    monkeypatch.setattr("recorder.archive.reading.importing.read_blocks", partial(read_blocks, size=4096))
    path = tmp_path / "games.pgn"
    game = '[White "A{0}"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n\n'
    path.write_text('[Event "x"]\n' + "".join(game.format(number) for number in range(1000)))
    (report,) = both(tmp_path, [path])
    assert report.games == 1000
    assert divided == [False]


def dying_piece(piece: _Piece, progress: Progress) -> Found | None:
    """As ``_read_piece``; kills its process at the fourth piece."""
    if piece.offset > 3 * 4096:
        os.kill(os.getpid(), signal.SIGKILL)
    return _read_piece(piece, progress)


@pytest.mark.long
def test_a_process_that_dies_costs_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading_ahead, "_read_piece", dying_piece)
    path, other = tmp_path / "saved.pgn", tmp_path / "small.pgn"
    path.write_bytes(SAVED)
    other.write_bytes(FICS[:6000])
    report = import_with(2, tmp_path / "games.db", [path, other])
    assert [outcome.status for outcome in report.outcomes] == ["failed", "new"]
    assert report.outcomes[0].message == (
        f"{path}: the process that read it ended with signal 9; nothing of it was stored. Import it again."
    )
    import_with(1, tmp_path / "one.db", [other])
    assert contents(tmp_path / "games.db") == contents(tmp_path / "one.db")
