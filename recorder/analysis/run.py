"""Many games analysed by one engine: what is stored of each, what it told nothing of, and where it failed."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from time import monotonic, time_ns
from typing import Any, Final, Protocol

from recorder.analysis.engine import Engine
from recorder.analysis.found import Limits
from recorder.analysis.plan import make_plan
from recorder.analysis.process import EngineSpec
from recorder.errors import EngineError, VariantError
from recorder.model import AnalysedPosition, Analysis, Game

__all__ = ["MOST_FAILURES", "AnalysisRun", "Report", "Store"]

_STORED_EVERY_S: Final = 1.0
MOST_FAILURES: Final = 3
"""Games in a row with which an engine may fail before nothing more is expected of it."""

Store = Callable[[Sequence[AnalysedPosition]], None]


class Report(Protocol):
    """Says a sentence about a game."""

    def __call__(self, game: Game, text: str, ply: int | None = None) -> None:
        """``ply``: about the position that so many half-moves reached; None: why the engine failed with the game."""


@dataclass(slots=True)
class AnalysisRun:
    """One engine with one limit, game by game.

    Attributes:
        report: gets notes about positions, and why the engine failed with a game.
        engine: None: it has not started yet.
        games: of which positions were analysed. begun: of them, those with which the engine failed then.
        positions: those. silent: of them, about which it told nothing.
        known: positions that had been analysed before.
        unknown: games in which no position is known. failed: keys of the others with which the engine failed, and how.
        interrupted: the user wants it to end.
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
        """Whether nothing more is to be asked of the engine."""
        return self.interrupted or self.gave_up

    def head(self, game: Game) -> Analysis:
        """The analysis of a game without its lines: by which engine, with which settings."""
        assert self.engine is not None
        limit = {name: value for name, value in self.limits._asdict().items() if value is not None}
        settings = {"limit": limit, "options": dict(self.spec.options), "variant": game.variant}
        text = json.dumps(settings, sort_keys=True, ensure_ascii=False)
        return Analysis(self.engine.name, self.spec.protocol, text, time_ns() // 1_000_000, ())

    def analyse(self, game: Game, known: set[int], store: Store, progress: Callable[[int, int], None]) -> None:
        """Show the engine a game; what it tells goes to ``store`` about once a second, and whatever happens.

        Args:
            known: plies of positions that are not to be analysed again.
            progress: how many positions are done, and of how many.
        """
        assert self.engine is not None
        plan = make_plan(game)
        places = {look.ply for look in plan.looks}
        wanted = places - known
        self.known += len(places) - len(wanted)
        self.unknown += not places
        if not wanted:
            return
        told: list[AnalysedPosition] = []
        before, stored_s = self.positions, monotonic()
        try:
            for found in self.engine.analyse(plan.only(wanted)):
                told.append(AnalysedPosition(found.look.ply, found.look.fen, found.lines))
                self.positions += 1
                self.silent += not found.lines
                progress(self.positions - before, len(wanted))
                for note in found.notes:
                    self.report(game, f"{self.engine.name} {note}.", found.look.ply)
                if monotonic() - stored_s > _STORED_EVERY_S:
                    store(told)
                    told, stored_s = [], monotonic()
            self._failures = 0
        except EngineError as error:
            self._failures += not isinstance(error, VariantError)
            self.failed.append((game.key, str(error)))
            self.begun += self.positions > before
            self.report(game, str(error))
        except KeyboardInterrupt:
            self.interrupted = True
        finally:
            if told:
                store(told)
            self.games += self.positions > before

    def to_json(self) -> dict[str, Any]:
        """What came of it as JSON values."""
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
