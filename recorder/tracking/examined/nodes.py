"""What a tree of an examined game is made of: boards as they were shown, and how they hang together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from recorder.model import Origin, Ply, Proof, StartFacts
from recorder.rules.bridge import bridge
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step

#: The command that led to a board, if a line before it reported one.
FORWARD, BACK, REVERT, TYPED = "forward", "backward", "revert", ""
#: Ways to show a board above the one that is shown.
UPWARDS = (BACK, REVERT)

_PROVED = (Proof.UNPROVED, Proof.LIST, Proof.FULL)


class ShownBoard(NamedTuple):
    """``row`` is the move that led to it, not proved; ``whole``: no field was cut off."""

    ply: int
    position: Position
    lan: str | None
    pretty: str | None
    row: Ply | None
    fen: str
    offset: int
    whole: bool
    start: StartFacts | None


@dataclass(slots=True, eq=False)
class Node:
    """A board of the tree.

    Attributes:
        number: its place in ``ExaminedTree.nodes``: the order in which boards were first known.
        tree: number of the root that it hangs on, itself included.
        stored: it was reached by going through a game that the server keeps, not by a typed move.
        leap: a node further up, so that few steps lead far; None: there is none.
        depth: how deep it hung then.
        joined: whether ``row`` leads from the parent to here; False: plies between them were not shown, or no parent.
        chosen: the child that a commit made the main one.
        setup: the position was set up.
        typed: a line reported that a user typed this move; clocks printed with it are not a game's.
        names: White's and Black's as they were when it was last shown.
        shown: when that was.
        result: reported while it was shown: result and words.
    """

    number: int
    tree: int
    seen: ShownBoard
    stored: bool
    position: Position = field(init=False)
    row: Ply | None = field(init=False)
    parent: Node | None = None
    leap: Node | None = None
    depth: int = 0
    joined: bool = False
    children: list[Node] = field(default_factory=list)
    chosen: Node | None = None
    setup: bool = False
    typed: bool = False
    names: tuple[str, str] | None = None
    shown: int = -1
    result: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        self.position, self.row = self.seen.position, self.seen.row

    @property
    def ply(self) -> int:
        return self.seen.ply

    def up_to(self, ply: int) -> Node | None:
        """The first node of the way up, itself included, with so many half-moves or fewer; None: all have more."""
        return self if self.ply <= ply else self.last_beyond(ply).parent

    def last_beyond(self, ply: int) -> Node:
        """The last node of the way up that has more than so many half-moves, as it has itself."""
        node = self
        while True:
            if node.leap is not None and node.leap.ply > ply:
                node = node.leap
            elif node.parent is not None and node.parent.ply > ply:
                node = node.parent
            else:
                return node

    def is_under(self, other: Node) -> bool:
        """Whether it is the other node, or hangs somewhere below it."""
        return self.up_to(other.ply) is other

    def set_leap(self) -> None:
        """Reckon ``leap`` from the parent's: of the ways up from all nodes, most leaps are long."""
        above = self.parent
        if above is None:
            self.leap, self.depth = None, 0
            return
        # A leap leads over two equal leaps of the parent, as in a skew-binary list: each way up takes few steps, though
        # every node has one leap only.
        far = above.leap
        self.depth = above.depth + 1
        self.leap = above
        if far is not None and far.leap is not None and above.depth - far.depth == far.depth - far.leap.depth:
            self.leap = far.leap

    def branches(self) -> list[Node]:
        """Its children, the main one first: the committed one, else stored moves, else the first one shown."""
        return sorted(self.children, key=lambda node: (node is not self.chosen, not node.stored, node.number))


class NodeTable:
    """Nodes by tree, ply and board. All above ``committed`` is the main line, and nothing beside it is stored."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.roots: dict[int, Node] = {}
        self.by_board: dict[tuple[int, str], list[Node]] = {}
        self.in_tree: dict[tuple[int, int, str], list[Node]] = {}
        self.by_ply: dict[tuple[int, int], list[Node]] = {}
        self.committed: Node | None = None
        self._moved_since = 0

    def add(self, shown: ShownBoard, stored: bool, tree: int) -> Node:
        """It hangs on nothing yet."""
        node = Node(len(self.nodes), tree, shown, stored)
        self.nodes.append(node)
        self.by_board.setdefault((shown.ply, shown.position.board), []).append(node)
        self.in_tree.setdefault((tree, shown.ply, shown.position.board), []).append(node)
        self.by_ply.setdefault((tree, shown.ply), []).append(node)
        return node

    def remove_newest(self) -> None:
        node = self.nodes.pop()
        if node.parent is not None:
            node.parent.children.remove(node)
        else:
            del self.roots[node.tree]
        ply, board = node.ply, node.seen.position.board
        for kept in (self.by_board[ply, board], self.in_tree[node.tree, ply, board], self.by_ply[node.tree, ply]):
            kept.pop()

    def children(self, node: Node, shown: ShownBoard) -> list[Node]:
        found = self.in_tree.get((node.tree, shown.ply, shown.position.board), ())
        return [child for child in found if child.parent is node]

    def hang(self, node: Node, parent: Node) -> None:
        """Hang a node below another, with plies between that were not shown."""
        if node.parent is not None:
            node.parent.children.remove(node)
            if node.parent.chosen is node:
                node.parent.chosen = None
        elif self.roots[node.tree] is node:
            self.roots[node.tree] = parent
        if node.children or (node.stored and parent.children):
            self.committed = None
        node.parent, node.joined = parent, False
        parent.children.append(node)
        node.set_leap()
        if node.children:
            self._reset_leaps()

    def _reset_leaps(self) -> None:
        """Now and then recompute all leaps: those below a node that moved are short."""
        self._moved_since += 1
        if self._moved_since**2 > len(self.nodes):
            self._moved_since = 0
            for node in sorted(self.nodes, key=lambda node: node.ply):
                node.set_leap()

    def join(self, node: Node, parent: Node, played: Step, proof: Proof = Proof.FULL) -> None:
        self.hang(node, parent)
        move, san, after = played
        node.joined, node.position = True, after
        if node.row is not None:
            proof = min(proof, proof_of(node.seen), key=_PROVED.index)
            flags = after.castling | (after.push_col + 1) << 4
            node.row = node.row._replace(move=move, san=san, flags=flags, proof_code=int(proof))


def could_follow(before: Position, after: str, plies: int) -> bool:
    """No piece appeared without holdings, no pawn went back, no more squares changed than so many plies can change."""
    was, rules = before.board, before.rules
    if rules in (Rules.BOARDS, Rules.FRAMES):
        return True
    if before.holdings is None and rules not in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
        back = any(after[square] == "pP"[square > 17] != was[square] for square in (*range(9, 17), *range(54, 62)))
        if back or _pieces(after) > _pieces(was):
            return False
    # Two squares a ply, three en passant, four castling; one explosion may clear many.
    return rules is Rules.ATOMIC or sum(map(str.__ne__, was, after)) <= 3 * plies + 2


def _pieces(board: str) -> int:
    return len(board) - board.count("-") - board.count(" ")


def find_ways(before: Position, shown: ShownBoard, plies: int) -> list[list[Step]]:
    """As ``bridge``; none where a move was not printed."""
    if shown.lan is None or shown.pretty is None or not shown.whole:
        return []
    return bridge(before, shown.position.board, shown.lan, shown.pretty, plies - 1)


def proof_of(shown: ShownBoard) -> Proof:
    """What a board that joins proves; one that was reckoned from a datagram's move is no board that was shown."""
    if not shown.whole:
        return Proof.UNPROVED
    return Proof.LIST if shown.row is not None and shown.row.origin_code == Origin.DATAGRAM else Proof.FULL
