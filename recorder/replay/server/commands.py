"""The answers to a client's commands, apart from those about stored and examined games (``examining``)."""

from __future__ import annotations

import re
from typing import Final

from recorder.errors import ReplayError
from recorder.events import Refusal
from recorder.replay.boards import ReplayBoard, frame_text
from recorder.replay.places import AtTime, format_position
from recorder.replay.server.control import (
    AMBIGUOUS,
    BAD_COMMAND,
    EMPTY_ANSWERS,
    SHARED,
    Answer,
    TypedCommand,
    moves_time,
    steer,
    where,
)
from recorder.replay.server.examining import STORED_ANSWERS, try_move
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.text import (
    date_lines,
    finger_lines,
    games_lines,
    kind_letter,
    list_lines,
    who_lines,
)

__all__ = ["answer_command"]

_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)
_MOVE: Final = re.compile(
    r"(?:[a-h][1-8]-?[a-h][1-8](?:=?[nbrqNBRQ])?|[PNBRQpnbrq]@[a-h][1-8]|[oO0](?:-?[oO0]){1,2}"
    r"|[NBRQK][a-h1-8x]{1,4}|[a-h]x?[a-h1-8]{1,2}(?:=?[NBRQ])?)[+#]?"
)


def _board(session: ReplaySession, text: str) -> ReplayBoard | None:
    """A game that goes on, by number or a player's name; None, and it is refused."""
    name = text.split(" ")[0].lower() if text else ""
    boards = [board for board in session.show.boards.values() if not board.over]
    for board in boards:
        if name == str(board.number) or (name and name in (board.white.lower(), board.black.lower())):
            return board
    for board in boards:  # tables print only the first letters of a long handle
        if name.isalpha() and any(handle.lower().startswith(name) for handle in (board.white, board.black)):
            return board
    session.bad_parameters(session.refusal(Refusal.NO_SUCH_GAME))
    return None


def _default(session: ReplaySession, text: str) -> list[ReplayBoard]:
    """The game that a command names, or without one all that are observed."""
    if text:
        board = _board(session, text)
        return [] if board is None else [board]
    boards = [board for board in session.show.boards.values() if board.number in session.observed and not board.over]
    if not boards:
        session.bad_parameters(session.refusal(Refusal.NOT_OBSERVING))
    return boards


def _observe(session: ReplaySession, rest: str) -> None:
    if not rest:
        _observed(session)
        return
    board = _board(session, rest)
    if board is not None:
        _look_at(session, board)


def _look_at(session: ReplaySession, board: ReplayBoard) -> None:
    if session.seat(board) is not None:
        session.reply(session.refusal(Refusal.OWN_GAME))
    elif board.number in session.observed:
        session.reply(session.refusal(Refusal.ALREADY, board.number))
    elif board.result is not None:
        session.bad_parameters(session.refusal(Refusal.NO_SUCH_GAME))
    else:
        session.reply(*session.begin_observing(board))
        session.start()


def _observed(session: ReplaySession) -> None:
    boards = [board for board in session.games_in_progress() if board.number in session.observed]
    for board in boards:
        session.reply(f"Observing {board.number:3d} [{board.white} vs. {board.black}]: {session.handle} (1 user)")
    if not boards:
        session.reply(session.refusal(Refusal.NOT_OBSERVING))


def _pobserve(session: ReplaySession, rest: str) -> None:
    board = _board(session, rest)
    if board is None:
        return
    partner = session.show.partner_of(board)
    if partner is None:
        session.bad_parameters(f"Game {board.number} has no partner game here.")
        return
    _look_at(session, partner)


def _unobserve(session: ReplaySession, rest: str) -> None:
    if not rest:
        lines = [session.leave_game(number) for number in sorted(session.observed)]
        session.reply(*(lines or [session.refusal(Refusal.NOT_OBSERVING)]))
        return
    board = _board(session, rest)
    if board is not None and board.number in session.observed:
        session.reply(session.leave_game(board.number))
    elif board is not None:
        session.reply(session.refusal(Refusal.NOT_OBSERVING, board.number))


def _follow(session: ReplaySession, rest: str) -> None:
    if not rest:
        session.followed.clear()
        session.reply("You will not follow any player's games.")
        return
    name = rest.split()[0]
    session.followed = {name.lower()}
    session.reply(
        "You will now be following every game." if name == "*" else f"You will now be following {name}'s games."
    )
    for board in session.games_in_progress():
        playing = (board.white.lower(), board.black.lower())
        if (
            board.number not in session.observed
            and session.seat(board) is None
            and (name == "*" or name.lower() in playing)
        ):
            session.reply(*session.begin_observing(board))
    session.start()


def _games(session: ReplaySession, rest: str) -> None:
    boards = session.games_in_progress()
    if rest:
        word = rest.split()[0]
        boards = [board for board in boards if _is_meant(board, word)]
    session.reply("", *games_lines(boards))


def _is_meant(board: ReplayBoard, word: str) -> bool:
    """Whether ``games`` with a word lists a game: a number, the beginning of a name, or kinds (``/bs``)."""
    if word.startswith("/"):
        return kind_letter(board.game) in word[1:]
    begins = any(name.lower().startswith(word.lower()) for name in (board.white, board.black))
    return begins or word == str(board.number)


def _moves(session: ReplaySession, rest: str) -> None:
    for board in _default(session, rest):
        ms, startpos = session.settings.has("ms"), session.settings.has("startpos")
        session.reply("", *list_lines(board, board.plies, ms, startpos))


def _refresh(session: ReplaySession, rest: str) -> None:
    if not rest and session.examined is not None:
        session.reply("", *session.board_lines(session.examined, False))
        return
    for board in _default(session, rest):
        if board.number in session.observed or session.settings.style != 12:
            session.reply("", *session.board_lines(board, board.holdings is not None))
        else:
            session.reply("", frame_text(board, -3, session.settings.has("ms")))


def _set(session: ReplaySession, rest: str) -> None:
    session.reply(session.settings.change(rest))
    session.look()


def _variables(session: ReplaySession, rest: str) -> None:
    session.reply(*session.settings.listed(str(session.handle), False))


def _ivariables(session: ReplaySession, rest: str) -> None:
    session.reply(*session.settings.listed(str(session.handle), True))


def _iset(session: ReplaySession, rest: str) -> None:
    session.reply(session.settings.change_interface(rest))


def _style(session: ReplaySession, rest: str) -> None:
    session.reply(session.settings.set_style(rest))
    session.look()


def _names(session: ReplaySession) -> set[str]:
    found = {str(session.handle)}
    for board in session.games_in_progress():
        found |= {board.white, board.black}
    return found


def _who(session: ReplaySession, rest: str) -> None:
    session.reply(*who_lines(_names(session)))


def _finger(session: ReplaySession, rest: str) -> None:
    name = rest.split()[0] if rest else str(session.handle)
    playing = next(
        (one for one in session.games_in_progress() if name.lower() in (one.white.lower(), one.black.lower())), None
    )
    recording = session.show.recording
    games = recording.played_by(name)
    player = None
    if games:
        last = recording.there(games[-1])
        if last is not None:
            handles = recording.players[games[-1]]
            player = last.game.white if handles[0].lower() == name.lower() else last.game.black
            name = handles[player is last.game.black]
    elif name.lower() != str(session.handle).lower():
        session.bad_parameters(f"There is no player matching the name {name}.")
        return
    rating = None if player is None else player.rating_text
    session.reply(*finger_lines(name, playing, rating))


def _kibitz(session: ReplaySession, rest: str) -> None:
    watched = [board for board in session.games_in_progress() if board.number in session.observed]
    if watched or session.examined is not None:
        session.reply("(kibitzed to 0 players)")
    else:
        session.bad_parameters("You are not playing, observing or examining a game.")


def _whisper(session: ReplaySession, rest: str) -> None:
    if session.observed or session.examined is not None:
        session.reply("(whispered to 0 players)")
    else:
        session.bad_parameters("You are not playing, observing or examining a game.")


def _tell(session: ReplaySession, rest: str) -> None:
    name, _, words = rest.partition(" ")
    if name.lower().rstrip(":") == "replay":
        session.reply("(told replay)")
        for line in _control(session, words.strip()):
            session.reply(f"replay tells you: {line}")
        return
    if _NUMBER.fullmatch(name):
        session.reply(f"(told 0 players in channel {name})")
        return
    known = next((one for one in _names(session) if one.lower() == name.lower()), None)
    if known is None:
        session.bad_parameters(f"{name} is not logged in." if name else "Whom do you want to tell it?")
    else:
        session.reply(f"(told {known})")


def _control(session: ReplaySession, words: str) -> list[str]:
    """The replay's own commands: lines to answer."""
    word, _, rest = words.lower().partition(" ")
    if word == "observe":
        if rest.strip() == "none":
            session.followed = set()
            return ["No more games are observed by themselves."]
        _follow(session, "*")
        return ["Every game is observed from its beginning."]
    head = session.show.head
    if session.shared and moves_time(words):
        return [SHARED]
    if word == "step":
        session.started = True
        session.happen_now(session.show.step(session.now_ns))
        return [where(head, session.now_ns)]
    try:
        place, at_ms, lines = steer(head, words, session.now_ns)
    except ReplayError as error:
        return [str(error)]
    if place is not None:
        session.jump(place, at_ms)
    session.started = session.started or word in ("play", "resume")
    return lines


def _time(session: ReplaySession, rest: str) -> None:
    for board in _default(session, rest):
        at = board.state
        if at is not None:
            white, black = (
                format_position(AtTime(max(ms, 0) // 1000 * 1000)) for ms in (at.white_clock_ms, at.black_clock_ms)
            )
            session.reply(f"Game {board.number}: White ({board.white}) {white}   Black ({board.black}) {black}")


def _date(session: ReplaySession, rest: str) -> None:
    session.reply(*date_lines(session.wall_ms(session.now_ns)))


def _all_observers(session: ReplaySession, rest: str) -> None:
    board = _board(session, rest) if rest else None
    if board is not None and board.number not in session.observed:
        session.reply(f"No one is observing game {board.number}.")
    elif board is not None or not rest:
        _observed(session)


_ANSWERS: Final[dict[str, Answer]] = {
    **EMPTY_ANSWERS,
    **STORED_ANSWERS,
    "allobservers": _all_observers,
    "date": _date,
    "finger": _finger,
    "follow": _follow,
    "games": _games,
    "iset": _iset,
    "ivariables": _ivariables,
    "kibitz": _kibitz,
    "moves": _moves,
    "observe": _observe,
    "pobserve": _pobserve,
    "refresh": _refresh,
    "set": _set,
    "style": _style,
    "tell": _tell,
    "time": _time,
    "unobserve": _unobserve,
    "variables": _variables,
    "whisper": _whisper,
    "who": _who,
}
"""The function that answers each command of ``CODES``; it gets the session and the rest of the line."""


def answer_command(session: ReplaySession, command: TypedCommand, text: str) -> None:
    """Do a client's command and print the answer in the session.

    Args:
        session: of the client.
        command: as ``read_command`` read it.
        text: the whole line, stripped.
    """
    if command.name == "quit":
        session.closed = True
    elif command.name is not None:
        _ANSWERS[command.name](session, command.rest)
    elif not text:
        session.code = 0
    elif command.matches:
        session.code = AMBIGUOUS
        session.reply(f'Ambiguous command "{command.word}". Matches: {" ".join(command.matches)}')
    elif _MOVE.fullmatch(text.split()[-1].lstrip("$")):
        session.code = 1
        if session.examined is not None:
            try_move(session, text.split()[-1].lstrip("$"))
            return
        session.reply("You are not playing or examining a game that takes moves.")
    else:
        session.code = BAD_COMMAND
        session.reply(f"{command.word}: Command not found.")
