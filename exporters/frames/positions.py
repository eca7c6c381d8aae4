"""What the replay of boards needs of a block: moves, and the positions that were seen."""

from __future__ import annotations

import numpy as np

from exporters.frames.block import MOST_PLIES, Block, numbers_at
from exporters.frames.boards import NORMAL_START, Moves, board_of_fen, has_phases, is_played_here
from storage.columns import NULL, ColumnReader, View

__all__ = ["moves_of"]


def moves_of(block: Block, reader: ColumnReader) -> Moves:
    """The block's moves; positions that were seen are those of ``Game.anchors`` and the start of the game."""
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


def _views(block: Block) -> list[tuple[View, int]]:
    numbers = {game.id: number for number, game in enumerate(block.games)}
    return [(view, numbers[view.game_id]) for view in block.views]
