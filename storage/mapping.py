"""Model ↔ rows. Rows are plain tuples in the order of the table's columns; ``storage.statements`` has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recorder.model import (
    Anchor,
    EventKind,
    Game,
    GameEvent,
    GameKind,
    HoldingsChange,
    LineKind,
    Observation,
    ObservationKind,
    Player,
    PlyLine,
    Segment,
    StartFacts,
    StartPrecision,
    Thinking,
    TimeBasis,
)
from recorder.model.pgn_plies import ShownLine

__all__ = [
    "Row",
    "anchor_from_row",
    "event_from_row",
    "event_row",
    "game_from_row",
    "game_row",
    "holdings_from_row",
    "holdings_row",
    "observation_from_row",
    "observation_row",
    "ply_line_from_row",
    "rows_of_observation",
    "segment_from_row",
    "thinking_from_row",
]

Row = tuple[Any, ...]


def game_row(game: Game, key: str, row_id: int, white_id: int, black_id: int, source_id: int | None) -> Row:
    """The row of ``games``; ``source_id`` None: of a game that several sources witness."""
    return (
        row_id,
        key,
        game.kind.value,
        game.server,
        game.dialect,
        game.game_no,
        white_id,
        *game.white,
        black_id,
        *game.black,
        game.rated,
        game.variant,
        game.category,
        game.base_s,
        game.increment_s,
        game.black_base_s,
        game.black_increment_s,
        game.base_inferred,
        game.variant_inferred,
        game.start_fen,
        game.start_ply,
        game.result,
        game.reason,
        game.reason_key,
        game.termination,
        game.end,
        game.started_at_ms,
        game.ended_at_ms,
        game.time_basis.value,
        game.date_text,
        game.complete,
        game.continued,
        game.partner_game_no,
        game.me,
        len(game.rows),
        source_id,
        game.first_offset,
        game.last_offset,
        None,
        None if game.start_precision is None else game.start_precision.value,
    )


def _bool(value: int | None) -> bool | None:
    return None if value is None else bool(value)


def _player(columns: Row) -> Player:
    handle, rating_text, rating, titles, registered, sealed = columns
    return Player(handle, rating_text, rating, titles, _bool(registered), _bool(sealed))


def game_from_row(row: Row) -> Game:
    """The game without its observations and segments."""
    _id, key, kind, server, dialect, game_no = row[:6]
    rated, variant, category, base_s, increment_s, black_base_s, black_increment_s = row[20:27]
    base_inferred, variant_inferred, start_fen, start_ply, result, reason, reason_key, termination, end = row[27:36]
    started_at_ms, ended_at_ms, time_basis, date_text, complete, continued, partner_game_no, me = row[36:44]
    _ply_count, _source_id, first_offset, last_offset, _merged_into, start_precision = row[44:]
    return Game(
        key=key,
        kind=GameKind(kind),
        server=server,
        dialect=dialect,
        game_no=game_no,
        white=_player(row[7:13]),
        black=_player(row[14:20]),
        rated=_bool(rated),
        variant=variant,
        category=category,
        base_s=base_s,
        increment_s=increment_s,
        black_base_s=black_base_s,
        black_increment_s=black_increment_s,
        base_inferred=bool(base_inferred),
        variant_inferred=bool(variant_inferred),
        start_fen=start_fen,
        start_ply=start_ply,
        result=result,
        reason=reason,
        reason_key=reason_key,
        termination=termination,
        end=end,
        started_at_ms=started_at_ms,
        ended_at_ms=ended_at_ms,
        time_basis=TimeBasis(time_basis),
        date_text=date_text,
        complete=bool(complete),
        continued=bool(continued),
        partner_game_no=partner_game_no,
        me=me,
        observations=[],
        segments=[],
        first_offset=first_offset,
        last_offset=last_offset,
        start_precision=None if start_precision is None else StartPrecision(start_precision),
    )


def observation_row(seen: Observation, row_id: int, source_id: int, game_id: int, seq: int) -> Row:
    """The row of ``observations``; times within are relative to its start."""
    start: Row = (None,) * 10
    if seen.start is not None:
        start = (*seen.start[:7], _relative(seen.start.at_ms, seen.started_at_ms or 0), *seen.start[8:])
    return (
        row_id,
        source_id,
        game_id,
        seq,
        seen.kind.value,
        seen.game_no,
        seen.white,
        seen.black,
        seen.relation,
        seen.offset,
        seen.end_offset,
        seen.started_at_ms,
        seen.ended_at_ms,
        *start,
    )


def observation_from_row(row: Row) -> Observation:
    """The observation without its lines, anchors, holdings and events."""
    kind, game_no, white, black, relation, offset, end_offset, started_at_ms, ended_at_ms = row[4:13]
    start = row[13:]
    return Observation(
        kind=ObservationKind(kind),
        game_no=game_no,
        white=white,
        black=black,
        relation=relation,
        offset=offset,
        end_offset=end_offset,
        started_at_ms=started_at_ms,
        ended_at_ms=ended_at_ms,
        start=None
        if start[0] is None
        else StartFacts._make((*start[:7], _absolute(start[7], started_at_ms or 0), *start[8:])),
    )


def _relative(at_ms: int | None, base_ms: int) -> int | None:
    return None if at_ms is None else at_ms - base_ms


def _absolute(at_ms: int | None, base_ms: int) -> int | None:
    return None if at_ms is None else at_ms + base_ms


def rows_of_observation(seen: Observation, row_id: int, ply_id: int) -> Iterator[tuple[str, list[Row]]]:
    """The rows of one observation's children but for its plies, as (table, rows), parents first.

    Args:
        seen: the observation. row_id: its row number. ply_id: the first free row number of ``plies``.
    """
    base = seen.started_at_ms or 0
    for line in seen.lines:
        count = len(line.rows)
        yield "ply_lines", [(row_id, line.number, line.kind.value, line.parent, line.parent_ply, ply_id, count)]
        ply_id += count
    yield "anchors", [(row_id, seq, *anchor) for seq, anchor in enumerate(seen.anchors)]
    yield "holdings", [holdings_row(change, row_id, base) for change in seen.holdings]
    yield "events", [event_row(event, row_id, base) for event in seen.events]
    if seen.thinking:
        yield (
            "thinking",
            [(row_id, *thought[:13], _relative(thought.at_ms, base), thought.offset) for thought in seen.thinking],
        )


def holdings_row(change: HoldingsChange, row_id: int, base_ms: int) -> Row:
    """The row of ``holdings`` of an observation's row that began at ``base_ms``."""
    return (row_id, *change[:5], _relative(change.at_ms, base_ms), change.offset)


def event_row(event: GameEvent, row_id: int, base_ms: int) -> Row:
    """The row of ``events`` of an observation's row that began at ``base_ms``."""
    return (row_id, event.seq, event.kind.value, *event[2:9], _relative(event.at_ms, base_ms), event.offset)


def ply_line_from_row(row: Row, *, whole: bool) -> PlyLine:
    """A line without its plies; not ``whole``: for those who show them."""
    number, kind, parent, parent_ply = row[1:5]
    return (
        PlyLine(number, LineKind(kind), parent, parent_ply, [])
        if whole
        else ShownLine(number, LineKind(kind), parent, parent_ply)
    )


def anchor_from_row(row: Row) -> Anchor:
    """An anchor."""
    return Anchor(*row[2:])


def holdings_from_row(row: Row, base_ms: int) -> HoldingsChange:
    """A holdings change."""
    return HoldingsChange._make((*row[1:6], _absolute(row[6], base_ms), row[7]))


def event_from_row(row: Row, base_ms: int) -> GameEvent:
    """An event."""
    return GameEvent._make((row[1], EventKind(row[2]), *row[3:10], _absolute(row[10], base_ms), row[11]))


def thinking_from_row(row: Row, base_ms: int) -> Thinking:
    """What an engine told of its thinking."""
    return Thinking._make((*row[1:4], _bool(row[4]), *row[5:14], _absolute(row[14], base_ms), row[15]))


def segment_from_row(row: Row, places: dict[int, int]) -> Segment:
    """A segment; ``places`` gives an observation's place in its game."""
    return Segment(row[2], row[3], places[row[4]])
