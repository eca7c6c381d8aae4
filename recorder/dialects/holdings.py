"""``<b1>`` lines: the pieces in hand of crazyhouse and bughouse games.

The brackets decide which hand is whose: Capablanca servers print the players' names where others print ``white`` and
``black``. A line belongs to the game it names, which may be the partner's. Source: captures of FICS, FatICS, BICS and
the C servers' board code.
"""

from __future__ import annotations

import re

from recorder.events import HoldingsLine, Line, Malformed

__all__ = ["HOLDINGS_TAG", "format_holdings", "parse_holdings"]

HOLDINGS_TAG = "<b1>"

_HOLDINGS = re.compile(
    r"<b1>\s*+game\s++([0-9]{1,9}+)\s++(?:[^\s\[]++\s*+)?\[\s*+([A-Za-z]*+)\s*+\]"
    r"\s*+(?:[^\s\[]++\s*+)?\[\s*+([A-Za-z]*+)\s*+\]"
    r"(?:\s*+<-\s*+([WBwb])([A-Za-z]))?\s*+"
)


def parse_holdings(line: Line) -> HoldingsLine | Malformed | None:
    """Read a ``<b1>`` line.

    Args:
        line: without prompts.
    Returns:
        The hands (upper case, printed order), ``Malformed``, or None when the line does not begin with the tag.
    """
    match = _HOLDINGS.fullmatch(line.text)
    if match is None:
        if not line.text.startswith(HOLDINGS_TAG):
            return None
        return Malformed(line, HOLDINGS_TAG, "the holdings are not two bracketed lists of letters after a game number")
    number, white, black, side, piece = match.groups()
    return HoldingsLine(
        line,
        int(number),
        white.upper(),
        black.upper(),
        piece and piece.upper(),
        None if side is None else side in "Ww",
    )


def format_holdings(event: HoldingsLine) -> str:
    """Write the line that ``parse_holdings`` reads."""
    passed = "" if event.passed is None else f" <- {'W' if event.passed_to_white else 'B'}{event.passed}"
    return f"<b1> game {event.game_no} white [{event.white}] black [{event.black}]{passed}"
