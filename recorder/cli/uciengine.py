"""A UCI engine's process, spoken to by python-chess, for ``recorder.cli.engines``; only loaded for such an engine."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from collections import deque
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any, Final, TypeVar

import chess
import chess.engine

from recorder.cli.engineprocess import Guard, engine_environment, how_ended, now_ms, split_command
from recorder.cli.terminal import reason_of
from recorder.errors import EngineError, VariantError
from recorder.replay.analysis.found import Collected, Found
from recorder.replay.analysis.intake import Intake
from recorder.replay.analysis.plan import Look, Plan, Play, SetUp, TakeBack
from recorder.replay.analysis.spec import EngineSpec, Limits, Patience
from recorder.replay.analysis.talk import clean
from recorder.replay.analysis.uci import board_class, board_of, thinking_of_info, why_not

__all__ = ["UciEngine"]

_Result = TypeVar("_Result")
_STDOUT: Final = 1
_MOST_INFOS: Final = 100_000
_NO_UCI: Final = "has not answered 'uci'"


class _Bounded(chess.engine.UciProtocol):
    """python-chess's protocol behind our bounds; the lines of ``info`` are kept beside what it reads in them."""

    def __init__(self) -> None:
        super().__init__()
        self.infos: deque[str] = deque(maxlen=_MOST_INFOS)
        self.floods = False
        self.last_words = ""
        self._intake = Intake()

    def pipe_data_received(self, fd: int, data: bytes | str) -> None:
        assert isinstance(data, bytes)
        if fd != _STDOUT:
            self.last_words = clean(data.decode("utf-8", "replace").strip().rpartition("\n")[2]) or self.last_words
            return
        if self.floods:
            return
        lines = self._intake.receive(data, now_ms())
        if self._intake.floods:
            self.floods = True
            assert self.transport is not None
            # Not by the transport, which would look whether it has ended, and take the news from asyncio.
            _signal_group(self.transport.get_pid(), signal.SIGKILL)
        elif lines:
            super().pipe_data_received(fd, "".join(f"{line}\n" for line in lines).encode())

    def line_received(self, line: str) -> None:
        if line.split(maxsplit=1)[0] == "info":
            self.infos.append(line)


class UciEngine:
    """An engine as ``recorder.cli.engines`` has it.

    Args:
        spec, limits, patience: as there.
    """

    def __init__(self, spec: EngineSpec, limits: Limits, patience: Patience) -> None:
        self._words = split_command(spec.command)
        self.name = self._words[0].rpartition("/")[2]
        self._options: Mapping[str, str | None] = spec.options
        self._limits = limits
        self._patience = patience
        self._engine: _Bounded | None = None
        self._guard: Guard | None = None
        self._runner: asyncio.Runner | None = None
        self._working: asyncio.Task[Any] | None = None
        self._complaint: str | None = None
        self._game = object()  # python-chess announces a new game where this is another one
        # What it logs of lines that cannot be read is told in our own words, and nothing is to come between them.
        chess.engine.LOGGER.setLevel(logging.CRITICAL)

    def open(self) -> None:
        """Start it, unless it runs."""
        if self._engine is None:
            self._runner = asyncio.Runner()
            self._runner.get_loop().set_exception_handler(self._hear_complaint)
            self._run(self._open(), self._patience.answer_ms, _NO_UCI)

    def analyse(self, plan: Plan) -> Iterator[Found]:
        done = False
        try:
            self.open()
            yield from self._looks(plan)
            done = True
        except VariantError:  # it was told nothing yet
            done = True
            raise
        finally:
            if not done:
                self.close()

    def close(self) -> None:
        runner, self._runner = self._runner, None
        engine, self._engine = self._engine, None
        guard, self._guard = self._guard, None
        if runner is None:
            return
        try:
            if engine is not None:
                runner.run(self._end(engine))
        finally:
            if guard is not None:
                guard.dismiss()
            runner.close()

    # -- the game ------------------------------------------------------------------------------------------------------

    def _looks(self, plan: Plan) -> Iterator[Found]:
        root, played = "", list[Play]()
        self._game = object()
        for step in plan.steps:
            match step:
                case SetUp():
                    root, played = step.fen, []
                case Play():
                    played.append(step)
                case TakeBack(plies):
                    del played[len(played) - plies :]
                case Look():
                    yield self._look(plan, root, played, step)

    def _look(self, plan: Plan, root: str, played: list[Play], look: Look) -> Found:
        found = Collected(look)
        try:
            board = board_of(self._board_class(plan, look), root, played, look)
            problem = why_not(board, look)
        except ValueError as error:
            problem = clean(str(error))
        if problem is not None:
            found.notes.append(f"was not asked about this position: {problem}")
            return found.found()
        limit_ms = self._limits.most_ms + self._patience.answer_ms
        self._run(self._think(found, board), limit_ms, "has not ended its search")
        return found.found()

    def _board_class(self, plan: Plan, look: Look) -> type[chess.Board]:
        """The board of the variant, if the engine plays it."""
        assert self._engine is not None
        variant = plan.game.variant or "chess"
        kind = board_class(variant, look.position.rules)
        options = self._engine.options
        known = ["chess", *(["chess960"] if "UCI_Chess960" in options else [])]
        if "UCI_Variant" in options:
            known += [word for word in options["UCI_Variant"].var or [] if word not in known]
        word = None if kind is None else "chess960" if variant == "chess960" else kind.uci_variant
        if kind is None or word not in known:
            raise VariantError(f"The engine {self.name} does not play {variant}; it plays {', '.join(known)}.")
        return kind

    async def _think(self, found: Collected, board: chess.Board) -> None:
        engine = self._engine
        assert engine is not None
        limits = self._limits
        limit = chess.engine.Limit(time=limits.most_ms / 1000, depth=limits.depth, nodes=limits.nodes)
        engine.infos.clear()
        with await engine.analysis(board, limit, game=self._game) as analysis:
            async for info in analysis:  # one for each line of them, in their order
                line = engine.infos.popleft() if engine.infos else ""
                thought = thinking_of_info(info, line, found.next_seq, found.look, self.name)
                if thought is not None:
                    found.add(thought)

    # -- the process ---------------------------------------------------------------------------------------------------

    async def _open(self) -> None:
        self._guard = Guard()
        try:
            _, self._engine = await _Bounded.popen(self._words, start_new_session=True, env=engine_environment())
        except (OSError, ValueError) as error:  # ValueError: a null byte in a word
            raise EngineError(f"The engine {self._words[0]} cannot be started: {reason_of(error)}.") from error
        assert self._engine.transport is not None
        self._guard.watch(self._engine.transport.get_pid())
        await self._engine.initialize()
        self.name = clean(self._engine.id.get("name", "")) or self.name
        for name, value in self._options.items():
            if name not in self._engine.options:
                known = ", ".join(sorted(self._engine.options)) or "none"
                raise EngineError(f"The engine {self.name} has no option {name!r}; it has {known}.")
            try:
                await self._engine.configure({name: value})
            except chess.engine.EngineError as error:
                raise EngineError(f"The engine {self.name} does not take option {name}: {error}.") from None

    def _run(self, work: Coroutine[Any, Any, _Result], limit_ms: int, late: str) -> _Result:
        """Let the loop run until something is done, in bounds.

        Raises:
            EngineError: the engine was too late, ended, or broke the protocol; the text names it.
        """
        assert self._runner is not None
        return self._runner.run(self._bounded(work, limit_ms, late))

    async def _bounded(self, work: Coroutine[Any, Any, _Result], limit_ms: int, late: str) -> _Result:
        self._working, self._complaint = asyncio.current_task(), None
        try:
            async with asyncio.timeout(limit_ms / 1000):
                return await work
        except TimeoutError:
            hint = "; one of xboard's protocol is named with --engine" if late is _NO_UCI else ""
            raise EngineError(f"The engine {self.name} {late} for {limit_ms / 1000:g} s{hint}.") from None
        except chess.engine.EngineTerminatedError:
            raise EngineError(f"The engine {self.name} {self._ending()}.") from None
        except chess.engine.EngineError as error:
            raise EngineError(f"The engine {self.name} breaks its protocol: {clean(str(error))}.") from None
        except asyncio.CancelledError:
            if self._complaint is None:
                raise
            raise EngineError(f"The engine {self.name} breaks its protocol: {self._complaint}.") from None
        finally:
            self._working = None

    def _hear_complaint(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What python-chess raises where nobody waits for it, as for a best move that is not legal."""
        if self._working is None or self._working.cancelling():  # interrupted: that python-chess stumbles is our doing
            return
        self._complaint = clean(str(context.get("exception") or context.get("message")))
        self._working.cancel()

    def _ending(self) -> str:
        engine = self._engine
        assert engine is not None
        if engine.floods:
            return "prints more than anybody can read (256 KiB a second)"
        status = engine.returncode.result() if engine.returncode.done() else 0
        return how_ended(status, engine.last_words)

    async def _end(self, engine: _Bounded) -> None:
        """``quit``, and signals for one that does not hear it; of its group nothing is left."""
        assert engine.transport is not None
        pid = engine.transport.get_pid()
        try:
            if not engine.returncode.done():
                engine.send_line("quit")
                if not await self._has_ended(engine):
                    _signal_group(pid, signal.SIGTERM)
                    await self._has_ended(engine)
        finally:
            _signal_group(pid, signal.SIGKILL)  # whoever of it still lives keeps its number from others
            await asyncio.shield(engine.returncode)
            engine.transport.close()

    async def _has_ended(self, engine: _Bounded) -> bool:
        done, _ = await asyncio.wait({engine.returncode}, timeout=self._patience.quit_ms / 1000)
        return bool(done)


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, number)
