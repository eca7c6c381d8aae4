"""Movelists: replayed by the rules, and joined to the game that they belong to, else to one of their own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import takewhile
from operator import ne

from recorder.dialects.session import STORED_BLOCKS, answers
from recorder.events import ListRow, MovelistRead
from recorder.model import (
    Anchor,
    AnchorReason,
    AnomalyKind,
    GameEnd,
    LineKind,
    Observation,
    ObservationKind,
    Origin,
    Ply,
    PlyLine,
    Precision,
    Proof,
)
from recorder.rules.fen import fen, has_plain_board, start_position
from recorder.rules.position import Position, Rules
from recorder.rules.prove import play_san
from recorder.rules.variants import (
    STANDARD_BOARD,
    chess960_starts,
    has_pockets,
    is_bare_wild,
    known_start,
    variant_of,
)
from recorder.tracking.assemble import end_word
from recorder.tracking.deltas import find_by_list
from recorder.tracking.examined.boards import agrees, take_moves
from recorder.tracking.facts import HeaderFacts
from recorder.tracking.game_table import GameTable
from recorder.tracking.plies import frame_position
from recorder.tracking.tracked_game import ListSeen, TrackedGame

_LISTED_KEPT = 64
_HOME_RANKS = (slice(-8, None), slice(0, 8))  # of a board's text: White's and Black's


# -- which game a list is of ----------------------------------------------------------------------------------------


def take_list(table: GameTable, event: MovelistRead) -> None:
    if not event.headed:
        if event.rows and event.rows[0].ply > 2:
            _note(table, event, "a move table without its first moves: it is not read")
            return
        named = _named(table, event)
        if named is None:
            _note(table, event, "a move table without its header; its game is unknown, and it is not read")
            return
        event = named
    for run in _candidates(table, event):
        listed, problem = read_list(event, run)
        if agrees(run, listed) if run.examined else _fits(listed, run):
            run.add_list(listed)
            run.facts.add_list(event)
            _learn_variant(run, listed)
            if run.examined:
                take_moves(run, listed, event)
            else:
                find_by_list(run, listed)
            break
    else:
        run = _list_run(table, event)
        listed, problem = read_list(event, None)
        run.add_list(listed)
        run.facts.add_list(event)
        _learn_variant(run, listed)
        if event.complete and not event.still_running:
            run.end = end_word(event.reason_key)
            run.result, run.reason = event.result or "*", event.reason
            run.reason_key, run.termination = event.reason_key, event.termination
        if not event.headed:
            _note(table, event, "a move table without its header: only the names above its columns are known")
    if problem is not None:
        _note(table, event, problem)
    for row in event.unread:
        table.complain(AnomalyKind.MOVELIST, row, event.game_no, "a time of the list cannot be read")
    if not event.complete:
        table.complain(AnomalyKind.CUT, event.line, event.game_no, "the movelist ends without its last line")


def _note(table: GameTable, event: MovelistRead, problem: str) -> None:
    table.complain(AnomalyKind.MOVELIST, event.line, event.game_no, problem)


def _named(table: GameTable, event: MovelistRead) -> MovelistRead | None:
    """Names from the table, or from the one game that the number or the moves identify; None: there are not any."""
    if event.white:
        return event
    fitting: list[MovelistRead] = []
    for run in table.every():
        if event.game_no is not None and run.game_no != event.game_no:
            continue
        named = replace(event, white=run.white, black=run.black)
        listed, _ = read_list(named, run)
        plies = range(run.base_ply, run.ply + 1)
        if run.examined:
            fit = agrees(run, listed)
        else:
            fit = _fits(listed, run) and (event.game_no is not None or any(listed.position_at(ply) for ply in plies))
        if fit:
            fitting.append(named)
    names = {(named.white.lower(), named.black.lower()) for named in fitting}
    return fitting[0] if len(names) == 1 else None


def _candidates(table: GameTable, event: MovelistRead) -> list[TrackedGame]:
    running = event.game_no is not None and event.still_running  # then the number is that of the game
    numbered = table.runs.get(str(event.game_no))
    runs = [*([] if numbered is None else [numbered]), *table.listed] if running else table.every()
    runs = [run for run in runs if run.between(event.white, event.black) and not run.examined]
    runs = [run for run in runs if not _began_apart(run, event)]
    if answers(event.line.block, STORED_BLOCKS):
        # The command asked for a stored game; one in progress is not stored.
        runs = [run for run in runs if not run.following]
    if running:
        runs = [run for run in runs if run.game_no in (event.game_no, None)]
    # An examined board may show other names than its list does.
    runs += [
        run
        for run in table.examined.values()
        if not run.suspended
        and (run.between(event.white, event.black) if event.game_no is None else run.game_no == event.game_no)
    ]
    # While a game is examined, its players' list is that of the examined game.
    return sorted(runs, key=lambda run: (not run.examined, run.game_no != event.game_no, -run.end_offset))


def _began_apart(run: TrackedGame, event: MovelistRead) -> bool:
    """Whether a game that only lists show began at another time than a game that is over: equal moves prove nothing."""
    if run.observations or not event.complete or event.still_running:
        return False
    return None not in (event.started, run.facts.date_text) and event.started != run.facts.date_text


def _list_run(table: GameTable, event: MovelistRead) -> TrackedGame:
    begin = event.line.offset if event.numbered_at is None else event.numbered_at
    run = TrackedGame(event.game_no, event.white, event.black, HeaderFacts(begin), event.line.offset)
    run.session = table.session
    number = str(event.game_no)
    if event.game_no is not None and event.still_running and number not in table.runs:
        table.runs[number] = run
    else:
        table.listed.append(run)
        if len(table.listed) > _LISTED_KEPT:
            table.close(table.listed.pop(0), GameEnd.LOG_ENDS)
    return run


# -- replaying a list ----------------------------------------------------------------------------------------------


def read_list(event: MovelistRead, run: TrackedGame | None) -> tuple[ListSeen, str | None]:
    """Replay a list, with a sentence if a row cannot be; ``run`` may be its game, with rules and start."""
    _, rules = variant_of(event.category)
    if run is not None and run.rules is not None and (rules is None or run.rules_stated):
        rules = run.rules
    start, unreadable = _start(event, rules, run)
    drawn = None if start is not None or unreadable is not None or run is None else _drawn_start(event, rules, run)
    start = start or drawn
    first_ply = event.rows[0].ply if event.rows else 1
    offset = event.rows[0].offset if event.rows else event.line.offset
    plies, positions, problem = _replay(event.rows, start)
    if unreadable is not None:
        problem = f"the start board of the list cannot be read: {unreadable!r}"
    elif start is None and event.rows:
        problem = "the list of a game that does not begin at the normal start position came without its start board"
    observation = Observation(
        kind=ObservationKind.MOVELIST,
        game_no=event.game_no,
        white=event.white,
        black=event.black,
        relation=None,
        offset=event.line.offset,
        end_offset=plies[-1].offset if plies else offset,
        started_at_ms=event.line.at_ms,
        ended_at_ms=event.line.at_ms,
        start=None,
        lines=[PlyLine(0, LineKind.MAIN, None, None, plies)],
    )
    if drawn is not None:
        plies[0] = plies[0]._replace(proof_code=int(Proof.INFERRED))
    if start is not None and (start.board != STANDARD_BOARD or first_ply != 1):
        text = fen(start, 0, (first_ply + 1) // 2)
        observation.anchors.append(Anchor(0, first_ply - 1, text, AnchorReason.LIST, event.line.offset))
    return ListSeen(event, observation, start, first_ply, positions), problem


def _replay(rows: Sequence[ListRow], start: Position | None) -> tuple[list[Ply], list[Position], str | None]:
    """No ply behind the first that cannot be played is proved; none at all if the start is unknown."""
    plies: list[Ply] = []
    positions: list[Position] = []
    problem = None
    position = start
    expected = rows[0].ply if rows else 1
    for row in rows:
        move, san, proof, flags = None, row.san, Proof.UNPROVED, None
        if position is not None and row.ply == expected:
            played = play_san(position, row.san)
            if isinstance(played, str):
                why = played.removeprefix("illegal: ")
                problem = f"move {(row.ply + 1) // 2} '{row.san}' of the list cannot be played: {why}"
                position = None
            else:
                move, san, position = played
                positions.append(position)
                proof = Proof.LIST
                flags = position.castling | (position.push_col + 1) << 4
        elif position is not None:
            problem = f"the list goes from ply {expected - 1} to ply {row.ply}"
            position = None
        expected = row.ply + 1
        precision = None if row.elapsed_ms is None else (Precision.MILLISECONDS if row.ms else Precision.SECONDS)
        printed = Ply(
            row.ply, move, san, None, None, row.elapsed_ms, None, None,
            flags, None, proof, Origin.MOVELIST, precision, row.offset,
        )  # fmt: skip
        plies.append(printed)
    return plies, positions, problem


def _learn_variant(run: TrackedGame, listed: ListSeen) -> None:
    """Take the variant from a list's header if no earlier line stated it (observers on some servers have no other).

    Holdings that were seen weigh more than a category word that knows of none.
    """
    category = run.facts.category
    variant, rules = variant_of(category)
    position = run.position
    if run.rules_stated or rules is None:
        return
    if position is not None and has_pockets(position.rules) and not has_pockets(rules):
        return
    run.variant, run.variant_inferred, run.rules_stated = variant, False, not is_bare_wild(category)
    if position is None or position.rules is rules or not has_plain_board(position.board):
        return
    position_of_list = listed.position_at(run.ply)
    if position_of_list is None or position_of_list.board != position.board or position_of_list.rules is not rules:
        white, rights, push = position.white_to_move, position.castling, position.push_col
        position_of_list = start_position(position.board, white, rights, push, rules, position.holdings)
    run.set_position(position_of_list)


def _start(event: MovelistRead, rules: Rules | None, run: TrackedGame | None) -> tuple[Position | None, str | None]:
    """The position that a list begins with, None: not known; and the board that says so, if it cannot be read."""
    white_starts = not event.rows or event.rows[0].ply % 2 == 1
    frame = event.start_frame
    if frame is None and run is not None and run.start_frame is not None:
        frame = run.start_frame
    if frame is not None:
        rules_of_list = rules or (Rules.CHESS if frame.board == STANDARD_BOARD else Rules.CHESS960)
        if rules_of_list is not Rules.FRAMES and not has_plain_board(frame.board):
            return None, frame.board
        position = frame_position(frame, rules_of_list, _empty_holdings(rules_of_list))
        return position._replace(white_to_move=white_starts), None
    start = known_start(event.category, rules)
    if start is None:
        return None if run is None else run.position_at(0), None
    rules_of_list = rules or Rules.CHESS
    return start_position(start[0], white_starts, start[1], -1, rules_of_list, _empty_holdings(rules_of_list)), None


def _drawn_start(event: MovelistRead, rules: Rules | None, run: TrackedGame) -> Position | None:
    """The one set-up of chess960 from which a list without its start board leads to a board of its game, or None."""
    count = min(len(event.rows), run.ply)
    position = run.position_at(count)
    if rules is not Rules.CHESS960 or position is None or count == 0:
        return None
    if [row.ply for row in event.rows[:count]] != [*range(1, count + 1)]:
        return None
    sans = [row.san for row in event.rows[:count]]
    # A piece is still where it began unless it moved or was taken.
    left = [_count_moves(sans[side::2]) + sum("x" in san for san in sans[1 - side :: 2]) for side in (0, 1)]
    # 960 set-ups are few: each that can lead to the board by so few moves is played to its end.
    starts: list[Position] = []
    for board in chess960_starts():
        if any(sum(map(ne, board[at], position.board[at])) > most for at, most in zip(_HOME_RANKS, left, strict=True)):
            continue
        start = start_position(board, True, 15, -1, Rules.CHESS960, None)
        _, positions, _ = _replay(event.rows[:count], start)
        if len(positions) == count and positions[-1].board == position.board:
            starts.append(start)
    return starts[0] if len(starts) == 1 else None


def _count_moves(sans: list[str]) -> int:
    """Castling moves two."""
    return sum(1 + san.startswith("O-O") for san in sans if san[:1] not in "abcdefgh")


def _empty_holdings(rules: Rules) -> tuple[str, str] | None:
    """The holdings at the start of a list. In bughouse a list does not show the pieces that partners pass: unknown."""
    return ("", "") if rules is Rules.CRAZYHOUSE else None


def _fits(listed: ListSeen, run: TrackedGame) -> bool:
    """Whether a replayed list can be the list of this run: every board that both know is the same.

    Plies that were taken back after the list was printed do not count against it. A list with a final result is no
    list of a game in progress; one of a game that has ended has its length and its result. A stored game's list, which
    has no game number, may be of any game of these players: without a result, its times must be the run's, too.
    """
    event = listed.event
    # No board of the run was seen: only other lists can say whether it is the same game.
    if not run.observations:
        return _lists_agree(listed, run)
    final = event.complete and event.result not in (None, "*")
    if final and run.following:
        return False
    over = run.end is not None and run.end.is_over and event.complete and not event.still_running
    if over and (event.result != run.result or len(event.rows) != run.ply - (listed.first_ply - 1)):
        return False
    # Board by board, as far as both are known. What was played after the list was printed cannot be in it.
    compared = 0
    later = {row.ply for row in takewhile(lambda row: row.offset > event.line.offset, reversed(run.rows))}
    first = max(run.base_ply, listed.first_ply - 1)
    for ply in range(first, min(run.base_ply + len(run.history), listed.first_ply + len(listed.positions))):
        position = listed.position_at(ply)
        if position is None or ply in later:  # played after it was printed
            continue
        if position.board != run.history[ply - run.base_ply].board:
            return False
        compared = ply
    # Nothing contradicts. A number identifies the game; without one some board must be equal, and for a stored game,
    # whose moves the same players may have repeated, the times as well.
    if event.game_no is not None:
        return event.game_no == run.game_no
    if event.still_running:
        return run.following or compared > 0
    return compared > 0 and (over or _times_agree(listed, run))


def _times_agree(listed: ListSeen, run: TrackedGame) -> bool:
    printed = {ply.ply: ply for ply in listed.plies}
    for played in run.rows:
        other = printed.get(played.ply)
        if other is None or other.elapsed_ms is None or played.elapsed_ms is None:
            continue
        exact = other.precision_code == played.precision_code
        if abs(other.elapsed_ms - played.elapsed_ms) > (0 if exact else 1000):
            return False
    return True


def _lists_agree(listed: ListSeen, run: TrackedGame) -> bool:
    """Whether another list of the same players is the same list, or the same running game's earlier or later one."""
    if run.longest is None:
        return True
    # The others begin as the longest does.
    for mine, its in zip(listed.plies, run.longest.plies, strict=False):
        if mine.san != its.san or mine.elapsed_ms != its.elapsed_ms:
            return False
    length, result, running, game_no = form = listed.form
    return form in run.list_forms or all(
        (length, result) == other[:2] or (game_no is not None and game_no == other[3] and (running or other[2]))
        for other in run.list_forms
    )
