"""The flight recorder for Internet chess servers: saved sessions in, proved games with every clock and lag out."""

from recorder.errors import ExportError, LineError, RecorderError, SourceError, StorageError, WireError
from recorder.model import Game, Observation, Player, Ply, SourceReport
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
