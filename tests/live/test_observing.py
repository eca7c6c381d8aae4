"""The choice of observed games, with scripts and with a small simulated server."""

from collections.abc import Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recorder.dialects.recogniser import Recogniser
from recorder.events import Event, Line
from recorder.live.conversation import RequestQueue
from recorder.live.policy.candidates import Candidate, Fate, Why
from recorder.live.policy.plan import ObservationPlan
from recorder.live.requests import (
    AskGame,
    AskGames,
    AskMoves,
    AskPartner,
    AskRefresh,
    Observe,
    Request,
    Unobserve,
)
from tests.live.asked import AskedObserving as Observing


def events(*texts: str) -> list[Event]:
    recogniser = Recogniser()
    return recogniser.feed([Line(text, 0) for text in texts]) + recogniser.finish()


def row(number: int, white: str = "", black: str = "", *, flags: str = " br", rating: int = 1500) -> str:
    white, black = white or f"White{number}", black or f"Black{number}"
    return (
        f"{number:>3} {rating:>4} {white:<11.11} {rating:>4} {black:<10.10} [{flags}  5   0]"
        "   2:08 -  3:25 (31-30) W:  9"
    )


def table(*rows: str) -> list[str]:
    return [*rows, f"{len(rows):>3} games displayed."] if rows else ["There are no games in progress."]


def board(number: int, white: str, black: str) -> str:
    return (
        "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 "
        f"{number} {white} {black} 0 5 0 39 39 300000 300000 1 none (0:00.000) none 0 0 0"
    )


def started(
    policy: str | None = "rated", *rows: str, handles: Iterable[str] = (), poll_ms: int | None = None, **options: int
) -> Observing:
    """Return one that is connected and has read its first table."""
    observing = Observing(ObservationPlan(policy, tuple(handles), **options), poll_ms=poll_ms)
    observing.connected(0)
    assert observing.decide(0) == [AskGames()]
    observing.feed(events(*table(*rows)), 0)
    return observing


def watch(observing: Observing, *numbers: int, now_ms: int = 0) -> None:
    observing.feed(events(*(f"You are now observing game {number}." for number in numbers)), now_ms)


def test_the_table_is_requested_first_and_then_at_the_set_interval() -> None:
    observing = Observing(ObservationPlan("rated"), poll_ms=60_000)
    assert (observing.decide(0), observing.next_at_ms(0)) == ([], None)
    observing.connected(5)
    assert observing.decide(5) == [AskGames()]
    assert observing.decide(6) == []
    observing.feed(events(row(1), row(2, flags=" bu")), 7)
    assert observing.decide(7) == []  # the table continues
    observing.feed(events("  2 games displayed."), 8)
    assert observing.decide(8) == [Observe(1)]
    assert observing.decide(9) == []
    watch(observing, 1, now_ms=10)
    assert observing.next_at_ms(10) == 60_008
    assert observing.decide(60_007) == []
    assert observing.decide(60_008) == [AskGames()]
    assert observing.why(1) == "Game 1 is observed: rated is true because the game is rated."
    assert observing.why(2) == "Game 2 is not observed: rated is false because the game is unrated."
    assert observing.why(9) == "Game 9 is not known: no line since the last table of games contained it."


def test_another_plan_chooses_from_the_known_games_and_leaves_none() -> None:
    observing = started("rated", row(1), row(2, flags=" bu"), row(3, "Ann", flags=" bu"), limit=1)
    assert observing.decide(0) == [Observe(1)]
    watch(observing, 1)
    observing.replan(ObservationPlan("unrated", ("Ann",), limit=2), 7_000)
    assert observing.decide(1) == [Observe(3)]
    watch(observing, 3, now_ms=1)
    assert observing.decide(1) == []
    observing.replan(ObservationPlan(None, ("Ann",)), 7_000)
    assert observing.places.limit is None
    assert observing.decide(2) == []
    assert observing.why(1) == "Game 1 is observed: rated is true because the game is rated."
    assert observing.decide(6_999) == []
    assert observing.decide(7_000) == [AskGames()]


def test_ended_games_are_returned_with_the_reason() -> None:
    gone: list[tuple[int, Fate, str, int | None, int]] = []

    def take(game: Candidate, why: Why, now_ms: int) -> None:
        gone.append((game.listed.game_no, why.fate, why.reason, game.watched_ms, now_ms))

    observing = Observing(ObservationPlan("rated"), gone=take)
    observing.connected(0)
    observing.decide(0)
    observing.feed(events(*table(row(1), row(2, flags=" bu"), row(3))), 1)
    observing.decide(1)
    watch(observing, 1, now_ms=2)
    observing.feed(events("{Game 1 (White1 vs. Black1) Black1 resigns} 1-0"), 3)
    observing.feed(events(*table(row(3))), 4)
    observing.finish(5)
    rated, unrated = "rated is true because the game is rated", "rated is false because the game is unrated"
    assert gone == [
        (1, Fate.OBSERVED, rated, 2, 3),
        (2, Fate.UNWANTED, unrated, None, 4),
        (3, Fate.ASKED, rated, None, 5),
    ]


def test_few_games_are_requested_at_a_time() -> None:
    observing = started("rated", *(row(number) for number in range(1, 15)))
    assert observing.decide(0) == [Observe(number) for number in range(1, 13)]
    watch(observing, 1)
    assert observing.decide(0) == [Observe(13)]
    assert "has not answered yet" in observing.why(13)


def test_the_limit_is_learned_and_a_free_place_goes_to_the_longest_wait() -> None:
    observing = started("rated", *(row(number) for number in (1, 2, 3, 4)))
    observing.decide(0)
    watch(observing, 1, 2)
    refusal = "You are already observing the maximum number of games."
    observing.feed(events(refusal, refusal), 1)
    assert observing.places.limit == 2
    assert observing.decide(1) == []
    assert observing.why(4).startswith("Game 4 waits with 1 before it for one of the 2 places: rated is true")
    observing.feed(events("{Game 2 (White2 vs. Black2) White2 resigns} 0-1"), 2)
    assert observing.decide(2) == [Observe(3)]
    assert observing.watched == (1,)


def test_a_refusal_without_observed_games_is_not_retried_at_once() -> None:
    observing = started("rated", row(1))
    observing.decide(0)
    observing.feed(events("You are already observing the maximum number of games."), 1)
    assert observing.decide(2) == []
    assert observing.next_at_ms(2) == 60_000
    assert Observe(1) in observing.decide(60_001)


def test_handles_come_first_and_need_no_policy() -> None:
    rows = [row(1), row(2), row(3, "Morphy"), row(4, "KingkonglongTheSecond")]
    assert started("rated", *rows, handles=["MORPHY"], limit=1).decide(0) == [Observe(3)]
    observing = started(None, *rows, handles=["morphy", "KingkonglongTheSecond"])
    assert observing.decide(0) == [Observe(3), Observe(4)]
    assert observing.why(1) == "Game 1 is not observed: no player of it is in the list of handles."
    assert observing.why(3).endswith("Morphy is in the list of handles.")


def test_a_game_found_by_the_beginning_of_a_handle_is_left_if_another_player_has_it() -> None:
    observing = started(None, row(4, "KingkonglongTheSecond"), handles=["KingkonglongTheFirst"])
    assert observing.decide(0) == [Observe(4)]
    observing.feed(
        events(
            "You are now observing game 4.",
            "Game 4: KingkonglongTheSecond (1500) Black4 (1500) rated blitz 5 0",
        ),
        1,
    )
    assert observing.decide(1) == [Unobserve(4)]
    assert observing.why(4) == "Game 4 is being left, its place goes to a waiting game."
    observing.feed(events("Removing game 4 from observation list."), 2)
    assert observing.decide(2) == []


def test_bughouse_partner_games_are_observed() -> None:
    observing = started("number = 1", row(1, flags=" Br"), row(2, flags=" Br"), row(3))
    assert observing.decide(0) == [Observe(1)]
    observing.feed(events("<g1> 1 p=0 t=bughouse r=1 u=0,0 it=180,0 i=180,0 pt=2 rt=1500,1500 ts=1,1"), 1)
    watch(observing, 1)
    assert observing.decide(1) == [Observe(2)]
    watch(observing, 2)
    assert observing.why(2) == "Game 2 is observed: its bughouse partner, game 1, is observed."


def test_a_partner_game_missing_in_the_table_is_observed_before_others() -> None:
    observing = started("rated", row(1, flags=" Br"), row(3), limit=2)
    assert observing.decide(0) == [Observe(1), Observe(3)]
    watch(observing, 1, 3)
    observing.feed(
        events(row(5), "<g1> 1 p=0 t=bughouse r=1 pt=9", "{Game 3 (White3 vs. Black3) Black3 resigns} 1-0"), 1
    )
    assert observing.decide(1) == [Observe(9)]


BUGHOUSE = (row(1, flags=" Br"), row(2, flags=" Br"))


def watching_one_board(*rows: str) -> Observing:
    """Observe game 1 of a bughouse match on a server that prints no partner game."""
    observing = started("number = 1", *rows, poll_ms=1_000_000)
    assert observing.decide(0) == [Observe(1)]
    watch(observing, 1)
    assert observing.decide(0) == []
    assert observing.next_at_ms(0) == 3_000
    return observing


def test_the_partner_is_requested_where_no_line_contains_it() -> None:
    observing = watching_one_board(*BUGHOUSE)
    assert observing.decide(2_999) == []
    assert observing.decide(3_000) == [AskPartner(1, "White1")]
    watch(observing, 2, now_ms=3_001)
    assert observing.watched == (1, 2)
    assert observing.why(2) == "Game 2 is observed: its bughouse partner, game 1, is observed."
    assert observing.decide(100_000) == []  # it is requested once


@pytest.mark.parametrize(
    ("white", "black", "asked"),
    [
        ("J\xf6rg", "Bob", [AskPartner(1, "Bob")]),
        ("J\xf6rg", "Bj\xf6rn", []),
        ("Kingkonglon", "Bob", [AskPartner(1, "Bob")]),
    ],
)
def test_an_invalid_handle_is_not_sent_in_a_request(white: str, black: str, asked: list[AskPartner]) -> None:
    observing = watching_one_board(row(1, white, black, flags=" Br"))
    requests = observing.decide(3_000)
    assert requests == asked
    queue = RequestQueue()
    queue.put(requests, 3_000)
    assert queue.take(3_000).data == b"".join(b"pobserve Bob\n" for _ in asked)


def test_a_partner_game_already_observed_stays_observed() -> None:
    observing = watching_one_board(row(1, flags=" Br"), row(2))  # no line contained that game 2 is bughouse
    watch(observing, 2)
    assert observing.decide(3_000) == [AskPartner(1, "White1")]
    observing.feed(events("Removing game 2 from observation list."), 3_001)  # the command toggles
    assert observing.decide(3_001) == [Observe(2)]
    assert "its bughouse partner, game 1, is observed" in observing.why(2)


def test_a_late_answer_is_ignored() -> None:
    observing = watching_one_board(row(1, flags=" Br"), row(2))
    observing.decide(3_000)
    watch(observing, 2, now_ms=63_000)
    assert observing.why(2) == "Game 2 is observed: the server began to show it without being asked."


def test_possible_partner_boards_are_not_requested() -> None:
    observing = started("bughouse", *BUGHOUSE, poll_ms=1_000_000)
    observing.decide(0)
    watch(observing, 1, 2)
    assert observing.decide(10_000) == []


def test_an_answer_without_a_partner_is_accepted() -> None:
    observing = watching_one_board(*BUGHOUSE)
    observing.feed(events("<g1> 1 p=0 t=bughouse r=1 u=0,0 it=180,0 i=180,0 pt=0 rt=1500,1500 ts=1,1"), 1)
    assert observing.decide(3_000) == []


@pytest.mark.parametrize(
    ("answer", "asked_again"),
    [("White1 is not playing a bughouse game.", True), ("pobserve: Command not found.", False)],
)
def test_a_server_without_partner_games_is_asked_once(answer: str, asked_again: bool) -> None:
    observing = watching_one_board(row(1, flags=" Br"))
    assert observing.decide(3_000) == [AskPartner(1, "White1")]
    observing.feed(
        events(answer, "{Game 1 (White1 vs. Black1) White1 resigns} 0-1", row(1, "Other", flags=" Br")), 3_001
    )
    assert observing.decide(3_001) == [Observe(1)]
    watch(observing, 1, now_ms=3_002)
    observing.decide(3_003)
    assert observing.decide(6_002) == ([AskPartner(1, "Other")] if asked_again else [])


def test_a_partner_is_not_requested_without_a_free_place() -> None:
    observing = started("number = 1", *BUGHOUSE, limit=1, poll_ms=1_000_000)
    observing.decide(0)
    watch(observing, 1)
    assert observing.decide(3_000) == []


def test_announcements_count_like_rows() -> None:
    observing = started("blitz & rating > 1600")
    observing.feed(
        events(
            "Creating: A (1700) B (1800) rated blitz 5 0",
            "{Game 7 (B vs. A) Creating rated blitz match.}",
            "Game notification: C (1915) vs. D (1712) rated blitz 5 0: Game 30",
            "{Game 8 (E vs. F) Creating rated blitz match.}",
        ),
        1,
    )
    assert observing.decide(1) == [Observe(7), Observe(30), AskGame(8)]
    assert observing.why(8).endswith("rating > 1600 is unknown because White has no rating and Black has no rating.")


@pytest.mark.parametrize(
    ("policy", "asked"),
    [
        ("rated | unrated", [Observe(7)]),
        ("rated & blitz & !examined", [Observe(7)]),
        ("unrated", []),
        ("rated & rating > 2000", [AskGame(7)]),
        ("unrated & rating > 2000", []),  # for any ratings
        ("rated | rating > 2000", [Observe(7)]),
        ("rated & etime < 15 & player A", [AskGame(7)]),
        ("rated & etime < 15 & player C", []),
        ("rated & !guest", [AskGame(7)]),
        ("rated & !private", [AskGame(7)]),
        ("rated & computer & rating > 2000", []),  # no row contains who is a computer
        ("rated & (computer | rating > 2000)", [AskGame(7)]),
        ("standard & rating > 2000", []),
    ],
)
def test_an_announcement_costs_a_command_only_if_the_game_may_match(policy: str, asked: list[Request]) -> None:
    observing = started(policy)
    observing.feed(events("{Game 7 (A vs. B) Creating rated blitz match.}"), 1)
    assert observing.decide(1) == asked
    assert observing.decide(2) == []  # once


def test_ratings_are_requested_first_and_the_row_decides() -> None:
    observing = started("rating > 1600", row(3))
    announced = [
        f"{{Game {number} (White{number} vs. Black{number}) Creating rated blitz match.}}" for number in (7, 8)
    ]
    observing.feed(events(*announced), 1)
    assert observing.decide(1) == [AskGame(7), AskGame(8)]
    observing.feed(events(row(7, rating=1700), "  1 game displayed (of 3 in progress)."), 2, AskGame(7))
    observing.feed(events(row(8, rating=1500), "  1 game displayed (of 3 in progress)."), 2, AskGame(8))
    assert observing.decide(2) == [Observe(7)]
    assert "rating > 1600 is false" in observing.why(8)
    assert "rating > 1600 is false" in observing.why(3)  # a row is no complete table


def test_no_row_is_requested_without_a_free_place() -> None:
    observing = started("rating > 1600", row(1, rating=1700), limit=1)
    observing.decide(0)
    watch(observing, 1)
    observing.feed(events("{Game 7 (A vs. B) Creating rated blitz match.}"), 1)
    assert observing.decide(1) == []
    observing.feed(events("{Game 1 (White1 vs. Black1) White1 resigns} 0-1"), 2)
    assert observing.decide(2) == [AskGame(7)]


def test_a_slow_table_delays_announced_games_not_at_all_and_others_briefly() -> None:
    observing = Observing(ObservationPlan("rated"))
    observing.connected(0)
    assert observing.decide(0) == [AskGames()]
    observing.feed(events(row(1), "{Game 7 (A vs. B) Creating rated blitz match.}"), 10)
    assert observing.decide(10) == [Observe(7)]
    assert observing.next_at_ms(10) == 3_000
    assert observing.decide(3_000) == [Observe(1)]  # and the table never ends
    observing.feed(events(row(2)), 4_000)
    assert observing.decide(4_000) == [Observe(2)]


def test_the_table_is_requested_while_a_place_is_free_and_no_game_waits() -> None:
    observing = started("rated", row(1), limit=1)
    assert observing.decide(0) == [Observe(1)]
    watch(observing, 1)
    observing.decide(0)
    assert observing.next_at_ms(0) == 60_000  # no place is free
    observing.feed(events("{Game 1 (White1 vs. Black1) White1 resigns} 0-1"), 20_000)
    assert observing.decide(20_000) == [AskGames()]
    observing.feed(events(*table()), 20_100)
    observing.decide(20_100)
    assert observing.next_at_ms(20_100) == 25_100


def test_the_table_is_requested_less_often_if_it_is_slow_or_games_are_announced() -> None:
    observing = started("rated", row(1))
    observing.decide(0)
    watch(observing, 1)
    assert observing.decide(5_000) == [AskGames()]
    observing.feed(events(*table(row(1))), 5_500)
    observing.decide(5_500)
    assert observing.next_at_ms(5_500) == 15_500
    observing.feed(events("{Game 2 (A vs. B) Creating unrated blitz match.}"), 6_000)
    observing.decide(6_000)
    assert observing.next_at_ms(6_000) == 35_500
    assert observing.decide(35_500) == [AskGames()]
    observing.feed(events(*table(row(1), row(2, "A", "B", flags=" bu"), row(3))), 35_510)  # game 3 was not announced
    assert observing.decide(35_510) == [Observe(3)]
    watch(observing, 3, now_ms=35_511)
    observing.decide(35_511)
    assert observing.next_at_ms(35_511) == 40_510


def test_after_a_reconnect_games_observed_before_come_first_once_a_line_shows_them() -> None:
    observing = started("rated", row(1), row(2), row(3))
    observing.decide(0)
    watch(observing, 2, 3)
    observing.disconnected()
    assert observing.decide(10) == []
    observing.connected(1000)
    assert observing.decide(1000) == [AskGames()]
    assert "waits until a line shows that it is still being played" in observing.why(3)
    # Game 2 has ended and another game has its number; game 1 was seen before game 3.
    observing.feed(events(*table(row(1), row(2, "Other", flags=" bu"), row(3))), 1001)
    assert observing.decide(1001) == [Observe(3), Observe(1)]


def test_old_game_numbers_are_not_trusted_without_a_table() -> None:
    observing = started("rated", row(1), row(2))
    observing.decide(0)
    watch(observing, 1, 2)
    observing.connected(1000)
    observing.decide(1000)
    assert observing.decide(61_000) == []  # no answer to "games"
    observing.feed(events(row(2)), 61_001)
    assert observing.decide(61_001) == [Observe(2)]


def test_games_missing_in_a_complete_table_are_dropped() -> None:
    observing = started("unrated", row(1), row(2))
    observing.feed(events(*table(row(2))), 1)
    observing.feed(events(row(2), "  1 game displayed (of 2 in progress)."), 2)  # part of a table proves nothing
    observing.feed(events("  1 game displayed."), 3)  # nor does a count without its rows
    assert "not known" in observing.why(1)
    assert "unrated" in observing.why(2)


def test_another_game_with_the_same_number_replaces_the_first() -> None:
    observing = started("rated", row(1))
    observing.decide(0)
    watch(observing, 1)
    observing.feed(events(row(1, "Second")), 1)
    assert observing.watched == ()
    assert observing.decide(1) == [Observe(1)]
    watch(observing, 1)
    observing.feed(events("{Game 1 (Second vs. Black1) Creating rated blitz match.}"), 2)  # a return match
    assert observing.decide(2) == [Observe(1)]
    observing.feed(events("{Game 1 (Other vs. Black1) Other resigns} 0-1"), 3)  # not of this one
    watch(observing, 1)
    assert observing.watched == (1,)


@pytest.mark.parametrize(
    ("policy", "first", "then"),
    [
        ("rated", row(1, flags=" bu"), row(1)),
        ("rating > 1600", row(1), row(1, rating=1700)),
        ("blitz", row(1, flags=" sr"), row(1)),
        ("base >= 5", row(1).replace("  5   0", "  1   0"), row(1)),
    ],
)
def test_a_return_match_under_the_same_number_that_only_a_table_shows(policy: str, first: str, then: str) -> None:
    observing = started(policy, first)
    assert observing.decide(0) == []
    observing.feed(events(*table(then)), 5_000)
    assert observing.decide(5_000) == [Observe(1)]
    assert observing.listed.seen == 2
    watch(observing, 1, now_ms=5_100)
    observing.feed(events(*table(first)), 10_000)  # no end line: it stays observed
    assert observing.watched == (1,)


def test_another_game_with_the_same_number_before_it_is_observed() -> None:
    observing = started("rated", row(1), row(2))
    observing.decide(0)
    observing.feed(events("You are now observing game 1.", board(1, "Somebody", "Else")), 1)
    assert observing.watched == (1,)
    assert observing.why(1) == "Game 1 is observed: the server began to show it without being asked."
    observing.feed(events(*table(row(1, "Somebody", "Else"), row(2))), 2)  # the table says the same
    assert observing.watched == (1,)
    assert observing.why(1) == "Game 1 is observed: rated is true because the game is rated."


def test_an_observation_that_the_user_ended_is_not_restarted() -> None:
    observing = started("rated", row(1))
    observing.decide(0)
    watch(observing, 1)
    observing.feed(events("Removing game 1 from observation list.", row(1)), 1)
    assert observing.decide(1) == []
    assert observing.why(1) == "Game 1 is not observed: another command ended its observation."


def test_an_observe_that_toggled_is_repeated() -> None:
    observing = started("rated", row(1))
    observing.decide(0)
    observing.feed(events("Removing game 1 from observation list."), 1)
    assert observing.decide(1) == [Observe(1)]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Sorry, game 1 is a private game.", "the server reports that it is private"),
        ("You cannot observe a game that you are playing.", "the recorder's own account plays in it"),
        ("You are still examining a game.", "the recorder's own account is examining a game"),
    ],
)
def test_refused_games_are_requested_once(answer: str, reason: str) -> None:
    observing = started("rated", row(1))
    observing.decide(0)
    observing.feed(events(answer), 1)
    assert observing.decide(1) == []
    assert observing.why(1) == f"Game 1 is not observed: {reason}."


def test_other_answers() -> None:
    observing = started("rated", row(1), row(2))
    observing.decide(0)
    observing.feed(events("There is no such game.", "You are already observing game 2."), 1)
    assert observing.watched == (2,)
    assert "not known" in observing.why(1)
    observing.feed(events("There is no such game.", "You are not observing game 5."), 1)
    assert observing.watched == (2,)


def test_a_game_is_given_up_after_three_requests_without_an_answer() -> None:
    observing = started("rated", row(1), poll_ms=1_000_000)
    assert observing.decide(0) == [Observe(1)]
    assert observing.next_at_ms(0) == 60_000
    assert observing.decide(60_000) == [Observe(1)]
    assert observing.decide(120_000) == [Observe(1)]
    assert observing.decide(180_000) == []
    assert observing.why(1) == "Game 1 is not observed: the server did not answer 3 times."


def test_titles_from_chat() -> None:
    observing = started("gm", row(1))
    observing.feed(events("White1(GM)(TM) kibitzes: hello", row(1)), 1)
    assert observing.decide(1) == [Observe(1)]


def test_no_game_is_left_before_its_end_without_rotation() -> None:
    rows = [row(number) for number in (1, 2, 3)]
    fixed = started("rated", *rows, limit=2)
    fixed.decide(0)
    watch(fixed, 1, 2)
    assert [request for request in fixed.decide(10**9) if isinstance(request, Unobserve)] == []

    observing = started("rated", *rows, row(4, "Morphy"), handles=["Morphy"], limit=2, rotate_ms=10_000)
    assert observing.decide(0) == [Observe(4), Observe(1)]
    watch(observing, 4, 1)
    assert observing.next_at_ms(0) == 10_000
    assert observing.decide(9_999) == []
    assert observing.decide(10_000) == [Unobserve(1)]  # never the game of a listed handle
    assert observing.decide(10_001) == []
    observing.feed(events("Removing game 1 from observation list."), 10_002)
    assert observing.decide(10_002) == [Observe(2)]
    watch(observing, 2, now_ms=10_003)
    assert observing.decide(20_003) == [Unobserve(2)]
    observing.feed(events("Removing game 2 from observation list."), 20_004)
    assert observing.decide(20_004) == [Observe(3)]  # game 1 is at the end of the queue


def test_an_unobserve_after_the_end_of_the_game() -> None:
    observing = started("rated", row(1), row(2), limit=1, rotate_ms=10)
    observing.decide(0)
    watch(observing, 1)
    assert observing.decide(10) == [Unobserve(1)]
    observing.feed(events("You are not observing game 0."), 11)  # chessd prints one less
    assert observing.decide(11) == [Observe(2)]


class Server:
    """A server with games that begin and end, a limit, and an ``observe`` that toggles."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.games: dict[int, str] = {}
        self.observed: set[int] = set()
        self.ever: set[str] = set()
        self.count = 0

    def begin(self) -> list[str]:
        number = next(number for number in range(1, 99) if number not in self.games)
        self.count += 1
        self.games[number] = f"P{self.count}"
        return []

    def end(self, index: int) -> list[str]:
        if not self.games:
            return []
        number = sorted(self.games)[index % len(self.games)]
        name = self.games.pop(number)
        if number not in self.observed:
            return []
        self.observed.discard(number)
        return [f"{{Game {number} ({name} vs. Q) Q resigns}} 1-0"]

    def take(self, line: str) -> list[str]:
        command, _, argument = line.partition(" ")
        if command == "games":
            return table(*(row(number, name, "Q") for number, name in sorted(self.games.items())))
        number = int(argument)
        if number not in self.games:
            return ["There is no such game."]
        if command == "observe":
            assert number not in self.observed, "an observe would have ended the observation"
            if len(self.observed) >= self.limit:
                return ["You are already observing the maximum number of games."]
            self.observed.add(number)
            self.ever.add(self.games[number])
            return [f"You are now observing game {number}.", board(number, self.games[number], "Q")]
        assert command == "unobserve"
        assert number in self.observed
        self.observed.discard(number)
        return [f"Removing game {number} from observation list."]


def drive(server: Server, observing: Observing, queue: RequestQueue, now: int, lines: list[str]) -> None:
    """Do one step: lines arrive, requests are sent and are answered one step later."""
    for event in events(*lines):
        observing.feed([event], now, queue.hear(event, now))
    asked = observing.decide(now)
    queue.put(asked, now)
    if observing.places.limit is not None and any(isinstance(request, Observe) for request in asked):
        assert len(observing.watched) + sum(isinstance(request, Observe) for request in asked) <= observing.places.limit


# Another game gets the number of an ended game while that game is requested.
@example(1, [(0, 0)] * 5 + [(2, 7), (0, 0)], 1, True)
@settings(deadline=None)
@given(
    st.integers(1, 4),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 20)), max_size=40),
    st.none() | st.integers(1, 3_000) | st.integers(3_000, 120_000),
    st.booleans(),
)
def test_requests_are_valid_and_no_game_waits_forever_while_games_begin_and_end(
    limit: int, steps: list[tuple[int, int]], rotate: int | None, reconnect: bool
) -> None:
    server = Server(limit)
    observing = Observing(ObservationPlan("rated", rotate_ms=rotate))
    queue = RequestQueue(gap_ms=100)
    now = 0
    observing.connected(now)
    lines: list[str] = []

    def step() -> None:
        nonlocal now, lines
        now += 700
        drive(server, observing, queue, now, lines)
        lines = []
        for line in queue.take(now).data.decode().splitlines():
            lines += server.take(line)
        assert len(server.observed) <= limit

    for index, (what, which) in enumerate(steps):
        if what < 2:
            lines += server.begin()
        elif what == 2:
            lines += server.end(which)
        if reconnect and index == len(steps) // 2:
            server.observed.clear()
            lines = []
            queue = RequestQueue(gap_ms=100)
            observing.disconnected()
            observing.connected(now)
        step()
    # From here on no game begins. Each game lasts until it was observed, so every game gets a place.
    for _ in range(400):
        step()
        for number in sorted(server.observed):
            if rotate is None:
                lines += server.end(sorted(server.games).index(number))
                break
        if set(server.games.values()) <= server.ever:
            break
    if rotate is None or rotate < 3_000:
        assert set(server.games.values()) <= server.ever


NOISY = st.one_of(
    st.sampled_from(
        [
            "There is no such game.",
            "You are already observing the maximum number of games.",
            "You are still examining a game.",
            "You are not observing any games.",
            "There are no games in progress.",
            "  2 games displayed.",
            "  1 game displayed (of 3 in progress).",
            "Ann(GM) kibitzes: hello",
            "Creating: Ann (1700) Bob (1800) rated blitz 5 0",
        ]
    ),
    st.builds(
        str.format,
        st.sampled_from(
            [
                "You are now observing game {0}.",
                "Removing game {0} from observation list.",
                "You are already observing game {0}.",
                "You are not observing game {0}.",
                "Sorry, game {0} is a private game.",
                "Game {0}: {1} (1500) {2} (1600) rated blitz 5 0",
                "{{Game {0} ({1} vs. {2}) Creating rated bughouse match.}}",
                "{{Game {0} ({1} vs. {2}) {1} resigns}} 0-1",
                "<g1> {0} p=0 t=bughouse r=1 pt=3",
                "{1} is not playing a bughouse game.",
                "{0:>3} 1500 {1:<11} 1500 {2:<10} [ Br  5   0]   2:08 -  3:25 (31-30) W:  9",
            ]
        ),
        st.integers(1, 4),
        st.sampled_from(["Ann", "Bob"]),
        st.sampled_from(["Cid", "Dee"]),
    ),
)


@given(
    st.lists(st.tuples(NOISY, st.integers(0, 40_000)), max_size=40),
    st.none() | st.integers(1, 3),
    st.none() | st.integers(1, 60_000),
)
def test_requests_stay_valid_for_any_server_output(
    lines: list[tuple[str, int]], limit: int | None, rotate: int | None
) -> None:
    observing = Observing(ObservationPlan("rated", ("Dee",), limit=limit, rotate_ms=rotate))
    observing.connected(0)
    now = 0
    for text, wait in lines:
        now += wait
        observing.feed(events(text), now)
        before = observing.watched
        asked = observing.decide(now)
        assert len(set(asked)) == len(asked)
        for request in asked:
            assert not isinstance(request, Observe) or request.game_no not in before
            assert not isinstance(request, Unobserve) or request.game_no in before
        observes = sum(isinstance(request, Observe) for request in asked)
        assert observing.places.limit is None or not observes or len(before) + observes <= observing.places.limit
        assert all(observing.why(number).startswith(f"Game {number} ") for number in range(1, 5))
        due = observing.next_at_ms(now)
        assert due is not None
        assert due > now  # otherwise a caller that waits until then would loop without a pause


@pytest.mark.parametrize(
    ("answered", "gone"),
    [(Observe(2), 2), (AskMoves(3), 3), (AskRefresh(3), 3), (AskPartner(3, "White3"), None), (None, 1)],
)
def test_a_refusal_without_a_number_is_about_the_oldest_request(answered: Request | None, gone: int | None) -> None:
    observing = started("rated", row(1), row(2), row(3))
    assert observing.decide(0) == [Observe(1), Observe(2), Observe(3)]
    watch(observing, 3)
    observing.feed(events("There is no such game."), 1, answered)
    assert [number for number in (1, 2, 3) if "not known" in observing.why(number)] == ([gone] if gone else [])


def test_only_the_latest_chat_lines_give_titles() -> None:
    observing = started("gm", row(1, "Ann", "Bob"))
    observing.feed(events("Ann(GM)(50): hello"), 1)
    assert observing.decide(1) == []  # the table's row was judged before
    observing.feed(events(row(2, "Ann", "Bob")), 2)
    assert observing.decide(2) == [Observe(2)]
    observing.feed(events(*(f"Name{letters(number)}(50): hello" for number in range(1100))), 3)
    observing.feed(events(row(3, "Ann", "Bob")), 4)
    assert observing.decide(4) == []


def letters(number: int) -> str:
    return "".join(chr(97 + int(digit)) for digit in f"{number:04}")
