"""The main line of a game that is over: which ply comes from which observation.

A board shows more than a list of moves, and a later board corrects an earlier one; what was taken back leaves the line.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import Final

from recorder.model import (
    AnchorReason,
    LineKind,
    Observation,
    Origin,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Segment,
    StartFacts,
    name_plies,
    taken_rows,
)
from recorder.model.boards import shown_board
from recorder.rules.fen import board_from_fen
from recorder.rules.position import Position, Rules
from recorder.rules.prove import play_san
from recorder.tracking.tracked_game import ListSeen, TrackedGame

_ROUNDED_MS: Final = 1_000


def plain_segments(run: TrackedGame) -> list[Segment] | None:
    """Of a game seen by one unbroken observation without gaps; None: look closer."""
    if run.lists or len(run.observations) != 1:
        return None
    rows = run.observations[0].lines[0].rows
    if not rows:
        return []
    first, last = rows[0][0], rows[-1][0]
    return [Segment(first, last, 0)] if last - first + 1 == len(rows) else None


def has_unproved(segments: list[Segment], observations: list[Observation]) -> bool:
    return any(
        ply.proof_code in (Proof.UNPROVED, Proof.CONFLICT)
        for segment in segments
        for ply in name_plies(taken_rows(segment, observations))
    )


def main_line(run: TrackedGame) -> dict[int, tuple[int, Ply]]:
    """Ply → (observation, ply): later boards before earlier ones, lists only where no board shows the move."""
    # From the last observation back to the first. A later one counts up to its end, and an earlier one only up to where
    # the next began: what it has beyond that was taken back while the board was not observed.
    chosen: dict[int, tuple[int, Ply]] = {}
    limit: int | None = None
    for index in range(len(run.observations) - 1, -1, -1):
        observation = run.observations[index]
        plies = observation.lines[0].plies
        for ply in plies:
            if (limit is None or ply.ply <= limit) and ply.ply not in chosen:
                chosen[ply.ply] = (index, ply)
        start = observation.start
        if start is not None and index > 0:
            first_ply = plies[0].ply - 1 if plies else start.ply
            limit = min(first_ply, start.ply) if limit is None else min(limit, first_ply, start.ply)
    # Lists fill what no board shows. A list that differs from a board of its time is of another game.
    if run.lists and not run.examined:
        live = {ply.ply for observation in run.observations for line in observation.lines[1:] for ply in line.plies}
        gaps = _Gaps(run)
        for index, listed in enumerate(run.lists):
            valid_to = run.valid_to(index)
            if not _joins(listed, valid_to, chosen):
                continue
            gaps.prove(listed, chosen)
            _cut_taken_back(listed, valid_to, live)
            for ply in listed.plies:
                if ply.ply not in chosen or _prints_inferred(ply, chosen[ply.ply][1]):
                    chosen[ply.ply] = (len(run.observations) + index, ply)
    return dict(sorted(chosen.items()))


def _prints_inferred(listed: Ply, ply: Ply) -> bool:
    """Whether a list prints a move that was inferred: it has the time that the move took."""
    return ply.origin_code == Origin.INFERRED and ply.move is not None and ply.move == listed.move


def unprove_drops(observation: Observation) -> None:
    """Drops are unproved if no line reported the holdings before them."""
    main = observation.lines[0]
    anchors = [anchor for anchor in observation.anchors if anchor.line == 0]
    start = observation.start
    from_start = start is None or start.ply == 0 or (start.ply == 1 and bool(main.rows) and main.rows[0][0] == 1)
    known_from = 0 if from_start else None
    if known_from == 0 and not anchors and (not main.rows or main.rows[0][0] > 0):
        return  # seen from the beginning, when holdings are empty
    plies = main.plies
    printed = [change for change in observation.holdings if change.passed is None]
    offsets = [change.offset for change in printed]
    earliest = list(accumulate((change.ply for change in reversed(printed)), min))[::-1]  # from each of them on
    begins = {anchor.ply: anchor for anchor in reversed(anchors)}
    begin_plies = sorted(begins)
    for index, ply in enumerate(plies):
        if (begin_no := bisect_left(begin_plies, ply.ply)) > 0:
            last = begins[begin_plies[begin_no - 1]]
            later = bisect_right(offsets, last.offset)
            known_from = last.ply if "[" in last.fen else earliest[later] if later < len(earliest) else None
        drop = ply.uci is not None and ply.uci[1] == "@"
        if drop and ply.proof_code == Proof.FULL and (known_from is None or ply.ply <= known_from):
            plies[index] = ply._replace(proof_code=int(Proof.UNPROVED))


class _Gaps:
    """Plies after a gap, unproved until a list gives the board before them."""

    def __init__(self, run: TrackedGame) -> None:
        self._observations = [] if run.rules is Rules.FRAMES else run.observations
        self._unproved: dict[int, list[tuple[int, int]]] = {}  # ply → observation, place
        self._boards: list[dict[int, str]] = []
        self._tried: set[tuple[int, Position]] = set()
        for index, observation in enumerate(self._observations):
            plies = observation.lines[0].plies
            for place, ply in enumerate(plies):
                if ply.proof_code == Proof.UNPROVED:
                    self._unproved.setdefault(ply.ply, []).append((index, place))
            self._boards.append(
                {anchor.ply: board_from_fen(anchor.fen) for anchor in observation.anchors if anchor.line == 0}
                if any(ply.proof_code == Proof.UNPROVED for ply in plies)
                else {}
            )

    def prove(self, listed: ListSeen, chosen: dict[int, tuple[int, Ply]]) -> None:
        """Prove those whose preceding board a list gives: both texts and both boards agree, or a delta's texts."""
        for number in range(listed.first_ply, listed.first_ply + len(listed.positions) + 1):
            before = listed.position_at(number - 1)
            if before is None or number not in self._unproved or (number, before) in self._tried:
                continue
            self._tried.add((number, before))
            for index, place in self._unproved[number]:
                self._prove(index, place, before, chosen)

    def _prove(self, index: int, row_no: int, before: Position, chosen: dict[int, tuple[int, Ply]]) -> None:
        plies = self._observations[index].lines[0].plies
        ply, boards = plies[row_no], self._boards[index]
        from_delta = ply.origin_code == Origin.DELTA
        if ply.proof_code != Proof.UNPROVED or not (from_delta or ply.ply in boards):
            return
        # The list gives the board before the gap's last move, the frame the board after it: a proof as good as any.
        played = play_san(before, ply.san)
        if isinstance(played, str) or ply.move not in (None, played[0]):
            return
        if not from_delta and played[2].board != boards[ply.ply]:
            return
        move, san, after = played
        flags = after.castling | (after.push_col + 1) << 4
        proof = Proof.LIST if from_delta else Proof.FULL
        plies[row_no] = ply._replace(move=move, san=san, flags=flags, proof_code=int(proof))
        if chosen.get(ply.ply, (None,))[0] == index:
            chosen[ply.ply] = (index, plies[row_no])


def _cut_taken_back(listed: ListSeen, valid_to: int | None, known: set[int]) -> None:
    """``valid_to`` is the last ply that stayed, None if there is none; ``known`` were seen on boards and taken back."""
    if valid_to is None:
        return
    main = listed.observation.lines[0]
    removed = [ply for ply in main.plies if ply.ply > valid_to]
    if not removed:
        return
    main.plies[:] = [ply for ply in main.plies if ply.ply <= valid_to]
    if any(ply.ply not in known for ply in removed):
        listed.observation.lines.append(PlyLine(1, LineKind.TAKEBACK, 0, valid_to, removed))


def _joins(listed: ListSeen, valid_to: int | None, chosen: dict[int, tuple[int, Ply]]) -> bool:
    """Whether list and boards agree wherever both show the main line as it was then."""
    for ply in listed.plies:
        other = chosen.get(ply.ply)
        if other is None or other[1].offset > listed.event.line.offset:
            continue
        if valid_to is not None and ply.ply > valid_to:
            continue
        if other[1].move is not None and ply.move is not None and other[1].move != ply.move:
            return False
    return True


def segments_of(chosen: dict[int, tuple[int, Ply]]) -> list[Segment]:
    segments: list[Segment] = []
    for ply, (index, _) in chosen.items():
        if segments and segments[-1].observation == index and segments[-1].to_ply == ply - 1:
            segments[-1] = segments[-1]._replace(to_ply=ply)
        else:
            segments.append(Segment(ply, ply, index))
    return segments


# -- times of the first boards ----------------------------------------------------------------------------------------


def time_listed(run: TrackedGame) -> None:
    lag_meaningless = run.session is not None and run.session.lag_meaningless
    for observation in run.observations:
        start = observation.start
        board = None if start is None or start.ply == 0 else _board_of(observation, start.ply)
        if start is None or board is None:
            continue
        for listed in run.lists:
            _time(listed, start, board, lag_meaningless)


def _time(listed: ListSeen, start: StartFacts, board: str, lag_meaningless: bool) -> None:
    after = listed.position_at(start.ply)
    index = start.ply - listed.first_ply
    plies = listed.observation.lines[0].plies
    if index < 0 or index >= len(plies) or after is None or after.board != board:
        return
    ply = plies[index]
    if ply.ply != start.ply or ply.san.rstrip("+#") != start.pretty.rstrip("+#"):
        return
    if ply.elapsed_ms and start.elapsed_ms is not None:
        exact = ply.precision_code == start.precision_code
        if abs(ply.elapsed_ms - start.elapsed_ms) > (0 if exact else _ROUNDED_MS):
            return  # the same move, played again after a takeback
    plies[index] = _timed(ply, start, lag_meaningless)._replace(proof_code=int(Proof.FULL))


def _board_of(observation: Observation, ply: int) -> str | None:
    starts = (
        anchor.fen
        for anchor in observation.anchors
        if anchor.line == 0 and anchor.ply == ply and anchor.reason is AnchorReason.START
    )
    return next(map(shown_board, starts), None)


def _timed(ply: Ply, start: StartFacts, lag_meaningless: bool) -> Ply:
    white = ply.ply % 2 == 1
    elapsed_ms = ply.elapsed_ms if start.elapsed_ms is None else start.elapsed_ms
    precision = start.precision_code if start.precision_code is not None else ply.precision_code
    return ply._replace(
        white_clock_ms=start.white_clock_ms if white else None,
        black_clock_ms=None if white else start.black_clock_ms,
        elapsed_ms=elapsed_ms,
        lag_ms=None if lag_meaningless else start.lag_ms,
        precision_code=None if precision is None else int(Precision(precision)),
    )
