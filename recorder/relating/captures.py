"""What was captured in a bughouse game, and what came into its hands: the traces of the other board."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from recorder.model import Game, HoldingsChange, Observation, Origin, Ply
from recorder.tracking.captures import captured_piece
from recorder.tracking.position import Position, Rules, play_san, position_from_fen, start_position
from recorder.tracking.variants import STANDARD_BOARD

__all__ = ["Capture", "Passed", "Place", "captures", "passes", "place_of", "witnesses"]

_START = start_position(STANDARD_BOARD, True, 15, -1, Rules.BUGHOUSE)


@dataclass(frozen=True, slots=True)
class Place:
    """Where and when something arrived. ``source`` tells the log apart; within one the offsets are the order.

    ``offset`` None: its place in the log is not that of its arrival (plies of a movelist). ``at_ms`` is UTC or None.
    """

    source: str
    offset: int | None
    at_ms: int | None

    def before(self, other: Place) -> bool | None:
        """Whether this came first; None: not known."""
        if self.offset is not None and other.offset is not None and self.source == other.source:
            return None if self.offset == other.offset else self.offset < other.offset
        if self.at_ms is not None and other.at_ms is not None and self.at_ms != other.at_ms:
            return self.at_ms < other.at_ms
        return None


class Capture(NamedTuple):
    """A piece that was taken. ``pieces`` are the letters it may arrive as: a promoted one arrives as a pawn."""

    ply: int
    white: bool
    pieces: str
    place: Place


class Passed(NamedTuple):
    """A piece that came into a hand, as a ``<b1>`` with ``<-`` told."""

    white: bool
    piece: str
    change: HoldingsChange
    place: Place


def place_of(game: Game, seen: Observation, offset: int | None, at_ms: int | None) -> Place:
    """Where something of an observation stands."""
    utc = game.time_basis.value == "utc"
    return Place("" if seen.source is None else seen.source.sha256, offset, at_ms if utc else None)


def witnesses(game: Game) -> Iterator[tuple[Ply, Place]]:
    """The main line's plies with their places, in order."""
    for segment in game.segments:
        seen = game.observations[segment.observation]
        for ply in seen.lines[0].plies:
            if segment.from_ply <= ply.ply <= segment.to_ply:
                arrived = ply.origin not in (Origin.MOVELIST, Origin.INFERRED)
                yield ply, place_of(game, seen, ply.offset if arrived else None, ply.at_ms if arrived else None)


def captures(game: Game) -> list[Capture]:
    """The captures of the main line, as far as its positions are known."""
    found: list[Capture] = []
    anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
    position: Position | None = _START if game.start_ply == 0 and game.start_fen is None else None
    doubtful = position is None  # pieces promoted before are not known as such
    last = game.start_ply
    for ply, place in witnesses(game):
        if ply.ply != last + 1:
            position, doubtful = None, True
        if position is None and ply.ply - 1 in anchors:
            position = _read(anchors[ply.ply - 1])
        last = ply.ply
        if position is None:
            continue
        step = play_san(position, ply.san) if ply.move is not None else "not known"
        if isinstance(step, str) or step[0] != ply.move:
            position, doubtful = None, True
            continue
        piece = captured_piece(position, step[2])
        if piece is not None:
            pieces = f"{piece}P" if doubtful and piece != "P" else piece
            found.append(Capture(ply.ply, ply.white_moved, pieces, place))
        position = step[2]
    return found


def passes(game: Game) -> list[Passed]:
    """The pieces that came into the hands, by their own lines, in order."""
    return [
        Passed(change.passed[0] == "W", change.passed[1], change, place_of(game, seen, change.offset, change.at_ms))
        for seen in game.observations
        for change in seen.holdings
        if change.passed is not None
    ]


def _read(fen: str) -> Position | None:
    try:
        return position_from_fen(fen, Rules.BUGHOUSE)._replace(hands=None)
    except ValueError:
        return None
