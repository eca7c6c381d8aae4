"""The moments of a log's bytes, read by read, and what they show of games."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

from recorder.events import Chunk
from recorder.model import Game
from recorder.replay.moments import by_offset, moments_of_game
from recorder.replay.timing import Moment, Timing

__all__ = ["moments_of_chunks", "placed"]


def moments_of_chunks(chunks: Iterable[Chunk]) -> Iterator[Moment[Chunk]]:
    """What a log or a journal has of a server's bytes, read by read.

    Bytes without a time come with those before them. A chunk without data, the end of a connection, has the marker
    ``disconnected``.
    """
    begin_ms: int | None = None
    now_ms = 0
    for chunk in chunks:
        timing = Timing.ARRIVAL
        if chunk.at_ms is None:
            timing = Timing.UNKNOWN
        elif begin_ms is None:
            begin_ms = chunk.at_ms - now_ms
        else:
            now_ms = max(now_ms, chunk.at_ms - begin_ms)
        yield Moment(now_ms, chunk, None, None, () if chunk.data else ("disconnected",), timing)


def placed(moments: Sequence[Moment[Chunk]], games: Iterable[Game]) -> list[Moment[Chunk]]:
    """Bytes with what was read from them: which game and ply they show, and markers for what happens there.

    Args:
        moments: of all chunks of one source, in order.
        games: that were read from it, by the same offsets; the first one in it is game 0.
    """
    found = list(moments)
    offsets = [moment.what.offset for moment in found]
    for number, game in enumerate(sorted(games, key=lambda game: game.first_offset)):
        for told in moments_of_game(game, number):
            offset = by_offset(told, game)
            place = -1 if offset is None else bisect_right(offsets, offset) - 1
            if place < 0:
                continue
            moment = found[place]
            if moment.game is None:
                moment = moment._replace(game=number, ply=told.ply)
            new = tuple(name for name in told.markers if name not in moment.markers)
            found[place] = moment._replace(markers=moment.markers + new)
    return found
