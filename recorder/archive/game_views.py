"""A game as PGN, as objects of python-chess and as HTML for notebooks: what the methods of ``Game`` return.

``recorder.model.games`` imports this module when such a method is called. It is the only import of the model from a
layer above it: a method of the value is what a caller looks for, and the formats are not the model's subject.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Final

import chess
import chess.pgn
import chess.svg
import chess.variant

from exporters.holdings import plies_with_holdings
from exporters.pgn.exporter import PgnExporter, PgnOptions
from exporters.pgn.parts import PgnPart, cut_into_parts, is_chess_fen
from recorder.errors import ExportError, ReplayError
from recorder.model import ELAPSED_DERIVED, EXACT
from recorder.model.boards import boards_by_ply
from recorder.model.games import control_text
from recorder.model.plies import is_null_move
from recorder.rules.fen import board_fen
from recorder.rules.variants import chess_board
from recorder.times import format_clock

if TYPE_CHECKING:
    from recorder.model import Game, Ply
    from storage import GameStore

_PLAIN: Final = frozenset(
    (None, "chess", "chess960", "wildcastle", "nocastle", "wild", "losers", "kriegspiel", "twokings")
)
_BOARD_SIZE: Final = 280
_GAMES_SHOWN: Final = 10
_CHART_WIDTH, _CHART_HEIGHT = 420, 120


def pgn_options(
    clock: str | Iterable[str],
    style: str,
    variations: bool,
    comments: bool,
    engine: bool,
    analysis: str | None,
    as_crazyhouse: bool,
) -> PgnOptions:
    words = clock.split(",") if isinstance(clock, str) else clock
    return PgnOptions(
        clock=frozenset(word.strip() for word in words) - {"", "none"},
        style=style,
        variations=variations,
        comments=comments,
        engine=engine,
        analysis=analysis,
        as_crazyhouse=as_crazyhouse,
    )


def pgn_text(game: Game, options: PgnOptions) -> str:
    """``Game.to_pgn``."""
    return PgnExporter(options).game_text(game)


def chess_game(game: Game) -> chess.pgn.Game:
    """``Game.to_chess``."""
    parts = cut_into_parts(game)
    part_index, part = next(((index, part) for index, part in enumerate(parts) if part.count), (0, parts[0]))
    text = io.StringIO(pgn_text(game, PgnOptions()))
    headers = next(islice(iter(lambda: chess.pgn.read_headers(text), None), part_index, None))
    variant = headers.pop("Variant", None)
    converted = chess.pgn.Game(headers)
    converted.setup(_start(game, part))
    if variant is not None and "Variant" not in converted.headers:
        converted.headers["Variant"] = variant
        try:
            converted.headers.variant()
        except ValueError:  # a name that python-chess refuses, of a game that it plays as normal chess
            converted.headers["RecorderVariant"] = converted.headers.pop("Variant")
    node: chess.pgn.GameNode = converted
    for ply in part.plies:
        move = _move(ply)
        if move is None:
            break
        node = node.add_main_variation(move)
        if ply.clock_ms is not None and ply.clock_ms >= 0:
            node.set_clock(ply.clock_ms / 1000)
        if ply.elapsed_ms is not None and ply.elapsed_ms >= 0 and ply.precision_code not in ELAPSED_DERIVED:
            node.set_emt(ply.elapsed_ms / 1000)
    if game.reason and part_index == len(parts) - 1 and isinstance(node, chess.pgn.ChildNode):
        node.comment = f"{node.comment} {game.reason}".strip()
    return converted


def board_after(game: Game, ply: int | None) -> chess.Board:
    """``Game.board``."""
    boards = boards_by_ply(game)
    wanted = max(boards, default=game.start_ply) if ply is None else ply
    for part in cut_into_parts(game):
        if wanted in boards and part.start_ply <= wanted <= part.start_ply + part.count:
            return _replay(game, part, wanted, {number: board_fen(board) for number, board in boards.items()})
    raise ReplayError(f"Game {game.key[:8]} has no known position after ply {wanted}.")


def _start(game: Game, part: PgnPart) -> chess.Board:
    """The board on which a part begins."""
    kind = chess.Board if game.variant in _PLAIN or str(game.variant).startswith("wild/") else None
    kind = kind or chess_board("crazyhouse" if game.variant == "bughouse" else str(game.variant))
    if kind is None or not (part.fen is None or is_chess_fen(part.fen)):
        raise ExportError(f"Game {game.key[:8]}: python-chess has no board for the variant {game.variant}.")
    if part.fen is None and part.start_ply:
        raise ReplayError(f"Game {game.key[:8]} has no known position after ply {part.start_ply}.")
    fen = part.fen or chess.STARTING_FEN
    try:
        board = kind(fen, chess960=True) if game.variant == "chess960" else kind(fen)
    except ValueError as error:
        raise ExportError(f"Game {game.key[:8]}: python-chess cannot read its position: {error}.") from error
    if isinstance(board, chess.variant.CrazyhouseBoard):
        _add_drops(board, part.plies)
    return board


def _move(ply: Ply) -> chess.Move | None:
    if is_null_move(ply):
        return chess.Move.null()
    return None if ply.uci is None else chess.Move.from_uci(ply.uci)


def _add_drops(start: chess.variant.CrazyhouseBoard, plies: list[Ply]) -> None:
    """Put pieces in hand that are dropped later and that nothing shows: of another board, or of moves not seen."""
    board = start.copy()
    for ply in plies:
        move = _move(ply)
        if move is None:
            break
        if move.drop is not None and not board.pockets[board.turn].count(move.drop):
            start.pockets[board.turn].add(move.drop)
            board.pockets[board.turn].add(move.drop)
        board.push(move)


def _replay(game: Game, part: PgnPart, wanted: int, placements: dict[int, str]) -> chess.Board:
    """The board after ``wanted`` half-moves, or the last known; recorded ``placements`` count, as of odd castling."""
    board = _start(game, part)
    for ply in part.plies:
        move = _move(ply)
        if ply.ply > wanted or move is None:
            break
        board.push(move)
        fen = placements.get(ply.ply)
        if fen is not None and board.board_fen(promoted=False) != fen:  # castling that python-chess does not know
            board.set_board_fen(fen)
    if isinstance(board, chess.variant.CrazyhouseBoard) and game.variant == "bughouse":
        holdings = next((holdings for ply, holdings in plies_with_holdings(game) if ply.ply == wanted), (None, None))
        for colour, letters in zip((chess.WHITE, chess.BLACK), holdings, strict=True):
            board.pockets[colour] = chess.variant.CrazyhousePocket((letters or "").lower())
    return board


def html_of(game: Game) -> str:
    """``Game._repr_html_``: a table with two images, without style, script and links."""
    plies = game.plies
    try:
        board = board_after(game, None)
    except (ExportError, ReplayError):
        position = "No board: the position is not known, or python-chess has no board for this variant."
    else:
        last = board.peek() if board.move_stack else None
        drawing = chess.svg.board(board, lastmove=last, size=_BOARD_SIZE)
        position = _image(drawing, f"Position after ply {max(boards_by_ply(game), default=game.start_ply)}")
    sides = []
    for player, white in ((game.white, True), (game.black, False)):
        clock = next((ply for ply in reversed(plies) if ply.white_moved is white and ply.clock_ms is not None), None)
        clock_text = "-" if clock is None else format_clock(clock.clock_ms, clock.precision_code in EXACT)
        name = " ".join(filter(None, (player.handle, player.titles, player.rating_text)))
        sides.append(f"<tr><td>{'White' if white else 'Black'}</td><td>{escape(name)}</td><td>{clock_text}</td></tr>")
    chart = _think_times(plies)
    drawn = _image(chart, "Time for each move: White above, Black below") if chart else "No times are known."
    reason = f"<tr><td>End</td><td>{escape(game.reason)}</td><td></td></tr>" if game.reason else ""
    return (
        f"<table><caption>{escape(repr(game))}</caption><tr><td>{position}</td>"
        f"<td><table><tr><th></th><th>Player</th><th>Clock</th></tr>{''.join(sides)}{reason}</table>{drawn}</td>"
        "</tr></table>"
    )


def html_of_games(store: GameStore, title: str) -> str:
    """The newest games of a store as a table, without style, script and links."""
    from storage import GameFilter
    from storage.read.store import MOVES_ALONE

    games = store.games(GameFilter(last=_GAMES_SHOWN), **MOVES_ALONE)
    rows = []
    for game in games:
        kind = " ".join(filter(None, (control_text(game), game.category, game.variant_word)))
        moves = (game.ply_count + 1) // 2
        words = (game.key[:8], game.day or "", game.white.handle, game.black.handle, kind, game.result, moves)
        rows.append(f"<tr>{''.join(f'<td>{escape(str(word))}</td>' for word in words)}</tr>")
    heads = ("Key", "Day", "White", "Black", "Kind", "Result", "Moves")
    more = f"<p>The newest {_GAMES_SHOWN} of {store.count():,} games.</p>" if store.count() > _GAMES_SHOWN else ""
    table = f"<tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{''.join(rows)}" if rows else ""
    return f"<table><caption>{escape(title)}</caption>{table}</table>{more}"


def _think_times(plies: list[Ply]) -> str | None:
    """Bars of elapsed times, White's upwards and Black's downwards; None: none is known."""
    longest = max((ply.elapsed_ms for ply in plies if ply.elapsed_ms is not None), default=0)
    if longest <= 0:
        return None
    first, last = plies[0].ply, plies[-1].ply
    step = _CHART_WIDTH / (last - first + 2)
    middle, room = _CHART_HEIGHT / 2, _CHART_HEIGHT / 2 - 12
    bars = []
    for ply in plies:
        if ply.elapsed_ms is None or ply.elapsed_ms <= 0:
            continue
        height = room * ply.elapsed_ms / longest
        top = middle - height if ply.white_moved else middle
        fill = "#f0d9b5" if ply.white_moved else "#55504a"
        bars.append(
            f'<rect x="{(ply.ply - first) * step:.1f}" y="{top:.1f}" width="{max(step, 1):.1f}" height="{height:.1f}"'
            f' fill="{fill}" stroke="#55504a" stroke-width="0.3"/>'
        )
    exact = any(ply.precision_code in EXACT for ply in plies)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_CHART_WIDTH} {_CHART_HEIGHT}"'
        f' width="{_CHART_WIDTH}" height="{_CHART_HEIGHT}"><rect width="{_CHART_WIDTH}" height="{_CHART_HEIGHT}"'
        f' fill="#ffffff"/>{"".join(bars)}<path d="M0 {middle:g}H{_CHART_WIDTH}" stroke="#55504a"/>'
        f'<text x="4" y="10" font-size="10" font-family="sans-serif">longest: {format_clock(longest, exact)}</text>'
        "</svg>"
    )


def _image(svg: str, words: str) -> str:
    data = base64.b64encode(svg.encode()).decode()
    return f'<img alt="{escape(words)}" src="data:image/svg+xml;base64,{data}"/>'
