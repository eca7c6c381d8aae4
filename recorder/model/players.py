"""Who plays: a name, a rating and titles as a game's lines print them."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["Player", "is_forgotten"]

_TITLE_WORD = re.compile(r"[A-Za-z]+|\*")
_GUEST = re.compile(r"guest(?:[a-z]{4}|[0-9]+)", re.IGNORECASE | re.ASCII)


class Player(NamedTuple):
    """A player as this game's lines print them. ``rating`` None: no number was printed."""

    handle: str
    rating_text: str | None = None
    rating: int | None = None
    titles: str | None = None
    registered: bool | None = None
    sealed: bool | None = None

    @property
    def title_words(self) -> list[str]:
        """The titles one by one: ``(GM)(*)`` → ``GM``, ``*``."""
        return _TITLE_WORD.findall(self.titles) if self.titles else []

    @property
    def is_computer(self) -> bool:
        """Whether the server marks the player as a computer, ``(C)``."""
        return "C" in self.title_words

    @property
    def is_guest(self) -> bool:
        """Whether the player is not registered.

        As gameinfo says; else by the title ``(U)``, the rating ``++++``, or a handle as servers give to guests
        (``GuestABCD``, ``guest123``).
        """
        if self.registered is not None:
            return not self.registered
        printed = self.rating_text is not None and self.rating_text.strip() == "++++"
        return printed or "U" in self.title_words or _GUEST.fullmatch(self.handle) is not None


def is_forgotten(*handles: str) -> bool:
    """Whether one of these stands for a handle that is forgotten: ``X`` and underscores, which no server allows."""
    return any(handle[1:2] == "_" and not handle.strip("_")[1:] for handle in handles)
