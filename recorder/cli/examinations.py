"""The played game that an examined one shows, and the examinations of a played one, found when they are asked for."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recorder.model import Game, GameKind, LinkKind
from recorder.relating.examined import link_examined

if TYPE_CHECKING:
    from storage import Archive

__all__ = ["examinations"]


def examinations(archive: Archive, game: Game) -> list[tuple[str, Game, str]]:
    """Games that are linked with one by an examination, as the archive says, else as the games of its players tell.

    Returns:
        For each a word for what it is (``Examination of``, ``Examined in``), the game, and what tells it.
    """
    from storage import GameFilter

    told = [link for link in game.links if link.kind is LinkKind.EXAMINED]
    played = game.kind is GameKind.PLAYED
    word = "Examined in" if played else "Examination of"
    if told:
        return [(word, archive.game(link.key), link.evidence) for link in told]
    players = GameFilter(
        players=frozenset((game.white.handle, game.black.handle)), kinds=frozenset({GameKind.EXAMINED})
    )
    shown = list(archive.games(players)) if played else [game]
    if not shown or game.kind is GameKind.SETUP:
        return []
    found = {
        other.key: other for other in (*shown, *archive.games(replace(players, kinds=frozenset({GameKind.PLAYED}))))
    }
    links = link_examined(list(found.values()))
    mine, others = (1, 0) if played else (0, 1)
    return [(word, found[link[others]], link[2]) for link in links if link[mine] == game.key]
