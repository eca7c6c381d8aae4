"""Measures of the use of time, computed in pandas, in DuckDB or by Dask; docs/reference/measures.md defines them.

Importing this module gives every DataFrame the attribute ``ics``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd

from exporters.measures.clocks import (
    activity,
    clock_curve,
    even_budget,
    lag,
    residuals,
    time_left,
    time_left_by_phase,
    time_odds,
)
from exporters.measures.games import diagonal_lead, game_sides, profile, sitting
from exporters.measures.pressure import (
    blunders,
    clock_lead,
    flags,
    loss_by_clock,
    loss_by_think,
    scramble_windows,
    scrambles,
)
from exporters.measures.think import autocorrelation, instant, known_moves, longest_thinks, time_usage

__all__ = [
    "activity",
    "autocorrelation",
    "blunders",
    "clock_curve",
    "clock_lead",
    "diagonal_lead",
    "even_budget",
    "flags",
    "game_sides",
    "instant",
    "known_moves",
    "lag",
    "longest_thinks",
    "loss_by_clock",
    "loss_by_think",
    "profile",
    "residuals",
    "scramble_windows",
    "scrambles",
    "sitting",
    "time_left",
    "time_left_by_phase",
    "time_odds",
    "time_usage",
]


@pd.api.extensions.register_dataframe_accessor("ics")
class _PlyAccessor:
    """Measures of a table of plies. Each returns a new DataFrame; ``docs/reference/measures.md`` has the formulas.

    ``attrs`` of a result: ``games`` and ``plies`` that count, ``excluded`` (reason → plies that do not) and ``marked``
    (``seconds only``, ``incomplete``, ``derived clock``, ``derived time`` → plies that count). Times are integers of
    milliseconds, shares and scores go from 0 to 1, and what is not known is NA. ``by`` takes names of
    dimensions: any column of words or small numbers, or ``player``, ``opponent``, ``guest``, ``computer``, ``sealed``,
    ``game``, ``precision``, ``time_trouble``, ``rating_band``, ``hour``, ``weekday``; of a table with these columns
    also ``eco`` and ``opening``.

    Raises:
        AttributeError: the DataFrame has no ``key`` and ``ply``, or lacks columns that a measure reads.
    """

    def __init__(self, plies: pd.DataFrame) -> None:
        if missing := [name for name in ("key", "ply") if name not in plies.columns]:
            raise AttributeError(
                f"this is no table of plies: it lacks {' and '.join(missing)}. "
                "recorder.Archive(…).plies() and `export plies` make them; docs/reference/tables.md lists the columns."
            )
        self._plies = plies

    def time_usage(self, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
        """How much time moves took.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.time_usage`` describes.
        """
        return time_usage(self._plies, by)

    def game_sides(self) -> pd.DataFrame:
        """A row for each side of each game.

        Returns:
            The table that ``recorder.measures.game_sides`` describes.
        """
        return game_sides(self._plies)

    def profile(self, by: str | Iterable[str] = ("player", "time_control", "variant")) -> pd.DataFrame:
        """Players by time control and variant.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.profile`` describes.
        """
        return profile(self._plies, by)

    def time_left(
        self, by: str | Iterable[str] = ("time_control",), moves: Iterable[int] = (10, 20, 30, 40)
    ) -> pd.DataFrame:
        """Clocks after some moves.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            moves: numbers of moves.
        Returns:
            The table that ``recorder.measures.time_left`` describes.
        """
        return time_left(self._plies, by, moves)

    def time_left_by_phase(self, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
        """Clocks with which the phases were entered.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.time_left_by_phase`` describes.
        """
        return time_left_by_phase(self._plies, by)

    def clock_curve(self, by: str | Iterable[str] = ()) -> pd.DataFrame:
        """The clock after each move, over all games.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.clock_curve`` describes.
        """
        return clock_curve(self._plies, by)

    def longest_thinks(self, n: int = 10) -> pd.DataFrame:
        """The plies that took longest.

        Args:
            n: how many plies; all that took as long as the last of them are included.
        Returns:
            The table that ``recorder.measures.longest_thinks`` describes.
        """
        return longest_thinks(self._plies, n)

    def instant(self, by: str | Iterable[str] = ("time_control",), limit_ms: int = 100) -> pd.DataFrame:
        """Moves made at once.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            limit_ms: a move is instant if it took no longer, in milliseconds.
        Returns:
            The table that ``recorder.measures.instant`` describes.
        """
        return instant(self._plies, by, limit_ms)

    def known_moves(self, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
        """The moves and the time before each side's first long think.

        Args:
            by: one dimension or several, of the move with that think, else of the side's last move.
        Returns:
            The table that ``recorder.measures.known_moves`` describes.
        """
        return known_moves(self._plies, by)

    def autocorrelation(self, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
        """Whether a long think follows a long one.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.autocorrelation`` describes.
        """
        return autocorrelation(self._plies, by)

    def lag(self, by: str | Iterable[str] = ("player",)) -> pd.DataFrame:
        """Lag a move, and who got it back.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.lag`` describes.
        """
        return lag(self._plies, by)

    def scrambles(self, by: str | Iterable[str] = ("time_control",), limit_ms: int = 30_000) -> pd.DataFrame:
        """What was played while both clocks were under a limit.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            limit_ms: both clocks were below this before the move, in milliseconds.
        Returns:
            The table that ``recorder.measures.scrambles`` describes.
        """
        return scrambles(self._plies, by, limit_ms)

    def scramble_windows(self, limit_ms: int = 30_000) -> pd.DataFrame:
        """Each scramble: where it begins and ends.

        Args:
            limit_ms: both clocks were below this before the move, in milliseconds.
        Returns:
            The table that ``recorder.measures.scramble_windows`` describes.
        """
        return scramble_windows(self._plies, limit_ms)

    def flags(self, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
        """How near to the flag sides came, and who lost on time.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.flags`` describes.
        """
        return flags(self._plies, by)

    def clock_lead(
        self,
        by: str | Iterable[str] = (),
        moves: Iterable[int] = (20, 30),
        edges_s: Sequence[int] = (-60, -30, -10, 0, 10, 30, 60),
        edges_percent: Sequence[int] | None = None,
    ) -> pd.DataFrame:
        """Scores by the lead on the clock.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            moves: numbers of moves.
            edges_s: where the bands of leads begin, in seconds, ascending.
            edges_percent: where the bands of leads begin, in percent of the base time, instead of ``edges_s``.
        Returns:
            The table that ``recorder.measures.clock_lead`` describes.
        """
        return clock_lead(self._plies, by, moves, edges_s, edges_percent)

    def even_budget(self, by: str | Iterable[str] = ("time_control",)) -> pd.DataFrame:
        """How far clocks were from an even spender's.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.even_budget`` describes.
        """
        return even_budget(self._plies, by)

    def time_odds(self, by: str | Iterable[str] = ()) -> pd.DataFrame:
        """Games whose sides had different time controls.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.time_odds`` describes.
        """
        return time_odds(self._plies, by)

    def activity(self, by: str | Iterable[str] = (), utc_offset_min: int = 0) -> pd.DataFrame:
        """What was played on each weekday and hour.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            utc_offset_min: offset of the hours from UTC, in minutes, positive east of Greenwich.
        Returns:
            The table that ``recorder.measures.activity`` describes.
        """
        return activity(self._plies, by, utc_offset_min)

    def residuals(self, by: str | Iterable[str] = ()) -> pd.DataFrame:
        """Do the clocks add up, and why not.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.residuals`` describes.
        """
        return residuals(self._plies, by)

    def blunders(self, by: str | Iterable[str] = ("player",)) -> pd.DataFrame:
        """Blunders in time trouble and else.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.blunders`` describes.
        """
        return blunders(self._plies, by)

    def loss_by_think(
        self, by: str | Iterable[str] = (), edges_s: Sequence[int] = (1, 2, 5, 10, 20, 60)
    ) -> pd.DataFrame:
        """What moves lost, by the time that they took.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            edges_s: where the bands of think times begin, in seconds, ascending.
        Returns:
            The table that ``recorder.measures.loss_by_think`` describes.
        """
        return loss_by_think(self._plies, by, edges_s)

    def loss_by_clock(
        self, by: str | Iterable[str] = (), edges_s: Sequence[int] = (5, 10, 20, 30, 60, 120, 300)
    ) -> pd.DataFrame:
        """What moves lost, by the time that was left.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            edges_s: where the bands of clocks begin, in seconds, ascending.
        Returns:
            The table that ``recorder.measures.loss_by_clock`` describes.
        """
        return loss_by_clock(self._plies, by, edges_s)

    def diagonal_lead(self, by: str | Iterable[str] = ("player",)) -> pd.DataFrame:
        """Bughouse, of ``Archive.matches()``: the lead across.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
        Returns:
            The table that ``recorder.measures.diagonal_lead`` describes.
        """
        return diagonal_lead(self._plies, by)

    def sitting(self, by: str | Iterable[str] = ("player",), limit_ms: int = 5_000) -> pd.DataFrame:
        """Bughouse, of ``Archive.matches()``: waits across the boards.

        Args:
            by: one dimension or several; each row is about the plies that are equal in all of them.
            limit_ms: shorter waits do not count, in milliseconds.
        Returns:
            The table that ``recorder.measures.sitting`` describes.
        """
        return sitting(self._plies, by, limit_ms)
