"""A tree as the model keeps it: an observation a root, its lines with their parents, and what was shown in its order.

Nothing is changed here: a game in progress is written again at every look.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Final

from recorder.dialects.results import read_reason
from recorder.model import (
    SHOWN,
    Anchor,
    AnchorReason,
    EventKind,
    HoldingsChange,
    LineKind,
    Observation,
    Origin,
    Ply,
    PlyLine,
    Proof,
    shows_board,
)
from recorder.rules.variants import STANDARD_BOARD
from recorder.tracking.examined.tree import Node, find_ways
from recorder.tracking.tracked_game import TrackedGame

#: Detail of ``EventKind.EXAMINE``: a position was being set up.
PLACED: Final = "set-up"


def with_lines(run: TrackedGame) -> TrackedGame:
    tree, raw = run.tree, run.observations[0]
    assert tree is not None
    roots = tree.roots
    if tree.placed is not None and not (roots and tree.setting_up):
        # Nothing followed it: it is the last position examined.
        last = Node(len(tree.nodes), len(tree.nodes), tree.placed, stored=True)
        last.setup = True
        roots = [*roots, last]
    copy = run.copy()
    copy.observations = []
    places: dict[int, tuple[int, int]] = {}  # node's number → observation, line
    for index, root in enumerate(roots):
        copy.observations.append(_observation(run, raw, root, places, index))
    begun = {root.seen.offset: index for index, root in enumerate(roots) if root.setup}
    _share_out(raw, copy.observations, places, begun)
    main = main_observation(copy.observations)
    root = roots[main]
    nodes = [node for node in tree.nodes if node.tree == root.tree and node.names is not None]
    if nodes:
        copy.white, copy.black = max(nodes, key=lambda node: node.shown).names or (run.white, run.black)
    copy.setup = root.setup and not _is_normal_start(root)
    end = _end_of_main(root)
    if end.result is not None:
        copy.result, copy.reason = end.result
        meaning = read_reason(copy.reason, copy.white, copy.black, copy.result)
        copy.reason_key, copy.termination = meaning.key, meaning.termination
    return copy


def _is_normal_start(root: Node) -> bool:
    return root.ply == 0 and root.position.board == STANDARD_BOARD


def main_observation(observations: list[Observation]) -> int:
    """The first one with plies, whose main line is the game's, else the first."""
    with_plies = [
        index for index, seen in enumerate(observations) if seen.lines and any(line.rows for line in seen.lines)
    ]
    return with_plies[0] if with_plies else 0


def _observation(
    run: TrackedGame, raw: Observation, root: Node, places: dict[int, tuple[int, int]], index: int
) -> Observation:
    lines: list[PlyLine] = []
    anchors: list[Anchor] = []
    if not _is_normal_start(root):
        anchors.append(Anchor(0, root.ply, root.seen.fen, AnchorReason.START, root.seen.offset))
    # Breadth first: each entry is the first node of a line, the line that it leaves, and the node where it leaves it.
    # The main branch of a node stays in its line; its other branches wait for lines of their own.
    waiting: deque[tuple[Node, int | None, Node | None, bool]] = deque([(root, None, None, False)])
    while waiting:
        node, parent, above, alone = waiting.popleft()
        rows: list[Ply] = []
        number = len(lines)
        if above is None:
            lines.append(PlyLine(number, LineKind.MAIN, None, None, rows))
        else:
            lines.append(PlyLine(number, LineKind.VARIATION, parent, above.ply, rows))
            if node.joined and alone:
                # No known move is the alternative of this line.
                anchors.append(Anchor(number, above.ply, above.seen.fen, AnchorReason.VARIATION, above.seen.offset))
            _add(node, number, rows, anchors)
        while True:
            places[node.number] = index, number
            branches = node.branches()
            if not branches:
                break
            main = branches[0]
            alone = len(branches) > 1 and not main.joined and _bridged(main) is None
            waiting += [(other, number, node, alone) for other in branches[1:]]
            node = main
            _add(node, number, rows, anchors)
    names = root.names or (run.white, run.black)
    return replace(
        raw, white=names[0], black=names[1], start=root.seen.start, anchors=anchors, lines=lines, holdings=[], events=[]
    )


def _add(node: Node, number: int, rows: list[Ply], anchors: list[Anchor]) -> None:
    """Append a node's ply to a line; plies before it that were not shown are inferred if there is one way only."""
    row = node.row
    if row is None:
        return
    if node.typed and not node.stored:
        row = row._replace(white_clock_ms=None, black_clock_ms=None, elapsed_ms=None, lag_ms=None, precision_code=None)
    if not node.joined:
        steps = _bridged(node)
        if steps is None:
            anchors.append(Anchor(number, node.ply, node.seen.fen, AnchorReason.GAP, node.seen.offset))
        else:
            rows += steps
            return
    rows.append(row)


def _bridged(node: Node) -> list[Ply] | None:
    """Inferred, without times; None: several sequences of legal moves lead there, none, or data are missing."""
    above, board = node.parent, node.seen
    if above is None or node.row is None:
        return None
    ways = find_ways(above.position, board, node.ply - above.ply)
    if len(ways) != 1:
        return None
    # Only one way: the unseen plies are inferred, and the move that was shown is proved by both boards.
    *inferred, (move, san, after) = ways[0]
    rows = [
        Ply(
            above.ply + number, step[0], step[1], None, None, None, None, None,
            step[2].castling | (step[2].push_col + 1) << 4, None, Proof.INFERRED, Origin.INFERRED, None, board.offset,
        )
        for number, step in enumerate(inferred, 1)
    ]  # fmt: skip
    flags = after.castling | (after.push_col + 1) << 4
    return [*rows, node.row._replace(move=move, san=san, flags=flags, proof_code=int(Proof.FULL))]


def _share_out(
    raw: Observation, observations: list[Observation], places: dict[int, tuple[int, int]], begun: dict[int, int]
) -> None:
    """What happened while a board of it was shown. ``begun``: offset of a set-up position → observation."""
    # One observation was recorded, in which boards of several roots were shown by turns. What happened goes to the root
    # whose board was shown then, holdings between events in the order of the log.
    index = 0
    changes: deque[HoldingsChange] = deque(raw.holdings)
    bounds: list[list[tuple[int, int | None]]] = [[] for _ in observations]
    for event in raw.events:
        while changes and (changes[0].offset, changes[0].seq) < (event.offset, event.seq):
            _take_holdings(observations[index], changes.popleft(), bounds[index])
        if shows_board(event):
            assert event.value is not None
            index, line = places[event.value]
            event = event._replace(value=line)
        elif event.kind is EventKind.EXAMINE and event.detail == PLACED and event.offset in begun:
            index = begun[event.offset]
            event = event._replace(detail=SHOWN, value=0)
        observations[index].events.append(event)
        bounds[index].append((event.offset, event.at_ms))
    for change in changes:
        _take_holdings(observations[index], change, bounds[index])
    for observation, bound in zip(observations, bounds, strict=True):
        offsets = [offset for offset, _ in bound]
        offsets += [anchor.offset for anchor in observation.anchors] + [
            row.offset for line in observation.lines for row in line.plies
        ]
        offsets += [observation.start.offset] if observation.start is not None else []
        if offsets:
            observation.offset, observation.end_offset = min(offsets), max(offsets)
        if bound:
            observation.started_at_ms, observation.ended_at_ms = bound[0][1], bound[-1][1]
        # most are in their place: a lecture's thousands are written again at every look while it is in progress
        observation.events[:] = [
            event if event.seq == seq else event._replace(seq=seq) for seq, event in enumerate(observation.events)
        ]


def _take_holdings(observation: Observation, change: HoldingsChange, bounds: list[tuple[int, int | None]]) -> None:
    observation.holdings.append(change)
    bounds.append((change.offset, change.at_ms))


def _end_of_main(root: Node) -> Node:
    node = root
    while node.children:
        node = node.branches()[0]
    return node
