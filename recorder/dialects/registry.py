"""The server families and what differs between them where a frame cannot tell."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

__all__ = ["DIALECTS", "Dialect", "Family", "detect_dialect"]


class Family(Enum):
    """Server programs; the value is the word stored."""

    FICS = "fics"
    FATICS = "fatics"
    LASKER = "lasker"
    OLD = "fics-1.6.2"
    CHESSD = "chessd"
    BICS = "bics"
    ICC = "icc"
    CHESSNET = "chess.net"


class Dialect(NamedTuple):
    """A family's facts.

    ``site`` is the PGN Site where the family is one site, else None. ``lag_meaningless``: the lag is a constant 0.
    """

    family: Family
    name: str
    site: str | None
    lag_meaningless: bool = False


DIALECTS = {
    Family.FICS: Dialect(Family.FICS, "FICS", "FICS freechess.org"),
    Family.FATICS: Dialect(Family.FATICS, "FatICS", None),
    Family.LASKER: Dialect(Family.LASKER, "Lasker", None),
    Family.OLD: Dialect(Family.OLD, "FICS 1.6.2", None),
    Family.CHESSD: Dialect(Family.CHESSD, "chessd", None, lag_meaningless=True),
    Family.BICS: Dialect(Family.BICS, "BICS", None),
    Family.ICC: Dialect(Family.ICC, "ICC", "Internet Chess Club"),
    Family.CHESSNET: Dialect(Family.CHESSNET, "chess.net", "chess.net"),
}


def detect_dialect(banner: str | None, prompt: str | None, tokens: int | None) -> Dialect | None:
    """Name the server family.

    Args:
        banner: value of a ``BANNER`` notice, or None; it decides if present.
        prompt: a prompt as received, or None; ``aics%`` is ICC's.
        tokens: tokens of a whole frame, tag included (33, 32, 31), or None.
    Returns:
        The family's facts, or None when nothing tells. 33 tokens alone do not tell FICS from its likes, and 31
        without ICC's prompt is the FICS 1.6.2 family.
    """
    if banner is not None:
        return DIALECTS[Family(banner)]
    if prompt is not None and prompt.strip() == "aics%":
        return DIALECTS[Family.ICC]
    if tokens == 32:
        return DIALECTS[Family.LASKER]
    if tokens == 31:
        return DIALECTS[Family.OLD]
    return None
