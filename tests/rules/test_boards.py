"""Variants whose boards decide: literal moves, explosions, castling of shuffled kings."""

import pytest

from recorder.rules.fen import board_from_fen, position_from_fen
from recorder.rules.position import Position, Rules, decode_move
from recorder.rules.prove import Step, advance, play_san


def at(text: str) -> Position:
    return position_from_fen(text, Rules.BOARDS)


def proved(step: Step | str) -> tuple[str, str, Position]:
    assert not isinstance(step, str), step
    return decode_move(step[0]), step[1], step[2]


@pytest.mark.parametrize(
    ("before", "lan", "pretty", "after", "uci"),
    [
        ("8/8/8/3p4/4P3/8/8/8 w - -", "P/e4-d5", "exd5", "8/8/8/3P4/8/8/8/8", "e4d5"),
        ("8/8/8/3pP3/8/8/8/8 w - d6", "P/e5-d6", "exd6", "8/8/3P4/8/8/8/8/8", "e5d6"),
        ("8/4P3/8/8/8/8/8/8 w - -", "P/e7-e8=K", "e8=K", "4K3/8/8/8/8/8/8/8", "e7e8k"),
        ("8/4P3/8/8/8/8/8/8 w - -", "P/e7-e8", "e8=K", "4K3/8/8/8/8/8/8/8", "e7e8k"),
        ("8/4P3/8/8/8/8/8/8 w - -", "P/e7-e8", "e8", "4R3/8/8/8/8/8/8/8", "e7e8r"),
        ("k7/8/8/8/8/8/8/8 w - -", "N/@@-c7", "N@c7", "k7/2N5/8/8/8/8/8/8", "N@c7"),
        ("8/8/8/8/8/8/8/K6q w - -", "K/a1-b1", "Kb1", "8/8/8/8/8/8/8/1K5q", "a1b1"),  # suicide: no check there
    ],
)
def test_a_literal_move_that_gives_the_board(before: str, lan: str, pretty: str, after: str, uci: str) -> None:
    found, san, position = proved(advance(at(before), lan, pretty, board_from_fen(after)))
    assert (found, san, position.board) == (uci, pretty, board_from_fen(after))
    assert not position.in_check


def test_an_atomic_capture_empties_its_surroundings_but_for_pawns() -> None:
    before = "rnbqkbnr/ppp1pppp/8/3p4/8/2N5/PPPPPPPP/R1BQKBNR w KQkq -"
    after = board_from_fen("rnbqkbnr/ppp1pppp/8/8/8/8/PPPPPPPP/R1BQKBNR")
    assert proved(advance(at(before), "N/c3-d5", "Nxd5", after))[0] == "c3d5"
    near = "4k3/8/2nqp3/3p4/2N5/4N3/8/4K3 w - -"
    gone = board_from_fen("4k3/8/4p3/8/8/8/8/4K3")
    assert proved(advance(at(near), "N/e3-d5", "Nxd5", gone))[2].board == gone
    spared = board_from_fen("4k3/8/2n1p3/8/8/8/8/4K3")  # a piece beside the capture survived: no explosion
    assert advance(at(near), "N/e3-d5", "Nxd5", spared) == "boards differ"


def test_an_explosion_needs_a_capture_and_takes_the_right_of_a_lost_rook() -> None:
    quiet = "4k3/8/2n5/8/8/4N3/8/4K3 w - -"
    assert advance(at(quiet), "N/e3-d5", "Nd5", board_from_fen("4k3/8/8/8/8/8/8/4K3")) == "boards differ"
    rook = "r3k2r/8/8/8/8/8/6Q1/R3K2R w KQkq -"
    after = proved(advance(at(rook), "Q/g2-g8", "Qg8", None))[2]
    boom = proved(advance(at(rook), "Q/g2-a8", "Qxa8", board_from_fen("4k2r/8/8/8/8/8/8/R3K2R")))[2]
    assert (after.castling, boom.castling) == (15, 7)


@pytest.mark.parametrize(
    ("before", "lan", "pretty", "after", "uci"),
    [
        ("8/8/8/8/8/8/8/R3K2R w KQ -", "o-o", "O-O", "8/8/8/8/8/8/8/R4RK1", "e1g1"),
        ("8/8/8/8/8/8/8/R2K3R w - -", "o-o", "O-O", "8/8/8/8/8/8/8/R4RK1", "d1h1"),
        ("8/8/8/8/8/8/8/R2K3R w - -", "o-o", "O-O", "8/8/8/8/8/8/8/1KR4R", "d1a1"),  # mirrored, as wild 1 has it
        ("6kr/8/8/8/8/8/8/8 b - -", "o-o", "O-O", "5rk1/8/8/8/8/8/8/8", "g8h8"),
        ("8/8/8/8/8/8/8/R3K3 w - -", "o-o", "O-O", "8/8/8/8/8/8/8/R5K1", "e1g1"),  # a king's step that 1.6.2 calls so
    ],
)
def test_castling_is_what_the_boards_show(before: str, lan: str, pretty: str, after: str, uci: str) -> None:
    # Edge case 29: `o-o` with the king on d1 (wild 1) or a chess960 king.
    found, san, position = proved(advance(at(before), lan, pretty, board_from_fen(after)))
    assert (found, san, position.castling) == (uci, pretty, 0)


@pytest.mark.parametrize(
    ("lan", "pretty", "after"),
    [
        ("o-o", "O-O", "8/8/8/8/8/8/8/R3K2R"),
        ("o-o", "O-O", "8/8/8/8/8/8/8/R4QK1"),
        ("o-o", "O-O", "8/8/8/8/8/8/P7/R4RK1"),
        ("o-o", "O-O-O", "8/8/8/8/8/8/8/R4RK1"),
        ("K/e1-e2", "Kd2", "8/8/8/8/8/8/4K3/R6R"),
        ("K/e1-e2", "Ke2", "8/8/8/8/8/8/3K4/R6R"),
        ("R/a1-h1", "Rh1", "8/8/8/8/8/8/8/4K2R"),
        ("Q/a1-a2", "Qa2", "8/8/8/8/8/8/R7/4K2R"),
        ("Q/@@-a1", "Q@a1", "8/8/8/8/8/8/8/Q3K2R"),
    ],
)
def test_boards_that_contradict_the_move(lan: str, pretty: str, after: str) -> None:
    assert isinstance(advance(at("8/8/8/8/8/8/8/R3K2R w KQ -"), lan, pretty, board_from_fen(after)), str)


def test_movelist_moves_resolve_to_the_one_piece_that_can_move_so() -> None:
    position = at("4k3/8/8/8/8/8/3P4/RN2K2R w KQ -")
    assert [proved(play_san(position, san))[0] for san in ("Na3", "d4", "O-O", "Rh4", "Ra7")] == [
        "b1a3",
        "d2d4",
        "e1g1",
        "h1h4",
        "a1a7",
    ]
    assert play_san(position, "O-O-O") == "castling is not possible"
    assert play_san(position, "Nd5") == "no piece can make this move"
    assert play_san(at("8/8/8/8/8/N7/8/N7 w - -"), "Nc2") == "ambiguous move"
    assert proved(play_san(at("8/8/8/8/8/N7/8/N7 w - -"), "N3c2"))[0] == "a3c2"
