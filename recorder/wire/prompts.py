"""Prompts: what a server prints, without a line end, before nearly every line.

Source: ``fics% `` and ``aics% `` of the servers; ``help prompt`` and ``help ptime`` (``12:34_fics% ``); the answer
``prompt set to "ICS> ".`` of FatICS.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_DEFAULT: Final = r"(?:\d\d:\d\d_)?[fa]ics% ?"
_DEFAULTS: Final = re.compile(f"(?:{_DEFAULT})+")
_DEFAULT_FIRSTS: Final = "fa0123456789"
_SET: Final = re.compile(r'prompt (?:now |is now )?set to:? "(?P<prompt>[^"]{1,60})"\.?\s*', re.IGNORECASE)
_PROMPT_ENDS: Final = ("%", ">", "$", "#")
# A bot's line begins with a colon and a chat line has a speaker, so neither can begin like this.
LONE_PROMPT: Final = re.compile(
    r"(?:\d\d:\d\d_)?(?P<prompt>(?=[^\sA-Za-z]{0,23}[A-Za-z])[^\s:<>{}()\[\]\\]{1,24}[%>$#] )"
    r"(?:(?:\d\d:\d\d_)?(?P=prompt))*"
)
_MOST_PROMPTS: Final = 32
_MOST_SHOWN: Final = 1000
_ENOUGH: Final = 3
_ALONE: Final = 1
BEFORE_ANSWER: Final = 2


def strip_prompts(text: str) -> tuple[str, int]:
    """Strip the servers' own prompts; return the text behind them and the number of characters before it."""
    match = _DEFAULTS.match(text)
    return (text, 0) if match is None else (text[match.end() :], match.end())


class PromptStripper:
    """Takes prompts off lines, the users' own ones included once it has learned them from the stream."""

    def __init__(self) -> None:
        self._pattern = _DEFAULTS
        self._firsts = frozenset(_DEFAULT_FIRSTS)
        self._learned: set[str] = set()
        self._shown: Counter[str] = Counter()

    def strip(self, text: str) -> tuple[str, int]:
        """Return the text behind the prompts and the number of characters before it."""
        if text[:1] not in self._firsts:
            return text, 0
        match = self._pattern.match(text)
        return (text, 0) if match is None else (text[match.end() :], match.end())

    def learn(self, text: str) -> bool:
        """Look for a new prompt in a line (as received, prompts included).

        It is one if the server says so (``prompt set to "ICS> ".``), or if a single word ending in ``% ``, ``> ``, ``$
        `` or ``# `` has stood alone on three lines, or on one, if it stood before a known line, too: see ``shown``.
        True: lines that begin with it can be stripped from now on.
        """
        rest, _ = self.strip(text)
        if match := _SET.fullmatch(rest):
            return self._add(match["prompt"])
        match = LONE_PROMPT.fullmatch(rest)
        return match is not None and self.shown(match["prompt"], _ALONE)

    @staticmethod
    def find_unknown(text: str) -> tuple[str, int] | None:
        match = LONE_PROMPT.match(text)
        return None if match is None or match.end() == len(text) else (match["prompt"], match.end())

    def shown(self, prompt: str, weight: int) -> bool:
        """Whether the places that show this prompt are enough now, and it was learned."""
        if len(self._shown) >= _MOST_SHOWN:
            self._shown.clear()
        self._shown[prompt] += weight
        return self._shown[prompt] >= _ENOUGH and self._add(prompt)

    def _add(self, prompt: str) -> bool:
        bare = prompt.rstrip()
        # A prompt that ends like a word or handle would take the speaker off a line of chat.
        if not bare.endswith(_PROMPT_ENDS) or bare in self._learned or len(self._learned) >= _MOST_PROMPTS:
            return False
        self._learned.add(bare)
        self._firsts |= {bare[0]}
        own = "|".join(re.escape(prompt) for prompt in sorted(self._learned, key=len, reverse=True))
        self._pattern = re.compile(rf"(?:{_DEFAULT}|(?:\d\d:\d\d_)?(?:{own})(?: |$))+")
        return True
