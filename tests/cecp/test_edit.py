"""Edit mode: its lines both ways, and the board that they set up."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.cecp.commands import EditBoard, edit_lines
from recorder.rules.variants import STANDARD_BOARD


@given(st.text(st.characters(max_codepoint=255), max_size=60))
def test_any_line_changes_a_board_or_is_refused(text: str) -> None:
    board = EditBoard(STANDARD_BOARD)
    if not board.apply(text):
        assert board.fen(True).startswith("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR")


def edited(*lines: str, board: str = STANDARD_BOARD) -> EditBoard:
    found = EditBoard(board)
    for line in lines:
        found.apply(line)
    return found


def test_a_board_changes_square_by_square_and_keeps_the_side_to_move() -> None:
    board = edited("#", "Ke1", "Pa4", "c", "Ke8", "pa5", ".")
    assert board.is_done
    assert board.fen(True) == "4k3/8/8/p7/P7/8/8/4K3 w KQkq - 0 1"
    assert board.fen(False) == "4k3/8/8/p7/P7/8/8/4K3 b KQkq - 0 1"


def test_the_letter_x_empties_a_square_of_the_board_before() -> None:
    board = edited("xd1", "c", "xd8")
    assert not board.is_done
    assert board.fen(True) == "rnb1kbnr/pppppppp/8/8/8/8/PPPPPPPP/RNB1KBNR w KQkq - 0 1"


@pytest.mark.parametrize("line", ["Pk4", "Pa9", "Pa0", "Pa12", "castle KQkq", "ep e3", "hello"])
def test_a_line_that_no_board_of_64_squares_can_show_changes_nothing(line: str) -> None:
    board = EditBoard(STANDARD_BOARD)
    assert not board.apply(line)
    assert board.fen(True) == EditBoard(STANDARD_BOARD).fen(True)


@given(st.lists(st.sampled_from("-KQRBNPkqrbnp"), min_size=64, max_size=64))
def test_the_lines_of_a_board_set_up_that_board(squares: list[str]) -> None:
    board = " ".join("".join(squares[begin : begin + 8]) for begin in range(0, 64, 8))
    assert edited(*edit_lines(board)).fen(True) == EditBoard(board).fen(True)
