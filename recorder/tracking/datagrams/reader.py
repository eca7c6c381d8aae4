"""Reads ICC's level-2 datagrams into events (style 13 sends no boards).

Each game's moves are played by the rules from the position that a list, a FEN or the kind of game gives; these boards
go through ``Boards`` as frames do (``boards.py``). If a position is unknown, no board is invented: the
moves stay a gap until a list or a board gives the position.

Here games begin and end; ``moves.py`` takes moves and positions, ``games.py`` clocks. Results, offers and kibitzes
become the same events as their text lines.
Source: section 8 of the protocol reference (ICC's formats2.txt).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recorder.dialects.icc.fields import result_of
from recorder.dialects.icc.values import (
    BeganPosition,
    BughouseHoldings,
    ClocksSet,
    DatagramFen,
    GameOver,
    GameText,
    GoneBack,
    IccGame,
    IllegalMove,
    JBoard,
    Kibitz,
    MoreTime,
    MoveLag,
    MoveList,
    MovesSent,
    Msec,
    NumberOnly,
    Offers,
    PgnTag,
    Relation,
    SimpleBoard,
    WhoAmI,
)
from recorder.events import (
    ChatKind,
    ChatLine,
    Datagram,
    Event,
    GameEnded,
    GameNotice,
    GameNoticeKind,
    HoldingsLine,
    Line,
    ObservingEnded,
    SessionNotice,
    SessionNoticeKind,
)
from recorder.model import AnomalyKind, EventKind
from recorder.tracking.boards import Boards
from recorder.tracking.datagrams.games import (
    DatagramClocks,
    DatagramGame,
    DatagramGameTable,
    place_of,
    printed,
    set_facts,
)
from recorder.tracking.datagrams.moves import DatagramMoves, DatagramPositions
from recorder.tracking.holdings import take_holdings

__all__ = ["DatagramGames", "DatagramNotices", "in_brackets"]

_ISOLATED_BOARD = 40
_STARTED = (12, 15, 18)
_CHANGED = 100
_OVER = (14, 17, 19)


class DatagramGames:
    """Follows the games of one connection by datagrams.

    Methods for one kind of datagram have the arguments of those of ``DatagramClocks``.

    Args:
        boards: holds the games.
        titles: handle in lower case → titles, to be filled.
    """

    def __init__(self, boards: Boards, titles: dict[str, str]) -> None:
        self._table = table = DatagramGameTable(boards)
        self._titles = titles
        self._moves = moves = DatagramMoves(table)
        positions, clocks, words = DatagramPositions(table, moves), DatagramClocks(table), DatagramNotices(table)
        self._handlers: dict[type, Callable[[Any, Line, int], list[Event]]] = {
            WhoAmI: self._logged_in,
            IccGame: self._game_described,
            GameOver: self._game_over,
            NumberOnly: self._number_only,
            Relation: self._relation,
            MovesSent: positions.moves_sent,
            MoveList: positions.move_list,
            BeganPosition: positions.began,
            JBoard: positions.jboard,
            DatagramFen: positions.fen,
            SimpleBoard: positions.simple_board,
            GoneBack: moves.gone_back,
            Msec: clocks.msec,
            MoveLag: clocks.move_lag,
            ClocksSet: clocks.clocks_set,
            MoreTime: clocks.more_time,
            Offers: words.offers,
            Kibitz: words.kibitz,
            BughouseHoldings: words.holdings,
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
        if self._table.boards.session.family is None:
            self._table.boards.session.family = "icc"  # no other server has datagrams
        handler = self._handlers.get(type(event.body))
        return [] if handler is None else handler(event.body, event.line, event.begin)

    def lost_data(self) -> None:
        """The server lost data: positions are unknown until it sends them again."""
        for game in self._table.games.values():
            self._moves.flush(game)
            game.lose()

    def drop(self, game_no: int) -> None:
        """Forget a game whose position is unknown."""
        self._table.games.pop(game_no, None)

    def finish(self) -> None:
        """The stream has ended: no board comes any more for a move that waits for one."""
        for game in self._table.games.values():
            self._moves.flush(game)

    @property
    def oldest(self) -> int:
        """Offset of the first datagram of our oldest game in progress."""
        begun = [game.begin for game in self._table.games.values() if game.ours and not game.over]
        return min(begun, default=1 << 62)

    # -- games begin and end -----------------------------------------------------------------------------------

    def _logged_in(self, body: WhoAmI, line: Line, begin: int) -> list[Event]:
        return [SessionNotice(line, SessionNoticeKind.LOGIN, body.name)]

    def _game_described(self, body: IccGame, line: Line, begin: int) -> list[Event]:
        number = body.game_no
        known = self._table.games.get(number)
        if body.number == _CHANGED and known is not None:
            self._renamed(known, body, line)
            return []
        if body.number == _ISOLATED_BOARD and self._table.run(number) is not None:
            return []  # another board request for a game that is followed
        if known is not None and known.header is not None and body.number == _STARTED[0] and known.header.number != 40:
            return []  # sent to everybody after it was sent to us
        game = self._table.games[number] = DatagramGame(body, begin)
        for handle, titles in ((body.white, body.white_titles), (body.black, body.black_titles)):
            if titles and body.number != _STARTED[0]:
                self._titles[handle.lower()] = in_brackets(titles)
        if known is not None and known.header is None:
            game.clocks, game.exact, game.symbol = known.clocks, known.exact, known.symbol
        self._table.bound()
        run = self._table.boards.runs.get(str(number))
        if body.number in _STARTED[:2] and body.played and run is not None and run.rows:
            run.renewed = True
        return []

    def _renamed(self, game: DatagramGame, body: IccGame, line: Line) -> None:
        before, game.header = game.header, body._replace(number=game.header.number if game.header is not None else 15)
        run = self._table.run(body.game_no)
        if run is None or before is None:
            return
        if (before.white, before.black) != (body.white, body.black):
            run.event(EventKind.NAMES, "names", place_of(line), text=f"{body.white} {body.black}")
            run.white, run.black = body.white, body.black
            run.names = f"{body.white} {body.black}"
        set_facts(run.facts, body)

    def _game_over(self, body: GameOver, line: Line, begin: int) -> list[Event]:
        game = self._table.games.get(body.game_no)
        if game is None or game.header is None or not game.played or game.isolated:
            return []
        self._moves.flush(game)
        game.over = True
        header = game.header
        result, reason = result_of(body.code, body.score, body.description, header.white, header.black)
        return [
            GameEnded(
                line, body.game_no, header.white, header.black, body.description, result, reason.key,
                reason.termination, reason.actor,
            )
        ]  # fmt: skip

    def _number_only(self, body: NumberOnly, line: Line, begin: int) -> list[Event]:
        return self._gone(body.game_no, line) if body.number in _OVER else []

    def _gone(self, number: int, line: Line) -> list[Event]:
        game = self._table.games.pop(number, None)
        if game is not None:
            self._moves.flush(game)
        return [ObservingEnded(line, number)]

    def _relation(self, body: Relation, line: Line, begin: int) -> list[Event]:
        me = self._table.boards.session.me
        if body.player is not None and (me is None or body.player.lower() != me.lower()):
            return []
        if body.symbol == "X":
            return self._gone(body.game_no, line)
        self._table.game(body.game_no, begin).symbol = body.symbol
        return []


_OFFER_KINDS = (
    GameNoticeKind.DRAW_OFFER,
    GameNoticeKind.ADJOURN_REQUEST,
    GameNoticeKind.ABORT_REQUEST,
    GameNoticeKind.TAKEBACK_REQUEST,
)


class DatagramNotices:
    """Takes the datagrams that have an equivalent text line.

    The methods have the arguments of those of ``DatagramClocks``.

    Args:
        table: the games of the connection.
    """

    def __init__(self, table: DatagramGameTable) -> None:
        self._table = table

    def offers(self, body: Offers, line: Line, begin: int) -> list[Event]:
        """Open offers; new ones become notices."""
        game = self._table.game(body.game_no, begin)
        now = tuple(body[2:])
        before, game.offers = game.offers, now
        found: list[Event] = []
        names = (None, None) if game.header is None else (game.header.white, game.header.black)
        for at, (was, value) in enumerate(zip(before, now, strict=True)):
            if value and value != was:
                kind = _OFFER_KINDS[at // 2]
                plies = value if kind is GameNoticeKind.TAKEBACK_REQUEST else None
                found.append(GameNotice(line, kind, body.game_no, names[at % 2], plies, printed(line)))
        return found

    def illegal(self, body: IllegalMove, line: Line, begin: int) -> list[Event]:
        """A move of ours was refused."""
        me = self._table.boards.session.me
        return [GameNotice(line, GameNoticeKind.ILLEGAL_MOVE, body.game_no, me, body.code, body.move)]

    def kibitz(self, body: Kibitz, line: Line, begin: int) -> list[Event]:
        """A kibitz or a whisper."""
        kind = ChatKind.KIBITZ if body.aloud else ChatKind.WHISPER
        return [ChatLine(line, kind, body.player, in_brackets(body.titles) or None, body.game_no, None, body.text)]

    def holdings(self, body: BughouseHoldings, line: Line, begin: int) -> list[Event]:
        """The holdings of both players."""
        run = self._table.run(body.game_no)
        if run is not None:
            _, problem = take_holdings(run, HoldingsLine(line, body.game_no, body.white.upper(), body.black.upper()))
            if problem is not None:
                self._table.complain(line, body.game_no, AnomalyKind.HOLDINGS, problem)
            game = self._table.games.get(body.game_no)
            if game is not None and game.entries and run.position is not None:
                at = game.entries[-1]
                if run.position.board == at.position.board:
                    game.entries[-1] = at._replace(position=run.position)
        return []

    def pgn_tag(self, body: PgnTag, line: Line, begin: int) -> list[Event]:
        """A tag of the game's PGN."""
        run = self._table.run(body.game_no)
        if run is not None:
            if body.name == "Date" and run.facts.date_text is None and "?" not in body.value:
                run.facts.date_text = body.value
            run.event(EventKind.NOTICE, "pgn-tag", place_of(line), actor=body.name, text=body.value)
        return []

    def game_text(self, body: GameText, line: Line, begin: int) -> list[Event]:
        """A message of the server about a game."""
        run = self._table.run(body.game_no)
        if run is not None:
            run.event(EventKind.NOTICE, "game-message", place_of(line), text=body.text)
        return []


def in_brackets(words: str) -> str:
    """``GM TD`` as lines print titles: ``(GM)(TD)``."""
    return "".join(f"({title})" for title in words.split())
