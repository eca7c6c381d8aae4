"""A move in an ICC datagram: ``e4 e2e4 3 57 1``, of which only the parts come that were asked for.

Settings 33 to 36 and 113 decide which: SAN, squares, seconds taken, seconds left, kind. Words tell themselves by their
shape; numbers do not. Three numbers are all of them; of one or two it is known which they are when the server has
acknowledged the settings (datagram 124), or when a number can be no kind of move.
Source: section 8 of the protocol reference (DG_SEND_MOVES, DG_MOVE_SMITH, DG_IS_VARIATION).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

__all__ = ["MoveForm", "ToldMove", "read_move", "read_words", "write_move"]

_SMITH = re.compile(r"[a-h][1-8][a-h][1-8][pnbrqkEcC]?[NBRQK]?")
_NUMBER = re.compile(r"-?[0-9]{1,10}", re.ASCII)
_TIME, _CLOCK, _KIND = 35, 36, 113
_NUMBERS = (_TIME, _CLOCK, _KIND)
_LAST_KIND = 6


class ToldMove(NamedTuple):
    """A move. None: not told, or not known which number it is.

    ``san`` is as printed, ``smith`` is from, to, what was taken (``E`` en passant, ``c`` and ``C`` castling) and the
    new piece. ``kind``: 0 of a list, 1 played, 2 forward, 3 examined.
    """

    san: str | None
    smith: str | None
    time_s: int | None
    clock_s: int | None
    kind: int | None


class MoveForm:
    """Which numbers a move has, as far as the stream has told.

    Attributes:
        settings: datagram 35, 36, 113 → whether it is on.
    """

    def __init__(self) -> None:
        self.settings: dict[int, bool] = {}

    def set(self, number: int, on: bool) -> None:
        """Take an acknowledged setting."""
        if number in _NUMBERS:
            self.settings[number] = on

    def learn(self, moves: Iterable[tuple[str, ...]]) -> None:
        """Conclude from moves what only one form allows."""
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
    """The words of a move in a list."""
    return tuple(text.split())


def read_move(words: tuple[str, ...], form: MoveForm) -> ToldMove | None:
    """Read a move's words; None if they are no move."""
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
    told = dict(zip(names, map(int, numbers), strict=False))
    return ToldMove(san, smith, told.get(_TIME), told.get(_CLOCK), told.get(_KIND))


def write_move(move: ToldMove) -> tuple[str, ...]:
    """The words that ``read_move`` reads where it knows the form."""
    return tuple(str(part) for part in move if part is not None)
