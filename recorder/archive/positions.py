"""Games that reached a position, and what was played there: found by the index, verified by replaying."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Final

from recorder.errors import SearchTimeoutError, StorageError
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules, decode_move
from recorder.text import plural
from storage.archive import ArchiveStore
from storage.positions import Occurrence

if TYPE_CHECKING:
    import chess

    from recorder.progress import Progress
    from storage import GameFilter
    from storage.positions import IndexState, PositionLine
    from storage.read.store import GameStore

_SCORES: Final = {"1-0": (1, 0, 0), "1/2-1/2": (0, 1, 0), "0-1": (0, 0, 1)}


def with_position(
    archive: GameStore, where: GameFilter, progress: Progress | None = None, *, as_indexed: bool = False
) -> GameFilter:
    """The filter with the games that reached its position. The index is made or continued first.

    ``as_indexed``: index nothing, so that only games that are indexed are found.
    """
    assert where.position is not None
    if not isinstance(archive, ArchiveStore):
        raise StorageError("Positions are searched in an archive only: import the logs, or leave the position out.")
    if not as_indexed:
        archive.positions.update(progress)
    found = occurrences_of(archive, where.position)
    following = where.next_move
    return replace(where, reached=frozenset(one.key for one in found if following is None or one.move == following))


def index_sentence(state: IndexState) -> str | None:
    """What is said before an index is made or continued; None: nothing is missing."""
    if not state.missing:
        return None
    size = f"{max(1, round(state.added_bytes / 1_000_000)):,} MB"
    return f"Indexing the positions of {plural(state.missing, 'game')}: about {size} in {state.path}."


def occurrences_of(archive: ArchiveStore, position: str, limit_s: float | None = None) -> list[Occurrence]:
    """All occurrences of a position in the indexed games, each verified by replaying its game.

    ``limit_s`` bounds how long replaying may take.
    """
    found = archive.positions.occurrences(position_from_fen(position, Rules.CHESS))
    by_ply: dict[int, list[str]] = {}  # no line is read further than to the position
    for one in found:
        by_ply.setdefault(one.ply, []).append(one.key)
    known: dict[tuple[str | None, tuple[int, ...]], str | None] = {}
    verified = set()
    ends_at_s = None if limit_s is None else time.monotonic() + limit_s
    for ply, keys in by_ply.items():
        for key, lines in archive.positions.lines(keys, ply):
            if position in _positions_at(lines, ply, known):
                verified.add((key, ply))
            if ends_at_s is not None and time.monotonic() > ends_at_s:
                raise SearchTimeoutError(f"The search took more than {limit_s:g} seconds and was stopped.")
    return [one for one in found if (one.key, one.ply) in verified]


def position_of(archive: ArchiveStore, key: str, ply: int) -> str | None:
    """The position of an indexed game after so many half-moves; None: it is not known."""
    for _, lines in archive.positions.lines([key], ply):
        return next(filter(None, _positions_at(lines, ply, {})), None)
    return None


def _positions_at(
    lines: Sequence[PositionLine], ply: int, known: dict[tuple[str | None, tuple[int, ...]], str | None]
) -> Iterator[str | None]:
    """The positions of a game after so many half-moves; ``known``: those that were replayed before.

    There may be two where a line ends and another begins.
    """
    for line in lines:
        played = ply - line.start_ply
        if 0 <= played <= len(line.plies):
            moves = tuple(move for move, _, _ in line.plies[:played] if move is not None)
            if len(moves) == played:
                if (line.fen, moves) not in known:
                    known[line.fen, moves] = _replayed(line.fen, moves)
                yield known[line.fen, moves]


def _replayed(fen: str | None, moves: Sequence[int]) -> str | None:
    """The position after moves, played with python-chess; None: the log does not prove the position or a move."""
    import chess

    try:
        board = chess.Board() if fen is None else chess.Board(fen)
        for move in moves:
            board.push_uci(decode_move(move))
    except ValueError:
        return None
    return board.epd()


@dataclass(slots=True)
class ExploredMove:
    """A move that was played in a position, in ``games``, and how many of these White won, drew and lost.

    ``position`` is the one after it, as ``read_position`` gives it. ``rating`` is the mean of the movers' known
    ratings; think times and clocks after the move are medians of those known.
    """

    san: str
    uci: str
    position: str
    games: int = 0
    white: int = 0
    draws: int = 0
    black: int = 0
    rating: int | None = None
    think_ms: int | None = None
    clock_ms: int | None = None
    _ratings: list[int] = field(default_factory=list)
    _think_ms: list[int] = field(default_factory=list)
    _clock_ms: list[int] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Explored:
    """What was played in a position, most games first; in ``ended`` games no move is known after it.

    ``places`` has where each game reached it first.
    """

    games: int
    ended: int
    moves: Sequence[ExploredMove]
    places: Mapping[str, Occurrence]


def explore(archive: ArchiveStore, where: GameFilter, limit_s: float | None = None) -> Explored:
    """The moves that were played in a position, in the games that match a filter.

    Games that are not indexed do not count.
    """
    import chess

    assert where.position is not None
    found = occurrences_of(archive, where.position, limit_s)
    facts = archive.results_of(replace(where, reached=frozenset(one.key for one in found)))
    board = chess.Board(f"{where.position} 0 1")
    moves: dict[int, ExploredMove | None] = {}
    counted: set[tuple[str, int]] = set()
    going_on: set[str] = set()
    places: dict[str, Occurrence] = {}
    for one in found:
        if one.key not in facts:
            continue
        if one.key not in places or one.ply < places[one.key].ply:
            places[one.key] = one
        if one.move is None:
            continue
        if one.move not in moves:
            moves[one.move] = _explored(board, one.move)
        if (explored := moves[one.move]) is None:
            continue  # the log shows it, and it is not legal
        going_on.add(one.key)
        for value, values in ((one.elapsed_ms, explored._think_ms), (one.clock_ms, explored._clock_ms)):
            if value is not None:
                values.append(value)
        if (one.key, one.move) in counted:  # the position was there again
            continue
        counted.add((one.key, one.move))
        result, *ratings = facts[one.key]
        _count(explored, result, ratings[0 if board.turn else 1])
    legal = [explored for explored in moves.values() if explored is not None]
    for explored in legal:
        explored.rating = _middle(explored._ratings, mean=True)
        explored.think_ms, explored.clock_ms = _middle(explored._think_ms), _middle(explored._clock_ms)
    ordered = sorted(legal, key=lambda one: (-one.games, one.san))
    return Explored(len(facts), len(facts.keys() - going_on), ordered, places)


def _explored(board: chess.Board, move: int) -> ExploredMove | None:
    """A move with the position after it; None: it is not legal."""
    import chess

    played = chess.Move.from_uci(decode_move(move))
    if not board.is_legal(played):
        return None
    san = board.san(played)
    after = board.copy(stack=False)
    after.push(played)
    return ExploredMove(san, played.uci(), after.epd())


def _count(explored: ExploredMove, result: str, rating: int | None) -> None:
    explored.games += 1
    white, drawn, black = _SCORES.get(result, (0, 0, 0))
    explored.white += white
    explored.draws += drawn
    explored.black += black
    if rating is not None:
        explored._ratings.append(rating)


def _middle(values: Collection[int], *, mean: bool = False) -> int | None:
    """The median, or the mean, rounded half up; None: of nothing."""
    if not values:
        return None
    return int((sum(values) / len(values) if mean else median(values)) + 0.5)
