"""The two boards of a BPGN match: their moves played in the order of the file, and the games that they make."""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from bisect import bisect_left
from dataclasses import dataclass, field
from itertools import accumulate

from recorder.dialects.results import EndReason, read_reason
from recorder.events import RatingText
from recorder.model import (
    Anomaly,
    AnomalyKind,
    EventKind,
    Game,
    GameEvent,
    GameKind,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Player,
    Ply,
    PlyLine,
    PlyRow,
    Precision,
    Proof,
    Segment,
    StartPrecision,
    TimeBasis,
    name_plies,
)
from recorder.rules.boards import captured_piece
from recorder.rules.prove import Position, Rules, play_san, start_position, with_holdings
from recorder.rules.variants import STANDARD_BOARD
from recorder.saved.base import derive_elapsed
from recorder.tracking.assemble import end_word

__all__ = ["BpgnBoard", "BpgnFacts", "make_games"]

_START = start_position(STANDARD_BOARD, True, 15, -1, Rules.BUGHOUSE, ("", ""))
_RATED = re.compile(r"\S+ (rated|unrated) (\S+) (?:match|game)", re.IGNORECASE)
_FLIPPED = {"1-0": "0-1", "0-1": "1-0"}


@dataclass(slots=True)
class _Move:
    ply: int
    san: str
    offset: int
    clock_ms: int | None = None
    exact: bool = False
    lag_ms: int | None = None


@dataclass(slots=True)
class BpgnBoard:
    """One board of a match while it is read. ``ratings`` are White's and Black's; ``offset`` that of its first tag."""

    letter: str
    white: str
    black: str
    offset: int = 0
    ratings: tuple[RatingText | None, RatingText | None] = (None, None)
    moves: list[_Move] = field(default_factory=list)
    wants_clock: bool = False

    def add(self, ply: int, san: str, offset: int) -> None:
        """The board's next move.

        Args:
            ply: number of the half-move on this board, from 1.
            san: the move as written.
            offset: of its text in the file.
        """
        self.moves.append(_Move(ply, san, offset))
        self.wants_clock = True

    def clock(self, clock_ms: int, exact: bool) -> None:
        """The mover's clock after the last move; ``exact``: thousandths were printed."""
        self.moves[-1].clock_ms, self.moves[-1].exact = clock_ms, exact
        self.wants_clock = False

    def lag(self, lag_ms: int | None) -> None:
        """The lag of the last move."""
        self.moves[-1].lag_ms = lag_ms


@dataclass(slots=True)
class BpgnFacts:
    """The facts of a match that hold for both boards.

    ``result`` is board A's. ``kept`` are tags without a field: offset, name and value.
    ``comments``: offset, ``comment`` (``{C:…}``) or ``annotation``, text, and the board that had moved last.
    """

    server: str | None
    begin: int
    end: int
    event: str = ""
    base_s: int | None = None
    increment_s: int | None = None
    lags: list[int | None] = field(default_factory=list)
    result: str = "*"
    reason: str | None = None
    reason_at: int = 0
    day: datetime.date | None = None
    started_at_ms: int | None = None
    kept: list[tuple[int, str, str]] = field(default_factory=list)
    comments: list[tuple[int, str, str, BpgnBoard | None]] = field(default_factory=list)


def make_games(a: BpgnBoard, b: BpgnBoard, facts: BpgnFacts) -> tuple[list[Game], list[Anomaly]]:
    """Make the games of a match.

    Args:
        a: moves of board A.
        b: moves of board B.
        facts: what the tags say of the match.

    Returns:
        Board A's game and board B's; what is wrong with their moves.
    """
    plies, found = _play(a, b)
    reasons = _reasons(a, b, facts)
    games = [_game(board, plies[board.letter], facts, reasons[board.letter]) for board in (a, b)]
    seen = games[0].observations[0]
    for place, name, value in facts.kept:
        seen.events.append(_event(seen, EventKind.TAG, name, 0, value, place))
    reached = {board.letter: list(accumulate((move.ply for move in board.moves), max, initial=0)) for board in (a, b)}
    for place, detail, text, board in facts.comments:
        # A comment stands where both boards' moves are; it is kept with the board that had moved last.
        where = games[1].observations[0] if board is b else seen
        moves = (board or a).moves
        ply = reached[(board or a).letter][bisect_left(moves, place, key=lambda move: move.offset)]
        where.events.append(_event(where, EventKind.CHAT, detail, ply, text, place))
    for game in games:
        if facts.reason is not None and game.reason_key is not None:
            seen = game.observations[0]
            last = game.plies[-1].ply if game.plies else 0
            text = f"{{{facts.reason}}} {game.result}"
            seen.events.append(_event(seen, EventKind.RESULT, game.reason_key, last, text, facts.reason_at))
    return games, found


def _event(seen: Observation, kind: EventKind, detail: str, ply: int, text: str, offset: int) -> GameEvent:
    return GameEvent(len(seen.events), kind, detail, ply, None, None, text, None, None, None, offset)


def _play(a: BpgnBoard, b: BpgnBoard) -> tuple[dict[str, list[Ply]], list[Anomaly]]:
    """Play the moves of both boards in their order: what one board loses comes into the other's holdings."""
    found: list[Anomaly] = []
    plies: dict[str, list[Ply]] = {"A": [], "B": []}
    positions: dict[str, Position | None] = {"A": _START, "B": _START}
    order = sorted(((move, board) for board in (a, b) for move in board.moves), key=lambda one: one[0].offset)
    for move, board in order:
        letter, done = board.letter, plies[board.letter]
        position = positions[letter]
        last = done[-1].ply if done else 0
        if move.ply != last + 1:
            if move.ply <= last:
                found.append(_wrong(AnomalyKind.MOVETEXT, move, letter, "a move of this number was there before"))
                continue
            found.append(_wrong(AnomalyKind.GAP, move, letter, f"{move.ply - last - 1} half-moves are missing"))
            position = None
        ply, reached, problem = _played(move, position)
        if problem is not None:
            found.append(_wrong(AnomalyKind.MOVETEXT, move, letter, problem))
        if position is not None and reached is not None:
            piece = captured_piece(position, reached)
            other = "B" if letter == "A" else "A"
            partner = positions[other]
            if piece is not None and partner is not None and partner.holdings is not None:
                white, black = partner.holdings
                # The partner has the other colour: what White takes here, Black gets there.
                holdings = (white, black + piece) if position.white_to_move else (white + piece, black)
                positions[other] = with_holdings(partner, *holdings)
        elif position is not None:
            # Unknown captures: from here on the partner's holdings are unknown.
            other = "B" if letter == "A" else "A"
            partner = positions[other]
            positions[other] = None if partner is None else partner._replace(holdings=None)
        positions[letter] = reached
        done.append(ply)
    return plies, found


def _wrong(kind: AnomalyKind, move: _Move, letter: str, message: str) -> Anomaly:
    number = f"{(move.ply + 1) // 2}{letter if move.ply % 2 else letter.lower()}."
    return Anomaly.of(kind, move.offset, None, message, f"{number} {move.san}")


def _played(move: _Move, position: Position | None) -> tuple[Ply, Position | None, str | None]:
    """A move's ply, the position after it, and what is wrong with it."""
    proof, problem = Proof.UNPROVED, None
    encoded: int | None = None
    san, after = move.san, None
    if position is not None:
        step = play_san(position, move.san)
        if not isinstance(step, str):
            drop = "@" in step[1]
            # A drop from unknown holdings cannot be proved.
            proof = Proof.UNPROVED if drop and position.holdings is None else Proof.LIST
        else:
            problem = step
            step = play_san(position._replace(holdings=None), move.san)
            if not isinstance(step, str):
                step = step[0], step[1], step[2]._replace(holdings=position.holdings)
        if not isinstance(step, str):
            encoded, san, after = step
    flags = None if after is None else after.castling | (after.push_col + 1) << 4
    white = move.ply % 2 == 1
    precision = None
    if move.clock_ms is not None:
        precision = int(Precision.MILLISECONDS if move.exact else Precision.SECONDS)
    ply = Ply(
        move.ply, encoded, san, move.clock_ms if white else None, None if white else move.clock_ms, None, move.lag_ms,
        None, flags, None, int(proof), int(Origin.PGN), precision, move.offset,
    )  # fmt: skip
    return ply, after, problem


def _reasons(a: BpgnBoard, b: BpgnBoard, facts: BpgnFacts) -> dict[str, EndReason]:
    """How each board's game ended: the reason names a player of the board that decided."""
    results = {"A": facts.result, "B": _FLIPPED.get(facts.result, facts.result)}
    words = facts.reason
    if words is None:
        unknown = "normal" if facts.result != "*" else "unterminated"
        return dict.fromkeys("AB", EndReason("unknown", unknown, None))
    read = {board.letter: read_reason(words, board.white, board.black, results[board.letter]) for board in (a, b)}
    for letter, other in (("A", "B"), ("B", "A")):
        if read[letter].actor is None or read[other].actor is not None:
            continue
        if read[letter].key.startswith(("abort", "adjourn")):
            read[other] = read[letter]._replace(actor=None)
        elif read[letter].key == "partner-won":
            read[other] = EndReason("unknown", "normal", None)
        else:
            read[other] = EndReason("partner-decided", "normal" if facts.result != "*" else "unterminated", None)
        break
    return read


def _game(board: BpgnBoard, plies: list[Ply], facts: BpgnFacts, reason: EndReason) -> Game:
    result = facts.result if board.letter == "A" else _FLIPPED.get(facts.result, facts.result)
    ended = facts.reason is not None or result != "*"
    end = end_word(reason.key) if ended else "log-ends"
    last = plies[-1].ply if plies else 0
    control = facts.base_s, facts.increment_s
    rows: list[PlyRow] = [*plies]
    derive_elapsed(rows, 0, control, control, None)
    plies = name_plies(rows)
    rated = _RATED.fullmatch(facts.event)
    white, black = board.ratings
    return Game(
        key=_key(board, plies, facts),
        kind=GameKind.PLAYED,
        server=facts.server,
        dialect=None,
        game_no=None,
        white=_player(board.white, white),
        black=_player(board.black, black),
        rated=None if rated is None else rated[1].lower() == "rated",
        variant="bughouse",
        category=None if rated is None else rated[2].lower(),
        base_s=facts.base_s,
        increment_s=facts.increment_s,
        black_base_s=facts.base_s,
        black_increment_s=facts.increment_s,
        base_inferred=False,
        variant_inferred=False,
        start_fen=None,
        start_ply=0,
        result=result,
        reason=facts.reason,
        reason_key=reason.key if facts.reason is not None else None,
        termination=reason.termination,
        end=end,
        started_at_ms=facts.started_at_ms,
        start_precision=None if facts.started_at_ms is None else StartPrecision.SECOND,
        ended_at_ms=None,
        time_basis=TimeBasis.NONE if facts.started_at_ms is None else TimeBasis.LOCAL,
        date_text=None if facts.day is None else facts.day.isoformat(),
        complete=ended and end != "log-ends" and last == len(plies) and all(ply.move is not None for ply in plies),
        continued=False,
        partner_game_no=None,
        me=None,
        observations=[_observation(board, plies, facts)],
        segments=_segments(plies),
        first_offset=board.offset,
        last_offset=facts.end,
    )


def _key(board: BpgnBoard, plies: list[Ply], facts: BpgnFacts) -> str:
    key_facts = [
        "bpgn", facts.server or "", board.letter, board.white.lower(), board.black.lower(), facts.begin,
        facts.started_at_ms, str(facts.day), " ".join(ply.san for ply in plies),
    ]  # fmt: skip
    return hashlib.blake2b(json.dumps(key_facts).encode(), digest_size=10).hexdigest()


def _observation(board: BpgnBoard, plies: list[Ply], facts: BpgnFacts) -> Observation:
    return Observation(
        kind=ObservationKind.PGN,
        game_no=None,
        white=board.white,
        black=board.black,
        relation=None,
        offset=board.offset,
        end_offset=facts.end,
        started_at_ms=None,
        ended_at_ms=None,
        start=None,
        lines=[PlyLine(0, LineKind.MAIN, None, None, plies)],
    )


def _segments(plies: list[Ply]) -> list[Segment]:
    segments: list[Segment] = []
    for ply in plies:
        if segments and segments[-1].to_ply == ply.ply - 1:
            segments[-1] = segments[-1]._replace(to_ply=ply.ply)
        else:
            segments.append(Segment(ply.ply, ply.ply, 0))
    return segments


def _player(handle: str, rating: RatingText | None) -> Player:
    return Player(handle) if rating is None else Player(handle, rating.text, rating.value)
