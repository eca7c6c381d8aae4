"""The pipeline as a whole: how the bytes are cut never matters, nor whether a log is read at once or as it grows."""

import gzip
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorder.model import Disposition, Game
from recorder.pipeline import Pipeline
from recorder.reading import read_games
from recorder.sources import SourceKind
from tests.support.effort import examples
from tests.support.icc import session
from tests.support.journals import journal_of

CORPUS = Path(__file__).parent / "corpus" / "server"
STREAMS = [
    "a06_chatter_takebacks/observer_Euwe.raw.gz",
    "a07_eight_boards/observer_GuestObsI.raw.gz",
    "a09_ivariables/observer_GuestBlk.raw",
    "a09_ivariables/observer_GuestIvc.raw",
    "b05_examine_bsetup/observer_GuestXl.raw",
    "b07_eight_boards/observer_GuestXs.raw.gz",
    "b09_crazyhouse/observer_GuestXz.raw.gz",
]


def read_stream(name: str) -> bytes:
    found = CORPUS / name
    if not found.exists():
        found = found.with_name(found.name.removesuffix(".gz") if name.endswith(".gz") else found.name + ".gz")
    data = found.read_bytes()
    return gzip.decompress(data) if found.suffix == ".gz" else data


def whole(data: bytes, kind: SourceKind = SourceKind.RAW) -> tuple[list[Game], Pipeline]:
    pipeline = Pipeline(kind)
    return pipeline.receive(data) + pipeline.finish(), pipeline


def by_key(games: list[Game]) -> dict[str, Game]:
    found = {game.key: game for game in games}
    assert len(found) == len(games), "two games with one key"
    return found


def counts(pipeline: Pipeline) -> tuple[dict[Disposition, int], dict[Disposition, int]]:
    return pipeline.report.frames, pipeline.report.holdings


@pytest.mark.parametrize("name", STREAMS)
@given(data=st.data())
@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
def test_cutting_the_bytes_anywhere_changes_nothing(name: str, data: st.DataObject) -> None:
    stream = read_stream(name)[:120_000]
    expected, reference = whole(stream)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=40)))
    pipeline = Pipeline(SourceKind.RAW)
    games: list[Game] = []
    for begin, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        games += pipeline.receive(stream[begin:end])
    games += pipeline.finish()
    assert games == expected
    assert counts(pipeline) == counts(reference)


def test_byte_by_byte() -> None:
    stream = read_stream(STREAMS[0])[:40_000]
    expected, _ = whole(stream)
    pipeline = Pipeline(SourceKind.RAW)
    games: list[Game] = []
    for index in range(len(stream)):
        games += pipeline.receive(stream[index : index + 1])
    assert games + pipeline.finish() == expected


class Archived:
    """What the archive keeps of a source that is read again whenever it has grown."""

    def __init__(self, kind: SourceKind = SourceKind.RAW) -> None:
        self.kind = kind
        self.games: list[Game] = []
        self.read_up_to = 0

    def read(self, stream: bytes) -> Pipeline:
        pipeline = Pipeline(self.kind)
        found = pipeline.receive(stream)
        read_up_to = pipeline.read_up_to
        assert self.read_up_to <= read_up_to <= len(stream)
        found += pipeline.finish()
        final = [game for game in self.games if game.first_offset < self.read_up_to]
        self.games = final + [game for game in found if game.first_offset >= self.read_up_to]
        self.read_up_to = read_up_to
        return pipeline


@pytest.mark.parametrize("name", STREAMS)
@given(data=st.data())
@settings(max_examples=examples(8), suppress_health_check=list(HealthCheck))
def test_a_log_that_grew_gives_what_one_reading_gives(name: str, data: st.DataObject) -> None:
    """Games that are not final are dropped and stored again, as often as the log has grown."""
    grows_without_a_difference(data, read_stream(name), SourceKind.RAW)


@pytest.mark.parametrize("name", STREAMS)
@given(data=st.data())
@settings(max_examples=examples(6), suppress_health_check=list(HealthCheck))
def test_a_journal_that_grew_gives_what_one_reading_gives(name: str, data: st.DataObject) -> None:
    journal = journal_of(read_stream(name), data.draw(st.integers(0, 1 << 16)))
    grows_without_a_difference(data, journal, SourceKind.JOURNAL)


def grows_without_a_difference(data: st.DataObject, stream: bytes, kind: SourceKind) -> None:
    expected, reference = whole(stream, kind)
    archived = Archived(kind)
    steps = data.draw(st.lists(st.integers(0, len(stream)) | st.integers(0, 40), min_size=1, max_size=5))
    sizes = sorted(min(step, len(stream)) for step in steps)
    near = data.draw(st.integers(0, 4))
    for size in [*sizes, *(sizes[-1] + step for step in range(near) if sizes[-1] + step <= len(stream))]:
        archived.read(stream[:size])
    last = archived.read(stream)
    assert by_key(archived.games) == by_key(expected)
    assert counts(last) == counts(reference)
    assert last.report.line_count == reference.report.line_count
    assert last.report.anomalies == reference.report.anomalies
    assert last.report.warnings == reference.report.warnings
    assert sorted(last.report.shapes) == sorted(reference.report.shapes)


@given(st.data())
@settings(max_examples=examples(25), suppress_health_check=list(HealthCheck))
def test_a_log_of_datagrams_that_grows(data: st.DataObject) -> None:
    grows_without_a_difference(data, session(), SourceKind.RAW)


def test_games_before_an_open_movelist_stay_final() -> None:
    stream = read_stream("a07_eight_boards/observer_GuestObsI.raw.gz")
    inside = stream.index(b"Movelist for game", len(stream) * 2 // 3) + 60
    archived = Archived()
    archived.read(stream[:inside])
    assert archived.read_up_to > 0
    archived.read(stream)
    assert by_key(archived.games) == by_key(whole(stream)[0])


@given(st.binary(max_size=400), st.binary(max_size=400))
def test_any_bytes_at_all_are_read(head: bytes, tail: bytes) -> None:
    board = b"rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"
    frame = b"\n\r<12> " + board + b" W -1 1 1 1 1 0 7 A B 0 3 0 39 39 180 180 1 none (0:00) none 0 0 0\n\r"
    pipeline = Pipeline(SourceKind.RAW)
    pipeline.receive(head + frame + tail)
    pipeline.finish()
    report = pipeline.report
    assert sum(report.frames.values()) >= 1


def test_read_games_reads_a_file(tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    stream = read_stream(STREAMS[0])
    log.write_bytes(stream)
    assert list(read_games(log)) == whole(stream)[0]


def test_anomalies_of_long_broken_lines_stay_short() -> None:
    bad = b"<12> " + b"rnbqkbnr " * 400 + b"\n"
    pipeline = Pipeline(SourceKind.RAW)
    pipeline.receive(b"login: \n" + bad * 50)
    pipeline.finish()
    found = pipeline.report.anomalies
    assert len(found) == pipeline.report.frames[Disposition.MALFORMED] == 50
    assert max(len(anomaly.message) + len(anomaly.text) for anomaly in found) < 500
    assert found[0].text.endswith("…")
    assert bad[:230].decode() in found[0].text


BOARDS = (
    "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 7 A B 0 3 0 39 39",
    "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4 1 1 1 1 0 7 A B 0 3 0 39 39",
)


def test_read_games_uses_the_timing_file_beside_a_typescript(tmp_path: Path) -> None:
    frames = [
        f"<12> {BOARDS[0]} 180 180 1 none (0:00) none 0 0 0",
        f"<12> {BOARDS[1]} 180 180 1 P/e2-e4 (0:00) e4 0 0 0",
    ]
    chunks = [f"{frame}\r\n".encode() for frame in frames]
    log = tmp_path / "game.log"
    header = b'Script started on 2024-05-08 20:06:50+02:00 [TERM="xterm" TTY="/dev/pts/1"]\n'
    log.write_bytes(header + b"".join(chunks) + b"\nScript done on 2024-05-08 20:07:50+02:00\n")
    (tmp_path / "game.log.timing").write_text("".join(f"2.5 {len(chunk)}\n" for chunk in chunks))
    (game,) = read_games(log)
    assert [ply.at_ms for ply in game.plies] == [1715191610000 + 5000]


def test_a_number_that_python_alone_would_read_is_malformed() -> None:
    """``int`` takes ``18_0`` for 180; no server prints that, so it must become no clock."""
    frames = [
        f"<12> {BOARDS[0]} 180 180 1 none (0:00) none 0 0 0",
        f"<12> {BOARDS[1]} 18_0 180 1 P/e2-e4 (0:00) e4 0 0 0",
    ]
    games, pipeline = whole("\n\r".join([*frames, ""]).encode())
    assert [len(game.plies) for game in games] == [0]
    assert pipeline.report.frames == {Disposition.START: 1, Disposition.MALFORMED: 1}
