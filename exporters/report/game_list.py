"""Lists of games on a site, and the site of files: addresses of its pages, and its index, which a script searches."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import quote, urlencode

from exporters.report.events import player_words
from exporters.report.page import BarItem, Site, plain_name, render_page, visible
from exporters.report.tables import NOTHING, control_words, day_text, game_kind, result_text
from exporters.tables.facts import reason_words, time_control
from recorder.model import Player, TimeBasis
from recorder.model.games import day_of
from recorder.text import plural
from storage.read.listing import ListedGame

_SEARCHED: Final = frozenset(("player", "opponent", "colour", "outcome", "eco", "time", "variant", "server"))
"""Filters by which the index of a site of files chooses games, by the names that they have in addresses."""
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9]+")
_LONGEST_NAME: Final = 32

_FIRST_ROWS: Final = 100  # games that the index lists without its script
COLUMNS: Final = (
    ("date", "Date", "date"),
    ("white", "White", "who"),
    ("white-rating", "Rating", "number rating"),
    ("black", "Black", "who"),
    ("black-rating", "Rating", "number rating"),
    ("result", "Result", "result"),
    (None, "Ended by", "more"),
    ("time", "Time", "number time"),
    (None, "Kind", "more kind"),
    ("eco", "ECO", "more eco"),
    ("plies", "Plies", "number plies"),
)
"""Of lists of games: the order by it, the heading, and the class."""


def player_file(handle: str, server: str | None) -> str:
    """A name that all file systems have and that differs between players, whatever characters a handle has."""
    folded = handle.lower()
    digits = hashlib.sha256(f"{server or ''}\n{folded}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    words = _NOT_IN_NAMES.sub("-", folded).strip("-")[:_LONGEST_NAME].strip("-")
    return f"{words or 'player'}-{digits}.html"


@dataclass(frozen=True)
class FileSite:
    """A site of files, with relative addresses; ``depth`` counts the folders between the page and the index."""

    keys: frozenset[str]
    players: Mapping[tuple[str, str | None], str] = field(default_factory=dict)
    depth: int = 1
    bar: Sequence[BarItem] = ()
    picture: str | None = None

    @property
    def assets(self) -> str:
        return f"{'../' * self.depth}assets/"

    @property
    def home(self) -> str:
        return f"{'../' * self.depth}index.html"

    def game(self, key: str, ply: int | None = None) -> str | None:
        if key not in self.keys:
            return None
        return f"{'../' * self.depth}games/{key}.html{'' if ply is None else f'?ply={ply}'}"

    def player(self, handle: str, server: str | None) -> str | None:
        """The page of a player, or the index, which then lists the games of the handle."""
        if not handle.strip():
            return None
        name = self.players.get((handle.lower(), server))
        return (
            self.games(player=handle, server=server or "unknown")
            if name is None
            else f"{'../' * self.depth}players/{name}"
        )

    def position(self, key: str, ply: int | None = None) -> str | None:
        return None

    def lines(self, key: str, sha256: str) -> str | None:
        return None

    def games(self, **filters: str) -> str | None:
        if not filters.keys() <= _SEARCHED:
            return None
        query = {name: visible(value) for name, value in filters.items()}  # as the index has them
        return f"{self.home}#{urlencode(query, quote_via=quote, safe='')}"


def index_of_files(games: Sequence[ListedGame], site: Site, in_progress: Collection[str]) -> bytes:
    """Make the index of a site of files: the newest games, and all of them for its script to search."""
    rows = [list_row(game, site, in_progress) for game in games]
    values = {
        "title": "Chess games",
        "description": plural(len(rows), "game"),
        "count": plural(len(rows), "game"),
        "columns": [{"heading": heading, "kind": kind, "href": None, "way": None} for _, heading, kind in COLUMNS],
        "games": rows[:_FIRST_ROWS],
        "form": None,
        "pages": {"previous": None, "next": None},
        **dict.fromkeys(("chosen", "downloads", "scores", "unknown", "unindexed", "without")),
    }
    data = [_searched(game, row) for game, row in zip(games, rows, strict=True)]
    styles, scripts = ("tables.css", "web.css"), ("static_index.js",)
    return render_page("games.html", values, styles=styles, scripts=scripts, data=data, site=site)


def _searched(game: ListedGame, row: dict[str, Any]) -> list[object]:
    """A game of the search index: what ``static_index.js`` shows and what it chooses games by, in its order."""
    white, black = row["white"], row["black"]
    control = time_control(game.base_s, game.increment_s)
    other = None if game.black_base_s is None else time_control(game.black_base_s, game.black_increment_s)
    return [
        row["href"], row["date"], white["name"], white["rating"], white["href"] or "", black["name"], black["rating"],
        black["href"] or "", row["result"], row["reason"], row["time"], row["kind"], row["eco"], row["opening"],
        row["plies"], game.result, game.server or "unknown", game.variant or "", control or "",
        "" if other in (None, control) else other,
    ]  # fmt: skip


def list_row(game: ListedGame, site: Site, in_progress: Collection[str]) -> dict[str, Any]:
    goes_on = game.key in in_progress
    basis = TimeBasis(game.time_basis) if game.time_basis else TimeBasis.NONE
    black = game.black_base_s is not None and (game.black_base_s, game.black_increment_s) != (
        game.base_s,
        game.increment_s,
    )
    control = time_control(game.base_s, game.increment_s)
    return {
        "key": game.key[:8],
        "href": site.game(game.key),
        "date": day_text(game.started_at_ms, basis.value, day_of(game.started_at_ms, basis, game.date_text)),
        "white": _player(game, "white", site),
        "black": _player(game, "black", site),
        "won": {"1-0": "white", "0-1": "black"}.get(game.result),
        "result": result_text(game.result, "in progress" if goes_on else game.ending),
        "reason": reason_words(game.reason_key) or game.reason or NOTHING,
        "sentence": game.reason or "unknown",
        "time": (_short(control) if control else NOTHING) + (" *" if black else ""),
        "control": control_words(control) if control else "unknown",
        "kind": game_kind({**game._asdict(), "rated": None if game.rated is None else bool(game.rated)}),
        "eco": game.eco or NOTHING,
        "opening": game.opening or "",
        "plies": f"{game.ply_count:,}",
        "complete": goes_on or bool(game.complete),
    }  # fmt: skip


def _short(control: str) -> str:
    """``3+2`` for 180+2: minutes and seconds as players say it; a base time of no whole minutes in seconds."""
    base, _, increment = control.partition("+")
    if not base.isdigit():
        return "untimed"
    minutes, rest = divmod(int(base), 60)
    return f"{base} s+{increment}" if rest else f"{minutes}+{increment}"


def _player(game: ListedGame, side: str, site: Site) -> dict[str, Any]:
    names = ("", "_rating_text", "_rating", "_titles", "_registered")
    handle, rating_text, rating, titles, registered = (getattr(game, f"{side}{name}") for name in names)
    player = Player(handle, rating_text, rating, titles, None if registered is None else bool(registered))
    return {
        "name": plain_name(handle),
        "href": site.player(handle, game.server),
        "rating": NOTHING if rating is None else str(rating),
        "marks": player_words(player),
    }
