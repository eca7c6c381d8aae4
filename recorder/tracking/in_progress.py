"""Games in progress, for readers that show them before they end.

A game is computed from copies: looking at a game never changes it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from operator import attrgetter
from typing import Any, Final

from recorder.model import Game, Observation, PlyLine, is_forgotten
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.tracked_game import ListSeen, TrackedGame
from recorder.tracking.tracker import Tracker

_all_facts: Final = attrgetter(*(field.name for field in fields(HeaderFacts)))
_NOT_YET: Final = 1 << 62


@dataclass(slots=True, eq=False)
class GameInProgress:
    """A game that ``InProgressTracker.changed`` returned; ``row`` is where the caller stored it, if it did.

    ``state`` is all that decided how the game looked.
    """

    run: TrackedGame
    row: int | None = None
    state: tuple[Any, ...] = ()


class InProgressTracker(Tracker):
    """A tracker that also returns games in progress. It emits the same finished games as ``Tracker``."""

    def __init__(self, **how: Any) -> None:
        super().__init__(**how)
        self._shown: dict[TrackedGame, GameInProgress] = {}
        self._gone: list[int] = []
        self._failed: set[TrackedGame] = set()  # cannot be shown

    def changed(self) -> list[tuple[GameInProgress, Game]]:
        """Return the games in progress that have changed since the last call, as if the source ended here.

        Games of erased players are excluded.
        """
        found: list[tuple[GameInProgress, Game]] = []
        for run in self.boards.every():
            if run in self._failed:
                continue
            try:
                self._look(run, found)
            except Exception as error:
                self._fail(run, error)
                self._failed.add(run)
                self._drop(run)
        return found

    def _look(self, run: TrackedGame, found: list[tuple[GameInProgress, Game]]) -> None:
        """Add one game to ``found`` if it has changed."""
        shown = self._shown.get(run)
        if shown is not None and shown.state == _state(run):
            return
        if not (run.observations or run.lists):
            return
        if run.tree is None and is_forgotten(run.white, run.black):
            return
        if shown is None:
            shown = self._shown[run] = GameInProgress(run)
        game = self.snapshot(shown)
        if is_forgotten(game.white.handle, game.black.handle):  # an examined game bears its main line's names
            self._drop(run)
        else:
            found.append((shown, game))

    def _drop(self, run: TrackedGame) -> None:
        shown = self._shown.pop(run, None)
        if shown is not None and shown.row is not None:
            self._gone.append(shown.row)

    def _emit(self, offset: int) -> None:
        for run in self.boards.over:
            self._drop(run)
        self._failed.difference_update(self.boards.over)
        super()._emit(offset)

    def gone(self) -> list[int]:
        """Return the rows of games in progress that were emitted or dropped since the last call."""
        gone, self._gone = self._gone, []
        return gone

    def snapshot(self, shown: GameInProgress) -> Game:
        """Make the game of a game in progress, as if the source ended here.

        It shares nothing with the one in progress.
        """
        shown.state = _state(shown.run)
        return self._game(_closed_copy(shown.run), _NOT_YET)


def _state(run: TrackedGame) -> tuple[Any, ...]:
    """All of a run that decides how its game looks."""
    current = run.current
    return (
        id(current), len(run.observations), id(run.rows), run.white, run.black, run.variant, run.end, run.following,
        run.suspended, run.result, run.reason_key, run.gapped, run.delta is None, run.setup,
        len(run.rows), run.rows[-1:],
        None if current is None else (
            len(current.lines), tuple(current.anchors), len(current.events), len(current.holdings)
        ),
        len(run.lists), len(run.limits), run.limits[-1:],
        _all_facts(run.facts),
    )  # fmt: skip


def _closed_copy(run: TrackedGame) -> TrackedGame:
    """A run as it would be if the source ended here; nothing in it is shared that computing its game changes."""
    copy = run.copy()
    places = {id(seen): _copy(seen) for seen in run.observations}
    copy.observations = list(places.values())
    copy.current = None if run.current is None else places.get(id(run.current), run.current)
    copy.lists = []
    for seen in run.lists:
        copy.lists.append(ListSeen(seen.event, _copy(seen.observation), seen.start, seen.first_ply, seen.positions))
    if copy.end is None:
        copy.end = copy.left if copy.suspended else "log-ends"
    copy.close_observation()
    return copy


def _copy(seen: Observation) -> Observation:
    lines = [PlyLine(line.number, line.kind, line.parent, line.parent_ply, list(line.plies)) for line in seen.lines]
    return replace(
        seen, lines=lines, anchors=list(seen.anchors), holdings=list(seen.holdings), events=list(seen.events)
    )
