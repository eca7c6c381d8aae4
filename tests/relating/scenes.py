"""The recorded scenarios as every connection's recorder would have journalled them, with their times."""

import datetime
import zlib
from collections.abc import Iterable
from functools import cache
from typing import Any

from recorder.journal.format import VERSION, JournalHeader
from recorder.model import Game, GameKind, SourceName
from tests import score
from tests.support import corpus, frames, product
from tests.support.journals import lines_of, received


def connections(scenario: str) -> list[str]:
    """Names of a scenario's connections whose bytes and times are known."""
    return [stream.connection for stream in corpus.streams(scenario) if stream.kind == "raw"]


@cache
def journal(scenario: str, connection: str) -> bytes:
    """A connection as ``record`` would have written it down; each of the three servers has a name."""
    begun = datetime.datetime.fromisoformat(corpus.truth(scenario)["wall_clock_start_utc"].replace("Z", "+00:00"))
    anchor_ns = int(begun.timestamp()) * 1_000_000_000
    session = f"{zlib.crc32(f'{scenario} {connection}'.encode()):016x}"
    header = JournalHeader(VERSION, session, 1, "record", f"{scenario[0]}.example", 5000, anchor_ns, "test")
    chunks = corpus.stream_chunks(scenario, connection)
    return lines_of(header, *(received(data, at_ms * 1_000_000) for at_ms, data in chunks))


@cache
def games_of(scenario: str, connection: str, timed: bool = True) -> list[Game]:
    """What one connection tells: from its journal, or from its bytes alone; with its name as source."""
    data = journal(scenario, connection) if timed else corpus.stream_bytes(scenario, connection)
    games, _ = product.run([data], "journal" if timed else "raw")
    for game in games:
        for seen in game.observations:
            seen.source = SourceName(connection, f"{scenario} {connection}")
    return games


@cache
def truth_of(scenario: str, connection: str) -> dict[int, int]:
    """Which game of the truth each played game with a move is: its place in ``games_of`` → number in the truth."""
    stream = next(one for one in corpus.streams(scenario) if one.connection == connection)
    wanted, _ = score.expectations(stream, frames.read(corpus.stream_bytes(scenario, connection), "raw"))
    found: dict[int, int] = {}
    for place, game in enumerate(games_of(scenario, connection, timed=False)):
        if played([game]) and (match := score._counterpart(game, wanted)) is not None:
            found[place] = match.index
    return found


def played(games: Iterable[Game]) -> list[Game]:
    """Those that were played and have a move."""
    return [game for game in games if game.kind is GameKind.PLAYED and game.plies]


def whole(scenario: str) -> list[dict[str, Any]]:
    """The truth's games without those that were adjourned and continued: their plies are in what became of them."""
    games = corpus.truth(scenario)["games"]
    continued = {game.get("continues_game_index") for game in games}
    return [game for number, game in enumerate(games) if number not in continued and game["moves_uci"]]
