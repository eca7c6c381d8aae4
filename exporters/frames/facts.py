"""What all plies of one side of a game have in common."""

from __future__ import annotations

from typing import NamedTuple

from recorder.model import Player, SourceKind, control_of
from storage.columns import GameFacts

__all__ = ["SCORES", "Side", "connection_of", "identity", "side_of", "time_control"]

SCORES = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}
"""White's."""


class Side(NamedTuple):
    """One side of a game; the names are those of the columns, ``mover_…`` left out."""

    handle: str
    identity: str
    guest: bool
    computer: bool | None
    rating: int | None
    sealed: bool | None
    score: float | None
    time_control: str | None
    base_s: int | None
    increment_s: int | None


def side_of(game: GameFacts, white: bool) -> Side:
    """White's or Black's."""
    fields = game[12:18] if white else game[18:24]
    handle, rating_text, rating, titles, registered, sealed = fields
    player = Player(handle, rating_text, rating, titles, None if registered is None else bool(registered))
    base_s, increment_s = control_of(game, white)
    journal = game.source_kind == SourceKind.JOURNAL.value
    score = SCORES.get(game.result)
    return Side(
        handle,
        identity(game.server, player, connection_of(game.key, game.source_sha256 if journal else None)),
        player.is_guest,
        None if titles is None else player.is_computer,
        rating,
        None if sealed is None else bool(sealed),
        score if score is None or white else 1 - score,
        time_control(base_s, increment_s),
        base_s,
        increment_s,
    )


def connection_of(key: str, journal: str | None) -> str:
    """Within what a guest's handle is one person: a journal is one connection; of other logs only the game is sure.

    Args:
        key: the game's. journal: the SHA-256 of the journal that alone witnesses the game, if one does.
    """
    return key if journal is None else journal


def identity(server: str | None, player: Player, connection: str) -> str:
    """For grouping: handles do not differ by case, and another guest may have the same handle tomorrow."""
    name = f"{server or '?'}/{player.handle.lower()}"
    return f"{name}/{connection}" if player.is_guest else name


def time_control(base_s: int | None, increment_s: int | None) -> str | None:
    """``300+0`` in seconds, ``-`` untimed."""
    if base_s is None or increment_s is None:
        return None
    return f"{base_s}+{increment_s}" if base_s or increment_s else "-"
