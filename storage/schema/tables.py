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

_OFFSET: Final = "first byte of its line"
_AT_MS: Final = "arrival of its line; null: the log has no arrival times"
_PLY: Final = "half-moves played when its line arrived"
_SEQ: Final = "place in the observation, in the order of the log"


def _side_meanings(side: str, name: str) -> dict[str, str]:
    return {
        f"{side}_id": f"{name} as a player",
        side: f"{name}'s handle as this game's lines print it",
        f"{side}_rating_text": f"{name}'s rating as printed (`1467P`, `++++`); null: not printed",
        f"{side}_rating": "the number in that rating; null: no number was printed",
        f"{side}_titles": f"{name}'s titles as printed, `(GM)(*)`; null: not printed",
        f"{side}_registered": "from `gameinfo`: whether the handle is registered; null: not printed",
        f"{side}_sealed": "from `gameinfo`: whether the player uses a time seal; null: not printed",
    }


def _thinking(of: str) -> dict[str, str]:
    return {
        "depth": "search depth in plies; null: not reported",
        "score_cp": f"evaluation, above 0 if {of} is better; null: a mate, or not reported",
        "mate": f"moves to the mate, below 0 if {of} is mated; null: no mate was reported",
        "time_ms": "time used so far; null: not reported",
        "nodes": "positions searched so far; null: not reported",
        "selective_depth": "selective search depth in plies; null: not reported",
        "nodes_per_s": "positions searched per second; null: not reported",
        "tablebase_hits": "positions found in endgame tables; null: not reported",
        "pv": "the expected moves, as printed; `?` at the end: the score is an upper bound, `!`: a lower one",
    }


MEANINGS: Final[dict[str, dict[str, str]]] = {
    "settings": {"name": "name of the fact, such as `pseudonym-secret`", "value": "its value"},
    "sources": {
        "id": "row number",
        "sha256": "SHA-256 of the decompressed bytes read so far, in hexadecimal",
        "size_bytes": "number of those bytes",
        "name": "file name of the log",
        "path": "where the file was when it was imported; null: standard input, a URL, or a shared archive",
        "kind": "kind of the log, as `--kind` takes it",
        "server": "the site that the log or `--server` names; null: neither does",
        "dialect": "server family whose lines the log has; null: not recognised",
        "me": "handle of the connection that recorded the log; null: not printed",
        "time_basis": "what the arrival times of the log are",
        "options": "options of the import",
        "timing": "timing file of a typescript; null: any other log, or the bytes are not kept",
        "parser_version": "version of the parser that read the log; `again`: the next import reads the log again",
        "read_up_to": "games that begin before this offset stay as they are when the log has grown",
        "kept_bytes": "how many bytes, from the first, are in `source_chunks`",
        "line_count": "number of lines read",
        "warnings": "warnings of the import, as sentences",
        "unfinished": "mark of the reader that left the log while it was still being written; null: all of it was read",
    },
    "source_chunks": {
        "source_id": "the log",
        "offset": "first byte of the chunk",
        "size_bytes": "length of the decompressed chunk",
        "zstd": "the chunk as one Zstandard frame; secrets are masked by text of the same length",
    },
    "source_counts": {
        "source_id": "the log",
        "tag": "`<12>`, `<b1>`, or `elsewhere`: games that were not followed",
        "disposition": "what became of these lines, such as `ply` or `gap`; with `elsewhere`: `starts` or `results`",
        "count": "number of lines",
    },
    "source_shapes": {
        "source_id": "the log",
        "seq": "number, from 0",
        "shape": "the text of these lines, with `X` for each name and `0` for each number",
        "lines": "number of lines of this shape",
        "first_offset": "first byte of the first of them",
    },
    "anomalies": {
        "source_id": "the log",
        "seq": "number, from 0",
        "kind": "kind of anomaly",
        "offset": _OFFSET,
        "server_game_no": "the server's number of the game; null: unknown, or no game is concerned",
        "message": "what is wrong, one sentence",
        "text": "the line, or its beginning if it is long",
    },
    "players": {
        "id": "row number",
        "server": "the server; empty: the log does not name it",
        "handle": "the handle as it was first printed",
        "handle_folded": "the handle in lower case: handles are case-insensitive",
    },
    "games": {
        "id": "row number",
        "key": "name of the game, 20 hexadecimal digits",
        "kind": "what was done on the board",
        "server": "the site; null: unknown",
        "dialect": "server family; null: unknown",
        "server_game_no": "the server's own number, which it reuses; null: not printed",
        **_side_meanings("white", "White"),
        **_side_meanings("black", "Black"),
        "rated": "whether the game was rated; null: not printed",
        "variant": "the rules, in this program's words; null: unknown",
        "category": "the server's word for the kind of game, such as `blitz`; null: not printed",
        "base_s": "White's base time; null: unknown",
        "increment_s": "White's increment; null: unknown",
        "black_base_s": "Black's base time; null: unknown",
        "black_increment_s": "Black's increment; null: unknown",
        "base_inferred": "1: the server printed a base of 0, and the first clocks show 10 seconds",
        "variant_inferred": "1: the variant follows from boards or holdings, and was not printed",
        "start_fen": "start position; null: the normal one of the variant",
        "start_ply": "half-moves before the first known position",
        "result": "`1-0`, `0-1`, `1/2-1/2`, or `*`",
        "reason": "why the game ended, as printed; null: not printed",
        "reason_key": "the reason in this program's words, such as `checkmate`; null: unknown",
        "termination": "the reason in PGN's words, such as `time forfeit`; empty: a saved game has only the result",
        "ending": "`result`, `adjourned`, `aborted`, `lost-feed`, `unobserved`, `log-ends` or `reused`",
        "started_at_ms": "start of the game; null: unknown",
        "ended_at_ms": "arrival of its last line; null: the log has no arrival times",
        "time_basis": "what both instants are",
        "date_text": "date as printed, else the day of `--date`; null: neither",
        "complete": "1: all plies are known, from the first to the end line",
        "continued": "1: the game was adjourned before and resumed",
        "partner_server_game_no": "the server's number of the partner's game; null: not bughouse or not printed",
        "me": "handle of the connection that recorded the game; null: not printed",
        "ply_count": "known plies of the main line",
        "source_id": "the log that has this game; null: merged from several",
        "first_offset": "first byte of the game in its log; of a merged game: in the log of the game with the same key",
        "last_offset": "first byte of its last line in the same log; of a saved game: the byte after it",
        "merged_into": "the merged game of which this row is a part; null: none",
        "start_precision": "unit in which `started_at_ms` is known; null: no start is known",
        "eco": "ECO code of the last named position, as `B90`; null: none, or not normal chess from its start",
        "opening": "its name, as `Sicilian Defense: Najdorf Variation`; null: as `eco`",
        "opening_ply": "half-moves after which the game was last in a named position; null: as `eco`",
        "corrected": "what a person corrected: field, value, recorded value, when, recorded columns; null: nothing",
    },
    "corrections": {
        "game_key": "`key` of a game that has a source: row numbers of games change",
        "field": "the PGN tag of what is corrected, or `Rated`",
        "value": "the value that a person gave",
        "decided_ms": "when, since 1970 in UTC",
    },
    "game_evidence": {
        "game_id": "the merged game",
        "seq": "number, from 0",
        "kind": "`same`, `continues`: why its sources are one game; `conflict`: where they contradict each other",
        "text": "the evidence in words",
    },
    "observations": {
        "id": "row number",
        "source_id": "the log",
        "game_id": "the game as this log has it",
        "seq": "number in the game, from 0",
        "kind": "how the plies were recorded",
        "server_game_no": "the server's number; null: not printed",
        "white": "White's handle on the first board",
        "black": "Black's handle on the first board",
        "relation": "relation in the first board: 1 or -1 playing, 0 observing, 2 examining; null: none was printed",
        "offset": "first byte of its first line",
        "end_offset": "first byte of its last line; of a saved game: the byte after it",
        "started_at_ms": "arrival of its first line; null: the log has no arrival times",
        "ended_at_ms": "arrival of its last line; null: the log has no arrival times",
        "start_ply": "ply of the move that the first board printed; null: no such board",
        "start_verbose": "that move in long notation; null: no such board",
        "start_pretty": "that move in short notation; null: no such board",
        "start_elapsed_ms": "time charged for that move; null: not printed",
        "start_white_clock_ms": "White's clock on that board; null: not printed",
        "start_black_clock_ms": "Black's clock on that board; null: not printed",
        "start_lag_ms": "lag printed on that board; null: not printed",
        "start_arrival_ms": "arrival of that board; null: the log has no arrival times",
        "start_precision": "unit of those times: 0 seconds, 1 milliseconds; null: no time was printed",
        "start_offset": "first byte of that board; null: no such board",
    },
    "ply_lines": {
        "observation_id": "the observation",
        "line_no": "number of the line; 0 is the main line",
        "kind": "kind of the line",
        "parent_line_no": "the line from which it branches; null: it is the main line",
        "parent_ply": "the ply after which it branches; null: it is the main line",
        "first_ply_id": "`plies.id` of its first ply",
        "ply_count": "number of its plies, which have consecutive row numbers",
    },
    "plies": {
        "id": "row number",
        "ply": "half-moves played to reach the position after it",
        "move": "the move as a number; null: its squares are unknown",
        "san": "canonical SAN; the printed text if the ply is not proved",
        "white_clock_ms": "White's clock after the move; null: unknown",
        "black_clock_ms": "Black's clock after the move; null: unknown",
        "elapsed_ms": "time charged for the move; null: unknown",
        "lag_ms": "lag as printed; null: none was printed",
        "at_ms": _AT_MS,
        "flags": "castling rights and a pawn's double step; null: the position is unknown",
        "irreversible": "half-moves since the last capture or pawn move, as printed; null: not printed",
        "quality": "proof, origin and precision as one number",
        "from_offset": "first byte of its line, from the observation's `offset`",
    },
    "anchors": {
        "observation_id": "the observation",
        "seq": "number in the observation, from 0",
        "line_no": "the line of plies that it belongs to",
        "ply": "half-moves played to reach the position",
        "fen": "the position; pieces in hand in brackets where they are known",
        "reason": "why plies do not give it: `start`, `gap`, `conflict`, `list` or `variation`",
        "offset": _OFFSET,
    },
    "holdings": {
        "observation_id": "the observation",
        "seq": _SEQ,
        "ply": _PLY,
        "white": "White's pieces in hand, as capital letters",
        "black": "Black's pieces in hand, as capital letters",
        "passed": "colour and piece that came into a hand (`BN`: Black, a knight); null: the line names none",
        "at_ms": _AT_MS,
        "offset": _OFFSET,
    },
    "events": {
        "observation_id": "the observation",
        "seq": _SEQ,
        "kind": "kind of event",
        "detail": "its kind in more detail; may be empty",
        "ply": _PLY,
        "actor": "handle of the player who caused it; null: unknown, or the server did",
        "value": "a number whose meaning depends on the kind; null: none",
        "text": "the line or its words; may be empty",
        "white_clock_ms": "White's clock on the board that shows the event; null: no board shows it",
        "black_clock_ms": "Black's clock on the board that shows the event; null: no board shows it",
        "at_ms": _AT_MS,
        "offset": _OFFSET,
    },
    "thinking": {
        "observation_id": "the observation, of kind `engine`",
        "seq": _SEQ,
        "ply": "half-moves played when the engine printed it",
        "engine": "name of the engine; null: unknown",
        "white": "1: the engine plays White; in an analysis: White is to move; null: unknown",
        **_thinking("the engine"),
        "at_ms": _AT_MS,
        "offset": _OFFSET,
    },
    "segments": {
        "game_id": "the game",
        "seq": "number in the game, from 0",
        "from_ply": "first ply that is taken from the observation",
        "to_ply": "last ply that is taken from it",
        "observation_id": "the observation that proves these plies",
    },
    "game_links": {
        "game_id": "a game that has a source",
        "other_game_id": "the game that belongs to it",
        "kind": "`bughouse-partner`: the other board; `examined-copy`: one is an examination of the other",
        "evidence": "what proves it, in words",
    },
    "analyses": {
        "id": "row number",
        "game_key": "`key` of the game, or of its game in one source: row numbers of games change",
        "engine": "name that the engine reports, else its command",
        "protocol": "`cecp` or `uci`",
        "settings": "`limit`, `options` and the variant",
        "begun_ms": "start of the analysis, since 1970 in UTC",
    },
    "analysed_positions": {
        "id": "row number",
        "analysis_id": "the analysis",
        "ply": "half-moves played to reach the position",
        "fen": "the position that the engine received",
        "stands": "1: the game has the same pieces on the same squares after this ply; 0: it no longer has",
    },
    "analysis_lines": {
        "position_id": "the position",
        "seq": "number, from 0, in the order of the engine's output",
        **_thinking("the side to move"),
    },
}
"""Table and column → its meaning."""

_UNITS: Final = {
    "_ms": "milliseconds",
    "_per_s": "per second",
    "_s": "seconds",
    "_cp": "hundredths of a pawn",
    "_bytes": "bytes",
}


def comment_on(column: Column[Any]) -> str:
    """What a column means, and in parentheses what it holds: key, row of which table, words, unit."""
    unit = next((unit for suffix, unit in _UNITS.items() if column.name.endswith(suffix)), "")
    holds = ", ".join(part for part in (held_by(column), unit) if part)
    return MEANINGS[column.table.name][column.name] + (f" ({holds})" if holds else "")


def held_by(column: Column[Any]) -> str:
    """Key, row of which table, words: what a column holds."""
    parts = []
    if column.primary_key:
        parts.append("key")
    parts += [f"row of `{key.column.table.name}`" for key in column.foreign_keys]
    if "json" in column.info:
        parts.append(f"a JSON {column.info['json']}")
    if "size" in column.info:
        parts.append(f"Zstandard, `{column.info['size']}` bytes")
    words = column.info.get("values", ())
    if words and isinstance(words[0], str):
        parts.append(" ".join(f"`{word}`" for word in words))
    return ", ".join(parts)


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
    Column("corrected", Text, info={"json": "array"}),
    CheckConstraint("result IN ('1-0', '0-1', '1/2-1/2', '*')", name="result"),
    Index("ix_games_source_id_first_offset", "source_id", "first_offset"),
    Index("ix_games_white_id_black_id", "white_id", "black_id"),
    Index("ix_games_black_id", "black_id"),
    Index("ix_games_bughouse", "started_at_ms", sqlite_where=text("variant = 'bughouse'")),
    # a merged game has the key of one of its members
    Index("uq_games_key", "key", unique=True, sqlite_where=text("source_id IS NOT NULL")),
    Index("uq_games_merged_key", "key", unique=True, sqlite_where=text("source_id IS NULL")),
)

# Beside ``games``, whose rows come and go with every reading.
corrections = Table(
    "corrections",
    metadata,
    Column("game_key", Text, primary_key=True),
    Column("field", Text, primary_key=True),
    Column("value", Text, nullable=False),
    Column("decided_ms", BigInteger, nullable=False),
    sqlite_with_rowid=False,
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
