"""The boards of many games at once: replayed in arrays, and written as FEN.

Moves were proved when they were read; here they are only played. A square holds 0, or 1-6 for White's P N B R Q K and
9-14 for Black's; squares are a1 = 0 … h8 = 63, moves as in ``recorder.rules.position``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from recorder.model import Origin, Proof
from storage.read.columns import NULL, PlyArrays

_EMPTY = re.compile("[1-8]")
NORMAL_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
LETTERS = ".PNBRQK..pnbrqk"


_KING, _ROOK, _BLACK = 6, 4, 8
_STARTS_CASTLING = np.array([file in "de" for file in "abcdefgh"])  # the king of wild 0 and 1 may begin on d


_OFFICER = np.array([2 <= code & 7 <= 5 for code in range(16)])  # queens, rooks, bishops, knights
_POINTS = np.array([0, 1, 3, 3, 5, 9, 0, 0, 0, -1, -3, -3, -5, -9, 0, 0])


_OPENING_OFFICERS, _ENDGAME_OFFICERS, _FULL_RANK = 10, 6, 4


_FIELD = re.compile(r"[PNBRQKpnbrqk1-8~]+(?:/[PNBRQKpnbrqk1-8~]+){7}")
_PROVED = (Proof.FULL.value, Proof.LIST.value, Proof.INFERRED.value)
_DROPS = frozenset(("crazyhouse", "bughouse"))
_OTHER_ARMIES = frozenset(("horde", "racing-kings"))
_OF_CHESS = _DROPS | _OTHER_ARMIES | frozenset(
    (
        "chess", "chess960", "suicide", "giveaway", "antichess", "losers", "atomic", "three-check",
        "king-of-the-hill", "wildcastle", "nocastle", "twokings",
    )
)  # fmt: skip


def _neighbours() -> NDArray[np.bool_]:
    """[square, other]: whether an explosion on the one reaches the other."""
    file, rank = np.arange(64) & 7, np.arange(64) >> 3
    near: NDArray[np.bool_] = (abs(file[:, None] - file) <= 1) & (abs(rank[:, None] - rank) <= 1)
    return near


def is_played_here(variant: str | None) -> bool:
    """Whether boards of this variant can be replayed: pieces of chess that move as in chess. None: taken as chess."""
    return variant is None or variant in _OF_CHESS or variant.startswith("wild/")


def has_phases(variant: str | None) -> bool:
    """Whether opening, middlegame and endgame mean something: not where pieces come back, or armies are others."""
    return is_played_here(variant) and variant not in _DROPS and variant not in _OTHER_ARMIES


@lru_cache(maxsize=4096)
def board_of_fen(fen: str) -> bytes | None:
    """64 squares of a FEN's first field; None: it is no board of eight by eight with pieces of chess."""
    field = fen.split(" ", 1)[0].split("[", 1)[0]
    if not _FIELD.fullmatch(field):
        return None
    text = _EMPTY.sub(lambda digit: "." * int(digit[0]), field.replace("~", ""))
    ranks = text.split("/")
    if any(len(rank) != 8 for rank in ranks):
        return None
    return bytes(LETTERS.index(letter) for rank in reversed(ranks) for letter in rank)


class Moves(NamedTuple):
    """The main lines of games, one after the other.

    Attributes:
        starts: the row at which each game begins, and the number of rows as the last one.
        ply, move, proof, origin: of each row; ``move`` is -1 where it is not known.
        atomic, phased: of each game: captures explode; its plies have a phase.
        before, after: for each row the number in ``boards`` of a position that was seen before or after it, or -1.
            Before it only where the row above does not lead there.
        boards: positions that were seen.
    """

    starts: NDArray[np.int64]
    ply: NDArray[np.int64]
    move: NDArray[np.int64]
    proof: NDArray[np.int64]
    origin: NDArray[np.int64]
    atomic: NDArray[np.bool_]
    phased: NDArray[np.bool_]
    before: NDArray[np.int64]
    after: NDArray[np.int64]
    boards: Sequence[bytes]


class Replayed(NamedTuple):
    """``phase``: of each row an index in ``columns.PHASES``, or -1. ``boards``: after each row if they were asked for.

    ``known``: whether the board after the row is known.
    """

    phase: NDArray[np.int8]
    known: NDArray[np.bool_]
    boards: NDArray[np.uint8] | None


def replay(moves: Moves, *, keep: bool = False) -> Replayed:
    """Play all games.

    A phase is that of the position before the move and lasts until the next one begins: the middlegame when at most 10
    queens, rooks, bishops and knights are left or a side has fewer than four pieces on its own first rank, the endgame
    when at most 6 of those pieces are left. Source: the "Divider" of lichess, without its measure of how mixed the
    armies are. ``keep``: also return the boards after each row, 64 bytes a row.
    """
    lengths = np.diff(moves.starts)
    order = np.argsort(-lengths, kind="stable")  # games that go on are always the first ones
    first, lengths = moves.starts[:-1][order], lengths[order]
    seen = np.frombuffer(b"".join(moves.boards), dtype=np.uint8).reshape(-1, 64)
    officers_seen = _OFFICER[seen].sum(axis=1)
    proved = np.isin(moves.proof, _PROVED)
    # Of a cut frame only the pretty move is missing: see ``exporters.pgn.parts``.
    proved |= (moves.proof == Proof.UNPROVED.value) & (moves.origin == Origin.FRAME.value) & (moves.move < 1 << 15)
    playable = proved & (moves.move >= 0)
    goes_on = np.zeros(len(moves.ply), dtype=bool)
    goes_on[1:] = moves.ply[1:] == moves.ply[:-1] + 1
    board = np.zeros((len(order), 64), dtype=np.uint8)
    valid = np.zeros(len(order), dtype=bool)
    officers = np.zeros(len(order), dtype=np.int64)
    reached = np.zeros(len(order), dtype=np.int8)
    atomic, phased = moves.atomic[order], moves.phased[order]
    phase = np.full(len(moves.ply), -1, dtype=np.int8)
    known = np.zeros(len(moves.ply), dtype=bool)
    kept = np.zeros((len(moves.ply), 64), dtype=np.uint8) if keep else None
    for step in range(int(lengths[0]) if len(lengths) else 0):
        active = int(np.searchsorted(-lengths, -step, side="left"))  # those longer than ``step``
        rows = first[:active] + step
        if step:
            valid[:active] &= goes_on[rows]
        _set_up(moves.before[rows], seen, officers_seen, board, valid, officers)
        reached[:active] = np.maximum(reached[:active], _phase_now(board[:active], officers[:active]))
        phase[rows] = np.where(valid[:active] & phased[:active], reached[:active], np.int8(-1))
        valid[:active] &= playable[rows]
        at = np.flatnonzero(valid[:active])
        _play(board, at, moves.move[rows[at]], moves.ply[rows[at]], atomic, officers, valid)
        _set_up(moves.after[rows], seen, officers_seen, board, valid, officers)
        known[rows] = valid[:active]
        if kept is not None:
            kept[rows] = board[:active]
    return Replayed(phase, known, kept)


def material(boards: NDArray[np.uint8]) -> NDArray[np.int64]:
    """White's pieces less Black's on each board: a pawn 1, knight and bishop 3, rook 5, queen 9."""
    points: NDArray[np.int64] = _POINTS[boards].sum(axis=1)
    return points


def _set_up(
    which: NDArray[np.int64],
    seen: NDArray[np.uint8],
    officers_seen: NDArray[np.int64],
    board: NDArray[np.uint8],
    valid: NDArray[np.bool_],
    officers: NDArray[np.int64],
) -> None:
    """Put positions that were seen on the boards of their games."""
    at = np.flatnonzero(which >= 0)
    if len(at):
        board[at] = seen[which[at]]
        officers[at] = officers_seen[which[at]]
        valid[at] = True


def _phase_now(board: NDArray[np.uint8], officers: NDArray[np.int64]) -> NDArray[np.int8]:
    """What the rule says of each position alone."""
    own = (board[:, :8] - np.uint8(1) < 6).sum(axis=1)  # White's pieces are 1-6
    other = (board[:, 56:] >= _BLACK).sum(axis=1)
    middle = (officers <= _OPENING_OFFICERS) | (own < _FULL_RANK) | (other < _FULL_RANK)
    return np.where(officers <= _ENDGAME_OFFICERS, np.int8(2), middle.astype(np.int8))


def _play(
    board: NDArray[np.uint8],
    at: NDArray[np.int64],
    move: NDArray[np.int64],
    ply: NDArray[np.int64],
    atomic: NDArray[np.bool_],
    officers: NDArray[np.int64],
    valid: NDArray[np.bool_],
) -> None:
    """Play one move on each of the boards ``at``; a board without a piece of the mover there becomes unknown."""
    squares = board.reshape(-1)
    origin, target, extra = move & 63, move >> 6 & 63, move >> 12
    colour = np.where(ply & 1, 0, _BLACK)
    drop = extra >= 8
    man = np.where(drop, (extra - 8) % 6 + 1 + colour, squares[at * 64 + origin])
    kind = man & 7
    right = (kind > 0) & ((man & _BLACK) == colour)
    valid[at[~right]] = False
    at, origin, target, extra, colour, drop, man, kind = (
        values[right] for values in (at, origin, target, extra, colour, drop, man, kind)
    )
    taken = squares[at * 64 + target]
    across = (target & 7) - (origin & 7)
    corner = squares[at * 64 + (origin & 56) + np.where(across > 0, 7, 0)]
    two_files = (abs(across) == 2) & (origin >> 3 == target >> 3) & _STARTS_CASTLING[origin & 7]
    castles = (kind == _KING) & ~drop
    castles &= (taken == _ROOK + colour) | (two_files & (corner == _ROOK + colour))
    plain = ~castles
    squares[(at * 64 + origin)[plain & ~drop]] = 0
    en_passant = plain & ~drop & (kind == 1) & (across != 0) & (taken == 0)
    squares[(at * 64 + (origin & 56) + (target & 7))[en_passant]] = 0
    made = np.where(~drop & (extra > 0), extra + 1 + colour, man)
    squares[(at * 64 + target)[plain]] = made[plain]
    change = _OFFICER[made].astype(np.int64) - np.where(drop, 0, _OFFICER[man]) - _OFFICER[taken]
    officers[at] += np.where(plain, change, 0)
    if castles.any():
        _castle(board, at[castles], origin[castles], target[castles], taken[castles], colour[castles])
    explodes = atomic[at] & plain & ((taken > 0) | en_passant)
    if explodes.any():
        where, centre = at[explodes], target[explodes]
        blown = _NEAR[centre] & ((board[where] & 7) != 1)
        blown[np.arange(len(where)), centre] = True
        board[where] = np.where(blown, 0, board[where])
        officers[where] = _OFFICER[board[where]].sum(axis=1)


def _castle(
    board: NDArray[np.uint8],
    at: NDArray[np.int64],
    origin: NDArray[np.int64],
    target: NDArray[np.int64],
    taken: NDArray[np.uint8],
    colour: NDArray[np.int64],
) -> None:
    """King takes rook (chess960): to c and d, or g and f. Else its two files: the corner's rook goes beside it."""
    rank, short = origin & 56, (target & 7) > (origin & 7)
    onto_rook = taken == _ROOK + colour
    king = np.where(onto_rook, rank + np.where(short, 6, 2), target)
    rook_from = np.where(onto_rook, target, rank + np.where(short, 7, 0))
    rook_to = np.where(short, king - 1, king + 1)
    board[at, origin] = 0
    board[at, rook_from] = 0
    board[at, king] = _KING + colour
    board[at, rook_to] = _ROOK + colour


_NEAR = _neighbours()
_EMPTY_SQUARES = re.compile(r"\.+")
_CASTLING = tuple("".join(letter for bit, letter in enumerate("KQkq") if code >> bit & 1) or "-" for code in range(16))


def fens(
    played: Replayed, plies: PlyArrays, white_holdings: NDArray[np.object_], black_holdings: NDArray[np.object_]
) -> NDArray[np.object_]:
    """The position after each row; None where the board is not known.

    The en passant square is written where a pawn is next to the one that was pushed, pinned or not. Holdings follow the
    board in brackets where they were printed. Unknown castling rights and half-moves are ``-`` and 0.
    """
    assert played.boards is not None
    boards = np.ascontiguousarray(played.boards)
    ranks = boards.view(np.uint64)
    codes, place = np.unique(ranks, return_inverse=True)
    words = np.array([_word(code.tobytes()) for code in codes], dtype=object)[place.reshape(ranks.shape)]
    found: NDArray[np.object_] = words[:, 7]
    for rank in range(6, -1, -1):
        found = found + "/" + words[:, rank]
    for row in np.flatnonzero([hand is not None for hand in white_holdings]).tolist():
        found[row] += f"[{white_holdings[row]}{black_holdings[row].lower()}]"
    flags = np.where(plies.flags == NULL, 0, plies.flags)
    white = plies.ply & 1 == 1
    found = found + np.where(white, " b ", " w ").astype(object) + np.array(_CASTLING, dtype=object)[flags & 15]
    found = found + " " + _en_passant(boards, flags >> 4, white) + " "
    still = np.where(plies.irreversible == NULL, 0, np.maximum(plies.irreversible, 0))
    found = found + still.astype(str).astype(object) + " " + ((plies.ply >> 1) + 1).astype(str).astype(object)
    found[~played.known] = None
    return found


def _word(squares: bytes) -> str:
    return _EMPTY_SQUARES.sub(lambda run: str(len(run[0])), "".join(LETTERS[code] for code in squares))


def _en_passant(boards: NDArray[np.uint8], pushed: NDArray[np.int64], white: NDArray[np.bool_]) -> NDArray[np.object_]:
    """``e3``, or ``-``; ``pushed`` is the file of a double push just made and 1, or 0."""
    found = np.full(len(boards), "-", dtype=object)
    rows = np.flatnonzero(pushed > 0)
    file, by_white = pushed[rows] - 1, white[rows]
    rank = np.where(by_white, 24, 32)
    taker = np.where(by_white, 9, 1)
    beside = (file > 0) & (boards[rows, rank + np.maximum(file - 1, 0)] == taker)
    beside |= (file < 7) & (boards[rows, rank + np.minimum(file + 1, 7)] == taker)
    names = np.array([f"{letter}{number}" for number in (6, 3) for letter in "abcdefgh"], dtype=object)
    found[rows[beside]] = names[(file + np.where(by_white, 8, 0))[beside]]
    return found
