"""Which two games were one match: what recorded servers show, and what must not be guessed."""

import random
from dataclasses import replace
from pathlib import Path

import pytest

from recorder import read_games
from recorder.model import Game, Observation, SourceName, TimeBasis
from recorder.relating import bughouse
from recorder.relating.bughouse import pair_bughouse
from recorder.relating.match import captures, passes
from tests.relating.matches import OF_BOTH_BOARDS, SCENARIOS, games_of, partners_of
from tests.support.corpus import streams

PUBLIC = Path(__file__).parent.parent / "corpus" / "public"


def from_source(games: list[Game], name: str) -> list[Game]:
    """The games as an archive gives them: each observation knows its log."""

    def sourced(seen: Observation) -> Observation:
        return replace(seen, source=SourceName(name, name))

    return [replace(game, observations=[sourced(seen) for seen in game.observations]) for game in games]


@pytest.mark.parametrize(("scenario", "connection"), OF_BOTH_BOARDS)
def test_the_matches_of_an_observer_of_both_boards(scenario: str, connection: str) -> None:
    games = games_of(scenario, connection)
    by_key = {game.key: game for game in games}
    found = {
        frozenset((by_key[key].white.handle, by_key[key].game_no, len(by_key[key].plies)) for key in pair[:2])
        for pair in pair_bughouse(games)
    }
    assert found == {frozenset(side[:3] for side in match) for match in partners_of(scenario)}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_who_sees_one_board_has_no_match(scenario: str) -> None:
    both = {connection for _, connection in OF_BOTH_BOARDS}
    for stream in streams(scenario):
        if stream.connection not in both:
            assert pair_bughouse(games_of(scenario, stream.connection)) == []


def test_the_order_of_the_games_does_not_count() -> None:
    games = [
        game
        for scenario, connection in OF_BOTH_BOARDS
        for game in from_source(games_of(scenario, connection), scenario)
    ]
    expected = pair_bughouse(games)
    assert len(expected) == 7
    for seed in range(5):
        random.Random(seed).shuffle(games)
        assert pair_bughouse(games) == expected


def test_every_captured_piece_is_the_evidence() -> None:
    games = games_of("a12_bughouse", "observer_GuestBga")
    words = [evidence for _, _, evidence in pair_bughouse(games)]
    totals = [sum(len(captures(game)) for game in games[at : at + 2]) for at in (0, 2, 4)]
    assert sorted(words) == sorted(
        f"{total} of {total} captured pieces came into the hands of the other board" for total in totals
    )


def test_two_players_logs_are_paired_by_the_partners_number_and_the_pieces() -> None:
    """Each player's log has one board; it names the partner's game, and its passes are the other log's captures."""
    games = [
        *from_source(games_of("b06_bughouse", "player_Fischer"), "Fischer"),
        *from_source(games_of("b06_bughouse", "player_Spassky"), "Spassky"),
    ]
    by_key = {game.key: game for game in games}
    assert {game.partner_game_no for game in games} == {2, 3}
    pairs = pair_bughouse(games)
    assert sorted(sorted(len(by_key[key].plies) for key in pair[:2]) for pair in pairs) == [[46, 47], [87, 99]]
    assert all("names" in evidence and "captured pieces" in evidence for *_, evidence in pairs)


def test_where_two_logs_show_the_same_board_nothing_is_guessed() -> None:
    """Spassky's and Petrosian's games are the same game twice: which of them would be the partner?"""
    games = [
        *from_source(games_of("b06_bughouse", "player_Fischer"), "Fischer"),
        *from_source(games_of("b06_bughouse", "player_Spassky"), "Spassky"),
        *from_source(games_of("b06_bughouse", "player_Petrosian"), "Petrosian"),
    ]
    assert pair_bughouse(games) == []


def test_a_board_that_two_logs_show_as_one_game_has_its_partner() -> None:
    """Fischer's and Karpov's logs merged: each pass is there twice."""
    fischer, karpov = (from_source(games_of("b06_bughouse", f"player_{name}"), name) for name in ("Fischer", "Karpov"))
    merged = [
        replace(one, observations=[*one.observations, *other.observations])
        for one, other in zip(fischer, karpov, strict=True)
    ]
    spassky = from_source(games_of("b06_bughouse", "player_Spassky"), "Spassky")
    assert len(pair_bughouse([*merged, *spassky])) == 2


def test_games_of_different_logs_are_not_compared_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only games of one stretch of a log are, or those of which one names the other's number."""
    compared = []

    def counting(one: Game, other: Game) -> bool:
        compared.append((one.key, other.key))
        return False

    monkeypatch.setattr(bughouse, "_may_be", counting)
    games = [
        replace(game, key=f"{at:019d}{side}", game_no=side)
        for at in range(30)
        for side, game in enumerate(from_source(games_of("a12_bughouse", "observer_GuestBga")[:2], f"log{at}"))
    ]
    assert pair_bughouse(games) == []
    assert len(compared) == 30


def test_boards_of_different_times_are_no_match() -> None:
    """Numbers are used again: the first match's board A and the second one's board B."""
    games = games_of("a12_bughouse", "observer_GuestBga")
    first, second = games[0], games[3]
    assert {first.white.handle, second.white.handle} == {"Karpov", "Spassky"}
    assert pair_bughouse([first, second]) == []


def test_results_that_contradict_are_no_match() -> None:
    one, other = games_of("a12_bughouse", "observer_GuestBga")[:2]
    assert len(pair_bughouse([one, other])) == 1
    assert pair_bughouse([one, replace(other, result=one.result)]) == []


def test_a_public_excerpt_joined_in_the_middle() -> None:
    games = list(read_games(PUBLIC / "bughouse-observe-76-97-first-part.txt"))
    ((one, other, evidence),) = pair_bughouse(games)
    assert {one, other} == {game.key for game in games}
    assert evidence == "11 of 12 captured pieces came into the hands of the other board"
    assert [len(passes(game)) for game in games] == [6, 7]


def test_a_game_that_names_its_partner() -> None:
    (game,) = read_games(PUBLIC / "bughouse-play-58.txt")
    assert game.partner_game_no == 59


def test_games_that_began_together_with_the_next_number() -> None:
    """Before any capture only the beginning relates the boards."""
    one, other = games_of("c06_bughouse", "observer_GuestXo")[:2]

    def opening(game: Game) -> Game:
        seen = game.observations[0]
        short = replace(seen, lines=[replace(seen.lines[0], rows=seen.lines[0].rows[:4])], holdings=[], events=[])
        return replace(game, observations=[short], segments=[game.segments[0]._replace(to_ply=4)], result="*")

    ((*_, evidence),) = pair_bughouse([opening(one), opening(other)])
    assert evidence == "games 1 and 2 began one after the other"
    later = replace(opening(other), first_offset=other.first_offset + 100_000)
    assert pair_bughouse([opening(one), later]) == []
    assert pair_bughouse([opening(one), replace(opening(other), game_no=9)]) == []


def test_utc_times_that_do_not_meet_are_no_match() -> None:
    one, other = (
        replace(game, time_basis=TimeBasis.UTC, started_at_ms=begun, ended_at_ms=begun + 60_000)
        for game, begun in zip(games_of("a12_bughouse", "observer_GuestBga")[:2], (0, 3_600_000), strict=True)
    )
    assert pair_bughouse([one, other]) == []
