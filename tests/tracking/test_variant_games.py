"""Games of variants through the whole pipeline: lists follow the variant's rules, or the server's boards."""

import random

import chess.variant
import pytest

from recorder.model import Game, Proof
from tests.edge_cases.scripts import Table, log, only, proved, read, sans
from tests.tracking.answers import movelist


def listed(category: str, *moves: str) -> Game:
    lines = movelist(*moves, trailer="{White checkmated} 0-1")
    return only(read(log(*(line.replace("Rated blitz", f"Rated {category}") for line in lines))))


@pytest.mark.parametrize(
    ("category", "moves"),
    [
        ("atomic", ("Nf3", "f6", "Nd4", "Nh6", "Nb5", "Nf5", "Nxc7", "Kf7", "e4", "Ne3", "fxe3")),
        ("wild(27)", ("Nf3", "d5", "Ne5", "Nc6", "Nxf7#")),
        ("suicide", ("e3", "b5", "Bxb5", "Ba6", "Bxa6", "Nxa6", "Na3")),
        ("losers", ("e3", "b5", "Bxb5", "e6", "Bxd7+", "Qxd7", "Nf3")),
        ("wild/5", ("Nc6", "Nf3", "Nd4", "Nxd4")),
        ("wild/8a", ("a6", "a3", "a7", "h3", "axb8=Q")),
    ],
)
def test_lists_are_played_by_the_rules_of_their_variant(category: str, moves: tuple[str, ...]) -> None:
    game = listed(category, *moves)
    assert sans(game) == list(moves)
    assert {ply.proof for ply in game.plies} == {Proof.LIST}
    assert None not in [ply.uci for ply in game.plies]


def test_the_list_of_a_shuffle_without_its_board_is_not_played() -> None:
    game = listed("wild/2", "e4", "e5")
    assert [(ply.san, ply.uci, ply.proof) for ply in game.plies] == [
        ("e4", None, Proof.UNPROVED),
        ("e5", None, Proof.UNPROVED),
    ]


def atomic_table() -> Table:
    return Table(board=chess.variant.AtomicBoard())


def test_an_atomic_game_from_its_boards_and_from_its_list_is_the_same() -> None:
    moves = ("Nf3", "f6", "Nd4", "Nh6", "Nb5", "Nf5", "Nxc7", "Kf7", "e4", "Ne3", "fxe3")
    table = atomic_table()
    lines = [table.header("atomic"), table.frame(), *table.plays(*moves)]
    watched = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert proved(watched)
    assert [ply.uci for ply in watched.plies] == [ply.uci for ply in listed("atomic", *moves).plies]


def test_a_move_that_the_rules_refuse_but_the_boards_show_is_kept_unproved() -> None:
    """A server that does not enforce captures: its move is kept as unproved."""
    table = Table()  # python-chess plays normal chess here
    lines = [table.header("suicide"), table.frame(castling="0 0 0 0")]
    lines += [table.play(san, castling="0 0 0 0") for san in ("e4", "d5", "Nf3", "dxe4", "Ng5")]
    found = read(log(*lines, table.over("Bob resigns", "1-0")))
    game = only(found)
    assert sans(game) == ["e4", "d5", "Nf3", "dxe4", "Ng5"]
    assert [ply.proof for ply in game.plies] == [Proof.FULL, Proof.FULL, Proof.UNPROVED, Proof.FULL, Proof.FULL]
    assert found.anomalies() == ["variant"]
    assert "a capture must be made" in found.report.anomalies[0].message


def test_an_unnamed_wild_game_castles_from_d() -> None:
    """Some servers print no variant to observers, and print castling of a king on d as two squares."""
    table = Table(fen="r2k3r/pppppppp/8/8/8/8/PPPPPPPP/R2K3R w - - 0 1")
    lines = [table.observing(), table.frame(castling="1 1 1 1"), table.play("e4", castling="1 1 1 1")]
    table.board = chess.Board("1kr4r/pppppppp/8/8/4P3/8/PPPP1PPP/R2K3R w - - 1 2")
    castled = table.frame(verbose="K/d8-b8", pretty="Kb8", push=-1)
    game = only(read(log(*lines, castled)))
    assert [(ply.san, ply.uci) for ply in game.plies] == [("e4", "e2e4"), ("O-O", "d8b8")]
    assert game.variant is None


# Servers that print "wild" and not which one (FICS 1.6.2, chessd)

SHUFFLED = "rnnkqbbr/pppppppp/8/8/8/8/PPPPPPPP/RBBKQNNR w - - 0 1"
FISCHER = "bqnbrknr/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKNR w - - 0 1"


def bare_wild(fen: str, *moves: str) -> Game:
    table = Table(fen=fen)
    lines = [table.created("wild"), table.frame(castling="1 1 1 1")]
    return only(read(log(*lines, *(table.play(san, castling="1 1 1 1") for san in moves))))


def test_a_shuffle_that_is_only_called_wild_is_wild() -> None:
    game = bare_wild(SHUFFLED, "e4", "e5")
    assert (game.variant, game.variant_inferred, game.category) == ("wild", False, "wild")
    assert proved(game)


def test_a_set_up_of_chess960_does_not_show_which_wild_it_is() -> None:
    """One in five of wild/2 is one, and these servers print every castling right for it."""
    game = bare_wild(FISCHER, "e4", "e5")
    assert (game.variant, game.variant_inferred) == ("wild", False)
    assert proved(game)


@pytest.mark.parametrize("category", [*(f"wild/{number}" for number in range(6)), "wild/8", "wild/8a", "wild(1)"])
def test_a_numbered_wild_keeps_its_number_whatever_its_set_up(category: str) -> None:
    table = Table(fen=FISCHER)
    lines = [table.created(category), table.header("wild"), table.frame(castling="1 1 1 1")]
    rows = movelist("e4", "e5", trailer="{Still in progress} *")
    lines += [*table.plays("e4", "e5"), *(line.replace("Rated blitz", "Rated wild") for line in rows)]
    game = only(read(log(*lines)))
    assert (game.variant, game.variant_inferred) == (category.replace("(1)", "/1"), False)


def test_a_game_called_wild_castles_as_its_boards_show() -> None:
    castling = Table(fen="rnbkqbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBKQBNR w - - 0 1")
    lines = [castling.created("wild"), castling.frame(castling="1 1 1 1")]
    lines += [castling.play(san, castling="1 1 1 1") for san in ("Nc3", "Nf6", "b3", "b6", "Bb2", "Bb7")]
    castling.board = chess.Board("rn1kqb1r/pbpppppp/1p3n2/8/8/1PN5/PBPPPPPP/1KR1QBNR b - - 3 4")
    lines.append(castling.frame(verbose="K/d1-b1", pretty="Kb1", push=-1))
    game = only(read(log(*lines)))
    assert (game.variant, sans(game)[-1]) == ("wild", "O-O")


@pytest.mark.parametrize("number", [11, 286, 407, 616, 682])
def test_a_game_called_wild_may_castle_as_in_chess960(number: int) -> None:
    """From boards, and from a list that begins with its board."""
    table = Table(board=chess.Board.from_chess960_pos(number))
    start = table.frame()
    lines = [table.created("wild"), start]
    played: list[str] = []
    draw = random.Random(number)
    for _ in range(12):
        legal = list(table.board.legal_moves)
        castlings = [move for move in legal if table.board.is_castling(move)]
        played.append(table.board.san(draw.choice(castlings or legal)))
        lines.append(table.play(played[-1]))
    assert "O-O" in " ".join(played)
    watched = only(read(log(*lines)))
    rows = [line.replace("Rated blitz", "Rated wild") for line in movelist(*played, trailer="{Still in progress} *")]
    rows[rows.index("") + 1 : rows.index("") + 1] = [start, ""]
    of_list = only(read(log(*rows)))
    assert (watched.variant, of_list.variant) == ("wild", "wild")
    assert proved(watched)
    assert {ply.proof for ply in of_list.plies} == {Proof.LIST}
    assert [ply.uci for ply in of_list.plies] == [ply.uci for ply in watched.plies]


def test_a_wild_game_joined_late_is_no_chess() -> None:
    table = Table(fen=SHUFFLED)
    table.plays("e4", "e5")
    game = only(read(log(table.header("wild"), table.frame(), *table.plays("d3", "d6"))))
    assert (game.variant, game.variant_inferred) == ("wild", False)


def test_a_line_that_names_the_wild_variant_replaces_one_that_does_not() -> None:
    table = Table(fen=SHUFFLED)
    assert only(read(log(table.created("wild"), table.header("wild/1"), table.frame()))).variant == "wild/1"
    assert only(read(log(table.created("wild"), table.header("standard"), table.frame()))).variant == "wild"


def test_the_list_of_a_game_called_wild_is_not_played_from_the_normal_start() -> None:
    game = listed("wild", "e4", "e5")
    assert [(ply.uci, ply.proof) for ply in game.plies] == [(None, Proof.UNPROVED)] * 2
    assert game.variant == "wild"
