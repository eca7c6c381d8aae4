"""What a finished game says of itself: whether it is complete, how it ended, its times and its key."""

from __future__ import annotations

import pytest

from recorder.model import Proof
from recorder.tracking.assemble import end_word
from tests.edge_cases.scripts import Table, log, only, read, sans
from tests.tracking.answers import movelist


def begun(*moves: str) -> tuple[Table, list[str]]:
    table = Table()
    return table, [table.observing(), table.frame(), *table.plays(*moves)]


def test_complete_from_the_first_ply_to_the_end_line() -> None:
    table, lines = begun("e4", "e5", "Nf3")
    assert only(read(log(*lines, table.over("Bob resigns", "1-0")))).complete
    assert not only(read(log(*lines))).complete


def test_a_conflict_makes_a_game_incomplete() -> None:
    """The takeback's board and the next move's were lost: both lines reach the same ply."""
    table, lines = begun("e4", "e5", "Nf3", "Nc6")
    table.undo(2)
    table.play("Bc4")
    lines += table.plays("Nc6", "Nf3")
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert Proof.CONFLICT in [ply.proof for ply in game.plies]
    assert [ply.ply for ply in game.plies] == list(range(1, len(game.plies) + 1))
    assert not game.complete


def test_a_conflict_that_was_taken_back_does_not_count() -> None:
    table, lines = begun("e4", "e5", "Nf3", "Nc6")
    wrong = Table()
    wrong.plays("d4", "d5", "c4", "c6")
    lines += [wrong.play("Nc3"), table.frame(), table.play("Bb5")]
    game = only(read(log(*lines, table.over("Bob resigns", "1-0"))))
    assert (sans(game)[-1], game.result) == ("Bb5", "1-0")


def test_a_game_told_by_deltas_is_complete_unless_some_are_missing() -> None:
    for missing in (0, 1):
        table, lines = begun("e4", "e5")
        lines += table.deltas("Nf3", "Nc6", "Bb5")[missing:]
        assert only(read(log(*lines, table.over("Bob resigns", "1-0")))).complete is not bool(missing)


def test_an_unproved_ply_after_a_gap_makes_a_game_incomplete() -> None:
    table, lines = begun("e4", "e5")
    table.plays("Nf3", "Nc6", "Bb5")
    lines += [table.play("a6"), table.over("Bob resigns", "1-0")]
    game = only(read(log(*lines)))
    assert ([ply.ply for ply in game.plies], game.complete) == ([1, 2, 6], False)
    # The list proves the ply after the gap and fills it.
    listed = movelist("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", trailer="{Bob resigns} 1-0", number=None)
    game = only(read(log(*lines, *listed)))
    assert sans(game) == ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6"]
    assert game.plies[-1].proof == Proof.FULL
    assert game.complete


def test_a_lists_trailer_ends_a_game_whose_end_was_not_seen() -> None:
    _, lines = begun("e4", "e5")
    lines += ["Removing game 7 from observation list.", *movelist("e4", "e5", trailer="{Bob resigns} 1-0", number=None)]
    game = only(read(log(*lines)))
    assert (game.result, game.reason_key, game.end) == ("1-0", "resign", "result")


@pytest.mark.parametrize(
    ("key", "word"),
    [
        ("resign", "result"),
        ("adjourned-agreement", "adjourned"),
        ("aborted-early", "aborted"),
        ("partner-aborted", "aborted"),
        (None, "result"),
    ],
)
def test_words_of_ends(key: str | None, word: str) -> None:
    assert end_word(key) == word


def test_ten_seconds_a_side_print_as_no_minutes() -> None:
    for clock, base in ((10_000, (10, True)), (0, (0, False))):
        table = Table(base=0, increment=1, clocks=(clock, clock))
        game = only(read(log(table.frame(), *table.plays("e4", "e5"))))
        assert (game.base_s, game.base_inferred) == base


def test_keys_do_not_depend_on_what_stands_around_the_game() -> None:
    _, lines = begun("e4", "e5")
    alone = only(read(log(*lines)))
    again = read(log(*lines, *Table(8, "Carl", "Dora").plays("d4"))).games
    assert alone.key in {game.key for game in again}
    assert len({game.key for game in again}) == 2
