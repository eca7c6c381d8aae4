"""Debug files of xboard and WinBoard."""

import gzip
from pathlib import Path

import pytest

from recorder.events import Chunk, EngineLine
from recorder.sources.client_logs import XboardDecoder
from recorder.wire import LineReader

CORPUS = Path(__file__).parent.parent / "corpus"
BOARD = b"rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR"
FRAME = b"<12> " + BOARD + b" B -1 1 1 1 1 0 7 Ann Bob 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0 0 0"


def read(*blocks: bytes) -> list[Chunk | EngineLine]:
    decoder = XboardDecoder()
    return [chunk for block in blocks for chunk in decoder.receive(block)] + decoder.finish()


def decode(*blocks: bytes) -> list[Chunk]:
    return [chunk for chunk in read(*blocks) if isinstance(chunk, Chunk)]


def lines(data: bytes) -> list[str]:
    reader = LineReader()
    found = [line for chunk in decode(data) for line in reader.receive(chunk)]
    return [line.text for line in found + reader.finish()]


def test_edge_62_a_frame_over_two_reads() -> None:
    data = (
        b"<ICS: \\012\\015" + FRAME[:40] + b"\nics input 0, castling = 7\n<ICS: " + FRAME[40:] + b"\\012\\015fics% \n"
    )
    assert lines(data) == [FRAME.decode()]


def test_edge_63_what_goes_to_the_server_is_never_data() -> None:
    data = b">ICS: <12> secret\\012\n>ICS: " + FRAME + b"\\012\n<ICS: ok\\012\\015\n"
    assert lines(data) == ["ok"]


def test_the_programs_own_noise_is_never_data() -> None:
    noise = b"Parsing board: " + FRAME + b"\n" + FRAME + b"\n123 <first : <ICS: " + FRAME + b"\nics input 1, " + FRAME
    assert lines(noise + b"\n") == []


def test_an_entry_may_follow_what_the_program_says_about_telnet() -> None:
    assert lines(
        b"\n<WILL ECHO >DO ECHO \n<WONT ECHO >DONT ECHO <ICS: **** Starting FICS session as Judit ****\\012\\015\n"
    ) == ["**** Starting FICS session as Judit ****"]


def test_only_the_triples_that_the_program_writes_are_undone() -> None:
    assert lines(b"<ICS: \\377\\373\\001\\007a\\101b \\400 \\040 \\177\\351 x\\   y\\012\n") == [
        "a\\101b \\400 \\040 \x7f\xe9 x\\   y"
    ]


def test_a_continuation_line_is_not_an_escape() -> None:
    assert lines(b"<ICS: Ann kibitzes: nine ten\\012\\015\\   eleven\\012\\015fics% \n") == [
        "Ann kibitzes: nine ten eleven"
    ]


def test_every_server_line_begins_a_chunk_at_its_true_offset() -> None:
    data = b"Version: xboard\n<ICS: one\\012\\015two\\012\\015" + FRAME + b"\\012\\015\n<ICS: \\012\\015four\\012\n"
    reader = LineReader()
    found = [line for chunk in decode(data) for line in reader.receive(chunk)] + reader.finish()
    assert [line.text for line in found] == ["one", "two", FRAME.decode(), "four"]
    for line in found:
        assert data[line.offset :].startswith(line.text.encode())


def test_cuts_never_change_the_chunks() -> None:
    data = b"noise\n<ICS: one\\012\\015two\n>ICS: x\n<ICS: \\012" + FRAME + b"\n"
    assert decode(*(data[i : i + 1] for i in range(len(data)))) == decode(data)


def test_winboard_file_of_an_icc_session() -> None:
    found = lines((CORPUS / "public" / "talkchess-icc-wild22-winboard-debug.txt").read_bytes())
    assert found[0] == "threechecksbot (2120) vs. Mike (1415) --- 2008.01.19 16:55:38 "
    assert next(text for text in found if text.startswith("<12>")).endswith("173 170 1 none (0:00) none 0")
    assert found[-1] == " {Game in progress} *"


@pytest.mark.parametrize("scenario", ["x01_xboard_observes", "x02_xboard_observes_b"])
def test_a_recorded_debug_file_has_the_frames_of_the_raw_observer(scenario: str) -> None:
    folder = CORPUS / "server" / scenario
    debug = gzip.decompress((folder / "xboard_observer.debug.gz").read_bytes())
    (raw_path,) = folder.glob("observer_*.raw*")
    raw = gzip.decompress(raw_path.read_bytes())
    reader = LineReader()
    seen = {line.text for line in reader.receive(Chunk(raw, 0)) if line.text.startswith("<12>")}
    frames = [text for text in lines(debug) if text.startswith("<12>")]
    assert len(frames) > 200
    # Both watched the same games. xboard asks for milliseconds, so only boards and plies are equal.
    boards = {" ".join(text.split()[1:10]) for text in seen}
    assert sum(" ".join(text.split()[1:10]) in boards for text in frames) > 0.9 * len(frames)


ENGINES = b"""\
129 >first : xboard
protover 2
182 <first : feature myname="Fairy-Max 5.0b"
184 >first : new
random
184 >second: usermove 184 >second: e2e4
book hit = (NULL)
random
190 <second: 1 +4 0 2 a5\r
<WONT ECHO >DONT ECHO 191 <first : move e2e4
12 <third : move e2e4
x 12 <first : move e2e4
"""


def test_engines_lines_have_their_place_and_time() -> None:
    found = [part for part in read(ENGINES) if isinstance(part, EngineLine)]
    assert [(line.text, line.engine, line.to_engine, line.at_ms) for line in found] == [
        ("xboard", "first", True, 129),
        ("protover 2", "first", True, 129),
        ('feature myname="Fairy-Max 5.0b"', "first", False, 182),
        ("new", "first", True, 184),
        ("random", "first", True, 184),
        ("usermove e2e4", "second", True, 184),
        ("1 +4 0 2 a5", "second", False, 190),
        ("move e2e4", "first", False, 191),
    ]
    assert [line.offset for line in found[:3]] == [0, 20, 31]


def test_engines_lines_are_between_the_servers_bytes() -> None:
    data = b"<ICS: one\\012\\015\n5 >first : go\n<ICS: two\\012\\015\n"
    whole = read(data)
    assert [type(part) for part in whole] == [Chunk, EngineLine, Chunk]
    assert read(*(data[at : at + 1] for at in range(len(data)))) == whole
