"""Games as a data set knows them: players, facts, the main line and events; no lines taken back or positions."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from typing import Any

from recorder.model import (
    EventKind,
    Game,
    GameEvent,
    GameKind,
    HoldingsChange,
    LineKind,
    Link,
    LinkKind,
    Observation,
    ObservationKind,
    Origin,
    Player,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    Segment,
    SourceName,
    StartPrecision,
    TimeBasis,
)
from recorder.rules.position import encode_move

PLY_NAMES = (
    "ply",
    "uci",
    "san",
    "white_clock_ms",
    "black_clock_ms",
    "elapsed_ms",
    "lag_ms",
    "arrival_ms",
    "proof",
    "origin",
    "precision",
    "moment",
    "white_holdings",
    "black_holdings",
)
"""The columns of plies that a game is made from, in the order of ``_ply_row``."""
EVENT_NAMES = ("kind", "detail", "ply", "actor", "value", "text", "white_clock_ms", "black_clock_ms", "arrival_ms")
"""The columns of events from ``GameEvent.kind`` to ``GameEvent.at_ms``."""
_PROOFS = {one.name.lower(): one.value for one in Proof}
_ORIGINS = {one.name.lower(): one.value for one in Origin}
_PRECISIONS: dict[str | None, int | None] = {one.name.lower(): one.value for one in Precision} | {None: None}


def events_by_game(rows: Iterable[tuple[Any, ...]]) -> dict[int, list[GameEvent]]:
    """The events of games by their places; ``rows``: the place, and ``EVENT_NAMES``."""
    found: dict[int, list[GameEvent]] = {}
    for place, kind, *values in rows:
        events = found.setdefault(place, [])
        events.append(GameEvent._make((len(events), EventKind(kind), *values, 0)))
    return found


def game_of(row: dict[str, Any], plies: Iterable[tuple[Any, ...]], events: list[GameEvent], source: SourceName) -> Game:
    """Make a game with one observation of its row, its plies and its events.

    What a data set does not have is unknown.
    """
    values = list(plies)
    rows = [_ply_row(*ply) for ply in values]
    partner = row["partner_key"]
    started_at_ms, basis, offset = row["started_ms"], TimeBasis(row["time_basis"]), row["offset"]
    black = (row["black_base_s"], row["black_increment_s"])
    if black == (row["base_s"], row["increment_s"]):
        black = (None, None)
    return Game(
        key=row["key"],
        kind=GameKind(row["kind"]),
        server=row["server"],
        dialect=None,
        game_no=row["server_game_no"],
        white=_player(row, "white"),
        black=_player(row, "black"),
        rated=row["rated"],
        variant=row["variant"],
        category=row["category"],
        base_s=row["base_s"],
        increment_s=row["increment_s"],
        black_base_s=black[0],
        black_increment_s=black[1],
        base_inferred=False,
        variant_inferred=False,
        start_fen=row["start_fen"],
        start_ply=row["start_ply"],
        result=row["result"],
        reason=None,
        reason_key=row["reason"],
        termination=row["termination"] or "",
        end=row["ending"],
        started_at_ms=started_at_ms,
        ended_at_ms=None,
        time_basis=basis,
        date_text=row["day"],
        complete=row["complete"],
        continued=False,
        partner_game_no=None,
        me=row["me"],
        observations=[_observation(row, rows, _holdings(values), _placed(events, rows), source)],
        segments=_segments(rows),
        first_offset=offset,
        last_offset=offset,
        links=[] if partner is None else [Link(LinkKind.PARTNER, partner, row["partner_evidence"])],
        start_precision=None if row["start_precision"] is None else StartPrecision(row["start_precision"]),
    )


_OBSERVED = {Origin.PGN.value: ObservationKind.PGN, Origin.ENGINE.value: ObservationKind.ENGINE}


def _observation(
    row: dict[str, Any],
    rows: list[PlyRow],
    holdings: list[HoldingsChange],
    events: list[GameEvent],
    source: SourceName,
) -> Observation:
    return Observation(
        _OBSERVED.get(rows[0][11] if rows else Origin.FRAME.value, ObservationKind.LIVE),
        row["server_game_no"],
        row["white"],
        row["black"],
        None,
        row["offset"],
        row["offset"],
        row["started_ms"],
        None,
        None,
        lines=[PlyLine(0, LineKind.MAIN, None, None, rows)],
        holdings=holdings,
        events=events,
        source=source,
    )


def _player(row: dict[str, Any], side: str) -> Player:
    """A player: the marks of guests and computers instead of all printed titles."""
    rating, guest, computer = (row[f"{side}_{fact}"] for fact in ("rating", "guest", "computer"))
    return Player(
        row[side],
        None if rating is None else str(rating),
        rating,
        None if computer is None else "(C)" if computer else "",
        None if guest is None else not guest,
        row[f"{side}_sealed"],
    )


def _ply_row(*ply: Any) -> PlyRow:
    number, uci, san, *times, proof, origin, precision, moment, _, _ = ply
    move = None if uci is None else encode_move(uci)
    codes = (_PROOFS[proof], _ORIGINS[origin], _PRECISIONS[precision])
    return (number, move, san, *times, None, None, *codes, _offset(number, moment))


def _offset(ply: int, moment: int | None) -> int:
    """In place of a place in the source, which a data set does not have: moves are in order, also of both boards."""
    return 2 * (ply if moment is None else moment)


def _holdings(plies: list[tuple[Any, ...]]) -> list[HoldingsChange]:
    """The pieces in hand after plies, where they were printed."""
    return [
        HoldingsChange(seq, ply, white, black, None, None, _offset(ply, moment))
        for seq, (ply, *_, moment, white, black) in enumerate(plies)
        if white is not None and black is not None
    ]


def _placed(events: list[GameEvent], rows: list[PlyRow]) -> list[GameEvent]:
    """Events behind the plies that they follow."""
    numbers = [row[0] for row in rows]
    places = (bisect_right(numbers, event.ply) for event in events)
    return [
        event._replace(offset=rows[place - 1][-1] + 1 if place else 0)
        for event, place in zip(events, places, strict=True)
    ]


def _segments(rows: list[PlyRow]) -> list[Segment]:
    """Runs of plies without a gap."""
    found: list[Segment] = []
    for number, *_ in rows:
        if found and found[-1].to_ply == number - 1:
            found[-1] = found[-1]._replace(to_ply=number)
        else:
            found.append(Segment(number, number, 0))
    return found
