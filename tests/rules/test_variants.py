"""Category words."""

import pytest

from recorder.rules.position import Rules
from recorder.rules.variants import has_pockets, variant_of


@pytest.mark.parametrize(
    ("word", "variant", "rules"),
    [
        ("blitz", "chess", Rules.CHESS),
        ("Lightning", "chess", Rules.CHESS),
        ("crazyhouse", "crazyhouse", Rules.CRAZYHOUSE),
        ("blitz crazyhouse", "crazyhouse", Rules.CRAZYHOUSE),  # FatICS: the speed first
        ("bughouse", "bughouse", Rules.BUGHOUSE),
        ("wild/fr", "chess960", Rules.CHESS960),
        ("wild/2", "wild/2", Rules.WILD),
        ("wild(27)", "atomic", Rules.ATOMIC),
        ("suicide", "suicide", Rules.SUICIDE),
        ("wild(26)", "giveaway", Rules.SUICIDE),
        ("losers", "losers", Rules.LOSERS),
        ("wild(25)", "three-check", Rules.CHESS),
        ("wild(16)", "kriegspiel", Rules.FRAMES),
        ("wild(29)", "wild/29", Rules.BOARDS),
        ("non-standard", None, None),
        ("", None, None),
        (" ", None, None),
        (None, None, None),
    ],
)
def test_words(word: str | None, variant: str | None, rules: Rules | None) -> None:
    assert variant_of(word) == (variant, rules)


def test_pockets() -> None:
    assert [rules for rules in Rules if has_pockets(rules)] == [Rules.CRAZYHOUSE, Rules.BUGHOUSE]
