"""Pages of games, of a player and of an archive: what ``report`` writes and the site shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from recorder.archive.exporting import require_games
from recorder.archive.game_measures import FEW_PLIES, batches_of
from recorder.archive.related import anomalies_of_game, games_in_progress, match_of, of_source
from recorder.text import plural
from storage import GameFilter

if TYPE_CHECKING:
    import pandas as pd

    from exporters.measures.batches import PlyBatches
    from exporters.report.page import Site
    from recorder.archive.exporting import AnyStore

_GAMES_AT_ONCE = 1000
_PLIES_AT_ONCE = 400_000  # a page has many measures, and each of them takes some time for any batch

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


def page_of_game(
    archive: AnyStore,
    spec: str,
    *,
    site: Site | None = None,
    public: bool = False,
    chat: str = "public",
    pictures: bool = True,
) -> ReportPage:
    """The page of one game, of a bughouse match with both boards.

    Args:
        archive: where it is. spec: the beginning of its key, or ``last``.
        site: that the page is part of.
        public: without what is not for others (``storage.maintenance.private``).
        chat: of a public page: ``public``, or ``none``. pictures: whether the page has them; drawing takes a second.
    Raises:
        StorageError: there is no such game, or there are several.
    """
    from exporters.report.game import game_report
    from exporters.tables.facts import with_progress
    from exporters.tables.frames import event_frame, ply_frame

    game = archive.game(spec)
    match, evidence = match_of(archive, game) or (None, "")
    games = [game] if match is None else [match.a, match.b]
    anomalies = [anomalies_of_game(archive, one) for one in games]
    if public:
        from storage.maintenance.private import public_anomaly, public_game

        game, games = public_game(game, chat), [public_game(one, chat) for one in games]
        match = None if match is None else replace(match, a=games[0], b=games[1])
        anomalies = [[public_anomaly(one) for one in found] for found in anomalies]
    chosen = GameFilter(keys=frozenset(one.key for one in games), kinds=frozenset(), min_plies=0)
    chosen = of_source(archive, game, chosen)
    in_progress = games_in_progress(archive)
    html = game_report(
        game,
        match=match,
        evidence=evidence,
        anomalies=anomalies,
        plies=with_progress(ply_frame(archive, chosen), in_progress) if pictures else None,
        events=event_frame(games) if pictures else None,
        in_progress=in_progress,
        site=site,
    )
    return ReportPage(html, f"the report of game {game.key[:8]}")


def page_of_player(
    archive: AnyStore,
    player: str,
    chosen: GameFilter,
    *,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
) -> ReportPage:
    """The page of one player's games.

    Args:
        archive: where they are. player: the handle. chosen: which games.
        site: that the page is part of. filters: ``chosen`` by the names that filters have in the site's addresses.
    Raises:
        StorageError: no game matches.
    """
    from exporters.report.player import games_by_server, player_of_handle, player_report
    from exporters.tables.columns import PLY_COLUMNS
    from exporters.tables.facts import with_progress
    from exporters.tables.frames import side_frame

    excluded = require_games(archive, chosen)
    if chosen.servers:
        counts = [archive.count(replace(one, last=None)) for one in (replace(chosen, servers=frozenset()), chosen)]
        excluded |= {"on other servers": counts[0] - counts[1]} if counts[0] > counts[1] else {}
    with archive.columns() as reader:  # both tables of one moment
        games = reader.games_of(chosen)
        in_progress = games_in_progress(archive)
        sides = with_progress(side_frame(reader, games, player), in_progress)
        of_player = player_of_handle(sides, player)
        batches = batches_of(reader, games, in_progress=in_progress, dates="", rows_at_once=_PLIES_AT_ONCE)
        plies: pd.DataFrame | PlyBatches = batches
        if batches.rows <= FEW_PLIES:  # a frame is computed more quickly
            (plies,) = batches.read([column.name for column in PLY_COLUMNS])
        html = player_report(plies, sides, player=player, excluded=excluded, site=site, filters=filters)
    servers = games_by_server(sides, of_player)
    title = f"the report of {plural(sum(servers.values()), 'game')} of {of_player.handle}"
    return ReportPage(html, title, {**excluded, **of_player.excluded}, servers)


def page_of_archive(archive: AnyStore, chosen: GameFilter) -> ReportPage:
    """The page about the archive: its games, players, time controls and logs.

    Raises:
        StorageError: no game matches.
    """
    from exporters.report.index import index_report
    from exporters.tables.frames import game_rows

    excluded = require_games(archive, chosen)
    with archive.columns(arrow=False) as reader:
        games = reader.games_of(chosen)
        in_progress = games_in_progress(archive)

        def rows(wanted: Sequence[tuple[int, int]]) -> Iterator[dict[str, Any]]:
            for row in game_rows(reader, wanted):
                yield row | {"ending": "in-progress"} if row["key"] in in_progress else row

        html = index_report(
            rows(games),
            lambda places: rows([games[place] for place in places]),
            archive.sources(),
            excluded=excluded,
            most=chosen.last,
        )
    return ReportPage(html, f"the index of {plural(len(games), 'game')}", excluded)
