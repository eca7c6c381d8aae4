"""What the reader of a raw log knows at a place: comparing two readers, and joining what they counted.

A state is that of ``Pipeline.restart``.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

from recorder.dialects.recogniser import MAX_SHAPES
from recorder.model import TimeBasis
from recorder.tracking.game_lines import TITLES_KEPT
from recorder.tracking.session import dump_counts, load_counts
from recorder.tracking.tracker import Tracker

__all__ = ["State", "can_be_joined", "digest_of", "guessed_state", "joined_state"]

_COUNTS: Final = ("frames", "holdings", "list_frames", "elsewhere")
_OF_READ_AGAIN: Final = ("muted", "muted_lists")
"""What matters only where lines are read again: before the place where these readers agree."""

State = dict[str, Any]


def digest_of(offset: int, state: State, passing: list[Any]) -> bytes:
    """Of what a reader knows, but for what it counted, and titles, which are added to the games later."""
    left_out = {*_COUNTS, *_OF_READ_AGAIN, "titles", "quoted", "shapes", "lines", "tracker"}
    known = {
        name: sorted(value, key=json.dumps) if isinstance(value, list) and name != "session" else value
        for name, value in (state | state["tracker"]).items()
        if name not in left_out
    }
    return hashlib.sha256(json.dumps([offset, known, passing], sort_keys=True).encode()).digest()


def guessed_state(offset: int, known: State) -> State:
    """The state of a reader that begins at a place and knows of the session what another reader knows."""
    _, fresh = Tracker(basis=TimeBasis.NONE).restart_state(offset)
    tracker = {**fresh, "session": known["tracker"]["session"]}
    return {**known, "from": offset, "begin": offset, "tracker": tracker, "quoted": {}, "shapes": {}, "lines": 0}


def _sum(total: Mapping[str, int], since: Mapping[str, int], now: Mapping[str, int]) -> dict[str, int]:
    """Counts of all before a place, and of what another reader counted between there and now."""
    summed = Counter(total)
    summed.update(now)
    summed.subtract(since)
    return dict(+summed)


def can_be_joined(total: State, since: State, now: State) -> bool:
    """Whether ``joined_state`` finds what one reader of all lines would have learned.

    It does not if a table is full, or if a shape was first seen in half a line, at which one of the readers began.
    """
    titles = {**total["tracker"]["titles"], **now["tracker"]["titles"]}
    shapes = {**total["shapes"], **now["shapes"]}
    halves = (
        now["shapes"][shape][0] > count for shape, (count, _) in since["shapes"].items() if shape not in total["shapes"]
    )
    return len(titles) < TITLES_KEPT and len(shapes) < MAX_SHAPES and not any(halves)


def joined_state(total: State, since: State, now: State) -> State:
    """The state that one reader of all lines would have.

    Args:
        total: that of a reader from the beginning, at a place.
        since: that of the reader who goes on, there. now: later.
    """
    tracker = {**now["tracker"], "titles": {**total["tracker"]["titles"], **now["tracker"]["titles"]}}
    for name in ("frames", "holdings", "elsewhere"):
        tracker[name] = _sum(*(state["tracker"][name] for state in (total, since, now)))
    for name in ("frames", "holdings"):
        tracker[name] = dump_counts(load_counts(tracker[name]))  # in the order of one reader
    tracker["list_frames"] += total["tracker"]["list_frames"] - since["tracker"]["list_frames"]
    shapes = dict(total["shapes"])
    for shape, (count, first) in now["shapes"].items():
        known, first = shapes.get(shape, (0, first))
        known += count - since["shapes"].get(shape, [0])[0]
        if known:
            shapes[shape] = [known, first]
    return {
        **now,
        "tracker": tracker,
        "quoted": _sum(total["quoted"], since["quoted"], now["quoted"]),
        "shapes": shapes,
        "lines": total["lines"] + now["lines"] - since["lines"],
    }
