"""Raw logs and physical lines."""

from hypothesis import given
from hypothesis import strategies as st

from recorder.events import Chunk
from recorder.sources.base import LineEnds, LineSplitter, RawDecoder


def test_a_utf8_mark_is_skipped() -> None:
    data = b"\xef\xbb\xbf<12> x"
    for pieces in ([data], [data[i : i + 1] for i in range(len(data))]):
        decoder = RawDecoder()
        found = [chunk for piece in pieces for chunk in decoder.receive(piece)] + decoder.finish()
        assert b"".join(chunk.data for chunk in found) == b"<12> x"
        assert found[0].offset == 3


def test_what_only_begins_like_the_mark_is_kept() -> None:
    decoder = RawDecoder()
    assert decoder.receive(b"\xef\xbb") + decoder.finish() == [Chunk(b"\xef\xbb", 0)]
    decoder = RawDecoder()
    assert decoder.receive(b"\xef") == []
    assert decoder.receive(b"a\n") == [Chunk(b"\xefa\n", 0)]


@given(st.lists(st.sampled_from([b"a", b"\n", b"bb\n"])).map(b"".join), st.integers(1, 9))
def test_physical_lines(data: bytes, step: int) -> None:
    splitter = LineSplitter()
    found = [
        line for i in range(0, len(data), step) for line in splitter.receive(data[i : i + step])
    ] + splitter.finish()
    assert [line for line, _ in found] == (
        data.split(b"\n")[:-1] if data.endswith(b"\n") else data.split(b"\n") if data else []
    )
    assert all(data[offset : offset + len(line)] == line for line, offset in found)


def test_a_line_that_never_ends_is_cut() -> None:
    splitter = LineSplitter(max_bytes=100)
    assert splitter.receive(b"\n") == [(b"", 0)]
    found = [line for _ in range(50) for line in splitter.receive(b"x" * 30)]
    assert max(len(line) for line, _ in found) <= 130
    assert b"".join(line for line, _ in found + splitter.finish()) == b"x" * 1500


@given(st.lists(st.sampled_from([b"a", b"\r", b"\n", b"x" * 40_000])).map(b"".join), st.integers(1, 70_000))
def test_line_ends_are_decided_by_the_beginning_however_it_comes(data: bytes, step: int) -> None:
    ends = LineEnds()
    found = b"".join(ends.receive(data[at : at + step]) for at in range(0, len(data), step)) + ends.finish()
    head = data[: 1 << 16]
    assert ends.swapped == (b"\r" in head and b"\n" not in head)
    assert ends.swap(found) == data
    assert len(found) == len(data)


@given(st.lists(st.sampled_from([b"a\r", b"bb\r", b"\r"]), min_size=1).map(b"".join), st.integers(1, 9))
def test_a_log_without_line_feeds_has_lines(data: bytes, step: int) -> None:
    pieces = [data[at : at + step] for at in range(0, len(data), step)]
    decoder, splitter = RawDecoder(), LineSplitter()
    raw = [chunk for piece in pieces for chunk in decoder.receive(piece)] + decoder.finish()
    lines = [line for piece in pieces for line in splitter.receive(piece)] + splitter.finish()
    assert b"".join(chunk.data for chunk in raw) == data.replace(b"\r", b"\n")
    assert [line for line, _ in lines] == data.split(b"\r")[:-1]


def test_carriage_returns_of_a_log_with_line_feeds_stay() -> None:
    decoder = RawDecoder()
    assert decoder.receive(b"\ra\r\n") == [Chunk(b"\ra\r\n", 0)]
