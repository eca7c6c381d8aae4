"""The state of a list of games, as an address holds it: filters, order, and the place in the list."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, cast
from urllib.parse import urlencode

from exporters.selection import Filters, make_filter
from recorder.archive.game_measures import DIMENSIONS, MEASURES
from recorder.errors import ExportError, RecorderError
from recorder.filters import FILTERS, Filter
from recorder.rules.position import encode_move
from storage import GameFilter
from storage.read.listing import SORTS, ListOrder, ListPlace

PAGE_GAMES: Final = 100  # games on a page

_DEFAULT_SORT: Final = "-date"
LONGEST: Final = 200  # characters of a value; no handle, site or date has so many
_LONGEST_GROUP: Final = 600


Choices = Mapping[str, Sequence[tuple[str, str | None]]]
"""By the name of a filter: the values that an archive has, and what is shown of each, if it is not the value."""


_KINDS: Final = {
    **dict.fromkeys(("variant", "time", "ending", "category", "server", "source"), "choice"),
    **dict.fromkeys(("since", "until"), "date"),
}
_COLOURS: Final = {"white": "White", "black": "Black"}
_COLOUR: Final = Filter("colour", "", "", words=_COLOURS, label="Player's colour", first=True)
_NEXT: Final = Filter("next", "", "", label="Move played there")


def kind_of(field: Filter) -> str:
    """``text``, ``date``, ``number`` or ``choice``."""
    return _KINDS.get(field.name, "choice" if field.words else "number" if field.metavar in ("N", "TIME") else "text")


def _fields() -> Iterator[Filter]:
    for entry in FILTERS.values():
        if entry.label:
            yield entry
        if entry.name in ("opponent", "position"):  # of the site alone
            yield _COLOUR if entry.name == "opponent" else _NEXT


FIELDS: Final = tuple(_fields())
_GROUP: Final = Filter("group", "", "", label="Insights")
_BY_NAME: Final = {field.name: field for field in (*FIELDS, _GROUP)}
_OTHERS: Final = ("sort", "after", "before")


class Group(NamedTuple):
    """A row of insights: the measure, its dimensions, whether first moves count, and the row's own columns."""

    measure: str
    by: tuple[str, ...]
    first: bool
    row: dict[str, Any]

    def text(self) -> str | None:
        """As an address has it; None: it is too long for one."""
        text = json.dumps(self, separators=(",", ":"), ensure_ascii=False)
        return text if len(text) <= _LONGEST_GROUP else None


@dataclass(frozen=True)
class ListState:
    """``values`` are the filters as addresses have them; ``group`` chooses the games behind a row of insights."""

    values: dict[str, str]
    where: GameFilter
    order: ListOrder
    after: ListPlace | None = None
    before: ListPlace | None = None
    group: Group | None = None
    group_words: str = ""

    @property
    def sort(self) -> str:
        return f"{'-' if self.order.descending else ''}{self.order.by}"

    def query(self, **changes: str | None) -> str:
        """Return the list as the query of an address, without the place in it; a change to None removes a value."""
        values: dict[str, str | None] = {**self.values, "sort": self.sort, **changes}
        if values["sort"] == _DEFAULT_SORT:
            values["sort"] = None
        names = (*_BY_NAME, *_OTHERS)
        return urlencode([(name, value) for name in names if (value := values.get(name))])

    def query_at(self, name: str, place: ListPlace) -> str:
        return self.query(**{name: json.dumps([*place], separators=(",", ":"))})

    @property
    def chosen(self) -> Iterator[tuple[Filter, str]]:
        """The filters that are set, with their values in words."""
        for name, value in self.values.items():
            field = _BY_NAME[name]
            yield field, self.group_words if field is _GROUP else field.words.get(value, value)


def read_list(pairs: Iterable[tuple[str, str]]) -> ListState:
    """Parse a query: what is not about lists and what is empty is ignored; an ExportError names the field."""
    stated = {name: value.strip() for name, value in pairs if value.strip()}
    values = {name: stated[name] for name in _BY_NAME if name in stated}
    for name, value in values.items():
        longest = _LONGEST_GROUP if name == "group" else LONGEST
        if len(value) > longest:
            raise ExportError(f"{_BY_NAME[name].label}: the value has more than {longest} characters.")
        words = _BY_NAME[name].words
        if words and value not in words:
            raise ExportError(f"{_BY_NAME[name].label}: {value!r} is none of {', '.join(words)}.")
    sort = stated.get("sort", _DEFAULT_SORT)
    order = ListOrder(sort.removeprefix("-"), sort.startswith("-"))
    if order.by not in SORTS:
        raise ExportError(f"Sort: {sort!r} is none of {', '.join(SORTS)}, or these with - in front.")
    places = {name: _place(stated[name]) for name in ("after", "before") if name in stated}
    group = _group(values["group"]) if "group" in values else None
    return ListState(values, _filter(values), order, places.get("after"), places.get("before"), group)


def archive_filters(values: Mapping[str, str]) -> Filters:
    """Return the filters of a list that ``recorder.Archive`` has too, by their names there."""
    filters: dict[str, Any] = {}
    for name in FILTERS.keys() & values.keys():
        text = values[name]
        if kind_of(_BY_NAME[name]) == "number":
            filters[name] = _number(_BY_NAME[name], text)
        elif name == "ending":  # several have the same words
            filters[name] = text.split(",") if "," in text else text
        else:
            filters[name] = text == "yes" if FILTERS[name].flag else text
    if "player" not in filters:
        filters.pop("outcome", None)
    elif side := values.get("colour"):  # "the player had White"; without a player the colour asks nothing
        filters[side] = filters["player"]
    return cast("Filters", {name: filters[name] for name in (*FILTERS,) if name in filters})


def _filter(values: dict[str, str]) -> GameFilter:
    try:
        wanted = make_filter(archive_filters(values))
    except RecorderError as error:
        raise ExportError(str(error)) from None
    return replace(wanted, next_move=_next_move(wanted.position, values["next"])) if "next" in values else wanted


def _next_move(position: str | None, text: str) -> int:
    """The move as ``encode_move`` encodes it; ExportError if it is not legal, or there is no position."""
    import chess

    if position is None:
        raise ExportError("Move played there: give a position, or the moves that lead to it.")
    try:
        return encode_move(chess.Board(f"{position} 0 1").parse_san(text).uci())
    except ValueError:
        raise ExportError(f"Move played there: {text!r} is not legal in the position.") from None


def _number(field: Filter, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 7):
        raise ExportError(f"{field.label}: {text!r} is not a whole number.")
    return int(text)


def _group(text: str) -> Group:
    """Parse what ``Group.text`` wrote."""
    try:
        measure, by, first, row = json.loads(text)
        group = Group(measure, tuple(by), first, dict(row))
        if measure in MEASURES and type(first) is bool and set(by) <= {*DIMENSIONS} and len(set(by)) == len(by) < 3:
            return group
    except (ValueError, TypeError, RecursionError):
        pass
    raise ExportError(f"Insights: {text[:40]!r} is no group of games.")


def _place(text: str) -> ListPlace:
    """Parse what ``ListState.query_at`` wrote."""
    try:
        value, row_id = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        value, row_id = None, None
    if type(row_id) is not int or abs(row_id) >= 2**63 or type(value) not in (int, str, type(None)):
        raise ExportError("The place in the list cannot be read: go to its first page.")
    if type(value) is int and abs(value) >= 2**63:
        raise ExportError("The place in the list cannot be read: go to its first page.")
    return ListPlace(value, row_id)
