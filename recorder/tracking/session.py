"""Whose session it is: the server's family, its site and our handle, as of each place in the stream.

A banner decides the family, else the prompt and the shape of the frames. A log may hold several sessions, so every game
keeps what was known when it began.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from recorder.dialects.registry import Family, detect_dialect
from recorder.frames import Style12

__all__ = ["Session", "SessionFacts"]


class SessionFacts(NamedTuple):
    """What a game keeps of its session: the site, the family's name, our handle."""

    server: str | None
    dialect: str | None
    me: str | None


class Session:
    """One login's session; every game keeps the session that it began in.

    Args:
        server: the site's name where the user gave it. family: what the banner told, or None.
        hosts: whom the connections were made to, behind the places that tell it; the site's name where nothing else
            does. The sessions of a source have one list, and whoever reads it adds to it.

    Attributes:
        me: our handle. tokens: of the first whole frame, tag included.
        prompt: the first of the servers' own prompts that stood alone, and its offset; set by whoever splits lines. It
            counts only for what is concluded behind it, so the pieces in which bytes arrive do not matter.
    """

    def __init__(
        self,
        server: str | None,
        family: str | None = None,
        me: str | None = None,
        hosts: list[tuple[int, str]] | None = None,
    ) -> None:
        self.server = server
        self.hosts = [] if hosts is None else hosts
        self.family = family
        self.me = me
        self.tokens: int | None = None
        self.prompt: tuple[str, int] | None = None

    def look(self, frame: Style12) -> None:
        """Note the shape of a frame."""
        if self.tokens is None and not frame.partial:
            self.tokens = len(frame.tail) + 9

    @property
    def family_now(self) -> Family | None:
        """The server's family as far as banner and frames tell it."""
        dialect = detect_dialect(self.family, None, self.tokens)
        return None if dialect is None else dialect.family

    @property
    def lag_meaningless(self) -> bool:
        """Whether this server prints a lag that means nothing."""
        dialect = detect_dialect(self.family, None, None)
        return dialect is not None and dialect.lag_meaningless

    def facts(self, offset: int, begun: int) -> SessionFacts:
        """What is known at a place of the source of what began at another."""
        host = next((host for place, host in reversed(self.hosts) if place < begun), None)
        prompt = self.prompt[0] if self.prompt is not None and self.prompt[1] < offset else None
        dialect = detect_dialect(self.family, prompt, self.tokens)
        site = self.server or (dialect.site if dialect is not None else None) or host
        return SessionFacts(site, dialect.name if dialect is not None else None, self.me)

    def saved(self) -> list[Any]:
        """The session as JSON keeps it."""
        return [self.family, self.me, self.tokens, self.prompt]

    def load(self, saved: list[Any]) -> None:
        """Take what ``saved`` gave."""
        self.family, self.me, self.tokens, prompt = saved
        self.prompt = None if prompt is None else (prompt[0], prompt[1])
