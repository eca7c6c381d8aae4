"""Boards of examined games: where the product says each was shown, replayed by python-chess, against the raw frames."""

from collections.abc import Callable

import chess

from recorder.model import EventKind, Game, GameKind, Observation
from tests.support.frames import Reading


def compare_boards(games: list[Game], reading: Reading) -> tuple[int, list[str]]:
    """Compare every board of relation 2 and -2 with the place in the tree that its event ``shown`` names.

    A board without a move and without an event is one of the set-up mode, where pieces are put one by one.

    Returns:
        How many were compared, and a sentence for each that is not there or is another.
    """
    shown = {
        reading.line_of(event.offset): (event.ply, board_at(event.value or 0, event.ply))
        for game in games
        if game.kind is not GameKind.PLAYED
        for seen in game.observations
        for board_at in [_replay(seen)]
        for event in seen.events
        if event.kind is EventKind.EXAMINE and event.detail == "shown"
    }
    compared, problems = 0, []
    for offset, frame in reading.frames_by_line.items():
        if frame.relation not in (2, -2) or (offset not in shown and frame.verbose == "none"):
            continue
        compared += 1
        ply, board = shown.get(offset, (None, None))
        if (ply, None if board is None else board.board_fen()) != (frame.ply, frame.board):
            problems.append(f"the board at {offset} is ply {frame.ply} {frame.board}, in the tree {ply} {board}")
    return compared, problems


def _replay(seen: Observation) -> Callable[[int, int], chess.Board | None]:
    """A function that gives the board of a line after a ply; None where the tree does not reach."""
    lines = {line.number: line for line in seen.lines}
    anchors = {(anchor.line, anchor.ply): anchor.fen for anchor in seen.anchors}
    known: dict[tuple[int, int], chess.Board | None] = {}

    def board_at(number: int, ply: int) -> chess.Board | None:
        if (number, ply) not in known:
            known[number, ply] = reckoned(number, ply)
        return known[number, ply]

    def reckoned(number: int, ply: int) -> chess.Board | None:
        if (number, ply) in anchors:
            return chess.Board(anchors[number, ply])
        line = lines.get(number)
        if line is None:
            return None
        if line.parent is not None and ply <= (line.parent_ply or 0):
            return board_at(line.parent, ply)
        move = next((played.uci for played in line.plies if played.ply == ply), None)
        if move is None:
            return chess.Board() if (number, ply) == (0, 0) else None
        before = board_at(number, ply - 1)
        if before is None:
            return None
        board = before.copy()
        board.push_uci(move)
        return board

    return board_at
