"""A replay of games as its clients see it: which games go on under which numbers, and what just happened in them."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from fractions import Fraction
from typing import Any, Final, NamedTuple

from recorder.errors import RecorderError
from recorder.model import EventKind, Game, GameEvent, HoldingsChange, LinkKind, Origin
from recorder.replay.boards import BoardState, Lines, ReplayBoard
from recorder.replay.mainline import end_event
from recorder.replay.moments import Begin, End, GameMoment, ShownPly, What
from recorder.replay.several import partner_keys, partners_of
from recorder.replay.timing import Playhead, ReplayMoment
from recorder.rules.boards import captured_piece

__all__ = ["LOST", "Chapter", "Happening", "ReplaySource", "Show", "Sign"]

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
    board: ReplayBoard
    what: object = None
    hands: bool = False


class Chapter(NamedTuple):
    """A game of a replay: ``moments`` are its own, in order, as ``moments_of_game`` gives them."""

    game: Game
    moments: Sequence[GameMoment]


class ReplaySource:
    """What a replay shows, made once for all its clients.

    Args:
        players: the names of each game's players.
        moments: of all games in one order; what they show is looked up in the chapters.
        chapter: gives a game by its place. Whoever shows it holds it as long as it goes on.
        lines: gives a game's recorded lines, by its place; asked when the game begins.
        partners: of a board of bughouse the other one, by their places.
        lost: called once with why a game cannot be read any more, which is then left out; None: that is an error.

    Attributes:
        places: for each game those of its moments.
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
        self._gone: set[int] = set()
        self.players = players
        self.moments = moments
        self.chapter = chapter
        self.lines = lines
        self.places = [array("l") for _ in players]
        for place, moment in enumerate(moments):
            if moment.game is not None:
                self.places[moment.game].append(place)

    @classmethod
    def of(
        cls,
        games: Sequence[Game],
        moments: Sequence[GameMoment],
        lines: Callable[[int], Lines | None] = lambda _game: None,
    ) -> ReplaySource:
        """Games that are in memory, with moments that hold what they show."""
        chapters: list[Chapter] = []
        made = cls(
            [(game.white.handle, game.black.handle) for game in games],
            moments,
            lambda number: chapters[number],
            lines,
            partners_of([(game.key, partner_keys(game)) for game in games]),
        )
        chapters += [
            Chapter(game, [moments[place] for place in places]) for game, places in zip(games, made.places, strict=True)
        ]
        return made

    def there(self, number: int) -> Chapter | None:
        """A game by its place; None: it is lost, as one that was deleted since the replay began.

        Raises:
            RecorderError: it is lost, and nobody wants to be called for that.
        """
        if number in self._gone:
            return None
        try:
            return self.chapter(number)
        except RecorderError as error:
            if self._lost is None:
                raise
            self._gone.add(number)
            self._lost(str(error))
            return None

    def what(self, place: int) -> tuple[Chapter, What]:
        """What a moment shows, and the game that it is of."""
        number = self.moments[place].game
        assert number is not None
        chapter = self.chapter(number)
        return chapter, chapter.moments[bisect_left(self.places[number], place)].what

    def open_at(self, place: int, kept: int | None = None) -> list[int]:
        """The places before this one of all moments of games that have begun and are not over.

        Args:
            kept: a game that counts even if it is over; its partner does, too.
        """
        kept_too = {kept, None if kept is None else self._partners.get(kept)}
        found: list[int] = []
        for number, places in enumerate(self.places):
            if places and places[0] < place and (place <= places[-1] or number in kept_too):
                found += places[: bisect_left(places, place)]
        return sorted(found)

    def played_by(self, name: str) -> list[int]:
        """The games of a player, in the order of the replay."""
        handle = name.lower()
        return [
            number for number, (white, black) in enumerate(self.players) if handle in (white.lower(), black.lower())
        ]


class _At(NamedTuple):
    """A moment among those of its game."""

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
        recording: ReplaySource,
        now_ns: int,
        *,
        speed: Fraction | int = 1,
        loop: bool = False,
        pause_at: Sequence[str] = (),
    ) -> None:
        self.recording = recording
        self.head = Playhead(recording.moments, now_ns, speed=speed, loop=loop, pause_at=pause_at)
        self.boards: dict[int, ReplayBoard] = {}
        self._numbers: dict[int, int] = {}  # by the game's place
        self._chapters: dict[int, Chapter] = {}  # of the games that go on

    def take(self, now_ns: int, most: int | None = None) -> Iterator[Happening]:
        """What is due, as ``Playhead.take``. Boards stand at each happening as it is given: take all, one by one."""
        begin, laps = self.head.place, self.head.laps
        due = self.head.take(now_ns, most)
        if self.head.laps != laps:
            begin = 0
            for board in list(self.boards.values()):
                yield Happening(Sign.OVER, board)
            self._clear()
        for place in range(begin, begin + len(due)):
            yield from self._one(place)

    def open(self, now_ns: int) -> None:
        """Set up the first boards, and wait."""
        self.head.pause(now_ns)
        while self.head.place < len(self.head.moments):
            at = self._at(self.head.place)
            if self.head.place and at is not None and not _is_at_the_beginning(at):
                break
            list(self.step(now_ns))

    def step(self, now_ns: int) -> Iterator[Happening]:
        """Show the next moment, and pause; to be taken as ``take``'s."""
        place = self.head.place
        moment = self.head.step(now_ns)
        if moment is not None:
            yield from self._one(place)

    def go(self, place: int, now_ns: int, at_ms: int | None = None, kept: int | None = None) -> None:
        """Stand elsewhere: the boards are what they are there, and nothing of the way there happens.

        Args:
            place, now_ns, at_ms: as ``Playhead.go`` takes them.
            kept: a game whose last board is there even if it is over.
        """
        self.head.go(place, now_ns, at_ms)
        self._clear()
        for at in self.recording.open_at(self.head.place, kept):
            for _ in self._one(at):
                pass

    def _clear(self) -> None:
        self.boards.clear()
        self._numbers.clear()
        self._chapters.clear()

    def _at(self, place: int) -> _At | None:
        """A moment of a game; None: the game is lost."""
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
        """The other board of a bughouse match, if it goes on."""
        game = board.game
        keys = {link.key for link in game.links if link.kind is LinkKind.PARTNER}
        for other in self.boards.values():
            if other.game.key in keys:
                return other
        told = self.boards.get(game.partner_game_no or 0)
        return told if told is not None and told.game.game_no == game.partner_game_no else None

    def _one(self, place: int) -> Iterator[Happening]:
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
            board.hands = (what.white, what.black)
            if what.passed is None:
                board.printed_hands = board.hands
            if what.passed is not None or not isinstance(
                at.before, Begin | ShownPly
            ):  # else it is printed with the board
                yield Happening(Sign.HANDS, board, what)
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
        board = self.boards[number] = ReplayBoard(what.game, number, game, self.recording.lines(game))
        self._numbers[game] = number
        board.begin(what)
        board.remember(what)
        if what.observation is None and _is_joined_later(at):
            return  # the moves before the board that was joined: a list told them
        board.is_announced = True
        yield Happening(Sign.BEGINS, board, what, _look_ahead(at, board))

    def _number(self, game: Game) -> int:
        """The recorded number if no game has it that goes on, else the lowest one that is free."""
        told = game.game_no
        if told is not None and told > 0 and (told not in self.boards or self.boards[told].over):
            return told
        number = 1
        while number in self.boards and not self.boards[number].over:
            number += 1
        return number

    def _shown(self, at: _At, board: ReplayBoard, what: ShownPly) -> Iterator[Happening]:
        before = board.standing
        board.show(what)
        if board.derives and board.shares:
            self._pass_on(board, before, what.ply.white_moved)
        if board.is_live and what.ply.origin_code in _LISTED:
            return  # no board showed it: "moves" tells it
        told = _look_ahead(at, board)
        yield Happening(Sign.BOARD, board, what, told)

    def _pass_on(self, board: ReplayBoard, before: BoardState | None, by_white: bool) -> None:
        """Give what a move of bughouse took to the partner, who has the other colour."""
        partner, after = self.partner_of(board), board.standing
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
                yield Happening(Sign.BOARD, board, what, board.hands is not None)
        elif (kind, what.detail) in _SHOWN_AGAIN:
            board.set_clocks(what.white_clock_ms, what.black_clock_ms)
            then = at.next
            if isinstance(then, GameEvent) and then.kind is EventKind.TICKING and then.offset == what.offset:
                board.ticking = then.detail == "on"  # one board may tell other clocks and that they run
            yield Happening(Sign.BOARD, board, what, board.hands is not None)
        elif kind is EventKind.TICKING:
            board.ticking = what.detail == "on"
            last = at.before
            if not (isinstance(last, GameEvent) and last.kind is EventKind.CLOCK and last.offset == what.offset):
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


def _is_at_the_beginning(at: _At) -> bool:
    """Whether a moment sets up a board before anything happens on it."""
    what = at.what
    return (
        isinstance(what, Begin)
        or (isinstance(what, HoldingsChange) and what.passed is None)
        or (isinstance(what, ShownPly) and what.ply.origin_code in _LISTED and _is_joined_later(at))
    )


def _is_joined_later(at: _At) -> bool:
    """Whether a board of this game follows behind moves that no board showed."""
    return any(isinstance(what, Begin) for what in at.following)


def _look_ahead(at: _At, board: ReplayBoard) -> bool:
    """Take from what follows a board what is printed with it; whether hands are.

    The archive has hands where they changed: without a change a board has those of the board before it.
    """
    what = at.next
    if isinstance(what, HoldingsChange) and what.passed is None:
        board.printed_hands = (what.white, what.black)
    board.hands = board.printed_hands
    for what in at.following:
        if isinstance(what, Begin | ShownPly):
            break
        if isinstance(what, GameEvent) and what.kind is EventKind.TICKING:
            board.ticking = what.detail != "on"
            break
    return board.hands is not None
