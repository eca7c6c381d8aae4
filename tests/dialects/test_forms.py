"""Tables of patterns: the words choose which are tried, the pattern alone decides."""

import re

from recorder.dialects.forms import find_form, make_forms

FORMS = make_forms([("offer", r"\S+", " offers ", r"a (?P<what>\w+)\."), ("any", "", "(a", r"\)?")], before=r"\s*")


def test_a_line_that_has_the_words_need_not_have_the_form() -> None:
    assert find_form(FORMS, "Bob offers a draw, says Alice") is None


def test_the_first_form_of_the_whole_line_counts_and_its_words_are_no_pattern() -> None:
    found = find_form(FORMS, "  Bob offers a draw.  ")
    assert found is not None
    assert (found[0], found[1]["what"]) == ("offer", "draw")
    found = find_form(FORMS, "(a)")
    assert found is not None
    assert found[0] == "any"


def test_a_pattern_whose_words_are_missing_is_not_even_compiled() -> None:
    assert find_form(make_forms([("broken", "(", "words", "")]), "other text") is None


def test_every_form_of_ours_is_a_pattern() -> None:
    from recorder.dialects import notices, session

    for _, words, pattern in (*notices._NOTICES, *notices._EXAMINE, *session._FORMS):
        assert re.escape(words) in pattern().pattern
