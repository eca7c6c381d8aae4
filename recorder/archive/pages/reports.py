"""Pages of games, of a player and of an archive: what ``report`` writes and the site shows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from recorder.archive.exporting import require_games
from recorder.archive.pages.related import anomalies_of_game, games_in_progress, match_of
from recorder.errors import ExportError
from recorder.text import plural
from storage import EVERY_GAME, GameFilter
from storage.dataset.reading import DatasetStore

if TYPE_CHECKING:
    from exporters.report.page import Site
    from exporters.report.player import BoardsOf
    from recorder.model import Game
    from storage import GameStore

_GAMES_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A page; ``title`` is like ``the report of game 5b26a0f1``, ``servers`` counts a player's games by server."""

    html: bytes
    title: str
    excluded: Mapping[str, int] = field(default_factory=dict)
    servers: Mapping[str, int] = field(default_factory=dict)


def page_of_game(
    archive: GameStore,
    spec: str,
    *,
    site: Site | None = None,
    public: bool = False,
    chat: str = "public",
    ply: int | None = None,
) -> ReportPage:
    """The page of one game, of a match both boards; ``public``: without what is not for others."""
    from exporters.report.game import game_report

    game = archive.game(spec)
    match, evidence = match_of(archive, game) or (None, "")
    games = [game] if match is None else [match.a, match.b]
    anomalies = [anomalies_of_game(archive, game) for game in games]
    if public:
        from storage.maintenance.private import public_anomaly, public_game

        game, games = public_game(game, chat), [public_game(game, chat) for game in games]
        match = None if match is None else replace(match, a=games[0], b=games[1])
        anomalies = [[public_anomaly(entry) for entry in anomaly] for anomaly in anomalies]
    html = game_report(
        game,
        match=match,
        evidence=evidence,
        anomalies=anomalies,
        in_progress=games_in_progress(archive),
        site=site,
        ply=ply,
    )
    return ReportPage(html, f"the report of game {game.key[:8]}")


def picture_of_game(
    archive: GameStore, game: Game, kind: str, *, check: Callable[[], None] = lambda: None, **look: Any
) -> bytes:
    """As GIF, WebP or MP4, or the last position as PNG; ``look`` is of ``Look``, ``check`` called for each picture."""
    try:
        from exporters.moving_picture import Film, Look, write_film
    except ImportError as error:
        if error.name != "PIL":
            raise
        raise ExportError("Pictures of games need Pillow: pip install 'ics-recorder[gif]'.") from error
    match, _ = match_of(archive, game) or (None, "")
    film = Film(game, match, Look(**look), in_progress=game.key in games_in_progress(archive))
    return film.still() if kind == "png" else write_film(film, kind, check)


def page_of_player(
    archive: GameStore,
    player: str,
    chosen: GameFilter,
    *,
    site: Site | None = None,
    filters: Mapping[str, str] | None = None,
    form: Mapping[str, Any] | None = None,
    versus: tuple[str, GameFilter, Mapping[str, str]] | None = None,
) -> ReportPage:
    """``filters`` is ``chosen`` by the names of the site's addresses, ``versus`` is of another player."""
    from exporters.report.player import player_values, render_player
    from exporters.tables.tables import open_tables

    def read(player: str, chosen: GameFilter, filters: Mapping[str, str] | None) -> dict[str, Any]:
        excluded = require_games(archive, chosen)
        if chosen.servers:
            counts = [archive.count(replace(one, last=None)) for one in (replace(chosen, servers=frozenset()), chosen)]
            excluded |= {"on other servers": counts[0] - counts[1]} if counts[0] > counts[1] else {}
        with open_tables(archive, chosen) as tables:
            in_progress = games_in_progress(archive)
            sides = [row | ending_of(row, in_progress) for row in tables.side_rows(player)]
            about: Any = {"excluded": excluded, "site": site, "filters": filters, "boards": boards_of(archive)}
            return player_values(tables.plies().ending(in_progress), sides, player=player, **about)

    values = read(player, chosen, filters)
    html = render_player(values, site, versus=read(*versus) if versus else None, form=form)
    page, servers = values["page"], values["servers"]
    title = f"the report of {plural(sum(servers.values()), 'game')} of {page.handle}"
    return ReportPage(html, title, page.excluded, servers)


def boards_of(archive: GameStore) -> BoardsOf:
    """Reads boards of an archive's games; a data set has no lines to play."""
    from recorder.model.boards import boards_by_ply

    def read(places: Sequence[tuple[str, int]]) -> dict[tuple[str, int], str]:
        if isinstance(archive, DatasetStore):
            return {}
        keys = frozenset(key for key, _ in places)
        boards = {game.key: boards_by_ply(game) for game in archive.games(replace(EVERY_GAME, keys=keys))}
        return {(key, ply): boards[key][ply] for key, ply in places if key in boards and ply in boards[key]}

    return read


def ending_of(row: Mapping[str, Any], in_progress: Collection[str]) -> dict[str, str]:
    return {"ending": "in-progress"} if row["key"] in in_progress else {}


def page_of_archive(archive: GameStore, chosen: GameFilter) -> ReportPage:
    from exporters.report.index import index_report
    from exporters.tables.tables import open_tables

    excluded = require_games(archive, chosen)
    with open_tables(archive, chosen, plies=False) as tables:
        query = partial(tables.query_games, in_progress=games_in_progress(archive))
        html = index_report(query, archive.sources(), excluded=excluded, most=chosen.last)
        games = tables.games
    return ReportPage(html, f"the index of {plural(len(games), 'game')}", excluded)
