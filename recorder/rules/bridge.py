"""Gaps of one or two unseen plies: the legal sequences that join two boards.

A frame shows the board and the last move; when the frames before it were lost, the moves in between are inferred only
if exactly one legal sequence leads to that board by that last move. The search is complete: it skips only moves
that provably cannot reach the board, because every ply changes a few known squares.
"""

from __future__ import annotations

from collections.abc import Iterator

from recorder.rules.legality import pseudo_legal
from recorder.rules.notation import castle_side, split_verbose
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, advance
from recorder.rules.tables import NAMES, SQUARES

_MOST_TOUCHED = 4  # castling; en passant touches 3 squares, other moves 2
_RULES = (Rules.CHESS, Rules.CRAZYHOUSE)


def bridge(before: Position, after: str, lan: str, pretty: str, missing: int) -> list[list[Step]]:
    """At most two sequences of ``missing + 1`` steps, the last one proved against the frame; two: the gap stays."""
    if before.rules not in _RULES or missing not in (1, 2) or len(after) != 71:
        return []
    if before.rules is Rules.CRAZYHOUSE and before.holdings is None:
        return []
    # The frame's own move changes only ``last``; every other square must look like ``after`` before that move is made.
    # So the unseen plies need not be guessed: of all legal moves those remain that leave few open squares different.
    white_moves_last = before.white_to_move if missing == 2 else not before.white_to_move
    last = _touched(lan, white_moves_last)
    if not last:
        return []
    open_squares = frozenset(SQUARES) - last
    ways: list[list[Step]] = []
    for steps in _sequences(before, after, open_squares, missing):
        step = advance(steps[-1][2], lan, pretty, after)
        if not isinstance(step, str):
            ways.append([*steps, step])
            if len(ways) == 2:  # two ways prove nothing, and more are of no interest
                break
    return ways


def _sequences(position: Position, after: str, open_squares: frozenset[int], missing: int) -> Iterator[list[Step]]:
    """Legal sequences after which every square that the last move leaves alone stands as in ``after``."""
    for step in _steps(position, after, open_squares, _MOST_TOUCHED * (missing - 1)):
        if missing == 1:
            yield [step]
        else:
            for rest in _sequences(step[2], after, open_squares, 1):
                yield [step, *rest]


def _steps(position: Position, after: str, open_squares: frozenset[int], allowed: int) -> Iterator[Step]:
    """The legal moves after which at most ``allowed`` open squares differ from ``after``."""
    different = {square for square in open_squares if position.board[square] != after[square]}
    for lan, touched in _moves(position):
        if len(different - touched) > allowed:  # cheap, and excludes nearly all moves before one is played
            continue
        step = advance(position, lan, None, None)
        if isinstance(step, str):
            continue
        board = step[2].board
        if sum(board[at] != after[at] for at in (different | touched) & open_squares) <= allowed:
            yield step


def _moves(position: Position) -> Iterator[tuple[str, frozenset[int]]]:
    """Every verbose text that may be legal, with the squares that it can change."""
    white = position.white_to_move
    for letter, origin, target in pseudo_legal(position):
        lan = f"{letter}/{NAMES[origin]}-{NAMES[target]}"
        touched = frozenset((origin, target, origin // 9 * 9 + target % 9 if letter == "P" else target))
        if letter == "P" and target // 9 in (0, 7):
            for promotion in "QRBN":
                yield f"{lan}={promotion}", touched
        else:
            yield lan, touched
    for castling in ("o-o", "o-o-o"):
        yield castling, _touched(castling, white)
    hand = "" if position.holdings is None else position.holdings[not white]
    for letter in sorted(set(hand)):
        for square in SQUARES:
            if position.board[square] == "-":
                yield f"{letter}/@@-{NAMES[square]}", frozenset((square,))


def _touched(lan: str, white: bool) -> frozenset[int]:
    """The squares that a verbose move can change; empty where it is unreadable."""
    if castle_side(lan) is not None:
        return frozenset(range(63, 71) if white else range(8))
    parts = split_verbose(lan)
    if parts is None:
        return frozenset()
    letter, origin, target, _ = parts
    if origin < 0:
        return frozenset((target,))
    return frozenset((origin, target, origin // 9 * 9 + target % 9 if letter == "P" else target))
