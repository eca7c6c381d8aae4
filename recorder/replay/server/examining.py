"""Commands about games that are over: listing stored games, and examining one, without the time of the replay."""

from __future__ import annotations

import re
from typing import Final

from recorder.cecp.moves import parse_move
from recorder.model import EventKind, Game, Origin, Ply, Precision, Proof
from recorder.replay.boards import ReplayBoard, frame_text
from recorder.replay.mainline import end_event
from recorder.replay.moments import Begin, ShownPly, moments_of_game
from recorder.replay.served import not_recorded, served_names
from recorder.replay.server.control import Answer
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.text import history_lines, list_lines
from recorder.tracking.engines.view import play_move

__all__ = ["STORED_ANSWERS", "stored_board", "try_move"]

_LAST_NUMBER: Final = 999
_LONGEST_HISTORY: Final = 10
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)
_MOVE_NO: Final = re.compile(r"(\d{1,5})([wb])?", re.ASCII)


def stored_board(game: Game, number: int, whole: bool = True) -> ReplayBoard:
    """A game at its end, under a number.

    Args:
        game: any.
        number: for its frames.
        whole: with all its positions, not only its names and result.
    """
    board = ReplayBoard(game, number, names=served_names(game))
    board.derives = board.pockets and not board.shares  # moves that are tried need to know what is in hand
    end_line = next(
        (one.text for one in game.events if one.kind is EventKind.RESULT and one.text.startswith("{")), None
    )
    board.result = (game.result, end_line or "")
    if not whole:
        return board
    for moment in moments_of_game(game):
        what = moment.what
        if isinstance(what, ShownPly) and not what.line:
            board.show(what)
        elif isinstance(what, Begin):
            board.begin(what)
    if end_line is None:
        ended = end_event(board)
        board.result = (game.result, f"Game ended}} {game.result}" if ended is None else ended.text)
    return board


def _begin_examining(session: ReplaySession, game: Game) -> None:
    """Show a game's first position to this client alone."""
    number = max([_LAST_NUMBER, *session.show.boards]) + 1  # none that a game which begins meanwhile may have
    board = stored_board(game, number)
    if not board.line:
        session.bad_parameters("No position of that game is known.")
        return
    session.examined = board
    session.examined_main = board.line
    session.reply(f"Starting a game in examine mode: {board.white} vs. {board.black}.", "")
    _show_position(session, board, 0)


def _go_to(session: ReplaySession, place: int, what: str) -> None:
    """Stand on another position of the examined game.

    Args:
        session: the client's.
        place: in its line, counted from 0; one that is too high is the last.
        what: the action that the server reports: ``goes forward 2 moves``.
    """
    board = session.examined
    assert board is not None
    now = session.examined_place
    if _is_main(session, board, now):
        board.line = session.examined_main
    elif place > now:
        session.reply("You cannot go forward unless you are on the main line.")
        return
    place = min(max(place, 0), len(board.line) - 1)
    if place == now and what.startswith("goes"):
        session.reply("You're at the end of the game.")
    elif place == now and what.startswith("backs"):
        session.reply("You're at the beginning of the game.")
    else:
        session.reply(f"Game {board.number}: {session.handle} {what}.", "")
        _show_position(session, board, place)
        if board.state is session.examined_main[-1] and board.result is not None:
            reason, _, result = board.result[1].removeprefix("{").rpartition("} ")
            session.reply("", f"Game {board.number}: {reason} {result}")


def _go_to_ply(session: ReplaySession, ply: int) -> None:
    """Stand on the main line, behind so many half-moves or, where it has fewer, at its end."""
    board = session.examined
    assert board is not None
    board.line = session.examined_main
    session.examined_place = min(session.examined_place, len(board.line) - 1)
    place = next((at for at, one in enumerate(board.line) if one.ply >= ply), len(board.line) - 1)
    _go_to(session, place, f"goes to move {board.line[place].ply // 2 + 1}")


def try_move(session: ReplaySession, text: str) -> None:
    """Play a move on the examined board: the main line's next one, or the next of a variation.

    Args:
        session: the client's, who examines a game.
        text: as clients write moves: ``e4``, ``Nf3``, ``e2-e4``, ``e7e8=q``, ``o-o``, ``P@e4``.
    """
    board, place = session.examined, session.examined_place
    assert board is not None
    at = board.line[place]
    move = parse_move(text)
    step = "unreadable move" if move is None else play_move(at.position, move)
    if isinstance(step, str):
        session.reply(f"Illegal move ({text}).")
        return
    encoded, san, reached = step
    main = session.examined_main
    if _is_main(session, board, place) and place + 1 < len(main) and main[place + 1].position.board == reached.board:
        board.line = main
    else:
        precision = Precision.MILLISECONDS if at.exact else Precision.SECONDS
        clocks = (at.white_clock_ms, at.black_clock_ms)
        ply = Ply(at.ply + 1, encoded, san, *clocks, 0, 0, None, None, None, Proof.FULL, Origin.FRAME, precision, 0)
        board.state, board.line = at, board.line[: place + 1]
        board.show(ShownPly(ply, 0, 0))
    _show_position(session, board, place + 1)
    session.reply("", f"Game {board.number}: {session.handle} moves: {san}")


def _is_main(session: ReplaySession, board: ReplayBoard, place: int) -> bool:
    """Whether a place of the line that is examined is one of the main line."""
    main = session.examined_main
    return place < len(main) and board.line[place] is main[place]


def _show_position(session: ReplaySession, board: ReplayBoard, place: int) -> None:
    session.examined_place = place
    board.state = board.line[place]
    board.holdings = board.state.position.holdings
    session.reply(*session.board_lines(board, board.holdings is not None))


# -- commands -----------------------------------------------------------------------------------------------------


def _stored(session: ReplaySession, rest: str) -> Game | None:
    """The game that ``NAME [N]`` or ``#N`` names; None, and it is refused."""
    name, _, number = rest.partition(" ")
    recording = session.show.recording
    if name.startswith("#") and _NUMBER.fullmatch(name[1:]) and 1 <= int(name[1:]) <= len(recording.players):
        return _there(session, int(name[1:]) - 1)
    own = recording.played_by(name)
    number = number.strip() or "-1"
    if not own:
        session.bad_parameters(f"There is no recorded game of {name}." if name else 'Say whose game: "examine NAME N".')
    elif number == "-1":
        return _there(session, own[-1])
    elif _NUMBER.fullmatch(number) and int(number) < len(own):
        return _there(session, own[int(number)])
    else:
        session.bad_parameters(f"There is no recorded game {number} of {name}.")
    return None


def _there(session: ReplaySession, number: int) -> Game | None:
    """A game by its place; None, and it is refused."""
    chapter = session.show.recording.there(number)
    if chapter is None:
        session.bad_parameters(f"Game #{number + 1} of this recording can no longer be read.")
        return None
    return chapter.game


def _smoves(session: ReplaySession, rest: str) -> None:
    game = _stored(session, rest)
    if game is not None:
        board = stored_board(game, 0)
        settings = session.settings
        session.reply("", *list_lines(board, game.plies, settings.has("ms"), settings.has("startpos"), stored=True))
        session.reply(not_recorded(game, (board.white, board.black)))


def _sposition(session: ReplaySession, rest: str) -> None:
    game = _stored(session, rest)
    if game is not None:
        session.reply("", frame_text(stored_board(game, 0), -3, session.settings.has("ms")))


def _history(session: ReplaySession, rest: str) -> None:
    name = rest.split()[0] if rest else str(session.handle)
    recording = session.show.recording
    chapters = [recording.there(number) for number in recording.played_by(name)[-_LONGEST_HISTORY:]]
    boards = [stored_board(chapter.game, 0, whole=False) for chapter in chapters if chapter is not None]
    session.reply(*history_lines(name, boards))


def _examine(session: ReplaySession, rest: str) -> None:
    if session.examined is not None:
        session.bad_parameters("You are already examining a game.")
        return
    game = _stored(session, rest or "#1")
    if game is not None:
        _begin_examining(session, game)


def _moved(session: ReplaySession, rest: str, sign: int) -> None:
    if session.examined is None:
        session.bad_parameters("You are not examining or setting up a game.")
        return
    word = rest.split()[0] if rest else "1"
    if not _NUMBER.fullmatch(word):
        session.bad_parameters(f"{word} is no number of half-moves.")
        return
    count = int(word)
    how = "goes forward" if sign > 0 else "backs up"
    _go_to(session, session.examined_place + sign * count, f"{how} {count} move{'' if count == 1 else 's'}")


def _forward(session: ReplaySession, rest: str) -> None:
    _moved(session, rest, 1)


def _backward(session: ReplaySession, rest: str) -> None:
    _moved(session, rest, -1)


def _unexamine(session: ReplaySession, rest: str) -> None:
    board = session.examined
    if board is None:
        session.bad_parameters("You are not examining a game.")
        return
    session.examined = None
    session.reply(f"You are no longer examining game {board.number}.")


def _to(session: ReplaySession, rest: str) -> None:
    if session.examined is None:
        session.bad_parameters("You are not examining or setting up a game.")
        return
    word = rest.split()[0].lower() if rest else ""
    match = _MOVE_NO.fullmatch(word)
    if match is None:
        session.bad_parameters('Say which half-move: "to 20w", or how many are played: "to 39".')
        return
    _go_to_ply(session, int(match[1]) if match[2] is None else 2 * int(match[1]) - (match[2] == "w"))


def _revert(session: ReplaySession, rest: str) -> None:
    board = session.examined
    if board is None:
        session.bad_parameters("You are not examining or setting up a game.")
        return
    place = session.examined_place
    while not _is_main(session, board, place):
        place -= 1
    board.line = session.examined_main
    _go_to(session, place, f"reverts to main line move {board.line[place].ply // 2 + 1}")


STORED_ANSWERS: Final[dict[str, Answer]] = {
    "backward": _backward,
    "examine": _examine,
    "forward": _forward,
    "goto": _to,
    "history": _history,
    "oldmoves": _smoves,
    "revert": _revert,
    "smoves": _smoves,
    "sposition": _sposition,
    "to": _to,
    "unexamine": _unexamine,
}
"""The function that answers each command about stored or examined games."""
