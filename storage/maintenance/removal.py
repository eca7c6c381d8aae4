"""Deleting games and sources, in order of dependence: bulk connections have no cascades."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, ScalarSelect, Select, delete, func, or_, select, update

from storage.analyses import has_analyses
from storage.files import driver_of
from storage.schema import tables as models
from storage.settings import DECISIONS, decisions
from storage.write.merged import dissolve, touch_others

__all__ = [
    "ForgetReport",
    "delete_analyses",
    "delete_decisions",
    "delete_games",
    "delete_source",
    "delete_unused_players",
]

_OF_OBSERVATIONS = (models.events, models.holdings, models.thinking, models.anchors, models.ply_lines)


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
    """Delete games with all that hangs on them, and games that were made of them and others.

    Args:
        connection: in a transaction.
        ids: a query that gives the row numbers.
    Returns:
        How many games, observations and plies went.
    """
    links, games, segments, seen = models.game_links, models.games, models.segments, models.observations
    chosen = ids.scalar_subquery()
    merged = select(games.c.merged_into).where(games.c.id.in_(chosen), games.c.merged_into.is_not(None)).distinct()
    dissolve(driver_of(connection), list(connection.scalars(merged)))
    touch_others(driver_of(connection), list(connection.scalars(ids)))
    watched = select(seen.c.id).where(seen.c.game_id.in_(chosen)).scalar_subquery()
    connection.execute(delete(links).where(or_(links.c.game_id.in_(chosen), links.c.other_game_id.in_(chosen))))
    connection.execute(delete(segments).where(segments.c.game_id.in_(chosen)))
    plies = _delete_plies(connection, watched)
    for table in _OF_OBSERVATIONS:
        connection.execute(delete(table).where(table.c.observation_id.in_(watched)))
    observations = connection.execute(delete(seen).where(seen.c.game_id.in_(chosen))).rowcount
    return connection.execute(delete(games).where(games.c.id.in_(chosen))).rowcount, observations, plies


def _delete_plies(connection: Connection, watched: ScalarSelect[int]) -> int:
    """Delete the plies of observations; neighbouring lines go in one statement."""
    lines = models.ply_lines.c
    query = select(lines.first_ply_id, lines.ply_count).where(lines.observation_id.in_(watched), lines.ply_count > 0)
    runs: list[tuple[int, int]] = []
    for first, count in connection.execute(query.order_by(lines.first_ply_id)):
        if runs and runs[-1][1] == first:
            runs[-1] = (runs[-1][0], first + count)
        else:
            runs.append((first, first + count))
    if runs:
        connection.exec_driver_sql("DELETE FROM plies WHERE id >= ? AND id < ?", runs)
    return sum(end - first for first, end in runs)


def delete_unused_players(connection: Connection) -> int:
    """Delete players without a game; returns how many."""
    # By the driver, also here: the writer of games in progress begins its transactions itself.
    unused = "DELETE FROM players WHERE id NOT IN (SELECT white_id FROM games UNION SELECT black_id FROM games)"
    return driver_of(connection).execute(unused).rowcount


def delete_analyses(connection: Connection, ids: Select[tuple[int]]) -> None:
    """Delete the analyses of games that are to be taken out for good.

    Where other sources tell the same game, which stays then, they are kept for that.

    Args:
        connection: in a transaction. ids: a query that gives the row numbers, before anything of them is deleted.
    """
    if not has_analyses(driver_of(connection)):
        return
    games, analyses, positions, lines = (
        models.games.c, models.analyses, models.analysed_positions, models.analysis_lines,
    )  # fmt: skip
    chosen, others = ids.scalar_subquery(), models.games.alias().c
    stays = (
        select(func.min(others.key))
        .where(others.merged_into == games.merged_into, others.source_id.is_not(None), others.id.not_in(chosen))
        .scalar_subquery()
    )
    named = games.key.in_(select(analyses.c.game_key))
    for key, other in connection.execute(select(games.key, stays).where(games.id.in_(chosen), named)).all():
        mine = analyses.c.game_key == key
        if other is not None:
            connection.execute(update(analyses).where(mine).values(game_key=other))
            continue
        of_key = select(positions.c.id).join(analyses, analyses.c.id == positions.c.analysis_id).where(mine)
        connection.execute(delete(lines).where(lines.c.position_id.in_(of_key)))
        connection.execute(delete(positions).where(positions.c.id.in_(of_key)))
        connection.execute(delete(analyses).where(mine))


def delete_decisions(connection: Connection, ids: Select[tuple[int]]) -> None:
    """Delete the decisions about games that are to be taken out for good.

    Args:
        connection: in a transaction. ids: a query that gives the row numbers, before anything of them is deleted.
    """
    games, settings = models.games.c, models.settings
    keys = set(connection.scalars(select(games.key).where(games.id.in_(ids.scalar_subquery()))))
    for one in decisions(driver_of(connection)):
        if not keys.isdisjoint((one.key, one.other)):
            connection.execute(delete(settings).where(settings.c.name == f"{DECISIONS}{one.key}:{one.other}"))


def delete_source(connection: Connection, row_id: int) -> ForgetReport:
    """Delete a source for good: its bytes, counts, games with their analyses, players that have no other game."""
    source = models.sources.c
    name, kept_bytes = connection.execute(select(source.name, source.kept_bytes).where(source.id == row_id)).one()
    mine = select(models.games.c.id).where(models.games.c.source_id == row_id)
    delete_analyses(connection, mine)
    delete_decisions(connection, mine)
    games, observations, plies = delete_games(connection, mine)
    for table in (models.source_chunks, models.source_counts, models.source_shapes, models.anomalies):
        connection.execute(delete(table).where(table.c.source_id == row_id))
    connection.execute(delete(models.sources).where(source.id == row_id))
    return ForgetReport(name, games, observations, plies, kept_bytes, delete_unused_players(connection))
