"""Games told by ICC's level-2 datagrams (style 13 sends no boards at all).

Each game's moves are played by the rules from the position that a list, a FEN or the kind of game tells; the boards so
reckoned go through ``Boards`` as frames do (``told_boards``). Where a position is not known, no board is made up: the
moves stay a gap until a list or a board tells where the game stands.

Here games begin and end; ``told_positions``, ``told_moves``, ``told_clocks`` and ``told_words`` take the datagrams of
their theme. What other lines tell in words (results, offers, kibitzes) becomes the same events as those lines.
Source: section 8 of the protocol reference (ICC's formats2.txt).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recorder.dialects.icc_results import result_of
from recorder.dialects.icc_told import (
    BeganPosition,
    ClocksSet,
    GameOver,
    GameText,
    GameTold,
    GoneBack,
    Held,
    IllegalMove,
    JBoard,
    Kibitz,
    LoggedIn,
    MoreTime,
    MoveLag,
    MoveList,
    MovesSent,
    Msec,
    NumberOnly,
    Offers,
    PgnTag,
    Relation,
    ToldBoard,
    ToldFen,
)
from recorder.events import (
    Datagram,
    Event,
    GameEnded,
    Line,
    ObservingEnded,
    SessionNotice,
    SessionNoticeKind,
)
from recorder.model import EventKind
from recorder.tracking.boards import Boards
from recorder.tracking.told_book import ToldBook, place_of
from recorder.tracking.told_clocks import ToldClocks
from recorder.tracking.told_games import ToldGame, tell_facts
from recorder.tracking.told_moves import ToldMoves
from recorder.tracking.told_positions import ToldPositions
from recorder.tracking.told_words import ToldWords, in_brackets

__all__ = ["DatagramGames"]

_ISOLATED_BOARD = 40
_STARTED = (12, 15, 18)
_CHANGED = 100
_OVER = (14, 17, 19)


class DatagramGames:
    """Follows the games of one connection by datagrams.

    Args:
        boards: holds the games. titles: handle in lower case → titles, to be filled.
    """

    def __init__(self, boards: Boards, titles: dict[str, str]) -> None:
        self._book = book = ToldBook(boards)
        self._titles = titles
        self._moves = moves = ToldMoves(book)
        positions, clocks, words = ToldPositions(book, moves), ToldClocks(book), ToldWords(book)
        self._handlers: dict[type, Callable[[Any, Line, int], list[Event]]] = {
            LoggedIn: self._logged_in,
            GameTold: self._game_told,
            GameOver: self._game_over,
            NumberOnly: self._number_only,
            Relation: self._relation,
            MovesSent: positions.moves_sent,
            MoveList: positions.move_list,
            BeganPosition: positions.began,
            JBoard: positions.jboard,
            ToldFen: positions.fen,
            ToldBoard: positions.told_board,
            GoneBack: moves.gone_back,
            Msec: clocks.msec,
            MoveLag: clocks.move_lag,
            ClocksSet: clocks.clocks_set,
            MoreTime: clocks.more_time,
            Offers: words.offers,
            Kibitz: words.kibitz,
            Held: words.held,
            IllegalMove: words.illegal,
            PgnTag: words.pgn_tag,
            GameText: words.game_text,
        }

    # -- the interface -----------------------------------------------------------------------------------------

    def take(self, event: Datagram) -> list[Event]:
        """Take a datagram.

        Returns:
            Events that lines in words make, for those who follow games by them.
        """
        if self._book.boards.session.family is None:
            self._book.boards.session.family = "icc"  # no other server has datagrams
        handler = self._handlers.get(type(event.body))
        return [] if handler is None else handler(event.body, event.line, event.begin)

    def lost_data(self) -> None:
        """The server lost data: where the games stand is not known until it tells again."""
        for game in self._book.games.values():
            self._moves.flush(game)
            game.lose()

    def drop(self, game_no: int) -> None:
        """Forget a game: where it stands is not known."""
        self._book.games.pop(game_no, None)

    def finish(self) -> None:
        """The stream has ended: no board comes any more for a move that waits for one."""
        for game in self._book.games.values():
            self._moves.flush(game)

    @property
    def oldest(self) -> int:
        """Where the oldest of our games began to be told of that go on."""
        begun = [game.begin for game in self._book.games.values() if game.ours and not game.over]
        return min(begun, default=1 << 62)

    # -- games begin and end -----------------------------------------------------------------------------------

    def _logged_in(self, body: LoggedIn, line: Line, begin: int) -> list[Event]:
        return [SessionNotice(line, SessionNoticeKind.LOGIN, body.name)]

    def _game_told(self, body: GameTold, line: Line, begin: int) -> list[Event]:
        number = body.game_no
        known = self._book.games.get(number)
        if body.number == _CHANGED and known is not None:
            self._renamed(known, body, line)
            return []
        if body.number == _ISOLATED_BOARD and self._book.run(number) is not None:
            return []  # somebody looks once more at a game that is followed
        if known is not None and known.told is not None and body.number == _STARTED[0] and known.told.number != 40:
            return []  # told to everybody after it was told to us
        game = self._book.games[number] = ToldGame(body, begin)
        for handle, titles in ((body.white, body.white_titles), (body.black, body.black_titles)):
            if titles and body.number != _STARTED[0]:
                self._titles[handle.lower()] = in_brackets(titles)
        if known is not None and known.told is None:
            game.clocks, game.exact, game.symbol = known.clocks, known.exact, known.symbol
        self._book.bound()
        run = self._book.boards.runs.get(str(number))
        if body.number in _STARTED[:2] and body.played and run is not None and run.rows:
            run.renewed = True
        return []

    def _renamed(self, game: ToldGame, body: GameTold, line: Line) -> None:
        before, game.told = game.told, body._replace(number=game.told.number if game.told is not None else 15)
        run = self._book.run(body.game_no)
        if run is None or before is None:
            return
        if (before.white, before.black) != (body.white, body.black):
            run.event(EventKind.NAMES, "names", place_of(line), text=f"{body.white} {body.black}")
            run.white, run.black = body.white, body.black
            run.names = f"{body.white} {body.black}"
        tell_facts(run.facts, body)

    def _game_over(self, body: GameOver, line: Line, begin: int) -> list[Event]:
        game = self._book.games.get(body.game_no)
        if game is None or game.told is None or not game.played or game.isolated:
            return []
        self._moves.flush(game)
        game.over = True
        told = game.told
        result, reason = result_of(body.code, body.score, body.description, told.white, told.black)
        return [
            GameEnded(
                line, body.game_no, told.white, told.black, body.description, result, reason.key, reason.termination,
                reason.actor,
            )
        ]  # fmt: skip

    def _number_only(self, body: NumberOnly, line: Line, begin: int) -> list[Event]:
        return self._gone(body.game_no, line) if body.number in _OVER else []

    def _gone(self, number: int, line: Line) -> list[Event]:
        game = self._book.games.pop(number, None)
        if game is not None:
            self._moves.flush(game)
        return [ObservingEnded(line, number)]

    def _relation(self, body: Relation, line: Line, begin: int) -> list[Event]:
        me = self._book.boards.session.me
        if body.player is not None and (me is None or body.player.lower() != me.lower()):
            return []
        if body.symbol == "X":
            return self._gone(body.game_no, line)
        self._book.game(body.game_no, begin).symbol = body.symbol
        return []
