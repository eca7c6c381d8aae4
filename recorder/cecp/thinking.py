"""Thinking output: ``ply score time nodes pv``, and the answer to ``.`` in analyze mode."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_LINE: Final = re.compile(
    r"\s*([0-9]{1,9})(\S?)[ \t]+([-+]?[0-9]{1,18})[ \t]+([0-9]{1,15})[ \t]+([0-9]{1,20})(.*)", re.ASCII
)
_NUMBERS: Final = re.compile(r"(?:\s*[0-9]+(?=\s|$))*\s*", re.ASCII)
_STATUS: Final = re.compile(r"stat01: [0-9]{1,15} ([0-9]{1,20}) [0-9]{1,9} [0-9]{1,9} [0-9]{1,9}(?: \S.*)?", re.ASCII)
_MATE: Final = 100_000
_MOST_MOVES: Final = 1_000  # to a mate
_MILLION: Final = 1_000_000  # Sjeng
_MILLION_PLIES: Final = 1_000  # to its mates: it has no other score so near
_FARTHEST_PLIES: Final = 400  # beyond, such a score is the edge of a search window (Sjeng: -999500), no distance
_TEN_THOUSAND: Final = 10_000  # GNU Chess
_TEN_THOUSAND_PLIES: Final = 100
_MOST_EXTRAS: Final = 16


class ThinkingLine(NamedTuple):
    """One line of thinking output as printed; ``mark`` is what GNU Chess prints behind the depth (``.+&``).

    ``score`` is in hundredths of a pawn as the engine sees it, or ±(100000 + moves to mate), or a mate as Sjeng or GNU
    Chess count it (see ``mate``). ``time`` is in hundredths of a second, but in seconds behind a mark. ``extras`` are
    the numbers between nodes and a tab: selective depth, speed, reserved numbers, tablebase hits.
    """

    depth: int
    mark: str
    score: int
    time: int
    nodes: int
    extras: tuple[int, ...]
    pv: str

    @property
    def score_cp(self) -> int | None:
        """None: it is a mate."""
        return self.score if not _is_standard_mate(self.score) and _plies_to_mate(self.score) is None else None

    @property
    def mate(self) -> int | None:
        """Negative if the engine is mated; None: not a mate score, or the distance is uncertain."""
        if _is_standard_mate(self.score):
            return self.score - _MATE if self.score > 0 else self.score + _MATE
        # Source: section 10. Two engines count plies instead, as their scores of known mates show: Sjeng from a million
        # (999998 before the mating move, -999997 a move before it is mated), GNU Chess from ten thousand (9999, -9998).
        # The mating side needs an odd number of plies and the mated side an even one, else the score is not a distance.
        plies = _plies_to_mate(self.score)
        if plies is None or not 1 <= plies <= _FARTHEST_PLIES or (plies % 2 == 1) != (self.score > 0):
            return None
        moves = (plies + 1) // 2
        return moves if self.score > 0 else -moves

    @property
    def time_ms(self) -> int:
        return self.time * (1000 if self.mark else 10)

    @property
    def selective_depth(self) -> int | None:
        return self.extras[0] if len(self.extras) > 1 else None

    @property
    def nodes_per_s(self) -> int | None:
        return self.extras[1] if len(self.extras) > 2 else None

    @property
    def tablebase_hits(self) -> int | None:
        return self.extras[-1] if self.extras else None


def parse_thinking(text: str) -> ThinkingLine | None:
    """Read a line of thinking output; None: another line."""
    match = _LINE.fullmatch(text)
    if match is None:
        return None
    depth, mark, score, time, nodes, rest = match.groups()
    if rest and rest[0] not in " \t":
        return None
    # Source: section 10. Numbers are extras only before the last tab in front of the first word that is no number; the
    # first is the selective depth, the second the speed, the last the tablebase hits.
    extras: tuple[int, ...] = ()
    numbers = _NUMBERS.match(rest)
    head = numbers[0] if numbers is not None else ""
    tab = head.rfind("\t")
    if tab >= 0:
        found = head[:tab].split()
        if len(found) <= _MOST_EXTRAS and all(len(number) <= 20 for number in found):
            extras, rest = tuple(map(int, found)), rest[tab + 1 :]
    return ThinkingLine(int(depth), mark, int(score), int(time), int(nodes), extras, rest.strip())


def _is_standard_mate(score: int) -> bool:
    return _MATE < abs(score) <= _MATE + _MOST_MOVES


def _plies_to_mate(score: int) -> int | None:
    """Plies to a mate as Sjeng and GNU Chess count them; None: another score."""
    if _MILLION - _MILLION_PLIES <= abs(score) <= _MILLION:
        return _MILLION - 1 - abs(score)
    if _TEN_THOUSAND - _TEN_THOUSAND_PLIES <= abs(score) <= _TEN_THOUSAND:
        return _TEN_THOUSAND - abs(score)
    return None


class Status(NamedTuple):
    """``stat01``, the answer to ``.``: how many nodes the search has visited."""

    nodes: int


def parse_status(text: str) -> Status | None:
    """``stat01: time nodes ply mvleft mvtot mvname``."""
    match = _STATUS.fullmatch(text.rstrip())
    return None if match is None else Status(int(match[1]))
