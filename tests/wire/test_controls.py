"""Control bytes: Telnet commands, and lone marks of ICC before lines of the plain stream."""

import pytest

from recorder.events import Chunk
from recorder.model import Disposition
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from recorder.wire.controls import TelnetFilter
from recorder.wire.lines import LineReader


@pytest.mark.parametrize(
    ("data", "pieces", "rest"),
    [
        (b"ab", [(b"ab", 10)], b""),
        (b"a\xff\xfb\x01b", [(b"a", 10), (b"b", 14)], b""),
        (b"\xff\xf1b", [(b"b", 12)], b""),
        (b"\xff\xffb", [(b"\xff", 11), (b"b", 12)], b""),
        (b"\xffb", [(b"\xff", 10), (b"b", 11)], b""),
        (b"a\xff", [(b"a", 10)], b"\xff"),
        (b"a\xff\xfc", [(b"a", 10)], b"\xff\xfc"),
        (b"a\xff\xfa\x18\0xterm\xff\xf0b", [(b"a", 10), (b"b", 22)], b""),
        (b"a\xff\xfa\x18\0xte", [(b"a", 10)], b"\xff\xfa\x18\0xte"),
        (b"a\xff\xfab\n\xff\xf0c", [(b"a", 10), (b"b\n", 13), (b"c", 17)], b""),
        (b"a\xff\xfa" + b"x" * 300 + b"\xff\xf0", [(b"a", 10), (b"x" * 300, 13)], b""),
    ],
)
def test_commands(data: bytes, pieces: list[tuple[bytes, int]], rest: bytes) -> None:
    telnet = TelnetFilter()
    assert list(telnet.receive(data, 10)) == pieces
    assert telnet.rest == rest
    assert not rest or telnet.rest_offset == 11


def test_a_command_over_several_chunks() -> None:
    telnet = TelnetFilter()
    pieces = [
        piece for at, byte in enumerate(b"a\xff\xfa\x18\x01\xff\xf0b") for piece in telnet.receive(bytes([byte]), at)
    ]
    assert pieces == [(b"a", 0), (b"b", 7)]
    assert list(telnet.receive(b"\xff\xfb", 0)) == []
    assert list(telnet.receive(b"\x01a", 2)) == [(b"a", 3)]


FRAME = (
    "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 7 Ann Bob 0 3 0 39 39 "
    "180 180 1 none (0:00) none 0 1 0"
)


@pytest.mark.parametrize(
    "line", [FRAME, "<b1> game 7 white [] black []", "<d1> 7 1 e2e4 e4 1 2", "{Game 7 (Ann vs. Bob) Ann resigns} 0-1"]
)
@pytest.mark.parametrize("cut", [False, True])
def test_the_line_behind_a_lone_mark_is_whole(line: str, cut: bool) -> None:
    data = f"one\n\x19{line}\nother\n".encode("latin-1")
    reader = LineReader()
    pieces = [data[at : at + 1] for at in range(len(data))] if cut else [data]
    lines = [found for at, piece in enumerate(pieces) for found in reader.receive(Chunk(piece, at, None))]
    found = [(line.text, line.offset) for line in [*lines, *reader.finish()]]
    assert found == [("one", 0), (line, 5), ("other", 6 + len(line))]


def test_a_frame_behind_a_lone_mark_has_its_disposition() -> None:
    pipeline = Pipeline(SourceKind.RAW)
    pipeline.receive(f"\x19{FRAME}\n\x19{{Game 7 (Ann vs. Bob) Ann resigns}} 0-1\n".encode("latin-1"))
    (game,) = pipeline.finish()
    assert pipeline.report.frames == {Disposition.START: 1}
    assert game.result == "0-1"


def test_a_string_in_a_datagram_stays_a_string() -> None:
    reader = LineReader()
    text = "\x19(26 7 Ann {} 1 \x19{Game 7 (a vs. b) is fun\x19} 1\x19)"
    assert [line.text for line in reader.receive(Chunk(text.encode("latin-1"), 0, None))] == [text]
