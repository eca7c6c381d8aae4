"""What a recorder tells while it runs: each event has a name that stays, a sentence for people and facts for programs.

The names are an interface: scripts look for them in what ``--log`` writes; docs/log.md has this table. No fact and no
sentence holds a password or what a connection carried before somebody was logged in.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple, Protocol

__all__ = ["EVENTS", "Fact", "Kind", "Level", "Tell"]

Fact = str | int | bool | None


class Level(Enum):
    """How much an event matters to somebody who is not looking."""

    INFO = "info"
    WARNING = "warning"  # it goes on, and something is late or missing
    ERROR = "error"  # something has ended that should not have


class Kind(NamedTuple):
    """An event's level, when it happens, and the names of its facts."""

    level: Level
    meaning: str
    facts: tuple[str, ...] = ()


class Tell(Protocol):
    """Takes what happens."""

    def __call__(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """One event: a name of ``EVENTS``, one sentence, facts with units in their names."""


EVENTS: Final[Mapping[str, Kind]] = {
    "started": Kind(Level.INFO, "the program begins to record", ("server", "journal_dir")),
    "connected": Kind(Level.INFO, "a connection is there, its journal is open", ("server", "journal")),
    "logged_in": Kind(Level.INFO, "the server has let us in; handle is null for a guest without a name", ("handle",)),
    "disconnected": Kind(Level.WARNING, "a connection has ended and is made again", ("how", "retry_ms")),
    "unreachable": Kind(Level.WARNING, "a connection could not be made and is tried again", ("how", "retry_ms")),
    "refused": Kind(Level.WARNING, "the server did not let us in again, and is asked again", ("how", "retry_ms")),
    "deaf": Kind(Level.ERROR, "a bug: the server is no longer understood, only recorded", ("error",)),
    "progress": Kind(
        Level.INFO,
        "at most once a minute, if games have begun or ended",
        ("watched", "waiting", "games", "boards", "received_bytes", "outages"),
    ),
    "view_lost": Kind(Level.WARNING, "the live view has ended, recording goes on"),
    "ended": Kind(
        Level.INFO, "recording has ended as it was told to", ("connections", "received_bytes", "boards", "games")
    ),
    "failed": Kind(Level.ERROR, "recording has ended because of an error", ("error",)),
}
"""By name."""
