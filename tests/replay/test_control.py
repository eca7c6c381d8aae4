"""A client records the same games with every pair of interface variables, on and off."""

import pytest

from recorder.model import Game, Ply
from recorder.replay.server.login import Greeting
from tests.replay.clients import Client
from tests.replay.test_loop import STREAMS, facts, played
from tests.support.corpus import Stream
from tests.support.product import run

VARIABLES = ("ms", "startpos", "nowrap", "block", "gameinfo", "compressmove", "defprompt")
ROWS = ("0000000", "1111111", "1010101", "0101010", "0011001", "1100110", "0110100", "1001011")
"""Rows that contain every combination of on and off for each two variables."""

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


def watched(stream: Stream, games: list[Game], row: str) -> list[Game]:
    """Return the games that a client with these settings records."""
    client = Client.of(games, stream.login, Greeting(observe=True), apart=True)
    block = row[VARIABLES.index("block")] == "1"
    for name, bit in zip(VARIABLES, row, strict=True):
        if name != "block":
            client.say(f"iset {name} {bit}")
    client.say(*(["iset block 1", "7 set style 12"] if block else ["set style 12"]))
    client.wait()
    return sorted(run([bytes(client.heard)], "raw")[0], key=lambda game: game.first_offset)


def coarse(ply: Ply, exact: bool, deltas: bool) -> tuple[object, ...]:
    """Return a ply as these settings can show it."""
    own = ply.clock_ms
    other = None if deltas else ply.black_clock_ms if ply.white_moved else ply.white_clock_ms
    unit = 1 if exact else 1000
    times = [None if ms is None else ms // unit for ms in (own, other, ply.elapsed_ms)]
    return ply.ply, ply.move, ply.san, ply.flags, ply.lag_ms, *times


@pytest.mark.parametrize("row", ROWS)
@pytest.mark.parametrize("stream", SAMPLE, ids=lambda stream: str(stream.scenario))
def test_a_client_records_the_same_games_with_all_settings(stream: Stream, row: str) -> None:
    games = played(stream)
    assert_same(games, watched(stream, games, row), variables_of(row))


def variables_of(row: str) -> set[str]:
    return {name for name, bit in zip(VARIABLES, row, strict=True) if bit == "1"}


def assert_same(games: list[Game], others: list[Game], on: set[str]) -> None:
    """Return the games as far as a client with these variables can see them."""
    assert len(others) == len(games)
    for one, other in zip(games, others, strict=True):
        for name in ("names", "ratings", "variant", "control", "start", "result", "complete", "hands"):
            assert facts(other)[name] == facts(one)[name], name
        exact, deltas = "ms" in on, "compressmove" in on
        assert [coarse(ply, exact, deltas) for ply in other.plies] == [coarse(ply, exact, deltas) for ply in one.plies]
        texts = [
            [(event.kind, event.actor, event.text) for event in game.events if event.text] for game in (one, other)
        ]
        assert texts[0] == texts[1]
