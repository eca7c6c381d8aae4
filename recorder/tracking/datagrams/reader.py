r"""Reads ICC's level-2 datagrams into events (style 13 sends no boards).

The problem. With datagrams ICC sends each fact once and no position: a move is its squares and its SAN, a clock comes
before or after the move it belongs to, and a game is named by a number. Here observation of a game begins (18), one
move of its past is listed (101, 24), and then one is played::

    \x19(18 7 Ann Bob 0 Blitz 1 5 0 5 0 1 {} 1500 1600\x19)
    \x19(101 7 {} 1\x19)
    \x19(24 7 e4 e2e4 3 297 1\x19)
    \x19(56 7 B 298917 0\x19)          Black's clock in milliseconds, stopped: the move is on its way
    \x19(24 7 e5 e7e5 1 298 1\x19)

A list, a FEN or the kind of game gives the first position, and from there each move is played by the rules. The board
after it goes through ``Boards`` as a frame would (``boards.py`` makes it), so that takebacks, gaps and ends are
decided in one place for all servers. Values that no datagram contains are removed from the ply again.

What is asked for each move (``DatagramMoves``):

1. Is a list being sent? Then it is kept until the list is complete, and all of it is compared with what is known.
2. Does this kind of game have boards that the rules cannot give (``irregular_semantics``)? Then the move waits in
   ``pending`` for its board, or is played without one when something else comes.
3. Is the position known? Otherwise a FEN, the game's own frames, or the start of our own game may give it.
4. Can it be played? If not, the position is lost (``lose``): the moves stay a gap until a list or a board gives a
   position again. The first move without a place is an anomaly; the others are events of their game.

Frames of the same game have priority (``by_frames``): then datagrams only make its times more exact. A clock that came
before its move waits in ``after``, a lag in ``lags``.

What must never happen: an invented board; a clock of one move at another one (a clock counts only if it is within a
second of the printed one); a position of one connection used on the next.

Results, offers and kibitzes become the same events as their text lines, so that the tracker has one way for both.
Source: section 8 of the protocol reference (ICC's formats2.txt). Nothing here has been seen on a wire: no transcript
with datagrams is public.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recorder.dialects.icc.units import (
    BeganPosition,
    BughouseHoldings,
    ClocksSet,
    DatagramFen,
    GameOver,
    GameText,
    GoneBack,
    IccGame,
    IccMove,
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
    result_of,
)
from recorder.events import (
    ChatKind,
    ChatLine,
    Datagram,
    Event,
    ExamineNotice,
    ExamineNoticeKind,
    GameEnded,
    GameNotice,
    GameNoticeKind,
    HoldingsLine,
    Line,
    ListRow,
    MovelistRead,
    ObservingEnded,
    RatingText,
    SessionNotice,
    SessionNoticeKind,
)
from recorder.model import AnomalyKind, EventKind, Ply
from recorder.rules.fen import plies_before, position_from_fen, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.variants import STANDARD_BOARD
from recorder.tracking.boards import Boards
from recorder.tracking.datagrams.boards import DatagramBoard, Times, make_board, set_times
from recorder.tracking.datagrams.games import (
    DatagramClocks,
    DatagramGame,
    DatagramGameTable,
    DatagramPly,
    ReceivedMove,
    by_frames,
    holdings_of,
    play,
    printed,
    set_facts,
    settle,
    standard_start,
    times_after,
)
from recorder.tracking.examined.boards import take_notice
from recorder.tracking.holdings import take_holdings
from recorder.tracking.movelists import take_list
from recorder.tracking.tracked_game import TrackedGame

_K = ExamineNoticeKind
_BACKWARD = 23


class DatagramMoves:
    def __init__(self, table: DatagramGameTable) -> None:
        self._table = table

    def sent(self, game: DatagramGame, heard: ReceivedMove, number: int) -> None:
        """A move that has just been made, or shown in an examination."""
        move, line = heard
        self.flush(game)
        game.offers = (0,) * 8  # a move takes the offers back
        examined = game.header is not None and not game.played and not game.isolated
        if examined and move.kind == 2:
            take_notice(self._table.boards, ExamineNotice(line, _K.FORWARD, number, None, 1, printed(line)))
        if self.waits_for_board(game):
            game.pending = heard
        else:
            self.advance(game, heard, number, None)
        if examined and move.kind == 3:
            take_notice(self._table.boards, ExamineNotice(line, _K.MOVE, number, None, None, printed(line)))

    def waits_for_board(self, game: DatagramGame) -> bool:
        """Whether the server sends the board after each move, because the usual rules do not give it."""
        header = game.header
        return header is not None and bool(header.irregular_semantics) and self._table.rules(game) is Rules.BOARDS

    def flush(self, game: DatagramGame) -> None:
        """A move that waited for its board got none."""
        if game.pending is not None:
            heard, game.pending = game.pending, None
            self.advance(game, heard, game.number, None)

    def advance(self, game: DatagramGame, heard: ReceivedMove, number: int | None, board: str | None) -> None:
        """Play the next move; ``number`` and ``board`` are None if they are not known."""
        if game.header is None or game.isolated:
            return
        # ``entries`` is the line from a known position on. While it is empty, every move asks again for a position.
        if not game.entries and not self._find_place(game, heard):
            self._unplaced(game, heard, number, "the position of the game is unknown")
            return
        played = play(game.entries[-1].position, heard.move, board)
        if isinstance(played, str):
            self._unplaced(game, heard, number, played)
            return
        game.entries.append(played[0])
        self.show(game, heard.line, len(game.entries) - 1, arrived=True, heard=heard.move)

    def _find_place(self, game: DatagramGame, heard: ReceivedMove) -> bool:
        """Set the position from a board, the game's frames or its kind; False if none gives it."""
        header = game.header
        assert header is not None
        run = self._table.run(header.game_no)
        if game.fen is not None:
            position, ply = game.fen
            game.fen = None
            game.start_at(DatagramPly(position), ply)
            self.show(game, heard.line, 0, arrived=False)
            return True
        if run is not None and run.position is not None and by_frames(run):
            before = run.position_at(run.ply - 1)
            last = run.rows[-1] if run.rows else None
            if before is not None and last is not None and _is_move(last, before, heard):
                game.start_at(DatagramPly(before), run.ply - 1)  # the frame of this very move came first
            else:
                game.start_at(DatagramPly(run.position), run.ply)
            return True
        if header.number == 15 and header.played and not header.wild and run is None:
            # No list was asked for; our own game begins at the normal start position.
            game.start_at(DatagramPly(standard_start(self._table.rules(game))), 0)
            self.show(game, heard.line, 0, arrived=True)
            return True
        return False

    def _unplaced(self, game: DatagramGame, heard: ReceivedMove, number: int | None, reason: str) -> None:
        """Note, with the reason, a move that cannot be played: from here on the position is not known."""
        run = None if number is None else self._table.run(number)
        if run is not None and not by_frames(run):
            run.event(EventKind.NOTICE, "unplaced-move", heard.line, text=printed(heard.line))
            run.gapped = True
        if not game.complained or game.entries:
            kind = AnomalyKind.CONFLICT if game.entries else AnomalyKind.GAP
            self._table.boards.complain(kind, heard.line, number, f"a datagram's move has no place: {reason}")
            game.complained = True
        game.lose()

    def gone_back(self, body: GoneBack, line: Line, begin: int) -> None:
        game = self._table.games.get(body.game_no)
        if body.number == _BACKWARD:
            take_notice(
                self._table.boards,
                ExamineNotice(line, _K.BACKWARD, body.game_no, None, body.plies, printed(line)),
            )
        if game is None or game.header is None:
            return
        self.flush(game)
        if not 0 < body.plies < len(game.entries):
            if body.plies:
                game.lose()
            return
        del game.entries[-body.plies :]
        game.after = [None, None]
        self.show(game, line, len(game.entries) - 1, arrived=True)

    def show(self, game: DatagramGame, line: Line, index: int, *, arrived: bool, heard: IccMove | None = None) -> None:
        """Place a board of the line, unless it has been shown or is a single requested board."""
        header = game.header
        if header is None or game.isolated:
            return
        number, boards = header.game_no, self._table.boards
        entry, ply = game.entries[index], game.base_ply + index
        times = times_after(game, ply, heard)
        run = boards.runs.get(str(number)) if game.played else boards.examined.get(str(number))
        # A board that frames have shown already is not placed again: the datagram only makes its times more exact.
        if run is not None and run.position is not None and (run.following or run.examined) and not run.renewed:
            here = run.ply == ply and run.position.board == entry.position.board
            ahead = heard is not None and by_frames(run) and run.ply > ply
            if here or ahead or (run.examined and by_frames(run)):
                settle(game, run)
                return
        me, white = boards.session.me, entry.position.white_to_move
        facing = (number, header.white, header.black, game.relation(me, white))
        board = make_board(line, facing, entry.position, ply, (entry.verbose, entry.pretty), arrived, times)
        facts = boards.pending_facts(number, game.begin)
        if not facts.matches(header.white, header.black):
            del boards.facts[number]
            facts = boards.pending_facts(number, game.begin)
        facts.offset = min(facts.offset, game.begin)
        set_facts(facts, header)
        boards.place_datagram_board(board)
        if run is boards.runs.get(str(number)) or run is boards.examined.get(str(number)):
            boards.facts.pop(number, None)  # of a game in progress
        run = boards.runs.get(str(number)) if game.played else boards.examined.get(str(number))
        if run is not None:
            _begun(run, game, line)
            set_times(run, board)


def _begun(run: TrackedGame, game: DatagramGame, line: Line) -> None:
    assert game.header is not None
    control = game.header.time_control
    if run.current is not None and not run.current.events and not run.rows and control:
        run.event(EventKind.NOTICE, "time-control", line, text=control)
    if run.start_frame is None and not run.rows and not run.lists and run.base_ply == game.base_ply:
        run.start_frame = run.last if isinstance(run.last, DatagramBoard) and not run.last.has_move else None


def _is_move(last: Ply, before: Position, heard: ReceivedMove) -> bool:
    played = play(before, heard.move)
    return isinstance(played, tuple) and played[1][0] == last.move


class DatagramPositions:
    """Reads the datagrams about positions; its methods have the arguments of those of ``DatagramClocks``."""

    def __init__(self, table: DatagramGameTable, moves: DatagramMoves) -> None:
        self._table = table
        self._moves = moves

    def began(self, body: BeganPosition, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        self._moves.flush(game)
        rules = self._table.rules(game)
        try:
            start = _from_fen(body.fen, rules) if body.fen else (standard_start(rules), 0)
        except ValueError:
            self._table.boards.complain(AnomalyKind.MALFORMED, line, body.game_no, f"no position: {body.fen!r}")
            game.lose()
            return
        game.list_start, game.listed, game.coming = start, [], body.plies
        if not body.plies:
            self._take_list(game, line)

    def move_list(self, body: MoveList, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        self._moves.flush(game)
        rules = self._table.rules(game)
        if body.board is None:
            start = standard_start(rules)
        else:
            # The list prints no rights: those that king and rook at home allow. White is to move.
            start = start_position(_ranks(body.board), True, 15, -1, rules, holdings_of(rules))
        game.list_start, game.coming = (start, 0), 0
        game.listed = [ReceivedMove(move, line) for move in body.moves]
        self._take_list(game, line)

    def moves_sent(self, body: MovesSent, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        assert body.move is not None
        heard = ReceivedMove(body.move, line)
        if game.coming:
            game.listed.append(heard)
            game.coming -= 1
            if not game.coming:
                self._take_list(game, line)
            return
        self._moves.sent(game, heard, body.game_no)

    def _take_list(self, game: DatagramGame, line: Line) -> None:
        """A list is complete: continue from its end, and add the plies that were missing."""
        assert game.list_start is not None
        (start, base), listed = game.list_start, game.listed
        game.listed = []
        entries = [DatagramPly(start)]
        for heard in listed:
            played = None if self._moves.waits_for_board(game) else play(entries[-1].position, heard.move)
            if played is None or isinstance(played, str):
                reason = played or "the position after it is unknown without a board"
                text = f"move {len(entries)} of the list cannot be played: {reason}"
                self._table.boards.complain(AnomalyKind.MOVELIST, line, game.number, text)
                game.lose()
                return
            entries.append(played[0])
        # A list that is complete replaces what was known of the line. If our boards followed it so far, only the plies
        # that they lack are shown; otherwise the list is given to the tracker, which joins it with the boards.
        run = None if game.header is None else self._table.run(game.header.game_no)
        before, before_base = game.entries, game.base_ply
        game.entries, game.base_ply, game.fen = entries, base, None
        if game.header is None or game.isolated:
            return
        if run is None or (not run.observations and not run.examined):
            suspended = self._table.boards.runs.get(str(game.header.game_no))
            if suspended is not None and suspended.suspended and suspended.rows and len(entries) > 1:
                self._moves.show(game, line, len(entries) - 1, arrived=False)
                self._add_list(game, listed, line)
            elif not game.played:
                self._moves.show(game, line, len(entries) - 1, arrived=True)
                self._add_list(game, listed, line)
            else:
                self._show_from(game, listed, line, 0)
        elif not game.played or by_frames(run) or before_base != base or not before or run.base_ply > base:
            self._moves.show(game, line, len(entries) - 1, arrived=False)
            self._add_list(game, listed, line)
        else:
            same = next(
                (
                    index
                    for index, (one, other) in enumerate(zip(before, entries, strict=False))
                    if one.position.board != other.position.board
                ),
                min(len(before), len(entries)),
            )
            if same < len(before):
                self._moves.show(game, line, same - 1, arrived=False)
            self._show_from(game, listed, line, same)

    def _show_from(self, game: DatagramGame, listed: list[ReceivedMove], line: Line, first: int) -> None:
        for index in range(first, len(game.entries)):
            if index:
                move = listed[index - 1].move
                self._moves.show(game, listed[index - 1].line, index, arrived=False, heard=move)
            else:
                self._moves.show(game, line, 0, arrived=False)

    def _add_list(self, game: DatagramGame, listed: list[ReceivedMove], line: Line) -> None:
        header = game.header
        assert header is not None
        if not listed:
            return
        rows = [
            ListRow(
                game.base_ply + number, game.entries[number].pretty,
                None if heard.move.time_s is None else 1000 * heard.move.time_s, False, heard.line.offset,
            )
            for number, heard in enumerate(listed, start=1)
        ]  # fmt: skip
        facing = (header.game_no, header.white, header.black, -3)
        first = game.entries[0].position
        start = make_board(line, facing, first, game.base_ply, ("none", "none"), False, Times())
        unknown = RatingText("UNR", None)
        take_list(
            self._table.boards,
            MovelistRead(
                line, header.game_no, header.white, unknown, header.black, unknown, None, None, False, False, None,
                None, None, None, None, None, start, tuple(rows), "*", None, None, None, True, True,
            ),
        )  # fmt: skip

    def fen(self, body: DatagramFen, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        try:
            game.fen = _from_fen(body.fen, self._table.rules(game))
        except ValueError:
            self._table.boards.complain(AnomalyKind.MALFORMED, line, body.game_no, f"no position: {body.fen!r}")

    def simple_board(self, body: SimpleBoard, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        board, number = _ranks(body.board), body.game_no
        if game.pending is not None:
            heard, game.pending = game.pending, None
            self._moves.advance(game, heard, number, board)
            return
        if not game.entries:
            return  # its ply is unknown
        last = game.entries[-1].position
        if last.board == board and last.white_to_move == body.white_to_move:
            return
        if last.white_to_move != body.white_to_move:
            # Clients without chess960 receive its castling only as a board.
            for squares in ("e1g1c", "e1c1C"):
                castling = IccMove(None, squares, None, None, None)
                if isinstance(play(last, castling, board), tuple):
                    self._moves.advance(game, ReceivedMove(castling, line), number, board)
                    return
        ply = game.ply + (last.white_to_move != body.white_to_move)
        position = start_position(board, body.white_to_move, last.castling, -1, last.rules)
        game.start_at(DatagramPly(position), ply)
        self._moves.show(game, line, 0, arrived=True)

    def jboard(self, body: JBoard, line: Line, begin: int) -> None:
        if body.game_no is None:
            return
        game = self._table.game(body.game_no, begin)
        if game.header is None or game.isolated or body.status == -1:
            return
        rights = sum(1 << bit for bit, right in enumerate(body.castling) if right == "1")
        board, rules = _ranks(body.board), self._table.rules(game)
        ply = 2 * (body.move_no - 1) + (not body.white_to_move)
        if game.pending is not None and ply == game.ply + 1:
            heard, game.pending = game.pending, None
            self._moves.advance(game, heard, body.game_no, board)
            return
        if game.entries and ply == game.ply and game.entries[-1].position.board == board:
            return
        if game.entries and ply == game.ply + 1 and body.smith:
            heard = ReceivedMove(IccMove(body.san or None, body.smith, None, None, None), line)
            if isinstance(play(game.entries[-1].position, heard.move, board), tuple):
                self._moves.advance(game, heard, body.game_no, board)
                return
        position = start_position(board, body.white_to_move, rights, body.push_file, rules, None)
        game.start_at(DatagramPly(position), ply)
        self._moves.show(game, line, 0, arrived=True)


def _from_fen(text: str, rules: Rules) -> tuple[Position, int]:
    position = position_from_fen(text, rules)
    if rules is Rules.CRAZYHOUSE and position.holdings is None and position.board == STANDARD_BOARD:
        position = position._replace(holdings=("", ""))
    return position, plies_before(text, position.white_to_move)


def _ranks(squares: str) -> str:
    return " ".join(squares[square : square + 8] for square in range(0, 64, 8))


_ISOLATED_BOARD = 40
_STARTED = (12, 15, 18)
_CHANGED = 100
_OVER = (14, 17, 19)


class DatagramGames:
    """``titles`` (handle in lower case → titles) is filled."""

    def __init__(self, boards: Boards, titles: dict[str, str]) -> None:
        self._table = table = DatagramGameTable(boards)
        self._titles = titles
        self._moves = moves = DatagramMoves(table)
        positions, clocks, words = DatagramPositions(table, moves), DatagramClocks(table), DatagramNotices(table)
        self._handlers: dict[type, Callable[[Any, Line, int], list[Event] | None]] = {
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
        """Process a datagram; return the events of equivalent text lines, for readers that follow games by them."""
        if self._table.boards.session.family is None:
            self._table.boards.session.family = "icc"  # no other server has datagrams
        handler = self._handlers.get(type(event.body))
        return [] if handler is None else handler(event.body, event.line, event.begin) or []

    def lost_data(self) -> None:
        """The server lost data: positions are unknown until it sends them again."""
        for game in self._table.games.values():
            self._moves.flush(game)
            game.lose()

    def drop(self, game_no: int) -> None:
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

    def _game_described(self, body: IccGame, line: Line, begin: int) -> None:
        number = body.game_no
        old = self._table.games.get(number)
        if body.number == _CHANGED and old is not None:
            self._renamed(old, body, line)
            return
        if body.number == _ISOLATED_BOARD and self._table.run(number) is not None:
            return  # another board request for a game that is followed
        if old is not None and old.header is not None and body.number == _STARTED[0] and old.header.number != 40:
            return  # sent to everybody after it was sent to us
        game = self._table.games[number] = DatagramGame(body, begin)
        for handle, titles in ((body.white, body.white_titles), (body.black, body.black_titles)):
            if titles and body.number != _STARTED[0]:
                self._titles[handle.lower()] = in_brackets(titles)
        if old is not None and old.header is None:
            game.clocks, game.exact, game.symbol = old.clocks, old.exact, old.symbol
        self._table.bound()
        run = self._table.boards.runs.get(str(number))
        if body.number in _STARTED[:2] and body.played and run is not None and run.rows:
            run.renewed = True

    def _renamed(self, game: DatagramGame, body: IccGame, line: Line) -> None:
        before, game.header = game.header, body._replace(number=game.header.number if game.header is not None else 15)
        run = self._table.run(body.game_no)
        if run is None or before is None:
            return
        if (before.white, before.black) != (body.white, body.black):
            run.event(EventKind.NAMES, "names", line, text=f"{body.white} {body.black}")
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
    """Reads the datagrams that have an equivalent text line; arguments are those of ``DatagramClocks``."""

    def __init__(self, table: DatagramGameTable) -> None:
        self._table = table

    def offers(self, body: Offers, line: Line, begin: int) -> list[Event]:
        game = self._table.game(body.game_no, begin)
        now = tuple(body[2:])
        before, game.offers = game.offers, now
        notices: list[Event] = []
        names = (None, None) if game.header is None else (game.header.white, game.header.black)
        for index, (was, value) in enumerate(zip(before, now, strict=True)):
            if value and value != was:
                kind = _OFFER_KINDS[index // 2]
                plies = value if kind is GameNoticeKind.TAKEBACK_REQUEST else None
                notices.append(GameNotice(line, kind, body.game_no, names[index % 2], plies, printed(line)))
        return notices

    def illegal(self, body: IllegalMove, line: Line, begin: int) -> list[Event]:
        me = self._table.boards.session.me
        return [GameNotice(line, GameNoticeKind.ILLEGAL_MOVE, body.game_no, me, body.code, body.move)]

    def kibitz(self, body: Kibitz, line: Line, begin: int) -> list[Event]:
        kind = ChatKind.KIBITZ if body.aloud else ChatKind.WHISPER
        return [ChatLine(line, kind, body.player, in_brackets(body.titles) or None, body.game_no, None, body.text)]

    def holdings(self, body: BughouseHoldings, line: Line, begin: int) -> None:
        run = self._table.run(body.game_no)
        if run is not None:
            _, problem = take_holdings(run, HoldingsLine(line, body.game_no, body.white.upper(), body.black.upper()))
            if problem is not None:
                self._table.boards.complain(AnomalyKind.HOLDINGS, line, body.game_no, problem)
            game = self._table.games.get(body.game_no)
            if game is not None and game.entries and run.position is not None:
                entry = game.entries[-1]
                if run.position.board == entry.position.board:
                    game.entries[-1] = entry._replace(position=run.position)

    def pgn_tag(self, body: PgnTag, line: Line, begin: int) -> None:
        run = self._table.run(body.game_no)
        if run is not None:
            if body.name == "Date" and run.facts.date_text is None and "?" not in body.value:
                run.facts.date_text = body.value
            run.event(EventKind.NOTICE, "pgn-tag", line, actor=body.name, text=body.value)

    def game_text(self, body: GameText, line: Line, begin: int) -> None:
        run = self._table.run(body.game_no)
        if run is not None:
            run.event(EventKind.NOTICE, "game-message", line, text=body.text)


def in_brackets(words: str) -> str:
    """``GM TD`` as lines print titles: ``(GM)(TD)``."""
    return "".join(f"({title})" for title in words.split())
