"""The rating curve of a player's page: the rating in each game, a line for each kind of game.

It is drawn without matplotlib, because a site has thousands of such pages, and a picture of matplotlib takes a second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeAlias

from exporters.report.page import count, trusted
from exporters.report.tables import known, text_of

if TYPE_CHECKING:
    from markupsafe import Markup

_Point: TypeAlias = "tuple[int, int]"
"""The place of a game among those with a rating and a date, and the rating."""

_WIDTH, _HEIGHT = 640, 220
_LEFT, _RIGHT, _TOP, _BOTTOM = 44, 12, 10, 24
_STEPS: Final = (10, 20, 50, 100, 200, 500, 1000)
_MOST_LINES: Final = 4
"""Lines that readers can distinguish; ``ratings.css`` has a colour and a dash pattern for each."""
_MOST_POINTS: Final = 1000
"""Points of all lines; more would be finer than the picture."""


class RatingCurve(NamedTuple):
    """The picture, and what each of its lines is, in their order."""

    svg: Markup
    lines: Sequence[str]
    note: str


def draw_ratings(own: Sequence[Mapping[str, Any]]) -> RatingCurve | None:
    """Draw the ratings that the logs state for a player, of the games with a date: others have no place in the order.

    ``own`` has the player's sides in the order of the games. None: no kind of game has two ratings.
    """
    kinds: dict[str, list[_Point]] = {}
    rated = [row for row in own if known(row["player_rating"])]
    for place, row in enumerate(row for row in rated if known(row["day"])):
        kind = text_of(row["category"]) or text_of(row["variant"]) or "unknown kind"
        kinds.setdefault(kind, []).append((place, int(row["player_rating"])))
    ordered = sorted(kinds.items(), key=lambda one: (-len(one[1]), one[0]))
    shown = [one for one in ordered[:_MOST_LINES] if len(one[1]) > 1]
    if not shown:
        return None
    values = [rating for _, points in shown for _, rating in points]
    first, last = (end(place for _, points in shown for place, _ in points) for end in (min, max))
    step = next((step for step in _STEPS if max(values) - min(values) <= 4 * step), _STEPS[-1])
    low, high = min(values) // step * step, -(-max(values) // step) * step
    high = max(high, low + step)

    def y(rating: int) -> str:
        return f"{_TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - rating) / (high - low):.1f}"

    def x(place: int) -> str:
        return f"{_LEFT + (_WIDTH - _LEFT - _RIGHT) * (place - first) / max(last - first, 1):.1f}"

    parts = []
    for rating in range(low, high + 1, step):
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - _RIGHT}" y1="{y(rating)}" y2="{y(rating)}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y(rating)}" dy="4" text-anchor="end">{rating}</text>')
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 6}">first game</text>')
    parts.append(f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">last game</text>')
    games = len(values)
    drawn = [_thinned(points, _MOST_POINTS * len(points) // games) for _, points in shown]
    for number, points in enumerate(drawn):
        line = " ".join(f"{x(place)},{y(rating)}" for place, rating in points)
        parts.append(f'<polyline class="line{number}" points="{line}"/>')
    box = f'class="ratings" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="rating-lines"'
    left, undated = len(ordered) - len(shown), sum(not known(row["day"]) for row in rated)
    points_drawn = sum(map(len, drawn))
    notes = [
        f"{count(left, 'kind')} of games with fewer ratings not shown." if left else "",
        f"{count(undated, 'game')} without a date not shown." if undated else "",
        f"{points_drawn:,} of {games:,} ratings are drawn: the first, last, lowest and highest of each stretch."
        if points_drawn < games
        else "",
    ]
    return RatingCurve(
        trusted(f"<svg {box}>{''.join(parts)}</svg>"),
        [_words(kind, [rating for _, rating in points]) for kind, points in shown],
        " ".join(filter(None, notes)),
    )


def _thinned(points: Sequence[_Point], most: int) -> Sequence[_Point]:
    """The first, last, lowest and highest point of each stretch of a line, if it has more points than ``most``."""
    if len(points) <= most:
        return points
    size = -(-len(points) // max(most // 4, 1))
    kept: list[_Point] = []
    for begin in range(0, len(points), size):
        stretch = points[begin : begin + size]
        low, high = (end(stretch, key=itemgetter(1)) for end in (min, max))
        kept += sorted({stretch[0], low, high, stretch[-1]})
    return kept


def _words(kind: str, ratings: Sequence[int]) -> str:
    """``blitz: 1483 to 1620, 1601 in the last of 12 games``."""
    low, high = min(ratings), max(ratings)
    spread = f"{low} to {high}" if low < high else f"{low}"
    return f"{kind}: {spread}, {ratings[-1]} in the last of {count(len(ratings), 'game')}"
