"""The main lines of some games as flat arrays, one game's rows behind the other's."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recorder.model import Precision
from storage.columns import NULL, ColumnReader, GameFacts, Ints, PlyArrays, View

__all__ = ["MOST_PLIES", "Block", "numbers_at", "read_block"]

MOST_PLIES = 1 << 20
"""Number of the game × this + half-moves played: the place of a position among all that are loaded."""

#: The third part of ``quality`` → ``Precision``; see docs/schema.md.
_PRECISIONS = np.array(
    [
        Precision.MILLISECONDS,
        Precision.SECONDS,
        -1,
        Precision.DERIVED_MILLISECONDS,
        Precision.DERIVED_SECONDS,
        Precision.ELAPSED_DERIVED_MILLISECONDS,
        Precision.ELAPSED_DERIVED_SECONDS,
    ],
    dtype=np.int64,
)


class Block(NamedTuple):
    """Games with at least one ply.

    Attributes:
        games, starts: the games, and the row where each begins, with the number of rows as the last one.
        views, view: the segments, and for each row the number of its segment. game: the number of its game.
        plies: the rows. ``at_ms`` is as in ``Ply``, ``from_offset`` counts from the source's first byte.
        proof, origin, precision: the enums' integers; precision -1: no time was printed.
        whole: of each game whether one observation, whole, is all that is known of it.
    """

    games: list[GameFacts]
    starts: Ints
    views: list[View]
    view: Ints
    game: Ints
    plies: PlyArrays
    proof: Ints
    origin: Ints
    precision: Ints
    whole: NDArray[np.bool_]


def read_block(reader: ColumnReader, ids: list[int]) -> Block | None:
    """The games with these row numbers, in this order; None if none of them has a ply."""
    views = [view for view in reader.views(ids) if view.ply_count]
    if not views:
        return None
    counts = np.array([view.ply_count for view in views], dtype=np.int64)
    loaded = reader.plies([(view.first_ply_id, view.ply_count) for view in views])
    view = np.repeat(np.arange(len(views)), counts)
    first, last = (np.array([one[place] for one in views], dtype=np.int64)[view] for place in (1, 2))
    mine = (loaded.ply >= first) & (loaded.ply <= last)
    if not mine.all():
        loaded, view = loaded.at(mine), view[mine]
    facts = {game.id: game for game in reader.facts(ids)}
    numbers = {row_id: number for number, row_id in enumerate(dict.fromkeys(one.game_id for one in views))}
    games = [facts[row_id] for row_id in numbers]
    game = np.array([numbers[one.game_id] for one in views], dtype=np.int64)[view]
    starts = np.searchsorted(game, np.arange(len(games) + 1))
    timed = np.array([one.time_basis == facts[one.game_id].time_basis for one in views], dtype=bool)
    began = np.array([one.started_at_ms or 0 for one in views], dtype=np.int64)
    at_ms = np.where((loaded.at_ms != NULL) & timed[view], loaded.at_ms + began[view], NULL)
    offset = np.array([one.offset for one in views], dtype=np.int64)
    of_game = np.array([numbers[one.game_id] for one in views], dtype=np.int64)
    alone = np.array([one.observations == 1 and one.lines == 1 for one in views], dtype=bool)
    whole = np.bincount(of_game, minlength=len(games)) == 1
    whole[of_game[~alone]] = False
    kept = np.bincount(game, minlength=len(games))
    whole &= kept == np.bincount(of_game, weights=counts, minlength=len(games))
    return Block(
        games,
        starts,
        views,
        view,
        game,
        loaded._replace(at_ms=at_ms, from_offset=loaded.from_offset + offset[view]),
        loaded.quality & 7,
        loaded.quality >> 3 & 7,
        _PRECISIONS[loaded.quality >> 6],
        whole,
    )


def numbers_at(rows: Ints, places: Ints, numbers: Ints) -> Ints:
    """For each row the number that stands at its place, or -1.

    Args:
        rows: the rows' places, ascending. places, numbers: pairs in any order.
    """
    found = np.full(len(rows), -1, dtype=np.int64)
    at = np.searchsorted(rows, places)
    there = at < len(rows)
    there[there] = rows[at[there]] == places[there]
    found[at[there]] = numbers[there]
    return found
