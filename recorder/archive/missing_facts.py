"""Which facts of its games a log lacks, reported when the first game shows it, and the options that supply them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recorder.model import Game
    from recorder.tracking.living import Changes

__all__ = ["MissingFacts"]


class MissingFacts:
    """Reports each missing fact once. It is an ``Outlet``.

    Args:
        log: its name. tell: gets one sentence.
    Attributes:
        problem: None.
    """

    looks_back = False
    owes = False

    def __init__(self, log: str, tell: Callable[[str], object]) -> None:
        self.problem: str | None = None
        self._log = log
        self._tell = tell
        self._told: set[str] = set()

    def begin(self, where: str, source: str) -> None:
        """Nothing is looked up: the next game shows it."""

    def take(self, games: list[Game]) -> None:
        """Look at games that are over."""
        self._look(games)

    def look(self, changes: Changes) -> None:
        """Look at games in progress."""
        self._look([game for _, game in changes.anew])

    def _look(self, games: list[Game]) -> None:
        missing = {}
        if any(game.server is None for game in games):
            missing["site"] = "--server NAME"
        if any(game.day is None for game in games):
            missing["date"] = "--date YYYY-MM-DD"
        missing = {fact: option for fact, option in missing.items() if fact not in self._told}
        if not missing:
            return
        self._told |= missing.keys()
        what = f"does not name the {' or the '.join(missing)} of its games"
        them = "them" if len(missing) > 1 else "it"
        self._tell(f"{self._log} {what}; follow it again with {' and '.join(missing.values())} to add {them}.")

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Nothing is kept."""

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """Look at the last games."""
        self._look(games)
