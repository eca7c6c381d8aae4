"""Names of the variants (servers, PGN, engine protocol) and the rules that prove their plies.

Our own word for a variant stands first in ``VARIANTS``; every other spelling is read to it, and it is written in the
spelling that the reader of each format knows. A wild number is no name: FICS and its family say ``wild/5``, ICC says
``wild(5)``, and from 6 on, and for 0, they do not mean the same.

Sources: category words of FICS, FatICS and the C servers as they print them; ICC's help on wild; the Variant tags of
the FICS games database, lichess, chess.com and xboard; the table of ``variant`` in the engine protocol's document.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

from recorder.rules.position import Rules

if TYPE_CHECKING:
    import chess

_GAPS = re.compile(r"[\s_-]+")
_FICS_WILD = frozenset((*(f"wild/{number}" for number in range(9)), "wild/8a"))


class Variant(NamedTuple):
    """``name`` is as in ``Game.variant``; ``pgn`` None: no Variant tag; ``cecp`` None: engines have no name."""

    name: str
    words: tuple[str, ...] = ()
    pgn: str | None = None
    cecp: str | None = None
    icc: int | None = None


def _named(name: str) -> Variant:
    return Variant(name, (), name, name)


def _wild(name: str, cecp: str = "normal", icc: int | None = None) -> Variant:
    return Variant(name, (), name if name in _FICS_WILD else None, cecp, icc)


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
    Variant("bughouse", ("bug", "tandem", "bughouse chess960", "bughouse960"), "bughouse", "bughouse", 24),
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
    # Shuffles without their number in the engine protocol: with and without castling.
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

#: Words that servers print for every game that is not normal chess: only boards show which.
_VAGUE = frozenset(("non-standard", "nonstandard", "wild"))
_WILD = re.compile(r"wild/[0-9]{1,3}", re.ASCII)
_ICC_WILD = re.compile(r"w(?:ild)?\(([0-9]{1,3})\)", re.ASCII)


def _squeezed(text: str) -> str:
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

    Categories are ``blitz``, ``wild/fr``, ``wild(22)``, ``blitz crazyhouse`` (FatICS: the speed first), ``seirawan/0``
    (the variant, then its start position). A word that is not in the table is its own name. None: the word does not
    decide.
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
    name = _BY_SPELLING.get(_squeezed(word))
    if name is None and slash and head != "wild":
        name = _BY_SPELLING.get(_squeezed(head))
    return name or _own_name(word)


def _own_name(word: str) -> str | None:
    return word if word.isprintable() and ".." not in word else None


def is_known_variant(word: str) -> bool:
    name = read_pgn_variant(word)
    return name in _BY_NAME or (name is not None and _WILD.fullmatch(name) is not None)


def known_variant_like(word: str) -> str | None:
    from difflib import get_close_matches

    close = get_close_matches(_squeezed(word), [*_BY_SPELLING, *SPEEDS], 1)
    return _BY_SPELLING.get(close[0], close[0]) if close else None


def icc_variant(number: int) -> str:
    return _BY_ICC.get(number, f"wild/{number}")


def chess_board(name: str) -> type[chess.Board] | None:
    import chess.variant  # here: it takes a while to load

    try:
        return chess.variant.find_variant(name.replace("-", " "))
    except ValueError:
        return None


def pgn_variant(name: str | None) -> str | None:
    """In the spelling that most readers know; None for chess, and for wild games whose name other programs refuse."""
    known = _BY_NAME.get(name or "")
    if known is None:
        return None if name is None or _WILD.fullmatch(name) else name
    return known.pgn


def read_pgn_variant(text: str | None) -> str | None:
    """Text that no table has, in lower case."""
    text = (text or "").strip()
    if text in ("", "?", "-"):
        return None
    name = _BY_SPELLING.get(_squeezed(text))
    if name is None and (len(text.split()) == 1 or text.lower().startswith("wild ")):
        return read_category(text)
    return name or _own_name(text.lower())


def cecp_variant(name: str | None) -> str | None:
    known = _BY_NAME.get(name or "")
    return known.cecp if known is not None else None


def read_cecp_variant(text: str) -> str | None:
    """Our name for ``variant``'s argument; an engine may define one (``8x8+0_capablanca``). None for ``unknown``."""
    text = text.strip()
    return None if text in ("", "unknown") else _BY_CECP.get(text, text)


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
    "kriegspiel": Rules.FRAMES,  # a player sees only the own pieces
    "wildcastle": Rules.WILD,
    "nocastle": Rules.WILD,
}
_RULES.update({variant.name: Rules.WILD for variant in VARIANTS if variant.name.partition("/")[0] == "wild"})


def rules_of(variant: str) -> Rules:
    return _RULES.get(variant, Rules.BOARDS)


@lru_cache(maxsize=256)
def variant_of(category: str | None) -> tuple[str | None, Rules | None]:
    """(None, None) if the word does not decide."""
    variant = read_category(category)
    if variant is None and is_bare_wild(category):
        variant = "wild"
    return (None, None) if variant is None else (variant, rules_of(variant))


def is_bare_wild(category: str | None) -> bool:
    return bool(category) and (category or "").lower().split()[-1:] == ["wild"]


@lru_cache(maxsize=1)
def chess960_starts() -> frozenset[str]:
    rows = {"".join(row) for row in permutations("RNBQKBNR")}
    return frozenset(
        STANDARD_BOARD.replace("RNBQKBNR", row).replace("rnbqkbnr", row.lower())
        for row in rows
        if (row.rindex("B") - row.index("B")) % 2 and row.index("R") < row.index("K") < row.rindex("R")
    )


#: Start positions that a category word alone determines, and the castling rights; every game of it has the same.
#: Source: FICS help on wild and games of the games database (``wild/5``); ICC help on wild (``wild(7)``, ``wild(8)``).
#: ICC's wild 5 is not here: no source shows where its kings are.
_STARTS = {
    "wild/0": ("rnbkqbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR", 15),
    "wild/5": ("RNBKQBNR PPPPPPPP -------- -------- -------- -------- pppppppp rnbkqbnr", 0),
    "wild/8": ("rnbqkbnr -------- -------- pppppppp PPPPPPPP -------- -------- RNBQKBNR", 0),
    "wild/8a": ("rnbqkbnr -------- -------- PPPPPPPP pppppppp -------- -------- RNBQKBNR", 0),
    "wild(7)": ("----k--- -----ppp -------- -------- -------- -------- PPP----- ---K----", 0),
    "wild(8)": ("rnbqkbnr -------- -------- pppppppp PPPPPPPP -------- -------- RNBQKBNR", 15),
}


_STARTS_BY_RULES: dict[Rules | None, tuple[str, int]] = {
    Rules.HORDE: ("rnbqkbnr pppppppp -------- -PP--PP- PPPPPPPP PPPPPPPP PPPPPPPP PPPPPPPP", 12),
    Rules.RACING: ("-------- -------- -------- -------- -------- -------- krbnNBRK qrbnNBRQ", 0),
}

_START_AS_CHESS = (
    Rules.CHESS, Rules.CRAZYHOUSE, Rules.BUGHOUSE, Rules.SUICIDE, Rules.LOSERS, Rules.ATOMIC,
)  # fmt: skip


def known_start(category: str | None, rules: Rules | None) -> tuple[str, int] | None:
    """Of a list printed without a board; suicide has no rights. None: it is drawn for each game, or not known."""
    start = _STARTS.get(category.lower().split()[-1]) if category and not category.isspace() else None
    usual = rules is None or rules in _START_AS_CHESS or read_category(category) == "seirawan"
    if start is not None or not usual:
        return start or _STARTS_BY_RULES.get(rules)
    return STANDARD_BOARD, 0 if rules is Rules.SUICIDE else 15


def has_pockets(rules: Rules) -> bool:
    return rules is Rules.CRAZYHOUSE or rules is Rules.BUGHOUSE
