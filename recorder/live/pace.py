"""How fast a server lets us say things: a bucket of tokens that learns from the server's refusals."""

from __future__ import annotations

from typing import Final

__all__ = ["Pace"]

_SLOWEST_MS: Final = 5_000
_SLOWER_MS: Final = 200  # the least gap once a server has said that we are too fast
_PAUSE_MS: Final = 1_000


class Pace:
    """The pace of one connection; once it has become slower it stays so.

    Args:
        gap_ms: between two commands in the long run. burst: commands that may go at once after a pause.
    """

    def __init__(self, gap_ms: int, burst: int) -> None:
        if gap_ms < 1 or burst < 1:
            raise ValueError("gap_ms and burst must be at least 1")
        self._gap_ms = gap_ms
        self._burst = burst
        self._credit_ms = gap_ms * burst
        self._since_ms: int | None = None  # up to when the credit was counted
        self._slowed_ms: int | None = None  # when the server refused last

    def ready(self, now_ms: int) -> bool:
        """Whether a command may go now."""
        if self._since_ms is not None and now_ms > self._since_ms:
            self._credit_ms = min(self._gap_ms * self._burst, self._credit_ms + now_ms - self._since_ms)
        self._since_ms = now_ms if self._since_ms is None else max(now_ms, self._since_ms)
        return now_ms >= self._since_ms and self._credit_ms >= self._gap_ms

    def spend(self) -> None:
        """A command goes."""
        self._credit_ms -= self._gap_ms

    def next_ms(self) -> int:
        """When the next command may go, as of the last time that ``ready`` was asked."""
        return (self._since_ms or 0) + max(0, self._gap_ms - self._credit_ms)

    def refused(self, sent_ms: int, now_ms: int) -> None:
        """The server says that we are too fast.

        Args:
            sent_ms: when the command went that it refuses; what had gone before the pace became slower tells nothing
                new.
        """
        if self._slowed_ms is not None and sent_ms <= self._slowed_ms:
            return
        self._gap_ms = min(_SLOWEST_MS, max(_SLOWER_MS, 2 * self._gap_ms))
        self._burst = max(1, self._burst // 4)
        self._credit_ms = self._gap_ms
        self._slowed_ms = now_ms
        self._since_ms = now_ms + max(_PAUSE_MS, 2 * self._gap_ms)
