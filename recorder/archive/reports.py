"""Pages for the browser about a game, a player or a whole archive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from exporters.report.game import game_report
from exporters.report.index import index_report
from exporters.report.player import games_by_server, player_report, who_is_meant
from exporters.tables.facts import with_progress
from exporters.tables.frames import events_of, game_frame, plies_of, ply_frame, side_frame
from recorder.archive.exporting import require_games
from recorder.archive.related import anomalies_of_game, games_in_progress, match_of
from recorder.text import plural
from storage import GameFilter

if TYPE_CHECKING:
    from storage import ArchiveStore

__all__ = ["ReportPage", "page_of_archive", "page_of_game", "page_of_player"]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page and what it is about.

    Attributes:
        html: the file's bytes.
        title: what it is, as ``the report of game 5b26a0f1``.
        excluded: games or plies that are not counted, by reason.
        servers: how many games of a player each server has.
    """

    html: bytes
    title: str
    excluded: Mapping[str, int] = field(default_factory=dict)
    servers: Mapping[str, int] = field(default_factory=dict)


def page_of_game(archive: ArchiveStore, spec: str) -> ReportPage:
    """The page of one game, of a bughouse match with both boards.

    Raises:
        StorageError: there is no such game, or there are several.
    """
    game = archive.game(spec)
    match, evidence = match_of(archive, game) or (None, "")
    games = [game] if match is None else [match.a, match.b]
    chosen = GameFilter(keys=frozenset(one.key for one in games), kinds=frozenset(), min_plies=0)
    in_progress = games_in_progress(archive)
    html = game_report(
        game,
        match=match,
        evidence=evidence,
        anomalies=[anomalies_of_game(archive, one) for one in games],
        plies=with_progress(ply_frame(archive, chosen), in_progress),
        events=events_of(archive, chosen),
        in_progress=in_progress,
    )
    return ReportPage(html, f"the report of game {game.key[:8]}")


def page_of_player(archive: ArchiveStore, player: str, chosen: GameFilter) -> ReportPage:
    """The page of one player's games.

    Raises:
        StorageError: no game matches.
    """
    excluded = require_games(archive, chosen)
    if chosen.servers:
        counts = [archive.count(replace(one, last=None)) for one in (replace(chosen, servers=frozenset()), chosen)]
        excluded |= {"on other servers": counts[0] - counts[1]} if counts[0] > counts[1] else {}
    with archive.columns() as reader:  # both tables of one moment
        games = reader.games_of(chosen)
        sides, plies = side_frame(reader, games), plies_of(reader, [row_id for row_id, _ in games])
    someone = who_is_meant(sides, player)
    in_progress = games_in_progress(archive)
    plies, sides = with_progress(plies, in_progress), with_progress(sides, in_progress)
    html = player_report(plies, sides, player=player, left_out=excluded)
    servers = games_by_server(sides, someone)
    title = f"the report of {plural(sum(servers.values()), 'game')} of {someone.handle}"
    return ReportPage(html, title, {**excluded, **someone.excluded}, servers)


def page_of_archive(archive: ArchiveStore, chosen: GameFilter) -> ReportPage:
    """The page about the archive: its games, players, time controls and logs.

    Raises:
        StorageError: no game matches.
    """
    excluded = require_games(archive, chosen)
    with archive.columns(arrow=False) as reader:
        rows = reader.games_of(chosen)
        games, sides = game_frame(reader, rows), side_frame(reader, rows)
    games = with_progress(games, games_in_progress(archive))
    html = index_report(games, sides, archive.sources(), left_out=excluded, most=chosen.last)
    return ReportPage(html, f"the index of {plural(len(games), 'game')}", excluded)
