"""When every board and every event of a report comes, by the clock of ``recorder.replay``.

The moments are those that the replay in a terminal and the replay server play: by arrival, else by what the moves took.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final, NamedTuple

from exporters.report.positions import Course, ReportPosition
from recorder.model import EventKind, Game, GameEvent, GameKind, control_of, shows_board
from recorder.replay.moments import Begin, GameMoment, ShownPly
from recorder.replay.several import moments_of_games
from recorder.replay.timing import Timing

STEP_MS: Final = 1000  # how long a board without a time is shown
_LEAST_LONG_MS: Final = 5_000
_LONG_FACTOR: Final = 4


class ClockRun(NamedTuple):
    """A clock that runs before a move: from what was left to what was left before the increment."""

    white: bool
    from_ms: int
    to_ms: int


@dataclass(slots=True)
class Showing:
    """A board or an event at a moment. ``back``: moves were taken back; ``run``: the clock that ran until it came."""

    board: int
    state: ReportPosition
    event: GameEvent | None
    at_ms: int
    known: bool
    back: bool = False
    run: ClockRun | None = None
    think_ms: int | None = None


@dataclass(slots=True)
class Playback:
    """All of them in order; a move that takes longer than ``long_ms`` is long."""

    showings: list[Showing] = field(default_factory=list)
    long_ms: int = 0
    end_ms: int = 0


def play(games: Sequence[Game], courses: Sequence[Course]) -> Playback:
    moments = moments_of_games(games, pace_ms=STEP_MS)
    boards = [_Board(number, game, course) for number, (game, course) in enumerate(zip(games, courses, strict=True))]
    playback = Playback()
    for moment in moments:
        assert moment.game is not None
        playback.showings += boards[moment.game].take(moment)
        playback.end_ms = moment.at_ms
    if not playback.end_ms or boards[0].has_no_times:
        _pace(playback)
    for board in boards:
        _add_others(playback.showings, board)
    thinks_ms = [showing.think_ms for showing in playback.showings if showing.think_ms]
    limit_ms = max(_LEAST_LONG_MS, round(_LONG_FACTOR * median(thinks_ms)) if thinks_ms else 0)
    playback.long_ms = -(-limit_ms // 1000) * 1000
    return playback


class _Board:
    def __init__(self, number: int, game: Game, course: Course) -> None:
        self.number = number
        self.game = game
        self.shown_events: set[int] = set()
        self._course = course
        self._now: ReportPosition | None = None
        self._places = {id(event): index for index, log in enumerate(game.observations) for event in log.events}
        self._as_shown = game.kind is not GameKind.PLAYED and any(
            shows_board(event) for observation in game.observations for event in observation.events
        )

    @property
    def has_no_times(self) -> bool:
        """Whether boards were shown at unknown times: moves that were examined took no time."""
        return self._as_shown and not any(event.at_ms for event in self.game.events if shows_board(event))

    def take(self, moment: GameMoment) -> list[Showing]:
        what = moment.what
        known = moment.timing is not Timing.UNKNOWN
        state: ReportPosition | None
        if isinstance(what, Begin):
            if self._now is not None:
                return []
            self._now = self._course.start
            return [Showing(self.number, self._now, None, moment.at_ms, known)]
        assert self._now is not None
        if isinstance(what, ShownPly):
            state = self._course.state(what.observation, what.line, what.ply.ply)
            if state is None or state is self._now or self._as_shown:
                return []
            before, self._now = self._now, state
            follows = state.ply == before.ply + 1 and not state.missing
            run = _run(self.game, before, state) if follows else None
            think_ms = what.ply.elapsed_ms if follows else None
            return [Showing(self.number, state, None, moment.at_ms, known, False, run, think_ms)]
        if not isinstance(what, GameEvent):
            return []
        self.shown_events.add(id(what))
        if self._as_shown and shows_board(what):
            state = self._course.state(self._places[id(what)], what.value or 0, what.ply)
            if state is None or state is self._now:
                return []
            self._now = state
            return [Showing(self.number, state, None, moment.at_ms, known)]
        showings = [Showing(self.number, self._now, what, moment.at_ms, known)]
        if what.kind is EventKind.TAKEBACK and what.value is not None:
            state = self._course.before(self._now, what.ply - what.value)
            if state is not None:
                self._now = state
                showings.append(Showing(self.number, state, None, moment.at_ms, known, True))
        return showings


def _pace(playback: Playback) -> None:
    """A step for each board where times are unknown: all moves took 0 s, or boards were only shown."""
    now_ms = -STEP_MS
    for showing in playback.showings:
        now_ms += STEP_MS if showing.event is None else 0
        showing.at_ms, showing.known = now_ms, False
    playback.end_ms = now_ms


def _add_others(showings: list[Showing], board: _Board) -> None:
    """Events that only another source of the game contains: after the last board that was there by then."""
    for event in board.game.events:
        if id(event) in board.shown_events or shows_board(event):
            continue
        places = [n for n, one in enumerate(showings) if one.board == board.number and one.state.ply <= event.ply]
        n = places[-1] if places else 0
        before = showings[n]
        showings.insert(n + 1, Showing(board.number, before.state, event, before.at_ms, False))


def _run(game: Game, before: ReportPosition, state: ReportPosition) -> ClockRun | None:
    move = state.move
    if move is None or (game.base_s == 0 and not game.increment_s):
        return None
    white = move.white_moved
    from_ms = before.white_clock_ms if white else before.black_clock_ms
    after_ms = state.white_clock_ms if white else state.black_clock_ms
    if from_ms is None:
        return None
    if move.elapsed_ms is not None:
        return ClockRun(white, from_ms, from_ms - move.elapsed_ms) if move.elapsed_ms > 0 else None
    _, increment_s = control_of(game, white)
    if after_ms is None or increment_s is None or after_ms - increment_s * 1000 >= from_ms:
        return None
    return ClockRun(white, from_ms, after_ms - increment_s * 1000)
