"""Readers that are taken to know the same make the same games of all later lines."""

from __future__ import annotations

import pytest

from recorder.archive.log_readers import _place_of, guessed_state, joined_state
from recorder.pipeline import Pipeline
from recorder.sources import SourceKind
from tests.edge_cases.scripts import Table, log
from tests.tracking.answers import movelist

TITLED = "fics% Alekhine(GM)(50): good evening"
QUIET = log(*["fics% Zed(50): the weather is fine today"] * 6_600, "{Game 99 (Xx vs. Yy) Xx resigns} 0-1", "a line")
"""So long that no list of an earlier game is waited for any more."""


def ended() -> tuple[Table, list[str]]:
    """A game of number 7, played to its end."""
    table = Table()
    return table, [table.header(), table.observing(), table.frame(), *table.plays("e4", "e5")]


def other() -> list[str]:
    """A game of number 8 that goes on."""
    table = Table(8, "Carl", "Dora")
    return [table.header(), table.observing(), table.frame(), *table.plays("d4")]


def late_board() -> tuple[bytes, bytes, bytes]:
    table, lines = ended()
    last = lines[-1]
    return log(*lines, table.over("Bob resigns", "1-0")), log(*other(), last) + QUIET, log("end")


def late_list() -> tuple[bytes, bytes, bytes]:
    table, lines = ended()
    answer = movelist("e4", "e5", trailer="{Bob resigns} 1-0")
    return log(*lines, table.over("Bob resigns", "1-0")), log(*other(), *answer) + QUIET, log("end")


def header_without_a_board() -> tuple[bytes, bytes, bytes]:
    table, lines = ended()
    header = "Game 7: Ann (1111) Bob (2222) rated blitz 5 0"
    behind = log(*other(), header, table.over("Bob resigns", "1-0")) + QUIET
    again, following = ended()
    return log(*lines), behind, log(*following[2:], again.over("Ann resigns", "0-1"))


@pytest.mark.parametrize("make", [late_board, late_list, header_without_a_board])
def test_readers_agree_only_where_they_go_on_alike(make: object) -> None:
    """The border is behind the first part; a game that began behind it is open all the time."""
    assert callable(make)
    before, behind, later = make()
    whole = Pipeline(SourceKind.RAW)
    games = whole.receive(before)
    known = whole.restart_here()
    assert known is not None
    begun = Pipeline(SourceKind.RAW, resume=guessed_state(len(before), known[1]), offset=len(before))
    for at in range(0, len(behind), 16 << 10):
        games += whole.receive(behind[at : at + (16 << 10)])
        begun.receive(behind[at : at + (16 << 10)])
    place, other = _place_of(whole, 0, len(before)), _place_of(begun, 0, 0)
    agreed = place.digest == other.digest
    ends = [
        [(game.game_no, game.first_offset, game.ply_count, game.white.rating) for game in games]
        for games in (reader.receive(later) + reader.finish() for reader in (whole, begun))
    ]
    assert ends[0] == ends[1] or not agreed
    assert games


def test_what_readers_know_is_joined() -> None:
    """Behind the place at which they agree the later reader knows the rest; a game before it reaches over the border.

    The game of number 9 begins behind the border and ends the log; of number 7 only the result is behind it.
    """
    table, lines = ended()
    last = Table(9, "Ed", "Fay")
    before = log(TITLED, "an odd line", "{Game 30 (Xx vs. Yy) Xx resigns} 0-1", *lines, "Bob kibitzes: <12> x")
    behind = log(last.header(), last.observing(), last.frame(), *last.plays("d4"), table.over("Bob resigns", "1-0"))
    behind += log("an odd line", "another odd line") + QUIET
    later = log("an odd line", "a third odd line", *last.plays("d5"), "{Game 31 (Xx vs. Zz) Xx resigns} 0-1")
    whole = Pipeline(SourceKind.RAW)
    whole.receive(before)
    known = whole.restart_here()
    assert known is not None
    guess = guessed_state(len(before), known[1])
    begun = Pipeline(SourceKind.RAW, resume=guess, offset=len(before))
    places = []
    for reader in (whole, begun):
        reader.receive(behind)
        places.append(_place_of(reader, 0, len(before)))
        reader.receive(later)
    (total, since), ends = places, [reader.restart_here() for reader in (whole, begun)]
    assert total.digest == since.digest is not None
    assert ends[0] is not None
    assert ends[1] is not None
    assert joined_state(total.state, since.state, ends[1][1]) == ends[0][1]
    assert ends[0][1]["tracker"]["muted"]

    again = Pipeline(SourceKind.RAW, resume=joined_state(total.state, since.state, guess), offset=len(before))
    again.receive(behind + later)
    assert again.restart_here() == ends[0]


def test_blocks_around_posed_output_are_compared() -> None:
    table, lines = ended()
    before = log(*lines, table.over("Bob resigns", "1-0"), *other())
    opened = b"\x151\x16125\x16some text\r\n\x18\r\nposed text\r\nmore\r\n"
    whole, fresh = Pipeline(SourceKind.RAW), Pipeline(SourceKind.RAW)
    whole.receive(before + opened)
    fresh.receive(before)
    assert whole.passing_state()[0] != fresh.passing_state()[0]
