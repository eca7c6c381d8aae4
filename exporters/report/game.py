"""The report of one game, or of both boards of a bughouse match."""

from __future__ import annotations

import io
from collections.abc import Collection, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from exporters.bpgn import BpgnExporter
from exporters.evaluations import score_text, thoughts_by_ply
from exporters.holdings import BothHoldings, match_holdings
from exporters.pgn.exporter import PgnExporter, PgnOptions
from exporters.report.events import (
    about,
    anomaly_words,
    clock_words,
    player_words,
    proof_words,
    provenance,
    result_words,
    source_name,
)
from exporters.report.moves import MoveRows, PlaybackBoard, took_text, verdict_counts, verdicts
from exporters.report.page import (
    PIECES,
    clock_text,
    is_exact,
    number_text,
    plain_name,
    render_page,
    spoken_duration,
    trusted,
    visible,
)
from exporters.report.pictures import game_panels
from exporters.report.playback import Playback, Showing, play
from exporters.report.positions import Course, ReportPosition
from exporters.report.svg import draw_board, drawings
from exporters.report.tables import result_text
from recorder.model import Anomaly, Game, GameKind, LinkKind, Player, Ply, control_of
from recorder.relating.match import Match, transfers
from recorder.rules.fen import board_fen
from recorder.rules.tables import NAMES
from recorder.times import in_ms, low_limit_ms

if TYPE_CHECKING:
    from markupsafe import Markup

    from exporters.report.page import Site


def play_data(boards: Sequence[PlaybackBoard], playback: Playback) -> dict[str, Any]:
    """Return what ``game.js`` plays.

    ``boards``: each with its states: ``men`` as in a FEN (null: unknown), or ``to``, the squares that differ from the
    state before with what is on them now; ``marks``: squares to mark, if they are others than the two of ``to``;
    ``ply``, if it is not the next one; ``clocks`` in milliseconds, or ``left``, the mover's, if the other is as before,
    or neither, if it follows from ``took``;
    ``san``; ``took``; ``eval``: White's chances in thousandths, and the evaluation; ``hands``, where they differ from
    those before. A state with nothing but ``to``, ``san``, ``took`` and ``left``, or the first of these, is one text.
    ``inc``: what both clocks get for a move. ``still``: no clock runs. ``thinks``: moves took time.
    ``play``: what comes when: ``after`` so many milliseconds, which stand alone for a new state; without ``state`` the
    state after the last one. ``end``: what is behind the last of them. ``long``: a longer think is long.
    """
    numbers: dict[int, int] = {}
    states: list[list[dict[str, Any] | str]] = [[] for _ in boards]
    showings = []
    before: list[ReportPosition | None] = [None for _ in boards]
    last_ms = 0
    for showing in playback.showings:
        new = id(showing.state) not in numbers
        if new:
            numbers[id(showing.state)] = len(states[showing.board])
            states[showing.board].append(_state(boards[showing.board], showing.state, before[showing.board]))
            before[showing.board] = showing.state
        showings.append(_showing(showing, showing.at_ms - last_ms, None if new else numbers[id(showing.state)]))
        last_ms = showing.at_ms
    return {
        "long": playback.long_ms,
        "end": playback.end_ms - last_ms,
        "boards": [
            {
                "flipped": board.flipped,
                "hands": any(state.holdings != (None, None) for state in board.course.main),
                "timed": _has_clocks(board),
                "exact": _first_exact(board.game),
                "low": low_limit_ms(board.game.base_s),
                "inc": [in_ms(control_of(board.game, white)[1]) for white in (True, False)],
                "still": not any(showing.run for showing in playback.showings if showing.board == number),
                "thinks": any(showing.think_ms is not None for showing in playback.showings if showing.board == number),
                "names": [plain_name(board.game.white.handle), plain_name(board.game.black.handle)],
                "states": states[number],
            }
            for number, board in enumerate(boards)
        ],
        "play": showings,
    }


_USUAL = ("to", "san", "took", "left")


def _state(board: PlaybackBoard, state: ReportPosition, before: ReportPosition | None) -> dict[str, Any] | str:
    game, move = board.game, state.move
    judged = None if state.line else board.judged.get(state.ply)
    values: dict[str, Any] = {}
    if before is None or state.ply != before.ply + 1:
        values["ply"] = state.ply
    if state.line:
        values["line"] = "Taken back later." if game.kind is GameKind.PLAYED else "Variation."
    changed: list[tuple[str, str]] = []
    if state.board is not None and before is not None and before.board is not None:
        pairs = zip(NAMES, before.board, state.board, strict=True)
        changed = [(name, now) for name, was, now in pairs if was != now]
        values["to"] = "".join(f"{name}{now}" for name, now in changed)
    else:
        values["men"] = None if state.board is None else board_fen(state.board)
    if move is not None:
        values["san"] = move.san
        usual = changed if changed and changed[0][1] == "-" else changed[::-1]
        if len(usual) != 2 or tuple(name for name, _ in usual) != marked(move):
            values["marks"] = "".join(marked(move))
    if move is not None and move.elapsed_ms is not None:
        values["took"] = move.elapsed_ms
    if judged is not None:
        values["eval"] = [judged.chances, judged.evaluation, judged.sign]
    if not is_untimed(game):
        clocks = [state.white_clock_ms, state.black_clock_ms]
        was = None if before is None else (before.black_clock_ms if state.ply % 2 else before.white_clock_ms)
        left_ms = clocks[1 - state.ply % 2]
        if before is not None and clocks[state.ply % 2] == was:
            values |= {} if _follows(game, before, state) else {"left": left_ms}
        else:
            values["clocks"] = clocks
        if move is not None and is_exact(move) is not _first_exact(game):
            values["exact"] = is_exact(move)
    if state.holdings != (before.holdings if before else (None, None)):
        values["hands"] = list(state.holdings)
    short = "to" in values and tuple(values) == _USUAL[: len(values)] and None not in values.values()
    text = " ".join(map(str, values.values()))
    return text if short and text.count(" ") == len(values) - 1 else values


def _follows(game: Game, before: ReportPosition, state: ReportPosition) -> bool:
    """Whether the mover's clock is what it was, less the time of the move, and what a move adds."""
    white = state.ply % 2 == 1
    was_ms, left_ms = ((position.white_clock_ms if white else position.black_clock_ms) for position in (before, state))
    took_ms, add_ms = state.move.elapsed_ms if state.move else None, in_ms(control_of(game, white)[1])
    if was_ms is None or took_ms is None or add_ms is None:
        return False
    return left_ms == was_ms - took_ms + add_ms


def _first_exact(game: Game) -> bool:
    plies = game.plies
    return bool(plies) and is_exact(plies[0])


def _showing(showing: Showing, after_ms: int, state: int | None) -> dict[str, Any] | int:
    if showing.event is None and state is None and not showing.board:
        return after_ms
    values: dict[str, Any] = {"after": after_ms}
    if showing.board:
        values["board"] = showing.board
    if showing.event is not None:
        values["event"] = 1
    elif state is not None:
        values["state"] = state
    if showing.back:
        values["back"] = 1
    return values


def is_untimed(game: Game) -> bool:
    return game.base_s == 0 and not game.increment_s


def where(state: ReportPosition) -> str:
    """``12. Nf3`` or ``12… Nc6``, of a state that a move led to."""
    assert state.move is not None
    return f"{(state.ply + 1) // 2}{'.' if state.ply % 2 else '…'} {state.move.san}"


def marked(move: Ply | None) -> tuple[str, ...]:
    if move is None or move.uci is None:
        return ()
    return (move.uci[2:4],) if move.uci[1] == "@" else (move.uci[:2], move.uci[2:4])


_HOLDINGS = "The file has no pieces in hand: they follow from the captures and drops of both boards."
_LINKS = {
    LinkKind.PARTNER: "The other board of this match",
    LinkKind.EXAMINED: "Examined, or the game examined",
}


def game_report(
    game: Game,
    *,
    match: Match | None = None,
    evidence: str = "",
    anomalies: Sequence[Sequence[Anomaly]] = (),
    in_progress: Collection[str] = (),
    site: Site | None = None,
    ply: int | None = None,
) -> bytes:
    """A self-contained page that plays a game back, or a ``match``; ``ply`` is the half-move that is shown first."""
    games = [game] if match is None else [match.a, match.b]
    holdings = {} if match is None else match_holdings(match)
    boards = _playback_boards(games, holdings, anomalies)
    playback = play([board.game for board in boards], [board.course for board in boards])
    own = next(number for number, board in enumerate(boards) if board.game.key == game.key)
    gives = _gives(match)
    board_values = (
        _board_values(
            board,
            number,
            playback,
            gives[board.letter],
            bool(holdings.get(board.letter)),
            in_progress,
            first=_at(board, ply if number == own else None),
            assets=site.assets if site else None,
        )
        for number, board in enumerate(boards)
    )
    position = _at(boards[own], ply)
    values = {
        "charts": list(game_panels(boards, playback)),
        "now": "Start position" if position.move is None else where(position),
        "title": _title(boards),
        "explorer": site and game.variant == "chess" and site.position(game.key, position.ply),
        "description": _description(boards, in_progress),
        "drawings": drawings(site.assets if site else None, one_side=not any(board.flipped for board in boards)),
        "boards": [{**value, **_linked(board, site)} for value, board in zip(board_values, boards, strict=True)],
        "evidence": evidence,
        "long": spoken_duration(playback.long_ms),
        "unknown": sum(not one.known for one in playback.showings if one.event is None and one.state.move is not None),
        "missing": _missing(boards),
        "pgn": _pgn_lines(boards, in_progress),
        "pgn_name": "PGN" if match is None else "BPGN",
    }
    return render_page(
        "game.html",
        values,
        styles=("board.css", "chart.css", "game.css"),
        scripts=("spoken.js", "game.js"),
        data={**play_data(boards, playback), "own": own},
        site=site,
    )


def _at(board: PlaybackBoard, ply: int | None) -> ReportPosition:
    return next((state for state in board.course.main if state.ply == ply), board.course.start)


def _linked(board: PlaybackBoard, site: Site | None) -> dict[str, Any]:
    game = board.game
    players = {
        side: {**_player(player), "link": site and site.player(player.handle, game.server)}
        for side, player in (("white", game.white), ("black", game.black))
    }
    links = [
        (_LINKS[link.kind], link.key[:8], link.evidence, site and site.game(link.key))
        for link in game.links
        if site or not (board.letter and link.kind is LinkKind.PARTNER)
    ]
    names = [player.handle for player in (game.white, game.black) if player.handle.strip()]
    between = site.games(player=names[0], opponent=names[1]) if site and len(names) == 2 else None
    sources = dict.fromkeys(observation.source for observation in game.observations if observation.source is not None)
    lines = [(source_name(source), site.lines(game.key, source.sha256)) for source in sources] if site else []
    return {**players, "links": links, "between": between, "lines": [line for line in lines if line[1]]}


def _playback_boards(
    games: Sequence[Game],
    holdings: Mapping[str, Mapping[int, BothHoldings]],
    anomalies: Sequence[Sequence[Anomaly]],
) -> list[PlaybackBoard]:
    anomalies_of = [*anomalies, *[()] * len(games)]
    return [
        # Partners sit side by side: the second board is seen from the other side.
        PlaybackBoard(
            "" if len(games) == 1 else "AB"[number],
            game,
            Course(game, holdings.get("AB"[number])),
            number == 1,
            anomalies_of[number],
            verdicts(game),
        )
        for number, game in enumerate(games)
    ]


def _gives(match: Match | None) -> dict[str, dict[int, str]]:
    """By board and ply: ``queen to Fischer``, what a capture gave to the other board."""
    gives: dict[str, dict[int, str]] = {"": {}, "A": {}, "B": {}}
    for transfer in () if match is None else transfers(match):
        other = match.board("B" if transfer.board == "A" else "A") if match is not None else None
        assert other is not None
        handle = plain_name((other.white if transfer.to_white else other.black).handle)
        letters = transfer.capture.pieces if transfer.passed is None else transfer.passed.piece
        words = " or ".join(PIECES.get(letter, letter) for letter in letters)
        gives[transfer.board][transfer.capture.ply] = f"{words} to {handle}"
    return gives


def _thoughts(game: Game) -> list[dict[str, str]]:
    sans = {ply.ply: ply.san for ply in game.plies}
    return [
        {
            "move": f"{number_text(ply)} {sans.get(ply, '')}",
            "engine": thought.engine or "",
            "score": score_text(thought, signed=True) or "–",
            "depth": "–" if thought.depth is None else str(thought.depth),
            "time": "–" if thought.time_ms is None else took_text(thought.time_ms, exact=True),
            "pv": thought.pv,
        }
        for ply, thoughts in sorted(thoughts_by_ply(game).items())
        for thought in thoughts
    ]


def _title(boards: Sequence[PlaybackBoard]) -> str:
    names = [f"{plain_name(board.game.white.handle)} – {plain_name(board.game.black.handle)}" for board in boards]
    return " and ".join(names)


def _description(boards: Sequence[PlaybackBoard], in_progress: Collection[str]) -> str:
    game = boards[0].game
    words = dict(about(game, game.key in in_progress))
    parts = [
        words.get("Kind", ""),
        words.get("Time control", ""),
        words.get("Opening", ""),
        game.server or "",
        words.get("Begun", ""),
    ]
    return " · ".join(part for part in parts if part)


def _board_values(
    board: PlaybackBoard,
    number: int,
    playback: Playback,
    gives: Mapping[int, str],
    derived_holdings: bool,
    in_progress: Collection[str],
    *,
    first: ReportPosition,
    assets: str | None,
) -> dict[str, Any]:
    game, course = board.game, board.course
    final = course.main[-1] if course.main else course.start
    drawn = any(state.board is not None for state in (course.start, *course.main))
    goes_on = game.key in in_progress
    times, timed = any(ply.elapsed_ms is not None for ply in game.plies), _has_clocks(board)
    rows = MoveRows(game, course, playback, number, gives, board.judged).read()
    return {
        "letter": board.letter,
        "index": number,
        "heading": f"Board {board.letter}" if board.letter else "Game",
        "result": result_text(game.result, "unfinished"),
        "reason": result_words(game, goes_on),
        "flipped": board.flipped,
        "drawn": drawn,
        "first": draw_board(first.board, marked(first.move), white_below=not board.flipped, assets=assets),
        "final": draw_board(final.board, marked(final.move)) if final.board is not None else None,
        "final_text": f"after {where(final)}" if final.move is not None else "at the start",
        "rows": rows,
        "engine_rows": sum(row.kind == "engine" for row in rows),
        "times": times,
        "timed": timed,
        "columns": 1 + 2 * (1 + times + timed),
        "exact": any(map(is_exact, game.plies)),
        "judged": bool(board.judged),
        "losses": _table(_LOSSES, verdict_counts(game, board.judged)),
        "thoughts": _thoughts(game),
        "start_place": next(index for index, showing in enumerate(playback.showings) if showing.board == number),
        "low": spoken_duration(low_limit_ms(game.base_s)),
        "about": about(game, goes_on),
        "clocks": None if is_untimed(game) else _table(_CLOCKS, _clock_columns(game)),
        "clock_words": clock_words(game),
        "proof": [*proof_words(game), *([_HOLDINGS] if derived_holdings else [])],
        "provenance": provenance(game, goes_on),
        "anomalies": list(anomaly_words(board.anomalies)),
        "key": game.key,
    }


def _player(player: Player) -> dict[str, Any]:
    rating = player.rating_text.strip() if player.rating_text and player.rating is not None else ""
    return {"name": plain_name(player.handle), "rating": rating, "marks": player_words(player)}


_CLOCKS = (
    *("Moves timed", "Total", "Mean", "Median", "Longest"),
    *(f"Left at move {number}" for number in (10, 20, 30, 40)),
    "Lag: mean / 95 % / most",
)
_LOSSES = ("Moves judged", "Inaccuracies ?!", "Mistakes ?", "Blunders ??", "Lost a move, in pawns")


def _table(names: Sequence[str], columns: Sequence[Sequence[str]]) -> dict[str, Any] | None:
    """A table with a column for each side: handle, side, and its figures; None without figures."""
    rows = list(zip(names, zip(*(column[2:] for column in columns), strict=True), strict=True)) if columns else []
    filled = [(name, cells) for name, cells in rows if set(cells) != {"–"}]
    return {"heads": [column[:2] for column in columns], "rows": filled} if filled else None


def _clock_columns(game: Game) -> list[tuple[str, ...]]:
    """White's figures and Black's: times and clocks, or clocks alone where there are no times (BPGN)."""
    return [column for white in (True, False) if (column := _clock_column(game, white)) is not None]


def _clock_column(game: Game, white: bool) -> tuple[str, ...] | None:
    """A side's figures; its first move, which servers do not charge, is not timed."""
    own = [ply for ply in game.plies if ply.white_moved is white]
    timed = [(ply.elapsed_ms, ply) for ply in own if ply.elapsed_ms is not None and ply.ply > 2]
    clocks = {(ply.ply + 1) // 2: ply.white_clock_ms if white else ply.black_clock_ms for ply in own}
    if not timed and all(ms is None for ms in clocks.values()):
        return None
    exact = all(is_exact(ply) for _, ply in timed) if timed else all(map(is_exact, own))
    handle = plain_name((game.white if white else game.black).handle)
    left = [clock_text(clocks.get(number), exact) for number in (10, 20, 30, 40)]
    lags = sorted(ply.lag_ms for ply in own if ply.lag_ms is not None)
    at_95 = lags[(95 * len(lags) + 99) // 100 - 1] if lags else None
    lag = f"{_mean(lags)} / {at_95} / {lags[-1]} ms" if lags else "–"
    head = (handle, "White" if white else "Black", str(len(timed)))
    if not timed:
        return (*head, *("–",) * 4, *left, lag)
    times = sorted(ms for ms, _ in timed)
    longest_ms, longest = max(timed, key=lambda pair: pair[0])
    middle = (_mean(times), _mean(times[(len(times) - 1) // 2 : len(times) // 2 + 1]))
    figures = (sum(times), *(ms if exact else (ms + 500) // 1000 * 1000 for ms in middle))
    move = f"{(longest.ply + 1) // 2}{'.' if white else '…'} {longest.san}"
    return (*head, *(clock_text(ms, exact) for ms in figures), f"{clock_text(longest_ms, exact)} ({move})", *left, lag)


def _mean(values: Sequence[int]) -> int:
    """The mean of at least one value, rounded half up."""
    return (2 * sum(values) + len(values)) // (2 * len(values))


def _missing(boards: Sequence[PlaybackBoard]) -> str:
    plies = [ply for board in boards for ply in board.game.plies]
    known = {
        "clocks": any(map(_has_clocks, boards)),
        "times of moves": any(ply.elapsed_ms is not None for ply in plies),
        "lag": any(ply.lag_ms is not None for ply in plies),
        "evaluations": any(board.judged for board in boards),
    }
    unknown = ", ".join(name for name, is_known in known.items() if not is_known)
    clean = not any(board.anomalies for board in boards)
    sentences = (
        f"No data: {unknown}." if unknown else "",
        "No anomalies: every line about this game was read, and all agree." if clean else "",
    )
    return " ".join(filter(None, sentences))


def _has_clocks(board: PlaybackBoard) -> bool:
    moves = [state.move for state in board.course.main if state.move is not None]
    anomalies_of = any(move.white_clock_ms is not None or move.black_clock_ms is not None for move in moves)
    return anomalies_of and not is_untimed(board.game)


def _pgn_lines(boards: Sequence[PlaybackBoard], in_progress: Collection[str]) -> list[Markup]:
    out = io.BytesIO()
    games = [board.game for board in boards]
    if len(games) > 1:
        BpgnExporter().write(games, out)
    else:
        options = PgnOptions(variations=True, comments=True, engine=True)
        PgnExporter(options, in_progress).write(games, out)
    lines = out.getvalue().decode("utf-8", "replace").removesuffix("\n").split("\n")
    return [trusted(escape(visible(line), quote=False)) for line in lines]
