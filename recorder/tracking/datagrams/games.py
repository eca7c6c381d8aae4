"""Games of one connection's datagrams by number: moves played so far, and clocks.

A clock in milliseconds replaces the same clock in seconds.
"""

from __future__ import annotations

from typing import NamedTuple

from recorder.dialects.icc.units import ClocksSet, IccGame, IccMove, MoreTime, MoveLag, Msec
from recorder.events import Event, GameNotice, GameNoticeKind, Line, RatingText
from recorder.model import EventKind, Precision
from recorder.rules.fen import start_position
from recorder.rules.notation import verbose_of
from recorder.rules.position import Position, Rules, decode_move
from recorder.rules.prove import Step, advance, play_san
from recorder.rules.tables import index_of
from recorder.rules.variants import STANDARD_BOARD, variant_of
from recorder.tracking.boards import Boards
from recorder.tracking.datagrams.boards import DatagramBoard, Times, sharpen
from recorder.tracking.facts import HeaderFacts, rating_number
from recorder.tracking.tracked_game import TrackedGame

_CASTLING = {"c": "o-o", "C": "o-o-o"}


class DatagramPly(NamedTuple):
    """A place of the line: the position, and the move that led there, verbose and pretty (``none`` at the start)."""

    position: Position
    verbose: str = "none"
    pretty: str = "none"


class ReceivedMove(NamedTuple):
    move: IccMove
    line: Line


class DatagramGame:
    """What is known of a game by datagrams.

    Attributes:
        header: the datagram that began it; None if only clocks were received.
        begin: offset that the reading of this game must begin at.
        symbol: our relation to it (``O PW PB SW SB E``), or None.
        entries: places of the line from ``base_ply`` on; empty where no position is known.
        coming: moves still missing of a list.
        listed: those received.
        list_start: its start.
        pending: a move whose board has not arrived yet.
        fen: a position sent before any move.
        clocks: White's, Black's, in milliseconds.
        exact: which of them were sent so.
        after: White's, Black's clock after a move that has not arrived yet.
        lags: handle → lag of a move that has not arrived yet.
    """

    def __init__(self, header: IccGame | None, begin: int) -> None:
        self.header = header
        self.begin = begin
        self.symbol: str | None = None
        self.over = False
        self.entries: list[DatagramPly] = []
        self.base_ply = 0
        self.coming = 0
        self.listed: list[ReceivedMove] = []
        self.list_start: tuple[Position, int] | None = None
        self.pending: ReceivedMove | None = None
        self.fen: tuple[Position, int] | None = None
        self.clocks: list[int | None] = [None, None]
        self.exact = [False, False]
        self.after: list[int | None] = [None, None]
        self.lags: dict[str, int] = {}
        self.offers: tuple[int, ...] = (0,) * 8
        self.complained = False

    @property
    def ply(self) -> int:
        """Half-moves played to reach the last place; meaningful while there is one."""
        return self.base_ply + len(self.entries) - 1

    @property
    def number(self) -> int | None:
        """The server's number; None if only its clocks were received."""
        return None if self.header is None else self.header.game_no

    @property
    def isolated(self) -> bool:
        """Whether only a single board of it was requested."""
        return self.header is None or self.header.number == 40 or self.header.game_no < 0

    @property
    def ours(self) -> bool:
        return self.header is not None and self.header.number in (15, 18)

    @property
    def played(self) -> bool:
        return self.header is not None and self.header.played and not self.over

    def relation(self, me: str | None, white_to_move: bool) -> int:
        """As frames print it: 1 and -1 we play, and are to move or not; 0 we observe; 2 and -2 it is examined."""
        assert self.header is not None
        if not self.played:
            return 2 if self.symbol == "E" else -2
        white = self.symbol in ("PW", "SW")
        if self.symbol is None and self.header.number == 15 and me is not None:
            white = self.header.white.lower() == me.lower()
        elif self.symbol not in ("PW", "PB", "SW", "SB"):
            return 0
        return 1 if white == white_to_move else -1

    def start_at(self, entry: DatagramPly, ply: int) -> None:
        self.entries = [entry]
        self.base_ply = ply

    def lose(self) -> None:
        """Data is missing: the position is unknown."""
        self.entries = []
        self.coming = 0
        self.listed = []
        self.pending = None
        self.fen = None


def play(position: Position, move: IccMove, board: str | None = None) -> tuple[DatagramPly, Step] | str:
    """Play a move: its squares and its SAN, if both were sent, must name the same one.

    ``board`` is the board after it, if one was sent. A text instead is the reason why the move cannot be played.
    """
    if move.smith is None:
        if move.san is None or move.san.startswith("?"):
            return "the move is hidden"
        step = play_san(position, move.san)
        if isinstance(step, str):
            return step
        verbose = verbose_of(position.board, decode_move(step[0]), step[1])
        if board is not None and step[2].board != board:
            step = advance(position, verbose, move.san, board)
            if isinstance(step, str):
                return step
        return DatagramPly(step[2], verbose, move.san), step
    verbose = _verbose(position, move.smith)
    step = advance(position, verbose, move.san, board)
    return step if isinstance(step, str) else (DatagramPly(step[2], verbose, move.san or step[1]), step)


def _verbose(position: Position, smith: str) -> str:
    flags = smith[4:]
    if flags[:1] in _CASTLING:
        return _CASTLING[flags[0]]
    promotion = f"={flags[-1]}" if flags[-1:] in ("N", "B", "R", "Q", "K") else ""
    return f"{position.board[index_of(smith[:2])].upper()}/{smith[:2]}-{smith[2:4]}{promotion}"


def set_facts(facts: HeaderFacts, header: IccGame) -> None:
    facts.white, facts.black = header.white, header.black
    facts.white_rating, facts.black_rating = _rating(header.white_rating), _rating(header.black_rating)
    facts.rated = header.rated
    facts.category = f"wild({header.wild})" if header.wild else header.rating_type.lower()
    control = header.time_control
    if control:
        # Base time and increment cannot express several periods; the text is kept as an event.
        base, _, increment = control.partition("+")
        if not (base.isdecimal() and (increment or "0").isdecimal()):
            return
        facts.white_base_s = facts.black_base_s = int(base)
        facts.white_increment_s = facts.black_increment_s = int(increment or 0)
        return
    facts.white_base_s, facts.white_increment_s = 60 * header.white_base_min, header.white_increment_s
    facts.black_base_s, facts.black_increment_s = 60 * header.black_base_min, header.black_increment_s


def _rating(text: str | None) -> RatingText | None:
    """A rating (None: none was sent); ICC prints 0 for a player who has none."""
    return None if text is None else RatingText(text, rating_number(text) or None)


_GAMES_KEPT = 512


class DatagramGameTable:
    """The games of a connection by the server's number, in the order of their first datagrams."""

    def __init__(self, boards: Boards) -> None:
        self.boards = boards
        self.games: dict[int, DatagramGame] = {}

    def game(self, number: int, begin: int) -> DatagramGame:
        game = self.games.get(number)
        if game is None:
            game = self.games[number] = DatagramGame(None, begin)
            self.bound()
        return game

    def bound(self) -> None:
        if len(self.games) > _GAMES_KEPT:  # all games of the server may be sent: ours stay longest
            oldest = next(iter(self.games))
            del self.games[next((number for number, game in self.games.items() if not game.ours), oldest)]

    def run(self, number: int) -> TrackedGame | None:
        run = self.boards.runs.get(str(number))
        if run is not None and run.following:
            return run
        return self.boards.examined.get(str(number))

    @staticmethod
    def rules(game: DatagramGame) -> Rules:
        header = game.header
        if header is None:
            return Rules.CHESS
        _, rules = variant_of(f"wild({header.wild})" if header.wild else header.rating_type)
        # The header says whether moves or boards differ from chess.
        if (
            header.wild
            and rules is Rules.BOARDS
            and header.irregular_legality is False
            and not header.irregular_semantics
        ):
            return Rules.CHESS
        return rules or Rules.CHESS


def by_frames(run: TrackedGame | None) -> bool:
    """Whether frames show this game, so that datagrams only make its times more exact."""
    return run is not None and run.last is not None and not isinstance(run.last, DatagramBoard)


def standard_start(rules: Rules) -> Position:
    return start_position(STANDARD_BOARD, True, 15, -1, rules, holdings_of(rules))


def holdings_of(rules: Rules) -> tuple[str, str] | None:
    return ("", "") if rules is Rules.CRAZYHOUSE else None


def printed(line: Line) -> str:
    return line.text[2:].removesuffix("\x19)").replace("\x19", "")


# -- clocks --------------------------------------------------------------------------------------------------------


class DatagramClocks:
    """Takes the datagrams about clocks and lag.

    Each method takes the values of a datagram, its line, and ``begin``, the offset of the unit that it is in; a game
    that is not known yet begins there.
    """

    def __init__(self, table: DatagramGameTable) -> None:
        self._table = table

    def msec(self, body: Msec, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        side = 0 if body.white else 1
        run = self._table.run(body.game_no)
        if run is not None and run.position is not None and not run.examined:
            settle(game, run)
            # A stopped clock of the side that is to move belongs to a move that has been made and not yet sent.
            to_move = run.position.white_to_move == body.white
            if to_move and not body.running and run.rows:
                game.after[side] = body.clock_ms  # of a move that is on its way, or of a stopped clock
                return
            _sharpen(run, body.white, body.clock_ms)
        if game.pending is not None:
            game.after[side] = body.clock_ms
            return
        game.clocks[side], game.exact[side] = body.clock_ms, True

    def move_lag(self, body: MoveLag, line: Line, begin: int) -> None:
        """The lag of a player's move, the last one or one that is on its way."""
        for number, game in self._table.games.items():
            run = self._table.run(number)
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

    def clocks_set(self, body: ClocksSet, line: Line, begin: int) -> None:
        game = self._table.game(body.game_no, begin)
        clocks = (1000 * body.white_s, 1000 * body.black_s)
        game.clocks, game.exact = list(clocks), [False, False]
        run = self._table.run(body.game_no)
        if run is not None:
            run.event(EventKind.CLOCK, "set", line, clocks=clocks)
            run.clocks_settled = False

    def more_time(self, body: MoreTime, line: Line, begin: int) -> list[Event]:
        game = self._table.game(body.game_no, begin)
        side = 0 if body.to_white else 1
        clock_ms = game.clocks[side]
        if clock_ms is not None:
            game.clocks[side] = clock_ms + 1000 * body.seconds
        return [
            GameNotice(line, GameNoticeKind.TIME_ADDED, body.game_no, None, body.seconds, printed(line)),
        ]


def times_after(game: DatagramGame, ply: int, heard: IccMove | None) -> Times:
    """Return both clocks after a ply, and what the move ``heard``, which was just made, took."""
    if heard is None:
        return Times(game.clocks[0], game.clocks[1], None, None, (game.exact[0], game.exact[1]))
    side = 0 if ply % 2 else 1
    clock_ms = None if heard.clock_s is None else 1000 * heard.clock_s
    exact = False
    # A clock in milliseconds came before the move. It is that of this move only if the seconds printed with it agree.
    after, game.after[side] = game.after[side], None
    if after is not None and (clock_ms is None or abs(after - clock_ms) < 1000):
        clock_ms, exact = after, True
    game.clocks[side], game.exact[side] = clock_ms, exact
    assert game.header is not None
    mover = (game.header.black if side else game.header.white).lower()
    elapsed_ms = None if heard.time_s is None else 1000 * heard.time_s
    return Times(game.clocks[0], game.clocks[1], elapsed_ms, game.lags.pop(mover, None), (game.exact[0], game.exact[1]))


def settle(game: DatagramGame, run: TrackedGame) -> None:
    """Set the more exact clock of an earlier datagram in a ply that frames have shown."""
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
