"""Recorded bughouse matches: the games of each connection, and which of them belong together."""

from functools import cache

from recorder.model import Game
from tests.support.corpus import stream_bytes, streams, truth
from tests.support.product import run

SCENARIOS = ("a12_bughouse", "b06_bughouse", "c06_bughouse")
OF_BOTH_BOARDS = (
    ("a12_bughouse", "observer_GuestBga"),
    ("b06_bughouse", "observer_GuestXo"),
    ("c06_bughouse", "observer_GuestXo"),
)


@cache
def games_of(scenario: str, connection: str) -> list[Game]:
    assert connection in [stream.connection for stream in streams(scenario)]
    games, _ = run([stream_bytes(scenario, connection)], "raw")
    return sorted(games, key=lambda game: game.first_offset)


def partners_of(scenario: str) -> list[list[tuple[str, str, int, int]]]:
    """For each match of a scenario what identifies its two games: White, number, plies and index of the game."""
    games = truth(scenario)["games"]
    # The games of a match stand one behind the other; each names the other's number.
    found = []
    for at in range(0, len(games), 2):
        pair = games[at : at + 2]
        assert [game["bughouse_partner_game"] for game in pair] == [game["game_number"] for game in pair[::-1]]
        found.append([(game["white"], game["game_number"], len(game["plies"]), at // 2) for game in pair])
    return found
