"""Games of a replay that are looked at without its time: examined, or listed as stored games."""

from __future__ import annotations

import re
from typing import Final

from recorder.cecp.moves import parse_move
from recorder.model import EventKind, Game, Origin, Ply, Precision, Proof
from recorder.replay.boards import ReplayBoard
from recorder.replay.moments import Begin, ShownPly, moments_of_game
from recorder.replay.server.session import ReplaySession
from recorder.tracking.engines.view import play_move

__all__ = ["begin_examining", "end_examining", "go_to", "go_to_ply", "revert", "stored_board", "try_move"]

_LAST_NUMBER: Final = 999
_SQUARES: Final = re.compile(r"([a-h][1-8])-?([a-h][1-8])=?([nbrqkNBRQK]?)[+#]?")
_CASTLING: Final = re.compile(r"[oO0]-?[oO0](?:-?[oO0])?[+#]?")


def stored_board(game: Game, number: int, whole: bool = True) -> ReplayBoard:
    """A game at its end, under a number.

    Args:
        game: any.
        number: for its frames.
        whole: with all its positions, not only its names and result.
    """
    board = ReplayBoard(game, number)
    board.derives = board.pockets and not board.shares  # moves that are tried need to know what is in hand
    told = next((one.text for one in game.events if one.kind is EventKind.RESULT and one.text.startswith("{")), None)
    board.result = (game.result, told or f"{{{game.reason or 'Game ended'}}} {game.result}")
    if not whole:
        return board
    for moment in moments_of_game(game):
        what = moment.what
        if isinstance(what, ShownPly) and not what.line:
            board.show(what)
        elif isinstance(what, Begin):
            board.begin(what)
    return board


def begin_examining(session: ReplaySession, game: Game) -> None:
    """Show a game's first position to this client alone."""
    number = max([_LAST_NUMBER, *session.show.boards]) + 1  # none that a game which begins meanwhile may have
    board = stored_board(game, number)
    if not board.line:
        session.bad_parameters("No position of that game is known.")
        return
    session.examined = board
    session.examined_main = board.line
    session.tell(f"Starting a game in examine mode: {board.white} vs. {board.black}.", "")
    _stand(session, board, 0)


def end_examining(session: ReplaySession) -> None:
    """Show it no more."""
    board = session.examined
    if board is None:
        session.bad_parameters("You are not examining a game.")
        return
    session.examined = None
    session.tell(f"You are no longer examining game {board.number}.")


def go_to(session: ReplaySession, place: int, what: str) -> None:
    """Stand on another position of the examined game.

    Args:
        session: the client's.
        place: in its line, counted from 0; one that is too high is the last.
        what: of the server's line that tells it: ``goes forward 2 moves``.
    """
    board = session.examined
    assert board is not None
    now = session.examined_place
    if _is_main(session, board, now):
        board.line = session.examined_main
    elif place > now:
        session.tell("You cannot go forward unless you are on the main line.")
        return
    place = min(max(place, 0), len(board.line) - 1)
    if place == now and what.startswith("goes"):
        session.tell("You're at the end of the game.")
    elif place == now and what.startswith("backs"):
        session.tell("You're at the beginning of the game.")
    else:
        session.tell(f"Game {board.number}: {session.handle} {what}.", "")
        _stand(session, board, place)
        if board.standing is session.examined_main[-1] and board.result is not None:
            reason, _, result = board.result[1].removeprefix("{").rpartition("} ")
            session.tell("", f"Game {board.number}: {reason} {result}")


def go_to_ply(session: ReplaySession, ply: int) -> None:
    """Stand on the main line, behind so many half-moves or, where it has fewer, at its end."""
    board = session.examined
    assert board is not None
    board.line = session.examined_main
    session.examined_place = min(session.examined_place, len(board.line) - 1)
    place = next((at for at, one in enumerate(board.line) if one.ply >= ply), len(board.line) - 1)
    go_to(session, place, f"goes to move {board.line[place].ply // 2 + 1}")


def revert(session: ReplaySession) -> None:
    """Stand where the main line was left; on it, stay."""
    board = session.examined
    assert board is not None
    place = session.examined_place
    while not _is_main(session, board, place):
        place -= 1
    board.line = session.examined_main
    go_to(session, place, f"reverts to main line move {board.line[place].ply // 2 + 1}")


def try_move(session: ReplaySession, text: str) -> None:
    """Play a move on the examined board: the main line's next one, or the next of a variation.

    Args:
        session: the client's, who examines a game.
        text: as clients write moves: ``e4``, ``Nf3``, ``e2-e4``, ``e7e8=q``, ``o-o``, ``P@e4``.
    """
    board, place = session.examined, session.examined_place
    assert board is not None
    at = board.line[place]
    move = parse_move(_as_engines_write(text))
    step = "unreadable move" if move is None else play_move(at.position, move)
    if isinstance(step, str):
        session.tell(f"Illegal move ({text}).")
        return
    encoded, san, reached = step
    main = session.examined_main
    if _is_main(session, board, place) and place + 1 < len(main) and main[place + 1].position.board == reached.board:
        board.line = main
    else:
        precision = Precision.MILLISECONDS if at.exact else Precision.SECONDS
        clocks = (at.white_clock_ms, at.black_clock_ms)
        ply = Ply(at.ply + 1, encoded, san, *clocks, 0, 0, None, None, None, Proof.FULL, Origin.FRAME, precision, 0)
        board.standing, board.line = at, board.line[: place + 1]
        board.show(ShownPly(ply, 0, 0))
    _stand(session, board, place + 1)
    session.tell("", f"Game {board.number}: {session.handle} moves: {san}")


def _is_main(session: ReplaySession, board: ReplayBoard, place: int) -> bool:
    """Whether a place of the line that is examined is one of the main line."""
    main = session.examined_main
    return place < len(main) and board.line[place] is main[place]


def _as_engines_write(text: str) -> str:
    """A move as ``parse_move`` reads it."""
    if match := _SQUARES.fullmatch(text):
        return f"{match[1]}{match[2]}{match[3].lower()}"
    if _CASTLING.fullmatch(text):
        return "O-O" if sum(map(text.count, "oO0")) == len("OO") else "O-O-O"
    return f"{text[0].upper()}{text[1:]}" if text[1:2] == "@" else text


def _stand(session: ReplaySession, board: ReplayBoard, place: int) -> None:
    session.examined_place = place
    board.standing = board.line[place]
    board.hands = board.standing.position.hands
    session.tell(*session.board_lines(board, board.hands is not None))
