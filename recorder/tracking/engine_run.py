"""One engine's view of one game: the moves that it was told and made, its clocks, and what it thought."""

from __future__ import annotations

from typing import Final

from recorder.cecp.commands import Level
from recorder.cecp.moves import MoveText
from recorder.cecp.thinking import ThinkingLine
from recorder.events import EngineLine
from recorder.model import (
    Anchor,
    EventKind,
    GameEvent,
    HoldingsChange,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Thinking,
    name_plies,
)
from recorder.tracking.engine_moves import play_move
from recorder.tracking.position import Position, Rules, fen, with_hands

__all__ = ["EngineRun", "counted", "thinking_of"]

_MOST_COUNT: Final = (1 << 63) - 1  # what an archive can hold


class EngineRun:
    """A game as one engine sees it.

    Attributes:
        own: plies of the main line that the engine made itself.
        colours: the sides that it played, as moves show.
        opponent, rating, opponent_rating: as ``name`` and ``rating`` told. level: that of the beginning.
        result, reason: as the interface told the engine, None before. end: as ``Game.end``.
    """

    def __init__(
        self, engine: str, name: str | None, variant: str | None, position: Position, base_ply: int, line: EngineLine
    ) -> None:
        self.engine = engine
        self.name = name
        self.variant = variant
        self.position = position
        self.base_ply = base_ply
        self.history = [position]
        self.rows: list[Ply] = []
        self.own: set[int] = set()
        self.colours: set[bool] = set()
        self.opponent: str | None = None
        self.rating: int | None = None
        self.opponent_rating: int | None = None
        self.level: Level | None = None
        self.result: str | None = None
        self.reason: str | None = None
        self.end = "log-ends"
        self.taken = False
        self.observation = Observation(
            kind=ObservationKind.ENGINE,
            game_no=None,
            white="?",
            black="?",
            relation=None,
            offset=line.offset,
            end_offset=line.offset,
            started_at_ms=line.at_ms,
            ended_at_ms=line.at_ms,
            start=None,
        )
        self.observation.lines.append(PlyLine(0, LineKind.MAIN, None, None, self.rows))
        self._seq = 0

    def anchor(self, reason: str, line: EngineLine) -> None:
        """The position reached cannot be derived from what was told before."""
        text = fen(self.position, 0, self.base_ply // 2 + 1)
        self.observation.anchors.append(Anchor(0, self.base_ply, text, reason, line.offset))

    @property
    def ply(self) -> int:
        """Half-moves played to reach the position."""
        return self.base_ply + len(self.rows)

    @property
    def analysed(self) -> bool:
        """Whether the engine played neither side and no result was told: a game that was looked at."""
        return not self.colours and self.result is None

    def see(self, line: EngineLine) -> None:
        """A line belongs to this game."""
        self.observation.end_offset = line.offset
        self.observation.ended_at_ms = line.at_ms

    def play(self, move: MoveText, line: EngineLine, *, own: bool) -> str | None:
        """Add a ply; the reason if it is no legal move here, which then changes nothing."""
        step = play_move(self.position, move)
        if isinstance(step, str):
            return step
        encoded, san, reached = step
        ply = self.ply + 1
        flags = reached.castling | (reached.push_col + 1) << 4
        self.rows.append(
            Ply(
                ply, encoded, san, None, None, None, None, line.at_ms, flags, None, int(Proof.LIST),
                int(Origin.ENGINE), None, line.offset,
            )
        )  # fmt: skip
        if own:
            self.own.add(ply)
            self.colours.add(self.position.white_to_move)
        self.position = reached
        self.history.append(reached)
        return None

    def clocks(self, white_ms: int | None, black_ms: int | None, *, engine_white: bool) -> None:
        """What ``time`` and ``otim`` told before the last move: the clocks after it.

        The engine's own clock stood still since its own move, whose clock it is too.
        """
        if not self.rows or (white_ms is None and black_ms is None):
            return
        exact = int(Precision.MILLISECONDS)
        last = self.rows[-1]
        self.rows[-1] = last._replace(white_clock_ms=white_ms, black_clock_ms=black_ms, precision=exact)
        if len(self.rows) > 1 and self.rows[-2].ply in self.own and self.rows[-2].precision is None:
            before = self.rows[-2]._replace(precision=exact)
            if engine_white and white_ms is not None:
                self.rows[-2] = before._replace(white_clock_ms=white_ms)
            elif not engine_white and black_ms is not None:
                self.rows[-2] = before._replace(black_clock_ms=black_ms)

    def take_back(self, count: int, line: EngineLine) -> bool:
        """Take back so many plies; they stay beside the main line. False: there are not so many."""
        if count > len(self.rows):
            return False
        ply = self.ply - count
        removed = name_plies(self.rows[len(self.rows) - count :])
        lines = self.observation.lines
        lines.append(PlyLine(len(lines), LineKind.TAKEBACK, 0, ply, removed))
        del self.rows[len(self.rows) - count :]
        del self.history[len(self.history) - count :]
        self.position = self.history[-1]
        self.own = {number for number in self.own if number <= ply}
        self.event(EventKind.TAKEBACK, f"{ply + count}-{ply}", line, value=count)
        return True

    def event(
        self,
        kind: EventKind,
        detail: str,
        line: EngineLine,
        *,
        actor: str | None = None,
        value: int | None = None,
        text: str = "",
    ) -> None:
        """Note something that is no ply."""
        self.observation.events.append(
            GameEvent(self._seq, kind, detail, self.ply, actor, value, text, None, None, line.at_ms, line.offset)
        )
        self._seq += 1

    def holding(self, white: str, black: str, passed: str | None, line: EngineLine) -> None:
        """What the players have in hand now."""
        if self.position.rules in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
            self.position = self.history[-1] = with_hands(self.position, white, black)
        ordered = ("".join(sorted(hand.upper(), key="PNBRQ".find)) for hand in (white, black))
        self.observation.holdings.append(
            HoldingsChange(self._seq, self.ply, next(ordered), next(ordered), passed, line.at_ms, line.offset)
        )
        self._seq += 1

    def think(self, thought: ThinkingLine, white: bool | None, line: EngineLine) -> None:
        """Keep a line of thinking output."""
        told = self.observation.thinking
        told.append(thinking_of(thought, len(told), self.ply, self.name or self.engine, white, line.at_ms, line.offset))

    def think_on(self, text: str) -> None:
        """The last line's pv goes on."""
        told = self.observation.thinking
        told[-1] = told[-1]._replace(pv=f"{told[-1].pv} {text.strip()}".strip())


def thinking_of(
    thought: ThinkingLine, seq: int, ply: int, engine: str, white: bool | None, at_ms: int | None, offset: int
) -> Thinking:
    """A line of thinking output as the model has it; the arguments as ``Thinking`` has them."""
    return Thinking(
        seq, ply, engine, white, thought.depth, thought.score_cp, thought.mate, thought.time_ms,
        counted(thought.nodes), counted(thought.selective_depth), counted(thought.nodes_per_s),
        counted(thought.tablebase_hits), thought.pv, at_ms, offset,
    )  # fmt: skip


def counted(number: int | None) -> int | None:
    """A number of an engine's; None: it is not known, or one that no search reaches (-1 told without its sign)."""
    return None if number is None or abs(number) > _MOST_COUNT else number
