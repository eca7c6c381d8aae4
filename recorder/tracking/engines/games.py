"""Engines' lines in, games out: two engines of one match are one game, a server's game and the engine's view another.

Nothing is joined that the log does not show to be the same: both views overlap in the log, agree in every ply that both
have, and each move is before or after that of the other view, depending on its direction.
"""

from __future__ import annotations

import datetime

from recorder.containment import Failures
from recorder.events import EngineLine
from recorder.model import Anomaly, Game, TimeBasis, is_forgotten
from recorder.tracking.engines.process import EngineSide
from recorder.tracking.engines.results import engine_game
from recorder.tracking.engines.view import EngineRun, agree

__all__ = ["Engines"]


class Engines:
    """Follows the engines of one log.

    Args:
        failures: where errors of this program are noted.
        date: given by the user for the log.
        chat: the words that are kept, as for ``Tracker``.
    Attributes:
        lines: how many were taken.
    """

    def __init__(self, failures: Failures, *, date: datetime.date | None = None, chat: str = "public") -> None:
        self._failures = failures
        self._date = date
        self._chat = chat
        self._sides: dict[str, EngineSide] = {}
        self._over: list[EngineRun] = []
        self.lines = 0

    @property
    def anomalies(self) -> list[Anomaly]:
        """Findings so far."""
        return [found for side in self._sides.values() for found in side.anomalies]

    def feed(self, line: EngineLine) -> bool:
        """Take the next line.

        Args:
            line: between an interface and an engine, in the order of the log.

        Returns:
            Whether this line ends a game.
        """
        self.lines += 1
        side = self._sides.get(line.engine)
        if side is None:
            side = self._sides[line.engine] = EngineSide(line.engine, self._chat)
        try:
            side.feed(line)
        except Exception as error:
            self._failures.note(error, line.offset, None, line.text)
            side.close("unobserved")  # it may be half changed
            side.detach(None)
        over = bool(side.done)
        self._over += side.done
        side.done.clear()
        return over

    def end(self) -> None:
        """The log ends here."""
        for side in self._sides.values():
            side.close("log-ends")
            self._over += side.done
            side.done.clear()

    def join(self, game: Game) -> None:
        """Give a server's game the view of the engine that played it, if there is one.

        Args:
            game: of a server, in the same log. The view is added to its observations.
        """
        found = [run for run in [*self._over, *self._going()] if _is_view_of(run, game)]
        if len(found) != 1:
            return
        run = found[0]
        for side in self._sides.values():
            side.detach(run)
        self._over = [one for one in self._over if one is not run]
        seen = run.observation
        seen.white, seen.black, seen.game_no = game.white.handle, game.black.handle, game.game_no
        if game.time_basis is TimeBasis.NONE:
            game.time_basis = TimeBasis.CLOCK
        elif game.time_basis is not TimeBasis.CLOCK:
            _without_times(run)
        game.observations.append(seen)
        game.last_offset = max(game.last_offset, seen.end_offset)

    def _going(self) -> list[EngineRun]:
        return [run for side in self._sides.values() for run in side.open_runs]

    def settle(self, before: int) -> list[Game]:
        """Emit the games that are over.

        Args:
            before: no server's game that may still come began before this place of the log.
        Returns:
            Games without a server's game, each with one or two views.
        """
        games: list[Game] = []
        going = self._going()
        waiting: list[EngineRun] = []
        for run in self._over:
            if run.taken:
                continue
            others = [one for one in self._over if one is not run and not one.taken and _overlap(run, one)]
            others += [one for one in going if one.observation.offset <= run.observation.end_offset]
            partners = [one for one in others if _is_match(run, one)]
            partner = partners[0] if len(partners) == 1 else None
            last = max(one.observation.end_offset for one in (run, partner) if one is not None)
            if last >= before or any(one in going for one in others if one.engine != run.engine):
                waiting.append(run)
                continue
            run.taken = True
            main, other = run, partner
            if partner is not None:
                partner.taken = True
                shorter, longer = sorted((run, partner), key=lambda one: one.ply)
                main, other = (shorter, longer) if _was_too_late(longer, shorter) else (longer, shorter)
            try:
                game = engine_game(main, other, date=self._date)
            except Exception as error:
                self._failures.note(error, main.observation.offset, None, "")
                continue
            if not is_forgotten(game.white.handle, game.black.handle):
                games.append(game)
        self._over = [run for run in waiting if not run.taken]
        return games


def _overlap(one: EngineRun, other: EngineRun) -> bool:
    a, b = one.observation, other.observation
    return a.offset <= b.end_offset and b.offset <= a.end_offset


def _is_match(one: EngineRun, other: EngineRun) -> bool:
    """Whether two engines played each other: each received every ply of the other."""
    if one.engine == other.engine or len(one.colours) > 1 or one.colours & other.colours:
        return False
    first, second = one.first, other.first
    if first.base_ply != second.base_ply or first.history[0].board != second.history[0].board:
        return False
    if one.variant != other.variant or abs(one.ply - other.ply) > 1:
        return False
    shown = {ply.ply: ply for ply in other.rows}
    common = [(ply, shown[ply.ply]) for ply in one.rows if ply.ply in shown]
    if not common or not one.own | other.own:
        return False
    for mine, theirs in common:
        if not agree(mine, theirs):
            return False
        if mine.ply in one.own and mine.offset > theirs.offset:
            return False
        if theirs.ply in other.own and theirs.offset > mine.offset:
            return False
    return True


def _was_too_late(longer: EngineRun, shorter: EngineRun) -> bool:
    """Whether an engine's last move was not made any more.

    The interface sends every move to the other engine before the result, if that engine runs.
    """
    if longer.result is None or shorter.result is None or longer.ply not in longer.own:
        return False
    dead = tuple(f"Error{how}{shorter.engine} chess program" for how in (": ", " reading from ", " writing to "))
    return longer.ply > shorter.ply and not (shorter.reason or "").startswith(dead)


def _is_view_of(run: EngineRun, game: Game) -> bool:
    """Whether an engine's moves are those of a server's game that we play or watch."""
    plies = {ply.ply: ply for ply in game.plies}
    seen = run.observation
    if run.taken or not plies or seen.offset > game.last_offset or seen.end_offset < game.first_offset:
        return False
    sides = _own_sides(game)
    if run.colours and run.colours != sides:
        return False
    rival = game.black.handle if True in run.colours else game.white.handle
    if run.colours and run.opponent is not None and run.opponent.lower() != rival.lower():
        return False
    common = 0
    for ply in run.rows:
        other = plies.get(ply.ply)
        if other is None:
            continue
        if not agree(ply, other) or (ply.offset > other.offset) == (ply.ply in run.own):
            return False
        common += 1
    beyond = [ply for ply in run.rows if ply.ply not in plies]
    return common > 0 and common + 1 >= len(run.rows) and all(ply.ply > max(plies) for ply in beyond)


def _own_sides(game: Game) -> set[bool]:
    """The colours that the log's user plays, by what the boards say of him: relation 1 is his move, -1 the other's."""
    found = set()
    for seen in game.observations:
        if seen.start is not None and seen.relation in (1, -1):
            found.add((seen.start.ply % 2 == 0) == (seen.relation == 1))
    return found


def _without_times(run: EngineRun) -> None:
    """Exclude times that count from the program's start: the game's are of another kind."""
    seen = run.observation
    seen.started_at_ms = seen.ended_at_ms = None
    for line in seen.lines:
        line.plies = [ply._replace(at_ms=None) for ply in line.plies]
    seen.events = [event._replace(at_ms=None) for event in seen.events]
    seen.holdings = [change._replace(at_ms=None) for change in seen.holdings]
    seen.thinking = [thought._replace(at_ms=None) for thought in seen.thinking]
