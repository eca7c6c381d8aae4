"""A followed game and its plies: operations, and the fields of a ply from a complete or a cut frame."""

import pytest

from recorder.dialects.style12 import read_tokens
from recorder.events.frames import Style12
from recorder.model import LineKind, Precision
from recorder.rules.fen import start_position
from recorder.rules.position import Rules
from recorder.rules.variants import STANDARD_BOARD
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.plies import bridged, lan_move, start_facts
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


def frame_of(text: str, tokens: int | None = None) -> Style12:
    """Return the frame of a line; ``tokens``: cut after this number of tail fields, as by old servers."""
    tail = text[77:].split(" ")
    return read_tokens(text[5:76], tail[:tokens], text, 0, None, None, tokens is not None)


def test_a_cut_frame_lacks_the_fields_after_the_cut() -> None:
    table = Table(ms=True)
    table.plays("e4", "e5")
    text = table.play("Nf3")
    whole, no_pretty, no_times = frame_of(text), frame_of(text, 20), frame_of(text, 19)
    assert [frame.pretty for frame in (whole, no_pretty, no_times)] == ["Nf3", None, None]
    assert [frame.clocks for frame in (whole, no_pretty)] == [(298_000, 300_000)] * 2
    # Without the time of the move the unit of the clocks is unknown.
    assert no_times.clocks == (None, None)
    assert start_facts(whole)[3:6] == (2000, 298_000, 300_000)
    assert (start_facts(whole).precision_code, start_facts(no_times).precision_code) == (Precision.MILLISECONDS, None)
    assert start_facts(no_times).elapsed_ms is None


@pytest.mark.parametrize(
    ("verbose", "move"),
    [
        ("P/e2-e4", 28 << 6 | 12),
        ("P/a7-a8=Q", 4 << 12 | 56 << 6 | 48),
        ("N/@@-f3", 9 << 12 | 21 << 6),
        ("o-o", None),
        ("none", None),
        ("P/e2-e9", None),
        ("P/e0-e4", None),
        ("P/i2-e4", None),
    ],
)
def test_squares_of_a_verbose_move(verbose: str, move: int | None) -> None:
    assert lan_move(verbose) == move


def test_one_missing_ply_is_filled_only_by_a_complete_frame() -> None:
    table = Table(fen="k7/8/1K6/8/8/8/8/7R w - - 0 30")
    board = frame_of(table.frame()).board
    table.plays("Rh7", "Kb8")
    text = table.play("Rh8#")
    position = start_position(board, True, 0, -1, Rules.CHESS)
    filled = bridged(position, frame_of(text), 2)
    assert filled is not None
    assert [san for _, san, _ in filled] == ["Rh7", "Kb8", "Rh8#"]
    assert bridged(position, frame_of(text, 20), 2) is None
    assert bridged(position, frame_of(text), 3) is None
    assert board != STANDARD_BOARD
