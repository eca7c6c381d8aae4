"""What a server's category word says about the game: the variant's name and the rules that prove its plies."""

from __future__ import annotations

from functools import lru_cache

from recorder.tracking.position import Rules
from recorder.variants import VARIANTS, read_category

__all__ = [
    "STANDARD_BOARD",
    "has_pockets",
    "is_bare_wild",
    "known_start",
    "rules_of",
    "start_variant",
    "variant_of",
]

STANDARD_BOARD = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"

_RULES = {
    "chess": Rules.CHESS,
    "chess960": Rules.CHESS960,
    "crazyhouse": Rules.CRAZYHOUSE,
    "bughouse": Rules.BUGHOUSE,
    "suicide": Rules.SUICIDE,
    "giveaway": Rules.SUICIDE,
    "antichess": Rules.SUICIDE,
    "losers": Rules.LOSERS,
    "atomic": Rules.ATOMIC,
    "horde": Rules.HORDE,
    "racing-kings": Rules.RACING,
    # How these are won is their own; their moves are those of chess.
    "three-check": Rules.CHESS,
    "king-of-the-hill": Rules.CHESS,
    "kriegspiel": Rules.FRAMES,  # a player sees his own men only
    "wildcastle": Rules.WILD,
    "nocastle": Rules.WILD,
}
_RULES.update({variant.name: Rules.WILD for variant in VARIANTS if variant.name.partition("/")[0] == "wild"})


def rules_of(variant: str) -> Rules:
    """The rules that prove the moves of a variant (our name)."""
    return _RULES.get(variant, Rules.BOARDS)


@lru_cache(maxsize=256)
def variant_of(category: str | None) -> tuple[str | None, Rules | None]:
    """Tell the variant and the rules a category word means.

    Args:
        category: as the server prints it (``blitz``, ``wild/fr``, ``wild(22)``); None or empty: not told.
    Returns:
        The variant's name and its rules; (None, None) if the word does not decide.
    """
    variant = read_category(category)
    if variant is None and is_bare_wild(category):
        variant = "wild"
    return (None, None) if variant is None else (variant, rules_of(variant))


def is_bare_wild(category: str | None) -> bool:
    """Whether a category word says that the game is wild, and not which one."""
    return bool(category) and (category or "").lower().split()[-1:] == ["wild"]


def start_variant(category: str | None, board: str | None) -> tuple[str | None, Rules | None]:
    """As ``variant_of``; a bare ``wild`` that begins with a set-up of chess960 is chess960.

    Args:
        category: as the server prints it. board: the start board, None: not known.
    """
    if board is not None and is_bare_wild(category) and _is_chess960_start(board):
        return "chess960", Rules.CHESS960
    return variant_of(category)


def _is_chess960_start(board: str) -> bool:
    """Whether it is a set-up of chess960 other than the normal one.

    Both sides have the same back rank, the king between the rooks and bishops on both colours.
    """
    ranks = board.split(" ")
    if len(ranks) != 8 or ranks[1:7] != STANDARD_BOARD.split(" ")[1:7] or board == STANDARD_BOARD:
        return False
    row = ranks[7]
    if row.lower() != ranks[0] or sorted(row) != sorted("RNBQKBNR"):
        return False
    first, second = row.index("B"), row.rindex("B")
    return (second - first) % 2 == 1 and row.index("R") < row.index("K") < row.rindex("R")


#: Start positions that a category word alone tells, and the rights to castle; they are the same for every game of it.
#: Source: FICS help on wild and games of the games database (``wild/5``); ICC help on wild (``wild(7)``, ``wild(8)``).
#: ICC's wild 5 is not here: the sources do not tell where its kings stand.
_STARTS = {
    "wild/0": ("rnbkqbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR", 15),
    "wild/5": ("RNBKQBNR PPPPPPPP -------- -------- -------- -------- pppppppp rnbkqbnr", 0),
    "wild/8": ("rnbqkbnr -------- -------- pppppppp PPPPPPPP -------- -------- RNBQKBNR", 0),
    "wild/8a": ("rnbqkbnr -------- -------- PPPPPPPP pppppppp -------- -------- RNBQKBNR", 0),
    "wild(7)": ("----k--- -----ppp -------- -------- -------- -------- PPP----- ---K----", 0),
    "wild(8)": ("rnbqkbnr -------- -------- pppppppp PPPPPPPP -------- -------- RNBQKBNR", 15),
}


_START_AS_CHESS = (
    Rules.CHESS, Rules.CRAZYHOUSE, Rules.BUGHOUSE, Rules.SUICIDE, Rules.LOSERS, Rules.ATOMIC,
)  # fmt: skip


def known_start(category: str | None, rules: Rules | None) -> tuple[str, int] | None:
    """The start position of a list that was printed without a board.

    Args:
        category: the server's word, where it tells. rules: of the game, None: not told.
    Returns:
        The board and the castling rights (suicide has none); None for shuffles, whose position is drawn for each game,
        and for variants that are not known.
    """
    known = _STARTS.get(category.lower().split()[-1]) if category and not category.isspace() else None
    if known is not None or (rules is not None and rules not in _START_AS_CHESS):
        return known
    return STANDARD_BOARD, 0 if rules is Rules.SUICIDE else 15


def has_pockets(rules: Rules) -> bool:
    """Whether pieces can be in hand."""
    return rules is Rules.CRAZYHOUSE or rules is Rules.BUGHOUSE
