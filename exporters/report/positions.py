"""The positions of a game that a report shows: its main line, takebacks and variations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from exporters.holdings import BothHoldings, holdings_after, holdings_lines, plies_with_holdings
from exporters.pgn.annotations import unique_lines
from recorder.model import AnchorReason, Game, GameKind, LineKind, Observation, Ply, control_of
from recorder.model.boards import boards_by_ply, follow_line, shown_board
from recorder.times import in_ms

_NO_HOLDINGS: Final[BothHoldings] = (None, None)


@dataclass(eq=False, slots=True)
class ReportPosition:
    """A position of a game: a start, or the position after a move."""

    ply: int
    move: Ply | None
    board: str | None
    holdings: BothHoldings
    white_clock_ms: int | None
    black_clock_ms: int | None
    missing: int = 0
    line: int = 0


@dataclass(eq=False, slots=True)
class Branch:
    """Plies that were taken back, or a variation; they leave ``parent`` (None: the main line) after ``ply``."""

    number: int
    taken_back: bool
    parent: int | None
    ply: int
    states: list[ReportPosition]


class Course:
    """The positions of a game as a tree."""

    def __init__(self, game: Game, holdings: Mapping[int, BothHoldings] | None = None) -> None:
        concluded = holdings or {}
        boards = boards_by_ply(game)
        (white_base_s, _), (black_base_s, _) = control_of(game, True), control_of(game, False)
        first = game.start_ply == 0
        self._game = game
        self._main = {segment.observation for segment in game.segments} or {0}
        self.start = ReportPosition(
            game.start_ply,
            None,
            boards.get(game.start_ply),
            _start_holdings(game),
            in_ms(white_base_s) if first else _start_clock(game, True),
            in_ms(black_base_s) if first else _start_clock(game, False),
        )
        self.main: list[ReportPosition] = []
        self.branches: list[Branch] = []
        last = game.start_ply
        for ply, printed in plies_with_holdings(game):
            missing = max(0, ply.ply - last - 1)
            clocks = _clocks(ply, None if missing else (self.main or [self.start])[-1])
            self.main.append(
                ReportPosition(ply.ply, ply, boards.get(ply.ply), concluded.get(ply.ply, printed), *clocks, missing)
            )
            last = ply.ply
        main = {state.ply: state for state in (self.start, *self.main)}
        self._states = {(index, 0): main for index in range(len(game.observations))}
        self._read_branches()

    def state(self, observation: int, line: int, ply: int) -> ReportPosition | None:
        """The position after ``ply`` half-moves on an observation's line, or on the lines that it branches from."""
        parents = {one.number: (one.parent, one.parent_ply or 0) for one in self._game.observations[observation].lines}
        number: int | None = line
        while number is not None:
            position = self._states.get((observation, number), {}).get(ply)
            if position is not None:
                return position
            above, from_ply = parents.get(number, (None, 0))
            number = above if ply <= from_ply else None
        return None

    def before(self, state: ReportPosition, ply: int) -> ReportPosition | None:
        """The position after ``ply`` half-moves on the way to ``state``."""
        line: int | None = state.line or None
        while line is not None:
            branch = self.branches[line - 1]
            reached = next((state for state in branch.states if state.ply == ply), None)
            if reached is not None or ply > branch.ply:
                return reached
            line = branch.parent
        return next((position for position in (self.start, *self.main) if position.ply == ply), None)

    def _read_branches(self) -> None:
        game = self._game
        unique = unique_lines(game)
        for index, observation in enumerate(game.observations):
            changes = holdings_lines(observation)
            apart = index not in self._main and game.kind is not GameKind.PLAYED
            for line in observation.lines:
                if (line.number == 0 and not apart) or (index, line.number) not in unique or not (line.plies or apart):
                    continue
                number = len(self.branches) + 1
                parent = (index, 0 if line.parent is None else line.parent)
                parent_ply = line.parent_ply or 0
                above = self._states.get(parent, {})
                leaves = None if line.parent is None else above.get(parent_ply)
                states: list[ReportPosition] = []
                last = None if line.parent is None else parent_ply
                anchors = {anchor.ply: anchor.fen for anchor in observation.anchors if anchor.line == line.number}
                begin = None if leaves is None else leaves.board
                for ply, board in follow_line(line.plies, anchors, begin, last, game.variant):
                    holdings = holdings_after(ply, changes)
                    missing = 0 if last is None else max(0, ply.ply - last - 1)
                    clocks = _clocks(ply, None if missing else states[-1] if states else leaves)
                    states.append(ReportPosition(ply.ply, ply, board, holdings, *clocks, missing, number))
                    last = ply.ply
                root = [] if line.parent is not None else _root(observation, number)
                self._states[index, line.number] = {state.ply: state for state in (*root, *states)}
                taken_back = line.kind is LineKind.TAKEBACK
                self.branches.append(
                    Branch(number, taken_back, None if leaves is None else leaves.line or None, parent_ply, states)
                )


def _start_holdings(game: Game) -> BothHoldings:
    if game.variant not in ("crazyhouse", "bughouse"):
        return _NO_HOLDINGS
    fen = game.start_fen
    if fen is not None and "[" in fen:
        letters = fen.partition("[")[2].partition("]")[0]
        return "".join(filter(str.isupper, letters)), "".join(filter(str.islower, letters)).upper()
    return ("", "") if game.start_ply == 0 else _NO_HOLDINGS


def _start_clock(game: Game, white: bool) -> int | None:
    for segment in game.segments[:1]:
        start = game.observations[segment.observation].start
        if start is not None and start.ply == game.start_ply:
            return start.white_clock_ms if white else start.black_clock_ms
    return None


def _root(observation: Observation, number: int) -> list[ReportPosition]:
    """The first position of a line that branches from no other, if it was shown."""
    for anchor in observation.anchors:
        if anchor.line == 0 and anchor.reason is AnchorReason.START and (board := shown_board(anchor.fen)) is not None:
            return [ReportPosition(anchor.ply, None, board, _NO_HOLDINGS, None, None, 0, number)]
    return []


def _clocks(ply: Ply, before: ReportPosition | None) -> tuple[int | None, int | None]:
    """Both clocks after a move; where only the mover's is printed, the other one is unchanged."""
    white_ms, black_ms = ply.white_clock_ms, ply.black_clock_ms
    if before is not None and before.ply == ply.ply - 1:
        if ply.white_moved and black_ms is None:
            black_ms = before.black_clock_ms
        elif not ply.white_moved and white_ms is None:
            white_ms = before.white_clock_ms
    return white_ms, black_ms
