"""Moves and positions in datagrams: each move is played by the rules where the game is."""

from __future__ import annotations

from recorder.dialects.icc.fields import IccMove
from recorder.dialects.icc.values import BeganPosition, DatagramFen, GoneBack, JBoard, MoveList, MovesSent, SimpleBoard
from recorder.events import Event, ExamineNotice, Line, ListRow, MovelistRead, RatingText
from recorder.model import AnomalyKind, EventKind, Ply
from recorder.rules.prove import Position, Rules, position_from_fen, start_position
from recorder.rules.variants import STANDARD_BOARD
from recorder.tracking.datagrams.boards import DatagramBoard, Times, make_board, set_times
from recorder.tracking.datagrams.games import (
    DatagramGame,
    DatagramGameTable,
    DatagramPly,
    ReceivedMove,
    by_frames,
    holdings_of,
    place_of,
    play,
    printed,
    set_facts,
    settle,
    standard_start,
    times_after,
)
from recorder.tracking.examined.boards import take_notice
from recorder.tracking.movelists import take_list
from recorder.tracking.tracked_game import TrackedGame

__all__ = ["DatagramMoves", "DatagramPositions"]

_BACKWARD = 23


class DatagramMoves:
    """Leads games on, move by move.

    Args:
        table: the games of the connection.
    """

    def __init__(self, table: DatagramGameTable) -> None:
        self._table = table

    def sent(self, game: DatagramGame, heard: ReceivedMove, number: int) -> None:
        """A move that has just been made, or shown in an examination."""
        move, line = heard
        self.flush(game)
        game.offers = (0,) * 8  # a move takes the offers back
        examined = game.header is not None and not game.played and not game.isolated
        if examined and move.kind == 2:
            take_notice(self._table.boards, ExamineNotice(line, "forward", number, None, 1, printed(line)))
        if self.waits_for_board(game):
            game.pending = heard
        else:
            self.advance(game, heard, number, None)
        if examined and move.kind == 3:
            take_notice(self._table.boards, ExamineNotice(line, "move", number, None, None, printed(line)))

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
        """The next move of a game.

        Args:
            number: of the game; None: unknown, so no run can be found.
            board: the squares after the move; None: they were not sent.
        """
        if game.header is None or game.isolated:
            return
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
            shown = run.rows[-1] if run.rows else None
            if before is not None and shown is not None and _is_move(shown, before, heard):
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
        """A move that cannot be played: from here on the place is not known.

        Args:
            number: as for ``advance``. reason: why, for the anomaly.
        """
        run = None if number is None else self._table.run(number)
        if run is not None and not by_frames(run):
            run.event(EventKind.NOTICE, "unplaced-move", place_of(heard.line), text=printed(heard.line))
            run.gapped = True
        if not game.complained or game.entries:
            kind = AnomalyKind.CONFLICT if game.entries else AnomalyKind.GAP
            self._table.complain(heard.line, number, kind, f"a datagram's move has no place: {reason}")
            game.complained = True
        game.lose()

    def gone_back(self, body: GoneBack, line: Line, begin: int) -> list[Event]:
        """Moves were taken back, or an examination went back."""
        game = self._table.games.get(body.game_no)
        if body.number == _BACKWARD:
            take_notice(
                self._table.boards, ExamineNotice(line, "backward", body.game_no, None, body.plies, printed(line))
            )
        if game is None or game.header is None:
            return []
        self.flush(game)
        if not 0 < body.plies < len(game.entries):
            if body.plies:
                game.lose()
            return []
        del game.entries[-body.plies :]
        game.after = [None, None]
        self.show(game, line, len(game.entries) - 1, arrived=True)
        return []

    def show(self, game: DatagramGame, line: Line, place: int, *, arrived: bool, heard: IccMove | None = None) -> None:
        """Place a board of the line, unless it has been shown or is a single requested board.

        Args:
            place: of the board in ``game.entries``. arrived: its move was just played.
            heard: the move as it was sent, with its times; None: the board follows from a list or a position.
        """
        header = game.header
        if header is None or game.isolated:
            return
        number, boards = header.game_no, self._table.boards
        entry, ply = game.entries[place], game.base_ply + place
        times = times_after(game, ply, heard)
        run = boards.runs.get(str(number)) if game.played else boards.examined.get(str(number))
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
    """Complete a game's first board with facts of datagrams."""
    assert game.header is not None
    control = game.header.time_control
    if run.current is not None and not run.current.events and not run.rows and control:
        run.event(EventKind.NOTICE, "time-control", place_of(line), text=control)
    if run.start_frame is None and not run.rows and not run.lists and run.base_ply == game.base_ply:
        run.start_frame = run.last if isinstance(run.last, DatagramBoard) and not run.last.has_move else None


def _is_move(shown: Ply, before: Position, heard: ReceivedMove) -> bool:
    """Whether a ply is this very move."""
    played = play(before, heard.move)
    return isinstance(played, tuple) and played[1][0] == shown.move


class DatagramPositions:
    """Takes the datagrams about positions; its methods have the arguments of those of ``DatagramClocks``.

    Args:
        table: the games of the connection.
        moves: leads them on.
    """

    def __init__(self, table: DatagramGameTable, moves: DatagramMoves) -> None:
        self._table = table
        self._moves = moves

    def began(self, body: BeganPosition, line: Line, begin: int) -> list[Event]:
        """The position that a game began at; so many moves of its list come next."""
        game = self._table.game(body.game_no, begin)
        self._moves.flush(game)
        rules = self._table.rules(game)
        try:
            start = _from_fen(body.fen, rules) if body.fen else (standard_start(rules), 0)
        except ValueError:
            self._table.complain(line, body.game_no, AnomalyKind.MALFORMED, f"no position: {body.fen!r}")
            game.lose()
            return []
        game.list_start, game.listed, game.coming = start, [], body.plies
        if not body.plies:
            self._take_list(game, line)
        return []

    def move_list(self, body: MoveList, line: Line, begin: int) -> list[Event]:
        """A whole list in one datagram."""
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
        return []

    def moves_sent(self, body: MovesSent, line: Line, begin: int) -> list[Event]:
        """A move: the next one of an open list, or of the game."""
        game = self._table.game(body.game_no, begin)
        assert body.move is not None
        heard = ReceivedMove(body.move, line)
        if game.coming:
            game.listed.append(heard)
            game.coming -= 1
            if not game.coming:
                self._take_list(game, line)
            return []
        self._moves.sent(game, heard, body.game_no)
        return []

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
                self._table.complain(line, game.number, AnomalyKind.MOVELIST, text)
                game.lose()
                return
            entries.append(played[0])
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
                (at for at, (one, other) in enumerate(zip(before, entries, strict=False)) if one[0][0] != other[0][0]),
                min(len(before), len(entries)),
            )
            if same < len(before):
                self._moves.show(game, line, same - 1, arrived=False)
            self._show_from(game, listed, line, same)

    def _show_from(self, game: DatagramGame, listed: list[ReceivedMove], line: Line, first: int) -> None:
        """Place the boards of a list from a place on."""
        for place in range(first, len(game.entries)):
            if place:
                move = listed[place - 1].move
                self._moves.show(game, listed[place - 1].line, place, arrived=False, heard=move)
            else:
                self._moves.show(game, line, 0, arrived=False)

    def _add_list(self, game: DatagramGame, listed: list[ReceivedMove], line: Line) -> None:
        """Give a list to those who join lists with boards."""
        header = game.header
        assert header is not None
        if not listed:
            return
        rows = [
            ListRow(
                game.base_ply + at, game.entries[at].pretty,
                None if heard.move.time_s is None else 1000 * heard.move.time_s, False, heard.line.offset,
            )
            for at, heard in enumerate(listed, start=1)
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

    def fen(self, body: DatagramFen, line: Line, begin: int) -> list[Event]:
        """A position sent before any move."""
        game = self._table.game(body.game_no, begin)
        try:
            game.fen = _from_fen(body.fen, self._table.rules(game))
        except ValueError:
            self._table.complain(line, body.game_no, AnomalyKind.MALFORMED, f"no position: {body.fen!r}")
        return []

    def simple_board(self, body: SimpleBoard, line: Line, begin: int) -> list[Event]:
        """A board with nothing but its squares and who is to move."""
        game = self._table.game(body.game_no, begin)
        board, number = _ranks(body.board), body.game_no
        if game.pending is not None:
            heard, game.pending = game.pending, None
            self._moves.advance(game, heard, number, board)
            return []
        if not game.entries:
            return []  # its ply is unknown
        last = game.entries[-1].position
        if last.board == board and last.white_to_move == body.white_to_move:
            return []
        if last.white_to_move != body.white_to_move:
            # Clients without chess960 receive its castling only as a board.
            for squares in ("e1g1c", "e1c1C"):
                castling = IccMove(None, squares, None, None, None)
                if isinstance(play(last, castling, board), tuple):
                    self._moves.advance(game, ReceivedMove(castling, line), number, board)
                    return []
        ply = game.ply + (last.white_to_move != body.white_to_move)
        position = start_position(board, body.white_to_move, last.castling, -1, last.rules)
        game.start_at(DatagramPly(position), ply)
        self._moves.show(game, line, 0, arrived=True)
        return []

    def jboard(self, body: JBoard, line: Line, begin: int) -> list[Event]:
        """A board with its rights and clocks, after a move or without one."""
        if body.game_no is None:
            return []
        game = self._table.game(body.game_no, begin)
        if game.header is None or game.isolated or body.status == -1:
            return []
        rights = sum(1 << bit for bit, right in enumerate(body.castling) if right == "1")
        board, rules = _ranks(body.board), self._table.rules(game)
        ply = 2 * (body.move_no - 1) + (not body.white_to_move)
        if game.pending is not None and ply == game.ply + 1:
            heard, game.pending = game.pending, None
            self._moves.advance(game, heard, body.game_no, board)
            return []
        if game.entries and ply == game.ply and game.entries[-1].position.board == board:
            return []
        if game.entries and ply == game.ply + 1 and body.smith:
            heard = ReceivedMove(IccMove(body.san or None, body.smith, None, None, None), line)
            if isinstance(play(game.entries[-1].position, heard.move, board), tuple):
                self._moves.advance(game, heard, body.game_no, board)
                return []
        position = start_position(board, body.white_to_move, rights, body.push_file, rules, None)
        game.start_at(DatagramPly(position), ply)
        self._moves.show(game, line, 0, arrived=True)
        return []


def _from_fen(text: str, rules: Rules) -> tuple[Position, int]:
    position = position_from_fen(text, rules)
    fields = text.split()
    move_no = int(fields[5]) if len(fields) > 5 and fields[5].isdecimal() else 1
    if rules is Rules.CRAZYHOUSE and position.holdings is None and position.board == STANDARD_BOARD:
        position = position._replace(holdings=("", ""))
    return position, 2 * (max(move_no, 1) - 1) + (not position.white_to_move)


def _ranks(squares: str) -> str:
    return " ".join(squares[at : at + 8] for at in range(0, 64, 8))
