"""An examined game as a tree: what was shown, where it hangs, and what lies between.

The problem. An examiner may go forward, back, into a variation, to the end, or set up a position, and the server sends
each board as a frame of the same form (relation 2 or -2). A frame shows the last move, but not the board before it,
and the line that says how it was reached may be missing, because it comes on the examiner's connection in other words
than on an observer's, or was lost::

    Game 1: Kramnik goes forward 1 move.
    <12> rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B … 2 … P/e2-e4 (0:00) e4 …
    Game 1: Kramnik backs up 1 move.
    <12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W … 2 … none (0:00) none …
    Game 1: Kramnik moves: d4
    <12> rnbqkbnr pppppppp -------- -------- ---P---- -------- PPP-PPPP RNBQKBNR B … 2 … P/d2-d4 (0:00) d4 …

These three boards are a root with two children, ``e4`` and ``d4``. Which of them is the game, and which the variation,
is the other question: ``forward`` walks through the game that the server keeps (``stored``), a typed move need not.

Every board that was shown is a node. A node is *joined* when its move leads from its parent to its board by the rules;
otherwise there are plies between the two that were not shown, and later boards may fill them. A node without a parent
is a root: where the examination began, or a position that was set up.

Where a board belongs (``_find``), in this order:

1. the board that is shown now, again;
2. one ply more: a child of the current node that has this board, or a new child, if the move proves it;
3. a node with this board: above the current one, below it, elsewhere in its tree, in another tree. Going back is
   likelier than reaching the same position twice, so the way up comes first;
4. a child of a known node one ply before it on the current line, above or below;
5. somewhere above or below, with plies between that were not shown (``_between``): only if a line said so, or the
   board can follow at all (no piece appeared, no pawn went back: ``could_follow``);
6. nowhere: a new root, or, without a move, a position that is being set up.

A position that is being set up (``bsetup``) changes with each piece that is put on the board. It is only ``placed``,
and becomes a root when a move or a line shows that the set-up has ended.

What must never happen: a board extends a played game; a board that was shown is lost; a variation is taken for the
game. A board may hang at the wrong place if lines are missing, so nothing between two boards is inferred here:
``lines.py`` fills a gap only if one sequence of legal moves leads across it. Nothing here depends on how a board was
transmitted: frames and datagrams are both translated into ``ShownBoard``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from recorder.model import Origin, Ply, Proof, StartFacts
from recorder.rules.bridge import bridge
from recorder.rules.position import Position, Rules
from recorder.rules.prove import Step, advance

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
        nodes = self.in_tree.get((node.tree, shown.ply, shown.position.board), ())
        return [child for child in nodes if child.parent is node]

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


class ExaminedTree:
    """``placed`` is a position being set up, not confirmed yet; ``rules_stated``: no other rules prove a move."""

    def __init__(self) -> None:
        self._table = NodeTable()
        self.nodes = self._table.nodes
        self.current: Node | None = None
        self.placed: ShownBoard | None = None
        self.setting_up = False
        self.rules_stated = False

    @property
    def roots(self) -> list[Node]:
        return sorted(self._table.roots.values(), key=lambda node: node.number)

    # -- what feeds it -----------------------------------------------------------------------------------------

    def begin(self, shown: ShownBoard, *, setup: bool = False) -> Node:
        node = self._table.add(shown, True, len(self.nodes))
        self._table.roots[node.tree] = node
        node.setup = setup
        self.current, self.placed = node, None
        return node

    def place(self, shown: ShownBoard) -> None:
        self.placed = shown

    def confirm(self) -> Node | None:
        """The position that was set up holds from here on: a root, or None if there is none or nothing was changed."""
        self.setting_up = False
        shown, self.placed = self.placed, None
        if shown is None:
            return None
        if self.current is not None and self._same(self.current, shown):
            return self.current
        return self.begin(shown, setup=True)

    @property
    def apart(self) -> ShownBoard | None:
        placed, current = self.placed, self.current
        return None if placed is None or current is None or self._same(current, placed) else placed

    def holds(self, shown: ShownBoard, navigation: str) -> bool:
        """Whether a board confirms the position that was set up."""
        if self.setting_up or self.placed is None:
            return False
        return (navigation != TYPED and self._is_placed(shown)) or self._follows_placed(shown)

    def returns(self, shown: ShownBoard, navigation: str) -> bool:
        """Whether a board without a move is shown again, and no line says that anybody went back to it."""
        if shown.lan is not None or navigation or self.placed is not None or self.current is None:
            return False
        return not self._same(self.current, shown) and self._known(shown, navigation) is not None

    def is_unrelated(self, node: Node, navigation: str) -> bool:
        """Whether neither a move nor a line leads from the other boards to a node that has just been shown."""
        if node is not self.nodes[-1] or node.shown >= 0 or node.children:
            return False
        return len(self.nodes) > 1 if node.parent is None else not (node.joined or navigation)

    def remove_newest(self) -> None:
        self._table.remove_newest()

    def show(self, shown: ShownBoard, navigation: str = TYPED, *, renamed: bool = False) -> Node | None:
        """None: the board can only be one being set up (``placed``). ``renamed``: it has other players than before."""
        if self.setting_up:
            self.place(shown)
            return None
        if self.placed is not None:
            if navigation and self._is_placed(shown):
                return self.confirm()
            if self._follows_placed(shown) or (navigation and not self.nodes):
                self.confirm()
            elif shown.lan is None and self._known(shown, navigation) is None and not navigation:
                self.place(shown)
                return None
        node = self._find(shown, navigation, renamed)
        if node is None and shown.lan is None and not navigation and self.nodes:
            self.place(shown)
            return None
        if node is None:
            return self.begin(shown)
        self.current, self.placed = node, None
        return node

    def commit(self) -> None:
        """The line being shown becomes the main line."""
        # Up from the board being shown, to where the last commit has done the same already.
        node, last = self.current, self._table.committed
        while node is not None and not (last is not None and last.is_under(node)):
            if node.parent is not None:
                for other in node.parent.children:
                    other.stored = False
                node.parent.chosen = node
            node.stored = True
            node = node.parent
        self._table.committed = self.current

    def learn(self, position: Position) -> None:
        """More is known of the position being shown: what is in hand."""
        if self.current is not None and self.placed is None and self.current.position.board == position.board:
            self.current.position = position

    # -- lists -------------------------------------------------------------------------------------------------

    def agrees(self, listed: dict[int, Position]) -> bool:
        """Whether the moves of a list can be the line being shown: wherever both know a board, it is the same."""
        if self.current is None or self.placed is not None:
            return False
        on_line = ((self.current.up_to(ply), ply) for ply in listed)
        compared = [node for node, ply in on_line if node is not None and node.ply == ply]
        return bool(compared) and all(node.position.board == listed[node.ply].board for node in compared)

    def take_list(self, start: ShownBoard, steps: list[tuple[ShownBoard, Step]]) -> None:
        """Read the moves from the start to the board being shown, or beyond, as a list prints them."""
        assert self.current is not None
        tree = self.current.tree
        root = self._table.roots[tree]
        if root.ply == start.ply and root.position.board == start.position.board:
            node = root
        elif root.ply > start.ply:
            node = self._table.add(start, True, tree)
            self._table.hang(root, node)
        else:
            return
        # Down the list: its boards are joined to those known; a known board behind a gap is hung into its place.
        for shown, played in steps:
            below = next((child for child in self._table.children(node, shown) if self._is(child, shown, played)), None)
            if below is None:
                below = self._table.add(shown, self.current.stored, tree)
                for child in node.children:
                    if not child.joined and child.ply > shown.ply and self.current.is_under(child):
                        self._table.hang(child, below)
                        break
                self._table.join(below, node, played, Proof.LIST)
            elif not below.joined and not self._prove_under(below, node):
                self._table.join(below, node, played, Proof.LIST)
            node = below

    @staticmethod
    def _is(child: Node, shown: ShownBoard, played: Step) -> bool:
        if child.ply != shown.ply or child.position.board != shown.position.board:
            return False
        return not child.joined or child.row is None or child.row.move == played[0]

    # -- where a board belongs ---------------------------------------------------------------------------------

    def _find(self, shown: ShownBoard, navigation: str, renamed: bool) -> Node | None:
        """None: no place in the tree is certain."""
        current = self.current
        if current is None:
            return None
        if self._same(current, shown):
            self._better(current, shown, navigation)
            return current
        if navigation not in UPWARDS and shown.ply == current.ply + 1 and shown.lan is not None:
            child = next((node for node in self._table.children(current, shown) if self._same(node, shown)), None)
            if child is None:
                child = self._child(current, shown, navigation)
            if child is not None:
                if not child.joined:
                    self._prove_under(child, current)
                self._better(child, shown, navigation)
                return child
        node_shown = self._known(shown, navigation)
        if node_shown is not None:
            self._better(node_shown, shown, navigation)
            return node_shown
        if shown.lan is not None:
            for before in self._befores(shown, navigation):
                child = self._child(before, shown, navigation)
                if child is not None:
                    return child
        if not navigation and shown.ply < current.ply:
            # A log may lack the lines about going back. A board without a move may be the start of another game.
            under = current.last_beyond(shown.ply)
            steps_back = under.ply == shown.ply + 1 and self._prove(shown.position, under.seen) is not None
            return self._between(shown, BACK) if steps_back or not (renamed or shown.lan is None) else None
        if navigation or (shown.lan is not None and shown.ply > current.ply):
            return self._between(shown, navigation)
        return None

    @staticmethod
    def _same(node: Node, shown: ShownBoard) -> bool:
        """Whether it is the node's board. After a set-up the same board is shown without the move that led to it."""
        if node.ply != shown.ply or node.position.board != shown.position.board:
            return False
        listed = node.row is not None and node.row.origin_code == Origin.MOVELIST
        return listed or node.seen.lan == shown.lan

    def _known(self, shown: ShownBoard, navigation: str) -> Node | None:
        """A node with this board: above the current one, below it, else elsewhere in its tree, else in another."""
        current = self.current
        if current is None:
            return None
        # The way up first: going back is likelier than reaching a position of another variation.
        above = current.up_to(shown.ply)
        if above is not None and self._same(above, shown):
            return above
        board = (shown.ply, shown.position.board)
        nodes = [node for node in self._table.in_tree.get((current.tree, *board), ()) if self._same(node, shown)]
        if not nodes:
            nodes = [node for node in self._table.by_board.get(board, ()) if self._same(node, shown)]
        downwards = navigation not in UPWARDS
        return min(nodes, key=lambda node: (not (downwards and node.is_under(current)), -node.shown), default=None)

    def _befores(self, shown: ShownBoard, navigation: str) -> list[Node]:
        """Nodes one ply before the board, on the current one's line: those above it, or below it."""
        current = self.current
        assert current is not None
        if shown.ply <= current.ply:
            above = current.up_to(shown.ply - 1)
            return [] if above is None or above.ply != shown.ply - 1 else [above]
        if navigation in UPWARDS:
            return []
        return [node for node in self._table.by_ply.get((current.tree, shown.ply - 1), ()) if node.is_under(current)]

    def _child(self, parent: Node, shown: ShownBoard, navigation: str) -> Node | None:
        played = self._prove(parent.position, shown)
        if played is None:
            return None
        current = self.current
        for other in self._table.in_tree.get((parent.tree, shown.ply, shown.position.board), ()):
            # It was shown before, behind plies that were not.
            above = other.parent
            if not other.joined and above is not None and parent.is_under(above) and self._same(other, shown):
                self._table.join(other, parent, played)
                return other
        node = self._table.add(shown, self._is_stored(navigation), parent.tree)
        # Boards that hang on the parent behind a gap may in truth hang on the new node, which is one ply nearer.
        for child in list(parent.children):
            # The unseen plies up to that board continue from here, if it is on the same line.
            if not child.joined and child.ply > shown.ply:
                on_line = current is not None and current.is_under(child)
                same = navigation in UPWARDS if on_line else navigation == FORWARD and child.stored
                if not navigation and current is not None:
                    jumped = shown.ply > current.ply + 1
                    ways = find_ways(played[2], child.seen, child.ply - shown.ply) if jumped else []
                    same = shown.ply < current.ply if on_line else len(ways) == 1
                if same and could_follow(played[2], child.position.board, child.ply - shown.ply):
                    self._table.hang(child, node)
        self._table.join(node, parent, played)
        for child in list(node.children):
            if child.ply == node.ply + 1:
                self._prove_under(child, node)
        return node

    def _between(self, shown: ShownBoard, navigation: str) -> Node | None:
        """A node beyond plies that were not shown; None: it is not reachable by a known number of plies."""
        current = self.current
        assert current is not None
        over: Node | None
        under: Node | None
        # The board is hung between ``over``, the last known one above it, and ``under``, the first known one below it;
        # plies that were not shown lie on both sides. ``under`` must not be joined: nothing fits into a proved move.
        if shown.ply < current.ply and navigation:
            under = current.last_beyond(shown.ply)
            over = under.parent
            if over is not None and over.ply == shown.ply:
                return None
        elif shown.ply > current.ply and shown.lan is not None and navigation not in UPWARDS:
            over, under = current, None
            # ``forward`` follows the game that the server keeps, so its known boards are passed, as long as it is one.
            while over.ply < shown.ply and navigation:
                line = [node for node in over.branches() if node.stored]
                if len(line) != 1:
                    break
                if line[0].ply > shown.ply:
                    under = line[0]
                    break
                over = line[0]
        else:
            return None
        if over is not None and not could_follow(over.position, shown.position.board, shown.ply - over.ply):
            return None
        if under is not None and (
            under.joined or not could_follow(shown.position, under.position.board, under.ply - shown.ply)
        ):
            return None
        if over is not None and shown.lan is None:
            return None
        node = self._table.add(shown, self._is_stored(navigation), current.tree)
        if over is not None:
            self._table.hang(node, over)
        if under is not None:
            self._table.hang(under, node)
            if under.ply == node.ply + 1:
                self._prove_under(under, node)
        return node

    def _is_stored(self, navigation: str) -> bool:
        current = self.current
        return navigation in (FORWARD, REVERT) or (navigation == BACK and current is not None and current.stored)

    # -- facts of a node ---------------------------------------------------------------------------------------

    def _prove_under(self, node: Node, parent: Node) -> bool:
        played = self._prove(parent.position, node.seen) if node.ply == parent.ply + 1 else None
        if played is None:
            return False
        self._table.join(node, parent, played)
        return True

    def _better(self, node: Node, shown: ShownBoard, navigation: str) -> None:
        """Update a board that is shown again: a frame has more facts than a list or a typed move."""
        # Some servers go forward through what was typed, too: such a line does not begin at a stored move.
        row, stored = (
            node.row,
            navigation == FORWARD and not node.stored and node.parent is not None and node.parent.stored,
        )
        if row is None or shown.row is None or not node.joined:
            self._store(node, stored)
            return
        if not stored and row.origin_code != Origin.MOVELIST:
            return
        played = None if node.parent is None else self._prove(node.parent.position, shown)
        if played is not None and played[0] == row.move:
            node.seen = shown
            proof = proof_of(shown)
            node.row = shown.row._replace(move=row.move, san=row.san, flags=row.flags, proof_code=int(proof))
            self._store(node, stored)

    def _store(self, node: Node, stored: bool) -> None:
        if stored and not node.stored:
            node.stored = True
            self._table.committed = None

    def _is_placed(self, shown: ShownBoard) -> bool:
        placed = self.placed
        return (
            placed is not None
            and (placed.ply, placed.lan) == (shown.ply, shown.lan)
            and (placed.position.board == shown.position.board)
        )

    def _follows_placed(self, shown: ShownBoard) -> bool:
        placed = self.placed
        if placed is None or shown.lan is None or shown.ply != placed.ply + 1:
            return False
        return self._prove(placed.position, shown) is not None

    def _prove(self, before: Position, shown: ShownBoard) -> Step | None:
        """By the rules, else by the boards if no rules were stated."""
        if shown.lan is None:
            return None
        pretty = shown.pretty if shown.whole else None
        played = advance(before, shown.lan, pretty, shown.position.board)
        if isinstance(played, str) and not self.rules_stated and before.rules is not Rules.BOARDS:
            played = advance(before._replace(rules=Rules.BOARDS), shown.lan, pretty, shown.position.board)
        return None if isinstance(played, str) else played
