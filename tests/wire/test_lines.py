"""LineReader: bytes to lines."""

import gzip
import itertools
import random
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recorder.events import Chunk, Line
from recorder.events.frames import ReplyBlock
from recorder.model import AnomalyKind
from recorder.wire import COUNTED_TAGS, LineReader

CORPUS = Path(__file__).parent.parent / "corpus"

BOARD = "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR"
FRAME = f"<12> {BOARD} B -1 1 1 1 1 0 7 Ann Bob 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0 0 0"


def read(*pieces: bytes, max_line_bytes: int = 65536) -> list[Line]:
    reader = LineReader(max_line_bytes)
    lines: list[Line] = []
    offset = 0
    for piece in pieces:
        lines += reader.receive(Chunk(piece, offset))
        offset += len(piece)
    return lines + reader.finish()


def texts(*pieces: bytes) -> list[str]:
    return [line.text for line in read(*pieces)]


def cut(data: bytes, *positions: int) -> list[bytes]:
    edges = [0, *sorted(positions), len(data)]
    return [data[a:b] for a, b in itertools.pairwise(edges)]


def bytewise(data: bytes) -> list[bytes]:
    return [data[i : i + 1] for i in range(len(data))]


@pytest.mark.parametrize("end", [b"\n\r", b"\r\n", b"\n", b"\r\r\n", b"\r\n\n"])
def test_every_line_end_is_one(end: bytes) -> None:
    assert texts(b"one" + end + FRAME.encode() + end + b"two" + end) == ["one", FRAME, "two"]


@pytest.mark.parametrize("end", [b"\n\r", b"\r\n", b"\n", b"\n\r\r", b"\x07\n\r"])
def test_an_offset_is_the_place_of_the_first_byte(end: bytes) -> None:
    data = end.join([b"one", b"", b"two", FRAME.encode(), b"three"])
    for pieces in ([data], bytewise(data)):
        for line in read(*pieces):
            assert data[line.offset :].startswith(line.text.encode("latin-1")), line


def test_as_many_returns_as_line_ends_do_not_make_the_line_ends_regular() -> None:
    for data in (b"a\rb\nc\n\rd\n", b"a\r\nb\rb\nc\r\n", b"\ra\nb\rb\nc\n", b"a\n\r\rb\nc\n"):
        assert read(data) == read(*bytewise(data)), data


def test_the_last_line_needs_no_end() -> None:
    assert texts(b"one\n" + FRAME.encode()) == ["one", FRAME]


def test_a_line_has_the_time_of_the_chunk_that_completed_it() -> None:
    reader = LineReader()
    assert reader.receive(Chunk(b"fics% ", 0, 1000)) == []
    lines = reader.receive(Chunk(b"\n\r" + FRAME.encode() + b"\n\r", 6, 5000))
    assert lines == [Line(FRAME, 8, 5000)]


def test_a_frame_is_emitted_at_once() -> None:
    reader = LineReader()
    assert reader.receive(Chunk(FRAME.encode() + b"\n\r", 0)) == [Line(FRAME, 0)]


def test_a_text_line_waits_until_the_next_shows_that_it_is_complete() -> None:
    reader = LineReader()
    assert reader.receive(Chunk(b"Ann resigns\n\r", 0)) == []
    assert [line.text for line in reader.receive(Chunk(b"fics% ", 13))] == ["Ann resigns"]


def test_prompt_lines_and_blank_lines_are_skipped() -> None:
    reader = LineReader()
    lines = reader.receive(Chunk(b"fics% \n\r\n\r" + FRAME.encode() + b"\n\rfics% \n\r", 0))
    assert [line.text for line in lines] == [FRAME]
    assert reader.prompt == ("fics% ", 0)


def test_a_prompt_before_text_stays() -> None:
    assert texts(b"fics% {Game 18 (A vs. B) A resigns} 0-1\n\r") == ["fics% {Game 18 (A vs. B) A resigns} 0-1"]


def test_bells_and_escape_sequences_are_taken_out() -> None:
    data = b"\x07\n\r\x07" + FRAME.encode() + b"\n\r\x1b[1mAnn\x1b[0m says: hi\n\r\x1b]0;title\x07fics% ok\n"
    assert texts(data) == [FRAME, "Ann says: hi", "fics% ok"]


def test_backspaces_of_typed_text_are_obeyed() -> None:
    assert texts(b"fics% observr\b \be 12\n") == ["fics% observe 12"]


def test_telnet_commands_are_taken_out() -> None:
    data = b"password: \xff\xfb\x01\xff\xfc\x01\n\r\xff\xf1ok \xff\xff\n\rlogin: \xff\xfc\x01"
    assert texts(data) == ["password: ", "ok \xff", "login: "]
    assert texts(*bytewise(data)) == ["password: ", "ok \xff", "login: "]


def test_a_telnet_command_may_contain_a_line_end() -> None:
    assert texts(b"Ann \xff\xfb\nresigns\n") == ["Ann resigns"]


def test_an_ff_before_a_plain_character_is_text() -> None:
    assert texts(b"\xff says: \xffa\n", b"\xff") == ["\xff says: \xffa", "\xff"]


@pytest.mark.parametrize(
    "data", [b"\x07\n[G]\n" + FRAME.encode() + b"\n", FRAME.encode() + b"\n[G]\n", FRAME.encode() + b"\n\r[G]\n\r"]
)
def test_edge_05_ping_lines_round_a_frame(data: bytes) -> None:
    assert texts(data) == [FRAME]


def test_edge_06_ping_split_over_reads() -> None:
    data = b"\n\r[G]\n\r" + FRAME.encode() + b"\n\r"
    for position in range(len(data)):
        assert texts(*cut(data, position)) == [FRAME]
    assert texts(b"fics% \n\r[", b"G]\n\r", FRAME.encode()) == [FRAME]


def test_edge_06_version_2_ping_inside_a_frame() -> None:
    data = FRAME.replace("<12> rnb", "<12> rnb[G]\0").encode() + b"\n\r[G]\0fics% x\n"
    assert texts(data) == texts(*bytewise(data)) == [FRAME, "fics% x"]


def test_a_ping_between_a_line_and_its_continuation() -> None:
    assert texts(b"Ann kibitzes: nine ten\n\r[G]\n\r\\   eleven\n\r") == ["Ann kibitzes: nine ten eleven"]


def test_edge_53_a_wrapped_kibitz_is_one_message() -> None:
    data = b"Ann(U)[7] kibitzes: one eight nine ten\n\r\\   eleven twelve\n\r\\   thirteen\n\rfics% "
    expected = ["Ann(U)[7] kibitzes: one eight nine ten eleven twelve thirteen"]
    assert texts(data) == texts(*bytewise(data)) == expected


def test_edge_53_a_server_that_keeps_the_blank() -> None:
    assert texts(b"Ann kibitzes: nine \n\r\\   ten\n\r") == ["Ann kibitzes: nine ten"]
    assert texts(b"Ann kibitzes: nine\n\r\\    ten\n\r") == ["Ann kibitzes: nine ten"]


def test_edge_54_a_word_cut_at_the_full_width() -> None:
    word = "verylongword" * 12
    first = "Euwe(----)[1] kibitzes: " + word[:56]
    assert len(first) == 80
    data = f"{first}\n\r\\   {word[56:132]}\n\r\\   {word[132:]}\n\r".encode()
    assert texts(data) == ["Euwe(----)[1] kibitzes: " + word]


def test_edge_54_a_long_word_that_was_moved_to_its_own_line() -> None:
    word = "verylongword" * 10
    data = f"Botvinnik(----) kibitzes:\n\r\\   {word[:75]}\n\r\\   {word[75:]}\n\r".encode()
    assert texts(data) == ["Botvinnik(----) kibitzes: " + word]


def test_observed_05_a_full_line_before_a_short_word() -> None:
    data = b"Botvinnik(----) whispers: {Game 1 (Capablanca vs. Alekhine) Capablanca resigns}\n\r\\   0-1\n\r"
    assert texts(data) == ["Botvinnik(----) whispers: {Game 1 (Capablanca vs. Alekhine) Capablanca resigns} 0-1"]


def test_observed_27_the_tail_of_a_wrapped_chat_is_never_a_line() -> None:
    kibitz = f"Alekhine(----) kibitzes: look at this\n\r\\   {FRAME}\n\r"
    assert texts(kibitz.encode()) == [f"Alekhine(----) kibitzes: look at this {FRAME}"]
    orphan = texts(b"\\   " + FRAME.encode() + b"\n\r\\   {Game 1 (A vs. B) A resigns} 0-1\n\r")
    assert orphan == [f"\\   {FRAME} {{Game 1 (A vs. B) A resigns}} 0-1"]
    assert texts(FRAME.encode() + b"\n\\   <12> x\n") == [FRAME, "\\   <12> x"]


def test_a_blank_line_ends_a_wrapped_line() -> None:
    assert texts(b"Ann says: a\n\r\n\r\\   b\n\r") == ["Ann says: a", "\\   b"]


def test_a_flood_of_continuations_stays_bounded() -> None:
    lines = read(b"x\n" + b"\\   yyyyyyyy\n" * 500, max_line_bytes=1000)
    assert max(len(line.text) for line in lines) <= 1000
    assert sum(line.text.count("y") for line in lines) == 4000


def test_observed_04_block_mode() -> None:
    data = b"fics% \n\r\x151\x1680\x16You are now observing game 2.\n\r" + FRAME.encode() + b"\n\r\x17\n\rfics% \n\r"
    data += FRAME.encode() + b"\n\r"
    expected = [
        Line("You are now observing game 2.", data.index(b"You"), None, ReplyBlock(1, 80)),
        Line(FRAME, data.index(b"<12>"), None, ReplyBlock(1, 80)),
        Line(FRAME, data.rindex(b"<12>"), None, None),
    ]
    assert read(data) == read(*bytewise(data)) == expected


def test_block_ids_never_fuse_with_text() -> None:
    lines = read(b"\x1592\x1610\x16You are\n\x17fics% x\n\x157\x161\x16512\x16Ann\n\x17\x159")
    assert [(line.text, line.block) for line in lines] == [
        ("You are", ReplyBlock(92, 10)),
        ("fics% x", None),
        ("Ann", ReplyBlock(7, 1)),
        ("9", None),
    ]


def test_a_posed_block_ends_with_its_own_end() -> None:
    lines = read(b"\x155\x1636\x16one\n\x18\n\x150\x1680\x16two\n\x17\nfics% \n\x19\nthree\n\x17four\n")
    assert [(line.text, line.block and line.block.command_id) for line in lines] == [
        ("one", 5),
        ("two", 0),
        ("three", 5),
        ("four", None),
    ]


def test_a_block_without_its_end() -> None:
    data = (CORPUS / "public" / "macbeth-seek-matches-364.txt").read_bytes()
    lines = read(data)
    assert all(line.block == lines[-1].block for line in lines[1:])
    assert sum(line.text.startswith("<12>") for line in lines) == 1


def test_edge_65_level_1_units_and_datagrams_come_out_between_marks() -> None:
    data = (
        b"\x19[24 *\r\n" + FRAME.encode() + b"\r\n\x19(26 7 Ann {} 1 \x19{<12> x\n<12> y\x19)\x19}\x19)\r\n\x19]"
        b"\x19(24 7 e4\x19)" + FRAME.encode() + b"\r\n"
    )
    lines = texts(data)
    assert lines == texts(*bytewise(data))
    kibitz = "\x19(26 7 Ann {} 1 \x19{<12> x\n<12> y\x19)\x19}\x19)"
    assert lines == ["\x19[24 *", FRAME, kibitz, "\x19]", "\x19(24 7 e4\x19)", FRAME]


def test_units_in_units() -> None:
    data = b"\x19[328 fish\r\nfish spoofs you\r\n\x19[199 *\r\nSending\r\n\x19[101 *\r\nNot sent.\r\n"
    data += b"\x19]\x19]\x19]\x19]aics% \n"
    marks = ["\x19[328 fish", "fish spoofs you", "\x19[199 *", "Sending", "\x19[101 *", "Not sent.", *["\x19]"] * 3]
    assert texts(data) == texts(*bytewise(data)) == marks


def test_a_datagram_is_whole_with_its_last_byte() -> None:
    reader = LineReader()
    first = reader.receive(Chunk(b"\x19[24 Ann\r\n\x19(24 7 e4 1 59\x19", 0, 100))
    assert [line.text for line in first] == ["\x19[24 Ann"]
    second = reader.receive(Chunk(b")\x19]", 25, 200))
    assert [(line.text, line.offset, line.at_ms) for line in second] == [
        ("\x19(24 7 e4 1 59\x19)", 10, 200),
        ("\x19]", 26, 200),
    ]


def test_a_datagram_that_another_one_cuts_off() -> None:
    assert texts(b"\x19(24 7 e\x19(24 7 e5\x19)\n\x19(25 7 \n\x19[24 *\n") == [
        "\x19(24 7 e", "\x19(24 7 e5\x19)", "\x19(25 7 ", "\x19[24 *",
    ]  # fmt: skip
    assert texts(b"\x19(24 7 e4\n") == ["\x19(24 7 e4"]


def test_an_endless_datagram_is_skipped() -> None:
    reader = LineReader(max_line_bytes=100)
    data = b"\x19(26 7 Ann {} 1 \x19{" + b"<12> \n" * 30 + b"\x19}\x19)\n" + FRAME[:90].encode() + b"\n"
    lines = reader.receive(Chunk(data, 0)) + reader.finish()
    assert [found.kind for found in reader.anomalies] == [AnomalyKind.LONG_LINE]
    assert sum(line.text.count("<12>") for line in lines) + reader.dropped["<12>"] == 31


def test_edge_66_the_mark_of_lost_data() -> None:
    reader = LineReader()
    lines = reader.receive(Chunk(b"\x19[24 *\naaa\x1a" + FRAME.encode() + b"\n", 100))
    assert [line.text for line in lines] == ["\x19[24 *", "\x19|aaa", "\x1a", FRAME]
    assert [(found.kind, found.offset) for found in reader.anomalies] == [(AnomalyKind.LOST_DATA, 110)]
    lines = reader.receive(Chunk(b"\x19(26 7 Ann {} 1 \x19{ab\nc\x1a\x19[24 *\naaa\n\x19]", 300))
    assert [line.text for line in lines] == [
        "\x19(26 7 Ann {} 1 \x19{ab\nc", "\x1a", "\x19[24 *", "aaa", "\x19]",
    ]  # fmt: skip


def test_edge_67_bytes_of_any_encoding_are_kept() -> None:
    data = "J\xf6rg says: \xe9".encode("latin-1") + b"\n" + "Jörg says: é".encode() + b"\n"
    assert [text.encode("latin-1") for text in texts(data)] == data.splitlines()


def test_a_frame_that_the_terminal_wrapped() -> None:
    data = (CORPUS / "public" / "lila-relay-277-wrapped-frame.txt").read_bytes()
    frames = [text for text in texts(data) if text.startswith("<12>")]
    assert frames == [text for text in texts(*bytewise(data)) if text.startswith("<12>")]
    assert len(frames) == 1
    assert frames[0].endswith("51 59 8 N/f6-d5 (0:00) Nxd5 0 1 0")


def test_notes_1_a_whole_raw_session() -> None:
    data = (CORPUS / "public" / "mekk-session-short.txt").read_bytes()
    assert b"\xff\xfc\x01" in data
    assert b"\x07" in data
    assert b"\n\\   Please visit our homepage" in data.replace(b"\r", b"")
    lines = read(data)
    assert lines == read(*bytewise(data))
    frames = [line for line in lines if line.text.startswith("<12>")]
    assert [line.block and line.block.code for line in frames] == [80, 80, None, None, None, None]
    assert [line.text.split()[29] for line in frames[1:]] == ["O-O", "Bg7", "c5", "Ne7", "Bb5+"]
    assert not any(set(line.text) & set("\x07\x15\x16\x17\r\n") or line.text.startswith("\\   ") for line in lines)
    assert any(" Please visit our homepage" in line.text for line in lines)


def test_notes_1_output_posed_for_another_user() -> None:
    lines = read((CORPUS / "public" / "pychess-puzzlebot-1.txt").read_bytes())
    assert [(line.text.split()[19], line.block) for line in lines if line.text.startswith("<12>")] == [
        ("-2", ReplyBlock(0, 80)),
        ("2", None),
        ("2", ReplyBlock(109, 1)),
        ("2", None),
    ]
    assert lines[0] == Line("(told puzzlebot, who is examining a game)", 8, None, ReplyBlock(92, 132))


def test_notes_1_a_help_text_with_a_frame_gives_no_frame() -> None:
    found = texts((CORPUS / "public" / "fics-help-style12.txt").read_bytes())
    assert sum("<12>" in text for text in found) > 0
    assert not any(text.startswith("<12>") for text in found)


def test_notes_1_a_wrapped_announcement() -> None:
    (line,) = texts((CORPUS / "public" / "fcl-announcement.txt").read_bytes())
    assert line == (
        "    **ANNOUNCEMENT** from relay: FICS is relaying the Russian Championship Superfinal Men 2015 - Round 1, the "
        "Russian Championship Superfinal Women 2015 - Round 1 and the SS Manhem Chess Week IM/GM 2015 - Round 2. To "
        'find more about Relay type "tell relay help"'
    )


def test_observed_01_and_02_prompts_and_frames_between_them() -> None:
    data = f"fics% \n\rfics% \n\r{FRAME}\n\rfics% <b1> game 1 white [P] black [] <- WP\n\rfics% ".encode()
    assert texts(data) == [FRAME, "fics% <b1> game 1 white [P] black [] <- WP"]


def test_a_cut_frame_takes_no_other_line() -> None:
    cut_frame = FRAME[: FRAME.index(" (0:00)")]
    assert texts(f"{cut_frame}\n(told Ann)\n".encode()) == [cut_frame, "(told Ann)"]


def test_a_line_that_is_too_long_is_reported_and_the_rest_read() -> None:
    data = b"ok\n\r" + b"x" * 70_000 + b"<12> y <b1> z" + b"\n\r" + FRAME.encode() + b"\n\r"
    for pieces in ([data], cut(data, 40_000, 70_006, 70_010), cut(data, 69_000)):
        reader = LineReader()
        lines: list[Line] = []
        offset = 0
        for piece in pieces:
            lines += reader.receive(Chunk(piece, offset))
            offset += len(piece)
        lines += reader.finish()
        assert [line.text for line in lines] == ["ok", FRAME]
        assert [(found.kind, found.offset) for found in reader.anomalies] == [(AnomalyKind.LONG_LINE, 4)]
        assert reader.dropped == {"<12>": 1, "<b1>": 1}


def test_a_line_that_never_ends_takes_no_memory() -> None:
    reader = LineReader(max_line_bytes=1000)
    for number in range(200):
        assert reader.receive(Chunk(b"<12" + b">" * 997, number * 1000)) == []
    assert len(reader.anomalies) == 1
    assert reader.dropped["<12>"] == 200
    assert sum(map(len, reader._parts)) + len(reader._tail) < 2000


ALPHABET = [
    *(bytes((code,)) for code in b"\n\r\x00\x07\x08\x15\x16\x17\x18\x19\x1a\x1b\xff\xfb\xfaab ([{<>)]}\\019"),
    b"\n\r",
    b"\n\r\\   ",
    b"\\   ",
    b"[G]\n",
    b"[G]\x00",
    b"<12> ",
    b"<b1> ",
    b"fics% ",
    b"(0:00) e4 0 1",
    b"\x151\x161\x16",
    b"\x19(1",
    b"\x19{",
    b"\x19}",
    b"\x19)",
    b"\x19[1",
    b"\x19]",
    b"\xff\xfc\x01",
    b"a" * 30,
]


def run(data: bytes, positions: list[int]) -> tuple[Any, ...]:
    reader = LineReader(max_line_bytes=48)
    lines: list[Line] = []
    offset = 0
    for piece in cut(data, *positions):
        lines += reader.receive(Chunk(piece, offset))
        offset += len(piece)
    lines += reader.finish()
    return lines, reader.anomalies, +reader.dropped, reader.prompt


@given(st.lists(st.sampled_from(ALPHABET), max_size=60).map(b"".join), st.randoms(use_true_random=False))
@example(b"<12> a\r\r(0:00) e4 0 1\n", random.Random(0))
@example(b"a\n\r\x07\\   b\n", random.Random(0))
@example(b"\x00\xff\xfc\x01\x19)\x1a\x19)", random.Random(0))
def test_cuts_never_change_the_lines(data: bytes, rng: random.Random) -> None:
    whole = compared(data, [])
    assert compared(data, list(range(1, len(data)))) == whole
    assert compared(data, [rng.randint(0, len(data)) for _ in range(4)]) == whole


_COMMAND_BEFORE_MARK = re.compile(rb"[^\n]\xff[^\n]*\x19")


def compared(data: bytes, positions: list[int]) -> Any:
    """Without offsets where the fault that the next test shows changes them."""
    lines, anomalies, dropped, prompt = run(data, positions)
    if _COMMAND_BEFORE_MARK.search(data):
        return [line._replace(offset=0) for line in lines], len(anomalies), dropped, prompt and prompt[0]
    return lines, anomalies, dropped, prompt


@pytest.mark.xfail(strict=True, reason="the command counts as no bytes if all comes in one read")
def test_a_text_behind_a_telnet_command_and_a_mark_has_its_place() -> None:
    data = b"a\xff\xfc\x01\x19)b\x19)"
    assert [line.offset for line in run(data, [])[0]] == [0, 6]


@given(st.binary(max_size=400), st.integers(0, 400))
def test_any_bytes_become_lines(data: bytes, position: int) -> None:
    assert compared(data, [min(position, len(data))]) == compared(data, [])


@given(st.lists(st.sampled_from(["<12> x", "<b1> y", "a <12>", "fics% ", "\\   <12> z", "b" * 60, ""]), max_size=30))
def test_every_tag_is_in_a_line_or_counted_as_dropped(lines: list[str]) -> None:
    data = "\n\r".join(lines).encode()
    reader = LineReader(max_line_bytes=48)
    given_away = reader.receive(Chunk(data, 0)) + reader.finish()
    for tag in COUNTED_TAGS:
        assert sum(line.text.count(tag) for line in given_away) + reader.dropped[tag] == data.count(tag.encode())


@pytest.mark.parametrize(
    "path", sorted((CORPUS / "server").glob("*/*.raw*")), ids=lambda path: f"{path.parent.name}/{path.name}"
)
def test_recorded_streams(path: Path) -> None:
    data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    rng = random.Random(path.name)
    reader = LineReader()
    lines = reader.receive(Chunk(data, 0)) + reader.finish()
    assert lines == read(*cut(data, *(rng.randrange(len(data)) for _ in range(len(data) // 40))))
    for tag in COUNTED_TAGS:
        assert sum(line.text.count(tag) for line in lines) == data.count(tag.encode())
    assert not reader.anomalies
    for line in lines:
        first = line.text[0].encode("latin-1")
        assert data[line.offset : line.offset + 1] == first
        assert not line.text.startswith("\\")
        assert line.text.strip() != "fics%"
