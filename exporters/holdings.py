"""Which pieces both sides had in hand after a ply."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from operator import attrgetter
from typing import TYPE_CHECKING

from recorder.model import Game, HoldingsChange, Observation, Origin, Ply

if TYPE_CHECKING:
    from recorder.relating.match import Match

__all__ = ["Hands", "hands_after", "hands_at", "hands_in_match", "hands_of", "with_hands"]

Hands = tuple[str | None, str | None]
_UNKNOWN: Hands = (None, None)
_PIECES = "PNBRQ"
_OFFSET = attrgetter("offset")
_NOT_SHOWN = frozenset((Origin.MOVELIST.value, Origin.INFERRED.value))


def hands_of(seen: Observation) -> list[HoldingsChange]:
    """An observation's plain holdings lines in the order of their offsets.

    Lines that tell a passed piece may stand before the frame they belong to: they are not the state after a ply.
    """
    return sorted((change for change in seen.holdings if change.passed is None), key=_OFFSET)


def hands_after(ply: Ply, changes: list[HoldingsChange]) -> Hands:
    """White's and Black's letters after a ply: from the first plain line behind the ply's own, else those before it.

    Only lines that change a hand are kept: where there is none for a ply, that ply's line said what the last one did.
    None where no line is, and for plies that no board showed. Source: servers print a plain ``<b1>`` directly after
    every board of a game with holdings.
    """
    if not changes or ply.origin_code in _NOT_SHOWN:
        return _UNKNOWN
    place = bisect_right(changes, ply.offset, key=_OFFSET)
    if place == len(changes) or changes[place].ply != ply.ply:
        place -= 1
    return _UNKNOWN if place < 0 else (changes[place].white, changes[place].black)


def hands_in_match(match: Match) -> dict[str, dict[int, Hands]]:
    """By board and ply the hands that follow from both boards' captures and drops, for a match without holdings lines.

    A saved match (BPGN) tells the order of all moves and no holdings. Nothing is concluded where holdings were printed,
    where the order is not known, or from the first move on whose capture or drop cannot be told.
    """
    from recorder.relating.match import (
        captures,  # it loads the rules, which most exports do not need
        timeline,
    )

    found: dict[str, dict[int, Hands]] = {"A": {}, "B": {}}
    games = {"A": match.a, "B": match.b}
    moments = timeline(match)
    if any(seen.holdings for game in games.values() for seen in game.observations) or not all(
        moment.certain for moment in moments
    ):
        return found
    if any(game.start_ply or game.start_fen is not None for game in games.values()):
        return found
    taken = {letter: {one.ply: one for one in captures(game)} for letter, game in games.items()}
    hands = {(letter, white): "" for letter in "AB" for white in (True, False)}
    last = dict.fromkeys("AB", 0)
    for moment in moments:
        letter, ply = moment.board, moment.ply
        capture = taken[letter].get(ply.ply)
        told = ply.move is not None and ply.ply == last[letter] + 1 and ("x" in ply.san) is (capture is not None)
        own, other = (letter, ply.white_moved), ("B" if letter == "A" else "A", not ply.white_moved)
        if told and "@" in ply.san:
            piece = ply.san[0] if ply.san[0] != "@" else "P"
            told = piece in hands[own]
            hands[own] = hands[own].replace(piece, "", 1)
        if capture is not None:
            told = told and len(capture.pieces) == 1
            hands[other] = "".join(sorted(hands[other] + capture.pieces, key=_PIECES.index))
        if not told:
            break
        last[letter] = ply.ply
        found[letter][ply.ply] = hands[letter, True], hands[letter, False]
    return found


def hands_at(game: Game, ply: int, offset: int) -> tuple[str, str] | None:
    """White's and Black's letters from the first plain holdings line after the board at ``offset``, or None."""
    for seen in game.observations:
        if seen.offset <= offset <= seen.end_offset:
            for change in seen.holdings:
                if change.passed is None and change.ply == ply and change.offset > offset:
                    return change.white, change.black
    return None


def with_hands(game: Game) -> Iterator[tuple[Ply, Hands]]:
    """The main line's plies, each with the hands after it."""
    if not any(seen.holdings for seen in game.observations):
        for ply in game.plies:
            yield ply, _UNKNOWN
        return
    for segment in game.segments:
        seen = game.observations[segment.observation]
        changes = hands_of(seen)
        for ply in seen.lines[0].plies:
            if segment.from_ply <= ply.ply <= segment.to_ply:
                yield ply, hands_after(ply, changes)
