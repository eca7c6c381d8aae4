"""Facts of a game before it is observed, and games that several recorders divide among them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.dialects.gameinfo import parse_gameinfo
from recorder.dialects.lists import parse_row
from recorder.dialects.notices import parse_created, parse_header
from recorder.errors import PolicyError
from recorder.events import GamesRow, Line
from recorder.live.policy.games import Listed, ListedEvent, Share, parse_share, title_words
from recorder.live.policy.plan import ObservationPlan
from recorder.live.requests import AskGames, Observe
from recorder.tracking.facts import HeaderFacts
from tests.live.asked import AskedObserving as Observing
from tests.live.test_observing import board, events, row, table

CUT = "143 1995 Kingkonglon ++++ jacksquart [psu 15   1]  14:54 - 14:49 (38-39) B:  3"


def read(text: str) -> ListedEvent:
    line = Line(text, 0)
    event = parse_row(line) or parse_header(line) or parse_created(line) or parse_gameinfo(line)
    assert event is not None
    return event  # type: ignore[return-value]  # these four return one


def test_a_row_contains_these_facts() -> None:
    listed = Listed(143, HeaderFacts(0))
    row = read(CUT)
    assert isinstance(row, GamesRow)
    listed.take(row)
    facts = listed.facts
    assert (facts.white, facts.black, listed.white_cut, listed.black_cut) == ("Kingkonglon", "jacksquart", True, True)
    assert (facts.rated, facts.category, facts.white_base_s, facts.black_increment_s) == (False, "standard", 900, 1)
    assert (listed.private, listed.examined, listed.white_titles) == (True, False, None)
    assert (listed.registered(True), listed.registered(False)) == (True, False)
    assert (listed.rating(True), listed.rating(False)) == (1995, None)


def test_exact_times_replace_whole_minutes() -> None:
    listed = Listed(143, HeaderFacts(0))
    listed.take(read(CUT))
    listed.take(read("<g1> 143 p=0 t=standard r=0 u=0,1 it=930,1 i=930,1 pt=7 rt=1995,0 ts=1,1"))
    assert (listed.facts.white_base_s, listed.facts.partner_game_no, listed.private) == (930, 7, False)


def test_whole_names_replace_cut_ones() -> None:
    listed = Listed(143, HeaderFacts(0))
    listed.take(read(CUT))
    listed.take(read("{Game 143 (Kingkonglong vs. jacksquarter) Creating unrated standard match.}"))
    assert (listed.facts.white, listed.white_cut) == ("Kingkonglong", False)
    listed.take(read(CUT))  # a later table does not cut them again
    assert (listed.facts.black, listed.black_cut) == ("jacksquarter", False)


def test_players_are_compared_as_far_as_they_are_printed() -> None:
    listed = Listed(143, HeaderFacts(0))
    assert listed.between(read(CUT))  # nothing is known yet
    listed.take(read(CUT))
    assert listed.between(read(CUT))
    assert listed.between(read("Game 143: KingKongLong (1995) jacksquarter (++++) unrated standard 15 1"))
    assert not listed.between(read("Game 143: King (1995) jacksquarter (++++) unrated standard 15 1"))
    assert not listed.between(read("Game 143: jacksquarter (++++) KingKongLong (1995) unrated standard 15 1"))
    assert listed.between(read("<g1> 143 p=0"))
    whole = Listed(143, HeaderFacts(0))
    whole.take(read("Game 143: KingKongLong (1995) jacksquarter (++++) unrated standard 15 1"))
    assert whole.between(read(CUT))
    assert not whole.between(read(CUT.replace("jack", "mack")))


def test_ratings_without_information_about_an_account() -> None:
    listed = Listed(1, HeaderFacts(0))
    listed.take(read("  1 (Exam.    0 Spiro          0 Najdorf   ) [ uu  0   0] W:  3"))
    assert (listed.registered(True), listed.rating(True), listed.examined) == (None, None, True)


def test_title_words() -> None:
    assert title_words("(SR)(gm)") == {"SR", "GM"}
    assert title_words("C") == {"C"}
    assert title_words("") == frozenset()


NAMES = st.text("abcdefXYZ09", min_size=3, max_size=17)


def listed(white: str, black: str, category: str = "blitz") -> Listed:
    return Listed(7, HeaderFacts(0, white=white, black=black, category=category))


@given(NAMES, NAMES, st.integers(1, 5))
def test_each_game_is_in_one_share_for_both_colours_and_cut_names(white: str, black: str, of: int) -> None:
    shares = [Share(number, of) for number in range(1, of + 1)]
    (mine,) = [share for share in shares if share.has(listed(white, black))]
    assert mine.has(listed(black.upper(), white))
    assert mine.has(listed(white[:11], black[:10]))


def test_shares_have_about_the_same_size() -> None:
    games = [listed(f"Player{number}", f"Other{number % 37}") for number in range(1000)]
    assert 450 < sum(Share(1, 2).has(game) for game in games) < 550


def test_all_bughouse_is_in_the_first_share() -> None:
    games = [listed(f"Player{number}", "Other", "bughouse") for number in range(20)]
    assert all(Share(1, 2).has(game) for game in games)
    assert not any(Share(2, 2).has(game) for game in games)


@pytest.mark.parametrize("text", ["", "0/2", "3/2", "1", "1/2/3", "a/b", "-1/2"])
def test_invalid_shares_are_refused(text: str) -> None:
    with pytest.raises(PolicyError, match="is not a share: write 1/2"):
        parse_share(text)


def test_a_share_is_read_and_written() -> None:
    assert parse_share("2/3") == Share(2, 3)
    assert str(Share(2, 3)) == "2/3"


def test_two_recorders_observe_every_game_once() -> None:
    rows = [row(number) for number in range(1, 11)]
    asked: list[int] = []
    for number in (1, 2):
        observing = Observing(ObservationPlan("rated", ("White3",), share=Share(number, 2)))
        observing.connected(0)
        assert observing.decide(0) == [AskGames()]
        observing.feed(events(*table(*rows)), 0)
        asked += [request.game_no for request in observing.decide(0) if isinstance(request, Observe)]
        others = [each for each in range(1, 11) if "in the share of another recorder" in observing.why(each)]
        assert 0 < len(others) < 10
    assert sorted(asked) == list(range(1, 11))


def test_the_other_board_of_a_match_goes_with_the_first() -> None:
    mine = next(number for number in range(1, 99) if Share(2, 2).has(listed(f"White{number}", f"Black{number}")))
    other = next(number for number in range(1, 99) if Share(1, 2).has(listed(f"White{number}", f"Black{number}")))
    observing = Observing(ObservationPlan("rated", share=Share(2, 2)))
    observing.connected(0)
    observing.decide(0)
    observing.feed(events(*table(row(mine), row(other))), 0)
    assert observing.decide(0) == [Observe(mine)]
    line = f"<g1> {mine} p=0 t=bughouse r=1 pt={other}"  # the table did not contain that it is bughouse
    shown = board(mine, f"White{mine}", f"Black{mine}")
    observing.feed(events(f"You are now observing game {mine}.", line, shown), 1)
    assert observing.decide(1) == [Observe(other)]
