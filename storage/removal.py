"""Deleting games and sources. Explicit and in order of dependence: bulk connections have no cascades."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, Select, delete, or_, select, union

from storage import models

__all__ = ["ForgetReport", "delete_games", "delete_source", "delete_unused_players"]

_OF_OBSERVATIONS = (models.events, models.holdings, models.anchors, models.plies, models.ply_lines)


@dataclass(frozen=True)
class ForgetReport:
    """What ``Archive.forget_source`` removed."""

    name: str
    games: int
    observations: int
    plies: int
    kept_bytes: int
    players: int


def delete_games(connection: Connection, ids: Select[tuple[int]]) -> tuple[int, int, int]:
    """Delete games with all that hangs on them.

    Args:
        connection: in a transaction.
        ids: a query that gives the row numbers.
    Returns:
        How many games, observations and plies went.
    """
    links, games, segments, seen = models.game_links, models.games, models.segments, models.observations
    chosen = ids.scalar_subquery()
    watched = select(seen.c.id).where(seen.c.game_id.in_(chosen)).scalar_subquery()
    connection.execute(delete(links).where(or_(links.c.game_id.in_(chosen), links.c.other_game_id.in_(chosen))))
    connection.execute(delete(segments).where(segments.c.game_id.in_(chosen)))
    plies = 0
    for table in _OF_OBSERVATIONS:
        done = connection.execute(delete(table).where(table.c.observation_id.in_(watched)))
        plies += done.rowcount if table is models.plies else 0
    observations = connection.execute(delete(seen).where(seen.c.game_id.in_(chosen))).rowcount
    return connection.execute(delete(games).where(games.c.id.in_(chosen))).rowcount, observations, plies


def delete_unused_players(connection: Connection) -> int:
    """Delete players without a game; returns how many."""
    used = union(select(models.games.c.white_id), select(models.games.c.black_id))
    return connection.execute(delete(models.players).where(models.players.c.id.not_in(used))).rowcount


def delete_source(connection: Connection, row_id: int) -> ForgetReport:
    """Delete a source, its bytes, counts and games, and players that have no other game."""
    source = models.sources.c
    name, kept_bytes = connection.execute(select(source.name, source.kept_bytes).where(source.id == row_id)).one()
    games, observations, plies = delete_games(
        connection, select(models.games.c.id).where(models.games.c.source_id == row_id)
    )
    for table in (models.source_chunks, models.source_counts, models.source_shapes, models.anomalies):
        connection.execute(delete(table).where(table.c.source_id == row_id))
    connection.execute(delete(models.sources).where(source.id == row_id))
    return ForgetReport(name, games, observations, plies, kept_bytes, delete_unused_players(connection))
