"""The contract of an exporter, and which games an export takes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from recorder.errors import ExportError
from recorder.model import Game, GameKind
from recorder.text import plural

__all__ = ["ExportReport", "Exporter", "GameExporter", "INCLUDE_WORDS", "Selection"]


@dataclass(slots=True, repr=False)
class ExportReport:
    """What an export wrote.

    Attributes:
        games: games written (a game in several parts is one). plies: half-moves written as moves or rows.
        left_out: reason → how many games or plies were not written; the reason says which.
    """

    games: int = 0
    plies: int = 0
    left_out: Counter[str] = field(default_factory=Counter)

    def __repr__(self) -> str:
        excluded = "".join(f" · excluded: {number:,} {reason}" for reason, number in sorted(self.left_out.items()))
        return f"Export of {plural(self.games, 'game')} · {plural(self.plies, 'ply', 'plies')}{excluded}"


class Exporter(Protocol):
    """Writes games in one format. Streams: holds no more than one game (Parquet: one row group) in memory."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all games to ``out`` in their order and return what was written."""


class GameExporter(Exporter, Protocol):
    """A format in which every game is a text of its own, so that files can be split and appended to."""

    suffix: str
    report: ExportReport

    @property
    def key_mark(self) -> str | None:
        """What a line begins with, directly before a game's key; None: this format writes no keys."""

    def game_text(self, game: Game) -> str:
        """The whole text of one game, its separator from the next included; counts it in ``report``."""


INCLUDE_WORDS = ("examined", "setup", "empty")


@dataclass(slots=True)
class Selection:
    """By default all played games with at least one ply, complete or not.

    Attributes:
        complete: only games whose every ply from the first to the end line is there.
        guests, computers: False leaves out games in which either player is one.
        include: also take ``examined`` games, ``setup`` positions, ``empty`` games (without a ply).
        taken: games that went through ``select``. left_out: reason → games; a game counts under its first reason.
        marked: of the games taken, how many are ``incomplete``, ``adjourned``, ``aborted``.

    Raises:
        ExportError: an ``include`` word that is not known.
    """

    complete: bool = False
    guests: bool = True
    computers: bool = True
    include: frozenset[str] = frozenset()
    taken: int = 0
    left_out: Counter[str] = field(default_factory=Counter)
    marked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if unknown := sorted(self.include - set(INCLUDE_WORDS)):
            raise ExportError(f"Games of kind {unknown[0]!r} are not known; include any of {', '.join(INCLUDE_WORDS)}.")

    def select(self, games: Iterable[Game]) -> Iterator[Game]:
        """The games to take, in their order; counts all of them on the way."""
        for game in games:
            if (reason := self._reason_against(game)) is not None:
                self.left_out[reason] += 1
                continue
            self.taken += 1
            if not game.complete:
                self.marked["incomplete"] += 1
            if game.end in ("adjourned", "aborted"):
                self.marked[game.end] += 1
            yield game

    def summary(self) -> str:
        """One line for the user: ``12 games; left out: 3 examined, 1 without a ply``."""
        text = f"{self.taken} game{'' if self.taken == 1 else 's'}"
        if self.marked:
            text += f" ({_counted(self.marked)})"
        return f"{text}; left out: {_counted(self.left_out) or 'none'}"

    def _reason_against(self, game: Game) -> str | None:
        if game.kind is not GameKind.PLAYED and game.kind.value not in self.include:
            return str(game.kind.value)
        if "empty" not in self.include and not any(segment.to_ply >= segment.from_ply for segment in game.segments):
            return "without a ply"
        if self.complete and not game.complete:
            return "incomplete"
        if not self.guests and (game.white.is_guest or game.black.is_guest):
            return "with a guest"
        if not self.computers and (game.white.is_computer or game.black.is_computer):
            return "with a computer"
        return None


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
