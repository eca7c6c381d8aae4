"""Runs of plies of a game that can be replayed from a known position.

A run ends before a missing ply, before a ply that is not proved and where a board contradicts the plies. A null move of
a saved game ends none. The next one
begins at the next position that was seen (``Game.anchors``). Plies without a known position are not written as moves,
because movetext must be legal.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from operator import itemgetter

from recorder.model import (
    Anchor,
    AnchorReason,
    Game,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Ply,
    PlyLine,
    PlyRow,
    Proof,
    name_plies,
)
from recorder.model.games import shown_line
from recorder.model.plies import ShownLine, ShownPlies, is_null_move, shown_plies

_DROP_GAMES = frozenset(("crazyhouse", "bughouse"))
_PROOF_OF = itemgetter(Ply._fields.index("proof_code"))
_CHESS_BOARD = re.compile(r"(?:[pnbrqkPNBRQK1-8]~?|/)+(?:\[[PNBRQpnbrq]*\])?")
_PROVED = frozenset({Proof.FULL.value, Proof.LIST.value, Proof.INFERRED.value})


@dataclass(slots=True)
class PgnPart:
    """``unproved``: plies behind, ``before``: in front, that cannot be written; ``beside``: observation and line."""

    fen: str | None
    start_ply: int
    line: ShownLine | list[Ply] | list[PlyRow]
    unproved: list[Ply] = field(default_factory=list)
    beside: tuple[int, int] | None = None
    remark: str | None = None
    before: list[Ply] = field(default_factory=list)

    @property
    def rows(self) -> list[Ply] | list[PlyRow]:
        return self.line.rows if isinstance(self.line, ShownLine) else self.line

    @property
    def plies(self) -> list[Ply]:
        return name_plies(self.rows)

    @property
    def count(self) -> int:
        return len(self.line)

    @property
    def shown(self) -> ShownPlies:
        shown = self.line.shown if isinstance(self.line, ShownLine) else None
        return shown_plies(self.rows, self.start_ply + 1) if shown is None else shown

    def ply(self, number: int) -> Ply:
        """From 1; it must be in this part."""
        index = number - self.start_ply - 1
        return self.line.ply(index) if isinstance(self.line, ShownLine) else Ply._make(self.line[index])


def cut_into_parts(game: Game) -> list[PgnPart]:
    """At least one; only one that is alone may be without plies. ``fen`` None behind the start: unknown."""
    anchors = {anchor.ply: anchor for anchor in game.anchors()}
    first = anchors.get(game.start_ply)
    fen = game.start_fen if first is None else fen_with_holdings(game, first)
    line = shown_line(game) or game.rows
    if (
        (fen is not None or game.start_ply == 0)
        and _follow_each_other(line, game.start_ply)
        and not any(anchor.reason is AnchorReason.CONFLICT for anchor in anchors.values())
    ):
        return [PgnPart(fen, game.start_ply, line)]
    return cut_line(game, game.plies, anchors, fen, game.start_ply)


def _follow_each_other(line: ShownLine | list[Ply] | list[PlyRow], start_ply: int) -> bool:
    """None is missing, and all are proved."""
    if isinstance(line, ShownLine):
        return line.shown is not None and line.shown.first == start_ply + 1
    if not line:
        return True
    if line[0][0] != start_ply + 1 or line[-1][0] != start_ply + len(line):
        return False
    return _PROVED.issuperset(map(_PROOF_OF, line))


def cut_line(
    game: Game, plies: list[Ply], anchors: dict[int, Anchor], fen: str | None, start_ply: int
) -> list[PgnPart]:
    """``anchors``: its known positions by ply; ``fen`` None: the normal start if ``start_ply`` is 0, else unknown."""
    part = PgnPart(fen, start_ply, [])
    parts = [part]
    follows = fen is not None or start_ply == 0
    last = start_ply
    for ply in plies:
        before = anchors.get(ply.ply - 1)
        proved = ply.proof_code in _PROVED or is_null_move(ply) or _is_of_cut_frame(ply, anchors)
        broken = before is not None and before.reason is AnchorReason.CONFLICT and bool(part.rows)
        if not (follows and proved and ply.ply == last + 1 and not broken):
            if not proved or before is None:
                part.unproved.append(ply)
                follows = False
                continue
            part = PgnPart(fen_with_holdings(game, before), before.ply, [])
            parts.append(part)
            follows = True
        part.plies.append(ply)
        last = ply.ply
    if len(parts) > 1 and not parts[0].rows:
        parts[1].before = parts[0].unproved
        del parts[0]
    return parts


def _is_of_cut_frame(ply: Ply, anchors: dict[int, Anchor]) -> bool:
    """The verbose move led legally from board to board; a drop from unknown holdings could not be played."""
    if "@" in ply.san:
        return False
    unproved = ply.proof_code == Proof.UNPROVED and ply.origin_code == Origin.FRAME
    return unproved and ply.move is not None and ply.ply not in anchors


def fen_with_holdings(game: Game, anchor: Anchor) -> str:
    """In a drop game with the holdings that were printed after its board, if it has none yet."""
    if game.variant not in _DROP_GAMES or "[" in anchor.fen:
        return anchor.fen
    holdings = printed_holdings(game, anchor.ply, anchor.offset)
    if holdings is None:
        return anchor.fen
    board, _, rest = anchor.fen.partition(" ")
    return f"{board}[{holdings[0].upper()}{holdings[1].lower()}] {rest}"


def is_chess_fen(fen: str) -> bool:
    """Eight ranks and pieces of chess only, holdings in brackets; legality is not looked at."""
    return _CHESS_BOARD.fullmatch(fen.split(" ", 1)[0]) is not None and fen.count("/") == 7


def parts_around(game: Game, main: list[PgnPart]) -> tuple[list[PgnPart], int]:
    """In the order in which positions were first shown; and how many parts reach to the end of ``main``."""
    first = min((segment.observation for segment in game.segments), default=0)
    beside = _parts_beside(game)
    before = [part for part in beside if part.beside is not None and part.beside[0] < first]
    return [*before, *main, *beside[len(before) :]], len(before) + len(main)


def _parts_beside(game: Game) -> list[PgnPart]:
    main = {segment.observation for segment in game.segments} or {0}
    parts: list[PgnPart] = []
    for index, observation in enumerate(game.observations):
        if observation.kind is not ObservationKind.EXAMINED:
            continue
        numbered: list[tuple[int, PgnPart]] = []
        for line in observation.lines:
            if line.kind is LineKind.VARIATION:
                numbered += [(line.number, part) for part in _of_variation(game, observation, line)]
            elif index not in main:
                numbered += [(0, part) for part in _of_main(game, observation, line)]
        for number, part in numbered:
            part.beside = index, number
            parts.append(part)
    return parts


def named_as(game: Game, part: PgnPart) -> Game:
    if part.beside is None:
        return game
    observation = game.observations[part.beside[0]]
    white, black = game.white, game.black
    if (white.handle, black.handle) == (observation.white, observation.black):
        return game
    blank = {"rating_text": None, "rating": None, "titles": None}
    return replace(
        game,
        white=white._replace(handle=observation.white, **blank),
        black=black._replace(handle=observation.black, **blank),
    )


def _of_main(game: Game, observation: Observation, line: PlyLine) -> list[PgnPart]:
    anchors = _anchors(observation, 0)
    plies = line.plies
    first = min([anchor.ply for anchor in anchors.values()], default=0)
    start_ply = first if not plies or plies[0].ply > first else plies[0].ply - 1
    begin = anchors.get(start_ply)
    return cut_line(game, plies, anchors, None if begin is None else fen_with_holdings(game, begin), start_ply)


def _of_variation(game: Game, observation: Observation, line: PlyLine) -> list[PgnPart]:
    anchors = _anchors(observation, line.number)
    if not anchors or line.parent_ply is None:
        return []
    plies = line.plies
    begin = anchors.get(line.parent_ply)
    if begin is not None:
        return cut_line(game, plies, anchors, fen_with_holdings(game, begin), line.parent_ply)
    inside = 0
    while (
        inside < len(plies) and plies[inside].ply == line.parent_ply + 1 + inside and plies[inside].ply not in anchors
    ):
        inside += 1
    parts = cut_line(game, plies[inside:], anchors, None, -1)
    return [part for part in parts if part.rows or part.unproved]


def _anchors(observation: Observation, line: int) -> dict[int, Anchor]:
    return {anchor.ply: anchor for anchor in observation.anchors if anchor.line == line}


def printed_holdings(game: Game, ply: int, offset: int) -> tuple[str, str] | None:
    for observation in game.observations:
        if observation.offset <= offset <= observation.end_offset:
            for change in observation.holdings:
                if change.passed is None and change.ply == ply and change.offset > offset:
                    return change.white, change.black
    return None
