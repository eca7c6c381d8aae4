"""The answers about lists of games: the list, its file, the explorer of positions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from exporters.report.charts import draw_board, drawings
from exporters.report.page import BarItem, visible
from exporters.report.tables import NOTHING
from exporters.selection import read_position
from recorder.archive.exporting import no_player, require_variants
from recorder.archive.locate import open_archive
from recorder.archive.pages.completions import Completion, completions
from recorder.archive.pages.related import games_in_progress
from recorder.archive.positions import Explored, ExploredMove, explore
from recorder.errors import ExportError, SearchTimeoutError, StorageError
from recorder.openings import opening_of
from recorder.rules.fen import position_from_fen
from recorder.rules.position import Rules
from recorder.text import plural
from recorder.times import format_clock
from recorder.web import answers
from recorder.web.answers import TYPES, FormChoices, file_of_games, not_found, not_understood, page, reached
from recorder.web.links import WebSite
from recorder.web.listing import FIELDS, PAGE_GAMES, ListState, read_list
from recorder.web.pages import field_values, games_page, message_page, render
from storage import ArchiveStore

_POSITION: Final = ("moves", "position")
_LONGEST_MOVES: Final = 150
"""Characters of moves in an address; after more of them it has the position."""


def explorer_page(listed: ListState, found: Explored, *, unindexed: int) -> bytes:
    """Show the moves that were played in a position; ``unindexed`` games were not searched."""
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


class ListAnswers:
    """The lists of an archive, ``public`` without remarks. Its methods run in threads, several requests at once.

    ``check`` is as for ``file_of_games``.
    """

    def __init__(self, where: str, choices: FormChoices, *, public: bool, check: Callable[[], None]) -> None:
        self._where = where
        self._check = check
        self._choices = choices
        self._public = public

    def games(self, request: Request) -> Response:
        """The list of games. A form leaves empty fields in the address: the address without them is the list's."""
        pairs = request.query_params.multi_items()
        if any(not value.strip() for _, value in pairs):
            query = urlencode([(name, value) for name, value in pairs if value.strip()])
            return RedirectResponse(WebSite().listing(query), 303)
        try:
            listed = read_list(pairs)
            with open_archive(self._where) as archive, archive.snapshot():
                require_variants(archive, listed.where)
                return page(self._list(archive, reached(archive, listed)))
        except SearchTimeoutError:
            raise
        except (ExportError, StorageError) as error:
            if isinstance(error, StorageError) and "variant" not in dict(pairs):
                raise
            values = dict(pairs)
            return page(
                message_page("Not understood", visible(str(error)), values=values, choices=self._choices.current()), 400
            )

    def _list(self, archive: ArchiveStore, listed: ListState) -> bytes:
        found = archive.list_games(
            listed.where,
            listed.order,
            PAGE_GAMES + 1,
            after=listed.after,
            before=listed.before,
            limit_s=answers.SEARCH_S,
        )
        more = len(found) > PAGE_GAMES
        if listed.before is not None:
            games, ends = found[-PAGE_GAMES:], (more, True)
        else:
            games, ends = found[:PAGE_GAMES], (listed.after is not None, more)
        of = archive.count()
        count, scores = _counts(archive, listed) if listed.values else (of, {})
        return games_page(
            listed,
            games,
            in_progress=games_in_progress(archive),
            count=count,
            of=of,
            unknown=archive.count_unknown(listed.where),
            without=no_player(archive, listed.where) if not found else None,
            unindexed=0 if listed.where.position is None else archive.positions.state().missing,
            more=ends,
            choices=self._choices.current(),
            scores=scores,
        )

    def handles(self, request: Request) -> Response:
        """Handles that begin as typed, as JSON: for the form's lists of players."""
        typed = request.query_params.get("q", "").strip().lower()
        found = completions(self._where, Completion.HANDLE, typed) if typed else []
        return JSONResponse([value for value, _ in found])

    def download(self, request: Request) -> Response:
        """The games of a list as a file, in the order of their start."""
        suffix = request.path_params["suffix"]
        if suffix not in TYPES:
            return not_found(request, KeyError(suffix))
        try:
            listed = read_list(request.query_params.multi_items())
        except ExportError as error:
            return not_understood(error)
        with open_archive(self._where) as archive, archive.snapshot():
            require_variants(archive, listed.where)
            where = reached(archive, listed).where
            return file_of_games(archive, where, suffix, "games", public=self._public, check=self._check)

    def explorer(self, request: Request) -> Response:
        """The moves that were played in a position, of the games that match the filters in the address."""
        pairs = request.query_params.multi_items()
        try:
            listed = read_list(pairs)
            if listed.where.position is None:
                listed = replace(listed, where=replace(listed.where, position=read_position(None, "")))
            with open_archive(self._where) as archive, archive.snapshot():
                require_variants(archive, listed.where)
                found = explore(archive, listed.where, answers.SEARCH_S)
                missing = archive.positions.state().missing
        except ExportError as error:
            return not_understood(error)
        return page(explorer_page(listed, found, unindexed=missing))


def _counts(archive: ArchiveStore, listed: ListState) -> tuple[int, dict[str, int]]:
    """How many games a list has, and how many of them its player won, drew and lost.

    The second is empty for a list without a player, or of one outcome.
    """
    if not listed.where.players or listed.where.outcomes:
        return archive.count(listed.where, limit_s=answers.SEARCH_S), {}
    counts = archive.count_outcomes(listed.where, answers.SEARCH_S)
    return counts.pop("all"), counts
