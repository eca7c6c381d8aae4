"""What the server prints about its games: tables, headers, lists, boards as deltas.

Facts that were not recorded are omitted where the form allows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from typing import Final

from recorder.dialects.chat import format_chat
from recorder.dialects.gameinfo import format_delta, format_gameinfo
from recorder.dialects.lists import format_counted, format_row
from recorder.dialects.movelist import NO_DATE, format_movelist, format_started
from recorder.dialects.notices import format_created, format_creating, format_header
from recorder.dialects.results import format_result
from recorder.dialects.style12 import parse_style12
from recorder.events import (
    ChatKind,
    ChatLine,
    CreatingLine,
    DeltaBoard,
    GameCreated,
    GameEnded,
    GameHeader,
    GameInfo,
    GamesCounted,
    GamesRow,
    Line,
    ListRow,
    MovelistRead,
    RatingText,
    TablePlayer,
)
from recorder.events.frames import Style12
from recorder.model import EXACT, Game, GameEvent, Player, Ply, control_of
from recorder.replay.boards import BoardState, ReplayBoard, frame_text
from recorder.replay.moments import ShownPly
from recorder.replay.served import is_saved, served_kind, served_rating, served_start
from recorder.rules.tables import index_of
from recorder.rules.variants import STANDARD_BOARD
from recorder.times import printed_clock

_NOWHERE: Final = Line("", 0)
_CHATS: Final = {kind.value for kind in ChatKind}
_LETTERS: Final = {
    "blitz": "b", "standard": "s", "lightning": "l", "untimed": "u", "atomic": "x", "crazyhouse": "z",
    "bughouse": "B", "suicide": "S", "losers": "L", "nonstandard": "n",
}  # fmt: skip


def header_text(board: ReplayBoard) -> str | None:
    """``Game 463: A (2243) B (2158E) rated standard 45 45``; None: kind or ratings of a server's game are unknown."""
    game, kind = board.game, served_kind(board.game)
    if kind is None or (not is_saved(game) and None in (game.rated, game.increment_s, game.base_s)):
        return None
    return format_header(
        GameHeader(
            _NOWHERE, board.number, board.white, served_rating(game.white), board.black, served_rating(game.black),
            bool(game.rated), kind, board.base_min, game.increment_s or 0,
        )
    )  # fmt: skip


def created_lines(board: ReplayBoard) -> list[str]:
    """For the players of a game."""
    game = board.game
    saved, kind = is_saved(game), served_kind(game)
    rated = bool(game.rated) if saved else game.rated
    created = GameCreated(_NOWHERE, board.number, board.white, board.black, rated, kind, game.continued)
    if saved or None in (game.rated, game.category, game.base_s, game.white.rating_text, game.black.rating_text):
        return [format_created(created)]
    creating = CreatingLine(
        _NOWHERE, board.white, served_rating(game.white), board.black, served_rating(game.black), None,
        game.rated, game.category, board.base_min, game.increment_s, game.continued,
    )  # fmt: skip
    return [format_creating(creating), format_created(created)]


def gameinfo_text(board: ReplayBoard, partner: ReplayBoard | None) -> str:
    game = board.game
    black_base, black_increment = control_of(game, False)
    ratings = [
        None if one.rating_text is None else one.rating_text.strip("+-( )") or "0" for one in (game.white, game.black)
    ]
    category = None if game.category is None else game.category.split()[-1]
    known = None not in (game.base_s, game.increment_s)
    return format_gameinfo(
        GameInfo(
            _NOWHERE, board.number, None, category, game.rated, game.white.registered, game.black.registered,
            game.base_s if known else None, game.increment_s if known else None,
            black_base if known else None, black_increment if known else None,
            game.partner_game_no if partner is None else partner.number, ratings[0], ratings[1],
            game.white.sealed, game.black.sealed,
        )
    )  # fmt: skip


def result_text(board: ReplayBoard, event: GameEvent) -> str:
    """``{Game 12 (A vs. B) A resigns} 0-1``."""
    reason, _, result = event.text.removeprefix("{").rpartition("} ")
    return format_result(
        GameEnded(_NOWHERE, board.number, board.white, board.black, reason, result, "", "", None)
    )  # fmt: skip


def chat_text(board: ReplayBoard, event: GameEvent) -> str | None:
    """Who kibitzes and whispers names the game; None: no server printed it (a comment, an engine's word)."""
    if event.detail not in _CHATS:
        return None
    kind = ChatKind(event.detail)
    number = board.number if kind in (ChatKind.KIBITZ, ChatKind.WHISPER) else None
    return format_chat(ChatLine(_NOWHERE, kind, event.actor, None, number, None, event.text))


def games_lines(boards: Iterable[ReplayBoard]) -> list[str]:
    rows = [format_row(_row(board)) for board in sorted(boards, key=lambda board: board.number)]
    count = format_counted(GamesCounted(_NOWHERE, len(rows), len(rows) if rows else None))
    # PyChess waits for "games" also where there is one.
    return [*rows, "", f" {count.replace(' game ', ' games ')}"] if rows else [count]


def kind_letter(game: Game) -> str:
    """In tables of games: ``b`` for blitz, ``w`` for wild …; ``b`` if the kind is unknown."""
    kind = served_kind(game)
    word = kind.split()[-1] if kind else ""
    return "w" if word.startswith("wild") else _LETTERS.get(word, "b" if not word else "n")


def _row(board: ReplayBoard) -> GamesRow:
    game, state = board.game, board.state
    material = (0, 0) if state is None else board.material(state)
    clocks = (0, 0) if state is None else (max(state.white_clock_ms, 0) // 1000, max(state.black_clock_ms, 0) // 1000)
    players = [
        TablePlayer(name[:width], len(name) > width, served_rating(player), None, clock, strength)
        for name, width, player, clock, strength in (
            (board.white, 11, game.white, clocks[0], material[0]),
            (board.black, 10, game.black, clocks[1], material[1]),
        )
    ]
    return GamesRow(
        _NOWHERE, board.number, players[0], players[1], None, False, kind_letter(game), None, bool(game.rated),
        board.base_min, game.increment_s or 0,
        state is None or state.position.white_to_move, 1 if state is None else state.ply // 2 + 1,
    )  # fmt: skip


def list_lines(board: ReplayBoard, plies: Sequence[Ply], ms: bool, startpos: bool, stored: bool = False) -> list[str]:
    """For ``moves`` and ``smoves`` (``stored``); ``startpos``: with a start position that is not the standard one."""
    game = board.game
    start: Style12 | None = None
    first = board.line[0] if board.line else None
    if startpos and first is not None and first.ply == game.start_ply and first.position.board != STANDARD_BOARD:
        text = frame_text(board, -4, ms, state=first._replace(verbose="none", pretty="none", elapsed_ms=0))
        parsed = None if text is None else parse_style12(text)
        start = parsed if isinstance(parsed, Style12) else None
    exact = ms and bool(plies) and all(ply.precision_code is None or ply.precision_code in EXACT for ply in plies)
    # Servers print a time behind every move, and PyChess reads no other list.
    unknown_ms = 0 if is_saved(game) else None
    rows = tuple(
        ListRow(ply.ply, ply.san, unknown_ms if ply.elapsed_ms is None else _whole_s(ply.elapsed_ms, exact), exact, 0)
        for ply in plies
    )
    reason, result, running = "Still in progress", "*", True
    if board.result is not None:
        reason, _, result = board.result[1].removeprefix("{").rpartition("} ")
        reason, running = _stored_reason(board, reason) if stored else reason, False
    return format_movelist(
        MovelistRead(
            _NOWHERE, None if stored else board.number, board.white, _list_rating(game.white),
            board.black, _list_rating(game.black), served_start(game), None, False, False,
            bool(game.rated), served_kind(game) or game.variant, board.base_min, game.increment_s or 0,
            None if game.black_base_s in (None, game.base_s) else (game.black_base_s or 0) // 60,
            None if game.black_base_s in (None, game.base_s) else game.black_increment_s,
            start, rows, result, reason, None, None, running, True,
        )
    )  # fmt: skip


def _stored_reason(board: ReplayBoard, reason: str) -> str:
    """As lists of stored games have it: with colours instead of handles. PyChess reads no other."""
    colours = {board.white: "White", board.black: "Black"}

    def coloured(word: str) -> str:
        ending = next(end for end in ("'s", "'", "") if word.endswith(end))
        handle = word.removesuffix(ending)
        return colours.get(handle, handle) + ending

    return " ".join(map(coloured, reason.split(" "))).replace("Game was drawn", "Game drawn", 1)


def _whole_s(elapsed_ms: int, exact: bool) -> int:
    return elapsed_ms if exact else elapsed_ms // 1000 * 1000


def _list_rating(player: Player) -> RatingText:
    rating = served_rating(player)
    return RatingText("UNR", None) if rating.value is None and player.rating_text is None else rating


def history_lines(name: str, games: Sequence[ReplayBoard]) -> list[str]:
    """The latest game last, as little as clients need."""
    if not games:
        return [f"{name} has no history games."]
    lines = ["", f"History for {name}:", "                  Opponent      Type         ECO End Date"]
    for number, board in enumerate(games):
        white = board.white.lower() == name.lower()
        token = board.result[0] if board.result is not None else "*"
        sign = "=" if token == "1/2-1/2" else "?" if token == "*" else "+" if (token == "1-0") == white else "-"
        mine, other = (board.game.white, board.game.black) if white else (board.game.black, board.game.white)
        opponent = board.black if white else board.white
        kind = f"[{kind_letter(board.game)}{'r' if board.game.rated else 'u'}"
        kind += f"{board.base_min:3d} {board.game.increment_s or 0:3d}]"
        reason = (board.game.reason_key or "?")[:3].capitalize()
        lines.append(
            f"{number % 100:2d}: {sign} {served_rating(mine).text:>4} {'W' if white else 'B'} "
            f"{served_rating(other).text:>4} {opponent[:11]:<12} {kind} --- {reason} "
            f"{served_start(board.game) or NO_DATE}"
        )
    return lines


def who_lines(names: Iterable[str]) -> list[str]:
    known = sorted(names, key=str.lower)
    rows = ["".join(f"---- {name:<20}" for name in known[at : at + 3]).rstrip() for at in range(0, len(known), 3)]
    return [*rows, "", f" {len(known)} players displayed."]


def finger_lines(name: str, board: ReplayBoard | None, rating: str | None) -> list[str]:
    lines = [f"Finger of {name}:", ""]
    if board is not None:
        lines.append(f"(playing game {board.number}: {board.white} vs. {board.black})")
    if rating is not None:
        lines.append(f"rating in this recording: {rating}")
    return lines


def date_lines(now_ms: int) -> list[str]:
    """The real time, not the recording's."""
    when = datetime.fromtimestamp(now_ms / 1000, UTC)
    text = format_started(when, "UTC")
    return [
        f"Local time     - {text}",
        f"Server time    - {text}",
        f"GMT            - {format_started(when, 'GMT')}",
    ]


def style_1(board: ReplayBoard, state: BoardState, flip: bool) -> list[str]:
    """For clients that have not set style 12."""
    position = state.position
    beside = [f"Move # : {state.ply // 2 + 1} ({'White' if position.white_to_move else 'Black'})", *[""] * 7]
    if state.pretty != "none":
        mover = "Black" if position.white_to_move else "White"
        beside[1] = f"{mover} Moves : '{state.pretty:<7} ({printed_clock(state.elapsed_ms, False)})'"
    timed = board.game.base_s is not None or any(ply.clock_ms is not None for ply in board.plies)
    sides = zip(("White", "Black"), (state.white_clock_ms, state.black_clock_ms), board.material(state), strict=True)
    for row, (side, clock_ms, material) in zip((4, 3), sides, strict=True):
        beside[row] = f"{side} Clock : {printed_clock(clock_ms // 1000 * 1000, False) if timed else 'unknown'}"
        beside[row + 2] = f"{side} Strength : {material}"
    if board.holdings is not None:
        beside[2], beside[7] = f"Black holds : [{board.holdings[1]}]", f"White holds : [{board.holdings[0]}]"
    rule = f"       {'-' * 33}"
    rows = [f"Game {board.number} ({board.white} vs. {board.black})", "", rule]
    ranks = list(zip("87654321", position.board.split(" "), strict=True))
    for (number, rank), text in zip(reversed(ranks) if flip else ranks, beside, strict=True):
        cells = "|".join(map(_piece_text, reversed(rank) if flip else rank))
        rows += [f"    {number}  |{cells}|     {text}".rstrip(), f"       |{'+'.join(['---'] * 8)}|"]
    rows[-1] = rule
    return [*rows, f"         {'   '.join('hgfedcba' if flip else 'abcdefgh')}"]


def _piece_text(letter: str) -> str:
    return "   " if letter == "-" else f" {letter} " if letter.isupper() else f" *{letter.upper()}"


def delta_text(board: ReplayBoard, what: object) -> str | None:
    """A board's last move as a bare move; None: servers print the whole board."""
    if not isinstance(what, ShownPly) or board.game.variant != "chess" or len(board.line) < 2 or board.state is None:
        return None
    ply, before, after = what.ply, board.line[-2], board.state
    uci = ply.uci
    clock_ms = ply.clock_ms
    # ``<d1>`` always has thousandths: a replay prints the board, too, where times were recorded in whole seconds.
    if not after.exact or uci is None or clock_ms is None or before.ply != after.ply - 1:
        return None
    letters = before.position.board
    origin, target = index_of(uci[:2]), index_of(uci[2:4])
    if ply.san.startswith("O-O"):
        captured = "C" if ply.san.startswith("O-O-O") else "c"
    elif letters[target] != "-":
        captured = letters[target].lower()
    else:
        captured = "E" if letters[origin] in "Pp" and uci[0] != uci[2] else ""
    smith = f"{uci[:4]}{captured}{uci[4:].upper()}"
    return format_delta(
        DeltaBoard(_NOWHERE, board.number, ply.ply, after.pretty, smith, after.elapsed_ms, clock_ms, after.lag_ms)
    )


_OURS: Final = "This server replays recorded games. You can watch them, but not play."
_KINDS: Final = {
    "FatICS": "FatICS",
    "FICS": "Server location: freechess.org, recorded    Server version : replay",
    "Lasker": "Server location: recorded    Server version : 2.2 replayed",
    "FICS 1.6.2": "Server location: recorded    Server version : 1.6.2 replayed",
    "chessd": "Server location: recorded    Server version : chessd replayed",
    "BICS": "Server location: recorded    Server version : BICS replayed",
}


def banner_of(dialects: Collection[str | None]) -> list[str]:
    """It names the recorded server's kind if all games are of one dialect."""
    kind = _KINDS.get(next(iter(dialects)) or "") if len(dialects) == 1 else None
    return [_OURS] if kind is None else [_OURS, kind]
