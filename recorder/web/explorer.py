"""The page of a position: its board, and the moves that were played there, with their results and times."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from exporters.report.charts import draw_board, drawings
from exporters.report.page import BarItem
from exporters.report.tables import NOTHING
from recorder.archive.positions import Explored, ExploredMove
from recorder.openings import opening_of
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules
from recorder.text import plural
from recorder.times import format_clock
from recorder.web.links import WebSite
from recorder.web.listing import FIELDS, ListState
from recorder.web.pages import field_values, render

__all__ = ["explorer_page"]

_POSITION: Final = ("moves", "position")
_LONGEST_MOVES: Final = 150
"""Characters of moves in an address; after more of them it has the position."""


def explorer_page(listed: ListState, found: Explored, *, unindexed: int) -> bytes:
    """The moves that were played in a position.

    Args:
        listed: filters of games, with the position. found: what was played there.
        unindexed: games that were not searched.
    """
    assert listed.where.position is not None
    position = position_from_fen(listed.where.position, Rules.CHESS)
    games = listed.query(next=None)
    plain = WebSite()
    site = WebSite(
        (
            BarItem("Games", plain.listing(games), "up"),
            BarItem("Explorer", plain.explorer(), here=True),
            BarItem("Insights", plain.insights(listed.query(sort=None, next=None))),
            BarItem("Live", plain.live),
        )
    )
    opening = opening_of(position)
    others = {name: value for name, value in listed.values.items() if name not in (*_POSITION, "next")}
    fields = [field_values(field, listed.values.get(field.name, ""), {}) for field in FIELDS if field.name in _POSITION]
    values = {
        "title": f"Position: {listed.values.get('moves') or listed.where.position}",
        "description": f"{plural(found.games, 'game')} reached this position",
        "fields": fields,
        "hidden": list(others.items()),
        "opening": f"{opening.name} ({opening.eco})" if opening else "Position without a name",
        "defs": drawings(),
        "board": draw_board(position.board),
        "board_words": f"Position {listed.where.position}",
        "to_move": "White" if position.white_to_move else "Black",
        "start": site.explorer(urlencode(others)),
        "games": found.games,
        "count": plural(found.games, "game"),
        "games_href": site.listing(games),
        "chosen": [
            (field.label, value, site.explorer(listed.query(**{field.name: None})))
            for field, value in listed.chosen
            if field.name in others
        ],
        "moves": [_row(move, listed, site) for move in found.moves],
        "ended": plural(found.ended, "game") if found.ended else "",
        "unindexed": plural(unindexed, "game") if unindexed else "",
    }
    return render("explorer.html", values, replace(site, listed=listed), styles=("board.css",))


def _row(move: ExploredMove, listed: ListState, site: WebSite) -> dict[str, Any]:
    """A move with the links to the games behind it and to the position after it."""
    moves, start = f"{listed.values.get('moves', '')} {move.san}".strip(), listed.values.get("position")
    following = listed.query(moves=moves, position=start, next=None)
    if len(moves) > _LONGEST_MOVES:
        following = listed.query(moves=None, position=move.position, next=None)
    here = {} if "moves" in listed.values or start else {"position": listed.where.position}
    return {
        "san": move.san,
        "href": site.explorer(following),
        "games": f"{move.games:,}",
        "games_words": f"{plural(move.games, 'game')} with {move.san}",
        "games_href": site.listing(listed.query(**here, next=move.san)),
        "shares": [f"{count / move.games:.0%}" for count in (move.white, move.draws, move.black)],
        "rating": NOTHING if move.rating is None else str(move.rating),
        "think": NOTHING if move.think_ms is None else format_clock(move.think_ms, False),
        "clock": NOTHING if move.clock_ms is None else format_clock(move.clock_ms, False),
    }
