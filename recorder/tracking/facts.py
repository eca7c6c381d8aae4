"""What is known of a game besides its boards: header facts, and the lines before its first board that give them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from recorder.events import CreatingLine, GameCreated, GameHeader, GameInfo, MovelistRead, RatingText
from recorder.events.frames import Style12
from recorder.rules.variants import is_bare_wild, read_category

_CUT_WIDTHS = (11, 10)  # to which the table of games cuts White's and Black's names


@dataclass(slots=True)
class HeaderFacts:
    """A later line fills what an earlier one left open. ``informed``: the ``<g1>`` that contributed.

    ``listed``: the category is that of a table of games, whose letter says less than other lines.
    """

    offset: int
    white: str | None = None
    black: str | None = None
    white_rating: RatingText | None = None
    black_rating: RatingText | None = None
    white_registered: bool | None = None
    black_registered: bool | None = None
    white_sealed: bool | None = None
    black_sealed: bool | None = None
    rated: bool | None = None
    category: str | None = None
    white_base_s: int | None = None
    white_increment_s: int | None = None
    black_base_s: int | None = None
    black_increment_s: int | None = None
    partner_game_no: int | None = None
    continued: bool = False
    date_text: str | None = None
    started_at_ms: int | None = None
    started_zone_known: bool = False
    started_with_seconds: bool = False
    started_offset: int | None = None
    private: bool | None = None
    informed: str | None = None
    listed: bool = False

    def matches(self, white: str, black: str) -> bool:
        """A line without names fits any."""
        return self.white is None or (
            self.white.lower() == white.lower() and (self.black or "").lower() == black.lower()
        )

    def add_created(self, event: GameCreated) -> None:
        self.white, self.black = event.white, event.black
        self._fill(rated=event.rated, category=event.category)
        self.continued = self.continued or event.continued

    def add_header(self, event: GameHeader) -> None:
        self.white, self.black = event.white, event.black
        self._ratings(event.white_rating, event.black_rating)
        self._fill(rated=event.rated, category=event.category)

    def add_creating(self, event: CreatingLine, white: str) -> None:
        first_is_white = event.first.lower() == white.lower()
        first, second = event.first_rating, event.second_rating
        self._ratings(*((first, second) if first_is_white else (second, first)))
        self._fill(rated=event.rated, category=event.category)
        self.continued = self.continued or event.adjourned

    def add_info(self, event: GameInfo) -> None:
        self.informed = event.line.text
        self._fill(
            rated=event.rated,
            category=event.category,
            private=event.private,
            white_registered=event.white_registered,
            black_registered=event.black_registered,
            white_sealed=event.white_sealed,
            black_sealed=event.black_sealed,
            white_base_s=event.white_base_s,
            white_increment_s=event.white_increment_s,
            black_base_s=event.black_base_s,
            black_increment_s=event.black_increment_s,
            partner_game_no=event.partner_game_no,
        )
        # 0 is printed for those who have no rating.
        if event.white_rating not in (None, "0") and self.white_rating is None:
            self.white_rating = RatingText(event.white_rating, rating_number(event.white_rating))
        if event.black_rating not in (None, "0") and self.black_rating is None:
            self.black_rating = RatingText(event.black_rating, rating_number(event.black_rating))

    def add_list(self, event: MovelistRead) -> None:
        self._ratings(event.white_rating, event.black_rating)
        self._fill(rated=event.rated, category=event.category)
        if event.started is not None and self.date_text is None:
            self.date_text = event.started
            self.started_at_ms = event.started_at_ms
            self.started_zone_known = event.started_zone_known
            self.started_with_seconds = event.started_with_seconds
            self.started_offset = event.line.offset
        if event.black_base_min is not None:
            self._fill(black_base_s=60 * event.black_base_min, black_increment_s=event.black_increment_s)

    def add_row(self, row: TableRow) -> None:
        self._ratings(row.white_rating, row.black_rating)
        self._fill(rated=row.rated)
        if self.category is None and row.category is not None:
            self.category, self.listed = row.category, True

    def turn(self) -> None:
        self.white, self.black = self.black, self.white
        self.white_rating, self.black_rating = self.black_rating, self.white_rating

    def add(self, other: HeaderFacts) -> None:
        self.offset = min(self.offset, other.offset)
        if other.category is not None and (self.category is None or (self.listed and not other.listed)):
            self.category, self.listed = other.category, other.listed
        for name in HeaderFacts.__slots__:
            value = getattr(self, name)
            open_yet = value is None or value is False  # an increment of 0 is known
            if open_yet and name not in ("offset", "listed", "category"):
                setattr(self, name, getattr(other, name))

    def _ratings(self, white: RatingText | None, black: RatingText | None) -> None:
        # "UNR" of a movelist says less than the "++++" or the number of a header.
        if white is not None and (self.white_rating is None or self.white_rating.text == "UNR"):
            self.white_rating = white
        if black is not None and (self.black_rating is None or self.black_rating.text == "UNR"):
            self.black_rating = black

    def _fill(self, **values: object) -> None:
        for name, value in values.items():
            if value is None or value == "":
                continue
            # "wild" says less than a line that names which one.
            refines = name == "category" and is_bare_wild(self.category)
            listed = name == "category" and self.listed
            if getattr(self, name) is None or listed or (refines and read_category(str(value)) not in (None, "chess")):
                setattr(self, name, value)
                self.listed = self.listed and not listed


class TableRow(NamedTuple):
    """What a row of the table of games says of a game in progress; ``ply``: half-moves that were played then."""

    offset: int
    white: str
    black: str
    white_rating: RatingText
    black_rating: RatingText
    rated: bool
    category: str | None
    base_min: int
    increment_s: int
    ply: int

    def fits(self, frame: Style12) -> bool:
        """Whether a board can be of this game: its names (which the table cuts), its times, and no earlier one."""
        names = zip((self.white, self.black), (frame.white, frame.black), _CUT_WIDTHS, strict=True)
        same = all(
            name.lower() == whole.lower() or (len(name) >= width and whole.lower().startswith(name.lower()))
            for name, whole, width in names
        )
        times = (frame.base_min, frame.increment_s) == (self.base_min, self.increment_s)
        return same and times and frame.ply >= self.ply


class Starting(NamedTuple):
    """``placed``: the first board is a position being set up; ``category``: that of the game examined before it."""

    setup: bool
    offset: int
    at_ms: int | None
    text: str
    placed: bool = False
    category: str | None = None


def rating_number(text: str) -> int | None:
    digits = text.strip().rstrip("EP")
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None
