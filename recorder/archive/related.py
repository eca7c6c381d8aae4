"""What belongs to a game: examinations, anomalies of its log, and whether it is in progress."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recorder.model import Game, GameKind, LinkKind

if TYPE_CHECKING:
    from recorder.model import Anomaly
    from storage import ArchiveStore, SourceRow

__all__ = ["anomalies_of_game", "as_told", "examinations", "games_in_progress"]


def examinations(archive: ArchiveStore, game: Game) -> list[tuple[str, Game, str]]:
    """Games that are linked with one by an examination, as the archive says, else as the games of its players tell.

    Returns:
        For each a word for what it is (``Examination of``, ``Examined in``), the game, and what tells it.
    """
    from recorder.relating.examined import link_examined
    from storage import GameFilter

    told = [link for link in game.links if link.kind is LinkKind.EXAMINED]
    played = game.kind is GameKind.PLAYED
    word = "Examined in" if played else "Examination of"
    if told:
        return [(word, archive.game(link.key), link.evidence) for link in told]
    players = GameFilter(
        players=frozenset((game.white.handle, game.black.handle)), kinds=frozenset({GameKind.EXAMINED})
    )
    shown = list(archive.games(players)) if played else [game]
    if not shown or game.kind is GameKind.SETUP:
        return []
    found = {
        other.key: other for other in (*shown, *archive.games(replace(players, kinds=frozenset({GameKind.PLAYED}))))
    }
    links = link_examined(list(found.values()))
    mine, others = (1, 0) if played else (0, 1)
    return [(word, found[link[others]], link[2]) for link in links if link[mine] == game.key]


def games_in_progress(archive: ArchiveStore) -> frozenset[str]:
    """Keys of the games that a log leaves without an end while it is still being written.

    A journal is being written as long as its recorder runs; another log as long as it is there and was not read to an
    end that is final.
    """
    growing = [row.sha256 for row in archive.sources() if row.unfinished and _is_growing(row)]
    return archive.unended(growing) if growing else frozenset()


def _is_growing(row: SourceRow) -> bool:
    if row.path is None:
        return False
    from recorder.journal.parts import find_part, is_being_written  # a listing seldom needs them
    from recorder.sources import is_journal, log_files

    path = Path(row.path)
    if not is_journal(path):
        return path.exists()
    path = find_part(path)
    return path.exists() and is_being_written(log_files(path)[-1])


def anomalies_of_game(archive: ArchiveStore, game: Game) -> list[Anomaly]:
    """Anomalies of the server's game number between the game's first and last line, and those of no game there."""
    return [
        anomaly
        for row, told in as_told(archive, game)
        for _, anomaly in archive.anomalies(row.id)
        if told.first_offset <= anomaly.offset <= told.last_offset and anomaly.game_no in (told.game_no, None)
    ]


def as_told(archive: ArchiveStore, game: Game) -> list[tuple[SourceRow, Game]]:
    """The game as each source tells it, with the source."""
    if not game.witnesses:
        return [(archive.game_sources(game.key)[0], game)]
    from storage import GameFilter

    chosen = GameFilter(keys=frozenset(game.witnesses), kinds=frozenset(), min_plies=0, witnesses=True)
    told = [(one.observations[0].source, one) for one in archive.games(chosen)]
    return [(archive.source(source.sha256), one) for source, one in told if source is not None]
