"""The tables of an archive, stated once: new archives are made from them, and ``db check`` looks for what they allow.

``storage.mapping`` says which attribute of the model is in which column; docs/reference/schema.md explains the tables
and lists the columns. Units are in the names; ``at_ms`` is always milliseconds after the observation's
``started_at_ms`` (after 1970 where that is null), every ``…_at_ms`` is milliseconds since 1970 in the time basis of the
game or source. ``from_offset`` counts from the observation's ``offset``, which counts from the source's first byte.
Null means unknown.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import partial
from types import MappingProxyType
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
_ARRIVAL: Final = "arrival of its line"
_NO_TIMES: Final = "the log has no arrival times"
_PLY: Final = "half-moves played when its line arrived"
_SEQ: Final = "place in the observation, in the order of the log"

metadata = MetaData(
    naming_convention={
        "pk": "pk_%(table_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "ck": "ck_%(table_name)s_%(constraint_name)s",
    }
)


def _column(
    kind: type[Any],
    name: str,
    meaning: str,
    null: str | None = None,
    *,
    key: bool = False,
    foreign: tuple[ForeignKey, ...] = (),
    index: bool = False,
    info: Mapping[str, Any] = MappingProxyType({}),
) -> Column[Any]:
    """A column that may be null only if ``null`` says what that means."""
    facts = {"meaning": meaning, "null": null or "", **info}
    return Column(name, kind, *foreign, primary_key=key, nullable=null is not None, index=index or None, info=facts)


_text = partial(_column, Text)
_integer = partial(_column, Integer)
_big = partial(_column, BigInteger)
_flag = partial(_column, Boolean)
_blob = partial(_column, LargeBinary)


def _id() -> Column[Any]:
    return _integer("id", "row number", key=True)


def _word(name: str, words: type[Enum], meaning: str, null: str | None = None, *, key: bool = False) -> Column[Any]:
    return _text(name, meaning, null, key=key, info={"values": [word.value for word in words]})


def _json(name: str, shape: str, meaning: str, kind: type[Any] = JSON) -> Column[Any]:
    return _column(kind, name, meaning, info={"json": shape})


def _reference(name: str, target: str, meaning: str, null: str | None = None, **more: Any) -> Column[Any]:
    """Deleting that row deletes this one."""
    return _integer(name, meaning, null, foreign=(ForeignKey(target, ondelete="CASCADE"),), **more)


def _side(side: str, name: str) -> list[Column[Any]]:
    return [
        _integer(f"{side}_id", f"{name} as a player", foreign=(ForeignKey("players.id"),)),
        _text(side, f"{name}'s handle as this game's lines print it"),
        _text(f"{side}_rating_text", f"{name}'s rating as printed (`1467P`, `++++`)", "not printed"),
        _integer(f"{side}_rating", "the number in that rating", "no number was printed"),
        _text(f"{side}_titles", f"{name}'s titles as printed, `(GM)(*)`", "not printed"),
        _flag(f"{side}_registered", "from `gameinfo`: whether the handle is registered", "not printed"),
        _flag(f"{side}_sealed", "from `gameinfo`: whether the player uses a time seal", "not printed"),
    ]


def _thinking(of: str) -> list[Column[Any]]:
    unknown = "not reported"
    return [
        _integer("depth", "search depth in plies", unknown),
        _integer("score_cp", f"evaluation, above 0 if {of} is better", "a mate, or not reported"),
        _integer("mate", f"moves to the mate, below 0 if {of} is mated", "no mate was reported"),
        _big("time_ms", "time used so far", unknown),
        _big("nodes", "positions searched so far", unknown),
        _integer("selective_depth", "selective search depth in plies", unknown),
        _big("nodes_per_s", "positions searched per second", unknown),
        _big("tablebase_hits", "positions found in endgame tables", unknown),
        _text("pv", "the expected moves, as printed; `?` at the end: the score is an upper bound, `!`: a lower one"),
    ]


settings = Table(
    "settings",
    metadata,
    _text("name", "name of the fact, such as `pseudonym-secret`", key=True),
    _text("value", "its value"),
    info={"rules": ("name <> 'pseudonym-secret' OR value GLOB '*[0-9A-F]*' AND value NOT GLOB '*[^0-9A-F]*'",)},
)

sources = Table(
    "sources",
    metadata,
    _id(),
    _text("sha256", "SHA-256 of the decompressed bytes read so far, in hexadecimal"),
    _big("size_bytes", "number of those bytes"),
    _text("name", "file name of the log"),
    _text("path", "where the file was when it was imported", "standard input, a URL, or a shared archive"),
    _word("kind", SourceKind, "kind of the log, as `--kind` takes it"),
    _text("server", "the site that the log or `--server` names", "neither does"),
    _text("dialect", "server family whose lines the log has", "not recognised"),
    _text("me", "handle of the connection that recorded the log", "not printed"),
    _word("time_basis", TimeBasis, "what the arrival times of the log are"),
    _json("options", "object", "options of the import"),
    _blob("timing", "timing file of a typescript", "any other log, or the bytes are not kept"),
    _text("parser_version", "version of the parser that read the log; `again`: the next import reads the log again"),
    _big("read_up_to", "games that begin before this offset stay as they are when the log has grown"),
    _big("kept_bytes", "how many bytes, from the first, are in `source_chunks`"),
    _big("line_count", "number of lines read"),
    _json("warnings", "array", "warnings of the import, as sentences"),
    _text("unfinished", "mark of the reader that left the log while it was still being written", "all of it was read"),
    UniqueConstraint("sha256"),
    CheckConstraint("length(sha256) = 64", name="sha256"),
    CheckConstraint("kept_bytes BETWEEN 0 AND size_bytes", name="kept_bytes"),
)

source_chunks = Table(
    "source_chunks",
    metadata,
    _reference("source_id", "sources.id", "the log", key=True),
    _big("offset", "first byte of the chunk", key=True),
    _integer("size_bytes", "length of the decompressed chunk"),
    _blob(
        "zstd",
        "the chunk as one Zstandard frame; secrets are masked by text of the same length",
        info={"size": "size_bytes"},
    ),
    CheckConstraint("size_bytes BETWEEN 1 AND 1048576", name="size_bytes"),
)

_DISPOSITIONS = ", ".join(repr(word.value) for word in Disposition)
_COUNTED = f"tag = 'elsewhere' OR (tag IN ('<12>', '<b1>') AND disposition IN ({_DISPOSITIONS}))"

source_counts = Table(
    "source_counts",
    metadata,
    _reference("source_id", "sources.id", "the log", key=True),
    _text("tag", "`<12>`, `<b1>`, or `elsewhere`: games that were not followed", key=True),
    _text(
        "disposition",
        "what became of these lines, such as `ply` or `gap`; with `elsewhere`: `starts` or `results`",
        key=True,
    ),
    _integer("count", "number of lines"),
    sqlite_with_rowid=False,
    info={"rules": (_COUNTED,)},
)

source_shapes = Table(
    "source_shapes",
    metadata,
    _reference("source_id", "sources.id", "the log", key=True),
    _integer("seq", "number, from 0", key=True),
    _text("shape", "the text of these lines, with `X` for each name and `0` for each number"),
    _integer("lines", "number of lines of this shape"),
    _big("first_offset", "first byte of the first of them"),
    sqlite_with_rowid=False,
)

anomalies = Table(
    "anomalies",
    metadata,
    _reference("source_id", "sources.id", "the log", key=True),
    _integer("seq", "number, from 0", key=True),
    _word("kind", AnomalyKind, "kind of anomaly"),
    _big("offset", _OFFSET),
    _integer("server_game_no", "the server's number of the game", "unknown, or no game is concerned"),
    _text("message", "what is wrong, one sentence"),
    _text("text", "the line, or its beginning if it is long"),
    sqlite_with_rowid=False,
)

players = Table(
    "players",
    metadata,
    _id(),
    _text("server", "the server; empty: the log does not name it"),
    _text("handle", "the handle as it was first printed"),
    _text("handle_folded", "the handle in lower case: handles are case-insensitive"),
    UniqueConstraint("server", "handle_folded"),
)

games = Table(
    "games",
    metadata,
    _id(),
    _text("key", "name of the game, 20 hexadecimal digits"),
    _word("kind", GameKind, "what was done on the board"),
    _text("server", "the site", "unknown"),
    _text("dialect", "server family", "unknown"),
    _integer("server_game_no", "the server's own number, which it reuses", "not printed"),
    *_side("white", "White"),
    *_side("black", "Black"),
    _flag("rated", "whether the game was rated", "not printed"),
    _text("variant", "the rules, in this program's words", "unknown"),
    _text("category", "the server's word for the kind of game, such as `blitz`", "not printed"),
    _integer("base_s", "White's base time", "unknown"),
    _integer("increment_s", "White's increment", "unknown"),
    _integer("black_base_s", "Black's base time", "unknown"),
    _integer("black_increment_s", "Black's increment", "unknown"),
    _flag("base_inferred", "1: the server printed a base of 0, and the first clocks show 10 seconds"),
    _flag("variant_inferred", "1: the variant follows from boards or holdings, and was not printed"),
    _text("start_fen", "start position", "the normal one of the variant"),
    _integer("start_ply", "half-moves before the first known position"),
    _text("result", "`1-0`, `0-1`, `1/2-1/2`, or `*`"),
    _text("reason", "why the game ended, as printed", "not printed"),
    _text("reason_key", "the reason in this program's words, such as `checkmate`", "unknown"),
    _text("termination", "the reason in PGN's words, such as `time forfeit`; empty: a saved game has only the result"),
    _text("ending", "`result`, `adjourned`, `aborted`, `lost-feed`, `unobserved`, `log-ends` or `reused`"),
    _big("started_at_ms", "start of the game", "unknown"),
    _big("ended_at_ms", "arrival of its last line", _NO_TIMES),
    _word("time_basis", TimeBasis, "what both instants are"),
    _text("date_text", "date as printed, else the day of `--date`", "neither"),
    _flag("complete", "1: all plies are known, from the first to the end line"),
    _flag("continued", "1: the game was adjourned before and resumed"),
    _integer("partner_server_game_no", "the server's number of the partner's game", "not bughouse or not printed"),
    _text("me", "handle of the connection that recorded the game", "not printed"),
    _integer("ply_count", "known plies of the main line"),
    _reference("source_id", "sources.id", "the log that has this game", "merged from several"),
    _big(
        "first_offset", "first byte of the game in its log; of a merged game: in the log of the game with the same key"
    ),
    _big("last_offset", "first byte of its last line in the same log; of a saved game: the byte after it"),
    _integer(
        "merged_into",
        "the merged game of which this row is a part",
        "none",
        foreign=(ForeignKey("games.id", ondelete="SET NULL"),),
        index=True,
    ),
    _word("start_precision", StartPrecision, "unit in which `started_at_ms` is known", "no start is known"),
    _text("eco", "ECO code of the last named position, as `B90`", "none, or not normal chess from its start"),
    _text("opening", "its name, as `Sicilian Defense: Najdorf Variation`", "as `eco`"),
    _integer("opening_ply", "half-moves after which the game was last in a named position", "as `eco`"),
    _text(
        "corrected",
        "what a person corrected: field, value, recorded value, when, recorded columns",
        "nothing",
        info={"json": "array"},
    ),
    _integer("lowest_clock_ms", "the lowest clock after a ply of the main line", "no clock is known"),
    _integer("white_left_ms", "White's last known clock in the main line", "unknown"),
    _integer("black_left_ms", "Black's last known clock in the main line", "unknown"),
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
    _text("game_key", "`key` of a game that has a source: row numbers of games change", key=True),
    _text("field", "the PGN tag of what is corrected, or `Rated`", key=True),
    _text("value", "the value that a person gave"),
    _big("decided_ms", "when, since 1970 in UTC"),
    sqlite_with_rowid=False,
)

game_evidence = Table(
    "game_evidence",
    metadata,
    _reference("game_id", "games.id", "the merged game", key=True),
    _integer("seq", "number, from 0", key=True),
    _word(
        "kind",
        EvidenceKind,
        "`same`, `continues`: why its sources are one game; `conflict`: where they contradict each other",
    ),
    _text("text", "the evidence in words"),
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
    _id(),
    _reference("source_id", "sources.id", "the log"),
    _reference("game_id", "games.id", "the game as this log has it"),
    _integer("seq", "number in the game, from 0"),
    _word("kind", ObservationKind, "how the plies were recorded"),
    _integer("server_game_no", "the server's number", "not printed"),
    _text("white", "White's handle on the first board"),
    _text("black", "Black's handle on the first board"),
    _integer("relation", "relation in the first board: 1 or -1 playing, 0 observing, 2 examining", "none was printed"),
    _big("offset", "first byte of its first line"),
    _big("end_offset", "first byte of its last line; of a saved game: the byte after it"),
    _big("started_at_ms", "arrival of its first line", _NO_TIMES),
    _big("ended_at_ms", "arrival of its last line", _NO_TIMES),
    _integer("start_ply", "ply of the move that the first board printed", "no such board"),
    _text("start_verbose", "that move in long notation", "no such board"),
    _text("start_pretty", "that move in short notation", "no such board"),
    _integer("start_elapsed_ms", "time charged for that move", "not printed"),
    _integer("start_white_clock_ms", "White's clock on that board", "not printed"),
    _integer("start_black_clock_ms", "Black's clock on that board", "not printed"),
    _integer("start_lag_ms", "lag printed on that board", "not printed"),
    _big("start_arrival_ms", "arrival of that board", _NO_TIMES),
    _integer(
        "start_precision",
        "unit of those times: 0 seconds, 1 milliseconds",
        "no time was printed",
        info={"values": [unit.value for unit in Precision]},
    ),
    _big("start_offset", "first byte of that board", "no such board"),
    UniqueConstraint("game_id", "seq"),
    Index("ix_observations_source_id", "source_id"),
    info={"rules": _START},
)

ply_lines = Table(
    "ply_lines",
    metadata,
    _reference("observation_id", "observations.id", "the observation", key=True),
    _integer("line_no", "number of the line; 0 is the main line", key=True),
    _word("kind", LineKind, "kind of the line"),
    _integer("parent_line_no", "the line from which it branches", "it is the main line"),
    _integer("parent_ply", "the ply after which it branches", "it is the main line"),
    _integer("first_ply_id", "`plies.id` of its first ply"),
    _integer("ply_count", "number of its plies, which have consecutive row numbers"),
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
    _id(),
    _integer(
        "ply",
        "half-moves played to reach the position after it",
        info={"holds": ("ply > 0", "a number of a half-move")},
    ),
    _integer("move", "the move as a number", "its squares are unknown"),
    _text("san", "canonical SAN; the printed text if the ply is not proved", info={"holds": (_MOVE, "a move")}),
    _integer("white_clock_ms", "White's clock after the move", "unknown"),
    _integer("black_clock_ms", "Black's clock after the move", "unknown"),
    _integer("elapsed_ms", "time charged for the move", "unknown"),
    _integer("lag_ms", "lag as printed", "none was printed"),
    _big("at_ms", _ARRIVAL, _NO_TIMES),
    _integer("flags", "castling rights and a pawn's double step", "the position is unknown"),
    _integer("irreversible", "half-moves since the last capture or pawn move, as printed", "not printed"),
    _integer("quality", "proof, origin and precision as one number", info={"values": QUALITIES}),
    _big("from_offset", "first byte of its line, from the observation's `offset`"),
)

anchors = Table(
    "anchors",
    metadata,
    _reference("observation_id", "observations.id", "the observation", key=True),
    _integer("seq", "number in the observation, from 0", key=True),
    _integer("line_no", "the line of plies that it belongs to"),
    _integer("ply", "half-moves played to reach the position"),
    _text("fen", "the position; pieces in hand in brackets where they are known"),
    _text("reason", "why plies do not give it: `start`, `gap`, `conflict`, `list`, `takeback` or `variation`"),
    _big("offset", _OFFSET),
    sqlite_with_rowid=False,
)

holdings = Table(
    "holdings",
    metadata,
    _reference("observation_id", "observations.id", "the observation", key=True),
    _integer("seq", _SEQ, key=True),
    _integer("ply", _PLY),
    _text("white", "White's pieces in hand, as capital letters"),
    _text("black", "Black's pieces in hand, as capital letters"),
    _text("passed", "colour and piece that came into a hand (`BN`: Black, a knight)", "the line names none"),
    _big("at_ms", _ARRIVAL, _NO_TIMES),
    _big("offset", _OFFSET),
    sqlite_with_rowid=False,
)

events = Table(
    "events",
    metadata,
    _reference("observation_id", "observations.id", "the observation", key=True),
    _integer("seq", _SEQ, key=True),
    _word("kind", EventKind, "kind of event"),
    _text("detail", "its kind in more detail; may be empty"),
    _integer("ply", _PLY),
    _text("actor", "handle of the player who caused it", "unknown, or the server did"),
    _integer("value", "a number whose meaning depends on the kind", "none"),
    _text("text", "the line or its words; may be empty"),
    _integer("white_clock_ms", "White's clock on the board that shows the event", "no board shows it"),
    _integer("black_clock_ms", "Black's clock on the board that shows the event", "no board shows it"),
    _big("at_ms", _ARRIVAL, _NO_TIMES),
    _big("offset", _OFFSET),
    sqlite_with_rowid=False,
)

thinking = Table(
    "thinking",
    metadata,
    _reference("observation_id", "observations.id", "the observation, of kind `engine`", key=True),
    _integer("seq", _SEQ, key=True),
    _integer("ply", "half-moves played when the engine printed it"),
    _text("engine", "name of the engine", "unknown"),
    _flag("white", "1: the engine plays White; in an analysis: White is to move", "unknown"),
    *_thinking("the engine"),
    _big("at_ms", _ARRIVAL, _NO_TIMES),
    _big("offset", _OFFSET),
    sqlite_with_rowid=False,
)

segments = Table(
    "segments",
    metadata,
    _reference("game_id", "games.id", "the game", key=True),
    _integer("seq", "number in the game, from 0", key=True),
    _integer("from_ply", "first ply that is taken from the observation"),
    _integer("to_ply", "last ply that is taken from it"),
    _reference("observation_id", "observations.id", "the observation that proves these plies", index=True),
    CheckConstraint("from_ply <= to_ply", name="order"),
    sqlite_with_rowid=False,
)

game_links = Table(
    "game_links",
    metadata,
    _reference("game_id", "games.id", "a game that has a source", key=True),
    _reference("other_game_id", "games.id", "the game that belongs to it", key=True, index=True),
    _word(
        "kind",
        LinkKind,
        "`bughouse-partner`: the other board; `examined-copy`: one is an examination of the other",
        key=True,
    ),
    _text("evidence", "what proves it, in words"),
    sqlite_with_rowid=False,
)

# Not below ``games``: their rows come and go with every reading, and what an engine thought is in no log.
analyses = Table(
    "analyses",
    metadata,
    _id(),
    _text("game_key", "`key` of the game, or of its game in one source: row numbers of games change", index=True),
    _text("engine", "name that the engine reports, else its command"),
    _text("protocol", "`cecp` or `uci`"),
    _json("settings", "object", "`limit`, `options` and the variant", kind=Text),
    _big("begun_ms", "start of the analysis, since 1970 in UTC"),
    CheckConstraint("protocol IN ('cecp', 'uci')", name="protocol"),
)

analysed_positions = Table(
    "analysed_positions",
    metadata,
    _id(),
    _reference("analysis_id", "analyses.id", "the analysis"),
    _integer("ply", "half-moves played to reach the position"),
    _text("fen", "the position that the engine received"),
    _flag("stands", "1: the game has the same pieces on the same squares after this ply; 0: it no longer has"),
    UniqueConstraint("analysis_id", "ply", "fen"),
)

analysis_lines = Table(
    "analysis_lines",
    metadata,
    _reference("position_id", "analysed_positions.id", "the position", key=True),
    _integer("seq", "number, from 0, in the order of the engine's output", key=True),
    *_thinking("the side to move"),
    sqlite_with_rowid=False,
)
