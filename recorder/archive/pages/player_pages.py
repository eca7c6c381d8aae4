"""Pages of the players of a site of files: games are read and measures computed for many players at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple

from exporters.report.game_list import FileSite, player_file
from exporters.report.page import BarItem
from recorder.archive.pages.related import games_in_progress
from recorder.archive.pages.reports import ending_of
from storage import ArchiveStore, GameFilter

if TYPE_CHECKING:
    from exporters.report.player import PlayerPage

_FEWEST_GAMES: Final = 2
"""Games of a player with a page: a page about one game would say what the page of the game says."""
PLAYER_GAMES: Final = 2000
"""The most games that a player's page of a site is about: the newest."""
_GAMES_AT_ONCE: Final = 1000
"""Games that are read at once, if no player has more."""


class SitePlayer(NamedTuple):
    """A player with a page.

    Attributes:
        handle: as written in the last game. server: of the games; None: unknown. identity: as ``player_id`` has it.
        games: that the page is about: each one's place in the archive's order, row number and number of plies.
        older: how many games are older. of_guests: how many others are of guests who had this handle.
    """

    handle: str
    server: str | None
    identity: str
    games: list[tuple[int, int, int]]
    older: int
    of_guests: int

    @property
    def file(self) -> str:
        """The name of the page's file."""
        return player_file(self.handle, self.server)


class _Played:
    """The games of one identity."""

    def __init__(self, guest: bool) -> None:
        self.handle = ""
        self.guest = guest
        self.games: list[tuple[int, int, int]] = []
        self.dated = 0


def players_of_games(archive: ArchiveStore, chosen: GameFilter) -> list[SitePlayer]:
    """The players who have a page: of two games or more, by handle and server.

    Guests are never pooled: if a handle was that of several guests and of no registered player, it has no page.

    Args:
        archive: where the games are. chosen: which games.
    Returns:
        The players by handle, in lower case, and server.
    """
    from exporters.tables.tables import open_tables

    found: dict[tuple[str, str | None], dict[str, _Played]] = {}
    with open_tables(archive, chosen, plies=False) as tables:
        for place, (game, facts) in enumerate(zip(tables.games, tables.game_rows(), strict=True)):
            for side in ("white", "black"):
                identities = found.setdefault((facts[side].lower(), facts["server"]), {})
                played = identities.setdefault(facts[f"{side}_id"], _Played(facts[f"{side}_guest"]))
                played.handle = facts[side]
                if played.games[-1:] != [(place, *game)]:  # who plays both sides has one game
                    played.games.append((place, *game))
                    played.dated += facts["day"] is not None or facts["started_ms"] is not None
    ordered = sorted(found.items(), key=lambda one: (one[0][0], one[0][1] or ""))
    players = (_player_of(server, identities) for (handle, server), identities in ordered if handle.strip())
    return [one for one in players if one is not None]


def _player_of(server: str | None, identities: dict[str, _Played]) -> SitePlayer | None:
    """The player of a handle on a server; None: there are several guests, or too few games."""
    guests = [played for played in identities.values() if played.guest]
    own = [(identity, played) for identity, played in identities.items() if not played.guest]
    if not own and len(guests) == 1:
        own, guests = list(identities.items()), []
    if len(own) != 1 or len(own[0][1].games) < _FEWEST_GAMES:
        return None
    ((identity, played),) = own
    places = [*range(played.dated)[::-1], *range(played.dated, len(played.games))][:PLAYER_GAMES]
    games = [played.games[place] for place in sorted(places)]
    of_guests = sum(len(one.games) for one in guests)
    return SitePlayer(played.handle, server, identity, games, len(played.games) - len(games), of_guests)


def pages_of_players(
    archive: ArchiveStore, players: Sequence[SitePlayer], site: FileSite
) -> Iterator[tuple[SitePlayer, bytes]]:
    """The pages of players. Memory holds some thousand games at a time, each of them at most twice.

    Args:
        archive: where the games are. players: as ``players_of_games`` returns them. site: that the pages are part of.
    Yields:
        Each player with the page's bytes.
    """
    from exporters.report.player import player_pages
    from exporters.tables.tables import open_tables

    for run in _runs(players):
        games = [(row_id, plies) for _, row_id, plies in sorted({game for one in run for game in one.games})]
        with open_tables(archive, games=games) as tables:
            in_progress = games_in_progress(archive)
            sides = [row | ending_of(row, in_progress) for row in tables.side_rows()]
            bar = [BarItem("Games", "../index.html", "up")]
            pages = [_page_of(one) for one in run]
            plies = tables.plies().ending(in_progress).gathered()
            yield from zip(run, player_pages(plies, sides, pages, site=replace(site, bar=bar)), strict=True)


def _page_of(player: SitePlayer) -> PlayerPage:
    from exporters.report.player import PlayerPage

    excluded = {
        f"older than the newest {PLAYER_GAMES:,}": player.older,
        "of guests who had this handle": player.of_guests,
    }
    filters = {"player": player.handle, "server": player.server or "unknown"}
    left_out = {reason: number for reason, number in excluded.items() if number}
    return PlayerPage(player.handle, frozenset({player.identity}), left_out, filters)


def _runs(players: Sequence[SitePlayer]) -> Iterator[list[SitePlayer]]:
    """Players with together at most so many games as are read at once; one of more games alone."""
    run: list[SitePlayer] = []
    games = 0
    for player in players:
        if run and games + len(player.games) > _GAMES_AT_ONCE:
            yield run
            run, games = [], 0
        run.append(player)
        games += len(player.games)
    if run:
        yield run
