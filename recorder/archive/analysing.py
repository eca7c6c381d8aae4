"""Analysing recorded games with an engine: games of an archive, which keeps the analyses, or of files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.archive.exporting import require_keys
from recorder.errors import StorageError

if TYPE_CHECKING:
    from recorder.analysis.run import AnalysisRun
    from recorder.model import AnalysedPosition, Game
    from recorder.progress import Progress
    from storage import ArchiveStore, GameFilter

__all__ = ["analyse_archive", "games_to_analyse", "write_analysed"]


def games_to_analyse(archive: ArchiveStore, chosen: GameFilter) -> list[Game]:
    """The chosen games, with little more than their keys.

    Raises:
        StorageError: there is none.
    """
    require_keys(archive, chosen)
    games = list(
        archive.games(
            chosen, with_events=False, with_holdings=False, with_lines=False, with_thinking=False, whole_plies=False
        )
    )
    if not games:
        raise StorageError("There is no such game to analyse.")
    return games


def analyse_archive(
    run: AnalysisRun, archive: ArchiveStore, keys: Sequence[str], *, again: bool, progress: Progress
) -> None:
    """Analyse games of an archive, and store it there about once a second.

    Args:
        keys: of the games.
        again: analyse also the positions that this engine has analysed with these settings.
    """
    for number, key in enumerate(keys, 1):
        game = archive.game(key)
        head = run.head(game)
        known = set() if again else archive.analysed_plies(game, head)
        store = partial(archive.add_analysis, key, head, again=again)
        run.analyse(game, known, store, partial(progress, f"game {number} of {len(keys)}"))
        if run.is_over:
            break


def write_analysed(
    run: AnalysisRun, games: Sequence[Game], files: Sequence[str], output: str, *, force: bool, progress: Progress
) -> None:
    """Analyse games of files, and write all of them as PGN."""
    from exporters.base import open_output
    from exporters.pgn.exporter import PgnExporter, PgnOptions

    with open_output(output, force, [Path(name) for name in files]) as out:
        PgnExporter(PgnOptions(engine=True)).write(_annotated(run, games, progress), out)


def _annotated(run: AnalysisRun, games: Sequence[Game], progress: Progress) -> Iterator[Game]:
    """The games, with what the engine told of them; the rest as they were when it cannot go on."""
    for number, game in enumerate(games, 1):
        if not run.is_over:
            head = run.head(game)
            positions: list[AnalysedPosition] = []
            run.analyse(game, set(), positions.extend, partial(progress, f"game {number} of {len(games)}"))
            if positions:
                lines = tuple(line for position in positions for line in position.lines)
                game.analyses[:] = [replace(head, lines=lines)]
        yield game
