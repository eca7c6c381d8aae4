"""What the script of a report plays: boards, clocks and words, as JSON values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from exporters.report.moves import MoveVerdict, low_limit_ms
from exporters.report.page import is_exact, plain_name, spoken_duration, spoken_move
from exporters.report.playback import Playback, Showing
from exporters.report.positions import Course, ReportPosition
from recorder.model import Anomaly, Game, GameKind, Ply
from recorder.rules.fen import board_fen


class PlaybackBoard(NamedTuple):
    """One game with what is shown of it."""

    letter: str
    game: Game
    course: Course
    flipped: bool
    anomalies: Sequence[Anomaly]
    judged: Mapping[int, MoveVerdict] = MappingProxyType({})


def play_data(boards: Sequence[PlaybackBoard], shown: Playback) -> dict[str, Any]:
    """Return what ``game.js`` plays.

    ``boards``: each with its states (``men`` as in a FEN, squares to mark, both clocks in milliseconds, the move in
    words; ``eval``: White's chances in thousandths, and the evaluation). ``play``: what comes when, ``at`` in
    milliseconds in the real time and in each hurry; ``run``: the side, from and to of the clock that runs until then.
    ``end``: as ``at``. ``long``: a longer think is long.
    """
    numbers: dict[int, int] = {}
    states: list[list[dict[str, Any]]] = [[] for _ in boards]
    showings = []
    for one in shown.showings:
        if id(one.state) not in numbers:
            numbers[id(one.state)] = len(states[one.board])
            states[one.board].append(_state(boards[one.board], one.state))
        showings.append(_showing(one, numbers[id(one.state)]))
    return {
        "long": shown.long_ms,
        "end": [shown.end_ms, *shown.end_capped_ms],
        "boards": [
            {
                "flipped": board.flipped,
                "low": low_limit_ms(board.game),
                "names": [plain_name(board.game.white.handle), plain_name(board.game.black.handle)],
                "states": states[number],
            }
            for number, board in enumerate(boards)
        ],
        "play": showings,
    }


def _state(board: PlaybackBoard, state: ReportPosition) -> dict[str, Any]:
    game, move = board.game, state.move
    judged = None if state.line else board.judged.get(state.ply)
    found: dict[str, Any] = {
        "ply": state.ply,
        "main": not state.line,
        "men": None if state.board is None else board_fen(state.board),
        "say": _spoken(game, state),
    }
    if move is not None:
        found["marks"] = list(marked(move))
        found["white"] = move.white_moved
        found["name"] = where(state)
    if judged is not None:
        found["eval"] = [judged.chances, judged.evaluation]
        found["sign"] = judged.sign
    if not is_untimed(game):
        found["clocks"] = [state.white_clock_ms, state.black_clock_ms]
        found["exact"] = is_exact(move) if move is not None else _first_exact(game)
    if state.holdings != (None, None):
        found["hands"] = list(state.holdings)
    return found


def _first_exact(game: Game) -> bool:
    plies = game.plies
    return bool(plies) and is_exact(plies[0])


def _spoken(game: Game, state: ReportPosition) -> str:
    move = state.move
    if move is None:
        return "Start position" if state.ply == 0 else "The first position that was seen"
    return "".join(_spoken_parts(game, state, move))


def _spoken_parts(game: Game, state: ReportPosition, move: Ply) -> Iterator[str]:
    side = "White" if move.white_moved else "Black"
    yield f"{(state.ply + 1) // 2}, {side}: {spoken_move(move.san)}."
    if state.line:
        yield " Taken back later." if game.kind is GameKind.PLAYED else " Variation."
    if move.elapsed_ms is not None:
        yield f" Took {spoken_duration(move.elapsed_ms)}."
    left_ms = state.white_clock_ms if move.white_moved else state.black_clock_ms
    if left_ms is not None and not is_untimed(game):
        yield f" {spoken_duration(left_ms // 1000 * 1000)} left."


def _showing(one: Showing, state: int) -> dict[str, Any]:
    found: dict[str, Any] = {"board": one.board, "state": state, "at": [one.at_ms, *one.capped_ms]}
    if one.event is not None:
        found["event"] = 1
    if one.back:
        found["back"] = 1
    if one.run is not None:
        found["run"] = [0 if one.run.white else 1, one.run.from_ms, one.run.to_ms]
    if one.think_ms is not None:
        found["think"] = one.think_ms
    return found


def is_untimed(game: Game) -> bool:
    """Whether the game had no clocks."""
    return game.base_s == 0 and not game.increment_s


def where(state: ReportPosition) -> str:
    """``12. Nf3`` or ``12… Nc6``, of a state that a move led to."""
    assert state.move is not None
    return f"{(state.ply + 1) // 2}{'.' if state.ply % 2 else '…'} {state.move.san}"


def marked(move: Ply | None) -> tuple[str, ...]:
    """The squares that a move is marked on."""
    if move is None or move.uci is None:
        return ()
    return (move.uci[2:4],) if move.uci[1] == "@" else (move.uci[:2], move.uci[2:4])
