"""Clocks in datagrams: after a move, of the side to move, set clocks, and the lag of a move.

Of two spellings of one clock the more exact stays: a ply that shows seconds gets the milliseconds that were told of it.
"""

from __future__ import annotations

from recorder.dialects.icc.fields import IccMove
from recorder.dialects.icc.values import ClocksSet, MoreTime, MoveLag, Msec
from recorder.events import Event, GameNotice, GameNoticeKind, Line
from recorder.model import EventKind, Precision
from recorder.tracking.datagrams.boards import DatagramBoard, Times, sharpen
from recorder.tracking.datagrams.games import DatagramGame, DatagramGameTable, by_frames, place_of, printed
from recorder.tracking.tracked_game import TrackedGame

__all__ = ["DatagramClocks", "settle", "times_after"]


class DatagramClocks:
    """Takes the datagrams that tell of time.

    Args:
        book: the games of the connection.
    """

    def __init__(self, book: DatagramGameTable) -> None:
        self._book = book

    def msec(self, body: Msec, line: Line, begin: int) -> list[Event]:
        """A clock in milliseconds, as it stands or runs."""
        game = self._book.game(body.game_no, begin)
        side = 0 if body.white else 1
        run = self._book.run(body.game_no)
        if run is not None and run.position is not None and not run.examined:
            settle(game, run)
            to_move = run.position.white_to_move == body.white
            if to_move and not body.running and run.rows:
                game.after[side] = body.clock_ms  # of a move that is on its way, or of a clock that stands
                return []
            _sharpen(run, body.white, body.clock_ms)
        if game.held is not None:
            game.after[side] = body.clock_ms
            return []
        game.clocks[side], game.exact[side] = body.clock_ms, True
        return []

    def move_lag(self, body: MoveLag, line: Line, begin: int) -> list[Event]:
        """The lag of a player's move, the last one or one that is on its way."""
        for number, game in self._book.games.items():
            run = self._book.run(number)
            if run is None or run.examined:
                continue
            names = (run.white.lower(), run.black.lower())
            if body.player.lower() not in names:
                continue
            white = names.index(body.player.lower()) == 0
            last = run.rows[-1] if run.rows else None
            if last is not None and last.white_moved == white and last.lag_ms is None:
                run.rows[-1] = last._replace(lag_ms=body.lag_ms)
            else:
                game.lags[body.player.lower()] = body.lag_ms
        return []

    def clocks_set(self, body: ClocksSet, line: Line, begin: int) -> list[Event]:
        """Somebody set both clocks."""
        game = self._book.game(body.game_no, begin)
        clocks = (1000 * body.white_s, 1000 * body.black_s)
        game.clocks, game.exact = list(clocks), [False, False]
        run = self._book.run(body.game_no)
        if run is not None:
            run.event(EventKind.CLOCK, "set", place_of(line), clocks=clocks)
            run.clocks_settled = False
        return []

    def more_time(self, body: MoreTime, line: Line, begin: int) -> list[Event]:
        """A player was given time."""
        game = self._book.game(body.game_no, begin)
        side = 0 if body.to_white else 1
        clock_ms = game.clocks[side]
        if clock_ms is not None:
            game.clocks[side] = clock_ms + 1000 * body.seconds
        return [
            GameNotice(line, GameNoticeKind.TIME_ADDED, body.game_no, None, body.seconds, printed(line)),
        ]


def times_after(game: DatagramGame, ply: int, heard: IccMove | None) -> Times:
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
    return Times(game.clocks[0], game.clocks[1], elapsed_ms, game.lags.pop(mover, None), (game.exact[0], game.exact[1]))


def settle(game: DatagramGame, run: TrackedGame) -> None:
    """Give a ply that frames have shown what a datagram before it told more exactly."""
    if not run.rows or not by_frames(run):
        return
    side = 0 if run.rows[-1].ply % 2 else 1
    clock_ms, game.after[side] = game.after[side], None
    if clock_ms is None and game.exact[side]:
        clock_ms = game.clocks[side]
    if clock_ms is not None:
        _sharpen(run, side == 0, clock_ms)


def _sharpen(run: TrackedGame, white: bool, clock_ms: int) -> None:
    """Give the last ply the milliseconds of one of its clocks; before the first move, the start."""
    if run.rows:
        ply = run.rows[-1]
        better = sharpen(ply, white, clock_ms, mover=ply.white_moved == white)
        if better is not None:
            run.rows[-1] = better
    elif run.current is not None and run.current.start is not None:
        start = run.current.start
        if isinstance(run.last, DatagramBoard):
            exact = int(Precision.MILLISECONDS)
            run.current.start = (
                start._replace(white_clock_ms=clock_ms, precision_code=exact)
                if white
                else start._replace(black_clock_ms=clock_ms, precision_code=exact)
            )
