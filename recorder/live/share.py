"""Two or more recorders that share the games of a server by a rule that needs no agreement between them."""

from __future__ import annotations

import re
import zlib
from typing import Final, NamedTuple

from recorder.errors import PolicyError
from recorder.live.listed import Listed
from recorder.variants import read_category

__all__ = ["Share", "parse_share"]

_SHARE: Final = re.compile(r"([0-9]{1,3})/([0-9]{1,3})")
_PRINTED: Final = 10  # so many letters of a name every table of games prints


class Share(NamedTuple):
    """Share ``number`` of ``of``, from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, game: Listed) -> bool:
        """Whether a game is in it.

        The same two players, whatever their colours are, are always in the same share. Bughouse is all in the first
        one: no line tells which two boards are one match before they are observed.
        """
        if read_category(game.facts.category) == "bughouse":
            return self.number == 1
        names = sorted((name or "").lower()[:_PRINTED] for name in (game.facts.white, game.facts.black))
        return zlib.crc32("/".join(names).encode("latin-1", "replace")) % self.of == self.number - 1


def parse_share(text: str) -> Share:
    """Read ``1/2``: the first of two shares.

    Raises:
        PolicyError: the text is none.
    """
    match = _SHARE.fullmatch(text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise PolicyError(f"{text!r} is no share: write 1/2 for the first of two recorders, 2/2 for the second.")
    return Share(int(match[1]), int(match[2]))
