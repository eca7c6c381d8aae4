"""Games told by ICC's level-2 datagrams (style 13 sends no boards at all).

Each game's moves are played by the rules from the position that a list, a FEN or the kind of game tells; the boards so
reckoned go through ``Boards`` as frames do (``told_boards``). Where a position is not known, no board is made up: the
moves stay a gap until a list or a board tells where the game stands.

What other lines tell in words (results, offers, kibitzes) becomes the same events as those lines.
Source: section 8 of the protocol reference (ICC's formats2.txt).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recorder.dialects.icc_moves import ToldMove
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
    ChatKind,
    ChatLine,
    Datagram,
    Event,
    ExamineNotice,
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
from recorder.model import Anomaly, AnomalyKind, EventKind, Ply
from recorder.tracking.boards import Boards
from recorder.tracking.examined import take_notice
from recorder.tracking.holdings import take_holdings
from recorder.tracking.list_games import take_list
from recorder.tracking.position import Position, Rules, position_from_fen, start_position
from recorder.tracking.run import Run
from recorder.tracking.told_boards import DatagramBoard, Times, make_board, set_times, sharpen
from recorder.tracking.told_games import Entry, Heard, ToldGame, play, tell_facts
from recorder.tracking.variants import STANDARD_BOARD, variant_of

__all__ = ["DatagramGames"]

_GAMES_KEPT = 512
_BACKWARD = 23
_ISOLATED_BOARD = 40
_STARTED = (12, 15, 18)
_CHANGED = 100
_OVER = (14, 17, 19)
_OFFER_KINDS = (
    GameNoticeKind.DRAW_OFFER,
    GameNoticeKind.ADJOURN_REQUEST,
    GameNoticeKind.ABORT_REQUEST,
    GameNoticeKind.TAKEBACK_REQUEST,
)


class DatagramGames:
    """Follows the games of one connection by datagrams.

    Args:
        boards: holds the games. titles: handle in lower case → titles, to be filled.
    """

    def __init__(self, boards: Boards, titles: dict[str, str]) -> None:
        self._boards = boards
        self._titles = titles
        self._games: dict[int, ToldGame] = {}
        self._handlers: dict[type, Callable[[Any, Line, int], list[Event]]] = {
            LoggedIn: self._logged_in,
            GameTold: self._game_told,
            GameOver: self._game_over,
            NumberOnly: self._number_only,
            Relation: self._relation,
            Offers: self._offers,
            GoneBack: self._gone_back,
            MovesSent: self._moves_sent,
            MoveList: self._move_list,
            BeganPosition: self._began,
            Kibitz: self._kibitz,
            Held: self._held,
            ClocksSet: self._clocks_set,
            MoreTime: self._more_time,
            IllegalMove: self._illegal,
            JBoard: self._jboard,
            ToldFen: self._fen,
            ToldBoard: self._told_board,
            Msec: self._msec,
            MoveLag: self._move_lag,
            PgnTag: self._pgn_tag,
            GameText: self._game_text,
        }

    # -- the interface -----------------------------------------------------------------------------------------

    def take(self, event: Datagram) -> list[Event]:
        """Take a datagram.

        Returns:
            Events that lines in words make, for those who follow games by them.
        """
        if self._boards.session.family is None:
            self._boards.session.family = "icc"  # no other server has datagrams
        handler = self._handlers.get(type(event.body))
        return [] if handler is None else handler(event.body, event.line, event.begin)

    def lost_data(self) -> None:
        """The server lost data: where the games stand is not known until it tells again."""
        for game in self._games.values():
            self._flush(game)
            game.lose()

    def finish(self) -> None:
        """The stream has ended: no board comes any more for a move that waits for one."""
        for game in self._games.values():
            self._flush(game)

    @property
    def oldest(self) -> int:
        """Where the oldest of our games began to be told of that go on."""
        begun = [game.begin for game in self._games.values() if game.ours and not game.over]
        return min(begun, default=1 << 62)

    # -- who is meant ------------------------------------------------------------------------------------------

    def _game(self, number: int, begin: int) -> ToldGame:
        game = self._games.get(number)
        if game is None:
            game = self._games[number] = ToldGame(None, begin)
            self._bound()
        return game

    def _bound(self) -> None:
        if len(self._games) > _GAMES_KEPT:  # everybody's games may be told of: ours stay longest
            oldest = next(iter(self._games))
            del self._games[next((number for number, game in self._games.items() if not game.ours), oldest)]

    def _run(self, number: int) -> Run | None:
        """The game of this number that is followed."""
        run = self._boards.runs.get(str(number))
        if run is not None and run.following:
            return run
        return self._boards.examined.get(str(number))

    @staticmethod
    def _by_frames(run: Run | None) -> bool:
        """Whether frames tell this game."""
        return run is not None and run.last is not None and not isinstance(run.last, DatagramBoard)

    def _rules(self, game: ToldGame) -> Rules:
        told = game.told
        if told is None:
            return Rules.CHESS
        _, rules = variant_of(f"wild({told.wild})" if told.wild else told.rating_type)
        # The server tells itself whether moves or boards are other than in chess.
        if told.wild and rules is Rules.BOARDS and told.irregular_legality is False and not told.irregular_semantics:
            return Rules.CHESS
        return rules or Rules.CHESS

    # -- games begin and end -----------------------------------------------------------------------------------

    def _logged_in(self, body: LoggedIn, line: Line, begin: int) -> list[Event]:
        return [SessionNotice(line, SessionNoticeKind.LOGIN, body.name)]

    def _game_told(self, body: GameTold, line: Line, begin: int) -> list[Event]:
        number = body.game_no
        known = self._games.get(number)
        if body.number == _CHANGED and known is not None:
            self._renamed(known, body, line)
            return []
        if body.number == _ISOLATED_BOARD and self._run(number) is not None:
            return []  # somebody looks once more at a game that is followed
        if known is not None and known.told is not None and body.number == _STARTED[0] and known.told.number != 40:
            return []  # told to everybody after it was told to us
        game = self._games[number] = ToldGame(body, begin)
        for handle, titles in ((body.white, body.white_titles), (body.black, body.black_titles)):
            if titles and body.number != _STARTED[0]:
                self._titles[handle.lower()] = _titles(titles)
        if known is not None and known.told is None:
            game.clocks, game.exact, game.symbol = known.clocks, known.exact, known.symbol
        self._bound()
        run = self._boards.runs.get(str(number))
        if body.number in _STARTED[:2] and body.played and run is not None and run.rows:
            run.renewed = True
        return []

    def _renamed(self, game: ToldGame, body: GameTold, line: Line) -> None:
        before, game.told = game.told, body._replace(number=game.told.number if game.told is not None else 15)
        run = self._run(body.game_no)
        if run is None or before is None:
            return
        if (before.white, before.black) != (body.white, body.black):
            run.event(EventKind.NAMES, "names", _at(line), text=f"{body.white} {body.black}")
            run.white, run.black = body.white, body.black
            run.white_token, run.black_token = body.white, body.black
        tell_facts(run.facts, body)

    def _game_over(self, body: GameOver, line: Line, begin: int) -> list[Event]:
        game = self._games.get(body.game_no)
        if game is None or game.told is None or not game.played or game.isolated:
            return []
        self._flush(game)
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
        game = self._games.pop(number, None)
        if game is not None:
            self._flush(game)
        return [ObservingEnded(line, number)]

    def _relation(self, body: Relation, line: Line, begin: int) -> list[Event]:
        me = self._boards.session.me
        if body.player is not None and (me is None or body.player.lower() != me.lower()):
            return []
        if body.symbol == "X":
            return self._gone(body.game_no, line)
        self._game(body.game_no, begin).symbol = body.symbol
        return []

    # -- positions ---------------------------------------------------------------------------------------------

    def _began(self, body: BeganPosition, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        self._flush(game)
        rules = self._rules(game)
        try:
            start = self._from_fen(body.fen, rules) if body.fen else (_standard(rules), 0)
        except ValueError:
            self._complain(line, body.game_no, AnomalyKind.MALFORMED, f"no position: {body.fen!r}")
            game.lose()
            return []
        game.list_start, game.listed, game.coming = start, [], body.plies
        if not body.plies:
            self._take_list(game, line)
        return []

    @staticmethod
    def _from_fen(text: str, rules: Rules) -> tuple[Position, int]:
        position = position_from_fen(text, rules)
        fields = text.split()
        move_no = int(fields[5]) if len(fields) > 5 and fields[5].isdecimal() else 1
        if rules is Rules.CRAZYHOUSE and position.hands is None and position.board == STANDARD_BOARD:
            position = position._replace(hands=("", ""))
        return position, 2 * (max(move_no, 1) - 1) + (not position.white_to_move)

    def _move_list(self, body: MoveList, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        self._flush(game)
        rules = self._rules(game)
        if body.board is None:
            start = _standard(rules)
        else:
            # The list prints no rights: those that king and rook at home allow. White is to move.
            start = start_position(_ranks(body.board), True, 15, -1, rules, _hands(rules))
        game.list_start, game.coming = (start, 0), 0
        game.listed = [Heard(move, line) for move in body.moves]
        self._take_list(game, line)
        return []

    def _take_list(self, game: ToldGame, line: Line) -> None:
        """A list is whole: stand where it ends, and give the plies that nobody told before."""
        assert game.list_start is not None
        (start, base), listed = game.list_start, game.listed
        game.listed = []
        entries = [Entry(start)]
        for heard in listed:
            played = None if self._waits_for_board(game) else play(entries[-1].position, heard.move)
            if played is None or isinstance(played, str):
                reason = played or "only a board tells what it leaves"
                text = f"move {len(entries)} of the list cannot be played: {reason}"
                self._complain(line, _number(game), AnomalyKind.MOVELIST, text)
                game.lose()
                return
            entries.append(played[0])
        run = None if game.told is None else self._run(game.told.game_no)
        before, before_base = game.entries, game.base_ply
        game.entries, game.base_ply, game.fen = entries, base, None
        if game.told is None or game.isolated:
            return
        if run is None or (not run.observations and not run.examined):
            suspended = self._boards.runs.get(str(game.told.game_no))
            if suspended is not None and suspended.suspended and suspended.rows and len(entries) > 1:
                self._show(game, line, len(entries) - 1, arrived=False)
                self._add_list(game, listed, line)
            elif not game.played:
                self._show(game, line, len(entries) - 1, arrived=True)
                self._add_list(game, listed, line)
            else:
                self._show_from(game, listed, line, 0)
        elif not game.played or self._by_frames(run) or before_base != base or not before or run.base_ply > base:
            self._show(game, line, len(entries) - 1, arrived=False)
            self._add_list(game, listed, line)
        else:
            same = next(
                (at for at, (one, other) in enumerate(zip(before, entries, strict=False)) if one[0][0] != other[0][0]),
                min(len(before), len(entries)),
            )
            if same < len(before):
                self._show(game, line, same - 1, arrived=False)
            self._show_from(game, listed, line, same)

    def _show_from(self, game: ToldGame, listed: list[Heard], line: Line, first: int) -> None:
        """Place the boards of a list from a place on."""
        for place in range(first, len(game.entries)):
            if place:
                move = listed[place - 1].move
                self._show(game, listed[place - 1].line, place, arrived=False, heard=move)
            else:
                self._show(game, line, 0, arrived=False)

    def _add_list(self, game: ToldGame, listed: list[Heard], line: Line) -> None:
        """Give a list to those who join lists with boards."""
        told = game.told
        assert told is not None
        if not listed:
            return
        rows = [
            ListRow(
                game.base_ply + at, game.entries[at].pretty,
                None if heard.move.time_s is None else 1000 * heard.move.time_s, False, heard.line.offset,
            )
            for at, heard in enumerate(listed, start=1)
        ]  # fmt: skip
        start = make_board(line, (told.game_no, told.white, told.black, -3), game.entries[0].position, game.base_ply,
                           ("none", "none"), False, Times())  # fmt: skip
        unknown = RatingText("UNR", None)
        take_list(
            self._boards,
            MovelistRead(
                line, told.game_no, told.white, unknown, told.black, unknown, None, None, False, None, None, None, None,
                None, None, start, tuple(rows), "*", None, None, None, True, True,
            ),
        )  # fmt: skip

    def _fen(self, body: ToldFen, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        try:
            game.fen = self._from_fen(body.fen, self._rules(game))
        except ValueError:
            self._complain(line, body.game_no, AnomalyKind.MALFORMED, f"no position: {body.fen!r}")
        return []

    def _told_board(self, body: ToldBoard, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        board, number = _ranks(body.board), body.game_no
        if game.held is not None:
            heard, game.held = game.held, None
            self._advance(game, heard, number, board)
            return []
        if not game.entries:
            return []  # which ply it shows is not told
        last = game.entries[-1].position
        if last.board == board and last.white_to_move == body.white_to_move:
            return []
        if last.white_to_move != body.white_to_move:
            # Who does not know chess960 is told its castling by the board alone.
            for squares in ("e1g1c", "e1c1C"):
                castling = ToldMove(None, squares, None, None, None)
                if isinstance(play(last, castling, board), tuple):
                    self._advance(game, Heard(castling, line), number, board)
                    return []
        ply = game.ply + (last.white_to_move != body.white_to_move)
        position = start_position(board, body.white_to_move, last.castling, -1, last.rules)
        game.stand(Entry(position), ply)
        self._show(game, line, 0, arrived=True)
        return []

    def _jboard(self, body: JBoard, line: Line, begin: int) -> list[Event]:
        if body.game_no is None:
            return []
        game = self._game(body.game_no, begin)
        if game.told is None or game.isolated or body.status == -1:
            return []
        rights = sum(1 << bit for bit, right in enumerate(body.castling) if right == "1")
        board, rules = _ranks(body.board), self._rules(game)
        ply = 2 * (body.move_no - 1) + (not body.white_to_move)
        if game.held is not None and ply == game.ply + 1:
            heard, game.held = game.held, None
            self._advance(game, heard, body.game_no, board)
            return []
        if game.entries and ply == game.ply and game.entries[-1].position.board == board:
            return []
        if game.entries and ply == game.ply + 1 and body.smith:
            heard = Heard(ToldMove(body.san or None, body.smith, None, None, None), line)
            if isinstance(play(game.entries[-1].position, heard.move, board), tuple):
                self._advance(game, heard, body.game_no, board)
                return []
        position = start_position(board, body.white_to_move, rights, body.push_file, rules, None)
        game.stand(Entry(position), ply)
        self._show(game, line, 0, arrived=True)
        return []

    # -- moves -------------------------------------------------------------------------------------------------

    def _moves_sent(self, body: MovesSent, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        assert body.move is not None
        heard = Heard(body.move, line)
        if game.coming:
            game.listed.append(heard)
            game.coming -= 1
            if not game.coming:
                self._take_list(game, line)
            return []
        self._flush(game)
        game.offers = (0,) * 8  # a move takes the offers back
        examined = game.told is not None and not game.played and not game.isolated
        if examined and body.move.kind == 2:
            take_notice(self._boards, ExamineNotice(line, "forward", body.game_no, None, 1, _raw(line)))
        if self._waits_for_board(game):
            game.held = heard
        else:
            self._advance(game, heard, body.game_no, None)
        if examined and body.move.kind == 3:
            take_notice(self._boards, ExamineNotice(line, "move", body.game_no, None, None, _raw(line)))
        return []

    def _waits_for_board(self, game: ToldGame) -> bool:
        """Whether the server tells the board after each move, because the usual rules do not give it."""
        told = game.told
        return told is not None and bool(told.irregular_semantics) and self._rules(game) is Rules.BOARDS

    def _flush(self, game: ToldGame) -> None:
        """A move that waited for its board got none."""
        if game.held is not None:
            heard, game.held = game.held, None
            self._advance(game, heard, _number(game), None)

    def _advance(self, game: ToldGame, heard: Heard, number: int | None, board: str | None) -> None:
        """The next move of a game."""
        if game.told is None or game.isolated:
            return
        if not game.entries and not self._find_place(game, heard):
            self._unplaced(game, heard, number, "where the game stands was not told")
            return
        played = play(game.entries[-1].position, heard.move, board)
        if isinstance(played, str):
            self._unplaced(game, heard, number, played)
            return
        game.entries.append(played[0])
        self._show(game, heard.line, len(game.entries) - 1, arrived=True, heard=heard.move)

    def _find_place(self, game: ToldGame, heard: Heard) -> bool:
        """Stand where a board, the frames of the game or its kind tell; False where nothing does."""
        told = game.told
        assert told is not None
        run = self._run(told.game_no)
        if game.fen is not None:
            position, ply = game.fen
            game.fen = None
            game.stand(Entry(position), ply)
            self._show(game, heard.line, 0, arrived=False)
            return True
        if run is not None and run.position is not None and self._by_frames(run):
            before = run.position_at(run.ply - 1)
            shown = Ply._make(run.rows[-1]) if run.rows else None
            if before is not None and shown is not None and _is_move(shown, before, heard):
                game.stand(Entry(before), run.ply - 1)  # the frame of this very move came first
            else:
                game.stand(Entry(run.position), run.ply)
            return True
        if told.number == 15 and told.played and not told.wild and run is None:
            # No list was asked for; our own game begins at the normal start position.
            game.stand(Entry(_standard(self._rules(game))), 0)
            self._show(game, heard.line, 0, arrived=True)
            return True
        return False

    def _unplaced(self, game: ToldGame, heard: Heard, number: int | None, reason: str) -> None:
        """A move that cannot be played: from here on the place is not known."""
        run = None if number is None else self._run(number)
        if run is not None and not self._by_frames(run):
            run.event(EventKind.NOTICE, "unplaced-move", _at(heard.line), text=_raw(heard.line))
            run.gapped = True
        if not game.complained or game.entries:
            kind = AnomalyKind.CONFLICT if game.entries else AnomalyKind.GAP
            self._complain(heard.line, number, kind, f"a datagram's move has no place: {reason}")
            game.complained = True
        game.lose()

    def _gone_back(self, body: GoneBack, line: Line, begin: int) -> list[Event]:
        game = self._games.get(body.game_no)
        if body.number == _BACKWARD:
            take_notice(self._boards, ExamineNotice(line, "backward", body.game_no, None, body.plies, _raw(line)))
        if game is None or game.told is None:
            return []
        self._flush(game)
        if not 0 < body.plies < len(game.entries):
            if body.plies:
                game.lose()
            return []
        del game.entries[-body.plies :]
        game.after = [None, None]
        self._show(game, line, len(game.entries) - 1, arrived=True)
        return []

    # -- showing -----------------------------------------------------------------------------------------------

    def _show(self, game: ToldGame, line: Line, place: int, *, arrived: bool, heard: Any = None) -> None:
        """Place a board of the line, unless it has been shown or somebody only looked at it."""
        told = game.told
        if told is None or game.isolated:
            return
        number, boards = told.game_no, self._boards
        entry, ply = game.entries[place], game.base_ply + place
        times = self._times_after(game, ply, heard)
        run = boards.runs.get(str(number)) if game.played else boards.examined.get(str(number))
        if run is not None and run.position is not None and (run.following or run.examined) and not run.renewed:
            here = run.ply == ply and run.position.board == entry.position.board
            ahead = heard is not None and self._by_frames(run) and run.ply > ply
            if here or ahead or (run.examined and self._by_frames(run)):
                self._settle(game, run)
                return
        me, white = boards.session.me, entry.position.white_to_move
        facing = (number, told.white, told.black, game.relation(me, white))
        board = make_board(line, facing, entry.position, ply, (entry.verbose, entry.pretty), arrived, times)
        facts = boards.pending_facts(number, game.begin)
        if not facts.matches(told.white, told.black):
            del boards.facts[number]
            facts = boards.pending_facts(number, game.begin)
        facts.offset = min(facts.offset, game.begin)
        tell_facts(facts, told)
        boards.place_told(board)
        if run is boards.runs.get(str(number)) or run is boards.examined.get(str(number)):
            boards.facts.pop(number, None)  # told of a game that goes on
        run = boards.runs.get(str(number)) if game.played else boards.examined.get(str(number))
        if run is not None:
            self._begun(run, game, line)
            set_times(run, board)

    @staticmethod
    def _begun(run: Run, game: ToldGame, line: Line) -> None:
        """What a game's first board leaves open, and the datagrams told."""
        assert game.told is not None
        control = game.told.time_control
        if run.current is not None and not run.current.events and not run.rows and control:
            run.event(EventKind.NOTICE, "time-control", _at(line), text=control)
        if run.start_frame is None and not run.rows and not run.lists and run.base_ply == game.base_ply:
            run.start_frame = run.last if isinstance(run.last, DatagramBoard) and not run.last.has_move else None

    @staticmethod
    def _times_after(game: ToldGame, ply: int, heard: Any) -> Times:
        """The clocks after a ply; ``heard`` None: no move was just made."""
        if heard is None:
            return Times(game.clocks[0], game.clocks[1], None, None, (game.exact[0], game.exact[1]))
        side = 0 if ply % 2 else 1
        clock_ms = None if heard.clock_s is None else 1000 * heard.clock_s
        exact = False
        after, game.after[side] = game.after[side], None
        if after is not None and (clock_ms is None or abs(after - clock_ms) < 1000):
            clock_ms, exact = after, True
        game.clocks[side], game.exact[side] = clock_ms, exact
        assert game.told is not None
        mover = (game.told.black if side else game.told.white).lower()
        elapsed_ms = None if heard.time_s is None else 1000 * heard.time_s
        return Times(
            game.clocks[0], game.clocks[1], elapsed_ms, game.lags.pop(mover, None), (game.exact[0], game.exact[1])
        )

    # -- times -------------------------------------------------------------------------------------------------

    def _msec(self, body: Msec, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        side = 0 if body.white else 1
        run = self._run(body.game_no)
        if run is not None and run.position is not None and not run.examined:
            self._settle(game, run)
            to_move = run.position.white_to_move == body.white
            if to_move and not body.running and run.rows:
                game.after[side] = body.clock_ms  # of a move that is on its way, or of a clock that stands
                return []
            self._sharpen(run, body.white, body.clock_ms)
        if game.held is not None:
            game.after[side] = body.clock_ms
            return []
        game.clocks[side], game.exact[side] = body.clock_ms, True
        return []

    @staticmethod
    def _sharpen(run: Run, white: bool, clock_ms: int) -> None:
        """Give the last ply the milliseconds of one of its clocks; before the first move, the start."""
        if run.rows:
            ply = Ply._make(run.rows[-1])
            better = sharpen(ply, white, clock_ms, mover=ply.white_moved == white)
            if better is not None:
                run.rows[-1] = better
        elif run.current is not None and run.current.start is not None:
            start = run.current.start
            if isinstance(run.last, DatagramBoard):
                field = "white_clock_ms" if white else "black_clock_ms"
                start = start._replace(**{field: clock_ms}, precision=1)  # type: ignore[arg-type]
                run.current.start = start

    def _settle(self, game: ToldGame, run: Run) -> None:
        """Give a ply that frames have shown what a datagram before it told more exactly."""
        if not run.rows or not self._by_frames(run):
            return
        side = 0 if run.rows[-1][0] % 2 else 1
        clock_ms, game.after[side] = game.after[side], None
        if clock_ms is None and game.exact[side]:
            clock_ms = game.clocks[side]
        if clock_ms is not None:
            self._sharpen(run, side == 0, clock_ms)

    def _move_lag(self, body: MoveLag, line: Line, begin: int) -> list[Event]:
        for number, game in self._games.items():
            run = self._run(number)
            if run is None or run.examined:
                continue
            names = (run.white.lower(), run.black.lower())
            if body.player.lower() not in names:
                continue
            white = names.index(body.player.lower()) == 0
            last = Ply._make(run.rows[-1]) if run.rows else None
            if last is not None and last.white_moved == white and last.lag_ms is None:
                run.rows[-1] = last._replace(lag_ms=body.lag_ms)
            else:
                game.lags[body.player.lower()] = body.lag_ms
        return []

    def _clocks_set(self, body: ClocksSet, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        clocks = (1000 * body.white_s, 1000 * body.black_s)
        game.clocks, game.exact = list(clocks), [False, False]
        run = self._run(body.game_no)
        if run is not None:
            run.event(EventKind.CLOCK, "set", _at(line), clocks=clocks)
            run.clocks_settled = False
        return []

    def _more_time(self, body: MoreTime, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        side = 0 if body.to_white else 1
        clock_ms = game.clocks[side]
        if clock_ms is not None:
            game.clocks[side] = clock_ms + 1000 * body.seconds
        return [
            GameNotice(line, GameNoticeKind.TIME_ADDED, body.game_no, None, body.seconds, _raw(line)),
        ]

    # -- words and the rest ------------------------------------------------------------------------------------

    def _offers(self, body: Offers, line: Line, begin: int) -> list[Event]:
        game = self._game(body.game_no, begin)
        now = tuple(body[2:])
        before, game.offers = game.offers, now
        told: list[Event] = []
        names = (None, None) if game.told is None else (game.told.white, game.told.black)
        for at, (was, value) in enumerate(zip(before, now, strict=True)):
            if value and value != was:
                kind = _OFFER_KINDS[at // 2]
                plies = value if kind is GameNoticeKind.TAKEBACK_REQUEST else None
                told.append(GameNotice(line, kind, body.game_no, names[at % 2], plies, _raw(line)))
        return told

    def _illegal(self, body: IllegalMove, line: Line, begin: int) -> list[Event]:
        me = self._boards.session.me
        return [GameNotice(line, GameNoticeKind.ILLEGAL_MOVE, body.game_no, me, body.code, body.move)]

    def _kibitz(self, body: Kibitz, line: Line, begin: int) -> list[Event]:
        kind = ChatKind.KIBITZ if body.aloud else ChatKind.WHISPER
        return [ChatLine(line, kind, body.player, _titles(body.titles) or None, body.game_no, None, body.text)]

    def _held(self, body: Held, line: Line, begin: int) -> list[Event]:
        run = self._run(body.game_no)
        if run is not None:
            _, problem = take_holdings(run, HoldingsLine(line, body.game_no, body.white.upper(), body.black.upper()))
            if problem is not None:
                self._complain(line, body.game_no, AnomalyKind.HOLDINGS, problem)
            game = self._games.get(body.game_no)
            if game is not None and game.entries and run.position is not None:
                at = game.entries[-1]
                if run.position.board == at.position.board:
                    game.entries[-1] = at._replace(position=run.position)
        return []

    def _pgn_tag(self, body: PgnTag, line: Line, begin: int) -> list[Event]:
        run = self._run(body.game_no)
        if run is not None:
            if body.name == "Date" and run.facts.date_text is None and "?" not in body.value:
                run.facts.date_text = body.value
            run.event(EventKind.NOTICE, "pgn-tag", _at(line), actor=body.name, text=body.value)
        return []

    def _game_text(self, body: GameText, line: Line, begin: int) -> list[Event]:
        run = self._run(body.game_no)
        if run is not None:
            run.event(EventKind.NOTICE, "game-message", _at(line), text=body.text)
        return []

    def _complain(self, line: Line, number: int | None, kind: AnomalyKind, message: str) -> None:
        self._boards.anomalies.append(Anomaly.of(kind, line.offset, number, message, line.text))


def _standard(rules: Rules) -> Position:
    return start_position(STANDARD_BOARD, True, 15, -1, rules, _hands(rules))


def _hands(rules: Rules) -> tuple[str, str] | None:
    return ("", "") if rules is Rules.CRAZYHOUSE else None


def _ranks(squares: str) -> str:
    return " ".join(squares[at : at + 8] for at in range(0, 64, 8))


def _titles(words: str) -> str:
    """``GM TD`` as lines print titles: ``(GM)(TD)``."""
    return "".join(f"({title})" for title in words.split())


def _number(game: ToldGame) -> int | None:
    return None if game.told is None else game.told.game_no


def _at(line: Line) -> tuple[int, int | None]:
    return line.offset, line.at_ms


def _raw(line: Line) -> str:
    """A datagram's text without the marks around it."""
    return line.text[2:].removesuffix("\x19)").replace("\x19", "")


def _is_move(shown: Ply, before: Position, heard: Heard) -> bool:
    """Whether a ply is this very move."""
    played = play(before, heard.move)
    return isinstance(played, tuple) and played[1][0] == shown.move
