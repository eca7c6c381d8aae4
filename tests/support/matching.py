"""A backtracking matcher that counts its steps: what a clock would show of a pattern, the same on every machine.

It walks the tree that `re` parses, in the order in which `re` tries: each letter that is looked at, and each turn of a
loop that is taken or given back, is a step. The engine in C takes the same ones; its shortcuts save a constant.
"""

import re
import re._constants as codes  # type: ignore[import-not-found]  # type stubs lack private modules
import re._parser as parser  # type: ignore[import-not-found]  # type stubs lack private modules
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Then = Callable[[int], int]  # continues at a position; where the whole match ends, or -1
Matcher = Callable[[int, Then], int]

DEEPEST = 200_000
"""Frames of Python: a loop that is matched calls what follows it from inside."""


class TooManyStepsError(Exception):
    """The matcher was stopped."""


def in_set(items: Any, letter: str) -> bool:
    """Whether a letter belongs to the items of a parsed set."""
    code, hit, negated = ord(letter), False, False
    for op, value in items:
        if op is codes.NEGATE:
            negated = True
        elif op is codes.LITERAL:
            hit |= code == value
        elif op is codes.RANGE:
            hit |= value[0] <= code <= value[1]
        elif op is codes.CATEGORY:
            hit |= _in_category(value, letter)
    return hit != negated


def _in_category(value: Any, letter: str) -> bool:
    word, digit, space = letter.isalnum() or letter == "_", letter.isdecimal(), letter.isspace()
    return {
        codes.CATEGORY_DIGIT: digit, codes.CATEGORY_NOT_DIGIT: not digit, codes.CATEGORY_SPACE: space,
        codes.CATEGORY_NOT_SPACE: not space, codes.CATEGORY_WORD: word, codes.CATEGORY_NOT_WORD: not word,
    }[value]  # fmt: skip


class CountingMatcher:
    """One pattern. Texts of bytes patterns are latin-1; letters beyond ASCII do not decide anything here."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        flags = pattern.flags if isinstance(pattern.pattern, str) else pattern.flags & ~re.LOCALE | re.ASCII
        self.tree = parser.parse(text, flags & ~re.UNICODE if flags & re.ASCII else flags)
        self._match = self._sequence(self.tree, flags)
        self._text, self._groups = "", dict[int, tuple[int, int]]()
        self.steps, self._most = 0, 0

    def fullmatch(self, text: str, most: int) -> int:
        """Count the steps of `fullmatch`.

        Raises:
            TooManyStepsError: more than ``most``.
        """
        with self._counting(text, most):
            self.matched = self._match(0, lambda at: at if at == len(text) else -1) >= 0
        return self.steps

    def search(self, text: str, most: int) -> int:
        """Count the steps of `finditer` through the whole text."""
        at = 0
        with self._counting(text, most):
            while at <= len(text):
                end = self._match(at, lambda reached: reached)
                at = end if end > at else at + 1
                self._step()
        return self.steps

    @contextmanager
    def _counting(self, text: str, most: int) -> Iterator[None]:
        self._text, self._groups = text, {}
        self.steps, self._most = 0, most
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(DEEPEST)
        try:
            yield
        finally:
            sys.setrecursionlimit(before)

    def _step(self) -> None:
        self.steps += 1
        if self.steps > self._most:
            raise TooManyStepsError

    # -- parts of a pattern

    def _sequence(self, nodes: Any, flags: int) -> Matcher:
        matchers = [self._one(op, value, flags) for op, value in nodes]
        if len(matchers) == 1:
            return matchers[0]

        def from_index(index: int, at: int, then: Then) -> int:
            if index == len(matchers):
                return then(at)
            return matchers[index](at, lambda reached: from_index(index + 1, reached, then))

        return lambda at, then: from_index(0, at, then)

    def _one(self, op: Any, value: Any, flags: int) -> Matcher:
        letter = self._letter(op, value, flags)
        if letter is not None:
            return self._taking(letter)
        if op is codes.AT:
            return self._place(value, flags)
        if op is codes.BRANCH:
            return self._branch([self._sequence(branch, flags) for branch in value[1]])
        if op is codes.SUBPATTERN:
            return self._group(value[0], self._sequence(value[3], (flags | value[1]) & ~value[2]))
        if op is codes.ATOMIC_GROUP:
            return self._alone(self._sequence(value, flags))
        if op in (codes.ASSERT, codes.ASSERT_NOT):
            return self._look(value, flags, wanted=op is codes.ASSERT)
        if op in (codes.GROUPREF, codes.GROUPREF_IGNORE):
            return self._again(value)
        if op is codes.GROUPREF_EXISTS:
            with_it, without = (self._sequence(part or [], flags) for part in value[1:])
            return lambda at, then: (with_it if value[0] in self._groups else without)(at, then)
        assert op in (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT), op
        least, most, body = value[0], min(value[1], 1 << 30), list(value[2])
        single = self._letter(body[0][0], body[0][1], flags) if len(body) == 1 else None
        if single is not None:
            loop = self._loop_of_letters(single, least, most, lazy=op is codes.MIN_REPEAT)
        else:
            loop = self._loop(self._sequence(body, flags), least, most, lazy=op is codes.MIN_REPEAT)
        return self._alone(loop) if op is codes.POSSESSIVE_REPEAT else loop

    def _letter(self, op: Any, value: Any, flags: int) -> Callable[[str], bool] | None:
        """A test of one letter, if that is what a node is."""
        if op is codes.ANY:
            return (lambda letter: True) if flags & re.DOTALL else (lambda letter: letter != "\n")
        if op is codes.LITERAL:
            items, negated = [(codes.LITERAL, value)], False
        elif op is codes.NOT_LITERAL:
            items, negated = [(codes.LITERAL, value)], True
        elif op is codes.IN:
            items, negated = value, False
        elif op is codes.CATEGORY:
            items, negated = [(op, value)], False
        else:
            return None
        positive = [item for item in items if item[0] is not codes.NEGATE]
        negated = negated or len(positive) < len(items)
        known: dict[str, bool] = {}

        def test(letter: str) -> bool:
            if letter not in known:
                cased = flags & re.IGNORECASE and (letter.isascii() or not flags & re.ASCII)
                forms = {letter.lower(), letter.upper(), letter} if cased else {letter}
                known[letter] = any(in_set(positive, form) for form in forms if len(form) == 1) != negated
            return known[letter]

        return test

    def _taking(self, letter: Callable[[str], bool]) -> Matcher:
        def take(at: int, then: Then) -> int:
            self._step()
            return then(at + 1) if at < len(self._text) and letter(self._text[at]) else -1

        return take

    def _place(self, value: Any, flags: int) -> Matcher:
        def is_word(at: int) -> bool:
            return 0 <= at < len(self._text) and _in_category(codes.CATEGORY_WORD, self._text[at])

        def here(at: int) -> bool:
            text, lines = self._text, flags & re.MULTILINE
            if value in (codes.AT_BEGINNING, codes.AT_BEGINNING_STRING):
                return at == 0 or bool(value is codes.AT_BEGINNING and lines and text[at - 1] == "\n")
            if value is codes.AT_END_STRING:
                return at == len(text)
            if value is codes.AT_END:
                return at == len(text) or (text[at] == "\n" and bool(lines or at == len(text) - 1))
            return (is_word(at - 1) != is_word(at)) == (value is codes.AT_BOUNDARY)

        def stand(at: int, then: Then) -> int:
            self._step()
            return then(at) if here(at) else -1

        return stand

    def _branch(self, branches: list[Matcher]) -> Matcher:
        def choose(at: int, then: Then) -> int:
            for branch in branches:
                self._step()
                if (end := branch(at, then)) >= 0:
                    return end
            return -1

        return choose

    def _group(self, number: int | None, body: Matcher) -> Matcher:
        if number is None:
            return body

        def remember(at: int, then: Then) -> int:
            def noted(reached: int) -> int:
                before = self._groups.get(number)
                self._groups[number] = at, reached
                if (end := then(reached)) < 0:
                    if before is None:
                        del self._groups[number]
                    else:
                        self._groups[number] = before
                return end

            return body(at, noted)

        return remember

    def _alone(self, body: Matcher) -> Matcher:
        """A part that is not tried in another way once it has matched."""

        def once(at: int, then: Then) -> int:
            reached = body(at, lambda there: there)
            return then(reached) if reached >= 0 else -1

        return once

    def _look(self, value: Any, flags: int, *, wanted: bool) -> Matcher:
        direction, part = value
        body, width = self._sequence(part, flags), part.getwidth()[0] if direction < 0 else 0

        def look(at: int, then: Then) -> int:
            hit = at >= width and body(at - width, lambda there: there) >= 0
            return then(at) if hit == wanted else -1

        return look

    def _again(self, number: int) -> Matcher:
        def same(at: int, then: Then) -> int:
            begin, end = self._groups.get(number, (-1, -1))
            self._step()
            repeated = self._text[begin:end]
            return then(at + len(repeated)) if begin >= 0 and self._text.startswith(repeated, at) else -1

        return same

    def _loop_of_letters(self, letter: Callable[[str], bool], least: int, most: int, *, lazy: bool) -> Matcher:
        def reach(at: int, count: int) -> int:
            text, end = self._text, at
            while end < len(text) and end - at < count and letter(text[end]):
                self._step()
                end += 1
            self._step()
            return end

        def greedy(at: int, then: Then) -> int:
            for end in range(reach(at, most), at + least - 1, -1):
                self._step()
                if (found := then(end)) >= 0:
                    return found
            return -1

        def reluctant(at: int, then: Then) -> int:
            end = reach(at, least)
            while end - at >= least:
                self._step()
                if (found := then(end)) >= 0:
                    return found
                if end - at >= most or end >= len(self._text) or not letter(self._text[end]):
                    return -1
                end += 1
            return -1

        return reluctant if lazy else greedy

    def _loop(self, body: Matcher, least: int, most: int, *, lazy: bool) -> Matcher:
        def turn(count: int, began: int, at: int, then: Then) -> int:
            self._step()

            def more() -> int:
                if count >= most or (count >= max(least, 1) and at == began):  # a turn without letters ends the loop
                    return -1
                return body(at, lambda reached: turn(count + 1, at, reached, then))

            if count < least:
                return more()
            if lazy:
                return end if (end := then(at)) >= 0 else more()
            return end if (end := more()) >= 0 else then(at)

        return lambda at, then: turn(0, -1, at, then)
