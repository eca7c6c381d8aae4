"""Geometry of the 71-character board, computed once: who attacks what, and what lies between.

A board is eight ranks of eight characters, rank 8 first, joined by one blank; ``-`` is an empty square. A square's
*index* is its position in that string: ``9 * (8 - rank) + file``. Every table has 72 entries so that the index -1
(``str.find`` found no king) reads an entry that says "nothing".
"""

from __future__ import annotations

from typing import Final

#: The ray from the king through a square to the edge, and the letters that attack along it.
Pin = tuple[slice, str]

SQUARES: Final = tuple(9 * row + column for row in range(8) for column in range(8))
ROOK_STEPS: Final = (-9, -1, 1, 9)
BISHOP_STEPS: Final = (-10, -8, 8, 10)
KING_STEPS: Final = ROOK_STEPS + BISHOP_STEPS
KNIGHT_STEPS: Final = (-19, -17, -11, -7, 7, 11, 17, 19)
EMPTY_SLICE: Final = slice(0, 0)
SLIDERS: Final = {"B": BISHOP_STEPS, "R": ROOK_STEPS, "Q": KING_STEPS}

_ON_BOARD: Final = frozenset(SQUARES)
#: The name of the square at each board index; between two ranks there is none.
NAMES: Final = tuple("" if index % 9 == 8 else f"{'abcdefgh'[index % 9]}{8 - index // 9}" for index in range(71))


def index_of(name: str) -> int:
    return 9 * (8 - int(name[1])) + "abcdefgh".index(name[0])


def square_of(index: int) -> int:
    """a1 = 0, h8 = 63, as ``encode_move`` counts."""
    return index % 9 + 8 * (7 - index // 9)


def _walk(origin: int, step: int) -> list[int]:
    squares = []
    here = origin + step
    while here in _ON_BOARD:  # the blank column and both ends stop every ray
        squares.append(here)
        here += step
    return squares


def _cut(indexes: list[int], step: int) -> slice:
    if not indexes:
        return EMPTY_SLICE
    stop = indexes[-1] + step
    return slice(indexes[0], stop if stop >= 0 else None, step)


#: RAYS[index][step] → the slice of all squares beyond ``index`` in that direction.
RAYS: Final[dict[int, dict[int, slice]]] = {
    square: {step: _cut(_walk(square, step), step) for step in KING_STEPS} for square in SQUARES
}

#: ADJACENT[index] → the squares a king's step away.
ADJACENT: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(square + step for step in KING_STEPS if square + step in _ON_BOARD) if square in _ON_BOARD else ()
    for square in range(72)
)


def _near(origin: int, steps: tuple[int, ...]) -> tuple[int, ...]:
    # One blank column does not stop a knight's two files: look at the file too.
    targets = (origin + step for step in steps)
    return tuple(at for at in targets if at in _ON_BOARD and abs(at % 9 - origin % 9) <= 2)


#: KNIGHT_TARGETS[index] → the squares a knight's jump away.
KNIGHT_TARGETS: Final[tuple[tuple[int, ...], ...]] = tuple(
    _near(square, KNIGHT_STEPS) if square in _ON_BOARD else () for square in range(72)
)


def _attack_table(letter: str) -> tuple[tuple[slice | None, ...], ...]:
    table: list[list[slice | None]] = [[None] * 72 for _ in range(72)]
    kind = letter.upper()
    for origin in SQUARES:
        row = table[origin]
        if kind in SLIDERS:
            for step in SLIDERS[kind]:
                path = _walk(origin, step)
                for length, target in enumerate(path):
                    row[target] = _cut(path[:length], step)
            continue
        steps = {"N": KNIGHT_STEPS, "K": KING_STEPS, "P": (-10, -8) if letter == "P" else (8, 10)}[kind]
        for target in _near(origin, steps):
            row[target] = EMPTY_SLICE
    return tuple(map(tuple, table))


#: ATTACKS[letter][a][b] → the slice between a and b if that piece on a attacks b over empty squares, else None.
ATTACKS: Final[dict[str, tuple[tuple[slice | None, ...], ...]]] = {
    letter: _attack_table(letter) for letter in "PNBRQKp"
}
ATTACKS.update({letter: ATTACKS[letter.upper()] for letter in "nbrqk"})

#: PAWN_ATTACKERS[by_white][index] → where a pawn of that colour would attack ``index`` from.
PAWN_ATTACKERS: Final[tuple[tuple[tuple[int, ...], ...], ...]] = tuple(
    tuple(tuple(at for at in SQUARES if ATTACKS[pawn][at][target]) for target in range(72)) for pawn in "pP"
)


def _pin_table(by_white: bool) -> tuple[tuple[Pin | None, ...], ...]:
    table: list[list[Pin | None]] = [[None] * 72 for _ in range(72)]
    for king in SQUARES:
        for step in KING_STEPS:
            letters = "RQ" if step in ROOK_STEPS else "BQ"
            pin = (RAYS[king][step], letters if by_white else letters.lower())
            for blocker in _walk(king, step):
                table[blocker][king] = pin
    return tuple(map(tuple, table))


#: PINS[attackers_white][leaving][king] → the ray to look along when a piece leaves a square.
PINS: Final[tuple[tuple[tuple[Pin | None, ...], ...], ...]] = (_pin_table(False), _pin_table(True))


def between(a: int, b: int) -> slice:
    """Strictly between two squares of one line; empty if they share none."""
    return ATTACKS["Q"][a][b] or EMPTY_SLICE
