"""How a client's line is read as a command, what ``set`` and ``iset`` change, and the replay's own commands.

Source: FICS help pages on commands and aliases; block codes as clients and FatICS list them.
"""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any, Final, NamedTuple

from recorder.errors import ReplayError
from recorder.replay.moments import parse_position, seek
from recorder.replay.timing import Playhead, format_speed
from recorder.times import short_hms

HELP: Final = (
    "pause | play | step | speed 4 | where",
    "seek 20w | 20b | 1:30 | +10s | -10s | #2 | #2/20w | takeback | start | end",
    "observe all: every game from its beginning; observe none",
)
_SHARED: Final = "The time of this replay is shared: nobody can move it."
_SPEED: Final = re.compile(r"x?(\d{1,4})(?:\.(\d{1,3})|/([1-9]\d{0,2}))?x?", re.ASCII)
_FASTEST: Final = 1000


def parse_speed(text: str) -> Fraction | None:
    """``4``, ``x4``, ``0.5`` or ``1/3``; None: no speed between 0 and 1000."""
    match = _SPEED.fullmatch(text.strip())
    if match is None:
        return None
    speed = Fraction(f"{match[1]}.{match[2] or 0}") / int(match[3] or 1)
    return speed if 0 < speed <= _FASTEST else None


def steer(head: Playhead[Any], words: str, now_ns: int, shared: bool) -> tuple[int | None, int, list[str]]:
    """Return the place to seek or None, the time there, and the answer."""
    word, _, rest = words.partition(" ")
    word = word.lower()
    if word in ("", "help"):
        return None, 0, list(HELP)
    if shared and word not in ("where", "status"):
        return None, 0, [_SHARED]
    if word == "pause":
        head.pause(now_ns)
    elif word in ("play", "resume"):
        head.resume(now_ns)
    elif word == "speed":
        speed = parse_speed(rest)
        if speed is None:
            return None, 0, [f"{rest or 'Nothing'} is not a speed; write 4, 0.5 or 1/3, at most {_FASTEST}."]
        head.set_speed(speed, now_ns)
    elif word in ("seek", "go"):
        try:
            place, at_ms = seek(head.moments, parse_position(rest), head.place, head.at_ms(now_ns))
        except ReplayError as error:
            return None, 0, [str(error)]
        return place, at_ms, [f"at {short_hms(at_ms // 1000)}"]
    elif word not in ("where", "status"):
        return None, 0, [f'There is no command {word[:20]}; "tell replay help" lists the commands.']
    return None, 0, [where(head, now_ns)]


def where(head: Playhead[Any], now_ns: int) -> str:
    last_ms = head.moments[-1].at_ms if head.moments else 0
    state = "at its end" if head.ended else "paused" if head.paused else "playing"
    now, last = short_hms(head.at_ms(now_ns) // 1000), short_hms(last_ms // 1000)
    return f"{state} at {now} of {last}, speed {format_speed(head.speed)}"


BAD_COMMAND: Final = 512
BAD_PARAMETERS: Final = 513
AMBIGUOUS: Final = 514
NO_NUMBER: Final = 519

#: Every command that is answered, and its code in block mode.
CODES: Final = {
    "abort": 10, "accept": 11, "addlist": 12, "adjourn": 13, "alias": 159, "allobservers": 14, "backward": 16,
    "bugwho": 22, "cshout": 31, "date": 32, "decline": 33, "draw": 34, "examine": 36, "finger": 37, "flag": 38,
    "follow": 41, "forward": 42, "games": 43, "goto": 0, "help": 50, "history": 51, "inchannel": 53, "iset": 56,
    "it": 57, "ivariables": 58, "journal": 60, "kibitz": 62, "llogons": 65, "logons": 66, "match": 73, "messages": 74,
    "moretime": 76, "moves": 77, "news": 78, "next": 79, "observe": 80, "oldmoves": 81, "partner": 84, "pause": 86,
    "pending": 87, "play": 158, "pobserve": 89, "ptell": 94, "quit": 97, "refresh": 101, "rematch": 102, "resign": 103,
    "revert": 105, "say": 107, "seek": 155, "set": 109, "shout": 110, "showlist": 111, "smoves": 123, "sought": 157,
    "sposition": 125, "stored": 127, "style": 128, "sublist": 129, "takeback": 131, "tell": 132, "time": 133, "to": 0,
    "unalias": 136, "unexamine": 137, "unobserve": 138, "unpause": 139, "unseek": 156, "uptime": 140, "variables": 143,
    "whisper": 145, "who": 146, "withdraw": 147, "znotify": 152,
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


class TypedCommand(NamedTuple):
    """A line as a command; ``name`` is None if ``word`` is none, or abbreviates several: ``matches``."""

    number: int | None  # block mode's
    name: str | None
    word: str
    rest: str
    matches: tuple[str, ...] = ()


def read_command(line: str, block: bool) -> TypedCommand:
    """In ``block`` mode every line begins with a number."""
    match = _LINE.fullmatch(line if block else f" {line}")
    assert match is not None  # every text matches
    number = None if match["number"] is None else int(match["number"])
    words = match["words"].strip()
    parts = _WORD.fullmatch(words)
    if parts is None:
        return TypedCommand(number, None, "", words)
    word, rest = parts[1], parts[2].strip()
    typed = word.lower()
    # After ``$`` no alias is looked at; abbreviations always are.
    if typed in _ALIASES and (not match["dollars"] or len(typed) > 1):
        return TypedCommand(number, _ALIASES[typed], word, rest)
    if typed in CODES:
        return TypedCommand(number, typed, word, rest)
    matches = tuple(name for name in sorted(CODES) if name.startswith(typed))
    if len(matches) == 1:
        return TypedCommand(number, matches[0], word, rest)
    return TypedCommand(number, None, words.split()[0], rest, matches)


#: Interface variables in the order of the login string's digits.
_INTERFACE: Final = (
    "compressmove", "audiochat", "seekremove", "defprompt", "lock", "startpos", "block", "gameinfo", "xdr", "pendinfo",
    "graph", "seekinfo", "extascii", "nohighlight", "highlight", "showserver", "pin", "ms", "pinginfo", "boardinfo",
    "extuserinfo", "seekca", "showownseek", "premove", "smartmove", "movecase", "suicide", "crazyhouse", "losers",
    "wildcastle", "fr", "nowrap", "allresults", "obsping", "singleboard",
)  # fmt: skip
_UNNUMBERED: Final = ("atomic", "vthighlight", "xml")
_TOGGLES: Final = (
    "autoflag", "availinfo", "availmax", "availmin", "bell", "bugopen", "chanoff", "cshout", "ctell", "echo", "examine",
    "flip", "gin", "highlight", "jprivate", "kibitz", "mailmess", "messreply", "minmovetime", "noescape", "notakeback",
    "notifiedby", "open", "pin", "pgn", "private", "provshow", "ptime", "rated", "ropen", "seek", "shout", "silence",
    "simopen", "tell", "tolerance", "tourney", "tzone", "unobserve", "automail",
)  # fmt: skip
_TEXTS: Final = ("busy", "formula", "height", "interface", "language")
_WIDEST: Final = 240
_NARROWEST: Final = 32
_STYLES: Final = 13
_NOTE: Final = re.compile(r"f?[1-9]|10", re.ASCII)  # a line of the finger, a variable of the formula
_ON: Final = frozenset(("1", "on", "true", "yes"))
_OFF: Final = frozenset(("0", "off", "false", "no"))


class Settings:
    """One client's variables; of the styles only 12 is data, and ``prompt`` includes its blank."""

    def __init__(self) -> None:
        self.style = 1
        self.width = 79
        self.prompt = "fics% "
        self.interface: set[str] = {"smartmove"}
        self._toggles: set[str] = set()

    def has(self, name: str) -> bool:
        return name in self.interface or name in self._toggles

    def switch_on(self, bits: str) -> None:
        """The digits that a client sends before its name (``%b0110…``)."""
        self.interface |= {name for name, bit in zip(_INTERFACE, bits, strict=False) if bit == "1"}

    def change(self, words: str) -> str:
        """``set NAME VALUE``."""
        name, _, value = words.partition(" ")
        value = value.strip()
        if _NOTE.fullmatch(name):
            return (
                f"Note {name} set: {value[:60]}."
                if name.isdecimal()
                else f"Formula variable {name} set to {value[:60]}."
            )
        found = _named(name.lower(), ("style", "width", "prompt", *_TEXTS, *_TOGGLES))
        if found is None:
            return f'No such variable "{name}".'
        if found == "style":
            return self.set_style(value)
        if found == "width":
            if not value.isdecimal() or not _NARROWEST <= int(value[:9]) <= _WIDEST:
                return f"Bad value given for variable {found}."
            self.width = int(value)
            return f"Width set to {value}."
        if found == "prompt":
            self.prompt = f"{value[:60]} " if value else "fics% "
            return f'Prompt now set to "{self.prompt}".'
        if found in _TEXTS:
            return f"{found.capitalize()} set to {value[:60]}."
        return self._toggle(found, value)

    def _toggle(self, name: str, value: str) -> str:
        if value.lower() in _OFF:
            self._toggles.discard(name)
        elif value.lower() in _ON or (value == "" and name not in self._toggles):
            self._toggles.add(name)
        elif value == "":
            self._toggles.discard(name)
        elif not value.isascii() or not value.isprintable():
            return f"Bad value given for variable {name}."
        else:
            return f"{name} set to {value[:60]}."
        return f"{name} set to {int(name in self._toggles)}."

    def set_style(self, value: str) -> str:
        """``style N``."""
        if not value.isdecimal() or not 1 <= int(value[:9]) <= _STYLES:
            return "Bad value given for variable style."
        self.style = int(value)
        return f"Style {self.style} set."

    def change_interface(self, words: str) -> str:
        """``iset NAME VALUE``."""
        name, _, value = words.partition(" ")
        found = _named(name.lower(), (*_INTERFACE, *_UNNUMBERED))
        if found is None:
            return f'No such ivariable "{name}".'
        if self.has("lock"):
            return "Cannot alter: Interface setting locked."
        value = value.strip().lower()
        if value not in _ON | _OFF and value:
            return f"Bad value given for ivariable {found}."
        on = value in _ON or (not value and found not in self.interface)
        if on:
            self.interface.add(found)
        else:
            self.interface.discard(found)
        return f"{found} {'set' if on else 'unset'}."

    def listed(self, handle: str, interface: bool) -> list[str]:
        """For ``variables`` and ``ivariables``."""
        if interface:
            pairs = [f"{name}={int(name in self.interface)}" for name in (*_INTERFACE, *_UNNUMBERED)]
        else:
            pairs = [f"style={self.style}", f"width={self.width}"]
            pairs += [f"{name}={int(name in self._toggles)}" for name in _TOGGLES]
        rows = ["  ".join(f"{pair:<18}" for pair in pairs[at : at + 4]).rstrip() for at in range(0, len(pairs), 4)]
        return [f"{'Interface variable' if interface else 'Variable'} settings of {handle}:", "", *rows]


def _named(word: str, names: tuple[str, ...]) -> str | None:
    """The variable with this name, or the first one that begins so."""
    if word in names:
        return word
    return next((name for name in sorted(names) if word and name.startswith(word)), None)
