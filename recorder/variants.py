"""What each kind of chess is called: by servers, in PGN's Variant tag and in the engine protocol (CECP).

Our own word for a variant stands first in ``VARIANTS``; every other spelling is read to it, and it is written in the
spelling that the reader of each format knows. A wild number is no name: FICS and its family say ``wild/5``, ICC says
``wild(5)``, and from 6 on, and for 0, they do not mean the same.

Sources: category words of FICS, FatICS and the C servers as they print them; ICC's help on wild; the Variant tags of
the FICS games database, lichess, chess.com and xboard; the table of ``variant`` in the engine protocol's document.
"""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = [
    "SPEEDS",
    "VARIANTS",
    "Variant",
    "cecp_variant",
    "icc_variant",
    "is_known_variant",
    "known_variant_like",
    "pgn_variant",
    "read_category",
    "read_cecp_variant",
    "read_pgn_variant",
]

_GAPS = re.compile(r"[\s_-]+")


class Variant(NamedTuple):
    """One kind of chess.

    Attributes:
        name: our word, as ``Game.variant`` has it.
        words: other words that servers and clients use for it, lower case.
        pgn: the Variant tag to write (None: normal chess has none).
        cecp: the engine protocol's name; None: it has none.
        icc: ICC's wild number, or None.
    """

    name: str
    words: tuple[str, ...] = ()
    pgn: str | None = None
    cecp: str | None = None
    icc: int | None = None


def _named(name: str) -> Variant:
    return Variant(name, (), name, name)


def _wild(name: str, cecp: str = "normal", icc: int | None = None) -> Variant:
    return Variant(name, (), name, cecp, icc)


#: Where two variants have one spelling in a format, the first one is what the spelling is read as.
VARIANTS: tuple[Variant, ...] = (
    Variant("chess", ("standard", "normal", "classical", "from position", "regular"), None, "normal", 0),
    Variant(
        "chess960",
        ("wild/fr", "fr", "frc", "fischerandom", "fischerrandom", "fischer random", "fischer-random"),
        "Fischerandom",
        "fischerandom",
        22,
    ),
    Variant("crazyhouse", ("zh", "crazy house", "house"), "crazyhouse", "crazyhouse", 23),
    Variant("bughouse", ("bug", "tandem"), "bughouse", "bughouse", 24),
    Variant("suicide", ("bsuicide", "suicide chess"), "suicide", "suicide"),
    Variant("giveaway", ("give away", "giveaway chess"), "giveaway", "giveaway", 26),
    Variant("antichess", ("anti", "anti chess"), "Antichess", None),  # lichess: giveaway without castling
    Variant("losers", ("loser's", "losers chess"), "losers", "losers", 17),
    Variant("atomic", ("atom", "atomic chess"), "atomic", "atomic", 27),
    Variant("three-check", ("3check", "3-check", "three checks"), "Three-check", "3check", 25),
    Variant("king-of-the-hill", ("koth",), "King of the Hill", "kingofthehill"),
    Variant("horde", ("horde chess",), "Horde", "horde"),
    Variant("racing-kings", (), "Racing Kings", "racingkings"),
    Variant("kriegspiel", (), "kriegspiel", "kriegspiel", 16),
    Variant("twokings", ("two kings",), "twokings", "twokings", 9),
    Variant("shatranj", (), "shatranj", "shatranj", 28),
    # Shuffles whose number the engine protocol does not tell: with and without castling.
    _named("wildcastle"),
    _named("nocastle"),
    _wild("wild", "wildcastle"),  # a shuffle whose number the server does not print
    _wild("wild/0", "wildcastle"),  # ICC's wild(0) is normal chess
    _wild("wild/1", "wildcastle", 1),
    _wild("wild/2", "nocastle", 2),
    _wild("wild/3", "nocastle", 3),
    _wild("wild/4", "nocastle", 4),
    _wild("wild/5", icc=5),
    _wild("wild/6", icc=6),
    _wild("wild/7", icc=7),
    _wild("wild/8", icc=8),
    _wild("wild/8a"),
    *(_wild(f"wild/{number}", icc=number) for number in (10, 11, 12, 13, 14, 15, 18, 19, 20, 21)),
    # Boards and pieces of their own.
    *map(
        _named,
        (
            "capablanca", "caparandom", "gothic", "janus", "falcon", "courier", "great", "super", "seirawan",
            "knightmate", "berolina", "cylinder", "xiangqi", "shogi", "lion", "elven", "chu",
        ),
    ),
)  # fmt: skip

#: Words for the speed of a game of normal chess. ``lighting`` is how one server prints it.
SPEEDS = frozenset(
    (
        "blitz", "standard", "lightning", "lighting", "bullet", "untimed", "slow", "rapid", "correspondence",
        "1-minute", "3-minute", "5-minute", "15-minute", "25-minute", "45-minute",
    )
)  # fmt: skip

#: Words that servers print for every game that is not normal chess: only boards tell which.
_VAGUE = frozenset(("non-standard", "nonstandard", "wild"))
_WILD = re.compile(r"wild/[0-9]{1,3}", re.ASCII)
_ICC_WILD = re.compile(r"w(?:ild)?\(([0-9]{1,3})\)", re.ASCII)


def _squeezed(text: str) -> str:
    """A spelling without what differs between writers: case, blanks, hyphens and underscores."""
    return _GAPS.sub("", text.lower())


_BY_NAME = {variant.name: variant for variant in VARIANTS}
_BY_ICC = {variant.icc: variant.name for variant in VARIANTS if variant.icc is not None}
_BY_SPELLING: dict[str, str] = {}
_BY_CECP: dict[str, str] = {}
for _variant in VARIANTS:
    for _spelling in (_variant.name, *_variant.words, _variant.pgn):
        if _spelling is not None:
            _BY_SPELLING.setdefault(_squeezed(_spelling), _variant.name)
    if _variant.cecp is not None:
        _BY_SPELLING.setdefault(_squeezed(_variant.cecp), _variant.name)
        _BY_CECP.setdefault(_variant.cecp, _variant.name)


def read_category(category: str | None) -> str | None:
    """The variant that a server's category word means.

    Args:
        category: as a server prints it: ``blitz``, ``wild/fr``, ``wild(22)``, ``blitz crazyhouse`` (FatICS: the speed
            first), ``seirawan/0`` (the variant, then its start position); None or blank: not told.
    Returns:
        Our name; a word that is not in the table is its own name. None where the word does not decide.
    """
    words = (category or "").lower().split()
    if not words:
        return None
    word = words[-1]
    if words[-2:-1] == ["wild"] and (word.isdecimal() or word in ("8a", "fr")):
        word = f"wild/{word}"
    if word in SPEEDS:
        return "chess"
    if word in _VAGUE:
        return None
    if match := _ICC_WILD.fullmatch(word):
        return icc_variant(int(match[1]))
    head, slash, _ = word.partition("/")
    known = _BY_SPELLING.get(_squeezed(word))
    if known is None and slash and head != "wild":
        known = _BY_SPELLING.get(_squeezed(head))
    return known or word


def is_known_variant(word: str) -> bool:
    """Whether a word, in any spelling, is that of a variant in ``VARIANTS`` or a wild number."""
    name = read_pgn_variant(word)
    return name in _BY_NAME or (name is not None and _WILD.fullmatch(name) is not None)


def known_variant_like(word: str) -> str | None:
    """A known variant whose spelling is like an unknown word's, or None."""
    from difflib import get_close_matches

    close = get_close_matches(_squeezed(word), [*_BY_SPELLING, *SPEEDS], 1)
    return _BY_SPELLING.get(close[0], close[0]) if close else None


def icc_variant(number: int) -> str:
    """The variant of ICC's wild number; ``wild/N`` for a number that has no name of its own."""
    return _BY_ICC.get(number, f"wild/{number}")


def pgn_variant(name: str | None) -> str | None:
    """The Variant tag for our name, in the spelling that most readers know; None: no tag (chess, or not known)."""
    known = _BY_NAME.get(name or "")
    return known.pgn if known is not None else name


def read_pgn_variant(text: str | None) -> str | None:
    """Our name for a Variant tag, whoever wrote it.

    Returns:
        ``chess`` for the words that mean it; the text in lower case where no table has it; None where there is none.
    """
    text = (text or "").strip()
    if text in ("", "?", "-"):
        return None
    known = _BY_SPELLING.get(_squeezed(text))
    if known is None and (len(text.split()) == 1 or text.lower().startswith("wild ")):
        return read_category(text)
    return known or text.lower()


def cecp_variant(name: str | None) -> str | None:
    """The engine protocol's name (``normal`` for chess); None: the protocol has none, or the variant is not known."""
    known = _BY_NAME.get(name or "")
    return known.cecp if known is not None else None


def read_cecp_variant(text: str) -> str | None:
    """Our name for the argument of ``variant``.

    Returns:
        The text itself where an engine defines a variant of its own (``8x8+0_capablanca``, a board size before the
        name, is one too); None for ``unknown``.
    """
    text = text.strip()
    return None if text in ("", "unknown") else _BY_CECP.get(text, text)
