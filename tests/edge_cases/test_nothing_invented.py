"""Whatever frames a log has lost, doubled or cut: a ply that comes out was played, and at that place."""

import random

import chess
import chess.variant
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.model import Proof
from tests.edge_cases.scripts import Table, log, read
from tests.support.effort import examples


def random_game(seed: int, crazyhouse: bool) -> tuple[Table, list[str], dict[int, set[str]]]:
    """A game of random legal moves with takebacks: its table, a frame for each board, the moves ever made by ply."""
    choice = random.Random(seed)
    table = Table(board=chess.variant.CrazyhouseBoard() if crazyhouse else chess.Board())
    frames: list[str] = [table.frame()]
    made: dict[int, set[str]] = {}
    for _ in range(choice.randrange(6, 24)):
        legal = sorted(table.board.legal_moves, key=chess.Move.uci)
        if not legal:
            break
        if table.board.ply() > 2 and choice.random() < 0.1:
            frames.append(table.undo(choice.randrange(1, 3)))
            continue
        # Captures and checks first: they make the hard cases.
        sharp = [move for move in legal if table.board.is_capture(move) or table.board.gives_check(move)]
        move = choice.choice(sharp if sharp and choice.random() < 0.5 else legal)
        frames.append(table.play(table.board.san(move)))
        made.setdefault(table.board.ply(), set()).add(move.uci())
    return table, frames, made


@settings(max_examples=examples(80), deadline=None)
@given(
    seed=st.integers(0, 10_000),
    crazyhouse=st.booleans(),
    fates=st.lists(st.sampled_from(["kept", "kept", "kept", "lost", "twice", "cut"]), min_size=24, max_size=24),
)
def test_every_ply_was_played_at_its_place(seed: int, crazyhouse: bool, fates: list[str]) -> None:
    table, frames, made = random_game(seed, crazyhouse)
    lines = [table.header("crazyhouse" if crazyhouse else "blitz")]
    for frame, fate in zip(frames, fates, strict=False):
        if fate == "cut":
            lines.append(frame[: frame.index("(")] + "fics% ")
        else:
            lines += {"kept": [frame], "twice": [frame, frame], "lost": []}[fate]
    found = read(log(*lines, table.over("Ann resigns", "0-1")))
    for game in found.games:
        seen = [ply.ply for ply in game.plies]
        assert seen == sorted(set(seen))
        for ply in game.plies:
            assert ply.uci is None or ply.uci in made[ply.ply]
            assert ply.proof != Proof.INFERRED or ply.elapsed_ms is None


@settings(max_examples=examples(40), deadline=None)
@given(seed=st.integers(0, 10_000), crazyhouse=st.booleans())
def test_nothing_is_lost_where_nothing_was(seed: int, crazyhouse: bool) -> None:
    table, frames, _ = random_game(seed, crazyhouse)
    header = table.header("crazyhouse" if crazyhouse else "blitz")
    (game,) = read(log(header, *frames, table.over("Ann resigns", "0-1"))).games
    assert [ply.uci for ply in game.plies] == [move.uci() for move in table.board.move_stack]
    assert all(ply.proof == Proof.FULL for ply in game.plies)
    assert (game.result, game.complete) == ("0-1", True)
