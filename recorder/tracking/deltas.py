"""Delta boards (``iset compressmove``): bare moves, played from the current position of the game.

The strategy: a delta is a ply as good as the rules can make it: legal in the position before, the same move by its
squares and by its SAN, but shown by no board (``Proof.LIST``). The next board that agrees proves it fully. A delta that
cannot be played, or that comes after missing ones, is kept as it is printed; from there on the position is lost until a
board or a movelist shows it again. Nothing that a delta does not print is filled in: neither a board nor the other
side's clock.

Source: the help page of ``iset compressmove``. Times are milliseconds whatever ``iset ms`` says.
"""

from __future__ import annotations

from recorder.dialects.gameinfo import Smith, parse_smith
from recorder.events import DeltaBoard
from recorder.model import AnchorReason, AnomalyKind, EventKind, GameEnd, Origin, Ply, Precision, Proof
from recorder.rules.fen import fen
from recorder.rules.position import Position, Rules, encode_move
from recorder.rules.prove import Step, advance
from recorder.rules.tables import index_of
from recorder.tracking.game_table import GameTable
from recorder.tracking.tracked_game import ListSeen, TrackedGame

_CASTLING = {"c": "o-o", "C": "o-o-o"}
_TOLERANCE_MS = 1000


def take_delta(table: GameTable, delta: DeltaBoard) -> None:
    """Place a ``<d1>`` line in its game: the next ply, a takeback, a ply again, or one that cannot be joined."""
    run = table.runs.get(str(delta.game_no))
    if run is None or run.current is None or run.renewed or not (run.following or _late(run, delta)):
        table.complain(AnomalyKind.GAP, delta.line, delta.game_no, "a delta of a game whose board was not shown")
        return
    if delta.ply <= run.ply:
        _earlier(table, run, delta)
    elif delta.ply == run.ply + 1:
        _next(table, run, delta)
    else:
        _gap(table, run, delta)


def _late(run: TrackedGame, delta: DeltaBoard) -> bool:
    """Whether a delta behind the result is the last move's, or says it again."""
    return run.end is GameEnd.RESULT and run.ply <= delta.ply <= run.ply + 1


def _next(table: GameTable, run: TrackedGame, delta: DeltaBoard) -> None:
    position = run.position
    if position is None or position.rules in (Rules.BOARDS, Rules.FRAMES):
        run.lose_position()  # without rules only a board shows the result of a move
        _keep(table, run, delta, None, Proof.UNPROVED)
        return
    played = _play(position, delta)
    if isinstance(played, str):
        run.gapped = True
        table.complain(AnomalyKind.CONFLICT, delta.line, delta.game_no, f"ply {delta.ply} cannot be played: {played}")
        run.lose_position()
        _keep(table, run, delta, None, Proof.CONFLICT)
        return
    _keep(table, run, delta, played, Proof.LIST)


def _gap(table: GameTable, run: TrackedGame, delta: DeltaBoard) -> None:
    missing = delta.ply - run.ply - 1
    run.event(EventKind.GAP, "lost", delta.line, value=missing)
    table.complain(AnomalyKind.GAP, delta.line, delta.game_no, f"{missing} plies are missing before ply {delta.ply}")
    run.gapped = True
    run.lose_position()
    _keep(table, run, delta, None, Proof.UNPROVED)


def _earlier(table: GameTable, run: TrackedGame, delta: DeltaBoard) -> None:
    """A ply that is known: repeated, or the last one left after a takeback."""
    index = len(run.rows) - 1
    while index >= 0 and run.rows[index].ply > delta.ply:
        index -= 1  # these are taken back below
    has_ply = index >= 0 and run.rows[index].ply == delta.ply
    move = _squares(run, delta)
    before = run.position_at(delta.ply - 1)
    if has_ply and run.rows[index].move == move:
        same = True
    elif not has_ply and delta.ply == run.base_ply and _shown_first(run, delta):
        same = True  # the move of the board that the observation began with
    elif before is not None and run.position is not None:
        same = False
    else:
        run.take_back(min(delta.ply, run.ply) - 1, delta.line)
        run.gapped = True
        problem = f"where ply {delta.ply} leaves the game is not known"
        table.complain(AnomalyKind.GAP, delta.line, delta.game_no, problem)
        run.lose_position()
        run.ply = delta.ply - 1
        _keep(table, run, delta, None, Proof.UNPROVED)
        return
    if not same:
        run.take_back(delta.ply - 1, delta.line)
        run.clocks_settled = False
        _next(table, run, delta)
    elif delta.ply < run.ply:
        run.take_back(delta.ply, delta.line, _clocks(delta))
        run.clocks_settled = False
        _set_clock(run, delta)
        _heard(run, delta)
    elif delta.clock_ms != (run.white_clock_ms if delta.ply % 2 else run.black_clock_ms):
        run.event(EventKind.CLOCK, "same-ply", delta.line, clocks=_clocks(delta))
        _set_clock(run, delta)


def _shown_first(run: TrackedGame, delta: DeltaBoard) -> bool:
    start = run.current.start if run.current is not None else None
    return start is not None and start.ply == delta.ply and start.pretty.rstrip("+#") == delta.san.rstrip("+#")


def _play(position: Position, delta: DeltaBoard) -> Step | str:
    """Play a delta's move: its squares, the piece that it takes, and its SAN must all name it."""
    smith = parse_smith(delta.smith)
    assert smith is not None  # the parser refuses other lines
    if smith.captured in _CASTLING:
        return advance(position, _CASTLING[smith.captured], delta.san, None)
    origin, target = index_of(smith.squares[:2]), index_of(smith.squares[2:])
    there = position.board[target].lower()
    if smith.captured not in ("", "E") and there != smith.captured:
        return f"it takes {smith.captured!r}, on that square is {there!r}"
    piece = position.board[origin].upper()
    promoted = f"={smith.promoted}" if smith.promoted else ""
    return advance(position, f"{piece}/{smith.squares[:2]}-{smith.squares[2:]}{promoted}", delta.san, None)


def _squares(run: TrackedGame, delta: DeltaBoard) -> int | None:
    """The delta's move as plies keep it, None where it depends on the position (castling), which is lost."""
    smith = parse_smith(delta.smith)
    assert smith is not None
    if smith.captured not in _CASTLING:
        return _encoded(smith)
    before = run.position_at(delta.ply - 1)
    played = None if before is None else _play(before, delta)
    return played[0] if isinstance(played, tuple) else None


def _encoded(smith: Smith) -> int:
    return encode_move(smith.squares + smith.promoted.lower())


def _keep(table: GameTable, run: TrackedGame, delta: DeltaBoard, played: Step | None, proof: Proof) -> None:
    """Add the delta's ply to the main line, as printed if it cannot be played."""
    assert run.current is not None
    move: int | None
    flags: int | None = None
    if played is not None:
        move, san, after = played
        flags = after.castling | (after.push_col + 1) << 4
        run.position = after
        run.history.append(after)
    else:
        smith = parse_smith(delta.smith)
        move = None if smith is None or smith.captured in _CASTLING else _encoded(smith)
        san = delta.san
        run.base_ply = delta.ply + 1  # no position of this line is known
    if run.delta is None:
        run.unjoined = len(run.rows)
    white_ms, black_ms = _clocks(delta)
    row = Ply(
        delta.ply, move, san, white_ms, black_ms, delta.elapsed_ms, None if table.lag_meaningless else delta.lag_ms,
        delta.line.at_ms, flags, None, int(proof), int(Origin.DELTA), int(Precision.MILLISECONDS), delta.line.offset,
    )  # fmt: skip
    run.rows.append(row)
    run.ply = delta.ply
    before_ms = run.white_clock_ms if delta.ply % 2 else run.black_clock_ms
    drift = delta.clock_ms - before_ms + delta.elapsed_ms - run.increment_ms
    _set_clock(run, delta)
    _heard(run, delta)
    if run.timed and played is not None and delta.ply > 2:
        if run.clocks_settled and abs(drift) > _TOLERANCE_MS:
            run.event(EventKind.CLOCK, "adjusted", delta.line, value=drift, clocks=(white_ms, black_ms))
        run.clocks_settled = True


def _clocks(delta: DeltaBoard) -> tuple[int | None, int | None]:
    """White's and Black's clock in milliseconds; None for the opponent's, which a delta does not print."""
    return (delta.clock_ms, None) if delta.ply % 2 else (None, delta.clock_ms)


def _heard(run: TrackedGame, delta: DeltaBoard) -> None:
    """A delta was the last word of the game: the next board is compared with it, on the way for rare frames."""
    assert run.current is not None
    run.delta = delta
    run.names = None
    run.current.end_offset = max(run.current.end_offset, delta.line.offset)


def _set_clock(run: TrackedGame, delta: DeltaBoard) -> None:
    if delta.ply % 2:
        run.white_clock_ms = delta.clock_ms
    else:
        run.black_clock_ms = delta.clock_ms


def find_by_list(run: TrackedGame, listed: ListSeen) -> None:
    """A movelist shows the position again that was lost between deltas."""
    if run.position is not None or run.current is None or not run.following:
        return
    position = listed.position_at(run.ply)
    if position is not None:
        run.reset_to(position, run.ply, AnchorReason.LIST, fen(position, 0, run.ply // 2 + 1), listed.event.line.offset)
