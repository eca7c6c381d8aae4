"""Probable duplicates: games that the rules leave apart although nothing contradicts that they are one.

The players, the variant and the moves agree, one game has all moves of the other or they overlap, and no observation
of the one contradicts an observation of the other. What is missing is proof: too few equal times, or no time of day.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from recorder.model import Game, GameEnd, GameKind
from recorder.relating.compare import Verdict, close_clocks, compare, equal_seconds
from recorder.relating.game_view import REQUIRED_BITS, View, bits_of, same_move
from recorder.relating.grouping import Decided, Pair, group_alike, pair_of, pairs_to_compare, repeated_often
from recorder.relating.outages import probably_goes_on

_LEAST_PLIES: Final = 6  # that a game must share with a longer one
_LEAST_OVERLAP: Final = 12  # of two that were both cut


class ProbableDuplicate(NamedTuple):
    """The lesser key first; ``clocks`` are the plies of which both print the mover's. Times and lag hold ``bits``."""

    key: str
    other: str
    plies: int
    clocks: int
    equal_clocks: int
    bits: float
    required_bits: int
    pros: tuple[str, ...]
    cons: tuple[str, ...]


class DuplicateGroup(NamedTuple):
    """``pairs``: the best first. ``open``: nothing contradicts it, no person parted them. ``facts``: what is known."""

    pairs: list[ProbableDuplicate]
    open: frozenset[Pair]
    facts: dict[str, tuple[int, ...]]


def find_duplicates(games: Sequence[Game], listed_as: Mapping[str, Game], decided: Decided) -> DuplicateGroup:
    """Each game is as one source gives it; ``listed_as``: by key as listed, a merged game in place of its members."""
    views: list[View] = []
    for group in group_alike([View(game) for game in sorted(games, key=lambda game: game.key)]):
        views += {listed_as[view.game.key].key: view for view in reversed(group)}.values()  # one of each listed game
    near: set[Pair] = set()
    apart: set[Pair] = set()
    often = repeated_often(views)
    for first, other in pairs_to_compare(views):
        two = listed_as[views[first].game.key], listed_as[views[other].game.key]
        pair = pair_of(two[0].key, two[1].key)
        if pair[0] == pair[1] or (first in often and other in often):
            continue
        near.add(pair)
        if decided.part(*(game.merged_from or [game.key] for game in two)) or (
            compare(views[first], views[other]).verdict is Verdict.APART or _numbered_apart(views[first], views[other])
        ):
            apart.add(pair)
    near -= apart
    listed = {game.key: View(game) for game in listed_as.values()}
    pairs = [
        _probable_duplicate(listed[first], listed[other])
        for first, other in near
        if _share_moves(listed[first], listed[other])
    ]
    facts = {key: _facts(view) for key, view in listed.items()}
    return DuplicateGroup(sorted(pairs, key=rank), frozenset(near), facts)


def fold(contents: Iterable[DuplicateGroup], chosen: Collection[str]) -> dict[str, str]:
    """To the game of which most is known; no two of a group contradict each other: the best pair counts."""
    stays: dict[str, str] = {}
    for contained in contents:
        groups: dict[str, list[str]] = {}
        for pair in contained.pairs:
            if pair.key not in chosen or pair.other not in chosen:
                continue
            mine, its = groups.get(pair.key, [pair.key]), groups.get(pair.other, [pair.other])
            if mine is its or any(pair_of(a, b) not in contained.open for a in mine for b in its):
                continue
            joined = [*mine, *its]
            groups |= dict.fromkeys(joined, joined)
        for group in groups.values():
            best = max(sorted(group), key=lambda key: contained.facts[key])
            stays |= {key: best for key in group if key != best}
    return stays


def why_never_one(game: Game, other: Game) -> str | None:
    """As a clause; None: a person can decide that two games are one."""
    if GameKind.PLAYED is not game.kind or game.kind is not other.kind:
        return "one of them was not played"
    if None not in (game.server, other.server) and game.server != other.server:
        return "they are of different sites"
    players = [(either.white.handle.lower(), either.black.handle.lower()) for either in (game, other)]
    if players[0] != players[1]:
        return "the players differ"
    if (game.variant or other.variant) != (other.variant or game.variant):
        return "the variants differ"
    plies = [View(either).plies for either in (game, other)]
    for number in sorted(plies[0].keys() & plies[1].keys()):
        if not same_move(plies[0][number], plies[1][number]):
            return f"the moves differ at ply {number}"
    return None


def _numbered_apart(view: View, other: View) -> bool:
    """Whether both were seen under different numbers, which a game has only if it was resumed."""
    numbers = view.game.game_no, other.game.game_no
    if None in numbers or numbers[0] == numbers[1] or not (view.live and other.live):
        return False
    return not any(either.game.continued or either.game.end is GameEnd.ADJOURNED for either in (view, other))


def _share_moves(view: View, other: View) -> bool:
    """All moves of one or an overlap; of a game lost from sight these are enough if its clocks ran meanwhile."""
    if probably_goes_on(view, other) or probably_goes_on(other, view):
        return True
    part, whole = sorted((view.plies.keys(), other.plies.keys()), key=len)
    if part <= whole:
        return len(part) == len(whole) or len(part) >= _LEAST_PLIES
    return len(part & whole) >= _LEAST_OVERLAP


def rank(pair: ProbableDuplicate) -> tuple[Any, ...]:
    return len(pair.cons), -pair.bits, -pair.equal_clocks, -pair.plies, pair.key, pair.other


def _facts(view: View) -> tuple[int, ...]:
    """What counts most first."""
    plies = view.plies.values()
    times = sum((ply.clock_ms is not None) + (ply.elapsed_ms is not None) + (ply.lag_ms is not None) for ply in plies)
    game = view.game
    return int(game.complete), len(plies), int(game.started_at_ms is not None), times, len(game.merged_from)


def _probable_duplicate(view: View, other: View) -> ProbableDuplicate:
    common = sorted(view.plies.keys() & other.plies.keys())
    pros = [f"{len(common)} equal {'ply' if len(common) == 1 else 'plies'}"]
    cons: list[str] = []
    if len(view.plies) != len(other.plies):
        cons.append(f"{len(view.plies)} and {len(other.plies)} plies")
    clocks = [
        (number, mine, its)
        for number in common
        if (mine := view.plies[number].clock_ms) is not None and (its := other.plies[number].clock_ms) is not None
    ]
    different = [
        clock
        for clock in clocks
        if not close_clocks(clock[1:], (view.plies[clock[0]].precision_code, other.plies[clock[0]].precision_code))
    ]
    equal_clocks = len(clocks) - len(different)
    if clocks:
        pros.append(f"equal clocks at {equal_clocks} of {len(clocks)} plies")
    if different:
        number, mine, its = different[0]
        cons.append(f"clocks differ at ply {number}: {mine} ms and {its} ms")
    lags_ms = _weigh_lag(view, other, common, pros, cons)
    bits = bits_of(equal_seconds(view, other)) + bits_of(lags_ms)
    pros.append(f"equal {'times and lag' if lags_ms else 'times'} hold {bits:.0f} of {REQUIRED_BITS} bits")
    _weigh_headers(view.game, other.game, pros, cons)
    key, second = pair_of(view.game.key, other.game.key)
    return ProbableDuplicate(
        key, second, len(common), len(clocks), equal_clocks, bits, REQUIRED_BITS, tuple(pros), tuple(cons)
    )  # fmt: skip


def _weigh_lag(view: View, other: View, common: list[int], pros: list[str], cons: list[str]) -> dict[int, int]:
    """The lag by ply, empty if any differs."""
    lags = [
        (number, mine, its)
        for number in common
        if (mine := view.plies[number].lag_ms) is not None and (its := other.plies[number].lag_ms) is not None
    ]
    different = [lag for lag in lags if lag[1] != lag[2]]
    if len(lags) > len(different):
        pros.append(f"equal lag at {len(lags) - len(different)} of {len(lags)} plies")
    if different:
        number, mine, its = different[0]
        cons.append(f"lag differs at ply {number}: {mine} ms and {its} ms")
        return {}
    return {number: mine for number, mine, _ in lags}


def _weigh_headers(game: Game, other: Game, pros: list[str], cons: list[str]) -> None:
    if game.game_no is not None and other.game_no is not None:
        same = game.game_no == other.game_no
        text = f"game number {game.game_no} in both" if same else f"game numbers {game.game_no} and {other.game_no}"
        (pros if same else cons).append(text)
    if game.result == other.result:
        pros.append(f"result {game.result} in both")
    else:
        cons.append(f"results {game.result} and {other.result}")
    if game.day is not None and other.day is not None:
        same = game.day == other.day
        (pros if same else cons).append(f"date {game.day} in both" if same else f"dates {game.day} and {other.day}")
    ratings = [(either.white.rating_text, either.black.rating_text) for either in (game, other)]
    if None not in ratings[0] + ratings[1] and ratings[0] != ratings[1]:
        cons.append("ratings differ")
