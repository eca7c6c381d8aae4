"""Regular expressions: compiled when they are first needed, and linear on every text."""

from __future__ import annotations

import ast
import gc
import itertools
import re
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import pytest

from recorder.text import later
from tests.support.patterns import (
    ROOT,
    adversarial,
    compiled_patterns,
    has_possessive_group,
    searched_names,
    sources,
)

# The longest line that the wire emits has 64 KiB: what passes at this length takes a few milliseconds there.
LENGTH = 3072
LONGEST = 12288  # of texts of which one turn is long, so that there are fewer
LONG_TURN = 4
LIMIT_S = 0.004
AT_ONCE = 8  # texts that are timed together, because setting the timer takes longer than matching does
SHARDS = 2
# Patterns that need not be linear: what is matched is never longer than this.
BOUNDED = {
    "recorder.journal.reader._LINE_ENDS": 5,  # the last bytes of a line
    "recorder.live.login.login._REFUSALS[]": 400,  # _LONGEST_WORDS
}
# Where a pattern is made while the program runs, and of what.
MADE_LATER = {
    ("recorder/cli/db.py", "compile"),  # --redact: the user's own
    ("storage/maintenance/share.py", "compile"),
    ("recorder/wire/prompts.py", "compile"),  # escaped prompts, at most _MOST_PROMPTS
    ("exporters/pgn/exporter.py", "sub"),  # an escaped handle
}


class _TooSlowError(Exception):
    pass


def _too_slow(*_: object) -> None:
    raise _TooSlowError


@contextmanager
def _processor_time(limit_s: float) -> Iterator[None]:
    """Stop what takes more of the processor's time; matching looks for signals."""
    before = signal.signal(signal.SIGPROF, _too_slow)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _takes_too_long(calls: Iterable[Callable[[], object]]) -> bool:
    for limit_s in (LIMIT_S, 2 * LIMIT_S):  # once more: the machine may have been at something else
        try:
            with _processor_time(limit_s):
                for call in calls:
                    call()
        except _TooSlowError:
            continue
        return False
    return True


def _find_slow(pattern: re.Pattern[Any], name: str, searched: bool) -> str | None:
    """A text on which a pattern is slow, or None."""

    def search(text: Any) -> None:
        for _ in pattern.finditer(text):
            pass

    found, at_once = adversarial(pattern), AT_ONCE
    while several := list(itertools.islice(found, at_once)):
        calls: dict[str, partial[object]] = {}
        for before, pump, behind in several:
            length = LENGTH if len(pump) < LONG_TURN else LONGEST
            text: Any = before + pump * (length // len(pump) + 1) + behind
            text = text[: BOUNDED.get(name, len(text))]
            if isinstance(pattern.pattern, bytes):
                text = text.encode("latin-1", "replace")
            shown = f"{name}: {before[-40:]!r} + {pump!r} up to {length} characters + {behind!r}"
            calls[shown] = partial(pattern.fullmatch, text)
            if searched:
                calls[f"{shown}, searched"] = partial(search, text)
        if _takes_too_long(calls.values()):  # all of them in the time of one; else one at a time
            at_once = max(1, at_once // 4)
            for shown, call in calls.items():
                if _takes_too_long([call]):
                    return shown
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


@pytest.mark.parametrize("shard", range(SHARDS))
def test_every_pattern_is_linear(shard: int) -> None:
    patterns = sorted(compiled_patterns().items(), key=lambda found: found[1])
    assert len(patterns) > 350
    searched = searched_names()
    gc.disable()
    try:
        slow = [
            _find_slow(pattern, name, name in searched or re.sub(r"\w+\[\]$", "*", name) in searched)
            for pattern, name in patterns[shard::SHARDS]
        ]
    finally:
        gc.enable()
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


def test_an_expression_is_compiled_once_and_not_before_it_is_called_for() -> None:
    broken = later("(")
    with pytest.raises(re.error):
        broken()
    row = later(rb"[a-z]+", re.I)
    assert row() is row()
    assert row().fullmatch(b"Row") is not None
