"""The other board of a bughouse game, and both of them move by move."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from recorder.cli.terminal import clean, format_clock, print_table
from recorder.model import ELAPSED_DERIVED, EXACT, Game, LinkKind
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import Match, board_order, check_clocks, leads, timeline, transfers

if TYPE_CHECKING:
    from collections.abc import Iterable

    from storage import Archive

__all__ = ["match_findings", "match_of", "other_boards", "print_match"]


def other_boards(archive: Archive, games: Iterable[Game]) -> list[Game]:
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


def match_of(archive: Archive, game: Game) -> tuple[Match, str] | None:
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
        f"{_number(finding.board, finding.ply)} {match.board(finding.board).white.handle}'s board: {finding.text}"
        for finding in check_clocks(match)
    ]
    if (match.a.result, match.b.result) not in (("1-0", "0-1"), ("0-1", "1-0"), ("1/2-1/2", "1/2-1/2")) and (
        "*" not in (match.a.result, match.b.result)
    ):
        found.append(f"the results contradict each other: {match.a.result} on board A, {match.b.result} on board B")
    return found


def print_match(match: Match, evidence: str) -> None:
    """Both boards' moves by time: clocks, what each capture gave to the other board, and who has more time."""
    for letter in "AB":
        game = match.board(letter)
        result = f"{game.result} {game.reason or ''}".strip()
        click.echo(f"Board {letter}: {game.key[:8]} {clean(f'{game.white.handle} - {game.black.handle}, {result}')}")
    click.echo(f"One match: {clean(evidence)}\n")
    given = {(transfer.board, transfer.capture.ply): transfer for transfer in transfers(match)}
    rows: list[tuple[object, ...]] = []
    for moment, lead in zip(timeline(match), leads(match), strict=True):
        ply = moment.ply
        exact = ply.precision in EXACT
        transfer = given.get((moment.board, ply.ply))
        gives = None
        if transfer is not None:
            to = match.board("B" if moment.board == "A" else "A")
            handle = (to.white if transfer.to_white else to.black).handle
            seen = "" if transfer.passed is not None else " (not seen there)"
            piece = transfer.capture.pieces if transfer.passed is None else transfer.passed.piece
            gives = f"{'/'.join(piece)} to {handle}{seen}"
        notes = [] if moment.certain else ["order not known"]
        notes += ["elapsed derived"] if ply.precision in ELAPSED_DERIVED else []
        rows.append(
            (
                _number(moment.board, ply.ply),
                ply.san,
                format_clock(ply.white_clock_ms if ply.white_moved else ply.black_clock_ms, exact),
                format_clock(ply.elapsed_ms, exact),
                gives,
                None if lead is None else f"{'+' if lead >= 0 else ''}{format_clock(lead, exact)}",
                ", ".join(notes),
            )
        )
    columns = ("No", "Move", "Clock", "Elapsed", "Gives", "Lead of A", "Notes")
    print_table(columns, rows, right=("No", "Clock", "Elapsed", "Lead of A"))
    findings = match_findings(match)
    if findings:
        click.echo("\nFindings")
        for finding in findings:
            click.echo(clean(finding))


def _number(board: str, ply: int) -> str:
    """``12A.`` for White of board A, ``12a.`` for Black."""
    return f"{(ply + 1) // 2}{board if ply % 2 else board.lower()}."
