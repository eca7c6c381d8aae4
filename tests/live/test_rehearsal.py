"""A rehearsal lists the games that would be observed, and observes none."""

import pytest

from recorder.errors import LoginError
from recorder.live.login.login import Login
from recorder.live.policy.explain import Rehearsal
from recorder.live.policy.plan import ObservationPlan
from tests.live.test_observing import row, table
from tests.support.testserver import CHESS_NET, FICS, ICC, Manners

TABLE = ("\n\r".join(table(row(1), row(2, flags=" bu"), row(3))) + "\n\r\n\rfics% ").encode()


def logged_in(plan: ObservationPlan, manners: Manners = FICS) -> tuple[Rehearsal, bytes]:
    """Return one that has logged in, and the commands it has sent."""
    rehearsal = Rehearsal(Login(None), plan)
    sent = b""
    for text in (manners.banner + manners.login, manners.guest, manners.welcome + manners.prompt):
        sent += rehearsal.receive(manners.encode(text, name="GuestABCD", mark="(U)"), 0) + rehearsal.take(0)
    return rehearsal, sent


def test_only_the_table_is_requested() -> None:
    rehearsal, sent = logged_in(ObservationPlan("rated"))
    assert sent == b"guest\n\ngames\n"
    assert not rehearsal.finished
    assert rehearsal.receive(TABLE, 1) == b"quit\n"
    assert rehearsal.finished
    assert rehearsal.receive(b"Bye.\n\r\n\r", 2) == b""
    observed, games = rehearsal.result()
    assert [(game.game_no, game.facts.white) for game in observed] == [(1, "White1"), (3, "White3")]
    assert len(games) == 3


def test_games_are_listed_in_the_order_of_the_requests() -> None:
    rehearsal, _ = logged_in(ObservationPlan("rated", ("White3",)))
    rehearsal.receive(TABLE, 1)
    assert [game.game_no for game in rehearsal.result()[0]] == [3, 1]
    limited, _ = logged_in(ObservationPlan("rated", limit=1))
    limited.receive(TABLE, 1)
    assert [game.game_no for game in limited.result()[0]] == [1]


@pytest.mark.parametrize("manners", [ICC, CHESS_NET])
def test_a_server_with_aliases(manners: Manners) -> None:
    rehearsal, sent = logged_in(ObservationPlan("rated"), manners)
    assert sent.splitlines()[-1] == b"/games"
    rehearsal.receive(TABLE, 1)
    assert [game.game_no for game in rehearsal.result()[0]] == [1, 3]


def test_nothing_is_requested_of_an_account_but_the_table() -> None:
    rehearsal = Rehearsal(Login("Ann", lambda: "secret"), ObservationPlan("rated"))
    rehearsal.receive(FICS.encode(FICS.login), 0)
    rehearsal.receive(FICS.encode(FICS.registered + FICS.password, name="Ann"), 0)
    assert rehearsal.receive(FICS.encode(FICS.welcome + FICS.prompt, name="Ann", mark=""), 0) == b"games\n"
    assert rehearsal.receive(TABLE, 0) == b"quit\n"
    assert [game.game_no for game in rehearsal.result()[0]] == [1, 3]


def test_a_server_that_does_not_answer() -> None:
    rehearsal, _ = logged_in(ObservationPlan("rated"))
    assert rehearsal.take(29_999) == b""
    assert rehearsal.take(30_000) == b"quit\n"
    assert rehearsal.finished
    assert rehearsal.result()[1] == []
    silent = Rehearsal(Login(None), ObservationPlan("rated"))
    silent.take(5)
    with pytest.raises(LoginError, match="has not asked for a name"):
        silent.take(30_005)


def test_a_server_that_ends_the_connection() -> None:
    with pytest.raises(LoginError, match="closed the connection before it asked"):
        Rehearsal(Login(None), ObservationPlan("rated")).closed()
    rehearsal, _ = logged_in(ObservationPlan("rated"))
    rehearsal.closed()
    assert rehearsal.result()[1] == []
