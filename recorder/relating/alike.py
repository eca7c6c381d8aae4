"""Games that many sources show alike: of these one is compared with all others, for all of them.

Every two games of the same players are compared, so hundreds of logs of one game would need tens of thousands of
comparisons. Logs that show the same moves, times and header at the same moment compare alike with every other log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import fields
from typing import Final

from recorder.model import Game, Ply, StartFacts
from recorder.relating.compare import Verdict, compare
from recorder.relating.view import SKEW_MS, View

__all__ = ["group_alike"]

_OWN: Final = frozenset((
    "key", "me", "observations", "segments", "started_at_ms", "ended_at_ms", "first_offset", "last_offset", "links",
    "witnesses", "evidence", "analyses",
))  # fmt: skip
"""Fields of a game in which two logs of it may differ, and those that ``_content`` takes apart."""
_FIELDS: Final = tuple(field.name for field in fields(Game) if field.name not in _OWN)
_MOST_APART_MS: Final = SKEW_MS // 2  # from the first of a group, so no two of a group are further apart than SKEW_MS


def group_alike(views: Sequence[View]) -> list[list[View]]:
    """Group games that compare alike with all others.

    Args:
        views: games of the same players, each as one source shows it.
    Returns:
        Every view once, in groups that keep the order, by their first. The first of a group is the same game as each
        of the others, by ``compare``; a log that is at the limit of ``SKEW_MS`` from the group is judged by its first.
        A view whose source has several games here is a group by itself: those are compared differently.
    """
    if len(views) < 3:
        return [[view] for view in views]
    games_of = Counter(view.source for view in views)
    groups: list[list[View]] = []
    by_content: dict[object, list[list[View]]] = {}
    for view in views:
        if not view.plies or view.source is None or games_of[view.source] > 1:
            groups.append([view])
            continue
        fitting = by_content.setdefault(_content(view), [])
        group = next((group for group in fitting if _is_close(group[0], view)), None)
        if group is not None and compare(group[0], view).verdict is Verdict.SAME:
            group.append(view)
            continue
        groups.append([view])
        if group is None:
            fitting.append(groups[-1])
    return groups


def _is_close(first: View, view: View) -> bool:
    """Whether two logs show equal content at the same moments."""
    return all(abs(one - other) <= _MOST_APART_MS for one, other in zip(_times(first), _times(view), strict=True))


def _content(view: View) -> object:
    """All that a log shows of a game but when and where in the log, and which times it has."""
    game = view.game
    return (
        *(getattr(game, name) for name in _FIELDS),
        game.started_at_ms is None,
        game.ended_at_ms is None,
        *((seen.kind, seen.started_at_ms is None, seen.ended_at_ms is None) for seen in game.observations),
        *(None if seen.start is None else _printed(seen.start) for seen in game.observations),
        view.live_plies,
        *map(_printed, view.plies.values()),
    )


def _printed(facts: Ply | StartFacts) -> object:
    return facts._replace(at_ms=None, offset=0), facts.at_ms is None


def _times(view: View) -> list[int]:
    """When a log shows what, in milliseconds; as many for all games of equal content."""
    game = view.game
    bounds = [(seen.started_at_ms, seen.ended_at_ms) for seen in game.observations]
    arrivals = (ply.at_ms for ply in view.plies.values())
    times = (game.started_at_ms, game.ended_at_ms, *(at_ms for pair in bounds for at_ms in pair), *arrivals)
    return [at_ms for at_ms in times if at_ms is not None]
