"""The pictures of a game and of a player: which ones its data allow, and what each of them shows."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from operator import itemgetter
from statistics import median
from typing import TYPE_CHECKING, Any

from exporters.report.events import mark_of
from exporters.report.moves import PlaybackBoard
from exporters.report.page import clock_text, is_exact, number_text, plain_name, tenths_text, trusted
from exporters.report.svg import Bar, Panel, Plot, Tick, clock_ticks, number_ticks, scaled_bars
from exporters.report.tables import control_words, known, percent_text, text_of, what_counts
from recorder.model import control_of
from recorder.text import plural
from recorder.times import short_hms

if TYPE_CHECKING:
    from exporters.measures.program import Measured
    from exporters.report.playback import Playback
    from exporters.report.player_measures import PlayerGame, PlayerTables

_NOT_MARKED = ("resumed", "not observed", "kibitz")


def game_panels(boards: Sequence[PlaybackBoard], playback: Playback) -> Iterator[Panel]:
    if len(boards) == 1:
        yield from _clock_race(boards[0])
    else:
        yield from _all_clocks(boards, playback)
    for number, board in enumerate(boards):
        letter = f", board {board.letter}" if board.letter else ""
        moves = [state.move for state in board.course.main if state.move is not None]
        if not moves:
            continue
        if board.judged:
            yield _evaluation(board, number, letter)
        if any(move.elapsed_ms and move.elapsed_ms > 0 for move in moves):
            yield _times(board, number, letter)
        if any(move.lag_ms and move.lag_ms > 0 for move in moves):
            yield _lag(board, number, letter)


def _plies(board: PlaybackBoard) -> tuple[float, float]:
    """The axis of a game's pictures, in half-moves: the whole moves from the first to the last."""
    main = board.course.main
    return 2 * ((main[0].ply + 1) // 2) - 2, 2 * ((main[-1].ply + 1) // 2) + 1


def _move_ticks(board: PlaybackBoard) -> list[Tick]:
    """The moves at which tables state clocks: 10, 20, 30, 40 …; of a short game every one, of a long one fewer."""
    first, last = ((board.course.main[index].ply + 1) // 2 for index in (0, -1))
    step = next(step for step in (10, 20, 50, 100, 1000) if last - first < 12 * step)
    moves = range(first, last + 1) if last < 10 else range(-(-first // step) * step, last + 1, step)
    return [(2 * move - 1, str(move)) for move in moves]


def _names(board: PlaybackBoard) -> list[tuple[bool, str, str]]:
    game = board.game
    return [
        (True, "white", f"{plain_name(game.white.handle)} (White)"),
        (False, "black", f"{plain_name(game.black.handle)} (Black)"),
    ]


def _clocks(board: PlaybackBoard, white: bool) -> list[tuple[int, float | None]]:
    """The clock of a side in seconds after each of its moves, if one is known; None where it or the move is not."""
    clocks: list[tuple[int, float | None]] = []
    for state in board.course.main:
        if state.move is None or (state.ply % 2 == 1) is not white:
            continue
        clock_ms = state.white_clock_ms if white else state.black_clock_ms
        if clocks and state.ply > clocks[-1][0] + 2:
            clocks.append((state.ply - 1, None))
        clocks.append((state.ply, None if clock_ms is None else clock_ms / 1000))
    if all(clock is None for _, clock in clocks):
        return []
    base_s, _ = control_of(board.game, white)
    if base_s and clocks[0][0] <= 2:
        clocks.insert(0, (0, float(base_s)))
    return clocks


def _clock_race(board: PlaybackBoard) -> Iterator[Panel]:
    lines = [(kind, name, _clocks(board, white)) for white, kind, name in _names(board)]
    values = [value for _, _, points in lines for _, value in points if value is not None]
    if not values or (board.game.base_s == 0 and not board.game.increment_s):
        return
    low, high = min([0.0, *values]), max(values)
    plot = Plot(_plies(board), (low, high))
    plot.axes(_move_ticks(board), clock_ticks(low, high), "clock left (min:s)")
    key = []
    for white in (True, False):
        base_s, _ = control_of(board.game, white)
        if base_s and (white or base_s != control_of(board.game, True)[0]):
            plot.line("even", [(0, float(base_s)), (board.course.main[-1].ply + 1, 0.0)])
            key = [("even", "even budget")]
    for kind, _, points in lines:
        plot.line(kind, points)
    for ply, words in dict.fromkeys(_marked_events(board)):
        plot.mark("marked", ply + 0.5, words)
        key = [*key, ("marked", words)] if ("marked", words) not in key else key
    key = [*((kind, name) for kind, name, points in lines if points), *key]
    yield Panel("Clock race", plot.svg("Clock race", "ply"), key, board=0)


def _marked_events(board: PlaybackBoard) -> Iterator[tuple[int, str]]:
    for event in board.game.events:
        words = mark_of(event.kind.value, event.detail or "")
        if words is not None and words not in _NOT_MARKED:
            yield event.ply, words


def _all_clocks(boards: Sequence[PlaybackBoard], shown: Playback) -> Iterator[Panel]:
    """The four clocks of a match by the time of the playback: partners have one colour, board B is dashed."""
    at_s = {id(one.state): one.at_ms / 1000 for one in reversed(shown.showings) if one.event is None and not one.back}
    lines = []
    for board in boards:
        times = {state.ply: at_s[id(state)] for state in board.course.main if id(state) in at_s}
        for white, kind, name in _names(board):
            points = [
                (0.0 if ply == 0 else times[ply], value)
                for ply, value in _clocks(board, white)
                if ply == 0 or ply in times
            ]
            partner = kind if board.letter == "A" else {"white": "black", "black": "white"}[kind]
            lines.append(
                (f"{partner}{'' if board.letter == 'A' else ' dashed'}", f"{name}, board {board.letter}", points)
            )
    values = [value for _, _, points in lines for _, value in points if value is not None]
    if not values or not shown.end_ms:
        return
    low, high, end_s = min([0.0, *values]), max(values), shown.end_ms / 1000
    plot = Plot((0, end_s), (low, high), 260)
    plot.axes(clock_ticks(0, end_s), clock_ticks(low, high), "clock left (min:s) by time in the match (min:s)")
    for kind, _, points in lines:
        plot.line(kind, points)
    yield Panel(
        "All four clocks", plot.svg("All four clocks", "time"), [(kind, name) for kind, name, points in lines if points]
    )


def _evaluation(board: PlaybackBoard, number: int, letter: str) -> Panel:
    plot = Plot(_plies(board), (0, 1000))
    ticks = [(0.0, "0 %"), (250.0, "25 %"), (500.0, "50 %"), (750.0, "75 %"), (1000.0, "100 %")]
    plot.axes(_move_ticks(board), ticks, "White's chances of winning")
    judged = sorted(board.judged.items())
    plot.band("chances", [(ply, 500, verdict.chances) for ply, verdict in judged])
    plot.line("chances", [(ply, verdict.chances) for ply, verdict in judged])
    for ply, verdict in judged:
        if verdict.word in ("mistake", "blunder"):
            plot.dot(verdict.word, ply, verdict.chances, f"{number_text(ply)} {verdict.word}, {verdict.evaluation}")
    key = [("blunder", "blunder"), ("mistake", "mistake")]
    return Panel(f"Evaluation{letter}", plot.svg(f"Evaluation{letter}", "ply"), key, board=number)


def _times(board: PlaybackBoard, number: int, letter: str) -> Panel:
    """White's times as bars upwards, Black's downwards."""
    moves = [state.move for state in board.course.main if state.move is not None]
    high = max(move.elapsed_ms or 0 for move in moves) / 1000
    plot = Plot(_plies(board), (-high, high))
    ticks = clock_ticks(0, high, 3)
    up = [(-value, words) for value, words in ticks[:0:-1]] + ticks
    plot.axes(_move_ticks(board), up, "time for the move (min:s)")
    key = []
    for white, kind, name in _names(board):
        timed = [move for move in moves if move.white_moved is white and move.elapsed_ms is not None]
        own = [(move.ply, move.elapsed_ms or 0, is_exact(move)) for move in timed]
        if not own:
            continue
        sign = 1 if white else -1
        plot.bars(kind, [(ply, sign * ms / 1000) for ply, ms, _ in own if ms > 0])
        charged = [ms for ply, ms, _ in own if ply > 2]
        middle = f", median {_tenths(median(charged), all(exact for *_, exact in own))} from move 2" if charged else ""
        key.append((kind, f"{name}: {clock_text(sum(ms for _, ms, _ in own) // 1000 * 1000, False)} in all{middle}"))
    return Panel(f"Time for each move{letter}", plot.svg(f"Time for each move{letter}", "ply"), key, board=number)


def _tenths(ms: float, exact: bool) -> str:
    seconds = int(ms / 1000 + 0.5)
    return tenths_text(int(ms), True) if exact else clock_text(seconds * 1000, False)


def _lag(board: PlaybackBoard, number: int, letter: str) -> Panel:
    moves = [state.move for state in board.course.main if state.move is not None]
    high = max(move.lag_ms or 0 for move in moves)
    plot = Plot(_plies(board), (0, high))
    plot.axes(_move_ticks(board), number_ticks(0, high), "lag (ms)")
    for white, kind, _ in _names(board):
        plot.line(kind, [(move.ply, move.lag_ms) for move in moves if move.white_moved is white])
    key = [(kind, name) for _, kind, name in _names(board)]
    return Panel(f"Lag{letter}", plot.svg(f"Lag{letter}", "ply"), key, board=number)


# -- of a player ------------------------------------------------------------------------------------------------------

_KINDS = ("white", "black", "third", "fourth")
"""Lines that readers can distinguish: ``chart.css`` has a colour and a dash pattern for each."""
_MOST_POINTS = 400
_LEFT_S = (10, 30, 60, 120, 300)
_MOST_OPENINGS = 6
_FEWEST_SIDES = 3


def rating_panels(own: Sequence[Mapping[str, Any]], scales: dict[str, float] | None = None) -> Iterator[Panel]:
    """The ratings that the logs state for a player, of the games with a date: others have no place in the order."""
    kinds: dict[str, list[tuple[int, int]]] = {}
    rated = [row for row in own if known(row["player_rating"])]
    for index, row in enumerate(row for row in rated if known(row["day"])):
        kind = text_of(row["category"]) or text_of(row["variant"]) or "unknown kind"
        kinds.setdefault(kind, []).append((index, int(row["player_rating"])))
    ordered = sorted(kinds.items(), key=lambda item: (-len(item[1]), item[0]))
    lines = [line for line in ordered[: len(_KINDS)] if len(line[1]) > 1]
    if not lines:
        return
    values = [rating for _, points in lines for _, rating in points]
    if min(values) == max(values):
        return  # a flat line shows no more than the number beside it
    places = [place for _, points in lines for place, _ in points]
    most = {} if scales is None else scales
    low, high = -_highest(most, "rating below", -min(values)), _highest(most, "rating", max(values))
    plot = Plot((min(places), max(places)), (low, high))
    plot.axes([(min(places), "first game"), (max(places), "last game")], number_ticks(low, high), "rating")
    drawn = [_thinned(points, _MOST_POINTS * len(points) // len(values)) for _, points in lines]
    for kind, points in zip(_KINDS, drawn, strict=False):
        plot.line(kind, points)
    left, undated = len(ordered) - len(lines), sum(not known(row["day"]) for row in rated)
    points_drawn = sum(map(len, drawn))
    notes = (
        f"{plural(left, 'kind')} of games with fewer ratings not shown." if left else "",
        f"{plural(undated, 'game')} without a date not shown." if undated else "",
        f"{points_drawn:,} of {len(values):,} ratings are drawn: the first, last, lowest and highest of each stretch."
        if points_drawn < len(values)
        else "",
    )
    key = [
        (kind, _rating_words(name, [rating for _, rating in points]))
        for kind, (name, points) in zip(_KINDS, lines, strict=False)
    ]
    yield Panel("Ratings", plot.svg("Ratings"), key, " ".join(filter(None, notes)))


def _thinned(points: Sequence[tuple[int, int]], most: int) -> Sequence[tuple[int, int]]:
    """The first, last, lowest and highest point of each stretch of a line, if it has more points than ``most``."""
    if len(points) <= most:
        return points
    size = -(-len(points) // max(most // 4, 1))
    kept: list[tuple[int, int]] = []
    for begin in range(0, len(points), size):
        stretch = points[begin : begin + size]
        low, high = (end(stretch, key=itemgetter(1)) for end in (min, max))
        kept += sorted({stretch[0], low, high, stretch[-1]})
    return kept


def _rating_words(kind: str, ratings: Sequence[int]) -> str:
    """``blitz: 1483 to 1620, 1601 in the last of 12 games``."""
    low, high = min(ratings), max(ratings)
    spread = f"{low} to {high}" if low < high else f"{low}"
    return f"{kind}: {spread}, {ratings[-1]} in the last of {plural(len(ratings), 'game')}"


def player_panels(
    measured: PlayerTables, own: Sequence[Mapping[str, Any]], scales: dict[str, float] | None = None
) -> Iterator[Panel]:
    """A player's pictures; ``scales`` has the highest value of each, and gets those of this player."""
    most = {} if scales is None else scales
    yield from rating_panels(own, most)
    yield from _curve(measured, most)
    yield from _by_phase(measured.tables["phases"], most)
    yield from _lost(measured.games, own, most)
    yield from _openings(measured.games, own, most)


def _highest(scales: dict[str, float], name: str, value: float) -> float:
    scales[name] = max(value, scales.get(name, value))
    return scales[name]


def _curve(measured: PlayerTables, scales: dict[str, float]) -> Iterator[Panel]:
    rows = measured.tables["curve"].records()
    most = max(rows, key=lambda row: (row["sides"], str(row["time_control"])), default=None)
    if most is None:
        return
    control, fewest = most["time_control"], min(max(_FEWEST_SIDES, most["sides"] // 20), most["sides"])

    def of(name: str) -> list[dict[str, Any]]:
        found_rows = [
            row for row in measured.tables[name].records() if row["time_control"] == control and row["sides"] >= fewest
        ]
        return sorted(found_rows, key=lambda row: int(row["move_no"]))

    mine, theirs = of("curve"), of("opponents' curve")
    base = str(control).partition("+")[0]
    high = max([float(base) if base.isdigit() else 0.0, *(row["q75_ms"] / 1000 for row in mine)])
    low = min([0.0, *(row["q25_ms"] / 1000 for row in mine)])
    last = int(_highest(scales, "moves", int(mine[-1]["move_no"])))
    high = _highest(scales, "clock", high)
    plot = Plot((1, max(last, 2)), (low, high))
    plot.axes(number_ticks(1, last), clock_ticks(low, high), "clock left (min:s) by move")
    plot.band("white", [(row["move_no"], row["q25_ms"] / 1000, row["q75_ms"] / 1000) for row in mine])
    plot.line("black dashed", [(row["move_no"], row["median_ms"] / 1000) for row in theirs])
    plot.line("white", [(row["move_no"], row["median_ms"] / 1000) for row in mine])
    key = [("white", "median and quartiles"), ("black dashed", "opponents: median")]
    games = max(int(row["sides"]) for row in mine)
    note = f"{control_words(control)}: {plural(games, 'game')}; moves that {fewest} or more of them reached."
    yield Panel("Clock left by move", plot.svg(f"Clock left by move. {note}"), key, note)


def _of_bars(heading: str, bars: Sequence[Bar], note: str, scales: dict[str, float]) -> Panel:
    most = _highest(scales, heading, max(value or 0 for bar in bars for value, _ in bar.values))
    return Panel(heading, trusted(""), note=note, bars=scaled_bars(bars, most))


def _by_phase(phases: Measured, scales: dict[str, float]) -> Iterator[Panel]:
    rows = [row for row in phases.records() if known(row["phase"])]
    whole_ms = sum(int(row["total_ms"]) for row in phases.records())
    bars = []
    for row in rows if whole_ms else ():
        share = percent_text(int(row["total_ms"]) / whole_ms)
        bars.append(
            Bar(str(row["phase"]), [(float(row["mean_ms"]), f"{_seconds(row['mean_ms'])}, {share} of the time")])
        )
    if bars:
        yield _of_bars("Mean think time by phase", bars, what_counts(phases.attrs), scales)


def _seconds(ms: float) -> str:
    return f"{ms / 1000:.1f} s"


def _lost(games: Sequence[PlayerGame], own: Sequence[Mapping[str, Any]], scales: dict[str, float]) -> Iterator[Panel]:
    lost = {row["key"] for row in own if known(row["score"]) and float(row["score"]) == 0}
    clocks = [game.last_ms for game in games if game.key in lost and game.last_ms is not None]
    if not clocks:
        return
    edges = [0, *(1000 * second for second in _LEFT_S)]
    ends = [short_hms(edge // 1000) for edge in edges]
    names = ["below 0:00", *(f"{low} to {high}" for low, high in pairwise(ends)), f"{ends[-1]} and more"]
    counts = Counter(bisect_right(edges, ms) for ms in clocks)
    bars = []
    for index in range(min(counts), max(counts) + 1):
        words = f"{plural(counts[index], 'game')}, {percent_text(counts[index] / len(clocks))}"
        bars.append(Bar(names[index], [(counts[index], words)]))
    note = f"The player's clock after the last move of {plural(len(clocks), 'lost game')}, in minutes and seconds."
    yield _of_bars("Time left in lost games", bars, note, scales)


def _openings(
    games: Sequence[PlayerGame], own: Sequence[Mapping[str, Any]], scales: dict[str, float]
) -> Iterator[Panel]:
    names = {
        row["key"]: f"{str(row['opening']).partition(': ')[0]} ({'White' if row['side'] == 'white' else 'Black'})"
        for row in own
        if known(row["eco"])
    }
    times_ms: dict[str, list[int]] = {}
    for entry in games:
        if entry.key in names and entry.opening_ms is not None:
            times_ms.setdefault(names[entry.key], []).append(entry.opening_ms)
    most = sorted(times_ms.items(), key=lambda item: (-len(item[1]), item[0]))[:_MOST_OPENINGS]
    if not most:
        return
    means = sorted(((sum(times) / len(times), name, len(times)) for name, times in most), reverse=True)
    bars = [Bar(name, [(mean_ms, f"{_seconds(mean_ms)}, {plural(number, 'game')}")]) for mean_ms, name, number in means]
    note = f"The mean time for all moves of the opening, of the {plural(len(means), 'opening')} of most games."
    yield _of_bars("Openings by time", bars, note, scales)
