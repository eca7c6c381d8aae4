"""The pieces in hand after each ply of a game.

They are those that the server printed; those of a saved bughouse match follow from its moves.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from recorder.model import (
    Game,
    HoldingsChange,
    Observation,
    Origin,
    Ply,
    name_plies,
    taken_rows,
)

if TYPE_CHECKING:
    from recorder.relating.match import Match

BothHoldings = tuple[str | None, str | None]
_UNKNOWN: BothHoldings = (None, None)
_PIECES = "PNBRQ"
_OFFSET = attrgetter("offset")
_NOT_SHOWN = frozenset((Origin.MOVELIST.value, Origin.INFERRED.value))


def holdings_lines(observation: Observation) -> list[HoldingsChange]:
    """Plain ones by offset; those with a passed piece may precede the frame they belong to."""
    return sorted((change for change in observation.holdings if change.passed is None), key=_OFFSET)


def holdings_after(ply: Ply, changes: list[HoldingsChange]) -> BothHoldings:
    """White's and Black's letters after a ply: from the first plain line behind the ply's own, else those before it.

    Only lines that change the holdings are stored: a ply without one has those of the line before it.
    None where no line is, and for plies that no board showed. Source: servers print a plain ``<b1>`` directly after
    every board of a game with holdings.
    """
    if not changes or ply.origin_code in _NOT_SHOWN:
        return _UNKNOWN
    index = bisect_right(changes, ply.offset, key=_OFFSET)
    if index == len(changes) or changes[index].ply != ply.ply:
        index -= 1
    return _UNKNOWN if index < 0 else (changes[index].white, changes[index].black)


def match_holdings(match: Match) -> dict[str, dict[int, BothHoldings]]:
    """For a match without holdings lines, up to the first capture or drop that is unknown."""
    from recorder.relating.match import (
        captures,  # it loads the rules, which most exports do not need
        timeline,
    )

    after: dict[str, dict[int, BothHoldings]] = {"A": {}, "B": {}}
    games = {"A": match.a, "B": match.b}
    moments = timeline(match)
    if any(observation.holdings for game in games.values() for observation in game.observations) or not all(
        moment.certain for moment in moments
    ):
        return after
    if any(game.start_ply or game.start_fen is not None for game in games.values()):
        return after
    taken = {letter: {taking.ply: taking for taking in captures(game)} for letter, game in games.items()}
    holdings = {(letter, white): "" for letter in "AB" for white in (True, False)}
    last = dict.fromkeys("AB", 0)
    for moment in moments:
        letter, ply = moment.board, moment.ply
        capture = taken[letter].get(ply.ply)
        certain = ply.move is not None and ply.ply == last[letter] + 1 and ("x" in ply.san) is (capture is not None)
        own, other = (letter, ply.white_moved), ("B" if letter == "A" else "A", not ply.white_moved)
        if certain and "@" in ply.san:
            piece = ply.san[0] if ply.san[0] != "@" else "P"
            certain = piece in holdings[own]
            holdings[own] = holdings[own].replace(piece, "", 1)
        if capture is not None:
            certain = certain and len(capture.pieces) == 1
            holdings[other] = "".join(sorted(holdings[other] + capture.pieces, key=_PIECES.index))
        if not certain:
            break
        last[letter] = ply.ply
        after[letter][ply.ply] = holdings[letter, True], holdings[letter, False]
    return after


def plies_with_holdings(game: Game) -> Iterator[tuple[Ply, BothHoldings]]:
    if not any(observation.holdings for observation in game.observations):
        for ply in game.plies:
            yield ply, _UNKNOWN
        return
    for segment in game.segments:
        observation = game.observations[segment.observation]
        changes = holdings_lines(observation)
        for ply in name_plies(taken_rows(segment, game.observations)):
            yield ply, holdings_after(ply, changes)
