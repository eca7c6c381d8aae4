"""Frames into plies: the values a frame gives, and the rules tried in order when the first ones refuse."""

from __future__ import annotations

import re

from recorder.events.frames import Style12
from recorder.model import Origin, Ply, Proof, StartFacts
from recorder.rules.bridge import bridge
from recorder.rules.fen import can_follow, frames_position, has_plain_board, start_position
from recorder.rules.position import Position, Rules, encode_move
from recorder.rules.prove import Step, advance
from recorder.rules.tables import index_of
from recorder.rules.variants import STANDARD_BOARD
from recorder.tracking.tracked_game import TrackedGame

_RANKS = "12345678"
_QUIET = re.compile(r"([PNBQ])/([a-h][1-8])-([a-h][1-8])")
_WILD_CASTLINGS = ("o-o", "o-o-o", "K/d1-b1", "K/d1-f1", "K/d8-b8", "K/d8-f8")


def frame_position(frame: Style12, rules: Rules, holdings: tuple[str, str] | None = None) -> Position:
    push = frame.push_file
    if not -1 <= push < frame.width:
        push = -1  # one server prints uninitialised memory here after castling
    return start_position(frame.board, frame.white_to_move, frame.castling, push, rules, holdings)


def ply_from_frame(
    frame: Style12, ply: int, move: int | None, san: str, after: Position, proof: Proof, lag_meaningless: bool
) -> Ply:
    """``move`` None: only the texts are known; the squares are read from the verbose move."""
    white_ms, black_ms, elapsed_ms, lag_ms, precision = frame.times
    if move is None and after.rules is not Rules.FRAMES:  # squares of other boards have no number
        move = lan_move(frame.verbose)
    flags = after.castling | (after.push_col + 1) << 4
    return Ply(
        ply, move, san, white_ms, black_ms, elapsed_ms, None if lag_meaningless else lag_ms, frame.at_ms, flags,
        frame.irreversible, int(proof), int(Origin.FRAME), precision, frame.offset,
    )  # fmt: skip


def lan_move(verbose: str) -> int | None:
    """``P/e2-e4``, ``P/e7-e8=Q`` or ``N/@@-f3`` as ``encode_move``'s integer; None for castling and anything else."""
    if len(verbose) < 7 or verbose[1] != "/" or verbose[4] != "-":
        return None
    if verbose[6] not in _RANKS or verbose[3] not in _RANKS + "@":
        return None
    promotion = verbose[8:9].lower() if verbose[7:8] == "=" else ""
    squares = f"{verbose[0]}@{verbose[5:7]}" if verbose[2:4] == "@@" else verbose[2:4] + verbose[5:7] + promotion
    try:
        return encode_move(squares)
    except (ValueError, IndexError):
        return None


def start_facts(frame: Style12) -> StartFacts:
    """What the first board of an observation prints: its move is not a ply of ours."""
    white_ms, black_ms, elapsed_ms, lag_ms, precision = frame.times
    return StartFacts(
        frame.ply, frame.verbose, frame.pretty or "",
        elapsed_ms, white_ms, black_ms, lag_ms, frame.at_ms, precision, frame.offset,
    )  # fmt: skip


def first_move(frame: Style12, rules: Rules, board: str, castling: int) -> tuple[Position, Step] | None:
    """In bughouse a hand may have pieces before it. None: no move leads to the board and the rights shown."""
    if type(frame) is not Style12 or not frame.has_move or frame.partial or rules is Rules.BUGHOUSE:
        return None
    before = start_position(board, True, castling, -1, rules, ("", "") if rules is Rules.CRAZYHOUSE else None)
    played = advance(before, frame.verbose, frame.pretty, frame.board)
    if isinstance(played, str):
        return None
    return (before, played) if rules is Rules.SUICIDE or played[2].castling == frame.castling else None


def start_before(frame: Style12) -> tuple[str, int] | None:
    """None if the move takes something, or is of king or rook: then the piece, or the rights, are unknown."""
    match = _QUIET.fullmatch(frame.verbose)
    if match is None or "x" in (frame.pretty or "x") or frame.white_to_move or not has_plain_board(frame.board):
        return None
    letter, origin, target = match.groups()
    if letter == "P" and origin[0] != target[0]:
        return None
    left, reached = index_of(origin), index_of(target)
    squares = list(frame.board)
    if squares[left] != "-" or squares[reached] != letter:
        return None
    squares[left], squares[reached] = letter, "-"
    return "".join(squares), frame.castling


def try_rules(run: TrackedGame, frame: Style12) -> tuple[int, str, Position] | None:
    position = run.position
    if position is None or not frame.has_move or position.rules is Rules.FRAMES:
        return None
    pretty = frame.pretty
    played = advance(position, frame.verbose, pretty, frame.board)
    if isinstance(played, tuple):
        return played
    if _may_be_wild_castling(run, position, frame):
        castled = advance(position._replace(rules=Rules.WILD), frame.verbose, pretty, frame.board)
        if isinstance(castled, tuple):
            move, san, after = castled
            # Only this move is not chess as we know it: continue by the rules.
            after = start_position(
                after.board, after.white_to_move, after.castling, after.push_col, position.rules, position.holdings
            )
            return move, san, after
    if position.rules is Rules.BOARDS or run.rules_stated or run.variant == "wild":
        return None
    by_boards = advance(position._replace(rules=Rules.BOARDS), frame.verbose, pretty, frame.board)
    if isinstance(by_boards, tuple):
        run.variant, run.variant_inferred = "unknown", True
        return by_boards
    return None


def shown_by_boards(run: TrackedGame, frame: Style12) -> tuple[int | None, str, Position] | None:
    """By its texts and both boards: servers have rules of their own. The move is None on boards that no rules read."""
    position = run.position
    if position is not None and position.rules is Rules.FRAMES:
        if not can_follow(position, frame.verbose, frame.board, frame.white_to_move):
            return None
        after = frames_position(frame.board, frame.white_to_move, frame.castling)
        return None, frame.pretty or frame.verbose, after
    if position is None or not frame.has_move or not position.rules.apart or position.rules is Rules.BOARDS:
        return None
    literal = position._replace(rules=Rules.BOARDS)
    step = advance(literal, frame.verbose, frame.pretty, frame.board)
    if not isinstance(step, tuple):
        return None
    move, san, after = step
    rules, holdings = position.rules, position.holdings
    return move, san, start_position(after.board, after.white_to_move, after.castling, after.push_col, rules, holdings)


def bridged(position: Position, frame: Style12, missing: int) -> list[tuple[int, str, Position]] | None:
    """The plies from a position to a frame if ``missing`` (1 or 2) unseen ones can be filled in exactly one way."""
    if not 1 <= missing <= 2 or not frame.has_move or frame.pretty is None:
        return None
    ways = bridge(position, frame.board, frame.verbose, frame.pretty, missing)
    return ways[0] if len(ways) == 1 else None


def _may_be_wild_castling(run: TrackedGame, position: Position, frame: Style12) -> bool:
    """Some servers print the castling of a king on d as its two steps."""
    first = run.start_frame
    shuffled = first is not None and first.board != STANDARD_BOARD
    if position.rules not in (Rules.CHESS, Rules.CHESS960) or (run.rules_stated and not shuffled):
        return False
    return frame.verbose in _WILD_CASTLINGS
