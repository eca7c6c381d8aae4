"""Journals as a kind of saved log."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorder.errors import JournalError, SourceError
from recorder.events import Chunk, CutLines, Line
from recorder.journal import reader as reader_module
from recorder.journal.format import JournalHeader, Record, RecordKind
from recorder.journal.parts import compress_part, part_name
from recorder.model import AnomalyKind, EventKind, TimeBasis
from recorder.pipeline import Pipeline
from recorder.reading import read_games
from recorder.sources import SourceKind, detect, find_logs, read_blocks
from recorder.sources.journal import JournalDecoder
from recorder.tracking import tracker as game_lines_module
from recorder.wire import LineReader
from tests.support.journals import ANCHOR_NS, HEADER, lines_of, note, received

BOARD = "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR"
FRAME = f"<12> {BOARD} B -1 1 1 1 1 0 7 Ann Bob 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0 0 0".encode()
SECOND = 1_000_000_000
ANCHOR_MS = ANCHOR_NS // 1_000_000
CORPUS = Path(__file__).parent.parent / "corpus" / "server"


def decode(data: bytes, step: int = 1 << 20) -> tuple[list[Chunk], JournalDecoder]:
    """What a decoder gives, line by line."""
    decoder = JournalDecoder()
    out: list[Chunk | CutLines]
    out = [chunk for begin in range(0, len(data), step) for chunk in decoder.receive(data[begin : begin + step])]
    out += decoder.finish()
    return [one for many in out for one in (many.chunks() if isinstance(many, CutLines) else [many])], decoder


def lines_in(chunks: Sequence[Chunk | CutLines]) -> list[Line]:
    reader = LineReader()
    return [line for chunk in chunks for line in reader.receive(chunk)] + reader.finish()


def text_lines(chunks: list[Chunk]) -> list[tuple[str, int, int | None]]:
    return [line[:3] for line in lines_in(chunks)]


def test_the_kind_is_recognised_by_the_header() -> None:
    data = lines_of(HEADER, received(FRAME))
    assert detect(data) is SourceKind.JOURNAL


def test_lines_have_their_places_and_their_times() -> None:
    data = lines_of(
        HEADER,
        received(b"\r\nlogin: \xff\xfb\x01\n\rfics% \n\r" + FRAME[:40], 2 * SECOND),
        Record(3 * SECOND, RecordKind.SENT, FRAME + b"\n"),
        received(FRAME[40:] + b"\n\rfics% \x07tab\there\\ \n\r", 12 * SECOND + 999_999),
    )
    chunks, decoder = decode(data)
    assert decoder.time_basis is TimeBasis.UTC
    found = text_lines(chunks)
    assert found == [
        ("login: ", data.index(b"login:"), ANCHOR_MS + 2000),
        (FRAME.decode(), data.index(b"<12>"), ANCHOR_MS + 12000),
        ("fics% tab\there\\ ", data.index(rb"fics% \x07"), ANCHOR_MS + 12000),
    ]


@given(st.lists(st.binary(min_size=1, max_size=60), max_size=8), st.integers(1, 90))
def test_all_received_bytes_come_out_however_the_file_is_cut(reads: list[bytes], step: int) -> None:
    data = lines_of(HEADER, *(received(read, at_ns) for at_ns, read in enumerate(reads)))
    chunks, _ = decode(data, step)
    assert b"".join(chunk.data for chunk in chunks) == b"".join(reads)
    assert chunks == decode(data)[0]
    ends = [chunk.data for chunk in chunks]
    assert all(b"\n" not in end.rstrip(b"\r\n") for end in ends), "a line begins in the middle of a chunk"
    places = [chunk.offset for chunk in chunks]
    assert places == sorted(set(places))


TEXTS = [
    *(b"", b"fics% ", b"a word", b"other words ", FRAME, FRAME, FRAME[:90], FRAME[90:], b"(0:05.000) e4 0 1 0"),
    *(b"\\   more", b"back\\n", b"\x07", b"ring\x07", b"[G]\0", b"[G]", b"\xff\xfb\x01", b"\xff", b"\x1b[1m", b"a\tb"),
    *(b"\x157\x1613\x16", b"\x17", b"\x19[5 ", b"\x19]", b"\x1a", b"ab\bc", b"\0", b"x" * 5000, b"<12> " * 14000),
]
ENDS = [b"\n\r", b"\r\n", b"\n", b"", b"\r", b"\n\r\n\r"]
streams = st.builds(
    lambda end, texts: b"".join(text + (end if other is None else other) for text, other in texts),
    st.sampled_from(ENDS[:3]),
    st.lists(st.tuples(st.sampled_from(TEXTS), st.none() | st.none() | st.sampled_from(ENDS)), max_size=40),
)


@example(b"one\r\ntwo\r\nthree\r\nfour", set(range(40)), 1)
@example(b"one\n\rtwo\n\rthree\n\rfour", set(range(40)), 1)
@given(streams, st.sets(st.integers(0, 1500), max_size=20), st.integers(1, 5000))
def test_in_bulk_lines_are_what_they_are_one_by_one(stream: bytes, cuts: set[int], step: int) -> None:
    entries: list[Record] = []
    places = sorted({*(place for place in cuts if place < len(stream)), *range(0, len(stream), 65536)})
    for at, (begin, end) in enumerate(itertools.pairwise([*places, len(stream)])):
        entries.append(received(stream[begin:end], at * SECOND))
        entries += [Record(at * SECOND, RecordKind.SENT, b"observe\n")] * (at % 3 == 1)
        entries += [note("timer", at * SECOND)] * (at % 17 == 13) + [note("closed", at * SECOND)] * (at % 29 == 19)
    log = lines_of(HEADER, *entries)
    seen = []
    for many in (0, 1 << 30):
        with patch.object(reader_module, "_MANY_BYTES", many):
            reader, decoder, lines = LineReader(), JournalDecoder(), []
            for begin in range(0, len(log), step if many else 1 << 16):
                for chunk in decoder.receive(log[begin : begin + (step if many else 1 << 16)]):
                    lines += reader.receive(chunk) if chunk.data else [*reader.finish(), Line("cut", chunk.offset)]
            pending = reader.pending_offset
            lines += reader.finish()
        state = (reader.anomalies, reader.dropped, reader.prompt, pending, decoder.decoded, decoder.anomalies)
        seen.append((lines, state))
    assert seen[0] == seen[1]


@pytest.mark.parametrize("size", range(1, 60, 7))
def test_a_torn_tail_is_reported_and_everything_before_it_is_read(size: int) -> None:
    data = lines_of(HEADER, received(FRAME + b"\n\r"), received(b"the last line of all is longer than this"))[:-size]
    pipeline = Pipeline(SourceKind.JOURNAL)
    games = pipeline.receive(data) + pipeline.finish()
    assert len(games) == 1
    warnings = pipeline.report.warnings
    # only the line end is missing: nothing is
    assert warnings == [] if size == 1 else ("The last record is torn" in warnings[0] and len(warnings) == 1)
    assert not pipeline.report.anomalies


def test_damage_costs_the_records_it_is_in_and_joins_no_halves() -> None:
    whole = lines_of(
        HEADER,
        received(b"Ann(1500)[7] kibitzes: it is "),
        received(b"over\n\rfics% "),
        received(b"Game 9 is over\n\r" + FRAME + b"\n\r"),
    )
    place = whole.index(b"over")
    damaged = whole[:place] + b"X" + whole[place + 1 :]
    pipeline = Pipeline(SourceKind.JOURNAL)
    games = pipeline.receive(damaged) + pipeline.finish()
    (found,) = pipeline.report.anomalies
    assert found.kind is AnomalyKind.DAMAGED
    assert found.offset == damaged.rindex(b"\n", 0, place) + 1
    assert "checksum" in found.message
    assert len(games) == 1
    chunks, _ = decode(damaged)
    empty = [chunk.offset for chunk in chunks if not chunk.data]
    assert empty == [found.offset], "the lost bytes are unknown: no line continues behind them"


@pytest.mark.parametrize("word", ["closed", "outage"])
def test_games_end_with_the_connection(word: str) -> None:
    data = lines_of(HEADER, received(FRAME + b"\n\r"), note(word, SECOND, why="reset by peer"), note("connected"))
    pipeline = Pipeline(SourceKind.JOURNAL)
    (game,) = pipeline.receive(data) + pipeline.finish()
    assert game.end == "lost-feed"
    (event,) = [event for seen in game.observations for event in seen.events if event.kind is EventKind.FEED]
    assert (event.detail, event.at_ms) == ("lost feed", ANCHOR_MS + 1000)
    assert event.offset == data.rindex(b"\n", 0, data.index(word.encode())) + 1


def test_other_notes_end_nothing() -> None:
    data = lines_of(HEADER, received(FRAME + b"\n\r"), note("timer", SECOND), note("end", 2 * SECOND, more=False))
    pipeline = Pipeline(SourceKind.JOURNAL)
    (game,) = pipeline.receive(data) + pipeline.finish()
    assert game.end == "log-ends"


@given(st.binary(max_size=300), st.integers(0, 400))
def test_any_bytes_at_all_are_read(junk: bytes, place: int) -> None:
    data = lines_of(HEADER, received(FRAME + b"\n\r"), received(b"bye\n\r"))
    pipeline = Pipeline(SourceKind.JOURNAL)
    pipeline.receive(data[:place] + junk + data[place:])
    pipeline.finish()
    assert sum(pipeline.report.frames.values()) <= 1


def test_a_newer_journal_says_so() -> None:
    data = lines_of(HEADER._replace(version=99), received(FRAME))
    with pytest.raises(JournalError, match="version 99"):
        decode(data)


def test_a_journal_gives_the_games_of_the_bytes_it_holds() -> None:
    stream = (CORPUS / "b01_standard" / "observer_Watcher.raw").read_bytes()
    raw = Pipeline(SourceKind.RAW)
    expected = raw.receive(stream) + raw.finish()
    pipeline = Pipeline(SourceKind.JOURNAL)
    games = pipeline.receive(lines_of(HEADER, *cut(stream))) + pipeline.finish()
    assert len(games) == len(expected) == 5
    assert pipeline.report.frames == raw.report.frames
    for game, same in zip(games, expected, strict=True):
        plies = [ply for seen in game.observations for line in seen.lines for ply in line.plies]
        others = [ply for seen in same.observations for line in seen.lines for ply in line.plies]
        assert [ply._replace(at_ms=None, offset=0) for ply in plies] == [
            ply._replace(at_ms=None, offset=0) for ply in others
        ]
        assert all(ply.at_ms is not None for ply in plies if ply.offset)
        assert (game.white, game.black, game.result, game.end) == (same.white, same.black, same.result, same.end)


def cut(stream: bytes) -> list[Record]:
    return [received(stream[begin : begin + 777], begin * 1_000_000) for begin in range(0, len(stream), 777)]


# -- files -----------------------------------------------------------------------------------------------------------


def write_parts(folder: Path, parts: int, header: JournalHeader = HEADER) -> list[Path]:
    stream = (CORPUS / "b01_standard" / "observer_Watcher.raw").read_bytes()
    records = cut(stream)
    paths = []
    for number in range(parts):
        own = header._replace(part=number + 1)
        path = folder / part_name(own)
        chosen = records[len(records) * number // parts : len(records) * (number + 1) // parts]
        path.write_bytes(lines_of(own, *chosen))
        paths.append(path)
    return paths


def plies_of(path: Path) -> list[list[tuple[int, str | None]]]:
    return [
        [(ply.ply, ply.san) for seen in game.observations for line in seen.lines for ply in line.plies]
        for game in read_games(path)
    ]


def test_the_parts_of_a_session_are_one_log_whichever_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (whole,) = write_parts(tmp_path / "one", 1)
    paths = write_parts(tmp_path, 3)
    for path in paths[:2]:
        compress_part(path)
    parts = [path.with_name(f"{path.name}.zst") for path in paths[:2]] + paths[2:]
    assert [plies_of(path) for path in parts] == [plies_of(whole)] * 3
    assert list(find_logs([tmp_path])) == [parts[0], tmp_path / "one" / whole.name]
    assert list(find_logs(parts)) == parts[:1]
    assert plies_of(paths[0]) == plies_of(whole), "it is found after it was compressed"
    assert list(find_logs(paths[:1])) == parts[:1]
    with pytest.raises(SourceError, match="no such file"):
        list(find_logs([tmp_path / "other.journal"]))


def test_a_missing_part_is_reported(tmp_path: Path) -> None:
    paths = write_parts(tmp_path, 3)
    paths[1].unlink()
    pipeline = Pipeline(SourceKind.JOURNAL)
    for block in read_blocks(paths[0]):
        pipeline.receive(block)
    pipeline.finish()
    (found,) = [one for one in pipeline.report.anomalies if one.kind is AnomalyKind.DAMAGED]
    assert "part 3 of the session follows part 1" in found.message


@pytest.mark.parametrize("compressed", [0, 2, 3])
def test_reading_begins_anywhere(tmp_path: Path, compressed: int) -> None:
    paths = write_parts(tmp_path, 3)
    whole = b"".join(path.read_bytes() for path in paths)
    ends = [paths[0].stat().st_size, paths[0].stat().st_size + paths[1].stat().st_size]
    for path in paths[:compressed]:
        compress_part(path)
    for offset in (0, 1, ends[0] - 1, ends[0], ends[0] + 1, ends[1], ends[1] + 5, len(whole) - 1, len(whole)):
        assert b"".join(read_blocks(paths[0], offset=offset)) == whole[offset:]


def test_sessions_are_distinguished() -> None:
    data = lines_of(HEADER, received(FRAME + b"\n\r")) + lines_of(
        HEADER._replace(session="fedcba9876543210"), received(FRAME.replace(b" 7 ", b" 8 ") + b"\n\r")
    )
    pipeline = Pipeline(SourceKind.JOURNAL)
    games = pipeline.receive(data) + pipeline.finish()
    assert [game.end for game in games] == ["lost-feed", "log-ends"]


def _missing(data: bytes) -> list[str]:
    decoder = JournalDecoder()
    decoder.receive(data)
    decoder.finish()
    return [one.message for one in decoder.anomalies] + decoder.warnings


def test_missing_lines_and_parts_are_reported() -> None:
    first = [HEADER, received(b"a"), received(b"b"), note("end", records=2, more=True)]
    second = [HEADER._replace(part=2), received(b"c"), note("end", records=1, more=False)]
    third = HEADER._replace(part=3)
    assert _missing(lines_of(*first, *second)) == []
    assert _missing(lines_of(*first[:1], *first[2:], *second)) == ["2 records expected in part 1, not 1"]
    assert _missing(lines_of(*first[:-1], *second)) == ["part 1 of the session has no end, although part 2 follows"]
    assert _missing(lines_of(*second)) == ["part 2 of the session is the first that is there"]
    assert _missing(lines_of(*first, third)) == ["part 3 of the session follows part 1"]
    assert _missing(lines_of(*first)) == ["Part 2 of the session is missing: part 1 says that it follows."]
    damaged = lines_of(*first[:1]) + b"x" + lines_of(*first[1:], *second)
    assert len(_missing(damaged)) == 1, "what is damaged is not missing, too"


def test_a_tail_that_a_crash_tore_is_no_damage_once_it_was_ended() -> None:
    end = note("end", records=1, more=False, crashed=True, torn=4)
    data = lines_of(HEADER, received(b"a")) + b"torn\n" + lines_of(end)
    expected = ["The last record is torn: its 4 bytes were skipped, everything before was read."]
    assert _missing(data) == expected
    worse = lines_of(HEADER, received(b"a")) + b"damaged\ntorn\n" + lines_of(end)
    assert "8 bytes are not a record" in _missing(worse)[0]
    assert _missing(worse)[1:] == expected
    wrong = lines_of(HEADER, received(b"a")) + b"torn\n" + lines_of(note("end", records=1, more=False, torn=400))
    assert "5 bytes are not a record" in _missing(wrong)[0]


@pytest.mark.parametrize("step", [7, 1 << 20])
def test_a_game_is_of_the_host_that_was_named_before_it_however_the_bytes_are_cut(
    step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(game_lines_module, "_ENDED_WAIT_BYTES", 0)  # it is emitted at the next game's end

    def game(number: bytes) -> list[Record]:
        board = FRAME.replace(b" 0 7 ", b" 0 %b " % number)
        end = b"\n\n{Game %b (Ann vs. Bob) Ann resigns} 0-1\n\n" % number
        return [received(board), received(end)]

    other = HEADER._replace(session="f" * 16, host="elsewhere.example")
    data = lines_of(*game(b"7"), HEADER, *game(b"8"), other, *game(b"9"))
    pipeline = Pipeline(SourceKind.JOURNAL)
    games = [game for begin in range(0, len(data), step) for game in pipeline.receive(data[begin : begin + step])]
    games += pipeline.finish()
    assert [(game.game_no, game.server, game.time_basis) for game in games] == [
        (7, None, TimeBasis.NONE),
        (8, "freechess.org", TimeBasis.UTC),
        (9, "elsewhere.example", TimeBasis.UTC),
    ]
    assert pipeline.report.server == "elsewhere.example"
