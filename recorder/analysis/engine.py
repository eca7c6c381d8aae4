"""An engine that analyses recorded games, in either protocol.

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
from collections.abc import Iterator
from typing import Final, Protocol

from recorder.analysis.found import Found, Limits
from recorder.analysis.plan import Look, Plan, Play, PlayedLine, SetUp, Step, TakeBack
from recorder.analysis.process import EngineProcess, EngineSpec, Patience
from recorder.errors import VariantError
from recorder.model import Game

__all__ = ["Driver", "Engine", "open_engine"]

_STARTS: Final = 3
"""GNU Chess says nothing for ever after some of its starts: after one of six on a busy machine."""


class Driver(Protocol):
    """One side of a protocol: what a process is told of a game. Each method may raise ``EngineError``."""

    @property
    def is_reusable(self) -> bool:
        """Whether the process may be told of another game."""

    async def begin(self) -> None:
        """Hear what the engine can, and set its options."""

    async def begin_game(self, game: Game) -> None:
        """Announce a game.

        Raises:
            VariantError: the engine does not play its variant; it was told nothing.
        """

    async def tell(self, step: SetUp | Play | TakeBack) -> None:
        """Tell what happened in the game."""

    async def look(self, look: Look, line: PlayedLine) -> Found:
        """Have the position analysed that ``line`` led to."""

    async def end_game(self, game: Game) -> None:
        """Tell the result."""


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
        """As the engine tells it, at the latest when it is told of a game."""
        return self._last_name if self._process is None else self._process.name

    def open(self) -> None:
        """Start it, unless it runs."""
        if self._runner is None:
            self._runner = asyncio.Runner()
            self._runner.run(self._start())

    def analyse(self, plan: Plan) -> Iterator[Found]:
        """Tell it a game; each position comes when it is done.

        Raises:
            EngineError: it cannot go on with this game; the text names it and says why.
        """
        may_stay = False
        try:
            self.open()
            assert self._runner is not None
            assert self._driver is not None
            self._runner.run(self._driver.begin_game(plan.game))
            line, steps = PlayedLine(), iter(plan.steps)
            while (found := self._runner.run(self._go_on(self._driver, plan.game, line, steps))) is not None:
                yield found
            may_stay = self._driver.is_reusable
        except VariantError:
            may_stay = True
            raise
        finally:
            if not may_stay:
                self.close()

    def close(self) -> None:
        """End its process."""
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
            if process.was_heard or not left:
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

    async def _go_on(self, driver: Driver, game: Game, line: PlayedLine, steps: Iterator[Step]) -> Found | None:
        """Tell steps until a position is analysed; None: the game is over."""
        for step in steps:
            if isinstance(step, Look):
                return await driver.look(step, line)
            line.follow(step)
            await driver.tell(step)
        await driver.end_game(game)
        return None


@contextlib.contextmanager
def open_engine(spec: EngineSpec, limits: Limits, patience: Patience | None = None) -> Iterator[Engine]:
    """Start an engine; whatever happens, no process of it is left.

    Raises:
        EngineError: it cannot be started, does not answer, or has not the options that it is to be given.
    """
    engine = Engine(spec, limits, patience or Patience())
    try:
        engine.open()
        yield engine
    finally:
        engine.close()
