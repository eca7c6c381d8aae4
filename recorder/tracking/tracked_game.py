"""One game while it is followed: its observations, its main line and its current board.

``boards.py`` decides what a board means and calls the verbs here; ``assemble.py`` turns a run that is over into a
``Game``.

The tree of takebacks. A server sends an earlier board again, and play goes on from there; what was taken back was
played all the same, and its clocks and think times count in every measure::

    <12> … B … 1 1 Tal Smyslov 0 3 2 39 39 181450 180000 2 N/g1-f3 (0:00.550) Nf3 …     ply 3
    <12> … W … 1 1 Tal Smyslov 0 3 2 39 39 180000 180000 2 P/e7-e5 (0:00.000) e5 …      ply 2 again
    <12> … B … 1 1 Tal Smyslov 0 3 2 39 39 179020 180000 2 P/f2-f4 (0:02.980) f4 …      ply 3, another one

``rows`` is the main line, as a stack. ``take_back`` pops the plies behind the board that is shown again and keeps them
as a line of their own, which leaves line 0 after that ply: here line 1, with Nf3, leaves after ply 2. Each takeback
makes one such line; none leaves another one, because the next takeback pops from the main line, too. ``history`` has
the positions since ``base_ply``, so the board shown again is compared with the one that the game had.

What belongs to the popped plies goes with them: boards that no ply gives (``anchored``) move to the new line, and a
list that was printed before counts only up to the ply that stayed (``limits``).

What must never happen: a ply is lost, or counts in two lines; a list that was printed before a takeback puts the moves
back that were taken back.
"""

from __future__ import annotations

from bisect import bisect_right
from operator import itemgetter

from recorder.events import DeltaBoard, HoldingsLine, Line, MovelistRead
from recorder.events.frames import Style12
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
    Proof,
    StartFacts,
)
from recorder.rules.position import Position, Rules
from recorder.tracking.examined.tree import ExaminedTree
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.session import ServerSession


class ListSeen:
    def __init__(
        self,
        event: MovelistRead,
        observation: Observation,
        start: Position | None,
        first_ply: int,
        positions: list[Position],
    ) -> None:
        self.event = event
        self.observation = observation
        self.start = start
        self.first_ply = first_ply
        self.positions = positions

    @property
    def plies(self) -> list[Ply]:
        return self.observation.lines[0].plies

    @property
    def form(self) -> tuple[int, str | None, bool, int | None]:
        """What of it besides its moves decides whether another list can be of the same game."""
        return len(self.plies), self.event.result, self.event.still_running, self.event.game_no

    @property
    def breaks(self) -> bool:
        return self.start is not None and len(self.positions) < len(self.plies)

    def position_at(self, ply: int) -> Position | None:
        """The position after ``ply`` half-moves, or None where the list does not reach."""
        if ply == self.first_ply - 1:
            return self.start
        index = ply - self.first_ply
        return self.positions[index] if 0 <= index < len(self.positions) else None


class TrackedGame:
    """A game under observation.

    Attributes:
        ply: half-moves played to reach ``position``; meaningful once ``position`` is set.
        position: the position reached, None before the first board.
        rows: the plies of the current observation's main line.
        history: positions of the current observation by ply, ``history[0]`` at ``base_ply``.
        following: neither ended nor suspended: the next ply may come.
        clocks_settled: the last frame's clocks are those after a move, not of a running clock.
        end: how the run ended (see ``Game.end``), or None while it is followed.
        delta: the last ``<d1>``, until a board joins it.
        unjoined: the place in ``rows`` of the first such ply.
        longest: of the lists.
        list_forms: every ``ListSeen.form`` among them.
        limits: what later takebacks left of the lists: how many lists, and the last valid ply of those of them
            that no entry before counts; both grow.
        lost_rules: those in force when the position was lost: plies are known, but no board before them.
        anchored: places of the anchors in the main line of the current observation.
        alias: other names under which a board of the game was shown; None: the last one showed its own.
        names: White's and Black's as the last board printed them; None while a delta waits for a board, so that the
            next one is no common case.
        strange: the last board with letters that are no pieces of this game, and the ply that was reached then.
        suspended: the feed of this board stopped without a result; ``left`` is the reason (``Game.end``'s word).
        renewed: a line announced a new game under this number; the next first board begins it. Of an examined game: we
            were made an examiner after it was no longer observed.
        tree: boards of an examined game; its observation has events and holdings only.
        navigation: how, by a line, its next board is reached (``nodes.FORWARD`` …).
    """

    def __init__(self, game_no: int | None, white: str, black: str, facts: HeaderFacts, offset: int) -> None:
        self.game_no = game_no
        self.white = white
        self.black = black
        self.names: str | None = f"{white} {black}"
        self.alias: tuple[str, str] | None = None
        self.facts = facts
        self.first_offset = offset
        self.end_offset = offset
        self.observations: list[Observation] = []
        self.anchored: list[int] = []
        self.lists: list[ListSeen] = []
        self.longest: ListSeen | None = None
        self.list_forms: set[tuple[int, str | None, bool, int | None]] = set()
        self.limits: list[tuple[int, int]] = []
        self.current: Observation | None = None
        self.rows: list[Ply] = []
        self.position: Position | None = None
        self.history: list[Position] = []
        self.base_ply = 0
        self.ply = -1
        self.last: Style12 | None = None
        self.start_frame: Style12 | None = None
        self.rival: Style12 | None = None
        self.strange: tuple[Style12, int] | None = None
        # A ply, and the pieces in hand by the plies until then or by a later line, which may be of a ply not seen.
        self.hands: tuple[int, str, str] | None = None
        self.seq = 0
        self.session: ServerSession | None = None
        self.increment_ms = 0
        self.clocks_settled = False
        self.holdings: tuple[str, str] | None = None
        self.variant: str | None = None
        self.variant_inferred = False
        self.doubted_ply: int | None = None  # at which a hand grew without a capture, though it seemed crazyhouse
        self.rules_stated = False
        self.me_plays = False
        self.examined = False
        self.setup = False
        self.gapped = False
        self.delta: DeltaBoard | None = None
        self.unjoined = 0
        self.lost_rules: Rules | None = None
        self.end: GameEnd | None = None
        self.result = "*"
        self.reason: str | None = None
        self.reason_key: str | None = None
        self.termination: str | None = None
        self.result_at_ms: int | None = None
        self.suspended = False
        self.left: GameEnd = GameEnd.UNOBSERVED
        self.following = False
        self.renewed = False
        self.timed = False
        self.tree: ExaminedTree | None = None
        self.navigation = ""
        self.white_clock_ms = 0
        self.black_clock_ms = 0

    def set_position(self, position: Position) -> None:
        self.position = self.history[-1] = position

    def between(self, white: str, black: str) -> bool:
        return self.white.lower() == white.lower() and self.black.lower() == black.lower()

    def rename(self, white: str, black: str) -> None:
        self.alias = self.white, self.black
        self.white, self.black = white, black

    def is_alias(self, white: str, black: str) -> bool:
        return self.alias is not None and (white.lower(), black.lower()) == (
            self.alias[0].lower(),
            self.alias[1].lower(),
        )

    def copy(self) -> TrackedGame:
        other = TrackedGame(self.game_no, self.white, self.black, self.facts, self.first_offset)
        for name in getattr(TrackedGame, "__mypyc_attrs__", None) or vars(self):
            setattr(other, name, getattr(self, name))
        return other

    # -- observations ------------------------------------------------------------------------------------------

    def observe(self, frame: Style12, position: Position, ply: int, start: StartFacts, anchor: str | None) -> None:
        """``anchor`` is the position's FEN; None: the plies alone give it, from the normal start."""
        self.close_observation()
        self.names = frame.names
        self.delta = None
        self.current = Observation(
            kind=ObservationKind.EXAMINED if self.examined else ObservationKind.LIVE,
            game_no=self.game_no,
            white=self.white,
            black=self.black,
            relation=frame.relation,
            offset=frame.offset,
            end_offset=frame.offset,
            started_at_ms=frame.at_ms,
            ended_at_ms=frame.at_ms,
            start=start,
        )
        self.rows = []
        self.current.lines.append(PlyLine(0, LineKind.MAIN, None, None, self.rows))
        self.anchored = []
        if anchor is not None:
            self.anchored.append(0)
            self.current.anchors.append(Anchor(0, ply, anchor, AnchorReason.START, frame.offset))
        self.observations.append(self.current)
        self.position = position
        self.history = [position]
        self.base_ply = self.ply = ply
        self.last = frame
        self.suspended = False
        self.following = self.end is None
        self.clocks_settled = False
        self.seq = 0

    def close_observation(self) -> None:
        if self.current is not None and self.last is not None:
            offset, at_ms = self.last_word
            self.current.end_offset = max(self.current.end_offset, offset)
            if at_ms is not None:
                self.current.ended_at_ms = at_ms
        self.end_offset = max(self.end_offset, self.last_word[0])

    @property
    def last_word(self) -> tuple[int, int | None]:
        """Offset and arrival of the last board or delta; 0 and None before the first."""
        if self.delta is not None:
            return self.delta.line.offset, self.delta.line.at_ms
        return (0, None) if self.last is None else (self.last.offset, self.last.at_ms)

    # -- the line of plies -------------------------------------------------------------------------------------

    def reset_to(self, position: Position, ply: int, reason: AnchorReason, fen: str, offset: int) -> None:
        """Continue from a board that the plies do not give: ``ply`` is the last one it includes."""
        assert self.current is not None
        self.position = position
        self.history = [position]
        self.base_ply = self.ply = ply
        self.delta = None
        self.anchored.append(len(self.current.anchors))
        self.current.anchors.append(Anchor(0, ply, fen, reason, offset))

    def position_at(self, ply: int) -> Position | None:
        """The position after ``ply`` half-moves of the main line; None: it is no longer known."""
        index = ply - self.base_ply
        return self.history[index] if 0 <= index < len(self.history) else None

    def lose_position(self) -> None:
        """A ply cannot be played from the position reached: the current position is unknown."""
        if self.position is not None:
            self.lost_rules = self.position.rules
        self.position = None
        self.history = []
        self.base_ply = self.ply + 1

    def join_deltas(self) -> None:
        """A board agrees with the deltas before it: their plies are fully proved."""
        if self.delta is None:
            return
        self.delta = None
        for place in range(self.unjoined, len(self.rows)):
            row = self.rows[place]
            if row.ply > self.base_ply and row.origin_code == Origin.DELTA and row.proof_code == Proof.LIST:
                self.rows[place] = row._replace(proof_code=int(Proof.FULL))

    def take_back(self, ply: int, where: Style12 | Line, clocks: tuple[int | None, int | None] = (None, None)) -> None:
        """The plies after ``ply`` become a line of their own; ``where`` shows ``ply`` again, with its ``clocks``."""
        assert self.current is not None
        removed: list[Ply] = []
        while self.rows and self.rows[-1].ply > ply:
            removed.append(self.rows.pop())
        removed.reverse()
        self.unjoined = min(self.unjoined, len(self.rows))
        count = self.ply - ply
        if removed:
            number = len(self.current.lines)
            self.current.lines.append(PlyLine(number, LineKind.TAKEBACK, 0, ply, removed))
            anchors = self.current.anchors
            while self.anchored and anchors[self.anchored[-1]].ply > ply:
                place = self.anchored.pop()
                anchors[place] = anchors[place]._replace(line=number)
        while self.limits and self.limits[-1][1] >= ply:
            self.limits.pop()
        if len(self.lists) > (self.limits[-1][0] if self.limits else 0):
            self.limits.append((len(self.lists), ply))
        self.event(EventKind.TAKEBACK, f"{self.ply}-{ply}", where, value=count, clocks=clocks)
        keep = ply - self.base_ply + 1
        if keep > 0:
            del self.history[keep:]
        if self.history and keep > 0:
            self.position = self.history[-1]
        self.ply = ply

    # -- lists -------------------------------------------------------------------------------------------------

    def add_list(self, seen: ListSeen) -> None:
        self.lists.append(seen)
        self.list_forms.add(seen.form)
        if self.longest is None or len(seen.plies) > len(self.longest.plies):
            self.longest = seen

    def valid_to(self, index: int) -> int | None:
        """The last ply of a list, named by its place, that no later takeback removed; None: all of it is valid."""
        at = bisect_right(self.limits, index, key=itemgetter(0))
        return self.limits[at][1] if at < len(self.limits) else None

    # -- events and holdings -----------------------------------------------------------------------------------

    def event(
        self,
        kind: EventKind,
        detail: str,
        where: Style12 | Line | tuple[int, int | None],
        *,
        actor: str | None = None,
        value: int | None = None,
        text: str = "",
        clocks: tuple[int | None, int | None] = (None, None),
    ) -> None:
        if self.current is None:
            return
        offset, at_ms = (where.offset, where.at_ms) if isinstance(where, (Style12, Line)) else where
        self.current.events.append(
            GameEvent(self.seq, kind, detail, self.ply, actor, value, text, clocks[0], clocks[1], at_ms, offset)
        )
        self.seq += 1
        self.current.end_offset = max(self.current.end_offset, offset)

    def note_holdings(self, event: HoldingsLine, white: str, black: str) -> None:
        """Keep a ``<b1>`` of this game: every pass, and the holdings whenever they change."""
        passed = None
        if event.passed is not None:
            passed = ("W" if event.passed_to_white else "B") + event.passed
        if passed is None and self.holdings == (white, black):
            return
        if passed is None:
            self.holdings = (white, black)
        if self.current is not None:
            line = event.line
            self.current.holdings.append(
                HoldingsChange(self.seq, max(self.ply, 0), white, black, passed, line.at_ms, line.offset)
            )
            self.seq += 1

    @property
    def rules(self) -> Rules | None:
        return self.lost_rules if self.position is None else self.position.rules

    def set_rules(self, rules: Rules) -> None:
        """Continue under other rules from the position reached, or from an earlier one after a takeback."""
        if self.position is not None:
            self.history = [row._replace(rules=rules) for row in self.history]
            self.set_position(self.position._replace(rules=rules))
