"""What is known of each ply, as arrays of many games. No pandas."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from exporters.tables.block import PlyBlock, holdings_of, moves_of, read_block
from exporters.tables.boards import fens, material, replay
from exporters.tables.clocks import CAUSES, clocks_of
from exporters.tables.columns import EVALUATIONS, PHASES
from exporters.tables.evaluations import Judged, judge_block
from recorder.model import ELAPSED_DERIVED, ELAPSED_ORIGINS, Origin, Precision, Proof
from storage.read.columns import NULL, ColumnReader, Ints


class Spread(NamedTuple):
    """A column that repeats few values.

    Attributes:
        facts: the values; None: not known.
        rows: for each row the index of its value in ``facts``; -1: the last. Columns that share this array vary
            together.
    """

    facts: Sequence[Any]
    rows: NDArray[np.signedinteger[Any]]


PlyValues = dict[str, "Spread | Ints | NDArray[np.object_]"]
"""Columns by name: few values at many rows, integers (``NULL`` where unknown), or texts (None where unknown)."""


def values_of(reader: ColumnReader, ids: list[int], names: Collection[str]) -> PlyValues | None:
    """Columns of the plies of some games.

    Args:
        reader: of the archive. ids: row numbers of games, in the order of the rows.
        names: ``game``, the row number; columns of ``PLY_TYPES``; ``material`` and ``fen``. What only others need is
            skipped.
    Returns:
        The columns; None if the games have no plies.
    """
    block = read_block(reader, ids) if ids else None
    if block is None:
        return None
    values = _values(block, reader, frozenset(names))
    return {name: values[name] for name in names}


def _values(block: PlyBlock, reader: ColumnReader, names: frozenset[str]) -> PlyValues:
    plies, white = block.plies, block.plies.ply & 1 == 1
    after = np.where(white, plies.white_clock_ms, plies.black_clock_ms)
    printed = np.where(white, plies.black_clock_ms, plies.white_clock_ms)
    values: PlyValues = {
        "game": np.array([game.id for game in block.games], dtype=np.int64)[block.game],
        "ply": plies.ply,
        "move": plies.move,
        "san": plies.san,
        "clock_after_ms": after,
        "both_clocks": (printed != NULL).astype(np.int8),
        "elapsed_ms": plies.elapsed_ms,
        "elapsed_origin": Spread((*ELAPSED_ORIGINS, None), _elapsed_origin(block)),
        "lag_ms": plies.lag_ms,
        "arrival_ms": plies.at_ms,
        **_quality(block),
    }
    if "opponent_clock_ms" in names:
        values["opponent_clock_ms"] = _waiting(block, after, printed)
    if not _OF_CLOCKS.isdisjoint(names):
        clocks = clocks_of(block, reader)
        values |= {
            "clock_before_ms": clocks.before_ms,
            "interval_ms": clocks.interval_ms,
            "thinking_ms": clocks.thinking_ms,
            "residual_ms": clocks.residual_ms,
            "cause": Spread((*CAUSES, None), clocks.cause),
        }
    if not _OF_EVALUATIONS.isdisjoint(names):
        values |= _evaluations(judge_block(block, reader), len(plies.ply))
    if not _OF_BOARDS.isdisjoint(names):
        values |= _boards(block, reader, names)
    return values


_OF_CLOCKS = frozenset({"clock_before_ms", "interval_ms", "thinking_ms", "residual_ms", "cause"})
_OF_EVALUATIONS = frozenset(EVALUATIONS)
_OF_HANDS = frozenset({"white_holdings", "black_holdings", "fen"})
_OF_BOARDS = frozenset({"phase", "material", "fen"}) | _OF_HANDS


def _boards(block: PlyBlock, reader: ColumnReader, names: frozenset[str]) -> PlyValues:
    """The phase and pieces in hand, and what positions show."""
    values: PlyValues = {}
    if not _OF_HANDS.isdisjoint(names):
        values["white_holdings"], values["black_holdings"] = hands = holdings_of(block, reader)
    if not {"phase", "material", "fen"}.isdisjoint(names):
        played = replay(moves_of(block, reader), keep="fen" in names or "material" in names)
        values["phase"] = Spread((*PHASES, None), played.phase)
        if played.boards is not None and "material" in names:
            values["material"] = np.where(played.known, material(played.boards), NULL)
        if played.boards is not None and "fen" in names:
            values["fen"] = np.array(fens(played, block.plies, *hands), dtype=object)
    return values


_QUALITIES = [(precision, origin, proof) for precision in (None, *Precision) for origin in Origin for proof in Proof]
"""Precision, origin and proof of a ply: all that may occur together."""


def _quality(block: PlyBlock) -> PlyValues:
    rows = ((block.precision + 1) * len(Origin) + block.origin) * len(Proof) + block.proof
    columns = zip(*([None if one is None else one.name.lower() for one in row] for row in _QUALITIES), strict=True)
    return {name: Spread(facts, rows) for name, facts in zip(("precision", "origin", "proof"), columns, strict=True)}


def _evaluations(judged: Judged | None, rows: int) -> PlyValues:
    """The columns of evaluations of some rows; ``judged`` None: no ply has one."""
    if judged is None:
        return dict.fromkeys(EVALUATIONS, Spread((None,), np.zeros(rows, dtype=np.int64)))
    columns: PlyValues = dict(zip(EVALUATIONS, judged[:-1], strict=True))
    columns["eval_engine"] = Spread((*judged.engines, None), judged.engine)
    return columns


def _elapsed_origin(block: PlyBlock) -> Ints:
    """As ``Ply.elapsed_origin``: a place in ``ELAPSED_ORIGINS``, or -1."""
    imported = np.where(block.origin == Origin.PGN, 1, 0)
    origin = np.where(np.isin(block.precision, list(ELAPSED_DERIVED)), 2, imported)
    return np.where(block.plies.elapsed_ms == NULL, -1, origin)


def _waiting(block: PlyBlock, after: Ints, printed: Ints) -> Ints:
    """The opponent's clock after each ply: as printed with it, else that after the opponent's move just before.

    Saved games and deltas print the mover's clock only; ``after`` has these. It does not change while the mover thinks.
    """
    plies, game = block.plies, block.game
    found = printed.copy()
    follows = (game[1:] == game[:-1]) & (plies.ply[1:] == plies.ply[:-1] + 1)
    found[1:] = np.where((printed[1:] == NULL) & follows, after[:-1], printed[1:])
    return found
