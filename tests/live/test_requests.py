"""Requests and the queue that sends them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.recogniser import Recogniser
from recorder.dialects.registry import Family
from recorder.events import Event, Line
from recorder.live.requests import (
    AskGames,
    AskMoves,
    AskPartner,
    AskRefresh,
    KeepAlive,
    Observe,
    Request,
    RequestQueue,
    Setting,
    Unobserve,
    format_request,
)

FRAME = (
    "<12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 12 A B 0 5 0 39 39 "
    "300 300 1 none (0:00) none 0 0 0"
)
LIST = [
    "Movelist for game 12:",
    "",
    "A (1500) vs. B (1600) --- Fri Nov  5, 04:33 PDT 2010",
    "Rated blitz match, initial time: 5 minutes, increment: 0 seconds.",
    "",
    "Move  A                  B",
    "----  ----------------   ----------------",
    "  1.  e4      (0:00)     e5      (0:00)",
    "      {Still in progress} *",
]


def events(*texts: str) -> list[Event]:
    recogniser = Recogniser()
    return recogniser.feed([Line(text, 0) for text in texts]) + recogniser.finish()


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (Observe(12), "observe 12"),
        (Unobserve(12), "unobserve 12"),
        (AskPartner(12, "Ann"), "pobserve Ann"),
        (AskMoves(12), "moves 12"),
        (AskRefresh(12), "refresh 12"),
        (AskGames(), "games"),
        (KeepAlive(), "date"),
    ],
)
def test_commands(request_: Request, text: str) -> None:
    for family in (None, Family.FICS, Family.FATICS, Family.LASKER, Family.OLD, Family.CHESSD, Family.BICS):
        assert format_request(request_, family) == text
    assert format_request(request_, Family.ICC) == format_request(request_, Family.CHESSNET) == f"/{text}"


@pytest.mark.parametrize(
    ("answer", "answered"),
    [
        ("You are now observing game 13.", True),
        ("Removing game 13 from observation list.", True),
        ("Ann is not playing a bughouse game.", True),
        ("pobserve: Command not found.", True),
        ("No such command (pobserve).", True),
        ("You are already observing the maximum number of games.", True),
        ("Ann kibitzes: Bob is not playing a bughouse game.", False),
        ("observe: Command not found.", False),
    ],
)
def test_answers_to_asking_for_a_partner(answer: str, answered: bool) -> None:
    queue = RequestQueue()
    queue.put([AskPartner(12, "Ann")], 0)
    queue.take(0)
    queue.feed(events(answer))
    assert queue.under_way == (None if answered else AskPartner(12, "Ann"))


def test_settings_go_first_in_the_same_rhythm_and_in_their_own_words() -> None:
    queue = RequestQueue(Family.ICC, gap_ms=500, burst=2)
    queue.put([AskGames(), AskMoves(3), *map(Setting, ("set a", "/b", "iset c 1"))], 0)
    assert queue.take(0).data == b"set a\n/b\n"
    sending = queue.take(499)
    assert (sending.data, sending.again_at_ms) == (b"", 500)
    assert queue.take(500).data == b"iset c 1\n"
    assert queue.under_way is None
    assert queue.take(1000).data == b"/moves 3\n"


def test_one_command_at_a_time_and_the_answer_lets_the_next_go() -> None:
    queue = RequestQueue(gap_ms=100, burst=5)
    queue.put([Observe(12), Observe(13), Observe(12)], 0)
    assert len(queue) == 2
    assert queue.take(0).data == b"observe 12\n"
    assert queue.take(50).data == b""
    queue.feed(events("You are now observing game 12."))
    assert queue.take(60).data == b"observe 13\n"


def test_spacing_and_when_to_ask_again() -> None:
    queue = RequestQueue(gap_ms=500, burst=2)
    queue.put([KeepAlive(), AskGames()], 1000)
    assert queue.take(1000).data == b"games\n"  # an answer is waited for
    queue.feed(events("There are no games in progress."))
    assert queue.take(1000).data == b"date\n"
    queue.put([AskGames()], 1100)
    sending = queue.take(1100)
    assert (sending.data, sending.again_at_ms) == (b"", 1500)
    assert queue.take(1499).data == b""
    assert queue.take(1500).data == b"games\n"


def test_lists_and_boards_before_games() -> None:
    queue = RequestQueue(gap_ms=1, burst=9, answer_ms=1)
    queue.put([KeepAlive(), AskGames(), Observe(1), Unobserve(2), AskMoves(3), AskRefresh(4)], 0)
    said = b"".join(queue.take(now_ms).data for now_ms in range(6))
    assert said == b"moves 3\nrefresh 4\nunobserve 2\nobserve 1\ngames\ndate\n"


def test_what_waited_a_minute_goes_first() -> None:
    queue = RequestQueue(gap_ms=1, burst=1)
    queue.put([AskGames()], 0)
    queue.put([AskMoves(3)], 30_000)
    assert queue.take(60_000).data == b"games\n"


def test_what_is_under_way_is_not_asked_again() -> None:
    queue = RequestQueue(gap_ms=1, burst=9)
    queue.put([AskMoves(12)], 0)
    queue.take(0)
    queue.put([AskMoves(12)], 1)
    assert (len(queue), queue.under_way) == (0, AskMoves(12))
    queue.feed(events(*LIST))
    assert queue.under_way is None
    queue.put([AskMoves(12)], 2)
    assert queue.take(2).data == b"moves 12\n"


def test_without_an_answer_it_goes_on() -> None:
    queue = RequestQueue(gap_ms=1, burst=9, answer_ms=1000)
    queue.put([AskRefresh(12), AskMoves(3)], 0)
    assert queue.take(0).again_at_ms == 1000
    assert queue.take(999).data == b""
    assert queue.take(1000).data == b"moves 3\n"
    assert queue.under_way == AskMoves(3)


def test_an_observe_and_an_unobserve_that_wait_cancel_each_other() -> None:
    queue = RequestQueue()
    queue.put([Observe(3)], 0)
    queue.put([Unobserve(3)], 1)
    assert len(queue) == 0
    assert queue.take(1) == (b"", None)


def test_requests_about_games_that_are_over_are_dropped() -> None:
    queue = RequestQueue()
    queue.put([Observe(12), AskMoves(12), AskRefresh(12), Unobserve(13)], 0)
    queue.feed(events("{Game 12 (A vs. B) A resigns} 0-1"))
    assert queue.take(0).data == b"unobserve 13\n"


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (Observe(12), ["You are now observing game 12."]),
        (Observe(12), ["Removing game 12 from observation list."]),
        (Observe(12), ["You are already observing game 12."]),
        (Observe(12), ["You are already observing the maximum number of games."]),
        (Observe(12), ["Sorry, game 12 is a private game."]),
        (Observe(12), ["You cannot observe a game that you are playing."]),
        (Unobserve(12), ["Removing game 12 from observation list."]),
        (Unobserve(12), ["You are not observing game 12."]),
        (AskMoves(12), LIST),
        (AskMoves(12), LIST[2:]),
        (AskMoves(12), ["There is no such game."]),
        (AskRefresh(12), [FRAME]),
        (AskRefresh(12), ["There is no such game."]),
        (AskGames(), ["There are no games in progress."]),
        (AskGames(), ["  3 games displayed."]),
    ],
)
def test_answers(asked: Request, answer: list[str]) -> None:
    queue = RequestQueue()
    queue.put([asked], 0)
    queue.take(0)
    queue.feed(events("Morphy kibitzes: hello", FRAME.replace(" 12 A", " 13 A"), "{Game 99 (A vs. B) A resigns} 0-1"))
    assert queue.under_way == asked
    queue.feed(events(*answer))
    assert queue.under_way is None


@pytest.mark.parametrize("option", [{"gap_ms": 0}, {"burst": 0}, {"answer_ms": 0}])
def test_options_must_be_positive(option: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        RequestQueue(**option)


requests = st.one_of(
    st.builds(Setting, st.sampled_from(["iset ms 1", "set style 12"])),
    st.builds(Observe, st.integers(1, 4)),
    st.builds(Unobserve, st.integers(1, 4)),
    st.builds(AskMoves, st.integers(1, 4)),
    st.builds(AskRefresh, st.integers(1, 4)),
    st.just(AskGames()),
    st.just(KeepAlive()),
)


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.lists(requests, max_size=4)), max_size=30),
    st.integers(1, 700),
    st.integers(1, 4),
)
def test_never_too_fast_never_twice_and_all_of_it_is_sent(
    steps: list[tuple[int, list[Request]]], gap_ms: int, burst: int
) -> None:
    queue = RequestQueue(gap_ms=gap_ms, burst=burst, answer_ms=3000)
    now = given_up = 0
    times: list[int] = []
    for wait, put in steps:
        now += wait
        before = queue.under_way
        queue.put(put, now)
        said = queue.take(now).data.splitlines()
        if before is not None and now < given_up:
            assert (said, queue.under_way) == ([], before)
        elif queue.under_way is not None:
            given_up = now + 3000
            assert said[-1].decode() == format_request(queue.under_way)
        times += [now] * len(said)
    for index, at in enumerate(times):
        after = [time for time in times[index:] if time <= at + 5 * gap_ms]
        assert len(after) <= burst + 5  # a burst, and one for each gap since
    while len(queue) or queue.under_way is not None:
        sending = queue.take(now)
        if sending.again_at_ms is None:
            break
        assert sending.again_at_ms > now  # following the advice always gets on
        now = sending.again_at_ms
    assert (len(queue), queue.under_way) == (0, None)
