"""Which games an export takes: filters as keyword arguments, and what a conversion excludes."""

from __future__ import annotations

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from textwrap import fill
from typing import Any, TypedDict, TypeVar

from recorder.errors import ExportError
from recorder.filters import FILTERS, INCLUDES
from recorder.model import Game, GameEnd, GameKind, site_names
from recorder.rules.variants import read_pgn_variant
from storage import GameFilter


@dataclass(slots=True)
class Selection:
    """By default all played games with at least one ply; a game is excluded under its first reason."""

    complete: bool = False
    guests: bool = True
    computers: bool = True
    include: frozenset[str] = frozenset()
    taken: int = 0
    excluded: Counter[str] = field(default_factory=Counter)
    marked: Counter[str] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        if unknown := sorted(self.include - set(INCLUDES)):
            raise ExportError(f"Games of kind {unknown[0]!r} are not known; include any of {', '.join(INCLUDES)}.")

    def select(self, games: Iterable[Game]) -> Iterator[Game]:
        """In their order; the counts are complete when all were read."""
        for game in games:
            if (reason := self._reason_against(game)) is not None:
                self.excluded[reason] += 1
                continue
            self.taken += 1
            if not game.complete:
                self.marked["incomplete"] += 1
            if game.end in (GameEnd.ADJOURNED, GameEnd.ABORTED):
                self.marked[game.end] += 1
            yield game

    def summary(self) -> str:
        """``12 games; excluded: 3 examined, 1 without a known move``."""
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


_Words = str | Iterable[str] | None
_Day = str | date | datetime | None
_Time = str | int | float | timedelta | None


class Filters(TypedDict, total=False):
    """Conditions that a game must meet, all that are given; one of several values is enough, and none is of no games.

    Attributes:
        player, white, black: handles, in upper or lower case; ``*`` is any text (``Helm*``). opponent: those of the
            player's opponents.
        variant, category, result, server, ending: as on the command line. outcome: how the player did: ``win``,
            ``draw`` or ``loss``. speed: ``lightning``, ``blitz``, ``standard`` or ``untimed``: that of the category,
            else of base + 40 increments, below 3 and 15 minutes.
        time: time controls: base in minutes, or from 60 on in seconds, and increment (``3+0``, ``180+0``, ``30s+0``).
        eco: ECO codes or their first characters (``B90``, ``B9``). opening: parts of openings' names (``Najdorf``).
        rated: True: only rated games; False: only unrated ones. complete: True excludes games with gaps, without a
            beginning or without an end.
        since, until: first and last day (UTC) on which games began, as dates or as text (``2026-01-31``, ``2026-01``,
            ``2026``); a datetime is compared to the millisecond. Games without a known date are excluded.
        rating_from, rating_to: bounds of both ratings. plies_from, plies_to: of the number of half-moves.
        lasts_from, lasts_to: bounds of the duration: ``10m``, a timedelta, or a number of minutes; not of data sets.
        clock_below: a clock was below this after a move: ``10s``, ``1:30``, a timedelta, or a number of seconds.
        lead: the loser's clock was above the winner's by more than this, where each was known last.
        happened: ``takeback``, ``draw-offer``, ``time-added``, ``pause``, ``disconnection``, ``gap``, ``kibitz``.
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
    time: _Words
    speed: _Words
    ending: _Words
    outcome: _Words
    happened: _Words
    rating_from: int | None
    rating_to: int | None
    plies_from: int | None
    plies_to: int | None
    lasts_from: _Time
    lasts_to: _Time
    clock_below: _Time
    lead: _Time
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
    *own, filters = signature.parameters.values()
    named = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=_DEFAULTS.get(name))
        for name in Filters.__annotations__
    ]
    names = fill(", ".join(Filters.__annotations__), 100).replace("\n", "\n            ")
    function.short = signature, function.__doc__  # type: ignore[attr-defined]  # a function has it once it is set
    function.__doc__ = re.sub(rf"\b{filters.name}(?=: )", names, function.__doc__ or "")
    function.__signature__ = signature.replace(parameters=[*own, *named])  # type: ignore[attr-defined]
    return function


_RANGES = (("since", "until"), ("rating_from", "rating_to"), ("plies_from", "plies_to"), ("lasts_from", "lasts_to"))


def make_filter(filters: Filters) -> GameFilter:
    """TypeError: a filter that does not exist."""
    if unknown := sorted(filters.keys() - Filters.__annotations__.keys()):
        raise TypeError(f"There is no filter {unknown[0]!r}; there are {', '.join(Filters.__annotations__)}.")
    values: dict[str, Any] = {}
    for name, value in filters.items():
        if value is not None and (attribute := FILTERS[name].attribute):
            values[attribute] = FILTERS[name].value(value)
            if values[attribute] == frozenset() and name != "include":  # no game has one of no values
                values["last"] = 0
    if values.get("outcomes") and not values.get("players"):
        raise ExportError("outcome (--outcome) is that of a player: give player (--player), too.")
    for low, high in _RANGES:
        least, most = (values.get(FILTERS[name].attribute) for name in (low, high))
        if least is not None and most is not None and least > most:
            words = [f"{FILTERS[name].label} (--{name.replace('_', '-')})" for name in (low, high)]
            raise ExportError(f"{words[0]} is beyond {words[1]}: no game is in between.")
    include = values.pop("kinds", frozenset())
    values["kinds"] = frozenset({GameKind.PLAYED} | {GameKind(word) for word in include if word != "empty"})
    values.setdefault("min_plies", 0 if "empty" in include else 1)
    for name in ("no_guests", "no_computers"):
        values[name] = not values.get(name, True)
    if variants := values.get("variants"):
        values["variants"] = variants | frozenset(filter(None, map(read_pgn_variant, variants)))
    if servers := values.get("servers"):
        values["servers"] = site_names(servers)
    position = read_position(filters.get("position"), filters.get("moves"))
    return GameFilter(position=position, **values)


_MOVE_NUMBER = re.compile(r"(?<!\d)\d++\.+", re.ASCII)


def read_position(fen: str | None, moves: str | None) -> str | None:
    """The first four fields of the FEN; ``moves`` (SAN or ``e2e4``) are played from it, or from the normal start."""
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


def _counted(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {reason}" for reason, count in sorted(counts.items()))
