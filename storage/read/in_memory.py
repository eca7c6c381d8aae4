"""Games that are in no archive, read as columns: what ``storage.read.columns`` is for those of an archive."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from recorder.model import EventKind, ObservationKind
from storage.mapping import GAMES, PRECISION_CODES, game_row
from storage.read.columns import (
    NULL,
    ColumnReader,
    GameFacts,
    HoldingsColumns,
    Ints,
    PlyArrays,
    SegmentColumns,
    ThinkingColumns,
)

if TYPE_CHECKING:
    from recorder.model import Game, Observation, Ply, PlyRow

_STORED: Final = [(name, GAMES.columns.index(name)) for name in GameFacts._fields[:-2]]
"""The facts that are columns of ``games``, each with its place in the row."""
_PRECISIONS: Final = np.array([PRECISION_CODES[code] for code in range(len(PRECISION_CODES) - 1)], dtype=np.int64)
_UNKNOWN_PRECISION: Final = PRECISION_CODES[None]


_EVENT_TAGS: Final = {(EventKind.TAG, "Event", None), (EventKind.NOTICE, "pgn-tag", "Event")}
"""As ``EVENT_TAG``."""


class GamesReader(ColumnReader):
    """Reads games of one source, as a pipeline makes them. A game's row number is its place among them."""

    def __init__(self, games: Sequence[Game], sha256: str, kind: str) -> None:
        self._games = games
        self._source = (sha256, kind)
        self._facts: list[GameFacts | None] = [None] * len(games)
        self._first: list[int] = []  # the number of each game's first observation
        self._seen: list[Observation] = []
        for game in games:
            self._first.append(len(self._seen))
            self._seen += game.observations

    def games(self, ids: list[int], *, thinking: bool = False) -> Iterator[Game]:
        return (self._games[number] for number in ids)

    def facts(self, ids: list[int]) -> list[GameFacts]:
        return [self._facts_of(number) for number in ids]

    def views(self, ids: list[int]) -> list[SegmentColumns]:
        return [view for number in ids for view in self._views_of(number)]

    def anchors(self, observations: Iterable[int]) -> dict[int, list[tuple[int, str]]]:
        found = {
            number: [(anchor.ply, anchor.fen) for anchor in self._seen[number].anchors if anchor.line == 0]
            for number in observations
        }
        return {number: anchors for number, anchors in found.items() if anchors}

    def holdings(self, observations: Iterable[int]) -> list[HoldingsColumns]:
        return [
            HoldingsColumns(number, change.ply, change.white, change.black, change.offset)
            for number in sorted(observations)
            for change in sorted(self._seen[number].holdings, key=lambda change: (change.offset, change.seq))
            if change.passed is None
        ]

    def named_events(self, ids: list[int]) -> dict[int, str]:
        found: dict[int, str] = {}
        for number in ids:
            game = self._games[number]
            for seen in game.observations:
                if seen.kind is ObservationKind.PGN or game.dialect == "ICC":
                    for event in seen.events:
                        if event.text is not None and (event.kind, event.detail, event.actor) in _EVENT_TAGS:
                            found.setdefault(number, event.text)
        return found

    def games_with_thinking(self, ids: list[int]) -> set[int]:
        return {number for number in ids if any(seen.thinking for seen in self._games[number].observations)}

    def analysed(self, ids: list[int]) -> set[int]:
        return set()

    def thinking(self, observations: Iterable[int]) -> ThinkingColumns:
        rows = [
            (number, one.ply, one.white, one.depth, one.score_cp, one.mate, one.engine or "")
            for number in sorted(observations)
            for one in self._seen[number].thinking
        ]
        *numbers, engine = zip(*rows, strict=True) if rows else [()] * len(ThinkingColumns._fields)
        return ThinkingColumns._make((*map(_whole, numbers), np.array(engine, dtype=object)))

    def plies(self, runs: list[tuple[int, int]]) -> PlyArrays:
        rows = list(chain.from_iterable(self._rows_of(number) for number, _ in runs))
        ply, move, san, *times, proof, origin, precision, offset = zip(*rows, strict=True)
        precisions = _whole(precision)
        codes = np.where(precisions == NULL, _UNKNOWN_PRECISION, _PRECISIONS[np.maximum(precisions, 0)])
        quality = _whole(proof) | _whole(origin) << 3 | codes << 6
        *clocks, flags, irreversible = map(_whole, times)
        numbers = (_whole(ply), quality, _whole(move), *clocks, _whole(offset), flags, irreversible)
        return PlyArrays._make((*numbers, np.array(san, dtype=object)))

    def _rows_of(self, observation: int) -> list[Ply] | list[PlyRow]:
        """The main line as an observation has it."""
        lines = self._seen[observation].lines
        return lines[0].rows if lines else []

    def _facts_of(self, number: int) -> GameFacts:
        known = self._facts[number]
        if known is None:
            game = self._games[number]
            row = game_row(game, number, 0, 0, None)
            source = (None, None) if game.merged_from else self._source
            known = self._facts[number] = GameFacts(*(row[place] for _, place in _STORED), *source)
        return known

    def _views_of(self, number: int) -> Iterator[SegmentColumns]:
        """A game's segments; the row number of an observation's first ply is the observation's.

        Times and places of plies are not relative to their observation's, and the games of which a game was made
        have the observations in an archive: it has none of its own.
        """
        game = self._games[number]
        for segment in game.segments:
            at = self._first[number] + segment.observation
            seen = self._seen[at]
            start = seen.start
            yield SegmentColumns(
                number,
                segment.from_ply,
                segment.to_ply,
                at,
                None,
                0,
                None if start is None else start.ply,
                None if start is None else start.white_clock_ms,
                None if start is None else start.black_clock_ms,
                None if start is None else start.at_ms,
                None if start is None else start.precision_code,
                game.time_basis.value,
                at,
                len(self._rows_of(at)),
                len(seen.lines),
                0 if game.merged_from else len(game.observations),
            )


def _whole(values: Sequence[Any]) -> Ints:
    """Integers and truths, ``NULL`` for None."""
    if None in values:
        values = [NULL if value is None else value for value in values]
    return np.array(values, dtype=np.int64)
