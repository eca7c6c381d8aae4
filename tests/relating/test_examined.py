"""Examined games find the played ones that they are copies of, and nothing else."""

from dataclasses import replace
from itertools import pairwise

import pytest

from recorder.model import Game, GameKind, SourceName
from recorder.relating.examined import link_examined
from tests.edge_cases.scripts import Table, log
from tests.support import corpus, product

MOVES = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6", "O-O", "Be7", "Re1", "b5")


def games_of(*lines: str) -> list[Game]:
    return product.run([log(*lines)], "raw")[0]


def played(*moves: str, number: int = 7, white: str = "Ann", black: str = "Bob") -> list[str]:
    table = Table(number, white, black)
    lines = [table.header(), table.observing(), table.frame(), *table.plays(*moves)]
    return [*lines, table.over(f"{black} resigns", "1-0"), table.removed()]


def examined(*moves: str, number: int = 9, white: str = "Ann", black: str = "Bob") -> list[str]:
    table = Table(number, white, black, base=0, clocks=(0, 0), relation=-2)
    lines = [table.frame()]
    for san in moves:
        lines += [f"Game {number}: Cat goes forward 1 move.", table.play(san)]
    return lines


def kinds(games: list[Game]) -> list[tuple[str, str]]:
    """The links as (examined, played) numbers."""
    numbers = {game.key: str(game.game_no) for game in games}
    return [(numbers[one], numbers[other]) for one, other, _ in link_examined(games)]


def test_the_played_game_is_found_by_its_moves() -> None:
    games = games_of(*played(*MOVES), *examined(*MOVES[:10]))
    (link,) = link_examined(games)
    by_kind = {game.kind: game.key for game in games}
    assert link[:2] == (by_kind[GameKind.EXAMINED], by_kind[GameKind.PLAYED])
    assert link[2] == "the same players; 10 plies of the main line are the same"
    assert link_examined(games[::-1]) == [link]


@pytest.mark.parametrize(
    "lines",
    [
        examined(*MOVES[:9]),  # too few to be more than an opening
        examined(*MOVES[:9], "d6", "Re1"),  # another move
        examined(*MOVES, white="Cid"),
        examined(*MOVES, white="Bob", black="Ann"),
        examined(*MOVES, "Bb3"),  # the played game ended before
        ["Starting a game in examine (scratch) mode.", *examined(*MOVES)],
    ],
)
def test_games_that_do_not_belong_together(lines: list[str]) -> None:
    assert kinds(games_of(*played(*MOVES), *lines)) == []


def test_two_games_that_fit_are_none() -> None:
    other = played(*MOVES, number=8)
    assert kinds(games_of(*played(*MOVES), *other, *examined(*MOVES))) == []
    assert kinds(games_of(*played(*MOVES), *played(*MOVES[:-1], "d6", number=8), *examined(*MOVES))) == [("9", "7")]


def test_a_game_that_is_played_later_is_not_the_one() -> None:
    games = games_of(*examined(*MOVES), "Removing game 9 from observation list.", *played(*MOVES))
    for game in games:
        for seen in game.observations:
            seen.source = SourceName("log", "a" * 64)
    assert kinds(games) == []
    late = [replace(game, first_offset=-1) if game.kind is GameKind.PLAYED else game for game in games]
    assert kinds(late) == [("9", "7")]


def test_the_number_in_the_line_that_enters_the_examination_links_the_game() -> None:
    lines = ["Entering examine mode for game 7.", *examined(*MOVES[:3], number=7)]
    games = games_of(*played(*MOVES), *lines)
    (link,) = link_examined(games)
    assert link[2].endswith("3 plies of the main line are the same; it was entered as game 7")
    # It also decides between two that fit.
    games = games_of(*played(*MOVES, number=8), *played(*MOVES), *lines)
    assert kinds(games) == [("7", "7")]


def test_the_result_at_the_end_of_the_line_links_the_game() -> None:
    lines = examined(*MOVES[:6])
    assert kinds(games_of(*played(*MOVES[:6]), *lines)) == []
    games = games_of(*played(*MOVES[:6]), *lines, "Game 9: Black resigned 1-0")
    assert [evidence for *_, evidence in link_examined(games)] == [
        "the same players; 6 plies of the main line are the same; its last board was called 1-0"
    ]
    assert kinds(games_of(*played(*MOVES[:6]), *lines, "Game 9: White resigned 0-1")) == []


def jumped(*plies: int, moves: tuple[str, ...] = MOVES, white: str = "Ann", black: str = "Bob") -> list[str]:
    """An examination that shows the boards after some plies only."""
    table = Table(7, white, black, base=0, clocks=(0, 0), relation=-2)
    lines = [table.frame()]
    for before, ply in pairwise((0, *plies)):
        lines += [f"Game 7: Ann goes forward {ply - before} moves.", table.plays(*moves[before:ply])[-1]]
    return lines


def test_boards_that_were_jumped_to_link_the_game() -> None:
    (link,) = link_examined(games_of(*played(*MOVES), *jumped(6, 12)))
    assert link[2] == "the same players; 2 plies of the main line are the same; the board after ply 12 is the same"
    assert kinds(games_of(*played(*MOVES), *jumped(4, 8))) == []  # an opening
    other = (*MOVES[:4], "Bc4", "a6", "O-O", "Nf6", "Bb3", "Be7", *MOVES[10:])
    assert kinds(games_of(*played(*MOVES), *jumped(12, moves=other))) == []  # the same last move on another board


def test_the_examiners_name_on_both_sides_and_no_result() -> None:
    knights = ("Ng1", "Ng8", "Nf3", "Nf6")
    moves = ("e4", "e5", "Nf3", "Nf6", *knights * 7)

    def alone(*plies: int) -> list[str]:
        return jumped(*plies, moves=moves, black="Ann")

    (link,) = link_examined(games_of(*played(*moves), *alone(10, 30)))
    assert link[2].startswith("the examiner played it; 2 plies")
    assert kinds(games_of(*played(*moves), *alone(10, 29))) == []
    assert kinds(games_of(*played(*moves), *alone(10, 30), "Ann moves: Nf3")) == []
    assert kinds(games_of(*played(*moves, white="Cid"), *alone(10, 30))) == []


@pytest.mark.parametrize(
    ("scenario", "connection", "links"),
    [
        ("a10_examine", "player_Kramnik", 1),
        ("a10_examine", "observer_GuestExb", 1),
        ("b05_examine_bsetup", "player_Kramnik", 1),
        ("b05_examine_bsetup", "observer_GuestXl", 1),
        ("c05_examine_bsetup", "player_Kramnik", 0),  # a scratch board on which the same moves were typed
        ("c05_examine_bsetup", "observer_GuestXl", 0),
    ],
)
def test_recorded_examinations(scenario: str, connection: str, links: int) -> None:
    games, _ = product.run([corpus.stream_bytes(scenario, connection)], "raw")
    found = link_examined(games)
    assert len(found) == links
    longest = max((game for game in games if game.kind is GameKind.PLAYED), key=lambda game: len(game.plies))
    assert all(other == longest.key for _, other, _ in found)
