"""What a recorder tells while it runs: each event has a name that stays, a sentence for people and facts for programs.

The names are an interface: scripts look for them in what ``--log`` writes; docs/log.md has this table. No fact and no
sentence holds a password or what a connection carried before somebody was logged in.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple, Protocol

__all__ = ["EVENTS", "Fact", "Kind", "MessageLevel", "MessageSink"]

Fact = str | int | bool | None


class MessageLevel(Enum):
    """How much an event matters to somebody who is not looking."""

    INFO = "info"
    WARNING = "warning"  # it goes on, and something is late or missing
    ERROR = "error"  # something has ended that should not have


class Kind(NamedTuple):
    """An event's level, when it happens, and the names of its facts."""

    level: MessageLevel
    meaning: str
    facts: tuple[str, ...] = ()


class MessageSink(Protocol):
    """Takes what happens."""

    def __call__(self, event: str, sentence: str, /, **facts: Fact) -> None:
        """One event: a name of ``EVENTS``, one sentence, facts with units in their names."""


EVENTS: Final[Mapping[str, Kind]] = {
    "started": Kind(MessageLevel.INFO, "the program begins to record", ("server", "journal_dir")),
    "connected": Kind(MessageLevel.INFO, "a connection is there, its journal is open", ("server", "journal")),
    "logged_in": Kind(
        MessageLevel.INFO, "the server has let us in; handle is null for a guest without a name", ("handle",)
    ),
    "disconnected": Kind(MessageLevel.WARNING, "a connection has ended and is made again", ("how", "retry_ms")),
    "unreachable": Kind(MessageLevel.WARNING, "a connection could not be made and is tried again", ("how", "retry_ms")),
    "refused": Kind(
        MessageLevel.WARNING, "the server did not let us in again, and is asked again", ("how", "retry_ms")
    ),
    "deaf": Kind(MessageLevel.ERROR, "a bug: the server is no longer understood, only recorded", ("error",)),
    "mute": Kind(
        MessageLevel.ERROR, "a bug: what is sent to the server is recorded as a count of bytes only", ("error",)
    ),
    "progress": Kind(
        MessageLevel.INFO,
        "at most once a minute, if games have begun or ended",
        ("watched", "waiting", "games", "boards", "received_bytes", "outages"),
    ),
    "listening": Kind(MessageLevel.INFO, "`proxy` waits for clients", ("address",)),
    "exposed": Kind(MessageLevel.WARNING, "other machines reach the address that `proxy` listens on", ("address",)),
    "unknown_host": Kind(
        MessageLevel.WARNING, "nobody knows the name of the server that `proxy` is to reach", ("server",)
    ),
    "client_connected": Kind(
        MessageLevel.INFO,
        "a client of `proxy` is joined with the server, its journal is open",
        ("connection", "journal"),
    ),
    "client_refused": Kind(
        MessageLevel.WARNING, "a client could not be served; null: it was not counted", ("client", "how")
    ),
    "unrecorded": Kind(
        MessageLevel.ERROR,
        "a connection of `proxy` goes on, but it is not recorded, or not as a whole",
        ("connection",),
    ),
    "client_left": Kind(
        MessageLevel.INFO,
        "a connection of `proxy` is over: by whose end, client, server or proxy",
        ("connection", "by", "received_bytes", "sent_bytes"),
    ),
    "imported": Kind(
        MessageLevel.INFO, "the archive has what a connection of `proxy` carried", ("connection", "games")
    ),
    "not_imported": Kind(
        MessageLevel.WARNING, "an import is to be done later; null: of several connections", ("connection",)
    ),
    "left_over": Kind(MessageLevel.INFO, "what a crash had left open was ended"),
    "proxy_ended": Kind(
        MessageLevel.INFO,
        "`proxy` has ended as it was told to; unrecorded: connections that are not recorded as a whole",
        ("connections", "received_bytes", "sent_bytes", "unrecorded"),
    ),
    "view_lost": Kind(MessageLevel.WARNING, "the live view has ended, recording goes on"),
    "reread": Kind(
        MessageLevel.INFO,
        "SIGUSR1 came: options and handles were read again; changed: options that choose games otherwise now; restart: "
        "options that change only with a restart; null: none",
        ("changed", "restart"),
    ),
    "not_reread": Kind(
        MessageLevel.WARNING, "SIGUSR1 came, and the options could not be read; all stays as it was", ("error",)
    ),
    "not_notified": Kind(MessageLevel.WARNING, "the service manager (`NOTIFY_SOCKET`) cannot be notified", ("error",)),
    "style_left": Kind(
        MessageLevel.WARNING, "the account has another style or gin than before, which could not be put back"
    ),
    "tally": Kind(
        MessageLevel.INFO,
        "recording ends: what became of the games that matched and are over",
        ("matched", "whole", "partly", "recovered", "missed"),
    ),
    "rows_unread": Kind(MessageLevel.WARNING, "lines of the tables of games could not be read", ("lines",)),
    "ended": Kind(
        MessageLevel.INFO, "recording has ended as it was told to", ("connections", "received_bytes", "boards", "games")
    ),
    "failed": Kind(MessageLevel.ERROR, "recording has ended because of an error", ("error",)),
}
"""By name."""
