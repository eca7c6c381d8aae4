"""Evaluations before and after each half-move, and what the move lost by them: ``exporters.evaluations`` in arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from exporters.evaluations import BOUND_CP, CHANCES, Evaluation, evaluations
from exporters.tables.block import MOST_PLIES, PlyBlock, numbers_at
from recorder.model import SAVED_ORIGINS, Game
from storage.read.columns import NULL, ColumnReader, Ints

_CHANCES = np.array(CHANCES, dtype=np.int64)


class Judged(NamedTuple):
    """Of each row, as its mover sees it, in the order of the table's columns; ``NULL`` where it is unknown.

    ``depth`` and ``engine`` are of the evaluation after the move; ``engine`` is an index in ``engines``, or -1.
    """

    before_cp: Ints
    before_mate: Ints
    after_cp: Ints
    after_mate: Ints
    depth: Ints
    engine: Ints
    loss_cp: Ints
    loss_permille: Ints
    engines: tuple[str, ...]


class _Evaluations(NamedTuple):
    """Evaluations as White sees them, each with the place of its position.

    ``author``: the engine, an empty text if it is not named; behind a line's end whether it is an analysis.
    """

    place: Ints
    cp: Ints
    mate: Ints
    depth: Ints
    author: NDArray[np.object_]


def judge_block(block: PlyBlock, reader: ColumnReader) -> Judged | None:
    """The columns of a block; None: its games have no evaluations."""
    ids = [game.id for game in block.games]
    with_thinking, analysed = reader.games_with_thinking(ids), reader.analysed(ids)
    if not with_thinking and not analysed:
        return None
    numbers = {number for number, row_id in enumerate(ids) if row_id in with_thinking - analysed}
    saved, plain = _saved(block, reader, numbers)
    others = [number for number, row_id in enumerate(ids) if row_id in with_thinking | analysed and number not in plain]
    games = reader.games([block.games[number].id for number in others], thinking=True)
    stated = [saved, _evaluations_of(zip(others, games, strict=True))]
    return _judge(block.game * MOST_PLIES + block.plies.ply, stated)


def judge_games(games: Sequence[Game]) -> Judged | None:
    """The columns of games' main lines, one game's behind the other's; None: they have no evaluations."""
    stated = _evaluations_of(enumerate(games))
    if not len(stated.place):
        return None
    places = [number * MOST_PLIES + ply.ply for number, game in enumerate(games) for ply in game.plies]
    return _judge(np.array(places, dtype=np.int64), [stated])


def _evaluations_of(games: Iterable[tuple[int, Game]]) -> _Evaluations:
    """The evaluations of games' positions; each game with its number."""
    places: list[int] = []
    stated: list[Evaluation] = []
    for number, game in games:
        for ply, one in evaluations(game).items():
            places.append(number * MOST_PLIES + ply)
            stated.append(one)

    def column(values: Iterable[int | None]) -> Ints:
        return np.array([NULL if value is None else value for value in values], dtype=np.int64)

    return _Evaluations(
        np.array(places, dtype=np.int64),
        column(one.score_cp for one in stated),
        column(one.mate for one in stated),
        column(one.depth for one in stated),
        np.array([f"{one.engine or ''}\n{'analysis' if one.analysed else ''}" for one in stated], dtype=object),
    )


def _saved(block: PlyBlock, reader: ColumnReader, numbers: set[int]) -> tuple[_Evaluations, set[int]]:
    """Evaluations in saved games with at most one behind a move; and in which games these are all."""
    pgn = np.isin(block.origin, SAVED_ORIGINS)
    saved = np.array([pgn[first:last].all() for first, last in pairwise(block.starts.tolist())], dtype=bool)
    saved &= block.whole
    row_ids = {game.id: number for number, game in enumerate(block.games)}
    owners = {view.observation_id: row_ids[view.game_id] for view in block.views}
    owners = {seen: number for seen, number in owners.items() if number in numbers and saved[number]}
    thinking = reader.thinking(owners)
    known = np.array(sorted(owners), dtype=np.int64)
    owner = np.array([owners[seen] for seen in sorted(owners)], dtype=np.int64)
    number = owner[np.searchsorted(known, thinking.observation_id)]
    place = number * MOST_PLIES + thinking.ply + 1
    _, group, counts = np.unique(place, return_inverse=True, return_counts=True)
    ambiguous = set(number[(counts[group] > 1) | (thinking.white != 1 - (thinking.ply & 1))].tolist())
    plain = set(owners.values()) - ambiguous
    kept = np.isin(number, sorted(plain)) & ((thinking.score_cp != NULL) | (thinking.mate != NULL))
    sign = np.where(thinking.white == 1, 1, -1)
    cp = np.where((thinking.score_cp == NULL) | (thinking.mate != NULL), NULL, sign * thinking.score_cp)
    mate = np.where(thinking.mate == NULL, NULL, sign * thinking.mate)
    stated = _Evaluations(place, cp, mate, thinking.depth, thinking.engine + "\n")
    return _Evaluations._make(column[kept] for column in stated), plain


def _judge(places: Ints, parts: Iterable[_Evaluations]) -> Judged:
    """Put evaluations beside the rows that they are about.

    A loss is known where both evaluations are one engine's, of one analysis or of none. It is how far the bounded
    evaluation fell, and how far the chances of winning did that it stands for; a mate counts as the bound. It is never
    below 0: a position that became better had been misjudged. ``places`` are ascending.
    """
    stated = _Evaluations._make(np.concatenate(columns) for columns in zip(*parts, strict=True))
    authors, author = np.unique(stated.author.astype(str), return_inverse=True)
    names, of_author = np.unique([name.partition("\n")[0] for name in authors], return_inverse=True)
    unnamed = int(len(names) > 0 and names[0] == "")
    # An unknown one stands last, where -1 finds it.
    cp, mate, depth = (np.append(column, NULL) for column in (stated.cp, stated.mate, stated.depth))
    engine, author = np.append(of_author[author] - unnamed, -1), np.append(author, -1)
    numbers = np.arange(len(stated.place))
    after, before = (numbers_at(places, stated.place + step, numbers) for step in (0, 1))
    sign = np.where(places & 1 == 1, 1, -1)

    def seen(values: Ints) -> Ints:
        return np.where(values == NULL, NULL, sign * values)

    cp_after, mate_after, cp_before, mate_before = (seen(column[at]) for at in (after, before) for column in (cp, mate))
    # Mate in 0 is on the board: the last mover has given it.
    bounded_after = _bounded(cp_after, mate_after, mate_after >= 0)
    bounded_before = _bounded(cp_before, mate_before, mate_before > 0)
    both = (after >= 0) & (before >= 0) & (author[after] == author[before])

    def lost(value_before: Ints, value_after: Ints) -> Ints:
        return np.where(both, np.maximum(value_before - value_after, 0), NULL)

    return Judged(
        cp_before,
        mate_before,
        cp_after,
        mate_after,
        depth[after],
        engine[after],
        lost(bounded_before, bounded_after),
        lost(_CHANCES[bounded_before + BOUND_CP], _CHANCES[bounded_after + BOUND_CP]),
        tuple(names[unnamed:].tolist()),
    )


def _bounded(cp: Ints, mate: Ints, wins: NDArray[np.bool_]) -> Ints:
    found = np.where(mate == NULL, cp, np.where(wins, BOUND_CP, -BOUND_CP))
    return np.clip(found, -BOUND_CP, BOUND_CP)
