"""Which holdings line belongs to which ply."""

from __future__ import annotations

from exporters.holdings import hands_after, hands_of, with_hands
from recorder.model import HoldingsChange
from tests.exporters.games import make_game


def change(ply: int, white: str, offset: int, passed: str | None = None) -> HoldingsChange:
    return HoldingsChange(0, ply, white, "", passed, None, offset)


def test_the_first_plain_line_after_the_ply_counts() -> None:
    game = make_game()
    seen = game.observations[0]
    ply = seen.lines[0].plies[2]
    assert hands_after(ply, {}) == (None, None)
    seen.holdings += [
        change(3, "Q", ply.offset - 1),  # of a ply 3 that was taken back
        change(3, "B", ply.offset + 1, passed="WB"),
        change(3, "P", ply.offset + 2),
        change(3, "PN", ply.offset + 3),  # the next capture's, which stands before its frame
    ]
    assert hands_after(ply, hands_of(seen)) == ("P", "")
    assert [hands for _, hands in with_hands(game)] == [(None, None)] * 2 + [("P", "")] + [(None, None)] * 4


def test_plies_come_once_and_in_order() -> None:
    game = make_game()
    assert [ply for ply, _ in with_hands(game)] == game.plies
    game.observations[0].holdings.append(change(3, "P", 10**6))
    assert [ply for ply, _ in with_hands(game)] == game.plies
