"""The page of a position: what was played there, in which games, and the board on which one plays on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from exporters.report.game_list import list_row
from exporters.report.page import BarItem, number_text, tenths_text
from exporters.report.svg import draw_board, drawings
from exporters.report.tables import NOTHING
from recorder.archive.positions import Explored, ExploredMove
from recorder.openings import opening_of
from recorder.rules.fen import STANDARD_FEN, position_from_fen
from recorder.rules.position import Rules, decode_move
from recorder.text import plural
from recorder.web.links import WebSite
from recorder.web.listing import FIELDS, Choices, ListState
from recorder.web.pages import chosen_filters, field_values, form_of, render
from storage.read.listing import ListedGame

if TYPE_CHECKING:
    import chess

NEWEST: Final = 20  # games that the page lists
_POSITION: Final = ("moves", "position")
_LONGEST_MOVES: Final = 150  # characters of moves in an address; after more of them it has the position
_NUMBER: Final = re.compile(r"(?<![0-9])[0-9]+\.+")


def explorer_page(
    listed: ListState,
    explored: Explored,
    games: Sequence[ListedGame],
    choices: Choices,
    *,
    unindexed: int,
) -> bytes:
    """Show the moves that were played in a position; ``unindexed`` games were not searched."""
    import chess

    assert listed.where.position is not None
    position = position_from_fen(listed.where.position, Rules.CHESS)
    board = chess.Board(f"{listed.where.position} 0 1")
    query = listed.query(next=None)
    plain = WebSite()
    site = WebSite(
        (
            BarItem("Games", plain.listing(query), "up"),
            BarItem("Explorer", plain.explorer(), here=True),
            BarItem("Insights", plain.insights(listed.query(sort=None, next=None))),
            BarItem("Live", plain.live),
        )
    )
    opening = opening_of(position)
    unnamed = "Start position" if STANDARD_FEN.startswith(listed.where.position) else "Position without a name"
    fields = [field_values(field, listed.values.get(field.name, ""), {}) for field in FIELDS if field.name in _POSITION]
    played = list(_played(listed, site))
    values = {
        "title": f"Position: {listed.values.get('moves') or listed.where.position}",
        "description": f"{plural(explored.games, 'game')} reached this position",
        "fields": fields,
        "form": form_of(listed.values, choices, without=(*_POSITION, "next")),
        "opening": f"{opening.name} ({opening.eco})" if opening else unnamed,
        "defs": drawings(site.assets, one_side=True),
        "board": draw_board(position.board),
        "board_words": f"Position {listed.where.position}",
        "to_move": "White" if position.white_to_move else "Black",
        "start": site.explorer(listed.query(moves=None, position=None, next=None)),
        "played": played,
        "back": played[-2][1] if len(played) > 1 else None,
        "count": plural(explored.games, "game"),
        "games_count": explored.games,
        "games_href": site.listing(query),
        "chosen": [one for one in chosen_filters(listed, site.explorer) if one[0] not in {f["label"] for f in fields}],
        "moves": [_row(move, listed, board, site) for move in explored.moves],
        "ended": plural(explored.ended, "game") if explored.ended else "",
        "unindexed": plural(unindexed, "game") if unindexed else "",
        "games": [_game(game, explored, board, site) for game in games],
    }
    data = {move.uci(): _after(board.san(move), move, listed, board, site) for move in board.legal_moves}
    styles, scripts = ("board.css", "explorer.css"), ("games.js", "explorer.js")
    return render("explorer.html", values, replace(site, listed=listed), scripts, styles, data)


def _played(listed: ListState, site: WebSite) -> Iterator[tuple[str, str]]:
    """The way to the position: the words and the address of each of its positions."""
    words = _NUMBER.sub(" ", listed.values.get("moves", "")).split()
    yield "Start", site.explorer(listed.query(moves=None, next=None))
    fen = listed.values.get("position", "").split()
    black = len(fen) > 1 and fen[1] == "b"
    for count, word in enumerate(words, 1):
        number = number_text(count + black) if (count + black) % 2 or count == 1 else ""
        yield f"{number} {word}".strip(), site.explorer(listed.query(moves=" ".join(words[:count]), next=None))


def _after(san: str, move: chess.Move, listed: ListState, board: chess.Board, site: WebSite) -> str:
    moves = f"{listed.values.get('moves', '')} {san}".strip()
    if len(moves) <= _LONGEST_MOVES:
        return site.explorer(listed.query(moves=moves, next=None))
    after = board.copy(stack=False)
    after.push(move)
    return site.explorer(listed.query(moves=None, position=after.epd(), next=None))


def _row(move: ExploredMove, listed: ListState, board: chess.Board, site: WebSite) -> dict[str, Any]:
    here = {} if listed.values.keys() & {*_POSITION} else {"position": listed.where.position}
    return {
        "san": move.san,
        "href": _after(move.san, board.parse_uci(move.uci), listed, board, site),
        "games": f"{move.games:,}",
        "games_words": f"{plural(move.games, 'game')} with {move.san}",
        "games_href": site.listing(listed.query(**here, next=move.san)),
        "won": round(100 * move.white / move.games),
        "drawn": round(100 * (move.white + move.draws) / move.games),
        "lost": round(100 * (move.white + move.draws + move.black) / move.games),  # the rest has no result
        "shares": [f"{count / move.games:.0%}" for count in (move.white, move.draws, move.black)],
        "rating": NOTHING if move.rating is None else str(move.rating),
        "think": _clock(move.think_ms),
        "clock": _clock(move.clock_ms),
    }


def _game(game: ListedGame, explored: Explored, board: chess.Board, site: WebSite) -> dict[str, Any]:
    there = explored.places[game.key]
    san = NOTHING
    if there.move is not None:
        move = board.parse_uci(decode_move(there.move))
        san = board.san(move)
    row = list_row(game, site, ())
    return {
        **row,
        "href": site.game(game.key, there.ply),
        "san": san,
        "think": _clock(there.elapsed_ms),
        "clock": _clock(there.clock_ms),
    }


def _clock(ms: int | None) -> str:
    return NOTHING if ms is None else tenths_text(ms, bool(ms % 1000))
