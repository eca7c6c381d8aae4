"""The keys that a terminal sends: bytes, cut anywhere, become names of keys."""

from __future__ import annotations

import re
from typing import Final

__all__ = ["KeyReader"]

_SEQUENCE: Final = re.compile(rb"\x1b(?:\[([0-9;]*)([@-~])|O([@-~]))")
_BEGUN: Final = re.compile(rb"\x1b(?:\[[0-9;]{0,32}|O)?")
_CHARACTER: Final = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_CUT: Final = re.compile(rb"[\xc2-\xdf]|[\xe0-\xef][\x80-\xbf]?|[\xf0-\xf4][\x80-\xbf]{0,2}")
_LETTERS: Final = {
    b"A": "up", b"B": "down", b"C": "right", b"D": "left", b"H": "home", b"F": "end", b"Z": "shift-tab",
    b"a": "shift-up", b"b": "shift-down", b"c": "shift-right", b"d": "shift-left",
}  # fmt: skip
_NUMBERS: Final = {b"1": "home", b"4": "end", b"5": "page-up", b"6": "page-down", b"7": "home", b"8": "end"}
_CONTROLS: Final = {
    0x08: "backspace", 0x09: "tab", 0x0A: "enter", 0x0C: "redraw", 0x0D: "enter", 0x15: "clear", 0x7F: "backspace",
}  # fmt: skip
_ESCAPE: Final = 0x1B


class KeyReader:
    """Reads keys: printable characters are their own names, others have words (``left``, ``shift-left``, ``enter``).

    Sequences that mean nothing here are dropped.
    """

    def __init__(self) -> None:
        self._rest = b""

    @property
    def waits(self) -> bool:
        """Whether a sequence has begun that may go on."""
        return bool(self._rest)

    def receive(self, data: bytes) -> list[str]:
        """Read what was typed; the beginning of a sequence waits for the rest of it."""
        data, self._rest = self._rest + data, b""
        keys: list[str] = []
        place = 0
        while place < len(data):
            if data[place] == _ESCAPE:
                match = _SEQUENCE.match(data, place)
                if match is not None:
                    keys += _named(match)
                    place = match.end()
                    continue
                if _BEGUN.fullmatch(data, place):
                    self._rest = data[place:]
                    break
                keys.append("escape")
                place += 1
                continue
            match = _CHARACTER.match(data, place)
            if match is None and _CUT.fullmatch(data, place):
                self._rest = data[place:]
                break
            end = place + 1 if match is None else match.end()
            keys += _typed(data[place:end])
            place = end
        return keys

    def settle(self) -> list[str]:
        """Nothing more comes: an escape that stands alone is the key."""
        rest, self._rest = self._rest, b""
        return ["escape"] if rest == b"\x1b" else []


def _named(match: re.Match[bytes]) -> list[str]:
    numbers, letter, plain = match.groups()
    letter = letter or plain
    first, _, modifier = (numbers or b"").partition(b";")
    name = _NUMBERS.get(first) if letter == b"~" else _LETTERS.get(letter)
    if name is None:
        return []
    return [f"shift-{name}" if modifier == b"2" and not name.startswith("shift-") else name]


def _typed(data: bytes) -> list[str]:
    if data[0] in _CONTROLS:
        return [_CONTROLS[data[0]]]
    text = data.decode("utf-8", "ignore")
    return [char for char in text if char.isprintable()]
