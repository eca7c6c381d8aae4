"""The anomalies of a log that concern one game."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recorder.model import Anomaly, Game
    from storage import Archive, SourceRow

__all__ = ["anomalies_of_game", "as_told"]


def anomalies_of_game(archive: Archive, game: Game) -> list[Anomaly]:
    """Anomalies of the server's game number between the game's first and last line, and those of no game there."""
    return [
        anomaly
        for row, told in as_told(archive, game)
        for _, anomaly in archive.anomalies(row.id)
        if told.first_offset <= anomaly.offset <= told.last_offset and anomaly.game_no in (told.game_no, None)
    ]


def as_told(archive: Archive, game: Game) -> list[tuple[SourceRow, Game]]:
    """The game as each source tells it, with the source."""
    if not game.witnesses:
        return [(archive.game_sources(game.key)[0], game)]
    from storage import GameFilter

    chosen = GameFilter(keys=frozenset(game.witnesses), kinds=frozenset(), min_plies=0, witnesses=True)
    told = [(one.observations[0].source, one) for one in archive.games(chosen)]
    return [(archive.source(source.sha256), one) for source, one in told if source is not None]
