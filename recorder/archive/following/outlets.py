"""Outlets: what gets the games of a log that is being written, when they are committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from recorder.model import Game


OVER: Final = frozenset(("result", "adjourned", "aborted"))
"""Ends of games with which nothing goes on."""


class Outlet(Protocol):
    """Gets what was committed. ``problem``: why something is missing, or None; ``settle`` may find it then."""

    problem: str | None
    owes: bool
    """After ``end``: it still has to write games of the source, which is to be taken once more."""
    looks_back: bool
    """Finds in the archive, at ``begin``, what it was not given: until a long log is read it is given nothing."""

    def begin(self, where: str, source: str) -> None:
        """A source was read so far, perhaps not for the first time; ``source``: its sha256."""

    def take(self, games: list[Game]) -> None:
        """Finished games, which do not change any more."""

    def look(self, games: list[Game]) -> None:
        """Games in progress that have changed, as they stand."""

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Games that begin before this place are never given again.

        Args:
            where: the archive. source: sha256 of the source's bytes so far.
            read_up_to: an offset in these bytes.
        """

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """The log has come to its end, and these games with it.

        ``final``: it never goes on. Else they may be given again, and may have become more.
        """


def is_over(end: str, first_offset: int, read_up_to: int, final: bool = False) -> bool:
    """Whether nothing that the log says later can go on with a game: only such games are appended.

    Args:
        end, first_offset: of the game. read_up_to: of its source: what begins before it is final.
        final: the log never goes on, so neither does any of its games.
    """
    return final or end in OVER or (end != "log-ends" and first_offset < read_up_to)


class MissingFacts:
    """Reports each missing fact once. It is an ``Outlet``.

    Args:
        log: its name. notify: gets one sentence.
    Attributes:
        problem: None.
    """

    looks_back = False
    owes = False

    def __init__(self, log: str, notify: Callable[[str], object]) -> None:
        self.problem: str | None = None
        self._log = log
        self._notify = notify
        self._reported: set[str] = set()

    def begin(self, where: str, source: str) -> None:
        """Nothing is looked up: the next game shows it."""

    def take(self, games: list[Game]) -> None:
        """Look at games that are over."""
        self._look(games)

    def look(self, games: list[Game]) -> None:
        """Look at games in progress."""
        self._look(games)

    def _look(self, games: list[Game]) -> None:
        missing = {}
        if any(game.server is None for game in games):
            missing["site"] = "--server NAME"
        if any(game.day is None for game in games):
            missing["date"] = "--date YYYY-MM-DD"
        missing = {fact: option for fact, option in missing.items() if fact not in self._reported}
        if not missing:
            return
        self._reported |= missing.keys()
        what = f"does not name the {' or the '.join(missing)} of its games"
        them = "them" if len(missing) > 1 else "it"
        self._notify(f"{self._log} {what}; follow it again with {' and '.join(missing.values())} to add {them}.")

    def settle(self, where: str, source: str, read_up_to: int) -> None:
        """Nothing is kept."""

    def end(self, where: str, source: str, games: list[Game], final: bool) -> None:
        """Look at the last games."""
        self._look(games)
