"""A replay as its clients see it: the games in progress, their numbers, and what happens in them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any, Final, NamedTuple

from recorder.errors import RecorderError
from recorder.model import EventKind, Game, GameEvent, HoldingsChange, LinkKind, Origin
from recorder.replay.boards import BoardState, Lines, ReplayBoard, end_event
from recorder.replay.moments import Begin, End, GameMoment, ShownPly, What
from recorder.replay.timing import Playhead, ReplayMoment
from recorder.rules.boards import captured_piece

_SHOWN_AGAIN: Final = {(EventKind.CLOCK, "same-ply"), (EventKind.CLOCK, "set")}
_LISTED: Final = (Origin.MOVELIST, Origin.INFERRED)
LOST: Final = {"unobserved", "lost feed"}


class Sign(Enum):
    BEGINS = "begins"
    AGAIN = "again"  # the recording observes a game again
    BOARD = "board"  # the board changed, or is shown again
    HOLDINGS = "holdings"  # a line of holdings without a board
    EVENT = "event"  # an offer, chat …
    RESULT = "result"
    LEFT = "left"  # the recording stopped observing it; the rest of the game is unknown
    OVER = "over"  # the game is no longer shown


class Happening(NamedTuple):
    """``what`` is the recorded value; ``holdings``: a line of holdings follows."""

    sign: Sign
    board: ReplayBoard
    what: object = None
    holdings: bool = False


class Chapter(NamedTuple):
    """A game of a replay, with ``moments_of_game``."""

    game: Game
    moments: Sequence[GameMoment]


class ReplaySource:
    """The content of a replay, shared by all its clients; ``moments`` are of all games in one order.

    ``lost`` is called once for each game that can no longer be read, which is then skipped; without it such a game is
    an error.
    """

    def __init__(
        self,
        players: Sequence[tuple[str, str]],
        moments: Sequence[ReplayMoment[Any]],
        chapter: Callable[[int], Chapter],
        lines: Callable[[int], Lines | None] = lambda _game: None,
        partners: Mapping[int, int] | None = None,
        lost: Callable[[str], None] | None = None,
    ) -> None:
        self._partners = partners or {}
        self._lost = lost
        self._lost_games: set[int] = set()
        self.players = players
        self.moments = moments
        self.chapter = chapter
        self.lines = lines
        self.places = [array("l") for _ in players]
        for index, moment in enumerate(moments):
            if moment.game is not None:
                self.places[moment.game].append(index)

    def there(self, number: int) -> Chapter | None:
        """None: the game cannot be read, for example because it was deleted meanwhile."""
        if number in self._lost_games:
            return None
        try:
            return self.chapter(number)
        except RecorderError as error:
            if self._lost is None:
                raise
            self._lost_games.add(number)
            self._lost(str(error))
            return None

    def what(self, place: int) -> tuple[Chapter, What]:
        number = self.moments[place].game
        assert number is not None
        chapter = self.chapter(number)
        return chapter, chapter.moments[bisect_left(self.places[number], place)].what

    def open_at(self, place: int, kept: int | None = None) -> list[int]:
        """All earlier moments of games in progress, and of the game ``kept``."""
        kept_too = {kept, None if kept is None else self._partners.get(kept)}
        found: list[int] = []
        for number, places in enumerate(self.places):
            if places and places[0] < place and (place <= places[-1] or number in kept_too):
                found += places[: bisect_left(places, place)]
        return sorted(found)

    def played_by(self, name: str) -> list[int]:
        handle = name.lower()
        return [
            number for number, (white, black) in enumerate(self.players) if handle in (white.lower(), black.lower())
        ]


class _At(NamedTuple):
    moments: Sequence[GameMoment]
    place: int

    @property
    def what(self) -> What:
        return self.moments[self.place].what

    @property
    def before(self) -> What | None:
        return self.moments[self.place - 1].what if self.place else None

    @property
    def following(self) -> Iterator[What]:
        return (self.moments[index].what for index in range(self.place + 1, len(self.moments)))

    @property
    def next(self) -> What | None:
        return next(self.following, None)


class Show:
    """A replay with its own playhead; ``handles``: boards have the players' names in the form that servers print."""

    def __init__(
        self,
        recording: ReplaySource,
        now_ns: int,
        *,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: Collection[str] = (),
        handles: bool = False,
    ) -> None:
        self.recording = recording
        self._handles = handles
        self.head = Playhead(recording.moments, now_ns, speed=speed, loop=loop, pause_at=pause_at)
        self.boards: dict[int, ReplayBoard] = {}  # by number: in progress, or finished and the number not reused
        self._numbers: dict[int, int] = {}  # by the game's index
        self._chapters: dict[int, Chapter] = {}  # of the games in progress

    def take(self, now_ns: int, most: int | None = None) -> Iterator[Happening]:
        """Consume all: boards change as the happenings are yielded."""
        begin, laps = self.head.place, self.head.laps
        due = self.head.take(now_ns, most)
        if self.head.laps != laps:
            begin = 0
            for board in list(self.boards.values()):
                yield Happening(Sign.OVER, board)
            self._clear()
        for index in range(begin, begin + len(due)):
            yield from self._show_moment(index)

    def open(self, now_ns: int) -> None:
        """Set up the first boards and pause."""
        self.head.pause(now_ns)
        while self.head.place < len(self.head.moments):
            at = self._at(self.head.place)
            if self.head.place and at is not None and not _is_at_the_beginning(at):
                break
            list(self.step(now_ns))

    def step(self, now_ns: int) -> Iterator[Happening]:
        """Show the next moment and pause; consume all, as with ``take``."""
        place = self.head.place
        moment = self.head.step(now_ns)
        if moment is not None:
            yield from self._show_moment(place)

    def go(self, place: int, now_ns: int, at_ms: int | None = None, kept: int | None = None) -> None:
        """Without happenings; the last board of the game ``kept`` is kept even if the game is over."""
        self.head.go(place, now_ns, at_ms)
        self._clear()
        for at in self.recording.open_at(self.head.place, kept):
            for _ in self._show_moment(at):
                pass

    def _clear(self) -> None:
        self.boards.clear()
        self._numbers.clear()
        self._chapters.clear()

    def _at(self, place: int) -> _At | None:
        """None: the game cannot be read."""
        number = self.head.moments[place].game
        assert number is not None
        chapter = self._chapters.get(number)
        if chapter is None:
            chapter = self.recording.there(number)
            if chapter is None:
                return None
            self._chapters[number] = chapter
        return _At(chapter.moments, bisect_left(self.recording.places[number], place))

    def partner_of(self, board: ReplayBoard) -> ReplayBoard | None:
        """If it is in progress."""
        game = board.game
        keys = {link.key for link in game.links if link.kind is LinkKind.PARTNER}
        for other in self.boards.values():
            if other.game.key in keys:
                return other
        partner = self.boards.get(game.partner_game_no or 0)
        return partner if partner is not None and partner.game.game_no == game.partner_game_no else None

    def _show_moment(self, place: int) -> Iterator[Happening]:
        game = self.head.moments[place].game
        assert game is not None
        at = self._at(place)
        if at is None:
            return
        what = at.what
        if isinstance(what, Begin):
            yield from self._begin(game, at, what)
            return
        if isinstance(what, End):
            self._chapters.pop(game, None)
        board = self.boards.get(self._numbers.get(game, 0))
        if board is None or board.place != game:
            return
        board.remember(what)
        if isinstance(what, ShownPly):
            yield from self._shown(at, board, what)
        elif isinstance(what, HoldingsChange):
            board.holdings = (what.white, what.black)
            if what.passed is None:
                board.printed_holdings = board.holdings
            if what.passed is not None or not isinstance(
                at.before, Begin | ShownPly
            ):  # otherwise the line is printed with the board
                yield Happening(Sign.HOLDINGS, board, what)
        elif isinstance(what, GameEvent):
            yield from self._event(at, board, what)
        elif isinstance(what, End):
            if board.result is None and (ended := end_event(board)) is not None:
                yield from self._event(at, board, ended)
            board.over = True
            yield Happening(Sign.OVER, board)

    def _begin(self, game: int, at: _At, what: Begin) -> Iterator[Happening]:
        number = self._numbers.get(game)
        if number is not None and number in self.boards:
            board = self.boards[number]
            board.begin(what)
            board.remember(what)
            sign = Sign.AGAIN if board.is_announced else Sign.BEGINS
            board.is_announced = True
            yield Happening(sign, board, what, _look_ahead(at, board))
            return
        number = self._number(what.game)
        if (old := self.boards.get(number)) is not None:
            yield Happening(Sign.OVER, old)
        names = self.recording.players[game] if self._handles else None
        board = self.boards[number] = ReplayBoard(what.game, number, game, self.recording.lines(game), names)
        self._numbers[game] = number
        board.begin(what)
        board.remember(what)
        if what.observation is None and _is_joined_later(at):
            return  # the moves before the first observed board came from a move list
        board.is_announced = True
        yield Happening(Sign.BEGINS, board, what, _look_ahead(at, board))

    def _number(self, game: Game) -> int:
        """The recorded number if no game in progress has it, else the lowest free number."""
        recorded = game.game_no
        if recorded is not None and recorded > 0 and (recorded not in self.boards or self.boards[recorded].over):
            return recorded
        number = 1
        while number in self.boards and not self.boards[number].over:
            number += 1
        return number

    def _shown(self, at: _At, board: ReplayBoard, what: ShownPly) -> Iterator[Happening]:
        before = board.state
        board.show(what)
        if board.derives and board.shares:
            self._pass_on(board, before, what.ply.white_moved)
        if board.is_live and what.ply.origin_code in _LISTED:
            return  # no board showed it; it came from a move list
        yield Happening(Sign.BOARD, board, what, _look_ahead(at, board))

    def _pass_on(self, board: ReplayBoard, before: BoardState | None, by_white: bool) -> None:
        """The piece captured by a bughouse move goes to the partner, who has the other colour."""
        partner, after = self.partner_of(board), board.state
        if partner is None:
            return
        if before is None or after is None or after.ply != before.ply + 1:
            partner.receive(None, not by_white)
        elif (piece := captured_piece(before.position, after.position)) is not None:
            partner.receive(piece, not by_white)

    def _event(self, at: _At, board: ReplayBoard, what: GameEvent) -> Iterator[Happening]:
        kind = what.kind
        if kind is EventKind.TAKEBACK and what.value is not None:
            board.take_back(what.ply - what.value)
            board.set_clocks(what.white_clock_ms, what.black_clock_ms)
            then = at.next
            if not (isinstance(then, ShownPly) and then.ply.offset == what.offset):
                yield Happening(Sign.BOARD, board, what, board.holdings is not None)
        elif (kind, what.detail) in _SHOWN_AGAIN:
            board.set_clocks(what.white_clock_ms, what.black_clock_ms)
            then = at.next
            if isinstance(then, GameEvent) and then.kind is EventKind.TICKING and then.offset == what.offset:
                board.ticking = then.detail == "on"  # one board may change the clocks and start them
            yield Happening(Sign.BOARD, board, what, board.holdings is not None)
        elif kind is EventKind.TICKING:
            board.ticking = what.detail == "on"
            last = at.before
            if not (isinstance(last, GameEvent) and last.kind is EventKind.CLOCK and last.offset == what.offset):
                yield Happening(Sign.BOARD, board, what, board.holdings is not None)
        elif kind is EventKind.NAMES:
            board.white, _, board.black = what.text.partition(" ")
            yield Happening(Sign.BOARD, board, what, board.holdings is not None)
        elif kind is EventKind.RESULT:
            board.result = (board.game.result, what.text)
            yield Happening(Sign.RESULT, board, what)
        elif kind is EventKind.FEED and what.detail in LOST:
            yield Happening(Sign.LEFT, board, what)
        elif kind in (EventKind.NOTICE, EventKind.CHAT):
            yield Happening(Sign.EVENT, board, what)


def _is_at_the_beginning(at: _At) -> bool:
    """Whether a moment sets up a board before the first event."""
    what = at.what
    return (
        isinstance(what, Begin)
        or (isinstance(what, HoldingsChange) and what.passed is None)
        or (isinstance(what, ShownPly) and what.ply.origin_code in _LISTED and _is_joined_later(at))
    )


def _is_joined_later(at: _At) -> bool:
    """Whether an observed board follows moves that only a move list contains."""
    return any(isinstance(what, Begin) for what in at.following)


def _look_ahead(at: _At, board: ReplayBoard) -> bool:
    """Apply the values of later moments that are printed with a board; return whether holdings are."""
    what = at.next
    if isinstance(what, HoldingsChange) and what.passed is None:
        board.printed_holdings = (what.white, what.black)
    # The archive stores changes only: without one a board has the holdings of the board before it.
    board.holdings = board.printed_holdings
    for what in at.following:
        if isinstance(what, Begin | ShownPly):
            break
        if isinstance(what, GameEvent) and what.kind is EventKind.TICKING:
            board.ticking = what.detail != "on"
            break
    return board.holdings is not None
