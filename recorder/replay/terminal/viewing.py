"""A user's view of a replay: the selected game, the actions of keys, and the facts to show.

Nothing here draws or waits. Everything that is to be seen at a place is found from the moments before it, so that
seeking backwards shows what was there.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction
from typing import Final, NamedTuple

from recorder.errors import ReplayError
from recorder.model import EventKind, GameEvent, Ply
from recorder.movetext import move_number
from recorder.replay.boards import ReplayBoard
from recorder.replay.moments import AtGame, AtPly, AtTime, Begin, By, Position, ShownPly, What, parse_position, seek
from recorder.replay.show import LOST, Show, Sign
from recorder.replay.timing import Timing

_MOVE_NO: Final = re.compile(r"([1-9]\d{0,3})\.{0,3}", re.ASCII)
_MANY: Final = 10
_MINUTE_MS: Final = 60_000
_SLOWEST, _FASTEST = Fraction(1, 16), Fraction(1000)
_LONGEST_PROMPT: Final = 40
_SPOKEN: Final = {
    "kibitz": "kibitzes", "whisper": "whispers", "say": "says", "partner-tell": "tells the partner", "tell": "tells",
    "shout": "shouts",
}  # fmt: skip
_UNSPOKEN: Final = ("command", "nag", "echo")
_SETS_CLOCKS: Final = (EventKind.CLOCK, EventKind.TICKING, EventKind.TAKEBACK)


class ShownClock(NamedTuple):
    """A player's clock."""

    ms: int | None  # None: unknown
    exact: bool  # in thousandths
    runs: bool
    inferred: bool  # computed, not printed


class ShownHoldings(NamedTuple):
    """Upper-case letters. ``inferred``: derived from the moves, not reported by a line."""

    white: str
    black: str
    inferred: bool


class ShownEvent(NamedTuple):
    at_ms: int
    text: str
    is_chat: bool


def event_text(what: What) -> str | None:
    """None: a board, or no text. The words are those of the log, whatever they contain."""
    if not isinstance(what, GameEvent):
        return None
    kind, detail = what.kind, what.detail
    if kind is EventKind.CHAT:
        return _game_event_text(what)
    if kind in (EventKind.NOTICE, EventKind.RESULT):
        return what.text
    if kind is EventKind.TAKEBACK:
        return f"Taken back: {_half_moves(what.value)}."
    if kind is EventKind.GAP:
        return f"Missing here: {_half_moves(what.value)} ({detail})."
    if kind is EventKind.FEED:
        return f"The recording: {detail}."
    if kind is EventKind.NAMES:
        return f"The players are now {what.text}."
    if kind is EventKind.CLOCK and detail == "set":
        return "The clocks were set."
    if kind is EventKind.TICKING:
        return "The clocks run." if detail == "on" else "The clocks stand."
    return None


def _game_event_text(what: GameEvent) -> str | None:
    if what.detail in _UNSPOKEN:
        return None
    if what.actor is None:
        return what.text
    verb = _SPOKEN.get(what.detail)
    return f"{what.actor}: {what.text}" if verb is None else f"{what.actor} {verb}: {what.text}"


def _half_moves(count: int | None) -> str:
    if count is None:
        return "some half-moves"
    return f"{count} half-move{'' if count == 1 else 's'}"


def ply_text(ply: Ply) -> str:
    """``20. Nf3``, ``20... Nc6``."""
    return f"{move_number(ply.ply)} {ply.san}"


class Viewing:
    """A replay as one user sees it on a terminal; ``focus`` is the game that is shown large."""

    def __init__(self, show: Show) -> None:
        self.show, self.recording = show, show.recording
        self.flip = self.hides = self.left = False
        self.helping = 0  # the page of the help, from 1; 0: none
        self.prompt: str | None = None  # what was typed so far of a position to go to; None: it is not asked for
        self.message = ""  # until the next key
        self._places = show.recording.places
        # The games in the order in which they begin.
        self.order = sorted(
            (number for number, places in enumerate(self._places) if places),
            key=lambda number: self._places[number][0],
        )
        self.focus = self.order[0]

    # -- time --------------------------------------------------------------------------------------------------

    def tick(self, now_ns: int) -> bool:
        """Return whether anything was due. A game that begins is looked at if the one before it is over."""
        place, laps = self.show.head.place, self.show.head.laps
        for happening in self.show.take(now_ns):
            if happening.sign is Sign.BEGINS and not self.in_progress(self.focus):
                self.focus = happening.board.place
        return (place, laps) != (self.show.head.place, self.show.head.laps)

    def start(self, position: Position, now_ns: int) -> None:
        head = self.show.head
        if isinstance(position, AtPly) and position.game is None:
            position = position._replace(game=self.focus)
        moments = self.recording.moments
        place, at_ms = seek(moments, position, max(head.place - 1, 0), head.at_ms(now_ns))
        if isinstance(position, AtTime | By):
            self._go(place, now_ns, at_ms)
        else:  # what was asked for is seen at once
            self._go(min(place + 1, len(moments)), now_ns)
        if isinstance(position, AtPly | AtGame) and position.game is not None:
            self.focus = position.game

    def _go(self, place: int, now_ns: int, at_ms: int | None = None) -> None:
        """Behind so many moments, with the game in view that goes on there."""
        moments = self.recording.moments
        last = moments[place - 1] if place else moments[0]
        places = self._places[self.focus]
        if last.game is not None and not places[0] < max(place, 1) <= places[-1] + 1:
            self.focus = last.game
        self.show.go(place, now_ns, last.at_ms if at_ms is None else at_ms, self.focus)

    # -- what there is to see ----------------------------------------------------------------------------------

    def board(self, number: int) -> ReplayBoard | None:
        """None: it has not begun, or its number was given to another."""
        return next((board for board in self.show.boards.values() if board.place == number), None)

    def in_progress(self, number: int) -> bool:
        board = self.board(number)
        return board is not None and not board.over and board.result is None

    def others(self) -> list[int]:
        """Those that go on, first the partner's, also when it is over."""
        mine = self.board(self.focus)
        partner = None if mine is None else self.show.partner_of(mine)
        boards = self.show.boards.values()
        shown = [board for board in boards if board is partner or (not board.over and board is not mine)]
        shown.sort(key=lambda board: (board is not partner, self._places[board.place][0]))
        return [board.place for board in shown]

    def is_partner(self, number: int) -> bool:
        mine = self.board(self.focus)
        return mine is not None and self.show.partner_of(mine) is self.board(number)

    def recent_events(self, count: int) -> list[ShownEvent]:
        """Of the selected game, those that have a text, in order."""
        events: list[ShownEvent] = []
        places, moments = self._places[self.focus], self.recording.chapter(self.focus).moments
        for index in range(self._seen(self.focus) - 1, -1, -1):
            what = moments[index].what
            text = event_text(what)
            if text is not None:
                is_chat = isinstance(what, GameEvent) and what.kind is EventKind.CHAT
                events.append(ShownEvent(self.recording.moments[places[index]].at_ms, text, is_chat))
            if len(events) == count:
                break
        return events[::-1]

    def next_plies(self, count: int) -> list[Ply]:
        """Up to a takeback."""
        plies: list[Ply] = []
        for moment in self.recording.chapter(self.focus).moments[self._seen(self.focus) :]:
            what = moment.what
            if isinstance(what, ShownPly) and len(plies) < count:
                plies.append(what.ply)
            elif isinstance(what, ShownPly | Begin) or (
                isinstance(what, GameEvent) and what.kind is EventKind.TAKEBACK
            ):
                break
        return plies

    def clock(self, number: int, white: bool, now_ns: int) -> ShownClock:
        """That of the side to move runs from the board on, as clients let it run."""
        board = self.board(number)
        if board is None or board.state is None:
            return ShownClock(None, False, False, False)
        state = board.state
        ms = state.white_clock_ms if white else state.black_clock_ms
        inferred = not _is_printed(board, white)
        if inferred and not _is_computed(board, white):
            return ShownClock(None, False, False, False)
        since_ms = self._running_since(number, board)
        runs = since_ms is not None and state.position.white_to_move == white
        if runs and since_ms is not None:
            ms -= max(self.show.head.at_ms(now_ns) - since_ms, 0)
        return ShownClock(ms, state.exact, runs, inferred)

    def holdings(self, number: int) -> ShownHoldings | None:
        """None: unknown."""
        board = self.board(number)
        if board is None:
            return None
        if board.holdings is not None:
            return ShownHoldings(*board.holdings, inferred=False)
        holdings = None if board.state is None or not board.derives else board.state.position.holdings
        if holdings is None or (board.shares and self.show.partner_of(board) is None):
            return None
        return ShownHoldings(*holdings, inferred=True)

    def _running_since(self, number: int, board: ReplayBoard) -> int | None:
        """The recorded time of the clocks shown; None: they do not run, or the time is unknown."""
        places, own = self._places[number], self.recording.chapter(number).moments
        if board.over or board.result is not None or board.state is None or not board.is_ticking(board.state):
            return None
        behind = self._seen(number)
        if behind < len(places) and own[behind].timing is Timing.UNKNOWN:
            return None
        for index in range(behind - 1, -1, -1):
            what = own[index].what
            if isinstance(what, GameEvent) and what.kind is EventKind.FEED and what.detail in LOST:
                return None
            if isinstance(what, Begin | ShownPly) or (isinstance(what, GameEvent) and what.kind in _SETS_CLOCKS):
                return self.recording.moments[places[index]].at_ms
        return None

    def _seen(self, number: int) -> int:
        """How many of a game's moments have been shown."""
        return bisect_left(self._places[number], self.show.head.place)

    # -- what keys do ------------------------------------------------------------------------------------------

    def press(self, key: str, now_ns: int) -> None:
        """A key that means nothing changes nothing."""
        self.message = ""
        if self.prompt is not None:
            self._type(key, now_ns)
        elif self.helping:
            self.helping = self.helping + 1 if key == "?" else 0
            self.left = key == "q"
        elif (action := _ACTIONS.get(key)) is not None:
            action(self, now_ns)

    def _type(self, key: str, now_ns: int) -> None:
        assert self.prompt is not None
        if key == "enter":
            text, self.prompt = self.prompt, None
            if text.strip():
                self._go_to(text, now_ns)
        elif key == "escape" or (key == "backspace" and not self.prompt):
            self.prompt = None
        elif key == "backspace":
            self.prompt = self.prompt[:-1]
        elif key == "clear":
            self.prompt = ""
        elif len(key) == 1 and len(self.prompt) < _LONGEST_PROMPT:
            self.prompt += key

    def _go_to(self, text: str, now_ns: int) -> None:
        match = _MOVE_NO.fullmatch(text.strip())
        try:
            position = AtPly(2 * int(match[1]) - 1) if match else parse_position(text)
            self.start(position, now_ns)
        except ReplayError as error:
            self.message = str(error)

    def _toggle(self, now_ns: int) -> None:
        head = self.show.head
        if head.ended:
            self._go(0, now_ns)
            head.resume(now_ns)
        elif head.paused:
            head.resume(now_ns)
        else:
            head.pause(now_ns)

    def _by_plies(self, count: int, now_ns: int) -> None:
        """Pause, so many plies of this game later or earlier."""
        self.show.head.pause(now_ns)
        places, own = self._places[self.focus], self.recording.chapter(self.focus).moments
        changes = [place for place, moment in zip(places, own, strict=True) if _changes_board(moment.what)]
        target = bisect_left(changes, self.show.head.place) + count
        if target > len(changes):
            self._go(places[-1] + 1, now_ns)
        elif target > 0:
            self._go(changes[target - 1] + 1, now_ns)
        else:
            self._go(places[0] + 1, now_ns)

    def _to_end(self, now_ns: int) -> None:
        self.show.head.pause(now_ns)
        self._go(self._places[self.focus][-1] + 1, now_ns)

    def _by_event(self, forward: bool, now_ns: int) -> None:
        here, own = self.show.head.place, self.recording.chapter(self.focus).moments
        places = zip(self._places[self.focus], own, strict=True)
        marked = [place for place, moment in places if event_text(moment.what) is not None]
        found = [place for place in marked if (place >= here if forward else place < here - 1)]
        if found:
            self._go((found[0] if forward else found[-1]) + 1, now_ns)
        else:
            self.message = f"No event of this game comes {'after' if forward else 'before'} this place."

    def _by_games(self, count: int, now_ns: int) -> None:
        at = self.order.index(self.focus) + count
        if not 0 <= at < len(self.order):
            self.message = f"This is the {'first' if count < 0 else 'last'} game."
            return
        self.focus = self.order[at]
        self._go(self._places[self.focus][0] + 1, now_ns)

    def _look_at(self, count: int) -> None:
        in_view = sorted(
            (self.focus, *filter(self.in_progress, self.others())), key=lambda number: self._places[number][0]
        )
        if len(in_view) == 1:
            self.message = "No other game goes on at this place."
        self.focus = in_view[(in_view.index(self.focus) + count) % len(in_view)]

    def _faster(self, times: Fraction, now_ns: int) -> None:
        head = self.show.head
        head.set_speed(min(max(head.speed * times, _SLOWEST), _FASTEST), now_ns)

    def _by_time(self, ms: int, now_ns: int) -> None:
        self.start(By(ms), now_ns)

    def _step(self, now_ns: int) -> None:
        for happening in self.show.step(now_ns):
            if happening.sign is Sign.BEGINS and not self.in_progress(self.focus):
                self.focus = happening.board.place

    def _switch(self, name: str) -> None:
        setattr(self, name, not getattr(self, name))

    def _explain(self) -> None:
        self.helping = 1

    def _ask(self) -> None:
        self.prompt = ""


def _changes_board(what: What) -> bool:
    return isinstance(what, ShownPly) or (isinstance(what, GameEvent) and what.kind is EventKind.TAKEBACK)


def _is_printed(board: ReplayBoard, white: bool) -> bool:
    """Whether the recording has this clock."""
    starts = (observation.start for observation in board.game.observations if observation.start is not None)
    if any((start.white_clock_ms if white else start.black_clock_ms) is not None for start in starts):
        return True
    if any((ply.white_clock_ms if white else ply.black_clock_ms) is not None for ply in board.plies):
        return True
    begun = any(ply.white_moved == white for ply in board.plies)
    return not begun and board.game.start_ply == 0 and _is_timed(board)


def _is_computed(board: ReplayBoard, white: bool) -> bool:
    """Whether times of all moves and the time control give it."""
    mine = [ply for ply in board.plies if ply.white_moved == white]
    return board.game.start_ply == 0 and _is_timed(board) and all(ply.elapsed_ms is not None for ply in mine)


def _is_timed(board: ReplayBoard) -> bool:
    game = board.game
    return game.base_s is not None and bool(game.base_s or game.increment_s)


_Action = Callable[[Viewing, int], None]


class _Key(NamedTuple):
    keys: tuple[str, ...]
    shown: str
    does: str
    action: _Action


KEYS: Final = (
    _Key((" ",), "space", "pause, go on; at the end: from the beginning", lambda v, now: v._toggle(now)),
    _Key(("right", "l"), "right", "one half-move of this game on, and pause", lambda v, now: v._by_plies(1, now)),
    _Key(("left", "h"), "left", "one half-move back, and pause", lambda v, now: v._by_plies(-1, now)),
    _Key(
        ("down", "shift-right", "j"), "down, Shift-right", "ten half-moves on", lambda v, now: v._by_plies(_MANY, now)
    ),
    _Key(("up", "shift-left", "k"), "up, Shift-left", "ten half-moves back", lambda v, now: v._by_plies(-_MANY, now)),
    _Key(("home",), "Home", "to the game's beginning", lambda v, now: v._by_plies(-(10**9), now)),
    _Key(("end",), "End", "to the game's end", lambda v, now: v._to_end(now)),
    _Key(("page-down",), "PageDown", "a minute later", lambda v, now: v._by_time(_MINUTE_MS, now)),
    _Key(("page-up",), "PageUp", "a minute earlier", lambda v, now: v._by_time(-_MINUTE_MS, now)),
    _Key(("]",), "]", "to the next event", lambda v, now: v._by_event(True, now)),
    _Key(("[",), "[", "to the one before", lambda v, now: v._by_event(False, now)),
    _Key(("+", "="), "+", "twice as fast", lambda v, now: v._faster(Fraction(2), now)),
    _Key(("-", "_"), "-", "half as fast", lambda v, now: v._faster(Fraction(1, 2), now)),
    _Key((".",), ".", "the next thing of any game, and pause", lambda v, now: v._step(now)),
    _Key(("g", ":"), "g", "go to: 20, 20b, 1:30, +10s, #2, takeback, end", lambda v, now: v._ask()),
    _Key(("n",), "n", "next game", lambda v, now: v._by_games(1, now)),
    _Key(("p",), "p", "previous game", lambda v, now: v._by_games(-1, now)),
    _Key(("tab",), "Tab", "look at another game that goes on", lambda v, now: v._look_at(1)),
    _Key(("shift-tab",), "Shift-Tab", "the same, backwards", lambda v, now: v._look_at(-1)),
    _Key(("f",), "f", "turn the board", lambda v, now: v._switch("flip")),
    _Key(("m",), "m", "list the moves that come, or hide them", lambda v, now: v._switch("hides")),
    _Key(("?",), "?", "this help", lambda v, now: v._explain()),
    _Key(("q",), "q", "leave", lambda v, now: v._switch("left")),
)
_ACTIONS: Final[dict[str, _Action]] = {name: key.action for key in KEYS for name in key.keys}
