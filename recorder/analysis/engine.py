"""An engine that analyses recorded games, in either protocol: one game, or many of which some may fail.

::

    with open_engine(spec, limits) as engine:          # EngineError: it cannot be started or does not answer
        for game in games:
            plan = make_plan(game)                     # plan.looks: what there is to analyse
            for found in engine.analyse(plan.only(plies_wanted)):
                ...                                    # found.look.ply, .fen; found.lines; found.notes

After an ``EngineError`` that is no ``VariantError`` the process is gone, and the next game gets a new one; so it does
from an engine that cannot play several games. A caller that stops iterating ends the process, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import monotonic, time_ns
from typing import Any, Final, Protocol

from recorder.analysis.plan import Found, Limits, Look, Plan, Play, PlayedLine, SetUp, Step, TakeBack, make_plan
from recorder.analysis.process import EngineProcess, EngineSpec, Patience
from recorder.errors import EngineError, VariantError
from recorder.model import AnalysedPosition, Analysis, Game

_STARTS: Final = 3
"""GNU Chess never answers after some of its starts: one of six on a busy machine."""


class Driver(Protocol):
    """The interface's side of a protocol. Each method may raise ``EngineError``."""

    @property
    def is_reusable(self) -> bool:
        """Whether the process can play another game."""

    async def begin(self) -> None:
        """Read the engine's features, and set its options."""

    async def begin_game(self, game: Game) -> None:
        """Announce a game; raise VariantError, before anything is sent, if the engine does not play its variant."""

    async def send(self, step: SetUp | Play | TakeBack) -> None:
        """Send a step of the game."""

    async def look(self, look: Look, line: PlayedLine) -> Found:
        """Analyse the position that ``line`` led to."""

    async def end_game(self, game: Game) -> None:
        """Send the result."""


class Engine:
    """An engine under one limit."""

    def __init__(self, spec: EngineSpec, limits: Limits, patience: Patience) -> None:
        self._spec = spec
        self._limits = limits
        self._patience = patience
        self._runner: asyncio.Runner | None = None
        self._process: EngineProcess | None = None
        self._driver: Driver | None = None
        self._last_name = spec.command  # of the last process

    @property
    def name(self) -> str:
        """The engine's own name, known at the latest when a game begins."""
        return self._last_name if self._process is None else self._process.name

    def open(self) -> None:
        """Start the process, unless it runs."""
        if self._runner is None:
            self._runner = asyncio.Runner()
            self._runner.run(self._start())

    def analyse(self, plan: Plan) -> Iterator[Found]:
        """Send a game; yields each position when its analysis is complete."""
        may_stay = False
        try:
            self.open()
            assert self._runner is not None
            assert self._driver is not None
            self._runner.run(self._driver.begin_game(plan.game))
            line, steps = PlayedLine(), iter(plan.steps)
            while (found := self._runner.run(self._find_next(self._driver, plan.game, line, steps))) is not None:
                yield found
            may_stay = self._driver.is_reusable
        except VariantError:
            may_stay = True
            raise
        finally:
            if not may_stay:
                self.close()

    def close(self) -> None:
        """End the process."""
        runner, process = self._runner, self._process
        self._runner = self._process = self._driver = None
        if runner is not None:
            with runner:
                if process is not None:
                    self._last_name = process.name
                    runner.run(self._stop(process))

    async def _start(self) -> None:
        for left in reversed(range(_STARTS)):
            self._process = process = await EngineProcess.start(self._spec.command, self._patience)
            driver = self._make_driver(process)
            await driver.begin()
            if process.has_printed or not left:
                self._driver = driver
                return
            await process.stop(0)

    async def _stop(self, process: EngineProcess) -> None:
        for task in asyncio.all_tasks() - {asyncio.current_task()}:  # a signal ended the run that waited for them
            task.cancel()
        await process.stop(self._patience.quit_ms)

    def _make_driver(self, process: EngineProcess) -> Driver:
        if self._spec.protocol == "cecp":
            from recorder.analysis.cecp import CecpDriver

            return CecpDriver(process, self._spec.options, self._limits)
        from recorder.analysis.uci import UciDriver  # loads python-chess

        return UciDriver(process, self._spec.options, self._limits)

    async def _find_next(self, driver: Driver, game: Game, line: PlayedLine, steps: Iterator[Step]) -> Found | None:
        """Send steps until a position is analysed; None: the game is over."""
        for step in steps:
            if isinstance(step, Look):
                return await driver.look(step, line)
            line.follow(step)
            await driver.send(step)
        await driver.end_game(game)
        return None


@contextlib.contextmanager
def open_engine(spec: EngineSpec, limits: Limits, patience: Patience | None = None) -> Iterator[Engine]:
    """Start an engine, and end its processes in any case."""
    engine = Engine(spec, limits, patience or Patience())
    try:
        engine.open()
        yield engine
    finally:
        engine.close()


_STORED_EVERY_S: Final = 1.0
MOST_FAILURES: Final = 3
"""After this number of failures in a row the engine gets no more games."""

Store = Callable[[Sequence[AnalysedPosition]], None]


class Report(Protocol):
    """Reports a sentence about a game."""

    def __call__(self, game: Game, text: str, ply: int | None = None) -> None:
        """``ply``: the position that the sentence is about; None: it is the reason why the engine failed."""


@dataclass(slots=True)
class AnalysisRun:
    """One engine with one limit, game by game.

    ``games`` counts those with analysed positions, ``begun`` those of them with which the engine failed later;
    ``silent`` positions got no line of the engine, ``known`` ones were analysed before, and ``unknown`` games have no
    known position. ``engine`` is None until it has started.
    """

    spec: EngineSpec
    limits: Limits
    report: Report
    engine: Engine | None = None
    games: int = 0
    begun: int = 0
    positions: int = 0
    silent: int = 0
    known: int = 0
    unknown: int = 0
    failed: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    _failures: int = 0

    @property
    def gave_up(self) -> bool:
        """Whether the engine has failed with too many games in a row."""
        return self._failures == MOST_FAILURES

    @property
    def is_over(self) -> bool:
        """Whether the engine gets no more games."""
        return self.interrupted or self.gave_up

    def head(self, game: Game) -> Analysis:
        """The analysis of a game without its lines: engine and settings."""
        assert self.engine is not None
        limit = {name: value for name, value in self.limits._asdict().items() if value is not None}
        settings = {"limit": limit, "options": dict(self.spec.options), "variant": game.variant}
        text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
        return Analysis(self.engine.name, self.spec.protocol, text, time_ns() // 1_000_000, ())

    def analyse(self, game: Game, known: set[int], store: Store, progress: Callable[[int, int], None]) -> None:
        """Analyse a game; results go to ``store`` about once a second, and also after an error.

        ``known`` has the plies of positions to skip.
        """
        assert self.engine is not None
        plan = make_plan(game)
        places = {look.ply for look in plan.looks}
        wanted = places - known
        self.known += len(places) - len(wanted)
        self.unknown += not places
        if not wanted:
            return
        analysed: list[AnalysedPosition] = []
        before, stored_s = self.positions, monotonic()
        try:
            for found in self.engine.analyse(plan.only(wanted)):
                analysed.append(AnalysedPosition(found.look.ply, found.look.fen, found.lines))
                self.positions += 1
                self.silent += not found.lines
                progress(self.positions - before, len(wanted))
                for note in found.notes:
                    self.report(game, f"{self.engine.name} {note}.", found.look.ply)
                if monotonic() - stored_s > _STORED_EVERY_S:
                    store(analysed)
                    analysed, stored_s = [], monotonic()
            self._failures = 0
        except EngineError as error:
            self._failures += not isinstance(error, VariantError)
            self.failed.append((game.key, str(error)))
            self.begun += self.positions > before
            self.report(game, str(error))
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            if analysed:
                store(analysed)
            self.games += self.positions > before

    def to_json(self) -> dict[str, Any]:
        """The result of the run as JSON values."""
        return {
            "engine": None if self.engine is None else self.engine.name,
            "protocol": self.spec.protocol,
            "games": self.games,
            "positions": self.positions,
            "without_lines": self.silent,
            "known": self.known,
            "games_without_positions": self.unknown,
            "failed": [{"key": key, "error": error} for key, error in self.failed],
            "interrupted": self.interrupted,
        }
