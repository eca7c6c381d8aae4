"""Pieces in hand after each ply: what ``exporters.holdings`` says, for many games at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from exporters.frames.block import Block
from recorder.model import Origin
from storage.columns import ColumnReader

__all__ = ["hands_of"]

_OBSERVATION = 1 << 42  # offsets are smaller
_NOT_SHOWN = (Origin.MOVELIST.value, Origin.INFERRED.value)


def hands_of(block: Block, reader: ColumnReader) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
    """White's and Black's letters after each row; None where they are not known."""
    nobody = np.full(len(block.game), None, dtype=object)
    changes = reader.hands({view.observation_id for view in block.views})
    if not changes:
        return nobody, nobody
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
