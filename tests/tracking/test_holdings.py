"""Holdings: printed ones, ones computed backwards, and drops from unknown ones."""

import chess.variant
import pytest

from recorder.model import Disposition, Game, Proof
from tests.edge_cases.scripts import Table, log, only, read, sans
from tests.exporters.games import BughouseBoard

MOVES = ("e4", "d5", "exd5", "Qxd5", "Nc3", "Qxd2+", "Bxd2")


def drop_table() -> Table:
    return Table(board=chess.variant.CrazyhouseBoard())


def joined_after(count: int) -> tuple[Table, str]:
    """Return a table and the board on which we join it."""
    table = drop_table()
    return table, table.plays(*MOVES[:count])[-1]


def hands_of(fen: str | None) -> str:
    assert fen is not None
    return fen.split()[0].partition("[")[2].removesuffix("]")


def test_holdings_printed_with_the_first_board() -> None:
    table, shown = joined_after(4)
    found = read(log(table.header("crazyhouse"), shown, table.hands(), *table.plays("Nc3")))
    assert hands_of(only(found).start_fen) == "Pp"


def test_holdings_printed_later_are_computed_backwards() -> None:
    """Two captures of pawns and two drops are between the first board and the first holdings."""
    table, shown = joined_after(3)
    lines = [table.header("crazyhouse"), shown, *table.plays("Qxd5", "d4", "P@e4", "P@h6", "gxh6"), table.hands()]
    game = only(read(log(*lines, table.play("Nc3"))))
    assert hands_of(game.start_fen) == "P"
    assert [ply.proof for ply in game.plies] == [Proof.FULL] * 6
    replayed = chess.variant.CrazyhouseBoard(str(game.start_fen))
    for ply in game.plies:
        replayed.push_uci(str(ply.uci))
    assert replayed.fen() == table.board.fen()


def test_the_line_of_a_pass_shows_whether_a_captured_piece_was_promoted() -> None:
    """A client that joined later does not know whether the captured queen was a promoted pawn."""
    provisional = "<b1> game 7 white [PQ] black [PP] <- WQ"
    for reported, hands in (([provisional], "Ppp"), ([], "")):
        table, shown = joined_after(6)
        lines = [table.header("crazyhouse"), shown, *reported, table.play("Bxd2"), table.hands()]
        game = only(read(log(*lines, *table.plays("Nf6"))))
        assert hands_of(game.start_fen) == hands


def test_drops_from_unknown_holdings_are_unproved() -> None:
    for reported in (True, False):
        table, shown = joined_after(4)
        lines = [table.header("crazyhouse"), shown, *([table.hands()] if reported else [])]
        game = only(read(log(*lines, *table.plays("Nc3", "P@e4", "Nxd5"))))
        assert sans(game) == ["Nc3", "P@e4", "Nxd5"]
        assert [ply.proof for ply in game.plies] == [Proof.FULL, Proof.FULL if reported else Proof.UNPROVED, Proof.FULL]


def test_impossible_holdings_are_not_inferred() -> None:
    """A captured piece is missing in the next printed holdings."""
    table, shown = joined_after(6)
    lines = [table.header("crazyhouse"), shown, table.play("Bxd2"), "<b1> game 7 white [] black [PP]"]
    assert "[" not in str(only(read(log(*lines, *table.plays("Nf6")))).start_fen)


def test_holdings_that_contradict_the_captures_are_reported() -> None:
    table = drop_table()
    lines = [table.header("crazyhouse"), table.frame(), table.hands(), *table.plays("e4", "d5", "exd5")]
    found = read(log(*lines, "<b1> game 7 white [Q] black []"))
    assert found.anomalies() == ["holdings"]
    assert "[Q]" in found.report.anomalies[0].message


def test_holdings_after_a_gap_are_the_printed_ones() -> None:
    """The holdings before the lost plies do not determine those after them."""
    table = drop_table()
    lines = [table.header("crazyhouse"), table.frame(), table.hands(), *table.plays("e4"), table.hands()]
    table.plays("d5", "exd5", "Qxd5", "Nc3")
    found = read(log(*lines, table.play("Qd8"), table.hands(), *table.plays("P@e6")))
    game = only(found)
    assert [hands_of(anchor.fen) for anchor in game.observations[0].anchors if anchor.reason == "gap"] == ["Pp"]
    assert game.plies[-1].proof == Proof.FULL
    assert found.anomalies() == ["gap"]


def test_a_hand_that_grows_between_two_boards_makes_a_game_bughouse() -> None:
    table = Table(board=BughouseBoard())
    lines = [table.frame(), "<b1> game 7 white [] black []", table.play("e4"), "<b1> game 7 white [] black [N]"]
    lines += [table.play("N@f6"), "<b1> game 7 white [] black []"]
    for moves in ((), ("Nf3", "e6")):
        game = only(read(log(*lines, *table.plays(*moves))))
        assert (game.variant, game.variant_inferred) == ("bughouse", True)


@pytest.mark.parametrize("shown", [0, 1])
def test_a_hand_whose_capture_is_missing_and_taken_back_makes_no_game_bughouse(shown: int) -> None:
    table = drop_table()
    lines = [table.frame(), table.hands(), *table.plays("e4", "d5")]
    table.play("exd5")
    lines += [table.hands(), *table.plays(*["Nf6"][:shown])]
    lines += [table.undo(1 + shown), table.hands()]
    for san in ("Nf3", "Nf6", "exd5"):
        lines += [table.play(san), table.hands()]
    assert only(read(log(*lines))).variant == "crazyhouse"


@pytest.mark.parametrize("lost", range(len(MOVES)))
def test_a_hand_whose_capture_is_missing_makes_no_game_bughouse(lost: int) -> None:
    table = drop_table()
    lines = [table.frame(), table.hands()]
    for number, san in enumerate((*MOVES, "P@e4", "P@d4", "Nf6", "f3")):
        frame = table.play(san)
        lines += [table.hands()] if number == lost else [frame, table.hands()]
    game = only(read(log(*lines)))
    assert (game.variant, game.variant_inferred) == ("crazyhouse", True)
    assert game.ply_count == len(MOVES) + 4


#: A white pawn is promoted to a queen on a8, we join, and the queen is captured on a4.
PROMOTION = ("a4", "b5", "axb5", "a6", "bxa6", "Bb7", "axb7", "Nc6", "bxa8=Q", "Nf6")


def joined_with_a_promoted_queen() -> tuple[Table, list[str]]:
    table = drop_table()
    shown = table.plays(*PROMOTION)[-1]
    return table, [table.header("crazyhouse"), shown, table.hands()]


@pytest.mark.parametrize(
    ("moves", "drop", "inferred"),
    [
        ("e4 d5 exd5 Qxd5 Nc3 Qe5+ Be2 P@d4 Nf3", 7, "P@d4"),
        # Either of Black's two pieces can have been dropped and taken at once; the hand is that after the drop.
        ("e4 d5 exd5 Qxd5 Nc3 Qxg2 Bxg2 Bh3 Bxh3 e6 Bxe6 fxe6 a3 B@b4 axb4", 13, None),
    ],
)
def test_a_lost_drop_is_inferred_from_the_hand_before_it(moves: str, drop: int, inferred: str | None) -> None:
    table = drop_table()
    lines = [table.created("crazyhouse"), table.frame(), table.hands()]
    for number, san in enumerate(moves.split()):
        frame = table.play(san)
        lines += [table.hands()] if number == drop else [frame, table.hands()]
    plies = {ply.ply: ply.san for ply in only(read(log(*lines))).plies}
    assert plies.get(drop + 1) == inferred


def test_a_piece_promoted_before_we_joined_is_recognised_when_it_is_captured() -> None:
    table, lines = joined_with_a_promoted_queen()
    for san in ("Qa4", "Nd4", "Qb5", "Nxb5", "e4", "P@c4"):
        lines += [table.play(san), table.hands()]
    found = read(log(*lines))
    game = only(found)
    assert found.anomalies() == []
    assert str(game.start_fen).split("/")[0] == "Q~2qkb1r"
    replayed = chess.variant.CrazyhouseBoard(str(game.start_fen))
    for ply in game.plies:
        replayed.push_uci(str(ply.uci))
    assert replayed.fen() == table.board.fen()
    assert [ply.proof for ply in game.plies] == [Proof.FULL] * 6


def test_a_promotion_in_a_gap_is_recognised_when_the_piece_is_captured() -> None:
    table = drop_table()
    moves = ["e4", "d5", "exd5", "c6", "dxc6", "Nf6", "cxb7", "Nbd7", "bxa8=Q", "Bb7", "a3", "Bxa8", "a4", "P@d5"]
    lines = [table.created("crazyhouse"), table.frame()]
    for number, san in enumerate(moves):
        shown = [table.play(san), table.hands()]
        lines += [] if 4 <= number < 9 else shown
    found = read(log(*lines))
    (gap,) = [anchor for anchor in only(found).anchors() if anchor.reason == "gap"]
    assert (gap.fen.startswith("Q~2qkb1r/"), found.anomalies()) == (True, ["gap"])


def test_holdings_that_no_promotion_explains_stay_a_contradiction() -> None:
    """A piece whose drop we saw was no pawn, even if the holdings contradict."""
    table, lines = joined_with_a_promoted_queen()
    for san in ("Qxd8+", "Nxd8", "Q@h5"):
        lines += [table.play(san), table.hands()]
    taken = table.play("Nxh5")
    assert "black [PQ]" in table.hands()
    found = read(log(*lines, taken, table.hands().replace("black [PQ]", "black [PP]")))
    assert found.anomalies() == ["holdings"]
    assert str(only(found).start_fen).count("~") == 1  # the queen of a8, which Black captured on d8


def test_holdings_of_a_game_that_is_not_followed_are_ignored() -> None:
    found = read(log(Table().frame(), "<b1> game 9 white [P] black []"))
    assert found.holdings(Disposition.FOREIGN, Disposition.HOLDINGS) == [1, 0]


@pytest.mark.parametrize("word", ["seirawan", "seirawan/0", "wild/2", "wild", "pawns/little-game", "three-check"])
def test_holdings_do_not_change_the_variant_that_a_line_states(word: str) -> None:
    """In seirawan the pieces in hand wait for their first move, and no capture brings them."""
    table = Table()
    begin = [table.created(word), table.frame()]
    moves = [line for san in ("e4", "e5") for line in (table.play(san), "<b1> game 7 white [HE] black [HE]")]
    found = read(log(*begin, "<b1> game 7 white [HE] black [HE]", *moves, "<b1> game 7 white [E] black [HE]"))
    game = only(found)
    assert (game.variant, game.variant_inferred) == (word.removesuffix("/0"), False)
    assert [(change.white, change.black) for change in game.observations[0].holdings] == [("HE", "HE"), ("E", "HE")]
    assert found.anomalies() == []


def test_a_hand_of_unknown_pieces_is_none_of_crazyhouse() -> None:
    table = Table()
    lines = [table.frame(), "<b1> game 7 white [HE] black [HE]", table.play("e4"), "<b1> game 7 white [] black []"]
    game = only(read(log(*lines, table.play("e5"))))
    assert (game.variant, game.variant_inferred) == ("unknown", True)
    assert {ply.proof for ply in game.plies} == {Proof.FULL}


def bughouse(*lines: str) -> Game:
    """A game with these lines between White's first move and Black's drop of a knight."""
    table = Table(board=BughouseBoard())
    begin = [table.header("bughouse"), table.frame(), "<b1> game 7 white [] black []", table.play("e4")]
    return only(read(log(*begin, *lines, table.play("N@f6"), "<b1> game 7 white [] black []", table.play("Nf3"))))


@pytest.mark.parametrize(
    "line",
    [
        "<b1> game 7 white [] black [N]",
        "<b1> game 7 white [] black [N] <- BN",
        "fics% <b1> game 7 white [] black [N] <- BN",
        "fics% fics% \x07<b1> game 7 white [] black [N]",
        "\n\r<b1> game 7 white [] black [N] <- BN",
        "<b1> game 7 Ann [] Bob [N]",
        "<b1>  game  7  white [ ]  black [ n ]  <- bn ",
    ],
)
def test_holdings_of_bughouse_are_read_from_its_lines(line: str) -> None:
    """Plain, after prompts and a bell, after an empty line, with players' names, lower case and extra blanks."""
    game = bughouse(line)
    assert [ply.proof for ply in game.plies] == [Proof.FULL] * 3
    (seen,) = game.observations
    came = next(change for change in seen.holdings if change.black == "N")
    assert (came.ply, came.passed) == (1, "BN" if "<-" in line else None)


def test_a_drop_without_the_piece_in_hand_is_not_proved() -> None:
    for line in ("<b1> game 7 white [N] black []", "<b1> game 9 white [] black [N]"):
        game = bughouse(line)
        assert [ply.proof for ply in game.plies] == [Proof.FULL, Proof.CONFLICT, Proof.FULL]


def test_letters_in_any_order_are_kept_sorted() -> None:
    game = bughouse("<b1> game 7 white [PRN] black [QBNP]")
    assert (game.observations[0].holdings[1].white, game.observations[0].holdings[1].black) == ("PNR", "PNBQ")


def test_passes_are_events_with_their_place_and_time() -> None:
    """A pass of this game, of another game, and the holdings after the board."""
    passes = [
        "<b1> game 7 white [B] black [] <- WB",
        "<b1> game 9 white [] black [Q] <- BQ",
        "<b1> game 7 white [B] black [N] <- BN",
    ]
    game = bughouse(*passes)
    (seen,) = game.observations
    reported = [(change.ply, change.passed, change.white, change.black) for change in seen.holdings]
    assert reported == [
        (0, None, "", ""),
        (1, "WB", "B", ""),
        (1, "BN", "B", "N"),
    ]  # before them the holdings are empty
    assert [change.offset for change in seen.holdings] == sorted(change.offset for change in seen.holdings)


@pytest.mark.parametrize("arrow", ["", " <- BQ"])
def test_a_list_truncated_by_the_servers_buffer(arrow: str) -> None:
    """FICS 1.6.2 has 50 bytes for the line: it prints the first of Black's 11 pieces, and the bracket."""
    white = "P" * 11
    full = f"<b1> game 7 white [{white}] black [PPPPPPPNNN]"
    cut = f"<b1> game 7 white [{white}] black [PPPPPP]{arrow}"
    table = Table(board=BughouseBoard())
    lines = [table.header("bughouse"), table.frame(), full, table.play("e4"), cut]
    game = only(read(log(*lines, *table.plays("N@f6", "Nf3"))))
    assert [ply.proof for ply in game.plies] == [Proof.FULL] * 3


def test_a_short_list_is_not_cut() -> None:
    table = Table(board=BughouseBoard())
    lines = [table.header("bughouse"), table.frame(), "<b1> game 7 white [] black [PN]", table.play("e4")]
    game = only(read(log(*lines, "<b1> game 7 white [] black [P]", table.play("N@f6"))))
    assert game.plies[-1].proof == Proof.CONFLICT
