"""Which games: the filter, its SQL, the stated order, and keys as people type them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import BigInteger, Boolean, ColumnElement, Connection, Select, and_, case, cast, func, or_, select

from recorder.errors import StorageError
from recorder.model import GameKind, TimeBasis
from storage.models import games, players, sources

__all__ = [
    "ALL_PLAYED",
    "ANY",
    "GameFilter",
    "count_games",
    "fold",
    "game_ids",
    "matching",
    "newest_first",
    "resolve",
    "undated",
]

ANY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GameFilter:
    """What a game must be; an empty set or None asks nothing.

    Attributes:
        players: handles of which at least one played, in any colour. white, black: in that colour.
            Handles are case-insensitive.
        variants, categories, results, servers: the values as stored; variants, categories and servers are
            case-insensitive.
        since_ms, until_ms: first and last allowed start (inclusive, milliseconds since 1970). Games without a known
            date do not match; ``Archive.undated`` counts them.
        min_plies: least number of known half-moves; 1 by default.
        complete: True leaves out games with gaps, without a beginning or without an end line.
        no_guests, no_computers: leave out games of such a player (``Player.is_guest``, ``Player.is_computer``).
        kinds: kinds of games; played ones by default.
        keys: prefixes of keys, one of which must match.
        source: an id (or its beginning) as ``sources`` prints it.
        me: the handle whose connection recorded the game.
        witnesses: the games as each source gives them, instead of those that were made of several.
        last: only the newest so many, after all else.
    """

    players: frozenset[str] = ANY
    white: frozenset[str] = ANY
    black: frozenset[str] = ANY
    variants: frozenset[str] = ANY
    categories: frozenset[str] = ANY
    rated: bool | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    results: frozenset[str] = ANY
    servers: frozenset[str] = ANY
    min_plies: int = 1
    complete: bool = False
    no_guests: bool = False
    no_computers: bool = False
    kinds: frozenset[GameKind] = field(default=frozenset({GameKind.PLAYED}))
    keys: frozenset[str] = ANY
    source: str | None = None
    me: str | None = None
    witnesses: bool = False
    last: int | None = None


ALL_PLAYED = GameFilter()
"""The stated default of lists and exports: every played game with at least one ply."""


def fold(handle: str) -> str:
    """The form in which handles are equal."""
    return handle.lower()


# a start that is a date: seconds from the start of a log are none; a day alone counts as its first millisecond
_iso_day = case((games.c.date_text.op("GLOB")("[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"), games.c.date_text))
_dated_ms = func.coalesce(
    case((games.c.time_basis.in_([TimeBasis.UTC.value, TimeBasis.LOCAL.value]), games.c.started_at_ms)),
    cast(func.strftime("%s", _iso_day), BigInteger) * 1000,
)
_GAMES_OF_SOURCES = games.outerjoin(sources, sources.c.id == games.c.source_id)
_order = (_dated_ms.is_(None), _dated_ms, sources.c.sha256, games.c.first_offset, games.c.key)


def newest_first() -> tuple[ColumnElement[Any], ...]:
    """The order of ``last``: dated games before undated ones, later ones first."""
    return (_dated_ms.is_(None), _dated_ms.desc(), sources.c.sha256.desc(), games.c.first_offset.desc(), games.c.key)


def _played(handles: frozenset[str], column: ColumnElement[Any]) -> ColumnElement[bool]:
    ids = select(players.c.id).where(players.c.handle_folded.in_(sorted(map(fold, handles))))
    return column.in_(ids)


def _is_guest(side: str) -> ColumnElement[bool]:
    about = [games.c[f"{side}{column}"] for column in ("", "_rating_text", "_titles", "_registered")]
    return func.is_guest(*about, type_=Boolean)


def _is_computer(side: str) -> ColumnElement[bool]:
    return func.is_computer(games.c[f"{side}_titles"], type_=Boolean)


def _conditions(where: GameFilter, *, dates: bool = True) -> list[ColumnElement[bool]]:
    found: list[ColumnElement[bool]] = []
    if where.players:
        found.append(or_(_played(where.players, games.c.white_id), _played(where.players, games.c.black_id)))
    if where.white:
        found.append(_played(where.white, games.c.white_id))
    if where.black:
        found.append(_played(where.black, games.c.black_id))
    for values, column in (
        (where.variants, games.c.variant),
        (where.categories, games.c.category),
        (where.servers, games.c.server),
    ):
        if values:
            found.append(func.lower(column).in_(sorted(value.lower() for value in values)))
    if where.rated is not None:
        found.append(games.c.rated.is_(where.rated))
    if dates and where.since_ms is not None:
        found.append(_dated_ms >= where.since_ms)
    if dates and where.until_ms is not None:
        found.append(_dated_ms <= where.until_ms)
    if where.results:
        found.append(games.c.result.in_(sorted(where.results)))
    if where.min_plies > 0:
        found.append(games.c.ply_count >= where.min_plies)
    if where.complete:
        found.append(games.c.complete.is_(True))
    for excluded, test in ((where.no_guests, _is_guest), (where.no_computers, _is_computer)):
        if excluded:
            found += [~test("white"), ~test("black")]
    if where.kinds:
        found.append(games.c.kind.in_(sorted(kind.value for kind in where.kinds)))
    own = _own(where)
    if own:
        found.append(and_(*own) if where.witnesses else or_(and_(*own), games.c.id.in_(_merged_of(own))))
    found.append(games.c.source_id.is_not(None) if where.witnesses else games.c.merged_into.is_(None))
    return found


def _own(where: GameFilter) -> list[ColumnElement[bool]]:
    """What is asked of a game as a source gives it: a game of several sources matches if one of its witnesses does."""
    found: list[ColumnElement[bool]] = []
    if where.keys:
        found.append(or_(*(games.c.key.startswith(key.lower(), autoescape=True) for key in sorted(where.keys))))
    if where.source is not None:
        beginning = sources.c.sha256.startswith(where.source.lower(), autoescape=True)
        found.append(games.c.source_id.in_(select(sources.c.id).where(beginning)))
    if where.me is not None:
        found.append(func.lower(games.c.me) == fold(where.me))
    return found


def _merged_of(own: list[ColumnElement[bool]]) -> Select[tuple[int | None]]:
    """Row numbers of the games that are made of these."""
    return select(games.c.merged_into).where(games.c.merged_into.is_not(None), *own)


def matching(where: GameFilter) -> Select[tuple[int]]:
    """The ids of the games that match, in the stated order: start (unknown last), then source and place in it.

    Sources are ordered by their sha256, so that the order depends on what was imported, never on when; a game that
    several witness has no source of its own and comes before the others of the same start.
    """
    query = select(games.c.id).select_from(_GAMES_OF_SOURCES).where(*_conditions(where))
    if where.last is None:
        return query.order_by(*_order)
    newest = query.order_by(*newest_first()).limit(where.last).subquery()
    return (
        select(games.c.id).select_from(_GAMES_OF_SOURCES).where(games.c.id.in_(select(newest.c.id))).order_by(*_order)
    )


def game_ids(connection: Connection, where: GameFilter) -> list[int]:
    """The row numbers of ``matching``."""
    return list(connection.scalars(matching(where)))


def count_games(connection: Connection, where: GameFilter) -> int:
    """How many games match."""
    query = matching(where).order_by(None).subquery()
    return connection.scalar(select(func.count()).select_from(query)) or 0


def undated(connection: Connection, where: GameFilter) -> int:
    """How many games the date bounds leave out only because their date is unknown."""
    if where.since_ms is None and where.until_ms is None:
        return 0
    query = select(func.count()).select_from(_GAMES_OF_SOURCES)
    return connection.scalar(query.where(*_conditions(where, dates=False), _dated_ms.is_(None))) or 0


def resolve(connection: Connection, spec: str) -> int:
    """The row number of the one game that ``spec`` names.

    Args:
        connection: to the archive.
        spec: the beginning of a key (that of a witness names the game it belongs to), ``last``,
            or ``last~2`` for the third newest played game.
    Raises:
        StorageError: no game, or several (they are listed).
    """
    shown = select(games.c.id, games.c.key, games.c.white, games.c.black)
    if match := re.fullmatch(r"last(?:~(\d{1,9}))?", spec):
        listed = shown.select_from(_GAMES_OF_SOURCES).where(*_conditions(ALL_PLAYED))
        query = listed.order_by(*newest_first()).limit(1).offset(int(match[1] or 0))
        row = connection.execute(query).first()
        if row is None:
            count = count_games(connection, ALL_PLAYED)
            raise StorageError(f"There is no game {spec}: the archive holds {count} played games with moves.")
        return int(row.id)
    if not re.fullmatch(r"[0-9a-fA-F]+", spec):
        raise StorageError(f"{spec!r} names no game: give the beginning of a key, last, or last~2.")
    named = select(func.coalesce(games.c.merged_into, games.c.id)).where(games.c.key.startswith(spec.lower()))
    rows = connection.execute(shown.where(games.c.id.in_(named)).order_by(games.c.key).limit(11)).fetchall()
    if not rows:
        raise StorageError(f"No game has a key that begins with {spec}.")
    if len(rows) > 1:
        found = ", ".join(f"{row.key} ({row.white} vs. {row.black})" for row in rows[:10])
        more = " and more" if len(rows) > 10 else ""
        raise StorageError(f"{spec} is the beginning of several keys: {found}{more}. Give more digits.")
    return int(rows[0].id)
