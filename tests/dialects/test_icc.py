"""ICC's datagrams, units and results. Made from the reference's field tables: no transcript shows any."""

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.icc.units import (
    BeganPosition,
    BughouseHoldings,
    BughousePass,
    ClocksSet,
    DatagramFen,
    Flip,
    GameOver,
    GameText,
    GoneBack,
    IccDatagram,
    IccGame,
    IccMove,
    IllegalMove,
    JBoard,
    Kibitz,
    MoreTime,
    MoveForm,
    MoveLag,
    MoveList,
    MovesSent,
    Msec,
    NumberOnly,
    Offers,
    PgnLines,
    PgnTag,
    Relation,
    SettingChanged,
    SimpleBoard,
    WhoAmI,
    parse_datagram,
    parse_fields,
    read_move,
    result_of,
)
from recorder.errors import LineError
from recorder.events import Datagram, Malformed, Noise, SessionNotice
from recorder.events.frames import Style12
from tests.dialects.lines import FRAME, recognise

START = "rnbqkbnrpppppppp" + "-" * 32 + "PPPPPPPPRNBQKBNR"
FEN = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"


def game(number: int, **changes: Any) -> IccGame:
    datagram = IccGame(
        number, 7, "Ann", "V-Milov", 22, "Wild", True, 3, 2, 5, 0, True, "Ex: x", "1500", "0", "902425349", "GM TD", "",
        False, True, False, "40/7200:20/3600", False,
    )  # fmt: skip
    return datagram._replace(**changes)


# What it tells, and its text without the marks around it ("<" and ">" stand for those of a string).
TABLE: list[tuple[IccDatagram, str]] = [
    (WhoAmI(0, "Ann", "GM TD"), "0 Ann {GM TD}"),
    *(
        (game(number), f"{number} 7 Ann V-Milov 22 Wild 1 3 2 5 0 1 {{Ex: x}} 1500 0 902425349 {{GM TD}} {{}} 0 1 0 "
        "40/7200:20/3600 0")
        for number in (12, 15, 18, 40, 100)
    ),
    (game(18, time_control="-", note=""),
     "18 7 Ann V-Milov 22 Wild 1 3 2 5 0 1 {} 1500 0 902425349 {GM TD} {} 0 1 0 - 0"),
    (
        game(15, note="", white_rating=None, black_rating=None, game_id=None, white_titles=None, black_titles=None,
             irregular_legality=None, irregular_semantics=None, plunkers=None, time_control=None, promote_to_king=None),
        "15 7 Ann V-Milov 22 Wild 1 3 2 5 0 1 {}",
    ),
    (GameOver(13, 7, True, "Mat", "0-1", "White checkmated", "C20"), "13 7 1 Mat 0-1 {White checkmated} C20"),
    (GameOver(16, 7, False, "Agr", "aborted", "Game aborted by mutual agreement", "?"),
     "16 7 0 Agr aborted {Game aborted by mutual agreement} ?"),
    *((NumberOnly(number, 7), f"{number} 7") for number in (14, 17, 19, 41)),
    *((Relation(20, 7, "Ann", symbol, 1), f"20 7 Ann {symbol} 1") for symbol in ("O", "PW", "PB", "SW", "SB", "E")),
    (Relation(43, 7, None, "X", None), "43 7 X"),
    (Offers(21, 7, 1, 0, 0, 1, 0, 0, 2, 0), "21 7 1 0 0 1 0 0 2 0"),
    (GoneBack(22, 7, 2), "22 7 2"),
    (GoneBack(23, 7, 9), "23 7 9"),
    (MovesSent(24, 7, ("fxg8=Q+", "f7g8nQ", "3", "57", "1")), "24 7 fxg8=Q+ f7g8nQ 3 57 1"),
    (MovesSent(111, 7, ("O-O", "e1g1c")), "111 7 O-O e1g1c"),
    (MoveList(25, 7, None, ()), "25 7 *"),
    (MoveList(25, -1, START, (("e4", "e2e4", "0", "300"), ("e5", "e7e5", "1", "299"))),
     f"25 -1 {START} {{e4 e2e4 0 300}} {{e5 e7e5 1 299}}"),
    (Kibitz(26, 7, "Cyd", "C", True, "hello {7}\n<12> there"), "26 7 Cyd C 1 <hello {7}\n[12] there>"),
    (Kibitz(26, 7, "Cyd", "", False, "two words"), "26 7 Cyd {} 0 {two words}"),
    (BughouseHoldings(37, 7, "PPNQ", ""), "37 7 PPNQ {}"),
    (BughousePass(57, 7, False, "N"), "57 7 B N"),
    (ClocksSet(38, 7, 180, -3), "38 7 180 -3"),
    (MoreTime(61, 7, True, 60), "61 7 W 60"),
    (Flip(39, 7, True), "39 7 1"),
    (IllegalMove(42, 7, "e9", 10), "42 7 e9 10"),
    (JBoard(49, 7, START, True, -1, "1110", 1, "e4", "e2e4", "300", "299", -1, False),
     f"49 7 {START} W -1 1 1 1 0 1 e4 e2e4 300 299 -1 0"),
    (JBoard(49, None, START, False, 4, "1111", 1, "", "", None, None, None, None),
     f"49 {START} B 4 1 1 1 1 1 {{}} {{}}"),
    (DatagramFen(70, 7, FEN), f"70 7 {{{FEN}}}"),
    (SimpleBoard(84, 7, START, False), f"84 7 {START} B"),
    (Msec(56, 7, True, -2147483648, False, None, None), "56 7 W -2147483648 0"),
    (Msec(56, 7, False, 179999, True, 15000, 100), "56 7 B 179999 1 15000 100"),
    (BeganPosition(101, 7, "", 0), "101 7 {} 0"),
    (BeganPosition(110, 7, FEN, 12), f"110 7 {{{FEN}}} 12"),
    (PgnTag(112, 7, "Site", "Linares, Spain"), "112 7 Site {Linares, Spain}"),
    (SettingChanged(124, 113, True), "124 113 1"),
    (MoveLag(144, "Ann", 100), "144 Ann 100"),
    (GameText(77, 7, "Clock set."), "77 7 {Clock set.}"),
    (PgnLines(86, ('[Event "ICC 15 5"]', "1. e4 {best} *")), '86 {[Event "ICC 15 5"]} <1. e4 {best} *>'),
]  # fmt: skip


def text(fields: str) -> str:
    marked = f"\x19({fields}\x19)".replace("<", "\x19{").replace(">", "\x19}")
    return marked.replace("[12]", "<12>")


@pytest.mark.parametrize(("datagram", "fields"), TABLE, ids=lambda value: str(value)[:40])
def test_every_datagram(datagram: IccDatagram, fields: str) -> None:
    assert parse_datagram(text(fields)) == datagram


@pytest.mark.parametrize(("datagram", "fields"), TABLE, ids=lambda value: str(value)[:40])
def test_later_fields_are_ignored(datagram: IccDatagram, fields: str) -> None:
    if not isinstance(datagram, MovesSent | MoveList | PgnLines) and None not in datagram:
        assert parse_datagram(text(f"{fields} more {{and more}}")) == datagram


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ("16 7 1 Mat 2-0 {x} ?", "score"),
        ("43 7 Z", "relation"),
        ("56 7 white 3 0", "colour"),
        ("56 7 W 3.5 0", "clock"),
        ("84 7 rnbq W", "board"),
        ("25 7 rnbq", "board"),
        ("22 7", "ends before its count"),
        ("24 x e4", "game number"),
        ("15 7 Ann Bob", "ends before its wild number"),
        ("37 7 PX {}", "holdings"),
        ("101 7 {} -1", "count"),
    ],
)
def test_a_field_that_cannot_be(fields: str, problem: str) -> None:
    with pytest.raises(LineError, match=problem):
        parse_datagram(text(fields))


@pytest.mark.parametrize(
    "broken", ["\x19(24 7 e4", "\x19(\x19)", "\x19(24 7 {e4\x19)", "\x19(24x\x19)", "\x19(26 \x19{a\x19)"]
)
def test_what_is_no_datagram(broken: str) -> None:
    with pytest.raises(LineError):
        parse_datagram(broken)


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_any_text_raises_only_our_error(junk: str) -> None:
    for candidate in (junk, f"\x19({junk}\x19)", f"\x19(24 {junk}\x19)", f"\x19(15 7 {junk}\x19)"):
        with suppress(LineError):
            parse_datagram(candidate)


@given(st.lists(st.text(st.characters(exclude_characters="\x19", max_codepoint=255), max_size=12), max_size=6))
def test_fields(fields: list[str]) -> None:
    marked = "".join(f" \x19{{{field}\x19}}" for field in fields)
    assert parse_fields(f"\x19(24{marked}\x19)") == (24, fields)


@pytest.mark.parametrize(
    ("words", "settings", "expected"),
    [
        ("e4 e2e4 3 57 1", {}, IccMove("e4", "e2e4", 3, 57, 1)),
        ("e4 e2e4", {}, IccMove("e4", "e2e4", None, None, None)),
        ("e2e4 3 57", {}, IccMove(None, "e2e4", 3, 57, None)),
        ("e4 3 5", {}, IccMove("e4", None, None, None, None)),
        ("e4 3 5", {113: False}, IccMove("e4", None, 3, 5, None)),
        ("e4 3 5", {36: False}, IccMove("e4", None, 3, None, 5)),
        ("e4 300", {}, IccMove("e4", None, None, None, None)),
        ("e4 300", {35: False, 113: False}, IccMove("e4", None, None, 300, None)),
        ("e4 300", {35: True, 36: True}, IccMove("e4", None, None, None, None)),
        ("Q@f7+ Q@f7+ 1 2 3", {}, IccMove("Q@f7+", None, 1, 2, 3)),
        ("P@e4", {}, IccMove("P@e4", None, None, None, None)),
        ("?xb1 ?xb1", {}, IccMove("?xb1", None, None, None, None)),
        ("O-O-O e1c1C -3 -1 0 later", {}, IccMove("O-O-O", "e1c1C", -3, -1, 0)),
    ],
)
def test_moves(words: str, settings: dict[int, bool], expected: IccMove) -> None:
    form = MoveForm()
    for number, on in settings.items():
        form.set(number, on)
    form.learn([tuple(words.split())])
    assert read_move(tuple(words.split()), form) == expected


@pytest.mark.parametrize("words", ["", "3 57", "e4 e2e4 now", "e4 Nf3"])
def test_what_is_no_move(words: str) -> None:
    assert read_move(tuple(words.split()), MoveForm()) is None


def test_the_form_of_moves_is_read_from_the_stream() -> None:
    first, second, moved = recognise("\x19(24 7 e4 3 5\x19)", "\x19(24 7 e5 3 299\x19)", "\x19(24 7 d4 1 4\x19)")
    assert [event.body.move for event in (first, second, moved) if isinstance(event, Datagram)] == [  # type: ignore[attr-defined]  # these datagrams tell moves
        IccMove("e4", None, None, None, None),
        IccMove("e5", None, 3, 299, None),
        IccMove("d4", None, 1, 4, None),
    ]


@pytest.mark.parametrize(
    ("code", "score", "words", "expected"),
    [
        ("Res", "1-0", "Black resigns", ("1-0", "resign", "normal", "Bob")),
        ("Fla", "0-1", "White forfeits on time.", ("0-1", "time", "time forfeit", "Ann")),
        ("Adj", "1-0", "White declared the winner by adjudication", ("1-0", "adjudicated", "adjudication", "Ann")),
        ("BQ", "1-0", "Unregistered player Black disconnected and forfeits",
         ("1-0", "disconnect-loss", "abandoned", "Bob")),
        ("TM", "1/2-1/2", "Black ran out of time and White has no material to mate",
         ("1/2-1/2", "time-vs-bare", "normal", "Bob")),
        ("Agr", "1/2-1/2", "Partner's game drawn by mutual agreement", ("1/2-1/2", "partner-draw", "normal", None)),
        ("?", "*", "Game adjourned by system shutdown", ("*", "adjourned-server", "unterminated", None)),
        ("Sho", "aborted", "Game aborted by Black at move 1", ("*", "aborted-early", "abandoned", "Bob")),
        ("Adj", "aborted", "Game aborted because Black's account expired",
         ("*", "aborted-adjudicated", "abandoned", "Bob")),
        ("50", "1/2-1/2", "Remis", ("1/2-1/2", "fifty", "normal", None)),
        ("Xyz", "1-0", "Something", ("1-0", "unknown", "normal", None)),
    ],
)  # fmt: skip
def test_results(code: str, score: str, words: str, expected: tuple[str, ...]) -> None:
    result, reason = result_of(code, score, words, "Ann", "Bob")
    assert (result, *reason) == expected


# Units


def test_a_unit_s_text_is_the_stream_s_text() -> None:
    head, end, frame = recognise("\x19[80 *", FRAME, "\x19]")
    assert isinstance(head, Noise)
    assert isinstance(end, Noise)
    assert isinstance(frame, Style12)


def test_a_unit_that_contains_a_board_is_read_by_its_datagrams() -> None:
    found = recognise("\x19[24 *", FRAME, "\x19(24 7 e4\x19)", FRAME, "\x19]", FRAME)
    assert sum(isinstance(event, Style12) for event in found) == 1
    assert sum(isinstance(event, Datagram) for event in found) == 1


def test_units_in_units_wait_for_the_outermost() -> None:
    found = recognise("\x19[328 x", "\x19[24 *", FRAME, "\x19]", "\x19(22 7 2\x19)", FRAME, "\x19]", FRAME)
    assert sum(isinstance(event, Style12) for event in found) == 1


def test_a_unit_without_an_end_gives_its_lines_at_the_end() -> None:
    found = recognise("\x19[24 *", FRAME, FRAME)
    assert sum(isinstance(event, Style12) for event in found) == 2
    many = recognise("\x19[24 *", *[FRAME] * 6000)
    assert sum(isinstance(event, Style12) for event in many) == 6000


def test_lost_data_ends_a_unit() -> None:
    found = recognise("\x19[24 *", FRAME, "\x1a", FRAME)
    assert [type(event) for event in found] == [Noise, Style12, SessionNotice, Style12]


def test_a_broken_datagram_is_kept_as_it_is() -> None:
    (found,) = recognise("\x19(24 7 e4")
    assert isinstance(found, Malformed)
    assert (found.tag, found.line.text) == ("datagram", "\x19(24 7 e4")
