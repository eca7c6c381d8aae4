"""Bughouse matches of an archive: the other board of a game, and what contradicts a match."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from recorder.model import Game, LinkKind
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import Match, board_order, check_clocks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from storage import ArchiveStore

__all__ = ["match_findings", "match_of", "numbered_move", "other_boards"]


def other_boards(archive: ArchiveStore, games: Iterable[Game]) -> list[Game]:
    """Bughouse games that may be the other boards of some.

    Those they are linked with; else those of the same logs, and those of any log with the number that a line named.
    """
    from storage import GameFilter

    games = [game for game in games if game.variant == "bughouse"]
    keys = {game.key for game in games}
    linked = frozenset(link.key for game in games for link in game.links if link.kind is LinkKind.PARTNER)
    everything = GameFilter(variants=frozenset({"bughouse"}), kinds=frozenset(), min_plies=0)
    wanted = [replace(everything, keys=linked - keys)] if linked - keys else []
    alone = [game for game in games if not any(link.kind is LinkKind.PARTNER for link in game.links)]
    logs = {row.sha256 for game in alone for row in archive.game_sources(game.key)}
    wanted += [replace(everything, source=sha256) for sha256 in sorted(logs)]
    found = {game.key: game for one in wanted for game in archive.games(one)}
    named = {game.partner_game_no for game in alone if game.partner_game_no is not None}
    if named:
        found |= {game.key: game for game in archive.games(everything) if game.game_no in named}
    return [game for key, game in found.items() if key not in keys]


def match_of(archive: ArchiveStore, game: Game) -> tuple[Match, str] | None:
    """The match of a bughouse game and what tells that its boards are one; None: its other board is not known."""
    if game.variant != "bughouse":
        return None
    others = {other.key: other for other in other_boards(archive, [game])}
    told = [(link.key, link.evidence) for link in game.links if link.kind is LinkKind.PARTNER and link.key in others]
    told = told or [
        (second if first == game.key else first, evidence)
        for first, second, evidence in pair_bughouse([game, *others.values()])
        if game.key in (first, second)
    ]
    return (board_order(game, others[told[0][0]]), told[0][1]) if told else None


def match_findings(match: Match) -> list[str]:
    """What contradicts that the two boards were one match, or that their clocks were read rightly."""
    found = [
        f"{numbered_move(finding.board, finding.ply)} {match.board(finding.board).white.handle}'s board: {finding.text}"
        for finding in check_clocks(match)
    ]
    if (match.a.result, match.b.result) not in (("1-0", "0-1"), ("0-1", "1-0"), ("1/2-1/2", "1/2-1/2")) and (
        "*" not in (match.a.result, match.b.result)
    ):
        found.append(f"the results contradict each other: {match.a.result} on board A, {match.b.result} on board B")
    return found


def numbered_move(board: str, ply: int) -> str:
    """``12A.`` for White of board A, ``12a.`` for Black."""
    return f"{(ply + 1) // 2}{board if ply % 2 else board.lower()}."
