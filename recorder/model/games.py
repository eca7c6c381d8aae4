"""A game: players, header facts, and what is computed from its observations through segments."""

from __future__ import annotations

import datetime
import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum, StrEnum
from importlib import import_module
from operator import attrgetter, itemgetter
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol

from recorder.model.observations import (
    Analysis,
    EventKind,
    Evidence,
    GameEvent,
    Observation,
    Segment,
    SourceName,
    TimeBasis,
)
from recorder.model.plies import Anchor, Ply, PlyRow, ShownLine, name_plies
from recorder.openings import Opening, find_opening

if TYPE_CHECKING:
    import chess.pgn

_TITLE_WORD = re.compile(r"[A-Za-z]+|\*")
_GUEST = re.compile(r"guest(?:[a-z]{1,4}|[0-9]+)", re.IGNORECASE | re.ASCII)


def _views() -> ModuleType:
    """What shows a game: it is named here, not imported, because formats know this value and it knows none of them."""
    return import_module("recorder.archive.game_views")


class Player(NamedTuple):
    """A player as this game's lines print the name, rating and titles; ``rating`` None: no number was printed."""

    handle: str
    rating_text: str | None = None
    rating: int | None = None
    titles: str | None = None
    registered: bool | None = None
    sealed: bool | None = None

    def __repr__(self) -> str:
        return " ".join(filter(None, ("Player", self.handle, self.titles, self.rating_text)))

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

        A ``<g1>`` line states it. Without one, these mark a guest: the title ``(U)``, the rating ``++++``, or a handle
        that servers give to guests (``GuestABCD``, ``guest123``; ``GuestAB`` where guests choose the last letters).
        """
        if self.registered is not None:
            return not self.registered
        printed = self.rating_text is not None and self.rating_text.strip() == "++++"
        return printed or "U" in self.title_words or _GUEST.fullmatch(self.handle) is not None


def is_forgotten(*handles: str) -> bool:
    """Whether one of these replaces an erased handle: ``X`` and underscores, which no server allows."""
    return any(handle[1:2] == "_" and not handle.strip("_")[1:] for handle in handles)


class GameKind(Enum):
    """What was done on the board."""

    PLAYED = "played"
    EXAMINED = "examined"
    SETUP = "setup"


class GameEnd(StrEnum):
    """Why there are no more lines of a game."""

    RESULT = "result"
    ADJOURNED = "adjourned"
    ABORTED = "aborted"
    LOST_FEED = "lost-feed"  # the connection was lost
    UNOBSERVED = "unobserved"  # the server was asked for no more boards
    LOG_ENDS = "log-ends"
    REUSED = "reused"  # another game has the number

    @property
    def is_over(self) -> bool:
        """Whether the server says that the game is over, or adjourned: nothing goes on with it."""
        return self in (GameEnd.RESULT, GameEnd.ADJOURNED, GameEnd.ABORTED)

    @property
    def is_lost(self) -> bool:
        return self in (GameEnd.LOG_ENDS, GameEnd.LOST_FEED, GameEnd.UNOBSERVED)

    @property
    def may_go_on(self) -> bool:
        return self.is_lost or self is GameEnd.ADJOURNED


class StartPrecision(Enum):
    """The unit in which the start of a game is known; it lies within that unit from ``started_at_ms`` on."""

    MINUTE = "minute"  # the header of a move list
    SECOND = "second"  # the tags of a saved game, or a header that prints seconds
    MILLISECOND = "millisecond"  # when its first line arrived, by the log's own times


MINUTE_MS: Final = 60_000


class LinkKind(Enum):
    PARTNER = "bughouse-partner"  # the two boards of one match
    EXAMINED = "examined-copy"  # the first is the examination of the second


class Link(NamedTuple):
    kind: LinkKind
    key: str
    evidence: str


class Correction(NamedTuple):
    """``recorded`` None: it was unknown; ``before`` has the attributes of the game that it replaced."""

    field: str
    value: str
    recorded: str | None
    decided_ms: int
    before: dict[str, Any]


_ISO_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(slots=True, repr=False)
class Game:
    """A game as computed from its observations.

    Attributes:
        key: 20 hexadecimal digits, of which messages print the first 8.
        server: the site's name; None: unknown.
        dialect: the server family.
        game_no: the server's number of the game, which it reuses for later games.
        variant: a name of ``recorder.rules.variants``, or the server's word; None: unknown.
        category: the server's word (blitz, standard, wild/fr …).
        base_s, increment_s: White's time control in seconds; None: unknown. black_base_s, black_increment_s: Black's,
            which differs in time-odds games only.
        base_inferred: the base was printed as 0; it is 10 s, because the first clocks show that.
        start_fen: None for the normal start position.
        start_ply: half-moves played before the first known position.
        termination: how the game ended, in the words of PGN; empty if a saved game has only a result.
        result: ``1-0``, ``0-1``, ``1/2-1/2`` or ``*``.
        end: why there are no more lines: ``result``, ``adjourned``, ``aborted``, ``lost-feed`` (the connection was
            lost), ``unobserved``, ``log-ends`` or ``reused`` (another game has the number); members equal these texts.
        complete: every ply from the first to the last and the end of the game are known.
        variant_inferred: the variant was not printed, but follows from holdings or boards.
        start_precision: unit of ``started_at_ms``; None if that is None.
        links: games that belong to this one: the partner board, an examination; only of a game from an archive.
        merged_from: keys of the games from which this one was merged, one for each source.
        evidence: why these are one game, and in what they contradict each other.
        analyses: evaluations by engines that analysed the game later; only of a game from an archive, not compared.
        corrections: what a person corrected, by field; only of a game from an archive.
        found_opening: the value of ``opening``; False: not computed yet.
        date_text: the date as a line prints it, else the date that the user gave for the log (2020-01-31).
    """

    key: str
    kind: GameKind
    server: str | None
    dialect: str | None
    game_no: int | None
    white: Player
    black: Player
    rated: bool | None
    variant: str | None
    category: str | None
    base_s: int | None
    increment_s: int | None
    black_base_s: int | None
    black_increment_s: int | None
    base_inferred: bool
    variant_inferred: bool
    start_fen: str | None
    start_ply: int
    result: str
    reason: str | None
    reason_key: str | None
    termination: str
    end: GameEnd
    started_at_ms: int | None
    ended_at_ms: int | None
    time_basis: TimeBasis
    date_text: str | None
    complete: bool
    continued: bool
    partner_game_no: int | None
    me: str | None
    observations: list[Observation]
    segments: list[Segment]
    first_offset: int
    last_offset: int
    start_precision: StartPrecision | None = None
    links: list[Link] = field(default_factory=list)
    merged_from: list[str] = field(default_factory=list)
    evidence: list[Evidence] = field(default_factory=list)
    analyses: list[Analysis] = field(default_factory=list, compare=False)
    corrections: list[Correction] = field(default_factory=list)
    found_opening: Opening | Literal[False] | None = field(default=False, init=False, compare=False)

    def __repr__(self) -> str:
        moves = (self.ply_count + 1) // 2
        what = [control_text(self), self.category, self.variant_word]
        facts = [
            f"Game {self.key[:8]} {self.white.handle}–{self.black.handle} {self.result}",
            " ".join(word for word in what if word),
            "" if self.kind is GameKind.PLAYED else self.kind.value,
            f"{moves:,} move{'s' if moves > 1 else ''}" if moves else "no moves",
        ]
        return " · ".join(filter(None, facts))

    @property
    def ply_count(self) -> int:
        """How many half-moves of the main line are known."""
        return sum(max(segment.to_ply - segment.from_ply + 1, 0) for segment in self.segments)

    @property
    def opening(self) -> Opening | None:
        """The last named position of its main line; None: there is none, or not normal chess from the normal start."""
        if self.found_opening is False:
            self.found_opening = self._find_opening()
        return self.found_opening

    def _find_opening(self) -> Opening | None:
        if self.variant != "chess" or self.start_fen is not None or self.start_ply:
            return None
        return find_opening(self.rows)

    @property
    def variant_word(self) -> str | None:
        """The variant; None if it is chess or if the category names it (``suicide``)."""
        return variant_beside(self.category or "", self.variant)

    @property
    def plies(self) -> list[Ply]:
        """The main line, in order, put together from the observations."""
        return name_plies(self.rows)

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        """The plies of ``plies``; some may be plain tuples with the fields of a ``Ply``, which is faster for many."""
        if len(self.segments) == 1:
            return taken_rows(self.segments[0], self.observations)
        return [row for segment in self.segments for row in taken_rows(segment, self.observations)]

    @property
    def latest_start_ms(self) -> int | None:
        """The latest time at which the game may have begun: ``started_at_ms``, or the end of a known minute."""
        if self.started_at_ms is None or self.start_precision is not StartPrecision.MINUTE:
            return self.started_at_ms
        return self.started_at_ms + MINUTE_MS - 1

    @property
    def day(self) -> datetime.date | None:
        """The day on which the game began, in the time zone of its times; None: unknown."""
        return day_of(self.started_at_ms, self.time_basis, self.date_text)

    def to_pgn(
        self,
        clock: str | Iterable[str] = "clk,emt",
        *,
        style: str = "default",
        variations: bool = False,
        comments: bool = False,
        engine: bool = False,
        analysis: str | None = "",
        as_crazyhouse: bool = False,
    ) -> str:
        """Convert the game to PGN; if moves are missing, to several games, each with its own start position.

        Args:
            clock: which times to write as comments, separated by commas: ``clk`` the mover's clock after the move,
                ``emt`` the elapsed time, ``lag`` the lag; ``none`` for no times.
            style: ``default``; ``fics``: the shape of the FICS games database; ``lichess``: only the mover's clock, in
                whole seconds.
            variations: write taken-back moves as variations.
            comments: write chat as comments.
            engine: write evaluations of engines: ``%eval``, ``%depth`` and the principal variation.
            analysis: with ``engine``, the analysis to write, by the first characters of the engine's name; empty: the
                one that covers most of the game; None: only evaluations of the engines that played.
            as_crazyhouse: write a bughouse board as a crazyhouse game; all pieces that are dropped later are in hand at
                the start.
        Returns:
            The text of one game, or of several if moves are missing.
        Raises:
            ExportError: an argument has an unknown value.
        """
        views = _views()
        text: str = views.pgn_text(
            self, views.pgn_options(clock, style, variations, comments, engine, analysis, as_crazyhouse)
        )
        return text

    def to_chess(self) -> chess.pgn.Game:
        """The main line as a game of python-chess, with ``%clk`` and ``%emt`` where these times were printed.

        It ends where moves are missing or not proved. If python-chess does not know the variant and has to play it as
        normal chess, the tag ``RecorderVariant`` names the variant.

        Returns:
            A game of python-chess with the main line.
        Raises:
            ExportError: python-chess has no board for the variant. ReplayError: the first position is unknown.
        """
        game: chess.pgn.Game = _views().chess_game(self)
        return game

    def board(self, ply: int | None = None) -> chess.Board:
        """The position after a half-move, as a board of python-chess of the right variant.

        Args:
            ply: how many half-moves were played, counted from the start of the game; None: the last known position.
        Returns:
            A new board.
        Raises:
            ReplayError: this position is unknown. ExportError: python-chess has no board for the variant.
        """
        board: chess.Board = _views().board_after(self, ply)
        return board

    def _repr_html_(self) -> str:
        """The last position, both clocks and the time of each move, for notebooks."""
        page: str = _views().html_of(self)
        return page

    def anchors(self) -> Iterator[Anchor]:
        """Positions of the main line that do not follow from its plies: the start, and boards after gaps.

        Returns:
            Anchors in the order of plies, from the observations that the main line consists of.
        """
        ply_of: Callable[[Anchor], int] = attrgetter("ply")
        shown = [
            sorted((anchor for anchor in seen.anchors if anchor.line == 0), key=ply_of) for seen in self.observations
        ]
        found: dict[int, Anchor] = {}
        for segment in self.segments:
            anchors = shown[segment.observation]
            begin = bisect_left(anchors, segment.from_ply - 1, key=ply_of)
            for anchor in anchors[begin : bisect_right(anchors, segment.to_ply, key=ply_of)]:
                found[anchor.ply] = anchor
        return iter(sorted(found.values(), key=ply_of))

    @property
    def events(self) -> list[GameEvent]:
        """Events of all observations in the order of the log; of several sources by ply, and equal events once."""
        if not self.merged_from:
            return sorted((one for seen in self.observations for one in seen.events), key=lambda e: (e.offset, e.seq))
        by_source: dict[SourceName | None, list[GameEvent]] = {}
        for observation in self.observations:
            by_source.setdefault(observation.source, []).extend(observation.events)
        found: list[GameEvent] = []
        known: Counter[tuple[object, ...]] = Counter()
        for events in by_source.values():
            alike: Counter[tuple[object, ...]] = Counter()
            for event in sorted(events, key=lambda e: (e.offset, e.seq)):
                what = (event.kind, event.detail, event.actor, event.value, event.text)
                alike[what] += 1
                if alike[what] > known[what]:
                    found.append(event)
            known |= alike
        return sorted(found, key=lambda event: event.ply)


def taken_rows(segment: Segment, observations: Sequence[Observation]) -> list[Ply] | list[PlyRow]:
    """The observation's own list if the segment is its whole main line, else a new one."""
    rows = observations[segment.observation].lines[0].rows
    if rows and rows[0][0] == segment.from_ply and rows[-1][0] == segment.to_ply:
        return rows
    begin = bisect_left(rows, segment.from_ply, key=itemgetter(0))
    return rows[begin : bisect_right(rows, segment.to_ply, begin, key=itemgetter(0))]


def rated_word(game: Game) -> str | None:
    return {True: "rated", False: "unrated", None: None}[game.rated]


def control_text(game: Game) -> str | None:
    sides = dict.fromkeys(control_of(game, white) for white in (True, False))
    texts = [f"{_minutes(base_s)}+{increment_s or 0}" for base_s, increment_s in sides if base_s is not None]
    return "/".join(texts) or None


def printed_control(game: Game) -> str | None:
    """``20+0.3``, ``40/7200:3600``: more than one base and increment in whole seconds. Needs the game's events."""
    for event in game.events:
        known = event.kind is EventKind.NOTICE and event.detail == "time-control"
        if (known or (event.kind is EventKind.TAG and event.detail == "TimeControl")) and event.text not in ("", "?"):
            return event.text if game.base_s is None else None
    return None


def _minutes(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes}:{rest:02d}" if rest else str(minutes)


def day_of(started_at_ms: int | None, time_basis: TimeBasis, date_text: str | None) -> datetime.date | None:
    if started_at_ms is not None and time_basis in (TimeBasis.UTC, TimeBasis.LOCAL):
        return datetime.date(1970, 1, 1) + datetime.timedelta(days=started_at_ms // 86_400_000)
    if date_text is None or not _ISO_DAY.fullmatch(date_text):
        return None
    try:
        return datetime.date.fromisoformat(date_text)
    except ValueError:  # printed by a server, and no such day
        return None


class TimeControlled(Protocol):
    @property
    def base_s(self) -> int | None: ...
    @property
    def increment_s(self) -> int | None: ...
    @property
    def black_base_s(self) -> int | None: ...
    @property
    def black_increment_s(self) -> int | None: ...


def variant_beside(category: str, variant: str | None) -> str | None:
    """None if it is chess, or if the category names it in any spelling: ``Bughouse``, ``seirawan/0``, ``wild(1)``."""
    words = category.split()
    named = {_letters(word) for word in (category, *words, *(word.partition("/")[0] for word in words))}
    return None if variant is None or variant == "chess" or _letters(variant) in named else variant


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


def control_of(game: TimeControlled, white: bool) -> tuple[int | None, int | None]:
    """One side's base time and increment in seconds: Black's are White's unless both were printed."""
    if white:
        return game.base_s, game.increment_s
    return (
        game.base_s if game.black_base_s is None else game.black_base_s,
        game.increment_s if game.black_increment_s is None else game.black_increment_s,
    )


def shown_line(game: Game) -> ShownLine | None:
    """None: several lines make the main line, or more than ``shown`` was loaded of it."""
    if len(game.segments) != 1:
        return None
    first, last, observation = game.segments[0]
    line = game.observations[observation].lines[0]
    if not isinstance(line, ShownLine) or line.shown is None:
        return None
    return line if line.shown.first == first and first + len(line) - 1 == last else None
