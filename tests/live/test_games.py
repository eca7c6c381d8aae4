"""Facts of a game before it is observed."""

from __future__ import annotations

from recorder.dialects.gameinfo import parse_gameinfo
from recorder.dialects.lists import parse_row
from recorder.dialects.notices import parse_created, parse_header
from recorder.events import GamesRow, Line
from recorder.live.policy.games import Listed, ListedEvent, title_words
from recorder.tracking.facts import HeaderFacts

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
