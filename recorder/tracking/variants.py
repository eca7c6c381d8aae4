"""What a server's category word says about the game: the variant's name and the rules that prove its plies."""

from __future__ import annotations

from recorder.tracking.position import Rules

__all__ = ["STANDARD_BOARD", "has_pockets", "variant_of"]

STANDARD_BOARD = "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR"

_CHESS = frozenset(("blitz", "standard", "lightning", "lighting", "bullet", "untimed", "slow", "chess"))
_NAMES = {
    "crazyhouse": ("crazyhouse", Rules.CRAZYHOUSE),
    "zh": ("crazyhouse", Rules.CRAZYHOUSE),
    "bughouse": ("bughouse", Rules.BUGHOUSE),
    "wild/fr": ("chess960", Rules.CHESS960),
    "chess960": ("chess960", Rules.CHESS960),
    "fischerandom": ("chess960", Rules.CHESS960),
    "fr": ("chess960", Rules.CHESS960),
    "bughouse/fr": ("bughouse", Rules.BUGHOUSE),
    "crazyhouse/fr": ("crazyhouse", Rules.CRAZYHOUSE),
    "wild(22)": ("chess960", Rules.CHESS960),
    "wild(23)": ("crazyhouse", Rules.CRAZYHOUSE),
    "wild(24)": ("bughouse", Rules.BUGHOUSE),
    "wild(26)": ("giveaway", Rules.BOARDS),
    "wild(27)": ("atomic", Rules.BOARDS),
}


def variant_of(category: str | None) -> tuple[str | None, Rules | None]:
    """Tell the variant and the rules a category word means.

    Args:
        category: as the server prints it (``blitz``, ``wild/fr``, ``wild(22)``); None or empty: not told.
    Returns:
        The variant's name and its rules; (None, None) if the word does not decide.
    Source: the category words of FICS game lines; ICC's wild numbers from its style-12 help.
    """
    if not category or category.isspace():
        return None, None
    # FatICS prints the speed before the variant: "blitz crazyhouse".
    word = category.lower().split()[-1]
    # 1.6.2 prints these for every game that is not chess; only the boards tell which.
    if word in ("non-standard", "nonstandard", "wild"):
        return None, None
    if word in _CHESS:
        return "chess", Rules.CHESS
    known = _NAMES.get(word)
    if known is not None:
        return known
    return word, (Rules.CHESS960 if word.startswith("wild/") else Rules.BOARDS)


def has_pockets(rules: Rules) -> bool:
    """Whether pieces can be in hand."""
    return rules is Rules.CRAZYHOUSE or rules is Rules.BUGHOUSE
