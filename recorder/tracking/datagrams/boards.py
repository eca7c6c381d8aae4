"""Boards of datagrams in the form of frames, so that they go through the same rules.

A datagram contains a move; the rules give the board after it. ``Boards`` then places it like any frame, and values
that no datagram contains are removed from the ply again. Style-12 frames of the same game have priority: a board that
they have shown is not placed again, and a frame of the same ply replaces the datagram's.
"""

from __future__ import annotations

from typing import NamedTuple

from recorder.events import Line
from recorder.events.frames import Style12
from recorder.model import Origin, Ply, Precision, Proof
from recorder.rules.position import Position
from recorder.tracking.plies import ply_from_frame, start_facts
from recorder.tracking.tracked_game import TrackedGame

_NEAR_MS = 1000  # seconds may be cut off or rounded: the same clock in milliseconds is less than this away


class Times(NamedTuple):
    """In milliseconds; None is unknown. ``exact``: whether White's and Black's clock were sent in milliseconds."""

    white_ms: int | None = None
    black_ms: int | None = None
    elapsed_ms: int | None = None
    lag_ms: int | None = None
    exact: tuple[bool, bool] = (False, False)


class DatagramBoard(Style12):
    """A board that no frame printed; its text is the datagram's, and it has only the clocks that datagrams contain."""

    reported: Times
    tokens: list[str]

    @property
    def tail(self) -> list[str]:
        return self.tokens

    @property
    def clocks(self) -> tuple[int | None, int | None]:
        """White's and Black's clock if both were sent."""
        white_ms, black_ms = self.reported.white_ms, self.reported.black_ms
        return (None, None) if white_ms is None or black_ms is None else (white_ms, black_ms)

    @property
    def times(self) -> tuple[int | None, int | None, int | None, int | None, int | None]:
        elapsed_ms = self.reported.elapsed_ms
        return *self.clocks, elapsed_ms, None, None if elapsed_ms is None else int(Precision.SECONDS)

    def row(self, ply: Ply) -> Ply:
        times = self.reported
        exact = times.exact[not ply.white_moved]
        timed = times.white_ms is not None or times.black_ms is not None or times.elapsed_ms is not None
        return ply._replace(
            white_clock_ms=times.white_ms,
            black_clock_ms=times.black_ms,
            elapsed_ms=times.elapsed_ms,
            lag_ms=times.lag_ms,
            irreversible=None,
            origin_code=int(Origin.DATAGRAM),
            proof_code=int(Proof.LIST) if ply.proof_code == Proof.FULL else ply.proof_code,
            precision_code=int(Precision.MILLISECONDS if exact else Precision.SECONDS) if timed else None,
        )


def make_board(
    line: Line,
    game: tuple[int, str, str, int],
    position: Position,
    ply: int,
    move: tuple[str, str],
    arrived: bool,
    times: Times,
) -> DatagramBoard:
    """``game`` is number, White, Black and our relation; ``arrived``: the move has just happened."""
    number, white, black, relation = game
    rights = ["01"[position.castling >> bit & 1] for bit in range(4)]
    tail = [
        "W" if position.white_to_move else "B", str(position.push_col), *rights, "0", str(number), white, black,
        str(relation), "0", "0", "0", "0", "0", "0", str(ply // 2 + 1), move[0], "(0:00)", move[1], "0",
    ]  # fmt: skip
    # The zeros are no times: ``set_times`` takes them out of the ply again.
    board = DatagramBoard(
        position.board, line.text, line.offset, line.at_ms if arrived else None, line.block, False,
        str(number), f"{white} {black}", relation,
        2 * (ply // 2) + (not position.white_to_move), 0, 0, 0, move[0], 0, int(Precision.SECONDS), move[1], None,
    )  # fmt: skip
    board.tokens = tail
    board.reported = times
    return board


def set_times(run: TrackedGame, board: DatagramBoard) -> None:
    rows, times = run.rows, board.reported
    if rows and rows[-1].offset == board.offset and rows[-1].ply == board.ply:
        rows[-1] = board.row(rows[-1])
    current = run.current
    if current is not None and current.start is not None and current.start.offset == board.offset:
        exact = Precision.MILLISECONDS if all(times.exact) else Precision.SECONDS
        current.start = current.start._replace(precision_code=int(exact) if times.white_ms is not None else None)


def confirm(run: TrackedGame, frame: Style12, lag_meaningless: bool) -> bool:
    """Replace a ply of a datagram by the frame that shows it now; whether a ply became the frame's."""
    rows, position = run.rows, run.position
    taken = False
    if (
        rows
        and rows[-1].ply == run.ply
        and rows[-1].origin_code == Origin.DATAGRAM
        and position is not None
        and frame.has_move
    ):
        reported = rows[-1]
        shown = ply_from_frame(frame, run.ply, reported.move, reported.san, position, Proof.FULL, lag_meaningless)
        rows[-1] = _sharpened(shown, reported)
        taken = True
    elif run.current is not None and not rows and run.current.start is not None:
        run.current.start = start_facts(frame)
    if isinstance(run.start_frame, DatagramBoard) and not frame.has_move:
        run.start_frame = frame
    run.last = frame
    run.increment_ms = 1000 * frame.increment_s
    run.timed = frame.base_min > 0 or frame.increment_s > 0
    return taken


def _sharpened(shown: Ply, reported: Ply) -> Ply:
    if shown.lag_ms is None:
        shown = shown._replace(lag_ms=reported.lag_ms)
    if reported.precision_code != Precision.MILLISECONDS or shown.precision_code != Precision.SECONDS:
        return shown
    for white in (True, False):
        known = reported.white_clock_ms if white else reported.black_clock_ms
        if known is not None:
            shown = sharpen(shown, white, known, mover=white == shown.white_moved) or shown
    return shown


def sharpen(ply: Ply, white: bool, clock_ms: int, *, mover: bool) -> Ply | None:
    """Replace one clock of a ply by the same clock in milliseconds; None: the printed clock is another one."""
    printed = ply.white_clock_ms if white else ply.black_clock_ms
    if printed is not None and abs(printed - clock_ms) >= _NEAR_MS:
        return None
    changed = ply._replace(white_clock_ms=clock_ms) if white else ply._replace(black_clock_ms=clock_ms)
    return changed._replace(precision_code=int(Precision.MILLISECONDS)) if mover else changed
