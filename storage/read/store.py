"""What tables and measures ask of a store of games: an archive, a shared database, or a data set."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Protocol, TypeAlias

from storage.read.query import GameFilter

if TYPE_CHECKING:
    from recorder.model import Game
    from storage.dataset.reading import DatasetReader
    from storage.read.columns import ColumnReader

__all__ = ["GameStore", "TableReader"]

TableReader: TypeAlias = "ColumnReader | DatasetReader"
"""Reads what tables of plies and games are made of."""


class GameStore(Protocol):
    """The methods of ``ArchiveStore`` that read games."""

    def snapshot(self) -> AbstractContextManager[None]:
        """What is read in the block is of one moment."""

    def columns(self, *, arrow: bool = True) -> AbstractContextManager[TableReader]:
        """Main lines as arrays; ``arrow``: use ADBC where that is possible."""

    def games(
        self,
        where: GameFilter = ...,
        *,
        with_events: bool = True,
        with_holdings: bool = True,
        with_lines: bool = True,
        with_thinking: bool = True,
        whole_plies: bool = True,
    ) -> Iterator[Game]:
        """The games that match, in their order."""

    def game(self, spec: str) -> Game:
        """The game whose key begins with ``spec``; or ``last``, ``last~2``."""

    def count(self, where: GameFilter = ...) -> int:
        """How many games match."""
