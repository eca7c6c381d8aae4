"""What each ``<12>`` frame means: a ply, the same ply again, a takeback, a gap, another game …

The strategy: a frame is compared with the position that its game stands on. The one common case, the next ply of a
followed game, is decided in ``Boards.frame`` itself; everything else goes through ``_other``. Every frame gets
exactly one disposition. What a frame cannot prove stays unproved; a board that contradicts the game is kept as a
conflict and the game goes on from it.
"""

from __future__ import annotations

from recorder.dialects.style12 import check_frame
from recorder.events import ObservingStarted
from recorder.frames import ELAPSED_MEMO, Style12, parse_elapsed
from recorder.model import (
    Anomaly,
    AnomalyKind,
    Disposition,
    EventKind,
    Origin,
    Ply,
    Proof,
)
from recorder.tracking.bridge import bridge
from recorder.tracking.examined import follow_examined
from recorder.tracking.facts import Facts
from recorder.tracking.lists import frame_position
from recorder.tracking.plies import clocks_of, ply_from_frame, start_facts, try_rules
from recorder.tracking.position import Position, Rules, advance, fen
from recorder.tracking.run import Run
from recorder.tracking.session import Session
from recorder.tracking.variants import STANDARD_BOARD, has_pockets, variant_of

__all__ = ["Boards"]

_LIVE = frozenset(("0", "1", "-1"))
_EXAMINED = frozenset(("2", "-2"))
_SPOSITION_CODE = 125  # block mode's code of the command that shows a stored position
_TOLERANCE_MS = 1000
_TURNS = ("W", "B")
_NUMBERS = [str(number) for number in range(1000)]
_FACTS_KEPT = 256

_new_ply = tuple.__new__
_known_times = ELAPSED_MEMO


class Boards:
    """The games of one connection by the server's number.

    Attributes:
        runs: games under observation, or over and waiting for a late list or the number's next game.
        examined: examined games by number.
        over: runs that are finished with; the tracker takes them from here.
        counts: disposition → number of frames, but for the plain next plies in ``next_plies`` (counted apart: hot).
    """

    def __init__(self, session: Session) -> None:
        self.session = session
        self.runs: dict[str, Run] = {}
        self.examined: dict[str, Run] = {}
        self.over: list[Run] = []
        self.counts: dict[Disposition, int] = dict.fromkeys(Disposition, 0)
        self.anomalies: list[Anomaly] = []
        self.facts: dict[int, Facts] = {}
        self.creating: dict[frozenset[str], Facts] = {}
        self.announced: set[str] = set()
        self.setup_mode = False
        self.lag_meaningless = False
        self.next_plies = 0

    # -- the common case ---------------------------------------------------------------------------------------

    def frame(self, frame: Style12) -> None:
        """Place one frame."""
        tail = frame.tail
        run = self.runs.get(tail[7])
        if (
            run is not None
            and run.following
            and tail[8] == run.white_token
            and tail[9] == run.black_token
            and tail[10] in _LIVE
        ):
            ply = run.ply + 1
            try:
                # The next ply's side and number are compared as text: no other frame costs less to refuse.
                if tail[0] == _TURNS[ply & 1] and tail[17] == _NUMBERS[(ply >> 1) + 1]:
                    played = advance(run.position, tail[18], tail[20], frame.board)  # type: ignore[arg-type]
                    if type(played) is tuple:
                        elapsed_ms, in_ms = _known_times.get(tail[19]) or parse_elapsed(tail[19])
                        white_ms, black_ms = int(tail[15]), int(tail[16])
                        if not in_ms:
                            white_ms *= 1000
                            black_ms *= 1000
                        lag_ms = None if len(tail) < 24 or self.lag_meaningless else int(tail[23])
                        move, san, after = played
                        row = (
                            ply, move, san, white_ms, black_ms, elapsed_ms, lag_ms, frame.at_ms,
                            after[2] | (after[3] + 1) << 4, int(tail[6]), 1, 0, 1 if in_ms else 0, frame.offset,
                        )  # fmt: skip
                        run.plies.append(_new_ply(Ply, row))
                        run.position = after
                        run.history.append(after)
                        run.ply = ply
                        run.last = frame
                        self.next_plies += 1
                        if run.timed:
                            if ply & 1:
                                drift = white_ms - run.white_clock_ms + elapsed_ms - run.increment_ms
                                other = black_ms - run.black_clock_ms
                            else:
                                drift = black_ms - run.black_clock_ms + elapsed_ms - run.increment_ms
                                other = white_ms - run.white_clock_ms
                            run.white_clock_ms = white_ms
                            run.black_clock_ms = black_ms
                            if other or not -_TOLERANCE_MS <= drift <= _TOLERANCE_MS or not run.clocks_settled:
                                self._clocks_moved(run, frame, drift, other)
                        return
            except (ValueError, IndexError):
                pass  # a field that is no number or is not there: _other names it
        self._other(frame)

    @staticmethod
    def _clocks_moved(run: Run, frame: Style12, drift: int, other: int) -> None:
        """Note clocks that the move's time and the increment do not explain."""
        if not run.clocks_settled:
            # The clocks before were those of a running clock, or the first moves', which servers charge differently.
            run.clocks_settled = run.ply > 1
            return
        if run.ply <= 2:
            return
        clocks = (run.white_clock_ms, run.black_clock_ms)
        if abs(other) > _TOLERANCE_MS:
            run.event(EventKind.CLOCK, "opponent-adjusted", frame, value=other, clocks=clocks)
        if abs(drift) > _TOLERANCE_MS:
            run.event(EventKind.CLOCK, "adjusted", frame, value=drift, clocks=clocks)

    def frame_counts(self) -> dict[Disposition, int]:
        """Disposition → frames so far."""
        counts = dict(self.counts)
        counts[Disposition.PLY] += self.next_plies
        return counts

    # -- everything else ---------------------------------------------------------------------------------------

    def _count(self, disposition: Disposition) -> None:
        self.counts[disposition] += 1

    def _anomaly(self, kind: AnomalyKind, frame: Style12, message: str) -> None:
        number = frame.tail[7] if len(frame.tail) > 7 else ""
        game_no = int(number) if number.lstrip("-").isdecimal() else None
        self.anomalies.append(Anomaly.of(kind, frame.offset, game_no, message, frame.text))

    def _other(self, frame: Style12) -> None:
        problem = check_frame(frame)
        if problem is not None:
            self._count(Disposition.MALFORMED)
            self._anomaly(AnomalyKind.MALFORMED, frame, problem)
            return
        self.session.look(frame)
        relation = frame.tail[10]
        number = frame.tail[7]
        if relation in _EXAMINED:
            self._count(follow_examined(self, frame))
            return
        if relation not in _LIVE or frame.game_no < 0:
            self._count(Disposition.ISOLATED)
            return
        if len(frame.board) != len(STANDARD_BOARD):
            self._count(Disposition.ISOLATED)
            self._anomaly(
                AnomalyKind.VARIANT, frame, "a board that is not 8×8: kept in the source, not followed as a game"
            )
            return
        if frame.block is not None and frame.block.code == _SPOSITION_CODE:
            self._count(Disposition.SNAPSHOT)
            return
        run = self.runs.get(number)
        announced = number in self.announced
        self.announced.discard(number)
        if run is None or (run.position is None and not self._same_players(run, frame)):
            self._replace(run, frame)
        elif not self._same_players(run, frame):
            self._other_players(run, frame, announced)
        elif run.position is None:
            self._join_list(run, frame)
        elif run.end is not None:
            self._after_end(run, frame, announced)
        elif run.suspended:
            self._observed_again(run, frame)
        else:
            self._followed(run, frame, announced)

    @staticmethod
    def _same_players(run: Run, frame: Style12) -> bool:
        return frame.tail[8].lower() == run.white.lower() and frame.tail[9].lower() == run.black.lower()

    def _replace(self, run: Run | None, frame: Style12) -> None:
        if run is not None:
            lost = run.suspended and run.left == "lost-feed"
            self.close(run, run.left if lost else "reused")
        self.begin(frame)

    def _join_list(self, run: Run, frame: Style12) -> None:
        """The first board of a game that only a movelist told of so far."""
        self._start(run, frame)

    def _other_players(self, run: Run, frame: Style12, announced: bool) -> None:
        if run.following and frame.ply == run.ply and run.position is not None and frame.board == run.position.board:
            run.event(EventKind.NAMES, "names", frame, text=f"{frame.white} {frame.black}")
            run.white, run.black = frame.white, frame.black
            run.white_token, run.black_token = frame.tail[8], frame.tail[9]
            self._count(Disposition.SAME)
            return
        facts = self.facts.get(frame.game_no)
        told = announced or (facts is not None and facts.white is not None and facts.matches(frame.white, frame.black))
        if told or not run.following:
            self._replace(run, frame)
            return
        rival = run.rival
        if rival is not None and rival.white == frame.white and rival.black == frame.black:
            position = frame_position(rival, _rules_of_board(rival))
            if frame.ply == rival.ply + 1 and isinstance(
                advance(position, frame.verbose, _pretty(frame), frame.board), tuple
            ):
                # Two boards in a row that join: the number went to another game and we missed its announcement.
                self.counts[Disposition.SNAPSHOT] -= 1
                self.close(run, "reused")
                self.begin(rival)
                self.frame(frame)
                return
        # One board of strangers under a followed number: an answer to a command about a stored game.
        run.rival = frame
        self._count(Disposition.SNAPSHOT)

    def _after_end(self, run: Run, frame: Style12, announced: bool) -> None:
        assert run.position is not None
        ply = frame.ply
        if (
            ply == run.ply
            and frame.board == run.position.board
            and not run.renewed
            and frame.has_move
            and not (announced and run.end == "adjourned")
        ):
            self._count(Disposition.SAME)
            run.last = frame
            return
        # A late board of the last move; an adjourned game that goes on is another part.
        if ply == run.ply + 1 and frame.has_move and run.end == "result" and not announced and not run.renewed:
            played = try_rules(run, frame)
            if played is not None:
                self._append(run, frame, ply, played, Disposition.PLY)
                return
        self._replace(run, frame)

    def _observed_again(self, run: Run, frame: Style12) -> None:
        """A board of a game that was left without a result: the same game, if the board allows it."""
        assert run.position is not None
        ply = frame.ply
        if run.renewed or (not frame.has_move and run.ply > 0) or not _plausible(run, frame):
            self._replace(run, frame)
            return
        if ply < run.ply:
            known = run.position_at(ply)
            if known is not None and known.board == frame.board:
                run.take_back(ply, frame)
            elif known is None and ply < run.base_ply:
                # Taken back, while nobody looked, to before the first board that we saw.
                run.take_back(ply, frame)
                run.gapped = True
                self._observe_board(run, frame, ply)
                return
        if ply <= run.ply and (ply < run.ply or frame.board != run.position.board):
            before = run.position_at(ply - 1)
            changed = advance(before, frame.verbose, _pretty(frame), frame.board) if before and frame.has_move else ""
            if isinstance(changed, str):
                self._replace(run, frame)
                return
            run.take_back(ply - 1, frame)
            self._observe_from(run, frame, before, ply - 1)  # type: ignore[arg-type]
            self._append(run, frame, ply, changed, Disposition.PLY)
            return
        if ply == run.ply:
            self._observe_from(run, frame, run.position, ply)
            self._count(Disposition.JOINED)
            return
        last_position, last_ply = run.position, run.ply
        played = try_rules(run, frame) if ply == last_ply + 1 and frame.has_move else None
        if played is not None:
            self._observe_from(run, frame, last_position, last_ply)
            self._append(run, frame, ply, played, Disposition.PLY)
            return
        filled = _bridged(last_position, frame, ply - last_ply - 1)
        if filled is not None:
            self._observe_from(run, frame, last_position, last_ply)
            self._fill(run, frame, filled)
            return
        run.gapped = True
        self._observe_board(run, frame, last_ply)

    def _observe_board(self, run: Run, frame: Style12, last_ply: int) -> None:
        """Begin another observation on a board that no ply leads to; the game was seen up to ``last_ply``."""
        assert run.position is not None
        ply = frame.ply
        position = frame_position(frame, run.position.rules, None)
        text = fen(position, frame.irreversible, frame.move_no)
        run.observe(frame, position, ply, start_facts(frame), text)
        if ply > last_ply:
            run.event(EventKind.GAP, "not observed", frame, value=ply - last_ply)
        self._clock_start(run, frame)
        self._count(Disposition.JOINED)

    def _observe_from(self, run: Run, frame: Style12, position: Position, ply: int) -> None:
        """Begin another observation on a position that is known."""
        previous = run.plies[-1].irreversible if run.plies else None
        text = fen(position, previous or 0, ply // 2 + 1)
        run.observe(frame, position, ply, start_facts(frame), text)
        run.event(EventKind.FEED, "observed again", frame)
        self._clock_start(run, frame)

    def _followed(self, run: Run, frame: Style12, announced: bool) -> None:
        assert run.position is not None
        ply = frame.ply
        if not frame.has_move and (run.renewed or (announced and run.ply > 0) or _begins_anew(run, frame)):
            self._replace(run, frame)
        elif ply == run.ply:
            self._same_ply(run, frame)
        elif ply < run.ply:
            self._earlier(run, frame, ply)
        elif not frame.has_move:
            self._conflict(run, frame, ply, "the board changed without a move")
        elif ply == run.ply + 1:
            played = try_rules(run, frame)
            if played is not None:
                self._append(run, frame, ply, played, Disposition.PARTIAL if frame.partial else Disposition.PLY)
            else:
                reason = advance(run.position, frame.verbose, _pretty(frame), frame.board)
                self._conflict(run, frame, ply, str(reason))
        else:
            self._skipped(run, frame, ply)

    def _same_ply(self, run: Run, frame: Style12) -> None:
        assert run.position is not None
        if frame.board == run.position.board:
            self._count(Disposition.SAME)
            white_ms, black_ms = clocks_of(frame)
            if run.last is not None and (white_ms, black_ms) != clocks_of(run.last):
                run.event(EventKind.CLOCK, "same-ply", frame, clocks=(white_ms, black_ms))
                run.clocks_settled = False
            if run.last is not None and frame.ticking != run.last.ticking:
                run.event(EventKind.TICKING, "on" if frame.ticking else "off", frame)
            run.last = frame
            return
        before = run.position_at(run.ply - 1)
        if before is not None and frame.has_move:
            played = advance(before, frame.verbose, _pretty(frame), frame.board)
            if isinstance(played, tuple):
                # The takeback's own board was lost; another move stands in the old one's place.
                run.take_back(run.ply - 1, frame)
                self._append(run, frame, run.ply + 1, played, Disposition.PLY)
                return
        self._conflict(run, frame, run.ply, "another board of the same ply")

    def _earlier(self, run: Run, frame: Style12, ply: int) -> None:
        known = run.position_at(ply)
        if known is not None and known.board == frame.board:
            run.take_back(ply, frame)
        elif known is None and ply < run.base_ply:
            # Taken back to before the first board that we saw.
            assert run.position is not None
            position = frame_position(frame, run.position.rules, run.hands)
            run.take_back(ply, frame)
            run.reset_to(position, ply, "takeback", fen(position, frame.irreversible, frame.move_no), frame.offset)
        else:
            before = run.position_at(ply - 1)
            played = (
                advance(before, frame.verbose, _pretty(frame), frame.board) if before and frame.has_move else "no move"
            )
            if not isinstance(played, tuple):
                self._conflict(run, frame, ply, "an earlier ply with another board")
                return
            run.take_back(ply - 1, frame)
            self._append(run, frame, ply, played, Disposition.PLY)
            return
        run.last = frame
        run.clocks_settled = False
        self._clock_start(run, frame)
        self._count(Disposition.TAKEBACK)

    def _skipped(self, run: Run, frame: Style12, ply: int) -> None:
        """Plies are missing: fill them if there is exactly one way, else keep the gap."""
        assert run.position is not None
        missing = ply - run.ply - 1
        filled = _bridged(run.position, frame, missing)
        if filled is not None:
            self._fill(run, frame, filled)
            return
        run.event(EventKind.GAP, "lost", frame, value=missing)
        self._anomaly(AnomalyKind.GAP, frame, f"{missing} plies are missing before ply {ply}")
        run.gapped = True
        self._stand(run, frame, ply, "gap", Proof.UNPROVED)
        self._count(Disposition.GAP)

    def _fill(self, run: Run, frame: Style12, filled: list[tuple[int, str, Position]]) -> None:
        *inferred, shown = filled
        for move, san, position in inferred:
            flags = position.castling | (position.push_col + 1) << 4
            run.ply += 1
            run.plies.append(
                Ply(
                    run.ply,
                    move,
                    san,
                    None,
                    None,
                    None,
                    None,
                    None,
                    flags,
                    None,
                    Proof.INFERRED,
                    Origin.INFERRED,
                    None,
                    frame.offset,
                )
            )
            run.history.append(position)
        run.event(EventKind.GAP_FILLED, "inferred", frame, value=len(inferred))
        self._append(run, frame, run.ply + 1, shown, Disposition.GAP)
        run.clocks_settled = False

    def _append(
        self, run: Run, frame: Style12, ply: int, played: tuple[int, str, Position], disposition: Disposition
    ) -> None:
        move, san, after = played
        # A cut frame has no pretty move that could agree with the rest.
        proof = Proof.UNPROVED if frame.partial else Proof.FULL
        run.plies.append(ply_from_frame(frame, ply, move, san, after, proof, self.lag_meaningless))
        run.position = after
        run.history.append(after)
        run.ply = ply
        run.last = frame
        self._clock_start(run, frame)
        self._count(disposition)

    def _conflict(self, run: Run, frame: Style12, ply: int, reason: str) -> None:
        if ply <= run.ply:
            run.take_back(ply - 1, frame)
        run.gapped = True
        self._anomaly(AnomalyKind.CONFLICT, frame, f"ply {ply} does not follow from the board before: {reason}")
        self._stand(run, frame, ply, "conflict", Proof.CONFLICT)
        self._count(Disposition.CONFLICT)

    def _stand(self, run: Run, frame: Style12, ply: int, reason: str, proof: Proof) -> None:
        """Keep the shown move without proof and go on from the shown board."""
        assert run.position is not None
        position = frame_position(frame, run.position.rules, run.hands)
        if frame.has_move:
            run.plies.append(
                ply_from_frame(frame, ply, None, _pretty(frame) or frame.verbose, position, proof, self.lag_meaningless)
            )
        run.reset_to(position, ply, reason, fen(position, frame.irreversible, frame.move_no), frame.offset)
        run.last = frame
        run.clocks_settled = False
        self._clock_start(run, frame)

    # -- beginning and closing ---------------------------------------------------------------------------------

    def begin(self, frame: Style12) -> None:
        """Begin a run with its first board."""
        number = frame.tail[7]
        facts = self._take_facts(frame)
        run = Run(frame.game_no, frame.white, frame.black, facts, frame.offset)
        run.session = self.session
        self.runs[number] = run
        gone = self.examined.pop(number, None)
        if gone is not None:
            self.close(gone, "unobserved")
        self._start(run, frame)

    def _start(self, run: Run, frame: Style12) -> None:
        run.white_token, run.black_token = frame.tail[8], frame.tail[9]
        ply = frame.ply
        fresh = not frame.has_move
        variant, rules = variant_of(run.facts.category)
        run.variant, run.rules_told = variant, rules is not None
        if rules is None:
            rules = _rules_of_board(frame)
        hands = ("", "") if has_pockets(rules) and fresh else None
        position = frame_position(frame, rules, hands)
        run.hands = None
        if fresh:
            run.start_frame = frame
        normal = ply == 0 and frame.board == STANDARD_BOARD
        text = None if normal else fen(position, frame.irreversible, frame.move_no)
        run.observe(frame, position, ply, start_facts(frame), text)
        run.increment_ms = 1000 * frame.increment_s
        run.timed = frame.base_min > 0 or frame.increment_s > 0
        run.me_plays = frame.tail[10] != "0"
        self._clock_start(run, frame)
        self._count(Disposition.START if fresh else Disposition.JOINED)

    @staticmethod
    def _clock_start(run: Run, frame: Style12) -> None:
        run.white_clock_ms, run.black_clock_ms = (clock or 0 for clock in clocks_of(frame))
        run.clocks_settled = False

    def _take_facts(self, frame: Style12) -> Facts:
        told = self.facts.pop(frame.game_no, None)
        facts = told if told is not None and told.matches(frame.white, frame.black) else Facts(frame.offset)
        creating = self.creating.pop(frozenset((frame.white.lower(), frame.black.lower())), None)
        if creating is not None:
            if (creating.white or "").lower() != frame.white.lower():
                creating.turn()
            facts.add(creating)
        return facts

    def pending_facts(self, game_no: int, offset: int) -> Facts:
        """The facts kept for the next game of this number."""
        facts = self.facts.get(game_no)
        if facts is None:
            facts = self.facts[game_no] = Facts(offset)
            if len(self.facts) > _FACTS_KEPT:
                del self.facts[next(iter(self.facts))]
        return facts

    def observing_started(self, event: ObservingStarted) -> None:
        """``You are now observing game N``: its next board may be of another game."""
        self.announced.add(str(event.game_no))

    def close(self, run: Run, end: str) -> None:
        """Be finished with a run."""
        if run.end is None:
            run.end = end
        run.following = False
        run.close_observation()
        run.history = []
        number = str(run.game_no)
        if self.runs.get(number) is run:
            del self.runs[number]
        self.over.append(run)


def _pretty(frame: Style12) -> str | None:
    """The pretty move, None in a frame that is cut before it."""
    return frame.pretty if len(frame.tail) > 20 else None


def _bridged(position: Position, frame: Style12, missing: int) -> list[tuple[int, str, Position]] | None:
    """The plies from a position to a frame if ``missing`` (1 or 2) unseen ones can be filled in exactly one way."""
    if not 1 <= missing <= 2 or not frame.has_move or frame.partial:
        return None
    ways = bridge(position, frame.board, frame.verbose, frame.pretty, missing)
    return ways[0] if len(ways) == 1 else None


def _rules_of_board(frame: Style12) -> Rules:
    """Rules for a first board whose variant no line told."""
    return Rules.CHESS if frame.has_move or frame.board == STANDARD_BOARD else Rules.CHESS960


def _begins_anew(run: Run, frame: Style12) -> bool:
    """Whether a start board under a followed game is a new game of the same two players, and no takeback of it all.

    Taking back gives no time back: after the first moves, which are free, full clocks on both sides are a new game's.
    """
    start = run.start_frame
    if start is None or frame.ply != start.ply or run.ply < start.ply + 3 or run.last is None:
        return False
    full = clocks_of(start)
    return clocks_of(frame) == full and clocks_of(run.last) != full


def _plausible(run: Run, frame: Style12) -> bool:
    """Whether a board can be a later one of the run.

    The times are the same, and in games without drops no piece comes, no pawn returns to its first rank, no castling
    right comes back, and no more squares change than that many plies can.
    """
    first = run.observations[0]
    last = run.last
    if last is None or first.start is None or run.position is None:
        return True
    if (frame.base_min, frame.increment_s) != (last.base_min, last.increment_s):
        return False
    if has_pockets(run.position.rules):
        return True
    plies = frame.ply - run.ply
    if plies < 0:
        return True
    before, after = run.position.board, frame.board
    if _pieces(after) > _pieces(before) or frame.castling & ~last.castling:
        return False
    at_home = (
        *zip(before[54:62], after[54:62], "P" * 8, strict=True),
        *zip(before[9:17], after[9:17], "p" * 8, strict=True),
    )
    if any(now == pawn != was for was, now, pawn in at_home):
        return False
    changed = sum(was != now for was, now in zip(before, after, strict=True))
    # Two squares a ply, three en passant, four castling; other variants' captures may clear more.
    return run.position.rules is Rules.BOARDS or changed <= 3 * plies + 2


def _pieces(board: str) -> int:
    return len(board) - board.count("-") - board.count(" ")
