"""Games of several sources into games: which are one, and what each ply and header field is taken from.

Games of single sources are grouped: first those that were seen twice (``grouping``), then halves of adjourned ones
(``_chains``); a group becomes one game whose segments point to the observations of all its members.

Nothing is averaged and nothing is overwritten. Each ply is one ply of one observation, the one that shows it best: it
is proved better, has both clocks, milliseconds, was seen live, has lag and arrival, is of the source with more plies,
of the earlier source (``_best_plies``). So a game that was seen by an observer in seconds until move 20, and by a
player in milliseconds from move 15 on, has the observer's plies 1 to 28 and the player's from 29 on, in two segments::

    <12> … 1 1 Tal Smyslov  0 3 2 35 35 141 138 15 P/a7-a6 (0:04) a6 0                        ply 28: the observer's
    <12> … 1 1 Tal Smyslov  0 3 2 35 35 139 138 15 B/b5-a4 (0:03) Ba4 0                       ply 29: worse, not taken
    <12> … 1 1 Tal Smyslov -1 3 2 35 35 139840 138125 15 B/b5-a4 (0:03.310) Ba4 0 1 84        ply 29: the player's

A header field is that of the best source in which it is known. What sources say differently is listed as a conflict.

One half continues another only if one source saw both, or if each of the two fits no other half: a chain is joined
where there is one way, never where there is a choice.

Groups and games are functions of the set of members: no order of import counts, and no hash (a log that grows gets
another one). What must never happen: alternate plies of two logs that differ in their clocks (so there is one order of
sources for all plies of a rank); a game whose key changes when another source of it is imported and deleted again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import pairwise, product
from typing import TypeVar

from recorder.model import (
    Evidence,
    EvidenceKind,
    Game,
    GameEnd,
    Observation,
    Player,
    Ply,
    Precision,
    Proof,
    Segment,
    StartPrecision,
    TimeBasis,
    name_plies,
    taken_rows,
)
from recorder.relating.board_order import BoardOrders
from recorder.relating.examined import continues, resumed_at
from recorder.relating.game_view import View, same_move
from recorder.relating.grouping import UNDECIDED, Decided, ObservationGroup, same_parts
from recorder.relating.outages import backward_ms, taken_back_at
from recorder.tracking.main_line import segments_of

_Value = TypeVar("_Value")

_PROOFS = {
    Proof.FULL.value: 0,
    Proof.LIST.value: 1,
    Proof.INFERRED.value: 2,
    Proof.UNPROVED.value: 3,
    Proof.CONFLICT.value: 4,
}
_PRECISIONS = {
    Precision.MILLISECONDS.value: 0,
    Precision.ELAPSED_DERIVED_MILLISECONDS.value: 1,
    Precision.SECONDS.value: 2,
    Precision.ELAPSED_DERIVED_SECONDS.value: 3,
    Precision.DERIVED_MILLISECONDS.value: 4,
    Precision.DERIVED_SECONDS.value: 5,
    None: 6,
}
_BASES = (TimeBasis.UTC, TimeBasis.LOCAL, TimeBasis.CLOCK, TimeBasis.NONE)
_ENDS = {GameEnd.RESULT: 0, GameEnd.ADJOURNED: 1, GameEnd.ABORTED: 2}


def merge_games(games: Iterable[Game], orders: BoardOrders | None = None, decided: Decided = UNDECIDED) -> list[Game]:
    """Return the games that several of these make, by key.

    Each of ``games`` is of one source, and all are of the same players with the same colours.

    ``merged_from`` are the members' keys in ascending order, the first of which is the merged game's own;
    ``observations`` are theirs in that order. ``orders`` is asked only if nothing else shows that two are one.
    """
    views = [View(game) for game in sorted(games, key=lambda game: game.key)]
    chains = _chains(same_parts(views, orders, decided), decided)
    merged = [_canonical(chain) for chain in chains if sum(len(part.views) for part in chain) > 1]
    return sorted(merged, key=lambda game: game.key)


# --- which continue which


def _chains(parts: list[ObservationGroup], decided: Decided) -> list[list[ObservationGroup]]:
    """Parts in the order in which they were played, joined if one certainly continues another."""
    earlier = [part for part in parts if any(view.game.end.may_go_on for view in part.views)]
    later = [part for part in parts if any(resumed_at(view) for view in part.views)]
    edges: dict[tuple[str, str], str] = {}
    sure: set[tuple[str, str]] = set()  # one source saw both
    for before in earlier:
        for after in later:
            whys = [] if before is after or decided.part(before.keys, after.keys) else [
                (view, other, why)
                for view in before.views
                for other in after.views
                if (why := continues(view, other)) is not None
            ]  # fmt: skip
            if whys:
                edge = (before.name, after.name)
                edges[edge] = whys[0][2]
                if any(one.source is not None and one.source == other.source for one, other, _ in whys):
                    sure.add(edge)
    # What one source saw counts first; a part that such an edge leads from or to gets no others.
    chosen = _only(_nearest(sure, {part.name: part for part in parts}))
    starts, ends = {one for one, _ in sure}, {other for _, other in sure}
    chosen |= _only({edge for edge in edges if edge[0] not in starts and edge[1] not in ends})
    by_name = {part.name: part for part in parts}
    after_of = dict(chosen)
    following_ones = set(after_of.values())
    for one, other in chosen:
        by_name[other].evidence.append(Evidence(EvidenceKind.CONTINUES, edges[one, other]))
    chains: list[list[ObservationGroup]] = []
    for part in parts:
        if part.name in following_ones:
            continue
        chain = [part]
        while (following := after_of.get(chain[-1].name)) is not None:
            chain.append(by_name[following])
        chains.append(chain)
    return chains


def _nearest(edges: set[tuple[str, str]], parts: dict[str, ObservationGroup]) -> set[tuple[str, str]]:
    nearest: set[tuple[str, str]] = set()
    for name in {before for before, _ in edges}:
        sources = {view.source for view in parts[name].views}
        places: dict[str | None, list[tuple[int, str]]] = {}
        for before, after in edges:
            if before == name:
                for view in parts[after].views:
                    if view.source in sources:
                        places.setdefault(view.source, []).append((view.game.first_offset, after))
        nearest |= {(name, min(here)[1]) for here in places.values()}
    return nearest


def _only(edges: set[tuple[str, str]]) -> set[tuple[str, str]]:
    starts, ends = Counter(before for before, _ in edges), Counter(after for _, after in edges)
    return {(before, after) for before, after in edges if starts[before] == 1 and ends[after] == 1}


# --- what the game is


def _canonical(chain: list[ObservationGroup]) -> Game:
    members = sorted((view for part in chain for view in part.views), key=lambda view: view.game.key)
    firsts: dict[str, int] = {}  # key → number of its first observation
    observations: list[Observation] = []
    for view in members:
        firsts[view.game.key] = len(observations)
        observations += view.game.observations
    basis = min((view.game.time_basis for view in members), key=_BASES.index)
    plies = _best_plies(chain, firsts, basis)
    segments = segments_of(plies)
    lead = members[0].game
    best, opening, ending = _ranked(members), _ranked(chain[0].views), _ranked(chain[-1].views)
    ending_game = min(ending, key=lambda game: _ENDS.get(game.end, 3))
    begun = _begun(chain, basis, ending_game.ended_at_ms if ending_game.time_basis is basis else None)
    named = next((game for game in best if game.variant is not None and not game.variant_inferred), None)
    named = named or next((game for game in best if game.variant is not None), best[0])
    timed = next((game for game in best if game.base_s), best[0])
    start_fen, start_ply = _start(segments, observations, opening[0])
    whole = start_ply == 0 and all(two.from_ply == one.to_ply + 1 for one, two in pairwise(segments))
    proved = all(ply.proof_code not in (Proof.UNPROVED, Proof.CONFLICT) for _, ply in plies.values())
    return Game(
        key=lead.key,
        kind=lead.kind,
        server=_first(best, lambda game: game.server),
        dialect=_first(best, lambda game: game.dialect),
        game_no=_first(ending, lambda game: game.game_no),
        white=_player([game.white for game in best]),
        black=_player([game.black for game in best]),
        rated=_first(best, lambda game: game.rated),
        variant=named.variant,
        category=_first(best, lambda game: game.category),
        base_s=timed.base_s,
        increment_s=timed.increment_s,
        black_base_s=timed.black_base_s,
        black_increment_s=timed.black_increment_s,
        base_inferred=timed.base_inferred,
        variant_inferred=named.variant_inferred,
        start_fen=start_fen,
        start_ply=start_ply,
        result=ending_game.result,
        reason=ending_game.reason,
        reason_key=ending_game.reason_key,
        termination=ending_game.termination,
        end=ending_game.end,
        started_at_ms=None if begun is None else begun.started_at_ms,
        start_precision=None if begun is None else begun.start_precision,
        ended_at_ms=_first([ending_game, *ending], lambda game: game.ended_at_ms if game.time_basis is basis else None),
        time_basis=basis,
        date_text=_first(opening, lambda game: game.date_text) or _first(best, lambda game: game.date_text),
        complete=whole and proved and bool(segments) and ending_game.end.is_over,
        continued=start_ply > 0 and any(game.continued for game in opening),
        partner_game_no=_first(ending, lambda game: game.partner_game_no),
        me=lead.me if all(view.game.me == lead.me for view in members) else None,
        observations=observations,
        segments=segments,
        first_offset=lead.first_offset,
        last_offset=lead.last_offset,
        merged_from=[view.game.key for view in members],
        evidence=[*(reason for part in chain for reason in part.evidence), *_conflicts(chain)],
    )


def _ranked(views: Iterable[View]) -> list[Game]:
    """Games, the best source of header fields first: live before others, players before observers, more before less."""

    def rank(view: View) -> tuple[bool, bool, bool, int, tuple[object, ...]]:
        game = view.game
        played = any(abs(observation.relation or 0) == 1 for observation in view.live)
        return not view.live, not played, not game.complete, -len(view.plies), _earlier(view)

    return [view.game for view in sorted(views, key=rank)]


def _earlier(view: View) -> tuple[object, ...]:
    """Order of sources that know equally much: the earlier beginning first, in time or in the log.

    One order for all plies, so that a game is not put together from alternate plies of two logs; and no hash: a key
    says nothing, and a log that grows gets another one.
    """
    began = view.span_ms[0] if view.span_ms is not None else None
    arrivals = [ply.at_ms or 0 for ply in view.plies.values()]
    name = next((seen.source.name for seen in view.game.observations if seen.source is not None), "")
    return began is None, began or 0, view.game.first_offset, view.game.me or "", arrivals, name


def _first(games: Iterable[Game], field: Callable[[Game], _Value | None]) -> _Value | None:
    return next((value for game in games if (value := field(game)) is not None), None)


def _player(versions: list[Player]) -> Player:
    """As the best source has it, completed by the others."""
    rated = next((version for version in versions if version.rating_text is not None), versions[0])
    return Player(
        rated.handle,
        rated.rating_text,
        rated.rating,
        next((version.titles for version in versions if version.titles is not None), None),
        next((version.registered for version in versions if version.registered is not None), None),
        next((version.sealed for version in versions if version.sealed is not None), None),
    )


def _best_plies(chain: list[ObservationGroup], firsts: dict[str, int], basis: TimeBasis) -> dict[int, tuple[int, Ply]]:
    """Times of 0:00 in a list printed after a resumption are not the moves' own: what was recorded then is better."""
    best: dict[int, tuple[tuple[object, ...], int, Ply]] = {}
    limit: int | None = None
    # From the last part of the chain back: each part counts up to the ply at which the next one resumed the game.
    for part in reversed(chain):
        begun = [min(view.live_plies) - 1 for view in part.views if view.live_plies]
        begun += [start.ply for view in part.views for start in view.starts]
        resumed = min(begun, default=0) if part is not chain[0] else 0
        last_valid = _last_valid(part.views)
        for view in part.views:
            first = firsts[view.game.key]
            timed = view.game.time_basis is basis
            earlier = _earlier(view)
            for segment in view.game.segments:
                for ply in name_plies(taken_rows(segment, view.game.observations)):
                    if limit is not None and ply.ply > limit:
                        continue
                    if ply.ply > last_valid.get(view.game.key, ply.ply):
                        continue
                    # The smallest counts. Sources come last, so that they decide only between equally good plies.
                    rank = (
                        _PROOFS[ply.proof_code],
                        ply.ply <= resumed and ply.elapsed_ms == 0,
                        (ply.white_clock_ms is None) + (ply.black_clock_ms is None),
                        _PRECISIONS[ply.precision_code],
                        ply.ply not in view.live_plies,
                        ply.lag_ms is None,
                        ply.at_ms is None or not timed,
                        -len(view.plies),
                        earlier,
                    )
                    if ply.ply not in best or rank < best[ply.ply][0]:
                        best[ply.ply] = (rank, first + segment.observation, ply)
        if begun:
            limit = min([*begun, *([] if limit is None else [limit])])
    return {number: best[number][1:] for number in sorted(best)}


def _last_valid(views: list[View]) -> dict[str, int]:
    """Key → the last ply that was not taken back after its game was lost from sight; only where some were."""
    moves: dict[int, Ply] = {}
    if all(same_move(moves.setdefault(number, ply), ply) for view in views for number, ply in view.plies.items()):
        return {}
    pairs = ((view.game.key, taken_back_at(view, other)) for view in views for other in views)
    last: dict[str, int] = {}
    for key, number in pairs:
        if number is not None:
            last[key] = min(number - 1, last.get(key, number))
    return last


def _start(segments: list[Segment], observations: list[Observation], lead: Game) -> tuple[str | None, int]:
    """The FEN of the first known position (None: the normal start, or unknown) and the half-moves played before it."""
    if not segments:
        return lead.start_fen, lead.start_ply
    wanted = segments[0].from_ply - 1
    anchors = observations[segments[0].observation].anchors
    return next((anchor.fen for anchor in anchors if anchor.line == 0 and anchor.ply == wanted), None), wanted


def _begun(chain: list[ObservationGroup], basis: TimeBasis, ended_ms: int | None) -> Game | None:
    """Live, with most of the beginning, not only to the minute; not after ``ended_ms``. None: no source has one."""

    def rank(view: View) -> tuple[bool, int, bool, int]:
        game = view.game
        return not view.live, game.start_ply, game.start_precision is StartPrecision.MINUTE, game.started_at_ms or 0

    first: list[View] = []
    for part in chain:
        timed = [view for view in part.views if view.game.time_basis is basis and view.game.started_at_ms is not None]
        possible = [view for view in timed if ended_ms is None or (view.game.started_at_ms or 0) <= ended_ms]
        if possible:
            return min(possible, key=rank).game
        first = first or timed
        if not first:
            return None
    return min(first, key=rank).game


# --- in what they contradict each other


def _conflicts(chain: list[ObservationGroup]) -> list[Evidence]:
    games = [view.game for part in chain for view in part.views]
    fields: tuple[tuple[str, Callable[[Game], object]], ...] = (
        ("rated", lambda game: game.rated),
        ("category", lambda game: game.category),
        ("variant", lambda game: game.variant),
        ("White's rating", lambda game: game.white.rating_text and game.white.rating_text.strip()),
        ("Black's rating", lambda game: game.black.rating_text and game.black.rating_text.strip()),
        ("base time in seconds", lambda game: game.base_s or None),
    )
    texts = []
    for name, field in fields:
        values = sorted({str(value) for game in games if (value := field(game)) is not None})
        if len(values) > 1:
            texts.append(f"{name}: {' or '.join(values)}")
    for part in chain:
        ends = sorted({f"{game.result} {game.reason_key or game.end}" for game in _ended_games(part)})
        if len(ends) > 1:
            texts.append(f"end: {' or '.join(ends)}")
        texts += _other_times(part.views)
        texts += _other_arrivals(part.views)
    return [Evidence(EvidenceKind.CONFLICT, text) for text in texts]


def _ended_games(part: ObservationGroup) -> list[Game]:
    return [view.game for view in part.views if view.game.end.is_over]


def _other_times(views: list[View]) -> list[str]:
    different: dict[str, tuple[int, int]] = {}
    last_valid = _last_valid(views)
    for number in sorted({number for view in views for number in view.live_plies}):
        for precision, word in ((Precision.MILLISECONDS, "ms"), (Precision.SECONDS, "s")):
            clocks = {
                clock
                for view in views
                if number in view.live_plies
                and number <= last_valid.get(view.game.key, number)
                and view.plies[number].precision_code == precision
                and (clock := view.plies[number].clock_ms) is not None
            }
            if len(clocks) > 1:
                plies, most = different.get(word, (0, 0))
                different[word] = (plies + 1, max(most, max(clocks) - min(clocks)))
    return [
        f"clocks printed in {word}: other ones at {plies} plies, by up to {most} ms"
        for word, (plies, most) in different.items()
    ]


def _other_arrivals(views: list[View]) -> list[str]:
    lost, joined = [view for view in views if view.game.end.is_lost], [view for view in views if view.starts]
    most_ms = max((backward_ms(*pair) or 0 for pair in product(lost, joined)), default=0)
    return [f"arrival times: those of an earlier part are up to {most_ms} ms later"] if most_ms else []
