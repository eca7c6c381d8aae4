"""A recorder at a server with many games gets every game of its policy, however the server behaves."""

import random
from itertools import pairwise

import pytest

from recorder.live.policy.observing import Observing
from recorder.live.policy.plan import ObservationPlan
from recorder.model import Game, Origin
from tests.live.field import NOON_MS, FieldServer, Playing, watch

BOARDS = 15
UNTIL_MS = 90_000


def games_of(
    boards: int = BOARDS, until_ms: int = UNTIL_MS - 15_000, *, least_ms: int = 0, quickest_ms: int = 100
) -> list[Playing]:
    """Pairs that play games of up to half a minute; the last ones end before the recording."""
    rng = random.Random(1)
    games = []
    for pair in range(boards):
        at_ms = rng.randrange(0, 3_000)
        while at_ms < until_ms:
            each_ms = rng.choice([quickest_ms, max(quickest_ms, 300), 500, 800])
            plies = rng.randrange(1 + least_ms // each_ms, 4 + max(least_ms, 20_000) // each_ms)
            players = [f"Ann{pair:02}", f"Bob{pair:02}"]
            rng.shuffle(players)
            game = Playing(players[0], players[1], at_ms, plies, each_ms, rating=rng.choice([1500, 1700]))
            if game.end_ms >= until_ms:
                break
            games.append(game)
            at_ms = game.end_ms + rng.randrange(200, 2_000)
    return sorted(games, key=lambda game: game.begin_ms)


def whole(played: Playing, found: list[Game]) -> Game | None:
    """Return the recorded game with all its moves and its result; None: it is missing."""
    for game in found:
        players = (game.white.handle, game.black.handle) == (played.white, played.black)
        moves = [ply.san for ply in game.plies] == [
            ("Nf3", "Nf6", "Ng1", "Ng8")[ply % 4] for ply in range(played.plies)
        ]
        at_ms = (
            game.started_at_ms if game.ended_at_ms is None else game.ended_at_ms - (played.plies + 1) * played.each_ms
        )
        near = at_ms is not None and abs(at_ms - NOON_MS - played.begin_ms) < 60_000
        if players and moves and near and game.result == played.result:
            return game
    return None


def by_boards(game: Game) -> bool:
    """Return whether every ply comes from a board."""
    return all(ply.origin == Origin.FRAME for ply in game.plies)


@pytest.mark.parametrize("latency_ms", [0, 50, 200])
def test_every_announced_game_is_recorded_from_its_first_board(latency_ms: int) -> None:
    games = games_of(least_ms=3 * latency_ms, quickest_ms=max(100, 3 * latency_ms))
    observing = Observing(ObservationPlan("rated | unrated"))
    found = watch(FieldServer(list(games)), observing, UNTIL_MS, latency_ms=latency_ms)
    recorded = [whole(game, found) for game in games]
    assert len(games) > 50
    assert None not in recorded
    first = sum(game is not None and by_boards(game) for game in recorded)
    assert first >= 0.95 * len(games)
    assert (observing.tally.matched, observing.tally.whole) == (len(games), len(games))


def test_games_in_progress_at_the_start_are_completed_from_lists_within_two_seconds() -> None:
    games = [
        Playing(f"Ann{pair:02}", f"Bob{pair:02}", -30_000, 90, 500, letter="9?obs"[pair % 5]) for pair in range(24)
    ]
    server = FieldServer(list(games))
    found = watch(server, Observing(ObservationPlan("rated | unrated")), 40_000)
    assert all(whole(game, found) for game in games)
    asked = [at_ms for at_ms, line in server.heard if line.startswith(("observe ", "moves "))]
    assert len(asked) == 48
    assert max(asked) < 2_500


@pytest.mark.parametrize("prompt", ["fics% ", "chessd2% ", "foo> ", "Lasker7$ "])
@pytest.mark.parametrize("observing", ["You are now observing game", "Ahora observas el juego"])
def test_a_servers_own_prompt_delays_nothing_and_misses_nothing(prompt: str, observing: str) -> None:
    games = [Playing(f"Ann{pair:02}", f"Bob{pair:02}", -9_000, 20 + pair, 500) for pair in range(20)]
    games += [Playing(f"Cid{pair:02}", f"Dee{pair:02}", 3_000 * pair, 8, 300) for pair in range(4)]
    games.sort(key=lambda game: game.begin_ms)
    server = FieldServer(list(games), prompt=prompt, glued=True, observing=observing)
    policy = Observing(ObservationPlan("rated | unrated"))
    found = watch(server, policy, 40_000)
    assert all(whole(game, found) for game in games)
    assert policy.tally.facts() == {"matched": 24, "whole": 24, "partly": 0, "recovered": 0, "missed": 0}
    asked = [at_ms for at_ms, line in server.heard if line.startswith("observe ")]
    assert len(asked) == 24
    assert sorted(asked)[19] < 2_500


def test_games_that_do_not_match_cost_no_command_and_ratings_cost_one() -> None:
    games = games_of(least_ms=500)
    for game in games[::3]:
        game.rated = False
    server = FieldServer(list(games))
    observing = Observing(ObservationPlan("rated & rating > 1600"))
    found = watch(server, observing, UNTIL_MS)
    wanted = [game for game in games if game.rated and game.rating > 1600]
    assert all(whole(game, found) for game in wanted)
    assert len(found) == observing.tally.whole == len(wanted)
    lines = [line for _, line in server.heard]
    rows = [line for line in lines if line.startswith("games ")]
    assert len(rows) <= sum(game.rated for game in games)  # the first table contained some
    assert sum(line.startswith("observe ") for line in lines) == len(wanted)


@pytest.mark.parametrize("word", ["capablanca", "Seirawan", "pawns/little-game", "wild/2"])
def test_games_of_any_category_are_chosen_by_its_word(word: str) -> None:
    games = [Playing(f"Ann{pair}", f"Bob{pair}", at_ms, 8, 500) for at_ms in (2_000, 5_000) for pair in range(4)]
    for number, game in enumerate(games):
        game.white, game.black = f"{game.white}x{number}", f"{game.black}x{number}"
        game.category, game.letter = [("blitz", "b"), (word.lower(), "n"), ("gothic", "n"), ("wild/3", "w")][number % 4]
    server = FieldServer(list(games))
    found = watch(server, Observing(ObservationPlan(f"rated & {word}")), 12_000)
    assert [whole(game, found) is not None for game in games] == [False, True, False, False] * 2
    assert {game.category for game in found} == {word.lower()}


@pytest.mark.parametrize("gap_ms", [60, 250, 400])
def test_a_servers_command_rate_is_kept_and_no_game_is_lost(gap_ms: int) -> None:
    games = games_of(boards=6, least_ms=8_000)
    server = FieldServer(list(games), gap_ms=gap_ms)
    observing = Observing(ObservationPlan("rated | unrated"))
    found = watch(server, observing, UNTIL_MS)
    learned_ms = 15_000
    assert all(whole(game, found) for game in games if game.begin_ms > learned_ms)
    assert server.refused < 40
    assert min(at_ms for at_ms, line in server.heard if line == "set style 12") < 1_000
    late = [at_ms for at_ms, _ in server.heard if at_ms > learned_ms]
    assert min(then_ms - at_ms for at_ms, then_ms in pairwise(late)) >= gap_ms


def test_without_announcements_the_table_finds_every_long_game() -> None:
    games = games_of(boards=6, least_ms=8_000)
    observing = Observing(ObservationPlan("rated | unrated"))
    found = watch(FieldServer(list(games), announces=False), observing, UNTIL_MS)
    assert all(whole(game, found) for game in games)


@pytest.mark.parametrize("announces", [True, False])
def test_truncated_tables_delay_nothing(announces: bool) -> None:
    games = games_of(boards=6, least_ms=8_000)
    server = FieldServer(list(games), announces=announces, whole_tables=False)
    found = watch(server, Observing(ObservationPlan("rated | unrated")), UNTIL_MS)
    recorded = sum(whole(game, found) is not None for game in games)
    assert recorded == len(games) if announces else recorded > 0


def test_games_that_end_too_soon_come_from_lists() -> None:
    games = [Playing(f"Ann{pair:02}", f"Bob{pair:02}", 5_000 + 2_000 * pair, 4, 100) for pair in range(8)]
    games.append(Playing("Ann00", "Bob00", 200_000, 4, 100))  # the same players in another minute
    games += [Playing("Cid", "Dee", at_ms, 4, 100) for at_ms in (30_000, 32_000)]  # twice in one minute
    games.sort(key=lambda game: game.begin_ms)
    observing = Observing(ObservationPlan("rated | unrated"))
    found = watch(FieldServer(list(games), stores=True), observing, 210_000, latency_ms=400)
    expected = [game for game in games if game.begin_ms != 32_000]  # its end leaves two rows in the history
    recovered = [game for game in (whole(game, found) for game in expected) if game is not None]
    assert len(recovered) == len(expected)
    assert all(ply.origin == Origin.MOVELIST and ply.at_ms is None for game in recovered for ply in game.plies)
    assert len(found) == len(expected)
    assert observing.tally.facts() == {"matched": 11, "whole": 0, "partly": 0, "recovered": 10, "missed": 1}
    assert observing.tally.why == {
        "it was over before the server showed it, and more than one game of its players fits": 1
    }


def test_a_server_without_stored_moves_is_asked_once() -> None:
    games = [Playing(f"Ann{pair:02}", f"Bob{pair:02}", 5_000 + 2_000 * pair, 4, 100) for pair in range(8)]
    server = FieldServer(list(games))
    observing = Observing(ObservationPlan("rated | unrated"))
    watch(server, observing, 60_000, latency_ms=400)
    assert observing.tally.missed == len(games)
    assert sum(line.startswith("smoves ") for _, line in server.heard) == 1


def test_a_refused_list_delays_no_other() -> None:
    games = [Playing(f"Ann{pair:02}", f"Bob{pair:02}", 5_000 + 2_000 * pair, 4, 100) for pair in range(8)]
    server = FieldServer(list(games), stores=True, unstored=frozenset({"Ann05", "Ann06"}))
    observing = Observing(ObservationPlan("rated | unrated"))
    watch(server, observing, 40_000, latency_ms=400)
    assert observing.tally.facts() == {"matched": 8, "whole": 0, "partly": 0, "recovered": 6, "missed": 2}
    assert observing.tally.why == {"it was over before the server showed it, and the server gives no list of it": 2}


def test_games_beyond_the_limit_are_counted_as_missed() -> None:
    games = games_of(boards=8, least_ms=5_000)
    server = FieldServer(list(games), most=3)
    observing = Observing(ObservationPlan("rated | unrated"))
    watch(server, observing, UNTIL_MS)
    tally = observing.tally
    assert tally.matched == len(games)
    assert tally.missed > 0
    assert all("no place was free" in why for why in tally.why if "a part of it" not in why)


def test_a_lost_connection_loses_no_game_that_continues() -> None:
    games = games_of(boards=8, least_ms=10_000)
    observing = Observing(ObservationPlan("rated | unrated"))
    cuts_ms = (20_000, 45_000)
    found = watch(FieldServer(list(games)), observing, UNTIL_MS, cuts_ms=cuts_ms)
    for game in games:
        ends_away = any(cut_ms - 200 < game.end_ms < cut_ms + 6_000 for cut_ms in cuts_ms)
        assert whole(game, found) or ends_away, game
    assert observing.tally.matched == len(games)
