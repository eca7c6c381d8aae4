"""The ply table as a DataFrame: arrays of many games, no Python for each ply."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

import numpy as np
import pandas as pd

from exporters.tables.arrays import coded, empty, frame_of, instants, missing, spread, whole
from exporters.tables.block import PlyBlock, hands_of, read_block
from exporters.tables.boards import fens, material, moves_of, replay
from exporters.tables.clocks import clocks_of
from exporters.tables.columns import EVALUATIONS, ON_REQUEST, PLY_COLUMNS
from exporters.tables.evaluations import Judged, judge_block
from exporters.tables.facts import side_of
from recorder.model import ELAPSED_DERIVED, ELAPSED_ORIGINS, Origin, TimeBasis
from recorder.rules.moves import decode_move
from storage import ArchiveStore, GameFilter
from storage.read.columns import NULL, ColumnReader, Ints

__all__ = ["pieces", "plies_of", "ply_frame"]

_BY_NAME = {column.name: column for column in (*PLY_COLUMNS, *ON_REQUEST)}


def ply_frame(
    storage: ArchiveStore, where: GameFilter, extra: Collection[str] = (), *, arrow: bool = True
) -> pd.DataFrame:
    """The plies of the games that match, as ``docs/tables.md`` describes.

    Args:
        storage: the archive. where: which games. extra: names of ``ON_REQUEST``.
        arrow: use ADBC if the extra ``arrow`` is installed.
    """
    with storage.columns(arrow=arrow) as reader:
        return plies_of(reader, [row_id for row_id, _ in reader.games_of(where)], extra)


def pieces(games: Iterable[tuple[int, int]], rows: int) -> Iterator[list[int]]:
    """Row numbers of games in runs of about so many plies, at least one game each.

    Args:
        games: row numbers and numbers of plies. rows: the most plies of a run of several games.
    """
    ids: list[int] = []
    count = 0
    for row_id, plies in games:
        if ids and count + plies > rows:
            yield ids
            ids, count = [], 0
        ids.append(row_id)
        count += plies
    if ids:
        yield ids


def plies_of(reader: ColumnReader, ids: list[int], extra: Collection[str] = ()) -> pd.DataFrame:
    """As ``ply_frame``: of the games with these row numbers, in this order."""
    columns = (*PLY_COLUMNS, *(column for column in ON_REQUEST if column.name in extra))
    block = read_block(reader, ids) if ids else None
    return empty(columns) if block is None else frame_of(columns, _values(block, reader, keep=bool(extra)))


def _values(block: PlyBlock, reader: ColumnReader, *, keep: bool) -> dict[str, Any]:
    plies, game = block.plies, block.game
    white = plies.ply & 1 == 1
    clocks = clocks_of(block, reader)
    white_hands, black_hands = hands_of(block, reader)
    whites, blacks = ([side_of(one, side) for one in block.games] for side in (True, False))
    after = np.where(white, plies.white_clock_ms, plies.black_clock_ms)
    basis = [one.time_basis for one in block.games]
    utc = np.array([one == TimeBasis.UTC.value for one in basis], dtype=bool)[game]

    def of_game(column: str) -> Any:
        return spread(_BY_NAME[column], [getattr(one, column) for one in block.games], game)

    def of_side(column: str, field: str, *, other: bool = False) -> Any:
        """A fact of the mover, or of the opponent."""
        facts = [getattr(one, field) for one in (*whites, *blacks)]
        return spread(_BY_NAME[column], facts, np.where(white != other, game, game + len(block.games)))

    played = replay(moves_of(block, reader), keep=keep)
    values = {
        "key": of_game("key"),
        "server": of_game("server"),
        "server_game_no": of_game("server_game_no"),
        "kind": of_game("kind"),
        "variant": of_game("variant"),
        "category": of_game("category"),
        "rated": of_game("rated"),
        "time_control": of_side("time_control", "time_control"),
        "base_s": of_side("base_s", "base_s"),
        "increment_s": of_side("increment_s", "increment_s"),
        "ply": whole(plies.ply, np.int32),
        "move_no": whole((plies.ply + 1) >> 1, np.int32),
        "side": coded(_BY_NAME["side"].words, np.where(white, 0, 1)),
        "mover": of_side("mover", "handle"),
        "opponent": of_side("opponent", "handle", other=True),
        "mover_id": of_side("mover_id", "identity"),
        "opponent_id": of_side("opponent_id", "identity", other=True),
        "mover_guest": of_side("mover_guest", "guest"),
        "opponent_guest": of_side("opponent_guest", "guest", other=True),
        "mover_computer": of_side("mover_computer", "computer"),
        "opponent_computer": of_side("opponent_computer", "computer", other=True),
        "mover_rating": of_side("mover_rating", "rating"),
        "opponent_rating": of_side("opponent_rating", "rating", other=True),
        "mover_score": of_side("mover_score", "score"),
        "result": of_game("result"),
        "ending": of_game("ending"),
        "termination": spread(_BY_NAME["termination"], [one.termination or None for one in block.games], game),
        "reason": spread(_BY_NAME["reason"], [one.reason_key for one in block.games], game),
        "complete": of_game("complete"),
        "san": pd.array(plies.san, dtype="string"),
        "uci": _uci(plies.move),
        "phase": coded(_BY_NAME["phase"].words, played.phase),
        "clock_before_ms": whole(clocks.before_ms),
        "clock_after_ms": whole(after),
        "opponent_clock_ms": whole(_waiting(block, after)),
        "white_clock_ms": whole(plies.white_clock_ms),
        "black_clock_ms": whole(plies.black_clock_ms),
        "elapsed_ms": whole(plies.elapsed_ms),
        "elapsed_origin": coded(ELAPSED_ORIGINS, _elapsed_origin(block)),
        "lag_ms": whole(plies.lag_ms),
        "at": instants(np.where(utc, plies.at_ms, NULL)),
        "arrival_ms": whole(plies.at_ms),
        "time_basis": of_game("time_basis"),
        "interval_ms": whole(clocks.interval_ms),
        "thinking_ms": whole(clocks.thinking_ms),
        "mover_sealed": of_side("mover_sealed", "sealed"),
        "precision": coded(_BY_NAME["precision"].words, block.precision),
        "proof": coded(_BY_NAME["proof"].words, block.proof),
        "origin": coded(_BY_NAME["origin"].words, block.origin),
        "white_holdings": pd.array(white_hands, dtype="string"),
        "black_holdings": pd.array(black_hands, dtype="string"),
        "residual_ms": whole(clocks.residual_ms),
        "cause": coded(_BY_NAME["cause"].words, clocks.cause),
        **_evaluations(judge_block(block, reader), len(game)),
    }
    if played.boards is not None:
        values["material"] = whole(np.where(played.known, material(played.boards), NULL), np.int32)
        values["fen"] = pd.array(fens(played, plies, white_hands, black_hands), dtype="string")
    return values


def _evaluations(judged: Judged | None, rows: int) -> dict[str, Any]:
    if judged is None:
        return {name: missing(_BY_NAME[name], rows) for name in EVALUATIONS}
    (*before, engine, loss_cp, loss_permille, engines) = judged
    columns = [*map(whole, before), coded(engines, engine), whole(loss_cp, np.int32), whole(loss_permille, np.int32)]
    return dict(zip(EVALUATIONS, columns, strict=True))


def _elapsed_origin(block: PlyBlock) -> Ints:
    """As ``Ply.elapsed_origin``: a place in ``ELAPSED_ORIGINS``, or -1."""
    imported = np.where(block.origin == Origin.PGN, 1, 0)
    origin = np.where(np.isin(block.precision, list(ELAPSED_DERIVED)), 2, imported)
    return np.where(block.plies.elapsed_ms == NULL, -1, origin)


def _waiting(block: PlyBlock, after: Ints) -> Ints:
    """The opponent's clock after each ply: as printed with it, else as it stood after the opponent's move just before.

    Saved games and deltas print the mover's clock only; ``after`` has these. It stands while the mover thinks.
    """
    plies, game = block.plies, block.game
    printed = np.where(plies.ply & 1 == 1, plies.black_clock_ms, plies.white_clock_ms)
    found = printed.copy()
    follows = (game[1:] == game[:-1]) & (plies.ply[1:] == plies.ply[:-1] + 1)
    found[1:] = np.where((printed[1:] == NULL) & follows, after[:-1], printed[1:])
    return found


def _uci(moves: Ints) -> Any:
    codes, place = np.unique(moves, return_inverse=True)
    texts = [None if code == NULL else decode_move(code) for code in codes.tolist()]
    return pd.array(texts, dtype="string").take(place)
