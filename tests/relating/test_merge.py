"""Which games are one: every recorded scenario from all its connections, and each rule by itself."""

import copy
import itertools
import random
from collections import defaultdict
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from recorder.model import (
    EvidenceKind,
    Game,
    GameEnd,
    ObservationKind,
    Origin,
    Player,
    Ply,
    PlyLine,
    Precision,
    Proof,
    Segment,
    SourceName,
    StartFacts,
    TimeBasis,
)
from recorder.model.observations import SourceKind
from recorder.reading import make_pipeline
from recorder.relating import grouping as alike
from recorder.relating import grouping as parts
from recorder.relating.compare import Verdict, compare
from recorder.relating.game_view import View
from recorder.relating.merge import merge_games
from tests.support import corpus

from .scenes import connections, games_of, played, truth_of, whole

ADJOURNED = ("a11_adjourn_disconnect", "b08_adjourn", "c08_adjourn")


@cache
def _recorded(timed: bool = True) -> dict[tuple[object, ...], list[tuple[str, int | None, Game]]]:
    """All played games of the corpus by server and players, with scenario and number; keys are made to differ."""
    found: dict[tuple[object, ...], list[tuple[str, int | None, Game]]] = defaultdict(list)
    keys: set[str] = set()
    for scenario in corpus.scenarios():
        for connection in connections(scenario):
            numbers = truth_of(scenario, connection)
            for place, game in enumerate(games_of(scenario, connection, timed)):
                if not played([game]):
                    continue
                key = game.key
                while key in keys:
                    key += "+"
                keys.add(key)
                who = (game.server, game.dialect, game.white.handle, game.black.handle)
                found[who].append((scenario, numbers.get(place), replace(game, key=key)))
    return found


def _merged(recorded: list[tuple[str, int | None, Game]]) -> list[tuple[Game, set[tuple[str, int | None]]]]:
    """All games that are left when those that are one are one, with what each was made of."""
    known = {game.key: (scenario, number) for scenario, number, game in recorded}
    merged = merge_games(game for _, _, game in recorded)
    taken = {key for game in merged for key in game.merged_from}
    alone = [(game, {known[game.key]}) for _, _, game in recorded if game.key not in taken]
    return [(game, {known[key] for key in game.merged_from}) for game in merged] + alone


@pytest.mark.long
def test_every_scenario_gives_each_of_its_games_once() -> None:
    """In one archive of everything: no connection's view is left over, and nothing of two scenarios is one."""
    found: dict[str, list[Game]] = defaultdict(list)
    for recorded in _recorded().values():
        for game, of in _merged(recorded):
            assert len({scenario for scenario, _ in of}) == 1
            found[next(iter(of))[0]].append(game)
    for scenario, games in found.items():
        if scenario.startswith("x03"):  # engines without a truth of its own ply by ply
            continue
        expected = sorted((game["white"], game["moves_uci"], game["result"]) for game in whole(scenario))
        assert sorted((game.white.handle, [ply.uci for ply in game.plies], game.result) for game in games) == expected


@pytest.mark.long
def test_without_times_of_day_nothing_wrong_is_merged() -> None:
    """Repeated games differ in nothing but their times, and those of quick games prove nothing: they are not merged."""
    sizes = []
    for recorded in _recorded(timed=False).values():
        for game, of in _merged(recorded):
            scenarios = {scenario for scenario, _ in of}
            assert len(scenarios) == 1
            assert len(of) == 1 or scenarios <= set(ADJOURNED)
            sizes.append(len(game.merged_from))
    assert sum(size > 1 for size in sizes) > 30, "milliseconds tell enough"


@pytest.mark.parametrize("scenario", ADJOURNED[:2])
def test_halves_are_joined_with_the_times_of_the_first(scenario: str) -> None:
    watcher = next(name for name in connections(scenario) if name.startswith("observer"))
    first, second, third = played(games_of(scenario, watcher))[:3]
    recorded = [game for name in connections(scenario) for game in played(games_of(scenario, name))]
    (joined,) = (game for game in merge_games(_between(recorded, "Carlsen", "Caruana")) if len(game.plies) == 45)
    live = [*first.plies, *second.plies[len(first.plies) :], *third.plies[len(second.plies) :]]
    assert [(ply.ply, ply.move, ply.elapsed_ms) for ply in joined.plies] == [
        (ply.ply, ply.move, ply.elapsed_ms) for ply in live
    ]
    if scenario.startswith("a"):  # whose lists tell 0:00.000 for what was played before
        assert sum(ply.elapsed_ms or 0 for ply in joined.plies[:11]) > 1_000
        assert not any(ply.elapsed_ms for ply in third.plies[:11])
    assert (joined.result, joined.end, joined.complete, joined.continued) == ("1-0", "result", True, False)
    assert (joined.started_at_ms or 0) <= (first.started_at_ms or 0)
    assert [one.kind for one in joined.evidence].count(EvidenceKind.CONTINUES) == 2


@pytest.mark.parametrize("unit_ms", [1, 1_000])
def test_zeros_of_a_later_list_never_replace_times_that_an_earlier_list_recorded(unit_ms: int) -> None:
    """The first half was joined late: its first moves are from a list, which prints their real times."""
    watcher = next(name for name in connections(ADJOURNED[0]) if name.startswith("observer"))
    first, second = played(games_of(ADJOURNED[0], watcher))[:2]
    joined_at = 7
    seen, line = first.observations[0], first.observations[0].lines[0]
    listed = [
        ply._replace(
            white_clock_ms=None,
            black_clock_ms=None,
            lag_ms=None,
            at_ms=None,
            elapsed_ms=1_000 * ply.ply + 1_000 // unit_ms,
            precision_code=int(Precision.MILLISECONDS if unit_ms == 1 else Precision.SECONDS),
            proof_code=int(Proof.LIST),
            origin_code=int(Origin.MOVELIST),
        )
        for ply in line.plies[:joined_at]
    ]
    early = replace(
        first,
        observations=[
            replace(seen, lines=[replace(line, rows=line.plies[joined_at:])]),
            replace(seen, kind=ObservationKind.MOVELIST, start=None, lines=[replace(line, rows=listed)]),
        ],
        segments=[Segment(1, joined_at, 1), Segment(joined_at + 1, len(first.plies), 0)],
    )
    assert not any(ply.elapsed_ms for ply in second.plies[: len(first.plies)])
    (game,) = merge_games([early, second])
    assert _elapsed(game)[: len(first.plies)] == _elapsed(early)


def _between(games: list[Game], white: str, black: str) -> list[Game]:
    return [game for game in games if (game.white.handle, game.black.handle) == (white, black)]


def test_one_log_joins_its_own_halves() -> None:
    games = _between(played(games_of("a11_adjourn_disconnect", "player_Carlsen", timed=False)), "Carlsen", "Caruana")
    (joined,) = merge_games(games)
    assert joined.merged_from == sorted(game.key for game in games)
    assert [(part.from_ply, part.to_ply) for part in joined.segments] == [(1, 11), (12, 18), (19, 45)]


def test_a_half_that_fits_two_games_goes_with_neither() -> None:
    """Two resumptions of one adjourned game in other logs, that are not one game: which is which is unknown."""
    first, second = (
        _between(played(games_of("a11_adjourn_disconnect", name, timed=False)), "Carlsen", "Caruana")[place]
        for name, place in (("player_Carlsen", 0), ("player_Caruana", 1))
    )
    assert len(merge_games([first, second])) == 1
    other = _slower(_from(second, "elsewhere"))
    assert merge_games([first, second, other]) == []


def _from(game: Game, name: str) -> Game:
    """The same game as another log contains it."""
    seen = [
        replace(one, source=None if one.source is None else one.source._replace(sha256=name))
        for one in game.observations
    ]
    return replace(game, key=f"{game.key[:-1]}{name[0]}", observations=seen)


def _with_plies(game: Game, **changes: Any) -> Game:
    """With other values in the last ply."""
    seen = game.observations[0]
    line = seen.lines[0]
    last = line.plies[-1]._replace(**changes)
    lines = [PlyLine(0, line.kind, None, None, [*line.plies[:-1], last]), *seen.lines[1:]]
    return replace(game, observations=[replace(seen, lines=lines), *game.observations[1:]])


def _slower(game: Game) -> Game:
    last = game.plies[-1]
    return _with_plies(game, elapsed_ms=(last.elapsed_ms or 0) + 5_000)


@pytest.fixture
def recorded() -> Game:
    """A whole game of which milliseconds are known, and no time of day."""
    games = copy.deepcopy(played(games_of("a13_timeseal_lag", connections("a13_timeseal_lag")[0], timed=False)))
    game = max(games, key=lambda game: len({ply.elapsed_ms for ply in game.plies}))
    assert len({ply.elapsed_ms for ply in game.plies}) > 10
    return game


def test_equal_times_make_one_game(recorded: Game) -> None:
    other = _from(recorded, "other")
    (one,) = merge_games([recorded, other])
    assert one.key == min(recorded.key, other.key)
    assert [ply.offset for ply in one.plies] == [ply.offset for ply in recorded.plies]
    assert compare(View(recorded), View(other)).verdict is Verdict.SAME


@pytest.mark.parametrize(
    "change",
    [
        _slower,
        lambda game: replace(game, server="another.example"),
        lambda game: replace(game, rated=not game.rated),
        lambda game: replace(game, black=Player("Somebody")),
        lambda game: replace(game, result="1-0" if game.result == "0-1" else "0-1", end=GameEnd.RESULT),
        lambda game: replace(game, increment_s=(game.increment_s or 0) + 1),
        lambda game: _with_plies(game, move=1, san="a9"),
    ],
)
def test_what_contradicts_keeps_games_apart(recorded: Game, change: Any) -> None:
    recorded = replace(recorded, server="example.org")
    other = change(_from(recorded, "other"))
    assert compare(View(recorded), View(other)).verdict is Verdict.APART
    assert merge_games([recorded, other]) == []


def test_one_that_fits_two_that_contradict_each_other_goes_with_none(recorded: Game) -> None:
    shorter = replace(_from(recorded, "less"), end=GameEnd.UNOBSERVED, result="*")
    seen = shorter.observations[0]
    plies = seen.lines[0].plies[:-2]
    shorter.observations[0] = replace(seen, lines=[replace(seen.lines[0], rows=plies), *seen.lines[1:]])
    shorter.segments = [part._replace(to_ply=plies[-1].ply) for part in shorter.segments]
    other = _slower(_from(recorded, "other"))
    assert len(merge_games([recorded, shorter])) == 1
    assert len(merge_games([other, shorter])) == 1
    assert merge_games([recorded, other, shorter]) == []


def test_logs_that_show_a_game_alike_are_compared_as_one(recorded: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """The merged games are those that comparing every two logs gives, with the same evidence."""
    shorter = _from(recorded, "less")
    seen = shorter.observations[0]
    rows = seen.lines[0].plies[:-2]
    shorter = replace(shorter, end=GameEnd.UNOBSERVED, result="*", complete=False)
    shorter.observations[0] = replace(seen, lines=[replace(seen.lines[0], rows=rows), *seen.lines[1:]])
    shorter.segments = [part._replace(to_ply=rows[-1].ply) for part in shorter.segments]
    slower = _slower(recorded)
    every = {
        "one game": [_from(recorded, key) for key in "bdf"] + [_from(shorter, key) for key in "ac"],
        "two games": [_from(recorded, key) for key in "ace"] + [_from(slower, key) for key in "bdf"],
        "some that fit both": [_from(shorter, key) for key in "fg"]
        + [_from(recorded, key) for key in "ace"]
        + [_from(slower, key) for key in "bd"],
        "a source with two": [_from(recorded, key) for key in "abc"] + [replace(_from(recorded, "c"), key="d")],
    }
    found = {name: merge_games(games) for name, games in every.items()}
    monkeypatch.setattr(parts, "group_alike", lambda views, *_: [[view] for view in views])
    assert found == {name: merge_games(games) for name, games in every.items()}
    assert [len(games) for games in found.values()] == [1, 2, 2, 0]


def _part_of(game: Game, first: int, last: int, key: str) -> Game:
    """What one source saw of it between two moments: it lost the game, or found it again in mid-game."""
    seen = game.observations[game.segments[0].observation]
    rows = [ply for ply in game.plies if first <= ply.ply <= last]
    start = None if first == 1 else _shown_after(game.plies[first - 2])
    seen = replace(seen, start=start, source=SourceName("cut", "cut"), lines=[replace(seen.lines[0], rows=rows)])
    return replace(
        game,
        key=key,
        observations=[seen],
        segments=[Segment(first, last, 0)],
        start_ply=first - 1,
        first_offset=100 * first,
        last_offset=100 * last + 50,
        complete=False,
        **({} if last == len(game.plies) else {"end": GameEnd.LOST_FEED, "result": "*"}),
    )


def _shown_after(ply: Ply) -> StartFacts:
    return StartFacts(
        ply=ply.ply,
        verbose="",
        pretty=ply.san,
        elapsed_ms=ply.elapsed_ms,
        white_clock_ms=ply.white_clock_ms,
        black_clock_ms=ply.black_clock_ms,
        lag_ms=ply.lag_ms,
        at_ms=None,
        precision_code=ply.precision,
        offset=ply.offset,
    )


def test_fragments_of_a_source_that_lost_the_game_keep_no_others_apart(recorded: Game) -> None:
    last = len(recorded.plies)
    parts = [_part_of(recorded, 1, last // 2, "1"), _part_of(recorded, last // 2 + 1, last, "2")]
    others = [_from(recorded, "other"), _from(recorded, "third")]
    for games in itertools.permutations([*parts, *others]):
        (one,) = merge_games(games)
        assert len(one.merged_from) == 4
        assert _elapsed(one) == _elapsed(recorded)
        assert (one.result, one.end, one.complete) == (recorded.result, recorded.end, recorded.complete)
    (one,) = merge_games([*parts, others[0]])
    assert len(one.merged_from) == 3
    assert merge_games(parts) == [], "nothing proves that the second continues the first"
    number = (recorded.game_no or 0) + 1
    seen = replace(parts[1].observations[0], game_no=number)
    another = replace(parts[1], game_no=number, observations=[seen])
    assert compare(View(parts[0]), View(another)).why == "one source saw both"
    overlapping = _part_of(recorded, last // 2 - 3, last, "2")
    assert compare(View(parts[0]), View(overlapping)).why == "one source saw both"


def test_each_ply_and_each_field_comes_from_the_better_observation(recorded: Game) -> None:
    """Proved before unproved, whatever the precision; ratings from the observation that contains them."""
    other = _with_plies(_from(recorded, "other"), proof_code=int(Proof.UNPROVED))
    recorded.white = recorded.white._replace(rating_text=None, rating=None)
    other.white = other.white._replace(rating_text="1812", rating=1812)
    other.key = "0" * 20
    (one,) = merge_games([recorded, other])
    assert one.plies[-1].proof == Proof.FULL
    assert one.white.rating == 1812
    assert one.key == "0" * 20
    coarse = _from(recorded, "seconds")
    line = coarse.observations[0].lines[0]
    rounded = [
        ply._replace(
            elapsed_ms=None if ply.elapsed_ms is None else ply.elapsed_ms // 1000 * 1000,
            precision_code=Precision.SECONDS,
        )
        for ply in line.plies
    ]
    coarse.observations[0] = replace(coarse.observations[0], lines=[replace(line, rows=rounded)])
    found = merge_games([recorded, _from(recorded, "other"), coarse])
    assert all(ply.precision == Precision.MILLISECONDS for game in found for ply in game.plies)


@pytest.mark.parametrize("name", ["0", "f"])  # the key before and behind the other one's
def test_a_ply_with_both_clocks_goes_before_a_delta(recorded: Game, name: str) -> None:
    """A delta prints the mover's clock only, and nothing of the opponent's clock is lost by it."""
    delta = _from(recorded, name)
    line = delta.observations[0].lines[0]
    bare = [
        ply._replace(**{"black_clock_ms" if ply.ply % 2 else "white_clock_ms": None}, origin_code=int(Origin.DELTA))
        for ply in line.plies
    ]
    delta.observations[0] = replace(delta.observations[0], lines=[replace(line, rows=bare)])
    delta.key = name * 20
    (one,) = merge_games([recorded, delta])
    assert all(ply.white_clock_ms is not None and ply.black_clock_ms is not None for ply in one.plies)
    assert {ply.origin for ply in one.plies} == {ply.origin for ply in recorded.plies}


@pytest.mark.parametrize(("one", "other"), [("0", "f"), ("f", "0")])
def test_equal_plies_are_taken_from_the_earlier_observation(recorded: Game, one: str, other: str) -> None:
    first, second = (replace(_from(recorded, name), key=name * 20) for name in (one, other))
    first.first_offset, second.first_offset = 10, 2_000
    (game,) = merge_games([first, second])
    (segment,) = game.segments
    seen = game.observations[segment.observation].source
    assert seen.sha256 == one


def test_conflicts_are_reported(recorded: Game) -> None:
    other = replace(_from(recorded, "other"), category="odd")
    (one,) = merge_games([recorded, other])
    conflicts = [evidence.text for evidence in one.evidence if evidence.kind is EvidenceKind.CONFLICT]
    assert conflicts == [f"category: {' or '.join(sorted(['odd', recorded.category or '']))}"]


@pytest.mark.long
def test_no_order_counts() -> None:
    chance = random.Random(4)
    for recorded in _recorded().values():
        games = [game for _, _, game in recorded]
        expected = merge_games(games)
        for _ in range(2):
            chance.shuffle(games)
            assert merge_games(games) == expected


def _elapsed(game: Game) -> list[int | None]:
    return [ply.elapsed_ms for ply in game.plies]


def test_times_of_another_basis_are_not_compared(recorded: Game) -> None:
    """A list or a raw log tells no time of day: what was seen at one is no contradiction."""
    timed = games_of("a13_timeseal_lag", connections("a13_timeseal_lag")[0])
    game = next(game for game in played(timed) if [ply.elapsed_ms for ply in game.plies] == _elapsed(recorded))
    untimed = replace(_from(recorded, "other"), server=game.server)
    (one,) = merge_games([game, untimed])
    assert one.time_basis is TimeBasis.UTC
    assert one.started_at_ms == game.started_at_ms


def test_a_list_joins_the_game_that_was_seen(recorded: Game) -> None:
    """``oldmoves`` in another session: no clocks, no arrival, the same elapsed times."""
    listed = _from(recorded, "list")
    seen, line = listed.observations[0], listed.observations[0].lines[0]
    rows = [
        ply._replace(
            white_clock_ms=None,
            black_clock_ms=None,
            lag_ms=None,
            at_ms=None,
            proof_code=int(Proof.LIST),
            origin_code=int(Origin.MOVELIST),
        )
        for ply in line.plies
    ]
    kind = ObservationKind.MOVELIST
    seen = replace(seen, kind=kind, relation=None, start=None, started_at_ms=None, ended_at_ms=None)
    listed.observations[0] = replace(seen, lines=[replace(line, rows=rows)])
    (one,) = merge_games([recorded, listed])
    assert [ply.origin for ply in one.plies] == [Origin.FRAME] * len(recorded.plies)
    other = _from(listed, "elsewhere")
    other.observations[0] = replace(
        other.observations[0],
        lines=[replace(line, rows=[ply._replace(elapsed_ms=(ply.elapsed_ms or 0) + 1) for ply in rows])],
    )
    assert merge_games([recorded, other]) == []
    silent = replace(line, rows=[ply._replace(elapsed_ms=None, precision_code=None) for ply in rows])
    other.observations[0] = replace(other.observations[0], lines=[silent])
    assert merge_games([recorded, other]) == [], "equal moves prove nothing"


def _pgn(moves: str, elapsed_s: list[int], *, source: str, tags: str = "") -> Game:
    """A saved game with elapsed times in whole seconds."""
    words = [
        f"{san} {{[%emt 0:{spent // 60:02}:{spent % 60:02}]}}"
        for san, spent in zip(moves.split(), elapsed_s, strict=False)
    ]
    text = f'[Site "freechess.org"]\n[White "Me"]\n[Black "Bot"]\n{tags}[Result "1-0"]\n\n{" ".join(words)} 1-0\n\n'
    pipeline = make_pipeline(SourceKind.PGN)
    (game,) = [*pipeline.receive(text.encode()), *pipeline.finish()]
    for seen in game.observations:
        seen.source = SourceName(source, source)
    return replace(game, key=source)


OPENING = (
    "e4 e5 Nf3 Nc6 Bb5 a6 Ba4 Nf6 O-O Be7 Re1 b5 Bb3 d6 c3 O-O h3 Na5 Bc2 c5 d4 Qc7 Nbd2 cxd4 cxd4 Nc6 Nb3 a5 Be3 a4"
)
SPENT = [1, 1, 2, 1, 3, 2, 5, 4, 1, 2, 7, 3, 2, 9, 4, 1, 6, 2, 8, 3, 1, 12, 5, 2, 4, 6, 3, 1, 2, 10]


def test_whole_seconds_must_be_equal() -> None:
    """A program that plays the same game again takes nearly the same time for each move."""
    recorded = _pgn(OPENING, SPENT, source="a")
    assert len(merge_games([recorded, _pgn(OPENING, SPENT, source="b")])) == 1
    for ply in (3, 29):
        jitter = [spent + (number == ply) for number, spent in enumerate(SPENT)]
        assert merge_games([recorded, _pgn(OPENING, jitter, source="b")]) == []


def test_a_few_seconds_of_an_opening_prove_nothing() -> None:
    moves = " ".join(OPENING.split()[:10])
    assert merge_games([_pgn(moves, SPENT, source=name) for name in "ab"]) == []


def test_one_that_was_over_is_not_one_that_went_on() -> None:
    shorter = _pgn(" ".join(OPENING.split()[:26]), SPENT, source="a")
    assert merge_games([shorter, _pgn(OPENING, SPENT, source="b")]) == []


@pytest.mark.parametrize(
    ("first", "second", "one"),
    [
        ('[Date "2013.04.01"]\n', '[Date "2013.04.01"]\n', True),
        ('[Date "2013.04.01"]\n', '[Date "2013.04.02"]\n', True),  # of other zones
        ('[Date "2013.04.01"]\n', '[Date "2014.04.01"]\n', False),
        ('[Date "2013.04.01"]\n', '[UTCDate "2013.04.08"]\n[UTCTime "10:00:00"]\n', False),
        ('[Date "2013.04.01"]\n[Time "10:00:00"]\n', '[Date "????.??.??"]\n', True),
        ('[Date "2013.04.01"]\n[Time "10:00:00"]\n', '[Date "2013.04.06"]\n[Time "10:00:00"]\n', False),
    ],
)
def test_saved_games_of_other_days_are_apart(first: str, second: str, one: bool) -> None:
    games = [_pgn(OPENING, SPENT, source="a", tags=first), _pgn(OPENING, SPENT, source="b", tags=second)]
    assert len(merge_games(games)) == one


def test_a_list_is_of_no_game_that_was_played_later() -> None:
    timed = games_of("a13_timeseal_lag", connections("a13_timeseal_lag")[0])
    game = max(played(timed), key=lambda game: len({ply.elapsed_ms for ply in game.plies}))
    listed = copy.deepcopy(_from(game, "list"))
    for seen in listed.observations:
        seen.kind, seen.start = ObservationKind.MOVELIST, None
    at_ms = game.observations[0].started_at_ms
    assert at_ms is not None
    listed.observations[0].started_at_ms = at_ms + 3_600_000
    assert compare(View(game), View(listed)).verdict is Verdict.SAME
    listed.observations[0].started_at_ms = at_ms - 3_600_000
    assert compare(View(game), View(listed)).why == "they were on other days"


def test_games_with_other_first_moves_are_not_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """An archive may contain thousands of games with one opponent."""
    compared: list[tuple[str, str]] = []

    def counted(one: View, other: View) -> object:
        compared.append((one.game.key, other.game.key))
        return compare(one, other)

    for module in (parts, alike):
        monkeypatch.setattr(module, "compare", counted)
    moves = OPENING.split()
    games = [_pgn(f"{first} {' '.join(moves[1:6])}", SPENT, source=f"{first}1") for first in ("a3", "h3", "d3", "c3")]
    recorded = [_pgn(OPENING, SPENT, source=name) for name in ("w1", "w2")]
    began = _pgn(" ".join(moves[:5]), SPENT, source="w3", tags='[Termination "unterminated"]\n')
    assert len(merge_games([*games, *recorded, began])) == 1
    assert set(compared) == {("w1", "w2"), ("w1", "w3")}, "w2 is like w1"
