"""How a line of a client is read as a command: aliases, abbreviations, block mode's number.

Source: FICS help pages on commands and aliases; block codes as clients and FatICS list them.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

__all__ = ["AMBIGUOUS", "BAD_COMMAND", "BAD_PARAMETERS", "CODES", "NO_NUMBER", "Command", "read_command"]

BAD_COMMAND: Final = 512
BAD_PARAMETERS: Final = 513
AMBIGUOUS: Final = 514
NO_NUMBER: Final = 519

#: Every command that is answered, and its code in block mode.
CODES: Final = {
    "abort": 10, "accept": 11, "addlist": 12, "adjourn": 13, "allobservers": 14, "backward": 16, "cshout": 31,
    "date": 32, "decline": 33, "draw": 34, "examine": 36, "finger": 37, "flag": 38, "follow": 41, "forward": 42,
    "games": 43, "goto": 0, "help": 50, "history": 51, "inchannel": 53, "iset": 56, "it": 57, "ivariables": 58,
    "journal": 60, "kibitz": 62, "match": 73, "messages": 74, "moretime": 76, "moves": 77, "news": 78, "next": 79,
    "observe": 80, "oldmoves": 81, "pause": 86, "pobserve": 89, "ptell": 94, "quit": 97, "refresh": 101, "resign": 103,
    "revert": 105, "say": 107, "seek": 155, "set": 109, "shout": 110, "showlist": 111, "smoves": 123, "sought": 157,
    "sposition": 125, "stored": 127, "style": 128, "sublist": 129, "takeback": 131, "tell": 132, "time": 133, "to": 0,
    "unexamine": 137, "unobserve": 138, "unpause": 139, "unseek": 156, "uptime": 140, "variables": 143, "whisper": 145,
    "who": 146,
}  # fmt: skip

# The aliases that everybody has, and the abbreviations that several commands begin with.
_ALIASES: Final = {
    "'": "kibitz", "`": "tell", ".": "tell", "!": "shout", "#": "whisper", "?": "help", "*": "kibitz", "%": "whisper",
    "+": "addlist", "-": "sublist", "=": "showlist",
    "a": "accept", "b": "backward", "back": "backward", "bye": "quit", "ex": "examine", "exam": "examine",
    "exit": "quit", "f": "finger", "fo": "forward", "for": "forward", "forw": "forward", "fol": "follow",
    "g": "games", "h": "help", "hi": "history", "hist": "history", "logout": "quit", "logoff": "quit", "m": "match",
    "mo": "moves", "mov": "moves", "o": "observe", "obs": "observe", "q": "quit", "r": "refresh", "ref": "refresh",
    "rev": "revert", "s": "say", "se": "set", "sh": "shout", "sm": "smoves", "t": "tell", "te": "tell",
    "u": "unobserve", "un": "unobserve", "unob": "unobserve", "uno": "unobserve", "une": "unexamine",
    "unex": "unexamine", "v": "variables", "vars": "variables", "w": "who", "x": "examine", "xtell": "tell",
}  # fmt: skip

_LINE: Final = re.compile(r"(?:(?P<number>\d{1,9}) )?\s*(?P<dollars>\$*)\s*(?P<words>.*)", re.DOTALL | re.ASCII)
_WORD: Final = re.compile(r"([A-Za-z]\S*|[^\sA-Za-z])\s*(.*)", re.DOTALL)


class Command(NamedTuple):
    """A line as a command.

    Attributes:
        number: block mode's, or None.
        name: of ``CODES``, or None: it is none, or not a single one.
        word: what was typed for it.
        rest: the words behind it, without blanks around them.
        matches: the commands that the word may stand for, if they are several.
    """

    number: int | None
    name: str | None
    word: str
    rest: str
    matches: tuple[str, ...] = ()


def read_command(line: str, block: bool) -> Command:
    """Read a line.

    Args:
        line: without its end.
        block: whether every line begins with a number.
    """
    match = _LINE.fullmatch(line if block else f" {line}")
    assert match is not None  # every text matches
    number = None if match["number"] is None else int(match["number"])
    words = match["words"].strip()
    parts = _WORD.fullmatch(words)
    if parts is None:
        return Command(number, None, "", words)
    word, rest = parts[1], parts[2].strip()
    typed = word.lower()
    # After ``$`` no alias is looked at; abbreviations always are.
    if typed in _ALIASES and (not match["dollars"] or len(typed) > 1):
        return Command(number, _ALIASES[typed], word, rest)
    if typed in CODES:
        return Command(number, typed, word, rest)
    matches = tuple(name for name in sorted(CODES) if name.startswith(typed))
    if len(matches) == 1:
        return Command(number, matches[0], word, rest)
    return Command(number, None, words.split()[0], rest, matches)
