"""What a tree of an examined game is made of: boards as they were shown, and how they hang together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from recorder.model import Ply, StartFacts
from recorder.tracking.position import Position, Rules

__all__ = ["BACK", "FORWARD", "REVERT", "TYPED", "UPWARDS", "Node", "Seen", "could_follow"]

#: How a board came to be shown, as far as a line told it before.
FORWARD, BACK, REVERT, TYPED = "forward", "backward", "revert", ""
#: Ways to show a board above the one that is shown.
UPWARDS = (BACK, REVERT)


class Seen(NamedTuple):
    """A board as it was shown.

    Attributes:
        position: as the board alone tells it. lan, pretty: the move that led to it; None: none was printed.
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
        joined: whether ``row`` leads from the parent to here; False: plies between them were not shown, or no parent.
        stored: it was reached by going through a game that the server keeps, not by a move that somebody made.
        chosen: the child that a commit made the main one. setup: the position was set up.
        typed: a line told that somebody made this move here; whatever clocks are printed with it are no game's.
        names: White's and Black's as they were when it was last shown. shown: when that was.
        result: told while it was shown: result and words.
    """

    __slots__ = (
        "children",
        "chosen",
        "joined",
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
        "typed",
    )

    def __init__(self, number: int, seen: Seen, stored: bool) -> None:
        self.number = number
        self.seen = seen
        self.position = seen.position
        self.row = seen.row
        self.parent: Node | None = None
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

    def up(self) -> Iterator[Node]:
        """The node and all above it."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.parent

    @property
    def root(self) -> Node:
        """The topmost node above it, or itself."""
        node = self
        while node.parent is not None:
            node = node.parent
        return node

    def branches(self) -> list[Node]:
        """Its children, the main one first: the committed one, else stored moves, else the first one shown."""
        return sorted(self.children, key=lambda node: (node is not self.chosen, not node.stored, node.number))


def could_follow(before: Position, after: Position, plies: int) -> bool:
    """Whether a board can be a later one: no piece came without a hand, no pawn went back, no more squares changed than
    so many plies can change.
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
