"""What tables and measures ask of a store of games, and what reading asks of its database."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeAlias, TypedDict, Unpack

from storage.read.game_filter import GameFilter

if TYPE_CHECKING:
    from recorder.model import EventKind, Game
    from storage.dataset.reading import DatasetReader
    from storage.read.columns import ColumnReader

TableReader: TypeAlias = "ColumnReader | DatasetReader"
"""Reads what tables of plies and games are made of."""


class GameParts(TypedDict, total=False):
    """What is read of games: all, but for what is False here.

    Of events one kind may be read alone. Without thinking there are no analyses either; without lines no plies that
    were taken back, only main lines and variations. Without ``whole_plies`` only what PGN shows of proved plies is read
    (SAN, the mover's clock, elapsed time, proof); their other fields are None.
    """

    with_events: bool | EventKind
    with_holdings: bool
    with_lines: bool
    with_thinking: bool
    whole_plies: bool


MOVES_ALONE: Final[GameParts] = {
    "with_events": False,
    "with_holdings": False,
    "with_lines": False,
    "with_thinking": False,
}


class GameStore(Protocol):
    """The methods of ``ArchiveStore`` that read games."""

    def snapshot(self) -> AbstractContextManager[None]:
        """What is read in the block is of one moment."""

    def columns(self, *, arrow: bool = True) -> AbstractContextManager[TableReader]:
        """Main lines as arrays; ``arrow``: use ADBC where that is possible."""

    def games(self, where: GameFilter = ..., **parts: Unpack[GameParts]) -> Iterator[Game]:
        """The games that match, in their order."""

    def game(self, spec: str) -> Game:
        """The game whose key begins with ``spec``; or ``last``, ``last~2``."""

    def count(self, where: GameFilter = ...) -> int:
        """How many games match."""

    def count_each(self, wheres: Sequence[GameFilter]) -> list[int]:
        """How many games match each filter; the first one must match all that any of the others does."""

    def count_by_handle(self) -> dict[str, int]:
        """How many played games each player has, by handle."""

    def count_unknown(self, where: GameFilter) -> dict[str, int]:
        """How many games a filter excludes only because what it asks for is unknown, by what that is."""


class Rows(Protocol):
    """The result of a statement."""

    def __iter__(self) -> Iterator[Any]:
        """The rows, as tuples."""

    def fetchone(self) -> Any:
        """The next row; None: there is none."""

    def fetchall(self) -> list[Any]:
        """All further rows."""


class SqlDriver(Protocol):
    """A connection in a transaction: all that is read is of one moment."""

    def execute(self, sql: str, parameters: Any = ..., /) -> Rows:
        """Run a statement."""
