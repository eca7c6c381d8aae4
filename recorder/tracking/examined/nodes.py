"""What a tree of an examined game is made of: boards as they were shown, and how they hang together."""

from __future__ import annotations

from typing import NamedTuple

from recorder.model import Ply, StartFacts
from recorder.rules.prove import Position, Rules

__all__ = ["BACK", "FORWARD", "REVERT", "TYPED", "UPWARDS", "Node", "ShownBoard", "could_follow"]

#: The command that led to a board, if a line before it reported one.
FORWARD, BACK, REVERT, TYPED = "forward", "backward", "revert", ""
#: Ways to show a board above the one that is shown.
UPWARDS = (BACK, REVERT)


class ShownBoard(NamedTuple):
    """A board as it was shown.

    Attributes:
        position: from the board alone. lan, pretty: the move that led to it; None: none was printed.
        row: that move as a ply, not proved; None without a move. fen: of the position. whole: no field was cut off.
        start: what an observation that begins here keeps of it.
    """

    ply: int
    position: Position
    lan: str | None
    pretty: str | None
    row: Ply | None
    fen: str
    offset: int
    whole: bool
    start: StartFacts | None


class Node:
    """A board of the tree.

    Attributes:
        number: its place in ``ExaminedTree.nodes``: the order in which boards were first known.
        tree: number of the root that it hangs on, itself included.
        leap: a node further up, so that few steps lead far; None: there is none. depth: how deep it hung then.
        joined: whether ``row`` leads from the parent to here; False: plies between them were not shown, or no parent.
        stored: it was reached by going through a game that the server keeps, not by a typed move.
        chosen: the child that a commit made the main one. setup: the position was set up.
        typed: a line reported that a user typed this move; clocks printed with it are not a game's.
        names: White's and Black's as they were when it was last shown. shown: when that was.
        result: reported while it was shown: result and words.
    """

    __slots__ = (
        "children",
        "chosen",
        "depth",
        "joined",
        "leap",
        "names",
        "number",
        "parent",
        "position",
        "result",
        "row",
        "seen",
        "setup",
        "shown",
        "stored",
        "tree",
        "typed",
    )

    def __init__(self, number: int, tree: int, seen: ShownBoard, stored: bool) -> None:
        self.number = number
        self.tree = tree
        self.seen = seen
        self.position = seen.position
        self.row = seen.row
        self.parent: Node | None = None
        self.leap: Node | None = None
        self.depth = 0
        self.joined = False
        self.children: list[Node] = []
        self.stored = stored
        self.chosen: Node | None = None
        self.setup = False
        self.typed = False
        self.names: tuple[str, str] | None = None
        self.shown = -1
        self.result: tuple[str, str] | None = None

    @property
    def ply(self) -> int:
        """Half-moves played to reach it."""
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
        far = above.leap
        self.depth = above.depth + 1
        self.leap = above
        if far is not None and far.leap is not None and above.depth - far.depth == far.depth - far.leap.depth:
            self.leap = far.leap

    def branches(self) -> list[Node]:
        """Its children, the main one first: the committed one, else stored moves, else the first one shown."""
        return sorted(self.children, key=lambda node: (node is not self.chosen, not node.stored, node.number))


def could_follow(before: Position, after: Position, plies: int) -> bool:
    """Whether a board can be a later one.

    No piece appeared without holdings, no pawn went back, and no more squares changed than so many plies can change.
    """
    was, now = before.board, after.board
    if before.rules in (Rules.BOARDS, Rules.FRAMES, Rules.ATOMIC):
        return True  # one capture may clear many squares
    if before.hands is None and before.rules not in (Rules.CRAZYHOUSE, Rules.BUGHOUSE):
        if _pieces(now) > _pieces(was):
            return False
        at_home = (*zip(was[54:62], now[54:62], "P" * 8, strict=True), *zip(was[9:17], now[9:17], "p" * 8, strict=True))
        if any(new == pawn != old for old, new, pawn in at_home):
            return False
    # Two squares a ply, three en passant, four castling.
    return sum(old != new for old, new in zip(was, now, strict=True)) <= 3 * plies + 2


def _pieces(board: str) -> int:
    return len(board) - board.count("-") - board.count(" ")
