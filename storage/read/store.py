"""What tables and measures ask of a store of games, and what reading asks of its database."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Protocol, TypedDict

from recorder.model import GameKind

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

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


_MEMORY: Final = "300MB"


def new_database() -> DuckDBPyConnection:
    """A database in memory, which puts into files of the folder for temporary ones what needs more than 300 MB."""
    import duckdb  # loads NumPy

    database = duckdb.connect(
        config={
            "memory_limit": _MEMORY,
            "temp_directory": f"{tempfile.gettempdir()}/ics-recorder-{token_hex(8)}",
            "autoinstall_known_extensions": False,
        }
    )
    with suppress(duckdb.InvalidInputException):  # a notebook without ipywidgets, where no bar can be drawn
        database.execute("SET enable_progress_bar = false")  # it prints on standard output where no script runs
    return database


ANY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GameFilter:
    """What a game must be; an empty set or None asks nothing.

    ``recorder.filters`` says what each attribute means that an option or a field sets. Case does not count in handles,
    variants, categories and servers. A game of which the value is unknown does not match; ``count_unknown`` counts it.

    Attributes:
        since_ms, until_ms: inclusive, milliseconds since 1970.
        kinds: played games by default.
        per_source: the games as each source has them, instead of merged games.
        folded: keys of games that are counted with another one; they are excluded.
        unique: probable duplicates are to be folded; of an archive ``recorder.archive.exporting`` finds ``folded``.
        time_controls: White's base time and increment in seconds, as ``300+3``.
        endings: values of ``reason_key`` (``checkmate``, ``time``) or of ``ending``.
        position: the first four fields of a FEN, which the game reached. ``recorder.archive.positions`` finds these.
        next_move: the move that is played there, as ``encode_move`` encodes it.
        reached: the keys of the games that reached the position, or of a group of insights; None: not known yet.
    """

    players: frozenset[str] = ANY
    opponents: frozenset[str] = ANY
    white: frozenset[str] = ANY
    black: frozenset[str] = ANY
    variants: frozenset[str] = ANY
    categories: frozenset[str] = ANY
    rated: bool | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    results: frozenset[str] = ANY
    servers: frozenset[str] = ANY
    ecos: frozenset[str] = ANY
    openings: frozenset[str] = ANY
    min_plies: int = 1
    complete: bool = False
    no_guests: bool = False
    no_computers: bool = False
    kinds: frozenset[GameKind] = field(default=frozenset({GameKind.PLAYED}))
    keys: frozenset[str] = ANY
    source: str | None = None
    me: str | None = None
    per_source: bool = False
    folded: frozenset[str] = ANY
    unique: bool = False
    last: int | None = None
    max_plies: int | None = None
    time_controls: frozenset[str] = ANY
    speeds: frozenset[str] = ANY
    endings: frozenset[str] = ANY
    outcomes: frozenset[str] = ANY
    min_rating: int | None = None
    max_rating: int | None = None
    min_duration_s: int | None = None
    max_duration_s: int | None = None
    clock_below_ms: int | None = None
    lead_ms: int | None = None
    happened: frozenset[str] = ANY
    position: str | None = None
    next_move: int | None = None
    reached: frozenset[str] | None = None


ALL_PLAYED = GameFilter()
"""The stated default of lists and exports: every played game with at least one ply."""

EVERY_GAME = GameFilter(kinds=frozenset(), min_plies=0)
"""Examined and set-up games, too, and games without a known move."""
