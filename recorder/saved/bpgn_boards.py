"""The two boards of a BPGN match: their moves played in the order of the file, and the games that they make."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from recorder.dialects.results import EndReason, read_reason
from recorder.events import RatingText
from recorder.model import (
    Anchor,
    AnchorReason,
    Anomaly,
    AnomalyKind,
    EventKind,
    Game,
    GameEnd,
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
    StartPrecision,
    TimeBasis,
    name_plies,
)
from recorder.model.observations import runs_of
from recorder.rules.boards import captured_piece
from recorder.rules.fen import fen, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.prove import with_holdings
from recorder.rules.variants import STANDARD_BOARD
from recorder.saved.base import derive_elapsed
from recorder.saved.pgn_moves import play_word
from recorder.saved.pgn_tags import PgnHeader
from recorder.text import plural
from recorder.times import in_ms
from recorder.tracking.assemble import end_word

MAIN: Final = 0
_START: Final = start_position(STANDARD_BOARD, True, 15, -1, Rules.BUGHOUSE, ("", ""))
_OMITTED_MS: Final = -5_000  # a viewer writes it for all moves of a match without times
_RATED: Final = re.compile(r"(?:\S+ )?(rated|unrated) (\S+) (?:match|game)", re.IGNORECASE)
_FLIPPED: Final = {"1-0": "0-1", "0-1": "1-0"}


@dataclass(slots=True)
class BpgnMove:
    """``ply`` and ``reached`` count half-moves here, as printed and as played; ``since_ms``: since the match began."""

    board: int
    ply: int
    san: str
    offset: int
    clock_ms: int | None = None
    exact: bool = False
    elapsed_ms: int | None = None
    lag_ms: int | None = None
    since_ms: int | None = None
    reached: int = 0


class _State(NamedTuple):
    """Positions are None if unknown; ``plies`` were played on each."""

    positions: tuple[Position | None, Position | None]
    plies: tuple[int, int]


@dataclass(slots=True)
class BpgnLine:
    """It leaves ``parent`` after ``at`` moves; ``text`` has its parentheses. ``rows``, ``numbers``: of A and B."""

    parent: BpgnLine | None = None
    at: int = 0
    depth: int = 0
    text: str = ""
    offset: int = 0
    moves: list[BpgnMove] = field(default_factory=list)
    rows: tuple[list[Ply], list[Ply]] = field(default_factory=lambda: ([], []))
    numbers: tuple[int, int] = (0, 0)
    states: list[_State] = field(default_factory=list)
    places: dict[tuple[int, int], int] = field(default_factory=dict)  # of the moves that were played, by board and ply


class BpgnComment(NamedTuple):
    """Its detail as an event has it, and the line and move behind which it stands, if any."""

    offset: int
    detail: str
    text: str
    line: BpgnLine
    move: BpgnMove | None


@dataclass(slots=True)
class BpgnBoard:
    """``position``: before the first move, None if unknown; ``start_fen``: None for the normal start, too."""

    letter: str
    white: str
    black: str
    offset: int = 0
    ratings: tuple[RatingText | None, RatingText | None] = (None, None)
    position: Position | None = _START
    start_ply: int = 0
    start_fen: str | None = None

    def begin(self, position: Position, ply: int) -> None:
        self.position, self.start_ply = position, ply
        text = fen(position, 0, ply // 2 + 1)
        self.start_fen = None if ply == 0 and text == fen(_START, 0, 1) else text


@dataclass(slots=True)
class BpgnFacts:
    """``result`` is board A's; ``kept`` are tags without a field: offset, name and value."""

    header: PgnHeader
    server: str | None
    begin: int
    end: int
    event: str = ""
    result: str = "*"
    reason: str | None = None
    reason_at: int = 0
    termination: str | None = None
    kept: list[tuple[int, str, str]] = field(default_factory=list)
    comments: list[BpgnComment] = field(default_factory=list)


def make_games(
    boards: tuple[BpgnBoard, BpgnBoard], lines: list[BpgnLine], facts: BpgnFacts
) -> tuple[list[Game], list[Anomaly]]:
    """The main line comes first, and each variation behind the line that it leaves."""
    anomalies: list[Anomaly] = []
    main = lines[MAIN]
    exact = any(move.exact for move in main.moves)  # some writers leave zeros out: 4:58 beside 4:59.3
    omitted = {move.clock_ms for move in main.moves} == {_OMITTED_MS}
    for move in main.moves:
        move.exact, move.clock_ms = exact, None if omitted else move.clock_ms
    _play_line(
        main, _State((boards[0].position, boards[1].position), (boards[0].start_ply, boards[1].start_ply)), anomalies
    )
    counts = [0, 0]
    for line in lines[MAIN + 1 :]:
        parent = line.parent
        begin = _beginning(line)
        if parent is None or begin is None:
            before = parent.moves[line.at - 1] if parent is not None and line.at else None
            facts.comments.append(BpgnComment(line.offset, "annotation", line.text, parent or main, before))
            if parent is not None and (parent is main or parent.states):
                message = "a variation that does not begin where it stands is kept as a comment"
                anomalies.append(Anomaly.of(AnomalyKind.MOVETEXT, line.offset, None, message, line.text))
            continue
        _play_line(line, parent.states[begin], anomalies)
        for board in (0, 1):
            counts[board] += bool(line.rows[board])
        line.numbers = counts[0] * bool(line.rows[0]), counts[1] * bool(line.rows[1])
    reasons = _reasons(boards, facts)
    games = [_game(index, board, lines, facts, reasons[index]) for index, board in enumerate(boards)]
    for comment in sorted(facts.comments, key=lambda comment: comment.offset):
        # A comment stands where both boards' moves are; it is kept with the board that had moved last.
        board = 0 if comment.move is None else comment.move.board
        ply = boards[0].start_ply if comment.move is None else comment.move.reached
        value = comment.line.numbers[board] or None
        observation = games[board].observations[0]
        observation.events.append(
            _event(observation, EventKind.CHAT, comment.detail, ply, comment.text, comment.offset, value)
        )
    for game in games:
        if facts.reason is not None and game.reason_key is not None:
            observation = game.observations[0]
            last = game.plies[-1].ply if game.plies else game.start_ply
            text = f"{{{facts.reason}}} {game.result}"
            observation.events.append(
                _event(observation, EventKind.RESULT, game.reason_key, last, text, facts.reason_at)
            )
    return games, anomalies


def _event(
    observation: Observation, kind: EventKind, detail: str, ply: int, text: str, offset: int, value: int | None = None
) -> GameEvent:
    return GameEvent(len(observation.events), kind, detail, ply, None, value, text, None, None, None, offset)


def _beginning(line: BpgnLine) -> int | None:
    """Its first move replaces one of that board, or follows those before the parenthesis; None: it does neither."""
    parent = line.parent
    if parent is None or not parent.states or not line.moves:
        return None
    first = line.moves[0]
    if first.ply == parent.states[line.at].plies[first.board] + 1:
        return line.at
    index = parent.places.get((first.board, first.ply))
    return index if index is not None and index < line.at else None


def _play_line(line: BpgnLine, state: _State, anomalies: list[Anomaly]) -> None:
    line.states.append(state)
    for index, move in enumerate(line.moves):
        state, ply = _step(state, move, anomalies)
        move.reached = state.plies[move.board]
        if ply is not None:
            line.rows[move.board].append(ply)
            line.places[move.board, move.ply] = index
        line.states.append(state)


def _step(state: _State, move: BpgnMove, anomalies: list[Anomaly]) -> tuple[_State, Ply | None]:
    """The capture goes into the other board's holdings; the ply is None if the text is no move."""
    own, other = move.board, 1 - move.board
    position, partner, last = state.positions[own], state.positions[other], state.plies[own]
    if move.ply <= last:
        anomalies.append(_wrong(AnomalyKind.MOVETEXT, move, "a move of this number was there before"))
        return state, None
    if move.ply != last + 1:
        anomalies.append(
            _wrong(AnomalyKind.GAP, move, f"{plural(move.ply - last - 1, 'half-move')} missing before this move")
        )
        position = None
    ply, reached, problem = _played(move, position)
    if problem is not None:
        anomalies.append(_wrong(AnomalyKind.MOVETEXT, move, problem))
    if position is not None and reached is not None:
        piece = captured_piece(position, reached)
        if piece is not None and partner is not None and partner.holdings is not None:
            white, black = partner.holdings
            # The partner has the other colour: what White takes here, Black gets there.
            holdings = (white, black + piece) if position.white_to_move else (white + piece, black)
            partner = with_holdings(partner, *holdings)
    elif partner is not None and reached is None:
        # Unknown captures: from here on the partner's holdings are unknown.
        partner = partner._replace(holdings=None)
    first, second = (reached, partner) if own == 0 else (partner, reached)
    plies = (move.ply, state.plies[1]) if own == 0 else (state.plies[0], move.ply)
    return _State((first, second), plies), ply


def _wrong(kind: AnomalyKind, move: BpgnMove, message: str) -> Anomaly:
    letter = ("ab" if move.ply % 2 == 0 else "AB")[move.board]
    return Anomaly.of(kind, move.offset, None, message, f"{(move.ply + 1) // 2}{letter}. {move.san}")


def _played(move: BpgnMove, position: Position | None) -> tuple[Ply, Position | None, str | None]:
    proof, problem = Proof.UNPROVED, None
    encoded: int | None = None
    san, after = move.san, None
    if position is not None and position.white_to_move != (move.ply % 2 == 1):
        position, problem = None, "a move of the other side"
    if position is not None:
        step = play_word(position, move.san)
        if not isinstance(step, str):
            drop = "@" in step[1]
            # A drop from unknown holdings cannot be proved.
            proof = Proof.UNPROVED if drop and position.holdings is None else Proof.LIST
        else:
            problem = step
            step = play_word(position._replace(holdings=None), move.san)
            if not isinstance(step, str):
                step = step[0], step[1], step[2]._replace(holdings=position.holdings)
        if not isinstance(step, str):
            encoded, san, after = step
    flags = None if after is None else after.castling | (after.push_col + 1) << 4
    white = move.ply % 2 == 1
    precision = None
    if move.clock_ms is not None or move.elapsed_ms is not None:
        precision = int(Precision.MILLISECONDS if move.exact else Precision.SECONDS)
    ply = Ply(
        move.ply, encoded, san, move.clock_ms if white else None, None if white else move.clock_ms, move.elapsed_ms,
        move.lag_ms, None, flags, None, int(proof), int(Origin.PGN), precision, move.offset,
    )  # fmt: skip
    return ply, after, problem


def _reasons(boards: tuple[BpgnBoard, BpgnBoard], facts: BpgnFacts) -> tuple[EndReason, EndReason]:
    """How each board's game ended: the reason names a player of the board that decided."""
    results = (facts.result, _FLIPPED.get(facts.result, facts.result))
    words = facts.reason
    usual = facts.termination or ("normal" if facts.result != "*" else "unterminated")
    if words is None:
        return EndReason("unknown", usual, None), EndReason("unknown", usual, None)
    read = [read_reason(words, board.white, board.black, result) for board, result in zip(boards, results, strict=True)]
    for own, other in ((0, 1), (1, 0)):
        if read[own].actor is None or read[other].actor is not None:
            continue
        if read[own].key.startswith(("abort", "adjourn")):
            read[other] = read[own]._replace(actor=None)
        elif read[own].key == "partner-won":
            read[other] = EndReason("unknown", "normal", None)
        else:
            read[other] = EndReason("partner-decided", "normal" if facts.result != "*" else "unterminated", None)
        break
    if facts.termination is not None and all(one.key == "unknown" for one in read):
        read = [one._replace(termination=facts.termination) for one in read]
    return read[0], read[1]


def _game(board_no: int, board: BpgnBoard, lines: list[BpgnLine], facts: BpgnFacts, reason: EndReason) -> Game:
    header = facts.header
    result = facts.result if board_no == 0 else _FLIPPED.get(facts.result, facts.result)
    ended = facts.reason is not None or result != "*"
    end = end_word(reason.key) if ended else GameEnd.LOG_ENDS
    control = header.control_ms or (in_ms(header.base_s), in_ms(header.increment_s))
    timed = [move for move in lines[MAIN].moves if move.board == board_no and move.since_ms is not None]
    rows: list[PlyRow] = [*lines[MAIN].rows[board_no]]
    _set_times(rows, timed, header, board.start_ply)
    derive_elapsed(rows, board.start_ply, control, control, None)
    plies = lines[MAIN].rows[board_no][:] = name_plies(rows)
    rated = _RATED.fullmatch(facts.event)
    white, black = board.ratings
    whole = plies[-1].ply if plies else 0
    since_start = bool(timed) and header.started_at_ms is None
    basis = TimeBasis.CLOCK if since_start else header.time_basis
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
        base_s=header.base_s,
        increment_s=header.increment_s,
        black_base_s=header.base_s,
        black_increment_s=header.increment_s,
        base_inferred=False,
        variant_inferred=False,
        start_fen=board.start_fen,
        start_ply=board.start_ply,
        result=result,
        reason=facts.reason,
        reason_key=reason.key if facts.reason is not None else None,
        termination=reason.termination,
        end=end,
        started_at_ms=0 if since_start else header.started_at_ms,
        start_precision=(
            StartPrecision.MILLISECOND if since_start
            else None if header.started_at_ms is None else StartPrecision.SECOND
        ),
        ended_at_ms=header.ended_at_ms,
        time_basis=basis,
        date_text=header.date_text,
        complete=(
            ended and end is not GameEnd.LOG_ENDS and board.start_ply == 0 and whole == len(plies)
            and all(ply.proof in (Proof.LIST, Proof.INFERRED) for ply in plies)
        ),
        continued=False,
        partner_game_no=None,
        me=None,
        observations=[_observation(board_no, board, lines, facts)],
        segments=runs_of(ply.ply for ply in plies),
        first_offset=board.offset,
        last_offset=facts.end,
    )  # fmt: skip


def _set_times(rows: list[PlyRow], timed: list[BpgnMove], header: PgnHeader, start_ply: int) -> None:
    """Both boards' clocks run from the first move of the match on; computed clocks are marked as derived."""
    since = {move.ply: move.since_ms for move in timed}
    if not since:
        return
    base_ms = None if header.base_s is None or start_ply else 1000 * header.base_s
    step_ms = 1000 * (header.increment_s or 0)
    clocks: list[int | None] = [base_ms, base_ms]
    before_ms: int | None = None if start_ply else 0
    for index, row in enumerate(map(Ply._make, rows)):
        side, at_ms, clock_ms = row.ply & 1, since.get(row.ply), row.clock_ms
        took_ms = None if at_ms is None or before_ms is None or at_ms < before_ms else at_ms - before_ms
        before_ms, left_ms, precision = at_ms, clocks[side], row.precision_code
        if took_ms is not None and clock_ms is None:
            precision = int(Precision.MILLISECONDS)
            if left_ms is not None:
                clock_ms, precision = left_ms - took_ms + step_ms, int(Precision.DERIVED_MILLISECONDS)
        clocks[side] = clock_ms
        rows[index] = row._replace(
            white_clock_ms=clock_ms if side else None,
            black_clock_ms=None if side else clock_ms,
            elapsed_ms=row.elapsed_ms if took_ms is None else took_ms,
            at_ms=None if at_ms is None else at_ms + (header.started_at_ms or 0),
            precision_code=precision,
        )


def _key(board: BpgnBoard, plies: Iterable[Ply], facts: BpgnFacts) -> str:
    key_facts = [
        "bpgn", facts.server or "", board.letter, board.white.lower(), board.black.lower(), facts.begin,
        facts.header.started_at_ms, str(facts.header.date_text), " ".join(ply.san for ply in plies),
    ]  # fmt: skip
    return hashlib.blake2b(json.dumps(key_facts).encode(), digest_size=10).hexdigest()


def _observation(board_no: int, board: BpgnBoard, lines: list[BpgnLine], facts: BpgnFacts) -> Observation:
    found = [PlyLine(0, LineKind.MAIN, None, None, lines[MAIN].rows[board_no])]
    for line in lines[MAIN + 1 :]:
        rows = line.rows[board_no]
        if rows:
            above = line.parent
            while above is not None and above.parent is not None and not _reaches(above, board_no, rows[0].ply - 1):
                above = above.parent
            number = 0 if above is None else above.numbers[board_no]
            found.append(PlyLine(line.numbers[board_no], LineKind.VARIATION, number, rows[0].ply - 1, rows))
    observation = Observation(
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
        lines=found,
    )
    if board.start_fen is not None:
        observation.anchors.append(Anchor(0, board.start_ply, board.start_fen, AnchorReason.START, board.offset))
    for offset, name, value in facts.kept:
        observation.events.append(_event(observation, EventKind.TAG, name, board.start_ply, value, offset))
    return observation


def _reaches(line: BpgnLine, board_no: int, ply: int) -> bool:
    return bool(line.rows[board_no]) and line.rows[board_no][0].ply <= ply


def _player(handle: str, rating: RatingText | None) -> Player:
    return Player(handle) if rating is None else Player(handle, rating.text, rating.value)
