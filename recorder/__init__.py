"""The flight recorder for Internet chess servers: saved sessions in, proved games with every clock and lag out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recorder.errors import ExportError, LineError, RecorderError, SourceError, StorageError, WireError
from recorder.model import Game, Observation, Player, Ply, SourceReport

if TYPE_CHECKING:
    from recorder.pipeline import PARSER_VERSION, Pipeline, read_games
    from recorder.sources import SourceKind

__all__ = [
    "PARSER_VERSION",
    "ExportError",
    "Game",
    "LineError",
    "Observation",
    "Pipeline",
    "Player",
    "Ply",
    "RecorderError",
    "SourceError",
    "SourceKind",
    "SourceReport",
    "StorageError",
    "WireError",
    "read_games",
]


def __getattr__(name: str) -> Any:
    """Load the reading of logs when it is first asked for: commands that only read archives start without it."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name == "SourceKind":
        from recorder.sources import SourceKind

        return SourceKind
    from recorder import pipeline

    return getattr(pipeline, name)
