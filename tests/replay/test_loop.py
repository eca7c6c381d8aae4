"""A recording of our own replay has the same games, plies and events as the recording that is replayed.

Excluded are sources, offsets and arrival times, and, where the server prints games again, examined games. The client
does what the recorder did: it has the same name, so that it plays the same games, observes the same games and asks for
the same lists. A replay of the recorded bytes gives everything again.
"""

import re
from functools import cache
from typing import Any

import pytest

from recorder.events import Chunk
from recorder.model import Game, GameKind, ObservationKind, Origin, Ply
from recorder.replay.moments import moments_of_chunks
from recorder.replay.server.login import Greeting
from recorder.replay.server.sockets import ByteReplay, ByteSession, after_login
from tests.replay.clients import Client
from tests.support.corpus import Stream, scenarios, stream_bytes, stream_chunks, streams
from tests.support.effort import representative_first
from tests.support.product import run

ALL = [stream for scenario in scenarios() for stream in streams(scenario) if stream.kind == "raw"]
STREAMS = [stream for stream in ALL if "examine" not in stream.scenario]
_PARTNER = {"result", "events"}  # the other board's end line, which names the deciding event, is in no archive
KNOWN: dict[tuple[str, str], set[str]] = {
    ("a09_ivariables", "observer_GuestIvc"): {"events"},  # deltas: a board between them restarted the clock
    ("a09_ivariables", "observer_GuestIvd"): {
        "plies",
        "events",
    },  # deltas have no opponent's clock and another proof
    **{
        (scenario, f"player_{name}"): _PARTNER
        for scenario in ("b06_bughouse", "c06_bughouse")
        for name in ("Petrosian", "Spassky")
    },
}
"""Fields that differ, and why."""


def bare(ply: Ply) -> Ply:
    return ply._replace(at_ms=None, offset=0)


def facts(game: Game) -> dict[str, Any]:
    """Return all fields of a recorded game except where and when it was read."""
    return {
        "kind": game.kind,
        "number": game.game_no,
        "names": (game.white.handle, game.black.handle),
        "ratings": (game.white.rating_text, game.black.rating_text),
        "registered": (game.white.registered, game.black.registered),
        "sealed": (game.white.sealed, game.black.sealed),
        "variant": (game.rated, game.variant, game.category),
        "control": (game.base_s, game.increment_s, game.black_base_s, game.black_increment_s),
        "start": (game.start_fen, game.start_ply),
        "result": (game.result, game.reason, game.reason_key, game.termination, game.end),
        "complete": game.complete,
        "partner": game.partner_game_no,
        "plies": [bare(ply) for ply in game.plies],
        "taken back": [
            (line.kind, line.parent, line.parent_ply, [bare(ply) for ply in line.plies])
            for seen in game.observations
            for line in seen.lines[1:]
        ],
        "hands": [one._replace(seq=0, at_ms=None, offset=0) for seen in game.observations for one in seen.holdings],
        "events": [one._replace(seq=0, at_ms=None, offset=0) for one in game.events],
    }


@cache
def played(stream: Stream) -> list[Game]:
    """Return the played games of a recorded connection; each connection is read once."""
    games, _ = run([stream_bytes(stream.scenario, stream.connection)], "raw")
    return sorted(
        (game for game in games if game.kind is GameKind.PLAYED and game.observations),
        key=lambda game: game.first_offset,
    )


def replayed(stream: Stream, games: list[Game], *settings: str) -> bytes:
    """Return the output to a client of a replay of these games."""
    client = Client.of(games, stream.login, Greeting(observe=True), apart=True)
    new = client.say(*settings, "set style 12")
    asks = any(seen.kind is ObservationKind.MOVELIST for game in games for seen in game.observations)
    last: dict[str, tuple[str, int]] = {}
    while True:
        for line in re.findall(r"^(?:<12>|Removing game).*$", new, re.M) if asks else []:
            words = line.split()
            if words[0] == "Removing":
                last.pop(words[2], None)
                continue
            number, names, ply = words[16], " ".join(words[17:19]), 2 * int(words[26]) - 2 + (words[9] == "B")
            known, reached = last.get(number, ("", 0))
            if (known != names and ply) or (known == names and ply > reached + 1):
                client.say(f"moves {number}")
            last[number] = (names, ply)
        if client.session.due_ns is None:
            return bytes(client.heard)
        new = client.wait(1)


def settings_of(games: list[Game]) -> list[str]:
    """Return the recorder's settings, as far as its games show them."""
    found = ["iset ms 1", "iset startpos 1", "iset nowrap 1"]
    if any(
        game.partner_game_no or game.white.registered is not None or game.white.sealed is not None for game in games
    ):
        found.append("iset gameinfo 1")
    if any(ply.origin == Origin.DELTA for game in games for ply in game.plies):
        found.append("iset compressmove 1")
    return found


@pytest.mark.parametrize("stream", representative_first(STREAMS))
def test_recording_a_replay_gives_the_same_games(stream: Stream) -> None:
    games = played(stream)
    heard = replayed(stream, games, *settings_of(games))
    recorded_games = sorted(run([heard], "raw")[0], key=lambda game: game.first_offset)
    assert len(recorded_games) == len(games)
    allowed = KNOWN.get((stream.scenario, stream.connection), set())
    differ: set[str] = set()
    for one, other in zip(map(facts, games), map(facts, recorded_games), strict=True):
        for name in one.keys() - allowed:
            assert other[name] == one[name], name
        differ |= {name for name in allowed if other[name] != one[name]}
    assert differ == allowed


@pytest.mark.parametrize("stream", representative_first(ALL))
def test_recording_a_replay_of_bytes_gives_the_same_games(stream: Stream) -> None:
    chunks, offset = [], 0
    for at_ms, data in stream_chunks(stream.scenario, stream.connection):
        chunks.append(Chunk(data, offset, at_ms))
        offset += len(data)
    moments = list(moments_of_chunks(after_login(chunks)))
    session = ByteSession(ByteReplay(moments, 0), 0, Greeting())
    session.receive(f"{stream.login}\n\n".encode(), 0)
    heard = session.take_output()
    while session.due_ns is not None:
        session.tick(session.due_ns)
        heard += session.take_output()
    games, _ = run([stream_bytes(stream.scenario, stream.connection)], "raw")
    recorded_games, _ = run([heard], "raw")
    assert [facts(game) for game in recorded_games] == [facts(game) for game in games]
