"""Plies of games as rows of the ply table, in plain Python values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice, repeat
from typing import Any, NamedTuple

import numpy as np

from exporters.games_json import ORIGINS, PRECISIONS, PROOFS
from exporters.holdings import plies_with_holdings
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
_GAMES_AT_ONCE = 200  # replayed together
_Row = tuple[Any, ...]


def ply_rows(games: Iterable[Game]) -> Iterator[tuple[Game, list[_Row]]]:
    """Each game with its rows, values in the order of ``PLY_COLUMNS``; None for unknown values.

    Args:
        games: loaded with their events, holdings and thinking output.
    """
    source = iter(games)
    while batch := list(islice(source, _GAMES_AT_ONCE)):
        phases, judged = iter(_phases(batch)), _evaluations(batch)
        for game in batch:
            yield game, list(_rows(game, phases, judged))


def _phases(games: Sequence[Game]) -> list[str | None]:
    """The phase of each ply of the games' main lines; None: unknown, or the variant has no phases."""
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
    """The rows of a game.

    Args:
        phases, judged: iterators over phases (None: unknown) and evaluations, which continue with the game's first ply.
    """
    sides = _sides(game)
    basis = game.time_basis
    moved, waiting_ms = -1, None  # the previous ply's number, and its mover's clock, which now stands still
    for (ply, holdings), entry in zip(plies_with_holdings(game), ledger(game), strict=True):
        mine = sides[ply.white_moved]
        after_ms, opponent_ms = ply.white_clock_ms, ply.black_clock_ms
        if not ply.white_moved:
            after_ms, opponent_ms = opponent_ms, after_ms
        if opponent_ms is None and ply.ply == moved + 1:
            opponent_ms = waiting_ms
        moved, waiting_ms = ply.ply, after_ms
        yield (
            *mine.game,
            ply.ply,
            (ply.ply + 1) // 2,
            *mine.players,
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
            mine.sealed,
            PRECISIONS[ply.precision_code],
            PROOFS[ply.proof_code],
            ORIGINS[ply.origin_code],
            *holdings,
            entry.residual_ms,
            None if entry.cause is None else entry.cause.value,
            *next(judged),
        )


class _Side(NamedTuple):
    """What all plies of one side of a game have in common.

    Attributes:
        game: the first columns, up to the time control.
        players: the columns from the side to the end of the game.
        sealed: whether the side had a time seal; None: unknown.
    """

    game: _Row
    players: _Row
    sealed: bool | None


def _sides(game: Game) -> dict[bool, _Side]:
    """Both sides, White's by True."""
    source = game.observations[0].source if game.observations and not game.merged_from else None
    journal = source.sha256 if source is not None and source.kind == SourceKind.JOURNAL.value else None
    connection = connection_of(game.key, journal)
    facts = (game.key, game.server, game.game_no, game.kind.value, game.variant, game.category, game.rated)
    day = None if game.day is None else str(game.day)
    ended = (game.result, game.end, game.termination or None, game.reason_key, game.complete)
    known = {
        white: (
            player.handle,
            identity(game.server, player, connection),
            player.is_guest,
            None if player.titles is None else player.is_computer,
            player.rating,
        )
        for white, player in ((True, game.white), (False, game.black))
    }
    score = SCORES.get(game.result)
    sides = {}
    for white, player in ((True, game.white), (False, game.black)):
        base_s, increment_s = control_of(game, white)
        pairs = chain.from_iterable(zip(known[white], known[not white], strict=True))  # the mover's, the opponent's
        own_score = score if score is None or white else 1 - score
        sides[white] = _Side(
            (*facts, day, time_control(base_s, increment_s), base_s, increment_s),
            ("white" if white else "black", *pairs, own_score, *ended),
            player.sealed,
        )
    return sides
