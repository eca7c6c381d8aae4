"""Boards and bughouse matches as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from exporters.boards import Board, carry_out, first_board
from exporters.pgn.parts import cut_into_parts
from recorder.archive.matches import match_findings, numbered_move
from recorder.cli.output import print_table
from recorder.model import ELAPSED_DERIVED, EXACT, Game
from recorder.relating.match import Match, leads, timeline, transfers
from recorder.text import clean
from recorder.times import format_clock

if TYPE_CHECKING:
    pass

__all__ = ["draw", "final_board", "print_match"]


def final_board(game: Game) -> Board | None:
    """The board after the last proved ply.

    Returns:
        Square → letter (upper case is White's), or None if no position of the game is known.
    """
    part = cut_into_parts(game)[-1]
    board = first_board(part)
    if board is None:
        return None
    for ply in part.plies:
        if ply.move is None:
            return None
        carry_out(board, ply, game.variant)
    return board


def draw(board: Board) -> str:
    """Eight lines, White below."""
    rows = (f"{rank}  " + " ".join(board.get(file + rank, ".") for file in "abcdefgh") for rank in "87654321")
    return "\n".join([*rows, "   a b c d e f g h"])


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
        exact = ply.precision_code in EXACT
        transfer = given.get((moment.board, ply.ply))
        gives = None
        if transfer is not None:
            to = match.board("B" if moment.board == "A" else "A")
            handle = (to.white if transfer.to_white else to.black).handle
            seen = "" if transfer.passed is not None else " (not seen there)"
            piece = transfer.capture.pieces if transfer.passed is None else transfer.passed.piece
            gives = f"{'/'.join(piece)} to {handle}{seen}"
        notes = [] if moment.certain else ["order not known"]
        notes += ["elapsed derived"] if ply.precision_code in ELAPSED_DERIVED else []
        rows.append(
            (
                numbered_move(moment.board, ply.ply),
                ply.san,
                format_clock(ply.clock_ms, exact),
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
