"""Games that reached a position, and what was played there: found by the index, verified by replaying."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import TYPE_CHECKING, Final, NamedTuple

from recorder.errors import SearchTimeoutError, StorageError
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules, decode_move
from recorder.text import byte_size, plural
from storage.archive import ArchiveStore
from storage.positions import Occurrence
from storage.read.listing import ListOrder

if TYPE_CHECKING:
    import chess

    from recorder.progress import Progress
    from storage import GameFilter, GameStore
    from storage.positions import IndexState


_FEW: Final = 20
"""So many occurrences are all replayed."""


def with_position(
    archive: GameStore, where: GameFilter, progress: Progress | None = None, *, as_indexed: bool = False
) -> GameFilter:
    """Choose the games that reached the position; ``as_indexed``: without making or continuing the index first."""
    assert where.position is not None
    if not isinstance(archive, ArchiveStore):
        raise StorageError("Positions are searched in an archive only: import the logs, or leave the position out.")
    if not as_indexed:
        archive.positions.update(progress)
    hits = occurrences_of(archive, where.position)
    following = where.next_move
    return replace(where, reached=frozenset(hit.key for hit in hits if following is None or hit.move == following))


def index_sentence(state: IndexState) -> str | None:
    """What is said before an index is made or continued; None: nothing is missing."""
    if not state.missing:
        return None
    games = plural(state.missing, "game")
    return f"Indexing the positions of {games}: about {byte_size(state.added_bytes)} in {state.path}."


def occurrences_of(
    archive: ArchiveStore, position: str, where: GameFilter | None = None, limit_s: float | None = None
) -> list[Occurrence]:
    """Of a position in the indexed games, of the newest game first."""
    index = archive.positions
    wanted = position_from_fen(position, Rules.CHESS)
    hits = index.occurrences(wanted) if where is None else index.occurrences(wanted, where)
    ends_at_s = None if limit_s is None else time.monotonic() + limit_s

    def others(those: Iterable[Occurrence]) -> Iterator[Occurrence]:
        for hit in those:
            if ends_at_s is not None and time.monotonic() > ends_at_s:
                raise SearchTimeoutError(f"The search took more than {limit_s:g} seconds and was stopped.")
            if position not in _positions_of(archive, hit.row_id, hit.ply):
                yield hit

    # Two positions may have one key, so games are replayed: all of few; of many one for each ply and next move, and all
    # such games if that one did not have the position.
    wrong = set(others(hits if len(hits) <= _FEW else {(hit.ply, hit.move): hit for hit in reversed(hits)}.values()))
    if wrong and len(hits) > _FEW:
        doubtful = {(hit.ply, hit.move) for hit in wrong}
        wrong = set(others(hit for hit in hits if (hit.ply, hit.move) in doubtful))
    return [hit for hit in hits if hit not in wrong] if wrong else hits


def position_of(archive: ArchiveStore, key: str, ply: int) -> str | None:
    """The position of an indexed game after so many half-moves; None: it is not known."""
    place = archive.place_of(key, ListOrder())
    return None if place is None else next(iter(_positions_of(archive, place.row_id, ply)), None)


def _positions_of(archive: ArchiveStore, row_id: int, ply: int) -> list[str]:
    """There may be two where a line ends and another begins."""
    positions = []
    for line in archive.positions.lines(row_id, ply):
        played = ply - line.start_ply
        if 0 <= played <= len(line.plies):
            moves = [move for move, _, _ in line.plies[:played] if move is not None]
            if len(moves) == played and (position := _replayed(line.fen, moves)) is not None:
                positions.append(position)
    return positions


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


class ExploredMove(NamedTuple):
    """A move in a position: the results of its games, the mean rating, and medians of think times and clocks."""

    san: str
    uci: str
    position: str
    games: int
    white: int
    draws: int
    black: int
    rating: int | None
    think_ms: int | None
    clock_ms: int | None


class Explored(NamedTuple):
    """What was played in a position, most games first; in ``ended`` games no move is known after it."""

    games: int
    ended: int
    moves: Sequence[ExploredMove]
    places: Mapping[str, Occurrence]  # where each game reached it first, newest game first


def explore(archive: ArchiveStore, where: GameFilter, limit_s: float | None = None) -> Explored:
    """Games that are not indexed do not count."""
    import chess

    assert where.position is not None
    hits = occurrences_of(archive, where.position, replace(where, position=None), limit_s)
    board = chess.Board(f"{where.position} 0 1")
    places = dict(reversed({hit.key: hit for hit in reversed(hits)}.items()))
    played: dict[int | None, list[Occurrence]] = defaultdict(list)
    for hit in hits:
        played[hit.move].append(hit)
    moves = {}
    for move, those in played.items():
        if (
            move is not None
            and (explored := _explored(board, chess.Move.from_uci(decode_move(move)), those)) is not None
        ):
            moves[move] = explored
    ended = {hit.key for move, those in played.items() if move not in moves for hit in those}
    if ended:  # the position may occur twice in a game
        ended.difference_update(hit.key for move in moves for hit in played[move])
    return Explored(len(places), len(ended), sorted(moves.values(), key=lambda move: (-move.games, move.san)), places)


def _explored(board: chess.Board, move: chess.Move, those: Sequence[Occurrence]) -> ExploredMove | None:
    """A move with the position after it; None: the log shows it, and it is not legal."""
    if not board.is_legal(move):
        return None
    after = board.copy(stack=False)
    after.push(move)
    keys, _, _, _, thinks, clocks, *facts = zip(*those, strict=True)
    results, ratings = ([*dict(zip(keys, row, strict=True)).values()] for row in facts)  # it may occur twice in a game
    return ExploredMove(
        board.san(move),
        move.uci(),
        after.epd(),
        len(results),
        results.count("1-0"),
        results.count("1/2-1/2"),
        results.count("0-1"),
        _middle(ratings, fmean),
        _middle(thinks, median),
        _middle(clocks, median),
    )


def _middle(values: Iterable[int | None], middle: Callable[[list[int]], float]) -> int | None:
    """The middle of the known values, rounded half up; None: of nothing."""
    known = [value for value in values if value is not None]
    return int(middle(known) + 0.5) if known else None
