"""Prompts: what a server prints, without a line end, before nearly every line.

Source: ``fics% `` and ``aics% `` of the servers; ``help prompt`` and ``help ptime`` (``12:34_fics% ``); the answer
``prompt set to "ICS> ".`` of FatICS.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final

__all__ = ["LONE_PROMPT", "PromptStripper", "strip_prompts"]

_DEFAULT: Final = r"(?:\d\d:\d\d_)?[fa]ics% ?"
_DEFAULTS: Final = re.compile(f"(?:{_DEFAULT})+")
_DEFAULT_FIRSTS: Final = "fa0123456789"
_SET: Final = re.compile(r'prompt (?:now |is now )?set to:? "(?P<prompt>[^"]{1,60})"\.?\s*', re.IGNORECASE)
# A bot's line begins with a colon and a chat line has a speaker, so neither can look like this.
LONE_PROMPT: Final = re.compile(r"(?:\d\d:\d\d_)?(?P<prompt>[^\s:<>{}()\[\]\\]{1,24}% )")
"""What any user's own prompt may look like."""
_TIMES_ALONE = 3
_MOST_PROMPTS: Final = 32
_MOST_ALONE: Final = 1000
_PROMPT_ENDS: Final = ("%", ">", "$", "#")


def strip_prompts(text: str) -> tuple[str, int]:
    """Take any number of the servers' own prompts off the beginning of a line.

    Args:
        text: a line as received.

    Returns:
        The text after them and the number of characters taken off.
    """
    match = _DEFAULTS.match(text)
    return (text, 0) if match is None else (text[match.end() :], match.end())


class PromptStripper:
    """Takes prompts off lines, the users' own ones included once it has learned them from the stream."""

    def __init__(self) -> None:
        self._pattern = _DEFAULTS
        self._firsts = frozenset(_DEFAULT_FIRSTS)
        self._learned: set[str] = set()
        self._alone: Counter[str] = Counter()

    def strip(self, text: str) -> tuple[str, int]:
        """Take prompts off the beginning of a line, the learned ones included.

        Args:
            text: a line as received.

        Returns:
            The text after them and the number of characters taken off.
        """
        if text[:1] not in self._firsts:
            return text, 0
        match = self._pattern.match(text)
        return (text, 0) if match is None else (text[match.end() :], match.end())

    def learn(self, text: str) -> bool:
        """Look for a new prompt in a line (as received, prompts included).

        It is one if the server says so (``prompt set to "ICS> ".``) and it ends in ``%``, ``>``, ``$`` or ``#``, or if
        a single word ending in ``% `` has stood alone on three lines.

        Args:
            text: the line.

        Returns:
            Whether a prompt was learned: then lines that begin with it can be stripped from now on.
        """
        rest, _ = self.strip(text)
        if match := _SET.fullmatch(rest):
            return self._add(match["prompt"])
        if match := LONE_PROMPT.fullmatch(rest):
            if len(self._alone) >= _MOST_ALONE:
                self._alone.clear()
            self._alone[match["prompt"]] += 1
            return self._alone[match["prompt"]] >= _TIMES_ALONE and self._add(match["prompt"])
        return False

    def saved(self) -> tuple[list[str], dict[str, int]]:
        """What was learned, as JSON keeps it: prompts, and how often others stood alone."""
        return sorted(self._learned), dict(self._alone)

    def load(self, learned: Iterable[str], alone: Mapping[str, int]) -> None:
        """Take what ``saved`` gave; lines that were counted since do not count."""
        for prompt in learned:
            self._add(prompt)
        self._alone = Counter(alone)

    def _add(self, prompt: str) -> bool:
        bare = prompt.rstrip()
        # A prompt that ends like a word or handle would take the speaker off a line of chat.
        if not bare.endswith(_PROMPT_ENDS) or bare in self._learned or len(self._learned) >= _MOST_PROMPTS:
            return False
        self._learned.add(bare)
        self._firsts |= {bare[0]}
        own = "|".join(re.escape(known) for known in sorted(self._learned, key=len, reverse=True))
        self._pattern = re.compile(rf"(?:{_DEFAULT}|(?:\d\d:\d\d_)?(?:{own})(?: |$))+")
        return True
