"""The check of words finds what it shall find, and nothing in code."""

from __future__ import annotations

import json

import pytest

from tests.plain_words import BANNED, Text, find, find_long_summaries, read_notebook, read_page, read_python


def found_in(text: str) -> list[str]:
    return [finding.words for finding in find(Text("x", 1, text))]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("The result is told by the server.", ["told"]),
        ("What the line tells of\n    the game", ["tells of"]),
        ("Whoever reads this; nobody did.", ["Whoever", "nobody"]),
        ("3 games left\n# out", ["left out"]),
        ("`told` and told_ms and untold-1 are names", []),
        ("private tells, a tell to a channel, 'tell opponent hi'", []),
    ],
)
def test_refused_words_are_found_and_the_words_of_servers_are_not(text: str, words: list[str]) -> None:
    assert found_in(text) == words


def test_each_pattern_says_what_to_write_instead() -> None:
    assert all(instead for instead in BANNED.values())


def test_strings_comments_and_test_names_are_read_with_their_lines() -> None:
    source = 'def test_nobody_came() -> None:\n    """Summary."""\n    x = "of somebody"  # told\n'
    found = {(one.line, one.words) for text in read_python("x", source) for one in find(text)}
    assert found == {(1, "nobody"), (3, "somebody"), (3, "told")}


def test_notebooks_are_read_without_their_code() -> None:
    cells = [{"cell_type": "code", "source": ["told"]}, {"cell_type": "markdown", "source": ["is\n", "told"]}]
    texts = read_notebook("x", json.dumps({"cells": cells}))
    found = [(text.line, one.line, one.words) for text in texts for one in find(text)]
    assert found == [(2, 3, "told")]


def test_pages_are_read_without_their_code() -> None:
    page = "# Told\n\n```\ntold\n\ntold\n```\n\nSay `told` or\nanew.\n"
    found = [(text.line, one.line, one.words) for text in read_page("x", page) for one in find(text)]
    assert found == [(1, 1, "Told"), (9, 10, "anew")]


def test_a_summary_is_one_short_line() -> None:
    source = '"""A summary that goes\non."""\n\n\nclass A:\n    """Short.\n\n    More.\n    """\n'
    assert [finding.line for finding in find_long_summaries("x", source)] == [1]
