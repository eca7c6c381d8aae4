"""What tables and measures ask of a store of games, and what reading asks of its database."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict

if TYPE_CHECKING:
    from recorder.model import EventKind


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


class Rows(Protocol):
    def __iter__(self) -> Iterator[Any]: ...

    def fetchone(self) -> Any: ...

    def fetchall(self) -> list[Any]: ...


class SqlDriver(Protocol):
    def execute(self, sql: str, parameters: Any = ..., /) -> Rows: ...
