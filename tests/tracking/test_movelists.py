"""Which game a movelist belongs to, and what later takebacks leave of it."""

from __future__ import annotations

import pytest

from recorder.model import Game, LineKind, Origin
from tests.edge_cases.scripts import Table, log, only, read, sans
from tests.tracking.answers import RUNNING, movelist

SPANISH = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")


def followed(*moves: str) -> tuple[Table, list[str]]:
    table = Table()
    return table, [table.observing(), table.frame(), *table.plays(*moves)]


def joined(*moves: str) -> tuple[Table, list[str]]:
    """Observed from the board after these moves on."""
    table = Table()
    shown = table.plays(*moves)[-1]
    return table, [table.observing(), shown]


def taken_back(game: Game) -> list[tuple[int | None, list[str]]]:
    return [
        (line.parent_ply, [ply.san for ply in line.plies])
        for seen in game.observations
        for line in seen.lines
        if line.kind is LineKind.TAKEBACK
    ]


@pytest.mark.parametrize("later", [[], ["Bc4"], ["Bc4", "Bc5", "c3"]], ids=["none", "one", "three"])
def test_a_list_does_not_bring_back_what_is_taken_back_after_it(later: list[str]) -> None:
    table, lines = followed(*SPANISH)
    lines += [*movelist(*SPANISH, trailer=RUNNING), table.undo(2), *table.plays(*later)]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert sans(game) == [*SPANISH[:4], *later]
    assert taken_back(game) == [(4, ["Bb5", "a6"])]
    assert {ply.origin for ply in game.plies} == {Origin.FRAME}


@pytest.mark.parametrize("later", [[], ["Bc4"], ["Bc4", "Bc5", "c3"]], ids=["none", "one", "three"])
def test_joined_then_list_then_takeback(later: list[str]) -> None:
    """The list gives what was played before we came; what was taken back since is kept beside the game."""
    table, lines = joined(*SPANISH)
    lines += [*movelist(*SPANISH, trailer=RUNNING), table.undo(2), *table.plays(*later)]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert sans(game) == [*SPANISH[:4], *later]
    assert taken_back(game) == [(4, ["Bb5", "a6"])]
    assert [ply.origin for ply in game.plies[:4]] == [Origin.MOVELIST] * 4


def test_a_list_after_the_takeback_is_taken_as_it_stands() -> None:
    table, lines = joined(*SPANISH)
    moves = (*SPANISH[:4], "Bc4", "Bc5")
    lines += [table.undo(2), *table.plays("Bc4", "Bc5"), *movelist(*moves, trailer=RUNNING)]
    game = only(read(log(*lines)))
    assert sans(game) == list(moves)


STORED = movelist(*SPANISH, number=None, trailer="{Bob resigns} 1-0")


def test_a_stored_game_does_not_join_the_running_one() -> None:
    """Same players, same opening: a list with a final result is no list of a game that goes on."""
    for moves in ([], ["e4"], ["e4", "e5"], ["e4", "e5", "Nf3"]):
        lines = followed(*moves)[1]
        stored, running = read(log(*lines, *STORED)).games[::-1]
        assert (sans(running), running.result, len(running.observations)) == (moves, "*", 1)
        assert (sans(stored), stored.result) == (list(SPANISH), "1-0")


@pytest.mark.parametrize(
    ("moves", "reason", "result"),
    [
        (SPANISH[:2], "Bob resigns", "1-0"),  # shorter
        (SPANISH, "Ann resigns", "0-1"),  # another result
        ((), "Game aborted on move 1", "*"),
    ],
    ids=["length", "result", "aborted before the first move"],
)
def test_a_stored_game_does_not_join_another_one_that_is_over(moves: tuple[str, ...], reason: str, result: str) -> None:
    table, lines = followed(*moves)
    games = read(log(*lines, table.over(reason, result), *STORED)).games
    live = next(game for game in games if game.game_no == 7)
    stored = next(game for game in games if game.game_no is None)
    assert (sans(live), live.result, len(live.observations)) == (list(moves), result, 1)
    assert (sans(stored), stored.result) == (list(SPANISH), "1-0")


def test_a_stored_game_joins_the_game_it_is_of() -> None:
    table, lines = joined(*SPANISH[:4])
    lines += [*table.plays(*SPANISH[4:]), table.over("Bob resigns", "1-0"), *STORED]
    game = only(read(log(*lines)))
    assert sans(game) == list(SPANISH)
    assert (game.result, game.complete) == ("1-0", True)


def test_times_tell_a_stored_game_of_the_same_moves() -> None:
    """The game was left without a result: only what its moves took can tell whether the list is its own."""
    for elapsed, games in (("0:02", 1), ("0:07", 2)):
        table, lines = followed(*SPANISH)
        stored = movelist(*SPANISH, number=None, trailer="{Bob resigns} 1-0", elapsed=elapsed)
        assert len(read(log(*lines, table.removed(), *stored)).games) == games


def test_lists_alone() -> None:
    longer, shorter = (movelist(*SPANISH[:end], number=None, trailer="{Bob resigns} 1-0") for end in (6, 4))
    assert [sans(game) for game in read(log(*longer, *longer)).games] == [list(SPANISH)]
    both = [sans(game) for game in read(log(*longer, *shorter)).games]
    assert sorted(map(len, both)) == [4, 6]


def test_two_lists_of_a_running_game_are_one_game() -> None:
    lists = [*movelist(*SPANISH[:4], trailer=RUNNING), *movelist(*SPANISH, trailer=RUNNING)]
    assert sans(only(read(log(*lists)))) == list(SPANISH)


def test_a_list_with_a_move_that_cannot_be_played() -> None:
    found = read(log(*movelist("e4", "e5", "Ng4", "Nc6", number=None, trailer="{Bob resigns} 1-0")))
    assert found.anomalies() == ["movelist"]
    assert [(ply.san, ply.move is None) for ply in found.games[0].plies] == [
        ("e4", False), ("e5", False), ("Ng4", True), ("Nc6", True),
    ]  # fmt: skip
