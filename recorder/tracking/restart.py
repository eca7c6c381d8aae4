"""Going on with a log that has grown: what must be remembered besides the bytes.

Reading goes on at the first line of the oldest game that was not over (``offset``), not at the end of what was read
(``mark``): the lines between are read again, so that those games are rebuilt whole. What was counted and given out
before is remembered: lines before the mark are not counted twice, and games that were given out but reach over the
restart point are muted there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import Any

from recorder.events import Event, MovelistRead, RatingText
from recorder.frames import Style12
from recorder.model import Disposition, Game, ObservationKind
from recorder.tracking.facts import Facts

__all__ = [
    "GivenOut",
    "Resumed",
    "dump_counts",
    "dump_facts",
    "load_counts",
    "load_facts",
]


_MOST_GAMES = 512


class GivenOut:
    """The stretches of the source that given-out games take, as far as a restart could fall into them."""

    def __init__(self) -> None:
        self._games: list[tuple[int | None, int, int, list[int]]] = []
        self._most = _MOST_GAMES

    def add(self, game: Game, oldest_held: Callable[[], int]) -> None:
        """Note a game; now and then forget those that end before the oldest game still held."""
        lists = [seen.offset for seen in game.observations if seen.kind is ObservationKind.MOVELIST]
        self._games.append((game.game_no, game.first_offset, game.last_offset, lists))
        if len(self._games) > self._most:
            oldest = oldest_held()
            self._games = [given for given in self._games if given[2] >= oldest]
            self._most = len(self._games) + _MOST_GAMES

    def across(self, offset: int) -> tuple[list[list[int]], list[int]]:
        """Of the games that begin before ``offset`` and end at or after it: number and last offset; their lists."""
        over = [given for given in self._games if given[1] < offset <= given[2]]
        numbers = [[number, last] for number, _, last, _ in over if number is not None]
        return numbers, [place for *_, lists in over for place in lists if place >= offset]


class Resumed:
    """Filters the lines that are read a second time.

    Args:
        state: what ``Tracker.restart_state`` gave.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        self.mark: int = state["mark"]
        self._muted: dict[int, int] = dict(state["muted"])
        self._lists: frozenset[int] = frozenset(state["muted_lists"])

    def wanted(self, event: Event) -> bool:
        """Whether an event before the mark belongs to a game that is rebuilt."""
        if isinstance(event, MovelistRead):
            return event.line.offset not in self._lists
        game_no: int | None
        if isinstance(event, Style12):
            offset, game_no = event.offset, _number(event)
        else:
            offset, game_no = event.line.offset, getattr(event, "game_no", None)
        return game_no is None or self._muted.get(game_no, -1) < offset


def _number(frame: Style12) -> int | None:
    text = frame.tail[7] if len(frame.tail) > 7 else ""
    return int(text) if text.isascii() and text.isdigit() else None


def dump_counts(counts: dict[Disposition, int]) -> dict[str, int]:
    """Counts as JSON keeps them."""
    return {disposition.value: count for disposition, count in counts.items() if count}


def load_counts(saved: dict[str, int]) -> dict[Disposition, int]:
    """Counts from JSON."""
    return {disposition: saved.get(disposition.value, 0) for disposition in Disposition}


def dump_facts(kept: Iterable[Facts]) -> list[dict[str, Any]]:
    """Pending header facts as JSON keeps them."""
    return [{field.name: getattr(facts, field.name) for field in fields(Facts)} for facts in kept]


def load_facts(saved: dict[str, Any]) -> Facts:
    """Header facts from JSON."""
    values = dict(saved)
    for name in ("white_rating", "black_rating"):
        if values[name] is not None:
            values[name] = RatingText(*values[name])
    return Facts(**values)
