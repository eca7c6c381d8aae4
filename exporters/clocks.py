"""Think times, clocks and lag of games: two rows a game, one for each side. All times are integers.

Think times are the elapsed times that the server printed; a first move that the server does not charge counts as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NamedTuple

from exporters.base import ExportReport
from exporters.games_json import PRECISIONS
from exporters.table_files import write_csv, write_json_lines
from recorder.model import EXACT, Game, Ply, Precision, control_of

__all__ = ["ClockSummary", "ClocksCsvExporter", "ClocksJsonExporter", "SideClocks", "side_clocks"]


class SideClocks(NamedTuple):
    """One side of one game.

    Attributes:
        moves: moves with an elapsed time; ``total_ms``, ``mean_ms``, ``median_ms``, ``longest_ms`` are theirs.
        longest_move_no, longest_san: the move that took longest; of equal ones the first.
        clock_at_10_ms …: the side's clock after move 10; None if that move was not played or not seen.
        lag_moves: moves with a printed lag; ``lag_p95_ms`` is their 95th percentile (nearest rank).
        precision: ``seconds`` if any elapsed time was printed in whole seconds.
    """

    key: str
    server: str | None
    variant: str | None
    base_s: int | None
    increment_s: int | None
    complete: bool
    side: str
    handle: str
    opponent: str
    moves: int
    total_ms: int
    mean_ms: int
    median_ms: int
    longest_ms: int
    longest_move_no: int
    longest_san: str
    clock_at_10_ms: int | None
    clock_at_20_ms: int | None
    clock_at_30_ms: int | None
    clock_at_40_ms: int | None
    lag_moves: int
    lag_mean_ms: int | None
    lag_p95_ms: int | None
    lag_max_ms: int | None
    precision: str | None


@dataclass(slots=True)
class ClockSummary:
    """Makes the rows of games, and counts what is in them.

    Attributes:
        games, plies: games with rows, and their moves with an elapsed time.
        excluded: reason → games without rows: ``untimed``, ``without times``.
        marked: of the games in the rows, how many are ``incomplete`` or have ``seconds only``.
    """

    games: int = 0
    plies: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    marked: Counter[str] = field(default_factory=Counter)

    def rows(self, games: Iterable[Game]) -> Iterator[SideClocks]:
        """Yield White's row and Black's row of each game, in the games' order; a side without times has no row.

        Args:
            games: in the order of the rows.
        Yields:
            The rows; reading them counts games and plies in the attributes of the summary.
        """
        for game in games:
            if game.base_s == 0 and game.increment_s == 0:
                self.excluded["untimed"] += 1
                continue
            sides = side_clocks(game)
            if not sides:
                self.excluded["without times"] += 1
                continue
            self.games += 1
            self.plies += sum(side.moves for side in sides)
            if not game.complete:
                self.marked["incomplete"] += 1
            if any(side.precision == "seconds" for side in sides):
                self.marked["seconds only"] += 1
            yield from sides


class ClocksCsvExporter:
    """The summary as CSV; see ``exporters.table_files``.

    Args:
        raw: write texts that look like formulas as they are.
    """

    def __init__(self, *, raw: bool = False) -> None:
        self._raw = raw

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all rows; the report has the counts of the summary.

        Args:
            games: in the order in which they are written.
            out: a binary file; takes UTF-8.
        Returns:
            The numbers of games and plies that were written, and what was excluded.
        """
        summary = ClockSummary()
        write_csv(SideClocks._fields, ([row] for row in summary.rows(games)), out, raw=self._raw)
        return ExportReport(summary.games, summary.plies, summary.excluded)


class ClocksJsonExporter:
    """The summary as JSON Lines."""

    def write(self, games: Iterable[Game], out: BinaryIO) -> ExportReport:
        """Write all rows; the report has the counts of the summary.

        Args:
            games: in the order in which they are written.
            out: a binary file; takes UTF-8.
        Returns:
            The numbers of games and plies that were written, and what was excluded.
        """
        summary = ClockSummary()
        write_json_lines(SideClocks._fields, ([row] for row in summary.rows(games)), out)
        return ExportReport(summary.games, summary.plies, summary.excluded)


def side_clocks(game: Game) -> list[SideClocks]:
    """The rows of one game: none, one or two."""
    plies = game.plies
    found = [_side(game, plies, True), _side(game, plies, False)]
    return [side for side in found if side is not None]


def _side(game: Game, plies: list[Ply], white: bool) -> SideClocks | None:
    own = [ply for ply in plies if ply.white_moved is white]
    timed = [(ply.elapsed_ms, ply) for ply in own if ply.elapsed_ms is not None]
    if not timed:
        return None
    times = sorted(elapsed_ms for elapsed_ms, _ in timed)
    longest_ms, longest = max(timed, key=lambda pair: pair[0])
    clocks = {(ply.ply + 1) // 2: ply.white_clock_ms if white else ply.black_clock_ms for ply in own}
    lags = sorted(ply.lag_ms for ply in own if ply.lag_ms is not None)
    whole_seconds = any(ply.precision_code is not None and ply.precision_code not in EXACT for _, ply in timed)
    base_s, increment_s = control_of(game, white)
    players = (game.white.handle, game.black.handle)
    return SideClocks(
        key=game.key,
        server=game.server,
        variant=game.variant,
        base_s=base_s,
        increment_s=increment_s,
        complete=game.complete,
        side="white" if white else "black",
        handle=players[0 if white else 1],
        opponent=players[1 if white else 0],
        moves=len(times),
        total_ms=sum(times),
        mean_ms=_in_unit(_mean(times), whole_seconds),
        median_ms=_in_unit(_mean(times[(len(times) - 1) // 2 : len(times) // 2 + 1]), whole_seconds),
        longest_ms=longest_ms,
        longest_move_no=(longest.ply + 1) // 2,
        longest_san=longest.san,
        clock_at_10_ms=clocks.get(10),
        clock_at_20_ms=clocks.get(20),
        clock_at_30_ms=clocks.get(30),
        clock_at_40_ms=clocks.get(40),
        lag_moves=len(lags),
        lag_mean_ms=_mean(lags) if lags else None,
        lag_p95_ms=lags[(95 * len(lags) + 99) // 100 - 1] if lags else None,
        lag_max_ms=lags[-1] if lags else None,
        precision=PRECISIONS[Precision.SECONDS if whole_seconds else Precision.MILLISECONDS],
    )


def _in_unit(ms: int, whole_seconds: bool) -> int:
    """Round half up to whole seconds if the server printed whole seconds, as ``exporters.measures`` does."""
    return (ms + 500) // 1000 * 1000 if whole_seconds else ms


def _mean(values: list[int]) -> int:
    """The mean of at least one value, rounded half up."""
    return (2 * sum(values) + len(values)) // (2 * len(values))
