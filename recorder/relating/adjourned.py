"""Whether a game goes on with one that was adjourned.

Source: a resumed game begins with the board of the last move and a half-move count above 0; the server tells its
players ``Continuing``, others only that they observe it. Its number may be new.
"""

from __future__ import annotations

from collections.abc import Collection

from recorder.model import Game, Observation, StartFacts
from recorder.relating.compare import headers_differ
from recorder.relating.game_view import View, may_meet
from recorder.rules.prove import Position, board_from_fen, play_san, position_from_fen
from recorder.rules.variants import rules_of

__all__ = ["board_of", "boards_after", "continues", "may_end", "resumed_at"]

_ROUNDED_MS = 1_000
_TELLING_TIMES = 3
_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def resumed_at(later: View) -> tuple[Observation, StartFacts] | None:
    """The first live observation of a game that begins in mid-game, and its first board's facts; None: it does not."""
    for seen in later.live[:1]:
        if seen.start is not None and seen.start.ply > 0:
            return seen, seen.start
    return None


def may_end(earlier: View) -> bool:
    """Whether a game may go on some time: it was adjourned, or its end was not seen."""
    return earlier.game.end in ("adjourned", "log-ends", "lost-feed", "unobserved")


def continues(earlier: View, later: View) -> str | None:
    """Why ``later`` is what became of ``earlier`` when it was resumed, as a clause; None: it is not known to be.

    The same players, kind and time control; the last position of the one is the first of the other; the clocks are as
    they were, but for the time of the side to move; and either that the first was adjourned or that the second
    continues a game was printed. Where the second was first seen some moves later, its list begins with the first's
    moves.
    """
    begun = resumed_at(later)
    if begun is None or not may_end(earlier) or not earlier.plies or headers_differ(earlier.game, later.game):
        return None
    if earlier.game.end != "adjourned" and not later.game.continued:
        return None
    seen, start = begun
    if start.ply > max(earlier.plies) and _in_order(earlier, later):
        return _listed(earlier, later, start.ply)
    if start.ply != max(earlier.plies) or start.ply not in earlier.live_plies or not _in_order(earlier, later):
        return None
    last = earlier.plies[start.ply]
    if start.pretty.rstrip("+#") != last.san.rstrip("+#"):
        return None
    white_moved = start.ply % 2 == 1
    rested = (last.white_clock_ms, start.white_clock_ms) if white_moved else (last.black_clock_ms, start.black_clock_ms)
    running = (
        (last.black_clock_ms, start.black_clock_ms) if white_moved else (last.white_clock_ms, start.white_clock_ms)
    )
    if None in rested or None in running:
        return None
    if abs((rested[0] or 0) - (rested[1] or 0)) > _ROUNDED_MS:
        return None
    if (running[1] or 0) > (running[0] or 0) + _ROUNDED_MS:
        return None
    first = next((anchor for anchor in seen.anchors if anchor.line == 0 and anchor.ply == start.ply), None)
    begins = boards_after(later.game, (start.ply,)).get(start.ply) if first is None else board_of(first.fen)
    reached = boards_after(earlier.game, (start.ply,)).get(start.ply)
    if reached is None or reached != begins:
        return None
    return f"goes on after ply {start.ply} with the same position and clocks"


def _listed(earlier: View, later: View, joined: int) -> str | None:
    """Why a game that was joined at a ply goes on with an earlier one whose moves its list repeats, or None.

    Lists print the times of the moves before; one server prints 0 for all that were made before the adjournment.
    """
    last = max(earlier.plies)
    if any(ply not in later.plies for ply in range(1, joined + 1)):
        return None
    equal = zero = 0
    for number, ply in earlier.plies.items():
        listed = later.plies[number]
        if (ply.move, ply.san.rstrip("+#")) != (listed.move, listed.san.rstrip("+#")):
            return None
        spent_ms, printed_ms = ply.elapsed_ms, listed.elapsed_ms
        if spent_ms is None or printed_ms is None or spent_ms < _ROUNDED_MS:
            continue
        if abs(spent_ms - printed_ms) <= (0 if ply.precision_code == listed.precision_code else _ROUNDED_MS):
            equal += 1
        elif printed_ms == 0:
            zero += 1
        else:
            return None
    telling = later.game.continued or max(equal, zero) >= _TELLING_TIMES
    if not telling or (equal and zero):
        return None
    return f"goes on after ply {last}: its list begins with the same {len(earlier.plies)} plies"


def _in_order(earlier: View, later: View) -> bool:
    if earlier.source == later.source and earlier.source is not None:
        return earlier.game.last_offset <= later.game.first_offset
    before, after = earlier.span_ms, later.span_ms
    return before is None or after is None or before[1] <= after[0] or (may_meet(before, after) and before < after)


def board_of(fen: str) -> str | None:
    """The board of a FEN; None: it is no board that the rules know."""
    try:
        return board_from_fen(fen)
    except ValueError:
        return None


def boards_after(game: Game, wanted: Collection[int]) -> dict[int, str]:
    """The boards after plies of the main line, as far as boards and moves that were shown give them."""
    rules = rules_of(game.variant or "chess")
    shown = {anchor.ply: anchor.fen for anchor in game.anchors()}
    if not game.start_ply or game.start_fen:
        shown.setdefault(game.start_ply, game.start_fen or _START)
    plies = {ply.ply: ply for ply in game.plies}
    found: dict[int, str] = {}
    position: Position | None = None
    for number in range(min(shown, default=0), max(wanted, default=-1) + 1):
        if number in shown:
            try:
                position = position_from_fen(shown[number], rules)
            except ValueError:  # a board that the rules do not know
                position = None
        elif position is not None:
            played = play_san(position, plies[number].san) if number in plies else ""
            position = None if isinstance(played, str) else played[2]
        if position is not None and number in wanted:
            found[number] = position.board
    return found
