"""Games that are still going on, as they stand now: for whoever shows them before they are over.

The strategy: what a game has gained since it was last shown is nearly always a ply or an event at the end of its only
unbroken observation, and that costs no more than those rows. Whatever else has changed (a takeback, a gap, a movelist,
names, header facts, its end) the whole game is computed anew, from copies: looking at a game never changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final

from recorder.events import ChatLine, Event, GameEnded, MovelistRead
from recorder.events.frames import Style12
from recorder.model import (
    Game,
    GameEvent,
    HoldingsChange,
    Observation,
    Ply,
    PlyLine,
    PlyRow,
    is_forgotten,
    name_plies,
)
from recorder.rules.moves import encode_move
from recorder.rules.variants import has_pockets
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.tracked_game import ListSeen, TrackedGame
from recorder.tracking.tracker import Tracker

__all__ = ["Changes", "Gained", "LivingTracker", "Shown"]

_all_facts: Final = attrgetter(*(field.name for field in fields(HeaderFacts)))
_NOT_YET: Final = 1 << 62
_DROPS: Final = encode_move("N@a1")  # no other move has so large a number


@dataclass(slots=True, eq=False)
class Shown:
    """What was shown of a game that is not given out. Whoever stores it hangs his own place on ``place``."""

    run: TrackedGame
    place: Any = None
    shape: tuple[Any, ...] = ()
    plies: int = 0
    events: int = 0
    holdings: int = 0
    plain: bool = False
    last_ply: int = -1


@dataclass(slots=True)
class Gained:
    """What a game has gained at its end.

    Attributes:
        observation: place of the one that goes on among the game's. rows, events, holdings: what it has more; rows are
            plies, not all of them named.
        end_offset, ended_at_ms: of it now.
    """

    shown: Shown
    observation: int
    rows: list[PlyRow]
    events: list[GameEvent]
    holdings: list[HoldingsChange]
    end_offset: int
    ended_at_ms: int | None

    @property
    def plies(self) -> list[Ply]:
        """The plies: the list ``rows``, named."""
        return name_plies(self.rows)


@dataclass(slots=True)
class Changes:
    """What has become of the living games since they were last looked at.

    Attributes:
        gone: were given out, or dropped. anew: to be shown as a whole. gained: have more at their end.
    """

    gone: list[Shown]
    anew: list[tuple[Shown, Game]]
    gained: list[Gained]


class LivingTracker(Tracker):
    """A tracker that also tells of games that are not over. The games that it gives out are those of ``Tracker``."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._shown: dict[TrackedGame, Shown] = {}
        self._gone: list[Shown] = []
        self._touched: set[str] = set()
        self._any = False  # something may have touched any game
        self._failed: set[TrackedGame] = set()  # cannot be shown

    def feed(self, events: list[Event]) -> list[Game]:
        touch = self._touched.add
        for event in events:
            if type(event) is Style12:
                touch(event.number)
            elif isinstance(event, ChatLine) and event.kind not in self._chat.kinds:
                continue
            elif isinstance(event, MovelistRead | GameEnded) or (number := getattr(event, "game_no", None)) is None:
                self._any = True  # a bughouse game's end may tell how the other board ended
            else:
                touch(str(number))
        return super().feed(events)

    def changes(self) -> Changes:
        """What has changed since the last call."""
        found = Changes(self.gone(), [], [])
        runs = self.boards.every() if self._any else self._named()
        self._touched.clear()
        self._any = False
        for run in runs:
            if run in self._failed:
                continue
            try:
                self._look(run, found)
            except Exception as error:
                self._fail(run, error)
                self._failed.add(run)
                if (shown := self._shown.pop(run, None)) is not None:
                    found.gone.append(shown)
        return found

    def _look(self, run: TrackedGame, found: Changes) -> None:
        """What has become of one game."""
        shown = self._shown.get(run)
        if shown is not None and (gained := _gained(shown)) is not None:
            if gained.rows or gained.events or gained.holdings:
                found.gained.append(gained)
            return
        if not (run.observations or run.lists):
            return
        if run.tree is None and is_forgotten(run.white, run.black):
            return
        if shown is None:
            shown = self._shown[run] = Shown(run)
        game = self.as_it_stands(shown)
        if is_forgotten(game.white.handle, game.black.handle):  # an examined game bears its main line's names
            found.gone.append(self._shown.pop(run))
        else:
            found.anew.append((shown, game))

    def _named(self) -> list[TrackedGame]:
        boards = self.boards
        found = [run for number in self._touched if (run := boards.runs.get(number)) is not None]
        return found + [run for number in self._touched if (run := boards.examined.get(number)) is not None]

    def _give_out(self, offset: int) -> None:
        self._gone += [shown for run in self.boards.over if (shown := self._shown.pop(run, None)) is not None]
        self._failed.difference_update(self.boards.over)
        super()._give_out(offset)

    def gone(self) -> list[Shown]:
        """Games that were given out since they were shown. ``changes`` does not tell of them again."""
        gone, self._gone = self._gone, []
        return gone

    def as_it_stands(self, shown: Shown) -> Game:
        """A game as if the source ended here."""
        run = shown.run
        current = run.current
        shown.shape = _shape(run)
        shown.plies, shown.last_ply = len(run.rows), run.rows[-1][0] if run.rows else -1
        if current is not None:
            shown.events, shown.holdings = len(current.events), len(current.holdings)
        game = self._game(_closed_copy(run), _NOT_YET)
        last = game.segments[-1] if game.segments else None
        shown.plain = (
            last is not None
            and current is not None
            and current is run.observations[-1]
            and last.observation == len(run.observations) - 1
            and last.to_ply == shown.last_ply
        )
        return game


def _shape(run: TrackedGame) -> tuple[Any, ...]:
    """All of a run that decides how its game looks, but for what stands at the end of its last observation."""
    current = run.current
    return (
        id(current), len(run.observations), id(run.rows), run.white, run.black, run.variant, run.end, run.following,
        run.suspended, run.result, run.reason_key, run.gapped, run.delta is None, run.setup,
        None if current is None else (len(current.lines), tuple(current.anchors)),
        len(run.lists), len(run.limits), run.limits[-1:],
        _all_facts(run.facts),
    )  # fmt: skip


def _gained(shown: Shown) -> Gained | None:
    """What a run has gained since it was shown; None: it must be shown as a whole."""
    run = shown.run
    current = run.current
    if _shape(run) != shown.shape:
        return None
    if run.tree is not None and current is not None:
        same = (len(current.events), len(current.holdings)) == (shown.events, shown.holdings)
        return Gained(shown, 0, [], [], [], run.end_offset, None) if same else None
    rows: list[Any] = run.rows[shown.plies :]  # whatever they are called: naming all plies takes long
    events = [] if current is None else current.events[shown.events :]
    holdings = [] if current is None else current.holdings[shown.holdings :]
    if rows:
        if not shown.plain:
            return None
        first, last = rows[0][0], rows[-1][0]
        if first != shown.last_ply + 1 or last - first + 1 != len(rows):
            return None
        for row in rows:
            if (row[1] or 0) >= _DROPS and run.rules is not None and has_pockets(run.rules):
                return None  # how far a drop is proved depends on the hands that were told
        shown.plies, shown.last_ply = len(run.rows), last
    elif len(run.rows) != shown.plies or (events and current is None):
        return None
    shown.events += len(events)
    shown.holdings += len(holdings)
    offset, at_ms = run.last_word
    end_offset = max(0 if current is None else current.end_offset, offset)
    return Gained(shown, len(run.observations) - 1, rows, events, holdings, end_offset, at_ms)


def _closed_copy(run: TrackedGame) -> TrackedGame:
    """A run as it would be if the source ended here; nothing in it is shared that computing its game changes."""
    twin = run.twin()
    places = {id(seen): _copy(seen) for seen in run.observations}
    twin.observations = list(places.values())
    twin.current = None if run.current is None else places.get(id(run.current), run.current)
    twin.lists = []
    for seen in run.lists:
        twin.lists.append(ListSeen(seen.event, _copy(seen.observation), seen.start, seen.first_ply, seen.positions))
    if twin.end is None:
        twin.end = twin.left if twin.suspended else "log-ends"
    twin.close_observation()
    return twin


def _copy(seen: Observation) -> Observation:
    lines = [PlyLine(line.number, line.kind, line.parent, line.parent_ply, list(line.plies)) for line in seen.lines]
    return replace(
        seen, lines=lines, anchors=list(seen.anchors), holdings=list(seen.holdings), events=list(seen.events)
    )
