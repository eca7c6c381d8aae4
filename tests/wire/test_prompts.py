"""Prompts before lines."""

import pytest

from recorder.wire import PromptStripper, strip_prompts
from recorder.wire.prompts import BEFORE_ANSWER


@pytest.mark.parametrize(
    ("line", "rest"),
    [
        ("fics% <b1> game 1", "<b1> game 1"),
        ("fics% fics% <12> rnb", "<12> rnb"),
        ("fics%<12> rnb", "<12> rnb"),
        ("aics% ok", "ok"),
        ("aics%", ""),
        ("12:34_fics% ok", "ok"),
        ("Ann says: fics% <12>", "Ann says: fics% <12>"),
        (":fics% <12>", ":fics% <12>"),
    ],
)
def test_the_servers_own_prompts(line: str, rest: str) -> None:
    assert strip_prompts(line) == (rest, len(line) - len(rest))
    assert PromptStripper().strip(line) == (rest, len(line) - len(rest))


def test_observed_03_a_prompt_that_was_set() -> None:
    stripper = PromptStripper()
    strip = stripper.strip
    assert strip("ICS> <12> x") == ("ICS> <12> x", 0)
    assert stripper.learn('fics% prompt set to "ICS> ".')
    assert not stripper.learn('fics% prompt set to "ICS> ".')
    assert strip("ICS> fics% ICS> <12> x") == ("<12> x", 16)
    assert strip("12:34_ICS> x") == ("x", 11)
    assert strip("ICS>") == ("", 4)
    assert strip("ICS>x") == ("ICS>x", 0)


def test_a_prompt_printed_alone_three_times() -> None:
    stripper = PromptStripper()
    strip = stripper.strip
    assert [stripper.learn("mychess% ") for _ in range(3)] == [False, False, True]
    assert strip("mychess% {Game 1") == ("{Game 1", 9)


def test_a_prompt_printed_alone_once_and_before_an_answer() -> None:
    stripper = PromptStripper()
    assert not stripper.learn("foo> ")
    assert stripper.find_unknown("foo> foo> ms set.") == ("foo> ", 10)
    assert stripper.find_unknown("foo> ") is None
    assert stripper.shown("foo> ", BEFORE_ANSWER)
    line = "foo> ms set."
    assert stripper.strip(line) == ("ms set.", 5)


@pytest.mark.parametrize("line", [":x% ", "<12>% ", "Ann says: x% ", 'Ann says: prompt set to "<12>".', "{x% "])
def test_chat_teaches_no_prompt(line: str) -> None:
    stripper = PromptStripper()
    assert not any(stripper.learn(line) for _ in range(5))
    assert stripper.strip(line) == (line, 0)


@pytest.mark.parametrize("prompt", ["Bob", "Bob ", "Game", "--", ":", "{"])
def test_a_prompt_that_ends_like_a_word_is_never_taken_off(prompt: str) -> None:
    stripper = PromptStripper()
    assert not stripper.learn(f'prompt set to "{prompt}".')
    assert stripper.strip(f"{prompt.strip()} kibitzes: hi") == (f"{prompt.strip()} kibitzes: hi", 0)
