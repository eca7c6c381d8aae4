"""The ``games`` table and the answers to ``observe``, both ways."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.lists import (
    format_counted,
    format_refusal,
    format_row,
    parse_counted,
    parse_notified,
    parse_refusal,
    parse_row,
)
from recorder.dialects.recogniser import Recogniser
from recorder.events import (
    GameNotified,
    GamesCounted,
    GamesRow,
    Line,
    ObserveRefused,
    RatingText,
    Refusal,
    TablePlayer,
)

LISTING = Path(__file__).parents[1] / "corpus/public/mekk-games-listing.txt"
ROW = "107 1835 PMFISHER    1831 Sfumato    [ br  5   0]   2:08 -  3:25 (31-30) W:  9"


def row(text: str) -> GamesRow:
    got = parse_row(Line(text, 0))
    assert got is not None, text
    return got


def test_a_row() -> None:
    assert row(ROW) == GamesRow(
        Line(ROW, 0),
        107,
        TablePlayer("PMFISHER", False, RatingText("1835", 1835), None, 128, 31),
        TablePlayer("Sfumato", False, RatingText("1831", 1831), None, 205, 30),
        None,
        False,
        "b",
        "blitz",
        True,
        5,
        0,
        True,
        9,
    )


@pytest.mark.parametrize(
    "text",
    [
        ROW,
        "239 1133 Waltherion  1200 LordoftheP [pbr  5   0]   4:27 -  4:43 (39-39) W: 12",
        "141 ++++ GuestSHMH   ++++ Shadowiced [ su120  12] 2:01:55 -1:59:52 (21-19) B: 20",
        "222 ---- Gabelee     ---- rAgeJAY    [ Bu 10   0]   0:47 -  1:11 (38-22) W: 49",
        "151 (Exam. 1591 Mystprism   1361 joelbaby  ) [ Br  2   0] W: 11",
        "233 (Setup 1342 Mekk        1342 Mekk      ) [ uu  0   0] W:  1",
        "702 1346 abi                  1437 marath(GM)           sr  20   0       B:  4",
    ],
)
def test_rows_both_ways(text: str) -> None:
    assert format_row(row(text)) == text


def test_every_row_of_a_real_table_is_read_and_written_back() -> None:
    rows = 0
    for text in LISTING.read_text(encoding="latin-1").splitlines():
        got = parse_row(Line(text, 0))
        if got is None:
            assert not text.strip() or parse_counted(Line(text, 0)) == GamesCounted(Line(text, 0), 267, None)
            continue
        rows += 1
        assert format_row(got) == text.rstrip()
    assert rows == 269  # examined games are not counted by the server


def test_names_that_fill_their_column_may_be_cut() -> None:
    got = row("143 1995 Kingkonglon ++++ jacksquart [ su 15   0]  14:54 - 14:49 (38-39) B:  3")
    assert (got.white.cut, got.black.cut) == (True, True)
    assert (row(ROW).white.cut, row(ROW).black.cut) == (False, False)
    assert not row("702 1346 averyverylongname      1437 marath   sr  20   0       B:  4").white.cut


@pytest.mark.parametrize(
    ("kind", "category"),
    [("9u", "chess960"), ("9r", "chess960"), ("?u", "untimed"), ("ou", "slow"), ("Cr", "capablanca"), ("#r", None)],
)
def test_letters_that_are_none(kind: str, category: str | None) -> None:
    got = row(f"  1 1500 Ann         1500 Bob        [ {kind}  5   1]  0:00 -  0:00 (39-39) W:  1")
    assert (got.kind, got.category, got.rated) == (kind[0], category, kind[1] == "r")
    private = row(f"  1 1500 Ann         1500 Bob        [p{kind}  5   1]  0:00 -  0:00 (39-39) W:  1")
    assert (private.private, private.category) == (True, category)


def test_a_row_that_was_asked_for_and_is_not_there() -> None:
    line = Line("No matching games were found (of 12 in progress).", 0)
    assert parse_counted(line) == GamesCounted(line, 0, 12)


def test_states_and_letters() -> None:
    examined = row("151 (Exam. 1591 Mystprism   1361 joelbaby  ) [ Br  2   0] W: 11")
    assert (examined.state, examined.category, examined.rated, examined.white.clock_s) == (
        "Exam.",
        "bughouse",
        True,
        None,
    )
    assert row("9 1591 A   1361 B [ qr  2   0]   0:10 -  0:20 ( 1- 2) W: 11").category is None
    # FatICS prints a blank less; ICC no brackets, and its capital letters are not those of FICS.
    assert row("  2 ---- Short       ---- Anand      [ bu  5   1]  0:00 -  0:00 (38-38) B:  9").base_min == 5
    icc = row("1263 2876 tuechdisaigon(C)     2903 paj                sr 60  15       B: 16")
    assert (icc.white.titles, icc.black.titles, icc.category) == ("C", "", "standard")
    assert row("1263 2876 A     2903 paj                Br 60  15       B: 16").category is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        ROW + " and more",
        ROW.replace("W:", "X:"),
        ROW.replace("2:08", "2:08:08:08"),
        ROW.replace("2:08", ":08"),
        " 22 players displayed (of 381).",
        "1138.Ishtaire        ----.fixerator       ----^Revival",
        "A kibitzes: " + ROW,
        "9" * 5000 + ROW,
    ],
)
def test_no_rows(text: str) -> None:
    assert parse_row(Line(text, 0)) is None


players = st.builds(
    lambda name, rating: (name, rating),
    st.from_regex(r"[A-Za-z][A-Za-z0-9]{2,9}", fullmatch=True),
    st.sampled_from(["++++", "----"]) | st.integers(0, 3200).map(str),
)


@given(
    number=st.integers(1, 9999),
    white=players,
    black=players,
    private=st.booleans(),
    kind=st.sampled_from("bsluwxzBSLnq"),
    rated=st.booleans(),
    base=st.integers(0, 999),
    increment=st.integers(0, 999),
    clocks=st.tuples(st.integers(0, 40000), st.integers(0, 40000)) | st.none(),
    state=st.sampled_from([None, "Exam.", "Setup"]),
    to_move=st.booleans(),
    move_no=st.integers(1, 500),
)
def test_rows_as_written_are_parsed(
    number: int,
    white: tuple[str, str],
    black: tuple[str, str],
    private: bool,
    kind: str,
    rated: bool,
    base: int,
    increment: int,
    clocks: tuple[int, int] | None,
    state: str | None,
    to_move: bool,
    move_no: int,
) -> None:
    times = (None, None) if clocks is None or state is not None else clocks
    material = (None, None) if times[0] is None else (39, 5)
    first, second = (
        TablePlayer(
            name, len(name) >= width, RatingText(rating, int(rating) if rating.isdigit() else None), None, clock, left
        )
        for (name, rating), width, clock, left in zip((white, black), (11, 10), times, material, strict=True)
    )
    category = row(ROW.replace("br", f"{kind}r")).category
    made = GamesRow(
        Line("", 0), number, first, second, state, private, kind, category, rated, base, increment, to_move, move_no
    )
    text = format_row(made)
    assert row(text) == GamesRow(
        Line(text, 0), number, first, second, state, private, kind, category, rated, base, increment, to_move, move_no
    )


@given(st.text(max_size=100))
def test_any_text_is_read_or_not(text: str) -> None:
    line = Line(text, 0)
    for parse in (parse_row, parse_counted, parse_notified, parse_refusal):
        parse(line)


@pytest.mark.parametrize(
    ("text", "displayed", "total"),
    [
        ("There are no games in progress.", 0, None),
        ("  2 games displayed (of   2 in progress).", 2, 2),
        ("  1 game displayed.", 1, None),
        ("267 games displayed.", 267, None),
    ],
)
def test_the_end_of_the_table(text: str, displayed: int, total: int | None) -> None:
    got = parse_counted(Line(text, 0))
    assert got == GamesCounted(Line(text, 0), displayed, total)
    assert format_counted(got) == text


def test_other_forms_of_the_end() -> None:
    assert parse_counted(Line("         47 games displayed (of 504).", 0)) is not None
    assert parse_counted(Line(" 22 players displayed (of 381).", 0)) is None


def test_a_notification() -> None:
    text = "Game notification: A (1515) vs. B ( 712) rated standard 10 30: Game 30"
    got = parse_notified(Line(text, 0))
    assert got == GameNotified(
        Line(text, 0), 30, "A", RatingText("1515", 1515), "B", RatingText("712", 712), True, "standard", 10, 30
    )
    assert parse_notified(Line(text.removesuffix(": Game 30"), 0)) is None


@pytest.mark.parametrize(
    ("text", "reason", "game_no"),
    [
        ("You are already observing the maximum number of games.", Refusal.LIMIT, None),
        ("You are already observing game 77.", Refusal.ALREADY, 77),
        ("You are not observing game 7.", Refusal.NOT_OBSERVING, 7),
        ("You are not observing any games.", Refusal.NOT_OBSERVING, None),
        ("There is no such game.", Refusal.NO_SUCH_GAME, None),
        ("You cannot observe a game that you are playing.", Refusal.OWN_GAME, None),
        ("You are still examining a game.", Refusal.EXAMINING, None),
    ],
)
def test_refusals(text: str, reason: Refusal, game_no: int | None) -> None:
    got = parse_refusal(Line(text, 0))
    assert got == ObserveRefused(Line(text, 0), reason, game_no)
    assert format_refusal(got) == text


def test_a_refusal_that_no_server_prints_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="no server prints"):
        format_refusal(ObserveRefused(Line("", 0), Refusal.LIMIT, 12))


def test_other_words_for_refusals() -> None:
    assert parse_refusal(Line("You cannot observe yourself.", 0)) is not None
    assert parse_refusal(Line("You are still setting up a position.", 0)) is not None


def test_the_recogniser_knows_them_and_keeps_the_line() -> None:
    texts = [ROW, "267 games displayed.", "There is no such game.", "Bob tells you: " + ROW]
    events = Recogniser().feed([Line(f"fics% {texts[0]}", 0), *(Line(text, 0) for text in texts[1:])])
    assert [type(event).__name__ for event in events] == ["GamesRow", "GamesCounted", "ObserveRefused", "ChatLine"]
