"""Cuts a game into runs of plies that can be replayed: movetext must be legal from its first position on.

A run ends before a missing ply, before a ply that is not proved and where a board contradicts the plies. The next one
begins at the next position that was seen (``Game.anchors``). Plies without a known position are not written as moves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import itemgetter

from exporters.holdings import hands_at
from recorder.model import Anchor, Game, Origin, Ply, PlyRow, Proof, name_plies
from recorder.shown import ShownLine, ShownPlies, shown_line, shown_plies

__all__ = ["Part", "cut_into_parts", "cut_line", "fen_with_hands", "is_chess_fen"]

_DROP_GAMES = frozenset(("crazyhouse", "bughouse"))
_PROOF_OF = itemgetter(Ply._fields.index("proof"))
_CHESS_BOARD = re.compile(r"(?:[pnbrqkPNBRQK1-8]~?|/)+(?:\[[PNBRQpnbrq]*\])?")
_PROVED = frozenset({Proof.FULL.value, Proof.LIST.value, Proof.INFERRED.value})


@dataclass(slots=True)
class Part:
    """Plies that follow from ``fen`` (None: the normal start position) after ``start_ply`` half-moves.

    ``line`` is a whole line, or plies as in ``PlyLine.rows``; ``unproved`` are the plies after them that no position
    and no proof allows to write as moves. ``beside``: None for a part of the main line, else the observation and its
    line that the part is of. ``remark``: a comment before the first move.
    """

    fen: str | None
    start_ply: int
    line: ShownLine | list[Ply] | list[PlyRow]
    unproved: list[Ply] = field(default_factory=list)
    beside: tuple[int, int] | None = None
    remark: str | None = None

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        """The plies, named or not."""
        return self.line.rows if isinstance(self.line, ShownLine) else self.line

    @property
    def plies(self) -> list[Ply]:
        """``rows``, all of them named."""
        return name_plies(self.rows)

    @property
    def count(self) -> int:
        """How many plies it has."""
        return len(self.line)

    @property
    def shown(self) -> ShownPlies:
        """The plies as far as most of them are shown."""
        shown = self.line.shown if isinstance(self.line, ShownLine) else None
        return shown_plies(self.rows, self.start_ply + 1) if shown is None else shown

    def ply(self, number: int) -> Ply:
        """The ply with this number."""
        place = number - self.start_ply - 1
        return self.line.ply(place) if isinstance(self.line, ShownLine) else Ply._make(self.line[place])


def cut_into_parts(game: Game) -> list[Part]:
    """The runs of the main line in order; at least one; only the first may be without plies."""
    anchors = {anchor.ply: anchor for anchor in game.anchors()}
    first = anchors.get(game.start_ply)
    fen = game.start_fen if first is None else fen_with_hands(game, first)
    line = shown_line(game) or game.rows
    if (
        (fen is not None or game.start_ply == 0)
        and _follow_each_other(line, game.start_ply)
        and not any(anchor.reason == "conflict" for anchor in anchors.values())
    ):
        return [Part(fen, game.start_ply, line)]
    return cut_line(game, game.plies, anchors, fen, game.start_ply)


def _follow_each_other(line: ShownLine | list[Ply] | list[PlyRow], start_ply: int) -> bool:
    """Whether no ply is missing, and all are proved."""
    if isinstance(line, ShownLine):
        return line.shown is not None and line.shown.first == start_ply + 1
    if not line:
        return True
    if line[0][0] != start_ply + 1 or line[-1][0] != start_ply + len(line):
        return False
    return _PROVED.issuperset(map(_PROOF_OF, line))


def cut_line(game: Game, plies: list[Ply], anchors: dict[int, Anchor], fen: str | None, start_ply: int) -> list[Part]:
    """The runs of any line in order, as ``cut_into_parts``.

    Args:
        game: whose line it is. plies: the line. anchors: its known positions by ply.
        fen, start_ply: where it begins; None: at the normal start position if ``start_ply`` is 0, else it is not known.
    """
    part = Part(fen, start_ply, [])
    parts = [part]
    follows = fen is not None or start_ply == 0
    last = start_ply
    for ply in plies:
        before = anchors.get(ply.ply - 1)
        proved = ply.proof in _PROVED or _is_of_cut_frame(ply, anchors)
        broken = before is not None and before.reason == "conflict" and bool(part.rows)
        if not (follows and proved and ply.ply == last + 1 and not broken):
            if not proved or before is None:
                part.unproved.append(ply)
                follows = False
                continue
            part = Part(fen_with_hands(game, before), before.ply, [])
            parts.append(part)
            follows = True
        part.plies.append(ply)
        last = ply.ply
    if len(parts) > 1 and not _has_text(parts[0]):
        del parts[0]
    return parts


def _is_of_cut_frame(ply: Ply, anchors: dict[int, Anchor]) -> bool:
    """Whether only the pretty move was missing: the verbose one led legally from board to board.

    A drop from a hand that nobody knows is no such ply: a reader could not play it.
    """
    if "@" in ply.san:
        return False
    unproved = ply.proof == Proof.UNPROVED and ply.origin == Origin.FRAME
    return unproved and ply.move is not None and ply.ply not in anchors


def fen_with_hands(game: Game, anchor: Anchor) -> str:
    """The anchor's FEN; in a drop game with the hands that were printed after its board, if it has none yet."""
    if game.variant not in _DROP_GAMES or "[" in anchor.fen:
        return anchor.fen
    hands = hands_at(game, anchor.ply, anchor.offset)
    if hands is None:
        return anchor.fen
    board, _, rest = anchor.fen.partition(" ")
    return f"{board}[{hands[0].upper()}{hands[1].lower()}] {rest}"


def is_chess_fen(fen: str) -> bool:
    """Whether readers of chess can set it up: eight ranks of eight squares, pieces of chess only."""
    return _CHESS_BOARD.fullmatch(fen.split(" ", 1)[0]) is not None and fen.count("/") == 7


def _has_text(part: Part) -> bool:
    """Whether the part holds any ply, proved or not."""
    return bool(part.rows or part.unproved)
