"""What a server's category word says about the game: the variant's name and the rules that prove its plies."""

from __future__ import annotations

from recorder.tracking.position import Rules
from recorder.variants import read_category

__all__ = ["STANDARD_BOARD", "has_pockets", "rules_of", "variant_of"]

STANDARD_BOARD = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"

#: Variants whose rules are not those that ``rules_of`` takes for any other name.
_RULES = {
    "chess": Rules.CHESS,
    "chess960": Rules.CHESS960,
    "crazyhouse": Rules.CRAZYHOUSE,
    "bughouse": Rules.BUGHOUSE,
}


def rules_of(variant: str) -> Rules:
    """The rules that prove the moves of a variant (our name)."""
    known = _RULES.get(variant)
    if known is not None:
        return known
    return Rules.CHESS960 if variant.startswith("wild/") else Rules.BOARDS


def variant_of(category: str | None) -> tuple[str | None, Rules | None]:
    """Tell the variant and the rules a category word means.

    Args:
        category: as the server prints it (``blitz``, ``wild/fr``, ``wild(22)``); None or empty: not told.
    Returns:
        The variant's name and its rules; (None, None) if the word does not decide.
    """
    variant = read_category(category)
    return (None, None) if variant is None else (variant, rules_of(variant))


def has_pockets(rules: Rules) -> bool:
    """Whether pieces can be in hand."""
    return rules is Rules.CRAZYHOUSE or rules is Rules.BUGHOUSE
