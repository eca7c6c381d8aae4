"""Runs of plies that can be replayed."""

from __future__ import annotations

import pytest

from exporters.pgn.parts import cut_into_parts
from recorder.model import Anchor, Game, Proof
from tests.exporters.games import SCHOLARS_MATE, make_game

FEN = "8/8/8/8/8/8/8/K1k5 w - - 0 1"


def cut(game: Game) -> list[tuple[str | None, int, list[int], list[int]]]:
    return [
        (part.fen, part.start_ply, [ply.ply for ply in part.plies], [ply.ply for ply in part.unproved])
        for part in cut_into_parts(game)
    ]


def game_with(missing: tuple[int, ...] = (), conflict: tuple[int, ...] = (), **anchors: int) -> Game:
    game = make_game(SCHOLARS_MATE[:6])
    seen = game.observations[0]
    seen.lines[0].plies = [
        ply._replace(proof_code=Proof.CONFLICT.value) if ply.ply in conflict else ply
        for ply in seen.lines[0].plies
        if ply.ply not in missing
    ]
    seen.anchors += [Anchor(0, ply, FEN, reason, 0) for reason, ply in anchors.items()]
    return game


@pytest.mark.parametrize(
    ("game", "parts"),
    [
        (game_with(), [(None, 0, [1, 2, 3, 4, 5, 6], [])]),
        (game_with(missing=(3,)), [(None, 0, [1, 2], [4, 5, 6])]),
        (game_with(missing=(3,), gap=3), [(None, 0, [1, 2], []), (FEN, 3, [4, 5, 6], [])]),
        (game_with(missing=(3,), gap=4), [(None, 0, [1, 2], [4]), (FEN, 4, [5, 6], [])]),
        (game_with(gap=3), [(None, 0, [1, 2, 3, 4, 5, 6], [])]),
        (game_with(conflict=(3,)), [(None, 0, [1, 2], [3, 4, 5, 6])]),
        (game_with(conflict=(3,), gap=3), [(None, 0, [1, 2], [3]), (FEN, 3, [4, 5, 6], [])]),
        (game_with(missing=(1,)), [(None, 0, [], [2, 3, 4, 5, 6])]),
        (game_with(missing=(1, 2), gap=2), [(FEN, 2, [3, 4, 5, 6], [])]),
        (game_with(conflict=(1, 2, 3, 4, 5, 6)), [(None, 0, [], [1, 2, 3, 4, 5, 6])]),
        (make_game([]), [(None, 0, [], [])]),
    ],
)
def test_cuts(game: Game, parts: list[tuple[str | None, int, list[int], list[int]]]) -> None:
    assert cut(game) == parts


def test_a_contradicting_board_begins_a_part_even_between_proved_plies() -> None:
    game = game_with()
    game.observations[0].anchors.append(Anchor(0, 3, FEN, "conflict", 0))
    assert cut(game) == [(None, 0, [1, 2, 3], []), (FEN, 3, [4, 5, 6], [])]


def test_an_unknown_first_position_allows_no_moves() -> None:
    game = game_with(missing=(1, 2))
    game.start_ply = 2
    assert cut(game) == [(None, 2, [], [3, 4, 5, 6])]
