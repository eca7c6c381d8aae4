"""The tables of an archive, stated once: new archives are made from them, and ``db check`` looks for what they allow.

``storage.mapping`` says which attribute of the model is in which column; docs/reference/schema.md explains the tables
and lists the columns. Units are in the names; ``at_ms`` is always milliseconds after the observation's
``started_at_ms`` (after 1970 where that is null), every ``…_at_ms`` is milliseconds since 1970 in the time basis of the
game or source. ``from_offset`` counts from the observation's ``offset``, which counts from the source's first byte.
Null means unknown.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, Final

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    Text,
    UniqueConstraint,
    text,
)

from recorder.model import (
    AnomalyKind,
    Disposition,
    EventKind,
    EvidenceKind,
    GameKind,
    LineKind,
    LinkKind,
    ObservationKind,
    Precision,
    SourceKind,
    StartPrecision,
    TimeBasis,
)
from storage.mapping import QUALITIES

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _word(name: str, words: type[Enum], *, primary_key: bool = False, nullable: bool = False) -> Column[Any]:
    """A text column that holds the value of a member."""
    values = [word.value for word in words]
    return Column(name, Text, primary_key=primary_key, nullable=nullable, info={"values": values})


def _json(name: str, shape: str, kind: type[Any] = JSON) -> Column[Any]:
    """A column that holds JSON of this shape: ``array`` or ``object``."""
    return Column(name, kind, nullable=False, info={"json": shape})


def _reference(name: str, target: str, *, primary_key: bool = False, nullable: bool = False) -> Column[Any]:
    """An integer column that names a row of ``target``; deleting that row deletes this one."""
    return Column(name, Integer, ForeignKey(target, ondelete="CASCADE"), primary_key=primary_key, nullable=nullable)


settings = Table(
    "settings",
    metadata,
    Column("name", Text, primary_key=True, nullable=False),
    Column("value", Text, nullable=False),
    info={"rules": ("name <> 'pseudonym-secret' OR value GLOB '*[0-9A-F]*' AND value NOT GLOB '*[^0-9A-F]*'",)},
)

sources = Table(
    "sources",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("sha256", Text, nullable=False),
    Column("size_bytes", BigInteger, nullable=False),
    Column("name", Text, nullable=False),
    Column("path", Text),
    _word("kind", SourceKind),
    Column("server", Text),
    Column("dialect", Text),
    Column("me", Text),
    _word("time_basis", TimeBasis),
    _json("options", "object"),
    Column("timing", LargeBinary),
    Column("parser_version", Text, nullable=False),
    Column("read_up_to", BigInteger, nullable=False),
    Column("kept_bytes", BigInteger, nullable=False),
    Column("line_count", BigInteger, nullable=False),
    _json("warnings", "array"),
    Column("unfinished", Text),
    UniqueConstraint("sha256"),
    CheckConstraint("length(sha256) = 64", name="sha256"),
    CheckConstraint("kept_bytes BETWEEN 0 AND size_bytes", name="kept_bytes"),
)

source_chunks = Table(
    "source_chunks",
    metadata,
    _reference("source_id", "sources.id", primary_key=True),
    Column("offset", BigInteger, primary_key=True),
    Column("size_bytes", Integer, nullable=False),
    Column("zstd", LargeBinary, nullable=False, info={"size": "size_bytes"}),
    CheckConstraint("size_bytes BETWEEN 1 AND 1048576", name="size_bytes"),
)

_DISPOSITIONS = ", ".join(repr(word.value) for word in Disposition)
_COUNTED = f"tag = 'elsewhere' OR (tag IN ('<12>', '<b1>') AND disposition IN ({_DISPOSITIONS}))"

source_counts = Table(
    "source_counts",
    metadata,
    _reference("source_id", "sources.id", primary_key=True),
    Column("tag", Text, primary_key=True),
    Column("disposition", Text, primary_key=True),
    Column("count", Integer, nullable=False),
    sqlite_with_rowid=False,
    info={"rules": (_COUNTED,)},
)

source_shapes = Table(
    "source_shapes",
    metadata,
    _reference("source_id", "sources.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("shape", Text, nullable=False),
    Column("lines", Integer, nullable=False),
    Column("first_offset", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

anomalies = Table(
    "anomalies",
    metadata,
    _reference("source_id", "sources.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    _word("kind", AnomalyKind),
    Column("offset", BigInteger, nullable=False),
    Column("server_game_no", Integer),
    Column("message", Text, nullable=False),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)

players = Table(
    "players",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("server", Text, nullable=False),
    Column("handle", Text, nullable=False),
    Column("handle_folded", Text, nullable=False),
    UniqueConstraint("server", "handle_folded"),
)


def _side(side: str) -> list[Column[Any]]:
    return [
        Column(f"{side}_id", Integer, ForeignKey("players.id"), nullable=False),
        Column(side, Text, nullable=False),
        Column(f"{side}_rating_text", Text),
        Column(f"{side}_rating", Integer),
        Column(f"{side}_titles", Text),
        Column(f"{side}_registered", Boolean),
        Column(f"{side}_sealed", Boolean),
    ]


games = Table(
    "games",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("key", Text, nullable=False),
    _word("kind", GameKind),
    Column("server", Text),
    Column("dialect", Text),
    Column("server_game_no", Integer),
    *_side("white"),
    *_side("black"),
    Column("rated", Boolean),
    Column("variant", Text),
    Column("category", Text),
    Column("base_s", Integer),
    Column("increment_s", Integer),
    Column("black_base_s", Integer),
    Column("black_increment_s", Integer),
    Column("base_inferred", Boolean, nullable=False),
    Column("variant_inferred", Boolean, nullable=False),
    Column("start_fen", Text),
    Column("start_ply", Integer, nullable=False),
    Column("result", Text, nullable=False),
    Column("reason", Text),
    Column("reason_key", Text),
    Column("termination", Text, nullable=False),
    Column("ending", Text, nullable=False),
    Column("started_at_ms", BigInteger),
    Column("ended_at_ms", BigInteger),
    _word("time_basis", TimeBasis),
    Column("date_text", Text),
    Column("complete", Boolean, nullable=False),
    Column("continued", Boolean, nullable=False),
    Column("partner_server_game_no", Integer),
    Column("me", Text),
    Column("ply_count", Integer, nullable=False),
    _reference("source_id", "sources.id", nullable=True),
    Column("first_offset", BigInteger, nullable=False),
    Column("last_offset", BigInteger, nullable=False),
    Column("merged_into", Integer, ForeignKey("games.id", ondelete="SET NULL"), index=True),
    _word("start_precision", StartPrecision, nullable=True),
    Column("eco", Text),
    Column("opening", Text),
    Column("opening_ply", Integer),
    CheckConstraint("result IN ('1-0', '0-1', '1/2-1/2', '*')", name="result"),
    Index("ix_games_source_id_first_offset", "source_id", "first_offset"),
    Index("ix_games_white_id_black_id", "white_id", "black_id"),
    Index("ix_games_black_id", "black_id"),
    Index("ix_games_bughouse", "started_at_ms", sqlite_where=text("variant = 'bughouse'")),
    # a merged game has the key of one of its members
    Index("uq_games_key", "key", unique=True, sqlite_where=text("source_id IS NOT NULL")),
    Index("uq_games_merged_key", "key", unique=True, sqlite_where=text("source_id IS NULL")),
)

game_evidence = Table(
    "game_evidence",
    metadata,
    _reference("game_id", "games.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    _word("kind", EvidenceKind),
    Column("text", Text, nullable=False),
    sqlite_with_rowid=False,
)

_START: Final = (
    *(f"(start_{name} IS NULL) = (start_ply IS NULL)" for name in ("verbose", "pretty", "offset")),
    "start_ply IS NOT NULL OR coalesce(start_elapsed_ms, start_white_clock_ms, start_black_clock_ms, start_lag_ms, "
    "start_arrival_ms, start_precision) IS NULL",
)

observations = Table(
    "observations",
    metadata,
    Column("id", Integer, primary_key=True),
    _reference("source_id", "sources.id"),
    _reference("game_id", "games.id"),
    Column("seq", Integer, nullable=False),
    _word("kind", ObservationKind),
    Column("server_game_no", Integer),
    Column("white", Text, nullable=False),
    Column("black", Text, nullable=False),
    Column("relation", Integer),
    Column("offset", BigInteger, nullable=False),
    Column("end_offset", BigInteger, nullable=False),
    Column("started_at_ms", BigInteger),
    Column("ended_at_ms", BigInteger),
    Column("start_ply", Integer),
    Column("start_verbose", Text),
    Column("start_pretty", Text),
    Column("start_elapsed_ms", Integer),
    Column("start_white_clock_ms", Integer),
    Column("start_black_clock_ms", Integer),
    Column("start_lag_ms", Integer),
    Column("start_arrival_ms", BigInteger),
    Column("start_precision", Integer, info={"values": [unit.value for unit in Precision]}),
    Column("start_offset", BigInteger),
    UniqueConstraint("game_id", "seq"),
    Index("ix_observations_source_id", "source_id"),
    info={"rules": _START},
)

ply_lines = Table(
    "ply_lines",
    metadata,
    _reference("observation_id", "observations.id", primary_key=True),
    Column("line_no", Integer, primary_key=True),
    _word("kind", LineKind),
    Column("parent_line_no", Integer),
    Column("parent_ply", Integer),
    Column("first_ply_id", Integer, nullable=False),
    Column("ply_count", Integer, nullable=False),
    CheckConstraint("(line_no = 0) = (parent_line_no IS NULL)", name="parent"),
    sqlite_with_rowid=False,
    info={"rules": ("(parent_ply IS NULL) = (parent_line_no IS NULL)",)},
)

_CONTROL: Final = "'*[' || char(1) || '-' || char(31) || char(127) || ']*'"
_MOVE: Final = f"quality & 7 = 0 OR (san NOT GLOB {_CONTROL} AND instr(san, char(0)) = 0)"

# The large table. A line's plies are the rows first_ply_id … first_ply_id + ply_count - 1: a running row number costs
# 6 bytes a ply less than the key (observation, line, ply), because SQLite fills the pages of a table in full when rows
# are appended, those of a WITHOUT ROWID table to seven eighths. No index. 0 and 1 take no bytes: that is why proof,
# origin and precision are one number, which is 1 for nearly every ply.
plies = Table(
    "plies",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("ply", Integer, nullable=False, info={"holds": ("ply > 0", "a number of a half-move")}),
    Column("move", Integer),
    Column("san", Text, nullable=False, info={"holds": (_MOVE, "a move")}),
    Column("white_clock_ms", Integer),
    Column("black_clock_ms", Integer),
    Column("elapsed_ms", Integer),
    Column("lag_ms", Integer),
    Column("at_ms", BigInteger),
    Column("flags", Integer),
    Column("irreversible", Integer),
    Column("quality", Integer, nullable=False, info={"values": QUALITIES}),
    Column("from_offset", BigInteger, nullable=False),
)

anchors = Table(
    "anchors",
    metadata,
    _reference("observation_id", "observations.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("line_no", Integer, nullable=False),
    Column("ply", Integer, nullable=False),
    Column("fen", Text, nullable=False),
    Column("reason", Text, nullable=False),
    Column("offset", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

holdings = Table(
    "holdings",
    metadata,
    _reference("observation_id", "observations.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("ply", Integer, nullable=False),
    Column("white", Text, nullable=False),
    Column("black", Text, nullable=False),
    Column("passed", Text),
    Column("at_ms", BigInteger),
    Column("offset", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

events = Table(
    "events",
    metadata,
    _reference("observation_id", "observations.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    _word("kind", EventKind),
    Column("detail", Text, nullable=False),
    Column("ply", Integer, nullable=False),
    Column("actor", Text),
    Column("value", Integer),
    Column("text", Text, nullable=False),
    Column("white_clock_ms", Integer),
    Column("black_clock_ms", Integer),
    Column("at_ms", BigInteger),
    Column("offset", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

thinking = Table(
    "thinking",
    metadata,
    _reference("observation_id", "observations.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("ply", Integer, nullable=False),
    Column("engine", Text),
    Column("white", Boolean),
    Column("depth", Integer),
    Column("score_cp", Integer),
    Column("mate", Integer),
    Column("time_ms", BigInteger),
    Column("nodes", BigInteger),
    Column("selective_depth", Integer),
    Column("nodes_per_s", BigInteger),
    Column("tablebase_hits", BigInteger),
    Column("pv", Text, nullable=False),
    Column("at_ms", BigInteger),
    Column("offset", BigInteger, nullable=False),
    sqlite_with_rowid=False,
)

segments = Table(
    "segments",
    metadata,
    _reference("game_id", "games.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("from_ply", Integer, nullable=False),
    Column("to_ply", Integer, nullable=False),
    Column("observation_id", Integer, ForeignKey("observations.id", ondelete="CASCADE"), nullable=False, index=True),
    CheckConstraint("from_ply <= to_ply", name="order"),
    sqlite_with_rowid=False,
)

game_links = Table(
    "game_links",
    metadata,
    _reference("game_id", "games.id", primary_key=True),
    Column("other_game_id", Integer, ForeignKey("games.id", ondelete="CASCADE"), primary_key=True, index=True),
    _word("kind", LinkKind, primary_key=True),
    Column("evidence", Text, nullable=False),
    sqlite_with_rowid=False,
)

# Not below ``games``: their rows come and go with every reading, and what an engine thought is in no log.
analyses = Table(
    "analyses",
    metadata,
    Column("id", Integer, primary_key=True),
    Column("game_key", Text, nullable=False, index=True),
    Column("engine", Text, nullable=False),
    Column("protocol", Text, nullable=False),
    _json("settings", "object", Text),
    Column("begun_ms", BigInteger, nullable=False),
    CheckConstraint("protocol IN ('cecp', 'uci')", name="protocol"),
)

analysed_positions = Table(
    "analysed_positions",
    metadata,
    Column("id", Integer, primary_key=True),
    _reference("analysis_id", "analyses.id"),
    Column("ply", Integer, nullable=False),
    Column("fen", Text, nullable=False),
    Column("stands", Boolean, nullable=False),
    UniqueConstraint("analysis_id", "ply", "fen"),
)

analysis_lines = Table(
    "analysis_lines",
    metadata,
    _reference("position_id", "analysed_positions.id", primary_key=True),
    Column("seq", Integer, primary_key=True),
    Column("depth", Integer),
    Column("score_cp", Integer),
    Column("mate", Integer),
    Column("time_ms", BigInteger),
    Column("nodes", BigInteger),
    Column("selective_depth", Integer),
    Column("nodes_per_s", BigInteger),
    Column("tablebase_hits", BigInteger),
    Column("pv", Text, nullable=False),
    sqlite_with_rowid=False,
)
