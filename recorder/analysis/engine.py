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
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic, time_ns
from typing import Any, Final, Protocol

import chess
import chess.engine
import chess.variant

from recorder.analysis.plan import (
    Collected,
    Found,
    Limits,
    Look,
    Plan,
    Play,
    PlayedLine,
    SetUp,
    Step,
    TakeBack,
    make_plan,
)
from recorder.analysis.process import EngineProcess, EngineSpec, Patience, clean, seconds
from recorder.errors import EngineError, VariantError
from recorder.model import AnalysedPosition, Analysis, Game, Thinking
from recorder.rules.position import Rules
from recorder.rules.variants import chess_board, rules_of
from recorder.tracking.engines.view import counted

_MOST_INFOS: Final = 100_000


class _UciProtocol(chess.engine.UciProtocol):
    """python-chess's side of the protocol; it also keeps the text of the ``info`` lines."""

    def __init__(self) -> None:
        super().__init__()
        self.infos: deque[str] = deque(maxlen=_MOST_INFOS)

    def line_received(self, line: str) -> None:
        if line.split(maxsplit=1)[0] == "info":
            self.infos.append(line)


class UciDriver:
    is_reusable = True

    def __init__(self, process: EngineProcess, options: Mapping[str, str | None], limits: Limits) -> None:
        self._process = process
        self._options = options
        self._limits = limits
        self._chess: _UciProtocol
        self._exception: str | None = None
        self._board_class: type[chess.Board] = chess.Board
        self._game = object()  # python-chess announces a new game when this object changes
        # python-chess logs lines that it cannot read; our own messages replace this.
        chess.engine.LOGGER.setLevel(logging.CRITICAL)

    async def begin(self) -> None:
        asyncio.get_running_loop().set_exception_handler(self._note_exception)
        self._chess = _UciProtocol()
        self._chess.connection_made(self._process.transport)
        hint = "; one of xboard's protocol is named with --engine"
        await self._bounded(self._initialise(), self._process.patience.answer_ms, "has not answered 'uci'", hint)

    async def begin_game(self, game: Game) -> None:
        variant = game.variant or "chess"
        rules = rules_of(variant)
        # UCI has no names for shuffles: they are sent as chess.
        kind = chess.Board if rules is Rules.WILD or variant == "chess960" else chess_board(variant)
        options = self._chess.options
        variants = ["chess", *(["chess960"] if "UCI_Chess960" in options else [])]
        if "UCI_Variant" in options:
            variants += [word for word in options["UCI_Variant"].var or [] if word not in variants]
        word = None if kind is None else "chess960" if variant == "chess960" else kind.uci_variant
        if kind is None or word not in variants:
            raise self._process.error(f"does not play {variant}; it plays {', '.join(variants)}", VariantError)
        self._board_class = kind
        self._game = object()

    async def send(self, step: SetUp | Play | TakeBack) -> None:
        """Nothing: each position is sent with all its moves."""

    async def look(self, look: Look, line: PlayedLine) -> Found:
        collected = Collected(look)
        try:
            board = _board_of(self._board_class, line, look)
            problem = _why_unusable(board, look)
        except ValueError as error:
            problem = clean(str(error))
        if problem is not None:
            collected.notes.append(f"was not asked about this position: {problem}")
            return collected.found()
        limit_ms = self._limits.most_ms + self._process.patience.answer_ms
        await self._bounded(self._think(collected, board), limit_ms, "has not ended its search")
        return collected.found()

    async def end_game(self, game: Game) -> None:
        """Nothing: the protocol has no command for it."""

    async def _initialise(self) -> None:
        engine, process = self._chess, self._process
        await engine.initialize()
        process.name = clean(engine.id.get("name", "")) or process.name
        for name, value in self._options.items():
            if name not in engine.options:
                names = ", ".join(sorted(engine.options)) or "none"
                raise process.error(f"has no option {name!r}; it has {names}")
            try:
                await engine.configure({name: value})
            except chess.engine.EngineError as error:
                raise process.error(f"does not take option {name}: {str(error).removesuffix('.')}") from None

    async def _think(self, collected: Collected, board: chess.Board) -> None:
        engine, limits = self._chess, self._limits
        limit = chess.engine.Limit(time=limits.most_ms / 1000, depth=limits.depth, nodes=limits.nodes)
        engine.infos.clear()
        with await engine.analysis(board, limit, game=self._game) as analysis:
            async for info in analysis:  # one for each ``info`` line, in order
                line = engine.infos.popleft() if engine.infos else ""
                thought = _thinking_of(info, line, collected.count, collected.look, self._process.name)
                if thought is not None:
                    collected.add(thought)

    async def _bounded(self, work: Coroutine[Any, Any, None], limit_ms: int, late: str, hint: str = "") -> None:
        """python-chess works while it reads the engine's lines; to be ``late`` is an EngineError."""
        task, reading = asyncio.ensure_future(work), asyncio.ensure_future(self._read_engine())
        try:
            await asyncio.wait((task, reading), timeout=limit_ms / 1000, return_when=asyncio.FIRST_COMPLETED)
            if task.done():
                task.result()
            elif reading.done():
                reading.result()
            else:
                raise self._process.error(f"{late} for {seconds(limit_ms)}{hint}")
        except chess.engine.EngineError as error:
            raise self._protocol_error(error) from None
        finally:
            task.cancel()
            reading.cancel()
            await asyncio.gather(task, reading, return_exceptions=True)

    async def _read_engine(self) -> None:
        """Until the engine breaks the protocol or ends."""
        while True:
            line = await self._process.read_line()
            assert line is not None
            try:
                self._chess.pipe_data_received(1, f"{line}\n".encode())
            except Exception as error:  # python-chess raises many types for lines that it cannot read
                raise self._protocol_error(error) from None
            if self._exception is not None:
                raise self._protocol_error(self._exception)

    def _note_exception(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Such as the one for an illegal best move, which no caller of python-chess gets."""
        self._exception = str(context.get("exception") or context.get("message"))

    def _protocol_error(self, why: object) -> Exception:
        return self._process.error(f"breaks its protocol: {clean(str(why))}")


def _board_of(kind: type[chess.Board], line: PlayedLine, look: Look) -> chess.Board:
    """With the moves that led to it, for repetitions, or the position alone where python-chess cannot play them."""
    assert line.start is not None
    chess960 = look.position.rules in (Rules.CHESS960, Rules.WILD)
    try:
        board = kind(line.start.fen, chess960=chess960)
        for step in line.plays:
            board.push_uci(step.uci)
    except ValueError:  # such as castling with a king on the d-file
        board = None
    if board is None or board.board_fen() != kind(look.fen, chess960=chess960).board_fen():
        board = kind(look.fen, chess960=chess960)
    return board


def _why_unusable(board: chess.Board, look: Look) -> str | None:
    """Why UCI cannot analyse a position."""
    position = look.position
    kings = (position.white_king % 9, position.black_king % 9)
    if position.rules is Rules.WILD and position.castling and kings != (4, 4):
        return "UCI cannot say how this variant castles"
    if not board.is_valid():
        return "no game can reach it"
    return None


def _thinking_of(info: chess.engine.InfoDict, line: str, seq: int, look: Look, engine: str) -> Thinking | None:
    """Convert one ``info``; None: it has no score. ``line`` is its text."""
    score = info.get("score")
    if score is None:
        return None
    moves = info.get("pv")
    pv = line.partition(" pv ")[2].strip() if moves is None else " ".join(move.uci() for move in moves)
    # As in xboard's protocol the pv of a bound ends with a mark. Moves are kept even if they are illegal.
    mark = "!" if info.get("lowerbound") else "?" if info.get("upperbound") else ""
    time_s = info.get("time")
    relative = score.relative
    return Thinking(
        seq, look.ply, engine, look.position.white_to_move, counted(info.get("depth")), counted(relative.score()),
        counted(relative.mate()), None if time_s is None else counted(round(1000 * time_s)),
        counted(info.get("nodes")), counted(info.get("seldepth")), counted(info.get("nps")),
        counted(info.get("tbhits")), f"{pv} {mark}".strip(), None, 0,
    )  # fmt: skip


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
        """Known at the latest when a game begins."""
        return self._last_name if self._process is None else self._process.name

    def open(self) -> None:
        if self._runner is None:
            self._runner = asyncio.Runner()
            self._runner.run(self._start())

    def analyse(self, plan: Plan) -> Iterator[Found]:
        """Yield each position when its analysis is complete."""
        may_stay = False
        try:
            self.open()
            assert self._runner is not None
            assert self._driver is not None
            self._runner.run(self._driver.begin_game(plan.game))
            line, steps = PlayedLine(), iter(plan.steps)
            while (analysed := self._runner.run(self._find_next(self._driver, plan.game, line, steps))) is not None:
                yield analysed
            may_stay = self._driver.is_reusable
        except VariantError:
            may_stay = True
            raise
        finally:
            if not may_stay:
                self.close()

    def close(self) -> None:
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
    """Its processes end in any case."""
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

    ``games`` counts those with analysed positions, ``begun`` those of them with which the engine failed later.
    """

    spec: EngineSpec
    limits: Limits
    report: Report
    engine: Engine | None = None  # until it has started
    games: int = 0
    begun: int = 0
    positions: int = 0
    silent: int = 0  # positions without a line of the engine
    known: int = 0  # positions that were analysed before
    unknown: int = 0  # games without a known position
    failed: list[tuple[str, str]] = field(default_factory=list)
    interrupted: bool = False
    _failures: int = 0

    @property
    def gave_up(self) -> bool:
        return self._failures == MOST_FAILURES

    @property
    def is_over(self) -> bool:
        return self.interrupted or self.gave_up

    def head(self, game: Game) -> Analysis:
        """An analysis without lines: engine and settings."""
        assert self.engine is not None
        limit = {name: value for name, value in self.limits._asdict().items() if value is not None}
        settings = {"limit": limit, "options": dict(self.spec.options), "variant": game.variant}
        text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
        return Analysis(self.engine.name, self.spec.protocol, text, time_ns() // 1_000_000, ())

    def analyse(self, game: Game, skipped: set[int], store: Store, progress: Callable[[int, int], None]) -> None:
        """Results go to ``store`` about once a second, and also after an error; ``skipped``: plies to skip."""
        assert self.engine is not None
        plan = make_plan(game)
        places = {look.ply for look in plan.looks}
        wanted = places - skipped
        self.known += len(places) - len(wanted)
        self.unknown += not places
        if not wanted:
            return
        analysed: list[AnalysedPosition] = []
        before, stored_s = self.positions, monotonic()
        try:
            for looked in self.engine.analyse(plan.only(wanted)):
                analysed.append(AnalysedPosition(looked.look.ply, looked.look.fen, looked.lines))
                self.positions += 1
                self.silent += not looked.lines
                progress(self.positions - before, len(wanted))
                for note in looked.notes:
                    self.report(game, f"{self.engine.name} {note}.", looked.look.ply)
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
