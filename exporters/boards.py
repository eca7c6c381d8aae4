"""The pieces on the board and in hand after each ply of a game.

Boards carry out proved moves and judge nothing. Pieces in hand are those that the server printed; those of a saved
bughouse match follow from its moves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from exporters.pgn.parts import PgnPart, cut_into_parts, is_chess_fen
from recorder.model import (
    Game,
    HoldingsChange,
    Observation,
    Origin,
    Ply,
)
from recorder.rules.position import decode_move

if TYPE_CHECKING:
    from recorder.relating.match import Match


__all__ = [
    "Board",
    "BothHoldings",
    "START",
    "board_text",
    "boards_by_ply",
    "apply_move",
    "final_board",
    "first_board",
    "holdings_after",
    "match_holdings",
    "holdings_lines",
    "play",
    "read_placement",
    "plies_with_holdings",
    "write_placement",
]
BothHoldings = tuple[str | None, str | None]
_UNKNOWN: BothHoldings = (None, None)
_PIECES = "PNBRQ"
_OFFSET = attrgetter("offset")
_NOT_SHOWN = frozenset((Origin.MOVELIST.value, Origin.INFERRED.value))


def holdings_lines(seen: Observation) -> list[HoldingsChange]:
    """An observation's plain holdings lines in the order of their offsets.

    Lines with a passed piece may precede the frame they belong to, so they are not the state after a ply.
    """
    return sorted((change for change in seen.holdings if change.passed is None), key=_OFFSET)


def holdings_after(ply: Ply, changes: list[HoldingsChange]) -> BothHoldings:
    """White's and Black's letters after a ply: from the first plain line behind the ply's own, else those before it.

    Only lines that change the holdings are stored: a ply without one has those of the line before it.
    None where no line is, and for plies that no board showed. Source: servers print a plain ``<b1>`` directly after
    every board of a game with holdings.
    """
    if not changes or ply.origin_code in _NOT_SHOWN:
        return _UNKNOWN
    place = bisect_right(changes, ply.offset, key=_OFFSET)
    if place == len(changes) or changes[place].ply != ply.ply:
        place -= 1
    return _UNKNOWN if place < 0 else (changes[place].white, changes[place].black)


def match_holdings(match: Match) -> dict[str, dict[int, BothHoldings]]:
    """Derive holdings by board and ply from both boards' captures and drops, for a match without holdings lines.

    A saved match (BPGN) contains the order of all moves and no holdings. Nothing is derived where holdings were
    printed, where the order is not known, or from the first move on whose capture or drop is unknown.
    """
    from recorder.relating.match import (
        captures,  # it loads the rules, which most exports do not need
        timeline,
    )

    found: dict[str, dict[int, BothHoldings]] = {"A": {}, "B": {}}
    games = {"A": match.a, "B": match.b}
    moments = timeline(match)
    if any(seen.holdings for game in games.values() for seen in game.observations) or not all(
        moment.certain for moment in moments
    ):
        return found
    if any(game.start_ply or game.start_fen is not None for game in games.values()):
        return found
    taken = {letter: {one.ply: one for one in captures(game)} for letter, game in games.items()}
    holdings = {(letter, white): "" for letter in "AB" for white in (True, False)}
    last = dict.fromkeys("AB", 0)
    for moment in moments:
        letter, ply = moment.board, moment.ply
        capture = taken[letter].get(ply.ply)
        certain = ply.move is not None and ply.ply == last[letter] + 1 and ("x" in ply.san) is (capture is not None)
        own, other = (letter, ply.white_moved), ("B" if letter == "A" else "A", not ply.white_moved)
        if certain and "@" in ply.san:
            piece = ply.san[0] if ply.san[0] != "@" else "P"
            certain = piece in holdings[own]
            holdings[own] = holdings[own].replace(piece, "", 1)
        if capture is not None:
            certain = certain and len(capture.pieces) == 1
            holdings[other] = "".join(sorted(holdings[other] + capture.pieces, key=_PIECES.index))
        if not certain:
            break
        last[letter] = ply.ply
        found[letter][ply.ply] = holdings[letter, True], holdings[letter, False]
    return found


def plies_with_holdings(game: Game) -> Iterator[tuple[Ply, BothHoldings]]:
    """The main line's plies, each with the holdings after it."""
    if not any(seen.holdings for seen in game.observations):
        for ply in game.plies:
            yield ply, _UNKNOWN
        return
    for segment in game.segments:
        seen = game.observations[segment.observation]
        changes = holdings_lines(seen)
        for ply in seen.lines[0].plies:
            if segment.from_ply <= ply.ply <= segment.to_ply:
                yield ply, holdings_after(ply, changes)


START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR"
#: Square → letter; upper case is White's.
Board = dict[str, str]


def read_placement(placement: str) -> Board:
    """The board of a FEN's first field; without pieces in hand and promotion marks."""
    board: Board = {}
    for rank, row in zip("87654321", placement.split("[")[0].split("/"), strict=True):
        column = 0
        for char in row:
            if char.isdigit():
                column += int(char)
            elif char != "~":
                board["abcdefgh"[column] + rank] = char
                column += 1
    return board


def write_placement(board: Board) -> str:
    """The first field of a FEN, without holdings."""
    rows = []
    for rank in "87654321":
        row, empty = "", 0
        for file in "abcdefgh":
            piece = board.get(file + rank)
            if piece is None:
                empty += 1
                continue
            row += (str(empty) if empty else "") + piece
            empty = 0
        rows.append(row + (str(empty) if empty else ""))
    return "/".join(rows)


def play(board: Board, uci: str, white: bool) -> None:
    """Carry out a move on a board; castling may be king takes rook or king moves two files."""
    to = uci[2:4]
    if uci[1] == "@":
        board[to] = uci[0].upper() if white else uci[0].lower()
        return
    origin = uci[:2]
    piece = board.pop(origin, "?")
    if piece in "Kk":
        rook = "R" if white else "r"
        takes_rook = board.get(to) == rook
        if not takes_rook and origin[0] == "d" and to[0] in "bf" and origin[1] == to[1]:  # the castling of wild 0 and 1
            board.pop(("a" if to[0] == "b" else "h") + origin[1], None)
            board[("c" if to[0] == "b" else "e") + origin[1]] = rook
        if takes_rook or (origin[0] == "e" and to[0] in "cg" and origin[1] == to[1]):
            short = to[0] > origin[0]
            corner = to if takes_rook else ("h" if short else "a") + origin[1]
            board.pop(corner, None)
            board[("g" if short else "c") + origin[1]] = piece
            board[("f" if short else "d") + origin[1]] = rook
            return
    if piece in "Pp" and origin[0] != to[0] and to not in board:
        board.pop(to[0] + origin[1], None)  # en passant
    if len(uci) > 4:
        piece = uci[4].upper() if white else uci[4].lower()
    board[to] = piece


def apply_move(board: Board, ply: Ply, variant: str | None) -> None:
    """Play a ply whose squares are known; a capture in atomic explodes."""
    assert ply.move is not None
    play(board, decode_move(ply.move), ply.white_moved)
    if variant == "atomic" and "x" in ply.san:
        _explode(board, decode_move(ply.move)[2:4])


def first_board(part: PgnPart) -> Board | None:
    """The board at the beginning of a part; None: it is not known, or none of chess."""
    if part.fen is None and part.start_ply:
        return None
    if part.fen is not None and not is_chess_fen(part.fen):
        return None
    return read_placement((part.fen or START).split()[0])


def boards_by_ply(game: Game) -> dict[int, Board]:
    """The boards of the main line that are known, by ply; the one before the first move too."""
    found: dict[int, Board] = {}
    for part in cut_into_parts(game):
        board = first_board(part)
        if board is None:
            continue
        found.setdefault(part.start_ply, dict(board))
        for ply in part.plies:
            if ply.move is None:
                break
            apply_move(board, ply, game.variant)
            found[ply.ply] = dict(board)
    return found


def final_board(game: Game) -> Board | None:
    """The board after the last proved ply.

    Returns:
        Square → letter (upper case is White's), or None if no position of the game is known.
    """
    part = cut_into_parts(game)[-1]
    board = first_board(part)
    if board is None:
        return None
    for ply in part.plies:
        if ply.move is None:
            return None
        apply_move(board, ply, game.variant)
    return board


def board_text(board: Board) -> str:
    """Eight lines, White below."""
    rows = (f"{rank}  " + " ".join(board.get(file + rank, ".") for file in "abcdefgh") for rank in "87654321")
    return "\n".join([*rows, "   a b c d e f g h"])


def _explode(board: Board, at: str) -> None:
    """An atomic capture: what stands on the square, and all but pawns next to it, is gone."""
    for file in range(ord(at[0]) - 1, ord(at[0]) + 2):
        for rank in range(int(at[1]) - 1, int(at[1]) + 2):
            square = f"{chr(file)}{rank}"
            if square == at or board.get(square, "P") not in "Pp":
                board.pop(square, None)
