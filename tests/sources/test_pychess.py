"""Logs of PyChess."""

from datetime import date
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from recorder.events import Chunk, Line
from recorder.model import TimeBasis
from recorder.sources.client_logs import PychessDecoder
from recorder.wire import LineReader

CORPUS = Path(__file__).parent.parent / "corpus"
FRAME = (
    "<12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B -1 1 1 1 1 0 7 Ann Bob 0 5 0 39 39 "
    "300 300 1 P/e2-e4 (0:00) e4 0 0 0"
)


def decode(data: bytes, step: int = 1 << 20) -> list[Chunk]:
    decoder = PychessDecoder()
    found = [chunk for i in range(0, len(data), step) for chunk in decoder.receive(data[i : i + step])]
    return found + decoder.finish()


def lines(data: bytes) -> list[Line]:
    reader = LineReader()
    return [line for chunk in decode(data) for line in reader.receive(chunk)] + reader.finish()


def texts(data: bytes) -> list[str]:
    return [line.text for line in lines(data)]


def test_old_form_the_text_of_a_read_over_several_lines() -> None:
    found = lines((CORPUS / "public" / "pychess-issue983-log.txt").read_bytes())
    assert [line.text for line in found] == [
        "{Game 410 (hamidesf vs. Caslavcg) Game aborted on move 1} *",
        "hamidesf Blitz (1278), Std (----), Wild (----), Light(----), Bug(----)",
        "  is now available for matches.",
        "Caslavcg Blitz (1183), Std (1605), Wild (----), Light(1323), Bug(----)",
        "  is now available for matches.",
        "{Game 378 (valois vs. HexenTom) Creating rated blitz match.}",
    ]
    assert found[0].at_ms == ((19 * 60 + 54) * 60 + 45) * 1000 + 756
    assert found[-1].at_ms == ((19 * 60 + 54) * 60 + 45) * 1000 + 886


def test_a_frame_that_is_only_in_a_second_hand_record() -> None:
    found = lines((CORPUS / "public" / "pychess-issue831-negative-clock.txt").read_bytes())
    assert [line.text[:6] for line in found if line.text[0] in "<{"] == ["{Game ", "<12> -"]
    frame = next(line for line in found if line.text.startswith("<12>"))
    assert frame.text.endswith("-111 6413 32 B/c6-e4 (0:01.469) Be4 0 1 302")
    assert frame.at_ms == ((13 * 60 + 58) * 60 + 11) * 1000


def test_second_hand_records_give_nothing_twice() -> None:
    data = (
        f"19:54:45.756 ('Ann', 'raw') DEBUG: \n\x1558\x161\x16{FRAME}\n"
        f"fics% {{Game 7 (A vs. B) A resigns}} 0-1\nfics% \n"
        f"19:54:45.757 ('Ann', 'lines') DEBUG: {FRAME}\n19:54:45.757 ('Ann', 'onStyle12') DEBUG: {FRAME}\n"
        "19:54:45.758 ('Ann', 'nonmatched') DEBUG: {Game 7 (A vs. B) A resigns} 0-1\n"
    )
    assert texts(data.encode()) == [FRAME, "fics% {Game 7 (A vs. B) A resigns} 0-1"]


def test_a_read_may_end_inside_a_line() -> None:
    data = (
        f"19:54:45.756 ('Ann', 'raw') DEBUG: \n{FRAME[:50]}\n19:54:45.800 ('Ann', 'lines') DEBUG: \n"
        f"19:54:46.000 ('Ann', 'raw') DEBUG: {FRAME[50:]}\nfics% \n19:54:47.000 Default DEBUG: <12> other\nx\n"
    )
    assert texts(data.encode()) == [FRAME]


def test_new_form_bytes_with_escapes() -> None:
    data = (
        rb"""20:00:01.000 ('Ann', 'raw') DEBUG: bytearray(b'fics% \n\r\x07\n\r"""
        + FRAME.encode()
        + rb"""\n\rfics% it\'s a \\n and \xe9\n\r')"""
        + b"\n"
        + rb"""20:00:02.000 ('Ann', 'raw') DEBUG: b"it's \t9" """.rstrip()
        + b"\n"
    )
    found = lines(data)
    assert [line.text for line in found] == [FRAME, "fics% it's a \\n and \xe9", "it's \t9"]
    assert data[found[0].offset :].startswith(b"<12> ")
    assert data[found[1].offset :].startswith(b"fics% it")


def test_edge_64_two_connections_one_event() -> None:
    data = (
        f"19:54:45.756 ('Ann', 'raw') DEBUG: \n{FRAME[:60]}\n"
        f"19:54:45.757 ('GuestX', 'raw') DEBUG: \n{{Game 9 (A vs. B) A resigns}} 0-1\nfics% \n"
        f"19:54:45.758 ('Ann', 'raw') DEBUG: {FRAME[60:]}\n\n{{Game 9 (A vs. B) A resigns}} 0-1\nfics% \n"
    )
    assert texts(data.encode()) == ["{Game 9 (A vs. B) A resigns} 0-1", FRAME]


_CHAT_BEFORE_FACTS = (
    "Eve shouts:",
    "Eve(1500)[9] kibitzes: fics%",
    "--> Eve",
    "--> Eve's>",  # the emote "it 's> ..." puts no blank before an apostrophe
    "fics% --> Eve,% fics%",
    "-->",
    "\\   ",
    ":",
    ":fics%",  # a bot's line
    "(Eve)>",
    "[Eve]%",
)


def test_chat_never_removes_a_board_or_result_of_another_connection() -> None:
    shouts = "".join(
        f"19:54:45.{number} ('Ann', 'raw') DEBUG: \n{chat} {fact}\nfics% \n"
        for number, chat in enumerate(_CHAT_BEFORE_FACTS, 100)
        for fact in (FRAME, "{Game 9 (A vs. B) A resigns} 0-1")
    )
    real = f"19:54:46.000 ('Bob', 'raw') DEBUG: \nfics% {FRAME}\n{{Game 9 (A vs. B) A resigns}} 0-1\nfics% \n"
    assert texts((shouts + real).encode())[-2:] == [f"fics% {FRAME}", "{Game 9 (A vs. B) A resigns} 0-1"]
    second_hand = f"19:54:46.000 ('Ann', 'onStyle12') DEBUG: {FRAME}\n"
    assert texts((shouts + second_hand).encode())[-1] == FRAME


@pytest.mark.parametrize("prompt", ["fics% ", "12:34_fics% ", "mine!% ", "fics% fics% \x07", "\x1592\x1610\x16"])
def test_a_board_behind_a_prompt_that_two_connections_receive_counts_once(prompt: str) -> None:
    data = "".join(
        f"19:54:45.{at} ('{user}', 'raw') DEBUG: \n{prompt}{FRAME}\nfics% \n" for user, at in (("A", 100), ("B", 200))
    )
    assert sum(text.endswith(FRAME) for text in texts(data.encode())) == 1


def test_a_line_repeated_a_minute_later_is_another_event() -> None:
    line = "{Game 9 (A vs. B) A resigns} 0-1"
    data = f"19:54:45.000 ('Ann', 'raw') DEBUG: \n{line}\n\n19:55:46.000 ('Bob', 'raw') DEBUG: \n{line}\n\n"
    assert texts(data.encode()).count(line) == 2


def test_typed_commands_are_never_data() -> None:
    assert texts(f"19:54:45.756 ('Ann', 'raw') INFO: 12 tell Bob {FRAME}\n{FRAME}\n".encode()) == []


def test_cuts_never_change_the_chunks() -> None:
    data = (CORPUS / "public" / "pychess-issue983-log.txt").read_bytes()
    assert decode(data, 1) == decode(data, 7) == decode(data)


def test_times_of_day_go_on_after_midnight_and_take_a_date() -> None:
    data = b"23:59:59.000 ('A', 'raw') DEBUG: x\n\n00:00:01.500 ('A', 'raw') DEBUG: y\n\n"
    first, second = decode(data)[0], decode(data)[-1]
    assert first.at_ms is not None
    assert second.at_ms is not None
    assert second.at_ms - first.at_ms == 2500
    decoder = PychessDecoder(date(2015, 5, 8), ZoneInfo("Europe/Vienna"))
    assert decoder.receive(data)[0].at_ms == 1431122399000
    assert decoder.time_basis is TimeBasis.UTC
