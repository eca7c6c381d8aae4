"""Where the pages of the site are: every address is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from exporters.report.page import BarItem
from recorder.web.listing import LONGEST, ListState


@dataclass(frozen=True)
class WebSite:
    """The site that ``ics-recorder web`` serves; see ``exporters.report.page.Site``.

    ``listed`` is the list from which the page was reached: its games are the previous and the next one. ``private``:
    lines of logs are shown.
    """

    bar: Sequence[BarItem] = ()
    listed: ListState | None = None
    private: bool = False
    home: str = field(default="/", init=False)
    assets: str = field(default="/assets/", init=False)
    live: str = field(default="/live", init=False)
    picture: None = field(default=None, init=False)

    def game(self, key: str, ply: int | None = None) -> str:
        """The page of a game."""
        return self._with(f"/game/{key}", "" if ply is None else f"ply={ply}")

    def position(self, key: str, ply: int | None = None) -> str | None:
        """The way from a half-move of a game to the explorer of its position."""
        return f"/game/{key}/position{'' if ply is None else f'?ply={ply}'}"

    def all_lines(self, key: str) -> str:
        """The lines of all logs that a game was read from."""
        return self._with(f"/game/{key}/lines")

    def lines(self, key: str, sha256: str) -> str | None:
        """The lines of one of these logs."""
        return f"{self.all_lines(key)}#log-{sha256[:12]}" if self.private else None

    def file(self, key: str, suffix: str) -> str:
        """A game as a file."""
        return f"/game/{key}.{suffix}"

    def player(self, handle: str, server: str | None) -> str | None:
        """The page of a player."""
        if not handle.strip() or len(handle) > LONGEST:
            return None
        query = "" if server is None else urlencode([("server", server)])
        return f"/player/{quote(handle, safe='')}{f'?{query}' if query else ''}"

    def games(self, **filters: str) -> str | None:
        """The list of the games that match filters."""
        if any(len(value) > LONGEST for value in filters.values()):
            return None
        return f"/?{urlencode(filters)}" if filters else "/"

    def listing(self, query: str) -> str:
        """A list by its query."""
        return f"/?{query}" if query else "/"

    def insights(self, query: str = "") -> str:
        """The page of insights, of a measure and filters."""
        return f"/insights{f'?{query}' if query else ''}"

    def explorer(self, query: str = "") -> str:
        """The moves that were played in a position, by the query of a list."""
        return f"/explorer?{query}" if query else "/explorer"

    def download(self, query: str, suffix: str) -> str:
        """The games of a list as a file."""
        return f"/games.{suffix}{f'?{query}' if query else ''}"

    def _with(self, path: str, more: str = "") -> str:
        """An address that keeps the list from which the page was reached."""
        query = "&".join(filter(None, (self.listed.query() if self.listed else "", more)))
        return f"{path}?{query}" if query else path
