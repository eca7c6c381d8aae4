"""The end line of a game whose own log has none, as of games that were imported from PGN.

Only what is known is written: a reason in the recorded words, else what the PGN tag ``Termination`` or the last move
says, else who won.
"""

from __future__ import annotations

from typing import Final

from recorder.dialects.results import read_reason
from recorder.model import EventKind, GameEvent
from recorder.replay.boards import Board

__all__ = ["end_event"]

_UNENDED: Final = {"adjourned": "Game adjourned", "aborted": "Game aborted"}
_COLOURS: Final = frozenset(("White", "White's", "Black", "Black's"))


def end_event(board: Board) -> GameEvent | None:
    """The end of a game as an event, for a board whose recording has none; None: how it ended is not known."""
    game = board.game
    if game.result == "*" and game.end not in _UNENDED:
        return None
    text = f"{_words(board)}}} {game.result}"
    return GameEvent(0, EventKind.RESULT, "", game.start_ply, None, None, text, None, None, None, game.last_offset)


def _words(board: Board) -> str:
    game = board.game
    if game.reason:
        return _with_handles(game.reason, board)
    if game.result == "*":
        return _UNENDED[game.end]
    termination = game.termination.lower()
    if game.result == "1/2-1/2":
        return "Game drawn by adjudication" if termination == "adjudication" else "Game was drawn"
    winner, loser = (board.white, board.black) if game.result == "1-0" else (board.black, board.white)
    if termination == "time forfeit":
        return f"{loser} forfeits on time"
    if termination == "abandoned":
        return f"{loser} forfeits by disconnection"
    if termination == "adjudication":
        return f"{winner} wins by adjudication"
    last = board.plies[-1] if board.plies else None
    if last is not None and last.san.endswith("#") and last.white_moved == (game.result == "1-0"):
        return f"{loser} checkmated"
    return f"{winner} wins"


def _with_handles(reason: str, board: Board) -> str:
    """A reason with the players' handles for their colours, if it means the same then."""
    handles = {"White": board.white, "Black": board.black}
    words = [word.replace(word[:5], handles[word[:5]], 1) if word in _COLOURS else word for word in reason.split(" ")]
    found = " ".join(words)
    keys = {read_reason(text, board.white, board.black, board.game.result).key for text in (reason, found)}
    return found if len(keys) == 1 and "unknown" not in keys else reason
