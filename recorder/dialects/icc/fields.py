"""Fields of an ICC datagram: strings, moves and codes of results.

A datagram is ``\x19(`` number arguments ``\x19)``. Arguments are bare words, ``{…}`` without braces inside, or
``\x19{…\x19}`` with anything inside. Source: ICC's formats2.txt, as restated in the protocol reference.

Settings 33 to 36 and 113 decide which: SAN, squares, seconds taken, seconds left, kind. Words tell themselves by their
shape; numbers do not. Three numbers are all of them; of one or two it is known which they are when the server has
acknowledged the settings (datagram 124), or when a number can be no kind of move.
Source: section 8 of the protocol reference (DG_SEND_MOVES, DG_MOVE_SMITH, DG_IS_VARIATION).

Source: section 8.2 of the protocol reference (result codes; DG_GAMELIST_ITEM's status and mode).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from recorder.dialects.results import EndReason, read_reason
from recorder.errors import LineError

DATAGRAM_TAG = "\x19("

_WHOLE = re.compile(r"\x19\((?P<number>[0-9]{1,4})(?P<rest>(?:[\s{\x19].*)?)\x19\)", re.DOTALL)
_FIELD = re.compile(r"\s*(?:\x19\{(?P<any>.*?)\x19\}|\{(?P<braced>[^{}\x19]*)\}|(?P<word>[^\s{}\x19]+))", re.DOTALL)
_BARE = re.compile(r"[^\s{}\x19]+")


def parse_fields(text: str) -> tuple[int, list[str]]:
    """Its number and its arguments without their enclosing marks; a datagram that is cut is a LineError."""
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        problem = "does not end" if not text.endswith("\x19)") else "has no number"
        raise LineError(f"the datagram {problem}", text)
    rest = whole["rest"].rstrip()
    fields: list[str] = []
    at = 0
    while at < len(rest):
        field = _FIELD.match(rest, at)
        if field is None:
            raise LineError(f"the datagram's field {len(fields) + 1} cannot be {rest[at : at + 40]!r}", text)
        fields.append(next(value for value in field.groups() if value is not None))
        at = field.end()
    return int(whole["number"]), fields


_SMITH = re.compile(r"[a-h][1-8][a-h][1-8][pnbrqkEcC]?[NBRQK]?")
_NUMBER = re.compile(r"-?[0-9]{1,10}", re.ASCII)
_TIME, _CLOCK, _KIND = 35, 36, 113
_NUMBERS = (_TIME, _CLOCK, _KIND)
_LAST_KIND = 6


class IccMove(NamedTuple):
    """``san`` is as printed, ``smith`` as in delta boards. ``kind``: 0 of a list, 1 played, 2 forward, 3 examined."""

    san: str | None
    smith: str | None
    time_s: int | None
    clock_s: int | None
    kind: int | None


class MoveForm:
    """Which numbers a move has, as far as the stream shows; ``settings``: datagram 35, 36 or 113 → whether it is on."""

    def __init__(self) -> None:
        self.settings: dict[int, bool] = {}

    def set(self, number: int, on: bool) -> None:
        if number in _NUMBERS:
            self.settings[number] = on

    def learn(self, moves: Iterable[tuple[str, ...]]) -> None:
        """Conclude from the words of moves what only one form allows."""
        # Three numbers, or none, show all settings. Of two, a second one that is no kind of move must be a clock.
        for words in moves:
            values = _numbers(words)
            if len(values) == len(_NUMBERS):
                self.settings.update(dict.fromkeys(_NUMBERS, True))
            elif not values:
                self.settings.update(dict.fromkeys(_NUMBERS, False))
            elif len(values) == 2 and not 0 <= values[1] <= _LAST_KIND:
                self.settings.update({_TIME: True, _CLOCK: True, _KIND: False})

    def names(self, count: int) -> list[int]:
        """Which settings ``count`` numbers are, in order; empty where it is not known."""
        # Of the eight forms those with as many numbers that do not contradict what is known: one, or it is unknown.
        ways = [
            [number for number, on in zip(_NUMBERS, form, strict=True) if on]
            for form in _FORMS
            if sum(form) == count
            and all(self.settings.get(number, on) == on for number, on in zip(_NUMBERS, form, strict=True))
        ]
        return ways[0] if len(ways) == 1 else []


_FORMS = [(time, clock, kind) for time in (False, True) for clock in (False, True) for kind in (False, True)]


def _numbers(words: tuple[str, ...]) -> list[int]:
    texts = words
    while texts and _NUMBER.fullmatch(texts[0]) is None:
        texts = texts[1:]
    return [int(word) for word in texts[: len(_NUMBERS)] if _NUMBER.fullmatch(word)]


def read_words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def read_move(words: tuple[str, ...], form: MoveForm) -> IccMove | None:
    # SAN and squares come first, each if it was asked for; a word of digits is none of them.
    texts = list(words[:2])
    while texts and _NUMBER.fullmatch(texts[-1]):
        texts.pop()
    if not texts:
        return None
    numbers = words[len(texts) :][: len(_NUMBERS)]
    if any(_NUMBER.fullmatch(number) is None for number in numbers):
        return None
    san: str | None
    smith: str | None
    if len(texts) == 2:
        san, smith = texts
    else:
        san, smith = (None, texts[0]) if _SMITH.fullmatch(texts[0]) else (texts[0], None)
    # Drops are written the same way in both forms, and moves that are hidden (kriegspiel) too.
    if smith is not None and _SMITH.fullmatch(smith) is None:
        if "@" not in smith and not smith.startswith("?"):
            return None
        san, smith = san or smith, None
    names = form.names(len(numbers))
    numbers_by_name = dict(zip(names, map(int, numbers), strict=False))
    return IccMove(san, smith, numbers_by_name.get(_TIME), numbers_by_name.get(_CLOCK), numbers_by_name.get(_KIND))


_WON = {"Res": "resign", "Mat": "checkmate", "Fla": "time", "Adj": "adjudicated", "BQ": "disconnect-loss"}
_DRAWN = {
    "Agr": "agreed",
    "Sta": "stalemate",
    "Rep": "repetition",
    "50": "fifty",
    "TM": "time-vs-bare",
    "NM": "no-material",
    "NT": "both-flag",
    "Adj": "adjudicated-draw",
    "1/2": "drawn",
}
_ABORTED = {
    "Agr": "aborted-agreed",
    "BQ": "aborted-lost",
    "SD": "aborted-server",
    "BA": "aborted-courtesy",
    "Adj": "aborted-adjudicated",
    "Sho": "aborted-early",
}
_TERMINATIONS = {
    "time": "time forfeit",
    "disconnect-loss": "abandoned",
    "adjudicated": "adjudication",
    "adjudicated-draw": "adjudication",
}


def result_of(code: str, score: str, description: str, white: str, black: str) -> tuple[str, EndReason]:
    """The token, and the reason by its words, or by its code (``Mat``) if these are unknown."""
    result = "*" if score == "aborted" else score
    reason = read_reason(description, white, black, result)
    if reason.key != "unknown":
        return result, reason
    if score == "aborted":
        return result, EndReason(_ABORTED.get(code, "aborted"), "abandoned", None)
    if result == "*":
        return result, reason
    key = (_DRAWN if result == "1/2-1/2" else _WON).get(code, "unknown")
    return result, EndReason(key, _TERMINATIONS.get(key, "normal"), None)
