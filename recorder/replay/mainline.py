"""The main line of a game as playable positions, and its end line.

The end line contains known facts only: the recorded reason, else what the PGN tag ``Termination`` or the last move
shows, else only the winner.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from recorder.cecp.commands import parse_move
from recorder.dialects.results import read_reason
from recorder.model import EventKind, Game, GameEvent, Ply
from recorder.replay.boards import ReplayBoard, play_ply, start_of
from recorder.replay.moments import ShownPly, moments_of_game
from recorder.replay.timing import cap_idle
from recorder.rules.position import Position
from recorder.rules.prove import Step
from recorder.tracking.engines.view import play_move

_MOVE_NUMBER: Final = re.compile(r"[0-9]{1,4}\.*|\.{2,3}", re.ASCII)


class MainLine(NamedTuple):
    """A game's main line up to its first gap."""

    game: Game
    start_ply: int
    plies: list[Ply]
    positions: list[Position | None]  # before each ply and after the last; without holdings
    at_ms: list[int]  # from the game's first moment
    end_ms: int
    whole: bool  # no ply is missing after it

    def white_to_move(self, place: int) -> bool:
        return (self.start_ply + place) % 2 == 0


def main_line(game: Game, pace_ms: int = 0, idle_max_ms: int | None = None) -> MainLine:
    moments = moments_of_game(game, pace_ms=pace_ms)
    if idle_max_ms is not None:
        moments = list(cap_idle(moments, idle_max_ms))
    shown = {moment.what.ply.ply: moment.at_ms for moment in moments if isinstance(moment.what, ShownPly)}
    anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
    position = start_of(game, anchors.get(game.start_ply) or game.start_fen)
    if position is not None and position.white_to_move != (game.start_ply % 2 == 0):
        position = None
    plies: list[Ply] = []
    positions, at_ms = [position], [0]
    every = game.plies
    for number, ply in enumerate(every, game.start_ply + 1):
        if ply.ply != number or ply.uci is None:
            break
        position = None if position is None else play_ply(position, ply)
        plies.append(ply)
        positions.append(position)
        at_ms.append(max(at_ms[-1], shown.get(number, at_ms[-1])))
    whole = len(plies) == len(every)
    end_ms = max(at_ms[-1], moments[-1].at_ms) if whole else at_ms[-1]
    return MainLine(game, game.start_ply, plies, positions, at_ms, end_ms, whole)


def play_line(position: Position, text: str) -> tuple[list[Step], bool]:
    """Up to the first word that is no move; also return whether no move was illegal."""
    steps: list[Step] = []
    for word in text.split():
        if _MOVE_NUMBER.fullmatch(word):
            continue
        move = parse_move(word)
        if move is None:
            break
        step = play_move(position, move)
        if isinstance(step, str):
            return steps, False
        steps.append(step)
        position = step[2]
    return steps, True


_UNENDED: Final = {"adjourned": "Game adjourned", "aborted": "Game aborted"}
_COLOURS: Final = frozenset(("White", "White's", "Black", "Black's"))


def end_event(board: ReplayBoard) -> GameEvent | None:
    """The end of a game whose recording has no end event; None: how it ended is unknown."""
    game = board.game
    if game.result == "*" and game.end not in _UNENDED:
        return None
    text = f"{_words(board)}}} {game.result}"
    return GameEvent(0, EventKind.RESULT, "", game.start_ply, None, None, text, None, None, None, game.last_offset)


def _words(board: ReplayBoard) -> str:
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


def _with_handles(reason: str, board: ReplayBoard) -> str:
    """Unless it changes the meaning."""
    handles = {"White": board.white, "Black": board.black}
    words = [word.replace(word[:5], handles[word[:5]], 1) if word in _COLOURS else word for word in reason.split(" ")]
    found = " ".join(words)
    keys = {read_reason(text, board.white, board.black, board.game.result).key for text in (reason, found)}
    return found if len(keys) == 1 and "unknown" not in keys else reason
