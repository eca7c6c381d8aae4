"""The table of variant names."""

from pathlib import Path
from typing import Any

import chess.pgn
import chess.variant
import pytest

from recorder.rules.variants import (
    SPEEDS,
    VARIANTS,
    cecp_variant,
    icc_variant,
    pgn_variant,
    read_category,
    read_cecp_variant,
    read_pgn_variant,
)

ARCHIVE = Path(__file__).parent / "corpus" / "ficsgames"


@pytest.mark.parametrize(
    ("word", "variant"),
    [
        *((speed, "chess") for speed in sorted(SPEEDS)),
        ("Lightning", "chess"),
        ("blitz crazyhouse", "crazyhouse"),
        ("standard wild 1", "wild/1"),
        ("wild fr", "chess960"),
        ("wild/0", "wild/0"),
        ("wild(0)", "chess"),
        ("wild/8a", "wild/8a"),
        ("wild(5)", "wild/5"),
        ("w(17)", "losers"),
        ("wild(25)", "three-check"),
        ("wild(29)", "wild/29"),
        ("bsuicide", "suicide"),
        ("seirawan/0", "seirawan"),
        ("bughouse/fr", "bughouse"),
        ("Loser's", "losers"),
        ("pawns/little-game", "pawns/little-game"),
        ("non-standard", None),
        ("wild", None),
        ("", None),
        (" ", None),
        (None, None),
    ],
)
def test_categories(word: str | None, variant: str | None) -> None:
    assert read_category(word) == variant


def test_names_are_unique_and_read_as_themselves() -> None:
    names = [variant.name for variant in VARIANTS]
    assert len(set(names)) == len(names)
    for name in names:
        # A server's bare "wild" does not decide which one: the tracker looks at the start.
        assert read_category(name) == (None if name == "wild" else name)
        assert read_pgn_variant(name) == name


@pytest.mark.parametrize("variant", [variant for variant in VARIANTS if variant.pgn], ids=lambda variant: variant.name)
def test_the_pgn_tag_reads_back(variant: Any) -> None:
    name = variant.name
    tag = pgn_variant(name)
    assert tag is not None
    assert read_pgn_variant(tag) == name


def test_chess_has_no_tag() -> None:
    assert pgn_variant("chess") is None
    assert pgn_variant(None) is None
    assert pgn_variant("pawns/little-game") == "pawns/little-game"


def test_every_cecp_name_reads_back_to_a_variant_of_that_name() -> None:
    names = {variant.cecp for variant in VARIANTS if variant.cecp}
    assert {"normal", "nocastle", "wildcastle", "fischerandom", "3check", "twokings"} <= names
    for name in names:
        assert cecp_variant(read_cecp_variant(name)) == name


def test_the_cecp_documents_table_is_known() -> None:
    document = (
        "wildcastle nocastle fischerandom bughouse crazyhouse losers suicide giveaway twokings kriegspiel atomic "
        "3check xiangqi shogi capablanca gothic falcon shatranj courier knightmate berolina janus caparandom cylinder "
        "super great lion elven chu"
    )
    assert [name for name in document.split() if cecp_variant(read_cecp_variant(name)) != name] == []


def test_cecp_names_outside_the_table() -> None:
    assert read_cecp_variant("unknown") is None
    assert read_cecp_variant("8x8+0_capablanca") == "8x8+0_capablanca"
    assert cecp_variant("8x8+0_capablanca") is None
    assert cecp_variant(None) is None
    assert cecp_variant("wild/5") == "normal"
    assert cecp_variant("wild/0") == "wildcastle"


def test_icc_numbers() -> None:
    expected = {16: "kriegspiel", 17: "losers", 22: "chess960", 23: "crazyhouse", 24: "bughouse", 27: "atomic"}
    assert {number: icc_variant(number) for number in expected} == expected


@pytest.mark.parametrize(
    ("text", "variant"),
    [
        ("Standard", "chess"),
        ("From Position", "chess"),
        ("Chess960", "chess960"),
        ("Fischerandom", "chess960"),
        ("fischerandom", "chess960"),
        ("Antichess", "antichess"),
        ("King of the Hill", "king-of-the-hill"),
        ("kingOfTheHill", "king-of-the-hill"),
        ("Racing Kings", "racing-kings"),
        ("Three-check", "three-check"),
        ("3-check", "three-check"),
        ("3check", "three-check"),
        ("Crazyhouse", "crazyhouse"),
        ("wild/5", "wild/5"),
        ("normal", "chess"),
        ("Duck Chess", "duck chess"),
        ("wild 5", "wild/5"),
        ("?", None),
        ("", None),
        (None, None),
    ],
)
def test_pgn_values(text: str | None, variant: str | None) -> None:
    assert read_pgn_variant(text) == variant


@pytest.mark.parametrize(
    "name",
    [
        "chess960",
        "crazyhouse",
        "suicide",
        "giveaway",
        "antichess",
        "atomic",
        "three-check",
        "king-of-the-hill",
        "horde",
    ],
)
def test_python_chess_reads_our_tags(name: str) -> None:
    headers = chess.pgn.Headers({"Variant": pgn_variant(name) or ""})
    board = headers.variant()
    assert headers.is_chess960() if name == "chess960" else board.aliases[0] != "Standard"


def test_the_archives_categories() -> None:
    found = set()
    for path in ARCHIVE.glob("*.pgn"):
        for line in path.read_text(encoding="latin-1").splitlines():
            if line.startswith("[Event "):
                found.add(read_category(line.removesuffix(' game"]')))
    assert found == {"atomic", "crazyhouse", "losers", "suicide", "wild/5", "chess960"}
