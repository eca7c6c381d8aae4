"""Whether a game that a source lost from sight is the one that is seen later under the same number.

A line is cut, a recorder is killed, a server's line is down: the game continues meanwhile. Later the recorder sees it:
it has the same number and players and is in mid-game. That alone proves nothing, since the same two players may have
begun another game under the same number. The clocks prove it: what both clocks have used up is time that has passed.
If they have used more than has passed since the game was last seen, the game was in progress then. No two games in
progress have one number, so it is the game that was seen.
"""

from __future__ import annotations

from typing import Final

from recorder.model import CLOCK_DERIVED, EXACT, Game, Ply, StartFacts, TimeBasis, control_of
from recorder.relating.game_view import SKEW_MS, View, same_move

__all__ = ["LOST_ENDS", "backward_ms", "in_progress_since", "may_be_seen_again", "taken_back_at"]

LOST_ENDS: Final = ("log-ends", "lost-feed", "unobserved")
"""How the game of an observation ends that did not see its end."""

_LISTED_MS: Final = 1_000
_LAG_MS: Final = 500  # a ply that passes and is not charged, in the mean over an outage
_LEAST_CHARGE_MS: Final = 100  # a move made beforehand costs so much on FICS and FatICS, and no time passes
_ROUNDING_MS: Final = 1_000  # of a clock that prints whole seconds

_Board = Ply | StartFacts


def may_be_seen_again(earlier: View, later: View) -> bool:
    """Whether a game that was lost from sight may be one that is seen later: nothing excludes it.

    The end of the earlier one was not seen, or not before the later one was seen, or it was adjourned. The later one
    was joined in mid-game, not before the ply at which the other was lost, and after it; in one source it also has the
    same number.
    """
    last, end = earlier.last_board, earlier.game.end
    if not later.starts or (0 if last is None else last.ply) > later.starts[0].ply:
        return False
    if earlier.source == later.source:
        lost = end in LOST_ENDS and _one_number(earlier, later)
        return lost and earlier.game.last_offset <= later.game.first_offset
    if end not in (*LOST_ENDS, "adjourned") and not _ended_after(earlier, later):
        return False
    passed_ms = _passed_ms(earlier, later)
    return passed_ms is not None and passed_ms >= 0


def backward_ms(earlier: View, later: View) -> int | None:
    """By how much a game lost from sight has later arrival times than what another source shows of its rest.

    A clock was set in between, or two computers' clocks differ, if both are one game: only equal times may show that.

    Returns:
        Milliseconds above 0; None: the arrival times are in order, or something else excludes that it is the rest.
    """
    last = earlier.last_board
    if earlier.source == later.source or not later.starts or earlier.game.end not in LOST_ENDS:
        return None
    if last is None or last.ply > later.starts[0].ply or not _one_number(earlier, later):
        return None
    passed_ms = _passed_ms(earlier, later)
    return -passed_ms if passed_ms is not None and passed_ms < 0 else None


def taken_back_at(lost: View, other: View) -> int | None:
    """The first ply of a game lost from sight that was taken back afterwards, if another observation is of that game.

    The other one shows another move there, under the same number, and later.

    Returns:
        The ply at which both differ first; None: they do not differ, or not so.
    """
    if lost.game.end not in LOST_ENDS or not lost.live_plies or lost.numbers.isdisjoint(other.numbers):
        return None
    common = sorted(lost.plies.keys() & other.plies.keys())
    number = next((ply for ply in common if not same_move(lost.plies[ply], other.plies[ply])), None)
    if number is None or lost.game.time_basis is not TimeBasis.UTC or other.game.time_basis is not TimeBasis.UTC:
        return None
    last = lost.plies[max(lost.live_plies)]
    shown = other.plies[number] if number in other.live_plies else next(iter(other.starts), None)
    if shown is None or shown.at_ms is None or last.at_ms is None or shown.at_ms <= last.at_ms:
        return None
    return number


def _one_number(earlier: View, later: View) -> bool:
    """Whether both were seen under one number, and the later one is not known to be the rest of an adjourned game."""
    return not earlier.numbers.isdisjoint(later.numbers) and not later.game.continued


def _ended_after(earlier: View, later: View) -> bool:
    """Whether the end of the one was seen when the other had been seen already."""
    spans = earlier.span_ms, later.span_ms
    return spans[0] is not None and spans[1] is not None and spans[1][0] <= spans[0][1]


def in_progress_since(earlier: View, later: View) -> str | None:
    """Why the later game was in progress when the earlier one was last seen, as a clause; None: it is not proved.

    Both clocks of the later one must have used more than has passed since, by ``SKEW_MS`` and what charges without time
    and rounding may add. Where the later one's list repeats all moves of the earlier one, the game may also have begun
    up to a second after it was last seen: no two players end a game, agree on another one and make its first two moves
    in a second. Besides, the clocks must have run as long as the outage lasted, but for lag. If the clocks
    are stopped, as before the first move of a resumed game, the same ply shows the same milliseconds on both clocks.

    Args:
        earlier, later: for which ``may_be_seen_again`` is true, and whose moves and times do not differ.
    """
    if earlier.game.end == "adjourned" or not _one_number(earlier, later):
        return None
    last, first, passed_ms = earlier.last_board, later.first_board, _passed_ms(earlier, later)
    if last is None or first is None or passed_ms is None:
        return None
    if (still := _equal_clocks(last, later.starts[0])) is not None:
        return f"seen again at ply {last.ply} under its number, with the same clocks: {still[0]} ms and {still[1]} ms"
    then_ms, now_ms = _clocks_ms(last), _clocks_ms(first)
    used_ms = None if now_ms is None else _used_ms(earlier.game, later.game, first.ply, sum(now_ms))
    if then_ms is None or now_ms is None or used_ms is None:
        return None
    repeated = bool(earlier.plies) and earlier.plies.keys() <= later.plies.keys()
    coarse_ms = sum(2 * _ROUNDING_MS for board in (last, first) if board.precision_code not in EXACT)
    margin_ms = (-_LISTED_MS if repeated else SKEW_MS) + _charged_for_nothing_ms(later, first.ply) + coarse_ms
    if used_ms < passed_ms + margin_ms:
        return None
    plies = first.ply - last.ply
    run_ms = sum(then_ms) - sum(now_ms) + _credits_ms(later.game, first.ply) - _credits_ms(later.game, last.ply)
    if not -(SKEW_MS + _LAG_MS * plies) <= run_ms - passed_ms <= SKEW_MS + _LEAST_CHARGE_MS * plies + coarse_ms:
        return None
    return (
        f"seen again at ply {first.ply} under its number, {passed_ms} ms after ply {last.ply}; "
        f"its clocks had run for {used_ms} ms"
    )


def _passed_ms(earlier: View, later: View) -> int | None:
    """The time from the last board of the one to the first of the other; None: not known."""
    last, first = earlier.last_board, later.first_board
    bases = earlier.game.time_basis, later.game.time_basis
    comparable = bases == (TimeBasis.UTC, TimeBasis.UTC) or (earlier.source == later.source and bases[0] is bases[1])
    if last is None or first is None or last.at_ms is None or first.at_ms is None or not comparable:
        return None
    return first.at_ms - last.at_ms


def _equal_clocks(last: _Board, joined: StartFacts) -> tuple[int, int] | None:
    """The clocks of a ply that was shown twice, White's first, in milliseconds.

    Returns:
        None: the plies or clocks differ, or a clock has whole seconds, which proves nothing.
    """
    clocks_ms = _clocks_ms(last)
    if last.ply != joined.ply or clocks_ms is None or clocks_ms != _clocks_ms(joined):
        return None
    exact = last.precision_code in EXACT and joined.precision_code in EXACT
    return clocks_ms if exact and all(clock_ms % _ROUNDING_MS for clock_ms in clocks_ms) else None


def _clocks_ms(board: _Board) -> tuple[int, int] | None:
    """Both clocks as they were printed; None: they were not."""
    if board.white_clock_ms is None or board.black_clock_ms is None or board.precision_code in CLOCK_DERIVED:
        return None
    return board.white_clock_ms, board.black_clock_ms


def _used_ms(one: Game, other: Game, ply: int, left_ms: int) -> int | None:
    """What both clocks have used of their base times and of the increments at least; None: not known."""
    bases = [
        next((base_s for game in (one, other) if (base_s := control_of(game, white)[0])), None)
        for white in (True, False)
    ]
    if bases[0] is None or bases[1] is None:
        return None
    return 1_000 * (bases[0] + bases[1]) + _credits_ms(other, ply) - left_ms


def _credits_ms(game: Game, ply: int) -> int:
    """The increments that were given at least up to a ply: on most servers none for the first move of each side."""
    white, black = (control_of(game, side)[1] or 0 for side in (True, False))
    return 1_000 * (white * max((ply + 1) // 2 - 1, 0) + black * max(ply // 2 - 1, 0))


def _charged_for_nothing_ms(view: View, ply: int) -> int:
    """What the clocks may have been charged up to a ply without that time passed."""
    charged_ms = 0
    for number in range(3, ply + 1):
        spent = view.spent_ms.get(number)
        if spent is None or not spent.fine:
            charged_ms += _LEAST_CHARGE_MS
        elif spent.ms <= _LEAST_CHARGE_MS:
            charged_ms += max(spent.ms, 0)
    return charged_ms
