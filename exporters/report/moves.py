"""The move list of a report: rows of moves with verdicts, chat, takebacks and gaps."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import NamedTuple

from exporters.evaluations import (
    BLUNDER_PERMILLE,
    BOUND_CP,
    CHANCES,
    INACCURACY_PERMILLE,
    MISTAKE_PERMILLE,
    Evaluation,
    evaluations,
    judged,
    pawns_text,
)
from exporters.games_json import PROOFS
from exporters.report.events import EventWords, event_words, is_engine_talk
from exporters.report.page import clock_text, is_exact, number_text, plain_name, tenths_text
from exporters.report.playback import Playback
from exporters.report.positions import Branch, Course, ReportPosition
from recorder.model import Anomaly, EventKind, Game, GameEvent, GameKind, Ply, Proof
from recorder.text import plural

_LEVELS = ((BLUNDER_PERMILLE, "blunder"), (MISTAKE_PERMILLE, "mistake"), (INACCURACY_PERMILLE, "inaccuracy"))


_SIGNS = {"blunder": "??", "mistake": "?", "inaccuracy": "?!"}


class MoveVerdict(NamedTuple):
    """The evaluation after a move from White's side, ``chances`` in thousandths, the word for a bad move, the loss."""

    evaluation: str
    chances: int
    word: str | None
    loss_cp: int | None

    @property
    def sign(self) -> str:
        return _SIGNS[self.word] if self.word else ""

    @property
    def lost(self) -> str:
        return pawns_text(self.loss_cp, None) or ""


class PlaybackBoard(NamedTuple):
    letter: str
    game: Game
    course: Course
    flipped: bool
    anomalies: Sequence[Anomaly]
    judged: Mapping[int, MoveVerdict] = MappingProxyType({})


def verdicts(game: Game) -> dict[int, MoveVerdict]:
    losses = judged(game)
    if losses is None:
        return {}
    scores = evaluations(game)
    of_ply = {}
    for ply, loss in zip(game.plies, losses, strict=True):
        score = scores.get(ply.ply)
        if score is not None:
            word = next((word for least, word in _LEVELS if (loss.loss_permille or 0) >= least), None)
            text = (pawns_text(score.score_cp, score.mate, signed=True) or "").replace("-", "−")
            of_ply[ply.ply] = MoveVerdict(text, _chances(score), word, loss.loss_cp)
    return of_ply


def _chances(score: Evaluation) -> int:
    if score.mate is not None:
        return CHANCES[-1] if score.mate >= 0 else CHANCES[0]
    return CHANCES[BOUND_CP + max(-BOUND_CP, min(BOUND_CP, score.score_cp or 0))]


def verdict_counts(game: Game, verdicts: Mapping[int, MoveVerdict]) -> list[tuple[str, ...]]:
    """A row for each side with a loss: handle, side, moves judged, inaccuracies, mistakes, blunders, mean loss."""
    rows = []
    for white, player in ((True, game.white), (False, game.black)):
        own = [verdict for ply, verdict in verdicts.items() if ply % 2 == white and verdict.loss_cp is not None]
        if own:
            numbers = (str(_count(own, word)) for word in ("inaccuracy", "mistake", "blunder"))
            lost_cp = sum(judgement.loss_cp or 0 for judgement in own)
            mean_cp = (2 * lost_cp + len(own)) // (2 * len(own))
            mean = pawns_text(mean_cp, None) or ""
            rows.append((plain_name(player.handle), "White" if white else "Black", str(len(own)), *numbers, mean))
    return rows


def _count(verdicts: Iterable[MoveVerdict], word: str) -> int:
    return sum(verdict.word == word for verdict in verdicts)


@dataclass(slots=True)
class Cell:
    """One move: its first place in the playback, and what its capture ``gives`` to a player on the other board."""

    place: int | None
    number: str
    san: str
    clock: str | None
    took: str | None
    note: str | None
    gives: str | None
    judged: MoveVerdict | None


@dataclass(slots=True)
class Row:
    """A row: two moves, an event with its place in the playback, or cells beside the main line under a heading.

    ``kind`` is ``moves``, ``event``, ``engine`` (an event that is folded), ``branch`` or ``gap``. ``number`` is that of
    the move; of an event, the move that it came after. ``closed``: the moves of a branch were taken back, so that
    others have a row of their own.
    """

    kind: str
    number: str = ""
    white: Cell | None = None
    black: Cell | None = None
    words: EventWords | None = None
    place: int | None = None
    heading: str = ""
    cells: list[Cell] = field(default_factory=list)
    closed: bool = False


class MoveRows:
    """The rows of one board: two moves, and below them what happened between them."""

    def __init__(
        self,
        game: Game,
        course: Course,
        play: Playback,
        board: int,
        gives: Mapping[int, str] = MappingProxyType({}),
        judged: Mapping[int, MoveVerdict] = MappingProxyType({}),
    ) -> None:
        self._game, self._course, self._gives, self._judged = game, course, gives, judged
        self._untimed = game.base_s == 0 and not game.increment_s
        self._places: dict[int, int] = {}
        self._events: dict[int, list[tuple[int, GameEvent]]] = {}
        self._order: list[tuple[int, ReportPosition, GameEvent | None]] = []
        self._exact = any(map(is_exact, game.plies))
        for index, showing in enumerate(play.showings):
            if showing.board != board:
                continue
            if showing.event is None:
                self._places.setdefault(id(showing.state), index)
            else:
                self._events.setdefault(id(showing.state), []).append((index, showing.event))
            self._order.append((index, showing.state, showing.event))
        self._rows: list[Row] = []

    def read(self) -> list[Row]:
        if self._game.kind is GameKind.PLAYED:
            self._in_order_of_play()
        else:
            self._as_a_tree()
        return self._rows

    def _in_order_of_play(self) -> None:
        variations: dict[int, list[Branch]] = {}
        for branch in self._course.branches:
            if not branch.taken_back:
                variations.setdefault(branch.ply, []).append(branch)
        written: set[int] = set()
        for place, state, event in self._order:
            if event is not None:
                self._event(place, state, event)
            elif id(state) not in written and state.move is not None:
                written.add(id(state))
                if state.line:
                    self._beside(state)
                else:
                    self._main(state)
                    for branch in variations.get(state.ply - 1, ()):
                        self._variation(branch)
        for state in self._course.main:
            if id(state) not in written:  # played, though the playback does not show it
                self._main(state)

    def _as_a_tree(self) -> None:
        below: dict[int | None, dict[int, list[Branch]]] = {}
        for branch in self._course.branches:
            below.setdefault(branch.parent, {}).setdefault(branch.ply, []).append(branch)

        def add(branch: Branch) -> None:
            self._variation(branch)
            for state in branch.states:
                self._add_events(state)
            for inner in below.get(branch.number, {}).values():
                for child in inner:
                    add(child)

        self._add_events(self._course.start)
        left = below.pop(None, {})
        for state in self._course.main:
            self._main(state)
            self._add_events(state)
            for branch in left.pop(state.ply - 1, ()):
                add(branch)
        for branches in left.values():
            for branch in branches:
                add(branch)

    def _add_events(self, state: ReportPosition) -> None:
        for place, event in self._events.get(id(state), ()):
            self._event(place, state, event)

    def _event(self, place: int, state: ReportPosition, event: GameEvent) -> None:
        last = self._rows[-1] if self._rows else None
        if event.kind is EventKind.TAKEBACK and last is not None and last.kind == "branch" and not last.closed:
            last.closed = True  # its row says that they were taken back
            return
        words = event_words(event, self._exact)
        if words is not None:
            kind = "engine" if is_engine_talk(event, self._game) else "event"
            self._rows.append(Row(kind, number_text(state.ply) if state.ply else "", words=words, place=place))

    def _main(self, state: ReportPosition) -> None:
        if state.missing:
            self._rows.append(Row("gap", heading=f"{plural(state.missing, 'half-move')} not seen"))
        cell = self._cell(state)
        white = state.ply % 2 == 1
        number = f"{(state.ply + 1) // 2}."
        last = next((row for row in reversed(self._rows) if row.kind in ("moves", "gap")), None)
        if not white and last is not None and last.black is None and last.number == number:
            last.black = cell
        else:
            self._rows.append(Row("moves", number, cell if white else None, None if white else cell))

    def _beside(self, state: ReportPosition) -> None:
        last = self._rows[-1] if self._rows else None
        if last is None or last.kind != "branch" or last.closed:
            last = Row("branch", heading="Taken back")
            self._rows.append(last)
        last.cells.append(self._cell(state))

    def _variation(self, branch: Branch) -> None:
        heading = "Taken back" if branch.taken_back else "Variation"
        self._rows.append(Row("branch", heading=heading, cells=[self._cell(state) for state in branch.states]))

    def _cell(self, state: ReportPosition) -> Cell:
        move = state.move
        assert move is not None
        exact = is_exact(move)
        clock_ms = state.white_clock_ms if move.white_moved else state.black_clock_ms
        took_ms = move.elapsed_ms
        timed = not self._untimed
        return Cell(
            self._places.get(id(state)),
            number_text(state.ply),
            move.san,
            tenths_text(clock_ms, exact) if timed and clock_ms is not None else None,
            None if took_ms is None else _took_tenths(took_ms, exact),
            _note(move),
            None if state.line else self._gives.get(state.ply),
            None if state.line else self._judged.get(state.ply),
        )


def _took_tenths(ms: int, exact: bool) -> str:
    """The time of a move as lists have it: rounded to tenths, where thousandths were printed."""
    tenths = (abs(ms) + 50) // 100
    return f"{tenths // 10}.{tenths % 10} s" if exact and 0 <= tenths < 600 else took_text(ms // 1000 * 1000, False)


def took_text(ms: int, exact: bool) -> str:
    """``2.663 s``, ``3 s``, ``1:04.120``: the time of a move, as precise as it was printed."""
    if abs(ms) >= 60_000:
        return clock_text(ms, exact)
    return f"{ms // 1000}.{ms % 1000:03} s" if exact else f"{ms // 1000} s"


def _note(move: Ply) -> str | None:
    if move.proof_code in (Proof.FULL, Proof.LIST):
        return None
    return {"inferred": "inferred", "unproved": "not proved", "conflict": "sources differ"}[PROOFS[move.proof_code]]
