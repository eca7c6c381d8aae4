"""The steps that an engine is sent for a recorded game, and the answers that it gives.

A plan is a list of steps in the order of the game: positions set up, moves, moves taken back, and looks, at which the
engine analyses. It contains everything that was played, so that a learning engine sees it; but only the positions of
the main line are analysed, each once. A gap in the recording is a gap in the plan: the next position that a board
showed is set up.

Answers are bounded, and checked against the position.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from recorder.model import EventKind, Game, GameEvent, HoldingsChange, Thinking
from recorder.replay.boards import irreversible_after, play_line, play_ply, start_of
from recorder.replay.moments import Begin, End, ShownPly, moments_of_game
from recorder.rules.fen import fen, fen_counters
from recorder.rules.position import Position, Rules
from recorder.rules.prove import has_legal_move, with_holdings
from recorder.rules.variants import has_pockets, known_start, rules_of
from recorder.times import in_ms


class SetUp(NamedTuple):
    """A position is set up; ``usual``: it is the one after ``new`` in normal chess."""

    position: Position
    fen: str
    usual: bool


class Play(NamedTuple):
    """A move: ``uci`` and ``san`` as ``Ply`` has them, the position after it."""

    uci: str
    san: str
    position: Position


class TakeBack(NamedTuple):
    """Take back plies."""

    plies: int


class Look(NamedTuple):
    """Analyse the position reached after ``ply`` plies, with the mover's holdings and the clocks recorded there.

    ``fen`` is X-FEN, with ``[holdings]`` in drop games where they are known.
    """

    ply: int
    position: Position
    fen: str
    white_clock_ms: int | None
    black_clock_ms: int | None


Step = SetUp | Play | TakeBack | Look


@dataclass
class PlayedLine:
    """The moves that led to a position: ``plays`` since ``start`` was set up; None: no position is known yet."""

    start: SetUp | None = None
    plays: list[Play] = field(default_factory=list)

    def follow(self, step: SetUp | Play | TakeBack) -> None:
        match step:
            case SetUp():
                self.start, self.plays = step, []
            case Play():
                self.plays.append(step)
            case TakeBack(plies):
                del self.plays[len(self.plays) - plies :]


@dataclass(frozen=True)
class Plan:
    game: Game
    steps: tuple[Step, ...]

    @property
    def looks(self) -> list[Look]:
        return [step for step in self.steps if isinstance(step, Look)]

    def only(self, plies: set[int]) -> Plan:
        kept = (step for step in self.steps if not isinstance(step, Look) or step.ply in plies)
        return replace(self, steps=tuple(kept))


def make_plan(game: Game) -> Plan:
    """No looks if positions are unknown (other boards, kriegspiel), nor where there is no legal move."""
    planning = _Planning(game)
    for moment in moments_of_game(game):
        what = moment.what
        if isinstance(what, ShownPly):
            planning.show(what)
        elif isinstance(what, Begin):
            planning.begin(what)
        elif isinstance(what, HoldingsChange):
            planning.hold(what)
        elif isinstance(what, GameEvent) and what.kind is EventKind.TAKEBACK and what.value is not None:
            planning.back_to(what.ply - what.value)
        elif isinstance(what, End):
            planning.look()
    return Plan(game, tuple(planning.steps))


class _Place(NamedTuple):
    """A position reached; ``main``: it is one of the main line."""

    ply: int
    position: Position
    irreversible: int
    clocks_ms: tuple[int | None, int | None]
    main: bool

    @property
    def fen(self) -> str:
        return fen(self.position, self.irreversible, self.ply // 2 + 1)


class _Planning:
    """``_track``: the places since the last position that was set up; empty: none is known."""

    def __init__(self, game: Game) -> None:
        self.steps: list[Step] = []
        self._game = game
        self._rules = rules_of(game.variant or "chess")
        self._track: list[_Place] = []
        self._seen: set[int] = set()
        self._shown = {anchor.ply: anchor.fen for anchor in game.anchors()}
        black_s = game.base_s if game.black_base_s is None else game.black_base_s
        self._base_ms = (in_ms(game.base_s), in_ms(black_s))

    def begin(self, what: Begin) -> None:
        """An observation's first board: a position that is known already, or one to set up."""
        observation = None if what.observation is None else self._game.observations[what.observation]
        start = None if observation is None else observation.start
        ply = self._game.start_ply if start is None else start.ply
        if self._track and self._track[-1].ply == ply:
            return
        text = self._shown.get(ply)
        if text is None and ply == self._game.start_ply:
            text = self._game.start_fen
        clocks_ms = self._base_ms if start is None else (start.white_clock_ms, start.black_clock_ms)
        if text is not None or ply == 0:
            self._set_up(ply, text, clocks_ms, main=True)

    def show(self, what: ShownPly) -> None:
        ply, main = what.ply, what.line == 0
        self.look()
        if self._track and self._track[-1].ply >= ply.ply:
            self.back_to(ply.ply - 1)
        if (not self._track or self._track[-1].ply != ply.ply - 1) and main and ply.ply - 1 in self._shown:
            self._set_up(ply.ply - 1, self._shown[ply.ply - 1], (None, None), main=True)
            self.look()
        before = self._track[-1] if self._track and self._track[-1].ply == ply.ply - 1 else None
        reached = None if before is None else play_ply(before.position, ply)
        clocks_ms = (ply.white_clock_ms, ply.black_clock_ms)
        if before is None or reached is None or ply.uci is None:
            self._track = []
            if main and ply.ply in self._shown:
                self._set_up(ply.ply, self._shown[ply.ply], clocks_ms, main=True)
            return
        if clocks_ms == (None, None):
            clocks_ms = (None, before.clocks_ms[1]) if ply.white_moved else (before.clocks_ms[0], None)
        irreversible = irreversible_after(ply, before.irreversible)
        self.steps.append(Play(ply.uci, ply.san, reached))
        self._track.append(_Place(ply.ply, reached, irreversible, clocks_ms, main))

    def hold(self, what: HoldingsChange) -> None:
        """Holdings that follow from the moves are preferred: a capture is reported before the capturing move."""
        if not self._track or not has_pockets(self._rules) or what.ply != self._track[-1].ply:
            return
        last = self._track[-1]
        if self._rules is Rules.BUGHOUSE or (last.position.holdings is None and what.passed is None):
            self._track[-1] = last._replace(position=with_holdings(last.position, what.white, what.black))

    def back_to(self, ply: int) -> None:
        self.look()
        count = 0 if not self._track else self._track[-1].ply - ply
        if 0 < count < len(self._track):
            del self._track[-count:]
            self.steps.append(TakeBack(count))
        elif count:
            self._track = []

    def look(self) -> None:
        """Once all facts of the position reached are known."""
        last = self._track[-1] if self._track else None
        if last is None or not last.main or last.ply in self._seen:
            return
        self._seen.add(last.ply)
        unknown = has_pockets(self._rules) and (last.position.holdings is None or self._rules is Rules.BUGHOUSE)
        if has_legal_move(last.position, any_drop=unknown):
            self.steps.append(Look(last.ply, last.position, last.fen, *last.clocks_ms))

    def _set_up(self, ply: int, text: str | None, clocks_ms: tuple[int | None, int | None], *, main: bool) -> None:
        self.look()
        self._track = []
        position = None if self._rules is Rules.FRAMES else start_of(self._game, text, has_pockets(self._rules))
        if position is None or position.white_to_move != (ply % 2 == 0):
            return
        first = _Place(ply, position, fen_counters(text or "")[0], clocks_ms, main)
        usual = ply == 0 and known_start(None, self._rules) == (position.board, position.castling)
        self._track = [first]
        self.steps.append(SetUp(position, first.fen, usual))


MOST_LINES: Final = 1_000
"""The most lines of one position; of more the last ones are kept, which are the deepest."""

MOST_PV: Final = 4_096
"""The most characters of a line's pv."""

_MOST_MS: Final = 600_000


class Limits(NamedTuple):
    """The first limit that is reached ends the analysis of a position. None: no such limit.

    Without ``time_ms`` a position that never reaches its depth or nodes ends after ``most_ms``, or when the engine has
    printed nothing for long; a note reports this.
    """

    time_ms: int | None = None
    depth: int | None = None
    nodes: int | None = None

    @property
    def most_ms(self) -> int:
        return _MOST_MS if self.time_ms is None else self.time_ms


class Found(NamedTuple):
    """One position analysed; ``notes`` are problems, as phrases that follow the engine's name."""

    look: Look
    lines: tuple[Thinking, ...]
    notes: tuple[str, ...]


class Collected:
    def __init__(self, look: Look) -> None:
        self.look = look
        self.notes: list[str] = []
        self._lines: deque[Thinking] = deque(maxlen=MOST_LINES)
        self.count = 0

    @property
    def last(self) -> Thinking | None:
        return self._lines[-1] if self._lines else None

    def add(self, line: Thinking) -> None:
        """A pv longer than any game is cut."""
        self._lines.append(line._replace(pv=line.pv[:MOST_PV]))
        self.count += 1

    def continue_pv(self, text: str) -> None:
        if self._lines:
            last = self._lines[-1]
            self._lines[-1] = last._replace(pv=f"{last.pv} {text.strip()}".strip()[:MOST_PV])

    def found(self) -> Found:
        """Checked against the position."""
        notes = list(self.notes)
        dropped = self.count - len(self._lines)
        if dropped:
            notes.append(f"sent {self.count} lines, of which the last {len(self._lines)} are kept")
        illegal = sum(not is_playable(self.look.position, line.pv) for line in self._lines)
        if illegal:
            notes.append(f"sent {illegal} line{'s' * (illegal > 1)} whose moves are not legal")
        return Found(self.look, tuple(self._lines), tuple(notes))


def is_playable(position: Position, pv: str) -> bool:
    """Up to the first word that is no move; in bughouse with drops that a partner would have to pass first."""
    if position.rules is Rules.BUGHOUSE:
        position = position._replace(holdings=None)
    return play_line(position, pv)[1]
