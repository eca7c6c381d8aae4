"""What each ``<12>`` frame means: the next ply, the same ply again, a takeback, a gap, another game …

The problem. A server repeats the whole position with every move, and names the game only by a small number, which it
uses again for other games. A frame does not say why it was sent. These three lines are the same kind of line::

    <12> rnbqkbnr pppp-ppp … PPPP-PPP RNBQKB-R B … 1 1 Tal Smyslov 1 3 2 39 39 181450 180000 2 N/g1-f3 (0:00.550) Nf3 …
    <12> rnbqkbnr pppp-ppp … PPPP-PPP RNBQKB-R B … 1 1 Tal Smyslov 1 3 2 39 39 181450 176210 2 N/g1-f3 (0:00.550) Nf3 …
    <12> rnbqkbnr pppp-ppp … PPPP-PPP RNBQKBNR W … 0 1 Tal Smyslov 0 3 2 39 39 180000 180000 2 P/e7-e5 (0:00.000) e5 …

The first is a move. The second is the same ply again (the user typed ``refresh``: Black's clock has run on). The third
has one ply less: the knight's move was taken back. With other names in it, the third could be another game that got
number 1, or the answer to a command about a stored game.

So a frame is never believed alone. It is compared with the position that its game has reached, and each frame gets
exactly one ``Disposition``, which is counted; the counts of a log add up to its ``<12>`` lines.

The order of questions:

1. The common case, decided in ``Boards.frame`` itself: a followed game, the same names, one ply more, and ``advance``
   proves the move from the one board to the other. Nearly all frames end here.
2. Is the line whole? A frame with an impossible field is ``MALFORMED`` and changes nothing.
3. Is it about a game that is played? Examined games may go anywhere and have a tree of their own
   (``examined/tree.py``). Boards of ``smoves``, ``sposition`` and static boards are ``SNAPSHOT`` or ``ISOLATED``.
4. Whose board is it? With other players it begins another game only if a line announced that, the game is over or
   left, or a second board of them joins the first; a single board of strangers under a followed number is a
   ``SNAPSHOT``. Names may change during a game, but a single changed name must be confirmed.
5. Has the game ended, or was it left? Then ``after_end`` or ``observed_again`` decides: the last board again, a late
   one, the same game observed again, or the number's next game.
6. How many plies? The same number: the same board, or the takeback's own board was lost and another move replaces the
   last one. Fewer: a takeback, if the board is the one that the game had then. One more: the rules, then the rules of
   the boards alone. Two or three more: one or two plies are filled in if there is exactly one legal way (``bridge``),
   else there is a gap.

What must never happen:

- A move that is not proved counts as proved. A ply that the rules of its variant refuse, but both boards show, is
  ``UNPROVED``; a board that contradicts the game is kept as a ``CONFLICT``, and the game goes on from it, incomplete.
- A ply disappears. What was taken back stays beside the main line, with its clocks.
- Two games are taken for one because they have the same number. A board after an end that may be of another game
  begins one: two halves can be merged later (``recorder/relating``), but nothing divides a wrong game.
- The result depends on how bytes were cut into reads, or on the time of day.
"""

from __future__ import annotations

from typing import Final

from recorder.dialects.session import STORED_BLOCKS, answers
from recorder.dialects.style12 import check_frame
from recorder.events.frames import Style12
from recorder.model import AnchorReason, AnomalyKind, Disposition, EventKind, GameEnd, Proof, make_ply
from recorder.rules.fen import fen, has_plain_board
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, advance, with_holdings
from recorder.rules.variants import has_pockets
from recorder.tracking.datagrams.boards import DatagramBoard, confirm
from recorder.tracking.examined.boards import follow_examined
from recorder.tracking.examined.tree import could_follow
from recorder.tracking.game_table import GameTable, rules_of_board
from recorder.tracking.plies import bridged, frame_position, shown_by_boards, start_facts, try_rules
from recorder.tracking.session import ServerSession
from recorder.tracking.tracked_game import TrackedGame

_EXAMINED: Final = (2, -2)
_PLAYED: Final = (0, 1, -1)  # watched, our move, the opponent's
_TOLERANCE_MS: Final = 1000
_LONGEST_MS: Final = 10**15


class Boards(GameTable):
    """``next_plies`` counts the frames that were the plain next ply, most of all, apart from ``counts``."""

    def __init__(self, session: ServerSession) -> None:
        super().__init__(session)
        self.next_plies = 0

    # -- the common case ---------------------------------------------------------------------------------------

    def frame(self, frame: Style12) -> None:
        run = self.runs.get(frame.number)
        if (
            run is not None
            and run.following
            and frame.ply == run.ply + 1
            and frame.names == run.names
            and frame.relation in _PLAYED
            and not frame.partial
        ):
            # A followed run has a position; saying so to the type checker would cost a test a frame.
            played = advance(run.position, frame.verbose, frame.pretty, frame.board)  # type: ignore[arg-type]  # as above
            if type(played) is tuple:
                self._next_ply(run, frame, played)
                return
        self._other(frame)

    def _next_ply(self, run: TrackedGame, frame: Style12, played: Step) -> None:
        move, san, after = played
        ply, white_ms, black_ms, elapsed_ms = frame.ply, frame.white_clock_ms, frame.black_clock_ms, frame.elapsed_ms
        assert white_ms is not None  # a whole frame has all three
        assert black_ms is not None
        assert elapsed_ms is not None
        row = (
            ply, move, san, white_ms, black_ms, elapsed_ms, None if self.lag_meaningless else frame.lag_ms, frame.at_ms,
            after.castling | (after.push_col + 1) << 4, frame.irreversible, 1, 0, frame.precision_code, frame.offset,
        )  # fmt: skip
        run.rows.append(make_ply(row))
        run.position = after
        run.history.append(after)
        run.ply = ply
        run.last = frame
        self.next_plies += 1
        # The mover's clock should be what it was, less the elapsed time, plus the increment; the other clock should
        # not have moved. What differs by more than rounding is an event of the game: the ledger explains it later.
        if run.timed:
            if ply & 1:
                drift = white_ms - run.white_clock_ms + elapsed_ms - run.increment_ms
                other = black_ms - run.black_clock_ms
            else:
                drift = black_ms - run.black_clock_ms + elapsed_ms - run.increment_ms
                other = white_ms - run.white_clock_ms
            run.white_clock_ms = white_ms
            run.black_clock_ms = black_ms
            if other or not run.clocks_settled or (drift and not -_TOLERANCE_MS <= drift <= _TOLERANCE_MS):
                self._clocks_moved(run, frame, drift, other)
        elif abs(white_ms) > _LONGEST_MS or abs(black_ms) > _LONGEST_MS:
            self._clocks_moved(run, frame, white_ms, black_ms)

    def _clocks_moved(self, run: TrackedGame, frame: Style12, drift: int, other: int) -> None:
        """``drift`` is the unexplained part of the mover's clock in milliseconds, ``other`` that of the opponent's."""
        if max(abs(drift), abs(other)) > _LONGEST_MS:
            self.anomaly(AnomalyKind.MALFORMED, frame, "clocks that no server has")
            run.rows[-1] = run.rows[-1]._replace(white_clock_ms=None, black_clock_ms=None)
            run.white_clock_ms = run.black_clock_ms = 0
            run.clocks_settled = False
            return
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

    def place_datagram_board(self, board: DatagramBoard) -> None:
        """Place a board made from datagrams; it is not counted as a frame and shows no server's form of frames."""
        counts, next_plies, tokens = dict(self.counts), self.next_plies, self.session.tokens
        try:
            self.frame(board)
        finally:
            self.counts.update(counts)
            self.next_plies, self.session.tokens = next_plies, tokens

    def frame_counts(self) -> dict[Disposition, int]:
        counts = dict(self.counts)
        counts[Disposition.PLY] += self.next_plies
        return counts

    # -- everything else ---------------------------------------------------------------------------------------

    def _other(self, frame: Style12) -> None:
        problem = check_frame(frame)
        if problem is not None:
            self.count(Disposition.MALFORMED)
            self.anomaly(AnomalyKind.MALFORMED, frame, problem)
            return
        self.session.look(frame)
        number = frame.number
        if frame.relation in _EXAMINED:
            self.count(follow_examined(self, frame))
            return
        if frame.relation not in _PLAYED or frame.game_no < 0:
            self.count(Disposition.ISOLATED)
            return
        if answers(frame.block, STORED_BLOCKS):
            # In block mode the server names the command that it answers: this board is of a stored game.
            self.count(Disposition.SNAPSHOT)
            return
        run = self.runs.get(number)
        # An announcement ("You are now observing game 12.") holds for one board: the next one needs its own.
        announced = number in self.announced
        self.announced.discard(number)
        if run is not None and (run.rules is Rules.FRAMES or not has_plain_board(frame.board)):
            if self._strange(run, frame):
                return
            run = self._shape_changed(run, frame)
        if run is None or (run.position is None and not run.between(frame.white, frame.black)):
            self.replace(run, frame)
        elif not run.between(frame.white, frame.black):
            self._other_players(run, frame, announced)
        elif run.end is not None:
            after_end(self, run, frame, announced)
        elif run.suspended:
            observed_again(self, run, frame)
        elif run.position is None:
            self._board_found(run, frame)
        else:
            self._followed(run, frame, announced)

    def _strange(self, run: TrackedGame, frame: Style12) -> bool:
        """Whether a board is set aside because of a letter that is no piece of its game.

        One such board is a broken line if its move is one of the game. A second one before the game has gone on shows
        that the game has other pieces: then the first one counts, too.
        """
        place = run.position
        if place is None or place.rules is Rules.FRAMES or run.end is not None or len(frame.board) != len(place.board):
            return False
        if not run.between(frame.white, frame.black):
            return False
        if frame.ply == run.ply + 1 and isinstance(advance(place, frame.verbose, frame.pretty, None), str):
            return False
        before, run.strange = run.strange, None
        if before is None or before[1] != run.ply or before[0].board == frame.board:
            run.strange = frame, run.ply
            self.count(Disposition.MALFORMED)
            self.anomaly(AnomalyKind.MALFORMED, frame, "the board has a letter that is no piece of this game")
            return True
        first = before[0]
        self.counts[Disposition.MALFORMED] -= 1
        self.anomalies[:] = [
            found for found in self.anomalies if found.offset != first.offset or found.kind is not AnomalyKind.MALFORMED
        ]
        self._shape_changed(run, first)
        self.frame(first)
        return False

    def _shape_changed(self, run: TrackedGame, frame: Style12) -> TrackedGame | None:
        """A board of another size is another game's; the run that the board belongs to, None: it begins another one."""
        if run.position is None or not run.between(frame.white, frame.black):
            return run
        if len(frame.board) != len(run.position.board):
            self.close(run, GameEnd.REUSED)
            return None
        if run.rules is not Rules.FRAMES:
            # A piece of another variant appears on a board that looked like chess.
            self.anomaly(AnomalyKind.VARIANT, frame, "a board whose rules are not known: nothing is proved from here")
            run.set_rules(Rules.FRAMES)
        return run

    def _board_found(self, run: TrackedGame, frame: Style12) -> None:
        """The first board of a game known only by a list, or whose position was lost between deltas."""
        if run.observations and (run.renewed or (not frame.has_move and run.ply > 0)):
            self.replace(run, frame)
        else:
            self.start(run, frame)

    def _other_players(self, run: TrackedGame, frame: Style12, announced: bool) -> None:
        facts = self.facts.get(frame.game_no)
        named = facts is not None and facts.white is not None and facts.matches(frame.white, frame.black)
        if announced or named or run.renewed or not run.following:
            self.replace(run, frame)
            return
        if run.position is not None and frame.ply == run.ply and frame.board == run.position.board:
            # The same board under other names: a player was renamed, or a name was printed cut.
            self._other_names(run, frame)
            self.count(Disposition.SAME)
            return
        if run.position is not None and frame.ply == run.ply + 1 and _renamed(run, frame):
            played = advance(run.position, frame.verbose, frame.pretty, frame.board)
            if isinstance(played, tuple):
                self._other_names(run, frame)
                self.append(run, frame, frame.ply, played, Disposition.PARTIAL if frame.partial else Disposition.PLY)
                return
        rival = run.rival
        if rival is not None and rival.white == frame.white and rival.black == frame.black:
            position = frame_position(rival, rules_of_board(rival))
            if frame.ply == rival.ply + 1 and isinstance(
                advance(position, frame.verbose, frame.pretty, frame.board), tuple
            ):
                # Two boards in a row that join: the number went to another game and we missed its announcement.
                self.counts[Disposition.SNAPSHOT] -= 1
                self.close(run, GameEnd.REUSED)
                self.begin(rival)
                self.frame(frame)
                return
        # One board of strangers under a followed number: an answer to a command about a stored game.
        run.rival = frame
        self.count(Disposition.SNAPSHOT)

    def _other_names(self, run: TrackedGame, frame: Style12) -> None:
        """The game continues under other names: a single changed name is taken only if another line confirms it."""
        if run.alias == (frame.white, frame.black):
            run.rename(frame.white, frame.black)
            run.names = frame.names
            return
        self.anomaly(
            AnomalyKind.CONFLICT,
            frame,
            f"the game of {run.white} and {run.black} is shown as that of {frame.white} and {frame.black}",
        )
        run.event(EventKind.NAMES, "names", frame, text=f"{frame.white} {frame.black}")
        if frame.white.lower() == run.white.lower() or frame.black.lower() == run.black.lower():
            # One name of two: it may be a garbled byte. ``names`` None sends the next frame through ``_other`` again.
            run.alias = frame.white, frame.black
            run.names = None
        else:
            run.rename(frame.white, frame.black)
            run.names = frame.names

    def _followed(self, run: TrackedGame, frame: Style12, announced: bool) -> None:
        assert run.position is not None
        run.names, run.alias = frame.names, None
        ply = frame.ply
        if not frame.has_move and (run.renewed or (announced and run.ply > 0) or _is_rematch(run, frame)):
            # A start position under a game in progress: a new game of the same two players, not a takeback of it all.
            self.replace(run, frame)
        elif ply == run.ply or (ply == run.ply - 2 and frame.board == run.position.board):
            self._same_ply(run, frame)
        elif ply in (run.ply - 1, run.ply + 3) and (played := try_rules(run, frame)) is not None:
            # Some servers count the moves that were made. No other way leads to this board: two plies change it.
            self.append(run, frame, run.ply + 1, played, Disposition.PARTIAL if frame.partial else Disposition.PLY)
        elif ply < run.ply:
            self._earlier(run, frame, ply)
        elif not frame.has_move:
            self.conflict(run, frame, ply, "the board changed without a move")
        elif ply == run.ply + 1:
            played = try_rules(run, frame)
            if played is not None:
                self.append(run, frame, ply, played, Disposition.PARTIAL if frame.partial else Disposition.PLY)
            else:
                self._refused(run, frame, ply)
        else:
            self._skipped(run, frame, ply)

    def _refused(self, run: TrackedGame, frame: Style12, ply: int) -> None:
        """The next ply, which the rules do not allow."""
        assert run.position is not None
        reason = str(advance(run.position, frame.verbose, frame.pretty, frame.board))
        shown = shown_by_boards(run, frame)
        if shown is None:
            self.conflict(run, frame, ply, reason)
            return
        if run.rules is not Rules.FRAMES:
            self.anomaly(AnomalyKind.VARIANT, frame, f"a move that the rules of {run.variant} do not allow: {reason}")
        self.append(run, frame, ply, shown, Disposition.PLY, Proof.UNPROVED)

    def _same_ply(self, run: TrackedGame, frame: Style12) -> None:
        assert run.position is not None
        if frame.board == run.position.board:
            # The same board again: ``refresh``, the first board of another observation, or a frame after a datagram.
            # It adds no ply, but its clocks may show that time was added in between.
            if isinstance(run.last, DatagramBoard) and not isinstance(frame, DatagramBoard):
                self.count(Disposition.PLY if confirm(run, frame, self.lag_meaningless) else Disposition.SAME)
                self.clock_start(run, frame)
                return
            self.count(Disposition.SAME)
            white_ms, black_ms = frame.clocks
            run.join_deltas()
            if run.last is not None and run.last.ply == run.ply:
                other = (white_ms, black_ms) != run.last.clocks
            else:  # the first board after deltas, whose clocks are exact
                pairs = ((white_ms, run.white_clock_ms), (black_ms, run.black_clock_ms))
                other = any(now is not None and abs(now - then) >= _TOLERANCE_MS for now, then in pairs)
            if other:
                run.event(EventKind.CLOCK, "same-ply", frame, clocks=(white_ms, black_ms))
                run.clocks_settled = False
            if run.last is not None and frame.ticking != run.last.ticking:
                run.event(EventKind.TICKING, "on" if frame.ticking else "off", frame)
            run.last = frame
            return
        before = run.position_at(run.ply - 1)
        if before is not None and frame.has_move:
            played = advance(before, frame.verbose, frame.pretty, frame.board)
            if isinstance(played, tuple):
                # The takeback's own board was lost; another move replaces the old one.
                run.take_back(run.ply - 1, frame)
                self.append(run, frame, run.ply + 1, played, Disposition.PLY)
                return
        self.conflict(run, frame, run.ply, "another board of the same ply")

    def _earlier(self, run: TrackedGame, frame: Style12, ply: int) -> None:
        known = run.position_at(ply)
        if known is not None and known.board == frame.board:
            # The plain takeback: the board that the game had after this ply.
            run.take_back(ply, frame, frame.clocks)
            run.join_deltas()
        elif known is None and ply < run.base_ply:
            # Taken back to before the first board that we saw.
            assert run.position is not None
            position = frame_position(frame, run.position.rules)
            run.take_back(ply, frame, frame.clocks)
            run.reset_to(
                position, ply, AnchorReason.TAKEBACK, fen(position, frame.irreversible, frame.move_no), frame.offset
            )
        else:
            # The takeback's own board was lost, and another move was played: it must join the position one ply before.
            before = run.position_at(ply - 1)
            played = (
                advance(before, frame.verbose, frame.pretty, frame.board) if before and frame.has_move else "no move"
            )
            if not isinstance(played, tuple):
                self.conflict(run, frame, ply, "an earlier ply with another board")
                return
            run.take_back(ply - 1, frame)
            self.append(run, frame, ply, played, Disposition.PLY)
            return
        run.last = frame
        run.clocks_settled = False
        self.clock_start(run, frame)
        self.count(Disposition.TAKEBACK)

    def _skipped(self, run: TrackedGame, frame: Style12, ply: int) -> None:
        """Plies are missing: fill them if there is exactly one way, else keep the gap."""
        assert run.position is not None
        missing = ply - run.ply - 1
        before = run.position
        if run.hands is not None and run.hands[0] == run.ply:
            before = with_holdings(before, run.hands[1], run.hands[2])
        filled = bridged(before, frame, missing)
        if filled is not None:
            self.fill(run, frame, filled)
            return
        run.event(EventKind.GAP, "lost", frame, value=missing)
        self.anomaly(AnomalyKind.GAP, frame, f"{missing} plies are missing before ply {ply}")
        run.gapped = True
        self.continue_unproved(run, frame, ply, AnchorReason.GAP)
        self.count(Disposition.GAP)


def _renamed(run: TrackedGame, frame: Style12) -> bool:
    """Whether the board of the next ply under other names can be the same game, if the move joins.

    The time controls are equal, and one of the two names stayed, or the clocks continue from their last values. Full
    clocks prove nothing.
    """
    last = run.last
    if last is None or (frame.base_min, frame.increment_s) != (last.base_min, last.increment_s):
        return False
    if frame.white.lower() == run.white.lower() or frame.black.lower() == run.black.lower():
        return True
    (white_ms, black_ms), (white_now_ms, black_now_ms, elapsed_ms, _, _) = last.clocks, frame.times
    if white_ms is None or black_ms is None or white_now_ms is None or black_now_ms is None or elapsed_ms is None:
        return False
    if frame.partial or last.partial:
        return False
    before, after = (white_ms, black_ms), (white_now_ms, black_now_ms)
    mover, other = (0, 1) if frame.ply % 2 else (1, 0)
    reckoned = before[mover] - elapsed_ms + 1000 * frame.increment_s
    full = 60_000 * frame.base_min
    return full not in before and after[other] == before[other] and abs(reckoned - after[mover]) <= _TOLERANCE_MS


def _is_rematch(run: TrackedGame, frame: Style12) -> bool:
    """Whether a start board under a followed game is a new game of the same two players, and no takeback of it all.

    Taking back gives no time back: after the first moves, which are free, full clocks on both sides are a new game's.
    """
    start = run.start_frame
    if start is None or frame.ply != start.ply or run.ply < start.ply + 3 or run.last is None:
        return False
    full = start.clocks
    return frame.clocks == full and run.last.clocks != full


# --- boards of a game that was followed before


def after_end(table: GameTable, run: TrackedGame, frame: Style12, announced: bool) -> None:
    """A board of a game that is over: the last one again, a late one, or the number's next game."""
    ply = frame.ply
    if (
        ply == run.ply
        and (run.position is None or frame.board == run.position.board)
        and not run.renewed
        and frame.has_move
        and not (announced and run.end is GameEnd.ADJOURNED)
    ):
        table.count(Disposition.SAME)
        run.join_deltas()
        run.last = frame
        return
    # A late board of the last move; a resumed game is another part.
    if ply == run.ply + 1 and frame.has_move and run.end is GameEnd.RESULT and not announced and not run.renewed:
        played = try_rules(run, frame)
        if played is not None:
            table.append(run, frame, ply, played, Disposition.PLY)
            return
    table.replace(run, frame)


def observed_again(table: GameTable, run: TrackedGame, frame: Style12) -> None:
    """A board of a game that was left without a result: the same game, if the board allows it."""
    ply = frame.ply
    # The number may belong to another game by now. A start position, or a board that cannot be a later one of this
    # game, begins one; if that is wrong, the two observations are merged later by their times.
    if run.renewed or (not frame.has_move and run.ply > 0) or not _plausible(run, frame):
        table.replace(run, frame)
        return
    if run.position is None:
        table.start(run, frame)
        return
    if ply < run.ply:
        shown = run.position_at(ply)
        if shown is not None and shown.board == frame.board:
            run.take_back(ply, frame)
        elif shown is None and ply < run.base_ply:
            # Taken back while unobserved to before the first board seen.
            run.take_back(ply, frame)
            run.gapped = True
            _observe_board(table, run, frame, ply)
            return
    if ply <= run.ply and (ply < run.ply or frame.board != run.position.board):
        # Taken back out of sight and played on: the last move must join a position that we have seen.
        before = run.position_at(ply - 1)
        changed = advance(before, frame.verbose, frame.pretty, frame.board) if before and frame.has_move else ""
        if before is None or isinstance(changed, str):
            table.replace(run, frame)
            return
        run.take_back(ply - 1, frame)
        _observe_from(table, run, frame, before, ply - 1)
        table.append(run, frame, ply, changed, Disposition.PLY)
        return
    if ply == run.ply:
        _observe_from(table, run, frame, run.position, ply)
        table.count(Disposition.JOINED)
        return
    # The game went on: by one ply, by two or three of which the others follow, or by an unknown way.
    last_position, last_ply = run.position, run.ply
    played = try_rules(run, frame) if ply == last_ply + 1 and frame.has_move else None
    if played is not None:
        _observe_from(table, run, frame, last_position, last_ply)
        table.append(run, frame, ply, played, Disposition.PLY)
        return
    filled = bridged(last_position, frame, ply - last_ply - 1)
    if filled is not None:
        _observe_from(table, run, frame, last_position, last_ply)
        table.fill(run, frame, filled)
        return
    run.gapped = True
    _observe_board(table, run, frame, last_ply)


def _observe_board(table: GameTable, run: TrackedGame, frame: Style12, last_ply: int) -> None:
    """Begin another observation on a board that no ply leads to; the game was seen up to ``last_ply``."""
    assert run.position is not None
    ply = frame.ply
    position = frame_position(frame, run.position.rules)
    text = fen(position, frame.irreversible, frame.move_no)
    run.observe(frame, position, ply, start_facts(frame), text)
    if ply > last_ply:
        run.event(EventKind.GAP, "not observed", frame, value=ply - last_ply)
    table.clock_start(run, frame)
    table.count(Disposition.JOINED)


def _observe_from(table: GameTable, run: TrackedGame, frame: Style12, position: Position, ply: int) -> None:
    """Begin another observation on a position that is known."""
    run.join_deltas()
    previous = run.rows[-1].irreversible if run.rows else None
    text = fen(position, previous or 0, ply // 2 + 1)
    run.observe(frame, position, ply, start_facts(frame), text)
    run.event(EventKind.FEED, "observed again", frame)
    table.clock_start(run, frame)


def _plausible(run: TrackedGame, frame: Style12) -> bool:
    """Whether a board can be a later one of the run.

    The times are the same, and in games without drops no piece comes, no pawn returns to its first rank, no castling
    right comes back, and no more squares change than that many plies can.
    """
    first = run.observations[0]
    last = run.last
    if last is None or first.start is None:
        return True
    if (frame.base_min, frame.increment_s) != (last.base_min, last.increment_s):
        return False
    if run.position is None or has_pockets(run.position.rules) or frame.ply < run.ply:
        return True
    return not frame.castling & ~last.castling and could_follow(run.position, frame.board, frame.ply - run.ply)
