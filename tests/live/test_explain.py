"""Explanations of the games of a recorded session."""

import pytest

from recorder.events import Chunk
from recorder.live.policy.candidates import Fate
from recorder.live.policy.explain import GameOutcome, SessionExplainer
from recorder.live.policy.plan import ObservationPlan
from tests.dialects.lines import CORPUS
from tests.live.test_observing import row, table

UNRATED = row(2, flags=" bu")


def explain(
    plan: ObservationPlan, *answers: tuple[int | None, str], granted: bool = False
) -> dict[tuple[int, str | None], GameOutcome]:
    """Return the outcome of each game; ``said`` are times and lines."""
    explainer = SessionExplainer(plan, granted=granted)
    for number, (at_ms, lines) in enumerate(answers):
        explainer.receive(Chunk(f"{lines}\n".encode(), number * 1000, at_ms))
    return {(outcome.game_no, outcome.facts.white): outcome for outcome in explainer.finish()}


def session(*lines: str) -> str:
    return "\n".join(lines)


SESSION = (
    (1_000, session(*table(row(1), UNRATED, row(3)))),
    (2_000, "You are now observing game 1."),
    (3_000, "You are already observing the maximum number of games."),
    (9_000, "{Game 1 (White1 vs. Black1) White1 resigns} 0-1"),
    (10_000, "{Game 3 (White3 vs. Black3) White3 resigns} 0-1"),
)


def test_the_servers_answers_decide() -> None:
    outcomes = explain(ObservationPlan("rated"), *SESSION)
    first, second, third = outcomes[1, "White1"], outcomes[2, "White2"], outcomes[3, "White3"]
    assert (first.fate, first.watched_ms, first.seen_ms, first.gone_ms) == (Fate.OBSERVED, 2_000, 1_000, 9_000)
    assert first.reason == "rated is true because the game is rated"
    assert (second.fate, second.watched_ms) == (Fate.UNWANTED, None)
    assert second.part.value is False
    assert third.watched_ms is None  # its place became free shortly before its end
    assert third.fate in (Fate.WAITING, Fate.ASKED)


def test_another_plan_assumes_that_every_request_is_granted() -> None:
    outcomes = explain(ObservationPlan("unrated", ("White3",)), *SESSION, granted=True)
    assert {key: outcome.watched_ms for key, outcome in outcomes.items()} == {
        (1, "White1"): None,
        (2, "White2"): 1_000,
        (3, "White3"): 1_000,
    }
    assert outcomes[3, "White3"].reason == "White3 is in the list of handles"
    limited = explain(ObservationPlan("rated", limit=1), *SESSION, granted=True)
    assert limited[1, "White1"].watched_ms == 1_000
    assert limited[3, "White3"].watched_ms == 9_000


def test_a_game_that_the_user_observed_by_command() -> None:
    outcomes = explain(
        ObservationPlan("rated"), (1_000, session(*table(UNRATED))), (2_000, "You are now observing game 2.")
    )
    assert outcomes[2, "White2"].reason == "the server began to show it without being asked"


def test_two_games_with_the_same_number_are_separate() -> None:
    outcomes = explain(
        ObservationPlan("rated"), (1_000, session(*table(row(1)))), (2_000, session(*table(row(1, "Other"))))
    )
    assert set(outcomes) == {(1, "White1"), (1, "Other")}


def test_a_log_without_times_or_tables() -> None:
    announced = "{Game 7 (B vs. A) Creating rated blitz match.}"
    outcomes = explain(ObservationPlan("rated"), (None, announced), (None, UNRATED), granted=True)
    assert [outcome.watched_ms is not None for outcome in outcomes.values()] == [True, False]


def test_a_session_without_commands() -> None:
    assert SessionExplainer(ObservationPlan("rated"), granted=True).finish() == []


def test_any_chunks_give_the_same_explanations() -> None:
    data = "".join(f"{lines}\n" for _, lines in SESSION).encode()
    whole, cut = (
        SessionExplainer(ObservationPlan("rated"), granted=True),
        SessionExplainer(ObservationPlan("rated"), granted=True),
    )
    whole.receive(Chunk(data, 0, 5))
    for place in range(len(data)):
        cut.receive(Chunk(data[place : place + 1], place, 5))
    assert whole.finish() == cut.finish() != []


def test_lines_before_and_after_a_gap_are_not_joined() -> None:
    line = f"{row(1)}\n".encode()
    for pieces, games in (((line[:30], line[30:]), 1), ((line[:30], b"", line[30:]), 0)):
        explainer = SessionExplainer(ObservationPlan("rated"), granted=True)
        for data in pieces:
            explainer.receive(Chunk(data, 0, 0))
        assert len(explainer.finish()) == games


@pytest.mark.parametrize("answer", [b"You are now observing game", b"Ahora observas el juego"])
@pytest.mark.parametrize("prompt", [b"chessd2% ", b"foo> "])
def test_a_game_whose_boards_come_is_observed_whatever_the_answer_says(answer: bytes, prompt: bytes) -> None:
    data = (CORPUS / "public" / "chessd-first-answers.txt").read_bytes().replace(b"chessd2% ", prompt)
    explainer = SessionExplainer(ObservationPlan("rated | unrated"), granted=False)
    explainer.receive(Chunk(data.replace(b"You are now observing game", answer), 0, 1_000))
    observed = [outcome for outcome in explainer.finish() if outcome.fate is Fate.OBSERVED]
    assert len(explainer.outcomes) == 24
    assert [outcome.game_no for outcome in observed] == [1, 2, 3, 21, 20, 24, 22, 8, 10, 4, 16, 15]
    assert {outcome.missing for outcome in observed} == {"its end did not come"}
