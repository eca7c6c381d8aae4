"""Whether a game that a source lost from sight is the one that is seen later under the same number.

A line is cut, a recorder is killed, a server's line is down: the game continues meanwhile. Later the recorder sees it:
it has the same number and players and is in mid-game. That alone proves nothing, since the same two players may have
begun another game under the same number. The clocks prove it: what both clocks have used up is time that has passed.
If they have used more than has passed since the game was last seen, the game was in progress then. No two games in
progress have one number, so it is the game that was seen.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from recorder.model import CLOCK_DERIVED, EXACT, Game, GameEnd, Ply, StartFacts, TimeBasis, control_of
from recorder.relating.game_view import SKEW_MS, View, same_move

_LISTED_MS: Final = 1_000
_LAG_MS: Final = 500  # a ply that passes and is not charged, in the mean over an outage
_LEAST_CHARGE_MS: Final = 100  # a move made beforehand costs so much on FICS and FatICS, and no time passes
_ROUNDING_MS: Final = 1_000  # of a clock that prints whole seconds

_Board = Ply | StartFacts


def may_be_seen_again(earlier: View, later: View) -> bool:
    """Its end was not seen, or it was adjourned; the later one was joined behind it, in one source under its number."""
    last, end = earlier.last_board, earlier.game.end
    if not later.starts or (0 if last is None else last.ply) > later.starts[0].ply:
        return False
    if earlier.source == later.source:
        lost = end.is_lost and _one_number(earlier, later)
        return lost and earlier.game.last_offset <= later.game.first_offset
    if not end.may_go_on and not _ended_after(earlier, later):
        return False
    passed_ms = _passed_ms(earlier, later)
    return passed_ms is not None and passed_ms >= 0


def backward_ms(earlier: View, later: View) -> int | None:
    """By how much arrival times go back, as when a clock was set; None: they do not, or it is not the game's rest."""
    last = earlier.last_board
    if earlier.source == later.source or not later.starts or not earlier.game.end.is_lost:
        return None
    if last is None or last.ply > later.starts[0].ply or not _one_number(earlier, later):
        return None
    passed_ms = _passed_ms(earlier, later)
    return -passed_ms if passed_ms is not None and passed_ms < 0 else None


def taken_back_at(lost: View, other: View) -> int | None:
    """The other observation, later, under the same number, shows another move there; None: they do not differ so."""
    if not lost.game.end.is_lost or not lost.live_plies or lost.numbers.isdisjoint(other.numbers):
        return None
    common = sorted(lost.plies.keys() & other.plies.keys())
    number = next((ply for ply in common if not same_move(lost.plies[ply], other.plies[ply])), None)
    if number is None or lost.game.time_basis is not TimeBasis.UTC or other.game.time_basis is not TimeBasis.UTC:
        return None
    last = lost.plies[max(lost.live_plies)]
    following = other.plies[number] if number in other.live_plies else next(iter(other.starts), None)
    if following is None or following.at_ms is None or last.at_ms is None or following.at_ms <= last.at_ms:
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

    No later than so long before a board as both clocks have used the game had begun; rounding and what is charged
    without time counts against it, and of many boards the best one counts. That moment must be ``SKEW_MS`` before the
    earlier one's last board. Where the later one's list repeats all moves of the earlier one, it may be up to a second
    after that was in sight: no two players end a game, agree on another one and make its first two moves in a second.
    Where the list prints that these took longer and the clocks were not charged for it, it is so much. Besides, the
    clocks must have run as long as the outage lasted, but for lag. A flag that fell shows how long its clock had run.
    If the clocks are stopped, as before the first move of a resumed game, the same ply shows the same milliseconds on
    both clocks. Where time was added in the outage, the times that the list prints are used instead of the clocks.
    ``may_be_seen_again`` is true for both, and their moves and times do not differ.
    """
    if earlier.game.end is GameEnd.ADJOURNED or not _one_number(earlier, later):
        return None
    # A game that was resumed after an adjournment has other clocks: ``merge`` joins its halves in another way.
    last, passed_ms = earlier.last_board, _passed_ms(earlier, later)
    if last is None or last.at_ms is None or passed_ms is None or _was_resumed(earlier, later):
        return None
    if (still := _equal_clocks(last, later.starts[0])) is not None:
        return f"seen again at ply {last.ply} under its number, with the same clocks: {still[0]} ms and {still[1]} ms"
    repeated = bool(earlier.plies) and earlier.plies.keys() <= later.plies.keys()
    # By when must the later game have begun, so that it cannot be the next one of the same players?
    in_sight_ms = max(earlier.in_sight_ms or 0, last.at_ms)
    begun_by_ms = in_sight_ms + _first_moves_ms(earlier, later) if repeated else last.at_ms - SKEW_MS
    moments = _moments(earlier.game, later)
    again = _seen_again(last, moments, later.game)
    if again is not None and min(moment.begun_ms for moment in moments) <= begun_by_ms:
        return (
            f"seen again at ply {again.ply} under its number, {again.at_ms - last.at_ms} ms after ply {last.ply}; "
            f"its clocks had run for {again.used_ms} ms"
        )
    if again is None and repeated and (spent_ms := _listed_since(last, later, begun_by_ms)) is not None:
        return (
            f"seen again under its number, {passed_ms} ms after ply {last.ply}; "
            f"by the times of its list it had gone on for {spent_ms} ms"
        )
    return None


def probably_goes_on(earlier: View, later: View) -> bool:
    """Whether a game seen later has all moves of one lost from sight, and its clocks have run as long as the outage."""
    last = earlier.last_board
    if not (earlier.plies and earlier.plies.keys() <= later.plies.keys() and last is not None):
        return False
    if not (may_be_seen_again(earlier, later) and _one_number(earlier, later)):
        return False
    return _seen_again(last, _moments(earlier.game, later), later.game) is not None


def _seen_again(last: _Board, moments: list[_Moment], game: Game) -> _Moment | None:
    """The first moment of a game that was joined, if its clocks have run as long as it was out of sight."""
    # Of a game in which no move was seen any more only the fall of a flag has clocks that have run.
    return next(
        (moment for moment in moments[:2] if moment.ply == moments[0].ply and _ran_as_long(last, moment, game)), None
    )


def _first_moves_ms(earlier: View, later: View) -> int:
    """What a game's end, the start of another one and its first two moves take at least, though no clock runs."""
    first = earlier.plies.get(1)
    free = first is not None and (first.elapsed_ms or 0) >= _ROUNDING_MS and _is_whole(first.white_clock_ms, earlier)
    spent = [later.spent_ms.get(ply) for ply in (1, 2)] if free else []
    printed = [took for took in spent if took is not None and took.printed]
    return max(sum(took.ms if took.fine else max(took.ms - _ROUNDING_MS, 0) for took in printed), _LISTED_MS)


def _is_whole(clock_ms: int | None, view: View) -> bool:
    base_s = control_of(view.game, True)[0]
    return clock_ms is not None and base_s is not None and clock_ms == 1_000 * base_s


def _was_resumed(earlier: View, later: View) -> bool:
    """So some servers print what was played before a game was adjourned."""
    plies = earlier.plies.keys() - {1, 2}
    if not plies or not plies <= later.unlisted:
        return False
    return any(later.plies[ply].precision_code in EXACT or earlier.plies[ply].elapsed_ms for ply in plies)


class _Moment(NamedTuple):
    """A board of a game that was joined, or the fall of a flag, and when the game had begun at the latest.

    White's clock comes first; ``used_ms`` is of the base times and increments, ``begun_ms`` the latest moment.
    """

    ply: int
    at_ms: int
    clocks_ms: tuple[int, int]
    exact: bool
    used_ms: int
    begun_ms: int


def _moments(earlier: Game, later: View) -> list[_Moment]:
    """Of which both clocks are known; ``earlier`` may have the time control."""
    assert later.first_board is not None
    boards = [later.first_board]
    if later.first_board.precision_code not in EXACT:  # clocks in seconds are cut elsewhere on each board
        boards += [later.plies[ply] for ply in sorted(later.live_plies) if ply > later.first_board.ply]
    timed = [
        (board, board.at_ms, clocks) for board in boards if board.at_ms is not None and (clocks := _clocks_ms(board))
    ]
    readings = [(board.ply, at_ms, clocks, board.precision_code in EXACT) for board, at_ms, clocks in timed]
    if readings and later.game.reason_key == "time" and later.game.ended_at_ms is not None:
        ply, _, (white_ms, black_ms), exact = readings[-1]
        flagged = (white_ms, min(black_ms, 0)) if later.game.result == "1-0" else (min(white_ms, 0), black_ms)
        readings.append((ply, later.game.ended_at_ms, flagged, exact))
    moments = []
    for ply, at_ms, clocks_ms, exact in readings:
        # What is missing from both clocks has been played: the game began at least so long before this board. Rounding
        # and moves that were charged without taking time make that less certain, and are subtracted.
        used_ms = _used_ms(earlier, later.game, ply, sum(clocks_ms))
        if used_ms is not None:
            cut_ms = 0 if exact else _ROUNDING_MS * sum(clock_ms > 0 for clock_ms in clocks_ms)
            doubt_ms = _charged_for_nothing_ms(later, ply) + cut_ms
            moments.append(_Moment(ply, at_ms, clocks_ms, exact, used_ms, at_ms - used_ms + doubt_ms))
    return moments


def _ran_as_long(last: _Board, moment: _Moment, game: Game) -> bool:
    """Whether the clocks have run as long as the time between two boards, but for lag."""
    then_ms = _clocks_ms(last)
    if then_ms is None or last.at_ms is None:
        return False
    plies = moment.ply - last.ply
    run_ms = sum(then_ms) - sum(moment.clocks_ms) + _credits_ms(game, moment.ply) - _credits_ms(game, last.ply)
    coarse_ms = 2 * _ROUNDING_MS * ((last.precision_code not in EXACT) + (not moment.exact))
    differs_ms = run_ms - (moment.at_ms - last.at_ms)
    return -(SKEW_MS + _LAG_MS * plies) <= differs_ms <= SKEW_MS + _LEAST_CHARGE_MS * plies + coarse_ms


def _listed_since(last: _Board, later: View, begun_by_ms: int) -> int | None:
    """By the times that the list prints; None: some are missing, it may have begun later, or the outage was longer."""
    first = later.first_board
    if first is None or first.at_ms is None or last.at_ms is None:
        return None
    spent = [later.spent_ms.get(ply) for ply in range(len(later.unlisted) + 1, first.ply + 1)]
    printed = [(0, True)] * len(later.unlisted) + [(time.ms, time.fine) for time in spent if time and time.printed]
    if len(printed) < first.ply:
        return None
    least_ms = [max(ms - (_LEAST_CHARGE_MS if fine else _ROUNDING_MS // 2), 0) for ms, fine in printed]
    gone_on_ms = sum(least_ms)
    missing_ms = first.at_ms - last.at_ms - sum(ms for ms, _ in printed[last.ply :])
    plies = first.ply - last.ply
    if first.at_ms - gone_on_ms > begun_by_ms or not abs(missing_ms) <= SKEW_MS + _LAG_MS * plies:
        return None
    return gone_on_ms


def _passed_ms(earlier: View, later: View) -> int | None:
    last, first = earlier.last_board, later.first_board
    bases = earlier.game.time_basis, later.game.time_basis
    comparable = bases == (TimeBasis.UTC, TimeBasis.UTC) or (earlier.source == later.source and bases[0] is bases[1])
    if last is None or first is None or last.at_ms is None or first.at_ms is None or not comparable:
        return None
    return first.at_ms - last.at_ms


def _equal_clocks(last: _Board, joined: StartFacts) -> tuple[int, int] | None:
    """White's first. None: plies or clocks differ, or a clock has whole seconds, which proves nothing."""
    clocks_ms = _clocks_ms(last)
    if last.ply != joined.ply or clocks_ms is None or clocks_ms != _clocks_ms(joined):
        return None
    exact = last.precision_code in EXACT and joined.precision_code in EXACT
    return clocks_ms if exact and all(clock_ms % _ROUNDING_MS for clock_ms in clocks_ms) else None


def _clocks_ms(board: _Board) -> tuple[int, int] | None:
    if board.white_clock_ms is None or board.black_clock_ms is None or board.precision_code in CLOCK_DERIVED:
        return None
    return board.white_clock_ms, board.black_clock_ms


def _used_ms(one: Game, other: Game, ply: int, left_ms: int) -> int | None:
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
