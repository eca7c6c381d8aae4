"""Both boards of bughouse matches as one table: the ply table of both, in the order in which the moves were made."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pandas as pd

from exporters.bpgn import find_matches
from exporters.tables.columns import MATCH_COLUMNS, PLY_COLUMNS
from exporters.tables.frames import frame_of_lists
from exporters.tables.tables import GamesTables, open_tables
from recorder.model import LinkKind, TimeBasis
from recorder.relating.match import Match, MatchMoment, leads, timeline
from storage import EVERY_GAME, GameFilter, GameStore
from storage.dataset.reading import DatasetStore

_FEW = 200  # keys that a filter may hold
_Row = tuple[Any, ...]


@contextmanager
def open_matches(storage: GameStore, where: GameFilter, *, arrow: bool = True) -> Iterator[GamesTables]:
    """Of which one board matches; one match after the other, in the order of games."""
    bughouse = replace(where, variants=frozenset({"bughouse"}))
    if isinstance(storage, DatasetStore):
        with storage.snapshot():
            with storage.columns() as reader:
                games = reader.boards_of(bughouse)
            with open_tables(storage, games=games) as tables:
                yield tables
        return
    with storage.snapshot():
        matches = read_matches(storage, bughouse)
    boards = _boards_of(matches, where)
    if not matches:
        boards = replace(boards, last=0)
    with open_tables(storage, boards, arrow=arrow, matches=match_columns(matches)) as tables:
        yield tables


def read_matches(storage: GameStore, bughouse: GameFilter) -> list[Match]:
    """Both boards are there; in the order of games."""
    games = {game.key: game for game in storage.games(bughouse)}
    linked = {link.key for game in games.values() for link in game.links if link.kind is LinkKind.PARTNER}
    if missing := sorted(linked - games.keys()):
        for begin in range(0, len(missing), _FEW):
            keys = frozenset(missing[begin : begin + _FEW])
            others = replace(EVERY_GAME, keys=keys, per_source=bughouse.per_source)
            games |= {game.key: game for game in storage.games(others)}
    matches, _ = find_matches(list(games.values()))
    places = {key: index for index, key in enumerate(games)}
    return sorted(matches, key=lambda match: min(places[match.a.key], places[match.b.key]))


def _boards_of(matches: Iterable[Match], where: GameFilter) -> GameFilter:
    """Which ``where`` found; it may also let other bughouse games pass."""
    keys = frozenset(game.key for match in matches for game in (match.a, match.b))
    return GameFilter(
        variants=frozenset({"bughouse"}),
        kinds=frozenset(),
        # A short list of keys is a quick filter; for many matches all bughouse is read.
        keys=keys if len(keys) <= _FEW else frozenset(),
        per_source=where.per_source,
    )


def match_columns(matches: Iterable[Match]) -> pd.DataFrame:
    rows = [row for match in matches for row in _match_rows(match)]
    columns = (*(column for column in PLY_COLUMNS if column.name in ("key", "ply")), *MATCH_COLUMNS)
    return frame_of_lists(columns, {column.name: [row[index] for row in rows] for index, column in enumerate(columns)})


def _match_rows(match: Match) -> Iterator[_Row]:
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
    """Without a move while one colour, in different teams, was to move on both. None: order or times are unknown."""
    sits: list[int | None] = []
    played: dict[str, int | None] = {letter: game.start_ply for letter, game in (("A", match.a), ("B", match.b))}
    coming = _coming(moments)
    before: MatchMoment | None = None
    comparable = match.a.time_basis is match.b.time_basis is not TimeBasis.NONE
    for index, moment in enumerate(moments):
        boards = [played["A"], played["B"]]
        whole = all(
            last is not None and (following is None or following == last + 1)
            for last, following in zip(boards, coming[index], strict=True)
        )
        sit_ms = None
        if whole and comparable and before is not None and before.certain and moment.certain:
            began_ms, ended_ms = before.ply.at_ms, moment.ply.at_ms
            if began_ms is not None and ended_ms is not None:
                same = (boards[0] or 0) % 2 == (boards[1] or 0) % 2
                sit_ms = max(ended_ms - began_ms, 0) if same else 0
        sits.append(sit_ms)
        played[moment.board] = moment.ply.ply
        before = moment
    return sits


def _coming(moments: list[MatchMoment]) -> list[tuple[int | None, int | None]]:
    """None: no more."""
    following: dict[str, int | None] = {"A": None, "B": None}
    found = []
    for moment in reversed(moments):
        following[moment.board] = moment.ply.ply
        found.append((following["A"], following["B"]))
    return found[::-1]
