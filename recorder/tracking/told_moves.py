"""Moves that datagrams tell: each is played by the rules where the game stands, and its board is shown."""

from __future__ import annotations

from recorder.dialects.icc_moves import ToldMove
from recorder.dialects.icc_told import GoneBack
from recorder.events import Event, ExamineNotice, Line
from recorder.model import AnomalyKind, EventKind, Ply
from recorder.tracking.examined import take_notice
from recorder.tracking.position import Position, Rules
from recorder.tracking.run import Run
from recorder.tracking.told_boards import DatagramBoard, make_board, set_times
from recorder.tracking.told_book import ToldBook, by_frames, place_of, printed, standard_start
from recorder.tracking.told_clocks import settle, times_after
from recorder.tracking.told_games import Entry, Heard, ToldGame, play, tell_facts

__all__ = ["ToldMoves"]

_BACKWARD = 23


class ToldMoves:
    """Leads games on, move by move.

    Args:
        book: the games of the connection.
    """

    def __init__(self, book: ToldBook) -> None:
        self._book = book

    def sent(self, game: ToldGame, heard: Heard, number: int) -> None:
        """A move that has just been made, or shown in an examination."""
        move, line = heard
        self.flush(game)
        game.offers = (0,) * 8  # a move takes the offers back
        examined = game.told is not None and not game.played and not game.isolated
        if examined and move.kind == 2:
            take_notice(self._book.boards, ExamineNotice(line, "forward", number, None, 1, printed(line)))
        if self.waits_for_board(game):
            game.held = heard
        else:
            self.advance(game, heard, number, None)
        if examined and move.kind == 3:
            take_notice(self._book.boards, ExamineNotice(line, "move", number, None, None, printed(line)))

    def waits_for_board(self, game: ToldGame) -> bool:
        """Whether the server tells the board after each move, because the usual rules do not give it."""
        told = game.told
        return told is not None and bool(told.irregular_semantics) and self._book.rules(game) is Rules.BOARDS

    def flush(self, game: ToldGame) -> None:
        """A move that waited for its board got none."""
        if game.held is not None:
            heard, game.held = game.held, None
            self.advance(game, heard, game.number, None)

    def advance(self, game: ToldGame, heard: Heard, number: int | None, board: str | None) -> None:
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
        self.show(game, heard.line, len(game.entries) - 1, arrived=True, heard=heard.move)

    def _find_place(self, game: ToldGame, heard: Heard) -> bool:
        """Stand where a board, the frames of the game or its kind tell; False where nothing does."""
        told = game.told
        assert told is not None
        run = self._book.run(told.game_no)
        if game.fen is not None:
            position, ply = game.fen
            game.fen = None
            game.stand(Entry(position), ply)
            self.show(game, heard.line, 0, arrived=False)
            return True
        if run is not None and run.position is not None and by_frames(run):
            before = run.position_at(run.ply - 1)
            shown = Ply._make(run.rows[-1]) if run.rows else None
            if before is not None and shown is not None and _is_move(shown, before, heard):
                game.stand(Entry(before), run.ply - 1)  # the frame of this very move came first
            else:
                game.stand(Entry(run.position), run.ply)
            return True
        if told.number == 15 and told.played and not told.wild and run is None:
            # No list was asked for; our own game begins at the normal start position.
            game.stand(Entry(standard_start(self._book.rules(game))), 0)
            self.show(game, heard.line, 0, arrived=True)
            return True
        return False

    def _unplaced(self, game: ToldGame, heard: Heard, number: int | None, reason: str) -> None:
        """A move that cannot be played: from here on the place is not known."""
        run = None if number is None else self._book.run(number)
        if run is not None and not by_frames(run):
            run.event(EventKind.NOTICE, "unplaced-move", place_of(heard.line), text=printed(heard.line))
            run.gapped = True
        if not game.complained or game.entries:
            kind = AnomalyKind.CONFLICT if game.entries else AnomalyKind.GAP
            self._book.complain(heard.line, number, kind, f"a datagram's move has no place: {reason}")
            game.complained = True
        game.lose()

    def gone_back(self, body: GoneBack, line: Line, begin: int) -> list[Event]:
        """Moves were taken back, or an examination went back."""
        game = self._book.games.get(body.game_no)
        if body.number == _BACKWARD:
            take_notice(
                self._book.boards, ExamineNotice(line, "backward", body.game_no, None, body.plies, printed(line))
            )
        if game is None or game.told is None:
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

    def show(self, game: ToldGame, line: Line, place: int, *, arrived: bool, heard: ToldMove | None = None) -> None:
        """Place a board of the line, unless it has been shown or somebody only looked at it."""
        told = game.told
        if told is None or game.isolated:
            return
        number, boards = told.game_no, self._book.boards
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
            _begun(run, game, line)
            set_times(run, board)


def _begun(run: Run, game: ToldGame, line: Line) -> None:
    """What a game's first board leaves open, and the datagrams told."""
    assert game.told is not None
    control = game.told.time_control
    if run.current is not None and not run.current.events and not run.rows and control:
        run.event(EventKind.NOTICE, "time-control", place_of(line), text=control)
    if run.start_frame is None and not run.rows and not run.lists and run.base_ply == game.base_ply:
        run.start_frame = run.last if isinstance(run.last, DatagramBoard) and not run.last.has_move else None


def _is_move(shown: Ply, before: Position, heard: Heard) -> bool:
    """Whether a ply is this very move."""
    played = play(before, heard.move)
    return isinstance(played, tuple) and played[1][0] == shown.move
