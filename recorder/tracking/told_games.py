"""A game as datagrams tell it: where it stands by their moves alone, and its clocks."""

from __future__ import annotations

from typing import NamedTuple

from recorder.dialects.icc_moves import ToldMove
from recorder.dialects.icc_told import GameTold
from recorder.events import Line, RatingText
from recorder.tracking.facts import Facts, rating_number
from recorder.tracking.position import Position, Step, advance, play_san
from recorder.tracking.rules_tables import index_of
from recorder.tracking.told_boards import verbose_of

__all__ = ["Entry", "Heard", "ToldGame", "play", "tell_facts"]

_CASTLING = {"c": "o-o", "C": "o-o-o"}


class Entry(NamedTuple):
    """A place of the line: the position, and the move that led there, verbose and pretty (``none`` at the start)."""

    position: Position
    verbose: str = "none"
    pretty: str = "none"


class Heard(NamedTuple):
    """A move as it came, and its line."""

    move: ToldMove
    line: Line


class ToldGame:
    """What is known of a game by datagrams.

    Attributes:
        told: the datagram that began it; None where only its clocks were told of. begin: offset that the reading of
            this game must begin at.
        symbol: our relation to it (``O PW PB SW SB E``), or None.
        entries: places of the line from ``base_ply`` on; empty where no position is known.
        coming: moves that a list still has to tell. listed: those that it has told. list_start: its start.
        held: a move whose board is still to come. fen: a board told before any move.
        clocks: White's, Black's, in milliseconds. exact: which of them were told so.
        after: White's, Black's clock after a move that is still to come.
        lags: handle → lag of a move that is still to come.
    """

    def __init__(self, told: GameTold | None, begin: int) -> None:
        self.told = told
        self.begin = begin
        self.symbol: str | None = None
        self.over = False
        self.entries: list[Entry] = []
        self.base_ply = 0
        self.coming = 0
        self.listed: list[Heard] = []
        self.list_start: tuple[Position, int] | None = None
        self.held: Heard | None = None
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
        """The server's number; None where only its clocks were told of."""
        return None if self.told is None else self.told.game_no

    @property
    def isolated(self) -> bool:
        """Whether somebody only looked at a board of it."""
        return self.told is None or self.told.number == 40 or self.told.game_no < 0

    @property
    def ours(self) -> bool:
        """Whether it was told of because we play, examine or watch it."""
        return self.told is not None and self.told.number in (15, 18)

    @property
    def played(self) -> bool:
        """Whether it is being played, not examined."""
        return self.told is not None and self.told.played and not self.over

    def relation(self, me: str | None, white_to_move: bool) -> int:
        """Our relation to it as frames print it."""
        assert self.told is not None
        if not self.played:
            return 2 if self.symbol == "E" else -2
        white = self.symbol in ("PW", "SW")
        if self.symbol is None and self.told.number == 15 and me is not None:
            white = self.told.white.lower() == me.lower()
        elif self.symbol not in ("PW", "PB", "SW", "SB"):
            return 0
        return 1 if white == white_to_move else -1

    def stand(self, entry: Entry, ply: int) -> None:
        """Begin the line at a place."""
        self.entries = [entry]
        self.base_ply = ply

    def lose(self) -> None:
        """Data is missing: where it stands is not known."""
        self.entries = []
        self.coming = 0
        self.listed = []
        self.held = None
        self.fen = None


def play(position: Position, move: ToldMove, board: str | None = None) -> tuple[Entry, Step] | str:
    """Play a move: its squares and its SAN, where both came, must name the same one.

    Args:
        board: the board after it, where one was told.
    Returns:
        The place reached and the step, or the reason why it cannot be played.
    """
    if move.smith is None:
        if move.san is None or move.san.startswith("?"):
            return "the move is hidden"
        step = play_san(position, move.san)
        if isinstance(step, str):
            return step
        verbose = verbose_of(position, step[0])
        if board is not None and step[2].board != board:
            step = advance(position, verbose, move.san, board)
            if isinstance(step, str):
                return step
        return Entry(step[2], verbose, move.san), step
    verbose = _verbose(position, move.smith)
    step = advance(position, verbose, move.san, board)
    return step if isinstance(step, str) else (Entry(step[2], verbose, move.san or step[1]), step)


def _verbose(position: Position, smith: str) -> str:
    flags = smith[4:]
    if flags[:1] in _CASTLING:
        return _CASTLING[flags[0]]
    promotion = f"={flags[-1]}" if flags[-1:] in ("N", "B", "R", "Q", "K") else ""
    return f"{position.board[index_of(smith[:2])].upper()}/{smith[:2]}-{smith[2:4]}{promotion}"


def tell_facts(facts: Facts, told: GameTold) -> None:
    """Take what a game's datagram tells of it."""
    facts.white, facts.black = told.white, told.black
    facts.white_rating, facts.black_rating = _rating(told.white_rating), _rating(told.black_rating)
    facts.rated = told.rated
    facts.category = f"wild({told.wild})" if told.wild else told.rating_type.lower()
    control = told.time_control
    if control:
        # Of several periods no base time and increment can tell; the text is kept as an event.
        base, _, increment = control.partition("+")
        if not (base.isdecimal() and (increment or "0").isdecimal()):
            return
        facts.white_base_s = facts.black_base_s = int(base)
        facts.white_increment_s = facts.black_increment_s = int(increment or 0)
        return
    facts.white_base_s, facts.white_increment_s = 60 * told.white_base_min, told.white_increment_s
    facts.black_base_s, facts.black_increment_s = 60 * told.black_base_min, told.black_increment_s


def _rating(text: str | None) -> RatingText | None:
    """A rating; ICC prints 0 for a player who has none."""
    return None if text is None else RatingText(text, rating_number(text) or None)
