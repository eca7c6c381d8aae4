"""Both boards of bughouse matches as one table: the ply table of both, in the order in which the moves were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import pandas as pd

from exporters.bpgn import find_matches
from exporters.tables.columns import Column
from recorder.errors import StorageError
from recorder.model import LinkKind, TimeBasis
from recorder.relating.match import Match, MatchMoment, leads, timeline
from storage import GameFilter
from storage.dataset.reading import DatasetStore
from storage.read.store import GameStore

__all__ = ["MATCH_COLUMNS", "boards_of", "match_frame", "read_matches"]

MATCH_COLUMNS = (
    Column("match", "text", "string", "", "key of the match's board A", True),
    Column("board", "text", "category", "", "`A` or `B`; White of A and Black of B are one team", True),
    Column("moment", "integer", "Int32", "", "the move's place among those of both boards, from 1", True),
    Column("certain", "boolean", "boolean", "", "whether its place among the other board's moves is known", True),
    Column("partner", "text", "category", "", "handle of the mover's partner"),
    Column("diagonal_lead_ms", "integer", "Int64", "ms", "the mover's clock less his colour's on the other board"),
    Column(
        "sit_ms", "integer", "Int64", "ms", "before the move: no player moved, and one colour was on the move on both"
    ),
)
"""Columns of match tables that stand before those of plies."""

_FEW = 200  # keys that a filter may hold
_Row = tuple[Any, ...]


def read_matches(storage: GameStore, where: GameFilter) -> list[Match]:
    """The bughouse matches of which at least one board matches a filter.

    Args:
        storage: the archive.
        where: which games; only bughouse of these counts.
    Returns:
        The matches of which both boards are in the archive, in its order.
    Raises:
        StorageError: it is a data set, which has none.
    """
    if isinstance(storage, DatasetStore):
        raise StorageError(
            "A data set does not have the order of the moves on both boards of bughouse matches: "
            "import the logs into an archive, which has it."
        )
    bughouse = replace(where, variants=frozenset({"bughouse"}))
    games = {game.key: game for game in storage.games(bughouse)}
    linked = {link.key for game in games.values() for link in game.links if link.kind is LinkKind.PARTNER}
    if missing := sorted(linked - games.keys()):
        for begin in range(0, len(missing), _FEW):
            keys = frozenset(missing[begin : begin + _FEW])
            others = GameFilter(keys=keys, min_plies=0, kinds=frozenset(), per_source=where.per_source)
            games |= {game.key: game for game in storage.games(others)}
    matches, _ = find_matches(list(games.values()))
    places = {key: place for place, key in enumerate(games)}
    return sorted(matches, key=lambda match: min(places[match.a.key], places[match.b.key]))


def boards_of(matches: Iterable[Match], where: GameFilter) -> GameFilter:
    """A filter that matches at least all boards with a move of these matches, which ``where`` found.

    Args:
        matches: as ``read_matches`` returns them.
        where: the filter that they were read with.
    Returns:
        A filter for ``ply_frame``; it may also let other bughouse games pass.
    """
    keys = frozenset(game.key for match in matches for game in (match.a, match.b))
    return GameFilter(
        variants=frozenset({"bughouse"}),
        kinds=frozenset(),
        # A short list of keys is a quick filter; for many matches all bughouse is read.
        keys=keys if len(keys) <= _FEW else frozenset(),
        per_source=where.per_source,
    )


def match_frame(plies: pd.DataFrame, matches: Iterable[Match]) -> pd.DataFrame:
    """The ply table of the boards of some matches with ``MATCH_COLUMNS`` in front; matches, then moments in order.

    Args:
        plies: at least those of all boards. matches: in the order of the table.
    Returns:
        One row for each ply of a match, ``MATCH_COLUMNS`` before the columns of ``plies``.
    """
    rows = [(number, *row) for number, match in enumerate(matches) for row in _match_rows(match)]
    names = ["_place", "key", "ply", *(column.name for column in MATCH_COLUMNS)]
    columns = dict(zip(names, zip(*rows, strict=True), strict=True)) if rows else {}
    types = {"_place": "Int64", "key": "string", "ply": "Int32"} | {one.name: one.dtype for one in MATCH_COLUMNS}
    beside = pd.DataFrame({name: pd.Series(columns.get(name, ()), dtype=types[name]) for name in names})
    found = beside.merge(plies, on=["key", "ply"], how="inner", validate="one_to_one")
    found = found.sort_values(["_place", "moment"], ignore_index=True)
    return found[[*(column.name for column in MATCH_COLUMNS), *plies.columns]]


def _match_rows(match: Match) -> Iterator[_Row]:
    """Key, ply and the values of ``MATCH_COLUMNS`` of each move of a match, in the order of the moves."""
    moments = timeline(match)
    sits = _sits(match, moments)
    for number, (moment, lead, sit_ms) in enumerate(zip(moments, leads(match), sits, strict=True), 1):
        own, other = match.board(moment.board), match.board("B" if moment.board == "A" else "A")
        white = moment.ply.white_moved
        partner = other.black if white else other.white
        # White of board A and Black of board B are one team; ``leads`` is from the view of White on board A.
        sign = 1 if white is (moment.board == "A") else -1
        yield (
            own.key,
            moment.ply.ply,
            match.a.key,
            moment.board,
            number,
            moment.certain,
            partner.handle,
            None if lead is None else sign * lead,
            sit_ms,
        )


def _sits(match: Match, moments: list[MatchMoment]) -> list[int | None]:
    """For each move, the time before it without a move while the same colour was to move on both boards.

    These two players are in different teams, and each may wait for the other. 0 if different colours were to move; None
    if a move is missing, the order of the moves is not certain, or an arrival time is unknown.
    """
    found: list[int | None] = []
    played: dict[str, int | None] = {letter: game.start_ply for letter, game in (("A", match.a), ("B", match.b))}
    coming = _coming(moments)
    before: MatchMoment | None = None
    comparable = match.a.time_basis is match.b.time_basis is not TimeBasis.NONE
    for place, moment in enumerate(moments):
        boards = [played["A"], played["B"]]
        whole = all(
            last is not None and (following is None or following == last + 1)
            for last, following in zip(boards, coming[place], strict=True)
        )
        sit_ms = None
        if whole and comparable and before is not None and before.certain and moment.certain:
            began_ms, ended_ms = before.ply.at_ms, moment.ply.at_ms
            if began_ms is not None and ended_ms is not None:
                same = (boards[0] or 0) % 2 == (boards[1] or 0) % 2
                sit_ms = max(ended_ms - began_ms, 0) if same else 0
        found.append(sit_ms)
        played[moment.board] = moment.ply.ply
        before = moment
    return found


def _coming(moments: list[MatchMoment]) -> list[tuple[int | None, int | None]]:
    """Before each move the ply that comes next on board A and on board B; None: no more."""
    following: dict[str, int | None] = {"A": None, "B": None}
    found = []
    for moment in reversed(moments):
        following[moment.board] = moment.ply.ply
        found.append((following["A"], following["B"]))
    return found[::-1]
