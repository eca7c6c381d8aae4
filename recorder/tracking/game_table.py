"""The games of one connection by number, and what can be done with them.

``boards.py`` and its helpers decide what a frame means; the verbs that carry it out are here.
"""

from __future__ import annotations

from dataclasses import replace

from recorder.events import GameNoticeKind, Line, ObservingStarted
from recorder.events.frames import Style12
from recorder.model import AnchorReason, Anomaly, AnomalyKind, Disposition, EventKind, GameEnd, Origin, Ply, Proof
from recorder.rules.fen import fen, has_plain_board
from recorder.rules.position import Position, Rules
from recorder.rules.variants import STANDARD_BOARD, has_pockets, is_bare_wild, known_start, variant_of
from recorder.tracking.facts import HeaderFacts, Starting, TableRow
from recorder.tracking.plies import first_move, frame_position, ply_from_frame, start_before, start_facts
from recorder.tracking.session import ServerSession
from recorder.tracking.tracked_game import TrackedGame

_FACTS_KEPT = 256
_ROW_BYTES = 1 << 16  # of a log in which the game of a row of the table of games can be joined


class GameTable:
    """The games of one connection by the server's number.

    Attributes:
        runs: games under observation, or over and waiting for a late list or the number's next game.
        examined: examined games by number.
        listed: games known only by a movelist.
        over: runs that are finished with; the tracker takes them from here.
        counts: disposition → number of frames.
        facts: header facts by number, for a game whose first board has not arrived yet.
        creating: the same by players, from lines without a number.
        rows: by number, what tables of games said last of games in progress that are not followed.
        announced: numbers that an observation was announced for.
        starting: an announced examination whose first board has not arrived yet.
    """

    def __init__(self, session: ServerSession) -> None:
        self.session = session
        self.runs: dict[str, TrackedGame] = {}
        self.examined: dict[str, TrackedGame] = {}
        self.listed: list[TrackedGame] = []
        self.over: list[TrackedGame] = []
        self.counts: dict[Disposition, int] = dict.fromkeys(Disposition, 0)
        self.anomalies: list[Anomaly] = []
        self.facts: dict[int, HeaderFacts] = {}
        self.creating: dict[frozenset[str], HeaderFacts] = {}
        self.rows: dict[int, TableRow] = {}
        self.announced: set[str] = set()
        self.starting: Starting | None = None
        self.lag_meaningless = False

    def count(self, disposition: Disposition) -> None:
        self.counts[disposition] += 1

    def anomaly(self, kind: AnomalyKind, frame: Style12, message: str) -> None:
        game_no = frame.game_no if len(frame.number) < 10 else None
        self.anomalies.append(Anomaly.of(kind, frame.offset, game_no, message, frame.text))

    def complain(self, kind: AnomalyKind, line: Line, game_no: int | None, message: str) -> None:
        self.anomalies.append(Anomaly.of(kind, line.offset, game_no, message, line.text))

    def every(self) -> list[TrackedGame]:
        return [*self.runs.values(), *self.examined.values(), *self.listed]

    def begin(self, frame: Style12, *, again: bool = False) -> None:
        """Begin a run with its first board; ``again``: its number had a game of the same players before."""
        number = frame.number
        creating = self.creating.pop(frozenset((frame.white.lower(), frame.black.lower())), None)
        self.drop_rows(frame.offset)
        row = self.rows.pop(frame.game_no, None)
        row = row if row is not None and row.fits(frame) else None
        facts = self.first_facts(frame, creating, row)
        run = self._take_listed(frame)
        if run is None:
            run = TrackedGame(frame.game_no, frame.white, frame.black, facts, frame.offset)
        else:
            run.game_no = frame.game_no
            run.facts.add(facts)
        run.session = self.session
        self.runs[number] = run
        gone = self.examined.pop(number, None)
        if gone is not None:
            self.close(gone, GameEnd.UNOBSERVED)
        self.start(run, frame, again=again)

    def start(self, run: TrackedGame, frame: Style12, *, again: bool = False) -> None:
        ply = frame.ply
        fresh = not frame.has_move
        category = run.facts.category
        start, drawn = None, False  # of a game that was joined after its first move
        if ply == 1 and not (fresh or again or run.observations or run.lists or run.facts.continued):
            start = known_start(category, variant_of(category)[1])
            drawn = start is None
            start = start or start_before(frame)
        run.variant, rules = variant_of(category)
        run.rules_stated = rules is not None and not is_bare_wild(category)
        if not has_plain_board(frame.board):
            rules = Rules.FRAMES
            self.anomaly(AnomalyKind.VARIANT, frame, "a board whose rules are not known: nothing is proved")
        elif rules is None:
            rules = rules_of_board(frame)
        holdings = ("", "") if has_pockets(rules) and fresh else None
        position = frame_position(frame, rules, holdings)
        run.holdings = None
        if fresh:
            run.start_frame = frame
        normal = ply == 0 and frame.board == STANDARD_BOARD
        text = None if normal else fen(position, frame.irreversible, frame.move_no)
        shown = start_facts(frame)
        first = None if start is None or rules is Rules.FRAMES else first_move(frame, rules, *start)
        if first is None:
            run.observe(frame, position, ply, shown, text)
        else:
            before = first[0]
            run.observe(frame, before, 0, shown, None if before.board == STANDARD_BOARD else fen(before, 0, 1))
        run.white_clock_ms, run.black_clock_ms = shown.white_clock_ms or 0, shown.black_clock_ms or 0
        run.increment_ms = 1000 * frame.increment_s
        run.timed = frame.base_min > 0 or frame.increment_s > 0
        run.me_plays = frame.relation != 0
        if run.facts.private:
            run.event(EventKind.NOTICE, GameNoticeKind.PRIVATE_GAME.value, frame)
        if first is None:
            self.count(Disposition.START if fresh else Disposition.JOINED)
        else:
            run.event(EventKind.GAP_FILLED, "start", frame, value=0)
            self.append(run, frame, 1, first[1], Disposition.JOINED, Proof.INFERRED if drawn else Proof.FULL)
            # Black's clock is running, and the board's arrival is that of our joining.
            run.rows[-1] = run.rows[-1]._replace(black_clock_ms=None, at_ms=None)

    @staticmethod
    def clock_start(run: TrackedGame, frame: Style12) -> None:
        """Take a frame's clocks as those that the next move's are compared with."""
        run.white_clock_ms, run.black_clock_ms = (clock or 0 for clock in frame.clocks)
        run.clocks_settled = False

    def _take_listed(self, frame: Style12) -> TrackedGame | None:
        ply = frame.ply
        fitting = [
            run
            for run in self.listed
            if frame.has_move and run.game_no is None and run.between(frame.white, frame.black)
            for seen in run.lists
            if seen.event.still_running and (known := seen.position_at(ply)) is not None and known.board == frame.board
        ]
        if not fitting or any(run is not fitting[0] for run in fitting):
            return None
        self.listed.remove(fitting[0])
        return fitting[0]

    def first_facts(
        self, frame: Style12, creating: HeaderFacts | None = None, row: TableRow | None = None
    ) -> HeaderFacts:
        pending = self.facts.pop(frame.game_no, None)
        facts = HeaderFacts(frame.offset)
        if pending is not None and pending.matches(frame.white, frame.black):
            facts.add(pending)
        if creating is not None:
            creating = replace(creating)
            if (creating.white or "").lower() != frame.white.lower():
                creating.turn()
            facts.add(creating)
        if row is not None:
            facts.add_row(row)
        return facts

    def keep_row(self, game_no: int, row: TableRow) -> None:
        self.rows.pop(game_no, None)  # rows are in the order of the log
        self.rows[game_no] = row
        self.drop_rows(row.offset)

    def drop_rows(self, offset: int) -> None:
        while self.rows and next(iter(self.rows.values())).offset < offset - _ROW_BYTES:
            del self.rows[next(iter(self.rows))]

    def pending_facts(self, game_no: int, offset: int) -> HeaderFacts:
        facts = self.facts.get(game_no)
        if facts is None:
            facts = self.facts[game_no] = HeaderFacts(offset)
            if len(self.facts) > _FACTS_KEPT:
                del self.facts[next(iter(self.facts))]
        return facts

    def settle_facts(self, run: TrackedGame, offset: int) -> None:
        """A line without names, printed while a game ran, is about it if its last known line (``offset``) is later."""
        pending = self.facts.get(run.game_no or 0)
        if pending is not None and pending.offset < offset and pending.matches(run.white, run.black):
            run.facts.add(self.facts.pop(run.game_no or 0))

    def observing_started(self, event: ObservingStarted) -> None:
        self.announced.add(str(event.game_no))

    def append(
        self,
        run: TrackedGame,
        frame: Style12,
        ply: int,
        played: tuple[int | None, str, Position],
        disposition: Disposition,
        proof: Proof = Proof.FULL,
    ) -> None:
        """Without squares in ``played`` the ply is not proved."""
        move, san, after = played
        if frame.partial and frame.pretty is None:
            proof = Proof.UNPROVED  # a cut frame has no pretty move that could agree with the rest
        run.rows.append(ply_from_frame(frame, ply, move, san, after, proof, self.lag_meaningless))
        run.join_deltas()
        run.position = after
        run.history.append(after)
        run.ply = ply
        run.last = frame
        self.clock_start(run, frame)
        self.count(disposition)

    def fill(self, run: TrackedGame, frame: Style12, filled: list[tuple[int, str, Position]]) -> None:
        *inferred, shown = filled
        for move, san, position in inferred:
            flags = position.castling | (position.push_col + 1) << 4
            run.ply += 1
            row = Ply(
                run.ply, move, san, None, None, None, None, None,
                flags, None, Proof.INFERRED, Origin.INFERRED, None, frame.offset,
            )  # fmt: skip
            run.rows.append(row)
            run.history.append(position)
        run.event(EventKind.GAP_FILLED, "inferred", frame, value=len(inferred))
        self.append(run, frame, run.ply + 1, shown, Disposition.GAP)
        run.clocks_settled = False

    def continue_unproved(self, run: TrackedGame, frame: Style12, ply: int, reason: AnchorReason) -> None:
        assert run.position is not None
        position = frame_position(frame, run.position.rules)
        if frame.has_move and ply > 0:
            proof = Proof.CONFLICT if reason is AnchorReason.CONFLICT else Proof.UNPROVED
            run.rows.append(
                ply_from_frame(frame, ply, None, frame.pretty or frame.verbose, position, proof, self.lag_meaningless)
            )
        run.reset_to(position, ply, reason, fen(position, frame.irreversible, frame.move_no), frame.offset)
        run.last = frame
        run.clocks_settled = False
        self.clock_start(run, frame)

    def conflict(self, run: TrackedGame, frame: Style12, ply: int, reason: str) -> None:
        """A board that contradicts the one before: both are kept, and the game continues from the new one."""
        if max(ply - 1, 0) < run.ply:
            run.take_back(max(ply - 1, 0), frame)
        run.gapped = True
        self.anomaly(AnomalyKind.CONFLICT, frame, f"ply {ply} does not follow from the board before: {reason}")
        self.continue_unproved(run, frame, ply, AnchorReason.CONFLICT)
        self.count(Disposition.CONFLICT)

    def replace(self, run: TrackedGame | None, frame: Style12) -> None:
        if run is not None:
            self.close(run, run.left if run.suspended else GameEnd.REUSED)
        self.begin(frame, again=run is not None and run.between(frame.white, frame.black))

    def close(self, run: TrackedGame, end: GameEnd) -> None:
        if run.end is None:
            run.end = end
        run.following = False
        if not run.renewed:
            self.settle_facts(run, run.last_word[0])
        run.close_observation()
        run.history = []
        row = self.rows.get(run.game_no or 0)
        if row is not None and row.offset < run.end_offset:
            del self.rows[run.game_no or 0]
        number = str(run.game_no)
        if self.runs.get(number) is run:
            del self.runs[number]
        self.over.append(run)


def rules_of_board(frame: Style12) -> Rules:
    if not has_plain_board(frame.board):
        return Rules.FRAMES
    return Rules.CHESS if frame.has_move or frame.board == STANDARD_BOARD else Rules.CHESS960
