"""Openings by position: the table itself, transpositions, and games without an opening."""

import random
import re

import chess
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.openings import DEEPEST, TABLE, Opening, find_opening
from recorder.rules.fen import position_from_fen
from recorder.rules.keys import position_keys
from recorder.rules.position import Rules, encode_move
from tests.exporters.games import make_game
from tests.openings.lines import Row, moves_of, table

START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return table()


def numbered(moves: list[int]) -> list[tuple[int, int]]:
    return list(enumerate(moves, 1))


def of(line: str) -> Opening | None:
    return find_opening(numbered(moves_of(*line.split())))


def test_every_row_of_the_table_is_itself(rows: list[Row]) -> None:
    assert len(rows) == 3807
    assert {row: find_opening(numbered(row.moves())) for row in rows} == {
        row: Opening(row.eco, row.name, len(row.sans)) for row in rows
    }


def test_no_two_rows_have_one_position(rows: list[Row]) -> None:
    lines = TABLE.read_text(encoding="utf-8").splitlines()
    assert len({line[:16] for line in lines if line[0] != "#"}) == len(rows)


def test_the_table_has_version_and_licence() -> None:
    head = [line for line in TABLE.read_text(encoding="utf-8").splitlines() if line[0] == "#"]
    assert re.search(r"commit [0-9a-f]{40}", head[1])
    assert "CC0 1.0" in head[2]


def test_the_longest_line_is_as_long_as_is_looked_at(rows: list[Row]) -> None:
    assert max(len(row.sans) for row in rows) == DEEPEST
    assert all(re.fullmatch(r"[A-E][0-9][0-9]", row.eco) for row in rows)


@pytest.mark.parametrize(
    ("line", "eco", "name", "ply"),
    [
        ("c4 d5 d4", "D06", "Queen's Gambit", 3),
        ("d4 d5 c4 a6 h3 h6", "D06", "Queen's Gambit", 3),
        ("Nf3 d6 e4 c5 d4 cxd4 Nxd4 Nf6 Nc3 a6", "B90", "Sicilian Defense: Najdorf Variation", 10),
        ("e4 c5 Nf3 d6 d4 cxd4 Nxd4 Nf6 Nc3 a6 h4 h5 Rh3", "B90", "Sicilian Defense: Najdorf Variation", 10),
        ("e4 e5 Nf3 Nc6 Bb5 a6 Bxc6 dxc6 O-O", "C69", "Ruy Lopez: Exchange Variation, Normal Variation", 9),
    ],
)
def test_the_last_named_position_counts_whatever_led_to_it(line: str, eco: str, name: str, ply: int) -> None:
    found = of(line)
    assert found is not None
    assert found == Opening(eco, name, ply)
    family, _, variation = name.partition(": ")
    assert (found.family, found.variation) == (family, variation or None)


def test_castling_rights_count() -> None:
    """The same squares without the right to castle are another position."""
    assert of("e4 e5 Ke2 Ke7 Ke1 Ke8") != of("e4 e5")
    assert of("e4 e5 Ke2 Ke7 Ke1 Ke8") == of("e4 e5 Ke2 Ke7") or of("e4 e5 Ke2 Ke7 Ke1 Ke8") == of("e4 e5 Ke2")


def test_keys_tell_positions_apart_as_python_chess_does() -> None:
    """Promotion, castling and en passant included: one key for each board, side, rights and legal capture."""
    rng = random.Random(7)
    by_key: dict[int, str] = {}
    for _ in range(12):
        board, moves, expected = chess.Board(), [], []
        while len(moves) < 120 and not board.is_game_over():
            choice = list(board.legal_moves)
            special = [one for one in choice if one.promotion or board.is_en_passant(one) or board.is_castling(one)]
            board.push(rng.choice(special or choice))
            moves.append(encode_move(board.peek().uci()))
            expected.append(board.epd(en_passant="legal"))
        for key, epd in zip(position_keys(moves), expected, strict=True):
            assert by_key.setdefault(key, epd) == epd
    assert len(set(by_key.values())) == len(by_key)


@given(st.lists(st.integers(0, 0xFFFF), max_size=60), st.sampled_from(("start", "pawns")))
def test_no_move_that_a_log_may_have_is_an_error(moves: list[int], begin: str) -> None:
    pawns = position_from_fen("pPpPpPpP/PPPPpppp/pPpP1PpP/8/8/1PpPpPpP/PPPPpppp/PpPpPpPp w - -", Rules.CHESS)
    assert len(position_keys(moves, None if begin == "start" else pawns)) <= len(moves)


def test_keys_stay_the_same() -> None:
    """They are stored with the table."""
    assert f"{position_keys(moves_of('Na3'))[0]:016x}" == "1e98e11e6f716310"


def test_nothing_counts_after_an_unknown_move_or_a_missing_ply() -> None:
    moves = moves_of("e4", "c5", "Nf3", "d6")
    kings_pawn = Opening("B00", "King's Pawn Game", 1)
    assert find_opening([(1, moves[0]), (2, None), (3, moves[2])]) == kings_pawn
    assert find_opening([(1, moves[0]), (3, moves[2]), (4, moves[3])]) == kings_pawn
    assert find_opening([(2, moves[1])]) is None
    assert find_opening([]) is None


@pytest.mark.parametrize(
    "facts", [{"variant": "crazyhouse"}, {"variant": None}, {"start_fen": START}, {"start_ply": 2}]
)
def test_other_games_have_no_opening(facts: dict[str, object]) -> None:
    assert make_game(variant="chess", moves=["e2e4", "c7c5"]).opening == Opening("B20", "Sicilian Defense", 2)
    assert make_game(**({"variant": "chess", "moves": ["e2e4", "c7c5"]} | facts)).opening is None
