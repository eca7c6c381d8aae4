"""Which attribute of the model is in which column: rows are made and read by these lines, and in no other way.

A new column is a column of its table in ``storage.schema.tables``, an attribute of its class in ``recorder.model`` and
a line here. Statements name their columns, so the order here need not be that of the table. SQLAlchemy is not needed
to read an archive.
"""

from __future__ import annotations

from collections.abc import Container, Iterator
from itertools import chain
from operator import attrgetter
from types import NoneType
from typing import Any, Final, Generic, NamedTuple, TypeVar

from recorder.corrections import from_json, to_json
from recorder.model import (
    Anchor,
    AnchorReason,
    Anomaly,
    AnomalyKind,
    EventKind,
    Evidence,
    EvidenceKind,
    Game,
    GameEnd,
    GameEvent,
    GameKind,
    HoldingsChange,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Player,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Segment,
    Shape,
    StartFacts,
    StartPrecision,
    Thinking,
    TimeBasis,
)
from recorder.model.plies import ShownLine
from recorder.openings import Opening
from storage.sound import RESULTS, RowCheck, types_of

Row = tuple[Any, ...]
_T = TypeVar("_T")


class Field(NamedTuple):
    """``kind``: an Enum or bool where its value is stored. ``relative``: from the observation's start, not 1970."""

    column: str
    attribute: str = ""
    kind: type[Any] | None = None
    relative: bool = False


_INTEGER: Final[frozenset[type]] = frozenset((int,))
CLOCKS: Final = ("lowest_clock_ms", "white_left_ms", "black_left_ms")
"""What is known of the clocks of a game, without its plies."""
_GIVEN: Final[dict[str, frozenset[type]]] = {
    **dict.fromkeys(("source_id", "merged_into", "opening_ply", *CLOCKS), frozenset((int, NoneType))),
    **dict.fromkeys(("eco", "opening", "corrected"), frozenset((str, NoneType))),
}
"""Others are integers."""


def _stored(kind: type[Any]) -> dict[Any, Any]:
    """Null is None."""
    meanings = {0: False, 1: True} if kind is bool else {member.value: member for member in kind}
    return {None: None, **meanings}


class Mapping(Generic[_T]):
    """``given`` are columns that are no attributes, first in a row; ``words`` are what closed sets hold."""

    def __init__(self, model: type[_T], table: str, given: str, *lines: Field) -> None:
        self.table = table
        self.given = tuple(given.split())
        self.lines = lines
        self.columns = (*self.given, *(line.column for line in lines))
        self.attributes = tuple(line.attribute or line.column for line in lines)
        self._part = slice(len(self.given), len(self.columns))
        self._make = getattr(model, "_make", None)
        self._get = attrgetter(*self.attributes)
        self._words = [index for index, line in enumerate(lines) if line.kind not in (None, bool)]
        self._kinds = [
            (index, line.kind, _stored(line.kind)) for index, line in enumerate(lines) if line.kind is not None
        ]
        self._times = [index for index, line in enumerate(lines) if line.relative]
        types = types_of(model)
        types |= {f"{side}.{name}": held for side in ("white", "black") for name, held in types_of(Player).items()}
        self.types = {name: _GIVEN.get(name, _INTEGER) for name in self.given}
        self.types |= {
            name: types[attribute]
            for name, attribute in zip(self.columns[len(self.given) :], self.attributes, strict=True)
        }
        self.words: dict[str, Container[Any]] = {lines[number].column: of_word for number, _, of_word in self._kinds}
        if "result" in self.types:
            self.words["result"] = RESULTS
        self.check = RowCheck(self.types, self.words, table)

    def row(self, value: _T, *given: Any, base_ms: int = 0) -> Row:
        """``given``: columns that are no attributes; ``base_ms``: the start of its observation, 0 if not known."""
        values = list(self._get(value))
        for index in self._words:
            word = values[index]
            values[index] = None if word is None else word.value
        for index in self._times:
            at_ms = values[index]
            values[index] = None if at_ms is None else at_ms - base_ms
        return (*given, *values)

    def values(self, row: Row, base_ms: int = 0) -> list[Any]:
        """The row is checked, and may have more columns behind."""
        values = list(row[self._part])
        for index, _, of_word in self._kinds:
            values[index] = of_word[values[index]]
        for index in self._times:
            at_ms = values[index]
            values[index] = None if at_ms is None else at_ms + base_ms
        return values

    def value(self, row: Row, base_ms: int = 0) -> _T:
        """Only if the class is a named tuple of all the attributes."""
        assert self._make is not None
        made: _T = self._make(self.values(row, base_ms))
        return made

    def facts(self, row: Row) -> dict[str, Any]:
        return dict(zip(self.attributes, self.values(row), strict=True))


def _player(side: str) -> Iterator[Field]:
    for column, name, kind in (
        (side, "handle", None),
        (f"{side}_rating_text", "rating_text", None),
        (f"{side}_rating", "rating", None),
        (f"{side}_titles", "titles", None),
        (f"{side}_registered", "registered", bool),
        (f"{side}_sealed", "sealed", bool),
    ):
        yield Field(column, f"{side}.{name}", kind)


GAMES: Final = Mapping(
    Game,
    "games",
    f"id source_id merged_into white_id black_id ply_count eco opening opening_ply corrected {' '.join(CLOCKS)}",
    Field("key"),
    Field("kind", kind=GameKind),
    Field("server"),
    Field("dialect"),
    Field("server_game_no", "game_no"),
    *_player("white"),
    *_player("black"),
    Field("rated", kind=bool),
    Field("variant"),
    Field("category"),
    Field("base_s"),
    Field("increment_s"),
    Field("black_base_s"),
    Field("black_increment_s"),
    Field("base_inferred", kind=bool),
    Field("variant_inferred", kind=bool),
    Field("start_fen"),
    Field("start_ply"),
    Field("result"),
    Field("reason"),
    Field("reason_key"),
    Field("termination"),
    Field("ending", "end", GameEnd),
    Field("started_at_ms"),
    Field("start_precision", kind=StartPrecision),
    Field("ended_at_ms"),
    Field("time_basis", kind=TimeBasis),
    Field("date_text"),
    Field("complete", kind=bool),
    Field("continued", kind=bool),
    Field("partner_server_game_no", "partner_game_no"),
    Field("me"),
    Field("first_offset"),
    Field("last_offset"),
)
OBSERVATIONS: Final = Mapping(
    Observation,
    "observations",
    "id source_id game_id seq",
    Field("kind", kind=ObservationKind),
    Field("server_game_no", "game_no"),
    Field("white"),
    Field("black"),
    Field("relation"),
    Field("offset"),
    Field("end_offset"),
    Field("started_at_ms"),
    Field("ended_at_ms"),
)
STARTS: Final = Mapping(  # further columns of observations, all null where there is no such board
    StartFacts,
    "observations",
    "",
    Field("start_ply", "ply"),
    Field("start_verbose", "verbose"),
    Field("start_pretty", "pretty"),
    Field("start_elapsed_ms", "elapsed_ms"),
    Field("start_white_clock_ms", "white_clock_ms"),
    Field("start_black_clock_ms", "black_clock_ms"),
    Field("start_lag_ms", "lag_ms"),
    Field("start_arrival_ms", "at_ms", relative=True),
    Field("start_precision", "precision_code"),
    Field("start_offset", "offset"),
)
PLY_LINES: Final = Mapping(
    PlyLine,
    "ply_lines",
    "observation_id first_ply_id ply_count",
    Field("line_no", "number"),
    Field("kind", kind=LineKind),
    Field("parent_line_no", "parent"),
    Field("parent_ply"),
)
ANCHORS: Final = Mapping(
    Anchor,
    "anchors",
    "observation_id seq",
    Field("line_no", "line"),
    Field("ply"),
    Field("fen"),
    Field("reason", kind=AnchorReason),
    Field("offset"),
)
HOLDINGS: Final = Mapping(
    HoldingsChange,
    "holdings",
    "observation_id",
    Field("seq"),
    Field("ply"),
    Field("white"),
    Field("black"),
    Field("passed"),
    Field("at_ms", relative=True),
    Field("offset"),
)
EVENTS: Final = Mapping(
    GameEvent,
    "events",
    "observation_id",
    Field("seq"),
    Field("kind", kind=EventKind),
    Field("detail"),
    Field("ply"),
    Field("actor"),
    Field("value"),
    Field("text"),
    Field("white_clock_ms"),
    Field("black_clock_ms"),
    Field("at_ms", relative=True),
    Field("offset"),
)
_ESTIMATES: Final = (
    Field("depth"),
    Field("score_cp"),
    Field("mate"),
    Field("time_ms"),
    Field("nodes"),
    Field("selective_depth"),
    Field("nodes_per_s"),
    Field("tablebase_hits"),
    Field("pv"),
)
THINKING: Final = Mapping(
    Thinking,
    "thinking",
    "observation_id",
    Field("seq"),
    Field("ply"),
    Field("engine"),
    Field("white", kind=bool),
    *_ESTIMATES,
    Field("at_ms", relative=True),
    Field("offset"),
)
ANALYSIS_LINES: Final = Mapping(Thinking, "analysis_lines", "position_id seq", *_ESTIMATES)
SEGMENTS: Final = Mapping(Segment, "segments", "game_id seq observation_id", Field("from_ply"), Field("to_ply"))
EVIDENCE: Final = Mapping(Evidence, "game_evidence", "game_id seq", Field("kind", kind=EvidenceKind), Field("text"))
ANOMALIES: Final = Mapping(
    Anomaly,
    "anomalies",
    "source_id seq",
    Field("kind", kind=AnomalyKind),
    Field("offset"),
    Field("server_game_no", "game_no"),
    Field("message"),
    Field("text"),
)
SHAPES: Final = Mapping(Shape, "source_shapes", "source_id seq", Field("shape"), Field("lines"), Field("first_offset"))

MAPPINGS: Final[tuple[Mapping[Any], ...]] = (
    GAMES,
    OBSERVATIONS,
    STARTS,
    PLY_LINES,
    ANCHORS,
    HOLDINGS,
    EVENTS,
    THINKING,
    ANALYSIS_LINES,
    SEGMENTS,
    EVIDENCE,
    ANOMALIES,
    SHAPES,
)

# Plies are stored a million at a time, so they have lines of their own: ``storage.write.rows.add_plies`` makes the
# values in the order of these columns, ``storage.read.games`` takes a ``Ply`` from them by SQL.
PRECISION_CODES: Final = {  # the third part of ``quality``; 0 for the commonest one
    Precision.MILLISECONDS.value: 0,
    Precision.SECONDS.value: 1,
    None: 2,
    Precision.DERIVED_MILLISECONDS.value: 3,
    Precision.DERIVED_SECONDS.value: 4,
    Precision.ELAPSED_DERIVED_MILLISECONDS.value: 5,
    Precision.ELAPSED_DERIVED_SECONDS.value: 6,
}
PRECISIONS: Final = {code: precision for precision, code in PRECISION_CODES.items()}
QUALITIES: Final = tuple(
    proof | origin << 3 | code << 6 for code in PRECISIONS for origin in map(int, Origin) for proof in map(int, Proof)
)
STORED_PLY: Final = {
    "at_ms": "at_ms + ?",
    "proof_code": "CASE quality WHEN quality & 511 THEN quality & 7 END",  # null: it is no such number
    "origin_code": "quality >> 3 & 7",
    "precision_code": "CASE quality >> 6 "
    + " ".join(f"WHEN {code} THEN {unit}" for unit, code in PRECISION_CODES.items() if unit is not None)
    + " END",
    "offset": "from_offset + ?",
}
"""Attributes of a ply that are no columns, in SQL; the question marks are the observation's start and place."""
_PLY_COLUMNS: Final = (
    "id",
    "at_ms",
    *(name for name in Ply._fields if name not in STORED_PLY),
    "quality",
    "from_offset",
)

COLUMNS: Final[dict[str, tuple[str, ...]]] = {
    "source_chunks": ("source_id", "offset", "size_bytes", "zstd"),
    "source_counts": ("source_id", "tag", "disposition", "count"),
    "players": ("id", "server", "handle", "handle_folded"),
    "corrections": ("game_key", "field", "value", "decided_ms"),
    "game_links": ("game_id", "other_game_id", "kind", "evidence"),
    "plies": _PLY_COLUMNS,
    **{mapping.table: mapping.columns for mapping in MAPPINGS},
    "observations": OBSERVATIONS.columns + STARTS.columns,
}
"""In the order of the rows that are stored or read as a whole."""

_PLAYERS: Final = tuple(
    slice(first, first + len(Player._fields))
    for first in (GAMES.attributes.index("white.handle"), GAMES.attributes.index("black.handle"))
)
_OPENING: Final = slice(GAMES.given.index("eco"), GAMES.given.index("opening_ply") + 1)
_SHOWN_CLOCKS: Final = (Ply._fields.index("white_clock_ms"), Ply._fields.index("black_clock_ms"))
_CORRECTED: Final = GAMES.given.index("corrected")
_GAME_FACTS: Final = tuple(name for name in GAMES.attributes if "." not in name)
_NO_START: Final = (None,) * len(STARTS.columns)


def game_row(game: Game, row_id: int, white_id: int, black_id: int, source_id: int | None) -> Row:
    """``source_id`` None: of a merged game."""
    opening = game.opening or (None, None, None)
    rows = game.rows
    times = [[clock for row in rows if (clock := row[index]) is not None] for index in _SHOWN_CLOCKS]
    clocks = (min(chain(*times), default=None), *(side[-1] if side else None for side in times))
    columns = (len(rows), *opening, to_json(game.corrections), *clocks)
    return GAMES.row(game, row_id, source_id, None, white_id, black_id, *columns)


def game_from_row(row: Row) -> Game:
    """Without observations and segments."""
    values = GAMES.values(row)
    white, black = (Player._make(values[part]) for part in _PLAYERS)
    del values[_PLAYERS[0].start : _PLAYERS[1].stop]
    facts = dict(zip(_GAME_FACTS, values, strict=True))
    game = Game(**facts, white=white, black=black, observations=[], segments=[])
    game.corrections = from_json(row[_CORRECTED])
    eco, name, ply = row[_OPENING]
    game.found_opening = None if eco is None else Opening(eco, name, ply)
    return game


def observation_row(view: Observation, row_id: int, source_id: int, game_id: int, seq: int) -> Row:
    """Times within are relative to its start."""
    start = _NO_START if view.start is None else STARTS.row(view.start, base_ms=view.started_at_ms or 0)
    return OBSERVATIONS.row(view, row_id, source_id, game_id, seq) + start


def observation_from_row(row: Row) -> Observation:
    """Without lines, anchors, holdings and events."""
    observation = Observation(**OBSERVATIONS.facts(row), start=None)
    start = row[len(OBSERVATIONS.columns) :]
    if start != _NO_START:
        STARTS.check([start])
        observation.start = STARTS.value(start, observation.started_at_ms or 0)
    return observation


def ply_line_from_row(row: Row, *, whole: bool) -> PlyLine:
    """Without plies; not ``whole``: for callers that only show them."""
    facts = PLY_LINES.facts(row)
    return PlyLine(**facts, rows=[]) if whole else ShownLine(**facts)
