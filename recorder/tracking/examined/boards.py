"""Boards of examined games (relation 2 and -2), and the lines around them.

Such a board never extends a played game. It may go anywhere: forward, back, into a variation, or to a position that
is set up. ``tree.py`` finds its place; here frames and lines are translated for it.
"""

from __future__ import annotations

import re
from typing import Final

from recorder.dialects.session import Family
from recorder.events import ExamineNotice, ExamineNoticeKind, Line, MovelistRead
from recorder.events.frames import Style12
from recorder.model import SHOWN, AnomalyKind, Disposition, EventKind, GameEnd, Ply, Proof
from recorder.rules.fen import fen
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step
from recorder.rules.variants import STANDARD_BOARD, is_bare_wild, variant_of
from recorder.tracking.datagrams.boards import DatagramBoard
from recorder.tracking.examined.lines import PLACED
from recorder.tracking.examined.tree import BACK, FORWARD, REVERT, TYPED, ExaminedTree, Node, ShownBoard
from recorder.tracking.facts import Starting
from recorder.tracking.game_table import GameTable
from recorder.tracking.plies import frame_position, ply_from_frame, start_facts
from recorder.tracking.tracked_game import ListSeen, TrackedGame

_K = ExamineNoticeKind
_LEFT_WAIT_BYTES: Final = 4096
_TWO_KINGS: Final = (Rules.CHESS, Rules.CHESS960, Rules.CRAZYHOUSE, Rules.BUGHOUSE, Rules.LOSERS, Rules.WILD)
_NAVIGATION: Final = {_K.FORWARD: FORWARD, _K.BACKWARD: BACK, _K.REVERT: REVERT}
_EXACT: Final = (_K.EXAMINER, _K.END)
_OURS: Final = re.compile(r"You are now |\S+ has made you ")
_RESULT_LINE: Final = re.compile(r"(?:Game [0-9]+: )?(?P<words>\S.*) (?P<result>1-0|0-1|1/2-1/2)")


def follow_examined(table: GameTable, frame: Style12) -> Disposition:
    """Assign a board of an examined game: SETUP for boards of the set-up mode, EXAMINED for all others."""
    number = frame.number
    run = table.examined.get(number)
    if run is not None and run.suspended:
        if run.renewed and _continues(run, frame):
            run.suspended = run.renewed = False
            run.following = True
            run.me_plays = frame.relation == 2
        else:
            del table.examined[number]
            table.close(run, GameEnd.UNOBSERVED)
            run = None
    beginning = run is None
    starting = table.starting
    setting_up = starting is not None and starting.setup if run is None else _tree(run).setting_up
    try:
        if len(frame.board) != len(STANDARD_BOARD):
            raise ValueError("not 8×8")
        shown = _seen(frame, _rules(table, run, frame, starting), table.lag_meaningless)
    except ValueError:
        table.anomaly(AnomalyKind.VARIANT, frame, "an examined board that is kept in the source only")
        return Disposition.SETUP if setting_up else Disposition.EXAMINED
    if run is None:
        run = _begin(table, frame, shown, starting)
        table.starting = None
        node = None if starting is not None and starting.placed else _tree(run).show(shown, run.navigation)
    else:
        run, node = _go_on(table, run, frame, shown)
    if run.names != frame.names:
        run.event(EventKind.NAMES, "names", frame, text=f"{frame.white} {frame.black}")
        run.white, run.black = frame.white, frame.black
        run.names = frame.names
    run.me_plays = frame.relation == 2
    run.navigation = TYPED
    run.last = frame
    clocks = frame.clocks
    if node is None:
        _set_current(run, shown.position, shown.ply)
        run.event(EventKind.EXAMINE, PLACED, frame, text=shown.fen, clocks=clocks)
        return Disposition.SETUP
    _set_current(run, node.position, node.ply)
    node.names = (run.white, run.black)
    node.shown = run.seq
    run.event(EventKind.EXAMINE, SHOWN, frame, value=node.number, clocks=clocks)
    return Disposition.SETUP if beginning and node.setup else Disposition.EXAMINED


def _go_on(table: GameTable, run: TrackedGame, frame: Style12, shown: ShownBoard) -> tuple[TrackedGame, Node | None]:
    """The game that the board belongs to, and what ``ExaminedTree.show`` returned."""
    tree = _tree(run)
    renamed = not run.between(frame.white, frame.black)
    # A board that confirms the position being set up begins a game of its own with that position.
    if tree.holds(shown, run.navigation) or (
        run.navigation and not renamed and not tree.setting_up and _has_other_names(run)
    ):
        run = _set_apart(table, run)
        return run, _tree(run).show(shown, run.navigation)
    # Other names: the examiner may have loaded another game under the same number. It is one if nothing leads from the
    # boards before to this one; the node that ``show`` made for it is removed again.
    if not (renamed and tree.returns(shown, run.navigation)):
        node = tree.show(shown, run.navigation, renamed=renamed)
        if node is None or not (renamed and tree.is_unrelated(node, run.navigation)):
            return run, node
        tree.remove_newest()
    table.close(run, GameEnd.REUSED)
    run = _begin(table, frame, shown, None)
    return run, _tree(run).show(shown)


def _has_other_names(run: TrackedGame) -> bool:
    """Whether the position being set up has other names than the board before it."""
    tree = _tree(run)
    if tree.apart is None or tree.current is None or tree.current.names is None:
        return False
    return not run.between(*tree.current.names)


def _set_apart(table: GameTable, run: TrackedGame) -> TrackedGame:
    """Make the position that was set up a game of its own with what happened since; the same game if it is first."""
    tree, frame, current = _tree(run), run.last, run.current
    placed = tree.apart
    if placed is None or frame is None or current is None or tree.current is None or placed.offset != frame.offset:
        return run
    # Events and holdings since the position's board was shown belong to it: they move to the new game.
    since = [event for event in current.events if event.offset >= placed.offset]
    changes = [change for change in current.holdings if change.offset >= placed.offset]
    del current.events[len(current.events) - len(since) :]
    del current.holdings[len(current.holdings) - len(changes) :]
    category = run.facts.category
    starting = Starting(tree.setting_up, frame.offset, frame.at_ms, "", True, category)
    tree.placed, tree.setting_up, run.last = None, False, None
    if tree.current.names is not None:
        run.white, run.black = tree.current.names
    table.close(run, GameEnd.REUSED)
    other = _begin(table, frame, placed, starting)
    other.me_plays, other.navigation = run.me_plays, run.navigation
    _set_current(other, placed.position, placed.ply)
    if other.current is not None:
        since = [event for event in since if event.kind is not EventKind.NAMES or event.offset > frame.offset]
        other.current.events += [event._replace(seq=seq) for seq, event in enumerate(since)]
        other.seq = len(since)
        for change in changes:
            other.current.holdings.append(change._replace(seq=other.seq))
            other.seq += 1
    return other


def _begin(table: GameTable, frame: Style12, shown: ShownBoard, starting: Starting | None) -> TrackedGame:
    facts = table.first_facts(frame)
    if starting is not None and facts.category is None:
        facts.category = starting.category
    run = TrackedGame(frame.game_no, frame.white, frame.black, facts, frame.offset)
    run.examined = True
    run.session = table.session
    variant, rules = variant_of(facts.category)
    run.variant, run.rules_stated = variant, rules is not None and not is_bare_wild(facts.category)
    run.tree = tree = ExaminedTree()
    tree.rules_stated = run.rules_stated and facts.category != "untimed"  # some servers call every examined game so
    run.names = frame.names
    run.observe(frame, shown.position, frame.ply, start_facts(frame), None)
    table.examined[frame.number] = run
    if starting is not None:
        tree.setting_up = starting.setup
    if starting is not None and starting.placed:
        tree.place(shown)
    elif starting is not None:
        where = (starting.offset, starting.at_ms)
        run.event(EventKind.EXAMINE, "setup-begin" if starting.setup else "start", where, text=starting.text)
    return run


def _tree(run: TrackedGame) -> ExaminedTree:
    assert run.tree is not None
    return run.tree


def _rules(table: GameTable, run: TrackedGame | None, frame: Style12, starting: Starting | None) -> Rules:
    """``run`` is None if the board begins an examination."""
    if run is not None and run.rules in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
        return run.rules
    facts = table.facts.get(frame.game_no) if run is None else run.facts
    category = None if facts is None else facts.category
    if run is None and category is None and starting is not None:
        category = starting.category
    return variant_of(category)[1] or Rules.CHESS


def _set_current(run: TrackedGame, position: Position, ply: int) -> None:
    """What the rest of the tracker sees of the game is the board being shown."""
    run.position, run.ply = position, ply
    run.history, run.base_ply = [position], ply


def _seen(frame: Style12, rules: Rules, lag_meaningless: bool) -> ShownBoard:
    """A frame as the tree takes it. Where kings are needed, boards without them have no rules but the boards."""
    kings = frame.board.count("K") == frame.board.count("k") == 1
    if rules is Rules.FRAMES or (rules in _TWO_KINGS and not kings):
        rules = Rules.BOARDS
    position = frame_position(frame, rules)
    ply, pretty = frame.ply, frame.pretty
    row: Ply | None = None
    if frame.has_move:
        row = ply_from_frame(frame, ply, None, pretty or frame.verbose, position, Proof.UNPROVED, lag_meaningless)
        if frame.base_min == frame.increment_s == 0 and not row.white_clock_ms and not row.black_clock_ms:
            # This game has no clocks: the zeros are no times.
            row = row._replace(
                white_clock_ms=None, black_clock_ms=None, elapsed_ms=row.elapsed_ms or None, lag_ms=row.lag_ms or None
            )
            if row.elapsed_ms is None:
                row = row._replace(precision_code=None)
        if isinstance(frame, DatagramBoard):
            row = frame.row(row)
    text = fen(position, frame.irreversible, frame.move_no)
    lan = frame.verbose if frame.has_move else None
    return ShownBoard(ply, position, lan, pretty, row, text, frame.offset, not frame.partial, start_facts(frame))


# -- the lines around it -------------------------------------------------------------------------------------------


def examined_run(table: GameTable, game_no: int | None) -> TrackedGame | None:
    """Without a number, the only game shown."""
    if game_no is not None:
        return table.examined.get(str(game_no))
    shown = _shown(table)
    return shown[0] if len(shown) == 1 else None


def _shown(table: GameTable) -> list[TrackedGame]:
    return [run for run in table.examined.values() if not run.suspended]


def _meant(table: GameTable, event: ExamineNotice) -> TrackedGame | None:
    """The examined game that a line means; None: none is shown, or it may be any of several.

    Lasker's lines about what examiners do have a number too low by one; those of FICS 1.6.2 have none. There the line
    behind a typed move follows its board, and the others name the actor.
    """
    # With a number the game is certain, but for Lasker's. Without one it is the only game shown, else the newest one if
    # the line repeats its move, else the one whose player or examiner the line names.
    shown = _shown(table)
    if event.game_no is not None:
        if event.kind not in _EXACT and table.session.family_now is Family.LASKER:
            above = table.examined.get(str(event.game_no + 1))
            if above in shown:
                return above
        return table.examined.get(str(event.game_no))
    if len(shown) > 1 and event.kind == "move":
        newest = max(shown, key=lambda run: run.last.offset if run.last is not None else -1)
        printed = newest.last.pretty if newest.last is not None else None
        return newest if printed == event.text.rpartition(" ")[2] else None
    if len(shown) > 1:
        actor = (event.actor or "").lower()
        shown = [run for run in shown if (actor in (run.white.lower(), run.black.lower()) if actor else run.me_plays)]
    return shown[0] if len(shown) == 1 else None


def take_notice(table: GameTable, event: ExamineNotice) -> None:
    """Place a line about an examined game: it says how the next board comes to be shown, or what the last one was."""
    kind, line = event.kind, event.line
    begins = kind is _K.START or (kind is _K.SETUP_BEGIN and line.text.startswith("Starting"))
    if begins:
        _note_start(table, kind is _K.SETUP_BEGIN, event)
        return
    run = _meant(table, event)
    # Lines about setting up have no number: if we examine one game, they are about that one.
    if kind in (_K.SETUP_BEGIN, _K.SETUP, _K.SETUP_END, _K.REFUSED):
        mine = [one for one in table.examined.values() if one.me_plays and not one.suspended]
        run = mine[0] if len(mine) == 1 else run
        if run is None and kind is _K.SETUP_BEGIN:
            _note_start(table, True, event)
    if run is None:
        return
    tree = _tree(run)
    run.event(EventKind.EXAMINE, kind.value, line, actor=event.actor, value=event.value, text=event.text)
    # A line about navigation comes before its board, a line about a move behind it.
    if kind in _NAVIGATION:
        run.navigation = _NAVIGATION[kind]
    elif kind is _K.COMMIT:
        tree.commit()
    elif kind is _K.MOVE and tree.current is not None and tree.placed is None:
        tree.current.typed = True
    elif kind is _K.SETUP_BEGIN:
        tree.setting_up = True
    elif kind is _K.SETUP_END:
        _confirm(_set_apart(table, run), line.offset, line.at_ms)
    elif kind is _K.EXAMINER and _OURS.match(event.text):
        run.renewed = run.suspended
    elif kind is _K.RESULT:
        _take_result(table, run, event)
    elif kind is _K.END and event.text.startswith("You are no longer"):
        run = settle(table, run)
        del table.examined[str(run.game_no)]
        table.close(run, GameEnd.UNOBSERVED)


def _take_result(table: GameTable, run: TrackedGame, event: ExamineNotice) -> None:
    """A result belongs to the board being shown; it confirms a position being set up."""
    match = _RESULT_LINE.fullmatch(event.text)
    if match is None or _tree(run).setting_up:
        return
    run = _set_apart(table, run)
    _confirm(run, event.line.offset, event.line.at_ms)
    current = _tree(run).current
    if current is not None:
        current.result = (match["result"], match["words"])


def _note_start(table: GameTable, setup: bool, event: ExamineNotice) -> None:
    table.starting = Starting(setup, event.line.offset, event.line.at_ms, event.text)


def _confirm(run: TrackedGame, offset: int, at_ms: int | None) -> None:
    node = _tree(run).confirm()
    if node is None:
        return
    _set_current(run, node.position, node.ply)
    node.names = (run.white, run.black)
    node.shown = run.seq
    run.event(EventKind.EXAMINE, SHOWN, (offset, at_ms), value=node.number)


def settle(table: GameTable, run: TrackedGame) -> TrackedGame:
    """End an examined game, a position whose set-up has ended too; the game that was examined last."""
    return run if _tree(run).setting_up else _set_apart(table, run)


def leave(table: GameTable, number: str, offset: int) -> None:
    """The server sends no more boards of an examined game, unless we become its examiner."""
    run = table.examined.get(number)
    if run is not None and not run.suspended:
        run = settle(table, run)
        run.suspended = True
        run.renewed = run.following = False
        run.end_offset = offset


def close_left(table: GameTable, offset: int) -> None:
    """Be finished with the examined games that were left a while before a place of the source."""
    for number, run in list(table.examined.items()):
        if run.suspended and run.end_offset < offset - _LEFT_WAIT_BYTES:
            del table.examined[number]
            table.close(run, GameEnd.UNOBSERVED)


def lose_all(table: GameTable, line: Line) -> None:
    """The connection or the login ends with this line: be finished with every examined game."""
    for number, run in list(table.examined.items()):
        if not run.suspended:
            run = settle(table, run)
            run.event(EventKind.FEED, "lost feed", line, text=line.text)
        del table.examined[number]
        table.close(run, GameEnd.UNOBSERVED if run.suspended else GameEnd.LOST_FEED)
    table.starting = None


def _continues(run: TrackedGame, frame: Style12) -> bool:
    """Whether we are shown, as an examiner, what we were shown as an observer."""
    tree = _tree(run)
    shown = tree.placed or (None if tree.current is None else tree.current.seen)
    same = shown is not None and (shown.ply, shown.position.board) == (frame.ply, frame.board)
    return same and run.between(frame.white, frame.black)


# -- lists ---------------------------------------------------------------------------------------------------------


def agrees(run: TrackedGame, seen: ListSeen) -> bool:
    """Whether a list can be of what is being shown; one without moves contradicts nothing."""
    positions = {ply.ply: seen.position_at(ply.ply) for ply in seen.observation.lines[0].plies}
    listed = {ply: position for ply, position in positions.items() if position is not None}
    if not listed:
        return not seen.event.rows
    if seen.start is not None:
        listed[seen.first_ply - 1] = seen.start
    return _tree(run).agrees(listed)


def take_moves(run: TrackedGame, listed: ListSeen, event: MovelistRead) -> None:
    start = listed.start
    if start is None or not listed.positions:
        return
    first = listed.first_ply - 1
    offset = event.line.offset
    begin = ShownBoard(first, start, None, None, None, fen(start, 0, first // 2 + 1), offset, True, None)
    steps: list[tuple[ShownBoard, Step]] = []
    for ply, position in zip(listed.observation.lines[0].plies, listed.positions, strict=False):
        move = ply.move
        if move is None:
            break
        if not ply.elapsed_ms and event.base_min == 0 and not event.increment_s:
            ply = ply._replace(elapsed_ms=None, precision_code=None)
        text = fen(position, 0, ply.ply // 2 + 1)
        steps.append(
            (ShownBoard(ply.ply, position, None, None, ply, text, ply.offset, True, None), (move, ply.san, position))
        )
    _tree(run).take_list(begin, steps)
