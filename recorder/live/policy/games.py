"""A game as lists and announcements describe it, and the shares of several recorders."""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from recorder.errors import PolicyError
from recorder.events import GameCreated, GameHeader, GameInfo, GamesRow
from recorder.rules.variants import read_category
from recorder.tracking.facts import HeaderFacts

_SHARE: Final = re.compile(r"([0-9]{1,3})/([0-9]{1,3})")
_PRINTED: Final = 10  # every table of games prints at least these letters of a name


class Share(NamedTuple):
    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, game: Listed) -> bool:
        """The answer is the same on every machine, and for all games of the same two players."""
        # Before they are observed no line states which two boards are one match, so the first share has them all.
        if read_category(game.facts.category) == "bughouse":
            return self.number == 1
        names = sorted((name or "").lower()[:_PRINTED] for name in (game.facts.white, game.facts.black))
        return zlib.crc32("/".join(names).encode("latin-1", "replace")) % self.of == self.number - 1


def parse_share(text: str) -> Share:
    """``1/2`` is the first of two shares."""
    match = _SHARE.fullmatch(text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise PolicyError(f"{text!r} is not a share: write 1/2 for the first of two recorders, 2/2 for the second.")
    return Share(int(match[1]), int(match[2]))


ListedEvent = GamesRow | GameInfo | GameCreated | GameHeader
_VAGUE = (None, "wild", "nonstandard")  # categories of a table's letter; other lines name the exact variant


@dataclass(slots=True)
class Listed:
    """The known facts of one game; titles are in upper case.

    ``examined``: it is examined or set up; such games are in the table, and nothing is played in them.
    """

    game_no: int
    facts: HeaderFacts
    private: bool | None = None
    examined: bool | None = None
    white_cut: bool = False  # the name in ``facts`` is, or may be, only the beginning of the handle
    black_cut: bool = False
    white_titles: frozenset[str] | None = None
    black_titles: frozenset[str] | None = None
    row: tuple[object, ...] | None = None  # the constant fields of its last row in the table

    def between(self, event: ListedEvent) -> bool:
        """Whether a line can be of this game: the same two players, as far as both lines print their names."""
        if isinstance(event, GameInfo) or self.facts.white is None or self.facts.black is None:
            return True
        if isinstance(event, GamesRow):
            sides = (event.white.name, event.white.cut), (event.black.name, event.black.cut)
        else:
            sides = (event.white, False), (event.black, False)
        return _same((self.facts.white, self.white_cut), sides[0]) and _same(
            (self.facts.black, self.black_cut), sides[1]
        )

    def contradicts(self, event: GamesRow) -> bool:
        """Whether a row belongs to another game of these players: its ratings, times or type differ from the last."""
        return self.row is not None and self.row != _lasting(event)

    def take(self, event: ListedEvent) -> None:
        facts = self.facts
        if isinstance(event, GameInfo):
            facts.add_info(event)
            self.private = event.private if event.private is not None else self.private
            # Exact to the second, where the others print whole minutes.
            for name in ("white_base_s", "white_increment_s", "black_base_s", "black_increment_s"):
                value = getattr(event, name)
                if value is not None:
                    setattr(facts, name, value)
            return
        if isinstance(event, GamesRow):
            self._row(event)
        elif isinstance(event, GameCreated):
            facts.add_created(event)
            self.examined = False
        else:
            facts.add_header(event)
        if not isinstance(event, GamesRow):
            self.white_cut = self.black_cut = False
            if facts.category in _VAGUE and event.category is not None:
                facts.category = event.category
        if not isinstance(event, GameCreated) and event.base_min is not None and facts.white_base_s is None:
            facts.white_base_s = facts.black_base_s = 60 * event.base_min
            facts.white_increment_s = facts.black_increment_s = event.increment_s

    def _row(self, event: GamesRow) -> None:
        facts = self.facts
        self.row = _lasting(event)
        if facts.white is None or facts.black is None:
            facts.white, self.white_cut = event.white.name, event.white.cut
            facts.black, self.black_cut = event.black.name, event.black.cut
        facts.white_rating = facts.white_rating or event.white.rating
        facts.black_rating = facts.black_rating or event.black.rating
        facts.rated = event.rated if facts.rated is None else facts.rated
        facts.category = facts.category or event.category
        self.private = event.private
        self.examined = event.state is not None
        if event.white.titles is not None:
            self.white_titles = title_words(event.white.titles)
        if event.black.titles is not None:
            self.black_titles = title_words(event.black.titles)

    def registered(self, white: bool) -> bool | None:
        """Whether a player has an account: as reported, or by the printed rating (``++++`` is a guest's)."""
        reported = self.facts.white_registered if white else self.facts.black_registered
        rating = self.facts.white_rating if white else self.facts.black_rating
        if reported is not None or rating is None or rating.text == "UNR":
            return reported
        if rating.text.startswith("+"):
            return False
        return None if rating.value == 0 else True

    def rating(self, white: bool) -> int | None:
        """None: unknown, or the server prints 0 for no rating."""
        rating = self.facts.white_rating if white else self.facts.black_rating
        return None if rating is None else rating.value or None


@lru_cache(maxsize=256)  # thousands of players share a few titles
def title_words(text: str) -> frozenset[str]:
    return frozenset(text.upper().replace("(", " ").replace(")", " ").split())


def _lasting(row: GamesRow) -> tuple[object, ...]:
    return row.white.rating, row.black.rating, row.kind, row.rated, row.base_min, row.increment_s


def _same(first: tuple[str, bool], second: tuple[str, bool]) -> bool:
    (one, one_cut), (two, two_cut) = first, second
    one, two = one.lower(), two.lower()
    if one_cut and two_cut:
        return one == two
    if one_cut:
        return two.startswith(one)
    return one.startswith(two) if two_cut else one == two
