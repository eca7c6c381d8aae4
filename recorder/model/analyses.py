"""What engines thought of recorded games when they were asked to analyse them: no part of what was recorded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from recorder.model.observations import Thinking

__all__ = ["AnalysedPosition", "Analysis", "EngineProtocol"]

EngineProtocol = Literal["cecp", "uci"]
"""How an engine was talked to."""


class AnalysedPosition(NamedTuple):
    """A position that an engine has analysed, and all that it told; ``ply`` half-moves were played to reach it."""

    ply: int
    fen: str
    lines: tuple[Thinking, ...]


@dataclass(frozen=True, slots=True)
class Analysis:
    """One engine's look at positions of one game, under one limit.

    Attributes:
        engine: the name that the engine tells; its command's if it tells none.
        protocol: how it was talked to.
        settings: what its answers depend on, besides itself, as JSON text with sorted keys: the limit, options, the
            variant that it was told. Engine, protocol and settings together name an analysis of a game.
        begun_ms: when it was begun, UTC milliseconds since 1970.
        lines: what it told, in its order. A line's ``ply`` is the number of half-moves played to reach the position it
            is about, ``white`` whether White is to move there; scores are as the side to move sees them.
    """

    engine: str
    protocol: EngineProtocol
    settings: str
    begun_ms: int
    lines: tuple[Thinking, ...]
