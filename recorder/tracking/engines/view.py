"""One engine's view of one game: moves, clocks and thinking output."""

from __future__ import annotations

from typing import Final

from recorder.cecp.answers import ThinkingLine
from recorder.cecp.commands import LevelCommand, MoveKind, MoveText
from recorder.events import EngineLine
from recorder.model import (
    Anchor,
    AnchorReason,
    EventKind,
    GameEnd,
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
from recorder.rules.fen import fen
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, advance, play_san, with_holdings
from recorder.rules.tables import NAMES, index_of

_FILES: Final = "abcdefgh"


def play_move(position: Position, move: MoveText) -> Step | str:
    """A pawn that reaches the last rank without a piece becomes a queen, as xboard takes it."""
    mark = move.text[-1:] if move.text[-1:] in "+#" else ""
    if move.kind is MoveKind.CASTLING:
        return play_san(position, f"{'O-O-O' if move.long else 'O-O'}{mark}")
    if move.kind is MoveKind.DROP and move.letter is not None:
        letter = move.letter.upper()
        pretty = f"{letter}@{move.target}" if position.rules is Rules.BOARDS else None
        return advance(position, f"{letter}/@@-{move.target}", pretty, None)
    if move.target is None:
        return "not a move that can be played here"
    origin, board = move.origin or "", position.board
    if any(square not in NAMES for square in (origin, move.target) if len(square) > 1):
        return "a square outside of the board"
    to = index_of(move.target)
    if len(origin) < 2:  # a file, a rank or nothing
        letter = move.piece or "P"
        capture = board[to] != "-" or (letter == "P" and origin.isalpha() and origin != move.target[0])
        front = f"{letter if letter != 'P' else ''}{origin}{'x' * capture}"
        return play_san(position, f"{front}{move.target}{_promotion(position, letter, move)}{mark}")
    start = index_of(origin)
    letter = board[start].upper()
    if letter == "-" or move.piece not in (None, letter):
        return "illegal: no such piece on that square"
    if letter == "K" and (castling := _castling(position, start, to)) is not None:
        return advance(position, "o-o-o" if castling else "o-o", "O-O-O" if castling else "O-O", None)
    promotion = _promotion(position, letter, move)
    if move.letter and not promotion and position.rules is Rules.BOARDS:
        return "a letter that the rules of chess do not know"  # in some variants a piece comes in with the move
    pretty = _san(position, letter, start, to, promotion) if position.rules is Rules.BOARDS else None
    return advance(position, f"{letter}/{origin}-{move.target}{promotion}", pretty, None)


def _promotion(position: Position, letter: str, move: MoveText) -> str:
    """``=Q`` for a pawn that reaches the last rank, else empty: xboard ignores a needless letter."""
    last = move.target is not None and move.target[1] == ("8" if position.white_to_move else "1")
    return f"={(move.letter or 'Q').upper()}" if letter == "P" and last else ""


def _castling(position: Position, origin: int, to: int) -> bool | None:
    """Whether a king's move is castling to the queen's side (True) or the king's; None: it is a plain move."""
    own_rook = "R" if position.white_to_move else "r"
    if position.board[to] == own_rook:
        return to < origin
    to_its_place = position.rules is not Rules.CHESS960 or to % 9 in (2, 6)
    if origin // 9 == to // 9 and abs(origin - to) == 2 and to_its_place:
        return to < origin
    return None


def _san(position: Position, letter: str, start: int, to: int, promotion: str) -> str:
    board = position.board
    target = NAMES[to]
    capture = "x" if board[to] != "-" or (letter == "P" and start % 9 != to % 9) else ""
    if letter == "P":
        return f"{_FILES[start % 9] if capture else ''}{capture}{target}{promotion}"
    origin = NAMES[start] if board.count(board[start]) > 1 else ""
    return f"{letter}{origin}{capture}{target}"


def agree(ply: Ply, other: Ply) -> bool:
    """Whether two plies can be one move: what is not proved can be any, a promotion without its piece to any piece."""
    if None in (ply.move, other.move) or ply.move == other.move:
        return True
    inferred = Proof.INFERRED in (ply.proof_code, other.proof_code)
    return (
        inferred
        and all(move and 0 < move >> 12 < 8 for move in (ply.move, other.move))
        and (ply.move or 0) % 4096 == (other.move or 0) % 4096
    )


_MOST_COUNT: Final = 10**15 - 1  # what an archive takes for no mistake


class EngineRun:
    """A game as one engine sees it.

    ``own`` are the plies of the main line that the engine made itself, ``refused`` those that it wanted to make with
    moves that cannot be played and were not accepted, and ``replayed`` counts those that it was sent in force mode
    before it played. ``colours`` are the sides that it played, as moves show; opponent and ratings come from the
    commands ``name`` and ``rating``; ``level`` is that of the beginning. ``earlier`` are runs of engines that this one
    replaced in the same game.
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
        self.level: LevelCommand | None = None
        self.result: str | None = None
        self.reason: str | None = None
        self.end: GameEnd = GameEnd.LOG_ENDS
        self.taken = False
        self.refused: set[int] = set()
        self.replayed = 0
        self.earlier: list[EngineRun] = []
        self._unknown: set[int] = set()  # plies after which the position is not known
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

    def anchor(self, reason: AnchorReason, line: EngineLine) -> None:
        """The position reached cannot be derived from earlier lines."""
        text = fen(self.position, 0, self.ply // 2 + 1)
        self.observation.anchors.append(Anchor(0, self.ply, text, reason, line.offset))

    @property
    def ply(self) -> int:
        return self.base_ply + len(self.rows)

    @property
    def is_lost(self) -> bool:
        """A move could not be played: ``position`` only has the side to move."""
        return self.ply in self._unknown

    def find(self, position: Position, line: EngineLine) -> None:
        """A line shows the position that was lost."""
        self.position = self.history[-1] = position
        self._unknown.discard(self.ply)
        self.anchor(AnchorReason.GAP, line)

    @property
    def first(self) -> EngineRun:
        return self.earlier[0] if self.earlier else self

    @property
    def analysed(self) -> bool:
        """Whether the engine played neither side and no result was sent: an analysis."""
        return not self.colours and self.result is None

    def see(self, line: EngineLine) -> None:
        self.observation.end_offset = line.offset
        self.observation.ended_at_ms = line.at_ms

    def continues(self, left: EngineRun) -> bool:
        """Whether the engine was given a game that another process had left: its position, or its moves in force mode.

        The interface may not have accepted the last move of ``left``, the run of that process.
        """
        begin = self.base_ply - left.base_ply
        if self.variant != left.variant or not 0 <= begin <= len(left.rows):
            return False
        rest = left.rows[begin:]
        if len(rest) > max(self.replayed, 1) and rest[-1].ply in left.own:
            rest = rest[:-1]
        same = all(mine.move == its.move for mine, its in zip(self.rows, rest, strict=False))
        return same and self.replayed >= len(rest) and self.history[0].board == left.history[begin].board

    def play(self, move: MoveText, line: EngineLine, *, own: bool) -> str | None:
        """Add a ply, not proved if the position is not known, or say why the move is not legal."""
        if self.is_lost:
            self.play_unproved(move.text, line, own=own)
            return None
        step = play_move(self.position, move)
        if isinstance(step, str):
            return step
        encoded, san, reached = step
        unnamed = move.letter is None and encoded >> 12
        self._add(encoded, san, reached, Proof.INFERRED if unnamed else Proof.LIST, line, own)
        return None

    def play_unproved(self, text: str, line: EngineLine, *, own: bool) -> None:
        self._unknown.add(self.ply + 1)
        position = self.position._replace(white_to_move=not self.position.white_to_move)
        self._add(None, text, position, Proof.UNPROVED, line, own)

    def _add(self, encoded: int | None, san: str, reached: Position, proof: Proof, line: EngineLine, own: bool) -> None:
        ply = self.ply + 1
        flags = None if encoded is None else reached.castling | (reached.push_col + 1) << 4
        self.rows.append(
            Ply(
                ply, encoded, san, None, None, None, None, line.at_ms, flags, None, int(proof),
                int(Origin.ENGINE), None, line.offset,
            )
        )  # fmt: skip
        if own:
            self.own.add(ply)
            self.colours.add(self.position.white_to_move)
        self.position = reached
        self.history.append(reached)

    def clocks(self, white_ms: int | None, black_ms: int | None, *, engine_white: bool) -> None:
        """They are those after the last move; the engine's own clock has not run since its own move: it has both."""
        if not self.rows or (white_ms is None and black_ms is None):
            return
        exact = int(Precision.MILLISECONDS)
        last = self.rows[-1]
        self.rows[-1] = last._replace(white_clock_ms=white_ms, black_clock_ms=black_ms, precision_code=exact)
        if len(self.rows) > 1 and self.rows[-2].ply in self.own and self.rows[-2].precision_code is None:
            before = self.rows[-2]._replace(precision_code=exact)
            if engine_white and white_ms is not None:
                self.rows[-2] = before._replace(white_clock_ms=white_ms)
            elif not engine_white and black_ms is not None:
                self.rows[-2] = before._replace(black_clock_ms=black_ms)

    def take_back(self, count: int, line: EngineLine) -> bool:
        """Take back ``count`` plies, which stay beside the main line; False: there are not so many."""
        if count > len(self.rows):
            return False
        ply = self.ply - count
        removed = name_plies(self.rows[len(self.rows) - count :])
        lines = self.observation.lines
        lines.append(PlyLine(len(lines), LineKind.TAKEBACK, 0, ply, removed))
        del self.rows[len(self.rows) - count :]
        del self.history[len(self.history) - count :]
        self.position = self.history[-1]
        self._unknown = {number for number in self._unknown if number <= ply}
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
        self.observation.events.append(
            GameEvent(self._seq, kind, detail, self.ply, actor, value, text, None, None, line.at_ms, line.offset)
        )
        self._seq += 1

    def holding(self, white: str, black: str, passed: str | None, line: EngineLine) -> None:
        """``passed`` is None if the line only lists the pieces."""
        if self.position.rules in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
            self.position = self.history[-1] = with_holdings(self.position, white, black)
        ordered = ("".join(sorted(hand.upper(), key="PNBRQ".find)) for hand in (white, black))
        self.observation.holdings.append(
            HoldingsChange(self._seq, self.ply, next(ordered), next(ordered), passed, line.at_ms, line.offset)
        )
        self._seq += 1

    def think(self, thought: ThinkingLine, white: bool | None, line: EngineLine) -> None:
        """The score is from the side of the engine that plays, or to move (White's if ``white``, None: unknown)."""
        thinking = self.observation.thinking
        thinking.append(
            thinking_of(thought, len(thinking), self.ply, self.name or self.engine, white, line.at_ms, line.offset)
        )

    def think_on(self, text: str) -> None:
        thinking = self.observation.thinking
        thinking[-1] = thinking[-1]._replace(pv=f"{thinking[-1].pv} {text.strip()}".strip())


def thinking_of(
    thought: ThinkingLine, seq: int, ply: int, engine: str, white: bool | None, at_ms: int | None, offset: int
) -> Thinking:
    return Thinking(
        seq, ply, engine, white, thought.depth, thought.score_cp, thought.mate, thought.time_ms,
        counted(thought.nodes), counted(thought.selective_depth), counted(thought.nodes_per_s),
        counted(thought.tablebase_hits), thought.pv, at_ms, offset,
    )  # fmt: skip


def counted(number: int | None) -> int | None:
    """A number of an engine's; None: it is not known, or one that no search reaches (-1 as an unsigned number)."""
    return None if number is None or abs(number) > _MOST_COUNT else number
