"""Games of a replay that are looked at without its time: examined, or listed as stored games."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.model import EventKind, Game
from recorder.replay.boards import Board
from recorder.replay.moments import Begin, Shown, moments_of_game

if TYPE_CHECKING:
    from recorder.replay.session import Session

__all__ = ["begin_examining", "end_examining", "go_to", "stored_board"]


def stored_board(game: Game, number: int, whole: bool = True) -> Board:
    """A game at its end, under a number.

    Args:
        game: any.
        number: for its frames.
        whole: with all its positions, not only its names and result.
    """
    board = Board(game, number)
    told = next((one.text for one in game.events if one.kind is EventKind.RESULT and one.text.startswith("{")), None)
    board.result = (game.result, told or f"{{{game.reason or 'Game ended'}}} {game.result}")
    if not whole:
        return board
    for moment in moments_of_game(game):
        what = moment.what
        if isinstance(what, Shown) and not what.line:
            board.show(what)
        elif isinstance(what, Begin):
            board.begin(what)
    return board


def begin_examining(session: Session, game: Game) -> None:
    """Show a game's first position to this client alone."""
    number = max([0, *session.show.boards, *session.observed]) + 1
    board = stored_board(game, number)
    if not board.line:
        session.bad_parameters("No position of that game is known.")
        return
    session.examined = board
    session.tell(f"Starting a game in examine mode: {board.white} vs. {board.black}.", "")
    _stand(session, board, 0)


def end_examining(session: Session) -> None:
    """Show it no more."""
    board = session.examined
    if board is None:
        session.bad_parameters("You are not examining a game.")
        return
    session.examined = None
    session.tell(f"You are no longer examining game {board.number}.")


def go_to(session: Session, place: int, what: str) -> None:
    """Stand on another position of the examined game.

    Args:
        session: the client's.
        place: counted from 0; one that is too high is the last.
        what: of the server's line that tells it: ``goes forward 2 moves``.
    """
    board = session.examined
    assert board is not None
    now = session.examined_place
    place = min(max(place, 0), len(board.line) - 1)
    if place == now and what.startswith("goes"):
        session.tell("You're at the end of the game.")
    elif place == now and what.startswith("backs"):
        session.tell("You're at the beginning of the game.")
    else:
        session.tell(f"Game {board.number}: {session.handle} {what}.", "")
        _stand(session, board, place)
        if place == len(board.line) - 1 and board.result is not None:
            reason, _, result = board.result[1].removeprefix("{").rpartition("} ")
            session.tell("", f"Game {board.number}: {reason} {result}")


def _stand(session: Session, board: Board, place: int) -> None:
    session.examined_place = place
    board.standing = board.line[place]
    session.tell(*session.board_lines(board, False))
