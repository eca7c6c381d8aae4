"""Plies of games as rows of the ply table, in plain Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from typing import Any

import numpy as np

from exporters.boards import plies_with_holdings
from exporters.games_json import ORIGINS, PRECISIONS, PROOFS
from exporters.tables.boards import (
    NORMAL_START,
    Moves,
    board_of_fen,
    has_phases,
    is_played_here,
    replay,
)
from exporters.tables.columns import EVALUATIONS, PHASES, PLY_COLUMNS
from exporters.tables.evaluations import judge_games
from exporters.tables.facts import SCORES, connection_of, identity, time_control
from recorder.ledger import ledger
from recorder.model import Game, SourceKind, TimeBasis, control_of
from recorder.times import iso
from storage.read.columns import NULL

__all__ = ["PLY_NAMES", "ply_rows"]

PLY_NAMES = tuple(column.name for column in PLY_COLUMNS)
_GAMES_AT_ONCE = 200  # what is replayed together
_Row = tuple[Any, ...]


def ply_rows(games: Iterable[Game]) -> Iterator[tuple[Game, list[_Row]]]:
    """Each game with its rows, values in the order of ``PLY_COLUMNS``; None where nothing is known.

    Args:
        games: with their events, holdings and thinking.
    """
    source = iter(games)
    while batch := list(islice(source, _GAMES_AT_ONCE)):
        phases, judged = iter(_phases(batch)), _evaluations(batch)
        for game in batch:
            yield game, list(_rows(game, phases, judged))


def _phases(games: Sequence[Game]) -> list[str | None]:
    """The phase of each ply of the games' main lines."""
    starts, before, after = [0], [], []
    boards: dict[bytes, int] = {}

    def number(fen: str | None) -> int:
        board = None if fen is None else board_of_fen(fen)
        return -1 if board is None else boards.setdefault(board, len(boards))

    for game in games:
        plies = game.plies
        starts.append(starts[-1] + len(plies))
        anchors = {anchor.ply: anchor.fen for anchor in game.anchors()} if is_played_here(game.variant) else {}
        start = game.start_fen or (NORMAL_START if game.start_ply == 0 else None)
        if start is not None and is_played_here(game.variant):
            anchors.setdefault(game.start_ply, start)
        last = None
        for ply in plies:
            before.append(-1 if last == ply.ply - 1 else number(anchors.get(ply.ply - 1)))
            after.append(number(anchors.get(ply.ply)))
            last = ply.ply
    rows = [ply for game in games for ply in game.plies]
    found = replay(
        Moves(
            np.array(starts, dtype=np.int64),
            np.array([ply.ply for ply in rows], dtype=np.int64),
            np.array([-1 if ply.move is None else ply.move for ply in rows], dtype=np.int64),
            np.array([ply.proof_code for ply in rows], dtype=np.int64),
            np.array([ply.origin_code for ply in rows], dtype=np.int64),
            np.array([game.variant == "atomic" for game in games], dtype=bool),
            np.array([has_phases(game.variant) for game in games], dtype=bool),
            np.array(before, dtype=np.int64),
            np.array(after, dtype=np.int64),
            list(boards),
        )
    )
    names = (*PHASES, None)
    return [names[code] for code in found.phase.tolist()]


def _evaluations(games: Sequence[Game]) -> Iterator[_Row]:
    """The columns of evaluations of each ply of the games' main lines."""
    judged = judge_games(games)
    if judged is None:
        return repeat((None,) * len(EVALUATIONS))
    names = (*judged.engines, None)
    columns = [[None if value == NULL else value for value in column.tolist()] for column in judged[:-1]]
    columns[EVALUATIONS.index("eval_engine")] = [names[code] for code in judged.engine.tolist()]
    return zip(*columns, strict=True)


def _rows(game: Game, phases: Iterator[str | None], judged: Iterator[_Row]) -> Iterator[_Row]:
    source = game.observations[0].source if game.observations and not game.merged_from else None
    journal = source.sha256 if source is not None and source.kind == SourceKind.JOURNAL.value else None
    connection = connection_of(game.key, journal)
    sides = {white: _Side(game, white, connection) for white in (True, False)}
    whole = (game.key, game.server, game.game_no, game.kind.value, game.variant, game.category, game.rated)
    ended = (game.result, game.end, game.termination or None, game.reason_key, game.complete)
    basis = game.time_basis
    moved, waiting_ms = -1, None  # the ply before, and its mover's clock, which is stopped until the next one
    for (ply, holdings), entry in zip(plies_with_holdings(game), ledger(game), strict=True):
        white = ply.white_moved
        mine, other = sides[white], sides[not white]
        after_ms, opponent_ms = ply.white_clock_ms, ply.black_clock_ms
        if not white:
            after_ms, opponent_ms = opponent_ms, after_ms
        if opponent_ms is None and ply.ply == moved + 1:
            opponent_ms = waiting_ms
        moved, waiting_ms = ply.ply, after_ms
        yield (
            *whole,
            mine.time_control,
            mine.base_s,
            mine.increment_s,
            ply.ply,
            (ply.ply + 1) // 2,
            "white" if white else "black",
            mine.player.handle,
            other.player.handle,
            mine.identity,
            other.identity,
            mine.player.is_guest,
            other.player.is_guest,
            mine.computer,
            other.computer,
            mine.player.rating,
            other.player.rating,
            mine.score,
            *ended,
            ply.san,
            ply.uci,
            next(phases),
            entry.before_ms,
            after_ms,
            opponent_ms,
            ply.white_clock_ms,
            ply.black_clock_ms,
            ply.elapsed_ms,
            ply.elapsed_origin,
            ply.lag_ms,
            iso(ply.at_ms, basis),
            None if basis is TimeBasis.NONE else ply.at_ms,
            basis.value,
            entry.interval_ms,
            entry.thinking_ms,
            mine.player.sealed,
            PRECISIONS[ply.precision_code],
            PROOFS[ply.proof_code],
            ORIGINS[ply.origin_code],
            *holdings,
            entry.residual_ms,
            None if entry.cause is None else entry.cause.value,
            *next(judged),
        )


class _Side:
    """What every ply of one side of a game has in common."""

    def __init__(self, game: Game, white: bool, connection: str) -> None:
        self.player = game.white if white else game.black
        self.base_s, self.increment_s = control_of(game, white)
        self.time_control = time_control(self.base_s, self.increment_s)
        self.identity = identity(game.server, self.player, connection)
        self.computer = None if self.player.titles is None else self.player.is_computer
        score = SCORES.get(game.result)
        self.score = score if score is None or white else 1 - score
