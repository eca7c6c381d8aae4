"""Regular expressions: compiled when they are first needed, and linear on every text."""

import ast
import re
from itertools import islice
from math import inf
from typing import Any

import pytest

from tests.support.matching import CountingMatcher, TooManyStepsError
from tests.support.patterns import (
    ROOT,
    adversarial,
    compiled_patterns,
    has_possessive_group,
    searched_names,
    sources,
)

SHORT = 32  # letters of the shortest text that is tried; each next one is three times as long
FEW = 8  # steps a letter: no loop is begun again at each letter of a text of that length
LINEAR = 4.5  # times the steps, for three times the length; a quadratic pattern takes nine times
LONGEST = 864  # where a pattern that slows down has taken three times as many steps again and again
MOST = 100_000
# Patterns that need not be linear: what is matched is never longer than this.
BOUNDED = {
    "recorder.journal.reader._LINE_ENDS": 5,  # the last bytes of a line
    "recorder.live.login.login._REFUSED[]": 400,  # _LONGEST_WORDS
}
# Where a pattern is made while the program runs, and of what.
MADE_LATER = {
    ("recorder/cli/db.py", "compile"),  # --redact: the user's own
    ("storage/maintenance/share.py", "compile"),
    ("recorder/wire/prompts.py", "compile"),  # escaped prompts, at most _MOST_PROMPTS
    ("exporters/pgn/exporter.py", "sub"),  # an escaped handle
    ("exporters/selection.py", "sub"),  # a word of our own docstrings
    ("exporters/base.py", "compile"),  # the escaped tag of a key
    ("recorder/archive/exporting.py", "compile"),  # a name with *, whose parts fnmatch makes atomic
}


def _steps(matcher: CountingMatcher, text: str, searched: bool) -> float:
    try:
        return matcher.search(text, MOST) if searched else matcher.fullmatch(text, MOST)
    except TooManyStepsError:
        return inf


def _grows(matcher: CountingMatcher, parts: tuple[str, str, str], bound: int | None, searched: bool) -> bool:
    """Whether three times the length takes more than three times the steps, at every length that is tried."""
    before, pump, behind = parts
    length, known = SHORT, 0.0
    while True:
        text = (before + pump * (length // len(pump) + 1) + behind)[:bound]
        steps = _steps(matcher, text, searched)
        if steps <= FEW * length or (known and steps <= LINEAR * known) or (bound is not None and steps < inf):
            return False
        if length >= LONGEST or steps == inf:
            return True
        length, known = 3 * length, steps


def _find_slow(pattern: re.Pattern[Any], name: str, searched: bool, every: int = 1) -> str | None:
    """A text on which a pattern is slow, or None; only ``every`` n-th text is tried."""
    matcher = CountingMatcher(pattern)
    for parts in islice(adversarial(pattern), 0, None, every):
        for whole in (False, True)[: 1 + searched]:
            if _grows(matcher, parts, BOUNDED.get(name), whole):
                before, pump, behind = parts
                return f"{name}: {before[-40:]!r} + {pump!r} many times + {behind!r}{', searched' * whole}"
    return None


def test_the_search_for_slow_texts_finds_known_bad_patterns() -> None:
    for bad in (
        r"(?: x)?(?:\S*[%>])? ?(?:\S+[%>] ?)*",  # what a cut frame was read with
        r"\s*(?:[a-z_]+=\S+\s*)+",  # and the settings of an account
        r"(\S.*?)\s*",
        r"\{(.*?)\} (?:1-0|0-1)(?: \[[^\]]*\])?",
        r"(?:a|b|ab)*c",
    ):
        assert _find_slow(re.compile(bad), "bad", searched=False) is not None, bad
    for bad in (r"[0-9]+x", r"\s+$"):
        assert _find_slow(re.compile(bad), "bad", searched=True) is not None, bad
    assert _find_slow(re.compile(r"\S+(?: \S+)*"), "good", searched=False) is None


@pytest.mark.parametrize("every", [pytest.param(1, marks=pytest.mark.long), 397])
def test_every_pattern_is_linear(every: int) -> None:
    patterns = sorted(compiled_patterns().items(), key=lambda found: found[1])
    assert len(patterns) > 350
    searched = searched_names()
    slow = [
        _find_slow(pattern, name, name in searched or re.sub(r"\w+\[\]$", "*", name) in searched, every)
        for pattern, name in patterns
    ]
    assert "\n".join(text for text in slow if text is not None) == ""


def test_no_group_has_a_possessive_quantifier() -> None:
    """Python 3.11.0 to 3.11.4 match such groups wrongly (python/cpython#106052); an atomic group means the same."""
    assert has_possessive_group(re.compile(r"a(?:x|(?:ab?c)*+)"))
    assert has_possessive_group(re.compile(rb"(?<=a)(?:b(?:\d\d_)?+)"))
    assert not has_possessive_group(re.compile(r"(?>(?:ab?c)*)a*+[a-z]{1,3}+\s?+.++"))
    assert [name for pattern, name in compiled_patterns().items() if has_possessive_group(pattern)] == []


def test_patterns_are_made_where_the_test_finds_them() -> None:
    hidden = []
    for path, nodes in sources():
        functions = [node for node in nodes if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
        for call in {inner for node in functions for inner in ast.walk(node) if isinstance(inner, ast.Call)}:
            used = call.func
            if isinstance(used, ast.Attribute) and isinstance(used.value, ast.Name) and used.value.id == "re":
                where = path.relative_to(ROOT).as_posix()
                if used.attr != "escape" and (where, used.attr) not in MADE_LATER:
                    hidden.append(f"{where}:{call.lineno}: re.{used.attr}")
            elif isinstance(used, ast.Name) and used.id == "later":
                where = path.relative_to(ROOT).as_posix()
                if where != "recorder/dialects/forms.py":  # tables of forms are walked
                    hidden.append(f"{where}:{call.lineno}: later")
    assert hidden == []
