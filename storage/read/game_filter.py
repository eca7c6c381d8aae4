"""What games must be: the filter of lists, exports and tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from recorder.model import EventKind, GameKind

ANY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GameFilter:
    """What a game must be; an empty set or None asks nothing.

    Attributes:
        players: handles of which at least one played, in any colour. white, black: in that colour.
            Handles are case-insensitive, and ``*`` is any text. opponents: handles of which one played against one of
            ``players``.
        variants, categories, results, servers: the values as stored; variants, categories and servers are
            case-insensitive. The server ``unknown`` also means games of no known server.
        since_ms, until_ms: first and last allowed start (inclusive, milliseconds since 1970). Games without a known
            date do not match; ``count_unknown`` counts them.
        ecos: beginnings of ECO codes (``B9``). openings: parts of openings' names; case and accents do not count.
        min_plies: least number of known half-moves; 1 by default.
        complete: True excludes games with gaps, without a beginning or without an end line.
        no_guests, no_computers: exclude games of such a player (``Player.is_guest``, ``Player.is_computer``).
        kinds: kinds of games; played ones by default.
        keys: prefixes of keys, one of which must match.
        source: an id (or its beginning) as ``sources`` prints it.
        me: the handle whose connection recorded the game.
        per_source: the games as each source has them, instead of merged games.
        folded: keys of games that are counted with another one; they are excluded.
        unique: probable duplicates are to be folded; of an archive ``recorder.archive.exporting`` finds ``folded``.
        last: only the newest so many, after all else.
        max_plies: most known half-moves.
        time_controls: White's base time and increment in seconds, as ``300+3``.
        speeds: ``lightning``, ``blitz``, ``standard`` or ``untimed``.
        endings: how games ended: values of ``reason_key`` (``checkmate``, ``time``) or of ``ending``.
        outcomes: how one of ``players`` did: ``win``, ``draw`` or ``loss``.
        min_rating, max_rating: bounds of both players' ratings; games with an unknown rating do not match.
        min_duration_s, max_duration_s: bounds of the time from start to end; games without both do not match.
        clock_below_ms: a clock of one of the players was below this after a move of the main line.
        lead_ms: the loser's clock was above the winner's by more than this, where each was known last.
        happened: some of ``HAPPENINGS``, of which at least one source of the game reports one.
        position: the first four fields of a FEN, which the game reached. ``recorder.archive.positions`` finds these.
        next_move: the move that is played there, as ``encode_move`` encodes it.
        reached: the keys of the games that reached the position, or of a group of insights; None: not known yet.
    """

    players: frozenset[str] = ANY
    opponents: frozenset[str] = ANY
    white: frozenset[str] = ANY
    black: frozenset[str] = ANY
    variants: frozenset[str] = ANY
    categories: frozenset[str] = ANY
    rated: bool | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    results: frozenset[str] = ANY
    servers: frozenset[str] = ANY
    ecos: frozenset[str] = ANY
    openings: frozenset[str] = ANY
    min_plies: int = 1
    complete: bool = False
    no_guests: bool = False
    no_computers: bool = False
    kinds: frozenset[GameKind] = field(default=frozenset({GameKind.PLAYED}))
    keys: frozenset[str] = ANY
    source: str | None = None
    me: str | None = None
    per_source: bool = False
    folded: frozenset[str] = ANY
    unique: bool = False
    last: int | None = None
    max_plies: int | None = None
    time_controls: frozenset[str] = ANY
    speeds: frozenset[str] = ANY
    endings: frozenset[str] = ANY
    outcomes: frozenset[str] = ANY
    min_rating: int | None = None
    max_rating: int | None = None
    min_duration_s: int | None = None
    max_duration_s: int | None = None
    clock_below_ms: int | None = None
    lead_ms: int | None = None
    happened: frozenset[str] = ANY
    position: str | None = None
    next_move: int | None = None
    reached: frozenset[str] | None = None


HAPPENINGS: Final[Mapping[str, tuple[str, str]]] = {
    "takeback": (EventKind.TAKEBACK.value, "%"),
    "draw-offer": (EventKind.NOTICE.value, "draw-offer"),
    "time-added": (EventKind.NOTICE.value, "time-added"),
    "pause": (EventKind.NOTICE.value, "paused"),
    "disconnection": (EventKind.NOTICE.value, "disconnected"),
    "gap": (EventKind.GAP.value, "%"),
    "kibitz": (EventKind.CHAT.value, "kibitz"),
}
"""What games can be searched for by their events: a kind and a pattern of its details, for LIKE."""


ALL_PLAYED = GameFilter()
"""The stated default of lists and exports: every played game with at least one ply."""
