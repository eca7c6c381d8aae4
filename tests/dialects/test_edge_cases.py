"""The protocol's numbered edge cases that the dialect layer decides; each name begins with the number."""

import pytest

from recorder.dialects.results import parse_results
from recorder.events import (
    ChatLine,
    ExamineNotice,
    GameEnded,
    HoldingsLine,
    Line,
    Malformed,
    MovelistRead,
    SessionNotice,
    SessionNoticeKind,
)
from recorder.events.frames import Style12
from recorder.model import Precision
from tests.dialects.lines import FRAME, recognise

BOARD = "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR"


def frame(tail: str, board: str = BOARD, tag: str = "<12> ") -> Style12:
    (got,) = recognise(f"{tag}{board} {tail}")
    assert isinstance(got, Style12), got
    return got


def ended(text: str) -> GameEnded:
    (got,) = parse_results(Line(text, 0))
    return got


def test_01_the_tag_glued_to_the_board() -> None:
    got = frame(
        "B -1 0 0 1 1 0 7 Newton Einstein 1 2 12 39 39 119 122 2 K/e1-e2 (0:06) Ke2 0",
        "rnbqkb-r pppppppp -----n-- -------- ----P--- -------- PPPPKPPP RNBQ-BNR",
        tag="<12>",
    )
    assert got.board.startswith("rnbqkb-r pppppppp")
    assert (got.ply, got.lag_ms) == (3, None)


@pytest.mark.parametrize("prompts", ["fics% ", "fics% fics% ", "fics% fics% fics% "])
def test_02_prompts_before_a_frame(prompts: str) -> None:
    (got,) = recognise(prompts + FRAME)
    assert isinstance(got, Style12)
    assert got.text == FRAME


def test_04_a_bots_message_is_no_board() -> None:
    (got,) = recognise(":" + FRAME)
    assert isinstance(got, ChatLine)


@pytest.mark.parametrize(
    ("ends", "ticking", "lag"),
    [("0", None, None), ("0 1", True, None), ("0 1 281", True, 281), ("0 1 281 9 new", True, 281)],
)
def test_07_31_to_35_tokens(ends: str, ticking: bool | None, lag: int | None) -> None:
    got = frame(f"B 4 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 {ends}")
    assert (got.ticking, got.lag_ms, got.flip) == (ticking, lag, False)


@pytest.mark.parametrize("glued", ["fics% ", "", " fics% ", " (0:0fics% ", " (0:00) efics% "])
def test_08_cut_after_the_verbose_move_with_the_prompt_glued_on(glued: str) -> None:
    got = frame(f"B 4 1 1 1 1 0 12 GuestABCDEFGHIJKL GuestMNOPQRSTUVWX 0 5 0 39 39 300 300 1 P/e2-e4{glued}")
    assert got.partial
    assert (got.verbose, got.white, got.black, got.ply) == ("P/e2-e4", "GuestABCDEFGHIJKL", "GuestMNOPQRSTUVWX", 1)


def test_08_cut_inside_the_verbose_move_is_malformed() -> None:
    (got,) = recognise(f"<12> {BOARD} B 4 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 1 P/e2-fics% ")
    assert isinstance(got, Malformed)


def test_09_the_unit_is_each_frames_own() -> None:
    tail = "B 4 1 1 1 1 0 12 A B 0 5 0 39 39 {} {} 1 P/e2-e4 ({}) e4 0 1 0"
    first, second = recognise(
        f"<12> {BOARD} {tail.format(600000, 600000, '0:00.000')}", f"<12> {BOARD} {tail.format(600, 600, '0:00')}"
    )
    assert isinstance(first, Style12)
    assert isinstance(second, Style12)
    assert (first.white_clock_ms, first.precision_code) == (600_000, Precision.MILLISECONDS)
    assert (second.white_clock_ms, second.precision_code) == (600_000, Precision.SECONDS)


def test_10_a_negative_clock_keeps_its_sign() -> None:
    got = frame("W -1 1 1 1 1 0 12 A B 0 5 0 39 39 -917 13512 62 N/c6-e5 (0:02.211) Ne5 0 1 0")
    assert (got.white_clock_ms, got.black_clock_ms) == (-917, 13_512)


@pytest.mark.parametrize(
    ("number", "elapsed", "ms"),
    [(11, "(1:14:24.313)", 4_464_313), (12, "(0:60.000)", 60_000), (13, "(0:-5)", -5_000)],
)
def test_11_12_13_elapsed(number: int, elapsed: str, ms: int) -> None:
    got = frame(f"W -1 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 {number} N/c6-e5 {elapsed} Ne5 0 1 0")
    assert got.elapsed_ms == ms


def test_14_the_initial_time_is_minutes() -> None:
    got = frame("B 4 1 1 1 1 0 12 A B 0 5 0 39 39 300000 300000 1 P/e2-e4 (0:00.000) e4 0 1 0")
    assert (got.base_min * 60_000, got.white_clock_ms) == (300_000, 300_000)


@pytest.mark.parametrize("raw", [-1, 1, -32])
def test_17_the_irreversible_count_is_kept_raw(raw: int) -> None:
    got = frame(f"B 4 1 1 1 1 {raw} 12 A B 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0 1 0")
    assert got.irreversible == raw


def test_21_NONE_with_black_to_move_is_no_move() -> None:  # noqa: N802  # the token as servers print it
    got = frame("B -1 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 1 NONE (0:00) NONE 0")
    assert not got.has_move
    assert got.ply == 1


@pytest.mark.parametrize(("relation", "number"), [(-4, 22), (-3, 23)])
def test_22_23_a_lists_start_position_is_no_live_frame(relation: int, number: int) -> None:
    start = f"<12> {BOARD} W -1 1 0 1 0 1 {number} A B {relation} 3 0 39 39 173 170 1 none (0:00) none 0"
    found = recognise(
        "A (2120) vs. B (1415) --- 2008.01.19 16:55:38 ",
        "Unrated wild(22) match, initial time: 3 minutes, increment: 0 seconds",
        start,
        "Move A B ",
        "---- ---------------- ----------------",
        " 1. d4 (0:02) d5 (0:02) ",
        " {Game in progress} *",
    )
    assert [type(event) for event in found] == [MovelistRead]
    assert isinstance(found[0], MovelistRead)
    assert found[0].start_frame is not None
    assert found[0].start_frame.text == start


def test_25_game_number_minus_one() -> None:
    assert frame("B 4 1 1 1 1 0 -1 A B -3 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 0 1 0").game_no == -1


def test_26_a_promotion_that_only_the_pretty_move_names() -> None:
    got = frame("W -1 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 9 P/e7-e8 (0:00) e8=Q+ 0 1 0")
    assert (got.verbose, got.pretty) == ("P/e7-e8", "e8=Q+")


def test_27_a_mate_with_a_plus_sign() -> None:
    assert frame("W -1 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 9 Q/d8-h4 (0:00) Qh4+ 0 1 0").pretty == "Qh4+"


def test_28_a_drop() -> None:
    got = frame("W -1 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 9 N/@@-e4 (0:00) N@e4 0 1 0")
    assert (got.verbose, got.pretty, got.has_move) == ("N/@@-e4", "N@e4", True)


def test_30_a_passed_piece_names_the_player_who_holds_it() -> None:
    (got,) = recognise("fics% <b1> game 4 white [PN] black [PN] <- BN")
    assert isinstance(got, HoldingsLine)
    assert (got.passed, got.passed_to_white) == ("N", False)


def test_43_aborted_alone() -> None:
    got = ended("{Game 12 (A vs. B) aborted} *")
    assert (got.result, got.termination, got.actor) == ("*", "abandoned", None)


def test_44_the_partner_won_names_the_winner() -> None:
    got = ended("{Game 79 (PVFLU vs. cowchess) PVFLU's partner won} 1-0")
    assert (got.result, got.reason_key, got.actor) == ("1-0", "partner-won", "PVFLU")


def test_45_numbers_after_the_result() -> None:
    got = ended("{Game 12 (A vs. B) A checkmated} 0-1 [5 0 1 0 9]")
    assert (got.result, got.reason_key) == ("0-1", "checkmate")


def test_46_a_translated_reason() -> None:
    got = ended("{Game 12 (X vs. B) X sofreu mate} 0-1")
    assert (got.result, got.reason_key, got.reason, got.termination) == ("0-1", "unknown", "X sofreu mate", "normal")


LIST = (
    "A (1626) vs. B (UNR) --- Mon Nov  4, 08:38 CET 2002",
    "Rated standard match, initial time: 10 minutes, increment: 12 seconds.",
    "Move  A                       B",
    "----  ---------------------   ---------------------",
)


@pytest.mark.parametrize(
    ("trailer", "result", "running"),
    [("{Still in progress} *", "*", True), ("{Game in progress} *", "*", True), ("{White resigned} 0-1", "0-1", False)],
)
def test_47_all_trailers_end_a_list(trailer: str, result: str, running: bool) -> None:
    (got,) = recognise(*LIST, "  1.  e4      (0:00)", "      " + trailer)
    assert isinstance(got, MovelistRead)
    assert (got.result, got.still_running, got.complete) == (result, running, True)


def test_48_a_row_without_white() -> None:
    (got,) = recognise(*LIST, "  1.  ...     e5", "      {Still in progress} *")
    assert isinstance(got, MovelistRead)
    assert [(row.ply, row.san, row.elapsed_ms) for row in got.rows] == [(2, "e5", None)]


def test_49_two_lists_differ_by_their_numbers() -> None:
    rows = ("  1.  e4      (0:00)", "      {Still in progress} *")
    found = recognise("Movelist for game 7:", *LIST, *rows, "Movelist for game 8:", *LIST, *rows)
    assert [event.game_no for event in found if isinstance(event, MovelistRead)] == [7, 8]


def test_50_a_list_without_trailer() -> None:
    found = recognise(*LIST, "  1.  e4      (0:00)", FRAME, "Width set to 200.")
    assert [type(event).__name__ for event in found] == ["Style12", "MovelistRead", "Noise"]
    assert isinstance(found[1], MovelistRead)
    assert not found[1].complete


def test_52_an_empty_variant_is_unknown() -> None:
    (got,) = recognise(
        LIST[0],
        "Unrated  match, initial time: 2 minutes, increment: 12 seconds.",
        *LIST[2:],
        "  1.  e4      (0:00)",
        "      {Still in progress} *",
    )
    assert isinstance(got, MovelistRead)
    assert (got.category, got.rated, got.base_min) == (None, False, 2)


@pytest.mark.parametrize("end", ["0", "0 1"])
def test_57_lag_that_is_not_printed_is_unknown(end: str) -> None:
    assert frame(f"B 4 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 1 P/e2-e4 (0:00) e4 {end}").lag_ms is None


@pytest.mark.parametrize(
    ("board", "verbose"),
    [
        (" ".join(["rnabqkbcnr", "pppppppppp", *["----------"] * 4, "PPPPPPPPPP", "RNABQKBCNR"]), "P/e2-e4"),
        (" ".join(["rheakaehr", *["---------"] * 8, "RHEAKAEHR"]), "R/a0-a1"),
    ],
)
def test_58_boards_of_other_sizes(board: str, verbose: str) -> None:
    got = frame(f"B 4 1 1 1 1 0 12 A B 0 5 0 39 39 300 300 1 {verbose} (0:00) e4 0 1 0", board)
    assert (got.board, got.width, got.verbose) == (board, board.index(" "), verbose)


def test_60_text_about_an_examined_game_names_what_was_asked_for() -> None:
    (got,) = recognise("Game 29: guesttick backs up 9999 moves.")
    assert isinstance(got, ExamineNotice)
    assert (got.kind, got.value) == ("backward", 9999)


def test_61_setup_mode() -> None:
    first, board, last = recognise(
        "Entering setup mode.",
        f"<12> {BOARD} W -1 0 0 0 0 0 12 A A 2 0 0 0 0 0 0 1 none (0:00) none 0 0 0",
        "Game is validated - entering examine mode.",
    )
    assert isinstance(first, ExamineNotice)
    assert isinstance(board, Style12)
    assert isinstance(last, ExamineNotice)
    assert (first.kind, last.kind, board.white_material) == ("setup-begin", "setup-end", 0)


def test_65_datagram_units_are_no_frames() -> None:
    assert not [event for event in recognise(f"\x19(26 {FRAME}", f"\x19{FRAME}") if isinstance(event, Style12)]


def test_67_any_bytes_in_names_and_words() -> None:
    (got,) = recognise("J\xc3\xb8rgen(U)[12] kibitzes: na\xefve \xff")
    assert isinstance(got, ChatLine)
    assert (got.speaker, got.text) == ("J\xc3\xb8rgen", "na\xefve \xff")


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("**** Auto-logout because you were idle more than one hour. ****", SessionNoticeKind.IDLE_LOGOUT),
        ("**** Server shutting down immediately. ****", SessionNoticeKind.SHUTDOWN),
    ],
)
def test_68_the_end_of_a_session(text: str, kind: SessionNoticeKind) -> None:
    (got,) = recognise(text)
    assert isinstance(got, SessionNotice)
    assert got.kind is kind


def test_69_each_bughouse_line_ends_the_game_it_names() -> None:
    found = recognise("{Game 12 (A vs. B) B checkmated} 1-0", "{Game 13 (C vs. D) C checkmated} 0-1")
    assert [(end.game_no, end.white, end.actor) for end in found if isinstance(end, GameEnded)] == [
        (12, "A", "B"),
        (13, "C", "C"),
    ]
