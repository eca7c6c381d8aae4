"""The contract of an exporter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from recorder.model import Game

__all__ = ["ExportReport", "Exporter", "GameExporter"]


@dataclass(slots=True)
class ExportReport:
    """What an export wrote.

    Attributes:
        games: games written (a game in several parts is one). plies: half-moves written as moves or rows.
        left_out: reason → how many games or plies were not written; the reason says which.
    """

    games: int = 0
    plies: int = 0
    left_out: Counter[str] = field(default_factory=Counter)


class Exporter(Protocol):
    """Writes games in one format. Streams: holds no more than one game (Parquet: one row group) in memory."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all games to ``out`` in their order and return what was written."""


class GameExporter(Exporter, Protocol):
    """A format in which every game is a text of its own, so that files can be split and appended to."""

    suffix: str
    report: ExportReport

    @property
    def key_mark(self) -> str | None:
        """What a line begins with, directly before a game's key; None: this format writes no keys."""

    def game_text(self, game: Game) -> str:
        """The whole text of one game, its separator from the next included; counts it in ``report``."""
