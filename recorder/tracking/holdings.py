"""``<b1>`` lines: what they say of a game's hands, and what they tell of an unnamed variant."""

from __future__ import annotations

from recorder.events import HoldingsLine
from recorder.model import Disposition
from recorder.tracking.position import Rules, with_hands
from recorder.tracking.run import Run

__all__ = ["take_holdings"]

_ORDER = "PNBRQK"


def take_holdings(run: Run | None, event: HoldingsLine) -> tuple[Disposition, str | None]:
    """Place a ``<b1>`` line.

    Args:
        run: the game with the line's number, or None when it is not followed.
    Returns:
        The disposition, and a sentence when the printed hands contradict the captures and drops seen.
    """
    if run is None or run.position is None:
        return Disposition.FOREIGN, None
    white, black = _sorted(event.white), _sorted(event.black)
    passed = event.passed is not None
    _tell_variant(run)
    problem = None
    # A pass line is provisional in crazyhouse: the capture that earned the piece has not been shown yet.
    provisional = passed and run.position.rules is Rules.CRAZYHOUSE
    if run.following and not provisional and run.position.rules in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
        reckoned = run.position.hands
        if run.position.rules is Rules.CRAZYHOUSE and reckoned is not None and reckoned != (white, black):
            problem = _contradiction(run, reckoned, (white, black))
        if reckoned != (white, black):
            run.position = with_hands(run.position, white, black)
            run.history[-1] = run.position
    run.note_holdings(event, white, black)
    return (Disposition.PASS if passed else Disposition.HOLDINGS), problem


def _contradiction(run: Run, reckoned: tuple[str, str], printed: tuple[str, str]) -> str | None:
    if run.variant_inferred:
        # The variant was only concluded; hands that grow without a capture tell that it is bughouse.
        run.variant = "bughouse"
        run.set_rules(Rules.BUGHOUSE)
        return None
    return f"hands are [{printed[0]}] [{printed[1]}], the captures and drops seen give [{reckoned[0]}] [{reckoned[1]}]"


def _tell_variant(run: Run) -> None:
    """A hand in a game believed to be chess: crazyhouse until a hand contradicts the captures, then bughouse."""
    assert run.position is not None
    if run.position.rules in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
        return
    run.variant, run.variant_inferred = "crazyhouse", True
    run.set_rules(Rules.CRAZYHOUSE)
    if run.start_frame is not None and not run.plies:
        run.position = with_hands(run.position, "", "")
        run.history[-1] = run.position


def _sorted(letters: str) -> str:
    return "".join(sorted(letters.upper(), key=_ORDER.find))
