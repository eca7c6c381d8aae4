"""The site that a page is part of: where its other pages are. A report that is a file of its own has none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

__all__ = ["BarItem", "Site"]


class BarItem(NamedTuple):
    """What the bar at the top of a page contains.

    Attributes:
        text: its words.
        href: where it leads; None: it is a text alone.
        rel: ``prev``, ``next``, ``up`` or nothing.
        here: whether it is the page itself.
        at_ply: whether the page's script adds the shown half-move to the address, as ``ply``.
    """

    text: str
    href: str | None = None
    rel: str = ""
    here: bool = False
    at_ply: bool = False


class Site(Protocol):
    """Addresses of a site's pages. None: the site has no such page."""

    @property
    def home(self) -> str:
        """The address of the first page."""

    @property
    def bar(self) -> Sequence[BarItem]:
        """The bar of the page."""

    def game(self, key: str, ply: int | None = None) -> str | None:
        """The page of a game.

        Args:
            key: of the game, as stored. ply: the half-move that it shows first; None: the start.
        """

    def player(self, handle: str, server: str | None) -> str | None:
        """The page of a player."""

    def lines(self, key: str, sha256: str) -> str | None:
        """The lines of a game in one of its logs; None: they are not shown.

        Args:
            key: of the game. sha256: of the log.
        """

    def games(self, **filters: str) -> str | None:
        """The list of the games that match filters, by the names that they have in addresses."""
