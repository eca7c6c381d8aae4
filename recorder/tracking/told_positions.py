"""Positions that datagrams tell: lists of moves, starts, FENs and boards, from which moves are played on."""

from __future__ import annotations

from recorder.dialects.icc_moves import ToldMove
from recorder.dialects.icc_told import BeganPosition, JBoard, MoveList, MovesSent, ToldBoard, ToldFen
from recorder.events import Event, Line, ListRow, MovelistRead, RatingText
from recorder.model import AnomalyKind
from recorder.tracking.list_games import take_list
from recorder.tracking.position import Position, Rules, position_from_fen, start_position
from recorder.tracking.told_boards import Times, make_board
from recorder.tracking.told_book import ToldBook, by_frames, hands_of, standard_start
from recorder.tracking.told_games import Entry, Heard, ToldGame, play
from recorder.tracking.told_moves import ToldMoves
from recorder.tracking.variants import STANDARD_BOARD

__all__ = ["ToldPositions"]


class ToldPositions:
    """Takes the datagrams that tell where a game stands.

    Args:
        book: the games of the connection. moves: leads them on.
    """

    def __init__(self, book: ToldBook, moves: ToldMoves) -> None:
        self._book = book
        self._moves = moves

    def began(self, body: BeganPosition, line: Line, begin: int) -> list[Event]:
        """The position that a game began at; so many moves of its list come next."""
        game = self._book.game(body.game_no, begin)
        self._moves.flush(game)
        rules = self._book.rules(game)
        try:
            start = _from_fen(body.fen, rules) if body.fen else (standard_start(rules), 0)
        except ValueError:
            self._book.complain(line, body.game_no, AnomalyKind.MALFORMED, f"no position: {body.fen!r}")
            game.lose()
            return []
        game.list_start, game.listed, game.coming = start, [], body.plies
        if not body.plies:
            self._take_list(game, line)
        return []

    def move_list(self, body: MoveList, line: Line, begin: int) -> list[Event]:
        """A whole list in one datagram."""
        game = self._book.game(body.game_no, begin)
        self._moves.flush(game)
        rules = self._book.rules(game)
        if body.board is None:
            start = standard_start(rules)
        else:
            # The list prints no rights: those that king and rook at home allow. White is to move.
            start = start_position(_ranks(body.board), True, 15, -1, rules, hands_of(rules))
        game.list_start, game.coming = (start, 0), 0
        game.listed = [Heard(move, line) for move in body.moves]
        self._take_list(game, line)
        return []

    def moves_sent(self, body: MovesSent, line: Line, begin: int) -> list[Event]:
        """A move: the next of a list that is being told, or the next of the game."""
        game = self._book.game(body.game_no, begin)
        assert body.move is not None
        heard = Heard(body.move, line)
        if game.coming:
            game.listed.append(heard)
            game.coming -= 1
            if not game.coming:
                self._take_list(game, line)
            return []
        self._moves.sent(game, heard, body.game_no)
        return []

    def _take_list(self, game: ToldGame, line: Line) -> None:
        """A list is whole: stand where it ends, and give the plies that nobody told before."""
        assert game.list_start is not None
        (start, base), listed = game.list_start, game.listed
        game.listed = []
        entries = [Entry(start)]
        for heard in listed:
            played = None if self._moves.waits_for_board(game) else play(entries[-1].position, heard.move)
            if played is None or isinstance(played, str):
                reason = played or "only a board tells what it leaves"
                text = f"move {len(entries)} of the list cannot be played: {reason}"
                self._book.complain(line, game.number, AnomalyKind.MOVELIST, text)
                game.lose()
                return
            entries.append(played[0])
        run = None if game.told is None else self._book.run(game.told.game_no)
        before, before_base = game.entries, game.base_ply
        game.entries, game.base_ply, game.fen = entries, base, None
        if game.told is None or game.isolated:
            return
        if run is None or (not run.observations and not run.examined):
            suspended = self._book.boards.runs.get(str(game.told.game_no))
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

    def _show_from(self, game: ToldGame, listed: list[Heard], line: Line, first: int) -> None:
        """Place the boards of a list from a place on."""
        for place in range(first, len(game.entries)):
            if place:
                move = listed[place - 1].move
                self._moves.show(game, listed[place - 1].line, place, arrived=False, heard=move)
            else:
                self._moves.show(game, line, 0, arrived=False)

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
            self._book.boards,
            MovelistRead(
                line, told.game_no, told.white, unknown, told.black, unknown, None, None, False, False, None, None,
                None, None, None, None, start, tuple(rows), "*", None, None, None, True, True,
            ),
        )  # fmt: skip

    def fen(self, body: ToldFen, line: Line, begin: int) -> list[Event]:
        """A position told before any move."""
        game = self._book.game(body.game_no, begin)
        try:
            game.fen = _from_fen(body.fen, self._book.rules(game))
        except ValueError:
            self._book.complain(line, body.game_no, AnomalyKind.MALFORMED, f"no position: {body.fen!r}")
        return []

    def told_board(self, body: ToldBoard, line: Line, begin: int) -> list[Event]:
        """A board with nothing but its squares and who is to move."""
        game = self._book.game(body.game_no, begin)
        board, number = _ranks(body.board), body.game_no
        if game.held is not None:
            heard, game.held = game.held, None
            self._moves.advance(game, heard, number, board)
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
                    self._moves.advance(game, Heard(castling, line), number, board)
                    return []
        ply = game.ply + (last.white_to_move != body.white_to_move)
        position = start_position(board, body.white_to_move, last.castling, -1, last.rules)
        game.stand(Entry(position), ply)
        self._moves.show(game, line, 0, arrived=True)
        return []

    def jboard(self, body: JBoard, line: Line, begin: int) -> list[Event]:
        """A board with its rights and clocks, after a move or without one."""
        if body.game_no is None:
            return []
        game = self._book.game(body.game_no, begin)
        if game.told is None or game.isolated or body.status == -1:
            return []
        rights = sum(1 << bit for bit, right in enumerate(body.castling) if right == "1")
        board, rules = _ranks(body.board), self._book.rules(game)
        ply = 2 * (body.move_no - 1) + (not body.white_to_move)
        if game.held is not None and ply == game.ply + 1:
            heard, game.held = game.held, None
            self._moves.advance(game, heard, body.game_no, board)
            return []
        if game.entries and ply == game.ply and game.entries[-1].position.board == board:
            return []
        if game.entries and ply == game.ply + 1 and body.smith:
            heard = Heard(ToldMove(body.san or None, body.smith, None, None, None), line)
            if isinstance(play(game.entries[-1].position, heard.move, board), tuple):
                self._moves.advance(game, heard, body.game_no, board)
                return []
        position = start_position(board, body.white_to_move, rights, body.push_file, rules, None)
        game.stand(Entry(position), ply)
        self._moves.show(game, line, 0, arrived=True)
        return []


def _from_fen(text: str, rules: Rules) -> tuple[Position, int]:
    position = position_from_fen(text, rules)
    fields = text.split()
    move_no = int(fields[5]) if len(fields) > 5 and fields[5].isdecimal() else 1
    if rules is Rules.CRAZYHOUSE and position.hands is None and position.board == STANDARD_BOARD:
        position = position._replace(hands=("", ""))
    return position, 2 * (max(move_no, 1) - 1) + (not position.white_to_move)


def _ranks(squares: str) -> str:
    return " ".join(squares[at : at + 8] for at in range(0, 64, 8))
