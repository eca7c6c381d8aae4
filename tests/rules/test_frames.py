"""Games without rules of ours: large boards, pieces of other games, hidden squares."""

import io

import chess.pgn
import pytest

from exporters.pgn.exporter import PgnExporter
from recorder.model import Game, Proof
from recorder.model.boards import final_board
from recorder.rules.fen import can_follow, frames_fen, frames_position
from tests.edge_cases.scripts import Found, log, only, read, sans

WIDE = "rnabqkbcnr pppppppppp ---------- ---------- ---------- ---------- PPPPPPPPPP RNABQKBCNR"
AFTER_I4 = "rnabqkbcnr pppppppppp ---------- ---------- --------P- ---------- PPPPPPPP-P RNABQKBCNR"
AFTER_H5 = "rnabqkbcnr ppppppp-pp ---------- -------p-- --------P- ---------- PPPPPPPP-P RNABQKBCNR"
AFTER_A6 = "rnabqkbcnr -pppppp-pp p--------- -------p-- --------P- ---------- PPPPPPPP-P RNABQKBCNR"
TEN_RANKS = "rheakaehr --------- -c-----c- p-p-p-p-p --------- --------- P-P-P-P-P -C-----C- --------- RHEAKAEHR"

AFTER_A4 = TEN_RANKS.replace("--------- P-P-P-P-P", "P-------- --P-P-P-P")


def frame(board: str, turn: str, move_no: int, verbose: str, pretty: str, players: str = "Cid Dan") -> str:
    return f"<12> {board} {turn} -1 1 1 1 1 0 9 {players} 0 5 0 53 53 300 300 {move_no} {verbose} (0:02) {pretty} 0 1"


def capablanca(*more: str) -> list[str]:
    return [
        "Game 9: Cid (1500) Dan (1600) rated capablanca/0 5 0",
        frame(WIDE, "W", 1, "none", "none"),
        frame(AFTER_I4, "B", 1, "P/i2-i4", "i4"),
        frame(AFTER_H5, "W", 2, "P/h7-h5", "h5"),
        *more,
    ]


def proofs_of(game: Game) -> list[tuple[str, str | None, int]]:
    return [(ply.san, ply.uci, ply.proof) for ply in game.plies]


def test_a_game_on_a_large_board_is_followed_and_nothing_of_it_is_proved() -> None:
    found = read(log(*capablanca("{Game 9 (Cid vs. Dan) Dan resigns} 1-0")))
    game = only(found)
    assert proofs_of(game) == [("i4", None, Proof.UNPROVED), ("h5", None, Proof.UNPROVED)]
    assert (game.variant, game.result, game.end, game.complete) == ("capablanca", "1-0", "result", True)
    assert game.start_fen == "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1"
    assert [ply.white_clock_ms for ply in game.plies] == [300_000, 300_000]
    assert found.anomalies() == ["variant"]  # once a game
    assert final_board(game) is None


def test_its_pgn_has_no_move_and_no_position_that_a_reader_of_chess_would_try() -> None:
    game = only(read(log(*capablanca())))
    text = PgnExporter().game_text(game)
    assert "[FEN" not in text
    assert "[SetUp" not in text
    assert '[RecorderBoard "rnabqkbcnr/pppppppppp/10/10/10/10/PPPPPPPPPP/RNABQKBCNR w KQkq - 0 1"]' in text
    assert "{Not proved: 1. i4 1... h5}" in text
    read_back = chess.pgn.read_game(io.StringIO(text.replace('[Variant "capablanca"]', "")))
    assert read_back is not None
    assert (read_back.errors, list(read_back.mainline_moves())) == ([], [])


def test_takebacks_gaps_and_repeated_boards_are_reported() -> None:
    found = read(
        log(
            *capablanca(
                frame(AFTER_H5, "W", 2, "P/h7-h5", "h5"),
                frame(AFTER_I4, "B", 1, "P/i2-i4", "i4"),
                frame(AFTER_H5, "W", 2, "P/h7-h5", "h5"),
                frame(AFTER_A6, "W", 4, "P/a7-a6", "a6"),
            )
        )
    )
    game = only(found)
    assert sans(game) == ["i4", "h5", "a6"]
    assert [line.kind.value for line in game.observations[0].lines] == ["main", "takeback"]
    assert found.anomalies() == ["variant", "gap"]
    assert not game.complete


def test_a_board_that_does_not_follow_is_a_conflict() -> None:
    found = read(log(*capablanca(frame(AFTER_H5, "B", 2, "P/a2-a4", "a4"))))
    assert [ply.proof for ply in only(found).plies][-1] == Proof.CONFLICT
    assert found.anomalies() == ["variant", "conflict"]


def test_a_piece_of_another_game_on_a_board_of_chess() -> None:
    """Seirawan chess begins on the normal board; elephants and hawks come later."""
    start = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"
    gated = "rnbqkbnr pppppppp -------- -------- -------- -----N-- PPPPPPPP RNBQKBHR"
    found = read(log(frame(start, "W", 1, "none", "none"), frame(gated, "B", 1, "N/g1-f3", "Nf3/H")))
    game = only(found)
    assert proofs_of(game) == [("Nf3/H", None, Proof.UNPROVED)]
    assert found.anomalies() == ["variant"]


def test_a_board_of_another_size_is_another_game() -> None:
    small = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"
    found = read(log(frame(small, "W", 1, "none", "none"), *capablanca()[1:], frame(small, "W", 1, "none", "none")))
    assert [sans(game) for game in found.games] == [[], ["i4", "h5"], []]


def test_hidden_squares() -> None:
    """Kriegspiel as a player sees it: the other side's men and moves are not shown."""
    mine = "???????? ???????? -------- -------- -------- -------- PPPPPPPP RNBQKBNR"
    e4 = "???????? ???????? -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR"
    lines = ["Game 9: Cid (1500) Dan (1600) rated wild(16) 5 0", frame(mine, "W", 1, "none", "none")]
    found: Found = read(log(*lines, frame(e4, "B", 1, "P/e2-e4", "e4"), frame(e4, "W", 2, "?", "?")))
    game = only(found)
    assert game.variant == "kriegspiel"
    assert proofs_of(game) == [("e4", None, Proof.UNPROVED), ("?", None, Proof.UNPROVED)]


def test_a_list_of_a_game_whose_start_is_not_known_is_kept_as_printed() -> None:
    lines = [
        "Cid (1500) vs. Dan (1600) --- Mon Nov  4, 08:38 UTC 2002",
        "Rated capablanca/0 match, initial time: 5 minutes, increment: 0 seconds.",
        "",
        "Move  Cid                Dan",
        "----  ----------------   ----------------",
        "  1.  e4      (0:00)     e5      (0:00)",
        "      {White resigned} 0-1",
    ]
    game = only(read(log(*lines)))
    assert proofs_of(game) == [("e4", None, Proof.UNPROVED), ("e5", None, Proof.UNPROVED)]


@pytest.mark.parametrize(
    ("board", "lan", "after", "follows"),
    [
        (WIDE, "P/i2-i4", AFTER_I4, True),
        (WIDE, "P/i2-i5", AFTER_I4, False),
        (WIDE, "N/i2-i4", AFTER_I4, False),
        (WIDE, "P/k2-k4", AFTER_I4, False),
        (WIDE, "P/i2-i4", TEN_RANKS, False),
        (WIDE, "o-o", AFTER_I4, True),
        (
            TEN_RANKS,
            "P/a3-a4",
            AFTER_A4,
            True,
        ),  # rank 0 is below
        (TEN_RANKS, "P/a4-a5", AFTER_A4, False),
    ],
)
def test_what_can_follow(board: str, lan: str, after: str, follows: bool) -> None:
    assert can_follow(frames_position(board, True, 0), lan, after, False) is follows
    assert not can_follow(frames_position(board, True, 0), lan, after, True)


def test_positions_are_written_as_they_were_shown() -> None:
    assert frames_fen(frames_position("?-r k--", False, 9), None, 3) == "?1r/k2 b Kq - 0 3"
