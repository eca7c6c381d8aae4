"""Answers to ``moves``, ``oldmoves``, ``smoves``."""

from datetime import UTC, datetime

import pytest

from recorder.dialects.movelist import format_movelist, parse_started
from recorder.events import GameEnded, ListRow, MovelistRead, Unrecognised
from recorder.events.frames import Style12
from tests.dialects.lines import FRAME, read_corpus, recognise

HEADER = (
    "Movelist for game 12:",
    "",
    "A (1626) vs. B (UNR) --- Mon Nov  4, 08:38 CET 2002",
    "Rated standard match, initial time: 10 minutes, increment: 12 seconds.",
    "",
)
COLUMNS = ("Move  A                       B", "----  ---------------------   ---------------------")
ROWS = ("  1.  e4      (0:00.000)      e6      (0:00.000)", "  2.  Qxe5+   (1:14:24.313)")
RUNNING = "      {Still in progress} *"


def only(*texts: str) -> MovelistRead:
    (event,) = recognise(*texts)
    assert isinstance(event, MovelistRead)
    return event


def test_a_running_game() -> None:
    got = only(*HEADER, *COLUMNS, *ROWS, RUNNING)
    assert got.white_rating is not None
    assert got.black_rating is not None
    assert (got.game_no, got.white, got.white_rating.value, got.black, got.black_rating.text) == (
        12,
        "A",
        1626,
        "B",
        "UNR",
    )
    assert got.black_rating.value is None
    assert (got.rated, got.category, got.base_min, got.increment_s) == (True, "standard", 10, 12)
    assert got.started_at_ms == int(datetime(2002, 11, 4, 7, 38, tzinfo=UTC).timestamp() * 1000)
    assert got.started_zone_known
    assert [(row.ply, row.san, row.elapsed_ms, row.ms) for row in got.rows] == [
        (1, "e4", 0, True),
        (2, "e6", 0, True),
        (3, "Qxe5+", 4_464_313, True),
    ]
    assert (got.result, got.still_running, got.complete) == ("*", True, True)
    assert (got.reason_key, got.termination) == (None, None)


@pytest.mark.parametrize(
    ("trailer", "result", "key", "termination"),
    [
        ("{White resigned} 0-1", "0-1", "resign", "normal"),
        ("{White forfeits on time} 0-1", "0-1", "time", "time forfeit"),
        ("{White ran out of time} 0-1", "0-1", "time", "time forfeit"),
        ("{Draw by the 50 move rule} 1/2-1/2", "1/2-1/2", "fifty", "normal"),
        ("{Stalemate.} 1/2-1/2", "1/2-1/2", "stalemate", "normal"),
        ("{Game drawn because neither player has mating material} 1/2-1/2", "1/2-1/2", "no-material", "normal"),
        ("{White lost connection, game adjourned} *", "*", "adjourned-lost", "unterminated"),
        ("{White lost connection; game adjourned} *", "*", "adjourned-lost", "unterminated"),
        ("{Game adjourned by mutual agreement} *", "*", "adjourned-agreed", "unterminated"),
    ],
)
def test_trailers(trailer: str, result: str, key: str, termination: str) -> None:
    got = only(*HEADER, *COLUMNS, *ROWS, "      " + trailer)
    assert (got.result, got.reason_key, got.termination) == (result, key, termination)
    assert (got.still_running, got.complete) == (False, True)


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        (
            "Unrated wild(22) match, initial time: 3 minutes, increment: 0 seconds",
            (False, "wild(22)", 3, 0, None, None),
        ),
        ("Rated Blitz match, initial time: 5 minutes, increment: 3 seconds.", (True, "blitz", 5, 3, None, None)),
        (
            "Rated blitz bughouse match, initial time: 3 minutes, increment: 0 seconds.",
            (True, "blitz bughouse", 3, 0, None, None),
        ),
        (
            "Rated blitz match, initial time: 5 minutes, increment: 3 seconds AND 10 minutes, increment: 0 seconds.",
            (True, "blitz", 5, 3, 10, 0),
        ),
    ],
)
def test_match_lines(line: str, facts: tuple[object, ...]) -> None:
    got = only(HEADER[2], line, *COLUMNS, *ROWS, RUNNING)
    assert (
        got.rated,
        got.category,
        got.base_min,
        got.increment_s,
        got.black_base_min,
        got.black_increment_s,
    ) == facts
    assert got.game_no is None


@pytest.mark.parametrize(
    ("text", "utc"),
    [
        ("Fri Nov  5, 04:33 PDT 2010", datetime(2010, 11, 5, 11, 33, tzinfo=UTC)),
        ("Tue Aug 11, 05:37 EDT 2015", datetime(2015, 8, 11, 9, 37, tzinfo=UTC)),
        ("2010-10-14 20:36 UTC", datetime(2010, 10, 14, 20, 36, tzinfo=UTC)),
    ],
)
def test_dates_with_a_known_zone(text: str, utc: datetime) -> None:
    assert parse_started(text) == (int(utc.timestamp() * 1000), True, False)


@pytest.mark.parametrize("text", ["2002.11.04 08:38:00", "Sun Jan 11, 17:40 ??? 2009", "Sun Jan 11, 17:40 XYZ 2009"])
def test_dates_of_which_the_zone_is_unknown(text: str) -> None:
    at_ms, zone_known, with_seconds = parse_started(text)
    assert at_ms is not None
    assert not zone_known
    assert with_seconds is (text == "2002.11.04 08:38:00")


@pytest.mark.parametrize("text", ["", "yesterday", "2002.13.04 08:38:00", "Sun Foo 11, 17:40 UTC 2009"])
def test_what_is_no_date(text: str) -> None:
    assert parse_started(text) == (None, False, False)


@pytest.mark.parametrize(
    ("row", "halves"),
    [
        ("  1.  ...     (0:00.000)      e5      (0:00.000)", [(2, "e5", 0)]),
        ("  1.  ...     e5", [(2, "e5", None)]),
        ("  1.  NONE    (0:00)     e5      (0:01)", [(2, "e5", 1000)]),
        ("  1.  ...     (0:00.000)   ", []),
        ("1. d4 (0:02) d5 (0:02) ", [(1, "d4", 2000), (2, "d5", 2000)]),
        ("  1.  P@f2+   (0:00.875)      O-O-O", [(1, "P@f2+", 875), (2, "O-O-O", None)]),
        ("  1.  h8=Q#   (0:01)", [(1, "h8=Q#", 1000)]),
    ],
)
def test_rows(row: str, halves: list[tuple[int, str, int | None]]) -> None:
    got = only(*HEADER, *COLUMNS, row, RUNNING)
    assert [(half.ply, half.san, half.elapsed_ms) for half in got.rows] == halves


@pytest.mark.parametrize("number", [1, 2, 3])
@pytest.mark.parametrize("white", [True, False])
@pytest.mark.parametrize("text", ["Nf6/H", "?x?", "e9=", "--", "\xbf\xbf", "B*b5!"])
def test_a_row_with_a_text_that_is_no_move(text: str, white: bool, number: int) -> None:
    """It stays a half-move of its side, and the list goes on to its last line."""
    rows = [f"  {row}.  e4      (0:01)          e5      (0:02)" for row in (1, 2, 3)]
    rows[number - 1] = rows[number - 1].replace("e4" if white else "e5", text)
    got = only(*HEADER, *COLUMNS, *rows, "      {A resigns} 0-1")
    expected = [(ply, "e4" if ply % 2 else "e5", 1000 if ply % 2 else 2000) for ply in range(1, 7)]
    at = 2 * number - white
    expected[at - 1] = at, text, expected[at - 1][2]
    assert [(half.ply, half.san, half.elapsed_ms) for half in got.rows] == expected
    assert (got.complete, got.result, got.unread) == (True, "0-1", ())


@pytest.mark.parametrize(
    ("row", "halves", "unread"),
    [
        ("  2.  Nf3     (-27:-36. -60)  Nc6     (0:03)", [(3, "Nf3", None), (4, "Nc6", 3000)], 1),
        ("  2.  Nf3     (0:02)          Nc6     (0:0x)", [(3, "Nf3", 2000), (4, "Nc6", None)], 1),
        ("  2.  Nf3/E                   Nc6     (0:03)", [(3, "Nf3/E", None), (4, "Nc6", 3000)], 0),
        ("  2.  Nf3/E   (0:02)", [(3, "Nf3/E", 2000)], 0),
        ("  \xb2.  Nf3     (0:02)          Nc6     (0:03)", [(3, "Nf3", 2000), (4, "Nc6", 3000)], 0),
    ],
)
def test_a_row_that_is_read_in_part(row: str, halves: list[tuple[int, str, int | None]], unread: int) -> None:
    got = only(*HEADER, *COLUMNS, ROWS[0], row, "  3.  Bb5     (0:02)", "      {A resigns} 0-1")
    assert [(half.ply, half.san, half.elapsed_ms) for half in got.rows[2:-1]] == halves
    assert (got.rows[-1].ply, got.result, len(got.unread)) == (5, "0-1", unread)


@pytest.mark.parametrize(
    "text", ["  4.  e4/H    (0:01)", "  2.  a b  c d  e f", "2. (0:02) (0:03)", "  a.  b", "  ?.  Nf6/H  (0:02)", "2."]
)
def test_a_line_that_is_no_row_ends_the_list(text: str) -> None:
    found = recognise(*HEADER, *COLUMNS, ROWS[0], text)
    assert isinstance(found[0], MovelistRead)
    assert len(found[0].rows) == 2


@pytest.mark.parametrize("relation", ["-4", "-3", "0"])
def test_the_start_position_belongs_to_the_list(relation: str) -> None:
    start = (
        f"<12> qnrkbbnr pppppppp -------- -------- -------- -------- PPPPPPPP QNRKBBNR W -1 1 0 1 0 1 12 A B "
        f"{relation} 3 0 39 39 173 170 1 none (0:00) none 0"
    )
    got = only(*HEADER, start, *COLUMNS, *ROWS, RUNNING)
    assert got.start_frame is not None
    assert got.start_frame.relation == int(relation)


def test_frames_of_running_games_come_out_of_a_list() -> None:
    found = recognise(*HEADER, FRAME, *COLUMNS, ROWS[0], FRAME.replace(" 12 A B", " 13 C D"), ROWS[1], RUNNING)
    assert [type(event) for event in found] == [Style12, Style12, MovelistRead]
    assert isinstance(found[2], MovelistRead)
    assert found[2].start_frame is None
    assert len(found[2].rows) == 3


def test_a_list_without_trailer_ends_at_the_first_line_that_is_no_row() -> None:
    found = recognise(*HEADER, *COLUMNS, *ROWS, "something else")
    assert [type(event) for event in found] == [MovelistRead, Unrecognised]
    got = found[0]
    assert isinstance(got, MovelistRead)
    assert (got.complete, got.result, len(got.rows)) == (False, None, 3)


def test_a_list_that_the_log_cuts() -> None:
    got = only(*HEADER, *COLUMNS, *ROWS)
    assert not got.complete


def test_a_line_of_names_alone_is_no_list() -> None:
    assert [type(event) for event in recognise(HEADER[2], "something else")] == [Unrecognised, Unrecognised]


def test_a_result_in_the_middle_leaves_the_list_open() -> None:
    found = recognise(*HEADER, *COLUMNS, ROWS[0], "{Game 9 (C vs. D) C resigns} 0-1", ROWS[1], RUNNING)
    assert [type(event) for event in found] == [GameEnded, MovelistRead]


def test_format_is_the_inverse() -> None:
    got = only(*HEADER, *COLUMNS, *ROWS, RUNNING)
    reread = only(*format_movelist(got))
    assert (reread.game_no, reread.white, reread.white_rating, reread.started_at_ms, reread.category) == (
        got.game_no,
        got.white,
        got.white_rating,
        got.started_at_ms,
        got.category,
    )
    assert [row._replace(offset=0) for row in reread.rows] == [row._replace(offset=0) for row in got.rows]
    assert (reread.result, reread.still_running) == (got.result, got.still_running)


@pytest.mark.parametrize(
    ("file", "rows", "complete"),
    [
        ("ictk-movelist-34.txt", 18, True),
        ("pychess-movelist-64.txt", 6, True),
        ("fcl-movelist-214-bughouse.txt", 31, True),
        ("pychess-stored-list-1.txt", 3, True),
        ("lila-relay-277-wrapped-frame.txt", 14, True),
    ],
)
def test_captured_lists(file: str, rows: int, complete: bool) -> None:
    lists = [event for event in read_corpus(file)[0] if isinstance(event, MovelistRead)]
    assert [(len(event.rows), event.complete) for event in lists] == [(rows, complete)]


def test_rows_have_their_offset() -> None:
    got = only(*HEADER, *COLUMNS, *ROWS, RUNNING)
    assert got.rows[-1] == ListRow(3, "Qxe5+", 4_464_313, True, 8000)
