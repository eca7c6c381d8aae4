"""What is special in suicide, losers, atomic and the wild shuffles: what is allowed, what is not, and why."""

import pytest

from recorder.rules.fen import board_from_fen, fen, position_from_fen
from recorder.rules.position import Rules, decode_move
from recorder.rules.prove import Step, advance, has_legal_move, is_checkmate, play_san

CAPTURE = "illegal: a capture must be made"
IN_CHECK = "illegal: king left in check"
NO_CASTLING = "illegal: castling is not allowed"


def step(text: str, rules: Rules, lan: str, pretty: str | None = None, after: str | None = None) -> Step | str:
    return advance(position_from_fen(text, rules), lan, pretty, None if after is None else board_from_fen(after))


def proved(found: Step | str) -> tuple[str, str]:
    assert not isinstance(found, str), found
    return decode_move(found[0]), found[1]


@pytest.mark.parametrize(
    ("rules", "text", "lan", "uci", "san"),
    [
        (Rules.SUICIDE, "8/8/8/3p4/4P3/8/8/8 w - -", "P/e4-d5", "e4d5", "exd5"),
        (Rules.SUICIDE, "8/P7/8/8/8/8/8/k7 w - -", "P/a7-a8=K", "a7a8k", "a8=K"),
        (Rules.SUICIDE, "8/8/8/8/8/8/k7/1K6 w - -", "K/b1-a2", "b1a2", "Kxa2"),  # kings are taken
        (Rules.SUICIDE, "8/8/8/8/8/1q6/8/K7 w - -", "K/a1-b1", "a1b1", "Kb1"),  # and step beside a queen
        (Rules.SUICIDE, "8/8/8/8/4Pp2/8/8/8 b - e3", "P/f4-e3", "f4e3", "fxe3"),
        (
            Rules.LOSERS,
            "k7/8/8/3p4/4P3/8/8/4K2r w - -",
            "K/e1-d2",
            "e1d2",
            "Kd2",
        ),  # the capture would not help the king
        (Rules.LOSERS, "4k3/8/8/8/8/8/8/R3K2R w KQ -", "o-o", "e1g1", "O-O"),
        (Rules.ATOMIC, "4k3/8/8/3p4/8/2N5/8/4K3 w - -", "N/c3-d5", "c3d5", "Nxd5"),
        (Rules.ATOMIC, "8/8/8/8/8/8/3kK3/3r4 w - -", "K/e2-e3", "e2e3", "Ke3"),  # kings that touch are not in check
        (Rules.ATOMIC, "4k3/8/8/8/8/8/8/4K2R w - -", "R/h1-h8", "h1h8", "Rh8+"),
        (Rules.ATOMIC, "3qk3/3p4/8/8/8/8/4r3/3QK3 w - -", "Q/d1-d7", "d1d7", "Qxd7#"),  # the other king goes first
        (Rules.ATOMIC, "5k2/8/8/8/8/8/8/R3K2R w KQ -", "o-o", "e1g1", "O-O+"),
        (Rules.WILD, "r2k3r/8/8/8/8/8/8/R2K3R w KQkq -", "o-o", "d1b1", "O-O"),
        (Rules.WILD, "r2k3r/8/8/8/8/8/8/R2K3R w KQkq -", "o-o-o", "d1f1", "O-O-O"),
        (Rules.WILD, "4k3/8/8/8/8/8/8/R3K2R w KQ -", "o-o", "e1g1", "O-O"),
    ],
)
def test_allowed(rules: Rules, text: str, lan: str, uci: str, san: str) -> None:
    found = step(text, rules, lan)
    assert proved(found) == (uci, san)
    assert play_san(position_from_fen(text, rules), san) == found


@pytest.mark.parametrize(
    ("rules", "text", "lan", "reason"),
    [
        (Rules.SUICIDE, "8/8/8/3p4/4P3/8/8/8 w - -", "P/e4-e5", CAPTURE),
        (Rules.SUICIDE, "8/8/8/3p4/4P3/8/8/R3K3 w Q -", "o-o-o", NO_CASTLING),
        (Rules.SUICIDE, "8/8/8/8/4Pp2/8/8/8 b - e3", "P/f4-f3", CAPTURE),
        (Rules.LOSERS, "k7/8/8/3p4/4P3/8/8/4K3 w - -", "K/e1-d2", CAPTURE),
        (Rules.LOSERS, "k7/8/8/3p4/4P3/8/8/4K2r w - -", "P/e4-d5", IN_CHECK),
        (Rules.LOSERS, "k7/P7/8/8/8/8/8/4K3 b - -", "K/a8-b8", CAPTURE),
        (Rules.LOSERS, "k7/7P/8/8/8/8/8/4K3 w - -", "P/h7-h8=K", "illegal: impossible promotion"),
        (Rules.ATOMIC, "4k3/8/8/8/8/8/3p4/4K3 w - -", "K/e1-d2", "illegal: the piece does not move so"),
        (Rules.ATOMIC, "4k3/8/8/8/8/8/3p4/3QK3 w - -", "Q/d1-d2", IN_CHECK),  # it would blow up the own king
        (Rules.ATOMIC, "4k3/8/8/8/8/8/4r3/4K2R w K -", "R/h1-h8", IN_CHECK),
        (Rules.ATOMIC, "4k3/8/8/8/8/8/5r2/R3K2R w KQ -", "o-o", NO_CASTLING),
        (
            Rules.ATOMIC,
            "8/8/8/8/8/8/3p4/3Q4 b - -",
            "P/d2-d1=Q",
            "illegal: the promotion piece is missing or misplaced",
        ),
        (Rules.WILD, "r2k3r/8/8/8/8/8/8/R2K3R w - -", "o-o", NO_CASTLING),
        (Rules.WILD, "1r1k4/8/8/8/8/8/8/R2K3R w KQ -", "o-o", NO_CASTLING),  # through the rook's file
        (Rules.WILD, "3k4/8/8/8/8/8/8/RN1K3R w KQ -", "o-o", NO_CASTLING),
        (Rules.ATOMIC, "4k3/8/8/8/8/8/8/4K3 w - -", "N/@@-e4", "illegal: no drops in this variant"),
    ],
)
def test_refused(rules: Rules, text: str, lan: str, reason: str) -> None:
    if reason.endswith("misplaced"):
        lan = lan.removesuffix("=Q")
    assert step(text, rules, lan) == reason


def test_texts_and_boards_must_agree() -> None:
    text = "4k3/8/8/3p4/8/2N5/8/4K3 w - -"
    boom = "4k3/8/8/8/8/8/8/4K3"
    assert proved(step(text, Rules.ATOMIC, "N/c3-d5", "Nxd5", boom)) == ("c3d5", "Nxd5")
    assert step(text, Rules.ATOMIC, "N/c3-d5", "Nxd5", "4k3/8/8/3N4/8/8/8/4K3") == "boards differ"
    assert step(text, Rules.ATOMIC, "N/c3-d5", "Nd5", boom) == "pretty move names another move"
    assert step(text, Rules.ATOMIC, "N/c3-d5", "Nxd4", boom) == "pretty move names another move"
    assert step(text, Rules.ATOMIC, "N/c3-d5", "!", boom) == "unreadable pretty move"
    assert step(text, Rules.ATOMIC, "c3d5", "Nxd5", boom) == "unreadable verbose move"
    castle = "4k3/8/8/8/8/8/8/R3K2R w KQ -"
    assert step(castle, Rules.LOSERS, "o-o", "O-O-O", None) == "pretty move names another move"


def test_a_promotion_is_named_by_the_pretty_move_or_by_the_board() -> None:
    text = "8/P7/8/8/8/8/8/8 w - -"
    assert proved(step(text, Rules.SUICIDE, "P/a7-a8", "a8=N")) == ("a7a8n", "a8=N")
    assert proved(step(text, Rules.SUICIDE, "P/a7-a8", None, "K7/8/8/8/8/8/8/8")) == ("a7a8k", "a8=K")


def test_a_castling_that_is_printed_as_the_kings_two_steps() -> None:
    """A server that knows no castling of a king on d but plays it."""
    text, after = "r2k3r/8/8/8/8/8/8/R2K3R w - -", "r2k3r/8/8/8/8/8/8/1KR4R"
    assert proved(step(text, Rules.WILD, "K/d1-b1", "Kb1", after)) == ("d1b1", "O-O")
    assert isinstance(step(text, Rules.WILD, "K/d1-b1", "Kb1", "r2k3r/8/8/8/8/8/8/RK5R"), str)
    assert isinstance(step(text, Rules.WILD, "K/d1-b1", None, None), str)


def test_castling_that_only_the_boards_explain() -> None:
    text, after = "4k3/8/8/8/8/8/8/1R2K2R w KQ -", "4k3/8/8/8/8/8/8/2KR3R"
    assert proved(step(text, Rules.WILD, "o-o-o", "O-O-O", after)) == ("e1b1", "O-O-O")
    odd = "4k3/8/8/8/8/8/8/R1K4R"
    assert step("4k3/8/8/8/8/8/8/R2K3R w - -", Rules.WILD, "o-o-o", "O-O-O", odd)[1] == "O-O-O"


def test_an_explosion_takes_castling_rights_and_may_leave_an_en_passant() -> None:
    found = step("4k3/8/8/8/8/6p1/7r/R3K2R b KQ -", Rules.ATOMIC, "R/h2-h1")
    assert not isinstance(found, str)
    assert fen(found[2], 0, 1).split()[2] == "Q"
    pawn = position_from_fen("4k3/8/8/8/3p4/8/4P3/4K3 w - -", Rules.ATOMIC)
    pushed = play_san(pawn, "e4")
    assert not isinstance(pushed, str)
    assert fen(pushed[2], 0, 1).split()[3] == "e3"
    beside = play_san(position_from_fen("8/8/8/8/3p4/3k4/4P3/7K w - -", Rules.ATOMIC), "e4")
    assert not isinstance(beside, str)  # taking would blow up the own king
    assert fen(beside[2], 0, 1).split()[3] == "-"


def test_ends() -> None:
    exploded = position_from_fen("8/8/8/8/8/8/8/4K3 b - -", Rules.ATOMIC)
    assert not has_legal_move(exploded)
    mated = position_from_fen("R3k3/8/4K3/8/8/8/8/8 b - -", Rules.LOSERS)
    assert is_checkmate(mated)
    assert not has_legal_move(position_from_fen("8/8/8/8/8/p7/P7/8 w - -", Rules.SUICIDE))


@pytest.mark.parametrize(
    ("rules", "text", "moves", "mated"),
    [
        (Rules.CHESS, "R3k3/8/4K3/8/8/8/8/8 b - -", False, True),
        (Rules.CHESS960, "R3k3/8/4K3/8/8/8/8/8 b - -", False, True),
        (Rules.CHESS, "k7/8/1Q6/8/8/8/8/7K b - -", False, False),  # stalemate
        (Rules.CRAZYHOUSE, "R3k3/8/4K3/8/8/8/8/8[] b - -", False, True),
        (Rules.CRAZYHOUSE, "R3k3/8/4K3/8/8/8/8/8[n] b - -", True, False),  # a drop stands between
        (Rules.CRAZYHOUSE, "R3k3/8/4K3/8/8/8/8/8[p] b - -", False, True),  # a pawn cannot
        (Rules.CRAZYHOUSE, "R3k3/8/4K3/8/8/8/8/8 b - -", False, False),  # the holdings are unknown
        (Rules.BUGHOUSE, "R3k3/8/4K3/8/8/8/8/8 b - -", False, False),  # the partner may pass a piece
        (Rules.BUGHOUSE, "4k3/4Q3/4K3/8/8/8/8/8 b - -", False, True),  # and nothing can stand between
        (Rules.SUICIDE, "8/8/8/8/8/8/8/K7 b - -", False, False),  # all pieces are lost
        (Rules.SUICIDE, "R3k3/8/4K3/8/8/8/8/8 b - -", True, False),  # no king is ever mated
        (Rules.LOSERS, "R3k3/8/4K3/8/8/8/8/8 b - -", False, True),
        (Rules.LOSERS, "k7/8/1Q6/8/8/8/8/7K b - -", False, False),
        (Rules.ATOMIC, "4k3/8/8/8/8/8/8/8 w - -", False, False),  # the own king exploded
        (Rules.ATOMIC, "R6k/8/8/8/8/8/6K1/8 b - -", True, False),
        (Rules.ATOMIC, "R5nk/6pp/8/8/8/8/6K1/8 b - -", True, False),
        (Rules.HORDE, "4k3/8/8/8/8/8/8/8 w - -", False, False),  # the horde is taken
        (Rules.HORDE, "4k3/8/8/8/8/4p3/4P3/8 w - -", False, False),  # or blocked
        (Rules.HORDE, "k7/PP6/P7/8/8/8/8/8 b - -", True, False),
        (Rules.HORDE, "k7/1P6/PP6/8/8/8/8/8 b - -", True, False),
        (Rules.HORDE, "1k6/1P6/PPP5/8/8/8/8/8 b - -", False, False),
        (Rules.RACING, "8/8/8/8/8/8/8/k6K w - -", True, False),
        (Rules.RACING, "K7/8/8/8/8/1r6/8/k7 w - -", True, False),
        (Rules.WILD, "R3k3/8/4K3/8/8/8/8/8 b - -", False, True),
    ],
)
def test_what_is_over_by_rule(rules: Rules, text: str, moves: bool, mated: bool) -> None:
    position = position_from_fen(text, rules)
    assert has_legal_move(position) is moves
    assert is_checkmate(position) is mated


def test_two_pieces_that_must_be_disambiguated() -> None:
    text = "8/8/8/8/8/8/8/K2R3R w - -"
    assert proved(step(text, Rules.SUICIDE, "R/d1-f1")) == ("d1f1", "Rdf1")
    assert play_san(position_from_fen(text, Rules.SUICIDE), "Rf1") == "ambiguous move"
    assert play_san(position_from_fen(text, Rules.SUICIDE), "Rb2") == "illegal: no piece can make this move"
