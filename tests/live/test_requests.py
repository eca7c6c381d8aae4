"""Requests and their queue."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.recogniser import Recogniser
from recorder.dialects.session import Family
from recorder.events import Event, Line
from recorder.live.conversation import RequestQueue
from recorder.live.requests import (
    AskGame,
    AskGames,
    AskHistory,
    AskMoves,
    AskPartner,
    AskRefresh,
    AskStored,
    KeepAlive,
    Observe,
    Request,
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


def hear(queue: RequestQueue, *texts: str, now_ms: int = 0) -> list[Request | None]:
    """Return the requests that lines of the server answer."""
    return [queue.hear(event, now_ms) for event in events(*texts)]


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (Observe(12), "observe 12"),
        (Unobserve(12), "unobserve 12"),
        (AskPartner(12, "Ann"), "pobserve Ann"),
        (AskMoves(12), "moves 12"),
        (AskRefresh(12), "refresh 12"),
        (AskGame(12), "games 12"),
        (AskHistory("Ann"), "history Ann"),
        (AskStored("Ann", 4), "smoves Ann 4"),
        (AskStored("Ann", 4, is_last=True, by_last=True), "oldmoves Ann"),
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
def test_answers_to_a_request_for_a_partner(answer: str, answered: bool) -> None:
    queue = RequestQueue()
    queue.put([AskPartner(12, "Ann")], 0)
    queue.take(0)
    assert hear(queue, answer) == [AskPartner(12, "Ann") if answered else None]
    assert queue.under_way == (() if answered else (AskPartner(12, "Ann"),))


def test_settings_are_sent_first_at_the_same_rate() -> None:
    queue = RequestQueue(Family.ICC, gap_ms=500, burst=2)
    queue.put([AskGames(), AskMoves(3), *map(Setting, ("set a", "/b", "iset c 1"))], 0)
    assert queue.take(0).data == b"set a\n/b\n"
    sending = queue.take(499)
    assert (sending.data, sending.next_at_ms) == (b"", 500)
    assert queue.take(500).data == b"iset c 1\n"
    assert queue.under_way == ()
    assert queue.take(1000).data == b"/moves 3\n"


def test_several_commands_are_sent_at_once_and_each_answer_releases_the_next() -> None:
    queue = RequestQueue(gap_ms=100, burst=5, window=2)
    queue.put([Observe(12), Observe(13), Observe(14), Observe(12)], 0)
    assert len(queue) == 3
    assert queue.take(0).data == b"observe 12\nobserve 13\n"
    assert queue.take(50).data == b""
    assert hear(queue, "You are now observing game 12.") == [Observe(12)]
    assert queue.take(60).data == b"observe 14\n"
    assert queue.under_way == (Observe(13), Observe(14))


def test_answers_without_a_name_belong_to_the_oldest_matching_request() -> None:
    queue = RequestQueue()
    queue.put([Observe(1), AskGame(2), Observe(3), AskMoves(4), Observe(5), AskGames()], 0)
    queue.take(0)
    assert hear(
        queue,
        "You are now observing game 1.",
        "No matching games were found (of 7 in progress).",
        "There is no such game.",
        "You are already observing the maximum number of games.",
        "  7 games displayed.",
    ) == [Observe(1), AskGame(2), Observe(3), Observe(5), AskGames()]
    assert queue.under_way == ()


def test_an_answer_implies_unrecognised_answers_to_earlier_requests() -> None:
    queue = RequestQueue()
    queue.put([Observe(1), Observe(2), Observe(3)], 0)
    queue.take(0)
    assert hear(queue, "Este jogo n\xe3o existe.", "You are now observing game 2.") == [None, Observe(2)]
    assert queue.under_way == (Observe(3),)


def test_pauses_between_requests_and_before_a_retry() -> None:
    queue = RequestQueue(gap_ms=500, burst=2)
    queue.put([KeepAlive(), AskGames(), Observe(1)], 1000)
    sending = queue.take(1000)
    assert sending == (b"observe 1\ngames\n", 1500)
    assert queue.take(1499).data == b""
    assert queue.take(1500) == (b"date\n", None)


def test_after_a_too_fast_message_ignored_commands_are_repeated() -> None:
    queue = RequestQueue(gap_ms=50, burst=20)
    queue.put([Setting("set style 12"), Observe(1), Observe(2), Observe(3)], 0)
    assert queue.take(0).data == b"set style 12\nobserve 1\nobserve 2\nobserve 3\n"
    hear(queue, "You are now observing game 1.", "You are sending commands too fast.", now_ms=10)
    queue.put([Observe(4)], 20)
    sending = queue.take(20)
    assert sending == (b"", 1010)
    hear(queue, "You are sending commands too fast.", "You are now observing game 2.", now_ms=30)
    assert queue.take(1009).data == b""
    sent = [(now_ms, queue.take(now_ms).data) for now_ms in range(1010, 2000, 10)]
    assert [(now_ms, data) for now_ms, data in sent if data] == [
        (1010, b"set style 12\n"),
        (1210, b"observe 3\n"),
        (1410, b"observe 4\n"),
    ]


def test_the_rate_is_reduced_until_the_server_accepts_it_and_stays_so() -> None:
    queue = RequestQueue()
    now, spoken, done, times = 0, 0, set[int](), list[int]()
    while len(done) < 60 and now < 300_000:  # a server that takes two commands a second
        if now % 10_000 == 0:
            queue.put([AskRefresh(number) for number in range(60) if number not in done], now)
        for line in queue.take(now).data.decode().splitlines():
            times.append(now)
            if spoken > now - 500:
                hear(queue, "You are sending commands too fast; slow down.", now_ms=now)
            else:
                spoken = now
                number = int(line.removeprefix("refresh "))
                done.add(number)
                hear(queue, FRAME.replace(" 12 A", f" {number} A"), now_ms=now)
        now += 10
    assert len(done) == 60
    assert len(times) < 60 + 20 + 5  # the first burst and few more
    assert min(later - time for time, later in zip(times[-30:], times[-29:], strict=False)) >= 500


@pytest.mark.parametrize(
    "words",
    [
        "You are sending commands too fast",
        "You are sending commands too fast!",
        "You're typing commands too quickly, please wait.",
        "You are sending too many commands.",
        "Too many commands; slow down.",
    ],
)
def test_messages_that_mean_too_fast(words: str) -> None:
    queue = RequestQueue()
    queue.put([Observe(1)], 0)
    queue.take(0)
    hear(queue, f"Ann kibitzes: {words}", f"Ann(C)(50): {words}", now_ms=1)
    assert queue.take(2).next_at_ms is None
    hear(queue, words, now_ms=3)
    assert queue.take(1003).data == b"observe 1\n"


def test_a_game_that_ends_in_the_pause_is_not_requested_a_second_time() -> None:
    queue = RequestQueue()
    queue.put([Observe(12)], 0)
    queue.take(0)
    hear(queue, "You are sending commands too fast.", "{Game 12 (A vs. B) A resigns} 0-1", now_ms=1)
    assert b"".join(queue.take(now_ms).data for now_ms in range(0, 5000, 100)) == b""


def test_an_observe_that_waits_is_dropped_when_the_game_is_shown() -> None:
    queue = RequestQueue(gap_ms=1000, burst=1)
    queue.put([Observe(1), Observe(2)], 0)
    queue.take(0)
    hear(queue, "You are now observing game 2.")  # on old servers the command would end the observation
    assert len(queue) == 0


def test_the_order_of_requests() -> None:
    queue = RequestQueue(gap_ms=1, burst=9)
    queue.put([KeepAlive(), AskGames(), Observe(1), Unobserve(2), AskMoves(3), AskRefresh(4), AskGame(5)], 0)
    assert queue.take(0).data == b"unobserve 2\nobserve 1\nmoves 3\nrefresh 4\ngames 5\ngames\ndate\n"


def test_a_request_that_waited_a_minute_is_sent_first() -> None:
    queue = RequestQueue(gap_ms=1, burst=1)
    queue.put([AskGames()], 0)
    queue.put([AskMoves(3)], 30_000)
    assert queue.take(60_000).data == b"games\n"


def test_a_pending_request_is_not_repeated() -> None:
    queue = RequestQueue(gap_ms=1, burst=9)
    queue.put([AskMoves(12)], 0)
    queue.take(0)
    queue.put([AskMoves(12)], 1)
    assert (len(queue), queue.under_way) == (0, (AskMoves(12),))
    hear(queue, *LIST)
    assert queue.under_way == ()
    queue.put([AskMoves(12)], 2)
    assert queue.take(2).data == b"moves 12\n"


def test_the_queue_continues_without_an_answer() -> None:
    queue = RequestQueue(gap_ms=1, burst=9, window=1, answer_ms=1000)
    queue.put([AskRefresh(12), AskMoves(3)], 0)
    assert queue.take(0).next_at_ms == 1000
    assert queue.take(999).data == b""
    assert queue.take(1000).data == b"moves 3\n"
    assert queue.under_way == (AskMoves(3),)


def test_an_observe_and_an_unobserve_that_wait_cancel_each_other() -> None:
    queue = RequestQueue()
    queue.put([Observe(3)], 0)
    queue.put([Unobserve(3)], 1)
    assert len(queue) == 0
    assert queue.take(1) == (b"", None)


def test_requests_about_ended_games_are_dropped() -> None:
    queue = RequestQueue()
    queue.put([Observe(12), AskMoves(12), AskRefresh(12), Unobserve(13)], 0)
    hear(queue, "{Game 12 (A vs. B) A resigns} 0-1")
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
        (AskGame(12), ["There are no games in progress."]),
        (AskGame(12), ["No matching games were found (of 3 in progress)."]),
        (AskHistory("Ann"), ["History for Ann:"]),
        (AskHistory("Ann"), ["Ann has no history games."]),
        (AskHistory("Ann"), ["history: Command not found."]),
        (AskStored("Ann", 4), [*LIST[2:-1], "      {White resigned} 0-1"]),
        (AskStored("Ann", 4), ["smoves: Command not found."]),
        (AskStored("Ann", 4), ["There is no such game."]),
        (AskStored("Ann", 4), ["There is no history game 4 for Ann."]),
        (AskGames(), ["There are no games in progress."]),
        (AskGames(), ["  3 games displayed."]),
    ],
)
def test_answers(asked: Request, answer: list[str]) -> None:
    queue = RequestQueue()
    queue.put([asked], 0)
    queue.take(0)
    hear(queue, "Morphy kibitzes: hello", FRAME.replace(" 12 A", " 13 A"), "{Game 99 (A vs. B) A resigns} 0-1")
    assert queue.under_way == (asked,)
    assert asked in hear(queue, *answer)
    assert queue.under_way == ()


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
    st.lists(st.tuples(st.integers(0, 2000), st.lists(requests, max_size=4), st.booleans()), max_size=30),
    st.integers(1, 700),
    st.integers(1, 4),
    st.integers(1, 4),
)
def test_every_request_is_sent_once_and_never_too_fast(
    steps: list[tuple[int, list[Request], bool]], gap_ms: int, burst: int, window: int
) -> None:
    queue = RequestQueue(gap_ms=gap_ms, burst=burst, window=window, answer_ms=3000)
    now = 0
    times: list[int] = []
    for wait, put, refused in steps:
        now += wait
        if refused:
            hear(queue, "You are sending commands too fast.", now_ms=now)
        queue.put(put, now)
        sent = queue.take(now).data.splitlines()
        assert len(queue.under_way) <= window
        assert len(set(queue.under_way)) == len(queue.under_way)
        times += [now] * len(sent)
    for index, at in enumerate(times):
        after = [time for time in times[index:] if time <= at + 5 * gap_ms]
        assert len(after) <= burst + 5  # a burst, and one for each pause since
    while len(queue):
        sending = queue.take(now)
        if sending.next_at_ms is None:
            break
        assert sending.next_at_ms > now  # waiting until then always makes progress
        now = sending.next_at_ms
    assert len(queue) == 0
