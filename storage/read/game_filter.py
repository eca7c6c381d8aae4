"""What games must be: the filter of lists, exports and tables."""

from __future__ import annotations

from dataclasses import dataclass, field

from recorder.model import GameKind

ANY: frozenset[str] = frozenset()


@dataclass(frozen=True)
class GameFilter:
    """What a game must be; an empty set or None asks nothing.

    ``recorder.filters`` says what each attribute means that an option or a field sets. Case does not count in handles,
    variants, categories and servers. A game of which the value is unknown does not match; ``count_unknown`` counts it.

    Attributes:
        since_ms, until_ms: inclusive, milliseconds since 1970.
        kinds: played games by default.
        per_source: the games as each source has them, instead of merged games.
        folded: keys of games that are counted with another one; they are excluded.
        unique: probable duplicates are to be folded; of an archive ``recorder.archive.exporting`` finds ``folded``.
        time_controls: White's base time and increment in seconds, as ``300+3``.
        endings: values of ``reason_key`` (``checkmate``, ``time``) or of ``ending``.
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


ALL_PLAYED = GameFilter()
"""The stated default of lists and exports: every played game with at least one ply."""

EVERY_GAME = GameFilter(kinds=frozenset(), min_plies=0)
"""Examined and set-up games, too, and games without a known move."""
