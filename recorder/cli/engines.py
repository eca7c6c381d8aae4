"""Engines that analyse recorded games, for ``replay engine``.

::

    with open_engine(spec, limits) as engine:          # EngineError: it cannot be started or does not answer
        for game in games:
            plan = make_plan(game)                     # plan.looks: what there is to analyse
            for found in engine.analyse(plan.only(plies_wanted)):
                ...                                    # found.look.ply, .fen; found.lines; found.notes

After an ``EngineError`` that is no ``VariantError`` the process is gone, and the next game gets a new one; so it does
from an engine that cannot play several games. Whoever stops listening ends the process, too.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Final, Protocol

from recorder.cli.engineprocess import EngineProcess, now_ms
from recorder.errors import EngineError, VariantError
from recorder.replay.analysis.cecp import CecpTalk
from recorder.replay.analysis.found import Found
from recorder.replay.analysis.plan import Plan
from recorder.replay.analysis.spec import EngineSpec, Limits, Patience

if TYPE_CHECKING:
    from recorder.cli.uciengine import UciEngine

__all__ = ["Engine", "open_engine"]

_STARTS: Final = 3
"""GNU Chess says nothing for ever after some of its starts: after one of six on a busy machine."""


class Engine(Protocol):
    """An engine that was started."""

    @property
    def name(self) -> str:
        """As it tells it."""

    def analyse(self, plan: Plan) -> Iterator[Found]:
        """Tell it a game; each position comes when it is done.

        Raises:
            EngineError: it cannot go on with this game; the text names it and says why.
        """

    def close(self) -> None:
        """End its process."""


@contextlib.contextmanager
def open_engine(spec: EngineSpec, limits: Limits, patience: Patience | None = None) -> Iterator[Engine]:
    """Start an engine; whatever happens, no process of it is left.

    Raises:
        EngineError: it cannot be started, does not answer, or has not the options that it is to be given.
    """
    engine = _made(spec, limits, patience or Patience())
    try:
        engine.open()
        yield engine
    finally:
        engine.close()


def _made(spec: EngineSpec, limits: Limits, patience: Patience) -> _CecpEngine | UciEngine:
    if spec.protocol == "cecp":
        return _CecpEngine(spec, limits, patience)
    from recorder.cli.uciengine import UciEngine  # loads what only such engines need

    return UciEngine(spec, limits, patience)


class _CecpEngine:
    """A ``CecpTalk`` with a process."""

    def __init__(self, spec: EngineSpec, limits: Limits, patience: Patience) -> None:
        self._spec = spec
        self._limits = limits
        self._patience = patience
        self._talk = CecpTalk(spec, limits, patience)
        self._process: EngineProcess | None = None

    @property
    def name(self) -> str:
        return self._talk.name

    def open(self) -> None:
        """Start it, unless it runs, and hear what it can."""
        if self._process is not None:
            return
        for left in reversed(range(_STARTS)):
            self._talk = CecpTalk(self._spec, self._limits, self._patience)
            self._process = process = EngineProcess(self._spec.command)
            self._talk.begin(now_ms())
            while self._talk.is_busy:
                self._step(process)
            if self._talk.was_heard or not left:
                return
            self._process = None
            process.stop(0)

    def analyse(self, plan: Plan) -> Iterator[Found]:
        done = False
        try:
            self.open()
            assert self._process is not None
            self._talk.analyse(plan, now_ms())
            while self._talk.is_busy:
                self._step(self._process)
                yield from self._talk.take_found()
            done = self._talk.reusable
        except VariantError:  # it was told nothing yet
            done = True
            raise
        finally:
            if not done:
                self.close()

    def close(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        try:
            self._talk.leave()
            with contextlib.suppress(EngineError):  # it does not read: it will be ended
                process.say(self._talk.take_output())
        finally:
            process.stop(self._patience.quit_ms)

    def _step(self, process: EngineProcess) -> None:
        """Say what is to be said, and wait for what comes."""
        process.say(self._talk.take_output())
        if self._talk.wants_interrupt:
            self._talk.wants_interrupt = False
            process.interrupt()
        data = process.hear(self._talk.due_ms)
        if data is None:
            self._talk.tick(now_ms())
        elif data:
            self._talk.receive(data, now_ms())
        else:
            raise EngineError(f"The engine {self.name} {process.ending(self._patience.quit_ms)}.")
