"""Boards of a game that was left or has ended."""

from recorder.model import Disposition, LineKind
from tests.edge_cases.scripts import Table, details, log, only, proved, read, sans

OPENING = ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6")


def test_an_unseen_takeback_and_another_move() -> None:
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays(*OPENING), table.removed()]
    table.undo(2)
    lines += [table.observing(), table.play("Bc4"), *table.plays("Bc5", "c3"), table.over("Bob resigns", "1-0")]
    game = only(read(log(*lines)))
    assert sans(game) == [*OPENING[:4], "Bc4", "Bc5", "c3"]
    assert proved(game)
    assert (len(game.observations), game.result, game.complete) == (2, "1-0", True)
    assert details(game, "takeback") == ["6-4"]


def test_another_move_at_the_ply_where_we_left() -> None:
    table = Table()
    lines = [table.observing(), table.frame(), *table.plays(*OPENING[:5]), table.removed()]
    table.undo(1)
    game = only(read(log(*lines, table.observing(), table.play("Bc4"), *table.plays("Bc5"))))
    assert sans(game) == [*OPENING[:4], "Bc4", "Bc5"]
    taken = [[ply.san for ply in line.plies] for line in game.observations[0].lines if line.kind is LineKind.TAKEBACK]
    assert taken == [["Bb5"]]


def test_an_unseen_takeback_to_before_the_first_board() -> None:
    table = Table()
    table.plays(*OPENING)
    lines = [table.observing(), table.frame(), *table.plays("Ba4", "b5"), table.removed()]
    back = table.undo(4)
    found = read(log(*lines, table.observing(), back, *table.plays("Bc4", "Bc5"), table.over("Bob resigns", "1-0")))
    game = only(found)
    assert [(ply.ply, ply.san) for ply in game.plies] == [(5, "Bc4"), (6, "Bc5")]
    assert (game.result, game.complete, len(game.observations)) == ("1-0", False, 2)
    assert found.frames(Disposition.JOINED, Disposition.PLY) == [2, 4]


def test_a_late_board_of_the_last_move() -> None:
    """The result line precedes the board of the last move."""
    table = Table()
    lines = [table.frame(), *table.plays("f3", "e5", "g4")]
    mate = table.play("Qh4#")
    found = read(log(*lines, table.over("Ann checkmated", "0-1"), mate, mate))
    game = only(found)
    assert sans(game) == ["f3", "e5", "g4", "Qh4#"]
    assert found.frames(Disposition.PLY, Disposition.SAME) == [4, 1]


def test_an_adjourned_game_that_is_resumed_is_another_part() -> None:
    table = Table(relation=1)
    lines = [
        table.created(),
        table.frame(),
        *table.plays("e4", "e5"),
        table.over("Game adjourned by mutual agreement", "*"),
    ]
    lines += [f"{{{table.pair} Continuing rated blitz match.}}", table.frame(), *table.plays("Nf3")]
    first, second = sorted(
        read(log(*lines, table.over("Bob resigns", "1-0"))).games, key=lambda game: game.first_offset
    )
    assert (sans(first), first.end, first.continued) == (["e4", "e5"], "adjourned", False)
    assert (sans(second), second.start_ply, second.continued) == (["Nf3"], 2, True)


def test_an_adjourned_game_that_is_rejoined_is_another_part() -> None:
    """Its board equals the one at the adjournment."""
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5"), table.over("Game adjourned by mutual agreement", "*")]
    lines += [table.observing(), table.frame(), *table.plays("Nf3")]
    games = sorted(read(log(*lines)).games, key=lambda game: game.first_offset)
    assert [(sans(game), game.start_ply, game.end) for game in games] == [
        (["e4", "e5"], 0, "adjourned"),
        (["Nf3"], 2, "log-ends"),
    ]
