"""Whatever a client sets, it records the same games: every pair of interface variables, on and off."""

from __future__ import annotations

from itertools import combinations

import pytest

from recorder.model import Game, Ply
from recorder.replay.server.login import Greeting
from tests.replay.clients import Client
from tests.replay.test_loop import STREAMS, played, told
from tests.support.corpus import Stream
from tests.support.product import run

VARIABLES = ("ms", "startpos", "nowrap", "block", "gameinfo", "compressmove", "defprompt")
ROWS = ("0000000", "1111111", "1010101", "0101010", "0011001", "1100110", "0110100", "1001011")
"""Of each two variables every combination of on and off is in some row."""

SAMPLE = [
    stream
    for stream in STREAMS
    if (stream.scenario, stream.connection)
    in (
        ("a03_crazyhouse", "observer_GuestObsD"),
        ("a06_chatter_takebacks", "observer_Euwe"),
        ("a12_bughouse", "observer_GuestBgc"),
    )
]


def test_every_pair_is_there() -> None:
    for one, two in combinations(range(len(VARIABLES)), 2):
        assert {(row[one], row[two]) for row in ROWS} == {("0", "0"), ("0", "1"), ("1", "0"), ("1", "1")}


def watched(stream: Stream, games: list[Game], row: str) -> list[Game]:
    """What somebody with these settings records."""
    client = Client.of(games, stream.login, Greeting(observe=True), apart=True)
    block = row[VARIABLES.index("block")] == "1"
    for name, bit in zip(VARIABLES, row, strict=True):
        if name != "block":
            client.say(f"iset {name} {bit}")
    client.say(*(["iset block 1", "7 set style 12"] if block else ["set style 12"]))
    client.wait()
    return sorted(run([bytes(client.heard)], "raw")[0], key=lambda game: game.first_offset)


def coarse(ply: Ply, exact: bool, deltas: bool) -> tuple[object, ...]:
    """A ply as those settings can show it."""
    own = ply.clock_ms
    other = None if deltas else ply.black_clock_ms if ply.white_moved else ply.white_clock_ms
    unit = 1 if exact else 1000
    times = [None if ms is None else ms // unit for ms in (own, other, ply.elapsed_ms)]
    return ply.ply, ply.move, ply.san, ply.flags, ply.lag_ms, *times


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("stream", SAMPLE, ids=lambda stream: str(stream.scenario))
def test_the_same_games_whatever_is_set(stream: Stream, row: str) -> None:
    games = played(stream)
    assert_same(games, watched(stream, games, row), variables_of(row))


def variables_of(row: str) -> set[str]:
    """Those that a row has on."""
    return {name for name, bit in zip(VARIABLES, row, strict=True) if bit == "1"}


def assert_same(games: list[Game], again: list[Game], on: set[str]) -> None:
    """The same games, as far as somebody with these variables can be told."""
    assert len(again) == len(games)
    for one, other in zip(games, again, strict=True):
        for name in ("names", "ratings", "variant", "control", "start", "result", "complete", "hands"):
            assert told(other)[name] == told(one)[name], name
        exact, deltas = "ms" in on, "compressmove" in on
        assert [coarse(ply, exact, deltas) for ply in other.plies] == [coarse(ply, exact, deltas) for ply in one.plies]
        texts = [[(told.kind, told.actor, told.text) for told in game.events if told.text] for game in (one, other)]
        assert texts[0] == texts[1]
