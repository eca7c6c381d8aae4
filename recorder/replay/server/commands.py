"""The answers to a client's commands.

Those about games that are over, listing stored games and examining one, need no time of the replay.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from recorder.cecp.commands import parse_move
from recorder.events import Refusal
from recorder.model import EventKind, Game, Origin, Ply, Precision, Proof
from recorder.replay.boards import ReplayBoard, end_event, frame_text
from recorder.replay.moments import AtTime, Begin, ShownPly, format_position, moments_of_game
from recorder.replay.served import not_recorded, served_names
from recorder.replay.server.control import (
    AMBIGUOUS,
    BAD_COMMAND,
    TypedCommand,
    steer,
    where,
)
from recorder.replay.server.session import ReplaySession
from recorder.replay.server.text import (
    date_lines,
    finger_lines,
    games_lines,
    history_lines,
    kind_letter,
    list_lines,
    who_lines,
)
from recorder.tracking.engines.view import play_move

_LAST_NUMBER: Final = 999
_LONGEST_HISTORY: Final = 10
_NUMBER: Final = re.compile(r"\d{1,6}", re.ASCII)
_MOVE_NO: Final = re.compile(r"(\d{1,5})([wb])?", re.ASCII)

Answer = Callable[[ReplaySession, str], None]
"""Answers a command: it is given the session and the words behind the command."""

_HELP: Final = """This server replays recorded games; you can watch, but not play. Commands:
  games, observe N, pobserve N, unobserve [N], follow NAME, moves [N], refresh [N],
  who, finger NAME, history NAME, smoves NAME N, sposition NAME N, examine NAME N,
  moves on an examined board, forward, backward, to 20w, revert, unexamine,
  set, iset, style, variables, ivariables, date, quit.
"tell replay help" explains how to pause, seek and change the speed.""".splitlines()


def _inchannel(session: ReplaySession, rest: str) -> None:
    """A line that looks like the start of a list would make clients wait for its end."""
    word = rest.split()[0] if rest else ""
    if _NUMBER.fullmatch(word):
        session.reply(f"Channel {word} is empty.")
    else:
        session.reply(f"{word} is in no channels." if word else "No channels are in use.")


def _has_no(what: str) -> Answer:
    def answer(session: ReplaySession, rest: str) -> None:
        session.reply(f"{rest.split()[0] if rest else session.handle} has no {what}.")

    return answer


def _lines(*lines: str) -> Answer:
    def answer(session: ReplaySession, rest: str) -> None:
        session.reply(*lines)

    return answer


def _alias(session: ReplaySession, rest: str) -> None:
    """Aliases are not kept: xboard sets one at its login and never uses it."""
    name, _, words = rest.partition(" ")
    session.reply(f'Alias "{name}" set.' if words else f'You have no alias "{name}".' if name else _NO_ALIASES)


_NO_ALIASES: Final = "You have no aliases."
_NO_LISTS: Final = _lines("This replay keeps no lists.")
_NOT_PLAYING: Final = _lines("You are not playing a game.")

_EMPTY_ANSWERS: Final[dict[str, Answer]] = {
    **dict.fromkeys(
        ("abort", "adjourn", "draw", "flag", "moretime", "pause", "resign", "say", "takeback", "unpause"), _NOT_PLAYING
    ),
    **dict.fromkeys(
        ("match", "partner", "play", "rematch", "seek", "unseek"), _lines("This is a replay: you cannot play here.")
    ),
    **dict.fromkeys(("accept", "decline", "pending", "withdraw"), _lines("There are no offers to you.")),
    **dict.fromkeys(("addlist", "sublist", "znotify"), _NO_LISTS),
    **dict.fromkeys(("logons", "llogons"), _lines("This replay keeps no logons.")),
    "alias": _alias,
    "bugwho": _lines("This replay has no list of bughouse players."),
    "cshout": _lines("(c-shouted to 0 players)"),
    "help": _lines(*_HELP),
    "inchannel": _inchannel,
    "it": _lines("(it-shouted to 0 players)"),
    "journal": _has_no("journal entries"),
    "messages": _lines("You have no messages."),
    "news": _lines("There are no new news items."),
    "next": _lines("There is no more."),
    "ptell": _lines("You do not have a partner at present."),
    "quit": _lines(),
    "shout": _lines("(shouted to 0 players)"),
    "showlist": lambda session, rest: session.reply(f"-- {rest.split()[0]} list: 0 names --" if rest else "Lists:"),
    "sought": _lines("0 ads displayed."),
    "stored": _has_no("adjourned games"),
    "unalias": _lines(_NO_ALIASES),
    "uptime": _lines("This server replays recorded games."),
}
"""The answers to commands for which a replay has nothing to do, in the servers' words: a client may wait for one."""


def stored_board(game: Game, number: int, whole: bool = True) -> ReplayBoard:
    """Under this number; not ``whole``: only its names and result."""
    board = ReplayBoard(game, number, names=served_names(game))
    board.derives = board.pockets and not board.shares  # moves that are tried need to know what is in hand
    end_line = next(
        (event.text for event in game.events if event.kind is EventKind.RESULT and event.text.startswith("{")), None
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
    """To this client alone."""
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
    """One that is too high is the last."""
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
    """On the main line, or, where it has fewer half-moves, at its end."""
    board = session.examined
    assert board is not None
    board.line = session.examined_main
    session.examined_place = min(session.examined_place, len(board.line) - 1)
    place = next((index for index, one in enumerate(board.line) if one.ply >= ply), len(board.line) - 1)
    _go_to(session, place, f"goes to move {board.line[place].ply // 2 + 1}")


def try_move(session: ReplaySession, text: str) -> None:
    """As clients write it: ``e4``, ``Nf3``, ``e2-e4``, ``e7e8=q``, ``o-o``, ``P@e4``; it may begin a variation."""
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
    main = session.examined_main
    return place < len(main) and board.line[place] is main[place]


def _show_position(session: ReplaySession, board: ReplayBoard, place: int) -> None:
    session.examined_place = place
    board.state = board.line[place]
    board.holdings = board.state.position.holdings
    session.reply(*session.board_lines(board, board.holdings is not None))


# -- commands -----------------------------------------------------------------------------------------------------


def _stored(session: ReplaySession, rest: str) -> Game | None:
    """The game that ``NAME [N]`` or ``#N`` names, unless it is refused."""
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
    """A game by its place, unless it is refused."""
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
    "backward": lambda session, rest: _moved(session, rest, -1),
    "examine": _examine,
    "forward": lambda session, rest: _moved(session, rest, 1),
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


_MOVE: Final = re.compile(
    r"(?:[a-h][1-8]-?[a-h][1-8](?:=?[nbrqNBRQ])?|[PNBRQpnbrq]@[a-h][1-8]|[oO0](?:-?[oO0]){1,2}"
    r"|[NBRQK][a-h1-8x]{1,4}|[a-h]x?[a-h1-8]{1,2}(?:=?[NBRQ])?)[+#]?"
)


def _board(session: ReplaySession, text: str) -> ReplayBoard | None:
    """A game that goes on, by number or a player's name, unless it is refused."""
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
    """Without a name all that are observed."""
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
    """A number, the beginning of a name, or kinds (``/bs``)."""
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


def _style(session: ReplaySession, rest: str) -> None:
    session.reply(session.settings.set_style(rest))
    session.look()


def _names(session: ReplaySession) -> set[str]:
    names = {str(session.handle)}
    for board in session.games_in_progress():
        names |= {board.white, board.black}
    return names


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


def _spoken(how: str) -> Answer:
    def answer(session: ReplaySession, rest: str) -> None:
        watched = any(board.number in session.observed for board in session.games_in_progress())
        if watched or session.examined is not None:
            session.reply(f"({how} to 0 players)")
        else:
            session.bad_parameters("You are not playing, observing or examining a game.")

    return answer


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
    """The replay's own commands."""
    word, _, rest = words.lower().partition(" ")
    if word == "observe":
        if rest.strip() == "none":
            session.followed = set()
            return ["No more games are observed by themselves."]
        _follow(session, "*")
        return ["Every game is observed from its beginning."]
    head = session.show.head
    if word == "step" and not session.shared:
        session.started = True
        session.happen_now(session.show.step(session.now_ns))
        return [where(head, session.now_ns)]
    place, at_ms, lines = steer(head, words, session.now_ns, session.shared)
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


def _all_observers(session: ReplaySession, rest: str) -> None:
    board = _board(session, rest) if rest else None
    if board is not None and board.number not in session.observed:
        session.reply(f"No one is observing game {board.number}.")
    elif board is not None or not rest:
        _observed(session)


_ANSWERS: Final[dict[str, Answer]] = {
    **_EMPTY_ANSWERS,
    **STORED_ANSWERS,
    "allobservers": _all_observers,
    "date": lambda session, rest: session.reply(*date_lines(session.wall_ms(session.now_ns))),
    "finger": _finger,
    "follow": _follow,
    "games": _games,
    "iset": lambda session, rest: session.reply(session.settings.change_interface(rest)),
    "ivariables": lambda session, rest: session.reply(*session.settings.listed(str(session.handle), True)),
    "kibitz": _spoken("kibitzed"),
    "moves": _moves,
    "observe": _observe,
    "pobserve": _pobserve,
    "refresh": _refresh,
    "set": _set,
    "style": _style,
    "tell": _tell,
    "time": _time,
    "unobserve": _unobserve,
    "variables": lambda session, rest: session.reply(*session.settings.listed(str(session.handle), False)),
    "whisper": _spoken("whispered"),
    "who": lambda session, rest: session.reply(*who_lines(_names(session))),
}
"""The function that answers each command of ``CODES``; it gets the session and the rest of the line."""


def answer_command(session: ReplaySession, command: TypedCommand, text: str) -> None:
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
