"""The server, site and user of a session.

A banner decides the family, else the prompt and the shape of the frames. A log may hold several sessions, so every game
keeps what was known when it began.
"""

from __future__ import annotations

from typing import NamedTuple

from recorder.dialects.session import Family, detect_dialect
from recorder.events.frames import Style12


class SessionFacts(NamedTuple):
    server: str | None
    dialect: str | None
    me: str | None


class ServerSession:
    """One login's session; every game keeps the session that it began in.

    ``hosts`` are offsets and hosts of connections, which name the site if nothing else does; ``prompts`` is at most
    one, the first of the server's own prompts that stood alone, with its offset. It counts only for what is concluded
    behind it, so the pieces in which bytes arrive do not matter. Both are shared with ``before``, another session of
    the same source, and the pipeline appends to them. ``tokens`` is the number of tokens of the first whole frame, tag
    included.
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
        if self.tokens is None and not frame.partial:
            self.tokens = len(frame.tail) + 9

    @property
    def family_now(self) -> Family | None:
        """The server's family as far as banner and frames show it; None: they do not."""
        dialect = detect_dialect(self.family, None, self.tokens)
        return None if dialect is None else dialect.family

    @property
    def lag_meaningless(self) -> bool:
        dialect = detect_dialect(self.family, None, None)
        return dialect is not None and dialect.lag_meaningless

    def facts(self, offset: int, begun: int) -> SessionFacts:
        """As known at ``offset``, for a game that begins at ``begun``: the connection before it names the host."""
        host = next((host for where, host in reversed(self.hosts) if where < begun), None)
        prompt = next((text for text, where in self.prompts if where < offset), None)
        dialect = detect_dialect(self.family, prompt, self.tokens)
        site = self.server or (dialect.site if dialect is not None else None) or host
        return SessionFacts(site, dialect.name if dialect is not None else None, self.me)
