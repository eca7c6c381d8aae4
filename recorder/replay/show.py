"""A replay of games as its clients see it: which games go on under which numbers, and what just happened in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from fractions import Fraction
from typing import Final, NamedTuple

from recorder.model import EventKind, Game, GameEvent, HoldingsChange, LinkKind, Origin
from recorder.replay.boards import Board, Lines
from recorder.replay.moments import Begin, End, GameMoment, Shown
from recorder.replay.timing import Playhead

__all__ = ["LOST", "Happening", "Recording", "Show", "Sign"]

_SHOWN_AGAIN: Final = {(EventKind.CLOCK, "same-ply"), (EventKind.CLOCK, "set")}
_LISTED: Final = (Origin.MOVELIST, Origin.INFERRED)
LOST: Final = {"unobserved", "lost feed"}


class Sign(Enum):
    """What happened."""

    BEGINS = "begins"
    AGAIN = "again"  # the recording looks at a game again that it had left
    BOARD = "board"  # the board changed, or is shown again
    HANDS = "hands"  # a line of hands that stands alone
    EVENT = "event"  # an offer, chat …
    RESULT = "result"
    LEFT = "left"  # the recording looks at it no more, and does not know how it goes on
    OVER = "over"  # it is not to be seen any more


class Happening(NamedTuple):
    """Something that happened on a board. ``what`` is the recorded value; ``hands``: a line of hands follows it."""

    sign: Sign
    board: Board
    what: object = None
    hands: bool = False


class Recording:
    """What a replay shows, made once for all its clients.

    Args:
        games, moments: as ``moments_of_games`` gives them of these games.
        lines: gives a game's recorded lines, by its place; asked when the game begins.

    Attributes:
        following: for each moment the place of the next one of its game.
        before: for each moment the place of the one before of its game.
    """

    def __init__(
        self,
        games: Sequence[Game],
        moments: Sequence[GameMoment],
        lines: Callable[[int], Lines | None] = lambda _game: None,
    ) -> None:
        self.lines = lines
        self.games = games
        self.moments = moments
        self.following: list[int | None] = [None] * len(moments)
        self.before: list[int | None] = [None] * len(moments)
        last: dict[int | None, int] = {}
        for place, moment in enumerate(moments):
            earlier = last.get(moment.game)
            self.before[place] = earlier
            if earlier is not None:
                self.following[earlier] = place
            last[moment.game] = place

    def open_at(self, place: int, kept: int | None = None) -> list[int]:
        """The places before this one of all moments of games that have begun and are not over, or that are kept."""
        begun: dict[int | None, list[int]] = {}
        for at, moment in enumerate(self.moments[:place]):
            if isinstance(moment.what, End) and (kept is None or moment.game != kept):
                begun.pop(moment.game, None)
            else:
                begun.setdefault(moment.game, []).append(at)
        return sorted(at for places in begun.values() for at in places)


class Show:
    """A replay with its own time.

    Args:
        recording: what it shows.
        now_ns: any clock's time.
        speed, loop, pause_at: as ``Playhead`` takes them.

    Attributes:
        head: the place in time.
        boards: the games that go on, and those that are over but still have their number, by number.
    """

    def __init__(
        self,
        recording: Recording,
        now_ns: int,
        *,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: Sequence[str] = (),
    ) -> None:
        self.games = recording.games
        self.recording = recording
        self.head = Playhead(recording.moments, now_ns, speed=speed, loop=loop, pause_at=pause_at)
        self.boards: dict[int, Board] = {}
        self._numbers: dict[int, int] = {}  # by the game's place
        self._following = recording.following

    def take(self, now_ns: int) -> Iterator[Happening]:
        """What is due. Boards stand at each happening as it is given: all must be taken, one by one."""
        begin, laps = self.head.place, self.head.laps
        due = self.head.take(now_ns)
        if self.head.laps != laps:
            begin = 0
            for board in list(self.boards.values()):
                yield Happening(Sign.OVER, board)
            self._clear()
        yield from self._all(begin, due)

    def open(self, now_ns: int) -> None:
        """Set up the first boards, and wait."""
        self.head.pause(now_ns)
        while self.head.place < len(self.head.moments):
            what = self.head.moments[self.head.place].what
            if self.head.place and not (
                isinstance(what, Begin)
                or (isinstance(what, HoldingsChange) and what.passed is None)
                or (isinstance(what, Shown) and what.ply.origin in _LISTED and self._joined_later(self.head.place))
            ):
                break
            list(self.step(now_ns))

    def step(self, now_ns: int) -> Iterator[Happening]:
        """Show the next moment, and pause; to be taken as ``take``'s."""
        place = self.head.place
        moment = self.head.step(now_ns)
        if moment is not None:
            yield from self._one(place, moment)

    def go(self, place: int, now_ns: int, at_ms: int | None = None, kept: int | None = None) -> None:
        """Stand elsewhere: the boards are what they are there, and nothing of the way there happens.

        Args:
            place, now_ns, at_ms: as ``Playhead.go`` takes them.
            kept: a game whose last board is there even if it is over.
        """
        self.head.go(place, now_ns, at_ms)
        self._clear()
        for at in self.recording.open_at(self.head.place, kept):
            for _ in self._one(at, self.head.moments[at]):
                pass

    def _clear(self) -> None:
        self.boards.clear()
        self._numbers.clear()

    def _all(self, place: int, moments: Sequence[GameMoment]) -> Iterator[Happening]:
        for at, moment in enumerate(moments, place):
            yield from self._one(at, moment)

    def partner_of(self, board: Board) -> Board | None:
        """The other board of a bughouse match, if it goes on."""
        game = board.game
        keys = {link.key for link in game.links if link.kind is LinkKind.PARTNER}
        for other in self.boards.values():
            if other.game.key in keys:
                return other
        told = self.boards.get(game.partner_game_no or 0)
        return told if told is not None and told.game.game_no == game.partner_game_no else None

    def _one(self, place: int, moment: GameMoment) -> Iterator[Happening]:
        game, what = moment.game, moment.what
        assert game is not None
        if isinstance(what, Begin):
            yield from self._begin(place, game, what)
            return
        board = self.boards.get(self._numbers.get(game, 0))
        if board is None or board.game is not self.games[game]:
            return
        board.remember(what)
        if isinstance(what, Shown):
            yield from self._shown(place, board, what)
        elif isinstance(what, HoldingsChange):
            board.hands = (what.white, what.black)
            if what.passed is None:
                board.printed_hands = board.hands
            if what.passed is not None or not self._beside(place):
                yield Happening(Sign.HANDS, board, what)
        elif isinstance(what, GameEvent):
            yield from self._event(place, board, what)
        elif isinstance(what, End):
            board.over = True
            yield Happening(Sign.OVER, board)

    def _begin(self, place: int, game: int, what: Begin) -> Iterator[Happening]:
        number = self._numbers.get(game)
        if number is not None and number in self.boards:
            board = self.boards[number]
            board.begin(what)
            board.remember(what)
            sign = Sign.AGAIN if board.is_announced else Sign.BEGINS
            board.is_announced = True
            yield Happening(sign, board, what, self._look_ahead(place, board))
            return
        number = self._number(what.game)
        if (old := self.boards.get(number)) is not None:
            yield Happening(Sign.OVER, old)
        board = self.boards[number] = Board(what.game, number, self.recording.lines(game))
        self._numbers[game] = number
        board.begin(what)
        board.remember(what)
        if what.observation is None and self._joined_later(place):
            return  # the moves before the board that was joined: a list told them
        board.is_announced = True
        yield Happening(Sign.BEGINS, board, what, self._look_ahead(place, board))

    def _joined_later(self, place: int) -> bool:
        """Whether a board of this game follows behind moves that no board showed."""
        at = self._following[place]
        while at is not None and not isinstance(self.head.moments[at].what, Begin):
            at = self._following[at]
        return at is not None

    def _number(self, game: Game) -> int:
        """The recorded number if no game has it that goes on, else the lowest one that is free."""
        told = game.game_no
        if told is not None and told > 0 and (told not in self.boards or self.boards[told].over):
            return told
        number = 1
        while number in self.boards and not self.boards[number].over:
            number += 1
        return number

    def _look_ahead(self, place: int, board: Board) -> bool:
        """Take from what follows a board what is printed with it; whether hands are.

        The archive has hands where they changed: without a change a board has those of the board before it.
        """
        following = self._following[place]
        what = None if following is None else self.head.moments[following].what
        if isinstance(what, HoldingsChange) and what.passed is None:
            board.printed_hands = (what.white, what.black)
        board.hands = board.printed_hands
        while following is not None and not isinstance(what := self.head.moments[following].what, Begin | Shown):
            if isinstance(what, GameEvent) and what.kind is EventKind.TICKING:
                board.ticking = what.detail != "on"
                break
            following = self._following[following]
        return board.hands is not None

    def _beside(self, place: int) -> bool:
        """Whether a line of hands was printed with the board before it."""
        before = self.recording.before[place]
        return before is not None and isinstance(self.head.moments[before].what, Begin | Shown)

    def _shown(self, place: int, board: Board, what: Shown) -> Iterator[Happening]:
        board.show(what)
        if board.is_live and what.ply.origin in _LISTED:
            return  # no board showed it: "moves" tells it
        told = self._look_ahead(place, board)
        yield Happening(Sign.BOARD, board, what, told)

    def _event(self, place: int, board: Board, what: GameEvent) -> Iterator[Happening]:
        kind = what.kind
        if kind is EventKind.TAKEBACK and what.value is not None:
            board.take_back(what.ply - what.value)
            board.set_clocks(what.white_clock_ms, what.black_clock_ms)
            following = self._following[place]
            then = None if following is None else self.head.moments[following].what
            if not (isinstance(then, Shown) and then.ply.offset == what.offset):
                yield Happening(Sign.BOARD, board, what, board.hands is not None)
        elif (kind, what.detail) in _SHOWN_AGAIN:
            board.set_clocks(what.white_clock_ms, what.black_clock_ms)
            ticking = self._ticking_beside(place, what)
            if ticking is not None:
                board.ticking = ticking
            yield Happening(Sign.BOARD, board, what, board.hands is not None)
        elif kind is EventKind.TICKING:
            board.ticking = what.detail == "on"
            if not self._clocks_beside(place, what):
                yield Happening(Sign.BOARD, board, what, board.hands is not None)
        elif kind is EventKind.NAMES:
            board.white, _, board.black = what.text.partition(" ")
            yield Happening(Sign.BOARD, board, what, board.hands is not None)
        elif kind is EventKind.RESULT:
            board.result = (board.game.result, what.text)
            yield Happening(Sign.RESULT, board, what)
        elif kind is EventKind.FEED and what.detail in LOST:
            yield Happening(Sign.LEFT, board, what)
        elif kind in (EventKind.NOTICE, EventKind.CHAT):
            yield Happening(Sign.EVENT, board, what)

    def _ticking_beside(self, place: int, what: GameEvent) -> bool | None:
        """One board may tell other clocks and that they run."""
        following = self._following[place]
        then = None if following is None else self.head.moments[following].what
        if isinstance(then, GameEvent) and then.kind is EventKind.TICKING and then.offset == what.offset:
            return then.detail == "on"
        return None

    def _clocks_beside(self, place: int, what: GameEvent) -> bool:
        before = self.recording.before[place]
        last = None if before is None else self.head.moments[before].what
        return isinstance(last, GameEvent) and last.kind is EventKind.CLOCK and last.offset == what.offset
