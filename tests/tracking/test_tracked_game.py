"""The operations of a followed game."""

from __future__ import annotations

from recorder.model import LineKind
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.tracked_game import TrackedGame
from tests.edge_cases.scripts import Table, events, log, only, read, sans


def test_names_are_compared_without_case_and_with_colour() -> None:
    run = TrackedGame(7, "Ann", "Bob", HeaderFacts(0), 0)
    assert run.between("ANN", "bob")
    assert not run.between("Bob", "Ann")


def test_nothing_happens_in_a_game_without_a_board() -> None:
    found = read(log("Ann(1500)[7] kibitzes: hi", Table().frame(), "Ann(1500)[7] kibitzes: ho"))
    assert [event.text for event in events(only(found), "chat")] == ["ho"]


def test_a_takeback_of_a_takeback() -> None:
    table = Table()
    lines = [table.frame(), *table.plays("e4", "e5", "Nf3", "Nc6"), table.undo(2), *table.plays("Bc4"), table.undo(2)]
    game = only(read(log(*lines, *table.plays("c5", "d4"))))
    assert sans(game) == ["e4", "c5", "d4"]
    lines_back = [line for line in game.observations[0].lines if line.kind is LineKind.TAKEBACK]
    assert [[ply.san for ply in line.plies] for line in lines_back] == [["Nf3", "Nc6"], ["e5", "Bc4"]]
    assert [line.parent_ply for line in lines_back] == [2, 1]
    assert [event.value for event in events(game, "takeback")] == [2, 2]


def test_an_anchor_after_a_takeback_belongs_to_its_line() -> None:
    """It stays with the line that was taken back."""
    table, wrong = Table(), Table()
    wrong.plays("d4", "d5")
    lines = [table.frame(), *table.plays("e4", "e5"), wrong.play("c4"), table.frame()]
    game = only(read(log(*lines, *table.plays("Nf3"))))
    seen = game.observations[0]
    conflict = [anchor for anchor in seen.anchors if anchor.reason == "conflict"]
    assert [(anchor.ply, anchor.line) for anchor in conflict] == [(3, 1)]
