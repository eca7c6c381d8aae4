"""The server, site and user of a session.

A banner decides the family, else the prompt and the shape of the frames. A log may hold several sessions, so every game
keeps what was known when it began.
"""

from __future__ import annotations

from typing import NamedTuple

from recorder.dialects.session import Family, detect_dialect
from recorder.events.frames import Style12


class SessionFacts(NamedTuple):
    """What a game keeps of its session: the site, the family's name, our handle."""

    server: str | None
    dialect: str | None
    me: str | None


class ServerSession:
    """One login's session; every game keeps the session that it began in.

    Args:
        server: the site's name if the user gave it.
        family: of the banner, or None.
        before: another session of the same source; they share ``hosts`` and ``prompts``, to which the pipeline appends.

    Attributes:
        hosts: offsets and hosts of connections; the site's name if nothing else gives it.
        prompts: at most one, the first of the servers' own prompts that stood alone, and its offset. It counts only
            for what is concluded behind it, so the pieces in which bytes arrive do not matter.
        me: our handle.
        tokens: of the first whole frame, tag included.
    """

    def __init__(
        self,
        server: str | None,
        family: str | None = None,
        me: str | None = None,
        before: ServerSession | None = None,
    ) -> None:
        self.server = server
        self.hosts: list[tuple[int, str]] = [] if before is None else before.hosts
        self.prompts: list[tuple[str, int]] = [] if before is None else before.prompts
        self.family = family
        self.me = me
        self.tokens: int | None = None

    def look(self, frame: Style12) -> None:
        """Note the shape of the first whole frame, which differs between families of servers.

        Args:
            frame: of this session.
        """
        if self.tokens is None and not frame.partial:
            self.tokens = len(frame.tail) + 9

    @property
    def family_now(self) -> Family | None:
        """The server's family as far as banner and frames show it; None: they do not."""
        dialect = detect_dialect(self.family, None, self.tokens)
        return None if dialect is None else dialect.family

    @property
    def lag_meaningless(self) -> bool:
        """Whether this server prints a lag that means nothing."""
        dialect = detect_dialect(self.family, None, None)
        return dialect is not None and dialect.lag_meaningless

    def facts(self, offset: int, begun: int) -> SessionFacts:
        """What is known at one place of the source about a game that began at another.

        Args:
            offset: the place; prompts after it do not count.
            begun: offset of the game's first line; the connection before it gives the host.

        Returns:
            Server, dialect and our handle; each None where unknown.
        """
        host = next((host for place, host in reversed(self.hosts) if place < begun), None)
        prompt = next((text for text, place in self.prompts if place < offset), None)
        dialect = detect_dialect(self.family, prompt, self.tokens)
        site = self.server or (dialect.site if dialect is not None else None) or host
        return SessionFacts(site, dialect.name if dialect is not None else None, self.me)
