"""Which games an export takes: filters as keyword arguments, and what a conversion excludes."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from textwrap import fill
from typing import Any, TypedDict, TypeVar

from recorder.errors import ExportError
from recorder.model import Game, GameKind, site_names
from recorder.rules.variants import read_pgn_variant
from recorder.times import read_period
from storage import GameFilter

INCLUDE_WORDS = ("examined", "setup", "empty")


@dataclass(slots=True)
class Selection:
    """Which games to take; by default all played games with at least one ply, complete or not.

    Attributes:
        complete: only games whose every ply from the first to the end line is there.
        guests, computers: False excludes games in which either player is one.
        include: also take ``examined`` games, ``setup`` positions, ``empty`` games (without a known move).
        taken: games that went through ``select``. excluded: reason → games; a game counts under its first reason.
        marked: of the games taken, how many are ``incomplete``, ``adjourned``, ``aborted``.

    Raises:
        ExportError: an ``include`` word that is not known.
    """

    complete: bool = False
    guests: bool = True
    computers: bool = True
    include: frozenset[str] = frozenset()
    taken: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    marked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if unknown := sorted(self.include - set(INCLUDE_WORDS)):
            raise ExportError(f"Games of kind {unknown[0]!r} are not known; include any of {', '.join(INCLUDE_WORDS)}.")

    def select(self, games: Iterable[Game]) -> Iterator[Game]:
        """The games to take, in their order; counts all of them on the way.

        Args:
            games: any games.
        Yields:
            The games that are not excluded; the attributes have the counts when all were read.
        """
        for game in games:
            if (reason := self._reason_against(game)) is not None:
                self.excluded[reason] += 1
                continue
            self.taken += 1
            if not game.complete:
                self.marked["incomplete"] += 1
            if game.end in ("adjourned", "aborted"):
                self.marked[game.end] += 1
            yield game

    def summary(self) -> str:
        """One line for the user: ``12 games; excluded: 3 examined, 1 without a known move``."""
        text = f"{self.taken} game{'' if self.taken == 1 else 's'}"
        if self.marked:
            text += f" ({_counted(self.marked)})"
        return f"{text}; excluded: {_counted(self.excluded) or 'none'}"

    def _reason_against(self, game: Game) -> str | None:
        if game.kind is not GameKind.PLAYED and game.kind.value not in self.include:
            return str(game.kind.value)
        if "empty" not in self.include and not any(segment.to_ply >= segment.from_ply for segment in game.segments):
            return "without a known move"
        if self.complete and not game.complete:
            return "incomplete"
        if not self.guests and (game.white.is_guest or game.black.is_guest):
            return "with a guest"
        if not self.computers and (game.white.is_computer or game.black.is_computer):
            return "with a computer"
        return None


_ECO = re.compile(r"[A-Ea-e][0-9]{0,2}", re.ASCII)
_RESULTS = ("1-0", "0-1", "1/2-1/2", "*")
_Words = str | Iterable[str] | None
_Day = str | date | datetime | None


class Filters(TypedDict, total=False):
    """Conditions that a game must meet, all that are given; if one has several values, one of them is enough.

    Attributes:
        player, white, black: handles, in upper or lower case; ``*`` is any text (``Helm*``). opponent: those of the
            player's opponents.
        variant, category, result, server: as on the command line.
        eco: ECO codes or their first characters (``B90``, ``B9``). opening: parts of openings' names (``Najdorf``).
        rated: True: only rated games; False: only unrated ones. complete: True excludes games with gaps, without a
            beginning or without an end.
        since, until: first and last day (UTC) on which games began, as dates or as text (``2026-01-31``, ``2026-01``,
            ``2026``); a datetime is compared to the millisecond. Games without a known date are excluded.
        guests, computers: False excludes games in which a player is one.
        include: kinds of games that are excluded by default: ``examined``, ``setup``, ``empty`` (without a known move).
        keys: the first characters of keys. source: the first characters of a log's id. me: the handle of the connection
            that recorded the game.
        position: a FEN: only games of normal chess that reached this position, by whatever moves. moves: the same for
            the position after these moves (``e4 c5 Nf3``) from ``position`` or from the normal start. The first search
            makes an index beside the archive.
        last: how many of the newest games to take, after all other filters.
    """

    player: _Words
    opponent: _Words
    white: _Words
    black: _Words
    variant: _Words
    category: _Words
    result: _Words
    server: _Words
    eco: _Words
    opening: _Words
    keys: _Words
    include: _Words
    rated: bool | None
    complete: bool
    guests: bool
    computers: bool
    since: _Day
    until: _Day
    source: str | None
    me: str | None
    position: str | None
    moves: str | None
    last: int | None


_DEFAULTS = {"complete": False, "guests": True, "computers": True}
_Function = TypeVar("_Function", bound=Callable[..., Any])


def takes_filters(function: _Function) -> _Function:
    """Show every filter in the signature and the docstring of a function with ``**filters: Unpack[Filters]``.

    Editors and notebooks complete names from the signature. The function's attribute ``short`` has both as written.
    """
    signature = inspect.signature(function)
    *given, filters = signature.parameters.values()
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name))
        for name in Filters.__annotations__
    ]
    names = fill(", ".join(Filters.__annotations__), 100).replace("\n", "\n            ")
    function.short = signature, function.__doc__  # type: ignore[attr-defined]  # a function has it once it is set
    function.__doc__ = re.sub(rf"\b{filters.name}(?=: )", names, function.__doc__ or "")
    function.__signature__ = signature.replace(parameters=[*given, *named])  # type: ignore[attr-defined]
    return function


def make_filter(filters: Filters) -> GameFilter:
    """Make the filter of an archive from keyword arguments.

    Args:
        filters: as the options of ``games``, and as keywords of ``Archive``: docs/reference/python.md.
    Returns:
        The conditions in the types of the archive: sets of words, milliseconds since 1970.
    Raises:
        ExportError: a word or a day that is not understood.
        TypeError: a filter that does not exist.
    """
    if unknown := sorted(filters.keys() - Filters.__annotations__.keys()):
        raise TypeError(f"There is no filter {unknown[0]!r}; there are {', '.join(Filters.__annotations__)}.")
    include = _words(filters.get("include"))
    if wrong := sorted(include - {"examined", "setup", "empty"}):
        raise ExportError(f"Games of kind {wrong[0]!r} are not known; include any of examined, setup, empty.")
    results = _words(filters.get("result"))
    if wrong := sorted(results - {*_RESULTS}):
        raise ExportError(f"{wrong[0]!r} is no result; there are {', '.join(_RESULTS)}.")
    for name in ("rated", "complete", "guests", "computers"):
        if filters.get(name) not in (None, True, False):
            raise ExportError(f"{name} is True or False, not {filters.get(name)!r}.")
    last = filters.get("last")
    if last is not None and last < 1:
        raise ExportError(f"last is {last}, but must be 1 or more.")
    variants = _words(filters.get("variant"))
    return GameFilter(
        players=_words(filters.get("player")),
        opponents=_words(filters.get("opponent")),
        white=_words(filters.get("white")),
        black=_words(filters.get("black")),
        variants=variants | frozenset(filter(None, map(read_pgn_variant, variants))),
        categories=_words(filters.get("category")),
        rated=filters.get("rated"),
        since_ms=_instant_ms(filters.get("since"), end=False),
        until_ms=_instant_ms(filters.get("until"), end=True),
        results=results,
        servers=site_names(_words(filters.get("server"))),
        ecos=frozenset(map(read_eco, _words(filters.get("eco")))),
        openings=_words(filters.get("opening")),
        min_plies=0 if "empty" in include else 1,
        complete=filters.get("complete", False),
        no_guests=not filters.get("guests", True),
        no_computers=not filters.get("computers", True),
        kinds=frozenset({GameKind.PLAYED} | {GameKind(word) for word in include if word != "empty"}),
        keys=_words(filters.get("keys")),
        source=filters.get("source"),
        me=filters.get("me"),
        position=read_position(filters.get("position"), filters.get("moves")),
        last=last,
    )


def read_eco(text: str) -> str:
    """Read an ECO code or its beginning, in any case.

    Args:
        text: as ``B90``, ``b9`` or ``B``.
    Returns:
        The same in capitals.
    Raises:
        ExportError: it is neither.
    """
    if not _ECO.fullmatch(text):
        raise ExportError(f"{text!r} is no ECO code; write one as B90, or its beginning as B9.")
    return text.upper()


_MOVE_NUMBER = re.compile(r"(?<!\d)\d++\.+", re.ASCII)


def read_position(fen: str | None, moves: str | None) -> str | None:
    """Read a position that games are to reach.

    Args:
        fen: of the position, with or without counters; None: the normal start.
        moves: in SAN or as ``e2e4``, with or without numbers, played from there; None: none.
    Returns:
        The first four fields of its FEN, with an en passant square only where such a capture is legal; None if neither
        is given.
    Raises:
        ExportError: the FEN is no position of normal chess, or a move is not legal.
    """
    if fen is None and moves is None:
        return None
    import chess

    try:
        board = chess.Board() if fen is None else chess.Board(" ".join(fen.split()))
    except ValueError:
        raise ExportError(f"{fen!r} is not a FEN; write a position as {chess.STARTING_FEN!r}.") from None
    if not board.is_valid():
        raise ExportError(f"{fen!r} is no position of a game of chess: check its kings, pawns and castling rights.")
    for number, word in enumerate(_MOVE_NUMBER.sub(" ", moves or "").split(), 1):
        try:
            if not board.push_san(word):
                raise ValueError(word)  # a null move
        except ValueError:
            raise ExportError(f"Move {number}, {word!r}, is not legal there; write moves as e4 c5 Nf3.") from None
    return board.epd()


def _words(given: _Words) -> frozenset[str]:
    if given is None:
        return frozenset()
    words = frozenset([given] if isinstance(given, str) else given)
    if any(not isinstance(word, str) or not word.strip() for word in words):
        raise ExportError("A filter's word is empty or no text: leave the filter out, or give a word.")
    return words


def _instant_ms(given: _Day, *, end: bool) -> int | None:
    """Milliseconds since 1970 of a moment, or of a day's first or last millisecond."""
    if given is None:
        return None
    if isinstance(given, str):
        try:
            given = read_period(given)[end]
        except ValueError as error:
            raise ExportError(str(error)) from error
    if isinstance(given, datetime):
        moment = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
        return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
    days = (given - date(1970, 1, 1)).days + end
    return days * 86_400_000 - end


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
