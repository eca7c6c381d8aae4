"""The main lines of some games as flat arrays, with the pieces in hand."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exporters.tables.boards import NORMAL_START, Moves, board_of_fen, has_phases, is_played_here
from recorder.model import Origin, Precision
from storage.read.columns import NULL, ColumnReader, GameFacts, Ints, PlyArrays, SegmentColumns
from storage.sound import UnsoundError

MOST_PLIES = 1 << 20
"""A position's place among all that are loaded: the number of its game × this + half-moves played."""
#: The third part of ``quality`` → ``Precision``; see docs/reference/schema.md.
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


class PlyBlock(NamedTuple):
    """Games with at least one ply.

    Attributes:
        starts: the first row of each game, and at the end the number of rows.
        views: the segments. view, game: for each row the number of its segment and of its game.
        plies: the rows. ``at_ms`` is as in ``Ply``, ``from_offset`` counts from the source's first byte.
        proof, origin, precision: the enums' integers; precision -1: no time was printed.
        whole: for each game whether it is one observation with one line, all of whose plies are here.
    """

    games: list[GameFacts]
    starts: Ints
    views: list[SegmentColumns]
    view: Ints
    game: Ints
    plies: PlyArrays
    proof: Ints
    origin: Ints
    precision: Ints
    whole: NDArray[np.bool_]


def read_block(reader: ColumnReader, ids: list[int]) -> PlyBlock | None:
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
    if (np.bincount(view, minlength=len(views)) != [one.to_ply - one.from_ply + 1 for one in views]).any():
        raise UnsoundError("plies of a segment are missing")
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
    return PlyBlock(
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
    """Look up the number at each row's place; -1 where there is none.

    Rows are ascending; places and numbers are pairs in any order.
    """
    found = np.full(len(rows), -1, dtype=np.int64)
    at = np.searchsorted(rows, places)
    there = at < len(rows)
    there[there] = rows[at[there]] == places[there]
    found[at[there]] = numbers[there]
    return found


_OBSERVATION = 1 << 42  # offsets are smaller
_NOT_SHOWN = (Origin.MOVELIST.value, Origin.INFERRED.value)


def holdings_of(block: PlyBlock, reader: ColumnReader) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """White's and Black's letters after each row; None where they are not known."""
    nothing = np.full(len(block.game), None, dtype=object)
    changes = reader.holdings({view.observation_id for view in block.views})
    if not changes:
        return nothing, nothing
    ids = np.array([view.observation_id for view in block.views], dtype=np.int64)[block.view]
    known = np.array(sorted({change.observation_id for change in changes}), dtype=np.int64)
    numbers = np.array([change.observation_id for change in changes], dtype=np.int64)
    keys = np.searchsorted(known, numbers) * _OBSERVATION + np.array([c.offset for c in changes], dtype=np.int64)
    rank = np.searchsorted(known, ids).clip(max=len(known) - 1)
    has = known[rank] == ids
    place = np.searchsorted(keys, rank * _OBSERVATION + block.plies.from_offset, side="right")
    plies = np.array([*(change.ply for change in changes), -1], dtype=np.int64)
    owner = np.array([*numbers, -1], dtype=np.int64)
    place -= (owner[place] != ids) | (plies[place] != block.plies.ply)
    has &= (place >= 0) & (owner[place] == ids) & ~np.isin(block.origin, _NOT_SHOWN)
    place = np.where(has, place, len(changes))
    white, black = (
        np.array([*letters, None], dtype=object)[place]
        for letters in ([change.white for change in changes], [change.black for change in changes])
    )
    return white, black


def moves_of(block: PlyBlock, reader: ColumnReader) -> Moves:
    """The block's moves; known positions are those of ``Game.anchors`` and the start of the game."""
    anchors = reader.anchors(
        {view.observation_id for view, game in _views(block) if is_played_here(block.games[game].variant)}
    )
    boards: dict[bytes, int] = {}
    seen: dict[int, int] = {}  # game and ply → number in ``boards``

    def add(game: int, ply: int, fen: str) -> None:
        board = board_of_fen(fen)
        if board is not None:
            seen[game * MOST_PLIES + ply] = boards.setdefault(board, len(boards))

    for number, game in enumerate(block.games):
        start = game.start_fen or (NORMAL_START if game.start_ply == 0 else None)
        if start is not None and is_played_here(game.variant):
            add(number, game.start_ply, start)
    for view, number in _views(block):
        for ply, fen in anchors.get(view.observation_id, ()):
            if view.from_ply - 1 <= ply <= view.to_ply:
                add(number, ply, fen)
    rows = block.game * MOST_PLIES + block.plies.ply
    places = np.fromiter(seen.keys(), dtype=np.int64, count=len(seen))
    numbers = np.fromiter(seen.values(), dtype=np.int64, count=len(seen))
    after = numbers_at(rows, places, numbers)
    before = numbers_at(rows, places + 1, numbers)
    before[1:][rows[1:] == rows[:-1] + 1] = -1
    return Moves(
        block.starts,
        block.plies.ply,
        np.where(block.plies.move == NULL, -1, block.plies.move),
        block.proof,
        block.origin,
        np.array([game.variant == "atomic" for game in block.games], dtype=bool),
        np.array([has_phases(game.variant) for game in block.games], dtype=bool),
        before,
        after,
        list(boards),
    )


def _views(block: PlyBlock) -> list[tuple[SegmentColumns, int]]:
    numbers = {game.id: number for number, game in enumerate(block.games)}
    return [(view, numbers[view.game_id]) for view in block.views]
