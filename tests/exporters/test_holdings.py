"""Which holdings line belongs to which ply."""

import re

import pytest

from exporters.holdings import holdings_after, holdings_lines, plies_with_holdings
from recorder.model import HoldingsChange, Origin
from tests.exporters.games import make_game
from tests.support.corpus import stream_bytes, streams
from tests.support.product import run


def change(ply: int, white: str, offset: int, passed: str | None = None) -> HoldingsChange:
    return HoldingsChange(0, ply, white, "", passed, None, offset)


def test_the_first_plain_line_after_the_ply_counts() -> None:
    game = make_game()
    seen = game.observations[0]
    ply = seen.lines[0].plies[2]
    assert holdings_after(ply, []) == (None, None)
    seen.holdings += [
        change(3, "Q", ply.offset - 1),  # of a ply 3 that was taken back
        change(3, "B", ply.offset + 1, passed="WB"),
        change(3, "P", ply.offset + 2),
        change(3, "PN", ply.offset + 3),  # the next capture's, which stands before its frame
    ]
    assert holdings_after(ply, holdings_lines(seen)) == ("P", "")
    unchanged = [("PN", "")] * 4
    assert [holdings for _, holdings in plies_with_holdings(game)] == [(None, None)] * 2 + [("P", ""), *unchanged]


def test_plies_that_no_board_showed_have_no_holdings() -> None:
    game = make_game()
    seen = game.observations[0]
    seen.holdings.append(change(0, "", seen.offset))
    rows = seen.lines[0].plies
    rows[3] = rows[3]._replace(origin_code=int(Origin.INFERRED))
    assert [holdings for _, holdings in plies_with_holdings(game)] == [("", "")] * 3 + [(None, None)] + [("", "")] * 3


@pytest.mark.parametrize("scenario", ["a12_bughouse", "b06_bughouse", "c06_bughouse", "a03_crazyhouse"])
def test_every_ply_has_the_holdings_of_the_line_behind_it(scenario: str) -> None:
    """Read from the bytes: the plain line that follows each board."""
    stream = next(one for one in streams(scenario) if one.connection.startswith("observer"))
    lines = stream_bytes(scenario, stream.connection).replace(b"\r", b"").split(b"\n")
    printed: list[tuple[str, str]] = []
    for at, line in enumerate(lines):
        if line.startswith(b"<12>"):
            behind = next(later for later in lines[at + 1 :] if later.startswith((b"<b1>", b"<12>")))
            found = re.fullmatch(rb"<b1> game \d+ white \[([A-Z]*)\] black \[([A-Z]*)\]", behind)
            if line.split()[27] != b"none":
                printed.append((found[1].decode(), found[2].decode()))
    games, _ = run([stream_bytes(scenario, stream.connection)], "raw")
    computed = sorted((ply.offset, holdings) for game in games for ply, holdings in plies_with_holdings(game))
    assert [holdings for _, holdings in computed] == printed
