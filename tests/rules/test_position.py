"""Positions, and moves as frames print them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.rules.fen import board_from_fen, fen, position_from_fen, start_position
from recorder.rules.position import Position, Rules, decode_move
from recorder.rules.prove import Step, advance, is_checkmate, play_san, with_holdings

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def at(text: str, rules: Rules = Rules.CHESS) -> Position:
    return position_from_fen(text, rules)


def proved(step: Step | str) -> tuple[str, str, Position]:
    assert not isinstance(step, str), step
    return decode_move(step[0]), step[1], step[2]


def test_a_double_push_is_remembered_but_written_only_when_it_can_be_taken() -> None:
    # Edge case 16: "... W 4 ... e5" with no capturing pawn.
    after = "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR"
    uci, san, position = proved(advance(at(START), "P/e2-e4", "e4", after))
    assert (uci, san, position.push_col, position.board) == ("e2e4", "e4", 4, after)
    assert fen(position, 0, 1) == "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1"
    takeable = at("rnbqkbnr/ppp1pppp/8/8/3p4/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1")
    assert fen(proved(advance(takeable, "P/e2-e4", "e4", None))[2], -1, 1).endswith("b KQkq e3 0 1")


def test_a_stale_castling_flag_is_dropped_where_there_is_no_rook() -> None:
    # Edge case 18: "1 1 1 1" after the h1 rook was captured.
    board = "r---k--r -------- -------- -------- -------- -------- -------- R---K---"
    position = start_position(board, True, 15, -1, Rules.CHESS)
    assert position.castling == 14
    assert isinstance(advance(position, "o-o", "O-O", None), str)
    assert proved(advance(position, "o-o-o", "O-O-O", None))[0] == "e1c1"


def test_a_king_beside_its_square_holds_no_rights_in_chess() -> None:
    board = "r--k---r -------- -------- -------- -------- -------- -------- R--K---R"
    assert start_position(board, True, 15, -1, Rules.CHESS).castling == 0


def test_chess960_castles_with_the_outermost_rook_and_remembers_its_file() -> None:
    # Edge case 19: a frame with two rooks on one side.
    board = "-rk--rr- pppppppp -------- -------- -------- -------- PPPPPPPP -RK--RR-"
    position = start_position(board, True, 15, -1, Rules.CHESS960)
    assert position.rook_cols == (6, 1, 6, 1)
    blocked = advance(position, "o-o", "O-O", None)
    assert blocked == "illegal: castling is not allowed"
    free = start_position(board[:-9] + " -RK---R-", True, 15, -1, Rules.CHESS960)
    uci, san, after = proved(advance(free, "o-o", "O-O", board[:-9] + " -R---RK-"))
    assert (uci, san, after.castling) == ("c1g1", "O-O", 12)


def test_chess960_king_already_on_its_square_castles_by_the_rook_alone() -> None:
    # Edge case 29, the chess960 half.
    position = at("6k1/8/8/8/8/8/8/6KR w K - 0 1", Rules.CHESS960)
    uci, san, after = proved(advance(position, "o-o", "O-O", board_from_fen("6k1/8/8/8/8/8/8/5RK1")))
    assert (uci, san, after.castling) == ("g1h1", "O-O", 0)


def test_the_rook_captured_at_home_loses_its_right_in_chess960() -> None:
    position = at("1r2k1r1/8/8/8/8/8/6R1/1R2K1R1 w GBgb - 0 1", Rules.CHESS960)
    after = proved(advance(position, "R/g2-g8", "Rxg8+", None))[2]
    assert fen(after, 0, 1) == "1r2k1R1/8/8/8/8/8/8/1R2K1R1 b KQq - 0 1"


def test_an_inner_castling_rook_is_written_by_its_file() -> None:
    text = "4k3/8/8/8/8/8/8/RR2K3 w B - 0 1"
    position = at(text, Rules.CHESS960)
    assert fen(position, 0, 1) == text
    assert proved(advance(position, "o-o-o", "O-O-O", None))[2].board == board_from_fen("4k3/8/8/8/8/8/8/R1KR4")


@pytest.mark.parametrize(
    ("pretty", "san"), [("e8=Q+", "e8=Q+"), ("e8=N", "e8=N"), ("e8Q", "e8=Q+"), ("e8=q+", "e8=Q+")]
)
def test_the_promotion_piece_comes_from_the_pretty_move_when_the_verbose_one_has_none(pretty: str, san: str) -> None:
    # Edge case 26: `P/e7-e8` with `e8=Q+`.
    position = at("k7/4P3/8/8/8/8/8/4K3 w - - 0 1")
    assert proved(advance(position, "P/e7-e8", pretty, None))[1] == san


@pytest.mark.parametrize(("lan", "pretty"), [("n/b8-c6", "Nc6"), ("p/b2-b1=n", "b1=n"), ("p/a7-a6", "a6")])
def test_a_server_may_print_blacks_pieces_in_lower_case(lan: str, pretty: str) -> None:
    position = at("1n2k3/p7/8/8/8/8/1p6/4K3 b - - 0 1")
    assert proved(advance(position, lan, pretty, None))[1] == pretty.replace("=n", "=N")


def test_promotions_need_a_piece_that_both_fields_agree_on() -> None:
    position = at("k7/4P3/8/8/8/8/8/4K3 w - - 0 1")
    for lan, pretty in (("P/e7-e8", "e8"), ("P/e7-e8=Q", "e8=R+"), ("P/e7-e8", "e8=K"), ("P/e7-e8=K", "e8=K")):
        assert isinstance(advance(position, lan, pretty, None), str), (lan, pretty)


@pytest.mark.parametrize("pretty", ["Nf3", "Ngf3", "Ng1f3", "N1f3", "Nf3+", "Nf3#", "Nf3!"])
def test_a_pretty_move_may_say_more_than_needed(pretty: str) -> None:
    assert proved(advance(at(START), "N/g1-f3", pretty, None))[1] == "Nf3"


@pytest.mark.parametrize(
    "pretty", ["Nh3", "Nbf3", "N2f3", "f3", "Bf3", "Nxf3", "Nf3=Q", "O-O", "N@f3", "none", "", "??"]
)
def test_a_pretty_move_that_names_another_move_is_a_failure(pretty: str) -> None:
    assert advance(at(START), "N/g1-f3", pretty, None) == "pretty move names another move"


@pytest.mark.parametrize("pretty", ["exd6", "exd6ep", "exd6 e.p.", "exd6e.p."])
@pytest.mark.parametrize("lan", ["P/e5-d6", "P/e5-d6ep", "P/e5-d6e.p."])
def test_en_passant_marks_of_old_servers(lan: str, pretty: str) -> None:
    position = at("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1")
    uci, san, after = proved(advance(position, lan, pretty, board_from_fen("4k3/8/3P4/8/8/8/8/4K3")))
    assert (uci, san, after.push_col) == ("e5d6", "exd6", -1)


def test_mate_is_marked_whatever_was_printed() -> None:
    # Server family 1.6.2 prints + also for mate.
    position = at("7k/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    for pretty in ("Ra8+", "Ra8#", "Ra8"):
        _, san, after = proved(advance(position, "R/a1-a8", pretty, None))
        assert san == "Ra8#"
        assert is_checkmate(after)


def test_three_pieces_to_one_square_get_the_least_mark() -> None:
    position = at("8/2k5/8/8/4Q2Q/8/K7/7Q w - - 0 1")
    assert proved(advance(position, "Q/h4-e1", "Qh4e1", None))[1] == "Qh4e1"
    assert proved(advance(at("7k/8/8/8/8/R7/8/R3N2K w - - 0 1"), "R/a3-a2", "R3a2", None))[1] == "R3a2"
    pinned = at("4r2k/8/8/8/4N3/8/8/1N2K3 w - - 0 1")
    assert proved(advance(pinned, "N/b1-c3", "Nbc3", None))[1] == "Nc3"


@pytest.mark.parametrize(
    ("lan", "pretty", "after", "reason"),
    [
        ("P/e2-e4", "e4", START.split()[0], "boards differ"),
        ("P/e7-e5", "e5", None, "illegal: the piece does not move so"),
        ("P/e3-e4", "e4", None, "illegal: no such piece on that square"),
        ("B/f1-c4", "Bc4", None, "illegal: the path is not empty"),
        ("N/g1-e2", "Ne2", None, "illegal: the target square cannot be taken"),
        ("P/e2-d3", "exd3", None, "illegal: nothing to take there"),
        ("N/@@-e4", "N@e4", None, "illegal: no drops in this variant"),
        ("none", "none", None, "unreadable verbose move"),
    ],
)
def test_reasons(lan: str, pretty: str, after: str | None, reason: str) -> None:
    assert advance(at(START), lan, pretty, None if after is None else board_from_fen(after)) == reason


def test_a_pinned_piece_and_a_king_in_check() -> None:
    assert advance(at("4r2k/8/8/8/4N3/8/8/4K3 w - - 0 1"), "N/e4-c3", "Nc3", None) == "illegal: king left in check"
    assert advance(at("4r2k/8/8/8/8/8/8/4K2N w - - 0 1"), "N/h1-g3", "Ng3", None) == "illegal: king left in check"
    assert advance(at("4r2k/8/8/8/8/8/8/3K3N w - - 0 1"), "K/d1-e1", "Ke1", None) == "illegal: king left in check"


def test_a_drop_needs_the_piece_and_removes_it_from_the_holdings() -> None:
    # Edge case 28: `N/@@-e4` and `N@e4`.
    position = with_holdings(at("4k3/8/8/8/8/8/8/4K3 w - - 0 1", Rules.CRAZYHOUSE), "PN", "")
    uci, san, after = proved(advance(position, "N/@@-e4", "N@e4", board_from_fen("4k3/8/8/8/4N3/8/8/4K3")))
    assert (uci, san, after.holdings) == ("N@e4", "N@e4", ("P", ""))
    assert proved(advance(position, "P/@@-e4", "P@e4", None))[1] == "P@e4"
    assert advance(position, "Q/@@-e4", "Q@e4", None) == "illegal: piece not in hand"
    assert advance(position, "P/@@-e8", "P@e8", None) == "illegal: drop on an occupied square"
    assert advance(position, "P/@@-a8", "P@a8", None) == "illegal: pawn dropped on the first or last rank"
    assert proved(advance(position._replace(holdings=None), "Q/@@-e4", "Q@e4+", None))[1] == "Q@e4+"


def test_a_captured_promoted_piece_becomes_a_pawn_in_hand() -> None:
    position = at("4k3/P7/8/8/8/8/1q6/4K3[] w - - 0 1", Rules.CRAZYHOUSE)
    promoted = proved(advance(position, "P/a7-a8=R", "a8=R+", None))[2]
    assert fen(promoted, 0, 1).startswith("R~3k3/8/8/8/8/8/1q6/4K3[] b")
    assert position_from_fen(fen(promoted, 0, 1), Rules.CRAZYHOUSE) == promoted
    away = at("R~2k4/8/8/3b4/8/8/1q6/4K3[] b - - 0 1", Rules.CRAZYHOUSE)
    assert proved(advance(away, "B/d5-a8", "Bxa8", None))[2].holdings == ("", "P")


def test_bughouse_captures_feed_the_partner_and_mate_is_only_what_was_printed() -> None:
    position = at("4k3/8/8/3p4/4P3/8/8/4K3[] w - - 0 1", Rules.BUGHOUSE)
    assert proved(advance(position, "P/e4-d5", "exd5", None))[2].holdings == ("", "")
    corner = at("7k/5ppp/8/8/8/8/8/R5K1[] w - - 0 1", Rules.BUGHOUSE)
    assert proved(advance(corner, "R/a1-a8", "Ra8+", None))[1] == "Ra8+"
    _, san, after = proved(advance(corner, "R/a1-a8", "Ra8#", None))
    assert san == "Ra8#"
    assert not is_checkmate(after)  # the partner may pass a piece to block with
    smothered = at("6rk/6pp/8/4N3/8/8/8/6K1[] w - - 0 1", Rules.BUGHOUSE)
    assert is_checkmate(proved(advance(smothered, "N/e5-f7", "Nf7#", None))[2])


@pytest.mark.parametrize(
    ("san", "canonical"),
    [("Ngf3", "Nf3"), ("Nf3+", "Nf3"), ("N1f3", "Nf3"), ("e4", "e4"), ("e2e4", "e4"), ("a3", "a3")],
)
def test_movelist_moves_are_read_leniently(san: str, canonical: str) -> None:
    assert proved(play_san(at(START), san))[1] == canonical


@pytest.mark.parametrize(("san", "uci"), [("O-O", "e1g1"), ("o-o-o", "e1c1"), ("0-0", "e1g1")])
def test_movelist_castling(san: str, uci: str) -> None:
    assert proved(play_san(at("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"), san))[0] == uci


def test_movelist_promotions_and_drops() -> None:
    position = at("k7/4P3/8/8/8/8/8/4K3[N] w - - 0 1", Rules.CRAZYHOUSE)
    assert proved(play_san(position, "e8Q"))[1] == "e8=Q+"
    assert proved(play_san(position, "N@c7+"))[0] == "N@c7"
    pawn = with_holdings(position, "P", "")
    assert {proved(play_san(pawn, text))[0] for text in ("P@g4", "@g4")} == {"P@g4"}


def test_an_ambiguous_or_impossible_movelist_move_has_a_reason() -> None:
    position = at("7k/8/8/8/8/8/8/RN2KN1R w - - 0 1")
    assert play_san(position, "Nd2") == "ambiguous move"
    assert play_san(position, "Nd5") == "illegal: no piece can make this move"
    assert play_san(position, "hello") == "unreadable move"


@pytest.mark.parametrize(
    "text", ["", "8/8", "rnbqkbnr/pppppppp/9/8/8/8/PPPPPPPP/RNBQKBNR w - - 0 1", "8/8/8/8/8/8/8/8 x"]
)
def test_a_text_that_is_no_fen_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="FEN"):
        position_from_fen(text, Rules.CHESS)


def test_a_board_of_another_size_is_refused() -> None:
    with pytest.raises(ValueError, match="8×8"):
        start_position("rnabqkbcnr pppppppppp", True, 15, -1, Rules.CHESS)


def test_an_absurd_push_file_is_ignored() -> None:
    board = board_from_fen(START)
    assert [start_position(board, True, 15, file, Rules.CHESS).push_col for file in (-5, 3, 9)] == [-1, -1, -1]


ALMOST = st.one_of(
    st.text(max_size=12),
    st.from_regex(r"[PNBRQK]/[a-h@][1-8@]-[a-h][1-8](=[NBRQK])?", fullmatch=True),
    st.from_regex(r"[PNBRQK]?[a-h]?[1-8]?[x@]?[a-h][1-8](=[NBRQK])?[+#]?", fullmatch=True),
    st.sampled_from(["o-o", "O-O-O", "none", "@@@@", "--"]),
)


@given(
    ALMOST,
    ALMOST,
    st.one_of(st.none(), st.text(max_size=80), st.text("-KkPpQ ", min_size=71, max_size=71)),
    st.sampled_from(list(Rules)),
    st.sampled_from([START, "8/8/8/8/8/8/8/8 w", "r3k2r/P6p/8/8/8/8/p6P/R3K2R b KQkq -", "KKKKKKKK/8/8/8/8/8/8/8 b"]),
)
def test_any_strings_give_a_step_or_a_reason(lan: str, pretty: str, after: str, rules: Rules, text: str) -> None:
    position = at(text, rules)
    for step in (advance(position, lan, pretty, after), play_san(position, pretty)):
        if isinstance(step, str):
            assert step
        else:
            assert 0 <= step[0] < 1 << 16
            assert step[2].white_to_move != position.white_to_move
