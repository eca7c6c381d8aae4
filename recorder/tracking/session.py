"""The server, site and user of a session, and the state from which a log that has grown is continued.

A banner decides the family, else the prompt and the shape of the frames. A log may hold several sessions, so every game
keeps what was known when it began.

Reading continues at the first line of the oldest game in progress (``offset``), not at the end of the lines read
(``mark``): the lines between are read again, so that those games are rebuilt whole. Counts and emitted
games are remembered: lines before the mark are not counted twice, and games that were emitted but reach over the
restart point are muted there. What a game took from lines before the restart point is saved with the state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, Any, NamedTuple

from recorder.dialects.session import Family, detect_dialect
from recorder.events import Event, MovelistRead, RatingText
from recorder.events.frames import Style12
from recorder.model import Disposition, Game, ObservationKind
from recorder.tracking.facts import Announcement, HeaderFacts, Starting, TableRow

if TYPE_CHECKING:
    from recorder.tracking.boards import Boards

__all__ = [
    "EmittedGames",
    "Resumed",
    "ServerSession",
    "SessionFacts",
    "dump_counts",
    "dump_facts",
    "dump_waiting",
    "load_counts",
    "load_facts",
    "load_waiting",
]


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

    def saved(self) -> list[Any]:
        """The session as JSON keeps it.

        Returns:
            The state for ``load``.
        """
        return [self.family, self.me, self.tokens, next(iter(self.prompts), None)]

    def load(self, saved: list[Any]) -> None:
        """Take what ``saved`` gave.

        Args:
            saved: of an earlier session of this source.
        """
        self.family, self.me, self.tokens, prompt = saved
        self.prompts[:] = [] if prompt is None else [(prompt[0], prompt[1])]


_MOST_GAMES = 512


class _Emitted(NamedTuple):
    """An emitted game: its stretch of the source, the offsets of its lists, and its players."""

    game_no: int | None
    first: int
    last: int
    lists: list[int]
    announcement: Announcement | None
    players: list[str]


class EmittedGames:
    """The emitted games, as far as a restart could fall into them or before them."""

    def __init__(self) -> None:
        self._games: list[_Emitted] = []
        self._most = _MOST_GAMES

    def add(self, game: Game, announcement: Announcement | None, oldest_unfinished: Callable[[], int]) -> None:
        """Add a game; now and then forget those that end before the oldest game in progress.

        Args:
            game: just emitted.
            announcement: what its first board found waiting; None: it had no board.
            oldest_unfinished: returns the offset of the oldest game in progress.
        """
        lists = [seen.offset for seen in game.observations if seen.kind is ObservationKind.MOVELIST]
        players = [game.white.handle.lower(), game.black.handle.lower()]
        self._games.append(_Emitted(game.game_no, game.first_offset, game.last_offset, lists, announcement, players))
        if len(self._games) > self._most:
            oldest = oldest_unfinished()
            self._games = [given for given in self._games if given.last >= oldest]
            self._most = len(self._games) + _MOST_GAMES

    def across(self, offset: int) -> tuple[list[list[int]], list[int]]:
        """Find the games that begin before an offset and end at or after it.

        Args:
            offset: where reading can be resumed.

        Returns:
            Number and last offset of each game that has a number; offsets of their lists at or after ``offset``.
        """
        over = [given for given in self._games if given.first < offset <= given.last]
        numbers = [[given.game_no, given.last] for given in over if given.game_no is not None]
        return numbers, [place for given in over for place in given.lists if place >= offset]

    def beside(self, offset: int) -> list[list[Any]]:
        """Find the games of ``across``.

        Args:
            offset: where reading can be resumed.

        Returns:
            Last offset and players, in lower case, of each.
        """
        return [[given.last, *given.players] for given in self._games if given.first < offset <= given.last]

    def announced(self, offset: int) -> list[tuple[int | None, Announcement]]:
        """Find the games that begin at or after an offset: they are emitted again.

        Args:
            offset: where reading can be resumed.

        Returns:
            Number and announcement of each that has a board.
        """
        return [
            (given.game_no, given.announcement)
            for given in self._games
            if given.first >= offset and given.announcement is not None
        ]


class Resumed:
    """Filters the lines that are read a second time.

    Args:
        state: what ``Tracker.restart_state`` gave.
    """

    def __init__(self, state: dict[str, Any]) -> None:
        self.mark: int = state["mark"]
        self._muted: dict[int, int] = dict(state["muted"])
        self._lists: frozenset[int] = frozenset(state["muted_lists"])
        self._beside: list[list[Any]] = state.get("beside", [])

    def wanted(self, event: Event) -> bool:
        """Whether an event before the mark belongs to a game that is rebuilt.

        Args:
            event: read a second time.

        Returns:
            False if its game was emitted before.
        """
        if isinstance(event, MovelistRead):
            return event.line.offset not in self._lists
        game_no: int | None
        if isinstance(event, Style12):
            offset, game_no = event.offset, event.game_no if event.game_no >= 0 else None
        else:
            offset, game_no = event.line.offset, getattr(event, "game_no", None)
        return game_no is None or self._muted.get(game_no, -1) < offset

    def hides(self, offset: int, name: str | None) -> bool:
        """Whether a game that was emitted before reaches over an offset.

        Args:
            offset: of the source. name: of a player of the game; None: of any.
        """
        handle = None if name is None else name.lower()
        return any(last >= offset and handle in (None, *players) for last, *players in self._beside)


def dump_counts(counts: dict[Disposition, int]) -> dict[str, int]:
    """Counts as JSON keeps them."""
    return {disposition.value: count for disposition, count in counts.items() if count}


def load_counts(saved: dict[str, int]) -> dict[Disposition, int]:
    """Counts from JSON."""
    return {disposition: saved.get(disposition.value, 0) for disposition in Disposition}


def dump_facts(kept: Iterable[HeaderFacts]) -> list[dict[str, Any]]:
    """Pending header facts as JSON keeps them."""
    return [{field.name: getattr(facts, field.name) for field in fields(HeaderFacts)} for facts in kept]


def dump_waiting(
    boards: Boards, begun: list[tuple[int | None, Announcement]], offset: int, unread: dict[int | None, int]
) -> dict[str, Any]:
    """What games took, or may still take, from lines before a restart point, as JSON keeps it.

    Args:
        boards: of the tracker. begun: what each game's first board found waiting, with the game's number.
        offset: of the restart point. unread: by number, the place up to which its games are not read again.
    """

    def before(number: int | None) -> int:
        return max(offset, unread.get(number, 0))

    return {
        "facts": [
            [number, *dump_facts([facts])] for number, facts in boards.facts.items() if facts.offset < before(number)
        ],
        "creating": dump_facts(facts for facts in boards.creating.values() if facts.offset < offset),
        "rows": [[number, *row] for number, row in boards.rows.items() if row.offset < before(number)],
        "starting": boards.starting,
        "announced": [_dump_announcement(found) for number, found in begun if found.takes_from_before(before(number))],
    }


def load_waiting(boards: Boards, state: dict[str, Any]) -> None:
    """Take what ``dump_waiting`` gave."""
    boards.remembered = {saved[0]: _load_announcement(saved) for saved in state.get("announced", ())}
    for number, saved in state["facts"]:
        boards.facts[number] = load_facts(saved)
    for saved in state["creating"]:
        facts = load_facts(saved)
        boards.creating[frozenset(((facts.white or "").lower(), (facts.black or "").lower()))] = facts
    for number, *values in state.get("rows", ()):
        boards.keep_row(number, _load_row(values))


def _dump_announcement(found: Announcement) -> list[Any]:
    """What a first board found waiting, as JSON keeps it."""
    facts, creating = (None if line is None else dump_facts([line])[0] for line in (found.facts, found.creating))
    return [found.offset, facts, creating, found.starting, found.again, found.row]


def _load_announcement(saved: list[Any]) -> Announcement:
    """What a first board found waiting, from JSON."""
    offset, facts, creating, starting, again, row = saved
    return Announcement(
        offset,
        None if facts is None else load_facts(facts),
        None if creating is None else load_facts(creating),
        None if starting is None else Starting(*starting),
        again,
        None if row is None else _load_row(row),
    )


def _load_row(saved: list[Any]) -> TableRow:
    """A row of a table of games from JSON."""
    row = TableRow(*saved)
    return row._replace(white_rating=RatingText(*row.white_rating), black_rating=RatingText(*row.black_rating))


def load_facts(saved: dict[str, Any]) -> HeaderFacts:
    """Header facts from JSON."""
    values = dict(saved)
    for name in ("white_rating", "black_rating"):
        if values[name] is not None:
            values[name] = RatingText(*values[name])
    return HeaderFacts(**values)
