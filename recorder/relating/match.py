"""One timeline of a bughouse match: moves by arrival, transfers of pieces, and clocks.

Board A is the one whose game is first in the log, else the one with the lower number. White of A and Black of B are
one team; what White takes on A comes into Black's hand on B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from recorder.model import (
    EXACT,
    Game,
    HoldingsChange,
    Observation,
    Origin,
    Ply,
    control_of,
    name_plies,
    taken_rows,
)
from recorder.rules.boards import captured_piece
from recorder.rules.fen import position_from_fen, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.prove import play_san
from recorder.rules.variants import STANDARD_BOARD

_START = start_position(STANDARD_BOARD, True, 15, -1, Rules.BUGHOUSE)


@dataclass(frozen=True, slots=True)
class ArrivalPlace:
    """``offset`` None: its place in the log is not that of its arrival (a movelist's plies). ``at_ms`` is UTC."""

    source: str
    offset: int | None
    at_ms: int | None

    def before(self, other: ArrivalPlace) -> bool | None:
        if self.offset is not None and other.offset is not None and self.source == other.source:
            return None if self.offset == other.offset else self.offset < other.offset
        if self.at_ms is not None and other.at_ms is not None and self.at_ms != other.at_ms:
            return self.at_ms < other.at_ms
        return None


class CapturedPiece(NamedTuple):
    """A piece that was taken. ``pieces`` are the letters it may arrive as: a promoted one arrives as a pawn."""

    ply: int
    white: bool
    pieces: str
    place: ArrivalPlace


class PassedPiece(NamedTuple):
    white: bool
    piece: str
    change: HoldingsChange
    place: ArrivalPlace


def place_of(game: Game, observation: Observation, offset: int | None, at_ms: int | None) -> ArrivalPlace:
    """The arrival counts only if the source's times are UTC."""
    utc = game.time_basis.value == "utc"
    return ArrivalPlace("" if observation.source is None else observation.source.sha256, offset, at_ms if utc else None)


def placed_plies(game: Game) -> Iterator[tuple[Ply, ArrivalPlace]]:
    for segment in game.segments:
        observation = game.observations[segment.observation]
        for ply in name_plies(taken_rows(segment, game.observations)):
            arrived = ply.origin_code not in (Origin.MOVELIST, Origin.INFERRED)
            yield ply, place_of(game, observation, ply.offset if arrived else None, ply.at_ms if arrived else None)


def captures(game: Game) -> list[CapturedPiece]:
    captured: list[CapturedPiece] = []
    anchors = {anchor.ply: anchor.fen for anchor in game.anchors()}
    position: Position | None = _START if game.start_ply == 0 and game.start_fen is None else None
    doubtful = position is None  # pieces promoted before are not known as such
    last = game.start_ply
    for ply, place in placed_plies(game):
        if ply.ply != last + 1:
            position, doubtful = None, True
        if position is None and ply.ply - 1 in anchors:
            position = _read(anchors[ply.ply - 1])
        last = ply.ply
        if position is None:
            continue
        step = play_san(position, ply.san) if ply.move is not None else "not known"
        if isinstance(step, str) or step[0] != ply.move:
            position, doubtful = None, True
            continue
        piece = captured_piece(position, step[2])
        if piece is not None:
            pieces = f"{piece}P" if doubtful and piece != "P" else piece
            captured.append(CapturedPiece(ply.ply, ply.white_moved, pieces, place))
        position = step[2]
    return captured


def passes(game: Game) -> list[PassedPiece]:
    return [
        PassedPiece(
            change.passed[0] == "W", change.passed[1], change, place_of(game, observation, change.offset, change.at_ms)
        )
        for observation in game.observations
        for change in observation.holdings
        if change.passed is not None
    ]


def _read(fen: str) -> Position | None:
    try:
        return position_from_fen(fen, Rules.BUGHOUSE)._replace(holdings=None)
    except ValueError:
        return None


_TOLERANCE_MS = 2_000
"""How far the time used on two boards may be apart, besides what lag, rounding and the least charge explain."""
_ROUNDING_MS = 2_000  # each of two clocks that print whole seconds
_UNKNOWN_LAG_MS = 250  # a move, where none is printed
_LEAST_CHARGE_MS = 100  # a move made beforehand costs so much, and no time passes (FICS, FatICS)


class MatchMoment(NamedTuple):
    """A move of a match. ``certain``: its place among the other board's moves is known."""

    board: str
    ply: Ply
    place: ArrivalPlace
    certain: bool


class Transfer(NamedTuple):
    """A capture, and the piece on the other board that it gave. ``passed`` None: no line shows its arrival."""

    board: str
    capture: CapturedPiece
    to_white: bool
    passed: PassedPiece | None


class MatchFinding(NamedTuple):
    """What contradicts that two games were one match, or that their clocks were read rightly."""

    board: str
    ply: int
    text: str


@dataclass(frozen=True, slots=True)
class Match:
    a: Game
    b: Game

    def board(self, letter: str) -> Game:
        return self.a if letter == "A" else self.b


def board_order(game: Game, other: Game) -> Match:
    """Which is board A does not depend on the order of the arguments."""
    sources = [either.observations[0].source if either.observations else None for either in (game, other)]

    def rank(either: Game) -> tuple[int, int, int, str]:
        shared = either.first_offset if sources[0] == sources[1] else 0
        number = -1 if either.game_no is None else either.game_no
        # The games of one log may begin in either order, as they were observed: numbers are better evidence.
        return number, shared, either.started_at_ms or 0, either.key

    first, second = sorted((game, other), key=rank)
    return Match(first, second)


def timeline(match: Match) -> list[MatchMoment]:
    """Offsets decide, else UTC times, else the number of the move, which then is not ``certain``."""
    first, second = list(placed_plies(match.a)), list(placed_plies(match.b))
    bounds = [_next_known(moves) for moves in (first, second)]
    moments: list[MatchMoment] = []
    of_a, of_b = 0, 0
    while of_a < len(first) or of_b < len(second):
        if of_a == len(first) or of_b == len(second):
            earlier = of_b == len(second)
            certain = bounds[0][of_a][1] if earlier else bounds[1][of_b][1]
        else:
            before = _earlier(bounds[0][of_a], bounds[1][of_b])
            earlier = first[of_a][0].ply <= second[of_b][0].ply if before is None else before
            certain = before is not None
        if earlier:
            ply, place = first[of_a]
            of_a += 1
        else:
            ply, place = second[of_b]
            of_b += 1
        moments.append(MatchMoment("A" if earlier else "B", ply, place, certain))
    return moments


def _next_known(moves: list[tuple[Ply, ArrivalPlace]]) -> list[tuple[ArrivalPlace | None, bool]]:
    """The place of the move itself or of the next one that has any (None: none has), and whether it is its own."""
    bounds: list[tuple[ArrivalPlace | None, bool]] = []
    following: ArrivalPlace | None = None
    for _, place in reversed(moves):
        own = place.offset is not None or place.at_ms is not None
        if own:
            following = place
        bounds.append((following, own))
    return bounds[::-1]


def _earlier(bound: tuple[ArrivalPlace | None, bool], other: tuple[ArrivalPlace | None, bool]) -> bool | None:
    """Each move arrived before those that follow it; None: the places do not show it."""
    if bound[0] is None or other[0] is None:
        return None
    first = bound[0].before(other[0])
    if first is None:
        return None
    # Of a move without a place only the latest is known: it may be earlier than the lines before it.
    return first if (other[1] if first else bound[1]) else None


def transfers(match: Match) -> list[Transfer]:
    return [
        *transfers_of("A", captures(match.a), passes(match.b), match.a),
        *transfers_of("B", captures(match.b), passes(match.a), match.b),
    ]


def transfers_of(board: str, taken: list[CapturedPiece], arrived: list[PassedPiece], game: Game) -> list[Transfer]:
    """Each piece arrives between the board's move before and the one after the capture."""
    places = {ply.ply: place for ply, place in placed_plies(game)}
    free = list(arrived)
    handed: list[Transfer] = []
    for capture in taken:
        before, after = places.get(capture.ply - 1), places.get(capture.ply + 1)
        passed = next(
            (
                arrival
                for arrival in free
                if arrival.white != capture.white
                and arrival.piece in capture.pieces
                and (before is None or arrival.place.before(before) is False)
                and (after is None or after.before(arrival.place) is False)
                and (before is not None or after is not None)
            ),
            None,
        )
        if passed is not None:
            free.remove(passed)
        handed.append(Transfer(board, capture, not capture.white, passed))
    return handed


class _Clocks:
    """The time that White and Black of one board have used, as of the last move with a clock."""

    def __init__(self, game: Game) -> None:
        self._game = game
        self._controls = control_of(game, True), control_of(game, False)
        self._white_ms: int | None = 0 if game.start_ply == 0 else None
        self._black_ms = self._white_ms
        self.explained_ms = 0
        self.last: MatchMoment | None = None

    def take(self, moment: MatchMoment) -> int | None:
        ply = moment.ply
        lag = _UNKNOWN_LAG_MS if ply.lag_ms is None else max(ply.lag_ms, 0)
        self.explained_ms += lag + _LEAST_CHARGE_MS
        (white_base_s, white_increment_s), (black_base_s, black_increment_s) = self._controls
        if white_base_s is None or white_increment_s is None or black_base_s is None or black_increment_s is None:
            return None
        # Each side has received the increments of its own moves.
        if ply.white_clock_ms is not None:
            self._white_ms = 1000 * (white_base_s + white_increment_s * ((ply.ply + 1) // 2)) - ply.white_clock_ms
        if ply.black_clock_ms is not None:
            self._black_ms = 1000 * (black_base_s + black_increment_s * (ply.ply // 2)) - ply.black_clock_ms
        if ply.clock_ms is None:
            return None
        self.last = moment
        return self.used_ms

    @property
    def white_left_ms(self) -> int:
        assert self._white_ms is not None
        moves = 0 if self.last is None else (self.last.ply.ply + 1) // 2
        return 1000 * ((self._game.base_s or 0) + (self._game.increment_s or 0) * moves) - self._white_ms

    @property
    def used_ms(self) -> int | None:
        return None if self._white_ms is None or self._black_ms is None else self._white_ms + self._black_ms


def check_clocks(match: Match) -> list[MatchFinding]:
    """Where the boards' clocks contradict each other.

    Both boards' clocks start together, and on each of them always one runs: the time used on both is the same at any
    moment. So the difference of White A and White B, who sit across, is that of Black B and Black A. When a move is
    made, its board has used all the time until then; the other board cannot have used more at its own last move.

    Between them may be two seconds besides the lag (that printed, else a quarter of a second a move), a tenth of a
    second a move that is charged for none, and two seconds where whole seconds are printed. Each stretch of moves that
    disagree is one finding; there are none if clocks, bases or the order are unknown.
    """
    clocks = {"A": _Clocks(match.a), "B": _Clocks(match.b)}
    findings: list[MatchFinding] = []
    wrong = False
    for moment in timeline(match):
        own, other = clocks[moment.board], clocks["B" if moment.board == "A" else "A"]
        used_ms, earlier = own.take(moment), other.last
        if used_ms is None or earlier is None or other.used_ms is None or not (moment.certain and earlier.certain):
            continue
        coarse = any(
            each.ply.precision_code is not None and each.ply.precision_code not in EXACT for each in (moment, earlier)
        )
        allowed_ms = _TOLERANCE_MS + own.explained_ms + other.explained_ms + coarse * _ROUNDING_MS
        ahead_ms = other.used_ms - used_ms
        if ahead_ms > allowed_ms and not wrong:
            text = (
                f"the clocks of board {earlier.board} had run {ahead_ms} ms longer than those of board {moment.board}; "
                f"lag and rounding explain {allowed_ms} ms"
            )
            findings.append(MatchFinding(moment.board, moment.ply.ply, text))
        wrong = ahead_ms > allowed_ms
    return findings


def leads(match: Match) -> list[int | None]:
    """``None``: clocks or order are not known. The clock that runs on the other board is counted up to the moment."""
    clocks = {"A": _Clocks(match.a), "B": _Clocks(match.b)}
    leads_ms: list[int | None] = []
    for moment in timeline(match):
        own, other = clocks[moment.board], clocks["B" if moment.board == "A" else "A"]
        used_ms, earlier = own.take(moment), other.last
        lead = None
        if used_ms is not None and earlier is not None and other.used_ms is not None and moment.certain:
            white = {moment.board: own.white_left_ms, earlier.board: other.white_left_ms}
            if not earlier.ply.white_moved:  # White's clock has run there since
                white[earlier.board] -= max(used_ms - other.used_ms, 0)
            lead = white["A"] - white["B"]
        leads_ms.append(lead)
    return leads_ms
