"""Which watched games are left before their end."""

from __future__ import annotations

from collections.abc import Mapping

from recorder.live.candidates import Candidate, Rank, State, Wishes, partners_of

__all__ = ["find_mistaken", "find_outstayed"]


def find_mistaken(games: Mapping[int, Candidate], wishes: Wishes) -> list[Candidate]:
    """Games that were taken for the beginning of a name and turned out to be another player's; each is given once."""
    found: list[Candidate] = []
    for game in games.values():
        if game.on_cut_name and game.state is State.WATCHED and not (game.listed.white_cut or game.listed.black_cut):
            game.on_cut_name = False
            if wishes.rank(game, partners_of(games))[0] is None:
                found.append(game)
    return found


def find_outstayed(games: Mapping[int, Candidate], wishes: Wishes, since_ms: int, wanted: int) -> list[Candidate]:
    """Games whose place goes to others, the longest watched first.

    Args:
        since_ms: those that have been watched since before. wanted: places that others wait for.
    """
    partners = partners_of(games)
    watched = [game for game in games.values() if game.state is State.WATCHED and game.since_ms <= since_ms]
    old = [game for game in watched if wishes.rank(game, partners)[0] is Rank.POLICY]
    return sorted(old, key=lambda game: game.since_ms)[: max(0, wanted)]
