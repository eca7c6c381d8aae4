"""Whether a line is alive: when something harmless is to be said, and when it is given up. Pure.

A line on which nothing comes may be one on which nothing happens, or a dead one: the system tells the end of a
connection only if the other side could still send it. So after a quiet time something is said to which every server
answers; if then nothing at all comes, the line is dead. So is one that takes nothing more of what we say.
"""

from __future__ import annotations

from typing import Final

__all__ = ["ANSWER_MS", "Pulse"]

ANSWER_MS: Final = 120_000
"""So long may a server leave our words unanswered, or unread."""
_QUIET_MS: Final = 120_000
_IDLE_MS: Final = 30 * 60_000  # servers log out who says nothing for an hour


class Pulse:
    """The signs of life of one connection.

    Args:
        now_ms: monotonic, as all times here.
    """

    def __init__(self, now_ms: int) -> None:
        self._heard_ms = now_ms
        self._said_ms = now_ms
        self._asked_ms: int | None = None  # the first words that nothing has followed
        self._stuck_ms: int | None = None  # since when the system holds bytes that the server does not take

    def heard(self, now_ms: int) -> None:
        """Bytes came."""
        self._heard_ms = now_ms
        self._asked_ms = None

    def said(self, now_ms: int) -> None:
        """Something was said that a server answers."""
        self._said_ms = now_ms
        if self._asked_ms is None:
            self._asked_ms = now_ms

    def waits(self, waiting: bool, now_ms: int) -> None:
        """Tell whether bytes of ours wait because the server takes none."""
        if not waiting:
            self._stuck_ms = None
        elif self._stuck_ms is None:
            self._stuck_ms = now_ms

    def wants_words(self, now_ms: int) -> bool:
        """Whether something harmless is to be said, for the server's answer or because we would seem idle."""
        if now_ms - self._said_ms >= _IDLE_MS:
            return True
        return self._asked_ms is None and now_ms - self._heard_ms >= _QUIET_MS

    def dead(self, now_ms: int) -> str | None:
        """Why the line is to be given up, a clause; None: it may be alive."""
        if self._asked_ms is not None and now_ms - self._asked_ms >= ANSWER_MS:
            return f"the server has not answered for {_minutes(now_ms - self._heard_ms)}"
        if self._stuck_ms is not None and now_ms - self._stuck_ms >= ANSWER_MS:
            return f"the server has taken nothing for {_minutes(now_ms - self._stuck_ms)}"
        return None


def _minutes(ms: int) -> str:
    minutes = max(1, round(ms / 60_000))
    return "a minute" if minutes == 1 else f"{minutes} minutes"
