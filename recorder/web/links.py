"""Where the pages of the site are: every address is made here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode

from exporters.report.page import BarItem
from recorder.web.listing import LONGEST, ListState


@dataclass(frozen=True)
class WebSite:
    """``listed`` is the list from which the page was reached; ``private``: lines of logs are shown."""

    bar: Sequence[BarItem] = ()
    listed: ListState | None = None
    private: bool = False
    home: str = field(default="/", init=False)
    assets: str = field(default="/assets/", init=False)
    live: str = field(default="/live", init=False)
    picture: None = field(default=None, init=False)

    def game(self, key: str, ply: int | None = None) -> str:
        return self._with(f"/game/{key}", "" if ply is None else f"ply={ply}")

    def position(self, key: str, ply: int | None = None) -> str | None:
        return f"/game/{key}/position{'' if ply is None else f'?ply={ply}'}"

    def all_lines(self, key: str) -> str:
        return self._with(f"/game/{key}/lines")

    def lines(self, key: str, sha256: str) -> str | None:
        return f"{self.all_lines(key)}#log-{sha256[:12]}" if self.private else None

    def file(self, key: str, suffix: str) -> str:
        return f"/game/{key}.{suffix}"

    def player(self, handle: str, server: str | None) -> str | None:
        if not handle.strip() or len(handle) > LONGEST:
            return None
        query = "" if server is None else urlencode([("server", server)])
        return f"/player/{quote(handle, safe='')}{f'?{query}' if query else ''}"

    def games(self, **filters: str) -> str | None:
        if any(len(value) > LONGEST for value in filters.values()):
            return None
        return f"/?{urlencode(filters)}" if filters else "/"

    def listing(self, query: str) -> str:
        return f"/?{query}" if query else "/"

    def insights(self, query: str = "") -> str:
        return f"/insights{f'?{query}' if query else ''}"

    def explorer(self, query: str = "") -> str:
        return f"/explorer?{query}" if query else "/explorer"

    def download(self, query: str, suffix: str) -> str:
        return f"/games.{suffix}{f'?{query}' if query else ''}"

    def _with(self, path: str, more: str = "") -> str:
        """An address that keeps the list from which the page was reached."""
        query = "&".join(filter(None, (self.listed.query() if self.listed else "", more)))
        return f"{path}?{query}" if query else path
