"""What each column of an archive means: for the list in ``docs/reference/schema.md`` and the comments of PostgreSQL.

Units are those of the column's name. A column that may be null says what null means.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Column

_OFFSET: Final = "first byte of its line"
_AT_MS: Final = "arrival of its line; null: the log has no arrival times"
_PLY: Final = "half-moves played when its line arrived"
_SEQ: Final = "place in the observation, in the order of the log"


def _side(side: str, name: str) -> dict[str, str]:
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
        **_side("white", "White"),
        **_side("black", "Black"),
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
