"""Missed games are found in the players' histories, or are counted as missed."""

import pytest

from recorder.dialects.recogniser import Recogniser
from recorder.events import Event, Line
from recorder.live.conversation import RequestQueue
from recorder.live.policy.plan import ObservationPlan
from recorder.live.requests import AskGames, AskHistory, Request
from tests.live.asked import AskedObserving as Observing

NOON_MS = 1_322_136_000_000  # 2011-11-24 12:00 UTC
MINUTE = 60_000


class Talk:
    """The output of a server and the commands that follow."""

    def __init__(self, policy: str = "rated", limit: int | None = None, *, whole: bool = True) -> None:
        self.observing = Observing(ObservationPlan(policy, limit=limit))
        self.queue = RequestQueue(gap_ms=1, burst=1000)
        self.now_ms = 0
        self.whole = whole
        self.observing.connected(0, lambda number: self.whole)
        self.wait(0)
        self.hear("There are no games in progress.")

    def hear(self, *texts: str) -> list[str]:
        """Receive lines of the server; return the commands that follow at once."""
        recogniser = Recogniser()
        heard: list[Event] = recogniser.feed([Line(text, 0, NOON_MS + self.now_ms) for text in texts])
        heard += recogniser.finish()
        for event in heard:
            self.observing.feed([event], self.now_ms, self.queue.hear(event, self.now_ms))
        return self.wait(0)

    def wait(self, wait_ms: int) -> list[str]:
        """Let time pass; return the commands sent meanwhile, except requests for the table."""
        sent: list[str] = []
        for _ in range(0, wait_ms + 1, 100):
            self.queue.put(self.observing.decide(self.now_ms), self.now_ms)
            sent += self.queue.take(self.now_ms).data.decode().splitlines()
            self.now_ms += 100 if wait_ms else 0
        return [line for line in sent if line != "games"]

    @property
    def counts(self) -> tuple[int, int, int, int, int]:
        """Return the counts of complete, partial, recovered, missed and pending games."""
        tally = self.observing.tally
        return tally.whole, tally.partly, tally.recovered, tally.missed, tally.pending


def created(number: int = 7, white: str = "Ann", black: str = "Bob") -> str:
    return f"{{Game {number} ({white} vs. {black}) Creating rated blitz match.}}"


def ended(number: int = 7, white: str = "Ann", black: str = "Bob", result: str = "1-0") -> str:
    loser = black if result == "1-0" else white
    return f"{{Game {number} ({white} vs. {black}) {loser} resigns}} {result}"


def row(number: int, at: str, *, result: str = "+", colour: str = "W", opponent: str = "Bob") -> str:
    return f"{number:2}: {result} 1500 {colour} 1600 {opponent:<13} [ br  3   0] B00 Res Thu Nov 24, {at} UTC 2011"


def stored(at: str, result: str = "1-0", white: str = "Ann", black: str = "Bob") -> list[str]:
    return [
        f"{white} (1500) vs. {black} (1600) --- Thu Nov 24, {at} UTC 2011",
        "Rated blitz match, initial time: 3 minutes, increment: 0 seconds.",
        "",
        f"Move  {white:<18} {black}",
        "----  ----------------   ----------------",
        "  1.  e4      (0:00)     e5      (0:00)",
        f"      {{{'Black' if result == '1-0' else 'White'} resigned}} {result}",
    ]


HEAD = ["History for Ann:", "                  Opponent      Type         ECO End Date"]


def missed(talk: Talk, *texts: str) -> None:
    """Let a game begin and end before the server shows it."""
    assert talk.hear(created()) == ["observe 7"]
    assert talk.hear(ended(), "There is no such game.", *texts) == ["history Ann"]


def test_a_missed_game_is_taken_from_a_list() -> None:
    talk = Talk()
    missed(talk)
    assert talk.hear(*HEAD, row(3, "11:40"), row(4, "12:00")) == []
    assert talk.wait(1_200) == ["smoves Ann 4"]
    talk.hear(*stored("12:00"))
    assert talk.counts == (0, 0, 1, 0, 0)
    assert talk.observing.tally.sentence == "Games: 1 matched and ended, 0 whole, 1 from a list."


def test_icc_names_no_player_above_a_history() -> None:
    talk = Talk()
    missed(talk)
    ours = "67: + 1500 W 1600 Bob          [ br  3   0] B00 Res Nov 24 11 07:00"
    assert talk.hear(HEAD[1], ours.replace("07:00", "06:40"), ours.replace("67: +", "68: a")) == []
    assert talk.wait(1_200) == ["history Bob"]
    assert talk.hear(HEAD[1], ours.replace("+ 1500 W 1600 Bob", "- 1600 B 1500 Ann")) == []
    assert talk.wait(1_200) == ["smoves Bob 67"]
    talk.hear(*stored("12:00"))
    assert talk.counts == (0, 0, 1, 0, 0)


def test_a_list_of_a_shuffled_game_without_its_start_board_gives_a_part() -> None:
    talk = Talk()
    missed(talk)
    talk.hear(*HEAD, row(4, "12:00"))
    talk.wait(1_200)
    talk.hear(*(text.replace("blitz", "wild/fr") for text in stored("12:00")))
    assert talk.counts == (0, 1, 0, 0, 0)
    assert list(talk.observing.tally.why) == [
        "it was over before the server showed it, and the list of it lacks the start board"
    ]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([row(4, "12:07")], "no history shows it"),
        ([row(4, "12:00", result="-")], "no history shows it"),
        ([row(4, "12:00", colour="B")], "no history shows it"),
        ([row(4, "12:00", opponent="Bobby")], "no history shows it"),
        ([row(3, "12:00"), row(4, "12:00")], "more than one game of its players fits"),
    ],
)
def test_exactly_one_row_must_match(rows: list[str], why: str) -> None:
    talk = Talk()
    missed(talk)
    talk.hear(*HEAD, *rows)
    asked = talk.wait(1_200)
    if asked:
        assert asked == ["history Bob"]  # the other player's history may have more
        assert talk.hear("Bob has no history games.") == []
    assert talk.counts == (0, 0, 0, 1, 0)
    assert talk.observing.tally.why == {f"it was over before the server showed it, and {why}": 1}


@pytest.mark.parametrize(
    "texts",
    [stored("12:06"), stored("12:00", "0-1"), ["There is no such game."]],
    ids=["minute", "result", "refusal"],
)
def test_a_list_of_another_game_does_not_recover_the_missed_one(texts: list[str]) -> None:
    talk = Talk()
    missed(talk)
    talk.hear(*HEAD, row(4, "12:00"))
    assert talk.wait(1_200) == ["smoves Ann 4"]
    talk.hear(*texts)
    assert talk.counts == (0, 0, 0, 1, 0)


def test_two_games_of_one_pair_in_one_minute_are_not_distinguished() -> None:
    talk = Talk()
    missed(talk, created(), ended())  # the same players again
    assert talk.counts == (0, 0, 0, 0, 2)
    talk.hear(*HEAD, row(3, "12:00"))  # one of them is missing
    talk.wait(5_000)
    talk.hear(*HEAD, row(3, "12:00"))
    talk.wait(5_000)
    assert talk.counts == (0, 0, 0, 2, 0)


def test_two_games_of_one_pair_in_different_minutes_are_distinguished() -> None:
    talk = Talk()
    missed(talk)
    talk.hear(*HEAD, row(3, "12:00"))
    assert talk.wait(1_200) == ["smoves Ann 3"]
    talk.hear(*stored("12:00"))
    talk.wait(10 * MINUTE)
    missed(talk)
    talk.hear(*HEAD, row(3, "12:00"), row(4, "12:10"))
    assert talk.wait(1_200) == ["smoves Ann 4"]
    talk.hear(*stored("12:10"))
    assert talk.counts == (0, 0, 2, 0, 0)


def test_unknown_time_zones_differ_by_quarters_of_an_hour() -> None:
    talk = Talk()
    missed(talk)
    c_date = row(4, "12:00").replace("Nov 24, 12:00 UTC 2011", "Nov 24 17:45:09 2011")
    talk.hear(*HEAD, row(3, "12:00").replace("12:00 UTC", "17:50 IST"), c_date)
    assert talk.wait(1_200) == ["smoves Ann 4"]
    talk.hear(*(text.replace("12:00 UTC", "17:45 IST") for text in stored("12:00")))
    assert talk.counts == (0, 0, 1, 0, 0)


def test_a_server_without_such_lists_is_asked_once() -> None:
    talk = Talk()
    missed(talk)
    talk.hear(*HEAD, row(3, "11:40"), row(4, "12:00"))
    assert talk.wait(1_200) == ["smoves Ann 4"]
    assert talk.hear("smoves: Command not found.") == ["oldmoves Ann"]  # it is the player's last game
    assert talk.hear("oldmoves: Command not found.") == []
    assert talk.counts == (0, 0, 0, 1, 0)
    talk.hear(created(8, "Cid", "Dee"))
    assert talk.hear(ended(8, "Cid", "Dee"), "There is no such game.") == []
    assert talk.counts == (0, 0, 0, 2, 0)


def test_a_server_that_has_only_the_last_game() -> None:
    talk = Talk()
    missed(talk)
    talk.hear(*HEAD, row(4, "12:00"))
    talk.wait(1_200)
    assert talk.hear("smoves: Command not found.") == ["oldmoves Ann"]
    talk.hear("Last game for Ann was history game 4.", *stored("12:00"))
    assert talk.counts == (0, 0, 1, 0, 0)


def test_a_server_without_history() -> None:
    talk = Talk()
    missed(talk)
    assert talk.hear("history: Command not found.") == []
    assert talk.counts == (0, 0, 0, 1, 0)


def test_a_missing_answer_ends_the_search() -> None:
    talk = Talk()
    missed(talk)
    talk.wait(61_000)
    assert talk.counts == (0, 0, 0, 1, 0)


def test_an_unfinished_game_is_in_no_list() -> None:
    talk = Talk()
    talk.hear(created())
    aborted = "{Game 7 (Ann vs. Bob) Game aborted on move 1 by Ann} *"
    assert talk.hear(aborted, "There is no such game.") == []
    assert talk.counts == (0, 0, 0, 1, 0)


def test_complete_and_partial_observations_are_counted() -> None:
    talk = Talk()
    talk.hear(created(), "You are now observing game 7.", ended())
    assert talk.counts == (1, 0, 0, 0, 0)
    talk.whole = False
    assert talk.hear(created(), "You are now observing game 7.", ended()) == ["history Ann"]
    assert talk.counts == (1, 0, 0, 0, 1)
    assert talk.hear("Ann has no history games.") == ["history Bob"]
    talk.hear("Bob has no history games.")
    assert talk.counts == (1, 1, 0, 0, 0)
    assert talk.observing.tally.sentence == (
        "Games: 2 matched and ended, 1 whole, 1 in part (1: a part of it did not come, and no history shows it)."
    )


def test_games_without_a_free_place_are_counted_as_such_and_searched() -> None:
    talk = Talk(limit=1)
    talk.hear(created(1, "Cid", "Dee"), "You are now observing game 1.", created())
    assert talk.hear(ended(result="0-1")) == ["history Ann"]
    talk.hear("Ann has no history games.")
    talk.hear("Bob has no history games.")
    assert talk.observing.tally.why == {"no place was free, and no history shows it": 1}


def test_a_game_that_two_lines_announce_is_counted_once() -> None:
    talk = Talk()
    announced = "Game notification: Ann (1515) vs. Bob (1712) rated blitz 3 0: Game 7"
    assert talk.hear(announced, created()) == ["observe 7"]
    talk.hear("You are now observing game 7.", ended())
    assert talk.counts == (1, 0, 0, 0, 0)


def test_games_that_do_not_match_are_not_counted() -> None:
    talk = Talk("unrated")
    assert talk.hear(created(), ended()) == []
    assert talk.observing.tally.matched == 0


def test_a_history_is_requested_after_a_reconnect() -> None:
    talk = Talk()
    missed(talk)
    talk.observing.disconnected()
    talk.queue = RequestQueue()
    talk.observing.connected(talk.now_ms)
    requests: list[Request] = talk.observing.decide(talk.now_ms)
    assert requests == [AskHistory("Ann"), AskGames()]


def test_the_end_of_recording_counts_no_game_in_progress() -> None:
    talk = Talk()
    talk.hear(created(), "You are now observing game 7.")
    talk.observing.finish(1)
    assert talk.observing.tally.matched == 0
