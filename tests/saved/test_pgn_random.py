"""Games that python-chess makes up, with variations, comments, marks and null moves: we read what it wrote."""

import random
from collections import Counter
from collections.abc import Iterator

import chess.pgn
import chess.variant
import pytest

from recorder.model import EventKind
from recorder.model.boards import boards_by_ply
from recorder.reading import make_pipeline
from recorder.rules.fen import board_fen
from recorder.sources import SourceKind
from tests.saved.test_pgn_round_trip import facts, written
from tests.support.effort import long_after

WORDS = (
    "good", "better is", "(not that)", "1. e4?", "5%", "a | b", "[#]", "0-1 was agreed", "Müller", "--",
    "Variation: e4", "[%csl Ge4]", "[%eval 0.3]", "[%clk 0:01:02]", "[%clk 0:01:03.5] [%emt 0:00:02]",
)  # fmt: skip
VARIANTS = (
    chess.Board, chess.variant.CrazyhouseBoard, chess.variant.AtomicBoard, chess.variant.AntichessBoard,
    chess.variant.HordeBoard, chess.variant.RacingKingsBoard, chess.variant.ThreeCheckBoard,
)  # fmt: skip


def grow(node: chess.pgn.GameNode, board: chess.Board, dice: random.Random, length: int, depth: int = 0) -> None:
    """Add moves to a node, each perhaps with a comment, a mark and variations."""
    for _ in range(length):
        moves = list(board.legal_moves)
        if not moves:
            return
        passes = type(board) is chess.Board and not board.is_check() and dice.random() < 0.05
        move, other = chess.Move.null() if passes else dice.choice(moves), dice.choice(moves)
        child = node.add_variation(move)
        child.comment = said(dice, 0.25)
        child.nags.update([dice.choice((1, 2, 5, 10, 146))] if dice.random() < 0.2 else [])
        if depth < 3 and other != move and dice.random() < 0.15:
            beside = node.add_variation(other, comment=said(dice, 0.3), starting_comment=said(dice, 0.4))
            replaced = board.copy()
            replaced.push(other)
            grow(beside, replaced, dice, dice.randint(0, 5), depth + 1)
        board.push(move)
        node = child


def said(dice: random.Random, chance: float) -> str:
    return " ".join(dice.choices(WORDS, k=dice.randint(1, 3))) if dice.random() < chance else ""


def every(node: chess.pgn.GameNode) -> Iterator[chess.pgn.GameNode]:
    yield node
    for child in node.variations:
        yield from every(child)


@pytest.mark.parametrize("seed", long_after(12, range(200)))
def test_we_read_what_python_chess_made_up(seed: int) -> None:
    dice = random.Random(seed)
    board = VARIANTS[seed % len(VARIANTS)]()
    for _ in range(dice.choice((0, 0, dice.randint(1, 20)))):
        board.push(dice.choice(list(board.legal_moves)))
    board.clear_stack()
    peer = chess.pgn.Game({"White": "A", "Black": "B", "Result": "1-0"})
    peer.setup(board)
    peer.comment = said(dice, 0.3)
    grow(peer, board.copy(), dice, 30)
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = pipeline.receive(str(peer).encode()) + pipeline.finish()
    assert not pipeline.report.anomalies
    nodes = list(peer.mainline())
    assert [ply.uci or "0000" for ply in game.plies] == [node.move.uci() for node in nodes]
    boards = boards_by_ply(game)
    for node in nodes:
        assert board_fen(boards[node.ply()]) == node.board().board_fen().replace("~", "")
    lines = sum(max(len(node.variations) - 1, 0) for node in every(peer))
    assert len(game.observations[0].lines) - 1 == lines
    events = [event for event in game.events if event.kind is EventKind.CHAT]
    nags = Counter(nag for node in every(peer) if isinstance(node, chess.pgn.ChildNode) for nag in node.nags)
    assert Counter(int(event.text[1:]) for event in events if event.detail == "nag") == nags
    comments = [node.comment + " " + getattr(node, "starting_comment", "") for node in every(peer)]
    words = Counter(word for text in comments for word in text.split() if "[%" not in word and "]" not in word[1:-1])
    kept = Counter(word for event in events for word in event.text.split())
    assert {word for word in words - kept if not word.endswith("]")} == set()
    text, lost = written([game], clock=frozenset({"clk", "emt", "lag"}))
    again = make_pipeline(SourceKind.PGN)
    (reread,) = again.receive(text) + again.finish()
    assert (facts(reread), lost) == (facts(game), {})
