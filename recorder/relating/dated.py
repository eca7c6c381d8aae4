"""Whether a saved game is one of another source because both began at the same time.

A PGN file prints its start in whole seconds, and often clocks in whole seconds too, which tell little in a quick game.
Two players do not begin two games with the same moves within one second. Where only the day is known, equal times must
make up for it: a day has fewer than 2 ** 10 games of two players, where ``information`` allows for 2 ** 20, so
``DAY_BITS`` give the same bound on false merges.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recorder.model import ObservationKind, StartPrecision, TimeBasis
from recorder.relating.information import REQUIRED_BITS, bits_of

if TYPE_CHECKING:
    from recorder.relating.view import View

__all__ = ["DAY_BITS", "begun_alike", "equal_seconds"]

DAY_BITS: Final = REQUIRED_BITS - 10
_DATED: Final = (TimeBasis.UTC, TimeBasis.LOCAL)
_SECOND_MS: Final = 1_000


def begun_alike(one: View, other: View) -> str | None:
    """Why a saved game and another one are the same, by when they began.

    A local time counts as equal to UTC only if both read the same.

    Args:
        one, other: games of the same players that do not contradict each other.
    Returns:
        A clause, or None: neither is a saved game, or their beginnings do not prove it.
    """
    if not (_is_saved(one) or _is_saved(other)):
        return None
    if one.plies.keys() != other.plies.keys() and not (_contains(one, other) or _contains(other, one)):
        return None
    begun_s = _second(one), _second(other)
    if begun_s[0] is not None and begun_s[1] is not None:
        return "begun in the same second" if abs(begun_s[0] - begun_s[1]) <= 1 else None
    if one.game.day is None or one.game.day != other.game.day or one.game.result != other.game.result:
        return None
    if one.plies.keys() != other.plies.keys():
        return None
    seconds = equal_seconds(one, other)
    if len(seconds) < len(one.plies.keys() - {1, 2}) or bits_of(seconds) < DAY_BITS:
        return None
    return "played on the same day"


def equal_seconds(one: View, other: View) -> dict[int, int]:
    """Ply → whole seconds that it took, where both sources give the same number."""
    return {
        ply: spent.ms // _SECOND_MS
        for ply, spent in one.spent_ms.items()
        if (its := other.spent_ms.get(ply)) is not None and its.ms // _SECOND_MS == spent.ms // _SECOND_MS
    }


def _contains(whole: View, part: View) -> bool:
    """Whether one has all plies of the other; half of an adjourned game is no part of this kind."""
    halves = any(view.game.end == "adjourned" or view.game.continued or view.starts for view in (whole, part))
    return not halves and part.plies.keys() <= whole.plies.keys()


def _is_saved(view: View) -> bool:
    return all(seen.kind is ObservationKind.PGN for seen in view.game.observations)


def _second(view: View) -> int | None:
    """The second in which a game began, since 1970; None: not known so exactly."""
    game = view.game
    if game.started_at_ms is None or game.time_basis not in _DATED or game.start_precision is StartPrecision.MINUTE:
        return None
    return game.started_at_ms // _SECOND_MS
